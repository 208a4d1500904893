"""Where a reply gives its answer: labelled lines, tags and JSON, and the confidences beside them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from semece.prompts.conclusions import said
from semece.prompts.confidences import UNREAD, is_of_error, read_stated
from semece.prompts.markup import bare, last_box, unwrap, whole_characters

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass(frozen=True, slots=True)
class Labels:
    """What the lines of a response begin with; no confidence is looked for if its label is None."""

    answer: str = "Answer"
    confidence: str | None = "Confidence"


class Place(NamedTuple):
    """An answer, or a confidence: where it begins, what it says, and whether it stands in a quote or a code block."""

    start: int
    text: str
    quoted: bool = False
    confidence: str | None = None


class TextLine(NamedTuple):
    """A line of a reply, without the white space around it."""

    start: int
    text: str
    quoted: bool


_MARKS = r"[*_`]{0,4}"
_COLON = r"\s*[:：﹕∶=＝]"
_BEFORE = (
    r"(?:(?:so|thus|therefore|hence|and|in conclusion),?\s+)?(?:(?:the|my|our|your)\s+)?"
    r"(?:(?:final|correct|short|best|right|direct|exact|overall|concise)\s+)*"
)
_ASIDE = r"(?:\s+\([^()\n]{0,40}\))?"
_ABOUT_CONFIDENCE = r"(?:(?:the|my|our|your)\s+)?(?:(?:overall|final|estimated|stated|self-reported)\s+)*"
_OF_CONFIDENCE = (
    r"(?:\s+(?:level|score|rating|estimate|percentage|percent|value|probability|%))?"
    r"(?:\s+(?:in|of|for|that)\s+(?:this|my|the|it|answer)(?:\s+\w+){0,3})?"
)
_OTHER_LABELS = (
    r"explanation|reason(?:ing)?|rationale|justification|note|notes|source|sources|evidence|comment|context|"
    r"confidence[^:\n]{0,30}|probability|certainty|step-by-step|details?|background|verification"
)
_OTHER_LINE = re.compile(rf"[\W_]{{0,20}}(?:brief\s+)?(?:{_OTHER_LABELS}){_MARKS}\s*(?:[:：]|$)", re.IGNORECASE)
_OTHER_INSIDE = re.compile(rf"\s+[(\[*_-]*(?:{_OTHER_LABELS})\s*{_MARKS}\s*[:：].*\Z", re.IGNORECASE | re.DOTALL)
_OPTION = re.compile(r"^[\W_]*B\s*[:.)]", re.MULTILINE)
_ITEM = re.compile(r"(?:[-*•+]|\d{1,3}[.)])\s+\S")
_GOES_ON = re.compile(r"(?:and|or|but not|&|,|;|\+|=)(?:\s|$)")
_OPEN_END = re.compile(r"(?:,|;|&|\+|=|\band|\bor)\Z")
_FENCE = ("```", "~~~")
_BLOCKS = (("```", "```"), ("$$", "$$"), ("\\[", "\\]"), ("\\begin{", "\\end{"))
_LONGEST = 400
"""Characters of a line in which a label is looked for."""
_MOST_PLACES = 40
"""Answer lines of a reply that are read, from the last."""
_LONGEST_BLOCK = 200
"""Lines that a block may have."""


@cache
def _label(label: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Give what begins a line that gives the answer, and what does so after a sentence in the same line."""
    name = rf"{_BEFORE}{re.escape(label)}{_ASIDE}"
    begins = re.compile(
        rf"(?P<before>(?:(?![{{\"])[\W_]){{0,40}}?)(?P<marks>{_MARKS})(?P<name>{name}|A(?=\s*[*_]*:))(?P<closed>{_MARKS})"
        rf"(?:{_COLON}|\s+[-–—](?=\s)|(?P<heading>\s*#*$))\s*(?P<after>{_MARKS})",
        re.IGNORECASE,
    )
    inside = re.compile(
        rf"[.!?:;)\]]\s+(?P<marks>{_MARKS})(?P<name>{name})(?P<closed>{_MARKS}){_COLON}\s*(?P<after>{_MARKS})",
        re.IGNORECASE,
    )
    return begins, inside


@cache
def _confidence(label: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Give what begins a line that states a confidence, and what does so inside a line."""
    tail = (
        rf"(?P<marks>{_MARKS}){_ABOUT_CONFIDENCE}{re.escape(label)}{_OF_CONFIDENCE}{_ASIDE}(?P<closed>{_MARKS})"
        rf"(?:{_COLON}|\s+(?P<says>is)\b|(?P<heading>\s*#*$))\s*(?P<after>{_MARKS})"
    )
    begins = re.compile(rf"[\W_]{{0,40}}?{tail}", re.IGNORECASE)
    inside = re.compile(rf"(?:[^\w\n]){tail}", re.IGNORECASE)
    return begins, inside


def lines_of(text: str) -> list[TextLine]:
    """Cut a text into lines and note which are quoted: begin with ``>``, or stand in a code block."""
    lines, start, fenced = [], 0, False
    for whole in text.splitlines(keepends=True):
        line = whole.strip()
        fence = line.startswith(_FENCE)
        lines.append(TextLine(start, line, fenced or fence or line.startswith(">")))
        fenced ^= fence and line.count(line[:3]) == 1
        start += len(whole)
    return lines


def labelled(lines: Sequence[TextLine], labels: Labels) -> list[Place]:
    """Find the answer lines; of many, the last."""
    options = labels.answer != "Answer" or any(_OPTION.match(line.text) for line in lines)
    found = [(number, match) for number in range(len(lines)) if (match := _begins(lines[number], labels, options))]
    places = []
    for number, match in found[-_MOST_PLACES:]:
        line = lines[number]
        start = line.start if match.re.groupindex.get("heading") else line.start + match.start()
        places.append(Place(start, _value(lines, number, match), line.quoted))
    return places


def _begins(line: TextLine, labels: Labels, options: bool) -> re.Match[str] | None:
    """Find where the value of an answer line begins; ``A:`` is a label unless the text lists options."""
    begins, inside = _label(labels.answer)
    held = may_hold(line.text, labels.answer)
    found = begins.match(line.text[:_LONGEST]) if held or "A" in line.text[:45] else None
    if found is None:
        return next(iter(list(inside.finditer(line.text))[-1:]), None) if held else None
    if found["name"] == "a" or (found["name"] == "A" and options):
        return None
    return None if _is_heading(found) is False else found


def _is_heading(found: re.Match[str]) -> bool | None:
    """Whether a label without a colon is a heading; None if it has a colon."""
    if found.re.groupindex.get("heading") is None or found["heading"] is None:
        return None
    return bool(found["marks"] or "#" in found["before"])


def _value(lines: Sequence[TextLine], number: int, found: re.Match[str]) -> str:
    """Give what follows a label: the rest of its line or, if that is empty, the next line that is not."""
    rest = _rest(lines[number].text, found)
    if _emptied(rest):
        number = next((i for i in range(number + 1, len(lines)) if lines[i].text), len(lines))
        if number == len(lines) or _OTHER_LINE.match(lines[number].text):
            return ""
        rest = lines[number].text
    return tidy(_whole(lines, number, rest))


def _rest(line: str, found: re.Match[str]) -> str:
    """Give the rest of a line, without the marks that its label opened or that close it."""
    rest = line[found.end() :]
    if found["marks"] and not found["closed"] and not found["after"]:
        return unwrap(found["marks"] + rest).removeprefix(found["marks"])
    return rest if _closes(found) else found["after"] + rest


def _closes(found: re.Match[str]) -> bool:
    """Whether the marks after a colon close those before its label: '**Answer:** Paris'."""
    return bool(found["marks"]) and not found["closed"]


def _emptied(text: str) -> bool:
    return not text.strip(" \t*_")


def _whole(lines: Sequence[TextLine], number: int, first: str) -> str:
    """Add the lines that belong to an answer: of its block, of its list, or that go on with 'and'."""
    following = [line.text for line in lines[number + 1 : number + _LONGEST_BLOCK]]
    closes = _open_block(first)
    if closes is not None:
        return "\n".join([first, *_to_the_end(following, closes)])
    goes_on = _is_item if _ITEM.match(first) else _goes_on
    kept = [first]
    for text in following:
        if not goes_on(kept[-1], text):
            break
        kept.append(text)
    return "\n".join(kept)


def _open_block(text: str) -> str | None:
    """Say what would close the block that a line opens and does not close."""
    for opens, closes in _BLOCKS:
        begun = text.find(opens)
        if begun >= 0 and closes not in text[begun + len(opens) :]:
            return closes
    return None


def _is_item(before: str, text: str) -> bool:
    del before
    return _ITEM.match(text) is not None


def _goes_on(before: str, text: str) -> bool:
    """Whether a line goes on with what the one before it says."""
    told = bool(text) and not _OTHER_LINE.match(text)
    return told and bool(_GOES_ON.match(text) or _OPEN_END.search(before))


def _to_the_end(following: Sequence[str], closes: str) -> Sequence[str]:
    """Give the lines up to the one that closes a block; none if it is not closed."""
    end = next((place for place, text in enumerate(following) if closes in text), None)
    return [] if end is None else following[: end + 1]


def tidy(text: str) -> str:
    r"""Reduce what stands where an answer belongs to the answer.

    What encloses it goes; so does a labelled explanation in the same line, 'the answer is', and the box of a number in
    a sentence.

    Examples
    --------
    >>> tidy("**Paris.**"), tidy("The answer is 72."), tidy(r"The area is \boxed{42}."), tidy("Paris Explanation: so")
    ('Paris', '72', '42', 'Paris')
    """
    cut = _OTHER_INSIDE.sub("", text) if ":" in text or "：" in text else text
    inner = bare((cut if cut.strip() else text).rstrip(" \t;,|") if cut != text else text)
    sentence = said(inner) if inner[:80].lower().find("answer") >= 0 else None
    inner = sentence or inner
    return _unboxed(inner)


def _unboxed(text: str) -> str:
    """Take the one box out of a sentence or a formula."""
    if text.count("\\boxed") != 1 or (found := last_box(text)) is None:
        return text
    start, end, inside = found
    around = text[:start] + " " + text[end:]
    if len(re.findall(r"[^\W\d_]{2,}", around)) >= 2 or around.rstrip().endswith("="):
        return bare(inside)
    return bare(text[:start] + inside + text[end:])


_TAG = re.compile(
    r"<(?P<name>final_?answer|answer|solution)(?:\s[^<>\n]{0,80})?>(?P<value>.*?)(?:</(?P=name)\s*>|(?=<confidence)|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_STATED = re.compile(r"<confidence[^<>\n]{0,40}>\s*(?P<value>[^<\n]{1,80}?)\s*(?:</confidence|\n|$|<)", re.IGNORECASE)


def tagged(text: str) -> Iterator[Place]:
    """Find answers in tags; of one that is not closed, the first line."""
    if "<" not in text:
        return
    for found in _TAG.finditer(text):
        closed = text[found.end("value") :].startswith("</") if found.end("value") < len(text) else False
        value = found["value"].strip()
        yield Place(found.start(), tidy(value if closed else value.split("\n", 1)[0]))


_KEY = re.compile(r"(?P<quote>[\"'])(?:final_?|short_?)?answer(?P=quote)\s*:", re.IGNORECASE)
_TRIED = 8
"""How many braces before a field are tried as the beginning of its object."""
_ESCAPE = re.compile(
    r"\\\\|\\(?=(?:frac|tfrac|begin|beta|bar|big|binom|boxed|bmod|bf|text[a-z]*|times|theta|tan|tau|to|top|triangle|nu|neq|ne|"
    r"not|nabla|right|rho|rangle|rm)(?![a-z])|[^\"\\/bfnrtu])"
)
"""Backslashes of LaTeX that JSON would take for one of its own escapes, or refuse."""


def in_json(text: str) -> Iterator[Place]:
    """Find the last JSON object with a field for the answer, also one that is cut short."""
    told = list(_KEY.finditer(text))[-1:]
    if not told:
        return
    start, escaped = told[0].start(), _ESCAPE.sub(r"\\\\", text)
    key = list(_KEY.finditer(escaped))[-1]
    place = key.start()
    for _ in range(_TRIED):
        place = escaped.rfind("{", 0, place)
        row = _object_around(escaped, place, key.end())
        if row is not None:
            yield _of_object(row, start)
            return
    if cut := _STRING.match(escaped, key.end()):
        yield Place(start, tidy(whole_characters(_as_text(_DECODER.decode(cut[0])))))


_STRING = re.compile(r"\s*\"(?:[^\"\\]|\\.)*\"")


def _object_around(text: str, place: int, key: int) -> dict[str, Any] | None:
    """Decode an object that begins at a place, if it holds the field at another; numbers stay as they are written."""
    try:
        row, end = _DECODER.raw_decode(text, place) if place >= 0 else (None, 0)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) and end > key else None


_DECODER = json.JSONDecoder(strict=False, parse_float=str, parse_int=str, parse_constant=str)


def _of_object(row: dict[str, Any], place: int) -> Place:
    """Give the answer of an object, and the confidence beside it."""
    fields = {str(name).lower().replace("_", ""): value for name, value in row.items()}
    answer = next((fields[name] for name in ("answer", "finalanswer", "shortanswer") if name in fields), None)
    stated = next((v for name, v in fields.items() if name.startswith(("confidence", "probability"))), None)
    confidence = stated if isinstance(stated, str) else None
    return Place(place, tidy(whole_characters(_as_text(answer))), confidence=confidence)


def _as_text(value: object) -> str:
    """Write a JSON value as people do."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return ", ".join(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def stated(lines: Sequence[TextLine], text: str, label: str | None) -> tuple[list[Place], list[TextLine]]:
    """Find the confidences, and give the lines without them."""
    if label is None:
        return [], list(lines)
    places = [Place(found.start(), found["value"]) for found in _STATED.finditer(text)] if "<" in text else []
    kept: list[TextLine] = []
    waiting = False
    for line in lines:
        before, said_there = ("", line.text) if waiting and _is_read(line.text) else _split(line, label)
        waiting = (waiting and not line.text) or (said_there is not None and _emptied(said_there))
        places += [Place(line.start, said_there, line.quoted)] if said_there and not _emptied(said_there) else []
        kept.append(TextLine(line.start, before, line.quoted))
    return sorted(places), kept


def _is_read(text: str) -> bool:
    return read_stated(text) is not UNREAD


def _split(line: TextLine, label: str) -> tuple[str, str | None]:
    """Split a line into what is no confidence, and the confidence; None if there is none."""
    if not may_hold(line.text, label):
        return line.text, None
    begins, inside = _confidence(label)
    found = begins.match(line.text[:_LONGEST])
    if found is not None:
        return _begun(line.text, found)
    for found in inside.finditer(line.text):
        value = _stated_value(line.text, found).rstrip(")] ")
        if is_of_error(found[0]):
            continue
        if found["heading"] is None and _is_read(value):
            return line.text[: found.start()].rstrip(" \t;,|([-–—*_"), value
    return line.text, None


def _begun(line: str, found: re.Match[str]) -> tuple[str, str | None]:
    """Split a line that begins with the label: a heading, or a confidence; 'confidence is' must be followed by one."""
    if found["heading"] is not None:
        return ("", "") if found["marks"] or line.startswith("#") else (line, None)
    value = line if is_of_error(found[0]) else _stated_value(line, found)
    return ("", value) if not found["says"] or _is_read(value) else (line, None)


def _stated_value(line: str, found: re.Match[str]) -> str:
    value = line[found.end() : found.end() + _LONGEST].strip()
    if found["marks"] and not found["closed"] and not found["after"]:
        return unwrap(found["marks"] + value).removeprefix(found["marks"])
    return value


def may_hold(line: str, label: str) -> bool:
    """Whether a label, in whatever case, can be in a line: cheaper than a pattern; only ASCII has two cases alone."""
    return not line.isascii() or not label.isascii() or label.lower() in line.lower()
