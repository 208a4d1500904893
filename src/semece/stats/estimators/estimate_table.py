"""All confidences of many questions in one table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semece.stats.counts import Counts, per_question, subset_selection
from semece.stats.estimators import stated
from semece.stats.estimators.count_arguments import selection_sizes
from semece.stats.estimators.frequencies import margin, n_classes, sem1, top_two_mass
from semece.stats.estimators.held_out import held_out_frequency, sem2_of_splits
from semece.stats.estimators.pairing import weighted
from semece.stats.rows import Bools, Floats, Integers, check_choice

if TYPE_CHECKING:
    import polars as pl

    from semece.stats.counts import WeightedTable
    from semece.stats.estimators.stated import Missing

Labels = Sequence[ArrayLike] | NDArray[np.integer]


def estimate(
    labels: Labels | None = None,
    correct: Sequence[Any] | Floats | None = None,
    verbalized: Sequence[Any] | Floats | None = None,
    *,
    counts: Counts | None = None,
    missing: Missing = "drop",
    method: Literal["exact", "splits"] = "exact",
    ties: Literal["mean", "earliest"] = "mean",
) -> pl.DataFrame:
    """Confidences and correctness of many questions, one row each.

    Parameters
    ----------
    labels : sequence of Q label sequences, or integer array of shape (Q, M)
        Classes of each question's responses; the lengths may differ.
    correct : sequence of length Q, optional
        Per question the correctness of its deployed answer in [0, 1] (None or nan: not graded), or a sequence with one
        value per class, indexed by label. Only the latter gives ``correct_split``.
    verbalized : sequence of length Q, optional
        Per question its stated confidences (None where missing), or their mean.
    counts : Counts, optional
        Class counts instead of labels.
    missing : {'drop', 'one'}
        What a missing stated confidence counts as, see :func:`~semece.stats.estimators.verbalized`.
    method : {'exact', 'splits'}
        Sem2 over all selection blocks, or as the authors (10 random halves), see :func:`~semece.stats.estimators.sem2`.
    ties : {'mean', 'earliest'}
        Correctness of tied modes, see :func:`~semece.stats.estimators.correctness`.

    Returns
    -------
    polars.DataFrame
        Columns ``question_id`` (position), ``status``, ``n_responses``, ``n_classes``, ``margin``, ``top_two_mass``,
        ``sem1``, ``sem2``, ``verbalized``, ``correct``, ``correct_split``. ``status`` is 'complete', or why the row
        enters no metric: 'too_few' (fewer than two responses) or 'ungraded'. What cannot be had is null.

    Raises
    ------
    ValueError
        If an argument is out of range or the lengths differ.

    Examples
    --------
    >>> table = estimate([[0, 0, 1], [0]], [[1.0, 0.0], [1.0]])
    >>> table["status"].to_list(), table["sem2"].round(6).to_list(), table["correct_split"].round(6).to_list()
    (['complete', 'too_few'], [0.333333, None], [0.666667, None])
    """
    check_choice("missing", missing, ("drop", "one"))
    check_choice("method", method, ("exact", "splits"))
    check_choice("ties", ties, ("mean", "earliest"))
    checked = counts_of_many(labels, counts)
    if labels is None and method == "splits":
        raise ValueError("method='splits' needs labels; got counts, which have no order")
    for name, given in (("correct", correct), ("verbalized", verbalized)):
        if given is not None and not hasattr(given, "__len__"):
            raise ValueError(f"{name} must be a sequence with one entry per question; got {given!r}")
        if given is not None and len(given) != len(checked):
            raise ValueError(f"{name} must have one entry per question ({len(checked)}); got {len(given)}")
    means = _means(verbalized, missing, len(checked))
    ordered = _Ordered(labels, method == "splits", ties)
    return _table(checked, _grades(checked, correct), means, ordered)


def weighted_estimates(table: WeightedTable) -> pl.DataFrame:
    """Confidences and correctness of distinct questions, one row each.

    Parameters
    ----------
    table : WeightedTable
        R distinct questions.

    Returns
    -------
    polars.DataFrame
        The columns of :func:`estimate`, and ``weight``: how many questions are like this one.

    Examples
    --------
    >>> from semece.stats.counts import partial
    >>> labels, offsets = np.array([0, 0, 1, 1, 0, 1]), np.array([0, 3, 6])
    >>> table = partial(labels, offsets, np.array([1, 0, 0, 1]), np.array([0, 2, 4]))
    >>> weighted_estimates(table).select("sem1", "correct", "weight").rows()
    [(0.6666666666666666, 1.0, 2)]
    """
    import polars as pl

    counts, n = table.counts, len(table.weights)
    grades = Grades(np.full(n, np.nan), table.correct, np.ones(n, dtype=bool))
    found = _table(counts, grades, table.verbalized, _Ordered(None, splits=False, ties="mean"))
    return found.with_columns(pl.Series("weight", table.weights))


def counts_of_many(labels: Labels | None, counts: Counts | None) -> Counts:
    """Count the labels if there are any."""
    if labels is not None and counts is None:
        return Counts.from_labels(labels)
    if counts is not None and labels is None:
        if not isinstance(counts, Counts):
            raise ValueError(f"counts must be made by Counts.from_counts; got {type(counts).__name__}")
        return counts
    raise ValueError("give either labels or counts=; got " + ("neither" if labels is None else "both"))


class Grades(NamedTuple):
    """Correctness as it was given: one number per question, or one per class; nan where there is none."""

    questions: Floats
    classes: Floats
    per_class: Bools


class _Ordered(NamedTuple):
    """What depends on the order of responses: the labels, if there are any, and whether Sem2 and ties use it."""

    labels: Labels | None
    splits: bool
    ties: str


def _table(counts: Counts, grades: Grades, verbalized: Floats, ordered: _Ordered) -> pl.DataFrame:
    """Compute all columns."""
    import polars as pl

    different, number = counts.distinct()
    columns = {name: values[number] for name, values in _frequencies(different).items()}
    columns |= {"question_id": np.arange(len(counts)), "verbalized": verbalized}
    if ordered.splits or grades.per_class.any():
        columns |= _held_out(counts, grades, ordered.labels if ordered.splits else None)
    else:
        ungraded = Grades(np.empty(0), np.empty(0), np.zeros(len(different), dtype=bool))
        columns |= {name: values[number] for name, values in _held_out(different, ungraded, None).items()}
    columns["correct"] = _pooled(counts, grades, ordered.labels, ordered.ties)
    graded = np.where(np.isnan(columns["correct"]), "ungraded", "complete")
    columns["status"] = np.where(counts.responses < 2, "too_few", graded)
    return pl.DataFrame({name: columns[name] for name in COLUMNS}, nan_to_null=True)


def _grades(counts: Counts, correct: Sequence[Any] | Floats | None) -> Grades:
    """Sort what was given into numbers per question and numbers per class."""
    n = len(counts)
    grades = Grades(np.full(n, np.nan), np.full(len(counts.values), np.nan), np.zeros(n, dtype=bool))
    if correct is None:
        return grades
    column = stated.column(correct)
    if column is not None and column.ndim == 1:
        return grades._replace(questions=stated.numbers(column, "correct"))
    single: list[float | None] = [None] * n
    for q, entry in enumerate(correct):
        if entry is None or np.ndim(entry) == 0:
            single[q] = entry
            continue
        name, first, last = f"correct of question {q}", counts.offsets[q], counts.offsets[q + 1]
        if len(entry) != last - first:
            raise ValueError(f"{name} must have one value per class ({last - first}); got {len(entry)}")
        grades.classes[first:last] = stated.numbers(entry, name)
        grades.per_class[q] = True
    return grades._replace(questions=stated.numbers(single, "correct"))


def _frequencies(counts: Counts) -> dict[str, NDArray[Any]]:
    """Columns that need one response."""
    there = np.flatnonzero(counts.responses > 0)
    some, n = counts.take(there)[0], len(counts)
    columns: dict[str, NDArray[Any]] = {"n_responses": counts.responses, "n_classes": np.zeros(n, dtype=np.int64)}
    columns["n_classes"][there] = n_classes(counts=some)
    for name, formula in (("margin", margin), ("top_two_mass", top_two_mass), ("sem1", sem1)):
        columns[name] = _place(formula(counts=some), there, n)
    return columns


def _held_out(counts: Counts, grades: Grades, labels: Labels | None) -> dict[str, Floats]:
    """Columns that need two responses; Sem2 from random splits if labels are given."""
    there = np.flatnonzero(counts.responses > 1)
    some, places = counts.take(there)
    sizes = selection_sizes(some, None)
    found = subset_selection(some, sizes)
    if labels is None:
        confidence = held_out_frequency(some, sizes, found)
    else:
        confidence = sem2_of_splits([labels[q] for q in there.tolist()])
    split = np.full(len(there), np.nan)
    if grades.per_class.any():
        split = np.where(grades.per_class[there], weighted(some, found.probability, grades.classes[places]), np.nan)
    return {"sem2": _place(confidence, there, len(counts)), "correct_split": _place(split, there, len(counts))}


def _pooled(counts: Counts, grades: Grades, labels: Labels | None, ties: str) -> Floats:
    """Correctness of the mode of all responses, where it was given per class; else what was given."""
    if not grades.per_class.any():
        return grades.questions
    weights = counts.mode_weights
    if ties == "earliest":
        first = counts.first_mode[counts.responses > 0] if labels is None else _earliest(counts, labels)
        weights[:] = 0.0
        weights[first] = 1.0
    means = weighted(counts, weights, grades.classes)
    return np.where(grades.per_class & (counts.responses > 0), means, grades.questions)


def _earliest(counts: Counts, labels: Labels) -> Integers:
    """Position in ``counts.values`` of the mode whose first response came earliest, of each question that has one."""
    responses = counts.responses
    places = np.concatenate([np.asarray(part, dtype=np.int64) for part in labels])
    places += np.repeat(counts.offsets[:-1], responses)
    order = np.where(counts.is_mode[places], np.arange(len(places)), len(places))
    first = per_question(np.minimum, order, np.concatenate([[0], np.cumsum(responses)]))
    return np.asarray(places[first[responses > 0]])


def _means(verbalized: Sequence[Any] | Floats | None, missing: Missing, n: int) -> Floats:
    """Mean stated confidence of each question."""
    if verbalized is None:
        return np.full(n, np.nan)
    column = stated.column(verbalized)
    if column is not None and column.ndim == 1:
        return stated.numbers(column, "confidence")

    def mean(q: int) -> float | None:
        entry = verbalized[q]
        given = entry is None or np.ndim(entry) == 0
        return entry if given else stated.mean(stated.numbers(entry, f"confidence of question {q}"), missing)

    return stated.numbers([mean(q) for q in range(n)], "confidence")


def _place(values: Floats, where: Integers, n: int) -> Floats:
    """Put values where they belong among n; nan elsewhere."""
    out = np.full(n, np.nan)
    out[where] = values
    return out


COLUMNS = (
    *("question_id", "status", "n_responses", "n_classes", "margin", "top_two_mass"),
    *("sem1", "sem2", "verbalized", "correct", "correct_split"),
)
"""Columns of the table, in order."""
