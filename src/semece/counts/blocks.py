"""Random blocks of many questions: which class is selected, and how large the largest count is.

Few questions are treated one by one in numpy; many by the compiled loops of :mod:`semece.kernels`, question sizes and
block sizes grouped, in pieces that bound the memory.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semece.counts.polynomials import circle_points, gauss, poisson_weights, selection_table, subset_table
from semece.counts.ragged import BLOCK, Counts, per_question

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from semece.counts.polynomials import Ties
    from semece.kernels import Rows

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

COMPILED_FROM = 20_000
"""Responses from which compiled code pays: below, numpy is done before numba is loaded."""

TABLE_BYTES = 2**26
"""Most memory of one table of factors and ratios, unless a single question needs more."""


class Found(NamedTuple):
    """P(class selected), aligned with the classes; P(largest count = j), shape (Q, size + 1); mean value selected."""

    probability: Floats
    mass: Floats
    selected: Floats


class Source(NamedTuple):
    """Where the weights of classes come from."""

    distinct: Callable[[Any], tuple[Any, Integers]]
    rows: Callable[[Any], tuple[Rows, float]]


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


def subset_selection(counts: Counts, sizes: int | Integers, *, ties: Ties = "uniform") -> Selection:
    """Select on random blocks drawn without replacement from each question's responses.

    Parameters
    ----------
    counts : Counts
        Q questions, each with at least one response.
    sizes : int or ndarray of int, shape (Q,)
        Size of the block, 1 <= size <= M.
    ties : {'uniform', 'lowest'}
        The rule for ties. Only 'uniform' is compiled.

    Returns
    -------
    Selection

    Examples
    --------
    >>> found = subset_selection(Counts.from_counts([[2, 1, 1], [2, 1]]), 2)
    >>> found.probability.round(6).tolist(), found.largest.round(6).tolist()
    ([0.5, 0.25, 0.25, 0.666667, 0.333333], [1.166667, 1.333333])
    """
    n = len(counts)
    out = Selection(np.zeros(len(counts.values)), np.zeros(n), np.zeros(n))
    for questions, places, found in _draws(counts, np.broadcast_to(np.asarray(sizes, dtype=np.int64), (n,)), ties):
        out.probability[places] = found.probability
        out.largest[questions] = found.mass @ np.arange(found.mass.shape[1])
        out.selected[questions] = found.selected
    return out


def subset_maximum(counts: Counts, size: int) -> Floats:
    """Distribution of the largest count in a random block drawn without replacement.

    Parameters
    ----------
    counts : Counts
        Q questions, each with at least ``size`` responses.
    size : int
        Size of the block, >= 1.

    Returns
    -------
    ndarray, shape (Q, size + 1)
        P(largest count = j); rows sum to 1.

    Examples
    --------
    >>> subset_maximum(Counts.from_counts([[2, 1, 1]]), 2).round(6).tolist()
    [[0.0, 0.833333, 0.166667]]
    """
    out = np.zeros((len(counts), size + 1))
    for questions, _, found in _draws(counts, np.full(len(counts), size), "uniform"):
        out[questions] = found.mass
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

    Examples
    --------
    >>> found = population_selection(np.array([[0.75, 0.25]]), 2)
    >>> found.probability.round(6).tolist(), found.largest.round(6).tolist()
    ([[0.75, 0.25]], [1.625])
    """
    occurs = pmf > 0
    offsets = np.concatenate([[0], np.cumsum(occurs.sum(axis=1))])
    compiled = len(pmf) * size >= COMPILED_FROM
    found = (_compiled_populations if compiled else _populations)(pmf[occurs], offsets, size)
    probability = np.zeros(pmf.shape)
    probability[occurs] = found.probability
    return Selection(probability, found.mass @ np.arange(size + 1), found.selected)


def _draws(counts: Counts, sizes: Integers, ties: Ties) -> Iterator[tuple[Integers, Integers, Found]]:
    """Questions with equal M and equal block size, some at a time; where their classes stand; what was found."""
    n_responses = counts.responses
    compiled = ties == "uniform" and n_responses.sum() >= COMPILED_FROM
    width = int(sizes.max(initial=0)) + 1
    keys, group = np.unique(n_responses * width + sizes, return_inverse=True)
    order = np.argsort(group, kind="stable")
    ends = np.cumsum(np.bincount(group, minlength=len(keys)))
    for key, members in zip(keys.tolist(), np.split(order, ends)[:-1], strict=True):
        pool, size = divmod(key, width)
        step = max(1, min(BLOCK, TABLE_BYTES // (8 * (size + 1))))
        for start in range(0, len(members), step):
            questions = members[start : start + step]
            part, places = counts.take(questions)
            if size == pool:
                found = _whole(part, size, ties)
            elif compiled:
                found = _compiled_subsets(part, pool, size)
            else:
                found = _subsets(part, size, ties)
            yield questions, places, found


def _whole(counts: Counts, size: int, ties: Ties) -> Found:
    """Treat blocks that hold all responses."""
    chosen = counts.is_mode.astype(np.float64)
    if ties == "lowest":
        chosen = np.zeros(len(counts.values))
        chosen[counts.first_mode] = 1.0
    tied = per_question(np.add, chosen, counts.offsets)
    mass = np.equal.outer(counts.largest, np.arange(size + 1)).astype(np.float64)
    return Found(chosen / tied[counts.question], mass, counts.largest.astype(np.float64))


def _subsets(counts: Counts, size: int, ties: Ties) -> Found:
    """Treat questions one by one in numpy."""
    found = Found(np.zeros(len(counts.values)), np.zeros((len(counts), size + 1)), np.zeros(len(counts)))
    for q in range(len(counts)):
        places = np.arange(counts.offsets[q], counts.offsets[q + 1])
        places = places[counts.values[places] > 0]
        if ties == "uniform":
            places = places[np.argsort(-counts.values[places], kind="stable")]
        c = counts.values[places]
        table = subset_table(c, size, ties=ties)
        found.probability[places] = table.sum(axis=1)
        found.mass[q, : table.shape[1]] = table.sum(axis=0)
        found.selected[q] = table.sum(axis=1) @ c
    return found


def _populations(pmf: Floats, offsets: Integers, size: int) -> Found:
    """Treat populations one by one in numpy."""
    n = len(offsets) - 1
    found = Found(np.zeros(len(pmf)), np.zeros((n, size + 1)), np.zeros(n))
    norm = poisson_weights(size, size)[size]
    for q in range(n):
        places = np.arange(offsets[q], offsets[q + 1])
        places = places[np.argsort(-pmf[places], kind="stable")]
        weights = [poisson_weights(size * p, size) for p in pmf[places].tolist()]
        n_points = circle_points(size, len(weights) * size, size)
        table = selection_table(weights, size, n_points=n_points) / norm
        found.probability[places] = table.sum(axis=1)
        found.mass[q] = table.sum(axis=0)
        found.selected[q] = table.sum(axis=1) @ pmf[places]
    return found


def _compiled_subsets(counts: Counts, pool: int, size: int) -> Found:
    """Treat questions with the same M > size."""
    from semece import kernels

    source = Source(_present, lambda present: kernels.subset_rows(present, pool, size))
    n_points = circle_points(size, pool, size * (1 - size / pool))
    return _in_pieces(counts.values, counts.offsets, source, size, n_points)


def _compiled_populations(pmf: Floats, offsets: Integers, size: int) -> Found:
    """Treat many populations."""
    from semece import kernels

    def distinct(values: Floats) -> tuple[Floats, Integers]:
        probabilities, number = np.unique(values, return_inverse=True)
        return probabilities, number.ravel()

    source = Source(distinct, lambda p: kernels.population_rows(p, size))
    most = int(np.diff(offsets).max())
    return _in_pieces(pmf, offsets, source, size, circle_points(size, most * size, size))


def _present(values: Integers) -> tuple[Integers, Integers]:
    """Distinct counts in increasing order, and the number of each value among them."""
    there = np.bincount(values) > 0
    return np.flatnonzero(there), (np.cumsum(there) - 1)[values]


def _in_pieces(values: NDArray[Any], offsets: Integers, source: Source, size: int, n_points: int) -> Found:
    """Halve the questions until the table of factors and ratios fits, then run the compiled loops."""
    from semece import kernels

    distinct, number = source.distinct(values)
    level, node, share = columns_of(size)
    first = np.searchsorted(level, -(-size // int(np.diff(offsets).max())))
    columns = kernels.Columns(level[first:], node[first:], share[first:])
    n = len(offsets) - 1
    if 32 * len(distinct) * len(columns.level) * (n_points // 2 + kernels.LANES) > TABLE_BYTES and n > 1:
        cut = offsets[n // 2]
        left = _in_pieces(values[:cut], offsets[: n // 2 + 1], source, size, n_points)
        right = _in_pieces(values[cut:], offsets[n // 2 :] - cut, source, size, n_points)
        return Found(*(np.concatenate(pair) for pair in zip(left, right, strict=True)))
    rows, norm = source.rows(distinct)
    circle = kernels.Circle(n_points, size, norm)
    questions = kernels.Questions(number, offsets, distinct.astype(np.float64))
    found = Found(np.zeros(len(values)), np.zeros((n, size + 1)), np.zeros(n))
    kernels.select(rows, columns, circle, questions, kernels.Found(*found))
    return found


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
