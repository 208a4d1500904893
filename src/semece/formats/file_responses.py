"""What a reader of samples gives: questions, with the responses somebody drew."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, ParamSpec, Self

from semece.canonical_json import encodable
from semece.datasets import storable
from semece.errors import finish_status, shortened
from semece.formats.sources import fault
from semece.records import Question

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from semece.formats.json_stream import Json
    from semece.formats.sources import Findings

P = ParamSpec("P")

FileStatus = Literal["ok", "truncated", "content_filter", "refusal"]
"""How a response ended; all but the first hold no usable answer."""

NO_NUMBERS: Mapping[str, float] = {}
"""The scores of a response that has none; nobody writes into it."""

PARTIAL = "partial"
"""A score between correct and incorrect: it is there, and it is no verdict."""


class _Fields(NamedTuple):
    text: str
    place: str = ""
    confidence: float | None = None
    status: FileStatus = "ok"
    scores: tuple[tuple[str, str], ...] = ()
    numbers: Mapping[str, float] = NO_NUMBERS


class FileResponse(_Fields):
    """One response; a tuple, since a file may hold millions, and a tuple is made in half the time of a record.

    Parameters
    ----------
    text : str
        As it came, but for lone surrogates; an empty one is a non-answer.
    place : str
        Where it stands in its file.
    confidence : float or None
        Stated beside it, in [0, 1].
    status : str
        One of :data:`FileStatus`.
    scores : tuple of (str, str)
        What the file's scorers say of it: a verdict, or :data:`PARTIAL`. A scorer that says nothing is not there.
    numbers : mapping of str to float
        Its scores that are numbers, by name.
    """

    __slots__ = ()

    def __new__(  # noqa: PLR0917 - in the order of the fields
        cls,
        text: str,
        place: str = "",
        confidence: float | None = None,
        status: FileStatus = "ok",
        scores: tuple[tuple[str, str], ...] = (),
        numbers: Mapping[str, float] = NO_NUMBERS,
    ) -> Self:
        """Make it of its fields."""
        kept = text if text.isascii() else encodable(text)
        return tuple.__new__(cls, (kept, place, confidence, status, scores, numbers))

    @classmethod
    def of_texts(cls, texts: Collection[str]) -> list[Self]:
        """Make a response of each text, in half the time of one by one."""
        make, kept = tuple.__new__, texts if all(map(str.isascii, texts)) else map(encodable, texts)
        return [make(cls, (text, "", None, "ok", (), NO_NUMBERS)) for text in kept]


@dataclass(frozen=True, slots=True)
class FileQuestion:
    """A question with the responses somebody drew.

    Parameters
    ----------
    question : Question
        The question.
    drawn : tuple of FileResponse
        In the order in which they were drawn, as far as the file tells. None if every attempt failed.
    labels, grades
        The class of each response and the verdict of each class, as in the file; None if absent.
    file, place : str
        Where the question stands.
    whole : bool
        The texts are whole responses, in which an answer is still to be found; else they are answers.
    numbers : mapping of str to float
        Scores of the question as a whole, by name.
    """

    question: Question
    drawn: tuple[FileResponse, ...]
    labels: tuple[int | str, ...] | None = None
    grades: dict[str, str] | None = None
    file: str = ""
    place: str = ""
    whole: bool = False
    numbers: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if (question := storable(self.question)) is not self.question:
            object.__setattr__(self, "question", question)

    @property
    def answers(self) -> tuple[str, ...]:
        """The texts."""
        return tuple(one.text for one in self.drawn)

    @property
    def where(self) -> str:
        """File and place."""
        return f"{self.file}, {self.place}"


def numbered(place: int, text: str, references: tuple[str, ...] = ()) -> Question:
    """Make the question at a place of a file that has no ids; places begin with 0.

    Examples
    --------
    >>> numbered(3, "2 + 2?", ("4",)).id
    '3'
    """
    return Question(str(place), text, references)


class Gathering:
    """Puts the responses of each question together.

    Examples
    --------
    >>> from semece.records import Question
    >>> gathering = Gathering()
    >>> for order, text in [(2, "four"), (1, "4")]:
    ...     gathering.add(FileQuestion(Question("7", "2 + 2?"), (FileResponse(text),)), order)
    >>> [sample.answers for sample in gathering.samples()]
    [('4', 'four')]
    """

    def __init__(self) -> None:
        self._first: dict[str, FileQuestion] = {}
        self._drawn: dict[str, list[tuple[Any, tuple[FileResponse, ...]]]] = {}

    def add(self, sample: FileQuestion, order: Any = 0) -> None:  # noqa: ANN401 - anything that can be compared
        """Add responses to a question; in the end they are put in `order`, equal ones as they came.

        Raises
        ------
        ParseError
            Text or references are not those that came before: two questions have one id.
        """
        name = sample.question.id
        first = self._first.setdefault(name, sample)
        if (sample.question.text, sample.question.references) != (first.question.text, first.question.references):
            expected = f"the question and references that {first.where} has under the id {name!r}"
            came = f"other ones: {shortened(sample.question.text, 60, mark='...')!r}"
            raise fault(sample.where, expected, came)
        self._drawn.setdefault(name, []).append((order, sample.drawn))

    def take(self, findings: Findings, read: Callable[P, FileQuestion | None], *row: P.args, **more: P.kwargs) -> None:
        """Read a row and add its responses; a bad row is left out if that was asked for.

        Raises
        ------
        ParseError
            It is bad, and that was not asked for.
        """
        for sample in findings.tried(read, *row, **more):
            findings.tried(self.add, sample)

    def samples(self) -> list[FileQuestion]:
        """Give the questions in the order in which they first came."""
        whole = []
        for name, parts in self._drawn.items():
            parts.sort(key=itemgetter(0))
            whole.append(replace(self._first[name], drawn=tuple(one for _, drawn in parts for one in drawn)))
        return whole


def response_text(value: Json) -> str:
    """Give the text of a response: nothing where there is none, the JSON of an object or a number.

    Examples
    --------
    >>> response_text("Paris"), response_text(None), response_text({"answer": "Paris"}), response_text(42)
    ('Paris', '', '{"answer": "Paris"}', '42')
    """
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def ended(stops: Mapping[str, FileStatus], reason: object) -> FileStatus:
    """Say how a response ended from what its provider calls it; what is not known ended well.

    Examples
    --------
    >>> ended({"length": "truncated"}, "length"), ended({"length": "truncated"}, "stop")
    ('truncated', 'ok')
    """
    return stops.get(reason) or finish_status(reason) if isinstance(reason, str) else "ok"


def natural(text: str) -> list[tuple[int, int, str]]:
    """Order texts as people do: numbers in them by their size.

    Examples
    --------
    >>> sorted(["q10", "q9", "q1"], key=natural)
    ['q1', 'q9', 'q10']
    """
    parts = re.split(r"([0-9]{1,4000})", text)
    return [(0, int(part), "") if place % 2 else (1, 0, part) for place, part in enumerate(parts)]
