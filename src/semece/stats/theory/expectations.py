r"""Exact expectations for a known population, any number of classes.

n independent responses from :math:`\pi` have multinomial counts: independent Poisson counts with means
:math:`n \pi_k`, given that they sum to n. The kernel is that of :mod:`semece.stats.counts`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from semece.stats.counts import Selection, population_selection
from semece.stats.rows import Floats, check_count, refuse
from semece.stats.theory.number_arguments import check_numbers, plain


def expected_sem1(pmf: ArrayLike, n: int) -> Floats:
    r"""Exact expectation of Sem1 over n responses, :math:`E \max_k N_k / n`.

    Parameters
    ----------
    pmf : array_like, shape (K,) or (Q, K)
        Class probabilities; each row sums to 1. Zeros are classes that do not occur.
    n : int
        Responses, >= 1.

    Returns
    -------
    ndarray, shape () or (Q,)
        In [max(pmf), 1]. A number for one question.

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
    found = _selection(pmf, n)[1]
    return _shaped(found.largest / n, pmf)


def expected_sem2(pmf: ArrayLike, n_select: int) -> Floats:
    r"""Exact expectation of Sem2, :math:`\sum_k \pi_k P(\hat z_N = k)`.

    Parameters
    ----------
    pmf : array_like, shape (K,) or (Q, K)
        Class probabilities; each row sums to 1.
    n_select : int
        s, responses that choose the class, >= 1. The size of the evaluation block does not enter.

    Returns
    -------
    ndarray, shape () or (Q,)
        In [0, max(pmf)]. A number for one question.

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
    rows, found = _selection(pmf, check_count("n_select", n_select))
    return _shaped((found.probability * rows).sum(axis=1), pmf)


def population_selection_probability(pmf: ArrayLike, n: int) -> Floats:
    """Probability of each class to be the most frequent of n responses, ties broken uniformly.

    Parameters
    ----------
    pmf : array_like, shape (K,) or (Q, K)
        Class probabilities; each row sums to 1.
    n : int
        Responses, >= 1.

    Returns
    -------
    ndarray, shape (K,) or (Q, K)
        Rows sum to 1.

    Raises
    ------
    ValueError
        For negative probabilities, rows that do not sum to 1, and n < 1.

    Examples
    --------
    >>> population_selection_probability([0.75, 0.25], 2).round(12).tolist()
    [0.75, 0.25]
    """
    found = _selection(pmf, check_count("n", n))[1]
    return _shaped(np.maximum(found.probability, 0.0), pmf)


def _selection(pmf: ArrayLike, n: int) -> tuple[Floats, Selection]:
    """Check class probabilities, make them rows, and select from n responses."""
    rows = np.atleast_2d(check_pmf(pmf))
    return rows, population_selection(rows, n)


def _shaped(values: Floats, pmf: ArrayLike) -> Floats:
    """Drop the first axis if ``pmf`` was one question."""
    return plain(values[0] if np.ndim(pmf) == 1 else values)


def check_pmf(pmf: ArrayLike) -> Floats:
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
    rows = check_numbers("pmf", pmf, high=1.0 + 1e-9)
    if rows.ndim not in {1, 2} or rows.size == 0:
        raise ValueError(f"pmf must have shape (K,) or (Q, K) and not be empty; got shape {rows.shape}")
    total = rows.sum(axis=-1, keepdims=True)
    refuse("pmf must sum to 1", total, np.abs(total - 1) > 1e-9)
    return np.asarray(rows / total)
