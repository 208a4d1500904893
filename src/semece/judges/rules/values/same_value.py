"""When two numbers, quantities or dates are the same answer."""

from __future__ import annotations

from itertools import product
from math import isfinite
from typing import TYPE_CHECKING

from semece.judges.rules.values.dates import FAR_OFF, PRECISIONS, YEAR, Date, contains
from semece.judges.rules.values.times import CLOCK, HALF_DAY
from semece.judges.rules.values.units import is_currency

if TYPE_CHECKING:
    from collections.abc import Iterator

    from semece.judges.rules.values.quantities import Quantity
    from semece.judges.rules.values.units import Unit

COARSEST = 0.05
"""Relative tolerance after a conversion, however coarse a number is written: 3 lb are 1.4 kg, which is not 1 kg."""

ZEROS = 0.02
"""Zeros at the end count as rounded up to a place of this share of the number: 100 miles are 160 km."""

EXACT = 0.002
"""Relative tolerance between a fraction in digits and a decimal number, three digits of it: 1/3 is 0.333, not 0.33."""

HEDGED = 0.02
"""Relative tolerance where one of two numbers is hedged ('about 300') and both are large or measured."""

ROUNDED = 0.05
"""How much of a measured value a whole number may round away: 78.08 per cent are 78 per cent, 1.4 are not 1."""

FAR = 1.2
"""How many times a lower bound an answer may be: 'more than 80' are 80 to 96."""


def same_quantity(one: Quantity, other: Quantity) -> bool:
    """Whether two quantities are one answer.

    A missing unit is supplied by the other, unless things are counted; a fraction can be a percentage. In the same
    unit, one number must be a rounding of the other as far as its decimals, its scale word or its hedge go (2.4 and
    2.45 billion; 25 and 26 differ); a measured whole number may be the rounding of one with decimals (78 and 78.08 per
    cent). Between units the coarser of the two precisions counts, at most five per cent. A rank ('the third') is no
    count ('three seasons'), a bound ('more than 8') no number. Of several meanings ('pounds') one must fit.
    """
    return any(_agree(fine, coarse, either=True) for fine, coarse in _readings(one, other))


def answers_quantity(given: Quantity, wanted: Quantity) -> bool:
    """Whether a quantity answers where another is the reference: as precise as it, more precise, or in its range."""
    agree = any(_agree(fine, coarse, either=False) for fine, coarse in _readings(given, wanted))
    return agree or within(given, wanted)


def measures(value: Quantity | Date, unit: Unit | None) -> bool:
    """Whether a value may be in a unit: it has none itself, or one of the same dimension."""
    if unit is None or isinstance(value, Date):
        return True
    return any(one.unit is None or one.unit.dimension == unit.dimension for one in value.meanings)


def _readings(one: Quantity, other: Quantity) -> Iterator[tuple[Quantity, Quantity]]:
    """Pair what two quantities may mean.

    A word means the same in both: 52 and 62 gallons are not American and British ones. A unit that is only implied, and
    has several meanings, is never converted.
    """
    units = [[meaning.unit for meaning in quantity.meanings] for quantity in (one, other)]
    if units[0] == units[1]:
        yield from zip(one.meanings, other.meanings, strict=True)
        return
    vague = (one.implied and bool(one.others)) or (other.implied and bool(other.others))
    for first, second in product(one.meanings, other.meanings):
        if not vague or first.unit == second.unit or None in {first.unit, second.unit}:
            yield first, second


def _agree(fine: Quantity, coarse: Quantity, *, either: bool) -> bool:
    one, other = fine.unit, coarse.unit
    if _signs(fine) != _signs(coarse):
        fine, coarse = _rough(fine), _rough(coarse)
    counted = (coarse.counts and fine.number.form in _RANKS) or (fine.counts and coarse.number.form in _RANKS)
    if _signs(fine) != _signs(coarse) or counted:
        return False
    if one is None or other is None:
        return _supplied(fine, coarse) if one is not other else _same_numbers(fine, coarse, 1.0)
    if one != other:
        return one.dimension == other.dimension and (_converted(fine, coarse) or _converted(coarse, fine))
    return _same_numbers(fine, coarse, 1.0) or _rounds(fine, coarse) or (either and _rounds(coarse, fine))


def _rough(quantity: Quantity) -> Quantity:
    """Take a bound on a large round number as the number: 'more than 2 million' are about as many."""
    number = quantity.number
    end = number.low if isfinite(number.low) else number.high
    if not _signs(quantity) or not isfinite(end) or abs(end) < LARGE or float(f"{end:.1e}") != end:
        return quantity
    return quantity._replace(number=number._replace(low=end, high=end, form="digits"), hedged=True)


LARGE = 1000.0
"""From here on a bound on a number of at most two digits and zeros says about how many there are."""


def _signs(quantity: Quantity) -> str:
    return quantity.number.form if quantity.number.form[0] in "<>" else ""


def _converted(fine: Quantity, coarse: Quantity) -> bool:
    if fine.unit is None or coarse.unit is None:
        return False
    place = max(_tolerance(fine), _tolerance(coarse))
    return all(
        abs(one - other) <= max(min(place, COARSEST * max(abs(one), abs(other))), 1e-9 * abs(one))
        for one, other in zip(fine.ends, coarse.ends, strict=True)
    )


def _tolerance(quantity: Quantity) -> float:
    place, value = quantity.number.place, abs(quantity.number.high)
    while place >= 1 and isfinite(value) and value and value % (10 * place) == 0 and 10 * place <= ZEROS * value:
        place *= 10
    return 0.5 * place * (quantity.unit.factor if quantity.unit else 1.0) * (1 + 1e-9)


def _supplied(one: Quantity, other: Quantity) -> bool:
    """Whether a number is a quantity without its unit; of a percentage, it may be the fraction."""
    bare, full = (one, other) if one.unit is None else (other, one)
    if full.unit is None or bare.counts:
        return False
    if full.unit == CLOCK:
        hour = bare.number.low * 60
        return hour == bare.number.high * 60 and hour % HALF_DAY == full.number.low % HALF_DAY and hour <= 1440
    if _same_numbers(one, other, 1.0):
        return True
    return full.unit.dimension == "percentage" and _same_numbers(full, bare, 0.01)


def _same_numbers(one: Quantity, other: Quantity, factor: float) -> bool:
    if (one.number.low, one.number.high) == (other.number.low, other.number.high) and factor == 1:
        return True
    hedged = one.hedged or other.hedged
    exact = one.unit is other.unit is None and one.number.form == other.number.form == "digits" and not hedged
    if exact and 0.0 in {one.number.place, other.number.place}:
        low, high = sorted((one.number.low * factor, other.number.low))
        return high - low <= EXACT * abs(high) and one.number.low == one.number.high
    ends = zip(one.number[:2], other.number[:2], strict=True)
    place = max(_written_place(one) * factor, _written_place(other))
    return all(_close(a * factor, b, place, hedged=hedged) for a, b in ends)


def _rounds(fine: Quantity, coarse: Quantity) -> bool:
    if fine.number.place >= 1 or fine.number.form != "digits" or coarse.number.place != 1:
        return False
    share = coarse.unit is not None and coarse.unit.dimension == "percentage"
    if fine.unit is not None and (is_currency(fine.unit) or (share and coarse.number.low in {0.0, 100.0})):
        return False
    ends = zip(fine.number[:2], coarse.number[:2], strict=True)
    return all(a == b or abs(a - b) <= min(0.5, ROUNDED * abs(b)) for a, b in ends)


_RANKS = frozenset({"ordinal", "roman"})


def _written_place(quantity: Quantity) -> float:
    number = quantity.number
    rounded = number.place < 1 or number.scale >= 1e3 or (quantity.hedged and number.form in {"digits", "word"})
    return number.place if rounded else 0.0


def _close(one: float, other: float, place: float, *, hedged: bool) -> bool:
    if one == other:
        return True
    difference = abs(one - other)
    largest = max(abs(one), abs(other))
    if difference <= 1e-9 * largest or (
        place and difference <= 0.5 * place * (1 + 1e-9) and difference < 0.1 * largest
    ):
        return True
    return hedged and largest >= 20 and difference <= HEDGED * largest


def within(quantity: Quantity, outer: Quantity) -> bool:
    """Whether a quantity lies in a range ('11' in '10 to 12') or not too far beyond a bound ('89' of 'more than 80').

    A bound that goes as far in the same direction does, too ('more than 1,100' for 'more than 1,000').
    """
    if outer.number.low == outer.number.high:
        return False
    return any(_within(one, other) for one in quantity.meanings for other in outer.meanings)


def _within(quantity: Quantity, outer: Quantity) -> bool:
    if quantity.unit is not None and outer.unit is not None and quantity.unit.dimension != outer.unit.dimension:
        return False
    ends = quantity.ends if quantity.unit and outer.unit else quantity.number[:2]
    low, high = outer.ends if quantity.unit and outer.unit else outer.number[:2]
    point = ends[0] if isfinite(ends[0]) else ends[1]
    if ends[0] != ends[1] and (not _signs(quantity) or _signs(quantity) != _signs(outer)):
        return False
    if not isfinite(high):
        high = FAR * low
    return low <= point <= high


def same_date(one: Date, other: Date) -> bool:
    """Whether two dates are the same interval of days; a year and a day of it are two answers.

    The 1800s and the 19th century are one, though the century has a year more; so are their parts.
    """
    if one.yearless != other.yearless:
        return False
    if one.precision == other.precision == "century":
        return abs(one.low - other.low) < YEAR and abs(one.high - other.high) <= YEAR
    return one.low == other.low and one.high == other.high


def fits(date: Date, reference: Date, *, coarsest: str) -> bool:
    """Whether a date answers where another is the reference.

    It must be the same or lie within it. It may also be coarser, down to the ``coarsest`` precision or, for 'late
    1968', to that of the reference, if the reference lies within it. A day without a year does not answer for a
    day of a year.
    """
    if date.yearless and not reference.yearless:
        return False
    if date.precision == reference.precision == "span":
        return contains(reference, date) and contains(date, reference)
    if contains(reference, date):
        return True
    if date.low == -FAR_OFF and date.precision != "span":
        return date.high // YEAR == reference.high // YEAR
    alike = date.precision == reference.precision != "span"
    return (alike or PRECISIONS.index(date.precision) <= PRECISIONS.index(coarsest)) and contains(date, reference)


def is_year(quantity: Quantity, date: Date) -> bool:
    """Whether a bare year and a number without unit are the same digits."""
    return date.bare and any(
        one.unit is None and one.number.low == one.number.high == date.low / YEAR for one in quantity.meanings
    )
