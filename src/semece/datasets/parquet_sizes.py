"""How much memory a Parquet file may take, by its footer, before anything of it is unpacked.

The footer is Thrift's compact protocol, as https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
lays it out: a file has row groups, a row group a chunk of every column, and a chunk says how many values it holds
(those inside lists count one by one) and how many bytes its pages have when they are no longer compressed.
"""

from __future__ import annotations

import io
import struct
from typing import TYPE_CHECKING, Any

from semece.errors import ParseError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import polars as pl

PER_VALUE = 20
"""Bytes of memory that a value takes at most while it is read, beside its pages: measured with lists of numbers."""
PER_OBJECT = 60
"""Bytes that a value takes as an object of Python, beside its text."""
_MAGIC, _END = b"PAR1", 8
_ROW_GROUPS, _COLUMNS, _META, _VALUES, _UNPACKED = 4, 1, 3, 5, 6
"""Numbers of fields: of a file, a row group, a column chunk, and twice of its metadata."""
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12


def check_parquet(path: Path, most: int) -> None:
    """Measure a Parquet file before it is read.

    Parameters
    ----------
    path : Path
        The file.
    most : int
        Bytes of memory that a row group may take.

    Raises
    ------
    ParseError
        A row group may take more, or the file has no footer that can be read.
    OSError
        It cannot be opened.
    """
    footer = _footer(path)
    if len(footer) * PER_OBJECT > most:
        raise too_many_bytes(f"{path}: the footer", len(footer) * PER_OBJECT, most)
    try:
        groups = _struct(io.BytesIO(footer)).get(_ROW_GROUPS, [])
        needed = [sum(_needed(chunk[_META]) for chunk in group[_COLUMNS]) for group in groups]
    except (LookupError, TypeError, AttributeError, ValueError, RecursionError, struct.error):
        raise ParseError(f"{path} is not a Parquet file: its footer cannot be read") from None
    for number, size in enumerate(needed, start=1):
        if size > most:
            raise too_many_bytes(f"{path}: row group {number}", size, most)


def bytes_of(table: pl.DataFrame) -> int:
    """Give the bytes of memory that the cells of a table take as objects of Python, about.

    Examples
    --------
    >>> import polars as pl
    >>> bytes_of(pl.DataFrame({"a": ["xy", None], "b": [[1, 2, 3], []]}))
    422
    """
    return sum(map(_series_bytes, table.get_columns()))


def too_many_bytes(where: str, size: int, most: int) -> ParseError:
    """Say that rows take too much memory."""
    return ParseError(f"{where} may take {size / 1e6:,.1f} MB of memory; {most / 1e6:,.1f} MB are allowed")


def _series_bytes(column: pl.Series) -> int:
    import polars as pl

    own, kind = PER_OBJECT * len(column), column.dtype
    if isinstance(kind, pl.List | pl.Array):
        return own + _series_bytes(column.explode())
    if isinstance(kind, pl.Struct):
        return own + sum(map(_series_bytes, column.struct.unnest().get_columns()))
    if kind == pl.String:
        return own + int(column.str.len_bytes().sum())
    return own + (int(column.bin.size().sum()) if kind == pl.Binary else 0)


def _needed(chunk: dict[int, Any]) -> int:
    return int(chunk[_UNPACKED]) + PER_VALUE * int(chunk[_VALUES])


def _footer(path: Path) -> bytes:
    with path.open("rb") as stream:
        size = stream.seek(0, io.SEEK_END)
        stream.seek(max(size - _END, 0))
        tail = stream.read()
        length = int.from_bytes(tail[:4], "little")
        if tail[4:] != _MAGIC or length > size - _END - len(_MAGIC):
            raise ParseError(f"{path} is not a Parquet file: its end is missing")
        stream.seek(size - _END - length)
        return stream.read(length)


def _struct(stream: io.BytesIO) -> dict[int, Any]:
    """Read the fields of a struct by number."""
    fields, number = dict[int, Any](), 0
    while head := stream.read(1)[0]:
        number = number + (head >> 4) if head >> 4 else _integer(stream)
        kind = head & 15
        fields[number] = kind == _TRUE if kind in {_TRUE, _FALSE} else _value(stream, kind)
    return fields


def _value(stream: io.BytesIO, kind: int) -> Any:  # noqa: ANN401 - whatever Thrift holds
    readers: dict[int, Callable[[io.BytesIO], Any]] = {
        _TRUE: lambda stream: stream.read(1),
        _FALSE: lambda stream: stream.read(1),
        _BYTE: lambda stream: stream.read(1),
        4: _integer,
        5: _integer,
        6: _integer,
        _DOUBLE: lambda stream: stream.read(8),
        _BINARY: lambda stream: stream.read(_varint(stream)),
        _LIST: _list,
        _SET: _list,
        _MAP: _map,
        _STRUCT: _struct,
    }
    return readers[kind](stream)


def _list(stream: io.BytesIO) -> list[Any]:
    head = stream.read(1)[0]
    count = _varint(stream) if head >> 4 == 15 else head >> 4
    return [_value(stream, head & 15) for _ in range(count)]


def _map(stream: io.BytesIO) -> list[Any]:
    count = _varint(stream)
    kinds = stream.read(1)[0] if count else 0
    return [(_value(stream, kinds >> 4), _value(stream, kinds & 15)) for _ in range(count)]


def _varint(stream: io.BytesIO) -> int:
    value = shift = 0
    while True:
        byte = stream.read(1)[0]
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value


def _integer(stream: io.BytesIO) -> int:
    value = _varint(stream)
    return (value >> 1) ^ -(value & 1)
