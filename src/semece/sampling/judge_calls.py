"""A judge's procedure, run with somebody to ask: the store first, then the model, at most twice."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from semece.errors import ParseError
from semece.judges import Missing, Undelivered
from semece.models import Request
from semece.prompts.replies import retry_messages
from semece.store import FINAL, JudgeReplies, Slot, keys_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from semece.judges import Procedure, Query
    from semece.sampling.live_calls import SlotFiller
    from semece.store import Store

T = TypeVar("T")


async def run_asking(procedure: Procedure[T], store: Store, askers: Mapping[str, SlotFiller]) -> T:
    """Run a judge's procedure; ask for what is not stored.

    Parameters
    ----------
    procedure : Procedure
        What a judge does.
    store : Store
        The run file, where replies are looked up; open for writing if anybody is asked.
    askers : mapping of str to SlotFiller
        Who asks, by the stage; in a stage without anybody only stored replies are read.

    Returns
    -------
    The procedure's result.

    Raises
    ------
    ParseError, Missing
        Those that the procedure lets pass: a reply that could not be read twice, or none.
    """
    replies = JudgeReplies(store)
    try:
        query = next(procedure)
        while True:
            try:
                found = await _answer(query, store, replies, askers.get(query.stage))
            except (ParseError, Missing) as fault:
                query = procedure.throw(fault)
            else:
                query = procedure.send(found)
    except StopIteration as end:
        result: T = end.value
        return result


async def _answer(query: Query, store: Store, replies: JudgeReplies, asker: SlotFiller | None) -> Any:  # noqa: ANN401
    """Give the reading of a stored or fresh reply."""
    try:
        return replies.find(query)
    except Undelivered:
        raise
    except (ParseError, Missing):
        if asker is None or query.decoding is None:
            raise
    for row in replies.rows(query):
        if row.status == "ok":  # delivered, but refused by today's reader: out of the way of the next one
            store.demote(row.key)
    fault, messages, slot = "", query.messages, _slot(query, store)
    for _ in range(2):
        rows = await asker.deliver(Request(messages, query.decoding), [slot], partial(_readable, query.read))
        if not rows:
            raise Missing
        replies.add(rows)
        if rows[0].status in FINAL:
            raise Undelivered(rows[0].status)
        try:
            return query.read(rows[0].text)
        except ParseError as error:
            fault = str(error)
            messages = retry_messages(query.messages, rows[0].text, fault)
    raise ParseError(fault)


def _slot(query: Query, store: Store) -> Slot:
    """Give the place of a reply, and store what is asked."""
    keys = keys_of(query)
    request = store.add_request(keys.body)
    return Slot(keys[query.index], query.stage, query.question_id, query.index, query.judge, request)


def _readable(read: Callable[[str], object], text: str) -> str:
    try:
        read(text)
    except ParseError:
        return "unparseable"
    return "ok"
