"""Times of day: '3 pm', '15:00', 'noon', '3 in the afternoon'."""

from __future__ import annotations

from typing import TYPE_CHECKING

from semece.judges.rules.values.units import Unit
from semece.judges.rules.words import pairs

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
