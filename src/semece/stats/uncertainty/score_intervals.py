r"""How sure a Brier score, an AUROC and an area under the risk-coverage curve are.

Each moves smoothly with the weights of the rows. N times its derivative by the weight of a row is that row's
*influence*, and the spread of the influences is the spread of the number: they take the place of the residuals in the
interval of the held-out gap (:mod:`semece.stats.uncertainty.skewed_means`). The pseudo-questions, two right and two
wrong, have the mean influence of such a row over all confidences, so that the interval does not shrink to nothing where
nearly all answers are right.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq
from scipy.special import digamma, ndtri, polygamma

from semece.stats.calibration.bins import distinct
from semece.stats.rows import check_level, check_rows, sums
from semece.stats.uncertainty.intervals import Interval, widening
from semece.stats.uncertainty.skewed_means import Influence, influence_interval

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from semece.stats.rows import CheckedRows, Floats

EDGE = 1e-9
"""How near to 0 or 1 an AUROC counts as being there."""
UNKNOWN = Interval(float("nan"), float("nan"), float("nan"))
"""What there is of an AUROC where all answers are right or all are wrong."""


def brier_interval(
    confidence: ArrayLike,
    correct: ArrayLike,
    *,
    level: float = 0.95,
    ids: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> Interval:
    r"""Brier score with a skewness-corrected interval.

    Parameters
    ----------
    confidence, correct : array_like, shape (N,)
        In [0, 1]; N >= 1. ``correct`` may be soft: a row then counts as a share a of a right and 1 - a of a wrong one,
        and the interval is about the score as :func:`semece.brier` gives it.
    level : float
        In (0, 1).
    ids : array_like, shape (N,), optional
        Question of each row; without them every row is a question.
    weights : array_like, shape (N,), optional
        Frequency weights >= 0, whole numbers: how often a row occurs.

    Returns
    -------
    Interval
        In [0, 1], and it holds its value. With a single question the interval is [0, 1].

    Raises
    ------
    ValueError
        As in :func:`semece.brier`, and for a bad level.

    Notes
    -----
    The influence of a row is its squared difference. Source of the ends: Hall (1992). Measured coverage is in the
    documentation's benchmarks.

    Examples
    --------
    >>> [round(end, 3) for end in brier_interval([0.9] * 60 + [0.2] * 40, [1] * 40 + [0] * 60)]
    [0.182, 0.127, 0.251]
    """
    check_level(level)
    rows = check_rows(confidence, correct, weights=weights, ids=ids, whole=True)
    c, a = rows.confidence, rows.correct
    value = float(np.average((c - a) ** 2, weights=rows.weights))
    # (c - a)^2 is a (1 - c)^2 + (1 - a) c^2 less a (1 - a), which is 0 for binary correctness
    return _within(influence_interval(Influence(value, (1 - c) ** 2, c**2), rows, level))


def auroc_interval(
    confidence: ArrayLike,
    correct: ArrayLike,
    *,
    level: float = 0.95,
    ids: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> Interval:
    r"""AUROC with an interval that also holds where one kind of answers is rare.

    The outer ends of two intervals: the skewness-corrected one of the influences, which are DeLong's placements, and
    Newcombe's score interval: the :math:`\theta` with :math:`|A - \theta| \le z\, \sigma(\theta)`,

    .. math:: \sigma^2(\theta) = \frac{\theta(1 - \theta)}{mn} \Bigl[1 + \Bigl(\frac{m + n}{2} - 1\Bigr)
              \Bigl(\frac{1 - \theta}{2 - \theta} + \frac{\theta}{1 + \theta}\Bigr)\Bigr]

    for m right and n wrong answers, with ids divided by how much larger the variance of the influences is for them.

    Parameters
    ----------
    confidence, correct, level, ids, weights
        As in :func:`brier_interval`.

    Returns
    -------
    Interval
        In [0, 1], and it holds its value; nan if all answers are right or all are wrong. With a single question the
        interval is [0, 1].

    Raises
    ------
    ValueError
        As in :func:`semece.auroc`, and for a bad level.

    Notes
    -----
    Source: DeLong, DeLong & Clarke-Pearson (1988); Newcombe (2006), method 5; Hanley & McNeil (1982) for the variance.
    Measured coverage is in the documentation's benchmarks.

    Examples
    --------
    >>> [round(end, 3) for end in auroc_interval([0.9] * 60 + [0.2] * 40, [1] * 40 + [0] * 60)]
    [0.833, 0.733, 0.898]
    """
    check_level(level)
    rows = check_rows(confidence, correct, weights=weights, ids=ids, whole=True)
    right = float(rows.weights @ rows.correct)
    if not 0 < right < rows.weights.sum():
        return UNKNOWN
    influence = _auroc_influence(rows)
    found = influence_interval(influence, rows, level)
    low, high = _score_ends(influence, rows, level)
    return _within(found._replace(low=min(found.low, low), high=max(found.high, high)))


def aurc_interval(
    confidence: ArrayLike,
    correct: ArrayLike,
    *,
    level: float = 0.95,
    ids: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> Interval:
    r"""Area under the risk-coverage curve with a skewness-corrected interval.

    Parameters
    ----------
    confidence, correct, level, ids, weights
        As in :func:`brier_interval`.

    Returns
    -------
    Interval
        In [0, 1], and it holds its value. With a single question the interval is [0, 1].

    Raises
    ------
    ValueError
        As in :func:`semece.aurc`, and for a bad level.

    Notes
    -----
    The influence of a row is the exact derivative of :func:`semece.aurc` by its weight: what the row adds at its own
    confidence, and what it moves below. Measured coverage is in the documentation's benchmarks.

    Examples
    --------
    >>> [round(end, 3) for end in aurc_interval([0.9] * 60 + [0.2] * 40, [1] * 40 + [0] * 60)]
    [0.397, 0.286, 0.511]
    """
    check_level(level)
    rows = check_rows(confidence, correct, weights=weights, ids=ids, whole=True)
    return _within(influence_interval(_aurc_influence(rows), rows, level))


def _within(found: Interval) -> Interval:
    """Keep an interval in [0, 1], and its value inside."""
    value = min(max(found.value, 0.0), 1.0)
    return Interval(value, min(max(found.low, 0.0), value), max(min(found.high, 1.0), value))


def _auroc_influence(rows: CheckedRows) -> Influence:
    """Placements: the share of wrong answers below a right one, of right answers above a wrong one; ties are halves."""
    _, place = distinct(rows.confidence)
    right, wrong = (sums(place, rows.weights * part) for part in (rows.correct, 1 - rows.correct))
    below = (np.cumsum(wrong) - wrong / 2) / wrong.sum()
    above = (right.sum() - np.cumsum(right) + right / 2) / right.sum()
    value = float(right @ below / right.sum())
    share = right.sum() / rows.weights.sum()
    return Influence(value, ((below - value) / share)[place], ((above - value) / (1 - share))[place])


def _score_ends(influence: Influence, rows: CheckedRows, level: float) -> tuple[float, float]:
    """Solve for the ends of Newcombe's interval, with as many answers as are independent."""
    value, total = influence.value, float(rows.weights.sum())
    right = float(rows.weights @ rows.correct)
    z = float(ndtri(0.5 + level / 2)) * widening(rows.ids, level)
    alike = _design_effect(influence, rows)
    m, n = right / alike, (total - right) / alike

    def excess(theta: float) -> float:
        more = max((m + n) / 2 - 1, 0.0) * ((1 - theta) / (2 - theta) + theta / (1 + theta))
        return (value - theta) ** 2 - z**2 * theta * (1 - theta) / (m * n) * (1 + more)

    low = float(brentq(excess, 0.0, min(value, 1 - EDGE))) if value > EDGE else 0.0
    high = float(brentq(excess, max(value, EDGE), 1.0)) if value < 1 - EDGE else 1.0
    return low, high


def _design_effect(influence: Influence, rows: CheckedRows) -> float:
    """Find how much larger the variance is because rows share a question; at least 1."""
    if rows.ids is None:
        return 1.0
    psi = rows.weights * (rows.correct * influence.right + (1 - rows.correct) * influence.wrong)
    alone, together = float(psi @ psi), float((sums(rows.ids, psi) ** 2).sum())
    most = len(psi) / (int(rows.ids.max()) + 1)
    return max(together / alone, 1.0) if alone > 0 else most


def _aurc_influence(rows: CheckedRows) -> Influence:
    """Differentiate :func:`semece.aurc` by the weight of a right and of a wrong answer at each confidence.

    At each confidence, from the highest down: k rows and e0 errors above, m rows and e errors there. Its part of N
    times the area is (e0 - k e / m) (H(k + m) - H(k)) + e; what stands below moves with k and with e0.
    """
    _, place = distinct(rows.confidence)
    last = int(place.max())
    m, e = (sums(last - place, rows.weights * part) for part in (np.ones_like(rows.correct), 1 - rows.correct))
    k, e0 = np.cumsum(m) - m, np.cumsum(e) - e
    risk, ahead = e / m, e0 - k * e / m
    harmonic = digamma(k + m + 1) - digamma(k + 1)
    slope_there, slope_above = polygamma(1, k + m + 1), polygamma(1, k + 1)
    value = float((ahead * harmonic + e).sum() / m.sum())
    moved = -risk * harmonic + ahead * (slope_there - slope_above)
    right = k * risk / m * harmonic + ahead * slope_there + _below(moved) - value
    wrong = right + 1 - k / m * harmonic + _below(harmonic)
    return Influence(value, right[last - place], wrong[last - place])


def _below(values: Floats) -> Floats:
    """Sum what stands behind each place."""
    return np.asarray(values.sum() - np.cumsum(values))
