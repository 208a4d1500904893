"""The outputs of Google's and Amazon's batch interfaces.

Gemini: a line has ``key`` and ``response`` (GenerateContentResponse of the API's reference) or ``error``. Vertex:
``request``, ``response`` and, where it failed, a text in ``status``. Each candidate is a response; a prompt that was
blocked has none, and is one response without text.

Bedrock (user guide, results of batch inference): ``recordId``, ``modelInput`` and ``modelOutput`` or ``error``. The
output is what the model's family gives, or what Converse gives.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from semece.datasets import content_text
from semece.formats.batch_outputs import MESSAGE_STOPS, gathered
from semece.formats.file_responses import FileResponse, ended, response_text
from semece.formats.sources import fault

if TYPE_CHECKING:
    from collections.abc import Mapping

    from semece.formats.json_stream import Json
    from semece.formats.sources import Opening, SampleFile, Wanted


def detect_google(opening: Opening) -> bool:
    """Whether a file begins with a line of a batch's output by Gemini or Vertex."""
    keyed = opening.has("key") and not opening.names.isdisjoint({"response", "error"})
    return keyed or opening.has("response", "response.candidates") or opening.has("request", "status")


def detect_bedrock(opening: Opening) -> bool:
    """Whether a file begins with a line of a Bedrock batch's output."""
    return opening.has("modelInput") and not opening.names.isdisjoint({"modelOutput", "error"})


def _failed(row: Mapping[str, Any]) -> str:
    """Say in a word why a line has no response."""
    error = row.get("error")
    names = ("code", "status", "errorCode", "type")
    code = next((error[name] for name in names if error.get(name)), None) if isinstance(error, dict) else None
    return f"error {code}" if isinstance(code, str | int) else "error"


def _google_line(
    source: SampleFile, row: dict[str, Any], place: str, wanted: Wanted
) -> tuple[FileResponse, ...] | None:
    response = row.get("response")
    said = response if isinstance(response, dict) else {}
    candidates = said.get("candidates")
    if not candidates and not said.get("promptFeedback"):
        source.findings.failed[_failed(row)] += 1
        return ()
    where, model = source.where(place), said.get("modelVersion")
    if isinstance(model, str) and wanted.leaves_out(source.findings.add_model(model, where)):
        return None
    if not candidates:
        return (FileResponse("", place, status="content_filter"),)
    if not isinstance(candidates, list) or not all(isinstance(one, dict) for one in candidates):
        raise fault(where, "a list of objects in response.candidates", repr(candidates)[:60])
    return tuple(
        FileResponse(content_text(one.get("content")), place, status=ended({}, one.get("finishReason")))
        for one in candidates
    )


LISTS = ("choices", "results", "outputs", "generations", "completions")
"""Where a model's output has several texts: chat completions, Titan, Mistral, Cohere and others."""
TEXTS = ("text", "generation", "outputText", "completion")
"""What a text is called: Llama has ``generation``, Titan ``outputText``."""
ENDS = ("stop_reason", "stopReason", "completionReason", "finish_reason", "finishReason")
"""What says how a text ended."""


def _bedrock_line(
    source: SampleFile, row: dict[str, Any], place: str, wanted: Wanted
) -> tuple[FileResponse, ...] | None:
    output, where = row.get("modelOutput"), source.where(place)
    if not isinstance(output, dict):
        source.findings.failed[_failed(row)] += 1
        return ()
    model = output.get("model")
    if isinstance(model, str) and wanted.leaves_out(source.findings.add_model(model, where)):
        return None
    texts = [(text, one) for one in _outputs(output) if (text := _text(one)) is not None]
    if not texts:
        raise fault(where, "what a model wrote in modelOutput", f"an object with {', '.join(map(str, output))}"[:80])
    return tuple(
        FileResponse(text, place, status=ended(MESSAGE_STOPS, _end(one) or _end(output))) for text, one in texts
    )


def _outputs(output: dict[str, Any]) -> list[Any]:
    """List what holds a text each: the members of a list, the output of Converse, or all of it."""
    listed = next((output[name] for name in LISTS if isinstance(output.get(name), list)), None)
    return listed if listed is not None else [output.get("output", output)]


def _text(one: Json) -> str | None:
    """Give the text of an output: its message's, or what it has under one of its names; None if there is no such."""
    if not isinstance(one, dict):
        return None
    message = one["message"] if isinstance(one.get("message"), dict) else one
    if "content" in message:
        return content_text(message["content"])
    name = next((name for name in TEXTS if name in one), None)
    return None if name is None else response_text(one[name])


def _end(output: Mapping[str, Any]) -> object:
    return next((output[name] for name in ENDS if output.get(name)), None)


read_google = partial(gathered, read_line=_google_line)
"""Read outputs of Google's batches of one model."""
read_bedrock = partial(gathered, read_line=_bedrock_line)
"""Read outputs of Bedrock's batches of one model."""
