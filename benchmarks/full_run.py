"""A full benchmark's worth of replies through the pipeline: 4,326 questions x 50, on the fake model."""

import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TITLE = "A run of 4,326 questions x 50 responses (216,300 replies, fake model)"
QUESTIONS, N = 4326, 50


def make(folder: str) -> None:
    """Run and print time, memory and size."""
    from semece.datasets import Dataset
    from semece.records import Question
    from semece.settings import Settings
    from semece.work import execute

    data = Dataset("full", tuple(Question(str(i), f"Question number {i}?", (f"answer {i}",)) for i in range(QUESTIONS)))
    settings = Settings("fake/?pmf=.5,.3,.2&choices=8", "full", n=N)
    start = time.perf_counter()
    asyncio.run(execute(settings, Path(folder) / "run.db", dataset=data))
    report(start, (Path(folder) / "run.db").stat().st_size)


def read(folder: str) -> None:
    """Reopen, summarise, and print time and memory."""
    from semece.run import Run
    from semece.tables import summary_table

    start = time.perf_counter()
    with Run(Path(folder) / "run.db") as run:
        summary_table([run])
    report(start, 0)


def report(start: float, size: int) -> None:
    """Print what was measured as JSON."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": time.perf_counter() - start, "peak": peak, "size": size / 1e6}))


def main() -> str:
    """Measure writing and reading, each in its own process."""
    with tempfile.TemporaryDirectory() as folder:
        wrote, back = (
            json.loads(
                subprocess.run(
                    [sys.executable, "-m", "benchmarks.full_run", what, folder], check=True, capture_output=True
                ).stdout
            )
            for what in ("make", "read")
        )
    return "\n".join(
        [
            "| what | seconds | peak memory, MB | file, MB |",
            "| :-- | --: | --: | --: |",
            f"| run | {wrote['seconds']:.1f} | {wrote['peak']:.0f} | {wrote['size']:.0f} |",
            f"| reopen and summary | {back['seconds']:.1f} | {back['peak']:.0f} | |",
        ]
    )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        {"make": make, "read": read}[sys.argv[1]](sys.argv[2])
    else:
        print(main())
