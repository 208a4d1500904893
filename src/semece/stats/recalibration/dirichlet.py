r"""A map from the shares of all classes: Dirichlet calibration.

Classes of different questions have no names in common, so they are known by their rank: the largest, the second, ...,
and what is left. Which of them is right is what the map predicts; the first component is the confidence of the answer
that users would see.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from semece.stats.recalibration.logistic import CLOSE, SLACK
from semece.stats.recalibration.logit_maps import SEPARATED
from semece.stats.recalibration.maps import (
    CLIP,
    Recalibration,
    check_clip,
    check_shares,
    log_shares,
    question_mark,
    softmax,
)
from semece.stats.rows import NUMBERS, Floats, check_count, check_ids, check_same_length, check_unit

STEPS = 25
"""Newton steps at most; where classes are separated each goes about one unit of log-odds further."""
FLAT = 1e-12
"""Share of the largest curvature below which a direction has none; above what 25 steps can make of a separated one."""


class RankedFrequencies(NamedTuple):
    """Shares of the classes by rank, and which of them is right.

    Parameters
    ----------
    shares : ndarray, shape (N, R + 1)
        Of the R largest classes, the largest first, and of all others together.
    target : ndarray, shape (N, R + 1)
        1 at the largest class that is right; in the last column where none of the R is. Classes of equal size come in
        any order: it is the mean over their orders.
    """

    shares: Floats
    target: Floats


def ranked_frequencies(
    counts: Sequence[ArrayLike], correct: Sequence[ArrayLike], *, n_ranks: int = 3
) -> RankedFrequencies:
    """Order the classes of each question by size.

    Parameters
    ----------
    counts : sequence of N integer sequences
        How many responses each class of a question has.
    correct : sequence of N sequences
        Whether each class is right, in [0, 1], in the same order.
    n_ranks : int
        R >= 1, how many classes keep a column of their own.

    Returns
    -------
    RankedFrequencies

    Raises
    ------
    ValueError
        For a question without responses, and for unequal lengths.

    Examples
    --------
    >>> found = ranked_frequencies([[1, 6, 3], [5]], [[0, 0, 1], [1]], n_ranks=2)
    >>> found.shares.round(6).tolist(), found.target.tolist()
    ([[0.6, 0.3, 0.1], [1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    """
    check_count("n_ranks", n_ranks)
    if len(counts) != len(correct) or not len(counts):
        raise ValueError(f"counts and correct must have one entry per question; got {len(counts)} and {len(correct)}")
    rows = [
        _ranked(np.asarray(c, float), check_unit("correct", a), n_ranks) for c, a in zip(counts, correct, strict=True)
    ]
    return RankedFrequencies(np.array([shares for shares, _ in rows]), np.array([target for _, target in rows]))


def _ranked(counts: Floats, correct: Floats, n_ranks: int) -> tuple[Floats, Floats]:
    """Order the classes of one question."""
    check_same_length("counts", counts, "correct", correct)
    if not (counts >= 0).all() or not counts.sum():
        raise ValueError(f"counts of a question must be at least 0 and not all 0; got {counts.tolist()}")
    place = np.unique(-counts, return_inverse=True)[1]
    alike, right = np.bincount(place), np.bincount(place, correct)
    shares, target = np.zeros(n_ranks + 1), np.zeros(n_ranks + 1)
    none_yet = 1.0
    for rank, of_class in enumerate(np.argsort(-counts, kind="stable")[:n_ranks]):
        group = place[of_class]
        found = none_yet * min(right[group] / alike[group], 1.0)  # the next of a group, of whom none was right so far
        alike[group] -= 1
        shares[rank], target[rank] = counts[of_class] / counts.sum(), found
        none_yet -= found
    shares[-1], target[-1] = max(1 - shares.sum(), 0.0), max(none_yet, 0.0)
    return shares, target


def fit_dirichlet(
    shares: ArrayLike,
    target: ArrayLike,
    *,
    penalty: float = 0.01,
    ids: ArrayLike | None = None,
    clip: float = CLIP,
    name: str = "class shares",
) -> Recalibration:
    r"""Fit a Dirichlet map.

    .. math::
       \min_{W, b} -\frac{1}{N} \sum_i t_i \cdot \ln \operatorname{softmax}(W \ln q_i + b)
       + \lambda \Bigl( \frac{1}{K (K - 1)} \sum_{i \ne j} W_{ij}^2 + \frac{1}{K} \sum_j b_j^2 \Bigr)

    Parameters
    ----------
    shares : array_like, shape (N, K)
        q: shares of the classes, each row sums to 1; K >= 2.
    target : array_like, shape (N, K), or of int, shape (N,)
        t: which class is right, or its number.
    penalty : float
        :math:`\lambda \ge 0`, off the diagonal and on the levels (ODIR).
    ids : array_like, shape (N,), optional
        Question of each row; the map remembers them.
    clip : float
        Least share before a logarithm is taken, in (0, 0.5); then the shares are scaled to sum to 1.
    name : str
        What goes in; it stands in the map's file.

    Returns
    -------
    Recalibration
        Called with shares, it gives the first class's confidence.

    Raises
    ------
    ValueError
        For rows that do not sum to 1, unequal lengths, and a bad penalty or clip.

    Notes
    -----
    With two classes and without penalty it is the beta map, whose exponents may be negative. Source: Kull et al.
    (2019); where the right classes are separated, one imagined answer of each kind keeps the fit finite.

    Examples
    --------
    >>> shares = [[0.9, 0.1], [0.8, 0.2], [0.9, 0.1], [0.6, 0.4]] * 10
    >>> fit_dirichlet(shares, [0, 0, 1, 1] * 10)([[0.9, 0.1], [0.6, 0.4]]).round(2).tolist()
    [0.64, 0.15]
    """
    q = check_shares(shares)
    t = _targets(target, q.shape)
    if not isinstance(penalty, NUMBERS) or not 0 <= penalty < np.inf:
        raise ValueError(f"penalty must be a number of at least 0; got {penalty!r}")
    check_clip(clip)
    check_ids(ids, len(q))
    value = np.column_stack([log_shares(q, clip), np.ones(len(q))])
    found = _minimum(value, t, float(penalty))
    notes = () if found is not None else (SEPARATED,)
    if found is None:
        found = _minimum(value, _imagined(t), float(penalty))
    if found is None:
        raise ValueError("the Dirichlet map has no finite fit to these shares; give a penalty above 0")
    parameters = {"weights": found[:, :-1].copy(), "intercept": found[:, -1].copy()}
    marks = frozenset() if ids is None else frozenset(map(question_mark, np.asarray(ids).tolist()))
    return Recalibration("dirichlet", parameters, "unit", float(clip), name, len(q), marks, notes)


def _targets(target: ArrayLike, shape: tuple[int, ...]) -> Floats:
    """Check which class is right, and write it as one row per question."""
    given = np.asarray(target)
    if given.ndim == 2 and given.shape == shape:
        return check_shares(given)
    if given.shape != shape[:1] or given.dtype.kind not in "iu" or not ((given >= 0) & (given < shape[1])).all():
        raise ValueError(f"target must be of shape {shape}, or {shape[0]} whole numbers below {shape[1]}")
    return np.asarray(np.eye(shape[1])[given])


def _imagined(target: Floats) -> Floats:
    """Move targets off 0 and 1 by one imagined answer in each class: Platt's targets for K classes."""
    n, n_classes = target.sum(axis=0), target.shape[1]
    moved = (np.ones((n_classes, n_classes)) + np.diag(n)) / (n + n_classes)[:, None]
    return np.asarray(target @ moved)


def _minimum(value: Floats, target: Floats, penalty: float) -> Floats | None:
    """Find [W b] by Newton's method from 'no change'; None where there is no finite minimum."""
    n, width = value.shape
    n_classes = width - 1
    ridge = np.full((n_classes, width), 2 * penalty / (n_classes * (n_classes - 1)))
    ridge[:, -1] = 2 * penalty / n_classes
    np.fill_diagonal(ridge, 0.0)

    def loss(found: Floats) -> float:
        line = value @ found.T
        top = line.max(axis=1)
        logs = line - (top + np.log(np.exp(line - top[:, None]).sum(axis=1)))[:, None]
        return float(-(target * logs).sum() / n + (ridge * found**2).sum() / 2)

    found = np.eye(n_classes, width)
    before = loss(found)
    for _ in range(STEPS):
        p = softmax(value @ found.T)
        slope = (p - target).T @ value / n + ridge * found
        step = np.linalg.lstsq(_curvature(value, p, ridge), slope.ravel(), rcond=FLAT)[0].reshape(found.shape)
        size = 1.0
        while (there := loss(found - size * step)) > before + SLACK and size > CLOSE:
            size /= 2
        found, before = found - size * step, there
        if np.abs(step).max() <= CLOSE * (1 + np.abs(found).max()):
            return np.asarray(found)
    return None


def _curvature(value: Floats, p: Floats, ridge: Floats) -> Floats:
    """Second derivatives of the loss; shape (K (K + 1), K (K + 1))."""
    n, width = value.shape
    n_classes = p.shape[1]
    out = np.empty((n_classes, width, n_classes, width))
    for i in range(n_classes):
        for j in range(n_classes):
            weight = p[:, i] * ((i == j) - p[:, j]) / n
            out[i, :, j, :] = value.T @ (value * weight[:, None])
    flat = out.reshape(n_classes * width, n_classes * width)
    return flat + np.diag(ridge.ravel())
