"""Answers that answer nothing: refusals in words."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from importlib import resources

LONGEST = 400
"""A text of more characters than this is no mere refusal."""

_NOTHING_SAID = " \t\r\n\v\f?.…-–—_!,;:'\"“”‘’()[]{}¿¡\u00a0\u200b"
"""Marks that say nothing if there is nothing else."""

_GUESSES = re.compile(
    r"\b(?:but|however|although|though|maybe|perhaps|probably|likely|guess|think|believe|based on|according to)\b"
)
"""What announces an answer after a refusal."""

_FILLER = r"(?:(?:really|actually|currently|honestly|unfortunately|simply|just|well) )*"
_OBJECT = (
    r"(?: (?:this|that|for|about|of|on|to|any|answer|who|what|when|where|which|whether|if|with|as|how (?!to )).*)?"
)
_HAVING = r"have (?:\w+ )?(?:answer|information|data|access|knowledge|idea)"
_KNOWING = rf"(?:(?:know|{_HAVING}){_OBJECT}|(?:recall|remember)(?: .*)?)"
_TELLING = "answer|provide|determine|find|verif|say|tell|help|assist|confirm|recall|remember|give|identif|access|known"
_LACKING = (
    r"(?:not|isnt) (?:known|available|applicable|specified|given|stated|mentioned|provided|clear|recorded|disclosed)"
    r"|(?:not enough|insufficient) \w+|impossible to (?:say|tell|know|determine|answer)"
)
_DECLINING = "would rather not|rather not|prefer not to|wont|will not|decline to|refuse to"
_NOTHING = "idea|clue|answer|response|comment|information"
_ASKING = "what|who|how|where|when|why|which|whether"
_OPEN = "unknown|unclear|undetermined|n a|idk|dunno"
_SOURCE = r"(?:text|context|passage|article|document|question|source)"
_START = (
    r"(?:(?:hm+|well|oh|um+|uh) )*(?:as of my (?:last|latest|current) (?:knowledge )?(?:update|training|cutoff) )?"
    r"(?:(?:i am |im |i )?(?:sorry|afraid|apologi[sz]e)(?: but| that)? )?"
)
_REFUSALS = tuple(
    re.compile(rf"{_START}{_FILLER}(?:{pattern})(?: sorry)?")
    for pattern in (
        r"(?:as )?ai (?:language )?(?:model|assistant)\b.*",
        rf"(?:i |we )?{_FILLER}(?:do not|dont|did not|didnt|would not|wouldnt) {_FILLER}{_KNOWING}",
        rf"(?:i am |im |we are )?{_FILLER}(?:not (?:sure|certain|aware|familiar)|unsure|uncertain|clueless){_OBJECT}",
        r"(?:i am |im |we are )?(?:unable|not able) to \w+.*",
        rf"(?:i |we |it )?(?:can ?not|cant|could not|couldnt) (?:be )?(?:{_TELLING})\w*(?: .*)?",
        rf"(?:i |id )?(?:{_DECLINING}) (?:answer|say|tell|respond|provide|give)(?: .*)?",
        rf"(?:i have |there is )?no (?:{_NOTHING})(?: (?:about|on|given|available|to|in|for|{_ASKING}).*)?",
        rf"there is (?:{_LACKING})(?: .*)?",
        rf"{_SOURCE} (?:does not|doesnt|did not|didnt) (?:say|tell|provide|mention|specify|state|contain|give)(?: .*)?",
        rf"(?:(?:answer|it|this|that|{_SOURCE}) is )?(?:{_OPEN}|{_LACKING})(?: (?:to|in|from|by|{_ASKING}) .*)?",
        r"(?:i |id |i would )(?:have|need) to (?:look (?:that|this|it) up|check|search)(?: .*)?",
        rf"{_SOURCE} (?:can ?not|cant|could not|couldnt) be (?:{_TELLING})\w*(?: .*)?",
        rf"(?:that|this|such|requested) (?:information|answer|detail|data) (?:is )?(?:{_OPEN}|{_LACKING})(?: .*)?",
        r"beats me|who knows|i give up|pass|no response",
    )
)
"""Refusals in normalised words, without articles and apostrophes."""


_APOSTROPHES = str.maketrans(
    dict.fromkeys("'’‘ʼ`´ʹʻ′\u00ad\u200b\u200c\u200d\u2060\ufeff\u202a\u202b\u202c\u202d\u202e")
)
_APART = re.compile(r"[^\w%]+|_+")
_ARTICLES = frozenset({"a", "an", "the"})


def _words(text: str) -> str:
    """Reduce a text to its words: no case, no marks, no articles but a last one."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).translate(_APOSTROPHES).casefold())
    words = _APART.sub(" ", folded).split()
    return " ".join(word for place, word in enumerate(words) if word not in _ARTICLES or place == len(words) - 1)


_TOLD_ELSE = re.compile(
    rf"{_START}(?:i |we )?(?:do not|dont) have (?:\w+ )?answer(?: .*)? but "
    r"(?!it |he |she |they |answer |my |i |maybe |perhaps |probably |possibly ).* (?:is|are|was|were|has) .*"
)
"""A refusal, and a statement that is no answer."""


def is_non_answer(text: str) -> bool:
    """Whether an answer says nothing: empty, or a refusal in words.

    English refusals are recognised by rule, a few of other languages by the list in ``non_answers.tsv``. A refusal
    followed by a guess ('I don't know, but maybe Paris') is an answer.

    Parameters
    ----------
    text : str
        An answer.

    Returns
    -------
    bool
        True for a non-answer.

    Examples
    --------
    >>> is_non_answer("I don't know."), is_non_answer("?"), is_non_answer("I Don't Know How to Love Him")
    (True, True, False)
    """
    if not text.strip(_NOTHING_SAID):
        return True
    return len(text) <= 4 * LONGEST and _refuses(text)


@lru_cache(maxsize=4096)
def _refuses(text: str) -> bool:
    """Whether a short answer is a refusal; a model gives the same short answers many times."""
    key = _words(text)
    if key in _foreign_refusals():
        return True
    if len(key) <= LONGEST and _TOLD_ELSE.fullmatch(key):
        return True
    if not key or len(key) > LONGEST or _GUESSES.search(key, 16):
        return False
    return any(refusal.fullmatch(key) for refusal in _REFUSALS)


@lru_cache(maxsize=1)
def _foreign_refusals() -> frozenset[str]:
    lines = resources.files(__package__).joinpath("non_answers.tsv").read_text(encoding="utf-8").splitlines()
    return frozenset(_words(line.split("\t")[1]) for line in lines if line and not line.startswith("#"))
