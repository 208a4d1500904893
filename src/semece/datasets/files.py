"""Questions from a file: JSONL, a JSON array, CSV, TSV or Parquet, one question a row; or the requests of a batch.

Columns: ``question`` (or ``problem``, ``prompt``), and where they are there ``id``, ``references`` (a list; also
``reference``, ``gold``, ``golds``, ``answer``, ``possible_answers``; a string is one reference, but a string with a
JSON list of texts is that list, since a cell of a CSV file holds no other). Blanks around an id are dropped.
Everything else is kept as metadata. A reference that ends in ``#### 72``, as in GSM8K, is what follows the mark.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from dataclasses import replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from semece.canonical_json import encodable, plain
from semece.datasets.batch_requests import is_request, questions_of_requests
from semece.datasets.parquet_sizes import bytes_of, check_parquet, too_many_bytes
from semece.errors import ParseError, nearest, ordinary, shortened, visible
from semece.records import Question

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

TEXT_NAMES = ("question", "problem", "prompt")
LIST_OF_TEXTS = re.compile(r"\s*\[\s*(?:[\"']|\]\s*$)")
"""How a cell with a list of texts begins; ``[0, 1)`` and ``[0, 1]`` are intervals, not lists."""
REFERENCE_NAMES = ("references", "reference", "gold", "golds", "answer", "possible_answers")
_MARK = re.compile(r"^[ \t]*####(?!#)", re.MULTILINE)
_HEAD = 256
"""Characters among which a file's first one that is not blank stands."""
MEMORY_PER_BYTE, LEAST_MEMORY = 10, 300_000_000
ROWS_AT_ONCE = 50_000
"""Of a Parquet file."""
DENSEST = 50
"""More bytes of memory than any byte of JSON takes: below, nothing is counted."""
Row = tuple[int, dict[str, Any]]


def read_questions(
    path: Path, *, convert: Callable[[dict[str, Any], str], dict[str, Any] | None] | None = None
) -> tuple[Question, ...]:
    """Read the questions of a file.

    Parameters
    ----------
    path : Path
        By its suffix: ``.jsonl``/``.json``, ``.csv``, ``.tsv``, ``.parquet``. Rows that are requests of a batch give
        the questions that they ask, without references.
    convert : callable, optional
        Called with every row and where it stands; gives a row in our columns, or None to leave it out.

    Returns
    -------
    tuple of Question
        In the file's order; without an ``id`` column they are numbered from 0.

    Raises
    ------
    ParseError
        Naming file, line, what was expected and what came.
    """
    rows = read_rows(path)
    first = list(islice(rows, 1))
    every = chain(first, rows)
    if convert is None and first and is_request(first[0][1]):
        questions = list(questions_of_requests(every, str(path)))
    else:
        questions = list(_converted(every, path, convert))
    if not questions:
        raise ParseError(f"{path} has no questions")
    return with_unique_ids(questions, str(path))


def _converted(
    rows: Iterable[Row], path: Path, convert: Callable[[dict[str, Any], str], dict[str, Any] | None] | None
) -> Iterator[Question]:
    for line, row in rows:
        where = f"{path}, line {line}"
        made = row if convert is None else convert(row, where)
        if made is not None:
            yield question_from(made, where)


def read_rows(path: Path, *, bad: Callable[[ParseError], None] | None = None) -> Iterator[Row]:
    """Yield (line, row) of a JSONL, CSV, TSV or Parquet file.

    Parameters
    ----------
    path : Path
        The file.
    bad : callable, optional
        Called with what is wrong with a row that is left out; None: the first such row is refused.

    Raises
    ------
    ParseError
        The file cannot be read or a row is broken.
    """
    readers: dict[str, Callable[[Path], Iterable[Row | ParseError]]] = {
        ".jsonl": _jsonl,
        ".json": _jsonl,
        ".csv": _csv,
        ".tsv": _csv,
        ".parquet": _parquet,
    }
    ending, file = path.suffix.lower(), _there(path)
    if ending not in readers:
        raise ParseError(f"{path}: expected a name that ends in {', '.join(readers)}; got {path.suffix or 'no ending'}")
    try:
        for row in readers[ending](file):
            if not isinstance(row, ParseError):
                yield row
            elif bad is None:
                raise row
            else:
                bad(row)
    except UnicodeDecodeError as error:
        raise ParseError(f"{path} is not UTF-8 text (byte {error.start})") from None
    except OSError as error:
        raise ParseError(f"{path} cannot be read: {error.strerror or error}") from None


def _there(path: Path) -> Path:
    """Give a path back if a file is there; say what is there instead."""
    try:
        return ordinary(path)
    except OSError as error:
        raise ParseError(f"{path} cannot be read: {error.strerror or error}") from None


def _jsonl(path: Path) -> Iterator[Row | ParseError]:
    most = most_memory(path)
    with path.open(encoding="utf-8-sig") as stream:
        if stream.read(_HEAD).lstrip()[:1] == "[":
            stream.seek(0)
            yield from _array(stream.read(), path)
            return
        stream.seek(0)
        for number, line in enumerate(stream, start=1):
            if line.strip():
                try:
                    check_memory(line, most)
                    yield number, _object(line.rstrip("\r\n"))
                except ParseError as error:
                    yield ParseError(f"{path}, line {number}: expected a JSON object; {error}")


def _array(text: str, path: Path) -> Iterator[Row | ParseError]:
    """Give the objects of a JSON array, with their numbers for lines."""
    try:
        check_memory(text, most_memory(path))
        rows = json.loads(text, object_pairs_hook=_once)
    except (ParseError, ValueError, RecursionError) as error:
        raise ParseError(f"{path}: expected a JSON array of objects; {error}") from None
    for number, row in enumerate(rows, start=1):
        if isinstance(row, dict):
            yield number, row
        else:
            yield ParseError(f"{path}, item {number}: expected a JSON object; got {type(row).__name__}")


def most_memory(path: Path) -> int:
    """Give the bytes of memory that a value in a file may take: ten times the file, or 300 MB if that is more."""
    return max(MEMORY_PER_BYTE * path.stat().st_size, LEAST_MEMORY)


def check_memory(text: str | bytes, most: int) -> None:
    """Measure a JSON value before it is read: what takes too much memory is refused unread.

    Parameters
    ----------
    text : str or bytes
        JSON.
    most : int
        Bytes of memory that the value may take, as :func:`most_memory` gives them.

    Raises
    ------
    ValueError
        It may take more. A text costs three times its length; every name in an object about 110 bytes more, every item
        of an array 64, every bracket 72.

    Examples
    --------
    >>> check_memory("[" + "{}," * 100 + "{}]", 10_000)
    Traceback (most recent call last):
    ...
    ValueError: a value of 0.0 MB may take 0.0 MB of memory; 0.0 MB are allowed
    """
    if len(text) * DENSEST < most:
        return
    count = text.count if isinstance(text, bytes) else lambda mark: text.count(mark.decode())
    names, commas = count(b":"), count(b",")
    brackets = count(b"{") + count(b"[")
    needed = 3 * len(text) + 110 * names + 64 * max(commas - names, 0) + 72 * brackets
    if needed > most:
        megabytes = [f"{size / 1e6:,.1f} MB" for size in (len(text), needed, most)]
        raise ValueError("a value of {} may take {} of memory; {} are allowed".format(*megabytes))


def _object(line: str) -> dict[str, Any]:
    try:
        row = json.loads(line, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        raise ParseError(f"{error.msg} at character {error.pos + 1}") from None
    except ValueError as error:
        raise ParseError(str(error)) from None
    except RecursionError:
        raise ParseError("it is nested too deeply") from None
    if not isinstance(row, dict):
        raise ParseError(f"got {type(row).__name__}")
    return row


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its fields; refuse a name that comes twice, since nobody knows which is meant."""
    made = dict(pairs)
    if len(made) < len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise ParseError(f"the field {shown(twice)} is there more than once")
    return made


_GUARDED = re.compile(r"^'('*[\s\u00a0]*[=+\-@＝＋－＠])")
"""A text that was kept from being a formula in spreadsheets: the apostrophe is not its own."""


def _csv(path: Path) -> Iterator[Row | ParseError]:
    csv.field_size_limit(1 << 24)
    with path.open(encoding="utf-8-sig", newline="") as stream:
        separator = separator_of(stream.readline(), path.suffix.lower())
        stream.seek(0)
        rows = csv.DictReader(stream, delimiter=separator)
        try:
            names = rows.fieldnames or ()
            if twice := [name for name, count in Counter(names).items() if name and count > 1]:
                raise ParseError(f"{path}, line 1: the column {shown(twice[0])} is there more than once")
            for row in rows:
                if None in row or None in row.values():
                    yield ParseError(f"{path}, line {rows.line_num}: expected {len(names)} columns")
                else:
                    yield rows.line_num, {name: _GUARDED.sub(r"\1", text) for name, text in row.items()}
        except csv.Error as error:
            raise ParseError(f"{path}, line {rows.line_num + 1}: expected a table that can be read; {error}") from None


def separator_of(head: str, suffix: str) -> str:
    r"""Say what separates the columns of a table: tabs in a TSV file, in a CSV file what its first line has most of.

    Examples
    --------
    >>> separator_of("id;question;answers", ".csv"), separator_of("question", ".csv"), separator_of("a,b", ".tsv")
    (';', ',', '\t')
    """
    return "\t" if suffix == ".tsv" else max(",;\t", key=head.count)


def _parquet(path: Path) -> Iterator[Row]:
    """Give the rows, piece by piece: neither a piece nor all that was given may take more memory than is allowed."""
    import polars as pl

    most, taken = most_memory(path), 0
    try:
        check_parquet(path, most)
        rows = pl.scan_parquet(path)
        for first in range(0, rows.select(pl.len()).collect().item(), ROWS_AT_ONCE):
            table = rows.slice(first, ROWS_AT_ONCE).collect()
            taken += bytes_of(table)
            if taken > most:
                raise too_many_bytes(f"{path}: the rows up to {first + len(table):,}", taken, most)
            yield from enumerate(table.iter_rows(named=True), start=first + 1)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise ParseError(f"{path} is not a Parquet file: {str(error).splitlines()[0]}") from None


def renaming(name: str, row: Mapping[str, Any]) -> str:
    """Say which field of a row may have to be renamed, or what separates columns; nothing if nothing is seen.

    Examples
    --------
    >>> renaming("question", {"qestion": "?"}), renaming("question", {"id|question": "?"})
    ("; rename 'qestion' if it is meant", '; a comma, a semicolon or a tab separates columns')
    """
    if any("|" in column for column in row):
        return "; a comma, a semicolon or a tab separates columns"
    found = nearest(name, row)
    return "" if found is None else f"; rename {visible(found)!r} if it is meant"


def question_from(row: Mapping[str, Any], where: str) -> Question:
    """Make a question of a row, as a run file can hold it.

    Raises
    ------
    ParseError
        There is no question text, or the references are not text.

    Examples
    --------
    >>> question_from({"question": "2 + 2?", "answer": "4", "level": 1}, "here").references
    ('4',)
    """
    return storable(question_in(row, where))


def question_in(row: Mapping[str, Any], where: str, *, without: Collection[str] = ()) -> Question:
    """Make a question of a row, as it is there: :func:`storable` is still to be asked.

    Parameters
    ----------
    row : mapping of str to object
        Its fields.
    where : str
        Where it stands.
    without : collection of str
        Fields that are not about the question.

    Raises
    ------
    ParseError
        There is no question text, or the references are not text.

    Examples
    --------
    >>> question_in({"question": "2 + 2?", "n": 5, "level": 1}, "here", without={"n"}).metadata
    {'level': 1}
    """
    name = next(filter(row.__contains__, TEXT_NAMES), None)
    if name is None:
        others = {k: v for k, v in row.items() if k not in without}
        got = ", ".join(sorted(others)) or "nothing"
        raise ParseError(f"{where}: expected a field 'question'; got {got}{renaming(TEXT_NAMES[0], others)}")
    text = row[name]
    if not isinstance(text, str) or not text.strip():
        raise ParseError(f"{where}: {name} must be non-empty text; got {shown(text)}")
    source = "references" if row.get("references") is not None else _name_of_references(row)
    references = () if source is None else _references(row[source], f"{where}: {source}")
    identity = row.get("id")
    taken = (name, source, "id")
    rest = {k: v for k, v in row.items() if k not in without and k not in taken}
    return Question("" if identity is None else str(identity).strip(), text, references, rest)


def _name_of_references(row: Mapping[str, Any]) -> str | None:
    return next((name for name in REFERENCE_NAMES if row.get(name) is not None), None)


def with_unique_ids(questions: Sequence[Question], where: str) -> tuple[Question, ...]:
    """Give a number to questions without an id; refuse an id that comes twice.

    Raises
    ------
    ParseError
        Two questions share an id.
    """
    seen: dict[str, int] = {}
    numbered = []
    for place, question in enumerate(questions):
        named = question if question.id else replace(question, id=str(place))
        if named.id in seen:
            raise ParseError(
                f"{where}: ids must be unique; {named.id!r} is the id of rows {seen[named.id] + 1} and {place + 1}"
            )
        seen[named.id] = place
        numbered.append(named)
    return tuple(numbered)


def storable(question: Question) -> Question:
    r"""Make a question that a run file can hold: lone surrogates escaped, metadata of other kinds as text.

    Examples
    --------
    >>> storable(Question("1", "a\ud800b?", metadata={"level": float("nan")}))
    Question(id='1', text='a\\ud800b?', references=(), metadata={'level': 'nan'})
    """
    if not question.metadata and "".join((question.id, question.text, *question.references)).isascii():
        return question
    return Question(
        encodable(question.id),
        encodable(question.text),
        tuple(map(encodable, question.references)),
        plain(question.metadata),
    )


def final_reference(reference: str) -> str:
    r"""Take what follows the last ``####`` that begins a line: GSM8K ends its solutions so.

    Examples
    --------
    >>> final_reference("48 / 2 = 24. 48 + 24 = 72.\n#### 72"), final_reference("C#")
    ('72', 'C#')
    """
    return (_MARK.split(reference)[-1].strip() or reference) if "####" in reference else reference


def _references(value: object, where: str) -> tuple[str, ...]:
    if isinstance(value, str):
        value = _listed(value) if LIST_OF_TEXTS.match(value) else [value] if value.strip() else []
    elif isinstance(value, int | float):
        value = [value]
    rule = 'must be a text or a JSON list of texts such as ["Paris", "City of Light"]'
    if not isinstance(value, list):
        raise ParseError(f"{where} {rule}; got {shown(value)}")
    for i, item in enumerate(value):
        if type(item) is not str and (isinstance(item, bool) or not isinstance(item, str | int | float)):
            raise ParseError(f"{where} {rule}; got {shown(item)} at index {i}")
    return tuple([final_reference(str(item)) for item in value])


def shown(value: object, most: int = 80) -> str:
    """Show a value in an error, however long it is.

    Examples
    --------
    >>> shown("Paris"), shown(list(range(100)), 12)
    ("'Paris'", '[0, 1, 2,...')
    """
    return shortened(repr(value), most, mark="...")


def _listed(cell: str) -> list[object] | str:
    """Read a cell that begins like a list of texts; give it back if it is none."""
    try:
        items = json.loads(cell)
    except (ValueError, RecursionError):
        return cell
    return items if all(isinstance(item, str) for item in items) else cell
