"""The loops behind :mod:`semece.stats.counts.weighted_table`, compiled by numba.

Import this module inside a function: it loads numba. With ``NUMBA_DISABLE_JIT=1`` the same code runs as Python.

A class is one integer, its *code*: the count times four plus what its answer is, 0 to 3. Codes of a question stand in
falling order, so questions with equal codes are alike in everything that no order of responses or classes decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from semece.stats.counts.kernels import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]


class LabelArrays(NamedTuple):
    """Labels and grades of questions, end to end: those of question q are ``[offsets[q]:offsets[q + 1]]``."""

    labels: Integers
    offsets: Integers
    grades: Integers
    grade_offsets: Integers


class RowKeys(NamedTuple):
    """Rows that may repeat: the codes of a question, and its further keys, ``keys[q]``."""

    codes: Integers
    offsets: Integers
    keys: Integers


@compiled
def count_codes(labelled: LabelArrays, codes: Integers, sizes: Integers, failed: Integers) -> int:
    """Count the labels of each question, and write the codes of its classes in falling order.

    A label below 0 is a response without a usable answer. ``codes`` has room for a class per label; question q gets
    ``sizes[q]`` of them, after those of the questions before it. Gives how many codes were written, or -1 - q where
    question q has a label without a grade's place.
    """
    labels, offsets, grades, grade_offsets = labelled
    top = 0
    for q in range(len(grade_offsets) - 1):
        top = max(top, grade_offsets[q + 1] - grade_offsets[q])
    counts = np.zeros(top + 1, dtype=np.int64)
    written = 0
    for q in range(len(offsets) - 1):
        n_classes = grade_offsets[q + 1] - grade_offsets[q]
        for at in range(offsets[q], offsets[q + 1]):
            label = labels[at]
            if label >= n_classes:
                return -1 - q
            if label < 0:
                failed[q] += 1
            else:
                counts[label] += 1
        start = written
        for label in range(n_classes):
            if counts[label] > 0:
                code = counts[label] * 4 + grades[grade_offsets[q] + label]
                counts[label] = 0
                place = written
                while place > start and codes[place - 1] < code:
                    codes[place] = codes[place - 1]
                    place -= 1
                codes[place] = code
                written += 1
        sizes[q] = written - start
    return written


@compiled
def number_rows(rows: RowKeys, number: Integers, first: Integers, slots: Integers) -> int:
    """Give equal rows one number, in the order in which they come first; returns how many there are.

    ``first[i]`` becomes the first row with number i. ``slots`` is a table of places, at least twice as many as rows, a
    power of 2, all -1.
    """
    codes, offsets, keys = rows
    found = 0
    mask = len(slots) - 1
    for q in range(len(offsets) - 1):
        start, size = offsets[q], offsets[q + 1] - offsets[q]
        mixed = np.uint64(14695981039346656037)
        for at in range(start, start + size):
            mixed = (mixed ^ np.uint64(codes[at])) * np.uint64(1099511628211)
            mixed ^= mixed >> np.uint64(29)
        for column in range(keys.shape[1]):
            mixed = (mixed ^ np.uint64(keys[q, column])) * np.uint64(1099511628211)
            mixed ^= mixed >> np.uint64(29)
        slot = np.int64(mixed >> np.uint64(17)) & mask
        while True:
            row = slots[slot]
            if row < 0:
                slots[slot] = found
                first[found] = q
                number[q] = found
                found += 1
                break
            other = first[row]
            same = offsets[other + 1] - offsets[other] == size
            at = 0
            while same and at < size:
                same = codes[offsets[other] + at] == codes[start + at]
                at += 1
            column = 0
            while same and column < keys.shape[1]:
                same = keys[other, column] == keys[q, column]
                column += 1
            if same:
                number[q] = row
                break
            slot = (slot + 1) & mask
    return found
