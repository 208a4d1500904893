r"""Which class a random block selects: the exact probabilities, as coefficients of products of polynomials.

A block of ``total`` items is drawn; class k has some of them, the class with most is selected, and ties are broken
either uniformly at random or in favour of the lowest index. Given one array of weights :math:`w_k(i)` per class, the
probability of a configuration is proportional to :math:`\prod_k w_k(n_k)` on :math:`\sum_k n_k = total`:

* weights :math:`\mathrm{Binomial}(c_k, s/M)` give a draw without replacement from a pool with counts :math:`c_k`,
* weights :math:`\mathrm{Poisson}(n \pi_k)` give a multinomial draw from a population :math:`\pi`.

Everything is a coefficient of a product of polynomials. It is read off the product's values on the unit circle, which
costs as many products as there are points and has no subtraction of large numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from semece.stats.rows import Floats, Integers


Complexes = NDArray[np.complex128]
Ties = Literal["uniform", "lowest"]
"""How a tie for the most frequent class is broken: at random, or in favour of the lowest index."""

NODE_CELLS = 2**18
"""Numbers that are worked on at once in one quadrature."""


@lru_cache(maxsize=4096)
def binomial_weights(count: int, probability: float) -> Floats:
    r"""Probabilities of 0..count successes, accurate to a few units in the last place.

    Parameters
    ----------
    count : int
        Number of trials, >= 0.
    probability : float
        Chance of a success, in [0, 1].

    Returns
    -------
    ndarray, shape (count + 1,)
        :math:`\binom{c}{i} p^i (1-p)^{c-i}`. Built outwards from the mode and divided by its sum, so that neither
        logarithms nor factorials cost digits.

    Examples
    --------
    >>> binomial_weights(2, 0.5).tolist()
    [0.25, 0.5, 0.25]
    """
    weights = np.ones(count + 1)
    if probability in {0.0, 1.0}:
        weights[np.arange(count + 1) != count * probability] = 0.0
        return _kept(weights)
    mode = min(count, int((count + 1) * probability))
    up = np.arange(mode + 1, count + 1)
    down = np.arange(mode, 0, -1)
    odds = probability / (1.0 - probability)
    weights[mode + 1 :] = np.cumprod((count - up + 1) / up * odds)
    weights[:mode] = np.cumprod(down / (count - down + 1) / odds)[::-1]
    return _kept(weights / weights.sum())


def _kept(weights: Floats) -> Floats:
    """Protect what is given to several who ask for it."""
    weights.flags.writeable = False
    return weights


def poisson_weights(mean: float, top: int) -> Floats:
    r"""Poisson probabilities of 0..top, accurate to a few units in the last place.

    Parameters
    ----------
    mean : float
        >= 0, and at most ``top``.
    top : int
        Last value, >= 0.

    Returns
    -------
    ndarray, shape (top + 1,)
        :math:`e^{-\lambda} \lambda^i / i!`, built outwards from the mode and divided by the sum over all values.

    Examples
    --------
    >>> poisson_weights(0.0, 2).tolist()
    [1.0, 0.0, 0.0]
    """
    mode = int(mean)
    beyond = int(12 * np.sqrt(mean)) + 40
    up = np.cumprod(mean / np.arange(mode + 1, max(top, mode + beyond) + 1))
    down = np.cumprod(np.arange(mode, 0, -1) / mean)[::-1] if mode else np.zeros(0)
    weights = np.concatenate([down, [1.0], up])
    return np.asarray(weights[: top + 1] / weights.sum())


def circle_points(total: int, sums: Floats) -> int:
    """How many points of the unit circle give the coefficient of ``x**total`` without visible aliasing.

    n points give the sum of the coefficients at ``total``, ``total`` +- n, ``total`` +- 2n, ... None of them exceeds
    that of the product of the complete polynomials, so points can stop where those are negligible.

    Parameters
    ----------
    total : int
        Index of the wanted coefficient.
    sums : ndarray
        Coefficients of the product of the complete polynomials: for binomial weights
        ``binomial_weights(M, total / M)``, for Poisson weights ``poisson_weights(total, ...)``. They fall on both sides
        of ``total``.

    Returns
    -------
    int
        An odd number.

    Examples
    --------
    >>> circle_points(25, binomial_weights(50, 0.5)), circle_points(500, binomial_weights(1000, 0.5))
    (27, 141)
    """
    visible = np.flatnonzero(sums > 1e-17 * sums[total])
    return int(max(total - visible[0], visible[-1] - total) + 1) | 1


@lru_cache(maxsize=1024)
def gauss(n_nodes: int) -> tuple[Floats, Floats]:
    """Gauss-Legendre nodes and weights on [0, 1], exact for polynomials up to degree ``2 * n_nodes - 1``.

    By Newton's method on the Legendre polynomial: numpy's nodes lose two digits at some hundred nodes, and a polynomial
    of degree 1,000 shows that.

    Examples
    --------
    >>> [a.round(12).tolist() for a in gauss(2)]
    [[0.211324865405, 0.788675134595], [0.5, 0.5]]
    """
    x = -np.cos(np.pi * (np.arange(n_nodes) + 0.75) / (n_nodes + 0.5))
    for _ in range(6):
        value, slope = _legendre(n_nodes, x)
        x = x - value / slope
    slope = _legendre(n_nodes, x)[1]
    nodes, shares = (x + 1) / 2, 1 / ((1 - x * x) * slope * slope)
    nodes.flags.writeable = shares.flags.writeable = False
    return nodes, shares


def _legendre(degree: int, x: Floats) -> tuple[Floats, Floats]:
    """Legendre polynomial and its derivative inside (-1, 1)."""
    before, value = np.ones_like(x), x
    for k in range(2, degree + 1):
        before, value = value, ((2 * k - 1) * x * value - (k - 1) * before) / k
    return value, degree * (x * value - before) / (x * x - 1)


def selection_table(
    weights: Sequence[Floats], total: int, *, ties: Ties = "uniform", n_points: int | None = None
) -> Floats:
    r"""Weight of 'class k has j items of the block and is selected', for every k and j.

    .. math:: T_{kj} = w_k(j) \int_0^1 [x^{total-j}] \prod_{l \ne k}
              \Big(\sum_{i<j} w_l(i) x^i + y\, w_l(j) x^j\Big) dy

    A uniform tie is a lottery: every class holds a ticket in [0, 1] and the highest ticket wins. y is the ticket of
    class k; a rival with as many items has a lower one with probability y. The integral over y (of a polynomial) is
    done by Gauss-Legendre quadrature, exactly. With ``ties="lowest"``, y is 0 for classes before k and 1 for those
    after.

    Parameters
    ----------
    weights : sequence of K arrays
        ``weights[k][i]`` is :math:`w_k(i) \ge 0` for ``i = 0 .. len(weights[k]) - 1``, and 0 beyond.
    total : int
        Size of the block, >= 1.
    ties : {'uniform', 'lowest'}
        The rule for ties.
    n_points : int, optional
        Points on the circle, odd. By default enough for any weights; :func:`circle_points` needs fewer if the weights
        are binomial or Poisson.

    Returns
    -------
    ndarray, shape (K, J + 1)
        J is the largest possible number of items of one class. Not normalised: for binomial weights divide by
        ``binomial_weights(M, total / M)[total]``, for Poisson weights by the Poisson(n) probability of ``total``.
        Row sums are then P(class k selected), column sums P(largest count = j).

    Examples
    --------
    Two of the four responses (a, a, b, c) are drawn; a is selected with probability 1/6 + 4/6 * 1/2:

    >>> w = [binomial_weights(c, 0.5) for c in (2, 1, 1)]
    >>> table = selection_table(w, 2) / binomial_weights(4, 0.5)[2]
    >>> [round(p, 12) for p in table.sum(axis=1).tolist()]
    [0.5, 0.25, 0.25]
    """
    top = min(total, max(len(w) for w in weights) - 1)
    padded = np.zeros((len(weights), max(len(w) for w in weights)))
    for row, w in zip(padded, weights, strict=True):
        row[: len(w)] = w
    degree = sum(len(w) - 1 for w in weights)
    n_points = n_points or max(total, degree - total) + 1 | 1
    turn = np.arange(n_points // 2 + 1)
    powers = np.exp(2j * np.pi / n_points * (np.arange(padded.shape[1])[:, None] * turn % n_points))
    out = np.zeros((len(weights), top + 1))
    _tied_rows(out, padded, powers, total, n_points=n_points, ties=ties)
    _free_rows(out, padded, powers, total, n_points=n_points)
    return out


def _read(values: Complexes, index: Integers | int, n_points: int) -> Floats:
    """Coefficient ``index`` of real polynomials from their values on half the circle (last axis)."""
    turn = np.arange(n_points // 2 + 1)
    share = np.where(turn == 0, 1.0, 2.0) / n_points
    back = np.exp(-2j * np.pi / n_points * (np.multiply.outer(np.asarray(index), turn) % n_points)) * share
    return np.real(values @ back.T)


def _others(before: Complexes, after: Complexes) -> Complexes:
    """For each row the product of all other rows: those before it and those after it."""
    out = np.ones_like(before)
    np.cumprod(before[:-1], axis=0, out=out[1:])
    out[:-1] *= np.cumprod(after[:0:-1], axis=0)[::-1]
    return out


def _tied_rows(out: Floats, padded: Floats, powers: Complexes, total: int, *, n_points: int, ties: Ties) -> None:
    """Fill the columns j <= total / 2, where another class may have as many."""
    support = padded.shape[1] - 1 - (padded[:, ::-1] > 0).argmax(axis=1)
    below = np.multiply.outer(padded[:, 0], powers[0])
    for j in range(1, min(total // 2, out.shape[1] - 1) + 1):
        level, alive = np.multiply.outer(padded[:, j], powers[j]), support >= j
        if np.minimum(support, j).sum() >= total and alive.any():
            low, high = below[alive], below[alive] + level[alive]
            most_rivals = min(len(low) - 1, total // j - 1)
            others = _others(low, high) if ties == "lowest" else _others_uniform(low, high, most_rivals)
            others *= below[~alive].prod(axis=0)
            out[alive, j] = padded[alive, j] * _read(others, total - j, n_points)
        below += level


def _others_uniform(low: Complexes, high: Complexes, most_rivals: int) -> Complexes:
    """For each row the product of all other rows, averaged over the ticket y; some nodes at a time."""
    nodes, shares = gauss(most_rivals // 2 + 1)
    out = np.zeros_like(low)
    step = max(1, NODE_CELLS // low.size)
    for first in range(0, len(nodes), step):
        y = nodes[first : first + step]
        factors = low[..., None] * (1 - y) + high[..., None] * y
        out += _others(factors, factors) @ shares[first : first + step]
    return out


def _free_rows(out: Floats, padded: Floats, powers: Complexes, total: int, *, n_points: int) -> None:
    """Fill the columns j > total / 2, where no other class can have as many."""
    full = padded @ powers
    j = np.arange(total // 2 + 1, out.shape[1])
    out[:, j] = padded[:, j] * _read(_others(full, full), total - j, n_points)


def subset_table(counts: Integers, size: int, *, ties: Ties = "uniform") -> Floats:
    r"""P(class k has j of ``size`` responses drawn without replacement, and is selected).

    Parameters
    ----------
    counts : ndarray of int, shape (K,)
        Class counts :math:`c_k \ge 1` with sum M.
    size : int
        Size of the drawn block, 1 <= size <= M.
    ties : {'uniform', 'lowest'}
        The rule for ties.

    Returns
    -------
    ndarray, shape (K, J + 1)
        Probabilities; they sum to 1.

    Examples
    --------
    >>> subset_table(np.array([2, 1]), 1).round(12).tolist()
    [[0.0, 0.666666666667], [0.0, 0.333333333333]]
    """
    share = size / int(counts.sum())
    weights = [binomial_weights(int(c), share) for c in counts]
    sums = binomial_weights(int(counts.sum()), share)
    table = selection_table(weights, size, ties=ties, n_points=circle_points(size, sums))
    return np.asarray(table / sums[size])


def population_table(pmf: Floats, size: int) -> Floats:
    """Make the table of independent responses from one population; see :func:`selection_table`.

    Examples
    --------
    >>> population_table(np.array([0.75, 0.25]), 2).sum(axis=1).round(6).tolist()
    [0.75, 0.25]
    """
    sums = poisson_weights(size, 20 * size + 100)
    weights = [poisson_weights(size * p, size) for p in pmf.tolist()]
    return np.asarray(selection_table(weights, size, n_points=circle_points(size, sums)) / sums[size])
