"""Google's generateContent, files and batches, as far as a client needs them."""

from __future__ import annotations

import json
import time
import uuid
from collections import Counter

from .jobs import UNRUN, Jobs
from .serving import ENDINGS, LOST, UNPAID, Handler, Server, main, seed_of, stamp, tokens_of

STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}
STOPS = {"content_filter": "SAFETY", "refusal": "PROHIBITED_CONTENT", "length": "MAX_TOKENS"}
CODES = {"overloaded": 14, "error": 13, "expired": 4, "canceled": 1}
ENDED = {"completed": "SUCCEEDED", "expired": "EXPIRED", "canceled": "CANCELLED", "failed": "FAILED"}


def error_body(status, message, **more):
    return {"error": {"code": status, "message": message, "status": STATUSES[status], **more}}


def prompt_of(params):
    """(role, content) of every message, the system prompt first."""
    messages = []
    if system := params.get("systemInstruction"):
        messages += [("system", part["text"]) for part in system["parts"]]
    for content in params["contents"]:
        role = "assistant" if content["role"] == "model" else "user"
        messages.append((role, "".join(part.get("text", "") for part in content["parts"])))
    return messages


class GoogleHandler(Handler):
    def post(self):
        path, _ = self.parsed()
        server = self.server
        data = self.body()
        verb = path.rpartition(":")[2] if ":" in path else path
        server.account.requests[f"POST {verb}"] += 1
        if self.broken():
            return
        if path.startswith("/upload/"):
            self.upload(path, data)
        elif verb == "generateContent":
            self.generate(path.split("/")[-1].partition(":")[0], json.loads(data))
        elif verb == "batchGenerateContent":
            self.create(path.split("/")[-1].partition(":")[0], json.loads(data)["batch"])
        elif verb == "cancel":
            server.jobs.jobs[f"batches/{path.split('/')[-1].partition(':')[0]}"].ending = "canceled"
            self.json(200, {})
        else:
            self.json(404, error_body(404, f"no {path}"))

    def delete(self):
        name = f"files/{self.parsed()[0].split('/')[-1]}"
        self.server.account.requests["DELETE file"] += 1
        self.server.files.pop(name, None)
        self.json(200, {})

    def get(self):
        path, query = self.parsed()
        server = self.server
        if self.broken():
            return
        if path.endswith("/batches"):
            server.account.requests["GET batches"] += 1
            self.list(query)
        elif "/batches/" in path:
            server.account.requests["GET batches/*"] += 1
            server.happened("status")
            job = server.jobs.jobs.get(f"batches/{path.split('/')[-1]}")
            if job is None:
                self.json(404, error_body(404, "no such batch"))
                return
            server.jobs.look(job)
            self.json(200, self.described(job))
        elif path.endswith(":download"):
            server.account.requests["GET file"] += 1
            self.results(path.split("/")[-1].partition(":")[0])
        else:
            self.json(404, error_body(404, f"no {path}"))

    def broken(self):
        """Refuse the key, the model or the account."""
        key = self.headers.get("x-goog-api-key") or ""
        said = f" {key}" if self.server.echo else ""
        kind = self.server.broken
        if kind is None:
            return False
        if kind == "401":
            reason = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]
            self.json(400, error_body(400, f"API key not valid. Please pass a valid API key.{said}", details=reason))
        elif kind == "404":
            self.json(404, error_body(404, f"models/no-such-model is not found for API version v1beta{said}"))
        else:
            violation = {"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}
            failure = [{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]}]
            self.json(429, error_body(429, f"You exceeded your current quota{said}", details=failure))
        return True

    def refused(self, params):
        """The sentence for an option that is not taken; None if all are."""
        for name in self.server.refuses:
            if name in params.get("generationConfig", {}):
                return f"Invalid JSON payload received. Unknown name \"{name}\" at 'generation_config'"
        if n := self.server.beyond(prompt_of(params)):
            return f"The input token count ({n}) exceeds the maximum number of tokens allowed ({self.server.context})."
        return None

    def generate(self, model, params):
        server = self.server
        server.bodies.append(params)
        if sentence := self.refused(params):
            self.json(400, error_body(400, sentence))
            return
        messages = prompt_of(params)
        seed = params.get("generationConfig", {}).get("seed")
        fault, attempt = server.draw(repr((messages, seed)))
        if fault in UNPAID:
            self.fail(fault, lambda status: error_body(status, f"the test server answers {status}"))
            return
        if server.latency:
            time.sleep(server.latency)
        slot = (repr(messages), attempt if seed is None else seed)
        value = answer(server, model, messages, attempt if seed is None else seed, fault)
        server.pay(slot, value["usageMetadata"]["promptTokenCount"], value["usageMetadata"]["candidatesTokenCount"])
        self.deliver(fault if fault in LOST or fault == "slow" else None, value, [slot])

    def upload(self, path, data):
        server = self.server
        if self.headers.get("X-Goog-Upload-Command") == "start":
            server.happened("upload")
            self.json(200, {}, [("X-Goog-Upload-URL", f"{server.url}/upload/v1beta/files/put")])
            return
        name = f"files/{uuid.uuid4().hex[:12]}"
        server.files[name] = data
        self.json(200, {"file": {"name": name, "uri": name}}, [("X-Goog-Upload-Status", "final")])

    def create(self, model, batch):
        server = self.server
        server.happened("create")
        lines = [json.loads(line) for line in server.files[batch["inputConfig"]["fileName"]].splitlines()]
        pairs = [(line["key"], line["request"]) for line in lines]
        assert len(dict(pairs)) == len(pairs), "keys repeat"
        job = server.jobs.create("batches/", pairs, model, display_name=batch.get("displayName"))
        rows = [self.row(job, model, place, *pair) for place, pair in enumerate(pairs)]
        job.results = [row for row in rows if row]
        if status := server.happened("created"):
            self.json(status, error_body(status, "the test server lost its way"))
            return
        self.json(200, self.described(job))

    def row(self, job, model, place, key, params):
        server = self.server
        fate = job.fate(place, server.jobs.drawn(key))
        if job.ending in {"failed", fate}:
            return None  # a job that is cut short leaves rows out
        if sentence := self.refused(params):
            return {"key": key, "error": {"code": 3, "message": sentence}}
        if fate in UNRUN:
            return {"key": key, "error": {"code": CODES[fate], "message": "later, please"}}
        seed = params.get("generationConfig", {}).get("seed")
        seed = seed_of(key[8:]) if seed is None else seed
        value = answer(server, model, prompt_of(params), seed, fate)
        usage = value["usageMetadata"]
        server.pay(key[8:], usage["promptTokenCount"], usage["candidatesTokenCount"])
        return {"key": key, "response": value}

    def described(self, job):
        ended = self.server.jobs.ended(job)
        kinds = Counter("failed" if "error" in row else "succeeded" for row in job.results)
        metadata = {
            "@type": "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch",
            "name": job.id,
            "model": f"models/{job.model}",
            "displayName": job.metadata["display_name"],
            "state": f"BATCH_STATE_{ENDED[job.ending] if ended else 'RUNNING'}",
            "createTime": stamp(job.created),
            "batchStats": {
                "requestCount": str(len(job.rows)),
                "successfulRequestCount": str(kinds["succeeded"] if ended else 0),
                "failedRequestCount": str(kinds["failed"] if ended else 0),
                "pendingRequestCount": str(0 if ended else len(job.rows)),
            },
        }
        if ended and job.results:
            metadata["output"] = {"responsesFile": f"files/{job.id.split('/')[-1]}"}
        return {"name": job.id, "metadata": metadata, "done": ended}

    def results(self, name):
        server = self.server
        job = server.jobs.jobs[f"batches/{name}"]
        if server.vanished:
            self.json(404, error_body(404, f"File {name} not found"))
            return
        lines = server.spoil([json.dumps(row).encode() + b"\n" for row in reversed(job.results)])
        server.happened("results")
        self.send_response(200)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Length", str(sum(map(len, lines))))
        self.end_headers()
        half = len(lines) // 2
        self.wfile.write(b"".join(lines[:half]))
        self.wfile.flush()
        server.happened("half")
        self.wfile.write(b"".join(lines[half:]))
        self.wfile.flush()
        with server.lock:
            server.account.served.update(row["key"][8:] for row in job.results if "response" in row)

    def list(self, query):
        jobs = self.server.jobs.listed()
        start, size = int(query.get("pageToken") or 0), int(query.get("pageSize") or 20)
        page = {"operations": [self.described(job) for job in jobs[start : start + size]]}
        if start + size < len(jobs):
            page["nextPageToken"] = str(start + size)
        self.json(200, page)


def answer(server, model, messages, seed, fault):
    """A generateContent reply."""
    text = "" if fault in ENDINGS else server.text(messages, seed)
    asked = sum(tokens_of(said) + 3 for _, said in messages)
    answered = tokens_of(text) + 4
    parts = [{"text": "Let me think of Answer: nothing", "thought": True}]
    parts += [{"text": text}] if text else []
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": STOPS.get(fault, "STOP"), "index": 0}
    if fault in {"content_filter", "refusal"}:
        del candidate["content"]
    if server.blocks:
        usage = {"promptTokenCount": asked, "totalTokenCount": asked}
        return {
            "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},
            "usageMetadata": usage | {"candidatesTokenCount": 0},
        }
    return {
        "candidates": [] if fault == "empty" else [candidate],
        "usageMetadata": {
            "promptTokenCount": asked,
            "candidatesTokenCount": answered,
            "totalTokenCount": asked + answered,
        },
        "modelVersion": model,
        "responseId": uuid.uuid4().hex[:16],
    }


class GoogleServer(Server):
    handler = GoogleHandler

    def __init__(self, *, polls=2, rows=None, **options):
        super().__init__(**options)
        self.jobs = Jobs(polls=polls, rates=rows)
        self.files = {}
        self.blocks = False


if __name__ == "__main__":
    main(GoogleServer)
