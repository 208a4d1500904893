"""The graded classes of a run's questions: what SemX and the held-out gap are computed from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semece.stats import Counts, semx

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from semece.records import Verdict
    from semece.runs.question_views import QuestionView
    from semece.stats import Closed, SemX

    Floats = NDArray[np.float64]

ENTERING = frozenset({"complete", "ungraded", "not_attempted"})
"""Statuses of questions whose classes enter; leaving out one without a grade would have a bias."""

MOST_UNGRADED = 0.1
"""Most chance, averaged over questions, that a class without a grade is selected: above it there is no SemX."""


class GradedClasses(NamedTuple):
    """Classes of questions with their grades, whether or not the deployed one is graded.

    Parameters
    ----------
    counts : Counts
        Class counts of Q questions.
    correct : ndarray
        Correctness of each class in [0, 1], aligned with ``counts.values``; nan: not graded.
    refused : ndarray
        1 for classes that are no answer, 0 for the others; aligned likewise.
    ids : ndarray of str, shape (Q,)
        Ids of the questions; a question of several runs has one.
    """

    counts: Counts
    correct: Floats
    refused: Floats
    ids: NDArray[np.str_]

    @property
    def answered(self) -> Counts:
        """The counts without the classes that are no answer."""
        return Counts(np.where(self.refused > 0, 0, self.counts.values), self.counts.offsets)

    def residuals(self, *, budget: int | None = None, n_bins: int = 10, closed: Closed = "left") -> SemX | None:
        """Give SemX's residuals of the questions with two answers that are no refusals.

        Parameters
        ----------
        budget, n_bins, closed
            As in :func:`semece.semx`.

        Returns
        -------
        SemX or None
            None where no question has two (or as many as the budget), and where classes without a grade are selected
            with a chance of more than :data:`MOST_UNGRADED` on average: as if only the deployed answers were graded.
            Then there is the bracket of Sem1 and Sem2.

        Examples
        --------
        >>> counts = Counts.from_counts([[3, 1]] * 4)
        >>> some = GradedClasses(counts, np.array([1.0, 0.0] * 4), np.zeros(8), np.array(list("abcd")))
        >>> some.residuals().n_select.tolist()
        [2, 2, 2, 2]
        >>> print(some._replace(correct=np.array([1.0, np.nan] * 4)).residuals())
        None
        """
        if self.answered.responses.max(initial=0) < (budget or 2):
            return None
        given: Any = {"correct": self.correct, "counts": self.counts, "refused": self.refused}
        found = semx(**given, budget=budget, n_bins=n_bins, closed=closed)
        return found if found.ungraded.sum() <= MOST_UNGRADED * len(found.questions) else None


def graded_classes(views: Sequence[QuestionView]) -> GradedClasses:
    """Collect the classes of questions, of one run or several.

    Parameters
    ----------
    views : sequence of QuestionView
        Those that have classes and enough responses enter, graded or not.

    Returns
    -------
    GradedClasses
    """
    parts = [(view, view.partition) for view in views if view.estimate.status in ENTERING and view.partition]
    said = [(view.grades.get(label), name) for view, part in parts for label, name in enumerate(part.representatives)]
    return GradedClasses(
        Counts.from_labels([part.labels for _, part in parts]),
        np.array([_value(verdict) for verdict, _ in said]),
        np.array([float(verdict == "not_attempted" or not name) for verdict, name in said]),
        np.array([view.question.id for view, _ in parts], dtype=np.str_),
    )


def _value(verdict: Verdict | None) -> float:
    return float("nan") if verdict is None else float(verdict == "correct")
