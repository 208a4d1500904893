"""The judge that is a language model.

It asks by queries (:class:`semece.judges.Query`): whoever runs its procedures looks into the store first and stores
every raw reply, so the same procedure that asked can be run again later on what is stored, at no cost.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from semece.canonical_json import digest
from semece.judges.judge_protocol import Query
from semece.judges.judged_questions import StringJudge
from semece.models import Decoding, Message
from semece.prompts import (
    GRADE_SCHEMA,
    PAIR_SCHEMA,
    PARTITION_SCHEMA,
    by_first_appearance,
    load_text,
    read_grade,
    read_pair,
    read_partition,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from semece.judges.judge_protocol import Procedure
    from semece.records import Question, Verdict

PROMPTS = ("default", "strict", "loose")
"""How readily answers are joined and called correct."""

METHODS = ("classes", "pairs")
"""How answers are grouped: by listing the classes of all of them, or by comparing two at a time."""

TEXTS = 2
"""The version of the texts. Replies to older ones are read by a judge with ``texts=1``."""

CHUNK = 60
"""Most strings in one call."""

JUDGE_TOKENS = 2048
"""Most tokens of one reply, unless a judge is given more room: one that reasons first may need it."""

CLIP = 500
"""Characters of an answer that the judge is shown in a partition; four times as many in a grade."""

VERSION = 2
"""Of what is made of replies: how they are read, and how the calls of one question are put together."""


@dataclass(frozen=True, slots=True)
class LLMJudge(StringJudge):
    """A language model as judge.

    Parameters
    ----------
    model : str
        The spelling that opens it, such as ``openai/gpt-4o-mini``.
    prompt : {'default', 'strict', 'loose'}
        Which texts instruct it.
    seed : int
        Of the order in which answers are shown.
    order : int
        Which of the orders under one seed, from 0: to see what the order changes.
    max_tokens : int
        Most tokens of one reply, >= 1. Not part of its name or id: more room makes no other judge.
    method : {'classes', 'pairs'}
        How it groups: one call lists the classes of all answers, or each call compares two, which small models can.
    texts : {1, 2}
        The version of the texts.

    Attributes
    ----------
    id : str
        Model, prompt with the hash of its texts, and options: what stands beside its replies.

    Raises
    ------
    ValueError
        If ``prompt`` is none of the three, ``method`` none of the two, or ``max_tokens`` is below 1.

    Examples
    --------
    >>> LLMJudge("openai/gpt-4o-mini").name, LLMJudge("openai/gpt-4o-mini", prompt="strict", order=1).name
    ('openai/gpt-4o-mini', 'openai/gpt-4o-mini#strict,order=1')
    """

    model: str
    prompt: str = "default"
    seed: int = 0
    order: int = 0
    max_tokens: int = JUDGE_TOKENS
    method: str = "classes"
    texts: int = TEXTS
    id: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.max_tokens < 1:
            raise ValueError(f"a judge's max_tokens must be at least 1; got {self.max_tokens}")
        if self.prompt not in PROMPTS:
            raise ValueError(f"a judge's prompt must be one of {', '.join(PROMPTS)}; got {self.prompt!r}")
        if self.method not in METHODS:
            raise ValueError(f"a judge's method must be classes or pairs; got {self.method!r}")
        prompt = f"{'pairs+' if self.method == 'pairs' else ''}{self.prompt}@{self.prompt_hash[:12]}"
        object.__setattr__(self, "id", f"llm:{self.model};prompt={prompt};seed={self.seed};order={self.order}")

    @property
    def name(self) -> str:
        """Its spelling: the model's, and after a ``#`` what is not the default."""
        parts = [self.prompt] if self.prompt != "default" else []
        parts += [self.method] if self.method != "classes" else []
        parts += [f"v{self.texts}"] if self.texts != TEXTS else []
        parts += [f"{option}={value}" for option in ("seed", "order") if (value := getattr(self, option))]
        return f"{self.model}#{','.join(parts)}" if parts else self.model

    @property
    def prompt_hash(self) -> str:
        """Sha256 over the two texts and everything else that shapes the messages."""
        grade = load_text(f"grade-{self.prompt}-v{self.texts}")
        if self.method == "pairs":
            return digest([load_text(f"pair-{self.prompt}-v1"), grade, PAIR_SCHEMA, GRADE_SCHEMA, CLIP]).hex()
        texts = load_text(f"partition-{self.prompt}-v{self.texts}"), grade
        return digest([*texts, PARTITION_SCHEMA, GRADE_SCHEMA, CHUNK, CLIP]).hex()

    @property
    def derived_id(self) -> str:
        """Its id, and the version of what is made of its replies."""
        return f"{self.id};version={VERSION}"

    def partition(self, question: Question, answers: Sequence[str], /) -> Procedure[list[int]]:
        """Group distinct strings by meaning.

        The strings are shown in a random order that depends on them, the seed and the question alone, without their
        counts, clipped, and at most 60 in a call. More than 60 go in several calls, each with one string of every
        class found so far; classes that a later call joins are joined.

        Parameters
        ----------
        question : Question
            What the answers answer.
        answers : sequence of str
            Distinct, not empty.

        Returns
        -------
        list of int
            A label per string, numbered from 0 by first appearance.

        Raises
        ------
        semece.errors.ParseError
            If the judge twice gave something that is not a partition.
        """
        shown = sorted(range(len(answers)), key=lambda i: self._place(question, answers[i]))
        if self.method == "pairs":
            return (yield from self._by_pairs(question, answers, shown))
        classes = _Classes(len(answers))
        for index, strings in enumerate(_calls(shown, classes)):
            messages = self._partition_messages(question, [answers[i] for i in strings])
            labels = yield self._query(question, messages, _PartitionOf(len(strings)), index)
            classes.join(strings, labels)
        return by_first_appearance(classes.root(i) for i in range(len(answers)))

    def _by_pairs(self, question: Question, answers: Sequence[str], shown: Sequence[int]) -> Procedure[list[int]]:
        """Compare each string with the first of every class so far that no rule keeps it from, likely ones first.

        What the rules call equal is not asked; what they keep apart (other numbers, a negation) is never joined, with
        any member of a class.
        """
        from semece.judges.rules.relations import Relations  # its words and units take a while to load

        relations = Relations(question.text, answers)
        classes: list[list[int]] = []
        count = 0
        for i in shown:
            open_to = [members for members in classes if not any(relations.apart(i, member) for member in members)]
            home = next((members for members in open_to if any(relations.equal(i, member) for member in members)), None)
            for members in sorted(open_to, key=lambda members: not relations.near(i, members[0])):
                if home is None:
                    messages = self._pair_messages(question, answers[members[0]], answers[i])
                    home = members if (yield self._query(question, messages, read_pair, count)) else None
                    count += 1
            if home is None:
                classes.append([i])
            else:
                home.append(i)
        label = {i: number for number, members in enumerate(classes) for i in members}
        return by_first_appearance(label[i] for i in range(len(answers)))

    def grade(self, question: Question, answer: str, /) -> Procedure[Verdict]:
        """Grade one answer against the question's references.

        Parameters
        ----------
        question : Question
            With at least one reference.
        answer : str
            The string that stands for a class.

        Returns
        -------
        {'correct', 'incorrect', 'not_attempted'}

        Raises
        ------
        ValueError
            If the question has no reference.
        semece.errors.ParseError
            If the judge twice gave something that is not a verdict.
        """
        if not question.references:
            raise ValueError(f"a question must have a reference to be graded; got none for {question.id!r}")
        data = {
            "question": question.text,
            "references": list(question.references),
            "answer": _clipped(answer, 4 * CLIP),
        }
        messages = _messages(f"grade-{self.prompt}-v{self.texts}", _json(data))
        verdict: Verdict = yield self._query(question, messages, read_grade)
        return verdict

    def _query(
        self, question: Question, messages: tuple[Message, ...], read: Callable[[str], Any], index: int = 0
    ) -> Query:
        """Put a query: what it is for is told by the reader of its reply."""
        stage = "grade" if read is read_grade else "partition"
        schema = GRADE_SCHEMA if read is read_grade else PAIR_SCHEMA if read is read_pair else PARTITION_SCHEMA
        shown = read.n if isinstance(read, _PartitionOf) else 2 if read is read_pair else 1
        decoding = Decoding(0.0, None, self.max_tokens, schema=schema)
        return Query(self.id, stage, question.id, index, read, messages, decoding, shown)

    def _place(self, question: Question, answer: str) -> bytes:
        """Give the sort key of an answer: random, but the same wherever it stood."""
        return digest([self.seed, self.order, question.id, answer])

    def _partition_messages(self, question: Question, strings: Sequence[str]) -> tuple[Message, ...]:
        """Give the messages of one call: the answers one a line, numbered from 1."""
        rows = ",\n".join(_json([number, _clipped(text, CLIP)]) for number, text in enumerate(strings, 1))
        return _messages(
            f"partition-{self.prompt}-v{self.texts}", f'{{"question": {_json(question.text)}, "answers": [\n{rows}\n]}}'
        )

    def _pair_messages(self, question: Question, one: str, other: str) -> tuple[Message, ...]:
        """Give the messages that compare two answers."""
        data = {"question": question.text, "answers": [_clipped(one, CLIP), _clipped(other, CLIP)]}
        return _messages(f"pair-{self.prompt}-v1", _json(data))


@dataclass(frozen=True, slots=True)
class _PartitionOf:
    """Reads a partition of n strings."""

    n: int

    def __call__(self, text: str) -> list[int]:
        return read_partition(text, self.n)


class _Classes:
    """Which strings are in one class, as calls join them."""

    def __init__(self, n: int) -> None:
        self._parent = list(range(n))

    def root(self, i: int) -> int:
        """Give the string that stands for the class of string i."""
        while self._parent[i] != i:
            i = self._parent[i]
        return i

    def join(self, strings: Sequence[int], labels: Sequence[int]) -> None:
        """Join the strings that have the same label."""
        first: dict[int, int] = {}
        for i, label in zip(strings, labels, strict=True):
            self._parent[self.root(i)] = self.root(first.setdefault(label, i))


def _calls(shown: Sequence[int], classes: _Classes) -> Iterator[list[int]]:
    """Give the strings of each call, such that any two strings, or ones that stand for them, meet in a call."""
    known: list[int] = []
    start = 0
    while start < len(shown):
        room = max(CHUNK - len(known), CHUNK // 2)
        fresh = list(shown[start : start + room])
        start += room
        block = CHUNK - len(fresh)
        for at in range(0, max(len(known), 1), max(block, 1)):
            strings = known[at : at + block] + _not_among(known, _standing(fresh, classes), classes)
            if len(strings) > max(len(known[at : at + block]), 1):
                yield strings
        known = _standing(known + fresh, classes)


def _standing(strings: Sequence[int], classes: _Classes) -> list[int]:
    """Keep the first string of every class."""
    first: dict[int, int] = {}
    for i in strings:
        first.setdefault(classes.root(i), i)
    return list(first.values())


def _not_among(known: Sequence[int], strings: Sequence[int], classes: _Classes) -> list[int]:
    """Keep the strings that are in no known class."""
    roots = {classes.root(i) for i in known}
    return [i for i in strings if classes.root(i) not in roots]


def _messages(text: str, data: str) -> tuple[Message, ...]:
    """Instructions apart from data."""
    return Message("system", load_text(text)), Message("user", data)


# What is invisible, turns the direction, or may open a turn of a chat template (<|im_start|>, </s>, [INST]).
_ESCAPED = re.compile(
    r"[\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\U000e0000-\U000e007f<]"
    r"|\[(?=/?[A-Z_]+\])"
)


def _json(value: object) -> str:
    """Write JSON with readable letters, but with characters escaped that could hide something or end the data."""
    return _ESCAPED.sub(lambda found: _escape(found[0]), json.dumps(value, ensure_ascii=False))


def _escape(character: str) -> str:
    r"""Write a character as JSON's ``\uXXXX``."""
    return f"\\u{ord(character):04x}" if ord(character) < 128 else json.dumps(character)[1:-1]


def _clipped(answer: str, length: int) -> str:
    """Cut an answer that is too long, and say so."""
    return answer if len(answer) <= length else f"{answer[:length]} [cut here; {len(answer)} characters in all]"
