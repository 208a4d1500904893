"""What readers of elicited confidences have in common: a reply without its marks, and what its lines state."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from semece.prompts.confidences import UNREAD, Stated, is_of_error, without_errors
from semece.prompts.final_message import final_message
from semece.prompts.markdown_tables import confidences_as_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Guess(NamedTuple):
    """An answer and how likely the reply says it is.

    Parameters
    ----------
    answer : str or None
        None: the answer that was asked about.
    said : Stated
        The confidence, as far as it can be read from this reply alone.
    """

    answer: str | None
    said: Stated


LONGEST = 80
"""Characters of a reply that is all statement."""

LONGEST_TELLING = 400
"""Characters of a reply whose last clause is looked at."""

_BEGINS = (
    r"(?:^|(?<=[.!?;:,|])[ \t]+|(?<=\w)[ \t]+(?=(?:so|and|but|thus|therefore|hence|with)\b))[^\w\n(]{0,20}"
    r"(?P<so>(?:so|and|but|thus|therefore|hence|overall|with),?\s+)?"
    r"(?:i(?:['’]d| would)? (?:say|think|believe|feel|guess)(?: that)?:?\s+)?"
    r"(?P<put>i(?:['’]d| would| will)? (?:rate|put|state|estimate|assign|give|describe|assess|place|set|lower|reduce)"
    r"\s+"
    r"(?:(?:it|(?:this|my|the) answer)\s+)?)?"
    r"(?:(?:an?|the|my|our|final|overall|estimated|level of)\s+){0,3}"
)
_TRUE = r"(?:correct|right|true)"
_IN_ANSWER = (
    rf"in\s+(?:my|this|the)\s+answer|that\s+(?:it|(?:my|this|the)\s+answer)\s+is\s+{_TRUE}"
    rf"|that\s+i(?:['’]m|\s+am)\s+{_TRUE}|of\s+(?:(?:it|this|that|(?:my|this|the)\s+answer)\s+)?being\s+{_TRUE}"
    r"|(?:in|that|for)\b[^\n.;:]{0,80}?(?=\s+(?:is|would be)\b)"
)
_ABOUT = (
    r"(?:[\s_]+(?:level|score|rating|percent(?:age)?))?(?:\s+(?:that\s+)?i\s+have)?"
    rf"(?:\s+(?:here|{_IN_ANSWER}))?(?:\s*\([^()\n]{{0,40}}\))?"
)
_SAYS = (
    r"(?P<says>(?(put)(?:as|at|of|to be|to(?=\s+\W{0,3}(?:(?:about|around|roughly) )?\d))"
    r"(?!\s+(?:least|most|\w+\s+as)\b)"
    r"|(?:(?:is|would be)(?:\s+(?:therefore|thus|hence|then|simply|just|only|still))?"
    r"|of(?=\s+\W{0,3}(?:\d|(?:about|around|approximately|roughly|low|lowest|medium|high|highest)\b)))))\b\s*[:：]?"
)
_VALUE = (
    rf"[^\w\n(]{{0,6}}?(?:\s*(?:[:：→]+|[-=]>|=)|\s+{_SAYS}|\s+[-–—](?=\s)|\s*$|(?(put)(?P<bare>\s+)|(?!)))"
    r"[ \t]*(?P<value>[^\n]*)"
)
_TAG = re.compile(
    r"<(?:confidence|probability)>\s*(?P<value>[^<>\n]{1,80})</(?:confidence|probability)>", re.IGNORECASE
)
_FENCE = re.compile(r"^[ \t]*```[^\n]*$", re.MULTILINE)
_BREAK = re.compile(r"<br ?/?>", re.IGNORECASE)
_BULLET = re.compile(r"^[ \t]*[-•][ \t]+", re.MULTILINE)
_QUESTION = re.compile(r"(?<=\n)[ \t]*(?:(?:next |new )?question(?: ?\d{1,4})?|q)[:：]", re.IGNORECASE)
CORRECTS = re.compile(
    r"(?:^|(?<=[.!?]))[^\w\n]{0,8}(?:hm+\W{1,4}|oh\W{1,4}|no\W{1,4})?"
    r"(?:wait|actually|on (?:second thoughts?|reflection)|correction|"
    r"let me (?:revise|correct|reconsider|change))\b",
    re.IGNORECASE | re.MULTILINE,
)
_CORRECTIONS = 8
"""Words of correction that are tried, from the last."""
_MARKS = re.compile(r"</?(?:b|strong|i|em)>|\*{1,3}|`|(?<![\w\\])_{1,2}(?=\w)|(?<=\w)_{1,2}(?!\w)")


CONDITION = re.compile(r"\b(?:if|unless|assuming|provided)\b", re.IGNORECASE)
FACT = (
    r"(?![^.;!?\n]*(?:\b(?:not|never|wrong|incorrect|false|mistak\w+|errors?|should|else|instead|if|you|i)\b|n['’]t))"
    r"[^.;!?\n]{1,80}"
)
"""The pattern of what somebody is sure of, in words that deny nothing."""
REPORTS = re.compile(
    r"(?<!\bi )\b(?:sa(?:id|ys)|writes?|wrote|repli(?:ed|es)|claim(?:s|ed)|told(?: \w+)?)(?: that)?\W*\Z", re.IGNORECASE
)
"""Words before what somebody else says: 'He said: "'."""
_FIELD = re.compile(r"\s*\"(?P<value>[^\"\n]{1,80})\"\s*,")
"""The value of a field of JSON that is not the last."""
_WITH = re.compile(r"\W*with\b", re.IGNORECASE)
_FORM = re.compile(
    r"^[^\w\n]{0,8}confidence: (?:N%, where N is a whole number from 0 to 100"
    r"|one of the five words lowest, low, medium, high, highest"
    r"|one of the three forms do not know, uncertain, certain)[.\"]?\s*$",
    re.IGNORECASE | re.MULTILINE,
)
"""The line that a prompt asks for, as it stands there."""


def statement(words: str) -> re.Pattern[str]:
    """Give the pattern of a label in these words with what it states: 'Confidence: high', 'my confidence is high'."""
    return re.compile(f"{_BEGINS}(?:{words}){_ABOUT}{_VALUE}", re.IGNORECASE | re.MULTILINE)


def plain_text(text: str) -> str:
    """Give the final message without the marks of markdown, and without the form of a prompt that it repeats."""
    broken = text if "|" in text else _BREAK.sub("\n", text)
    plain = _FORM.sub("", _BULLET.sub("", _MARKS.sub("", _FENCE.sub("", final_message(broken)))))
    return re.sub(r"</?answer>", "", confidences_as_lines(plain), flags=re.IGNORECASE).strip()


def first_asked(text: str, read: Callable[[str], tuple[Guess, ...]]) -> tuple[Guess, ...]:
    """Read what a reply states before it goes on to another question."""
    asked = _QUESTION.search(text)
    return read(text[: asked.start()].strip() if asked else text)


def settled(text: str, read: Callable[[str], list[Stated]]) -> list[Stated]:
    """Read what stands behind words of correction, if a confidence stands before and behind them; else all."""
    for found in reversed(list(CORRECTS.finditer(text))[-_CORRECTIONS:]):
        last = read(text[found.end() :])
        if last and read(text[: found.start()]):
            return last
    return read(text)


def labelled_values(text: str, statement: re.Pattern[str], read: Callable[[str], Stated]) -> list[Stated]:
    """Read what follows the label of a statement: in its line or, where that is empty, in the next line with a text.

    A sentence in which the label 'is' something that cannot be read is prose, and one with 'if' states nothing.
    """
    stated = [(match["value"], False) for match in _TAG.finditer(text)]
    for match in statement.finditer(text):
        if is_of_error(match[0][: match.start("value") - match.start()]):
            continue
        field = _FIELD.match(match["value"])
        value = (field["value"] if field else match["value"]).strip(" \t\"'{}#")
        following = text[match.end() :].strip().split("\n", 1)[0]
        prose = bool(match["says"] or match["so"] or match["bare"])
        before = sentence_before(text, match.start())
        if not (prose and (is_bound(before) or (_WITH.match(match[0]) and is_of_error(before)))):
            stated.append((value or following.strip(), prose))
    kept = without_errors([value for value, _ in stated])
    found = [(read(value), prose) for value, prose in stated if value in kept]
    return [value for value, prose in found if not (prose and value == UNREAD)]


def is_bound(before: str) -> bool:
    """Whether what stands before a claim in its sentence makes it a condition's, or somebody else's."""
    return CONDITION.search(before) is not None or REPORTS.search(before) is not None


def one_guess(values: Iterable[Stated]) -> tuple[Guess, ...]:
    """Take the one confidence that a reply states; none if it states none, or several that differ."""
    different = list({(value.percent, value.decimal): value for value in values}.values())
    return (Guess(None, different[0]),) if len(different) == 1 and different[0] != UNREAD else ()


def sentence_before(plain: str, place: int) -> str:
    """Give what stands before a place in its sentence."""
    return re.split(r"[.!?]\s|\n", plain[max(place - LONGEST_TELLING, 0) : place])[-1]
