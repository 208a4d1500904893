"""The graded classes of a run's questions, and what may be claimed of the model from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semece.runs.question_views import tallied
from semece.stats import (
    Counts,
    HeldOutGap,
    SemXError,
    bracket_verdict,
    gap_interval,
    hidden_verdict,
    model_verdict,
    per_question,
    sem1,
    sem2,
    semx,
    verdicts_to_overturn,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from semece.runs.question_views import QuestionView
    from semece.stats import Closed, Interval, SemX, WeightedTable

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
    weights : ndarray of int, shape (Q,), or None
        How often each occurs; None: once.
    """

    counts: Counts
    correct: Floats
    refused: Floats
    ids: NDArray[np.str_]
    weights: NDArray[np.int64] | None = None

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
        times = np.ones(len(self.counts)) if self.weights is None else self.weights
        return found if found.ungraded @ times[found.question] <= MOST_UNGRADED * times[found.questions].sum() else None

    def measured(self, *, n_bins: int = 10, closed: Closed = "left") -> dict[str, SemX | Counts | None]:
        """Give what metrics of the classes are measured on: SemX's ``residuals``, and ``counts`` of the answers.

        Both None where no question has two answers that are no refusals.
        """
        enough = self.answered.responses.max(initial=0) >= 2
        residuals = self.residuals(n_bins=n_bins, closed=closed)
        return {"residuals": residuals, "counts": self.answered if enough else None}


NOTHING_MEASURED: dict[str, None] = dict.fromkeys(("residuals", "counts"))
"""What is measured on no classes."""


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
    entering = [view for view in views if view.estimate.status in ENTERING and view.partition]
    return classes_in(tallied(entering), [view.question.id for view in entering])


def classes_in(table: WeightedTable, ids: Sequence[str] | None) -> GradedClasses:
    """Give the classes of questions that enter; without ids, of a table of distinct ones."""
    names = np.arange(len(table.weights)).astype(np.str_) if ids is None else np.array(ids, dtype=np.str_)
    weights = table.weights if ids is None else None
    return GradedClasses(table.counts, table.correct, table.refused.astype(np.float64), names, weights)


FEW = 10
"""Below so many questions nothing is claimed."""

_GAP = ("", "_low", "_high", "_least", "_n_questions")
_ERROR = ("", "_low", "_high", "_least", "_debiased", "_p_value", "_n_questions", "_n_select")

NOTHING: dict[str, Any] = {
    "model_claim": None,
    "model_basis": None,
    "model_questions": 0,
    **{f"bracket_{end}": None for end in ("least", "most", "low", "high")},
    "overturning_verdicts": None,
    "graded_classes": None,
}


def model_columns(classes: GradedClasses | None, row: Mapping[str, Any]) -> dict[str, Any]:
    """Give what is claimed of the model.

    Parameters
    ----------
    classes : GradedClasses or None
        Of the run; None: nothing is claimed.
    row : mapping
        The columns of the held-out gap and of SemX-ECE; null where only the deployed answers are graded.

    Returns
    -------
    dict
        ``model_claim`` (over-confident, under-confident, miscalibrated, right on average, or None), ``model_basis``
        (``held-out gap`` or ``bracket``), ``model_questions``; ``bracket_least`` and ``bracket_most``, mean Sem2 and
        mean Sem1 less accuracy, with ``bracket_low`` and ``bracket_high``, the outer ends of their intervals (refusals
        removed, answers without a grade counted right and wrong); ``overturning_verdicts`` of ``graded_classes``, that
        would overturn the claim (:func:`semece.stats.verdicts_to_overturn`), null where an audit has corrected the gap.
    """
    if classes is None or classes.answered.responses.max(initial=0) < 2:
        return dict(NOTHING)
    answered = classes.answered
    enough = answered.responses >= 2
    count = int(enough.sum() if classes.weights is None else classes.weights @ enough)
    found = NOTHING | {"model_questions": count}
    if row["held_out_gap"] is None:
        least, most = _bracket(classes)
        found |= {"model_basis": "bracket", "bracket_least": least.value, "bracket_most": most.value}
        found |= {"bracket_low": least.low, "bracket_high": most.high}
        claim: str | None = bracket_verdict(most, least)
    else:
        gap = HeldOutGap(*(row[f"held_out_gap{end}"] for end in _GAP))
        error = SemXError(*(row[f"semx_ece{end}"] for end in _ERROR))
        found["model_basis"] = "held-out gap"
        claim = model_verdict(gap) or hidden_verdict(error, gap)
        if "held_out_gap" in (row.get("corrected") or ()):
            return found | {"model_claim": claim if count >= FEW else None}
    return found | (_claimed(claim, classes, found["model_basis"]) if claim and count >= FEW else {})


def _bracket(classes: GradedClasses) -> tuple[Interval, Interval]:
    """Mean Sem2 less accuracy and mean Sem1 less accuracy, of the answers that are no refusals."""
    chosen = np.flatnonzero(classes.answered.responses >= 2)
    some, places = classes.answered.take(chosen)
    times = None if classes.weights is None else classes.weights[chosen]
    grades, weights = classes.correct[places], some.mode_weights
    least, most = (
        np.clip(per_question(np.add, weights * np.nan_to_num(grades, nan=unknown), some.offsets), 0.0, 1.0)
        for unknown in (1.0, 0.0)
    )
    ends = (sem2(counts=some), least), (sem1(counts=some), most)
    low, high = (gap_interval(confidence, right, weights=times) for confidence, right in ends)
    return low, high


def _claimed(claim: str, classes: GradedClasses, basis: str) -> dict[str, Any]:
    """Give the claim, with the verdicts that would overturn it; of a table of counts it is not known how many."""
    if classes.weights is not None:
        return {"model_claim": claim}
    found = verdicts_to_overturn(claim, classes.answered, classes.correct, basis=basis)  # type: ignore[arg-type]
    return {"model_claim": claim, "overturning_verdicts": found.verdicts, "graded_classes": found.graded}
