r"""Calibration error of many questions: the ECE family and the reliability table.

``confidence`` and ``correct`` are one number in [0, 1] per row; ``correct`` may be soft (a share of correct answers).
``weights`` are frequency weights: a weight of 3 is the same as the row three times. :func:`ece` is an average and takes
fractions too; what counts the rows of a bin takes whole numbers. A gap is confidence minus accuracy, positive for
over-confidence. Edge rules are those of :mod:`semece.stats.calibration.bins`.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from semece.stats.calibration.bins import Binning, Bins, Closed, make_bins
from semece.stats.rows import NUMBERS, CheckedRows, Floats, check_choice, check_level, check_rows

RmsVariant = Literal["bins", "hle-script"]
HLE_BIN = 100
"""Rows of a bin in Humanity's Last Exam's script."""


class ReliabilityTable(NamedTuple):
    """One entry per bin; all arrays have shape (L,).

    Parameters
    ----------
    low, high : ndarray
        Edges of the bin.
    count : ndarray
        Rows in the bin, each as often as its weight says. 0 in an empty bin.
    confidence, accuracy : ndarray
        Means; nan in an empty bin.
    gap : ndarray
        Confidence - accuracy; positive: over-confident; nan in an empty bin.
    accuracy_low, accuracy_high : ndarray
        Wilson interval of the accuracy; nan in an empty bin.
    """

    low: Floats
    high: Floats
    count: NDArray[Any]  # type: ignore[assignment]  # hides tuple.count, on purpose
    confidence: Floats
    accuracy: Floats
    gap: Floats
    accuracy_low: Floats
    accuracy_high: Floats


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
        To which bin an edge belongs (:mod:`semece.stats.calibration.bins`). No effect with ``binning="mass"``.
    binning : {'width', 'mass'}
        Bins of equal width, or of about equal weight with equal values together.
    weights : array_like, shape (N,), optional
        Frequency weights >= 0; their ratios alone matter.

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
    :func:`semece.ece_interval`. Source: Naeini et al. (2015); Guo et al. (2017), eq. 3.

    Examples
    --------
    >>> round(ece([0.9, 0.9, 0.2, 0.2], [1, 0, 0, 0]), 12)
    0.3
    """
    rows = check_rows(confidence, correct, weights=weights)
    residual = bin_residuals(rows, make_bins(rows, n_bins=n_bins, closed=closed, binning=binning))
    return float(np.abs(residual).sum())


def mce(
    confidence: ArrayLike,
    correct: ArrayLike,
    *,
    n_bins: int = 10,
    closed: Closed = "left",
    binning: Binning = "width",
    weights: ArrayLike | None = None,
    min_count: float = 1,
) -> float:
    r"""Maximum calibration error: the largest absolute gap of a bin.

    .. math:: \max_{l : n_l \ge n_{\min}} |\bar c_l - \bar a_l|

    Parameters
    ----------
    confidence, correct : array_like, shape (N,)
        In [0, 1]; N >= 1. ``correct`` may be soft.
    n_bins, closed, binning
        As in :func:`ece`.
    weights : array_like, shape (N,), optional
        Frequency weights >= 0, whole numbers: how often a row occurs.
    min_count : float
        Bins with fewer rows are passed over: one row alone makes a gap of up to 1.

    Returns
    -------
    float
        In [0, 1]; nan if no bin has ``min_count`` rows.

    Raises
    ------
    ValueError
        As in :func:`ece`.

    Notes
    -----
    Source: Naeini et al. (2015).

    Examples
    --------
    >>> mce([0.5, 0.5, 1.0], [1, 0, 0]), mce([0.5, 0.5, 1.0], [1, 0, 0], min_count=2)
    (1.0, 0.0)
    """
    rows = check_rows(confidence, correct, weights=weights, whole=True)
    weight, gap = _gaps(rows, make_bins(rows, n_bins=n_bins, closed=closed, binning=binning), min_count)
    return float(np.abs(gap).max()) if len(weight) else float("nan")


def rms_ce(
    confidence: ArrayLike,
    correct: ArrayLike,
    *,
    n_bins: int = 10,
    closed: Closed = "left",
    binning: Binning = "width",
    weights: ArrayLike | None = None,
    min_count: float = 1,
    variant: RmsVariant = "bins",
) -> float:
    r"""Root mean square calibration error.

    .. math:: \Bigl( \sum_l n_l (\bar c_l - \bar a_l)^2 \Big/ \sum_l n_l \Bigr)^{1/2}

    Parameters
    ----------
    confidence, correct : array_like, shape (N,)
        In [0, 1]; N >= 1. ``correct`` may be soft.
    n_bins, closed, binning
        As in :func:`ece`.
    weights : array_like, shape (N,), optional
        Frequency weights >= 0, whole numbers: how often a row occurs.
    min_count : float
        Bins with fewer rows are left out of both sums.
    variant : {'bins', 'hle-script'}
        ``"hle-script"`` is what the script of Humanity's Last Exam prints, for comparison with its tables only: bins
        of 100 rows in order of confidence, **the last bin dropped** but its rows counted in N. An always wrong, fully
        confident model gets 0.0 below 200 rows. It takes no weights and none of the options of bins.

    Returns
    -------
    float
        In [0, 1]; nan if no bin has ``min_count`` rows.

    Raises
    ------
    ValueError
        As in :func:`ece`; for ``"hle-script"`` also with weights or below 100 rows, where the script fails.

    Notes
    -----
    Source: Hendrycks et al. (2019); Phan et al. (2025) for the script.

    Examples
    --------
    >>> round(rms_ce([0.9, 0.9, 0.2, 0.2], [1, 0, 0, 0]), 12)
    0.316227766017
    """
    check_choice("variant", variant, ("bins", "hle-script"))
    rows = check_rows(confidence, correct, weights=weights, whole=True)
    if variant == "hle-script":
        return _hle_script(rows, weighted=weights is not None)
    weight, gap = _gaps(rows, make_bins(rows, n_bins=n_bins, closed=closed, binning=binning), min_count)
    return float(np.sqrt(np.average(gap**2, weights=weight))) if len(weight) else float("nan")


def debiased_rms_ce(
    confidence: ArrayLike,
    correct: ArrayLike,
    *,
    n_bins: int = 10,
    closed: Closed = "left",
    binning: Binning = "width",
    weights: ArrayLike | None = None,
) -> float:
    r"""Root mean square calibration error without the part that sampling adds.

    .. math::
       \Bigl( \max\Bigl\{ 0, \sum_l \frac{n_l}{N} \Bigl[ (\bar c_l - \bar a_l)^2
       - \frac{\sum_{i \in l} (a_i - \bar a_l)^2}{n_l (n_l - 1)} \Bigr] \Bigr\} \Bigr)^{1/2}

    Parameters
    ----------
    confidence, correct : array_like, shape (N,)
        In [0, 1]; N >= 1. ``correct`` may be soft.
    n_bins, closed, binning
        As in :func:`ece`. Bins with one row have no variance and add nothing.
    weights : array_like, shape (N,), optional
        Frequency weights >= 0, whole numbers: how often a row occurs.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        As in :func:`ece`.

    Notes
    -----
    Source: Kumar, Liang & Ma (2019), definition 5.1; for binary correctness the variance is
    :math:`\bar a_l (1 - \bar a_l) / (n_l - 1)`.

    Examples
    --------
    >>> round(debiased_rms_ce([0.9] * 4, [1, 0, 0, 0]), 12)
    0.6
    """
    rows = check_rows(confidence, correct, weights=weights, whole=True)
    return debiased_rms(rows, make_bins(rows, n_bins=n_bins, closed=closed, binning=binning))


def debiased_rms(rows: CheckedRows, bins: Bins) -> float:
    """Debiased root mean square calibration error of bins, unchecked; see :func:`debiased_rms_ce`."""
    n = bins.total(rows.weights)
    total = bins.total(rows.weights * rows.correct)
    squares = bins.total(rows.weights * rows.correct**2)
    gap = bin_residuals(rows, bins) * rows.weights.sum()
    enough = n > 1
    n, total, squares, gap = n[enough], total[enough], squares[enough], gap[enough]
    excess = gap**2 / n - (squares - total**2 / n) / (n - 1)
    return float(np.sqrt(max(excess.sum() / rows.weights.sum(), 0.0)))


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
        Frequency weights >= 0, whole numbers: how often a row occurs.

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
    rows = check_rows(confidence, correct, weights=weights, whole=True)
    bins = make_bins(rows, n_bins=n_bins, closed=closed, binning=binning)
    check_level(level)
    weight = bins.total(rows.weights)
    divisor = np.where(weight > 0, weight, np.nan)
    confidences = bins.total(rows.weights * rows.confidence) / divisor
    accuracy = bins.total(rows.weights * rows.correct) / divisor
    low, high = wilson(accuracy, divisor, level)
    count = weight.astype(np.int64)
    return ReliabilityTable(bins.low, bins.high, count, confidences, accuracy, confidences - accuracy, low, high)


def bin_residuals(rows: CheckedRows, bins: Bins) -> Floats:
    """Weighted sum of correct - confidence in each bin over the total weight; shape (L,)."""
    total: float = rows.weights.sum()
    return bins.total(rows.weights * (rows.correct - rows.confidence)) / total


def _gaps(rows: CheckedRows, bins: Bins, min_count: float) -> tuple[Floats, Floats]:
    """Weight and gap of each bin that has some weight and at least ``min_count``."""
    if not isinstance(min_count, NUMBERS) or not min_count >= 0:
        raise ValueError(f"min_count must be a number of at least 0; got {min_count!r}")
    weight = bins.total(rows.weights)
    kept = (weight > 0) & (weight >= min_count)
    gap = bins.total(rows.weights * (rows.confidence - rows.correct))
    return weight[kept], gap[kept] / weight[kept]


def _hle_script(rows: CheckedRows, *, weighted: bool) -> float:
    """Reproduce the script of Humanity's Last Exam, dropped bin included."""
    n = len(rows.confidence)
    if weighted:
        raise ValueError("weights are not part of variant 'hle-script'; leave them out")
    if n < HLE_BIN:
        raise ValueError(f"variant 'hle-script' needs at least {HLE_BIN} rows; got {n}")
    kept = np.argsort(rows.confidence)[: (n // HLE_BIN - 1) * HLE_BIN].reshape(-1, HLE_BIN)
    gap = (rows.confidence[kept] - rows.correct[kept]).mean(axis=1)
    return float(np.sqrt((gap**2).sum() * HLE_BIN / n))


def wilson(
    share: Floats | np.float64, n: Floats | np.float64, level: float, widened: float = 1.0
) -> tuple[Floats, Floats]:
    r"""Wilson (1927) interval of a share of n, unchecked, its quantile times ``widened``; nan where n is nan.

    .. math:: \frac{\hat p + z^2/2n \mp z \sqrt{\hat p (1 - \hat p)/n + z^2/4n^2}}{1 + z^2/n}
    """
    z = widened * ndtri(0.5 + level / 2)
    middle = share + z * z / (2 * n)
    spread = z * np.sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2)
    scale = 1 + z * z / n
    return np.clip((middle - spread) / scale, 0.0, share), np.clip((middle + spread) / scale, share, 1.0)
