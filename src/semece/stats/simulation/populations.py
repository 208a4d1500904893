"""Populations of questions whose class probabilities are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from semece.stats.rows import Bools, Floats, Integers, Seed, check_count
from semece.stats.theory.expectations import check_pmf

Span = tuple[float, float]
"""Least and greatest value of a uniform draw."""


class Population(NamedTuple):
    """Questions with known class probabilities.

    Parameters
    ----------
    family : str
        Where they come from.
    pmf : ndarray, shape (Q, K)
        Class probabilities, one row per question; a question with fewer classes has zeros.
    """

    family: str
    pmf: Floats

    @property
    def oracle_confidence(self) -> Floats:
        """Probability of the most probable class, c*; shape (Q,)."""
        return np.asarray(self.pmf.max(axis=1))

    @property
    def margin(self) -> Floats:
        """Difference of the two largest probabilities; shape (Q,)."""
        first, second = self._top_two
        return first - second

    @property
    def top_two_mass(self) -> Floats:
        """Sum of the two largest probabilities; shape (Q,)."""
        first, second = self._top_two
        return np.minimum(first + second, 1.0)

    @property
    def n_classes(self) -> Integers:
        """Classes that can occur; shape (Q,)."""
        return np.asarray((self.pmf > 0).sum(axis=1))

    @property
    def _top_two(self) -> tuple[Floats, Floats]:
        padded = np.concatenate([self.pmf, np.zeros((len(self.pmf), 1))], axis=1)
        two = np.partition(padded, -2, axis=1)
        return two[:, -1], two[:, -2]


def given_pmf(pmf: ArrayLike, *, family: str = "given") -> Population:
    """Make a population of probabilities that you have.

    Parameters
    ----------
    pmf : array_like, shape (Q, K)
        Rows sum to 1.
    family : str
        What to call it.

    Returns
    -------
    Population

    Raises
    ------
    ValueError
        For another shape and rows that do not sum to 1.

    Examples
    --------
    >>> given_pmf([[0.5, 0.5], [1.0, 0.0]]).margin.tolist()
    [0.0, 1.0]
    """
    rows = check_pmf(pmf)
    if rows.ndim != 2:
        raise ValueError(f"pmf must have shape (Q, K); got shape {rows.shape}")
    return Population(family, rows)


def dirichlet_mixture(
    n_questions: int,
    *,
    rng: Seed = 0,
    n_classes: tuple[int, int] = (2, 12),
    alphas: Sequence[float] = (0.15, 0.4, 1.0, 3.0),
) -> Population:
    r"""Dirichlet(:math:`\alpha`) over K classes, K and :math:`\alpha` drawn per question.

    Parameters
    ----------
    n_questions : int
        Q >= 1.
    rng : int or Generator
        Seed.
    n_classes : tuple of int
        Smallest and largest K, uniform in between.
    alphas : sequence of float
        Concentrations > 0, equally likely.

    Returns
    -------
    Population

    Raises
    ------
    ValueError
        For no questions or an empty range of classes.

    Examples
    --------
    >>> dirichlet_mixture(3, n_classes=(2, 2)).pmf.sum(axis=1).round(12).tolist()
    [1.0, 1.0, 1.0]
    """
    generator = np.random.default_rng(rng)
    occurs = _occurring(n_questions, n_classes, generator)
    alpha = generator.choice(np.asarray(alphas, dtype=np.float64), size=(n_questions, 1))
    # A gamma variable of small shape may underflow to 0; the floor keeps a row of such values a distribution.
    weights = np.where(occurs, np.maximum(generator.standard_gamma(alpha, size=occurs.shape), 1e-290), 0.0)
    return Population("dirichlet-mixture", _normalised(weights))


def zipf(
    n_questions: int, *, rng: Seed = 0, n_classes: tuple[int, int] = (2, 12), exponents: Span = (0.5, 3.0)
) -> Population:
    r"""Probabilities proportional to :math:`k^{-s}`, K and s drawn uniformly per question.

    Parameters
    ----------
    n_questions : int
        Q >= 1.
    rng : int or Generator
        Seed.
    n_classes : tuple of int
        Smallest and largest K.
    exponents : tuple of float
        Smallest and largest s.

    Returns
    -------
    Population

    Raises
    ------
    ValueError
        For no questions or an empty range of classes.

    Examples
    --------
    >>> zipf(1, n_classes=(3, 3), exponents=(1.0, 1.0)).pmf.round(4).tolist()
    [[0.5455, 0.2727, 0.1818]]
    """
    generator = np.random.default_rng(rng)
    occurs = _occurring(n_questions, n_classes, generator)
    exponent = generator.uniform(*exponents, size=(n_questions, 1))
    return Population("zipf", _normalised(np.where(occurs, np.arange(1, occurs.shape[1] + 1) ** -exponent, 0.0)))


def softmax_normal(
    n_questions: int, *, rng: Seed = 0, n_classes: tuple[int, int] = (4, 10), scales: Span = (1.0, 2.0)
) -> Population:
    """Softmax of independent normal logits, K and their standard deviation drawn uniformly per question.

    Parameters
    ----------
    n_questions : int
        Q >= 1.
    rng : int or Generator
        Seed.
    n_classes : tuple of int
        Smallest and largest K.
    scales : tuple of float
        Smallest and largest standard deviation. Small ones make close third classes.

    Returns
    -------
    Population

    Raises
    ------
    ValueError
        For no questions or an empty range of classes.

    Examples
    --------
    >>> softmax_normal(1, n_classes=(4, 4), scales=(0.0, 0.0)).pmf.tolist()
    [[0.25, 0.25, 0.25, 0.25]]
    """
    generator = np.random.default_rng(rng)
    occurs = _occurring(n_questions, n_classes, generator)
    scale = generator.uniform(*scales, size=(n_questions, 1))
    logits = np.where(occurs, scale * generator.standard_normal(occurs.shape), -np.inf)
    return Population("softmax-normal", _normalised(np.exp(logits - logits.max(axis=1, keepdims=True))))


def near_tie(
    n_questions: int, *, rng: Seed = 0, top_two_mass: Span = (0.8, 1.0), margin: Span = (0.0, 0.06), n_rest: int = 4
) -> Population:
    r"""Two classes that nearly tie, and a rest that is far behind.

    Parameters
    ----------
    n_questions : int
        Q >= 1.
    rng : int or Generator
        Seed.
    top_two_mass : tuple of float
        Smallest and largest top-two mass p, uniform in between.
    margin : tuple of float
        Smallest and largest margin, uniform in between.
    n_rest : int
        Classes that share the rest 1 - p by Dirichlet(1); >= 1.

    Returns
    -------
    Population

    Raises
    ------
    ValueError
        For no questions or no classes for the rest.

    Examples
    --------
    >>> population = near_tie(1000)
    >>> bool(population.margin.max() <= 0.06), bool(population.top_two_mass.min() >= 0.8)
    (True, True)
    """
    generator = np.random.default_rng(rng)
    n_questions = check_count("n_questions", n_questions)
    p = generator.uniform(*top_two_mass, size=n_questions)
    delta = generator.uniform(*margin, size=n_questions)
    rest = generator.dirichlet(np.ones(check_count("n_rest", n_rest)), size=n_questions) * (1 - p)[:, None]
    return Population("near-tie", np.column_stack([(p + delta) / 2, (p - delta) / 2, rest]))


def easy(n_questions: int, *, rng: Seed = 0, confidence: Span = (0.8, 1.0), n_rest: int = 4) -> Population:
    """One class that clearly leads.

    Parameters
    ----------
    n_questions : int
        Q >= 1.
    rng : int or Generator
        Seed.
    confidence : tuple of float
        Smallest and largest oracle confidence, uniform in between.
    n_rest : int
        Classes that share the rest by Dirichlet(1); >= 1.

    Returns
    -------
    Population

    Raises
    ------
    ValueError
        For no questions or no classes for the rest.

    Examples
    --------
    >>> bool(easy(1000).margin.min() > 0.6)
    True
    """
    generator = np.random.default_rng(rng)
    n_questions = check_count("n_questions", n_questions)
    c = generator.uniform(*confidence, size=n_questions)
    rest = generator.dirichlet(np.ones(check_count("n_rest", n_rest)), size=n_questions) * (1 - c)[:, None]
    return Population("easy", np.column_stack([c, rest]))


FAMILIES: dict[str, Callable[..., Population]] = {
    family.__name__.replace("_", "-"): family for family in (dirichlet_mixture, zipf, softmax_normal, near_tie, easy)
}
"""Generators by name; each takes the number of questions and ``rng=``."""


def _occurring(n_questions: int, n_classes: tuple[int, int], rng: np.random.Generator) -> Bools:
    """Draw a number of classes per question; which columns they fill."""
    least = check_count("n_classes[0]", n_classes[0])
    most = check_count("n_classes[1]", n_classes[1], least=least)
    size = rng.integers(least, most + 1, size=check_count("n_questions", n_questions))
    return np.asarray(np.arange(most) < size[:, None])


def _normalised(weights: Floats) -> Floats:
    """Divide rows by their sums."""
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
