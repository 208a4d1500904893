"""Dates in common orders and precisions, as intervals of days."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from semece.judges.rules.values.numbers import read_number, read_single
from semece.judges.rules.words import pairs, vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from semece.judges.rules.values.numbers import Number
    from semece.judges.rules.words import Word

YEAR = 372
"""Days of a year in the calendar of this module: twelve months of 31 days."""

LAST_YEAR = 2200
"""Bare numbers from here on are no years."""

PRECISIONS = ("day", "month", "year", "span", "decade", "century")


class Date(NamedTuple):
    """A date or a span of time found in a text, as an interval of days.

    Its first and last day, counted in years of :data:`YEAR` days, negative before Christ; one of :data:`PRECISIONS`, of
    a part of a year ('late 1968') that of the whole; how many words it took; whether it names no year ('March 15'),
    so that the days count from the first of January; whether it is a bare year, four digits that may be a number.
    """

    low: int
    high: int
    precision: str
    size: int
    yearless: bool = False
    bare: bool = False

    @property
    def key(self) -> str:
        """A string that equal dates share."""
        return f"@{self.low}:{self.high}{'y' if self.yearless else ''}"


def contains(outer: Date, inner: Date) -> bool:
    """Whether one date lies within another; with and without a year if day and month do."""
    if outer.yearless != inner.yearless:
        dated = {outer.precision, inner.precision} <= {"day", "month"}
        return dated and outer.low % YEAR <= inner.low % YEAR and inner.high % YEAR <= outer.high % YEAR
    return outer.low <= inner.low and inner.high <= outer.high


_MONTHS = {word: int(number) for word, number in pairs("months").items()}
_SEASONS = {word: tuple(int(month) - 1 for month in ends.split("-")) for word, ends in pairs("seasons").items()}
_WEEKDAYS = vocabulary("weekdays")
_PARTS = {word: tuple(map(float, ends.split("-"))) for word, ends in pairs("spans").items()}
_BEFORE_CHRIST = frozenset({"bc", "bce"})
_AFTER_CHRIST = frozenset({"ad", "ce"})
_DECADES = {word: int(number) for word, number in pairs("decades").items()}
_OWNERS = vocabulary("owners")
_BEFORE = frozenset({"before", "prior", "earlier", "until", "till"})
_AFTER = frozenset({"after", "later"})
_NESTED = frozenset({*_PARTS, *_WEEKDAYS, *_BEFORE, *_AFTER})
"""Words that begin a date with another date in it."""

DATE_WORDS = frozenset({*_MONTHS, *_SEASONS, *_WEEKDAYS, *_PARTS, *_AFTER_CHRIST, *_DECADES, *_BEFORE, *_AFTER})
"""Words other than numbers with which a date can begin."""


def read_date(words: Sequence[Word], start: int) -> Date | None:
    """Read the date that begins at a word.

    Understood are '8 September 2010', 'September 8th, 2010', '2010-09-08', '13/09/2010', 'Sept. 2010', 'March 15',
    '1990s', 'the sixties', '19th century', 'late 1968', 'before 1912', '480 BC', 'AD 70', '1939-1945', '03/2020', "'45"
    and a bare year 1000 to 2199. A numeric date that could be read in two orders is read month first.
    """
    text = words[start].text
    if (read := _BEGINNINGS.get(text)) is not None:
        return read(words, start)
    return _numeric(words, start) or _day_first(words, start) or _years(words, start)


def _anno_domini(words: Sequence[Word], start: int) -> Date | None:
    following = words[start + 1].text if start + 1 < len(words) else ""
    return _year(int(following), int(following), size=2) if following.isdecimal() and len(following) < 5 else None


def _month_first(words: Sequence[Word], start: int) -> Date | None:
    month = _MONTHS[words[start].text]
    if (days := _days(words, start + 1)) is not None:
        low, high, size = days
        year = _year_at(words, start + 1 + size) or _footnoted_year(words, start + 1 + size)
        return _dated(month, (low, high), year, 1 + size)
    year = _year_at(words, start + 1)
    if year is None and (words[start].text in {"may", "march", "mar"} and not words[start].form.istitle()):
        return None
    return _dated(month, (1, 31), year, 1)


def _day_first(words: Sequence[Word], start: int) -> Date | None:
    days = _days(words, start)
    if days is None:
        return None
    low, high, size = days
    if start + size < len(words) and words[start + size].text == "of":
        size += 1
    if start + size >= len(words) or words[start + size].text not in _MONTHS:
        return None
    return _dated(_MONTHS[words[start + size].text], (low, high), _year_at(words, start + size + 1), size + 1)


def _days(words: Sequence[Word], start: int) -> tuple[int, int, int] | None:
    number = read_number(words, start) if start < len(words) else None
    if number is None or number.form == "roman" or not 1 <= number.low <= number.high <= 31:
        return None
    if number.place != 1 or (start + number.size < len(words) and words[start + number.size].text == "percent"):
        return None
    return int(number.low), int(number.high), number.size


def _dated(month: int, days: tuple[int, int], year: tuple[int, int] | None, size: int) -> Date:
    first = (month - 1) * 31 + days[0] - 1
    span = days[1] - days[0]
    precision = "month" if span == 30 else "day"
    if year is None:
        return Date(first, first + span, precision, size, yearless=True)
    first += year[0] * YEAR
    return Date(first, first + span, precision, size + year[1])


def _year_at(words: Sequence[Word], start: int) -> tuple[int, int] | None:
    """Read a year that ends a date: the year and the number of words it takes."""
    if start < len(words) and words[start].text in {"of", "in"}:
        found = _year_at(words, start + 1)
        return (found[0], found[1] + 1) if found else None
    if start >= len(words) or not words[start].text.isdecimal() or len(words[start].text) > 4:
        return None
    if (short := _short_year(words[start])) is not None:
        return short, 1
    value = int(words[start].text)
    era = words[start + 1].text if start + 1 < len(words) else ""
    if era in _BEFORE_CHRIST or era in _AFTER_CHRIST:
        return (-value if era in _BEFORE_CHRIST else value), 2
    return (value, 1) if 1000 <= value < 2200 else None


def _short_year(word: Word) -> int | None:
    """Return the year of "'69", which is of the 20th century from 30 on."""
    if len(word.text) != 2 or not word.gap.endswith("'") or word.gap[:-1] not in {"", " ", ", ", " ("}:
        return None
    return int(word.text) + (2000 if int(word.text) < 30 else 1900) if word.text.isdecimal() else None


def _footnoted_year(words: Sequence[Word], start: int) -> tuple[int, int] | None:
    """Read a year to which the number of a footnote sticks: 'September 25, 19871.'."""
    if start >= len(words) or words[start].gap != ", " or not re.fullmatch(r"[12]\d{4,5}", words[start].text):
        return None
    year = int(words[start].text[:4])
    return (year, 1) if year < 2200 else None


def _after_weekday(words: Sequence[Word], start: int) -> Date | None:
    following = words[start + 1].text if start + 1 < len(words) else ""
    date = read_date(words, start + 1) if following and following not in _NESTED else None
    return date._replace(size=date.size + 1) if date and date.precision == "day" else None


def _part(words: Sequence[Word], start: int) -> Date | None:
    """Read 'late 1968', 'mid-19th century', 'the beginning of March 2010'."""
    following = start + 1
    while following < len(words) and words[following].text in {"of", "the", "in", "part"}:
        following += 1
    date = read_date(words, following) if following < len(words) and words[following].text not in _NESTED else None
    if date is None or date.precision == "day":
        return None
    first, last = _PARTS[words[start].text]
    length = date.high - date.low + 1
    low, high = date.low + int(first * length), date.low + int(last * length) - 1
    return date._replace(low=low, high=high, size=date.size + following - start, bare=False)


FAR_OFF = 10**7
"""Days beyond all dates."""


def _open(words: Sequence[Word], start: int) -> Date | None:
    """Read 'before 1912', 'after March 2010': all the days on one side of a date."""
    following = start + 1
    early = words[start].text in _BEFORE
    if words[start].text in {"prior", "earlier", "later"}:
        if following >= len(words) or words[following].text not in {"to", "than"}:
            return None
        following += 1
    while following < len(words) and words[following].text in {"the", "year", "about", "around", "circa", "c"}:
        following += 1
    if following >= len(words) or words[following].text in _BEFORE | _AFTER:
        return None
    date = read_date(words, following)
    if date is None or words[following].gap != " ":
        return None
    if words[start].text in {"until", "till"}:
        return date._replace(low=-FAR_OFF, size=date.size + following - start, bare=False)
    low, high = (-FAR_OFF, date.low - 1) if early else (date.high + 1, FAR_OFF)
    return date._replace(low=low, high=high, precision="span", size=date.size + following - start, bare=False)


def _decade_in_words(words: Sequence[Word], start: int) -> Date | None:
    """Read 'the sixties'; 'in his late sixties' is an age."""
    if any(word.text in _OWNERS for word in words[max(0, start - 2) : start]):
        return None
    return _decade(1900 + _DECADES[words[start].text], size=1)


def _season(words: Sequence[Word], start: int) -> Date | None:
    year = _year_at(words, start + 1)
    if year is None:
        return None
    first, last = _SEASONS[words[start].text]
    return Date(year[0] * YEAR + first * 31, year[0] * YEAR + last * 31 + 30, "month", 1 + year[1])


_POINTED = re.compile(r"^(\d{1,2})\.(\d{1,2})$")


def _numeric(words: Sequence[Word], start: int) -> Date | None:
    """Read '2010-09-08', '13/09/2010', '9/8/2010', '13.09.2010'."""
    pointed = _POINTED.match(words[start].text)
    parts = [pointed[1], pointed[2]] if pointed else [words[start].text]
    size = 1
    while len(parts) < 3 and start + size < len(words) and words[start + size].gap in {"-", "/", "."}:
        parts.append(words[start + size].text)
        size += 1
    if not all(part.isdecimal() and len(part) in {1, 2, 4} for part in parts):
        return None
    if len(parts) == 2 and not pointed:
        return _numeric_month(parts)
    if len(parts) < 3:
        return None
    year, month, day = _ordered(parts, day_first=pointed is not None)
    return _dated(month, (day, day), (year, 0), size) if 1 <= month <= 12 and 1 <= day <= 31 else None


def _numeric_month(parts: Sequence[str]) -> Date | None:
    """Read '03/2020', '2020-03'; '2001-03' may be years and is left to them."""
    month, year = sorted(parts, key=len)
    if len(year) != 4 or len(month) == 4 or not 1 <= int(month) <= 12 or not 1000 <= int(year) < 2200:
        return None
    if parts[0] == year and (len(month) == 1 or int(month) > int(year) % 100):
        return None
    return _dated(int(month), (1, 31), (int(year), 0), 2)


def _ordered(parts: Sequence[str], *, day_first: bool) -> tuple[int, int, int]:
    first, second, third = map(int, parts)
    if len(parts[0]) == 4:
        return first, second, third
    year = third if len(parts[2]) == 4 else third + (2000 if third < 30 else 1900)
    return (year, second, first) if first > 12 or day_first else (year, first, second)


def _years(words: Sequence[Word], start: int) -> Date | None:
    """Read years, decades and centuries, with an era or without."""
    plural = start + 1 < len(words) and words[start + 1].text == "s"
    if not plural and (short := _short_year(words[start])) is not None:
        return _year(short, short, size=1)
    single = read_single(words, start)
    if single is None or single.place != 1 or not 0 < single.low < 10000 or words[start].gap == ":":
        return None
    if single.form in {"ordinal", "roman"}:
        return _century(words, start + single.size, int(single.low), single.size)
    ending = words[start + single.size] if start + single.size < len(words) else None
    if ending is not None and ending.text in _DECADES and 10 <= single.low <= 21:
        return _decade(int(single.low) * 100 + _DECADES[ending.text], size=single.size + 1)
    if ending is not None and ending.text == "s" and ending.gap in {"", "'"}:
        return _decade(int(single.low), size=2)
    return _in_era(words, start, read_number(words, start) or single)


def _in_era(words: Sequence[Word], start: int, number: Number) -> Date | None:
    """Read a number as a year or a span of years before or after Christ."""
    era = words[start + number.size].text if start + number.size < len(words) else ""
    low, high = int(number.low), int(min(number.high, 10000))
    if era in _BEFORE_CHRIST:
        return _year(*sorted((-low, -high)), size=number.size + 1) if number.form in {"digits", "year"} else None
    if era in _AFTER_CHRIST:
        return _year(low, high, size=number.size + 1)
    return _year(low, high, size=number.size, bare=True) if number.form == "year" else None


def _year(first: int, last: int, *, size: int, bare: bool = False) -> Date:
    precision = "year" if last == first else "span"
    return Date(first * YEAR, last * YEAR + YEAR - 1, precision, size, bare=bare and last == first)


def _decade(value: int, *, size: int) -> Date | None:
    """Return '1990s', '90s' or '1800s' (a century); the '2000s' are a decade."""
    value += 1900 if 20 <= value <= 90 else 0
    if value % 10 or not 1000 <= value < LAST_YEAR:
        return None
    span, precision = (100, "century") if value % 100 == 0 and value < 2000 else (10, "decade")
    return Date(value * YEAR, (value + span) * YEAR - 1, precision, size)


def century_of(number: int, size: int) -> Date | None:
    """Return a century after Christ by its number; both 1800 and 1900 belong to the 19th."""
    if not 0 < number <= 21:
        return None
    return Date(100 * (number - 1) * YEAR, (100 * number + 1) * YEAR - 1, "century", size)


def month_of(number: int, size: int) -> Date | None:
    """Return a month without a year by its number."""
    return _dated(number, (1, 31), None, size) if 1 <= number <= 12 else None


def _century(words: Sequence[Word], start: int, value: int, size: int) -> Date | None:
    """Read what follows an ordinal: 'century', 'century BC'; both 1800 and 1900 belong to the 19th."""
    if start >= len(words) or words[start].text not in {"century", "centuries", "c"} or not 0 < value <= 21:
        return None
    era = words[start + 1].text if start + 1 < len(words) else ""
    size += 1 + (era in _BEFORE_CHRIST or era in _AFTER_CHRIST)
    if era in _BEFORE_CHRIST:
        return Date(-100 * value * YEAR, (-100 * (value - 1) + 1) * YEAR - 1, "century", size)
    return century_of(value, size)


_BEGINNINGS: dict[str, Callable[[Sequence[Word], int], Date | None]] = {
    word: read
    for beginnings, read in (
        (_MONTHS, _month_first),
        (_WEEKDAYS, _after_weekday),
        (_PARTS, _part),
        (_BEFORE | _AFTER, _open),
        (_DECADES, _decade_in_words),
        (_SEASONS, _season),
        (_AFTER_CHRIST, _anno_domini),
    )
    for word in beginnings
}
"""Words that begin a date, with what reads it."""
