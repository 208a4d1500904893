"""How often corrected numbers about the model, and promises of thresholds, hold when people audit a judge.

Questions with K ~ U{2..12} classes, Dirichlet(alpha) with alpha in {.15, .4, 1, 3}, and 10 answers each. Calibrated:
the right class is drawn from the question's own probabilities; over-confident: in a fifth of the questions no class is
right. The judge calls wrong classes correct and misses right ones at its rates, whatever the class; people judge some
of the deployed answers, drawn by the judge's verdict. Questions are drawn with replacement from a pool, whose own
values are the truth.
"""

from __future__ import annotations

import os
import sys
import time
from itertools import product
from typing import NamedTuple

import numpy as np

from benchmarks._tables import table
from semece.compare.audit.draws import allocate
from semece.stats.calibration.abstention import abstention_threshold
from semece.stats.correction import Audited, corrected_held_out, corrected_threshold, held_out_masses
from semece.stats.counts import Counts
from semece.stats.estimators.semx import ROUNDING, SemX, semx
from semece.stats.simulation import dirichlet_mixture
from semece.stats.uncertainty.held_out_errors import held_out_gap

TITLE = "Claims that an audit corrects"
POOL = 50_000
REPLICATIONS = int(os.environ.get("AUDITED_REPLICATIONS", "1000"))
N_ANSWERS = 10
MODELS = {"calibrated": 0.0, "over-confident": 0.2}
JUDGES = {"perfect": (0.0, 0.0), "usual": (0.05, 0.15), "lenient": (0.25, 0.0)}
SIZES = (500, 2000)
AUDITED = (100, 200)
TARGET = 0.8

ABOUT = f"""\
In percent of the runs: the 95 % interval of the corrected held-out gap g and of the corrected SemX-ECE holds the
truth; the interval of g by the judge alone does; a threshold for {100 * TARGET:.0f} % right answers is found, and the
promise is missed (at most 5), corrected and by the judge alone."""


class Pool(NamedTuple):
    """Questions and what SemX needs of them, whatever the grades: a block selects from counts alone.

    ``counts`` and ``right``, which class is right, have shape (Q, K); ``weight``, the chance that a class is selected
    in a bin, (Q, K, L); ``held_out``, the mean held-out mass of a bin, (Q, L); ``edges`` are those of the bins.
    """

    counts: np.ndarray
    right: np.ndarray
    weight: np.ndarray
    held_out: np.ndarray
    edges: tuple[np.ndarray, np.ndarray]


def draw_pool(share: float, size: int = POOL) -> Pool:
    """Draw questions, their answers and their right classes; in a share of the questions none is right."""
    rng = np.random.default_rng(0)
    pmf = -np.sort(-dirichlet_mixture(size, rng=rng).pmf, axis=1)
    ticket, until = rng.random((size, 1)), np.cumsum(pmf, axis=1)
    right = (ticket < until) & (ticket >= until - pmf) & (rng.random((size, 1)) >= share)
    return measured(rng.multinomial(N_ANSWERS, pmf), right.astype(float))


def measured(counts: np.ndarray, right: np.ndarray) -> Pool:
    """Measure once what SemX needs: with no class right the residual is the held-out mass, with one it is less."""
    n, n_classes = counts.shape

    def residual(correct: np.ndarray) -> np.ndarray:
        found = semx(correct=correct.ravel(), counts=Counts.from_counts(counts))
        dense = np.zeros((n, len(found.low)))
        dense[found.question, found.bin] = found.value
        edges.append((found.low, found.high))
        return dense

    edges: list[tuple[np.ndarray, np.ndarray]] = []
    held_out = residual(np.zeros((n, n_classes)))
    one = np.eye(n_classes)
    weight = np.stack([held_out - residual(np.tile(one[k], (n, 1))) for k in range(n_classes)], axis=1)
    return Pool(counts, right, weight, held_out, edges[0])


def residuals_of(pool: Pool, correct: np.ndarray) -> SemX:
    """Give SemX's residuals of some of the pool's questions, as :func:`semece.semx` does."""
    n, n_bins = pool.held_out.shape
    value = pool.held_out - np.einsum("qkl,qk->ql", pool.weight, correct)
    chance = pool.weight.sum(axis=1)
    question, place = (each.ravel() for each in np.indices((n, n_bins)))
    kept = chance.ravel() > ROUNDING
    columns = (each.ravel()[kept] for each in (value, np.zeros_like(value), chance, pool.held_out))
    every = np.arange(n), np.full(n, N_ANSWERS // 2)
    return SemX(question[kept], place[kept], *columns, *every, *pool.edges)


def truth_of(pool: Pool) -> tuple[float, float, np.ndarray, np.ndarray]:
    """Give g, SemX-ECE, and Sem1 and correctness of the deployed answers."""
    found = residuals_of(pool, pool.right)
    mean = np.bincount(found.bin, found.value, len(found.low)) / len(pool.counts)
    deployed = pool.counts.argmax(axis=1)
    return mean.sum(), np.abs(mean).sum(), pool.counts.max(axis=1) / N_ANSWERS, pool.right[range(POOL), deployed]


def audited_of(rng: np.random.Generator, said: np.ndarray, people: np.ndarray, size: int) -> Audited:
    """Draw answers by the judge's verdict, as `semece audit export` does."""
    stratum = said.astype(int)
    sizes = np.bincount(stratum, minlength=2)
    wanted = allocate(sizes, size)
    place = np.concatenate([rng.permutation(np.flatnonzero(stratum == h))[:n] for h, n in enumerate(wanted)])
    return Audited(place, people[place], said[place], stratum[place], sizes)


def replicate(rng: np.random.Generator, pool: Pool, cell: tuple[str, int, int], truth: tuple) -> list[float]:
    """Judge, audit and correct one run."""
    judge, size, audited = cell
    index = rng.integers(0, POOL, size)
    some = pool._replace(**{name: getattr(pool, name)[index] for name in ("counts", "right", "weight", "held_out")})
    counts, right = some.counts, some.right
    chance, (false_correct, missed) = rng.random(right.shape), JUDGES[judge]
    said = np.where(right == 1, chance >= missed, chance < false_correct).astype(float)
    deployed = counts.argmax(axis=1)
    own = np.zeros_like(said)
    own[np.arange(size), deployed] = 1.0
    by_judge, people = said[np.arange(size), deployed], right[np.arange(size), deployed]
    sheet = audited_of(rng, by_judge, people, audited)
    every, mine, others = (residuals_of(some, values) for values in (said, own, np.where(own > 0, 0, said)))
    found = corrected_held_out(held_out_masses(every, mine, others, by_judge), sheet, rng=rng)
    alone = held_out_gap(every)
    gap, error, sem1, correct = truth
    held = [np.nan] * 3
    if found is not None:
        held = [found.gap.low <= gap <= found.gap.high, found.error.low <= error <= found.error.high, found.gap.value]
    row = [*held, alone.low <= gap <= alone.high]
    confidence = counts.max(axis=1) / N_ANSWERS
    ways = (
        corrected_threshold(confidence, by_judge, sheet, target=TARGET),
        abstention_threshold(confidence, by_judge, target=TARGET),
    )
    for way in ways:
        given = None if way.threshold is None else correct[sem1 >= way.threshold - 1e-9].mean()
        row += [given is not None, given is not None and given < TARGET]
    return row


def main(replications: int = REPLICATIONS) -> str:
    start, rows = time.perf_counter(), []
    for model, share in MODELS.items():
        pool = draw_pool(share)
        truth = truth_of(pool)
        for cell in product(JUDGES, SIZES, AUDITED):
            rng = np.random.default_rng([len(model), len(cell[0]), *cell[1:]])
            found = np.array([replicate(rng, pool, cell, truth) for _ in range(replications)], dtype=float)
            mean = np.nanmean(found, axis=0)
            shares = [f"{100 * share:.1f}" for share in mean[[0, 1, 3, 4, 5, 6, 7]]]
            bias = f"{mean[2] - truth[0]:+.4f}"
            rows.append([model, *map(str, cell), f"{truth[0]:+.3f}", f"{truth[1]:.3f}", bias, *shares])
            print(*rows[-1], sep=" | ", file=sys.stderr, flush=True)
    minutes = (time.perf_counter() - start) / 60
    setting = f"{replications:,} runs a cell, a pool of {POOL:,} questions, {minutes:.0f} minutes."
    header = ["model", "judge", "N", "audited", "g", "SemX-ECE", "bias of g", "g covered", "SemX-ECE covered"]
    header += ["by the judge covered", "threshold", "missed", "by the judge: threshold", "missed"]
    return "\n\n".join([" ".join((__doc__ or "").split("\n\n", 1)[1].split()), setting, ABOUT, table(header, rows)])


if __name__ == "__main__":
    print(main())
