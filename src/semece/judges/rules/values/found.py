"""The one door to values: the dates and quantities of a text, each where it begins."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from semece.judges.rules.values.dates import DATE_WORDS, Date, read_date
from semece.judges.rules.values.inequalities import bound_words
from semece.judges.rules.values.numbers import is_number_word
from semece.judges.rules.values.prices import PRICE_WORDS
from semece.judges.rules.values.quantities import NUMBERING, Quantity, read_quantity
from semece.judges.rules.values.times import CLOCK_WORDS, FREQUENCY_WORDS
from semece.judges.rules.values.units import ARTICLED, CODES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semece.judges.rules.words import Word


class FoundValue(NamedTuple):
    """A value of a text, and how many words it takes."""

    value: Quantity | Date
    size: int


def read_values(words: Sequence[Word]) -> dict[int, FoundValue]:
    """Read every value of a text: numbers, quantities, prices, times and dates.

    A quantity with a unit comes before a date, a date before a bare number; the longest reading wins.

    Examples
    --------
    >>> from semece.judges.rules.words import words_of
    >>> {place: found.value.key for place, found in read_values(words_of("2 miles on 4 July")).items()}
    {0: '#3218.69 length', 3: '@189:189y'}
    """
    found: dict[int, FoundValue] = {}
    place = 0
    while place < len(words):
        value = _read(words, place) if _may_begin(words[place]) else None
        if value is not None:
            found[place] = value
        place += value.size if value else 1
    return found


def _read(words: Sequence[Word], place: int) -> FoundValue | None:
    quantity = read_quantity(words, place)
    date = read_date(words, place) if quantity is None or quantity[0].unit is None else None
    if date is not None:
        return FoundValue(date, date.size)
    return FoundValue(*quantity) if quantity is not None else None


def _may_begin(word: Word) -> bool:
    return word.text in _beginnings() or word.form in FREQUENCY_WORDS or is_number_word(word.text) or word.form in CODES


@lru_cache(maxsize=1)
def _beginnings() -> frozenset[str]:
    return DATE_WORDS | ARTICLED | CLOCK_WORDS | NUMBERING | PRICE_WORDS | FREQUENCY_WORDS | bound_words()
