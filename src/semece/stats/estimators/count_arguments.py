"""The door of the estimators: labels or counts, one question or many."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Protocol, TypeVar, cast, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semece.stats.counts import Counts, integers
from semece.stats.rows import Floats, Integers, check_count

OneRow = ArrayLike | None
"""Labels or counts of one question; None where the other of the two is given."""
One_co = TypeVar("One_co", covariant=True)
Many_co = TypeVar("Many_co", covariant=True)


class Measure(Protocol[One_co, Many_co]):
    """A function of one question's labels or counts, or of the counts of many."""

    @overload
    def __call__(self, labels: None = None, /, *, counts: Counts) -> Many_co: ...
    @overload
    def __call__(self, labels: OneRow = None, /, *, counts: OneRow = None) -> One_co: ...


def labels_or_counts(many: Callable[..., NDArray[Any]]) -> Callable[..., Any]:
    """Let a formula for the counts of many questions take labels or counts of one question, too.

    The function takes ``labels`` positionally or ``counts=``, and the formula's options by name. It gives a number for
    one question and an array of shape (Q,) for :class:`~semece.stats.counts.Counts`. It raises ValueError if a question
    has no response, or if not exactly one of the two arguments is given.
    """

    @functools.wraps(many)
    def function(labels: OneRow = None, /, *, counts: OneRow | Counts = None, **options: object) -> object:
        values = many(questions(labels, counts), **options)
        return values if isinstance(counts, Counts) else values[0].item()

    first, *options = inspect.signature(many).parameters.values()
    del function.__wrapped__  # inspect then shows what the function takes, not what the formula takes
    labels = inspect.Parameter("labels", first.POSITIONAL_ONLY, default=None, annotation="ArrayLike | None")
    counts = first.replace(kind=first.KEYWORD_ONLY, default=None, annotation="ArrayLike | Counts | None")
    function.__signature__ = inspect.Signature([labels, counts, *options])  # type: ignore[attr-defined]
    return function


def measure(many: Callable[[Counts], Floats]) -> Measure[float, Floats]:
    """Make a measure of a formula without options; see :func:`labels_or_counts`."""
    return labels_or_counts(many)


def questions(labels: OneRow, counts: OneRow | Counts) -> Counts:
    """Check labels or counts of one question, or counts of many; every question has a response.

    Raises
    ------
    ValueError
        If both or neither are given, or a question has no response.

    Examples
    --------
    >>> questions([0, 1, 0], None).values.tolist()
    [2, 1]
    """
    if (labels is None) == (counts is None):
        raise ValueError("give either labels or counts=; got " + ("neither" if labels is None else "both"))
    if isinstance(counts, Counts):
        checked = counts
    elif counts is not None:
        checked = Counts.from_counts([integers(counts, "counts")])
    else:
        checked = Counts.from_labels([integers(cast("ArrayLike", labels), "labels")])
    empty = checked.responses == 0
    if empty.any():
        where = f"question {int(empty.argmax())} has none" if checked is counts else "got none"
        raise ValueError(f"{'counts' if labels is None else 'labels'} must hold at least one response; {where}")
    return checked


def selection_sizes(counts: Counts, n_select: int | None, *, whole: bool = False) -> Integers:
    """Size of the selection block of each question, checked; ``whole`` allows all M responses.

    Raises
    ------
    ValueError
        If a question has fewer than two responses, or ``n_select`` is out of range for one.

    Examples
    --------
    >>> selection_sizes(questions(None, [3, 2]), None)
    array([2])
    """
    n_responses = counts.responses
    if n_responses.min(initial=2) < 2 and not whole:
        raise ValueError(f"a held-out frequency needs at least 2 responses; question {int(n_responses.argmin())} has 1")
    if n_select is None:
        return np.maximum(n_responses // 2, 1)
    size = check_count("n_select", n_select)
    most = n_responses if whole else n_responses - 1
    if (size > most).any():
        q = int((size > most).argmax())
        rule = f"n_select must be at most {most[q]} of the {n_responses[q]} responses"
        raise ValueError(f"{rule}; got {size} (question {q})")
    return np.full(len(counts), size)
