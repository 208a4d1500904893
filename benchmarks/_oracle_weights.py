"""Make the weights of `semece.oracle_bracket`: ``python -m benchmarks._oracle_weights [M ...]`` writes the table.

For M answers the exact expectations E Sem1(m), m <= M, and E pi_z(m), m <= M - 1, of a question with class
probabilities pi are a basis. Two linear programs choose weights of at most 1 in size: the lower bound is at most
c* = max pi on every distribution of a net, the upper bound at least c*, and both are as near to c* as can be on average
over four families. Distributions on which fresh nets find them wrong are added to the net, some rounds; what is wrong
on the last, fresh net at worst is kept beside the weights. A distribution has up to 20 classes and a tail: answers none
of which ever comes twice, as the last column has their mass. Up to 200 equal classes are in every net, too.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numba
import numpy as np
from scipy.optimize import linprog
from scipy.special import roots_legendre

import semece
from semece.stats.simulation import FAMILIES

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZES = (4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50)
CLASSES = 20
MANY = (25, 30, 40, 50, 70, 100, 150, 200)
NET, FRESH, LAST = 2000, 6000, 20_000
FEW, ROUNDS, MORE_ROUNDS = 20, 5, 10
"""Up to so many answers, where a round is quick, there are more of them."""
AIMED = ("dirichlet-mixture", "zipf", "softmax-normal", "near-tie")
EACH = 200
DIGITS = 7
ROUNDING = 1e-12
"""A tail below this is none."""
TOLERANCE = 1e-6
"""Least violation that is kept: programs and rounded weights are not more exact."""
PATH = Path(semece.__file__).parent / "stats" / "uncertainty" / "oracle_weights.tsv"


class Nodes(NamedTuple):
    """Quadrature nodes by level j, for lotteries among classes that have j answers each; factorials."""

    node: np.ndarray
    share: np.ndarray
    start: np.ndarray
    factorial: np.ndarray


@numba.njit
def add_class(before: np.ndarray, after: np.ndarray, weights: np.ndarray, y: float, probability: float) -> None:
    """Multiply by a class that has fewer than j answers, or j and a lower ticket; or let it be the one selected."""
    j, most = len(weights) - 1, before.shape[1]
    after[:] = 0.0
    for part in range(3):
        for i in range(j + 1):
            factor = weights[i] if i < j else y * weights[i]
            for m in range(np.uint64(most - i)):
                after[part, m + np.uint64(i)] += before[part, m] * factor
    for m in range(np.uint64(most - j)):
        chosen = before[0, m] * weights[j]
        after[1, m + np.uint64(j)] += chosen
        after[2, m + np.uint64(j)] += chosen * probability


@numba.njit
def add_tail(before: np.ndarray, after: np.ndarray, j: int, y: float, mass: float) -> None:
    """Multiply by classes without number, each of which has an answer at most: rivals, and to be selected, at j = 1."""
    most = before.shape[1]
    rate = y * mass if j == 1 else mass
    after[:] = 0.0
    factor = 1.0
    for i in range(most):
        for part in range(3):
            for m in range(np.uint64(most - i)):
                after[part, m + np.uint64(i)] += before[part, m] * factor
        if j == 1:
            for m in range(np.uint64(most - i - 1)):
                after[1, m + np.uint64(i + 1)] += before[0, m] * factor * mass
        factor *= rate / (i + 1)


@numba.njit
def expectations(pmf: np.ndarray, tail: np.ndarray, nodes: Nodes, out: np.ndarray) -> None:
    """Add E Sem1(m) and E pi_z(m) of each row for all m, by polynomials whose m-th coefficient is of m answers."""
    most = out.shape[2] - 1
    weights = np.empty((pmf.shape[1], most + 1))
    before, after = np.empty((3, most + 1)), np.empty((3, most + 1))
    for q in range(len(pmf)):
        for k in range(pmf.shape[1]):
            for i in range(most + 1):
                weights[k, i] = pmf[q, k] ** i / nodes.factorial[i]
        for j in range(1, most + 1):
            for at in range(nodes.start[j - 1], nodes.start[j]):
                before[:] = 0.0
                before[0, 0] = 1.0
                for k in range(pmf.shape[1]):
                    if pmf[q, k] > 0:
                        add_class(before, after, weights[k, : j + 1], nodes.node[at], pmf[q, k])
                        before, after = after, before
                if tail[q] > 0:
                    add_tail(before, after, j, nodes.node[at], tail[q])
                    before, after = after, before
                for m in range(j, most + 1):
                    scale = nodes.share[at] * nodes.factorial[m]
                    out[q, 0, m] += scale * before[1, m] * j / m
                    out[q, 1, m] += scale * before[2, m]


def basis(pmf: np.ndarray, n: int) -> np.ndarray:
    """E Sem1(m), m = 1 .. n, and E pi_z(m), m = 1 .. n - 1, of each row of class probabilities; what lacks is tail."""
    pairs = [roots_legendre((n // j - 1) // 2 + 1) for j in range(1, n + 1)]
    start = np.cumsum([0, *(len(nodes) for nodes, _ in pairs)])
    node, share = (np.concatenate(part) / 2 for part in zip(*pairs, strict=True))
    factorial = np.cumprod(np.concatenate([[1.0], np.arange(1.0, n + 1)]))
    out = np.zeros((len(pmf), 2, n + 1))
    tail = 1 - pmf.sum(axis=1)
    tail[tail < ROUNDING] = 0.0
    expectations(np.ascontiguousarray(pmf), tail, Nodes(node + 0.5, share, start, factorial), out)
    return np.concatenate([out[:, 0, 1:], out[:, 1, 1:n]], axis=1)


def normalised(weights: np.ndarray) -> np.ndarray:
    return weights / weights.sum(axis=1, keepdims=True)


def parts_of_net(each: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Families of distributions on at most 20 classes: spread, falling, nearly tied leaders, few classes."""
    columns = np.arange(CLASSES)

    def there(least: int = 2, most: int = CLASSES) -> np.ndarray:
        return columns[:most] < rng.integers(least, most + 1, (each, 1))

    alpha = 10 ** rng.uniform(-1.2, 1.2, (each, 1))
    yield normalised(np.where(there(), np.maximum(rng.standard_gamma(alpha, (each, CLASSES)), 1e-12), 0))
    yield normalised(np.where(there(), (columns + 1.0) ** -rng.uniform(0, 3.5, (each, 1)), 0))
    yield normalised(np.where(there(), np.exp(rng.uniform(0, 3, (each, 1)) * rng.standard_normal((each, CLASSES))), 0))
    ratio = rng.uniform(0, 1, (each, 1)) ** 0.3
    yield normalised(np.where(there(1), ratio**columns, 0))
    for leaders in (2, 3, 4, 6):
        mass, apart = rng.uniform(0.3, 1, (each, 1)), rng.uniform(0, 0.4, (each, 1)) ** 1.5
        lead = normalised(1 + apart * rng.uniform(-1, 1, (each, leaders))) * mass
        width = CLASSES - leaders
        rest = rng.standard_gamma(10 ** rng.uniform(-1, 1, (each, 1)), (each, width)) * there(1, width)
        yield np.concatenate([lead, normalised(rest + 1e-300) * (1 - mass)], axis=1)
    for classes in (2, 3, 4):
        yield np.pad(rng.dirichlet(np.ones(classes), each), ((0, 0), (0, CLASSES - classes)))


def net_of(size: int, rng: np.random.Generator) -> np.ndarray:
    """Draw distributions, each sorted from the largest probability down; half of them have a tail.

    None but a tail, and 1 to 20 equal classes with and without one, are always there.
    """
    drawn = np.concatenate(list(parts_of_net(-(-size // 11), rng)))
    drawn[::2] *= 1 - rng.uniform(0, 1, (len(drawn[::2]), 1)) ** 1.5
    equal = normalised(np.tril(np.ones((CLASSES, CLASSES))))
    return -np.sort(-np.concatenate([0 * equal[:1], equal, equal / 2, drawn]), axis=1)


def many_equal(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Give the basis of more than 20 equal classes, and their probability."""
    return np.concatenate([basis(np.full((1, k), 1 / k), n) for k in MANY]), 1 / np.array(MANY)


def wide(pmf: np.ndarray) -> np.ndarray:
    """Fill up with classes that do not occur, and sort."""
    return -np.sort(-np.pad(pmf, ((0, 0), (0, CLASSES - pmf.shape[1]))), axis=1)


def solve(rows: np.ndarray, truth: np.ndarray, aim: np.ndarray, sign: int) -> np.ndarray:
    """Choose weights: sign 1 for the lower bound, -1 for the upper one."""
    found = linprog(-sign * aim, A_ub=sign * rows, b_ub=sign * truth, bounds=(-1, 1), method="highs")
    return np.round(found.x, DIGITS)


def weights_for(n: int) -> tuple[list[tuple[np.ndarray, float]], float]:
    """Weights and worst violation of the lower and of the upper bound; the mean width on what was aimed at."""
    rng = np.random.default_rng(n)
    aimed = np.concatenate([wide(FAMILIES[name](EACH, rng=rng).pmf) for name in AIMED])
    net = np.concatenate([net_of(NET, rng), aimed])
    rows, truth = basis(net, n), net[:, 0]
    aim = rows[-len(aimed) :].mean(axis=0)
    many, one_of_many = many_equal(n)
    rows, truth = np.concatenate([rows, many]), np.concatenate([truth, one_of_many])
    for _ in range(MORE_ROUNDS if n <= FEW else ROUNDS):
        both = [solve(rows, truth, aim, sign) for sign in (1, -1)]
        fresh = net_of(FRESH, rng)
        more = basis(fresh, n)
        excess = np.maximum(more @ both[0] - fresh[:, 0], fresh[:, 0] - more @ both[1])
        bad = np.argsort(-excess)[: NET // 4]
        rows, truth = np.concatenate([rows, more[bad]]), np.concatenate([truth, fresh[bad, 0]])
    both = [solve(rows, truth, aim, sign) for sign in (1, -1)]
    last = net_of(LAST, np.random.default_rng(10_000 + n))
    exact, probability = np.concatenate([basis(last, n), many]), np.concatenate([last[:, 0], one_of_many])
    worst = [
        max(float((sign * (exact @ w - probability)).max()), TOLERANCE) for sign, w in zip((1, -1), both, strict=True)
    ]
    return list(zip(both, worst, strict=True)), float(aim @ (both[1] - both[0]))


def main() -> None:
    """Write the table: answers, side, worst violation, weights of Sem1(1 .. M), weights of pi_z(1 .. M - 1)."""
    lines = {}
    if PATH.exists():
        for line in PATH.read_text(encoding="utf-8").splitlines():
            size, side, _ = line.split("\t", 2)
            lines[int(size), side] = line
    for n in map(int, sys.argv[1:] or SIZES):
        began = time.perf_counter()
        found, width = weights_for(n)
        for side, (weights, worst) in zip(("lower", "upper"), found, strict=True):
            lines[n, side] = "\t".join([str(n), side, f"{worst:.6f}", *(f"{w:.{DIGITS}g}" for w in weights)])
        worst_ones = [f"{worst:.5f}" for _, worst in found]
        print(n, f"width {width:.4f}", "worst", *worst_ones, f"{time.perf_counter() - began:.0f} s", flush=True)
        PATH.write_text("".join(f"{line}\n" for _, line in sorted(lines.items())), encoding="utf-8")


if __name__ == "__main__":
    main()
