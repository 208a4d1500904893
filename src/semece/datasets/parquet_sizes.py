"""How much memory a Parquet file may take, by its footer and the heads of its pages, before anything is unpacked.

Both are Thrift's compact protocol, as https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
lays it out: a file has row groups, a row group a chunk of every column, and a chunk says how many values it holds
(those inside lists count one by one) and how many bytes its pages have when they are no longer compressed. So does each
page of itself; the larger count holds, since a footer need not be true.
"""

from __future__ import annotations

import io
import mmap
import struct
from enum import IntEnum
from math import prod
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeAlias

from semece.errors import ParseError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import polars as pl

    _Stream: TypeAlias = io.BytesIO | mmap.mmap

PER_VALUE = 20
"""Bytes of memory that a value takes at most while it is read, beside its pages: measured with lists of numbers."""
PER_OBJECT = 60
"""Bytes that a value takes as an object of Python, beside its text."""
MOST_FOOTER = 300_000_000
"""Bytes of memory that a footer may take where only the columns are asked for, of small files."""
_MAGIC, _END = b"PAR1", 8
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
_FIXED_LENGTH, _DELTA_BYTE_ARRAY = 7, 7
"""A type whose values are as long as the schema says, and an encoding in which each begins like the one before."""


class _Footer(IntEnum):
    """Numbers of the fields of a file's footer that are read; those of its parts follow."""

    SCHEMA = 2
    ROWS = 3
    ROW_GROUPS = 4


class _Column(IntEnum):
    META = 3


class _Group(IntEnum):
    COLUMNS = 1
    ROWS = 3


class _Chunk(IntEnum):
    TYPE = 1
    PATH = 3
    VALUES = 5
    UNPACKED = 6
    PACKED = 7
    DATA = 9
    DICTIONARY = 11


class _Page(IntEnum):
    UNPACKED = 2
    PACKED = 3
    DATA = 5
    DATA_V2 = 8


def check_parquet(path: Path, most: int, *, whole: bool = False) -> None:
    """Measure a Parquet file before it is read.

    Parameters
    ----------
    path : Path
        The file.
    most : int
        Bytes of memory that a row group may take.
    whole : bool
        Whether all row groups are read at once.

    Raises
    ------
    ParseError
        A row group may take more, or the file has no footer that can be read.
    OSError
        It cannot be opened.
    """
    groups = _measured(path, {}, most)
    widths = _widths(path)
    needed = [group.needed for group in (_measured(path, widths, most) if widths else groups)]
    if whole and sum(needed) > most:
        raise too_many_bytes(str(path), sum(needed), most)
    for number, size in enumerate(needed, start=1):
        if size > most:
            raise too_many_bytes(f"{path}: row group {number}", size, most)


def parquet_schema(path: Path) -> Mapping[str, pl.DataType]:
    """Give the columns of a Parquet file and their types; none if it is damaged, which is said when it is read.

    Nothing of a damaged file reaches polars, which tells more of it than a person wants to know.
    """
    import polars as pl

    try:
        _measured(path, {}, max(MOST_FOOTER, path.stat().st_size))
        return pl.read_parquet_schema(path)
    except (ParseError, OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return {}


def _measured(path: Path, widths: Mapping[bytes, int], most: int) -> list[_Measured]:
    """Measure the row groups of a file; `widths` are those of columns with arrays of fixed length."""
    with path.open("rb") as file, _mapped(path, file) as stream:
        footer = _footer(path, stream)
        if len(footer) * PER_OBJECT > most:
            raise too_many_bytes(f"{path}: the footer", len(footer) * PER_OBJECT, most)
        try:
            fields = _struct(io.BytesIO(footer))
            length = max((int(element.get(2, 0)) for element in fields[_Footer.SCHEMA]), default=0)
            groups = [_Measured.of(stream, group, length, widths) for group in fields.get(_Footer.ROW_GROUPS, [])]
        except _UNREADABLE:
            raise ParseError(f"{path} is not a Parquet file: its footer or the head of a page cannot be read") from None
    if sum(group.rows for group in groups) != fields.get(_Footer.ROWS) or not all(group.is_full for group in groups):
        raise ParseError(f"{path} is not a Parquet file: its footer says two numbers of rows")
    return groups


_UNREADABLE = (LookupError, TypeError, AttributeError, ValueError, RecursionError, OverflowError, struct.error)
"""What a broken footer raises."""


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


def _mapped(path: Path, file: BinaryIO) -> mmap.mmap:
    """Map a file that is not empty."""
    try:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except ValueError:
        raise ParseError(f"{path} is not a Parquet file: it is empty") from None


class _Measured(NamedTuple):
    """A row group: its rows, whether every column has values for them, and the bytes that it may take."""

    rows: int
    is_full: bool
    needed: int

    @staticmethod
    def of(stream: mmap.mmap, group: dict[int, Any], length: int, widths: Mapping[bytes, int]) -> _Measured:
        """Measure one; `length` is that of values of fixed length, `widths` are those of arrays by column."""
        rows, values, needed = int(group[_Group.ROWS]), list[int](), 0
        for column in group[_Group.COLUMNS]:
            chunk = column[_Column.META]
            count, size = _pages(stream, chunk)
            needed += size + PER_VALUE * max(count, rows * widths.get(chunk[_Chunk.PATH][0], 0))
            needed += count * length if chunk[_Chunk.TYPE] == _FIXED_LENGTH else 0
            values.append(int(chunk[_Chunk.VALUES]))
        return _Measured(rows, 0 <= rows <= min(values), needed)


def _pages(stream: mmap.mmap, chunk: dict[int, Any]) -> tuple[int, int]:
    """Count the values of a chunk and the bytes that its pages may take, by what it says or they say, which is more."""
    place, texts, values, unpacked = _first_page(chunk), 0, 0, 0
    end = place + int(chunk[_Chunk.PACKED])
    if not 0 <= place <= end <= len(stream):
        raise ValueError("a chunk beyond the file")
    while place < end:
        stream.seek(place)
        page = _struct(stream)
        size, packed = int(page[_Page.UNPACKED]), int(page[_Page.PACKED])
        if min(size, packed) < 0:
            raise ValueError("a page of negative size")
        data, encoding = (page[_Page.DATA], 2) if _Page.DATA in page else (page.get(_Page.DATA_V2, {}), 4)
        n = int(data.get(1, 0))
        values, unpacked = values + n, unpacked + size
        texts += n * size if data.get(encoding) == _DELTA_BYTE_ARRAY else 0
        place = stream.tell() + packed
    return max(values, int(chunk[_Chunk.VALUES])), max(unpacked, int(chunk[_Chunk.UNPACKED])) + texts


def _first_page(chunk: dict[int, Any]) -> int:
    """Say where the pages of a chunk begin: with those of its dictionary, if it has one."""
    data = int(chunk[_Chunk.DATA])
    return min(data, int(chunk.get(_Chunk.DICTIONARY) or data))


def _widths(path: Path) -> dict[bytes, int]:
    """Say how many numbers a row takes in memory even where it is null: in columns with arrays of fixed length."""
    import polars as pl

    def of(kind: Any) -> int:  # noqa: ANN401 - polars' types
        if isinstance(kind, pl.Array):
            return prod(kind.shape) * max(of(_innermost(kind)), 1)
        if isinstance(kind, pl.Struct):
            return sum(of(field.dtype) for field in kind.fields)
        return of(kind.inner) if isinstance(kind, pl.List) else 0

    return {name.encode(): size for name, kind in parquet_schema(path).items() if (size := of(kind))}


def _innermost(kind: Any) -> Any:  # noqa: ANN401 - polars' types
    import polars as pl

    while isinstance(kind, pl.Array):
        kind = kind.inner
    return kind


def _footer(path: Path, stream: mmap.mmap) -> bytes:
    size = len(stream)
    tail = stream[max(size - _END, 0) :]
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != _MAGIC or length > size - _END - len(_MAGIC):
        raise ParseError(f"{path} is not a Parquet file: its end is missing")
    return stream[size - _END - length : size - _END]


def _struct(stream: _Stream) -> dict[int, Any]:
    """Read the fields of a struct by number."""
    fields, number = dict[int, Any](), 0
    while head := stream.read(1)[0]:
        number = number + (head >> 4) if head >> 4 else _integer(stream)
        kind = head & 15
        fields[number] = kind == _TRUE if kind in {_TRUE, _FALSE} else _value(stream, kind)
    return fields


def _value(stream: _Stream, kind: int) -> Any:  # noqa: ANN401 - whatever Thrift holds
    readers: dict[int, Callable[[io.BytesIO | mmap.mmap], Any]] = {
        _TRUE: lambda stream: _read(stream, 1),
        _FALSE: lambda stream: _read(stream, 1),
        _BYTE: lambda stream: _read(stream, 1),
        4: _integer,
        5: _integer,
        6: _integer,
        _DOUBLE: lambda stream: _read(stream, 8),
        _BINARY: lambda stream: _read(stream, _varint(stream)),
        _LIST: _list,
        _SET: _list,
        _MAP: _map,
        _STRUCT: _struct,
    }
    return readers[kind](stream)


def _read(stream: _Stream, size: int) -> bytes:
    """Read so many bytes, or fail: a list of them could be said to go on beyond the end."""
    found = stream.read(size)
    if len(found) < size:
        raise ValueError("the end")
    return found


def _list(stream: _Stream) -> list[Any]:
    head = stream.read(1)[0]
    count = _varint(stream) if head >> 4 == 15 else head >> 4
    return [_value(stream, head & 15) for _ in range(count)]


def _map(stream: _Stream) -> list[Any]:
    count = _varint(stream)
    kinds = stream.read(1)[0] if count else 0
    return [(_value(stream, kinds >> 4), _value(stream, kinds & 15)) for _ in range(count)]


def _varint(stream: _Stream) -> int:
    value = shift = 0
    while True:
        byte = stream.read(1)[0]
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value


def _integer(stream: _Stream) -> int:
    value = _varint(stream)
    return (value >> 1) ^ -(value & 1)
