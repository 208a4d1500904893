"""Our own samples format: one question a line, with its answers and what else is known of them.

``{"id", "question", "references": [..], "answers": [..], "confidences": [0.9, null, ..]?, "labels": [0, 0, 1]?,
"grades": {"0": "correct"}?, "scores": {"p_true": [0.8, 0.7, null], "entropy": 1.2}?, "score_kinds": {"entropy":
"lower"}?}``. ``labels`` are the semantic classes of the answers; ``grades`` the verdict per label; a score is a number
of the question, or a list with one per answer. In a table a score is a column, such as ``score:p_true``.
``responses`` (or ``samples``, ``completions``, ``generations``) instead of ``answers`` are whole texts in which the
answer is still to be found. ``model`` and ``dataset`` say whose they are. A JSON array of such rows, and CSV, TSV and
Parquet files with the same columns are read alike; a list in a cell of text is JSON.
"""

from __future__ import annotations

import json
from itertools import repeat
from typing import TYPE_CHECKING, Any

from semece.datasets import TEXT_NAMES, question_in, renaming
from semece.errors import ParseError, if_percent, nearest, shortened
from semece.formats.file_responses import NO_NUMBERS, FileQuestion, FileResponse, response_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from semece.formats.json_stream import Json
    from semece.formats.sources import Findings, Opening, SampleFile, Wanted

WHOLE_NAMES = ("responses", "samples", "completions", "generations")
"""Lists of whole responses."""
ANSWER_NAMES = ("answers", *WHOLE_NAMES)
FIELDS = frozenset((*ANSWER_NAMES, "confidences", "labels", "grades", "model", "dataset"))
SCORE_COLUMN = "score:"
"""What the name of a column with a score begins with."""
SCORE_FIELDS = ("scores", "score_kinds")
_NUMBER_OR_NONE = frozenset((int, float, type(None)))
MOST = 1e100
"""Largest size of a score."""


def detect(opening: Opening) -> bool:
    """Whether a file begins like our samples: a table, or objects with answers or a question."""
    if opening.kind == "json":
        return not opening.names.isdisjoint((*ANSWER_NAMES, *TEXT_NAMES))
    return opening.is_table


def read(sources: Sequence[SampleFile], wanted: Wanted) -> Iterator[FileQuestion]:
    """Read samples files, one question a row.

    Raises
    ------
    ParseError
        Naming file, line, what was expected and what came.
    """
    datasets: dict[str, tuple[Findings, str]] = {}
    for source in sources:
        for place, row in source.table_rows():
            where = source.where(place)
            if isinstance(dataset := row.get("dataset"), str) and dataset:
                datasets.setdefault(dataset, (source.findings, where))
            model = row.get("model")
            if isinstance(model, str) and model and wanted.leaves_out(source.findings.add_model(model, where)):
                continue
            if "score_kinds" in row:
                source.findings.tried(add_kinds, source.findings, row, where)
            try:
                sample = sample_from(row, where, place, file=source.name)
            except ParseError as error:
                source.findings.leave_out(error)
            else:
                yield sample
    if len(datasets) == 1:  # several are parts of one
        ((name, (findings, where)),) = datasets.items()
        findings.add_dataset(name, where)


def sample_from(row: Mapping[str, Any], where: str, place: str = "line 1", *, file: str = "") -> FileQuestion:
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
    named = "answers" if row.get("answers") else _name_of_answers(row)
    answers = _list(row, named, where)
    if not answers:
        got = repr(row[named]) if named in row else shortened(", ".join(row), 200)
        raise ParseError(f"{where}: expected a list 'answers' with at least one answer; got {got}{_naming(row)}")
    whole = named in WHOLE_NAMES
    distinct = _distinct(answers)
    if distinct is None:
        answers = _texts(answers, where, whole=whole)
        distinct = dict.fromkeys(answers)
    scored = {name for name in row if name.startswith("score") and is_score(name)}
    question = question_in(row, where, without=FIELDS | scored if scored else FIELDS)
    confidences = _confidences(row, len(answers), where)
    labels, grades = _list(row, "labels", where), row.get("grades")
    if isinstance(grades, str):
        grades = _json(grades, f"{where}: grades")
    if grades is not None and labels is None:
        raise ParseError(f"{where}: grades need labels")
    if isinstance(grades, dict):
        grades = {label: verdict for label, verdict in grades.items() if verdict is not None}
    numbers, own = scores_of(row, len(answers), where) if scored else ({}, None)
    given = None if labels is None else tuple(labels)
    drawn = _responses(answers, distinct, confidences, own)
    return FileQuestion(question, drawn, given, grades, file, place, whole, numbers)


def _name_of_answers(row: Mapping[str, Any]) -> str:
    """Say under which name a row has its answers."""
    return next((name for name in ANSWER_NAMES if row.get(name) not in (None, "")), "answers")


def _distinct(answers: Sequence[Json]) -> dict[str, None] | None:
    """Give the distinct answers, if all are texts."""
    try:
        distinct = dict.fromkeys(answers)
    except TypeError:  # there is a list or an object
        return None
    return distinct if set(map(type, distinct)) == {str} else None


def _texts(answers: Sequence[Json], where: str, *, whole: bool) -> list[str]:
    """Make texts of answers; a whole response may be any JSON."""
    texts = [response_text(answer) if whole or answer is None else answer for answer in answers]
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise ParseError(f"{where}: answers must be texts; got {text!r} at index {i}")
    return texts


def _naming(row: Mapping[str, Any]) -> str:
    """Say how a row without answers is put right: a list under another name is renamed, texts have two forms."""
    near = nearest("answers", row)
    if any("|" in column for column in row) or (near is not None and str(row[near]).lstrip().startswith("[")):
        return renaming("answers", row)
    return (
        "; one answer a row: name the columns 'question' and 'response'; several: a list 'answers', in a cell as JSON"
    )


def _responses(
    texts: Sequence[str],
    distinct: Collection[str],
    confidences: Sequence[float | None] | None,
    numbers: Sequence[Mapping[str, float]] | None,
) -> tuple[FileResponse, ...]:
    """Make the responses; where there are only texts, equal ones are one response, many times."""
    if any(numbers or ()) or not (confidences is None or set(confidences) == {None}):
        several = zip(texts, confidences or repeat(None), numbers or repeat(NO_NUMBERS), strict=False)
        return tuple([FileResponse(text, "", stated, "ok", (), own) for text, stated, own in several])
    if len(distinct) == len(texts):
        return tuple(FileResponse.of_texts(texts))
    known = dict(zip(distinct, FileResponse.of_texts(distinct), strict=True))
    return tuple(map(known.__getitem__, texts))


def is_score(column: str) -> bool:
    """Whether a field or column is about scores."""
    return column.startswith(SCORE_COLUMN) or column in SCORE_FIELDS


def add_kinds(findings: Findings, row: Mapping[str, Any], where: str) -> None:
    """Write down what a row says of the kinds of scores.

    Raises
    ------
    ParseError
        It is no kind, or another one than a row before said.
    """
    kinds = _json(row["score_kinds"], f"{where}: score_kinds") if row.get("score_kinds") else {}
    if not isinstance(kinds, dict):
        raise ParseError(f"{where}: score_kinds must be an object of kinds by name; got {kinds!r}")
    for name, kind in kinds.items():
        findings.add_kind(name, kind, where)


def scores_of(row: Mapping[str, Any], n: int, where: str) -> tuple[dict[str, float], list[dict[str, float]]]:
    """Read the scores of a row with n responses: those of the question, and those of each response.

    Raises
    ------
    ParseError
        A score is no finite number, or a list of another length.

    Examples
    --------
    >>> scores_of({"scores": {"entropy": 1.2}, "score:p_true": "[0.9, null]"}, 2, "here")
    ({'entropy': 1.2}, [{'p_true': 0.9}, {}])
    """
    given = _json(row["scores"], f"{where}: scores") if row.get("scores") not in (None, "") else {}
    if not isinstance(given, dict):
        raise ParseError(
            f"{where}: scores must be an object of numbers or lists of numbers by name; got {given!r}"[:300]
        )
    columns = {k.removeprefix(SCORE_COLUMN): v for k, v in row.items() if k.startswith(SCORE_COLUMN)}
    whole: dict[str, float] = {}
    own: list[dict[str, float]] = [{} for _ in range(n)]
    for name, value in (given | {k: _json(v, f"{where}: {SCORE_COLUMN}{k}") for k, v in columns.items()}).items():
        values = value if isinstance(value, list) else [value]
        numbers = [number_of(name, one, where) for one in values]
        if isinstance(value, list) and len(value) != n:
            raise ParseError(f"{where}: there must be one {name} per answer; got {len(value)} for {n}")
        for found, number in zip(own if isinstance(value, list) else [whole], numbers, strict=True):
            found.update({} if number is None else {name: number})
    return whole, own


def number_of(name: str, value: Json, where: str) -> float | None:
    """Check a score; null is none.

    Raises
    ------
    ParseError
        It is no finite number.
    """
    number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= MOST
    if value is not None and not number:
        raise ParseError(f"{where}: the score {name} must be a finite number or null; got {value!r}"[:300])
    return None if value is None else float(value)


def _list(row: Mapping[str, Any], name: str, where: str) -> list[Any] | None:
    value = row.get(name)
    if isinstance(value, str):
        value = _json(value, f"{where}: {name}", 'a list (as JSON in a cell), such as [1, 2] or ["a", "b"]')
    if value is None:
        return None
    if not isinstance(value, list):
        raise ParseError(f"{where}: {name} must be a list; got {type(value).__name__}")
    return value


def _json(text: Json, where: str, wanted: str = "JSON") -> Json:
    """Read JSON in a cell of text; other values are as they are, an empty cell is none."""
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text) if text.strip() else None
    except (ValueError, RecursionError):
        raise ParseError(f"{where} must be {wanted}; got {text[:40]!r}") from None


def _confidences(row: Mapping[str, Any], n: int, where: str) -> list[float | None] | None:
    values = _list(row, "confidences", where)
    if values is None:
        return None
    if len(values) != n:
        raise ParseError(f"{where}: there must be one confidence per answer; got {len(values)} for {n}")
    if _NUMBER_OR_NONE.issuperset(map(type, values)) and all(value is None or 0 <= value <= 1 for value in values):
        return [None if value is None else float(value) for value in values]
    return [confidence_of(value, f"at index {i}", where) for i, value in enumerate(values)]


def confidence_of(value: Json, place: str, where: str) -> float | None:
    """Check a confidence that stands beside a response.

    Raises
    ------
    ParseError
        It is not in [0, 1].
    """
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if value is not None and not (number and 0 <= value <= 1):
        raise ParseError(f"{where}: a confidence must lie in [0, 1]; got {value!r} {place}{if_percent(value)}")
    return None if value is None else float(value)
