"""OpenAI's chat completions with several choices, as far as a client needs them.

A choice depends on the messages and on seed + place alone, and so does its fate (filtered, refused, cut short): a call
that is made again gets the same. What happens to a call is drawn from its body and how often it came. Every choice that
is made has a serial number, which the client finds in the choice.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from email.utils import formatdate
from pathlib import Path

from semece.models import Message, Request

from .serving import UNPAID, Handler, Server, now, seed_of, tokens_of, uniform

COUNTS = {"few": "half of the choices asked for", "many": "two more than asked for"}
FATES = {
    "content_filter": {"finish_reason": "content_filter", "message": {"role": "assistant", "content": ""}},
    "refusal": {"finish_reason": "stop", "message": {"role": "assistant", "content": None, "refusal": "I cannot."}},
    "length": {"finish_reason": "length", "message": {"role": "assistant", "content": "Let me think. First,"}},
}
TYPES = {400: "invalid_request_error", 401: "invalid_request_error", 404: "invalid_request_error", 429: "requests"}
BROKEN = {
    "401": (401, "invalid_api_key", "Incorrect API key provided"),
    "403": (403, "permission_denied", "You are not allowed to sample from this model"),
    "404": (404, "model_not_found", "The model `m` does not exist or you do not have access to it"),
    "402": (402, "insufficient_balance", "Insufficient Balance"),
    "quota": (429, "insufficient_quota", "You exceeded your current quota, please check your plan and billing"),
    "filtered": (400, "content_filter", "The prompt was filtered"),
}


def error_body(status, message, *, code=None, param=None):
    kind = TYPES.get(status, "server_error")
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def too_long(server, asked):
    """The body that refuses a prompt for its length; None if it is taken."""
    n = server.beyond((message["role"], message["content"]) for message in asked["messages"])
    if not n:
        return None
    sentence = f"This model's maximum context length is {server.context} tokens. However, your messages resulted in {n}"
    return error_body(400, f"{sentence} tokens.", code="context_length_exceeded", param="messages")


class OpenAIHandler(Handler):
    def get(self):
        if self.path == "/account":
            self.json(200, self.server.summary())
        else:
            self.json(404, error_body(404, f"no {self.path}"))

    def post(self):
        server, data, (path, _) = self.server, self.body(), self.parsed()
        with server.lock:
            server.account.requests[f"POST {path}"] += 1
        if path != "/v1/chat/completions":
            self.json(404, error_body(404, f"Invalid URL (POST {path})"))
        elif not self.turned_away():
            asked = json.loads(data)
            if server.keep_bodies:
                server.bodies.append(asked)
            if not self.refused(asked):
                self.complete(asked, *server.draw(data))

    def turned_away(self):
        """Refuse the key, the model or the account."""
        server, given = self.server, self.headers.get("Authorization") or ""
        kind = "401" if server.key and given != f"Bearer {server.key}" else server.broken
        if kind is None:
            return False
        status, code, sentence = BROKEN[kind]
        self.json(status, error_body(status, f"{sentence}: {given}" if server.echo else sentence, code=code))
        return True

    def refused(self, asked):
        """Refuse an option, or more choices than there are."""
        server = self.server
        if asked.get("n", 1) > server.choices:
            sentence = f"Invalid 'n': integer above maximum value. Expected a value <= {server.choices}."
            self.json(400, error_body(400, sentence, param="n" if server.names else None))
            return True
        for option in server.refuses:
            if option in asked:
                sentence = server.refuses[option].format(option)
                self.json(400, error_body(400, sentence, param=option if server.names else None))
                return True
        if error := too_long(server, asked):
            self.json(400, error)
        return bool(error)

    def complete(self, asked, fault, attempt):
        server = self.server
        if fault in UNPAID:
            self.fail(fault, lambda status: error_body(status, f"the test server answers {status}"))
            return
        if server.latency:
            time.sleep(server.latency)
        value, slots = server.answer(asked, fault)
        self.deliver(fault if fault not in COUNTS else None, value, slots[: asked.get("n", 1)])

    def fail(self, fault, error):
        if fault == "429_retry_after" and self.server.dates:
            date = formatdate(time.time() + self.server.retry_after, usegmt=True)
            self.json(429, error(429), [("Retry-After", date)])
        else:
            super().fail(fault, error)

    def deliver(self, fault, value, slots):
        if fault == "empty":
            value = {**value, "choices": []}
        if fault is None or fault == "slow":
            # Counted before it leaves: a client that is killed has it or has lost it
            self.server.count(value, slots)
        super().deliver(fault, value, ())


class OpenAIServer(Server):
    """The provider.

    ``choices`` is the most it gives in a request. ``refuses`` maps options to sentences it answers a 400 with (``{}``
    is the option); the option is in ``param`` too if ``names``. ``key`` is the only key it takes, ``dates`` makes
    Retry-After a date. ``faults`` are those of :data:`FAULTS` and :data:`COUNTS` by call, of :data:`FATES` by choice.
    """

    handler = OpenAIHandler

    def __init__(self, *, faults=None, choices=8, refuses=(), names=True, key=None, dates=False, **options):
        rates = dict(faults or {})
        fates = {name: rates.pop(name) for name in FATES if name in rates}
        counts = {name: rates.pop(name) for name in COUNTS if name in rates}
        super().__init__(faults=rates, **options)
        self.rates |= counts
        self.fates = fates
        self.choices, self.names, self.key, self.dates = choices, names, key, dates
        sentence = "Unsupported parameter: '{}' is not supported with this model."
        self.refuses = dict(refuses) if isinstance(refuses, dict) else dict.fromkeys(refuses, sentence)
        self.keep_bodies = True
        self.serials = itertools.count()
        self.delivered = {}
        self.started = seed_of(str(time.time()))

    @property
    def base_url(self):
        return f"{self.url}/v1"

    def answer(self, asked, fault):
        """Make the choices of a request, and pay for them."""
        messages = tuple((message["role"], message["content"]) for message in asked["messages"])
        n = asked.get("n", 1)
        n = {"few": max(1, n // 2), "many": n + 2}.get(fault, n)
        first = asked.get("seed") or 0
        choices = self.made(messages, first, n)
        written = [tokens_of(choice["message"]["content"] or "I cannot.") for choice in choices]
        read = sum(4 + tokens_of(content) for _, content in messages)
        slots = [(messages, first + place) for place in range(n)]
        with self.lock:
            self.account.paid.update(slots)
            self.account.input_tokens += read
            self.account.output_tokens += sum(written)
        usage = {"prompt_tokens": read, "completion_tokens": sum(written), "total_tokens": read + sum(written)}
        name = f"chatcmpl-{self.started:x}-{choices[0]['serial']}"
        return {
            "id": name,
            "object": "chat.completion",
            "model": asked["model"],
            "choices": choices,
            "usage": usage,
        }, slots

    def made(self, messages, first, n):
        """Make n choices."""
        request = Request(tuple(Message(role, content) for role, content in messages), n=min(n, 50), seed=first)
        if any(content.startswith('{"question"') for _, content in messages):
            texts = [now(self.judge(Request(request.messages))).replies[0].text] * n
        else:
            texts = [reply.text for reply in now(self.model(request)).replies]
        choices = []
        for place, text in enumerate(texts):
            choice = {"finish_reason": "stop", "message": {"role": "assistant", "content": text, "refusal": None}}
            if fate := self.fate(messages, first + place):
                choice |= FATES[fate]
                self.account.faults[fate] += 1
            choices.append({"index": place, **choice, "serial": next(self.serials)})
        return choices

    def fate(self, messages, seed):
        place = uniform("fate", self.seed, messages, seed)
        for name, rate in self.fates.items():
            place -= rate
            if place < 0:
                return name
        return None

    def count(self, value, slots):
        """Count what the client is about to get."""
        with self.lock:
            self.account.served.update(slots)
            for choice, slot in zip(value["choices"], slots, strict=False):
                self.delivered[choice["serial"]] = slot

    def summary(self):
        """Give the account as JSON."""
        with self.lock:
            account = self.account
            return {
                "requests": dict(account.requests),
                "faults": dict(account.faults),
                "paid": sum(account.paid.values()),
                "paid_twice": account.paid_twice,
                "delivered": len(self.delivered),
                "input_tokens": account.input_tokens,
                "output_tokens": account.output_tokens,
            }


def main():
    """Serve until killed; print the port."""
    parser = argparse.ArgumentParser(description="A provider on 127.0.0.1; GET /account gives its account.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--fault", action="append", default=[], help="NAME:RATE")
    parser.add_argument("--seed", type=int, default=0, help="of the faults")
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--choices", type=int, default=8)
    parser.add_argument("--key")
    parser.add_argument("--references", type=Path, help="JSON file: question text to answer")
    given = parser.parse_args()
    faults = {name: float(rate) for name, _, rate in (part.partition(":") for part in given.fault)}
    references = json.loads(given.references.read_text(encoding="utf-8")) if given.references else None
    server = OpenAIServer(
        port=given.port,
        faults=faults,
        seed=given.seed,
        latency=given.latency,
        choices=given.choices,
        key=given.key,
        references=references,
    )
    server.keep_bodies = False
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
