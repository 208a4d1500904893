"""The texts of requests: what many requests have in common is stored once, by its hash.

A request is a frame (who is asked, options, roles) and the texts of its messages. Frames and instructions are common to
a stage; the question and its references are common to the grades of all its classes, and stand before the last field of
what a judge is sent. So a request costs little more than the answer it is about.
"""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Any

from semece.canonical_json import canonical, digest

if TYPE_CHECKING:
    from collections.abc import Mapping

TABLES = (
    "CREATE TABLE texts (id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, text TEXT NOT NULL)",
    "CREATE TABLE requests (hash BLOB NOT NULL UNIQUE, frame INTEGER NOT NULL, parts TEXT NOT NULL)",
)
_CHANGED = "malformed: the text of a request is not what was stored"
WORTHWHILE = 32
"""Characters from which on the beginning of a text is stored apart: below, the hash and its index cost more."""


class Texts:
    """Requests, in pieces.

    Parameters
    ----------
    connection : sqlite3.Connection
        To a run file; the caller begins and ends transactions.
    whole : bool
        Whether the file has requests in one piece, as format 1 had; such a file is only read.

    Examples
    --------
    >>> import sqlite3
    >>> connection = sqlite3.connect(":memory:")
    >>> _ = connection.executescript(";".join(TABLES))
    >>> texts = Texts(connection)
    >>> body = {"asked": "x", "messages": [{"content": "Why?", "role": "user"}]}
    >>> texts.put(digest(body), body)
    >>> texts.get(digest(body)) == body
    True
    """

    def __init__(self, connection: sqlite3.Connection, *, whole: bool = False) -> None:
        self._connection, self._whole = connection, whole

    def put(self, key: bytes, body: Mapping[str, Any]) -> None:
        """Store a request under its hash, if it is not there."""
        messages = body.get("messages", [])
        frame = {**body, "messages": [_without_content(m) for m in messages]} if messages else dict(body)
        parts = [self._pieces(m["role"], m["content"]) for m in messages]
        row = (key, self._id(canonical(frame)), canonical(parts))
        self._connection.execute("INSERT OR IGNORE INTO requests VALUES (?, ?, ?)", row)

    def get(self, key: bytes) -> dict[str, Any]:
        """Put a request together again; empty if there is none."""
        if self._whole:
            rows = self._connection.execute("SELECT body FROM requests WHERE hash = ?", (key,)).fetchall()
            return dict(json.loads(rows[0][0])) if rows else {}
        rows = self._connection.execute("SELECT frame, parts FROM requests WHERE hash = ?", (key,)).fetchall()
        if not rows:
            return {}
        body = dict(json.loads(self._text(rows[0][0])))
        for message, pieces in zip(body.get("messages", []), json.loads(rows[0][1]), strict=True):
            message["content"] = "".join(p if isinstance(p, str) else self._text(p) for p in pieces)
        if digest(body) != key:
            raise sqlite3.DatabaseError(_CHANGED)
        return body

    def _pieces(self, role: str, text: str) -> list[str | int]:
        """Cut a text into what is common, as ids, and what is its own."""
        if role == "system":
            return [self._id(text)]
        cut = text.rfind(', "')
        return [self._id(text[:cut]), text[cut:]] if cut >= WORTHWHILE else [text]

    def _id(self, text: str) -> int:
        """Give the id of a text, stored if it is new."""
        key = digest(text)
        self._connection.execute("INSERT OR IGNORE INTO texts (hash, text) VALUES (?, ?)", (key, text))
        return int(self._connection.execute("SELECT id FROM texts WHERE hash = ?", (key,)).fetchone()[0])

    def _text(self, number: int) -> str:
        row = self._connection.execute("SELECT hash, text FROM texts WHERE id = ?", (number,)).fetchone()
        if row is None or digest(row[1]) != row[0]:
            raise sqlite3.DatabaseError(_CHANGED)
        return str(row[1])

    def faults(self) -> int:
        """Count the requests that are not what was stored."""
        return sum(not self._is_whole(key) for (key,) in self._connection.execute("SELECT hash FROM requests"))

    def _is_whole(self, key: bytes) -> bool:
        try:
            return digest(self.get(key)) == key
        except (sqlite3.Error, ValueError, TypeError):
            return False


def _without_content(message: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in message.items() if name != "content"}
