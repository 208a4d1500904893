"""Sheets as files: CSV that every spreadsheet reads, and XLSX; written for people, read after they had them."""

from __future__ import annotations

import csv
import io
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

from semece.canonical_json import encodable, ordinary
from semece.errors import ParseError, SemeceError, on_one_line, shortened
from semece.records import VERDICTS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from semece.records import Verdict

COLUMNS: tuple[str, ...] = ("row", "question", "references", "answer", "verdict", "note", "audit")
"""Columns of a sheet."""

NEEDED: tuple[str, ...] = ("row", "verdict", "audit")
"""Those that scoring reads."""

FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
"""What a spreadsheet takes a cell for a formula by."""

MOST_PART = 50_000_000
"""Bytes that a part of a workbook may have, unpacked."""
MOST = 30_000
"""Characters of a cell; a spreadsheet takes 32,767."""


@dataclass(frozen=True, slots=True)
class SheetRow:
    """A row of a sheet that came back.

    Parameters
    ----------
    place : int
        Its row in the file, from 1.
    code : str
        Which row it was.
    verdict : str or None
        ``correct``, ``incorrect``, ``not_attempted``; None: none yet.
    question : str
        The question that stands beside it; empty if there is no such column.
    """

    place: int
    code: str
    verdict: Verdict | None
    question: str = ""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet that came back.

    Parameters
    ----------
    path : Path
        The file.
    stamp : str
        What it is a sample of.
    entries : tuple of SheetRow
        Its rows.
    """

    path: Path
    stamp: str
    entries: tuple[SheetRow, ...]


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
    xlsxwriter = _package("xlsxwriter")
    file = io.BytesIO()
    with xlsxwriter.Workbook(file, {"in_memory": True}) as book:
        book.set_properties({"created": datetime(2000, 1, 1, tzinfo=UTC)})  # equal bytes
        _fill(book, rows)
    return file.getvalue()


def _package(name: str) -> Any:  # noqa: ANN401 - a module without types
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


def read_sheet(path: Path) -> Sheet:
    """Read a sheet, however a spreadsheet has saved it.

    Parameters
    ----------
    path : Path
        XLSX, or CSV with commas, semicolons or tabs, in UTF-8, UTF-16 or an old Windows encoding.

    Returns
    -------
    Sheet

    Raises
    ------
    ParseError
        It cannot be read, lacks a column, has a row twice, an unknown verdict or rows of several audits.
    SemeceError
        It is XLSX and the package for it is not there.
    """
    table = _xlsx_table(path) if path.suffix.lower() == ".xlsx" else _csv_table(path)
    rows = [(place, row) for place, row in enumerate(table, start=1) if any(text.strip() for text in row)]
    if not rows:
        raise ParseError(f"{path} is empty")
    names = [text.strip().lower() for text in rows[0][1]]
    for name in NEEDED:
        if names.count(name) != 1:
            raise ParseError(
                f"{path} must have one column {name!r}; it has {', '.join(filter(None, names))[:200] or 'none'}"
            )
    asked = ["question"] if names.count("question") == 1 else []
    columns = [names.index(name) for name in (*NEEDED, *asked)]
    cells = [
        (place, [row[column].strip() if column < len(row) else "" for column in columns]) for place, row in rows[1:]
    ]
    return Sheet(path, _stamp(path, cells), _entries(path, cells))


def _entries(path: Path, cells: Sequence[tuple[int, Sequence[str]]]) -> tuple[SheetRow, ...]:
    """Read codes and verdicts."""
    seen: dict[str, int] = {}
    for place, (code, *_) in cells:
        if not code:
            raise ParseError(f"{path}, row {place}: the column 'row' must say which row it was; it is empty")
        if seen.setdefault(code, place) != place:
            raise ParseError(f"{path}, rows {seen[code]} and {place}: {code!r} is there twice")
    entries = tuple(SheetRow(place, code, _verdict(word), *asked) for place, (code, word, _, *asked) in cells)
    bad = [(place, word) for place, (_, word, *_) in cells if word and _verdict(word) is None]
    if bad:
        place, word = bad[0]
        more = f" (and {len(bad) - 1:,} more)" if len(bad) > 1 else ""
        raise ParseError(
            f"{path}, row {place}: verdict must be correct, incorrect, not_attempted or empty; got {word[:40]!r}{more}"
        )
    return entries


def _verdict(word: str) -> Verdict | None:
    """Read a verdict; capitals, blanks and hyphens do not matter."""
    plain = "_".join(word.lower().replace("-", " ").replace("_", " ").split())
    return next((verdict for verdict in VERDICTS if verdict == plain), None)


def _stamp(path: Path, cells: Sequence[tuple[int, Sequence[str]]]) -> str:
    """Read what the rows are a sample of; all of the same."""
    found = Counter(stamp for _, (_, _, stamp, *_) in cells if stamp)
    if not found:
        raise ParseError(f"{path}: the column 'audit' must be as it was written; it is empty")
    usual = found.most_common(1)[0][0]
    for place, (_, _, stamp, *_) in cells:
        if stamp not in {usual, ""}:
            raise ParseError(f"{path}, row {place}: it is of another audit than the other rows ({stamp[:80]!r})")
    return usual


def _csv_table(path: Path) -> list[list[str]]:
    """Read the cells of a CSV file, whatever its separator."""
    try:
        data = ordinary(path).read_bytes()
    except OSError as error:
        raise ParseError(f"{path} cannot be read: {error.strerror or error}") from None
    text = _decoded(data).removeprefix("\ufeff")
    head, _, rest = text.partition("\n")
    if head.strip().strip('"').lower().startswith("sep="):
        text = rest
    separator = max(",;\t", key=text.partition("\n")[0].count)
    try:
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    except csv.Error as error:
        raise ParseError(f"{path} cannot be read as CSV: {error}") from None


def _decoded(data: bytes) -> str:
    """Decode what a spreadsheet has saved; an old encoding spoils only texts that scoring does not read."""
    if data[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def _measure(path: Path) -> None:
    """Refuse a workbook whose parts are too large, before they are unpacked.

    Raises
    ------
    ParseError
        One is.
    """
    with ZipFile(path) as archive:
        for part in archive.infolist():
            if part.file_size > MOST_PART:
                raise ParseError(
                    f"{path}, {part.filename}: a part of a workbook may have {MOST_PART / 1e6:,.0f} MB; it has "
                    f"{part.file_size / 1e6:,.0f} MB"
                )


def _xlsx_table(path: Path) -> list[list[str]]:
    """Read the cells of the first worksheet."""
    openpyxl = _package("openpyxl")
    try:
        _measure(ordinary(path))
        with closing(openpyxl.load_workbook(path, read_only=True, data_only=True)) as book:
            rows = book.worksheets[0].iter_rows(values_only=True)
            return [["" if value is None else str(value) for value in row] for row in rows]
    except OSError as error:
        raise ParseError(f"{path} cannot be read: {error.strerror or error}") from None
    except ParseError:
        raise
    except Exception as error:  # whatever the broken file makes the package raise
        said = "a part of it is missing" if isinstance(error, KeyError) else str(error) or "it is damaged"
        raise ParseError(f"{path} cannot be read as XLSX: {on_one_line(said)}") from None
