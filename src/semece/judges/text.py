"""Text as answers use it: the key of identical answers, and answers that answer nothing.

Two strings with the same :func:`normalise` are the same answer before any judge is asked.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from importlib import resources

ARTICLES = frozenset({"a", "an", "the"})

_LETTERED = frozenset(
    {"vitamin", "hepatitis", "type", "group", "class", "grade", "plan", "section", "influenza", "note"}
)
"""Words after which ``a`` is a letter and no article: 'vitamin A'."""

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_SUPERSCRIPT_RUN = re.compile("[⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_VULGAR = re.compile(r"(?<=\d)(?=[¼-¾⅐-⅞])")
_THOUSANDS = re.compile(r"(?<![\d.,])(\d{1,3}(?:,\d{3})+)(?![\d,])")
_APOSTROPHES = str.maketrans(dict.fromkeys("'’‘ʼ`´ʹʻ′", "'"))
_MINUS = re.compile(r"(?<![^\s(\[])[-−–](?=\.?\d)")
_INNER = re.compile(r"(?<=\d)([.,/:*])(?=\d)|(?<![\w.])(\.)(?=\d)")
_ABBREVIATION = re.compile(r"(?<![^\W\d_])([^\W\d_]{1,2})\.(?=[^\W\d_])")
_INITIAL_DOT = re.compile(r"(?<![^\W\d_])([^\W\d_])\.")
_ALONE = re.compile(r"([%°]|[$€£¥₹₽₩₿¢])")
_KEPT_INNER = {".": "\ue000", ",": "\ue001", "/": "\ue002", ":": "\ue003", "*": "\ue004", "-": "\ue005"}
_BACK = str.maketrans({kept: mark for mark, kept in _KEPT_INNER.items()})


class _Characters(dict[int, str]):
    """What becomes of a character: punctuation a space, invisible ones nothing, the rest stays."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        category = unicodedata.category(character)
        if character in "%#^":
            kept = character
        elif character == "'" or (category in {"Cf", "Cc"} and not character.isspace()):
            kept = ""
        elif (category[0] in "PZC" and category != "Co") or category == "Sk":
            kept = " "
        else:
            kept = character
        self[code] = kept
        return kept


_CHARACTERS = _Characters({ord("&"): " and ", ord("⁄"): "/"})


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
    plain = _compatible(text)
    plain = _THOUSANDS.sub(lambda found: found[1].replace(",", ""), plain)
    plain = _MINUS.sub(_KEPT_INNER["-"], plain)
    plain = _INNER.sub(lambda found: _KEPT_INNER[found[1] or found[2]], plain)
    plain = _INITIAL_DOT.sub(r"\1", _ABBREVIATION.sub(r"\1", plain))
    plain = plain.translate(_CHARACTERS).translate(_BACK)
    return " ".join(_without_articles(_ALONE.sub(r" \1 ", plain).split()))


def _compatible(text: str) -> str:
    """NFKC and case folding, with exponents and mixed fractions kept apart from the digits before them."""
    if text.isascii():
        return text.translate(_APOSTROPHES).casefold()
    text = _SUPERSCRIPT_RUN.sub(lambda run: "^" + run[0].translate(_SUPERSCRIPTS), text)
    text = _VULGAR.sub(" ", text.translate(_APOSTROPHES))
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return folded.replace("⁄", "/").translate(_APOSTROPHES)


def _without_articles(words: list[str]) -> list[str]:
    kept: list[str] = []
    for place, word in enumerate(words):
        letter = word == "a" and kept and kept[-1] in _LETTERED
        if word not in ARTICLES or letter or place == len(words) - 1:
            kept.append(word)
    return kept


_GUESSES = re.compile(
    r"\b(?:but|however|although|though|maybe|perhaps|probably|likely|guess|think|believe|based on|according to)\b"
)
"""What announces an answer after a refusal."""

_REFUSALS = re.compile(
    r"""^(?:(?:i\ am|im|i\ m)?\ ?(?:sorry|afraid|apologi[sz]e)\ ?(?:but|that|for\ \w+\ \w+)?\ )?
    (?:(?:as\ )?(?:an?\ )?ai\ (?:language\ )?(?:model|assistant)\b.*
    |(?:honestly\ |unfortunately\ |well\ )?
     (?:i\ |we\ )?(?:do\ not|dont|did\ not|didnt)\ (?:really\ |actually\ |currently\ )?
       (?:know|have\ (?:\w+\ )?(?:answer|information|data|access|knowledge|idea)|recall|remember)
       (?:$|\ (?:this|that|for|about|who|what|when|where|which|whether|if|answer|on|to|any|of|how\ (?!to\ )).*)
    |(?:unfortunately\ |currently\ )?(?:i\ (?:am|m)\ |im\ |we\ are\ )?
     (?:not\ (?:sure|certain|aware|familiar)|unsure|uncertain|unable\ to\ \w+|clueless)
       (?:$|\ (?:about|of|who|what|when|where|which|whether|if|how|with|as|that|any|answer|this|information)\b.*)
    |(?:i\ |we\ |it\ )?(?:can\ ?not|cant|could\ not|couldnt|am\ not\ able\ to)\ (?:be\ )?
       (?:answer|answered|provide|determine|determined|find|verify|verified|say|tell|help|assist|confirm|recall
       |remember|give|identify|access|known)(?:$|\ .*)
    |(?:i\ have\ )?no\ (?:idea|clue|answer|response|comment|information)(?:$|\ (?:about|on|given|available).*)
    |(?:answer\ is\ |it\ is\ |this\ is\ |information\ is\ )?
     (?:unknown|unclear|undetermined|not\ known|not\ available|not\ applicable|not\ provided|not\ specified|n/a|na|n\ a
     |idk|dunno|unanswerable|(?:not\ enough|insufficient)\ (?:information|context|data))(?:\ to\ .*)?
    )$""",
    re.VERBOSE,
)


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
    return len(key) < 400 and _GUESSES.search(key, 16) is None and _REFUSALS.match(key) is not None


@lru_cache(maxsize=1)
def _foreign_refusals() -> frozenset[str]:
    lines = resources.files(__package__).joinpath("non_answers.tsv").read_text(encoding="utf-8").splitlines()
    return frozenset(normalise(line.split("\t")[1]) for line in lines if line and not line.startswith("#"))
