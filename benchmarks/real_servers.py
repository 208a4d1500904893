"""A real server that stops in the middle of a run and comes back, and one whose model thinks aloud: llama.cpp's own."""

import asyncio
import json
import os
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

TITLE = "A run on the server of llama.cpp, which is killed in the middle and comes back"
QUESTIONS = ("colour", "number", "city", "river", "planet", "metal")
N, MOST_TOKENS, AWAY = 4, 12, 8.0
THINKING = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n<think>\n{% endif %}"
)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def stored(path: Path) -> dict[tuple[str, int], str]:
    """Read the answers that a file holds by question and place."""
    if not path.exists():
        return {}
    connection = sqlite3.connect(path)
    try:
        return {
            (q, i): text
            for q, i, text in connection.execute("SELECT question_id, position, text FROM replies WHERE text <> ''")
        }
    except sqlite3.Error:
        return {}
    finally:
        connection.close()


def run(folder: Path, url: str, name: str) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "semece", "run", "-m", "openai-api/llama/smollm2", "-d", "made.jsonl", "-n", str(N)]
    words += ["-j", "rules", "--elicit", "none", "--max-tokens", str(MOST_TOKENS), "--concurrency", "2", "-q"]
    environment = os.environ | {"LLAMA_BASE_URL": url}
    return subprocess.Popen(
        [*words, "-o", f"{name}.db"],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def disturbed(folder: Path) -> str:
    """Kill the server once a third of the answers are stored, start it again, and let the run go on."""
    from tests.servers.llama_cpp_server import llama_cpp

    port, total, back = free_port(), len(QUESTIONS) * N, threading.Event()
    with llama_cpp(port=port, slots=2) as (_, url):
        code = run(folder, url, "whole").wait()
    assert code == 0
    with llama_cpp(port=port, slots=2) as (server, url):
        client = run(folder, url, "disturbed")
        while len(stored(folder / "disturbed.db")) < total // 3 and client.poll() is None:
            time.sleep(0.02)
        server.kill()
        there = len(stored(folder / "disturbed.db"))
    time.sleep(AWAY)
    with llama_cpp(port=port, slots=2):
        back.set()
        _, said = client.communicate()
    whole, found = stored(folder / "whole.db"), stored(folder / "disturbed.db")
    same = sum(found.get(place) == text for place, text in whole.items())
    return (
        f"Killed when {there} of {total} answers were stored, and back after {AWAY:g} s: the command ended with "
        f"{client.returncode} and {len(found)} answers, {same} of them those of the run that nobody disturbed"
        f"{'' if client.returncode == 0 else ' (' + said.strip().splitlines()[-1] + ')'}."
    )


def thinking() -> str:
    """Ask a model that thinks aloud; say where its thoughts and its answer came."""
    from tests.servers.llama_cpp_server import llama_cpp

    from semece.models import Decoding, Message, Request, open_model

    async def ask(url: str):
        model = open_model("openai-api/llama/smollm2", base_url=url)
        try:
            return await model(Request((Message("user", "Name a colour."),), Decoding(max_tokens=24), seed=1))
        finally:
            await model.aclose()

    with llama_cpp(slots=1, template=THINKING) as (_, url):
        [reply] = asyncio.run(ask(url)).replies
    fields = sorted(name for name, value in json.loads(reply.raw)["message"].items() if value)
    return (
        f"With a template that opens a thought: the message has the fields {', '.join(fields)}; the text that is read "
        f"has {len(reply.text)} characters and is {reply.status}."
    )


def main() -> str:
    """Run with a restart, then ask a model that thinks."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        rows = [{"id": name, "question": f"Name a {name}.", "references": ["red"]} for name in QUESTIONS]
        (folder / "made.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        return f"{disturbed(folder)}\n\n{thinking()}"


if __name__ == "__main__":
    print(main())
