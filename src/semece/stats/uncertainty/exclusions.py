r"""What the excluded questions could do to a number: bounds over every grading of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from semece.stats.calibration.bins import Closed, width_bins
from semece.stats.rows import check_correct, check_count, check_rows, check_unit, check_weights


class Bounds(NamedTuple):
    """The least and the greatest value a number can take."""

    low: float
    high: float


def accuracy_bounds(correct: ArrayLike, n_excluded: int, *, weights: ArrayLike | None = None) -> Bounds:
    """Bound the accuracy over all gradings of excluded questions: all wrong, all right.

    Parameters
    ----------
    correct : array_like, shape (N,)
        Correctness of the graded questions, in [0, 1]; N >= 1.
    n_excluded : int
        How many questions are excluded, >= 0.
    weights : array_like, shape (N,), optional
        Frequency weights >= 0 of the graded questions.

    Returns
    -------
    Bounds
        In [0, 1]; both the accuracy if nothing is excluded.

    Raises
    ------
    ValueError
        For values outside [0, 1] or a negative number.

    Examples
    --------
    >>> accuracy_bounds([1, 1, 0], 1)
    Bounds(low=0.5, high=0.75)
    """
    values = check_correct(correct)
    n_excluded = check_count("n_excluded", n_excluded, least=0)
    times = np.ones(len(values)) if weights is None else check_weights(weights, len(values))
    n, right = times.sum() + n_excluded, values @ times
    return Bounds(float(right / n), float((right + n_excluded) / n))


def ece_bounds(
    confidence: ArrayLike,
    correct: ArrayLike,
    excluded_confidence: ArrayLike,
    *,
    n_bins: int = 10,
    closed: Closed = "left",
    weights: ArrayLike | None = None,
    excluded_weights: ArrayLike | None = None,
) -> Bounds:
    r"""Bound the ECE over all gradings of excluded questions that have a confidence.

    In each bin the summed residual lies between :math:`s_l` (all excluded wrong) and :math:`S_l` (all right):

    .. math::
       \sum_l \max\{0, s_l, -S_l\} \Big/ N \;\le\; \text{ECE} \;\le\; \sum_l \max\{|s_l|, |S_l|\} \Big/ N

    Grading all excluded questions right, or all wrong, does not bound the ECE.

    Parameters
    ----------
    confidence, correct : array_like, shape (N,)
        Graded questions, in [0, 1]; N >= 1.
    excluded_confidence : array_like, shape (E,)
        Confidences of the excluded questions, in [0, 1]; may be empty. Those without a confidence are not part of any
        ECE: count them.
    n_bins, closed
        As in :func:`semece.ece`.
    weights, excluded_weights : array_like of shape (N,) and (E,), optional
        Frequency weights >= 0 of the graded and of the excluded questions.

    Returns
    -------
    Bounds
        In [0, 1]; both the ECE if nothing is excluded. The lower one is reached where partial credit is possible.

    Raises
    ------
    ValueError
        As in :func:`semece.ece`.

    Examples
    --------
    >>> ece_bounds([0.5] * 80, [1] * 40 + [0] * 40, [0.5] * 20)
    Bounds(low=0.0, high=0.1)
    """
    rows = check_rows(confidence, correct, weights=weights)
    excluded, times = np.zeros(0), np.zeros(0)
    if np.shape(excluded_confidence) != (0,):
        excluded = check_unit("excluded_confidence", excluded_confidence)
        n_rows = len(excluded)
        times = np.ones(n_rows) if excluded_weights is None else check_weights(excluded_weights, n_rows)
    graded = width_bins(rows.confidence, n_bins, closed).total(rows.weights * (rows.correct - rows.confidence))
    bins = width_bins(excluded, n_bins, closed)
    least = graded - bins.total(times * excluded)
    most = least + bins.total(times)
    n = rows.weights.sum() + times.sum()
    low = np.maximum(np.maximum(least, -most), 0.0).sum() / n
    return Bounds(float(low), float(np.maximum(np.abs(least), np.abs(most)).sum() / n))
