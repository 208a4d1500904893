r"""Has a model changed? Intervals that hold at every look, of the same questions asked again and again.

The questions are fixed; what is random is which answers are drawn to them, at the baseline and at each look. Let
:math:`d_q` be what question q has at a look less what it has at the baseline: whether its answer is right, or its
residual of SemX. If nothing has changed, the draws of the two are exchangeable, so given their sizes the signs of the
:math:`d_q` are fair and independent coins. Sums of such coins have nearly normal tails, whatever the sizes (Bentkus &
Dzindzalieta 2015, `A tight Gaussian bound for weighted sums of Rademacher random variables`):

.. math:: P\Bigl(\Bigl|\sum_q d_q\Bigr| \ge x \Bigl(\sum_q d_q^2\Bigr)^{1/2}\Bigr) \le 2c\,(1 - \Phi(x)),
          \qquad c = \frac{1}{4 (1 - \Phi(\sqrt 2))} \approx 3.18

This holds for any number of questions and shares one baseline among all looks. Look t may spend
:math:`\alpha / (t (t + 1))`; over all looks, however many, that is at most :math:`\alpha`. The interval is every change
that the same rule, applied to :math:`d_q - \theta`, does not reject.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from semece.stats.rows import check_count, check_finite, check_level
from semece.stats.uncertainty.intervals import Interval

TAIL = 1 / (4 * (1 - float(ndtr(2**0.5))))
"""How much heavier than a normal tail that of a weighted sum of coins can be."""


def change_at_look(difference: ArrayLike, look: int, *, alarms: float = 0.05) -> Interval:
    r"""Give the change since a baseline at one of many looks, with an interval that holds at all of them together.

    Parameters
    ----------
    difference : array_like, shape (Q,)
        Of each question, what it has now less what it had at the baseline.
    look : int
        Which look it is, from 1: the first one after the baseline is 1.
    alarms : float
        How often a model that has not changed may have an interval without 0 at any look, in (0, 1).

    Returns
    -------
    Interval
        Mean difference, and the ends of its interval. With x the multiplier of the look and S the sum of squared
        deviations from the mean, the half width is

        .. math:: x \sqrt{(S + 1) / (Q (Q - x^2))}

        and infinite where :math:`Q \le x^2`: 9 questions at the first look, 25 at the hundredth.

    Raises
    ------
    ValueError
        For no differences or infinite ones, a look before the first, and `alarms` out of range.

    Notes
    -----
    That 0 is left out no oftener than `alarms` is exact, for every number of questions and answers. That the interval
    holds a change that is not 0 is measured (the documentation's benchmarks): questions that change by different
    amounts make it wider than it need be. The 1 beside S is two pseudo-questions, 1 and -1, half a question each: the
    interval never has width 0. It is about these questions; other questions may change otherwise.

    Examples
    --------
    >>> now, then = np.array([1.0] * 60 + [0.0] * 40), np.array([1.0] * 85 + [0.0] * 15)
    >>> found = change_at_look(now - then, 1)
    >>> round(found.value, 2), round(found.low, 2), round(found.high, 2)
    (-0.25, -0.37, -0.13)
    """
    values = check_finite("difference", difference)
    spent = check_level(alarms, name="alarms") / (check_count("look", look) * (look + 1))
    x, n, mean = -float(ndtri(spent / (2 * TAIL))), len(values), float(values.mean())
    if n <= x**2:
        return Interval(mean, -np.inf, np.inf)
    half = x * float((((values - mean) ** 2).sum() + 1) / (n * (n - x**2))) ** 0.5
    return Interval(mean, mean - half, mean + half)
