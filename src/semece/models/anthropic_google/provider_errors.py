"""Errors of ``pydantic-ai`` as ours: what may be asked again or have been paid, which option a refusal names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from semece.errors import ModelError, ProviderError, TransientError
from semece.models.shared.refusals import OVERLOADED, may_leave_out, retry_after, status_of
from semece.models.shared.secrets import clear

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


OPTIONS = ("top_p", "temperature", "seed", "thinking", "schema")
"""Options that may be left out, in the order in which a refusal that names several is read."""

_WORDS = {
    "top_p": r"top_?p\b",
    "temperature": r"temperature\b",
    "seed": r"seed\b",
    "thinking": r"(thinking|reasoning|effort)",
    "schema": r"(output_config|output_format|json_?schema|response_?(json_?)?schema|response_?mime_?type|schema)",
}
"""How services write the options that may be left out."""


def named_option(sentence: str, sent: Sequence[str]) -> str | None:
    """Find the option that a service does not take, among those that were sent.

    Parameters
    ----------
    sentence : str
        The service's sentence.
    sent : sequence of str
        Names of options, in the order in which a sentence that names several is read.

    Returns
    -------
    str or None
        None if it names none, or refuses only its value.

    Examples
    --------
    >>> named_option("`temperature` and `top_p` cannot both be specified", ["top_p", "temperature"])
    'top_p'
    """
    for name in sent:
        if re.search(rf"(?<![a-z]){_WORDS[name]}", sentence, re.IGNORECASE):
            return name if may_leave_out(name, sentence) else None
    return None


def sentence_of(error: Exception) -> str:
    """Find the service's own sentence in an error; else what the error says."""
    body = getattr(error, "body", None)
    inner: Any = body.get("error", body) if isinstance(body, dict) else None
    said = inner.get("message") if isinstance(inner, dict) else None
    return said if isinstance(said, str) and said else str(error)


def explain(error: Exception, name: str, secrets: Iterable[str] = ()) -> ModelError:
    """Turn an error of ``pydantic-ai`` into one of ours.

    Parameters
    ----------
    error : Exception
        A ``ModelAPIError`` or a sibling.
    name : str
        The model's spelling.
    secrets : iterable of str
        What the message may not show.

    Returns
    -------
    ModelError
        A :class:`semece.TransientError` where asking again may help.
    """
    said = f"{name}: {clear(sentence_of(error), secrets)}"
    status, maybe_paid = _classified(error)
    if status is None:
        return ProviderError(said)
    overloaded = getattr(error, "status_code", None) in OVERLOADED
    return TransientError(
        said, status=status, retry_after=_retry_after(error), maybe_paid=maybe_paid, overloaded=overloaded
    )


def explain_status(status: int, sentence: str) -> ModelError:
    """Turn an HTTP status and a sentence into an error of ours.

    Examples
    --------
    >>> explain_status(503, "overloaded").status
    'server'
    """
    name = status_of(status)
    return ProviderError(sentence) if name is None else TransientError(sentence, status=name)


def _classified(error: Exception) -> tuple[str | None, bool]:
    """Name the status of an error, None for one that asking again does not help, and whether it may be paid for."""
    from pydantic_ai import exceptions as theirs

    known = {
        theirs.ModelQuotaExceededError: None,
        theirs.ModelRequestRejectedError: None,
        theirs.ModelRateLimitError: "rate_limited",
        theirs.ModelUnavailableError: "server",
        theirs.ModelServerError: "server",
    }
    for kind, status in known.items():
        if isinstance(error, kind):
            return status, False
    if isinstance(error, theirs.ModelConnectionError):  # it may have arrived, unless it failed before it was sent
        status = "timeout" if isinstance(error, theirs.ModelTimeoutError) else "connection"
        return status, error.phase not in {"pool", "connect"}
    if isinstance(error, theirs.ModelHTTPError):
        return status_of(error.status_code), False
    return "broken_body", True


def _retry_after(error: Exception) -> float | None:
    """Seconds the service asked to wait, fractions included."""
    known: float | None = getattr(error, "retry_after", None)
    return known if known is not None else retry_after(getattr(error, "headers", None) or {})
