"""The reader of responses: the answer, and the confidence the model stated."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

FALLBACK_LENGTH = 200
"""How many characters of a response without an answer line are taken for the answer."""


@dataclass(frozen=True, slots=True)
class Labels:
    """What the lines of a response begin with; no confidence is looked for if its label is None."""

    answer: str = "Answer"
    confidence: str | None = "Confidence"


@dataclass(frozen=True, slots=True)
class Reading:
    """What a response says.

    Parameters
    ----------
    answer : str
        The short text; ``''`` for a non-answer.
    confidence : float or None
        In [0, 1]; None if none was stated or it cannot be read with certainty.
    status : {'parsed', 'fallback', 'non_answer'}
        Whether there was an answer line, the end of the text was taken, or nothing was left.
        A refusal in words is read like any answer.
    """

    answer: str
    confidence: float | None
    status: Literal["parsed", "fallback", "non_answer"]


@dataclass(frozen=True, slots=True)
class _Part:
    """A line of a response: an answer line, a confidence line, or any other."""

    kind: Literal["answer", "confidence", "other"]
    text: str


_THINKING = re.compile(r"<(think|thinking)>.*?(?:</\1>|\Z)", re.IGNORECASE | re.DOTALL)
_END_OF_THINKING = re.compile(r"\A.*</think(?:ing)?>", re.IGNORECASE | re.DOTALL)


def without_thinking(text: str) -> str:
    """Take out what a reasoning model thought aloud: ``<think>...</think>``, also if one of the two tags is missing.

    Examples
    --------
    >>> without_thinking("<think>Lyon? No.</think>Answer: Paris")
    'Answer: Paris'
    >>> without_thinking("Lyon? No.</think>Answer: Paris")
    'Answer: Paris'
    """
    return _END_OF_THINKING.sub("", _THINKING.sub("", text))


_WRAPPERS = tuple(
    re.compile(pattern, re.DOTALL)
    for pattern in (
        r"```[\w-]*\n((?:(?!```).)+?)\n?```",
        r"\*\*((?:(?!\*\*).)+)\*\*",
        r"__((?:(?!__).)+)__",
        r"\*([^*]+)\*",
        r"_([^_]+)_",
        r"`([^`]+)`",
        r"\$\$([^$]+)\$\$",
        r"\$([^$]+)\$",
        r"\\\(((?:(?!\\\)).)+)\\\)",
        r"\\\[((?:(?!\\\]).)+)\\\]",
        r"\\(?:boxed|fbox|text|textbf|textit|textrm|mathrm|mathbf|emph)\s*\{(.*)\}",
    )
)


_OPENERS = frozenset("`*_$\\")
"""What a wrapper begins with; most texts begin with none and are done at once."""


def unwrap(text: str) -> str:
    r"""Strip white space and the markdown or LaTeX that encloses the whole text, layer by layer.

    Examples
    --------
    >>> unwrap("**Paris**"), unwrap(r"$\boxed{\text{Paris}}$"), unwrap("A* and B*")
    ('Paris', 'Paris', 'A* and B*')
    """
    inner = text.strip()
    while inner[:1] in _OPENERS:
        found = next((m[1].strip() for w in _WRAPPERS if (m := w.fullmatch(inner)) and _is_balanced(m[1])), None)
        if found is None:
            return inner
        inner = found
    return inner


def _is_balanced(text: str) -> bool:
    """Whether no closing brace comes before its opening one."""
    depth = 0
    for mark in re.findall(r"[{}]", text):
        depth += 1 if mark == "{" else -1
        if depth < 0:
            return False
    return depth == 0


_VALUE = re.compile(
    r"(?P<number>\d+(?:\.\d+|,\d{1,2}(?!\d))?|\.\d+)\s*(?P<percent>[%٪]|per ?cent\b)?\s*(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_REST = re.compile(r"(?:confident|confidence|certain|sure)?\s*(?:[^\w\s%/+].*)?", re.IGNORECASE | re.DOTALL)


@lru_cache(maxsize=4096)
def read_confidence(text: str) -> float | None:
    r"""Read a stated confidence; None if it is missing, out of range or ambiguous.

    With a percent sign it is divided by 100; a decimal up to 1 is taken as it is; an integer from 2 to 100 is divided
    by 100. A bare ``1`` may be 1 % or certainty: None. So is a range, a bound or a fraction. Nothing is clamped.

    Returns
    -------
    float or None
        In [0, 1].

    Examples
    --------
    >>> [read_confidence(t) for t in ("90%", "0.9", "90", r"**90\%**", "0")]
    [0.9, 0.9, 0.9, 0.9, 0.0]
    >>> [read_confidence(t) for t in ("1", "150%", "80-90%", "high", "9/10", "-5%", "12.5")]
    [None, None, None, None, None, None, None]
    """
    found = _VALUE.fullmatch(unwrap(unicodedata.normalize("NFKC", text.replace("\\%", "%"))))
    if found is None or re.search(r"\d", found["rest"]) or not _REST.fullmatch(found["rest"]):
        return None
    number = float(found["number"].replace(",", "."))
    if found["percent"]:
        return number / 100 if number <= 100 else None
    if not found["number"].isdecimal():
        return number if number <= 1 else None
    return number / 100 if number == 0 or 2 <= number <= 100 else None


_MARKS = r"[*_`]{0,4}"


@cache
def _patterns(label: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Give what a line that begins with the label looks like, and what a line with the label inside looks like."""
    tail = rf"{re.escape(label)}(?P<closed>{_MARKS})\s*[:：](?P<after>{_MARKS})(?P<value>.*)"
    begins = re.compile(rf"[\W_]*?(?P<marks>{_MARKS})(?:final\s+)?{tail}", re.IGNORECASE)
    inside = re.compile(rf"(?P<before>.*[^\w])(?P<marks>{_MARKS}){tail}", re.IGNORECASE)
    return begins, inside


def _value(found: re.Match[str]) -> str:
    """Give what follows the label, without the marks that the label opened or that close it."""
    value = found["value"].strip()
    if found["marks"] and not found["closed"] and not found["after"]:
        value = unwrap(found["marks"] + value).removeprefix(found["marks"])
    return value


def _parts(text: str, labels: Labels) -> Iterator[_Part]:
    """Cut a response into parts; a confidence at the end of another line is a part of its own."""
    answer = _patterns(labels.answer)[0]
    for whole in text.splitlines():
        line, stated = _split_confidence(whole, labels.confidence)
        if line is not None:
            found = answer.fullmatch(line) if _may_hold(line, labels.answer) else None
            yield _Part("answer", _value(found)) if found else _Part("other", line)
        if stated is not None:
            yield _Part("confidence", stated)


def _split_confidence(line: str, label: str | None) -> tuple[str | None, str | None]:
    """Split a line into what is no confidence and the confidence, None for what is not there."""
    if label is None or not _may_hold(line, label):
        return line, None
    begins, inside = _patterns(label)
    if found := begins.fullmatch(line):
        return None, _value(found)
    found = inside.fullmatch(line)
    if found and read_confidence(_value(found).rstrip(")] ")) is not None:
        return found["before"].rstrip(" \t;,|([-–—"), _value(found).rstrip(")] ")
    return line, None


def _may_hold(line: str, label: str) -> bool:
    """Whether a label, in whatever case, can be in a line: cheaper than a pattern; only ASCII has two cases alone."""
    return not line.isascii() or not label.isascii() or label.lower() in line.lower()


def _confidence(parts: list[_Part], last: int | None, first: int | None) -> float | None:
    """Read the confidence that belongs to the last answer: what follows it, or, if it is the only one, precedes it."""
    after = [part.text for part in parts[(last or 0) :] if part.kind == "confidence"]
    if not after and last == first:
        after = [part.text for part in parts if part.kind == "confidence"]
    values = {read_confidence(text) for text in after}
    return values.pop() if len(values) == 1 else None


def read_response(text: str, labels: Labels | None = None, *, continues_answer: bool = False) -> Reading:
    r"""Read a response.

    What was thought aloud is not read. Confidence lines are taken out first. The last answer line wins; the answer
    goes on to the next confidence line or to the end. Without an answer line the last 200 characters are taken: of what
    comes before the confidence if one was stated, since explanations follow it, else of the whole text. Markdown and
    LaTeX around the answer are stripped. If several confidences belong to the answer and differ, it has none.

    Parameters
    ----------
    text : str
        The response as it came.
    labels : Labels, optional
        What the lines begin with: ``Answer`` and ``Confidence`` if not given.
    continues_answer : bool
        The response begins where the answer begins, as after a prompt that ends in ``Answer:``; a question that the
        model went on to ask itself is not read.

    Returns
    -------
    Reading

    Examples
    --------
    >>> read_response("I first thought of Lyon.\n**Answer:** Paris\n**Confidence:** 85%")
    Reading(answer='Paris', confidence=0.85, status='parsed')
    >>> read_response("It is Paris.")
    Reading(answer='It is Paris.', confidence=None, status='fallback')
    """
    labels = labels or Labels()
    body = without_thinking(text)
    if continues_answer:
        body = f"{labels.answer}: " + re.split(r"\n[ \t]*Question:", body, maxsplit=1)[0]
    parts = list(_parts(body, labels))
    starts = [i for i, part in enumerate(parts) if part.kind == "answer"]
    if starts:
        answer = unwrap("\n".join(_lines(parts[starts[-1] :])))
        confidence = _confidence(parts, starts[-1], starts[0])
    else:
        answer = unwrap(_unlabelled(parts))[-FALLBACK_LENGTH:].strip()
        confidence = _confidence(parts, None, None)
    if not answer:
        return Reading("", confidence, "non_answer")
    return Reading(answer, confidence, "parsed" if starts else "fallback")


def _lines(parts: list[_Part]) -> Iterator[str]:
    """Give the lines up to the next confidence."""
    for part in parts:
        if part.kind == "confidence":
            return
        yield part.text


def _unlabelled(parts: list[_Part]) -> str:
    """Give what comes before the last confidence that has text before it; without one, all the text."""
    stated = [-1, *(i for i, part in enumerate(parts) if part.kind == "confidence")]
    blocks = ["\n".join(_lines(parts[i + 1 :])).strip() for i in stated]
    return next((block for block in reversed(blocks[:-1]) if block), blocks[-1])
