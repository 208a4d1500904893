"""Judges on answers that people have judged: what is read, what is asked, what is stored, what is printed."""

import asyncio
import json
import os
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from semece.compare.judge_eval import evaluate_judge, groups_of, verdict_rows
from semece.compare.labelled_files import Labelled, graded_from, narrowed, read_labelled
from semece.errors import BudgetError, ModelError, ParseError, SemeceError, StoreError
from semece.judges.rules.rules_judge import RulesJudge
from semece.records import Question
from semece.sampling.patience import Patience
from semece.sampling.settings import CallSettings
from semece.store.run_store import Store
from tests.servers.openai_server import OpenAIServer

SEMECE = [sys.executable, "-c", "from semece.cli import main; main()"]
QUICK = Patience(attempts=3, first_wait=0.001, longest_wait=0.002)
CAPITALS = {"France": "Paris", "Italy": "Rome", "Spain": "Madrid", "Japan": "Tokyo", "Peru": "Lima"}


def graded_rows():
    """For each country: the capital, its name in capitals, a refusal, a wrong one twice; people agree but for one."""
    for place, (country, capital) in enumerate(CAPITALS.items()):
        head = {"id": country, "question": f"Capital of {country}?", "references": [capital], "system": "ab"[place % 2]}
        yield head | {"answer": capital, "correct": True}
        yield head | {"answer": capital.upper(), "correct": True}
        yield head | {"answer": "I don't know", "correct": False}
        yield head | {"answer": "Atlantis", "correct": False}
        yield head | {"answer": "Atlantis", "correct": country == "Peru"}


def grouped_rows():
    for country, capital in CAPITALS.items():
        answers = [capital, capital.lower(), "Atlantis", "Lost Atlantis"]
        yield {"question": f"Capital of {country}?", "answers": answers, "labels": [7, 7, 3, 3]}


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def labelled(tmp_path):
    return read_labelled(write(tmp_path / "both.jsonl", [*graded_rows(), *grouped_rows()]))


def judged(labelled, judge, *, store=None, pairs=False, progress=None, **calls):
    asked = CallSettings(**{"patience": QUICK, **calls})
    return asyncio.run(evaluate_judge(labelled, judge, store=store, pairs=pairs, progress=progress, calls=asked))


# -- reading


def test_jsonl_csv_and_parquet_hold_the_same(tmp_path):
    rows = [*graded_rows()]
    one = read_labelled(write(tmp_path / "a.jsonl", rows))
    flat = [{**row, "references": json.dumps(row["references"])} for row in rows]
    pl.DataFrame(flat).write_csv(tmp_path / "a.csv")
    pl.DataFrame(rows).write_parquet(tmp_path / "a.parquet")
    for name in ("a.csv", "a.parquet"):
        other = read_labelled(tmp_path / name)
        assert [(r.question.id, r.question.references, r.answer, r.correct) for r in other.graded] == [
            (r.question.id, r.question.references, r.answer, r.correct) for r in one.graded
        ]


def test_grouped_answers_are_read_from_csv_too(tmp_path):
    rows = [{"question": "Q?", "answers": '["a", "b", "a"]', "labels": '["x", "y", "x"]'}]
    pl.DataFrame(rows).write_csv(tmp_path / "a.csv")
    assert read_labelled(tmp_path / "a.csv").grouped[0].labels == (0, 1, 0)


def test_the_spellings_of_the_published_files_are_read(tmp_path):
    row = {"id": "1", "question": "Q?", "gold": ["a"], "answer": "b", "human_correct": False, "annotators": ["No"]}
    one = read_labelled(write(tmp_path / "a.jsonl", [row])).graded[0]
    assert (one.question.references, one.correct, one.question.metadata) == (("a",), False, {"annotators": ["No"]})


@pytest.mark.parametrize(
    ("value", "correct"), [(True, True), ("true", True), ("TRUE", True), ("1", True), (0, False), ("False", False)]
)
def test_spreadsheets_spell_truth_in_many_ways(value, correct):
    assert graded_from({"question": "?", "gold": "a", "answer": "b", "correct": value}, "here").correct is correct


def test_rows_without_an_id_are_of_one_question_if_text_and_references_are(tmp_path):
    rows = [{"question": "Q?", "gold": gold, "answer": str(i), "correct": True} for i, gold in enumerate("aab")]
    ids = [row.question.id for row in read_labelled(write(tmp_path / "a.jsonl", rows)).graded]
    assert ids[0] == ids[1] != ids[2]


GOOD = {"question": "Q?", "references": ["a"], "answer": "b", "correct": True}


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ({"question": "Q?", "references": ["a"]}, "expected the fields 'answer' and 'correct', or 'answers' and 'lab"),
        ({**GOOD, "correct": None}, "correct must be true or false; got None"),
        ({**GOOD, "correct": "yes"}, "correct must be true or false; got 'yes'"),
        ({**GOOD, "correct": 2}, "correct must be true or false; got 2"),
        ({**GOOD, "correct": 1.0}, "correct must be true or false; got 1.0"),
        ({**GOOD, "answer": None}, "answer must be text; got None"),
        ({**GOOD, "references": []}, "expected references to grade against; got none"),
        ({**GOOD, "references": {"a": 1}}, "references must be a text or a JSON list of texts such as"),
        ({**GOOD, "question": " "}, "question must be non-empty text; got ' '"),
        ({"question": "Q?", "answers": ["a"]}, "expected a list 'labels' with the class of each answer; got none"),
        ({"question": "Q?", "answers": ["a"], "labels": [0, 1]}, "one label per response; got 2 for 1"),
        ({"question": "Q?", "answers": ["a"], "labels": [None]}, "an integer or a string; got null at index 0"),
        ({"question": "Q?", "answers": ["a", 3], "labels": [0, 1]}, "answers must be texts; got 3 at index 1"),
        ({"question": "Q?", "answers": [], "labels": []}, "with at least one answer; got []"),
        ({**GOOD, "id": "x", "question": "Another?"}, "an id must name one question; 'x' names another one on line 1"),
    ],
)
def test_a_bad_row_is_named_with_file_line_what_was_expected_and_what_came(tmp_path, row, sentence):
    path = write(tmp_path / "a.jsonl", [{**GOOD, "id": "x"}, row])
    with pytest.raises(ParseError, match=re.escape(f"{path}, line 2: ")) as caught:
        read_labelled(path)
    assert sentence in str(caught.value)


def test_grouped_answers_come_once_per_question(tmp_path):
    row = {"id": "x", "question": "Q?", "answers": ["a"], "labels": [0]}
    with pytest.raises(
        ParseError, match="line 2: a question must come in one row with all its answers; 'x' is also on"
    ):
        read_labelled(write(tmp_path / "a.jsonl", [row, row]))


def test_a_file_without_rows_is_refused(tmp_path):
    with pytest.raises(ParseError, match="has no labelled answers"):
        read_labelled(write(tmp_path / "a.jsonl", []))


def test_questions_and_long_answers_can_be_left_out(labelled):
    two = narrowed(labelled, limit=2)
    assert (len(two.graded), len(two.grouped)) == (10, 2)
    short = narrowed(labelled, max_words=2)
    assert len(short.graded) == 20, "the refusals have three words"
    with pytest.raises(SemeceError, match="no labelled answer is left with at most 2 words"):
        narrowed(Labelled(tuple(r for r in labelled.graded if "know" in r.answer), ()), max_words=2)


def test_answers_are_grouped_by_their_words_or_by_a_field():
    lengths = [0, 2, 3, 8, 9, 30, 31]
    rows = [GOOD | {"answer": " ".join(["word"] * n), "system": f"s{n}"} for n in lengths]
    labelled = Labelled(tuple(graded_from(row, "here") for row in rows), ())
    names = ["up to 2 words"] * 2 + ["3 to 8 words"] * 2 + ["9 to 30 words"] * 2 + ["over 30 words"]
    assert groups_of(labelled) == names
    assert groups_of(labelled, "system") == [f"s{n}" for n in lengths]


# -- judging


@pytest.mark.parametrize("judge", ["rules", "exact", "fake/judge"])
def test_every_judge_gives_one_verdict_per_answer_and_one_partition_per_question(labelled, judge):
    found = judged(labelled, judge)
    assert Counter(found.verdicts) == {"correct": 10, "not_attempted": 5, "incorrect": 10}
    assert set(found.classes) == {(0, 0, 1, 1) if judge == "rules" else (0, 0, 1, 2)}
    assert found.missing == 0


def test_verdicts_are_those_of_the_judge_alone(labelled):
    judge = RulesJudge()
    expected = tuple(judge.grade(row.question, row.answer) for row in labelled.graded)
    assert judged(labelled, "rules").verdicts == expected


def test_a_question_is_graded_against_the_references_of_the_row():
    rows = [{"id": "x", "question": "Q?", "gold": gold, "answer": "a", "correct": True} for gold in ("a", "b")]
    found = judged(Labelled(tuple(graded_from(row, "here") for row in rows), ()), "fake/judge")
    assert found.verdicts == ("correct", "incorrect")


def test_graded_answers_are_grouped_on_demand(labelled):
    found = judged(labelled, "rules", pairs=True)
    assert found.pairs == dict.fromkeys(CAPITALS, (0, 0, 1, 2, 2))
    assert judged(labelled, "rules").pairs == {}


def test_the_judge_given_cannot_be_measured(labelled):
    with pytest.raises(SemeceError, match="measure rules, exact or a model"):
        judged(labelled, "given")


def test_what_a_model_cannot_say_is_no_verdict_and_no_class(labelled):
    found = judged(labelled, "fake/judge?invalid=1")
    assert Counter(found.verdicts) == {None: 20, "not_attempted": 5}
    assert set(found.classes) == {None}
    assert found.missing == 20, "15 different answers and 5 questions"
    rows = verdict_rows(labelled, found)
    assert rows["verdict"].null_count() == 20


def test_concurrency_changes_nothing(labelled):
    assert judged(labelled, "fake/judge?invalid=.5", concurrency=1) == judged(
        labelled, "fake/judge?invalid=.5", concurrency=16
    )


def test_a_variant_of_a_judge_is_another_judge(labelled, tmp_path):
    path = tmp_path / "a.db"
    assert judged(labelled, "fake/judge", store=path).judge == "fake/judge"
    assert judged(labelled, "fake/judge#strict", store=path).judge == "fake/judge#strict"
    connection = sqlite3.connect(path)
    stored = Counter(connection.execute("SELECT judge FROM replies").fetchall())
    connection.close()
    assert set(stored.values()) == {20}, "15 distinct answers that are none, 5 questions"


# -- stored replies


@pytest.fixture
def served(monkeypatch):
    """A local service with a judge, at its own base URL."""
    with OpenAIServer() as server:
        monkeypatch.setenv("LOCAL_BASE_URL", server.base_url)
        yield server


JUDGE = "openai-api/local/judge"


def test_each_answer_is_asked_once_and_a_second_run_asks_nothing(labelled, tmp_path, served):
    first = judged(labelled, JUDGE, store=tmp_path / "a.db")
    assert served.summary()["paid"] == 20
    served.shutdown()
    assert judged(labelled, JUDGE, store=tmp_path / "a.db") == first
    assert served.summary()["paid"] == 20


def test_more_rows_ask_for_themselves_only(labelled, tmp_path, served):
    path = tmp_path / "a.db"
    judged(narrowed(labelled, limit=2), JUDGE, store=path)
    before = served.summary()["paid"]
    judged(labelled, JUDGE, store=path)
    assert before == 8
    assert served.summary()["paid"] == 20


def test_faults_are_retried_and_change_nothing(labelled, tmp_path, monkeypatch):
    sound = judged(labelled, "fake/judge").verdicts
    faults = {"429": 0.2, "500": 0.1, "reset": 0.1, "cut": 0.1}
    stubborn = Patience(attempts=30, first_wait=0.001, longest_wait=0.01)
    with OpenAIServer(faults=faults) as server:
        found = judged(labelled, JUDGE, store=tmp_path / "a.db", base_url=server.base_url, patience=stubborn)
    assert found.verdicts == sound
    assert found.missing == 0


def test_a_refusal_is_no_verdict_and_is_not_asked_again(labelled, tmp_path):
    with OpenAIServer(faults={"refusal": 1.0}) as server:
        for _ in range(2):
            found = judged(labelled, JUDGE, store=tmp_path / "a.db", base_url=server.base_url)
            assert Counter(found.verdicts) == {None: 20, "not_attempted": 5}
            assert set(found.classes) == {None}
            assert found.missing == 0
        assert server.summary()["paid"] == 20


def test_a_cap_stops_and_the_next_run_goes_on(labelled, tmp_path, served):
    path = tmp_path / "a.db"
    with pytest.raises(BudgetError):
        judged(labelled, JUDGE, store=path, max_total_tokens=5000, concurrency=1)
    part = served.summary()["paid"]
    assert 0 < part < 20
    assert judged(labelled, JUDGE, store=path).missing == 0
    assert served.summary()["paid"] == 20


def test_a_run_file_is_refused_and_a_file_of_replies_is_no_run(tmp_path, labelled):
    path = tmp_path / "a.db"
    with Store(path, write=True) as store:
        store.set_meta("identity", {"model": "m", "dataset": "d"})
    with pytest.raises(StoreError, match="holds a run; write the judge's replies to another file with -o"):
        judged(labelled, "fake/judge", store=path)
    judged(labelled, "fake/judge", store=tmp_path / "b.db")
    command = [*SEMECE, "run", "-m", "fake/?pmf=1", "-d", "starter", "-n", "2", "-o", "b.db"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2
    assert "b.db was made with model judge-eval" in done.stderr


def test_a_judge_that_cannot_be_opened_leaves_no_file(tmp_path, labelled):
    path = tmp_path / "a.db"
    with pytest.raises(ModelError, match="OPENAI_API_KEY"):
        judged(labelled, "openai/gpt-4o-mini", store=path)
    assert not path.exists()


def test_rules_leave_no_file(tmp_path, labelled):
    judged(labelled, "rules", store=tmp_path / "a.db")
    assert not (tmp_path / "a.db").exists()


def delivered(path):
    if not path.exists():
        return 0
    connection = sqlite3.connect(path)
    try:
        return connection.execute("SELECT count(*) FROM replies").fetchone()[0]
    except sqlite3.Error:
        return 0
    finally:
        connection.close()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_stopped_evaluation_loses_nothing_and_goes_on(tmp_path, number):
    rows = [{**GOOD, "id": f"q{i}", "question": f"Q{i}?", "answer": f"answer {i}"} for i in range(60)]
    write(tmp_path / "a.jsonl", rows)
    with OpenAIServer(latency=0.03) as server:
        environment = {**os.environ, "LOCAL_BASE_URL": server.base_url}
        command = [*SEMECE, "judge-eval", "a.jsonl", "-j", JUDGE, "-o", "a.db", "--concurrency", "2", "--json"]
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": tmp_path}
        process = subprocess.Popen(command, env=environment, **options)
        deadline = time.monotonic() + 60
        while delivered(tmp_path / "a.db") < 20 and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
        landed = delivered(tmp_path / "a.db")
        assert 20 <= landed < 57
        if number == signal.SIGTERM:
            assert process.returncode == 143
            assert "run it again to continue: semece judge-eval a.jsonl" in err
        again = subprocess.run(command, env=environment, **options)
        assert again.returncode == 0, again.stderr
        assert json.loads(again.stdout)["grading"][0]["answers"] == 60
        assert delivered(tmp_path / "a.db") == 60
        assert server.summary()["paid_twice"] <= 2, "at most what was in flight"


# -- the command


def test_the_command_prints_verdicts_and_classes_of_every_judge(semece, tmp_path):
    write(tmp_path / "a.jsonl", [*graded_rows(), *grouped_rows()])
    code, out, err = semece("judge-eval", "a.jsonl", "-j", "rules", "-j", "fake/judge", "--pairs")
    assert (code, err) == (0, "")
    assert "Verdicts against people's" in out
    assert re.search(r"^rules +all +25 +0\.96 \[", out, re.MULTILINE)
    assert re.search(r"^fake/judge +3 to 8 words +5 +1\.00 \[", out, re.MULTILINE)
    assert "Classes against people's" in out
    assert re.search(r"^rules +30 +0\.00 \[0\.00, \d\.\d\d\] +0\.00", out, re.MULTILINE)
    assert re.search(r"^fake/judge +30 +0\.00 \[0\.00, \d\.\d\d\] +0\.50", out, re.MULTILINE)
    assert "Classes of graded answers" in out
    assert sorted(path.name for path in (tmp_path / "runs").iterdir() if path.suffix == ".db") == ["a--judge-eval.db"]


def test_json_has_every_number_and_the_confusion(semece, tmp_path):
    write(tmp_path / "a.jsonl", graded_rows())
    code, out, _ = semece("judge-eval", "a.jsonl", "-j", "rules", "--json", "--by", "system", "--list", 1)
    assert code == 0
    found = json.loads(out)
    assert set(found) == {"grading", "disagreements", "recommendations", "shortfalls"}
    every, a, b = found["grading"]
    assert [row["group"] for row in (every, a, b)] == ["all", "a", "b"]
    assert [every[name] for name in ("both", "judge_only", "people_only", "neither")] == [10, 0, 1, 14]
    assert every["agreement"] == pytest.approx(24 / 25)
    assert every["recall"] == pytest.approx(10 / 11)
    assert every["precision"] == 1
    assert every["false_correct"] == 0
    assert every["kappa_low"] is None, "no interval for five questions"
    assert (every["not_attempted"], every["ungraded"]) == (5, 0)
    assert a["answers"] == 15
    assert b["answers"] == 10
    wrong = found["disagreements"]
    assert [(row["verdict"], row["answer"], row["line"]) for row in wrong] == [("incorrect", "Atlantis", 25)]


def test_disagreements_are_listed_in_words(semece, tmp_path):
    write(tmp_path / "a.jsonl", graded_rows())
    _, out, _ = semece("judge-eval", "a.jsonl", "-j", "rules", "--list", 3)
    assert "line 25: rules says incorrect, people say correct: 'Atlantis' (references: Lima)" in out


def test_missing_verdicts_exit_with_three_and_are_counted(semece, tmp_path):
    write(tmp_path / "a.jsonl", graded_rows())
    code, out, err = semece("judge-eval", "a.jsonl", "-j", "fake/judge?invalid=1")
    assert code == 3
    assert "15 of the judge's replies are missing or unreadable; run it again to continue: semece judge-eval" in err
    assert re.search(r"ungraded$", out, re.MULTILINE)
    assert re.search(r"all +5 .* 20$", out, re.MULTILINE)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["absent.jsonl", "-j", "rules"], "absent.jsonl cannot be read"),
        (["a.jsonl", "-j", "me"], "there is no judge 'me'"),
        (["a.jsonl", "-j", "openai/x"], "OPENAI_API_KEY"),
        (["a.jsonl", "-j", "openai/x#lenient"], "after # a judge's spelling takes default, strict, loose"),
        (["a.jsonl", "-j", "rules#strict"], "rules has no variants"),
        (["a.jsonl", "-j", "fake/judge", "--by", "model"], "line 1 has no field 'model' to group by; it has system"),
        (["a.jsonl", "-j", "fake/judge", "--concurrency", "0"], "concurrency must be from 1 to 10,000, or auto; got 0"),
        (["a.jsonl", "-j", "fake/judge", "--env-file", "no.env"], "no.env does not exist"),
    ],
)
def test_wrong_input_is_one_sentence_and_leaves_no_file(semece, tmp_path, words, sentence):
    write(tmp_path / "a.jsonl", graded_rows())
    code, out, err = semece("judge-eval", *words)
    assert code == 2
    assert sentence in err
    assert "Traceback" not in err
    assert out == ""
    assert not list(tmp_path.rglob("*.db"))


# -- real data


@pytest.mark.shared_data
@pytest.mark.slow
def test_the_numbers_on_real_answers_are_those_of_the_judge_alone(semece, shared_data):
    path = shared_data / "human" / "nq301.jsonl"
    code, out, _ = semece("judge-eval", path, "-j", "rules", "-j", "exact", "--json")
    assert code == 0
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    judge = RulesJudge()
    said = [judge.grade(Question(r["id"], r["question"], tuple(r["gold"])), r["answer"]) == "correct" for r in rows]
    whole = [row for row in json.loads(out)["grading"] if row["group"] == "all"]
    assert (whole[0]["answers"], whole[0]["questions"]) == (1490, 301)
    agreement = sum(one == r["human_correct"] for one, r in zip(said, rows, strict=True)) / 1490
    assert whole[0]["agreement"] == pytest.approx(agreement, abs=1e-12)
    wrong = [one for one, r in zip(said, rows, strict=True) if not r["human_correct"]]
    assert whole[0]["false_correct"] == pytest.approx(sum(wrong) / len(wrong), abs=1e-12)
    assert whole[1]["agreement"] == pytest.approx(0.658, abs=0.01), "published exact match"
    assert whole[0]["agreement_low"] > whole[1]["agreement_high"]


def test_a_cap_says_the_command_that_goes_on(semece):
    rows = [{"question": f"Q{i}?", "references": ["a"], "answer": "a b", "correct": True} for i in range(20)]
    Path("a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ("judge-eval", "a.jsonl", "-j", "fake/judge", "--concurrency", 1, "--max-total-tokens", 3_000)
    code, out, err = semece(*words)
    for _ in range(6):
        assert (code, out) == (3, "")
        assert "Traceback" not in err
        (line,) = [line for line in err.splitlines() if line.startswith("semece: ")]
        sentence, command = line.split("; run it again with a higher cap to continue: semece ")
        assert "tokens is reached" in sentence
        code, out, err = semece(*shlex.split(command))
        if not code:
            break
    assert code == 0
    assert "Verdicts against people's" in out
