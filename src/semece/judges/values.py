"""When two numbers, quantities or dates are the same answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from semece.judges.dates import PRECISIONS, YEAR, Date, contains
from semece.judges.units import UNITS

if TYPE_CHECKING:
    from semece.judges.quantities import Quantity
    from semece.judges.units import Unit

_POUND = UNITS["pound"].factor

CONVERSION = 0.01
"""Relative tolerance after a conversion between units: what people round away."""

HEDGED = 0.02
"""Relative tolerance where one of two numbers is hedged ('about 300') and both are large or measured."""


def same_quantity(one: Quantity, other: Quantity) -> bool:
    """Whether two quantities are one answer.

    A missing unit is supplied by the other; a fraction can be a percentage. In the same unit, one number must be a
    rounding of the other as far as its decimals, its scale word or its hedge go (2.4 and 2.45 billion; 25 and 26
    differ); between units one per cent is allowed. A rank ('the third') is no count ('three seasons').

    Parameters
    ----------
    one, other : Quantity
        What was read in two strings.

    Examples
    --------
    >>> from semece.judges.quantities import read_quantity
    >>> from semece.judges.words import words_of
    >>> texts = ("5 km", "5 kilometres", "3.1 miles", "5", "5 kg")
    >>> first, *others = (read_quantity(words_of(text), 0)[0] for text in texts)
    >>> [same_quantity(first, another) for another in others]
    [True, True, True, False]
    """
    if not _comparable(one.unit, other.unit) or _rank_and_count(one, other):
        return False
    if one.unit and other.unit and one.unit.dimension == other.unit.dimension and one.unit != other.unit:
        pairs = zip(one.ends, other.ends, strict=True)
        return all(abs(a - b) <= CONVERSION * max(abs(a), abs(b)) for a, b in pairs)
    if _same_numbers(one, other, 1.0):
        return True
    shares = [quantity for quantity in (one, other) if quantity.unit and quantity.unit.dimension == "percentage"]
    return len(shares) == 1 and _same_numbers(*((one, other) if shares[0] is one else (other, one)), 0.01)


def _same_numbers(one: Quantity, other: Quantity, factor: float) -> bool:
    ends = zip(one.number[:2], other.number[:2], strict=True)
    place = max(_written_place(one) * factor, _written_place(other))
    hedged = one.hedged or other.hedged
    return all(_close(a * factor, b, place, hedged=hedged) for a, b in ends)


def _comparable(one: Unit | None, other: Unit | None) -> bool:
    """Whether two units measure the same; 'pounds' may be money or mass."""
    if one is None or other is None or one.dimension == other.dimension:
        return True
    return (
        {one.dimension, other.dimension} == {"mass", "sterling"}
        and one.factor in {1.0, _POUND}
        and (other.factor in {1.0, _POUND})
    )


def _rank_and_count(one: Quantity, other: Quantity) -> bool:
    ranks = {"ordinal", "roman"}
    return (one.number.form in ranks and other.counts) or (other.number.form in ranks and one.counts)


def _written_place(quantity: Quantity) -> float:
    """Return the place to which a number is rounded: 0 (exact) for whole numbers that are not hedged or scaled."""
    number = quantity.number
    rounded = number.place < 1 or number.scale >= 1e3 or (quantity.hedged and number.form in {"digits", "word"})
    return number.place if rounded else 0.0


def _close(one: float, other: float, place: float, *, hedged: bool) -> bool:
    difference = abs(one - other)
    largest = max(abs(one), abs(other))
    if difference <= 1e-9 * largest or (
        place and difference <= 0.5 * place * (1 + 1e-9) and difference < 0.1 * largest
    ):
        return True
    return hedged and largest >= 20 and difference <= HEDGED * largest


def within(quantity: Quantity, outer: Quantity) -> bool:
    """Whether a quantity that is no range lies in a range: '11' in '10 to 12'."""
    if not _comparable(quantity.unit, outer.unit) or outer.number.low == outer.number.high:
        return False
    if quantity.number.low != quantity.number.high:
        return False
    if quantity.unit is None or outer.unit is None:
        return outer.number.low <= quantity.number.low and quantity.number.high <= outer.number.high
    low, high = outer.ends
    first, last = quantity.ends
    return low <= first and last <= high


def same_date(one: Date, other: Date) -> bool:
    """Whether two dates are the same interval of days; a year and a day of it are two answers."""
    return one[:2] == other[:2] and one.yearless == other.yearless


def fits(date: Date, reference: Date, *, coarsest: str) -> bool:
    """Whether a date answers where another is the reference.

    It must be the same or lie within it. It may also be coarser, down to the ``coarsest`` precision or, for 'late
    1968', to that of the reference, if the reference lies within it. A day without a year does not answer for a
    day of a year.
    """
    if date.yearless and not reference.yearless:
        return False
    if contains(reference, date):
        return True
    alike = date.precision == reference.precision != "span"
    return (alike or PRECISIONS.index(date.precision) <= PRECISIONS.index(coarsest)) and contains(date, reference)


def is_year(quantity: Quantity, date: Date) -> bool:
    """Whether a bare year and a number without unit are the same digits."""
    return date.bare and quantity.unit is None and quantity.number.low == quantity.number.high == date.low / YEAR
