"""The run file: one model x one dataset x one way of asking, in one SQLite file.

What is paid for is stored raw, one row per reply; what is derived is recomputed. ``Store(":memory:")`` has the same
behaviour without a file. One writer (guarded by a lock beside the file), any number of readers.
"""

from __future__ import annotations

import contextlib
import json
import logging
import shlex
import sqlite3
import time
from dataclasses import dataclass, fields
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Never, Self, cast

from semece.canonical_json import canonical, digest, encodable
from semece.errors import StoreError
from semece.records import Question
from semece.store.audits import changed_audits, keep_audit, newest_audit
from semece.store.checksums import reply_checksum, reply_checksum_of_format_3, row_checksum
from semece.store.derived import Derived, source_of
from semece.store.file_guard import FileGuard, copied_aside
from semece.store.schema import (
    FINAL,
    FORMAT_VERSION,
    TESTED,
    WITH_CHECKSUMS,
    WITH_DERIVED,
    WITH_PIECES,
    connect,
    explained,
    format_of,
    journal_mode,
    made_if_absent,
)
from semece.store.texts import Texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    _Test = Callable[[Sequence[Any]], int]

__all__ = ["DELIVERED", "FINAL", "FORMAT_VERSION", "TRANSIENT", "Store", "StoredReply"]

TRANSIENT = frozenset({"rate_limited", "timeout", "connection", "server", "broken_body", "unparseable"})
DELIVERED = frozenset({"ok"}) | FINAL

MOST_QUEUED = 500
"""Requests in memory before they are committed without their replies."""
MOST_FAULTS = 5
"""So many of what is wrong with a file are said."""

_log = logging.getLogger("semece")
_NOTHING_CAME = "('rate_limited', 'timeout', 'connection', 'server', 'broken_body')"
_OF_ALL = "all rows: "
"""Begins the names of what makes something of all rows together."""
_MAYBE_PAID = "json_extract(raw, '$.maybe_paid') = 1"


@dataclass(frozen=True, slots=True)
class StoredReply:
    """One row of ``replies``: what came back for one slot, delivered or not.

    Parameters
    ----------
    key : bytes
        SHA-256 of what was asked and for which slot; unique among delivered rows.
    stage : {'respond', 'partition', 'grade'}
        The stage.
    question_id, index : str, int
        The slot.
    status : str
        ``ok``, a final status (:data:`FINAL`) or a transient one (:data:`TRANSIENT`).
    text, raw : str
        The text, and the choice as the provider sent it.
    request : bytes or None
        Key of ``requests``.
    call : str or None
        The call it came with; usage and cost stand on the first row of a call.
    """

    key: bytes
    stage: str
    question_id: str
    index: int
    status: str
    text: str = ""
    raw: str = ""
    judge: str | None = None
    request: bytes | None = None
    finish_reason: str | None = None
    call: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    latency: float | None = None
    provider_id: str | None = None
    time: float = 0.0

    @property
    def delivered(self) -> bool:
        """Whether something came back that was paid for."""
        return self.status in DELIVERED


_FIELDS = tuple(each.name for each in fields(StoredReply))
_COLUMNS = f"{', '.join(_FIELDS).replace('index', 'position')}, superseded"
"""A row holds the fields of a reply, in their order, and whether it was set aside."""
_values = attrgetter(*_FIELDS)

_CURE = (
    "Take a copy of it from before, or 'semece doctor {} --set-aside' sets what is damaged aside, so that it is asked "
    "for again"
)

_NO_CURE = "Take a copy of it from before: this cannot be set aside; 'semece audit score' stores an audit again"


class _Closed:
    """Stands where the connection of a store was, and says so to whoever uses it."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __getattr__(self, name: str) -> Never:
        if self._path == ":memory:":
            raise StoreError("the run is closed, and was kept in memory alone: use it before it is closed")
        raise StoreError(f"{self._path}: the run is closed: open it again with semece.Run({self._path!r})")


class Store:
    """A run file.

    Parameters
    ----------
    path : str or Path
        The file, or ``':memory:'``.
    write : bool
        Open for writing: takes the locks, creates the file if it is absent.
    lock : bool
        False where the disk has no locks, and who asks knows that nobody else writes the file.

    Raises
    ------
    StoreError
        The file is missing, foreign, newer, truncated, read-only or being written by another process.

    Examples
    --------
    >>> with Store(":memory:", write=True) as store:
    ...     store.set_meta("seed", 0)
    ...     store.meta("seed")
    0
    """

    def __init__(self, path: str | Path, *, write: bool = False, lock: bool = True) -> None:
        self.path = str(path)
        self.write = write
        self._guard = FileGuard(self.path)
        self._pending: list[StoredReply] = []
        self._requests: dict[bytes, Mapping[str, Any]] = {}
        self._connection = (
            self._connected(lock=lock) if write and self.path != ":memory:" else connect(self.path, write=write)
        )
        found = format_of(self._connection)
        self._texts = Texts(self._connection, whole=found < WITH_PIECES)
        self._whole: set[tuple[str, str]] = set()
        self.derived = Derived(self._execute if found >= WITH_DERIVED else None)
        self.trouble: str | None = None
        self._ahead: dict[tuple[str, str], tuple[list[Any], _Test | None]] = {}
        self._summed: tuple[tuple[int, int], list[Any]] | None = None
        self._before = int(self._execute("SELECT coalesce(max(id), 0) FROM replies")[0][0]) if write else 0
        if write and self.path != ":memory:":
            self._say_journal(journal_mode(self._connection))

    @property
    def _format(self) -> int:
        """The file's format now: another process may have brought it up to date."""
        return format_of(self._connection)

    @property
    def _columns(self) -> str:
        return _COLUMNS + (", checksum" if self._format >= WITH_DERIVED else ", NULL")

    def _connected(self, *, lock: bool) -> sqlite3.Connection:
        """Open for writing, behind the locks."""
        try:
            if lock:
                self._guard.lock_name()
            made_if_absent(self.path)
            if lock:
                self._guard.lock_file()
            return connect(self.path, write=True)
        except BaseException:
            self._guard.release()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _say_journal(self, mode: str) -> None:
        """Say once that the file system allows no write-ahead log."""
        text = "this disk allows no write-ahead log: commits are slower, and readers wait for them"
        if mode != "wal" and ("store", text) not in self.events():
            self.add_event("store", text)

    def close(self) -> None:
        """Write what is pending, fold the write-ahead log into the file, give back the lock."""
        if self.closed:
            return
        try:
            if self.write:
                self.flush()
                self.keep_derived()
                if self.path != ":memory:":
                    with contextlib.suppress(sqlite3.Error):  # a reader may be at work: the log then stays
                        self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                        self._connection.execute("PRAGMA journal_mode=DELETE")
        finally:
            self._connection.close()
            self._guard.release()
            self._connection = cast("sqlite3.Connection", _Closed(self.path))
            self._texts = Texts(self._connection, whole=False)

    @property
    def closed(self) -> bool:
        """Whether it was closed: then it cannot be read any more."""
        return isinstance(self._connection, _Closed)

    def _execute(self, sql: str, parameters: Sequence[Any] = ()) -> list[Any]:
        with explained(self.path):
            try:
                return self._connection.execute(sql, parameters).fetchall()
            except sqlite3.OperationalError as error:
                if "decode" not in str(error):
                    raise
            self._connection.text_factory = partial(str, encoding="utf-8", errors="replace")
            try:  # the row that is no UTF-8 text any more does not pass its test
                return self._connection.execute(sql, parameters).fetchall()
            finally:
                self._connection.text_factory = str

    def _damaged(self, what: str, place: str) -> StoreError:
        said = f"{self.path}: {what} is not what was stored ({place}): the file is damaged or was changed by hand"
        return StoreError(f"{said}. {_CURE.format(shlex.quote(self.path))}")

    def meta(self, name: str, default: Any = None) -> Any:  # noqa: ANN401 - any JSON value
        """Read a named value (JSON)."""
        rows = self._whole_rows("meta", "a value of the run", "WHERE name = ?", (name,))
        return json.loads(rows[0][1]) if rows else default

    def _tested(self, table: str, which: str = "", parameters: Sequence[Any] = ()) -> list[tuple[Any, bool]]:
        """Read rows, and whether each is what was stored; in older files not every table has checksums."""
        since, columns = TESTED[table]
        if self._format < since:
            return [(row, True) for row in self._execute(f"SELECT {columns} FROM {table} {which}", parameters)]  # noqa: S608
        rows = self._execute(f"SELECT {columns}, checksum FROM {table} {which}", parameters)  # noqa: S608 - constants
        return [(row[:-1], row[-1] == row_checksum(*row[:-1])) for row in rows]

    def _whole_rows(self, table: str, what: str, which: str = "", parameters: Sequence[Any] = ()) -> list[Any]:
        """Read rows that are what was stored.

        Raises
        ------
        StoreError
            One is not.
        """
        rows = self._tested(table, which, parameters)
        if changed := next((row for row, is_whole in rows if not is_whole), None):
            raise self._damaged(what, repr(changed[0]))
        return [row for row, _ in rows]

    def set_meta(self, name: str, value: object) -> None:
        """Write a named value (JSON)."""
        row = name, canonical(value)
        self._execute("INSERT OR REPLACE INTO meta VALUES (?, ?, ?)", (*row, row_checksum(*row)))

    def add_questions(self, questions: Iterable[tuple[int, Question]]) -> None:
        """Add questions with their position in the dataset; those already there stay as they are."""
        rows = [
            (q.id, position, q.text, canonical(q.references), canonical(dict(q.metadata))) for position, q in questions
        ]
        with self._transaction():
            self._connection.executemany(
                "INSERT OR IGNORE INTO questions VALUES (?, ?, ?, ?, ?, ?)",
                [(*row, row_checksum(*row)) for row in rows],
            )

    def questions(self, ids: Iterable[str] | None = None) -> Iterator[Question]:
        """Questions in the dataset's order; only those in `ids` if given."""
        wanted = None if ids is None else set(ids)
        only = tuple(wanted) if wanted is not None and len(wanted) == 1 else ()
        for row in self._whole_rows(
            "questions", "a question", f"{'WHERE id = ?' if only else ''} ORDER BY position", only
        ):
            if wanted is None or row[0] in wanted:
                yield Question(row[0], row[2], tuple(json.loads(row[3])), json.loads(row[4]))

    def add_request(self, body: Mapping[str, Any]) -> bytes:
        """Queue a request, to be stored once; return its hash. :meth:`flush` commits it before its replies."""
        key = digest(body)
        self._requests[key] = body
        if len(self._requests) >= MOST_QUEUED:
            self.flush()
        return key

    def request(self, key: bytes) -> dict[str, Any]:
        """Look up the request under `key`; empty if there is none."""
        if key in self._requests:
            return dict(self._requests[key])
        with explained(self.path):
            return self._texts.get(key)

    def append(self, rows: Iterable[StoredReply]) -> None:
        """Queue replies; :meth:`flush` commits them. The first delivered reply of a key stands."""
        now = time.time()
        self._pending.extend(row if row.time else _stamped(row, now) for row in rows)

    def flush(self) -> None:
        """Commit what is queued. On an error nothing of it is written and it stays queued."""
        if not self._pending and not self._requests:
            return
        with self._transaction():
            for key, body in self._requests.items():
                self._texts.put(key, body)
            self._insert_replies()
        self._requests.clear()
        self._pending.clear()
        self._guard.check(partial(copied_aside, self._connection, self.path))

    def is_busy(self) -> bool | None:
        """Whether another process writes the file; None where that cannot be told."""
        return self._guard.is_busy()

    def check_room(self, wanted: int) -> None:
        """Stop before something is bought that cannot be stored.

        Parameters
        ----------
        wanted : int
            Bytes that it may take.

        Raises
        ------
        DiskError
            There is less room.
        """
        self._guard.check_room(wanted)

    def _insert_replies(self) -> None:
        """Write what is queued; a call for a slot that has its reply was paid for all the same, and is kept aside."""
        sql = f"INSERT INTO replies ({_COLUMNS}, checksum) VALUES ({','.join('?' * 19)})"  # noqa: S608
        rows = [_row(reply) for reply in self._pending]
        first = f"{sql} ON CONFLICT DO NOTHING"
        self._connection.execute("SAVEPOINT at_once")
        stored = self._connection.executemany(first, ((*row, reply_checksum(row)) for row in rows)).rowcount
        if stored < len(rows):  # one of them came before: which one, is seen one by one
            self._connection.execute("ROLLBACK TO at_once")
            for reply, row in zip(self._pending, rows, strict=True):
                stands = self._connection.execute(first, (*row, reply_checksum(row)))
                if not stands.rowcount and reply.call is not None:
                    aside = (*row[:-1], 1)
                    self._connection.execute(sql, (*aside, reply_checksum(aside)))
        self._connection.execute("RELEASE at_once")

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        with explained(self.path), self._connection as connection:  # which commits, or rolls back
            connection.execute("BEGIN IMMEDIATE")
            yield

    def replies(self, stage: str, question_id: str) -> list[StoredReply]:
        """All replies of one question in one stage that still stand, by index, oldest first."""
        return [StoredReply(*row[:-2]) for row in self._rows(stage, question_id) if not row[-2]]

    def _rows(self, stage: str, question_id: str) -> list[Any]:
        """Read all rows of a place, tested when this store first reads them; in formats 1 and 2 they have no checksum.

        Raises
        ------
        StoreError
            One is not what was stored.
        """
        if (stage, question_id) in self._ahead:
            rows, test = self._ahead.pop((stage, question_id))
        else:
            sql = f"{self._select} AND question_id = ? ORDER BY position, id"
            rows, test = self._execute(sql, (stage, question_id)), self._test
        if (stage, question_id) not in self._whole:
            for row in rows:
                if test and (row[-1] != test(row) or row[1] != stage or row[2] != question_id):
                    raise self._damaged("a reply", _place(row))
            self._whole.add((stage, question_id))
        return rows

    @property
    def _select(self) -> str:
        return f"SELECT {self._columns} FROM replies WHERE stage = ?"  # noqa: S608 - constants

    @property
    def _test(self) -> _Test | None:
        """What tests a reply: none in formats 1 and 2."""
        if (written := self._format) < WITH_DERIVED:
            return None
        return reply_checksum if written >= WITH_CHECKSUMS else reply_checksum_of_format_3

    @contextlib.contextmanager
    def read_ahead(self, stages: Iterable[str], ids: Sequence[str]) -> Iterator[None]:
        """Read the replies to some questions at once, for who reads them one by one inside and writes none.

        Raises
        ------
        StoreError
            One is not what was stored.
        """
        sql = f"{self._select} AND question_id IN ({', '.join('?' * len(ids))}) ORDER BY question_id, position, id"
        test = self._test
        try:
            for stage in stages:
                self._ahead |= {(stage, question_id): ([], test) for question_id in ids}
                for row in self._execute(sql, (stage, *ids)):
                    if (stage, row[2]) not in self._ahead:
                        raise self._damaged("a reply", _place(row))
                    self._ahead[stage, row[2]][0].append(row)
            yield
        finally:
            self._ahead.clear()

    def _test_all(self) -> None:
        """Test the rows that were not read yet, for who adds up what they cost.

        Raises
        ------
        StoreError
            One is not what was stored.
        """
        places = self._execute("SELECT DISTINCT stage, question_id FROM replies")
        lost = any(place not in self._whole and not self._rows(*place) for place in places)
        count = "(SELECT count(*) FROM replies"
        stored, found = self._execute(f"SELECT {count} NOT INDEXED), {count} INDEXED BY place)")[0]
        if lost or stored != found:
            raise StoreError(
                f"{self.path}: some of its {stored:,} replies are not found where they belong: the file is damaged. "
                f"{_CURE.format(shlex.quote(self.path))}"
            )

    def keep_derived(self) -> None:
        """Store what was derived since; a reader does so only if the file can be written at once."""
        if self.write and self.derived.changed:
            with self._transaction():
                self.derived.write(self._connection)
            self.derived.written()
        elif self.derived.changed:
            with contextlib.suppress(StoreError, OSError, sqlite3.Error):
                if Path(self.path).stat().st_mode & 0o222:
                    self._write_aside(self.derived.write)
                    self.derived.written()

    def _write_aside(self, write: Callable[[sqlite3.Connection], None]) -> None:
        self._guard.lock_name()
        try:
            self._guard.lock_file()
            with contextlib.closing(connect(self.path, write=True, aside=True)) as connection, connection:
                connection.execute("BEGIN IMMEDIATE")
                write(connection)
        finally:
            self._guard.release()

    def kept(self, maker: str, made_of: object, make: Callable[[], Any]) -> Any:  # noqa: ANN401 - any JSON value
        """Give what was derived of all rows together; made again if a row has changed, come or gone since.

        Parameters
        ----------
        maker : str
            Under which id it stands.
        made_of : object
            Of what else it is made, as JSON.
        make : callable
            Makes it.
        """
        if self._format < WITH_CHECKSUMS:  # without checksums of whole rows a change could stay unseen
            return make()
        maker, source, state = f"{_OF_ALL}{maker}", source_of(made_of), self._state()
        found = self.derived.get(maker, source)
        if found is None or found[0] != state:
            found = [state, make()]
            self.derived.put(maker, source, found)
        return found[1]

    def _state(self) -> list[Any]:
        """Sum up all replies and questions: whatever is changed changes a checksum, and what is added up here."""
        rows = "count(*), coalesce(max(id), 0), sum(checksum), sum(superseded), sum(position)"
        sums = "total(input_tokens), total(output_tokens), total(cost), count(cost)"
        now = self._execute("PRAGMA data_version")[0][0], self._connection.total_changes
        if self._summed is None or self._summed[0] != now:
            replies = self._execute(f"SELECT {rows}, {sums} FROM replies NOT INDEXED")  # noqa: S608 - constants
            questions = self._execute("SELECT count(*), sum(checksum) FROM questions")
            self._summed = now, [*replies[0], *questions[0]]
        return self._summed[1]

    def audit(self, judge: str) -> dict[str, Any] | None:
        """Read the audit of a judge that was kept last, by the judge's id; None if there is none.

        Raises
        ------
        StoreError
            It is not what was stored.
        """
        with explained(self.path):
            found, intact = newest_audit(self._connection, judge)
        if not intact:
            raise StoreError(
                f"{self.path}: an audit is not what was stored ({judge}): the file is damaged or was changed by hand; "
                "'semece audit score' with its sheets stores it again, --uncorrected reads without it"
            )
        return found

    def keep_audit(self, judge: str, sheet: str, body: dict[str, Any]) -> None:
        """Keep what people said of a judge's verdicts, under the judge's id and what the sheets are a sample of.

        Raises
        ------
        StoreError
            The file cannot be written now.
        """
        write = partial(keep_audit, judge=judge, sheet=sheet, body=body)
        with explained(self.path):
            if self.write:
                with self._transaction():
                    write(self._connection)
            else:
                self._write_aside(write)

    def supersede(self, keys: Iterable[bytes]) -> None:
        """Set delivered rows without a usable answer aside, so that their slots may be asked again."""
        with self._transaction():
            sql = f"{_updated('superseded', '1')} WHERE key = ? AND status <> 'ok' AND superseded = 0"
            self._connection.executemany(sql, [(key,) for key in keys])

    def demote(self, key: bytes) -> None:
        """Mark a delivered judge reply that today's parser refuses as unparseable."""
        marked = _updated("status", "'unparseable'")
        self._execute(f"{marked} WHERE key = ? AND status = 'ok'", (key,))

    def count(self, stage: str, judge: str | None = None) -> dict[str, int]:
        """How many rows of a stage have each status; only those of one judge if its id is given."""
        sql = (
            "SELECT status, count(*) FROM replies WHERE stage = ? AND superseded = 0 AND (? IS NULL OR judge = ?) "
            "GROUP BY status"
        )
        return dict(self._execute(sql, (stage, judge, judge)))

    def judges(self, stage: str) -> set[str]:
        """Ids of the judges whose replies were delivered in a stage, readable or not."""
        rows = self._execute("SELECT DISTINCT judge, status FROM replies WHERE stage = ? AND superseded = 0", (stage,))
        return {judge for judge, status in rows if judge is not None and status in {*DELIVERED, "unparseable"}}

    def spent(self) -> dict[str, tuple[int, int, float | None]]:
        """Per stage: input tokens, output tokens, cost in USD (None if no price is known)."""
        rows = self._spent() if self.write else self.kept("spent-1", None, self._spent)
        return {r[0]: (int(r[1]), int(r[2]), (r[3] or 0.0) if r[5] == r[4] else None) for r in rows}

    def _spent(self) -> list[Any]:
        self._test_all()
        return self._execute(
            "SELECT stage, total(input_tokens), total(output_tokens), sum(cost), "
            "count(input_tokens), count(cost) FROM replies GROUP BY stage"
        )

    def bills(self) -> list[tuple[str | None, float, int, int, int]]:
        """Per judge (None: who responds): known USD, all tokens, input and output tokens without a known cost."""
        self._test_all()
        unpriced = "total(CASE WHEN cost IS NULL THEN {} END)"
        sums = ["total(cost)", "total(input_tokens) + total(output_tokens)"]
        sums += [unpriced.format(name) for name in ("input_tokens", "output_tokens")]
        rows = self._execute(f"SELECT judge, {', '.join(sums)} FROM replies GROUP BY judge")  # noqa: S608 - constants
        return [(judge, cost, int(tokens), int(asked), int(answered)) for judge, cost, tokens, asked, answered in rows]

    def unbilled(self) -> list[tuple[str | None, bytes, int]]:
        """List calls that may be paid for though nobody said what they took: judge, request, choices."""
        self._test_all()
        delivered = f"call IS NOT NULL AND status NOT IN {_NOTHING_CAME} GROUP BY call HAVING count(input_tokens) = 0"
        silent = f"SELECT judge, request, count(*) FROM replies WHERE {delivered}"  # noqa: S608 - constants
        failed = f"SELECT judge, request, raw FROM replies WHERE status IN {_NOTHING_CAME} AND {_MAYBE_PAID}"  # noqa: S608
        lost = [(judge, request, json.loads(raw).get("choices", 1)) for judge, request, raw in self._execute(failed)]
        return self._execute(silent) + lost

    def check_whole(self) -> None:
        """Test every row.

        Raises
        ------
        StoreError
            One is not what was stored, or SQLite finds something wrong with the file.
        """
        if faults := self.integrity_faults():
            more = [f"and {len(faults) - MOST_FAULTS:,} more"] if len(faults) > MOST_FAULTS else []
            said = "; ".join(faults[:MOST_FAULTS] + more)
            cure = _CURE.format(shlex.quote(self.path)) if self._can_be_set_aside() else _NO_CURE
            raise StoreError(f"{self.path} is damaged: {said}. {cure}")

    def _can_be_set_aside(self) -> bool:
        """Whether all that is wrong can be set aside: not so the file itself, its settings, requests and audits."""
        whole = [row[0] for row in self._execute("PRAGMA integrity_check")] == ["ok"]
        meta = whole and all(is_whole for _, is_whole in self._tested("meta"))
        return meta and not self._texts.faults() and not changed_audits(self._connection)

    def integrity_faults(self) -> list[str]:
        """List what SQLite finds wrong with the file; empty if nothing."""
        found = [str(row[0]) for row in self._execute("PRAGMA integrity_check")]
        return list(self._changed_rows()) if found == ["ok"] else found

    def _changed_rows(self) -> Iterator[str]:
        """Count the rows that are not what was written, and name the first of each kind."""
        for table in TESTED:
            changed = [repr(row[0]) for row, is_whole in self._tested(table) if not is_whole]
            yield from _counted("values of the run" if table == "meta" else table, changed)
        yield from _counted("replies", [_place(row) for _, row in self._damaged_replies()])
        if texts := self._texts.faults():
            yield f"requests that are not what was stored: {texts:,}"
        if audits := changed_audits(self._connection):
            yield f"audits that are not what was stored: {audits:,}"
        if count := sum(1 for _ in self.derived.faults()):
            yield f"results that are not what was stored, and are derived again when they are needed: {count:,}"

    def _damaged_replies(self) -> list[tuple[int, tuple[Any, ...]]]:
        """List the replies that do not pass their test, with their ids."""
        if self._format < WITH_DERIVED:
            return []
        test = reply_checksum if self._format >= WITH_CHECKSUMS else reply_checksum_of_format_3
        rows = self._execute(f"SELECT {self._columns}, id FROM replies")  # noqa: S608 - constants
        return [(row[-1], row[:-1]) for row in rows if row[-2] != test(row[:-1])]

    def set_damaged_aside(self) -> int:
        """Set replies that are not what was stored aside, so that they are asked for again; count them.

        Their texts stay as they are now. What they cost is not known any more. A question that is not what was stored
        is taken out: the next run takes it from the dataset again. A batch that is not is waited for no more.
        """
        self._execute("REINDEX")
        damaged = self._damaged_replies()
        sql = f"UPDATE replies SET ({_COLUMNS}, checksum) = ({','.join('?' * 19)}) WHERE id = ?"  # noqa: S608 - constants
        with self._transaction():
            for number, found in damaged:
                row = (*_row(_readable(found))[:-1], 1)
                self._connection.execute(sql, (*row, reply_checksum(row), number))
            taken = {table: self._take_out(table) for table in ("questions", "batches", "events")}
        for _, _, provider_id, *_ in taken["batches"]:
            self.add_event("damaged", f"the entry of a batch was damaged and was taken out: {provider_id}")
        self._whole.clear()
        return len(damaged) + sum(map(len, taken.values()))

    def _take_out(self, table: str) -> list[Any]:
        """Take the rows that are not what was stored out of a table; give them."""
        numbers = self._execute(f"SELECT rowid FROM {table} ORDER BY rowid")  # noqa: S608 - constants
        tested = zip(numbers, self._tested(table, "ORDER BY rowid"), strict=True)
        changed = [(number, row) for number, (row, is_whole) in tested if not is_whole]
        self._connection.executemany(f"DELETE FROM {table} WHERE rowid = ?", [number for number, _ in changed])  # noqa: S608
        return [row for _, row in changed]

    def failed_calls(self) -> tuple[int, int]:
        """Count calls that delivered nothing, and those of them that may have been paid for."""
        failed, paid, _ = self._calls()
        return failed, paid

    def _calls(self) -> list[int]:
        """Count failed calls, those that may have been paid for, and those that came under an earlier call's id."""

        def count() -> list[int]:
            failed = f"status IN {_NOTHING_CAME}"
            paid = (
                f"CASE WHEN {failed} THEN {_MAYBE_PAID} END"  # AND may look at the raw text of samples, which is empty
            )
            counts = f"coalesce(sum({failed}), 0), coalesce(sum({paid}), 0)"
            sql = f"SELECT {counts}, count(provider_id) - count(DISTINCT provider_id) FROM replies NOT INDEXED"  # noqa: S608
            return list(self._execute(sql)[0])

        return count() if self.write else list(self.kept("calls-1", None, count))

    def last_failure(self, judges: Sequence[str] = ()) -> str | None:
        """Read the sentence of the newest call that delivered nothing; of these judges, if some are named by id.

        A store that is open for writing tells only of what failed since it was opened, and else of its ``trouble``.
        """
        if self.write:
            self.flush()
        theirs = f" AND judge IN ({', '.join('?' * len(judges))})" if judges else ""
        sql = f"SELECT raw FROM replies WHERE id > ? AND status IN {_NOTHING_CAME}{theirs} ORDER BY id DESC LIMIT 1"  # noqa: S608
        rows = self._execute(sql, (self._before, *judges))
        return self.trouble if not rows else str(json.loads(rows[0][0]).get("error"))

    def repeated_provider_ids(self) -> int:
        """Count calls that came back under a request id of an earlier call."""
        return self._calls()[2]

    def add_event(self, name: str, text: str) -> None:
        """Record what the run noticed, without bodies, and say it to the log."""
        _log.info("%s: %s", name, text)
        row = time.time(), name, text
        self._execute(
            "INSERT INTO events (time, class, text, checksum) VALUES (?, ?, ?, ?)", (*row, row_checksum(*row))
        )

    def events(self) -> list[tuple[str, str]]:
        """Read (class, text) of every event, oldest first."""
        return [(name, text) for _, name, text in self._whole_rows("events", "an event", "ORDER BY id")]

    def batches(self) -> list[tuple[str, str, str | None, str, float]]:
        """Read id, status, the provider's id, body and time of every batch, oldest first."""
        return self._whole_rows("batches", "a batch", "ORDER BY time, id")

    def put_batch(
        self, name: str, status: str, provider_id: str | None, body: str | None = None, when: float = 0.0
    ) -> None:
        """Commit a batch, or only another status of one that is there (``body=None``), after what is queued."""
        self.flush()
        if body is None:
            found = next((row for row in self.batches() if row[0] == name), None)
            if found is None:
                raise self._damaged("a batch", name)
            *_, body, when = found
        row = name, status, provider_id, body, when
        self._execute("INSERT OR REPLACE INTO batches VALUES (?, ?, ?, ?, ?, ?)", (*row, row_checksum(*row)))

    def take_in(self, part: Store) -> None:
        """Copy the rows of another run file, with their checksums; a named value that is here already stays."""
        part.flush()
        for (key,) in part._execute("SELECT hash FROM requests"):
            self.add_request(part.request(key))
        self.flush()
        columns = f"{_COLUMNS}, checksum"
        self._execute("ATTACH ? AS part", (str(part.path),))
        with self._transaction():
            makers = f"SELECT name FROM part.makers WHERE name NOT LIKE '{_OF_ALL}%'"  # noqa: S608 - constants
            derived = (
                "SELECT makers.id, source, value, checksum FROM part.derived "
                "JOIN part.makers AS theirs ON theirs.id = maker JOIN makers ON makers.name = theirs.name"
            )
            events = "FROM part.events WHERE class <> 'shards' ORDER BY id"
            for statement in (
                "INSERT OR IGNORE INTO meta SELECT * FROM part.meta",
                "INSERT INTO questions SELECT * FROM part.questions",
                f"INSERT INTO replies ({columns}) SELECT {columns} FROM part.replies ORDER BY id",  # noqa: S608 - constants
                "INSERT INTO batches SELECT * FROM part.batches",
                f"INSERT INTO events SELECT NULL, time, class, text, checksum {events}",
                f"INSERT OR IGNORE INTO makers (name) {makers}",
                f"INSERT OR IGNORE INTO derived {derived}",
            ):
                self._execute(statement)
        self._execute("DETACH part")

    def calls_named(self, prefix: str) -> set[str]:
        """List the calls with rows whose name starts so."""
        sql = "SELECT DISTINCT call FROM replies WHERE call >= ? AND call < ?"
        return {row[0] for row in self._execute(sql, (prefix, prefix + "~"))}


def _stamped(r: StoredReply, now: float) -> StoredReply:
    """Give a reply its time."""
    values = [*_values(r)[:-1], now]
    return StoredReply(*values)


def _row(r: StoredReply) -> tuple[Any, ...]:
    """Give the columns of a reply that stands."""
    key, stage, question_id, index, status, text, raw, *more = _values(r)
    return key, stage, question_id, index, status, encodable(text), encodable(raw), *more, 0


def _place(row: Sequence[Any]) -> str:
    return f"{row[1]}, question {row[2]!r}, index {row[3]}"


def _readable(row: Sequence[Any]) -> StoredReply:
    """Make a reply of a damaged row: what is of another kind than it was is nothing, and so is what it cost."""
    texts = (each if isinstance(each, str) else "" for each in row)
    _, stage, question_id, _, status, text, raw, judge, *_ = texts
    key, number = (row[0] if isinstance(row[0], bytes) else b""), (row[3] if isinstance(row[3], int) else 0)
    return StoredReply(key, stage, question_id, number, status, text, raw, judge or None, call="damaged")


def _updated(column: str, value: str) -> str:
    """Begin the statement that changes one column of replies, and with it their checksums."""
    row = _COLUMNS.replace(f" {column}", f" {value}")
    return f"UPDATE replies SET {column} = {value}, checksum = reply_checksum({row})"  # noqa: S608 - constants


def _counted(what: str, places: Sequence[str]) -> Iterator[str]:
    if places:
        yield f"{what} that are not what was stored: {len(places):,}, the first: {places[0]}"
