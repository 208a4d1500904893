"""What the diagnostics of a run show: margins, budgets, rate, predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from semece.show.figures.canvas import (
    BENEATH,
    COLORS,
    FAINT,
    INK,
    MUTED,
    NAMES,
    axes_or_new,
    budget_ticks,
    column_of,
    legend_below,
    look_of,
    number_in_figure,
    styled,
)

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes

    from semece.show.figures.canvas import Table

BOUNDARY_NAMES: dict[str, str] = {"crossover": "Jensen-dominated ends", "low_margin": "low margin ends"}
"""What a boundary is called in the legend."""


@styled
def plot_margin(table: pl.DataFrame, *, ax: Axes | None = None, boundaries: pl.DataFrame | None = None) -> Axes:
    """Draw the calibration error in strata of the margin, with the number of questions and the regimes' boundaries.

    Parameters
    ----------
    table : DataFrame
        From :func:`semece.stats.diagnostics.margin_strata`. Strata without numbers leave a hole in the line.
    ax : Axes, optional
        Where to draw; a new figure of one column by default.
    boundaries : DataFrame, optional
        From :func:`semece.stats.diagnostics.alignment`: ``boundary, margin``.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from semece.stats.diagnostics import margin_strata, pool
    >>> ax = plot_margin(margin_strata(pool([[0, 0, 1, 1]] * 40, [1, 0] * 20)))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['Sem1', 'Sem2']
    """
    ax = axes_or_new(ax)
    names = list(dict.fromkeys(table["estimator"]))
    others = [name for name in names if name not in NAMES]
    for name in names:
        place = others.index(name) if name in others else 0
        rows = table.filter(table["estimator"] == name)
        middle = (column_of(rows, "low") + column_of(rows, "high")) / 2
        ax.plot(middle, column_of(rows, "ece"), **_line(name, place), clip_on=False)
    if table["ece"].null_count() == table.height:
        words = "no stratum has\nenough questions"
        look: dict[str, Any] = {"color": MUTED, "size": 6.5, "bbox": {"color": "white", "lw": 0, "pad": 1}}
        ax.text(0.5, 0.5, words, ha="center", va="center", transform=ax.transAxes, **look)
    every = table.filter(table["estimator"] == "sem1")
    ax.set(xlim=(0, 1), ylim=(0, None), xlabel=r"margin $\Delta$", ylabel="|confidence − accuracy|")
    strip = ax.inset_axes((0.0, 1.02, 1.0, 0.16))
    low, high, count = (column_of(every, name) for name in ("low", "high", "questions"))
    strip.bar(low, count / max(count.sum(), 1), width=high - low, align="edge", color=FAINT, edgecolor="white", lw=0.5)
    strip.set(xlim=(0, 1), xticks=[], yticks=[], ylabel="questions")
    strip.yaxis.label.set(rotation=0, ha="right", va="center", size=6.5, color=MUTED)
    strip.spines[:].set_visible(False)
    if boundaries is not None:
        _boundaries(ax, boundaries)
    legend_below(ax)
    return ax


def _boundaries(ax: Axes, boundaries: pl.DataFrame) -> None:
    """Mark where a regime ends."""
    for name, margin in boundaries.select("boundary", "margin").iter_rows():
        dash = (0, (1, 1.5)) if name == "crossover" else (0, (4, 1.5))
        ax.axvline(margin, color=INK, lw=0.8, ls=dash, zorder=1, label=BOUNDARY_NAMES[name])


@styled
def plot_sweep(table: Table, *, ax: Axes | None = None) -> Axes:
    """Draw the expected mean confidences of smaller budgets beside the accuracy.

    Parameters
    ----------
    table : DataFrame
        From :func:`semece.stats.diagnostics.sweep`.
    ax : Axes, optional
        Where to draw; a new figure of one column by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from semece.stats.diagnostics import pool, sweep
    >>> ax = plot_sweep(sweep(pool([[0, 0, 1, 1]] * 5, [1, 0, 1, 0, 1]), budgets=[2, 4]))
    >>> ax.get_ylabel()
    'mean expected confidence'
    """
    ax = axes_or_new(ax)
    n = column_of(table, "n")
    ax.fill_between(n, column_of(table, "sem2"), column_of(table, "sem1"), color=FAINT, lw=0)
    for name in ("sem1", "sem2"):
        ax.plot(n, column_of(table, name), **_line(name), clip_on=False)
    ax.axhline(column_of(table, "accuracy")[0], color=INK, lw=1, ls=(0, (4, 2)), label="accuracy")
    ax.set(xlabel="responses per question n", ylabel="mean expected confidence")
    budget_ticks(ax, n)
    legend_below(ax)
    return ax


@styled
def plot_sweep_ece(table: Table, *, ax: Axes | None = None) -> Axes:
    """Draw calibration errors of smaller budgets: of expected confidences, and of one subsample per question.

    Parameters
    ----------
    table : DataFrame
        From :func:`semece.stats.diagnostics.sweep`. An ECE of expected confidences is not the expected ECE of a study.
    ax : Axes, optional
        Where to draw; a new figure of one column by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from semece.stats.diagnostics import pool, sweep
    >>> ax = plot_sweep_ece(sweep(pool([[0, 0, 1, 1]] * 5, [1, 0, 1, 0, 1]), budgets=[2, 4]))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['Sem1, one subsample', 'Sem1, expected confidences', 'Sem2, expected confidences']
    """
    ax = axes_or_new(ax)
    n = column_of(table, "n")
    one = _line("sem1") | {"label": "Sem1, one subsample", "ms": 6.5, "lw": 3, "alpha": 0.35}  # beneath, and seen
    ax.plot(n, column_of(table, "ece_of_one_subsample_sem1"), **one, clip_on=False)
    for name in ("sem1", "sem2"):
        line = _line(name) | {"label": f"{NAMES[name]}, expected confidences", "mfc": "white", "ls": (0, (4, 2))}
        ax.plot(n, column_of(table, f"ece_of_expected_{name}"), **line, clip_on=False)
    surely_zero = all(np.nanmax(line.get_ydata(), initial=0) < 1e-6 for line in ax.lines)
    ax.set(ylim=(0, 0.1 if surely_zero else None), xlabel="responses per question n", ylabel="ECE")
    budget_ticks(ax, n)
    legend_below(ax, columns=1)
    return ax


@styled
def plot_budget(table: Table, *, ax: Axes | None = None) -> Axes:
    """Draw how uncertain confidences are at smaller budgets, and how many questions have a low margin there.

    Parameters
    ----------
    table : DataFrame
        From :func:`semece.stats.diagnostics.budget_spread`.
    ax : Axes, optional
        Where to draw; a new figure of one column by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from semece.stats.diagnostics import budget_spread, pool
    >>> ax = plot_budget(budget_spread(pool([[0, 0, 1, 1]] * 5, [1] * 5), budgets=[2, 4]))
    >>> [text.get_text() for text in ax.get_legend().get_texts()][0]
    'share with a low margin'
    """
    ax = axes_or_new(ax)
    n = column_of(table, "n")
    ax.plot(
        n, column_of(table, "low_margin"), color=INK, marker="D", ms=3.2, label="share with a low margin", clip_on=False
    )
    within = _line("sem1") | {"label": "Sem1, spread between subsamples"}
    ax.plot(n, column_of(table, "sem1_within"), **within, clip_on=False)
    for name in ("sem1", "sem2"):
        line = _line(name) | {"label": f"{NAMES[name]}, spread between questions", "ls": (0, (4, 2)), "mfc": "white"}
        ax.plot(n, column_of(table, f"{name}_between"), **line, clip_on=False)
    ax.set(ylim=(0, None), xlabel="responses per question n", ylabel="share, standard deviation")
    budget_ticks(ax, n)
    legend_below(ax, columns=1)
    return ax


@styled
def plot_rate(table: Table, *, ax: Axes | None = None, slope: pl.DataFrame | None = None) -> Axes:
    """Draw the estimator gap of the low-margin questions against the budget, both logarithmic.

    Parameters
    ----------
    table : DataFrame
        From :func:`semece.stats.diagnostics.rate`. The thin line falls as 1/sqrt(n) from the first gap.
    ax : Axes, optional
        Where to draw; a new figure of one column by default.
    slope : DataFrame, optional
        From :func:`semece.stats.diagnostics.rate_slope`: told in the legend.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from semece.stats.diagnostics import pool, rate, rate_slope
    >>> some = pool([[0, 0, 1, 1] * 3] * 40, [1, 0] * 20)
    >>> ax = plot_rate(rate(some, budgets=[4, 8, 12]), slope=rate_slope(some, budgets=[4, 8, 12]))
    >>> ax.get_legend().get_texts()[0].get_text()
    'this run, slope −0.53 [−0.53, −0.53]'
    """
    ax = axes_or_new(ax)
    slopes = {} if slope is None else {row["quantity"]: row for row in slope.to_dicts()}
    n, gap, expected = (column_of(table, name) for name in ("n", "gap", "expected"))
    ax.set(xlabel="responses per question n", ylabel="Sem1 − Sem2 at low margins")
    known = np.flatnonzero(gap > 0)
    if not known.size:
        words = "too few\nlow-margin\nquestions"
        ax.set(xticks=[], yticks=[])
        ax.text(0.5, 0.5, words, color=MUTED, ha="center", va="center", transform=ax.transAxes)
        return ax
    ax.plot(n, gap, color=INK, marker="o", ms=4, label="this run" + _slope(slopes.get("gap")), zorder=3)
    if not np.isnan(expected).all():
        style: dict[str, Any] = {"color": COLORS["sem2"], "marker": "s", "mfc": "white", "ms": 4, "ls": (0, (4, 2))}
        ax.plot(n, expected, label="exact expectation" + _slope(slopes.get("expected")), **style)
    first = known[0]
    ax.plot(n, gap[first] * np.sqrt(n[first] / n), color=MUTED, lw=0.8, ls=(0, (1, 1.5)), label="slope −0.5")
    ax.set(xscale="log", yscale="log")
    _plain_ticks(ax, n)
    legend_below(ax, columns=1)
    return ax


def _slope(row: dict[str, Any] | None) -> str:
    """Write a slope with its interval, as far as there is one."""
    if row is None or row["slope"] is None:
        return ""
    interval = "" if row["low"] is None else f" [{number_in_figure(row['low'])}, {number_in_figure(row['high'])}]"
    return f", slope {number_in_figure(row['slope'])}{interval}"


def _plain_ticks(ax: Axes, n: np.ndarray[Any, Any]) -> None:
    """Label logarithmic axes with plain numbers: the budgets, and a few gaps."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    budget_ticks(ax, n)
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 3, 5, 7)))
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())


@styled
def plot_predictions(table: Table, *, ax: Axes | None = None) -> Axes:
    """Draw predicted estimator gaps against the exact ones; on the diagonal a prediction holds.

    Parameters
    ----------
    table : DataFrame
        From :func:`semece.stats.diagnostics.alignment`; rows of several runs may be stacked.
    ax : Axes, optional
        Where to draw; a new figure of one column by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> gaps = dict(exact=[0.05, 0.06], same_n=[0.04, 0.04], as_run=[0.04, 0.05], given_pool=[0.05, 0.06])
    >>> ax = plot_predictions(gaps)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['same n', 'as run', 'given the pool']
    """
    ax = axes_or_new(ax)
    exact = column_of(table, "exact")
    kinds = {
        "same_n": ("same n", "v", MUTED),
        "as_run": ("as run", "s", COLORS["sem2"]),
        "given_pool": ("given the pool", "o", COLORS["sem1"]),
    }
    largest = 0.0
    for name, (label, marker, color) in kinds.items():
        predicted = column_of(table, name)
        ax.plot(exact, predicted, ls="", marker=marker, color=color, ms=4.5, mfc="none", mew=1.2, label=label)
        largest = float(np.nanmax([largest, *exact, *predicted]))
    top = 1.1 * largest or 1.0
    ax.plot([0, top], [0, top], color=MUTED, lw=0.8, ls=(0, (4, 3)), zorder=1)
    ax.set(xlim=(0, top), ylim=(0, top), aspect="equal")
    ax.set(xlabel="exact mean of Sem1 − Sem2", ylabel="predicted")
    legend_below(ax, columns=3)
    return ax


def _line(name: str, place: int = 0) -> dict[str, Any]:
    """Give the style of an estimator's line."""
    look = look_of(name, place)
    style: dict[str, Any] = {"color": look.color, "marker": look.marker, "ms": 3.8, "label": look.name, "zorder": 3}
    return style | BENEATH.get(name, {})
