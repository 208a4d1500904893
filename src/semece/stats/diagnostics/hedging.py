"""Hedged answers: how far the numbers move if all of them are put into the modal class, or all taken out of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from semece.stats.calibration.binned_errors import ece
from semece.stats.counts import integers
from semece.stats.diagnostics.frames import frame
from semece.stats.diagnostics.pools import pool
from semece.stats.estimators import mode

if TYPE_CHECKING:
    import polars as pl

    from semece.stats.rows import Bools, Integers

Grades = float | Sequence[float | None] | None

ARRANGEMENTS = ("as judged", "into the mode", "out of the mode")


def hedging_bracket(
    labels: Sequence[ArrayLike], hedged: Sequence[ArrayLike], correct: Sequence[Any], *, n_bins: int = 10
) -> pl.DataFrame:
    """Calibration with hedged answers as judged, forced into the modal class, and forced out of it.

    Parameters
    ----------
    labels : sequence of Q label sequences
        Classes of the responses, numbered by first appearance.
    hedged : sequence of Q sequences of bool
        Whether a response is hedged ('either A or B', 'I think, but am not sure').
    correct : sequence of length Q
        Correctness of the deployed answer in [0, 1], which is then kept, or one value per class; None where it is not
        graded.
    n_bins : int
        Bins of the ECEs.

    Returns
    -------
    polars.DataFrame
        One row per arrangement: ``arrangement``, ``questions``, ``hedged`` (share of the responses), ``accuracy``,
        ``sem1``, ``sem2`` (means), ``sem1_ece``, ``sem2_ece``.

    Raises
    ------
    ValueError
        If ``hedged`` does not have one value per response, and as in :func:`semece.stats.diagnostics.pool`.

    Notes
    -----
    Into: every hedged response joins the modal class. Out: every hedged response of the modal class becomes a class of
    its own, with the correctness of the class it leaves. The truth about hedges lies between the two.

    Examples
    --------
    >>> table = hedging_bracket([[0, 0, 0, 1]] * 2, [[True, False, False, True]] * 2, [[1, 0], [0, 0]])
    >>> table["sem1"].to_list()
    [0.75, 1.0, 0.5]
    """
    if not len(labels) == len(hedged) == len(correct):
        lengths = f"{len(labels)}, {len(hedged)}, {len(correct)}"
        raise ValueError(f"labels, hedged and correct must have the same length; got {lengths}")
    rows = [integers(row, f"labels of question {q}") for q, row in enumerate(labels)]
    marks = [_marks(row, mark, q) for q, (row, mark) in enumerate(zip(rows, hedged, strict=True))]
    share = float(np.concatenate(marks).mean())

    def table() -> Iterator[dict[str, Any]]:
        for name in ARRANGEMENTS:
            moved = [rearranged(*question, name) for question in zip(rows, marks, correct, strict=True)]
            some = pool([row for row, _ in moved], [grade for _, grade in moved])
            row = {"arrangement": name, "questions": len(some.correct), "hedged": share}
            row |= {"accuracy": some.correct.mean(), "sem1": some.sem1.mean(), "sem2": some.sem2.mean()}
            yield row | {f"{e}_ece": ece(getattr(some, e), some.correct, n_bins=n_bins) for e in ("sem1", "sem2")}

    numbers = dict.fromkeys(("hedged", "accuracy", "sem1", "sem2", "sem1_ece", "sem2_ece"), float)
    return frame(table(), {"arrangement": str, "questions": int} | numbers)


def rearranged(labels: Integers, hedged: Bools, correct: Grades, arrangement: str) -> tuple[Integers, Grades]:
    """Labels and correctness of one question after the hedged responses moved.

    Examples
    --------
    >>> labels, correct = rearranged(np.array([0, 0, 1]), np.array([True, False, False]), [1, 0], "out of the mode")
    >>> labels.tolist(), correct
    ([0, 1, 2], [1, 1, 0])
    """
    if arrangement == "as judged" or not hedged.any():
        return labels, correct
    modal = mode(labels)
    moved = labels.copy()
    if arrangement == "into the mode":
        moved[hedged] = modal
    else:
        leaving = hedged & (labels == modal)
        moved[leaving] = labels.max() + 1 + np.arange(leaving.sum())
    _, first, number = np.unique(moved, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    renumbered = np.argsort(order, kind="stable")[number]
    if correct is None or isinstance(correct, int | float):
        return renumbered, correct
    source = labels if arrangement == "out of the mode" else moved
    return renumbered, [correct[int(source[i])] for i in first[order]]


def _marks(labels: Integers, hedged: ArrayLike, q: int) -> Bools:
    """Check that there is one mark per response."""
    marks = np.asarray(hedged)
    if marks.shape != labels.shape or marks.dtype != np.bool_:
        rule = f"hedged of question {q} must be {len(labels)} booleans"
        raise ValueError(f"{rule}; got {marks.dtype} of shape {marks.shape}")
    return marks
