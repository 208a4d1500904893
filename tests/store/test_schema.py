"""The run file as a file: what it says of itself, how an older one is read and migrated, what a poor disk allows."""

import asyncio
import json
import logging
import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from importlib.metadata import version

import pytest

from semece.canonical_json import canonical, digest
from semece.errors import StoreError
from semece.runs.run import Run
from semece.sampling import connections
from semece.sampling.settings import Settings
from semece.store import schema as runfile
from semece.store.checksums import reply_checksum_of_format_3
from semece.store.derived import derived_checksum
from semece.store.run_store import FORMAT_VERSION, Store, StoredReply
from tests.making_runs import execute

BODIES = [
    {"asked": "x", "messages": [{"content": f"Question {i}, " * 20 + '"end"', "role": "user"}], "decoding": {"n": i}}
    for i in range(5)
]


def filled(path):
    """Make a file with requests and replies."""
    with Store(path, write=True) as store:
        keys = [store.add_request(body) for body in BODIES]
        store.append([StoredReply(key, "respond", "q", i, "ok", "text", request=key) for i, key in enumerate(keys)])
        store.put_batch("b", "stored", "batch-1", "{}", 1.5)
        store.add_event("pace", "rate limited: at most 4 calls at once")
    return keys


def to_format_4(path):
    """Turn a run file into one as the fourth format had it: batches and events have no checksums."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript(
        "BEGIN; ALTER TABLE batches DROP COLUMN checksum; ALTER TABLE events DROP COLUMN checksum; "
        "PRAGMA user_version=4; COMMIT;"
    )
    connection.close()


def to_format_3(path):
    """Turn a run file into one as the third format had it: checksums of what replies say, and of no other values."""
    to_format_4(path)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.create_function("old", -1, lambda *row: reply_checksum_of_format_3(row))
    connection.create_function("older", 2, lambda source, value: derived_checksum("", source, value))
    connection.executescript(
        "BEGIN; ALTER TABLE meta DROP COLUMN checksum; ALTER TABLE questions DROP COLUMN checksum; "
        "UPDATE replies SET checksum = old(key, stage, question_id, position, status, text, raw); "
        "UPDATE derived SET checksum = older(source, value); PRAGMA user_version=3; COMMIT;"
    )
    connection.close()


def to_format_2(path):
    """Turn a run file into one as the second format had it: nothing derived is kept, replies have no checksums."""
    to_format_3(path)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript(
        "BEGIN; DROP TABLE derived; DROP TABLE makers; ALTER TABLE replies DROP COLUMN checksum; "
        "PRAGMA user_version=2; COMMIT;"
    )
    connection.close()


def to_format_1(path):
    """Turn a run file into one as the first format had it: requests in one piece, nothing said of who made it."""
    to_format_2(path)
    with Store(path) as store:
        hashes = [row[0] for row in store._execute("SELECT hash FROM requests")]
        bodies = [(key, canonical(store.request(key))) for key in hashes]
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript(
        "BEGIN; DROP TABLE requests; DROP TABLE texts; "
        "CREATE TABLE requests (hash BLOB PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID; "
        "DELETE FROM meta WHERE name IN ('created', 'package', 'base_url'); PRAGMA user_version=1; COMMIT;"
    )
    connection.execute("BEGIN")
    connection.executemany("INSERT INTO requests VALUES (?, ?)", bodies)
    connection.execute("COMMIT")
    connection.close()


class Model:
    """Must not be asked."""

    max_choices = 8

    def __init__(self, name, **_):
        self.name = name

    async def __call__(self, request, /):
        raise AssertionError(request)

    async def aclose(self):
        """Nothing to give back."""


def everything(path):
    """Read every row but the requests."""
    connection = sqlite3.connect(path)
    rows = {}
    for name in ("meta", "questions", "replies", "batches", "events"):
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({name})")]
        said = ", ".join(column for column in columns if column != "checksum")
        rows[name] = connection.execute(f"SELECT {said} FROM {name}").fetchall()
    connection.close()
    return rows


def format_of(path):
    connection = sqlite3.connect(path)
    found = runfile.format_of(connection)
    connection.close()
    return found


@pytest.fixture(params=[to_format_1, to_format_2, to_format_3, to_format_4], ids=lambda make: make.__name__[3:])
def to_older(request):
    """Turn a run file into an older one."""
    return request.param


def test_an_older_file_is_read_as_it_is(tmp_path, to_older):
    keys = filled(tmp_path / "a.db")
    to_older(tmp_path / "a.db")
    before = (tmp_path / "a.db").read_bytes()
    with Store(tmp_path / "a.db") as store:
        assert [store.request(key) for key in keys] == BODIES
        assert store.request(b"nobody's") == {}
        assert len(store.replies("respond", "q")) == 5
        assert store.batches() == [("b", "stored", "batch-1", "{}", 1.5)]
        assert len(store.events()) == 1
    assert (tmp_path / "a.db").read_bytes() == before


def test_an_older_file_is_migrated_when_it_is_written(tmp_path, to_older):
    keys = filled(tmp_path / "a.db")
    to_older(tmp_path / "a.db")
    before = everything(tmp_path / "a.db")
    for _ in range(2):
        with Store(tmp_path / "a.db", write=True) as store:
            assert [store.request(key) for key in keys] == BODIES
            assert [store.add_request(body) for body in BODIES] == keys
            assert store.integrity_faults() == []
        assert everything(tmp_path / "a.db") == before
        assert format_of(tmp_path / "a.db") == FORMAT_VERSION


def test_a_run_of_an_older_file_goes_on_without_buying_anything_again(tmp_path, to_older, monkeypatch):
    path, settings = tmp_path / "a.db", Settings("fake/?pmf=.5,.3,.2", "starter", n=6, sample=9, judge="fake/judge")
    asyncio.run(execute(settings, path))
    with Run(path) as run:
        before = run.estimates()
    to_older(path)
    with Run(path) as run:
        assert run.estimates().equals(before)
    rows = everything(path)["replies"]
    monkeypatch.setattr(connections, "open_model", Model)
    assert asyncio.run(execute(settings, path)).missing == 0
    assert everything(path)["replies"] == rows
    monkeypatch.undo()
    asyncio.run(execute(replace(settings, n=8), path))
    assert everything(path)["replies"][: len(rows)] == rows
    with Run(path) as run:
        assert run.counts == {"parsed": 72, "missing": 0}
        assert run.missing == 0


def test_a_migration_that_fails_leaves_the_older_file_whole(tmp_path, monkeypatch):
    keys = filled(tmp_path / "a.db")
    to_format_1(tmp_path / "a.db")
    monkeypatch.setattr(runfile, "DERIVED_TABLES", (*runfile.DERIVED_TABLES, "CREATE TABLE nonsense"))
    with pytest.raises(StoreError):
        Store(tmp_path / "a.db", write=True)
    monkeypatch.undo()
    assert format_of(tmp_path / "a.db") == 1
    with Store(tmp_path / "a.db", write=True) as store:
        assert [store.request(key) for key in keys] == BODIES


def test_a_migration_gives_the_space_back(tmp_path):
    text = "Instructions to the judge. " * 200
    with Store(tmp_path / "a.db", write=True) as store:
        for i in range(300):
            content = [{"content": text, "role": "system"}, {"content": str(i), "role": "user"}]
            store.add_request({"asked": "x", "messages": content})
    small = (tmp_path / "a.db").stat().st_size
    to_format_1(tmp_path / "a.db")
    assert (tmp_path / "a.db").stat().st_size > 10 * small
    Store(tmp_path / "a.db", write=True).close()
    assert (tmp_path / "a.db").stat().st_size < 1.2 * small


def test_a_file_says_when_and_by_which_version_it_was_made(tmp_path):
    with Store(tmp_path / "a.db", write=True) as store:
        made = store.meta("created")
        assert store.meta("package") == version("semece")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", made)
    with Store(tmp_path / "a.db", write=True) as store:
        assert store.meta("created") == made


@pytest.fixture
def poor_disk(monkeypatch):
    """Open files through a part of SQLite that has no shared memory, as on a network disk: no write-ahead log."""
    address = runfile.address
    monkeypatch.setattr(runfile, "address", lambda file, mode: f"{address(file, mode)}&vfs=unix-none")


@pytest.mark.usefixtures("poor_disk")
def test_a_disk_without_a_write_ahead_log_is_said_once_and_nothing_is_lost(tmp_path, caplog):
    caplog.set_level(logging.INFO, "semece")
    for i in range(3):
        with Store(tmp_path / "a.db", write=True) as store:
            assert runfile.journal_mode(store._connection) == "delete"
            store.append([StoredReply(digest(i), "respond", "q", i, "ok", "text")])
    with Store(tmp_path / "a.db") as store:
        assert [name for name, text in store.events() if "no write-ahead log" in text] == ["store"]
        assert len(store.replies("respond", "q")) == 3
    assert caplog.text.count("no write-ahead log") == 1
    assert {path.name for path in tmp_path.iterdir()} <= {"a.db", "a.db.lock"}


def test_a_disk_with_a_write_ahead_log_needs_no_word(tmp_path):
    with Store(tmp_path / "a.db", write=True) as store:
        assert runfile.journal_mode(store._connection) == "wal"
        assert store.events() == []


def test_the_schema_counts_as_delivered_what_the_code_does():
    with Store(":memory:", write=True) as store:
        sql = store._execute("SELECT sql FROM sqlite_master WHERE name = 'delivered'")[0][0]
    assert set(re.findall(r"'(\w+)'", sql)) == runfile.FINAL | {"ok"}


def test_requests_are_committed_before_a_batch_that_needs_them(tmp_path):
    with Store(tmp_path / "a.db", write=True) as store:
        key = store.add_request(BODIES[0])
        assert store.request(key) == BODIES[0]
        store.put_batch("b", "submitting", None, json.dumps({}))
        with Store(tmp_path / "a.db") as reader:
            assert reader.request(key) == BODIES[0]
            assert [row[0] for row in reader.batches()] == ["b"]


def test_requests_do_not_pile_up_in_memory(tmp_path):
    with Store(tmp_path / "a.db", write=True) as store:
        for i in range(1200):
            store.add_request({"asked": str(i)})
            assert len(store._requests) < 500


def test_the_index_of_what_was_delivered_is_made_as_today_in_a_file_of_before(tmp_path):
    with Store(tmp_path / "a.db", write=True) as store:
        store.append([StoredReply(digest(i), "respond", "q", i, "ok", "text") for i in range(3)])
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        (made,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'delivered'").fetchone()
        connection.execute("DROP INDEX delivered")
        connection.execute(made.replace("(question_id, key)", "(key)"))
    with Store(tmp_path / "a.db", write=True) as store:
        assert store._execute("SELECT sql FROM sqlite_master WHERE name = 'delivered'") == [(made,)]
        store.append([StoredReply(digest(1), "respond", "q", 1, "ok", "another", call="c")])
        store.flush()
        assert [reply.text for reply in store.replies("respond", "q")] == ["text"] * 3
    assert "(question_id, key)" in made
