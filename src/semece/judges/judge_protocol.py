"""The protocol of judges: what a judge must offer, and how it says what it needs to know.

A judge that asks nobody is a pair of pure functions, a :class:`RuleJudge`. Every judge is used as a :class:`Judge`: its
procedures say what they need to know, one :class:`Query` after the other, and whoever runs a procedure finds the
answers, in the run file or at a model. So the same procedure asks live, asks in batches and reads what is stored.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from semece.errors import ParseError, SemeceError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from semece.models import Decoding, Message
    from semece.records import Partition, Question, Verdict

T = TypeVar("T")

STAGES = ("partition", "grade")
"""What judges are asked for, in this order."""


class Missing(Exception):  # noqa: N818 - a state of the store, not an error of anybody
    """A judge's reply is not in the store yet."""


class Undelivered(ParseError):  # noqa: N818 - a state of the store too
    """A judge's reply came without a text (filtered, refused, cut short): asking again is not free and seldom helps.

    Parameters
    ----------
    status : str
        Why.
    """

    def __init__(self, status: str) -> None:
        super().__init__(f"the judge's reply was delivered without a text ({status})")
        self.status = status


class Undecided(ParseError):  # noqa: N818 - a state of a comparison, not an error of anybody
    """A judge could not find out what it was asked: there is no verdict."""


class Absent(SemeceError):  # noqa: N818 - a state of the machine
    """What a judge needs is not installed here, or does not start."""


@dataclass(frozen=True, slots=True)
class Query:
    """One thing that a judge must know of a question: a reply of its model, or what came with the samples.

    Parameters
    ----------
    judge : str
        The id that stands beside the reply in the run file.
    stage : {'partition', 'grade'}
        What it is asked for.
    question_id, index : str, int
        About which question, and the number of this call among those of the question and stage.
    read : callable
        From the text of a reply to what the procedure wants; raises ParseError.
    messages, decoding : tuple of Message, Decoding or None
        What the judge's model is sent; nothing if nobody can be asked, since the reply came with the samples.
    shown : int
        How many answers the model is shown.
    key : bytes or None
        The key of a reply that came with the samples; None: it follows from what is sent.
    """

    judge: str
    stage: str
    question_id: str
    index: int
    read: Callable[[str], Any]
    messages: tuple[Message, ...] = ()
    decoding: Decoding | None = None
    shown: int = 1
    key: bytes | None = None


Procedure = Generator[Query, Any, T]
"""What a judge does: yields queries, is sent what each query's ``read`` made of the reply, and returns its result.

Where there is no such reply it is thrown :class:`Missing`, or the ParseError that says why.
"""


class Judge(Protocol):
    """Who groups the answers of a question and grades the groups."""

    @property
    def name(self) -> str:
        """Its spelling, such as ``rules`` or ``openai/gpt-4o-mini#strict``."""
        ...

    @property
    def id(self) -> str:
        """The id that stands beside its replies, and in the partitions it makes."""
        ...

    @property
    def derived_id(self) -> str | None:
        """The id of its results: changes whenever a result may change. None if its results are stored as they came."""
        ...

    @property
    def model(self) -> str | None:
        """The spelling of the model that it asks; None if it asks none."""
        ...

    def classes(self, question: Question, answers: Sequence[str], /) -> Procedure[Partition]:
        """Group the usable answers of a question, in index order."""
        ...

    def verdict(self, question: Question, classes: Partition, label: int, /) -> Procedure[Verdict | None]:
        """Grade one class; None where it cannot be graded."""
        ...


class RuleJudge(Protocol):
    """A judge that asks nobody: pure, deterministic, independent of the order of the strings."""

    @property
    def name(self) -> str:
        """Its spelling, such as ``rules``."""
        ...

    @property
    def id(self) -> str:
        """Name and version: changes whenever a result may change."""
        ...

    def partition(self, question: Question, answers: Sequence[str], /) -> list[int]:
        """Group distinct non-empty strings by meaning; labels numbered from 0 by first appearance."""
        ...

    def grade(self, question: Question, answer: str, /) -> Verdict:
        """Grade one answer against ``question.references``."""
        ...
