"""A full benchmark's worth of replies through the pipeline: 4,326 questions x 50, by rules and by a model as judge."""

from __future__ import annotations

import asyncio
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from semece.models import Call, Request

TITLE = "A run of 4,326 questions x 50 responses (216,300 replies, fake model)"
QUESTIONS, N = 4326, 50
CLASSES = (6, 50)
"""Classes a question that the model judge has to grade."""

FAULTY, RATE, OUTAGE = (500, 4000), 0.05, 30.0
"""Questions of the runs with faults, the share of calls that meet one, and seconds for which nobody is there."""


class Kinds:
    """A model whose 50 answers to a question are of so many classes."""

    name, max_choices = "bench/kinds", 8

    def __init__(self, classes: int) -> None:
        self._classes = classes

    async def __call__(self, request: Request, /) -> Call:
        """Answer with the classes in turn, as a chat service would."""
        from semece.models import Call, Reply, Usage

        texts = [
            f"It is this one.\n\nAnswer: thing {((request.seed or 0) + i) % N % self._classes}\nConfidence: 50%"
            for i in range(request.n)
        ]
        ends = [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"} for text in texts]
        replies = [Reply(text, "ok", "stop", json.dumps(end)) for text, end in zip(texts, ends, strict=True)]
        return Call(tuple(replies), Usage(80, 20 * request.n))

    async def aclose(self) -> None:
        """Nothing to give back."""


class Faulty(Kinds):
    """The same, but one call in twenty brings nothing, and in the middle nobody is there, or only a gateway."""

    def __init__(self, classes: int, *, rate: float = RATE, outage: tuple[int, float, int] = (0, 0.0, 0)) -> None:
        super().__init__(classes)
        self._rng, self._rate, self._calls = random.Random(0), rate, 0
        self._begins, self._lasts, self._status = outage
        self._until = 0.0
        self.lost = 0

    async def __call__(self, request: Request, /) -> Call:
        """Answer, or fail as services do."""
        from semece.models.openai.openai_errors import Refusal, explain

        self._calls += 1
        if self._calls == self._begins:
            self._until = time.monotonic() + self._lasts
        status = self._status if time.monotonic() < self._until else 0
        if self._rng.random() < self._rate:
            status = self._rng.choice([429, 500, 503, 504])
        if not status:
            return await super().__call__(request)
        self.lost += 1
        raise explain(Refusal(status, {}), self.name, "later")


def make_faulty(folder: str, questions: str) -> None:
    """Run so many questions under a model judge with faults; print time, memory and size."""
    start = time.process_time()
    missing = asyncio.run(run_of(int(questions), folder, Faulty(CLASSES[0])))
    assert missing == 0
    report(start, (Path(folder) / "run.db").stat().st_size)


def outage(status: int) -> str:
    """Let nobody, or only a gateway, be there for a while in the middle of 500 questions."""
    with tempfile.TemporaryDirectory() as folder:
        model, start = Faulty(CLASSES[0], rate=0.0, outage=(1500, OUTAGE, status)), time.monotonic()
        missing = asyncio.run(run_of(FAULTY[0], folder, model))
        seconds = time.monotonic() - start
        return f"{status}: {model.lost:,} calls failed, {missing} replies are missing at the end, {seconds:.0f} s"


async def run_of(questions: int, folder: str, model: Faulty) -> int:
    """Run questions x 50 with the patience that there is by default; give what is missing."""
    from semece.datasets import Dataset
    from semece.records import Question
    from semece.sampling.job import resolve
    from semece.sampling.settings import Settings
    from semece.sampling.stages import make_run

    rows = (Question(str(i), f"Question number {i}?", (f"answer {i}",)) for i in range(questions))
    settings = Settings(model.name, "full", n=N, judge="fake/judge")
    job = resolve(settings, Path(folder) / "run.db", dataset=Dataset("full", tuple(rows)), model=model)
    return (await make_run(job)).missing


def with_faults() -> str:
    """Measure runs of two sizes with faults, then outages."""
    found = {}
    for questions in FAULTY:
        with tempfile.TemporaryDirectory() as folder:
            found[questions] = measured(folder, "make_faulty", str(questions))
    small, large = (found[questions]["seconds"] / questions for questions in FAULTY)
    rows = [f"| {q:,} | {r['seconds']:.1f} | {r['peak']:.0f} | {r['size']:.0f} |" for q, r in found.items()]
    first = (
        f"With {RATE:.0%} of the calls refused, {CLASSES[0]} classes a question, a fake model as judge: a question of "
        f"the large run takes {large / small:.2f} times the CPU of one of the small run."
    )
    last = (
        f"An outage of {OUTAGE:g} s in the middle of {FAULTY[0]} questions, by what is answered meanwhile: "
        f"{'; '.join(map(outage, (503, 504)))}."
    )
    head = ["| questions x 50 | CPU, s | peak memory, MB | file, MB |", "| --: | --: | --: | --: |"]
    return "\n".join([first, "", *head, *rows, "", last])


def make(folder: str, classes: str = "") -> None:
    """Run and print time, memory and size; with a number of classes, under a model judge."""
    from semece.datasets import Dataset
    from semece.records import Question
    from semece.sampling.job import resolve
    from semece.sampling.settings import Settings
    from semece.sampling.stages import make_run

    data = Dataset("full", tuple(Question(str(i), f"Question number {i}?", (f"answer {i}",)) for i in range(QUESTIONS)))
    settings, model = Settings("fake/?pmf=.5,.3,.2&choices=8", "full", n=N), None
    if classes:
        settings, model = Settings(Kinds.name, "full", n=N, judge="fake/judge"), Kinds(int(classes))
    start = time.process_time()
    asyncio.run(make_run(resolve(settings, Path(folder) / "run.db", dataset=data, model=model)))
    report(start, (Path(folder) / "run.db").stat().st_size)


def estimates(folder: str) -> None:
    """Reopen, read what the judge said, and print time and memory."""
    from semece.runs.run import Run

    start = time.process_time()
    with Run(Path(folder) / "run.db") as run:
        assert run.estimates()["status"].unique().to_list() == ["complete"]
    report(start, 0)


def read(folder: str) -> None:
    """Reopen, summarise, and print time and memory."""
    from semece.runs.run import Run
    from semece.show.tables import summary_table

    start = time.process_time()
    with Run(Path(folder) / "run.db") as run:
        summary_table([run])
    report(start, 0)


def report(start: float, size: int) -> None:
    """Print what was measured as JSON."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": time.process_time() - start, "peak": peak, "size": size / 1e6}))


def measured(folder: str, *words: str) -> dict[str, float]:
    """Do one thing in its own process, with compiled modules kept as they are wherever nobody forbids it."""
    command = [sys.executable, "-m", "benchmarks.full_run", words[0], folder, *words[1:]]
    kept = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": f"{tempfile.gettempdir()}/semece-benchmarks"}
    return json.loads(subprocess.run(command, check=True, capture_output=True, env=os.environ | kept).stdout)


def judged(classes: int) -> str:
    """Measure a run under a model judge."""
    with tempfile.TemporaryDirectory() as folder:
        wrote, back = measured(folder, "make", str(classes)), measured(folder, "estimates")
    return (
        f"| {classes} | {wrote['seconds']:.0f} | {wrote['peak']:.0f} | {wrote['size']:.0f} | {back['seconds']:.1f} | "
        f"{back['peak']:.0f} |"
    )


def main() -> str:
    """Measure writing and reading, each in its own process."""
    with tempfile.TemporaryDirectory() as folder:
        wrote, _, back = measured(folder, "make"), measured(folder, "read"), measured(folder, "read")
    return "\n".join(
        [
            "CPU seconds of the process: what else the machine does hardly counts.",
            "",
            "| what | CPU, s | peak memory, MB | file, MB |",
            "| :-- | --: | --: | --: |",
            f"| run | {wrote['seconds']:.1f} | {wrote['peak']:.0f} | {wrote['size']:.0f} |",
            f"| reopen and summary | {back['seconds']:.1f} | {back['peak']:.0f} | |",
            "",
            "Under a model as judge (fake), which groups the answers of a question in one call and grades every class",
            "in one. To hold with 6 classes a question: reading in at most 10 s, a file of at most 200 MB. A run of",
            "50 classes has as many replies of the judge as of the model.",
            "",
            "| classes a question | run, CPU s | peak, MB | file, MB | `Run(...).estimates()`, CPU s | peak, MB |",
            "| --: | --: | --: | --: | --: | --: |",
            *map(judged, CLASSES),
            "",
            with_faults(),
        ]
    )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        {"make": make, "make_faulty": make_faulty, "read": read, "estimates": estimates}[sys.argv[1]](*sys.argv[2:])
    else:
        print(main())
