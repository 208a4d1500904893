"""Questions from a file: JSONL, CSV, TSV or Parquet, one question a row.

Columns: ``question`` (or ``problem``), and where they are there ``id``, ``references`` (a list; also ``reference``,
``gold``, ``answer``, ``possible_answers``; a string is one reference, a string with a JSON list is that list).
Everything else is kept as metadata.
"""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

from semece.canonical import encodable
from semece.errors import ParseError
from semece.records import Question

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

TEXT_NAMES = ("question", "problem", "prompt")
REFERENCE_NAMES = ("references", "reference", "gold", "golds", "answer", "possible_answers")
Row = tuple[int, dict[str, Any]]


def read_questions(path: Path) -> tuple[Question, ...]:
    """Read the questions of a file.

    Parameters
    ----------
    path : Path
        By its suffix: ``.jsonl``/``.json``, ``.csv``, ``.tsv``, ``.parquet``.

    Returns
    -------
    tuple of Question
        In the file's order; without an ``id`` column they are numbered from 0.

    Raises
    ------
    ParseError
        Naming file, line, what was expected and what came.
    """
    from semece.datasets import with_unique_ids

    questions = [question_from(row, f"{path}, line {line}") for line, row in read_rows(path)]
    if not questions:
        raise ParseError(f"{path} has no questions")
    return with_unique_ids(questions, str(path))


def read_rows(path: Path) -> Iterator[Row]:
    """Yield (line, row) of a JSONL, CSV, TSV or Parquet file.

    Raises
    ------
    ParseError
        The file cannot be read or a row is broken.
    """
    readers: dict[str, Callable[[Path], Iterable[Row]]] = {
        ".jsonl": _jsonl,
        ".json": _jsonl,
        ".csv": _csv,
        ".tsv": _csv,
        ".parquet": _parquet,
    }
    if path.suffix not in readers:
        raise ParseError(f"{path}: expected a name that ends in {', '.join(readers)}; got {path.suffix or 'no ending'}")
    try:
        yield from readers[path.suffix](path)
    except UnicodeDecodeError as error:
        raise ParseError(f"{path} is not UTF-8 text (byte {error.start})") from None
    except OSError as error:
        raise ParseError(f"{path} cannot be read: {error.strerror or error}") from None


def _jsonl(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8-sig") as stream:
        for number, line in enumerate(stream, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError as error:
                raise ParseError(f"{path}, line {number}: expected a JSON object; {error}") from None
            if not isinstance(row, dict):
                raise ParseError(f"{path}, line {number}: expected a JSON object; got {type(row).__name__}")
            yield number, row


def _csv(path: Path) -> Iterator[Row]:
    csv.field_size_limit(1 << 24)
    with path.open(encoding="utf-8-sig", newline="") as stream:
        rows = csv.DictReader(stream, delimiter="\t" if path.suffix == ".tsv" else ",")
        for row in rows:
            if None in row or None in row.values():
                raise ParseError(f"{path}, line {rows.line_num}: expected {len(rows.fieldnames or ())} columns")
            yield rows.line_num, row


def _parquet(path: Path) -> Iterator[Row]:
    import polars as pl

    try:
        table = pl.read_parquet(path)
    except pl.exceptions.PolarsError as error:
        raise ParseError(f"{path} is not a Parquet file: {str(error).splitlines()[0]}") from None
    yield from enumerate(table.iter_rows(named=True), start=1)


def question_from(row: Mapping[str, Any], where: str) -> Question:
    """Make a question of a row.

    Raises
    ------
    ParseError
        There is no question text, or the references are not text.

    Examples
    --------
    >>> question_from({"question": "2 + 2?", "answer": "4", "level": 1}, "here").references
    ('4',)
    """
    name = next((name for name in TEXT_NAMES if name in row), None)
    if name is None:
        raise ParseError(f"{where}: expected a field 'question'; got {', '.join(sorted(row)) or 'nothing'}")
    text = row[name]
    if not isinstance(text, str) or not text.strip():
        raise ParseError(f"{where}: {name} must be non-empty text; got {text!r}")
    source = next((name for name in REFERENCE_NAMES if row.get(name) is not None), None)
    references = () if source is None else _references(row[source], f"{where}: {source}")
    identity = row.get("id")
    rest = {k: v for k, v in row.items() if k not in {name, source, "id"}}
    clean = tuple(encodable(reference) for reference in references)
    return Question("" if identity is None else encodable(str(identity)), encodable(text), clean, rest)


def _references(value: object, where: str) -> tuple[str, ...]:
    if isinstance(value, str):
        if value.startswith("["):
            try:
                return _references(json.loads(value), where)
            except ValueError:
                pass
        return (value,) if value.strip() else ()
    if isinstance(value, int | float) and not isinstance(value, bool):
        return (str(value),)
    if isinstance(value, list) and all(isinstance(item, str | int | float) for item in value):
        return tuple(str(item) for item in value)
    raise ParseError(f"{where} must be text or a list of texts; got {type(value).__name__}")
