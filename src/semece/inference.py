r"""How sure a calibration error is: intervals that hold near zero, and a value with less bias.

The unit is the question: rows that share an id are summed before anything varies. Binned residuals :math:`r` (one per
bin, see :func:`semece.calibration.ece`) are taken as normal with an estimated covariance :math:`V`, and what
:math:`T = \sum_l |r_l|` would be around :math:`t r` is drawn from :math:`\sum_l |t r_l + Z_l|`, :math:`Z \sim N(0, V)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri

from semece.bins import width_bins
from semece.calibration import bin_residuals, wilson
from semece.rows import check_correct, check_ids, check_level, check_rows, check_weights

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from semece.bins import Bins, Closed
    from semece.rows import Rows

N_DRAWS = 10_000
"""Draws of Z, half of them the negatives of the other half."""


class Interval(NamedTuple):
    """A number with its interval.

    Parameters
    ----------
    value : float
        The number.
    low, high : float
        Ends of the interval.
    """

    value: float
    low: float
    high: float


class Residuals(NamedTuple):
    """Binned residuals and their estimated covariance, of the bins that vary or differ from zero.

    Parameters
    ----------
    value : ndarray, shape (L,)
        Sum of correct - confidence in each bin over the total weight.
    covariance : ndarray, shape (L, L)
        Of ``value``, over draws of questions; nan if there is only one question.
    """

    value: NDArray[np.float64]
    covariance: NDArray[np.float64]


def accuracy_interval(correct: ArrayLike, *, level: float = 0.95, weights: ArrayLike | None = None) -> Interval:
    """Accuracy with its Wilson interval.

    Parameters
    ----------
    correct : array_like, shape (N,)
        In [0, 1]; N >= 1. Soft values are allowed; the interval is then conservative.
    level : float
        In (0, 1).
    weights : array_like, shape (N,), optional
        Frequency weights >= 0.

    Returns
    -------
    Interval
        Mean of ``correct``, and the interval; all in [0, 1].

    Raises
    ------
    ValueError
        For an empty array, values outside [0, 1], and a bad level.

    Notes
    -----
    Rows are taken as independent questions. Source: Wilson (1927).

    Examples
    --------
    >>> [round(end, 4) for end in accuracy_interval([1, 1, 1, 0])]
    [0.75, 0.3006, 0.9544]
    """
    values = check_correct(correct)
    w = check_weights(weights, len(values))
    share = np.float64(np.average(values, weights=w))
    low, high = wilson(share, w.sum(), check_level(level))
    return Interval(float(share), float(low), float(high))


def ece_interval(
    confidence: ArrayLike,
    correct: ArrayLike,
    *,
    level: float = 0.95,
    n_bins: int = 10,
    closed: Closed = "left",
    ids: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    rng: int | np.random.Generator = 0,
) -> Interval:
    r"""ECE with an interval that also holds for a calibrated model.

    Lower end: :math:`t T` for the smallest :math:`t \ge 0` for which the upper quantile of
    :math:`\sum_l |t r_l + Z_l|` reaches T; 0 if :math:`t = 0` does. Upper end:
    :math:`T + z \sqrt{\operatorname{sign}(r)' V \operatorname{sign}(r)}`.

    Parameters
    ----------
    confidence, correct : array_like, shape (N,)
        In [0, 1]; N >= 1. ``correct`` may be soft.
    level : float
        In (0, 1).
    n_bins, closed
        As in :func:`semece.calibration.ece`.
    ids : array_like, shape (N,), optional
        Question of each row; without them every row is a question.
    weights : array_like, shape (N,), optional
        Frequency weights >= 0.
    rng : int or Generator
        Seed of the draws; equal input gives equal output.

    Returns
    -------
    Interval
        The plug-in ECE and its interval, all in [0, 1]. With a single question the interval is [0, 1].

    Raises
    ------
    ValueError
        As in :func:`semece.calibration.ece`.

    Notes
    -----
    A percentile bootstrap interval of the ECE covers nothing when the model is calibrated, because the plug-in value
    is biased upwards. Measured coverage is in the documentation's benchmarks.

    Examples
    --------
    >>> interval = ece_interval([0.9] * 60 + [0.2] * 40, [1] * 40 + [0] * 60)
    >>> [round(end, 2) for end in interval]
    [0.22, 0.15, 0.29]
    """
    rows = check_rows(confidence, correct, weights)
    residuals = residual_moments(rows, width_bins(rows.confidence, n_bins, closed), check_ids(ids, len(rows.correct)))
    return residual_interval(residuals, check_level(level), rng)


def residual_interval(residuals: Residuals, level: float, rng: int | np.random.Generator = 0) -> Interval:
    """Interval of the sum of absolute residuals, unchecked; see :func:`ece_interval`."""
    r, covariance = residuals
    total = float(np.abs(r).sum())
    if np.isnan(covariance).any():
        return Interval(total, 0.0, 1.0)
    sign = np.where(r < 0, -1.0, 1.0)
    spread = max(float(sign @ covariance @ sign), 0.0) ** 0.5
    high = total + float(ndtri(0.5 + level / 2)) * spread
    return Interval(total, shrunk(residuals, 0.5 + level / 2, rng), min(high, 1.0))


def shrunk(residuals: Residuals, quantile: float, rng: int | np.random.Generator = 0) -> float:
    r"""Find :math:`t T` with the smallest t in [0, 1] for which a quantile of sum |t r + Z| is at least T.

    The quantile does not fall with t (Anderson's inequality), and for quantiles of at least one half it has reached T
    at t = 1, because :math:`|r + Z| + |r - Z| \ge 2 |r|` and the draws come in pairs Z, -Z.
    """
    r, covariance = residuals
    total = float(np.abs(r).sum())
    noise = paired_draws(covariance, rng)

    def excess(t: float) -> float:
        sums = np.abs(t * r[:, None] + noise).sum(axis=0)
        return float(np.quantile(sums, quantile, method="higher")) - total

    if excess(0.0) >= 0 or excess(1.0) <= 0:
        return 0.0 if excess(0.0) >= 0 else total
    return total * float(brentq(excess, 0.0, 1.0, xtol=1e-6))


def paired_draws(covariance: NDArray[np.float64], rng: int | np.random.Generator = 0) -> NDArray[np.float64]:
    """Draws from N(0, covariance) in pairs Z, -Z; shape (L, N_DRAWS)."""
    values, vectors = np.linalg.eigh(covariance)
    half = np.random.default_rng(rng).standard_normal((len(values), N_DRAWS // 2))
    noise = (vectors * np.sqrt(np.clip(values, 0.0, None))) @ half
    return np.concatenate([noise, -noise], axis=1)


def residual_moments(rows: Rows, bins: Bins, ids: NDArray[np.intp] | None = None) -> Residuals:
    """Binned residuals and their covariance over draws of questions.

    Weighted rows without ids count as that many questions. With ids, rows are summed within a question; the total
    weight then varies too, and the covariance is that of the ratio.
    """
    r = bin_residuals(rows, bins)
    covariance = _row_covariance(rows, bins, r) if ids is None else _cluster_covariance(rows, bins, r, ids)
    occupied = bins.total(rows.weights) > 0
    return Residuals(r[occupied], covariance[np.ix_(occupied, occupied)])


def _row_covariance(rows: Rows, bins: Bins, r: NDArray[np.float64]) -> NDArray[np.float64]:
    """Covariance of residuals of independent rows."""
    total = rows.weights.sum()
    if total <= 1:
        return np.full((len(r), len(r)), np.nan)
    squares = bins.total(rows.weights * (rows.correct - rows.confidence) ** 2) / total
    covariance: NDArray[np.float64] = (np.diag(squares) - np.outer(r, r)) / (total - 1)
    return covariance


def _cluster_covariance(rows: Rows, bins: Bins, r: NDArray[np.float64], ids: NDArray[np.intp]) -> NDArray[np.float64]:
    """Covariance of residuals whose rows are summed by question."""
    n, n_columns = int(ids.max()) + 1, len(r) + 1
    if n == 1:
        return np.full((len(r), len(r)), np.nan)
    cell = ids * n_columns + bins.place + 1
    sums = np.bincount(cell, rows.weights * (rows.correct - rows.confidence), n * n_columns)
    deviation = sums.reshape(n, n_columns)[:, 1:] - np.outer(np.bincount(ids, rows.weights), r)
    covariance: NDArray[np.float64] = deviation.T @ deviation / rows.weights.sum() ** 2 * (n / (n - 1))
    return covariance
