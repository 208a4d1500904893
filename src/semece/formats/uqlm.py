"""Results of uqlm as JSON: ``json.dump(results.to_dict(), file)``, or ``{"data": results.data, "metadata": ...}``.

Schema: uqlm 0.6.1, ``utils/results.py`` (UQResult) and ``scorers/shortform/black_box.py``. ``data`` holds columns:
``prompts``, ``responses`` (one per prompt) and ``sampled_responses`` (a list per prompt). The original response joins
the sampled ones if the metadata say that it was drawn at the same temperature. ``to_dict`` leaves the prompts out; the
questions must then come from elsewhere. Every other column of numbers, one per prompt, is a score: confidences in
[0, 1], and beside them entropies and numbers of sets, of which less is surer.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from semece.formats.file_responses import FileQuestion, FileResponse, numbered
from semece.formats.sources import fault, list_in, text_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from semece.formats.sources import Opening, SampleFile, Wanted


def detect(opening: Opening) -> bool:
    """Whether a file begins like a result: columns of responses, alone or under ``data``."""
    return opening.has("responses", "sampled_responses") or opening.has("data", "data.responses")


LEFT_OUT = "the original responses are left out: nothing says that they were drawn at the sampling temperature"


def read(sources: Sequence[SampleFile], wanted: Wanted) -> Iterator[FileQuestion]:
    """Read one result; questions are named by their places, from 0.

    Raises
    ------
    ParseError
        Naming file, column, what was expected and what came.
    """
    if len(sources) > 1:
        raise fault(sources[1].path, "one result of uqlm at a time", "a second one")
    (source,) = sources
    where = str(source.path)
    result = source.document()
    data = result.get("data", result) if isinstance(result, dict) else result
    originals, sampled = list_in(data, where, "responses"), data.get("sampled_responses")
    if not isinstance(sampled, list) or not any(isinstance(each, list) for each in sampled):
        several = "sampled_responses: a result of a scorer that draws several answers to each prompt"
        raise fault(where, several, "one answer to each, as WhiteBoxUQ and LLMPanel give")
    prompts = data.get("prompts")
    texts = list_in(data, where, "prompts") if prompts is not None else _known(wanted, len(originals), where)
    for name, column in (("sampled_responses", sampled), ("prompts", texts)):
        if len(column) != len(originals):
            raise fault(where, f"{len(originals)} {name}, one per response", len(column))
    joins = _same_temperature(result.get("metadata"))
    if not joins:
        source.findings.note(LEFT_OUT)
    scores = {name: column for name, column in data.items() if _is_score(column, len(originals))}
    for name in scores:
        source.findings.kinds.setdefault(name, "lower" if name.endswith(LESS_IS_SURER) else "0..1")
    for i in range(len(originals)):
        for sample in source.findings.tried(_sample, source, i, texts, sampled, originals if joins else []):
            yield replace(
                sample, numbers={k: float(column[i]) for k, column in scores.items() if _is_number(column[i])}
            )


LESS_IS_SURER = ("entropy_values", "num_semantic_sets")
"""How names of scores end of which less is surer."""


def _is_score(column: object, n: int) -> bool:
    """Whether a column holds numbers, one per prompt; NaN and null are none."""
    if not isinstance(column, list) or len(column) != n:
        return False
    return all(each is None or isinstance(each, int | float) for each in column) and any(map(_is_number, column))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _sample(source: SampleFile, i: int, texts: list[Any], sampled: list[Any], originals: list[Any]) -> FileQuestion:
    place = f"question {i}"
    where = source.where(place)
    text = text_in(texts, where, i)
    responses = [*originals[i : i + 1], *list_in(sampled, where, i)]
    texts_or_none = ["" if text is None else text_in(responses, where, k) for k, text in enumerate(responses)]
    drawn = [FileResponse(each, place) for each in texts_or_none]
    return FileQuestion(numbered(i, text), tuple(drawn), file=str(source.path), place=place, whole=True)


def _known(wanted: Wanted, count: int, where: str) -> list[str]:
    """Take the texts from elsewhere, by place."""
    try:
        return [wanted.questions[str(i)].text for i in range(count)]
    except KeyError as error:
        elsewhere = f"or name a file of the questions, in their order, with --questions (it has no question {error})"
        raise fault(where, f"prompts, which to_dict() leaves out; save results.data, {elsewhere}") from None


def _same_temperature(metadata: object) -> bool:
    """Whether the original response was drawn as the sampled ones were."""
    about = metadata if isinstance(metadata, dict) else {}
    about = about.get("parameters", about)
    if not isinstance(about, dict):
        return False
    temperature = about.get("temperature")
    return temperature is not None and temperature == about.get("sampling_temperature")
