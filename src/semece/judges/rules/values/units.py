"""Units of measurement and currencies, converted to the base unit of what they measure."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple

from semece.judges.rules.words import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from semece.judges.rules.words import Word


class Unit(NamedTuple):
    """A unit of measurement: ``value * factor + offset`` is the value in the base unit of its ``dimension``.

    A dimension is a currency or powers of base quantities in alphabetical order: ``length mass time^-2``.
    """

    dimension: str
    factor: float
    offset: float = 0.0


_PREFIXES = {
    "p": ("pico", 1e-12), "n": ("nano", 1e-9), "micro": ("micro", 1e-6), "u": ("micro", 1e-6), "m": ("milli", 1e-3),
    "c": ("centi", 1e-2), "d": ("deci", 0.1), "h": ("hecto", 100.0), "k": ("kilo", 1e3), "M": ("mega", 1e6),
    "G": ("giga", 1e9), "T": ("tera", 1e12),
}  # fmt: skip
_LOOSE = frozenset({"hz", "kw", "mw", "gw", "kj", "mj", "kv", "tb", "db", "ev", "au", "kn", "wh", "pa"})
"""Symbols of two letters that are read in lower case, too, as are all longer ones."""

_NEVER = frozenset({"pcs", "aus", "mis", "gals"})
"""Words that are no plurals of symbols."""

_PLURALS = frozenset({"length", "mass", "time", "length^3", "data"})
"""What symbols measure that are written with an s, too: 'kms'."""

_POWERS = {"square": 2, "sq": 2, "cubic": 3, "cu": 3}
_RAISED = {"squared": 2, "cubed": 3}


def _rows() -> Iterator[tuple[Unit, list[str], list[str], list[str]]]:
    for line in resources.files(__package__).joinpath("units.tsv").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            dimension, value, prefixes, names, symbols = line.split("\t")
            unit = Unit(dimension, *map(float, value.split()))
            yield unit, _listed(prefixes, " "), _listed(names, "; "), _listed(symbols, " ")


def _listed(cell: str, mark: str) -> list[str]:
    return [] if cell == "-" else cell.split(mark)


def _forms(name: str) -> Iterator[str]:
    single, _, plural = name.replace(" ", "_").partition("/")
    yield single
    yield plural or f"{single}s"


def _spellings() -> Iterator[tuple[str, Unit]]:
    for unit, prefixes, names, symbols in _rows():
        for spelling in (form for name in names for form in _forms(name)):
            yield spelling, unit
            for prefix in prefixes:
                yield _PREFIXES[prefix][0] + spelling, unit._replace(factor=unit.factor * _PREFIXES[prefix][1])
        for symbol in symbols:
            if symbol[0] != "~":
                yield symbol.replace("_", " "), unit
            for prefix in prefixes:
                yield prefix + symbol.lstrip("~"), unit._replace(factor=unit.factor * _PREFIXES[prefix][1])


def _meanings() -> dict[str, tuple[Unit, ...]]:
    table: dict[str, dict[Unit, None]] = {}
    for spelling, unit in _spellings():
        table.setdefault(spelling, {})[unit] = None
    for spelling in list(table):
        lower = spelling.lower()
        if len(lower) > 2 or lower in _LOOSE:
            table.setdefault(lower, table[spelling])
        measured = next(iter(table[spelling])).dimension in _PLURALS
        if measured and spelling == lower and 1 < len(lower) < 4 and lower[-1] != "s" and f"{lower}s" not in _NEVER:
            table.setdefault(f"{lower}s", table[spelling])
    return {spelling: tuple(units) for spelling, units in table.items()}


_MEANINGS = _meanings()
UNITS: dict[str, Unit] = {spelling: units[0] for spelling, units in _MEANINGS.items()}
"""Spellings of units, the words of a spelling joined by ``_``, with the usual meaning."""

_LONGEST: dict[str, int] = {}
for _spelling in _MEANINGS:
    _first, _, _rest = _spelling.partition("_")
    if _rest:
        _LONGEST[_first] = max(_LONGEST.get(_first, 0), _spelling.count("_") + 1)
"""First words of names of several words, with the number of words of the longest."""

CURRENCIES = frozenset({"$", "€", "£", "¥", "₹", "₽", "₩", "₺", "₪", "₿", "฿", "₱"})

CODES: dict[str, Unit] = {
    spelling: unit for spelling, unit in UNITS.items() if spelling.isupper() and spelling == unit.dimension
} | dict.fromkeys(("Rs", "RS", "rs"), UNITS["Rs"])
"""Codes of currencies, and 'Rs', as they stand before a number."""

ARTICLED = frozenset(spelling for *_, names, _ in _rows() for spelling in (name.split("/")[0] for name in names)) - (
    vocabulary("things")
)
"""Names of units that with an article are one of it: 'an hour'."""


def is_currency(unit: Unit, *, with_pound: bool = False) -> bool:
    """Whether a unit is money; where that is said, pounds are."""
    return unit.dimension.isupper() or (with_pound and unit == UNITS["pound"])


def read_units(words: Sequence[Word], start: int) -> tuple[tuple[Unit, ...], int] | None:
    """Read all that the unit that begins at a word may mean ('pound' is a mass and money), the usual meaning first."""
    found = _raised(words, start)
    if found is None:
        return None
    units, place = found
    dividing = False
    while (joint := _joint(words, place, dividing=dividing)) is not None:
        dividing, following = joint
        factor = _raised(words, following)
        if factor is None or units[0].offset or factor[0][0].offset:
            break
        if words[following - 1].text in {"a", "an"} and factor[0][0].dimension != "time":
            break
        if not dividing and (is_currency(units[0]) or is_currency(factor[0][0])):
            break
        if units[0].dimension in DOSED and factor[0][0] in _DAYS:
            break
        units, place = (_product(units[0], factor[0][0], -1 if dividing else 1),), factor[1]
    return units, place - start


def _joint(words: Sequence[Word], place: int, *, dividing: bool) -> tuple[bool, int] | None:
    """Read what joins two units: whether the second divides, and where it begins."""
    if place >= len(words):
        return None
    word, gap = words[place], words[place].gap.strip()
    if gap in {"/", "/("}:
        return True, place
    if gap in {"·", "⋅", "*", "•"}:
        return dividing, place
    if word.text == "per" or (word.text in {"a", "an"} and not dividing and gap == ""):
        return True, place + 1
    both = place and _is_symbol(words[place - 1]) and _is_symbol(word) and word.form not in _COMPASS
    return (dividing, place) if both and word.gap == " " else None


DOSED = frozenset({"mass", "amount", "activity", "equivalent", "tablet", "capsule", "drop", "puff"})
_DAYS = frozenset(UNITS[name] for name in ("day", "week", "month"))
"""After what doses are given in, how often: '50 mg per day' are 50 mg, daily."""

_COMPASS = frozenset({"N", "E", "S", "W"})
"""Symbols that after another, '5 km N', are directions."""


def _is_symbol(word: Word) -> bool:
    return len(word.text) < 4 and word.form.rstrip("23") in _MEANINGS and word.text[0].isalpha()


def _raised(words: Sequence[Word], start: int) -> tuple[tuple[Unit, ...], int] | None:
    """Read one unit and its power: 'square metre', 'm2', 'm^2', 'metre squared'; where it ends, not its size."""
    if start >= len(words):
        return None
    power = _POWERS.get(words[start].text, 1)
    place = start + (power > 1)
    units = _single(words, place)
    if units is None:
        return _glued(words, start) if power == 1 else None
    place += units[1]
    if power == 1 and place < len(words):
        power, taken = _exponent(words[place])
        place += taken
    return tuple(_power(unit, power) for unit in units[0]) if power != 1 else units[0], place


def _exponent(word: Word) -> tuple[int, int]:
    if word.text in _RAISED:
        return _RAISED[word.text], 1
    if word.gap in {"^", "^-"} and word.text in {"1", "2", "3", "4"}:
        return int(word.text) * (-1 if word.gap == "^-" else 1), 1
    return 1, 0


def _glued(words: Sequence[Word], start: int) -> tuple[tuple[Unit, ...], int] | None:
    """Read a symbol with its power: 'm2', 'cm3'."""
    form = words[start].form
    units = _MEANINGS.get(form[:-1]) or _MEANINGS.get(form[:-1].lower()) if form[-1] in "23" else None
    return (tuple(_power(unit, int(form[-1])) for unit in units), start + 1) if units else None


def _single(words: Sequence[Word], start: int) -> tuple[tuple[Unit, ...], int] | None:
    """Look up the longest name or symbol that begins at a word; its words are not apart."""
    if start >= len(words):
        return None
    word = words[start]
    for size in range(_LONGEST.get(word.text, 1), 1, -1):
        here = words[start : start + size]
        if len(here) == size and all(part.gap.strip() in {"", "-", "."} for part in here[1:]):
            found = _MEANINGS.get("_".join(part.text for part in here))
            if found:
                return found, size
    if len(word.text) == 1 and _is_initial(words, start):
        return None
    found = _MEANINGS.get(word.form) or _MEANINGS.get(word.text if len(word.text) > 1 else "")
    return (found, 1) if found else None


def _is_initial(words: Sequence[Word], place: int) -> bool:
    """Whether a letter is the initial of a name: 'J. Smith'."""
    following = words[place + 1] if place + 1 < len(words) else None
    return following is not None and following.gap.startswith(".") and following.form[0].isupper()


@lru_cache(maxsize=1024)
def _power(unit: Unit, power: int) -> Unit:
    return _unit({name: count * power for name, count in _powers(unit.dimension).items()}, unit.factor**power)


@lru_cache(maxsize=1024)
def _product(one: Unit, other: Unit, sign: int) -> Unit:
    powers = _powers(one.dimension)
    for name, count in _powers(other.dimension).items():
        powers[name] = powers.get(name, 0) + sign * count
    return _unit(powers, one.factor * other.factor**sign)


def _unit(powers: dict[str, int], factor: float) -> Unit:
    names = [name if count == 1 else f"{name}^{count}" for name, count in sorted(powers.items()) if count]
    return Unit(" ".join(names), factor) if names else Unit("percentage", 100 * factor)


def _powers(dimension: str) -> dict[str, int]:
    parts = (part.partition("^") for part in dimension.split(" "))
    return {name: int(power or 1) for name, _, power in parts}
