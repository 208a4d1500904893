"""The outputs of batch interfaces: a line a request, under the id that somebody chose.

An id is the id of a question, or that id, a separator and the number of the request (``q7-3``, ``q7__chunk3``). Where
the lines repeat the request, its text tells the question too; elsewhere texts and references come from a file of
questions, which may be the file of the requests.

OpenAI's output and error files, and those of services that have batches the same way: OpenAPI description 2.3.0
(BatchRequestOutput: ``custom_id``, ``response.status_code``, ``response.body``, ``error``) and openai 3.57 for the
bodies: chat completions, completions, and the text of a Responses object. Each choice is a response. A line with an
error or another status than 200 delivered nothing.

Anthropic's message batches: anthropic 2.14 (MessageBatchIndividualResponse): ``custom_id`` and ``result``, whose
``type`` is ``succeeded`` (with a ``message``), ``errored``, ``canceled`` or ``expired``. Thinking and tools in a
message are no answer.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

from semece.datasets import asked_text, content_text, request_id
from semece.formats.file_responses import FileQuestion, FileResponse, Gathering, ended, natural, response_text
from semece.formats.sources import fault, list_in, text_in, value_in
from semece.records import Question

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from semece.formats.file_responses import FileStatus
    from semece.formats.json_stream import Json
    from semece.formats.sources import Opening, SampleFile, Wanted

    ReadLine = Callable[[SampleFile, dict[str, Any], str, Wanted], tuple[FileResponse, ...] | None]

_NUMBER = re.compile(r"[-_.:#/ ]+[A-Za-z]*[0-9]+")
"""What follows a question's id in the custom id of one of several requests."""
STOPS: dict[str, FileStatus] = {"length": "truncated", "content_filter": "content_filter"}
INCOMPLETE: dict[str, FileStatus] = {"max_output_tokens": "truncated", "content_filter": "content_filter"}
FAILURES = ("errored", "canceled", "expired")
MESSAGE_STOPS: dict[str, FileStatus] = {
    "max_tokens": "truncated",
    "model_context_window_exceeded": "truncated",
    "refusal": "refusal",
}


def detect_openai(opening: Opening) -> bool:
    """Whether a file begins with a line of an OpenAI batch's output."""
    return opening.has("custom_id", "response")


def detect_anthropic(opening: Opening) -> bool:
    """Whether a file begins with a line of an Anthropic batch's results."""
    return opening.has("custom_id", "result", "result.type")


def gathered(sources: Sequence[SampleFile], wanted: Wanted, read_line: ReadLine) -> list[FileQuestion]:
    """Read the lines of batches of one model and put those of each question together, by their custom ids.

    Parameters
    ----------
    sources : sequence of SampleFile
        Outputs of the same batch, or of several.
    wanted : Wanted
        The questions, and which model.
    read_line : callable
        From source, line, place and what is wanted to the responses in it, None if it is of another model.

    Returns
    -------
    list of FileQuestion
        In the order of the questions.

    Raises
    ------
    ParseError
        Naming file, line, what was expected and what came.
    """
    gathering, lines = Gathering(), _Lines(wanted, read_line)
    for source in sources:
        for place, row in source.rows():
            for sample in source.findings.tried(lines.sample, source, row, place):
                gathering.add(sample, natural(request_id(row)))
    order = {name: place for place, name in enumerate(wanted.questions)}
    return sorted(gathering.samples(), key=lambda sample: order.get(sample.question.id, 0))


class _Lines:
    """Reads lines, and finds their questions: by the id or, where the line repeats its request, by the text of that."""

    def __init__(self, wanted: Wanted, read_line: ReadLine) -> None:
        self._wanted, self._read, self._questions = wanted, read_line, wanted.questions
        self._requests = {
            name: one for one in self._questions.values() for name in one.metadata.get("custom_ids") or ()
        }
        self._found: dict[str, Question | None] = {}

    def sample(self, source: SampleFile, row: dict[str, Any], place: str) -> FileQuestion | None:
        """Read a line; None if it is of another model."""
        question = self.question(row, source.where(place))
        drawn = self._read(source, row, place, self._wanted)
        return None if drawn is None else FileQuestion(question, drawn, file=str(source.path), place=place, whole=True)

    def question(self, row: Mapping[str, Any], where: str) -> Question:
        """Find the question of a line.

        Raises
        ------
        ParseError
            It is not among those that are known, or nothing tells what was asked.
        """
        name = request_id(row) or request_id(row.get("metadata") or {})
        if name in self._requests:
            return self._requests[name]
        text = asked_text(row.get("request") or row.get("modelInput") or {}).strip()
        if text not in self._found:
            self._found[text] = self._asked_for(text)
        if found := self._found[text]:
            return found
        if not self._questions:
            expected = "a file of the questions, or of the requests, beside the output of a batch without them"
            raise fault(where, f"{expected}; name it with --questions")
        return asked(name, self._questions, where)

    def _asked_for(self, text: str) -> Question | None:
        """Find the one question that a text asks; without a file of questions the text is the question."""
        if not text:
            return None
        if not self._questions:
            return Question(str(len(self._found)), text)
        put = " ".join(text.split())
        inside = [one for one in self._questions.values() if " ".join(one.text.split()) in put]
        longest = max((len(one.text) for one in inside), default=0)
        found = [one for one in inside if len(one.text) == longest]
        return found[0] if len(found) == 1 else None


def _requests_of(question: Question) -> list[str]:
    """Give the ids of a question's requests, if it was made of requests."""
    found = question.metadata.get("custom_ids")
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []


def asked(custom_id: str, questions: Mapping[str, Question], where: str) -> Question:
    """Find the question of a custom id.

    Raises
    ------
    ParseError
        There is none, or there are two.

    Examples
    --------
    >>> from semece.records import Question
    >>> asked("q7-3", {"q7": Question("q7", "2 + 2?")}, "here").id
    'q7'
    """
    stems = (custom_id[:end] for end in range(1, len(custom_id)) if _NUMBER.fullmatch(custom_id, end))
    found = [name for name in dict.fromkeys([custom_id, *stems]) if name in questions]
    if len(found) == 1:
        return questions[found[0]]
    came = f"{custom_id!r}, which may be {' or '.join(map(repr, found))}" if found else repr(custom_id)
    raise fault(where, "in custom_id the id of one of the questions, or that with a number such as -3", came)


def _openai_line(
    source: SampleFile, row: dict[str, Any], place: str, wanted: Wanted
) -> tuple[FileResponse, ...] | None:
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


def _choices(body: Json, place: str, where: str) -> Iterator[FileResponse]:
    choices = list_in(body, where, "choices")
    if not choices:
        raise fault(where, "at least one choice", "none")
    for choice in choices:
        status = ended(STOPS, value_in(choice, where, "finish_reason"))
        message = choice.get("message")
        if isinstance(message, dict) and message.get("refusal"):
            yield FileResponse(response_text(message["refusal"]), place, status="refusal")
        else:
            said = content_text(message.get("content")) if isinstance(message, dict) else choice.get("text")
            yield FileResponse(response_text(said), place, status=status)


def _response(body: dict[str, Any], place: str, where: str) -> FileResponse:
    """Read an object of the Responses interface: the text of its messages."""
    status: FileStatus = "ok"
    if body.get("status") == "incomplete":
        details = body.get("incomplete_details")
        status = ended(INCOMPLETE, details.get("reason") if isinstance(details, dict) else None)
        status = "truncated" if status == "ok" else status
    texts = []
    for item in list_in(body, where, "output"):
        for part in list_in(item, where, "content") if value_in(item, where, "type") == "message" else ():
            if value_in(part, where, "type") == "refusal":
                return FileResponse(text_in(part, where, "refusal"), place, status="refusal")
            texts += [text_in(part, where, "text")] if value_in(part, where, "type") == "output_text" else []
    return FileResponse("".join(texts), place, status=status)


def _anthropic_line(
    source: SampleFile, row: dict[str, Any], place: str, wanted: Wanted
) -> tuple[FileResponse, ...] | None:
    where = source.where(place)
    kind = text_in(row, where, "result", "type")
    if kind in FAILURES:
        source.findings.failed[kind] += 1
        return ()
    if kind != "succeeded":
        raise fault(where, f"a result that is succeeded, {', '.join(FAILURES)}", repr(kind))
    message = value_in(row, where, "result", "message")
    model = text_in(message, where, "model")
    if wanted.leaves_out(source.findings.add_model(model, where)):
        return None
    text = content_text(value_in(message, where, "content"))
    return (FileResponse(text, place, status=ended(MESSAGE_STOPS, message.get("stop_reason"))),)


read_openai = partial(gathered, read_line=_openai_line)
"""Read outputs of OpenAI batches of one model."""
read_anthropic = partial(gathered, read_line=_anthropic_line)
"""Read results of Anthropic batches of one model."""
