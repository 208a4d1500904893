r"""Calibration error of many questions: the ECE family and the reliability table.

``confidence`` and ``correct`` are one number in [0, 1] per row; ``correct`` may be soft (a share of correct answers).
``weights`` are frequency weights: a weight of 3 is the same as the row three times. A gap is confidence minus
accuracy, positive for over-confidence. Edge rules are those of :mod:`semece.bins`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from semece.bins import Bins, make_bins
from semece.rows import check_level, check_rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from semece.bins import Binning, Closed
    from semece.rows import Rows


class ReliabilityTable(NamedTuple):
    """One entry per bin; all arrays have shape (L,).

    Parameters
    ----------
    low, high : ndarray
        Edges of the bin.
    count : ndarray
        Rows in the bin: whole numbers, or sums of weights where weights were given. 0 in an empty bin.
    confidence, accuracy : ndarray
        Means; nan in an empty bin.
    gap : ndarray
        Confidence - accuracy; positive: over-confident; nan in an empty bin.
    accuracy_low, accuracy_high : ndarray
        Wilson interval of the accuracy; nan in an empty bin.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    count: NDArray[Any]  # type: ignore[assignment]  # hides tuple.count, on purpose
    confidence: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    gap: NDArray[np.float64]
    accuracy_low: NDArray[np.float64]
    accuracy_high: NDArray[np.float64]


def ece(
    confidence: ArrayLike,
    correct: ArrayLike,
    *,
    n_bins: int = 10,
    closed: Closed = "left",
    binning: Binning = "width",
    weights: ArrayLike | None = None,
) -> float:
    r"""Compute the expected calibration error.

    .. math:: \sum_l \Bigl| \sum_{i \in l} w_i (a_i - c_i) \Bigr| \Big/ \sum_i w_i

    Parameters
    ----------
    confidence, correct : array_like, shape (N,)
        In [0, 1]; N >= 1. ``correct`` may be soft.
    n_bins : int
        L >= 1.
    closed : {'left', 'right', 'guo', 'linspace-digitize'}
        To which bin an edge belongs (:mod:`semece.bins`). No effect with ``binning="mass"``.
    binning : {'width', 'mass'}
        Bins of equal width, or of about equal weight with equal values together.
    weights : array_like, shape (N,), optional
        Frequency weights >= 0.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        For arrays that are empty, unequal in length, not finite or outside [0, 1], and for bad options.

    Notes
    -----
    The plug-in value is biased upwards, by about 0.1 at N = 100 for a calibrated model. Give it with
    :func:`semece.inference.ece_interval`. Source: Naeini et al. (2015); Guo et al. (2017), eq. 3.

    Examples
    --------
    >>> round(ece([0.9, 0.9, 0.2, 0.2], [1, 0, 0, 0]), 12)
    0.3
    """
    rows = check_rows(confidence, correct, weights)
    residual = bin_residuals(rows, make_bins(rows, n_bins=n_bins, closed=closed, binning=binning))
    return float(np.abs(residual).sum())


def bin_residuals(rows: Rows, bins: Bins) -> NDArray[np.float64]:
    """Weighted sum of correct - confidence in each bin over the total weight; shape (L,)."""
    total: float = rows.weights.sum()
    return bins.total(rows.weights * (rows.correct - rows.confidence)) / total


def reliability_table(
    confidence: ArrayLike,
    correct: ArrayLike,
    *,
    n_bins: int = 10,
    closed: Closed = "left",
    binning: Binning = "width",
    level: float = 0.95,
    weights: ArrayLike | None = None,
) -> ReliabilityTable:
    """Confidence and accuracy in each bin: the numbers behind a reliability diagram.

    Parameters
    ----------
    confidence, correct : array_like, shape (N,)
        In [0, 1]; N >= 1. ``correct`` may be soft.
    n_bins, closed, binning
        As in :func:`ece`. Bins by mass are made from the data, so that none is empty.
    level : float
        Of the Wilson interval, in (0, 1).
    weights : array_like, shape (N,), optional
        Frequency weights >= 0.

    Returns
    -------
    ReliabilityTable
        An empty bin has count 0 and nan elsewhere. ``sum(count * abs(gap)) / N`` is the ECE.

    Raises
    ------
    ValueError
        As in :func:`ece`.

    Notes
    -----
    The interval treats correctness as binary and rows as independent. For soft correctness it is conservative: a soft
    value varies less than a binary one of the same mean.

    Examples
    --------
    >>> table = reliability_table([0.9, 0.9, 0.2, 0.2], [1, 0, 0, 0], n_bins=2)
    >>> table.count, table.gap
    (array([2, 2]), array([0.2, 0.4]))
    """
    rows = check_rows(confidence, correct, weights)
    bins = make_bins(rows, n_bins=n_bins, closed=closed, binning=binning)
    check_level(level)
    weight = bins.total(rows.weights)
    divisor = np.where(weight > 0, weight, np.nan)
    confidences = bins.total(rows.weights * rows.confidence) / divisor
    accuracy = bins.total(rows.weights * rows.correct) / divisor
    low, high = wilson(accuracy, divisor, level)
    count = weight if weights is not None else weight.astype(np.int64)
    return ReliabilityTable(bins.low, bins.high, count, confidences, accuracy, confidences - accuracy, low, high)


def wilson(
    share: NDArray[np.float64] | np.float64, n: NDArray[np.float64] | np.float64, level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    r"""Wilson (1927) interval of a share of n, unchecked; nan where n is nan.

    .. math:: \frac{\hat p + z^2/2n \mp z \sqrt{\hat p (1 - \hat p)/n + z^2/4n^2}}{1 + z^2/n}
    """
    z = ndtri(0.5 + level / 2)
    middle = share + z * z / (2 * n)
    spread = z * np.sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2)
    scale = 1 + z * z / n
    return np.clip((middle - spread) / scale, 0.0, share), np.clip((middle + spread) / scale, share, 1.0)
