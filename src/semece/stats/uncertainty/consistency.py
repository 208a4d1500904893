r"""What a calibrated model would show: draws of correctness from the confidences themselves.

Under calibration :math:`a_i \sim \text{Bernoulli}(c_i)`. Rows that share a question id are drawn from one uniform
number, :math:`a_i = [u < c_i]`: the strongest dependence that the confidences allow.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from semece.stats.calibration.binned_errors import bin_residuals
from semece.stats.calibration.bins import Bins, Closed, width_bins
from semece.stats.rows import (
    CheckedRows,
    Floats,
    Integers,
    Seed,
    check_count,
    check_level,
    check_rng,
    check_rows,
    check_unit,
)

CHUNK = 1_000_000
"""Uniform numbers held at a time."""


class CalibrationTest(NamedTuple):
    """Result of a test of calibration.

    Parameters
    ----------
    statistic : float
        The ECE.
    p_value : float
        In (0, 1].
    """

    statistic: float
    p_value: float


class ConsistencyBand(NamedTuple):
    """Where the accuracy of each bin would lie under calibration; nan in an empty bin.

    Parameters
    ----------
    low, high : ndarray, shape (L,)
        In [0, 1].
    """

    low: Floats
    high: Floats


def calibration_test(
    confidence: ArrayLike,
    correct: ArrayLike,
    *,
    n_bins: int = 10,
    closed: Closed = "left",
    ids: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    n_resamples: int = 1000,
    rng: Seed = 0,
) -> CalibrationTest:
    r"""Test whether an ECE is larger than calibrated confidences would give.

    .. math:: p = \frac{1 + \#\{b : T_b \ge T\}}{B + 1}

    with :math:`T_b` the ECE of correctness drawn as :math:`a_i \sim \text{Bernoulli}(c_i)`.

    Parameters
    ----------
    confidence, correct : array_like, shape (N,)
        Confidence in [0, 1], correctness 0 or 1; N >= 1.
    n_bins, closed
        As in :func:`semece.ece`.
    ids : array_like, shape (N,), optional
        Question of each row; rows of one question are drawn together.
    weights : array_like, shape (N,), optional
        Frequency weights >= 0, whole numbers: how often a row occurs. Not together with ``ids``.
    n_resamples : int
        B >= 1.
    rng : int or Generator
        Seed of the draws; equal input gives equal output.

    Returns
    -------
    CalibrationTest

    Raises
    ------
    ValueError
        As in :func:`semece.ece`, and for correctness other than 0 and 1.

    Notes
    -----
    Source: Widmann, Lindsten & Zachariah (2019) and Vaicenavicius et al. (2019), consistency resampling with the
    confidences held fixed.

    Examples
    --------
    >>> calibration_test([0.5] * 100, [1] * 51 + [0] * 49).p_value > 0.5
    True
    >>> calibration_test([0.9] * 100, [1] * 51 + [0] * 49).p_value
    0.000999000999000999
    """
    rows = check_rows(confidence, correct, ids=ids, weights=_alone(weights, ids), binary=True, whole=True)
    n_resamples = check_count("n_resamples", n_resamples)
    bins = width_bins(rows.confidence, n_bins, closed).occupied()
    statistic = float(np.abs(bin_residuals(rows, bins)).sum())
    expected = bins.total(rows.weights * rows.confidence)
    n_large = sum(
        int((np.abs(right - expected).sum(axis=1) >= (statistic - 1e-12) * rows.weights.sum()).sum())
        for right in _null_right(rows, bins, n_resamples, rng)
    )
    return CalibrationTest(statistic, (1 + n_large) / (n_resamples + 1))


def consistency_band(
    confidence: ArrayLike,
    *,
    n_bins: int = 10,
    closed: Closed = "left",
    level: float = 0.95,
    ids: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    n_resamples: int = 1000,
    rng: Seed = 0,
) -> ConsistencyBand:
    r"""Band of each bin's accuracy under calibration, for a reliability diagram.

    Parameters
    ----------
    confidence : array_like, shape (N,)
        In [0, 1]; N >= 1.
    n_bins, closed
        As in :func:`semece.ece`.
    level : float
        Of each bin's band on its own, in (0, 1).
    ids : array_like, shape (N,), optional
        Question of each row; rows of one question are drawn together.
    weights : array_like, shape (N,), optional
        Frequency weights >= 0, whole numbers: how often a row occurs. Not together with ``ids``.
    n_resamples : int
        B >= 1.
    rng : int or Generator
        Seed of the draws; equal input gives equal output.

    Returns
    -------
    ConsistencyBand
        Quantiles of the accuracy over the draws, taken outwards.

    Raises
    ------
    ValueError
        For a bad confidence or option.

    Notes
    -----
    Source: Bröcker & Smith (2007), with the confidences held fixed.

    Examples
    --------
    >>> band = consistency_band([0.25] * 100, n_bins=2)
    >>> bool(band.low[0] < 0.25 < band.high[0]), bool(np.isnan(band.low[1]))
    (True, True)
    """
    values = check_unit("confidence", confidence)
    rows = check_rows(values, np.zeros(len(values)), ids=ids, weights=_alone(weights, ids), whole=True)
    n_resamples = check_count("n_resamples", n_resamples)
    bins = width_bins(rows.confidence, n_bins, closed)
    tail = (1 - check_level(level)) / 2
    right = np.concatenate(list(_null_right(rows, bins.occupied(), n_resamples, rng)))
    weight = bins.total(rows.weights)
    occupied = weight > 0
    accuracy = right / weight[occupied]
    low, high = np.full((2, len(bins.low)), np.nan)
    low[occupied] = np.quantile(accuracy, tail, axis=0, method="lower")
    high[occupied] = np.quantile(accuracy, 1 - tail, axis=0, method="higher")
    return ConsistencyBand(low, high)


def _alone(weights: ArrayLike | None, ids: ArrayLike | None) -> ArrayLike | None:
    """Refuse weights beside ids: a row that occurs often would be one question many times."""
    if weights is not None and ids is not None:
        raise ValueError("give either ids or weights; got both")
    return weights


def _null_right(rows: CheckedRows, bins: Bins, n_resamples: int, rng: Seed) -> Iterator[Integers]:
    """Draw the correct answers of each occupied bin under calibration, in chunks of shape (draws, occupied bins)."""
    order = np.argsort(bins.place, kind="stable")
    starts = np.searchsorted(bins.place[order], np.arange(len(bins.low)))
    confidence = rows.confidence[order]
    n_questions = len(confidence) if rows.ids is None else int(rows.ids.max()) + 1
    generator = check_rng(rng)
    chunk = max(1, CHUNK // max(n_questions, len(confidence)))
    for done in range(0, n_resamples, chunk):
        size = min(chunk, n_resamples - done), n_questions
        if rows.weights.max() > 1:  # equal rows together
            right = generator.binomial(rows.weights[order].astype(np.int64), confidence, size)
            yield np.add.reduceat(right, starts, axis=1)
            continue
        uniform = generator.random(size)
        if rows.ids is not None:
            uniform = uniform[:, rows.ids[order]]
        yield np.add.reduceat(uniform < confidence, starts, axis=1, dtype=np.int64)
