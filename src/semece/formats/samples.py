"""Our own samples format: one question a line, with its answers and what else is known of them.

``{"id", "question", "references": [..], "answers": [..], "confidences": [0.9, null, ..]?, "labels": [0, 0, 1]?,
"grades": {"0": "correct"}?}``. ``labels`` are the semantic classes of the answers; ``grades`` the verdict per label.
``responses`` (or ``samples``, ``completions``, ``generations``) instead of ``answers`` are whole texts in which the
answer is still to be found. ``model`` and ``dataset`` say whose they are. A JSON array of such rows, and CSV, TSV and
Parquet files with the same columns are read alike; a list in a cell of text is JSON.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from semece.datasets import TEXT_NAMES, question_from
from semece.errors import ParseError
from semece.formats.file_responses import FileQuestion, FileResponse, response_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from semece.formats.json_stream import Json
    from semece.formats.sources import Findings, Opening, SampleFile, Wanted

WHOLE_NAMES = ("responses", "samples", "completions", "generations")
"""Lists of whole responses."""
ANSWER_NAMES = ("answers", *WHOLE_NAMES)
FIELDS = (*ANSWER_NAMES, "confidences", "labels", "grades")


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
            for sample in source.findings.tried(sample_from, row, where, place):
                yield replace(sample, file=str(source.path))
    if len(datasets) == 1:  # several are parts of one
        ((name, (findings, where)),) = datasets.items()
        findings.add_dataset(name, where)


def sample_from(row: Mapping[str, Any], where: str, place: str = "line 1") -> FileQuestion:
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
        raise ParseError(f"{where}: expected a list 'answers' with at least one answer; got {row.get(named)!r}")
    whole = named in WHOLE_NAMES
    answers = [response_text(answer) if whole or answer is None else answer for answer in answers]
    for i, answer in enumerate(answers):
        if not isinstance(answer, str):
            raise ParseError(f"{where}: answers must be texts; got {answer!r} at index {i}")
    question = question_from({k: v for k, v in row.items() if k not in FIELDS}, where)
    confidences = tuple(_confidences(_list(row, "confidences", where), len(answers), where))
    labels, grades = _list(row, "labels", where), row.get("grades")
    if isinstance(grades, str):
        grades = None if grades == "" else _json(grades, f"{where}: grades")
    if grades is not None and labels is None:
        raise ParseError(f"{where}: grades need labels")
    if isinstance(grades, dict):
        grades = {label: verdict for label, verdict in grades.items() if verdict is not None}
    drawn = tuple(FileResponse(text, confidence=stated) for text, stated in zip(answers, confidences, strict=True))
    given = None if labels is None else tuple(labels)
    return FileQuestion(question, drawn, given, grades, place=place, whole=whole)


def _list(row: Mapping[str, Any], name: str, where: str) -> list[Any] | None:
    value = row.get(name)
    if isinstance(value, str) and value:
        value = _json(value, f"{where}: {name}")
    if value is None or value == "":
        return None
    if not isinstance(value, list):
        raise ParseError(f"{where}: {name} must be a list; got {type(value).__name__}")
    return value


def _json(text: str, where: str) -> Json:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ParseError(f"{where} must be JSON; got {text[:40]!r}") from None


def _confidences(values: list[Any] | None, n: int, where: str) -> Iterator[float | None]:
    if values is None:
        values = [None] * n
    if len(values) != n:
        raise ParseError(f"{where}: there must be one confidence per answer; got {len(values)} for {n}")
    for i, value in enumerate(values):
        yield confidence_of(value, f"at index {i}", where)


def confidence_of(value: Json, place: str, where: str) -> float | None:
    """Check a confidence that stands beside a response.

    Raises
    ------
    ParseError
        It is not in [0, 1].
    """
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if value is not None and not (number and 0 <= value <= 1):
        hint = " (percent? divide by 100)" if isinstance(value, int | float) and 1 < value <= 100 else ""
        raise ParseError(f"{where}: a confidence must lie in [0, 1]; got {value!r} {place}{hint}")
    return None if value is None else float(value)
