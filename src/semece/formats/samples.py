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
from typing import TYPE_CHECKING, Any

from semece.datasets import TEXT_NAMES, question_from, renaming
from semece.errors import ParseError, if_percent, nearest, shortened
from semece.formats.file_responses import FileQuestion, FileResponse, response_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from semece.formats.json_stream import Json
    from semece.formats.sources import Findings, Opening, SampleFile, Wanted

WHOLE_NAMES = ("responses", "samples", "completions", "generations")
"""Lists of whole responses."""
ANSWER_NAMES = ("answers", *WHOLE_NAMES)
FIELDS = (*ANSWER_NAMES, "confidences", "labels", "grades", "model", "dataset")
SCORE_COLUMN = "score:"
"""What the name of a column with a score begins with."""
SCORE_FIELDS = ("scores", "score_kinds")
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
            source.findings.tried(add_kinds, source.findings, row, where)
            yield from source.findings.tried(sample_from, row, where, place, file=str(source.path))
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
    named = next((name for name in ANSWER_NAMES if row.get(name) not in (None, "")), "answers")
    answers = _list(row, named, where)
    if not answers:
        got = repr(row[named]) if named in row else shortened(", ".join(row), 200)
        raise ParseError(f"{where}: expected a list 'answers' with at least one answer; got {got}{_naming(row)}")
    whole = named in WHOLE_NAMES
    if set(map(type, answers)) != {str}:
        answers = [response_text(answer) if whole or answer is None else answer for answer in answers]
        for i, answer in enumerate(answers):
            if not isinstance(answer, str):
                raise ParseError(f"{where}: answers must be texts; got {answer!r} at index {i}")
    question = question_from({k: v for k, v in row.items() if k not in FIELDS and not is_score(k)}, where)
    confidences = _confidences(row, len(answers), where)
    labels, grades = _list(row, "labels", where), row.get("grades")
    grades = _json(grades, f"{where}: grades")
    if grades is not None and labels is None:
        raise ParseError(f"{where}: grades need labels")
    if isinstance(grades, dict):
        grades = {label: verdict for label, verdict in grades.items() if verdict is not None}
    numbers, own = scores_of(row, len(answers), where)
    given = None if labels is None else tuple(labels)
    drawn = _responses(answers, confidences, own)
    return FileQuestion(question, drawn, given, grades, file=file, place=place, whole=whole, numbers=numbers)


def _naming(row: Mapping[str, Any]) -> str:
    """Say how a row without answers is put right: a list under another name is renamed, texts have two forms."""
    near = nearest("answers", row)
    if any("|" in column for column in row) or (near is not None and str(row[near]).lstrip().startswith("[")):
        return renaming("answers", row)
    return (
        "; one answer a row: name the columns 'question' and 'response'; several: a list 'answers', in a cell as JSON"
    )


def _responses(
    texts: Sequence[str], confidences: Sequence[float | None], numbers: Sequence[Mapping[str, float]]
) -> tuple[FileResponse, ...]:
    """Make the responses; where there are only texts, equal ones are one response, many times."""
    if not any(numbers) and set(confidences) == {None}:
        known = {text: FileResponse(text) for text in dict.fromkeys(texts)}
        return tuple(map(known.__getitem__, texts))
    several = zip(texts, confidences, numbers, strict=True)
    return tuple(FileResponse(text, confidence=stated, numbers=own) for text, stated, own in several)


def is_score(column: str) -> bool:
    """Whether a field or column is about scores."""
    return column in SCORE_FIELDS or column.startswith(SCORE_COLUMN)


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
    value = _json(row.get(name), f"{where}: {name}", 'a list (as JSON in a cell), such as [1, 2] or ["a", "b"]')
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


def _confidences(row: Mapping[str, Any], n: int, where: str) -> list[float | None]:
    values = _list(row, "confidences", where)
    if values is None:
        return [None] * n
    if len(values) != n:
        raise ParseError(f"{where}: there must be one confidence per answer; got {len(values)} for {n}")
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
