"""The readers of judges' replies: a partition, a comparison, a verdict, and how to ask again."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, NoReturn

from semece.errors import ParseError, shortened
from semece.models import Message
from semece.prompts.markup import whole_characters
from semece.records import VERDICTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from semece.records import Verdict

PARTITION_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"classes": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}},
    "required": ["classes"],
    "additionalProperties": False,
}
"""JSON schema of a partition: classes of numbers from 1."""

GRADE_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"verdict": {"type": "string", "enum": list(VERDICTS)}},
    "required": ["verdict"],
    "additionalProperties": False,
}
"""JSON schema of a grade: one of the three words."""

PAIR_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"comparison": {"type": "string", "enum": ["same", "different"]}},
    "required": ["comparison"],
    "additionalProperties": False,
}
"""JSON schema of a comparison: one of two words."""

_LONGEST_ECHO = 2000


def read_partition(text: str, n: int) -> list[int]:
    """Read a partition of the numbers 1 to n.

    Parameters
    ----------
    text : str
        A reply such as ``{"classes": [[1, 3], [2]]}``.
    n : int
        How many strings were put to the judge, >= 1.

    Returns
    -------
    list of int
        The label of each string, numbered from 0 by first appearance.

    Raises
    ------
    semece.errors.ParseError
        If the reply is not one JSON object with the one field ``classes``, or not a partition: every number from 1 to
        n exactly once, nothing else, no empty class. The message names the fault.

    Examples
    --------
    >>> read_partition('{"classes": [[2], [1, 3]]}', 3)
    [0, 1, 0]
    >>> read_partition('{"classes": [[1], [1, 3]]}', 3)
    Traceback (most recent call last):
    semece.errors.ParseError: every number from 1 to 3 must occur exactly once; missing: 2; more than once: 1
    """
    classes = _only_field(text, "classes")
    if not isinstance(classes, list) or not all(isinstance(members, list) for members in classes):
        raise ParseError("classes must be a list of lists of numbers")
    if not all(classes):
        raise ParseError("no class may be empty")
    members = [member for group in classes for member in group]
    # A bool is an int to Python; 1.0 and "1" are not numbers of answers either.
    if odd := [member for member in members if type(member) is not int]:
        raise ParseError(f"every member of a class must be a whole number; got {_shown(odd)}")
    _check_exact(members, n)
    group_of = {member: k for k, group in enumerate(classes) for member in group}
    return by_first_appearance(group_of[i] for i in range(1, n + 1))


def _check_exact(members: list[int], n: int) -> None:
    """Raise unless the members are the numbers from 1 to n, each once."""
    count = Counter(members)
    faults = {
        "missing": [i for i in range(1, n + 1) if i not in count],
        "more than once": sorted(i for i, times in count.items() if times > 1),
        "no such number": sorted(i for i in count if not 1 <= i <= n),
    }
    if any(faults.values()):
        named = "; ".join(f"{what}: {_shown(which)}" for what, which in faults.items() if which)
        raise ParseError(f"every number from 1 to {n} must occur exactly once; {named}")


def read_grade(text: str) -> Verdict:
    """Read a verdict.

    Parameters
    ----------
    text : str
        A reply such as ``{"verdict": "correct"}``.

    Returns
    -------
    {'correct', 'incorrect', 'not_attempted'}

    Raises
    ------
    semece.errors.ParseError
        If the reply is not one JSON object with the one field ``verdict``, or holds anything but one of the three
        words, exactly. Prose is never searched for a verdict.

    Examples
    --------
    >>> read_grade('{"verdict": "incorrect"}')
    'incorrect'
    >>> read_grade("The answer is correct.")
    Traceback (most recent call last):
    semece.errors.ParseError: the reply must be one JSON object; got 'The answer is correct.'
    """
    said = _only_field(text, "verdict")
    for verdict in VERDICTS:
        if said == verdict:
            return verdict
    raise ParseError(f"verdict must be correct, incorrect or not_attempted; got {_shown([said])}")


def read_pair(text: str) -> bool:
    """Read whether two answers are the same.

    Raises
    ------
    semece.errors.ParseError
        If the reply is not one JSON object with the one field ``comparison``, or holds anything but ``same`` or
        ``different``.

    Examples
    --------
    >>> read_pair('{"comparison": "same"}'), read_pair('{"comparison": "different"}')
    (True, False)
    """
    said = _only_field(text, "comparison")
    if said not in ("same", "different"):
        raise ParseError(f"comparison must be same or different; got {_shown([said])}")
    return said == "same"


def _only_field(text: str, name: str) -> object:
    """Give the value of the only field of a reply."""
    fields = read_object(text)
    if list(fields) != [name]:
        raise ParseError(f"the reply must have the one field {name}; got {_shown(list(fields)) or 'none'}")
    return fields[name]


def _shown(values: list[Any]) -> str:
    """Show a few values, shortened."""
    shown = [_short(value) for value in values[:10]]
    return ", ".join(shown) + (f" and {len(values) - 10} more" if len(values) > 10 else "")


def _short(value: object) -> str:
    """Show a value in at most 40 characters."""
    if type(value) is int and value.bit_length() > 128:
        return "a huge number"
    return shortened(repr(value), 40, mark="...", kept=40)


def by_first_appearance(labels: Iterable[Any]) -> list[int]:
    """Renumber labels from 0 by first appearance.

    Examples
    --------
    >>> by_first_appearance([7, 3, 7, 9])
    [0, 1, 0, 2]
    """
    number: dict[Any, int] = {}
    return [number.setdefault(label, len(number)) for label in labels]


def retry_messages(messages: tuple[Message, ...], reply: str, fault: str) -> tuple[Message, ...]:
    """Give the messages that ask once more after a reply that could not be read.

    Parameters
    ----------
    messages : tuple of Message
        What was asked.
    reply : str
        What came; shown to the judge, clipped at 2,000 characters. What no request can carry is written as its code.
    fault : str
        What is wrong with it: the message of the ParseError.

    Returns
    -------
    tuple of Message
        Other than ``messages``; the second reply belongs where the first, which is none, would have stood.

    Examples
    --------
    >>> [m.role for m in retry_messages((Message("user", "Group them."),), "no", "the reply must be one JSON object")]
    ['user', 'assistant', 'user']
    """
    echo = whole_characters(reply[:_LONGEST_ECHO]).strip() or "(an empty reply)"
    again = f"That reply cannot be used: {fault}. Reply again with the JSON object alone."
    return (*messages, Message("assistant", echo), Message("user", again))


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
