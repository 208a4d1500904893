"""How often the bracket of the mean oracle confidence holds, and how wide it is.

Four families of `semece.simulation`, and three classes that nearly tie: a half to 1 is shared by three classes that
differ by at most a tenth, the rest is Dirichlet(1) over five; and a leading class of .05 to .9 whose rivals, 60 classes
of like probability, hardly ever repeat. Runs are drawn with replacement from a pool of questions with M answers each,
whose own mean of c* is the truth.
"""

from __future__ import annotations

import os
import sys
import time
from itertools import product

import numpy as np

import semece as se
from benchmarks._tables import table
from semece.stats.counts import Counts
from semece.stats.simulation import FAMILIES
from semece.stats.uncertainty.oracle_brackets import bracket_of, narrow_bounds, plain_bounds, tables
from semece.stats.uncertainty.skewed_means import Drawn

TITLE = "The mean oracle confidence"
POOL = int(os.environ.get("ORACLE_POOL", "20000"))
REPLICATIONS = int(os.environ.get("ORACLE_REPLICATIONS", "2000"))
NAMES = ("dirichlet-mixture", "zipf", "softmax-normal", "near-tie")
ANSWERS = (10, 20, 50)
SIZES = (500, 4000)

ABOUT = """\
'Plain': from mean Sem2 to mean Sem1. 'Narrow': by weights of the exact expectations over subsamples, moved outwards by
twice the worst violation on 20,000 fresh distributions of up to 20 classes, half of them with a tail of answers that
never repeat. 'Left open': the width of the bracket without sampling error. 'Interval': mean width with it, at 95 %, and
in percent how often it holds the truth."""
ABOUT_WEIGHTS = "Worst violations on the last fresh net, by number of answers of the table (lower / upper)."


def three_nearly_tied(n: int, rng: np.random.Generator) -> np.ndarray:
    """Three leading classes that differ by at most a tenth of their size."""
    lead = 1 + rng.uniform(-0.1, 0, (n, 3))
    mass = rng.uniform(0.5, 1, (n, 1))
    return np.concatenate(
        [mass * lead / lead.sum(axis=1, keepdims=True), (1 - mass) * rng.dirichlet(np.ones(5), n)], axis=1
    )


def many_rivals(n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw questions on which the model says one thing often and otherwise something new each time."""
    lead, rest = rng.uniform(0.05, 0.9, (n, 1)), rng.gamma(5, size=(n, 60))
    return np.concatenate([lead, (1 - lead) * rest / rest.sum(axis=1, keepdims=True)], axis=1)


OTHERS = {"three nearly tied": three_nearly_tied, "many rivals": many_rivals}


def cell_rows(name: str, n: int) -> list[list[str]]:
    """Width and coverage at both numbers of questions."""
    rng = np.random.default_rng([n, len(name)])
    pmf = OTHERS[name](POOL, rng) if name in OTHERS else FAMILIES[name](POOL, rng=rng).pmf
    counts = Counts.from_counts(rng.multinomial(n, pmf))
    different, number = counts.distinct()
    plain = plain_bounds(different)
    narrow = narrow_bounds(different, plain)[:, number]
    plain, truth = plain[:, number], float(pmf.max(axis=1).mean())
    public, whole = se.oracle_bracket(counts=counts), bracket_of(plain, narrow, Drawn(np.ones(POOL), None, 0.95))
    np.testing.assert_allclose(public, whole)
    widths = (whole.sem1 - whole.sem2, whole.upper - whole.lower)
    rows = []
    for size in SIZES:
        found = []
        for _ in range(REPLICATIONS):
            at = rng.integers(0, POOL, size)
            drawn = Drawn(np.ones(size), None, 0.95)
            found.append([bracket_of(plain[:, at], some, drawn)[1:3] for some in (plain[:, at], narrow[:, at])])
        low, high = np.moveaxis(np.array(found), 2, 0)
        held = 100 * ((low <= truth) & (truth <= high)).mean(axis=0)
        wide = (high - low).mean(axis=0)
        row = [name, str(n), f"{size:,}", f"{truth:.4f}", *(f"{width:.4f}" for width in widths)]
        row += [f"{widths[1] / widths[0]:.2f}", *(f"{wide[i]:.4f} ({held[i]:.1f})" for i in (0, 1))]
        print(*row, sep=" | ", file=sys.stderr, flush=True)
        rows.append(row)
    return rows


def main() -> str:
    began = time.perf_counter()
    rows = [row for n, name in product(ANSWERS, (*NAMES, *OTHERS)) for row in cell_rows(name, n)]
    minutes = (time.perf_counter() - began) / 60
    worst = [[str(size), *(f"{abs(out) / 2:.5f}" for out in weights.outwards)] for size, weights in tables().items()]
    setting = f"{REPLICATIONS:,} replications a cell, pools of {POOL:,} questions, {minutes:.0f} minutes."
    header = ["family", "M", "Q", "mean c*", "plain, left open", "narrow, left open", "ratio"]
    about = " ".join((__doc__ or "").split("\n\n", 1)[1].split())
    first = table([*header, "plain interval", "narrow interval"], rows)
    return "\n\n".join([about, setting, ABOUT, first, ABOUT_WEIGHTS, table(["answers", "lower", "upper"], worst)])


if __name__ == "__main__":
    print(main())
