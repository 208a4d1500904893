"""Quantities: numbers with the unit they are given in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from semece.judges.rules.values.inequalities import bound_after, bounded, read_bound
from semece.judges.rules.values.numbers import Number, and_part, in_millions, is_number_word, read_number
from semece.judges.rules.values.prices import read_price
from semece.judges.rules.values.times import CLOCK, OFTEN, read_clock, read_frequency
from semece.judges.rules.values.units import ARTICLED, UNITS, Unit, is_currency, read_units
from semece.judges.rules.words import stem, vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semece.judges.rules.words import Word


class Quantity(NamedTuple):
    """A number with what is counted or measured.

    The number or range; its unit, None if there is none that is known; whether a plural noun follows ('four seasons');
    whether a word such as 'about' stands before it; whether its unit is not written but asked for; what else it may
    mean: '1.5m' metres or million, 'pounds' of mass or money, '3:30' at night or in the afternoon.
    """

    number: Number
    unit: Unit | None
    counts: bool = False
    hedged: bool = False
    implied: bool = False
    others: tuple[Quantity, ...] = ()

    @property
    def meanings(self) -> tuple[Quantity, ...]:
        """All that it may mean, the usual one first."""
        return (self, *self.others)

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
        sign = self.number.form if self.number.form[0] in "<>" else ""
        return f"#{sign}{value} {self.unit.dimension}" if self.unit else f"#{sign}{value}"


NUMBERING = vocabulary("numbering")
_HALF_PAST = re.compile(r"^h([0-5]?\d)m?$")


def read_quantity(words: Sequence[Word], start: int) -> tuple[Quantity, int] | None:
    """Read the quantity that begins at a word, and how many words it takes."""
    bound = read_bound(words, start)
    place = start + (bound.size if bound else 0)
    while bound and bound.size and place < len(words) and words[place].text in vocabulary("fillers"):
        place += 1
    found = _read(words, place) if place < len(words) else None
    if found is None:
        return None
    quantity, end = found[0], place + found[1]
    if bound is None and (bound := bound_after(words, end)) is not None:
        end += bound.size
    if bound is not None and quantity.number.form not in {"ordinal", "roman"}:
        quantity = _bounded(quantity, bound.sign)
    return quantity, end - start


def _bounded(quantity: Quantity, sign: str) -> Quantity:
    others = tuple(_bounded(other, sign) for other in quantity.others)
    return quantity._replace(number=bounded(quantity.number, sign), others=others)


def _read(words: Sequence[Word], start: int) -> tuple[Quantity, int] | None:
    if words[start].text in NUMBERING:
        return _ranked(words, start)
    if (time := read_clock(words, start)) is not None:
        quantities = [Quantity(Number(minute, minute, 1.0, "digits", time[1]), CLOCK) for minute in time[0]]
        return quantities[0]._replace(others=tuple(quantities[1:])), time[1]
    if (often := read_frequency(words, start)) is not None:
        return Quantity(often[0], OFTEN), often[1]
    if (price := read_price(words, start)) is not None:
        return Quantity(price[0], price[1], hedged=_hedged(words, start)), price[2]
    one, number = _articled(words, start), None if _is_pronoun(words, start) else read_number(words, start)
    if one is not None or number is None:
        return one
    return _measured(words, start, _ratio(words, start, number) or number)


def _ranked(words: Sequence[Word], start: int) -> tuple[Quantity, int] | None:
    """Read 'No. 5', 'number five': a rank."""
    joined = start + 1 < len(words) and words[start + 1].gap in {" ", ". ", "."}
    number = read_number(words, start + 1) if joined else None
    digits = number is not None and words[start + 1].text[0].isdecimal()
    if number is None or number.low != number.high or not (digits or words[start].text == "number"):
        return None
    return Quantity(number._replace(form="ordinal"), None), number.size + 1


def _articled(words: Sequence[Word], start: int) -> tuple[Quantity, int] | None:
    """Read 'hour' after an article as one hour, unless it says how often ('twice an hour') or begins a name."""
    word = words[start]
    if word.text not in ARTICLED or start == 0 or words[start - 1].text not in {"a", "an"} or not word.form.islower():
        return None
    if start > 1 and words[start - 1].gap == " " and _says_how_often(words[max(0, start - 3) : start - 1]):
        return None
    units = read_units(words, start)
    if units is None or not _ends_phrase(words, start + units[1]):
        return None
    number = Number(1.0, 1.0, 1.0, "word", 0)
    hedged = start > 1 and words[start - 2].text in vocabulary("hedges")
    return _with_unit(words, start, number, units, hedged=hedged)


def _says_how_often(before: Sequence[Word]) -> bool:
    """Whether a rate begins: 'twice (an hour)', '60 miles (an hour)', 'an apple (a day)'."""
    last = before[-1].text
    often = last in {"times", "once", "twice", "%"} or last in UNITS or is_number_word(last)
    return often or (len(before) == 2 and before[0].text in {"a", "an"})


def _ends_phrase(words: Sequence[Word], place: int) -> bool:
    """Whether no noun follows: 'an hour', 'a day long', but not 'a day trip'."""
    if place >= len(words):
        return True
    word = words[place]
    function = word.text in vocabulary("function") or word.text in vocabulary("later")
    return bool(word.gap.strip()) or function or is_number_word(word.text)


def _ratio(words: Sequence[Word], start: int, number: Number) -> Number | None:
    """Read 'one in five', '9 out of 10' as a share."""
    place = start + number.size
    following = [word.text for word in words[place : place + 2]]
    skipped = 2 if following == ["out", "of"] else 1 if following[:1] == ["in"] else 0
    skipped += len(following) == 2 and skipped == 1 and following[1] in {"a", "an", "every"}
    second = read_number(words, place + skipped) if skipped and place + skipped < len(words) else None
    if second is None or second.low != second.high or number.low != number.high:
        return None
    if {number.form, second.form} & {"ordinal", "year", "roman"} or not 0 < number.low < second.low:
        return None
    end = place + skipped + second.size
    if following[0] == "in" and (second.place != 1 or read_units(words, end)):
        return None
    share = number.low / second.low
    return Number(share, share, 0.0, "digits", number.size + skipped + second.size)


def _measured(words: Sequence[Word], start: int, number: Number) -> tuple[Quantity, int]:
    """Read the unit after a number, or what it counts."""
    end = start + number.size
    hedged = _hedged(words, start)
    if end < len(words) and number.low == number.high and (past := _HALF_PAST.match(words[end].text)):
        minutes = number.low * 60 + int(past[1])
        whole = number._replace(low=minutes, high=minutes)
        return Quantity(whole, UNITS["minute"], hedged=hedged), number.size + 1
    if number.form not in {"ordinal", "roman"} and (units := _unit_after(words, end, number)):
        return _with_unit(words, start, number, units, hedged=hedged)
    named = start > 0 and words[start - 1].text in vocabulary("classifiers")
    counts = not named and end < len(words) and words[end].gap in {" ", "-"} and _is_plural(words[end].text)
    quantity = Quantity(number, None, counts, hedged)
    return quantity._replace(others=_glued(words, start, quantity)), number.size


def _is_plural(text: str) -> bool:
    return text.isalpha() and stem(text) != text


def _unit_after(words: Sequence[Word], end: int, number: Number) -> tuple[tuple[Unit, ...], int] | None:
    """Read a unit after a number: 'km', 'an hour' after 'half', 'in' for inches where nothing follows."""
    if end >= len(words) or words[end].gap.strip() not in {"", "-"}:
        return None
    if words[end].text == "in" and number.form != "year" and (end + 1 == len(words) or words[end + 1].gap.strip(" -")):
        return (UNITS["inch"],), 1
    decade = words[end].text == "s" and words[end].gap == "" and number.low % 10 == 0
    if decade and (number.low < 100 or number.low >= 1000):
        return None
    units = read_units(words, end)
    if units is None and number.place == 0 and number.low < 1:
        skipped = end + (words[end].text == "of")
        if skipped < len(words) and words[skipped].text in {"a", "an"}:
            units = read_units(words, skipped + 1) if skipped + 1 < len(words) else None
            return (units[0], units[1] + skipped + 1 - end) if units else None
    return units


def _with_unit(
    words: Sequence[Word], start: int, number: Number, units: tuple[tuple[Unit, ...], int], *, hedged: bool
) -> tuple[Quantity, int]:
    """Put number and unit together, with what follows: a smaller unit, 'and a half', the end of a range, cents."""
    size = number.size + units[1]
    million = start + number.size
    currency = read_units(words, million + 1) if words[million].form == "m" and million + 1 < len(words) else None
    if currency is not None and is_currency(currency[0][0]):
        return Quantity(in_millions(number), currency[0][0]), number.size + 1 + currency[1]
    quantity = Quantity(number, units[0][0], hedged=hedged)
    following = [word.text for word in words[start + size : start + size + 3]]
    if (part := and_part(following)) and number.low == number.high:
        value = number.low + part[0]
        whole = number._replace(low=value, high=value, place=0.0)
        quantity, size = quantity._replace(number=whole), size + part[1]
    else:
        quantity, size = _compound(words, start, quantity, size)
        quantity, size = _to(words, start, quantity, size)
        quantity, size = _with_cents(words, start, quantity, size)
    others = tuple(quantity._replace(unit=unit) for unit in units[0][1:])
    return quantity._replace(others=others + _glued(words, start, quantity)), size


def _glued(words: Sequence[Word], start: int, quantity: Quantity) -> tuple[Quantity, ...]:
    """List what a letter after the digits may mean, too: '1.5m' is a million and a half, '273K' are kelvins."""
    number = quantity.number
    end = start + number.size
    if quantity.unit and end < len(words) and words[end].form == "m" and quantity.unit == UNITS["m"]:
        return (Quantity(in_millions(number), None, hedged=quantity.hedged),)
    if quantity.unit is None and number.scale == 1e3 and words[end - 1].form == "K":
        kelvin = Number(number.low / 1e3, number.high / 1e3, number.place / 1e3, "digits", number.size)
        return (Quantity(kelvin, UNITS["kelvin"], hedged=quantity.hedged),)
    return ()


def _compound(words: Sequence[Word], start: int, quantity: Quantity, size: int) -> tuple[Quantity, int]:
    """Add a smaller unit of the same dimension that follows: '2 hours 30 minutes', '6 feet and 2 inches'."""
    joint = start + size + (start + size < len(words) and words[start + size].text == "and")
    near = joint < len(words) and words[joint].gap.strip() in {"", ",", "-"}
    number = read_number(words, joint) if near else None
    unit = _smaller(words, joint + number.size, quantity) if number else None
    if number is None or unit is None or quantity.unit is None:
        return quantity, size
    ratio = unit[0].factor / quantity.unit.factor
    if ratio >= 1 or number.high * ratio >= 1 or quantity.number.low != quantity.number.high:
        return quantity, size
    value = quantity.number.low + number.low * ratio
    whole = quantity.number._replace(low=value, high=value, place=number.place * ratio, form="sum")
    return quantity._replace(number=whole), joint - start + number.size + unit[1]


def _smaller(words: Sequence[Word], place: int, quantity: Quantity) -> tuple[Unit, int] | None:
    """Read a unit of the dimension of a quantity; after feet 'in' are inches, and so is a number without a unit."""
    if quantity.unit == UNITS["foot"] and (place == len(words) or words[place].gap.strip()):
        return UNITS["inch"], 0
    if place < len(words) and words[place].text == "in":
        return (UNITS["inch"], 1) if quantity.unit and quantity.unit.dimension == "length" else None
    units = read_units(words, place)
    if units is None or quantity.unit is None:
        return None
    return next(((unit, units[1]) for unit in units[0] if unit.dimension == quantity.unit.dimension), None)


def _to(words: Sequence[Word], start: int, quantity: Quantity, size: int) -> tuple[Quantity, int]:
    """Read the end of a range whose ends have a unit each: '70% to 75%'."""
    place, unit = start + size, quantity.unit
    if place + 1 >= len(words) or unit is None or quantity.number.low != quantity.number.high:
        return quantity, size
    between = start > 0 and words[start - 1].text == "between"
    if words[place].text in {"to", "through", *(("and",) if between else ())}:
        place += 1
    elif words[place].gap.strip() != "-":
        return quantity, size
    number = read_number(words, place)
    second = _smaller(words, place + number.size, quantity) if number else None
    if number is None or second is None or number.low * second[0].factor <= quantity.number.low * unit.factor:
        return quantity, size
    high = (number.high * second[0].factor + second[0].offset - unit.offset) / unit.factor
    whole = quantity.number._replace(high=high)
    return quantity._replace(number=whole), place - start + number.size + second[1]


def _is_pronoun(words: Sequence[Word], start: int) -> bool:
    """Whether 'one' counts nothing: 'one of them', 'no one', 'one another'."""
    before = words[start - 1].text if start else ""
    after = words[start + 1].text if start + 1 < len(words) else ""
    other = after in {"of", "another", "who", "that"} or before in {"no", "any", "every", "some", "the", "this"}
    return words[start].text == "one" and other


def _hedged(words: Sequence[Word], start: int) -> bool:
    return start > 0 and words[start - 1].text in vocabulary("hedges")


def _with_cents(words: Sequence[Word], start: int, quantity: Quantity, size: int) -> tuple[Quantity, int]:
    """Add the hundredths that follow a currency without a name: 'two pounds fifty'."""
    place = start + size
    if quantity.unit is None or not is_currency(quantity.unit, with_pound=True) or place >= len(words):
        return quantity, size
    number = read_number(words, place) if words[place].gap == " " else None
    if number is None or number.place != 1 or not 1 <= number.low < 100 or number.form not in {"word", "digits"}:
        return quantity, size
    end = place + number.size
    if end < len(words) and not words[end].gap.strip():
        return quantity, size
    value = quantity.number.low + number.low / 100
    whole = quantity.number._replace(low=value, high=value, place=0.01)
    return quantity._replace(number=whole), size + number.size
