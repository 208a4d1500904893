"""The tables of an audit: numbers before and after, the judge, the annotators."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from semece.runs import spread, spread_all, spread_columns
from semece.stats import (
    MIN_AUDITED,
    Audited,
    AuditedQuality,
    Interval,
    abstention_threshold,
    accuracy_interval,
    audited_quality,
    corrected_accuracy,
    corrected_debiased_ece,
    corrected_ece,
    corrected_held_out,
    corrected_threshold,
    debiased_ece,
    ece_interval,
    frame,
    held_out_gap,
    held_out_masses,
    semx,
    semx_ece,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from semece.compare.audit.audited_answers import Deployed
    from semece.compare.audit.draws import AuditPlan
    from semece.compare.audit.sheets import Sheet
    from semece.records import Verdict
    from semece.runs import GradedClasses

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

QUALITY = AuditedQuality._fields
"""Numbers of the judge."""

CONFUSION = ("both", "judge_only", "people_only", "neither")
"""Counts of people's verdicts by what the judge says."""

NO_VERDICT = "no verdict yet in one of the strata"
BY_CONFIDENCE = "thresholds are corrected where answers were drawn by verdict, or without groups"

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
    verdicts: dict[int, Verdict]

    @property
    def people(self) -> float:
        """Share of its verdicts that are 'correct'."""
        return sum(verdict == "correct" for verdict in self.verdicts.values()) / len(self.verdicts)


class Everything(NamedTuple):
    """All that is known of some questions: what people said, and that an empty answer is not correct.

    Parameters
    ----------
    place, people, judge, stratum : ndarray, shape (m,)
        As in :class:`semece.Audited`; the last stratum is that of the empty answers.
    sizes : ndarray of int, shape (H + 1,)
        Questions in each.
    """

    place: Ints
    people: Floats
    judge: Floats
    stratum: Ints
    sizes: Ints

    @property
    def judged(self) -> int:
        """How many answers people judged."""
        return int((self.stratum < len(self.sizes) - 1).sum())

    @property
    def audited(self) -> Audited | None:
        """The verdicts as the correction takes them; None if a stratum has no verdict."""
        drawn = np.bincount(self.stratum, minlength=len(self.sizes))
        return None if (drawn < np.minimum(self.sizes, 1)).any() else Audited(*self)

    def among(self, kept: NDArray[np.bool_]) -> Everything:
        """Leave out questions.

        How many of a stratum are left is known of the judged ones, and taken to be the same share of all.
        """
        inside, n = kept[self.place], len(self.sizes)
        before, after = np.bincount(self.stratum, minlength=n), np.bincount(self.stratum[inside], minlength=n)
        sizes = np.rint(self.sizes * np.where(before > 0, after / np.maximum(before, 1), 1.0)).astype(np.int64)
        place = (np.cumsum(kept) - 1)[self.place]
        of_stratum = self.stratum[inside], sizes
        return Everything(place[inside], self.people[inside], self.judge[inside], *of_stratum)


def everything(plan: AuditPlan, answers: Sequence[Deployed], judged: Sequence[AuditedAnswer]) -> Everything:
    """Put people's verdicts together, and the empty ones among the answers."""
    places = {each.question.id: place for place, each in enumerate(answers)}
    blank = [place for place, each in enumerate(answers) if each.blank]
    return Everything(
        np.array([*(places[each.answer.question.id] for each in judged), *blank]),
        np.array([*(each.people for each in judged), *(0.0 for _ in blank)]),
        np.array([*(each.answer.said for each in judged), *(answers[place].said for place in blank)]),
        np.array([*(each.stratum for each in judged), *(len(plan.sizes) for _ in blank)]),
        np.array([*plan.sizes, len(blank)]),
    )


def strata_table(plan: AuditPlan, judged: Sequence[AuditedAnswer]) -> pl.DataFrame:
    """Tabulate how many answers each stratum had, how many were drawn and judged."""
    counts = np.bincount([each.stratum for each in judged], minlength=len(plan.sizes))
    return pl.DataFrame({"answers": plan.sizes, "drawn": plan.drawn, "judged": counts})


def numbers_table(answers: Sequence[Deployed], known: Everything, classes: GradedClasses | None = None) -> pl.DataFrame:
    """Tabulate the judge's numbers and the corrected ones; see :class:`semece.compare.Scored`.

    ``classes``, of the same run, give those about the model.
    """
    correct = np.array([each.correct for each in answers])
    rows = [_accuracy_row(correct, known), *(_held_out_rows(answers, known, classes) if classes else ())]
    for name, attribute in (("sem1_ece", "sem1"), ("sem2_ece", "sem2"), ("ver_ece", "verbalized")):
        values = [getattr(each, attribute) for each in answers]
        kept = np.array([value is not None for value in values])
        if kept.any():
            confidence = np.minimum([value for value in values if value is not None], 1.0)
            rows.append({"quantity": name, **_ece_row(confidence, correct[kept], known.among(kept))})
    numbers = [f"{name}{end}" for name in ("judge", "corrected") for end in ("", "_low", "_high", "_debiased")]
    schema = {"quantity": str, "questions": int, "audited": int, **dict.fromkeys(numbers, float), "reason": str}
    return frame(rows, schema)


def _accuracy_row(correct: Floats, known: Everything) -> dict[str, Any]:
    """Give the accuracy by the judge and the corrected one."""
    row = {"quantity": "accuracy", "questions": len(correct), "audited": known.judged}
    row |= spread("judge", accuracy_interval(correct))
    if known.audited is None:
        return row | {"reason": NO_VERDICT}
    return row | spread("corrected", corrected_accuracy(correct, known.audited))


def _ece_row(confidence: Floats, correct: Floats, known: Everything) -> dict[str, Any]:
    """Give an ECE by the judge and the corrected one, or the reason why there is none."""
    row = {"questions": len(correct), "audited": known.judged, **spread("judge", ece_interval(confidence, correct))}
    row["judge_debiased"] = debiased_ece(confidence, correct)
    if known.audited is None or (reason := _no_ece(known)):
        return row | {"reason": NO_VERDICT if known.audited is None else reason}
    row |= spread("corrected", corrected_ece(confidence, correct, known.audited))
    return row | {"corrected_debiased": corrected_debiased_ece(confidence, correct, known.audited)}


def _held_out_rows(answers: Sequence[Deployed], known: Everything, classes: GradedClasses) -> Iterator[dict[str, Any]]:
    """Give held-out gap and SemX-ECE by the judge and corrected; nothing where not every class is graded."""
    place = {name: i for i, name in enumerate(classes.ids.tolist())}
    counts, places = classes.counts.take(np.array([place[each.question.id] for each in answers]))
    correct, refused = classes.correct[places], classes.refused[places]
    usable = np.add.reduceat(np.where(refused > 0, 0, counts.values), counts.offsets[:-1])
    if np.isnan(correct).any() or usable.max() < 2:
        return
    own = np.zeros_like(correct)
    own[counts.offsets[:-1] + [each.label for each in answers]] = 1.0
    every, deployed, others = (
        semx(correct=values, counts=counts, refused=refused) for values in (correct, own, np.where(own > 0, 0, correct))
    )
    kept = usable >= 2
    said = np.array([each.said for each in answers])[kept]
    known = known.among(kept)
    found, reason = None, _no_ece(known)
    if known.audited is not None and reason is None:
        found = corrected_held_out(held_out_masses(every, deployed, others, said), known.audited)
        reason = None if found else "the audit says too little of how the judge errs on right and on wrong answers"
    row = {"questions": len(said), "audited": known.judged, "reason": reason}
    gap = spread("judge", Interval(*held_out_gap(every)[:3])) | spread("corrected", found.gap if found else None)
    yield {"quantity": "held_out_gap", **row, **gap}
    error = semx_ece(every)
    ece = spread("judge", Interval(*error[:3])) | spread("corrected", found.error if found else None)
    debiased = {"judge_debiased": error.debiased, "corrected_debiased": found.debiased if found else None}
    yield {"quantity": "semx_ece", **row, **ece, **debiased}


def _no_ece(known: Everything) -> str | None:
    """Say why an error cannot be corrected; None if it can."""
    if known.audited is None:
        return NO_VERDICT
    if known.judged < MIN_AUDITED and known.judged < known.sizes[:-1].sum():
        return f"{known.judged} answers with a verdict; a corrected ECE needs {MIN_AUDITED}"
    return None


def thresholds_table(answers: Sequence[Deployed], known: Everything, by: str, asked: int) -> pl.DataFrame:
    """Tabulate from which Sem1 on to answer, by the judge and corrected; see :class:`semece.compare.Scored`."""
    given = np.array([not each.blank for each in answers])
    sem1 = np.array([each.sem1 for each in answers])[given]
    said = np.array([each.said for each in answers])[given]
    known = known.among(given)
    rows = []
    for target in TARGETS if sem1.size else ():
        row: dict[str, Any] = {"target": target, "questions": asked}
        row["judge_threshold"] = abstention_threshold(sem1, said, target=target, asked=asked).threshold
        if known.audited is None or by not in {"verdict", "none"}:
            rows.append(row | {"reason": NO_VERDICT if known.audited is None else BY_CONFIDENCE})
            continue
        found = corrected_threshold(sem1, said, known.audited, target=target, asked=asked)
        rows.append(row | found._asdict())
    numbers = dict.fromkeys(("target", "judge_threshold", "threshold", "coverage", "accuracy", "accuracy_low"), float)
    return frame(rows, {**numbers, "questions": int, "answered": int, "reason": str})


def quality_table(plan: AuditPlan, shown: Sequence[Deployed], judged: Sequence[AuditedAnswer]) -> pl.DataFrame:
    """Tabulate how good the judge is over all answers that people could judge; see :class:`semece.compare.Scored`."""
    row: dict[str, Any] = {"answers": len(judged), **_confusion(judged)}
    row["verdicts"] = sum(len(each.verdicts) for each in judged)
    known = everything(plan, shown, judged)
    if known.audited is None:
        row["reason"] = NO_VERDICT
    else:
        row |= spread_all(audited_quality([each.said for each in shown], known.audited)._asdict())
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
