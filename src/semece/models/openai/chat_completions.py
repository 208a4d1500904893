"""Services that speak OpenAI's chat completions: one adapter.

A call is one request; pacing and repeating belong to :mod:`semece.sampling`. What a service refuses by name in a 400
(an option, several choices) is left out from then on, and said once.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from semece.errors import ModelError, ProviderError, TransientError, finish_status
from semece.models.openai.openai_errors import FILTERED, Refusal, explain, losses, lost, named_option
from semece.models.protocol import Call, Reply, Usage
from semece.models.services import is_loopback
from semece.models.shared.http_limits import HEADERS, named, read_at_most, stay_at_host
from semece.models.shared.refusals import Noticed, is_too_long, too_long
from semece.models.shared.secrets import (
    basic_of,
    check_address,
    clear,
    hidden_in,
    keep_out_of_logs,
    key_of,
    secrets_of,
    shown_address,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from openai import AsyncOpenAI

    from semece.models.protocol import ReplyStatus, Request
    from semece.models.services import Service


MOST_DIGITS = 40
"""More digits than any count in a reply has."""

LONELY = 3
"""After so many calls in a row that gave one choice of several, they are asked for one by one."""


def open_openai(
    spelling: str, name: str, service: Service, *, base_url: str | None = None, timeout: float = 600.0
) -> OpenAICompatible:
    """Open a model of an OpenAI-compatible service.

    Parameters
    ----------
    spelling, name : str
        What opens it; what the service calls it.
    service : Service
        What is known of it.
    base_url : str, optional
        Wins over the environment, which wins over the table. A user name and password in it are sent as such.
    timeout : float
        Seconds for one call.

    Returns
    -------
    OpenAICompatible
        Nothing is sent before the first call.

    Raises
    ------
    ModelError
        The address or the key is missing.
    """
    address = base_url if base_url is not None else os.environ.get(service.address_variable) or service.address
    if not address:
        raise ModelError(f"{spelling} needs an address: set {service.address_variable}, or give --base-url")
    check_address(address, f"the address of {spelling}")
    key = key_of(service)
    if not key and not urlsplit(address).username and not is_loopback(address):
        raise ModelError(f"{spelling} needs a key: set {service.keys[0]} in the environment, or give --env-file")
    return OpenAICompatible(spelling, name, service, address=address, key=key, timeout=timeout)


class OpenAICompatible:
    """One model of one service; ``max_choices`` may fall to 1.

    Parameters
    ----------
    spelling, name : str
        What opens it; what the service calls it.
    service : Service
        What it takes.
    address, key : str
        Base URL and key; what is secret in them stays out of every message.
    timeout : float
        Seconds for one call.
    """

    def __init__(
        self, spelling: str, name: str, service: Service, *, address: str, key: str = "", timeout: float = 600.0
    ) -> None:
        self.name, self.max_choices = spelling, service.choices
        self._model, self._service, self._tokens_name = name, service, service.max_tokens
        self._address, self._key, self._timeout = address, key, timeout
        self._noticed = Noticed()
        self._lonely, self._as_object = 0, False
        self._secrets = secrets_of(address, key)

    @property
    def base_url(self) -> str:
        """The address as it may be seen: without user name, password, query, and keys in its path."""
        return shown_address(self._address)

    @cached_property
    def _client(self) -> AsyncOpenAI:
        """The connections, opened at the first call."""
        from openai import AsyncOpenAI, DefaultAsyncHttpxClient, Timeout

        basic, parts = basic_of(self._address), urlsplit(self._address)
        timeout = Timeout(self._timeout, connect=min(self._timeout, 30.0))
        client = AsyncOpenAI(
            api_key=self._key or "none",
            base_url=urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", "")),
            timeout=timeout,
            max_retries=0,
            default_headers=HEADERS | ({"Authorization": f"Basic {basic}"} if basic else {}),
            default_query=dict(parse_qsl(parts.query)),
            http_client=DefaultAsyncHttpxClient(
                trust_env=not is_loopback(self._address),  # on this machine no proxy is asked
                event_hooks={"response": [stay_at_host, self._came]},
            ),
        )
        if not self._service.organizations:
            client.organization = client.project = None
        keep_out_of_logs(self._secrets)
        return client

    async def aclose(self) -> None:
        """Close the connections."""
        if "_client" in vars(self):
            await self._client.close()

    async def __call__(self, request: Request, /) -> Call:
        """Ask once; leave out what the service refuses by name.

        Raises
        ------
        TransientError, ModelError
            As the protocol says.
        """
        import openai

        started = time.perf_counter()
        while True:
            body = self._body(request)
            try:
                text, headers = await self._sent(body)
                refusal = self._refusal_in(text)
            except openai.APIStatusError as error:
                refusal = Refusal.of(error)
            except losses() as error:
                raise self._lost(error) from None
            except ProviderError as error:  # of a hook
                raise named(self.name, error) from None
            if refusal is None:
                latency = time.perf_counter() - started
                call = self._read(text, body.get("n", 1), headers.get("x-request-id"), latency)
                self._noticed.heard(call.request_id)
                return self._counted(call, body.get("n", 1))
            if (call := self._unanswered(refusal, body)) is not None:  # type: ignore[assignment]
                return call
            if not self._learn(refusal, body):
                raise self._explain(refusal)

    async def _came(self, response: Any) -> None:  # noqa: ANN401 - of whichever HTTP client
        """Read a body within its limit; the results of a batch are read line by line, by who asked for them."""
        path = response.url.path
        if response.is_success and path.endswith("/content"):
            return
        await read_at_most(response, noticed=self._noticed if path.endswith("/chat/completions") else None)

    def _refusal_in(self, text: str) -> Refusal | None:
        """Find the error that a reply with status 200 is."""
        if '"error"' not in text:
            return None
        try:
            return Refusal.inside(json.loads(text))
        except (ValueError, RecursionError):
            return None

    async def _sent(self, body: Mapping[str, Any]) -> tuple[str, Mapping[str, str]]:
        """Send a request and give the reply's text, within the time that one call has."""
        async with asyncio.timeout(self._timeout):
            reply = await self._client.chat.completions.with_raw_response.create(**body)
        return self._decoded(reply.content, reply.http_response.encoding or "utf-8"), reply.headers

    def _decoded(self, data: bytes, told: str) -> str:
        """Read the bytes of a reply; a byte order mark, and bytes that are no text, are noticed.

        JSON says its encoding itself; what the header tells counts where that does not fit.
        """
        encoding = json.detect_encoding(data).removesuffix("-sig")
        try:
            text = data.decode(encoding)
        except UnicodeError:
            encoding, text = _as_told(data, told)
            if "\ufffd" in text:
                self._noticed.tell(f"{self.name} sent bytes that are no {encoding}: they are kept as \ufffd")
        if text.startswith("\ufeff"):
            self._noticed.tell(f"{self.name} begins its replies with a byte order mark: it is left out")
        return text.removeprefix("\ufeff")

    def _body(self, request: Request) -> dict[str, Any]:
        """Write the request as the service takes it, as far as is known."""
        options = request.decoding
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": _role(message.role), "content": message.content} for message in request.messages],
            "temperature": options.temperature,
            "top_p": options.top_p,
            self._tokens_name: options.max_tokens,
            "reasoning_effort": options.reasoning_effort,
            "seed": request.seed if self._service.seed else None,
            "n": min(request.n, self.max_choices) if request.n > 1 and self.max_choices > 1 else None,
            "response_format": _format(options.schema, as_object=self._as_object),
            "logprobs": True if request.logprobs is not None else None,
            "top_logprobs": request.logprobs or None,
        }
        given = {name: value for name, value in body.items() if value is not None and name not in self._noticed.dropped}
        if self._service.seed != "seed" and "seed" in given:
            given["extra_body"] = {self._service.seed: given.pop("seed")}
        return given

    def _learn(self, refusal: Refusal, body: Mapping[str, Any]) -> bool:
        """Leave out, from now on, the option that a refusal names; false if it names none."""
        sent = {"seed" if name == "extra_body" else name for name in body} - {"model", "messages"}
        named = named_option(refusal, sent) if refusal.of_the_request else None
        if named is None:
            return False
        if named == "n":
            self._ask_one_by_one()
            return True
        others = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
        if named in others:
            if self._tokens_name == named != self._service.max_tokens:
                return False
            self._tokens_name = others[named]
            self._noticed.tell(f"{self.name} does not take {named}: sent as {others[named]}")
            return True
        form = body.get("response_format") or {"type": "json_object" if self._as_object else "json_schema"}
        if named == "response_format" and form["type"] == "json_schema" and "json_object" in refusal.sentence:
            self._as_object = True
            self._noticed.tell(f"{self.name} does not take a schema as OpenAI writes it: sent as json_object")
            return True
        self._noticed.drop(named, f"{self.name} does not take {named}: left out")
        return True

    def _ask_one_by_one(self) -> None:
        self.max_choices = 1
        self._noticed.tell(f"{self.name} gives one choice per request: asked one by one")

    def _unanswered(self, refusal: Refusal, body: Mapping[str, Any]) -> Call | None:
        """Give replies without a text where a prompt was filtered or is too long: asking again is no help."""
        if not refusal.of_the_request:
            return None
        said, n = self._clean(refusal.sentence), body.get("n", 1)
        if refusal.codes & FILTERED:
            raw = json.dumps({"error": said}, ensure_ascii=False)
            reply = Reply("", "content_filter", "content_filter", raw)
            return Call((reply,) * n, Usage(0, 0), events=self._noticed.told())
        if not is_too_long(" ".join([*refusal.codes, said]), max_tokens=body.get(self._tokens_name, 0)):
            return None
        return too_long(self.name, said, n=n, noticed=self._noticed)

    def _explain(self, refusal: Refusal) -> ModelError:
        return explain(refusal, self._who, self._clean(refusal.sentence))

    def _lost(self, error: Exception) -> ModelError:
        if isinstance(error.__cause__, ProviderError):  # of a hook
            return named(self.name, error.__cause__)
        return lost(error, self._who, self._clean(str(error.__cause__ or error)))

    @property
    def _who(self) -> str:
        """The model, and the host that is asked."""
        return f"{self.name} at {urlsplit(self._address).netloc.rpartition('@')[2]}"

    def _read(self, text: str, wanted: int, request_id: str | None, latency: float) -> Call:
        """Read the first choices of a reply."""
        replies: tuple[Reply, ...] = ()
        why = "a web page in its place" if text.lstrip().startswith("<") else "it is no JSON"
        try:
            body = hidden_in(json.loads(text, parse_int=_whole_number), self._secrets)
            why = "there are no choices in it"
            choices = sorted(filter(_is_choice, body["choices"]), key=_index)
            replies = tuple(_reply(choice) for choice in choices[:wanted])
            usage = self._usage(body, said=any(reply.text for reply in replies))
            request_id = hidden_in(request_id or body.get("id"), self._secrets)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            replies = ()
        if not replies:
            raise TransientError(f"{self._who}: the reply was broken: {why}", status="broken_body", maybe_paid=True)
        return Call(replies, usage, request_id, latency)

    def _usage(self, body: Mapping[str, Any], *, said: bool) -> Usage | None:
        """Read what was counted; numbers that cannot be are none."""
        used = body.get("usage")
        if not isinstance(used, dict) or "prompt_tokens" not in used:
            return None
        return self._noticed.usage(self.name, used["prompt_tokens"], used.get("completion_tokens") or 0, said=said)

    def _counted(self, call: Call, wanted: int) -> Call:
        """Notice that choices are missing; a service that gives one of several again and again is asked one by one."""
        given = len(call.replies)
        if given < wanted:
            self._noticed.tell(f"{self.name} gave fewer choices than asked for")
        if wanted > 1:
            self._lonely = self._lonely + 1 if given == 1 else 0
        if self._lonely >= LONELY and self.max_choices > 1:
            self._ask_one_by_one()
        return replace(call, events=self._noticed.told())

    def _clean(self, text: str) -> str:
        return clear(text, self._secrets)


def _role(role: str) -> str:
    return "user" if role == "completion" else role


def _format(schema: Mapping[str, Any] | None, *, as_object: bool) -> dict[str, Any] | None:
    """Write a schema as OpenAI does, or as servers that know only ``json_object`` do."""
    if schema is None:
        return None
    if as_object:
        return {"type": "json_object", "schema": dict(schema)}
    return {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": dict(schema)}}


def _as_told(data: bytes, encoding: str) -> tuple[str, str]:
    """Read bytes as a header tells, or as UTF-8 where that names nothing that texts are written in."""
    try:
        return encoding, data.decode(encoding, "replace")
    except (LookupError, UnicodeError):
        return "utf-8", data.decode("utf-8", "replace")


def _whole_number(digits: str) -> int | None:
    """Read a whole number; one with more digits than any count has is read as null, so that the rest is kept."""
    return int(digits) if len(digits) <= MOST_DIGITS else None


def _index(choice: Mapping[str, Any]) -> int:
    index = choice.get("index")
    return index if type(index) is int else 0


def _is_choice(choice: Any) -> bool:  # noqa: ANN401 - JSON
    """Whether it can be read; some services put an error in the place of a choice."""
    return (
        isinstance(choice, dict)
        and isinstance(choice.get("message"), dict)
        and choice.get("finish_reason") != "error"
        and isinstance(choice["message"].get("content"), str | list | None)
    )


def _reply(choice: Mapping[str, Any]) -> Reply:
    message, reason = choice["message"], choice.get("finish_reason")
    status: ReplyStatus = "refusal" if message.get("refusal") else finish_status(reason)
    raw = json.dumps(choice, ensure_ascii=False, separators=(",", ":"))
    return Reply(_text(message.get("content")), status, reason, raw)


def _text(content: str | list[Any] | None) -> str:
    """Give the text of a message's content: a string, a list of parts of which only texts count, or nothing."""
    if isinstance(content, list):
        parts = (part for part in content if isinstance(part, dict) and part.get("type") == "text")
        return "".join(str(part.get("text", "")) for part in parts)
    return content or ""
