"""How often a run is called ahead, an alarm is given, or a limit is passed, and how often that is wrong.

Pairs of runs on the same questions, whose true errors are known. Confidences are Sem1 of 20 answers to questions with
K ~ U{2..12} classes, Dirichlet(alpha) with alpha in {.15, .4, 1, 3}; a unanimous run is always certain. Correctness is
Bernoulli of a function of the confidence, and of half of the questions the same luck decides in both runs. Questions
are drawn with replacement from a pool, whose own values are the truth.
"""

from __future__ import annotations

import os
import sys
import time
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from benchmarks._tables import table
from semece.stats.calibration.binned_errors import ece
from semece.stats.simulation import dirichlet_mixture
from semece.stats.uncertainty.paired_errors import binned_terms, paired_error, surely_less

TITLE = "Who is ahead"
POOL = 200_000
REPLICATIONS = int(os.environ.get("RANKING_REPLICATIONS", "2000"))
N_ANSWERS = 20
CHUNK = 50_000
WIDTHS = 10
"""Intervals take most of the time: one run in so many has them."""
SURE = 0.025
"""One-sided p-value below which a run is called ahead with more than 95 %."""

ABOUT_RANKS = """\
Percent of the data sets in which one of two runs is called ahead with more than 95 % (of equal runs either may be; a
truly worse one at most 5 together), and in which the interval of the change holds the true change."""


class Model(NamedTuple):
    """A run: the confidence and the chance of being right at each question of the pool."""

    confidence: np.ndarray
    accuracy: np.ndarray


def draw_confidences(size: int) -> np.ndarray:
    """Draw Sem1 of two runs on the same questions; shape (2, size)."""
    rng = np.random.default_rng(0)
    parts = []
    for start in range(0, size, CHUNK):
        pmf = dirichlet_mixture(min(CHUNK, size - start), rng=rng).pmf
        parts.append([rng.multinomial(N_ANSWERS, pmf).max(axis=1) / N_ANSWERS for _ in range(2)])
    return np.concatenate(parts, axis=1)


SHAPES = {
    "over-confident": lambda c, x: np.clip(c - x, 0, 1),
    "crossing": lambda c, x: 0.5 + (1 - x) * (c - 0.5),
    "over-confident from .7": lambda c, x: np.where(c < 0.7, c, np.clip(c - x, 0, 1)),
}
"""Accuracy as a function of the confidence and of a size that makes the error what it should be."""

PAIRS = (
    ("calibrated", 0, "calibrated", 0),
    ("calibrated", 0, "over-confident", 0.02),
    ("over-confident", 0.05, "over-confident", 0.05),
    ("over-confident", 0.1, "over-confident", 0.1),
    ("over-confident", 0.1, "crossing", 0.1),
    ("over-confident from .7", 0.05, "over-confident", 0.05),
    ("over-confident from .7", 0.1, "over-confident", 0.1),
    ("crossing", 0.1, "over-confident from .7", 0.1),
    ("unanimous", 0.002, "calibrated", 0),
    ("unanimous", 0.03, "over-confident", 0.03),
    ("unanimous", 0.1, "crossing", 0.1),
    ("unanimous", 0.02, "unanimous", 0.02),
    ("calibrated", 0, "over-confident", 0.15),
    ("over-confident", 0.05, "over-confident", 0.15),
    ("crossing", 0.05, "crossing", 0.15),
    ("unanimous", 0.01, "over-confident", 0.1),
)
"""Shape and true error of both runs."""


def model(shape: str, error: float, confidence: np.ndarray) -> Model:
    """Make a run with a true error."""
    if shape == "unanimous":
        return Model(np.ones_like(confidence), np.full_like(confidence, 1 - error))
    if error == 0:
        return Model(confidence, confidence)
    size = brentq(lambda x: ece(confidence, SHAPES[shape](confidence, x)) - error, 0, 1)
    return Model(confidence, SHAPES[shape](confidence, size))


def drawn(models: tuple[Model, Model], size: int, rng: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:
    """Draw both runs on the same questions: confidence and correctness."""
    index, luck = rng.integers(0, len(models[0].accuracy), size), rng.random(size)
    other = np.where(rng.random(size) < 0.5, luck, rng.random(size))
    pairs = zip(models, (luck, other), strict=True)
    return [(each.confidence[index], (u < each.accuracy[index]).astype(float)) for each, u in pairs]


def percent(share: float) -> str:
    return f"{100 * share:.1f}"


def rank_row(confidences: np.ndarray, pair: tuple[str, float, str, float], size: int, replications: int) -> list[str]:
    """How often either run is called ahead, and how often the interval of the change holds."""
    shapes, errors = pair[::2], pair[1::2]
    models = tuple(map(model, shapes, errors, confidences))
    truth = errors[1] - errors[0]
    rng = np.random.default_rng([size, *(len(shape) for shape in shapes), *(round(1000 * error) for error in errors)])
    ahead, held = [], []
    for replication in range(replications):
        one, other = (binned_terms(*side) for side in drawn(models, size, rng))
        ahead.append(np.array(surely_less(one, other, rng=rng)) < SURE)
        if replication % WIDTHS == 0:
            change = paired_error(one, other, rng=rng)
            held.append([change.low <= truth <= change.high, change.high - change.low])
    (first, second), (covered, width) = np.mean(ahead, axis=0), np.mean(held, axis=0)
    row = [f"{shapes[0]} {errors[0]:g}", f"{shapes[1]} {errors[1]:g}", str(size)]
    print(*row, first, second, covered, width, sep=" | ", file=sys.stderr, flush=True)
    return [*row, percent(first), percent(second), percent(covered), f"{width:.3f}"]


def main(replications: int = REPLICATIONS) -> str:
    start = time.perf_counter()
    confidences = draw_confidences(POOL)
    ranks = [rank_row(confidences, pair, size, replications) for size in (150, 500, 2000) for pair in PAIRS]
    minutes = (time.perf_counter() - start) / 60
    setting = f"{replications:,} replications a cell, a pool of {POOL:,} questions, {minutes:.0f} minutes."
    header = ["first", "second", "N", "first ahead", "second ahead", "change covered", "mean width"]
    return "\n\n".join(
        [" ".join((__doc__ or "").split("\n\n", 1)[1].split()), setting, ABOUT_RANKS, table(header, ranks)]
    )


if __name__ == "__main__":
    print(main())
