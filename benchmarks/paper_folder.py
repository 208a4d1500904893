"""``semece paper`` on a study of 15 runs and 40,000 questions: processor time, and that each run is read once."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks._tables import table

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

TITLE = "Tables and figures of a study (15 runs, 40,005 questions x 20 responses)"
MODELS = ("small-8b", "small-8b-instruct-2026", "medium-70b", "large", "large-reasoning-preview")
DATASETS = ("simpleqa", "hard-questions", "triviaqa")
SIZES = (150, 2667)
"""Questions a run."""

N = 20


def samples(rng: np.random.Generator, questions: int) -> Iterator[dict[str, Any]]:
    """Draw questions of which the models know more or less; some confidences are missing."""
    import numpy as np

    spread, known = rng.uniform(0.3, 1.2), rng.uniform(0.35, 0.85)
    for i in range(questions):
        drawn = rng.choice(6, size=N, p=rng.dirichlet([spread] * 6))
        labels = np.unique(drawn, return_inverse=True)[1].tolist()
        order = list(dict.fromkeys(labels))
        labels = [order.index(label) for label in labels]
        right = int(rng.choice(labels)) if rng.random() < known else -1
        grades = {str(k): "correct" if k == right else "incorrect" for k in range(len(order))}
        stated = [None if rng.random() < 0.1 else round(float(rng.uniform(0.6, 1)), 2) for _ in labels]
        row = {"id": f"q{i}", "question": f"Question {i}?", "references": ["a0"], "labels": labels, "grades": grades}
        yield row | {"answers": [f"a{k}" for k in labels], "confidences": stated}


def make_study(folder: Path, questions: int) -> Path:
    """Make the runs of a study of five models and three datasets, and its file."""
    import numpy as np

    from semece.runs import SamplesReading, score

    lists = {
        "models": [f'{{ model = "fake/{name}", name = "{name}" }}' for name in MODELS],
        "datasets": [f'{{ dataset = "{name}" }}' for name in DATASETS],
    }
    lines = [f'study = {{ name = "benchmark", n = {N}, output = "{folder}" }}', 'judge = { judge = "rules" }']
    lines += [f"{name} = [{', '.join(entries)}]" for name, entries in lists.items()]
    file = folder / "study.toml"
    file.write_text("\n".join(lines), encoding="utf-8")
    source = folder / "samples.jsonl"
    for seed, (dataset, model) in enumerate((dataset, model) for dataset in DATASETS for model in MODELS):
        rows = samples(np.random.default_rng(seed), questions)
        source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        score([source], folder / f"{dataset}--{model}.db", reading=SamplesReading(name=model, dataset=dataset))
    return file


def seconds(file: Path, output: Path) -> float:
    """Measure the processor time of the command in a process of its own, on one core's threads."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS"), "1")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "semece", "paper", str(file), "-o", str(output)]
    subprocess.run(command, check=True, env=os.environ | threads, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> str:
    """Time both sizes, with warm compiled kernels."""
    rows = []
    for questions in SIZES:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            file = make_study(folder, questions)
            seconds(file, folder / "first")
            took = seconds(file, folder / "paper")
            files = [path for path in (folder / "paper").rglob("*") if path.is_file()]
            size = sum(path.stat().st_size for path in files)
        rows.append([f"15 x {questions:,}", f"{took:.0f} s", str(len(files)), f"{size / 1e6:.1f} MB"])
    return table(["runs x questions", "processor time", "files", "size"], rows)
