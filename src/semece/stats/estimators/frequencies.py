r"""Class frequencies of a question's responses, and what is read off them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, overload

import numpy as np

from semece.stats.counts import Counts, integers, per_question
from semece.stats.estimators.count_arguments import Measure, OneRow, labels_or_counts, measure, questions
from semece.stats.rows import Floats, Integers, check_count


@measure
def sem1(counts: Counts) -> Floats:
    r"""Frequency of the most frequent class: the plug-in confidence.

    .. math:: \hat c_1 = \max_k c_k / M

    Parameters
    ----------
    labels : array_like of int, shape (M,)
        Class of each response of one question, numbered from 0.
    counts : array_like of int, shape (K,), or Counts
        Class counts instead, of one question or of many.

    Returns
    -------
    float, or ndarray of shape (Q,) for Counts
        In [1/K, 1]; 1 if M = 1.

    Raises
    ------
    ValueError
        If a question has no response, labels or counts are no integers >= 0, or not exactly one of them is given.

    Examples
    --------
    >>> sem1([0, 0, 1, 0])
    0.75
    >>> sem1(counts=Counts.from_counts([[3, 1], [2, 2]])).tolist()
    [0.75, 0.5]
    """
    return np.asarray(counts.largest / counts.responses)


@measure
def margin(counts: Counts) -> Floats:
    r"""Difference of the two largest frequencies, :math:`\Delta = (c_{(1)} - c_{(2)}) / M`; 1 if there is one class.

    Parameters, shapes and errors as in :func:`sem1`; in [0, 1]. This is also the first-second distance of Lyu et al.
    (2024), who use it as a confidence.

    Examples
    --------
    >>> margin([0, 0, 1, 0])
    0.5
    """
    return np.asarray((counts.largest - counts.second) / counts.responses)


@measure
def top_two_mass(counts: Counts) -> Floats:
    r"""Sum of the two largest frequencies, :math:`p = (c_{(1)} + c_{(2)}) / M`.

    Parameters, shapes and errors as in :func:`sem1`; in (0, 1].

    Examples
    --------
    >>> top_two_mass([0, 0, 1, 2])
    0.75
    """
    return np.asarray((counts.largest + counts.second) / counts.responses)


class SizedMeasure(Protocol):
    """A measure with the option ``n``."""

    @overload
    def __call__(self, labels: None = None, /, *, counts: Counts, n: int | None = None) -> Floats: ...
    @overload
    def __call__(self, labels: OneRow = None, /, *, counts: OneRow = None, n: int | None = None) -> float: ...


def _sized(many: Callable[..., Floats]) -> SizedMeasure:
    """Make a measure with the option ``n``."""
    return labels_or_counts(many)


@_sized
def standardized_margin(counts: Counts, *, n: int | None = None) -> Floats:
    r"""Margin in units of its noise, :math:`\tilde m = \Delta \sqrt{n / p}`.

    Parameters
    ----------
    labels, counts
        As in :func:`sem1`.
    n : int, optional
        Number of responses that the noise is that of, >= 1; by default M.

    Returns
    -------
    float, or ndarray of shape (Q,) for Counts
        In [0, sqrt(n)].

    Examples
    --------
    >>> standardized_margin([0, 0, 1, 0])
    1.0
    """
    size = counts.responses if n is None else check_count("n", n)
    return np.asarray(margin(counts=counts) * np.sqrt(size / top_two_mass(counts=counts)))


@_sized
def half_margin(counts: Counts, *, n: int | None = None) -> Floats:
    r"""Half the standardized margin, :math:`\tilde\lambda = \tilde m / 2`, the argument of the bias functions.

    Parameters, shapes and errors as in :func:`standardized_margin`.

    Examples
    --------
    >>> half_margin([0, 0, 1, 0])
    0.5
    """
    return standardized_margin(counts=counts, n=n) / 2


def _counting(many: Callable[[Counts], Integers]) -> Measure[int, Integers]:
    """Make a measure that counts."""
    return labels_or_counts(many)


@_counting
def n_classes(counts: Counts) -> Integers:
    """Count the observed classes, K; parameters, shapes and errors as in :func:`sem1`.

    Examples
    --------
    >>> n_classes([0, 0, 1, 0])
    2
    """
    return per_question(np.add, (counts.values > 0).astype(np.int64), counts.offsets)


def pmf(labels: OneRow = None, /, *, counts: OneRow | Counts = None) -> Floats:
    r"""Class frequencies :math:`\hat\pi_k = c_k / M`.

    Parameters and errors as in :func:`sem1`.

    Returns
    -------
    ndarray, shape (K,), or aligned with ``Counts.values``
        Index k is label k.

    Examples
    --------
    >>> pmf([0, 0, 1, 0]).tolist()
    [0.75, 0.25]
    """
    checked = questions(labels, counts)
    return np.asarray(checked.values / checked.responses[checked.question])


@overload
def mode(labels: None = None, /, *, counts: Counts) -> Integers: ...
@overload
def mode(labels: OneRow = None, /, *, counts: OneRow = None) -> int: ...
def mode(labels: OneRow = None, /, *, counts: OneRow | Counts = None) -> int | Integers:
    """Label of the most frequent class, the deployed answer.

    Of tied classes it is the one whose first response came earliest. Counts are taken to be listed by first
    appearance, so that this is the first of them.

    Parameters and errors as in :func:`sem1`.

    Returns
    -------
    int, or ndarray of shape (Q,) for Counts

    Examples
    --------
    >>> mode([1, 0, 0, 1])
    1
    >>> mode(counts=[2, 2])
    0
    """
    checked = questions(labels, counts)
    if labels is not None:
        values = integers(labels, "labels")
        return int(values[np.argmax(checked.is_mode[values])])
    first = checked.first_mode - checked.offsets[:-1]
    return first if isinstance(counts, Counts) else int(first[0])
