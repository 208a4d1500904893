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
from semece.stats.recalibration.fitting import fit_recalibration
from semece.stats.simulation import dirichlet_mixture
from semece.stats.uncertainty.held_out_errors import held_out_gap

TITLE = "Claims that an audit corrects"
POOL = int(os.environ.get("AUDITED_POOL", "50000"))
REPLICATIONS = int(os.environ.get("AUDITED_REPLICATIONS", "1000"))
PROMISED = min(REPLICATIONS * 4, 1000)
"""Runs for thresholds, which are quick."""
N_ANSWERS = 10
MODELS = {"calibrated": 0.0, "over-confident": 0.2}
JUDGES = {"perfect": (0.0, 0.0), "usual": (0.05, 0.15), "lenient": (0.25, 0.0)}
SIZES = (500, 2000)
AUDITED = (100, 200)
RUN, JUDGED = 2000, 200
TARGETS = (0.5, 0.6, 0.7)
NAMED_RUNS = min(REPLICATIONS * 2, 2000)
NAMED = {"perfect": "calibrated", "usual": "over-confident", "lenient": "calibrated"}
"""Judges, and the population of each in which thresholds on named scores are looked for."""

ABOUT = """\
In percent of the runs: the 95 % interval of the corrected held-out gap g and of the corrected SemX-ECE holds the
truth; the interval of g by the judge alone does."""
PROMISES = f"""\
Thresholds on Sem1 in runs of {RUN:,} questions with {JUDGED} judged answers. In percent of the runs: a threshold is
found, and the answers above it are right less often than promised (at most 5 % of the runs may be so), with the judge's
errors corrected and by the judge alone."""


NAMED_PROMISES = f"""\
The same of scores that came with the questions, {NAMED_RUNS:,} runs a cell. p_true: ten replies on a noisy Sem1.
entropy: only its order means something, and a Platt map of 300 other questions, judged by people, makes it a
confidence."""


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
    gap, error, *_ = truth
    held = [np.nan] * 3
    if found is not None:
        held = [found.gap.low <= gap <= found.gap.high, found.error.low <= error <= found.error.high, found.gap.value]
    return [*held, alone.low <= gap <= alone.high]


def named_promises(replications: int = NAMED_RUNS) -> str:
    """Tabulate how often thresholds on named scores are found and missed; ``entropy`` has a new map in each run."""
    rows = []
    for judge, model in NAMED.items():
        *_, sem1, correct = truth_of(draw_pool(MODELS[model]))
        noise = np.random.default_rng(1).normal(size=len(sem1))
        p_true = np.random.default_rng(2).binomial(N_ANSWERS, np.clip(sem1 + 0.2 * noise, 0, 1)) / N_ANSWERS
        order = np.log(np.maximum(sem1, 0.05)) + 0.3 * noise
        for score, target in product(("p_true", "entropy"), TARGETS):
            rng, found = np.random.default_rng([len(judge), len(score), int(100 * target)]), []
            for _ in range(replications):
                pilot = rng.integers(0, len(sem1), 300)
                fitted = fit_recalibration(order[pilot], correct[pilot], domain="real") if score == "entropy" else None
                found.append(promise(rng, p_true if fitted is None else fitted(order), correct, (judge, target)))
            shares = [f"{100 * share:.1f}" for share in np.mean(found, axis=0)]
            rows.append([model, judge, score, str(target), *shares])
            print(*rows[-1], sep=" | ", file=sys.stderr, flush=True)
    return table(["model", "judge", "score", "target", "found", "missed", "by the judge: found", "missed"], rows)


def promise(rng: np.random.Generator, sem1: np.ndarray, correct: np.ndarray, cell: tuple[str, float]) -> list[bool]:
    """Look for a threshold in one run, corrected and by the judge alone: whether one is found, and is missed."""
    judge, target = cell
    index = rng.integers(0, len(sem1), RUN)
    confidence, people = sem1[index], correct[index]
    chance, (false_correct, missed) = rng.random(RUN), JUDGES[judge]
    said = np.where(people == 1, chance >= missed, chance < false_correct).astype(float)
    found = (
        corrected_threshold(confidence, said, audited_of(rng, said, people, JUDGED), target=target),
        abstention_threshold(confidence, said, target=target),
    )
    row = []
    for way in found:
        given = None if way.threshold is None else correct[sem1 >= way.threshold - 1e-9].mean()
        row += [given is not None, given is not None and given < target]
    return row


def main(replications: int = REPLICATIONS) -> str:
    start, rows, promised = time.perf_counter(), [], []
    for model, share in MODELS.items():
        pool = draw_pool(share)
        truth = truth_of(pool)
        for cell in product(JUDGES, SIZES, AUDITED):
            rng = np.random.default_rng([len(model), len(cell[0]), *cell[1:]])
            found = np.array([replicate(rng, pool, cell, truth) for _ in range(replications)], dtype=float)
            mean = np.nanmean(found, axis=0)
            bias = f"{mean[2] - truth[0]:+.4f}"
            shares = [f"{100 * each:.1f}" for each in mean[[0, 1, 3]]]
            rows.append([model, *map(str, cell), f"{truth[0]:+.3f}", f"{truth[1]:.3f}", bias, *shares])
            print(*rows[-1], sep=" | ", file=sys.stderr, flush=True)
        for each in product(JUDGES, TARGETS):
            rng = np.random.default_rng([len(model), len(each[0]), int(100 * each[1])])
            found = np.mean([promise(rng, *truth[2:], each) for _ in range(PROMISED)], axis=0)
            promised.append([model, *map(str, each), *(f"{100 * share:.1f}" for share in found)])
            print(*promised[-1], sep=" | ", file=sys.stderr, flush=True)
    minutes = (time.perf_counter() - start) / 60
    setting = f"{replications:,} runs a cell, {PROMISED:,} for thresholds, a pool of {POOL:,}, {minutes:.0f} minutes."
    header = ["model", "judge", "N", "audited", "g", "SemX-ECE", "bias of g", "g covered", "SemX-ECE covered"]
    parts = [" ".join((__doc__ or "").split("\n\n", 1)[1].split()), setting, ABOUT]
    parts += [table([*header, "by the judge covered"], rows), PROMISES]
    names = ["model", "judge", "target", "found", "missed", "by the judge: found", "missed"]
    return "\n\n".join([*parts, table(names, promised), NAMED_PROMISES, named_promises()])


if __name__ == "__main__":
    print(named_promises() if sys.argv[1:] == ["named"] else main())
