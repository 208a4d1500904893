"""Commands that read runs: ``doctor``, ``summary``, ``report``, ``export``, ``table``, ``figure``."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import polars as pl

    from semece.runs import Run

Runs = Annotated[list[Path], typer.Argument(help="Run files.")]
OneRun = Annotated[Path, typer.Argument(help="A run file.")]
Judge = Annotated[str | None, typer.Option("--judge", "-j", help="Instead of the run's own judge.")]
Recalibrate = Annotated[
    Path | None, typer.Option("--recalibrate", help="A map of 'semece recalibrate', fitted on other questions.")
]
Uncorrected = Annotated[
    bool, typer.Option("--uncorrected", help="Leave the judge's errors in, though the file holds an audit of them.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
TABLE_NAMES = "ece, semx, bootstrap, baselines, abstention, margin, sweep, rate, slope or alignment"
FIGURE_NAMES = (
    "reliability, reliability-pooled, semx, semx-budget, risk-coverage, margin, regime, sweep, sweep-ece, rate, "
    "budget, regime-map, gaps or predictions"
)


ToStdout = Annotated[Path | None, typer.Option("--output", "-o", help="Default: stdout.")]
ToFile = Annotated[Path, typer.Option("--output", "-o", help="F.pdf, F.svg or F.png.")]


@contextmanager
def open_runs(
    paths: Iterable[Path], judge: str | None = None, recalibrate: Path | None = None, *, uncorrected: bool = False
) -> Iterator[list[Run]]:
    """Open run files for reading, shards of one run as one, with a map to recalibrate by.

    Refuses a judge that has not judged one of them.

    Unless ``uncorrected``, an audit that a file holds corrects the errors of its judge.
    """
    from semece import load_recalibration
    from semece.errors import SemeceError
    from semece.runs import open_run, shards_together

    paths = list(paths)
    places = [os.path.realpath(path) for path in paths]  # a circle of links is one place, and refused when it is opened
    for path, place in zip(paths, places, strict=True):
        if places.count(place) > 1:
            raise SemeceError(f"a run is named once; {path} is named {places.count(place)} times")
    with ExitStack() as stack:
        paths = stack.enter_context(shards_together(list(paths)))
        with bad_arguments():
            fitted = None if recalibrate is None else load_recalibration(recalibrate)
            given: Any = {"judge": judge, "recalibration": fitted, "corrected": not uncorrected}
            opened = [stack.enter_context(open_run(path, **given)) for path in paths]
            for run in opened if fitted else ():
                run.question_views()  # says here if the map does not fit
        if judge is not None:
            from semece.compare import check_judged

            for run in opened:
                check_judged(run, judge)
        yield opened


@contextmanager
def bad_arguments(**typed: str) -> Iterator[None]:
    """Say what is wrong with an argument in one line; one that is typed under another name is called so."""
    from semece import SemeceError

    try:
        yield
    except ValueError as error:
        name, blank, rest = str(error).partition(" ")
        raise SemeceError(f"{typed.get(name, name)}{blank}{rest}") from None


def print_found(lines: Iterable[str], facts: Callable[[], object], *, as_json: bool) -> None:
    """Print what was found: lines for people, or the facts as JSON."""
    if as_json:
        typer.echo(json.dumps(facts(), ensure_ascii=False, allow_nan=False))
        return
    for line in lines:
        typer.echo(line)


def plain_tables(found: object, *names: str) -> dict[str, Any]:
    """Give tables of what was found as plain data, by name."""
    return {name: plain(getattr(found, name)) for name in names}


def plain(table: pl.DataFrame) -> list[dict[str, Any]]:
    """Give a table as plain data; what is no number is null."""
    return table.fill_nan(None).to_dicts()


def summary(
    runs: Runs,
    judge: Judge = None,
    recalibrate: Recalibrate = None,
    uncorrected: Uncorrected = False,
    as_json: AsJson = False,
) -> None:
    """Print whether the model knows, whether its confidences are calibrated, and the numbers with intervals.

    Example: [bold]semece summary runs/starter--local-smollm2.db[/bold]
    """
    print_summary(runs, judge=judge, recalibrate=recalibrate, uncorrected=uncorrected, as_json=as_json)


def print_summary(
    paths: Sequence[Path],
    *,
    judge: str | None = None,
    recalibrate: Path | None = None,
    uncorrected: bool = False,
    as_json: bool = False,
) -> None:
    """Print a sentence for each run, then the table, then what it implies."""
    from semece import tables

    with open_runs(paths, judge, recalibrate, uncorrected=uncorrected) as opened:
        table = tables.summary_table(opened)
        print_found(summary_lines(opened, table), lambda: noted(opened, summary_facts(table)), as_json=as_json)


def print_made(path: Path, *, as_json: bool, **facts: object) -> None:
    """Print the summary of a run that was just made, and where it is; as JSON with further facts."""
    from semece import tables

    if not as_json:
        print_summary([path])
        return
    with open_runs([path]) as opened:
        (row,) = noted(opened, summary_facts(tables.summary_table(opened)))
    print_found([], lambda: {"path": str(path), **facts, "summary": row}, as_json=True)


def noted(runs: Sequence[Run], facts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add to the facts of runs that a score is recalibrated, where it is."""
    notes = [run.recalibration_note for run in runs]
    return [fact | ({"recalibration": note} if note else {}) for fact, note in zip(facts, notes, strict=True)]


def summary_facts(table: pl.DataFrame) -> list[dict[str, Any]]:
    """Give a summary as plain data, with what it says."""
    from semece import tables

    return [row | {"says": tables.says(row)} for row in plain(table)]


def summary_lines(runs: Sequence[Run], table: pl.DataFrame) -> Iterator[str]:
    """Lay a summary out."""
    from semece import tables

    for run, row in zip(runs, table.iter_rows(named=True), strict=True):
        yield from sentences(run, row)
    yield ""
    yield across(table)
    for run, row in zip(runs, table.iter_rows(named=True), strict=True):
        if text := tables.says(row)["regime"]:
            yield f"\n{text}"
        yield from spent_lines(run)


def sentences(run: Run, row: dict[str, object]) -> Iterator[str]:
    """Say what a person needs before the numbers."""
    from semece import tables

    done, selected = run.complete
    if done < selected:
        yield f"{done:,} of {tables.plural(selected, 'question')} complete"
    said = tables.says(row)
    yield f"{row['run']}: {said['model']}"
    yield from filter(None, (said["confidences"], said["refusals"], said["audit"]))
    yield from tables.reading_lines(run.counts, run.confidences, run.unlabelled)
    if "rules" in run.judge_names:
        yield "Grouped and graded by rules, not by a model or a person."


def spent_lines(run: Run) -> Iterator[str]:
    """Say what was spent and what the run noticed; nothing for samples that cost nothing."""
    from semece import tables
    from semece.show import cost_text

    dollars, asked, answered = run.spent
    failed, paid = run.failed_calls
    if asked or answered or failed:
        yield f"\nSpent {cost_text(dollars, asked, answered)}."
    if failed:
        yield f"{tables.plural(failed, 'call')} delivered nothing; {paid:,} of them may have been paid for."
    for event in run.events:
        yield f"Noticed: {event}."


def across(table: pl.DataFrame) -> str:
    """Lay the summary out with one column a run."""
    from semece import tables

    headings, rows = tables.cells(tables.headline(table))
    columns = [headings, *rows]
    padded = [[text.ljust(max(map(len, column))) for text in column] for column in columns]
    return "\n".join("  ".join(line).rstrip() for line in zip(*padded, strict=True))


def report(  # noqa: PLR0917 - one parameter per option
    runs: Runs,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page.")] = Path("report.html"),
    judge: Judge = None,
    recalibrate: Recalibrate = None,
    uncorrected: Uncorrected = False,
    as_json: AsJson = False,
) -> None:
    """Write one self-contained HTML page.

    Example: [bold]semece report runs/starter--local-smollm2.db -o report.html[/bold]
    """
    from semece.show import build

    with open_runs(runs, judge, recalibrate, uncorrected=uncorrected) as opened:
        path = str(build(opened, output))
    print_found([path], lambda: {"report": path}, as_json=as_json)


def export(  # noqa: PLR0917 - one parameter per option
    run: OneRun,
    to: Annotated[
        str | None,
        typer.Option("--to", help="jsonl, csv or parquet. Default: by the ending of the output, else jsonl."),
    ] = None,
    what: Annotated[str, typer.Option("--what", help="samples, responses or estimates.")] = "samples",
    output: ToStdout = None,
    judge: Judge = None,
    as_json: AsJson = False,
) -> None:
    """Write what a run holds: samples (what 'semece score' reads), responses or estimates.

    Samples are of questions with a usable answer; how many are left out is said. --json says what was written to -o.

    Example: [bold]semece export runs/starter--local-smollm2.db --to jsonl -o samples.jsonl[/bold]
    """
    from semece import SemeceError
    from semece.runs import export as write

    if as_json and output is None:
        raise SemeceError("--json says what was written to a file: name it with -o, or leave --json out")
    with open_runs([run], judge) as (opened,):
        notes = list(write(opened, what=what, form=to, output=output))
    for sentence in notes:
        typer.echo(f"semece: {sentence}", err=True)
    print_found([], lambda: {"output": str(output), "what": what, "notes": notes}, as_json=as_json)


def doctor(
    run: OneRun,
    set_aside: Annotated[
        bool, typer.Option("--set-aside", help="Set damaged replies aside, so that they are asked for again.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say whether a run file is whole, whether it is being written, what is missing and how to continue.

    The exit code is 2 if the file is damaged, 3 if something is missing.

    Example: [bold]semece doctor runs/starter--local-smollm2.db[/bold]
    """
    from semece.runs import examine

    well, lines = examine(run, set_aside=set_aside)
    print_found(lines, lambda: {"run": str(run), "complete": well, "says": lines}, as_json=as_json)
    if not well:
        raise typer.Exit(3)


def table(  # noqa: PLR0913, PLR0917 - one parameter per option
    name: Annotated[str, typer.Argument(help=f"{TABLE_NAMES}.")],
    runs: Runs,
    form: Annotated[str, typer.Option("--format", "-f", help="md, latex, csv or json.")] = "md",
    digits: Annotated[int, typer.Option("--digits", min=0, max=17, help="Decimals in md and latex.")] = 3,
    by: Annotated[str, typer.Option("--by", help="bin, or for semx: budget, fewer answers.")] = "bin",
    width: Annotated[
        float | None, typer.Option("--width", min=2.0, max=12.0, help="Inches: LaTeX as floats that fit this width.")
    ] = None,
    output: ToStdout = None,
    judge: Judge = None,
    recalibrate: Recalibrate = None,
    uncorrected: Uncorrected = False,
    as_json: AsJson = False,
) -> None:
    """Write one of the paper's tables; several runs of one dataset are also pooled.

    An audit that a run file holds corrects the tables ``ece`` and ``abstention``; the others are by the judge alone.

    --json prints the rows, and why there is no pooled row of a dataset; with -o the file has them in --format.

    Example: [bold]semece table ece runs/*.db --format latex -o ece.tex[/bold]
    """
    from semece import tables
    from semece.runs import write

    with open_runs(runs, judge, recalibrate, uncorrected=uncorrected) as opened, bad_arguments():
        found = tables.paper_table(name, opened, by=cast("tables.By", by))
        if form in {"md", "latex"}:
            found = found.select(column for column in found.columns if found[column].null_count() < found.height)
        if width is not None and form != "latex":
            raise ValueError(f"--width is for --format latex; got {form}")
        text = (
            tables.render(found, cast("tables.Format", form), digits=digits)
            if width is None
            else tables.fitted(name, found, width=width, digits=digits)
        )
        notes = apart_of(opened)
        if note := tables.audit_note(name, opened):
            typer.echo(f"note: {note}", err=True)
            notes.append(note)
    if output is not None or not as_json:
        write(f"{text.rstrip()}\n".encode(), output)
    facts = {"table": name, "output": None if output is None else str(output), "notes": notes}
    print_found([], lambda: {**facts, "rows": json.loads(tables.to_json(found))}, as_json=as_json)


def apart_of(runs: Sequence[Run]) -> list[str]:
    """Say on stderr which datasets have no pooled row and why, and give the sentences."""
    from semece import tables

    notes = list(tables.not_pooled(tables.arms_of(runs)).values())
    for sentence in notes:
        typer.echo(f"note: {sentence}", err=True)
    return notes


def figure(  # noqa: PLR0917 - one parameter per option
    name: Annotated[str, typer.Argument(help=f"{FIGURE_NAMES}.")],
    runs: Runs,
    output: ToFile,
    judge: Judge = None,
    scores: Annotated[
        list[str] | None,
        typer.Option("--score", "-s", help="Of reliability: which confidences. Default: the first four."),
    ] = None,
    recalibrate: Recalibrate = None,
    as_json: AsJson = False,
) -> None:
    """Draw a figure of one run, or of several beside one another.

    Example: [bold]semece figure reliability runs/*.db -o reliability.pdf[/bold]
    """
    from semece import figures
    from semece.show import draw

    with open_runs(runs, judge, recalibrate) as opened, bad_arguments():
        path = str(figures.save(draw(name, opened, scores=scores or ()), output))
        notes = apart_of(opened)
    print_found([path], lambda: {"figure": path, "notes": notes}, as_json=as_json)


COMMANDS = {each.__name__: each for each in (doctor, summary, report, export, table, figure)}
