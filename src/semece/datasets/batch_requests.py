"""The requests of a batch as questions: what was sent says what was asked."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from semece.errors import ParseError
from semece.records import Question

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

REQUEST_IDS = ("custom_id", "key", "recordId")
"""Under which names the services have the id of a request: OpenAI and Anthropic, Gemini, Bedrock."""
_BODIES = ("body", "params", "request", "modelInput")
_ASKED = (*_BODIES, "messages", "contents", "input", "prompt", "inputText")
_DEEPEST = 6
"""How far the text of a request may be inside it."""
_TEXT_PARTS = frozenset({None, "text", "input_text", "output_text"})
_NUMBERED = re.compile(r"(?P<stem>.+?)[-_.:#/ ]+[A-Za-z]*[0-9]+", re.DOTALL)


def is_request(row: Mapping[str, Any]) -> bool:
    """Whether a row is a line of a file that was sent as a batch.

    Examples
    --------
    >>> is_request({"custom_id": "q7", "body": {"messages": []}}), is_request({"question": "2 + 2?"})
    (True, False)
    """
    return any(isinstance(row.get(name), dict) for name in _BODIES)


def request_id(row: Mapping[str, Any]) -> str:
    """Give the id of a request or of what came back for it; empty if it has none."""
    found = next((row[name] for name in REQUEST_IDS if isinstance(row.get(name), str | int)), "")
    return str(found).strip()


def questions_of_requests(rows: Iterable[tuple[int, Mapping[str, Any]]], where: str) -> tuple[Question, ...]:
    """Make questions of requests: those with the same text are one question.

    Parameters
    ----------
    rows : iterable of (int, mapping)
        Requests with their lines.
    where : str
        Their file.

    Returns
    -------
    tuple of Question
        Without references. ``custom_ids`` in the metadata are the ids of a question's requests. A question has what
        these begin with as its id, ``q7`` for ``q7-1`` and ``q7-2``, or else the first of them.

    Raises
    ------
    ParseError
        A request holds no text of a user.
    """
    names: dict[str, list[str]] = {}
    for line, row in rows:
        text = asked_text(row)
        if not text.strip():
            raise ParseError(f"{where}, line {line}: expected a request with a text of the user; got none")
        names.setdefault(text, []).append(request_id(row))
    stems = [_stem(some) for some in names.values()]
    repeated = {stem for stem, count in Counter(stems).items() if count > 1}
    ids = [some[0] if stem in repeated else stem for stem, some in zip(stems, names.values(), strict=True)]
    return tuple(
        Question(name, text, (), {"custom_ids": [one for one in some if one]})
        for name, (text, some) in zip(ids, names.items(), strict=True)
    )


def _stem(names: Sequence[str]) -> str:
    """Give what several numbered names have before their numbers; of one, or of others, the first name."""
    stems = {found["stem"] if (found := _NUMBERED.fullmatch(name)) else name for name in names}
    return stems.pop() if len(names) > 1 and len(stems) == 1 else names[0]


def asked_text(value: object, deepest: int = _DEEPEST) -> str:
    """Find what the user said last in a request, a list of messages, or the JSON of one; empty if there is nothing.

    Examples
    --------
    >>> asked_text({"body": {"messages": [{"role": "system", "content": "Hi."}, {"role": "user", "content": "?"}]}})
    '?'
    >>> asked_text('[{"role": "user", "content": "2 + 2?"}]'), asked_text("2 + 2?")
    ('2 + 2?', '2 + 2?')
    """
    if deepest == 0:
        return ""
    if isinstance(value, str):
        return (asked_text(messages, deepest - 1) if (messages := _messages(value)) else "") or value
    if isinstance(value, dict):
        return next(filter(None, (asked_text(value[name], deepest - 1) for name in _ASKED if name in value)), "")
    if not isinstance(value, list) or not value:
        return ""
    said = [one for one in value if isinstance(one, dict) and one.get("role", "user") == "user"]
    if not said:
        return asked_text(value[0], deepest - 1) if isinstance(value[0], str | list) else ""
    return content_text(said[-1].get("content", said[-1].get("parts")))


def _messages(text: str) -> list[Any] | None:
    """Read a text that is the JSON of a list of messages."""
    if not re.match(r"\s*\[\s*\{", text):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if all(isinstance(one, dict) and "role" in one for one in found) else None


def content_text(content: object) -> str:
    """Give the text of a message: a text, or the parts of a list that are text; what was thought aloud is none.

    Examples
    --------
    >>> content_text([{"type": "thinking", "thinking": "Rome?"}, {"type": "text", "text": "Paris"}]), content_text(None)
    ('Paris', '')
    """
    if isinstance(content, dict):
        content = content.get("parts")
    if not isinstance(content, list):
        return content if isinstance(content, str) else ""
    parts = [{"text": part} if isinstance(part, str) else part for part in content]
    texts = [part for part in parts if isinstance(part, dict) and part.get("type") in _TEXT_PARTS]
    return "\n".join(part["text"] for part in texts if isinstance(part.get("text"), str) and not part.get("thought"))
