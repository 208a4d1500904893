"""Prices: numbers after the mark or the code of a currency."""

from __future__ import annotations

from typing import TYPE_CHECKING

from semece.judges.rules.values.numbers import in_millions, read_number
from semece.judges.rules.values.units import CODES, CURRENCIES, UNITS, Unit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semece.judges.rules.values.numbers import Number
    from semece.judges.rules.words import Word

PRICE_WORDS = CURRENCIES | {"us", "c", "ca", "can", "a", "au", "nz", "hk", "s", "nt", "r"}
"""Marks of currencies, and the letters before one ('US$'); a code can begin a price, too."""


def read_price(words: Sequence[Word], start: int) -> tuple[Number, Unit, int] | None:
    """Read a number after the mark or the code of a currency: '$5', 'C$5', 'EUR 5', '$5-$10'."""
    if not _begins(words[start]):
        return None
    marked = _currency(words, start)
    number = read_number(words, start + marked[1]) if marked and start + marked[1] < len(words) else None
    if marked is None or number is None or number.form in {"ordinal", "roman"}:
        return None
    unit, size = marked[0], marked[1] + number.size
    if _is_debt(words, start, start + marked[1]):
        number = number._replace(low=-number.low, high=-number.high)
    if number.scale == 1 and start + size < len(words) and words[start + size].form == "m":
        number, size = in_millions(number), size + 1
    return _to(words, start, number, unit, size)


def _is_debt(words: Sequence[Word], start: int, place: int) -> bool:
    """Whether a minus stands before the mark of a currency, or between it and the number: '-$5', '$-5'."""
    before = words[start].gap
    led = before[-1:] == "-" and (start == 0 or before[0] in " (")
    return led or (place > start and words[place].gap == "-" and words[start].text in CURRENCIES)


def _begins(word: Word) -> bool:
    return word.text in PRICE_WORDS or word.form in CODES


def _currency(words: Sequence[Word], start: int) -> tuple[Unit, int] | None:
    word = words[start]
    if word.form in CODES:
        return CODES[word.form], 1
    if word.text in CURRENCIES:
        return UNITS[word.text], 1
    following = words[start + 1] if start + 1 < len(words) else None
    spelling = f"{word.form}{following.text}" if following is not None and following.gap == "" else ""
    return (UNITS[spelling], 2) if spelling.endswith("$") and spelling in UNITS else None


def _to(words: Sequence[Word], start: int, number: Number, unit: Unit, size: int) -> tuple[Number, Unit, int]:
    """Read the end of a range whose ends have a mark each: '$5 to $10'."""
    place = start + size
    place += place < len(words) and words[place].text == "to"
    dashed = place < len(words) and words[place].gap.strip() == "-"
    if place + 1 >= len(words) or not (dashed or place > start + size) or not _begins(words[place]):
        return number, unit, size
    second = read_price(words, place)
    if second is None or second[1] != unit or second[0].high <= number.low:
        return number, unit, size
    scale = second[0].scale if number.scale == 1 and number.low < 1000 and second[0].scale > 1 else 1.0
    whole = number._replace(low=number.low * scale, high=second[0].high, scale=second[0].scale)
    return whole, unit, place - start + second[2]
