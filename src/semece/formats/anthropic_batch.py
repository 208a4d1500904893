"""The results file of Anthropic's message batches.

Schema: anthropic 2.14 (MessageBatchIndividualResponse): ``custom_id`` and ``result``, whose ``type`` is ``succeeded``
(with a ``message``), ``errored``, ``canceled`` or ``expired``. Thinking and tools in a message are no answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from semece.canonical_json import encodable
from semece.errors import ParseError
from semece.formats.batch_outputs import gathered
from semece.formats.drawn import Drawn, ended
from semece.formats.sources import list_in, text_in, value_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semece.formats.drawn import DrawnStatus, Sample
    from semece.formats.sources import Opening, Source, Wanted

FAILURES = ("errored", "canceled", "expired")
STOPS: dict[str, DrawnStatus] = {
    "max_tokens": "truncated",
    "model_context_window_exceeded": "truncated",
    "refusal": "refusal",
}


def detect(opening: Opening) -> bool:
    """Whether a file begins with a line of a batch's results."""
    return opening.has("custom_id", "result", "result.type")


def read(sources: Sequence[Source], wanted: Wanted) -> list[Sample]:
    """Read results of batches of one model.

    Raises
    ------
    ParseError
        Naming file, line, what was expected and what came.
    """
    return gathered(sources, wanted, _line)


def _line(source: Source, row: dict[str, Any], place: str, wanted: Wanted) -> tuple[Drawn, ...] | None:
    where = source.where(place)
    kind = text_in(row, where, "result", "type")
    if kind in FAILURES:
        source.findings.failed[kind] += 1
        return ()
    if kind != "succeeded":
        raise ParseError(f"{where}: expected a result that is succeeded, {', '.join(FAILURES)}; got {kind!r}")
    message = value_in(row, where, "result", "message")
    model = text_in(message, where, "model")
    if wanted.leaves_out(source.findings.add_model(model, where)):
        return None
    parts = list_in(message, where, "content")
    text = "".join(text_in(part, where, "text") for part in parts if value_in(part, where, "type") == "text")
    return (Drawn(encodable(text), place, status=ended(STOPS, message.get("stop_reason"))),)
