"""The strictest judge: two answers are the same if their keys are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from semece.judges.answer_keys import answer_key, check_answers, check_references, kept_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semece.records import Question, Verdict


class ExactJudge:
    """Equality of keys (:func:`semece.judges.answer_keys.answer_key`); a :class:`semece.judges.RuleJudge`.

    Examples
    --------
    >>> from semece.records import Question
    >>> judge = ExactJudge()
    >>> judge.partition(Question("1", "?"), ["Paris", "the Paris", "Rome"])
    [0, 0, 1]
    >>> judge.grade(Question("1", "?", ("Paris",)), "paris!")
    'correct'
    """

    name = "exact"
    id = "exact-2"

    def partition(self, question: Question, answers: Sequence[str], /) -> list[int]:
        """Group non-empty strings by their key; labels by first appearance."""
        del question
        check_answers(answers)
        labels: dict[str, int] = {}
        return [labels.setdefault(answer_key(answer), len(labels)) for answer in answers]

    def grade(self, question: Question, answer: str, /) -> Verdict:
        """Correct if its key is that of a reference; a non-answer is not attempted."""
        check_references(question)
        key = answer_key(answer)
        if key and any(answer_key(reference) == key for reference in question.references):
            return "correct"
        return "not_attempted" if kept_key(answer) is None else "incorrect"
