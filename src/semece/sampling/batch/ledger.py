"""The ledger: what was handed to a provider in batches and has not come back, in the run file's ``batches`` table.

An entry is committed before its batch is created, so that a crash at any point leaves either no batch or an entry that
says what to look for.
"""

from __future__ import annotations

import json
import time
import uuid
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from semece.canonical_json import canonical
from semece.models import Decoding, Message, Request
from semece.store import Keys, Slot

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from semece.store import Store

OPEN = ("submitting", "submitted")
"""Statuses of entries whose lines may still come back; the others are ``stored``, ``absent`` and ``lost``."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a batch.

    Parameters
    ----------
    request : Request
        What is asked, with as many choices as there are slots.
    slots : tuple of Slot
        Where the choices belong; consecutive indices of one question.
    """

    request: Request
    slots: tuple[Slot, ...]

    @property
    def key(self) -> bytes:
        """Key of the first slot: what the line is known by."""
        return self.slots[0].key


@dataclass(frozen=True, slots=True)
class BatchEntry:
    """One batch in the ledger.

    Parameters
    ----------
    id : str
        Ours, 32 hexadecimal digits.
    status : str
        ``submitting`` (may exist or not), ``submitted`` (exists), ``stored`` (its results are in the run file),
        ``absent`` (was never created) or ``lost`` (the provider has forgotten it).
    provider_id : str or None
        The provider's id.
    model : str
        Spelling of the model.
    since : float or None
        When a batch that the provider had before it was created, by the provider's clock.
    held : tuple of float and int
        USD and tokens set aside for it.
    slots : tuple of tuple of Slot
        Per line.
    time : float
        When it was entered, by this machine's clock.
    """

    id: str
    status: str
    provider_id: str | None
    model: str
    since: float | None
    held: tuple[float, int]
    slots: tuple[tuple[Slot, ...], ...]
    time: float

    @property
    def age(self) -> float:
        """Seconds since it was entered; 0 if the clock was set back."""
        return max(0.0, time.time() - self.time)

    def call(self, key: bytes) -> str:
        """Name the call that a line is, the same whenever its result is stored."""
        return self.id[:8] + key.hex()[:16]

    def owns(self, custom_id: str) -> bool:
        """Whether a line's name was given by this entry."""
        return custom_id.startswith(self.id[:8])


class Ledger:
    """The batches of a run file.

    Parameters
    ----------
    store : Store
        The run file, open for writing.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def open(self, model: str | None = None) -> list[BatchEntry]:
        """List the entries whose lines may still come back, oldest first; of one model if it is named."""
        entries = [self._entry(*row) for row in self._store.batches() if row[1] in OPEN]
        return [entry for entry in entries if model is None or entry.model == model]

    def held(self, *statuses: str) -> tuple[float, int]:
        """Add up the USD and tokens set aside for the entries that have one of some statuses."""
        amounts = [json.loads(row[3])["held"] for row in self._store.batches() if row[1] in statuses]
        return sum(cost for cost, _ in amounts), sum(tokens for _, tokens in amounts)

    def known(self) -> set[str]:
        """List the provider's ids of all entries, open or not."""
        return {row[2] for row in self._store.batches() if row[2]}

    def enter(
        self, name: str, model: str, lines: Sequence[Line], *, since: float | None, held: tuple[float, int]
    ) -> BatchEntry:
        """Commit an entry, with an id from :func:`new_id`, for a batch that is about to be created."""
        slots = tuple(line.slots for line in lines)
        entry = BatchEntry(name, "submitting", None, model, since, held, slots, time.time())
        body = {"model": model, "since": since, "held": held, "lines": _packed(slots)}
        self._store.put_batch(name, entry.status, None, canonical(body), entry.time)
        return entry

    def mark(self, entry: BatchEntry, status: str, provider_id: str | None = None) -> BatchEntry:
        """Commit another status, and the provider's id once it is known."""
        changed = replace(entry, status=status, provider_id=provider_id or entry.provider_id)
        self._store.put_batch(changed.id, status, changed.provider_id)
        return changed

    def _entry(self, name: str, status: str, provider_id: str | None, text: str, when: float) -> BatchEntry:
        body = json.loads(text)
        slots = tuple(self._unpacked(body["lines"]))
        cost, tokens = body["held"]
        return BatchEntry(name, status, provider_id, body["model"], body["since"], (cost, tokens), slots, when)

    def _unpacked(self, groups: Iterable[list[Any]]) -> Iterator[tuple[Slot, ...]]:
        for stage, question_id, judge, request, runs in groups:
            body = self._store.request(bytes.fromhex(request))
            keys = keys_of(stage, question_id, body)
            for start, count in runs:
                yield tuple(
                    Slot(keys[index], stage, question_id, index, judge, keys.request)
                    for index in range(start, start + count)
                )


def new_id() -> str:
    """Draw the id of an entry."""
    return uuid.uuid4().hex


def custom_id(name: str, key: bytes) -> str:
    """Name a line: 8 hexadecimal digits of its entry's id and 40 of its key.

    Examples
    --------
    >>> len(custom_id("0" * 32, bytes(32)))
    48
    """
    return name[:8] + key.hex()[:40]


def _packed(lines: Iterable[tuple[Slot, ...]]) -> list[list[Any]]:
    """Write lines in little space: those that ask the same stand together; keys are computed again when read."""
    groups: dict[tuple[str, str, str | None, bytes], list[tuple[int, int]]] = {}
    for slots in lines:
        first = slots[0]
        groups.setdefault((first.stage, first.question_id, first.judge, first.request), []).append(
            (first.index, len(slots))
        )
    return [[stage, question, judge, request.hex(), runs] for (stage, question, judge, request), runs in groups.items()]


def request_of(body: dict[str, Any]) -> Request:
    """Read a stored request."""
    messages = tuple(Message(**message) for message in body["messages"])
    return Request(messages, Decoding(**body["decoding"]))


def keys_of(stage: str, question_id: str, body: dict[str, Any]) -> Keys:
    """Compute the keys of a stored request again."""
    request = request_of(body)
    return Keys(stage, question_id, body["asked"], request.messages, request.decoding)
