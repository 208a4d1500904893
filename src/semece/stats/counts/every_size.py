r"""Blocks of every size at once, for few questions: products of polynomials instead of one table per size.

In a block of m responses the largest count is j, of class k, with the chance

.. math:: \binom{c_k}{j}\, [x^{m - j}] \int_0^1 \prod_{l \ne k} \Bigl( \sum_{i < j} \binom{c_l}{i} x^i
          + y \binom{c_l}{j} x^j \Bigr) dy \Bigm/ \binom{M}{m}

The integral breaks ties uniformly, as in :mod:`semece.stats.counts.blocks`. All terms are positive, and one product has
the coefficients of all m. Classes with equal counts have equal factors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import comb

from semece.stats.counts.blocks import columns_of

if TYPE_CHECKING:
    from semece.stats.counts.ragged import Counts
    from semece.stats.rows import Floats, Integers

CELLS = 2**18
"""Most numbers in the factors of the questions that are treated together."""


class Blocks(NamedTuple):
    """Means over random blocks of m = 1 .. L responses; both of shape (Q, L).

    Parameters
    ----------
    largest : ndarray
        Of the largest count in the block.
    selected : ndarray
        Of the count that the class with the largest count has in all responses.
    """

    largest: Floats
    selected: Floats


def blocks_of_every_size(counts: Counts, most: int) -> Blocks:
    """Select on random blocks of 1 to ``most`` responses, unchecked; a question has at least as many.

    Examples
    --------
    >>> from semece.stats.counts import Counts
    >>> found = blocks_of_every_size(Counts.from_counts([[2, 1, 1]]), 3)
    >>> found.largest.round(6).tolist(), found.selected.round(6).tolist()
    ([[1.0, 1.166667, 1.5]], [[1.5, 1.5, 1.666667]])
    """
    value, times = _kinds(counts)
    step = max(1, CELLS // (value.shape[1] * len(_levels(most)[0]) * (most + 1)))
    parts = [_sums(value[at : at + step], times[at : at + step], most) for at in range(0, len(value), step)]
    every = comb(counts.responses[:, None], np.arange(1, most + 1))
    return Blocks(*(np.concatenate(part) / every for part in zip(*parts, strict=True)))


def _kinds(counts: Counts) -> tuple[Integers, Integers]:
    """Distinct counts of each question and how many classes have them, filled up with zeros; shape (Q, D)."""
    n = int(counts.values.max()) + 1
    key, many = np.unique(counts.question * n + counts.values, return_counts=True)
    question, value = np.divmod(key, n)
    some = value > 0
    question, value, many = question[some], value[some], many[some]
    place = np.arange(len(question)) - np.searchsorted(question, question)
    out = np.zeros((2, len(counts), int(place.max()) + 1), dtype=np.int64)
    out[:, question, place] = value, many
    return out[0], out[1]


def _levels(most: int) -> tuple[Integers, Floats, Floats]:
    """Levels j with their nodes and shares; above half of the largest block there are no ties."""
    level, node, share = columns_of(most)
    alone = np.arange(most // 2 + 1, most + 1)
    return np.append(level, alone), np.append(node, np.ones(len(alone))), np.append(share, np.ones(len(alone)))


def _sums(value: Integers, times: Integers, most: int) -> tuple[Floats, Floats]:
    """Add up over the blocks of every size the largest count, and the whole count of its class."""
    level, node, share = _levels(most)
    power = np.arange(most + 1)
    ways = comb(value[:, :, None], power)
    cut = (power < level[:, None]) + (power == level[:, None]) * node[:, None]
    factor = ways[:, :, None, :] * cut
    rest = _raised(factor, times - 1)
    whole = np.where((times > 0)[:, :, None, None], _product(rest, factor), power == 0)
    before, after = np.empty_like(whole), np.empty_like(whole)
    before[:, 0] = after[:, -1] = power == 0
    for kind in range(1, value.shape[1]):
        before[:, kind] = _product(before[:, kind - 1], whole[:, kind - 1])
        after[:, -kind - 1] = _product(after[:, -kind], whole[:, -kind])
    others = _product(_product(before, after), rest)
    weight = times[:, :, None] * ways[:, :, level] * share
    one = np.einsum("qdc,qdcm->qcm", weight * level, others)
    other = np.einsum("qdc,qdcm->qcm", weight * value[:, :, None], others)
    return _shifted(one, level), _shifted(other, level)


def _product(one: Floats, other: Floats) -> Floats:
    """Multiply polynomials along the last axis, up to its degree."""
    out = np.zeros(np.broadcast_shapes(one.shape, other.shape))
    n = int(out.shape[-1])
    for degree in range(n):
        out[..., degree:] += one[..., degree : degree + 1] * other[..., : n - degree]
    return out


def _raised(factor: Floats, exponent: Integers) -> Floats:
    """Raise the polynomials of each kind to its exponent, by squaring; 1 where it is not positive."""
    out = np.zeros_like(factor)
    out[..., 0] = 1.0
    flat, base = out.reshape(-1, *factor.shape[2:]), factor.reshape(-1, *factor.shape[2:])
    left, places = np.maximum(exponent.ravel(), 0), np.flatnonzero(exponent.ravel() > 0)
    base, left = base[places], left[places]
    while len(places):
        odd = left % 2 == 1
        flat[places[odd]] = _product(flat[places[odd]], base[odd])
        left = left // 2
        places, base, left = places[left > 0], base[left > 0], left[left > 0]
        base = _product(base, base)
    return out


def _shifted(sums: Floats, level: Integers) -> Floats:
    """Add the coefficients of x^(m - j) over the levels j, for m = 1 .. L."""
    most = sums.shape[-1] - 1
    out = np.zeros((len(sums), most))
    for column, j in enumerate(level.tolist()):
        out[:, j - 1 :] += sums[:, column, : most - j + 1]
    return out
