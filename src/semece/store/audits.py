"""What people said of a judge's verdicts, kept in the run file under the judge and the sheets.

People's work cannot be derived again, so it has a table of its own, which is made with the first audit.
"""

from __future__ import annotations

import json
import time
import zlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sqlite3

_TABLE = """CREATE TABLE IF NOT EXISTS audits (
  judge TEXT NOT NULL, sheet TEXT NOT NULL, body TEXT NOT NULL, time REAL NOT NULL, checksum INTEGER NOT NULL,
  PRIMARY KEY (judge, sheet))"""
_ROWS = "SELECT judge, sheet, body, time, checksum FROM audits"


def newest_audit(connection: sqlite3.Connection, judge: str) -> tuple[dict[str, Any] | None, bool]:
    """Give the audit of a judge that was kept last, or None, and whether it is what was stored.

    None also where an empty one was kept last: that withdraws all earlier ones, and deletes none.
    """
    if not _there(connection):
        return None, True
    row = connection.execute(f"{_ROWS} WHERE judge = ? ORDER BY time DESC, rowid DESC LIMIT 1", (judge,)).fetchone()
    if row is None or row[-1] != _checksum(row):
        return None, row is None
    return json.loads(row[2]) or None, True


def keep_audit(connection: sqlite3.Connection, judge: str, sheet: str, body: dict[str, Any]) -> None:
    """Write an audit in the place of an earlier one of the same sheets; the caller commits."""
    connection.execute(_TABLE)
    row = judge, sheet, json.dumps(body, separators=(",", ":")), time.time()
    connection.execute("INSERT OR REPLACE INTO audits VALUES (?, ?, ?, ?, ?)", (*row, _checksum(row)))


def changed_audits(connection: sqlite3.Connection) -> int:
    """Count the audits that are not what was stored."""
    rows = connection.execute(_ROWS).fetchall() if _there(connection) else []
    return sum(row[-1] != _checksum(row) for row in rows)


def _there(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'audits'").fetchone() is not None


def _checksum(row: tuple[Any, ...]) -> int:
    """CRC-32 of the whole row."""
    judge, sheet, body, when, *_ = row
    return zlib.crc32(f"{judge}\0{sheet}\0{body}\0{when!r}".encode())
