"""A second writer of the same run file, whatever it calls the file: who is refused, and what is paid for twice."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path

from tests.servers.openai_server import OpenAIServer

from benchmarks.fault_by_fault import import_first

TITLE = "Two writers of one run file"
QUESTIONS, N = 40, 8


def spellings(folder: Path) -> dict[str, str]:
    """Name the run file in every way; links are made."""
    (folder / "here").mkdir()
    (folder / "link.db").symlink_to("a.db")
    (folder / "folder").symlink_to("here/..")
    os.link(folder / "a.db", folder / "hard.db")
    return {
        "the same": "a.db",
        "absolute": str(folder / "a.db"),
        "through a folder": "here/../a.db",
        "symbolic link": "link.db",
        "link to the folder": "folder/a.db",
        "hard link": "hard.db",
    }


def start(folder: Path, server: OpenAIServer, name: str) -> int:
    """Start a run in a fork; give its process id."""
    child = os.fork()
    if child == 0:
        from semece.cli import main

        os.chdir(folder)
        os.environ["TEST_BASE_URL"] = server.base_url
        for number in (1, 2):
            os.dup2(os.open("streams.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND), number)
        words = ["run", "-m", "openai-api/test/m", "-d", "made.jsonl", "-j", "exact", "-n", str(N), "-q", "-o", name]
        sys.argv = ["semece", *words, "--concurrency", "1"]
        try:
            main()
        except SystemExit as left:
            os._exit(int(left.code or 0))
        finally:
            os._exit(70)
    return child


def ended(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main() -> str:
    """Try every name while the first writer is at work."""
    import_first()
    with tempfile.TemporaryDirectory() as made, OpenAIServer(latency=0.5) as server:
        folder = Path(made)
        rows = ({"id": f"q{i}", "question": f"Number {i}?", "references": ["a"]} for i in range(QUESTIONS))
        (folder / "made.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        first = start(folder, server, "a.db")
        while not server.account.paid:
            time.sleep(0.02)
        codes = {how: ended(start(folder, server, name)) for how, name in spellings(folder).items()}
        running = os.waitpid(first, os.WNOHANG) == (0, 0)
        code = ended(first) if running else None
        said = (folder / "streams.txt").read_text().count("is being written by another process")
        twice = server.account.paid_twice
    refused = ", ".join(f"{how} ({code})" for how, code in codes.items())
    return (
        f"While one process writes, a second one is refused by every name: {refused}; {said} of {len(codes)} were told "
        f"that another process writes the file. The first ended with {code}; {twice} answers were paid for twice, "
        f"{server.account.paid.total()} of {QUESTIONS * N} once."
    )


if __name__ == "__main__":
    print(main())
