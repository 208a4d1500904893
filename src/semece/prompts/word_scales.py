"""The reader of confidences in the words of a scale."""

from __future__ import annotations

import re
from functools import cache, partial
from typing import TYPE_CHECKING

from semece.prompts.confidences import UNREAD, Stated
from semece.prompts.statements import (
    CONDITION,
    FACT,
    LONGEST,
    Guess,
    first_asked,
    is_bound,
    labelled_values,
    one_guess,
    plain_text,
    sentence_before,
    settled,
    statement,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


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
    rf"\s*(?:[.,;:(!<|}}\]]|\s[-–—/]\s|\s(?=because\b|since\b|as\b)|(?:{_ITS_TRUTH})(?=\W*$)|$)", re.IGNORECASE
)
_BRACKETS = re.compile(r"^[ \t]*\(([^()\n]+)\)[ \t]*$", re.MULTILINE)
_WRAPPED = re.compile(r"\$?\\(?:boxed|text(?:bf|it)?|mathrm)\{([^\\{}\n]*)\}\$?")
_NOT_KNOWN = re.compile(r"\b(?:do[ _-]not|don['’]?t)(?: really)?[ _-]know\b", re.IGNORECASE)
_I_SAY = (
    r"i(?:['’]d| would|['’]ll| will| can| am|['’]m| must)?(?: have to| only| just)? "
    r"(?:say|think|guess|go|call|giv(?:e|ing)|rate|choose|pick|answer|select|hold|put|assign|assess|describe|lean|settle"
    r"|admit)"
    r"(?:[:,]?[ \t]+(?:that|it|this|my|the|answer|myself|with|for|on|towards?|an?|as|at|to be)\b){0,5}[:,]?[ \t]+"
)
_I_AM = r"i(?: am|['’]m| remain| feel)[ \t]+"
_I_DO = r"i (?:really |simply |honestly |just )?(?=do not)"
_IT = (
    r"(?:it|this|that|(?:my|this|the|that) "
    r"(?:(?:correct |right )?answer(?: to (?:it|(?:this|the) question))?|one|case|question))"
)
_ABOUT_IT = (
    rf"(?:(?<=know)[ \t]{_IT}|[ \t]+(?:here|(?:about|of|in|on|for|to|regarding) {_IT}"
    rf"|(?:(?:that|whether|if) )?{_IT}(?:['’]s| is) (?:correct|right|true)))?"
)
_OF_A_FACT = rf"(?::|[ \t](?:that\b|(?=(?:(?-i:[A-Z])|the\b|it\b|this\b)))){FACT}"
"""What somebody is certain of."""
_OF_A_PART = r"(?:of|about|regarding|whether|if|which|as to)\b[^.;!?\n]{1,80}"
"""What somebody is uncertain of: who is uncertain of a part is uncertain of the whole."""
_FITS = (
    r" (?:is|would be|seems) (?:appropriate|fitting|my (?:confidence|choice|answer|rating))"
    rf"(?: level)?(?: here| (?:in|for) {_IT})?"
)
_CLOSES = (
    r"(?=[^\w\n?]{0,4}(?:$|(?<=[.!;,:])[ \t]|[ \t](?:because|since|as|given)\b|(?<=[-–—])[ \t]))"
    r"(?![^\w\n]{1,4}(?:if|unless|only|provided)\b)"
)
_LONGEST_PROSE = 1000
"""Characters of a reply without a label in which a claim is looked for."""


_OPENING = (
    r"overall|in short|well|okay|sure|of course|honestly|frankly|to be honest|unfortunately|i(?:['’]m| am) afraid"
)


def _opens(*also: str) -> str:
    """Give the pattern of where a clause begins, and of the words that open it."""
    so = "|".join(("so", "thus", "therefore", "hence", *also))
    opening = rf"(?:{so}|{_OPENING})\b|(?:yes|no)\b(?! )"
    within = rf"|(?<=\w)[ \t]+(?=(?:{so})\b)" if also else ""
    begins = rf"(?:^|(?<=[-.!?;:,…)–—→>])[ \t]{within})[^\w\n]{{0,8}}"
    answer = r"(?:(?:(?:the|my)[ \t]+)?(?:final[ \t]+)?(?:answer|choice|rating|word|level)(?:[ \t]+is)?[^\w\n?]{1,4})?"
    return rf"{begins}(?:(?:{opening})[^\w\n?]{{1,4}}){{0,2}}{answer}"


@cache
def _claims(words: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    """Give the patterns of a clause that claims a word: one that says 'I', and the word alone, first or last."""
    word = rf"[\"'“‘]?(?P<word>{'|'.join(words)})[\"'”’]?"
    confidence = r"(?:(?: level| degree) of)? (?:confidence|certainty)"
    have = rf"(?:i (?:only )?have|(?:my|this|the) answer has|(?:{_IT} is (?:correct|right|true) )?with)"
    has = rf"(?:(?:{_I_SAY})?{have} |{_I_SAY})(?:an? |the |only )?{word}(?: possible)?{confidence}"
    am = rf"(?:{_I_SAY}(?:{_I_AM}|{_I_DO})?|{_I_AM}|{_I_DO}){word}(?:{confidence})?"
    alone = rf"{word}(?:{confidence})?(?:{_ABOUT_IT}|{_FITS})"
    patterns = (
        *(rf"{_opens('but', 'and')}{claim}{_ABOUT_IT}{_CLOSES}" for claim in (am, has, rf"{_I_SAY}{word}{_FITS}")),
        rf"{_opens('but', 'and')}{_I_AM}{word}{_OF_A_FACT}{_CLOSES}",
        rf"{_opens('but', 'and')}{_I_AM}(?P<word>uncertain) {_OF_A_PART}{_CLOSES}",
        rf"{_opens('but', 'and')}{word}{confidence}{_ABOUT_IT}[^\w\n?]*\Z",
        rf"\A(?!\W*so[ \t]){_opens()}{alone}{_CLOSES}",
        rf"(?:{_opens()}|(?<=,)[ \t]but[ \t](?=uncertain)){alone}[^\w\n?]*\Z",
    )
    return tuple(re.compile(pattern, re.IGNORECASE | re.MULTILINE) for pattern in patterns)


_LAYERS = 3
_ECHO = re.compile(
    r"(?:one of the (?:five words|three forms) |\b(?:on|of|from) (?:the|a) scale (?:of |from )?)?"
    r"\(?(?:lowest, low, medium, high, highest|lowest to highest|do not know, uncertain, certain)\)?[:,]?"
    r"(?=[ \t]*[\w*(])",
    re.IGNORECASE,
)
"""The scale as the prompt writes it, in front of what is chosen of it."""
_OTHER_SENSE = re.compile(
    r"\bdo not know (?=(?:which|what|who|whose|whom|when|where|why|how)\b)"
    r"|\b(?:high|low|medium|certain) "
    r"(?!confidence|certainty|probability|level|enough|because|since|that|about|as|and|or|but|to|for|in|on|of|with"
    r"|by|at|i\b)"
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
    plain = _NOT_KNOWN.sub("do not know", _ECHO.sub("", _BRACKETS.sub(r"\1", _unwrapped(plain_text(text)))))
    return first_asked(plain, partial(_words, words=SCALES[scale], alone=alone))


def _words(plain: str, words: Mapping[str, float], *, alone: bool) -> tuple[Guess, ...]:
    """Read a plain text: a labelled word or, if there is none, the word that it is or concludes with."""
    read = partial(_word, words=words)
    values = settled(plain, partial(labelled_values, statement=_CONFIDENCE, read=read))
    values = values or labelled_values(plain, _CONFIDENCE_ELSEWHERE, read)
    if not values and alone:
        values = [value for value in (_alone(plain, words),) if value != UNREAD]
    return one_guess(values)


_EXCLAIMED = re.compile(
    r"\A\W*so (?:low|high|certain|uncertain)\w*\W*\Z|\b(?:so|how|too) (?:low|high)\w*\W*!", re.IGNORECASE
)
"""'So high!' is no choice."""
_NO_WORD_ALONE = re.compile(rf"\A\W*the\b|{CONDITION.pattern}", re.IGNORECASE)


def _alone(plain: str, words: Mapping[str, float]) -> Stated:
    """Read a reply without a label: the word alone, or clauses that claim one word where nothing else names one."""
    is_short = "\n" not in plain and len(plain) <= LONGEST
    if _EXCLAIMED.search(plain):
        return UNREAD
    if is_short and not _NO_WORD_ALONE.search(plain) and (stated := _word(plain, words)) != UNREAD:
        return stated
    if len(plain) > _LONGEST_PROSE:
        return UNREAD
    told: set[str] = set()

    def without(claim: re.Match[str]) -> str:
        told.add("" if is_bound(sentence_before(claim.string, claim.start())) else claim["word"].lower())
        return ""

    rest = plain
    for pattern in _claims(tuple(words)):
        rest = pattern.sub(without, rest)
    if not told:
        return _at_the_end(plain, words)
    if len(told) != 1 or (word := told.pop()) not in words:
        return UNREAD
    rest = re.sub(rf"\b{_I_AM}{word}\b", "", rest.lower())
    rest = _OTHER_SENSE.sub(" ", rest if word == "certain" else _NOT_SURE.sub(" ", rest))
    return UNREAD if _named(rest, words) else _value(word, words)


_NOT_SURE = re.compile(r"(?:\bnot|n['’]t)(?: \w+)? certain\b|\bdo not know for (?:sure|certain)\b")
"""Words that agree with not knowing, and with being uncertain."""
_OF_CONFIDENCE = re.compile(
    r"\b(?:confiden\w*|certainty|sure|scale|words?|rat(?:e|ing)|choose|choice|pick|select|appropriate)\b", re.IGNORECASE
)
_DENIES = re.compile(
    r"n['’]t\b|\b(?:not|never|no|nor|neither|hardly|than|or|if|whether|unless|wrong|that|which|could|might|used|was"
    r"|said|says|wrote)\b",
    re.IGNORECASE,
)


_ANOTHERS = re.compile(
    r"(?:\b(?!(?:my|our|the|this|that|an?|of|overall|final|level|own|current|estimated|general|honest)\b)\w+|['’]s)"
    r" (?:confidence|certainty)\b",
    re.IGNORECASE,
)
"""Confidence that is somebody else's: 'consumer confidence'."""


def _at_the_end(plain: str, words: Mapping[str, float]) -> Stated:
    """Read the word that ends a last sentence about confidence, if nothing denies it or names another."""
    last = re.split(r"(?<=[.!?])\s|\n", plain)[-1]
    leads = r"(?:\b(?:is|as|be|of|at|to|it|select|choose|pick)[ \t]|[:=])[^\w\n]{0,4}"
    ends = rf"{leads}(?P<word>{'|'.join(words)})[^\w?]*\Z"
    found = re.search(ends, last, re.IGNORECASE)
    before = last[: found.start("word")] if found else ""
    if not found or not _OF_CONFIDENCE.search(before) or _DENIES.search(before) or _ANOTHERS.search(before):
        return UNREAD
    ahead = plain[: len(plain) - len(last)] + before
    return UNREAD if _named(_OTHER_SENSE.sub(" ", ahead.lower()), words) else _value(found["word"], words)


def _value(word: str, words: Mapping[str, float]) -> Stated:
    number = words[word.lower()]
    return Stated(number, number)


def _named(text: str, words: Iterable[str]) -> bool:
    """Whether a text names a word of the scale."""
    return re.search(rf"\b(?:{'|'.join(words)})\b", text) is not None


def _unwrapped(text: str) -> str:
    """Take off LaTeX around words, layer by layer."""
    text = text.replace("\\ ", " ")
    for _ in range(_LAYERS):
        text = _WRAPPED.sub(r"\1", text)
    return text


def _word(value: str, words: Mapping[str, float]) -> Stated:
    """Read one word of a scale; what follows it must be apart from it and name no other."""
    told = value.strip(" \t\"'“”[](){}<>").lower()
    told = re.sub(
        r"^\W*(?:i(?: am|['’]m)?\s+|(?:it|that|this)(?: is|['’]s) (?=uncertain)|the (?=lowest|highest))?", "", told
    )
    ends = _ENDS.search(told)
    word, rest = (told[: ends.start()], told[ends.end() :]) if ends else (told, "")
    number = words.get(re.sub(r"[^\w?]+$", "", word))
    rest = _OTHER_SENSE.sub(" ", rest)
    if number is None or _named(rest, words):
        return UNREAD
    return Stated(number, number)
