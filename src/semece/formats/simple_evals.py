"""Results of simple-evals: ``<eval>_<model>_<date>_allresults.json``.

Schema: openai/simple-evals at ee3b031, ``simple_evals.py`` (the file), ``types.py`` and ``common.py`` (the report on
each sample). ``convos`` holds the conversations, the response last; ``htmls`` the reports, whose fixed last lines say
the reference and the score. Conversations with the same last message of the user are the responses to one question.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from semece.datasets import content_text
from semece.formats.file_responses import FileQuestion, FileResponse, Gathering
from semece.formats.sources import fault, list_in, value_in
from semece.records import Question

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semece.formats.json_stream import Json
    from semece.formats.sources import Opening, SampleFile, Wanted

_REPORT = re.compile(
    r"<p>Correct Answer: (?P<reference>[^<]*)</p>\s*<p>Extracted Answer: [^<]*</p>\s*"
    r"<p>Score: (?P<score>[^<]*)</p>\s*\Z"
)
"""How a report ends; what comes from a model or a dataset is escaped and has no ``<``."""
SCORES = dict.fromkeys(("True", "1", "1.0"), "correct") | dict.fromkeys(("False", "0", "0.0"), "incorrect")
BAD_REQUEST = "No response (bad request)."
"""What is written in place of a response that was never given."""
_NAME = re.compile(r"(?P<task>[^_]+)_(?P<model>.+)_\d{8}_\d{6}(?:_DEBUG)?_allresults", re.DOTALL)


def detect(opening: Opening) -> bool:
    """Whether a file begins like all the results of an evaluation."""
    return opening.has("score", "metrics", "htmls")


def read(sources: Sequence[SampleFile], wanted: Wanted) -> list[FileQuestion]:
    """Read results of one evaluation and model; questions are numbered from 0.

    Raises
    ------
    ParseError
        Naming file, place, what was expected and what came.
    """
    gathering = Gathering()
    names: dict[str, str] = {}
    for source in sources:
        where = str(source.path)
        if called := _NAME.fullmatch(source.path.stem):
            source.findings.add_dataset(called["task"], where)
            if wanted.leaves_out(source.findings.add_model(called["model"], where)):
                continue
        result = source.document()
        convos, htmls = list_in(result, where, "convos"), list_in(result, where, "htmls")
        if len(convos) != len(htmls):
            raise fault(where, "as many convos as htmls", f"{len(convos)} and {len(htmls)}")
        for i in range(len(convos)):
            gathering.take(source.findings, _sample, source, convos[i], htmls[i], f"convos[{i}]", names)
    return gathering.samples()


def _sample(source: SampleFile, convo: Json, report: Json, place: str, names: dict[str, str]) -> FileQuestion:
    where = source.where(place)
    messages = list_in(convo, where)
    roles = [value_in(message, where, "role") for message in messages]
    users = [i for i, role in enumerate(roles) if role == "user"]
    if not users or roles[-1] != "assistant":
        raise fault(where, "a message of the user and a last one of the assistant", "other roles")
    text = content_text(value_in(messages[users[-1]], where, "content"))
    if not text.strip():
        raise fault(where, "text in the last message of the user", "none")
    reference, score = _ending(report)
    question = Question(names.setdefault(text, str(len(names))), text, reference)
    response = content_text(value_in(messages[-1], where, "content"))
    drawn = FileResponse(response, place, scores=(("score", score),) if score else ())
    failed = response == BAD_REQUEST
    source.findings.failed["bad request"] += failed
    return FileQuestion(question, () if failed else (drawn,), file=str(source.path), place=place, whole=True)


def _ending(report: object) -> tuple[tuple[str, ...], str]:
    """Read reference and score of a report; nothing where it does not end as expected."""
    found = _REPORT.search(report) if isinstance(report, str) else None
    if found is None:
        return (), ""
    reference, said = html.unescape(found["reference"]).strip(), found["score"].strip()
    return (reference,) if reference else (), SCORES.get(said, f"no verdict: {said}"[:80])
