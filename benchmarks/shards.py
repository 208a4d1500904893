"""Twenty shards against one run: every number, and what was paid for twice after one was killed; tables alike."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.labelled_table import N, part
from semece.runs import Run, merge_shards, open_run, tabulate
from semece.sampling import Settings, resolve
from semece.sampling.stages import make_run
from semece.show.tables import summary_table

TITLE = "Shards"
SHARDS, QUESTIONS, ANSWERS, CONCURRENCY = 20, 100, 2, 8
"""Runs: their number, questions of each, answers to each, calls at once."""
LABELLED = 10_000
"""Questions of each file of labels."""
MODEL = "openai-api/test/m"


@contextlib.contextmanager
def serving(references: Path) -> Any:
    """Start a provider in a process of its own."""
    words = ["-m", "tests.servers.openai_server", "--latency", "0.02", "--choices", "2", "--references", references]
    server = subprocess.Popen([sys.executable, *map(str, words)], stdout=subprocess.PIPE, text=True)
    try:
        yield f"http://127.0.0.1:{server.stdout.readline().strip()}"  # type: ignore[union-attr]
    finally:
        server.kill()
        server.wait()


def told(url: str) -> dict[str, Any]:
    """Ask the provider for its account."""
    with urllib.request.urlopen(f"{url}/account") as reply:
        return json.loads(reply.read())


def run(url: str, folder: Path, name: str, shard: str | None) -> float:
    """Make a run, or a part of it: CPU seconds."""
    settings = Settings(
        MODEL,
        str(folder / "made.jsonl"),
        n=ANSWERS,
        judge="rules",
        base_url=f"{url}/v1",
        shard=shard,
        concurrency=CONCURRENCY,
    )
    start = time.process_time()
    assert asyncio.run(make_run(resolve(settings, folder / f"{name}.db"))).missing == 0
    return time.process_time() - start


def _reading(file: Path) -> sqlite3.Connection:
    """Open a run file to look into it: an absent one is not made."""
    return sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)


def killed(url: str, folder: Path, shard: str, name: str) -> int:
    """Begin a part in a process of its own, and kill it when a third of its replies are there; give their number."""
    words = ["run", "-m", MODEL, "-d", folder / "made.jsonl", "-n", ANSWERS, "-j", "rules", "--shard", shard, "-q"]
    words += ["--base-url", f"{url}/v1", "--concurrency", CONCURRENCY, "-o", folder / f"{name}.db"]
    process = subprocess.Popen([sys.executable, "-m", "semece", *map(str, words)], stderr=subprocess.DEVNULL)
    stored = 0
    while process.poll() is None and stored < QUESTIONS * ANSWERS / 3:
        with contextlib.suppress(sqlite3.Error), contextlib.closing(_reading(folder / f"{name}.db")) as file:
            (stored,) = file.execute("SELECT count(*) FROM replies").fetchone()
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    return stored


def runs() -> str:
    """Compare twenty parts, one of them killed and resumed, with one run."""
    os.environ["TEST_API_KEY"] = "none"
    with tempfile.TemporaryDirectory() as name:
        folder, total = Path(name), SHARDS * QUESTIONS
        rows = [{"id": f"q{i}", "question": f"Question {i}?", "references": [f"answer {i}"]} for i in range(total)]
        (folder / "made.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        (folder / "known.json").write_text(json.dumps({row["question"]: row["references"][0] for row in rows}))
        with serving(folder / "known.json") as url:
            stored = killed(url, folder, f"7/{SHARDS}", "part-7")
            before = told(url)
            seconds = [run(url, folder, f"part-{k}", f"{k}/{SHARDS}") for k in range(1, SHARDS + 1)]
            account = told(url)
            whole = run(url, folder, "one", None)
        parts = [folder / f"part-{k}.db" for k in range(1, SHARDS + 1)]
        assert merge_shards(parts, folder / "all.db") is None
        with Run(folder / "one.db") as one, Run(folder / "all.db") as merged:
            same = one.estimates().equals(merged.estimates()) and one.responses().equals(merged.responses())
            told_alike = (
                summary_table([one]).drop("run", strict=False).equals(summary_table([merged]).drop("run", strict=False))
            )
        flight = CONCURRENCY * ANSWERS
        return (
            f"{SHARDS} shards, together {total:,} questions x {ANSWERS}, on a local server, judged by rules; shard 7 "
            f"was killed with {stored} of about {QUESTIONS * ANSWERS} replies stored ({before['paid']} were made) and "
            f"was resumed. Paid for: {account['paid']:,} answers, of them {account['paid_twice']} twice (at most "
            f"{flight} were in flight). Responses and estimates of the merged file and of one run are "
            f"{'' if same else 'NOT '}equal, their summaries are {'' if told_alike else 'NOT '}equal. CPU of a "
            f"question: {1000 * sum(seconds) / total:.2f} ms in shards, {1000 * whole / total:.2f} ms in one run."
        )


def tables() -> str:
    """Compare a folder of twenty files of labels with the one file that has all their rows, and in another order."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "parts").mkdir()
        frames = [part(LABELLED, rng) for _ in range(SHARDS)]
        for k, frame in enumerate(frames):
            frame.write_parquet(folder / "parts" / f"{k:02d}.parquet")
        pl.concat(frames).sample(fraction=1.0, shuffle=True, seed=1).write_parquet(folder / "one.parquet")
        found = []
        for source in ("parts", "one.parquet"):
            tabulate([folder / source], folder / f"table-{source.removesuffix('.parquet')}.parquet")
        for made in ("table-parts.parquet", "table-one.parquet"):
            with open_run(folder / made) as run:
                found.append((pl.read_parquet(folder / made), summary_table([run]).drop("run", strict=False)))
        (table, numbers), (other, others) = found
        columns = [name for name in numbers.columns if name not in {"dataset", "path"}]
        alike = table.equals(other) and numbers.select(columns).equals(others.select(columns))
        return (
            f"{SHARDS} files of {LABELLED:,} questions with {N} labels each, against one file with the same rows in "
            f"another order: tables of {len(table):,} rows, and every number of the summary, are "
            f"{'' if alike else 'NOT '}equal to the last digit."
        )


def main() -> str:
    """Do both."""
    return f"{runs()}\n\n{tables()}"


if __name__ == "__main__":
    print(main())
