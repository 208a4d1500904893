"""The adapter of OpenAI-compatible services against the real server of llama.cpp, with the embedded model's weights."""

import asyncio

import pytest

from semece.datasets import Dataset
from semece.errors import ProviderError
from semece.models import Decoding, Message, Request, open_model
from semece.models.embedded.weights import SMOLLM2, find
from semece.records import Question
from semece.runs.run import Run
from semece.sampling.settings import Settings
from tests.conftest import absent
from tests.making_runs import execute
from tests.servers.llama_cpp_server import llama_cpp

pytestmark = [pytest.mark.weights, pytest.mark.slow]

KEY = "sk-marker-0123456789"
SLOTS, SPELLING = 4, "openai-api/llama/smollm2"


@pytest.fixture(scope="module")
def address():
    if find(SMOLLM2) is None:
        absent("the embedded model's weights (semece fetch-model)")
    pytest.importorskip("xllamacpp")
    with llama_cpp(slots=SLOTS, key=KEY) as (_, url):
        yield url


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("LLAMA_API_KEY", KEY)


def ask(address, *requests):
    """Ask one after the other; give the model and the calls."""

    async def go():
        model = open_model(SPELLING, base_url=address)
        try:
            return model, [await model(request) for request in requests]
        finally:
            await model.aclose()

    return asyncio.run(go())


def request_of(text="Name a colour.", *, n=1, seed=5):
    return Request((Message("user", text),), Decoding(max_tokens=8), n=n, seed=seed)


def test_choices_are_drawn_with_the_seeds_that_follow_and_only_those_of_one_are_counted(address):
    model, [several, *single] = ask(address, request_of(n=SLOTS), *(request_of(seed=5 + i) for i in range(2)))
    assert model.max_choices == 8
    assert len(several.replies) == SLOTS
    assert several.replies[0].text == single[0].replies[0].text
    assert several.replies[1].text == single[1].replies[0].text
    assert several.usage.input_tokens == single[0].usage.input_tokens
    assert several.usage.output_tokens <= 8, "docs/providers.md says so of this server"


def test_more_choices_than_it_has_slots_are_asked_one_by_one(address):
    model, [call] = ask(address, request_of(n=8))
    assert (model.max_choices, len(call.replies)) == (1, 1)
    assert call.usage.output_tokens <= 8
    assert call.events == (f"{SPELLING} gives one choice per request: asked one by one",)


def test_a_prompt_beyond_its_context_costs_nothing_and_a_wrong_key_ends_with_its_sentence(address, monkeypatch):
    _, [call] = ask(address, request_of("word " * 900))
    assert (call.replies[0].status, call.usage.output_tokens) == ("truncated", 0)
    monkeypatch.setenv("LLAMA_API_KEY", "another-0123456789")
    with pytest.raises(ProviderError, match=r"refused the key \(401\): Invalid API Key"):
        ask(address, request_of())


def test_a_run_stores_every_answer_and_what_it_took(address, tmp_path):
    data = Dataset("two", (Question("a", "Name a colour.", ("red",)), Question("b", "Name a number.", ("2",))))
    settings = Settings(
        SPELLING, "two", n=3, judge="rules", base_url=address, elicit="none", max_tokens=8, concurrency=2
    )
    assert asyncio.run(execute(settings, tmp_path / "a.db", dataset=data)).missing == 0
    with Run(tmp_path / "a.db") as run:
        assert run.responses().height == 6
        _, asked, answered = run.spent
    assert asked > 6 * 10
    assert 6 <= answered <= 6 * 8
