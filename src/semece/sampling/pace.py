"""How many calls may be under way at once: as many as a person says, or as many as bring most answers a second."""

from __future__ import annotations

import asyncio
from typing import Protocol

FIRST, MOST = 16, 256
"""Calls at once with which a pace that seeks begins, and which it never exceeds."""

WORTH = 1.05, 1.03
"""How many times the answers a second must be to go on: after doubling the calls at once, and after a quarter more."""

SLOW = 0.75
"""With less than this share of the best answers a second a limit is given up at once."""

ROUND = 0.5, 4
"""Replies that are measured, by the calls at once: while the calls at once are doubled, and later."""

COARSEST, FINEST = 4, 16
"""The limit is raised by a fourth; by an eighth and a sixteenth after that brought nothing."""

LONGEST_HOLD = 16
"""Most rounds between two looks whether the server takes more by now."""


class Failure(Protocol):
    """What a pace asks of the error of a call that brought nothing."""

    status: str
    busy: bool
    retry_after: float | None


class Pace:
    """How many calls may be under way: halved on a rate limit, raised by one after as many successes.

    Parameters
    ----------
    concurrency : int
        The most, >= 1.

    Examples
    --------
    >>> Pace(32).limit
    32
    """

    def __init__(self, concurrency: int) -> None:
        self.concurrency = self.limit = concurrency
        self._running = self._waiting = 0
        self._successes = 0
        self._quiet_until = 0.0
        self._steady_until = 0.0
        self._changed = asyncio.Condition()

    @staticmethod
    def of(concurrency: int | str) -> Pace:
        """Make the pace that an option names: so many calls, or ``auto``."""
        return SeekingPace() if isinstance(concurrency, str) else Pace(concurrency)

    async def __aenter__(self) -> None:
        self._waiting += 1
        try:
            async with self._changed:
                await self._changed.wait_for(lambda: self._running < self.limit)
                self._running += 1
        finally:
            self._waiting -= 1

    async def __aexit__(self, *_: object) -> None:
        self._running -= 1
        async with self._changed:
            self._changed.notify(max(0, self.limit - self._running))

    @property
    def most(self) -> int:
        """The most calls that may have been under way at once."""
        return self.concurrency

    def pause(self) -> float:
        """Seconds for which the provider asked to send nothing; not above 0 if it did not, or they are over."""
        return self._quiet_until - asyncio.get_running_loop().time()

    def delivered(self, answers: int = 1, seconds: float = 0.0) -> None:
        """Count a success, which brought so many answers in so many seconds."""
        del answers, seconds
        self._successes += 1
        if self.limit < self.concurrency and self._successes >= self.limit:
            self.limit += 1
            self._successes = 0

    def failed(self, error: Failure, seconds: float = 0.0) -> bool:
        """Slow down after a rate limit; return whether the limit fell.

        Calls that were sent together are refused together: the limit falls at most once in a second.

        Parameters
        ----------
        error : Failure
            Why a call brought nothing.
        seconds : float
            How long ago it was sent.
        """
        del seconds
        if error.status != "rate_limited":
            return False
        now = asyncio.get_running_loop().time()
        self._successes = 0
        self._be_quiet(now, error)
        fell = self.limit > 1 and now >= self._steady_until
        if fell:
            self.limit = max(1, self.limit // 2)
            self._steady_until = now + 1.0
        return fell

    def _be_quiet(self, now: float, error: Failure) -> None:
        if error.retry_after:
            self._quiet_until = max(self._quiet_until, now + min(error.retry_after, 600.0))

    def found(self) -> str | None:
        """Say what was found out about the server, if that was the task."""
        return None


class SeekingPace(Pace):
    r"""How many calls bring most answers a second: doubled, then raised by a quarter, while that brings more.

    With :math:`k` calls always under way the answers a second are :math:`k` times the answers over the seconds that
    their calls took (Little's law), which does not depend on the moment when a measurement begins. More calls that
    bring no more answers are taken back. A server that refuses or times out is sent fewer: as many as it took before,
    or half; and for a while no more than one below what it refused.

    Examples
    --------
    >>> SeekingPace().limit, SeekingPace().concurrency
    (16, 257)
    """

    def __init__(self) -> None:
        super().__init__(MOST + 1)  # at any limit somebody waits: else more answers would not be asked for
        self.limit = self._highest = FIRST
        self._best: tuple[int, float] | None = None  # calls at once, and the answers a second that they bring
        self._ceiling = MOST
        self._doubling, self._compared, self._rough = True, False, True
        self._parts = COARSEST
        self._up, self._hold, self._rests = True, 1, 0
        self._changed_at = self._seconds = 0.0
        self._skipped = self._left = self._answers = 0
        self._begin(FIRST)

    @property
    def most(self) -> int:
        """The most calls that may have been under way at once."""
        return self._highest

    def delivered(self, answers: int = 1, seconds: float = 0.0) -> None:
        """Count a success; after enough of them go on seeking. Those that nobody waits behind say nothing of more."""
        if not self._waiting:
            self._begin(self.limit)
        elif self._skipped:
            self._skipped -= 1
        else:
            self._answers, self._seconds, self._left = self._answers + answers, self._seconds + seconds, self._left - 1
            if not self._left or (self._left % self.limit == self.limit // 2 and self._is_slow()):
                self._measured(self._rate)

    def failed(self, error: Failure, seconds: float = 0.0) -> bool:
        """Slow down where there was too much to do; return whether the limit fell.

        Calls that were sent before it fell say nothing of what it is now.
        """
        if not error.busy:
            return False
        now = asyncio.get_running_loop().time()
        self._be_quiet(now, error)
        if now - seconds < self._changed_at or self.limit == 1:
            return False
        self._changed_at, self._doubling = now, False
        self._ceiling = self.limit - 1
        if self._best is None or self._best[0] >= self.limit:
            self._best, self._rough = None, True
            self._go(self.limit // 2)
        else:
            self._go(self._best[0])
        self._hold = self._rests = 1
        return True

    def _begin(self, before: int) -> None:
        """Begin to measure: what was under way has to come first and, but for the way up, what was sent right after."""
        self._skipped = before if self._doubling else max(before, self.limit)
        self._left = max(1, int(self.limit * ROUND[not self._doubling]))
        self._answers, self._seconds = 0, 0.0

    @property
    def _rate(self) -> float:
        return self.limit * self._answers / max(self._seconds, 1e-9)

    def _is_slow(self) -> bool:
        """Whether what is tried is so much worse that it is not measured to the end."""
        return self._best is not None and self._best[0] != self.limit and self._rate < SLOW * self._best[1]

    def _go(self, limit: int) -> None:
        before, self.limit = self.limit, max(1, min(limit, self._ceiling))
        self._highest = max(self._highest, self.limit)
        self._begin(before)

    def _measured(self, rate: float) -> None:
        """Go on by the answers a second that the present limit brought."""
        limit, before = self._best or (self.limit, 0.0)
        if self.limit == limit:
            self._best = limit, rate if self._rough else (before + rate) / 2
            self._rough = self._doubling
            self._look_further()
        elif rate >= before * WORTH[not self._doubling]:
            self._best, self._rough = (self.limit, rate), self._doubling
            self._compared = True
            self._hold, self._rests = 1, 0
            self._look_further()
        else:
            self._compared = True
            if self._up and rate < before / WORTH[0]:
                self._ceiling = self.limit - 1
            self._parts = min(2 * self._parts, FINEST) if not self._doubling else COARSEST
            self._up = self._doubling or not self._up
            self._doubling = False
            self._rests, self._hold = self._hold, min(2 * self._hold, LONGEST_HOLD)
            self._go(limit)

    def _look_further(self) -> None:
        """Try another limit, unless the present one is to be kept for some rounds."""
        if self._rests:
            self._rests -= 1
            self._go(self.limit)
            return
        step = self.limit if self._doubling else max(1, self.limit // self._parts)
        if self._up and self.limit >= self._ceiling:
            self._up = self._doubling = False
            self._ceiling, self._parts = MOST, COARSEST  # another time it may take more
            self._rests, self._hold = self._hold, min(2 * self._hold, LONGEST_HOLD)
            self._go(self.limit)
        else:
            self._up = self._up or self.limit == 1
            self._go(self.limit + (step if self._up else -step))

    def found(self) -> str | None:
        """Say with how many calls at once most answers came, if several numbers were tried.

        The answers a second are said once they were measured for longer than on the way up, where they are a guess:
        the first replies of a level come sooner than the later ones, which wait behind them.
        """
        if self._best is None:
            return None
        limit, rate = self._best
        if not self._compared:
            return "too few answers came to find the best number of calls at once"
        calls = "1 call" if limit == 1 else f"{limit} calls"
        said = f"most answers came with {calls} at once"
        return said if self._rough else f"{said}: {rate:,.3g} a second"
