"""The answers of a run that people can judge, and what the judge says of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from semece.errors import SemeceError
from semece.stats import mode

if TYPE_CHECKING:
    from semece.records import Question
    from semece.runs import QuestionView, Run


@dataclass(frozen=True, slots=True)
class Deployed:
    """The deployed answer of a question that enters the numbers.

    Parameters
    ----------
    question : Question
        The question.
    answer : str
        The most frequent wording of the most frequent class, of tied classes that given first; ``''`` for a non-answer.
    said : float
        The judge's verdict on it: 1 if correct, else 0.
    correct : float
        The question's correctness by the judge, in [0, 1]: under a tie the mean over the tied classes.
    sem1, sem2 : float
        Confidences in [0, 1].
    verbalized : float or None
        Mean stated confidence.
    label : int
        The class of the answer.
    """

    question: Question
    answer: str
    said: float
    correct: float
    sem1: float
    sem2: float
    verbalized: float | None
    label: int

    @property
    def blank(self) -> bool:
        """Whether there is nothing to judge."""
        return not self.answer.strip()


def deployed_answers(run: Run) -> tuple[Deployed, ...]:
    """Give the deployed answers of the complete questions, in the run's order.

    Raises
    ------
    SemeceError
        No question is complete.
    """
    views = run.question_views()
    found = tuple(each for view in views if (each := _deployed(view)) is not None)
    if not found:
        raise SemeceError(f"no question is complete of {len(views):,}; 'semece summary' says why")
    return found


def _deployed(view: QuestionView) -> Deployed | None:
    """Read one off; None if the question enters no number."""
    e, classes = view.estimate, view.partition
    if e.status != "complete" or classes is None or e.correct is None or e.sem1 is None or e.sem2 is None:
        return None
    label = int(mode(classes.labels))
    said = float(view.grades.get(label) == "correct")
    return Deployed(view.question, classes.representatives[label], said, e.correct, e.sem1, e.sem2, e.verbalized, label)
