"""Confidences that a response states in passing, beside an answer and without the label that was asked for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from semece.prompts.answer_places import Place, TextLine, labelled
from semece.prompts.certainty_clauses import clauses
from semece.prompts.confidences import UNREAD, read_stated
from semece.prompts.probabilities import labelled_probabilities

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semece.prompts.answer_places import Labels

_PERCENT = re.compile(r"\d{1,3}(?:[.,]\d+)?\s?(?:%|percent\b)", re.IGNORECASE)
_ALONE = re.compile(rf"[\W_]*{_PERCENT.pattern}[\W_]*", re.IGNORECASE)
_LEADS = re.compile(
    rf"[\W_]{{0,8}}i(?:['’]m| am) (?:about )?(?P<value>{_PERCENT.pattern}) (?:sure|certain|confident) (?:that )?"
    r"(?P<rest>(?:it(?:['’]s| is)|the answer is) (?!not\b|(?:correct|right|true|wrong)\b).+)",
    re.IGNORECASE,
)
"""'I'm 60% sure it's the Nile'."""


def stated_in_passing(lines: Sequence[TextLine], labels: Labels) -> tuple[list[Place], list[TextLine]]:
    """Find the confidences that lines state in passing, and give the lines without them.

    Looked at are the answer line and those behind it or, if there is none, the last line.
    """
    answers = labelled(lines, labels)
    begin = answers[-1].start if answers else max((line.start for line in lines if line.text), default=0)
    places: list[Place] = []
    kept: list[TextLine] = []
    for line in lines:
        is_behind = bool(answers) and line.start > begin
        found = (
            _behind(line.text, answers[-1].text)
            if is_behind
            else _beside(line.text, bool(answers))
            if line.start == begin
            else None
        )
        rest, value = found or (line.text, "")
        places += [Place(line.start, value, line.quoted)] if value else []
        kept.append(TextLine(line.start, rest, line.quoted))
    return places, kept


def _behind(text: str, answer: str) -> tuple[str, str] | None:
    """Read a line behind an answer: a percentage alone, one with another label, or a clause; it may name the answer."""
    numbers = _PERCENT.findall(text)
    if len(numbers) != 1 or read_stated(numbers[0]) == UNREAD:
        return None
    stated = [value for value in labelled_probabilities(text) if value == read_stated(numbers[0])]
    if stated or _ALONE.fullmatch(text) or any(clause.start == 0 for clause in clauses(text)):
        return "", numbers[0]
    leads = _LEADS.fullmatch(text)
    is_of_it = leads is not None and answer.casefold() in leads["rest"].casefold()
    return ("", numbers[0]) if is_of_it else _beside(text, True)


def _beside(text: str, is_labelled: bool) -> tuple[str, str] | None:
    """Part a line into an answer and the clause at its end; 'with 95% confidence' may be what an answer is about."""
    leads = None if is_labelled else _LEADS.fullmatch(text)
    if leads is not None:
        return leads["rest"], leads["value"]
    last = next(iter(list(clauses(text))[-1:]), None)
    if last is None or re.search(r"\w", text[last.end :]):
        return None
    if not is_labelled and re.match(r"\W*with\b", text[last.start :], re.IGNORECASE):
        return None
    return text[: last.start].rstrip(), last.text
