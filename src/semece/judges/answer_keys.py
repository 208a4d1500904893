"""Text as answers use it: the key of identical answers, and its words.

Two strings with the same :func:`answer_key` are the same answer before any judge is asked.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

from semece.prompts import is_non_answer

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


class _Unseen(dict[int, str | None]):
    """What has no width is dropped; what is white space in some alphabet is a blank."""

    def __missing__(self, code: int) -> str | None:
        character = chr(code)
        category = unicodedata.category(character)
        unseen = category in {"Cf", "Co", "Cs"} or (category == "Cc" and not character.isspace())
        self[code] = None if unseen else " " if character.isspace() else character
        return self[code]


_UNSEEN = _Unseen()
_CHARACTERS = _Characters({ord("&"): " and "})
_INVISIBLE = _Invisible(dict.fromkeys(map(ord, "'’‘ʼ`´ʹʻ′"), None))


_MARKS_OF_FORM = frozenset("\\^_=+*/<>[]{}|~#@%°‰′″§¬")
_ABBREVIATION = re.compile(r"(?:[^\W\d_]\.\s?)+(?:[^\W\d_])?")
_WORD = re.compile(r"[^\W\d_]{2}")
_DASH = r"[-‐‑‒–—―−]"
_LETTER = r"[^\W\d_]"
_FORMAL = re.compile(
    # a dash that joins no two words
    rf"^\s*{_DASH}(?!\s+{_LETTER}{_LETTER})|(?:[^\s\w]|\d)[ \t]*{_DASH}|{_DASH}\s*(?:[^\s\w]|\d|$)"
    rf"|(?<!{_LETTER}){_LETTER}\s*{_DASH}\s*{_LETTER}(?!{_LETTER})"  # a - b
    rf"|\w\(|\((?!{_LETTER}\))(?:(?!{_LETTER}{_LETTER})[^()])*\)"  # f(x), (0, 1)
    rf"|[\d)]\s*!|(?<!{_LETTER}){_LETTER}!(?!\w)|!(?=\w)|&&"  # 5!, n!, !x
    rf"|\d['\"’”]|(?<!['’\w]){_LETTER}['’](?!\w)|['’](?=\(|\d)"  # 5', x', f'(x), '90
    r"|\d[,:](?=\d)(?!(?<=,)\d{3}(?:,\d{3})*(?![\d,]))",  # 1,2 and 6:9, not 1,000
    re.MULTILINE,
)
"""Signs, brackets and operators that punctuation could hide."""
_QUOTES = (('"', '"'), ("“", "”"), ("«", "»"), ("„", "“"), ("**", "**"), ("'", "'"))
_MINUSES = dict.fromkeys(map(ord, "−‐‑‒–"), "-")
_BLANKS = re.compile(r"\s+")
_NEEDLESS = re.compile(r"(?<=\W)\s|\s(?=\W)")


class _Forms(dict[str, bool]):
    """Whether a character makes a text one of mathematics, code or signs."""

    def __missing__(self, character: str) -> bool:
        raised = unicodedata.decomposition(character).startswith(("<super>", "<sub>", "<fraction>"))
        signs = unicodedata.category(character) in {"Sm", "Sc", "No"}
        self[character] = character in _MARKS_OF_FORM or raised or signs
        return self[character]


_FORMS = _Forms()


@lru_cache(maxsize=4096)
def answer_key(text: str) -> str:
    r"""Reduce an answer to the key under which identical answers share a class.

    The key removes nothing that can change a meaning. Of natural words, Unicode compatibility forms (NFKC), case,
    punctuation, the articles *a*, *an*, *the* and white space make no difference. A text with mathematics, code or
    signs in it keeps its case and all of its marks: only blanks, quotes around it and a final full stop go. Accents
    stay.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    str
        ``''`` if nothing but punctuation was there.

    Examples
    --------
    >>> answer_key("  The Eiffel-Tower! "), answer_key("St. Louis, Missouri"), answer_key("1,250 km")
    ('eiffel tower', 'st louis missouri', '1250 km')
    >>> answer_key("- x"), answer_key("[0, 1)"), answer_key("5 !"), answer_key(r"$\frac{1}{2}$")
    ('-x', '[0,1)', '5!', '$\\frac{1}{2}$')
    """
    bare = _outside_quotes(_visible(text).strip())
    return _formal_key(bare) if _is_formal(bare) else normalise(bare)


def kept_key(text: str) -> str | None:
    """Give the key of an answer; None for one that says nothing.

    Examples
    --------
    >>> kept_key("Paris."), kept_key("I don't know")
    ('paris', None)
    """
    return None if is_non_answer(text) else answer_key(text)


def _visible(text: str) -> str:
    """Drop what has no width; compose accents."""
    return text if text.isascii() and text.isprintable() else unicodedata.normalize("NFC", text.translate(_UNSEEN))


def _outside_quotes(text: str) -> str:
    """Take off quotes and marks of bold that enclose the whole text."""
    for opens, closes in _QUOTES:
        inner = text[len(opens) : -len(closes)]
        if text == f"{opens}{inner}{closes}" and inner.strip() == inner != "" and not _holds(inner, opens + closes):
            return inner
    return text


def _holds(text: str, marks: str) -> bool:
    return any(mark in text for mark in marks)


def _is_formal(text: str) -> bool:
    """Whether mathematics, code or signs are in a text."""
    if any(_FORMS[character] for character in set(text)) or _FORMAL.search(text):
        return True
    plain = text.rstrip(".?! ")
    return (
        bool(plain)
        and not _WORD.search(plain)
        and not plain.replace(" ", "").isalnum()
        and not _ABBREVIATION.fullmatch(text)
    )


def _formal_key(text: str) -> str:
    """Keep all marks; a blank stays only between two letters or digits."""
    spaced = _NEEDLESS.sub("", _BLANKS.sub(" ", text.translate(_MINUSES)))
    return spaced[:-1] if spaced.endswith(".") and not spaced.endswith("..") and len(spaced) > 1 else spaced


def normalise(text: str) -> str:
    """Reduce a text to its words and the signs next to them.

    Unicode compatibility forms (NFKC), case, punctuation, the articles *a*, *an*, *the* and white space make no
    difference. Signs, decimal points, fractions, percent and currency marks, ``+`` and ``#`` stay; brackets and most
    operators do not: see :func:`answer_key` for what may stand for an answer. Accents stay; the rules judge folds them.

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
