"""The cells of a sheet that came back, whatever program saved it and whatever its name ends in."""

from __future__ import annotations

import csv
import io
import zipfile
import zlib
from contextlib import closing
from typing import IO, TYPE_CHECKING, Any, NamedTuple
from xml.parsers import expat

from semece.compare.audit.sheets import package
from semece.errors import ParseError, on_one_line, ordinary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

SEPARATORS = ",;\t|"
MOST_ABOVE = 50
"""Rows among which the names of the columns are looked for."""
MEMORY_PER_BYTE, LEAST_MEMORY = 10, 300_000_000
"""An XLSX file may take ten times its size of memory, or so many bytes if that is more."""
UNPACKED, PER_CELL = 2, 500
"""Bytes of memory for a byte of an unpacked part, and for a cell."""

KINDS: tuple[tuple[bytes, str], ...] = (
    (b"\xd0\xcf\x11\xe0", "an old Excel file (.xls) or one with a password"),
    (b"%PDF", "a PDF"),
    (b"{\\rtf", "a text document"),
    (b"<", "a web page or XML"),
)
"""How files begin that are no sheets."""


class Cells(NamedTuple):
    """A table of a file.

    Parameters
    ----------
    name : str
        Of the worksheet; ``''`` for CSV.
    rows : list of list of str
        Its cells, row by row from the first.
    joined : tuple of (str, range, range)
        Cells that are joined: what a spreadsheet calls them, their rows and their columns, from 0.
    unknown : tuple of (str, int, int)
        Formulas without a result: what a spreadsheet calls the cell, its row and its column, from 0.
    exact : bool
        Whether the encoding keeps every letter.
    """

    name: str
    rows: list[list[str]]
    joined: tuple[tuple[str, range, range], ...] = ()
    unknown: tuple[tuple[str, int, int], ...] = ()
    exact: bool = True


def tables_of(path: Path, columns: Sequence[str]) -> list[Cells]:
    """Read the tables of a file: the worksheets of XLSX, or the one of CSV.

    Parameters
    ----------
    path : Path
        The file.
    columns : sequence of str
        By whose names the separator of CSV is known.

    Raises
    ------
    ParseError
        It cannot be read, or is another kind of file.
    SemeceError
        It is XLSX and the package for it is not there.
    """
    try:
        data = ordinary(path).read_bytes()
    except OSError as error:
        raise ParseError(f"{path} cannot be read: {error.strerror or error}") from None
    if data.startswith(b"PK\x03\x04"):
        return list(_worksheets(path, data))
    if data.startswith(b"SQLite format 3\0"):
        raise ParseError(f"{path} is a run file, no sheet; name the run first, and after it its sheets")
    kind = next((kind for start, kind in KINDS if data.lstrip().startswith(start)), None)
    if kind is not None:
        raise ParseError(f"{path} is {kind}, no sheet; save it as .csv or .xlsx")
    text, exact = _decoded(data)
    head, _, rest = text.partition("\n")
    if head.strip().strip('"').lower().startswith("sep="):
        text = rest
    return [Cells("", _csv_rows(path, text, _separator(text, columns)), exact=exact)]


def _separator(text: str, columns: Sequence[str]) -> str:
    """Find the separator by the line that names the columns; without one, the most frequent of the first line."""
    lines = text[:100_000].splitlines()[:MOST_ABOVE] or [""]
    for separator in SEPARATORS:
        if any(is_header(line.replace('"', "").split(separator), columns) for line in lines):
            return separator
    return max(SEPARATORS, key=lines[0].count)


def is_header(row: Sequence[str], columns: Sequence[str]) -> bool:
    """Whether a row names all of the columns."""
    return set(columns) <= {plain_name(text) for text in row}


def plain_name(text: str) -> str:
    """Give a column's name without capitals, blanks and marks that nobody sees."""
    return text.strip(" \t\r\n\u00a0\u200b\ufeff").lower()


def _decoded(data: bytes) -> tuple[str, bool]:
    """Decode what a spreadsheet has saved, and say whether every letter is kept."""
    if data[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        encoding = "utf-16"
    elif data[1:400:2].count(0) > len(data[1:400:2]) / 2:
        encoding = "utf-16-le"
    elif data[:400:2].count(0) > len(data[:400:2]) / 2:
        encoding = "utf-16-be"
    else:
        encoding = "utf-8-sig"
    try:
        text, exact = data.decode(encoding), True
    except UnicodeDecodeError:
        text, exact = data.decode("cp1252" if encoding == "utf-8-sig" else encoding, "replace"), False
    return text.removeprefix("\ufeff").replace("\0", ""), exact


def _csv_rows(path: Path, text: str, separator: str) -> list[list[str]]:
    """Read the cells of a CSV file."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        return list(reader)
    except csv.Error as error:
        raise ParseError(f"{path}, line {reader.line_num}, cannot be read as CSV: {error}") from None


def _worksheets(path: Path, data: bytes) -> Iterator[Cells]:
    """Read the worksheets of an XLSX file."""
    _check_archive(path, data)
    openpyxl = package("openpyxl")
    try:
        with (
            closing(openpyxl.load_workbook(io.BytesIO(data), data_only=True)) as book,
            closing(openpyxl.load_workbook(io.BytesIO(data))) as written,
        ):
            for sheet, formulas in zip(book.worksheets, written.worksheets, strict=True):
                rows = [[_text(value) for value in row] for row in sheet.iter_rows(values_only=True)]
                joined = tuple(
                    (each.coord, range(each.min_row - 1, each.max_row), range(each.min_col - 1, each.max_col))
                    for each in sheet.merged_cells.ranges
                )
                yield Cells(sheet.title, rows, joined, tuple(_without_result(formulas, rows)))
    except Exception as error:  # whatever the broken file makes the package raise
        said = "a part of it is missing" if isinstance(error, KeyError) else str(error) or "it is damaged"
        raise ParseError(f"{path} cannot be read as XLSX: {on_one_line(said)}") from None


def _check_archive(path: Path, data: bytes) -> None:
    """Refuse an archive that is no XLSX file, or would take too much memory; what it says of itself is not believed."""
    most = max(MEMORY_PER_BYTE * len(data), LEAST_MEMORY)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if "xl/workbook.xml" not in archive.namelist():
                raise ParseError(f"{path} is a file of another program, no sheet; save it as .csv or .xlsx")
            needed = 0
            for each in archive.infolist():
                with archive.open(each) as stream:
                    needed += _needed(stream, most - needed)
                if needed > most:
                    raise ParseError(
                        f"{path} may take more than {most / 1e6:,.0f} MB of memory; delete empty rows and columns, or "
                        "save it as .csv"
                    )
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError) as error:
        raise ParseError(f"{path} cannot be read as XLSX: {on_one_line(str(error))}") from None


def _needed(stream: IO[bytes], most: int) -> int:
    """Bound the memory of a part of an XLSX file, up to a limit: its text, and all cells between its first and last.

    Raises
    ------
    ValueError
        It defines entities, which no spreadsheet does.
    """
    parser, cells = expat.ParserCreate(), _Cells()

    def refuse(*_: object) -> None:
        raise ValueError("a part of it defines entities")

    parser.StartDoctypeDeclHandler, parser.StartElementHandler = refuse, cells.begin
    needed = read = 0
    is_xml = True
    while needed <= most and (piece := stream.read(1 << 16)):
        read += len(piece)
        if is_xml:
            try:
                parser.Parse(piece)
            except expat.ExpatError:  # a picture; who reads broken XML comes no further
                is_xml = False
        needed = UNPACKED * read + PER_CELL * cells.count
    return needed


class _Cells:
    """Counts the cells of a worksheet while it is read: those that are there, and those between them."""

    def __init__(self) -> None:
        self._there = self._joined = self._rows = self._row = self._columns = self._column = 0

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        """Note the beginning of an element."""
        match name.rpartition(":")[2]:
            case "row":
                self._row = int(attributes.get("r") or self._row + 1)
                self._column = 0
            case "c":
                column, row = _place(attributes["r"]) if "r" in attributes else (self._column + 1, self._row)
                self._there, self._column = self._there + 1, column
                self._columns, self._row = max(self._columns, column), row
            case "mergeCell":
                ends = [_place(end) for end in attributes.get("ref", "").split(":")]
                (left, top), (right, bottom) = ends[0], ends[-1]
                self._joined += abs(right - left + 1) * abs(bottom - top + 1)
            case "si":
                self._there += 1
            case _:
                return
        self._rows = max(self._rows, self._row)

    @property
    def count(self) -> int:
        """All of them."""
        return max(self._there, self._rows * self._columns) + self._joined


def _place(text: str) -> tuple[int, int]:
    """Read column and row of what a spreadsheet calls a cell.

    Examples
    --------
    >>> _place("B7"), _place("$XFD$1048576")
    ((2, 7), (16384, 1048576))
    """
    plain = text.replace("$", "").upper()
    letters = plain.rstrip("0123456789")
    if not 0 < len(letters) < 4 or not letters.isascii() or not letters.isalpha() or len(plain) > 12:
        raise ValueError(f"no cell is called {text!r}")
    column = 0
    for letter in letters:
        column = 26 * column + ord(letter) - 64
    return column, int(plain[len(letters) :] or 0)


def _without_result(sheet: Any, rows: list[list[str]]) -> Iterator[tuple[str, int, int]]:  # noqa: ANN401 - no types
    """Give the formulas whose result is not stored."""
    for row in sheet.iter_rows():
        for each in row:
            if each.data_type == "f" and not rows[each.row - 1][each.column - 1]:
                yield each.coordinate, each.row - 1, each.column - 1


def _text(value: object) -> str:
    """Write a cell's value as a person sees it."""
    if value is None:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
