"""The questions of a run as the page carries them: columns to search and sort by, and what an opened row shows.

Both are JSON, deflated and written in letters, so that a page of many thousand questions stays small; the page's script
unpacks what is looked at.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from semece.errors import on_one_line, plural
from semece.runs import number_text
from semece.show.tables import REASONS
from semece.show.tables.thresholds import NOTHING, metadata_of, text_of_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from semece import Response
    from semece.runs import QuestionView

LONGEST = 300
"""Characters of a question, an answer or a reply that are shown."""

PAGE = 100
"""Questions that are packed together, and that stand on one page of the list."""

short = partial(on_one_line, most=LONGEST)
"""Shorten a text."""


class Detail(NamedTuple):
    """How much of each question an opened row shows.

    Parameters
    ----------
    answers, longest : int
        Most distinct answers, and most characters of one.
    replies, reply : int
        Most replies of an answer, and most characters of one.
    """

    answers: int = 1000
    longest: int = LONGEST
    replies: int = 50
    reply: int = LONGEST


DETAILS: tuple[Detail, ...] = (
    Detail(),
    Detail(replies=1),
    Detail(replies=1, reply=120),
    Detail(replies=0),
    Detail(12, 150, 0),
    Detail(4, 60, 0),
)
"""From much to little: a run takes the first that keeps its questions small enough."""

VERDICT_WORDS: dict[str | None, str] = {
    "correct": "correct",
    "incorrect": "wrong",
    "not_attempted": "not attempted",
    None: "not graded",
}

STATUS_WORDS: dict[str, str] = {
    "parsed": "with an answer line",
    "concluded": "read from a closing sentence, box or mark",
    "fallback": "read without an answer line: the whole reply",
    "non_answer": "no answer given",
    "empty": "without any text",
    "content_filter": "stopped by a content filter",
    "truncated": "cut off",
    "refusal": "refused by the provider",
    "missing": "missing",
}
"""How a response was read, in words."""

_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


_ESCAPE = re.compile(r"\\(u00..|.)")
"""An escape of JSON: ``u``, ``b`` and ``f`` stand for control characters, all other ones for what a page can hold."""


def printable(text: str) -> str:
    """Put U+FFFD in the place of what a page cannot hold."""
    return _UNPRINTABLE.sub("\ufffd", text)


@dataclass(frozen=True, slots=True)
class PackedQuestions:
    """The questions of a run, as the page carries them.

    Parameters
    ----------
    index : str
        Columns of all questions (:func:`index_of`), packed.
    blocks : tuple of str
        What opened rows show (:func:`inside_of`) of :data:`PAGE` questions each, packed.
    count : int
        How many questions there are.
    """

    index: str
    blocks: tuple[str, ...]
    count: int


def pack(value: object) -> str:
    """Write a value as JSON, deflated, in base64.

    Examples
    --------
    >>> unpack(pack(["a", chr(0), chr(92) + "u0000"])) == ["a", chr(0xFFFD), chr(92) + "u0000"]
    True
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    text = printable(_ESCAPE.sub(lambda found: "\ufffd" if found[1][0] in "ubf" else found[0], text))
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def unpack(text: str) -> Any:  # noqa: ANN401 - what was packed
    """Read what :func:`pack` wrote."""
    return json.loads(zlib.decompress(base64.b64decode(text)))


def pack_questions(views: Sequence[QuestionView], *, room: int) -> PackedQuestions:
    """Pack questions with as much detail as fits.

    Parameters
    ----------
    views : sequence of QuestionView
        Such as ``Run.question_views()`` gives.
    room : int
        Bytes that they should take; the least detail is taken even if it takes more.

    Returns
    -------
    PackedQuestions
    """
    index = pack(index_of(views))
    detail = detail_for(views, room - len(index))
    blocks = tuple(
        pack([inside_of(view, detail) for view in views[start : start + PAGE]]) for start in range(0, len(views), PAGE)
    )
    return PackedQuestions(index, blocks, len(views))


def detail_for(views: Sequence[QuestionView], room: float) -> Detail:
    """Choose how much is shown, by the size of one block of questions from all over the run."""
    some = views[:: max(1, len(views) // PAGE)][:PAGE]
    for detail in DETAILS[:-1]:
        if len(pack([inside_of(view, detail) for view in some])) * len(views) <= room * len(some):
            return detail
    return DETAILS[-1]


def index_of(views: Sequence[QuestionView]) -> dict[str, Any]:
    """Give the columns that the list shows, searches and sorts by.

    Returns
    -------
    dict
        Lists with an entry per question: ``id``, ``text``, ``references``, ``answer``, ``outcome``; ``sem1``,
        ``sem2``, ``verbalized``, ``margin``, ``correct``: numbers to sort by, and ``texts`` the same as they are shown;
        ``alarms``, how many; ``excluded``, 1 or 0. ``slices``: of each column of metadata its values, and the place
        of each question's value among them.
    """
    estimates = [view.estimate for view in views]
    numbers = {name: [getattr(each, name) for each in estimates] for name in NUMBERS}
    return {
        "id": [view.question.id for view in views],
        "text": [short(view.question.text) for view in views],
        "references": [short(" · ".join(view.question.references)) for view in views],
        "answer": [answer_of(view) for view in views],
        "outcome": [outcome_of(view) for view in views],
        **{name: [None if x is None else round(x, 6) for x in column] for name, column in numbers.items()},
        "texts": {name: [number_text(x) for x in numbers[name]] for name in NUMBERS[:-1]},
        "alarms": [len(view.alarms) for view in views],
        "excluded": [int(each.status != "complete") for each in estimates],
        "slices": {name: _places(values) for name, values in metadata_columns(views).items()},
    }


NUMBERS = ("sem1", "sem2", "verbalized", "margin", "correct")
"""Numbers of a question that the list needs."""


def answer_of(view: QuestionView) -> str:
    """Give the answer that a user would see, shortened: the most frequent one, of a tie the earliest."""
    if view.partition is None:
        return ""
    sizes = Counter(view.partition.labels)
    return short(view.partition.representatives[max(sorted(sizes), key=sizes.__getitem__)]) or "(no answer)"


def outcome_of(view: QuestionView) -> str:
    """Say whether that answer is right, wrong or tied with others, or why the question does not enter."""
    estimate = view.estimate
    if estimate.status != "complete":
        return REASONS.get(estimate.status, estimate.status)
    if estimate.correct is None:
        return "not graded"
    return {1.0: "right", 0.0: "wrong"}.get(estimate.correct, "tied")


MOST_SLICES = 20
"""A column of metadata with more values than that, or than half of the questions, is no slice."""


def metadata_columns(views: Sequence[QuestionView]) -> dict[str, list[str]]:
    """Give the columns of metadata that questions can be sliced by: a few values, each of some questions."""
    every = [metadata_of(view.question.metadata) for view in views]
    names = list(dict.fromkeys(name for each in every for name in each))
    columns = {name: [text_of_value(each.get(name)) or NOTHING for each in every] for name in names}
    most = min(MOST_SLICES, len(views) // 2)
    return {name: values for name, values in columns.items() if 2 <= len({*values}) <= most}


def _places(values: Sequence[str]) -> dict[str, Any]:
    names = sorted({*values})
    place = {name: i for i, name in enumerate(names)}
    return {"values": names, "of": [place[value] for value in values]}


def inside_of(view: QuestionView, detail: Detail) -> dict[str, Any]:
    """Give what an opened row shows of a question.

    Returns
    -------
    dict
        ``classes``, largest first, of a tie the earliest: lists of the form, the count, the share of the usable
        responses, the grade in words, the distinct answers (:func:`_answer`), and how many more there are;
        ``said``: how many answers in how many classes, and what could not be used; ``metadata``: pairs of texts;
        ``alarms``.
    """
    unusable: Counter[str] = Counter(response.status for response in view.responses if not response.usable)
    estimate = view.estimate
    facts = [
        f"{plural(estimate.n_responses, 'usable answer')} in {plural(estimate.n_classes, 'class')}",
        status_list(unusable),
    ]
    metadata = metadata_of(view.question.metadata)
    return {
        "classes": list(_classes(view, detail)),
        "said": [fact for fact in facts if fact],
        "metadata": [[name, short(text_of_value(value) or "")] for name, value in metadata.items()],
        "alarms": [short(alarm.text) for alarm in view.alarms],
    }


def _classes(view: QuestionView, detail: Detail) -> Iterator[list[Any]]:
    if view.partition is None:
        return
    members: dict[int, list[Response]] = {}
    usable = [response for response in view.responses if response.usable]
    for label, response in zip(view.partition.labels, usable, strict=True):
        members.setdefault(label, []).append(response)
    left = detail.answers
    for label in sorted(members, key=lambda label: (-len(members[label]), label)):
        answers = Counter(response.answer for response in members[label]).most_common()
        form, count = view.partition.representatives[label], len(members[label])
        told = [_answer(text, members[label], detail) for text, _ in answers[:left]]
        verdict = VERDICT_WORDS[view.grades.get(label)]
        yield [
            on_one_line(form, detail.longest),
            count,
            round(count / len(usable), 4),
            verdict,
            told,
            len(answers) - len(told),
        ]
        left -= len(told)


def _answer(text: str, members: Sequence[Response], detail: Detail) -> list[Any]:
    """Give one distinct answer: its text, its count, the stated confidences, some replies, and how many more."""
    same = [response for response in members if response.answer == text]
    stated = Counter(number_text(r.confidence) for r in same if r.confidence is not None)
    told = ", ".join(value if count == 1 else f"{count}\xa0×\xa0{value}" for value, count in sorted(stated.items()))
    replies = list(dict.fromkeys(r.text for r in same if " ".join(r.text.split()) != " ".join(text.split())))
    shown = [on_one_line(reply, detail.reply) for reply in replies[: detail.replies]]
    return [on_one_line(text, detail.longest), len(same), told, shown, len(replies) - len(shown)]


def status_list(counts: Mapping[str, int], *, of: Iterable[str] = STATUS_WORDS) -> str:
    """List counted statuses in words.

    Examples
    --------
    >>> status_list({"truncated": 2, "parsed": 0, "refusal": 1})
    '2 cut off, 1 refused by the provider'
    """
    return ", ".join(f"{counts[status]:,} {STATUS_WORDS[status]}" for status in of if counts.get(status))
