"""What the pipeline costs beside the plain openai SDK: a local server with 20 ms latency, 64 calls at once."""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TITLE = "Overhead of the pipeline on the plain `openai` SDK (local server, 20 ms, 64 calls at once)"
QUESTIONS, N, CONCURRENCY = 60, 50, 64


def dataset():
    from semece.datasets import Dataset
    from semece.records import Question

    return Dataset(
        "made", tuple(Question(f"q{i}", f"Question number {i}?", (f"answer {i}",)) for i in range(QUESTIONS))
    )


async def plain(url: str, choices: int) -> int:
    """Ask the same with the SDK and a semaphore; parse nothing, store nothing."""
    from openai import AsyncOpenAI

    from semece.prompts import response_prompt

    client, gate, prompt = AsyncOpenAI(api_key="none", base_url=url), asyncio.Semaphore(CONCURRENCY), response_prompt()

    async def one(text: str, seed: int, n: int) -> int:
        async with gate:
            reply = await client.chat.completions.create(
                model="m",
                messages=[{"role": "user", "content": text}],
                n=n,
                seed=seed,
                temperature=1.0,
                top_p=1.0,
                max_tokens=1024,
            )
            return len(reply.choices)

    texts = [prompt.messages(q)[0].content for q in dataset().questions]
    sizes = [(start, min(choices, N - start)) for start in range(0, N, choices)]
    counts = await asyncio.gather(*(one(text, start, n) for text in texts for start, n in sizes))
    await client.close()
    return sum(counts)


async def ours(url: str, choices: int, folder: str) -> int:
    """Run the pipeline into a run file."""
    from semece.models.openai.chat_completions import OpenAICompatible
    from semece.models.services import Service
    from semece.sampling.job import resolve
    from semece.sampling.settings import Settings
    from semece.sampling.stages import make_run

    service = Service("Test", keys=("NO_KEY",), choices=choices)
    model = OpenAICompatible("openai-api/test/m", "m", service, address=url, key="")
    settings = Settings("openai-api/test/m", "made", n=N, judge="exact", concurrency=CONCURRENCY)
    await make_run(resolve(settings, Path(folder) / "a.db", dataset=dataset(), model=model))
    await model.aclose()
    return QUESTIONS * N


def measure(kind: str, url: str, choices: int) -> None:
    """Print answers, CPU and wall seconds as JSON."""
    with tempfile.TemporaryDirectory() as folder:
        job = plain(url, choices) if kind == "plain" else ours(url, choices, folder)
        wall, cpu = time.perf_counter(), time.process_time()
        answers = asyncio.run(job)
    print(json.dumps({"answers": answers, "cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}))


def run(kind: str, url: str, choices: int) -> dict[str, float]:
    words = [sys.executable, "-m", "benchmarks.overhead", kind, url, str(choices)]
    return json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def main() -> str:
    """Alternate the two, three times each, and compare medians."""
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.servers.openai_server", "--latency", "0.02", "--choices", "50"],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ,
    )
    url = f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
    try:
        rows = []
        for choices in (1, 8):
            found = {kind: [run(kind, url, choices) for _ in range(3)] for kind in ("plain", "ours")}
            middle = {kind: {k: sorted(r[k] for r in runs)[1] for k in runs[0]} for kind, runs in found.items()}
            for kind, name in (("plain", "plain SDK"), ("ours", "semece run")):
                m = middle[kind]
                cpu = 1000 * m["cpu"] / m["answers"]
                rows.append(f"| {choices} | {name} | {cpu:.2f} | {m['answers'] / m['wall']:.0f} |")
            ratio = middle["ours"]["cpu"] / middle["plain"]["cpu"]
            speed = middle["plain"]["wall"] / middle["ours"]["wall"]
            rows.append(f"| {choices} | ratio | {ratio:.2f} | {speed:.2f} |")
    finally:
        server.kill()
        server.wait()
    head = "| choices per request | what | CPU, ms per answer | answers per second |\n| --: | :-- | --: | --: |"
    return "\n".join([head, *rows])


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    else:
        print(main())
