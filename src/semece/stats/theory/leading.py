r"""Leading constants: how large the two biases are when two classes compete.

With margin :math:`\Delta = \pi_{(1)} - \pi_{(2)}`, top-two mass :math:`p = \pi_{(1)} + \pi_{(2)}` and n responses, the
standardised margin is :math:`m = \Delta \sqrt{n/p}` and the half margin :math:`\lambda = m/2`. If the third class is
separated (:math:`\sqrt n (\pi_{(2)} - \pi_{(3)})` large), then to leading order

.. math:: E[\hat c_1] - c^* = \sqrt{p/n}\, J(\lambda), \qquad E[\hat c_2] - c^* = -\sqrt{p/n}\, S(\lambda)

where n is the number of responses that choose the class: all of them for Sem1, the selection block for Sem2. With
close third classes these constants are wrong by a factor; :func:`semece.stats.theory.expected_sem1` and
:func:`semece.stats.theory.expected_sem2` are exact for any number of classes.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import ndtr

from semece.stats.theory.number_arguments import check_numbers, plain

if TYPE_CHECKING:
    from semece.stats.rows import Floats


def density(x: Floats) -> Floats:
    """Density of the standard normal distribution."""
    return np.asarray(np.exp(-x * x / 2) / np.sqrt(2 * np.pi))


def jensen_bias(half_margin: ArrayLike) -> Floats:
    r"""Leading constant of Sem1's bias, :math:`J(\lambda) = \varphi(2\lambda) - 2\lambda\,\Phi(-2\lambda)`.

    Parameters
    ----------
    half_margin : array_like
        :math:`\lambda = m / 2 \ge 0`.

    Returns
    -------
    ndarray
        In (0, 0.3989]; falls with the half margin. A number for a number.

    Raises
    ------
    ValueError
        For a negative half margin.

    Notes
    -----
    Source: the paper's bias expansion of Sem1; :math:`\sqrt{p/n} J` is half of
    :math:`E|D| - \Delta` for :math:`D \sim N(\Delta, p/n)`.

    Examples
    --------
    >>> round(float(jensen_bias(0.0)), 6)
    0.398942
    """
    m = 2 * check_numbers("half_margin", half_margin)
    return plain(density(m) - m * ndtr(-m))


def selection_bias(half_margin: ArrayLike) -> Floats:
    r"""Leading constant of Sem2's bias without its sign, :math:`S(\lambda) = 2\lambda\,\Phi(-2\lambda)`.

    Parameters
    ----------
    half_margin : array_like
        :math:`\lambda = m / 2 \ge 0`, with m taken at the size of the selection block.

    Returns
    -------
    ndarray
        In [0, 0.1700]; 0 at a tie, largest at m = 0.7518. A number for a number.

    Raises
    ------
    ValueError
        For a negative half margin.

    Notes
    -----
    Source: the paper's bias expansion of Sem2; the margin times the probability of choosing the runner-up.

    Examples
    --------
    >>> round(float(selection_bias(0.5)), 6)
    0.158655
    """
    m = 2 * check_numbers("half_margin", half_margin)
    return plain(m * ndtr(-m))


def direct_gap(half_margin: ArrayLike) -> Floats:
    r"""Leading constant of E Sem1 - E Sem2 at equal n, :math:`g_A = J + S = \varphi(2\lambda)`.

    Parameters
    ----------
    half_margin : array_like
        :math:`\lambda \ge 0`.

    Returns
    -------
    ndarray
        In (0, 0.3989]. A number for a number.

    Raises
    ------
    ValueError
        For a negative half margin.

    Notes
    -----
    Source: thm. gap. It is the difference of the two ECEs only if every occupied bin is over-confident for both.

    Examples
    --------
    >>> round(float(direct_gap(0.5)), 6)
    0.241971
    """
    return plain(density(2 * check_numbers("half_margin", half_margin)))


def oracle_gap(half_margin: ArrayLike) -> Floats:
    r"""By how much Sem1's bias exceeds Sem2's at equal n, :math:`g_B = J - S`.

    Positive: Sem2 is the closer to the oracle confidence. Negative: Sem1 is. The root is
    :math:`\lambda^* = 0.3060015904`.

    Parameters
    ----------
    half_margin : array_like
        :math:`\lambda \ge 0`.

    Returns
    -------
    ndarray
        A number for a number.

    Raises
    ------
    ValueError
        For a negative half margin.

    Notes
    -----
    Source: the paper's theorem on the sharp oracle distance.

    Examples
    --------
    >>> round(float(oracle_gap(0.3060015904)), 9) + 0.0
    0.0
    """
    m = 2 * check_numbers("half_margin", half_margin)
    return plain(density(m) - 2 * m * ndtr(-m))


@lru_cache(maxsize=4096)
def crossover_root(select_fraction: float) -> float:
    """Solve for the crossover of :func:`crossover` at one fraction, unchecked."""

    def excess(m: float) -> float:
        return float(density(np.asarray(m)) - m * ndtr(-m) - m * ndtr(-m * np.sqrt(select_fraction)))

    return float(brentq(excess, 0.0, 1.0, xtol=1e-14))


def crossover(select_fraction: ArrayLike = 1.0) -> Floats:
    r"""Standardised margin m at which the two biases are equally large.

    The root of :math:`\varphi(m) - m\Phi(-m) - m\Phi(-m\sqrt f)`, where m is taken at the n of Sem1 and the selection
    block of Sem2 has f n responses. Below it Sem2 is the closer to the oracle confidence, above it Sem1.

    Parameters
    ----------
    select_fraction : array_like
        f in (0, 1]. 1, the paper's: both choose from n responses. 0.5: a run, where Sem2 chooses from half of them.

    Returns
    -------
    ndarray
        0.612003181 at f = 1, 0.532193 at f = 1/2. A number for a number.

    Raises
    ------
    ValueError
        For a fraction outside [0, 1].

    Notes
    -----
    Source: the paper's theorem on the sharp oracle distance for f = 1; the same balance for other f.

    Examples
    --------
    >>> [round(float(crossover(f)), 6) for f in (1.0, 0.5)]
    [0.612003, 0.532193]
    """
    fraction = check_numbers("select_fraction", select_fraction, high=1.0)
    distinct, place = np.unique(fraction, return_inverse=True)
    roots = np.array([crossover_root(float(f)) for f in distinct])
    return plain(roots[place].reshape(fraction.shape))
