"""The models of a job: opened when they are first needed, asked behind patience, pace and caps, closed at the end.

Where they were asked stands in the run file, and in the commands that are printed to be typed again.
"""

from __future__ import annotations

import shlex
from functools import cache, partial
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

from semece.models import CallableModel, Model, address_variable, open_batches, open_model, service_of, shown_address
from semece.sampling.batch.courier import BatchTerms, Courier
from semece.sampling.batch.ledger import OPEN, Ledger
from semece.sampling.budget import Budget, spent_at_most
from semece.sampling.live_calls import Caller, Terms
from semece.sampling.pace import Pace

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from semece.models import BatchModel, Request
    from semece.records import Question
    from semece.sampling.settings import CallSettings
    from semece.store import Slot, Store, StoredReply

M = TypeVar("M", bound="Model | BatchModel")
GivenModel: TypeAlias = "str | Model | Callable[[str], Awaitable[str]]"
"""A model as people give it: a spelling, an opened one, or an async function from prompt to text."""


def own_model(given: GivenModel) -> tuple[str, Model | None]:
    """Give the name of a model, and the model itself where it is not spelled but given."""
    if isinstance(given, str):
        return given, None
    model = given if isinstance(given, Model) else CallableModel(given)
    return model.name, model


class Connections:
    """Opens models as the settings say, once each.

    Parameters
    ----------
    calls : CallSettings
        Time-out and base URL, live or in batches.
    model : str
        The model that the base URL is of; others are where their service is.
    questions : iterable of Question
        What the fake model knows the answers to.
    own : Model, optional
        That model, if who asks has opened it; who opened it closes it.
    """

    def __init__(
        self, calls: CallSettings, model: str, questions: Iterable[Question], *, own: Model | None = None
    ) -> None:
        self.calls = calls
        self._model, self._own = model, own
        self._references = {q.text: q.references[0] for q in questions if q.references}
        self._opened: dict[tuple[Callable[..., Model | BatchModel], str], Model | BatchModel] = {}

    def live(self, spelling: str) -> Model:
        """Give a model.

        Raises
        ------
        ModelError
            As :func:`semece.models.open_model`.
        """
        if self._own is not None and spelling == self._model:
            return self._own
        return self._once(open_model, spelling)

    def batches(self, spelling: str) -> BatchModel:
        """Give the batch interface of a model.

        Raises
        ------
        ModelError
            As :func:`semece.models.open_batches`.
        """
        return self._once(open_batches, spelling)

    def _once(self, opener: Callable[..., M], spelling: str) -> M:
        if (opener, spelling) not in self._opened:
            address = self.calls.base_url if spelling == self._model else None
            opened = opener(spelling, base_url=address, timeout=self.calls.timeout, references=self._references)
            self._opened[opener, spelling] = opened
        return cast("M", self._opened[opener, spelling])

    def open(self, spelling: str) -> None:
        """Open what is asked, live or in batches; one that cannot be used is refused now."""
        if self.calls.batch:
            self.batches(spelling)
        else:
            self.live(spelling)

    def address(self, model: Model | BatchModel) -> str | None:
        """Say where a model is: as it shows itself, or as it was told, without a key."""
        told = self.calls.address if model.name == self._model else None
        return getattr(model, "base_url", told)

    async def aclose(self) -> None:
        """Close what was opened."""
        for model in self._opened.values():
            await model.aclose()


class Callers:
    """Who asks, for one run file: models behind patience, pace and caps. All share the budget and the end.

    Parameters
    ----------
    store : Store
        The run file, open for writing.
    connections : Connections
        Where models are opened; who made it closes it.
    budget : Budget, optional
        Caps that several runs share; None: those of the settings, less what was spent on this file before.
    """

    def __init__(self, store: Store, connections: Connections, budget: Budget | None = None) -> None:
        self.store, self.connections, self.calls = store, connections, connections.calls
        self.budget = budget or self._capped()
        self.budget.hold(Ledger(store).held(*OPEN))
        self._prices = self.calls.price_list
        self._terms = Terms(self.calls.patience, self.budget)
        self._paces: dict[str, Pace] = {}

    def _capped(self) -> Budget:
        caps = self.calls
        if caps.max_cost is None and caps.max_total_tokens is None:
            return Budget()
        return caps.budget(*spent_at_most(self.store, caps.price_list.of))

    def caller(self, spelling: str) -> Caller:
        """Ask a model live."""
        model = self.connections.live(spelling)
        self._note_address(model)
        pace = self._paces[spelling] = Pace.of(self.calls.concurrency)
        return Caller(model, self.store, pace=pace, price=self._prices.of(model.name), terms=self._terms)

    def note_paces(self) -> None:
        """Record what was found out about how many calls at once the servers take."""
        for spelling, pace in self._paces.items():
            if found := pace.found():
                self.store.add_event("concurrency", f"{spelling}: {found} (--concurrency auto)")

    def late(self, spelling: str) -> LateCaller:
        """Ask a model live, opened when it is first asked: a model that is never asked needs no key."""
        return LateCaller(partial(self.caller, spelling))

    def courier(self, spelling: str, progress: Callable[[int], None] | None = None) -> Courier:
        """Ask a model in batches; `progress` is called with the number of replies that were delivered."""
        model = self.connections.batches(spelling)
        self._note_address(model)
        price, ceiling = self._prices.known(model.name, batch=True), self._prices.of(model.name)
        terms = BatchTerms(
            self.calls.batch_patience,
            self.budget,
            price,
            ceiling,
            anew=self.calls.retry_failed,
            stop=self._terms.stop,
        )
        return Courier(model, self.store, terms, progress=progress)

    def _note_address(self, model: Model | BatchModel) -> None:
        """Record where a model that is about to be asked is."""
        address, known = self.connections.address(model), self.store.meta("base_url", {})
        if address and known.get(model.name) != address:
            self.store.set_meta("base_url", {**known, model.name: address})

    def under_way(self, models: Iterable[str]) -> bool:
        """Whether something of these models is under way in batches."""
        return any(map(Ledger(self.store).open, models))

    async def collect(self) -> None:
        """Wait for what is under way in batches before anything is asked live: it may be paid for.

        Raises
        ------
        ModelError
            Something is still under way; nothing may be asked.
        """
        if not self.calls.batch:
            for spelling in sorted({entry.model for entry in Ledger(self.store).open()}):
                await self.courier(spelling).collect()


class LateCaller:
    """Asks through a caller that is made when it is first asked.

    Parameters
    ----------
    make : callable
        Makes the caller.
    """

    def __init__(self, make: Callable[[], Caller]) -> None:
        self._made = cache(make)

    async def deliver(
        self, request: Request, slots: Sequence[Slot], judge_text: Callable[[str], str] | None = None
    ) -> list[StoredReply]:
        """Fill consecutive slots."""
        return await self._made().deliver(request, slots, judge_text)


def typed_again(words: Sequence[str]) -> str:
    """Write a command as it is typed; a base URL that holds a secret is left to a variable, which is said.

    Parameters
    ----------
    words : sequence of str
        The command.

    Examples
    --------
    >>> typed_again(["semece", "run", "--base-url", "http://127.0.0.1:8000/v1", "-o", "my run.db"])
    "semece run --base-url http://127.0.0.1:8000/v1 -o 'my run.db'"
    >>> typed_again(["semece", "run", "--base-url", "http://me:word-1@127.0.0.1:8000/v1"])
    'semece run --base-url "$BASE_URL"  # first set BASE_URL to the address: its secret parts are not printed'
    """
    written = [_written(word, before) for word, before in zip(words, ["", *words], strict=False)]
    note = "  # first set BASE_URL to the address: its secret parts are not printed"
    return " ".join(written) + (note if any('"$BASE_URL"' in word for word in written) else "")


def _written(word: str, before: str) -> str:
    """Write a word for a shell."""
    flag, _, address = word.partition("=")
    if before == "--base-url" and "***" in shown_address(word):
        return '"$BASE_URL"'
    if flag == "--base-url" and address and "***" in shown_address(address):
        return '--base-url="$BASE_URL"'
    return shlex.quote(word)


def where_asked(store: Store) -> tuple[list[str], list[str]]:
    """Say where the models of a run file were asked, where that is not their service's own address.

    Parameters
    ----------
    store : Store
        The run file.

    Returns
    -------
    tuple of list of str
        The environment that other models than the run's own need, as ``NAME=address``, and the option for its own.
    """
    own, before, words = (store.meta("identity") or {}).get("model"), [], []
    for model, address in sorted(store.meta("base_url", {}).items()):
        if address == service_of(model).address:
            continue
        if model == own:
            words += ["--base-url", address]
        elif "***" not in address:
            before.append(f"{address_variable(model)}={address}")
    return before, words
