r"""Logistic regression by Newton's method, for the maps that are one.

.. math:: \min_\beta \sum_i w_i \{ \ln(1 + e^{x_i \beta}) - t_i x_i \beta \}

Targets :math:`t` may be soft. Where right and wrong answers are separated no finite minimum exists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from semece.stats.recalibration.maps import expit

if TYPE_CHECKING:
    from semece.stats.rows import CheckedRows, Floats

STEPS = 40
"""Newton steps at most: each goes one unit of log-odds further where answers are separated; else ten are enough."""
CLOSE = 1e-11
"""A step below this share of the coefficients is the last."""
SLACK = 1e-13
"""Rounding error of a loss: a step that raises it by more is halved."""


def logistic_fit(design: Floats, target: Floats, weight: Floats) -> Floats | None:
    """Find the coefficients of least loss; None where there is no finite minimum.

    Parameters
    ----------
    design : ndarray, shape (N, k)
        Of rank k.
    target : ndarray, shape (N,)
        In [0, 1].
    weight : ndarray, shape (N,)
        Above 0.

    Examples
    --------
    >>> design = np.ones((4, 1))
    >>> logistic_fit(design, np.array([1.0, 1.0, 1.0, 0.0]), np.ones(4)).round(4).tolist()
    [1.0986]
    >>> logistic_fit(design, np.ones(4), np.ones(4)) is None
    True
    """
    share = weight / weight.sum()
    found, loss = np.zeros(design.shape[1]), np.inf
    for _ in range(STEPS):
        p = expit(design @ found)
        curvature = design.T @ (design * (share * p * (1 - p))[:, None])
        try:
            step = np.linalg.solve(curvature, design.T @ (share * (p - target)))
        except np.linalg.LinAlgError:
            return None
        size = 1.0
        while (loss_there := _loss(design @ (found - size * step), target, share)) > loss + SLACK and size > CLOSE:
            size /= 2
        found, loss = found - size * step, loss_there
        if np.abs(step).max() <= CLOSE * (1 + np.abs(found).max()):
            return np.asarray(found)
    return None


def platt_targets(rows: CheckedRows) -> Floats:
    """Move correctness off 0 and 1 by one imagined answer of each kind (Platt 1999; Lin, Lin & Weng 2007).

    Examples
    --------
    >>> from semece.stats.rows import check_rows
    >>> platt_targets(check_rows([0.9, 0.9, 0.1], [1, 1, 0])).round(3).tolist()
    [0.75, 0.75, 0.333]
    """
    right = float(rows.weights @ rows.correct)
    wrong = float(rows.weights.sum()) - right
    return np.asarray(rows.correct * (right + 1) / (right + 2) + (1 - rows.correct) / (wrong + 2))


def _loss(value: Floats, target: Floats, share: Floats) -> float:
    return float(share @ (np.logaddexp(0.0, value) - target * value))
