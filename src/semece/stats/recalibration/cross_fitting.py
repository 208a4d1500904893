"""Cross-fitting: every row gets its confidence from a map that has not seen its question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from semece.stats.recalibration.dirichlet import fit_dirichlet
from semece.stats.recalibration.fitting import Method, fit_recalibration
from semece.stats.recalibration.maps import CLIP, Domain
from semece.stats.rows import (
    Floats,
    Places,
    Seed,
    check_count,
    check_finite,
    check_ids,
    check_rng,
    check_same_length,
    sums,
)

if TYPE_CHECKING:
    from semece.stats.recalibration.maps import Recalibration


class CrossFit(NamedTuple):
    """Confidences of rows, each from a map that was fitted on other questions.

    Parameters
    ----------
    confidence : ndarray, shape (N,)
        In [0, 1].
    fold : ndarray of int, shape (N,)
        Which fold a row is in, from 0. Rows of one question are in one fold.
    maps : tuple of Recalibration
        ``maps[k]`` was fitted on every fold but k.
    """

    confidence: Floats
    fold: Places
    maps: tuple[Recalibration, ...]


def cross_fit(  # noqa: PLR0913 - the options of the map and of the folds
    score: ArrayLike,
    correct: ArrayLike,
    *,
    method: Method | Literal["dirichlet"] = "platt",
    ids: ArrayLike | None = None,
    n_folds: int = 10,
    n_bins: int = 10,
    clip: float = CLIP,
    domain: Domain = "unit",
    rng: Seed = 0,
) -> CrossFit:
    """Recalibrate rows with maps that were fitted on other questions.

    Parameters
    ----------
    score : array_like, shape (N,)
        As in :func:`fit_recalibration`; for ``method="dirichlet"`` shares of shape (N, K).
    correct : array_like, shape (N,)
        In [0, 1]; for ``method="dirichlet"`` which class is right, of shape (N, K).
    method, n_bins, clip, domain
        As in :func:`fit_recalibration`.
    ids : array_like, shape (N,), optional
        Question of each row, or the group of questions that belong together. Without them every row is a question.
    n_folds : int
        At least 2; at most the number of questions, of which there must be two.
    rng : int or Generator
        Seed of the folds. They do not depend on the order of the rows, and hold about equal shares of right answers.

    Returns
    -------
    CrossFit

    Raises
    ------
    ValueError
        As in :func:`fit_recalibration`, and for fewer than two questions or folds.

    Examples
    --------
    >>> found = cross_fit([0.9, 0.9, 0.9, 0.9] * 10, [1, 0, 0, 1] * 10, method="isotonic")
    >>> found.confidence[:3].round(2).tolist(), found.fold.max() + 1
    ([0.5, 0.5, 0.5], np.int64(10))
    """
    scores, right = np.asarray(score), np.asarray(correct)
    first = check_finite("correct", right[:, 0] if right.ndim == 2 else right)
    key = check_finite("score", scores[:, 0] if scores.ndim == 2 else scores)
    check_same_length("score", key, "correct", first)
    fold = folds_of(key, first, ids=ids, n_folds=n_folds, rng=rng)
    names = None if ids is None else np.asarray(ids)
    confidence = np.empty(len(fold))
    maps = []
    for k in range(int(fold.max()) + 1):
        kept, out = fold != k, fold == k
        seen = None if names is None else names[kept]
        if method == "dirichlet":
            fitted = fit_dirichlet(scores[kept], right[kept], ids=seen, clip=clip)
        else:
            fitted = fit_recalibration(
                scores[kept], right[kept], method=method, ids=seen, n_bins=n_bins, clip=clip, domain=domain
            )
        confidence[out] = fitted(scores[out])
        maps.append(fitted)
    return CrossFit(confidence, fold, tuple(maps))


def folds_of(score: Floats, correct: Floats, *, ids: ArrayLike | None, n_folds: int, rng: Seed) -> Places:
    """Deal questions to folds, those with like correctness in turn.

    Examples
    --------
    >>> folds_of(np.arange(4.0), np.zeros(4), ids=["a", "a", "b", "b"], n_folds=10, rng=0).tolist()
    [0, 0, 1, 1]
    """
    check_count("n_folds", n_folds, least=2)
    unit = check_ids(ids, len(score))
    if unit is None:
        unit = np.empty(len(score), np.intp)
        unit[np.lexsort((correct, score))] = np.arange(len(score))
    n = int(unit.max()) + 1
    if n < 2:
        raise ValueError(f"cross-fitting needs at least 2 questions; got {n}")
    level = (sums(unit, correct) / sums(unit, np.ones(len(unit)))).round(9)
    order = np.lexsort((check_rng(rng).permutation(n), level))
    fold = np.empty(n, np.intp)
    fold[order] = np.arange(n) % n_folds
    return np.asarray(fold[unit])
