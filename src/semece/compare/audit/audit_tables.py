"""The tables of an audit: numbers before and after, the judge, the annotators."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from semece.runs import NO_VERDICT, Binning, Correction, spread, spread_all, spread_columns
from semece.stats import (
    Audited,
    AuditedQuality,
    Interval,
    abstention_threshold,
    accuracy_interval,
    audited_quality,
    debiased_ece,
    ece_interval,
    frame,
    held_out_gap,
    semx_ece,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from semece.compare.audit.draws import AuditPlan
    from semece.compare.audit.filled_sheets import Sheet
    from semece.runs import Deployed, GradedClasses, KeptAudit

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

QUALITY = AuditedQuality._fields
"""Numbers of the judge."""

CONFUSION = ("both", "judge_only", "people_only", "neither")
"""Counts of people's verdicts by what the judge says."""

TARGETS = (0.8, 0.9, 0.95)
"""Accuracies that a threshold to abstain at is looked for."""


@dataclass(frozen=True, slots=True)
class AuditedAnswer:
    """An answer with people's verdicts, one a sheet.

    Parameters
    ----------
    answer : Deployed
        The answer.
    stratum : int
        From which it was drawn.
    verdicts : dict of int to str
        By the sheet's number.
    """

    answer: Deployed
    stratum: int
    verdicts: dict[int, str]

    @property
    def people(self) -> float:
        """Share of its verdicts that are 'correct'."""
        return sum(verdict == "correct" for verdict in self.verdicts.values()) / len(self.verdicts)


def strata_table(plan: AuditPlan, judged: Sequence[AuditedAnswer]) -> pl.DataFrame:
    """Tabulate how many answers each stratum had, how many were drawn and judged."""
    counts = np.bincount([each.stratum for each in judged], minlength=len(plan.sizes))
    return pl.DataFrame({"answers": plan.sizes, "drawn": plan.drawn, "judged": counts})


def numbers_table(correction: Correction, classes: GradedClasses | None = None) -> pl.DataFrame:
    """Tabulate the judge's numbers and the corrected ones; see :class:`semece.compare.Scored`.

    ``classes``, of the same run, give those about the model.
    """
    rows = [_accuracy_row(correction), *(_held_out_rows(correction, classes) if classes else ())]
    for name, attribute in (("sem1_ece", "sem1"), ("sem2_ece", "sem2"), ("ver_ece", "verbalized")):
        values, kept = correction.values(attribute)
        if kept.any():
            rows.append({"quantity": name, **_ece_row(correction, attribute, values, kept)})
    numbers = [f"{name}{end}" for name in ("judge", "corrected") for end in ("", "_low", "_high", "_debiased")]
    schema = {"quantity": str, "questions": int, "audited": int, **dict.fromkeys(numbers, float), "reason": str}
    return frame(rows, schema)


def _accuracy_row(correction: Correction) -> dict[str, Any]:
    """Give the accuracy by the judge and the corrected one."""
    row = {"quantity": "accuracy", "questions": len(correction.answers), "audited": correction.known.judged}
    row |= spread("judge", accuracy_interval(correction.correct))
    found = correction.accuracy()
    return row | (spread("corrected", found) if found else {"reason": NO_VERDICT})


def _ece_row(correction: Correction, attribute: str, values: Floats, kept: Bools) -> dict[str, Any]:
    """Give an ECE by the judge and the corrected one, or the reason why there is none."""
    correct = correction.correct[kept]
    row: dict[str, Any] = {"questions": len(correct), "audited": correction.known.among(kept).judged}
    row |= {**spread("judge", ece_interval(values, correct)), "judge_debiased": debiased_ece(values, correct)}
    found = correction.confidence(attribute)
    if isinstance(found, str):
        return row | {"reason": found}
    return row | spread("corrected", found.error) | {"corrected_debiased": found.debiased}


def _held_out_rows(correction: Correction, classes: GradedClasses) -> Iterator[dict[str, Any]]:
    """Give held-out gap and SemX-ECE by the judge and corrected; nothing where not every class is graded."""
    every = classes.residuals()
    if every is None or every.ungraded.any():
        return
    found = correction.held_out(classes, Binning())
    some, reason = (None, found) if isinstance(found, str) else (found, None)
    kept = np.isin([each.question.id for each in correction.answers], classes.ids[every.questions])
    row = {"questions": int(kept.sum()), "audited": correction.known.among(kept).judged, "reason": reason}
    gap = spread("judge", Interval(*held_out_gap(every)[:3])) | spread("corrected", some.gap if some else None)
    yield {"quantity": "held_out_gap", **row, **gap}
    error = semx_ece(every)
    ece = spread("judge", Interval(*error[:3])) | spread("corrected", some.error if some else None)
    debiased = {"judge_debiased": error.debiased, "corrected_debiased": some.debiased if some else None}
    yield {"quantity": "semx_ece", **row, **ece, **debiased}


def thresholds_table(correction: Correction, asked: int) -> pl.DataFrame:
    """Tabulate from which Sem1 on to answer, by the judge and corrected; see :class:`semece.compare.Scored`."""
    sem1, given = correction.values("sem1", attempted=True)
    said = np.array([each.said for each in correction.answers])[given]
    rows = []
    for target in TARGETS if sem1.size else ():
        row: dict[str, Any] = {"target": target, "questions": asked}
        row["judge_threshold"] = abstention_threshold(sem1, said, target=target, asked=asked).threshold
        found = correction.threshold("sem1", target=target, asked=asked)
        rows.append(row | ({"reason": found} if isinstance(found, str) else found._asdict()))
    numbers = dict.fromkeys(("target", "judge_threshold", "threshold", "coverage", "accuracy", "accuracy_low"), float)
    return frame(rows, {**numbers, "questions": int, "answered": int, "reason": str})


def quality_table(audit: KeptAudit, shown: Sequence[Deployed], judged: Sequence[AuditedAnswer]) -> pl.DataFrame:
    """Tabulate how good the judge is over all answers that people could judge; see :class:`semece.compare.Scored`."""
    row: dict[str, Any] = {"answers": len(judged), **_confusion(judged)}
    row["verdicts"] = sum(len(each.verdicts) for each in judged)
    audited = Correction.of(audit, shown).known.audited
    if audited is None:
        row["reason"] = NO_VERDICT
    else:
        row |= spread_all(audited_quality([each.said for each in shown], audited)._asdict())
    counts = dict.fromkeys(("answers", "verdicts", *CONFUSION), int)
    return frame([row], {**counts, **spread_columns(*QUALITY), "reason": str})


def _confusion(judged: Sequence[AuditedAnswer]) -> dict[str, int]:
    """Count people's verdicts, one by one, by what the judge says."""
    pairs = [(each.answer.said == 1, word == "correct") for each in judged for word in each.verdicts.values()]
    cells = product((True, False), (True, False))
    return {name: pairs.count(cell) for name, cell in zip(CONFUSION, cells, strict=True)}


def annotators_table(sheets: Sequence[Sheet], judged: Sequence[AuditedAnswer]) -> pl.DataFrame:
    """Tabulate how people agree, for each pair of sheets that share answers; see :class:`semece.compare.Scored`."""
    rows = []
    for first, second in combinations(range(len(sheets)), 2):
        pairs = [each.verdicts for each in judged if {first, second} <= set(each.verdicts)]
        if pairs:
            one, other = ([words[number] == "correct" for words in pairs] for number in (first, second))
            found = audited_quality(other, Audited(range(len(pairs)), one))
            names = {"first": str(sheets[first].path), "second": str(sheets[second].path), "answers": len(pairs)}
            rows.append(names | spread_all(found._asdict()))
    return frame(rows, {"first": str, "second": str, "answers": int, **spread_columns("agreement", "kappa")})
