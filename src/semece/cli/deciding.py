"""Commands that decide: ``abstain``, from which confidence on to answer; ``plan``, how much to ask."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from semece.cli.judging import aligned
from semece.cli.reading_commands import (
    AsJson,
    Judge,
    OneRun,
    Recalibrate,
    bad_arguments,
    open_runs,
    plain,
    print_found,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

    from semece import tables

By = Annotated[
    str | None, typer.Option("--by", help="A column of the questions' metadata: a threshold for each of its values.")
]
Picture = Annotated[
    Path | None, typer.Option("--figure", help="Draw risk against coverage with the thresholds: F.pdf, F.svg or F.png.")
]


Scores = Annotated[
    list[str] | None,
    typer.Option("--score", "-s", help="Only by this: sem1, sem2, verbalized or a score of the run. May be repeated."),
]


def abstain(  # noqa: PLR0913, PLR0917 - one parameter per option
    run: OneRun,
    target: Annotated[
        float, typer.Option("--target-accuracy", help="Share of right answers among those given.")
    ] = 0.95,
    delta: Annotated[float, typer.Option("--delta", help="How often a promise may be wrong.")] = 0.05,
    by: By = None,
    scores: Annotated[
        list[str] | None,
        typer.Option(
            "--score", "-s", help="Only this one: sem1, sem2, verbalized or a score of the run. May be repeated."
        ),
    ] = None,
    picture: Picture = None,
    judge: Judge = None,
    recalibrate: Recalibrate = None,
    as_json: AsJson = False,
) -> None:
    """Say from which confidence on to answer, so that a wanted share of the answers is right, with a guarantee.

    For each score of the run: the lowest threshold that holds what it promises, and which share of all questions asked
    is answered then. What is promised, and under which conditions, stands below. With --by there is a threshold for
    each slice of the questions, and one promise for all slices of a score together.

    Example: [bold]semece abstain RUN.db --target-accuracy 0.95 --figure risk.svg[/bold]

    Example: [bold]semece abstain RUN.db --target-accuracy 0.9 --by topic[/bold]
    """
    from semece import SemeceError, figures, tables

    if picture is not None and by is not None:
        raise SemeceError("--figure is of all questions of a run; it does not go with --by")
    typed = {"target": "--target-accuracy", "delta": "--delta"}
    with open_runs([run], judge, recalibrate) as (opened,), bad_arguments(**typed):
        found = tables.decide(opened, target=target, delta=delta, by=by, scores=scores or ())
        if picture is not None:
            thresholds = dict(found.table.select("score", "threshold").iter_rows())
            figures.save(figures.draw_risk_coverage(found.group, thresholds), picture)
        applied = tuple(filter(None, (opened.recalibration_note, opened.recalibration_warning)))
        lines = decision_lines(opened.name, found, applied)
        print_found(lines, lambda: decision_facts(opened.name, found, applied), as_json=as_json)
    if picture is not None and not as_json:
        typer.echo(str(picture))


def decision_facts(name: str, found: tables.Decision, applied: Sequence[str]) -> dict[str, Any]:
    """Give thresholds as plain data; ``applied`` is what there is to say of a map."""
    notes = [*applied, *found.notes]
    return {"run": name, "needs": found.needs, "thresholds": plain(found.table), "notes": notes}


def decision_lines(name: str, found: tables.Decision, applied: Sequence[str]) -> Iterator[str]:
    """Lay thresholds out: what they take, the thresholds, what they promise."""
    import polars as pl

    from semece import tables

    yield f"{name}: {tables.plural(found.group.asked, 'question')} asked"
    yield from (f"{each}." for each in applied)
    yield from found.needs
    said = ["promise", "target", "reason", *(["needed"] if "slice" not in found.table.columns else [])]
    shown = found.table.drop(said).with_columns(
        pl.col("threshold").map_elements(tables.number_text, return_dtype=pl.String),
        answered=pl.when(pl.col("threshold").is_null()).then(None).otherwise(pl.col("answered")),
    )
    if shown.height:
        yield "\n" + aligned(shown.rename({name: head for name, head in HEADS.items() if name in shown.columns})) + "\n"
    yield from reason_lines(found.table)
    yield from found.notes


HEADS = {
    "questions": "asked",
    "answers": "with an answer",
    "needed": "needs",
    "threshold": "answer from",
    "coverage": "share answered",
    "accuracy": "right",
    "accuracy_low": "right, at least",
}
"""How columns of thresholds are headed for people."""


def reason_lines(table: pl.DataFrame) -> Iterator[str]:
    """Say why there is no threshold, where there is none."""
    from semece import tables

    for row in table.filter(table["threshold"].is_null()).to_dicts():
        where = f", {row['slice']}" if "slice" in row else ""
        yield f"{tables.label(row['score'])}{where}: no threshold: {row['reason']}."


def plan(  # noqa: PLR0913, PLR0917 - one parameter per option
    pilot: Annotated[Path | None, typer.Argument(help="A run of some questions like those to come.")] = None,
    width: Annotated[float | None, typer.Option("--width", help="Of the interval of the held-out gap.")] = None,
    find: Annotated[float | None, typer.Option("--find", help="Instead: a held-out gap that is to be seen.")] = None,
    power: Annotated[float, typer.Option("--power", help="How often it is seen.")] = 0.9,
    accuracy: Annotated[
        float | None, typer.Option("--accuracy", help="Without a pilot: a guess. Default: 0.5, the worst.")
    ] = None,
    overturned: Annotated[
        float, typer.Option("--overturned", help="Share of the judge's verdicts that people would overturn.")
    ] = 0.0,
    answer_cost: Annotated[
        float | None,
        typer.Option("--answer-cost", help="USD of an answer, its judge included; 0: free. Default: the pilot's."),
    ] = None,
    label_cost: Annotated[float, typer.Option("--label-cost", help="USD of a verdict by a person.")] = 0.5,
    as_json: AsJson = False,
) -> None:
    """Say how many questions, answers and human labels you need, and what they cost, before you pay.

    Either for an interval of the held-out gap that is no wider than wanted, or for a gap that is to be seen. From a
    pilot run, or without one from the worst case. More questions with fewer answers are cheaper for this number.

    Example: [bold]semece plan --width 0.1[/bold]

    Example: [bold]semece plan pilot.db --find 0.1 --power 0.9 --overturned 0.05[/bold]
    """
    from contextlib import nullcontext

    from semece import SemeceError
    from semece.runs import Aim, Costs, plan_lines, plan_sample

    if pilot is not None and accuracy is not None:
        raise SemeceError(f"--accuracy is a guess for a plan without a pilot; {pilot} has its own: give one of them")
    aim = Aim(width, find, power, 0.5 if accuracy is None else accuracy, overturned)
    typed = {each: f"--{each}" for each in ("width", "power", "accuracy", "overturned")} | {"gap": "--find"}
    with open_runs([pilot]) if pilot else nullcontext([None]) as (opened,), bad_arguments(**typed):
        made = plan_sample(opened, aim, Costs(answer_cost, label_cost))
    print_found(plan_lines(made, aim), lambda: made._asdict() | {"cheapest": made.cheapest}, as_json=as_json)


COMMANDS = {"abstain": abstain, "plan": plan}
