"""Accuracy against confidence, and risk against coverage."""

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
    RUN_COLORS,
    RUN_MARKERS,
    axes_or_new,
    column_of,
    legend_below,
    look_of,
    number_in_figure,
    styled,
    write_above,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from semece.show.figures.canvas import Table


@styled
def plot_reliability(table: Table, *, ax: Axes | None = None, estimator: str = "sem1", title: str = "") -> Axes:
    """Draw accuracy against confidence per bin, with intervals and the number of questions.

    A point below the diagonal is over-confident. The bar between point and diagonal is the gap that ECE averages,
    weighted with the counts on top.

    Parameters
    ----------
    table : ReliabilityTable or DataFrame
        With ``low, high, count, confidence, accuracy, accuracy_low, accuracy_high``; bins with count 0 are left out.
    ax : Axes, optional
        Where to draw; a new figure of one column by default.
    estimator : {'sem1', 'sem2', 'verbalized'} or str
        Whose colour and marker to use.
    title : str
        Above the counts; the estimator's name by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> table = dict(low=[0.0, 0.5], high=[0.5, 1.0], count=[3, 9], confidence=[0.3, 0.8], accuracy=[0.33, 0.6])
    >>> ax = plot_reliability(table | dict(accuracy_low=[0.1, 0.3], accuracy_high=[0.7, 0.8]))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('confidence', 'accuracy')
    """
    low, high, count = _occupied(table, "low", "high", "count")
    ax = axes_or_new(ax)
    points_and_gaps(ax, table, estimator)
    counts_above(ax, low, high, count, title=title or look_of(estimator).name)
    return ax


def points_and_gaps(ax: Axes, table: Table, estimator: str) -> None:
    """Draw accuracy against confidence per bin, with intervals, and bars to the diagonal."""
    look = look_of(estimator)
    confidence, accuracy, low, high = _occupied(table, "confidence", "accuracy", "accuracy_low", "accuracy_high")
    ax.plot([0, 1], [0, 1], color=MUTED, lw=0.8, ls=(0, (4, 3)), zorder=1)
    ax.vlines(confidence, confidence, accuracy, color=look.color, alpha=0.35, lw=4.5, zorder=2)
    spread = np.abs(np.vstack([accuracy - low, high - accuracy]))
    style: dict[str, Any] = {"color": look.color, "ms": 4.2, "elinewidth": 0.9, "capsize": 1.8, "clip_on": False}
    ax.errorbar(confidence, accuracy, yerr=spread, fmt=look.marker, zorder=3, **style)
    ax.text(1.03, 0.0, "below the line: over-confident", color=MUTED, size=6.5, rotation=90, ha="left", va="bottom")
    ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="confidence", ylabel="accuracy", aspect="equal")


def counts_above(
    ax: Axes, low: NDArray[np.float64], high: NDArray[np.float64], count: NDArray[np.float64], *, title: str
) -> None:
    """Put a strip of counts on top of the axes."""
    strip = ax.inset_axes((0.0, 1.03, 1.0, 0.14))
    strip.bar(low, count, width=high - low, align="edge", color=FAINT, edgecolor="none")
    numbered = count if low.size <= 12 else count[:0]
    for left, right, number in zip(low, high, numbered, strict=False):
        if number:
            strip.text((left + right) / 2, number, f"{number:g}", ha="center", va="bottom", size=6, color=MUTED)
    strip.set(xlim=(0, 1), ylim=(0, (count.max() if count.size else 1) * 1.6), xticks=[], yticks=[])
    strip.spines[:].set_visible(False)
    strip.set_title(title, pad=3)


@styled
def plot_reliability_curves(tables: Mapping[str, Table], *, ax: Axes | None = None, estimator: str = "sem1") -> Axes:
    """Draw the reliability of several models, each in its own colour and marker, and, heavier, of all of them pooled.

    Parameters
    ----------
    tables : mapping of str to ReliabilityTable or DataFrame
        One per model. The one named ``pooled`` is drawn with its intervals.
    ax : Axes, optional
        Where to draw; a new figure of one column by default.
    estimator : {'sem1', 'sem2', 'verbalized'} or str
        Whose confidence it is: its name stands above.

    Returns
    -------
    Axes

    Examples
    --------
    >>> table = dict(count=[3, 9], confidence=[0.3, 0.8], accuracy=[0.33, 0.6])
    >>> table |= dict(accuracy_low=[0.1, 0.3], accuracy_high=[0.7, 0.8])
    >>> ax = plot_reliability_curves({"a": table, "pooled": table})
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['a', 'pooled']
    """
    ax = axes_or_new(ax)
    ax.plot([0, 1], [0, 1], color=MUTED, lw=0.8, ls=(0, (4, 3)), zorder=1)
    for i, name in enumerate(name for name in tables if name != "pooled"):
        confidence, accuracy = _occupied(tables[name], "confidence", "accuracy")
        color, marker = RUN_COLORS[i % len(RUN_COLORS)], RUN_MARKERS[i % len(RUN_MARKERS)]
        style: dict[str, Any] = {"color": color, "lw": 1, "marker": marker, "ms": 4.2, "mfc": "none"}
        ax.plot(confidence, accuracy, label=name, zorder=3, clip_on=False, **style)
    if "pooled" in tables:
        names = ("confidence", "accuracy", "accuracy_low", "accuracy_high")
        confidence, accuracy, low, high = _occupied(tables["pooled"], *names)
        ax.vlines(confidence, low, high, color=INK, alpha=0.5, lw=0.9, zorder=2)
        style = {"color": INK, "lw": 1.8, "marker": ".", "ms": 5}
        ax.plot(confidence, accuracy, label="pooled", zorder=2, clip_on=False, **style)
    ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="confidence", ylabel="accuracy", aspect="equal")
    ax.set_title(look_of(estimator).name)
    legend_below(ax, handlelength=2.6)
    return ax


@styled
def plot_reliability_together(tables: Mapping[str, Table], *, ax: Axes | None = None) -> Axes:
    """Draw the reliability of several confidences of the same answers on one axes, with intervals and each ECE.

    Parameters
    ----------
    tables : mapping of str to ReliabilityTable or DataFrame
        By estimator: ``verbalized``, ``sem1``, ``sem2``; with ``count, confidence, accuracy, accuracy_low,
        accuracy_high``. The numbers above are the ECEs in these bins, in the order of the legend.
    ax : Axes, optional
        Where to draw; a new figure of one column by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> table = dict(count=[3, 9], confidence=[0.3, 0.8], accuracy=[0.33, 0.6])
    >>> ax = plot_reliability_together({"sem1": table | dict(accuracy_low=[0.1, 0.3], accuracy_high=[0.7, 0.8])})
    >>> [text.get_text() for text in ax.texts]
    ['ECE', '.16']
    """
    ax = axes_or_new(ax)
    ax.plot([0, 1], [0, 1], color=MUTED, lw=0.8, ls=(0, (4, 3)), zorder=1)
    names = ("count", "confidence", "accuracy", "accuracy_low", "accuracy_high")
    lines = [("ECE", MUTED)]
    given = [name for name in tables if name not in COLORS]
    for estimator in [*(name for name in COLORS if name in tables), *given]:
        look = look_of(estimator, given.index(estimator) if estimator in given else 0)
        count, confidence, accuracy, low, high = _occupied(tables[estimator], *names)
        spread = np.abs(np.vstack([accuracy - low, high - accuracy]))
        fill = "white" if estimator == "sem2" else look.color
        style: dict[str, Any] = {
            "color": look.color,
            "ms": 3.4,
            "mfc": fill,
            "elinewidth": 0.5,
            "clip_on": False,
            **BENEATH.get(estimator, {"lw": 0.9, "zorder": 3}),
        }
        ax.errorbar(confidence, accuracy, yerr=spread, marker=look.marker, label=look.name, **style)
        error = float(count @ np.abs(confidence - accuracy) / count.sum())
        lines.append((number_in_figure(error).removeprefix("0"), look.color))
    for place, (text, color) in enumerate(lines):
        write_above(ax, text, at=min(0.26, 1 / len(lines)) * place, color=color, size=6.5, va="bottom")
    ax.set(xticks=(0, 0.5, 1), yticks=(0, 0.5, 1))
    ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="confidence", ylabel="accuracy", aspect="equal")
    legend_below(ax, columns=3)
    return ax


@styled
def plot_risk_coverage(
    table: Table, *, ax: Axes | None = None, estimator: str = "sem1", threshold: float | None = None
) -> Axes:
    """Draw the share of wrong answers against the share of questions answered.

    Parameters
    ----------
    table : RiskCoverage or DataFrame
        With ``threshold, coverage, risk``, from the highest threshold down.
    ax : Axes, optional
        Where to draw; several estimators may be drawn on one.
    estimator : {'sem1', 'sem2', 'verbalized'} or str
        Whose colour and marker to use.
    threshold : float, optional
        An abstention threshold to mark: the last point at or above it.

    Returns
    -------
    Axes

    Examples
    --------
    >>> ax = plot_risk_coverage(dict(threshold=[0.9, 0.5], coverage=[0.25, 1.0], risk=[0.0, 0.4]), threshold=0.8)
    >>> ax.get_xlabel(), [text.get_text() for text in ax.texts]
    ('share of questions answered', ['answer from 0.80'])
    """
    ax = axes_or_new(ax)
    look = look_of(estimator, sum(line.get_label() not in NAMES.values() for line in ax.get_lines()))
    thresholds, coverage, risk = (column_of(table, name) for name in ("threshold", "coverage", "risk"))
    color, marker = look.color, look.marker
    every = max(1, len(risk) // 8)
    line: dict[str, Any] = {"color": color, "marker": marker, "ms": 3.5, "markevery": every, "label": look.name}
    ax.plot(coverage, risk, clip_on=False, **line | BENEATH.get(estimator, {}))
    answered = thresholds >= (np.inf if threshold is None else threshold)
    if threshold is not None and answered.any():
        x, y = coverage[answered][-1], risk[answered][-1]
        ax.plot([x, x, 0], [0, y, y], color=color, lw=0.8, ls=":")
        ax.annotate(
            f"answer from {number_in_figure(threshold)}",
            (x, y),
            (4, -10),
            textcoords="offset points",
            size=6.5,
            color=color,
        )
    ax.set(xlim=(0, 1), ylim=(0, max(ax.get_ylim()[1], risk.max() * 1.1, 0.05)))
    ax.set(xlabel="share of questions answered", ylabel="share of wrong answers among them")
    legend_below(ax, columns=3)
    return ax


def _occupied(table: Table, *names: str) -> list[NDArray[np.float64]]:
    """Read columns of a reliability table without its empty bins."""
    columns = [column_of(table, name) for name in names]
    keep = column_of(table, "count") > 0
    return [column[keep] for column in columns]
