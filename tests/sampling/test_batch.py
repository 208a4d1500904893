"""Batches: nothing is lost and nothing paid twice, whatever breaks; the same replies as live."""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import chain, repeat
from pathlib import Path

import pytest

from semece.errors import BudgetError, ModelError, TransientError
from semece.judges import Missing
from semece.judges.llm import LLMJudge
from semece.models import (
    BatchFailedError,
    Call,
    Decoding,
    LineResult,
    Message,
    Reply,
    Request,
    UnknownBatchError,
    Usage,
)
from semece.models.fakes.fake_batches import FakeBatches
from semece.models.fakes.fake_model import FakeModel
from semece.prompts import response_prompt
from semece.runs.run import Run
from semece.sampling.batch.batch_stages import Collector, judge_by_batch, respond_by_batch
from semece.sampling.batch.courier import BatchTerms, Courier
from semece.sampling.batch.harvest import Harvester
from semece.sampling.batch.ledger import BatchEntry, Ledger, Line, custom_id, new_id
from semece.sampling.budget import Budget, Price, most_tokens, spent_at_most
from semece.sampling.connections import Callers, Connections
from semece.sampling.judge_calls import run_asking
from semece.sampling.request_templates import RequestTemplate, missing_slots
from semece.sampling.settings import Settings
from semece.store.run_store import Store
from tests.batch_client import QUESTIONS, QUICK, REFERENCES, do
from tests.servers.anthropic_server import AnthropicServer
from tests.servers.google_server import GoogleServer
from tests.servers.openai_batch_server import OpenAIBatchHandler, OpenAIBatchServer
from tests.servers.openai_server import error_body
from tests.servers.serving import Garbled

SERVERS = {
    "openai/gpt-4o-mini": OpenAIBatchServer,
    "anthropic/claude-haiku-4-5": AnthropicServer,
    "google/gemini-2.5-flash": GoogleServer,
}
TOTAL = 12 * len(QUESTIONS)


@pytest.fixture(params=SERVERS, ids=lambda spelling: spelling.partition("/")[0])
def spelling(request):
    return request.param


def server_of(spelling, **options):
    return SERVERS[spelling](references=REFERENCES, **options)


def url_of(server):
    return getattr(server, "base_url", server.url)


def estimates(path):
    with Run(path) as run:
        return run.estimates()


def events(path):
    with Run(path) as run:
        return run.events


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Runs that nobody disturbed, by spelling and share of lines that fail at first; each is made once."""

    @cache
    def path_of(spelling, overloaded=0.0):
        path = tmp_path_factory.mktemp("undisturbed") / "b.db"
        with server_of(spelling, rows={"overloaded": overloaded}) as server:
            assert do(spelling, url_of(server), path).missing == 0
        return path

    return path_of


def created(server):
    return len(server.jobs.jobs)


def raising_once(error=ConnectionAbortedError):
    """A server's hook that breaks the connection the first time."""
    left = [True]

    def hook():
        if left and left.pop():
            raise error

    return hook


# --- the courier, with batches in memory


class Scripted(FakeBatches):
    """Batches in memory that fail as told: each name holds errors to raise, oldest first."""

    def __init__(self, model=None, **options):
        self.errors = options.pop("errors", {})
        self.lost = options.pop("lost", False)
        super().__init__(model or FakeModel((0.5, 0.5), references=REFERENCES, max_choices=4), **options)
        self.calls = Counter()
        self.asked = []

    def _trip(self, name):
        self.calls[name] += 1
        if self.errors.get(name):
            error = self.errors[name].pop(0)
            if error is not None:
                raise error

    async def create(self, lines, mark):
        self.asked.append([line.body for line in lines])
        if self.errors.get("create") and getattr(self.errors["create"][0], "maybe_paid", False) and not self.lost:
            await super().create(lines, mark)
        self._trip("create")
        return await super().create(lines, mark)

    async def state(self, batch_id):
        self._trip("state")
        return await super().state(batch_id)

    async def listed(self, since, *, limit=None):
        self._trip("listed")
        return await super().listed(since, limit=limit)

    async def results(self, state):
        self._trip("results")
        async for result in super().results(state):
            yield result


TEMPLATE = RequestTemplate("fake/batches", response_prompt("percent"), Decoding())


def courier_of(store, batches, **options):
    progress = options.pop("progress", None)
    return Courier(batches, store, BatchTerms(**{"patience": QUICK, **options}), progress=progress)


def draw(store, batches, n=12, **options):
    """Draw the responses in batches."""
    store.add_questions(enumerate(QUESTIONS))
    courier = courier_of(store, batches, **options)
    asyncio.run(respond_by_batch(store, TEMPLATE, QUESTIONS, n, courier))


def missing(store, n=12):
    return sum(len(run) for question in QUESTIONS for run in missing_slots(store, TEMPLATE, question, n))


def texts(store):
    return {q.id: [row.text for row in store.replies("respond", q.id) if row.delivered] for q in QUESTIONS}


def grow_old(store):
    """Let the batches be of last month."""
    for name, status, provider_id, body, when in store.batches():
        store.put_batch(name, status, provider_id, body, when - 31 * 86400)


@pytest.fixture
def store():
    with Store(":memory:", write=True) as opened:
        yield opened


def test_a_line_is_named_by_its_entry_and_its_key():
    name, key = new_id(), bytes(range(32))
    assert custom_id(name, key) == name[:8] + key.hex()[:40]
    assert len(custom_id(name, key)) <= 64, "the limit of Anthropic's custom_id"


def test_two_lines_of_a_batch_do_not_share_the_name_of_a_call():
    entry = BatchEntry(new_id(), "submitted", "batch-1", "x/m", None, (0.0, 0), (), 0.0)
    first, second = bytes(32), bytes([*[0] * 7, 1, *[0] * 24])
    assert entry.call(first) != entry.call(second), "of 20,000 lines, two share 32 bits in one batch of twenty"
    assert entry.call(first).startswith(entry.id[:8])


def test_the_ledger_gives_back_the_slots_it_was_given(store):
    ledger, lines = Ledger(store), []
    for question in QUESTIONS:
        keys = TEMPLATE.keys(question)
        store.add_request(keys.body)
        [run] = missing_slots(store, TEMPLATE, question, 5)
        lines += [Line(Request((), n=2), tuple(run[:2])), Line(Request((), n=3), tuple(run[2:]))]
    entry = ledger.enter(new_id(), "fake/batches", lines, since=1.5, held=(0.25, 7))
    [read] = ledger.open()
    assert replace(read, slots=()) == replace(entry, slots=())
    assert set(read.slots) == set(entry.slots)
    assert ledger.open("another/model") == []
    ledger.mark(read, "stored", "batch-1")
    assert (ledger.open(), ledger.known()) == ([], {"batch-1"})


def test_batches_give_what_live_calls_give(store, tmp_path):
    draw(store, Scripted())
    live = do("fake/?pmf=.5,.5&choices=4", None, tmp_path / "a.db", batch=False)
    assert live.missing == 0 == missing(store)
    with Run(tmp_path / "a.db") as run:
        drawn = run.responses().sort("question_id", "index")["text"].to_list()
    assert [text for q in QUESTIONS for text in texts(store)[q.id]] == drawn


def test_lines_ask_for_as_many_choices_as_they_may_and_batches_hold_as_many_lines(store):
    batches = Scripted(max_lines=5)
    draw(store, batches)
    assert [len(lines) for lines in batches.asked] == [5, 5, 5, 3]
    assert {request.n for lines in batches.asked for request in lines} == {4}
    assert missing(store) == 0


def test_batches_are_cut_by_bytes(store):
    batches = Scripted(max_bytes=2000)
    draw(store, batches)
    assert len(batches.asked) > 5
    assert sum(map(len, batches.asked)) == 18


def test_a_line_that_is_under_way_is_not_asked_again(store):
    batches = Scripted(looks=100)
    with pytest.raises(TimeoutError):
        asyncio.run(asyncio.wait_for(_drawing(store, batches), 0.3))
    again = Scripted()
    again._jobs, again._numbers = batches._jobs, batches._numbers
    draw(store, again)
    assert (len(batches.asked), len(again.asked)) == (1, 0)
    assert missing(store) == 0


async def _drawing(store, batches):
    store.add_questions(enumerate(QUESTIONS))
    await respond_by_batch(store, TEMPLATE, QUESTIONS, 12, courier_of(store, batches))


def test_a_larger_n_adds_a_batch_to_the_one_under_way(store):
    batches = Scripted(looks=100)
    with pytest.raises(TimeoutError):
        asyncio.run(asyncio.wait_for(_drawing(store, batches), 0.3))
    batches._looks = batches._jobs["batch-1"].looks + 3
    draw(store, batches, n=16)
    assert [len(lines) for lines in batches.asked] == [18, 6]
    assert missing(store, 16) == 0


UNSURE = TransientError("lost", status="connection", maybe_paid=True)


@pytest.mark.parametrize("marks", [True, False])
def test_a_batch_that_was_created_although_no_reply_came_is_found_again(store, marks):
    batches = Scripted(errors={"create": [UNSURE]}, marks=marks, looks=3)
    draw(store, batches)
    assert missing(store) == 0
    assert len(batches._jobs) == 1
    assert any("was found again" in text for _, text in store.events())


@pytest.mark.parametrize("marks", [True, False])
def test_a_batch_that_was_never_created_is_submitted_again_after_the_grace(store, marks):
    batches = Scripted(errors={"create": [UNSURE]}, lost=True, marks=marks)
    started = time.monotonic()
    draw(store, batches)
    assert time.monotonic() - started > QUICK.grace
    assert missing(store) == 0
    assert (len(batches.asked), len(batches._jobs)) == (2, 1)


def test_a_strangers_batch_of_the_same_size_is_not_taken_for_ours(store):
    batches = Scripted(errors={"create": [UNSURE]}, lost=True, marks=False)

    async def go():
        lines = [await batches.encode(f"{i:048d}", Request((Message("user", f"{i}"),))) for i in range(18)]
        await FakeBatches.create(batches, lines, "")
        await _drawing(store, batches)

    store.add_questions(enumerate(QUESTIONS))
    asyncio.run(go())
    assert missing(store) == 0
    assert not any("found again" in text for _, text in store.events())
    assert all(
        "Question number" in row.text or row.text.startswith("Answer")
        for q in QUESTIONS
        for row in store.replies("respond", q.id)
    )


def test_a_candidate_that_failed_as_a_whole_is_nobodys(store):
    class Failing(Scripted):
        async def results(self, state):
            if state.id == "batch-1":
                raise BatchFailedError(TransientError("expired", status="timeout"))
            async for result in super().results(state):
                yield result

    batches = Failing(errors={"create": [UNSURE]}, marks=False, looks=1)
    draw(store, batches)
    assert missing(store) == 0
    assert len(batches.asked) == 2


def test_lines_are_held_back_while_a_candidate_is_under_way(store):
    """A batch of our size that has not ended may be ours: submitting again could pay twice."""
    batches = Scripted(errors={"create": [UNSURE]}, marks=False, looks=10**6)
    with pytest.raises(TimeoutError):
        asyncio.run(asyncio.wait_for(_drawing(store, batches), QUICK.grace + 0.6))
    assert len(batches.asked) == 1


def test_a_known_batch_of_our_size_holds_nothing_back(store):
    batches = Scripted(errors={"create": [None, UNSURE]}, lost=True, marks=False, max_lines=9, looks=10**6)
    with pytest.raises(TimeoutError):
        asyncio.run(asyncio.wait_for(_drawing(store, batches), QUICK.grace + 0.6))
    assert [len(lines) for lines in batches.asked] == [9, 9, 9]


def test_a_refused_creation_stops_and_frees_the_lines(store):
    batches = Scripted(errors={"create": [ModelError("no such model")]})
    with pytest.raises(ModelError, match="no such model"):
        draw(store, batches)
    assert Ledger(store).open() == []
    draw(store, batches)
    assert missing(store) == 0


def test_a_limited_creation_is_tried_again_and_then_left(store):
    slow = TransientError("slow down", status="rate_limited")
    batches = Scripted(errors={"create": [slow, slow]})
    draw(store, batches)
    assert missing(store) == 0
    with Store(":memory:", write=True) as other:
        batches = Scripted(errors={"create": [slow] * 100})
        draw(other, batches)
        assert missing(other) == TOTAL
        assert batches.calls["create"] == QUICK.calls.attempts
        assert Ledger(other).open() == []


def test_looks_that_fail_are_repeated(store):
    down = TransientError("down", status="server")
    draw(store, Scripted(errors={"state": [down] * 3, "results": [None, down]}))
    assert missing(store) == 0


def test_looks_that_keep_failing_leave_the_batch_for_the_next_invocation(store):
    batches = Scripted(errors={"state": [TransientError("down", status="server")] * 12})
    draw(store, batches, patience=replace(QUICK, failures=3))
    assert missing(store) == TOTAL
    assert len(Ledger(store).open()) == 1
    batches.errors = {}
    draw(store, batches)
    assert (missing(store), len(batches.asked)) == (0, 1)


def test_a_batch_nobody_knows_any_more_stops_unless_it_is_old(store):
    batches = Scripted(errors={"state": [UnknownBatchError("no such batch")] * 2})
    with pytest.raises(ModelError, match=r"use the key and the endpoint that made batch batch-1"):
        draw(store, batches)
    assert len(Ledger(store).open()) == 1
    grow_old(store)
    budget = Budget(max_total_tokens=10**9)
    [entry] = Ledger(store).open()
    budget.hold(entry.held)
    draw(store, batches, budget=budget)
    assert missing(store) == 0
    assert len(batches.asked) == 2
    assert budget._reserved_tokens == 0
    assert budget.tokens == entry.held[1] + sum(store.spent()["respond"][:2]), "it may have been paid for"


def test_results_that_are_gone_stop_unless_they_are_old_or_wanted_anew(store):
    gone = UnknownBatchError("No such File object")
    batches = Scripted(errors={"results": [gone] * 4})
    with pytest.raises(
        ModelError, match=r"results of batch batch-1 are gone and its 18 requests were paid for: ask ag"
    ):
        draw(store, batches)
    assert len(Ledger(store).open()) == 1
    with pytest.raises(ModelError, match="results of batch batch-2 are gone"):
        draw(store, batches, anew=True)
    assert (missing(store), len(batches.asked)) == (TOTAL, 2), "asked again, once"
    grow_old(store)
    draw(store, batches)
    assert (missing(store), len(batches.asked)) == (0, 3)
    assert Ledger(store).open() == []


def test_a_batch_that_nobody_knows_is_not_taken_for_results_that_are_gone(store):
    batches = Scripted(errors={"state": [UnknownBatchError("no such batch")]})
    with pytest.raises(ModelError, match="use the key and the endpoint"):
        draw(store, batches, anew=True)
    assert len(Ledger(store).open()) == 1


def asks(request, *numbers):
    """Whether a request is about one of the numbered questions."""
    return any(QUESTIONS[number].text in request.messages[-1].content for number in numbers)


class Fated(Scripted):
    """Batches whose lines meet a fate: a function from the request and the attempt to a result's fields, or None."""

    def __init__(self, fate, **options):
        super().__init__(**options)
        self.fate, self.seen, self.ending = fate, Counter(), None

    async def results(self, state):
        for line, result in zip(self._jobs[state.id].lines, self._jobs[state.id].results, strict=True):
            key = line.custom_id[8:]
            self.seen[key] += 1
            fate = self.fate(line.body, self.seen[key])
            if fate != "unlisted":
                yield LineResult(line.custom_id, **fate) if fate is not None else result


def test_lines_that_fail_are_submitted_again_and_classified(store):
    def fate(request, attempt):
        if attempt == 1 and asks(request, 0, 1):
            return {"error": TransientError("expired", status="timeout")}
        return None

    batches = Fated(fate)
    draw(store, batches)
    assert missing(store) == 0
    assert store.count("respond") == {"ok": TOTAL, "timeout": sum(len(lines) for lines in batches.asked) - 18}


def test_lines_that_keep_failing_are_left_after_some_rounds(store):
    batches = Fated(lambda request, attempt: {"error": TransientError("busy", status="server")})
    draw(store, batches)
    assert [len(lines) for lines in batches.asked] == [18] * QUICK.rounds
    assert missing(store) == TOTAL


def test_lines_that_somebody_cancelled_wait_for_the_next_invocation(store):
    def fate(request, attempt):
        cancelled = attempt == 1 and request.seed // 4 % 2 == 0
        return {"error": TransientError("cancelled", status="server"), "cancelled": True} if cancelled else None

    batches = Fated(fate)
    draw(store, batches)
    left = missing(store)
    assert 0 < left < TOTAL
    assert len(batches.asked) == 1
    draw(store, batches)
    assert missing(store) == 0


@pytest.mark.parametrize("reads", [1, 2])
def test_lines_that_are_not_listed_are_looked_for_twice_and_then_submitted_again(store, reads):
    batches = Fated(lambda request, attempt: "unlisted" if attempt <= reads and request.seed // 4 % 2 else None)
    draw(store, batches)
    assert missing(store) == 0
    assert len(batches.asked) == reads
    assert ("broken_body" in store.count("respond")) == (reads == 2)


def test_a_line_that_is_refused_stops_after_the_rest_is_stored(store):
    refused = {"error": ModelError("this prompt is too long")}
    batches = Fated(lambda request, attempt: refused if asks(request, 3) else None)
    with pytest.raises(ModelError, match="too long"):
        draw(store, batches)
    delivered = sum(map(len, texts(store).values()))
    assert 0 < delivered == TOTAL - missing(store)
    assert Ledger(store).open() == []


def test_an_option_that_is_left_out_costs_no_round_but_ends_at_some_point(store):
    batches = Fated(lambda request, attempt: {} if attempt <= 4 else None)
    draw(store, batches)
    assert missing(store) == 0
    with Store(":memory:", write=True) as other:
        batches = Fated(lambda request, attempt: {})
        draw(other, batches)
        assert len(batches.asked) == QUICK.rounds + 5


def test_fewer_choices_than_asked_for_are_topped_up(store):
    class Short(FakeModel):
        async def __call__(self, request, /):
            call = await super().__call__(request)
            return Call(call.replies[: max(1, request.n // 2)], call.usage)

    whole = Scripted()
    with Store(":memory:", write=True) as other:
        draw(other, whole)
        expected = texts(other)
    draw(store, Scripted(Short((0.5, 0.5), references=REFERENCES, max_choices=4)), patience=replace(QUICK, rounds=9))
    assert texts(store) == expected


def test_a_batch_that_fails_as_a_whole_is_submitted_again(store):
    class Failing(Scripted):
        async def results(self, state):
            if state.id == "batch-1":
                raise BatchFailedError(TransientError("expired", status="timeout"))
            async for result in super().results(state):
                yield result

    batches = Failing()
    draw(store, batches)
    assert missing(store) == 0
    assert store.count("respond") == {"ok": TOTAL, "timeout": 18}


def test_a_full_queue_makes_smaller_batches_one_at_a_time(store):
    class Narrow(Scripted):
        async def results(self, state):
            if len(self._jobs[state.id].lines) > 5:
                raise BatchFailedError(TransientError("queue is full", status="rate_limited"))
            async for result in super().results(state):
                yield result

    batches = Narrow()
    draw(store, batches)
    assert missing(store) == 0
    assert [len(lines) for lines in batches.asked] == [18, 9, 4, 4, 4, 4, 2]
    assert store.count("respond") == {"ok": TOTAL}


def test_a_full_queue_is_not_filled_while_something_is_under_way(store):
    class Slow(Scripted):
        async def create(self, lines, mark):
            running.append(sum(job.looks < self._looks for job in self._jobs.values()))
            state = await super().create(lines, mark)
            if state.id == "batch-2":
                self._jobs[state.id].looks = -6
            return state

        async def results(self, state):
            if state.id == "batch-1":
                raise BatchFailedError(TransientError("queue is full", status="rate_limited"))
            async for result in super().results(state):
                yield result

    running = []
    draw(store, Slow(max_lines=9))
    assert running[:2] == [0, 1]
    assert set(running[2:]) == {0}
    assert missing(store) == 0


def test_a_queue_that_takes_nothing_is_left(store):
    class Closed(Scripted):
        async def results(self, state):
            raise BatchFailedError(TransientError("queue is full", status="rate_limited"))
            yield

    batches = Closed()
    draw(store, batches)
    assert [len(lines) for lines in batches.asked] == [18, 9, 4, 2, 1]
    assert missing(store) == TOTAL


def test_a_cap_holds_over_batches_under_way_and_what_fits_is_submitted(store):
    request = Request(TEMPLATE.prompt.messages(QUESTIONS[0]), TEMPLATE.decoding, 4)
    one = Budget().reserve(request, None)[1]
    cap = 3 * one + 700
    budget, batches = Budget(max_total_tokens=cap), Scripted(looks=3)
    with pytest.raises(BudgetError, match=f"cap of {one // 2:,} tokens"):
        draw(store, batches, budget=Budget(max_total_tokens=one // 2))
    assert batches.asked == []
    draw(store, batches, budget=budget)
    assert len(batches.asked) > 1
    assert max(map(len, batches.asked)) == 3, "what is set aside for three lines fits under the cap"
    assert missing(store) == 0
    assert budget.tokens == sum(store.spent()["respond"][:2]) < cap
    with pytest.raises(BudgetError):
        draw(
            store, batches, n=60, budget=Budget(max_total_tokens=budget.tokens + one + 600, spent_tokens=budget.tokens)
        )
    assert sum(store.spent()["respond"][:2]) <= budget.tokens + one + 600
    assert 0 < missing(store, 60) < 48 * len(QUESTIONS)


def test_what_is_under_way_stays_set_aside_when_the_run_goes_on(store):
    batches = Scripted(looks=100)
    with pytest.raises(TimeoutError):
        asyncio.run(asyncio.wait_for(_drawing(store, batches), 0.3))
    batches._looks = 1

    class Ready(Connections):
        def batches(self, spelling):
            assert spelling == batches.name
            return batches

    told = Settings("fake/batches", "six", judge="exact", max_total_tokens=10**9)
    callers = Callers(store, Ready(told, told.model, QUESTIONS))
    held = callers.budget._reserved_tokens
    asyncio.run(callers.collect())
    assert held > TOTAL * 1000
    assert (callers.budget._reserved_tokens, callers.budget.tokens) == (0, sum(store.spent()["respond"][:2]))


def test_costs_are_the_batch_price_and_unknown_prices_stay_unknown(store):
    draw(store, Scripted(), price=Price(1e-6, 2e-6))
    asked, answered, cost = store.spent()["respond"]
    assert cost == pytest.approx(asked * 1e-6 + answered * 2e-6)
    with Store(":memory:", write=True) as other:
        draw(other, Scripted(), ceiling=Price(1e-6, 2e-6))
        assert other.spent()["respond"][2] is None


def test_what_is_not_counted_is_charged_as_it_was_set_aside(store):
    class Silent(FakeModel):
        async def __call__(self, request, /):
            call = await super().__call__(request)
            return Call(call.replies, call.usage if asks(request, 1, 2) else None)

    budget = Budget(max_total_tokens=10**9)
    batches = Scripted(Silent((0.5, 0.5), references=REFERENCES, max_choices=4))
    draw(store, batches, budget=budget, ceiling=Price(0.0, 1e-3))
    assert budget._reserved_tokens == 0
    assert 12 * 4 * 1024 < budget.tokens < 13 * 4 * 1024 + 18 * 500
    answered = store.spent()["respond"][1]
    assert budget.spent_cost == pytest.approx((12 * 4 * 1024 + answered) * 1e-3), (
        "the ceiling where the price is unknown"
    )


def test_a_line_that_may_be_paid_for_although_nothing_came_is_charged_as_it_was_set_aside(store):
    def fate(request, attempt):
        error = TransientError("broken", status="broken_body", maybe_paid=asks(request, 0))
        return {"error": error} if attempt == 1 and asks(request, 0, 1) else None

    budget = Budget(max_total_tokens=10**9)
    draw(store, Fated(fate), budget=budget)
    most = most_tokens(Request(TEMPLATE.prompt.messages(QUESTIONS[0]), TEMPLATE.decoding, 4))
    lost = 3 * (most.input_tokens + most.output_tokens)
    assert budget.tokens == lost + sum(store.spent()["respond"][:2])
    assert spent_at_most(store, lambda spelling: None)[1] == budget.tokens, "and by the next invocation"


def test_results_that_break_off_are_stored_once_when_they_come_again(store):
    class Breaking(Scripted):
        async def results(self, state):
            place = 0
            async for result in super().results(state):
                if place == 9 and self.calls["results"] == 1:
                    raise TransientError("cut", status="connection")
                place += 1
                yield result

    budget, batches = Budget(max_total_tokens=10**9), Breaking()
    draw(store, batches, budget=budget)
    assert batches.calls["results"] == 2
    assert missing(store) == 0
    assert store._execute("SELECT count(*), sum(superseded) FROM replies")[0] == (TOTAL, 0)
    assert budget.tokens == sum(store.spent()["respond"][:2])


def test_results_that_are_stored_twice_are_there_once(store):
    batches = Fated(
        lambda request, attempt: {"error": TransientError("x", status="server")} if request.seed // 4 % 2 else None
    )
    draw(store, batches, patience=replace(QUICK, rounds=1))
    before = store.count("respond")
    ledger = Ledger(store)
    name, _, provider_id, *_ = store.batches()[0]
    store.put_batch(name, "submitted", provider_id)
    [entry] = ledger.open()

    async def again():
        state = await batches.state(entry.provider_id)
        return await Harvester(store, entry, price=None).gather(batches, state)

    asyncio.run(again())
    assert store.count("respond") == before


def test_a_judges_procedure_gets_its_unreadable_reply_back_once_each(store):
    """Asked in batches, a judge is told its fault as it would be live."""
    judge, question = LLMJudge("openai/judge"), QUESTIONS[0]
    collector = Collector(store)

    def run():
        collector.begin()
        collector.lines = []
        try:
            return asyncio.run(run_asking(judge.grade(question, "answer 0"), store, {"grade": collector}))
        except Missing:
            [line] = collector.lines
            return line

    def reply(line, text):
        from semece.sampling.live_calls import delivered_rows

        rows = delivered_rows(Call((Reply(text, "ok", None, "{}"),), Usage(1, 1)), line.slots, new_id()[:16], None)
        store.append(rows)
        store.flush()

    first = run()
    assert len(first.request.messages) == 2
    reply(first, "it seems right")
    second = run()
    assert second.key == first.key
    assert len(second.request.messages) == 4, "the second time the fault is named"
    reply(second, '{"verdict": "correct"}')
    assert run() == "correct"


def test_a_judges_line_that_is_under_way_is_not_asked_again(store):
    from semece.models.fakes.fake_model import FakeJudge

    async def procedure(question, asker):
        with contextlib.suppress(Missing):
            await run_asking(judge.grade(question, "answer 0"), store, {"grade": asker})

    judge = LLMJudge("fake/judge")
    batches = Scripted(FakeJudge(), looks=100)
    with pytest.raises(TimeoutError):
        asyncio.run(asyncio.wait_for(judge_by_batch(store, QUESTIONS, procedure, courier_of(store, batches)), 0.3))
    batches._looks = batches._jobs["batch-1"].looks + 3
    asyncio.run(judge_by_batch(store, QUESTIONS, procedure, courier_of(store, batches)))
    assert [len(lines) for lines in batches.asked] == [len(QUESTIONS)]
    assert store.count("grade") == {"ok": len(QUESTIONS)}


# --- the providers, over sockets


def test_a_batch_lives_from_lines_to_estimates(spelling, tmp_path):
    with server_of(spelling, rows={"overloaded": 0.1, "error": 0.05, "expired": 0.05, "length": 0.1}) as server:
        outcome = do(spelling, url_of(server), tmp_path / "a.db", batch_patience=replace(QUICK, rounds=9))
        account = server.account
    assert outcome.missing == 0
    assert account.paid.total() == TOTAL == account.served.total()
    assert account.paid_twice == 0
    with Run(tmp_path / "a.db") as run:
        counts, (_, asked, answered), failed = run.counts, run.spent, run.failed_calls
    assert sum(counts.values()) == TOTAL
    assert counts["truncated"] > 0
    assert (asked, answered) == (account.input_tokens, account.output_tokens)
    assert failed[0] > 0
    assert failed[1] == 0


@pytest.mark.slow
def test_rows_are_classified_as_what_they_were(spelling, tmp_path):
    rates = {"overloaded": 0.2, "error": 0.2, "expired": 0.2, "content_filter": 0.1, "refusal": 0.1, "length": 0.1}
    with server_of(spelling, rows=rates) as server:
        do(spelling, url_of(server), tmp_path / "a.db", n=16)
    with Store(tmp_path / "a.db") as store:
        found = set(store.count("respond"))
    filtered = {"openai": {"content_filter", "refusal"}, "anthropic": {"refusal"}, "google": {"content_filter"}}
    assert {"ok", "truncated", "server"} <= found
    assert "timeout" in found or spelling.startswith("google"), "Google says of a line only what failed"
    assert filtered[spelling.partition("/")[0]] <= found
    assert found <= {"ok", "truncated", "timeout", "server", "rate_limited", "content_filter", "refusal"}


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["expired", "canceled", "expired!", "canceled!"])
def test_a_batch_cut_short_keeps_what_it_delivered(spelling, ending, tmp_path):
    path, expired, half = tmp_path / "a.db", ending.startswith("expired"), not ending.endswith("!")
    with server_of(spelling) as server:
        server.jobs.endings = [ending]
        left = do(spelling, url_of(server), path).missing
        assert left == (0 if expired else TOTAL // 2 if half else TOTAL)
        assert created(server) == (2 if expired else 1), "what somebody cancelled is not submitted again at once"
        assert do(spelling, url_of(server), path).missing == 0
        assert server.account.paid_twice == 0


@pytest.mark.slow
def test_googles_failed_job_is_submitted_again(tmp_path):
    with GoogleServer(references=REFERENCES) as server:
        server.jobs.endings = ["failed"]
        assert do("google/gemini-2.5-flash", url_of(server), tmp_path / "a.db").missing == 0
        assert created(server) == 2


@pytest.mark.slow
def test_openais_failed_validation_stops_with_its_sentence(tmp_path):
    with OpenAIBatchServer(references=REFERENCES) as server:
        server.jobs.endings = ["failed"]
        server.reason = ("invalid_json_line", "This line is not parseable as valid JSON.")
        with pytest.raises(ModelError, match="not parseable"):
            do("openai/gpt-4o-mini", url_of(server), tmp_path / "a.db")


@pytest.mark.slow
def test_a_prompt_that_openais_filter_stops_is_filtered_for_all_its_choices(tmp_path):
    with OpenAIBatchServer(references=REFERENCES) as server:
        server.filters = QUESTIONS[2].text
        assert do("openai/gpt-4o-mini", url_of(server), tmp_path / "a.db").missing == 0
    with Run(tmp_path / "a.db") as run:
        assert run.counts == {"parsed": TOTAL - 12, "content_filter": 12, "missing": 0}


def test_a_prompt_that_is_too_long_fails_alone_in_a_batch(spelling, tmp_path):
    long = max(QUESTIONS, key=lambda question: len(question.text))
    with server_of(spelling) as server:
        server.beyond = lambda messages: 999 * any(long.text in content for _, content in messages)
        for _ in range(2):
            assert do(spelling, url_of(server), tmp_path / "a.db").missing == 0
        assert created(server) == 1
    with Run(tmp_path / "a.db") as run:
        assert run.counts == {"parsed": TOTAL - 12, "truncated": 12, "missing": 0}
        assert len([event for event in run.events if "too long" in event]) == 1


@pytest.mark.slow
@pytest.mark.parametrize(("event", "kind"), [("status", "page"), ("results", "half")])
def test_answers_that_cannot_be_read_are_asked_for_again(spelling, event, kind, tmp_path):
    with server_of(spelling) as server:
        server.on = {event: raising_once(Garbled(kind))}
        assert do(spelling, url_of(server), tmp_path / "a.db").missing == 0
        assert created(server) == 1
        assert server.account.paid_twice == 0


@pytest.mark.slow
def test_live_calls_and_batches_fill_one_run(spelling, tmp_path):
    path = tmp_path / "a.db"
    with server_of(spelling) as server:
        assert do(spelling, url_of(server), path, n=4, batch=False).missing == 0
        assert do(spelling, url_of(server), path, n=8).missing == 0
        assert do(spelling, url_of(server), path, n=12, batch=False).missing == 0
        assert server.account.served.total() == TOTAL
        seen = created(server)
        assert do(spelling, url_of(server), path, n=12).missing == 0
        assert created(server) == seen == 1


@pytest.mark.slow
def test_a_live_run_waits_for_what_is_under_way(spelling, tmp_path):
    path = tmp_path / "a.db"
    with server_of(spelling, polls=10**6) as server:
        left = do(spelling, url_of(server), path, batch_patience=replace(QUICK, failures=0)).missing
        assert left == TOTAL
        server.jobs.polls = 2
        assert do(spelling, url_of(server), path, batch=False).missing == 0
        assert created(server) == 1
        assert server.account.paid_twice == 0
        assert server.account.paid.total() == TOTAL


def test_a_live_run_buys_nothing_while_it_cannot_look_at_what_is_under_way(tmp_path):
    path, spelling = tmp_path / "a.db", "openai/gpt-4o-mini"

    def down():
        raise ConnectionAbortedError

    with OpenAIBatchServer(references=REFERENCES, polls=10**6) as server:
        do(spelling, url_of(server), path, batch_patience=replace(QUICK, failures=0))
        server.on = {"status": down}
        with pytest.raises(ModelError, match=r"12 requests are under way in batches of .* failed \(.*connection lost"):
            do(spelling, url_of(server), path, batch=False, batch_patience=replace(QUICK, failures=3))
        assert server.account.requests["POST /v1/chat/completions"] == 0
        server.on, server.jobs.polls = {}, 2
        assert do(spelling, url_of(server), path, batch=False).missing == 0
        assert (server.account.paid_twice, server.account.paid.total()) == (0, TOTAL)


def test_what_is_collected_is_what_the_ledger_says_whoever_judges_now(tmp_path, monkeypatch):
    path, spelling = tmp_path / "a.db", "openai/gpt-4o-mini"
    with OpenAIBatchServer(references=REFERENCES, polls=10**6) as server:
        do(spelling, url_of(server), path, batch_patience=replace(QUICK, failures=0))
        server.jobs.polls = 2
        monkeypatch.setenv("XAI_API_KEY", "k")
        monkeypatch.setenv("XAI_BASE_URL", server.base_url)
        assert do(spelling, url_of(server), path, batch=False, judge="xai/grok-4").missing == 0
        assert server.account.paid_twice == 0
    assert Ledger(Store(path)).open() == []


def test_results_whose_file_is_gone_are_asked_for_again_when_that_is_wanted(tmp_path, monkeypatch):
    path, spelling, read = tmp_path / "a.db", "openai/gpt-4o-mini", OpenAIBatchHandler.content

    def content(handler, name):
        if name.startswith(next(iter(handler.server.jobs.jobs))):
            handler.json(404, error_body(404, f"No such File object: {name}"))
        else:
            read(handler, name)

    monkeypatch.setattr(OpenAIBatchHandler, "content", content)
    with OpenAIBatchServer(references=REFERENCES) as server:
        for batch in (True, False):
            with pytest.raises(
                ModelError, match=r"gpt-4o-mini: No such File object: batch_.*-output \(404\); the resul"
            ):
                do(spelling, url_of(server), path, batch=batch)
        assert (created(server), server.account.requests["POST /v1/chat/completions"]) == (1, 0)
        assert do(spelling, url_of(server), path, retry_failed=True).missing == 0
        assert created(server) == 2


def test_a_connection_that_breaks_after_creation_pays_nothing_twice(spelling, tmp_path):
    with server_of(spelling) as server:
        server.on = {"created": raising_once()}
        server.jobs.hidden = 0.3
        assert do(spelling, url_of(server), tmp_path / "a.db").missing == 0
        assert created(server) == 1
        assert server.account.paid_twice == 0
    assert any("was found again" in text for text in events(tmp_path / "a.db"))


@pytest.mark.slow
def test_a_server_error_after_creation_pays_nothing_twice(spelling, tmp_path):
    with server_of(spelling) as server:
        server.on = {"created": iter([503]).__next__}
        server.jobs.hidden = 0.2
        do(spelling, url_of(server), tmp_path / "a.db")
        assert created(server) == 1
        assert server.account.paid_twice == 0


@pytest.mark.slow
def test_a_creation_that_takes_long_and_is_interrupted_pays_nothing_twice(spelling, tmp_path):
    """How long the upload took says nothing about how soon a list shows what came of it."""
    with server_of(spelling) as server:
        server.on = {"create": lambda: time.sleep(1.5 * QUICK.grace), "created": chain([503], repeat(None)).__next__}
        server.jobs.hidden = QUICK.grace / 4
        do(spelling, url_of(server), tmp_path / "a.db")
        assert created(server) == 1
        assert server.account.paid_twice == 0


@pytest.mark.slow
def test_a_connection_that_breaks_before_creation_submits_again(spelling, tmp_path):
    with server_of(spelling) as server:
        server.on = {"create": raising_once()}
        assert do(spelling, url_of(server), tmp_path / "a.db").missing == 0
        assert created(server) == 1


@pytest.mark.slow
def test_results_cut_in_the_middle_are_fetched_again(spelling, tmp_path):
    with server_of(spelling) as server:
        server.on = {"half": raising_once()}
        assert do(spelling, url_of(server), tmp_path / "a.db").missing == 0
        assert created(server) == 1
        assert server.account.paid_twice == 0


@pytest.mark.slow
def test_another_batch_of_our_size_is_not_taken_for_ours(spelling, tmp_path):
    with server_of(spelling) as server:
        lines = 18 if spelling.startswith("openai") else TOTAL

        def stranger():
            server.on = {}
            model = spelling.partition("/")[2]
            job = server.jobs.create(
                "batches/" if "google" in spelling else "x_", [("0" * 48, {})] * lines, model, display_name=""
            )
            job.results, job.polls = [], 99
            raise ConnectionAbortedError

        server.on = {"create": stranger}
        assert do(spelling, url_of(server), tmp_path / "a.db").missing == 0
        assert server.account.paid.total() == TOTAL


def test_a_refused_key_leaves_no_entry(spelling, tmp_path):
    with server_of(spelling) as server:
        server.broken = "401"
        with pytest.raises(ModelError):
            do(spelling, url_of(server), tmp_path / "a.db")
    with Store(tmp_path / "a.db") as store:
        assert [row for row in store.batches() if row[1] != "absent"] == []


REFUSALS = {"openai": "top_p", "anthropic": "temperature", "google": "topP"}


@pytest.mark.slow
def test_an_option_that_rows_are_refused_for_is_left_out_of_the_next_batch(spelling, tmp_path):
    with server_of(spelling) as server:
        name = REFUSALS[spelling.partition("/")[0]]
        server.refuses = {name: "Unsupported parameter: '{}'"} if spelling.startswith("openai") else {name}
        assert do(spelling, url_of(server), tmp_path / "a.db").missing == 0
        assert created(server) == 2
    said = [text for text in events(tmp_path / "a.db") if "left out" in text]
    assert len(said) == (2 if spelling.startswith("anthropic") else 1)


@pytest.mark.slow
def test_openai_lines_ask_for_eight_choices_and_fall_to_one(tmp_path):
    with OpenAIBatchServer(references=REFERENCES) as server:
        do("openai/gpt-4o-mini", url_of(server), tmp_path / "a.db", n=20)
        [job] = server.jobs.jobs.values()
        assert sorted({params.get("n", 1) for _, params in job.rows}) == [4, 8]
        assert set(job.metadata) == {"semece"}
    with OpenAIBatchServer(references=REFERENCES, choices=1) as server:
        assert do("openai/gpt-4o-mini", url_of(server), tmp_path / "b.db").missing == 0
    with OpenAIBatchServer(references=REFERENCES, single=True) as server:
        assert (
            do(
                "openai/gpt-4o-mini", url_of(server), tmp_path / "c.db", batch_patience=replace(QUICK, rounds=12)
            ).missing
            == 0
        )
    assert estimates(tmp_path / "b.db").equals(estimates(tmp_path / "c.db"))


@pytest.mark.slow
def test_openais_full_queue_makes_smaller_batches(tmp_path):
    with OpenAIBatchServer(references=REFERENCES, queue=5) as server:
        assert do("openai/gpt-4o-mini", url_of(server), tmp_path / "a.db").missing == 0
        assert server.account.paid_twice == 0


@pytest.mark.slow
def test_judges_are_asked_in_batches_too(spelling, tmp_path, monkeypatch):
    service = spelling.partition("/")[0]
    variable = {"openai": "OPENAI", "anthropic": "ANTHROPIC", "google": "GOOGLE_GEMINI"}[service]
    with server_of(spelling) as server:
        monkeypatch.setenv(f"{variable}_BASE_URL", url_of(server))
        assert do(spelling, None, tmp_path / "a.db", judge=spelling).missing == 0
        assert created(server) == 3, "responses, partitions, grades"
        live = ("/v1/messages", "completions", " generateContent")
        assert not any(path.endswith(live) for path in server.account.requests)
        assert do(spelling, None, tmp_path / "b.db", judge=spelling, batch=False).missing == 0
    with Run(tmp_path / "a.db") as run:
        assert all(view.grades for view in run.question_views())
    if service != "anthropic":  # where draws have seeds, batches and live calls give the same
        assert estimates(tmp_path / "a.db").equals(estimates(tmp_path / "b.db"))


def test_a_service_without_batches_says_so(tmp_path):
    with pytest.raises(ModelError, match="xai has no batch interface that semece knows"):
        do("xai/grok-4", "http://127.0.0.1:9", tmp_path / "a.db")
    assert not (tmp_path / "a.db").exists()


# --- results that are not what they should be


def without_id(line):
    row = json.loads(line)
    row = {name: value for name, value in row.items() if name not in {"custom_id", "key"}}
    return json.dumps(row).encode() + b"\n"


BAD_LINES = {
    "garbage": lambda lines: [b"<html>Bad gateway</html>\n", *lines[1:]],
    "without an id": lambda lines: [without_id(lines[0]), *lines[1:]],
    "no object": lambda lines: [b"[1, 2]\n", *lines[1:]],
    "null": lambda lines: [b"null\n", *lines[1:]],
    "deep": lambda lines: [b"[" * 100_000 + b"\n", *lines[1:]],
    "cut": lambda lines: [*lines[:-1], lines[-1][: len(lines[-1]) // 2]],
    "missing": lambda lines: lines[1:],
}


@pytest.mark.parametrize(
    ("spelling", "how"),
    [
        (name, how)
        for name in SERVERS
        for how in BAD_LINES
        if name.startswith("openai") or how in {"garbage", "deep", "cut"}
    ],
)
def test_a_bad_line_of_the_results_costs_that_line_alone(spelling, how, tmp_path, undisturbed):
    path = tmp_path / "a.db"
    with server_of(spelling) as server:
        whole = []

        def spoil(lines):
            whole.append(len(lines))
            return BAD_LINES[how](lines) if len(server.jobs.jobs) == 1 else lines

        server.spoil = spoil
        assert do(spelling, url_of(server), path).missing == 0
        choices = server.account.paid_twice
        assert created(server) == 2
        assert server.account.paid.total() == TOTAL + choices
    assert whole[:2] == [whole[0]] * 2, "the results of the first batch are read twice"
    assert choices in {1, 4, 8}
    said = [text for text in events(path) if "1 line is without a result: it is read once more" in text]
    assert len(said) == 1
    if how not in {"cut", "missing"}:
        assert any("1 results were of no use, the first: " in text for text in events(path))
    assert estimates(path).equals(estimates(undisturbed(spelling)))


@pytest.mark.parametrize("how", ["a stranger's", "twice"])
def test_a_result_too_many_is_nobodys(spelling, how, tmp_path):
    with server_of(spelling) as server:
        strange = {"twice": lambda lines: [*lines, lines[0]], "a stranger's": lambda lines: [*lines, renamed(lines[0])]}
        server.spoil = strange[how]
        assert do(spelling, url_of(server), tmp_path / "a.db").missing == 0
        assert (created(server), server.account.paid_twice) == (1, 0)


def renamed(line):
    row = json.loads(line)
    return json.dumps({n: "x" * 48 if n in {"custom_id", "key"} else v for n, v in row.items()}).encode() + b"\n"


def test_a_batch_that_lacks_half_of_its_results_is_asked_for_once_more_and_then_left(spelling, tmp_path):
    path = tmp_path / "a.db"
    with server_of(spelling) as server:
        server.spoil = lambda lines: lines[: len(lines) // 2]
        done = do(spelling, url_of(server), path)
        assert created(server) == 2
        assert 0 < done.missing < TOTAL / 2
        assert "without a result for the line" in done.last_failure
        server.spoil = list
        assert do(spelling, url_of(server), path).missing == 0
        assert created(server) == 3


def test_results_that_vanished_are_not_bought_again_unless_that_is_wanted(spelling, tmp_path):
    path = tmp_path / "a.db"
    with server_of(spelling) as server:
        server.vanished = True
        for _ in range(2):
            with pytest.raises(ModelError, match="were paid for: ask again with --retry-failed"):
                do(spelling, url_of(server), path)
        assert created(server) == 1
        server.vanished = False
        assert do(spelling, url_of(server), path).missing == 0
        assert (created(server), server.account.paid_twice) == (1, 0)


@pytest.mark.parametrize("gives_inputs", [True, False])
def test_a_batch_whose_metadata_were_dropped_is_found_by_its_lines(gives_inputs, tmp_path):
    spelling = "openai/gpt-4o-mini"
    with server_of(spelling) as server:
        server.forgets, server.gives_inputs = True, gives_inputs
        server.on = {"created": raising_once()}
        assert do(spelling, url_of(server), tmp_path / "a.db").missing == 0
        assert (created(server), server.account.paid_twice) == (1, 0)
    assert any("was found again" in text for text in events(tmp_path / "a.db"))


# --- kills with -9


class Killer:
    """Kills a client when an event happens for the k-th time; the event's handler waits until it is dead."""

    def __init__(self, at=1):
        self.at, self.client, self.killed = at, None, False

    def __call__(self):
        self.at -= 1
        if self.at == 0:
            os.kill(self.client.pid, signal.SIGKILL)
            self.client.wait()
            self.killed = True


def killed_run(spelling, server, path, event=None, at=1, **options):
    """Run a client that is killed; tells whether it was."""
    words = [sys.executable, "-m", "tests.batch_client", spelling, url_of(server), str(path)]
    words += [word for name, value in options.items() for word in (f"--{name}", str(value))]
    killer = Killer(at)
    if event:
        server.on = {event: killer}
    killer.client = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    _, err = killer.client.communicate(timeout=120)
    server.on = {}
    assert killer.client.returncode == -signal.SIGKILL, err.decode()[-2000:]


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_while_waiting_loses_nothing_and_says_how_to_continue(number, code, tmp_path):
    data = tmp_path / "six.jsonl"
    rows = [{"id": q.id, "question": q.text, "references": list(q.references)} for q in QUESTIONS]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = [
        str(Path(sys.executable).with_name("semece")),
        "run",
        "--model",
        "openai/gpt-4o-mini",
        "--dataset",
        str(data),
        "-n",
        "4",
    ]
    words += ["--judge", "exact", "--batch", "-o", str(tmp_path / "a.db")]
    with server_of("openai/gpt-4o-mini", polls=10**6) as server:
        under_way = threading.Event()
        server.on = {"created": under_way.set}
        words += ["--base-url", url_of(server)]
        client = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert under_way.wait(60)
        time.sleep(0.5)
        client.send_signal(number)
        _, err = client.communicate(timeout=60)
        assert client.returncode == code
        assert b"run it again to continue" in err
        assert b"Traceback" not in err
        server.jobs.polls = 1
        done = subprocess.run(words, capture_output=True, timeout=60)
        assert done.returncode == 0, done.stderr
        assert created(server) == 1


POINTS = {
    "openai": [("upload", 1), ("created", 1), ("half", 1)],
    "anthropic": [("create", 1), ("created", 1)],
    "google": [("created", 1), ("half", 1)],
}
"""Some of those that benchmarks/batch_kills.py tries."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("service", "event", "at"), [(service, *point) for service, points in POINTS.items() for point in points]
)
def test_a_kill_changes_nothing_and_pays_nothing_twice(service, event, at, tmp_path, undisturbed):
    spelling = next(name for name in SERVERS if name.startswith(service))
    with server_of(spelling) as server:
        killed_run(spelling, server, tmp_path / "a.db", event, at)
        assert do(spelling, url_of(server), tmp_path / "a.db").missing == 0
        assert server.account.paid_twice == 0
        assert server.account.paid.total() == TOTAL
    assert estimates(tmp_path / "a.db").equals(estimates(undisturbed(spelling)))


@pytest.mark.slow
def test_a_kill_between_two_commits_of_results_loses_and_doubles_nothing(spelling, tmp_path, undisturbed):
    with server_of(spelling, rows={"overloaded": 0.3}) as server:
        killed_run(spelling, server, tmp_path / "a.db", flush=2)
        with Store(tmp_path / "a.db") as store:
            assert 0 < sum(store.count("respond").values()) < TOTAL
        assert do(spelling, url_of(server), tmp_path / "a.db").missing == 0
        assert server.account.paid_twice == 0
    whole = undisturbed(spelling, 0.3)
    assert estimates(tmp_path / "a.db").equals(estimates(whole))
    with Store(tmp_path / "a.db") as one, Store(whole) as two:
        assert one.count("respond") == two.count("respond")


@pytest.mark.slow
@pytest.mark.parametrize(("event", "at"), [("created", 2), ("half", 3)])
def test_a_kill_in_a_judges_stage_changes_nothing(event, at, tmp_path, monkeypatch):
    spelling = "openai/gpt-4o-mini"
    with server_of(spelling) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", url_of(server))
        killed_run(spelling, server, tmp_path / "a.db", event, at, judge=spelling)
        assert do(spelling, None, tmp_path / "a.db", judge=spelling).missing == 0
        assert server.account.paid_twice == 0
    with server_of(spelling) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", url_of(server))
        do(spelling, None, tmp_path / "b.db", judge=spelling)
    assert estimates(tmp_path / "a.db").equals(estimates(tmp_path / "b.db"))
