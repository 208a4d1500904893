"""One seam between the stages and a model: paced, capped, retried, and stored before anyone reads it."""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from semece.errors import BudgetError, DiskError, ModelError, ProviderError, StoppedError, TransientError
from semece.sampling.budget import Budget, Price
from semece.sampling.deliveries import delivered_rows, failed_row
from semece.sampling.patience import Patience

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence

    from semece.models import Call, Model, Request
    from semece.sampling.pace import Pace
    from semece.store import Slot, Store, StoredReply


UNREACHED = 4
"""After so many calls that found nobody, and none that did, a run stops."""

IN_VAIN = 16
"""After so many calls that may be paid for and brought nothing, or four times as many as may be under way at once, and
none that brought something, a run stops."""

LONGEST_PAUSE = 6000.0
"""Seconds; a service that wants to be left alone for longer ends the run: nobody waits for so long."""


class Stop:
    """Whether and why nothing may be sent any more: shared by all callers of an invocation.

    A stop ends what waits and lets what is in flight arrive. A person's stop, :meth:`listened_to`, also stops every run
    that is begun inside, whose own stop is :meth:`of_a_run`.

    Examples
    --------
    >>> person = Stop()
    >>> with person.listened_to():
    ...     run = Stop.of_a_run()
    >>> person.because(StoppedError("enough"))
    >>> run.reason
    StoppedError('enough')
    """

    def __init__(self) -> None:
        self.reason: Exception | None = None
        self._event = asyncio.Event()
        self._runs: list[Stop] = []

    @staticmethod
    def of_a_run() -> Stop:
        """Make the stop of a run, which a person's stop reaches if one is listened to."""
        made, person = Stop(), _listened_to.get()
        if person is not None:
            person._runs.append(made)
            if person.reason is not None:
                made.because(person.reason)
        return made

    @contextlib.contextmanager
    def listened_to(self) -> Iterator[None]:
        """Let this be a person's stop of all runs that are begun inside."""
        token = _listened_to.set(self)
        try:
            yield
        finally:
            _listened_to.reset(token)

    def because(self, error: Exception) -> None:
        """Stop; the first reason stands, but a person's word comes before any other."""
        if self.reason is None or isinstance(error, StoppedError):
            self.reason = error
        self._event.set()
        for run in self._runs:
            run.because(error)

    def check(self) -> None:
        """Raise a person's stop.

        Raises
        ------
        StoppedError
            A person stopped the run.
        """
        if isinstance(self.reason, StoppedError):
            raise self.reason

    async def rest(self, seconds: float) -> None:
        """Sleep, but not beyond the stop."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._event.wait(), seconds)


_listened_to: ContextVar[Stop | None] = ContextVar("_listened_to", default=None)


@dataclass(frozen=True, slots=True)
class Terms:
    """What the calls of one invocation share.

    Parameters
    ----------
    patience : Patience
        How long to insist.
    budget : Budget
        Caps.
    stop : Stop
        What ends all of them.
    """

    patience: Patience = field(default_factory=Patience)
    budget: Budget = field(default_factory=Budget)
    stop: Stop = field(default_factory=Stop.of_a_run)


class SlotFiller(Protocol):
    """Who fills a judge's slots: a :class:`Caller`, or one that only notes what would be asked."""

    async def deliver(
        self, request: Request, slots: Sequence[Slot], judge_text: Callable[[str], str] | None = None
    ) -> list[StoredReply]:
        """Fill consecutive slots; what comes back may be shorter."""
        ...


def _most_bytes(request: Request) -> int:
    """Bound what one choice of a request takes in the run file: eight bytes a token, text and raw form."""
    return 2048 + 8 * request.decoding.max_tokens


class Caller:
    """Asks a model until every slot is delivered or patience ends.

    Parameters
    ----------
    model : Model
        Whom to ask.
    store : Store
        Where every reply rests before it is used.
    pace, price : Pace, Price or None
        How many calls at once, and what one costs.
    terms : Terms, optional
        What it shares with others.
    """

    def __init__(
        self,
        model: Model,
        store: Store,
        *,
        pace: Pace,
        price: Price | None = None,
        terms: Terms | None = None,
    ) -> None:
        self.model = model
        self.store = store
        self.pace = pace
        self.price = price
        terms = terms or Terms()
        self.patience, self.budget, self.stop = terms.patience, terms.budget, terms.stop
        self._reached = self._served = False
        self._unreached = self._in_vain = 0
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
        StoppedError
            A person stopped the run before all slots were filled; what was in flight is stored.
        """
        done: list[StoredReply] = []
        failures = 0
        while len(done) < len(slots) and failures < self.patience.attempts and self.stop.reason is None:
            wanted = slots[len(done) :][: self.model.max_choices]
            seed = None if request.seed is None else request.seed + len(done)
            rows = await self._attempt(replace(request, n=len(wanted), seed=seed), wanted, judge_text)
            if isinstance(rows, TransientError):
                failures += 1
                if failures < self.patience.attempts:
                    await self.stop.rest(self.patience.wait(failures, rows.retry_after))
            else:
                done.extend(rows)
                failures = 0
        if len(done) < len(slots):
            self.stop.check()
        return done

    async def _attempt(
        self, request: Request, slots: Sequence[Slot], judge_text: Callable[[str], str] | None
    ) -> list[StoredReply] | TransientError:
        """Send one call; what it delivered is committed. Nothing is sent, and nothing delivered, after a stop."""
        async with self.pace:
            reserved = await self._admitted(request)
            if reserved is None:
                return []
            sent = asyncio.get_running_loop().time()
            call = await self._sent(request, reserved, slots[0])
            seconds = asyncio.get_running_loop().time() - sent
            if isinstance(call, TransientError):
                self._slow_down(call, seconds)
                return call
            self._reached = self._served = True
            self._in_vain = 0
            self.pace.delivered(len(call.replies), seconds)
            for event in call.events:
                self.store.add_event("model", event)
            rows = delivered_rows(call, slots, uuid.uuid4().hex[:16], self._bill(call)[0], judge_text)
            await self._committed(rows)
            return rows

    async def _admitted(self, request: Request) -> tuple[float, int] | None:
        """Wait until the provider's pause is over and the caps have room; None after a stop."""
        while self.stop.reason is None and (pause := self.pace.pause()) > 0:
            await self.stop.rest(pause)
        try:
            self.store.check_room(self.pace.most * request.n * _most_bytes(request))
            reserved = await self.budget.admit(request, self.price)
        except (BudgetError, DiskError) as error:
            self.stop.because(error)
            raise
        if self.stop.reason is None:
            return reserved
        self.budget.land(reserved, 0.0, 0)
        return None

    async def _sent(self, request: Request, reserved: tuple[float, int], slot: Slot) -> Call | TransientError:
        """Send a call, settle it, and note its failure."""
        settled: tuple[float | None, int | None] = (None, None)
        try:
            call = await self.model(request)
            settled = self._bill(call)
            if not call.replies:
                raise TransientError(f"{self.model.name} gave no choice", status="broken_body", maybe_paid=True)
            return call
        except TransientError as error:
            if not error.maybe_paid:
                settled = (0.0, 0)
            self._note_failure(error, slot, request.n)
            useless = self._useless(error)
            if useless is not None:
                self.stop.because(useless)
                raise useless from None
            return error
        except ModelError as error:
            settled = (0.0, 0)
            self.stop.because(error)
            raise
        except asyncio.CancelledError:
            said = "the run was ended while the call was in flight"
            self._note_failure(TransientError(said, status="connection", maybe_paid=True), slot, request.n)
            raise
        finally:
            self.budget.land(reserved, *settled)

    def _bill(self, call: Call) -> tuple[float | None, int | None]:
        if call.usage is None:
            return None, None
        cost = None if self.price is None else self.price.of(call.usage)
        return cost, call.usage.input_tokens + call.usage.output_tokens

    def _useless(self, error: TransientError) -> ProviderError | None:
        """Say why asking on would be useless or would only cost, if it would, after one more call that brought nothing.

        Nobody is there; whoever is there takes the money and brings nothing; or wants a pause that is too long.
        """
        nobody = error.status == "connection" and not error.maybe_paid
        self._unreached += nobody
        self._reached = self._reached or not nobody
        self._in_vain += error.maybe_paid
        if self._unreached >= UNREACHED and not self._reached:
            return ProviderError(f"{error}; nothing has answered yet: is the address right, is there a network?")
        served = max(4 * IN_VAIN, self.patience.attempts * self.pace.most)  # an outage ends by itself
        if self._in_vain >= (served if self._served else max(IN_VAIN, 4 * self.pace.most)):
            return ProviderError(
                f"{error}; {self._in_vain:,} calls in a row may be paid for and brought nothing: is --timeout long "
                "enough, does a proxy cut replies off?"
            )
        if (error.retry_after or 0.0) > LONGEST_PAUSE:
            return ProviderError(
                f"{error}; the service wants a pause of {error.retry_after:,.0f} seconds: run it again then"
            )
        return None

    def _slow_down(self, error: TransientError, seconds: float) -> None:
        if self.pace.failed(error, seconds):
            self.store.add_event("pace", f"rate limited: at most {self.pace.limit} calls at once")

    def _note_failure(self, error: TransientError, slot: Slot, choices: int) -> None:
        self.store.append([failed_row(error, slot, choices=choices)])

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
            self.stop.because(error)
            future.set_exception(error)
            future.exception()


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
