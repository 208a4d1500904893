"""The reader of confidences in the words of a scale."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from semece.prompts.confidences import UNREAD, Stated
from semece.prompts.elicited import (
    LONGEST,
    LONGEST_TELLING,
    Guess,
    first_asked,
    labelled_values,
    one_guess,
    plain_text,
    settled,
    statement,
)

if TYPE_CHECKING:
    from collections.abc import Mapping


SCALES: Mapping[str, Mapping[str, float]] = {
    "linguistic": {"lowest": 0.1, "low": 0.3, "medium": 0.5, "high": 0.7, "highest": 0.9},
    "linguistic-mielke": {"do not know": 1 / 6, "uncertain": 0.5, "certain": 5 / 6},
}
"""Scales of words: Lin et al.'s five words and Mielke et al.'s three levels, with the middles of equal bins as values.

What the words mean in numbers is a convention; a recalibration finds it out for one model.
"""


_CONFIDENCE = statement("confidence|certainty")
_CONFIDENCE_ELSEWHERE = statement(
    "konfidenz|vertrauen|sicherheit|confiance|confianza|confiança|fiducia|confidenza|vertrouwen|уверенность|置信度|確信度|信頼度|신뢰도"
)
_ITS_TRUTH = (
    r"\s(?:that|whether|if)\s(?:it|(?:my|this|the)\sanswer)\sis\s(?:correct|right|true)"
    r"|\s(?:about|of)\s(?:it|(?:my|this|the)\sanswer)"
)
_ENDS = re.compile(
    rf"\s*(?:[.,;(!<|}}\]]|\s[-–—/]\s|\s(?=because\b|since\b|as\b)|(?:{_ITS_TRUTH})(?=\W*$)|$)", re.IGNORECASE
)
_BRACKETS = re.compile(r"^[ \t]*\(([^()\n]+)\)[ \t]*$", re.MULTILINE)
_WRAPPED = re.compile(r"\$?\\(?:boxed|text(?:bf|it)?|mathrm)\{([^\\{}\n]*)\}\$?")
_NOT_KNOWN = re.compile(r"\b(?:do[ _-]not|don['’]?t)[ _-]know\b")
_HAS = re.compile(
    r"(?:i have (?P<have>[\w ]+?) confidence (?:in (?:this|my|the) answer\b"
    r"|that (?:it|this|(?:my|this|the) answer) is (?:correct|right|true)(?=\W*$|[.,;])))",
    re.IGNORECASE,
)
_ITS_CONFIDENCE = r"\s+confidence(?: in (?:this|my|the) answer)?(?=\W*$|\s+[-–—]\s|[.,;]\s)"
_FRANKLY = re.compile(r"^\W*(?:honestly|frankly|to be honest),?\s+", re.IGNORECASE)
_TELLS = re.compile(
    r"(?:^|(?<=[.,;:!?…)])[ \t]+)[^\w\n]{0,8}(?:(?:so )?(?:so|overall|thus|therefore):[ \t]*|(?:so,? |overall,? )?"
    r"i(?:['’]d| would|['’]ll| will)(?: have to)? (?:say|go with)[:,]?[ \t]+(?:i(?: am|['’]m) )?)"
    r"(?P<value>[^\w\n]{0,4}\w[\w ]{2,12}?[^\w\n]{0,4})"
    r"(?:[ \t]+(?:here|(?:for|on) this (?:one|answer|question)))?\W*\Z",
    re.IGNORECASE | re.MULTILINE,
)
"""A last clause that tells the word: 'I'd say medium', 'so: high'."""
_LAYERS = 3
_ECHO = re.compile(
    r"(?:one of the (?:five words|three forms) |\b(?:on|of|from) the scale )?"
    r"\(?(?:lowest, low, medium, high, highest|do not know, uncertain, certain)\)?[:,]?(?=[ \t]*[\w*(])",
    re.IGNORECASE,
)
"""The scale as the prompt writes it, in front of what is chosen of it."""
_OTHER_SENSE = re.compile(
    r"\bdo not know (?=(?:which|what|who|whose|whom|when|where|why|how)\b)"
    r"|\b(?:high|low|medium|certain) "
    r"(?!confidence|certainty|probability|level|enough|because|since|that|about|as|and|or|but|to|for|in|on|of|with|by|at|i\b)"
    r"(?=[a-z]{3})"
)
"""Words of a scale that say something else: 'I do not know which', 'high school'."""


def read_words(text: str, scale: str = "linguistic", *, alone: bool = True) -> tuple[Guess, ...]:
    """Read a confidence in the words of a scale.

    Parameters
    ----------
    text : str
        The reply.
    scale : str
        A name of :data:`SCALES`.
    alone : bool
        Whether a reply that is the word alone states it; in a response that gives an answer too, only a labelled line
        does.

    Returns
    -------
    tuple of Guess
        One, or none: a word that is not of the scale, two words, or a negation are not read.

    Examples
    --------
    >>> read_words("Confidence: high")[0].said.certain, read_words("Highest.")[0].said.certain
    (0.7, 0.9)
    >>> read_words("Confidence: medium to high"), read_words("not high")
    ((), ())
    """
    plain = _ECHO.sub("", _BRACKETS.sub(r"\1", _unwrapped(plain_text(text))))
    return first_asked(plain, partial(_words, words=SCALES[scale], alone=alone))


def _words(plain: str, words: Mapping[str, float], *, alone: bool) -> tuple[Guess, ...]:
    """Read a plain text: a labelled word or, if there is none, the word that it is or concludes with."""
    read = partial(_word, words=words)
    values = settled(plain, partial(labelled_values, statement=_CONFIDENCE, read=read))
    values = values or labelled_values(plain, _CONFIDENCE_ELSEWHERE, read)
    if not values and alone:
        values = [value for value in (_alone(plain, words),) if value != UNREAD]
    return one_guess(values)


def _alone(plain: str, words: Mapping[str, float]) -> Stated:
    """Read a reply without a label: one word, 'I have low confidence', or a last clause that tells the word."""
    if "\n" not in plain and len(plain) <= LONGEST:
        has = _HAS.match(plain)
        told = has["have"] if has else re.sub(_ITS_CONFIDENCE, "", _FRANKLY.sub("", plain), flags=re.IGNORECASE)
        if (stated := _word(told, words)) != UNREAD:
            return stated
    found = _TELLS.search(plain) if len(plain) <= LONGEST_TELLING else None
    if found is None or any(re.search(rf"\b{word}\b", plain[: found.start()], re.IGNORECASE) for word in words):
        return UNREAD
    return _word(found["value"], words)


def _unwrapped(text: str) -> str:
    """Take off LaTeX around words, layer by layer."""
    for _ in range(_LAYERS):
        text = _WRAPPED.sub(r"\1", text)
    return text


def _word(value: str, words: Mapping[str, float]) -> Stated:
    """Read one word of a scale; what follows it must be apart from it and name no other."""
    told = _NOT_KNOWN.sub("do not know", value.strip(" \t\"'“”[](){}<>").lower())
    told = re.sub(r"^i(?: am|['’]m)?\s+", "", told)
    ends = _ENDS.search(told)
    word, rest = (told[: ends.start()], told[ends.end() :]) if ends else (told, "")
    number = words.get(re.sub(r"[^\w?]+$", "", word))
    rest = _OTHER_SENSE.sub(" ", rest)
    if number is None or any(re.search(rf"\b{other}\b", rest) for other in words):
        return UNREAD
    return Stated(number, number)
