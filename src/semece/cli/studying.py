"""The command that makes a grid of runs: ``study``."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from semece.cli.comparing import by_dataset
from semece.cli.judging import AsJson, Quiet, aligned
from semece.cli.typer_options import STUDY, Handling, Told, with_options
from semece.errors import in_dollars, plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    import polars as pl

    from semece.cli.comparing import DatasetStandings
    from semece.sampling import PricePlan, Progress
    from semece.show import CellNumbers
    from semece.study import Cell, CellPlan, Ended, Study


@with_options(STUDY)
def study(
    file: Annotated[Path, typer.Argument(help="A TOML file: models, datasets, judge, prices, analysis.")],
    told: Told,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Make a run of every model on every dataset of a file, one after the other. Run it again to continue.

    A run that fails does not stop the others; the caps hold for all of them together. What is there is not asked again:
    --dry-run says what is missing of each run.

    Example: [bold]semece study examples/paper.toml --dry-run[/bold]
    """
    from semece.study import plan_cells, prepare, read_study

    handling, calls = told.record(Handling), told.calls()
    made = read_study(file).told(calls)
    jobs = prepare(made)
    for sentence in study_cautions(made, jobs):
        typer.echo(f"note: {sentence}", err=True)
    if handling.dry_run:
        plans = plan_cells(made, jobs, expected_tokens=handling.expected_tokens)
        print_plans(made, plans, as_json=as_json)
        return
    print_study(made, do_study(made, jobs, quiet=quiet), as_json=as_json)


def study_cautions(made: Study, jobs: Any) -> Iterator[str]:  # noqa: ANN401 - what prepare gives
    """Say what should be known before anything is paid; what holds for several runs once, with the first of them."""
    from semece.sampling import cautions, judged_anew

    known: set[str] = set()
    for cell in made.cells:
        job = jobs[cell.path]
        said = [] if isinstance(job, str) else cautions(job) + judged_anew(job)
        fresh = [each for each in said if each not in known]
        known.update(fresh)
        yield from (f"{cell.name}: {sentence}" for sentence in fresh)


def do_study(made: Study, jobs: Any, *, quiet: bool) -> list[Ended]:  # noqa: ANN401 - what prepare gives
    """Do the runs; on a signal say how to go on, and exit."""
    from semece.cli.run_command import again, leave, progress_bars, until_signal
    from semece.study import make_runs, writing

    paths = [cell.path for cell in made.cells]

    def begun(cell: Cell) -> AbstractContextManager[Progress]:
        if not quiet:
            typer.echo(f"{paths.index(cell.path) + 1} of {len(paths)}: {cell.path}", err=True)
        return progress_bars(enabled=not quiet and sys.stderr.isatty())

    def ended(one: Ended) -> None:
        if one.trouble is not None:
            typer.echo(f"{one.cell.name}: {one.trouble}", err=True)

    longest = max(cell.settings.timeout for cell in made.cells)
    with writing(made):
        found = asyncio.run(until_signal(make_runs(made, jobs, begun=begun, ended=ended), timeout=longest))
    if found.result is None:
        leave(f"stopped; what was delivered is stored in {made.output}; {again()}", found.code)
    return found.result


def print_study(made: Study, found: Sequence[Ended], *, as_json: bool) -> None:
    """Print a sentence for every run, the table, and the paths; exit with 3 if a run is not finished."""
    from semece.cli.run_command import again, leave

    read = [numbers_of(made, one) for one in found]
    if as_json:
        typer.echo(json.dumps(study_facts(made, found, read), ensure_ascii=False, allow_nan=False))
    else:
        for line in study_lines(made, found, read):
            typer.echo(line)
    unfinished = [one for one in found if one.trouble is not None]
    if unfinished:
        caps = [one.capped for one in unfinished if one.capped is not None]
        rest = again(cap=caps[-1] if caps else None)
        leave(f"semece: {len(unfinished)} of {plural(len(found), 'run', 'is')} not finished; {rest}", 3)


def numbers_of(made: Study, one: Ended) -> CellNumbers | None:
    """Read a run; None if there is nothing, or nothing that the study asks for."""
    from semece import Run
    from semece.show import read_cell

    if not (one.readable and one.cell.path.exists()):
        return None
    with Run(one.cell.path) as run:
        return read_cell(run, one.cell.dataset, one.cell.model, n_bins=made.binning.n_bins, closed=made.binning.closed)


def study_lines(made: Study, found: Sequence[Ended], read: Sequence[CellNumbers | None]) -> Iterator[str]:
    """Lay a study out: sentences, table, what was spent, and the paths of the runs that are in the table."""
    from semece.show import apart, grid_table

    for one, numbers in zip(found, read, strict=True):
        yield cell_sentence(one, numbers)
    there = [numbers for numbers in read if numbers is not None]
    for judge in dict.fromkeys(numbers.row["judge"] for numbers in there):
        yield f"Grouped and graded by {'rules, not by a model or a person' if judge == 'rules' else judge}."
    table = grid_table(there, n_bins=made.binning.n_bins, closed=made.binning.closed)
    if table.height:
        yield f"\n{aligned(shown(table))}\n"
        yield from table_notes(made)
        yield from apart(there).values()
        yield f"\n{aligned(outcome_table(there))}"
    for each in compared(found, read):
        if each.found is not None:
            standings = each.found.standings
            which = f"{plural(standings.questions, 'question')} complete in all of {len(standings.runs)} runs"
            yield f"\n{each.dataset}, {which}"
            yield from each.found.leaders()
            yield from filter(None, [each.found.note])
        elif each.trouble is not None:
            yield f"\n{each.trouble}"
    yield from spent_lines(there)
    yield ""
    pairs = zip(found, read, strict=True)
    yield from (str(one.cell.path) for one, numbers in pairs if numbers is not None and numbers.row["questions"])


def compared(found: Sequence[Ended], read: Sequence[CellNumbers | None]) -> Iterator[DatasetStandings]:
    """Compare the runs that have numbers, of each dataset with at least two of them."""
    cells = [one.cell for one, numbers in zip(found, read, strict=True) if numbers is not None and numbers.complete]
    datasets = [cell.dataset for cell in cells]
    return by_dataset([cell for cell in cells if datasets.count(cell.dataset) > 1])


def cell_sentence(one: Ended, numbers: CellNumbers | None) -> str:
    """Say what came out of a run, and why it is not finished."""
    from semece import tables

    if numbers is None:
        return f"{one.cell.name}: not in the table: {one.trouble}"
    of = plural(numbers.selected, "question")
    done = "" if numbers.complete == numbers.selected else f"{numbers.complete:,} of {of}. "
    rest = "" if one.trouble is None else f" Not finished: {one.trouble}"
    said = tables.says(numbers.row)
    told = " ".join(filter(None, (said["model"], said["confidences"], said["refusals"], said["audit"])))
    return f"{one.cell.name}: {done}{told}{rest}"


def outcome_table(there: Sequence[CellNumbers]) -> pl.DataFrame:
    """Say of each run how many questions are right, wrong, not answered and failed."""
    import polars as pl

    from semece.runs import outcomes_text

    title = "right / wrong / not answered / failed"
    return pl.DataFrame(
        [{"dataset": each.dataset, "model": each.model, title: outcomes_text(each.row)} for each in there]
    )


def shown(table: pl.DataFrame) -> pl.DataFrame:
    """Leave out N of the stated confidence where it is N everywhere."""
    return table.drop("ver_questions") if table["ver_questions"].equals(table["questions"]) else table


def table_notes(made: Study) -> Iterator[str]:
    """Say what brackets are, and that other bins than the usual ones were asked for."""
    from semece import tables

    yield tables.NOTE
    n_bins, closed = made.binning
    if (n_bins, closed) != (10, "left"):
        yield (
            f"ECE in {n_bins} bins, closed {closed}, as [analysis] says; 'semece table' and 'semece report' "
            "take 10, closed left."
        )


def spent_lines(there: Sequence[CellNumbers]) -> Iterator[str]:
    """Say what all runs have cost so far, and what they noticed."""
    from semece.show import cost_text

    costs = [numbers.spent[0] for numbers in there]
    dollars = None if None in costs else sum(cost for cost in costs if cost is not None)
    asked, answered = (sum(numbers.spent[place] for numbers in there) for place in (1, 2))  # type: ignore[misc]
    if asked or answered:
        yield f"\nSpent {cost_text(dollars, asked, answered)}."
    for numbers in there:
        yield from (f"Noticed, {numbers.name}: {event}." for event in numbers.events)


def study_facts(made: Study, found: Sequence[Ended], read: Sequence[CellNumbers | None]) -> dict[str, Any]:
    """Give a study as JSON."""
    from semece import tables
    from semece.runs import outcomes_of
    from semece.show import apart, grid_table

    there = [numbers for numbers in read if numbers is not None]
    table = grid_table(there, n_bins=made.binning.n_bins, closed=made.binning.closed)
    cells = []
    for one, numbers in zip(found, read, strict=True):
        facts: dict[str, Any] = {"dataset": one.cell.dataset, "model": one.cell.model, "path": str(one.cell.path)}
        facts |= {"finished": one.trouble is None, "trouble": one.trouble}
        if numbers is not None:
            names = ("cost", "input_tokens", "output_tokens")
            facts |= {"complete": numbers.complete, "questions": numbers.selected}
            facts |= dict(zip(names, numbers.spent, strict=True)) | {"events": numbers.events}
            facts["says"] = tables.says(numbers.row)
            facts["outcomes"] = outcomes_of(numbers.row)
        cells.append(facts)
    head = {"study": made.name, "sha256": made.sha256, "copy": str(made.copy)}
    return {
        **head,
        "bins": made.binning.n_bins,
        "closed": made.binning.closed,
        "cells": cells,
        "notes": list(apart(there).values()),
        "comparisons": {each.dataset: each.found.facts() for each in compared(found, read) if each.found is not None},
        "table": json.loads(tables.to_json(table)),
    }


def print_plans(made: Study, plans: Sequence[CellPlan], *, as_json: bool) -> None:
    """Print what a study would ask and cost; exit with 3 if a run cannot be planned."""
    if as_json:
        typer.echo(json.dumps({"study": made.name, "cells": [plan_facts(each) for each in plans]}, allow_nan=False))
    else:
        for line in plan_lines(plans):
            typer.echo(line)
    if any(each.plan is None for each in plans):
        raise typer.Exit(3)


def plan_facts(each: CellPlan) -> dict[str, Any]:
    """Give the plan of a run as JSON; money is what the file asks for, live or in batches."""
    cell, made = each.cell, each.plan
    facts: dict[str, Any] = {"dataset": cell.dataset, "model": cell.model, "path": str(cell.path)}
    facts |= {"trouble": each.trouble, "spent": each.spent}
    if made is not None:
        facts |= {"missing": made.missing, "wanted": made.wanted, "answer_tokens": made.answer_tokens}
        facts |= {name: sum(getattr(stage, name) for stage in made.stages) for name in COUNTS}
        facts |= {"cost": each.cost, "batch_cost": each.batch_cost}
    return facts


COUNTS = ("calls", "input_tokens", "output_tokens")
"""What is summed over the stages of a run."""


def plan_lines(plans: Sequence[CellPlan]) -> Iterator[str]:
    """Lay plans out: a row per run, the sum, what was assumed."""
    import polars as pl

    priced = [(each, each.plan) for each in plans if each.plan is not None]
    if priced:
        yield aligned(pl.DataFrame([plan_row(*pair) for pair in priced], infer_schema_length=None))
        yield ""
        yield together([each.cost for each, _ in priced])
    yield from (f"{each.cell.name}: not priced: {each.trouble}" for each in plans if each.plan is None)
    spent = sum(each.spent for each in plans)
    if spent:
        yield f"spent so far: {in_dollars(spent)}"
    assumed = sorted({made.answer_tokens for _, made in priced if not made.measured})
    if assumed:
        sizes = " or ".join(map(str, assumed))
        yield f"{sizes} tokens per response where none are stored: an assumption; --expected-tokens sets it"
    if any(stage.calls for _, made in priced for stage in made.stages[1:]):
        from semece.sampling import CLASSES, DISTINCT_SHARE

        yield f"judges: {DISTINCT_SHARE:.0%} of the answers distinct, at most {CLASSES} classes a question: assumptions"


def plan_row(each: CellPlan, made: PricePlan) -> dict[str, Any]:
    """Give the row of a run: what is missing, what it takes, what it costs."""
    batch = each.cell.settings.batch
    costs = [stage.batch_cost if batch else stage.cost for stage in made.stages]
    judging = None if None in costs[1:] else sum(cost for cost in costs[1:] if cost is not None)
    row: dict[str, Any] = {"dataset": each.cell.dataset, "model": each.cell.model}
    row["responses missing"] = f"{made.missing:,} of {made.wanted:,}"
    row |= {name.replace("_", " "): sum(getattr(stage, name) for stage in made.stages) for name in COUNTS}
    row |= {"answers": dollars(costs[0]), "judging": dollars(judging) if costs[1:] else None}
    row["together"] = dollars(each.cost) + (" in batches" if batch else "")
    other = not batch and each.batch_cost not in {None, each.cost}
    row["all in batches"] = dollars(each.batch_cost) if other else None
    return row


def together(costs: Sequence[float | None]) -> str:
    """Say what all runs cost together, as far as prices are known.

    Examples
    --------
    >>> together([1.5, None])
    'together $1.50 for 1 of 2 runs; the price of 1 is not known: [prices] in the file takes it'
    """
    known = [cost for cost in costs if cost is not None]
    text = f"together {in_dollars(sum(known))} for {len(known)} of {len(costs)} runs"
    unknown = len(costs) - len(known)
    return f"{text}; the price of {unknown} is not known: [prices] in the file takes it" if unknown else text


def dollars(cost: float | None) -> str:
    """Write money."""
    return "unknown" if cost is None else in_dollars(cost)


def paper(
    file: Annotated[Path, typer.Argument(help="The TOML file of a study.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder.")] = Path("paper"),
    as_json: AsJson = False,
) -> None:
    """Write every table and figure of a study into a folder: LaTeX that fits, Markdown, CSV; PDF, SVG, PNG.

    By our conventions and by the paper's own; README.md there says what is what. Each run is read once.

    Example: [bold]semece paper examples/paper.toml -o paper[/bold]
    """
    from semece.errors import DiskError
    from semece.runs import Names
    from semece.show import read_runs, write_paper
    from semece.study import read_study

    made = read_study(file)
    cells = [(Names(cell.dataset, cell.model), cell.path) for cell in made.cells]
    if output.exists() and not output.is_dir():
        raise DiskError(f"{output} is a file; name a folder with -o")
    missing = write_paper(read_runs(cells), output, title=made.name)
    for sentence in missing:
        typer.echo(f"semece: {sentence}", err=True)
    facts = {"study": made.name, "folder": str(output), "missing": missing}
    typer.echo(json.dumps(facts, ensure_ascii=False) if as_json else str(output / "README.md"))


COMMANDS = {"study": study, "paper": paper}
