"""The command that measures judges: ``judge-eval``, against people."""

from __future__ import annotations

import asyncio
import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from semece.cli.typer_options import CALLING, Told, with_options

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence

    import polars as pl

    from semece.compare import Evaluation, Labelled
    from semece.runs import Shortfall

T = TypeVar("T")
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")]
Listed = Annotated[int, typer.Option("--list", help="List so many of each kind of what deserves a look.")]


@with_options(CALLING)
def judge_eval(  # noqa: PLR0913, PLR0917 - one parameter per option
    file: Annotated[Path, typer.Argument(help="Labelled answers: JSONL, CSV or Parquet.")],
    judges: Annotated[
        list[str],
        typer.Option("--judge", "-j", help="rules, exact, math, or a model's spelling; may be given several times."),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Where a model's replies rest. Default: runs/<file>--judge-eval.db."),
    ] = None,
    by: Annotated[
        str | None, typer.Option("--by", help="Group by this field of the rows instead of by length.")
    ] = None,
    pairs: Annotated[bool, typer.Option("--pairs", help="Group graded answers too: are opposites merged?")] = False,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Only the first so many questions.")] = None,
    max_words: Annotated[
        int | None, typer.Option("--max-words", min=1, help="Only graded answers of at most so many words.")
    ] = None,
    listed: Listed = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
    *,
    told: Told,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave bad rows out and count them.")] = False,
) -> None:
    """Say how often a judge is wrong, on answers that people have graded or grouped.

    A row is {"question", "references", "answer", "correct": true}, or {"question", "answers": [..], "labels": [..]}
    with people's classes. A model's replies are stored: the same command again asks only for what is missing.

    Example: [bold]semece judge-eval labelled.jsonl --judge rules --judge openai/gpt-4o-mini[/bold]
    """
    from semece.compare import evaluate_judge, groups_of, narrowed

    calls = told.calls()
    labelled = narrowed(read_file(file, skip_bad=skip_bad), limit=limit, max_words=max_words)
    groups_of(labelled, by)  # a field that is not there is said before anything is asked
    path = output or Path("runs") / f"{file.stem}--judge-eval.db"
    found = [
        ask_to_end(
            partial(evaluate_judge, labelled, judge, store=path, pairs=pairs, calls=calls),
            quiet=quiet,
            timeout=calls.timeout,
        )
        for judge in dict.fromkeys(judges)
    ]
    print_evaluations(labelled, found, by=by, listed=listed, as_json=as_json)
    end([evaluation.shortfall for evaluation in found])


def read_file(file: Path, *, skip_bad: bool) -> Labelled:
    """Read labelled answers; say what was left out, and what cannot be measured."""
    from semece import tables
    from semece.compare import read_labelled, without_reference

    bad: list[str] = []
    labelled = read_labelled(file, bad=(lambda error: bad.append(str(error))) if skip_bad else None)
    if bad:
        typer.echo(f"semece: bad rows left out: {len(bad):,}; the first: {bad[0]}", err=True)
    if empty := without_reference(labelled):
        where = f"line {empty[0]}" if len(empty) == 1 else f"the first on line {empty[0]}"
        typer.echo(
            f"semece: no judge can find {tables.plural(len(empty), 'answer')} right: no reference ({where})", err=True
        )
    if alone := sum(len(row.answers) == 1 for row in labelled.grouped):
        typer.echo(f"semece: rows with one answer, which has nothing to be grouped with: {alone:,}", err=True)
    return labelled


def ask_to_end(asking: Callable[..., Awaitable[T]], *, quiet: bool, timeout: float) -> T:
    """Do what takes a ``progress`` to the end; on a signal or at a cap say how to go on, and exit."""
    from semece.cli.run_command import again, leave, progress_bars, until_signal
    from semece.errors import BudgetError

    try:
        with progress_bars(enabled=not quiet and sys.stderr.isatty()) as progress:
            found = asyncio.run(until_signal(asking(progress=progress), timeout=timeout))
    except BudgetError as error:
        leave(f"semece: {error}; {again(cap=error)}", 3)
    if found.code:
        leave(f"stopped; what was delivered is stored; {again()}", found.code)
    return found.result  # type: ignore[return-value]


def end(shortfalls: Iterable[Shortfall | None]) -> None:
    """Say what judges have not judged and why; exit with 3 if the same command may get it."""
    from semece.cli.run_command import again, leave

    missing = 0
    for shortfall in filter(None, shortfalls):
        missing += shortfall.missing
        for sentence in shortfall.sentences():
            typer.echo(f"semece: {sentence}", err=True)
    if missing:
        leave(f"semece: {missing:,} of the judge's replies are missing or unreadable; {again()}", 3)


def print_evaluations(
    labelled: Labelled, found: Sequence[Evaluation], *, by: str | None, listed: int, as_json: bool
) -> None:
    """Print what judges say of labelled answers: verdicts by group, then classes, then where they are wrong."""
    import polars as pl

    from semece import tables
    from semece.compare import recommendations

    every = [measured(labelled, evaluation, by) for evaluation in found]
    joined = {name: pl.concat([one[name] for one in every]) for name in every[0]}
    wrong = [row for evaluation in found for row in disagreements(labelled, evaluation, listed)]
    advice = list(recommendations(labelled, found))
    if as_json:
        parts: dict[str, Any] = {name: json.loads(tables.to_json(table)) for name, table in joined.items()}
        parts |= {
            "recommendations": advice,
            "disagreements": wrong,
            "shortfalls": as_dicts(evaluation.shortfall for evaluation in found),
        }
        typer.echo(json.dumps(parts, ensure_ascii=False, allow_nan=False))
        return
    for name, table in joined.items():
        typer.echo(f"{HEADINGS[name]}\n")
        typer.echo(aligned(without_details(table)) + "\n")
    for row in wrong:
        typer.echo(disagreement_line(row))
    if joined:
        typer.echo("Brackets are 95 % intervals over questions.")
    for sentence in advice:
        typer.echo(sentence)


def as_dicts(shortfalls: Iterable[Shortfall | None]) -> list[dict[str, Any]]:
    """Give what judges have not judged, for JSON; nothing where all is there."""
    found = (shortfall.as_dict() for shortfall in filter(None, shortfalls))
    return [each for each in found if each["undelivered"] or each["unreadable"] or each["without_text"]]


HEADINGS = {
    "grading": "Verdicts against people's. false correct: share of what people call incorrect.",
    "partition": "Classes against people's, over pairs of answers to one question.",
    "pairs": "Classes of graded answers: pairs of opposite verdicts, and of two correct answers, in one class.",
}
"""What stands above a table."""

HIDDEN = ("both", "judge_only", "people_only", "neither", "questions", "rand", "modal_jaccard", "not_attempted")
"""Columns that only JSON has."""


def measured(labelled: Labelled, evaluation: Evaluation, by: str | None) -> dict[str, pl.DataFrame]:
    """Make the tables of one judge, by name; only those that have something to tell."""
    from semece import tables
    from semece.compare import LENGTHS, answers_of_questions, verdict_rows

    judge, found = evaluation.judge, {}
    if labelled.graded:
        rows = verdict_rows(labelled, evaluation, by=by)
        found["grading"] = tables.grading_table(rows, judge=judge, order=tuple(LENGTHS))
    several = [place for place, row in enumerate(labelled.grouped) if len(row.answers) > 1]
    if several:
        people = [labelled.grouped[place].labels for place in several]
        found["partition"] = tables.partition_table(people, [evaluation.classes[i] for i in several], judge=judge)
    if evaluation.pairs:
        places = answers_of_questions(labelled).values()
        graded = [[labelled.graded[place].correct for place in some] for some in places]
        found["pairs"] = tables.pairs_table(graded, list(evaluation.pairs.values()), judge=judge)
    return found


def disagreements(labelled: Labelled, evaluation: Evaluation, most: int) -> Iterator[dict[str, Any]]:
    """List so many answers that only the judge calls correct, and so many that only people do."""
    for wanted in (False, True):
        count = 0
        for row, verdict in zip(labelled.graded, evaluation.verdicts, strict=True):
            if verdict is None or row.correct != wanted or (verdict == "correct") == wanted or count == most:
                continue
            count += 1
            yield {
                "judge": evaluation.judge,
                "line": row.line,
                "verdict": verdict,
                "answer": row.answer,
                "references": list(row.question.references),
            }


def disagreement_line(row: dict[str, Any]) -> str:
    """Say on what the judge and people disagree."""
    from semece.errors import on_one_line

    people = "incorrect" if row["verdict"] == "correct" else "correct"
    references, answer = on_one_line(" | ".join(row["references"])), on_one_line(row["answer"])
    return (
        f"line {row['line']}: {row['judge']} says {row['verdict']}, people say {people}: {answer!r} "
        f"(references: {references})"
    )


def without_details(table: pl.DataFrame) -> pl.DataFrame:
    """Leave out what only JSON has, and counts of what is missing if nothing is."""
    empty = [name for name in ("ungraded", "unpartitioned") if name in table.columns and not table[name].sum()]
    dropped = [name for name in (*HIDDEN, *empty) if name in table.columns]
    ends = [f"{name}{end}" for name in dropped for end in ("_low", "_high") if f"{name}{end}" in table.columns]
    return table.drop(dropped, ends)


def aligned(table: pl.DataFrame) -> str:
    """Lay a table out in columns; a column without any value is left out."""
    from semece import tables

    kept = [name for name in table.columns if table[name].null_count() < table.height]
    head, rows = tables.cells(table.select(kept))
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = ("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) for row in (head, *rows))
    return "\n".join(line.rstrip() for line in lines)


COMMANDS = {"judge-eval": judge_eval}
