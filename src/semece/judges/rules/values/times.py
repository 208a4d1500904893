"""Times of day and how often: '3 pm', '15:00', 'noon'; 'every 8 hours', 'three times a day', 'q6h', 'daily'."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from semece.judges.rules.values.numbers import Number, read_number
from semece.judges.rules.values.units import Unit, read_units
from semece.judges.rules.words import numbers, pairs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semece.judges.rules.words import Word

CLOCK = Unit("clock", 1.0)
"""Minutes since midnight."""

HALF_DAY = 720
"""Minutes of half a day."""

CLOCK_WORDS = frozenset({"noon", "midday", "midnight"})
_NAMED = {"noon": HALF_DAY, "midday": HALF_DAY, "midnight": 0}
_HOURS = {word: int(number) for word, number in pairs("cardinals").items() if 1 <= int(number) <= 12}
_MORNING = frozenset({"am", "morning"})
_PARTS = _MORNING | {"pm", "afternoon", "evening", "night"}


def read_clock(words: Sequence[Word], start: int) -> tuple[tuple[int, ...], int] | None:
    """Read the time of day that begins at a word: minutes since midnight, and how many words it takes.

    A time on the face of a clock ('3:30', "3 o'clock") has two meanings.
    """
    text = words[start].text
    if text in _NAMED:
        return ((_NAMED[text],), 1) if words[start].form.islower() or len(words) == 1 else None
    if not text.isdecimal() and text not in _HOURS:
        return None
    hour = int(text) if text.isdecimal() and len(text) < 3 else _HOURS.get(text, 24)
    if hour > 23 or (start and words[start].gap[-1:] in {":", ".", "-", "/"}):
        return None
    minute, size = _minute(words, start)
    found = _of_day(words, start, hour * 60 + minute, size)
    return (found[0][:1], found[1]) if found and text[0] == "0" else found


def _minute(words: Sequence[Word], start: int) -> tuple[int, int]:
    parts = [word.text for word in words[start + 1 : start + 3] if word.gap == ":"]
    whole = len(parts) == 1 and words[start + 1].gap == ":" and len(parts[0]) == 2
    if whole and parts[0].isdecimal() and int(parts[0]) < 60:
        return int(parts[0]), 2
    return 0, 1


def _of_day(words: Sequence[Word], start: int, time: int, size: int) -> tuple[tuple[int, ...], int] | None:
    """Read 'pm', 'in the afternoon', "o'clock", 'noon' after a time on the clock's face."""
    oclock = start + size < len(words) and words[start + size].text == "oclock"
    size += oclock
    skipped = size
    while start + skipped < len(words) and skipped < size + 2 and words[start + skipped].text in {"in", "the", "at"}:
        skipped += 1
    part = words[start + skipped].text if start + skipped < len(words) else ""
    if part in _NAMED and skipped == size and time == HALF_DAY:
        return (_NAMED[part],), size + 1
    if part in _PARTS and time // 60 <= 12 and (skipped > size) == (part not in {"am", "pm"}):
        late = part not in _MORNING and not (part == "night" and time // 60 in {12, 1, 2, 3, 4})
        return (time % HALF_DAY + HALF_DAY * late,), skipped + 1
    if size == 1:
        return None
    half = 0 < time // 60 <= 12
    return (time % HALF_DAY, time % HALF_DAY + HALF_DAY) if half else (time,), size


OFTEN = Unit("frequency", 1.0)
"""Seconds from one time to the next."""

_ADVERBS = numbers("frequencies")
_EACH = frozenset({"a", "an", "per", "every", "each"})
_QUAQUE = re.compile(r"^q(\d{1,2})h(?:r|rs)?$")
FREQUENCY_WORDS = frozenset({*_ADVERBS, "every", "each", "per"}) | frozenset(f"q{hours}h" for hours in range(1, 73))
"""Words other than numbers with which a frequency can begin."""


def read_frequency(words: Sequence[Word], start: int) -> tuple[Number, int] | None:
    """Read how often something is done: the seconds in between, and how many words it takes."""
    word = words[start]
    if (hours := _QUAQUE.match(word.text)) is not None:
        return _every(3600.0 * int(hours[1]), 1)
    if (period := _adverb(words, start)) is not None:
        return _every(period, 1)
    if word.text in {"every", "each"}:
        return _after_every(words, start)
    if start and (word.text == "per" or word.gap == "/"):
        unit = _period(words, start + (word.text == "per"))
        return _every(unit[0], (word.text == "per") + unit[1]) if unit else None
    return _times(words, start)


def _every(seconds: float, size: int) -> tuple[Number, int] | None:
    return (Number(seconds, seconds, 0.0, "digits", size), size) if seconds else None


def _adverb(words: Sequence[Word], place: int) -> float | None:
    if place >= len(words):
        return None
    return _ADVERBS.get(words[place].form) or _ADVERBS.get(words[place].text if words[place].form.istitle() else "")


def _period(words: Sequence[Word], place: int) -> tuple[float, int] | None:
    units = read_units(words, place) if place < len(words) and len(words[place].text) > 1 else None
    return (units[0][0].factor, units[1]) if units and units[0][0].dimension == "time" else None


def _after_every(words: Sequence[Word], start: int) -> tuple[Number, int] | None:
    """Read 'every day', 'every other day', 'every 8 hours', 'every 4 to 6 hours'."""
    place = start + 1
    other = place < len(words) and words[place].text in {"other", "second"}
    number = read_number(words, place) if place < len(words) and not other else None
    size = number.size if number else int(other)
    period = _period(words, place + size)
    if period is None or (number is not None and (number.form in {"ordinal", "roman"} or number.low <= 0)):
        return None
    low, high = (number.low, number.high) if number else (1.0 + other, 1.0 + other)
    return Number(low * period[0], high * period[0], 0.0, "digits", 0), 1 + size + period[1]


def _times(words: Sequence[Word], start: int) -> tuple[Number, int] | None:
    """Read 'once a day', 'three times daily', 'twice per week'."""
    number = read_number(words, start)
    if number is None or number.form in {"ordinal", "roman", "year"} or not number.low == number.high > 0:
        return None
    place = start + number.size
    named = words[start].text in {"once", "twice", "thrice"}
    if not named and not (place < len(words) and words[place].text in {"times", "time", "x"}):
        return None
    place += not named
    if (often := _adverb(words, place)) is not None:
        return _every(often / number.low, place + 1 - start)
    if place < len(words) and words[place].text in _EACH and (found := _period(words, place + 1)):
        return _every(found[0] / number.low, place + 1 + found[1] - start)
    return None
