"""Draw docs/figures/*.svg, the gallery of docs/figures.md, from simulated runs: ``python docs/make_figures.py``."""

import sys
from pathlib import Path

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from semece.show import figures
from semece.show.tables import constants_table, regime_table
from semece.stats.calibration.binned_errors import ReliabilityTable, reliability_table
from semece.stats.calibration.ranking import risk_coverage
from semece.stats.counts import Counts
from semece.stats.diagnostics import Pool, alignment, budget_spread, margin_strata, pool, rate, rate_slope, sweep
from semece.stats.simulation import FAMILIES, Simulation, simulate

N = 50
BUDGETS = (10, 15, 20, 30, 40, 50)
QUESTIONS = 3000


def simulated(
    family: str = "softmax-normal", questions: int = QUESTIONS, seed: int = 0, correctness: str = "over-confident"
) -> tuple[Simulation, Pool]:
    """Give a simulated run, and its pool."""
    first, second = np.random.default_rng(seed).spawn(2)
    study = simulate(FAMILIES[family](questions, rng=first), N, rng=second, correctness=correctness)
    return study, pool(counts=Counts.from_counts(study.counts), correct=study.correct)


def draw(questions: int = QUESTIONS) -> dict[str, Axes]:
    """Draw every figure, of so many questions; by name."""
    study, some = simulated(questions=questions)
    pmf = study.population.pmf
    true = np.sort(pmf, axis=1)[:, -1] - np.sort(pmf, axis=1)[:, -2]
    places = {"margin": some.margin[:200], "top_two_mass": some.top_two_mass[:200]}
    given = {"budgets": BUDGETS, "margin": true, "pmf": pmf}
    curve = risk_coverage(some.sem1, some.correct)
    crossing = simulated(questions=questions, correctness="crossing")[1]
    return {
        "reliability": figures.plot_reliability(reliability_table(some.sem1, some.correct)),
        "reliability-models": figures.plot_reliability_curves(models()),
        "risk-coverage": figures.plot_risk_coverage(curve, threshold=0.8),
        "margin": figures.plot_margin(margin_strata(some), boundaries=alignment(some)),
        "regimes": figures.plot_regimes(
            regime_table(N, n_classes=some.n_classes.mean(), design="as-run"), questions=places
        ),
        "constants": figures.plot_constants(constants_table()),
        "sweep": figures.plot_sweep(sweep(some, budgets=BUDGETS)),
        "sweep-ece": figures.plot_sweep_ece(sweep(crossing, budgets=BUDGETS)),
        "budget": figures.plot_budget(budget_spread(some, budgets=BUDGETS)),
        "rate": figures.plot_rate(rate(some, **given), slope=rate_slope(some, **given)),
        "predictions": figures.plot_predictions(
            pl.concat([alignment(simulated(family, questions, seed=1)[1]) for family in FAMILIES])
        ),
    }


def models() -> dict[str, ReliabilityTable]:
    """Reliability of three simulated models, and of their questions together."""
    kinds = ("over-confident", "calibrated", "crossing")
    pools = {name: simulated(questions=800, seed=2, correctness=name)[1] for name in kinds}
    tables = {name: reliability_table(some.sem1, some.correct) for name, some in pools.items()}
    together = [np.concatenate([getattr(some, name) for some in pools.values()]) for name in ("sem1", "correct")]
    return tables | {"pooled": reliability_table(*together)}


def main(folder: Path) -> None:
    """Write the figures into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, ax in draw().items():
        figures.save(ax.figure, folder / f"{name}.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "figures")
