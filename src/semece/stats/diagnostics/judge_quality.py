"""How good a judge is, where people have judged the same answers: its verdicts, and its classes.

Answers of a question belong together: intervals are over questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from semece.stats.counts import integers
from semece.stats.diagnostics.agreement import Agreement, contingency, counted_pairs, index_rows, partition_agreement
from semece.stats.rows import Bools, Floats, Places, check_ids, check_level, check_same_length, check_unit, refuse
from semece.stats.uncertainty.bootstrap import DEFAULT, MIN_QUESTIONS, Resampling, resampled_sums
from semece.stats.uncertainty.intervals import Interval, accuracy_interval

NOTHING = Interval(float("nan"), float("nan"), float("nan"))
"""A number that cannot be had."""


Partitions = Sequence[ArrayLike]
"""Labels of the answers to each question."""


class Confusion(NamedTuple):
    """Answers by what people and the judge say of them.

    Parameters
    ----------
    both, judge_only, people_only, neither : int
        Called correct by both, by the judge only, by people only, by neither.
    """

    both: int
    judge_only: int
    people_only: int
    neither: int


class GradingQuality(NamedTuple):
    """How good a judge's verdicts are; a number that cannot be had is nan.

    Parameters
    ----------
    answers, questions : int
        How many answers of how many questions.
    confusion : Confusion
        The four counts.
    agreement : Interval
        Share of the answers of which both say the same.
    kappa : Interval
        Cohen's kappa; nan if both call all answers correct or both call all incorrect. Its interval is nan below 30
        questions.
    precision : Interval
        Share of what the judge calls correct that people call correct; nan if it calls nothing correct.
    recall : Interval
        Share of what people call correct that the judge calls correct; nan if people call nothing correct.
    false_correct : Interval
        Share of what people call incorrect that the judge calls correct; nan if people call nothing incorrect.
    """

    answers: int
    questions: int
    confusion: Confusion
    agreement: Interval
    kappa: Interval
    precision: Interval
    recall: Interval
    false_correct: Interval


class PartitionQuality(NamedTuple):
    """How good a judge's classes are; a number that cannot be had is nan.

    Parameters
    ----------
    questions : int
        How many.
    pairs : int
        Pairs of answers to the same question.
    false_merges : Interval
        Share of the pairs that people keep apart which the judge puts together.
    false_splits : Interval
        Share of the pairs that people put together which the judge keeps apart.
    rand, adjusted_rand, modal_jaccard, same_mode : Interval
        Means over questions of :class:`semece.stats.diagnostics.Agreement`; their intervals are nan below 30 questions.
    """

    questions: int
    pairs: int
    false_merges: Interval
    false_splits: Interval
    rand: Interval
    adjusted_rand: Interval
    modal_jaccard: Interval
    same_mode: Interval


class PairQuality(NamedTuple):
    """What a judge's classes do with answers that people have graded; a number that cannot be had is nan.

    Parameters
    ----------
    questions : int
        How many.
    opposite_pairs, correct_pairs : int
        Pairs of a correct and an incorrect answer, and of two correct ones, to the same question.
    opposite_merged : Interval
        Share of the first that are in one class: each is an error.
    correct_merged : Interval
        Share of the second that are in one class: not each that is not is an error, a question may have several right
        answers.
    """

    questions: int
    opposite_pairs: int
    correct_pairs: int
    opposite_merged: Interval
    correct_merged: Interval


def grading_quality(
    people: ArrayLike, judge: ArrayLike, *, ids: ArrayLike | None = None, resampling: Resampling = DEFAULT
) -> GradingQuality:
    r"""Compare a judge's verdicts with people's.

    Parameters
    ----------
    people, judge : array_like of bool, shape (N,)
        Whether each answer is correct; N >= 1.
    ids : array_like, shape (N,), optional
        Question of each answer; without them every answer is a question.
    resampling : Resampling
        Replicates and seed of kappa's percentile interval, level of all intervals. Shares have Wilson intervals with
        the effective number of answers, as :func:`semece.accuracy_interval`.

    Returns
    -------
    GradingQuality

    Raises
    ------
    ValueError
        For no answers, unequal lengths, and values other than 0 and 1.

    Notes
    -----
    With the shares :math:`p_{ij}` of the confusion and its margins,

    .. math:: \kappa = \frac{p_o - p_e}{1 - p_e}, \qquad p_o = p_{11} + p_{00},\ p_e = p_{1\cdot} p_{\cdot 1} +
              p_{0\cdot} p_{\cdot 0}

    Source: Cohen (1960).

    Examples
    --------
    >>> quality = grading_quality([1, 1, 0, 0], [1, 0, 0, 0])
    >>> quality.agreement.value, quality.kappa.value, quality.precision.value, quality.recall.value
    (0.75, 0.5, 1.0, 0.5)
    """
    truth, said = _verdicts("people", people), _verdicts("judge", judge)
    check_same_length("people", truth, "judge", said)
    known = check_ids(ids, len(truth))
    question = np.arange(len(truth)) if known is None else known
    level = check_level(resampling.level)
    cells = np.stack([truth & said, ~truth & said, truth & ~said, ~truth & ~said], axis=1)

    def share(of: Bools, among: Bools) -> Interval:
        return accuracy_interval(of[among], level=level, ids=question[among]) if among.any() else NOTHING

    return GradingQuality(
        answers=len(truth),
        questions=int(question.max()) + 1,
        confusion=Confusion(*map(int, cells.sum(axis=0))),
        agreement=share(truth == said, np.ones_like(truth)),
        kappa=_kappa_interval(cells, question, resampling),
        precision=share(truth, said),
        recall=share(said, truth),
        false_correct=share(said, ~truth),
    )


def _verdicts(name: str, values: ArrayLike) -> Bools:
    """Check that there are only zeros and ones."""
    array = check_unit(name, values)
    refuse(f"{name} must be 0 or 1", array, (array != 0) & (array != 1))
    return np.asarray(array == 1)


def _kappa_interval(cells: Bools, question: Places, resampling: Resampling) -> Interval:
    """Cohen's kappa with a percentile interval over questions."""
    table = np.zeros((int(question.max()) + 1, 4))
    np.add.at(table, question, cells.astype(np.float64))
    value = float(cohen_kappa(table.sum(axis=0)))
    if len(table) < MIN_QUESTIONS or np.isnan(value):
        return Interval(value, float("nan"), float("nan"))
    tail = 0.5 - resampling.level / 2
    low, high = np.nanquantile(cohen_kappa(resampled_sums(table, resampling)), [tail, 1 - tail])
    return Interval(value, float(low), float(high))


def cohen_kappa(confusion: ArrayLike) -> Floats:
    """Cohen's kappa of confusions, unchecked.

    Parameters
    ----------
    confusion : array_like, shape (..., 4)
        Counts in the order of :class:`Confusion`.

    Returns
    -------
    ndarray, shape (...)
        In [-1, 1]; nan where chance alone agrees always.

    Examples
    --------
    >>> round(float(cohen_kappa([40, 10, 20, 30])), 9)
    0.4
    """
    counts = np.asarray(confusion, dtype=np.float64)
    both, judge_only, people_only, neither = np.moveaxis(counts / counts.sum(axis=-1, keepdims=True), -1, 0)
    judge, people = both + judge_only, both + people_only
    expected = judge * people + (1 - judge) * (1 - people)
    room = 1 - expected
    certain = room < 1e-12
    return np.where(certain, np.nan, (both + neither - expected) / np.where(certain, 1.0, room))


def partition_quality(people: Partitions, judge: Partitions, *, resampling: Resampling = DEFAULT) -> PartitionQuality:
    """Compare a judge's classes with people's.

    Parameters
    ----------
    people, judge : sequence of Q label sequences
        Classes of the same answers in the same order; Q >= 1.
    resampling : Resampling
        Replicates and seed of the indexes' percentile intervals, level of all intervals. Shares of pairs have Wilson
        intervals with the effective number of pairs.

    Returns
    -------
    PartitionQuality

    Raises
    ------
    ValueError
        For no questions, and as :func:`semece.stats.diagnostics.partition_agreement`.

    Examples
    --------
    >>> quality = partition_quality([[0, 0, 1, 1]], [[0, 0, 1, 2]])
    >>> quality.false_merges.value, quality.false_splits.value
    (0.0, 0.5)
    """
    tables = _tables(people, judge)
    alike = np.array([partition_agreement(a, b) for a, b in zip(people, judge, strict=True)])
    every, both, first, second = np.array([counted_pairs(table) for table in tables]).T
    level = check_level(resampling.level)
    indexes = [
        Interval(*(float(row[key]) for key in ("change", "low", "high"))) for row in index_rows(alike, resampling)
    ]
    return PartitionQuality(
        questions=len(people),
        pairs=int(every.sum()),
        false_merges=_share(second - both, every - first, level),
        false_splits=_share(first - both, first, level),
        **dict(zip(Agreement._fields, indexes, strict=True)),
    )


def pair_quality(people: Partitions, judge: Partitions, *, resampling: Resampling = DEFAULT) -> PairQuality:
    """Say how often graded answers with opposite verdicts share a class, and how often two correct ones do.

    Parameters
    ----------
    people : sequence of Q sequences of bool
        Whether each answer is correct; Q >= 1.
    judge : sequence of Q label sequences
        Classes of the same answers.
    resampling : Resampling
        Level of the Wilson intervals.

    Returns
    -------
    PairQuality

    Raises
    ------
    ValueError
        For no questions, unequal lengths, labels that are not integers.

    Examples
    --------
    >>> pair_quality([[1, 1, 0]], [[0, 1, 0]])[:3]
    (1, 2, 1)
    """
    rows = _tables([np.asarray(marks, dtype=np.int64) for marks in people], judge)
    # the rows of a table: incorrect and correct answers; without a correct one there is no second row
    tables = [np.vstack([table, np.zeros((2 - len(table), table.shape[1]))]) for table in rows]
    opposite = np.array([table.sum(axis=1).prod() for table in tables])
    merged = np.array([table.prod(axis=0).sum() for table in tables])
    correct = np.array([counted_pairs(table[1:]) for table in tables])
    level = check_level(resampling.level)
    shares = _share(merged, opposite, level), _share(correct[:, 1], correct[:, 0], level)
    return PairQuality(len(people), int(opposite.sum()), int(correct[:, 0].sum()), *shares)


def _share(part: Floats, whole: Floats, level: float) -> Interval:
    """Share of all pairs, the pairs of a question kept together."""
    if whole.sum() == 0:
        return NOTHING
    n = len(whole)
    outcome = np.repeat([1.0, 0.0], n)
    weights = np.concatenate([part, whole - part])
    return accuracy_interval(outcome, level=level, ids=np.tile(np.arange(n), 2), weights=weights)


def _tables(people: Partitions, judge: Partitions) -> list[Floats]:
    """Contingency table of each question, people's classes in rows."""
    if not len(people) == len(judge) > 0:
        raise ValueError(f"people and judge must speak of the same questions; got {len(people)} and {len(judge)}")
    return [contingency(integers(a, "people"), integers(b, "judge")) for a, b in zip(people, judge, strict=True)]
