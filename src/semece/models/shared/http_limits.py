"""What a service may answer: nothing from a place that nobody named, and no more than a reply has. Hooks of clients."""

from __future__ import annotations

import asyncio
import json
import socket
from contextlib import suppress
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


async def read_at_most(response: Any, most: int | None = None, *, noticed: Noticed | None = None) -> None:  # noqa: ANN401 - of whichever HTTP client
    """Read a body, at most so many bytes once it is unpacked; clients read it from memory afterwards.

    One of usual length must come within the time that a single read may take. The connection of an error, whatever its
    status, and of a reply that another request got before is closed: what comes behind it, such as its copy, is no
    answer to the next request. That is decided before any other request could take the connection.

    Parameters
    ----------
    response : of whichever HTTP client
        Its head was read.
    most : int, optional
        Bytes; if not given, more than any reply has.
    noticed : Noticed, optional
        What came before, if this is a reply that may be a copy.

    Raises
    ------
    semece.errors.TransientError
        It is longer, late, packed in a way that was not asked for, or a copy. It may be paid for.
    """
    packed = response.headers.get("content-encoding", "identity").lower()
    if not PACKED.issuperset(part.strip() for part in packed.split(",")):
        raise _broken(response, f"is packed as {on_one_line(visible(packed))}, which was not asked for")
    data, limit = bytearray(), MOST_BYTES if most is None else most
    patience = response.request.extensions.get("timeout", {}).get("read") if most is None else None
    ended, copy = response.aclose, False

    async def close() -> None:
        """End the reading; only now others may take the connection, if it is open."""
        nonlocal copy
        body = bytes(data)
        copy = noticed is not None and response.is_success and _is_copy(response, body, noticed)
        if copy or not response.is_success or (b'"error"' in body and not _id_in(body)):
            with suppress(OSError):  # it is closed already
                response.extensions["network_stream"].get_extra_info("socket").shutdown(socket.SHUT_RDWR)
        await ended()

    response.aclose = close  # which both clients call once all is read, and before they give the connection back
    try:
        async with asyncio.timeout(patience):
            async for part in response.aiter_bytes():
                data += part
                if len(data) > limit:
                    raise _broken(response, f"is longer than {limit >> 20} MB")
    except TimeoutError:
        raise _broken(response, f"was not whole within {patience:g} seconds", "timeout") from None
    finally:
        del response.aclose
    response._content = bytes(data)  # what aread() of both clients would keep
    if copy:
        raise TransientError(COPY, status="broken_body", maybe_paid=True)


def _is_copy(response: Any, body: bytes, noticed: Noticed) -> bool:  # noqa: ANN401 - of whichever HTTP client
    header = response.headers.get("x-request-id")
    return noticed.is_copy((body, header), response.request.content, lambda: header or _id_in(body))


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
