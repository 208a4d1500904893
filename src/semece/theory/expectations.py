r"""Exact expectations for a known population, any number of classes.

n independent responses from :math:`\pi` have multinomial counts: independent Poisson counts with means
:math:`n \pi_k`, given that they sum to n. The kernel is that of :mod:`semece.counts`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from semece.counts import circle_points, selection_table
from semece.rows import check_choice, check_count
from semece.theory.arguments import check_numbers, plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from semece.counts import Ties

NEGLIGIBLE = 1e-40
"""Weights below this share of the largest are left out: their sum cannot be seen in double precision."""


def expected_sem1(pi: ArrayLike, n: int) -> NDArray[np.float64]:
    r"""Exact expectation of Sem1 over n responses, :math:`E \max_k N_k / n`.

    Parameters
    ----------
    pi : array_like, shape (K,) or (Q, K)
        Class probabilities; each row sums to 1. Zeros are classes that do not occur.
    n : int
        Responses, >= 1.

    Returns
    -------
    ndarray, shape () or (Q,)
        In [max(pi), 1]. A number for one question.

    Raises
    ------
    ValueError
        For negative probabilities, rows that do not sum to 1, and n < 1.

    Notes
    -----
    Never below the oracle confidence: the paper's theorem on Jensen's inequality.

    Examples
    --------
    >>> round(float(expected_sem1([0.5, 0.5], 2)), 12)
    0.75
    """
    n = check_count("n", n)
    return _per_question(pi, lambda p: np.asarray(multinomial_table(p, n).sum(axis=0) @ np.arange(n + 1) / n))


def expected_sem2(pi: ArrayLike, n_select: int) -> NDArray[np.float64]:
    r"""Exact expectation of Sem2, :math:`\sum_k \pi_k P(\hat z_N = k)`.

    Parameters
    ----------
    pi : array_like, shape (K,) or (Q, K)
        Class probabilities; each row sums to 1.
    n_select : int
        s, responses that choose the class, >= 1. The size of the evaluation block does not enter.

    Returns
    -------
    ndarray, shape () or (Q,)
        In [0, max(pi)]. A number for one question.

    Raises
    ------
    ValueError
        For negative probabilities, rows that do not sum to 1, and ``n_select`` < 1.

    Notes
    -----
    Source: the paper's conditional unbiasedness and marginal bias. Ties in the selection are broken uniformly.

    Examples
    --------
    >>> round(float(expected_sem2([0.75, 0.25], 1)), 12)
    0.625
    """
    s = check_count("n_select", n_select)
    return _per_question(pi, lambda p: np.asarray(multinomial_table(p, s).sum(axis=1) @ p))


def population_selection_probability(pi: ArrayLike, n: int, *, ties: Ties = "uniform") -> NDArray[np.float64]:
    """Probability of each class to be the most frequent of n responses.

    Parameters
    ----------
    pi : array_like, shape (K,) or (Q, K)
        Class probabilities; each row sums to 1.
    n : int
        Responses, >= 1.
    ties : {'uniform', 'lowest'}
        How ties are broken.

    Returns
    -------
    ndarray, shape (K,) or (Q, K)
        Rows sum to 1.

    Raises
    ------
    ValueError
        For negative probabilities, rows that do not sum to 1, n < 1, and an unknown rule.

    Examples
    --------
    >>> population_selection_probability([0.75, 0.25], 2).round(12).tolist()
    [0.75, 0.25]
    """
    n = check_count("n", n)
    check_choice("ties", ties, ("uniform", "lowest"))
    return _per_question(pi, lambda p: multinomial_table(p, n, ties=ties).sum(axis=1))


def multinomial_table(pi: NDArray[np.float64], n: int, *, ties: Ties = "uniform") -> NDArray[np.float64]:
    """P(class k has j of n responses, and is selected), unchecked; shape (K, n + 1), sums to 1."""
    out = np.zeros((len(pi), n + 1))
    occurs = pi > 0
    weights = [_poisson_weights(n * float(p), n) for p in pi[occurs]]
    n_points = circle_points(n, sum(len(w) - 1 for w in weights), n)
    table = np.maximum(selection_table(weights, n, ties=ties, n_points=n_points), 0.0)
    out[occurs, : table.shape[1]] = table / table.sum()
    return out


def _poisson_weights(mean: float, n: int) -> NDArray[np.float64]:
    """Poisson probabilities of 0..n up to a constant factor, without a negligible tail."""
    weights = np.ones(n + 1)
    mode = min(n, int(mean))
    weights[mode + 1 :] = np.cumprod(mean / np.arange(mode + 1, n + 1))
    weights[:mode] = np.cumprod(np.arange(mode, 0, -1) / mean)[::-1]
    last = int(np.flatnonzero(weights > NEGLIGIBLE)[-1])
    return np.asarray(weights[: max(last, 1) + 1] / weights.sum())


def _per_question(pi: ArrayLike, value: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> NDArray[np.float64]:
    """Apply ``value`` to each row of checked class probabilities."""
    rows = check_pmf(pi)
    if rows.ndim == 1:
        return plain(value(rows))
    return np.array([value(row) for row in rows])


def check_pmf(pi: ArrayLike) -> NDArray[np.float64]:
    """Check class probabilities, shape (K,) or (Q, K), and make each row sum to 1 exactly.

    Raises
    ------
    ValueError
        For another shape, negative probabilities, and rows whose sum is off by more than 1e-9.

    Examples
    --------
    >>> check_pmf([0.5, 0.25, 0.25]).tolist()
    [0.5, 0.25, 0.25]
    """
    rows = check_numbers("pi", pi, high=1.0 + 1e-9)
    if rows.ndim not in {1, 2} or rows.size == 0:
        raise ValueError(f"pi must have shape (K,) or (Q, K) and not be empty; got shape {rows.shape}")
    total = rows.sum(axis=-1, keepdims=True)
    bad = np.abs(total - 1) > 1e-9
    if bad.any():
        at = int(np.argmax(bad))
        raise ValueError(f"pi must sum to 1; got {float(total.flat[at])} at index {at}")
    return np.asarray(rows / total)
