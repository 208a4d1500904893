"""Readers of samples: our own format, and the files of other tools, told apart by what is in them.

A reader is two functions: ``detect`` says whether a file begins like one of its own, ``read`` gives the samples of some
files. What came of each attempt is kept apart: a response is ``ok``, ``truncated``, ``content_filter`` or ``refusal``;
an attempt that delivered nothing is counted, and no response; a bad row is an error, or left out and counted.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from semece.errors import ParseError, meant
from semece.formats import (
    batch_outputs,
    cloud_batches,
    deepeval,
    hle,
    inspect_logs,
    lm_eval,
    lm_polygraph,
    openai_evals,
    promptfoo,
    response_rows,
    samples,
    sem_ece,
    simple_evals,
    uqlm,
)
from semece.formats.file_responses import PARTIAL, FileQuestion, FileResponse, FileStatus
from semece.formats.labelled_parquet import check_labels, is_labelled, labelled_answers
from semece.formats.sample_files import is_pattern, name_of, sample_files
from semece.formats.samples import sample_from
from semece.formats.sources import Findings, SampleFile, Wanted, fault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from semece.formats.sources import Opening


__all__ = [
    "FORMATS",
    "PARTIAL",
    "Collected",
    "FileQuestion",
    "FileResponse",
    "FileStatus",
    "Findings",
    "Wanted",
    "check_labels",
    "collect",
    "fault",
    "is_labelled",
    "is_pattern",
    "labelled_answers",
    "name_of",
    "open_samples",
    "sample_files",
    "sample_from",
]


class Format(NamedTuple):
    """How one tool's files are read: a row of the table.

    Parameters
    ----------
    what : str
        What they are, for people.
    detect : callable
        From what a file begins with to whether it is one of them.
    read : callable
        From files, and what is wanted beside them, to samples.
    """

    what: str
    detect: Callable[[Opening], bool]
    read: Callable[[Sequence[SampleFile], Wanted], Iterable[FileQuestion]]


FORMATS = {
    "lm-polygraph": Format("results of lm-polygraph, .man", lm_polygraph.detect, lm_polygraph.read),
    "inspect": Format("logs of Inspect, .eval or .json", inspect_logs.detect, inspect_logs.read),
    "lm-eval": Format("samples_*.jsonl of lm-evaluation-harness", lm_eval.detect, lm_eval.read),
    "promptfoo": Format("results of promptfoo, .json or .jsonl", promptfoo.detect, promptfoo.read),
    "uqlm": Format("a result of uqlm as JSON", uqlm.detect, uqlm.read),
    "openai-batch": Format("output files of OpenAI's batches", batch_outputs.detect_openai, batch_outputs.read_openai),
    "anthropic-batch": Format(
        "results of Anthropic's message batches", batch_outputs.detect_anthropic, batch_outputs.read_anthropic
    ),
    "google-batch": Format(
        "outputs of batches of Gemini and Vertex", cloud_batches.detect_google, cloud_batches.read_google
    ),
    "bedrock-batch": Format("outputs of Bedrock's batches", cloud_batches.detect_bedrock, cloud_batches.read_bedrock),
    "deepeval": Format("test runs of DeepEval", deepeval.detect, deepeval.read),
    "hle": Format("predictions of Humanity's Last Exam", hle.detect, hle.read),
    "openai-evals": Format("records of OpenAI's evals", openai_evals.detect, openai_evals.read),
    "simple-evals": Format("*_allresults.json of simple-evals", simple_evals.detect, simple_evals.read),
    "sem-ece": Format("*_clustered.jsonl and *_graded.jsonl of the paper", sem_ece.detect, sem_ece.read),
    "rows": Format("rows with question and one response", response_rows.detect, response_rows.read),
    "samples": Format("our own rows with question and answers", samples.detect, samples.read),
}
"""By name; the first that knows a file reads it."""


class OpenedSamples(NamedTuple):
    """Files of samples that are about to be read.

    Parameters
    ----------
    samples : iterator of FileQuestion
        One per question; the files are read as it goes on.
    findings : Findings
        What was left out so far, and what deserves to be said.
    format : str
        Which of :data:`FORMATS` they are of.
    """

    samples: Iterator[FileQuestion]
    findings: Findings
    format: str


class Collected(NamedTuple):
    """What some files hold.

    Parameters
    ----------
    samples : list of FileQuestion
        One per question.
    findings : Findings
        What was left out, and what deserves to be said.
    format : str
        Which of :data:`FORMATS` they are of.
    """

    samples: list[FileQuestion]
    findings: Findings
    format: str


def collect(
    paths: Sequence[Path], *, form: str | None = None, skip_bad: bool = False, wanted: Wanted | None = None
) -> Collected:
    """Read files of samples.

    Parameters
    ----------
    paths : sequence of Path
        Files of one format.
    form : str or None
        One of :data:`FORMATS`. None: by what is in the files.
    skip_bad : bool
        Leave bad rows out and count them. A file that is cut or damaged as a whole is refused all the same.
    wanted : Wanted, optional
        Questions from elsewhere, which model, and which scores.

    Returns
    -------
    Collected
        At least one sample.

    Raises
    ------
    ParseError
        Naming file, place, what was expected and what came.
    """
    opened = open_samples(paths, form=form, skip_bad=skip_bad, wanted=wanted)
    return Collected(list(opened.samples), opened.findings, opened.format)


def open_samples(
    paths: Sequence[Path], *, form: str | None = None, skip_bad: bool = False, wanted: Wanted | None = None
) -> OpenedSamples:
    """Open files of samples, to read one question at a time.

    Parameters
    ----------
    paths, form, skip_bad, wanted
        As in :func:`collect`.

    Returns
    -------
    OpenedSamples
        Bad rows, and files without a sample, are refused as the samples are read.

    Raises
    ------
    ParseError
        The files are of no known format, or of several.
    """
    wanted = wanted or Wanted()
    findings = Findings(skip_bad, wanted.scores)
    sources = [SampleFile(path, findings) for path in paths]
    _check_paths(paths)
    name = form or _format_of(sources)
    if name not in FORMATS:
        raise ParseError(f"format must be one of {', '.join(FORMATS)}; got {name!r}{meant(name, FORMATS)}")
    return OpenedSamples(_read(FORMATS[name], sources, wanted), findings, name)


def _read(form: Format, sources: Sequence[SampleFile], wanted: Wanted) -> Iterator[FileQuestion]:
    """Read all samples, and refuse files without one."""
    findings, one = sources[0].findings, None
    for one in form.read(sources, wanted):
        yield one
    _check_models(findings, wanted)
    if one is None:
        bad = [f"all of {len(findings.skipped):,} rows are bad, the first: {each}" for each in findings.skipped[:1]]
        raise ParseError("; ".join([f"{', '.join(str(source.path) for source in sources)}: no samples", *bad]))


def _check_paths(paths: Sequence[Path]) -> None:
    """Refuse a file that is named twice: its responses would count twice."""
    seen = set()
    for path in paths:
        place = os.path.realpath(path)
        if place in seen:
            raise ParseError(f"{path} is named twice")
        seen.add(place)


def _format_of(sources: Sequence[SampleFile]) -> str:
    """Name the one format of all files."""
    names: dict[str, Path] = {}
    for source in sources:
        opening = source.opening
        name = next((name for name, reader in FORMATS.items() if reader.detect(opening)), None)
        if name is None:
            raise _unknown(source)
        names.setdefault(name, source.path)
    if len(names) > 1:
        (one, first), (other, second) = list(names.items())[:2]
        raise ParseError(f"{second}: expected a file of the format of {first}, {one}; got {other}: score them apart")
    return next(iter(names))


def _unknown(source: SampleFile) -> ParseError:
    """Say of a file that is none of ours what was expected and what came."""
    opening = source.opening
    if opening.kind == "empty":
        return ParseError(f"{source.path}: no samples; the file is empty")
    if opening.kind == "json" and not opening.names:
        source.check_first()
    known = "; ".join(f"{name}: {reader.what}" for name, reader in FORMATS.items())
    return ParseError(f"{source.where('line 1')}: expected one of the formats ({known}); got {opening.described()}")


def _check_models(findings: Findings, wanted: Wanted) -> None:
    """Refuse responses of several models, and a model that has none where the files name others."""
    models = ", ".join(findings.models)
    if wanted.model is not None and findings.models and wanted.model not in findings.models:
        near = meant(wanted.model, findings.models)
        raise ParseError(
            f"there are no responses of {wanted.model}{near}: the files name {models}; --name says what tables call it"
        )
    if wanted.model is None and len(findings.models) > 1:
        place = list(findings.models.values())[1]
        raise ParseError(f"{place}: expected responses of one model; got {models}: choose one with --model")
    if len(findings.datasets) > 1:
        place = list(findings.datasets.values())[1]
        raise ParseError(f"{place}: expected samples of one task; got {', '.join(findings.datasets)}: score them apart")
