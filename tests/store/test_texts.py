"""The texts of requests: what is common is stored once, and every request comes back as it was."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semece.canonical_json import canonical, digest
from semece.errors import StoreError
from semece.judges.llm import LLMJudge
from semece.records import Question
from semece.store.run_store import Store
from semece.store.texts import TABLES, Texts


def opened():
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.executescript(";".join(TABLES))
    return connection, Texts(connection)


def body_of(*contents, roles=("system", "user")):
    messages = [{"content": text, "role": role} for role, text in zip(roles, contents, strict=False)]
    return {"asked": "llm:x/y", "messages": messages, "decoding": {"max_tokens": 2048, "schema": {"type": "object"}}}


letters = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)


@given(st.lists(st.tuples(st.sampled_from(["system", "user", "completion"]), letters), max_size=4))
def test_every_request_comes_back_as_it_was(messages):
    _, texts = opened()
    body = body_of(*[text for _, text in messages], roles=[role for role, _ in messages])
    key = digest(body)
    texts.put(key, body)
    texts.put(key, body)
    assert canonical(texts.get(key)) == canonical(body)


@pytest.mark.parametrize("text", ['", "' * 40, 'a, "' * 40, f'{"x" * 32}, "', f'{"x" * 31}, "y', ', "', ""])
def test_where_a_text_is_cut_changes_nothing(text):
    _, texts = opened()
    body = body_of("Instructions.", text)
    texts.put(digest(body), body)
    assert texts.get(digest(body)) == body


def test_what_nobody_stored_is_empty():
    assert opened()[1].get(b"x" * 32) == {}


def messages_of_grades(question, answers):
    return [next(LLMJudge("x/y").grade(question, answer)).messages for answer in answers]


def test_instructions_options_question_and_references_are_stored_once_for_all_classes():
    connection, texts = opened()
    question = Question("q", "Which of these is it, and why " + "again and " * 50 + "again?", ("one", "two"))
    sent = messages_of_grades(question, [f"answer {i}" for i in range(30)])
    for system, user in sent:
        body = body_of(system.content, user.content)
        texts.put(digest(body), body)
        assert texts.get(digest(body)) == body
    assert connection.execute("SELECT count(*) FROM texts").fetchone() == (3,)
    assert connection.execute("SELECT count(*), max(length(parts)) < 60 FROM requests").fetchone() == (30, 1)
    whole = connection.execute("SELECT group_concat(text) FROM texts").fetchone()[0]
    assert whole.count("Which of these is it") == whole.count(sent[0][0].content) == 1


def test_a_file_of_the_first_format_is_read_in_one_piece():
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE requests (hash BLOB PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID")
    body = body_of("Instructions.", "Why?")
    connection.execute("INSERT INTO requests VALUES (?, ?)", (digest(body), canonical(body)))
    texts = Texts(connection, whole=True)
    assert texts.get(digest(body)) == body
    assert texts.get(b"x" * 32) == {}


def test_a_text_that_was_changed_is_noticed_by_who_reads_it_and_by_the_doctor(tmp_path):
    body = {
        "asked": "x/m",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}],
    }
    with Store(tmp_path / "a.db", write=True) as store:
        key = store.add_request(body)
        store.flush()
        assert store.integrity_faults() == []
        store._execute("UPDATE texts SET text = replace(text, 'brief', 'chief')")
    with Store(tmp_path / "a.db") as store:
        with pytest.raises(StoreError, match=r"damaged or truncated .*the text of a request is not what was stored"):
            store.request(key)
        assert store.integrity_faults() == ["requests that are not what was stored: 1"]
