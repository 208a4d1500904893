"""Figures of runs, by name: compute the table, then draw it."""

from __future__ import annotations

import textwrap
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from semece.errors import SemeceError
from semece.show import figures
from semece.show.tables.paper_tables import POOLED, attempted, by_budget, groups, known, semx_budget_rows, semx_rows
from semece.show.tables.theory_tables import regime_table
from semece.stats import alignment, budget_spread, margin_strata, rate, rate_slope, sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from semece.runs import Run
    from semece.show.tables.paper_tables import PooledQuestions
    from semece.stats import Pool, ReliabilityTable

MOST = 4
"""Most panels of a figure; more are too small to read."""

ABOVE, WIDE = 6, 34
"""Points between a panel and its title, and how many letters a line of it holds."""


def draw(name: str, runs: Sequence[Run], *, scores: Sequence[str] = ()) -> Figure:
    """Draw a figure of runs.

    Parameters
    ----------
    name : str
        One of :data:`FIGURES`. ``reliability`` has a panel per confidence, with a curve per run if there are several;
        ``predictions`` puts all runs on one; the others have a panel per run.
    runs : sequence of Run
        Opened run files, at least one.
    scores : sequence of str
        Of ``reliability``: which confidences, by name; all of them unless some are named.

    Returns
    -------
    Figure
        To be written by :func:`semece.show.figures.save`.

    Raises
    ------
    ValueError
        There is no such figure, or it would have more than four panels.
    SemeceError
        As :func:`semece.show.tables.paper_tables.groups`.
    """
    if name not in FIGURES:
        raise ValueError(f"figure must be one of {', '.join(FIGURES)}; got {name!r}")
    if scores and name != "reliability":
        raise ValueError(f"only the figure reliability has a choice of scores; got {name!r}")
    every = list(groups(runs))
    return _reliability(every, scores) if scores else FIGURES[name](every)


def _each(plot: Callable[[Axes, PooledQuestions], object], every: Sequence[PooledQuestions]) -> Figure:
    """Draw a panel per run."""
    single = [group for group in every if group.model != POOLED]
    fig, axes = _panels(len(single))
    for ax, group, title in zip(axes, single, titles(single), strict=True):
        plot(ax, group)
        if len(single) > 1:
            ax.set_title(textwrap.fill(title, WIDE), pad=ABOVE, size=7)
    return fig


def titles(every: Sequence[PooledQuestions]) -> list[str]:
    """Tell groups apart by model, by dataset, or by both."""
    if len({group.dataset for group in every}) == 1:
        return [group.model for group in every]
    if len({group.model for group in every}) == 1:
        return [group.dataset for group in every]
    return [f"{group.dataset} · {group.model}" for group in every]


def _panels(number: int) -> tuple[Figure, list[Axes]]:
    if number > MOST:
        raise ValueError(f"a figure has at most {MOST} panels, one per run here; got {number} runs")
    return figures.figure(width=figures.COLUMN_WIDTH * number, panels=number)


def reliability_of(pool: Pool, estimator: str) -> ReliabilityTable | None:
    """Tabulate the reliability of one confidence; None where no question has it."""
    from semece.stats import reliability_table

    c, a = known(dict(pool.confidences()).get(estimator, np.full(len(pool.correct), np.nan)), pool.correct)
    return reliability_table(c, a) if c.size else None


def _reliability(every: Sequence[PooledQuestions], scores: Sequence[str] = ()) -> Figure:
    """Draw a panel per confidence, all or those named: bins of one run, or a curve per run and all of them pooled."""
    several = len({group.dataset for group in every}) > 1
    shown = [group for group in every if not (several and group.model == POOLED)]
    found = {name for group in shown for name, _ in group.pool.confidences()}
    order = dict.fromkeys((*figures.NAMES, *(name for group in shown for name in group.pool.scores)))
    names = [name for name in scores or order if name in found]
    if missing := [name for name in scores if name not in found]:
        raise SemeceError(f"no run has a confidence {missing[0]!r}; there are {', '.join(sorted(found))}")
    if len(names) > MOST:
        raise SemeceError(f"a figure has at most {MOST} panels; choose confidences with --score: {', '.join(names)}")
    fig, axes = _panels(len(names))
    for ax, name in zip(axes, names, strict=True):
        made = (reliability_of(group.pool, name) for group in shown)
        tables = {title: table for title, table in zip(titles(shown), made, strict=True) if table is not None}
        if len(shown) == 1:
            figures.plot_reliability(*tables.values(), ax=ax, estimator=name)
        else:
            figures.plot_reliability_curves(tables, ax=ax, estimator=name)
    return fig


def _predictions(every: Sequence[PooledQuestions]) -> Figure:
    """Draw the predicted gaps of all runs on one axes."""
    import polars as pl

    fig, (ax,) = figures.figure()
    figures.plot_predictions(pl.concat(alignment(group.pool) for group in every if group.model != POOLED), ax=ax)
    return fig


def draw_risk_coverage(group: PooledQuestions, thresholds: Mapping[str, float | None]) -> Figure:
    """Draw the share of wrong answers of one run against the share answered, with thresholds to answer from.

    Parameters
    ----------
    group : PooledQuestions
        The questions of the run.
    thresholds : mapping of str to float or None
        By score; None: there is none.

    Returns
    -------
    Figure
    """
    fig, (ax,) = figures.figure()
    _risk_coverage(ax, group, thresholds)
    return fig


def _risk_coverage(ax: Axes, group: PooledQuestions, thresholds: Mapping[str, float | None] | None = None) -> None:
    """Draw what the table of thresholds is about: answers that are none are not given, half right ones are wrong."""
    from semece.stats import risk_coverage

    for name, c, a, _ in attempted(group, ordered=True):
        found = risk_coverage(c, a)
        given = found._replace(coverage=found.coverage * (len(c) / group.asked))
        figures.plot_risk_coverage(given, ax=ax, estimator=name, threshold=(thresholds or {}).get(name))


def _regime(ax: Axes, group: PooledQuestions) -> None:
    pool = group.pool
    table = regime_table(group.n, n_classes=float(pool.n_classes.mean()))
    figures.plot_regimes(table, ax=ax, questions={"margin": pool.margin, "top_two_mass": pool.top_two_mass})


def _rate(ax: Axes, group: PooledQuestions) -> None:
    figures.plot_rate(by_budget(rate, group), ax=ax, slope=by_budget(rate_slope, group))


PANELS: dict[str, Callable[[Axes, PooledQuestions], object]] = {
    "semx": lambda ax, group: figures.plot_semx(semx_rows(group), ax=ax),
    "semx-budget": lambda ax, group: figures.plot_semx_budgets(semx_budget_rows(group), ax=ax),
    "risk-coverage": _risk_coverage,
    "margin": lambda ax, group: figures.plot_margin(margin_strata(group.pool), ax=ax, boundaries=alignment(group.pool)),
    "regime": _regime,
    "sweep": lambda ax, group: figures.plot_sweep(by_budget(sweep, group), ax=ax),
    "sweep-ece": lambda ax, group: figures.plot_sweep_ece(by_budget(sweep, group), ax=ax),
    "rate": _rate,
    "budget": lambda ax, group: figures.plot_budget(by_budget(budget_spread, group), ax=ax),
}
"""What is drawn of one run on one axes."""

FIGURES: dict[str, Callable[[Sequence[PooledQuestions]], Figure]] = {
    "reliability": _reliability,
    **{name: partial(_each, plot) for name, plot in PANELS.items()},
    "predictions": _predictions,
}
"""Which figure is drawn how."""
