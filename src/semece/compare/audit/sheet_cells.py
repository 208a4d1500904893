"""The cells of a sheet that came back, whatever program saved it and whatever its name ends in."""

from __future__ import annotations

import csv
import io
import zipfile
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

from semece.compare.audit.sheets import package
from semece.errors import ParseError, on_one_line, ordinary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

SEPARATORS = ",;\t|"
MOST_ABOVE = 50
"""Rows among which the names of the columns are looked for."""
MOST_BYTES = 200_000_000
"""Of an unpacked XLSX file."""

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
    """Refuse an archive that is no XLSX file, or would be too large."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names, size = set(archive.namelist()), sum(each.file_size for each in archive.infolist())
    except zipfile.BadZipFile as error:
        raise ParseError(f"{path} cannot be read as XLSX: {error}") from None
    if "xl/workbook.xml" not in names:
        raise ParseError(f"{path} is a file of another program, no sheet; save it as .csv or .xlsx")
    if size > MOST_BYTES:
        raise ParseError(f"{path} would take {size:,} bytes unpacked; at most {MOST_BYTES:,} are read")


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
