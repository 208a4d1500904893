"""Calibration error without a choice of bins: the monotone sweep and the smooth ECE."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.fft import idct
from scipy.optimize import brentq

from semece.stats.calibration.bins import Bins, distinct, mass_of_values
from semece.stats.rows import CheckedRows, Floats, check_rows, sums

TINY = 1e-12
"""What accuracies may differ by through rounding."""
WIDTHS = (0.016, 0.004, 0.001)
"""Least kernel widths of :func:`smooth_ece`, tried in turn: a smaller one needs more cosine terms."""
SPECTRUM_END = 7.5
"""Cosine terms are left out from where a kernel damps them by exp(-7.5**2 / 2) = 6e-13."""


def ece_sweep(confidence: ArrayLike, correct: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    r"""ECE with as many bins of equal mass as keep the accuracy from falling.

    The number of bins grows from 1 while the accuracies of the bins do not decrease; the last such number is used.
    Equal confidences stay in one bin, so that the order of the rows does not matter.

    Parameters
    ----------
    confidence, correct : array_like, shape (N,)
        In [0, 1]; N >= 1. ``correct`` may be soft.
    weights : array_like, shape (N,), optional
        Frequency weights >= 0.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        As in :func:`semece.ece`.

    Notes
    -----
    Source: Roelofs et al. (2022), algorithm 1; the ties are ours.

    Examples
    --------
    >>> round(ece_sweep([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1]), 12)
    0.15
    """
    rows = check_rows(confidence, correct, weights=weights)
    bins = sweep_bins(rows)
    return float(np.abs(bins.total(rows.weights * (rows.correct - rows.confidence))).sum() / rows.weights.sum())


def sweep_bins(rows: CheckedRows) -> Bins:
    """Choose the bins of :func:`ece_sweep`."""
    values, place = distinct(rows.confidence)
    weight = sums(place, rows.weights)
    right = sums(place, rows.weights * rows.correct)
    index = np.zeros(len(weight), np.intp)
    for n_bins in range(2, len(weight) + 1):
        finer = mass_of_values(weight, n_bins)
        accuracy = sums(finer, right) / sums(finer, weight)
        if (np.diff(accuracy) < -TINY).any():
            break
        index = finer
    first, last = np.flatnonzero(np.diff(index, prepend=-1)), np.flatnonzero(np.diff(index, append=index[-1] + 1))
    return Bins(index[place], values[first], values[last])


def smooth_ece(confidence: ArrayLike, correct: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    r"""Calibration error smoothed by a Gaussian kernel that chooses its own width.

    .. math::
       \text{smECE}_\sigma = \int_0^1 \Bigl| \sum_i w_i (a_i - c_i) K_\sigma(t, c_i) \Big/ \sum_i w_i \Bigr| dt,
       \qquad \text{smECE} = \sigma^* : \text{smECE}_{\sigma^*} = \sigma^*

    with :math:`K_\sigma` the Gaussian kernel reflected at 0 and 1.

    Parameters
    ----------
    confidence, correct : array_like, shape (N,)
        In [0, 1]; N >= 1. ``correct`` may be soft.
    weights : array_like, shape (N,), optional
        Frequency weights >= 0.

    Returns
    -------
    float
        In [0, 1]. Where :math:`\sigma^* < 10^{-3}`, the value at width :math:`10^{-3}`, which is smaller still.

    Raises
    ------
    ValueError
        As in :func:`semece.ece`.

    Notes
    -----
    The reflected kernel multiplies the k-th cosine coefficient of the residuals by
    :math:`\exp(-(\pi k \sigma)^2 / 2)`, so that the residuals enter at their distinct confidences, with no rounding to
    a grid, and once for all widths. Source: Błasiok & Nakkiran (2023).

    Examples
    --------
    >>> round(smooth_ece([0.9, 0.9, 0.2, 0.2], [1, 0, 0, 0]), 3)
    0.3
    """
    rows = check_rows(confidence, correct, weights=weights)
    values, place = distinct(rows.confidence)
    return smooth_norm(values, sums(place, rows.weights * (rows.correct - rows.confidence)) / rows.weights.sum())


def smooth_norm(values: Floats, mass: Floats) -> float:
    """Compute the smooth ECE of residuals: ``mass`` at each distinct confidence, unchecked."""
    for width in WIDTHS:
        spectrum = _spectrum(values, mass, int(np.ceil(SPECTRUM_END / (np.pi * width))))
        least = _smoothed(width, spectrum)
        if least >= width:
            return min(float(brentq(_above_width, width, 2.0, args=(spectrum,), xtol=1e-12)), 1.0)
    return min(least, 1.0)


def _spectrum(values: Floats, mass: Floats, n: int) -> Floats:
    """Sum mass * cos(pi k value) for k = 0 .. n, in chunks that fit in memory."""
    chunk = max(1, 4_000_000 // len(values))
    orders = np.arange(n + 1)
    parts = [np.cos(np.pi * np.outer(orders[k : k + chunk], values)) @ mass for k in range(0, n + 1, chunk)]
    return np.concatenate(parts)


def _smoothed(sigma: float, spectrum: Floats) -> float:
    """Integrate the absolute smoothed residual at width sigma: the mean over the midpoints of a fine grid."""
    orders = np.arange(len(spectrum))
    damped = spectrum * np.exp(-((np.pi * orders * sigma) ** 2) / 2)
    grid = 4 * 2 ** int(np.ceil(np.log2(len(spectrum))))
    return float(np.abs(idct(damped, type=2, n=grid, norm="forward")).mean())


def _above_width(sigma: float, spectrum: Floats) -> float:
    """Return smECE at width sigma less sigma."""
    return _smoothed(sigma, spectrum) - sigma
