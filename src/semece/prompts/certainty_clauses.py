"""Clauses that say in passing how sure somebody is of an answer: 'I'm 80% sure', '(80% confident)'."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from semece.prompts.answer_places import Place, TextLine, labelled
from semece.prompts.confidences import UNREAD, is_of_error, read_stated

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from semece.prompts.answer_places import Labels


class Clause(NamedTuple):
    """Where a clause begins and ends, and the confidence as it states it."""

    start: int
    end: int
    text: str


_NUMBER = (
    r"(?P<value>(?:(?:about|around|approximately|roughly|maybe|perhaps|probably|only)\s+|[~≈]\s?)?"
    r"\d{1,3}(?:\.\d{1,4})?\s?(?:%|percent\b))"
)
_IT = r"(?:it|this|that|(?:my|this|the|that) (?:answer|guess|response|one))"
_IS_TRUE = rf"(?:(?:that )?(?:{_IT}(?:['’]s| is)|i(?:['’]m| am)) |(?:{_IT} )?being )(?:correct|right|true|accurate)"
_SURE = rf"(?:sure|certain|confident|confidence|certainty)\b(?: (?:in|of|about|on|for) {_IT}\b| {_IS_TRUE}\b)?"
_CHANCE = r"(?:chance|probability|likelihood)"
_I = (
    r"(?:i(?:['’]d| would) (?:say|estimate|guess|put it at)(?: that)?:? )?"
    r"(?:i(?:['’]m| am) |(?:i(?:['’]d| would) say )?there(?:['’]s| is) (?:an? )?(?:about an? )?|with (?:an? )?)?"
)
_BEGINS = (
    r"(?:^[\W_]{0,8}?|[(\[]\s?|(?<=[.!?])\s+|\s?[,;:–—]\s+|\s-\s+"
    r"|\s+(?=(?:and )?(?:i|i['’][dm]|there|there['’]s|with)\b))"
    r"[*_]{0,3}(?:(?:and|but|so|though|although),?\s+)?"
)
_CLAUSE = re.compile(
    rf"{_BEGINS}(?:{_I}{_NUMBER} (?:{_SURE}|{_CHANCE} (?:of )?{_IS_TRUE}\b)"
    rf"|the {_CHANCE} (?:of |that )?{_IS_TRUE} is (?P<is>[^.,;\n]{{1,20}}?%)|confidence:? (?P<in>\d{{1,3}}\s?%))"
    r"(?=[^\w\n%]*$|[.!,;)\]]|\s(?:because|since|as|but|given)\b|\s[-–—]\s)(?![,;]?\s(?:or|to|if|unless|when)\b)",
    re.IGNORECASE | re.MULTILINE,
)
_CONDITION = re.compile(r"\b(?:if|unless|assuming|provided)\b", re.IGNORECASE)
_LONGEST = 200
"""Characters before a clause in which it may be denied, or bound to a condition."""


def clauses(text: str) -> Iterator[Clause]:
    """Find the clauses of a text that state a confidence; not one that is denied or conditional.

    Examples
    --------
    >>> [clause.text for clause in clauses("It is Paris (80% confident).")]
    ['80%']
    >>> list(clauses("I can't say that I'm 80% sure.")), list(clauses("About 70% are sure to vote."))
    ([], [])
    """
    if "%" not in text and "percent" not in text.lower():
        return
    for found in _CLAUSE.finditer(text):
        sentence = re.split(r"[.!?](?=\s)|\n", text[max(found.start() - _LONGEST, 0) : found.start() + 1])[-1]
        ahead = re.split(r"[,;:(\[]", sentence)[-1][-40:]
        value = found["value"] or found["is"] or found["in"]
        is_told = read_stated(value) != UNREAD and read_stated(f"{ahead} {value} sure") != UNREAD
        if is_told and not _CONDITION.search(sentence):
            yield Clause(found.start(), found.end(), value)


_ALONE = re.compile(
    r"[\W_]{0,8}(?:(?:my\s+)?(?:certainty|probability|likelihood|chance)\b[^:=\n]{0,40}[:=]\s*)?[*_]{0,4}"
    r"(?P<value>\d{1,3}\s?%)[\W_]*",
    re.IGNORECASE,
)
"""A line behind an answer that is a percentage, or says what it is a percentage of."""


def stated_in_passing(lines: Sequence[TextLine], labels: Labels) -> tuple[list[Place], list[TextLine]]:
    """Find the confidences that clauses state at the ends of lines, and give the lines without them.

    Looked at are the answer line and those behind it or, if there is none, the last line.
    """
    answers = [place.start for place in labelled(lines, labels)]
    begin = answers[-1] if answers else max((line.start for line in lines if line.text), default=0)
    places: list[Place] = []
    kept: list[TextLine] = []
    for line in lines:
        found = _at_end(line.text, behind=bool(answers) and line.start > begin) if line.start >= begin else None
        if found is not None and (answers or not re.match(r"\W*with\b", line.text[found.start :])):
            places.append(Place(line.start, found.text, line.quoted))
            kept.append(TextLine(line.start, line.text[: found.start].rstrip(), line.quoted))
        else:
            kept.append(line)
    return places, kept


def _at_end(text: str, *, behind: bool) -> Clause | None:
    """Find the clause that ends a line; a percentage alone counts behind an answer."""
    alone = _ALONE.fullmatch(text) if behind else None
    if alone is not None and not is_of_error(text[: alone.start("value")]):
        return Clause(0, len(text), alone["value"])
    last = next(iter(list(clauses(text))[-1:]), None)
    return last if last and not re.search(r"\w", text[last.end :]) else None
