"""Commands that compare: ``compare``, runs on the same questions or judges of one run; ``check``, a run with limits."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from semece.cli.judging import AsJson, Listed, Quiet, aligned, ask_to_end, number_lines, print_judges
from semece.cli.reading_commands import Judge, OneRun, Recalibrate, Uncorrected, open_runs, plain_tables, print_found
from semece.cli.typer_options import COMPARING, Told, with_options
from semece.runs import limited_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from semece import SemeceError
    from semece.compare import Check, Drift, Standings
    from semece.runs import Run
    from semece.study import Cell

Several = Annotated[
    list[Path], typer.Argument(help="Run files: several, or one with --judges; or a study's TOML file.")
]
Judges = Annotated[
    tuple[str, str] | None,
    typer.Option(
        "--judges", help="Two judges, and more after them: rules, exact, given, a model's spelling, a variant of it."
    ),
]
TWO_JUDGES = "--judges takes two judges of one run or more, such as: semece compare RUN.db --judges rules exact"
"""What is said of a single one."""
OverTime = Annotated[
    bool,
    typer.Option("--over-time", help="The first run is a baseline, the others are later looks at the same questions."),
]
Limits = Annotated[
    list[str] | None,
    typer.Option("--max", help="NAME=VALUE: fails if the upper end of the interval is above. May be repeated."),
]
Least = Annotated[
    list[str] | None,
    typer.Option("--min", help="NAME=VALUE: fails if the lower end of the interval is below. May be repeated."),
]
ValueLimits = Annotated[
    list[str] | None,
    typer.Option("--max-value", help="NAME=VALUE: fails if the value itself is above; no error rate. Repeatable."),
]
LeastValues = Annotated[
    list[str] | None,
    typer.Option("--min-value", help="NAME=VALUE: fails if the value itself is below; no error rate. Repeatable."),
]
JUnit = Annotated[
    Path | None, typer.Option("--junit", help="Write a test case for each check, as JUnit XML for GitHub and GitLab.")
]
Badge = Annotated[
    Path | None, typer.Option("--badge", help="Write an SVG badge: the number of one check, or how many passed.")
]
Baseline = Annotated[
    Path | None,
    typer.Option("--baseline", help="A run on the same questions: fails if a number is surely worse than there."),
]


@with_options(COMPARING)
def compare(  # noqa: PLR0917 - one parameter per option
    runs: Several,
    judges: Judges = None,
    over_time: OverTime = False,
    listed: Listed = 3,
    as_json: AsJson = False,
    quiet: Quiet = False,
    *,
    uncorrected: Uncorrected = False,
    told: Told,
) -> None:
    """Compare runs on the same questions, or with --judges judges on one run.

    Of runs: how every number changes from the first to the others, paired by question, and who is ahead, how surely.
    Of a study: that, of the runs of each dataset; runs of different datasets are never compared.

    Of judges: how alike their classes are, and how much every number depends on the judge. Of more than two: each pair,
    how far their verdicts agree, and which flip. A model that has not judged
    the run yet is asked first; its replies are stored in the run, whose own judge stays. What comes after a # makes a
    variant: openai/NAME#strict is another prompt, openai/NAME#order=1 another order of the answers.

    Over time: whether a model has changed since the first run, with intervals that hold at every look together, for as
    long as you look. Name the baseline and then every later run, in order.

    Example: [bold]semece compare runs/*.db[/bold]

    Example: [bold]semece compare --over-time january.db february.db march.db[/bold]

    Example: [bold]semece compare examples/paper.toml[/bold]

    Example: [bold]semece compare RUN.db --judges openai/gpt-4o-mini openai/gpt-4o-mini#order=1[/bold]

    Example: [bold]semece compare RUN.db --judges rules exact openai/gpt-4o-mini[/bold]
    """
    from semece import SemeceError
    from semece.compare import ask_judges, check_different

    if judges is not None and over_time:
        raise SemeceError("--over-time compares runs and --judges judges of one run; give one of them")
    if judges is None:
        if over_time:
            print_drift(runs, as_json=as_json)
        elif len(runs) == 1 and runs[0].suffix == ".toml":
            print_study_standings(runs[0], uncorrected=uncorrected, as_json=as_json)
        else:
            print_standings(runs, uncorrected=uncorrected, as_json=as_json)
        return
    if judges[1].startswith("-"):  # an option that was taken for a judge
        raise SemeceError(TWO_JUDGES)
    path, more = run_and_judges(runs)
    every = [*judges, *more]
    check_different(every)
    calls = told.calls()
    ask_to_end(partial(ask_judges, path, every, calls=calls), quiet=quiet, timeout=calls.timeout)
    print_judges(path, every, listed=listed, as_json=as_json)


def run_and_judges(words: Sequence[Path]) -> tuple[Path, list[str]]:
    """Tell the run file from further judges: what is a file is a run."""
    from semece import SemeceError

    files = [word for word in words if word.exists()]
    if len(files) > 1:
        raise SemeceError(f"--judges compares judges on one run; got {len(files)} runs")
    path = files[0] if files else words[0]
    return path, [str(word) for word in words if word is not path]


def print_standings(paths: Sequence[Path], *, uncorrected: bool, as_json: bool) -> None:
    """Print how runs differ: who is ahead, how surely, and every paired change."""
    found = standings_of(paths, uncorrected=uncorrected)
    print_found(found.lines(), found.facts, as_json=as_json)


class NotedStandings(NamedTuple):
    """Runs that were compared, who judged them, and what should be known of their references."""

    standings: Standings
    judges: set[tuple[str, str]]
    note: str | None

    def facts(self) -> dict[str, Any]:
        """Give everything as plain data."""
        head = {name: getattr(self.standings, name) for name in ("runs", "questions", "left_out", "audits")}
        return head | plain_tables(self.standings, "changes", "ranking") | {"notes": [self.note] if self.note else []}

    def lines(self) -> Iterator[str]:
        """Lay everything out."""
        return standings_lines(self.standings, judges=self.judges, note=self.note)

    def leaders(self) -> list[str]:
        """Say of each quantity who is ahead, how surely."""
        from semece import tables
        from semece.compare import leader

        ranks = self.standings.ranking.group_by("quantity", maintain_order=True)
        return [leader(tables.label(str(name)), rows) for (name,), rows in ranks]


def standings_of(
    paths: Sequence[Path], *, uncorrected: bool = False, names: Sequence[str] | None = None
) -> NotedStandings:
    """Compare runs of the same questions."""
    from semece.compare import compare_runs, reference_note

    with open_runs(paths, uncorrected=uncorrected) as runs:
        found = compare_runs(runs, names=names)
        return NotedStandings(found, {run.judge_names for run in runs}, reference_note(runs))


class DatasetStandings(NamedTuple):
    """The runs of one dataset of a study, compared; or why they are not."""

    dataset: str
    found: NotedStandings | None
    trouble: str | None


def by_dataset(cells: Sequence[Cell], *, uncorrected: bool = False) -> Iterator[DatasetStandings]:
    """Compare the runs of a study within each dataset, never across."""
    from semece import SemeceError

    for dataset in dict.fromkeys(cell.dataset for cell in cells):
        some = [cell for cell in cells if cell.dataset == dataset]
        there = [cell for cell in some if cell.path.exists()]
        if len(there) < 2:
            made = f"{len(there)} of {len(some)} runs {'is' if len(there) == 1 else 'are'} there"
            yield DatasetStandings(dataset, None, f"{dataset}: nothing to compare, {made}")
            continue
        try:
            paths, names = [cell.path for cell in there], [cell.model for cell in there]
            yield DatasetStandings(dataset, standings_of(paths, uncorrected=uncorrected, names=names), None)
        except SemeceError as error:
            yield DatasetStandings(dataset, None, f"{dataset}: not compared: {error}")


def print_study_standings(file: Path, *, uncorrected: bool, as_json: bool) -> None:
    """Print how the runs of each dataset of a study differ."""
    from semece import SemeceError
    from semece.study import read_study

    made = read_study(file)
    every = list(by_dataset(made.cells, uncorrected=uncorrected))
    troubles = [each.trouble for each in every if each.trouble is not None]
    if len(troubles) == len(every):
        raise SemeceError(f"no two runs of the study can be compared: {troubles[0]}; 'semece study' makes its runs")
    for trouble in troubles:
        typer.echo(f"semece: {trouble}", err=True)
    shown = {each.dataset: each.found for each in every if each.found is not None}
    lines = (line for dataset, found in shown.items() for line in (f"{dataset}\n", *found.lines(), ""))
    facts = {dataset: found.facts() for dataset, found in shown.items()}
    print_found(lines, lambda: {"study": made.name, "datasets": facts, "missing": troubles}, as_json=as_json)


def print_drift(paths: Sequence[Path], *, as_json: bool) -> None:
    """Print at each look whether a model has changed since the first run."""
    from semece.compare import compare_over_time, reference_note

    with open_runs(paths) as runs:
        found = compare_over_time(runs)
        note = reference_note(runs)
        lines = drift_lines(found, judges={run.judge_names for run in runs}, note=note)
        head = {"runs": found.runs, "left_out": found.left_out, "notes": [note] if note else []}
        print_found(lines, lambda: head | plain_tables(found, "looks"), as_json=as_json)


def drift_lines(found: Drift, *, judges: set[tuple[str, str]], note: str | None = None) -> Iterator[str]:
    """Lay looks out: a sentence per quantity, then a table of each."""
    import polars as pl

    from semece import tables

    yield from judge_lines(judges)
    yield from filter(None, [note])
    for (name,), rows in found.looks.group_by("quantity", maintain_order=True):
        yield drift_sentence(tables.label(str(name)), found.runs[0], rows)
    for (name,), rows in found.looks.group_by("quantity", maintain_order=True):
        shown = rows.drop("quantity", "reason").rename({"first": "baseline", "second": "now"})
        alarms = pl.when(pl.col("alarm")).then(pl.lit("changed"))
        yield f"\n{tables.label(str(name))}\n\n" + aligned(shown.with_columns(alarms.alias("alarm")))
    yield from _left_out(found.left_out)
    yield (
        "\nBrackets hold the true change on these questions at all looks together, 95 % sure. A model that has not "
        "changed has an alarm in at most 5 of 100 such series, however often you look, if the judge is the same and "
        "every look is named. Other questions may have changed otherwise."
    )


def drift_sentence(title: str, baseline: str, rows: pl.DataFrame) -> str:
    """Say whether a quantity has changed, and at which look that was seen first.

    Examples
    --------
    >>> import polars as pl
    >>> row = {"look": 1, "run": "b", "change": -0.2, "change_low": -0.3, "change_high": -0.1, "alarm": True}
    >>> drift_sentence("Accuracy", "a", pl.DataFrame([row]))
    'Accuracy: changed since a: -0.20 [-0.30, -0.10] at look 1 (b), the first of 1 alarm.'
    """
    from semece import tables

    if rows["change"].null_count() == rows.height:
        return f"{title}: not known; {rows['reason'][-1]}."
    alarms = rows.filter("alarm")
    if not alarms.height:
        return f"{title}: no change since {baseline} is shown."
    row = alarms.row(0, named=True)
    low, high = (tables.end_text(row[f"change_{end}"]) for end in ("low", "high"))
    text = f"{tables.number_text(row['change'], signed=True)} [{low}, {high}]"
    many = tables.plural(alarms.height, "alarm")
    return f"{title}: changed since {baseline}: {text} at look {row['look']} ({row['run']}), the first of {many}."


def standings_lines(found: Standings, *, judges: set[tuple[str, str]], note: str | None = None) -> Iterator[str]:
    """Lay runs out: a sentence per quantity, the ranking, the changes."""
    from semece import tables
    from semece.compare import leader

    yield f"{tables.plural(found.questions, 'question')} complete in all of {len(found.runs)} runs, n the same"
    yield from _left_out(found.left_out)
    if found.audits:
        audits = ", ".join(f"{name} ({sheets})" for name, sheets in found.audits.items())
        yield f"Corrected by audits of the judge: {audits}."
    if found.audits and len(found.audits) < len(found.runs):
        yield "The other runs are not corrected: part of a change may be their judge's errors."
    yield from judge_lines(judges)
    yield from filter(None, [note])
    yield ""
    for (name,), rows in found.ranking.group_by("quantity", maintain_order=True):
        yield leader(tables.label(str(name)), rows)
    yield "\n" + aligned(found.ranking)
    for (name,), rows in found.changes.group_by("run", maintain_order=True):
        yield f"\nFrom {found.runs[0]} to {name}"
        yield from number_lines(rows.drop("run"))
    yield (
        "\nBrackets are 95 % intervals, paired by question. Noise raises an ECE: 'debiased' is the best single "
        "estimate without it, and ranks are by it. 'ahead' says how surely a run is ahead of every other: 0.00 if "
        "another one's best estimate is as good or better, or if the data tell nothing. Above 95 % it is called ahead."
    )


def _left_out(counts: Mapping[str, int]) -> Iterator[str]:
    """Say how many questions one run has and another lacks."""
    if any(counts.values()):
        parts = ", ".join(f"{count:,} of {name}" for name, count in counts.items() if count)
        yield f"Left out because another run lacks them: {parts}."


def judge_lines(judges: set[tuple[str, str]]) -> Iterator[str]:
    """Say that runs have different judges, where they have."""
    from semece import tables

    if len(judges) > 1:
        names = ", ".join(sorted(map(tables.judge_text, judges)))
        yield f"Judged by different judges: {names}. Part of a change is theirs."


def check(  # noqa: PLR0913, PLR0917 - one parameter per option
    run: OneRun,
    most: Limits = None,
    least: Least = None,
    most_value: ValueLimits = None,
    least_value: LeastValues = None,
    baseline: Baseline = None,
    judge: Judge = None,
    recalibrate: Recalibrate = None,
    uncorrected: Uncorrected = False,
    junit: JUnit = None,
    badge: Badge = None,
    as_json: AsJson = False,
) -> None:
    """Check a run against limits, or against another run: exit 1 if it fails.

    Exit 2 if something could not be checked and nothing failed, 3 if the run is incomplete. What was checked is printed
    in any case.

    Names are {names}.

    --max and --min hold an end of the 95 % interval: a run whose true number is beyond the limit passes in at most 3 of
    100 cases. --max-value and --min-value hold the number itself and promise no error rate.

    With --baseline accuracy must not have fallen, no ECE risen, and no gap between mean confidence and accuracy moved
    away from 0, by intervals paired by question. A run that has not changed fails at most once in 20 times, all
    comparisons together. Below 30 questions only accuracy and the gaps are compared.

    Example: [bold]semece check RUN.db --max sem2_ece=0.2 --min accuracy=0.7[/bold]

    Example: [bold]semece check RUN.db --max sem1_ece=0.2 --junit checks.xml --badge badge.svg[/bold]
    """
    from semece import SemeceError, tables
    from semece.compare import Limit, check_run, reference_note

    if baseline and recalibrate:
        raise SemeceError("--recalibrate goes with --max and --min; with --baseline both runs are compared as they are")
    typed = {"max": most, "min": least, "max_value": most_value, "min_value": least_value}
    limits = [Limit(kind, text) for kind, texts in typed.items() for text in texts or ()]  # type: ignore[arg-type]
    before = open_runs([baseline], judge, uncorrected=uncorrected) if baseline else nullcontext([None])
    with open_runs([run], judge, recalibrate, uncorrected=uncorrected) as (opened,), before as (base,):
        found = check_run(opened, limits, baseline=base)
        if base is not None and (note := reference_note([base, opened])):
            typer.echo(f"note: {note}", err=True)
        print_checks(opened, found, as_json=as_json)
        unkept = keep_files(opened.name, found, junit, badge)
        done, selected = opened.complete
    of = tables.plural(selected, "question")
    end_of_checks(found, unkept, f"{done:,} of {of} complete" if done < selected else None)


def print_checks(run: Run, found: Sequence[Check], *, as_json: bool) -> None:
    """Print what was checked, and before it what recalibration does to it.

    What is wrong in the command itself is left to :func:`end_of_checks`, but in JSON, which tells all.
    """
    from semece.runs import effect_lines

    note = run.recalibration_note
    if run.recalibration_warning:
        typer.echo(f"semece: {run.recalibration_warning}", err=True)
    if note and not as_json:
        typer.echo("\n".join((f"{note}.", *effect_lines(run.recalibration_effects), "")))
    lines = [f"{each.outcome}: {each.sentence}" for each in found if not each.wrong]
    print_found(lines, lambda: [each._asdict() for each in found], as_json=as_json)


def keep_files(name: str, found: Sequence[Check], report: Path | None, picture: Path | None) -> list[SemeceError]:
    """Write the files that were asked for, each whatever becomes of the other; give the errors."""
    from semece import SemeceError
    from semece.compare import badge, junit
    from semece.runs import write

    unkept = []
    for path, made in ((report, partial(junit, name, found)), (picture, partial(badge, found))):
        try:
            if path is not None:
                write(made(), path)
        except SemeceError as error:
            unkept.append(error)
    return unkept


def end_of_checks(found: Sequence[Check], unkept: Sequence[SemeceError], incomplete: str | None) -> None:
    """Exit with what the checks say: a failure, what was wrong, a file that cannot be written, an incomplete run.

    Raises
    ------
    SemeceError
        A file cannot be written, and no check failed or was wrong.
    """
    for each in filter(attrgetter("wrong"), found):
        typer.echo(f"semece: not checked: {each.sentence}", err=True)
    code = 1 if any(each.passed is False for each in found) else 2 if any(each.wrong for each in found) else 0
    for error in unkept if code else unkept[1:]:
        typer.echo(f"semece: {error}", err=True)
    if code:
        raise typer.Exit(code)
    if unkept:
        raise unkept[0]
    if incomplete:
        typer.echo(f"semece: {incomplete}; run it again to continue", err=True)
        raise typer.Exit(3)


*_first, _last = limited_names()
check.__doc__ = str(check.__doc__).format(names=f"{', '.join(_first)} and {_last}")

COMMANDS = {"compare": compare, "check": check}
