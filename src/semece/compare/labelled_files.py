"""Answers that people have judged, to measure a judge on: one answer a row, or the answers of one question a row.

Grading: ``{"question", "references": [..], "answer", "correct": true}``; ``human_correct`` is an accepted spelling, and
so are those of a dataset's references (``gold``, ...). Grouping: ``{"question", "answers": [..], "labels": [..]}`` with
one class per answer. ``id`` names the question; without it rows of the same text and references are of one question.
An answer is graded against the references of its own row. Other fields are kept.

Rows that ``semece audit score -o`` writes also have ``audit_weight``, how many answers of the run the row stands for,
and ``audit_stratum``, from which it was drawn. An answer on which people differ has a row for each of their verdicts,
which share its weight.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from semece.canonical_json import digest, encodable
from semece.datasets import REFERENCE_NAMES, question_from, read_rows, shown
from semece.errors import ParseError, SemeceError, visible
from semece.formats import sample_from
from semece.judges import read_given

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from semece.records import Question

CORRECT_NAMES = ("correct", "human_correct")
AUDIT_NAMES = ("audit_weight", "audit_stratum")
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
    weight : float or None
        How many answers it stands for, above 0; None: it was not drawn in an audit.
    stratum : str
        From which it was drawn; ``''`` without a weight.
    """

    question: Question
    answer: str
    correct: bool
    line: int
    weight: float | None = None
    stratum: str = ""


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


def read_labelled(path: Path, *, bad: Callable[[ParseError], None] | None = None) -> Labelled:
    """Read labelled answers.

    Parameters
    ----------
    path : Path
        JSONL, CSV, TSV or Parquet. A row with ``answers`` is one of grouped answers, any other one of a graded answer.
    bad : callable, optional
        Called with what is wrong with a row that is left out; None: the first such row is refused.

    Returns
    -------
    Labelled
        At least one row of either kind.

    Raises
    ------
    ParseError
        Naming file, line, what was expected and what came.
    """
    rows: list[GradedAnswer | GroupedAnswers] = []
    first: dict[tuple[type, str], GradedAnswer | GroupedAnswers] = {}
    for line, row in read_rows(path, bad=bad):
        where = f"{path}, line {line}"
        try:
            one = grouped_from(row, where, line) if _is_given(row, "answers") else graded_from(row, where, line)
            _check_same(one, first.setdefault((type(one), one.question.id), one), where)
            rows.append(one)
        except ParseError as error:
            if bad is None:
                raise
            bad(error)
    if not rows:
        raise ParseError(f"{path} has no labelled answers")
    graded = tuple(row for row in rows if isinstance(row, GradedAnswer))
    return Labelled(graded, tuple(row for row in rows if isinstance(row, GroupedAnswers)))


def _check_same(one: GradedAnswer | GroupedAnswers, first: GradedAnswer | GroupedAnswers, where: str) -> None:
    """Refuse grouped answers that come twice, and an id that names another question elsewhere."""
    name = repr(one.question.id)
    if isinstance(one, GroupedAnswers) and one is not first:
        raise ParseError(
            f"{where}: a question must come in one row with all its answers; {name} is also on line {first.line}"
        )
    if one.question.text != first.question.text:
        raise ParseError(f"{where}: an id must name one question; {name} names another one on line {first.line}")


def without_reference(labelled: Labelled) -> list[int]:
    """List the lines of graded answers whose references are all empty: no judge can find an answer right by them.

    Parameters
    ----------
    labelled : Labelled
        All rows.

    Examples
    --------
    >>> row = {"question": "2 + 2?", "references": [""], "answer": "four", "correct": True}
    >>> without_reference(Labelled((graded_from(row, "here", 7),), ()))
    [7]
    """
    return [row.line for row in labelled.graded if not any(text.strip() for text in row.question.references)]


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
    chosen = set(list(dict.fromkeys(row.question.id for row in kept))[:limit])
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
    names = [name for name in CORRECT_NAMES if name in row]
    if "answer" not in row or not names:
        raise ParseError(
            f"{where}: expected the fields 'answer' and 'correct', or 'answers' and 'labels'; got "
            f"{visible(', '.join(sorted(row))) or 'nothing'}"
        )
    answer = row["answer"]
    if not isinstance(answer, str):
        raise ParseError(f"{where}: answer must be text; got {shown(answer)}")
    correct = _correct(row, names, where)
    question = _question({name: value for name, value in row.items() if name not in {"answer", *names}}, where)
    if not question.references:
        raise ParseError(f"{where}: expected references to grade against; got none")
    named = question.id or digest([question.text, question.references]).hex()[:16]
    return GradedAnswer(replace(question, id=named), encodable(answer), correct, line, *_weight(row, where))


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
    if both := [name for name in CORRECT_NAMES if _is_given(row, name)]:
        raise ParseError(
            f"{where}: a row holds one graded answer, or the grouped answers of a question; got 'answers' and "
            f"{both[0]!r}"
        )
    _question({name: value for name, value in row.items() if name not in {"answers", "answer"}}, where)
    sample = sample_from({name: value for name, value in row.items() if name != "grades"}, where, f"line {line}")
    if sample.labels is None:
        raise ParseError(f"{where}: expected a list 'labels' with the class of each answer; got none")
    try:
        labels = read_given(sample.labels, None, n=len(sample.answers)).labels
    except ParseError as error:
        raise ParseError(f"{where}: {error}") from None
    question = sample.question
    named = question.id or digest([question.text, question.references, sample.answers]).hex()[:16]
    return GroupedAnswers(replace(question, id=named), sample.answers, labels, line)


def _weight(row: Mapping[str, Any], where: str) -> tuple[float | None, str]:
    """Read weight and stratum of an answer that was drawn in an audit; none of any other."""
    given = [name for name in AUDIT_NAMES if _is_given(row, name)]
    if not given:
        return None, ""
    if len(given) < len(AUDIT_NAMES):
        raise ParseError(f"{where}: {' and '.join(AUDIT_NAMES)} belong together; got {given[0]} alone")
    weight, stratum = (row[name] for name in AUDIT_NAMES)
    try:
        number = float(weight) if not isinstance(weight, bool) else 0.0
    except (TypeError, ValueError):
        number = 0.0
    if not 0 < number < float("inf"):
        raise ParseError(f"{where}: {AUDIT_NAMES[0]} must be a number above 0; got {shown(weight)}")
    return number, str(stratum)


def _is_given(row: Mapping[str, Any], name: str) -> bool:
    """Whether a row has a field; in a table, a field that it has not is empty."""
    value = row.get(name)
    return value is not None and not (isinstance(value, str) and not value)


def _correct(row: Mapping[str, Any], names: Sequence[str], where: str) -> bool:
    """Read what the person says, under whichever name; under two names it must be the same."""
    given = [name for name in names if _is_given(row, name)] or names[:1]
    said = {name: _truth(row[name], f"{where}: {name}") for name in given}
    if len(set(said.values())) > 1:
        raise ParseError(f"{where}: {' and '.join(said)} must say the same; got {shown([row[name] for name in said])}")
    return said[given[0]]


def _question(row: Mapping[str, Any], where: str) -> Question:
    """Read a question whose references are named once."""
    question = question_from(row, where)
    for name in (name for name in REFERENCE_NAMES if _is_given(row, name)):
        if question_from({"question": question.text, name: row[name]}, where).references != question.references:
            first = next(name for name in REFERENCE_NAMES if row.get(name) is not None)
            raise ParseError(f"{where}: the references must be named once; got {first!r} and {name!r}, which differ")
    return question


def _truth(value: object, where: str) -> bool:
    """Read true or false; a CSV file spells them, and spreadsheets write 1 and 0."""
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower() if isinstance(value, str | int) else None
    if word in TRUE or word in FALSE:
        return word in TRUE
    raise ParseError(f"{where} must be true or false; got {shown(value)}")
