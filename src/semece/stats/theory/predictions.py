r"""Predicted estimator gap: how much larger Sem1 is than Sem2, asked in three ways.

==================  =============================  =================================================================
``design``          at which margin                formula
==================  =============================  =================================================================
``"same-n"``        true; the paper's              :math:`\sqrt{p/n}\,\varphi(m_n)`
``"as-run"``        true; Sem2 chooses from s      :math:`\sqrt{p/n}\,J(m_n/2) + \sqrt{p/s}\,S(m_s/2)`
``"given-pool"``    empirical, of the pool         :math:`r\sigma\varphi(\Delta/\sigma) + \Delta\Phi(-\Delta/\sigma)`
==================  =============================  =================================================================

with :math:`m_n = \Delta\sqrt{n/p}`, :math:`r = s/(M-s)` and :math:`\sigma^2 = p(1/s - 1/M)`. All three need a separated
third class. The exact values need nothing: :func:`expected_gap` for a population, sem1 - sem2 of the counts for a pool.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from semece.stats.rows import Floats, check_choice, check_count
from semece.stats.theory.expectations import expected_sem1, expected_sem2
from semece.stats.theory.leading import density, direct_gap, jensen_bias, selection_bias
from semece.stats.theory.number_arguments import check_margin, check_selected, check_single, check_size, plain

Estimator = Literal["sem1", "sem2"]
Prediction = Literal["same-n", "as-run", "given-pool"]
LARGEST_N = 10**15
"""The largest answer of :func:`minimal_n`."""
PREDICTIONS: tuple[Prediction, ...] = ("same-n", "as-run", "given-pool")


def predicted_bias(
    margin: ArrayLike, top_two_mass: ArrayLike, n: ArrayLike, *, estimator: Estimator = "sem1"
) -> Floats:
    r"""Bias of an estimator to leading order, :math:`\sqrt{p/n} J` or :math:`-\sqrt{p/n} S`.

    Parameters
    ----------
    margin : array_like
        True :math:`\Delta` in [0, 1].
    top_two_mass : array_like
        p in (0, 1], at least the margin.
    n : array_like
        Responses that choose the class, >= 1: M for Sem1, s for Sem2.
    estimator : {'sem1', 'sem2'}
        Whose bias.

    Returns
    -------
    ndarray
        Positive for Sem1, negative or 0 for Sem2. A number for numbers.

    Raises
    ------
    ValueError
        For values outside these ranges or an unknown estimator.

    Notes
    -----
    Source: the paper's bias expansions; needs a separated third class.

    Examples
    --------
    >>> round(float(predicted_bias(0.08, 1.0, 50)), 4), round(float(predicted_bias(0.08, 1.0, 25, estimator="sem2")), 4)
    (0.0252, -0.0276)
    """
    check_choice("estimator", estimator, ("sem1", "sem2"))
    delta, mass = check_margin(margin, top_two_mass)
    size = check_size(n, margin=delta)
    unit = np.sqrt(mass / size)
    half = delta / unit / 2
    return plain(unit * jensen_bias(half) if estimator == "sem1" else -unit * selection_bias(half))


def predicted_gap(
    margin: ArrayLike,
    top_two_mass: ArrayLike,
    n: ArrayLike,
    *,
    design: Prediction = "as-run",
    n_select: ArrayLike | None = None,
) -> Floats:
    r"""Predicted estimator gap, E Sem1 - E Sem2, to leading order.

    Parameters
    ----------
    margin : array_like
        :math:`\Delta` in [0, 1]: the true margin, or for ``design="given-pool"`` the empirical one.
    top_two_mass : array_like
        p in (0, 1], at least the margin, true or empirical like the margin.
    n : array_like
        Responses per question, M >= 1 (>= 2 for ``"given-pool"``).
    design : {'as-run', 'same-n', 'given-pool'}
        Which of the module's three questions.
    n_select : array_like, optional
        s, by default n // 2. No effect with ``design="same-n"``.

    Returns
    -------
    ndarray
        >= 0. A number for numbers.

    Raises
    ------
    ValueError
        For values outside these ranges or an unknown design.

    Notes
    -----
    Source: thm. gap for ``"same-n"``. ``"given-pool"`` is good to about 5 % for two separated classes, M >= 40 and a
    margin up to :math:`1.4/\sqrt M`; beyond, its relative error grows while the gap itself vanishes (a factor of 2 at
    a margin of 0.36 and M = 50, where the gap is 0.002). With close third classes it can be half the exact value.

    Examples
    --------
    >>> [round(float(predicted_gap(0.08, 1.0, 50, design=d)), 4) for d in ("same-n", "as-run", "given-pool")]
    [0.0481, 0.0528, 0.0709]
    """
    check_choice("design", design, PREDICTIONS)
    delta, mass = check_margin(margin, top_two_mass)
    size = check_size(n, low=2.0 if design == "given-pool" else 1.0, margin=delta)
    if design == "same-n":
        unit = np.sqrt(mass / size)
        return plain(unit * direct_gap(delta / unit / 2))
    s = check_selected(size, n_select)
    if design == "as-run":
        first = predicted_bias(delta, mass, size)
        return plain(first - predicted_bias(delta, mass, s, estimator="sem2"))
    sigma = np.sqrt(mass * (1 / s - 1 / size))
    u = delta / sigma
    return plain(s / (size - s) * sigma * density(u) + delta * ndtr(-u))


def expected_gap(pmf: ArrayLike, n: int, *, n_select: int | None = None) -> Floats:
    """Exact estimator gap of a run on a known population, E Sem1 - E Sem2, any number of classes.

    Parameters
    ----------
    pmf : array_like, shape (K,) or (Q, K)
        Class probabilities; each row sums to 1.
    n : int
        Responses per question, M >= 2.
    n_select : int, optional
        s in [1, n], by default n // 2; n itself is the same-n design.

    Returns
    -------
    ndarray, shape () or (Q,)
        >= 0. A number for one question.

    Raises
    ------
    ValueError
        For probabilities that do not sum to 1 and sizes out of range.

    Examples
    --------
    >>> round(float(expected_gap([0.54, 0.46], 50)), 4)
    0.0523
    """
    n = check_count("n", n, least=2)
    s = n // 2 if n_select is None else check_count("n_select", n_select)
    if s > n:
        raise ValueError(f"n_select must be at most n; got {s} of {n}")
    return plain(expected_sem1(pmf, n) - expected_sem2(pmf, s))


def minimal_n(bias: float, margin: float, top_two_mass: float, *, estimator: Estimator = "sem1") -> int:
    """Smallest number of choosing responses for which the leading-order bias is small enough.

    Parameters
    ----------
    bias : float
        Largest absolute bias wanted, > 0.
    margin, top_two_mass : float
        As in :func:`predicted_bias`.
    estimator : {'sem1', 'sem2'}
        For Sem2 the answer is the size of the selection block; a run that selects on half needs twice as many.

    Returns
    -------
    int
        >= 1. The bias of either estimator falls with n, so every larger number does too.

    Raises
    ------
    ValueError
        For a bias that is not positive or takes more than :data:`LARGEST_N` responses, and as in
        :func:`predicted_bias`.

    Examples
    --------
    >>> minimal_n(0.01, 0.08, 1.0), minimal_n(0.01, 0.08, 1.0, estimator="sem2")
    (116, 207)
    """
    if not check_single("bias", bias) > 0:
        raise ValueError(f"bias must be positive; got {bias}")
    check_single("margin", margin, high=1.0)
    check_single("top_two_mass", top_two_mass, high=1.0)

    def enough(n: int) -> bool:
        return bool(abs(predicted_bias(margin, top_two_mass, n, estimator=estimator)) <= bias)

    high = 1
    while not enough(high):
        high *= 2
        if high > LARGEST_N:
            raise ValueError(f"bias must be reachable with at most {LARGEST_N} responses; got {bias}")
    between = range(high // 2 + 1, high)
    return between.start + bisect_left(between, x=True, key=enough)
