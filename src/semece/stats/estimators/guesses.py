"""Confidences from lists of guesses that a model makes of one question, each with a stated probability."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semece.stats.rows import Floats

STEPS, CLOSE = 10_000, 1e-12
"""Most iterations of :func:`pair_rank`, and the change that ends them."""


def stated_share(labels: Sequence[Sequence[int]], stated: Sequence[Sequence[float]], *, label: int = 0) -> float:
    r"""Mean over the lists of the probability that is stated for one answer.

    .. math:: \frac{1}{T} \sum_{t} \min\Big(1, \sum_{j:\, y_{tj} = y} p_{tj}\Big)

    With one list this is the confidence of Tian et al. 2023 (Verb. 1S top-k).

    Parameters
    ----------
    labels, stated : sequence of sequences
        Per list the class and the stated probability, in [0, 1], of each guess.
    label : int
        The class that is meant. A list without it counts 0.

    Raises
    ------
    ValueError
        If there is no list.

    Examples
    --------
    >>> stated_share([[0, 1], [1, 2]], [[0.75, 0.25], [0.5, 0.5]])
    0.375
    """
    if not labels:
        raise ValueError("labels must hold at least one list of guesses; got none")
    shares = [
        min(1.0, sum(p for each, p in zip(*pair, strict=True) if each == label))
        for pair in zip(labels, stated, strict=True)
    ]
    return float(np.mean(shares))


def weighted_share(
    labels: Sequence[Sequence[int]], stated: Sequence[Sequence[float]], *, label: int = 0
) -> float | None:
    r"""Share of all stated probability that goes to one answer: Avg-Conf of Xiong et al. 2024.

    .. math:: \sum_{t,j} 1[y_{tj} = y]\, p_{tj} \Big/ \sum_{t,j} p_{tj}

    Parameters
    ----------
    labels, stated, label
        As :func:`stated_share`.

    Returns
    -------
    float or None
        In [0, 1]; None if all stated probabilities are 0.

    Examples
    --------
    >>> weighted_share([[0, 1], [0, 2]], [[0.5, 0.25], [0.25, 0.25]])
    0.6
    """
    pairs = [(each, p) for pair in zip(labels, stated, strict=True) for each, p in zip(*pair, strict=True)]
    total = sum(p for _, p in pairs)
    return float(sum(p for each, p in pairs if each == label) / total) if total > 0 else None


def pair_rank(labels: Sequence[Sequence[int]], *, label: int = 0, prior: float = 0.5) -> float:
    r"""Weight of one answer in the order of the guesses alone: Pair-Rank of Xiong et al. 2024.

    A guess is preferred to those after it in its list, and to the answers that the list does not name. The weights
    :math:`w`, which sum to 1, maximise the likelihood of these preferences,

    .. math:: \sum_{u,v} n_{uv} \log \frac{w_u}{w_u + w_v},

    the model of Bradley and Terry, by Hunter's 2004 iteration. `prior` is added to every :math:`n_{uv}`: without it the
    maximum need not exist, such as for one list. The authors' code ends a gradient descent early instead.

    Parameters
    ----------
    labels : sequence of sequences of int
        Per list the classes of its guesses, the most likely first; what comes again in a list counts once.
    label : int
        The class that is meant; it takes part even if no list names it.
    prior : float
        Preferences added each way between every two answers, > 0.

    Returns
    -------
    float
        In [0, 1]; 1 if there is no other answer.

    Raises
    ------
    ValueError
        If `prior` is not above 0.

    Examples
    --------
    >>> round(pair_rank([[0, 1]]), 6), round(pair_rank([[0, 1], [1, 0]]), 6)
    (0.75, 0.5)
    """
    if not prior > 0:
        raise ValueError(f"prior must be above 0; got {prior}")
    options = sorted({label, *(each for one in labels for each in one)})
    place = {each: number for number, each in enumerate(options)}
    wins = np.full((len(options), len(options)), float(prior))
    np.fill_diagonal(wins, 0.0)
    for one in labels:
        below = np.ones(len(options))
        for each in dict.fromkeys(one):
            below[place[each]] = 0.0
            wins[place[each]] += below
    return float(_bradley_terry(wins)[place[label]])


def _bradley_terry(wins: Floats) -> Floats:
    """Fit weights to the numbers of preferences, each positive but on the diagonal."""
    total, met = wins.sum(axis=1), wins + wins.T
    weights = np.full(len(wins), 1.0 / len(wins))
    if len(wins) == 1:
        return weights
    for _ in range(STEPS):
        fresh = total / (met / (weights[:, None] + weights)).sum(axis=1)
        fresh /= fresh.sum()
        done = np.abs(fresh - weights).max() < CLOSE
        weights = fresh
        if done:
            break
    return weights
