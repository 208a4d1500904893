"""How judges are measured: ``judge-eval``, against people; what ``compare --judges`` prints of one run."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from semece.cli.reading_commands import plain_tables, print_found
from semece.cli.typer_options import CALLING, Told, with_options

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence

    import polars as pl

    from semece.compare import Comparison, Evaluation, JudgesTogether, Labelled
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
        verb = "is" if missing == 1 else "are"
        leave(f"semece: {missing:,} of the judge's replies {verb} missing or unreadable; {again()}", 3)


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


def print_judges(path: Path, judges: Sequence[str], *, listed: int, as_json: bool) -> None:
    """Print how judges of a run differ, and what they have not judged; exit with 3 if they may still do so."""
    from semece import Run, SemeceError
    from semece.compare import compare_judges, compare_several, judge_shortfall

    shortfalls = [judge_shortfall(path, judge) for judge in judges]
    with ExitStack() as stack:
        runs = [stack.enter_context(Run(path, judge=judge, corrected=False)) for judge in judges]
        name = runs[0].name
        try:
            if len(runs) == 2:
                two = compare_judges(*runs)
                lines, facts = comparison_lines(name, two, listed), partial(comparison_facts, name, two)
            else:
                several = compare_several(runs)
                lines, facts = several_lines(name, several, listed), partial(several_facts, name, several)
        except SemeceError as error:
            if not as_dicts(shortfalls):
                raise
            typer.echo(f"semece: {error}", err=True)
            end(shortfalls)
            raise typer.Exit(2) from None
        print_found(lines, lambda: facts(as_dicts(shortfalls)), as_json=as_json)
    end(shortfalls)


def several_facts(name: str, found: JudgesTogether, shortfalls: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Give how several judges of a run differ as plain data."""
    parts = plain_tables(found, "numbers", "pairs", "changes")
    flips = [
        {"question_id": question, "answer": answer, "responses": times}
        | {"verdicts": dict(zip(found.judges, verdicts, strict=True))}
        for question, answer, times, *verdicts in found.flips.iter_rows()
    ]
    head = {"run": name, "judges": found.judges, **parts, "flips": flips}
    return {**head, "alarm_counts": found.alarms, "shortfalls": shortfalls}


def several_lines(name: str, found: JudgesTogether, listed: int) -> Iterator[str]:
    """Lay several judges out: each one's numbers, each pair, the verdicts that flip."""
    import polars as pl

    from semece import tables
    from semece.errors import on_one_line

    yield f"{name}: {len(found.judges)} judges"
    yield "\n" + aligned(found.numbers)
    yield "\nVerdicts of each pair on the same responses: correct, or not\n"
    names = ("first", "second", "responses", "agreement", "kappa", "first_only", "second_only")
    ends = [f"{each}{end}" for each in ("agreement", "kappa") for end in ("_low", "_high")]
    titles = {"first_only": "only first: correct", "second_only": "only second: correct"}
    yield aligned(found.pairs.select(*names, *ends).rename(titles))
    yield "\nClasses of each pair, means over questions\n"
    yield aligned(found.pairs.drop(*names[2:], *ends))
    yield from _alarm_counts(found.alarms)
    if found.flips.height:
        said = [each for each in found.flips.columns if each.startswith("verdict: ")]
        short = [on_one_line(answer, 40) for answer in found.flips["answer"].head(listed)]
        yield f"\n{tables.plural(found.flips.height, 'answer')} on which verdicts flip; the most frequent\n"
        shown = found.flips.head(listed).with_columns(answer=pl.Series(short, dtype=pl.String))
        yield aligned(shown.rename({each: each.removeprefix("verdict: ") for each in said}))
    yield (
        "\nBrackets are 95 % intervals over questions. Kappa is agreement beyond chance: 0 is what two judges have that"
        " say 'correct' as often and know nothing of each other. --json has every paired change; two judges alone have "
        "their own tables."
    )


def comparison_facts(name: str, found: Comparison, shortfalls: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Give how two judges of a run differ as plain data: numbers, hedges, alarms, questions."""
    head = {"run": name, "judges": found.judges, "questions": found.questions, "left_out": found.left_out}
    parts = plain_tables(found, "table", "hedging", "alarms", "changed")
    return {**head, **parts, "alarm_counts": found.alarm_counts(), "shortfalls": shortfalls}


def comparison_lines(name: str, found: Comparison, listed: int) -> Iterator[str]:
    """Lay a comparison out."""
    from semece import tables

    first, second = found.judges
    left_out = sum(found.left_out.values())
    of = f"{found.questions:,} of {found.questions + left_out:,}" if left_out else f"{found.questions:,}"
    noun = "question" if found.questions + left_out == 1 else "questions"
    yield f"{name}: {of} {noun}, first {first}, second {second}"
    if left_out:
        yield f"Left out: {', '.join(f'{count:,} {reason}' for reason, count in found.left_out.items())}."
    yield from number_lines(found.table)
    if found.hedging.height:
        yield "\nHedged answers ('A or B', 'I think ...') as judged, all in the mode, all out of it\n"
        yield aligned(found.hedging)
    yield from _alarm_counts(found.alarm_counts())
    for judge in found.judges:
        yield from _alarm_lines(found, judge, listed)
    changed = found.changed.head(listed)
    if changed.height:
        yield f"\n{tables.plural(found.changed.height, 'question')} not judged alike; the least alike\n"
        same = changed["same_mode"].replace_strict({True: "yes", False: "no"})
        yield aligned(changed.with_columns(changed["text"].str.slice(0, 60), same))
    yield "\nBrackets are 95 % intervals, paired by question. --list and --json show more."


def _alarm_counts(counts: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """Give how many questions have an alarm, by judge and kind."""
    yield "\nQuestions with an alarm\n"
    for judge, found in counts.items():
        yield f"{judge}: " + ", ".join(f"{count:,} {kind}" for kind, count in found.items())


def _alarm_lines(found: Comparison, judge: str, listed: int) -> Iterator[str]:
    """Give the first alarms of each kind."""
    from semece.errors import on_one_line

    for _, rows in found.alarms.filter(judge=judge).group_by("kind", maintain_order=True):
        for question, text in rows.head(listed).select("question_id", "text").iter_rows():
            yield f"  {judge}, {question}: {on_one_line(text, 150)}"


def number_lines(table: pl.DataFrame) -> Iterator[str]:
    """Lay out how alike the classes are, and then each number on both sides."""
    import polars as pl

    shown = table.drop("reason")
    ends = {"change": "agreement", "change_low": "agreement_low", "change_high": "agreement_high"}
    alike = pl.col("first").is_null() & pl.col("second").is_null()
    for part in (shown.filter(alike).rename(ends), shown.filter(~alike)):
        if part.height:
            yield "\n" + aligned(part)
    yield from _reasons(table)


def _reasons(table: pl.DataFrame) -> Iterator[str]:
    """Say each reason once, with the quantities it holds for if they are few."""
    from semece import tables

    for (remark,), rows in table.drop_nulls("reason").group_by("reason", maintain_order=True):
        names = ", ".join(map(tables.label, rows["quantity"]))
        yield f"\n{names}: {remark}" if rows.height < 5 else f"\n{remark}"


COMMANDS = {"judge-eval": judge_eval}
