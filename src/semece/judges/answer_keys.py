"""Text as answers use it: the key of identical answers, and answers that answer nothing.

Two strings with the same :func:`normalise` are the same answer before any judge is asked.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semece.records import Question

ARTICLES = frozenset({"a", "an", "the"})

LETTERED = frozenset(
    {"vitamin", "hepatitis", "type", "group", "class", "grade", "plan", "section", "influenza", "note"}
)
"""Words after which ``a`` is a letter and no article: 'vitamin A'."""

LETTERS = frozenset(
    {"positive", "negative", "minor", "major", "flat", "sharp", "minus", "plus", "level", "side", "visa"}
)
"""Words before which it is one: 'A positive', 'A minor'."""

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_EXPONENT = re.compile("⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_VULGAR = re.compile(r"(?<=\d)(?=[¼-¾⅐-⅞])")
_MINUS = re.compile(r"(?<![^\s(\[^])[-−–](?=\.?\d)")
_THOUSANDS = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?![\w,])")
_ABBREVIATED = re.compile(r"(?<![^\W\d_])([^\W\d_])\.(?!\d)|(?<![^\W\d_])([^\W\d_]{2})\.(?=[^\W\d_])")
_AUSTRALIAN = re.compile(r"\ba\$(?=\d)")
_INNER = re.compile(r"(?<=\d)[./:*](?=\d)|(?<![\w.])\.(?=\d)")
_GRADE = re.compile(r"(?<![^\s(\[])([a-z])[-−–](?=$|[\s,.;:!?)\]])")
_ALONE = re.compile(r"[%°$€£¥₹₽₩₿¢]")
_KEPT = {".": "\ue000", "/": "\ue001", ":": "\ue002", "*": "\ue003", "-": "\ue004", "−": "\ue004", "–": "\ue004"}
_BACK = str.maketrans({kept: mark for mark, kept in reversed(_KEPT.items())})


class _Characters(dict[int, str]):
    """What becomes of a character: punctuation a space, apostrophes and invisible ones nothing, the rest stays."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        category = unicodedata.category(character)
        if character in "%#^" or "\ue000" <= character <= "\ue004":
            kept = character
        elif category[0] in "PZC" or category == "Sk":
            kept = " "
        else:
            kept = character
        self[code] = kept
        return kept


class _Invisible(dict[int, str | None]):
    """What is dropped before anything else: apostrophes, marks without width, private characters."""

    def __missing__(self, code: int) -> str | None:
        category = unicodedata.category(chr(code))
        dropped = category in {"Cf", "Co", "Cs"} or (category == "Cc" and not chr(code).isspace())
        self[code] = None if dropped else chr(code)
        return self[code]


_CHARACTERS = _Characters({ord("&"): " and "})
_INVISIBLE = _Invisible(dict.fromkeys(map(ord, "'’‘ʼ`´ʹʻ′"), None))


def normalise(text: str) -> str:
    """Reduce an answer to the key under which identical answers share a class.

    Unicode compatibility forms (NFKC), case, punctuation, the articles *a*, *an*, *the* and white space make no
    difference. What changes a meaning stays: signs, decimal points, fractions, percent and currency marks, ``+`` and
    ``#``. Accents stay; the rules judge folds them.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    str
        Words separated by single spaces; ``''`` if nothing but punctuation was there.

    Examples
    --------
    >>> normalise("  The Eiffel-Tower! "), normalise("1,250.5 %"), normalise("C++")
    ('eiffel tower', '1250.5 %', 'c++')
    """
    plain = _AUSTRALIAN.sub("au$", _compatible(text))
    plain = _THOUSANDS.sub(lambda number: number[0].replace(",", ""), plain)
    plain = _MINUS.sub(lambda mark: _KEPT[mark[0]], plain)
    plain = _GRADE.sub(lambda grade: grade[1] + _KEPT["-"], plain)
    plain = _INNER.sub(lambda mark: _KEPT[mark[0]], plain)
    plain = _ABBREVIATED.sub(lambda letters: letters[1] or letters[2], plain)
    plain = _ALONE.sub(r" \g<0> ", plain.translate(_CHARACTERS).translate(_BACK))
    return " ".join(_without_articles(plain.split()))


def _compatible(text: str) -> str:
    """Fold case and compatibility forms; exponents and mixed fractions stay apart from the digits before them."""
    if text.isascii():
        return text.translate(_INVISIBLE).casefold()
    text = _EXPONENT.sub(lambda run: "^" + run[0].translate(_SUPERSCRIPTS), text)
    text = _VULGAR.sub(" ", text.translate(_INVISIBLE))
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return folded.replace("⁄", "/").translate(_INVISIBLE)


def _without_articles(words: list[str]) -> list[str]:
    kept: list[str] = []
    for place, word in enumerate(words):
        following = words[place + 1] if place + 1 < len(words) else ""
        letter = word == "a" and ((kept and kept[-1] in LETTERED) or following in LETTERS)
        if word not in ARTICLES or letter or place == len(words) - 1:
            kept.append(word)
    return kept


LONGEST = 400
"""A text of more characters than this is no mere refusal."""

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
    r"not (?:known|available|applicable|specified|given|stated|mentioned|provided|clear|recorded|disclosed)"
    r"|(?:not enough|insufficient) \w+|impossible to (?:say|tell|know|determine|answer)"
)
_DECLINING = "would rather not|rather not|prefer not to|wont|will not|decline to|refuse to"
_NOTHING = "idea|clue|answer|response|comment|information"
_ASKING = "what|who|how|where|when|why|which|whether"
_OPEN = "unknown|unclear|undetermined|n a|idk|dunno"
_SOURCE = r"(?:text|context|passage|article|document|question|source)"
_START = (
    r"(?:(?:hm+|well|oh|um+|uh) )?(?:as of my (?:last|latest|current) (?:knowledge )?(?:update|training|cutoff) )?"
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
        r"beats me|who knows",
    )
)
"""Refusals in normalised words, without articles and apostrophes."""


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
    key = normalise(text)
    if not key or key in _foreign_refusals():
        return True
    if len(key) > LONGEST or _GUESSES.search(key, 16):
        return False
    return any(refusal.fullmatch(key) for refusal in _REFUSALS)


@lru_cache(maxsize=1)
def _foreign_refusals() -> frozenset[str]:
    lines = resources.files(__package__).joinpath("non_answers.tsv").read_text(encoding="utf-8").splitlines()
    return frozenset(normalise(line.split("\t")[1]) for line in lines if line and not line.startswith("#"))


def check_answers(answers: Sequence[str]) -> None:
    """Refuse empty strings, which no judge groups: non-answers are a class of their own.

    Raises
    ------
    ValueError
        If one is empty or white space.
    """
    for index, answer in enumerate(answers):
        if not answer.strip():
            raise ValueError(f"answers to be grouped must not be empty; got {answer!r} at index {index}")


def check_references(question: Question) -> None:
    """Refuse to grade where there is nothing to grade against.

    Raises
    ------
    ValueError
        If the question has no references.
    """
    if not question.references:
        raise ValueError(f"grading needs at least one reference; got none for question {question.id!r}")
