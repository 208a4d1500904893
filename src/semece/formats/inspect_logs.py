"""Logs of Inspect AI: ``.eval`` (a zip archive with a JSON document per sample and epoch) and ``.json``.

Schema: inspect_ai 0.3.260, ``log/_log.py`` (EvalLog, EvalSample), ``log/_recorders/eval.py`` and
``log/_recorders/chunked/format.py`` (names of members), ``model/_model_output.py`` and ``scorer/_metric.py``; logs of
versions 0.3.41 to 0.3.285 have been read. Epochs of a sample id are the responses to one question; so are several
choices of one output. Messages and events are not needed: the answer is in ``output``.
"""

from __future__ import annotations

import importlib
import json
import math
import re
import struct
import zipfile
import zlib
from typing import TYPE_CHECKING, Any, NamedTuple

from semece.formats.file_responses import PARTIAL, FileQuestion, FileResponse, Gathering, ended, natural
from semece.formats.json_stream import unreadable
from semece.formats.sources import fault, list_in, text_in, value_in
from semece.records import Question

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path
    from zipfile import ZipFile

    from semece.formats.file_responses import FileStatus
    from semece.formats.json_stream import Json
    from semece.formats.sources import Opening, SampleFile, Wanted

    Resolve = Callable[[str, str], str]

VERDICTS: dict[str | float, str] = {
    "C": "correct",
    "I": "incorrect",
    "N": "not_attempted",
    "P": PARTIAL,
    1: "correct",
    0: "incorrect",
}
"""What scores mean for certain; true and false are 1 and 0 in Python."""
STOPS: dict[str, FileStatus] = {
    "max_tokens": "truncated",
    "length": "truncated",
    "model_length": "truncated",
    "content_filter": "content_filter",
}
_SAMPLE = re.compile(r"samples/(?:.*)_epoch_[0-9]+(?:\.json|/sample\.json)", re.DOTALL)
_ATTACHMENTS = re.compile(r"(?P<folder>samples/.*_epoch_[0-9]+/)attachments/(?P<start>[0-9]{1,18})\.json", re.DOTALL)
_ATTACHED = "attachment://"
MEMBER = 4
"""A member may have a quarter of the memory that its value may take: bytes, text, and what is made of it."""


_ZIP: Any = zipfile if hasattr(zipfile, "ZIP_ZSTANDARD") else importlib.import_module("backports.zstd.zipfile")
"""What unpacks Zstandard too: Python's own module does from 3.14 on, until then its backport."""


class Epoch(NamedTuple):
    """One epoch of a sample: its number, its own id if it has one, and the question with its responses."""

    number: int
    mark: str
    sample: FileQuestion


def detect(opening: Opening) -> bool:
    """Whether a file begins like a log: a zip archive, or a JSON document with a status and an eval."""
    return opening.kind == "zip" or opening.has("version", "status", "eval")


def read(sources: Sequence[SampleFile], wanted: Wanted) -> list[FileQuestion]:
    """Read logs of one model; samples by id, epochs by number.

    Parameters
    ----------
    sources : sequence of SampleFile
        Logs of the same task add up.
    wanted : Wanted
        Which model.

    Raises
    ------
    ParseError
        Naming file, sample, what was expected and what came.
    """
    gathering = Gathering()
    known: set[str] = set()
    for source in sources:
        reader = _from_archive if source.opening.kind == "zip" else _from_document
        for number, mark, sample in reader(source, wanted):
            if mark in known:
                source.findings.note("a retried log repeats samples of an earlier one; they count once")
                continue
            known |= {mark} if mark else set()
            source.findings.tried(gathering.add, sample, number)
    return sorted(gathering.samples(), key=lambda sample: natural(sample.question.id))


def _from_archive(source: SampleFile, wanted: Wanted) -> Iterator[Epoch]:
    with source.reading(), _opened(source.path) as archive:
        names = dict.fromkeys(archive.namelist())
        about = next((name for name in ("header.json", "_journal/start.json") if name in names), None)
        if about is None:
            listed = ", ".join(list(names)[:5]) or "nothing in it"
            raise fault(source.path, "a log of Inspect, with header.json", f"an archive with {listed}")
        header = _json(source, archive, about)
        if wanted.leaves_out(_about(source, header)):
            return
        chunks = _chunks(names)
        members = [name for name in names if _SAMPLE.fullmatch(name)]
        for name in members:
            yield from source.findings.tried(_member, source, archive, name, chunks)
        _check_whole(source, header, len(members))


def _chunks(names: Iterable[str]) -> dict[str, list[int]]:
    """List the attachments of samples that are stored in chunks: by folder the index of the first of each chunk."""
    chunks: dict[str, list[int]] = {}
    for name in names:
        if found := _ATTACHMENTS.fullmatch(name):
            chunks.setdefault(found["folder"], []).append(int(found["start"]))
    return chunks


def _member(source: SampleFile, archive: ZipFile, name: str, chunks: Mapping[str, Sequence[int]]) -> Epoch:
    sample = _json(source, archive, name)
    folder = name.removesuffix("sample.json")

    def resolve(reference: str, where: str) -> str:
        if folder == name:
            return text_in(sample, where, "attachments", reference)
        before = [start for start in chunks.get(folder, ()) if reference.isdecimal() and start <= int(reference)]
        if not before:
            raise fault(where, f"{folder}attachments/ with attachment {reference}", "none")
        first = max(before)
        return text_in(_json(source, archive, f"{folder}attachments/{first}.json"), where, int(reference) - first)

    return _epoch(source, sample, name, resolve)


def _from_document(source: SampleFile, wanted: Wanted) -> Iterator[Epoch]:
    header: dict[str, Any] = {}
    found, left_out = 0, False
    with source.stream() as stream:
        for name in stream.members():
            if name in {"status", "eval"}:
                header[name] = stream.value()
            elif name == "samples" and stream.peek() == "[":
                left_out = wanted.leaves_out(_about(source, header))
                for place in stream.items():
                    found += 1
                    epochs = source.findings.tried(_element, source, stream.value(), f"samples[{place}]")
                    if not left_out:
                        yield from epochs
        stream.end()
    if found and not left_out:
        _check_whole(source, header, found)


def _element(source: SampleFile, sample: Json, place: str) -> Epoch:
    return _epoch(source, sample, place, lambda name, where: text_in(sample, where, "attachments", name))


def _about(source: SampleFile, header: Json) -> str:
    """Write down what a log is about, and whether it was finished; give its model."""
    where = str(source.path)
    model, task = text_in(header, where, "eval", "model"), text_in(header, where, "eval", "task")
    source.findings.add_dataset(task.rpartition("/")[2], where)
    status = header.get("status", "started")
    if status != "success":
        source.findings.note(f"the status of {where} is {status}: samples may be missing")
    return source.findings.add_model(model, where)


def _check_whole(source: SampleFile, header: Mapping[str, Any], found: int) -> None:
    """Note that a log says it has more samples than it has."""
    dataset, config = header["eval"].get("dataset"), header["eval"].get("config")
    ids = dataset.get("sample_ids") if isinstance(dataset, dict) else None
    epochs = (config.get("epochs") if isinstance(config, dict) else None) or 1
    if isinstance(ids, list) and isinstance(epochs, int) and found < len(ids) * epochs:
        source.findings.note(f"{source.path} has {found:,} of {len(ids) * epochs:,} samples")


def _epoch(source: SampleFile, sample: Json, place: str, resolve: Resolve) -> Epoch:
    where = source.where(place)
    name, number = value_in(sample, where, "id"), value_in(sample, where, "epoch")
    if not isinstance(name, str | int) or not isinstance(number, int):
        raise fault(where, "an id and the number of an epoch", f"{name!r} and {number!r}")
    text = _question_text(sample, where, resolve)
    target = value_in(sample, where, "target")
    targets = target if isinstance(target, list) else [target]
    references = tuple(one.strip() for one in targets if isinstance(one, str) and one.strip())
    about = sample.get("metadata")
    question = Question(str(name).strip(), text, references, about if isinstance(about, dict) else {})
    drawn = tuple(_drawn(source, sample, place, resolve))
    mark = sample.get("uuid") or ""
    return Epoch(number, str(mark), FileQuestion(question, drawn, file=str(source.path), place=place, whole=True))


def _question_text(sample: Json, where: str, resolve: Resolve) -> str:
    """Give the input, or what its last message of the user says."""
    put = value_in(sample, where, "input")
    if isinstance(put, list):
        asked = [message for message in put if isinstance(message, dict) and message.get("role") == "user"]
        put = _content(value_in(asked[-1], where, "content"), where, resolve) if asked else ""
    elif isinstance(put, str):
        put = _content(put, where, resolve)
    if not isinstance(put, str) or not put.strip():
        raise fault(where, "text in input, or in a message of the user", "none")
    return put


def _drawn(source: SampleFile, sample: dict[str, Any], place: str, resolve: Resolve) -> Iterator[FileResponse]:
    where = source.where(place)
    reason = _failure(sample)
    if reason:
        source.findings.failed[reason] += 1
        return
    scores = _scores(sample, where)
    numbers = source.findings.scores_of(_numbers(sample))
    for i, choice in enumerate(list_in(sample, where, "output", "choices")):
        message = value_in(choice, where, "message")
        content = message.get("content") if isinstance(message, dict) else None
        status = ended(STOPS, choice.get("stop_reason"))
        if isinstance(content, list) and any(isinstance(part, dict) and part.get("refusal") for part in content):
            status = "refusal"
        if sample.get("limit"):
            status = "truncated"
        said = (scores, numbers) if i == 0 else ((), {})
        yield FileResponse(_content(content, where, resolve), place, None, status, *said)


def _failure(sample: dict[str, Any]) -> str:
    """Say why a sample has no response; empty if it has."""
    if sample.get("error"):
        return "error"
    if sample.get("invalidation"):
        return "invalidated"
    output = sample.get("output") or {}
    return "" if isinstance(output, dict) and output.get("choices") else "no output"


def _content(content: Json, where: str, resolve: Resolve) -> str:
    """Give the text of a message: a text, or the text parts of a list."""
    parts = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
    texts = []
    for part in parts:
        if value_in(part, where, "type") == "text" and part.get("text") is not None:
            text = text_in(part, where, "text")
            if text.startswith(_ATTACHED):
                text = resolve(text.removeprefix(_ATTACHED), where)
            texts.append(text)
    return "\n".join(texts)


def _scores(sample: dict[str, Any], where: str) -> tuple[tuple[str, str], ...]:
    """Read the scores; a value that is no verdict keeps its scorer from being used."""
    scores = sample.get("scores") or ({"score": sample["score"]} if sample.get("score") else {})
    if not isinstance(scores, dict):
        raise fault(where, "an object in scores", repr(scores))
    read = []
    for name in scores:
        value = value_in(scores, where, name, "value")
        if isinstance(value, float) and math.isnan(value):
            continue
        known = VERDICTS.get(value) if isinstance(value, str | int | float) else None
        read.append((name, known or f"no verdict: {value!r}"[:80]))
    return tuple(read)


def _numbers(sample: dict[str, Any]) -> dict[str, Json]:
    """Name what scorers said: a scorer by its name, a part of its value by ``scorer.part``."""
    values = {name: score["value"] for name, score in (sample.get("scores") or {}).items()}
    parts = {f"{name}.{part}": one for name, v in values.items() if isinstance(v, dict) for part, one in v.items()}
    return values | parts


def _opened(path: Path) -> ZipFile:
    """Open a zip archive of JSON documents, also of such that are compressed with Zstandard.

    Raises
    ------
    ParseError
        It is no zip archive, or its end is missing.
    """
    try:
        archive: ZipFile = _ZIP.ZipFile(path)
    except (_ZIP.BadZipFile, ValueError, NotImplementedError, EOFError, struct.error):
        came = "the end of the file: it is cut, damaged or still being written"
        raise fault(f"{path}, byte {path.stat().st_size}", "the end of a zip archive", came) from None
    return archive


def _json(source: SampleFile, archive: ZipFile, name: str) -> Json:
    """Read a member of an archive, once it is measured; of several with one name the last, which is the newest.

    Raises
    ------
    ParseError
        Naming file and member: it is damaged, encrypted, too large, or no JSON.
    """
    size, most = archive.getinfo(name).file_size, source.most // MEMBER
    if size > most:
        came = f"one of {size / 1e6:,.1f} MB, and this archive may have {most / 1e6:,.1f} MB in one"
        raise fault(source.where(name), "a member that fits into memory", came)
    try:
        with archive.open(name) as member:
            text = member.read(size + 1)  # which is checked at its end; the archive may say too little
        if len(text) > size:
            raise _ZIP.BadZipFile("longer than it says")
        source.check(text)
        return json.loads(text)
    except UnicodeDecodeError:
        said = "UTF-8 text; got other bytes"
    except json.JSONDecodeError as error:
        said = f"JSON; {error}"
    except (ValueError, RecursionError) as error:
        said = f"JSON that can be read; {unreadable(error)}"
    except (_ZIP.BadZipFile, _ZIP.zstd.ZstdError, zlib.error, EOFError, struct.error, OSError) as error:
        said = f"a whole member of a zip archive; got a damaged one ({error})"
    except MemoryError:
        said = "a member that fits into memory"
    except (RuntimeError, NotImplementedError) as error:
        said = f"a member that can be unpacked; {error}"
    raise fault(source.where(name), said)
