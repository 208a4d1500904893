r"""Tables for a paper that fit: a wide one is cut into parts that share their first columns, a long one into pages.

Widths are those of Computer Modern in 8 points, in which `\footnotesize` sets a paper of 10 points; other text fonts
are narrower. Each part is a float of its own: tables that break over pages do not work in two columns of text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from semece.runs import escaped_latex, heading, latex_rows, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

POINTS = 72.27
"""TeX's points to an inch."""

SMALL = 7 / 8
"""The size of an interval beside that of its number."""

KEYS = ("dataset", "model", "score", "target", "boundary", "n", "low", "high")
"""Columns that say what a row is about: every part of a wide table has them."""

NAMES = ("dataset", "model")
"""Keys that are printed once, in the first of their rows."""

WIDEST_NAME = 84.0
"""Points that a name may take before it goes on in the next line."""

GAP = 4.0
"""Points on either side of a column."""

MOST_LINES = 44
"""Lines of a float, heading included: what a page of nine inches holds below a caption."""

_WIDTHS = {
    0.30: "!',.:;<[]_`il ",
    0.36: "fj-I",
    0.42: "()rts",
    0.50: "cez>?",
    0.56: 'kqvxyJ"$*/0123456789\\^ago{}~',
    0.60: "Sbdhnpu",
    0.72: "EPZLF",
    0.80: "AHNUVXYBCTRw",
    0.90: "DGKOQ&+=@#%m",
}
_EMS = {character: width for width, characters in _WIDTHS.items() for character in characters}
_WIDEST = 1.09
BREAK = r"\allowbreak{}"
_SEPARATORS = r"(?<=[-/_.:·])"


class FloatPlace(NamedTuple):
    """Where a table stands.

    Parameters
    ----------
    width : float
        Inches.
    environment : str
        ``table``, or ``table*`` across two columns.
    """

    width: float
    environment: str = "table"


COLUMN, ACROSS, PAGE = FloatPlace(3.03), FloatPlace(6.3, "table*"), FloatPlace(5.5)
"""A column of two, both of them, and the page of a paper with one column."""


def floats(
    table: pl.DataFrame, *, caption: str, name: str, places: Sequence[FloatPlace] = (PAGE,), digits: int = 3
) -> str:
    r"""Write a table as floats that fit.

    Parameters
    ----------
    table : DataFrame
        Any table; columns named as in :data:`KEYS` are repeated in every part.
    caption : str
        Plain text.
    name : str
        The label is ``tab:`` and this.
    places : sequence of FloatPlace
        The first that holds the table whole is taken, else the last.
    digits : int
        Decimals, >= 0.

    Returns
    -------
    str
        Floats that need the package ``booktabs``.

    Examples
    --------
    >>> import polars as pl
    >>> text = floats(pl.DataFrame({"dataset": ["nq"], "model": ["a"], "ece": [0.2]}), caption="ECE.", name="ece")
    >>> text.splitlines()[1], text.count(r"\begin{table}"), r"\label{tab:ece}" in text
    ('\\begin{table}[tp]', 1, True)
    """
    columns = _columns(table, digits)
    place = next((one for one in places if _breadth(columns) <= one.width * POINTS), places[-1])
    bodies = [_tabular(part, rows) for rows in _pages(table, columns) for part in _parts(columns, place.width * POINTS)]
    lines = [r"% \usepackage{booktabs}"]
    for number, body in enumerate(bodies, 1):
        part = f" (Part {number} of {len(bodies)}.)" if len(bodies) > 1 else ""
        label_of = rf"\label{{tab:{name}}}" if number == 1 else ""
        head = [rf"\begin{{{place.environment}}}[tp]", r"\centering\footnotesize\setlength{\tabcolsep}{4pt}"]
        caption_line = rf"\caption{{{escaped_latex(caption + part)}}}{label_of}"
        lines += [*head, caption_line, *body, rf"\end{{{place.environment}}}", ""]
    return "\n".join(lines)


class _Column(NamedTuple):
    """A column: its name, heading in lines, cells, their alignment, width in points, and lines of each cell."""

    name: str
    head: list[str]
    cells: list[str]
    align: str
    width: float
    heights: list[int]

    @property
    def is_key(self) -> bool:
        return self.name in KEYS


def _columns(table: pl.DataFrame, digits: int) -> list[_Column]:
    names = shown(table.columns)
    rows = latex_rows(table, names, digits=digits)
    return [_column(name, [row[i] for row in rows], table) for i, name in enumerate(names)]


def _column(name: str, cells: list[tuple[str, str]], table: pl.DataFrame) -> _Column:
    """Set one column: a text that is too wide goes on in the next line, and so does a heading."""
    numeric = table.schema[name].is_numeric()
    natural = max((_points(plain) for plain, _ in cells), default=0.0)
    width = min(natural, WIDEST_NAME) if not numeric else natural
    wraps = not numeric and natural > WIDEST_NAME
    heights = [_lines(plain, width) if wraps else 1 for plain, _ in cells]
    head = _wrapped(heading(name), max(width, 30.0))
    width = max(width, *(_points(line) for line in head)) + 0.5
    texts = [_broken(plain, width) if wraps else marked for plain, marked in cells]
    align = rf"p{{{width:.1f}pt}}" if wraps else "r" if numeric else "l"
    return _Column(name, head, texts, align, width, heights)


def _points(text: str) -> float:
    """Measure a text; what stands in brackets is set smaller."""
    number, bracket, interval = text.partition(" [")
    ems = sum(_EMS.get(character, _WIDEST) for character in number)
    small = sum(_EMS.get(character, _WIDEST) + 0.03 for character in bracket + interval)
    return 8 * (ems + SMALL * small)


def _wrapped(text: str, width: float) -> list[str]:
    """Break a heading between words."""
    lines: list[str] = []
    for word in text.split():
        if lines and _points(f"{lines[-1]} {word}") <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _pieces(text: str, width: float) -> list[str]:
    """Cut a name where a line may end: after a separator, and anywhere in a piece that is too wide."""
    pieces = [piece for word in re.split(r"(?<= )", text) for piece in re.split(_SEPARATORS, word) if piece]
    return [part for piece in pieces for part in (piece if _points(piece) > 0.9 * width else [piece])]


def _broken(text: str, width: float) -> str:
    r"""Set a name that may go on in the next line; no `\par` ends it, which would cost a line more."""
    pieces = (escaped_latex(piece) + (" " if piece.endswith(" ") else "") for piece in _pieces(text, width))
    return rf"\rightskip=0pt plus 1fil\relax {BREAK.join(pieces)}"


def _lines(text: str, width: float) -> int:
    """Count the lines of a name, as TeX would at most."""
    count, used = 1, 0.0
    for piece in _pieces(text, width):
        size = _points(piece)
        if used and used + size > 0.97 * width:
            count, used = count + 1, 0.0
        used += size
    return count


def _breadth(columns: Sequence[_Column]) -> float:
    return sum(column.width for column in columns) + 2 * GAP * max(0, len(columns) - 1)


def _parts(columns: Sequence[_Column], width: float) -> Iterator[list[_Column]]:
    """Spread the columns over parts that are no wider; each begins with the keys."""
    keys, rest = [c for c in columns if c.is_key], [c for c in columns if not c.is_key]
    part = list(keys)
    for column in rest:
        if len(part) > len(keys) and _breadth([*part, column]) > width:
            yield part
            part = list(keys)
        part.append(column)
    yield part


def _pages(table: pl.DataFrame, columns: Sequence[_Column]) -> Iterator[range]:
    """Spread the rows over pages; rows of one name stay together where a page holds them."""
    room = MOST_LINES - max(len(column.head) for column in columns)
    start, used = 0, 0
    for block in _blocks(table):
        size = sum(_height(columns, row, block.start) for row in block)
        if used and used + size > room:
            yield range(start, block.start)
            start, used = block.start, 0
        if size > room:
            for row in block:
                if used + _height(columns, row, start) > room:
                    yield range(start, row)
                    start, used = row, 0
                used += _height(columns, row, start)
        else:
            used += size
    yield range(start, table.height)


def _blocks(table: pl.DataFrame) -> Iterator[range]:
    """Give the rows of each name."""
    names = table.select(name for name in NAMES if name in table.columns).rows()
    starts = [row for row in range(table.height) if row == 0 or (names and names[row] != names[row - 1])]
    for first, last in zip(starts, [*starts[1:], table.height], strict=True):
        yield range(first, last)


def _height(columns: Sequence[_Column], row: int, first: int) -> int:
    """Count the lines of a row; names are printed in the first of theirs."""
    return max(
        c.heights[row] for c in columns if c.name not in NAMES or row == first or c.cells[row] != c.cells[row - 1]
    )


def _tabular(columns: Sequence[_Column], rows: range) -> list[str]:
    """Write the rows of a part: a name once, a line between datasets."""
    lines = [
        rf"\begin{{tabular}}{{@{{}}{''.join(column.align for column in columns)}@{{}}}}",
        r"\toprule",
        " & ".join(_heading(column) for column in columns) + r" \\",
        r"\midrule",
    ]
    for row in rows:
        named = [column for column in columns if column.name in NAMES]
        changed = [row == rows.start or column.cells[row] != column.cells[row - 1] for column in named]
        fresh = [column.name for i, column in enumerate(named) if any(changed[: i + 1])]
        if row > rows.start and "dataset" in fresh:
            lines.append(r"\midrule")
        cells = [c.cells[row] if c.name not in NAMES or c.name in fresh else "" for c in columns]
        lines.append(" & ".join(cells) + r" \\")
    return [*lines, r"\bottomrule", r"\end{tabular}"]


def _heading(column: _Column) -> str:
    side = "r" if column.align == "r" else "l"
    lines = r"\\".join(map(escaped_latex, column.head))
    return rf"\shortstack[{side}]{{{lines}}}"
