"""What may be claimed of a run's model, and what the claim rests on: columns of a summary row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from semece.stats import (
    HeldOutGap,
    SemXError,
    bracket_verdict,
    gap_interval,
    model_verdict,
    per_question,
    right_on_average,
    sem1,
    sem2,
    verdicts_to_overturn,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from semece.runs.graded_classes import GradedClasses
    from semece.stats import Interval

FEW = 10
"""Below so many questions nothing is claimed."""

RIGHT_ON_AVERAGE = "right on average"
"""The claim that a model is miscalibrated, though right on average."""

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
        ``model_claim`` (over-confident, under-confident, right on average, or None), ``model_basis`` (``held-out gap``
        or ``bracket``), ``model_questions``; ``bracket_least`` and ``bracket_most``, mean Sem2 and mean Sem1 less
        accuracy, with ``bracket_low`` and ``bracket_high``, the outer ends of their intervals (refusals removed,
        answers without a grade counted right and wrong); ``overturning_verdicts`` of ``graded_classes``, that would
        overturn the claim (:func:`semece.stats.verdicts_to_overturn`).
    """
    if classes is None or classes.answered.responses.max(initial=0) < 2:
        return dict(NOTHING)
    answered = classes.answered
    count = int((answered.responses >= 2).sum())
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
        claim = model_verdict(gap) or (RIGHT_ON_AVERAGE if right_on_average(error, gap) else None)
    return found | (_claimed(claim, classes, found["model_basis"]) if claim and count >= FEW else {})


def _bracket(classes: GradedClasses) -> tuple[Interval, Interval]:
    """Mean Sem2 less accuracy and mean Sem1 less accuracy, of the answers that are no refusals."""
    some, places = classes.answered.take(np.flatnonzero(classes.answered.responses >= 2))
    grades, weights = classes.correct[places], some.mode_weights
    least, most = (
        np.clip(per_question(np.add, weights * np.nan_to_num(grades, nan=unknown), some.offsets), 0.0, 1.0)
        for unknown in (1.0, 0.0)
    )
    return gap_interval(sem2(counts=some), least), gap_interval(sem1(counts=some), most)


def _claimed(claim: str, classes: GradedClasses, basis: str) -> dict[str, Any]:
    """Give the claim, with the verdicts that would overturn it."""
    if claim == RIGHT_ON_AVERAGE:
        return {"model_claim": claim}
    found = verdicts_to_overturn(claim, classes.answered, classes.correct, basis=basis)  # type: ignore[arg-type]
    return {"model_claim": claim, "overturning_verdicts": found.verdicts, "graded_classes": found.graded}
