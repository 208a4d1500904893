"""Tables of markdown in replies."""

from __future__ import annotations

import re
from typing import NamedTuple

_TABLE = re.compile(
    r"^[ \t]*(?=[^\n|]{0,200}\|)(?P<heads>[^\n]*)\n[ \t]*\|?[ \t]*:?-[-: \t]*\|[-:| \t]*\n"
    r"(?P<rows>(?:[^\n|]*\|[^\n]*(?:\n|\Z))+)",
    re.MULTILINE,
)


class MarkdownTable(NamedTuple):
    """The heads of a table, and its rows of as many cells."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def tables(text: str) -> list[MarkdownTable]:
    r"""Find the tables of a text; rows of other lengths than the heads are left out.

    Examples
    --------
    >>> tables("| Guess | P |\n|---|---|\n| Paris | 90% |")
    [MarkdownTable(heads=('Guess', 'P'), rows=(('Paris', '90%'),))]
    """
    return [_table(found) for found in _TABLE.finditer(text)]


def _table(found: re.Match[str]) -> MarkdownTable:
    heads, rows = _cells(found["heads"]), map(_cells, found["rows"].strip("\n").split("\n"))
    return MarkdownTable(heads, tuple(row for row in rows if len(row) == len(heads)))


def _cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in line.strip().strip("|").split("|"))


def confidences_as_lines(text: str) -> str:
    r"""Write each table of one row with a confidence as lines with labels.

    Examples
    --------
    >>> confidences_as_lines("| Answer | Confidence |\n|---|---|\n| Paris | 90% |")
    'Answer: Paris\nConfidence: 90%'
    """
    return _TABLE.sub(_as_lines, text) if "|" in text else text


def _as_lines(found: re.Match[str]) -> str:
    table = _table(found)
    if len(table.rows) != 1 or not re.search(r"\bconfidence\b", found["heads"], re.IGNORECASE):
        return found[0]
    lines = (f"{head}: {value}" for head, value in zip(table.heads, table.rows[0], strict=True))
    return "\n".join(lines) + "\n" * found[0].endswith("\n")
