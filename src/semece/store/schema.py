"""The run file as a file: its tables, its format, what is refused, and how an older one is brought up to date."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sqlite3
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from semece.canonical_json import canonical, replacing
from semece.errors import DiskError, StoreError, beside, ordinary, shortened, visible
from semece.store.checksums import reply_checksum, reply_checksum_of_format_3, row_checksum
from semece.store.derived import TABLES as DERIVED_TABLES
from semece.store.derived import derived_checksum
from semece.store.file_guard import LOCKED, READ_ONLY
from semece.store.texts import TABLES as TEXTS_TABLES
from semece.store.texts import Texts

if TYPE_CHECKING:
    from collections.abc import Iterator

FORMAT_VERSION = 5
"""1: requests in one piece. 2: in pieces. 3: what is derived is kept, and the texts of replies have checksums. 4: whole
rows have them. 5: batches and events, too."""

WITH_PIECES, WITH_DERIVED, WITH_CHECKSUMS = 2, 3, 4
TESTED = {
    "meta": (4, "name, value"),
    "questions": (4, "id, position, text, refs, metadata"),
    "batches": (5, "id, status, provider_id, body, time"),
    "events": (5, "time, class, text"),
}
"""Tables whose rows end in a checksum: since which format, and of which columns."""
APPLICATION_ID = 0x53454D45
FINAL = frozenset({"content_filter", "empty", "refusal", "truncated"})
"""Delivered and paid for, but without a usable text."""

_DAMAGED = "{} is damaged or truncated ({}); nothing in it was changed: take a copy of it from before"
_MEANINGS = {
    "full": "no space left to write {}; what was stored before is intact: free some space and run again",
    "readonly": READ_ONLY,
    "read-only": READ_ONLY,
    "malformed": _DAMAGED,
    "not a database": _DAMAGED,
    "locked": LOCKED,
    "decode": _DAMAGED,
}
"""By a word of SQLite's: what it means for a run file."""

_STANDING = f"superseded = 0 AND status IN ('ok', {', '.join(repr(status) for status in sorted(FINAL))})"
_DELIVERED = f"CREATE UNIQUE INDEX delivered ON replies (question_id, key) WHERE {_STANDING}"
"""A key is of one question; with the question first, what is stored together stands together, which halves the cost."""

_SCHEMA = f"""
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER) WITHOUT ROWID;
CREATE TABLE questions (
  id TEXT PRIMARY KEY, position INTEGER NOT NULL, text TEXT NOT NULL, refs TEXT NOT NULL, metadata TEXT NOT NULL,
  checksum INTEGER);
{";".join((*TEXTS_TABLES, *DERIVED_TABLES))};
CREATE TABLE replies (
  id INTEGER PRIMARY KEY, key BLOB NOT NULL, stage TEXT NOT NULL, question_id TEXT NOT NULL, position INTEGER NOT NULL,
  judge TEXT, request BLOB, text TEXT NOT NULL, raw TEXT NOT NULL, finish_reason TEXT, status TEXT NOT NULL,
  superseded INTEGER NOT NULL DEFAULT 0, call TEXT, input_tokens INTEGER, output_tokens INTEGER, cost REAL,
  latency REAL, provider_id TEXT, time REAL NOT NULL, checksum INTEGER);
{_DELIVERED};
CREATE INDEX place ON replies (stage, question_id, position);
CREATE TABLE batches (
  id TEXT PRIMARY KEY, status TEXT NOT NULL, provider_id TEXT, body TEXT NOT NULL, time REAL NOT NULL,
  checksum INTEGER);
CREATE TABLE events (
  id INTEGER PRIMARY KEY, time REAL NOT NULL, class TEXT NOT NULL, text TEXT NOT NULL, checksum INTEGER);
"""


def connect(path: str, *, write: bool, aside: bool = False) -> sqlite3.Connection:
    """Open a run file, or ``':memory:'``.

    Where writing is wanted, an absent file is made, an older one migrated, and a write-ahead log is kept if the file
    system allows one; but if it is only to be written `aside`, by who reads it, nobody is waited for, and its journal
    stays as it is.

    Raises
    ------
    StoreError
        The file is missing, foreign, newer, truncated or read-only.
    """
    if path == ":memory:":
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        _create(connection)
        add_functions(connection)
        return connection
    file = Path(path)
    if write:
        made_if_absent(path)
    _check_header(file, refused=DiskError if write else StoreError)
    if not write:
        _undo_what_was_cut_short(file)
    with explained(path):
        connection = sqlite3.connect(
            address(file, "rw" if write else "ro"),
            uri=True,
            isolation_level=None,
            timeout=0 if aside else 30,
            check_same_thread=False,
        )
        try:
            _check_format(connection, file)
            if write:
                add_functions(connection)
                _check_writable(connection, file)
                if format_of(connection) < FORMAT_VERSION:
                    _migrate(connection)
                if not aside:
                    _renew_index(connection)
                    _keep_log_ahead(connection)
        except BaseException:
            connection.close()
            raise
    return connection


def add_functions(connection: sqlite3.Connection) -> None:
    """Let SQL compute checksums: whoever changes a row changes its checksum in the same statement."""
    connection.create_function("row_checksum", -1, row_checksum, deterministic=True)
    connection.create_function("reply_checksum", -1, lambda *row: reply_checksum(row), deterministic=True)


def address(file: Path, mode: str) -> str:
    """Give the URI under which SQLite opens a file."""
    return f"{file.absolute().as_uri()}?mode={mode}"


def format_of(connection: sqlite3.Connection) -> int:
    """Read the format version of an open run file."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def journal_mode(connection: sqlite3.Connection) -> str:
    """Read how commits are journalled: ``wal``, or ``delete`` where there is no write-ahead log."""
    return str(connection.execute("PRAGMA journal_mode").fetchone()[0])


@contextlib.contextmanager
def explained(path: str) -> Iterator[None]:
    """Turn what SQLite raises into one sentence.

    Raises
    ------
    StoreError
        With that sentence.
    """
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:  # SQLite quotes what is no UTF-8 text any more
        raise explain(path, error) from None


def explain(path: str, error: Exception) -> StoreError:
    """Say what happened to a run file and what to do."""
    text = shortened(visible(str(error)), 200)
    sentence = next((means for word, means in _MEANINGS.items() if word in text), "{}: {}")
    return (StoreError if sentence is _DAMAGED else DiskError)(sentence.format(path, text))


def _create(connection: sqlite3.Connection) -> None:
    made = {"created": datetime.now(UTC).isoformat(timespec="seconds"), "package": version("semece")}
    connection.executescript(f"BEGIN;{_SCHEMA}COMMIT;")
    rows = [(name, canonical(value)) for name, value in made.items()]
    connection.executemany("INSERT INTO meta VALUES (?, ?, ?)", [(*row, row_checksum(*row)) for row in rows])
    connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version={FORMAT_VERSION}")


def made_if_absent(path: str) -> None:
    """Build an empty run file aside, then rename: a kill leaves either nothing or a whole file.

    Raises
    ------
    StoreError
        It cannot be made.
    """
    file = Path(path)
    if file.exists():
        return
    file = Path(os.path.realpath(file))  # a link that leads nowhere yet stays a link
    try:
        with replacing(file) as fresh, contextlib.closing(sqlite3.connect(fresh, isolation_level=None)) as connection:
            _create(connection)
    except (sqlite3.Error, OSError) as error:
        raise explain(str(file), error) from None


def _undo_what_was_cut_short(file: Path) -> None:
    """Undo what a process wrote that was killed before its commit: SQLite does so, but not for a reader."""
    if Path(f"{file}-journal").exists() and os.access(file, os.W_OK):
        with (
            contextlib.suppress(sqlite3.Error),
            contextlib.closing(sqlite3.connect(address(file, "rw"), uri=True)) as c,
        ):
            c.execute("SELECT count(*) FROM sqlite_master").fetchone()


def _check_header(file: Path, *, refused: type[StoreError]) -> None:
    if not file.exists():
        raise StoreError(f"{file} does not exist{beside(file)}; 'semece run' makes run files")
    try:
        with ordinary(file).open("rb") as stream:
            head = stream.read(16)
    except OSError as error:
        kind = refused if error.errno == errno.EINVAL else DiskError  # what is no file is another word than was meant
        raise kind(f"{file} cannot be read: {error.strerror or error}") from None
    if head != b"SQLite format 3\x00":
        raise StoreError(f"{file} is not a semece run file; nothing in it was changed")


def _check_format(connection: sqlite3.Connection, file: Path) -> None:
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise StoreError(f"{file} is a database of another program, not a semece run file; nothing in it was changed")
    found = format_of(connection)
    if found > FORMAT_VERSION:
        raise StoreError(
            f"{file} has format {found}, this semece reads up to {FORMAT_VERSION}: 'pip install -U semece'"
        )
    connection.execute("SELECT count(*) FROM meta").fetchone()


def _check_writable(connection: sqlite3.Connection, file: Path) -> None:
    if not os.access(file, os.W_OK):
        raise DiskError(READ_ONLY.format(file))
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("COMMIT")


def _migrate(connection: sqlite3.Connection) -> None:
    """Bring an older file up to date: its rows stay as they are, and get checksums.

    Whole or not at all: after an error the caller closes the connection, which undoes what was not committed.
    """
    connection.execute("BEGIN IMMEDIATE")
    found = format_of(connection)
    if found < WITH_PIECES:
        _cut_requests(connection)
    if found < WITH_DERIVED:
        for statement in DERIVED_TABLES:
            connection.execute(statement)
        connection.execute("ALTER TABLE replies ADD COLUMN checksum INTEGER")
    for table, (since, row) in TESTED.items():
        if found < since:
            connection.execute(f"ALTER TABLE {table} ADD COLUMN checksum INTEGER")
            connection.execute(f"UPDATE {table} SET checksum = row_checksum({row})")  # noqa: S608 - constants
    if found < WITH_CHECKSUMS:
        _widen_checksums(connection)
    connection.execute(f"PRAGMA user_version={FORMAT_VERSION}")
    connection.execute("COMMIT")
    if found < WITH_PIECES:
        with contextlib.suppress(sqlite3.Error):  # smaller, if there is space for a second copy meanwhile
            connection.execute("VACUUM")


def _widen_checksums(connection: sqlite3.Connection) -> None:
    """Let checksums be of whole rows; a reply that does not pass its old test does not pass the new one either."""
    old = "key, stage, question_id, position, status, text, raw"
    row = (
        f"{old}, judge, request, finish_reason, call, input_tokens, output_tokens, cost, latency, provider_id, time, "
        "superseded"
    )
    connection.create_function("derived_checksum", 3, derived_checksum, deterministic=True)
    connection.create_function("old_checksum", -1, lambda *row: reply_checksum_of_format_3(row), deterministic=True)
    connection.execute(
        f"UPDATE replies SET checksum = reply_checksum({row}) WHERE coalesce(checksum = old_checksum({old}), 1)"  # noqa: S608
    )
    connection.execute(
        "UPDATE derived SET checksum = derived_checksum((SELECT name FROM makers WHERE id = maker), source, value) "
        "WHERE checksum = derived_checksum('', source, value)"
    )


def _renew_index(connection: sqlite3.Connection) -> None:
    """Make the index of what was delivered as it is made today, in a file of before."""
    made = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'delivered'").fetchone()
    if made is not None and made[0] != _DELIVERED:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("DROP INDEX delivered")
        connection.execute(_DELIVERED)
        connection.execute("COMMIT")


def _cut_requests(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE requests RENAME TO whole_requests")
    for statement in TEXTS_TABLES:
        connection.execute(statement)
    texts = Texts(connection)
    for key, body in connection.execute("SELECT hash, body FROM whole_requests"):
        texts.put(key, json.loads(body))
    connection.execute("DROP TABLE whole_requests")


def _keep_log_ahead(connection: sqlite3.Connection) -> None:
    """Switch to a write-ahead log; network disks lack the shared memory for it and stay with the rollback journal."""
    with contextlib.suppress(sqlite3.OperationalError):
        connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
