"""Hands lines to a provider in batches, waits, and stores what comes back; a crash at any point loses nothing."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from semece.errors import BudgetError, ModelError, ProviderError, TransientError, plural
from semece.models import UnknownBatchError
from semece.sampling.batch.harvest import Harvester, Search
from semece.sampling.batch.ledger import Ledger, custom_id, new_id
from semece.sampling.budget import Budget
from semece.sampling.live_calls import Stop
from semece.sampling.patience import BatchPatience

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Container, Iterable

    from semece.models import BatchModel, BatchState, EncodedLine
    from semece.sampling.batch.harvest import Harvest
    from semece.sampling.batch.ledger import BatchEntry, Line
    from semece.sampling.budget import Price
    from semece.store import Store

    Wanted = Callable[[Container[bytes]], Awaitable[Iterable[Line]]]

EXCUSES = 5
"""How often a line is submitted again for options that are left out."""

STORED_BYTES = 1000
"""What a reply usually takes in the run file."""

FORGOTTEN_AFTER = 30 * 86400.0
"""Seconds after which a batch that its provider does not know any more is given up."""

T = TypeVar("T")


async def nothing(under_way: Container[bytes]) -> tuple[Line, ...]:
    """Want nothing: only what is under way is waited for."""
    del under_way
    return ()


@dataclass(slots=True)
class _Pile:
    """Lines that will be one batch."""

    id: str = field(default_factory=new_id)
    lines: list[Line] = field(default_factory=list)
    encoded: list[EncodedLine] = field(default_factory=list)
    size: int = 0
    held: tuple[float, int] = (0.0, 0)

    def fits(self, line: EncodedLine, model: BatchModel) -> bool:
        """Whether a line may join."""
        return not self.encoded or (
            len(self.encoded) < model.max_lines
            and self.size + line.size <= model.max_bytes
            and self.encoded[0].group == line.group
        )

    def add(self, line: Line, encoded: EncodedLine, held: tuple[float, int]) -> None:
        """Join a line."""
        self.lines.append(line)
        self.encoded.append(encoded)
        self.size += encoded.size
        self.held = (self.held[0] + held[0], self.held[1] + held[1])


@dataclass(frozen=True, slots=True)
class BatchTerms:
    """How long to wait for batches, and at what price.

    Parameters
    ----------
    patience : BatchPatience
        How long to wait.
    budget : Budget
        Caps; what stands in the ledger is set aside in it already.
    price : Price or None
        Per token in batches; None if it is not known.
    ceiling : Price or None
        What is set aside per token where `price` is not known: the live price.
    anew : bool
        Whether lines of an earlier invocation whose results are gone are asked again though they were paid for.
    stop : Stop
        What ends all waiting.
    """

    patience: BatchPatience = field(default_factory=BatchPatience)
    budget: Budget = field(default_factory=Budget)
    price: Price | None = None
    ceiling: Price | None = None
    anew: bool = False
    stop: Stop = field(default_factory=Stop.of_a_run)


class Courier:
    """Delivers lines through a model's batch interface.

    A line is under way once its entry is in the ledger and until the entry is closed; what is under way is never
    asked again, in this invocation or a later one.

    Parameters
    ----------
    model : BatchModel
        The interface.
    store : Store
        The run file.
    terms : BatchTerms
        How long to wait, and at what price.
    progress : callable or None
        Called with the number of replies that were delivered.
    """

    def __init__(
        self,
        model: BatchModel,
        store: Store,
        terms: BatchTerms,
        *,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        self.model = model
        self._store = store
        self._ledger = Ledger(store)
        self._search = Search(model, self._ledger)
        self._patience, self._budget, self._anew = terms.patience, terms.budget, terms.anew
        self._stop = terms.stop
        self._price, self._ceiling = terms.price, terms.price or terms.ceiling
        self._progress = progress
        self._open: list[BatchEntry] = []
        self._earlier: set[str] = set()
        self._since: dict[str, float] = {}
        self._tries: Counter[bytes] = Counter()
        self._excused: Counter[bytes] = Counter()
        self._unlisted: Counter[bytes] = Counter()
        self._looked_again: set[str] = set()
        self._most = model.max_lines
        self._failures = 0
        self._trouble: TransientError | None = None
        self._given_up = False
        self._capped: BudgetError | None = None
        self._refused: ModelError | None = None

    async def deliver(self, wanted: Wanted) -> None:
        """Submit what is wanted and not under way, and stay until all of it is back or given up.

        Parameters
        ----------
        wanted : callable
            From the keys of the slots that are under way to the lines that are missing besides; asked again whenever
            something came back.

        Raises
        ------
        ModelError, BudgetError
            Asking on would be useless; what was delivered is stored, what is under way stands in the ledger.
        StoppedError
            A person stopped the run; so it is then, too.
        """
        self._take_up()
        if self._open:
            await self._look()
        await self._submit(wanted)
        pause = self._patience.first_look
        while self._open and self._refused is None and self._failures < self._patience.failures:
            await self._stop.rest(pause)
            self._stop.check()
            if await self._look():
                pause = self._patience.first_look
                await self._submit(wanted)
            else:
                pause = min(self._patience.longest_look, 1.5 * pause)
        self._stop.check()
        if stopped := self._refused or self._capped:
            raise stopped

    async def collect(self) -> None:
        """Submit nothing, and stay until all that is under way is back.

        Raises
        ------
        ModelError
            It is not: looks at it failed, or it is refused. What is under way may be paid for.
        """
        await self.deliver(nothing)
        if self._open:
            lines = sum(len(entry.slots) for entry in self._open)
            raise ProviderError(
                f"{plural(lines, 'request', 'is')} under way in batches of {self.model.name} and may be "
                f"paid for, but looking at them failed ({self._trouble}): run it again later"
            )

    def _take_up(self) -> None:
        """Take up what earlier invocations left under way."""
        known = {entry.id for entry in self._open}
        for entry in self._ledger.open(self.model.name):
            if entry.id not in known:
                self._watch(entry)
                self._earlier.add(entry.id)

    def _watch(self, entry: BatchEntry) -> None:
        self._open.append(entry)
        self._since[entry.id] = asyncio.get_running_loop().time()

    async def _submit(self, wanted: Wanted) -> None:
        """Submit what is wanted, as far as the caps allow."""
        self._capped = None
        crowded = self._most < self.model.max_lines
        if crowded and self._open:
            return
        under_way = {slot.key for entry in self._open for slots in entry.slots for slot in slots}
        pile = _Pile()
        for line in await wanted(under_way):
            if self._ends or (crowded and len(pile.lines) == self._most):
                break
            if self._tries[line.key] >= self._patience.rounds:
                continue
            try:
                held = self._budget.reserve(line.request, self._ceiling)
            except BudgetError as error:
                self._capped = error
                break
            pile = await self._add(pile, line, held)
        if pile.lines and self._stop.reason is None:
            await self._create(pile)
        self._tell()

    @property
    def _ends(self) -> bool:
        """Whether nothing more is submitted."""
        return self._refused is not None or self._given_up or self._stop.reason is not None

    async def _add(self, pile: _Pile, line: Line, held: tuple[float, int]) -> _Pile:
        """Add a line to a pile, or to a new one if it does not fit."""
        encoded = await self.model.encode(custom_id(pile.id, line.key), line.request)
        if not pile.fits(encoded, self.model):
            await self._create(pile)
            pile = _Pile()
            encoded = await self.model.encode(custom_id(pile.id, line.key), line.request)
        pile.add(line, encoded, held)
        return pile

    async def _create(self, pile: _Pile) -> None:
        """Enter a pile into the ledger, then create its batch."""
        self._store.check_room(STORED_BYTES * sum(len(line.slots) for line in pile.lines))
        try:
            before = await self._insist(lambda: self.model.listed(None, limit=1))
        except ModelError as error:
            self._give_up(pile.held, error)
            return
        since = before[0].created if before else None
        entry = self._ledger.enter(pile.id, self.model.name, pile.lines, since=since, held=pile.held)
        self._tries.update(line.key for line in pile.lines)
        try:
            state = await self._insist(lambda: self.model.create(pile.encoded, entry.id))
        except ModelError as error:
            if isinstance(error, TransientError) and error.maybe_paid:
                self._note(f"whether a batch of {plural(len(pile.lines), 'request')} exists will be seen: {error}")
                self._watch(entry)
                return
            self._ledger.mark(entry, "absent")
            self._give_up(entry.held, error)
        else:
            self._watch(self._ledger.mark(entry, "submitted", state.id))
            self._note(f"{plural(len(pile.lines), 'request', 'is')} under way as batch {state.id}")

    def _give_up(self, held: tuple[float, int], error: ModelError) -> None:
        """Submit nothing more: for good after a refusal, else until the next invocation."""
        self._budget.settle(held, 0.0, 0)
        if isinstance(error, TransientError):
            self._given_up = True
            self._store.trouble = str(error)
            self._note(f"no batch could be created: {error}")
        else:
            self._refused = self._refused or error

    async def _insist(self, call: Callable[[], Awaitable[T]]) -> T:
        """Call until patience ends, as long as nothing can have been created."""
        failures = 0
        while True:
            try:
                return await call()
            except TransientError as error:
                failures += 1
                if error.maybe_paid or failures >= self._patience.calls.attempts or self._stop.reason is not None:
                    raise
                await self._stop.rest(self._patience.calls.wait(failures, error.retry_after))

    async def _look(self) -> bool:
        """Look at everything that is under way; tell whether anything came to an end."""
        changed, failed = False, False
        for entry in list(self._open):
            self._stop.check()
            try:
                changed |= await self._advance(entry)
            except TransientError as error:
                failed, self._trouble = True, error
                self._store.trouble = str(error)
                self._note(f"a look at a batch failed: {error}")
            except ModelError as error:
                self._refused = self._refused or error
        self._failures = self._failures + 1 if failed else 0
        return changed

    async def _advance(self, entry: BatchEntry) -> bool:
        """Take an entry one step further; tell whether it is closed."""
        if entry.provider_id is None:
            return await self._seek(entry)
        state = None
        try:
            state = await self.model.state(entry.provider_id)
            if state.ending is None:
                return False
            return await self._gather(entry, state)
        except UnknownBatchError as error:
            self._lose(entry, error, known=state is not None)
        return True

    def _lose(self, entry: BatchEntry, error: UnknownBatchError, *, known: bool) -> None:
        """Give up an entry whose results will not come: it is old, or who asks wants so; it counts as paid for."""
        count, certain = len(entry.slots), error.gone or entry.age >= FORGOTTEN_AFTER
        if not (certain or known):
            raise ProviderError(
                f"{error}; use the key and the endpoint that made batch {entry.provider_id}: its "
                f"{plural(count, 'request')} may be paid for"
            )
        if not (certain or (self._anew and entry.id in self._earlier)):
            raise ProviderError(
                f"{error}; the results of batch {entry.provider_id} are gone and its "
                f"{plural(count, 'request', 'was')} paid for: ask again with --retry-failed, or write to another file "
                "with -o"
            )
        gone = f"the results of batch {entry.provider_id} are gone" if known else f"batch {entry.provider_id} is gone"
        self._close(entry, "lost", entry.held, f"{gone}: {plural(count, 'request', 'is')} asked again")

    async def _seek(self, entry: BatchEntry) -> bool:
        """Look for a batch whose creation was interrupted; its lines are free again once it is sure not to exist."""
        watched = asyncio.get_running_loop().time() - self._since[entry.id]
        found, waiting = await self._search.find(entry)
        if found is not None:
            self._open[self._open.index(entry)] = self._ledger.mark(entry, "submitted", found)
            self._note(f"batch {found} was found again")
            return False
        if waiting or watched < self._patience.grace:
            return False
        self._tries.subtract(slots[0].key for slots in entry.slots)
        self._close(entry, "absent", (0.0, 0), f"a batch of {plural(len(entry.slots), 'request')} was never created")
        return True

    async def _gather(self, entry: BatchEntry, state: BatchState) -> bool:
        """Store what a batch brought; one that is completed without results of all lines is read once more first."""
        harvester = Harvester(self._store, entry, price=self._price, ceiling=self._ceiling, progress=self._progress)
        harvest = await harvester.gather(self.model, state, last=entry.id in self._looked_again)
        if harvest.unlisted and entry.id not in self._looked_again:
            self._looked_again.add(entry.id)
            lines = plural(len(harvest.unlisted), "line", "is")
            self._note(f"batch {state.id}: {lines} without a result: it is read once more")
            return False
        self._learn(harvest)
        if harvest.crowded:
            self._crowd(entry)
        text = f"batch {state.id} {state.ending}: {harvest.delivered:,} delivered, {harvest.failed:,} not"
        if harvest.unreadable:
            text += f"; {len(harvest.unreadable):,} results were of no use, the first: {harvest.unreadable[0]}"
        self._close(entry, "stored", harvest.spent(entry), text)
        return True

    def _learn(self, harvest: Harvest) -> None:
        """Decide what is submitted again: no cancelled line; if an option was dropped, it costs no try."""
        for key in harvest.cancelled:
            self._tries[key] = self._patience.rounds
        for key in harvest.unlisted:  # once more, and then no smaller and smaller rounds
            self._unlisted[key] += 1
            self._tries[key] = self._patience.rounds - (self._unlisted[key] == 1)
        for key in harvest.again:
            self._excused[key] += 1
            self._tries[key] -= self._excused[key] <= EXCUSES
        self._refused = self._refused or harvest.refused
        self._tell()

    def _crowd(self, entry: BatchEntry) -> None:
        """Submit half as much, one batch at a time, after a provider's queue was full."""
        self._tries.subtract(slots[0].key for slots in entry.slots)
        if len(entry.slots) == 1 and len(self._open) == 1:
            self._given_up = True
        self._most = max(1, min(self._most, len(entry.slots)) // 2)

    def _close(self, entry: BatchEntry, status: str, spent: tuple[float, int], text: str) -> None:
        self._ledger.mark(entry, status)
        self._budget.settle(entry.held, *spent)
        self._open.remove(entry)
        self._note(text)

    def _note(self, text: str) -> None:
        self._store.add_event("batch", text)

    def _tell(self) -> None:
        for news in self.model.told():
            self._store.add_event("model", news)
