"""Numbers as people write them: digits, words, ordinals, Roman numerals, fractions, scales, ranges."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from semece.judges.rules.words import numbers, vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semece.judges.rules.words import Word


class Number(NamedTuple):
    """A number or a range found in a text.

    Its ends, equal unless it is a range; the value of the last place written (0.1 for 2.4, 1 for 25, 1e8 for '2.4
    billion', 0 for fractions); how it was written: ``digits``, ``word``, ``ordinal``, ``roman``, ``year`` (four bare
    digits, 1000 to 2199), ``sum`` ('6 feet 2 inches'), or the sign of a bound, ``>``, ``>=``, ``<``, ``<=``; how many
    words it took; the value of its scale word or power of ten, 1e9 for '2.4 billion', 1 without.
    """

    low: float
    high: float
    place: float
    form: str
    size: int
    scale: float = 1.0


_UNITS = {word: int(value) for word, value in numbers("cardinals").items()}
_ORDINALS = {word: int(value) for word, value in numbers("ordinals").items()}
_SCALES = numbers("scales")
_SCALE_ORDINALS = numbers("scale_ordinals")
_SUFFIXES = numbers("scale_letters")
_SIGNS = frozenset({"minus", "negative"})
_TIMES = numbers("times_over")
_PARTS = numbers("fractions")
_PLURAL_PARTS = {"halves": 0.5} | {f"{word}s": value for word, value in _PARTS.items()}
_CONTINUING = frozenset({*_SCALES, *_PARTS, *_PLURAL_PARTS, "and", "a", "an", "of"})
"""Words apart from a number that can go on with it."""

_ROMAN_DIGITS = numbers("roman")
_ROMAN = re.compile(r"^(?=[ivxlcdm])m{0,3}(?:cm|cd|d?c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,4})$")
_WORDS = frozenset({*_UNITS, *_ORDINALS, *_SCALES, *_SCALE_ORDINALS, *_TIMES})
_ORDINAL_ENDINGS = frozenset({"st", "nd", "rd", "th"})
_LITERAL = re.compile(r"^(?P<mantissa>\d+(?:\.\d+)?)(?:\s?[x*]\s?10\s?\^\s?|e)(?P<power>[+-]?\d+)$", re.IGNORECASE)


@lru_cache(maxsize=65536)
def is_number_word(text: str) -> bool:
    """Whether a number can begin with a word."""
    if text.lstrip(".")[:1].isdecimal() or text in {"half", "quarter"} or text in _SIGNS:
        return True
    return text in _WORDS or _ROMAN.match(text) is not None


def read_number(words: Sequence[Word], start: int) -> Number | None:
    """Read the number or the range of numbers that begins at a word."""
    first = read_single(words, start)
    joint = start + first.size if first else 0
    if first is None or joint >= len(words):
        return first
    between = start > 0 and words[start - 1].text == "between"
    if words[joint].text in ({"and", "to"} if between else {"to", "or", "until", "till", "through"}):
        second, skipped = (read_single(words, joint + 1) if joint + 1 < len(words) else None), 1
    elif words[joint].gap.strip() == "-":
        second, skipped = read_single(words, joint), 0
    else:
        return first
    return _range(first, second, skipped) or first


def _range(first: Number, second: Number | None, skipped: int) -> Number | None:
    """Join two numbers to a range; '2 to 3 million' scales both ends, '1648-51' stays in its century."""
    if second is None or {first.form, second.form} & {"ordinal", "roman"}:
        return None
    low, high, place, form = first.low, second.high, min(first.place, second.place), "digits"
    if first.scale == 1.0 < second.scale and low < 1000:
        low, place = low * second.scale, second.place
    elif first.form == "year":
        high = high + 100 * (low // 100) if high < 100 else high
        form = "year" if high < 2200 else "digits"
    if not low < high:
        return None
    return Number(low, high, place, form, first.size + skipped + second.size, second.scale)


def read_single(words: Sequence[Word], start: int) -> Number | None:
    """Read the number that begins at a word, one end only where it is a range."""
    text = words[start].text
    if text.lstrip(".")[:1].isdecimal():
        return _digits(words, start)
    if text in _TIMES:
        return Number(_TIMES[text], _TIMES[text], 1.0, "word", 1)
    if text in _SIGNS:
        return _negative(words, start)
    if text in {"half", "quarter"} or (text in _PARTS and _is_part(words, start)):
        return _scaled(words, start, Number(_PARTS[text], _PARTS[text], 0.0, "word", 1))
    return _spelled(words, start) or _roman(words, start)


def _negative(words: Sequence[Word], start: int) -> Number | None:
    """Read 'minus five', 'negative 40'; after a number, 'minus' subtracts."""
    joined = start + 1 < len(words) and words[start + 1].gap in {" ", "-"}
    if not joined or (start and words[start].gap.strip() == "" and is_number_word(words[start - 1].text)):
        return None
    number = read_single(words, start + 1) if words[start + 1].text not in _SIGNS else None
    if number is None or number.form in {"ordinal", "roman"} or number.low < 0:
        return None
    return number._replace(low=-number.low, high=-number.high, size=number.size + 1)


def _is_part(words: Sequence[Word], start: int) -> bool:
    """Whether an ordinal is a fraction: 'a third', 'a fifth of it'; 'the third' and 'a third time' are none."""
    if start == 0 or words[start - 1].text != "a":
        return False
    following = words[start + 1] if start + 1 < len(words) else None
    return following is None or following.text == "of" or following.gap.strip() not in {"", "-"}


def _digits(words: Sequence[Word], start: int) -> Number:
    """Read '12', '-12.5', '12th', '1/2', '3 1/2', '2.4 billion'."""
    word = words[start]
    value, place = _literal(word.text)
    if word.gap[-1:] == "-" and word.gap.strip(" (,;:=[") == "-" and (start == 0 or len(word.gap) > 1):
        value = -value
    following = words[start + 1] if start + 1 < len(words) else None
    if following is not None and following.gap == "" and following.text in _ORDINAL_ENDINGS:
        return Number(value, value, 1.0, "ordinal", 2)
    if part := _slashed(words, start):
        return _scaled(words, start, Number(part, part, 0.0, "digits", 2))
    if following is not None and following.gap == " " and place == 1 and (part := _slashed(words, start + 1)):
        return _scaled(words, start, Number(value + part, value + part, 0.0, "digits", 3))
    year = len(word.text) == 4 and word.text.isdecimal() and 1000 <= value < 2200
    scale = place if _LITERAL.match(word.text) and abs(value) >= 1e3 else 1.0
    return _scaled(words, start, Number(value, value, place, "year" if year else "digits", 1, scale))


def in_millions(number: Number) -> Number:
    """Multiply a number by a million."""
    return Number(number.low * 1e6, number.high * 1e6, number.place * 1e6, "digits", number.size, 1e6)


def _slashed(words: Sequence[Word], start: int) -> float:
    """Return the value of a fraction such as '1/2', 0 if there is none."""
    if start + 1 >= len(words) or words[start + 1].gap != "/":
        return 0.0
    above, below = words[start].text, words[start + 1].text
    if not (above.isdecimal() and below.isdecimal() and max(len(above), len(below)) < 7):
        return 0.0
    return int(above) / int(below) if 0 < int(above) < int(below) else 0.0


def _scaled(words: Sequence[Word], start: int, number: Number) -> Number:
    """Apply what follows a number: 'million', 'M', 'and a half', 'thirds', 'a dozen' after 'half'."""
    here = start + number.size
    if here >= len(words) or (words[here].gap == " " and words[here].text not in _CONTINUING):
        return number
    number = _times_scales(words, start, number)
    here = start + number.size
    following = [word.text for word in words[here : here + 4]]
    article = here + (words[here].text == "of" if here < len(words) else 0)
    scaled = [word.text for word in words[article : article + 2]]
    if number.place == 0 and number.low < 1 and scaled[:1] in (["a"], ["an"]) and scaled[-1] in _SCALES:
        return _times_scales(words, start, number._replace(size=number.size + 1 + (following[0] == "of")))
    if part := and_part(following):
        value = number.low + part[0] * number.scale
        return _times_scales(
            words, start, number._replace(low=value, high=value, place=0.0, size=number.size + part[1])
        )
    if following and (share := (_PARTS if number.low == 1 else _PLURAL_PARTS).get(following[0])):
        value = number.low * share
        return number._replace(low=value, high=value, place=0.0, size=number.size + 1)
    return number


def _times_scales(words: Sequence[Word], start: int, number: Number) -> Number:
    value, place, form, size, scale = number.low, number.place, number.form, number.size, number.scale
    while start + size < len(words) and (factor := _scale(words[start + size])):
        value, place, scale, form, size = value * factor, place * factor, scale * factor, "digits", size + 1
    return Number(value, value, place, form, size, scale)


def _scale(word: Word) -> float:
    if word.gap == "" and word.form in _SUFFIXES:
        return _SUFFIXES[word.form]
    return _SCALES.get(word.text, 0.0) if word.gap.strip() in {"", "-"} else 0.0


def and_part(following: Sequence[str]) -> tuple[float, int] | None:
    """Read 'and a half', 'and three quarters' after a number: the part and how many words it takes."""
    if len(following) < 3 or following[0] != "and":
        return None
    if following[1] in {"a", "one"} and following[2] in {"half", "quarter", "third"}:
        return _PARTS[following[2]], 3
    if following[1] in {"two", "three", "2", "3"} and following[2] in {"thirds", "quarters"}:
        return (3 if following[1] in {"three", "3"} else 2) * _PLURAL_PARTS[following[2]], 3
    return None


def _literal(text: str) -> tuple[float, float]:
    """Return the value of a number in digits and that of its last place."""
    if match := _LITERAL.match(text):
        value, place = _literal(match["mantissa"])
        power = 10.0 ** max(-300, min(300, int(match["power"][:6])))
        return value * power, place * power
    if "^" in text:
        base, _, exponent = text.partition("^")
        small = len(base) < 5 and len(exponent) < 4 and abs(int(exponent)) < 60 and int(base) > 0
        return (float(int(base)) ** int(exponent) if small else 0.0), 1.0
    plain = text.replace(",", "").replace(" ", "")
    if plain.count(".") > 1:
        plain = plain.replace(".", "")
    return float(plain), 10.0 ** -min(300, len(plain.partition(".")[2]))


def _spelled(words: Sequence[Word], start: int) -> Number | None:
    """Read 'two hundred and five', 'nineteen eighty-four', 'twenty-first', the 'million' of 'a million'."""
    total, current, size = 0.0, 0.0, 0
    while start + size < len(words):
        text = words[start + size].text
        gap = words[start + size].gap.strip()
        if size and gap not in ({"", "-", ","} if total and not current else {"", "-"}):
            break
        if text == "and" and (current >= 100 or (total and not current)) and _continues(words, start + size + 1):
            size += 1
            continue
        if text in {"oh", "o"} and 10 <= current < 100 and (unit := _digit(words, start + size + 1)):
            current, size = current * 100 + unit, size + 2
            continue
        added = _add(total, current, text)
        if added is None:
            break
        (total, current), size = added, size + 1
        if text in _ORDINALS or text in _SCALE_ORDINALS:
            return Number(total + current, total + current, 1.0, "ordinal", size)
    if size == 0:
        return None
    value, place, size = _pointed(words, start, total + current, size)
    scale = _SCALES.get(words[start + size - 1].text, 1.0)
    return _scaled(words, start, Number(value, value, place, "word", size, scale))


def _digit(words: Sequence[Word], place: int) -> int:
    value = _UNITS.get(words[place].text, 0) if place < len(words) else 0
    return value if value < 10 else 0


def _pointed(words: Sequence[Word], start: int, value: float, size: int) -> tuple[float, float, int]:
    """Read the decimals of a number in words: 'point one four'."""
    if start + size >= len(words) or words[start + size].text != "point":
        return value, 1.0, size
    digits = ""
    while (word := words[start + size + 1 + len(digits) :][:1]) and _UNITS.get(word[0].text, 10) < 10:
        digits += str(_UNITS[word[0].text])
    if not digits:
        return value, 1.0, size
    return float(f"{value:.0f}.{digits}"), 10.0 ** -len(digits), size + 1 + len(digits)


def _add(total: float, current: float, text: str) -> tuple[float, float] | None:
    """Add a number word to thousands and the rest so far; None if it does not continue the number."""
    value = _UNITS.get(text, _ORDINALS.get(text))
    if value is not None:
        joined = _append(current, value)
        return None if joined is None else (total, joined)
    factor = _SCALES.get(text, _SCALE_ORDINALS.get(text))
    if factor is None:
        return None
    if factor <= 100:
        return total, (current or 1.0) * factor
    return (total * factor, 0.0) if total and not current else (total + (current or 1.0) * factor, 0.0)


def _append(current: float, value: int) -> float | None:
    rest = current % 100
    if current == 0 or (rest == 0 and value > 0):
        return current + value
    if rest >= 20 and rest % 10 == 0 and 0 < value < 10:
        return current + value
    return current * 100 + value if 10 <= current < 100 and value >= 10 else None


def _continues(words: Sequence[Word], start: int) -> bool:
    return start < len(words) and (words[start].text in _UNITS or words[start].text in _ORDINALS)


def _roman(words: Sequence[Word], start: int) -> Number | None:
    """Read a Roman numeral: some letters I, V and X, a single one only after a word such as 'war'."""
    text, before = words[start].text, words[start - 1].text if start else ""
    if _ROMAN.match(text) is None or not _is_roman(words[start], before):
        return None
    digits = [_ROMAN_DIGITS[letter] for letter in text]
    value = float(sum(-one if one < following else one for one, following in pairwise([*digits, 0])))
    return Number(value, value, 1.0, "roman", 1)


def _is_roman(word: Word, before: str) -> bool:
    if len(word.text) == 1:
        return word.text in "ivx" and before in vocabulary("classifiers")
    if set(word.text) <= {"i", "v", "x"}:
        return word.form.isupper() or before != "" or len(word.text) > 2
    return word.form.isupper() and (before in vocabulary("classifiers") or len(word.text) > 3)
