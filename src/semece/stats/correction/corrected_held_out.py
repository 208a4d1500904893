r"""SemX-ECE and the held-out gap by a judge, corrected by people's verdicts on some of the deployed answers.

People saw the answer that most responses give; SemX needs the correctness of every class that can be selected. With f
the judge's verdict, w the chance that a class is selected in a bin, and h the held-out mass of the bin, the residual is

.. math:: \hat r_b = \bar h_b - \overline{w^{dep}_b f} - \sum_i \omega_i\, w^{dep}_{ib} (y_i - f_i)
          - \overline{\Bigl(\sum_{others} w_b \frac{f - \alpha}{1 - \alpha - \beta}\Bigr)}

The part of the deployed answers is unbiased however wrong the judge is. Of the other classes we assume that the judge
calls wrong ones correct as often (:math:`\alpha`), and misses right ones as often (:math:`\beta`), as those that people
judged (Rogan & Gladen 1978).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import ndtri

from semece.stats.correction.audited_sample import check_audited
from semece.stats.rows import check_level, sums
from semece.stats.uncertainty.held_out_errors import held_out_gap, semx_ece
from semece.stats.uncertainty.intervals import Interval, Residuals, debiased, residual_interval
from semece.stats.uncertainty.paired_errors import ErrorTerms, held_out_terms

if TYPE_CHECKING:
    from semece.stats.correction.audited_sample import Audited, AuditSample
    from semece.stats.estimators.semx import SemX
    from semece.stats.rows import Floats, Places, Seed
    from semece.stats.uncertainty.held_out_errors import HeldOutGap, SemXError

LEAST_SKILL = 0.2
"""Below this 1 - alpha - beta a judge says too little of the classes that people did not see."""


class HeldOutMasses(NamedTuple):
    """Chances of selection of N questions by bin; all have shape (N, L) but the last.

    Parameters
    ----------
    residual : ndarray
        SemX's residuals by the judge's verdicts.
    least : ndarray, shape (L,)
        Least variance of the mean residual of each bin.
    deployed : ndarray
        Chance that the deployed answer's class is selected in the bin.
    others, others_right : ndarray
        Chance that another class is, and that another class is that the judge calls correct.
    judge : ndarray, shape (N,)
        The judge's verdict on the deployed answer, 0 or 1.
    gap : HeldOutGap
        By the judge's verdicts.
    error : SemXError
        By the judge's verdicts.
    """

    residual: Floats
    least: Floats
    deployed: Floats
    others: Floats
    others_right: Floats
    judge: Floats
    gap: HeldOutGap
    error: SemXError


class CorrectedHeldOut(NamedTuple):
    """SemX-ECE and the held-out gap without the judge's errors.

    Parameters
    ----------
    gap, error : Interval
        Held-out gap, and SemX-ECE as a plug-in value.
    debiased : float
        SemX-ECE with less upward bias.
    """

    gap: Interval
    error: Interval
    debiased: float


def held_out_masses(every: SemX, deployed: SemX, right: SemX, judge: Floats) -> HeldOutMasses:
    """Put together what :func:`corrected_held_out` needs, from the residuals of the same counts with three gradings.

    Parameters
    ----------
    every : SemX
        With the judge's verdicts.
    deployed : SemX
        With only the deployed class 'correct'.
    right : SemX
        With only other classes 'correct', those that the judge calls so.
    judge : ndarray, shape (N,)
        The judge's verdict on the deployed answer of each question that enters.
    """
    terms = held_out_terms(every)
    held_out, chance = (_dense(every, getattr(every, name)) for name in ("held_out", "chance"))
    own, others_right = (held_out - _dense(each, each.value) for each in (deployed, right))
    by_judge = held_out_gap(every), semx_ece(every)
    return HeldOutMasses(terms.value, terms.least, own, chance - own, others_right, judge, *by_judge)


def _dense(residuals: SemX, values: Floats) -> Floats:
    """Lay values of the entries out, a row per question."""
    n, n_bins = len(residuals.questions), len(residuals.low)
    cell = np.searchsorted(residuals.questions, residuals.question) * n_bins + residuals.bin
    return sums(cell, values, n * n_bins).reshape(n, n_bins)


def corrected_held_out(
    masses: HeldOutMasses, audited: Audited, *, level: float = 0.95, rng: Seed = 0
) -> CorrectedHeldOut | None:
    """Correct SemX-ECE and the held-out gap for a judge's errors.

    Parameters
    ----------
    masses : HeldOutMasses
        Of N questions.
    audited : Audited
        The questions of which people judged the deployed answer.
    level : float
        In (0, 1); that of the intervals by the judge, which the corrected ones are never narrower than, is 0.95.
    rng : int or Generator
        Seed of the draws.

    Returns
    -------
    CorrectedHeldOut or None
        None where the audit has no right or no wrong answer, or the judge is hardly better than chance: then nothing
        is known of its errors on the other classes.

    Raises
    ------
    ValueError
        As :func:`semece.corrected_accuracy`.
    """
    sample = check_audited(audited, masses.judge)
    found = _corrected(masses, sample)
    if found is None:
        return None
    value, influence = found
    bins = masses.others.any(axis=0) | masses.deployed.any(axis=0)
    questions, audit = _question_covariance(masses, sample, influence), _audit_covariance(masses, sample, influence)
    residuals = Residuals(value[bins], (questions + audit)[np.ix_(bins, bins)])
    error = residual_interval(residuals, check_level(level), rng)
    z, gap, sign = float(ndtri(0.5 + level / 2)), float(value.sum()), np.sign(value)
    up = float(np.hypot(masses.error.high - masses.error.value, z * float(sign @ audit @ sign) ** 0.5))
    high = min(max(error.high, error.value + up), 1.0)
    plain, seen = z * float(questions.sum()) ** 0.5, z * float(audit.sum()) ** 0.5
    down, up = (
        float(np.hypot(max(plain, abs(end - masses.gap.value)), seen)) for end in (masses.gap.low, masses.gap.high)
    )
    ends = Interval(gap, max(gap - down, -1.0), min(gap + up, 1.0))
    sure = max(ends.low, -ends.high, 0.0)  # the error is no smaller than the gap; with one bin they are the same
    high = max(high, -ends.low, ends.high)
    low = sure if bins.sum() == 1 else max(error.low, sure)
    return CorrectedHeldOut(ends, Interval(error.value, low, high), max(debiased(residuals, rng), sure))


def corrected_held_out_terms(masses: HeldOutMasses, audited: Audited) -> ErrorTerms | None:
    """Give what the corrected SemX-ECE is made of, so that it can be compared: the means are the corrected residuals.

    As :func:`semece.stats.correction.corrected_outcomes` does it, each audited question's row holds what it adds.

    Parameters
    ----------
    masses : HeldOutMasses
        Of N questions.
    audited : Audited
        The questions of which people judged the deployed answer.

    Returns
    -------
    ErrorTerms or None
        Of N rows; None as in :func:`corrected_held_out`.
    """
    sample = check_audited(audited, masses.judge)
    found = _corrected(masses, sample)
    if found is None:
        return None
    value, influence = found
    rows = masses.residual.copy()
    rows[sample.place] += len(rows) * sample.weight[:, None] * influence
    return ErrorTerms(rows + (value - rows.mean(axis=0)), masses.least)


def _corrected(masses: HeldOutMasses, sample: AuditSample) -> tuple[Floats, Floats] | None:
    """Corrected residuals, shape (L,), and what each audited answer adds to them, shape (m, L); None if unknown."""
    weight, people, said = sample.weight, sample.people, sample.judge
    wrong, right = float(weight @ (1 - people)), float(weight @ people)
    if min(wrong, right) <= 0:
        return None
    alpha, beta = float(weight @ ((1 - people) * said)) / wrong, float(weight @ (people * (1 - said))) / right
    skill = 1 - alpha - beta
    if skill < LEAST_SKILL:
        return None
    others, called = masses.others.mean(axis=0), masses.others_right.mean(axis=0)
    moved = masses.deployed[sample.place] * sample.difference[:, None]
    better = (called - alpha * others) / skill
    value = masses.residual.mean(axis=0) - weight @ moved + called - better
    by_alpha, by_beta = others / skill - better / skill, -better / skill
    false_correct = (1 - people) * (said - alpha) / wrong
    missed = people * (1 - said - beta) / right
    return value, false_correct[:, None] * by_alpha + missed[:, None] * by_beta - moved


def _question_covariance(masses: HeldOutMasses, sample: AuditSample, influence: Floats) -> Floats:
    """Covariance over draws of questions; squares of residuals are corrected as residuals are."""
    n = len(masses.residual)
    covariance = np.atleast_2d(np.cov(masses.residual.T)) / max(n, 1)
    after, before = masses.residual[sample.place] + influence, masses.residual[sample.place]
    moved = sample.weight @ (after**2 - before**2) / n
    np.fill_diagonal(covariance, np.maximum(np.diag(covariance) + np.maximum(moved, 0.0), masses.least))
    return covariance


def _audit_covariance(masses: HeldOutMasses, sample: AuditSample, influence: Floats) -> Floats:
    """Covariance over draws of the audited answers; where no error was seen, that of a share of 1/(m + 2)."""
    shares = sample.sizes / sample.sizes.sum()
    covariance = np.zeros((influence.shape[1], influence.shape[1]))
    for h, (m, size) in enumerate(zip(sample.drawn, sample.sizes, strict=True)):
        inside: Places = np.flatnonzero(sample.stratum == h)
        deviation = influence[inside] - influence[inside].mean(axis=0)
        within = deviation.T @ deviation / max(m - 1, 1)
        if np.ptp(sample.difference[inside]) == 0:
            odd = 1 / (m + 2)
            mass = (masses.deployed + masses.others)[sample.place[inside]]
            within += odd * (1 - odd) * mass.T @ mass / m
        covariance += shares[h] ** 2 * (1 - m / size) / m * within
    return covariance
