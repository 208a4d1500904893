"""Answers that people have judged, to measure a judge on: one answer a row, or the answers of one question a row.

Grading: ``{"question", "references": [..], "answer", "correct": true}``; ``human_correct`` is an accepted spelling, and
so are those of a dataset's references (``gold``, ...). Grouping: ``{"question", "answers": [..], "labels": [..]}`` with
one class per answer. ``id`` names the question; without it rows of the same text and references are of one question.
An answer is graded against the references of its own row. Other fields are kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from semece.canonical import digest
from semece.datasets.files import question_from, read_rows
from semece.errors import ParseError, SemeceError
from semece.formats.samples import sample_from
from semece.judges.given import read_given

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from semece.records import Question

CORRECT_NAMES = ("correct", "human_correct")
TRUE, FALSE = frozenset({"true", "1"}), frozenset({"false", "0"})


@dataclass(frozen=True, slots=True)
class GradedAnswer:
    """An answer that a person has graded.

    Parameters
    ----------
    question : Question
        With references; its metadata are the other fields of the row.
    answer : str
        The answer; an empty one is a non-answer.
    correct : bool
        What the person says.
    line : int
        Where it stands.
    """

    question: Question
    answer: str
    correct: bool
    line: int


@dataclass(frozen=True, slots=True)
class GroupedAnswers:
    """Answers to one question that a person has grouped.

    Parameters
    ----------
    question : Question
        The question.
    answers : tuple of str
        At least one.
    labels : tuple of int
        The class of each answer, numbered from 0 by first appearance.
    line : int
        Where they stand.
    """

    question: Question
    answers: tuple[str, ...]
    labels: tuple[int, ...]
    line: int


class Labelled(NamedTuple):
    """What a file of labelled answers holds.

    Parameters
    ----------
    graded : tuple of GradedAnswer
        In the file's order.
    grouped : tuple of GroupedAnswers
        One per question.
    """

    graded: tuple[GradedAnswer, ...]
    grouped: tuple[GroupedAnswers, ...]


def read_labelled(path: Path) -> Labelled:
    """Read labelled answers.

    Parameters
    ----------
    path : Path
        JSONL, CSV, TSV or Parquet. A row with ``answers`` is one of grouped answers, any other one of a graded answer.

    Returns
    -------
    Labelled
        At least one row of either kind.

    Raises
    ------
    ParseError
        Naming file, line, what was expected and what came.
    """
    graded: list[GradedAnswer] = []
    grouped: list[GroupedAnswers] = []
    known: dict[str, tuple[Question, int]] = {}
    lines: dict[str, int] = {}
    for line, row in read_rows(path):
        where = f"{path}, line {line}"
        if row.get("answers") not in (None, ""):
            some = grouped_from(row, where, line)
            if lines.setdefault(some.question.id, line) != line:
                raise ParseError(
                    f"{where}: a question must come in one row with all its answers; {some.question.id!r} is also on "
                    f"line {lines[some.question.id]}"
                )
            grouped.append(some)
        else:
            one = graded_from(row, where, line)
            _check_known(one, known, where)
            graded.append(one)
    if not graded and not grouped:
        raise ParseError(f"{path} has no labelled answers")
    return Labelled(tuple(graded), tuple(grouped))


def narrowed(labelled: Labelled, *, limit: int | None = None, max_words: int | None = None) -> Labelled:
    """Leave out questions or long answers.

    Parameters
    ----------
    labelled : Labelled
        All rows.
    limit : int, optional
        Only the first so many questions, with all their answers, and the first so many rows of grouped answers; >= 1.
    max_words : int, optional
        Only graded answers of at most so many words that are not empty; >= 1.

    Returns
    -------
    Labelled
        At least one row.

    Raises
    ------
    SemeceError
        If nothing is left.
    """
    kept = [row for row in labelled.graded if max_words is None or 0 < len(row.answer.split()) <= max_words]
    first = list(dict.fromkeys(row.question.id for row in kept))[:limit]
    chosen = set(first)
    graded = tuple(row for row in kept if row.question.id in chosen)
    grouped = labelled.grouped[:limit]
    if not graded and not grouped:
        raise SemeceError(f"no labelled answer is left with at most {max_words} words")
    return Labelled(graded, grouped)


def graded_from(row: Mapping[str, Any], where: str, line: int = 1) -> GradedAnswer:
    """Make a graded answer of a row.

    Raises
    ------
    ParseError
        A field is missing or not what it must be.

    Examples
    --------
    >>> one = graded_from({"question": "2 + 2?", "gold": "4", "answer": "four", "human_correct": True}, "here")
    >>> one.answer, one.correct, one.question.references
    ('four', True, ('4',))
    """
    name = next((name for name in CORRECT_NAMES if name in row), None)
    if "answer" not in row or name is None:
        raise ParseError(
            f"{where}: expected the fields 'answer' and 'correct', or 'answers' and 'labels'; got "
            f"{', '.join(sorted(row)) or 'nothing'}"
        )
    answer = row["answer"]
    if not isinstance(answer, str):
        raise ParseError(f"{where}: answer must be text; got {answer!r}")
    correct = _truth(row[name], f"{where}: {name}")
    question = question_from({k: v for k, v in row.items() if k not in {"answer", name}}, where)
    if not question.references:
        raise ParseError(f"{where}: expected references to grade against; got none")
    named = question.id or digest([question.text, question.references]).hex()[:16]
    return GradedAnswer(replace(question, id=named), answer, correct, line)


def grouped_from(row: Mapping[str, Any], where: str, line: int = 1) -> GroupedAnswers:
    """Make grouped answers of a row.

    Raises
    ------
    ParseError
        A field is missing or not what it must be.

    Examples
    --------
    >>> grouped_from({"question": "2 + 2?", "answers": ["4", "5", "four"], "labels": [7, 3, 7]}, "here").labels
    (0, 1, 0)
    """
    sample = sample_from({name: value for name, value in row.items() if name != "grades"}, where, line)
    if sample.labels is None:
        raise ParseError(f"{where}: expected a list 'labels' with the class of each answer; got none")
    try:
        labels = read_given(sample.labels, None, n=len(sample.answers)).labels
    except ParseError as error:
        raise ParseError(f"{where}: {error}") from None
    question = sample.question
    named = question.id or digest([question.text, question.references, sample.answers]).hex()[:16]
    return GroupedAnswers(replace(question, id=named), sample.answers, labels, line)


def _truth(value: object, where: str) -> bool:
    """Read true or false; a CSV file spells them, and spreadsheets write 1 and 0."""
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower() if isinstance(value, str | int) else None
    if word in TRUE or word in FALSE:
        return word in TRUE
    raise ParseError(f"{where} must be true or false; got {value!r}")


def _check_known(one: GradedAnswer, known: dict[str, tuple[Question, int]], where: str) -> None:
    """Refuse an id that names another question elsewhere."""
    question, line = known.setdefault(one.question.id, (one.question, one.line))
    if question.text != one.question.text:
        raise ParseError(f"{where}: an id must name one question; {question.id!r} names another one on line {line}")
