"""What is derived is kept under the id of what derived it; what is stored is tested when it is read."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semece.errors import StoreError
from semece.judges.exact import ExactJudge
from semece.judges.known import open_judge
from semece.records import Question
from semece.runs.health import examine
from semece.runs.run import Run
from semece.runs.scored_samples import score
from semece.sampling import Ledger
from semece.store.derived import Derived, source_of
from semece.store.run_store import FORMAT_VERSION, Store, StoredReply, _updated
from tests.making_runs import change
from tests.store.test_schema import format_of, to_format_1, to_format_2, to_format_3

ROWS = [
    {"id": f"q{i}", "question": f"Number {i}?", "references": ["Paris"], "answers": ["Paris", "Paris", "Lyon", "Rome"]}
    for i in range(4)
]


@pytest.fixture
def path(tmp_path):
    """A run of samples that nobody has read yet."""
    source = tmp_path / "samples.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    score([source], tmp_path / "a.db", judge="exact")
    return tmp_path / "a.db"


def read(path, **judges):
    """Everything that a reader is told of the questions."""
    with Run(path, **judges) as run:
        return run.question_views()


def makers(path):
    """How many rows each maker has."""
    connection = sqlite3.connect(path)
    rows = connection.execute(
        "SELECT name, count(*) FROM derived JOIN makers ON makers.id = derived.maker GROUP BY name"
    ).fetchall()
    connection.close()
    return dict(rows)


@pytest.fixture
def asked(monkeypatch):
    """What the judge `exact` was asked since."""
    calls = []
    for name in ("partition", "grade"):
        real = getattr(ExactJudge, name)
        monkeypatch.setattr(
            ExactJudge,
            name,
            lambda self, question, *rest, real=real: calls.append(question.id) or real(self, question, *rest),
        )
    return calls


def test_what_was_derived_once_is_read_after_that_and_says_the_same(path, asked):
    first = read(path)
    assert {name: asked.count(name) for name in asked} == {f"q{i}": 4 for i in range(4)}, "a partition, three verdicts"
    assert makers(path) == {"partition exact-2": 4, "verdict exact-2": 12, "alarms-2": 4}
    asked.clear()
    assert read(path) == first
    assert not asked


def test_one_question_costs_one_question(path, asked):
    with Run(path) as run:
        one = run.question("q2")
    assert set(asked) == {"q2"}
    assert makers(path)["partition exact-2"] == 1
    asked.clear()
    assert read(path)[2] == one
    assert set(asked) == {"q0", "q1", "q3"}


def test_each_judge_has_its_own_rows_and_a_new_version_derives_anew(path, asked, monkeypatch):
    read(path)
    read(path, judge="rules")
    assert {"partition exact-2", f"partition {open_judge('rules').derived_id}"} <= set(makers(path))
    asked.clear()
    monkeypatch.setattr(ExactJudge, "id", "exact-3")
    with Store(path) as store:
        from semece.judges.judged_questions import FreeJudge, judge_question
        from semece.store.judge_replies import KeptJudge, read_stored

        judges = (KeptJudge(FreeJudge(ExactJudge()), store.derived),) * 2
        [question] = store.questions(["q0"])
        read_stored(judge_question(question, ["Paris"], judges), store)
        store.keep_derived()
    assert asked == ["q0", "q0"]
    assert makers(path)["partition exact-3"] == 1
    assert makers(path)["partition exact-2"] == 4, "what an earlier version derived stays true"


def test_other_answers_are_another_source(path, asked):
    read(path)
    change(path, "UPDATE replies SET text = 'Lyon' WHERE question_id = 'q1' AND position = 0")
    asked.clear()
    assert read(path)[1].partition.labels == (0, 1, 0, 2)
    assert set(asked) == {"q1"}


def test_while_somebody_writes_the_file_it_is_only_read(path, asked):
    with Store(path, write=True):
        before = makers(path)
        first = read(path)
    assert before == makers(path) == {}
    assert first == read(path) == read(path)
    assert makers(path)


@pytest.mark.parametrize("older", [None, to_format_1, to_format_2, to_format_3])
def test_a_file_that_nobody_may_write_is_read_and_stays_as_it_is(path, older, asked):
    expected = read(path)
    if older:
        older(path)
    before, names = path.read_bytes(), sorted(file.name for file in path.parent.iterdir())
    path.chmod(0o444)
    assert read(path) == expected
    assert path.read_bytes() == before
    assert sorted(file.name for file in path.parent.iterdir()) == names
    path.chmod(0o644)


@pytest.mark.parametrize("older", [to_format_1, to_format_2])
def test_an_older_file_that_may_be_written_keeps_what_is_derived_of_it(path, older, asked):
    expected = read(path)
    older(path)
    asked.clear()
    assert read(path) == expected
    assert format_of(path) == FORMAT_VERSION
    assert asked
    asked.clear()
    assert read(path) == expected
    assert not asked


def test_a_store_in_memory_keeps_too():
    with Store(":memory:", write=True) as store:
        store.derived.put("x", b"1", [1])
        store.keep_derived()
        assert Derived(store._execute).get("x", b"1") == [1]


# -- damage


def test_a_derived_row_that_was_changed_is_derived_again_and_doctor_counts_it(path, asked):
    expected = read(path)
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE derived SET value = '\"correct\"' WHERE value = '\"incorrect\"'")
    connection.close()
    with pytest.raises(
        StoreError, match=r"results that are not what was stored, and are derived again when they .*: 8"
    ):
        examine(path)
    asked.clear()
    assert read(path) == expected
    assert len(asked) == 8
    assert examine(path)[0]


def test_a_reply_that_was_changed_is_refused_with_its_place_and_doctor_sets_it_aside(path):
    expected = read(path)
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE replies SET text = 'Paris' WHERE question_id = 'q1' AND position = 2")
    connection.close()
    with pytest.raises(StoreError, match=r"a reply is not what was stored \(respond, question 'q1', index 2\)"):
        read(path)
    with pytest.raises(StoreError, match="replies that are not what was stored: 1, the first: respond, question 'q1'"):
        examine(path)
    with Run(path) as run:
        assert run.question("q0").partition is not None
    assert "damaged rows set aside: 1" in examine(path, set_aside=True)[1][0]
    assert not examine(path)[0]
    with Run(path) as run:
        assert run.counts["missing"] == 1
    score([path.parent / "samples.jsonl"], path, judge="exact")
    assert read(path) == expected


def test_a_reply_that_was_moved_to_another_question_is_refused(path):
    read(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE replies SET question_id = 'q0' WHERE question_id = 'q1' AND position = 2")
    with pytest.raises(StoreError, match="a reply is not what was stored"):
        read(path)


def test_replies_that_are_read_together_are_those_that_are_read_one_by_one(path):
    with Store(path) as store:
        ids = [question.id for question in store.questions()]
        places = [(stage, each) for stage in ("respond", "grade") for each in (*ids, "none")]
        single = {place: store.replies(*place) for place in places}
        with store.read_ahead(["respond", "grade"], [*ids, "none"]):
            assert {place: store.replies(*place) for place in single} == single
            assert store.replies("respond", ids[0]) == single["respond", ids[0]]  # asked again: read again
        assert any(single.values())
        assert single["respond", "none"] == []


@given(st.text(), st.text(), st.integers(0, 99))
def test_every_reply_passes_its_own_test(text, raw, index):
    with Store(":memory:", write=True) as store:
        store.append([StoredReply(b"k", "respond", "q", index, "ok", text, raw)])
        store.flush()
        assert store.integrity_faults() == []
        assert len(store.replies("respond", "q")) == 1


@given(st.recursive(st.none() | st.text() | st.integers() | st.floats(allow_nan=False), st.lists))
def test_a_value_comes_back_as_it_was(value):
    with Store(":memory:", write=True) as store:
        store.derived.put("x", source_of(1), value)
        store.keep_derived()
        found = Derived(store._execute).get("x", source_of(1))
    assert found == json.loads(json.dumps(value))


def test_a_file_whose_writer_was_killed_before_its_commit_is_read_as_it_was(path):
    """A reader who keeps what it derived is such a writer."""
    expected = read(path)
    code = (
        "import os, sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None); c.execute('BEGIN'); "
        "c.execute('PRAGMA cache_size=1'); c.execute('UPDATE replies SET raw = zeroblob(9999)'); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)
    assert Path(f"{path}-journal").stat().st_size > 0
    assert read(path) == expected


def test_the_lock_is_given_back(path):
    read(path)
    with Store(path, write=True) as store:
        assert list(store.questions())
    assert Path(f"{path}.lock").exists()


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        *(("replies", name, "'x'") for name in ("key", "stage", "question_id", "status", "text", "raw", "judge")),
        *(("replies", name, "'x'") for name in ("request", "finish_reason", "call", "provider_id")),
        *(("replies", name, 7) for name in ("position", "input_tokens", "output_tokens", "cost", "latency", "time")),
        *(("replies", "cost", value) for value in (0, -1, "NULL", "''", "CAST(x'ff' AS TEXT)", "zeroblob(3)")),
        *(("replies", "text", value) for value in ("CAST(x'ff' AS TEXT)", "NULLIF(1, 2) || 'a'", "5", "x'50'")),
        ("replies", "superseded", 1),
        *(("replies", "checksum", value) for value in (1, "NULL", "'a'")),
        *(("questions", name, "'x'") for name in ("id", "position", "text", "refs", "metadata", "checksum")),
        ("questions", "text", "CAST(x'ff' AS TEXT)"),
        *(("meta", name, "'{}'") for name in ("value", "checksum")),
        *(("batches", name, "'x'") for name in ("id", "status", "provider_id", "body", "checksum")),
        *(("batches", name, "NULL") for name in ("provider_id", "checksum")),
        *(("events", name, "CAST(x'ff' AS TEXT)") for name in ("class", "text", "checksum")),
        *((table, "time", 2.5) for table in ("batches", "events")),
    ],
)
def test_a_value_that_was_changed_anywhere_in_a_row_is_found_by_who_reads_it(tmp_path, table, column, value):
    path = tmp_path / "a.db"
    readers = {
        "replies": Store.spent,
        "questions": lambda one: list(one.questions()),
        "meta": lambda one: one.meta("view"),
        "batches": Store.batches,
        "events": Store.events,
    }
    with Store(path, write=True) as store:
        store.add_questions([(0, Question("q", "Why?", ("because",), {"level": 1}))])
        store.set_meta("view", {"n": 1})
        row = StoredReply(b"k", "respond", "q", 0, "ok", "a", "{}", "j", b"r", "stop", "c", 3, 4, 0.5, 0.1, "id", 1.5)
        store.append([row])
        store.put_batch("b", "submitting", None, "{}", 1.5)
        store.put_batch("b", "submitted", "batch-1")
        store.add_event("pace", "slower")
    with Store(path) as store:
        assert store.integrity_faults() == []
        assert store.batches() == [("b", "submitted", "batch-1", "{}", 1.5)]
        assert (store.replies("respond", "q"), store.spent()) == ([row], {"respond": (3, 4, 0.5)})
    which = "WHERE name = 'view'" if table == "meta" else ""
    with closing(sqlite3.connect(path)) as connection, connection:
        assert connection.execute(f"UPDATE {table} SET {column} = {value} {which}").rowcount == 1
    with Store(path) as store, pytest.raises(StoreError, match=rf"{path}.*(not what was stored|damaged).*--set-aside"):
        readers[table](store)
    with pytest.raises(StoreError, match=f"{path} is damaged"):
        examine(path)


def test_a_batch_whose_entry_is_damaged_is_neither_waited_for_nor_bought_again_until_it_is_set_aside(tmp_path):
    path = tmp_path / "a.db"
    with Store(path, write=True) as store:
        store.put_batch("b", "submitted", "batch-1", "{}", 1.5)
    data = path.read_bytes()
    assert data.count(b"submitted") == 1
    path.write_bytes(data.replace(b"submitted", b"submItted"))
    for act in (Store.batches, lambda store: Ledger(store).open(), lambda store: store.put_batch("b", "stored", "x")):
        with (
            Store(path, write=True) as store,
            pytest.raises(StoreError, match=r"a batch is not what was stored \('b'\)"),
        ):
            act(store)
    with Store(path, write=True) as store:
        assert store.set_damaged_aside() == 1
        assert store.batches() == store.integrity_faults() == []
        assert store.events() == [("damaged", "the entry of a batch was damaged and was taken out: batch-1")]


def test_a_reply_whose_place_in_the_index_is_damaged_is_missed_by_who_adds_up(tmp_path):
    """The index is changed on the disk: one letter of the question's id, so that its reply is not found."""
    path = tmp_path / "a.db"
    with Store(path, write=True) as store:
        store.append([StoredReply(bytes([i]), "respond", f"question-{i}", 0, "ok", "a") for i in range(9)])
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
        pages = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'place'").fetchone()[0]
        size = connection.execute("PRAGMA page_size").fetchone()[0]
    data = bytearray(path.read_bytes())
    place = data.index(b"question-4", (pages - 1) * size, pages * size)
    data[place] ^= 4
    path.write_bytes(data)
    with Store(path) as store:
        assert store.replies("respond", "question-4") == []
        with pytest.raises(StoreError, match=r"not found where they belong|'uuestion-4', index 0"):
            store.spent()
    with Store(path, write=True) as store:
        assert store.set_damaged_aside() == 0
        assert len(store.replies("respond", "question-4")) == 1


def test_a_reader_goes_on_while_another_process_brings_the_file_up_to_date(path):
    expected = read(path)
    to_format_3(path)
    with Run(path) as run:
        assert run.question("q0") == expected[0]
        Store(path, write=True).close()
        assert run.question_views() == expected
    assert examine(path)[0]


def test_a_reply_of_the_third_format_that_was_changed_is_found_before_and_after_the_migration(path):
    to_format_3(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE replies SET text = 'Paris' WHERE question_id = 'q1' AND position = 2")
    for _ in range(2):
        with pytest.raises(StoreError, match=r"a reply is not what was stored \(respond, question 'q1', index 2\)"):
            read(path)
        Store(path, write=True).close()


def test_a_result_that_was_changed_is_said_by_who_derives_it_again(path):
    read(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE derived SET value = replace(value, 'incorrect', 'correct')")
    with Run(path) as run:
        run.question_views()
        assert any("derived results in" in event and "derived again" in event for event in run.events)
    with Run(path) as run:
        run.question_views()
        assert not any("derived again" in event for event in run.events)


def test_a_result_under_another_maker_is_found_by_the_doctor(path):
    read(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        changed = connection.execute("UPDATE derived SET maker = 3 - maker WHERE maker IN (1, 2)").rowcount
    with pytest.raises(StoreError, match=f"derived again when they are needed: {changed}"):
        examine(path)


# -- columns of a run


def test_numbers_are_read_from_columns_until_a_row_changes(path, monkeypatch):
    with Run(path) as run:
        expected = run.estimates(), run.counts, run.confidences, run.complete, run.spent, run.classes().ids.tolist()
    monkeypatch.setattr("semece.runs.question_views.ViewReader.all", lambda _: pytest.fail("questions were read"))
    with Run(path) as run:
        found = run.estimates(), run.counts, run.confidences, run.complete, run.spent, run.classes().ids.tolist()
    assert found[0].equals(expected[0])
    assert found[1:] == expected[1:]
    monkeypatch.undo()
    with Store(path, write=True) as store:
        store.append([replace(store.replies("respond", "q1")[0], key=b"new", index=4)])
        view = store.meta("view")
        store.set_meta("view", {**view, "n": 5, "sizes": {**view["sizes"], "q1": 5}})
    with Run(path) as run:
        assert run.estimates()["n_responses"].to_list() == [4, 5, 4, 4]


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM replies WHERE stage = 'respond' AND question_id = 'q1' AND position = 3",
        _updated("status", "'refusal'") + " WHERE stage = 'respond' AND question_id = 'q1' AND position = 3",
        _updated("superseded", "1") + " WHERE stage = 'respond' AND question_id = 'q1' AND position = 3",
    ],
    ids=["goes", "changes", "is set aside"],
)
def test_columns_are_made_again_when_a_reply(path, change):
    """The selection is as before: only the rows tell that the numbers are others."""
    with Run(path) as run:
        assert run.estimates()["n_responses"].to_list() == [4, 4, 4, 4]
    with Store(path, write=True) as store, store._transaction():
        assert store._connection.execute(change).rowcount == 1
    with Run(path) as run:
        assert run.estimates()["n_responses"].to_list() == [4, 3, 4, 4]
    with Run(path) as run:
        views = {view.question.id: view.estimate.n_responses for view in run.question_views()}
    assert views["q1"] == 3


def test_columns_that_were_changed_on_the_disk_are_made_again(path):
    with Run(path) as run:
        expected = run.estimates()
    with closing(sqlite3.connect(path)) as connection, connection:
        where = "maker = (SELECT id FROM makers WHERE name LIKE 'all rows: columns-1 %')"
        assert connection.execute(f"UPDATE derived SET value = replace(value, '2', '1') WHERE {where}").rowcount == 1
    with Run(path) as run:
        assert run.estimates().equals(expected)
        assert "were derived again" in run.events[-1]
