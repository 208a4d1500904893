"""How often the rules about a model are wrong, and how often they find what is there: simulated runs, known truth.

Questions come from families of class probabilities. Calibrated class by class: the right class is drawn from the
question's own probabilities. Runs are drawn with replacement from a pool of questions with their answers and grades.
"""

from __future__ import annotations

import os
import sys
import time
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from benchmarks._tables import table
from semece.stats.counts import Counts
from semece.stats.estimators import estimate
from semece.stats.estimators.semx import SemX, semx
from semece.stats.simulation import dirichlet_mixture, near_tie, softmax_normal
from semece.stats.uncertainty.claims import bracket_verdict, model_verdict, right_on_average
from semece.stats.uncertainty.held_out_errors import gap_interval, held_out_gap, semx_ece
from semece.stats.uncertainty.intervals import ece_interval

TITLE = "Claims about a model"
POOL = int(os.environ.get("CLAIMS_POOL", "50000"))
REPLICATIONS = int(os.environ.get("CLAIMS_REPLICATIONS", "2000"))
VERDICTS = ("over-confident", "under-confident")
TESTED = 10
"""SemX-ECE and its test take most of the time: one run in so many has them."""
ANSWERS = (4, 5, 10, 20, 50)
SIZES = (100, 500, 2000)
CHUNK = 50_000
GOLDEN = 0.6180339887498949

ABOUT_FALSE = """\
Calibrated class by class, in percent of the runs: 'over' and 'under': the rule calls the model over-confident or
under-confident, by the interval of the held-out gap g and by the bracket (each must be at most 2.5); 'SemX rejects':
its test at 5 %; 'hidden': 'miscalibrated, though right on average' (at most 5); 'Sem1-ECE over': what the interval of
Sem1-ECE would say (50 runs), if it were read as a statement about the model. Residuals are centred so that the true g
is 0."""
ABOUT_POWER = """\
Models that are not calibrated, in percent of the runs: how often g, the bracket and SemX's test find it, on which side,
and how often the upper end of SemX-ECE ('calibrated within x') is below the truth. The true g and SemX-ECE are those of
the pool."""


class Pool(NamedTuple):
    """Questions with their residuals by bin, and Sem1, Sem2 and the correctness of the deployed answer."""

    value: np.ndarray
    chance: np.ndarray
    held_out: np.ndarray
    sem1: np.ndarray
    sem2: np.ndarray
    correct: np.ndarray


def certain(n_questions: int, *, rng: np.random.Generator) -> np.ndarray:
    """Nearly certain questions: the first of three classes lacks a Beta(.5, 20) of 1."""
    rest = rng.beta(0.5, 20, n_questions)
    return np.stack([1 - rest, 0.7 * rest, 0.3 * rest], axis=1)


def one_in_500(n_questions: int) -> np.ndarray:
    """Questions that are all alike: the second of two classes comes once in 500 answers."""
    return np.tile([0.998, 0.002], (n_questions, 1))


FAMILIES = {
    "Dirichlet": lambda n, rng: dirichlet_mixture(n, rng=rng).pmf,
    "softmax": lambda n, rng: softmax_normal(n, rng=rng).pmf,
    "near tie": lambda n, rng: near_tie(n, rng=rng).pmf,
    "nearly certain": lambda n, rng: certain(n, rng=rng),
    "one in 500": lambda n, _: one_in_500(n),
}
MODELS = {
    "none right in 8 %": -0.08,
    "none right in 20 %": -0.2,
    "first right in 8 %": 0.08,
    "first right in 30 %": 0.3,
}
"""Share of the questions, negative where no class is right and positive where the most probable class is."""


def right_classes(pmf: np.ndarray, model: str, rng: np.random.Generator) -> np.ndarray:
    """Draw the right class of each question as a row of zeros and ones.

    ``pmf`` falls along a row. Tickets are spread evenly over questions of like probability, so that the pool as a whole
    is as often right as it should be; a question drawn from it is right with its own probability all the same.
    """
    ticket = np.empty((len(pmf), 1))
    ticket[np.argsort(pmf[:, 0]), 0] = (rng.random() + GOLDEN * np.arange(len(pmf))) % 1
    until = np.cumsum(pmf, axis=1)
    right = ((ticket < until) & (ticket >= until - pmf)).astype(float)
    best = pmf == pmf.max(axis=1, keepdims=True)
    if model in MODELS:
        share = MODELS[model]
        moved = rng.random(len(pmf)) < abs(share)
        right[moved] = best[moved] if share > 0 else 0.0
    if model == "first alone":
        right[~best] = 0.0
    return right


def draw_pool(family: str, n: int, model: str, size: int) -> Pool:
    """Draw questions, n answers to each, and the right classes."""
    rng = np.random.default_rng([n, len(family), len(model)])
    parts = []
    for start in range(0, size, CHUNK):
        pmf = -np.sort(-FAMILIES[family](min(CHUNK, size - start), rng), axis=1)
        counts, right = rng.multinomial(n, pmf), right_classes(pmf, model, rng)
        ragged = Counts.from_counts(counts)
        found = semx(correct=right.ravel(), counts=ragged)
        cell = found.question * len(found.low) + found.bin
        rows = [
            np.bincount(cell, getattr(found, name), len(pmf) * len(found.low)).reshape(len(pmf), -1)
            for name in ("value", "chance", "held_out")
        ]
        columns = estimate(counts=ragged, correct=list(right))
        parts.append([*rows, *(columns[name].to_numpy() for name in ("sem1", "sem2", "correct"))])
    return Pool(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def residuals(pool: Pool, index: np.ndarray, n: int) -> SemX:
    """Give the residuals of some questions of the pool."""
    question, place = np.nonzero(pool.chance[index] > 0)
    chosen = index[question]
    value, chance, held_out = (part[chosen, place] for part in pool[:3])
    edges = np.arange(pool.value.shape[1] + 1) / pool.value.shape[1]
    every = np.arange(len(index))
    sizes = np.full(len(index), n // 2)
    return SemX(question, place, value, np.zeros_like(value), chance, held_out, every, sizes, edges[:-1], edges[1:])


def gap_ends(values: np.ndarray, mass: np.ndarray, index: np.ndarray) -> np.ndarray:
    """Ends of the intervals of `held_out_gap` and `gap_interval` for many runs at once; shape (2, runs)."""
    n, z = index.shape[1], float(ndtri(0.975))
    drawn, held_out = values[index], mass[index].mean(axis=1)
    powers = [(drawn**k).sum(axis=1) + 2 * (held_out - 1) ** k + 2 * held_out**k for k in (1, 2, 3)]
    first, second, third = (power / (n + 4) for power in powers)
    variance = second - first**2
    deviation = np.sqrt(np.maximum(variance, 1e-30))
    a = (third - 3 * first * second + 2 * first**3) / deviation**3 / (3 * n**0.5)
    a = np.where(np.abs(a) < 1e-9, 1e-9, a)
    t = [(np.cbrt(1 + 3 * a * (x - a / 2)) - 1) / a for x in (z, -z)]
    return drawn.mean(axis=1) - np.stack(t) * deviation / n**0.5


def sides(ends: tuple[np.ndarray, np.ndarray]) -> list[np.ndarray]:
    """Whether the lower end of the first is above 0, and the upper end of the second below."""
    return [ends[0][0] > 0, ends[1][1] < 0]


def replicate(pool: Pool, n: int, size: int, replications: int, truth: float) -> np.ndarray:
    """Make every claim of simulated runs: shares of runs, and mean g last."""
    rng = np.random.default_rng([n, size])
    index = rng.integers(0, len(pool.sem1), (replications, size))
    own = gap_ends(pool.value.sum(axis=1), pool.held_out.sum(axis=1), index)
    first, second = (gap_ends(c - pool.correct, c, index) for c in (pool.sem1, pool.sem2))
    called = np.stack([*sides((own, own)), *sides((second, first))], axis=1)
    tested = []
    for row, chosen in zip(called, index[: max(replications // TESTED, 1)], strict=False):
        some = residuals(pool, chosen, n)
        gap, error = held_out_gap(some), semx_ece(some)
        assert list(row[:2]) == [model_verdict(gap) == side for side in VERDICTS]
        sem1, sem2, correct = pool.sem1[chosen], pool.sem2[chosen], pool.correct[chosen]
        verdict = bracket_verdict(gap_interval(sem1, correct), gap_interval(sem2, correct))
        assert list(row[2:]) == [verdict == side for side in VERDICTS]
        hidden = bool(right_on_average(error, gap))
        tested.append([error.p_value <= 0.05, hidden, error.high < truth, error.low > truth])
    return np.concatenate([called.mean(axis=0), np.mean(tested, axis=0), [pool.value.sum(axis=1)[index].mean()]])


def sem1_over(pool: Pool, size: int, replications: int) -> float:
    """How often the interval of Sem1-ECE excludes 0."""
    rng = np.random.default_rng(size)
    draws = (rng.integers(0, len(pool.sem1), size) for _ in range(replications))
    return float(np.mean([ece_interval(pool.sem1[i], pool.correct[i], rng=rng).low > 0 for i in draws]))


def percent(share: float) -> str:
    return f"{100 * share:.1f}"


def centred(pool: Pool) -> Pool:
    """Move every residual by the mean of its bin, some thousandths at most, so that the truth of the pool is 0."""
    mean, chance = pool.value.mean(axis=0), pool.chance.mean(axis=0)
    return pool._replace(value=pool.value - pool.chance * (mean / np.where(chance > 0, chance, 1.0)))


def false_rows(family: str, n: int, pool_size: int, replications: int) -> list[list[str]]:
    """Error rates where the model is calibrated class by class."""
    pool = centred(draw_pool(family, n, "calibrated", pool_size))
    rows = []
    for size in SIZES:
        shares = replicate(pool, n, size, replications, 0.0)
        sem1 = percent(sem1_over(pool, size, min(replications, 50))) if size == SIZES[1] else ""
        numbers = [*map(percent, shares[[0, 1, 2, 3, 4, 5]]), sem1, f"{shares[8]:+.4f}"]
        rows.append([family, str(n), f"{size:,}", f"{pool.correct.mean():.3f}", *numbers])
        print(*rows[-1], sep=" | ", file=sys.stderr, flush=True)
    return rows


def power_rows(family: str, n: int, model: str, pool_size: int, replications: int) -> list[list[str]]:
    """How often a model that is not calibrated is found."""
    pool = draw_pool(family, n, model, pool_size)
    mean = pool.value.mean(axis=0)
    truth = float(np.abs(mean).sum())
    rows = []
    for size in SIZES:
        shares = replicate(pool, n, size, replications, truth)
        numbers = map(percent, shares[[0, 1, 2, 3, 4, 6, 7]])
        rows.append([family, model, str(n), f"{size:,}", f"{mean.sum():+.3f}", f"{truth:.3f}", *numbers])
        print(*rows[-1], sep=" | ", file=sys.stderr, flush=True)
    return rows


def main() -> str:
    began = time.perf_counter()
    calibrated = [row for family, n in product(FAMILIES, ANSWERS) for row in false_rows(family, n, POOL, REPLICATIONS)]
    powers = max(REPLICATIONS // 2, 1)
    models = [*MODELS, "first alone"]
    others = [row for model, n in product(models, ANSWERS) for row in power_rows("Dirichlet", n, model, POOL, powers)]
    minutes = (time.perf_counter() - began) / 60
    worst = np.array([[float(row[i]) for i in (4, 5, 6, 7, 8, 9)] for row in calibrated]).max(axis=0)
    errors = (f"{200 * (p * (1 - p) / (REPLICATIONS / k)) ** 0.5:.1f}" for p, k in ((0.025, 1), (0.05, TESTED)))
    setting = (
        f"{REPLICATIONS:,} runs a cell where the model is calibrated, {powers:,} where it is not, a tenth of them for "
        f"SemX; pools of {POOL:,} questions; {minutes:.0f} minutes. Two Monte Carlo standard errors: {next(errors)} "
        f"points at 2.5 %, {next(errors)} at SemX's 5 %. Worst calibrated cell: g over {worst[0]:.1f}, under "
        f"{worst[1]:.1f}; bracket over {worst[2]:.1f}, under {worst[3]:.1f}; SemX rejects {worst[4]:.1f}; hidden "
        f"{worst[5]:.1f}."
    )
    first = ["family", "n", "N", "accuracy", "g over", "g under", "bracket over", "bracket under", "SemX rejects"]
    second = ["family", "model", "n", "N", "g", "SemX-ECE", "g over", "g under", "bracket over", "bracket under"]
    return "\n\n".join(
        [
            setting,
            ABOUT_FALSE,
            table([*first, "hidden", "Sem1-ECE over", "bias of g"], calibrated),
            ABOUT_POWER,
            table([*second, "SemX rejects", "upper end too low", "lower end too high"], others),
        ]
    )


if __name__ == "__main__":
    print(main())
