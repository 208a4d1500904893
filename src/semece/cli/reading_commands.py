"""Commands that read runs: ``summary``, ``show``, ``report``, ``export``."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

    from semece.runs import QuestionView, Run

Runs = Annotated[list[Path], typer.Argument(help="Run files.")]
OneRun = Annotated[Path, typer.Argument(help="A run file.")]
Judge = Annotated[Optional[str], typer.Option("--judge", "-j", help="Instead of the run's own judge.")]  # noqa: UP045
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def open_runs(stack: ExitStack, paths: Sequence[Path], judge: str | None = None) -> list[Run]:
    """Open run files for reading, until the stack closes; refuse a judge that has not judged one of them."""
    from semece import Run

    opened = [stack.enter_context(Run(path, judge=judge)) for path in paths]
    if judge is not None:
        from semece.compare import check_judged

        for run in opened:
            check_judged(run, judge)
    return opened


def summary(runs: Runs, judge: Judge = None, as_json: AsJson = False) -> None:
    """Print accuracy, Ver-, Sem1- and Sem2-ECE with intervals, regimes and failures.

    Example: [bold]semece summary runs/starter--local-smollm2.db[/bold]
    """
    print_summary(runs, judge=judge, as_json=as_json)


def print_summary(paths: Sequence[Path], *, judge: str | None = None, as_json: bool = False) -> None:
    """Print a sentence for each run, then the table, then what it implies."""
    from semece import tables

    with ExitStack() as stack:
        opened = open_runs(stack, paths, judge)
        table = tables.summary_table(opened)
        if as_json:
            typer.echo(tables.to_json(table))
            return
        for run, row in zip(opened, table.iter_rows(named=True), strict=True):
            for line in sentences(run, row):
                typer.echo(line)
        typer.echo("")
        typer.echo(across(table))
        for run in opened:
            if text := tables.implication(run.estimates()):
                typer.echo(f"\n{text}")
            for line in spent_lines(run):
                typer.echo(line)


def sentences(run: Run, row: dict[str, object]) -> Iterator[str]:
    """Say what a person needs before the numbers."""
    from semece import tables

    done, selected = run.complete
    if done < selected:
        yield f"{done:,} of {selected:,} questions complete"
    yield f"{run.name}: {tables.verdict(row)}"
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
    width = max(map(len, headings))
    columns = [max(map(len, row)) for row in rows]
    lines = []
    for place, heading in enumerate(headings):
        texts = [row[place].ljust(size) for row, size in zip(rows, columns, strict=True)]
        lines.append("  ".join([heading.ljust(width), *texts]).rstrip())
    return "\n".join(lines)


def show(
    run: OneRun,
    question: Annotated[str, typer.Argument(help="A question's id.")],
    judge: Judge = None,
) -> None:
    """Show one question: its answers by class, the grades, the confidences, the judges' raw replies.

    Example: [bold]semece show runs/starter--local-smollm2.db capital-france[/bold]
    """
    from semece.errors import visible

    with ExitStack() as stack:
        opened = open_runs(stack, [run], judge)[0]
        identity = os.fsencode(question).decode("utf-8", "replace")
        for line in question_lines(opened.question(identity)):
            typer.echo(visible(line, keep="\n"))
        for reply in opened.judge_replies(identity):
            typer.echo(visible(f"\njudge: {reply}", keep="\n"))


def question_lines(view: QuestionView) -> Iterator[str]:
    """Lay one question out."""
    from collections import Counter

    q, e = view.question, view.estimate
    yield f"{q.id}: {q.text}"
    yield f"references: {' | '.join(q.references) or 'none'}"
    yield f"status: {e.status}; {e.n_responses} usable of {len(view.responses)} responses, {view.missing} missing"
    numbers = (("Sem1", e.sem1), ("Sem2", e.sem2), ("Ver", e.verbalized), ("margin", e.margin), ("correct", e.correct))
    yield ", ".join(f"{name} {'-' if value is None else format(value, '.3f')}" for name, value in numbers)
    if view.partition is not None:
        usable = [r for r in view.responses if r.usable]
        for label, name in enumerate(view.partition.representatives):
            members = [r for r, own in zip(usable, view.partition.labels, strict=True) if own == label]
            verdict = view.grades.get(label, "ungraded")
            yield f"\n{len(members):4d}  {verdict:13s}  {name or '(no answer)'}"
            for form, count in Counter(r.answer for r in members).most_common():
                yield f"      {count:4d} x {form!r}"
    for r in view.responses:
        if not r.usable:
            yield f"\n   -  {r.status}: {r.text!r}"
    for alarm in view.alarms:
        yield f"\nalarm: {alarm.text}"


def report(
    runs: Runs,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page.")] = Path("report.html"),
    judge: Judge = None,
) -> None:
    """Write one self-contained HTML page.

    Example: [bold]semece report runs/starter--local-smollm2.db -o report.html[/bold]
    """
    from semece.show import build

    with ExitStack() as stack:
        typer.echo(str(build(open_runs(stack, runs, judge), output)))


def export(
    run: OneRun,
    to: Annotated[str, typer.Option("--to", help="jsonl, csv or parquet.")] = "jsonl",
    what: Annotated[str, typer.Option("--what", help="samples, responses or estimates.")] = "samples",
    output: Annotated[Optional[Path], typer.Option("--output", "-o", help="Default: stdout.")] = None,  # noqa: UP045
    judge: Judge = None,
) -> None:
    """Write what a run holds: samples (what 'semece score' reads), responses or estimates.

    Samples are of questions with a usable answer; how many are left out is said.

    Example: [bold]semece export runs/starter--local-smollm2.db --to jsonl -o samples.jsonl[/bold]
    """
    from semece.runs import export as write

    with ExitStack() as stack:
        for sentence in write(open_runs(stack, [run], judge)[0], what=what, form=to, output=output):
            typer.echo(f"semece: {sentence}", err=True)


def doctor(run: OneRun) -> None:
    """Say whether a run file is whole, whether it is being written, what is missing and how to continue.

    Example: [bold]semece doctor runs/starter--local-smollm2.db[/bold]
    """
    from semece.runs import examine

    well, lines = examine(run)
    for line in lines:
        typer.echo(line)
    if not well:
        raise typer.Exit(3)


COMMANDS = {"doctor": doctor, "summary": summary, "show": show, "report": report, "export": export}
