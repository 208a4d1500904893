"""Labelled answers in Parquet, counted into a table and summarised: time and peak memory by their number."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks._tables import table

TITLE = "Labelled answers as a table"
SIZES = (20_000, 200_000, 2_000_000)
N = 50
PART = 100_000
MAIN = "import sys; sys.argv[0] = 'semece'; from semece.cli import main; main()"


def part(n: int, rng: np.random.Generator) -> pl.DataFrame:
    """Draw questions whose six classes take sticks of what is left, the first right 60 % of the time."""
    sticks = rng.beta(2, 1.2, (n, 5))
    left = np.cumprod(np.column_stack([np.ones(n), 1 - sticks]), axis=1)
    ends = np.cumsum(left * np.column_stack([sticks, np.ones(n)]), axis=1)
    labels = (rng.random((n, N))[:, :, None] > ends[:, None, :5]).sum(axis=2)
    right = rng.random(n) < 0.6
    sizes = labels.max(axis=1) + 1
    correct = [[bool(r), *[False] * (size - 1)] for r, size in zip(right.tolist(), sizes.tolist(), strict=True)]
    return pl.DataFrame({"labels": pl.Series(labels.astype(np.int64)).arr.to_list(), "correct": correct})


def measured(folder: Path, n: int) -> list[str]:
    """Score n questions in a process of its own: CPU seconds and peak memory."""
    rng, files = np.random.default_rng(0), folder / str(n)
    files.mkdir()
    for first in range(0, n, PART):
        part(min(PART, n - first), rng).write_parquet(files / f"{first:09d}.parquet")
    output = folder / f"{n}.parquet"
    command = [sys.executable, "-c", MAIN, "score", str(files), "-o", str(output)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, _, used = os.wait4(process.pid, 0)
    cpu = used.ru_utime + used.ru_stime
    rows = pl.read_parquet(output).height
    return [
        f"{n * N:,}",
        f"{rows:,}",
        f"{cpu:.1f} s",
        f"{1e9 * cpu / (n * N):,.0f} ns",
        f"{used.ru_maxrss / 1000:.0f} MB",
    ]


def main() -> str:
    with tempfile.TemporaryDirectory() as folder:
        measured(Path(folder), 1_000)  # compiled before it counts
        rows = [measured(Path(folder), n) for n in SIZES]
    setting = (
        f"`semece score FOLDER -o TABLE.parquet`: Parquet files of {PART:,} questions with {N} labels each, and the "
        "summary; the whole process with its start, about 2 s and 250 MB."
    )
    return "\n\n".join([setting, table(["answers", "distinct questions", "CPU", "an answer", "peak memory"], rows)])


if __name__ == "__main__":
    print(main())
