"""Three steps beside the least that they can take: counting and estimating, reading JSON, opening a judged run."""

from __future__ import annotations

import asyncio
import importlib
import json
import sqlite3
import tempfile
import time
from collections import deque
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks._tables import table
from semece.datasets import Dataset
from semece.formats import Wanted, open_samples
from semece.records import Question
from semece.runs.run import Run
from semece.sampling import Settings, resolve
from semece.sampling.stages import make_run
from semece.stats import Counts, estimate, partial, weighted_estimates

if TYPE_CHECKING:
    from collections.abc import Callable

TITLE = "Beside the least that a step can take"
QUESTIONS, N, ROUNDS = 200_000, 50, 5
SAMPLES, OPENED = 20_000, 2_000
"""Questions of the file of samples, and of the run that is opened."""
COLUMNS = "stage, question_id, position, status, text, raw, judge"


def least(what: Callable[[], object]) -> float:
    """CPU seconds of the fastest of some rounds."""
    found = []
    for _ in range(ROUNDS):
        start = time.process_time()
        what()
        found.append(time.process_time() - start)
    return min(found)


def row(name: str, ours: float, beside: str, limit: float) -> list[str]:
    """Lay out one comparison."""
    return [name, f"{ours:.3f}", beside, f"{limit:.3f}", f"{ours / limit:.2f}"]


def counting(rng: np.random.Generator) -> list[str]:
    """Estimate questions one by one, and distinct ones once."""
    share = np.maximum(rng.beta(2, 1, (QUESTIONS, 1)), 0.15)
    labels = np.minimum(rng.geometric(share, (QUESTIONS, N)) - 1, 11)
    correct = (rng.random(QUESTIONS) < 0.5).astype(float)
    ends = np.cumsum(labels.max(axis=1) + 1)
    grades = np.zeros(ends[-1], dtype=np.int64)
    grades[np.concatenate([[0], ends[:-1]])] = correct
    flat, offsets, grade_offsets = labels.ravel(), np.arange(0, labels.size + 1, N), np.concatenate([[0], ends])
    ours = least(lambda: estimate(None, correct, counts=Counts.from_labels(labels)))
    limit = least(lambda: weighted_estimates(partial(flat, offsets, grades, grade_offsets)))
    name = f"counts and estimates of {QUESTIONS:,} questions x {N}"
    return row(name, ours, "one compiled pass, then each distinct question once", limit)


def reading(folder: Path, rng: np.random.Generator) -> list[str]:
    """Read a file of samples, and its lines with a parser of JSON alone."""
    texts = [f"the answer {i}" for i in range(8)]
    with (folder / "samples.jsonl").open("w", encoding="utf-8") as file:
        for i in range(SAMPLES):
            answers = [texts[place] for place in rng.choice(8, N, p=rng.dirichlet(np.full(8, 0.4)))]
            made = {"id": str(i), "question": f"Question {i}?", "references": texts[:1], "answers": answers}
            file.write(json.dumps(made) + "\n")
    lines = (folder / "samples.jsonl").read_bytes().splitlines()
    try:
        parser = importlib.import_module("orjson")
    except ImportError:
        parser = json
    ours = least(lambda: deque(open_samples([folder / "samples.jsonl"], wanted=Wanted()).samples, 0))
    limit = least(lambda: [parser.loads(line) for line in lines])
    return row(f"{SAMPLES:,} questions x {N} of JSON Lines", ours, f"{parser.__name__} alone, into a list", limit)


def opening(folder: Path) -> list[str]:
    """Open a judged run in a new object, and read the same columns with SQLite."""
    rows = (Question(str(i), f"Question number {i}?", (f"answer {i}",)) for i in range(OPENED))
    settings, file = Settings("fake/?pmf=.5,.3,.2&choices=8", "made", n=N, judge="rules"), folder / "run.db"
    asyncio.run(make_run(resolve(settings, file, dataset=Dataset("made", tuple(rows)))))

    def ours() -> None:
        with Run(file) as run:
            run.estimates()

    def limit() -> None:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as connection:
            connection.execute(f"SELECT {COLUMNS} FROM replies").fetchall()

    ours()  # what the judge says is stored by the first who reads it
    name = f"opening {OPENED * N:,} judged answers"
    return row(name, least(ours), "SQLite alone reads the columns", least(limit))


def main() -> str:
    """Measure all three in one process."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name:
        rows = [counting(rng), reading(Path(name), rng), opening(Path(name))]
    setting = f"CPU seconds, the least of {ROUNDS} rounds, all in one process."
    return setting + "\n\n" + table(["step", "s", "beside", "s", "ratio"], rows)


if __name__ == "__main__":
    print(main())
