"""From a judge's reply to one JSON object: strict, with the few repairs that are certain."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from semece.errors import ParseError, shortened

LONGEST_REPLY = 100_000
"""Characters; a longer reply is not read."""

_TAG = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)
_BEGINS = re.compile(r"\s*(?:```[ \t]*\w*)?\s*\{")
_FENCE_BEFORE = re.compile(r"[ \t]*(?:```[ \t]*\w*[ \t]*)?")
_CLOSERS = {"{": "}", "[": "]"}
_TAIL = " \t\r\n`]}"


def read_object(text: str) -> dict[str, Any]:
    r"""Read the one JSON object of a reply.

    Repaired is only what leaves no choice: a code fence around the object, prose before it if the object begins a
    line, and closing brackets at its end that are missing or too many. What was thought aloud before it is left out;
    anywhere else such a tag is as wrong as any other text.

    Raises
    ------
    semece.errors.ParseError
        If there is no object, a second one, anything after it, a duplicate key, or a number JSON does not have; the
        message names the fault.

    Examples
    --------
    >>> read_object('Here it is:\n```json\n{"classes": [[1, 2], [3]]}\n```')
    {'classes': [[1, 2], [3]]}
    >>> read_object('{"classes": [[1, 2], [3]]')
    {'classes': [[1, 2], [3]]}
    >>> read_object('{"verdict": "correct"} I am sure')
    Traceback (most recent call last):
    semece.errors.ParseError: the reply must be one JSON object and nothing after it; got ' I am sure' after it
    """
    if len(text) > LONGEST_REPLY:
        raise ParseError(f"the reply must be short; got {len(text)} characters")
    body = _after_thinking(text)
    start = body.find("{")
    if start < 0:
        raise ParseError(f"the reply must be one JSON object; got {_clip(body)}")
    if not _FENCE_BEFORE.fullmatch(body[body.rfind("\n", 0, start) + 1 : start]):
        raise ParseError(f"the JSON object must begin a line; got {_clip(body)}")
    return _decode(body[start:])


def _after_thinking(text: str) -> str:
    """Leave out what was thought aloud before the object, also if its opening tag is missing.

    An object that stands before a tag is not thought: nothing is left out then, and the tag is read as it stands.
    """
    whole = text
    while tag := _TAG.search(text):
        before = text[: tag.start()]
        if "{" in before and (tag[1] == "" or text is not whole or _BEGINS.match(before)):
            break
        end = tag if tag[1] else next((other for other in _TAG.finditer(text) if other[1]), None)
        if end is None:
            raise ParseError(f"the reply must be one JSON object; got thinking that does not end, {_clip(text)}")
        text = text[end.end() :]
    return text


def _decode(text: str) -> dict[str, Any]:
    """Decode an object at the start of a text; close it if its last brackets are missing."""
    try:
        value, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError) as fault:
        closed = _closed(text)
        if closed is None or closed == text:
            named = "its brackets do not match" if closed is None else _name(fault)
            raise ParseError(f"the reply must be valid JSON; {named}") from None
        return _decode(closed)
    if text[end:].strip(_TAIL):
        raise ParseError(f"the reply must be one JSON object and nothing after it; got {_clip(text[end:])} after it")
    return dict(value)


def _closed(text: str) -> str | None:
    """Add the closing brackets that are missing at the end; None if it is not only the last ones that are missing.

    A wrong one is not replaced: which one is missing, and where, is not certain then.
    """
    core = text.rstrip(_TAIL)
    opened: list[str] = []
    for mark in re.findall(r'"(?:[^"\\]|\\.)*"|[{}\[\]]', core, re.DOTALL):
        if mark in _CLOSERS:
            opened.append(_CLOSERS[mark])
        elif mark in "]}" and (not opened or opened.pop() != mark):
            return None
    right, given = "".join(reversed(opened)), "".join(mark for mark in text[len(core) :] if mark in "]}")
    return core + right if right.startswith(given) else None


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make a dict, refusing a key that occurs twice."""
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ParseError("the reply must not name a field twice")
    return made


def _refuse(constant: str) -> NoReturn:
    """Refuse NaN and the infinities, which JSON does not have."""
    raise ValueError(f"{constant} is not JSON")


def _name(fault: Exception) -> str:
    """Say what is wrong in a few words."""
    if isinstance(fault, json.JSONDecodeError):
        return f"{fault.msg} at character {fault.pos}"
    return "nested too deep" if isinstance(fault, RecursionError) else _clip(str(fault))


def _clip(text: str) -> str:
    """Quote the beginning of a text."""
    return repr(shortened(text, 60, mark="...", kept=60))


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_refuse)
