"""Leading constants of the two biases, and where each of them dominates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from semece.show.figures.canvas import (
    COLORS,
    INK,
    MUTED,
    axes_or_new,
    column_of,
    legend_below,
    number_in_figure,
    styled,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from semece.show.figures.canvas import Table

REGIME_COLORS: dict[str, str] = {"jensen_dominated": "#e6b3cb", "low_margin": "#f6f4ee", "large_margin": "#cfe2f5"}
"""Fills, from a near tie to a clear lead: dark, pale and between, so that they differ in grey."""

REGIME_NAMES: dict[str, str] = {
    "jensen_dominated": "Jensen-dominated",
    "low_margin": "low margin",
    "large_margin": "large margin",
}


@styled
def plot_constants(table: Table, *, ax: Axes | None = None) -> Axes:
    """Draw the leading constants of bias and gap against the standardised margin.

    Parameters
    ----------
    table : DataFrame or mapping
        ``standardized_margin, jensen_bias, selection_bias, direct_gap, oracle_gap``, such as
        :func:`semece.show.tables.constants_table`.
    ax : Axes, optional
        Where to draw; a new figure of one column by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from semece.show.tables import constants_table
    >>> len(plot_constants(constants_table()).get_legend().get_texts())
    4
    """
    from semece.stats import crossover

    ax = axes_or_new(ax)
    m = column_of(table, "standardized_margin")
    root = float(crossover())
    lines = {
        "jensen_bias": ("Sem1 too high, J", COLORS["sem1"], "-"),
        "selection_bias": ("Sem2 too low, S", COLORS["sem2"], (0, (5, 1.5))),
        "direct_gap": ("Sem1 − Sem2, J + S", INK, (0, (1, 1))),
        "oracle_gap": ("difference of distances, J − S", MUTED, (0, (4, 1, 1, 1))),
    }
    ax.axhline(0, color=INK, lw=0.6)
    ax.axvline(root, color=MUTED, lw=0.7)
    ax.text(root, ax.get_ylim()[0], f" {number_in_figure(root, 3)}", color=MUTED, size=6.5, va="bottom")
    for name, (label, color, dash) in lines.items():
        ax.plot(m, column_of(table, name), color=color, ls=dash, label=label)
    ax.set(xlim=(0, m.max()), xlabel="standardised margin m", ylabel=r"constant of $\sqrt{p/n}$")
    legend_below(ax, handlelength=2.6)
    return ax


@styled
def plot_regimes(table: Table, *, ax: Axes | None = None, questions: Table | None = None) -> Axes:
    """Draw which regime a question is in, by its margin and its top-two mass.

    Parameters
    ----------
    table : DataFrame or mapping
        ``top_two_mass, crossover, low_margin``, such as :func:`semece.show.tables.regime_table`.
    ax : Axes, optional
        Where to draw; a new figure of one column by default.
    questions : DataFrame or mapping, optional
        ``margin, top_two_mass`` of questions to put on it; the area of a dot is their number.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from semece.show.tables import regime_table
    >>> ax = plot_regimes(regime_table(50, n_classes=5), questions={"margin": [0.1, 0.1], "top_two_mass": [0.8, 0.8]})
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['Jensen-dominated', 'low margin', 'large margin']
    """
    ax = axes_or_new(ax)
    mass, first, second = (column_of(table, name) for name in ("top_two_mass", "crossover", "low_margin"))
    right = 1.0 if questions is not None else min(1.0, 2.2 * second.max())
    edges = [np.zeros_like(mass), np.minimum(first, mass), np.minimum(second, mass), np.minimum(right, mass)]
    for i, (name, color) in enumerate(REGIME_COLORS.items()):
        ax.fill_betweenx(mass, edges[i], edges[i + 1], color=color, lw=0, label=REGIME_NAMES[name])
    for edge, dash in ((edges[1], "-"), (edges[2], (0, (4, 1.5)))):
        ax.plot(edge, mass, color=INK, lw=0.8, ls=dash)
    if questions is not None:
        (x, y), count = _grouped(column_of(questions, "margin"), column_of(questions, "top_two_mass"))
        for number in np.unique(count):
            size = np.sqrt(4 + 60 * number / max(count.max(), 20))
            dots: dict[str, Any] = {"marker": "o", "ms": size, "color": INK, "alpha": 0.55, "mew": 0, "clip_on": False}
            ax.plot(x[count == number], y[count == number], ls="", **dots, zorder=3)
    legend_below(ax, columns=3, handlelength=1.2)
    ax.set(xlim=(0, right), ylim=(mass.min(), 1), xlabel=r"margin $\Delta$", ylabel="top-two mass p")
    return ax


@styled
def plot_regime_map(margin: ArrayLike, n_classes: ArrayLike, *, crossover: float, ax: Axes | None = None) -> Axes:
    r"""Draw which regime a question is in, by its number of classes K and its standardised margin m.

    Parameters
    ----------
    margin : array_like, shape (Q,)
        m of each question, :math:`\Delta \sqrt{n / p}`, >= 0.
    n_classes : array_like, shape (Q,)
        K of each, >= 1. The area of a dot is the number of questions in its place; m is rounded to 0.25.
    crossover : float
        m at which Sem1 and Sem2 are equally far off; the low margins end at :math:`\sqrt{\log K}`.
    ax : Axes, optional
        Where to draw; a new figure of one column by default.

    Returns
    -------
    Axes

    Examples
    --------
    >>> ax = plot_regime_map([0.2, 1.0, 5.0], [4, 4, 1], crossover=0.53)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('classes K', 'standardised margin m')
    """
    ax = axes_or_new(ax)
    m, k = np.asarray(margin, dtype=float), np.asarray(n_classes, dtype=float)
    most, top = max(k.max(initial=1) * 1.15, 2), max(m.max(initial=1) * 1.05, 2)
    classes = np.geomspace(0.87, most, 200)
    low = np.full_like(classes, crossover)
    high = np.maximum(np.sqrt(np.log(np.maximum(classes, 1))), crossover)
    edges = [np.zeros_like(classes), low, high, np.full_like(classes, top)]
    for i, (name, color) in enumerate(REGIME_COLORS.items()):
        ax.fill_between(classes, edges[i], edges[i + 1], color=color, lw=0, label=REGIME_NAMES[name])
    for edge, dash in ((low, "-"), (high, (0, (4, 1.5)))):
        ax.plot(classes, edge, color=INK, lw=0.8, ls=dash)
    (x, y), count = _grouped(k, np.round(4 * m) / 4)
    for number in np.unique(count):
        size = np.sqrt(2 + 45 * number / max(count.max(), 20))
        ax.plot(
            x[count == number],
            y[count == number],
            ls="",
            marker="o",
            ms=size,
            color=INK,
            alpha=0.5,
            mew=0,
            clip_on=False,
        )
    ticks = [each for each in (1, 2, 3, 5, 10, 20, 50) if each <= most]
    ax.set(xscale="log", xlim=(0.87, most), ylim=(0, top), xlabel="classes K", ylabel="standardised margin m")
    ax.set_xticks(ticks, [str(each) for each in ticks])
    ax.minorticks_off()
    legend_below(ax, columns=3, handlelength=1.2)
    return ax


def _grouped(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Count questions in the same place; questions without a place are left out."""
    pairs = np.stack([x, y])
    places, count = np.unique(pairs[:, ~np.isnan(pairs).any(axis=0)].round(9), axis=1, return_counts=True)
    return places, count
