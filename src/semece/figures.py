"""Figures: each ``plot_*`` draws one table of the core on one axes, and returns the axes.

Nothing is computed here but positions. Drawing goes through ``matplotlib.figure.Figure``: no global state, no window.
"""

from __future__ import annotations

from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeAlias, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray

    Table: TypeAlias = tuple[ArrayLike, ...] | Mapping[str, ArrayLike] | pl.DataFrame
    """A NamedTuple of columns, a mapping of columns, or a DataFrame."""

P = ParamSpec("P")
R = TypeVar("R")

COLUMN_WIDTH = 3.35
"""Inches: one column of a two-column paper."""

INK, MUTED, FAINT = "#1b1b1f", "#6b6b73", "#d9d9de"
"""Text and axes; secondary text; grids and counts."""

COLORS: dict[str, str] = {"sem1": "#8f1656", "sem2": "#3d8ee0", "ver": "#d96b00"}
"""One colour per estimator, told apart by people with any common colour vision and, with the markers, in grey."""

MARKERS: dict[str, str] = {"sem1": "o", "sem2": "s", "ver": "^"}

NAMES: dict[str, str] = {"sem1": "Sem1", "sem2": "Sem2", "ver": "Verbalized"}

STYLE: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "axes.linewidth": 0.7,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "lines.linewidth": 1.2,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "white",
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "semece",
}
"""Settings of every figure: TrueType fonts embedded in PDF, outlines in SVG, so both look alike everywhere."""

_FORMATS: dict[str, dict[str, None]] = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}, ".png": {}}


def style(changes: Mapping[str, Any] | None = None) -> AbstractContextManager[None]:
    """Put the settings of our figures in force for a while.

    Parameters
    ----------
    changes : mapping, optional
        Settings that differ, by matplotlib's names.

    Returns
    -------
    context manager

    Examples
    --------
    >>> import matplotlib
    >>> with style({"font.size": 9}):
    ...     matplotlib.rcParams["font.size"], matplotlib.rcParams["pdf.fonttype"]
    (9.0, 42)
    """
    from matplotlib import rc_context

    settings: Any = STYLE | dict(changes or {})
    return rc_context(settings)


def figure(*, width: float = COLUMN_WIDTH, height: float | None = None, panels: int = 1) -> tuple[Figure, list[Axes]]:
    """Make an empty figure with axes side by side.

    Parameters
    ----------
    width, height : float
        Inches; the height is the width of a panel by default.
    panels : int
        How many axes, >= 1.

    Returns
    -------
    tuple of Figure and list of Axes

    Examples
    --------
    >>> fig, axes = figure(panels=2, width=7)
    >>> len(axes), fig.get_size_inches().tolist()
    (2, [7.0, 3.5])
    """
    from matplotlib.figure import Figure

    with style():
        fig = Figure(figsize=(width, height or width / panels), layout="constrained")
        return fig, [fig.add_subplot(1, panels, i + 1) for i in range(panels)]


def save(fig: Figure, path: str | Path, *, dpi: int = 200) -> Path:
    """Write a figure; the same figure gives the same bytes.

    Parameters
    ----------
    fig : Figure
        What to write.
    path : str or Path
        Ends in ``.pdf``, ``.svg`` or ``.png``.
    dpi : int
        Dots per inch of a PNG.

    Returns
    -------
    Path
        The file written.

    Raises
    ------
    ValueError
        If the ending is another one.

    Examples
    --------
    >>> save(figure()[0], "a.bmp")
    Traceback (most recent call last):
    ...
    ValueError: a figure is written as .pdf, .svg or .png; got 'a.bmp'
    """
    path = Path(path)
    if path.suffix.lower() not in _FORMATS:
        raise ValueError(f"a figure is written as .pdf, .svg or .png; got {str(path)!r}")
    with style():
        fig.savefig(path, dpi=dpi, metadata=_FORMATS[path.suffix.lower()])
    return path


def _styled(plot: Callable[P, R]) -> Callable[P, R]:
    """Draw in our settings, whoever made the axes."""

    @wraps(plot)
    def draw(*args: P.args, **kwargs: P.kwargs) -> R:
        with style():
            return plot(*args, **kwargs)

    return draw


@_styled
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
    estimator : {'sem1', 'sem2', 'ver'}
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
    ax = _axes(ax)
    names = ("low", "high", "count", "confidence", "accuracy", "accuracy_low", "accuracy_high")
    columns = [_column(table, name) for name in names]
    keep = columns[2] > 0
    low, high, count, confidence, accuracy, accuracy_low, accuracy_high = (column[keep] for column in columns)
    color, marker = COLORS[estimator], MARKERS[estimator]
    ax.plot([0, 1], [0, 1], color=MUTED, lw=0.8, ls=(0, (4, 3)), zorder=1)
    ax.vlines(confidence, confidence, accuracy, color=color, alpha=0.35, lw=4.5, zorder=2)
    spread = np.abs(np.vstack([accuracy - accuracy_low, accuracy_high - accuracy]))
    style: dict[str, Any] = {"color": color, "ms": 4.2, "elinewidth": 0.9, "capsize": 1.8, "clip_on": False}
    ax.errorbar(confidence, accuracy, yerr=spread, fmt=marker, zorder=3, **style)
    ax.text(1.02, 0.0, "over-confident", color=MUTED, size=6.5, rotation=90, ha="left", va="bottom")
    ax.text(0.03, 0.97, "under-confident", color=MUTED, size=6.5, ha="left", va="top")
    ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="confidence", ylabel="accuracy", aspect="equal")
    _counts(ax, low, high, count, title=title or NAMES[estimator])
    return ax


def _counts(
    ax: Axes, low: NDArray[np.float64], high: NDArray[np.float64], count: NDArray[np.float64], *, title: str
) -> None:
    """Put a strip of counts on top of the axes."""
    strip = ax.inset_axes((0.0, 1.03, 1.0, 0.14))
    strip.bar(low, count, width=high - low, align="edge", color=FAINT, edgecolor="none")
    numbered = count if low.size <= 12 else count[:0]
    for left, right, number in zip(low, high, numbered, strict=False):
        strip.text((left + right) / 2, number, f"{number:g}", ha="center", va="bottom", size=6, color=MUTED)
    strip.set(xlim=(0, 1), ylim=(0, (count.max() if count.size else 1) * 1.6), xticks=[], yticks=[])
    strip.spines[:].set_visible(False)
    strip.set_title(title, pad=3)


def _axes(ax: Axes | None) -> Axes:
    """Give the axes, or those of a new figure."""
    return ax if ax is not None else figure()[1][0]


def _column(table: Table, name: str) -> NDArray[np.float64]:
    """Read a column of a NamedTuple, a mapping or a DataFrame; null becomes nan."""
    column: Any = getattr(table, name) if isinstance(table, tuple) else table[name]
    return np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column, dtype=np.float64)
