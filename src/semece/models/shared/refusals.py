"""What a refusal means: an option that is not taken, a prompt that is too long, or that it pays to wait."""

from __future__ import annotations

import email.utils
import json
import math
import re
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from semece.models.protocol import Call, Reply, Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping


_STATUSES = {
    "rate_limit": 429,
    "too_many_requests": 429,
    "resource_exhausted": 429,
    "quota": 429,
    "invalid_api_key": 401,
    "authentication": 401,
    "unauthorized": 401,
    "permission": 403,
    "forbidden": 403,
    "billing": 402,
    "insufficient_balance": 402,
    "model_not_found": 404,
    "not_found": 404,
    "context_length": 400,
    "invalid_request": 400,
    "invalid_argument": 400,
    "content_filter": 400,
    "content_policy": 400,
    "overloaded": 503,
    "unavailable": 503,
    "timeout": 504,
}
"""The status that a word for an error stands for; any other is a fault of the service."""


def meant_status(error: Mapping[str, Any]) -> int:
    """Say which HTTP status an error means that came with status 200: by its code, else by its words.

    Parameters
    ----------
    error : mapping
        Its fields.

    Examples
    --------
    >>> meant_status({"code": 429}), meant_status({"type": "overloaded_error"}), meant_status({"message": "oops"})
    (429, 503, 500)
    """
    for name in ("code", "status", "status_code"):
        code = str(error.get(name))
        if code.isdecimal() and 400 <= int(code) < 600:
            return int(code)
    words = " ".join(str(error.get(name, "")) for name in ("code", "type", "status")).lower()
    return next((status for word, status in _STATUSES.items() if word in words), 500)


def error_inside(body: object) -> Mapping[str, Any] | None:
    """Find the error that a body is, whatever status it came with; None for any other body.

    Examples
    --------
    >>> error_inside({"type": "error", "error": {"type": "overloaded_error"}}), error_inside({"key": "a", "error": {}})
    ({'type': 'overloaded_error'}, None)
    """
    if not isinstance(body, dict) or not set(body) <= {"error", "type", "request_id", "requestId", "code", "status"}:
        return None
    found = body.get("error")
    return found if isinstance(found, dict) else {"message": found} if found else None


NOT_CHOSEN = frozenset({"seed", "random_seed", "n", "response_format", "schema"})
"""Options that do not change what the replies are drawn from: left out whatever a refusal says of them."""

_NOT_TAKEN = re.compile(
    r"unsupported|(?:not|n't)(?: be)? (?:supported|permitted|allowed|available|enabled|accepted)"
    r"|(?:not|n't) (?:support|accept|take|allow)|(?:unknown|unrecognized|unexpected) (?:request )?"
    r"(?:name|parameter|argument|field|property|option)|unknown_parameter|extra (?:inputs|fields)|extra_forbidden"
    r"|cannot both|deprecated|\b(?:is|are) unknown",
    re.IGNORECASE,
)
"""How services say that they do not take an option."""

_OTHER_VALUES = re.compile(
    r"\b(?:supported|valid|allowed|accepted|possible|other) (?:\w+ )?(?:values?|levels?|range)\b|\bone of\b.*,"
    r"|\bbetween\b|\bat (?:most|least)\b|\b(?:less|greater|lower|higher) than\b|\bvalues? (?:above|below|outside)\b",
    re.IGNORECASE,
)
"""How services say which values of it they would take."""


def may_leave_out(name: str, sentence: str) -> bool:
    """Tell whether an option that a refusal names may be left out.

    A value that a person chose must not give way to the service's default in silence: it may only if the service takes
    no other value either.

    Parameters
    ----------
    name : str
        The option.
    sentence : str
        The service's sentence, its codes before it if there are any.

    Examples
    --------
    >>> may_leave_out("temperature", "Unsupported parameter: 'temperature' is not supported with this model.")
    True
    >>> may_leave_out("temperature", "Invalid 'temperature': decimal above maximum value. Expected a value <= 2")
    False
    """
    if name in NOT_CHOSEN:
        return True
    return _NOT_TAKEN.search(sentence) is not None and _OTHER_VALUES.search(sentence) is None


MOST_TOKENS = 10**9
"""More than any call can take."""

REMEMBERED = 20_000
"""Replies that are remembered, to know them if they come again: more than come while a connection is kept unused."""

COPY = "an earlier reply came again, to another request: does a proxy repeat replies?"


@dataclass(slots=True)
class Noticed:
    """Options that a service does not take, and what was noticed but has not been told yet.

    Parameters
    ----------
    dropped : set of str
        Options that are left out.
    news : list of str
        One sentence each, until it is told.
    known : set of str
        What was news once.

    Examples
    --------
    >>> noticed = Noticed()
    >>> noticed.drop("seed", "x/m does not take seed: left out")
    >>> noticed.tell("x/m does not take seed: left out")
    >>> noticed.told(), noticed.told()
    (('x/m does not take seed: left out',), ())
    """

    dropped: set[str] = field(default_factory=set)
    news: list[str] = field(default_factory=list)
    known: set[str] = field(default_factory=set)
    _replies: dict[int, int] = field(default_factory=dict, repr=False)
    _names: set[str] = field(default_factory=set, repr=False)
    _doubted: bool = field(default=False, repr=False)

    def drop(self, name: str, sentence: str) -> None:
        """Leave an option out from now on; say so the first time."""
        if name not in self.dropped:
            self.dropped.add(name)
            self.tell(sentence)

    def tell(self, sentence: str) -> None:
        """Add a sentence to the news, unless it was news before."""
        if sentence not in self.known:
            self.known.add(sentence)
            self.news.append(sentence)

    def usage(self, name: str, input_tokens: object, output_tokens: object, *, said: bool = False) -> Usage | None:
        """Take what a service says it counted; None if it cannot be true, and then that is news.

        Parameters
        ----------
        name : str
            The model's spelling.
        input_tokens, output_tokens : object
            As they came.
        said : bool
            Whether a text came, which cannot have taken no token.

        Returns
        -------
        Usage or None
            None unless both are whole numbers from 0 to :data:`MOST_TOKENS`.

        Examples
        --------
        >>> noticed = Noticed()
        >>> noticed.usage("openai/x", 12, 3), noticed.usage("openai/x", -5, 3), noticed.usage("openai/x", "many", 3)
        (Usage(input_tokens=12, output_tokens=3), None, None)
        >>> noticed.told()
        ('openai/x gives numbers of tokens that cannot be: what its calls take is not known',)
        """
        told = (input_tokens, output_tokens)
        known = [tokens for tokens in told if type(tokens) is int and 0 <= tokens <= MOST_TOKENS]
        if len(known) == len(told) and not (said and output_tokens == 0):
            return Usage(*known)
        self.tell(f"{name} gives numbers of tokens that cannot be: what its calls take is not known")
        return None

    def is_copy(self, reply: Hashable, asked: Hashable, name_of: Callable[[], object]) -> bool:
        """Tell whether a reply is one that another request got, come again: by a proxy, or on a mixed-up connection.

        A service that gives all its replies one name may well say the same twice; it is doubted once and asked again.

        Parameters
        ----------
        reply : hashable
            All that came.
        asked : hashable
            All that was sent.
        name_of : callable
            Gives the id that the service gave the reply; what is no text names nothing.

        Examples
        --------
        >>> noticed = Noticed()
        >>> noticed.is_copy("{a}", "seed 1", lambda: "1"), noticed.is_copy("{a}", "seed 1", lambda: "1")
        (False, False)
        >>> noticed.is_copy("{b}", "seed 2", lambda: "2"), noticed.is_copy("{a}", "seed 3", lambda: "1")
        (False, True)
        """
        key, question = hash(reply), hash(asked)
        if self._replies.setdefault(key, question) == question:
            while len(self._replies) > REMEMBERED:
                del self._replies[next(iter(self._replies))]
            return False
        name = name_of()
        if not isinstance(name, str) or not name:
            return False
        others = any(heard != name for heard in self._names)
        copy, self._doubted = others or not self._doubted, True
        return copy

    def heard(self, name: object) -> None:
        """Take the id of a reply: of a service that gives several, none comes twice."""
        if isinstance(name, str) and name and len(self._names) < 2:
            self._names.add(name)

    def told(self) -> tuple[str, ...]:
        """Give the news once."""
        news, self.news = tuple(self.news), []
        return news


TOO_LONG = "context_length_exceeded"
"""OpenAI's word for it, and the finish reason of such replies whoever refused."""

_TOO_LONG = re.compile(
    r"maximum (?:context|prompt) length|context (?:length|window|limit|size)|prompt is too long"
    r"|(?:input token count|number of tokens allowed)|reduce the length of the (?:messages|prompt|input)",
    re.IGNORECASE,
)
"""How services say it that have no code for it."""

_LIMIT = re.compile(r"maximum (?:context|prompt) length (?:is|of) (\d[\d,]*)", re.IGNORECASE)
_PROMPT = re.compile(r"(\d[\d,]*) (?:in (?:the|your) (?:messages|prompt|input)|input tokens)", re.IGNORECASE)
"""How services say what a prompt takes by itself."""


def is_too_long(sentence: str, *, max_tokens: int = 0) -> bool:
    """Tell whether a refusal is about the length of this prompt.

    Parameters
    ----------
    sentence : str
        The service's sentence, its code before it if there is one.
    max_tokens : int
        What was asked for: if no prompt leaves room for so many, the option is at fault and not this prompt, unless
        this prompt alone is beyond the limit.

    Examples
    --------
    >>> is_too_long("prompt is too long: 210000 tokens > 200000 maximum")
    True
    >>> is_too_long("This model's maximum context length is 4,096 tokens; you requested 5,020", max_tokens=5000)
    False
    >>> is_too_long("maximum context length is 512 tokens; 1,955 requested (931 in the messages)", max_tokens=1024)
    True
    """
    if TOO_LONG not in sentence and not _TOO_LONG.search(sentence):
        return False
    limit, prompt = _number(_LIMIT, sentence), _number(_PROMPT, sentence)
    return limit is None or max_tokens < limit or (prompt is not None and prompt >= limit)


def _number(pattern: re.Pattern[str], sentence: str) -> int | None:
    found = pattern.search(sentence)
    return int(found[1].replace(",", "")) if found else None


def too_long(name: str, sentence: str, *, n: int = 1, noticed: Noticed | None = None) -> Call:
    """Make n replies without a text of a refusal; nothing was paid for them.

    Parameters
    ----------
    name : str
        The model's spelling.
    sentence : str
        The service's sentence without secrets.
    n : int
        How many choices were asked for.
    noticed : Noticed, optional
        What was said before is not said again.

    Examples
    --------
    >>> too_long("openai/gpt-4o", "too long").replies[0].status
    'truncated'
    """
    reply = Reply("", "truncated", TOO_LONG, json.dumps({"error": sentence}, ensure_ascii=False))
    noticed = noticed or Noticed()
    noticed.tell(f"{name}: a prompt is too long for its context: no answer")
    return Call((reply,) * n, Usage(0, 0), events=noticed.told())


OVERLOADED = frozenset({429, 503, 529})
"""HTTP statuses of a service that has too much to do."""


def status_of(code: int) -> str | None:
    """Name what an HTTP status means; None for one that asking again does not help.

    Examples
    --------
    >>> status_of(429), status_of(503), status_of(401)
    ('rate_limited', 'server', None)
    """
    known = {408: "timeout", 409: "server", 425: "server", 429: "rate_limited"}
    return "server" if code >= 500 else known.get(code)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Read how long a service asks to wait: milliseconds, seconds or an HTTP date.

    Examples
    --------
    >>> retry_after({"retry-after": "2.5"}), retry_after({"retry-after-ms": "300"}), retry_after({})
    (2.5, 0.3, None)
    """
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name)
        seconds = None if value is None else _seconds(value, unit)
        if seconds is not None:
            return seconds
    return None


def _seconds(value: str, unit: float) -> float | None:
    """Read a number or a date; None if it is neither."""
    try:
        seconds = float(value) / unit
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(value).timestamp() - time.time()
        except (ValueError, OverflowError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None
