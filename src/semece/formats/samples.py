"""Our own samples format: one question a line, with its answers and what else is known of them.

``{"id", "question", "references": [..], "answers": [..], "confidences": [0.9, null, ..]?, "labels": [0, 0, 1]?,
"grades": {"0": "correct"}?}``. ``labels`` are the semantic classes of the answers; ``grades`` the verdict per label.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from semece.canonical import encodable
from semece.datasets.files import question_from, read_rows
from semece.errors import ParseError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from semece.records import Question

FIELDS = ("answers", "confidences", "labels", "grades")


@dataclass(frozen=True, slots=True)
class Sample:
    """A question with the answers somebody drew.

    Parameters
    ----------
    question : Question
        The question.
    answers : tuple of str
        At least one; an empty one is a non-answer.
    confidences : tuple of float or None
        One per answer, in [0, 1].
    labels, grades
        As in the file, checked; None if absent.
    line : int
        Where it stands.
    """

    question: Question
    answers: tuple[str, ...]
    confidences: tuple[float | None, ...]
    labels: tuple[int | str, ...] | None
    grades: dict[str, str] | None
    line: int


def read_samples(path: Path) -> Iterator[Sample]:
    """Read a samples file (JSONL, CSV or Parquet).

    Raises
    ------
    ParseError
        Naming file, line, what was expected and what came.
    """
    for line, row in read_rows(path):
        yield sample_from(row, f"{path}, line {line}", line)


def sample_from(row: Mapping[str, Any], where: str, line: int = 1) -> Sample:
    """Make a sample of a row.

    Raises
    ------
    ParseError
        A field is not what it must be.

    Examples
    --------
    >>> sample_from({"question": "2 + 2?", "gold": "4", "answers": ["4", "5"]}, "here").answers
    ('4', '5')
    """
    answers = _list(row, "answers", where)
    if not answers:
        raise ParseError(f"{where}: expected a list 'answers' with at least one answer; got {row.get('answers')!r}")
    for i, answer in enumerate(answers):
        if not isinstance(answer, str):
            raise ParseError(f"{where}: answers must be texts; got {answer!r} at index {i}")
    question = question_from({k: v for k, v in row.items() if k not in FIELDS}, where)
    confidences = tuple(_confidences(_list(row, "confidences", where), len(answers), where))
    labels, grades = _list(row, "labels", where), row.get("grades")
    if isinstance(grades, str):
        grades = _json(grades, f"{where}: grades")
    if grades is not None and labels is None:
        raise ParseError(f"{where}: grades need labels")
    return Sample(
        question, tuple(map(encodable, answers)), confidences, None if labels is None else tuple(labels), grades, line
    )


def _list(row: Mapping[str, Any], name: str, where: str) -> list[Any] | None:
    value = row.get(name)
    if isinstance(value, str) and value:
        value = _json(value, f"{where}: {name}")
    if value is None or value == "":
        return None
    if not isinstance(value, list):
        raise ParseError(f"{where}: {name} must be a list; got {type(value).__name__}")
    return value


def _json(text: str, where: str) -> Any:  # noqa: ANN401 - any JSON value
    try:
        return json.loads(text)
    except ValueError:
        raise ParseError(f"{where} must be JSON; got {text[:40]!r}") from None


def _confidences(values: list[Any] | None, n: int, where: str) -> Iterator[float | None]:
    if values is None:
        values = [None] * n
    if len(values) != n:
        raise ParseError(f"{where}: there must be one confidence per answer; got {len(values)} for {n}")
    for i, value in enumerate(values):
        if value is None:
            yield None
        elif isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            hint = " (percent? divide by 100)" if isinstance(value, int | float) and 1 < value <= 100 else ""
            raise ParseError(f"{where}: a confidence must lie in [0, 1]; got {value!r} at index {i}{hint}")
        else:
            yield float(value)
