"""Words as the rules compare them: folded to Latin letters, brought to the singular, spelled one way."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from importlib import resources
from typing import Any, NamedTuple

from semece.judges.folding import fold


@lru_cache(maxsize=1)
def _vocabulary() -> dict[str, Any]:
    return tomllib.loads(resources.files(__package__).joinpath("vocabulary.toml").read_text(encoding="utf-8"))


@lru_cache(maxsize=64)
def vocabulary(name: str) -> frozenset[str]:
    """Look up a list of words of ``vocabulary.toml``."""
    return frozenset(_vocabulary()[name].split())


@lru_cache(maxsize=64)
def phrases(name: str) -> tuple[str, ...]:
    """Look up a list of phrases or patterns of ``vocabulary.toml``."""
    return tuple(_vocabulary()[name])


@lru_cache(maxsize=64)
def pairs(name: str) -> dict[str, str]:
    """Look up a table of ``vocabulary.toml``: words, each with what stands for it."""
    return dict(pair.rpartition("=")[::2] for pair in _vocabulary()[name].split())


def numbers(name: str) -> dict[str, float]:
    """Look up a table of words that are numbers."""
    return {word: float(value) for word, value in pairs(name).items()}


@lru_cache(maxsize=1)
def opposites() -> dict[str, str]:
    """Return the words that exclude another word, each with the other."""
    pairs = [row.split() for row in phrases("opposites")]
    return {word: other for one, two in pairs for word, other in ((one, two), (two, one))}


class Word(NamedTuple):
    """A word of a text: folded and in lower case, in the case it was written in, and what stood before it."""

    text: str
    form: str
    gap: str


_TOKEN = re.compile(
    r"""(?P<power>\d+(?:\.\d+)?\s?[x*]\s?10\s?\^\s?-?\d+|\d+(?:\.\d+)?[eE][+-]?\d+(?!\w)|\d+\^-?\d+)
    |(?P<number>\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d{1,3}(?:\.\d{3}){2,}(?![\d.])|\d{1,3}(?:\ \d{3})+(?!\d)
        |\d+(?:\.\d+)?|(?<!\w)\.\d+)
    |(?P<word>(?<![^\W_])[A-Za-z]-(?=$|[\s,.;:!?)\]])|[^\W\d_][^\W_]*(?:'[^\W\d_]+)*[+\#]*)
    |(?P<mark>[%°$€£¥₹₽₩₺₪₿฿₱¢]|(?<=\d)\+(?!\s*\d))""",
    re.VERBOSE,
)
_FEET = re.compile(r"(\d)'\s?(\d{1,2})(?:\"|'')")
_GLUED = re.compile(r"\b([a-z]{2,})(?=[A-Z][a-z]{2})")
_IN_LAW = re.compile(r"[- ]in[- ]law", re.IGNORECASE)
_WORLD_WARS = {"wwii": "2", "ww2": "2", "wwi": "1", "ww1": "1"}
_FOOTNOTED = re.compile(r"^([^\W\d_]{3,})\d{1,2}$")


def words_of(text: str) -> list[Word]:
    """Split a text into words, numbers and unit marks.

    Possessives lose their 's', ``n't`` becomes *not*, a run of initials becomes one word ('U. S.' is 'us', 'J.R.R.'
    is 'jrr'), a footnote number glued to a word goes.
    """
    folded = _GLUED.sub(r"\1 ", _FEET.sub(r"\1 feet \2 inches", _IN_LAW.sub("inlaw", fold(text))))
    found: list[Word] = []
    end = 0
    for match in _TOKEN.finditer(folded):
        gap = folded[end : match.start()]
        end = match.end()
        found.extend(_plain_words(match[0], gap) if match.lastgroup == "word" else [Word(match[0], match[0], gap)])
    return _joined_initials(found)


def _plain_words(form: str, gap: str) -> list[Word]:
    lower = form.lower()
    if lower.endswith("n't"):
        negation = Word("not", "not", " " if form[:-3] else gap)
        return [Word(lower[:-3], form[:-3], gap), negation] if form[:-3] else [negation]
    if "'" in form:
        form = form.removesuffix("'s").removesuffix("'S").replace("'", "")
        lower = form.lower()
    if lower in _WORLD_WARS:
        war = _WORLD_WARS[lower]
        return [Word("world", "World", gap), Word("war", "War", " "), Word(war, war, " ")]
    if form[-1].isdigit() and (footnoted := _FOOTNOTED.match(form)):
        form = footnoted[1]
        lower = form.lower()
    return [Word(lower, form, gap)]


def _joined_initials(words: list[Word]) -> list[Word]:
    if sum(len(word.text) == 1 for word in words) < 2:
        return words
    joined: list[Word] = []
    run = False
    for word in words:
        single = len(word.text) == 1 and word.text.isalpha()
        if single and run and word.gap.strip() in {"", "."} and _is_initial(word, joined[-1]):
            last = joined[-1]
            joined[-1] = Word(last.text + word.text, last.form + word.form, last.gap)
        else:
            joined.append(word)
        run = single
    return joined


def _is_initial(word: Word, before: Word) -> bool:
    if "." in word.gap:
        return True
    return word.form.isupper() == before.form.isupper() and not {word.text, before.text} & {"a", "i"}


_IRREGULAR = pairs("plurals")
_SPELLINGS = (
    (re.compile("(?<=[a-z]{3})our$"), "or"),
    (re.compile("(?<=[a-z]{2})tre$"), "ter"),
    (re.compile("(?<=[a-z]{3})is(e|ation)$"), r"iz\1"),
    (re.compile("yse$"), "yze"),
    (re.compile("(?<=[a-z]{2})ical$"), "ic"),
)


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Bring a lower-case word to the singular and to American spelling."""
    single = _IRREGULAR.get(word)
    if single is not None or len(word) < 4:
        return single or word
    single = _singular(word)
    for ending, american in _SPELLINGS:
        single = ending.sub(american, single)
    return single


def _singular(word: str) -> str:
    if word.endswith(("ie", "ies")) and len(word) > 4:
        return word[: -2 if word[-1] == "e" else -3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "oes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


@lru_cache(maxsize=65536)
def verb(word: str) -> str:
    """Reduce a lower-case word to what the forms of a verb share; other words may change, too."""
    word = _VERBS.get(word, word)
    for ending in ("ing", "ed"):
        start = word.removesuffix(ending)
        if start != word and len(start) >= 3 and set(start) & set("aeiouy"):
            return start[:-1] if start[-1] == start[-2] not in "ls" else start
    return word.removesuffix("e")


_VERBS = {form: forms[0] for forms in map(str.split, phrases("verbs")) for form in forms[1:]}
