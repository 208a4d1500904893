"""How often the rules about a model are wrong, and how often they find what is there: simulated runs, known truth.

Questions come from families of class probabilities. Calibrated class by class: the right class is drawn from the
question's own probabilities. Runs are drawn with replacement from a pool of questions with their answers and grades.
"""

from __future__ import annotations

import json
import os
import sys
import time
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import ndtri, stdtrit

from benchmarks._tables import table
from semece.stats.calibration.bins import bin_index
from semece.stats.counts import Counts
from semece.stats.estimators import estimate
from semece.stats.estimators.semx import SemX, semx
from semece.stats.simulation import dirichlet_mixture, easy, near_tie, softmax_normal
from semece.stats.uncertainty.claims import bracket_verdict, hidden_verdict, model_verdict
from semece.stats.uncertainty.held_out_errors import gap_interval, held_out_gap, semx_ece
from semece.stats.uncertainty.intervals import N_DRAWS, TINY, Residuals, cleared, debiased, ece_interval
from semece.stats.uncertainty.skewed_means import Drawn, UnitTable, upward

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TITLE = "Claims about a model"
POOL = int(os.environ.get("CLAIMS_POOL", "50000"))
REPLICATIONS = int(os.environ.get("CLAIMS_REPLICATIONS", "2000"))
MINUTES = float(os.environ.get("CLAIMS_MINUTES", "inf"))
VERDICTS = ("over-confident", "under-confident")
CHECKED = 3
"""So many runs of a cell go through the public functions, too, which must say the same."""
ANSWERS = (2, 4, 5, 6, 10, 20, 50)
SIZES = (100, 500, 2000)
COPIES = 4
"""Rows of one cluster: the same question with the same right class, answered again."""
CLUSTERS = (25, 100, 500)
CLUSTERED = ("Dirichlet", "near tie", "nearly certain")
POWERED = (4, 5, 10, 20, 50)
TIGHT = 8
"""Pools of two answers are so many times as large: mean Sem2 is the accuracy itself there, and its error would show."""
CHUNK = 50_000
BATCH = 500
GOLDEN = 0.6180339887498949
EQUAL_COST = ((4, 1500), (6, 1000), (20, 300), (50, 120))
"""Answers and questions that make 6,000 answers in all."""

ABOUT_FALSE = """\
Calibrated class by class, in percent of the runs: 'over' and 'under': the rule calls the model over-confident or
under-confident, by the interval of the held-out gap g and by the bracket (each must be at most 2.5); 'SemX rejects':
its test at 5 %, with the lower end of SemX-ECE above 0 in brackets (7, since g's two sides and the test share it);
'hidden': 'miscalibrated' though the interval of g holds 0 (at most 5), with 'though right on average' in brackets;
'Sem1-ECE over': what the interval of Sem1-ECE would say (50 runs), if it were read as a statement
about the model. Residuals are centred so that the true g is 0; accuracies, for the bracket, so that the mean one of the
pool is that of the deployed classes' probabilities."""
ABOUT_CLUSTERS = f"""\
The same where every question comes {COPIES} times, each time with other answers and with the same right class; N counts
clusters, and ids name them."""
ABOUT_POWER = """\
Models that are not calibrated, in percent of the runs: how often g, the bracket and SemX's test find it, on which side,
and what 'hidden' says as above; beside them the plug-in ECE of Sem1 and of Sem2, against the 95 % quantile that they
have for the calibrated model of the same n and N (a person does not have that quantile); and how often the interval of
g misses, and which end of the interval of SemX-ECE does. The true g and SemX-ECE are those of the pool."""
ABOUT_HELD = "The same in clusters as above, of the Dirichlet family; N counts clusters."
ABOUT_COST = "The same 6,000 answers, spread over more or fewer questions: in percent, SemX rejects / g is on its side."


class Pool(NamedTuple):
    """Questions with their residuals by bin, Sem1, Sem2, and of the deployed answer correctness and chance of it."""

    value: np.ndarray
    chance: np.ndarray
    held_out: np.ndarray
    sem1: np.ndarray
    sem2: np.ndarray
    correct: np.ndarray
    deployed: np.ndarray

    def clusters(self) -> Pool:
        """Average the rows of each cluster."""
        return Pool(*(part.reshape(-1, COPIES, *part.shape[1:]).mean(axis=1) for part in self))


class Cell(NamedTuple):
    """A population: family, model, answers per question, and how often each question comes."""

    family: str
    model: str
    n: int
    copies: int = 1


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
    "easy": lambda n, rng: easy(n, rng=rng, confidence=(0.94, 1.0)).pmf,
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
    if model == "crossing":
        moved, sure = rng.random(len(pmf)) < 0.3, pmf[:, 0] > 0.6
        right[moved & sure] = 0.0
        right[moved & ~sure] = best[moved & ~sure]
    return right


def draw_pool(cell: Cell, size: int) -> Pool:
    """Draw questions, n answers to each, and the right classes."""
    rng = np.random.default_rng([cell.n, len(cell.family), len(cell.model)])
    parts = []
    for start in range(0, size, CHUNK):
        few = -(-min(CHUNK, size - start) // cell.copies)
        pmf = -np.sort(-FAMILIES[cell.family](few, rng), axis=1)
        right = np.repeat(right_classes(pmf, cell.model, rng), cell.copies, axis=0)
        pmf = np.repeat(pmf, cell.copies, axis=0)
        counts = rng.multinomial(cell.n, pmf)
        ragged, most = Counts.from_counts(counts), counts == counts.max(axis=1, keepdims=True)
        found = semx(correct=right.ravel(), counts=ragged)
        place = found.question * len(found.low) + found.bin
        rows = [
            np.bincount(place, getattr(found, name), len(pmf) * len(found.low)).reshape(len(pmf), -1)
            for name in ("value", "chance", "held_out")
        ]
        columns = estimate(counts=ragged, correct=list(right))
        values = [columns[name].to_numpy() for name in ("sem1", "sem2", "correct")]
        parts.append([*rows, *values, (pmf * most).sum(axis=1) / most.sum(axis=1)])
    return Pool(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def centred(pool: Pool) -> Pool:
    """Move every residual by the mean of its bin, some thousandths at most, so that the truth of the pool is 0."""
    mean, chance = pool.value.mean(axis=0), pool.chance.mean(axis=0)
    return pool._replace(value=pool.value - pool.chance * (mean / np.where(chance > 0, chance, 1.0)))


calibrated_pool = lru_cache(maxsize=1)(draw_pool)
"""The same of a calibrated model, which several others are compared with."""


def residuals(pool: Pool, index: np.ndarray, n: int) -> SemX:
    """Give the residuals of some questions of the pool."""
    question, place = np.nonzero(pool.chance[index] > 0)
    chosen = index[question]
    value, chance, held_out = (part[chosen, place] for part in pool[:3])
    edges = np.arange(pool.value.shape[1] + 1) / pool.value.shape[1]
    every = np.arange(len(index))
    sizes = np.full(len(index), n // 2)
    return SemX(question, place, value, np.zeros_like(value), chance, held_out, every, sizes, edges[:-1], edges[1:])


def gap_ends(values: np.ndarray, mass: np.ndarray, index: np.ndarray, z: float) -> np.ndarray:
    """Ends of the intervals of `held_out_gap` and `gap_interval` for many runs at once; shape (2, runs)."""
    n = index.shape[1]
    drawn, held_out = values[index], mass[index].mean(axis=1)
    powers = [(drawn**k).sum(axis=1) + 2 * (held_out - 1) ** k + 2 * held_out**k for k in (1, 2, 3)]
    first, second, third = (power / (n + 4) for power in powers)
    variance = second - first**2
    deviation = np.sqrt(np.maximum(variance, 1e-30))
    a = (third - 3 * first * second + 2 * first**3) / deviation**3 / (3 * n**0.5)
    a = np.where(np.abs(a) < 1e-9, 1e-9, a)
    t = [(np.cbrt(1 + 3 * a * (x - a / 2)) - 1) / a for x in (z, -z)]
    return drawn.mean(axis=1) - np.stack(t) * deviation / n**0.5


class Tester:
    """SemX's test and the ends of SemX-ECE against the truth, with the draws that `semx_ece` makes by default."""

    def __init__(self, pool: Pool, truth: float, widened: float) -> None:
        there = pool.chance.any(axis=0)
        parts = {name: getattr(pool, name)[:, there] for name in ("value", "chance", "held_out")}
        self.pool, self.truth, self.widened = pool._replace(**parts), truth, widened
        self.normal = np.random.default_rng(0).standard_normal((len(there), N_DRAWS // 2))[there]

    def __call__(self, index: np.ndarray, gap: np.ndarray) -> list[bool]:
        """Say of a run, and of the ends of its gap's interval, what :class:`Runs` has of SemX-ECE."""
        rows = self.pool.value[index]
        mass = self.pool.chance[index], self.pool.held_out[index]
        table = UnitTable.of(rows, np.zeros_like(rows), mass, Drawn(np.ones(len(index)), None, 0.95))
        table = table._replace(z=table.z * self.widened)
        covariance = table.covariance(rows) * self.widened**2
        values, vectors = np.linalg.eigh(covariance)
        noise = ((vectors * np.sqrt(np.clip(values, 0.0, None))) @ vectors.T) @ self.normal
        r = table.mean(rows)
        total = float(np.abs(r).sum())
        alone = np.abs(noise).sum(axis=0)
        rejects = 2 * (alone >= total - TINY).sum() + 1 <= 0.05 * (N_DRAWS + 1)
        moved = cleared(r, covariance)[:, None] / max(total, TINY)

        def above(value: float) -> bool:
            """Whether the lower end of the absolute residuals is above a value: the quantile there is below them."""
            if value >= total or len(r) == 1:
                return False
            sides = (noise, -noise) if value > 0 else (noise,)
            below = sum((np.abs(value * moved + side).sum(axis=0) < total).sum() for side in sides)
            return bool(below * (2 // len(sides)) > np.ceil(0.975 * (N_DRAWS - 1)))

        sure, possible = max(gap[0], -gap[1]), max(-gap[0], gap[1])
        low = sure > self.truth + TINY
        if not low and above(self.truth):
            low = debiased(Residuals(r, table.covariance(rows, pseudo=False)), 0) > self.truth + TINY
        high = max(total, possible) < self.truth and min(total + upward(table, r), 1.0) < self.truth
        hidden = gap[0] <= 0 <= gap[1] and above(0.0)
        return [bool(rejects), bool(low), bool(high), hidden, hidden and above(max(gap[1], -gap[0]))]


def sides(ends: tuple[np.ndarray, np.ndarray]) -> list[np.ndarray]:
    """Whether the lower end of the first is above 0, and the upper end of the second below."""
    return [ends[0][0] > 0, ends[1][1] < 0]


class Runs(NamedTuple):
    """What is said of simulated runs, one row each.

    Parameters
    ----------
    called : ndarray of bool, shape (R, 4)
        Over- and under-confident, by g and by the bracket.
    tested : ndarray of bool, shape (R, 5)
        Whether the test of SemX rejects, the lower end of SemX-ECE is above the truth, its upper end is below it, the
        model is called miscalibrated though the interval of g holds 0, and moreover right on average.
    missed : ndarray of bool, shape (R,)
        Whether the interval of g does not hold its truth.
    gap : ndarray, shape (R,)
        The held-out gap.
    """

    called: np.ndarray
    tested: np.ndarray
    missed: np.ndarray
    gap: np.ndarray

    def hidden(self) -> str:
        """How often an error is said to be hidden, and with 'right on average'."""
        return "{} ({})".format(*map(percent, self.tested[:, 3:].mean(axis=0)))


def drawn(pool: Pool, cell: Cell, size: int, replications: int) -> Iterator[np.ndarray]:
    """Draw runs, some at a time; shape (runs, size)."""
    rng = np.random.default_rng([cell.n, size])
    for start in range(0, replications, BATCH):
        yield rng.integers(0, len(pool.sem1), (min(BATCH, replications - start), size))


def simulate_runs(pool: Pool, cell: Cell, size: int, replications: int) -> Runs:
    """Make every claim of simulated runs."""
    widened = float(stdtrit(size - 1, 0.975) / ndtri(0.975)) if cell.copies > 1 else 1.0
    z, mean = float(ndtri(0.975)) * widened, pool.value.mean(axis=0)
    exact = cell.model == "calibrated"
    tester = Tester(pool, 0.0 if exact else float(np.abs(mean).sum()), widened)
    truth = 0.0 if exact else float(mean.sum())
    parts = []
    for index in drawn(pool, cell, size, replications):
        own = gap_ends(pool.value.sum(axis=1), pool.held_out.sum(axis=1), index, z)
        first, second = (gap_ends(c - pool.correct, c, index, z) for c in (pool.sem1, pool.sem2))
        more = pool.correct.mean() - pool.deployed.mean() if exact else 0.0
        called = np.stack([*sides((own, own)), *sides((second + more, first + more))], axis=1)
        plain = np.stack([*sides((own, own)), *sides((second, first))], axis=1)
        tested = np.array([tester(row, ends) for row, ends in zip(index, own.T, strict=True)])
        missed = (own[0] > truth + TINY) | (own[1] < truth - TINY)
        parts.append([called, tested, missed, pool.value.sum(axis=1)[index].mean(axis=1)])
        if cell.copies == 1 and len(parts) == 1:
            for at in range(min(CHECKED, len(index))):
                confirm(pool, cell.n, index[at], (plain[at], tested[at], tester.truth))
    return Runs(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def confirm(pool: Pool, n: int, index: np.ndarray, said: tuple[np.ndarray, np.ndarray, float]) -> None:
    """Assert that the public functions say the same of a run."""
    called, tested, truth = said
    some = residuals(pool, index, n)
    gap, error = held_out_gap(some), semx_ece(some)
    assert list(called[:2]) == [model_verdict(gap) == side for side in VERDICTS]
    correct = pool.correct[index]
    verdict = bracket_verdict(gap_interval(pool.sem1[index], correct), gap_interval(pool.sem2[index], correct))
    assert list(called[2:]) == [verdict == side for side in VERDICTS]
    hidden = hidden_verdict(error._replace(n_select=2), gap)
    assert list(tested[:3]) == [error.p_value <= 0.05, error.low > truth + 1e-5, error.high < truth]
    assert list(tested[3:]) == [hidden is not None, hidden == "right on average"]


def sem1_over(pool: Pool, size: int, replications: int) -> float:
    """How often the interval of Sem1-ECE excludes 0."""
    rng = np.random.default_rng(size)
    draws = (rng.integers(0, len(pool.sem1), size) for _ in range(replications))
    return float(np.mean([ece_interval(pool.sem1[i], pool.correct[i], rng=rng).low > 0 for i in draws]))


def plug_in(pool: Pool, cell: Cell, size: int, replications: int) -> np.ndarray:
    """Plug-in ECEs of Sem1 and Sem2 of simulated runs; shape (R, 2)."""
    parts = []
    for confidence in (pool.sem1, pool.sem2):
        rows = np.zeros((len(confidence), 10))
        rows[np.arange(len(confidence)), bin_index(confidence)] = confidence - pool.correct
        runs = drawn(pool, cell, size, replications)
        parts.append(np.concatenate([[np.abs(rows[i].mean(axis=0)).sum() for i in index] for index in runs]))
    return np.stack(parts, axis=1)


def percent(share: float) -> str:
    return f"{100 * share:.1f}"


class Kept:
    """Rows that were measured, kept in a file as they come, so that a stopped benchmark goes on where it was."""

    def __init__(self) -> None:
        self.path, self.until = os.environ.get("CLAIMS_KEPT"), time.monotonic() + 60 * MINUTES
        self.rows: dict[str, list[list[str]]] = {}
        self.left_out = 0
        if self.path and Path(self.path).exists():
            lines = Path(self.path).read_text(encoding="utf-8").splitlines()
            self.rows = {line["of"]: line["rows"] for line in map(json.loads, lines)}

    def measure(self, function: Callable[..., list[list[str]]], of: Cell | str, replications: int) -> list[list[str]]:
        """Measure some rows, unless they are there or the time is over."""
        name = f"{function.__name__} {of}"
        if name not in self.rows and time.monotonic() > self.until:
            self.left_out += 1
            return []
        if name not in self.rows:
            self.rows[name] = function(of, POOL, replications)
            for row in self.rows[name]:
                print(*row, sep=" | ", file=sys.stderr, flush=True)
            if self.path:
                with Path(self.path).open("a", encoding="utf-8") as file:
                    print(json.dumps({"of": name, "rows": self.rows[name]}), file=file)
        return self.rows[name]


def false_rows(cell: Cell, pool_size: int, replications: int) -> list[list[str]]:
    """Error rates where the model is calibrated class by class."""
    pool = draw_pool(cell, pool_size * (TIGHT if cell.n == 2 else 1))
    pool = centred(pool.clusters() if cell.copies > 1 else pool)
    rows = []
    for size in SIZES if cell.copies == 1 else CLUSTERS:
        runs = simulate_runs(pool, cell, size, replications)
        rejected, low = runs.tested[:, :2].mean(axis=0)
        numbers = [*map(percent, runs.called.mean(axis=0)), f"{percent(rejected)} ({percent(low)})"]
        row = [cell.family, str(cell.n), f"{size:,}", f"{pool.correct.mean():.3f}", *numbers]
        row.append(runs.hidden() if cell.n > 3 else "")
        if cell.copies == 1:
            over = percent(sem1_over(pool, size, min(replications, 50))) if size == SIZES[1] else ""
            row += [over, f"{runs.gap.mean():+.4f}"]
        rows.append(row)
    return rows


def power_rows(cell: Cell, pool_size: int, replications: int) -> list[list[str]]:
    """How often a model that is not calibrated is found."""
    pool, null_pool = draw_pool(cell, pool_size), calibrated_pool(cell._replace(model="calibrated"), pool_size)
    mean = pool.value.mean(axis=0)
    rows = []
    for size in SIZES:
        runs = simulate_runs(pool, cell, size, replications)
        null = np.quantile(plug_in(null_pool, cell, size, replications), 0.95, axis=0)
        power = (plug_in(pool, cell, size, replications) > null).mean(axis=0)
        found = [*map(percent, [*runs.called.mean(axis=0), runs.tested[:, 0].mean()]), runs.hidden()]
        row = [cell.model, str(cell.n), f"{size:,}", f"{mean.sum():+.3f}", f"{np.abs(mean).sum():.3f}"]
        rows.append([*row, *found, *map(percent, [*power, runs.missed.mean(), *runs.tested[:, 1:3].mean(axis=0)])])
    return rows


def held_rows(cell: Cell, pool_size: int, replications: int) -> list[list[str]]:
    """How often a model that is not calibrated is found in clusters, and how often its intervals hold."""
    pool = draw_pool(cell, pool_size).clusters()
    mean = pool.value.mean(axis=0)
    rows = []
    for size in CLUSTERS:
        runs = simulate_runs(pool, cell, size, replications)
        numbers = [*runs.called[:, :2].mean(axis=0), runs.tested[:, 0].mean(), runs.missed.mean()]
        row = [cell.model, str(cell.n), f"{size:,}", f"{mean.sum():+.3f}", f"{np.abs(mean).sum():.3f}"]
        rows.append([*row, *map(percent, [*numbers, *runs.tested[:, 1:3].mean(axis=0)])])
    return rows


def cost_rows(model: str, pool_size: int, replications: int) -> list[list[str]]:
    """How often each design of 6,000 answers finds a model."""
    row = [model]
    for n, size in EQUAL_COST:
        cell = Cell("Dirichlet", model, n)
        pool = draw_pool(cell, pool_size)
        runs = simulate_runs(centred(pool) if model == "calibrated" else pool, cell, size, replications)
        row.append(f"{percent(runs.tested[:, 0].mean())} / {percent(runs.called[:, :2].any(axis=1).mean())}")
    return [row]


def worst(rows: list[list[str]], column: int) -> float:
    """Largest share in a column."""
    return max((float(row[column].split(" ")[0]) for row in rows if row[column]), default=float("nan"))


def main() -> str:
    began, kept = time.perf_counter(), Kept()
    cells = [Cell(family, "calibrated", n) for n, family in product(ANSWERS, FAMILIES)]
    alike = [Cell(family, "calibrated", n, COPIES) for n, family in product((4, 20), CLUSTERED)]
    false, clusters = (
        [row for cell in some for row in kept.measure(false_rows, cell, REPLICATIONS)] for some in (cells, alike)
    )
    models = [Cell("Dirichlet", model, n) for n, model in product(POWERED, [*MODELS, "first alone", "crossing"])]
    power = [row for cell in models for row in kept.measure(power_rows, cell, REPLICATIONS)]
    held = [
        row
        for n, model in product((4, 20), ("none right in 20 %", "first right in 30 %", "first alone", "crossing"))
        for row in kept.measure(held_rows, Cell("Dirichlet", model, n, COPIES), REPLICATIONS)
    ]
    sure = ("calibrated", "none right in 8 %", "none right in 20 %")
    costs = [row for model in sure for row in kept.measure(cost_rows, model, REPLICATIONS)]
    minutes = (time.perf_counter() - began) / 60
    errors = [f"{200 * (p * (1 - p) / REPLICATIONS) ** 0.5:.1f}" for p in (0.025, 0.05)]
    setting = (
        f"{REPLICATIONS:,} runs a cell; pools of {POOL:,} questions, {TIGHT * POOL:,} for two answers, where mean Sem2 "
        f"is the accuracy itself; {minutes:.0f} minutes. "
        f"Two Monte Carlo standard errors: {errors[0]} points at 2.5 %, {errors[1]} at 5 %. "
        f"Worst calibrated cell of {len(false)} and, in clusters, of {len(clusters)}: "
        + "; ".join(
            f"{name} {worst(false, at):.1f} and {worst(clusters, at):.1f}"
            for name, at in (("g over", 4), ("g under", 5), ("bracket over", 6), ("bracket under", 7), ("SemX", 8))
        )
        + f"; hidden {worst(false, 9):.1f} and {worst(clusters, 9):.1f}."
        + (f" The time was over before {kept.left_out} populations of three sizes were measured." * bool(kept.left_out))
    )
    first = ["family", "n", "N", "accuracy", "g over", "g under", "bracket over", "bracket under", "SemX rejects"]
    second = ["model", "n", "N", "g", "SemX-ECE", "g over", "g under", "bracket over", "bracket under", "SemX rejects"]
    ends = ["hidden", "Sem1-ECE", "Sem2-ECE", "g missed", "lower end too high", "upper end too low"]
    parts = [setting, ABOUT_FALSE, table([*first, "hidden", "Sem1-ECE over", "bias of g"], false)]
    parts += [ABOUT_CLUSTERS, table([*first, "hidden"], clusters), ABOUT_POWER, table([*second, *ends], power)]
    parts += [ABOUT_HELD, table([*second[:7], "SemX rejects", *ends[3:]], held)]
    designs = [f"{n} answers, {size:,} questions" for n, size in EQUAL_COST]
    return "\n\n".join([*parts, ABOUT_COST, table(["model", *designs], costs)])


if __name__ == "__main__":
    print(main())
