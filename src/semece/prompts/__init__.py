"""Prompts: the texts, one file each, and the readers of what comes back.

A text's file name ends in its version. A text that changes gets a new version, and every prompt has a hash over its
text and its options, so that a run file says what was asked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Literal

from semece.canonical_json import digest
from semece.errors import ParseError
from semece.models import Message
from semece.prompts.answer_places import Labels
from semece.prompts.conclusions import said
from semece.prompts.confidences import Scale, Stated
from semece.prompts.elicitations import ELICITATIONS, AskedAnswer, Elicitation, choices
from semece.prompts.elicitations import VERSION as WORDS_VERSION
from semece.prompts.final_message import is_blank
from semece.prompts.markup import bare, last_box
from semece.prompts.non_answers import is_non_answer
from semece.prompts.replies import (
    GRADE_SCHEMA,
    PAIR_SCHEMA,
    PARTITION_SCHEMA,
    by_first_appearance,
    read_grade,
    read_pair,
    read_partition,
)
from semece.prompts.responses import Reading, is_short, read_response
from semece.prompts.statements import Guess
from semece.prompts.word_scales import SCALES, read_words

if TYPE_CHECKING:
    from semece.records import Question

__all__ = [
    "ELICITATIONS",
    "ELICITS",
    "GRADE_SCHEMA",
    "PAIR_SCHEMA",
    "PARTITION_SCHEMA",
    "AskedAnswer",
    "Elicit",
    "Elicitation",
    "Guess",
    "Labels",
    "Reading",
    "ResponsePrompt",
    "Scale",
    "Stated",
    "Style",
    "bare",
    "by_first_appearance",
    "is_blank",
    "is_non_answer",
    "is_short",
    "last_box",
    "load_text",
    "read_grade",
    "read_pair",
    "read_partition",
    "read_response",
    "reader_id",
    "response_prompt",
    "said",
]

Elicit = Literal["percent", "none", "linguistic", "linguistic-mielke"]
"""What is asked for beside the answer: a confidence in percent, nothing, or a word of a scale."""

ELICITS: tuple[Elicit, ...] = ("percent", "none", "linguistic", "linguistic-mielke")

Style = Literal["chat", "completion"]
"""How a model is asked: by a message, or by a text that it continues."""

PLACEHOLDER = "{question}"
READER = "reader-4"
"""The id of what reads responses: changes whenever a reading may change. Readings are stored under it."""

VERSION = 1

_ANSWER_LINE = r'root ::= " " [^\n]{1,40} "\n'
_GRAMMARS: dict[Elicit, str] = {
    "percent": _ANSWER_LINE + 'Confidence: " num "%"\nnum ::= "100" | [1-9]? [0-9]\n',
    "none": _ANSWER_LINE + '"\n',
    "linguistic": f'{_ANSWER_LINE}Confidence: " word\nword ::= {choices(SCALES["linguistic"])}\n',
    "linguistic-mielke": f'{_ANSWER_LINE}Confidence: " word\nword ::= {choices(SCALES["linguistic-mielke"])}\n',
}


def reader_id(pattern: str | None = None) -> str:
    """Name what reads responses, with a pattern of the user's own if there is one.

    Examples
    --------
    >>> reader_id() == READER, reader_id("= (.*)").removeprefix(READER)
    (True, ';d32bcca583b0b171')
    """
    return READER if pattern is None else f"{READER};{digest(pattern).hex()[:16]}"


@cache
def load_text(name: str) -> str:
    """Read a prompt text of this package by its file name without ``.txt``, without the last line break.

    Examples
    --------
    >>> "{question}" in load_text("chat-percent-v1")
    True
    """
    return resources.files(__package__).joinpath(f"{name}.txt").read_text(encoding="utf-8").rstrip("\n")


@dataclass(frozen=True, slots=True)
class ResponsePrompt:
    """How a question is put, and how the response is read.

    Parameters
    ----------
    name : str
        Of the text, with its version; ``file`` for a text of the user's own.
    text : str
        With the placeholder ``{question}``.
    style : {'chat', 'completion'}
        One user message, or one text to be continued.
    labels : Labels
        What the lines of a response begin with.
    grammar : str or None
        A GBNF grammar of the continuation, for models that take one.
    pattern : str or None
        A regular expression that finds the answer in a response, before everything else.
    scale : str or None
        The scale of words in which a confidence is asked for; None: in numbers, or not at all.
    """

    name: str
    text: str
    style: Style = "chat"
    labels: Labels = field(default_factory=Labels)
    grammar: str | None = None
    pattern: str | None = None
    scale: str | None = None

    @property
    def hash(self) -> str:
        """Sha256 over everything that changes the messages or what is looked for in a response.

        The code of the reader is not part of it, and no pattern: another reading reads the responses that are there.
        """
        parts = [self.text, self.style, self.labels.answer, self.labels.confidence, self.grammar]
        return digest(parts if self.scale is None else [*parts, self.scale]).hex()

    @property
    def reading_id(self) -> str:
        """Names everything that changes a reading: under it readings are stored."""
        words = "" if self.scale is None else f";{WORDS_VERSION}"
        return f"{self.hash[:16]};{reader_id(self.pattern)}{words}"

    @property
    def continues_answer(self) -> bool:
        """Whether a response begins where the answer begins."""
        return self.style == "completion" and self.text.rstrip().endswith(f"{self.labels.answer}:")

    def messages(self, question: Question) -> tuple[Message, ...]:
        """Put a question.

        Examples
        --------
        >>> from semece.records import Question
        >>> messages = response_prompt().messages(Question("q1", "Which planet is the largest?"))
        >>> "Question: Which planet is the largest?" in messages[0].content.splitlines()
        True
        """
        role: Literal["user", "completion"] = "user" if self.style == "chat" else "completion"
        return (Message(role, self.text.replace(PLACEHOLDER, question.text.strip())),)

    def read(self, text: str) -> Reading:
        r"""Read a response; see :func:`semece.prompts.responses.read_response`.

        Examples
        --------
        >>> response_prompt().read("Well.\nAnswer: Jupiter\nConfidence: 90%")
        Reading(answer='Jupiter', confidence=0.9, status='parsed', stated='90%')
        >>> response_prompt(style="completion").read(" Jupiter\nConfidence: 90%")
        Reading(answer='Jupiter', confidence=0.9, status='parsed', stated='90%')
        >>> response_prompt("linguistic").read("Answer: Jupiter\nConfidence: high")
        Reading(answer='Jupiter', confidence=0.7, status='parsed', stated='high')
        """
        pattern = None if self.pattern is None else re.compile(self.pattern)
        found = read_response(text, self.labels, continues_answer=self.continues_answer, pattern=pattern)
        if self.scale is None:
            return found
        word = read_words(text, self.scale, alone=False)
        return replace(found, confidence=word[0].said.certain if word else None)


def response_prompt(elicit: Elicit = "percent", *, style: Style = "chat", text: str | None = None) -> ResponsePrompt:
    """Give the prompt that asks for a response.

    Parameters
    ----------
    elicit : {'percent', 'none', 'linguistic', 'linguistic-mielke'}
        Whether a confidence is asked for, and how: in percent, or in the words of a scale.
    style : {'chat', 'completion'}
        How the model is asked.
    text : str, optional
        A text of the user's own instead of ours, with the placeholder ``{question}``. Line breaks at its end are left
        out where a model continues it: after them it would not go on with the answer.

    Raises
    ------
    ValueError
        If ``elicit`` or ``style`` is none of the words above.
    semece.errors.ParseError
        If ``text`` has no placeholder.

    Examples
    --------
    >>> response_prompt("none").name
    'chat-none-v1'
    """
    if elicit not in _GRAMMARS:
        raise ValueError(f"elicit must be {', '.join(ELICITS[:-1])} or {ELICITS[-1]}; got {elicit!r}")
    if style not in ("chat", "completion"):
        raise ValueError(f"style must be chat or completion; got {style!r}")
    labels, scale = Labels(confidence=None if elicit == "none" else "Confidence"), elicit if elicit in SCALES else None
    if text is not None and PLACEHOLDER not in text:
        raise ParseError(f"a prompt must contain the placeholder {PLACEHOLDER}; got a text without it")
    name = "file" if text is not None else f"{style}-{elicit}-v{VERSION}"
    own = text.rstrip("\n") if text is not None and style == "completion" else text
    prompt = ResponsePrompt(name, own if own is not None else load_text(name), style, labels, scale=scale)
    return replace(prompt, grammar=_GRAMMARS[elicit]) if prompt.continues_answer else prompt
