"""Anthropic and Google as services: their keys, their addresses, and how ``pydantic-ai`` is connected to them."""

from __future__ import annotations

import os
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from semece.errors import ModelError
from semece.models.shared.secrets import sendable

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Service:
    """What a service needs to be opened.

    Parameters
    ----------
    keys : tuple of str
        Environment variables that may hold its key; the first that is set counts.
    title : str
        Its name for people.
    address : str
        The environment variable that may hold another endpoint.
    """

    keys: tuple[str, ...]
    title: str
    address: str


SERVICES: Mapping[str, Service] = {
    "anthropic": Service(("ANTHROPIC_API_KEY",), "Anthropic", "ANTHROPIC_BASE_URL"),
    "google": Service(("GOOGLE_API_KEY", "GEMINI_API_KEY"), "Google", "GOOGLE_GEMINI_BASE_URL"),
}
"""Services that are reached through ``pydantic-ai``."""

NO_KEY = "none"
"""What is sent to a server on this machine in the place of a key."""

kept_bodies: ContextVar[list[str] | None] = ContextVar("kept_bodies", default=None)
"""Where a call that is waiting wants the bodies as they come."""


def key_of(service: Service, *, here: bool) -> str:
    """Find the key of a service; a server on this machine needs none.

    Parameters
    ----------
    service : Service
        Whose.
    here : bool
        Whether it is on this machine.

    Raises
    ------
    ModelError
        There is none, or one that no HTTP header can carry.
    """
    for name in service.keys:
        if key := sendable(os.environ.get(name, ""), name):
            return key
    if here:
        return NO_KEY
    raise ModelError(
        f"{service.title} needs a key: set {' or '.join(service.keys)} in the environment or in --env-file"
    )


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


def google_model(name: str, key: str, url: str | None, client: Any) -> Any:  # noqa: ANN401
    """Make pydantic-ai's model of Google; nothing is sent twice."""
    from google.genai.types import HttpRetryOptions
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    once = HttpRetryOptions(attempts=1)
    return GoogleModel(name, provider=GoogleProvider(api_key=key, base_url=url, http_client=client, retry_options=once))
