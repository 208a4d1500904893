"""Every statistic of a study: 15 cells, 40,000 rows in all, with intervals."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from benchmarks._pool import draw_pool
from benchmarks._tables import table
from semece.stats.calibration.adaptive import ece_sweep, smooth_ece
from semece.stats.calibration.binned_errors import debiased_rms_ce, ece, mce, reliability_table, rms_ce
from semece.stats.calibration.proper_scores import brier, brier_decomposition, log_loss
from semece.stats.calibration.ranking import aurc, auroc, average_precision, eaurc, risk_coverage
from semece.stats.uncertainty.bootstrap import paired_bootstrap
from semece.stats.uncertainty.consistency import calibration_test, consistency_band
from semece.stats.uncertainty.exclusions import accuracy_bounds, ece_bounds
from semece.stats.uncertainty.intervals import accuracy_interval, debiased_ece, ece_interval

if TYPE_CHECKING:
    from collections.abc import Callable

TITLE = "All statistics of a study"
N_CELLS = 15
N_ROWS = 40_000

ONE_CONFIDENCE: dict[str, tuple[Callable[[np.ndarray, np.ndarray], object], ...]] = {
    "binned errors and tables": (ece, mce, rms_ce, debiased_rms_ce, reliability_table),
    "smooth ECE": (smooth_ece,),
    "sweep": (ece_sweep,),
    "scores and decompositions": (
        brier,
        brier_decomposition,
        lambda c, a: brier_decomposition(c, a, method="corp"),
        lambda c, a: log_loss(c, a, clip=1e-3),
    ),
    "ranking": (auroc, average_precision, risk_coverage, aurc, eaurc),
    "ECE interval and debiased ECE": (ece_interval, debiased_ece),
    "calibration test": (calibration_test,),
    "consistency band": (lambda c, _: consistency_band(c),),
    "exclusion bounds": (lambda c, a: ece_bounds(c, a, c[:100]), lambda _, a: accuracy_bounds(a, 100)),
}


def cells() -> list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Sem1, Sem2, a stated confidence, correctness and low margin of each cell."""
    pool, rng = draw_pool(N_ROWS), np.random.default_rng(1)
    correct = (rng.random(N_ROWS) < pool.sem1**2).astype(float)
    stated = np.round(np.clip(pool.sem1 + rng.normal(0.2, 0.1, N_ROWS), 0, 1), 2)
    columns = (pool.sem1, pool.sem2, stated, correct, pool.low)
    return list(zip(*(np.array_split(column, N_CELLS) for column in columns), strict=True))


def main() -> str:
    study = cells()
    spent = dict.fromkeys([*ONE_CONFIDENCE, "accuracy interval", "paired bootstrap, three pairs"], 0.0)

    def add(name: str, function: Callable[[], object]) -> None:
        start = time.perf_counter()
        function()
        spent[name] += time.perf_counter() - start

    for sem1, sem2, stated, correct, low in study:
        for name, functions in ONE_CONFIDENCE.items():
            for confidence in (sem1, sem2, stated):
                for function in functions:
                    add(name, lambda f=function, c=confidence, a=correct: f(c, a))
        add("accuracy interval", lambda a=correct: accuracy_interval(a))
        for first, second in ((sem1, sem2), (stated, sem1), (stated, sem2)):
            pair = (first, second, correct, low)
            add(
                "paired bootstrap, three pairs",
                lambda p=pair: paired_bootstrap(p[0], p[1], p[2], low_margin=p[3]),
            )
    rows = [[name, f"{seconds:.2f}"] for name, seconds in spent.items()]
    rows.append(["**together**", f"**{sum(spent.values()):.2f}**"])
    setting = (
        f"{N_CELLS} cells, {N_ROWS:,} rows, three confidences each (Sem1, Sem2, stated), 1,000 bootstrap samples or "
        "null draws; one process, every call once, seconds."
    )
    return "\n\n".join([setting, table(["", "s"], rows)])


if __name__ == "__main__":
    print(main())
