"""Storing an answer: rows made, tested and committed, beside the same rows given to SQLite as they are."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import tempfile
import time
from contextlib import closing
from pathlib import Path

from benchmarks._tables import table
from semece.models import Call, Reply, Usage
from semece.sampling.deliveries import delivered_rows
from semece.store import Slot, Store
from semece.store.run_store import _COLUMNS

TITLE = "Storing answers"
N, CHOICES, ROUNDS = 25_000, 8, 7
TEXT = "It is this one.\n\nAnswer: thing 3\nConfidence: 50%"

Calls = list[tuple[Call, list[Slot]]]


def calls(number: int) -> Calls:
    """Make calls of eight choices, as a service would deliver them."""
    raw = json.dumps({"message": {"role": "assistant", "content": TEXT}, "finish_reason": "stop"})
    made: Calls = []
    for each in range(N // CHOICES):
        question = f"{number}-{each // 6}"
        request = hashlib.sha256(question.encode()).digest()
        slots = []
        for index in range(6 * (each % 6), 6 * (each % 6) + CHOICES):
            key = hashlib.sha256(f"{each}-{index}-{number}".encode()).digest()
            slots.append(Slot(key, "respond", question, index, None, request))
        call = Call((Reply(TEXT, "ok", "stop", raw),) * CHOICES, Usage(80, 160), f"req-{each}", 0.5)
        made.append((call, slots))
    return made


def ours(file: Path, made: Calls, at_once: int) -> float:
    """Store as a run does, so many calls a commit: CPU microseconds an answer."""
    with Store(file, write=True) as store:
        start = time.process_time()
        for first in range(0, len(made), at_once):
            for call, slots in made[first : first + at_once]:
                store.append(delivered_rows(call, slots, "a" * 16, 0.1))
            store.flush()
        return 1e6 * (time.process_time() - start) / N


def plain(file: Path, made: Calls, at_once: int) -> float:
    """Give SQLite rows that are there, into the same table with the same commits."""
    with Store(file, write=True):
        pass
    sql = f"INSERT INTO replies ({_COLUMNS}, checksum) VALUES ({','.join('?' * 19)})"
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        more = (None, "r" * 32, "stop", "a" * 16, 80, 160, 0.1, 0.5, "req", 1.0, 0, 5)
        rows = [
            [
                (s.key, s.stage, s.question_id, s.index, "ok", r.text, r.raw, *more)
                for s, r in zip(slots, call.replies, strict=True)
            ]
            for call, slots in made
        ]
        start = time.process_time()
        for first in range(0, len(rows), at_once):
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(sql, [row for call in rows[first : first + at_once] for row in call])
            connection.execute("COMMIT")
        return 1e6 * (time.process_time() - start) / N


def main() -> str:
    """Measure both in turn, and give the least of each."""
    rows = []
    for at_once in (8, 64):
        found: dict[str, list[float]] = {"ours": [], "plain": []}
        for number in range(ROUNDS):
            made = calls(number)
            with tempfile.TemporaryDirectory() as folder:
                found["ours"].append(ours(Path(folder) / "a.db", made, at_once))
                found["plain"].append(plain(Path(folder) / "b.db", made, at_once))
        least = {name: min(values) for name, values in found.items()}
        ratio = least["ours"] / least["plain"]
        rows.append([str(at_once), f"{least['ours']:.1f}", f"{least['plain']:.1f}", f"{ratio:.2f}"])
    setting = (
        f"{N:,} answers in calls of {CHOICES}, durably committed; CPU microseconds an answer, the least of {ROUNDS} "
        "rounds in turn. Beside it the same rows, made before, given to SQLite in the same table."
    )
    return setting + "\n\n" + table(["calls a commit", "us an answer", "SQLite alone", "ratio"], rows)


if __name__ == "__main__":
    print(main())
