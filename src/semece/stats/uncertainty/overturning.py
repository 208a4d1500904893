"""How many verdicts of a judge a claim about a model rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from semece.stats.counts import Counts, per_question, subset_selection
from semece.stats.estimators.count_arguments import selection_sizes
from semece.stats.estimators.held_out import held_out_frequency
from semece.stats.estimators.semx import SemX
from semece.stats.rows import check_choice
from semece.stats.uncertainty.claims import model_verdict
from semece.stats.uncertainty.held_out_errors import gap_interval, held_out_gap

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from semece.stats.uncertainty.claims import Verdict

    Floats = NDArray[np.float64]

VERDICTS = ("over-confident", "under-confident")
Basis = Literal["held-out gap", "bracket"]


class Overturning(NamedTuple):
    """How many verdicts would have to be wrong.

    Parameters
    ----------
    verdicts : int or None
        So many other verdicts, all against the claim, overturn it; None: no number does; 0: it does not hold.
    graded : int
        Classes with a verdict.
    """

    verdicts: int | None
    graded: int


def verdicts_to_overturn(
    claim: Verdict, counts: Counts, correct: Floats, *, basis: Basis = "held-out gap"
) -> Overturning:
    r"""Count the verdicts that overturn the claim that a model is over- or under-confident.

    Verdicts are changed against the claim, those of the classes that a selection block selects most often first: each
    moves the gap by the chance :math:`P(\hat z_N = k) / N`, or a deployed answer the bracket by 1/N. After each number
    the interval is computed anew.

    Parameters
    ----------
    claim : {'over-confident', 'under-confident'}
        What is claimed.
    counts : Counts
        Class counts of Q questions, refused classes with a count of 0; those with fewer than two answers do not enter.
    correct : ndarray, aligned with ``counts.values``
        Correctness of each class, 0 or 1; nan: not graded.
    basis : {'held-out gap', 'bracket'}
        What the claim rests on.

    Returns
    -------
    Overturning

    Raises
    ------
    ValueError
        For an unknown claim or basis.

    Examples
    --------
    >>> counts = Counts.from_counts([[3, 1]] * 40)
    >>> verdicts_to_overturn("over-confident", counts, np.array([0.0, 1.0] * 40))
    Overturning(verdicts=8, graded=80)
    """
    check_choice("claim", claim, VERDICTS)
    check_choice("basis", basis, ("held-out gap", "bracket"))
    some, places = counts.take(np.flatnonzero(counts.responses >= 2))
    grades = correct[places]
    made = _held_out(some) if basis == "held-out gap" else _deployed(some, claim)
    over = claim == "over-confident"
    candidates = np.flatnonzero((grades == (0.0 if over else 1.0)) & (made.weight > 0))
    order = candidates[np.argsort(-made.weight[candidates], kind="stable")]

    def holds(changed: int) -> bool:
        graded = grades.copy()
        graded[order[:changed]] = 1.0 if over else 0.0
        return made.claims(graded) == claim

    graded = int(((some.values > 0) & ~np.isnan(grades)).sum())
    return Overturning(_least(holds, len(order)), graded)


class _Made(NamedTuple):
    """Weight of each class in its question's correctness, and the claim that grades of all classes make."""

    weight: Floats
    claims: Callable[[Floats], Verdict | None]


def _held_out(counts: Counts) -> _Made:
    """Claim by the held-out gap: one bin holds the sums over bins."""
    sizes = selection_sizes(counts, None)
    found = subset_selection(counts, sizes)
    held_out, every = held_out_frequency(counts, sizes, found), np.arange(len(counts))
    ones, edges = np.ones(len(counts)), (np.zeros(1), np.ones(1))

    def claims(grades: Floats) -> Verdict | None:
        right, unknown = (
            per_question(np.add, found.probability * part, counts.offsets)
            for part in (np.nan_to_num(grades), np.isnan(grades))
        )
        return model_verdict(
            held_out_gap(SemX(every, 0 * every, held_out - right, unknown, ones, held_out, every, sizes, *edges))
        )

    return _Made(found.probability, claims)


def _deployed(counts: Counts, claim: Verdict) -> _Made:
    """Claim by the bracket: Sem2 for over-confidence, Sem1 for under-confidence; an unknown grade against the claim."""
    sizes = selection_sizes(counts, None)
    over = claim == "over-confident"
    sem2 = held_out_frequency(counts, sizes, subset_selection(counts, sizes))
    confidence = sem2 if over else counts.largest / counts.responses
    weight = counts.mode_weights

    def claims(grades: Floats) -> Verdict | None:
        known = np.nan_to_num(grades, nan=1.0 if over else 0.0)
        gap = gap_interval(confidence, np.clip(per_question(np.add, weight * known, counts.offsets), 0.0, 1.0))
        return claim if (gap.low > 0 if over else gap.high < 0) else None

    return _Made(weight, claims)


def _least(holds: Callable[[int], bool], most: int) -> int | None:
    """Find the least number up to `most` with which the claim does not hold, by halving; None if none is found."""
    if not holds(0):
        return 0
    if holds(most):
        return None
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return high
