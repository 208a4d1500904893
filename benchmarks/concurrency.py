"""`--concurrency auto` beside every fixed number, on a server with real sockets that does only so much at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

from benchmarks._tables import table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

TITLE = "`--concurrency auto` beside the best fixed number"
REPEATS, N = 5, 20
FIXED = (1, 2, 4, 8, 16, 32, 64, 128, 256)
ANSWERS = 50
"""Answers of a run, as many times as the server does at once."""
SERVERS: dict[str, tuple[dict[str, float], int]] = {
    "4 at once": ({"slots": 4, "seconds": 0.2}, 4),
    "32 at once": ({"slots": 32, "seconds": 0.4}, 32),
    "128 at once": ({"slots": 128, "seconds": 0.8}, 128),
    "32 at once, 429 above 48": ({"slots": 32, "seconds": 0.4, "most": 48}, 32),
    "slower the more it does": ({"seconds": 0.2, "gentle": 32}, 64),
}
"""What a server does, and about how many requests fill it."""


@contextmanager
def engine(facts: Mapping[str, float]) -> Iterator[str]:
    """Start a server; give its address."""
    words = [sys.executable, "-m", "benchmarks._engine", json.dumps(facts)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def run(address: str, folder: Path, calls: str, answers: int) -> dict[str, Any]:
    """Run all questions with so many calls at once; give what the server saw, and what was said."""
    (folder / "made.jsonl").write_text(
        "".join(
            json.dumps({"id": str(i), "question": f"What is {i} - {i}?", "answer": "0"}) + "\n"
            for i in range(answers // N)
        )
    )
    output = folder / "run.db"
    words = ["run", "-m", "openai-api/test/m", "-d", "made.jsonl", "-n", str(N), "-j", "exact", "-o", str(output)]
    words += ["--base-url", address, "--seed", "none", "--concurrency", calls]
    urlopen(address + "/found").close()
    done = subprocess.run(
        [sys.executable, "-m", "semece", *words],
        cwd=folder,
        env={**os.environ, "TEST_API_KEY": "k"},
        capture_output=True,
        text=True,
        check=True,
    )
    with urlopen(address + "/found") as reply:
        found: dict[str, Any] = json.load(reply)
    for file in folder.glob("run.db*"):
        file.unlink()
    said = next((line for line in (done.stdout + done.stderr).splitlines() if "at once" in line), "")
    return {**found, "rate": found["answers"] / found["seconds"], "said": said}


def measured(name: str, folder: Path) -> list[str]:
    """Measure one server: every fixed number once, then the best and auto in turn."""
    facts, fills = SERVERS[name]
    answers = ANSWERS * fills
    with engine(facts) as address:
        rates = {calls: run(address, folder, str(calls), min(answers, 20 * calls))["rate"] for calls in FIXED}
        best = max(rates, key=rates.__getitem__)
        pairs = [
            (run(address, folder, str(best), answers), run(address, folder, "auto", answers)) for _ in range(REPEATS)
        ]
    fixed, auto = ([one["rate"] for one in runs] for runs in zip(*pairs, strict=True))
    shares = [b / a for a, b in zip(fixed, auto, strict=True)]
    return [
        name,
        f"{answers:,}",
        str(best),
        f"{median(fixed):.1f}",
        f"{median(auto):.1f}",
        f"{median(shares):.2f}",
        f"{min(shares):.2f}",
        f"{max(b['highest'] for _, b in pairs)}",
        f"{max(b['refused'] for _, b in pairs)}",
    ]


def main() -> str:
    """Measure all servers."""
    with tempfile.TemporaryDirectory() as name:
        rows = [measured(server, Path(name)) for server in SERVERS]
    said = (
        "A server in a process of its own, over real sockets; one request an answer. 'Best' is the fixed number with "
        f"most answers a second, of {', '.join(map(str, FIXED))}; then {REPEATS} runs with it and with auto in turn. "
        "Answers a second are medians, from the first request of a run to its last answer, the way up included."
    )
    head = ["server", "answers", "best", "a second", "auto", "share", "least share", "most at once", "refused at most"]
    return f"{said}\n\n{table(head, rows)}"


if __name__ == "__main__":
    print(main())
