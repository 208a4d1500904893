"""The reader of guesses with their probabilities: lines with labels, lists, tables, JSON."""

from __future__ import annotations

import json
import re
from itertools import count
from typing import TYPE_CHECKING, Any

from semece.prompts.confidences import UNREAD
from semece.prompts.markdown_tables import tables
from semece.prompts.markup import bare
from semece.prompts.probabilities import as_stated
from semece.prompts.statements import Guess, first_asked, plain_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Pair = tuple[str, str]
"""A guess and what is said of its probability, as they are written."""

_PROBABILITY = r"(?:probability|prob|confidence|likelihood|chance|p)"
_ENDS = r"[\"']?(?:\s*[:=：]|[.)](?=\s)|\s+[-–—]+(?=\s)|\s*[-=]>|\s*\|)\s*"
_MARK = re.compile(
    rf"[\"']?(?<![\w.])(?:(?:(?P<guess>g(?:uess)?)\s?#?(?P<g>\d)|p(?:rob(?:ability)?)?\s?#?(?P<p>\d)){_ENDS}"
    rf"|{_PROBABILITY}[\"']?\s*[:=：]\s*)",
    re.IGNORECASE,
)
_GUESS = re.compile(rf"(?<![\w.])g(?:uess)?\s?#?\d{_ENDS}", re.IGNORECASE)
_ITEM = re.compile(
    r"^[ \t]*(?:\(?(?P<number>\d)[.)][ \t]+(?:guess[:：][ \t]*)?"
    r"|(?P<bare>guess[ \t]*[:：])[ \t]*"
    r"|(?:my )?(?P<nth>first|second|third|fourth|1st|2nd|3rd|4th)(?: best)? guess(?:\s*[:：]|\s+[-–—])[ \t]*"
    r"|(?:the )?(?P<rank>(?:(?:second|third|fourth|2nd|3rd|4th) )?(?:most|least) likely"
    r"|first|second|third|fourth)[:：][ \t]*)",
    re.IGNORECASE | re.MULTILINE,
)
_NTH = {"first": 1, "second": 2, "third": 3, "fourth": 4}
_CONTINUED = re.compile(r"(?![^\n]*\bG(?:uess)?\s?\d)[^\n]{1,200}\n\s*(?:P1|G2)\b", re.IGNORECASE)
"""A reply that goes on where a prompt ends, behind ``G1:``."""

_INLINE = re.compile(
    r"(?P<guess>.+?)(?:\s*(?:[(\[{|:：;,=/→…]|[-=]>|\.{2,})|\s+(?:[-–—]+|with\b))[\s(\[|]*"
    rf"(?:(?:with )?(?:an? )?{_PROBABILITY}(?:\s?\d?\s*[:=：]|\s?\d(?=\s)|\s+(?:of|is)\b|(?=\s))\s*)?(?:an? )?"
    r"(?P<said>(?:[~≈]\s?|(?:about|around|approximately|roughly)\s)?\d{1,3}(?:[.,]\d+)?\s?\\?(?:%|percent\b)|0?\.\d+|[01]\.0+|(?<=[(\[])\d{1,3}(?=\s?[)\]]))"
    rf"(?:\s(?:likely|confident|certain|sure|{_PROBABILITY}))?[)\]}}]*(?:\s*(?:[(,;:]|[-–—]\s)[^%\d\n]*)?[.,;|\s]*",
    re.IGNORECASE,
)
"""A guess and its probability in one line: 'Paris (90%)', 'Paris - 90%', 'Paris: 0.9'."""
_REVERSED = re.compile(r"(?P<said>\d{1,3}\s?%)\s*[-–—:]\s+(?P<guess>[^%\n]+)")
_BEFORE_COLON = re.compile(r"(?P<mark>\bG(?:uess )?\d)\s?\((?P<said>[\d.]+\s?%)\):\s?(?P<guess>[^\n]*)", re.IGNORECASE)
_OWN_LINE = re.compile(
    r"^[^\w\n]{0,8}(?P<mark>(?:g(?:uess)?|p(?:robability)?)\s?#?\d)(?:[ \t]*\n|\][ \t]*(?=\S))",
    re.IGNORECASE | re.MULTILINE,
)
"""A mark that stands in a line of its own, or in brackets."""
_BESIDE = re.compile(
    rf"^(?P<guess>[^\w\n]{{0,4}}G\d{_ENDS}"
    rf"(?![^\n%]*\b(?:about|around|roughly|approximately|by|of|to|than|at|is|{_PROBABILITY})[ \t]+\d)"
    r"[^\n%]{0,80}[\w)])[ \t]+(?P<said>\d{1,3}\s?%)[ \t]*$",
    re.MULTILINE,
)
"""'G1: Paris 90%'."""
_PERCENT = re.compile(r"\W*\d{1,3}(?:\.\d+)?\s?%\W*")
_LIKELY = re.compile(r"\s*[(,–—-]\s*(?:\w+ ){0,2}(?:un|im)?(?:likely|probable)\)?\W*\Z", re.IGNORECASE)
_STRAY = re.compile(r"(?:[\s(\[{|:：;,=/→–—]|(?<=\s)-|[-=]>)+\Z")
"""What stands between a guess and its probability."""
_LONGEST = 300
"""Characters of a line in which a guess and its probability are looked for."""


def read_guesses(text: str) -> tuple[Guess, ...]:
    r"""Read guesses with their probabilities, the most likely first, as the reply has them.

    Lines ``G1: Paris`` and ``P1: 90%``; both in one line ('G1: Paris (90%)', '1. Paris - 90%'); a table; JSON.

    Returns
    -------
    tuple of Guess
        None where a guess has no probability that can be read, or two guesses have one number.

    Examples
    --------
    >>> [(one.answer, one.said.certain) for one in read_guesses("G1: Paris\nP1: 90%\nG2: Lyon\nP2: 5%")]
    [('Paris', 0.9), ('Lyon', 0.05)]
    >>> [(one.answer, one.said.certain) for one in read_guesses("1. Paris (90%)\n2. Lyon - 5%")]
    [('Paris', 0.9), ('Lyon', 0.05)]
    >>> read_guesses("G1: Paris\nP1: high")
    ()
    """
    return first_asked(plain_text(text), _guesses)


def _guesses(plain: str) -> tuple[Guess, ...]:
    """Read the guesses of one question."""
    pairs = _in_json(plain) or _in_table(plain)
    if not pairs:
        marked = _BESIDE.sub(r"\g<guess> (\g<said>)", _OWN_LINE.sub(r"\g<mark>: ", plain))
        marked = _BEFORE_COLON.sub(r"\g<mark>: \g<guess> (\g<said>)", marked)
        marked = f"G1: {marked}" if _CONTINUED.match(marked) and not _ITEM.match(marked) else marked
        if not _GUESS.search(marked):
            places = count(1)
            marked = _ITEM.sub(lambda item: f"G{_number(item) or next(places)}: ", marked)
        pairs = _marked(marked) if _GUESS.search(marked) else _in_lines(plain)
    guesses = [Guess(_answer(answer), as_stated(_LIKELY.sub("", said))) for answer, said in pairs]
    is_one = len(pairs) > 1 and len({answer for answer, _ in pairs}) == 1
    whole = not is_one and all(guess.answer and guess.said != UNREAD for guess in guesses)
    return tuple(guesses) if whole else ()


def _number(item: re.Match[str]) -> str | int | None:
    """Give the number of an item; None if it has none."""
    if item["rank"]:
        return None
    if item["nth"]:
        return _NTH.get(item["nth"].lower()) or item["nth"][0]
    return item["number"]


def _marked(text: str) -> list[Pair]:
    """Pair what follows ``G1:`` with what follows ``P1:``, or stands behind the guess."""
    marks = list(_MARK.finditer(text))
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    guesses: dict[str, str] = {}
    said: dict[str, str] = {}
    last = ""
    for mark, end in zip(marks, ends, strict=True):
        lines = [line.strip(" \t,;|") for line in text[mark.end() : end].strip().split("\n")[:2]]
        value = (
            f"{lines[0]} ({lines[1]})" if mark["guess"] and _PERCENT.fullmatch(lines[-1]) and lines[1:] else lines[0]
        )
        last = mark["g"] or last
        into, number = (guesses, last) if mark["guess"] else (said, mark["p"] or last)
        if number in into:
            return [("", "")]
        into[number] = value
    if not said:
        return [_inline(value) for value in guesses.values()]
    return [(guess, said.get(number, "")) for number, guess in guesses.items()]


def _inline(line: str) -> Pair:
    """Part a line into a guess and its probability; empty if it is not both."""
    found = (_INLINE.fullmatch(line) or _REVERSED.fullmatch(line)) if len(line) <= _LONGEST else None
    return (found["guess"], found["said"]) if found else ("", "")


def _in_lines(text: str) -> list[Pair]:
    """Read lines without numbers, two or more, if each that has a percentage is a guess with its probability."""
    lines = [line.strip() for line in re.split(r"\n|(?<=%)[,;]\s|(?<=%\))[,;]\s", text)]
    pairs = [_inline(line) for line in lines if "%" in line]
    is_list = len(pairs) > 1 and not any(
        re.search(rf"\b(?:{_PROBABILITY}|g)\s?\d?\b", guess, re.IGNORECASE) for guess, _ in pairs
    )
    return pairs if is_list else []


def _in_table(text: str) -> list[Pair]:
    """Read the first table with a column of probabilities; the guesses' is named so, or stands before it."""
    for table in tables(text) if "|" in text else []:
        said = _column(table.heads, rf"{_PROBABILITY}\b|%")
        guess = _column(table.heads, r"guess|answer|candidate|g\b")
        if said is not None:
            place = guess if guess is not None and guess != said else said - 1
            return [(_unmarked(row[place]), _unmarked(row[said])) for row in table.rows]
    return []


def _column(heads: Iterable[str], named: str) -> int | None:
    """Find the last column that is named so."""
    found = [place for place, head in enumerate(heads) if re.match(rf"\W*(?:{named})", head, re.IGNORECASE)]
    return found[-1] if found else None


def _unmarked(cell: str) -> str:
    """Give a cell without a mark before it."""
    mark = _MARK.match(cell)
    return cell[mark.end() :] if mark else cell


_DECODER = json.JSONDecoder(strict=False, parse_float=str, parse_int=str, parse_constant=str)


def _in_json(text: str) -> list[Pair]:
    """Read the guesses of a JSON value; its keys may also be marks, which are read like those of lines."""
    start = re.search(r"^[ \t]{0,8}[\[{]", text, re.MULTILINE)
    try:
        return _rows(_DECODER.raw_decode(text, start.end() - 1)[0]) if start else []
    except (ValueError, RecursionError):
        return []


def _rows(value: object) -> list[Pair]:
    """Read a list of objects with a guess and a probability each, also within an object; or probabilities by guess."""
    if isinstance(value, list):
        return [_row(each) for each in value if isinstance(each, dict)]
    if not isinstance(value, dict) or any(_MARK.match(f"{key}:") for key in value):
        nested = list(value.values()) if isinstance(value, dict) else []
        return _rows(nested) if nested and all(isinstance(each, dict) for each in nested) else []
    within = [each for each in value.values() if isinstance(each, list)] or [list(value.values())]
    if len(within) == 2 and all(isinstance(each, str) for column in within for each in column):
        return list(zip(*within, strict=True))
    if all(isinstance(each, dict) for each in within[0]):
        return _rows(within[0])
    return [(key, each) for key, each in value.items() if isinstance(each, str)]


def _row(row: Mapping[str, Any]) -> Pair:
    """Read an object with a guess and a probability."""
    found = [
        next((each for key, each in row.items() if re.match(names, key, re.IGNORECASE)), "")
        for names in (r"g(?:uess|\d|$)|(?:answer|text|name|value)", rf"{_PROBABILITY}(?:_?\d|$|_|y|percent)")
    ]
    return (found[0], found[1]) if all(isinstance(each, str) for each in found) else ("", "")


_QUOTES = (('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’"), ("«", "»"))


_LEADS_IN = re.compile(
    r"\A(?:(?:the |my )?(?:first|second|third|fourth|best) guess(?: is|:)|(?:the|my) (?:guess|answer) is)\s+(?=\S)",
    re.IGNORECASE,
)
"""Words before a guess that are no part of it."""


def _answer(text: str) -> str:
    """Give a guess without what stands between it and its probability, and without quotes around it."""
    told = _LEADS_IN.sub("", text.strip(" \t\n,;|"))
    told = told.rstrip(" }") if told.count("}") > told.count("{") else told
    told = bare(_STRAY.sub("", told) if len(told) <= _LONGEST else told)
    for opens, closes in _QUOTES:
        if told.startswith(opens) and told.endswith(closes) and not {opens, closes} & set(told[1:-1]):
            told = told[1:-1]
    return bare(told.strip('"') if told.count('"') % 2 else told)
