"""What was made of replies: readings, partitions, verdicts, alarms, kept under who made them and of what.

A row stands under the id of what made it, which holds its version, and a hash of what it was made of. So it is true for
ever: a new version makes new rows, and the replies themselves are never touched.
"""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any

from semece.canonical_json import digest

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Iterator

TABLES = (
    "CREATE TABLE makers (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
    """CREATE TABLE derived (
  maker INTEGER NOT NULL, source BLOB NOT NULL, value TEXT NOT NULL, checksum INTEGER NOT NULL,
  PRIMARY KEY (maker, source)) WITHOUT ROWID""",
)
_ROWS = (
    "SELECT source, CAST(value AS BLOB), checksum FROM derived JOIN makers ON makers.id = derived.maker "
    "WHERE makers.name = ?"
)


class Derived:
    """The derived rows of a run file: what is stored, and what is new.

    Parameters
    ----------
    execute : callable or None
        From SQL and parameters to the rows of a run file; None: the file has no such rows, being older.

    Examples
    --------
    >>> import sqlite3
    >>> connection = sqlite3.connect(":memory:")
    >>> _ = connection.executescript(";".join(TABLES))
    >>> derived = Derived(connection.execute)
    >>> derived.put("partition rules-1", source_of("Why?", ["a", "b"]), [0, 1])
    >>> derived.write(connection)
    >>> Derived(connection.execute).get("partition rules-1", source_of("Why?", ["a", "b"]))
    [0, 1]
    """

    def __init__(self, execute: Callable[..., Iterable[Any]] | None) -> None:
        self._execute = execute
        self._columns: dict[str, dict[bytes, tuple[bytes, bytes, int]]] = {}
        self._new: dict[tuple[str, bytes], Any] = {}
        self.damaged: list[str] = []
        """Makers of the rows that were asked for and are not what was written."""

    def load(self, maker: str) -> None:
        """Read all rows of a maker at once; for whoever wants more than a few of them."""
        if self._execute is not None and maker not in self._columns:
            rows = self._execute(_ROWS, (maker,))
            self._columns[maker] = {source: (source, value, found) for source, value, found in rows}

    def has(self, maker: str) -> bool:
        """Whether a maker may have a row: not if all of its rows are loaded, and there are none."""
        return bool(self._new) or (self._execute is not None and self._columns.get(maker) != {})

    def get(self, maker: str, source: bytes) -> Any:  # noqa: ANN401 - any JSON value
        """Give the value of a row; None if there is no such row, or it is not what was written, which is noted."""
        if (maker, source) in self._new:
            return self._new[maker, source]
        row = self._columns.get(maker, {}).get(source)
        if self._execute is not None and maker not in self._columns:
            row = next(iter(self._execute(f"{_ROWS} AND source = ?", (maker, source))), None)
        if row and not _is_whole(maker, *row):
            self.damaged.append(maker)
            return None
        return json.loads(row[1]) if row else None

    def put(self, maker: str, source: bytes, value: object) -> None:
        """Take note of a new row."""
        self._new[maker, source] = value

    @property
    def changed(self) -> bool:
        """Whether there are new rows."""
        return bool(self._new)

    def write(self, connection: sqlite3.Connection) -> None:
        """Write the new rows; the caller begins and ends the transaction."""
        makers = sorted({maker for maker, _ in self._new})
        connection.executemany("INSERT OR IGNORE INTO makers (name) VALUES (?)", [(maker,) for maker in makers])
        ids = dict(connection.execute("SELECT name, id FROM makers").fetchall())
        rows = [(ids[maker], *_row(maker, source, value)) for (maker, source), value in sorted(self._new.items())]
        connection.executemany("INSERT OR REPLACE INTO derived VALUES (?, ?, CAST(? AS TEXT), ?)", rows)

    def written(self) -> None:
        """Take the new rows for stored ones."""
        for (maker, source), value in self._new.items():
            if maker in self._columns:
                self._columns[maker][source] = _row(maker, source, value)
        self._new.clear()

    def faults(self) -> Iterator[str]:
        """Name the makers of rows that are not what was written, a row each."""
        if self._execute is not None:
            rows = self._execute(
                "SELECT name, source, CAST(value AS BLOB), checksum FROM derived LEFT JOIN makers ON makers.id = maker"
            )
            yield from (row[0] for row in rows if not _is_whole(*row))


def source_of(*parts: object) -> bytes:
    """Hash what something is made of: the first 16 bytes of SHA-256 of its canonical JSON."""
    return digest(parts)[:16]


def derived_checksum(maker: str | None, source: bytes, value: bytes | str) -> int:
    """Give the CRC-32 of a row, with its maker's name; format 3 had it without the name."""
    text = value if isinstance(value, bytes) else value.encode()
    return zlib.crc32(text, zlib.crc32(source, zlib.crc32((maker or "").encode())))


def _is_whole(maker: str | None, source: bytes, value: bytes, found: int) -> bool:
    return found in {derived_checksum(maker, source, value), derived_checksum("", source, value)}


def _row(maker: str, source: bytes, value: object) -> tuple[bytes, bytes, int]:
    text = json.dumps(value, separators=(",", ":")).encode()  # ASCII: an answer may hold half a surrogate pair
    return source, text, derived_checksum(maker, source, text)
