"""Records of OpenAI's evals: ``/tmp/evallogs/RUN.jsonl``, or the file of ``--record_path``.

Schema: openai/evals at 0041458, ``record.py``: a line with the ``spec`` of the run, then an event a line, with
``sample_id``, ``type`` and ``data``. ``sampling`` has the ``prompt`` and what was ``sampled``, ``match`` whether it is
``correct`` and what was ``expected``. In a run the first thing that a sample was asked is its question; what a grader
was asked is not. Several runs of one eval are several responses.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from semece.datasets import asked_text
from semece.formats.file_responses import FileQuestion, FileResponse, Gathering, natural, response_text
from semece.formats.sources import fault, list_in, value_in
from semece.records import Question

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semece.formats.json_stream import Json
    from semece.formats.sources import Opening, SampleFile, Wanted


@dataclass(slots=True)
class _Recorded:
    """What is recorded of one sample in one run."""

    place: str
    text: str = ""
    said: list[FileResponse] = field(default_factory=list)
    references: tuple[str, ...] = ()
    scores: tuple[tuple[str, str], ...] = ()


def detect(opening: Opening) -> bool:
    """Whether a file begins with the specification of a run."""
    return opening.has("spec", "spec.completion_fns") or opening.has("run_id", "event_id", "sample_id", "data")


def read(sources: Sequence[SampleFile], wanted: Wanted) -> list[FileQuestion]:
    """Read runs of one eval and model; samples by their id.

    Raises
    ------
    ParseError
        Naming file, line, what was expected and what came.
    """
    gathering = Gathering()
    for source in sources:
        samples: dict[str, _Recorded] = {}
        for place, row in source.rows():
            if "spec" in row and wanted.leaves_out(_about(source, row["spec"], source.where(place))):
                samples.clear()
                break
            source.findings.tried(_record, source, row, place, samples)
        for name, recorded in samples.items():
            gathering.take(source.findings, _sample, source, name, recorded)
    return sorted(gathering.samples(), key=lambda sample: natural(sample.question.id))


def _about(source: SampleFile, spec: Json, where: str) -> str:
    """Write down what a run is about; give its model."""
    names = list_in(spec, where, "completion_fns")
    if isinstance(spec.get("eval_name"), str):
        source.findings.add_dataset(spec["eval_name"], where)
    return source.findings.add_model(", ".join(map(str, names)), where)


def _record(source: SampleFile, row: dict[str, Any], place: str, samples: dict[str, _Recorded]) -> None:
    """Keep what an event says of its sample."""
    kind = row.get("type")
    if kind == "error":
        source.findings.failed["error"] += 1
    if kind not in {"sampling", "match"}:
        return
    where = source.where(place)
    name, data = value_in(row, where, "sample_id"), value_in(row, where, "data")
    if not isinstance(name, str | int) or not isinstance(data, dict):
        raise fault(where, "a sample_id and an object in data", f"{name!r}"[:60])
    recorded = samples.setdefault(str(name), _Recorded(place))
    if kind == "match":
        _match(data, recorded)
    else:
        _sampling(source, data, place, recorded)


def _sampling(source: SampleFile, data: dict[str, Any], place: str, recorded: _Recorded) -> None:
    text = asked_text(data.get("prompt"))
    recorded.text = recorded.text or text
    if recorded.text != text:
        source.findings.note("what a sample was asked beside its question, as by a grader, is left out")
        return
    said = data.get("sampled")
    for one in said if isinstance(said, list) else [said]:
        recorded.said.append(FileResponse(response_text(one), place))


def _match(data: dict[str, Any], recorded: _Recorded) -> None:
    expected = data.get("expected")
    listed = expected if isinstance(expected, list) else [expected]
    recorded.references = tuple(one for one in listed if isinstance(one, str) and one.strip())
    if isinstance(data.get("correct"), bool):
        recorded.scores = (("match", "correct" if data["correct"] else "incorrect"),)


def _sample(source: SampleFile, name: str, recorded: _Recorded) -> FileQuestion | None:
    """Make a sample of what is recorded; None if nothing was sampled."""
    if not recorded.said:
        return None
    if not recorded.text.strip():
        raise fault(source.where(recorded.place), "text in prompt", "none")
    only = len(recorded.said) == 1
    drawn = tuple(one._replace(scores=recorded.scores) if only else one for one in recorded.said)
    question = Question(name, recorded.text, recorded.references)
    return FileQuestion(question, drawn, file=str(source.path), place=recorded.place, whole=True)
