"""What a service may answer: nothing from a place that nobody named, and no more than a reply has. Hooks of clients."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from semece.errors import ProviderError, TransientError, on_one_line, visible
from semece.models.shared.refusals import COPY

if TYPE_CHECKING:
    from urllib.parse import SplitResult

    from semece.models.shared.refusals import Noticed

MOST_BYTES = 32 << 20
"""More than any reply has; what is longer, once it is unpacked, is not read on."""

MOST_RESULTS = 1 << 30
"""More than the results of a batch have."""

PACKED = {"gzip", "deflate", "identity"}
"""How a body may be packed: a piece of it never grows more than a thousandfold, as it may in newer ways."""

HEADERS = {"Accept-Encoding": "gzip, deflate"}

_PORTS = {"http": 80, "https": 443}


async def stay_at_host(response: Any) -> None:  # noqa: ANN401 - of whichever HTTP client
    """Refuse a redirect to a place that nobody named: prompts and keys do not go there.

    Another port, and http in the place of https, is another place; https in the place of http is not.

    Raises
    ------
    semece.errors.ProviderError
        With the place that is named.
    """
    location = response.headers.get("location")
    if not (location and response.is_redirect):
        return
    here = urlsplit(str(response.url))
    try:
        there = urlsplit(urljoin(str(response.url), location))
        same = _place(there) == _place(here) or _is_safer(here, there)
    except ValueError:
        same, there = False, urlsplit("")
    if not same:
        name = there.hostname if there.hostname != here.hostname else f"{there.scheme}://{there.netloc}"
        raise ProviderError(
            f"{here.hostname} sends requests on to {on_one_line(visible(name or 'an address that is none'))}: nothing "
            "is sent there; name it with --base-url if it is where they should go"
        )


def _place(parts: SplitResult) -> tuple[str, str | None, int | None]:
    return parts.scheme, parts.hostname, parts.port or _PORTS.get(parts.scheme)


def _is_safer(here: SplitResult, there: SplitResult) -> bool:
    """Whether a redirect only leaves http for https, both at their usual ports."""
    usual = _place(here) == ("http", here.hostname, 80) and _place(there) == ("https", here.hostname, 443)
    return usual and "@" not in there.netloc


async def read_at_most(response: Any, most: int | None = None) -> None:  # noqa: ANN401 - of whichever HTTP client
    """Read a body, at most so many bytes once it is unpacked; clients read it from memory afterwards.

    One of usual length must come within the time that a single read may take.

    Raises
    ------
    semece.errors.TransientError
        It is longer, late, or packed in a way that was not asked for. It may be paid for.
    """
    packed = response.headers.get("content-encoding", "identity").lower()
    if not PACKED.issuperset(part.strip() for part in packed.split(",")):
        raise _broken(response, f"is packed as {on_one_line(visible(packed))}, which was not asked for")
    data, limit = bytearray(), MOST_BYTES if most is None else most
    patience = response.request.extensions.get("timeout", {}).get("read") if most is None else None
    try:
        async with asyncio.timeout(patience):
            async for part in response.aiter_bytes():
                data += part
                if len(data) > limit:
                    raise _broken(response, f"is longer than {limit >> 20} MB")
    except TimeoutError:
        raise _broken(response, f"was not whole within {patience:g} seconds", "timeout") from None
    response._content = bytes(data)  # what aread() of both clients would keep


async def refuse_copy(response: Any, noticed: Noticed) -> None:  # noqa: ANN401 - of whichever HTTP client
    """Refuse a reply that another request got before, and close its connection: what comes behind it is misplaced, too.

    Nothing may be waited for between reading the body and this: the next request could read the copy before the first
    reply is known.

    Raises
    ------
    semece.errors.TransientError
        It is a copy. The reply to this request may be paid for.
    """
    header = response.headers.get("x-request-id")
    came, asked = (response.content, header), response.request.content
    if not noticed.is_copy(came, asked, lambda: header or _id_in(response.content)):
        return
    await response.extensions["network_stream"].aclose()
    raise TransientError(COPY, status="broken_body", maybe_paid=True)


def _id_in(body: bytes) -> object:
    """Give the id that a reply bears, as OpenAI and Anthropic or as Google write it; None if there is none."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return (value.get("id") or value.get("responseId")) if isinstance(value, dict) else None


def _broken(response: Any, why: str, status: str = "broken_body") -> TransientError:  # noqa: ANN401 - of any client
    return TransientError(f"the reply of {response.url.host} {why}", status=status, maybe_paid=True)


def named(name: str, error: ProviderError) -> ProviderError:
    """Say whose reply an error of these hooks is about.

    Examples
    --------
    >>> named("openai/m", ProviderError("it sends requests on"))
    ProviderError('openai/m: it sends requests on')
    """
    if isinstance(error, TransientError):
        return TransientError(f"{name}: {error}", status=error.status, maybe_paid=error.maybe_paid)
    return ProviderError(f"{name}: {error}")
