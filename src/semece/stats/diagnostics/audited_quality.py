"""How good a judge is over all questions, from those that people judged too."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from semece.stats.calibration.binned_errors import wilson
from semece.stats.correction.audited_sample import Audited, AuditSample, check_audited, variance
from semece.stats.diagnostics.judge_quality import NOTHING, cohen_kappa
from semece.stats.rows import Floats, check_correct, check_level
from semece.stats.uncertainty.bootstrap import MIN_QUESTIONS
from semece.stats.uncertainty.intervals import Interval

TINY = 1e-12


class AuditedQuality(NamedTuple):
    """How good a judge's verdicts are over all questions, from the audited ones; a number that cannot be had is nan.

    Parameters
    ----------
    agreement : Interval
        Share of the questions of which both say the same.
    kappa : Interval
        Cohen's kappa; nan if both call all answers correct or both call all incorrect. Its interval is nan below 30
        audited questions.
    precision : Interval
        Share of what the judge calls correct that people call correct.
    recall : Interval
        Share of what people call correct that the judge calls correct.
    false_correct : Interval
        Share of what people call incorrect that the judge calls correct.
    """

    agreement: Interval
    kappa: Interval
    precision: Interval
    recall: Interval
    false_correct: Interval


def audited_quality(judge: ArrayLike, audited: Audited, *, level: float = 0.95) -> AuditedQuality:
    r"""Say how good a judge's verdicts are over all questions, from those that people judged too.

    Audited questions count as many as they stand for, so strata that were drawn more densely do not weigh more.

    Parameters
    ----------
    judge : array_like, shape (N,)
        Correctness of every question by the judge, in [0, 1]; N >= 1.
    audited : Audited
        The questions that people judged. A verdict between 0 and 1 is that share of people who say correct.
    level : float
        In (0, 1).

    Returns
    -------
    AuditedQuality

    Raises
    ------
    ValueError
        As :func:`semece.corrected_accuracy`.

    Notes
    -----
    Shares are ratios of weighted sums, with the Wilson interval of as many answers as give the linearised variance.
    Kappa is taken as a function of the agreement alone, with a Wilson interval that has kappa's linearised variance.

    Examples
    --------
    >>> from semece.stats.correction import Audited
    >>> judge = [1] * 50 + [0] * 50
    >>> audited = Audited([0, 1, 2, 3, 50, 51], people=[1, 1, 1, 0, 0, 0], stratum=[0] * 4 + [1] * 2, sizes=[50, 50])
    >>> quality = audited_quality(judge, audited)
    >>> quality.precision.value, quality.agreement.value, quality.recall.value
    (0.75, 0.875, 1.0)
    """
    said = check_correct(judge)
    sample, n = check_audited(audited, said), len(said)
    f, y = sample.judge, sample.people
    same = f * y + (1 - f) * (1 - y)

    def share(part: Floats, whole: Floats) -> Interval:
        return _share(sample, part, whole, n, check_level(level))

    return AuditedQuality(
        agreement=share(same, np.ones_like(f)),
        kappa=_kappa(sample, n, check_level(level)),
        precision=share(f * y, f),
        recall=share(f * y, y),
        false_correct=share(f * (1 - y), 1 - y),
    )


def _share(sample: AuditSample, part: Floats, whole: Floats, n: int, level: float) -> Interval:
    """Ratio of two weighted sums, with the Wilson interval of the number of answers that gives its variance."""
    total = float(sample.weight @ whole)
    if total <= 0:
        return NOTHING
    share = float(sample.weight @ part) / total
    spread = variance(sample, (part - share * whole) / total, n)
    size = _size(share, spread, float(whole.sum()))
    low, high = wilson(np.float64(share), size, level)
    return Interval(share, float(low), float(high))


def _size(share: float, spread: float, audited: float) -> np.float64:
    """Count the independent answers that would give a share this variance: those audited if there is none to see."""
    single = share * (1 - share)
    return np.float64(single / spread if spread > TINY**2 and single > TINY else audited)


def _kappa(sample: AuditSample, n: int, level: float) -> Interval:
    """Cohen's kappa, with the Wilson interval of the agreement stretched to kappa's linearised variance."""
    f, y, w = sample.judge, sample.people, sample.weight
    cells = np.stack([f * y, f * (1 - y), (1 - f) * y, (1 - f) * (1 - y)])
    kappa = float(cohen_kappa(cells @ w))
    if np.isnan(kappa) or len(f) < MIN_QUESTIONS:
        return NOTHING._replace(value=kappa)
    same = cells[0] + cells[3]
    observed, by_judge, by_people = (float(w @ column) for column in (same, f, y))
    chance = by_judge * by_people + (1 - by_judge) * (1 - by_people)
    by_chance = (2 * by_people - 1) * f + (2 * by_judge - 1) * y
    influence = same - by_chance * (1 - observed) / (1 - chance)
    size = _size(observed, variance(sample, influence, n), float(len(f)))
    low, high = wilson(np.float64(observed), size, level)
    return Interval(kappa, max(float(low - chance) / (1 - chance), -1.0), float(high - chance) / (1 - chance))
