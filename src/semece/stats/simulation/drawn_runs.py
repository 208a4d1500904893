"""Drawing a run from a population: responses, correctness, and the estimates that follow."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from semece.stats.counts import Counts, subset_selection
from semece.stats.estimators.held_out import held_out_frequency
from semece.stats.estimators.pairing import weighted
from semece.stats.rows import Bools, Floats, Integers, Seed, check_choice, check_count
from semece.stats.theory.number_arguments import check_numbers

if TYPE_CHECKING:
    from semece.stats.simulation.populations import Population

Accuracy: TypeAlias = "Callable[[Floats], Floats]"
Given = Literal["oracle", "reported"]

CORRECTNESS: dict[str, Accuracy] = {
    "calibrated": lambda c: c,
    "over-confident": lambda c: c**2,
    "crossing": lambda c: 0.25 + 0.5 * c,
}
"""Accuracy of an answer as a function of its confidence."""


class Simulation(NamedTuple):
    """A run on a known population.

    Parameters
    ----------
    population : Population
        What it was drawn from.
    counts : ndarray of int, shape (Q, K)
        Class counts of the n responses of each question.
    right : ndarray of float, shape (Q, K)
        1 where a class is correct, 0 elsewhere.
    n_select : int
        Size s of Sem2's selection block.
    sem1, sem2 : ndarray, shape (Q,)
        Confidences.
    correct, correct_split : ndarray, shape (Q,)
        Correctness under pooled pairing (mean over tied modes) and under split pairing.
    oracle_correct : ndarray, shape (Q,)
        Correctness a* of the most probable class.
    """

    population: Population
    counts: Integers
    right: Floats
    n_select: int
    sem1: Floats
    sem2: Floats
    correct: Floats
    correct_split: Floats
    oracle_correct: Floats

    @property
    def oracle_confidence(self) -> Floats:
        """Probability of the most probable class, c*; shape (Q,)."""
        return self.population.oracle_confidence


def simulate(
    population: Population,
    n: int = 50,
    *,
    correctness: str | Accuracy = "over-confident",
    given: Given = "oracle",
    n_select: int | None = None,
    rng: Seed = 0,
) -> Simulation:
    r"""Draw n responses per question, grade the classes, and estimate.

    Parameters
    ----------
    population : Population
        Known class probabilities, Q questions. It must not come from the same seed as ``rng``.
    n : int
        Responses per question, M >= 2.
    correctness : {'calibrated', 'over-confident', 'crossing'} or callable
        Chance that an answer with confidence c is right: c, c^2, 0.25 + 0.5 c, or a function on arrays.
    given : {'oracle', 'reported'}
        Whose confidence: the most probable class is right with the chance at :math:`c^*`, or the deployed answer (all
        tied modes alike) with the chance at its Sem1. Where it is wrong, another class is right with the chance at its
        own probability or frequency, so that the correct class may be a runner-up.
    n_select : int, optional
        s in [1, n - 1], by default n // 2.
    rng : int or Generator
        Seed. Equal input gives equal output, whatever the number of threads.

    Returns
    -------
    Simulation

    Raises
    ------
    ValueError
        For options out of range or unknown.

    Examples
    --------
    >>> from semece.stats.simulation import near_tie
    >>> study = simulate(near_tie(2000), rng=1)
    >>> bool(study.sem1.mean() > study.oracle_confidence.mean() > study.sem2.mean())
    True
    """
    check_choice("given", given, ("oracle", "reported"))
    n = check_count("n", n, least=2)
    s = check_count("n_select", n // 2 if n_select is None else n_select)
    if s >= n:
        raise ValueError(f"n_select must be less than n; got {s} of {n}")
    generator = np.random.default_rng(rng)
    pmf = population.pmf
    counts = generator.multinomial(n, pmf)
    sem1 = counts.max(axis=1) / n
    best = _largest(pmf)
    share = pmf if given == "oracle" else counts / n
    right = draw_right(share, _largest(share), accuracy_of(correctness, share), rng=generator)
    ragged = Counts.from_counts(counts)
    found = subset_selection(ragged, s)
    sem2 = held_out_frequency(ragged, np.full(len(counts), s), found)
    correct, split = (weighted(ragged, w, right.ravel()) for w in (ragged.mode_weights, found.probability))
    oracle = (right * best).sum(axis=1) / best.sum(axis=1)
    return Simulation(population, counts, right, s, sem1, sem2, correct, split, oracle)


def accuracy_of(correctness: str | Accuracy, confidence: Floats) -> Floats:
    """Chance of being right at each confidence, checked.

    Raises
    ------
    ValueError
        For an unknown name, or a function with values outside [0, 1].

    Examples
    --------
    >>> accuracy_of("crossing", np.array([0.0, 1.0])).tolist()
    [0.25, 0.75]
    """
    if isinstance(correctness, str):
        check_choice("correctness", correctness, tuple(CORRECTNESS))
        correctness = CORRECTNESS[correctness]
    return check_numbers("correctness(confidence)", correctness(confidence), high=1.0)


def draw_right(share: Floats, deployed: Bools, chance: Floats, *, rng: np.random.Generator) -> Floats:
    """Draw which classes are right.

    The deployed answer comes first, then the other classes by falling share; each is right with its own chance, as
    long as the chances sum to at most 1, and at most one of them is.

    Parameters
    ----------
    share : ndarray, shape (Q, K)
        Probability or frequency of each class.
    deployed : ndarray of bool, shape (Q, K)
        The answer, or tied answers, which are right or wrong together.
    chance : ndarray, shape (Q, K)
        Chance of each class; that of the deployed answer is the largest among its ties.
    rng : Generator
        Drawn from once per question.

    Returns
    -------
    ndarray of float, shape (Q, K)
        1 for right classes, 0 for the others.

    Examples
    --------
    >>> share = np.array([[0.5, 0.3, 0.2]])
    >>> draw_right(share, share == 0.5, np.array([[0.0, 1.0, 0.0]]), rng=np.random.default_rng(0)).tolist()
    [[0.0, 1.0, 0.0]]
    """
    ticket = rng.random((len(share), 1))
    first = np.where(deployed, chance, 0.0).max(axis=1, keepdims=True)
    order = np.argsort(np.where(deployed, 0.0, -share), axis=1, kind="stable")
    others = np.where(deployed | (share == 0), 0.0, chance)
    until = np.zeros(share.shape)
    np.put_along_axis(until, order, first + np.cumsum(np.take_along_axis(others, order, axis=1), axis=1), axis=1)
    other = (until - others <= ticket) & (ticket < until) & (others > 0)
    return np.asarray(np.where(ticket < first, deployed, other), dtype=np.float64)


def _largest(values: Floats | Integers) -> Bools:
    """Mark the largest entries of each row."""
    return np.asarray(values == values.max(axis=1, keepdims=True))
