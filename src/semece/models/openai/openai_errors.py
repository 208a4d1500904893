"""Errors of OpenAI-compatible services as ours: what was refused and why, and what may be asked again."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from semece.errors import ModelError, ProviderError, TransientError
from semece.models.shared.refusals import OVERLOADED, may_leave_out, meant_status, retry_after, status_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from openai import APIStatusError

OUT_OF_QUOTA = {
    "insufficient_quota",
    "billing_hard_limit_reached",
    "billing_not_active",
    "exceeded_current_quota_error",
}
"""Codes of a 429 that waiting does not help."""

FILTERED = {"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation"}
"""Codes of a 400 for a prompt that the service's filter stops."""

_FIXED = {"context_length_exceeded", "model_not_found"}
"""Codes of a 400 whose sentence may name an option without refusing it."""

_NEVER_SENT = {"ConnectError", "ConnectTimeout", "PoolTimeout", "WriteError", "WriteTimeout", "ProxyError"}
"""Failures before the whole request was out: it cannot have been served."""

_MAYBE_SERVED = {408, 502, 504, 524}
"""Statuses of a gateway that gave up waiting: what is behind it may have served."""

OPTIONS = {
    "top_p": ("top_p", "topP"),
    "temperature": ("temperature",),
    "seed": ("seed", "random_seed"),
    "reasoning_effort": ("reasoning_effort", "reasoningEffort"),
    "response_format": ("response_format", "responseFormat", "json_schema"),
    "max_tokens": ("max_tokens", "maxTokens"),
    "max_completion_tokens": ("max_completion_tokens", "maxCompletionTokens"),
}
"""How services write an option; where a sentence names two, the first here is left out."""

_CHOICES = re.compile(
    r"""['"`]n['"`]|(?<![\w\\])n(?= ?(?:>|=|must|should|is|has|cannot)\b)|\bn ?>"""
    r"|\b(?:only|exactly|at most|more than|than) (?:one|1|a single) (?:completion |response )?"
    r"(?:choice|completion|candidate|sample|response|generation|output|sequence)"
    r"|\b(?:multiple|several) (?:completion |response )?(?:choices|completions|candidates|samples|responses)",
    re.IGNORECASE,
)
"""How services say that they give one choice of a request."""

_FIELD = re.compile(r"""['"]loc['"]: ?[\[(]['"]body['"]""")
"""How a server built on FastAPI says which field of a request it does not take; some send that as a fault of theirs."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a service sends instead of a reply.

    Parameters
    ----------
    status : int
        Its HTTP status.
    body : object
        Its JSON, or its text.
    headers : mapping of str to str
        Its headers.

    Examples
    --------
    >>> Refusal(400, {"error": {"message": "no such model", "code": "model_not_found"}}).sentence
    'no such model'
    """

    status: int
    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, error: APIStatusError) -> Refusal:
        """Take it from what the library raised."""
        return cls(error.status_code, error.body, error.response.headers)

    @classmethod
    def inside(cls, body: object) -> Refusal | None:
        """Find the error that a body with status 200 holds in the place of choices; None if it holds none.

        Examples
        --------
        >>> Refusal.inside({"error": {"code": 429, "message": "slow down"}}).status
        429
        >>> Refusal.inside({"error": {"type": "overloaded_error", "message": "later"}}).status
        503
        """
        if not isinstance(body, dict):
            return None
        choices = body.get("choices")
        if isinstance(choices, list) and choices:
            failed = [each.get("error") for each in choices if isinstance(each, dict)]
            if not all(failed) or len(failed) < len(choices):
                return None
            body = {"error": failed[0]}
        elif not body.get("error") and body.get("object") != "error":
            return None
        return cls(meant_status(cls(500, body).details), body)

    @property
    def of_the_request(self) -> bool:
        """Whether it is about what was asked, so that the same request would be refused again.

        Examples
        --------
        >>> Refusal(400, "too long").of_the_request, Refusal(500, "out of memory").of_the_request
        (True, False)
        >>> Refusal(500, "1 validation error: {'loc': ('body', 'top_p'), 'msg': 'Input should be ...'}").of_the_request
        True
        """
        return self.status in {400, 422} or (self.status == 500 and _FIELD.search(self.sentence) is not None)

    @property
    def details(self) -> dict[str, Any]:
        """The fields ``message``, ``code``, ``type``, ``param`` of the body, whatever its shape."""
        if isinstance(self.body, dict):
            inner = self.body.get("error", self.body)
            if isinstance(inner, dict):
                return {**inner, "message": inner.get("message") or inner.get("detail")}
            return {**self.body, "message": inner}
        return {"message": self.body}

    @property
    def sentence(self) -> str:
        """The service's own sentence; a page or nothing gives none."""
        message = self.details["message"]
        if not message:
            return "no reason given"
        text = message if isinstance(message, str) else json.dumps(message, ensure_ascii=False)
        return "a page instead of a reason" if text.lstrip().startswith("<") else text

    @property
    def codes(self) -> set[str]:
        """The service's words for what went wrong."""
        return {str(self.details[name]) for name in ("code", "type") if self.details.get(name)}


def named_option(refusal: Refusal, sent: Collection[str]) -> str | None:
    """Find the option that a service does not take: by its ``param``, else by the option's name in the sentence.

    Parameters
    ----------
    refusal : Refusal
        One that is about the request.
    sent : collection of str
        The options that were sent.

    Returns
    -------
    str or None
        One of `sent`; None if none of them is named, or only its value is refused.
    """
    named = None if refusal.codes & _FIXED else _named(refusal, sent)
    said = " ".join([*refusal.codes, refusal.sentence])
    return named if named is not None and may_leave_out(named, said) else None


def _named(refusal: Refusal, sent: Collection[str]) -> str | None:
    param = str(refusal.details.get("param") or "").partition(".")[0]
    if param in sent:
        return param
    text = refusal.sentence
    places = {name: place for name in sent if (place := _place(name, text)) is not None}
    # 'Use max_completion_tokens instead' comes after what is refused.
    tokens = sorted(places.keys() & {"max_tokens", "max_completion_tokens"}, key=places.__getitem__)
    for name in (*OPTIONS, "random_seed"):
        if name in places and name not in tokens[1:]:
            return name
    return "n" if "n" in sent and _CHOICES.search(text) else None


def _place(name: str, text: str) -> int | None:
    """Find where a text names an option."""
    words = "|".join(OPTIONS.get(name, (name,) if len(name) > 1 else ()))
    found = re.search(rf"(?<![A-Za-z_])(?:{words})(?![A-Za-z_])", text) if words else None
    return found.start() if found else None


def explain(refusal: Refusal, name: str, said: str) -> ModelError:
    """Turn a status into an error of ours.

    Parameters
    ----------
    refusal : Refusal
        What the service sent.
    name : str
        The model's spelling.
    said : str
        The service's sentence without secrets.

    Returns
    -------
    ModelError
        A :class:`semece.TransientError` where asking again may help.
    """
    status = refusal.status
    kind = None if refusal.of_the_request else status_of(status)
    if kind is not None and not (status == 429 and refusal.codes & OUT_OF_QUOTA):
        wait, served = retry_after(refusal.headers), status in _MAYBE_SERVED
        return TransientError(
            f"{name}: {status} {said}",
            status=kind,
            retry_after=wait,
            maybe_paid=served,
            overloaded=status in OVERLOADED,
        )
    reasons = {
        401: "refused the key",
        402: "wants money",
        403: "does not allow this",
        404: "does not know this model",
        429: "has no quota left",
    }
    return ProviderError(f"{name} {reasons.get(status, 'refused the request')} ({status}): {said}")


def losses() -> tuple[type[Exception], ...]:
    """List what a lost call raises; while a body is read, that is what the HTTP client raises, whichever it is."""
    import openai

    return openai.APIConnectionError, TimeoutError, *broken_off()


def broken_off() -> tuple[type[Exception], ...]:
    """List what breaks a body off: the library passes it through, of whichever HTTP client it uses."""
    return tuple(sys.modules[name].RequestError for name in ("httpx", "httpx2") if name in sys.modules)


def lost(error: Exception, name: str, said: str) -> TransientError:
    """Turn a call without a reply into an error of ours.

    Parameters
    ----------
    error : Exception
        What the library or, while the reply was read, the HTTP client raised; the cause says how far the request came.
    name : str
        The model's spelling.
    said : str
        The cause's sentence without secrets.
    """
    import openai

    cause = type(error.__cause__ if isinstance(error, openai.APIConnectionError) else error).__name__
    maybe_paid = cause not in _NEVER_SENT
    if "Timeout" in cause or "Timeout" in type(error).__name__:
        return TransientError(f"{name}: no reply in time", status="timeout", maybe_paid=maybe_paid)
    if cause == "DecodingError":
        return TransientError(f"{name}: the reply was broken", status="broken_body", maybe_paid=True)
    how = "connection lost" if maybe_paid else "no connection"
    return TransientError(f"{name}: {how} ({said or cause})", status="connection", maybe_paid=maybe_paid)
