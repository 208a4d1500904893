"""Labels and grades that came with the samples: the judge ``given``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from semece.canonical_json import digest
from semece.errors import ParseError
from semece.judges.forms import Forms, assemble
from semece.judges.judge_protocol import Missing, Query
from semece.prompts.replies import by_first_appearance
from semece.records import VERDICTS

if TYPE_CHECKING:
    from semece.judges.judge_protocol import Procedure
    from semece.records import Partition, Question, Verdict


class GivenJudge:
    """Labels and grades that a file brought; the run file holds them as they came."""

    name = id = "given"
    derived_id = model = None

    def classes(self, question: Question, answers: Sequence[str], /) -> Procedure[Partition]:
        """Group as the file does: every response has its own label, whatever its text."""
        came = yield from self._came(question)
        each = Forms(tuple(answers), tuple(range(len(answers))))
        return assemble(question.id, answers, each, came.labels, judge=self.id)

    def verdict(self, question: Question, classes: Partition, label: int, /) -> Procedure[Verdict | None]:
        """Give the file's verdict of its own class; None if it has none."""
        del classes
        came = yield from self._came(question)
        return came.grades.get(label)

    def _came(self, question: Question) -> Procedure[Given]:
        """Ask for what came with the samples of a question."""
        key = given_key(question.id)
        try:
            came: Given = yield Query(self.id, "partition", question.id, 0, _read_stored, key=key)
        except Missing:
            raise ParseError(f"no labels came with question {question.id!r}") from None
        return came


@lru_cache(maxsize=16)
def given_key(question_id: str) -> bytes:
    """Give the key under which a run file holds what came with the samples of a question."""
    return digest(["partition", question_id, GivenJudge.id, 0])


@lru_cache(maxsize=16)
def _read_stored(text: str) -> Given:
    """Read what is stored of a question; its classes and each verdict ask for it."""
    body = json.loads(text)
    return read_given(body["labels"], body.get("grades"), n=len(body["labels"]))


class Given(NamedTuple):
    """What a file says of one question, renumbered.

    Parameters
    ----------
    labels : tuple of int
        One per response, numbered from 0 by first appearance.
    grades : dict of int to str
        The verdict of each of these labels that was graded.
    """

    labels: tuple[int, ...]
    grades: dict[int, Verdict]


def read_given(labels: object, grades: object, *, n: int) -> Given:
    """Read the labels and grades of one question.

    Parameters
    ----------
    labels : sequence of int or str
        The class of each response, in any numbering. Numbers and strings are not mixed.
    grades : mapping of label to verdict, or None
        Verdicts by the file's own labels; a JSON object's keys are strings, so ``"0"`` means the label 0.
    n : int
        How many responses there are.

    Returns
    -------
    Given
        Labels numbered by first appearance, and the grades under the same new numbers.

    Raises
    ------
    semece.errors.ParseError
        If there is not one label per response, a label is neither an integer nor a string, a grade's label does not
        occur, or a grade is none of ``correct``, ``incorrect``, ``not_attempted``.

    Examples
    --------
    >>> read_given([7, 3, 7], {"7": "correct"}, n=3)
    Given(labels=(0, 1, 0), grades={0: 'correct'})
    """
    if not isinstance(labels, Sequence) or isinstance(labels, str):
        raise ParseError(f"labels must be a list; got {type(labels).__name__}")
    if len(labels) != n:
        raise ParseError(f"there must be one label per response; got {len(labels)} for {n}")
    for i, label in enumerate(labels):
        if label is None:
            raise ParseError(
                f"a label must be an integer or a string; got null at index {i}: an answer that is none has a class, "
                "too, such as one label for all of them"
            )
        if type(label) not in (int, str):
            raise ParseError(f"a label must be an integer or a string; got {label!r} at index {i}")
    if len({type(label) for label in labels}) > 1:
        raise ParseError("labels must be all integers or all strings; got both")
    renumbered = by_first_appearance(labels)
    new = {str(label): number for label, number in zip(labels, renumbered, strict=True)}
    return Given(tuple(renumbered), _read_grades(grades, new))


def _read_grades(grades: object, new: Mapping[str, int]) -> dict[int, Verdict]:
    """Read verdicts and put them under the new numbers."""
    if grades is None:
        return {}
    if not isinstance(grades, Mapping):
        raise ParseError(f"grades must be an object from label to verdict; got {type(grades).__name__}")
    read: dict[int, Verdict] = {}
    for label, verdict in grades.items():
        if str(label) not in new:
            raise ParseError(f"a grade's label must occur among the labels; got {label!r}")
        if new[str(label)] in read:
            raise ParseError(f"a label must be graded once; got {label!r} twice")
        read[new[str(label)]] = _read_verdict(verdict)
    return read


def _read_verdict(said: object) -> Verdict:
    """Give one of the three words, exactly."""
    for verdict in VERDICTS:
        if said == verdict:
            return verdict
    raise ParseError(f"a grade must be correct, incorrect or not_attempted; got {said!r}")
