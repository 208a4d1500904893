r"""How sure SemX-ECE and the held-out gap are.

There is a residual vector per question (:func:`semece.semx`); r is its mean over N questions. Where nearly every answer
is right the observed covariance is too small, so four pseudo-questions are added, **for the variance only**: two whose
answer is right with certainty, :math:`r_b = H_b - W_b`, and two whose answer is wrong, :math:`r_b = H_b`, with
:math:`W_b` and :math:`H_b` the mean chance and the mean held-out frequency of bin b. V is the sum of squared deviations
of the N + 4 vectors over N (N - 1). Sums of residuals are skewed; their intervals, and what clusters are, is in
:mod:`semece.stats.uncertainty.skewed_means`. Classes without a grade are set wrong and right; every end is the outer
one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from semece.stats.calibration.binned_errors import wilson
from semece.stats.rows import check_ids, check_level, check_rows, check_weights, sums
from semece.stats.uncertainty.intervals import (
    TINY,
    Interval,
    Residuals,
    cleared,
    debiased,
    paired_draws,
    shrunk,
)
from semece.stats.uncertainty.skewed_means import Drawn, Influence, UnitTable, influence_interval, upward
from semece.stats.written_numbers import interval_html

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from semece.stats.estimators.semx import SemX

    Floats = NDArray[np.float64]
    Integers = NDArray[np.intp]


class HeldOutGap(NamedTuple):
    """Held-out gap: mean held-out frequency minus accuracy of the answer that a block selects.

    Parameters
    ----------
    value : float
        Classes without a grade counted as wrong; in [-1, 1]. Positive: over-confident.
    low, high : float
        Ends of the interval, over every grading of those classes.
    least : float
        The value with those classes counted as right; equal to ``value`` where all are graded.
    n_questions : int
        Questions that enter.
    """

    value: float
    low: float
    high: float
    least: float
    n_questions: int

    def _repr_html_(self) -> str:
        return interval_html(*self[:3])


class SemXError(NamedTuple):
    """SemX-ECE: the sum over bins of the absolute mean residual.

    Parameters
    ----------
    value : float
        The largest that gradings of classes without a grade can make it; in [0, 1].
    low, high : float
        Ends of the interval, over every grading.
    least : float
        A lower bound over gradings; equal to ``value`` where all classes are graded.
    debiased : float
        The value with less upward bias, classes without a grade counted as wrong.
    p_value : float
        Of the test that the model is calibrated class by class; in (0, 1]. With classes without a grade the largest.
    n_questions : int
        Questions that enter.
    n_select : int
        Largest size of a selection block: with 1 there is one bin, and no error is hidden on average.
    """

    value: float
    low: float
    high: float
    least: float
    debiased: float
    p_value: float
    n_questions: int
    n_select: int

    def _repr_html_(self) -> str:
        return interval_html(*self[:3])


def semx_ece(
    residuals: SemX,
    *,
    level: float = 0.95,
    ids: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    rng: int | np.random.Generator = 0,
) -> SemXError:
    r"""Compute SemX-ECE with its interval, a debiased value, and a test of calibration class by class.

    .. math:: T = \sum_b |r_b|

    The test compares T with :math:`\sum_b |Z_b|, Z \sim N(0, V)`. Lower end: the larger of that of
    :func:`semece.ece_interval` and of the least size of g that the interval of :func:`held_out_gap` holds, since
    :math:`|g| \le T`; in a single bin :math:`|g| = T`, and it is the latter. Upper end: T plus the larger of the upward
    half widths of :math:`\sum_b \operatorname{sign}(r_b) r_b` and of :math:`\operatorname{sign}(g) g`, and no less than
    the largest size of g in its interval. Neither the lower end nor the debiased value is below a gap that is sure.

    Parameters
    ----------
    residuals : SemX
        From :func:`semece.semx`.
    level : float
        Of the interval, in (0, 1).
    ids : array_like, shape (Q,), optional
        Cluster of each question that :func:`semece.semx` was given; without them every question is its own.
    weights : array_like, shape (Q,), optional
        Frequency weights >= 0 of those questions, whole numbers: how often each occurs.
    rng : int or Generator
        Seed of the draws; equal input gives equal output.

    Returns
    -------
    SemXError
        With a single cluster the interval is [0, 1] and the p-value 1.

    Raises
    ------
    ValueError
        For a bad level, and ids or weights that are not one per question.

    Notes
    -----
    Rejection rates and coverage are in the documentation's benchmarks. The value depends on s: compare at equal M and
    at equal s.

    Examples
    --------
    >>> from semece import semx
    >>> found = semx_ece(semx([[0, 0, 1, 0]] * 40, [[0, 1]] * 40))
    >>> round(found.value, 6), found.p_value < 0.05
    (0.25, True)
    """
    table = _table(residuals, ids, weights, check_level(level))
    wrong, right = table.mean(table.value), table.mean(table.value - table.ungraded)
    far = np.where(np.abs(wrong) >= np.abs(right), wrong, right)
    near = np.clip(0.0, right, wrong)
    total, least = float(np.abs(far).sum()), float(np.abs(near).sum())
    central = Residuals(wrong, table.covariance(table.value, pseudo=False))
    gap = _gap(table, residuals, _n_questions(residuals, weights))
    sure, possible = max(gap.low, -gap.high, 0.0), max(-gap.low, gap.high)
    middle = max(debiased(central, rng), sure) if table.n > 1 else total
    size, largest = _n_questions(residuals, weights), int(residuals.n_select.max())
    if table.n < 2:
        return SemXError(total, 0.0, 1.0, least, middle, 1.0, size, largest)
    covariance = table.covariance(table.spread()) * table.widened**2
    noise = paired_draws(covariance, rng)
    p_value = float((1 + (np.abs(noise).sum(axis=0) >= least - TINY).sum()) / (noise.shape[1] + 1))
    alone = int((table.chance > 0).sum()) == 1
    low = sure if alone else max(min(shrunk(cleared(near, covariance), noise, 0.5 + level / 2), middle), sure)
    high = max(min(total + upward(table, far), 1.0), total, possible)
    return SemXError(total, low, high, least, middle, p_value, size, largest)


def _gap(table: UnitTable, residuals: SemX, size: int) -> HeldOutGap:
    """Held-out gap of so many questions with its interval."""
    value, least = (float(table.mean(part).sum()) for part in (table.value, table.value - table.ungraded))
    if table.n < 2:
        return HeldOutGap(value, -1.0, 1.0, least, size)
    down, up = table.half_widths(np.ones(len(residuals.low)))
    held_out = sums(np.searchsorted(residuals.questions, residuals.question), residuals.held_out)
    low, high = max(least - down, float(held_out.min()) - 1), min(value + up, float(held_out.max()))
    return HeldOutGap(value, min(low, least), max(high, value), least, size)


def held_out_gap(
    residuals: SemX, *, level: float = 0.95, ids: ArrayLike | None = None, weights: ArrayLike | None = None
) -> HeldOutGap:
    r"""Compute the held-out gap :math:`g = \sum_b r_b` with its skewness-corrected interval.

    Parameters
    ----------
    residuals : SemX
        From :func:`semece.semx`.
    level : float
        In (0, 1).
    ids, weights
        As in :func:`semx_ece`.

    Returns
    -------
    HeldOutGap
        The ends lie between the least held-out frequency of a question - 1 and the largest. With a single cluster the
        interval is [-1, 1].

    Raises
    ------
    ValueError
        As in :func:`semx_ece`.

    Notes
    -----
    It is 0 on average for a model that is calibrated class by class. A model that is calibrated in its most probable
    answer alone, and never right in another, has a positive gap. Source of the interval: Hall (1992), On the removal of
    skewness by transformation.

    Examples
    --------
    >>> from semece import semx
    >>> gap = held_out_gap(semx([[0, 0, 1, 0]] * 40, [[0, 1]] * 40))
    >>> [round(end, 2) for end in gap[:3]]
    [0.25, 0.03, 0.29]
    """
    table = _table(residuals, ids, weights, check_level(level))
    return _gap(table, residuals, _n_questions(residuals, weights))


def gap_interval(
    confidence: ArrayLike,
    correct: ArrayLike,
    *,
    level: float = 0.95,
    ids: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> Interval:
    """Mean confidence minus accuracy, with a skewness-corrected interval.

    Parameters
    ----------
    confidence, correct : array_like, shape (N,)
        In [0, 1]; N >= 1. ``correct`` may be soft.
    level : float
        In (0, 1).
    ids : array_like, shape (N,), optional
        Question of each row; without them every row is a question.
    weights : array_like, shape (N,), optional
        Frequency weights >= 0, whole numbers: how often a row occurs.

    Returns
    -------
    Interval
        Positive: over-confident. The ends lie between the least confidence - 1 and the largest confidence. With a
        single question the interval is [-1, 1].

    Raises
    ------
    ValueError
        As in :func:`semece.ece`.

    Examples
    --------
    >>> [round(end, 3) for end in gap_interval([0.9] * 60 + [0.2] * 40, [1] * 40 + [0] * 60)]
    [0.22, 0.152, 0.298]
    """
    check_level(level)
    rows = check_rows(confidence, correct, weights=weights, ids=ids, whole=True)
    c = rows.confidence
    value = float(np.average(c - rows.correct, weights=rows.weights))
    found = influence_interval(Influence(value, c - 1, c), rows, level)
    if np.isinf(found.low):
        return Interval(value, -1.0, 1.0)
    low, high = max(found.low, float(c.min()) - 1), min(found.high, float(c.max()))
    return Interval(value, min(low, value), max(high, value))


class SemXTable(NamedTuple):
    """One entry per bin; all arrays have shape (L,); nan where no block selects.

    Parameters
    ----------
    low, high : ndarray
        Edges of the bin: shares of the selection block.
    chance : ndarray
        Mean chance that a class is selected in the bin; they sum to 1.
    held_out : ndarray
        Mean held-out frequency of the classes selected in the bin: the horizontal axis of a figure.
    accuracy : ndarray
        Their accuracy, classes without a grade counted as wrong.
    gap : ndarray
        ``held_out - accuracy``; positive: over-confident.
    accuracy_low, accuracy_high : ndarray
        Wilson interval of the accuracy for as many answers as the bin has questions in expectation; with classes
        without a grade the outer ends of both gradings.
    """

    low: Floats
    high: Floats
    chance: Floats
    held_out: Floats
    accuracy: Floats
    gap: Floats
    accuracy_low: Floats
    accuracy_high: Floats


def semx_table(residuals: SemX, *, level: float = 0.95, weights: ArrayLike | None = None) -> SemXTable:
    """Held-out frequency and accuracy in each bin: the numbers behind a reliability diagram of SemX.

    Parameters
    ----------
    residuals : SemX
        From :func:`semece.semx`.
    level : float
        Of the Wilson interval, in (0, 1).
    weights
        As in :func:`semx_ece`.

    Returns
    -------
    SemXTable
        ``sum(chance * abs(gap))`` is SemX-ECE and ``sum(chance * gap)`` the held-out gap, over the bins that are not
        empty.

    Raises
    ------
    ValueError
        As in :func:`semx_ece`.

    Notes
    -----
    A bin is an interval of j/s, the share of the selection block; confidence is measured on the other answers and so
    lies lower: draw the gap over ``held_out``, not over the bin's middle.

    Examples
    --------
    >>> from semece import semx
    >>> table = semx_table(semx([[0, 0, 1, 0]] * 4, [[1, 0]] * 4), level=0.9)
    >>> table.held_out[[5, 9]].round(6).tolist(), table.accuracy[[5, 9]].round(6).tolist()
    ([0.5, 0.5], [0.5, 1.0])
    """
    table = _table(residuals, None, weights, check_level(level))
    divisor = np.where(table.chance > 0, table.chance, np.nan)
    held_out = table.held_out / divisor
    gap, least = (table.mean(part) / divisor for part in (table.value, table.value - table.ungraded))
    accuracy, most = np.clip(held_out - gap, 0.0, 1.0), np.clip(held_out - least, 0.0, 1.0)
    n = divisor * table.weights.sum()
    low, high = wilson(accuracy, n, level)[0], wilson(most, n, level)[1]
    return SemXTable(residuals.low, residuals.high, divisor, held_out, accuracy, gap, low, high)


def _table(residuals: SemX, ids: ArrayLike | None, weights: ArrayLike | None, level: float) -> UnitTable:
    """Check ids and weights of all questions, and lay the residuals out in rows."""
    questions = residuals.questions
    known = None if ids is None else check_ids(ids, _size(ids, questions))
    times = np.ones(len(questions)) if weights is None else _times(weights, questions)
    kept = times > 0
    n_bins = len(residuals.low)
    cell = np.searchsorted(questions, residuals.question) * n_bins + residuals.bin
    names = ("value", "ungraded", "chance", "held_out")
    value, ungraded, chance, held_out = (
        sums(cell, getattr(residuals, name), len(questions) * n_bins).reshape(-1, n_bins)[kept] for name in names
    )
    clusters = None if known is None else np.unique(known[questions[kept]], return_inverse=True)[1]
    return UnitTable.of(value, ungraded, (chance, held_out), Drawn(times[kept], clusters, level))


def _n_questions(residuals: SemX, weights: ArrayLike | None) -> int:
    """Count the questions that enter."""
    return len(residuals.questions) if weights is None else int(_times(weights, residuals.questions).sum())


def _size(values: ArrayLike, questions: Integers) -> int:
    """Length of what has one value for each question, at least up to the last that enters."""
    return max(len(np.asarray(values)), int(questions[-1]) + 1)


def _times(weights: ArrayLike, questions: Integers) -> Floats:
    """Check frequency weights of all questions; those that enter, not all of them zero."""
    times = check_weights(weights, _size(weights, questions))
    odd = np.flatnonzero(times != np.round(times))
    if len(odd):
        raise ValueError(f"weights must be whole numbers here; got {times[odd[0]]} at index {odd[0]}")
    if not times[questions].any():
        raise ValueError("weights must not be zero for every question that enters; got 0.0 everywhere")
    return times[questions]
