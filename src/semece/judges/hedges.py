"""Answers that do not commit themselves: alternatives, doubt, approximate numbers."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from semece.judges.answer_keys import normalise
from semece.judges.rules.seen import read
from semece.judges.rules.words import vocabulary

if TYPE_CHECKING:
    from semece.records import Question

_DOUBT = re.compile(
    r"\b(?:maybe|perhaps|possibly|probably|presumably|supposedly|apparently|not (?:entirely |completely |quite )?"
    r"(?:sure|certain)|unsure|uncertain|i (?:think|believe|guess|suppose|assume)|(?:may|might|could) (?:also )?"
    r"(?:be|have)|most likely|likely to|it is likely|as far as i know|if i recall|either\b.+\bor)\b"
)
"""Words of doubt in a normalised answer."""

_ALTERNATIVES = re.compile(r"\w+ or (?!not\b)\w+")

SHORT = 8
"""Words of an answer in which an alternative or an approximate number is the answer, not a remark beside it."""


def is_hedged(question: Question, answer: str, /) -> bool:
    """Whether an answer does not commit itself.

    It voices doubt ('I think it is Paris', 'it might be Lyon'); or it has at most eight words, and offers alternatives
    ('Paris or Lyon') or an approximate number ('about 1990'). Alternatives that a reference or the question names
    itself ('Truth or Dare') are no hedge.

    Parameters
    ----------
    question : Question
        With its references.
    answer : str
        The answer.

    Returns
    -------
    bool
        English only; words of other languages are not known.

    Examples
    --------
    >>> from semece.records import Question
    >>> question = Question("1", "Which game is it?", ("Truth or Dare",))
    >>> [is_hedged(question, text) for text in ("Truth or Dare", "Chess or Go", "I think chess", "Chess")]
    [False, True, True, False]
    """
    words = normalise(answer)
    if _DOUBT.search(words):
        return True
    if len(words.split()) > SHORT:
        return False
    known = [normalise(text) for text in (question.text, *question.references)]
    if any(not any(found in text for text in known) for found in _ALTERNATIVES.findall(words)):
        return True
    pairs = pairwise(words.split())
    if any(word in vocabulary("hedges") and following[0].isdecimal() for word, following in pairs):
        return True
    return any(quantity.hedged for quantity in read(answer).quantities)
