"""How often the corrected accuracy and calibration error hold when people audit some of a judge's verdicts.

Populations as for the coverage of intervals: K ~ U{2..12} classes, Dirichlet(alpha) with alpha in {.15, .4, 1, 3},
n = 50 responses, correctness Bernoulli of a function of Sem1; samples with replacement from a pool whose own values
are the truth. The usual judge calls 5 % of the wrong answers correct and misses 15 % of the right ones; the lenient one
calls 25 % of the wrong answers correct and misses none.
"""

from __future__ import annotations

import os
import time
from itertools import product

import numpy as np

from benchmarks._pool import Pool, draw_pool
from benchmarks._tables import table
from semece.compare.audit.draws import allocate
from semece.stats.calibration.binned_errors import ece
from semece.stats.correction import Audited, corrected_accuracy, corrected_debiased_ece, corrected_ece, corrected_gap
from semece.stats.simulation import CORRECTNESS
from semece.stats.uncertainty.intervals import ece_interval

TITLE = "Corrected numbers of an audited judge"
POOL = 400_000
REPLICATIONS = int(os.environ.get("AUDIT_REPLICATIONS", "2000"))
SIZES = (500, 4000)
AUDITED = (50, 100, 200)
JUDGES = {"usual": (0.05, 0.15), "lenient": (0.25, 0.0)}

ABOUT = """\
Audited: how many answers people judged, drawn by the judge's verdict as `semece audit export` does, or all alike.
Covers: how often, in percent, the 95 % interval holds the truth: of the accuracy, of mean Sem1 less accuracy, of
Sem1-ECE, and of Sem1-ECE as the judge alone would have it. Bias: of the corrected Sem1-ECE, plug-in and debiased."""


def judged(rng: np.random.Generator, people: np.ndarray, judge: str) -> np.ndarray:
    """What a judge says of answers that people call right (1) or wrong (0)."""
    false_correct, missed = JUDGES[judge]
    chance = rng.random(len(people))
    return np.where(people == 1, chance >= missed, chance < false_correct).astype(float)


def drawn(rng: np.random.Generator, people: np.ndarray, stratum: np.ndarray, size: int) -> Audited:
    """People's verdicts on answers drawn within strata, as `semece audit export` draws them."""
    sizes = np.bincount(stratum)
    wanted = allocate(sizes, size)
    parts = [rng.permutation(np.flatnonzero(stratum == h))[:n] for h, n in enumerate(wanted)]
    place = np.concatenate(parts)
    return Audited(place, people[place], None, stratum[place], sizes)


def row(pool: Pool, cell: tuple[str, int, int, str, str], replications: int) -> list[str]:
    """Measure one cell."""
    population, size, audited, by, judge = cell
    accuracy = CORRECTNESS[population](pool.sem1)
    truth, mean = ece(pool.sem1, accuracy), accuracy.mean()
    truths = mean, pool.sem1.mean() - mean, truth, truth
    rng = np.random.default_rng([size, audited, len(population), len(by), len(judge)])
    hits, found = [], []
    for _ in range(replications):
        index = rng.integers(0, len(accuracy), size)
        confidence = pool.sem1[index]
        people = (rng.random(size) < accuracy[index]).astype(float)
        said = judged(rng, people, judge)
        sheet = drawn(rng, people, said.astype(int) if by == "verdict" else np.zeros(size, dtype=int), audited)
        error = corrected_ece(confidence, said, sheet)
        four = corrected_accuracy(said, sheet), corrected_gap(confidence, said, sheet), error
        four += (ece_interval(confidence, said),)
        hits.append([low - 1e-12 <= t <= high + 1e-12 for (_, low, high), t in zip(four, truths, strict=True)])
        value, low, high = error
        found.append(
            [high - low, value - truth, corrected_debiased_ece(confidence, said, sheet) - truth, low > truth + 1e-12]
        )
    covers = [f"{100 * share:.1f}" for share in np.mean(hits, axis=0)]
    width, plug_in, debiased, too_high = np.mean(found, axis=0)
    numbers = [f"{100 * too_high:.1f}", f"{width:.3f}", f"{plug_in:+.3f}", f"{debiased:+.3f}"]
    return [population, str(size), str(audited), by, judge, *covers[:3], *numbers, covers[3]]


def main(replications: int = REPLICATIONS, pool_size: int = POOL) -> str:
    start = time.perf_counter()
    pool = draw_pool(pool_size)
    cells = list(product(CORRECTNESS, SIZES, AUDITED, ("verdict", "none"), ("usual",)))
    cells += list(product(CORRECTNESS, SIZES, (50, 100), ("verdict",), ("lenient",)))
    rows = [row(pool, cell, replications) for cell in cells]
    minutes = (time.perf_counter() - start) / 60
    setting = f"{replications:,} replications a cell, a pool of {pool_size:,} questions, {minutes:.0f} minutes."
    header = [
        "population",
        "Q",
        "audited",
        "by",
        "judge",
        "accuracy covers",
        "gap covers",
        "ECE covers",
        "too high",
        "mean width",
    ]
    header += ["bias", "debiased", "uncorrected covers"]
    return "\n\n".join([" ".join((__doc__ or "").split("\n\n", 1)[1].split()), setting, ABOUT, table(header, rows)])


if __name__ == "__main__":
    print(main())
