"""Reading a string: its words, quantities and dates in order, and what it says about itself."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING

from semece.judges.answer_keys import LETTERED, LETTERS, normalise
from semece.judges.rules.english.clauses import affirmed, negates, opening
from semece.judges.rules.english.phrases import JOINTS
from semece.judges.rules.items import Item, Seen
from semece.judges.rules.values.found import read_values
from semece.judges.rules.words import Word, stem, vocabulary, words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST = 10_000
"""Characters of a string that are read: some 1,500 words, more than any answer has before it has answered."""


@lru_cache(maxsize=65536)
def read(text: str) -> Seen:
    """Read a string.

    Examples
    --------
    >>> [item.key for item in read("The U.S. bought 2 miles of it on July 4th, 1960").content]
    ['united_states', 'bought', '#3218.69 length', '@729309:729309']
    """
    words = words_of(text[:LONGEST]) or _only_signs(text[:LONGEST])
    items: list[Item] = []
    values = read_values(words)
    place = sentence = depth = 0
    while place < len(words):
        word = words[place]
        if word.gap not in {"", " "}:
            depth += sum(word.gap.count(mark) for mark in "([") - sum(word.gap.count(mark) for mark in ")]")
            depth = max(0, depth)
            sentence += place > 0 and _ends_sentence(words[place - 1], word)
        found = values.get(place)
        key, size, value = (found.value.key, found.size, found.value) if found else (*_word_key(words, place), None)
        text = word.text if size == 1 else "".join(part.text for part in words[place : place + size])
        items.append(Item(key, text, word.form, word.gap, sentence, depth > 0, value))
        place += size
    return seen_of(items)


def affirming(reading: Seen, question: Seen) -> Seen:
    """Read a string without a first clause that only says what is not so, unless a yes or a no is asked for."""
    if question.items and question.items[0].text in vocabulary("auxiliaries"):
        return reading
    kept = affirmed(reading.items)
    return reading if kept is reading.items else seen_of(kept)


def _head(items: Sequence[Item], content: Sequence[Item]) -> Sequence[Item]:
    begun = False
    for place, item in enumerate(items):
        if begun and (item.aside or item.gap.strip(" .'\"") or item.sentence):
            return items[:place]
        begun = begun or any(item is word for word in content)
    return items


def _only_signs(text: str) -> list[Word]:
    """Take a string without letters and digits ('∞') as one word."""
    signs = normalise(text) or text.strip()
    return [Word(signs, signs, "")] if signs else []


def seen_of(items: Sequence[Item]) -> Seen:
    """Sum up items in order, those of a whole string or of a part of it; sentences are numbered from 0."""
    items = [
        item._replace(key="a.") if item.text == "a" and _is_letter(items, place) else item
        for place, item in enumerate(_quoted_aside(items))
    ]
    content = _content(items)
    negated = any(negates(items, place) for place, _ in enumerate(_head(items, content)))
    last = items[-1].sentence if items else 0
    return Seen(tuple(items), content, frozenset(item.key for item in content), negated, last + 1)


def _ends_sentence(before: Word, word: Word) -> bool:
    if "\n" in word.gap and word.gap.strip() != ",":
        return True
    if "!" in word.gap or "?" in word.gap or ";" in word.gap:
        return not word.form.islower()
    if "." not in word.gap or word.gap[-1] == "." or word.form.islower():
        return False
    initials = len(before.text) == 1 or (before.form.isupper() and len(before.text) < 5)
    return not initials and before.text not in vocabulary("titles") | vocabulary("abbreviations")


CAPITALS = 4
"""A word in capitals of at most this many letters is an abbreviation, and has no plural: 'AIDS', 'GPS'."""


def _word_key(words: Sequence[Word], place: int) -> tuple[str, int]:
    word = words[place]
    root = word.text if word.form.isupper() and len(word.text) <= CAPITALS else stem(word.text)
    for spelling, key in _spellings().get(root, ()):
        size = len(spelling)
        here = words[place : place + size]
        if len(here) == size and all(map(_is_spelled, here, spelling, [len(words) == 1] * size)):
            return key, size
    return root, 1


def _is_spelled(word: Word, wanted: str, alone: bool) -> bool:
    if wanted.islower():
        return wanted in {word.text, stem(word.text)}
    return word.form == wanted or (alone and word.text == wanted.lower())


@lru_cache(maxsize=1)
def _spellings() -> dict[str, list[tuple[tuple[str, ...], str]]]:
    lines = resources.files(__package__).joinpath("same.tsv").read_text(encoding="utf-8").splitlines()
    table: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for spellings in (line.split("\t") for line in lines if line and not line.startswith("#")):
        key = spellings[0].replace(" ", "_")
        for spelling in spellings:
            parts = tuple(spelling.split())
            table.setdefault(stem(parts[0].lower()), []).append((parts, key))
    return {first: sorted(rows, key=lambda row: -len(row[0])) for first, rows in table.items()}


def _quoted_aside(items: Sequence[Item]) -> Sequence[Item]:
    """Set aside a nickname in quotes within a name: 'Theodore "Rough Rider" Roosevelt'."""
    marked = list(items)
    opening = [place for place, item in enumerate(items) if item.gap.endswith(' "')]
    for place in opening:
        closing = next((n for n in range(place + 1, min(place + 4, len(items))) if items[n].gap == '" '), None)
        if closing and place and items[place - 1].named and items[closing].named:
            marked[place:closing] = [item._replace(aside=True) for item in items[place:closing]]
    return marked


def _content(items: Sequence[Item]) -> tuple[Item, ...]:
    start = opening(items)
    return tuple(item for place, item in enumerate(items) if place >= start and _informs(items, place)) or tuple(items)


def _informs(items: Sequence[Item], place: int) -> bool:
    item = items[place]
    if item.text in vocabulary("titles"):
        return not _is_title(items, place)
    if item.value is not None or item.key != item.text or item.text not in vocabulary("function"):
        return True
    return item.form == "Will" and place + 1 < len(items) and items[place + 1].named


def _is_title(items: Sequence[Item], place: int) -> bool:
    """Whether a word that can be a title stands before a name: not 'King Jr.', nor 'general relativity'."""
    item = items[place]
    if item.text in vocabulary("surnames") and place and items[place - 1].named and item.gap == " ":
        return False
    following = items[place + 1] if place + 1 < len(items) else None
    no_name = vocabulary("function") | vocabulary("kinds")
    if following is None or bool(following.gap.strip(" .")) or following.text in no_name:
        return False
    return not (place > 0 and item.form.islower() and following.form.islower() and not items[0].form.islower())


def _is_letter(items: Sequence[Item], place: int) -> bool:
    """Whether an 'a' is a letter and no article: 'vitamin A', 'A minor'."""
    following = items[place + 1] if place + 1 < len(items) else None
    if following is not None and following.gap == " " and following.text in LETTERS:
        return True
    if len(items) == 1 or (place and items[place - 1].text in LETTERED):
        return True
    listed = following is not None and ("," in following.gap or following.text in JOINTS)
    ends = following is None or bool(following.gap.strip())
    return items[place].form == "A" and (listed or (ends and place > 0))
