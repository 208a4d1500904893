"""A run's numbers without the errors of its judge, where people have judged some of its answers.

What people said is kept in the run file (:class:`KeptAudit`), under the judge whose verdicts were audited. A reader
matches it with the answers of today: verdicts on answers that have changed count for nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semece.runs.metrics import CONFIDENCES, given_scores
from semece.stats import (
    MIN_AUDITED,
    Audited,
    Interval,
    corrected_accuracy,
    corrected_debiased_ece,
    corrected_ece,
    corrected_gap,
    corrected_held_out,
    corrected_held_out_terms,
    corrected_outcomes,
    corrected_threshold,
    fewest_corrected,
    held_out_masses,
    semx,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from semece.runs.graded_classes import GradedClasses
    from semece.runs.metrics import Binning, Confidence
    from semece.runs.question_views import Deployed
    from semece.stats import Abstention, CorrectedHeldOut, ErrorTerms, HeldOutMasses

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]

NO_VERDICT = "no verdict yet in one of the strata"
NONE_LEFT = "none of the audited answers is an answer of the run now"
BY_CONFIDENCE = "thresholds are corrected where answers were drawn by verdict, or without groups"
BY_ANOTHER = "thresholds are corrected where answers were drawn by the verdicts of this judge; draw again"
UNGRADED = "a class has no grade"
UNSKILLED = "the audit says too little of how the judge errs on right and on wrong answers"


class AuditedRow(NamedTuple):
    """An answer that people judged.

    Parameters
    ----------
    question : str
        The question's id.
    answer : str
        What they judged.
    stratum : int
        From which it was drawn.
    people : float
        Share of the verdicts that are 'correct', in [0, 1].
    """

    question: str
    answer: str
    stratum: int
    people: float


class KeptAudit(NamedTuple):
    """What people said of a run's answers, as the run file keeps it.

    Parameters
    ----------
    stamp : str
        What the sheets are a sample of; a later audit of the same sample takes the place of this one.
    sheets : tuple of str
        Names of the files.
    by : str
        What the strata are made of: ``verdict``, ``confidence``, ``both``, ``none``.
    sizes : tuple of int
        Answers in each stratum when they were drawn.
    rows : tuple of AuditedRow
        The answers with a verdict.
    """

    stamp: str
    sheets: tuple[str, ...]
    by: str
    sizes: tuple[int, ...]
    rows: tuple[AuditedRow, ...]

    @classmethod
    def read(cls, body: Mapping[str, Any]) -> KeptAudit:
        """Make it of what a run file holds."""
        rows = tuple(AuditedRow(*row) for row in body["rows"])
        return cls(str(body["stamp"]), tuple(body["sheets"]), str(body["by"]), tuple(body["sizes"]), rows)


class KnownAnswers(NamedTuple):
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

    @classmethod
    def of(cls, audit: KeptAudit, answers: Sequence[Deployed]) -> KnownAnswers:
        """Put people's verdicts on these answers together, and the empty ones among them."""
        places = {(each.question.id, each.answer): place for place, each in enumerate(answers)}
        rows = [(places[row[:2]], row) for row in audit.rows if row[:2] in places]
        blank = [place for place, each in enumerate(answers) if each.blank]
        return cls(
            np.array([*(place for place, _ in rows), *blank], dtype=np.int64),
            np.array([*(row.people for _, row in rows), *(0.0 for _ in blank)]),
            np.array([*(answers[place].said for place, _ in rows), *(answers[place].said for place in blank)]),
            np.array([*(row.stratum for _, row in rows), *(len(audit.sizes) for _ in blank)], dtype=np.int64),
            np.array([*audit.sizes, len(blank)]),
        )

    @property
    def judged(self) -> int:
        """How many answers people judged."""
        return int((self.stratum < len(self.sizes) - 1).sum())

    @property
    def audited(self) -> Audited | None:
        """The verdicts as the correction takes them; None if a stratum has no verdict."""
        drawn = np.bincount(self.stratum, minlength=len(self.sizes))
        return None if (drawn < np.minimum(self.sizes, 1)).any() else Audited(*self)

    @property
    def reason(self) -> str | None:
        """Why an error cannot be corrected; None if it can."""
        if not self.judged:
            return NONE_LEFT
        if self.audited is None:
            return NO_VERDICT
        if self.judged < MIN_AUDITED and self.judged < self.sizes[:-1].sum():
            return f"{self.judged} answers with a verdict; a corrected ECE needs {MIN_AUDITED}"
        return None

    @property
    def one_verdict_each(self) -> bool:
        """Whether the judge says one thing of all audited answers of a stratum, as if they were drawn by it."""
        return all(len(np.unique(self.judge[self.stratum == h])) == 1 for h in np.unique(self.stratum))

    def among(self, kept: Bools) -> KnownAnswers:
        """Leave out questions.

        How many of a stratum are left is known of the judged ones, and taken to be the same share of all.
        """
        inside, n = kept[self.place], len(self.sizes)
        before, after = np.bincount(self.stratum, minlength=n), np.bincount(self.stratum[inside], minlength=n)
        sizes = np.rint(self.sizes * np.where(before > 0, after / np.maximum(before, 1), 1.0)).astype(np.int64)
        place = (np.cumsum(kept) - 1)[self.place]
        of_stratum = self.stratum[inside], sizes
        return KnownAnswers(place[inside], self.people[inside], self.judge[inside], *of_stratum)


class CorrectedConfidence(NamedTuple):
    """A confidence's numbers without the judge's errors.

    Parameters
    ----------
    mean : float
        Mean confidence.
    gap, error : Interval
        Mean confidence less accuracy, and ECE as a plug-in value.
    debiased : float
        ECE with less upward bias.
    """

    mean: float
    gap: Interval
    error: Interval
    debiased: float


class Correction(NamedTuple):
    """An audit and the answers of a run that it is about.

    Parameters
    ----------
    audit : KeptAudit
        What people said.
    answers : tuple of Deployed
        The deployed answers of the run's complete questions; at least one.
    known : KnownAnswers
        What is known of them.
    """

    audit: KeptAudit
    answers: tuple[Deployed, ...]
    known: KnownAnswers

    @classmethod
    def of(cls, audit: KeptAudit, answers: Iterable[Deployed]) -> Correction:
        """Match an audit with answers."""
        answers = tuple(answers)
        return cls(audit, answers, KnownAnswers.of(audit, answers))

    @property
    def correct(self) -> Floats:
        """Correctness by the judge, of each answer."""
        return np.array([each.correct for each in self.answers])

    def values(self, column: str, *, attempted: bool = False) -> tuple[Floats, Bools]:
        """Give a confidence of the answers that have it, and which they are; perhaps only of attempted questions."""
        values = [None if attempted and each.refused else each.confidence(column) for each in self.answers]
        kept = np.array([value is not None for value in values])
        return np.minimum([value for value in values if value is not None], 1.0), kept

    def accuracy(self) -> Interval | None:
        """Correct the accuracy; None if a stratum has no verdict."""
        audited = self.known.audited
        return None if audited is None else corrected_accuracy(self.correct, audited)

    def confidence(self, column: str, *, attempted: bool = False, **bins: Any) -> CorrectedConfidence | str:  # noqa: ANN401
        """Correct the numbers of a confidence, or say why they cannot be.

        Parameters
        ----------
        column : str
            ``sem1``, ``sem2``, ``verbalized`` or the name of a given confidence; at least one answer has it.
        attempted : bool
            Whether questions whose deployed answer is none are left out.
        **bins
            ``n_bins`` and ``closed``, as in :func:`semece.ece`.
        """
        values, kept = self.values(column, attempted=attempted)
        known, correct = self.known.among(kept), self.correct[kept]
        if (reason := known.reason) is not None or (audited := known.audited) is None:
            return reason or NO_VERDICT
        return CorrectedConfidence(
            float(values.mean()),
            corrected_gap(values, correct, audited),
            corrected_ece(values, correct, audited, **bins),
            corrected_debiased_ece(values, correct, audited, **bins),
        )

    def held_out(self, classes: GradedClasses, binning: Binning) -> CorrectedHeldOut | str:
        """Correct the held-out gap and SemX-ECE, or say why they cannot be; ``classes`` of the same run."""
        found = self._masses(classes, binning)
        return found if isinstance(found, str) else corrected_held_out(*found) or UNSKILLED

    def held_out_terms(self, classes: GradedClasses, binning: Binning) -> ErrorTerms | None:
        """Give what the corrected SemX-ECE is made of, a row per question with two answers; None if it is not."""
        found = self._masses(classes, binning)
        return None if isinstance(found, str) else corrected_held_out_terms(*found)

    def _masses(self, classes: GradedClasses, binning: Binning) -> tuple[HeldOutMasses, Audited] | str:
        """Put together what the held-out numbers are corrected with, or say why they cannot be."""
        place = {name: i for i, name in enumerate(classes.ids.tolist())}
        counts, places = classes.counts.take(np.array([place[each.question.id] for each in self.answers]))
        correct, refused = classes.correct[places], classes.refused[places]
        usable = np.add.reduceat(np.where(refused > 0, 0, counts.values), counts.offsets[:-1])
        if np.isnan(correct).any() or len(classes.ids) > len(self.answers):
            return UNGRADED
        known = self.known.among(usable >= 2)
        if (reason := known.reason) is not None or (audited := known.audited) is None:
            return reason or NO_VERDICT
        own = np.zeros_like(correct)
        own[counts.offsets[:-1] + [each.label for each in self.answers]] = 1.0
        every, deployed, others = (
            semx(correct=values, counts=counts, refused=refused, **binning._asdict())
            for values in (correct, own, np.where(own > 0, 0, correct))
        )
        said = np.array([each.said for each in self.answers])[usable >= 2]
        return held_out_masses(every, deployed, others, said), audited

    def threshold(self, column: str, *, target: float, asked: int, delta: float = 0.05) -> Abstention | str:
        """Find the threshold to abstain at, or say why the judge's errors cannot be corrected there.

        Parameters
        ----------
        column : str
            Of which confidence: ``sem1``, ``sem2``, ``verbalized`` or a given one; an attempted answer has it.
        target, asked, delta
            As in :func:`semece.abstention_threshold`.
        """
        values, kept = self.values(column, attempted=True)
        known = self.known.among(kept)
        if known.audited is None:
            return NO_VERDICT if self.known.judged else NONE_LEFT
        if self.audit.by not in {"verdict", "none"}:
            return BY_CONFIDENCE
        if self.audit.by == "verdict" and not known.one_verdict_each:
            return BY_ANOTHER
        said = np.array([each.said for each in self.answers])[kept]
        return corrected_threshold(values, said, known.audited, target=target, asked=asked, delta=delta)

    def fewest(self, column: str, *, target: float, delta: float = 0.05) -> int:
        """Count the answers that :meth:`threshold` needs at least (:func:`semece.stats.fewest_corrected`)."""
        _, kept = self.values(column, attempted=True)
        known = self.known.among(kept)
        return fewest_corrected(len(known.place), int(kept.sum()), target=target, delta=delta)

    def among(self, questions: Sequence[str]) -> Correction:
        """Keep some of the questions, by their ids and in their order; every one has an answer here."""
        order = {name: place for place, name in enumerate(questions)}
        places = [order.get(each.question.id) for each in self.answers]
        known = self.known.among(np.array([place is not None for place in places]))
        at = np.array([place for place in places if place is not None], dtype=np.int64)
        by_place = {place: each for place, each in zip(places, self.answers, strict=True) if place is not None}
        return Correction(
            self.audit, tuple(by_place[i] for i in sorted(by_place)), known._replace(place=at[known.place])
        )

    def outcomes(self) -> Floats | None:
        """Give correctness with corrected means (:func:`semece.stats.corrected_outcomes`); None if nothing is."""
        reason, audited = self.known.reason, self.known.audited
        return None if reason or audited is None else corrected_outcomes(self.correct, audited)


AUDIT_COLUMNS: dict[str, Any] = {"audit": None, "audited": None, "audit_reason": None, "corrected": None}
"""What a summary says of an audit where there is none."""


def corrected_columns(correction: Correction | None, classes: GradedClasses | None, binning: Binning) -> dict[str, Any]:
    """Give the columns of a summary that an audit changes.

    Parameters
    ----------
    correction : Correction or None
        Of the run; None: nothing is corrected.
    classes : GradedClasses or None
        Of the same run; None: there are no numbers about the model.
    binning : Binning
        Bins of the ECEs.

    Returns
    -------
    dict
        ``audit``, the names of the sheets; ``audited``, how many answers with a people's verdict the numbers rest on;
        ``audit_reason``, why the numbers about the model, or all, are not corrected; ``corrected``, the names of the
        numbers that are; and the columns of these. All null without an audit.
    """
    if correction is None:
        return dict(AUDIT_COLUMNS)
    found = AUDIT_COLUMNS | {"audit": ", ".join(correction.audit.sheets), "audited": correction.known.judged}
    found |= {"audit_reason": correction.known.reason, "corrected": []}
    if found["audit_reason"] is not None:
        return found
    found |= _spread_interval("accuracy", correction.accuracy())
    model = UNGRADED if classes is None else correction.held_out(classes, binning)
    if isinstance(model, str):
        found["audit_reason"] = model
    else:
        found |= _spread_interval("held_out_gap", model.gap) | _spread_interval("semx_ece", model.error)
        found |= {"held_out_gap_least": model.gap.value, "semx_ece_least": model.error.value}
        found |= {"semx_ece_debiased": model.debiased, "semx_ece_p_value": None}
    given = dict.fromkeys((name for each in correction.answers for name in each.given), False)
    for each in (*CONFIDENCES, *given_scores(given)):
        found |= _confidence_columns(correction, each, binning)
    if "sem1_ece" in found and "sem2_ece" in found:
        found |= _spread_interval("ece_difference", None) | {"ece_difference": found["sem1_ece"] - found["sem2_ece"]}
    return found | {"corrected": [name for name in found if found.get(f"{name}_low") is not None]}


def _confidence_columns(correction: Correction, confidence: Confidence, binning: Binning) -> dict[str, Any]:
    """Give the columns of one confidence; none under split pairing, which needs people's verdicts on every class."""
    refused = np.array([each.refused for each in correction.answers])
    if confidence.correct != "correct" or (confidence.attempted and not refused.any()):
        return {}
    prefix, kept = confidence.prefix, correction.values(confidence.column, attempted=confidence.attempted)[1]
    options = binning._asdict()
    found = correction.confidence(confidence.column, attempted=confidence.attempted, **options) if kept.any() else ""
    if isinstance(found, str):
        return {}
    numbers = _spread_interval(f"{prefix}_gap", found.gap) | _spread_interval(f"{prefix}_ece", found.error)
    return numbers | {f"{prefix}_accuracy": found.mean - found.gap.value}


def _spread_interval(name: str, interval: Interval | None) -> dict[str, float | None]:
    """Give the three columns of a number."""
    return dict(zip((name, f"{name}_low", f"{name}_high"), interval or (None, None, None), strict=True))
