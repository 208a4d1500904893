"""Answers counted into a table and summarised, labels in Parquet and texts in JSON Lines: time and peak memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks._tables import table

TITLE = "Labelled answers as a table"
SIZES = (20_000, 200_000, 2_000_000, 20_000_000)
TEXTS = (20_000, 200_000)
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


def labelled(folder: Path, n: int) -> tuple[str, ...]:
    """Make Parquet files of labels, and say how they are scored."""
    rng, files = np.random.default_rng(0), folder / str(n)
    files.mkdir()
    for first in range(0, n, PART):
        part(min(PART, n - first), rng).write_parquet(files / f"{first:09d}.parquet")
    return (str(files),)


def texts(folder: Path, n: int) -> tuple[str, ...]:
    """Make a file of texts, eight to choose from at each question, and say how it is scored."""
    rng, file = np.random.default_rng(0), folder / f"{n}.jsonl"
    known = ["Paris", "London", "Rome", "Berlin", "New York City", "the Nile", "1889", "Marie Curie"]
    with file.open("w", encoding="utf-8") as lines:
        for i in range(n):
            answers = [known[place] for place in rng.choice(8, N, p=rng.dirichlet(np.full(8, 0.4)))]
            row = {"question": f"Question number {i}?", "references": [known[rng.integers(8)]], "answers": answers}
            lines.write(json.dumps(row) + "\n")
    return (str(file), "--judge", "exact")


def measured(words: tuple[str, ...], n: int, output: Path) -> list[str]:
    """Score n questions in a process of its own: CPU seconds and peak memory."""
    command = [sys.executable, "-c", MAIN, "score", *words, "-o", str(output)]
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
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        measured(labelled(folder, 1_000), 1_000, folder / "table.parquet")  # compiled before it counts
        rows = [measured(labelled(folder, n), n, folder / "table.parquet") for n in SIZES]
        more = [measured(texts(folder, n), n, folder / "table.parquet") for n in TEXTS]
    head = ["answers", "distinct questions", "CPU", "an answer", "peak memory"]
    setting = (
        f"`semece score FOLDER -o TABLE.parquet`: Parquet files of {PART:,} questions with {N} labels each, and the "
        "summary; the whole process with its start, about 2 s and 250 MB."
    )
    also = f"`semece score FILE.jsonl --judge exact -o TABLE.parquet`: {N} answers to a question, of 8 different ones."
    return "\n\n".join([setting, table(head, rows), also, table(head, more)])


if __name__ == "__main__":
    print(main())
