"""How often decisions are wrong: thresholds to answer from, alone and in slices.

Questions are drawn with replacement from pools whose own values are the truth: K ~ U{2..12} classes with
Dirichlet(alpha) probabilities, alpha in {.15, .4, 1, 3}, or nearly certain ones (the leading class has .8 to 1), with
10 answers each. The leading class is right with its own probability c (calibrated), c squared (over-confident), or
.25 + .5 c (crossing). The stated confidence is the square root of c with some noise, in steps of .05.
"""

from __future__ import annotations

import os
import sys
import time
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks._tables import table
from semece.stats import abstention_threshold, slice_thresholds
from semece.stats.simulation import dirichlet_mixture, easy, simulate

if TYPE_CHECKING:
    from collections.abc import Callable

TITLE = "Decisions"
REPLICATIONS = int(os.environ.get("DECISIONS_REPLICATIONS", "2000"))
POOL = 100_000
N_ANSWERS = 10
POPULATIONS = {
    "calibrated": (dirichlet_mixture, "calibrated"),
    "over-confident": (dirichlet_mixture, "over-confident"),
    "crossing": (dirichlet_mixture, "crossing"),
    "nearly certain": (easy, "calibrated"),
}
SCORES = ("sem1", "sem2", "verbalized")
TARGETS = (0.7, 0.9, 0.95)
SIZES = (300, 1000)
SLICES, EACH = 12, 250

ABOUT_THRESHOLDS = """\
Thresholds (`abstention_threshold`, delta .05). In percent of the runs: a threshold is found / the accuracy of the
answers above it is below the target (at most 5)."""
ABOUT_SLICES = f"""\
{SLICES} slices of {EACH} questions (`slice_thresholds`, delta .05). In percent of the runs: some slice has a
threshold / some slice that has one misses the target (at most 5) / some slice would miss it if each had 5 % of its own.
'Just below': all confidences are 1, and in every slice the accuracy is .001 below the target: the worst case."""


class Pool(NamedTuple):
    """Scores by name, and whether the most frequent answer is right; half right counts as wrong."""

    scores: dict[str, np.ndarray]
    correct: np.ndarray

    def accuracy_from(self, score: str, threshold: float) -> float:
        """Give the accuracy of the answers at or above a threshold."""
        return float(self.correct[self.scores[score] >= threshold - 1e-9].mean())


def draw_pool(name: str) -> Pool:
    """Draw the questions of a population, and their answers."""
    family, correctness = POPULATIONS[name]
    rng = np.random.default_rng(len(name))
    study = simulate(family(POOL, rng=rng), N_ANSWERS, correctness=correctness, rng=rng)
    stated = np.clip(study.oracle_confidence**0.5 + rng.normal(0, 0.05, POOL), 0, 1)
    scores = {"sem1": study.sem1, "sem2": study.sem2, "verbalized": np.round(stated * 20) / 20}
    return Pool(scores, np.floor(study.correct))


def thresholds(replications: int) -> str:
    """Tabulate how often a threshold is found, and how often its promise is missed."""
    rows = []
    for name in POPULATIONS:
        pool = draw_pool(name)
        for score, size in product(SCORES, SIZES):
            rng = np.random.default_rng([len(name), len(score), size])
            row = [name, score, f"{size:,}"]
            for target in TARGETS:
                found = [missed(rng, pool, score, size, target) for _ in range(replications)]
                row.append(percents(np.array([[each is not None, each or False] for each in found]).mean(axis=0)))
            rows.append(said(row))
    return table(["population", "score", "N", *(f"target {target:g}" for target in TARGETS)], rows)


def missed(rng: np.random.Generator, pool: Pool, score: str, size: int, target: float) -> bool | None:
    """Draw a run, and say whether its threshold misses the target; None without a threshold."""
    index = rng.integers(0, POOL, size)
    found = abstention_threshold(pool.scores[score][index], pool.correct[index], target=target).threshold
    return None if found is None else pool.accuracy_from(score, found) < target


def slices(replications: int) -> str:
    """Tabulate how often some slice misses its target, with the shared risk and without."""
    rows = []
    places = np.repeat([f"slice {k:02d}" for k in range(SLICES)], EACH)
    for name, target in product((*POPULATIONS, "just below"), (0.9, 0.95)):
        pool = draw_pool(name) if name in POPULATIONS else just_below(target)
        rng = np.random.default_rng([len(name), int(1000 * target)])
        found = np.array([slices_missed(rng, pool, places, target) for _ in range(replications)])
        rows.append(said([name, f"{target:g}", percents(found.mean(axis=0))]))
    return table(["population", "target", "found / missed / without sharing"], rows)


def just_below(target: float) -> Pool:
    """Questions that are right a little less often than wanted, all with confidence 1."""
    return Pool({"sem1": np.ones(POOL)}, (np.arange(POOL) < POOL * (target - 0.001)).astype(float))


def slices_missed(rng: np.random.Generator, pool: Pool, places: np.ndarray, target: float) -> tuple[bool, bool, bool]:
    """Draw a run in slices: whether some slice has a threshold, misses the target, would miss it without sharing."""
    index = rng.integers(0, POOL, len(places))
    c, a = pool.scores["sem1"][index], pool.correct[index]
    shared = [each.found.threshold for each in slice_thresholds(c, a, places, target=target).values()]
    own = (abstention_threshold(c[kept], a[kept], target=target).threshold for kept in parts(places))
    wrong = [any(t is not None and pool.accuracy_from("sem1", t) < target for t in every) for every in (shared, own)]
    return any(t is not None for t in shared), wrong[0], wrong[1]


def parts(places: np.ndarray) -> list[np.ndarray]:
    """Give a mask for each slice."""
    return [places == name for name in np.unique(places)]


def percents(shares: np.ndarray) -> str:
    """Write shares as percentages."""
    return " / ".join(f"{100 * share:.1f}" for share in shares)


def said(row: list[str]) -> list[str]:
    """Print a row while the others are being made."""
    print(*row, sep=" | ", file=sys.stderr, flush=True)
    return row


PARTS: dict[str, tuple[str, Callable[[int], str]]] = {
    "thresholds": (ABOUT_THRESHOLDS, thresholds),
    "slices": (ABOUT_SLICES, slices),
}


def main(replications: int = REPLICATIONS) -> str:
    start = time.perf_counter()
    made = [part for about, make in PARTS.values() for part in (about, make(replications))]
    minutes = (time.perf_counter() - start) / 60
    setting = f"{replications:,} runs a cell, pools of {POOL:,} questions, {minutes:.0f} minutes."
    return "\n\n".join([" ".join((__doc__ or "").split("\n\n", 1)[1].split()), setting, *made])


if __name__ == "__main__":
    print(PARTS[sys.argv[1]][1](REPLICATIONS) if sys.argv[1:] else main())
