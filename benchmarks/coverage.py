"""How often the intervals hold, and the bias that is left: simulated questions with known truth.

Populations: K ~ U{2..12} classes, Dirichlet(alpha) with alpha in {.15, .4, 1, 3}, n = 50 responses; correctness is
Bernoulli of a function of the reported Sem1. Samples come with replacement from a pool of questions, whose own values
are the truth.
"""

from __future__ import annotations

import os
import time
from itertools import product

import numpy as np
from scipy.stats import binom

from benchmarks._pool import Pool, draw_pool
from benchmarks._tables import table
from semece.stats.calibration.binned_errors import ece
from semece.stats.calibration.bins import bin_index, width_bins
from semece.stats.rows import check_rows
from semece.stats.simulation import CORRECTNESS
from semece.stats.uncertainty.bootstrap import Resampling, paired_bootstrap
from semece.stats.uncertainty.intervals import (
    TINY,
    cleared,
    debiased_ece,
    ece_interval,
    paired_draws,
    residual_moments,
    upper_end,
)

TITLE = "Coverage of intervals and bias of the calibration error"
POOL = 400_000
SIZES = (500, 4000)
FEW = (24, 100)
REPLICATIONS = 2000
COMPARED = int(os.environ.get("COVERAGE_COMPARED", "5"))
"""One run of so many has the other methods, widths, bias and differences, which take most of the time."""
CONSTANT = (1.0, 0.6, 0.25)
ACCURACIES = (0.9, 0.95, 0.97, 0.99, 0.998)
CONSTANT_SIZES = (50, 100, 200, 1000, 4000)
RARE = 1e-9
"""Numbers of right answers that are less probable are left out of exact sums."""
N_RESAMPLES = 1000
Z = 1.959963984540054
CERTAIN = 0.85
METHODS = ("ece_interval", "percentile", "reflected", "debiased ± normal")
CONFIDENCES = ("Sem1", "Sem2")

ABOUT_INTERVALS = """\
Coverage in percent of intervals at 95 %. 'Too high': the lower end lies above the truth. The last three methods are
there to be compared: bootstrap percentiles, the same reflected at the plug-in value, and the debiased value with a
normal half width. 'Passes': `semece check --max sem1_ece=x` passes although the true ECE is x (at most 3)."""
ABOUT_BIAS = "Bias of the plug-in value and of `debiased_ece`, with standard errors."
ABOUT_DIFFERENCES = """\
Coverage in percent of `paired_bootstrap`, and how often it says 'interval unreliable near zero ECE'. Where Sem1 is
calibrated, and in the crossing population, the interval of the ECE difference cannot be relied on; that of the mean
difference can."""
ABOUT_CONSTANT = f"""\
One confidence for all questions, by exact binomial sums: least coverage of `ece_interval`, and most runs in which
`check --max` passes although the true ECE is the limit (at most 3), both in percent, over the accuracies
{", ".join(f"{p:g}" for p in ACCURACIES)} and as many wrong ones."""
ABOUT_FEW = f"""\
Few questions: coverage in percent of `ece_interval` for Sem1. 'Certain': questions with Sem1 above {CERTAIN}."""


def percentile_ends(sample: Pool, correct: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Percentile ends of both ECEs over bootstrap samples of the questions; shape (2 ends, 2 confidences)."""
    n = len(correct)
    features = np.zeros((n, 20))
    for place, confidence in enumerate((sample.sem1, sample.sem2)):
        features[np.arange(n), 10 * place + bin_index(confidence)] = correct - confidence
    chunk = max(1, 150_000 // n)
    values = []
    for _ in range(0, N_RESAMPLES, chunk):
        drawn = rng.integers(0, n, (chunk, n)) + n * np.arange(chunk)[:, None]
        weights = np.bincount(drawn.ravel(), minlength=chunk * n).reshape(chunk, n).astype(float)
        values.append(np.abs((weights @ features).reshape(chunk, 2, 10)).sum(axis=2) / n)
    return np.quantile(np.concatenate(values), [0.025, 0.975], axis=0)


def normal_spread(confidence: np.ndarray, correct: np.ndarray) -> float:
    """Half width of a normal interval of the ECE."""
    rows = check_rows(confidence, correct)
    residual, covariance, _ = residual_moments(rows, width_bins(rows.confidence, 10))
    sign = np.sign(residual)
    return Z * max(float(sign @ covariance @ sign), 0.0) ** 0.5


def ends_of_eces(sample: Pool, correct: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Compute the ends of every interval, then plug-in and debiased value; shape (methods + 1, 2 confidences, 2)."""
    pair = (sample.sem1, sample.sem2)
    plug_in = np.array([ece(c, correct) for c in pair])
    debiased = np.array([debiased_ece(c, correct, rng=rng) for c in pair])
    spread = np.array([normal_spread(c, correct) for c in pair])
    low, high = percentile_ends(sample, correct, rng)
    return np.stack(
        [
            np.array([ece_interval(c, correct, rng=rng)[1:] for c in pair]),
            np.stack([low, high], axis=1),
            np.stack([2 * plug_in - high, 2 * plug_in - low], axis=1),
            np.stack([debiased - spread, debiased + spread], axis=1),
            np.stack([plug_in, debiased], axis=1),
        ]
    )


def missed(confidence: np.ndarray, correct: np.ndarray, truth: float, rng: np.random.Generator | int) -> list[bool]:
    """Whether the lower end of `ece_interval` is above the truth, and its upper end below it."""
    rows = check_rows(confidence, correct)
    residuals = residual_moments(rows, width_bins(rows.confidence, 10))
    r, covariance, _ = residuals
    total = float(np.abs(r).sum())
    above = False
    if truth < total - TINY:
        noise = paired_draws(covariance, rng)
        around = np.abs(cleared(r, covariance)[:, None] * (truth / total) + noise).sum(axis=0)
        above = bool(np.quantile(around, 0.975, method="higher") < total)
    return [above, upper_end(residuals, 0.95) < truth - TINY]


def constant_row(confidence: float, size: int) -> list[str]:
    """Least coverage, and most passes, of one confidence; exact."""
    held, passed = [], []
    for p in sorted({*ACCURACIES, *(round(1 - p, 3) for p in ACCURACIES)}):
        truth, chance = abs(p - confidence), binom.pmf(np.arange(size + 1), size, p)
        some = np.flatnonzero(chance > RARE)
        ends = np.array([missed(np.full(size, confidence), np.arange(size) < x, truth, 0) for x in some])
        held.append(1 - chance[some] @ ends.any(axis=1))
        passed.append(chance[some] @ ends[:, 1])
        x = int(some[np.argmax(chance[some])])
        found = ece_interval(np.full(size, confidence), np.arange(size) < x)
        assert [found.low > truth + 1e-6, found.high < truth - TINY] == list(ends[list(some).index(x)])
    return [f"{confidence:g}", f"{size:,}", percent(min(held)), percent(max(passed))]


def covered(ends: np.ndarray, truth: np.ndarray | float) -> np.ndarray:
    """Whether intervals (last axis) hold the truth; a hair's breadth is not a miss."""
    return (ends[..., 0] <= truth + 1e-12) & (truth - 1e-12 <= ends[..., 1])


def percent(share: np.ndarray | float) -> str:
    return f"{100 * float(share):.1f}"


class Cell:
    """The replications of one population at one number of questions."""

    def __init__(self, pool: Pool, population: str, size: int, replications: int) -> None:
        accuracy = CORRECTNESS[population](pool.sem1)
        self.name = [population, str(size)]
        self.truth = np.array([ece(pool.sem1, accuracy), ece(pool.sem2, accuracy)])
        self.mean_truth = float((pool.sem1 - pool.sem2).mean())
        rng = np.random.default_rng([size, len(population)])
        eces, differences, notes, ends = [], [], [], []
        for replication in range(replications):
            index = rng.integers(0, len(accuracy), size)
            sample, correct = pool.take(index), (rng.random(size) < accuracy[index]).astype(float)
            pair = zip((sample.sem1, sample.sem2), self.truth, strict=True)
            ends.append([missed(c, correct, truth, rng) for c, truth in pair])
            if replication % COMPARED:
                continue
            eces.append(ends_of_eces(sample, correct, rng))
            paired = paired_bootstrap(sample.sem1, sample.sem2, correct, resampling=Resampling(N_RESAMPLES, rng=rng))
            differences.append([paired.overall.mean_difference[1:], paired.overall.ece_difference[1:]])
            notes.append(bool(paired.overall.note))
        self.eces, self.differences, self.notes = np.array(eces), np.array(differences), np.array(notes)
        self.missed = np.array(ends)

    def interval_rows(self) -> list[list[str]]:
        rows = []
        for place, confidence in enumerate(CONFIDENCES):
            ends = self.eces[:, : len(METHODS), place]
            hits = covered(ends, self.truth[place]).mean(axis=0)
            too_high, passes = self.missed[:, place].mean(axis=0)
            width = (ends[:, 0, 1] - ends[:, 0, 0]).mean()
            held = percent(1 - too_high - passes)
            numbers = [f"{self.truth[place]:.4f}", held, percent(too_high), percent(passes), f"{width:.3f}"]
            rows.append([*self.name, confidence, *numbers, *map(percent, hits[1:])])
        return rows

    def bias_rows(self) -> list[list[str]]:
        bias = self.eces[:, -1].mean(axis=0) - self.truth[:, None]
        error = self.eces[:, -1].std(axis=0) / len(self.eces) ** 0.5
        return [
            [*self.name, confidence, *(f"{bias[i, j]:+.4f} ± {error[i, j]:.4f}" for j in range(2))]
            for i, confidence in enumerate(CONFIDENCES)
        ]

    def difference_row(self) -> list[str]:
        gap = float(self.truth[0] - self.truth[1])
        hits = covered(self.differences, np.array([self.mean_truth, gap]))
        numbers = [f"{self.mean_truth:.4f}", percent(hits[:, 0].mean()), f"{gap:+.4f}", percent(hits[:, 1].mean())]
        return [*self.name, *numbers, percent(self.notes.mean())]


def few_rows(pool: Pool, size: int, replications: int) -> list[list[str]]:
    """Coverage and width of ece_interval for Sem1 with few questions, also of a model that is nearly always certain."""
    certain = pool.take(np.flatnonzero(pool.sem1 > CERTAIN))
    cells = [(name, pool, function) for name, function in CORRECTNESS.items()]
    cells += [("certain, calibrated", certain, CORRECTNESS["calibrated"])]
    cells += [("certain, accuracy 0.95", certain, lambda c: np.full_like(c, 0.95))]
    rows = []
    for name, questions, function in cells:
        accuracy = function(questions.sem1)
        truth, rng = ece(questions.sem1, accuracy), np.random.default_rng(size)
        ends, widths = [], []
        for replication in range(replications):
            index = rng.integers(0, len(accuracy), size)
            sample = questions.sem1[index], rng.random(size) < accuracy[index]
            ends.append(missed(*sample, truth, rng))
            if replication % COMPARED == 0:
                _, low, high = ece_interval(*sample, rng=rng)
                widths.append(high - low)
        too_high, passes = np.mean(ends, axis=0)
        numbers = [percent(1 - too_high - passes), percent(too_high), percent(passes), f"{np.mean(widths):.3f}"]
        rows.append([name, str(size), f"{truth:.4f}", *numbers])
    return rows


def main(replications: int = REPLICATIONS, pool_size: int = POOL) -> str:
    start = time.perf_counter()
    pool = draw_pool(pool_size)
    cells = [Cell(pool, name, size, replications) for name, size in product(CORRECTNESS, SIZES)]
    constant = [constant_row(c, size) for c, size in product(CONSTANT, CONSTANT_SIZES)]
    few = [row for size in FEW for row in few_rows(pool, size, replications)]
    minutes = (time.perf_counter() - start) / 60
    error = 100 * (0.95 * 0.05 / replications) ** 0.5
    setting = (
        f"{replications:,} replications a cell (a coverage of 95 % has a standard error of {error:.1f} %), "
        f"a pool of {pool_size:,} questions, {N_RESAMPLES} bootstrap samples, {minutes:.0f} minutes. "
        f"Other methods, widths, bias and differences in one run of {COMPARED}."
    )
    parts = [
        " ".join((__doc__ or "").split("\n\n", 1)[1].split()),
        setting,
        ABOUT_INTERVALS,
        table(
            ["population", "Q", "", "true ECE", "ece_interval", "too high", "passes", "mean width", *METHODS[1:]],
            [row for cell in cells for row in cell.interval_rows()],
        ),
        ABOUT_BIAS,
        table(["population", "Q", "", "plug-in", "debiased"], [row for cell in cells for row in cell.bias_rows()]),
        ABOUT_DIFFERENCES,
        table(
            ["population", "Q", "mean difference", "covers", "ECE difference", "covers", "noted"],
            [cell.difference_row() for cell in cells],
        ),
        ABOUT_FEW,
        table(["population", "Q", "true ECE", "covers", "too high", "passes", "mean width"], few),
        ABOUT_CONSTANT,
        table(["confidence", "N", "covers", "passes"], constant),
    ]
    return "\n\n".join(parts)


if __name__ == "__main__":
    print(main())
