"""Where replies belong: the keys that follow from what is asked."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from semece.canonical_json import canonical, digest
from semece.judges import JUDGE_TOKENS
from semece.store.run_store import FINAL

if TYPE_CHECKING:
    from semece.models import Decoding, Message
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


class Keys:
    """The keys of one question's slots: SHA-256 of canonical JSON of what is asked, and the index.

    How much room a judge has for its replies is in the request but not in the keys: a reply that fits is the same, so
    giving more room to those that were cut short does not buy the others again.

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
        self.body = {"asked": asked, "messages": sent, "decoding": asdict(decoding)}
        keyed = decoding if stage == "respond" else replace(decoding, max_tokens=JUDGE_TOKENS)
        parts = [stage, question_id, asked, sent, asdict(keyed)]
        self._prefix = hashlib.sha256(canonical(parts)[:-1].encode("utf-8", "surrogatepass"))

    @cached_property
    def request(self) -> bytes:
        """Hash of what is asked, whatever the slot."""
        return digest(self.body)

    def __getitem__(self, index: int) -> bytes:
        key = self._prefix.copy()
        key.update(f",{index}]".encode())
        return key.digest()


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
