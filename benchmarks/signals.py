"""Signals at random moments: what was paid for and is not stored, and whether the file counts what the server does."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TITLE = "Ctrl-C and SIGTERM at random moments (300 questions x 20 answers, 16 calls at once, a judge that is a model)"
QUESTIONS, N, CONCURRENCY, EACH = 300, 20, 16, 20
DELIVERED = "('ok', 'content_filter', 'truncated', 'refusal', 'empty', 'unparseable')"


def command(path: Path, data: Path) -> list[str]:
    words = [sys.executable, "-m", "semece", "run", "-m", "openai-api/test/m", "-d", str(data), "-n", str(N)]
    return [*words, "-j", "openai-api/test/judge", "-o", str(path), "-q", "--concurrency", str(CONCURRENCY)]


def make_server():
    from tests.servers.openai_server import OpenAIServer

    references = {f"Question number {i}?": f"answer {i}" for i in range(QUESTIONS)}
    return OpenAIServer(references=references, latency=0.15)


def write_questions(folder: Path) -> Path:
    rows = [
        {"id": f"q{i}", "question": f"Question number {i}?", "references": [f"answer {i}"]} for i in range(QUESTIONS)
    ]
    data = folder / "made.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return data


def stored(path: Path) -> tuple[int, int]:
    """Count the replies that a file holds, those set aside too, and the tokens that it counts."""
    if not path.exists():
        return 0, 0
    connection = sqlite3.connect(path)
    try:
        sums = "count(*), coalesce(sum(input_tokens), 0) + coalesce(sum(output_tokens), 0)"
        return connection.execute(f"SELECT {sums} FROM replies WHERE status IN {DELIVERED}").fetchone()
    finally:
        connection.close()


def booked(path: Path) -> int:
    """Count the choices of calls that may have been paid for."""
    if not path.exists():
        return 0
    connection = sqlite3.connect(path)
    raws = connection.execute("SELECT raw FROM replies WHERE json_extract(raw, '$.maybe_paid') = 1").fetchall()
    connection.close()
    return sum(json.loads(raw).get("choices", 1) for (raw,) in raws)


def stop(number: int, data: Path, path: Path, rng: random.Random, *, twice: bool = False) -> dict[str, int]:
    """Run, send a signal at a random moment while calls are in flight, and take stock."""
    with make_server() as server:
        client = subprocess.Popen(
            command(path, data),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=os.environ | {"TEST_BASE_URL": server.base_url},
        )
        while not server.account.paid and client.poll() is None:
            time.sleep(0.01)
        time.sleep(rng.uniform(0.0, 12.0))
        client.send_signal(number)
        if twice:
            time.sleep(0.05)
            client.send_signal(number)
        _, said = client.communicate(timeout=120)
        time.sleep(0.5)  # what the server was still at work on
        paid, account = sum(server.account.paid.values()), server.account
        replies, tokens = stored(path)
        return {
            "code": client.returncode,
            "paid": paid,
            "stored": replies,
            "lost": paid - replies,
            "tokens off": account.input_tokens + account.output_tokens - tokens,
            "booked": booked(path),
            "said": b"continue" in said and b"Traceback" not in said,
        }


def main() -> str:
    """Stop forty runs once and ten twice."""
    from benchmarks._tables import table

    signal.signal(signal.SIGINT, signal.default_int_handler)  # what is started in the background would ignore it
    rng, rows = random.Random(0), []
    with tempfile.TemporaryDirectory() as folder:
        data = write_questions(Path(folder))
        for name, number, count, twice in (
            ("SIGINT", signal.SIGINT, EACH, False),
            ("SIGTERM", signal.SIGTERM, EACH, False),
            ("SIGINT twice", signal.SIGINT, EACH // 2, True),
        ):
            found = []
            for i in range(count):
                found.append(stop(number, data, Path(folder) / f"{name}-{i}.db", rng, twice=twice))
                print(name, i, found[-1], file=sys.stderr, flush=True)
            codes = sorted({each["code"] for each in found})
            sums = {key: sum(each[key] for each in found) for key in ("paid", "lost", "tokens off", "booked", "said")}
            most = max(each["booked"] for each in found)
            rows.append([name, str(count), ", ".join(map(str, codes)), *(f"{v:,}" for v in sums.values()), str(most)])
    head = ["signal", "runs", "exit codes", "choices paid", "not stored", "tokens not counted"]
    return table([*head, "booked as possibly paid", "said how to continue", "most booked in a run"], rows)


if __name__ == "__main__":
    print(main())
