"""Sheets that people have filled: their rows, or one sentence that names everything that cannot be read."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from semece.compare.audit.sheet_cells import MOST_ABOVE, is_header, plain_name, tables_of
from semece.errors import ParseError
from semece.records import VERDICTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from semece.compare.audit.sheet_cells import Cells
    from semece.records import Verdict

NEEDED: tuple[str, ...] = ("row", "verdict", "audit")
"""Columns that scoring reads."""

TEXTS: tuple[str, ...] = ("question", "references", "answer")
"""Columns by which a row is known to be the one that was written; each may be missing."""

WORDS: dict[Verdict, str] = {
    "correct": "correct right yes y true 1 ja wahr richtig oui vrai sí si verdadero sì vero sim verdadeiro waar tak да",
    "incorrect": "incorrect wrong no n false 0 nein falsch non faux falso não nao nee onwaar nie нет",
    "not_attempted": "not_attempted",
}
"""How people and spreadsheets write a verdict. A number other than 0 and 1, 'x' or 'n/a' says nothing for sure."""

MEANING: dict[str, Verdict] = {word: verdict for verdict, words in WORDS.items() for word in words.split()}


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
    texts : dict of str to str
        ``question``, ``references`` and ``answer`` as they stand beside it; those without a column are missing.
    """

    place: int
    code: str
    verdict: Verdict | None
    texts: dict[str, str] = field(default_factory=dict)


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
    exact : bool
        Whether its encoding keeps every letter of the texts.
    read_as : dict of str to str
        What other words than those of a verdict were read as.
    """

    path: Path
    stamp: str
    entries: tuple[SheetRow, ...]
    exact: bool = True
    read_as: dict[str, str] = field(default_factory=dict)


class _Row(NamedTuple):
    """A row as it stands in the file."""

    place: int
    code: str
    word: str
    stamp: str
    texts: dict[str, str]


def read_sheet(path: Path) -> Sheet:
    """Read a sheet, however a spreadsheet has saved it.

    What a file is, is told by its content: XLSX, or CSV with commas, semicolons, tabs or bars, in UTF-8, UTF-16 or an
    old Windows encoding. Rows above the names of the columns, empty rows, further worksheets and further columns do not
    matter, and a row that is there twice with the same verdict counts once.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    Sheet

    Raises
    ------
    ParseError
        It cannot be read, lacks a column, has a row twice with different verdicts, words that are no verdict, joined
        cells, formulas without a result, or rows of several audits.
    SemeceError
        It is XLSX and the package for it is not there.
    """
    cells, head = _table(path)
    columns = {name: place for place, name in enumerate(map(plain_name, cells.rows[head]))}
    _check_layout(path, cells, head, {columns[name] for name in NEEDED})
    rows = _rows(cells, head, columns)
    _refuse_without_code(path, rows)
    entries = _entries(path, [row for row in rows if row.code])
    words = {row.word: MEANING[_plain(row.word)] for row in rows if row.word and _plain(row.word) not in VERDICTS}
    return Sheet(path, _stamp(path, rows), entries, cells.exact, dict(words))


def _table(path: Path) -> tuple[Cells, int]:
    """Find the one table with the columns of a sheet, and the row that names them."""
    tables = tables_of(path, NEEDED)
    found = [
        (cells, at) for cells in tables for at, row in enumerate(cells.rows[:MOST_ABOVE]) if is_header(row, NEEDED)
    ]
    first = {cells.name: (cells, at) for cells, at in reversed(found)}
    if len(first) > 1:
        raise ParseError(
            f"{path} has the columns in several worksheets ({', '.join(sorted(first))}); leave one of them"
        )
    filled = [row for cells in tables for row in cells.rows if any(text.strip() for text in row)]
    if not filled:
        raise ParseError(f"{path} is empty")
    names = [plain_name(text) for text in (found and found[0][0].rows[found[0][1]]) or _likely(filled)]
    for name in NEEDED:
        if names.count(name) != 1:
            raise ParseError(
                f"{path} must have one column {name!r}; it has {', '.join(filter(None, names))[:200] or 'none'}"
            )
    return found[0]


def _likely(rows: Sequence[list[str]]) -> list[str]:
    """Give the row that names most of the columns, the first of equal ones."""
    return max(rows[:MOST_ABOVE], key=lambda row: len(set(NEEDED) & set(map(plain_name, row))))


def _check_layout(path: Path, cells: Cells, head: int, needed: set[int]) -> None:
    """Refuse joined cells, and formulas without a result, where rows, verdicts or the audit stand."""
    where = f"{path}, worksheet {cells.name!r}" if cells.name else str(path)
    joined = [name for name, down, across in cells.joined if down[-1] > head and needed & set(across)]
    if joined:
        raise ParseError(f"{where}: cells are joined ({', '.join(joined)}); separate them, and fill each row")
    unknown = [name for name, row, column in cells.unknown if row > head and column in needed]
    if unknown:
        raise ParseError(f"{where}: formulas have no result ({', '.join(unknown)}); write the verdicts themselves")


def _rows(cells: Cells, head: int, columns: dict[str, int]) -> list[_Row]:
    """Take the rows below the names of the columns that are neither empty nor these names again."""
    found = []
    for place, row in enumerate(cells.rows[head + 1 :], start=head + 2):
        if not any(text.strip() for text in row) or is_header(row, NEEDED):
            continue

        def text(name: str, row: list[str] = row) -> str:
            return row[columns[name]].strip() if columns[name] < len(row) else ""

        texts = {name: text(name) for name in TEXTS if name in columns}
        found.append(_Row(place, _letters(text("row")), text("verdict"), _letters(text("audit")), texts))
    return found


def _letters(code: str) -> str:
    """Put right what spreadsheets make of a code: dashes, capitals, an apostrophe before it."""
    return code.translate(str.maketrans("\u2010\u2011\u2012\u2013\u2014", "-----")).lower().lstrip("'").strip()


def _refuse_without_code(path: Path, rows: Sequence[_Row]) -> None:
    """Refuse verdicts that stand beside no code; a remark below the table is none."""
    bad = [row.place for row in rows if not row.code and (row.word or row.texts.get("answer"))]
    if bad:
        raise ParseError(f"{path}, {rows_text(bad)}: the column 'row' must say which row it was; it is empty")


def _entries(path: Path, rows: Sequence[_Row]) -> tuple[SheetRow, ...]:
    """Read codes and verdicts; a row that is there twice counts once."""
    bad = defaultdict(list)
    for row in rows:
        if row.word and _plain(row.word) not in MEANING:
            bad[row.word].append(row.place)
    if bad:
        said = ", ".join(f"{word[:40]!r} ({rows_text(places)})" for word, places in bad.items())
        raise ParseError(f"{path}: verdict must be correct, incorrect, not_attempted or empty; got {said}")
    by_code = defaultdict(list)
    for row in rows:
        by_code[row.code].append(SheetRow(row.place, row.code, MEANING.get(_plain(row.word)), row.texts))
    unlike = [each for each in by_code.values() if not _one(each)]
    if unlike:
        pairs = "; ".join(f"{each[0].code!r} ({rows_text(one.place for one in each)})" for each in unlike)
        raise ParseError(f"{path}: a row is there twice and not the same: {pairs}")
    return tuple(max(each, key=lambda one: one.verdict is not None) for each in by_code.values())


def _one(same: Sequence[SheetRow]) -> bool:
    """Whether rows of one code say one thing, perhaps some of them nothing yet."""
    verdicts = {one.verdict for one in same} - {None}
    return len(verdicts) <= 1 and all(one.texts == same[0].texts for one in same)


def _plain(word: str) -> str:
    """Take off what does not matter to a verdict: capitals, blanks, hyphens, quotes, a full stop."""
    return "_".join(word.lower().strip("\"'.! \u00a0").replace("-", " ").replace("_", " ").split())


def _stamp(path: Path, rows: Sequence[_Row]) -> str:
    """Read what the rows are a sample of; all of the same."""
    found = Counter(row.stamp for row in rows if row.stamp)
    if not found:
        raise ParseError(f"{path}: the column 'audit' must be as it was written; it is empty")
    usual = found.most_common(1)[0][0]
    others: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        if row.stamp not in {usual, ""}:
            others[row.stamp].append(row.place)
    if others:
        said = ", ".join(f"{stamp[:80]!r} ({rows_text(places)})" for stamp, places in others.items())
        raise ParseError(f"{path}: rows of another audit stand among the others: {said}")
    return usual


def rows_text(places: Iterable[int]) -> str:
    """Name rows, neighbours together.

    Examples
    --------
    >>> rows_text([7]), rows_text([2, 3, 4, 9])
    ('row 7', 'rows 2-4, 9')
    """
    runs: list[list[int]] = []
    for place in sorted(places):
        if runs and place == runs[-1][-1] + 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    parts = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
    return f"row {parts[0]}" if len(runs) == 1 and len(runs[0]) == 1 else f"rows {', '.join(parts)}"
