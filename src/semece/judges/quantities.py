"""Quantities: numbers with the unit they are given in."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from semece.judges.numbers import Number, read_number
from semece.judges.units import CURRENCIES, UNITS, Unit, read_unit
from semece.judges.words import Word, stem, vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence


class Quantity(NamedTuple):
    """A number with what is counted or measured.

    Parameters
    ----------
    number : Number
        The number or range.
    unit : Unit or None
        Its unit; None if there is none that is known.
    counts : bool
        Whether a plural noun follows: 'four seasons'.
    hedged : bool
        Whether a word such as 'about' stands before it.
    """

    number: Number
    unit: Unit | None
    counts: bool = False
    hedged: bool = False

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends in the base unit of the dimension."""
        factor, offset = (self.unit.factor, self.unit.offset) if self.unit else (1.0, 0.0)
        return self.number.low * factor + offset, self.number.high * factor + offset

    @property
    def key(self) -> str:
        """A string that equal quantities share."""
        low, high = self.ends
        value = f"{low:.6g}" if low == high else f"{low:.6g}:{high:.6g}"
        return f"#{value} {self.unit.dimension}" if self.unit else f"#{value}"


def read_quantity(words: Sequence[Word], start: int) -> tuple[Quantity, int] | None:
    """Read the quantity that begins at a word, and how many words it takes.

    Examples
    --------
    >>> from semece.judges.words import words_of
    >>> quantity, size = read_quantity(words_of("2 hours 30 minutes"), 0)
    >>> quantity.ends, quantity.unit.dimension, size
    ((9000.0, 9000.0), 'time', 4)
    """
    if (priced := _read_price(words, start)) is not None:
        return priced
    number = read_number(words, start)
    if number is None or _is_pronoun(words, start):
        return None
    end = start + number.size
    hedged = _hedged(words, start)
    unit = read_unit(words, end) if number.form not in {"ordinal", "roman"} else None
    if unit is not None:
        return _compound(words, end + unit[1], Quantity(number, unit[0], hedged=hedged), number.size + unit[1])
    counts = end < len(words) and words[end].text.isalpha() and stem(words[end].text) != words[end].text
    return Quantity(number, None, counts, hedged), number.size


def _read_price(words: Sequence[Word], start: int) -> tuple[Quantity, int] | None:
    """Read a number after a currency mark: '$5', 'US$5'."""
    mark = start + (words[start].text == "us")
    if mark + 1 >= len(words) or words[mark].text not in CURRENCIES:
        return None
    number, unit = read_number(words, mark + 1), read_unit(words, mark)
    if number is None or unit is None:
        return None
    return Quantity(number, unit[0], hedged=_hedged(words, start)), mark + 1 - start + number.size


def _compound(words: Sequence[Word], start: int, quantity: Quantity, size: int) -> tuple[Quantity, int]:
    """Add a smaller unit of the same dimension that follows: '2 hours 30 minutes', '6 feet and 2 inches'."""
    joint = start + (start < len(words) and words[start].text == "and")
    number = read_number(words, joint) if joint < len(words) else None
    unit = (read_unit(words, joint + number.size) or _inches(words, joint + number.size)) if number else None
    if number is None or unit is None or quantity.unit is None or unit[0].dimension != quantity.unit.dimension:
        return quantity, size
    ratio = unit[0].factor / quantity.unit.factor
    if ratio >= 1 or number.high * ratio >= 1 or quantity.number.low != quantity.number.high:
        return quantity, size
    value = quantity.number.low + number.low * ratio
    whole = quantity.number._replace(low=value, high=value, place=number.place * ratio)
    return quantity._replace(number=whole), size + joint - start + number.size + unit[1]


def _inches(words: Sequence[Word], start: int) -> tuple[Unit, int] | None:
    """Read 'in' as inches, which it is only after feet."""
    return (UNITS["inches"], 1) if start < len(words) and words[start].text == "in" else None


def _is_pronoun(words: Sequence[Word], start: int) -> bool:
    """Whether 'one' counts nothing: 'one of them', 'no one', 'one another'."""
    if words[start].text != "one":
        return False
    before = words[start - 1].text if start else ""
    after = words[start + 1].text if start + 1 < len(words) else ""
    return after in {"of", "another", "who", "that"} or before in {"no", "any", "every", "some", "the", "this"}


def _hedged(words: Sequence[Word], start: int) -> bool:
    return start > 0 and words[start - 1].text in vocabulary("hedges")
