"""Anthropic and Google, through ``pydantic-ai-slim`` (extra ``providers``).

One request gives one choice: these services bill several choices and return one. A call is sent once; an option that
the service refuses by name is left out from then on and the call sent again.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, get_args
from urllib.parse import urlsplit

from semece.errors import ModelError, ProviderError, TransientError, finish_status
from semece.models.anthropic_google.provider_errors import OPTIONS, explain, named_option, sentence_of
from semece.models.protocol import Call, Reply
from semece.models.services import is_loopback
from semece.models.shared.http_limits import HEADERS, MOST_RESULTS, named, read_at_most, stay_at_host
from semece.models.shared.refusals import (
    Noticed,
    error_inside,
    is_too_long,
    meant_status,
    too_long,
)
from semece.models.shared.secrets import check_address, clear, hidden_in, hide, keep_out_of_logs, key_of, secrets_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from semece.models.protocol import Decoding, Message, ReplyStatus, Request
    from semece.models.services import Service


UNREADABLE = (AttributeError, TypeError, KeyError, IndexError, ValueError, AssertionError, RecursionError)
"""What the libraries raise for a body of another shape than the service's."""


kept_bodies: ContextVar[list[str] | None] = ContextVar("kept_bodies", default=None)
"""Where a call that is waiting wants the bodies as they come."""

chat_of: ContextVar[Noticed | None] = ContextVar("chat_of", default=None)
"""What is noticed of the model whose call is waiting; None where the request is no call."""

NO_KEY = "none"
"""What is sent to a server on this machine in the place of a key."""


def open_provider(
    spelling: str, name: str, service: Service, *, base_url: str | None = None, timeout: float = 600.0
) -> ProviderModel:
    """Open a model of Anthropic or Google.

    Parameters
    ----------
    spelling, name : str
        What opens it; what the service calls it.
    service : Service
        What is known of it.
    base_url : str, optional
        Another endpoint. None: the environment's if it names one, else the service's own.
    timeout : float
        Seconds of one call.

    Returns
    -------
    ProviderModel

    Raises
    ------
    ModelError
        No key that can be sent (none is needed on this machine), or the extra is not installed.
    """
    url = base_url if base_url is not None else os.environ.get(service.address_variable) or None
    if url is not None:
        check_address(url, f"the address of {spelling}")
    here = url is not None and is_loopback(url)
    key = key_of(service)
    if not key and not here:
        variables = " or ".join(service.keys)
        raise ModelError(f"{service.title} needs a key: set {variables} in the environment or in --env-file")
    try:
        client = client_of(timeout, here=here)
        make = anthropic_model if service.adapter == "anthropic" else google_model
        model = make(name, key or NO_KEY, url, timeout, client)
    except ImportError:
        raise ModelError(
            f"{service.title} needs packages that are not installed: pip install 'semece[{service.extra}]'"
        ) from None
    secrets = secrets_of(url or "", key)
    keep_out_of_logs(secrets)
    return ProviderModel(spelling, service, model, client, key=key or NO_KEY, timeout=timeout, secrets=secrets)


@dataclass(eq=False)
class ProviderModel:
    """A model behind ``pydantic-ai``; one choice per request.

    Parameters
    ----------
    name : str
        Its spelling.
    service : Service
        What is known of its service.
    model : pydantic_ai.models.Model
        What is asked.
    client : httpx2.AsyncClient
        The connections, closed by :meth:`aclose`.
    key : str
        Its key.
    timeout : float
        Seconds of one call.
    secrets : tuple of str
        What no message may show.
    noticed : Noticed
        What is left out.
    """

    name: str
    service: Service
    model: Any  # pydantic-ai and httpx2 are there only with the extra
    client: Any
    key: str
    timeout: float
    secrets: tuple[str, ...] = ()
    noticed: Noticed = field(default_factory=Noticed)
    max_choices: ClassVar[int] = 1

    async def aclose(self) -> None:
        """Close the connections."""
        await self.client.aclose()

    async def __call__(self, request: Request, /) -> Call:
        """Ask for one choice.

        Raises
        ------
        ValueError
            If more than one choice is asked for.
        TransientError, ModelError
            See :class:`semece.models.Model`.
        """
        if request.n != 1:
            raise ValueError(f"{self.service.title} gives one choice per request; got n = {request.n}")
        return await self._ask(request)

    async def _ask(self, request: Request) -> Call:
        """Send a request; send it again without an option that is refused by name."""
        from pydantic_ai.exceptions import AgentRunError

        while True:
            messages, settings, parameters = self.prepared(request)
            before, started = len(self.noticed.dropped), time.perf_counter()
            try:
                response, raw = await self._send(messages, settings, parameters)
            except TimeoutError:
                said = f"{self.who} did not answer within {self.timeout:g} seconds"
                raise TransientError(said, status="timeout", maybe_paid=True) from None
            except AgentRunError as error:
                if (call := self.too_long(error)) is not None:
                    return call
                if not self.learn(error, settings, parameters, before):
                    raise self.explained(error) from None
            except UNREADABLE as error:
                raise self.unreadable(type(error).__name__) from None
            else:
                self.noticed.heard(response.provider_response_id)
                return self.call(response, raw, latency=time.perf_counter() - started)

    async def _send(self, messages: Any, settings: Any, parameters: Any) -> tuple[Any, str]:  # noqa: ANN401
        from pydantic_ai.direct import model_request

        bodies: list[str] = []
        token, chat = kept_bodies.set(bodies), chat_of.set(self.noticed)
        try:
            async with asyncio.timeout(self.timeout):
                response = await model_request(
                    self.model, messages, model_settings=settings, model_request_parameters=parameters
                )
        finally:
            kept_bodies.reset(token)
            chat_of.reset(chat)
        return response, bodies[-1] if bodies else ""

    def prepared(self, request: Request) -> tuple[list[Any], Any, Any]:
        """Translate a request: messages, settings and parameters of ``pydantic-ai``, without what is left out."""
        from pydantic_ai.models import ModelRequestParameters
        from pydantic_ai.output import OutputObjectDefinition

        options = self._options(request)
        schema = options.pop("schema", None)
        if schema is None:
            parameters = ModelRequestParameters()
        else:
            wanted = OutputObjectDefinition(json_schema=dict(schema), name="reply", strict=True)
            parameters = ModelRequestParameters(output_mode="native", output_object=wanted)
        return _messages(request.messages), {"max_tokens": request.decoding.max_tokens, **options}, parameters

    def _options(self, request: Request) -> dict[str, Any]:
        decoding = request.decoding
        self._foresee(decoding)
        wanted = {
            "temperature": decoding.temperature,
            "top_p": decoding.top_p,
            "seed": request.seed if self.service.seed else None,
            "thinking": decoding.reasoning_effort,
            "schema": decoding.schema,
        }
        return {name: value for name, value in wanted.items() if value is not None and name not in self.noticed.dropped}

    def _foresee(self, decoding: Decoding) -> None:
        """Leave out what is known to be refused; refuse what the library cannot translate."""
        from pydantic_ai.settings import ThinkingEffort

        efforts = get_args(ThinkingEffort)
        if decoding.reasoning_effort not in {None, *efforts}:
            raise ModelError(
                f"the reasoning effort of {self.name} must be one of {', '.join(efforts)}; got "
                f"{decoding.reasoning_effort!r}"
            )
        profile = self.model.profile
        if profile.get("anthropic_disallows_sampling_settings"):
            for name in ("temperature", "top_p"):
                if getattr(decoding, name) is not None:
                    self.noticed.drop(name, f"{name} is left out: {self.name} takes no sampling options")
        both = decoding.temperature is not None and decoding.top_p is not None
        if self.service.temperature_or_top_p and both:
            self.noticed.drop("top_p", f"top_p is left out: {self.service.title} refuses it together with temperature")
        if decoding.schema is not None and not profile.get("supports_json_schema_output"):
            self.noticed.drop("schema", f"schema is left out: {self.name} has no structured output")
        if decoding.reasoning_effort is not None and not profile.get("supports_thinking"):
            self.noticed.drop("thinking", f"thinking is left out: {self.name} takes no reasoning effort")

    def learn(self, error: Exception, settings: Mapping[str, Any], parameters: Any, before: int) -> bool:  # noqa: ANN401
        """Leave out the option that a refusal names; tell whether asking again makes sense.

        Parameters
        ----------
        error : Exception
            The refusal.
        settings, parameters
            What was sent.
        before : int
            How many options were left out when it was sent: another call may have learned meanwhile.
        """
        from pydantic_ai.exceptions import ModelRequestRejectedError

        if not isinstance(error, ModelRequestRejectedError) or getattr(error, "status_code", 400) not in {400, 422}:
            return False
        sent = [name for name in OPTIONS if name in settings or (name == "schema" and parameters.output_object)]
        return self.drop_named(error, sent) or len(self.noticed.dropped) > before

    def drop_named(self, error: Exception, sent: Sequence[str] = OPTIONS) -> bool:
        """Leave out, of the options that were sent, the one that a refusal names; false if it names none."""
        sentence = sentence_of(error)
        name = named_option(sentence, sent)
        if name is not None:
            self.noticed.drop(name, f"{name} is left out: {self.name} says: {self.cleared(sentence)}")
        return name is not None

    def too_long(self, error: Exception) -> Call | None:
        """Give a reply without a text where a prompt was refused for its length; None for any other refusal."""
        from pydantic_ai.exceptions import ModelRequestRejectedError

        said = self.cleared(sentence_of(error))
        refused = isinstance(error, ModelRequestRejectedError) and is_too_long(said)
        return too_long(self.name, said, noticed=self.noticed) if refused else None

    def call(self, response: Any, raw: str, *, latency: float = 0.0) -> Call:  # noqa: ANN401 - a ModelResponse
        """Read what came back.

        Raises
        ------
        TransientError
            It holds neither a text nor a reason for having none.
        """
        details = response.provider_details or {}
        finish = details.get("finish_reason") or details.get("block_reason")
        status: ReplyStatus = finish_status(finish)
        if "block_reason" in details:
            status = "content_filter"
        texts = [part.content for part in response.parts if part.part_kind == "text"]
        if status == "ok" and not response.parts and finish is None:
            raise self.unreadable("no text in it")
        text = hide("".join(texts), self.secrets)
        reply = Reply(text, status, None if finish is None else str(finish), self._kept(raw))
        usage = response.usage
        counted = None
        if usage.has_values():
            counted = self.noticed.usage(self.name, usage.input_tokens, usage.output_tokens, said=bool(text))
        request_id = hidden_in(response.provider_response_id, self.secrets)
        return Call((reply,), counted, request_id, latency, self.noticed.told())

    def _kept(self, body: str) -> str:
        """Keep a body without secrets, and without the spaces that some services send."""
        try:
            return json.dumps(hidden_in(json.loads(body), self.secrets), ensure_ascii=False, separators=(",", ":"))
        except (ValueError, RecursionError):
            return hide(body, self.secrets)

    async def fetched(self, path: str, query: Mapping[str, str]) -> tuple[int, dict[str, Any]]:
        """Get a resource of Google's as it is: status and JSON."""
        import httpx2

        url = f"{self.model.base_url.rstrip('/')}/v1beta/{path}"
        try:
            answer = await self.client.get(url, params=query, headers={"x-goog-api-key": self.key})
            return answer.status_code, dict(answer.json())
        except httpx2.TransportError as error:
            said = self.cleared(str(error) or type(error).__name__)
            raise TransientError(f"{self.name}: {said}", status="connection") from None
        except ValueError:
            raise self.unreadable("no JSON") from None

    def cleared(self, text: str) -> str:
        """Take secrets out of a text."""
        return clear(text, self.secrets)

    def explained(self, error: Exception) -> ModelError:
        """Turn an error of ``pydantic-ai`` into one of ours."""
        refused = error.__cause__
        while refused is not None and not isinstance(refused, ProviderError):
            refused = refused.__cause__ or refused.__context__
        if refused is not None:  # of a hook
            return named(self.name, refused)
        return explain(error, self.who, self.secrets)

    @property
    def who(self) -> str:
        """The model, and the host that is asked."""
        return f"{self.name} at {urlsplit(str(self.model.base_url)).netloc.rpartition('@')[2]}"

    def unreadable(self, why: str) -> TransientError:
        """Say that a body was not what the service sends."""
        said = f"{self.who} sent a reply that cannot be read: {self.cleared(why)}"
        return TransientError(said, status="broken_body", maybe_paid=True)


def _messages(messages: tuple[Message, ...]) -> list[Any]:
    """Translate messages: a reply of the assistant stands between requests."""
    from pydantic_ai.messages import ModelRequest, ModelResponse, SystemPromptPart, TextPart, UserPromptPart

    made: list[Any] = []
    for message in messages:
        if message.role == "assistant":
            made.append(ModelResponse(parts=[TextPart(message.content)]))
            continue
        if not made or isinstance(made[-1], ModelResponse):
            made.append(ModelRequest(parts=[]))
        part = SystemPromptPart if message.role == "system" else UserPromptPart
        made[-1].parts.append(part(message.content))
    return made


def client_of(timeout: float, *, here: bool) -> Any:  # noqa: ANN401 - httpx2 is there only with the extra
    """Open connections that keep the bodies for :data:`kept_bodies`."""
    import httpx2

    limits = httpx2.Limits(max_connections=1000, max_keepalive_connections=100)
    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(timeout, connect=min(timeout, 30.0)),
        limits=limits,
        headers=HEADERS,
        trust_env=not here,  # on this machine no proxy is asked
        event_hooks={"response": [stay_at_host, _keep_body]},
    )


async def _keep_body(response: Any) -> None:  # noqa: ANN401 - httpx2 is there only with the extra
    """Read a body within its limit and keep it for the call that waits for it.

    An error with status 200 gets the status it means.
    """
    kept = kept_bodies.get()
    results = response.request.method == "GET" and response.status_code < 400
    await read_at_most(response, MOST_RESULTS if results else None, noticed=chat_of.get())
    if kept is None:
        return
    kept.append(response.text)
    if response.status_code == 200 and b'"error"' in response.content[:2000]:
        with suppress(ValueError, RecursionError):
            error = error_inside(json.loads(response.text))
            if error is not None:
                response.status_code = meant_status(error)


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
