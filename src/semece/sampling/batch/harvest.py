"""Batches that are back: finding one whose creation was interrupted, and storing the results of one that has ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from semece.errors import ModelError, TransientError
from semece.models import BatchFailedError, LineResult, UnknownBatchError
from semece.sampling.batch.ledger import custom_id
from semece.sampling.deliveries import delivered_rows, failed_row

if TYPE_CHECKING:
    from collections.abc import Callable

    from semece.models import BatchModel, BatchState, Call, Usage
    from semece.sampling.batch.ledger import BatchEntry, Ledger
    from semece.sampling.budget import Price
    from semece.store import Slot, Store

LINES_PER_COMMIT = 200


@dataclass(slots=True)
class Harvest:
    """What a batch brought.

    Parameters
    ----------
    delivered, failed : int
        Lines with and without a reply.
    refused : ModelError or None
        The first refusal that asking again does not change.
    cancelled : list of bytes
        Keys of lines that somebody stopped.
    again : list of bytes
        Keys of lines that were refused for an option that is left out from now on.
    crowded : bool
        Whether the batch was refused as a whole because too much is under way.
    cost, tokens : float, int
        What the lines took of which it is known, at the most that a token can cost.
    silent : int
        Lines that are, or may be, paid for and of which it is not known.
    unlisted : list of bytes
        Keys of lines of which the results say nothing, though the batch is completed.
    unreadable : list of str
        Why results could not be read, or were nobody's.
    """

    delivered: int = 0
    failed: int = 0
    refused: ModelError | None = None
    cancelled: list[bytes] = field(default_factory=list)
    again: list[bytes] = field(default_factory=list)
    crowded: bool = False
    cost: float = 0.0
    tokens: int = 0
    silent: int = 0
    unlisted: list[bytes] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)

    def bill(self, usage: Usage | None, ceiling: Price | None) -> None:
        """Add what a line took; None if nobody says."""
        if usage is None:
            self.silent += 1
            return
        self.cost += 0.0 if ceiling is None else ceiling.of(usage)
        self.tokens += usage.input_tokens + usage.output_tokens

    def spent(self, entry: BatchEntry) -> tuple[float, int]:
        """Say what the budget is charged: what is not known counts as it was set aside."""
        cost, tokens = (held / len(entry.slots) for held in entry.held)
        return self.cost + cost * self.silent, self.tokens + round(tokens * self.silent)


class Harvester:
    """Stores the results of one batch; a second time after a crash stores what is missing of it.

    Parameters
    ----------
    store, entry : Store, BatchEntry
        Where to, and what was asked.
    price, ceiling : Price or None
        Per token in batches, None if it is not known; and the most that it can be.
    progress : callable or None
        Called with the number of replies that were delivered.
    """

    def __init__(
        self,
        store: Store,
        entry: BatchEntry,
        *,
        price: Price | None,
        ceiling: Price | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        self._store, self._entry, self._progress = store, entry, progress
        self._price, self._ceiling = price, price or ceiling
        self._stored = store.calls_named(entry.id[:8])
        self._lines = {custom_id(entry.id, slots[0].key): slots for slots in entry.slots}
        self._sent = frozenset(self._lines)
        self._harvest = Harvest()

    async def gather(self, model: BatchModel, state: BatchState, *, last: bool = True) -> Harvest:
        """Store all results of a batch that has ended.

        Parameters
        ----------
        model, state : BatchModel, BatchState
            Whose, and which.
        last : bool
            Whether lines without a result are given up; otherwise they are only listed, and nothing is stored of them.

        Raises
        ------
        TransientError, ModelError
            The results could not be fetched; nothing is lost.
        """
        place = 0
        try:
            async for result in model.results(state):
                place += 1
                self._take(result)
                if place % LINES_PER_COMMIT == 0:
                    self._store.flush()
        except BatchFailedError as error:
            self._harvest.crowded = getattr(error.reason, "status", None) == "rate_limited"
            if not self._harvest.crowded:
                self._take_rest(error.reason, cancelled=error.cancelled)
        else:
            if state.ending == "completed":
                self._harvest.unlisted = [slots[0].key for slots in self._lines.values()]
            if last or not self._harvest.unlisted:
                self._take_rest(self._missing(state), cancelled=state.ending == "cancelled")
        finally:  # what came before a connection broke is known to be stored when the results are fetched again
            self._store.flush()
        return self._harvest

    def _take(self, result: LineResult) -> None:
        slots = self._lines.pop(result.custom_id, None)
        if slots is None:
            if result.custom_id not in self._sent:
                self._harvest.unreadable.append(str(result.error or "a result bears an id that was not sent"))
            return
        name, key = self._entry.call(slots[0].key), slots[0].key
        if result.call is not None:
            self._take_call(result.call, slots, name)
            return
        self._harvest.failed += 1
        if result.error is None:
            self._harvest.again.append(key)
        elif isinstance(result.error, TransientError):
            self._fail(result.error, slots, name)
        elif self._harvest.refused is None:
            self._harvest.refused = result.error
        if result.cancelled:
            self._harvest.cancelled.append(key)

    def _take_call(self, call: Call, slots: tuple[Slot, ...], name: str) -> None:
        self._harvest.bill(call.usage, self._ceiling)
        self._harvest.delivered += 1
        for event in call.events:
            self._store.add_event("model", event)
        if name not in self._stored:
            cost = None if self._price is None or call.usage is None else self._price.of(call.usage)
            rows = delivered_rows(call, slots, name, cost)
            self._store.append(rows)
            if self._progress:
                self._progress(len(rows))

    def _fail(self, error: TransientError, slots: tuple[Slot, ...], name: str) -> None:
        if error.maybe_paid:
            self._harvest.bill(None, None)
        if name not in self._stored:
            self._store.append([failed_row(error, slots[0], name, choices=len(slots))])

    def _take_rest(self, reason: ModelError, *, cancelled: bool) -> None:
        """Lines without a result share the batch's reason."""
        for name in list(self._lines):
            self._take(LineResult(name, error=reason, cancelled=cancelled))

    def _missing(self, state: BatchState) -> TransientError:
        """Say why a batch that has ended left lines out of its results."""
        status = {"expired": "timeout", "cancelled": "server"}.get(state.ending or "", "broken_body")
        said = f"batch {state.id} ended ({state.ending}) without a result for the line"
        if self._harvest.unreadable:
            said = f"{said}; {self._harvest.unreadable[0]}"
        return TransientError(said, status=status, maybe_paid=status == "broken_body")


class Search:
    """Looks for the batches of ledger entries whose creation was interrupted.

    A provider that carries our id for a batch is asked for it. Where it does not, or has dropped it, a batch that was
    created since, that no entry knows and that has as many lines is a candidate; the names of its lines tell, as soon
    as they can be seen.

    Parameters
    ----------
    model, ledger : BatchModel, Ledger
        Where, and for whom.
    """

    def __init__(self, model: BatchModel, ledger: Ledger) -> None:
        self._model, self._ledger = model, ledger
        self._strangers: set[str] = set()

    async def find(self, entry: BatchEntry) -> tuple[str | None, bool]:
        """Look once.

        Returns
        -------
        tuple of str or None and bool
            The provider's id if the batch is found, and whether a candidate is still under way.
        """
        known = self._ledger.known() | self._strangers
        waiting = False
        for state in await self._model.listed(entry.since):
            if state.mark == entry.id:
                return state.id, False
            if state.mark is not None or state.id in known or state.requests not in {None, len(entry.slots)}:
                continue
            owned = await self._owns(entry, state)
            if owned:
                return state.id, False
            if owned is None:
                waiting = True
            else:
                self._strangers.add(state.id)
        return None, waiting

    async def _owns(self, entry: BatchEntry, state: BatchState) -> bool | None:
        """Whether a line of a batch bears the entry's name; None as long as that cannot be seen."""
        try:
            name = await self._model.line_of(state)
        except (BatchFailedError, UnknownBatchError):
            return False
        return entry.owns(name) if name is not None else None if state.ending is None else False
