"""A run: what is missing is asked, what is stored is never asked again, and failures stay failures."""

import asyncio
import json
from dataclasses import replace

import pytest

from semece.datasets import Dataset
from semece.errors import BudgetError, ModelError, SemeceError, StoreError, TransientError
from semece.models import Call, Reply, Usage
from semece.models.fakes.fake_model import FakeModel
from semece.records import Question
from semece.runs.run import Run
from semece.sampling.patience import Patience
from semece.sampling.settings import Settings
from semece.store.run_store import Store
from tests.making_runs import execute

QUICK = Patience(attempts=3, first_wait=0.001, longest_wait=0.002)
DATA = Dataset("four", tuple(Question(f"q{i}", f"Question number {i}?", (f"answer {i}",)) for i in range(4)))


class Counting:
    """A model in front of a model, which counts and can be told to fail."""

    def __init__(self, model, fail=None, name="fake/four"):
        self.model, self.fail, self.name, self.calls, self.choices = model, fail, name, 0, 0
        self.max_choices = model.max_choices if model else 8

    async def __call__(self, request, /):
        self.calls += 1
        if self.fail and (error := self.fail(self.calls, request)):
            raise error
        call = await self.model(request)
        self.choices += len(call.replies)
        return call

    async def aclose(self):
        pass


def fake(**options):
    return Counting(FakeModel(references={q.text: q.references[0] for q in DATA.questions}, **options))


class Scripted:
    """Says what a function of (question text, seed) says."""

    max_choices = 50
    name = "fake/four"

    def __init__(self, say):
        self.say, self.calls = say, 0

    async def __call__(self, request, /):
        self.calls += 1
        texts = [self.say(request.messages[-1].content, (request.seed or 0) + i) for i in range(request.n)]
        replies = [t if isinstance(t, Reply) else Reply(t, "ok", "stop", json.dumps(t)) for t in texts]
        return Call(tuple(replies), Usage(10, 5 * request.n))

    async def aclose(self):
        pass


def settings(**changes):
    return Settings(**{"model": "fake/four", "dataset": "four", "n": 10, "judge": "exact", "patience": QUICK} | changes)


def do(path, answerer, data=DATA, **changes):
    return asyncio.run(execute(settings(**changes), path, dataset=data, model=answerer))


def estimates(path, **options):
    with Run(path, **options) as run:
        return run.estimates()


def test_a_second_invocation_asks_nothing_and_says_the_same(tmp_path):
    first, second = fake(), fake()
    do(tmp_path / "a.db", first)
    before = estimates(tmp_path / "a.db")
    do(tmp_path / "a.db", second)
    assert (first.choices, second.calls) == (40, 0)
    assert before.equals(estimates(tmp_path / "a.db"))


@pytest.mark.parametrize("choices", [1, 3, 8, 50])
def test_topping_up_gives_what_one_go_gives(tmp_path, choices):
    do(tmp_path / "one.db", fake(max_choices=50), n=50)
    do(tmp_path / "two.db", fake(max_choices=choices), n=20)
    more = fake(max_choices=choices)
    do(tmp_path / "two.db", more, n=50)
    assert more.choices == 4 * 30
    with Run(tmp_path / "one.db") as one, Run(tmp_path / "two.db") as two:
        assert one.responses().equals(two.responses())
        assert one.estimates().equals(two.estimates())


def test_repeats_are_drawn_not_copied(tmp_path):
    do(tmp_path / "a.db", fake(pmf=(0.5, 0.5)), n=40)
    assert (estimates(tmp_path / "a.db")["n_classes"] == 2).all()


def test_a_smaller_n_or_fewer_questions_narrow_the_view_and_delete_nothing(tmp_path):
    path, again = tmp_path / "a.db", fake()
    do(path, fake(), n=20)
    whole = estimates(path)
    do(path, again, n=10, limit=2)
    narrowed = estimates(path)
    assert narrowed["n_responses"].to_list() == [10, 10]
    do(path, again, n=20)
    assert again.calls == 0
    assert estimates(path).equals(whole)


def test_two_questions_with_the_same_text_are_two_questions(tmp_path):
    data = Dataset("twins", (Question("a", "Same?", ("x",)), Question("b", "Same?", ("x",))))
    model = Counting(FakeModel(pmf=(0.5, 0.5), references={"Same?": "x"}))
    do(tmp_path / "a.db", model, data, n=40, dataset="twins")
    with Run(tmp_path / "a.db") as run:
        a, b = ([r.answer for r in view.responses] for view in run.question_views())
    assert (len(a), len(b), model.choices) == (40, 40, 80)
    assert a != b


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"temperature": 0.5}, "temperature 1.0, not 0.5"),
        ({"top_p": 0.9}, "top_p 1.0, not 0.9"),
        ({"seed": 1}, "seed 0, not 1"),
        ({"max_tokens": 5}, "max tokens 1024, not 5"),
        ({"elicit": "none"}, "prompt"),
        ({"prompt": "Say it: {question}"}, "prompt"),
        ({"model": "fake/other"}, "model fake/four, not fake/other"),
    ],
)
def test_another_way_of_asking_is_refused_by_name(tmp_path, change, field):
    do(tmp_path / "a.db", fake())
    with pytest.raises(StoreError, match=f"was made with {field}.*-o"):
        do(tmp_path / "a.db", fake(), **change)


def test_another_dataset_under_the_same_name_is_refused(tmp_path):
    do(tmp_path / "a.db", fake())
    with pytest.raises(StoreError, match="was made with dataset content"):
        do(tmp_path / "a.db", fake(), Dataset("four", DATA.questions[:3]))


def test_another_judge_buys_no_response(tmp_path):
    do(tmp_path / "a.db", fake())
    model = fake()
    do(tmp_path / "a.db", model, judge="rules")
    assert model.calls == 0
    with Run(tmp_path / "a.db") as run:
        assert run.judge_names == ("rules", "rules")
    with Run(tmp_path / "a.db", judge="exact") as run:
        assert run.judge_names == ("exact", "exact")


def test_a_broken_call_is_asked_again_and_never_becomes_an_answer(tmp_path):
    def fail(call, request):
        return TransientError("cut", status="broken_body") if call % 2 else None

    model = fake()
    model.fail = fail
    assert do(tmp_path / "a.db", model, patience=replace(QUICK, attempts=20)).missing == 0
    with Run(tmp_path / "a.db") as run:
        assert run.counts == {"parsed": 40, "missing": 0}
    do(tmp_path / "b.db", fake())
    assert estimates(tmp_path / "a.db").equals(estimates(tmp_path / "b.db"))


def test_what_stays_missing_is_counted_and_asked_by_the_next_run(tmp_path):
    def refuse_one(call, request):
        lost = "number 2" in request.messages[-1].content
        return TransientError("busy", status="rate_limited") if lost else None

    model = fake()
    model.fail = refuse_one
    assert do(tmp_path / "a.db", model).missing == 10
    table = estimates(tmp_path / "a.db")
    assert table["status"].to_list() == ["complete", "complete", "incomplete", "complete"]
    with Run(tmp_path / "a.db") as run:
        assert run.complete == (3, 4)
        assert run.failures()["question_id"].to_list() == ["q2"]
        assert any("rate limited" in text for text in run.events)
    again = fake()
    assert do(tmp_path / "a.db", again).missing == 0
    assert again.choices == 10


def test_a_refused_key_stops_at_the_first_call_and_keeps_what_was_delivered(tmp_path):
    def fail(call, request):
        return ModelError("401: the key was refused") if call > 2 else None

    model = fake()
    model.fail = fail
    with pytest.raises(ModelError, match="the key was refused"):
        do(tmp_path / "a.db", model, concurrency=1)
    assert model.calls == 3
    with Run(tmp_path / "a.db") as run:
        assert run.complete == (2, 4)


def test_too_few_choices_are_topped_up(tmp_path):
    class Short(Counting):
        async def __call__(self, request, /):
            call = await super().__call__(request)
            return Call(call.replies[:3], call.usage)

    model = Short(FakeModel(references={q.text: q.references[0] for q in DATA.questions}))
    assert do(tmp_path / "a.db", model).missing == 0
    do(tmp_path / "b.db", fake())
    assert model.calls == 4 * 4
    assert estimates(tmp_path / "a.db").equals(estimates(tmp_path / "b.db"))


def test_deliveries_without_an_answer_are_failures_not_answers(tmp_path):
    def say(text, seed):
        kind = ("ok", "content_filter", "truncated", "refusal")[seed % 4]
        return Reply("Answer: x", kind, kind, "{}")

    model = Scripted(say)
    do(tmp_path / "a.db", model, n=20)
    with Run(tmp_path / "a.db") as run:
        assert run.counts == {"parsed": 20, "content_filter": 20, "truncated": 20, "refusal": 20, "missing": 0}
        assert set(run.estimates()["status"]) == {"too_few"}
        assert set(run.estimates()["n_responses"]) == {5}
    do(tmp_path / "a.db", model, n=20, min_responses=5)
    assert set(estimates(tmp_path / "a.db")["status"]) == {"complete"}
    better = Scripted(lambda text, seed: "Answer: y")
    do(tmp_path / "a.db", better, n=20, retry_failed=True)
    with Run(tmp_path / "a.db") as run:
        assert run.counts == {"parsed": 80, "missing": 0}
        assert set(run.responses()["answer"]) == {"x", "y"}


def test_non_answers_are_a_class_that_is_not_attempted(tmp_path):
    say = Scripted(lambda text, seed: "Answer: I don't know" if seed % 4 else "Answer: Paris\nConfidence: 90%")
    data = Dataset("one", (Question("q", "Capital of France?", ("Paris",)),))
    do(tmp_path / "a.db", say, data, n=20, dataset="one")
    with Run(tmp_path / "a.db") as run:
        view = run.question("q")
        assert sorted(view.grades.values()) == ["correct", "not_attempted"]
        assert (view.estimate.status, view.estimate.correct, view.estimate.sem1) == ("complete", 0.0, 0.75)
        assert view.estimate.verbalized == pytest.approx(0.9)
    do(tmp_path / "a.db", say, data, n=20, dataset="one", not_attempted="exclude")
    assert estimates(tmp_path / "a.db")["status"].to_list() == ["not_attempted"]


def test_a_question_without_a_reference_is_ungraded(tmp_path):
    data = Dataset("one", (Question("q", "Why?"),))
    do(tmp_path / "a.db", Scripted(lambda text, seed: "Answer: because"), data, dataset="one")
    assert estimates(tmp_path / "a.db")["status"].to_list() == ["ungraded"]


def test_a_cap_on_tokens_holds_and_the_next_run_goes_on(tmp_path):
    with pytest.raises(BudgetError, match="cap of 1,500 tokens"):
        do(tmp_path / "a.db", fake(max_choices=1), max_total_tokens=1500, max_tokens=100, concurrency=8)
    with Run(tmp_path / "a.db") as run:
        _, asked, answered = run.spent
        assert 1000 < asked + answered <= 1500
    assert do(tmp_path / "a.db", fake(), max_tokens=100).missing == 0


def test_a_budget_without_a_price_is_refused(tmp_path):
    with pytest.raises(SemeceError, match=r"price of nowhere/x is not known.*--max-total-tokens"):
        do(tmp_path / "a.db", Counting(None, name="nowhere/x"), model="nowhere/x", max_cost=1.0)


def test_results_do_not_depend_on_concurrency_or_order(tmp_path):
    do(tmp_path / "a.db", fake(max_choices=3), concurrency=1)
    do(tmp_path / "b.db", fake(max_choices=7), DATA, concurrency=16)
    assert estimates(tmp_path / "a.db").equals(estimates(tmp_path / "b.db"))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"n": 0}, "n must be from 1 to 20,000; got 0"),
        ({"temperature": -1}, "temperature must be 0 to 2; got -1"),
        ({"temperature": 2.1}, "temperature must be 0 to 2; got 2.1"),
        ({"top_p": 0}, "top-p must be above 0"),
        ({"elicit": "words"}, "elicit must be percent, none, linguistic"),
        ({"grade_classes": "some"}, "grade-classes must be all or mode"),
        ({"ids": ("nope",)}, "no question with id 'nope'"),
        ({"judge": "oracle"}, "there is no judge 'oracle'"),
    ],
)
def test_settings_that_cannot_be_meant_are_one_sentence(tmp_path, change, sentence):
    with pytest.raises(SemeceError, match=sentence):
        do(tmp_path / "a.db", fake(), **change)
    assert not (tmp_path / "a.db").exists()


def test_a_store_that_was_open_before_stays_open_when_it_holds_no_run_or_no_such_judge(tmp_path):
    do(tmp_path / "a.db", fake())
    with Store(tmp_path / "a.db") as store:
        with pytest.raises(SemeceError, match="there is no judge 'oracle'"):
            Run(store, judge="oracle")
        with Run(tmp_path / "a.db") as run:
            assert run.complete == (4, 4)
        assert store.meta("view")["n"] == run.n
    with Store(":memory:", write=True) as store:
        with pytest.raises(StoreError, match="holds no run yet"):
            Run(store)
        assert store.meta("view") is None
