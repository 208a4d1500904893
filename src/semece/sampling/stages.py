"""The first stage: the responses that are missing are drawn and stored; and how stored responses are read."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

from semece.records import Response
from semece.sampling.live_calls import in_parallel
from semece.store.keys import RequestTemplate, Slot, missing_slots

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence

    from semece.prompts import ResponsePrompt
    from semece.records import Question, ResponseStatus
    from semece.sampling.live_calls import Caller
    from semece.store.run_store import Store, StoredReply

    Progress = Callable[[str, int], None]


async def respond(
    store: Store,
    template: RequestTemplate,
    questions: Iterable[Question],
    n: int,
    caller: Caller,
    *,
    progress: Progress | None = None,
) -> None:
    """Draw the responses that are missing.

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
    caller : Caller
        Who asks.
    progress : callable or None
        Called with ('respond', replies delivered).

    Raises
    ------
    ModelError, BudgetError
        RequestTemplate on would be useless; what was delivered is stored.
    """
    stored: set[bytes] = set()

    async def fill(question: Question, slots: Sequence[Slot]) -> None:
        if slots[0].request not in stored:
            store.add_request(template.keys(question).body)
            stored.add(slots[0].request)
        rows = await caller.deliver(template.request(question, slots[0].index), slots)
        if progress:
            progress("respond", len(rows))

    def jobs() -> Iterator[Callable[[], Awaitable[None]]]:
        for question in questions:
            for run in missing_slots(store, template, question, n):
                size = caller.model.max_choices
                for start in range(0, len(run), size):
                    yield partial(fill, question, run[start : start + size])

    await in_parallel(jobs(), caller.pace.concurrency)


def read_responses(
    replies: Sequence[StoredReply], n: int, read: Callable[[StoredReply], Response]
) -> tuple[tuple[Response, ...], int]:
    """Read the stored replies of one question.

    Parameters
    ----------
    replies : sequence of StoredReply
        All rows of the question's respond stage.
    n : int
        Indices below n count.
    read : callable
        From a delivered row to a response.

    Returns
    -------
    tuple of Response, int
        The delivered responses by index, and how many of the n are missing.
    """
    delivered = {reply.index: reply for reply in replies if reply.delivered and reply.index < n}
    return tuple(read(delivered[index]) for index in sorted(delivered)), n - len(delivered)


def read_reply(prompt: ResponsePrompt, reply: StoredReply) -> Response:
    """Read one delivered reply with the prompt's own reading."""
    if reply.status != "ok":
        status = cast("ResponseStatus", reply.status)
        return Response(reply.question_id, reply.index, reply.text, "", None, status)
    reading = prompt.read(reply.text)
    return Response(reply.question_id, reply.index, reply.text, reading.answer, reading.confidence, reading.status)


def usable_answers(responses: Sequence[Response]) -> list[str]:
    """List the answers that count towards M, in index order."""
    return [response.answer for response in responses if response.usable]
