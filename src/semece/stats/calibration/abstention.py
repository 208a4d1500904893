"""From which confidence on to answer, so that most answers are right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import ceil, log
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from semece.stats.rows import (
    Bools,
    Floats,
    Integers,
    check_count,
    check_level,
    check_rows,
    check_same_length,
)
from semece.stats.written_numbers import decimal_text


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


class SliceThreshold(NamedTuple):
    """The threshold of one slice of the questions, and what it takes to find one.

    Parameters
    ----------
    answers : int
        Questions of the slice that have a confidence.
    needed : int
        Fewest of them, all right, that a threshold needs.
    judged : bool
        Whether there are so many. If not, the slice takes nothing from the others.
    found : Abstention
        The threshold. ``coverage`` is the share of the slice's questions that were asked.
    """

    answers: int
    needed: int
    judged: bool
    found: Abstention


def slice_thresholds(
    confidence: ArrayLike,
    correct: ArrayLike,
    slices: Sequence[str],
    *,
    target: float,
    delta: float = 0.05,
    steps: int = 20,
    asked: Mapping[str, int] | None = None,
) -> dict[str, SliceThreshold]:
    r"""Find a threshold for each slice of the questions, with one guarantee for all of them together.

    A slice is judged if it has as many answers as its share of `delta` takes: the k largest slices share it equally,
    and k is the largest number for which each of them has :func:`fewest_answers` (target, delta / k). That is decided
    by the numbers of answers alone. Each of them then has the threshold of :func:`abstention_threshold` at delta / k.

    Parameters
    ----------
    confidence, correct : array_like, shape (N,)
        As in :func:`abstention_threshold`.
    slices : sequence of str, length N
        Which slice a question is in.
    target, delta, steps
        As in :func:`abstention_threshold`; `delta` is the chance that the accuracy is below the target in **any** slice
        that has a threshold.
    asked : mapping of str to int, optional
        How many questions of each slice were asked; a slice none of whose questions has a confidence may be among them.
        By default those that have one.

    Returns
    -------
    dict of str to SliceThreshold
        The largest slice first; equal ones by name.

    Raises
    ------
    ValueError
        As in :func:`abstention_threshold`, and if a slice has more answers than questions asked.

    Notes
    -----
    Bonferroni's inequality over the slices that are judged. Choose the column before you look at the correctness.

    Examples
    --------
    >>> places = ["north"] * 100 + ["south"] * 80 + ["east"] * 20
    >>> found = slice_thresholds([0.95] * 200, [1] * 100 + [0] * 100, places, target=0.95)
    >>> [(name, each.needed, each.judged, each.found.threshold) for name, each in found.items()]
    [('north', 72, True, 0.0), ('south', 72, True, None), ('east', 80, False, None)]
    """
    rows = check_rows(confidence, correct, binary=True)
    names = np.asarray(slices, dtype=np.str_)
    check_same_length("confidence", rows.confidence, "slices", names)
    sizes = {**dict.fromkeys(asked or (), 0), **Counter(names.tolist())}
    ordered = sorted(sizes, key=lambda name: (-sizes[name], name))
    needs = [fewest_answers(target, delta / k) for k in range(1, len(ordered) + 1)]
    share = next((k for k, name in enumerate(ordered) if sizes[name] < needs[k]), len(ordered))
    found = {}
    for place, name in enumerate(ordered):
        needed = needs[share - 1 if place < share else share]
        reason = f"fewer than {needed} answers cannot show an accuracy of {target:g} here; got {sizes[name]}"
        threshold = Abstention(None, 0, None, None, None, reason)
        if place < share:
            kept, n = names == name, None if asked is None else asked.get(name, 0)
            c, a = rows.confidence[kept], rows.correct[kept]
            threshold = abstention_threshold(c, a, target=target, delta=delta / share, steps=steps, asked=n)
        found[name] = SliceThreshold(sizes[name], needed, place < share, threshold)
    return found


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
            few = f"of the {n} most confident answers, {decimal_text(100 * accuracy, 0)} % are right: not surely enough"
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
