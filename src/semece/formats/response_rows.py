"""One response a row: JSON Lines, a JSON array, CSV, TSV or Parquet, as scripts and ragas write them.

Schema of ragas 0.4: ``user_input``, ``response``, ``reference`` (``EvaluationDataset.to_csv`` and ``to_jsonl``,
``EvaluationResult.to_pandas``); of ragas 0.1: ``question``, ``answer``, ``ground_truth``. Beside references ``answer``
is the response. Rows with the same id are responses to one question if ids come more than once; otherwise rows with the
same text and references are. Numbers of metrics beside a response are no verdicts; ``scores``, or columns such as
``score:p_true``, are scores of it.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from semece.datasets import REFERENCE_NAMES, TEXT_NAMES, asked_text, question_from
from semece.formats.file_responses import FileQuestion, FileResponse, Gathering, response_text
from semece.formats.samples import ANSWER_NAMES, add_kinds, confidence_of, is_score, scores_of
from semece.formats.sources import fault

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from semece.formats.json_stream import Json
    from semece.formats.sources import Opening, SampleFile, Wanted
    from semece.records import Question

TEXTS = (*TEXT_NAMES, "user_input", "input", "query")
RESPONSES = ("response", "completion", "generation", "prediction", "output", "actual_output", "model_output")
REFERENCES = (*REFERENCE_NAMES, "ground_truth", "ground_truths", "expected_output", "target")
IDS = ("question_id", "id", "doc_id")
OTHER_REFERENCES = frozenset(REFERENCES) - {"answer"}
"""Beside these ``answer`` is the response; alone it may be the reference."""


def detect(opening: Opening) -> bool:
    """Whether a file begins with a row that has a question and one response."""
    texts, answers = not opening.names.isdisjoint(TEXTS), not opening.names.isdisjoint(ANSWER_NAMES)
    return texts and not answers and _response_name(opening.names) is not None


def _response_name(names: Mapping[str, Any] | frozenset[str]) -> str | None:
    """Name the column of the response."""
    found = next((name for name in RESPONSES if name in names), None)
    return (
        "answer" if found is None and "answer" in names and any(name in names for name in OTHER_REFERENCES) else found
    )


def read(sources: Sequence[SampleFile], wanted: Wanted) -> list[FileQuestion]:
    """Read rows with one response each; questions in the order in which they first come.

    Raises
    ------
    ParseError
        Naming file, row, what was expected and what came.
    """
    rows = [
        sample
        for source in sources
        for place, row in source.table_rows()
        for sample in source.findings.tried(_sample, source, row, place, wanted)
    ]
    ids = Counter(sample.question.id for sample in rows if sample.question.id)
    by_id = max(ids.values(), default=0) > 1
    gathering, names = Gathering(), dict[tuple[str, tuple[str, ...]], str]()
    shared: dict[str, dict[str, Any]] = {}
    for sample in rows:
        question = sample.question
        if by_id and not question.id:
            raise fault(sample.where, "an id, as in other rows", "none")
        if not by_id:
            name = names.setdefault((question.text, question.references), question.id or str(len(names)))
            question = replace(question, id=name)
        gathering.add(replace(sample, question=question))
        shared.setdefault(question.id, dict(question.metadata))
        shared[question.id] = {k: v for k, v in shared[question.id].items() if question.metadata.get(k) == v}
    return [
        replace(one, question=replace(one.question, metadata=shared[one.question.id])) for one in gathering.samples()
    ]


def _sample(source: SampleFile, row: dict[str, Any], place: str, wanted: Wanted) -> FileQuestion | None:
    """Read a row; None if it is of another model."""
    where, name = source.where(place), _response_name(row)
    if name is None:
        raise fault(where, f"a field {' or '.join(RESPONSES[:2])}", f"an object with {', '.join(map(str, row))}"[:200])
    model = row.get("model")
    if isinstance(model, str) and model and wanted.leaves_out(source.findings.add_model(model, where)):
        return None
    said = row[name]
    texts = said if isinstance(said, list) and all(isinstance(one, str | None) for one in said) else [said]
    stated = _confidence(row.get("confidence"), where)
    add_kinds(source.findings, row, where)
    whole, own = scores_of(row, len(texts), where)
    drawn = tuple(
        FileResponse(response_text(text), place, stated, numbers=whole | each)
        for text, each in zip(texts, own, strict=True)
    )
    return FileQuestion(_question(row, name, where), drawn, file=str(source.path), place=place, whole=True)


def _confidence(value: Json, where: str) -> float | None:
    """Read the confidence beside a response; in a table of text it is a text."""
    if isinstance(value, str):
        with contextlib.suppress(ValueError):
            value = float(value) if value.strip() else None
    return confidence_of(value, "in confidence", where)


def _question(row: dict[str, Any], response: str, where: str) -> Question:
    """Read the question of a row: text, references and id under the names that tools give them."""
    text = next((name for name in TEXTS if row.get(name)), "question")
    names = [name for name in REFERENCES if name != response]
    reference = next((name for name in names if row.get(name) is not None), None)
    identity = next((row[name] for name in IDS if row.get(name) not in (None, "")), None)
    taken = {text, response, reference, "confidence", "model", *IDS}
    left = {name: value for name, value in row.items() if name not in taken and not is_score(name)}
    rest = {name: value for name, value in left.items() if name not in REFERENCES + TEXTS}
    put = asked_text(row[text]) if isinstance(row.get(text), list) else row.get(text)
    columns = {"id": identity, "question": put, "references": row[reference] if reference else None}
    return question_from({**rest, **columns}, where)
