"""The judge without a model: rules that a reader would accept as general knowledge of English."""

from __future__ import annotations

from typing import TYPE_CHECKING

from semece.judges.grading import answers as meets
from semece.judges.grouping import group
from semece.judges.reading import read
from semece.judges.text import is_non_answer, normalise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semece.records import Question, Verdict


class RulesJudge:
    """Rules without a model; a :class:`semece.judges.RuleJudge`.

    Examples
    --------
    >>> from semece.records import Question
    >>> judge = RulesJudge()
    >>> judge.grade(Question("1", "?", ("5",)), "five")
    'correct'
    """

    name = "rules"
    id = "rules-1"

    def partition(self, question: Question, answers: Sequence[str], /) -> list[int]:
        """Group distinct non-empty strings by meaning; labels by first appearance, whatever the order."""
        return group(question.text, answers)

    def grade(self, question: Question, answer: str, /) -> Verdict:
        """Correct if a reference agrees with the answer; a non-answer is not attempted."""
        key = normalise(answer)
        if any(normalise(reference) == key for reference in question.references):
            return "correct"
        if is_non_answer(answer):
            return "not_attempted"
        references = [reading for reference in question.references if (reading := read(reference)).items]
        return "correct" if meets(read(answer), references, read(question.text)) else "incorrect"
