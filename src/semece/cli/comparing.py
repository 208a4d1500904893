"""The command that compares: runs on the same questions, or judges of one run."""

from __future__ import annotations

import json
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from semece.cli.judging import (
    AsJson,
    Listed,
    Quiet,
    aligned,
    as_dicts,
    ask_to_end,
    end,
)
from semece.cli.reading_commands import open_runs
from semece.cli.typer_options import COMPARING, Told, with_options

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

    from semece.compare import Comparison, Standings

Several = Annotated[list[Path], typer.Argument(help="Run files: several, or one with --judges.")]
Judges = Annotated[
    Optional[tuple[str, str]],  # noqa: UP045
    typer.Option("--judges", help="Two judges: rules, exact, given, a model's spelling, or a variant of it."),
]


@with_options(COMPARING)
def compare(
    runs: Several,
    judges: Judges = None,
    listed: Listed = 3,
    as_json: AsJson = False,
    quiet: Quiet = False,
    *,
    told: Told,
) -> None:
    """Compare runs on the same questions, or with --judges two judges on one run.

    Of runs: how every number changes from the first to the others, paired by question, and who is ahead, how surely.

    Of judges: how alike their classes are, and how much every number depends on the judge. A model that has not judged
    the run yet is asked first; its replies are stored in the run, whose own judge stays. What comes after a # makes a
    variant: openai/NAME#strict is another prompt, openai/NAME#order=1 another order of the answers.

    Example: [bold]semece compare runs/*.db[/bold]

    Example: [bold]semece compare RUN.db --judges openai/gpt-4o-mini openai/gpt-4o-mini#order=1[/bold]
    """
    from semece import SemeceError
    from semece.compare import ask_judges, check_two

    if judges is None:
        print_standings(runs, as_json=as_json)
        return
    if len(runs) > 1:
        raise SemeceError(f"--judges compares two judges on one run; got {len(runs)} runs")
    check_two(judges)
    ask_to_end(partial(ask_judges, runs[0], judges, calls=told.calls()), quiet=quiet)
    print_judges(runs[0], judges, listed=listed, as_json=as_json)


def print_judges(path: Path, judges: tuple[str, str], *, listed: int, as_json: bool) -> None:
    """Print how two judges of a run differ, and what they have not judged; exit with 3 if they may still do so."""
    from semece import Run, SemeceError
    from semece.compare import compare_judges, judge_shortfall

    shortfalls = [judge_shortfall(path, judge) for judge in judges]
    with Run(path, judge=judges[0]) as first, Run(path, judge=judges[1]) as second:
        try:
            found = compare_judges(first, second)
        except SemeceError as error:
            if not as_dicts(shortfalls):
                raise
            typer.echo(f"semece: {error}", err=True)
            end(shortfalls)
            raise typer.Exit(1) from None
        print_comparison(first.name, found, listed=listed, as_json=as_json, shortfalls=as_dicts(shortfalls))
    end(shortfalls)


def print_comparison(
    name: str, found: Comparison, *, listed: int, as_json: bool, shortfalls: Sequence[dict[str, Any]] = ()
) -> None:
    """Print how two judges of a run differ: numbers, hedges, alarms, questions."""
    from semece import tables

    if as_json:
        names = ("table", "hedging", "alarms", "changed")
        parts = {part: json.loads(tables.to_json(getattr(found, part))) for part in names}
        head = {"run": name, "judges": found.judges, "questions": found.questions, "left_out": found.left_out}
        counts = {"alarm_counts": found.alarm_counts(), "shortfalls": list(shortfalls)}
        typer.echo(json.dumps({**head, **parts, **counts}, ensure_ascii=False, allow_nan=False))
        return
    for line in comparison_lines(name, found, listed):
        typer.echo(line)


def comparison_lines(name: str, found: Comparison, listed: int) -> Iterator[str]:
    """Lay a comparison out."""
    import polars as pl

    from semece import tables

    first, second = found.judges
    left_out = sum(found.left_out.values())
    of = f"{found.questions:,} of {found.questions + left_out:,}" if left_out else f"{found.questions:,}"
    noun = "question" if found.questions + left_out == 1 else "questions"
    yield f"{name}: {of} {noun}, first {first}, second {second}"
    if left_out:
        yield f"Left out: {', '.join(f'{count:,} {reason}' for reason, count in found.left_out.items())}."
    yield from _numbers(found.table)
    if found.hedging.height:
        yield "\nHedged answers ('A or B', 'I think ...') as judged, all in the mode, all out of it\n"
        yield aligned(found.hedging)
    yield "\nQuestions with an alarm\n"
    for judge, counts in found.alarm_counts().items():
        yield f"{judge}: " + ", ".join(f"{count:,} {kind}" for kind, count in counts.items())
    for judge in found.judges:
        yield from _alarm_lines(found, judge, listed)
    changed = found.changed.head(listed)
    if changed.height:
        yield f"\n{tables.plural(found.changed.height, 'question')} not judged alike; the least alike\n"
        same = pl.when(changed["same_mode"]).then(pl.lit("yes")).otherwise(pl.lit("no")).alias("same_mode")
        yield aligned(changed.with_columns(changed["text"].str.slice(0, 60), same))
    yield "\nBrackets are 95 % intervals, paired by question. --list and --json show more."


def print_standings(paths: Sequence[Path], *, as_json: bool) -> None:
    """Print how runs differ: who is ahead, how surely, and every paired change."""
    from semece import tables
    from semece.compare import compare_runs

    with ExitStack() as stack:
        runs = open_runs(stack, paths)
        found = compare_runs(runs)
        if as_json:
            parts = {name: json.loads(tables.to_json(getattr(found, name))) for name in ("changes", "ranking")}
            head = {"runs": found.runs, "questions": found.questions, "left_out": found.left_out}
            typer.echo(json.dumps(head | parts, ensure_ascii=False, allow_nan=False))
            return
        for line in standings_lines(found, judges={run.judge_names for run in runs}):
            typer.echo(line)


def standings_lines(found: Standings, *, judges: set[tuple[str, str]]) -> Iterator[str]:
    """Lay runs out: a sentence per quantity, the ranking, the changes."""
    import polars as pl

    from semece import tables

    yield f"{tables.plural(found.questions, 'question')} complete in all of {len(found.runs)} runs, n the same"
    if any(found.left_out.values()):
        parts = ", ".join(f"{count:,} of {name}" for name, count in found.left_out.items() if count)
        yield f"Left out because another run lacks them: {parts}."
    if len(judges) > 1:
        names = ", ".join(sorted(map(tables.judge_text, judges)))
        yield f"Judged by different judges: {names}. Part of a change is theirs."
    ranking = found.ranking.with_columns(pl.col("quantity").map_elements(tables.label, return_dtype=pl.String))
    yield ""
    for (name,), rows in found.ranking.group_by("quantity", maintain_order=True):
        yield leader(str(name), tables.label(str(name)), rows.filter(pl.col("rank") == 1))
    yield "\n" + aligned(ranking)
    for (name,), rows in found.changes.group_by("run", maintain_order=True):
        yield f"\nFrom {found.runs[0]} to {name}"
        yield from _numbers(rows.drop("run"))
    yield "\nBrackets are 95 % intervals, paired by question; best is the share of resamples in which a run is first."


def leader(quantity: str, title: str, first: pl.DataFrame) -> str:
    """Say who is ahead in a quantity, and how surely."""
    from semece.runs import directions

    higher = directions()[quantity] == "higher"
    what = f"Highest {title[:1].lower()}{title[1:]}" if higher else f"Least {title}"
    best = first["best"][0]
    surely = "" if best is None else f", ahead in {100 * best:.0f} % of resamples of the questions"
    return f"{what}: {' and '.join(first['run'])} ({first['value'][0]:.2f}{', tied' if first.height > 1 else surely})."


def _numbers(table: pl.DataFrame) -> Iterator[str]:
    """Lay out how alike the classes are, and then each number on both sides."""
    import polars as pl

    from semece import tables

    shown = table.drop("reason", "note").with_columns(
        pl.col("quantity").map_elements(tables.label, return_dtype=pl.String)
    )
    ends = {"change": "agreement", "change_low": "agreement_low", "change_high": "agreement_high"}
    alike = pl.col("first").is_null() & pl.col("second").is_null()
    for part in (shown.filter(alike).rename(ends), shown.filter(~alike)):
        if part.height:
            yield "\n" + aligned(part)
    for column in ("reason", "note"):
        yield from _remarks(table, column)


def _remarks(table: pl.DataFrame, column: str) -> Iterator[str]:
    """Say each remark once, with the quantities it holds for if they are few."""
    from semece import tables

    for (remark,), rows in table.drop_nulls(column).group_by(column, maintain_order=True):
        names = ", ".join(map(tables.label, rows["quantity"]))
        yield f"\n{names}: {remark}" if rows.height < 5 else f"\n{remark}"


def _alarm_lines(found: Comparison, judge: str, listed: int) -> Iterator[str]:
    """Give the first alarms of each kind."""
    import polars as pl

    from semece.errors import on_one_line

    mine = found.alarms.filter(pl.col("judge") == judge)
    for _, rows in mine.group_by("kind", maintain_order=True):
        for question, text in rows.head(listed).select("question_id", "text").iter_rows():
            yield f"  {judge}, {question}: {on_one_line(text, 150)}"


COMMANDS = {"compare": compare}
