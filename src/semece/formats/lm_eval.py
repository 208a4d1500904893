"""Samples of lm-evaluation-harness: ``samples_<task>_<date>.jsonl``, written with ``--log_samples``.

Schema: lm_eval 0.4.13, ``result_schema.py`` (SampleResult), ``evaluator.py`` and ``loggers/evaluation_tracker.py``;
rows of 0.4.0 to 0.4.8 are alike. A row is a document under one filter; ``resps`` holds the raw texts, one list per
request with one text per repeat, and is the same under every filter. The metrics judge what a filter left of the texts,
not each text: they are no verdicts. A number of a document's first row that is asked for is a score of the question.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

from semece.canonical_json import digest
from semece.datasets import TEXT_NAMES, asked_text, final_reference
from semece.formats.file_responses import FileQuestion, FileResponse, Gathering, response_text
from semece.formats.sources import fault, list_in, value_in
from semece.records import Question

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semece.formats.sources import Opening, SampleFile, Wanted

_NAME = re.compile(r"samples_(?P<task>.+?)_\d{4}-\d\d-\d\dT.*\.jsonl", re.DOTALL)


def detect(opening: Opening) -> bool:
    """Whether a file begins with a row of samples."""
    return opening.has("doc_id", "resps", "target")


def read(sources: Sequence[SampleFile], wanted: Wanted) -> list[FileQuestion]:
    """Read samples files of one task; documents by their id.

    Parameters
    ----------
    sources : sequence of SampleFile
        Files of the same task add up.
    wanted : Wanted
        Not needed: rows name no model.

    Raises
    ------
    ParseError
        Naming file, line, what was expected and what came.
    """
    del wanted
    gathering = Gathering()
    for source in sources:
        task = _NAME.fullmatch(source.path.name)
        source.findings.add_dataset(task["task"] if task else source.path.stem, str(source.path))
        known: dict[str, bytes] = {}
        for place, row in source.rows():
            gathering.take(source.findings, _sample, source, row, place, known)
    return gathering.samples()


def _sample(source: SampleFile, row: dict[str, Any], place: str, known: dict[str, bytes]) -> FileQuestion | None:
    """Read a row; None if its document came before: under another filter, or in a row that is there twice."""
    where = source.where(place)
    name = value_in(row, where, "doc_id")
    if not isinstance(name, str | int):
        raise fault(where, "a number in doc_id", repr(name))
    texts = _texts(row, where)
    mark, before = digest(texts), known.get(str(name))
    if before is not None:
        if before != mark:
            raise fault(where, f"the resps that document {name} has elsewhere in the file", "others")
        return None
    known[str(name)] = mark
    question = Question(str(name), _question_text(row, where), _references(row, where))
    drawn = tuple(FileResponse(text, place) for text in texts)
    numbers = source.findings.scores_of(row)
    return FileQuestion(question, drawn, file=str(source.path), place=place, whole=True, numbers=numbers)


def _texts(row: dict[str, Any], where: str) -> list[str]:
    """Give the repeats of the one request."""
    resps = list_in(row, where, "resps")
    if len(resps) == 1 and isinstance(resps[0], list):
        resps = resps[0]
    if not resps or not all(isinstance(text, str | None) for text in resps):
        kind = "log-likelihoods: a multiple-choice task draws no answers" if _likelihoods(resps) else repr(resps)[:60]
        raise fault(where, "generated texts in resps, [[..K]] or [..K]", kind)
    return [response_text(text) for text in resps]


def _likelihoods(resps: object) -> bool:
    """Whether there are lists all the way down to pairs of two texts or numbers."""
    while isinstance(resps, list) and resps and isinstance(resps[0], list):
        resps = resps[0]
    return isinstance(resps, list) and len(resps) == 2


def _question_text(row: dict[str, Any], where: str) -> str:
    """Give the document's question or, if it has none, the prompt, of a chat what the user said last."""
    doc = row.get("doc")
    for name in TEXT_NAMES:
        text = doc.get(name) if isinstance(doc, dict) else None
        if isinstance(text, str) and text.strip():
            return text
    arguments = value_in(row, where, "arguments")
    names = ("gen_args_0", "arg_0") if isinstance(arguments, dict) else (0, 0)
    text = asked_text(value_in(arguments, where, *names))
    if not text.strip():
        raise fault(where, "a prompt in arguments", repr(arguments)[:60])
    return text


_ARRAY = re.compile(r"\[\s*(?:(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")(?:\s+|(?=\])))+\]")
"""How numpy prints an array of texts: without commas."""
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")


def _references(row: dict[str, Any], where: str) -> tuple[str, ...]:
    """Read the target: a text, or the list of texts whose spelling by Python or numpy it is; null is none."""
    target = value_in(row, where, "target")
    if isinstance(target, str) and target.lstrip().startswith("["):
        target = _listed(target.strip())
    targets = target if isinstance(target, list) else [target]
    if not all(isinstance(one, str | int | float | None) for one in targets):
        raise fault(where, "a text or a list of texts in target", repr(target))
    texts = [final_reference(str(one)).strip() for one in targets if one is not None]
    return tuple(text for text in texts if text)


def _listed(target: str) -> list[str] | str:
    """Read the spelling of a list of texts; a text that is none stays as it is."""
    if _ARRAY.fullmatch(target):
        return [str(ast.literal_eval(quoted)) for quoted in _QUOTED.findall(target)]
    try:
        listed = ast.literal_eval(target)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return target
    return listed if isinstance(listed, list) and all(isinstance(text, str) for text in listed) else target
