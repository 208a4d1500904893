"""How a fake model misbehaves: named faults at known rates, the same in every run."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypedDict

from semece.errors import ProviderError, TransientError
from semece.models.protocol import Call, Reply, Request, Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from semece.models.protocol import ReplyStatus

CALL_FAULTS: Mapping[str, str] = {
    "429": "rate limited, without a Retry-After",
    "429_retry_after": "rate limited, with one",
    "500": "a server error",
    "timeout": "no answer in time; it may be paid for",
    "connection": "a connection refused before anything was sent",
    "connection_served": "a connection lost after serving; it may be paid for",
    "broken_body": "a body that cannot be read",
    "too_few": "half of the choices asked for, at least one",
    "single": "one choice instead of several, for this and every later call",
    "slow": "an answer after `slow_seconds`",
    "401": "a refused key; asking again does not help",
    "quota": "an exhausted quota; asking again does not help",
}
"""What can happen to a call, each attempt drawn anew."""

REPLY_FAULTS: Mapping[str, str] = {
    "content_filter": "stopped by the provider's filter",
    "refusal": "refused by the provider's own field",
    "truncated": "cut at the token limit before the answer",
    "no_confidence": "an answer without a confidence",
    "off_format": "prose without an answer line",
    "identical": "a cached copy: the same answer whatever the seed",
}
"""What can happen to a choice, the same however it is asked for."""


@dataclass(frozen=True, slots=True)
class Faults:
    """How often a fake misbehaves, and how.

    Parameters
    ----------
    rates : mapping of str to float
        Probability of each fault, names from :data:`CALL_FAULTS` and :data:`REPLY_FAULTS`; those of one table
        exclude each other and sum to at most 1.
    seed : int
        Faults are drawn from it, the prompt, the request's seed and (those of calls) the number of the attempt.
    retry_after, slow_seconds : float
        Seconds of ``429_retry_after`` and ``slow``.

    Raises
    ------
    ValueError
        For an unknown name or an impossible rate.

    Examples
    --------
    >>> Faults({"429": 0.1, "refusal": 0.05}).rates["429"]
    0.1
    """

    rates: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0
    retry_after: float = 0.05
    slow_seconds: float = 0.5

    def __post_init__(self) -> None:
        for name, rate in self.rates.items():
            if name not in CALL_FAULTS and name not in REPLY_FAULTS:
                known = ", ".join([*CALL_FAULTS, *REPLY_FAULTS])
                raise ValueError(f"fault must be one of {known}; got {name!r}")
            if not 0 <= rate <= 1:
                raise ValueError(f"the rate of a fault must lie in [0, 1]; got {rate} for {name}")
        for table in (CALL_FAULTS, REPLY_FAULTS):
            if sum(rate for name, rate in self.rates.items() if name in table) > 1 + 1e-12:
                raise ValueError(f"rates of {', '.join(n for n in self.rates if n in table)} must sum to at most 1")

    def draw(self, table: Mapping[str, str], *key: object) -> str | None:
        """Draw the fault of `table` for a key; None if all goes well."""
        names = [name for name in self.rates if name in table]
        if not names:
            return None
        place = bisect_right(list(accumulate(self.rates[name] for name in names)), uniform("fault", self.seed, *key))
        return names[place] if place < len(names) else None


class Misbehaviour(TypedDict, total=False):
    """How a fake service behaves beside what it says; see :class:`FakeService`."""

    faults: Faults | None
    max_choices: int
    latency: float


class FakeService(ABC):
    """What stands between a fake's text and its caller: faults, latency, counts.

    Parameters
    ----------
    faults : Faults or None
        Misbehaviour.
    max_choices : int
        Most choices of one request, >= 1.
    latency : float
        Seconds of every call.
    """

    def __init__(self, *, faults: Faults | None = None, max_choices: int = 1, latency: float = 0.0) -> None:
        if max_choices < 1:
            raise ValueError(f"max_choices must be at least 1; got {max_choices}")
        self.faults = faults or Faults()
        self.max_choices = max_choices
        self._most = max_choices
        self._latency = latency
        self._attempts: Counter[tuple[str, int]] = Counter()

    @abstractmethod
    def text(self, request: Request, seed: int, fault: str | None) -> str:
        """Say what the choice with a seed says under a fault: each fake in its own way."""

    def tokens(self, request: Request, said: str) -> list[dict[str, Any]]:
        """Give the tokens of a text with their log probabilities: one that is certain, unless a fake knows better."""
        del request
        return [{"token": said, "logprob": 0.0, "top_logprobs": []}]

    async def aclose(self) -> None:  # noqa: B027 - a fake may keep it
        """Nothing to give back."""

    async def __call__(self, request: Request, /) -> Call:
        """Answer, or misbehave as agreed.

        Raises
        ------
        ValueError
            If more choices are asked for than `max_choices`.
        TransientError, ProviderError
            As the faults want it.
        """
        if not 1 <= request.n <= self._most:
            raise ValueError(f"n must lie in 1 to {self._most}; got {request.n}")
        started = time.perf_counter()
        fault = self._call_fault(request)
        seconds = self._latency + (self.faults.slow_seconds if fault == "slow" else 0.0)
        if seconds:
            await asyncio.sleep(seconds)
        if fault is not None:
            _raise(fault, self.faults.retry_after)
        events = self._fall_to_single() if fault == "single" else ()
        n = max(1, request.n // 2) if fault == "too_few" else min(request.n, self.max_choices)
        replies = tuple(self._reply(request, (request.seed or 0) + i) for i in range(n))
        usage = Usage(_count(prompt_of(request)), sum(_count(reply.text) for reply in replies))
        return Call(replies, usage=usage, latency=time.perf_counter() - started, events=events)

    def _fall_to_single(self) -> tuple[str, ...]:
        fell, self.max_choices = self.max_choices > 1, 1
        return ("several choices per request are not supported: one request each",) if fell else ()

    def _call_fault(self, request: Request) -> str | None:
        if not self.faults.rates:
            return None
        key = (hashlib.sha256(prompt_of(request).encode()).hexdigest(), request.seed or 0)
        self._attempts[key] += 1
        return self.faults.draw(CALL_FAULTS, *key, self._attempts[key])

    def _reply(self, request: Request, seed: int) -> Reply:
        fault = self.faults.draw(REPLY_FAULTS, prompt_of(request), seed) if self.faults.rates else None
        status, finish = _ENDINGS.get(fault or "", ("ok", "stop"))
        said = "" if status != "ok" else self.text(request, seed, fault)
        raw: dict[str, Any] = {"message": {"role": "assistant", "content": said}, "finish_reason": finish}
        if request.logprobs is not None and status == "ok":
            raw["logprobs"] = {"content": self.tokens(request, said)}
        return Reply(said, status, finish, json.dumps(raw, ensure_ascii=False))


_ENDINGS: Mapping[str, tuple[ReplyStatus, str]] = {
    "content_filter": ("content_filter", "content_filter"),
    "refusal": ("refusal", "stop"),
    "truncated": ("truncated", "length"),
}


_FAILURES: Mapping[str, tuple[str, str | None, bool]] = {
    "429": ("the fake model answered 429", "rate_limited", False),
    "429_retry_after": ("the fake model answered 429", "rate_limited", False),
    "500": ("the fake model answered 500", "server", False),
    "timeout": ("the fake model did not answer in time", "timeout", True),
    "connection": ("the fake model refused the connection", "connection", False),
    "connection_served": ("the fake model broke the connection", "connection", True),
    "broken_body": ("the fake model sent a broken body", "broken_body", True),
    "401": ("the fake model refused the key", None, False),
    "quota": ("the fake model's quota is exhausted", None, False),
}
"""What a call that delivers nothing says, its status (None: asking again is no help), whether it may be paid for."""


def _raise(fault: str, retry_after: float) -> None:
    """Raise what the fault of a call is, if it is one that delivers nothing."""
    if fault in _FAILURES:
        said, status, maybe_paid = _FAILURES[fault]
        if status is None:
            raise ProviderError(said)
        wait = retry_after if fault == "429_retry_after" else None
        raise TransientError(said, status=status, retry_after=wait, maybe_paid=maybe_paid)


def prompt_of(request: Request) -> str:
    """Join the messages of a request, roles included."""
    return "\n".join(f"{message.role}: {message.content}" for message in request.messages)


def uniform(*key: object) -> float:
    """Draw a number in [0, 1) that depends on nothing but the key."""
    digest = hashlib.sha256("\x1f".join(map(str, key)).encode()).digest()
    return int.from_bytes(digest[:7]) / 2**56


def _count(text: str) -> int:
    return len(text.split())
