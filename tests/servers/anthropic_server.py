"""Anthropic's messages and message batches, as far as a client needs them."""

from __future__ import annotations

import json
import re
import time
import uuid
from collections import Counter

from .jobs import UNRUN, Jobs
from .serving import ENDINGS, LOST, UNPAID, Handler, Server, main, seed_of, stamp, tokens_of

ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    404: "not_found_error",
    429: "rate_limit_error",
    500: "api_error",
    503: "overloaded_error",
}
STOPS = {"content_filter": "refusal", "refusal": "refusal", "length": "max_tokens"}


def error_body(kind, message):
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_test"}


def prompt_of(params):
    """(role, content) of every message, the system prompt first."""
    system = params.get("system") or []
    blocks = [system] if isinstance(system, str) else [block["text"] for block in system]
    messages = [("system", text) for text in blocks]
    for message in params["messages"]:
        content = message["content"]
        text = content if isinstance(content, str) else "".join(block.get("text", "") for block in content)
        messages.append((message["role"], text))
    return messages


class AnthropicHandler(Handler):
    def post(self):
        path, _ = self.parsed()
        server = self.server
        server.account.requests[f"POST {path}"] += 1
        params = json.loads(self.body())
        if self.broken():
            return
        if path == "/v1/messages":
            self.message(params)
        elif path == "/v1/messages/batches":
            self.create(params["requests"])
        elif path.endswith("/cancel"):
            job = server.jobs.jobs[path.split("/")[-2]]
            job.ending = "canceled"
            self.json(200, self.described(job))
        else:
            self.json(404, error_body("not_found_error", f"no {path}"))

    def get(self):
        path, query = self.parsed()
        server = self.server
        server.account.requests[f"GET {re.sub('msgbatch_[0-9a-f]+', '*', path)}"] += 1
        if self.broken():
            return
        if path == "/v1/messages/batches":
            self.list(query)
            return
        job = server.jobs.jobs.get(path.split("/")[4])
        if job is None:
            self.json(404, error_body("not_found_error", "no such batch"))
        elif path.endswith("/results"):
            self.results(job)
        else:
            server.happened("status")
            server.jobs.look(job)
            self.json(200, self.described(job))

    def broken(self):
        """Refuse the key, the model or the account."""
        key = self.headers.get("x-api-key") or (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        said = f" {key}" if self.server.echo else ""
        kind = self.server.broken
        if kind is None:
            return False
        status, name, sentence = {
            "401": (401, "authentication_error", f"invalid x-api-key{said}"),
            "404": (404, "not_found_error", f"model: no-such-model{said}"),
            "quota": (400, "invalid_request_error", f"Your credit balance is too low to access the API{said}"),
        }[kind]
        self.json(status, error_body(name, sentence))
        return True

    def refused(self, params):
        """The sentence for an option that is not taken; None if all are."""
        if "temperature" in params and "top_p" in params:
            return "`temperature` and `top_p` cannot both be specified for this model. Please use only one."
        for name in self.server.refuses:
            if name in params:
                return f"{name}: Extra inputs are not permitted"
        if n := self.server.beyond(prompt_of(params)):
            return f"prompt is too long: {n} tokens > {self.server.context} maximum"
        return None

    def message(self, params):
        server = self.server
        server.bodies.append(params)
        if sentence := self.refused(params):
            self.json(400, error_body("invalid_request_error", sentence))
            return
        messages = prompt_of(params)
        fault, attempt = server.draw(repr(messages))
        if fault in UNPAID:
            self.fail(fault, lambda status: error_body(ERRORS[status], f"the test server answers {status}"))
            return
        if server.latency:
            time.sleep(server.latency)
        slot = (repr(messages), attempt)
        value = answer(server, params, messages, attempt, fault)
        server.pay(slot, value["usage"]["input_tokens"], value["usage"]["output_tokens"])
        self.deliver(fault if fault in LOST or fault == "slow" else None, value, [slot])

    def create(self, rows):
        server = self.server
        server.happened("create")
        if any(self.refused(row["params"]) for row in rows):
            # Anthropic validates rows when they run, not when the batch is created
            server.account.faults["refused rows"] += 1
        pairs = [(row["custom_id"], row["params"]) for row in rows]
        assert len(dict(pairs)) == len(pairs), "custom ids repeat"
        job = server.jobs.create("msgbatch_", pairs, pairs[0][1]["model"])
        job.results = [self.row(job, place, *pair) for place, pair in enumerate(pairs)]
        if status := server.happened("created"):
            self.json(status, error_body(ERRORS[status], "the test server lost its way"))
            return
        self.json(200, self.described(job))

    def row(self, job, place, custom_id, params):
        server = self.server
        fate = job.fate(place, server.jobs.drawn(custom_id))
        if sentence := self.refused(params):
            error = error_body("invalid_request_error", sentence)
            return {"custom_id": custom_id, "result": {"type": "errored", "error": error}}
        if fate in {"expired", "canceled"}:
            return {"custom_id": custom_id, "result": {"type": fate}}
        if fate in UNRUN:
            kind = {"overloaded": "overloaded_error", "error": "api_error"}[fate]
            return {"custom_id": custom_id, "result": {"type": "errored", "error": error_body(kind, "later, please")}}
        value = answer(server, params, prompt_of(params), seed_of(custom_id[8:]), fate)
        server.pay(custom_id[8:], value["usage"]["input_tokens"], value["usage"]["output_tokens"])
        return {"custom_id": custom_id, "result": {"type": "succeeded", "message": value}}

    def described(self, job):
        server = self.server
        ended = server.jobs.ended(job)
        kinds = Counter(row["result"]["type"] for row in job.results)
        counts = {k: kinds[k] if ended else 0 for k in ("succeeded", "errored", "canceled", "expired")}
        return {
            "id": job.id,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": {"processing": 0 if ended else len(job.rows), **counts},
            "created_at": stamp(job.created),
            "expires_at": stamp(job.created + 86400),
            "ended_at": stamp(job.created + 1) if ended else None,
            "results_url": f"{server.url}/v1/messages/batches/{job.id}/results" if ended else None,
        }

    def results(self, job):
        server = self.server
        if server.vanished:
            self.json(404, error_body("not_found_error", "the results have expired"))
            return
        lines = server.spoil([json.dumps(row).encode() + b"\n" for row in reversed(job.results)])
        server.happened("results")
        self.send_response(200)
        self.send_header("Content-Type", "application/x-jsonl")
        self.send_header("Content-Length", str(sum(map(len, lines))))
        self.end_headers()
        half = len(lines) // 2
        self.wfile.write(b"".join(lines[:half]))
        self.wfile.flush()
        server.happened("half")
        self.wfile.write(b"".join(lines[half:]))
        self.wfile.flush()
        with server.lock:
            server.account.served.update(
                row["custom_id"][8:] for row in job.results if row["result"]["type"] == "succeeded"
            )

    def list(self, query):
        jobs = self.server.jobs.listed()
        limit = int(query.get("limit", 20))
        start = next((i + 1 for i, job in enumerate(jobs) if job.id == query.get("after_id")), 0)
        page = jobs[start : start + limit]
        self.json(
            200,
            {
                "data": [self.described(job) for job in page],
                "has_more": start + limit < len(jobs),
                "first_id": page[0].id if page else None,
                "last_id": page[-1].id if page else None,
            },
        )


def answer(server, params, messages, seed, fault):
    """A message as the API gives it."""
    text = "" if fault in ENDINGS else server.text(messages, seed)
    content = [{"type": "thinking", "thinking": "Let me think of Answer: nothing", "signature": "c2ln"}]
    content += [{"type": "text", "text": text}] if text else []
    if fault == "length":
        content += [{"type": "text", "text": "Answ"}]
    return {
        "id": f"msg_{uuid.uuid4().hex[:20]}",
        "type": "message",
        "role": "assistant",
        "model": params["model"],
        "content": [] if fault == "empty" else content,
        "stop_reason": STOPS.get(fault, "end_turn"),
        "stop_sequence": None,
        "usage": {
            "input_tokens": sum(tokens_of(said) + 3 for _, said in messages),
            "output_tokens": tokens_of(text) + 4,
        },
    }


class AnthropicServer(Server):
    handler = AnthropicHandler

    def __init__(self, *, polls=2, rows=None, **options):
        super().__init__(**options)
        self.jobs = Jobs(polls=polls, rates=rows)


if __name__ == "__main__":
    main(AnthropicServer)
