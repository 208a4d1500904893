"""Commands with which people audit a judge: ``audit export`` and ``audit score``."""

from __future__ import annotations

import json
import shlex
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from semece.cli.judging import AsJson, aligned
from semece.cli.reading_commands import Judge, OneRun, open_runs, plain_tables, print_found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from semece.compare import Exported, Scored
    from semece.runs import Run

app = typer.Typer(
    help="Let people judge some of a run's answers, and correct its numbers by what they say.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

By = Literal["verdict", "confidence", "both", "none"]


@app.command("export")
def export(  # noqa: PLR0913, PLR0917 - one parameter per option
    run: OneRun,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="NAME.csv or NAME.xlsx gives NAME-1, NAME-2, one for each person.")
    ] = Path("audit.csv"),
    size: Annotated[int, typer.Option("--size", min=1, help="Answers to draw in all.")] = 200,
    by: Annotated[
        By, typer.Option("--by", help="Draw within strata: of the judge's verdict, the confidence, both or none.")
    ] = "verdict",
    annotators: Annotated[int, typer.Option("--annotators", min=1, help="How many people: a sheet for each.")] = 2,
    overlap: Annotated[int, typer.Option("--overlap", min=0, help="How many answers are on every sheet.")] = 50,
    seed: Annotated[int, typer.Option("--seed", help="The same seed and run give the same sheets.")] = 0,
    judge: Judge = None,
    as_json: AsJson = False,
) -> None:
    """Write sheets on which people judge a random sample of the deployed answers.

    A sheet shows question, references and answer. It hides model, judge, verdict, confidence and order. A sheet that is
    there already is never overwritten.

    Example: [bold]semece audit export RUN.db -o audit.xlsx[/bold]
    """
    from semece.compare import AuditDesign, export_sheets

    design = AuditDesign(size, by, annotators, overlap, seed)
    with open_runs([run], judge) as (opened,):
        found = export_sheets(opened, output, design)
    print_found(export_lines(found, run, judge), lambda: export_facts(found), as_json=as_json)


def export_facts(found: Exported) -> dict[str, Any]:
    """Give what was written as plain data."""
    sheets = [{"path": str(path), "rows": rows} for path, rows in zip(found.paths, found.rows, strict=True)]
    drawn, of = sum(found.plan.drawn), sum(found.plan.sizes)
    return {"sheets": sheets, "drawn": drawn, "answers": of, "shared": found.shared, "blank": found.blank}


def export_lines(found: Exported, run: Path, judge: str | None) -> Iterator[str]:
    """Say what was written and what to do with it."""
    from semece.errors import plural

    for path, rows in zip(found.paths, found.rows, strict=True):
        yield f"{path}  {plural(rows, 'row')}"
    plan = found.plan
    strata = "" if len(plan.sizes) == 1 else f" in {len(plan.sizes)} strata"
    shared = f", {found.shared:,} of them on every sheet" if len(found.paths) > 1 else ""
    yield f"{sum(plan.drawn):,} of {plural(sum(plan.sizes), 'answer', 'was')} drawn{strata}{shared}."
    if found.blank:
        yield f"Deployed answers that are empty, on no sheet and counted as not correct: {found.blank:,}."
    words = ["semece", "audit", "score", str(run), *map(str, found.paths), *(["--judge", judge] if judge else [])]
    yield "Give each person a sheet, to fill the column 'verdict' with correct, incorrect or not_attempted. Then:"
    yield shlex.join(words)


@app.command("score")
def score(  # noqa: PLR0917 - one parameter per option
    run: OneRun,
    sheets: Annotated[list[Path], typer.Argument(help="The sheets with verdicts, one for each person.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write people's verdicts as labelled answers, for semece judge-eval."),
    ] = None,
    listed: Annotated[
        int, typer.Option("--list", min=0, help="List so many answers on which judge and people differ.")
    ] = 0,
    keep: Annotated[
        bool, typer.Option("--keep/--no-keep", help="Keep the audit in the run file: other commands correct by it.")
    ] = True,
    judge: Judge = None,
    as_json: AsJson = False,
) -> None:
    """Say how far people agree, how good the judge is, and what accuracy and ECEs are without its errors.

    The corrected numbers are the judge's over all questions, moved by the differences found on the sheets; their
    intervals hold both what other questions and what other sheets could have shown.

    The audit is kept in the run file, in the place of an earlier one of the same sample. From then on summary, report,
    compare, check, abstain and the tables ece and abstention correct the judge's errors by the audit that was kept
    last.

    Example: [bold]semece audit score RUN.db audit-1.csv audit-2.csv[/bold]
    """
    from semece.compare import labelled_rows, read_sheet, score_sheets
    from semece.runs import write

    with open_runs([run], judge) as (opened,):
        found = score_sheets(opened, [read_sheet(path) for path in sheets])
        trouble = _kept(opened, found) if keep else None
    if output is not None:
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in labelled_rows(found))
        write("".join(lines).encode("utf-8", "backslashreplace"), output)
    kept = keep and not trouble
    said = [*score_lines(found, listed), *([KEPT.format(run)] if kept else [])]
    print_found(said, lambda: as_data(found) | {"kept": kept}, as_json=as_json)
    if trouble:
        typer.echo(f"semece: the audit is not kept, so other commands do not use it: {trouble}; or --no-keep", err=True)
        raise typer.Exit(4)


@app.command("forget")
def forget(run: OneRun, judge: Judge = None, as_json: AsJson = False) -> None:
    """Correct nothing by the audit that a run file holds, from now on.

    What people said stays in the file and on the sheets; 'semece audit score' with the sheets brings it back.

    Example: [bold]semece audit forget RUN.db[/bold]
    """
    with open_runs([run], judge) as (opened,):
        sheets = opened.forget_audit()
    said = f"{run}: numbers are by the judge alone from now on; the audit ({', '.join(sheets)}) is withdrawn."
    lines = [said, "'semece audit score' with its sheets brings it back."]
    print_found(lines, lambda: {"run": str(run), "withdrawn": list(sheets)}, as_json=as_json)


KEPT = (
    "Kept in {}: summary, report, compare, check, abstain and the tables ece and abstention correct the judge's errors "
    "by this audit; 'semece audit forget' withdraws it."
)
"""The last line where an audit was kept."""


def _kept(run: Run, found: Scored) -> str | None:
    """Keep an audit; say why not, if it cannot be."""
    from semece import SemeceError

    try:
        run.keep_audit(found.audit)
    except SemeceError as error:
        return str(error)
    return None


def as_data(found: Scored) -> dict[str, Any]:
    """Give everything as plain data."""
    facts = {each.name: getattr(found, each.name) for each in fields(found) if each.name not in {"judged", "audit"}}
    facts |= plain_tables(found, "strata", "numbers", "thresholds", "quality", "annotators")
    return facts | {"quality": facts["quality"][0]}


def threshold_sentence(row: dict[str, Any]) -> str:
    """Say from which Sem1 on to answer once the judge's errors are corrected, or why nothing can be promised."""
    from semece import tables

    target = f"{tables.number_text(100 * row['target'], 0)} %"
    if row["threshold"] is None:
        return f"No threshold on Sem1 is sure to leave {target} right answers: {row['reason']}."
    covered = tables.percent_text(row["coverage"])
    return (
        f"Answer where Sem1 is at least {tables.number_text(row['threshold'])}: at least {target} of the answers are "
        f"right: 95 % sure, the judge's errors corrected, if future questions are like these. {covered} of all "
        f"{tables.plural(row['questions'], 'question')} asked are answered."
    )


def score_lines(found: Scored, listed: int) -> Iterator[str]:
    """Lay out what the sheets say."""
    from semece.errors import on_one_line, plural

    counts = found.counts
    yield (
        f"{found.run}: {counts['judged']:,} of {plural(counts['drawn'], 'drawn answer')} judged; "
        f"{plural(counts['questions'], 'question', 'enters')} the numbers"
    )
    if found.annotators.height:
        yield "\nPeople against each other\n"
        yield aligned(found.annotators)
    yield f"\nThe judge ({found.judge}) against people, over all answers\n"
    yield aligned(found.quality)
    yield "\nNumbers by the judge, and corrected; the last with less bias upwards\n"
    yield aligned(found.numbers.drop("judge_debiased").rename({"corrected_debiased": "debiased"}))
    yield "\nBrackets are 95 % intervals."
    yield from map(threshold_sentence, found.thresholds.to_dicts())
    for note in found.notes:
        yield f"Note: {note}."
    for row in found.disagreements[:listed]:
        people = ", ".join(f"{name} {word}" for name, word in row["people"].items())
        answer, references = on_one_line(row["answer"]), on_one_line(" | ".join(row["references"]))
        said = f"judge {row['judge']}, {people}"
        yield f"{row['question_id']}: {answer!r} (references: {references}); {said}"
