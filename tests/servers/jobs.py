"""Batches as a server keeps them: rows with their fate, endings of whole batches, polls until the end."""

from __future__ import annotations

import threading
import time
import uuid
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field
from itertools import accumulate

from .serving import uniform

ROW_FAULTS = {
    "overloaded": "the provider was busy",
    "error": "a server error",
    "expired": "not run in time",
    "canceled": "not run, because the batch was cancelled",
    "content_filter": "stopped by a filter",
    "refusal": "refused by the provider's own field",
    "length": "stopped at the token limit",
}
UNRUN = {"overloaded", "error", "expired", "canceled"}


@dataclass
class Job:
    """One batch: its rows (custom id, body), their fates, and how it ends."""

    id: str
    rows: list
    model: str
    created: float
    ending: str = "completed"
    metadata: dict = field(default_factory=dict)
    early: bool = False
    polls: int = 0
    results: list = field(default_factory=list)
    slots: list = field(default_factory=list)

    def fate(self, place, drawn):
        """The fate of a row: a batch that is cut short leaves its second half unrun, or everything."""
        if self.ending in {"expired", "canceled"} and (self.early or place >= len(self.rows) // 2):
            return self.ending
        return drawn


class Jobs:
    """All batches of a server.

    ``polls`` is how many looks a batch needs to end; ``rates`` gives probabilities of :data:`ROW_FAULTS`, drawn from
    the row's key and how often it came; ``endings`` (``completed``, ``expired``, ``canceled``, ``failed``, with a ``!``
    if nothing was run) are used up by the batches that come next. ``hidden`` keeps new batches off the list for that
    many seconds.
    """

    def __init__(self, *, polls=2, rates=None, seed=0):
        self.polls, self.rates, self.seed = polls, dict(rates or {}), seed
        assert not set(self.rates) - set(ROW_FAULTS), self.rates
        self.endings = []
        self.hidden = 0.0
        self.jobs = {}
        self.seen = Counter()
        self.lock = threading.RLock()

    def create(self, prefix, rows, model, **metadata):
        with self.lock:
            ending = self.endings.pop(0) if self.endings else "completed"
            job = Job(f"{prefix}{uuid.uuid4().hex[:20]}", rows, model, time.time(), ending.rstrip("!"), metadata)
            job.early = ending.endswith("!")
            self.jobs[job.id] = job
            return job

    def drawn(self, custom_id):
        """The fate that the rates give a row; the ledger's part of its id does not count."""
        key = custom_id[8:]
        with self.lock:
            attempt = self.seen[key]
            self.seen[key] += 1
        names = list(self.rates)
        place = bisect_right(list(accumulate(self.rates.values())), uniform("row", self.seed, key, attempt))
        return names[place] if place < len(names) else None

    def look(self, job):
        """Look at a batch: each look brings it nearer to its end."""
        with self.lock:
            job.polls += 1

    def ended(self, job):
        return job.polls >= self.polls

    def listed(self):
        """Newest first, without those that are hidden still; it counts as a look at each."""
        with self.lock:
            for job in self.jobs.values():
                job.polls += 1
            return sorted(
                (job for job in self.jobs.values() if time.time() - job.created >= self.hidden),
                key=lambda job: -job.created,
            )
