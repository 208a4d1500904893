"""The judge without a model: rules that a reader would accept as general knowledge of English."""

from __future__ import annotations

from typing import TYPE_CHECKING

from semece.judges.answer_keys import answer_key, check_answers, check_references, kept_key
from semece.judges.rules.asked_values import read_answer
from semece.judges.rules.english.commitment import committed
from semece.judges.rules.formulas import minuses, told_apart
from semece.judges.rules.grading import answers as meets
from semece.judges.rules.grouping import group
from semece.judges.rules.seen import affirming, read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semece.records import Question, Verdict


class RulesJudge:
    """Rules without a model; a :class:`semece.judges.RuleJudge`.

    What the rules are, with examples, and how often they are wrong: ``docs/judges.md``.

    Examples
    --------
    >>> from semece.records import Question
    >>> question = Question("1", "What is the capital of France?", ("Paris",))
    >>> judge = RulesJudge()
    >>> judge.partition(question, ["Paris", "It is Paris.", "Lyon", "Paris, France"])
    [0, 0, 1, 0]
    >>> judge.grade(question, "the city of Paris"), judge.grade(question, "Paris or Lyon")
    ('correct', 'incorrect')
    """

    name = "rules"
    id = "rules-2"

    def partition(self, question: Question, answers: Sequence[str], /) -> list[int]:
        """Group strings by meaning, the same way in whatever order they come.

        The question's text says what informs and what is asked for; the strings are distinct and not empty. Labels are
        numbered from 0 by first appearance.
        """
        check_answers(answers)
        return group(question.text, answers)

    def grade(self, question: Question, answer: str, /) -> Verdict:
        """Grade one answer: 'correct' if it says what a reference says, 'not_attempted' if it answers nothing.

        Raises
        ------
        ValueError
            If there are no references; empty ones meet nothing.
        """
        check_references(question)
        key = answer_key(answer)
        compared = [reference for reference in question.references if not told_apart(answer, reference)]
        led = len(minuses(answer))
        if key and any(answer_key(text) == key and len(minuses(text)) == led for text in compared):
            return "correct"
        if kept_key(answer) is None:
            return "not_attempted"
        readings = [read_answer(reference, question.text) for reference in compared]
        references = [reading for reading in readings if reading.items]
        asked = read(question.text)
        given = affirming(read_answer(committed(answer, question.text), question.text), asked)
        return "correct" if meets(given, references, asked) else "incorrect"
