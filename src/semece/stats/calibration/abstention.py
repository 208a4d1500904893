"""From which confidence on to answer, so that most answers are right."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, log
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from semece.stats.rows import Bools, Floats, Integers, check_count, check_level, check_rows


class Abstention(NamedTuple):
    """Where to abstain; without numbers if no threshold does.

    Parameters
    ----------
    threshold : float or None
        Answer where the confidence is at least this, in [0, 1].
    answered : int
        How many questions that are.
    coverage : float or None
        Their share of all questions asked, in (0, 1].
    accuracy : float or None
        Share of right answers among them.
    accuracy_low : float or None
        Lower confidence limit of it, one-sided; at least the target.
    reason : str or None
        Why there is no threshold.
    """

    threshold: float | None
    answered: int
    coverage: float | None
    accuracy: float | None
    accuracy_low: float | None
    reason: str | None


def fewest_answers(target: float, delta: float = 0.05) -> int:
    """Least number of answers, all right, that shows an accuracy of at least `target` with confidence 1 - `delta`.

    Examples
    --------
    >>> [fewest_answers(target) for target in (0.8, 0.9, 0.95)]
    [14, 29, 59]
    """
    return max(1, ceil(log(check_level(delta, name="delta")) / log(check_level(target, name="target")) - 1e-9))


def abstention_threshold(
    confidence: ArrayLike,
    correct: ArrayLike,
    *,
    target: float,
    delta: float = 0.05,
    steps: int = 20,
    min_answers: int | None = None,
    asked: int | None = None,
) -> Abstention:
    r"""Find the smallest threshold above which answers are right often enough, with a guarantee.

    The thresholds 1, 1 - 1/steps, ..., 0 are tried from the highest one that leaves enough answers on down, until one
    fails. A threshold holds if the Clopper-Pearson lower limit of the accuracy of the answers it leaves is at least the
    target. They are tried in an order fixed in advance, by the confidences alone; so the accuracy at the threshold that
    is returned is below the target with probability at most `delta`: fixed-sequence testing needs no correction.

    Parameters
    ----------
    confidence : array_like, shape (N,)
        In [0, 1]; N >= 1.
    correct : array_like, shape (N,)
        0 or 1.
    target : float
        Accuracy wanted among the answers, in (0, 1).
    delta : float
        Probability of a threshold that is too low, in (0, 1).
    steps : int
        Of the grid, >= 1.
    min_answers : int, optional
        Fewest answers at the first threshold tried; by default :func:`fewest_answers`, of which all must be right.
        Twice as many forgive a wrong one at the top, and find nothing where only the top is good enough. Choose it
        before you look at the correctness.
    asked : int, optional
        How many questions were asked, at least N: one that failed or was refused is not answered. By default N.

    Returns
    -------
    Abstention

    Raises
    ------
    ValueError
        For values outside the ranges, and correctness that is not 0 or 1.

    Notes
    -----
    The guarantee is for questions like these, drawn independently: one row per question. Confidences within 1e-9 of a
    threshold count as at it. Source: Clopper & Pearson (1934); fixed-sequence testing as in Angelopoulos et al. (2021),
    Learn then Test.

    Examples
    --------
    >>> found = abstention_threshold([0.95] * 60 + [0.3] * 40, [1] * 60 + [0] * 40, target=0.9)
    >>> found.threshold, found.answered, found.coverage, found.accuracy
    (0.35, 60, 0.6, 1.0)
    """
    rows = check_rows(confidence, correct, binary=True)
    needed = fewest_answers(target, delta)
    least = max(needed, check_count("min_answers", needed if min_answers is None else min_answers))

    def judged(kept: Bools) -> Threshold:
        right, n = rows.correct[kept].sum(), kept.sum()
        return Threshold(float(right / n), float(lower_limit(right[None], n[None], delta)[0]))

    return lowest_threshold(rows.confidence, judged, target=target, steps=steps, least=least, asked=asked)


class Threshold(NamedTuple):
    """Accuracy of the answers that a threshold leaves, and its lower confidence limit."""

    accuracy: float
    low: float


def lowest_threshold(
    confidence: Floats,
    judged: Callable[[Bools], Threshold],
    *,
    target: float,
    steps: int,
    least: int,
    asked: int | None,
) -> Abstention:
    """Try thresholds from the highest one that leaves `least` answers on down, until one fails.

    ``judged`` says of the answers that are left, a mask of shape (N,), how often they are right.
    """
    n_asked = len(confidence) if asked is None else check_count("asked", asked, least=len(confidence))
    last: Abstention | None = None
    for threshold in np.arange(check_count("steps", steps), -1, -1) / steps:
        kept = confidence >= threshold - 1e-9
        n = int(kept.sum())
        if n < least:
            continue
        accuracy, low = judged(kept)
        if low < target:
            few = f"of the {n} most confident answers, {100 * accuracy:.0f} % are right: not surely enough"
            return last or Abstention(None, 0, None, None, None, few)
        last = Abstention(float(threshold), n, n / n_asked, accuracy, low, None)
    reason = f"fewer than {least} answers cannot show an accuracy of {target:g}; got {len(confidence)}"
    return last or Abstention(None, 0, None, None, None, reason)


def lower_limit(right: Floats, answered: Integers, delta: float) -> Floats:
    """One-sided Clopper-Pearson lower limits of a share; 0 where none is right.

    Examples
    --------
    >>> lower_limit(np.array([29.0, 0.0]), np.array([29, 5]), 0.05).round(4).tolist()
    [0.9019, 0.0]
    """
    from scipy.special import betaincinv

    none = right <= 0
    return np.where(none, 0.0, betaincinv(np.where(none, 1.0, right), answered - right + 1, delta))
