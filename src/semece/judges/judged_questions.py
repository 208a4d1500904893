"""One question before its judges: classes, grades, and why there are none; and the judges that see strings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from semece.errors import ParseError
from semece.judges.forms import assemble, distinct
from semece.judges.judge_protocol import Missing, Undelivered
from semece.records import Grade

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from semece.judges.judge_protocol import Judge, Procedure, Query, RuleJudge
    from semece.records import Partition, Question, Verdict

T = TypeVar("T")
Fault = ParseError | Missing


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """What two judges say of one question.

    Parameters
    ----------
    classes : Partition or None
        None if the judge gave none, or nothing is usable.
    grades : tuple of Grade
        By label; a class without a valid verdict has none.
    faults : dict of int to ParseError or Missing
        Why there is no verdict, by label; under -1 why there are no classes.
    lacking : int
        How many of these a model may still give.
    """

    classes: Partition | None = None
    grades: tuple[Grade, ...] = ()
    faults: Mapping[int, Fault] = field(default_factory=dict)
    lacking: int = 0


def judge_question(
    question: Question, answers: Sequence[str], judges: tuple[Judge, Judge], *, which: str = "all"
) -> Procedure[JudgedQuestion]:
    """Group the answers of a question, and grade the groups.

    Parameters
    ----------
    question : Question
        The question.
    answers : sequence of str
        Its usable answers, in index order; without any there is nothing to judge.
    judges : tuple of Judge
        Who groups, and who grades.
    which : {'all', 'mode'}
        Which classes are graded.

    Returns
    -------
    JudgedQuestion
        With the reasons for what is not there.

    Examples
    --------
    >>> from semece.judges.known import open_judges
    >>> from semece.records import Question
    >>> question = Question("q", "Capital of France?", ("Paris",))
    >>> judged = run_procedure(judge_question(question, ["paris", "Rome", "Paris"], open_judges("exact", "exact")))
    >>> judged.classes.labels, [grade.verdict for grade in judged.grades]
    ((0, 1, 0), ['correct', 'incorrect'])
    """
    if not answers:
        return JudgedQuestion()
    try:
        classes = yield from judges[0].classes(question, answers)
    except (ParseError, Missing) as fault:
        return JudgedQuestion(None, (), {-1: fault}, _lacking(judges[0], [fault]))
    grades, faults = yield from grade_classes(question, classes, judges[1], classes_to_grade(classes, which))
    return JudgedQuestion(classes, grades, faults, _lacking(judges[1], list(faults.values())))


def grade_classes(
    question: Question, classes: Partition, judge: Judge, labels: Sequence[int]
) -> Procedure[tuple[tuple[Grade, ...], dict[int, Fault]]]:
    """Grade some classes of a question, each once; give the grades, and why others have none."""
    grades: list[Grade] = []
    faults: dict[int, Fault] = {}
    for label in labels:
        try:
            verdict = yield from judge.verdict(question, classes, label)
        except (ParseError, Missing) as fault:
            faults[label] = fault
        else:
            grades += [Grade(question.id, label, verdict)] if verdict is not None else []
    return tuple(grades), faults


def _lacking(judge: Judge, faults: Sequence[Fault]) -> int:
    """Count what a model may still give; a reply that was delivered without a text is not asked for again."""
    return sum(not isinstance(fault, Undelivered) for fault in faults) if judge.model is not None else 0


def classes_to_grade(classes: Partition, which: str) -> list[int]:
    """List the labels that need a verdict: all, or only the most frequent ones (``which='mode'``)."""
    if which == "all":
        return list(range(len(classes.representatives)))
    counts = [classes.labels.count(label) for label in range(len(classes.representatives))]
    return [label for label, count in enumerate(counts) if count == max(counts)]


def _nobody(_: Query) -> object:
    raise Missing


def run_procedure(procedure: Procedure[T], find: Callable[[Query], Any] = _nobody) -> T:
    """Run a judge's procedure.

    Parameters
    ----------
    procedure : Procedure
        What a judge does.
    find : callable
        From a query to what its ``read`` made of the reply; raises ParseError or Missing. By default there are no
        replies.

    Returns
    -------
    The procedure's result.

    Raises
    ------
    ParseError, Missing
        Those of `find` that the procedure lets pass.
    """
    try:
        query = next(procedure)
        while True:
            try:
                found = find(query)
            except (ParseError, Missing) as fault:
                query = procedure.throw(fault)
            else:
                query = procedure.send(found)
    except StopIteration as end:
        result: T = end.value
        return result


class StringJudge(ABC):
    """A judge that sees the distinct strings of a question, and grades a class by the string that stands for it.

    A class of non-answers is ``not_attempted`` without a look; a question without references has no verdicts.
    """

    __slots__ = ()

    id: str

    @abstractmethod
    def partition(self, question: Question, answers: Sequence[str], /) -> Procedure[list[int]]:
        """Group distinct strings by meaning; a label per string, numbered from 0 by first appearance."""

    @abstractmethod
    def grade(self, question: Question, answer: str, /) -> Procedure[Verdict]:
        """Grade one string against the question's references, of which there is at least one."""

    def classes(self, question: Question, answers: Sequence[str], /) -> Procedure[Partition]:
        """Group the usable answers of a question."""
        forms = distinct(answers)
        labels = yield from self.partition(question, forms.strings)
        return assemble(question.id, answers, forms, labels, judge=self.id)

    def verdict(self, question: Question, classes: Partition, label: int, /) -> Procedure[Verdict | None]:
        """Grade one class."""
        answer = classes.representatives[label]
        if not answer:
            return "not_attempted"
        if not question.references:
            return None
        return (yield from self.grade(question, answer))


class FreeJudge(StringJudge):
    """A judge that asks nobody, as a :class:`semece.judges.Judge`.

    Parameters
    ----------
    rules : RuleJudge
        Its pure functions.
    """

    __slots__ = ("_rules", "derived_id", "id", "model", "name")

    def __init__(self, rules: RuleJudge) -> None:
        self._rules = rules
        self.name, self.id, self.derived_id = rules.name, rules.id, rules.id
        self.model = None

    def partition(self, question: Question, answers: Sequence[str], /) -> Procedure[list[int]]:
        """Group distinct strings by meaning."""
        yield from ()
        return self._rules.partition(question, answers)

    def grade(self, question: Question, answer: str, /) -> Procedure[Verdict]:
        """Grade one string."""
        yield from ()
        return self._rules.grade(question, answer)
