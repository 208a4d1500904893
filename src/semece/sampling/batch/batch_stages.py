"""Which lines the stages of a run want: missing responses, and what a judge's procedure would ask next."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from semece.sampling.batch.ledger import Line
from semece.sampling.request_templates import missing_slots

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Container, Iterable, Iterator, Sequence

    from semece.models import Request
    from semece.records import Question
    from semece.sampling.batch.courier import Courier
    from semece.sampling.request_templates import P, RequestTemplate
    from semece.store import Slot, Store, StoredReply


async def respond_by_batch(
    store: Store, template: RequestTemplate[P], questions: Iterable[Question], n: int, courier: Courier
) -> None:
    """Draw the responses that are missing, in batches.

    Parameters
    ----------
    store : Store
        The run file, open for writing.
    template : RequestTemplate
        The model's name, prompt and options.
    questions : iterable of Question
        Which.
    n : int
        How many each.
    courier : Courier
        Who asks.

    Raises
    ------
    ModelError, BudgetError
        Asking on would be useless; what was delivered is stored, what is under way stands in the ledger.
    """
    chosen = list(questions)

    async def wanted(under_way: Container[bytes]) -> Iterator[Line]:
        return (line for question in chosen for line in lines_of(question, under_way))

    def lines_of(question: Question, under_way: Container[bytes]) -> Iterator[Line]:
        runs = missing_slots(store, template, question, n, besides=under_way)
        if runs:
            store.add_request(template.keys(question).body)
        for slots in chunked(runs, lambda: courier.model.max_choices):
            yield Line(template.request(question, slots[0].index, len(slots)), slots)

    await courier.deliver(wanted)


def chunked(runs: Iterable[Sequence[Slot]], size: Callable[[], int]) -> Iterator[tuple[Slot, ...]]:
    """Cut runs of slots into pieces of at most the size that holds when a piece is cut."""
    for run in runs:
        start = 0
        while start < len(run):
            piece = tuple(run[start : start + size()])
            start += len(piece)
            yield piece


class Collector:
    """Stands where a judge's procedure expects somebody who asks: notes what would be asked, and answers nothing.

    A reply that came back and cannot be read is given to the procedure as if it came now, so that it asks again with
    the fault named, once.

    Parameters
    ----------
    store : Store
        The run file.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._old: dict[bytes, int] = {}
        self._asked: Counter[bytes] = Counter()
        self._unreadable: dict[str, dict[bytes, list[StoredReply]]] = {}
        self.lines: list[Line] = []

    def begin(self) -> None:
        """Begin with another question."""
        self._asked.clear()
        self._unreadable.clear()

    async def deliver(
        self, request: Request, slots: Sequence[Slot], judge_text: Callable[[str], str] | None = None
    ) -> list[StoredReply]:
        """Give the next unreadable reply of this run of the procedure, or note a line."""
        del judge_text
        slot = slots[0]
        unreadable = self._unreadable_of(slot)
        fresh = unreadable[self._old.setdefault(slot.key, len(unreadable)) :]
        place = self._asked[slot.key]
        self._asked[slot.key] += 1
        if place < len(fresh):
            return [fresh[place]]
        self.lines.append(Line(replace(request, n=1), (slot,)))
        return []

    def _unreadable_of(self, slot: Slot) -> list[StoredReply]:
        """List the unreadable replies of a slot; those of a question and stage are read once."""
        if slot.stage not in self._unreadable:
            found = self._unreadable[slot.stage] = {}
            for row in self._store.replies(slot.stage, slot.question_id):
                if row.status == "unparseable":
                    found.setdefault(row.key, []).append(row)
        return self._unreadable[slot.stage].get(slot.key, [])


async def judge_by_batch(
    store: Store,
    questions: Iterable[Question],
    procedure: Callable[[Question, Collector], Awaitable[None]],
    courier: Courier,
) -> None:
    """Ask a judge in batches: everything that its procedure wants for all questions, again until it wants nothing.

    Parameters
    ----------
    store : Store
        The run file, open for writing.
    questions : iterable of Question
        Which.
    procedure : callable
        Judges one question with a collector in the caller's place.
    courier : Courier
        Who asks.

    Raises
    ------
    ModelError, BudgetError
        As :func:`respond_by_batch`.
    """
    chosen, collector = list(questions), Collector(store)

    async def wanted(under_way: Container[bytes]) -> list[Line]:
        collector.lines = []
        for question in chosen:
            collector.begin()
            await procedure(question, collector)
        return [line for line in collector.lines if line.key not in under_way]

    await courier.deliver(wanted)
