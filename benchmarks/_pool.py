"""A pool of questions with n = 50 responses that stands for an endless population.

Samples are drawn from it with replacement, so a value computed on the whole pool is the exact truth of the samples.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from semece.stats.counts import Counts
from semece.stats.estimators import sem2
from semece.stats.simulation import dirichlet_mixture
from semece.stats.uncertainty.bootstrap import is_low_margin

N_RESPONSES = 50


class Pool(NamedTuple):
    """Sem1, Sem2 and whether the margin is low, of each question."""

    sem1: np.ndarray
    sem2: np.ndarray
    low: np.ndarray

    def take(self, index: np.ndarray) -> Pool:
        return Pool(*(values[index] for values in self))


def draw_pool(n_questions: int, seed: int = 0) -> Pool:
    """K ~ U{2..12}, Dirichlet(alpha) with alpha in {.15, .4, 1, 3}, 50 responses each."""
    rng = np.random.default_rng(seed)
    counts = np.concatenate(
        [
            -np.sort(-rng.multinomial(N_RESPONSES, dirichlet_mixture(size, rng=rng).pmf), axis=1)
            for size in np.diff(np.append(np.arange(0, n_questions, 50_000), n_questions))
        ]
    )
    distinct, place = np.unique(counts, axis=0, return_inverse=True)
    held_out = sem2(counts=Counts.from_counts(distinct))
    margin = (counts[:, 0] - counts[:, 1]) / N_RESPONSES
    return Pool(counts[:, 0] / N_RESPONSES, held_out[place], is_low_margin(margin, N_RESPONSES))
