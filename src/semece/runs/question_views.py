"""Everything about one question of a run: its responses, classes, grades, and the numbers that follow."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from semece.judges import classes_to_grade
from semece.records import Estimate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from semece.records import Alarm, Partition, Question, Response, Verdict


@dataclass(frozen=True, slots=True)
class QuestionView:
    """Everything about one question of a run.

    Parameters
    ----------
    question : Question
        The question.
    responses : tuple of Response
        Those delivered, by index.
    partition : Partition or None
        None if there is nothing to group or the judge gave none.
    grades : dict of int to str
        Verdict per label.
    estimate : Estimate
        The numbers.
    alarms : tuple of Alarm
        What deserves a look.
    missing : int
        Responses still missing.
    lacking : int
        Replies of a judge's model that another invocation may still get; unknown, and 0, while responses are missing.
    """

    question: Question
    responses: tuple[Response, ...]
    partition: Partition | None
    grades: dict[int, Verdict]
    estimate: Estimate
    alarms: tuple[Alarm, ...] = ()
    missing: int = 0
    lacking: int = 0


def with_estimates(views: Sequence[QuestionView], settings: dict[str, Any]) -> Iterator[QuestionView]:
    """Add the numbers.

    Parameters
    ----------
    views : sequence of QuestionView
        Without them.
    settings : dict
        The run's view: ``n``, ``min_responses``, ``not_attempted``, perhaps ``sizes``.

    Yields
    ------
    QuestionView
        With the core's numbers if the question has classes, and the reason why it enters no metric if it does not.
    """
    from semece.stats.estimators import estimate

    parts = [v for v in views if v.partition is not None]
    labels = [v.partition.labels for v in parts if v.partition is not None]
    correct = [[_value(v.grades.get(k)) for k in range(len(set(v.partition.labels)))] for v in parts if v.partition]
    stated = [[r.confidence for r in v.responses if r.usable] for v in parts]
    numbers = iter(estimate(labels, correct, stated).iter_rows(named=True)) if parts else iter(())
    for v in views:
        if v.partition is None:
            usable = sum(r.usable for r in v.responses)
            yield replace(v, estimate=Estimate(v.question.id, _reason(v, "unpartitioned", usable, settings), usable, 0))
        else:
            row = {**next(numbers), "question_id": v.question.id}
            row["status"] = _reason(v, row["status"], row["n_responses"], settings)
            yield replace(v, estimate=Estimate(**row))


def _value(verdict: Verdict | None) -> float | None:
    return None if verdict is None else float(verdict == "correct")


def _reason(view: QuestionView, status: str, usable: int, settings: dict[str, Any]) -> str:
    """Say why a question enters no metric, or ``complete``."""
    least = settings["min_responses"] or max(2, -(-settings["n"] // 2))
    if view.missing:
        return "incomplete"
    if usable < min(least, settings.get("sizes", {}).get(view.question.id, least)) or usable < 2:
        return "too_few"
    if status == "complete" and settings["not_attempted"] == "exclude" and _deployed_nothing(view):
        return "not_attempted"
    return status


def _deployed_nothing(view: QuestionView) -> bool:
    """Whether a most frequent class was not attempted."""
    if view.partition is None:
        return False
    return any(view.grades.get(k) == "not_attempted" for k in classes_to_grade(view.partition, "mode"))


def copies_alarm(views: Sequence[QuestionView], repeated_ids: int) -> str | None:
    """Notice a cache that serves one answer many times.

    Two signs: request ids of the provider come twice; or the texts of every question, at least five of at least five
    questions, are identical to the letter although they were drawn at random.

    Parameters
    ----------
    views : sequence of QuestionView
        The questions.
    repeated_ids : int
        Calls that came back under the id of an earlier call.

    Returns
    -------
    str or None
        One sentence.
    """
    if repeated_ids:
        return f"{repeated_ids:,} calls came back under the request id of an earlier call: a cache may serve copies"
    texts = [[r.text for r in view.responses] for view in views]
    full = [each for each in texts if len(each) >= 5]
    if len(full) >= 5 and all(len(set(each)) == 1 and each[0].strip() for each in full):
        said = f"all texts of each of {len(full):,} questions are identical"
        return f"{said}: a cache may serve copies, or the model is that sure"
    return None
