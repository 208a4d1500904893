"""Accuracy and calibration error by a judge, corrected."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from semece.stats.calibration.binned_errors import wilson
from semece.stats.calibration.bins import Bins, Closed, width_bins
from semece.stats.correction.audited_sample import Audited, AuditSample, check_audited, sampling_covariance
from semece.stats.rows import Bools, CheckedRows, Floats, Seed, check_correct, check_level, check_rows, sums
from semece.stats.uncertainty.held_out_errors import gap_interval
from semece.stats.uncertainty.intervals import (
    BinShares,
    Interval,
    Residuals,
    debiased,
    floor_variance,
    residual_interval,
)

MIN_AUDITED = 50
"""Below so many audited questions the interval of a corrected ECE may hold too seldom: there is only the accuracy."""
TINY = 1e-12


def corrected_accuracy(judge: ArrayLike, audited: Audited, *, level: float = 0.95) -> Interval:
    r"""Accuracy by a judge, corrected by people's verdicts on some questions.

    Parameters
    ----------
    judge : array_like, shape (N,)
        Correctness of every question by the judge, in [0, 1]; N >= 1.
    audited : Audited
        The questions that people judged.
    level : float
        In (0, 1).

    Returns
    -------
    Interval
        The corrected accuracy and its interval; all in [0, 1].

    Raises
    ------
    ValueError
        For values outside [0, 1], a place that is out of range or comes twice, a stratum without audited questions.

    Notes
    -----
    The estimate is unbiased; the value is that cut at 0 and 1. The ends lie as far away as the root of the sum of
    squared distances of Wilson intervals: that of the accuracy for N questions, and in each stratum, times
    :math:`(N_h / N)^2 (1 - m_h / N_h)`, those of the share that only people call correct and of the share that only the
    judge does. So a judge of which no error was seen is not taken to be perfect. With all questions audited this is
    :func:`semece.accuracy_interval` of people's verdicts. Source: Zou & Donner (2008) for the distances.

    Examples
    --------
    >>> from semece.stats.correction import Audited
    >>> judge = [1] * 80 + [0] * 20
    >>> audited = Audited(range(0, 100, 2), people=[1] * 35 + [0] * 15)
    >>> [round(end, 3) for end in corrected_accuracy(judge, audited)]
    [0.7, 0.575, 0.803]
    """
    said = check_correct(judge)
    sample = check_audited(audited, said)
    share = np.clip(said.mean() + sample.weight @ sample.difference, 0.0, 1.0)
    low, high = wilson(share, np.float64(len(said)), check_level(level))
    below, above = _squared_distances(sample, _can_differ(sample, said), level)
    low, high = share - np.sqrt((share - low) ** 2 + below), share + np.sqrt((high - share) ** 2 + above)
    return Interval(float(share), float(max(low, 0.0)), float(min(high, 1.0)))


def corrected_gap(confidence: ArrayLike, judge: ArrayLike, audited: Audited, *, level: float = 0.95) -> Interval:
    r"""Mean confidence minus the accuracy by a judge, corrected by people's verdicts on some questions.

    Parameters
    ----------
    confidence, judge : array_like, shape (N,)
        Confidence and correctness of every question, in [0, 1]; N >= 1.
    audited : Audited
        The questions that people judged.
    level : float
        In (0, 1).

    Returns
    -------
    Interval
        Positive: over-confident. The value is the mean confidence less :func:`corrected_accuracy`; in [-1, 1].

    Raises
    ------
    ValueError
        As :func:`corrected_accuracy`, and for unequal lengths.

    Notes
    -----
    The ends lie as far away as the root of the sum of two squared distances. The first is over draws of questions: the
    larger one of that of :func:`semece.gap_interval`, with people's verdicts where there are some, and of a normal one
    with a corrected variance. The second is over draws of the audited questions, that of :func:`corrected_accuracy`.

    Examples
    --------
    >>> from semece.stats.correction import Audited
    >>> audited = Audited(range(0, 100, 2), people=[1] * 35 + [0] * 15)
    >>> [round(end, 3) for end in corrected_gap([0.9] * 100, [1] * 80 + [0] * 20, audited)]
    [0.2, 0.089, 0.324]
    """
    rows = check_rows(confidence, judge)
    sample = check_audited(audited, rows.correct)
    share = np.clip(rows.correct.mean() + sample.weight @ sample.difference, 0.0, 1.0)
    value = float(rows.confidence.mean() - share)
    seen = rows.correct.copy()
    seen[sample.place] = np.clip(seen[sample.place] + sample.difference, 0.0, 1.0)
    plain = gap_interval(rows.confidence, seen, level=level)
    one = width_bins(rows.confidence, 1, "left").occupied()
    spread = float(ndtri(0.5 + level / 2)) * _question_covariance(rows, one, sample, np.array([-value]))[0, 0] ** 0.5
    up, down = _squared_distances(sample, _can_differ(sample, rows.correct), level)  # a lower accuracy is a larger gap
    below, above = (np.fmax(spread, abs(end - plain.value)) for end in (plain.low, plain.high))
    low, high = value - np.hypot(below, down**0.5), value + np.hypot(above, up**0.5)
    return Interval(value, float(max(low, -1.0)), float(min(high, 1.0)))


def corrected_outcomes(judge: ArrayLike, audited: Audited) -> Floats:
    r"""Correctness by a judge, moved at the audited questions so that its mean is the corrected accuracy.

    An audited question of stratum h gets :math:`f_i + (N_h / m_h)(y_i - f_i)`, every other one :math:`f_i`. The mean
    over any set of questions is then the corrected one, and the variance between questions holds what the audit leaves
    unsure. So whatever is a mean over questions can be compared, between runs too.

    Parameters
    ----------
    judge : array_like, shape (N,)
        Correctness of every question by the judge, in [0, 1].
    audited : Audited
        The questions that people judged.

    Returns
    -------
    ndarray, shape (N,)
        Values below 0 and above 1 are possible.

    Raises
    ------
    ValueError
        As :func:`corrected_accuracy`.

    Examples
    --------
    >>> from semece.stats.correction import Audited
    >>> corrected_outcomes([1, 1, 0, 0], Audited([0, 2], people=[0, 0])).tolist()
    [-1.0, 1.0, 0.0, 0.0]
    """
    said = check_correct(judge)
    sample = check_audited(audited, said)
    moved = said.copy()
    moved[sample.place] += len(said) * sample.weight * sample.difference
    return moved


def _can_differ(sample: AuditSample, judge: Floats) -> tuple[Bools, Bools]:
    """Whether, in each stratum, people alone could call an answer correct, and the judge alone.

    Where strata hold one verdict each, as their sizes tell, only one of the two. A question whose tied answers have
    both verdicts is in either.
    """
    said = sums(sample.stratum, sample.judge) / sample.drawn
    tied = np.count_nonzero((judge > 0) & (judge < 1))
    if np.isin(said, (0, 1)).all() and abs(sample.sizes @ said - judge.sum()) <= tied + TINY:
        return said < 1, said > 0
    return np.ones(len(said), dtype=bool), np.ones(len(said), dtype=bool)


def _squared_distances(sample: AuditSample, possible: tuple[Bools, Bools], level: float) -> tuple[float, float]:
    """Squared distances, downwards and upwards, of the mean difference to the ends of its interval."""
    m, d = sample.drawn, sample.difference
    only_people = sums(sample.stratum, np.maximum(d, 0.0)) / m
    only_judge = sums(sample.stratum, np.maximum(-d, 0.0)) / m
    people_low, people_high = _ends(only_people, m, possible[0], level)
    judge_low, judge_high = _ends(only_judge, m, possible[1], level)
    odds = only_people * only_judge / np.maximum((1 - only_people) * (1 - only_judge), TINY)
    scale = (sample.sizes / sample.sizes.sum()) ** 2 * (1 - m / sample.sizes)

    def together(first: Floats, second: Floats) -> float:
        return float(scale @ (first**2 + second**2 + 2 * np.sqrt(np.minimum(odds, 1.0)) * first * second))

    below = together(only_people - people_low, judge_high - only_judge)
    return below, together(people_high - only_people, only_judge - judge_low)


def _ends(share: Floats, m: Floats, possible: Bools, level: float) -> tuple[Floats, Floats]:
    """Wilson ends of a share in each stratum; none where there is nothing of the kind to find."""
    low, high = wilson(share, m, level)
    return np.where(possible, low, share), np.where(possible, high, share)


def corrected_ece(
    confidence: ArrayLike,
    judge: ArrayLike,
    audited: Audited,
    *,
    level: float = 0.95,
    n_bins: int = 10,
    closed: Closed = "left",
    rng: Seed = 0,
) -> Interval:
    r"""ECE by a judge, corrected by people's verdicts on some questions, with its interval.

    The residual of each bin is corrected as the accuracy is, and

    .. math:: V = V_{\text{questions}} + \sum_h \Bigl(\frac{N_h}{N}\Bigr)^2
              \Bigl(1 - \frac{m_h}{N_h}\Bigr) \frac{S_h}{m_h}

    with :math:`S_h` the covariance, within the stratum, of the differences by bin; one more answer on which people and
    the judge differ is added to it, spread over the bins, since a bin without a difference would show no variance. The
    interval is that of :func:`semece.ece_interval` with these residuals and this covariance.

    Parameters
    ----------
    confidence, judge : array_like, shape (N,)
        Confidence and correctness of every question, in [0, 1]; N >= 1.
    audited : Audited
        The questions that people judged; at least :data:`MIN_AUDITED` for an interval to rely on.
    level : float
        In (0, 1).
    n_bins, closed
        As in :func:`semece.ece`.
    rng : int or Generator
        Seed of the draws; equal input gives equal output.

    Returns
    -------
    Interval
        The plug-in value, biased upwards, and the more the fewer are audited; and the interval. In [0, 1].

    Raises
    ------
    ValueError
        As :func:`corrected_accuracy`, and for unequal lengths.

    Notes
    -----
    With all questions audited this is ``ece_interval`` of people's verdicts. Measured coverage is in the
    documentation's benchmarks.

    Examples
    --------
    >>> from semece.stats.correction import Audited
    >>> confidence, judge = [0.9] * 100 + [0.4] * 100, [1] * 90 + [0] * 10 + [1] * 40 + [0] * 60
    >>> audited = Audited(range(0, 200, 2), people=[1] * 30 + [0] * 20 + [1] * 20 + [0] * 30)
    >>> [round(end, 2) for end in corrected_ece(confidence, judge, audited)]
    [0.15, 0.05, 0.24]
    """
    rows = check_rows(confidence, judge)
    residuals = corrected_residuals(rows, width_bins(rows.confidence, n_bins, closed), audited)
    found = residual_interval(residuals, check_level(level), rng)
    return found._replace(value=min(found.value, 1.0))


def corrected_debiased_ece(
    confidence: ArrayLike,
    judge: ArrayLike,
    audited: Audited,
    *,
    n_bins: int = 10,
    closed: Closed = "left",
    rng: Seed = 0,
) -> float:
    """Corrected ECE with less upward bias, as :func:`semece.debiased_ece`.

    Parameters
    ----------
    confidence, judge : array_like, shape (N,)
        Confidence and correctness of every question, in [0, 1]; N >= 1.
    audited : Audited
        The questions that people judged.
    n_bins, closed
        As in :func:`semece.ece`.
    rng : int or Generator
        Seed of the draws.

    Returns
    -------
    float
        In [0, corrected ECE]. With a single question the corrected ECE itself.

    Raises
    ------
    ValueError
        As :func:`corrected_ece`.

    Examples
    --------
    >>> from semece.stats.correction import Audited
    >>> confidence, judge = [0.9] * 100, [1] * 95 + [0] * 5
    >>> audited = Audited(range(0, 100, 2), people=[1] * 46 + [0] * 4)
    >>> corrected_debiased_ece(confidence, judge, audited)
    0.0
    """
    rows = check_rows(confidence, judge)
    bins = width_bins(rows.confidence, n_bins, closed)
    return debiased(corrected_residuals(rows, bins, audited, floored=False), rng)


def corrected_residuals(rows: CheckedRows, bins: Bins, audited: Audited, *, floored: bool = True) -> Residuals:
    """Correct the binned residuals and estimate their covariance, for :func:`.residual_interval`.

    ``floored=False`` leaves out the variance given to bins and strata that show too little, as in
    :func:`semece.stats.uncertainty.intervals.residual_moments`.
    """
    sample, bins = check_audited(audited, rows.correct), bins.occupied()
    place, n, n_bins = bins.place[sample.place], len(rows.correct), len(bins.low)
    moved = sums(place + 1, sample.weight * sample.difference, n_bins + 1)[1:]
    value = bins.total(rows.correct - rows.confidence) / n + moved
    found = Residuals(value, _question_covariance(rows, bins, sample, value))
    if floored:
        count = bins.total(rows.weights)
        accuracy = np.clip((bins.total(rows.correct) + n * moved) / count, 0.0, 1.0)
        found = floor_variance(found, BinShares(bins.total(rows.confidence) / count, accuracy, count, count, float(n)))
    audit = sampling_covariance(sample, place, n_bins, pseudo=floored)
    return found._replace(covariance=found.covariance + audit)


def _question_covariance(rows: CheckedRows, bins: Bins, sample: AuditSample, value: Floats) -> Floats:
    """Covariance of the residuals over draws of questions; squares of residuals are corrected as residuals are.

    Where too little is audited a corrected square may be too small; it is at least what equal residuals of all
    questions of the bin would give.
    """
    n, c = len(rows.correct), rows.confidence
    before = (rows.correct - c) ** 2
    after = (rows.correct[sample.place] + sample.difference - c[sample.place]) ** 2
    place = bins.place[sample.place] + 1
    moved = sums(place, sample.weight * (after - before[sample.place]), len(bins.low) + 1)[1:]
    squares = np.maximum(bins.total(before) / n + moved, value**2 * n / bins.total(rows.weights))
    return np.asarray((np.diag(squares) - np.outer(value, value)) / (n - 1 if n > 1 else np.nan))
