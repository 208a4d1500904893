"""Predictions of Humanity's Last Exam: ``hle_MODEL.json``, and ``judged_hle_MODEL.json`` with verdicts.

Schema: the scripts that come with the benchmark (``run_model_predictions.py``, ``run_judge_results.py``): an object
with the ids of questions, each with ``model`` and ``response``, and once it is judged ``judge_response`` with
``correct`` (yes or no). A file holds one response to each question: several files of one model are several.
The questions are not in the files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from semece.formats.file_responses import FileQuestion, FileResponse, Gathering, response_text
from semece.formats.sources import fault, text_in, value_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semece.formats.json_stream import Json
    from semece.formats.sources import Opening, SampleFile, Wanted

VERDICTS = {"yes": "correct", "no": "incorrect"}


def detect(opening: Opening) -> bool:
    """Whether a file begins with an object whose first member has a model and a response."""
    holders = (
        {name.rpartition(".")[0] for name in opening.names if name.endswith(end)} for end in (".model", ".response")
    )
    return bool(set.intersection(*holders))


def read(sources: Sequence[SampleFile], wanted: Wanted) -> list[FileQuestion]:
    """Read predictions of one model.

    Raises
    ------
    ParseError
        Naming file, question, what was expected and what came.
    """
    if not wanted.questions:
        raise fault(
            sources[0].path, "the questions beside predictions, which do not hold them; name them with --questions hle"
        )
    gathering = Gathering()
    for source in sources:
        with source.stream() as stream:
            for name in stream.members():
                gathering.take(source.findings, _sample, source, name, stream.value(), wanted)
            stream.end()
    return gathering.samples()


def _sample(source: SampleFile, name: str, row: Json, wanted: Wanted) -> FileQuestion | None:
    """Read one prediction; None if it is of another model."""
    where = source.where(f"question {name!r}"[:80])
    if wanted.leaves_out(source.findings.add_model(text_in(row, where, "model"), where)):
        return None
    if name not in wanted.questions:
        raise fault(where, f"the id of one of the {len(wanted.questions):,} questions of --questions", repr(name)[:80])
    judged = row.get("judge_response")
    said = judged.get("correct") if isinstance(judged, dict) else None
    verdict = VERDICTS.get(said) if isinstance(said, str) else None
    drawn = FileResponse(
        response_text(value_in(row, where, "response")), scores=(("judge_response", verdict),) if verdict else ()
    )
    return FileQuestion(wanted.questions[name], (drawn,), file=str(source.path), place=f"question {name!r}", whole=True)
