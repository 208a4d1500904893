"""SemX: accuracy against held-out frequency, and its numbers at fewer answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from semece.show.figures.canvas import (
    COLORS,
    INK,
    MARKERS,
    MUTED,
    NAMES,
    axes_or_new,
    budget_ticks,
    column_of,
    legend_below,
    styled,
)
from semece.show.figures.reliability import counts_above, points_and_gaps

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from semece.show.figures.canvas import Table


@styled
def plot_semx(table: Table, *, ax: Axes | None = None, title: str = "") -> Axes:
    """Draw accuracy against the mean held-out frequency of each bin, below how many questions are in each tenth of it.

    Parameters
    ----------
    table : DataFrame
        With ``questions, held_out, accuracy, accuracy_low, accuracy_high``, such as ``table semx`` has.
    ax : Axes, optional
        Where to draw; a new figure of one column by default.
    title : str
        Above the counts; 'SemX' by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> table = dict(questions=[9.4], held_out=[0.6], accuracy=[0.5], accuracy_low=[0.3], accuracy_high=[0.7])
    >>> ax = plot_semx(table)
    >>> ax.get_xlabel(), [text.get_text() for text in ax.child_axes[0].texts]
    ('frequency on the held-out answers', ['9'])
    """
    ax = axes_or_new(ax)
    names = {"count": "questions", "confidence": "held_out"}
    names |= {name: name for name in ("accuracy", "accuracy_low", "accuracy_high")}
    columns = {name: column_of(table, column) for name, column in names.items()}
    points_and_gaps(ax, columns, "semx")
    ax.set_xlabel("frequency on the held-out answers")
    count, edges = np.histogram(columns["confidence"], np.linspace(0, 1, 11), weights=columns["count"])
    counts_above(ax, edges[:-1], edges[1:], _whole(count), title=title or NAMES["semx"])
    return ax


def _whole(count: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round counts so that they add up to their rounded sum: those with the largest remainders go up."""
    whole = np.floor(count)
    whole[np.argsort(whole - count, kind="stable")[: round(count.sum() - whole.sum())]] += 1
    return whole


@styled
def plot_semx_budgets(table: Table, *, ax: Axes | None = None) -> Axes:
    """Draw the held-out gap and SemX-ECE against the number of answers, with their intervals.

    Parameters
    ----------
    table : DataFrame
        With ``n`` and ``held_out_gap``, ``semx_ece`` and their ends, such as ``table semx --by budget`` has.
    ax : Axes, optional
        Where to draw; a new figure of one column by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> ends = {f"{name}{end}": [0.1, 0.1] for name in ("held_out_gap", "semx_ece") for end in ("", "_low", "_high")}
    >>> ax = plot_semx_budgets({"n": [2, 4], **ends})
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['held-out gap', 'SemX-ECE']
    """
    ax = axes_or_new(ax)
    n = column_of(table, "n")
    ax.axhline(0, color=MUTED, lw=0.8, ls=(0, (4, 3)), zorder=1)
    gap = ("held_out_gap", "held-out gap", INK, "o", 0.95)
    error = ("semx_ece", "SemX-ECE", COLORS["semx"], MARKERS["semx"], 1.05)
    for name, words, color, marker, moved in (gap, error):
        value, low, high = (column_of(table, f"{name}{end}") for end in ("", "_low", "_high"))
        spread = np.abs(np.vstack([value - low, high - value]))
        line: dict[str, Any] = {"color": color, "marker": marker, "ms": 3.8, "elinewidth": 0.9, "capsize": 1.8}
        line |= {"mfc": "white", "ls": (0, (4, 2))} if name == "semx_ece" else {}
        ax.errorbar(n * moved, value, yerr=spread, label=words, **line)
    ax.set(xscale="log", xlabel="answers per question", ylabel="gap, calibration error")
    budget_ticks(ax, n)
    legend_below(ax)
    return ax
