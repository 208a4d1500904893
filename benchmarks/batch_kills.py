"""Batches while the client is killed with -9 again and again: what was paid for twice, and whether a number changes."""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

TITLE = "Fifty kills with -9 in batch mode (responses, partitions and grades in batches)"
KILLS, MODEL = 50, "openai/gpt-4o-mini"
EVENTS = ("upload", "create", "created", "status", "half")


def client(url: str, path: Path) -> subprocess.Popen[bytes]:
    """Start a run in batches, its judge too."""
    words = [sys.executable, "-m", "tests.batch_client", MODEL, url, str(path), "--judge", MODEL]
    return subprocess.Popen(
        words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ | {"OPENAI_BASE_URL": url}
    )


def make_server():
    from tests.batch_client import REFERENCES
    from tests.servers.openai_batch_server import OpenAIBatchServer

    return OpenAIBatchServer(references=REFERENCES, polls=8, rows={"overloaded": 0.1})


def killed_run(path: Path, rng: random.Random, landed: Counter[str], left: int) -> tuple[int, int]:
    """Run one file to its end through kills: at an event of the server, or after a random time."""
    kills = 0
    with make_server() as server:
        while True:
            running = client(server.base_url, path)
            event = rng.choice([*EVENTS, None, None])
            server.on = {}
            if event is not None and kills < left:
                server.on = {event: lambda p=running, e=event: (p.kill(), p.wait(), landed.update([e]))}
            try:
                running.wait(timeout=rng.uniform(1.0, 4.0) if event is None and kills < left else 120)
            except subprocess.TimeoutExpired:
                running.kill()
                running.wait()
                landed.update(["at a random moment"])
            if running.returncode != -signal.SIGKILL:
                return kills, server.account.paid_twice
            kills += 1


def estimates(path: Path):
    from semece.runs.run import Run

    with Run(path) as run:
        return run.estimates()


def main() -> str:
    """Kill until fifty kills have landed; compare every run with one that nobody disturbed."""
    rng, landed, kills, twice, files = random.Random(0), Counter[str](), 0, 0, 0
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "whole.db"
        with make_server() as server:
            client(server.base_url, whole).wait()
        expected, same = estimates(whole), 0
        while kills < KILLS:
            path = Path(folder) / f"{files}.db"
            more, paid = killed_run(path, rng, landed, KILLS - kills)
            kills, twice, files = kills + more, twice + paid, files + 1
            same += estimates(path).equals(expected)
    where = ", ".join(f"{count} {name}" for name, count in landed.most_common())
    return (
        f"{kills} kills in {files} runs ({where}): {same} of {files} runs end with the undisturbed run's numbers, "
        f"{twice} choices were paid for twice, {time.perf_counter() - start:.0f} s."
    )


if __name__ == "__main__":
    print(main())
