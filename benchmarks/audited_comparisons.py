"""How often two audited runs are called different, or one of them ahead, when they are not.

Two runs answer the same questions: K ~ U{2..12} classes, Dirichlet(alpha) with alpha in {.15, .4, 1, 3}, n = 50
responses each; correctness is drawn for each run by itself, with the same chances. The judge of the first is fair, that
of the second kind: it calls a quarter of the wrong answers correct. People judge some answers of each run, drawn by the
judge's verdict. So every difference that is called sure is an error, but where the second run is made worse on purpose.
"""

from __future__ import annotations

import os
import sys
import time
from itertools import product

import numpy as np

from benchmarks._pool import Pool, draw_pool
from benchmarks._tables import table
from benchmarks.audit import drawn, judged
from semece.stats.correction import corrected_outcomes
from semece.stats.diagnostics.changes import correctness_terms
from semece.stats.simulation import CORRECTNESS
from semece.stats.uncertainty.paired_errors import binned_terms, paired_error, paired_mean

TITLE = "Runs with audits against each other"
POOL = 100_000
REPLICATIONS = int(os.environ.get("COMPARISON_REPLICATIONS", "1000"))
SIZES = (500, 2000)
AUDITED = (60, 200)
WORSE = (0.0, 0.15)
"""Share of the second run's right answers that are turned wrong."""

ABOUT = """\
In percent of the runs: the 95 % interval of the change leaves out its true value, of the accuracy and of
Sem1-ECE; and the change of the accuracy is called sure, its interval leaving out 0, with the audits and by the judges
alone: an error where nothing is made worse."""


def outcomes(rng: np.random.Generator, chance: np.ndarray, judge: str, audited: int) -> tuple[np.ndarray, np.ndarray]:
    """Correctness of one run as the audit corrects it, and as the judge says it."""
    people = (rng.random(len(chance)) < chance).astype(float)
    said = judged(rng, people, judge)
    return corrected_outcomes(said, drawn(rng, people, said.astype(int), audited)), said


def replicate(rng: np.random.Generator, pool: Pool, cell: tuple[str, int, int, float]) -> list[bool]:
    """Compare two runs once."""
    population, size, audited, worse = cell
    index = rng.integers(0, len(pool.sem1), size)
    confidence, chance = pool.sem1[index], CORRECTNESS[population](pool.sem1[index])
    one, plain = outcomes(rng, chance, "usual", audited)
    other, kind = outcomes(rng, chance * (1 - worse), "lenient", audited)
    share = CORRECTNESS[population](pool.sem1).mean()
    first, second = (binned_terms(confidence, each) for each in (one, other))
    found = [
        paired_mean(correctness_terms(confidence, other - one).value[:, 0]),
        paired_error(first, second),
    ]
    truths = -worse * share, errors(pool, population, worse) - errors(pool, population, 0.0)
    missed = [not each.low - 1e-12 <= truth <= each.high + 1e-12 for each, truth in zip(found, truths, strict=True)]
    alone = paired_mean(kind - plain)
    return [*missed, *(each.low > 0 or each.high < 0 for each in (found[0], alone))]


def errors(pool: Pool, population: str, worse: float) -> float:
    """True Sem1-ECE."""
    return binned_terms(pool.sem1, CORRECTNESS[population](pool.sem1) * (1 - worse)).total


def main(replications: int = REPLICATIONS) -> str:
    start, rows = time.perf_counter(), []
    pool = draw_pool(POOL)
    for cell in product(CORRECTNESS, SIZES, AUDITED, WORSE):
        rng = np.random.default_rng([len(cell[0]), *cell[1:3], int(100 * cell[3])])
        found = np.mean([replicate(rng, pool, cell) for _ in range(replications)], axis=0)
        rows.append([*map(str, cell), *(f"{100 * share:.1f}" for share in found)])
        print(*rows[-1], sep=" | ", file=sys.stderr, flush=True)
    minutes = (time.perf_counter() - start) / 60
    setting = f"{replications:,} runs a cell, a pool of {POOL:,} questions, {minutes:.0f} minutes."
    header = ["population", "Q", "audited", "made worse", "accuracy missed", "ECE missed"]
    header += ["accuracy: called sure", "by the judges alone"]
    return "\n\n".join([" ".join((__doc__ or "").split("\n\n", 1)[1].split()), setting, ABOUT, table(header, rows)])


if __name__ == "__main__":
    print(main())
