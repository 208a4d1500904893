"""A whole run against each test server while three calls in ten go wrong: 200 questions x 20 answers."""

import asyncio
import sqlite3
import tempfile
import time
from collections import Counter
from pathlib import Path

TITLE = "200 questions x 20 answers while three calls in ten go wrong"
QUESTIONS, N, CONCURRENCY = 200, 20, 32
MODELS = {
    "openai/gpt-4o-mini": "openai_server.OpenAIServer",
    "anthropic/claude-haiku-4-5": "anthropic_server.AnthropicServer",
    "google/gemini-2.5-flash": "google_server.GoogleServer",
}
CALLS = ("429", "429_retry_after", "500", "502", "503", "reset", "reset_served", "cut", "html", "empty", "slow")
ENDINGS = ("content_filter", "refusal", "length")


def dataset():
    from semece.datasets import Dataset
    from semece.records import Question

    questions = (Question(f"q{i}", f"Question number {i}?", (f"answer {i}",)) for i in range(QUESTIONS))
    return Dataset("made", tuple(questions))


def run(spelling: str, where: str, folder: str) -> list[str]:
    """Run to the end; give a row of what came of it."""
    from importlib import import_module

    from semece.sampling.job import resolve
    from semece.sampling.patience import Patience
    from semece.sampling.settings import Settings
    from semece.sampling.stages import make_run

    module, _, name = where.partition(".")
    faults = dict.fromkeys(CALLS, 0.27 / len(CALLS)) | dict.fromkeys(ENDINGS, 0.01)
    path, patience = Path(folder) / f"{module}.db", Patience(attempts=12, first_wait=0.02, longest_wait=0.5)
    with getattr(import_module(f"tests.servers.{module}"), name)(faults=faults) as server:
        url = getattr(server, "base_url", server.url)
        settings = Settings(
            spelling, "made", n=N, judge="exact", base_url=url, patience=patience, concurrency=CONCURRENCY
        )
        start = time.perf_counter()
        missing = asyncio.run(make_run(resolve(settings, path, dataset=dataset()))).missing
        seconds, account = time.perf_counter() - start, server.account
    stored, statuses = counts(path)
    delivered = sum(
        count for status, count in statuses.items() if status in {"ok", "content_filter", "truncated", "refusal"}
    )
    lost = sum(account.paid.values()) - sum(account.served.values())
    failures = ", ".join(f"{count} {status}" for status, count in sorted(statuses.items()) if status != "ok")
    return [
        spelling,
        str(missing),
        f"{delivered:,}",
        f"{sum(account.served.values()):,}",
        str(delivered - stored),
        f"{lost:,}",
        failures,
        f"{seconds:.0f}",
    ]


def counts(path: Path) -> tuple[int, Counter[str]]:
    """Count the slots that hold a delivered reply, and rows by status."""
    connection = sqlite3.connect(path)
    statuses = Counter(dict(connection.execute("SELECT status, count(*) FROM replies GROUP BY status")))
    delivered = "('ok', 'content_filter', 'truncated', 'refusal')"
    [(slots,)] = connection.execute(f"SELECT count(DISTINCT key) FROM replies WHERE status IN {delivered}")
    connection.close()
    return slots, statuses


def main() -> str:
    """Run against each server."""
    from benchmarks._tables import table

    with tempfile.TemporaryDirectory() as folder:
        rows = [run(spelling, where, folder) for spelling, where in MODELS.items()]
    head = ["model", "missing", "stored", "served", "duplicates", "paid but lost on the way", "not ok", "seconds"]
    return table(head, rows)


if __name__ == "__main__":
    print(main())
