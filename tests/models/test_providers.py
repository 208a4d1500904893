"""Every row of the table of services holds: what is said of a service is what opening and asking it does."""

import asyncio
import re
from typing import NamedTuple

import pytest

from semece.errors import ModelError
from semece.models import PROVIDERS, Message, Request, check_model, open_batches, open_model, service_of, spellings
from semece.sampling.budget import Price, known_price
from semece.sampling.settings import Settings, default_judge
from tests.servers.anthropic_server import AnthropicServer
from tests.servers.google_server import GoogleServer
from tests.servers.openai_server import OpenAIServer


class Claim(NamedTuple):
    """What a service is, said a second time."""

    key: str | None = None
    address: str | None = None
    choices: int = 1
    batches: bool = False
    server: type | None = OpenAIServer


CONFORMANCE = {
    "local": Claim(choices=50, server=None),
    "gguf": Claim(choices=50, server=None),
    "openai": Claim("OPENAI_API_KEY", "https://api.openai.com/v1", 8, batches=True),
    "anthropic": Claim("ANTHROPIC_API_KEY", batches=True, server=AnthropicServer),
    "google": Claim("GOOGLE_API_KEY", batches=True, server=GoogleServer),
    "xai": Claim("XAI_API_KEY", "https://api.x.ai/v1"),
    "mistral": Claim("MISTRAL_API_KEY", "https://api.mistral.ai/v1"),
    "openrouter": Claim("OPENROUTER_API_KEY", "https://openrouter.ai/api/v1"),
    "groq": Claim("GROQ_API_KEY", "https://api.groq.com/openai/v1", batches=True),
    "deepseek": Claim("DEEPSEEK_API_KEY", "https://api.deepseek.com/v1"),
    "together": Claim("TOGETHER_API_KEY", "https://api.together.xyz/v1", 8),
    "ollama": Claim("OLLAMA_API_KEY", "http://127.0.0.1:11434/v1"),
    "vllm": Claim("VLLM_API_KEY", "http://127.0.0.1:8000/v1", 50),
    "openai-api": Claim("ACME_API_KEY", choices=8, batches=True),
    "fake": Claim(choices=50, batches=True, server=None),
}
"""By word; a new service is a row here too."""

ONLINE = [word for word, claim in CONFORMANCE.items() if claim.server]
KEY = "sk-marker-0123456789"


def spelled(word):
    return f"{word}/{PROVIDERS[word].example}"


def test_every_service_is_claimed():
    assert set(CONFORMANCE) == set(PROVIDERS)


@pytest.mark.parametrize("word", CONFORMANCE)
def test_a_row_says_what_is_claimed(word):
    service, claim = service_of(spelled(word)), CONFORMANCE[word]
    assert (service.address, service.choices, service.batches) == (claim.address, claim.choices, claim.batches)
    assert spellings()[f"{word}/{service.spelled}"] == service.described


@pytest.mark.parametrize("word", ONLINE)
def test_a_service_answers_with_its_key_and_as_many_choices_as_its_row_says(word, monkeypatch):
    claim = CONFORMANCE[word]
    monkeypatch.setenv(claim.key, KEY)

    async def ask(address):
        model = open_model(spelled(word), base_url=address, timeout=20.0)
        try:
            assert (model.name, model.max_choices) == (spelled(word), claim.choices)
            return await model(Request((Message("user", "Question: Capital of France?"),), n=claim.choices, seed=7))
        finally:
            await model.aclose()

    options = {"key": KEY, "choices": claim.choices} if claim.server is OpenAIServer else {}
    with claim.server(**options) as server:
        call = asyncio.run(ask(getattr(server, "base_url", None) or server.url))
    assert [reply.status for reply in call.replies] == ["ok"] * claim.choices


@pytest.mark.parametrize("word", ONLINE)
def test_the_environment_may_name_another_address_and_without_one_a_key_is_needed(word, monkeypatch):
    claim, custom = CONFORMANCE[word], word == "openai-api"
    for name in (claim.key, *PROVIDERS[word].keys):
        monkeypatch.delenv(name, raising=False)
    variable = {"google": "GOOGLE_GEMINI_BASE_URL", "openai-api": "ACME_BASE_URL"}.get(word, f"{word.upper()}_BASE_URL")
    monkeypatch.setenv(variable, "https://other.example/v1")
    with pytest.raises(ModelError, match=f"needs a key: set {claim.key} "):
        open_model(spelled(word))
    monkeypatch.setenv(variable, "http://127.0.0.1:9/v1")
    assert open_model(spelled(word)).name == spelled(word)
    monkeypatch.delenv(variable)
    free = PROVIDERS[word].cost == "free"
    if free:
        assert open_model(spelled(word)).base_url == claim.address
    else:
        with pytest.raises(ModelError, match="needs an address: set ACME_BASE_URL" if custom else "needs a key: set "):
            open_model(spelled(word))


@pytest.mark.parametrize("word", CONFORMANCE)
def test_batches_open_where_the_row_has_them_and_are_refused_elsewhere(word, monkeypatch):
    if claim := CONFORMANCE[word].key:
        monkeypatch.setenv(claim, KEY)
    if not CONFORMANCE[word].batches:
        with pytest.raises(ModelError, match=f"^{word} has no batch interface that semece knows"):
            open_batches(spelled(word) + ("x.gguf" if word == "gguf" else ""), base_url="http://127.0.0.1:9/v1")
        return
    model = open_batches(spelled(word), base_url="http://127.0.0.1:9/v1")
    assert (model.max_choices, model.marks) == (CONFORMANCE[word].choices, word not in {"anthropic", "google"})


def test_what_runs_here_is_free_and_has_a_default_judge():
    here = {word for word, service in PROVIDERS.items() if service.runs_here}
    assert here == {"local", "gguf", "fake"}
    for word in here:
        assert default_judge(f"{word}/{PROVIDERS[word].spelled}") == "rules"
        assert known_price(spelled(word)) == Price(0.0, 0.0)
    assert {w for w, service in PROVIDERS.items() if service.cost == "free"} == here | {"ollama", "vllm"}
    assert known_price("openai-api/ours/gpt-4o") is None
    with pytest.raises(Exception, match=re.escape("name a judge: --judge rules (free) or --judge ollama/m")):
        default_judge("ollama/m")


def test_a_model_that_continues_a_text_has_room_for_less():
    told = {word: Settings(spelled(word), "starter") for word in PROVIDERS}
    assert {word for word, settings in told.items() if settings.embedded} == {"local", "gguf"}
    assert {word: settings.decoding.max_tokens for word, settings in told.items() if settings.embedded} == {
        "local": 64,
        "gguf": 64,
    }
    assert {settings.decoding.max_tokens for settings in told.values() if not settings.embedded} == {1024}


def test_the_embedded_model_is_one():
    said = "there is no model 'local/other': a model is spelled as one of local/smollm2, gguf/PATH, "
    with pytest.raises(ModelError, match=re.escape(said)):
        check_model("local/other")
