r"""Proper scores of many questions, and what they are made of.

Arguments are those of :func:`semece.ece`: ``confidence`` and ``correct`` in [0, 1], frequency ``weights``.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlogy

from semece.stats.recalibration.step_maps import isotonic_fit
from semece.stats.rows import NUMBERS, CheckedRows, Floats, check_choice, check_responses, check_rows, check_unit

Decomposition = Literal["murphy", "corp"]
Smoothing = Literal["jeffreys"]


class BrierDecomposition(NamedTuple):
    """Parts of a Brier score: reliability - resolution + uncertainty.

    Parameters
    ----------
    reliability : float
        What miscalibration adds (``"corp"``: miscalibration).
    resolution : float
        What telling questions apart takes off (``"corp"``: discrimination).
    uncertainty : float
        The score of always giving the accuracy.
    """

    reliability: float
    resolution: float
    uncertainty: float


class LogLoss(NamedTuple):
    """A log loss and the rows that a certain but wrong confidence makes infinite.

    Parameters
    ----------
    value : float
        Mean loss in nats; inf if a row is infinite and no policy was chosen.
    n_infinite : float
        Rows (or their weight) with c = 0 and a > 0, or c = 1 and a < 1, before any policy.
    """

    value: float
    n_infinite: float


def brier(confidence: ArrayLike, correct: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    r"""Mean squared difference of confidence and correctness.

    .. math:: \sum_i w_i (c_i - a_i)^2 \Big/ \sum_i w_i

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
        For arrays that are empty, unequal in length, not finite or outside [0, 1].

    Notes
    -----
    Source: Brier (1950), for the event 'the answer is correct'.

    Examples
    --------
    >>> brier([1.0, 0.5], [1, 0])
    0.125
    """
    return _brier(check_rows(confidence, correct, weights=weights))


def brier_decomposition(
    confidence: ArrayLike, correct: ArrayLike, *, method: Decomposition = "murphy", weights: ArrayLike | None = None
) -> BrierDecomposition:
    r"""Split a Brier score into reliability, resolution and uncertainty.

    ``"murphy"``, with one bin per distinct confidence v, of weight :math:`n_v` and accuracy :math:`\bar a_v`:

    .. math::
       \sum_v \frac{n_v}{N} (v - \bar a_v)^2 - \sum_v \frac{n_v}{N} (\bar a_v - \bar a)^2
       + \frac{1}{N} \sum_i (a_i - \bar a)^2

    ``"corp"`` puts the isotonic regression of correctness on confidence in the place of :math:`\bar a_v`.

    Parameters
    ----------
    confidence, correct : array_like, shape (N,)
        In [0, 1]; N >= 1. ``correct`` may be soft.
    method : {'murphy', 'corp'}
        ``"murphy"`` calls noise unreliable when most confidences are distinct; ``"corp"`` does so less.
    weights : array_like, shape (N,), optional
        Frequency weights >= 0.

    Returns
    -------
    BrierDecomposition
        With reliability - resolution + uncertainty = :func:`brier`, exactly, by either method.

    Raises
    ------
    ValueError
        As in :func:`brier`.

    Notes
    -----
    For binary correctness the uncertainty is :math:`\bar a (1 - \bar a)`. Source: Murphy (1973); Dimitriadis, Gneiting
    & Jordan (2021).

    Examples
    --------
    >>> brier_decomposition([0.75, 0.75, 0.25, 0.25], [1, 1, 1, 0])
    BrierDecomposition(reliability=0.0625, resolution=0.0625, uncertainty=0.1875)
    """
    check_choice("method", method, ("murphy", "corp"))
    rows = check_rows(confidence, correct, weights=weights)
    found = isotonic_fit(rows)
    accuracy = found.fitted if method == "corp" else found.accuracy
    mean = np.average(rows.correct, weights=rows.weights)
    uncertainty = float(np.average((rows.correct - mean) ** 2, weights=rows.weights))
    recalibrated = _brier(rows._replace(confidence=accuracy[found.place]))
    return BrierDecomposition(_brier(rows) - recalibrated, uncertainty - recalibrated, uncertainty)


def log_loss(
    confidence: ArrayLike,
    correct: ArrayLike,
    *,
    clip: float | None = None,
    smoothing: Smoothing | None = None,
    n: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> LogLoss:
    r"""Mean negative log-likelihood of correctness.

    .. math:: -\sum_i w_i \{ a_i \log c_i + (1 - a_i) \log (1 - c_i) \} \Big/ \sum_i w_i

    A confidence of 0 or 1 that is wrong costs infinity. Frequencies of n answers are often 0 or 1, so what happens
    there is a choice that must be made in the open.

    Parameters
    ----------
    confidence, correct : array_like, shape (N,)
        In [0, 1]; N >= 1. ``correct`` may be soft.
    clip : float, optional
        Move confidences into [clip, 1 - clip]; in (0, 0.5).
    smoothing : {'jeffreys'}, optional
        Take c as k of n answers and put :math:`(k + 1/2) / (n + 1)` in its place; needs ``n``.
    n : int or array_like, shape (N,), optional
        Answers behind all rows, or behind each, at least 1: ``n_responses`` of :func:`semece.estimate`.
    weights : array_like, shape (N,), optional
        Frequency weights >= 0.

    Returns
    -------
    LogLoss
        The loss, and how many rows would be infinite without a policy.

    Raises
    ------
    ValueError
        As in :func:`brier`; for a bad ``clip``, two policies at once, smoothing without ``n`` or the reverse.

    Examples
    --------
    >>> log_loss([1.0, 0.5], [0, 1])
    LogLoss(value=inf, n_infinite=1.0)
    >>> round(log_loss([1.0, 0.5], [0, 1], smoothing="jeffreys", n=50).value, 4)
    2.6591
    """
    if clip is not None and smoothing is not None:
        raise ValueError("choose one policy at 0 and 1: clip or smoothing")
    if n is not None and smoothing is None:
        raise ValueError("n has no effect without smoothing='jeffreys'; leave it out, or choose that")
    rows = check_rows(confidence, correct, weights=weights)
    c, a = rows.confidence, rows.correct
    infinite = ((c == 0) & (a > 0)) | ((c == 1) & (a < 1))
    if clip is not None:
        rows = rows._replace(confidence=np.clip(c, _checked_clip(clip), 1 - clip))
    elif smoothing is not None:
        check_choice("smoothing", smoothing, ("jeffreys",))
        rows = check_rows(_jeffreys(check_unit("confidence", confidence), n), correct, weights=weights)
    c = rows.confidence
    with np.errstate(divide="ignore"):
        loss = -(xlogy(a, c) + xlogy(1 - a, 1 - c))
    return LogLoss(float(np.average(loss, weights=rows.weights)), float(rows.weights @ infinite))


def _brier(rows: CheckedRows) -> float:
    """Brier score, unchecked."""
    return float(np.average((rows.confidence - rows.correct) ** 2, weights=rows.weights))


def _checked_clip(clip: float) -> float:
    """Check the least confidence of a clipped log loss."""
    if not isinstance(clip, NUMBERS) or not 0 < clip < 0.5:
        raise ValueError(f"clip must lie strictly between 0 and 0.5; got {clip}")
    return clip


def _jeffreys(confidence: Floats, n: ArrayLike | None) -> Floats:
    """Smooth frequencies of n answers: (c n + 1/2) / (n + 1)."""
    if n is None:
        raise ValueError("smoothing 'jeffreys' needs n, the number of answers behind each confidence")
    size = check_responses(n, len(confidence))
    return np.asarray((confidence * size + 0.5) / (size + 1))
