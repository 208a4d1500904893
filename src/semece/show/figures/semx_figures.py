"""SemX: accuracy against held-out frequency, and its numbers at fewer answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from semece.show.figures.canvas import COLORS, INK, MARKERS, MUTED, axes_or_new, column_of, legend_below, styled
from semece.show.figures.reliability import plot_reliability

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from semece.show.figures.canvas import Table


@styled
def plot_semx(table: Table, *, ax: Axes | None = None, title: str = "") -> Axes:
    """Draw accuracy against the mean held-out frequency of each bin.

    Parameters
    ----------
    table : DataFrame
        With ``low, high, questions, held_out, accuracy, accuracy_low, accuracy_high``, such as ``table semx`` has.
    ax : Axes, optional
        Where to draw; a new figure of one column by default.
    title : str
        Above the counts; 'SemX' by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> table = dict(low=[0.5], high=[1.0], questions=[9.4], held_out=[0.6], accuracy=[0.5])
    >>> plot_semx(table | dict(accuracy_low=[0.3], accuracy_high=[0.7])).get_xlabel()
    'frequency on the held-out answers'
    """
    names = {"confidence": "held_out", **{name: name for name in ("low", "high", "accuracy")}}
    names |= {name: name for name in ("accuracy_low", "accuracy_high")}
    count = np.maximum(np.round(column_of(table, "questions")), 1)
    columns = {name: column_of(table, column) for name, column in names.items()}
    ax = plot_reliability(columns | {"count": count}, ax=ax, estimator="semx", title=title)
    ax.set_xlabel("frequency on the held-out answers")
    return ax


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
    ax.set_xticks(n, [f"{each:g}" for each in n])
    ax.minorticks_off()
    legend_below(ax)
    return ax
