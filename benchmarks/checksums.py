"""What the checksums of rows cost: a run with them, and with a constant in their place, by turns in one process."""

import asyncio
import tempfile
import time
from pathlib import Path
from statistics import median
from unittest.mock import patch

TITLE = "The checksums of rows: time of a run and of reading it, with and without"
QUESTIONS, N, REPEATS = 100, 50, 7


def timed(path: Path) -> tuple[float, float]:
    """Give the CPU seconds of a run on a fake model, and of reading its replies, tested, without what was derived."""
    from tests.killed_runs import questions
    from tests.making_runs import execute

    from semece.sampling.settings import Settings
    from semece.store.run_store import Store

    start = time.process_time()
    asyncio.run(execute(Settings("fake/?pmf=.5,.3,.2", "made", n=N, judge="exact"), path, dataset=questions(QUESTIONS)))
    done = time.process_time()
    with Store(path) as store:
        for question in store.questions():
            store.replies("respond", question.id)
        store.spent()
    return done - start, time.process_time() - done


def seven(*_: object) -> int:
    """Stand in the place of a checksum."""
    return 7


def main() -> str:
    """Repeat both by turns; ratios of neighbours, so that a busy machine slows both."""
    from semece.store import run_store

    ratios = [], []
    with tempfile.TemporaryDirectory() as folder:
        timed(Path(folder) / "warm.db")
        for i in range(REPEATS):
            whole = timed(Path(folder) / f"{i}.db")
            constant = {"reply_checksum": seven, "row_checksum": seven}
            with patch.multiple(run_store, **constant), patch("semece.store.schema.row_checksum", seven):
                bare = timed(Path(folder) / f"{i}-bare.db")
            for kept, one, other in zip(ratios, whole, bare, strict=True):
                kept.append(one / other)
    run, read = (f"{median(each):.2f} ({min(each):.2f} to {max(each):.2f})" for each in ratios)
    return (
        f"{QUESTIONS} questions x {N} answers, {REPEATS} pairs by turns, ratio of CPU time with checksums to without, "
        f"median and range: the run {run}, reading every reply {read}."
    )


if __name__ == "__main__":
    print(main())
