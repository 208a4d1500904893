"""Real servers: one that stops in the middle of a run and comes back, and what they do with choices, seeds and options.

The first is llama.cpp's own, as ``xllamacpp`` ships it; the second that of ``llama-cpp-python``.
"""

import asyncio
import json
import os
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

TITLE = "Runs on real servers, which are killed in the middle and come back"
QUESTIONS = ("colour", "number", "city", "river", "planet", "metal")
N, MOST_TOKENS, AWAY, DRAWS = 4, 12, 8.0, 100
KEY = "sk-marker-0123456789"
NEUTRAL = {"top_k": 0, "min_p": 0.0, "repeat_penalty": 1.0}
"""What must be sent for nothing to be cut away; semece sends only what OpenAI's protocol has."""

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
    environment = os.environ | {"LLAMA_BASE_URL": url, "LLAMA_API_KEY": KEY}
    return subprocess.Popen(
        [*words, "-o", f"{name}.db"],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


Opened = Callable[..., AbstractContextManager[tuple[subprocess.Popen, str]]]
"""Starts a server at a port, with a key; gives its process and base URL."""


def disturbed(folder: Path, name: str, opened: Opened) -> str:
    """Kill the server once a third of the answers are stored, start it again, and let the run go on."""
    port, total = free_port(), len(QUESTIONS) * N
    with opened(port=port) as (_, url):
        code = run(folder, url, f"{name}-whole").wait()
    assert code == 0
    with opened(port=port) as (server, url):
        client = run(folder, url, name)
        while len(stored(folder / f"{name}.db")) < total // 3 and client.poll() is None:
            time.sleep(0.02)
        server.kill()
        there = len(stored(folder / f"{name}.db"))
    time.sleep(AWAY)
    with opened(port=port):
        _, said = client.communicate()
    whole, found = stored(folder / f"{name}-whole.db"), stored(folder / f"{name}.db")
    same = sum(found.get(place) == text for place, text in whole.items())
    return (
        f"Killed when {there} of {total} answers were stored, and back after {AWAY:g} s: the command ended with "
        f"{client.returncode} and {len(found)} answers, {same} of them those of the run that nobody disturbed"
        f"{'' if client.returncode == 0 else ' (' + said.strip().splitlines()[-1] + ')'}."
    )


def asked(url: str, **options: object) -> tuple[int, dict]:
    """Ask without semece; give status and body."""
    import httpx

    body = {"model": "m", "messages": [{"role": "user", "content": "Name a colour."}], "temperature": 1.0, "top_p": 1.0}
    headers = {"Authorization": f"Bearer {options.pop('key', KEY)}"}
    reply = httpx.post(f"{url}/chat/completions", json=body | options, headers=headers, timeout=600)
    return reply.status_code, reply.json()


def text_of(answer: tuple[int, dict]) -> str:
    return answer[1]["choices"][0]["message"]["content"]


def concentration(url: str, **options: object) -> float:
    """Draw first tokens with seeds in turn; how often are two of them the same?"""
    drawn = Counter(text_of(asked(url, seed=seed, max_tokens=1, **options)) for seed in range(DRAWS))
    return sum(count * (count - 1) for count in drawn.values()) / (DRAWS * (DRAWS - 1))


def sentence(answer: tuple[int, dict]) -> str:
    """Say how a server refuses: status, and its sentence's beginning."""
    status, body = answer
    error = body.get("error", body)
    said = " ".join(str(error.get("message") or error.get("detail") or error).split())
    return f"{status} {said[:90]}{'...' if len(said) > 90 else ''}"


def behaviour(opened: Opened) -> str:
    """Ask a server directly: choices, seeds, usage, refusals, context, and what it cuts away before it draws."""
    with opened(port=free_port(), key=KEY) as (_, url):
        one, several = asked(url, seed=5, max_tokens=8), asked(url, seed=5, max_tokens=8, n=2)
        choices = several[1].get("choices", [])
        again = [text_of(asked(url, seed=seed, max_tokens=8)) for seed in (5, 6, 5)]
        schema = {"name": "reply", "schema": {"type": "object", "properties": {"a": {"enum": ["x", "y"]}}}}
        form = {"type": "json_schema", "json_schema": schema}
        rows = {
            "choices of n = 2, and their `completion_tokens`": (
                f"{len(choices)}, {several[1].get('usage', {}).get('completion_tokens')} of at most 16"
            ),
            "a seed gives the same text, with another seed between": str(again[0] == again[2] == text_of(one)),
            "another seed gives another text": str(again[0] != again[1]),
            "fields of the message": ", ".join(k for k, v in one[1]["choices"][0]["message"].items() if v),
            "a schema": sentence(answer)
            if (answer := asked(url, response_format=form, max_tokens=20))[0] != 200
            else "taken",
            "top_p = 3": sentence(answer) if (answer := asked(url, top_p=3.0, max_tokens=8))[0] != 200 else "taken",
            "a prompt beyond its context": sentence(
                asked(url, messages=[{"role": "user", "content": "word " * 900}], max_tokens=8)
            ),
            "a wrong key": sentence(asked(url, key="another-0123456789")),
            f"two of {DRAWS} first tokens are the same (temperature 1, top-p 1)": f"{concentration(url):.2f}",
            "the same with top_k 0, min_p 0, repeat_penalty 1": f"{concentration(url, **NEUTRAL):.2f}",
        }
    return "\n".join(
        ["| asked | what came |", "| :-- | :-- |", *(f"| {what} | {came} |" for what, came in rows.items())]
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
        f"llama.cpp with a template that opens a thought: the message has the fields {', '.join(fields)}; the text "
        f"that is read has {len(reply.text)} characters and is {reply.status}."
    )


@contextmanager
def own_server(**options: object):
    """Start llama.cpp's own server with two slots."""
    from tests.servers.llama_cpp_server import llama_cpp

    with llama_cpp(slots=2, **options) as found:
        yield found


def main() -> str:
    """Run with a restart on both servers, look at what they do, then ask a model that thinks."""
    from benchmarks._llama_cpp_python import VERSION, llama_cpp_python, python_with_it

    python = python_with_it()
    servers = {"llama.cpp": own_server, f"llama-cpp-python {VERSION}": partial(llama_cpp_python, python)}
    parts = ["Both serve SmolLM2-135M with a context of 512 tokens, on one thread."]
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        rows = [{"id": name, "question": f"Name a {name}.", "references": ["red"]} for name in QUESTIONS]
        (folder / "made.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        for number, (name, opened) in enumerate(servers.items()):
            parts += [f"**{name}.** {disturbed(folder, f'run-{number}', opened)}", behaviour(opened)]
    return "\n\n".join([*parts, thinking()])


if __name__ == "__main__":
    print(main())
