"""The readers of judges' replies: a partition, a verdict, and how to ask again."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from semece.canonical_json import encodable
from semece.errors import ParseError, shortened
from semece.models import Message
from semece.prompts.repairs import read_object
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
    echo = encodable(reply[:_LONGEST_ECHO]).strip() or "(an empty reply)"
    again = f"That reply cannot be used: {fault}. Reply again with the JSON object alone."
    return (*messages, Message("assistant", echo), Message("user", again))
