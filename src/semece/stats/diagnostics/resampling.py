"""Numbers of resampled questions, from which the intervals of the diagnostics come."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from semece.stats.uncertainty.bootstrap import DEFAULT, MIN_QUESTIONS, Resampling, check_resampling
from semece.stats.uncertainty.intervals import Interval

if TYPE_CHECKING:
    from semece.stats.rows import Floats, Places


def resampled_values(
    function: Callable[[Floats, Floats], float],
    sides: Sequence[tuple[Floats, Floats]],
    resampling: Resampling,
    ids: ArrayLike | None = None,
) -> Floats:
    """Give numbers that are no sums of terms, on resampled questions.

    Parameters
    ----------
    function : callable
        Given confidence and correctness, arrays of shape (N,), gives a number.
    sides : sequence of (ndarray, ndarray)
        Confidence and correctness of the same rows, once or several times.
    resampling : Resampling
        Replicates and seed.
    ids : array_like, shape (N,), optional
        Question of each row; without them every row is a question.

    Returns
    -------
    ndarray, shape (n_resamples, len(sides))
        All sides share the draws.

    Examples
    --------
    >>> from semece.stats.uncertainty.bootstrap import Resampling
    >>> side = np.full(5, 0.5), np.ones(5)
    >>> resampled_values(lambda c, a: (a - c).mean(), [side], Resampling(n_resamples=2)).tolist()
    [[0.5], [0.5]]
    """
    draws = _drawn_rows(len(sides[0][1]), ids, resampling)
    return np.array([[function(c[rows], a[rows]) for c, a in sides] for rows in draws])


def _drawn_rows(n: int, ids: ArrayLike | None, resampling: Resampling) -> Iterator[Places]:
    """Draw questions with replacement; the rows of one come together."""
    n_resamples, _, generator = check_resampling(resampling)
    unit = np.arange(n) if ids is None else np.unique(np.asarray(ids), return_inverse=True)[1]
    order, sizes = np.argsort(unit, kind="stable"), np.bincount(unit)
    starts = np.cumsum(sizes) - sizes
    for _ in range(n_resamples):
        drawn = generator.integers(0, len(sizes), len(sizes))
        ends = np.cumsum(sizes[drawn])
        yield order[np.arange(ends[-1]) - np.repeat(ends - sizes[drawn] - starts[drawn], sizes[drawn])]


def resampled_interval(
    function: Callable[[Floats, Floats], float],
    confidence: Floats,
    correct: Floats,
    *,
    ids: ArrayLike | None = None,
    resampling: Resampling = DEFAULT,
) -> Interval:
    """Give a number of confidence and correctness with its percentile interval over resampled questions.

    Right for a number that is smooth in the data, such as a Brier score; a distance near zero needs an interval of its
    own (:func:`semece.ece_interval`).

    Parameters
    ----------
    function : callable
        Given confidence and correctness, gives a number.
    confidence, correct : ndarray, shape (N,)
        In [0, 1].
    ids : array_like, shape (N,), optional
        Question of each row; without them every row is a question.
    resampling : Resampling
        Replicates, level and seed.

    Returns
    -------
    Interval
        nan at both ends for fewer than 30 questions, and where some resample does not have the number.

    Examples
    --------
    >>> found = resampled_interval(lambda c, a: float(a.mean()), np.full(100, 0.5), np.arange(100) % 2)
    >>> found.value, round(found.low, 1), round(found.high, 1)
    (0.5, 0.4, 0.6)
    """
    value = function(confidence, correct)
    if len(np.unique(np.arange(len(correct)) if ids is None else np.asarray(ids))) < MIN_QUESTIONS:
        return Interval(value, float("nan"), float("nan"))
    check_resampling(resampling)
    values = resampled_values(function, [(confidence, correct)], resampling, ids)[:, 0]
    low, high = resampling.ends_around(value, values)
    return Interval(float(value), float(low), float(high))
