"""Many questions as a short table: distinct questions, and how often each occurs.

All that the statistics need of a question, if they do not join it with others, is the multiset of its classes, each
with its count and its grade, the number of responses that failed, and what was stated. Two million questions of 50
responses are some ten thousand distinct ones. Tables of parts add up to the table of the whole, exactly: everything in
them is an integer, but for sums of stated confidences, which are compared bit by bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semece.stats.counts.ragged import Counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semece.stats.rows import Bools, Floats, Integers, Places

GRADES = 4
"""How many things the answer of a class can be."""
WRONG, RIGHT, UNGRADED, NO_ANSWER = range(GRADES)
"""What it can be."""


class WeightedTable(NamedTuple):
    """Distinct questions and how often each occurs.

    Parameters
    ----------
    counts : Counts
        Classes of R distinct questions, the largest first.
    grades : ndarray of int, aligned with ``counts.values``
        What the answer of each class is: 0 wrong, 1 right, 2 without a grade, 3 no answer.
    failed : ndarray of int, shape (R,)
        Responses without a usable answer.
    stated : ndarray of int, shape (R,)
        How many responses state a confidence.
    stated_sum : ndarray, shape (R,)
        Sum of their confidences.
    group : ndarray of int, shape (R,)
        A number that questions may be told apart by, such as that of a slice; 0 where there is none.
    weights : ndarray of int, shape (R,)
        How many questions are like this one, at least 1.
    """

    counts: Counts
    grades: Integers
    failed: Integers
    stated: Integers
    stated_sum: Floats
    group: Integers
    weights: Integers

    @property
    def n_questions(self) -> int:
        """How many questions were counted."""
        return int(self.weights.sum())

    @property
    def n_answers(self) -> int:
        """How many responses with a usable answer were counted."""
        return int(self.counts.responses @ self.weights)

    @property
    def correct(self) -> Floats:
        """Correctness of each class, aligned with ``counts.values``; nan without a grade."""
        return np.where(self.grades == UNGRADED, np.nan, (self.grades == RIGHT).astype(np.float64))

    @property
    def refused(self) -> Bools:
        """Whether a class is no answer, aligned with ``counts.values``."""
        return np.asarray(self.grades == NO_ANSWER)

    @property
    def verbalized(self) -> Floats:
        """Mean stated confidence of each distinct question; nan where none is stated."""
        there = np.maximum(self.stated, 1)
        return np.where(self.stated > 0, self.stated_sum / there, np.nan)

    def take(self, rows: Places | Bools) -> WeightedTable:
        """Select distinct questions."""
        chosen = np.arange(len(self.weights))[rows]
        counts, places = self.counts.take(chosen)
        columns: list[Any] = [column[chosen] for column in self[2:]]
        return WeightedTable(counts, self.grades[places], *columns)


def partial(
    labels: Integers,
    offsets: Integers,
    grades: Integers,
    grade_offsets: Integers,
    *,
    stated: tuple[Integers, Floats] | None = None,
    group: Integers | None = None,
) -> WeightedTable:
    """Count the labels of some questions into a table.

    Parameters
    ----------
    labels : ndarray of int64, shape (responses of all questions,)
        Classes, question after question, from 0; below 0: a response without a usable answer.
    offsets : ndarray of int64, shape (Q + 1,)
        Question q has ``labels[offsets[q]:offsets[q + 1]]``.
    grades : ndarray of int64, shape (classes of all questions,)
        What the answer of each class is, by label: 0 wrong, 1 right, 2 without a grade, 3 no answer.
    grade_offsets : ndarray of int64, shape (Q + 1,)
        Question q has ``grades[grade_offsets[q]:grade_offsets[q + 1]]``. A class may be without responses.
    stated : tuple of ndarray, each of shape (Q,), optional
        How many confidences the responses of each question state, and their sum.
    group : ndarray of int64, shape (Q,), optional
        A number that questions are told apart by.

    Returns
    -------
    WeightedTable

    Raises
    ------
    ValueError
        A label has no place among the grades of its question.

    Examples
    --------
    >>> labels, offsets = np.array([0, 0, 1, 1, 0, 1]), np.array([0, 3, 6])
    >>> table = partial(labels, offsets, np.array([1, 0, 0, 1]), np.array([0, 2, 4]))
    >>> table.counts.values.tolist(), table.grades.tolist(), table.weights.tolist()
    ([2, 1], [1, 0], [2])
    """
    from semece.stats.counts import tally_kernels

    n = len(offsets) - 1
    codes, sizes, failed = np.empty(len(labels), np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)
    written = tally_kernels.count_codes(
        tally_kernels.LabelArrays(labels, offsets, grades, grade_offsets), codes, sizes, failed
    )
    if written < 0:
        q = -1 - written
        size, largest = np.diff(grade_offsets)[q], labels[offsets[q] : offsets[q + 1]].max()
        raise ValueError(f"labels of question {q} must be below its number of grades ({size}); got {largest}")
    counted, total = (np.zeros(n, np.int64), np.zeros(n)) if stated is None else stated
    keys = np.stack([failed, counted, total.view(np.int64), np.zeros(n, np.int64) if group is None else group], axis=1)
    return _distinct(codes[:written], np.concatenate([[0], np.cumsum(sizes)]), keys, np.ones(n, np.int64))


def merge(tables: Sequence[WeightedTable]) -> WeightedTable:
    """Add tables up; the table of the whole, whatever the order and the size of the parts.

    Parameters
    ----------
    tables : sequence of WeightedTable
        At least one.

    Returns
    -------
    WeightedTable

    Examples
    --------
    >>> one = partial(np.array([0, 0]), np.array([0, 2]), np.array([1]), np.array([0, 1]))
    >>> merge([one, one]).weights.tolist()
    [2]
    """
    codes = np.concatenate([t.counts.values * GRADES + t.grades for t in tables])
    sizes = np.concatenate([np.diff(t.counts.offsets) for t in tables])
    columns: list[Any] = [np.concatenate(column) for column in zip(*(t[2:] for t in tables), strict=True)]
    failed, stated, stated_sum, group, weights = columns
    keys = np.stack([failed, stated, stated_sum.view(np.int64), group], axis=1)
    return _distinct(codes, np.concatenate([[0], np.cumsum(sizes)]), keys, weights)


def _distinct(codes: Integers, offsets: Integers, keys: Integers, weights: Integers) -> WeightedTable:
    """Add up equal rows, in an order that depends on them alone."""
    from semece.stats.counts import tally_kernels

    n = len(weights)
    number, first = np.empty(n, np.int64), np.empty(n, np.int64)
    slots = np.full(1 << max(4, (2 * n).bit_length()), -1, np.int64)
    found = tally_kernels.number_rows(
        tally_kernels.RowKeys(codes, offsets, np.ascontiguousarray(keys)), number, first, slots
    )
    times = np.zeros(found, np.int64)
    np.add.at(times, number, weights)
    some, _ = Counts(codes, offsets).take(first[:found])
    order = _order(some, keys[first[:found]])
    coded, _ = some.take(order)
    failed, stated, total, group = keys[first[:found]][order].T.copy()
    counts = Counts(coded.values // GRADES, coded.offsets)
    return WeightedTable(counts, coded.values % GRADES, failed, stated, total.view(np.float64), group, times[order])


def _order(coded: Counts, keys: Integers) -> Places:
    """Sort rows by their codes and keys."""
    sizes = np.diff(coded.offsets)
    rows = np.zeros((int(sizes.max(initial=0)), len(coded)), dtype=np.int64)
    rows.T[np.arange(len(rows)) < sizes[:, None]] = coded.values
    return np.lexsort(np.concatenate([keys.T, rows[::-1]]))
