r"""How many questions a held-out gap of a wanted width takes, from a pilot or from nothing.

With r the residual of a question (SemX summed over its bins) the interval of the held-out gap has the width

.. math:: w(N) = 2 z \sqrt{(V_{N + 4} + e / \rho) / N}

with :math:`V_{N+4}` the variance of the N residuals and the four pseudo-questions of
:mod:`semece.stats.uncertainty.held_out_errors`. If people judge a share :math:`\rho` of the answers and overturn a
share e of the judge's verdicts, correcting by them adds :math:`e / \rho`.

The width of a run is random, and so is the pilot's variance. Their ratio has a relative standard error of
:math:`\tfrac12 \sqrt{(\kappa - 1)(1/N_0 + 1/N)}`, with :math:`\kappa` the kurtosis of the residuals and :math:`N_0` the
questions of the pilot. Where the pilot has at least 200 questions, its accuracy is at most .9, and 2.25 of these errors
are at most 10 %, the pilot's own variance is planned with. Pilots that look so even are those that happen to overstate
the spread a little, so half an error is taken off the width. Otherwise it is the Clopper-Pearson upper limit v of the
mean square among :math:`1 / (1/N_0 + 1/N)` questions, and the width is that of :func:`semece.held_out_gap` for
residuals of the skewness :math:`1 / \sqrt v`: rare ones of size 1. Without a pilot the worst case is
:math:`1/4 + a(1 - a)`, a the accuracy: the answers' agreement is as spread as it can be and says nothing of whether
they are right.
"""

from __future__ import annotations

from math import cbrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import betaincinv, ndtri

from semece.stats.counts import Counts
from semece.stats.estimators.semx import semx
from semece.stats.rows import check_count, check_level, check_rng

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from semece.stats.rows import Seed

    Floats = NDArray[np.float64]

NEAR, ONE_SIDED = 0.1, 0.9
"""How near the width of a run should come to the planned one, and how often."""
SURE, OVERSTATED = 2.25, 0.5
"""How many standard errors of the ratio of the widths must be as near, and how many are taken off the planned width.

9 of 10 take 1.645 of the true one. It is estimated, and a pilot whose residuals look even overstates their spread:
among the few that pass in a population of uneven ones, runs came out up to 14 % narrower with 1.96 and none taken off.
Chosen on eight families, calibrated and over-confident, other than those of the documentation's benchmark."""
LEAST_PILOT, HIGHEST = 200, 0.9
"""Questions that a pilot must have, and its highest accuracy: where nearly all is right, few residuals are large."""
SUBSAMPLES = 5
"""How often fewer answers are drawn from a pilot's."""
MOST = 10**9
"""Most questions that are planned."""


class ResidualSpread(NamedTuple):
    """How the residuals of questions spread.

    Parameters
    ----------
    n_answers : int
        Answers per question.
    questions : int
        Of the pilot; 0 without one.
    gap, variance, kurtosis : float
        Mean, variance and kurtosis of the residuals.
    held_out : float
        Mean held-out frequency, in [0, 1].
    """

    n_answers: int
    questions: int
    gap: float
    variance: float
    kurtosis: float
    held_out: float

    @property
    def accuracy(self) -> float:
        """Accuracy of the answer that half of the responses would choose."""
        return self.held_out - self.gap


def pilot_spread(counts: Counts, correct: ArrayLike, *, n_answers: int, rng: Seed = 0) -> ResidualSpread:
    """Measure how the residuals would spread with so many answers per question, by those that a pilot has.

    Parameters
    ----------
    counts : Counts
        Class counts of the pilot, without refusals.
    correct : array_like
        Correctness of each class, aligned with ``counts.values``; nan, not graded, counts as wrong.
    n_answers : int
        At least 2. Questions with fewer answers do not enter; of the others so many are drawn, some times.
    rng : int or Generator
        Seed.

    Returns
    -------
    ResidualSpread

    Raises
    ------
    ValueError
        Fewer than two questions have so many answers.

    Examples
    --------
    >>> counts = Counts.from_counts([[3, 1], [4, 0], [2, 2]] * 20)
    >>> spread = pilot_spread(counts, [1, 0, 1, 0, 0, 1] * 20, n_answers=4)
    >>> spread.questions, round(spread.gap, 3), round(spread.variance, 3)
    (60, -0.139, 0.011)
    """
    n, generator = check_count("n_answers", n_answers, least=2), check_rng(rng)
    some, places = counts.take(np.flatnonzero(counts.responses >= n))
    if len(some) < 2:
        raise ValueError(f"a pilot must have at least 2 questions with {n} answers; got {len(some)}")
    grades = np.asarray(correct, dtype=np.float64)[places]
    times = 1 if (some.responses == n).all() else SUBSAMPLES
    found = [_moments(_fewer(some, n, generator), grades) for _ in range(times)]
    return ResidualSpread(n, len(some), *np.mean(found, axis=0).tolist())


def worst_spread(n_answers: int, accuracy: float = 0.5) -> ResidualSpread:
    """Give the widest spread that a model of some accuracy can have if agreement does not point the wrong way.

    Examples
    --------
    >>> worst_spread(4).variance, round(worst_spread(4, accuracy=0.9).variance, 2)
    (0.5, 0.34)
    """
    n, a = check_count("n_answers", n_answers, least=2), check_level(accuracy, name="accuracy")
    return ResidualSpread(n, 0, 0.0, 0.25 + a * (1 - a), 1.0, 0.5)


class PlannedRun(NamedTuple):
    """A run of a wanted width.

    Parameters
    ----------
    n_answers, questions, labels : int
        Answers per question, questions, and how many of their answers people judge.
    width : float
        The width planned for.
    basis : {'pilot', 'upper limit', 'worst case'}
        Which spread it is planned with. The width of a run is within 10 % of the planned one in at least 90 % of runs
        for ``pilot``, and not above it in as many for ``upper limit``.
    """

    n_answers: int
    questions: int
    labels: int
    width: float
    basis: str


def plan_questions(
    spread: ResidualSpread, *, width: float, overturned: float = 0.0, labelled: float = 1.0, level: float = 0.95
) -> PlannedRun:
    """Find the fewest questions for an interval of the held-out gap that is no wider than wanted.

    Parameters
    ----------
    spread : ResidualSpread
        From :func:`pilot_spread` or :func:`worst_spread`.
    width : float
        Distance from the lower to the upper end of the interval, in (0, 2).
    overturned : float
        Share of the judge's verdicts that people would overturn, in [0, 1); 0: nobody judges.
    labelled : float
        Share of the questions whose answer people judge, in (0, 1].
    level : float
        Of the interval, in (0, 1).

    Returns
    -------
    PlannedRun

    Raises
    ------
    ValueError
        For numbers out of range, and a width that takes more than :data:`MOST` questions.

    Examples
    --------
    >>> plan_questions(worst_spread(4), width=0.1)
    PlannedRun(n_answers=4, questions=767, labels=0, width=0.1, basis='worst case')
    """
    if not 0 < width < 2:
        raise ValueError(f"width must lie between 0 and 2; got {width}")
    if not 0 <= overturned < 1 or not 0 < labelled <= 1:
        raise ValueError(f"overturned must lie in [0, 1) and labelled in (0, 1]; got {overturned} and {labelled}")
    z = float(ndtri(0.5 + check_level(level) / 2))

    def width_of(n: int, *, upper: bool) -> float:
        variance = _variance(spread, n, upper=upper)
        return float(z * ((variance + overturned / labelled) / n) ** 0.5 * _widths(variance, n, z, upper=upper))

    def size(*, upper: bool) -> int:
        few, many = 1, MOST
        while many - few > 1:
            n = (few + many) // 2
            few, many = (n, many) if width_of(n, upper=upper) > width else (few, n)
        return many

    n = size(upper=False)
    basis = "worst case" if spread.questions == 0 else "pilot"
    if basis == "pilot" and _near(spread, n):
        n = max(int(np.ceil(n * (1 - OVERSTATED * _error(spread, n)) ** 2)), 2)
    elif basis == "pilot":
        n, basis = size(upper=True), "upper limit"
    if n == MOST:
        least = width_of(n, upper=False)
        raise ValueError(f"width must be one that {MOST:,} questions can have, at least {least:.2g}; got {width:g}")
    return PlannedRun(spread.n_answers, n, int(np.ceil(labelled * n)) if overturned else 0, width, basis)


def width_to_find(gap: float, power: float, *, level: float = 0.95) -> float:
    """Give the width with which a gap of some size is told from 0 with some power.

    Examples
    --------
    >>> round(width_to_find(0.1, 0.9), 3)
    0.121
    """
    if not 0 < abs(gap) < 1:
        raise ValueError(f"gap must be a number in (-1, 1) that is not 0; got {gap}")
    if not 0.5 <= power < 1:
        raise ValueError(f"power must lie in [0.5, 1); got {power}")
    z = float(ndtri(0.5 + check_level(level) / 2))
    return 2 * abs(gap) * z / (z + float(ndtri(power)))


def _error(spread: ResidualSpread, n: int) -> float:
    """Relative standard error of the width of a run to the planned one."""
    return float(0.5 * ((spread.kurtosis - 1) * (1 / spread.questions + 1 / n)) ** 0.5)


def _near(spread: ResidualSpread, n: int) -> bool:
    """Whether the width of a run comes near the planned one often enough."""
    known = spread.questions >= LEAST_PILOT and spread.accuracy <= HIGHEST
    return known and SURE * _error(spread, n) <= NEAR


def _widths(variance: float, n: int, z: float, *, upper: bool) -> float:
    """How many half widths of a symmetric interval the interval has: more than 2 with rare large residuals."""
    if not upper:
        return 2.0
    a = variance**-0.5 / (3 * n**0.5)
    low, high = (cbrt(1 + 3 * a * (x - a / 2)) for x in (-z, z))
    return float((high - low) / (a * z))


def _variance(spread: ResidualSpread, n: int, *, upper: bool) -> float:
    """Variance of n residuals and four pseudo-questions: two whose answer is right, two whose answer is wrong."""
    mean, variance = spread.gap, spread.variance
    if upper:
        seen = 1 / (1 / spread.questions + 1 / n)
        square = min(variance + mean**2, 1.0) * seen
        mean, variance = 0.0, float(betaincinv(square + 1, max(seen - square, 1e-9), 0.5 + ONE_SIDED / 2))
    wrong, right = spread.held_out, spread.held_out - 1
    middle = (n * mean + 2 * (wrong + right)) / (n + 4)
    pseudo = 2 * ((wrong - middle) ** 2 + (right - middle) ** 2)
    return (n * (variance + (mean - middle) ** 2) + pseudo) / (n + 4)


def _fewer(counts: Counts, n: int, rng: np.random.Generator) -> Counts:
    """Draw n of the answers of each question, without putting any back."""
    classes = np.repeat(np.arange(len(counts.values)), counts.values)
    question = np.repeat(np.arange(len(counts)), counts.responses)
    order = np.lexsort((rng.random(len(classes)), question))
    first = np.concatenate([[0], np.cumsum(counts.responses)[:-1]])
    rank = np.arange(len(classes)) - first[question]
    return Counts(np.bincount(classes[order][rank < n], minlength=len(counts.values)), counts.offsets)


def _moments(counts: Counts, correct: Floats) -> tuple[float, float, float, float]:
    """Mean, variance and kurtosis of the residuals, and the mean held-out frequency."""
    found = semx(correct=np.nan_to_num(correct), counts=counts)
    r, h = (np.bincount(found.question, part, len(counts)) for part in (found.value, found.held_out))
    variance = float(r.var())
    kurtosis = float(((r - r.mean()) ** 4).mean()) / variance**2 if variance > 1e-12 else np.inf
    return float(r.mean()), variance, kurtosis, float(h.mean())
