r"""Differences of two confidences on the same questions, with bootstrap intervals.

The unit is the question. A replicate draws as many questions as there are, with replacement; rows that share an id
come together, and every statistic is computed on the same draws.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from semece.stats.calibration.bins import Closed, width_bins
from semece.stats.rows import (
    Bools,
    CheckedRows,
    Floats,
    Integers,
    Places,
    Seed,
    check_choice,
    check_correct,
    check_count,
    check_level,
    check_responses,
    check_rng,
    check_rows,
    check_same_length,
    check_unit,
    sums,
)
from semece.stats.uncertainty.intervals import Interval, rejects_calibration, residual_moments

NEAR_ZERO = "interval unreliable near zero ECE"
"""The note of a difference where one of the two confidences is not distinguishable from calibrated."""
MIN_QUESTIONS = 30
"""Fewest low-margin questions for which differences are given."""
CHUNK = 150_000
"""Drawn questions held at a time: about what fits in a processor's cache."""
BLOCK = 8_000_000
"""Counts of units held at a time."""
MULTINOMIAL_COST = 10
"""Cost of the multinomial count of a unit, in draws of one question."""
MANY = 1_000_000
"""Questions from which sums are drawn from their normal law where the method is 'auto'."""
Method = Literal["auto", "draws", "moments"]


class Resampling(NamedTuple):
    """How to resample.

    Parameters
    ----------
    n_resamples : int
        B >= 1.
    level : float
        Of the intervals, in (0, 1).
    rng : int or Generator
        Seed; equal input gives equal output.
    method : {'auto', 'draws', 'moments'}
        ``draws`` draws questions. ``moments`` draws the sums over questions from the normal law that has their mean and
        covariance, which takes the same time for any number of questions. ``auto`` is ``moments`` from a million
        questions on; there the ends of a mean and of an ECE agree to 1e-4.
    """

    n_resamples: int = 1000
    level: float = 0.95
    rng: Seed = 0
    method: Method = "auto"

    def ends(self, replicates: Floats | Integers, method: Literal["linear", "inverted_cdf"] = "linear") -> Floats:
        """Find the ends between which the share ``level`` of the replicates lies, along the first axis."""
        level = check_level(self.level)
        return np.quantile(replicates, [0.5 - level / 2, 0.5 + level / 2], axis=0, method=method)

    def ends_around(self, value: Floats | float, replicates: Floats) -> tuple[Floats, Floats]:
        """Find the same ends, moved outwards where they would leave out the value itself."""
        low, high = self.ends(replicates)
        return np.minimum(low, value), np.maximum(high, value)


DEFAULT = Resampling()


class PairedDifference(NamedTuple):
    """First less second confidence on a set of questions.

    Parameters
    ----------
    n_questions : int
        How many questions.
    mean_difference : Interval
        Mean of the first less the second confidence. Its interval covers everywhere.
    ece_difference : Interval
        ECE of the first less that of the second. Read it beside the mean difference.
    note : str
        :data:`NEAR_ZERO`, or empty.
    """

    n_questions: int
    mean_difference: Interval
    ece_difference: Interval
    note: str


class PairedBootstrap(NamedTuple):
    """Differences on all questions, and on those of low margin.

    Parameters
    ----------
    overall : PairedDifference
        All questions.
    low_margin : PairedDifference or None
        Questions of low margin; None if there are fewer than :data:`MIN_QUESTIONS` or none were named.
    """

    overall: PairedDifference
    low_margin: PairedDifference | None


def is_low_margin(margin: ArrayLike, n: ArrayLike) -> Bools:
    r"""Tell which questions have a margin below :math:`1 / \sqrt{n}`.

    Parameters
    ----------
    margin : array_like, shape (N,)
        Delta of each question, in [0, 1].
    n : int or array_like, shape (N,)
        Responses of all questions, or of each: ``n_responses`` of :func:`semece.estimate`.

    Returns
    -------
    ndarray of bool, shape (N,)
        A margin on the boundary is not low.

    Raises
    ------
    ValueError
        For a margin outside [0, 1], fewer than one response, and unequal lengths.

    Examples
    --------
    >>> is_low_margin([0.0, 0.2, 0.5], 25)
    array([ True, False, False])
    """
    delta = check_unit("margin", margin)
    return np.asarray(delta < 1 / np.sqrt(check_responses(n, len(delta))) - 1e-9)


def paired_bootstrap(  # noqa: PLR0913 - how rows are binned, weighted and drawn
    first: ArrayLike,
    second: ArrayLike,
    correct: ArrayLike,
    *,
    low_margin: ArrayLike | None = None,
    ids: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    n_bins: int = 10,
    closed: Closed = "left",
    resampling: Resampling = DEFAULT,
) -> PairedBootstrap:
    r"""Compare two confidences in the same answers.

    The statistics: the mean of :math:`c_1 - c_2`, ECE(c_1) - ECE(c_2), and both on the questions of low margin.

    Parameters
    ----------
    first, second : array_like, shape (N,)
        Confidences c_1 and c_2 in [0, 1], such as Sem1 and Sem2.
    correct : array_like, shape (N,)
        In [0, 1]; may be soft.
    low_margin : array_like of bool, shape (N,), optional
        Which rows have a low margin (:func:`is_low_margin`).
    ids : array_like, shape (N,), optional
        Question of each row; rows of one question are drawn together. Without them every row is a question.
    weights : array_like, shape (N,), optional
        Frequency weights >= 0, whole numbers: how often a row occurs.
    n_bins, closed
        As in :func:`semece.ece`.
    resampling : Resampling
        Replicates, level and seed.

    Returns
    -------
    PairedBootstrap
        Percentile intervals; each holds its value.

    Raises
    ------
    ValueError
        As in :func:`semece.ece`, and for fewer than two questions.

    Notes
    -----
    Percentile intervals of an ECE difference cover 93 to 97 % where both confidences are clearly miscalibrated in the
    same direction, and far less where one of them is nearly calibrated: then the plug-in ECEs are biased by different
    amounts. So a difference carries a note when calibration of either is not rejected at 5 %.

    Examples
    --------
    >>> result = paired_bootstrap([0.9] * 40, [0.8] * 40, [1, 0] * 20)
    >>> round(result.overall.mean_difference.low, 12), result.overall.note
    (0.1, '')
    """
    generator = check_resampling(resampling)[2]
    pair = _pair((first, second, correct), low_margin, ids, weights)
    rows = pair.first
    units = _units(pair, n_bins, closed)
    if units.n < 2:
        raise ValueError(f"at least 2 questions are needed to resample; got {units.n}")
    estimate = _statistics(units.multiplicity @ units.features, n_bins)
    replicates = _statistics(resampled_totals(units, resampling, generator), n_bins)
    ends = resampling.ends_around(estimate, replicates)
    intervals = [Interval(*map(float, row)) for row in np.column_stack([estimate, *ends])]

    def difference(kept: Bools, intervals: list[Interval]) -> PairedDifference:
        note = NEAR_ZERO if _near_zero(pair, kept, n_bins, closed, generator) else ""
        return PairedDifference(_n_questions(rows, kept), intervals[0], intervals[1], note)

    enough = _n_questions(rows, pair.low) >= MIN_QUESTIONS
    overall = difference(np.ones_like(pair.low), intervals[:2])
    return PairedBootstrap(overall, difference(pair.low, intervals[2:]) if enough else None)


def check_resampling(resampling: Resampling) -> tuple[int, float, np.random.Generator]:
    """Check how to resample: the number of replicates, the level, and a generator."""
    if not isinstance(resampling, Resampling):
        raise ValueError(f"resampling must be a Resampling(n_resamples, level, rng); got {resampling!r}")
    n_resamples, level, rng, method = resampling
    check_choice("method", method, ("auto", "draws", "moments"))
    return check_count("n_resamples", n_resamples), check_level(level), check_rng(rng)


class _Pair(NamedTuple):
    """Two confidences on the same rows, and which rows have a low margin."""

    first: CheckedRows
    second: CheckedRows
    low: Bools


def _pair(
    values: tuple[ArrayLike, ArrayLike, ArrayLike],
    low_margin: ArrayLike | None,
    ids: ArrayLike | None,
    weights: ArrayLike | None,
) -> _Pair:
    """Check two confidences of the same answers; rows of weight 0 are gone."""
    one, other, right = check_unit("first", values[0]), check_unit("second", values[1]), check_correct(values[2])
    check_same_length("first", one, "correct", right)
    check_same_length("second", other, "correct", right)
    rows = check_rows(one, right, ids=ids, weights=weights, whole=True)
    kept = np.ones(len(one), np.bool_) if weights is None else np.asarray(weights) > 0
    return _Pair(rows, rows._replace(confidence=other[kept]), _mask(low_margin, len(one))[kept])


class Units(NamedTuple):
    """What is drawn: units, each with what it adds to every sum.

    ``features`` has a row per unit and a column per sum, ``multiplicity`` counts the questions of each unit.
    """

    features: Floats
    multiplicity: Floats

    @property
    def n(self) -> int:
        """How many questions there are."""
        return int(self.multiplicity.sum())


def _mask(low_margin: ArrayLike | None, n: int) -> Bools:
    """Check the mask of low margins of n rows; nothing is low without one."""
    if low_margin is None:
        return np.zeros(n, np.bool_)
    mask = np.asarray(low_margin)
    if mask.shape != (n,) or mask.dtype != np.bool_:
        raise ValueError(f"low_margin must be {n} booleans, one per row; got {mask.dtype} of shape {mask.shape}")
    return mask


def _units(pair: _Pair, n_bins: int, closed: Closed) -> Units:
    """Make units of questions: of equal rows if every row is a question, else of the rows of an id.

    Their 4 L + 4 features: residuals of first and second confidence by low margin and bin, then the difference of the
    confidences and the number of rows, by low margin.
    """
    ids, weights = pair.first.ids, pair.first.weights
    if ids is None:  # a question is its row: sorted, the draws do not depend on the order of rows
        unit, kept = _cells(pair)
        multiplicity = sums(unit, weights)
        unit, times = unit[kept], np.ones(len(kept))
    else:
        unit, kept, times = ids, np.arange(len(ids)), weights
        multiplicity = np.ones(int(ids.max()) + 1)
    low, n_columns = pair.low[kept].astype(np.intp), 4 * n_bins + 4
    features = np.zeros(len(multiplicity) * n_columns)

    def add(column: Places, values: Floats) -> None:
        features[:] += sums(unit * n_columns + column, times * values, len(features))

    for place, rows in enumerate((pair.first, pair.second)):
        bins = width_bins(rows.confidence[kept], n_bins, closed)
        residual = np.where(bins.place < 0, 0.0, rows.correct[kept] - rows.confidence[kept])
        add((2 * place + low) * n_bins + np.maximum(bins.place, 0), residual)
    add(4 * n_bins + low, (pair.first.confidence - pair.second.confidence)[kept])
    add(4 * n_bins + 2 + low, np.ones(len(kept)))
    return Units(features.reshape(-1, n_columns), multiplicity)


def _cells(pair: _Pair) -> tuple[Places, Places]:
    """Give equal rows one number, and list one row of each number."""
    keys = np.stack([pair.first.confidence, pair.second.confidence, pair.first.correct, pair.low.astype(np.float64)])
    order = np.lexsort(keys)
    new = np.concatenate([[True], (np.diff(keys[:, order]) != 0).any(axis=0)])
    cell = np.empty(len(order), np.intp)
    cell[order] = np.cumsum(new) - 1
    return cell, order[new]


def resampled_totals(units: Units, resampling: Resampling, rng: np.random.Generator) -> Floats:
    """Sum the features of each replicate; shape (replicates, columns).

    One product for many replicates: small products wait for each other's threads on a busy machine.
    """
    n_resamples = resampling.n_resamples
    used = np.flatnonzero(units.features.any(axis=0))
    features = units.features[:, used]
    totals = np.zeros((n_resamples, units.features.shape[1]))
    if resampling.method == "moments" or (resampling.method == "auto" and units.n >= MANY):
        totals[:, used] = _normal_totals(features, units.multiplicity, n_resamples, rng)
        return totals
    block = max(1, BLOCK // len(features))
    for done in range(0, n_resamples, block):
        size = min(block, n_resamples - done)
        totals[done : done + size, used] = _weights(units, size, rng) @ features
    return totals


def _normal_totals(features: Floats, multiplicity: Floats, n_resamples: int, rng: np.random.Generator) -> Floats:
    """Draw sums from the normal law with the mean and covariance that drawing questions gives them."""
    total = multiplicity @ features
    deviation = features - total / multiplicity.sum()
    values, vectors = np.linalg.eigh((deviation * multiplicity[:, None]).T @ deviation)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return np.asarray(total + rng.standard_normal((n_resamples, len(values))) @ root.T)


def resampled_sums(features: Floats, resampling: Resampling) -> Floats:
    """Column sums of resampled rows.

    Parameters
    ----------
    features : ndarray, shape (Q, F)
        One row per question.
    resampling : Resampling
        Replicates and seed.

    Returns
    -------
    ndarray, shape (n_resamples, F)
        Each replicate sums Q rows drawn with replacement; all columns share the draws.

    Raises
    ------
    ValueError
        For fewer than one replicate.

    Examples
    --------
    >>> resampled_sums(np.ones((5, 2)), Resampling(n_resamples=2)).tolist()
    [[5.0, 5.0], [5.0, 5.0]]
    """
    generator = check_resampling(resampling)[2]
    return resampled_totals(Units(features, np.ones(len(features))), resampling, generator)


def _weights(units: Units, n_resamples: int, rng: np.random.Generator) -> Floats:
    """Draw how often each unit is in each replicate; shape (replicates, units)."""
    n, n_units = units.n, len(units.multiplicity)
    if n_units * MULTINOMIAL_COST < n:
        return rng.multinomial(n, units.multiplicity / n, n_resamples).astype(np.float64)
    drawn = np.repeat(np.arange(n_units), units.multiplicity.astype(np.intp))
    weights = np.empty((n_resamples, n_units))
    chunk = max(1, CHUNK // n)
    for done in range(0, n_resamples, chunk):
        size = min(chunk, n_resamples - done)
        cells = drawn.take(rng.integers(0, n, (size, n)))
        cells += n_units * np.arange(size)[:, None]
        weights[done : done + size] = np.bincount(cells.ravel(), minlength=size * n_units).reshape(size, n_units)
    return weights


def _statistics(totals: Floats, n_bins: int) -> Floats:
    """Mean and ECE difference, overall and at low margin, from summed features; shape (..., 4)."""
    residual = totals[..., : 4 * n_bins].reshape(*totals.shape[:-1], 2, 2, n_bins)
    difference, n = totals[..., 4 * n_bins : 4 * n_bins + 2], totals[..., 4 * n_bins + 2 :]
    n_all, n_low = n.sum(axis=-1), np.maximum(n[..., 1], 1.0)
    all_ece = np.abs(residual.sum(axis=-2)).sum(axis=-1)
    low_ece = np.abs(residual[..., 1, :]).sum(axis=-1)
    overall = difference.sum(axis=-1) / n_all, (all_ece[..., 0] - all_ece[..., 1]) / n_all
    return np.stack([*overall, difference[..., 1] / n_low, (low_ece[..., 0] - low_ece[..., 1]) / n_low], axis=-1)


def _near_zero(pair: _Pair, kept: Bools, n_bins: int, closed: Closed, rng: np.random.Generator) -> bool:
    """Whether calibration of either confidence is not rejected on the kept rows."""
    for rows in (pair.first, pair.second):
        ids = None if rows.ids is None else np.unique(rows.ids[kept], return_inverse=True)[1]
        some = CheckedRows(rows.confidence[kept], rows.correct[kept], rows.weights[kept], ids)
        if not rejects_calibration(residual_moments(some, width_bins(some.confidence, n_bins, closed)), rng=rng):
            return True
    return False


def _n_questions(rows: CheckedRows, kept: Bools) -> int:
    """Count the questions of the kept rows."""
    return int(rows.weights[kept].sum()) if rows.ids is None else len(np.unique(rows.ids[kept]))
