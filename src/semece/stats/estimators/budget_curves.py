r"""What fewer responses would have given, exactly, from the responses that are there.

For a budget n <= M a subsample of n responses is drawn without replacement. The expectation of Sem1 is the expected
largest count of the subsample over n. The expectation of Sem2 is Sem2 of the **whole** pool with a selection block of
n // 2: given that block, every response outside it is as likely as any other to be an evaluation response.

These are expectations question by question. A calibration error of expected confidences is not the expected
calibration error of a study with that budget: label such a curve 'expected confidences'. The distribution of Sem1 at a
budget is :func:`sem1_distribution`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from semece.stats.counts import Counts, Selection, once_per_counts, subset_maximum, subset_selection
from semece.stats.estimators.count_arguments import OneRow, questions
from semece.stats.estimators.held_out import held_out_frequency
from semece.stats.rows import Floats, Integers, check_count


class BudgetCurve(NamedTuple):
    """Expected confidences at some budgets.

    Parameters
    ----------
    budgets : ndarray of int, shape (B,)
        Responses per question.
    sem1, sem2 : ndarray, shape (B,), or (B, Q) for Counts
        Expectations over subsamples, in [0, 1]; nan where a question has fewer responses than the budget, and for
        ``sem2`` at a budget of 1.
    """

    budgets: Integers
    sem1: Floats
    sem2: Floats


def budget_curve(labels: OneRow = None, /, *, counts: OneRow | Counts = None, budgets: Sequence[int]) -> BudgetCurve:
    """Compute expected Sem1 and Sem2 of random subsamples of each size in ``budgets``, without drawing any.

    Parameters
    ----------
    labels, counts
        As in :func:`semece.sem1`.
    budgets : sequence of int, length B
        Sizes n >= 1.

    Returns
    -------
    BudgetCurve

    Raises
    ------
    ValueError
        If there is no budget, one is no whole number >= 1, or a question has no response.

    Examples
    --------
    >>> curve = budget_curve([0, 0, 1, 0], budgets=[2, 4])
    >>> curve.sem1.round(6).tolist(), curve.sem2.round(6).tolist()
    ([0.75, 0.75], [0.5, 0.5])
    """
    checked = questions(labels, counts)
    if not hasattr(budgets, "__iter__"):
        raise ValueError(f"budgets must be a sequence of whole numbers; got {budgets!r}")
    sizes = np.array([check_count("budgets", n) for n in budgets], dtype=np.int64)
    if len(sizes) == 0:
        raise ValueError("budgets must not be empty")
    different, number = checked.distinct()
    calls = 2 * len(sizes)
    selections = {n // 2: _select(different, (n // 2, calls)) for n in sizes.tolist() if n > 1}
    sem1 = np.full((len(sizes), len(different)), np.nan)
    sem2 = sem1.copy()
    for b, n in enumerate(sizes.tolist()):
        enough = np.flatnonzero(different.responses >= n)
        some = different.take(enough)[0]
        if n in selections:
            largest = selections[n].largest[enough]
        else:
            largest = subset_maximum(some, n, calls=calls) @ np.arange(n + 1)
        sem1[b, enough] = largest / n
        if n > 1:
            found = Selection(*(column[..., enough] for column in selections[n // 2]))
            sem2[b, enough] = held_out_frequency(some, np.full(len(some), n // 2), found)
    asked = number if isinstance(counts, Counts) else number[0]
    return BudgetCurve(sizes, sem1[:, asked], sem2[:, asked])


@once_per_counts
def _select(counts: Counts, size_and_calls: tuple[int, int]) -> Selection:
    """Select on blocks; nan for questions with fewer responses, and no class probabilities."""
    size, calls = size_and_calls
    enough = np.flatnonzero(counts.responses >= size)
    found = subset_selection(counts.take(enough)[0], size, calls=calls)
    out = Selection(*np.full((3, len(counts)), np.nan))
    out.largest[enough], out.selected[enough] = found.largest, found.selected
    return out


def sem1_distribution(labels: OneRow = None, /, *, counts: OneRow | Counts = None, n: int) -> Floats:
    """Distribution of Sem1 on a random subsample of n responses: P(largest count = j), j = 0..n.

    Parameters
    ----------
    labels, counts
        As in :func:`semece.sem1`.
    n : int
        Size of the subsample, 1 <= n <= M of every question.

    Returns
    -------
    ndarray, shape (n + 1,), or (Q, n + 1) for Counts
        Sums to 1; Sem1 is j / n.

    Raises
    ------
    ValueError
        If n is out of range for a question.

    Examples
    --------
    >>> sem1_distribution([0, 0, 1, 2], n=2).round(6).tolist()
    [0.0, 0.833333, 0.166667]
    """
    checked = questions(labels, counts)
    size = check_count("n", n)
    if (checked.responses < size).any():
        q = int(checked.responses.argmin())
        raise ValueError(f"n must be at most {checked.responses[q]}, the responses of question {q}; got {size}")
    table = subset_maximum(checked, size)
    return table if isinstance(counts, Counts) else table[0]
