"""What a person sees first: how sure and how often right, and how many right and wrong answers each confidence has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from semece.show.figures.canvas import (
    COLUMN_WIDTH,
    FAINT,
    INK,
    MUTED,
    axes_or_new,
    column_of,
    figure,
    look_of,
    styled,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

    from semece.show.figures.canvas import Table


@styled
def plot_overview(
    rows: Sequence[Mapping[str, Any]], *, accuracy: tuple[float, float, float], ax: Axes | None = None
) -> Axes:
    """Draw the accuracy and the mean of each confidence with intervals, and the gap between them.

    Parameters
    ----------
    rows : sequence of mapping
        One per confidence: ``estimator``, ``name`` (beside it), ``value, low, high`` (its mean with interval), ``gap``
        (mean confidence - accuracy) and ``text`` (the gap as written).
    accuracy : tuple of float
        With the ends of its interval.
    ax : Axes, optional
        Where to draw; a new figure of one column by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> row = {"estimator": "sem1", "name": "Sem1", "value": 0.8, "low": 0.7, "high": 0.9, "gap": 0.2, "text": "+0.20"}
    >>> ax = plot_overview([row], accuracy=(0.6, 0.5, 0.7))
    >>> [label.get_text() for label in ax.get_yticklabels()], ax.texts[0].get_text()
    (['right answers', 'Sem1'], '+0.20')
    """
    ax = ax or figure(width=COLUMN_WIDTH, height=0.75 + 0.48 * (len(rows) + 1))[1][0]
    style: dict[str, Any] = {"ms": 5, "elinewidth": 1.0, "capsize": 2.2, "zorder": 3, "clip_on": False}
    value, low, high = accuracy
    pieces = [(y - 0.15, y + 0.45) for y in range(len(rows) + 1)]  # nothing crosses the texts
    ax.vlines([value] * len(pieces), *zip(*pieces, strict=True), color=MUTED, lw=0.8, ls=(0, (4, 3)), zorder=1)
    ax.errorbar(value, 0, xerr=[[value - low], [high - value]], fmt="o", color=INK, **style)
    for y, row in enumerate(rows, start=1):
        look = look_of(row["estimator"], y)
        mean, right = row["value"], row["value"] - row["gap"]
        ax.plot([right, mean], [y, y], color=look.color, alpha=0.3, lw=7, solid_capstyle="butt", zorder=2)
        ends = [[mean - row["low"]], [row["high"] - mean]]
        ax.errorbar(mean, y, xerr=ends, fmt=look.marker, color=look.color, **style)
        middle = (mean + right) / 2
        side = "left" if middle < 0.3 else "right" if middle > 0.7 else "center"
        place = {"left": min(mean, right), "right": max(mean, right), "center": middle}[side]
        ax.text(place, y - 0.24, row["text"], ha=side, va="bottom", size=7)
    ax.set_yticks(range(len(rows) + 1), ["right answers", *(row["name"] for row in rows)])
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.set(xlim=(0, 1), ylim=(len(rows) + 0.5, -0.5), xlabel="share of answers, confidence")
    return ax


@styled
def plot_right_and_wrong(table: Table, *, ax: Axes | None = None, estimator: str = "sem1") -> Axes:
    """Draw how many questions each confidence has: those answered right upwards, those answered wrong downwards.

    Parameters
    ----------
    table : ReliabilityTable or DataFrame
        With ``low, high, count, accuracy``; a question that is right in part counts in parts.
    ax : Axes, optional
        Where to draw; a new figure of one column by default.
    estimator : {'sem1', 'sem2', 'verbalized'} or str
        Whose colour to use.

    Returns
    -------
    Axes

    Examples
    --------
    >>> ax = plot_right_and_wrong(dict(low=[0.0, 0.5], high=[0.5, 1.0], count=[4, 10], accuracy=[0.25, 0.8]))
    >>> [round(bar.get_height()) for bar in ax.patches]
    [1, 8, -3, -2]
    """
    ax = axes_or_new(ax)
    look = look_of(estimator)
    low, high, count, accuracy = (column_of(table, name) for name in ("low", "high", "count", "accuracy"))
    right = np.where(count > 0, count * np.nan_to_num(accuracy), 0)
    bar: dict[str, Any] = {"width": high - low, "align": "edge", "edgecolor": INK, "lw": 0.5}
    ax.bar(low, right, color=look.color, **bar)
    ax.bar(low, right - count, color=FAINT, **bar)
    ax.axhline(0, color=INK, lw=0.7)
    most = max(float(count.max(initial=1)), 1.0)
    ax.text(0.02, 0.98, "right", color=look.color, size=7, va="top", transform=ax.transAxes)
    ax.text(0.02, 0.02, "wrong", color=MUTED, size=7, va="bottom", transform=ax.transAxes)
    ax.set(xlim=(0, 1), ylim=(-1.15 * most, 1.15 * most), xlabel=f"confidence ({look.name})", ylabel="questions")
    ax.locator_params(axis="y", integer=True, nbins=7)
    ax.yaxis.set_major_formatter(lambda value, _: f"{abs(value):g}")
    return ax
