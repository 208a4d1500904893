"""How often the intervals of scores hold: simulated questions with known truth.

Populations as for the coverage of intervals: K ~ U{2..12} classes, Dirichlet(alpha) with alpha in {.15, .4, 1, 3}, n =
50 responses; correctness is Bernoulli of a function of the reported Sem1. Samples come with replacement from a pool of
questions, whose own values are the truth; with 'clusters' each question comes four times with the same correctness and
N counts questions.
"""

from __future__ import annotations

import os
import sys
import time
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

import semece as se
from benchmarks._pool import draw_pool
from benchmarks._tables import table
from semece.stats import diagnostics
from semece.stats.counts import Counts
from semece.stats.simulation import CORRECTNESS, FAMILIES
from semece.stats.uncertainty.bootstrap import Resampling

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

TITLE = "Coverage of intervals of scores"
POOL = 100_000
REPLICATIONS = int(os.environ.get("SCORE_REPLICATIONS", "2000"))
SCORES = ("brier", "auroc", "aurc", "smooth_ece", "ece_sweep")
DRAWN = ("smooth_ece", "ece_sweep")
"""Their intervals take most of the time: they are made in one run of five."""
FIFTH = 5
COPIES = 4
CELLS = (
    *((name, size, 1) for name, size in product((*CORRECTNESS, "nearly all right"), (100, 500))),
    *((name, 50, COPIES) for name in CORRECTNESS),
)

FALLING = ("dirichlet-mixture", "near-tie")
FALLING_POOL = 10_000
ABOUT_FALLING = f"""\
Coverage in percent of the intervals of `diagnostics.rate_slope` and, at each budget, of `diagnostics.rate`; 400 rows,
of as many questions or of 100 in {COPIES} pooled runs; {REPLICATIONS // FIFTH:,} replications."""
ABOUT = f"""\
Coverage in percent of the intervals at 95 % of Sem1's scores, 'too high' in brackets: the lower end lies above the
truth. An AUROC that does not exist, because all answers are alike, is no miss. Smooth ECE and sweep-ECE: one run of
{FIFTH}."""


def accuracy_of(name: str, confidence: np.ndarray) -> np.ndarray:
    """Chance of each question to be right."""
    return 0.97 + 0.03 * confidence if name == "nearly all right" else CORRECTNESS[name](confidence)


def ends(score: str, confidence: np.ndarray, correct: np.ndarray, copies: int) -> tuple[float, float]:
    """Ends of an interval; those of a number that does not exist hold everything."""
    ids = np.repeat(np.arange(len(confidence)), copies) if copies > 1 else None
    rows = np.repeat(confidence, copies), np.repeat(correct, copies)
    _, low, high = getattr(se, f"{score}_interval")(*rows, ids=ids)
    return (-np.inf, np.inf) if np.isnan(low) else (low, high)


def cell_row(confidence: np.ndarray, cell: tuple[str, int, int]) -> list[str]:
    """Coverage of every score in one cell."""
    name, size, copies = cell
    chance, rng = accuracy_of(name, confidence), np.random.default_rng([size, len(name), copies])
    truth = {score: getattr(se, score)(confidence, chance) for score in SCORES if score != "brier"}
    truth["brier"] = float(np.mean(chance * (1 - confidence) ** 2 + (1 - chance) * confidence**2))
    found: dict[str, list[tuple[float, float]]] = {score: [] for score in SCORES}
    for run in range(REPLICATIONS):
        at = rng.integers(0, len(confidence), size)
        correct = (rng.random(size) < chance[at]).astype(float)
        for score in SCORES:
            if score not in DRAWN or run % FIFTH == 0:
                found[score].append(ends(score, confidence[at], correct, copies))
    row = [name, f"{size:,}" + (f" x {copies}" if copies > 1 else "")]
    for score in SCORES:
        low, high = np.array(found[score]).T
        above = low > truth[score] + 1e-9
        held = 100 * np.mean(~above & (high >= truth[score] - 1e-9))
        row += [f"{truth[score]:.3f}", f"{held:.1f} ({100 * above.mean():.1f})"]
    print(*row, sep=" | ", file=sys.stderr, flush=True)
    return row


def falling_row(family: str, copies: int) -> list[str]:
    """Coverage of the gaps that `rate` gives and of the slope, of 400 rows."""
    rng = np.random.default_rng([len(family), copies])
    pmf = np.repeat(FAMILIES[family](FALLING_POOL, rng=rng).pmf, copies, axis=0)
    counts = rng.multinomial(50, pmf)

    def tables(rows: np.ndarray, ids: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        some = diagnostics.pool(counts=Counts.from_counts(rows), correct=np.zeros(len(rows)))
        gaps = diagnostics.rate(some, ids=ids).select("gap_low", "gap", "gap_high").to_numpy()
        slope = diagnostics.rate_slope(some, ids=ids).select("low", "slope", "high").row(0)
        return gaps, np.array(slope, dtype=float)

    truth, slope_truth = (part[..., 1] for part in tables(counts, None))
    held, held_slope = [], []
    for _ in range(REPLICATIONS // FIFTH):
        at = rng.integers(0, FALLING_POOL, 400 // copies)
        rows = (at[:, None] * copies + np.arange(copies)).ravel()
        gaps, slope = tables(counts[rows], np.repeat(np.arange(len(at)), copies) if copies > 1 else None)
        held.append((gaps[:, 0] <= truth) & (truth <= gaps[:, 2]))
        held_slope.append(slope[0] <= slope_truth <= slope[2])
    row = [family, f"{400 // copies}" + (f" x {copies}" if copies > 1 else ""), f"{slope_truth:.3f}"]
    row += [f"{100 * np.mean(held_slope):.1f}", *(f"{100 * share:.1f}" for share in np.mean(held, axis=0))]
    print(*row, sep=" | ", file=sys.stderr, flush=True)
    return row


ABOUT_SMALLER = f"""\
Coverage in percent of the intervals of `diagnostics.sweep` at 10 of 20 answers, and of the difference of ECEs that
`diagnostics.rate` gives if every margin is low; Dirichlet mixture, correctness a function of Sem1 of the 20 answers;
{REPLICATIONS // FIFTH:,} replications, of the difference one of {FIFTH}."""
SMALLER = (
    "sem1",
    "sem2",
    "gap",
    "accuracy",
    "ece_of_expected_sem1",
    "ece_of_expected_sem2",
    "ece_of_one_subsample_sem1",
)


def smaller_row(name: str, size: int) -> list[str]:
    """Coverage of every number of a sweep, and of the difference of ECEs at low margins."""
    rng = np.random.default_rng([size, len(name)])
    counts = rng.multinomial(20, FAMILIES["dirichlet-mixture"](FALLING_POOL, rng=rng).pmf)
    chance = CORRECTNESS[name](counts.max(axis=1) / 20)

    def pool_of(rows: np.ndarray, correct: np.ndarray) -> diagnostics.Pool:
        return diagnostics.pool(counts=Counts.from_counts(rows), correct=np.zeros(len(rows)))._replace(correct=correct)

    def ends(table: pl.DataFrame, names: Sequence[str]) -> np.ndarray:
        return table.select(f"{each}{end}" for each in names for end in ("", "_low", "_high")).to_numpy().reshape(-1, 3)

    def held(found: np.ndarray, truth: np.ndarray) -> np.ndarray:
        return (found[:, 1] <= truth + 1e-9) & (truth - 1e-9 <= found[:, 2])

    whole, budget = pool_of(counts, chance), {"budgets": [10], "resampling": Resampling(n_resamples=200)}
    low = {"margin": np.zeros(FALLING_POOL), **budget}
    truth = ends(diagnostics.sweep(whole, **budget), SMALLER)[:, 0]
    gap = ends(diagnostics.rate(whole, **low), ["ece_gap"])[:, 0]
    numbers, gaps = [], []
    for run in range(REPLICATIONS // FIFTH):
        at = rng.integers(0, FALLING_POOL, size)
        some = pool_of(counts[at], (rng.random(size) < chance[at]).astype(float))
        numbers.append(held(ends(diagnostics.sweep(some, **budget), SMALLER), truth))
        if run % FIFTH == 0:
            table = diagnostics.rate(some, **(low | {"margin": np.zeros(size)}))
            gaps.append(held(ends(table, ["ece_gap"]), gap))
    shares = [*np.mean(numbers, axis=0), np.mean(gaps)]
    row = [name, str(size), *(f"{100 * share:.1f}" for share in shares)]
    print(*row, sep=" | ", file=sys.stderr, flush=True)
    return row


def main() -> str:
    began, pool = time.perf_counter(), draw_pool(POOL)
    rows = [cell_row(pool.sem1, cell) for cell in CELLS]
    falling = [falling_row(family, copies) for family, copies in product(FALLING, (1, COPIES))]
    smaller = [smaller_row(name, size) for name, size in product(CORRECTNESS, (100, 500))]
    minutes = (time.perf_counter() - began) / 60
    setting = f"{REPLICATIONS:,} replications a cell, a pool of {POOL:,} questions, {minutes:.0f} minutes."
    names = ("Brier", "AUROC", "AURC", "smooth ECE", "sweep-ECE")
    header = ["population", "N", *(part for name in names for part in (name, "covers"))]
    about = " ".join((__doc__ or "").split("\n\n", 1)[1].split())
    gaps = ["population", "questions", "slope", "covers", *(f"gap at {n}" for n in diagnostics.BUDGETS)]
    parts = [about, setting, ABOUT, table(header, rows), ABOUT_FALLING, table(gaps, falling)]
    numbers = [*(each.replace("_", " ") for each in SMALLER), "difference of ECEs"]
    return "\n\n".join([*parts, ABOUT_SMALLER, table(["population", "N", *numbers], smaller)])


if __name__ == "__main__":
    print(main())
