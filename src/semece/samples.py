"""Someone else's samples as a run: stored as replies at no cost, with file and line, then judged like our own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from semece.canonical import canonical, digest
from semece.datasets import with_unique_ids
from semece.errors import ParseError, StoreError
from semece.formats.samples import Sample, read_samples
from semece.judges.given import GivenJudge, read_given
from semece.records import Response
from semece.store import Store, StoredReply

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from semece.records import ResponseStatus


def score(paths: Sequence[Path], path: str | Path, *, judge: str | None = None) -> None:
    """Store samples in a run file and fix who judges them.

    Parameters
    ----------
    paths : sequence of Path
        Samples files; the questions of all of them.
    path : str or Path
        The run file; the same content again changes nothing, other content is refused.
    judge : str or None
        ``rules``, ``exact`` or ``given``. None: labels and grades that every question brings are used, else ``rules``.

    Raises
    ------
    ParseError
        A file is not a samples file.
    StoreError
        The run file holds something else.
    """
    samples = [(file, sample) for file in paths for sample in read_samples(file)]
    if not samples:
        raise ParseError(f"{', '.join(map(str, paths))}: no samples")
    for file, sample in samples:
        _check_given(sample, f"{file}, line {sample.line}")
    questions = with_unique_ids([sample.question for _, sample in samples], str(paths[0]))
    content = digest([_content(sample) for _, sample in samples]).hex()
    names = "+".join(file.stem for file in paths)
    judges = (judge, judge) if judge else _judges(samples)
    sizes = {q.id: len(sample.answers) for q, (_, sample) in zip(questions, samples, strict=True)}
    with Store(path, write=True) as store:
        known = store.meta("identity")
        if known is not None and known.get("dataset content") != content:
            raise StoreError(f"{path} holds other samples; write to another file with -o")
        store.set_meta("identity", {"model": "samples", "dataset": names, "dataset content": content})
        store.set_meta("source", "samples")
        store.add_questions(enumerate(questions))
        store.set_meta("view", _view(sizes, judges))
        for q, (file, sample) in zip(questions, samples, strict=True):
            store.append(_rows(q.id, str(file), sample))
        store.flush()


def _check_given(sample: Sample, where: str) -> None:
    if sample.labels is None:
        return
    try:
        read_given(sample.labels, sample.grades, n=len(sample.answers))
    except ParseError as error:
        raise ParseError(f"{where}: {error}") from None


def _judges(samples: Sequence[tuple[Path, Sample]]) -> tuple[str, str]:
    """Let the file's own labels and grades stand where every question has them, and rules where none has.

    Raises
    ------
    ParseError
        Some questions have them and others have not.
    """
    chosen = []
    for name in ("labels", "grades"):
        count = sum(getattr(sample, name) is not None for _, sample in samples)
        if 0 < count < len(samples):
            raise ParseError(
                f"{count} of {len(samples)} questions bring {name}: give them for all, or choose --judge rules"
            )
        chosen.append(GivenJudge.name if count else "rules")
    return chosen[0], chosen[1]


def _content(sample: Sample) -> list[Any]:
    q = sample.question
    return [q.id, q.text, q.references, sample.answers, sample.confidences, sample.labels, sample.grades]


def _view(sizes: dict[str, int], judges: tuple[str, str]) -> dict[str, Any]:
    return {
        "ids": list(sizes),
        "n": max(sizes.values()),
        "sizes": sizes,
        "partition_judge": judges[0],
        "grade_judge": judges[1],
        "judge_prompt": "default",
        "grade_classes": "all",
        "not_attempted": "incorrect",
        "min_responses": 2,
    }


def _rows(question_id: str, file: str, sample: Sample) -> Iterator[StoredReply]:
    for i, (answer, confidence) in enumerate(zip(sample.answers, sample.confidences, strict=True)):
        key = digest(["respond", question_id, "samples", i])
        raw = canonical({"confidence": confidence, "file": file, "line": sample.line})
        yield StoredReply(key, "respond", question_id, i, "ok", answer, raw)
    if sample.labels is not None:
        body = canonical({"labels": sample.labels, "grades": sample.grades})
        key = digest(["partition", question_id, GivenJudge.id, 0])
        yield StoredReply(key, "partition", question_id, 0, "ok", body, judge=GivenJudge.id)


def read_sample(reply: StoredReply) -> Response:
    """Read one stored sample: the answer is the text, the confidence stands beside it."""
    confidence = json.loads(reply.raw)["confidence"]
    status: ResponseStatus = "parsed" if reply.text.strip() else "non_answer"
    return Response(reply.question_id, reply.index, reply.text, reply.text.strip(), confidence, status)
