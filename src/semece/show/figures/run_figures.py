"""Figures of runs, by name: compute the table, then draw it."""

from __future__ import annotations

import textwrap
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from semece.errors import SemeceError, meant
from semece.show import figures
from semece.show.tables.paper_tables import (
    POOLED,
    alignment_rows,
    attempted,
    by_budget,
    ece_rows,
    groups,
    known,
    rate_rows,
    semx_budget_rows,
    semx_rows,
    slopes,
    stacked,
    strata,
    sweep_rows,
)
from semece.show.tables.theory_tables import regime_table
from semece.stats import budget_spread, crossover

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from semece.runs import Run
    from semece.show.tables.paper_tables import PooledQuestions
    from semece.stats import Pool, ReliabilityTable

MOST = 2
"""Most wide panels of a figure, which a page holds side by side; more have small ones."""

CHOSEN = 4
"""Most confidences of the figure ``reliability``, and most runs on one of its panels."""

SLOPE = ", slope "
"""What stands between a line's name and its slope, which is said in its panel if there are several."""

ALL = "all models"
"""What the panel of a dataset is called."""

ABOVE, RAISED, WIDE, NARROW = 6, 13, 34, 28
"""Points between a panel and its title, and over what stands there; letters in a line of a wide and of a small one."""


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
        There is no such figure, or a choice of scores where there is none.
    SemeceError
        As :func:`semece.show.tables.paper_tables.groups`.
    """
    if name not in FIGURES:
        raise ValueError(f"figure must be one of {', '.join(FIGURES)}; got {name!r}{meant(name, FIGURES)}")
    if scores and name != "reliability":
        raise ValueError(f"only the figure reliability has a choice of scores; got {name!r}")
    every = list(groups(runs))
    return _reliability(every, scores) if scores else FIGURES[name](every)


def _each(plot: Callable[[Axes, PooledQuestions], object], every: Sequence[PooledQuestions]) -> Figure:
    """Draw a panel per run."""
    single = [group for group in every if group.model != POOLED]
    columns, words = _columns(single), _titles_in_lines(single)
    lines = max(text.count("\n") for text in words)
    fig, axes = _panels(len(single), columns, lines=lines)
    for ax, group in zip(axes, single, strict=True):
        plot(ax, group)
    if len(single) > 1:
        _together(fig, axes, columns)
        _titled(axes, words)
    return fig


def _titles_in_lines(single: Sequence[PooledQuestions]) -> list[str]:
    """Break the names of panels where they are too long for one line."""
    if len(single) <= MOST:
        return [textwrap.fill(title, WIDE) for title in titles(single)]
    return [f"{group.dataset}\n{textwrap.fill(group.model, NARROW)}" for group in single]


def _titled(axes: Sequence[Axes], words: Sequence[str]) -> None:
    """Name the panels, above whatever stands over one of them."""
    raised = any(text.get_position()[1] > 1 for ax in axes for text in ax.texts)
    for ax, text in zip(axes, words, strict=True):
        ax.set_title(text, pad=RAISED if raised else ABOVE, size=7 if len(axes) <= MOST else 6)


def _together(fig: Figure, axes: Sequence[Axes], columns: int) -> None:
    """Give panels one scale, one legend, and the names of their axes at the margin alone."""
    _one_legend(fig, axes)
    _one_scale(axes)
    _one_name_per_axis(fig, axes, columns)


def _one_legend(fig: Figure, axes: Sequence[Axes]) -> None:
    """Put one legend below all panels."""
    labelled: dict[str, Artist] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            name, _, slope = label.partition(SLOPE)
            labelled[name] = handle
            if slope:
                figures.write_above(ax, SLOPE.lstrip(", ") + slope, at=0, size=6)
        if legend := ax.get_legend():
            legend.remove()
    if labelled:
        with figures.style():
            figures.shared_legend(fig, labelled)


def _one_scale(axes: Sequence[Axes]) -> None:
    """Let all panels have the same limits, and those without data the axes of one that has some."""
    full = [ax for ax in axes if ax.has_data()]
    for which in ("x", "y"):
        limits = [getattr(ax, f"get_{which}lim")() for ax in full]
        for ax in full:
            getattr(ax, f"set_{which}lim")(min(low for low, _ in limits), max(high for _, high in limits))
    for ax in axes:
        if ax in full and figures.BUDGETS in ax.get_xlabel():
            figures.budget_ticks(ax, ax.get_xticks())
        elif full and ax not in full:
            ax.set(xscale=full[0].get_xscale(), yscale=full[0].get_yscale())
            ax.sharex(full[0])
            ax.sharey(full[0])


def _one_name_per_axis(fig: Figure, axes: Sequence[Axes], columns: int) -> None:
    """Name the axes of panels at the margin alone; small panels have no room for the words of their strips."""
    for strip in (strip for ax in axes for strip in ax.child_axes):
        strip.set(title="")
    if len(axes) <= MOST:
        for ax in axes[1:]:
            ax.set_ylabel("")
        return
    with figures.style():
        fig.supylabel(axes[0].get_ylabel(), size=8)
    across = min(columns, len(axes))
    middle = (len(axes) - 1) // columns * columns + across // 2
    for place, ax in enumerate(axes):
        ax.set_ylabel("")
        ax.set_xlabel(ax.get_xlabel() if place == min(middle, len(axes) - 1) else "", x=0.5 * (across % 2))
        ax.tick_params(labelleft=place % columns == 0, labelbottom=place + columns >= len(axes))
        for strip in ax.child_axes:
            strip.set_ylabel("")
        beside = [text for text in ax.texts if text.get_position()[0] > 1]
        for text in [*beside, *(text for strip in ax.child_axes for text in strip.texts)]:
            text.remove()


def titles(every: Sequence[PooledQuestions]) -> list[str]:
    """Tell groups apart by model, by dataset, or by both."""
    if len({group.dataset for group in every}) == 1:
        return [group.model for group in every]
    if len({group.model for group in every}) == 1:
        return [group.dataset for group in every]
    return [f"{group.dataset} · {group.model}" for group in every]


def _columns(single: Sequence[PooledQuestions]) -> int:
    """Choose how many panels stand side by side: one row, or one for each dataset where all have the same models."""
    if len(single) <= figures.ACROSS:
        return len(single)
    models, datasets = (len({getattr(group, name) for group in single}) for name in ("model", "dataset"))
    return models if 1 < models <= figures.ACROSS and models * datasets == len(single) else figures.ACROSS


def _panels(number: int, columns: int | None = None, *, lines: int = 1) -> tuple[Figure, list[Axes]]:
    """Make wide panels side by side, or small ones in rows if there are many, below titles of so many lines."""
    if number > MOST:
        return figures.grid(number, columns=columns or figures.ACROSS, lines=lines)
    return figures.figure(width=figures.COLUMN_WIDTH * number, panels=number)


def reliability_of(pool: Pool, estimator: str) -> ReliabilityTable | None:
    """Tabulate the reliability of one confidence; None where no question has it."""
    from semece.stats import reliability_table

    c, a = known(dict(pool.confidences()).get(estimator, np.full(len(pool.correct), np.nan)), pool.correct)
    return reliability_table(c, a) if c.size else None


def _reliability(every: Sequence[PooledQuestions], scores: Sequence[str] = ()) -> Figure:
    """Draw a panel per confidence, all or those named: bins of one run, or a curve per run and all of them pooled."""
    shown = on_one_panel(every)
    if not shown:
        return _each(_reliability_together, every)
    found = {name for group in shown for name, _ in group.pool.confidences()}
    order = dict.fromkeys((*figures.NAMES, *(name for group in shown for name in group.pool.scores)))
    names = [name for name in scores or order if name in found][: None if scores else CHOSEN]
    if missing := [name for name in scores if name not in found]:
        near = meant(missing[0], found)
        raise SemeceError(f"no run has a confidence {missing[0]!r}{near}; there are {', '.join(sorted(found))}")
    if len(names) > CHOSEN:
        raise SemeceError(f"a figure has at most {CHOSEN} panels; choose confidences with --score: {', '.join(names)}")
    long = any(len(title) > NARROW for title in titles(shown))
    fig, axes = _panels(len(names), lines=1 + len(shown) * long)
    for ax, name in zip(axes, names, strict=True):
        made = (reliability_of(group.pool, name) for group in shown)
        tables = {title: table for title, table in zip(titles(shown), made, strict=True) if table is not None}
        if len(shown) == 1:
            figures.plot_reliability(*tables.values(), ax=ax, estimator=name)
        else:
            figures.plot_reliability_curves(tables, ax=ax, estimator=name)
    _together(fig, axes, len(axes))
    _titled(axes, [figures.look_of(name).name for name in names])
    return fig


def on_one_panel(every: Sequence[PooledQuestions]) -> list[PooledQuestions]:
    """Give what has a curve on each panel of the figure ``reliability``; nothing where every run has its own panel."""
    if len([group for group in every if group.model != POOLED]) > CHOSEN:
        return []
    several = len({group.dataset for group in every}) > 1
    return [group for group in every if not (several and group.model == POOLED)]


def _reliability_together(ax: Axes, group: PooledQuestions) -> None:
    """Draw all confidences of a run on one axes."""
    found = {name: reliability_of(group.pool, name) for name, _ in group.pool.confidences()}
    figures.plot_reliability_together({name: table for name, table in found.items() if table is not None}, ax=ax)


def _by_dataset(plot: Callable[[Axes, PooledQuestions], object], every: Sequence[PooledQuestions]) -> Figure:
    """Draw a panel per dataset, of all its runs pooled; of its one run where it has no pool of several.

    Raises
    ------
    SemeceError
        A dataset has several runs that are not pooled.
    """
    found = []
    for dataset in dict.fromkeys(group.dataset for group in every):
        some = [group for group in every if group.dataset == dataset]
        if len(some) > 1 and some[-1].model != POOLED:
            raise SemeceError(f"the runs of {dataset} are not pooled, so there is no panel of it; draw them one by one")
        found.append(some[-1]._replace(model=ALL, made={}))
    return _each(plot, found)


def _regime_map(ax: Axes, group: PooledQuestions) -> None:
    """Draw the questions in the plane of classes and standardised margins."""
    pool = group.pool
    margin = pool.margin * np.sqrt(pool.n_responses / pool.top_two_mass)
    figures.plot_regime_map(margin, pool.n_classes, crossover=float(crossover(0.5)), ax=ax)


def _gaps(every: Sequence[PooledQuestions]) -> Figure:
    """Draw the numbers of all runs beside one another."""
    table = stacked(ece_rows, every)
    fig, axes = figures.figure(width=2 * figures.COLUMN_WIDTH, height=figures.dots_height(table), panels=2)
    figures.dots_of_runs(table, axes=axes)
    return fig


def _predictions(every: Sequence[PooledQuestions]) -> Figure:
    """Draw the predicted gaps of all runs on one axes."""
    import polars as pl

    fig, (ax,) = figures.figure()
    figures.plot_predictions(pl.concat(alignment_rows(group) for group in every if group.model != POOLED), ax=ax)
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
    figures.plot_rate(rate_rows(group), ax=ax, slope=slopes(group))


PANELS: dict[str, Callable[[Axes, PooledQuestions], object]] = {
    "semx": lambda ax, group: figures.plot_semx(semx_rows(group), ax=ax),
    "semx-budget": lambda ax, group: figures.plot_semx_budgets(semx_budget_rows(group), ax=ax),
    "risk-coverage": _risk_coverage,
    "margin": lambda ax, group: figures.plot_margin(strata(group), ax=ax, boundaries=alignment_rows(group)),
    "regime": _regime,
    "sweep": lambda ax, group: figures.plot_sweep(sweep_rows(group), ax=ax),
    "sweep-ece": lambda ax, group: figures.plot_sweep_ece(sweep_rows(group), ax=ax),
    "rate": _rate,
    "budget": lambda ax, group: figures.plot_budget(by_budget(budget_spread, group), ax=ax),
}
"""What is drawn of one run on one axes."""

FIGURES: dict[str, Callable[[Sequence[PooledQuestions]], Figure]] = {
    "reliability": _reliability,
    "reliability-pooled": partial(_by_dataset, _reliability_together),
    **{name: partial(_each, plot) for name, plot in PANELS.items()},
    "regime-map": partial(_by_dataset, _regime_map),
    "gaps": _gaps,
    "predictions": _predictions,
}
"""Which figure is drawn how."""
