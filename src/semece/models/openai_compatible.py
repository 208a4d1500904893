"""Services that speak OpenAI's chat completions: one adapter, a table of addresses and keys.

A call is one request; pacing and repeating belong to the pipeline. What a service refuses by name in a 400 (an option,
several choices) is left out from then on, and said once.
"""

from __future__ import annotations

import email.utils
import json
import logging
import os
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from semece.errors import ModelError, TransientError
from semece.models import Call, Reply, Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from semece.models import ReplyStatus, Request

LOOPBACK = {"127.0.0.1", "localhost", "::1"}


@dataclass(frozen=True, slots=True)
class Service:
    """Where a service is and what it takes.

    Parameters
    ----------
    base_url : str or None
        Its address; None: from the environment.
    key : str
        The environment variable of its key.
    max_choices : int
        Most choices of one request.
    max_tokens : str
        What it calls the most tokens of a reply.
    """

    base_url: str | None
    key: str
    max_choices: int = 1
    max_tokens: str = "max_tokens"


SERVICES = {
    "openai": Service("https://api.openai.com/v1", "OPENAI_API_KEY", 8, "max_completion_tokens"),
    "xai": Service("https://api.x.ai/v1", "XAI_API_KEY"),
    "mistral": Service("https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    "openrouter": Service("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "groq": Service("https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    "deepseek": Service("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    "together": Service("https://api.together.xyz/v1", "TOGETHER_API_KEY", 8),
    "ollama": Service("http://127.0.0.1:11434/v1", "OLLAMA_API_KEY"),
    "vllm": Service("http://127.0.0.1:8000/v1", "VLLM_API_KEY", 50),
}
"""Address, key and choices by the first word of a spelling."""


def open_openai(spelling: str, *, base_url: str | None = None, timeout: float = 600.0) -> OpenAICompatible:
    """Open a model of an OpenAI-compatible service.

    Parameters
    ----------
    spelling : str
        ``service/NAME`` with a service of :data:`SERVICES`, or ``openai-api/SERVICE/NAME`` with ``SERVICE_BASE_URL``
        and ``SERVICE_API_KEY`` in the environment.
    base_url : str, optional
        Wins over the table and the environment.
    timeout : float
        Seconds for one call.

    Raises
    ------
    ModelError
        The spelling, the address or the key is missing.
    """
    service, name, word = _service(spelling)
    address = base_url or os.environ.get(f"{word}_BASE_URL") or service.base_url
    if not address:
        raise ModelError(f"{spelling} needs an address: set {word}_BASE_URL, or give --base-url")
    key = os.environ.get(service.key)
    if not key and urlsplit(address).hostname not in LOOPBACK:
        raise ModelError(f"{spelling} needs a key: set {service.key} in the environment, or give --env-file")
    return OpenAICompatible(spelling, name, service, address=address, key=key or "", timeout=timeout)


def _service(spelling: str) -> tuple[Service, str, str]:
    """Split a spelling into the service, the model's name there, and the word of its variables."""
    first, _, rest = spelling.partition("/")
    if first in SERVICES and rest:
        return SERVICES[first], rest, re.sub(r"\W", "_", first).upper()
    custom, _, name = rest.partition("/")
    if first != "openai-api" or not custom or not name:
        raise ModelError(f"{spelling!r} must be spelled openai-api/SERVICE/NAME or SERVICE/NAME of a known service")
    word = re.sub(r"\W", "_", custom).upper()
    return Service(None, f"{word}_API_KEY", 8), name, word


class OpenAICompatible:
    """One model of one service.

    Parameters
    ----------
    spelling, name : str
        What opens it; what the service calls it.
    service : Service
        What it takes.
    address, key : str
        Base URL and key; both stay out of every message.
    timeout : float
        Seconds for one call.
    """

    def __init__(
        self, spelling: str, name: str, service: Service, *, address: str, key: str, timeout: float = 600.0
    ) -> None:
        from openai import AsyncOpenAI

        self._spelling, self._model, self._max_choices = spelling, name, service.max_choices
        self._tokens_name, self._renamed = service.max_tokens, False
        self._dropped: set[str] = set()
        self._said: set[str] = set()
        self._secrets = _secrets(address, key)
        self._client = AsyncOpenAI(api_key=key or "none", base_url=address, timeout=timeout, max_retries=0)
        _keep_out_of_logs(self._secrets)

    @property
    def name(self) -> str:
        """The spelling that opens it."""
        return self._spelling

    @property
    def max_choices(self) -> int:
        """How many choices one request may ask for now."""
        return self._max_choices

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def __call__(self, request: Request, /) -> Call:
        """Ask once; leave out what the service refuses by name.

        Raises
        ------
        TransientError, ModelError
            As the protocol says.
        """
        import openai

        events: list[str] = []
        while True:
            body, started = self._body(request), time.perf_counter()
            try:
                raw = await self._client.chat.completions.with_raw_response.create(**body)
                text = raw.http_response.text
            except openai.APIStatusError as error:
                event = self._learn(error, body) if error.status_code in {400, 422} else None
                if event is None:
                    raise self._explain(error) from None
                if event not in self._said:
                    self._said.add(event)
                    events.append(event)
                continue
            except openai.APIConnectionError as error:
                raise self._lost(error) from None
            latency = time.perf_counter() - started
            return self._read(text, request.n, raw.headers.get("x-request-id"), latency, events)

    def _body(self, request: Request) -> dict[str, Any]:
        options = request.decoding
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": _role(message.role), "content": message.content} for message in request.messages],
            "temperature": options.temperature,
            "top_p": options.top_p,
            self._tokens_name: options.max_tokens,
            "reasoning_effort": options.reasoning_effort,
            "seed": request.seed,
            "n": min(request.n, self._max_choices) if request.n > 1 and self._max_choices > 1 else None,
            "response_format": _format(options.schema),
        }
        return {name: value for name, value in body.items() if value is not None and name not in self._dropped}

    def _learn(self, error: Any, body: Mapping[str, Any]) -> str | None:  # noqa: ANN401 - an APIStatusError
        """Leave out, from now on, the option that a refusal names; None if it names none."""
        named = _named(error, [name for name in body if name not in {"model", "messages"}])
        if named is None:
            return None
        if named == "n":
            self._max_choices = 1
            return f"{self._spelling} gives one choice per request: asked one by one"
        others = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
        if named in others:
            if self._tokens_name == named and self._renamed:
                return None
            self._tokens_name, self._renamed = others[named], True
            return f"{self._spelling} does not take {named}: sent as {others[named]}"
        self._dropped.add(named)
        return f"{self._spelling} does not take {named}: left out"

    def _explain(self, error: Any) -> ModelError:  # noqa: ANN401 - an APIStatusError
        status, sentence = error.status_code, self._clean(_sentence(error))
        if status == 429 and not _out_of_quota(error):
            wait = retry_after(error.response.headers)
            return TransientError(f"{self._spelling}: {sentence}", status="rate_limited", retry_after=wait)
        if status in {408, 409, 425} or status >= 500:
            wait = retry_after(error.response.headers)
            return TransientError(f"{self._spelling}: {status} {sentence}", status="server", retry_after=wait)
        reasons = {401: "refused the key", 403: "refused the key", 404: "does not know this model", 402: "wants money"}
        reason = reasons.get(status, "has no quota left" if status == 429 else "refused the request")
        return ModelError(f"{self._spelling} {reason} ({status}): {sentence}")

    def _lost(self, error: Any) -> TransientError:  # noqa: ANN401 - an APIConnectionError
        import openai

        if isinstance(error, openai.APITimeoutError):
            sent = type(error.__cause__).__name__ not in {"ConnectTimeout", "PoolTimeout"}
            return TransientError(f"{self._spelling}: no reply in time", status="timeout", maybe_paid=sent)
        cause = type(error.__cause__).__name__
        return TransientError(
            f"{self._spelling}: connection lost ({cause})", status="connection", maybe_paid=cause != "ConnectError"
        )

    def _read(self, text: str, wanted: int, request_id: str | None, latency: float, events: Iterable[str]) -> Call:
        try:
            body = json.loads(text)
            choices = body["choices"][:wanted]
            replies = tuple(_reply(choice) for choice in sorted(choices, key=lambda c: c.get("index") or 0))
            used = body.get("usage") or {}
            usage = Usage(used["prompt_tokens"], used.get("completion_tokens", 0)) if "prompt_tokens" in used else None
        except (ValueError, KeyError, TypeError, AttributeError):
            replies = ()
        if not replies:
            raise TransientError(f"{self._spelling}: the reply was broken", status="broken_body", maybe_paid=True)
        return Call(replies, usage, request_id, latency, tuple(events))

    def _clean(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return " ".join(text.split())[:300]


def _role(role: str) -> str:
    return "user" if role == "completion" else role


def _format(schema: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if schema is None:
        return None
    return {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": dict(schema)}}


def _reply(choice: dict[str, Any]) -> Reply:
    message, reason = choice["message"], choice.get("finish_reason")
    text = _text(message.get("content"))
    status: ReplyStatus = "ok"
    if message.get("refusal"):
        status = "refusal"
    elif reason == "length":
        status = "truncated"
    elif reason == "content_filter":
        status = "content_filter"
    return Reply(text, status, reason, json.dumps(choice, ensure_ascii=False, separators=(",", ":")))


def _text(content: object) -> str:
    """Give the text of a message's content: a string, a list of parts, or nothing."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(part["text"] for part in content if isinstance(part, dict) and part.get("type") == "text")
    if content is None:
        return ""
    raise TypeError(type(content).__name__)


def _details(error: Any) -> dict[str, Any]:  # noqa: ANN401 - an APIStatusError
    body = error.body
    if isinstance(body, dict) and isinstance(body.get("error"), dict):
        body = body["error"]
    return body if isinstance(body, dict) else {}


def _sentence(error: Any) -> str:  # noqa: ANN401 - an APIStatusError
    message = _details(error).get("message")
    return message if isinstance(message, str) else str(error.body or error.message)


def _out_of_quota(error: Any) -> bool:  # noqa: ANN401 - an APIStatusError
    details = _details(error)
    return "insufficient_quota" in {details.get("code"), details.get("type")}


def _named(error: Any, sent: Iterable[str]) -> str | None:  # noqa: ANN401 - an APIStatusError
    """Find the option that a 400 names: by its ``param`` field, else quoted or as a whole word in the sentence."""
    options, sentence = list(sent), _sentence(error)
    param = _details(error).get("param")
    if isinstance(param, str) and param.partition(".")[0] in options:
        return param.partition(".")[0]
    for name in sorted(options, key=len, reverse=True):
        quoted = re.search(rf"[`'\"]{name}[`'\".]", sentence)
        if quoted or (len(name) > 1 and re.search(rf"\b{name}\b", sentence)):
            return name
    if "n" in options and re.search(r"\bn\b ?(?:>|must|should|is|=)", sentence):
        return "n"
    return None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Read how long a service asks to wait: seconds, milliseconds or an HTTP date.

    Examples
    --------
    >>> retry_after({"retry-after": "2.5"}), retry_after({"retry-after-ms": "300"}), retry_after({})
    (2.5, 0.3, None)
    """
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            return max(0.0, float(value) / unit)
        except ValueError:
            moment = email.utils.parsedate_to_datetime(value) if "," in value else None
            return None if moment is None else max(0.0, moment.timestamp() - time.time())
    return None


def _secrets(address: str, key: str) -> tuple[str, ...]:
    """List what must not be printed: the key, and what hides in the address."""
    parts = urlsplit(address)
    hidden = [key, parts.password, parts.username, *(value for _, value in parse_qsl(parts.query))]
    return tuple(secret for secret in hidden if secret and len(secret) > 3)


class _Redacting(logging.Filter):
    """Takes secrets out of the log records of other libraries."""

    def __init__(self, secrets: tuple[str, ...]) -> None:
        super().__init__()
        self._secrets = secrets

    def filter(self, record: logging.LogRecord) -> bool:
        """Redact the finished message; let the record through."""
        text = record.getMessage()
        if any(secret in text for secret in self._secrets):
            for secret in self._secrets:
                text = text.replace(secret, "***")
            record.msg, record.args = text, ()
        return True


def _keep_out_of_logs(secrets: tuple[str, ...]) -> None:
    if not secrets:
        return
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in {"openai", "httpx", "httpcore", "httpx2", "httpcore2"}:
            logging.getLogger(name).addFilter(_Redacting(secrets))
