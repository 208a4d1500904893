"""What a run will cost, said before: near what the provider counts, and nothing is asked."""

import asyncio
import random
import re
from dataclasses import replace

import pytest

from semece.datasets import Dataset, open_dataset, question_from
from semece.errors import BudgetError, ModelError, ParseError, SemeceError, StoreError, in_dollars
from semece.models import Call, Decoding, Message, Reply, Request, Usage
from semece.sampling import price_plan
from semece.sampling.budget import Budget, Price, estimated_tokens, known_price, prompt_tokens, read_prices
from semece.sampling.job import cautions, resolve
from semece.sampling.patience import Patience
from semece.sampling.price_plan import check_judges, plan_text
from semece.sampling.settings import Settings
from semece.store.run_store import Store
from tests.making_runs import execute
from tests.servers.openai_server import OpenAIServer

STUBBORN = Patience(attempts=5, first_wait=0.002, longest_wait=0.05)


def plan(settings, path, **options):
    return price_plan.plan(resolve(settings, path), **options)


@pytest.mark.shared_data
def test_input_tokens_are_within_fifteen_percent_of_what_the_server_counts(tmp_path, shared_data, monkeypatch):
    spelling = f"simpleqa={shared_data / 'questions' / 'simple_qa_test_set.csv'}"
    with OpenAIServer(choices=8) as server:
        monkeypatch.setenv("TEST_BASE_URL", server.base_url)
        settings = Settings(
            "openai-api/test/m", spelling, n=16, limit=40, judge="openai-api/test/judge", patience=STUBBORN
        )
        planned = {stage.name: stage for stage in plan(settings, tmp_path / "a.db").stages}
        assert not (tmp_path / "a.db").exists()
        asyncio.run(execute(settings_without_judge(settings), tmp_path / "a.db"))
        counted = server.account.input_tokens
        assert planned["respond"].calls == server.account.requests["POST /v1/chat/completions"] == 80
    assert abs(planned["respond"].input_tokens / counted - 1) < 0.15
    assert {"partition", "grade"} < set(planned)


def settings_without_judge(settings):
    return replace(settings, judge="exact")


def test_what_is_stored_is_not_planned_again_and_its_length_is_used(tmp_path):
    settings = Settings("fake/?pmf=1", "starter", n=10)
    before = plan(settings, tmp_path / "a.db")
    assert (before.stages[0].calls, before.measured) == (24, False)
    asyncio.run(execute(settings, tmp_path / "a.db"))
    after = plan(settings, tmp_path / "a.db")
    assert (after.stages[0].calls, after.measured) == (0, True)
    with Store(tmp_path / "a.db") as store:
        assert after.answer_tokens == round(store.spent()["respond"][1] / 240) == 4
    assert plan(settings, tmp_path / "a.db", expected_tokens=99).answer_tokens == 99


class Thinking:
    """Writes `hidden` tokens per choice that nobody sees; its prompts take thrice what is estimated."""

    name, max_choices = "fake/thinking", 5

    def __init__(self, hidden=2000, counts=True, stopped=()):
        self.hidden, self.counts, self.stopped, self.calls = hidden, counts, stopped, 0

    async def __call__(self, request, /):
        self.calls += 1
        status = "truncated" if self.calls in self.stopped else "ok"
        replies = (Reply("Answer: Paris\nConfidence: 90%", status, "stop", "{}"),) * request.n
        usage = Usage(3 * prompt_tokens(request.messages), self.hidden * request.n)
        return Call(replies, usage if self.counts else None)

    async def aclose(self):
        pass


THINKING = Settings("fake/thinking", "starter", n=5, judge="rules", max_tokens=4000, concurrency=1)


def test_tokens_that_nobody_sees_are_planned_as_they_were_paid_and_prompts_as_they_were_counted(tmp_path):
    path = tmp_path / "a.db"
    asyncio.run(execute(THINKING, path, model=Thinking()))
    more = plan(replace(THINKING, n=10), path)
    [stage] = more.stages
    assert (more.answer_tokens, more.measured) == (2000, True)
    assert (stage.calls, stage.output_tokens) == (24, 24 * 5 * 2000)
    with Store(path) as store:
        assert stage.input_tokens == store.spent()["respond"][0], "as many calls with the same prompts"
    assert plan(replace(THINKING, n=10), path, expected_tokens=7).stages[0].output_tokens == 24 * 5 * 7
    assert "what the stored replies took" in plan_text(more)


def test_prompts_are_scaled_only_when_enough_calls_were_counted(tmp_path):
    few = replace(THINKING, limit=19)
    asyncio.run(execute(few, tmp_path / "a.db", model=Thinking()))
    fresh = plan(THINKING, tmp_path / "nothing.db").stages[0].input_tokens
    assert plan(replace(few, n=10), tmp_path / "a.db").stages[0].input_tokens < fresh
    asyncio.run(execute(replace(few, limit=20), tmp_path / "a.db", model=Thinking()))
    assert plan(replace(few, limit=20, n=10), tmp_path / "a.db").stages[0].input_tokens > 2 * fresh


def test_where_nobody_counts_the_stored_texts_are_measured(tmp_path):
    asyncio.run(execute(THINKING, tmp_path / "a.db", model=Thinking(counts=False)))
    made = plan(replace(THINKING, n=10), tmp_path / "a.db")
    assert (made.answer_tokens, made.measured) == (8, True)


def test_a_judges_calls_are_planned_as_its_calls_were(tmp_path):
    judged = Settings("fake/?pmf=.5,.3,.2", "starter", n=10, limit=22, judge="fake/judge")
    asyncio.run(execute(judged, tmp_path / "a.db"))
    _, *stages = plan(replace(judged, limit=24), tmp_path / "a.db").stages
    with Store(tmp_path / "a.db") as store:
        spent = store.spent()
        calls = {name: sum(store.count(name).values()) for name in ("partition", "grade")}
    for stage in stages:
        assert stage.calls > 0
        assert stage.output_tokens == round(stage.calls * spent[stage.name][1] / calls[stage.name])
        assert stage.input_tokens / stage.calls == pytest.approx(spent[stage.name][0] / calls[stage.name], rel=0.3)


def test_a_file_that_was_asked_in_another_way_is_refused_as_the_run_refuses_it(tmp_path):
    asyncio.run(execute(THINKING, tmp_path / "a.db", model=Thinking()))
    with pytest.raises(StoreError, match=r"was made with temperature 1\.0, not 0\.5"):
        plan(replace(THINKING, temperature=0.5), tmp_path / "a.db")


def test_what_is_asked_again_on_demand_is_planned_on_demand(tmp_path):
    asyncio.run(execute(THINKING, tmp_path / "a.db", model=Thinking(stopped={2, 7})))
    assert plan(THINKING, tmp_path / "a.db").stages[0].calls == 0
    again, model = replace(THINKING, retry_failed=True), Thinking()
    planned = plan(again, tmp_path / "a.db")
    assert (planned.stages[0].calls, planned.missing) == (2, 10)
    asyncio.run(execute(again, tmp_path / "a.db", model=model))
    assert model.calls == 2


def test_prices_are_the_users_own_first_then_the_known_ones_else_unknown():
    assert known_price("nowhere/x") is None
    live, batch = known_price("openai/gpt-4o-mini"), known_price("openai/gpt-4o-mini", batch=True)
    assert live.input == pytest.approx(0.15e-6)
    assert batch.input == pytest.approx(live.input / 2)
    own = {"openai/gpt-4o-mini": Price(1.0, 2.0)}
    assert known_price("openai/gpt-4o-mini", own) == Price(1.0, 2.0)


def test_an_unknown_price_is_said_and_tokens_are_always_there(tmp_path, monkeypatch):
    monkeypatch.setenv("TEST_BASE_URL", "http://127.0.0.1:9/v1")
    text = plan_text(plan(Settings("openai-api/test/m", "starter", judge="rules"), tmp_path / "a.db"))
    assert "price unknown" in text
    assert "tokens in" in text
    assert "an assumption" in text


PAID = "openai/gpt-4o-mini"


def test_who_names_no_judge_is_told_what_the_models_own_judging_costs_as_a_dry_run_says(semece):
    code, out, err = semece("run", "-m", PAID, "-d", "starter")
    told = re.fullmatch(rf"semece: name a judge: --judge rules \(free\) or --judge {PAID} \((.*) for this run\)\n", err)
    made = plan(Settings(PAID, "starter", judge=PAID), "absent.db")
    cost = sum(stage.cost for stage in made.stages[1:])
    assert (code, out, told[1]) == (2, "", f"about {in_dollars(cost)}")
    assert cost > 0.005
    assert semece("run", "-m", PAID, "-d", "starter", "--dry-run")[2] == err


def test_the_told_price_is_that_of_the_stages_and_questions_that_would_be_judged_and_of_batches():
    def told(**options):
        with pytest.raises(SemeceError) as caught:
            check_judges(Settings(PAID, "starter", **options))
        return str(caught.value).partition(f"--judge {PAID} ")[2]

    own = {PAID: Price(0.001, 0.002)}
    all_of_it, graded, few = (
        float(re.fullmatch(r"\(about \$([\d,.]+) for this run\)", told(prices=own, **more))[1].replace(",", ""))
        for more in ({}, {"partition_judge": "rules"}, {"limit": 3})
    )
    assert all_of_it > graded > few > 0
    assert re.fullmatch(r"\(about \$0\.00\d+ for this run\)", told(limit=1))
    assert told(batch=True, n=500) != told(n=500)
    assert told(n=500).startswith("(about $")


def test_a_judge_of_unknown_price_is_named_without_one():
    with pytest.raises(SemeceError, match=r"--judge rules \(free\) or --judge openai-api/test/m$"):
        check_judges(Settings("openai-api/test/m", "starter"))


def test_a_judge_on_this_machine_is_told_to_be_free():
    with pytest.raises(SemeceError, match=r"--judge ollama/m \(free\)$"):
        check_judges(Settings("ollama/m", "starter"))


def test_a_judge_that_needs_several_calls_for_a_question_is_planned_so():
    judged = {n: plan(Settings(PAID, "starter", n=n, limit=1, judge=PAID), "absent.db").stages[1] for n in (133, 500)}
    assert [judged[n].calls for n in (133, 500)] == [1, 5]
    assert judged[133].output_tokens == 3 * 60
    assert 3 * 225 <= judged[500].output_tokens <= 3 * (225 + 4 * 6)


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("abcd", 1), ("abcde", 2), ("日本", 2), ("é", 1)])
def test_tokens_are_estimated_by_bytes_and_by_character_for_cjk(text, tokens):
    assert estimated_tokens(text) == tokens


def test_a_budget_never_passes_its_cap_however_calls_overlap():
    rng, price = random.Random(1), Price(0.001, 0.002)
    budget = Budget(max_cost=20.0, max_total_tokens=15_000)
    request = Request((Message("user", "x" * 40),), Decoding(max_tokens=100), n=2)
    open_calls, cost, tokens = [], 0.0, 0
    for _ in range(2000):
        if open_calls and rng.random() < 0.5:
            used = rng.randint(0, 200)
            spent = price.input * 14 + price.output * used
            budget.settle(open_calls.pop(rng.randrange(len(open_calls))), spent, 14 + used)
            cost, tokens = cost + spent, tokens + 14 + used
        else:
            try:
                open_calls.append(budget.reserve(request, price))
            except BudgetError:
                continue
        assert cost <= 20.0
        assert tokens <= 15_000
    assert cost > 15 or tokens > 12_000


def test_a_dry_run_of_a_judge_counts_its_real_prompts(tmp_path):
    data = open_dataset("starter")
    made = plan(Settings("fake/?pmf=1", "starter", n=50, judge="openai/gpt-4o-mini"), tmp_path / "a.db")
    assert isinstance(data, Dataset)
    stages = {stage.name: stage for stage in made.stages}
    assert stages["partition"].calls == 24
    assert stages["grade"].calls == 24 * 6
    assert stages["partition"].input_tokens > 24 * 200


def test_what_a_judge_has_said_is_not_planned_again(tmp_path):
    judged = Settings("fake/?pmf=.5,.3,.2", "starter", n=10, judge="fake/judge", patience=STUBBORN)
    path = tmp_path / "a.db"
    assert [stage.calls > 0 for stage in plan(judged, path).stages] == [True, True, True]
    asyncio.run(execute(settings_without_judge(judged), path))
    respond, partition, grade = plan(judged, path).stages
    assert (respond.calls, partition.calls, grade.calls) == (0, 24, 24 * 6)
    asyncio.run(execute(judged, path))
    assert [stage.calls for stage in plan(judged, path).stages] == [0, 0, 0]
    every = [stage.calls for stage in plan(replace(judged, n=20), path).stages]
    assert every == [24, 24, 24 * 6]
    other = plan(replace(judged, judge_prompt="strict"), path).stages
    assert [stage.calls for stage in other] == [0, 24, 24 * 6]


def test_what_is_planned_for_a_judge_of_stored_answers_is_what_it_is_asked(tmp_path, monkeypatch):
    data = open_dataset("starter")
    with OpenAIServer(references={q.text: q.references[0] for q in data.questions}) as server:
        monkeypatch.setenv("TEST_BASE_URL", server.base_url)
        answers = Settings("fake/?pmf=.5,.3,.2", "starter", n=10, judge="exact")
        judged = replace(answers, judge=None, partition_judge="exact", grade_judge="openai-api/test/judge")
        asyncio.run(execute(answers, tmp_path / "a.db"))
        (_, planned) = plan(judged, tmp_path / "a.db").stages
        asyncio.run(execute(judged, tmp_path / "a.db"))
        assert planned.calls == server.account.requests["POST /v1/chat/completions"]
        assert abs(planned.input_tokens / server.account.input_tokens - 1) < 0.15


@pytest.mark.parametrize(
    "value",
    [3, {"input": 1}, {"input": -1, "output": 1}, {"input": "1", "output": 1}, {"input": float("nan"), "output": 1}],
)
def test_a_price_that_is_none_is_named_with_its_file(value):
    with pytest.raises(ParseError, match=r"^c\.toml: \[prices\] 'x/y' must be \{ input = USD, output = USD \} per mil"):
        read_prices({"x/y": value}, "c.toml")


# --- before anything is paid


def told_of(rows, **changes):
    questions = tuple(question_from({"id": str(place), **row}, "here") for place, row in enumerate(rows))
    settings = Settings("openai-api/test/m", "mine", **{"judge": "exact", "n": 4} | changes)
    return cautions(resolve(settings, "absent.db", dataset=Dataset("mine", questions)))


def test_what_cannot_be_graded_is_said_with_the_column_that_may_be_meant():
    row = {"question": "Why?", "refrences": ["because"]}
    [sentence] = told_of([row, row | {"question": "When?"}])
    assert sentence == (
        "no question has a reference, so they are asked and grouped but not graded; is the column 'refrences' meant? "
        "Its name must be 'references'"
    )
    [sentence] = told_of([{"question": "Why?", "reference": "b"}, {"question": "When?", "id": "w"}])
    assert sentence.startswith("1 of 2 questions have no reference, so they")
    assert sentence.endswith("(the first: w)")


def test_one_answer_and_questions_that_are_there_twice_are_said():
    rows = [{"question": "Why?", "reference": "b"}] * 3
    assert told_of(rows, n=1) == [
        "2 questions are there again under another id, and paid for again (the first: 'Why?')",
        "one answer per question (-n 1): whether answers agree with each other cannot be seen",
    ]


def test_prompts_that_go_to_several_places_are_said(monkeypatch):
    rows = [{"question": "Why?", "reference": "b"}]
    monkeypatch.setenv("OTHER_BASE_URL", "http://127.0.0.1:2/v1")
    where = "prompts and answers go to several places: openai-api/test/m at 127.0.0.1:1, "
    found = {
        judge: told_of(rows, judge=judge, base_url="http://me:word@127.0.0.1:1/v1")
        for judge in ("openai-api/other/judge", "openai/gpt-4o-mini", "anthropic/claude-haiku-4-5", "openai-api/test/m")
    }
    assert [sentences and sentences[0].removeprefix(where) for sentences in found.values()] == [
        "openai-api/other/judge at 127.0.0.1:2; --base-url is for the model alone",
        "openai/gpt-4o-mini at api.openai.com; --base-url is for the model alone",
        "anthropic/claude-haiku-4-5 at Anthropic; --base-url is for the model alone",
        [],
    ]


def test_a_dry_run_says_who_cannot_be_asked_and_whose_price_is_not_known(semece, monkeypatch):
    monkeypatch.setenv("TEST_BASE_URL", "http://127.0.0.1:9/v1")
    words = ("run", "-m", "openai-api/test/m", "-d", "starter", "-n", 2, "-j", "openai/gpt-4o-mini", "--dry-run")
    code, out, err = semece(*words)
    assert code == 0
    assert "note: openai/gpt-4o-mini cannot be asked now: openai/gpt-4o-mini needs a key: set OPENAI_API_KEY" in err
    assert re.search(
        r"^together   \$0\.0\d+ live, and what openai-api/test/m takes: its price is not known", out, re.MULTILINE
    )


def test_a_judge_that_cannot_be_asked_stops_a_begun_run_before_more_is_bought(tmp_path, monkeypatch):
    path = tmp_path / "a.db"
    with OpenAIServer() as server:
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        asked = Settings("openai-api/test/m", "starter", n=4, limit=4, judge="openai/judge", base_url=server.base_url)
        with pytest.raises(BudgetError):
            asyncio.run(execute(replace(asked, max_total_tokens=4500, concurrency=1), path))
        before = server.account.requests.total()
        monkeypatch.delenv("OPENAI_API_KEY")
        with pytest.raises(ModelError, match="needs a key: set OPENAI_API_KEY"):
            asyncio.run(execute(asked, path))
        assert server.account.requests.total() == before > 0


def test_a_judge_that_judges_a_run_again_is_said_with_calls_and_price_before_anything_is_paid(tmp_path):
    path, prices = tmp_path / "a.db", {"fake/judge": Price(1e-6, 2e-6)}
    old = Settings("fake/?pmf=.5,.3,.2", "starter", n=6, limit=3, judge="fake/judge#v1", prices=prices)
    assert price_plan.judged_anew(resolve(old, path)) == [], "nothing is judged yet"
    asyncio.run(execute(old, path))
    assert price_plan.judged_anew(resolve(old, path)) == []
    new = replace(old, judge="fake/judge")
    [said] = price_plan.judged_anew(resolve(new, path))
    stages = [stage for stage in plan(new, path).stages if stage.name != "respond"]
    calls, cost = sum(stage.calls for stage in stages), sum(stage.cost for stage in stages)
    assert calls >= 3
    assert said == (
        f"fake/judge judged this run with other texts or options, and judges it again: {calls} calls (about "
        f"{in_dollars(cost)} for this run); --judge 'fake/judge#v1' keeps what it said"
    )
    asyncio.run(execute(new, path))
    assert price_plan.judged_anew(resolve(new, path)) == []
