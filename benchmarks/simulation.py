"""Simulated studies: how long 20,000 questions with 50 responses take, and what is exact about them."""

from __future__ import annotations

import statistics
import time

from semece.stats.simulation import FAMILIES, simulate_study

TITLE = "Simulation"

Q, N, REPEATS = 20_000, 50, 3


def main() -> str:
    """Time `simulate_study` on every family."""
    simulate_study("easy", 1000, N)
    rows = []
    for family in FAMILIES:
        times = []
        for seed in range(REPEATS):
            start = time.perf_counter()
            table = simulate_study(family, Q, N, rng=seed)
            times.append(time.perf_counter() - start)
        value = {
            (quantity, estimator): number
            for quantity, estimator, pairing, number in table.select(
                "quantity", "estimator", "pairing", "value"
            ).iter_rows()
            if pairing != "split"
        }
        numbers = [value["ECE*", "oracle"], value["ECE", "sem1"], value["ECE", "sem2"], value["Sem1 - Sem2", None]]
        cells = " | ".join(f"{number:.4f}" for number in numbers)
        rows.append(f"| {family} | {statistics.median(times):.2f} | {cells} |")
    start = time.perf_counter()
    simulate_study("near-tie", 2000, N, expected=True)
    expected = time.perf_counter() - start
    lines = [
        f"`simulate_study`, {Q:,} questions with n = {N}, over-confident; seconds are medians of {REPEATS} after one",
        "small study (the compiled loops are loaded); the bar is 5 s.",
        "",
        "| family | seconds | ECE* | Sem1-ECE | Sem2-ECE | Sem1 - Sem2 |",
        "| :-- | --: | --: | --: | --: | --: |",
        *rows,
        "",
        f"With `expected=True` (exact expectations of every question), 2,000 questions: {expected:.2f} s.",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    print(main())
