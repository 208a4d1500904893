"""A client that tests start and kill: ``python -m tests.batch_client SPELLING URL FILE ...`` runs in batches."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal

from semece.datasets import Dataset
from semece.records import Question
from semece.sampling.batch import harvest
from semece.sampling.patience import BatchPatience, Patience
from semece.sampling.settings import Settings
from semece.store.run_store import Store
from tests.making_runs import execute

QUESTIONS = tuple(Question(f"q{i}", f"Question number {i}?", (f"answer {i}",)) for i in range(6))
DATA = Dataset("six", QUESTIONS)
REFERENCES = {question.text: question.references[0] for question in QUESTIONS}
QUICK = BatchPatience(first_look=0.02, longest_look=0.1, grace=0.8, rounds=8, calls=Patience(4, 0.01, 0.05))


def settings(spelling, url, **changes):
    patience = Patience(attempts=8, first_wait=0.005, longest_wait=0.05)
    given = {"judge": "exact", "n": 12, "batch": True, "batch_patience": QUICK} | changes
    return Settings(spelling, "six", base_url=url, patience=patience, **given)


def do(spelling, url, path, data=DATA, **changes):
    return asyncio.run(execute(settings(spelling, url, **changes), path, dataset=data))


def die_at_flush(number):
    """Die with -9 after so many commits of replies."""
    flush, left = Store.flush, [number]

    def deadly(self):
        pending = bool(self._pending)
        flush(self)
        left[0] -= pending
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    Store.flush = deadly


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("spelling")
    parser.add_argument("url")
    parser.add_argument("path")
    parser.add_argument("--judge", default="exact")
    parser.add_argument("--flush", type=int)
    given = parser.parse_args()
    if given.flush:
        harvest.LINES_PER_COMMIT = 5
        die_at_flush(given.flush)
    print(do(given.spelling, given.url, given.path, judge=given.judge).missing)


if __name__ == "__main__":
    main()
