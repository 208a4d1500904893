"""Counts of many questions, end to end in one array."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from semece.stats.rows import Bools, Floats, Integers


Number = TypeVar("Number", bound=np.generic)

MOST_LABELS = 1_000_000
"""Labels index the classes of their question, so they stay below this."""

BLOCK = 65_536
"""Questions that are counted at once."""


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Class counts of many questions.

    Parameters
    ----------
    values : array_like of int, shape (classes of all questions,)
        Counts >= 0, question after question; within a question the index is the label.
    offsets : array_like of int, shape (Q + 1,)
        Question q has ``values[offsets[q]:offsets[q + 1]]``. It may have no class, and then no response.

    Raises
    ------
    ValueError
        If an array is not one-dimensional and integer, a count is negative, or the offsets do not cover the values.

    Examples
    --------
    >>> counts = Counts.from_labels([[0, 0, 1], [0, 1, 2, 0]])
    >>> counts.values.tolist(), counts.offsets.tolist(), counts.responses.tolist()
    ([2, 1, 2, 1, 1], [0, 2, 5], [3, 4])
    """

    values: Integers
    offsets: Integers

    def __post_init__(self) -> None:
        values, offsets = integers(self.values, "counts"), integers(self.offsets, "offsets")
        if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != len(values) or (np.diff(offsets) < 0).any():
            raise ValueError(f"offsets must rise from 0 to the number of counts ({len(values)}); got {offsets}")
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "offsets", offsets)

    @classmethod
    def from_labels(cls, labels: Sequence[ArrayLike] | NDArray[np.integer]) -> Counts:
        """Count the labels of Q questions.

        Parameters
        ----------
        labels : sequence of Q label sequences, or integer array of shape (Q, M)
            Classes of each question's responses, from 0.

        Returns
        -------
        Counts
            Class k of a question is its label k.

        Raises
        ------
        ValueError
            For labels that are no integers, negative, or a million and more.

        Examples
        --------
        >>> Counts.from_labels([[0, 2]]).values.tolist()
        [1, 0, 1]
        """
        if isinstance(labels, str | Mapping) or not (hasattr(labels, "__getitem__") and hasattr(labels, "__len__")):
            raise ValueError(f"labels must be a sequence of label sequences; got {type(labels).__name__}")
        parts = [_count(labels[i : i + BLOCK], i) for i in range(0, max(len(labels), 1), BLOCK)]
        sizes = np.concatenate([np.diff(part.offsets) for part in parts])
        return cls(np.concatenate([part.values for part in parts]), _offsets(sizes))

    @classmethod
    def from_counts(cls, counts: Sequence[ArrayLike] | NDArray[np.integer]) -> Counts:
        """Put the class counts of Q questions end to end.

        Examples
        --------
        >>> Counts.from_counts([[2, 1], [5]]).offsets.tolist()
        [0, 2, 3]
        """
        values, lengths = flatten(counts, "counts")
        return cls(values, _offsets(lengths))

    def __len__(self) -> int:
        """Count the questions."""
        return len(self.offsets) - 1

    @property
    def question(self) -> Integers:
        """Question of each class, shape of ``values``."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    @property
    def responses(self) -> Integers:
        """M of each question, shape (Q,)."""
        return per_question(np.add, self.values, self.offsets)

    @property
    def largest(self) -> Integers:
        """Largest count of each question, shape (Q,)."""
        return per_question(np.maximum, self.values, self.offsets)

    @property
    def second(self) -> Integers:
        """Second largest count of each question, 0 if there is one class; shape (Q,)."""
        rest = self.values.copy()
        rest[self.first_mode[self.responses > 0]] = 0
        return per_question(np.maximum, rest, self.offsets)

    @property
    def is_mode(self) -> Bools:
        """Whether a class has the largest count of its question, shape of ``values``."""
        return np.asarray((self.values > 0) & (self.values == self.largest[self.question]))

    @property
    def mode_weights(self) -> Floats:
        """Equal weights on the tied modes of each question."""
        modes = self.is_mode.astype(np.float64)
        return np.asarray(modes / per_question(np.add, modes, self.offsets)[self.question])

    @property
    def first_mode(self) -> Integers:
        """Position in ``values`` of the first class with the largest count of each question, shape (Q,)."""
        places = np.where(self.is_mode, np.arange(len(self.values)), len(self.values))
        return per_question(np.minimum, places, self.offsets)

    def take(self, questions: Integers) -> tuple[Counts, Integers]:
        """Select questions by number; also returns where their classes stand in ``values``.

        Examples
        --------
        >>> chosen, places = Counts.from_counts([[2, 1], [5], [3]]).take(np.array([2, 0]))
        >>> chosen.values.tolist(), places.tolist()
        ([3, 2, 1], [3, 0, 1])
        """
        if len(questions) == len(self) and (questions == np.arange(len(self))).all():
            return self, np.arange(len(self.values))
        sizes = np.diff(self.offsets)[questions]
        offsets = _offsets(sizes)
        places = np.repeat(self.offsets[questions] - offsets[:-1], sizes) + np.arange(offsets[-1])
        return Counts(self.values[places], offsets), places

    def distinct(self) -> tuple[Counts, Integers]:
        """Drop questions that repeat another's counts in any order; also returns the number of each question's own.

        Examples
        --------
        >>> different, number = Counts.from_counts([[2, 1], [3], [1, 2]]).distinct()
        >>> different.values.tolist(), number.tolist()
        ([2, 1, 3], [0, 1, 0])
        """
        sizes = np.diff(self.offsets)
        largest = int(self.values.max(initial=0))
        rows = np.zeros((len(self), int(sizes.max(initial=0))), dtype=np.min_scalar_type(-largest))
        rows[np.arange(rows.shape[1]) < sizes[:, None]] = -self.values
        rows.sort(axis=1)
        order = np.lexsort(rows.T) if rows.shape[1] else np.arange(len(self))
        rows = rows[order]
        is_new = np.append(True, (rows[1:] != rows[:-1]).any(axis=1))[: len(self)]
        number = np.zeros(len(self), dtype=np.int64)
        number[order] = np.cumsum(is_new) - 1
        different = rows[is_new]
        there = different < 0
        return Counts(-different[there].astype(np.int64), _offsets(there.sum(axis=1))), number


def integers(values: ArrayLike, name: str) -> Integers:
    """Check that ``values`` is one-dimensional, of integers, and >= 0; return it as int64.

    Examples
    --------
    >>> integers([1, -1], "counts")
    Traceback (most recent call last):
    ...
    ValueError: counts must be >= 0; got -1 at index 1
    """
    array = _array(values, name)
    if len(array) and array.min() < 0:
        raise ValueError(f"{name} must be >= 0; got {array.min()} at index {array.argmin()}")
    return array.astype(np.int64, copy=False)


def per_question(ufunc: np.ufunc, values: NDArray[Number], offsets: Integers) -> NDArray[Number]:
    """Reduce ``values`` (along the first axis) within each question; 0 for a question without classes.

    Examples
    --------
    >>> per_question(np.add, np.array([1, 2, 3]), np.array([0, 2, 2, 3])).tolist()
    [3, 0, 3]
    """
    out = np.zeros((len(offsets) - 1, *values.shape[1:]), dtype=values.dtype)
    there = np.diff(offsets) > 0
    if there.any():
        out[there] = ufunc.reduceat(values, offsets[:-1][there], axis=0)
    return out


def flatten(rows: Sequence[ArrayLike] | NDArray[np.integer], name: str, first: int = 0) -> tuple[Integers, Integers]:
    """Put the integer sequences of questions ``first``, ``first + 1``, ... end to end; also returns their lengths."""
    if isinstance(rows, np.ndarray) and rows.ndim == 2 and rows.dtype.kind in "iu":
        flat, lengths = rows.reshape(-1), np.full(len(rows), rows.shape[1])
    else:
        arrays = [_array(row, f"{name} of question {first + q}") for q, row in enumerate(rows)]
        flat = np.concatenate([np.zeros(0, dtype=np.int64), *arrays])
        lengths = np.array([len(array) for array in arrays], dtype=np.int64)
    if len(flat) and flat.min() < 0:
        place = int(flat.argmin())
        q = int(np.searchsorted(np.cumsum(lengths), place, side="right"))
        integers(flat[lengths[:q].sum() :][: lengths[q]], f"{name} of question {first + q}")
    return flat.astype(np.int64, copy=False), lengths


def _array(values: ArrayLike, name: str) -> Integers:
    """Check that ``values`` is one-dimensional and of integers."""
    try:
        array = np.asarray(values)
    except ValueError:  # numpy's word for a ragged nest
        array = np.empty((), dtype=object)
    if array.shape == (0,):
        return np.zeros(0, dtype=np.int64)
    rule = f"{name} must be a one-dimensional sequence of integers"
    if array.ndim != 1:
        raise ValueError(f"{rule}; got shape {array.shape}, dtype {array.dtype}")
    if array.dtype.kind in "iu":
        return array
    items = array.tolist()
    at = next((at for at, item in enumerate(items) if not _is_whole(item)), None)
    if at is not None:
        raise ValueError(f"{rule}; got {items[at]!r} at index {at}")
    if array.dtype.kind == "O" and all(isinstance(item, int | np.integer) for item in items):
        return array.astype(np.int64)
    raise ValueError(f"{rule}; got {items[0]!r} at index 0, dtype {array.dtype}: convert to int first")


def _is_whole(item: object) -> bool:
    """Whether an item is a whole number, of whatever type."""
    if isinstance(item, int | np.integer):
        return not isinstance(item, bool) and abs(int(item)) < 2**63
    return isinstance(item, float | np.floating) and float(item).is_integer()


def _count(labels: Sequence[ArrayLike] | NDArray[np.integer], first: int) -> Counts:
    """Count the labels of some questions, of which the first has number ``first``."""
    flat, lengths = flatten(labels, "labels", first)
    if len(flat) and flat.max() >= MOST_LABELS:
        raise ValueError(f"labels must be numbered from 0 and stay below {MOST_LABELS}; got {flat.max()}")
    classes = per_question(np.maximum, flat, _offsets(lengths)) + (lengths > 0)
    offsets = _offsets(classes)
    return Counts(np.bincount(flat + np.repeat(offsets[:-1], lengths), minlength=int(offsets[-1])), offsets)


def _offsets(sizes: Integers) -> Integers:
    """Where each question starts, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(sizes)])
