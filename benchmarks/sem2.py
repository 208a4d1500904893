"""Exact Sem2 against ten random half-splits, on 4,000 questions with 50 responses."""

from __future__ import annotations

import numpy as np

from benchmarks._splits import (
    authors_loop,
    draw_labels,
    own_splits,
    seconds_of_many,
    shared_splits,
    shared_splits_in_bytes,
)
from benchmarks._tables import median_seconds, table
from semece.stats.counts import Counts
from semece.stats.estimators import sem2

TITLE = "Exact Sem2"
N = 4000
N_SPLITS = 10
TARGET = 1e-4
"""Standard error that random splits are asked for."""


def single_split_deviation(labels: np.ndarray, exact: np.ndarray, n_splits: int = 300) -> np.ndarray:
    """Estimate the standard deviation over splits of each question's held-out frequency."""
    rng = np.random.default_rng(2)
    squares = np.zeros(len(labels))
    for _ in range(n_splits):
        squares += (own_splits(labels, 1, rng) - exact) ** 2
    return np.sqrt(squares / n_splits)


def main() -> str:
    labels = draw_labels(N)
    counts = Counts.from_labels(labels)
    exact = sem2(counts=counts)
    rng = np.random.default_rng(1)
    calls = {
        "`sem2(counts=...)`, all splits": lambda: sem2(counts=counts),
        "the same from the labels": lambda: sem2(counts=Counts.from_labels(labels)),
        "ten splits, each question its own": lambda: own_splits(labels, N_SPLITS, rng),
        "ten splits shared by all questions": lambda: shared_splits(labels, N_SPLITS, rng),
        "the same, counted in bytes": lambda: shared_splits_in_bytes(labels, N_SPLITS, rng),
    }
    times = {name: seconds_of_many(call) for name, call in calls.items()}
    times["ten splits, a question at a time (the authors)"] = median_seconds(lambda: authors_loop(labels), 3)
    deviation = single_split_deviation(labels, exact)
    needed = float(np.median(deviation[deviation > 0] ** 2)) / TARGET**2
    ours = next(iter(times.values()))
    rows = []
    for name, seconds in times.items():
        is_split = "ten splits" in name or "bytes" in name
        longer = f"{seconds / N_SPLITS * needed:,.0f}" if is_split else f"{seconds:.4f}"
        rows.append([name, f"{1000 * seconds:.1f}", f"{seconds / ours:.1f}", longer])
    error = deviation / np.sqrt(N_SPLITS)
    setting = (
        f"{N:,} questions, 50 responses, {len(counts.distinct()[0]):,} distinct sets of counts. "
        f"Ten splits leave a standard error of {np.median(error[error > 0]):.4f} (median over questions that vary, "
        f"90th percentile {np.quantile(error[error > 0], 0.9):.4f}). The last column is the time for a median standard "
        f"error of {TARGET:g}, {needed:,.0f} splits, by proportion; the exact value has none. Shared splits are fair "
        "only if responses come in random order."
    )
    return "\n\n".join([setting, table(["", "ms", "ratio", f"s to {TARGET:g}"], rows)])


if __name__ == "__main__":
    print(main())
