"""The numbers of many runs side by side: a row each, named beside it."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from semece.show.figures.canvas import COLORS, FAINT, MARKERS, MUTED, figure, shared_legend, styled

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from matplotlib.axes import Axes

MOST_LETTERS = 30
"""In a line of a name."""

ERRORS = {"ver_ece": "verbalized", "sem1_ece": "sem1", "sem2_ece": "sem2", "semx_ece": "semx"}
"""Columns of the right panel, and whose colour they have."""


@styled
def dots_of_runs(table: pl.DataFrame, *, axes: Sequence[Axes] | None = None) -> list[Axes]:
    """Draw the held-out gap of every run on the left, and the calibration errors on the right, with intervals.

    Parameters
    ----------
    table : DataFrame
        ``dataset, model``, and ``held_out_gap``, ``ver_ece``, ``sem1_ece``, ``sem2_ece``, ``semx_ece`` with ``_low``
        and ``_high``, such as ``table ece`` has; a number that cannot be had is null.
    axes : sequence of two Axes, optional
        Where to draw; a new figure of two columns by default.

    Returns
    -------
    list of Axes

    Examples
    --------
    >>> import polars as pl
    >>> names = ("held_out_gap", *ERRORS)
    >>> row = {f"{name}{end}": [0.1] for name in names for end in ("", "_low", "_high")}
    >>> axes = dots_of_runs(pl.DataFrame({"dataset": ["nq"], "model": ["a"], **row}))
    >>> [text.get_text() for text in axes[0].get_yticklabels()]
    ['nq', 'a']
    """
    left, right = axes or figure(width=6.7, height=dots_height(table), panels=2)[1]
    rows: list[tuple[str, dict[str, Any] | None]] = []
    for dataset in table["dataset"].unique(maintain_order=True):
        rows += [(dataset, None), *((row["model"], row) for row in table.filter(dataset=dataset).to_dicts())]
    for y, (_, row) in enumerate(rows):
        if row is None:
            continue
        for ax in (left, right):
            ax.axhline(y, color=FAINT, lw=0.5, zorder=0)
        _dot(left, row, "held_out_gap", y, "semx")
        for place, (column, estimator) in enumerate(ERRORS.items()):
            _dot(right, row, column, y + 0.17 * (place - 1.5), estimator)
    left.axvline(0, color=MUTED, lw=0.8, ls=(0, (4, 3)), zorder=1)
    left.set_yticks(range(len(rows)), [textwrap.fill(name, MOST_LETTERS) for name, _ in rows])
    for text, (_, row) in zip(left.get_yticklabels(), rows, strict=True):
        text.set_fontweight("bold" if row is None else "normal")
    left.tick_params(axis="y", length=0)
    right.set_yticks([])
    for ax in (left, right):
        ax.set_ylim(len(rows) - 0.5, -0.5)
    left.set(xlabel="held-out gap: frequency − accuracy", title="too low ←   → too high")
    right.set(xlim=(0, None), xlabel="calibration error (ECE)")
    handles = {
        name: _handle(estimator)
        for name, estimator in zip(("Ver", "Sem1", "Sem2", "SemX"), ERRORS.values(), strict=True)
    }
    if fig := right.get_figure(root=True):
        shared_legend(fig, handles)
    return [left, right]


def dots_height(table: pl.DataFrame) -> float:
    """Give the height in inches that the rows take: each as many lines as the name that has most."""
    rows = table["dataset"].n_unique() + table.height
    lines = max(len(textwrap.wrap(name, MOST_LETTERS)) for name in [*table["dataset"], *table["model"]])
    return 1.2 + (0.08 + 0.12 * lines) * rows


def _style(estimator: str) -> dict[str, Any]:
    fill = "white" if estimator == "sem2" else COLORS[estimator]
    return {"color": COLORS[estimator], "marker": MARKERS[estimator], "mfc": fill, "ms": 3.4}


def _handle(estimator: str) -> Any:  # noqa: ANN401 - an artist
    from matplotlib.lines import Line2D

    return Line2D([], [], ls="", **_style(estimator))


def _dot(ax: Axes, row: dict[str, Any], column: str, y: float, estimator: str) -> None:
    """Draw a number with its interval, if there is one."""
    value, low, high = (row.get(f"{column}{end}") for end in ("", "_low", "_high"))
    if value is not None:
        ends = None if low is None or high is None else np.abs([[value - low], [high - value]])
        ax.errorbar(value, y, xerr=ends, elinewidth=0.8, **_style(estimator))
