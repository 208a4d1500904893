"""From what a call brought, or did not bring, to rows of the run file."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from semece.canonical_json import canonical, encodable
from semece.errors import shortened
from semece.prompts import is_blank
from semece.store import StoredReply

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from semece.errors import TransientError
    from semece.models import Call, Reply
    from semece.store import Slot


LONGEST_WORD = 200
"""Characters that are kept of a finish reason or an id."""

MOST_KEPT = 200_000
"""Characters that are kept of a judge's reply that cannot be read: more than a reply that can be read has."""


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
    rows, now = [], time.time()
    for place, (reply, slot) in enumerate(zip(call.replies, slots, strict=False)):
        first = place == 0 and call.usage is not None
        status = _status(reply, slot.stage, judge_text)
        text, raw = _kept(reply) if status == "unparseable" else (reply.text, reply.raw)
        rows.append(
            StoredReply(
                slot.key,
                slot.stage,
                slot.question_id,
                slot.index,
                status,
                text,
                raw,
                slot.judge,
                slot.request,
                _word(reply.finish_reason),
                name,
                call.usage.input_tokens if call.usage and first else None,
                call.usage.output_tokens if call.usage and first else None,
                cost if first else None,
                call.latency,
                _word(call.request_id) if place == 0 else None,
                now,
            )
        )
    return rows


def _word(given: object) -> str | None:
    """Write what a service gave where a word is expected, whatever it is; a reply that was paid for is kept with it."""
    return None if given is None else encodable(shortened(str(given), LONGEST_WORD))


def _status(reply: Reply, stage: str, judge_text: Callable[[str], str] | None) -> str:
    """Say how a reply is stored: one to a question that has no text outside its thoughts is empty, and no answer."""
    if reply.status != "ok":
        return reply.status
    if judge_text is not None:
        return judge_text(reply.text)
    return "empty" if stage == "respond" and is_blank(reply.text) else "ok"


def _kept(reply: Reply) -> tuple[str, str]:
    """Give text and raw form of a judge's reply that cannot be read; of one that ran away, the beginning is enough."""
    if len(reply.text) <= MOST_KEPT:
        return reply.text, reply.raw
    return reply.text[:MOST_KEPT], canonical({"characters": len(reply.text)})


def failed_row(error: TransientError, slot: Slot, name: str | None = None, *, choices: int = 1) -> StoredReply:
    """Make the row of a call that delivered nothing; if it may be paid for, how many choices is kept for the caps."""
    raw = {"error": str(error), "maybe_paid": error.maybe_paid}
    return StoredReply(
        slot.key,
        slot.stage,
        slot.question_id,
        slot.index,
        error.status,
        raw=canonical(raw | {"choices": choices} if error.maybe_paid else raw),
        judge=slot.judge,
        request=slot.request,
        call=name,
    )
