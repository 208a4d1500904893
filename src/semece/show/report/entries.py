"""What the page says of one question: its classes, their sizes and grades, and what deserves a look."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import TYPE_CHECKING

from semece.errors import on_one_line
from semece.show.tables import REASONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from semece.runs import QuestionView

LONGEST = 300
"""Characters of a question or an answer that are shown."""


short = partial(on_one_line, most=LONGEST)
"""Shorten a question or an answer."""


@dataclass(frozen=True, slots=True)
class Detail:
    """How much of each question is shown.

    Parameters
    ----------
    classes : int
        Most classes.
    forms : int
        Most spellings of a class.
    longest : int
        Most characters of a spelling.
    """

    classes: int = 50
    forms: int = 3
    longest: int = LONGEST


DETAILS: tuple[Detail, ...] = (Detail(), Detail(12, 3, 150), Detail(8, 2, 80), Detail(4, 1, 60))
"""From much to little: a page takes the first that keeps it small enough."""

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


@dataclass(frozen=True, slots=True)
class ClassEntry:
    """One class of answers.

    Parameters
    ----------
    form : str
        Its most frequent spelling, shortened; ``''`` for non-answers.
    count, share : int, float
        How many usable responses, and which part of them, in (0, 1].
    verdict : str
        In words.
    forms : tuple of (str, int)
        Its most frequent other spellings, shortened, with counts.
    more : int
        How many spellings are not shown.
    """

    form: str
    count: int
    share: float
    verdict: str
    forms: tuple[tuple[str, int], ...]
    more: int


@dataclass(frozen=True, slots=True)
class QuestionEntry:
    """One row of the list of questions.

    Parameters
    ----------
    view : QuestionView
        The question with its numbers.
    outcome : str
        ``right``, ``wrong``, ``tied`` or ``not graded``, for the deployed answer; else why it enters no metric.
    classes : tuple of ClassEntry
        Largest first; tie: earliest.
    hidden : tuple of int
        How many classes are not shown, and how many responses they hold.
    unusable : str
        The responses outside the classes, by reason; ``''`` if there are none.
    alarms : tuple of str
        One sentence each.
    """

    view: QuestionView
    outcome: str
    classes: tuple[ClassEntry, ...]
    hidden: tuple[int, int]
    unusable: str
    alarms: tuple[str, ...]

    @property
    def gap(self) -> float | None:
        """Sem1 - correctness; None if one of them is missing."""
        e = self.view.estimate
        return None if e.sem1 is None or e.correct is None else e.sem1 - e.correct

    @property
    def difficulty(self) -> float | None:
        """Sem1 - Sem2; None if one of them is missing."""
        e = self.view.estimate
        return None if e.sem1 is None or e.sem2 is None else e.sem1 - e.sem2

    @property
    def references(self) -> str:
        """The references on one line, shortened."""
        return short(" · ".join(self.view.question.references))

    @property
    def size(self) -> int:
        """About how many bytes it takes on the page."""
        texts = [short(self.view.question.text), self.references, *self.alarms]
        for entry in self.classes:
            texts += [entry.form, *(form for form, _ in entry.forms)]
        markup = 1000 + 120 * len(self.classes) + 25 * sum(len(entry.forms) for entry in self.classes)
        return markup + sum(len(escape(text).encode("utf-8", "replace")) for text in texts)


def make_entries(views: Sequence[QuestionView], *, largest: int) -> list[QuestionEntry]:
    """Prepare questions for the page, with as much detail as fits.

    Parameters
    ----------
    views : sequence of QuestionView
        Such as ``Run.question_views()`` gives.
    largest : int
        Bytes that they should take together; the least detail is taken even if it takes more.

    Returns
    -------
    list of QuestionEntry
    """
    entries: list[QuestionEntry] = []
    for detail in DETAILS:
        entries = [make_entry(view, detail=detail) for view in views]
        if sum(entry.size for entry in entries) <= largest:
            break
    return entries


def make_entry(view: QuestionView, *, detail: Detail = DETAILS[0]) -> QuestionEntry:
    """Prepare one question for the page.

    Parameters
    ----------
    view : QuestionView
        Such as ``Run.question_views()`` gives.
    detail : Detail
        How much of it to show.

    Returns
    -------
    QuestionEntry
    """
    classes = _classes(view, detail)
    hidden = classes[detail.classes :]
    unusable: Counter[str] = Counter(response.status for response in view.responses if not response.usable)
    return QuestionEntry(
        view=view,
        outcome=_outcome(view),
        classes=tuple(classes[: detail.classes]),
        hidden=(len(hidden), sum(entry.count for entry in hidden)),
        unusable=status_list(unusable),
        alarms=tuple(alarm.text for alarm in view.alarms),
    )


def _outcome(view: QuestionView) -> str:
    """Say whether the deployed answer is right, or why the question does not enter."""
    estimate = view.estimate
    if estimate.status != "complete":
        return REASONS.get(estimate.status, estimate.status)
    if estimate.correct is None:
        return "not graded"
    return {1.0: "right", 0.0: "wrong"}.get(estimate.correct, "tied")


def _classes(view: QuestionView, detail: Detail) -> list[ClassEntry]:
    """List the classes of a question, largest first."""
    if view.partition is None:
        return []
    usable = [response for response in view.responses if response.usable]
    forms: dict[int, Counter[str]] = {}
    for label, response in zip(view.partition.labels, usable, strict=True):
        forms.setdefault(label, Counter())[response.answer] += 1
    entries = [
        _class_entry(view.partition.representatives[label], counter, len(usable), view.grades.get(label), detail)
        for label, counter in sorted(forms.items())
    ]
    return sorted(entries, key=lambda entry: -entry.count)


def _class_entry(form: str, forms: Counter[str], total: int, verdict: str | None, detail: Detail) -> ClassEntry:
    """Describe one class."""
    others = [(other, count) for other, count in forms.most_common(detail.forms) if other != form]
    return ClassEntry(
        form=on_one_line(form, detail.longest),
        count=forms.total(),
        share=forms.total() / total,
        verdict=VERDICT_WORDS[verdict],
        forms=tuple((on_one_line(other, detail.longest), count) for other, count in others),
        more=len(forms) - len(others) - (form in forms),
    )


def status_list(counts: Mapping[str, int], *, of: Iterable[str] = STATUS_WORDS) -> str:
    """List counted statuses in words.

    Examples
    --------
    >>> status_list({"truncated": 2, "parsed": 0, "refusal": 1})
    '2 cut off, 1 refused by the provider'
    """
    return ", ".join(f"{counts[status]:,} {STATUS_WORDS[status]}" for status in of if counts.get(status))
