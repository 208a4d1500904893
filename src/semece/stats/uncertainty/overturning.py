"""How many verdicts of a judge a claim about a model rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from semece.stats.calibration.bins import bin_index
from semece.stats.counts import Counts, per_question, subset_selection
from semece.stats.estimators.count_arguments import selection_sizes
from semece.stats.estimators.held_out import held_out_frequency
from semece.stats.estimators.semx import SemX, semx
from semece.stats.rows import check_choice, sums
from semece.stats.uncertainty.claims import hidden_verdict, model_verdict
from semece.stats.uncertainty.held_out_errors import gap_interval, held_out_gap, semx_ece

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from semece.stats.uncertainty.claims import Verdict

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

Basis = Literal["held-out gap", "bracket"]
Claim = Literal["over-confident", "under-confident", "miscalibrated", "right on average"]
CLAIMS: tuple[Claim, ...] = ("over-confident", "under-confident", "miscalibrated", "right on average")
"""The last one: miscalibrated, though right on average."""


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
    claim: Claim, counts: Counts, correct: Floats, *, basis: Basis = "held-out gap"
) -> Overturning:
    r"""Count the verdicts that overturn a claim about a model.

    Verdicts are changed against the claim, those of the classes that a selection block selects most often first: each
    moves the gap by the chance :math:`P(\hat z_N = k) / N`, or a deployed answer the bracket by 1/N. After each number
    the interval is computed anew. For the last two claims that is the interval of SemX-ECE, and a class is changed
    against the residual of the bin of its frequency; other verdicts might do with fewer.

    Parameters
    ----------
    claim : {'over-confident', 'under-confident', 'miscalibrated', 'right on average'}
        What is claimed; the last two are of SemX-ECE and the held-out gap alone, and are overturned where SemX-ECE may
        be 0, or no larger than the gap.
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
    check_choice("claim", claim, CLAIMS)
    check_choice("basis", basis, ("held-out gap", "bracket"))
    some, places = counts.take(np.flatnonzero(counts.responses >= 2))
    grades = correct[places]
    if claim == "miscalibrated" or claim == "right on average":  # noqa: PLR1714 - so mypy knows what is left
        made = _hidden(some, claim, grades)
    else:
        made = _held_out(some, claim) if basis == "held-out gap" else _deployed(some, claim)
    order = made.order(np.flatnonzero((grades == 1 - made.wanted) & (made.weight > 0)))

    def holds(changed: int) -> bool:
        graded = grades.copy()
        graded[order[:changed]] = made.wanted[order[:changed]]
        return made.holds(graded)

    graded = int(((some.values > 0) & ~np.isnan(grades)).sum())
    return Overturning(_least(holds, len(order)), graded)


class _Made(NamedTuple):
    """How much each class weighs, the grade that speaks against the claim, and whether it holds for some grades.

    ``excess`` and ``place`` are for an error in bins: the summed residuals, and the bin of each class.
    """

    weight: Floats
    wanted: Floats
    holds: Callable[[Floats], bool]
    excess: Floats | None = None
    place: Integers | None = None

    def order(self, candidates: Integers) -> Integers:
        """Order classes by weight; with bins, those of the bin with the largest excess left come first."""
        falling = candidates[np.argsort(-self.weight[candidates], kind="stable")]
        if self.excess is None or self.place is None:
            return falling
        left = np.abs(self.excess)
        waiting = [falling[self.place[falling] == at][::-1].tolist() for at in range(len(left))]
        chosen = []
        while (at := int(np.argmax(left))) >= 0 and left[at] > 0:
            if waiting[at]:
                chosen.append(waiting[at].pop())
                left[at] -= self.weight[chosen[-1]]
            else:
                left[at] = 0.0
        return np.array(chosen, dtype=np.int64)


def _held_out(counts: Counts, claim: Verdict) -> _Made:
    """Claim by the held-out gap: one bin holds the sums over bins."""
    sizes = selection_sizes(counts, None)
    found = subset_selection(counts, sizes)
    held_out, every = held_out_frequency(counts, sizes, found), np.arange(len(counts))
    ones, edges = np.ones(len(counts)), (np.zeros(1), np.ones(1))

    def holds(grades: Floats) -> bool:
        right, unknown = (
            per_question(np.add, found.probability * part, counts.offsets)
            for part in (np.nan_to_num(grades), np.isnan(grades))
        )
        rows = SemX(every, 0 * every, held_out - right, unknown, ones, held_out, every, sizes, *edges)
        return model_verdict(held_out_gap(rows)) == claim

    wanted = np.full(len(counts.values), float(claim == "over-confident"))
    return _Made(found.probability, wanted, holds)


def _hidden(counts: Counts, claim: Claim, grades: Floats) -> _Made:
    """Claim by SemX-ECE: a class is changed against the residual of the bin of its frequency."""
    weight = subset_selection(counts, selection_sizes(counts, None)).probability
    found = semx(correct=grades, counts=counts)
    excess = sums(found.bin, found.value, len(found.low))
    place = bin_index(counts.values / counts.responses[counts.question], n_bins=len(found.low))

    def holds(changed: Floats) -> bool:
        rows = semx(correct=changed, counts=counts)
        error = semx_ece(rows)
        return error.low > 0 if claim == "miscalibrated" else hidden_verdict(error, held_out_gap(rows)) == claim

    return _Made(weight, (excess[place] > 0).astype(np.float64), holds, excess, place)


def _deployed(counts: Counts, claim: Verdict) -> _Made:
    """Claim by the bracket: Sem2 for over-confidence, Sem1 for under-confidence; an unknown grade against the claim."""
    sizes = selection_sizes(counts, None)
    over = claim == "over-confident"
    sem2 = held_out_frequency(counts, sizes, subset_selection(counts, sizes))
    confidence = sem2 if over else counts.largest / counts.responses
    weight = counts.mode_weights

    def holds(grades: Floats) -> bool:
        known = np.nan_to_num(grades, nan=1.0 if over else 0.0)
        gap = gap_interval(confidence, np.clip(per_question(np.add, weight * known, counts.offsets), 0.0, 1.0))
        return gap.low > 0 if over else gap.high < 0

    return _Made(weight, np.full(len(weight), float(over)), holds)


def _least(holds: Callable[[int], bool], most: int) -> int | None:
    """Find the least number up to `most` with which the claim does not hold, by doubling and halving; or None.

    Far more changes than are needed may make a claim hold again, on the other side.
    """
    if not holds(0):
        return 0
    low = high = 0
    while high < most:
        low, high = high, min(max(1, 2 * high), most)
        if not holds(high):
            break
    else:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return high
