"""The paired bootstrap against loops over replicates, on N = 4,300 questions with B = 1000."""

from __future__ import annotations

import numpy as np

from benchmarks._pool import Pool, draw_pool
from benchmarks._tables import median_seconds, table
from semece.stats.calibration.bins import EDGE_TOLERANCE, bin_index
from semece.stats.uncertainty.bootstrap import paired_bootstrap

TITLE = "Paired bootstrap"
N = 4300
N_RESAMPLES = 1000
EDGES = np.arange(1, 10) / 10 - EDGE_TOLERANCE
TAILS = [0.025, 0.975]


def vectorised_ece(confidence: np.ndarray, correct: np.ndarray) -> float:
    place = np.searchsorted(EDGES, confidence, side="right")
    return float(np.abs(np.bincount(place, correct - confidence, 10)).sum() / len(correct))


def loop(data: Pool, correct: np.ndarray) -> np.ndarray:
    """Resample the questions and compute the three statistics, a replicate at a time."""
    rng, n = np.random.default_rng(0), len(correct)
    found = np.empty((N_RESAMPLES, 3))
    for replicate in found:
        index = rng.integers(0, n, n)
        first, second, a, low = data.sem1[index], data.sem2[index], correct[index], data.low[index]
        replicate[0] = (first - second).mean()
        replicate[1] = vectorised_ece(first, a) - vectorised_ece(second, a)
        replicate[2] = vectorised_ece(first[low], a[low]) - vectorised_ece(second[low], a[low])
    return np.quantile(found, TAILS, axis=0)


def prepared_loop(data: Pool, correct: np.ndarray) -> np.ndarray:
    """Do the same with residuals, bins and strata computed once, outside the loop."""
    rng, n = np.random.default_rng(0), len(correct)
    stratum = 10 * data.low
    places = [bin_index(c) + stratum for c in (data.sem1, data.sem2)]
    residuals = [correct - c for c in (data.sem1, data.sem2)]
    difference, low = data.sem1 - data.sem2, data.low.astype(float)
    found = np.empty((N_RESAMPLES, 3))
    for replicate in found:
        index = rng.integers(0, n, n)
        sums = [np.bincount(p[index], r[index], 20).reshape(2, 10) for p, r in zip(places, residuals, strict=True)]
        everywhere = [np.abs(s.sum(axis=0)).sum() for s in sums]
        at_low = [np.abs(s[1]).sum() for s in sums]
        replicate[0] = difference[index].mean()
        replicate[1] = (everywhere[0] - everywhere[1]) / n
        replicate[2] = (at_low[0] - at_low[1]) / low[index].sum()
    return np.quantile(found, TAILS, axis=0)


def ours(data: Pool, correct: np.ndarray) -> np.ndarray:
    result = paired_bootstrap(data.sem1, data.sem2, correct, low_margin=data.low)
    low = result.low_margin
    return np.array([result.overall.mean_difference[1:], result.overall.ece_difference[1:], low.ece_difference[1:]]).T


def main() -> str:
    data = draw_pool(N)
    correct = (np.random.default_rng(1).random(N) < data.sem1**2).astype(float)
    ends = [function(data, correct) for function in (ours, loop, prepared_loop)]
    apart = max(float(np.abs(ends[0] - other).max()) for other in ends[1:])
    times = [median_seconds(lambda f=function: f(data, correct)) for function in (ours, loop, prepared_loop)]
    names = (
        "`paired_bootstrap`, with the mean at low margin and the notes",
        "a loop over replicates, numpy within each",
        "the same loop, bins and residuals computed before it",
    )
    rows = [[name, f"{1000 * t:.0f}", f"{t / times[0]:.1f}"] for name, t in zip(names, times, strict=True)]
    verdict = f"at most {apart:.4f} apart, since ours draws the rows in a canonical order"
    distinct = len(np.unique(np.column_stack([*data, correct]), axis=0))
    setting = (
        f"Mean difference, ECE difference and ECE difference at low margin; N = {N:,} questions, "
        f"{distinct:,} distinct rows, B = {N_RESAMPLES:,}. The intervals are {verdict}."
    )
    return "\n\n".join([setting, table(["", "ms", "ratio"], rows)])


if __name__ == "__main__":
    print(main())
