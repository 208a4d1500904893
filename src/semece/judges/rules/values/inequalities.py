"""Words and signs that make a number a bound: 'more than 8', 'at least 8', '>8', '8 or more'."""

from __future__ import annotations

from functools import lru_cache
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from semece.judges.rules.words import phrases

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semece.judges.rules.values.numbers import Number
    from semece.judges.rules.words import Word

_SIGNS = {">": ">", "<": "<", ">=": ">=", "<=": "<=", "≥": ">=", "≤": "<=", "⩾": ">=", "⩽": "<="}


class Bound(NamedTuple):
    """A bound: its sign, ``>``, ``>=``, ``<`` or ``<=``, and how many words it takes."""

    sign: str
    size: int


@lru_cache(maxsize=2)
def _by_first(name: str) -> dict[str, list[tuple[tuple[str, ...], str]]]:
    table: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for sign, *words in map(str.split, phrases(name)):
        table.setdefault(words[0], []).append((tuple(words), sign))
    return table


def bound_words() -> frozenset[str]:
    """Collect the words with which a bound can begin."""
    return frozenset(_by_first("bounds"))


def read_bound(words: Sequence[Word], start: int) -> Bound | None:
    """Read the words of a bound, or the sign in front of a number, which takes no word."""
    gap = words[start].gap
    if gap and (sign := _SIGNS.get(gap.strip(" (~"))):
        return Bound(sign, 0)
    return _match("bounds", words, start)


def bound_after(words: Sequence[Word], start: int) -> Bound | None:
    """Read the words of a bound that follow a quantity: 'or more', '+'."""
    return _match("bounds_after", words, start) if start < len(words) else None


def _match(name: str, words: Sequence[Word], start: int) -> Bound | None:
    for wanted, sign in _by_first(name).get(words[start].text, ()):
        here = words[start : start + len(wanted)]
        if tuple(word.text for word in here) == wanted and all(word.gap in {"", " "} for word in here[1:]):
            return Bound(sign, len(wanted))
    return None


def bounded(number: Number, sign: str) -> Number:
    """Return the numbers above or below a bound; its form is the sign."""
    return number._replace(high=inf, form=sign) if sign[0] == ">" else number._replace(low=-inf, form=sign)
