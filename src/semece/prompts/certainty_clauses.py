"""Clauses that say in passing how sure somebody is of an answer: 'I'm 80% sure', '(80% confident)'."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from semece.prompts.confidences import UNREAD, read_stated

if TYPE_CHECKING:
    from collections.abc import Iterator


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
_IS_TRUE = (
    rf"(?:(?:that )?(?:{_IT}(?:['’]s| is)|i(?:['’]m| am)) |(?:to )?(?:{_IT} )?being )(?:correct|right|true|accurate)"
)
_SURE = (
    rf"(?:(?:sure|certain|confident|confidence|certainty)\b(?: (?:in|of|about|on|for) {_IT}\b| {_IS_TRUE}\b)?"
    rf"|(?:chance|probability|likelihood) (?:of )?{_IS_TRUE}\b|likely (?:to be (?:correct|right|true)|{_IS_TRUE})\b)"
)
_SAY = r"(?:i(?:['’]d| would) (?:say|estimate|guess|give|assign)(?: that| (?:it|this|my answer))?:? )"
_AM = rf"(?:i(?:['’]m| am) |i have (?:only )?|{_IT}(?:['’]s| is) |(?:i think )?there(?:['’]s| is) |with )"
_BEGINS = (
    r"(?:^[\W_]{0,8}?|[(\[]\s?|(?<=[.!?])\s+|\s?[,;–—]\s+|\s-\s+"
    r"|\s+(?=(?:and )?(?:i|i['’][dm]|there|there['’]s|with)\b))[*_]{0,3}(?:(?:and|but|so|though|although),?\s+)?"
)
_GIVES = (
    rf"i(?:['’]d| would)? (?:(?:give|assign) (?:{_IT} )?|estimate |(?:put|place|rate) (?:{_IT} )?at )"
    r"(?:(?:about|around|roughly) )?(?:an? )?"
    r"(?P<given>\d{1,3}(?:\.\d{1,4})?\s?%)"
    rf"(?: (?:chance|probability|likelihood|confidence)(?: (?:of )?{_IS_TRUE}| (?:to|for|in) {_IT})?)?"
)
"""'I would give it an 80% chance'."""
_CLAUSE = re.compile(
    rf"{_BEGINS}(?:{_GIVES}|{_SAY}?{_AM}?(?:about |around )?(?:an? )?{_NUMBER} {_SURE}"
    r"|(?:(?<=\()|(?<=\[))(?P<aside>\d{1,3}\s?%) (?:probability|likelihood|likely)(?=[)\]])"
    r"|(?:with (?:an? )?)?(?:confidence|probability|certainty)(?: of|:)? (?P<in>\d{1,3}\s?%))"
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
        sentence = re.split(r"[.!?](?=\s|$)|\n", text[max(found.start() - _LONGEST, 0) : found.start()])[-1]
        is_apart = re.match(r"\s*[^\w\s]", found[0]) is not None
        ahead = "" if is_apart else re.split(r"[,;:(\[]", sentence)[-1][-40:]
        value = found["value"] or found["in"] or found["given"] or found["aside"]
        is_told = read_stated(value) != UNREAD and read_stated(f"{ahead} {value} sure") != UNREAD
        if is_told and not _CONDITION.search(sentence):
            yield Clause(found.start(), found.end(), value)
