"""From a judge's reply to one JSON object: strict, with the few repairs that are certain."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from semece.errors import ParseError
from semece.prompts.responses import without_thinking

LONGEST_REPLY = 100_000
"""Characters; a longer reply is not read."""

_FENCE_BEFORE = re.compile(r"[ \t]*(?:```[ \t]*\w*[ \t]*)?")
_CLOSERS = {"{": "}", "[": "]"}
_TAIL = " \t\r\n`]}"


def read_object(text: str) -> dict[str, Any]:
    r"""Read the one JSON object of a reply.

    Repaired is only what leaves no choice: a code fence around the object, prose before it if the object begins a
    line, and closing brackets at its end that are missing, wrong or too many. What was thought aloud is not read.

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
    body = without_thinking(text)
    start = body.find("{")
    if start < 0:
        raise ParseError(f"the reply must be one JSON object; got {_clip(body)}")
    if not _FENCE_BEFORE.fullmatch(body[body.rfind("\n", 0, start) + 1 : start]):
        raise ParseError(f"the JSON object must begin a line; got {_clip(body)}")
    return _decode(body[start:])


def _decode(text: str) -> dict[str, Any]:
    """Decode an object at the start of a text; close it if its last brackets are not right."""
    try:
        value, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError) as fault:
        closed = _closed(text)
        if closed is None or closed == text:
            raise ParseError(f"the reply must be valid JSON; {_name(fault)}") from None
        return _decode(closed)
    if text[end:].strip(_TAIL):
        raise ParseError(f"the reply must be one JSON object and nothing after it; got {_clip(text[end:])} after it")
    return dict(value)


def _closed(text: str) -> str | None:
    """Replace the closing brackets at the end by the right ones; None if a bracket before them is crossed."""
    core = text.rstrip(_TAIL)
    opened: list[str] = []
    for mark in re.findall(r'"(?:[^"\\]|\\.)*"|[{}\[\]]', core, re.DOTALL):
        if mark in _CLOSERS:
            opened.append(_CLOSERS[mark])
        elif mark in "]}" and (not opened or opened.pop() != mark):
            return None
    return core + "".join(reversed(opened))


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
    return repr(text if len(text) <= 60 else text[:60] + "...")


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_refuse)
