"""SemX against Sem2 on 4,000 questions with 50 responses, and a million questions in a process of its own."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

from benchmarks._splits import draw_labels, seconds_of_many
from benchmarks._tables import table
from semece.stats.counts import Counts
from semece.stats.estimators import sem2
from semece.stats.estimators.semx import semx
from semece.stats.uncertainty.held_out_errors import held_out_gap, semx_ece

TITLE = "SemX"
N = 4000

CODE = """
import resource, sys, time
import numpy as np
from semece.stats.counts import Counts
from semece.stats.estimators.semx import semx
from semece.stats.uncertainty.held_out_errors import held_out_gap, semx_ece

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20

rng = np.random.default_rng(0)
n = int(sys.argv[1])
parts = []
for start in range(0, n, 50_000):
    size = min(50_000, n - start)
    share = rng.beta(2, 1, (size, 1))
    labels = np.minimum(rng.geometric(np.maximum(share, 0.15), (size, 50)) - 1, 11).astype(np.uint8)
    parts.append(Counts.from_labels(labels))
values = np.concatenate([part.values for part in parts])
sizes = np.concatenate([np.diff(part.offsets) for part in parts])
counts = Counts(values, np.concatenate([[0], np.cumsum(sizes)]))
correct = (rng.random(len(values)) < 0.5).astype(float)
del parts, values, sizes
some = counts.take(np.arange(2000))[0]
semx_ece(semx(correct=correct[: len(some.values)], counts=some))
print(peak())
start = time.perf_counter()
residuals = semx(correct=correct, counts=counts)
print(time.perf_counter() - start)
semx_ece(residuals), held_out_gap(residuals)
print(time.perf_counter() - start)
print(peak())
print(len(residuals.value) / n)
"""


def main() -> str:
    counts = Counts.from_labels(draw_labels(N))
    correct = np.random.default_rng(1).integers(0, 2, len(counts.values)).astype(float)
    residuals = semx(correct=correct, counts=counts)
    calls = {
        "`sem2(counts=...)`": lambda: sem2(counts=counts),
        "`semx(correct=..., counts=...)`": lambda: semx(correct=correct, counts=counts),
        "`semx_ece`": lambda: semx_ece(residuals),
        "`held_out_gap`": lambda: held_out_gap(residuals),
    }
    times = {name: seconds_of_many(call) for name, call in calls.items()}
    first = next(iter(times.values()))
    rows = [[name, f"{1000 * seconds:.1f}", f"{seconds / first:.2f}"] for name, seconds in times.items()]
    done = subprocess.run([sys.executable, "-c", CODE, "1000000"], capture_output=True, text=True, check=True)
    before, found, judged, after, entries = map(float, done.stdout.split())
    many = [
        ["counts and libraries in memory, peak", f"{before:.2f} GB"],
        ["`semx`", f"{found:.1f} s"],
        ["`semx_ece` and `held_out_gap`", f"{judged - found:.1f} s"],
        ["peak memory of the process", f"{after:.2f} GB"],
    ]
    return "\n\n".join(
        [
            f"{N:,} questions, 50 responses:",
            table(["", "ms", "ratio"], rows),
            f"1,000,000 questions, 50 responses, {entries:.1f} bins on average; a process of its own:",
            table(["", ""], many),
        ]
    )


if __name__ == "__main__":
    print(main())
