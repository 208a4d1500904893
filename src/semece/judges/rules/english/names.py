"""When two words or two names are spellings of one."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING

from semece.judges.rules.words import phrases, vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semece.judges.rules.items import Item

_SOUNDS = tuple((re.compile(row.split(" ")[0]), row.split(" ")[1]) for row in phrases("sounds"))
_CHEMICALS = ("ate", "ite", "ide", "ane", "ene", "yne", "ol", "al")


@lru_cache(maxsize=65536)
def sound(word: str) -> str:
    """Reduce a word to what its transliterations share."""
    for pattern, letters in _SOUNDS:
        word = pattern.sub(letters, word)
    return word


@lru_cache(maxsize=65536)
def spelled_alike(one: str, other: str) -> bool:
    """Whether two different lower-case words are spellings of one name: same sound, or one slip in a long word.

    A slip is one letter more, less, other or swapped, where one word has at least seven letters, not among the first
    two, not the last, and not between endings that tell chemicals apart (-ate, -ite, -ide).
    """
    if min(len(one), len(other)) < 4 or not (one.isalpha() and other.isalpha()):
        return False
    if sound(one) == sound(other):
        return True
    shortest, longest = sorted((len(one), len(other)))
    if longest < 7 or shortest < 6 or one[:2] != other[:2] or one[-1] != other[-1]:
        return False
    endings = [next((ending for ending in _CHEMICALS if word.endswith(ending)), "") for word in (one, other)]
    return abs(len(one) - len(other)) < 2 and (endings[0] == endings[1] or not all(endings)) and _one_slip(one, other)


def _one_slip(one: str, other: str) -> bool:
    start = next(
        (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(map(len, (one, other)))
    )
    rest, others = one[start:], other[start:]
    if len(rest) == len(others):
        return rest[1:] == others[1:] or (rest[:2] == others[1::-1] and rest[2:] == others[2:])
    return rest[1:] == others or rest == others[1:]


def alike(one: Item, other: Item) -> bool:
    """Whether two words of texts are the same word, or spellings of one name if either is written like a name."""
    if one.key == other.key:
        return True
    if one.value is not None or other.value is not None or not (one.named or other.named):
        return False
    return spelled_alike(one.text, other.text)


def same_root(one: str, other: str) -> bool:
    """Whether two words share their beginning: five letters or more, 70 per cent of the longer one."""
    shared = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return one == other or (shared >= 5 and 10 * shared >= 7 * max(len(one), len(other)))


def same_given_name(one: str, other: str) -> bool:
    """Whether two given names can be one person's: equal, initial, nickname or spelled alike."""
    if one == other or (min(len(one), len(other)) == 1 and one[0] == other[0]):
        return True
    if spelled_alike(one, other):
        return True
    return bool(nicknames().get(one, frozenset({one})) & nicknames().get(other, frozenset({other})))


@lru_cache(maxsize=1)
def nicknames() -> dict[str, frozenset[str]]:
    """Give for each given name the first names of the lines of ``nicknames.tsv`` on which it stands."""
    lines = resources.files(__package__).joinpath("nicknames.tsv").read_text(encoding="utf-8").splitlines()
    table: dict[str, frozenset[str]] = {}
    for names in (line.split("\t") for line in lines if line and not line.startswith("#")):
        for name in names:
            table[name] = table.get(name, frozenset()) | {names[0]}
    return table


def same_person(one: Sequence[Item], other: Sequence[Item]) -> bool:
    """Whether two names of two words or more can be one person's.

    The family names must be alike: the last words, or the first where a comma follows it. The given names must agree
    from the first as far as both have them: 'Keeley Hawes' is 'Keeley Clare Julia Hawes', 'H. S. Johnson' is 'Hugh
    Samuel Johnson', 'George W. Bush' is not 'George H. W. Bush'. After the same first name the family name may have one
    slip: 'Ravi Sankar' is 'Ravi Shankar'.
    """
    one, other = _in_order(one), _in_order(other)
    if min(len(one), len(other)) < 2:
        return False
    first, second = _given(one), _given(other)
    return alike(one[-1], other[-1]) and all(map(same_given_name, first, second))


def _in_order(name: Sequence[Item]) -> Sequence[Item]:
    """Put the family name last and leave out 'junior'."""
    name = [item for item in name if item.key not in vocabulary("suffixes")]
    inverted = len(name) > 1 and name[1].gap.strip() == ","
    return [*name[1:], name[0]] if inverted else name


def _given(name: Sequence[Item]) -> list[str]:
    """Given names in order; a run of initials ('jrr') as single letters."""
    given: list[str] = []
    for item in name[:-1]:
        initials = item.form.isupper() and 1 < len(item.text) <= 3 and not name[-1].form.isupper()
        given.extend(item.text if initials else [item.text])
    return given
