"""How often a score is said to be in reversed order: wrongly of scores that tell nothing, rightly of real ones.

The score is by lot, or it is the chance of being wrong under the name of a confidence. N questions, accuracy .6 or .9;
continuous scores, and scores of five values.
"""

from __future__ import annotations

import os
import time
from itertools import product

import numpy as np

from benchmarks._tables import table
from semece.runs.sentences import CHANCE
from semece.stats.uncertainty.score_intervals import auroc_interval

TITLE = "Scores in reversed order"
REPLICATIONS = int(os.environ.get("REVERSED_REPLICATIONS", "2000"))
CELLS = tuple(product((30, 100, 500), (0.6, 0.9), (0, 5)))
"""Questions, accuracy, and how many values a score has; 0: it is continuous."""


def stepped(score: np.ndarray, steps: int) -> np.ndarray:
    """Round scores to some values in [0, 1]."""
    return np.round(score * (steps - 1)) / (steps - 1) if steps else score


def said(score: np.ndarray, correct: np.ndarray) -> bool:
    """Whether the summary says that the order is reversed."""
    return bool(auroc_interval(score, correct).high < CHANCE)


def cell(questions: int, accuracy: float, steps: int) -> list[str]:
    """Give the row of a cell: false and true claims in percent."""
    rng = np.random.default_rng([questions, int(100 * accuracy), steps])
    false, true = 0, 0
    for _ in range(REPLICATIONS):
        chance = rng.beta(6 * accuracy, 6 * (1 - accuracy), questions)
        correct = (rng.random(questions) < chance).astype(float)
        false += said(stepped(rng.random(questions), steps), correct)
        true += said(stepped(1 - chance, steps), correct)
    shares = (f"{100 * count / REPLICATIONS:.1f}" for count in (false, true))
    return [f"{questions}", f"{accuracy:g}", str(steps or "any"), *shares]


def main() -> str:
    """Measure every cell."""
    start = time.perf_counter()
    rows = [cell(*each) for each in CELLS]
    head = ["questions", "accuracy", "values", "said of a score by lot", "said of a reversed score"]
    about = f"{REPLICATIONS:,} replications a cell, {time.perf_counter() - start:.0f} seconds. Percent of runs."
    return "\n\n".join([(__doc__ or "").strip(), about, table(head, rows)])


if __name__ == "__main__":
    print(main())
