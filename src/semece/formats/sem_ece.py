"""The files of the paper's authors: ``*_clustered.jsonl``, and beside them ``*_graded.jsonl``.

Schema: ZhanliangAaronWang/Sem-ECE at b511b06, ``phase1/clustering/collect_openai.py`` and
``phase1/grading/collect_and_check.py``; other phases and providers write the same fields. A clustered row is a question
with ``answer_extracted``, ``confidence_verbalized`` and ``cluster_assignments``; a graded row is the verdict of its
``modal_cluster``. Without graded rows the references (``gold_answer``) are there to grade against.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from semece.formats.samples import sample_from
from semece.formats.sources import fault, list_in, text_in, value_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from semece.formats.file_responses import FileQuestion
    from semece.formats.sources import Opening, SampleFile, Wanted

_NAME = re.compile(r"[^_]+_(?P<task>.+)_clustered", re.DOTALL)
VERDICTS = {"CORRECT": "correct", "INCORRECT": "incorrect", "NOT_ATTEMPTED": "not_attempted"}


def detect(opening: Opening) -> bool:
    """Whether a file begins with a clustered or a graded row."""
    return opening.has("cluster_assignments") or opening.has("grade", "Y", "modal_cluster_label")


def read(sources: Sequence[SampleFile], wanted: Wanted) -> Iterator[FileQuestion]:
    """Read clustered rows, with the verdicts of graded rows where they are there.

    Raises
    ------
    ParseError
        Naming file, line, what was expected and what came.
    """
    graded: dict[str, dict[str, Any]] = {}
    for source in sources:
        for place, row in source.rows() if not source.opening.has("cluster_assignments") else ():
            source.findings.tried(_keep, source.where(place), row, graded)
    found = False
    for source in sources:
        if called := _NAME.fullmatch(source.path.stem):
            source.findings.add_dataset(called["task"], str(source.path))
        for place, row in source.rows() if source.opening.has("cluster_assignments") else ():
            found = True
            yield from source.findings.tried(_sample, source, row, place, wanted, graded)
    if not found:
        raise fault(sources[0].path, "a clustered file beside the graded one, which has no answers")


def _keep(where: str, row: dict[str, Any], graded: dict[str, dict[str, Any]]) -> None:
    """Keep a graded row under its id, unless its judge's reply says otherwise."""
    name, grade = text_in(row, where, "id"), text_in(row, where, "grade")
    reply = row.get("raw_judge_response")
    if grade == "CORRECT" and isinstance(reply, str) and _says_incorrect(reply):
        raise fault(where, "the grade that raw_judge_response says", f"CORRECT for {reply[:60]!r}")
    if grade not in {*VERDICTS, "PARSE_ERROR"}:
        raise fault(where, f"{', '.join(VERDICTS)} or PARSE_ERROR in grade", repr(grade))
    if name in graded:
        raise fault(where, f"one graded row for {name!r}", "a second one")
    graded[name] = row


def _says_incorrect(reply: str) -> bool:
    """Whether a reply that is not the JSON it should be was searched for CORRECT and found INCORRECT."""
    try:
        return bool(json.loads(reply)["grade"].upper() == "INCORRECT")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return "INCORRECT" in reply.upper()


def _sample(
    source: SampleFile, row: dict[str, Any], place: str, wanted: Wanted, graded: dict[str, dict[str, Any]]
) -> FileQuestion | None:
    where = source.where(place)
    name, model = text_in(row, where, "id"), row.get("model")
    if isinstance(model, str) and wanted.leaves_out(source.findings.add_model(model, where)):
        return None
    columns = {
        "id": name,
        "question": text_in(row, where, "question"),
        "references": value_in(row, where, "gold_answer"),
        "answers": list_in(row, where, "answer_extracted"),
        "confidences": row.get("confidence_verbalized"),
        "labels": list_in(row, where, "cluster_assignments"),
        "grades": _grades(row, graded.get(name), where) if graded else None,
    }
    return replace(sample_from(columns, where, place), file=str(source.path))


def _grades(row: dict[str, Any], graded: dict[str, Any] | None, where: str) -> dict[str, str]:
    """Give the verdict of the class that was graded; none if its judge gave none."""
    verdict = None if graded is None else VERDICTS.get(graded["grade"])
    if graded is None or verdict is None:
        return {}
    modal, label = value_in(row, where, "modal_cluster"), row.get("modal_cluster_label")
    if label != graded.get("modal_cluster_label", label):
        expected = graded["modal_cluster_label"]
        raise fault(where, f"the modal_cluster_label that was graded, {expected!r}", repr(label))
    return {str(modal): verdict}
