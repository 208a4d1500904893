"""Errors of ``pydantic-ai`` as ours: what may be asked again, what may have been paid, the service's own sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from semece.errors import ModelError, TransientError
from semece.models.shared.refusals import retry_after
from semece.models.shared.secrets import clear

if TYPE_CHECKING:
    from collections.abc import Iterable


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
        return ModelError(said)
    return TransientError(said, status=status, retry_after=_retry_after(error), maybe_paid=maybe_paid)


def explain_status(status: int, sentence: str) -> ModelError:
    """Turn an HTTP status and a sentence into an error of ours.

    Examples
    --------
    >>> explain_status(503, "overloaded").status
    'server'
    """
    name = _status_of(status)
    return ModelError(sentence) if name is None else TransientError(sentence, status=name)


def _status_of(code: int) -> str | None:
    """Name what an HTTP status means; None for one that asking again does not help."""
    if code in {408, 429}:
        return "timeout" if code == 408 else "rate_limited"
    return "server" if code == 409 or code >= 500 else None


def _classified(error: Exception) -> tuple[str | None, bool]:
    """Name the status of an error, None for one that asking again does not help, and whether it may be paid for."""
    from pydantic_ai import exceptions as theirs

    found: tuple[str | None, bool]
    match error:
        case theirs.ModelQuotaExceededError() | theirs.ModelRequestRejectedError():
            found = None, False
        case theirs.ModelRateLimitError():
            found = "rate_limited", False
        case theirs.ModelUnavailableError() | theirs.ModelServerError():
            found = "server", False
        case theirs.ModelTimeoutError():
            found = "timeout", _was_sent(error)
        case theirs.ModelConnectionError():
            found = "connection", _was_sent(error)
        case theirs.ModelHTTPError():
            found = _status_of(error.status_code), False
        case _:
            found = "broken_body", True
    return found


def _retry_after(error: Exception) -> float | None:
    """Seconds the service asked to wait, fractions included."""
    known: float | None = getattr(error, "retry_after", None)
    return known if known is not None else retry_after(getattr(error, "headers", None) or {})


def _was_sent(error: Any) -> bool:  # noqa: ANN401 - a ModelConnectionError
    """Whether a request that failed on the way may have arrived."""
    return error.phase not in {"pool", "connect"}
