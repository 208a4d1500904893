"""The stages: a question is read in as many looks as it has stages, however many classes it has."""

import asyncio
import json

import pytest

from semece.datasets import Dataset
from semece.judges.judged_questions import grade_classes
from semece.judges.llm import LLMJudge
from semece.models import Call, Reply
from semece.records import Partition, Question
from semece.runs.run import Run
from semece.sampling.judge_calls import run_asking
from semece.sampling.settings import Settings
from semece.store.judge_replies import keys_of
from semece.store.run_store import Store, StoredReply
from tests.making_runs import execute

CLASSES = 30


class Different:
    """Gives another answer each time."""

    name, max_choices = "my/model", CLASSES

    async def __call__(self, request, /):
        texts = [f"Answer: thing {i}\nConfidence: 50%" for i in range(request.n)]
        return Call(tuple(Reply(text, "ok", "stop", json.dumps(text)) for text in texts))

    async def aclose(self):
        """Nothing to give back."""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "a.db"
    data = Dataset("two", tuple(Question(f"q{i}", f"Question {i}?", ("thing 1",)) for i in range(2)))
    settings = Settings("my/model", "two", n=CLASSES, judge="fake/judge")
    outcome = asyncio.run(execute(settings, path, dataset=data, model=Different()))
    assert outcome.missing == 0
    return path


def test_every_stage_of_a_question_is_read_once_whatever_the_number_of_classes(run, monkeypatch):
    looks = []
    real = Store.replies
    monkeypatch.setattr(Store, "replies", lambda store, *place: looks.append(place) or real(store, *place))
    with Run(run) as opened:
        assert opened.estimates()["n_classes"].to_list() == [CLASSES] * 2
        assert opened.estimates()["status"].to_list() == ["complete"] * 2
    assert sorted(looks) == sorted((stage, q) for stage in ("respond", "partition", "grade") for q in ("q0", "q1"))


class Once:
    """A judge's caller that counts."""

    def __init__(self, store):
        self.store, self.asked = store, 0

    async def deliver(self, request, slots, judge_text=None):
        del request, judge_text
        self.asked += 1
        slot = slots[0]
        text = '{"verdict": "correct"}'
        row = StoredReply(slot.key, slot.stage, slot.question_id, slot.index, "ok", text, judge=slot.judge)
        self.store.append([row])
        self.store.flush()
        return [row]


def test_two_classes_that_look_alike_to_the_judge_are_asked_about_once():
    """Answers are clipped: two long ones may differ only where the judge does not see it."""
    long = "x" * 5000
    classes = Partition("q", (0, 1), (f"{long}a", f"{long}b"), "exact")
    with Store(":memory:", write=True) as store:
        caller = Once(store)
        judge = LLMJudge("x/y")
        procedure = grade_classes(Question("q", "Why?", ("x",)), classes, judge, [0, 1])
        grades, _ = asyncio.run(run_asking(procedure, store, {"grade": caller}))
    assert [g.verdict for g in grades] == ["correct", "correct"]
    assert caller.asked == 1


def test_a_reply_that_was_read_at_the_second_attempt_stays_as_it_is():
    """Continuing a run looks at both replies, and marks none that can be read."""
    question = Question("q", "Why?", ("x",))
    with Store(":memory:", write=True) as store:
        judge = LLMJudge("x/y")
        key = keys_of(next(judge.grade(question, "x")))[0]
        for status, text in (("unparseable", "It seems right."), ("ok", '{"verdict": "correct"}')):
            store.append([StoredReply(key, "grade", "q", 0, status, text, judge=judge.id, call=status)])
        store.flush()
        caller = Once(store)
        assert asyncio.run(run_asking(judge.grade(question, "x"), store, {"grade": caller})) == "correct"
        assert store.count("grade") == {"ok": 1, "unparseable": 1}
    assert caller.asked == 0
