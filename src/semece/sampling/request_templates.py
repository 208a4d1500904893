"""How a model is asked for responses: the requests and keys that follow, and which slots are still empty."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from semece.canonical_json import digest
from semece.models import Request
from semece.store import Keys, Slot

if TYPE_CHECKING:
    from collections.abc import Container

    from semece.models import Decoding
    from semece.prompts import ResponsePrompt
    from semece.records import Question
    from semece.store import Store


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
