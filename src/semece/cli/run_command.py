"""The body of ``semece run``: settings, signals, progress, and what is printed first and last."""

from __future__ import annotations

import asyncio
import shlex
import signal
import sys
from dataclasses import asdict, dataclass, replace
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

import typer

from semece.cli.typer_options import RUN, Handling, load_keys
from semece.errors import BudgetError, ParseError, ProviderError, SemeceError, StoppedError, meant
from semece.sampling import Settings, default_path, read_prices, toml_in

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterator, Mapping

    from semece.cli.typer_options import Told
    from semece.sampling import Job, Outcome, Price, Progress

T = TypeVar("T")
STAGES = {"respond": "responses", "judge": "judged"}
SIGNALS = {signal.SIGINT: 130, signal.SIGTERM: 143}
"""What a person or the system ends a command with, and the exit codes that say so."""
FIRST_STEPS = 2
"""A stage tells first how many steps it has, then how many were done before."""


@dataclass(frozen=True, slots=True)
class Finish(Generic[T]):
    """How asking came to an end.

    Parameters
    ----------
    result : object or None
        What it gave; None after a signal.
    code : int
        The exit code so far.
    cap : BudgetError or None
        The cap that was reached.
    """

    result: T | None
    code: int = 0
    cap: BudgetError | None = None


def run_command(told: Told, *, as_json: bool = False) -> None:
    """Run from the command line's options."""
    from semece.cli.reading_commands import print_found
    from semece.sampling import cannot_be_asked, cautions, check_judges, judged_anew, plan, plan_text, resolve, resuming

    told, prices = with_config(told)
    handling = told.record(Handling)
    load_keys(handling.env_file)
    settings = settings_from(told, prices)
    path = handling.output or default_path(settings)
    settings = resuming(settings, path)
    check_judges(settings)
    job = repeated_with(handling, resolve(settings, path))  # fetched before there is a loop, so that Ctrl-C stops it
    unasked = asyncio.run(cannot_be_asked(job)) if handling.dry_run else []
    for sentence in cautions(job) + judged_anew(job) + unasked:
        typer.echo(f"note: {sentence}", err=True)
    if handling.dry_run:
        planned = plan(job, expected_tokens=handling.expected_tokens)
        print_found([plan_text(planned)], lambda: asdict(planned) | {"path": str(path)}, as_json=as_json)
        return
    report(path, run_to_end(job, path, quiet=handling.quiet), job, as_json=as_json)


def repeated_with(handling: Handling, job: Job) -> Job:
    """Keep in the run file what else repeats the command: the file of options and prices, and that of keys."""
    files = {"--config": handling.config, "--env-file": handling.env_file}
    words = [word for name, file in files.items() if file is not None for word in (name, str(file))]
    return replace(job, told=job.told | {"options": [*job.told["options"], *words]})


def report(path: Path, found: Finish[Outcome], job: Job, *, as_json: bool) -> None:
    """Print the summary if there is one, the path, and how to go on if something is missing."""
    from semece.cli.reading_commands import print_made

    caps = {"--budget": job.calls.max_cost, "--max-total-tokens": job.calls.max_total_tokens}
    rest, outcome = again(cap=found.cap, caps=caps), found.result
    if outcome is None:
        leave(f"stopped; what was delivered is stored in {path}; {rest}", found.code)
    try:
        print_made(path, as_json=as_json, missing=outcome.missing)
    except KeyboardInterrupt:
        leave(f"interrupted; the run is stored: semece summary {shlex.quote(str(path))}", 130)
    for sentence in owed(path, job):
        typer.echo(f"semece: {sentence}", err=True)
    if not as_json:
        typer.echo(f"\n{path}")
    if outcome.missing or found.code:
        leave(f"semece: {outcome.left}; {rest}", found.code or 3)


def again(*, cap: BudgetError | None = None, caps: Mapping[str, float | None] | None = None) -> str:
    """Say how to go on; after a cap, with a higher one, as :func:`with_higher_cap` makes it."""
    from semece.sampling import typed_again

    words, how = sys.argv[1:], ""
    if cap is not None:
        words, how = with_higher_cap(words, caps, needed=cap), " with a higher cap"
    return f"run it again{how} to continue: {typed_again(['semece', *words])}"


def leave(sentence: str, code: int) -> NoReturn:
    """Say why a command ends before it is done, and exit."""
    typer.echo(sentence, err=True)
    raise typer.Exit(code) from None


def owed(path: Path, job: Job) -> Iterator[str]:
    """Say what a judge that is a model could not judge, and why; what did not come is counted as missing elsewhere."""
    from semece.compare import judge_shortfall

    judges = {job.view["partition_judge"], job.view["grade_judge"]}
    shortfall = judge_shortfall(path, *judges) if len(judges) == 1 else None
    if shortfall is not None:
        yield from replace(shortfall, undelivered=0).sentences()


def with_higher_cap(
    words: list[str], caps: Mapping[str, float | None] | None = None, *, needed: BudgetError | None = None
) -> list[str]:
    """Raise the caps of a command, so that it can continue: to twice as much, or to what the next call needs.

    Parameters
    ----------
    words : list of str
        The command.
    caps : mapping of str to float or None, optional
        The caps that held, by option: one that came from a file is appended, since the command line wins.
    needed : BudgetError, optional
        The cap that was reached, with what the next call needs.

    Examples
    --------
    >>> with_higher_cap(["run", "--budget", "0.5", "--max-total-tokens=1000"])
    ['run', '--budget', '1', '--max-total-tokens=2000']
    >>> with_higher_cap(["run", "--max-total-tokens", "1000"], needed=BudgetError("reached", tokens=6_457))
    ['run', '--max-total-tokens', '6457']
    >>> with_higher_cap(["run", "--config", "run.toml"], {"--budget": 0.5, "--max-total-tokens": None})
    ['run', '--config', 'run.toml', '--budget', '1']
    """
    raised, named = list(words), set()
    for place, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name not in {"--budget", "--max-total-tokens"}:
            continue
        named.add(name)
        if equals:
            raised[place] = f"{name}={_raised(name, float(value), needed)}"
        elif place + 1 < len(words):
            raised[place + 1] = _raised(name, float(words[place + 1]), needed)
    for name, cap in (caps or {}).items():
        if cap is not None and name not in named:
            raised += [name, _raised(name, cap, needed)]
    return raised


def _raised(name: str, cap: float, needed: BudgetError | None) -> str:
    """Write the higher cap: in USD rounded up to a hundredth of a cent."""
    if name == "--budget":
        least = 0.0 if needed is None else ceil(1e4 * (needed.cost or 0.0)) / 1e4
        return f"{max(2 * cap, least):.15g}"
    return f"{max(2 * cap, 0 if needed is None else needed.tokens or 0):.15g}"


def with_config(told: Told) -> tuple[Told, dict[str, Price]]:
    """Read ``[run]`` and ``[prices]`` (USD per million tokens, ``input`` and ``output``) of the TOML file, if any.

    Raises
    ------
    ParseError
        It is not TOML, a table or an option is unknown, or a value is of another kind than its option's.
    """
    path = told.record(Handling).config
    if path is None:
        return told, {}
    _, tables = toml_in(path)
    if unknown := set(tables) - {"run", "prices"}:
        got = min(unknown)
        raise ParseError(f"{path}: expected the tables [run] and [prices]; got [{got}]{meant(got, ('run', 'prices'))}")
    for name in ("run", "prices"):
        if not isinstance(tables.get(name, {}), dict):
            raise ParseError(f"{path}: {name} must be a table [{name}]; got {tables[name]!r}")
    return told.over(run_options(tables.get("run", {}))), read_prices(tables.get("prices", {}), str(path))


def run_options(table: Mapping[str, object]) -> dict[str, object]:
    """Read the table ``[run]``: the options of ``semece run`` by their names.

    Raises
    ------
    ParseError
        A name is no option, or a value is of another kind than its option's.
    """
    rows, values = {row.name: row for row in RUN if row.name != "config"}, {}
    for spelled, value in table.items():
        name = spelled.replace("-", "_")
        if name not in rows:
            raise ParseError(
                f"[run] has no option {name!r}{meant(name, rows)}; the options are those of 'semece run --help'"
            )
        if not rows[name].takes(value):
            raise ParseError(f"[run] {name} must be {rows[name].wanted}; got {value!r}")
        values[name] = Path(str(value)) if rows[name].kind is Path else value
    return values


def settings_from(told: Told, prices: Mapping[str, Price]) -> Settings:
    """Make settings of options.

    Raises
    ------
    SemeceError
        Model or dataset is missing, or a file cannot be read.
    """
    for name, example in (("model", "local/smollm2"), ("dataset", "starter")):
        if not told.values[name]:
            raise SemeceError(f"name a {name} with --{name}, for example --{name} {example}")
    return told.record(Settings, prices=prices)


def run_to_end(job: Job, path: Path, *, quiet: bool) -> Finish[Outcome]:
    """Run to the end, or to a signal, a cap or a refusal.

    Raises
    ------
    ProviderError
        A refusal; if something was delivered before, it says where that is stored.
    """
    from semece.runs import Run
    from semece.sampling import Outcome, make_run

    came: set[str] = set()
    try:
        with progress_bars(enabled=not quiet and sys.stderr.isatty()) as progress:
            shown = announced(path, progress, came, at_once=job.calls.batch, quiet=quiet)
            return asyncio.run(until_signal(make_run(job, progress=shown), timeout=job.calls.timeout))
    except BudgetError as error:
        typer.echo(f"semece: {error}", err=True)
        with Run(path) as run:
            return Finish(Outcome(str(path), run.missing), 3, error)
    except ProviderError as error:
        if not came:
            raise
        raise ProviderError(f"{error}; what was delivered before is stored in {path}") from None


def announced(path: Path, progress: Progress, came: set[str], *, at_once: bool, quiet: bool) -> Progress:
    """Say the name of the run file when the first reply has come: what is refused before is one line.

    Parameters
    ----------
    path, progress : Path, callable
        The file, and who is told of every step.
    came : set of str
        Is filled with the stages of which something came.
    at_once : bool
        Say it before something came: a batch takes long.
    quiet : bool
        Say nothing.
    """
    begun: dict[str, int] = {}

    def advance(stage: str, steps: int) -> None:
        something_came = begun.get(stage, 0) >= FIRST_STEPS and steps > 0
        if not quiet and (not begun if at_once else something_came and not came):
            typer.echo(str(path), err=True)
        begun[stage] = begun.get(stage, 0) + 1
        if something_came:
            came.add(stage)
        progress(stage, steps)

    return advance


async def until_signal(task: Awaitable[T], *, timeout: float) -> Finish[T]:  # noqa: ASYNC109 - what a call may take
    """Wait for a task, and hear SIGINT and SIGTERM.

    The first signal sends nothing new, and what is in flight is stored when it arrives. The second one ends the calls,
    which are then booked as if they may have been paid for; so does the time that a call may take. A third one finds
    nobody who listens.
    """
    from semece.sampling import Stop

    loop, current, stop = asyncio.get_running_loop(), asyncio.current_task(), Stop()
    codes: list[int] = []

    def heard(code: int) -> None:
        if codes:
            end()
            return
        codes.append(code)
        typer.echo(STOPPING.format(timeout), err=True)
        stop.because(StoppedError("stopped by a signal"))
        loop.call_later(timeout, end)

    def end() -> None:
        for number in SIGNALS:
            loop.remove_signal_handler(number)
        if current is not None:
            current.cancel()

    for number, code in SIGNALS.items():
        loop.add_signal_handler(number, heard, code)
    try:
        with stop.listened_to():
            return Finish(await task)
    except (StoppedError, asyncio.CancelledError):
        if not codes:
            raise
        return Finish(None, codes[0])


STOPPING = (
    "semece: stopping: nothing new is sent, and what is in flight is waited for (at most {:g} s) and stored; a second "
    "signal ends at once, and what is in flight may then be paid for without being stored"
)


class progress_bars:  # noqa: N801 - used like a function
    """Bars on stderr: stage, count, rate, time left. A context manager that gives the progress callback."""

    def __init__(self, *, enabled: bool) -> None:
        self._enabled = enabled
        self._bars: dict[str, Any] = {}

    def __enter__(self) -> Progress:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self._rich = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            disable=not self._enabled,
            transient=True,
        )
        self._rich.start()
        return self._advance

    def __exit__(self, *_: object) -> None:
        self._rich.stop()

    def _advance(self, stage: str, steps: int) -> None:
        if steps <= 0:
            if stage not in self._bars:
                self._bars[stage] = self._rich.add_task(STAGES.get(stage, stage), total=-steps, rate="")
            return
        bar = self._bars[stage]
        self._rich.advance(bar, steps)
        speed = next(task for task in self._rich.tasks if task.id == bar).speed
        self._rich.update(bar, rate=f"{speed:.1f}/s" if speed else "")
