r"""SemX: residuals that are zero on average when a model is calibrated, at any number of answers.

A block of s responses selects a class; the bin is the share j/s of the block that the class has; confidence is the
class's frequency on the other M - s responses. Averaged over all blocks, exactly, question q gives bin b

.. math:: r_{qb} = \sum_k \sum_{j :\, j/s \in b} P(N_k = j, \hat z_N = k)
          \Bigl[\frac{c_k - j}{M - s} - Y_k\Bigr]

with N the class counts in the block and :math:`Y_k` the correctness of class k. Given the block the frequency on the
other responses has mean :math:`\pi_k`, so :math:`E\, r_{qb} = 0` for every M and s if the chance that class k is right
is :math:`\pi_k`: calibration class by class. Sem1 chooses and measures on the same responses, and Sem2 is binned by its
own noise; so their calibration errors are far from zero for such a model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semece.stats.calibration.bins import bin_index
from semece.stats.counts import Counts, per_question
from semece.stats.counts.binned_blocks import binned_selection
from semece.stats.estimators import stated
from semece.stats.estimators.count_arguments import selection_sizes
from semece.stats.estimators.estimate_table import counts_of_many
from semece.stats.rows import check_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from semece.stats.calibration.bins import Closed
    from semece.stats.counts.binned_blocks import BinnedSelection
    from semece.stats.estimators.estimate_table import Labels

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]
    PerClass = Sequence[Any] | NDArray[np.generic]

ROUNDING = 1e-14
"""A selection probability below this is a rounding error; its entry is left out."""


class SemX(NamedTuple):
    """Residuals of many questions by bin, one entry for each question and bin that a block can select from.

    Parameters
    ----------
    question, bin : ndarray of int, shape (E,)
        Position of the question in what :func:`semx` was given, and bin from 0; in this order.
    value : ndarray, shape (E,)
        Held-out frequency minus correctness of the selected class, times the chance that it is selected in this bin; in
        [-1, 1]. Positive: over-confident. Classes without a grade count as wrong.
    ungraded : ndarray, shape (E,)
        Chance that a class without a grade is selected in this bin: over the gradings of those classes the residual
        lies between ``value - ungraded`` and ``value``.
    chance, held_out : ndarray, shape (E,)
        Chance that a class is selected in this bin, and the same times its mean held-out frequency; in [0, 1].
    questions, n_select : ndarray of int, shape (N,)
        Questions that enter, and the size s of their selection block.
    low, high : ndarray, shape (L,)
        Edges of the bins.
    """

    question: Integers
    bin: Integers
    value: Floats
    ungraded: Floats
    chance: Floats
    held_out: Floats
    questions: Integers
    n_select: Integers
    low: Floats
    high: Floats


def semx(
    labels: Labels | None = None,
    correct: PerClass | None = None,
    *,
    counts: Counts | None = None,
    refused: PerClass | None = None,
    n_select: int | None = None,
    budget: int | None = None,
    n_bins: int = 10,
    closed: Closed = "left",
) -> SemX:
    r"""Compute the residuals of SemX, averaged over all selection blocks, exactly.

    Parameters
    ----------
    labels : sequence of Q label sequences, or integer array of shape (Q, M)
        Classes of each question's responses; the lengths may differ.
    correct : sequence of length Q, or array aligned with ``Counts.values``
        Correctness of each class in [0, 1], fixed without regard to which block a response is in: per question a
        sequence with one value per class, indexed by label, or None. None and nan: not graded.
    counts : Counts, optional
        Class counts instead of labels.
    refused : like ``correct``, optional
        1 for classes that are no answer. They are removed from the counts before anything else: kept as a class they
        make a calibrated model look over-confident by 0.07 to 0.11.
    n_select : int, optional
        Size s of every selection block; by default half of each question's answers, rounded down.
    budget : int, optional
        The residuals that n answers per question would have given, in expectation over which n of them: those of a
        selection block of n // 2. Questions with fewer than n answers do not enter. Not together with ``n_select``.
    n_bins, closed
        Bins of the share j/s, as in :func:`semece.ece`.

    Returns
    -------
    SemX
        Of the questions with at least two answers that are no refusals.

    Raises
    ------
    ValueError
        If no question enters, an argument is out of range, or there is not one value per class.

    Notes
    -----
    The sum over bins of the mean residual is mean(Sem2) minus the accuracy of the selected answer
    (``correct_split`` of :func:`semece.estimate`) where nothing is refused or ungraded. With s = 1 (two or three
    answers) there is one bin, with s = 2 two. What is estimated is the error of the answer that s responses would
    choose: compare runs at equal M and s. A class that holds two meanings is right if any of them is; one right meaning
    that is split into two right classes moves the residual by -0.002 to -0.006 for 10 % of such questions. A model
    that is calibrated in its most probable answer alone has a positive gap (0.07 to 0.09). Proof and counter-examples
    are in the documentation's theory.

    Examples
    --------
    >>> residuals = semx([[0, 0, 1], [0, 1, 1, 1]], [[1, 0], [0, 1]])
    >>> residuals.question.tolist(), residuals.bin.tolist(), residuals.value.round(6).tolist()
    ([0, 1, 1], [9, 5, 9], [-0.333333, 0.0, -0.25])
    """
    every = counts_of_many(labels, counts)
    grades = _per_class("correct", correct, every)
    usable = every.values if refused is None else np.where(_per_class("refused", refused, every) > 0, 0, every.values)
    answers = Counts(usable, every.offsets)
    questions = _entering(answers.responses, n_select, budget)
    some, places = answers.take(questions)
    sizes = selection_sizes(some, n_select if budget is None else budget // 2)
    values = np.stack([np.nan_to_num(grades[places]), np.isnan(grades[places]).astype(np.float64)])
    edges = np.arange(check_count("n_bins", n_bins) + 1) / n_bins
    parts = [
        _entries(found, questions[found.questions], (some.responses - sizes)[found.questions])
        for found in binned_selection(
            some,
            sizes,
            values,
            bins=lambda s: bin_index(np.arange(s + 1) / s, n_bins=n_bins, closed=closed),
            n_bins=n_bins,
        )
    ]
    question, place, *numbers = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((place, question))
    value, ungraded, chance, held_out = (column[order] for column in numbers)
    return SemX(
        *(question[order], place[order], value, ungraded, chance, held_out), questions, sizes, edges[:-1], edges[1:]
    )


def _entries(found: BinnedSelection, questions: Integers, evaluated: Integers) -> tuple[NDArray[Any], ...]:
    """Question, bin, value, ungraded, chance and held-out mass of the bins that can be selected from."""
    row, place = np.nonzero(found.chance > ROUNDING)
    chance, right, unknown = found.chance[row, place], found.first[row, place], found.second[row, place]
    held_out = np.clip(found.outside[row, place] / evaluated[row], 0.0, chance)
    return questions[row], place, held_out - right, unknown, chance, held_out


def _entering(answers: Integers, n_select: int | None, budget: int | None) -> Integers:
    """List the questions with enough answers."""
    if n_select is not None and budget is not None:
        raise ValueError("give either n_select or budget; got both")
    least = 2 if budget is None else check_count("budget", budget, least=2)
    questions = np.flatnonzero(answers >= least)
    if len(questions) == 0:
        raise ValueError(f"at least one question must have {least} answers; got at most {answers.max(initial=0)}")
    return questions


def _per_class(name: str, values: PerClass | None, counts: Counts) -> Floats:
    """One number per class of all questions; nan where there is none."""
    if values is None:
        return np.full(len(counts.values), np.nan)
    column = stated.column(values)
    if column is not None and column.ndim == 1:
        flat = stated.numbers(column, name)
        if len(flat) != len(counts.values):
            raise ValueError(f"{name} must have one value per class ({len(counts.values)}); got {len(flat)}")
        return flat
    if len(values) != len(counts):
        raise ValueError(f"{name} must have one entry per question ({len(counts)}); got {len(values)}")
    sizes = np.diff(counts.offsets).tolist()
    rows = [_row(name, entry, size, q) for q, (entry, size) in enumerate(zip(values, sizes, strict=True))]
    return stated.numbers([value for row in rows for value in row], name)


def _row(name: str, entry: ArrayLike | None, size: int, q: int) -> list[Any]:
    """Check the values of one question's classes."""
    row = [None] * size if entry is None else np.asarray(entry, dtype=object).tolist()
    if not isinstance(row, list) or len(row) != size:
        got = len(row) if isinstance(row, list) else repr(row)
        raise ValueError(f"{name} of question {q} must have one value per class ({size}); got {got}")
    return row


class SemXCurve(NamedTuple):
    """SemX at some numbers of answers.

    Parameters
    ----------
    budgets : ndarray of int, shape (B,)
        Answers per question.
    questions : ndarray of int, shape (B,)
        How many questions have so many answers; 0 where none has.
    gap, ece : ndarray, shape (B,)
        Held-out gap in [-1, 1] and SemX-ECE in [0, 1], classes without a grade counted as wrong; nan without questions.
    """

    budgets: Integers
    questions: Integers
    gap: Floats
    ece: Floats


def semx_curve(
    labels: Labels | None = None,
    correct: PerClass | None = None,
    *,
    budgets: Sequence[int],
    counts: Counts | None = None,
    refused: PerClass | None = None,
    n_bins: int = 10,
    closed: Closed = "left",
) -> SemXCurve:
    """Compute the held-out gap and SemX-ECE at smaller numbers of answers, without drawing any.

    A residual is an average over blocks, so its expectation over subsamples of n answers is that of the whole pool with
    a selection block of n // 2. Unlike for Sem1, the calibration error of expected residuals is what a study with n
    answers estimates; a study's own value is larger by its noise.

    Parameters
    ----------
    labels, correct, counts, refused, n_bins, closed
        As in :func:`semx`.
    budgets : sequence of int, length B
        Answers per question, each at least 2.

    Returns
    -------
    SemXCurve

    Raises
    ------
    ValueError
        For no budget or one below 2, and as in :func:`semx`.

    Examples
    --------
    >>> curve = semx_curve([[0, 0, 1, 0]], [[1, 0]], budgets=[2, 4, 6])
    >>> curve.questions.tolist(), curve.gap.round(6).tolist()
    ([1, 1, 0], [-0.25, -0.25, nan])
    """
    sizes = np.array([check_count("budgets", n, least=2) for n in budgets], dtype=np.int64)
    if len(sizes) == 0:
        raise ValueError("budgets must not be empty")
    every = counts_of_many(labels, counts)
    gone = np.zeros(len(every.values)) if refused is None else _per_class("refused", refused, every)
    answers = per_question(np.add, np.where(gone > 0, 0, every.values), every.offsets)
    enough = np.array([(answers >= n).sum() for n in sizes])
    found = np.full((len(sizes), 2), np.nan)
    for at in np.flatnonzero(enough):
        budget = int(sizes[at])
        part = semx(correct=correct, counts=every, refused=refused, budget=budget, n_bins=n_bins, closed=closed)
        mean = np.bincount(part.bin, part.value, n_bins) / len(part.questions)
        found[at] = mean.sum(), np.abs(mean).sum()
    return SemXCurve(sizes, enough, found[:, 0], found[:, 1])
