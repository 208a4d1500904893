"""The reader of a probability that a reply states."""

from __future__ import annotations

import re

from semece.prompts.certainty_clauses import clauses
from semece.prompts.confidences import APPROXIMATELY, UNREAD, Stated, is_of_error, read_stated
from semece.prompts.markup import last_box, unwrap
from semece.prompts.statements import (
    CONDITION,
    FACT,
    LONGEST,
    Guess,
    first_asked,
    labelled_values,
    one_guess,
    plain_text,
    settled,
    statement,
)

_PROBABILITY = statement("confidence|certainty|probability|likelihood|p")


def read_probability(text: str) -> tuple[Guess, ...]:
    r"""Read a probability that is all that a reply states, or that it states in a labelled line.

    Returns
    -------
    tuple of Guess
        One, or none; a bare ``1`` is read as its run says (:class:`semece.prompts.Scale`).

    Examples
    --------
    >>> read_probability("Probability: 0.85")[0].said.certain, read_probability("I am 85% sure.")[0].said.certain
    (0.85, 0.85)
    >>> read_probability("Confidence: 80-90%"), read_probability("In 1985 he was 30.")
    ((), ())
    """
    return first_asked(plain_text(text).replace("\\%", "%"), _probability)


def _probability(plain: str) -> tuple[Guess, ...]:
    values = settled(plain, labelled_probabilities)
    if not values:
        lines = unwrap(plain.removesuffix(".")).split("\n")
        bare_ones = [found["value"] for found in map(_ALONE.fullmatch, lines) if found and not _bound(found[0])]
        whole = len(lines) == 1 and not bare_ones and _is_statement(lines[0])
        values = [as_stated(value) for value in (lines if whole else bare_ones) if value]
        if all(value == UNREAD for value in values) and plain.count("\\boxed") == 1 and (box := last_box(plain)):
            values = [as_stated(box[2])]
        if all(value == UNREAD for value in values):
            values = [as_stated(clause.text) for clause in clauses(plain)] or [
                as_stated(found["value"]) for found in _SURE_OF_FACT.finditer(plain)
            ]
    return one_guess(values)


def labelled_probabilities(text: str) -> list[Stated]:
    """Read what follows 'confidence', 'probability' and the like as labels; what cannot be read is UNREAD."""
    return labelled_values(text, _PROBABILITY, _behind_label)


def _bound(line: str) -> bool:
    """Whether a line speaks of an error, of an event, or of what holds only if something else does."""
    return is_of_error(line) or CONDITION.search(line) is not None or _of_an_event(line)


def _is_statement(line: str) -> bool:
    """Whether a short line states how sure somebody is: it begins with a number, or says so in words."""
    told = line.strip()
    if len(told) > LONGEST or told.endswith("?"):
        return False
    begins = re.match(rf"\W*(?:(?:{'|'.join(APPROXIMATELY)})\s+)?[^\w\n]*\d", told, re.IGNORECASE)
    of_else = CONDITION.search(told) or _OF_ELSE.match(told)
    return not _of_an_event(told) and bool(begins or (_SPEAKS.search(told) and not of_else))


def _of_an_event(line: str) -> bool:
    """Whether a line tells the chance of something else than being right: 'Chance of rain: 60%'."""
    return _CHANCE_OF.search(line) is not None and _RIGHT.search(line) is None


_CHANCE_OF = re.compile(
    r"\b(?:(?:chances?|probability|likelihood|odds|risk|accuracy) of (?!(?:it|this|that|success|being)\b)\w"
    r"|confidence intervals?\b)",
    re.IGNORECASE,
)
_RIGHT = re.compile(r"\b(?:correct\w*|right|true|accura(?:te|cy)(?! of)|my|(?:this|the) answer)\b", re.IGNORECASE)
_SPEAKS = re.compile(
    r"\b(?:confiden\w*|certain\w*|sure\w*|probab\w*|likel\w*|chances?|odds|correct\w*|right|accura\w*|i|my|estimat\w*|"
    r"sicher\w*|richtig|wahrschein\w*|sûre?|certaine?|confian\w*|segur\w*|cert[oae]|sicur\w*|zeker\w*)\b|[^\x00-\u024f]",
    re.IGNORECASE,
)
"""Words of being sure; those of other scripts are not told apart."""
_OF_ELSE = re.compile(
    r"\D*\b(?:was|were|he|she|they)\b|\W*(?:the|my) (?:(?:final|correct|right) )?answer(?: is|:)\W*\d", re.IGNORECASE
)
"""Words before a number that make it somebody else's, of another time, or the answer."""
_ALONE = re.compile(
    r"(?:(?!\W*(?:(?:the |my )?answer|guess|final)\b)[^\n]{1,80}(?:[;,:]|[.!?](?=\s)))?[^\w.;-]*"
    r"(?:(?:so|but|thus|hence|therefore),? )?(?:i(?:['’]d| would) (?:say|estimate|guess|put (?:it|this|that) at)\s+)?"
    r"(?P<value>(?:0?\.\d{1,20}|[01]\.0|\d{1,3}\s?%))\W*",
    re.IGNORECASE,
)
"""A line that is a decimal or a percentage alone, or ends in one after an answer or a sentence."""


_SURE_OF_FACT = re.compile(
    r"\bI(?:['’]m| am) (?:about |around )?(?P<value>\d{1,3}(?:\.\d+)?\s?%) (?:sure|certain|confident)(?: that)? "
    rf"(?=(?:it|the|this|my)\b|[A-Z]){FACT}"
)
"""'I am 80% sure it was 1964', with nothing denied."""


_ASIDE = re.compile(r"(?P<value>[^\w\s]{0,3}\d[\d.,]*\s?(?:%|percent\b)?)\s*\((?P<aside>[^()\n]*)\)\W*", re.IGNORECASE)
_ELSE = re.compile(
    r"\W*(?:(?:there(?:['’]s| is)|with|i see|maybe|perhaps|about|an?|the|"
    r"remaining|other|small|roughly|around|some|only)\s+)*"
    r"\d[\d.,]*\s?(?:%|percent)\s+(?:\w+\s+)?(?:chance|probability|likelihood|possibility|risk)\b",
    re.IGNORECASE,
)
_FORM = re.compile(
    r"\W*N\s?%?(?:[,;]?\s*\(?(?:where|with)\s+N)?\s*(?:=|:|\bis\b|\bequals\b)\s*(?P<value>\d[\d.]*)\s?%?\W*",
    re.IGNORECASE,
)
"""The form that the prompt asks for, filled behind it: 'N%, where N is 90'."""


_TO_IT = re.compile(
    r"(?<=[%\d]) (?:to|for) (?:it|this|that|(?:my|this|the) answer)\b(?: being (?:correct|right|true))?", re.IGNORECASE
)
"""What a probability is assigned to."""


def _behind_label(value: str) -> Stated:
    """Read what stands behind a label: a remark in brackets about the chance of something else leaves it as it is."""
    value = _TO_IT.sub("", value)
    form, aside = _FORM.fullmatch(value), _ASIDE.fullmatch(value)
    if form:
        return as_stated(form["value"] + "%" * ("%" in value))
    is_else = (
        aside is not None and _ELSE.match(aside["aside"]) and not re.search(r"\b(?:correct|right)\b", aside["aside"])
    )
    return as_stated(aside["value"] if aside and is_else else value)


def as_stated(value: str) -> Stated:
    """Read a number that stands alone, without quotes and braces."""
    return read_stated(value.strip(" \t\"'}"))
