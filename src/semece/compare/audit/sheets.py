"""Sheets as files for people to fill: CSV that every spreadsheet reads, and XLSX."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any

from semece.canonical_json import encodable
from semece.errors import SemeceError, shortened
from semece.records import VERDICTS

if TYPE_CHECKING:
    from collections.abc import Sequence
COLUMNS: tuple[str, ...] = ("row", "question", "references", "answer", "verdict", "note", "audit")
"""Columns of a sheet."""

FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
"""What a spreadsheet takes a cell for a formula by."""

MOST = 30_000
"""Characters of a cell; a spreadsheet takes 32,767."""


def cell(text: str, *, guard: bool) -> str:
    r"""Make a text fit for a cell; with ``guard`` an apostrophe keeps a spreadsheet from taking it for a formula.

    Examples
    --------
    >>> cell("=1+1", guard=True), cell(" -5", guard=True), cell("a\x00b", guard=True), cell("=1", guard=False)
    ("'=1+1", "' -5", 'ab', '=1')
    """
    clean = "".join(c for c in encodable(text) if c in "\n\t" or (ord(c) >= 32 and c not in "\ufffe\uffff"))
    short = shortened(clean, MOST)
    first = short.lstrip(" \n\u00a0")[:1]
    return f"'{short}" if guard and first in FORMULA and first else short


def csv_bytes(rows: Sequence[Sequence[str]]) -> bytes:
    """Write a sheet as CSV, with the mark by which spreadsheets know UTF-8."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    writer.writerows([cell(each, guard=True) for each in row] for row in rows)
    return text.getvalue().encode("utf-8-sig")


def xlsx_bytes(rows: Sequence[Sequence[str]]) -> bytes:
    """Write a sheet as XLSX: every cell is text, and the verdict is chosen from a list.

    Raises
    ------
    SemeceError
        The package for it is not there.
    """
    xlsxwriter = package("xlsxwriter")
    file = io.BytesIO()
    with xlsxwriter.Workbook(file, {"in_memory": True}) as book:
        book.set_properties({"created": datetime(2000, 1, 1, tzinfo=UTC)})  # equal bytes
        _fill(book, rows)
    return file.getvalue()


def package(name: str) -> Any:  # noqa: ANN401 - a module without types
    """Import what only XLSX needs."""
    try:
        return import_module(name)
    except ImportError:
        raise SemeceError(f"XLSX needs {name}; install it with pip install 'semece[audit]', or use CSV") from None


def _fill(book: Any, rows: Sequence[Sequence[str]]) -> None:  # noqa: ANN401 - the package has no types here
    sheet = book.add_worksheet("audit")
    head, body = book.add_format({"bold": True}), book.add_format({"text_wrap": True, "valign": "top"})
    for place, (name, width) in enumerate(zip(COLUMNS, (22, 50, 30, 30, 16, 24, 12), strict=True)):
        sheet.set_column(place, place, width)
        sheet.write_string(0, place, name, head)
    for down, row in enumerate(rows, start=1):
        for across, text in enumerate(row):
            sheet.write_string(down, across, cell(text, guard=False), body)
    sheet.freeze_panes(1, 0)
    at = COLUMNS.index("verdict")
    sheet.data_validation(1, at, max(len(rows), 1), at, {"validate": "list", "source": list(VERDICTS)})
