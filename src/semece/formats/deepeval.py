"""Test runs of DeepEval: ``.deepeval/.latest_test_run.json``, or what ``DEEPEVAL_RESULTS_FOLDER`` collects.

Schema: deepeval at 099d2a8, ``test_run/test_run.py`` (TestRun, and the file that holds one under ``testRunData``) and
``test_run/api.py`` (LLMApiTestCase). Test cases with the same ``input`` are responses to one question, those of several
runs too. A case with metrics is scored by ``success``; numbers of metrics that are asked for are scores. Conversations
have no single response and are not read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from semece.formats.file_responses import FileQuestion, FileResponse, Gathering, response_text
from semece.formats.sources import fault, text_in
from semece.records import Question

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semece.formats.json_stream import Json
    from semece.formats.sources import Opening, SampleFile, Wanted


def detect(opening: Opening) -> bool:
    """Whether a file begins like a test run."""
    return opening.has("testCases") or opening.has("testRunData")


def read(sources: Sequence[SampleFile], wanted: Wanted) -> list[FileQuestion]:
    """Read test runs; questions are numbered from 0.

    Raises
    ------
    ParseError
        Naming file, place, what was expected and what came.
    """
    del wanted
    gathering = Gathering()
    names: dict[str, str] = {}
    for source in sources:
        for place, case in source.entries(("testCases",), ("testRunData", "testCases")):
            gathering.take(source.findings, _sample, source, case, place, names)
    return gathering.samples()


def _sample(source: SampleFile, case: Json, place: str, names: dict[str, str]) -> FileQuestion:
    where = source.where(place)
    text, expected = text_in(case, where, "input"), case.get("expectedOutput")
    if not text.strip():
        raise fault(where, "text in input", "none")
    references = (expected,) if isinstance(expected, str) and expected.strip() else ()
    scores = (
        (("success", "correct" if case.get("success") is True else "incorrect"),) if case.get("metricsData") else ()
    )
    question = Question(names.setdefault(text, str(len(names))), text, references)
    metrics = {each.get("name"): each.get("score") for each in case.get("metricsData") or () if isinstance(each, dict)}
    numbers = source.findings.scores_of(metrics)
    drawn = FileResponse(response_text(case.get("actualOutput")), place, scores=scores, numbers=numbers)
    return FileQuestion(question, (drawn,), file=str(source.path), place=place, whole=True)
