"""Confidence from the class frequencies of a question's responses.

Every function takes the labels of one question positionally, or its class counts as ``counts=``. Labels are integers
from 0; counts are listed by label, so that index 0 is the class that appeared first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from semece.counts import subset_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from numpy.typing import ArrayLike, NDArray

    from semece.counts import Ties

Missing = Literal["drop", "one"]
"""What a missing stated confidence counts as: nothing, or 1.0 (the paper)."""


def sem1(labels: ArrayLike | None = None, /, *, counts: ArrayLike | None = None) -> float:
    r"""Frequency of the most frequent class, the plug-in confidence.

    .. math:: \hat c_1 = \max_k c_k / M

    Parameters
    ----------
    labels : array_like of int, shape (M,)
        Class of each response.
    counts : array_like of int, shape (K,)
        Class counts instead.

    Returns
    -------
    float
        In [1/K, 1]; 1 if M = 1.

    Raises
    ------
    ValueError
        If there is no response, or not exactly one of ``labels`` and ``counts``.

    Examples
    --------
    >>> sem1([0, 0, 1, 0])
    0.75
    """
    c = _one_question(labels, counts)
    return float(c.max() / c.sum())


def sem2(
    labels: ArrayLike | None = None,
    /,
    *,
    counts: ArrayLike | None = None,
    n_select: int | None = None,
    ties: Ties = "uniform",
    method: Literal["exact"] = "exact",
) -> float:
    r"""Held-out frequency of the class selected on a disjoint block, averaged over all blocks.

    .. math:: \hat c_2 = \sum_k \sum_j P(N_k = j, \hat z_N = k) \frac{c_k - j}{M - s}

    with N the class counts in a selection block of s responses drawn without replacement.

    Parameters
    ----------
    labels : array_like of int, shape (M,)
        Class of each response, M >= 2.
    counts : array_like of int, shape (K,)
        Class counts instead.
    n_select : int, optional
        Size s of the selection block, 1 <= s <= M - 1; by default M // 2.
    ties : {'uniform', 'lowest'}
        How ties in the selection are broken. Labels are numbered after seeing all responses, so 'lowest' lets the
        evaluation block leak into the selection and biases upwards.
    method : {'exact'}
        The average over all blocks.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        If M < 2 or an argument is out of range.

    Examples
    --------
    >>> round(sem2([0, 0, 1, 0]), 12)
    0.5
    """
    c = _one_question(labels, counts)
    s = _selection_size(int(c.sum()), n_select)
    if method != "exact":
        raise ValueError(f"method must be 'exact'; got {method!r}")
    table = subset_table(c[c > 0], s, ties=ties)
    held_out = np.subtract.outer(c[c > 0], np.arange(table.shape[1])) / (c.sum() - s)
    return float(np.clip((table * held_out).sum(), 0.0, 1.0))


def selection_probability(
    labels: ArrayLike | None = None,
    /,
    *,
    counts: ArrayLike | None = None,
    n_select: int | None = None,
    ties: Ties = "uniform",
) -> NDArray[np.float64]:
    """Probability of each class to be selected on a random block of ``n_select`` responses.

    Parameters
    ----------
    labels, counts, n_select, ties
        As in :func:`sem2`; here ``n_select`` may also be M.

    Returns
    -------
    ndarray, shape (K,)
        Sums to 1. Index k is label k.

    Examples
    --------
    >>> selection_probability(counts=[2, 1, 1], n_select=2).round(12).tolist()
    [0.5, 0.25, 0.25]
    """
    c = _one_question(labels, counts)
    n_responses = int(c.sum())
    s = n_responses if n_select == n_responses else _selection_size(n_responses, n_select)
    out = np.zeros(len(c))
    out[c > 0] = subset_table(c[c > 0], s, ties=ties).sum(axis=1)
    return out


def pmf(labels: ArrayLike | None = None, /, *, counts: ArrayLike | None = None) -> NDArray[np.float64]:
    r"""Class frequencies :math:`\hat\pi_k = c_k / M`, by label.

    Examples
    --------
    >>> pmf([0, 0, 1, 0]).tolist()
    [0.75, 0.25]
    """
    c = _one_question(labels, counts)
    return np.asarray(c / c.sum())


def mode(labels: ArrayLike | None = None, /, *, counts: ArrayLike | None = None) -> int:
    """Label of the most frequent class; of tied classes the one whose first response came earliest.

    With ``counts``, classes are taken to be listed by first appearance.

    Examples
    --------
    >>> mode([1, 0, 0, 1])
    1
    """
    c = _one_question(labels, counts)
    if labels is None:
        return int(c.argmax())
    values = np.asarray(labels)
    return int(values[np.argmax(c[values] == c.max())])


def margin(labels: ArrayLike | None = None, /, *, counts: ArrayLike | None = None) -> float:
    r"""Difference of the two largest frequencies, :math:`\Delta = (c_{(1)} - c_{(2)}) / M`; 1 if there is one class.

    Examples
    --------
    >>> margin([0, 0, 1, 0])
    0.5
    """
    c = _one_question(labels, counts)
    first, second = _top_two(c)
    return float((first - second) / c.sum())


def top_two_mass(labels: ArrayLike | None = None, /, *, counts: ArrayLike | None = None) -> float:
    """Sum of the two largest frequencies, :math:`p = (c_{(1)} + c_{(2)}) / M`.

    Examples
    --------
    >>> top_two_mass([0, 0, 1, 2])
    0.75
    """
    c = _one_question(labels, counts)
    return float(sum(_top_two(c)) / c.sum())


def n_classes(labels: ArrayLike | None = None, /, *, counts: ArrayLike | None = None) -> int:
    """Count the observed classes, K.

    Examples
    --------
    >>> n_classes([0, 0, 1, 0])
    2
    """
    return int(np.count_nonzero(_one_question(labels, counts)))


def verbalized(confidences: Sequence[float | None], *, missing: Missing = "drop") -> float | None:
    """Mean of the stated confidences of one question.

    Parameters
    ----------
    confidences : sequence of float or None
        Stated confidences in [0, 1]; None or nan where a response states none.
    missing : {'drop', 'one'}
        Leave missing ones out, or count them as 1.0 (the paper).

    Returns
    -------
    float or None
        In [0, 1]; None if nothing is left to average.

    Raises
    ------
    ValueError
        If a confidence lies outside [0, 1].

    Examples
    --------
    >>> verbalized([0.5, None, 0.75])
    0.625
    >>> verbalized([0.5, None, 0.75], missing="one")
    0.75
    """
    if missing not in {"drop", "one"}:
        raise ValueError(f"missing must be 'drop' or 'one'; got {missing!r}")
    values = np.array([np.nan if c is None else c for c in confidences], dtype=np.float64)
    there = ~np.isnan(values)
    bad = there & ~((values >= 0) & (values <= 1))
    if bad.any():
        index = int(bad.argmax())
        raise ValueError(f"confidence must lie in [0, 1]; got {values[index]} at index {index}")
    values = np.where(there, values, 1.0) if missing == "one" else values[there]
    return float(values.mean()) if len(values) else None


def estimate(
    labels: Sequence[ArrayLike],
    correct: Sequence[Any] | None = None,
    verbalized: Sequence[Any] | None = None,
    *,
    missing: Missing = "drop",
) -> pl.DataFrame:
    """Confidences and correctness of many questions, one row each.

    Parameters
    ----------
    labels : sequence of Q label sequences
        Classes of each question's responses; the lengths may differ.
    correct : sequence of length Q, optional
        Per question the correctness of its deployed answer in [0, 1] (None: not graded), or a sequence with one value
        per class, indexed by label. Only the latter gives ``correct_split``.
    verbalized : sequence of length Q, optional
        Per question its stated confidences (None where missing), or their mean.
    missing : {'drop', 'one'}
        See :func:`verbalized`.

    Returns
    -------
    polars.DataFrame
        Columns ``question_id`` (position), ``status``, ``n_responses``, ``n_classes``, ``margin``, ``top_two_mass``,
        ``sem1``, ``sem2``, ``verbalized``, ``correct``, ``correct_split``. ``status`` is 'complete', or why the row
        enters no metric: 'too_few' (fewer than two responses) or 'ungraded'. What cannot be had is null.

    Examples
    --------
    >>> table = estimate([[0, 0, 1], [0]], [[1.0, 0.0], [1.0]])
    >>> table["status"].to_list(), table["sem2"].round(6).to_list(), table["correct_split"].round(6).to_list()
    (['complete', 'too_few'], [0.333333, None], [0.666667, None])
    """
    import polars as pl

    for name, column in (("correct", correct), ("verbalized", verbalized)):
        if column is not None and len(column) != len(labels):
            raise ValueError(f"{name} must have one entry per question ({len(labels)}); got {len(column)}")
    rows = [
        _row(i, row, None if correct is None else correct[i], None if verbalized is None else verbalized[i], missing)
        for i, row in enumerate(labels)
    ]
    return pl.DataFrame(rows, schema=_schema(pl))


def _schema(pl: Any) -> dict[str, Any]:
    """Columns of :func:`estimate`."""
    text = {"status": pl.String}
    integers = dict.fromkeys(("n_responses", "n_classes"), pl.Int64)
    names = ("margin", "top_two_mass", "sem1", "sem2", "verbalized", "correct", "correct_split")
    return {"question_id": pl.Int64} | text | integers | dict.fromkeys(names, pl.Float64)


def _row(index: int, labels: ArrayLike, correct: Any, stated: Any, missing: Missing) -> dict[str, Any]:
    """One row of :func:`estimate`."""
    values = np.asarray(labels)
    row: dict[str, Any] = {"question_id": index, "status": "too_few", "n_responses": len(values), "n_classes": 0}
    if stated is not None:
        row["verbalized"] = globals()["verbalized"]([stated] if np.ndim(stated) == 0 else stated, missing=missing)
    if len(values) == 0:
        return row
    c = _one_question(values, None)
    row |= {"n_classes": n_classes(counts=c), "margin": margin(counts=c), "top_two_mass": top_two_mass(counts=c)}
    row["sem1"] = sem1(counts=c)
    row["correct"], weights = _pooled(c, correct), None
    if len(values) >= 2:
        row["sem2"] = sem2(counts=c)
        row["status"] = "ungraded" if row["correct"] is None else "complete"
        weights = selection_probability(counts=c)
    if weights is not None and correct is not None and np.ndim(correct) == 1:
        row["correct_split"] = _weighted(weights, correct)
    return row


def _pooled(c: NDArray[np.int64], correct: Any) -> float | None:
    """Mean correctness of the tied modes."""
    if correct is None or np.ndim(correct) == 0:
        return None if correct is None else float(correct)
    modes = c == c.max()
    return _weighted(modes / modes.sum(), correct)


def _weighted(weights: NDArray[np.float64], correct: Sequence[float | None]) -> float | None:
    """Weighted mean of per-class values; None if one that matters is missing."""
    if len(correct) != len(weights):
        raise ValueError(f"correct must have one value per class ({len(weights)}); got {len(correct)}")
    values = np.array([np.nan if v is None else v for v in correct], dtype=np.float64)
    used = weights > 0
    total = float(weights[used] @ values[used])
    return None if np.isnan(total) else total


def _one_question(labels: ArrayLike | None, counts: ArrayLike | None) -> NDArray[np.int64]:
    """Class counts by label of one question, checked."""
    if (labels is None) == (counts is None):
        raise ValueError("give either labels or counts=; got " + ("neither" if labels is None else "both"))
    name, given = ("counts", counts) if labels is None else ("labels", labels)
    values = np.asarray(given)
    if values.ndim != 1 or len(values) == 0 or values.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be a non-empty one-dimensional sequence of integers; "
            f"got shape {values.shape}, dtype {values.dtype}"
        )
    if values.min() < 0:
        raise ValueError(f"{name} must be >= 0; got {values.min()} at index {values.argmin()}")
    c = values.astype(np.int64) if labels is None else np.bincount(values)
    if c.sum() == 0:
        raise ValueError("counts must contain at least one response; got only zeros")
    return c


def _selection_size(n_responses: int, n_select: int | None) -> int:
    """Check the size of the selection block."""
    if n_responses < 2:
        raise ValueError(f"a held-out frequency needs at least 2 responses; got {n_responses}")
    s = n_responses // 2 if n_select is None else n_select
    if not 1 <= s <= n_responses - 1:
        raise ValueError(f"n_select must lie in [1, {n_responses - 1}] (M - 1); got {s}")
    return int(s)


def _top_two(c: NDArray[np.int64]) -> tuple[int, int]:
    """Find the two largest counts; the second is 0 if there is one class."""
    first, second = np.sort(np.append(c, 0))[::-1][:2]
    return int(first), int(second)
