"""What the test servers share: HTTP on 127.0.0.1, repeatable faults, an account, tokens of their own.

Answers come from the fake model, so a server knows the questions' references only if it is told them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import socket
import struct
import threading
import time
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import accumulate
from urllib.parse import parse_qs, urlsplit

from semece.models import Decoding, Message, Request
from semece.models.fakes.fake_model import FakeJudge, FakeModel

FAULTS = {
    "429": "rate limited, without a Retry-After",
    "429_retry_after": "rate limited, with one",
    "500": "a server error",
    "503": "overloaded",
    "502": "a proxy's page with its status",
    "reset": "the connection is reset before serving",
    "reset_served": "the connection is reset after serving",
    "cut": "half a body, as if it were whole",
    "html": "a proxy's page",
    "empty": "a reply without content",
    "content_filter": "stopped by a filter",
    "refusal": "refused by the provider's own field",
    "length": "stopped at the token limit",
    "slow": "served late",
}
UNPAID = {"429", "429_retry_after", "500", "502", "503", "reset"}
LOST = UNPAID | {"reset_served", "cut", "html", "empty"}
ENDINGS = {"content_filter", "refusal", "length"}


def tokens_of(text: str) -> int:
    """Pieces of words of at most six letters, and every other character that is not white."""
    return sum(-(-len(piece) // 6) for piece in re.findall(r"\w+|[^\w\s]", text))


def uniform(*key: object) -> float:
    """Draw a number in [0, 1) from nothing but the key."""
    return int.from_bytes(hashlib.sha256(repr(key).encode()).digest()[:7]) / 2**56


@dataclass
class Account:
    """What happened, for a test to compare with what is stored.

    ``paid`` counts generated choices by slot (what was asked, and which draw of it), ``served`` those whose body left
    whole, ``faults`` what misbehaved, ``requests`` calls by method and path.
    """

    paid: Counter = field(default_factory=Counter)
    served: Counter = field(default_factory=Counter)
    faults: Counter = field(default_factory=Counter)
    requests: Counter = field(default_factory=Counter)
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def paid_twice(self):
        return sum(count - 1 for count in self.paid.values() if count > 1)


class Garbled(Exception):  # noqa: N818 - it is thrown by a test, not by an error
    """Thrown by an event: answer with a proxy's page, or with half a line."""


class Server(ThreadingHTTPServer):
    """A provider on 127.0.0.1; a context manager that serves in a thread.

    ``faults`` gives the probability of each of :data:`FAULTS`, drawn from the prompt and how often it was asked, so a
    second run of the same test meets the same faults. ``broken`` makes every call fail in one way: ``401``, ``404``,
    ``quota``; ``echo`` makes the refusal repeat the key. ``refuses`` names options that are answered with a 400;
    ``context`` is the most tokens of a prompt, a longer one is answered with a 400, too.
    ``spoil`` changes the lines of a batch's results, ``vanished`` makes them disappear.
    ``on`` maps an event (``upload``, ``create``, ``created``, ``status``, ``results``, ``half``) to what is called
    when it happens.
    """

    daemon_threads = True
    request_queue_size = 512
    handler: type[BaseHTTPRequestHandler]

    def __init__(
        self,
        *,
        faults=None,
        seed=0,
        references=None,
        pmf=(0.5, 0.3, 0.2),
        latency=0.0,
        slow=0.2,
        retry_after=0.05,
        port=0,
    ):
        super().__init__(("127.0.0.1", port), self.handler)
        unknown = set(faults or {}) - set(FAULTS)
        assert not unknown, unknown
        self.rates, self.seed, self.latency, self.slow = dict(faults or {}), seed, latency, slow
        self.retry_after = retry_after
        self.model = FakeModel(pmf, references=references)
        self.judge = FakeJudge()
        self.broken = None
        self.echo = False
        self.refuses = set()
        self.context = None
        self.on = {}
        self.spoil, self.vanished = list, False
        self.account = Account()
        self.lock = threading.Lock()
        self.asked = Counter()
        self.bodies = []

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def __enter__(self):
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

    def handle_error(self, request, client_address):
        """A client that went away is part of the tests."""

    def happened(self, event):
        """Call what waits for an event; a number that it gives is the status to answer with instead."""
        return self.on[event]() if event in self.on else None

    def draw(self, what):
        """The fault of this attempt at `what`, and which attempt it is."""
        with self.lock:
            attempt = self.asked[what]
            self.asked[what] += 1
        names = list(self.rates)
        place = bisect_right(list(accumulate(self.rates.values())), uniform("fault", self.seed, what, attempt))
        fault = names[place] if place < len(names) else None
        if fault:
            with self.lock:
                self.account.faults[fault] += 1
        return fault, attempt

    def text(self, messages, seed):
        """What the model says to messages (role, content) in the draw named by `seed`."""
        request = Request(tuple(Message(role, content) for role, content in messages), Decoding(), seed=seed)
        judged = any(content.startswith('{"question"') for _, content in messages)
        return now((self.judge if judged else self.model)(request)).replies[0].text

    def beyond(self, messages):
        """How many tokens messages (role, content) have, if they are too many; else 0."""
        n = sum(tokens_of(content) for _, content in messages)
        return n if self.context is not None and n > self.context else 0

    def pay(self, slot, asked, answered):
        with self.lock:
            self.account.paid[slot] += 1
            self.account.input_tokens += asked
            self.account.output_tokens += answered


class Handler(BaseHTTPRequestHandler):
    """One connection: JSON in, JSON out, or a fault."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 1 << 16

    def log_message(self, *_):
        """Tests are quiet."""

    def do_GET(self):
        try:
            self.get()
        except Garbled as how:
            page = b"<html><body>Bad gateway</body></html>"
            self.raw(200, *((page, "text/html") if str(how) == "page" else (b'{"id": "ba', "application/json")))

    def do_POST(self):
        self.post()

    def do_DELETE(self):
        self.delete()

    def parsed(self):
        """Path and query."""
        parts = urlsplit(self.path)
        return parts.path, {name: values[0] for name, values in parse_qs(parts.query).items()}

    def body(self):
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def json(self, status, value, headers=()):
        self.raw(status, json.dumps(value).encode(), "application/json", headers)

    def raw(self, status, data, kind, headers=()):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()

    def reset(self):
        """Break the connection hard."""
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def fail(self, fault, error):
        """Send what a fault before serving is; ``error(status)`` makes the provider's body."""
        if fault == "reset":
            self.reset()
        elif fault == "429_retry_after":
            self.json(429, error(429), [("Retry-After", str(self.server.retry_after))])
        elif fault == "502":
            self.raw(502, b"<html><body>Bad gateway</body></html>", "text/html")
        else:
            self.json(int(fault), error(int(fault)))

    def deliver(self, fault, value, slots):
        """Send a reply that was paid for, or lose it."""
        if fault == "slow":
            time.sleep(self.server.slow)
        if fault == "reset_served":
            self.reset()
        elif fault == "cut":
            data = json.dumps(value).encode()
            self.raw(200, data[: len(data) // 2], "application/json")
        elif fault == "html":
            self.raw(200, b"<html><body>Bad gateway</body></html>", "text/html")
        else:
            self.json(200, value)
            if fault != "empty":
                with self.server.lock:
                    self.server.account.served.update(slots)


def now(coroutine):
    """Give what a coroutine that never waits gives."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    raise AssertionError("it waits")


def seed_of(text):
    """A seed that a name stands for."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") >> 2


def stamp(seconds):
    """RFC 3339."""
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def main(kind):
    """Serve until killed: ``python -m tests.servers.X --port 0`` prints the port."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--fault", action="append", default=[], help="NAME:RATE")
    parser.add_argument("--latency", type=float, default=0.0)
    given = parser.parse_args()
    faults = {name: float(rate) for name, _, rate in (part.partition(":") for part in given.fault)}
    server = kind(port=given.port, faults=faults, latency=given.latency)
    print(server.server_address[1], flush=True)
    server.serve_forever()
