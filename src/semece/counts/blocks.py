"""Random blocks of many questions: which class is selected, and how large the largest count is.

Few questions are treated one by one in numpy; many by the compiled loops of :mod:`semece.kernels`, question sizes and
block sizes grouped, in pieces that bound the memory.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

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


Found: TypeAlias = "tuple[Floats, Floats]"
"""P(class selected), aligned with the classes, and the distribution of the largest count, shape (Q, size + 1)."""


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
    """

    probability: Floats
    largest: Floats


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
    out = Selection(np.zeros(len(counts.values)), np.zeros(len(counts)))
    sizes = np.broadcast_to(np.asarray(sizes, dtype=np.int64), (len(counts),))
    if ties == "uniform" and counts.responses.sum() >= COMPILED_FROM:
        for questions, pool, size in _groups(counts.responses, sizes):
            part, places = counts.take(questions)
            probability, mass = _compiled_subsets(part, pool, size)
            out.probability[places] = probability
            out.largest[questions] = mass @ np.arange(size + 1)
        return out
    for q, size in enumerate(sizes):
        table, places = _one(counts, q, int(size), ties)
        out.probability[places] = table.sum(axis=1)
        out.largest[q] = table.sum(axis=0) @ np.arange(table.shape[1])
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
    if counts.responses.sum() >= COMPILED_FROM:
        for questions, pool, _ in _groups(counts.responses, np.full(len(counts), size)):
            out[questions] = _compiled_subsets(counts.take(questions)[0], pool, size)[1]
        return out
    for q in range(len(counts)):
        table, _ = _one(counts, q, size, "uniform")
        out[q, : table.shape[1]] = table.sum(axis=0)
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
        ``probability`` has shape (Q, K). ``largest / size`` is the exact expectation of Sem1, and
        ``(probability * pmf).sum(axis=1)`` that of Sem2 with a selection block of this size.

    Examples
    --------
    >>> found = population_selection(np.array([[0.75, 0.25]]), 2)
    >>> found.probability.round(6).tolist(), found.largest.round(6).tolist()
    ([[0.75, 0.25]], [1.625])
    """
    occurs = pmf > 0
    offsets = np.concatenate([[0], np.cumsum(occurs.sum(axis=1))])
    out = Selection(np.zeros(pmf.shape), np.zeros(len(pmf)))
    if len(pmf) * size >= COMPILED_FROM:
        probability, mass = _compiled_populations(pmf[occurs], offsets, size)
        out.probability[occurs] = probability
        return Selection(out.probability, mass @ np.arange(size + 1))
    norm = poisson_weights(size, size)[size]
    for q, row in enumerate(pmf):
        weights = [poisson_weights(size * float(p), size) for p in row[occurs[q]]]
        n_points = circle_points(size, len(weights) * size, size)
        table = selection_table(weights, size, n_points=n_points) / norm
        out.probability[q, occurs[q]] = table.sum(axis=1)
        out.largest[q] = table.sum(axis=0) @ np.arange(size + 1)
    return out


def _one(counts: Counts, q: int, size: int, ties: Ties) -> tuple[Floats, Integers]:
    """Table of one question in plain numpy, and where its classes stand."""
    places = np.arange(counts.offsets[q], counts.offsets[q + 1])
    places = places[counts.values[places] > 0]
    return subset_table(counts.values[places], size, ties=ties), places


def _groups(pools: Integers, sizes: Integers) -> Iterator[tuple[Integers, int, int]]:
    """Questions with equal M and equal block size, some at a time."""
    width = int(sizes.max()) + 1
    keys, group = np.unique(pools * width + sizes, return_inverse=True)
    order = np.argsort(group, kind="stable")
    for key, questions in zip(keys, np.split(order, np.cumsum(np.bincount(group))[:-1]), strict=True):
        pool, size = divmod(int(key), width)
        step = max(1, min(BLOCK, TABLE_BYTES // (8 * (size + 1))))
        for start in range(0, len(questions), step):
            yield questions[start : start + step], pool, size


def _compiled_subsets(counts: Counts, pool: int, size: int) -> Found:
    """Treat questions with the same M."""
    from semece import kernels

    if size == pool:
        modes = counts.is_mode
        tied = per_question(np.add, modes.astype(np.float64), counts.offsets)
        return modes / tied[counts.question], np.equal.outer(counts.largest, np.arange(size + 1)).astype(np.float64)
    source = Source(_present, lambda present: kernels.subset_rows(present, pool, size))
    n_points = circle_points(size, pool, size * (1 - size / pool))
    return _in_pieces(counts.values, counts.offsets, source, size, n_points)


def _compiled_populations(pmf: Floats, offsets: Integers, size: int) -> Found:
    """Treat populations; no two classes share weights."""
    from semece import kernels

    source = Source(lambda p: (p, np.arange(len(p))), lambda p: kernels.population_rows(p, size))
    most = int(np.diff(offsets).max())
    return _in_pieces(pmf, offsets, source, size, circle_points(size, most * size, size))


def _present(values: Integers) -> tuple[Integers, Integers]:
    """Distinct counts, and the number of each value among them."""
    there = np.bincount(values) > 0
    return np.flatnonzero(there), (np.cumsum(there) - 1)[values]


def _in_pieces(values: NDArray[Any], offsets: Integers, source: Source, size: int, n_points: int) -> Found:
    """Halve the questions until the table of factors and ratios fits, then run the compiled loops."""
    from semece import kernels

    distinct, number = source.distinct(values)
    level, node, share = columns_of(size)
    first = np.searchsorted(level, -(-size // int(np.diff(offsets).max())))
    columns = kernels.Columns(level[first:], node[first:], share[first:])
    n_questions = len(offsets) - 1
    if 32 * len(distinct) * len(columns.level) * (n_points // 2 + kernels.LANES) > TABLE_BYTES and n_questions > 1:
        half = n_questions // 2
        cut = offsets[half]
        left = _in_pieces(values[:cut], offsets[: half + 1], source, size, n_points)
        right = _in_pieces(values[cut:], offsets[half:] - cut, source, size, n_points)
        return np.concatenate([left[0], right[0]]), np.concatenate([left[1], right[1]])
    rows, norm = source.rows(distinct)
    found = np.zeros(len(values)), np.zeros((n_questions, size + 1))
    circle = kernels.Circle(n_points, size, norm)
    kernels.select(rows, columns, circle, kernels.Questions(number, offsets), kernels.Found(*found))
    return found


@lru_cache(maxsize=256)
def columns_of(size: int) -> tuple[Integers, Floats, Floats]:
    """Levels j <= size / 2 with their quadrature nodes and shares: at most ``size // j - 1`` rivals can tie at j.

    Examples
    --------
    >>> [array.tolist() for array in columns_of(4)[:2]]
    [[1, 1, 2], [0.211324865405187..., 0.788675134594812..., 0.5]]
    """
    pairs = [(j, *gauss((size // j - 1) // 2 + 1)) for j in range(1, size // 2 + 1)]
    level = np.repeat([j for j, _, _ in pairs], [len(nodes) for _, nodes, _ in pairs]).astype(np.int64)
    nodes = np.concatenate([np.zeros(0), *[nodes for _, nodes, _ in pairs]])
    shares = np.concatenate([np.zeros(0), *[shares for _, _, shares in pairs]])
    for array in (level, nodes, shares):
        array.flags.writeable = False
    return level, nodes, shares
