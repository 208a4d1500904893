"""How replies without an answer line conclude: the conventions of the field, the last of which is the answer."""

from __future__ import annotations

import re

from semece.prompts.markup import bare, last_box

_SENTENCE = re.compile(
    r"\b(?:the|my|our)\s+(?:(?:final|correct|right|best|overall|short|exact|numerical?)\s+)*"
    r"(?:answer|(?:answer\s+)?choice|option|solution\s+is\s+option)"
    r"(?:\s+to\s+(?:the|this|your)\s+(?:question|problem|puzzle|riddle))?\s+(?:is|would be|should be|must be)\b"
    r"(?:\s+(?:therefore|thus|then|hence|simply|just|clearly)\b,?)?[ \t]*[:：]?[ \t]*(?:\n\s*(?=[$\\*`\d]))?",
    re.IGNORECASE,
)
_HASHES = re.compile(r"^[ \t>*]*####[ \t]*(?P<value>[^\n#][^\n]*)$", re.MULTILINE)
_THEREFORE = re.compile(
    r"\W*(?:therefore|thus|hence|so|in (?:conclusion|summary|short)|consequently|finally|overall|as a result|"
    r"this means|we conclude)\b",
    re.IGNORECASE,
)
_BOLD = re.compile(r"\*\*([^*\n]{1,300})\*\*|__([^_\n]{1,300})__")
_STOP = re.compile(r"(?<!\\)[.!?](?=[\"'”’)\]*_$]*(?:\s|$))")
_NO_STOP = re.compile(
    r"(?:(?<![^\W\d_])[^\W\d_]|\.[^\W\d_]{1,2}|(?<![^\W\d_])(?:Dr|Mr|Mrs|Ms|St|Jr|Sr|Prof|Gen|Col|Capt|Lt|Sgt|Rev|vs|No|Mt|Ft|"
    r"approx|ca|cf|etc|Inc|Ltd|Co|Corp))\Z"
)
_BECAUSE = re.compile(r",?\s+(?:because|as it (?:is|was)|, since)\s.*\Z", re.DOTALL)
_HOPE = re.compile(r"\.?\s*I hope (?:it|this) (?:is correct|helps)\.?\s*\Z")
_LONGEST = 1000
"""Characters of a sentence that is looked at."""


def conclude(text: str) -> tuple[int, str] | None:
    r"""Find the closing convention that comes last: where it begins, and the answer.

    The last ``\boxed{}``; ``#### x``; 'the (final) answer is x'; a last line that is bold, or begins with 'Therefore'
    or the like and has one bold part at its end.

    Examples
    --------
    >>> conclude("48 * 2 = 96\n#### 96")
    (12, '96')
    >>> conclude(r"So \boxed{12} is half and the total is \boxed{72}.")
    (39, '72')
    >>> conclude("We add 48 and 24. The answer is 72.")
    (18, '72')
    >>> conclude("Sydney is larger.\n\nTherefore, it is **Canberra**.")
    (19, 'Canberra')
    """
    found = [place for place in (_boxed(text), _hashes(text), _said(text), _bold(text)) if place and place[1]]
    if not found:
        return None
    return max(found, key=lambda place: place[0])


def _boxed(text: str) -> tuple[int, str] | None:
    found = last_box(text)
    return None if found is None else (found[0], bare(found[2]))


def _hashes(text: str) -> tuple[int, str] | None:
    found = list(_HASHES.finditer(text))[-1:]
    return (found[0].start(), bare(found[0]["value"])) if found else None


def _said(text: str) -> tuple[int, str] | None:
    """Find the last sentence that says what the answer is."""
    found = list(_SENTENCE.finditer(text))[-1:]
    return (found[0].start(), said(text[found[0].start() :]) or "") if found else None


def said(text: str) -> str | None:
    """Give what a text says the answer is that begins 'the answer is'; None if it does not.

    Examples
    --------
    >>> said("The final answer is $72$. I hope it is correct."), said("Paris")
    ('72', None)
    """
    found = _SENTENCE.search(text, 0, 200)
    if found is None:
        return None
    sentence = text[found.end() : found.end() + _LONGEST]
    if not sentence.startswith(("$$", "\\[", "```")):
        sentence = sentence.split("\n", 1)[0]
    elif len(parts := re.split(r"(\$\$|\\\]|```)", sentence[2:], maxsplit=1)) > 1:
        sentence = sentence[:2] + parts[0] + parts[1]
    value = _HOPE.sub("", sentence[: _end(sentence)].strip())
    shortened = _BECAUSE.sub("", value)
    return bare(_without_stray_marks(shortened or value))


def _end(sentence: str) -> int:
    """Find where a sentence ends: at a full stop that belongs to no abbreviation and no name."""
    for stop in _STOP.finditer(sentence):
        if not _NO_STOP.search(sentence, max(0, stop.start() - 12), stop.start()) or not sentence[stop.end() :].strip():
            return stop.start()
    return len(sentence)


def _without_stray_marks(text: str) -> str:
    """Take off marks of bold that were opened before the sentence: 'the answer is 72**'."""
    text = text.strip()
    return text.removesuffix("**").strip() if text.count("**") % 2 else text


def _bold(text: str) -> tuple[int, str] | None:
    """Find what is bold in the last line, if the line is bold or concludes."""
    whole = text.rstrip()
    start = whole.rfind("\n") + 1
    line = whole[start:]
    bold = list(_BOLD.finditer(line[-_LONGEST:]))
    if not bold:
        return None
    return (start, bare(bold[-1][1] or bold[-1][2])) if _is_bold_conclusion(line, bold) else None


def _is_bold_conclusion(line: str, bold: list[re.Match[str]]) -> bool:
    """Whether a line is bold as a whole, or concludes with what is bold."""
    if len(bold) == 1 and not line.replace(bold[0][0], "").strip(" \t.!>-*"):
        return True
    ends = not line[-_LONGEST:][bold[-1].end() :].strip(" \t.!)\"'")
    return _THEREFORE.match(line) is not None and (ends or len(bold) == 1)
