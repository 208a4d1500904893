"""What kind of value a question asks for, and what it makes of the values of an answer."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from semece.judges.rules.english.regimens import is_dose
from semece.judges.rules.formulas import solved
from semece.judges.rules.seen import read, seen_of
from semece.judges.rules.values.dates import LAST_YEAR, YEAR, Date, century_of, month_of
from semece.judges.rules.values.numbers import Number
from semece.judges.rules.values.quantities import Quantity
from semece.judges.rules.values.units import UNITS, Unit, read_units
from semece.judges.rules.words import numbers, pairs, vocabulary, words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semece.judges.rules.items import Item, Seen
    from semece.judges.rules.words import Word


class Asked(NamedTuple):
    """What a question asks for.

    The unit in which it wants a number, all that it may mean ('how many miles', 'how old', 'in feet'); whether it wants
    a count, and the key of what is counted, ``''`` if that is a unit; whether it wants a number, so that '1000' is no
    year and 'none' is 0; the most or the least (`limit`), so that 'at least 5' is 5; by how much a bare number is
    multiplied, asked how many million; letters or a code (`spelled`), so that words have no plural; whether it is about
    medicines, so that 'IV' is a route; ``century``, ``month`` or ``year`` if it wants one: 'the 16th' is the first.
    """

    units: tuple[Unit, ...]
    counts: bool
    thing: str
    number: bool
    limit: bool
    scale: float
    spelled: bool
    medicine: bool
    part: str


_NOTHING = Asked(
    (), counts=False, thing="", number=False, limit=False, scale=1.0, spelled=False, medicine=False, part=""
)
_WHICH = frozenset({"what", "which"})
_TIMES = frozenset({"century", "month", "year"})
_REACH = 4
"""How many words after a negation what is counted is looked for."""


@lru_cache(maxsize=4096)
def asked_by(question: str) -> Asked:
    """Tell what a question asks for."""
    words = words_of(question)
    texts = [word.text for word in words]
    many = texts.index("many") + 1 if "many" in texts else 0
    how = {after for before, after in pairwise(texts) if before == "how"}
    if many:
        units = _counted_in(words[many : many + 3])
    else:
        units = _measured_in(words) or ((UNITS["year"],) if "old" in how or "age" in texts else ())
    return Asked(
        units,
        counts=bool(many),
        thing=_noun(question) if many and not units else "",
        number=_wants_number(how, set(texts)),
        limit=not vocabulary("limits").isdisjoint(texts),
        scale=numbers("scales").get(texts[many].removesuffix("s"), 1.0) if 0 < many < len(texts) else 1.0,
        spelled=not vocabulary("spelling").isdisjoint(texts),
        medicine=not vocabulary("medication").isdisjoint(texts),
        part=next((after for before, after in pairwise(texts) if before in _WHICH and after in _TIMES), ""),
    )


def _wants_number(how: set[str], texts: set[str]) -> bool:
    """Whether a number is asked for and no time: 'how long ago' and 'in what year' may want a year."""
    if texts & {"since", "ago"}:
        return False
    if "many" in texts or how & vocabulary("measuring"):
        return True
    return bool(texts & vocabulary("measures")) and not texts & vocabulary("times")


def _counted_in(words: Sequence[Word]) -> tuple[Unit, ...]:
    """Find the unit in the words after 'many', before a verb."""
    for place, word in enumerate(words):
        if word.text in vocabulary("auxiliaries"):
            break
        if len(word.text) > 1 and (found := read_units(words, place)) is not None:
            return found[0]
    return ()


def _measured_in(words: Sequence[Word]) -> tuple[Unit, ...]:
    """Find the unit after 'in' with which a question ends."""
    for place, word in enumerate(words[:-1]):
        found = read_units(words, place + 1) if word.text == "in" else None
        if found is not None and place + 1 + found[1] == len(words) and len(words[-1].text) > 1:
            return found[0]
    return ()


def _noun(question: str) -> str:
    """Find what is counted: the word before the first verb or function word after 'many'."""
    noun = ""
    for item in read(question).items:
        if item.text == "many":
            noun = "many"
        elif noun and (item.text in vocabulary("auxiliaries") or item.text in vocabulary("function")):
            break
        elif noun:
            noun = item.key
    return "" if noun == "many" else noun


@lru_cache(maxsize=65536)
def read_answer(text: str, question: str) -> Seen:
    """Read an answer or a reference as what answers a question.

    Examples
    --------
    >>> [read_answer(text, "How many metres is it?").quantities[0].key for text in ("1000", "one thousand", "none")]
    ['#1000 length', '#1000 length', '#0 length']
    """
    reading, asked = read(solved(text)), asked_by(question)
    if asked.spelled:
        return seen_of([item._replace(key=item.text, form=item.text.lower()) for item in reading.items])
    if asked.medicine or is_dose(reading.items):
        reading = _unabbreviated(reading)
    if asked == _NOTHING or not any(item.value is not None or item.text in _denying() for item in reading.items):
        return reading
    items = _zero(reading, asked) if asked.number else reading.items
    values = [place for place, item in enumerate(items) if item.value is not None]
    if not values:
        return reading
    adapted, told = list(items), set[int]()
    for place in values:
        item = items[place]
        adapted[place] = _in_light(items, place, asked, only=len(values) == 1, first=item.sentence not in told)
        if isinstance(item.value, Quantity):
            told.add(item.sentence)
    return seen_of(adapted)


def _unabbreviated(reading: Seen) -> Seen:
    """Read the abbreviations of prescriptions: 'IV', 'PO', 'XR'."""
    table = pairs("dose_abbreviations")
    if table.keys().isdisjoint(item.form for item in reading.items):
        return reading
    return seen_of(
        [item._replace(key=table[item.form], value=None) if item.form in table else item for item in reading.items]
    )


@lru_cache(maxsize=1)
def _denying() -> frozenset[str]:
    return vocabulary("zeros") | vocabulary("negations")


def _in_light(items: Sequence[Item], place: int, asked: Asked, *, only: bool, first: bool) -> Item:
    """Change the value of an item to what the question makes of it; it asks for the first number of a sentence."""
    item = items[place]
    value = item.value
    if isinstance(value, Date):
        if not (asked.number and value.bare and only):
            return item
        year = value.low / YEAR
        value = Quantity(Number(year, year, 1.0, "digits", value.size), None)
    if value is None:
        return item
    found = _dated(items, place, value, asked) or _counted(value, asked, first=first)
    return item if found == item.value else item._replace(key=found.key, value=found)


def _dated(items: Sequence[Item], place: int, value: Quantity, asked: Asked) -> Date | None:
    """Read the ordinal of a century or a month that is asked for."""
    if asked.part == "year":
        return _year_of(value)
    if value.number.form not in {"ordinal", "roman"} or not asked.part:
        return None
    if asked.part == "century":
        return century_of(int(value.number.low), value.number.size)
    named = place + 1 < len(items) and items[place + 1].key == "month"
    return month_of(int(value.number.low), value.number.size) if named else None


def _year_of(value: Quantity) -> Date | None:
    """Take a bare whole number up to 2199 as a year: asked for the year, '336' is 336 after Christ."""
    number = value.number
    bare = value.unit is None and number.form in {"digits", "year"} and number.place == 1 and not value.counts
    if not bare or not 0 < number.low == number.high < LAST_YEAR:
        return None
    year = int(number.low) * YEAR
    return Date(year, year + YEAR - 1, "year", number.size, bare=True)


def _counted(value: Quantity, asked: Asked, *, first: bool) -> Quantity:
    """Supply the unit or the count that is asked for; drop a bound where the most or the least is."""
    number = value.number
    if asked.limit and number.form[0] in "<>":
        end = number.low if number.form[0] == ">" else number.high
        value = value._replace(number=number._replace(low=end, high=end, form="digits"), others=())
    if asked.counts and not asked.units:
        value = next((one for one in value.meanings if one.unit is None), value)
    if value.unit is not None or number.form == "ordinal" or not first:
        return value
    if asked.scale > 1 and number.scale == 1 and 0 < number.low < asked.scale:
        low, high, place = (part * asked.scale for part in number[:3])
        value = value._replace(
            number=number._replace(low=low, high=high, place=place, scale=asked.scale, form="digits")
        )
    if asked.units and not value.counts:
        one, *others = (value._replace(unit=unit, implied=True, others=()) for unit in asked.units)
        return one._replace(others=tuple(others))
    if asked.counts and number.place >= 1:
        form = "digits" if number.form == "roman" else value.number.form
        return value._replace(counts=True, number=value.number._replace(form=form))
    return value


_ZERO = Quantity(Number(0.0, 0.0, 1.0, "word", 1), None)


def _zero(reading: Seen, asked: Asked) -> Sequence[Item]:
    """Read 'none', 'no children' and 'not any children' as 0 where no number comes before them."""
    for place, item in enumerate(reading.items):
        if item.value is not None or item.sentence:
            return reading.items
        if item.text in vocabulary("zeros") or (
            item.text in vocabulary("negations") and _denies(reading.items, place, asked)
        ):
            zero = item._replace(key=_ZERO.key, value=_ZERO)
            return (*reading.items[:place], zero, *reading.items[place + 1 :])
    return reading.items


def _denies(items: Sequence[Item], place: int, asked: Asked) -> bool:
    """Whether what is counted follows a negation: 'no children', 'no known children', 'not have any children'."""
    reach = 2 if items[place].text == "no" else _REACH
    following = [item for item in items[place + 1 : place + 1 + reach] if item.value is None]
    counted = bool(asked.thing) and any(item.key == asked.thing for item in following)
    return counted and (items[place].text == "no" or any(item.text == "any" for item in following))
