"""What flows between the stages: frozen records, failures as values.

A run is ``Question`` -> ``Response`` (n of them) -> ``Partition`` -> ``Grade`` (one per class) -> ``Estimate``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

Verdict = Literal["correct", "incorrect", "not_attempted"]
"""What a judge says of one class of answers."""

VERDICTS: tuple[Verdict, ...] = ("correct", "incorrect", "not_attempted")

ResponseStatus = Literal[
    "parsed", "concluded", "fallback", "non_answer", "empty", "content_filter", "truncated", "refusal"
]
"""How a response was read; the last four were delivered and paid for but hold no usable answer."""

RESPONSE_STATUSES: tuple[str, ...] = get_args(ResponseStatus)

ESTIMATE_STATUSES: tuple[str, ...] = (
    "complete",
    "incomplete",
    "too_few",
    "unpartitioned",
    "ungraded",
    "not_attempted",
)
"""Whether a question enters the metrics, or why not."""

AlarmKind = Literal["over-split", "over-merge", "instruction"]
"""What an alarm is about: one meaning in two classes, two meanings in one, an answer that speaks to its judge."""

ALARM_KINDS: tuple[AlarmKind, ...] = ("over-split", "over-merge", "instruction")

USABLE: frozenset[str] = frozenset({"parsed", "concluded", "fallback", "non_answer"})
"""The statuses that count towards M, the number of usable responses of a question."""


def check_known(what: str, value: str, known: Collection[str]) -> None:
    """Refuse a word that is none of those known.

    Raises
    ------
    ValueError
        Naming the rule and the value.

    Examples
    --------
    >>> Grade("q1", 0, "right")
    Traceback (most recent call last):
    ...
    ValueError: the verdict of a grade must be one of correct, incorrect, not_attempted; got 'right'
    """
    if value not in known:
        raise ValueError(f"{what} must be one of {', '.join(known)}; got {value!r}")


@dataclass(frozen=True, slots=True)
class Question:
    """An item of a dataset.

    Parameters
    ----------
    id : str
        Unique in its dataset. Two questions with the same text are two questions.
    text : str
        What the model is asked.
    references : tuple of str
        Answers to grade against: the reference first, then its aliases. May be empty (nothing to grade against).
    metadata : mapping
        Whatever else the dataset says; kept, never read by an estimator.
    """

    id: str
    text: str
    references: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Response:
    """One generation, read.

    Parameters
    ----------
    question_id : str
        The question it answers.
    index : int
        Its place among the n responses of the question, from 0.
    text : str
        The reply's text as it came.
    answer : str
        The short text parsed from it; ``''`` if there is none.
    confidence : float or None
        The stated confidence in [0, 1]; None if there is none or it cannot be read with certainty.
    status : str
        One of ``ResponseStatus``.
    stated : str
        The confidence as the reply states it; ``''`` if it states none.
    """

    question_id: str
    index: int
    text: str
    answer: str
    confidence: float | None
    status: ResponseStatus
    stated: str = ""

    def __post_init__(self) -> None:
        """Refuse a status that there is not."""
        check_known("the status of a response", self.status, RESPONSE_STATUSES)

    @property
    def usable(self) -> bool:
        """Whether it counts towards M."""
        return self.status in USABLE


@dataclass(frozen=True, slots=True)
class Partition:
    """The semantic classes of the usable responses of a question.

    Parameters
    ----------
    question_id : str
        The question.
    labels : tuple of int
        The class of each usable response in index order; numbered from 0 by first appearance.
    representatives : tuple of str
        Per class its most frequent surface form (tie: earliest); ``''`` for the class of non-answers.
    judge : str
        The id of the judge.
    """

    question_id: str
    labels: tuple[int, ...]
    representatives: tuple[str, ...]
    judge: str


@dataclass(frozen=True, slots=True)
class Grade:
    """A judge's verdict on one class of one question."""

    question_id: str
    label: int
    verdict: Verdict

    def __post_init__(self) -> None:
        """Refuse a verdict that there is not."""
        check_known("the verdict of a grade", self.verdict, VERDICTS)


@dataclass(frozen=True, slots=True)
class Alarm:
    """What deserves a look in the classes and grades of a question: its kind, and a sentence."""

    kind: AlarmKind
    text: str

    def __post_init__(self) -> None:
        """Refuse a kind that there is not."""
        check_known("the kind of an alarm", self.kind, ALARM_KINDS)


@dataclass(frozen=True, slots=True)
class Estimate:
    """The numbers of one question; None where they cannot be had, with the reason in ``status``.

    Parameters
    ----------
    question_id : str
        The question.
    status : str
        One of :data:`ESTIMATE_STATUSES`: ``complete``, or why the question enters no metric.
    n_responses, n_classes : int
        M and K.
    margin, top_two_mass : float or None
        Delta and p, in [0, 1].
    sem1, sem2 : float or None
        Confidences in [0, 1].
    verbalized : float or None
        Mean stated confidence in [0, 1].
    correct, correct_split : float or None
        Correctness of the deployed answer, pooled and split pairing, in [0, 1].
    refused : bool
        Whether a most frequent class is no answer.
    """

    question_id: str
    status: str
    n_responses: int
    n_classes: int
    margin: float | None = None
    top_two_mass: float | None = None
    sem1: float | None = None
    sem2: float | None = None
    verbalized: float | None = None
    correct: float | None = None
    correct_split: float | None = None
    refused: bool = False

    def __post_init__(self) -> None:
        """Refuse a status that there is not."""
        check_known("the status of an estimate", self.status, ESTIMATE_STATUSES)


ROUNDING = 1e-6
"""Share of its range by which a score may lie outside."""


class ScoreKind(NamedTuple):
    """What the numbers of a score mean: which end is sure, and whether their size counts or only their order.

    Parameters
    ----------
    least, surest : float
        The value of an answer that is surely wrong, and of one that is surely right. Of a ranked score 0 and 1 where
        more is surer, 0 and -1 where less is.
    ranked : bool
        Only the order means something: there is no ECE of it until it is recalibrated.

    Examples
    --------
    >>> ScoreKind.of("1..0").oriented(0.2), ScoreKind.of("0..100").oriented(30.0), ScoreKind.of("lower").oriented(2.5)
    (0.8, 0.3, -2.5)
    """

    least: float = 0.0
    surest: float = 1.0
    ranked: bool = False

    @classmethod
    def of(cls, text: str) -> ScoreKind:
        """Read a kind: ``LEAST..SUREST``, or ``higher`` or ``lower`` of a ranked score.

        Raises
        ------
        ValueError
            Naming the rule and the value.

        Examples
        --------
        >>> ScoreKind.of("0..1") == ScoreKind(), ScoreKind.of("lower")
        (True, ScoreKind(least=0.0, surest=-1.0, ranked=True))
        """
        if text in {"higher", "lower"}:
            return cls(0.0, 1.0 if text == "higher" else -1.0, ranked=True)
        least, dots, surest = text.partition("..")
        try:
            ends = float(least), float(surest)
        except ValueError:
            ends = 0.0, 0.0
        if not dots or ends[0] == ends[1] or not all(map(isfinite, ends)):
            raise ValueError(
                "the kind of a score must be LEAST..SUREST, such as 0..1, 1..0 or 0..100, or higher or lower if only "
                f"its order means something; got {text!r}"
            )
        return cls(*ends)

    @property
    def text(self) -> str:
        """How it is written."""
        if self.ranked:
            return "higher" if self.surest > self.least else "lower"
        return "..".join(repr(end).removesuffix(".0") for end in (self.least, self.surest))

    def holds(self, value: float) -> bool:
        """Whether a score of this kind can have a value; rounding errors of a millionth of the range are let pass."""
        return self.ranked or -ROUNDING <= (value - self.least) / (self.surest - self.least) <= 1 + ROUNDING

    def oriented(self, value: float) -> float:
        """Turn a value so that more is surer; in [0, 1] unless ranked."""
        turned = (value - self.least) / (self.surest - self.least)
        return turned if self.ranked else min(max(turned, 0.0), 1.0)


CONFIDENCE_KIND = ScoreKind()
"""Of a score of which nothing is said: from 0 to 1, and more is surer."""
