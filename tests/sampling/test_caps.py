"""Caps and pace: a run spends what it may, never more, and stops at once when asking is useless."""

import asyncio
import time

import pytest

from semece.canonical_json import digest
from semece.errors import BudgetError, ModelError, SemeceError, TransientError
from semece.judges.known import open_judge
from semece.models import Call, Decoding, Message, Reply, Request, Usage
from semece.models.fakes.fake_model import parse_fake
from semece.sampling.batch.ledger import Ledger, Line, new_id
from semece.sampling.budget import Budget, Price, most_tokens, spent_at_most
from semece.sampling.connections import Callers, Connections
from semece.sampling.deliveries import delivered_rows, failed_row
from semece.sampling.live_calls import Caller, Terms, in_parallel
from semece.sampling.pace import Pace
from semece.sampling.patience import Patience
from semece.sampling.settings import Settings
from semece.store.keys import Keys, Slot
from semece.store.run_store import Store, StoredReply
from tests.making_runs import execute

GPT_4O = Price(2.5e-6, 1e-5)
QUICK = Patience(attempts=3, first_wait=0.001, longest_wait=0.002)
ASK = Request((Message("user", "x" * 92),), Decoding(max_tokens=100))
MOST = 92 + 8 + 100
"""What one call of ASK reserves."""


class Model:
    """Answers with what is told: a call, or an error to be raised; counts who is under way."""

    name, max_choices = "my/model", 1

    def __init__(self, answer=None, seconds=0.01):
        self.answer, self.seconds = answer or (lambda number: delivered()), seconds
        self.calls = self.under_way = self.most = 0
        self.times = []

    async def __call__(self, request, /):
        self.calls += 1
        number = self.calls
        self.times.append(asyncio.get_running_loop().time())
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            await asyncio.sleep(self.seconds)
        finally:
            self.under_way -= 1
        answer = self.answer(number)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def aclose(self):
        pass


def delivered(tokens=20):
    return Call((Reply("Answer: a", "ok", "stop", "{}"),), None if tokens is None else Usage(tokens // 2, tokens // 2))


def slots(count):
    return [Slot(i.to_bytes(4), "respond", "q", i, None, b"r") for i in range(count)]


@pytest.fixture
def store():
    with Store(":memory:", write=True) as opened:
        yield opened


def caller_of(store, model, width=8, **options):
    price = options.pop("price", None)
    return Caller(model, store, pace=Pace(width), price=price, terms=Terms(**{"patience": QUICK, **options}))


def ask(caller, count, width=8):
    """Fill so many slots, each by a call of its own."""
    found = []

    async def one(slot):
        found.extend(await caller.deliver(ASK, [slot]))

    async def all_of_them():
        await in_parallel([lambda slot=slot: one(slot) for slot in slots(count)], width)

    asyncio.run(all_of_them())
    return found


# --- caps


def test_a_run_goes_on_as_long_as_its_cap_has_room(tmp_path):
    model = parse_fake("fake/?pmf=.5,.3,.2&choices=8&latency=.01")
    settings = Settings(model.name, "starter", n=48, max_cost=0.17, prices={model.name: GPT_4O})
    assert 8 * 1024 * GPT_4O.output > 0.08, "the cap is little more than the most that two calls can cost"
    assert asyncio.run(execute(settings, tmp_path / "a.db", model=model)).missing == 0
    with Store(tmp_path / "a.db") as store:
        assert 0.06 < store.spent()["respond"][2] < 0.09


def test_a_run_stops_where_nothing_is_under_way_and_the_next_call_has_no_room(store):
    cap = 10 * MOST
    budget, model = Budget(max_total_tokens=cap), Model()
    with pytest.raises(BudgetError, match=r"cap of 2,000 tokens is reached: 1,8\d0 are spent and the next .* 200$"):
        ask(caller_of(store, model, budget=budget), 1000)
    assert cap - MOST < budget.tokens <= cap
    assert budget.tokens == sum(store.spent()["respond"][:2]) == 20 * model.calls
    assert model.most == 8


def test_calls_are_under_way_together_as_far_as_the_cap_has_room(store):
    model = Model()
    found = ask(caller_of(store, model, budget=Budget(max_total_tokens=3 * MOST + 500)), 20)
    assert len(found) == 20
    assert 3 <= model.most <= 5


def test_a_cap_that_one_call_could_pass_stops_before_the_first(store):
    model = Model()
    with pytest.raises(BudgetError, match="cap of 199 tokens is reached: 0 are spent and the next call may take 200"):
        ask(caller_of(store, model, budget=Budget(max_total_tokens=199)), 5)
    assert model.calls == 0


def test_two_callers_that_share_a_cap_wait_for_each_other(store):
    budget, models = Budget(max_total_tokens=2 * MOST), (Model(), Model())
    callers = [caller_of(store, model, budget=budget) for model in models]

    async def both():
        await asyncio.gather(*(c.deliver(ASK, [slot]) for c, slot in zip(callers * 4, slots(8), strict=True)))

    asyncio.run(both())
    assert [model.calls for model in models] == [4, 4]


@pytest.mark.parametrize(
    ("answer", "tokens"),
    [
        (TransientError("lost", status="timeout", maybe_paid=True), MOST),
        (TransientError("limited", status="rate_limited"), 0),
        (TransientError("never sent", status="connection"), 0),
        (Call((Reply("a", "ok", "stop", "{}"),)), MOST),
        (Call(()), MOST),
        (Call((), Usage(30, 0)), 30),
        (delivered(20), 20),
    ],
)
def test_a_call_counts_as_what_it_took_or_may_have_taken(store, answer, tokens):
    budget = Budget(max_total_tokens=10**6)
    ask(caller_of(store, Model(lambda number: answer), budget=budget, patience=Patience(1)), 1)
    assert budget.tokens == tokens
    assert (budget._reserved_tokens, budget._reserved_cost, budget._calls) == (0, 0, 0)


def test_a_reservation_bounds_prompt_schema_and_every_choice():
    schema = {"type": "object"}
    request = Request((Message("user", "日本" * 10), Message("user", "a")), Decoding(max_tokens=7, schema=schema), n=3)
    assert most_tokens(request) == Usage(60 + 8 + 1 + 8 + len('{"type":"object"}') + 8, 21)


# --- what earlier invocations spent


ANSWERS, JUDGES = Price(1e-3, 2e-3), Price(1e-2, 5e-2)
JUDGE = open_judge("x/judge").id


def told(**changes):
    return Settings("x/m", "starter", judge="x/judge", prices={"x/m": ANSWERS, "x/judge": JUDGES}, **changes)


def slots_of(store, count, judge=None):
    """Slots whose request is stored."""
    stage = "respond" if judge is None else "partition"
    keys = Keys(stage, "q", judge or "x/m", ASK.messages, ASK.decoding)
    store.set_meta("identity", {"model": "x/m"})
    request = store.add_request(keys.body)
    return [Slot(keys[i], stage, "q", i, judge, request) for i in range(count)]


def spent(store):
    store.flush()
    return spent_at_most(store, told(max_cost=1e9).price_list.of)


def call_of(choices, usage):
    return Call((Reply("Answer: a", "ok", "stop", "{}"),) * choices, usage)


def test_an_unpriced_reply_counts_at_todays_price_and_hides_no_known_cost(store):
    slots = slots_of(store, 2)
    store.append(delivered_rows(call_of(1, Usage(1000, 1000)), slots[:1], "a", 5.0))
    store.append(delivered_rows(call_of(1, Usage(10, 20)), slots[1:], "b", None))
    cost, tokens = spent(store)
    assert cost == pytest.approx(5.0 + 10e-3 + 40e-3)
    assert tokens == 2030


def test_a_judges_unpriced_reply_counts_at_the_judges_price(store):
    store.append(delivered_rows(call_of(1, Usage(10, 20)), slots_of(store, 1, JUDGE), "a", None))
    assert spent(store) == (pytest.approx(10e-2 + 100e-2), 30)


def test_a_failed_call_that_may_be_paid_for_counts_as_the_most_of_all_its_choices(store):
    slots = slots_of(store, 8)
    store.append([failed_row(TransientError("x", status="timeout", maybe_paid=True), slots[0], choices=8)])
    store.append([failed_row(TransientError("x", status="rate_limited"), slots[0], choices=8)])
    assert spent(store) == (pytest.approx(100e-3 + 800 * 2e-3), 900)


def test_a_call_of_which_nobody_says_what_it_took_counts_as_the_most(store):
    store.append(delivered_rows(call_of(3, None), slots_of(store, 3), "a", None))
    store.append(delivered_rows(call_of(1, Usage(0, 0)), slots_of(store, 4)[3:], "free", 0.0))
    assert spent(store) == (pytest.approx(100e-3 + 300 * 2e-3), 400)


def test_replies_that_were_set_aside_and_lost_batches_were_paid_for_too(store):
    slots = slots_of(store, 1)
    store.append(delivered_rows(Call((Reply("", "truncated", "length", "{}"),), Usage(1, 1)), slots, "a", 2.0))
    store.flush()
    store.supersede([slots[0].key])
    ledger = Ledger(store)
    for status in ("lost", "stored", "absent", "submitted"):
        entry = ledger.enter(new_id(), "x/m", [Line(ASK, tuple(slots))], since=None, held=(0.5, 7))
        ledger.mark(entry, status)
    assert spent(store) == (2.5, 9)
    settings = told(max_cost=3.0)
    budget = Callers(store, Connections(settings, settings.model, [])).budget
    assert (budget.cost, budget.tokens) == (2.5, 9)
    assert (budget._reserved_cost, budget._reserved_tokens) == (0.5, 7), "one is under way"


def test_a_budget_in_dollars_needs_the_price_of_what_was_asked_before(store):
    store.append(delivered_rows(call_of(1, Usage(1, 1)), slots_of(store, 1, open_judge("y/judge").id), "a", None))
    with pytest.raises(SemeceError, match="the price of y/judge is not known, so a budget in USD cannot be kept"):
        spent(store)


def test_a_judge_of_unknown_price_is_refused_under_a_budget_before_anything_is_bought(tmp_path):
    asked = Settings("fake/?pmf=1", "starter", n=2, judge="openai-api/local/judge", max_cost=1.0)
    with pytest.raises(SemeceError, match="the price of openai-api/local/judge is not known"):
        asyncio.run(execute(asked, tmp_path / "a.db"))
    assert not (tmp_path / "a.db").exists()


def run_capped(path, model, **caps):
    settings = Settings(
        model.name, "starter", n=20, max_tokens=10, prices={model.name: ANSWERS}, patience=QUICK, **caps
    )
    try:
        return asyncio.run(execute(settings, path, model=model)).missing
    except BudgetError as error:
        return str(error)


@pytest.mark.parametrize("caps", [{"max_cost": 1.5}, {"max_total_tokens": 1500}])
def test_a_cap_is_about_the_file_whoever_spent_it(tmp_path, caps):
    for _ in range(4):
        assert "the cap of" in run_capped(tmp_path / "a.db", parse_fake("fake/?pmf=.5,.5&choices=2"), **caps)
        with Store(tmp_path / "a.db") as store:
            asked, answered, cost = store.spent()["respond"]
        assert asked + answered <= 1500
        assert cost <= 1.5


@pytest.mark.parametrize("caps", [{"max_cost": 3.0}, {"max_total_tokens": 3000}])
def test_calls_that_may_have_been_served_are_not_bought_again_by_every_invocation(tmp_path, caps):
    made = []
    for _ in range(3):
        model = parse_fake("fake/?pmf=.5,.5&choices=2&fault=timeout:1")
        assert "the cap of" in run_capped(tmp_path / "a.db", model, **caps)
        with Store(tmp_path / "a.db") as store:
            made.append(store.failed_calls())
    assert made[0] == made[1] == made[2]
    assert made[0][0] == made[0][1] > 5


def test_a_second_paid_call_for_a_slot_is_kept_aside_and_counted(store):
    [slot] = slots_of(store, 1)
    for name in ("live", "batch"):
        store.append(delivered_rows(Call((Reply(name, "ok", "stop", "{}"),), Usage(10, 100)), [slot], name, 1.0))
        store.flush()
    assert [reply.text for reply in store.replies("respond", "q")] == ["live"]
    assert store.spent() == {"respond": (20, 200, 2.0)}
    for _ in range(2):  # what came with a file was not paid for
        store.append([StoredReply(digest("given"), "respond", "given", 0, "ok", "a")])
        store.flush()
    assert store._execute("SELECT count(*) FROM replies")[0][0] == 3


# --- pace


def limited(retry_after=None):
    return TransientError("limited", status="rate_limited", retry_after=retry_after)


def test_no_more_calls_are_under_way_than_the_pace_allows(store):
    model = Model()
    ask(caller_of(store, model, width=3), 30, width=16)
    assert model.most == 3


def test_a_rate_limit_halves_the_calls_at_once_and_successes_raise_them_again(store):
    model, seen = Model(), []

    def answer(number):
        seen.append((caller.pace.limit, model.under_way + 1))
        return limited() if number == 1 else delivered()

    model.answer = answer
    caller = caller_of(store, model, width=8)
    ask(caller, 40, width=16)
    limits = [limit for limit, _ in seen]
    assert limits[:6] == [8, 4, 4, 4, 4, 5], "one more after four successes"
    assert limits == [8, *sorted(limits[1:])]
    assert caller.pace.limit == 8
    assert all(under_way <= limit for limit, under_way in seen[8:])
    assert store.events() == [("pace", "rate limited: at most 4 calls at once")]


def test_calls_that_are_refused_together_halve_the_pace_once(store):
    model = Model(lambda number: limited() if number <= 8 else delivered())
    caller = caller_of(store, model, width=8)
    ask(caller, 8, width=8)
    assert [text for _, text in store.events()] == ["rate limited: at most 4 calls at once"]


def test_nobody_asks_while_the_provider_wants_a_pause(store):
    model = Model(lambda number: limited(0.3) if number == 1 else delivered(), seconds=0.005)
    ask(caller_of(store, model, width=2), 12, width=2)
    refused = model.times[0] + 0.005
    asked = [moment - refused for moment in model.times[1:]]
    assert not [moment for moment in asked if 0.01 < moment < 0.29], "what is sent is sent before or after the pause"
    assert sum(moment >= 0.29 for moment in asked) >= 10


# --- the end


@pytest.mark.parametrize("retry_after", [None, 30.0])
def test_a_refusal_ends_the_run_at_once_whoever_is_waiting(store, retry_after):
    slow = Patience(attempts=9, first_wait=30.0, longest_wait=60.0)
    model = Model(lambda number: ModelError("refused the key") if number == 9 else limited(retry_after))

    def late(number):
        time.sleep(0.002)
        return ModelError("refused the key") if number == 8 else limited(retry_after)

    model.answer = late
    started = time.monotonic()
    with pytest.raises(ModelError, match="refused the key"):
        ask(caller_of(store, model, patience=slow), 40, width=8)
    assert time.monotonic() - started < 3
    assert model.calls == 8


def test_who_waits_for_room_asks_nothing_after_a_refusal(store):
    model = Model(lambda number: ModelError("refused the key"))
    with pytest.raises(ModelError, match="refused the key"):
        ask(caller_of(store, model, budget=Budget(max_total_tokens=MOST)), 8)
    assert model.calls == 1


def test_a_model_that_gives_no_choice_is_a_broken_reply_and_not_asked_for_ever(store):
    model = Model(lambda number: Call(()))
    assert ask(caller_of(store, model), 1) == []
    assert model.calls == QUICK.attempts
    store.flush()
    assert store.failed_calls() == (3, 3)
    assert store.last_failure() == "my/model gave no choice"


def test_a_call_that_is_cancelled_while_its_rows_are_written_takes_no_other_with_it(store, monkeypatch):
    async def two_at_once():
        caller, waiting = caller_of(store, Model(seconds=0)), asyncio.Semaphore(0)
        monkeypatch.setattr(store, "append", lambda rows, keep=store.append: (keep(rows), waiting.release()))
        first, second = (asyncio.ensure_future(caller.deliver(ASK, [slot])) for slot in slots(2))
        await waiting.acquire()
        await waiting.acquire()
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        return await asyncio.wait_for(second, 5)

    (row,) = asyncio.run(two_at_once())
    assert row.status == "ok"
    assert len(store.replies("respond", "q")) == 2, "what was paid for is stored, whoever waited for it"
