"""Where replies belong: how a model is asked, the keys that follow from it, and which slots are still empty."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any

from semece.canonical_json import canonical, digest
from semece.judges import JUDGE_TOKENS
from semece.models import Request
from semece.store.run_store import FINAL

if TYPE_CHECKING:
    from collections.abc import Container

    from semece.models import Decoding, Message
    from semece.prompts import ResponsePrompt
    from semece.records import Question
    from semece.store.run_store import Store


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
class RequestTemplate:
    """How a model is asked: everything that enters the keys of its responses.

    Parameters
    ----------
    model : str
        Its spelling.
    prompt : ResponsePrompt
        Prompt and reading.
    decoding : Decoding
        Options.
    seed : int
        The run's seed.
    """

    model: str
    prompt: ResponsePrompt
    decoding: Decoding
    seed: int = 0

    def keys(self, question: Question) -> Keys:
        """Keys of the responses to a question."""
        return Keys("respond", question.id, self.model, self.prompt.messages(question), self.decoding)

    def request(self, question: Question, index: int = 0, n: int = 1) -> Request:
        """Ask for `n` responses to a question, from an index on: the seeds follow from both."""
        seed = seed_base(self.seed, question.id) + index
        return Request(self.prompt.messages(question), self.decoding, n, seed)


class Keys:
    """The keys of one question's slots: SHA-256 of canonical JSON of what is asked, and the index.

    How much room a judge has for its replies is in the request but not in the keys: a reply that fits is the same, so
    more room for those that were cut short buys no other again.

    Parameters
    ----------
    stage, question_id, asked : str, str, str
        Stage, question, and the spelling of the model or the id of the judge.
    messages, decoding : tuple of Message, Decoding
        What is sent.
    """

    def __init__(
        self, stage: str, question_id: str, asked: str, messages: tuple[Message, ...], decoding: Decoding
    ) -> None:
        sent = [{"content": message.content, "role": message.role} for message in messages]
        self.body = {"asked": asked, "messages": sent, "decoding": _options(decoding)}
        keyed = decoding if stage == "respond" else replace(decoding, max_tokens=JUDGE_TOKENS)
        parts = [stage, question_id, asked, sent, _options(keyed)]
        self._prefix = hashlib.sha256(canonical(parts)[:-1].encode("utf-8", "surrogatepass"))

    @cached_property
    def request(self) -> bytes:
        """Hash of what is asked, whatever the slot."""
        return digest(self.body)

    def __getitem__(self, index: int) -> bytes:
        key = self._prefix.copy()
        key.update(f",{index}]".encode())
        return key.digest()


def _options(decoding: Decoding) -> dict[str, Any]:
    return {field.name: getattr(decoding, field.name) for field in fields(decoding)}


def seed_base(seed: int, question_id: str) -> int:
    """Give the seed of a question's first response: a multiple of 50 from SHA-256(run seed, question id).

    The first 30 bits, rounded down. The seed of a request is this plus its first index; models that draw in blocks at
    round seeds (the embedded one) then waste nothing.

    Examples
    --------
    >>> seed_base(0, "q1") == seed_base(0, "q1") != seed_base(1, "q1")
    True
    """
    bits = int.from_bytes(digest([seed, question_id])[:4], "big") >> 2
    return bits - bits % 50


def missing_slots(
    store: Store, template: RequestTemplate, question: Question, n: int, *, besides: Container[bytes] = ()
) -> list[list[Slot]]:
    """List the slots of one question that hold no delivered reply, in runs of consecutive indices.

    Slots with a key in `besides` are left out: they are under way.
    """
    keys = template.keys(question)
    delivered = {reply.key for reply in store.replies("respond", question.id) if reply.delivered}
    wanted = [index for index in range(n) if keys[index] not in delivered and keys[index] not in besides]
    runs = groupby(enumerate(wanted), key=lambda pair: pair[1] - pair[0])
    return [[Slot(keys[i], "respond", question.id, i, None, keys.request) for _, i in run] for _, run in runs]


def set_failed_aside(store: Store, question_id: str, stage: str = "respond", judge: str | None = None) -> None:
    """Make room to ask again where a delivered reply held no usable answer.

    Parameters
    ----------
    store, question_id, stage : Store, str, str
        Where.
    judge : str or None
        Id of the judge whose replies are meant; None in the stage ``respond``.
    """
    rows = store.replies(stage, question_id)
    failed = [row.key for row in rows if row.judge == judge and row.status in FINAL]
    if failed:
        store.supersede(failed)
