"""What may be said of a run: each rule one function, from numbers and their intervals.

Two questions are kept apart. *Is this confidence calibrated?* is about Ver, Sem1 or Sem2 against the deployed answer:
an ECE and its interval. *Does the model know?* is about the model's own distribution against its chances of being
right, class by class: the held-out gap and SemX. Where only the deployed answer is graded there is the bracket,
E Sem2 <= c* <= E Sem1. How often each rule is wrong is in the documentation's benchmarks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from semece.stats.uncertainty.held_out_errors import HeldOutGap, SemXError
    from semece.stats.uncertainty.intervals import Interval

Verdict = Literal["over-confident", "under-confident"]
Hidden = Literal["miscalibrated", "right on average"]


def model_verdict(gap: HeldOutGap) -> Verdict | None:
    """Say whether the model is over- or under-confident, by the held-out gap.

    Parameters
    ----------
    gap : HeldOutGap
        From :func:`semece.held_out_gap`.

    Returns
    -------
    {'over-confident', 'under-confident'} or None
        None if the interval holds 0.

    Examples
    --------
    >>> from semece import held_out_gap, semx
    >>> model_verdict(held_out_gap(semx([[0, 0, 1, 0]] * 40, [[0, 1]] * 40)))
    'over-confident'
    """
    return _side(gap.low, gap.high)


def bracket_verdict(sem1_gap: Interval, sem2_gap: Interval) -> Verdict | None:
    """Say whether the model is over- or under-confident where only the deployed answer is graded.

    Over-confident only if mean Sem2, which is too low on average, is above the accuracy for sure; under-confident only
    if mean Sem1, which is too high, is below it. Conservative: at five answers it finds a gap of 0.12 in about half of
    the runs, and under-confidence hardly at all.

    Parameters
    ----------
    sem1_gap, sem2_gap : Interval
        Of mean Sem1 and of mean Sem2 minus accuracy, from :func:`semece.gap_interval`.

    Returns
    -------
    {'over-confident', 'under-confident'} or None

    Examples
    --------
    >>> from semece import gap_interval
    >>> correct = [1] * 30 + [0] * 70
    >>> bracket_verdict(gap_interval([0.8] * 100, correct), gap_interval([0.7] * 100, correct))
    'over-confident'
    """
    if sem2_gap.low > 0:
        return "over-confident"
    return "under-confident" if sem1_gap.high < 0 else None


def hidden_verdict(error: SemXError, gap: HeldOutGap) -> Hidden | None:
    """Say whether the model is miscalibrated where its average does not show it.

    Parameters
    ----------
    error : SemXError
        From :func:`semece.semx_ece`.
    gap : HeldOutGap
        Of the same residuals.

    Returns
    -------
    {'miscalibrated', 'right on average'} or None
        'miscalibrated' where the interval of SemX-ECE excludes 0 and that of the gap holds it; 'right on average' where
        moreover the interval of SemX-ECE lies above the size of every gap in the other one: only then the model is too
        sure of some answers and not sure enough of others. None also where the selection block has one response (two or
        three answers): then there is one bin and only an average can be seen.

    Examples
    --------
    >>> from semece import held_out_gap, semx, semx_ece
    >>> too_sure, not_sure_enough = [0, 0, 0, 0], [0, 1, 0, 1]
    >>> labels = [too_sure] * 160 + [not_sure_enough] * 120
    >>> residuals = semx(labels, [[0], [1]] * 80 + [[1, 1]] * 120)
    >>> hidden_verdict(semx_ece(residuals), held_out_gap(residuals))
    'right on average'
    """
    if error.n_select < 2 or error.low <= 0 or model_verdict(gap) is not None:
        return None
    return "right on average" if error.low > max(gap.high, -gap.low) else "miscalibrated"


def calibrated_within(error: Interval | SemXError) -> float:
    """Give the x of 'calibrated within x': the upper end of the interval of an ECE.

    Parameters
    ----------
    error : Interval or SemXError
        From :func:`semece.ece_interval` or :func:`semece.semx_ece`.

    Returns
    -------
    float
        In [0, 1]. It is the number that is to be named, however large.

    Examples
    --------
    >>> from semece import ece_interval
    >>> calibrated_within(ece_interval([0.5] * 400, [1, 0] * 200)) < 0.06
    True
    """
    return error.high


def _side(low: float, high: float) -> Verdict | None:
    """On which side of 0 an interval lies."""
    if low > 0:
        return "over-confident"
    return "under-confident" if high < 0 else None
