"""Which class's correctness goes with a confidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from semece.stats.counts import Counts, Ties, per_question, subset_selection
from semece.stats.estimators.count_arguments import OneRow, questions, selection_sizes
from semece.stats.estimators.frequencies import mode
from semece.stats.estimators.stated import numbers
from semece.stats.rows import Floats, check_choice

Grades = Sequence[float | None] | NDArray[np.generic]

Pairing = Literal["pooled", "split"]
"""Correctness of the mode of all responses (the paper's tables), or of the class a block selects (its definition)."""

TieValue = Literal["mean", "earliest", "uniform", "lowest"]
"""Tied modes: their mean, or the earliest of them; a tie in the selection: at random, or the lowest label."""


class PairingOptions(TypedDict, total=False):
    """Which answer is meant."""

    pairing: Pairing
    ties: TieValue | None
    n_select: int | None


@overload
def correctness(
    correct: Grades, labels: None = None, /, *, counts: Counts, **options: Unpack[PairingOptions]
) -> Floats: ...
@overload
def correctness(
    correct: Grades, labels: OneRow = None, /, *, counts: OneRow = None, **options: Unpack[PairingOptions]
) -> float: ...
def correctness(
    correct: Grades,
    labels: OneRow = None,
    /,
    *,
    counts: OneRow | Counts = None,
    pairing: Pairing = "pooled",
    ties: TieValue | None = None,
    n_select: int | None = None,
) -> float | Floats:
    r"""Correctness of the answer that a confidence is about, from the correctness of each class.

    Pooled, the answer is the mode of all responses. Split, it is the class that a selection block selects, which is
    random: :math:`\sum_k P(\hat z_N = k) Y(k)`.

    Parameters
    ----------
    correct : sequence of float or None, shape (K,), or aligned with ``Counts.values``
        Correctness of each class in [0, 1]; None or nan where it was not graded.
    labels, counts
        As in :func:`~semece.stats.estimators.sem1`.
    pairing : {'pooled', 'split'}
        Which answer.
    ties : str, optional
        Pooled: 'mean' over tied modes (default; the order of responses then does not matter), or 'earliest' (the
        paper). Split: 'uniform' (default) or 'lowest' (the authors), as in :func:`~semece.stats.estimators.sem2`.
    n_select : int, optional
        Size of the selection block of the split pairing, by default M // 2.

    Returns
    -------
    float, or ndarray of shape (Q,) for Counts
        In [0, 1]; nan if a class that matters was not graded.

    Raises
    ------
    ValueError
        If there is not one value per class, or an argument is out of range.

    Examples
    --------
    >>> correctness([1.0, 0.0], [0, 1, 0, 1])
    0.5
    >>> correctness([1.0, 0.0, 0.0], counts=[2, 1, 1], pairing="split")
    0.5
    """
    check_choice("pairing", pairing, ("pooled", "split"))
    checked = questions(labels, counts)
    values = numbers(correct, "correct")
    if len(values) != len(checked.values):
        raise ValueError(f"correct must have one value per class ({len(checked.values)}); got {len(values)}")
    if pairing == "pooled":
        weights = _pooled_weights(checked, labels, ties or "mean")
    else:
        check_choice("ties", ties or "uniform", ("uniform", "lowest"))
        rule: Ties = "lowest" if ties == "lowest" else "uniform"
        weights = subset_selection(checked, selection_sizes(checked, n_select), ties=rule).probability
    means = weighted(checked, weights, values)
    return means if isinstance(counts, Counts) else float(means[0])


def weighted(counts: Counts, weights: Floats, values: Floats) -> Floats:
    """Weighted mean in [0, 1] of the values of each question's classes; those of weight 0 do not matter."""
    means: Floats = per_question(np.add, np.where(weights > 0, weights * values, 0.0), counts.offsets)
    return np.clip(means, 0.0, 1.0)  # weights that add up to 1 + 2e-16 would make 1 + 2e-16 of ones


def _pooled_weights(counts: Counts, labels: OneRow, ties: str) -> Floats:
    """Weights of the modes: equal, or all on the one that appeared first."""
    check_choice("ties", ties, ("mean", "earliest"))
    if ties == "mean":
        return counts.mode_weights
    weights = np.zeros(len(counts.values))
    weights[counts.first_mode if labels is None else mode(labels)] = 1.0
    return weights
