r"""Does a higher confidence go with a correct answer? Ranking and selective answering.

Only the order of the confidences matters here. Ties are handled so that the order of the rows never matters: equal
confidences (to nine significant digits) are one threshold. A soft correctness a counts as a share a of a correct and
1 - a of a wrong answer. ``weights`` are frequency weights.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma

from semece.stats.calibration.bins import distinct
from semece.stats.rows import Floats, check_correct, check_rows, sums


class RiskCoverage(NamedTuple):
    """One entry per distinct confidence, from the highest down.

    Parameters
    ----------
    threshold : ndarray, shape (V,)
        Answer where the confidence is at least this.
    coverage : ndarray, shape (V,)
        Share of questions that are answered, in (0, 1].
    risk : ndarray, shape (V,)
        Share of wrong answers among them, in [0, 1].
    """

    threshold: Floats
    coverage: Floats
    risk: Floats


class Thresholds(NamedTuple):
    """Weight and correct weight at each distinct confidence, from the highest down."""

    value: Floats
    weight: Floats
    right: Floats


def auroc(confidence: ArrayLike, correct: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    r"""Probability that a correct answer has a higher confidence than a wrong one, ties counting one half.

    Parameters
    ----------
    confidence, correct : array_like, shape (N,)
        In [0, 1]; N >= 1.
    weights : array_like, shape (N,), optional
        Frequency weights >= 0.

    Returns
    -------
    float
        In [0, 1]; nan if all answers are correct or all are wrong.

    Raises
    ------
    ValueError
        For arrays that are empty, unequal in length, not finite or outside [0, 1].

    Notes
    -----
    Source: the Mann-Whitney form, Hanley & McNeil (1982).

    Examples
    --------
    >>> auroc([0.9, 0.5, 0.5], [1, 1, 0])
    0.75
    """
    _, weight, right = thresholds(confidence, correct, weights)
    wrong = weight - right
    pairs = right.sum() * wrong.sum()
    if pairs <= 0:
        return float("nan")
    lower = wrong.sum() - np.cumsum(wrong)
    return float((right * (lower + wrong / 2)).sum() / pairs)


def average_precision(confidence: ArrayLike, correct: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    r"""Mean precision over the correct answers, from the highest confidence down.

    .. math:: \sum_v (R_v - R_{v-1}) P_v

    with :math:`P_v`, :math:`R_v` precision and recall of answering at confidences of at least v.

    Parameters
    ----------
    confidence, correct : array_like, shape (N,)
        In [0, 1]; N >= 1.
    weights : array_like, shape (N,), optional
        Frequency weights >= 0.

    Returns
    -------
    float
        In [0, 1]; 0 if no answer is correct, since every precision is 0 then.

    Raises
    ------
    ValueError
        As in :func:`auroc`.

    Examples
    --------
    >>> average_precision([0.9, 0.8, 0.7], [1, 0, 1])
    0.8333333333333333
    """
    _, weight, right = thresholds(confidence, correct, weights)
    if right.sum() <= 0:
        return 0.0
    precision = np.cumsum(right) / np.cumsum(weight)
    return float((right * precision).sum() / right.sum())


def risk_coverage(confidence: ArrayLike, correct: ArrayLike, *, weights: ArrayLike | None = None) -> RiskCoverage:
    """Risk among the answered questions at each threshold.

    Parameters
    ----------
    confidence, correct : array_like, shape (N,)
        In [0, 1]; N >= 1.
    weights : array_like, shape (N,), optional
        Frequency weights >= 0.

    Returns
    -------
    RiskCoverage
        Thresholds that can be set: questions of equal confidence are answered together.

    Raises
    ------
    ValueError
        As in :func:`auroc`.

    Notes
    -----
    Source: El-Yaniv & Wiener (2010); Geifman & El-Yaniv (2017).

    Examples
    --------
    >>> curve = risk_coverage([0.9, 0.5, 0.5, 0.1], [1, 1, 0, 0])
    >>> curve.coverage, curve.risk
    (array([0.25, 0.75, 1.  ]), array([0.        , 0.33333333, 0.5       ]))
    """
    value, weight, right = thresholds(confidence, correct, weights)
    answered = np.cumsum(weight)
    return RiskCoverage(value, answered / answered[-1], np.cumsum(weight - right) / answered)


def aurc(confidence: ArrayLike, correct: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    r"""Area under the risk-coverage curve: the mean risk of answering the 1, 2, ..., N most confident questions.

    Where equal confidences leave the order open, the mean over all orders is taken. With :math:`e_0` errors in the
    :math:`k_0` rows above and e errors in the m rows of a tie, it adds

    .. math:: (e_0 - k_0 e / m) (H_{k_0 + m} - H_{k_0}) + e

    to N times the area, :math:`H_k` the k-th harmonic number.

    Parameters
    ----------
    confidence, correct : array_like, shape (N,)
        In [0, 1]; N >= 1.
    weights : array_like, shape (N,), optional
        Frequency weights >= 0.

    Returns
    -------
    float
        In [0, 1]; smaller is better.

    Raises
    ------
    ValueError
        As in :func:`auroc`.

    Notes
    -----
    Source: Geifman, Uziel & El-Yaniv (2019); the ties are ours.

    Examples
    --------
    >>> aurc([0.9, 0.5], [1, 0])
    0.25
    """
    _, weight, right = thresholds(confidence, correct, weights)
    wrong = weight - right
    answered, errors = np.cumsum(weight), np.cumsum(wrong)
    above, errors_above = answered - weight, errors - wrong
    harmonic = digamma(answered + 1) - digamma(above + 1)
    return float(((errors_above - above * wrong / weight) * harmonic + wrong).sum() / answered[-1])


def eaurc(confidence: ArrayLike, correct: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    """Excess area under the risk-coverage curve: :func:`aurc` less that of a perfect ranking of the same answers.

    Parameters
    ----------
    confidence, correct : array_like, shape (N,)
        In [0, 1]; N >= 1.
    weights : array_like, shape (N,), optional
        Frequency weights >= 0.

    Returns
    -------
    float
        In [0, 1]; 0 for a perfect ranking, also when all answers are correct or all are wrong.

    Raises
    ------
    ValueError
        As in :func:`auroc`.

    Notes
    -----
    The area of the perfect ranking is its finite sum, not the limit r + (1 - r) log(1 - r) of the source, Geifman,
    Uziel & El-Yaniv (2019).

    Examples
    --------
    >>> eaurc([0.5, 0.9], [1, 0])
    0.5
    """
    perfect = check_correct(correct)
    return max(0.0, aurc(confidence, correct, weights=weights) - aurc(perfect, perfect, weights=weights))


def thresholds(confidence: ArrayLike, correct: ArrayLike, weights: ArrayLike | None = None) -> Thresholds:
    """Check rows and sum them at each distinct confidence, from the highest down."""
    rows = check_rows(confidence, correct, weights=weights)
    value, place = distinct(rows.confidence)
    weight, right = sums(place, rows.weights), sums(place, rows.weights * rows.correct)
    return Thresholds(value[::-1], weight[::-1], right[::-1])
