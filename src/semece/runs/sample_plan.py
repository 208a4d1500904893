"""How many questions, answers and human labels a run needs, and what they cost."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from semece.errors import in_dollars
from semece.runs.renderers import plural
from semece.stats import pilot_spread, plan_questions, width_to_find, worst_spread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from semece.runs.run import Run
    from semece.stats import PlannedRun, ResidualSpread

CHOICES = (4, 6, 10, 20, 50)
"""Answers per question that are weighed."""
ANSWER_COST, LABEL_COST = 0.001, 0.5
"""USD that an answer and a human label are taken to cost where nobody says it."""


class Aim(NamedTuple):
    """What a run is to show.

    Parameters
    ----------
    width : float or None
        Width of the interval of the held-out gap.
    find : float or None
        Instead: a gap that is to be told from 0.
    power : float
        How often, in [0.5, 1).
    accuracy : float
        A guess, where there is no pilot.
    overturned : float
        Share of the judge's verdicts that people would overturn; 0: the judge is trusted.
    """

    width: float | None = None
    find: float | None = None
    power: float = 0.9
    accuracy: float = 0.5
    overturned: float = 0.0

    @property
    def target(self) -> float:
        """The width that is planned for."""
        if (self.width is None) == (self.find is None):
            raise ValueError(
                "give either --width, of the interval of the held-out gap (--width 0.1), or --find, a gap to be seen "
                "(--find 0.1)"
            )
        return float(self.width) if self.width is not None else width_to_find(float(self.find or 0), self.power)


class Costs(NamedTuple):
    """USD of an answer, its judge included, and of a human label; None: what the pilot took, or an assumption."""

    answer: float | None = None
    label: float = LABEL_COST


class SamplePlan(NamedTuple):
    """Runs of one width, by the number of answers per question.

    Parameters
    ----------
    rows : tuple of dict
        ``n_answers``, ``questions``, ``answers`` (all together), ``labels``, ``cost`` (USD), ``basis``.
    width : float
        Of the interval of the held-out gap.
    assumed : tuple of str
        What the plan rests on.
    """

    rows: tuple[dict[str, Any], ...]
    width: float
    assumed: tuple[str, ...]

    @property
    def cheapest(self) -> dict[str, Any]:
        """The run that costs least; of those the one with the fewest answers."""
        return min(self.rows, key=lambda row: (row["cost"], row["answers"]))


def plan_sample(pilot: Run | None = None, aim: Aim | None = None, costs: Costs | None = None) -> SamplePlan:
    """Plan how many questions, answers and labels an interval of the held-out gap takes.

    Parameters
    ----------
    pilot : Run, optional
        A run of some questions like those to come. Without it the worst case is planned for.
    aim : Aim
        Either a width or a gap to find.
    costs : Costs, optional
        Prices.

    Returns
    -------
    SamplePlan

    Raises
    ------
    ValueError
        Numbers out of range, neither or both of width and gap, or a pilot in which not every class is graded.
    """
    aim, costs = aim or Aim(), costs or Costs()
    width, (answer, where) = aim.target, _answer_cost(pilot, costs)
    spreads = _spreads(pilot) if pilot is not None else [worst_spread(n, aim.accuracy) for n in CHOICES]
    rows = []
    for spread in spreads:
        labelled = _labelled(spread, aim.overturned, spread.n_answers * answer, costs.label)
        made = plan_questions(spread, width=width, overturned=aim.overturned, labelled=labelled)
        rows.append(_row(made, answer, costs.label))
    return SamplePlan(tuple(rows), width, tuple(_assumed(aim, costs, rows, f"{in_dollars(answer)}, {where}")))


def _spreads(pilot: Run) -> list[ResidualSpread]:
    """Measure a pilot at every number of answers that it has, and at all of them."""
    classes = pilot.classes()
    residuals = classes.residuals()
    if residuals is None or residuals.ungraded.any():
        raise ValueError(f"a pilot must have a grade of every class (--grade-classes all); {pilot.path} has not")
    answered = classes.answered
    most = min(pilot.n, int(answered.responses.max()))
    sizes = [n for n in sorted({*CHOICES, most}) if n <= most and (answered.responses >= n).sum() >= 2]
    return [pilot_spread(answered, classes.correct, n_answers=n) for n in sizes]


def _answer_cost(pilot: Run | None, costs: Costs) -> tuple[float, str]:
    """Give the price of an answer, and where it is from."""
    if costs.answer is not None:
        if not 0 <= costs.answer < inf:
            raise ValueError(f"--answer-cost must be at least 0; got {costs.answer:g}")
        return costs.answer, "as given"
    spent = pilot.spent[0] if pilot is not None else None
    drawn = sum(pilot.counts.values()) - pilot.counts.get("missing", 0) if pilot is not None else 0
    if spent and drawn:
        return spent / drawn, "what the pilot took, its judge included"
    free = " (the pilot's answers cost nothing, or have no known price)" if pilot is not None else ""
    return ANSWER_COST, f"an assumption{free}; --answer-cost sets it, 0 where answers are free"


def _labelled(spread: ResidualSpread, overturned: float, question: float, label: float) -> float:
    """Share of the questions whose answer people judge so that the whole costs least."""
    if not 0 <= overturned < 1:
        raise ValueError(f"overturned must lie in [0, 1); got {overturned:g}")
    if label <= 0:
        raise ValueError(f"--label-cost must be above 0; got {label:g}")
    least = 1e-3
    return float(min(1.0, max(least, (overturned * question / (max(spread.variance, 1e-6) * label)) ** 0.5)))


def _row(made: PlannedRun, answer: float, label: float) -> dict[str, Any]:
    answers = made.n_answers * made.questions
    cost = answers * answer + made.labels * label
    row = {"n_answers": made.n_answers, "questions": made.questions, "answers": answers, "labels": made.labels}
    return row | {"cost": cost, "basis": made.basis}


BASES = {
    "pilot": "with the pilot's own spread the width is within 10 % of the planned one in at least 9 of 10 runs",
    "upper limit": (
        "the pilot is too small to know the spread: with its upper limit the width is at most the planned one in 9 of "
        "10 runs"
    ),
    "worst case": (
        "without a pilot the answers' agreement may be as spread as it can be and say nothing of whether they are "
        "right; a pilot of 200 questions will ask for less"
    ),
}
"""What each basis of a plan means."""


def _assumed(aim: Aim, costs: Costs, rows: list[dict[str, Any]], where: str) -> Iterator[str]:
    """Say what a plan rests on."""
    for basis in dict.fromkeys(row["basis"] for row in rows):
        yield f"{basis}: {BASES[basis]}"
    if "worst case" in {row["basis"] for row in rows}:
        yield f"accuracy {aim.accuracy:g}: a guess; --accuracy sets it, and 0.5 is the worst"
    yield f"an answer: {where}"
    if aim.overturned:
        share = f"{100 * aim.overturned:g} %"
        yield f"a human label: ${costs.label:g}; people overturn {share} of the verdicts: a guess"
        yield "the width with labels varies more: by about a fifth where people judge some 40 answers"
    else:
        yield "the judge is trusted; --overturned plans labels of people who correct it"
    yield "runs are compared at the same number of answers: the gap is of the answer that half of them choose"


def plan_lines(made: SamplePlan, aim: Aim) -> Iterator[str]:
    """Say a plan: what is wanted, the cheapest run, all of them in a table, what it rests on."""
    best = made.cheapest
    if aim.find is not None:
        often = f"{100 * aim.power:g} % of runs"
        yield f"A held-out gap of {aim.find:g} is seen in {often} at a width of {made.width:.3f}."
    labels = f", {plural(best['labels'], 'answer')} judged by people" if best["labels"] else ""
    answers = plural(best["n_answers"], "answer")
    yield (
        f"A 95 % interval of the held-out gap that is {made.width:.3g} wide takes "
        f"{plural(best['questions'], 'question')} x {answers}{labels}: about ${best['cost']:,.2f}."
    )
    heads = ("answers each", "questions", "answers", "labels", "USD", "planned with")
    rows = [
        (
            str(r["n_answers"]),
            *(f"{r[k]:,}" for k in ("questions", "answers", "labels")),
            f"{r['cost']:,.2f}",
            r["basis"],
        )
        for r in made.rows
    ]
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    yield ""
    for row in (heads, *rows):
        yield "  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True))
    yield ""
    yield from (f"{text}." for text in made.assumed)
