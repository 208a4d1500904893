"""A run judged by a language model that often replies with nonsense."""

import asyncio
import sqlite3

import pytest

from semece.datasets import Dataset
from semece.models.fakes.fake_model import FakeModel
from semece.records import Question
from semece.runs.run import Run
from semece.sampling.patience import Patience
from semece.sampling.settings import Settings
from tests.making_runs import execute

DATA = Dataset("twelve", tuple(Question(f"q{i}", f"Question number {i}?", (f"answer {i}",)) for i in range(12)))
QUICK = Patience(attempts=3, first_wait=0.001, longest_wait=0.002)


def judged(path, judge, **changes):
    model = FakeModel(references={q.text: q.references[0] for q in DATA.questions}, pmf=[0.5, 0.3, 0.2], correct=0)
    options = {"model": model.name, "dataset": "twelve", "n": 8, "judge": judge, "patience": QUICK} | changes
    outcome = asyncio.run(execute(Settings(**options), path, dataset=DATA, model=model))
    with Run(path) as run:
        return outcome.missing, run.estimates()


def rows(path):
    connection = sqlite3.connect(path)
    found = connection.execute("SELECT stage, status, text FROM replies WHERE stage != 'respond'").fetchall()
    connection.close()
    return found


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """Estimates of the same run under a judge that never errs."""
    return judged(tmp_path_factory.mktemp("sound") / "a.db", "fake/judge")[1]


def test_a_judge_that_often_fails_gives_what_a_sound_one_gives_or_nothing(tmp_path, sound):
    """The fake fails on the same prompts every time, so some questions stay without partition or grades."""
    path = tmp_path / "a.db"
    _, found = judged(path, "fake/judge?invalid=.4", concurrency=1)
    assert {status for _, status, _ in rows(path)} == {"ok", "unparseable"}
    whole = found["status"] == "complete"
    assert 0 < whole.sum() < found.height
    # The split correctness needs the grade of every class, the others only that of the deployed one.
    assert found.filter(whole).drop("correct_split").equals(sound.filter(whole).drop("correct_split"))
    assert judged(tmp_path / "b.db", "fake/judge?invalid=.4", concurrency=16)[1].equals(found)


def test_what_cannot_be_read_is_stored_raw_and_gives_no_partition_and_no_verdict(tmp_path):
    path = tmp_path / "a.db"
    missing, found = judged(path, "fake/judge?invalid=1")
    assert missing > 0
    assert found["correct"].null_count() == found.height
    assert set(found["status"]) == {"unpartitioned"}
    stored = rows(path)
    assert {status for _, status, _ in stored} == {"unparseable"}
    assert len(stored) == 2 * len(DATA.questions), "asked twice, once with the fault named"
    assert all(text for *_, text in stored)


def test_another_prompt_of_the_judge_buys_no_response_and_the_file_is_read_without_a_model(tmp_path, sound):
    path = tmp_path / "a.db"
    judged(path, "fake/judge")
    before = len(rows(path))
    missing, found = judged(path, "fake/judge", judge_prompt="strict")
    assert missing == 0
    assert len(rows(path)) == 2 * before
    assert found.equals(sound)
    with Run(path) as run:
        assert run.estimates().equals(found)


def test_a_judge_by_pairs_gives_what_one_that_lists_classes_gives_and_asks_again_for_nothing(tmp_path, sound):
    path = tmp_path / "a.db"
    missing, found = judged(path, "fake/judge", partition_method="pairs")
    assert missing == 0
    assert found.equals(sound)
    before = rows(path)
    assert any("comparison" in text for *_, text in before)
    judged(path, "fake/judge#pairs")
    assert rows(path) == before
    with Run(path) as run:
        assert run.judge_names == ("fake/judge#pairs", "fake/judge")


def test_what_was_judged_with_older_texts_is_read_until_it_is_judged_anew(tmp_path, sound):
    path = tmp_path / "a.db"
    judged(path, "fake/judge#v1")
    before = rows(path)
    with Run(path, judge="fake/judge") as run:
        assert run.judge_names == ("fake/judge#v1", "fake/judge#v1")
        assert run.estimates().equals(sound)
    missing, found = judged(path, "fake/judge")
    assert (missing, len(rows(path)), found.equals(sound)) == (0, 2 * len(before), True)
    with Run(path) as run:
        assert run.judge_names == ("fake/judge", "fake/judge")
