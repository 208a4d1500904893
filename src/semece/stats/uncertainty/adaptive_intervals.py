r"""How sure a smooth ECE and a sweep-ECE are: intervals for calibration errors without a choice of bins.

Both are distances from calibration, and biased upwards as the ECE is; so their intervals are made as those of the ECE
(:func:`semece.ece_interval`), from residuals and the noise around them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from semece.stats.calibration.adaptive import smooth_norm, sweep_bins
from semece.stats.calibration.bins import distinct
from semece.stats.rows import CheckedRows, check_level, check_rng, check_rows, sums
from semece.stats.uncertainty.intervals import (
    N_DRAWS,
    Interval,
    cleared,
    residual_interval,
    residual_moments,
    shrunk,
    widening,
)
from semece.stats.uncertainty.skewed_means import Drawn, UnitTable, upward

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from semece.stats.rows import Floats, Seed

LEAST_WIDTH = 0.02
"""Narrowest kernel that noise is drawn for."""
POINTS = 2.0
"""Points of the grid on the width of the kernel, from one of which to the next a smoothed residual hardly moves."""
NEGLIGIBLE = 1e-10
"""Share of the largest variance below which a direction of the noise is left out."""


def ece_sweep_interval(
    confidence: ArrayLike,
    correct: ArrayLike,
    *,
    level: float = 0.95,
    ids: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    rng: Seed = 0,
) -> Interval:
    """Sweep-ECE with the interval of an ECE in the bins that the sweep chose.

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
    rng : int or Generator
        Seed of the draws; equal input gives equal output.

    Returns
    -------
    Interval
        In [0, 1]. With a single question the interval is [0, 1].

    Raises
    ------
    ValueError
        As in :func:`semece.ece_sweep`, and for a bad level.

    Notes
    -----
    The bins are taken as given: that the sweep chose them by looking at the answers adds no width. Measured coverage is
    in the documentation's benchmarks.

    Examples
    --------
    >>> interval = ece_sweep_interval([0.9] * 60 + [0.2] * 40, [1] * 40 + [0] * 60)
    >>> [round(end, 2) for end in interval]
    [0.22, 0.15, 0.29]
    """
    check_level(level)
    rows = check_rows(confidence, correct, weights=weights, ids=ids, whole=True)
    residuals = residual_moments(rows, sweep_bins(rows))
    wider = residuals.covariance * widening(rows.ids, level) ** 2
    return residual_interval(residuals._replace(covariance=wider), level, rng)


def smooth_ece_interval(
    confidence: ArrayLike,
    correct: ArrayLike,
    *,
    level: float = 0.95,
    ids: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    rng: Seed = 0,
) -> Interval:
    r"""Smooth ECE with an interval that also holds for a calibrated model.

    A smooth ECE is at least T just where the residuals, smoothed at the width T, have an absolute integral of at least
    T. So at this one width the smoothed residual on a grid takes the place of the residuals in bins: the lower end is
    that of :func:`semece.ece_interval`, the upper end that of :func:`semece.semx_ece`, four pseudo-questions included.

    Parameters
    ----------
    confidence, correct, level, ids, weights, rng
        As in :func:`ece_sweep_interval`.

    Returns
    -------
    Interval
        In [0, 1]. With a single question the interval is [0, 1].

    Raises
    ------
    ValueError
        As in :func:`semece.smooth_ece`, and for a bad level.

    Notes
    -----
    Smoothing more makes the integral smaller; hence the first sentence. For values below 0.02 the width is 0.02.
    Measured coverage is in the documentation's benchmarks.

    Examples
    --------
    >>> interval = smooth_ece_interval([0.9] * 60 + [0.2] * 40, [1] * 40 + [0] * 60)
    >>> [round(end, 2) for end in interval]
    [0.22, 0.14, 0.3]
    """
    check_level(level)
    rows = check_rows(confidence, correct, weights=weights, ids=ids, whole=True)
    values, place = distinct(rows.confidence)
    total = smooth_norm(values, sums(place, rows.weights * (rows.correct - rows.confidence)) / rows.weights.sum())
    table = _smoothed_rows(rows, max(total, LEAST_WIDTH), level)
    if table.n < 2:
        return Interval(total, 0.0, 1.0)
    residual = table.mean(table.value)
    covariance = table.covariance(table.value) * table.widened**2
    points, norm = len(residual), float(np.abs(residual).sum())
    low = shrunk(cleared(residual, covariance), _draws(covariance, rng), 0.5 + level / 2) / max(norm, LEAST_WIDTH)
    return Interval(total, min(low, 1.0) * total, min(total + upward(table, residual) / points, 1.0))


def _smoothed_rows(rows: CheckedRows, width: float, level: float) -> UnitTable:
    """Smooth the residual of each row on a grid; equal rows without ids are one row that occurs often."""
    c, a, weights = rows.confidence, rows.correct, rows.weights
    if rows.ids is None:
        pairs, place = np.unique(np.stack([c, a], axis=1), axis=0, return_inverse=True)
        (c, a), weights = pairs.T, sums(place.ravel(), weights)
    kernel = _kernel(c, width)
    mass = kernel, c[:, None] * kernel
    value = (c - a)[:, None] * kernel
    return UnitTable.of(value, np.zeros_like(value), mass, Drawn(weights, rows.ids, level))


def _kernel(confidence: Floats, width: float) -> Floats:
    """Gaussian kernel reflected at 0 and 1, at the midpoints of a grid; the mean over the grid is 1."""
    n = int(np.ceil(POINTS / width))
    points = (np.arange(n) + 0.5) / n
    reach = int(np.ceil(2 * width))  # images that are at least four widths away add nothing
    total = np.zeros((len(confidence), n))
    for image in (sign * confidence + 2 * turn for turn in range(-reach, reach + 1) for sign in (1, -1)):
        total += np.exp(-(((points - image[:, None]) / width) ** 2) / 2)
    return np.asarray(total / (width * np.sqrt(2 * np.pi)))


def _draws(covariance: Floats, rng: Seed) -> Floats:
    """Draws of the noise in pairs, along the directions in which there is any; shape (G, N_DRAWS)."""
    values, vectors = np.linalg.eigh(covariance)
    kept = values > NEGLIGIBLE * values[-1]
    root = vectors[:, kept] * np.sqrt(values[kept])
    noise = root @ check_rng(rng).standard_normal((int(kept.sum()), N_DRAWS // 2))
    return np.concatenate([noise, -noise], axis=1)
