"""How ``pydantic-ai`` is connected to Anthropic and Google."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

kept_bodies: ContextVar[list[str] | None] = ContextVar("kept_bodies", default=None)
"""Where a call that is waiting wants the bodies as they come."""


def client_of(timeout: float, *, here: bool) -> Any:  # noqa: ANN401 - httpx2 is there only with the extra
    """Open connections that keep the bodies for :data:`kept_bodies`."""
    import httpx2

    limits = httpx2.Limits(max_connections=1000, max_keepalive_connections=100)
    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(timeout, connect=min(timeout, 30.0)),
        limits=limits,
        trust_env=not here,  # on this machine no proxy is asked
        event_hooks={"response": [_keep_body]},
    )


async def _keep_body(response: Any) -> None:  # noqa: ANN401 - httpx2 is there only with the extra
    """Keep the body as it came, for the call that is waiting for it."""
    kept = kept_bodies.get()
    if kept is not None:
        await response.aread()
        kept.append(response.text)


def anthropic_model(name: str, key: str, url: str | None, timeout: float, client: Any) -> Any:  # noqa: ANN401
    """Make pydantic-ai's model of Anthropic; nothing is sent twice."""
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    sdk = AsyncAnthropic(api_key=key, base_url=url, http_client=client, timeout=timeout, max_retries=0)
    return AnthropicModel(name, provider=AnthropicProvider(anthropic_client=sdk))


def google_model(name: str, key: str, url: str | None, timeout: float, client: Any) -> Any:  # noqa: ANN401
    """Make pydantic-ai's model of Google; nothing is sent twice."""
    from google.genai.types import HttpRetryOptions
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    del timeout  # the connections have it
    once = HttpRetryOptions(attempts=1)
    return GoogleModel(name, provider=GoogleProvider(api_key=key, base_url=url, http_client=client, retry_options=once))
