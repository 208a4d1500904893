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

TITLE = "Kills with -9 in batch mode, by provider (responses, partitions and grades in batches)"
KILLS = 20
SERVICES = {
    "openai/gpt-4o-mini": ("OPENAI_BASE_URL", ("upload", "create", "created", "status", "half")),
    "anthropic/claude-haiku-4-5": ("ANTHROPIC_BASE_URL", ("create", "created", "status", "half")),
    "google/gemini-2.5-flash": ("GOOGLE_GEMINI_BASE_URL", ("upload", "create", "created", "status", "half")),
}


def client(model: str, url: str, path: Path) -> subprocess.Popen[bytes]:
    """Start a run in batches, its judge too."""
    words = [sys.executable, "-m", "tests.batch_client", model, url, str(path), "--judge", model]
    return subprocess.Popen(
        words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ | {SERVICES[model][0]: url}
    )


def make_server(model: str):
    from tests.batch_client import REFERENCES
    from tests.servers.anthropic_server import AnthropicServer
    from tests.servers.google_server import GoogleServer
    from tests.servers.openai_batch_server import OpenAIBatchServer

    kinds = {"openai": OpenAIBatchServer, "anthropic": AnthropicServer, "google": GoogleServer}
    return kinds[model.partition("/")[0]](references=REFERENCES, polls=8, rows={"overloaded": 0.1})


def killed_run(model: str, path: Path, rng: random.Random, landed: Counter[str], left: int) -> tuple[int, int]:
    """Run one file to its end through kills: at an event of the server, or after a random time."""
    kills = 0
    with make_server(model) as server:
        url = getattr(server, "base_url", server.url)
        while True:
            running = client(model, url, path)
            event = rng.choice([*SERVICES[model][1], None, None])
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


def kills_of(model: str) -> str:
    """Kill until enough kills have landed; compare every run with one that nobody disturbed."""
    rng, landed, kills, twice, files = random.Random(0), Counter[str](), 0, 0, 0
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "whole.db"
        with make_server(model) as server:
            client(model, getattr(server, "base_url", server.url), whole).wait()
        expected, same = estimates(whole), 0
        while kills < KILLS:
            path = Path(folder) / f"{files}.db"
            more, paid = killed_run(model, path, rng, landed, KILLS - kills)
            kills, twice, files = kills + more, twice + paid, files + 1
            same += estimates(path).equals(expected)
    where = ", ".join(f"{count} {name}" for name, count in landed.most_common())
    return (
        f"{model}: {kills} kills in {files} runs ({where}): {same} of {files} runs end with the undisturbed run's "
        f"numbers, {twice} choices were paid for twice, {time.perf_counter() - start:.0f} s."
    )


def main() -> str:
    """Do so for every provider that has batches."""
    return "\n\n".join(map(kills_of, SERVICES))


if __name__ == "__main__":
    print(main())
