r"""Means of units with some pseudo-units, and the skewness-corrected ends of their intervals.

Where nearly every answer is right the observed spread is too small, so four pseudo-units are added, **for the variance
only**: two as if the answer were right with certainty, two as if it were wrong. Means of skewed rows have Hall's
(1992) interval: with the standard deviation :math:`\sigma` and the skewness :math:`\gamma` of the N + 4 rows and
:math:`a = \gamma / (3 \sqrt N)`,

.. math:: t(x) = \bigl[(1 + 3a(x - \gamma / (6 \sqrt N)))^{1/3} - 1\bigr] / a, \qquad
          \bigl[g - t(z)\,\sigma / \sqrt N,\; g - t(-z)\,\sigma / \sqrt N\bigr]

The unit is the question, or with ids the cluster: rows are summed within it first, N is the number of clusters, and
quantiles are Student's with N - 1 degrees of freedom.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import ndtri

from semece.stats.rows import sums
from semece.stats.uncertainty.intervals import TINY, Interval, widening

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from semece.stats.rows import CheckedRows

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]

PSEUDO = 4
"""Pseudo-units, half of them right and half of them wrong."""


class Drawn(NamedTuple):
    """How often each row occurs, its cluster, and the level of intervals."""

    weights: Floats
    ids: Places | None
    level: float


class UnitTable(NamedTuple):
    """Numbers of the units, one row each, and what their pseudo-units are made of.

    ``value`` and ``ungraded`` have shape (G, L) and means over the units that are those over the questions.
    Pseudo-units that are wrong have the value ``held_out``, those that are right ``held_out - chance``; both have shape
    (L,). ``weights`` is how often each unit occurs, ``z`` the normal or Student quantile, and ``widened`` its ratio to
    the normal one.
    """

    value: Floats
    ungraded: Floats
    chance: Floats
    held_out: Floats
    weights: Floats
    z: float
    widened: float

    @classmethod
    def of(cls, value: Floats, ungraded: Floats, mass: tuple[Floats, Floats], drawn: Drawn) -> UnitTable:
        """Sum the rows of a cluster; rows without ids are units. ``mass``: ``chance`` and ``held_out`` of each row."""
        weights, ids, level = drawn
        chance, held_out = (np.asarray(weights @ part / weights.sum()) for part in mass)
        normal = float(ndtri(0.5 + level / 2))
        if ids is None:
            return cls(value, ungraded, chance, held_out, weights, normal, 1.0)
        n = int(ids.max()) + 1
        share = sums(ids, weights) * (n / weights.sum())
        parts = [_summed(ids, weights[:, None] * part, n) * (n / weights.sum()) for part in (value, ungraded)]
        # linearised: clusters of unequal size vary around the ratio of sums
        one, other = (part - np.outer(share - 1, part.mean(axis=0)) for part in parts)
        widened = widening(ids, level)
        return cls(one, other, chance, held_out, np.ones(n), widened * normal, widened)

    @property
    def n(self) -> float:
        """How many units there are."""
        return float(self.weights.sum())

    def mean(self, part: Floats) -> Floats:
        """Average rows."""
        return np.asarray(self.weights @ part / self.weights.sum())

    @property
    def pseudo(self) -> Floats:
        """Pseudo-units: right twice, wrong twice."""
        right = self.held_out - self.chance
        return np.stack([right, right, self.held_out, self.held_out])

    def spread(self) -> Floats:
        """Values, those of ungraded classes as far from the middle as a grading can take them."""
        if not self.ungraded.any():
            return self.value
        middle = self.value - self.ungraded / 2
        return np.where(middle >= self.mean(middle), self.value, self.value - self.ungraded)

    def covariance(self, part: Floats, *, pseudo: bool = True) -> Floats:
        """Covariance of the mean of the rows, as observed or with pseudo-units: deviations that are not counted."""
        some = self.pseudo if pseudo else np.zeros((0, part.shape[1]))
        n = self.n + len(some)
        middle = (self.weights @ part + some.sum(axis=0)) / n
        squares = part.T @ (part * self.weights[:, None]) + some.T @ some
        return np.asarray((squares - n * np.outer(middle, middle)) / (self.n - 1 if pseudo else n) / self.n)

    def half_widths(self, sign: Floats) -> tuple[float, float]:
        """Distances down and up from a signed sum of means to the ends of its interval; the outer ones."""
        parts = (self.value, self.value - self.ungraded, self.spread()) if self.ungraded.any() else (self.value,)
        ends = [_ends(np.append(part @ sign, self.pseudo @ sign), self) for part in parts]
        return max(down for down, _ in ends), max(up for _, up in ends)


class Influence(NamedTuple):
    """A number of many rows, and what each row adds to it if it is right and if it is wrong.

    Parameters
    ----------
    value : float
        The number.
    right, wrong : ndarray, shape (N,)
        N times the derivative of the number by the weight of a right or a wrong row with the row's confidence, up to a
        constant.
    """

    value: float
    right: Floats
    wrong: Floats


def influence_interval(influence: Influence, rows: CheckedRows, level: float) -> Interval:
    """Give a number its interval from the influences of its rows, unchecked; infinite with a single question."""
    value, right, wrong = influence
    psi = (rows.correct * right + (1 - rows.correct) * wrong)[:, None]
    mass = (wrong - right)[:, None], wrong[:, None]
    table = UnitTable.of(psi, np.zeros_like(psi), mass, Drawn(rows.weights, rows.ids, level))
    if table.n < 2:
        return Interval(value, -np.inf, np.inf)
    down, up = table.half_widths(np.ones(1))
    return Interval(value, value - down, value + up)


def share_interval(values: Floats, drawn: Drawn) -> Interval:
    """Mean of numbers in [0, 1] with Agresti and Coull's interval, unchecked; [0, 1] for a single unit.

    Two pseudo-units at 1 and two at 0 count for the variance, and for the middle where that moves an end outwards:
    numbers may vary much less than shares of the same mean, and then the middle is the mean.
    """
    ones = np.ones((len(values), 1))
    table = UnitTable.of(values[:, None], 0 * ones, (-ones, 0 * ones), drawn)
    value = min(max(float(table.mean(table.value)[0]), 0.0), 1.0)
    if table.n < 2:
        return Interval(value, 0.0, 1.0)
    middle = (value * table.n + PSEUDO / 2) / (table.n + PSEUDO)
    half = table.z * float(table.covariance(table.value)[0, 0]) ** 0.5
    return Interval(value, max(min(middle, value) - half, 0.0), min(max(middle, value) + half, 1.0))


def upward(table: UnitTable, far: Floats) -> float:
    """Find the larger upward half width of the sum of absolute residuals and of the gap with its sign."""
    gap = far.sum()
    ahead = 1.0 if gap >= 0 else -1.0
    sign = np.where(np.abs(far) < TINY, ahead, np.sign(far))
    signs = [sign, np.full(len(far), ahead)]
    if abs(gap) < TINY or table.ungraded.any():
        signs += [-signs[1]]
    return max(table.half_widths(each)[1] for each in signs)


def _summed(ids: Places, rows: Floats, n: int) -> Floats:
    """Sum rows by id."""
    return np.stack([sums(ids, column, n) for column in rows.T], axis=1)


def _ends(values: Floats, table: UnitTable) -> tuple[float, float]:
    """Half widths, down and up, of the mean of the units; ``values`` are theirs and those of the pseudo-units."""
    weights = np.append(table.weights, np.ones(PSEUDO))
    deviation = values - np.average(values, weights=weights)
    spread = float(np.average(deviation**2, weights=weights)) ** 0.5
    if spread < TINY:
        return 0.0, 0.0
    skewness = np.average(deviation**3, weights=weights) / spread**3
    root = table.n**0.5
    a = skewness / (3 * root)

    def t(x: float) -> float:
        moved = x - skewness / (6 * root)
        return float((np.cbrt(1 + 3 * a * moved) - 1) / a) if abs(a) > TINY else x

    return max(t(table.z), 0.0) * spread / root, max(-t(-table.z), 0.0) * spread / root
