"""How long to insist: on a call, and on batches."""

from __future__ import annotations

import random
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to insist.

    Parameters
    ----------
    attempts : int
        Most consecutive failures of one call before its slots are left for the next run.
    first_wait, longest_wait : float
        Seconds: the back-off starts at the first, doubles, and never passes the second. A provider's Retry-After is
        honoured up to ten times the longest wait.
    """

    attempts: int = 10
    first_wait: float = 0.5
    longest_wait: float = 60.0

    def wait(self, failures: int, retry_after: float | None) -> float:
        """Seconds before the next attempt: doubled each time, of which half to all is waited; see Retry-After."""
        ceiling = min(self.longest_wait, self.first_wait * 2.0 ** (failures - 1))
        jittered = ceiling * random.uniform(0.5, 1.0)
        return max(jittered, min(retry_after or 0.0, 10 * self.longest_wait))


@dataclass(frozen=True, slots=True)
class BatchPatience:
    """How long to wait for batches.

    Parameters
    ----------
    first_look, longest_look : float
        Seconds between two looks: the first, growing by half while nothing happens, up to the second.
    grace : float
        Seconds for which a batch whose creation was interrupted is looked for before its lines are submitted again.
    rounds : int
        How often a line is submitted in one invocation.
    failures : int
        Most looks in a row that may fail before the batches are left for the next invocation.
    calls : Patience
        How to insist on the calls that create a batch.
    """

    first_look: float = 5.0
    longest_look: float = 60.0
    grace: float = 300.0
    rounds: int = 3
    failures: int = 10
    calls: Patience = field(default_factory=Patience)
