"""One seam between the stages and a model: paced, capped, retried, and stored before anyone reads it."""

from __future__ import annotations

import asyncio
import random
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from semece.budget import Budget, Price
from semece.canonical import canonical
from semece.errors import BudgetError, ModelError, TransientError
from semece.models import Request
from semece.store import StoredReply

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from semece.models import Call, Model
    from semece.store import Store


UNREACHED = 4
"""After so many calls that found nobody, and none that did, a run stops."""


@dataclass(frozen=True, slots=True)
class Slot:
    """Where a reply belongs.

    Parameters
    ----------
    key : bytes
        Its key.
    stage, question_id, index : str, str, int
        Its place.
    judge : str or None
        The judge that asks.
    request : bytes
        The stored request.
    """

    key: bytes
    stage: str
    question_id: str
    index: int
    judge: str | None
    request: bytes


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
        """Seconds before the next attempt: exponential with full jitter, at least what the provider asked for."""
        ceiling = min(self.longest_wait, self.first_wait * 2.0 ** (failures - 1))
        jittered = ceiling * random.uniform(0.5, 1.0)
        return max(jittered, min(retry_after or 0.0, 10 * self.longest_wait))


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
        self.concurrency = concurrency
        self.limit = concurrency
        self._running = 0
        self._successes = 0
        self._quiet_until = 0.0
        self._steady_until = 0.0
        self._changed = asyncio.Condition()

    async def __aenter__(self) -> None:
        loop = asyncio.get_running_loop()
        async with self._changed:
            await self._changed.wait_for(lambda: self._running < self.limit)
            self._running += 1
        while (pause := self._quiet_until - loop.time()) > 0:  # noqa: ASYNC110 - the deadline may move meanwhile
            await asyncio.sleep(pause)

    async def __aexit__(self, *_: object) -> None:
        self._running -= 1
        async with self._changed:
            self._changed.notify_all()

    def delivered(self) -> None:
        """Count a success."""
        self._successes += 1
        if self.limit < self.concurrency and self._successes >= self.limit:
            self.limit += 1
            self._successes = 0

    def refused(self, retry_after: float | None) -> bool:
        """Slow down after a rate limit; return whether the limit fell.

        Calls that were sent together are refused together: the limit falls at most once in a second.
        """
        now = asyncio.get_running_loop().time()
        self._successes = 0
        if retry_after:
            self._quiet_until = max(self._quiet_until, now + min(retry_after, 600.0))
        fell = self.limit > 1 and now >= self._steady_until
        if fell:
            self.limit = max(1, self.limit // 2)
            self._steady_until = now + 1.0
        return fell


class Asker(Protocol):
    """Who fills a judge's slots: a :class:`Caller`, or one that only notes what would be asked."""

    async def deliver(
        self, request: Request, slots: Sequence[Slot], judge_text: Callable[[str], str] | None = None
    ) -> list[StoredReply]:
        """Fill consecutive slots; what comes back may be shorter."""
        ...


class Caller:
    """Asks a model until every slot is delivered or patience ends.

    Parameters
    ----------
    model : Model
        Whom to ask.
    store : Store
        Where every reply rests before it is used.
    pace, patience, budget, price : Pace, Patience, Budget, Price
        How to ask.
    """

    def __init__(
        self,
        model: Model,
        store: Store,
        *,
        pace: Pace,
        patience: Patience | None = None,
        budget: Budget | None = None,
        price: Price | None = None,
    ) -> None:
        self.model = model
        self.store = store
        self.pace = pace
        self.patience = patience or Patience()
        self.budget = budget or Budget()
        self.price = price
        self.stopped: Exception | None = None
        self._reached = False
        self._unreached = 0
        self._commit: asyncio.Future[None] | None = None

    async def deliver(
        self, request: Request, slots: Sequence[Slot], judge_text: Callable[[str], str] | None = None
    ) -> list[StoredReply]:
        """Fill consecutive slots; slot i of `slots` is drawn with the request's seed + i.

        Parameters
        ----------
        request : Request
            What to ask; its ``n`` is set here.
        slots : sequence of Slot
            With consecutive indices.
        judge_text : callable or None
            Status of a delivered text (``ok`` or ``unparseable``); None accepts every text.

        Returns
        -------
        list of StoredReply
            What was delivered, committed; shorter than `slots` if patience ended.

        Raises
        ------
        ModelError, BudgetError
            Asking on would be useless; what was delivered before is stored.
        """
        done: list[StoredReply] = []
        failures = 0
        while len(done) < len(slots) and failures < self.patience.attempts and self.stopped is None:
            wanted = slots[len(done) :][: self.model.max_choices]
            seed = None if request.seed is None else request.seed + len(done)
            rows = await self._attempt(
                Request(request.messages, request.decoding, len(wanted), seed), wanted, judge_text
            )
            if isinstance(rows, TransientError):
                failures += 1
                if failures < self.patience.attempts:
                    await asyncio.sleep(self.patience.wait(failures, rows.retry_after))
            else:
                done.extend(rows)
                failures = 0
        return done

    async def _attempt(
        self, request: Request, slots: Sequence[Slot], judge_text: Callable[[str], str] | None
    ) -> list[StoredReply] | TransientError:
        async with self.pace:
            if self.stopped is not None:
                return []
            try:
                reserved = self.budget.reserve(request, self.price)
            except BudgetError as error:
                self.stopped = error
                raise
            settled: tuple[float | None, int | None] = (None, None)
            try:
                call = await self.model(request)
                settled = self._bill(call)
            except TransientError as error:
                if not error.maybe_paid:
                    settled = (0.0, 0)
                self._note_failure(error, slots[0])
                if self._reaches_nobody(error):
                    sentence = f"{error}; nothing has answered yet: is the address right, is there a network?"
                    self.stopped = ModelError(sentence)
                    raise self.stopped from None
                return error
            except ModelError as error:
                settled = (0.0, 0)
                self.stopped = error
                raise
            finally:
                self.budget.settle(reserved, *settled)
            self._reached = True
            self.pace.delivered()
            for event in call.events:
                self.store.add_event("model", event)
            rows = self._rows(call, slots, judge_text)
            await self._committed(rows)
            return rows

    def _bill(self, call: Call) -> tuple[float | None, int | None]:
        if call.usage is None:
            return None, None
        cost = None if self.price is None else self.price.of(call.usage)
        return cost, call.usage.input_tokens + call.usage.output_tokens

    def _reaches_nobody(self, error: TransientError) -> bool:
        """Whether several calls found nobody and none found somebody: a wrong address, or no network."""
        nobody = error.status == "connection" and not error.maybe_paid
        self._unreached += nobody
        self._reached = self._reached or not nobody
        return self._unreached >= UNREACHED and not self._reached

    def _note_failure(self, error: TransientError, slot: Slot) -> None:
        if error.status == "rate_limited" and self.pace.refused(error.retry_after):
            self.store.add_event("pace", f"rate limited: at most {self.pace.limit} calls at once")
        self.store.append([failed_row(error, slot)])

    def _rows(self, call: Call, slots: Sequence[Slot], judge_text: Callable[[str], str] | None) -> list[StoredReply]:
        return delivered_rows(call, slots, uuid.uuid4().hex[:16], self._bill(call)[0], judge_text)

    async def _committed(self, rows: list[StoredReply]) -> None:
        """Queue rows and wait until they are on disk; rows that arrive together are committed together."""
        self.store.append(rows)
        if self._commit is None:
            loop = asyncio.get_running_loop()
            self._commit = loop.create_future()
            loop.call_later(0.004, self._flush)
        await asyncio.shield(self._commit)

    def _flush(self) -> None:
        future, self._commit = self._commit, None
        if future is None or future.done():
            return
        try:
            self.store.flush()
            future.set_result(None)
        except Exception as error:
            self.stopped = error
            future.set_exception(error)
            future.exception()


def delivered_rows(
    call: Call,
    slots: Sequence[Slot],
    name: str,
    cost: float | None,
    judge_text: Callable[[str], str] | None = None,
) -> list[StoredReply]:
    """Make the rows of what a call delivered, one per choice; usage and cost stand on the first.

    Parameters
    ----------
    call : Call
        What came back.
    slots : sequence of Slot
        Where the choices belong, in order; there may be more slots than choices.
    name : str
        The call's id.
    cost : float or None
        USD of the whole call.
    judge_text : callable or None
        Status of a delivered text; None accepts every text.
    """
    rows = []
    for place, (reply, slot) in enumerate(zip(call.replies, slots, strict=False)):
        first = place == 0 and call.usage is not None
        status = judge_text(reply.text) if judge_text and reply.status == "ok" else reply.status
        rows.append(
            StoredReply(
                slot.key,
                slot.stage,
                slot.question_id,
                slot.index,
                status,
                reply.text,
                reply.raw,
                slot.judge,
                slot.request,
                reply.finish_reason,
                name,
                call.usage.input_tokens if call.usage and first else None,
                call.usage.output_tokens if call.usage and first else None,
                cost if first else None,
                call.latency,
                call.request_id if place == 0 else None,
            )
        )
    return rows


def failed_row(error: TransientError, slot: Slot, name: str | None = None) -> StoredReply:
    """Make the row of a call that delivered nothing."""
    return StoredReply(
        slot.key,
        slot.stage,
        slot.question_id,
        slot.index,
        error.status,
        raw=canonical({"error": str(error), "maybe_paid": error.maybe_paid}),
        judge=slot.judge,
        request=slot.request,
        call=name,
    )


async def in_parallel(jobs: Iterable[Callable[[], Awaitable[None]]], width: int) -> None:
    """Do jobs, `width` at a time; after a failure hand out no more, let those at work finish, then raise it."""
    queue = iter(jobs)
    failures: list[Exception] = []

    async def work() -> None:
        for job in queue:
            try:
                await job()
            except Exception as error:
                failures.append(error)
            if failures:
                return

    await asyncio.gather(*(work() for _ in range(width)))
    if failures:
        raise failures[0]
