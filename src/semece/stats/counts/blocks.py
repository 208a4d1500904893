"""Random blocks of many questions: which class is selected, and how large the largest count is.

Few questions are treated one by one in numpy; many by the compiled loops of :mod:`semece.stats.counts.kernels`,
question sizes and block sizes grouped, in pieces that bound the memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semece.stats.counts.polynomials import (
    Ties,
    binomial_weights,
    circle_points,
    gauss,
    poisson_weights,
    selection_table,
    subset_table,
)
from semece.stats.counts.ragged import BLOCK, Counts, per_question

if TYPE_CHECKING:
    from semece.stats.counts.kernels import Circle, Columns, Questions, Rows
    from semece.stats.rows import Floats, Integers

MOST_RESPONSES = 20_000
"""Responses of a question that can be treated exactly: above, one question takes minutes and gigabytes."""

MOST_WEIGHTS = 2**25
"""Classes of a population times responses that can be treated exactly: above, their weights take gigabytes."""

COMPILED_FROM = 1_000_000
"""Work from which compiled code pays, 400 questions of 50 responses: below, numpy is done before numba is loaded."""

TABLE_BYTES = 2**26
"""Most memory of one table of factors and ratios; a question that needs more is treated some columns at a time."""


class WeightSource(NamedTuple):
    """Where the weights of classes come from.

    ``distinct`` reduces values (counts or probabilities) to distinct ones in increasing order and their numbers;
    ``rows`` makes the weights of distinct ones and the norm. ``pool`` is M, or 0 for populations.
    """

    distinct: Callable[[Any], tuple[Any, Integers]]
    rows: Callable[[Any], tuple[Rows, float]]
    pool: int
    size: int
    n_points: int


class Piece(NamedTuple):
    """Questions ``first .. last - 1`` and what the kernels take for them."""

    questions: tuple[int, int]
    arguments: tuple[Rows, Columns, Circle, Questions]


class EqualQuestions(NamedTuple):
    """Questions with the same M and block size; ``places`` are those of their classes in the counts they came from."""

    questions: Integers | slice
    places: Integers | slice
    counts: Counts
    pool: int
    size: int


class Selection(NamedTuple):
    """What a random block selects.

    Parameters
    ----------
    probability : ndarray, shape (classes of all questions,)
        P(class is selected), aligned with ``Counts.values``; sums to 1 within a question.
    largest : ndarray, shape (Q,)
        Expected largest count in the block.
    selected : ndarray, shape (Q,)
        Expected count in the whole pool (or probability in the population) of the class that is selected. With
        uniform ties these are the same to the last bit for any order of a question's classes.
    """

    probability: Floats
    largest: Floats
    selected: Floats


def subset_selection(counts: Counts, sizes: int | Integers, *, ties: Ties = "uniform", calls: int = 1) -> Selection:
    """Select on random blocks drawn without replacement from each question's responses.

    Parameters
    ----------
    counts : Counts
        Q questions, each with at least one response.
    sizes : int or ndarray of int, shape (Q,)
        Size of the block, 1 <= size <= M.
    ties : {'uniform', 'lowest'}
        The rule for ties. Only 'uniform' is compiled.
    calls : int
        How many calls like this one are to come: the more, the sooner compiled code pays.

    Returns
    -------
    Selection

    Raises
    ------
    ValueError
        If a question has more than :data:`MOST_RESPONSES` responses.

    Examples
    --------
    >>> found = subset_selection(Counts.from_counts([[2, 1, 1], [2, 1]]), 2)
    >>> found.probability.round(6).tolist(), found.largest.round(6).tolist()
    ([0.5, 0.25, 0.25, 0.666667, 0.333333], [1.166667, 1.333333])
    """
    check_responses(counts)
    n = len(counts)
    out = Selection(np.zeros(len(counts.values)), np.zeros(n), np.zeros(n))
    compiled = ties == "uniform" and is_much(counts.responses, calls)
    for group in groups(counts, np.broadcast_to(np.asarray(sizes, dtype=np.int64), (n,))):
        if group.size == group.pool:
            found = _select_all(group.counts, ties)
        elif compiled:
            found = _select_compiled(group.counts.values, group.counts.offsets, subsets(group.pool, group.size))
        else:
            found = _select_subsets(group.counts, group.size, ties)
        out.probability[group.places] = found.probability
        out.largest[group.questions] = found.largest
        out.selected[group.questions] = found.selected
    return out


def subset_maximum(counts: Counts, size: int, *, calls: int = 1) -> Floats:
    """Distribution of the largest count in a random block drawn without replacement.

    Parameters
    ----------
    counts : Counts
        Q questions, each with at least ``size`` responses.
    size : int
        Size of the block, >= 1.
    calls : int
        As in :func:`subset_selection`.

    Returns
    -------
    ndarray, shape (Q, size + 1)
        P(largest count = j); rows sum to 1.

    Examples
    --------
    >>> subset_maximum(Counts.from_counts([[2, 1, 1]]), 2).round(6).tolist()
    [[0.0, 0.833333, 0.166667]]
    """
    check_responses(counts)
    out = np.zeros((len(counts), size + 1))
    compiled = is_much(counts.responses, calls)
    for questions, _, part, pool, _ in groups(counts, np.full(len(counts), size)):
        if size == pool:
            out[questions] = np.equal.outer(part.largest, np.arange(size + 1))
        elif compiled:
            out[questions] = _maximum_compiled(part, subsets(pool, size))
        else:
            out[questions] = _maximum_subsets(part, size)
    return out


def population_selection(pmf: Floats, size: int) -> Selection:
    r"""Select on ``size`` independent responses from populations with known class probabilities.

    Parameters
    ----------
    pmf : ndarray, shape (Q, K)
        Class probabilities; rows sum to 1, zeros stand for classes that do not occur.
    size : int
        Number of responses, >= 1.

    Returns
    -------
    Selection
        ``probability`` has shape (Q, K). ``largest / size`` is the exact expectation of Sem1, and ``selected`` that of
        Sem2 with a selection block of this size.

    Raises
    ------
    ValueError
        If there are more than :data:`MOST_RESPONSES` responses, or more than :data:`MOST_WEIGHTS` of them times classes
        that occur.

    Examples
    --------
    >>> found = population_selection(np.array([[0.75, 0.25]]), 2)
    >>> found.probability.round(6).tolist(), found.largest.round(6).tolist()
    ([[0.75, 0.25]], [1.625])
    """
    occurs = pmf > 0
    _check_population(int(occurs.sum(axis=1).max(initial=0)), size)
    offsets = np.concatenate([[0], np.cumsum(occurs.sum(axis=1))])
    if is_much(np.full(len(pmf), size), 1):
        found = _select_compiled(pmf[occurs], offsets, _populations(size))
    else:
        found = _select_populations(pmf[occurs], offsets, size)
    probability = np.zeros(pmf.shape)
    probability[occurs] = found.probability
    return found._replace(probability=probability)


def _check_population(n_classes: int, size: int) -> None:
    """Refuse populations that are too large to be treated exactly."""
    if size > MOST_RESPONSES:
        raise ValueError(f"a population can be treated exactly with at most {MOST_RESPONSES} responses; got {size}")
    if n_classes * size > MOST_WEIGHTS:
        raise ValueError(
            f"a population can be treated exactly with at most {MOST_WEIGHTS // size} classes at {size} responses; "
            f"got {n_classes}"
        )


def check_responses(counts: Counts) -> None:
    """Refuse questions that are too large to be treated exactly."""
    n_responses = counts.responses
    if n_responses.max(initial=0) > MOST_RESPONSES:
        q = int(n_responses.argmax())
        raise ValueError(
            f"a question must have at most {MOST_RESPONSES} responses to be averaged over all blocks; "
            f"got {n_responses[q]} (question {q})"
        )


def is_much(n_responses: Integers, calls: int) -> bool:
    """Decide whether compiled code pays; the work of a question grows with the square of its size."""
    return bool((n_responses.astype(np.float64) ** 2).sum() * calls >= COMPILED_FROM)


def groups(counts: Counts, sizes: Integers) -> Iterator[EqualQuestions]:
    """Gather questions with equal M and equal block size, some at a time."""
    n_responses = counts.responses
    if 0 < len(counts) <= _step(int(sizes[0])) and np.ptp(n_responses) == np.ptp(sizes) == 0:
        yield EqualQuestions(slice(None), slice(None), counts, int(n_responses[0]), int(sizes[0]))
        return
    width = int(sizes.max(initial=0)) + 1
    keys, group = np.unique(n_responses * width + sizes, return_inverse=True)
    order = np.argsort(group, kind="stable")
    ends = np.cumsum(np.bincount(group, minlength=len(keys)))
    for key, members in zip(keys.tolist(), np.split(order, ends)[:-1], strict=True):
        pool, size = divmod(key, width)
        for start in range(0, len(members), _step(size)):
            questions = members[start : start + _step(size)]
            part, places = counts.take(questions)
            yield EqualQuestions(questions, places, part, pool, size)


def _step(size: int) -> int:
    """How many questions to work on at once."""
    return max(1, min(BLOCK, TABLE_BYTES // (8 * (size + 1))))


def sorted_rows(values: NDArray[Any], offsets: Integers) -> Iterator[Integers]:
    """Places of each question's classes that occur, largest first: equal questions then give equal bits."""
    for first, last in pairwise(offsets.tolist()):
        order = np.argsort(-values[first:last], kind="stable")
        yield first + order[: np.count_nonzero(values[first:last])]


def _select_all(counts: Counts, ties: Ties) -> Selection:
    """Select on all responses."""
    chosen = counts.is_mode.astype(np.float64)
    if ties == "lowest":
        chosen = np.zeros(len(counts.values))
        chosen[counts.first_mode] = 1.0
    tied = per_question(np.add, chosen, counts.offsets)
    largest = counts.largest.astype(np.float64)
    return Selection(chosen / tied[counts.question], largest, largest)


def subset_tables(counts: Counts, size: int, ties: Ties = "uniform") -> Iterator[tuple[Integers, Floats]]:
    """Give each question's places and its table, one by one in numpy; questions with equal counts share a table."""
    for row in sorted_rows(counts.values, counts.offsets):
        places = np.sort(row) if ties == "lowest" else row
        yield places, _shared_table(counts.values[places].astype(np.int64).tobytes(), size, ties)


@lru_cache(maxsize=1024)
def _shared_table(values: bytes, size: int, ties: Ties) -> Floats:
    """Make the table of one question; other questions, and other commands of a study, have the same counts."""
    table = subset_table(np.frombuffer(values, dtype=np.int64), size, ties=ties)
    table.flags.writeable = False
    return table


def _select_subsets(counts: Counts, size: int, ties: Ties) -> Selection:
    out = Selection(np.zeros(len(counts.values)), np.zeros(len(counts)), np.zeros(len(counts)))
    for q, (places, table) in enumerate(subset_tables(counts, size, ties)):
        _write(out, q, places, table, counts.values[places])
    return out


def _maximum_subsets(counts: Counts, size: int) -> Floats:
    out = np.zeros((len(counts), size + 1))
    for q, (_, table) in enumerate(subset_tables(counts, size)):
        out[q, : table.shape[1]] = table.sum(axis=0)
    return out


def _select_populations(pmf: Floats, offsets: Integers, size: int) -> Selection:
    """Treat populations one by one in numpy."""
    n = len(offsets) - 1
    out = Selection(np.zeros(len(pmf)), np.zeros(n), np.zeros(n))
    sums = poisson_weights(size, 20 * size + 100)
    n_points = circle_points(size, sums)
    for q, places in enumerate(sorted_rows(pmf, offsets)):
        weights = [poisson_weights(size * p, size) for p in pmf[places].tolist()]
        _write(out, q, places, selection_table(weights, size, n_points=n_points) / sums[size], pmf[places])
    return out


def _write(out: Selection, q: int, places: Integers, table: Floats, values: NDArray[Any]) -> None:
    """Reduce the table of one question."""
    chances = table.sum(axis=1)
    out.probability[places] = chances
    out.largest[q] = table.sum(axis=0) @ np.arange(table.shape[1])
    out.selected[q] = chances @ values


def subsets(pool: int, size: int) -> WeightSource:
    """Weights of drawing ``size`` < ``pool`` without replacement."""
    from semece.stats.counts import kernels

    def distinct(values: Integers) -> tuple[Integers, Integers]:
        there = np.bincount(values) > 0
        return np.flatnonzero(there), (np.cumsum(there) - 1)[values]

    n_points = circle_points(size, binomial_weights(pool, size / pool))
    return WeightSource(distinct, lambda counts: kernels.subset_rows(counts, pool, size), pool, size, n_points)


def _populations(size: int) -> WeightSource:
    """Weights of independent draws."""
    from semece.stats.counts import kernels

    def distinct(values: Floats) -> tuple[Floats, Integers]:
        probabilities, number = np.unique(values, return_inverse=True)
        return probabilities, number.ravel()

    n_points = circle_points(size, poisson_weights(size, 20 * size + 100))
    return WeightSource(distinct, lambda pmf: kernels.population_rows(pmf, size), 0, size, n_points)


def _select_compiled(values: NDArray[Any], offsets: Integers, source: WeightSource) -> Selection:
    """Run the compiled selection piece by piece."""
    from semece.stats.counts import kernels

    n = len(offsets) - 1
    out = Selection(np.zeros(len(values)), np.zeros(n), np.zeros(n))
    for piece in pieces(values, offsets, source, 0, n):
        first, last = piece.questions
        classes = slice(offsets[first], offsets[last])
        found = kernels.Found(out.probability[classes], out.largest[first:last], out.selected[first:last])
        rows, columns, circle, questions = piece.arguments
        step = max(1, TABLE_BYTES // (32 * len(rows.certain) * (circle.n_points // 2 + kernels.LANES)))
        for at in range(0, max(len(columns.level), 1), step):
            part = slice(at, at + step)
            some = kernels.Columns(columns.level[part], columns.node[part], columns.share[part])
            kernels.select(rows, some, circle, questions, found)
            rows = rows._replace(certain=np.zeros_like(rows.certain))  # counted once
    return out


def _maximum_compiled(counts: Counts, source: WeightSource) -> Floats:
    """Run the compiled distribution piece by piece."""
    from semece.stats.counts import kernels

    level = np.arange(1, source.size // 2 + 1)
    columns = kernels.Columns(level, np.ones(len(level)), np.ones(len(level)))
    out = np.zeros((len(counts), source.size + 1))
    for piece in pieces(counts.values, counts.offsets, source, 0, len(counts)):
        first, last = piece.questions
        rows, _, circle, questions = piece.arguments
        kernels.cumulate(rows, columns, circle, questions, out[first:last])
    return out


def pieces(values: NDArray[Any], offsets: Integers, source: WeightSource, first: int, last: int) -> Iterator[Piece]:
    """Halve the questions until the table of factors and ratios fits; what the kernels need of each piece."""
    from semece.stats.counts import kernels

    inside = slice(offsets[first], offsets[last])
    distinct, number = source.distinct(values[inside])
    level, node, share = columns_of(source.size)
    begin = np.searchsorted(level, -(-source.size // int(np.diff(offsets[first : last + 1]).max())))
    n_cells = len(distinct) * (len(level) - begin) * (source.n_points // 2 + kernels.LANES)
    if 32 * n_cells > TABLE_BYTES and last - first > 1:
        half = (first + last) // 2
        yield from pieces(values, offsets, source, first, half)
        yield from pieces(values, offsets, source, half, last)
        return
    rows, norm = source.rows(distinct)
    columns = kernels.Columns(level[begin:], node[begin:], share[begin:])
    circle = kernels.Circle(source.n_points, source.size, norm, source.pool)
    questions = kernels.Questions(number, offsets[first : last + 1] - offsets[first], distinct.astype(np.float64))
    yield Piece((first, last), (rows, columns, circle, questions))


@lru_cache(maxsize=256)
def columns_of(size: int) -> tuple[Integers, Floats, Floats]:
    """Levels j <= size / 2 with their quadrature nodes and shares: at most ``size // j - 1`` rivals can tie at j.

    Examples
    --------
    >>> [array.round(6).tolist() for array in columns_of(4)]
    [[1, 1, 2], [0.211325, 0.788675, 0.5], [0.5, 0.5, 1.0]]
    """
    pairs = [(j, *gauss((size // j - 1) // 2 + 1)) for j in range(1, size // 2 + 1)]
    level = np.repeat([j for j, _, _ in pairs], [len(nodes) for _, nodes, _ in pairs]).astype(np.int64)
    nodes = np.concatenate([np.zeros(0), *[nodes for _, nodes, _ in pairs]])
    shares = np.concatenate([np.zeros(0), *[shares for _, _, shares in pairs]])
    for array in (level, nodes, shares):
        array.flags.writeable = False
    return level, nodes, shares
