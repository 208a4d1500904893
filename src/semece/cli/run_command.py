"""The body of ``semece run``: settings, signals, progress, and what is printed first and last."""

from __future__ import annotations

import asyncio
import shlex
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import typer

from semece.cli.typer_options import RUN, Handling, load_keys
from semece.errors import BudgetError, ParseError, SemeceError
from semece.sampling import Settings, default_path, read_prices, toml_in

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterator, Mapping

    from semece.cli.typer_options import Told
    from semece.sampling import Job, Outcome, Price, Progress

T = TypeVar("T")
STAGES = {"respond": "responses", "judge": "judged"}


def run_command(told: Told) -> None:
    """Run from the command line's options."""
    from semece.sampling import check_judges, plan, plan_text, resolve, resuming

    told, prices = with_config(told)
    handling = told.record(Handling)
    load_keys(handling.env_file)
    settings = settings_from(told, prices)
    path = handling.output or default_path(settings)
    settings = resuming(settings, path)
    check_judges(settings)
    if not handling.dry_run:
        typer.echo(str(path), err=True)
    job = resolve(settings, path)  # what it fetches is fetched before there is a loop, so that Ctrl-C stops it
    if handling.dry_run:
        typer.echo(plan_text(plan(job, expected_tokens=handling.expected_tokens)))
        return
    outcome, code = run_to_end(job, path, quiet=handling.quiet)
    report(path, outcome, code, job)


def report(path: Path, outcome: Outcome | None, code: int, job: Job) -> None:
    """Print the summary if there is one, the path, and how to go on if something is missing."""
    from semece.cli.reading_commands import print_summary

    caps = {"--budget": job.calls.max_cost, "--max-total-tokens": job.calls.max_total_tokens}
    rest = again(capped=code == 3, caps=caps)
    if outcome is None:
        leave(f"stopped; what was delivered is stored in {path}; {rest}", code)
    try:
        print_summary([path])
    except KeyboardInterrupt:
        leave(f"interrupted; the run is stored: semece summary {shlex.quote(str(path))}", 130)
    for sentence in owed(path, job):
        typer.echo(f"semece: {sentence}", err=True)
    typer.echo(f"\n{path}")
    if outcome.missing or code:
        leave(f"semece: {outcome.left}; {rest}", code or 3)


def again(*, capped: bool = False, caps: Mapping[str, float | None] | None = None) -> str:
    """Say how to go on; after a cap, with a higher one, as :func:`with_higher_cap` makes it."""
    words, how = (with_higher_cap(sys.argv[1:], caps), " with a higher cap") if capped else (sys.argv[1:], "")
    return f"run it again{how} to continue: {shlex.join(['semece', *words])}"


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


def with_higher_cap(words: list[str], caps: Mapping[str, float | None] | None = None) -> list[str]:
    """Double the caps of a command, so that it can continue.

    Parameters
    ----------
    words : list of str
        The command.
    caps : mapping of str to float or None, optional
        The caps that held, by option: one that came from a file is appended, since the command line wins.

    Examples
    --------
    >>> with_higher_cap(["run", "--budget", "0.5", "--max-total-tokens=1000"])
    ['run', '--budget', '1', '--max-total-tokens=2000']
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
            raised[place] = f"{name}={2 * float(value):.15g}"
        elif place + 1 < len(words):
            raised[place + 1] = f"{2 * float(words[place + 1]):.15g}"
    for name, cap in (caps or {}).items():
        if cap is not None and name not in named:
            raised += [name, f"{2 * cap:.15g}"]
    return raised


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
        raise ParseError(f"{path}: expected the tables [run] and [prices]; got [{min(unknown)}]")
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
            raise ParseError(f"[run] has no option {name!r}; the options are those of 'semece run --help'")
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


def run_to_end(job: Job, path: Path, *, quiet: bool) -> tuple[Outcome | None, int]:
    """Run to the end, or to a signal, a cap or a refusal; give the outcome and the exit code so far."""
    from semece.runs import Run
    from semece.sampling import Outcome, make_run

    try:
        with progress_bars(enabled=not quiet and sys.stderr.isatty()) as progress:
            return asyncio.run(until_signal(make_run(job, progress=progress)))
    except BudgetError as error:
        typer.echo(f"semece: {error}", err=True)
        with Run(path) as run:
            return Outcome(str(path), run.missing), 3


async def until_signal(task: Awaitable[T]) -> tuple[T | None, int]:
    """Wait for a task; on SIGINT or SIGTERM let go of the calls in flight, after what is in hand is stored."""
    loop, current = asyncio.get_running_loop(), asyncio.current_task()
    codes: list[int] = []

    def stop(code: int) -> None:
        if current is not None and not codes:
            codes.append(code)
            current.cancel()

    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        loop.add_signal_handler(number, stop, code)
    try:
        return await task, 0
    except asyncio.CancelledError:
        if not codes:
            raise
        return None, codes[0]


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
