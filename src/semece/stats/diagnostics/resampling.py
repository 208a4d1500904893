"""Sums over resampled questions: the one loop behind the intervals of the diagnostics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from semece.stats.uncertainty.bootstrap import check_resampling

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from semece.stats.uncertainty.bootstrap import Resampling

CHUNK = 2_000_000
"""Numbers drawn at a time."""


def resampled_sums(features: NDArray[np.float64], resampling: Resampling) -> NDArray[np.float64]:
    """Column sums of resampled rows.

    Parameters
    ----------
    features : ndarray, shape (Q, F)
        One row per question.
    resampling : Resampling
        Replicates and seed.

    Returns
    -------
    ndarray, shape (n_resamples, F)
        Each replicate sums Q rows drawn with replacement; all columns share the draws.

    Raises
    ------
    ValueError
        For fewer than one replicate.

    Examples
    --------
    >>> from semece.stats.uncertainty.bootstrap import Resampling
    >>> resampled_sums(np.ones((5, 2)), Resampling(n_resamples=2)).tolist()
    [[5.0, 5.0], [5.0, 5.0]]
    """
    n = len(features)
    n_resamples, _, generator = check_resampling(resampling)
    chunk = max(1, CHUNK // n)
    parts = []
    for done in range(0, n_resamples, chunk):
        size = min(chunk, n_resamples - done)
        cells = generator.integers(0, n, (size, n)) + n * np.arange(size)[:, None]
        times = np.bincount(cells.ravel(), minlength=size * n).reshape(size, n)
        parts.append(times @ features)
    return np.concatenate(parts)
