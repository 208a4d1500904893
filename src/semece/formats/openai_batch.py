"""The output and error files of OpenAI's batch interface, and of services that have it the same way.

Schema: OpenAPI description 2.3.0 (BatchRequestOutput: ``custom_id``, ``response.status_code``, ``response.body``,
``error``) and openai 3.57 for the bodies: chat completions, completions, and the text of a Responses object. Each
choice is a response. A line with an error or another status than 200 delivered nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from semece.canonical_json import encodable
from semece.errors import ParseError
from semece.formats.batch_outputs import gathered
from semece.formats.drawn import Drawn, ended
from semece.formats.sources import list_in, text_in, value_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from semece.formats.drawn import DrawnStatus, Sample
    from semece.formats.json_stream import Json
    from semece.formats.sources import Opening, Source, Wanted

STOPS: dict[str, DrawnStatus] = {"length": "truncated", "content_filter": "content_filter"}
INCOMPLETE: dict[str, DrawnStatus] = {"max_output_tokens": "truncated", "content_filter": "content_filter"}


def detect(opening: Opening) -> bool:
    """Whether a file begins with a line of a batch's output."""
    return opening.has("custom_id", "response")


def read(sources: Sequence[Source], wanted: Wanted) -> list[Sample]:
    """Read outputs of batches of one model.

    Raises
    ------
    ParseError
        Naming file, line, what was expected and what came.
    """
    return gathered(sources, wanted, _line)


def _line(source: Source, row: dict[str, Any], place: str, wanted: Wanted) -> tuple[Drawn, ...] | None:
    where = source.where(place)
    response = value_in(row, where, "response")
    status = response.get("status_code") if isinstance(response, dict) else None
    if status != 200:
        error = row.get("error")
        code = error.get("code") if isinstance(error, dict) else None
        source.findings.failed[str(code or (f"status {status}" if status else "error"))] += 1
        return ()
    body = value_in(response, where, "body")
    model = text_in(body, where, "model")
    if wanted.leaves_out(source.findings.add_model(model, where)):
        return None
    if isinstance(body, dict) and body.get("object") == "response":
        return (_response(body, place, where),)
    return tuple(_choices(body, place, where))


def _choices(body: Json, place: str, where: str) -> Iterator[Drawn]:
    choices = list_in(body, where, "choices")
    if not choices:
        raise ParseError(f"{where}: expected at least one choice; got none")
    for i, choice in enumerate(choices):
        status = ended(STOPS, value_in(choice, where, "finish_reason"))
        if "message" not in choice:
            yield Drawn(encodable(text_in(choice, where, "text")), place, status=status)
            continue
        message = value_in(body, where, "choices", i, "message")
        if isinstance(message, dict) and message.get("refusal"):
            yield Drawn(encodable(text_in(message, where, "refusal")), place, status="refusal")
        elif isinstance(message, dict) and message.get("content") is None:
            yield Drawn("", place, status=status)
        else:
            yield Drawn(encodable(text_in(message, where, "content")), place, status=status)


def _response(body: dict[str, Any], place: str, where: str) -> Drawn:
    """Read an object of the Responses interface: the text of its messages."""
    status: DrawnStatus = "ok"
    if body.get("status") == "incomplete":
        details = body.get("incomplete_details")
        status = ended(INCOMPLETE, details.get("reason") if isinstance(details, dict) else None)
        status = "truncated" if status == "ok" else status
    texts = []
    for item in list_in(body, where, "output"):
        for part in list_in(item, where, "content") if value_in(item, where, "type") == "message" else ():
            if value_in(part, where, "type") == "refusal":
                return Drawn(encodable(text_in(part, where, "refusal")), place, status="refusal")
            texts.append(text_in(part, where, "text"))
    return Drawn(encodable("".join(texts)), place, status=status)
