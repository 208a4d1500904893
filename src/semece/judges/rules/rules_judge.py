"""The judge without a model: rules that a reader would accept as general knowledge of English."""

from __future__ import annotations

from typing import TYPE_CHECKING

from semece.judges.answer_keys import answer_key, check_answers, check_references, kept_key
from semece.judges.rules.asked_values import read_answer
from semece.judges.rules.grading import answers as meets
from semece.judges.rules.grouping import group
from semece.judges.rules.readings import affirming, read

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
    id = "rules-1"

    def partition(self, question: Question, answers: Sequence[str], /) -> list[int]:
        """Group strings by meaning.

        Parameters
        ----------
        question : Question
            Its text says what informs and what is asked for.
        answers : sequence of str
            Distinct strings, none of them empty.

        Returns
        -------
        list of int
            One label per string, numbered from 0 by first appearance; the same groups in whatever order they come.

        Raises
        ------
        ValueError
            If a string is empty.
        """
        check_answers(answers)
        return group(question.text, answers)

    def grade(self, question: Question, answer: str, /) -> Verdict:
        """Grade one answer against the references.

        Parameters
        ----------
        question : Question
            With at least one reference; empty ones meet nothing.
        answer : str
            The answer.

        Returns
        -------
        str
            'correct' if it says what a reference says, 'not_attempted' for a non-answer, else 'incorrect'.

        Raises
        ------
        ValueError
            If there are no references.
        """
        check_references(question)
        key = answer_key(answer)
        if key and any(answer_key(reference) == key for reference in question.references):
            return "correct"
        if kept_key(answer) is None:
            return "not_attempted"
        readings = [read_answer(reference, question.text) for reference in question.references]
        references = [reading for reading in readings if reading.items]
        met = meets(affirming(read_answer(answer, question.text)), references, read(question.text))
        return "correct" if met else "incorrect"
