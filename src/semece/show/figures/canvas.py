"""What all figures share: colours, sizes, an empty figure, a file.

Drawing goes through ``matplotlib.figure.Figure``: no global state, no window.
"""

from __future__ import annotations

from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, TypeAlias, TypeVar

import numpy as np

from semece.stats import decimal_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    import polars as pl
    from matplotlib.artist import Artist
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

COLORS: dict[str, str] = {"sem1": "#8f1656", "sem2": "#3d8ee0", "verbalized": "#d96b00", "semx": "#5a1fd0"}
"""One colour per estimator, told apart by people with any common colour vision and, with the markers, in grey."""

MARKERS: dict[str, str] = {"sem1": "o", "sem2": "s", "verbalized": "^", "semx": "D"}

BENEATH: dict[str, dict[str, Any]] = {"sem2": {"mfc": "white", "lw": 2.4, "zorder": 2}}
"""Sem2 often lies where Sem1 does: its line is wide and its marker hollow, and both are seen."""

NAMES: dict[str, str] = {"sem1": "Sem1", "sem2": "Sem2", "verbalized": "Ver", "semx": "SemX"}

OTHERS: tuple[tuple[str, str], ...] = (("#2f7d43", "v"), ("#8a6100", "P"), ("#007c89", "X"), ("#55555c", "*"))
"""Colour and marker of scores that a run was given, in turn."""

RUN_COLORS, RUN_MARKERS = ("#5a1fd0", "#d55e00", "#009e73", "#aa4499"), "osD^vPX*"
"""Colours and hollow markers of runs on one axes, in turn; pooled runs are drawn in ink."""


class Look(NamedTuple):
    """Colour, marker and name of a confidence in figures."""

    color: str
    marker: str
    name: str


def look_of(estimator: str, place: int = 0) -> Look:
    """Say how a confidence is drawn; of a score that a run was given by its place among those.

    Examples
    --------
    >>> look_of("sem2").name, look_of("p_true").marker, look_of("entropy", 1).marker
    ('Sem2', 'v', 'P')
    """
    if estimator in NAMES:
        return Look(COLORS[estimator], MARKERS[estimator], NAMES[estimator])
    return Look(*OTHERS[place % len(OTHERS)], estimator.replace("$", r"\$"))


STYLE: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "mathtext.fontset": "dejavusans",
    "axes.titlesize": 8.5,
    **dict.fromkeys(("font.size", "axes.labelsize"), 8),
    **dict.fromkeys(("xtick.labelsize", "ytick.labelsize", "legend.fontsize"), 7),
    **dict.fromkeys(("axes.edgecolor", "axes.labelcolor", "text.color", "xtick.color", "ytick.color"), INK),
    **dict.fromkeys(("axes.linewidth", "xtick.major.width", "ytick.major.width"), 0.7),
    **dict.fromkeys(("axes.spines.top", "axes.spines.right", "legend.frameon"), False),
    "lines.linewidth": 1.2,
    **dict.fromkeys(("figure.facecolor", "axes.facecolor"), "none"),
    "savefig.facecolor": "white",
    **dict.fromkeys(("pdf.fonttype", "ps.fonttype"), 42),
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


PANEL = 1.45
"""Inches: a panel of many, of which five stand side by side in a page's width."""

ACROSS = 5
"""Most panels side by side."""

ROW = 4 * PANEL
"""Inches: a single row of panels is at least so wide, a page of one column."""


def grid(number: int, *, columns: int = ACROSS, lines: int = 1) -> tuple[Figure, list[Axes]]:
    """Make an empty figure with small axes in rows.

    Parameters
    ----------
    number : int
        How many axes, >= 1.
    columns : int
        How many stand side by side, >= 1.
    lines : int
        Lines of the longest title.

    Returns
    -------
    tuple of Figure and list of Axes

    Examples
    --------
    >>> fig, axes = grid(7)
    >>> len(axes), [ax.get_subplotspec().is_last_row() for ax in axes[:3]]
    (7, [False, False, False])
    """
    from matplotlib.figure import Figure

    columns, rows = min(columns, number), -(-number // columns)
    panel = max(PANEL, ROW / columns) if rows == 1 else PANEL
    with style():
        fig = Figure(figsize=(panel * columns, (1.12 * panel + 0.1 * lines) * rows + 0.6), layout="constrained")
        return fig, [fig.add_subplot(rows, columns, i + 1) for i in range(number)]


LETTERS, HANDLE = 58, 7
"""Letters that a legend has room for in a column's width, and those that a line and its space take."""


def legend_below(ax: Axes, *, columns: int = 2, **options: Any) -> None:  # noqa: ANN401 - as matplotlib's
    """Put the legend below the axes, where no data is, in at most so many columns as its longest name lets fit."""
    longest = max(map(len, ax.get_legend_handles_labels()[1]), default=0)
    fit = max(1, min(columns, LETTERS // (longest + HANDLE)))
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=fit, columnspacing=1.2, **options)


def write_above(ax: Axes, text: str, *, at: float, **look: Any) -> None:  # noqa: ANN401 - as matplotlib's
    """Write on top of the axes, some points above them however high they are; `at` is a share of their width."""
    ax.annotate(text, (at, 1), xycoords="axes fraction", xytext=(0, 3), textcoords="offset points", **look)


BUDGETS = "per question"
"""What the name of an axis of budgets says."""

LABEL = 12
"""Points that the label of a budget takes, with a gap."""


def budget_ticks(ax: Axes, n: ArrayLike) -> None:
    """Put a tick at each budget and nowhere else; where labels would meet, the largest budget has one."""
    sizes = np.asarray(n, dtype=float)
    ax.set_xticks(sizes)
    ax.set_xticks([], minor=True)
    transform = ax.xaxis.get_transform()
    low, high = transform.transform(np.array(ax.get_xlim()))
    points = 72 * ax.bbox.width / ax.figure.dpi
    place = (transform.transform(sizes) - low) / (high - low) * points
    labelled: list[int] = []
    for i in range(len(sizes) - 1, -1, -1):
        if not labelled or place[labelled[-1]] - place[i] >= LABEL:
            labelled.append(i)
    ax.set_xticklabels([f"{size:g}" if i in labelled else "" for i, size in enumerate(sizes)])


def shared_legend(fig: Figure, labelled: Mapping[str, Artist], *, most: int = 6) -> None:
    """Put one legend below all panels, in as many columns, up to ``most``, as the figure is wide enough for."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas: Any = FigureCanvasAgg(fig)
    renderer = canvas.get_renderer()
    for columns in range(min(most, len(labelled)), 0, -1):
        legend = fig.legend(
            labelled.values(), labelled, loc="outside lower center", ncols=columns, handlelength=2.2, columnspacing=1.4
        )
        if columns == 1 or legend.get_window_extent(renderer).width <= fig.bbox.width:
            return
        legend.remove()


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


def styled(plot: Callable[P, R]) -> Callable[P, R]:
    """Draw in our settings, whoever made the axes."""

    @wraps(plot)
    def draw(*args: P.args, **kwargs: P.kwargs) -> R:
        with style():
            return plot(*args, **kwargs)

    return draw


def number_in_figure(value: float, digits: int = 2) -> str:
    """Round a number as tables do, with a minus that is as wide as a plus."""
    return decimal_text(value, digits).replace("-", "−")


def axes_or_new(ax: Axes | None) -> Axes:
    """Give the axes, or those of a new figure."""
    return ax if ax is not None else figure()[1][0]


def column_of(table: Table, name: str) -> NDArray[np.float64]:
    """Read a column of a NamedTuple, a mapping or a DataFrame; null becomes nan."""
    there = [str(column) for column in getattr(table, "_fields", getattr(table, "columns", table))]
    if name not in there:
        raise ValueError(f"the table must have a column {name!r}; got {', '.join(there) or 'none'}")
    column: Any = getattr(table, name) if isinstance(table, tuple) else table[name]
    return np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column, dtype=np.float64)
