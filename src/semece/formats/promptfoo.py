"""Results of promptfoo: ``promptfoo eval --output results.json`` or ``results.jsonl``.

Schema: promptfoo 0.121.20, ``types/index.ts`` (EvaluateResult, EvaluateSummaryV2 and V3), ``types/providers.ts``
(ProviderResponse), ``util/output.ts`` (the file) and ``evaluator.ts`` (with ``--repeat``, each repeat is a test of its
own with the same variables). Results of one provider and prompt with the same variables are the responses to one
question. An output that is an object or a number is its JSON. A result of a test with assertions is scored by
``success``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from semece.canonical_json import digest, plain
from semece.datasets import TEXT_NAMES, question_from
from semece.formats.file_responses import FileQuestion, FileResponse, Gathering, ended, response_text
from semece.formats.sources import fault, text_in, value_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from semece.formats.file_responses import FileStatus
    from semece.formats.json_stream import Json
    from semece.formats.sources import Opening, SampleFile, Wanted
    from semece.records import Question

ERROR = 2
"""The failure reason of a result that is no answer."""
STOPS: dict[str, FileStatus] = {"length": "truncated", "content_filter": "content_filter"}
CACHED = "some responses came from promptfoo's cache: repeats may be copies of one response (--no-cache)"


def detect(opening: Opening) -> bool:
    """Whether a file begins like an evaluation, or like one of its results."""
    return opening.has("evalId", "results") or opening.has("promptIdx", "testIdx", "vars", "success")


def read(sources: Sequence[SampleFile], wanted: Wanted) -> list[FileQuestion]:
    """Read results of one provider and one prompt.

    Parameters
    ----------
    sources : sequence of SampleFile
        Evaluations of the same tests add up.
    wanted : Wanted
        Which provider.

    Raises
    ------
    ParseError
        Naming file, place, what was expected and what came.
    """
    gathering = Gathering()
    first: dict[str, tuple[int, int]] = {}
    prompts: dict[str, str] = {}
    for number, source in enumerate(sources):
        for place, result in _results(source):
            for found in source.findings.tried(_result, source, result, place, wanted, prompts):
                order = (number, found.test)
                source.findings.tried(gathering.add, found.sample, order)
                key = found.sample.question.id
                first[key] = min(order, first.get(key, order))
    if len(prompts) > 1:
        where, there = list(prompts.values())[:2]
        raise fault(there, f"a result of the prompt that {where} is of", "one of another prompt")
    samples = sorted(gathering.samples(), key=lambda sample: first[sample.question.id])
    return [_named(sample, first[sample.question.id][1]) for sample in samples]


class _Result(NamedTuple):
    """A result: the number of its test, and its question under a name made of prompt and variables."""

    test: int
    sample: FileQuestion


def _results(source: SampleFile) -> Iterator[tuple[str, Any]]:
    """Give the results of an evaluation with their places."""
    return source.entries(("results", "results")) if source.opening.has("evalId", "results") else source.rows()


def _result(source: SampleFile, result: Json, place: str, wanted: Wanted, prompts: dict[str, str]) -> _Result | None:
    """Read a result; None if it is of another provider."""
    where = source.where(place)
    if wanted.leaves_out(source.findings.add_model(_provider(result, where), where)):
        return None
    test = value_in(result, where, "testIdx")
    if not isinstance(test, int):
        raise fault(where, "a number in testIdx", repr(test))
    prompts.setdefault(str(result.get("promptId")), where)
    drawn = _drawn(source, result, place)
    question = _question(result, where)
    return _Result(test, FileQuestion(question, drawn, file=str(source.path), place=place, whole=True))


def _provider(result: Json, where: str) -> str:
    """Name a provider by its label, or else by its id; old files have the name alone."""
    provider = value_in(result, where, "provider")
    if isinstance(provider, str):
        return provider
    label = value_in(provider, where, "id") and provider.get("label")
    return text_in(provider, where, "label" if label else "id")


def _question(result: dict[str, Any], where: str) -> Question:
    """Read the variables; the prompt is the question where none of them is."""
    variables = value_in(result, where, "vars")
    if not isinstance(variables, dict):
        raise fault(where, "an object in vars", repr(variables))
    prompt = text_in(result, where, "prompt", "raw")
    key = digest([plain(variables), prompt]).hex()
    named = any(isinstance(variables.get(name), str) and variables[name].strip() for name in TEXT_NAMES)
    read = question_from(variables if named else {**variables, "question": prompt}, where)
    return replace(read, id=key, references=read.references or _expected(result), metadata=plain(variables))


def _expected(result: dict[str, Any]) -> tuple[str, ...]:
    """Give the texts that assertions say the answer equals."""
    test = result.get("testCase")
    assertions = test.get("assert") if isinstance(test, dict) else None
    listed = assertions if isinstance(assertions, list) else []
    equal = [one for one in listed if isinstance(one, dict) and one.get("type") == "equals"]
    return tuple(one["value"] for one in equal if isinstance(one.get("value"), str))


def _drawn(source: SampleFile, result: dict[str, Any], place: str) -> tuple[FileResponse, ...]:
    """Read the response, none if there was an error."""
    response = result.get("response")
    if not isinstance(response, dict) or response.get("error") or result.get("failureReason") == ERROR:
        source.findings.failed["error"] += 1
        return ()
    text = response_text(response.get("output"))
    if response.get("cached"):
        source.findings.note(CACHED)
    status: FileStatus = "refusal" if response.get("isRefusal") is True else ended(STOPS, response.get("finishReason"))
    checked = result.get("gradingResult")
    scored = isinstance(checked, dict) and bool(checked.get("componentResults"))
    scores = (("success", "correct" if result.get("success") is True else "incorrect"),) if scored else ()
    return (FileResponse(text, place, status=status, scores=scores),)


def _named(sample: FileQuestion, test: int) -> FileQuestion:
    """Give a question the id among its variables, or else the number of its first test."""
    name = sample.question.metadata.get("id")
    known = isinstance(name, str | int) and not isinstance(name, bool) and str(name).strip()
    return replace(sample, question=replace(sample.question, id=str(name).strip() if known else str(test)))
