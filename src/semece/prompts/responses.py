"""The reader of responses: the answer, the confidence the model stated, and how they were found."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from semece.prompts.answer_places import Labels, Place, in_json, labelled, lines_of, stated, tagged
from semece.prompts.conclusions import conclude
from semece.prompts.confidences import read_stated, without_errors
from semece.prompts.final_message import final_message, is_blank
from semece.prompts.markdown_tables import confidences_as_lines
from semece.prompts.markup import bare
from semece.prompts.non_answers import is_non_answer
from semece.prompts.passing_confidences import stated_in_passing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semece.prompts.answer_places import TextLine

ReadStatus = Literal["parsed", "concluded", "fallback", "non_answer", "empty"]


@dataclass(frozen=True, slots=True)
class Reading:
    """What a response says.

    Parameters
    ----------
    answer : str
        The short text; ``''`` if there is none. A refusal in words is read like any answer.
    confidence : float or None
        In [0, 1]; None if none was stated or it cannot be read with certainty from this response alone.
    status : {'parsed', 'concluded', 'fallback', 'non_answer', 'empty'}
        Whether there was an answer line or tag, or a closing convention, or the whole text was taken; whether what was
        found is a refusal or nothing; ``empty``: the response has no text outside its thoughts.
    stated : str
        The confidence as the response states it; ``''`` if it states none.
    """

    answer: str
    confidence: float | None
    status: ReadStatus
    stated: str = ""


_NEXT_QUESTION = re.compile(
    r"^[ \t>#*_]{0,20}(?:(?:next |new )?question|q|problem|exercise|human|user|instruction)(?: ?\d{1,4})?"
    r"[ \t*_]{0,8}[:：]",
    re.IGNORECASE | re.MULTILINE,
)
_EXPLAINS = re.compile(
    r"^[\W_]{0,20}(?:brief )?(?:explanation|reason(?:ing)?|rationale|justification|notes?|sources?|context)"
    r"[*_]{0,3}[:：]",
    re.IGNORECASE | re.MULTILINE,
)
_INSTRUCTIONS = frozenset(
    {
        "the answer alone, in as few words as possible; write i don't know if you do not know it",
        "the answer alone, in as few words as possible",
        "the answer alone",
    }
)
_PLACEHOLDER = re.compile(
    r"[<\[{(]\s*(?:(?:your|the|a|an|insert|short|final|brief|concise)\s+)*(?:answer|response)\b[^<>\[\]{}()\n]{0,80}[>\]})]"
    r"|\.\.\.|…|_{2,}|<(?:your|insert|fill|short|x|text)\b[^<>]{0,40}>|\[[^\[\]\d,]{0,40}here\]"
    r"|your (?:final |short )?answer(?: here)?",
    re.IGNORECASE,
)
_ASKED = re.compile(
    r"[<\[{(\s]*(?:N\s*%|X+\s*%|your confidence|(?:a )?(?:number|percentage)\b|0\s*[-–]\s*100)", re.IGNORECASE
)
"""What a prompt says a confidence should be."""


_SHORT_WORDS, _SHORT_CHARACTERS = 10, 80


def is_short(text: str) -> bool:
    r"""Whether a reply is so short that all of it can be the answer: a line of at most 10 words and 80 characters.

    Examples
    --------
    >>> is_short("It is Paris."), is_short("Let me think.\nParis")
    (True, False)
    """
    line = text.strip()
    return len(line) <= _SHORT_CHARACTERS and "\n" not in line and len(line.split()) <= _SHORT_WORDS


def read_response(
    text: str, labels: Labels | None = None, *, continues_answer: bool = False, pattern: re.Pattern[str] | None = None
) -> Reading:
    r"""Read a response.

    What is not the final message is taken out first: thoughts, marks of turns, a question that the model goes on to
    ask itself after its answer. Then the answer is looked for: `pattern`, if there is one; an answer line, an
    ``<answer>`` tag or a JSON object with ``answer``, the last of them, those in quotes and code blocks only if there
    are no others; a closing convention (:func:`semece.prompts.conclusions.conclude`); else the whole text is taken.
    Markdown, dollar signs of LaTeX and a final full stop around it are taken off. A repeated instruction is no answer.
    The confidence is the one that follows the answer or, if there is one answer, precedes it; if several differ, it
    cannot be read. If none is labelled, a clause at the end of the answer's line, or of a line behind it, may state it:
    'I'm 80% sure', '(80% confident)'; it is no part of the answer.

    Parameters
    ----------
    text : str
        The response as it came.
    labels : Labels, optional
        What the lines begin with: ``Answer`` and ``Confidence`` if not given.
    continues_answer : bool
        The response begins where the answer begins, as after a prompt that ends in ``Answer:``.
    pattern : re.Pattern, optional
        Finds the answer: its group ``answer``, its first group, or all of it; the last match counts.

    Returns
    -------
    Reading

    Examples
    --------
    >>> read_response("I first thought of Lyon.\n**Answer:** Paris\n**Confidence:** 85%")
    Reading(answer='Paris', confidence=0.85, status='parsed', stated='85%')
    >>> read_response("It is Paris.")
    Reading(answer='It is Paris', confidence=None, status='fallback', stated='')
    >>> read_response("<think>Paris?").status, read_response("Answer: I don't know").status
    ('empty', 'non_answer')
    """
    labels = labels or Labels()
    if is_blank(final := final_message(text)):
        return Reading("", None, "empty")
    body = confidences_as_lines(_asked_alone(final, labels, continues_answer=continues_answer))
    found, status, place = _find(body, labels, pattern)
    value, said = _confidence(found, place)
    if not found.answer or is_non_answer(found.answer):
        status = "non_answer"
    return Reading(found.answer, value, status, said)


@dataclass(frozen=True, slots=True)
class _Found:
    """What was found: the answer with how many there were, and the confidences."""

    answer: str
    only: bool
    confidences: tuple[Place, ...]
    beside: str | None = None


def _asked_alone(text: str, labels: Labels, *, continues_answer: bool) -> str:
    """Cut off the questions that the model goes on to ask itself after its answer."""
    if continues_answer:
        text = f"{labels.answer}: {text.lstrip(' ')}"
    for found in list(_NEXT_QUESTION.finditer(text))[:_QUESTIONS]:
        before = text[: found.start()]
        if before.strip() and (_answers(before, labels) or stated(lines_of(before), before, labels.confidence)[0]):
            return before
    return text


_QUESTIONS = 20
"""How many lines that look like a question are tried as the end of an answer."""


def _answers(text: str, labels: Labels) -> bool:
    """Whether a text gives an answer."""
    places = (*labelled(lines_of(text), labels), *tagged(text), *in_json(text))
    return any(place.text and not _is_placeholder(place.text) for place in places) or conclude(text) is not None


def _find(body: str, labels: Labels, pattern: re.Pattern[str] | None) -> tuple[_Found, ReadStatus, int]:
    """Find the answer, how it was found and where it begins.

    Where no confidence is labelled, one that a clause states in passing counts, if an answer is left without it.
    """
    confidences, lines = stated(lines_of(body), body, labels.confidence)
    if labels.confidence is not None and not confidences:
        in_passing, without = stated_in_passing(lines, labels)
        if in_passing and (found := _look(body, without, labels, pattern, in_passing))[0].answer:
            return found
    return _look(body, lines, labels, pattern, confidences)


def _look(
    body: str, lines: list[TextLine], labels: Labels, pattern: re.Pattern[str] | None, confidences: list[Place]
) -> tuple[_Found, ReadStatus, int]:
    """Find the answer in a reply and its lines without the confidences."""
    said = tuple(place for place in confidences if not _ASKED.match(place.text))
    if pattern is not None and (match := _last_match(pattern, body)):
        return _Found(bare(match[1]), False, said), "parsed", match[0]
    places = [*labelled(lines, labels), *tagged(body), *in_json(body)]
    echoes = {place.start for place in places if _is_placeholder(place.text)}
    if given := _given([place for place in places if place.start not in echoes]):
        last = max(given, key=lambda place: place.start)
        heard = tuple(place for place in said if last.quoted or not place.quoted)
        return _Found(last.text, len(given) == 1, heard, last.confidence), "parsed", last.start
    rest = _without([line for line in lines if line.start not in echoes], said)
    concluded = conclude(rest)
    if concluded:
        return _Found(concluded[1], True, said), "concluded", 0
    return _Found(_whole(rest), True, said), "fallback", 0


def _given(places: list[Place]) -> list[Place]:
    """Leave out quoted answers if there are others, and empty ones if they are not the last of them."""
    unquoted = [place for place in places if not place.quoted] or places
    if any(place.text for place in unquoted):
        return [place for place in unquoted if place.text or place is unquoted[-1]]
    return unquoted


def _last_match(pattern: re.Pattern[str], text: str) -> tuple[int, str] | None:
    """Find where the last match of the user's pattern begins, and the answer in it."""
    found = list(pattern.finditer(text))[-1:]
    if not found:
        return None
    group = "answer" if "answer" in pattern.groupindex else min(pattern.groups, 1)
    return found[0].start(), found[0][group] or ""


def _is_placeholder(text: str) -> bool:
    """Whether an answer only repeats what a prompt says an answer should be."""
    plain = text.strip().strip("<>[]{}\"'").rstrip(".").casefold().replace("’", "'")
    return plain in _INSTRUCTIONS or (len(text) <= 200 and _PLACEHOLDER.fullmatch(text.strip()) is not None)


def _without(lines: Sequence[TextLine], said: tuple[Place, ...]) -> str:
    """Give what comes before the last confidence that has text before it; without one, all the text."""
    begins = next((line.start for line in lines if line.text), None)
    ends = max((place.start for place in said if begins is not None and place.start >= begins), default=None)
    if ends is not None:
        lines = [line for line in lines if line.start <= ends]
    return "\n".join(line.text for line in lines).strip()


def _whole(text: str) -> str:
    """Take a whole text for the answer, without an explanation that is labelled as one."""
    explained = _EXPLAINS.search(text)
    before = text[: explained.start()] if explained else text
    whole = bare(before if before.strip() else text)
    return "" if _is_placeholder(whole) else whole


_SHOWN = 4
"""How many confidences that differ are shown."""


def _confidence(found: _Found, start: int) -> tuple[float | None, str]:
    """Read the confidence that belongs to the answer, and say how it is stated."""
    if found.beside is not None:
        return read_stated(found.beside).certain, found.beside
    texts = without_errors(_belonging(found, start))
    values = {read_stated(text) for text in texts}
    if len({(value.percent, value.decimal) for value in values}) <= 1:
        return (read_stated(texts[-1]).certain, texts[-1]) if texts else (None, "")
    return None, " / ".join(dict.fromkeys(texts[:_SHOWN]))


def _belonging(found: _Found, start: int) -> list[str]:
    """Give the confidences that follow an answer or, if it is the only one, precede it."""
    after = [place.text for place in found.confidences if place.start >= start]
    return after or ([place.text for place in found.confidences] if found.only else [])
