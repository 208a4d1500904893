"""One million questions: time and peak memory of a process that estimates them all."""

from __future__ import annotations

import subprocess
import sys

from benchmarks._tables import table

TITLE = "One million questions"

CODE = """
import resource, sys, time
import numpy as np
from semece.stats.counts import Counts
from semece.stats.estimators import estimate

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20

rng = np.random.default_rng(0)
n = int(sys.argv[1])
labels = np.empty((n, 50), dtype=np.uint8)
for start in range(0, n, 50_000):
    size = min(50_000, n - start)
    share = rng.beta(2, 1, (size, 1))
    labels[start : start + size] = np.minimum(rng.geometric(np.maximum(share, 0.15), (size, 50)) - 1, 11)
correct = (rng.random(n) < 0.5).astype(float)
stated = np.round(rng.random(n), 2)
estimate(labels[:2000], correct[:2000], stated[:2000])
print(peak())
start = time.perf_counter()
counts = Counts.from_labels(labels)
print(time.perf_counter() - start)
table = estimate(None, correct, stated, counts=counts)
print(time.perf_counter() - start)
print(peak())
print(len(counts.values) / n)
"""


def main() -> str:
    done = subprocess.run([sys.executable, "-c", CODE, "1000000"], capture_output=True, text=True, check=True)
    before, counted, estimated, after, classes = map(float, done.stdout.split())
    rows = [
        ["labels and libraries in memory, peak", f"{before:.2f} GB"],
        ["counting the labels", f"{counted:.1f} s"],
        ["`estimate`, all columns, Sem2 exact", f"{estimated - counted:.1f} s"],
        ["peak memory of the process", f"{after:.2f} GB"],
    ]
    setting = (
        f"1,000,000 questions, 50 responses of one byte each, {classes:.1f} classes on average; a process of its own."
    )
    return "\n\n".join([setting, table(["", ""], rows)])


if __name__ == "__main__":
    print(main())
