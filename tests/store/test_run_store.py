"""The run file: one delivered reply per slot, nothing lost, foreign files untouched."""

import asyncio
import contextlib
import errno
import itertools
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from semece.errors import DiskError, StoreError
from semece.records import Question
from semece.sampling.settings import Settings
from semece.store.run_store import FINAL, FORMAT_VERSION, TRANSIENT, Store, StoredReply
from tests.making_runs import execute
from tests.servers.openai_server import OpenAIServer


def reply(index=0, status="ok", key=None, **more):
    return StoredReply(key or bytes([index]) * 32, "respond", "q", index, status, **more)


@pytest.fixture(params=["memory", "file"])
def store(request, tmp_path):
    with Store(":memory:" if request.param == "memory" else tmp_path / "run.db", write=True) as opened:
        yield opened


def test_values_come_back_as_they_went_in(store):
    store.set_meta("view", {"n": 20, "ids": ["a", "é"]})
    assert store.meta("view") == {"n": 20, "ids": ["a", "é"]}
    assert store.meta("absent", 7) == 7


def test_questions_keep_their_order_and_two_with_the_same_text_are_two(store):
    store.add_questions([(1, Question("b", "Same?", ("x",))), (0, Question("a", "Same?", ("y",), {"k": [1]}))])
    assert [q.id for q in store.questions()] == ["a", "b"]
    assert next(store.questions(["b"])).references == ("x",)
    assert next(store.questions()).metadata == {"k": [1]}


def test_calls_are_counted_also_where_replies_have_no_raw_text(store):
    """Samples have none, and what is no JSON is not looked into."""
    store.append([reply(0), reply(1, "timeout", raw='{"maybe_paid": true}'), reply(2, "server", raw="{}")])
    store.flush()
    assert store.failed_calls() == (2, 1)


def test_the_first_delivered_reply_of_a_slot_stands(store):
    store.append([reply(0, text="first")])
    store.flush()
    store.append([reply(0, text="second")])
    store.flush()
    assert [row.text for row in store.replies("respond", "q")] == ["first"]


@pytest.mark.parametrize("status", sorted(TRANSIENT))
def test_a_transient_row_never_blocks_its_slot(store, status):
    store.append([reply(0, status), reply(0, status), reply(0, text="answer")])
    store.flush()
    rows = store.replies("respond", "q")
    assert [row.status for row in rows] == [status, status, "ok"]
    assert [row.delivered for row in rows] == [False, False, True]


@pytest.mark.parametrize("status", sorted(FINAL))
def test_a_failed_delivery_blocks_until_it_is_set_aside(store, status):
    store.append([reply(0, status)])
    store.flush()
    store.append([reply(0, text="late")])
    store.flush()
    assert [row.status for row in store.replies("respond", "q")] == [status]
    store.supersede([reply(0).key])
    store.append([reply(0, text="again")])
    store.flush()
    assert [row.text for row in store.replies("respond", "q")] == ["again"]


def test_setting_aside_never_touches_an_answer(store):
    store.append([reply(0, text="answer")])
    store.flush()
    store.supersede([reply(0).key])
    assert [row.text for row in store.replies("respond", "q")] == ["answer"]


def test_spent_adds_calls_and_says_when_a_price_is_unknown(store):
    store.append([reply(0, input_tokens=10, output_tokens=5, cost=0.5), reply(1)])
    store.append([reply(2, input_tokens=1, output_tokens=1, cost=0.25)])
    store.flush()
    assert store.spent() == {"respond": (11, 6, 0.75)}
    store.append([reply(3, input_tokens=1, output_tokens=1)])
    store.flush()
    assert store.spent() == {"respond": (12, 7, None)}


def test_text_that_is_not_unicode_is_kept_escaped(store):
    store.append([reply(0, text="a\ud800b")])
    store.flush()
    assert store.replies("respond", "q")[0].text == "a\\ud800b"


def test_a_request_is_stored_once(store):
    assert store.add_request({"b": 1, "a": 2}) == store.add_request({"a": 2, "b": 1})
    assert store.request(store.add_request({"a": 2, "b": 1})) == {"a": 2, "b": 1}


def test_events_go_to_the_file_and_to_the_log(store, caplog):
    caplog.set_level("INFO", "semece")
    store.add_event("pace", "rate limited: at most 16 calls at once")
    assert store.events() == [("pace", "rate limited: at most 16 calls at once")]
    assert [(r.name, r.levelname, r.getMessage()) for r in caplog.records] == [
        ("semece", "INFO", "pace: rate limited: at most 16 calls at once")
    ]


def test_a_closed_run_is_one_plain_file(tmp_path):
    with Store(tmp_path / "run.db", write=True) as store:
        store.append([reply(0, text="x")])
        store.set_meta("a", 1)
        assert (tmp_path / "run.db-wal").exists()
    assert {path.name for path in tmp_path.iterdir()} <= {"run.db", "run.db.lock"}
    assert Path(tmp_path / "run.db").read_bytes()[18] == 1  # the rollback-journal format, not WAL
    with Store(tmp_path / "run.db") as store:
        assert store.replies("respond", "q")[0].text == "x"


def test_readers_see_what_is_committed_while_a_writer_works(tmp_path):
    with Store(tmp_path / "run.db", write=True) as writer:
        writer.append([reply(0, text="x")])
        writer.flush()
        with Store(tmp_path / "run.db") as reader:
            assert len(reader.replies("respond", "q")) == 1
            writer.append([reply(1, text="y")])
            writer.flush()
            assert len(reader.replies("respond", "q")) == 2


def test_a_second_writer_is_refused_in_one_sentence(tmp_path):
    code = "import sys; from semece.store.run_store import Store; Store(sys.argv[1], write=True)"
    with Store(tmp_path / "run.db", write=True):
        found = subprocess.run([sys.executable, "-c", code, tmp_path / "run.db"], capture_output=True, text=True)
    assert found.returncode == 1
    assert "is being written by another process" in found.stderr.splitlines()[-1]
    subprocess.run([sys.executable, "-c", code, tmp_path / "run.db"], check=True)


def foreign_text(path):
    path.write_text("not a database at all, just text")


def foreign_database(path):
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE t (a)")
    connection.close()


def newer(path):
    Store(path, write=True).close()
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version={FORMAT_VERSION + 1}")
    connection.close()


def truncated(path):
    with Store(path, write=True) as store:
        store.append([reply(i, text="x" * 3000) for i in range(100)])
    path.write_bytes(path.read_bytes()[:9000])


def empty(path):
    path.touch()


@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (foreign_text, "is not a semece run file"),
        (foreign_database, "of another program"),
        (newer, f"has format {FORMAT_VERSION + 1}"),
        (empty, "is not a semece run file"),
    ],
)
def test_a_foreign_or_newer_file_is_refused_and_untouched(tmp_path, make, sentence, write):
    path = tmp_path / "run.db"
    make(path)
    before = path.read_bytes()
    with pytest.raises(StoreError, match=sentence):
        Store(path, write=write)
    assert path.read_bytes() == before


def test_a_truncated_file_is_refused_and_untouched(tmp_path):
    path = tmp_path / "run.db"
    truncated(path)
    before = path.read_bytes()
    with pytest.raises(StoreError, match="damaged or truncated"), Store(path) as store:
        store.replies("respond", "q")
    assert path.read_bytes() == before


def test_a_missing_file_says_what_makes_one(tmp_path):
    with pytest.raises(StoreError, match=r"does not exist; 'semece run' makes run files"):
        Store(tmp_path / "absent.db")


def as_nobody(path, *, write):
    """Open a run file in a child without rights; give what it says."""
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setuid(65534)
            Store(path, write=write).close()
            said = "nothing"
        except StoreError as error:
            said = str(error)
        os.write(writable, said.encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writable)
    with os.fdopen(readable) as stream:
        return stream.read()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("folder_mode", [0o555, 0o777])
def test_a_read_only_file_is_one_sentence_and_can_be_read(folder_mode):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        Store(folder / "run.db", write=True).close()
        (folder / "run.db.lock").unlink(missing_ok=True)
        (folder / "run.db").chmod(0o444)
        folder.chmod(folder_mode)
        before = (folder / "run.db").read_bytes()
        assert "read-only" in as_nobody(folder / "run.db", write=True)
        assert as_nobody(folder / "run.db", write=False) == "nothing"
        assert (folder / "run.db").read_bytes() == before
        folder.chmod(0o755)


def test_a_full_disk_loses_nothing_that_was_stored(tmp_path):
    path = tmp_path / "run.db"
    with Store(path, write=True) as store:
        store.append([reply(0, text="paid")])
        store.flush()
        pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
        store._connection.execute(f"PRAGMA max_page_count={pages + 2}")
        store.append([reply(1, text="x" * 200_000)])
        with pytest.raises(StoreError, match="no space left"):
            store.flush()
        store._connection.execute("PRAGMA max_page_count=1000000")
        store.flush()
    with Store(path) as store:
        assert [len(row.text) for row in store.replies("respond", "q")] == [4, 200_000]


def test_a_kill_while_the_file_is_made_leaves_nothing_that_blocks(tmp_path):
    path = tmp_path / "run.db"
    (tmp_path / ".part-run.db").write_bytes(b"half a file")
    Store(path, write=True).close()
    shutil.copy(path, tmp_path / "copy.db")
    Store(tmp_path / "copy.db").close()


# --- one writer, one file


def spellings(path):
    """One file by several names: itself, with detours, by a symbolic link to it and to its folder, by a hard link."""
    link, folder, hard = path.with_name("link.db"), path.parent / "elsewhere", path.with_name("hard.db")
    link.symlink_to(path.name)
    folder.symlink_to(path.parent, target_is_directory=True)
    hard.hardlink_to(path)
    return [path, path.parent / "." / "x" / ".." / path.name, link, folder / path.name, hard]


def test_a_file_has_one_writer_whatever_it_is_called(tmp_path):
    path = tmp_path / "run.db"
    (tmp_path / "x").mkdir()
    Store(path, write=True).close()
    names = spellings(path)
    for first, second in itertools.permutations(names, 2):
        with Store(first, write=True), pytest.raises(DiskError, match="is being written by another process"):
            Store(second, write=True)
    with Store(names[2], write=True) as store:
        store.append([reply(0)])
    with Store(path) as store:
        assert len(store.replies("respond", "q")) == 1


def test_a_link_is_no_second_writer_where_locks_lie_beside_the_file_alone(tmp_path, monkeypatch):
    monkeypatch.setattr("semece.store.file_guard._runtime_folder", lambda: None)
    path = tmp_path / "run.db"
    Store(path, write=True).close()
    for name in spellings(path)[:4]:  # a hard link has a lock of its own there
        with Store(path, write=True), pytest.raises(DiskError, match="is being written by another process"):
            Store(name, write=True)


def test_a_link_that_leads_nowhere_yet_stays_a_link(tmp_path):
    (tmp_path / "link.db").symlink_to("target.db")
    Store(tmp_path / "link.db", write=True).close()
    assert (tmp_path / "link.db").is_symlink()
    assert (tmp_path / "target.db").is_file()


def deleted(path):
    path.unlink()
    return "deleted"


def replaced_by_another(path):
    other = path.with_name("other.db")
    Store(other, write=True).close()
    other.replace(path)
    return "replaced by another file"


def cut_short(path):
    os.truncate(path, path.stat().st_size // 2)
    return "cut short"


@pytest.mark.parametrize("act", [deleted, replaced_by_another, cut_short])
def test_a_file_that_is_taken_away_is_noticed_at_the_next_commit_and_saved(tmp_path, act):
    path = tmp_path / "run.db"
    store = Store(path, write=True)
    store.append([reply(0, text="paid")])
    store.flush()
    what = act(path)
    store.append([reply(1, text="paid too")])
    with pytest.raises(StoreError, match=f"was {what} by another program|damaged") as caught:
        store.flush()
    with contextlib.suppress(StoreError):
        store.close()
    if act is not cut_short:
        assert str(caught.value).endswith(f"is saved in {path}.rescued.db")
        with Store(f"{path}.rescued.db") as saved:
            assert [row.text for row in saved.replies("respond", "q")] == ["paid", "paid too"]


def test_a_disk_without_locks_is_refused_unless_that_is_wanted(tmp_path, monkeypatch):
    def none(self):
        raise NotImplementedError

    monkeypatch.setattr("filelock.FileLock._acquire", none)
    with pytest.raises(DiskError, match=r"the disk has no locks.*--no-lock"):
        Store(tmp_path / "run.db", write=True)
    Store(tmp_path / "run.db", write=True, lock=False).close()


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_disk_whose_locks_do_not_answer_is_not_a_busy_file(tmp_path, monkeypatch, code):
    Store(tmp_path / "run.db", write=True).close()

    def none(*_):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr("fcntl.flock", none)
    with pytest.raises(DiskError, match=r"the disk has no locks.*--no-lock"):
        Store(tmp_path / "run.db", write=True)
    assert not list(tmp_path.glob("*.lock.*"))
    with Store(tmp_path / "run.db") as store:
        assert store.is_busy() is None
    Store(tmp_path / "run.db", write=True, lock=False).close()


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 3 MB."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(place)]
    if not shutil.which("mount") or subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("needs the right to mount a disk")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.slow
def test_a_disk_that_fills_stops_the_run_before_it_buys_what_cannot_be_stored(small_disk):
    path = small_disk / "run.db"
    with OpenAIServer(latency=0.002) as server:
        asked = Settings("openai-api/test/m", "starter", n=300, judge="exact", max_tokens=60, base_url=server.base_url)
        with pytest.raises(DiskError, match="no space left to write"):
            asyncio.run(execute(asked, path))
        paid = server.account.paid.total()
    with Store(path) as store:
        assert 500 < sum(store.count("respond").values()) == paid
