"""OpenAI's files and batches of chat completions, beside the chat completions of the other server."""

from __future__ import annotations

import json
import uuid
from email.parser import BytesParser

from .jobs import UNRUN, Jobs
from .openai_server import FATES, OpenAIHandler, OpenAIServer, error_body, too_long
from .serving import ENDINGS, main

STATUSES = {"completed": "completed", "expired": "expired", "canceled": "cancelled", "failed": "failed"}
UNRUN_CODES = {"expired": "batch_expired", "canceled": "batch_cancelled"}


class OpenAIBatchHandler(OpenAIHandler):
    def post(self):
        path, _ = self.parsed()
        if path not in {"/v1/files", "/v1/batches"}:
            super().post()
            return
        self.server.account.requests[f"POST {path}"] += 1
        data = self.body()
        if not self.turned_away():
            self.upload(data) if path == "/v1/files" else self.create(json.loads(data))

    def get(self):
        path, query = self.parsed()
        server = self.server
        parts = path.split("/")
        if len(parts) < 3 or parts[2] not in {"files", "batches"}:
            super().get()
            return
        server.account.requests["GET " + "/".join(["", *parts[1:3], *(["*"] if len(parts) > 3 else [])])] += 1
        if self.turned_away():
            return
        if path == "/v1/batches":
            self.list(query)
        elif parts[2] == "files":
            self.content(parts[3])
        elif job := server.jobs.jobs.get(parts[3]):
            server.happened("status")
            server.jobs.look(job)
            self.json(200, self.described(job))
        else:
            self.json(404, error_body(404, f"No batch found with id '{parts[3]}'."))

    def refusal(self, params):
        """The body that refuses a row; None if it is taken."""
        server = self.server
        if params.get("n", 1) > server.choices:
            return error_body(400, f"Invalid 'n': Expected a value <= {server.choices}.", param="n")
        if server.filters and server.filters in params["messages"][-1]["content"]:
            return error_body(400, "The prompt was filtered", code="content_filter")
        for option in server.refuses:
            if option in params:
                return error_body(400, server.refuses[option].format(option), param=option)
        return too_long(server, params)

    def upload(self, data):
        server = self.server
        server.happened("upload")
        message = BytesParser().parsebytes(b"Content-Type: " + self.headers["Content-Type"].encode() + b"\n\n" + data)
        fields = {part.get_param("name", header="content-disposition"): part for part in message.get_payload()}
        assert fields["purpose"].get_payload() == "batch"
        name = f"file-{uuid.uuid4().hex[:16]}"
        server.files[name] = fields["file"].get_payload(decode=True)
        self.json(200, {"id": name, "object": "file", "bytes": len(server.files[name]), "purpose": "batch"})

    def create(self, params):
        server = self.server
        server.happened("create")
        lines = [json.loads(line) for line in server.files[params["input_file_id"]].splitlines()]
        pairs = [(line["custom_id"], line["body"]) for line in lines]
        assert len(dict(pairs)) == len(pairs), "custom ids repeat"
        assert {line["url"] for line in lines} == {params["endpoint"]}
        job = server.jobs.create("batch_", pairs, pairs[0][1]["model"], **(params.get("metadata") or {}))
        server.inputs[job.id] = params["input_file_id"]
        waiting = sum(len(j.rows) for j in server.jobs.jobs.values() if not server.jobs.ended(j))
        if server.queue is not None and waiting > server.queue:
            job.ending, job.polls = "failed", server.jobs.polls
        job.results = [] if job.ending == "failed" else [self.row(job, i, *pair) for i, pair in enumerate(pairs)]
        if status := server.happened("created"):
            self.json(status, error_body(status, "the test server lost its way"))
            return
        self.json(200, self.described(job))

    def row(self, job, place, custom_id, params):
        server = self.server
        fate = job.fate(place, server.jobs.drawn(custom_id))
        row = {"id": f"batch_req_{uuid.uuid4().hex[:12]}", "custom_id": custom_id, "response": None, "error": None}
        if fate in UNRUN_CODES:
            row["error"] = {"code": UNRUN_CODES[fate], "message": "This request could not be executed in time."}
            return row
        if error := self.refusal(params):
            return row | {"response": {"status_code": 400, "request_id": row["id"], "body": error}}
        if fate in UNRUN:
            status = {"overloaded": 429, "error": 500}[fate]
            body = error_body(status, "later, please")
            return row | {"response": {"status_code": status, "request_id": row["id"], "body": body}}
        value, slots = server.answer(params, fate)
        job.slots += slots
        return row | {"response": {"status_code": 200, "request_id": row["id"], "body": value}}

    def described(self, job):
        ended = self.server.jobs.ended(job)
        status = STATUSES[job.ending] if ended else "in_progress"
        bad = sum(not good(row) for row in job.results)
        errors = None
        if status == "failed":
            code, sentence = self.server.reason
            errors = {"object": "list", "data": [{"code": code, "message": sentence}]}
        return {
            "id": job.id,
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "input_file_id": self.server.inputs.get(job.id, "file-in"),
            "completion_window": "24h",
            "status": status,
            "errors": errors,
            "created_at": int(job.created),
            "metadata": None if self.server.forgets else job.metadata,
            "output_file_id": f"{job.id}-output" if ended and bad < len(job.results) else None,
            "error_file_id": f"{job.id}-error" if ended and bad else None,
            "request_counts": {"total": len(job.rows), "completed": len(job.results) - bad, "failed": bad},
        }

    def content(self, name):
        server = self.server
        if name in server.files and server.gives_inputs:
            self.raw(200, server.files[name], "application/octet-stream")
            return
        job_id, _, kind = name.rpartition("-")
        job = server.jobs.jobs.get(job_id)
        if job is None or server.vanished:
            self.json(404, error_body(404, f"No such File object: {name}"))
            return
        rows = [row for row in reversed(job.results) if good(row) == (kind == "output")]
        lines = (
            server.spoil([json.dumps(row).encode() + b"\n" for row in rows])
            if kind == "output"
            else [json.dumps(row).encode() + b"\n" for row in rows]
        )
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
        if kind == "output":
            with server.lock:
                server.account.served.update(job.slots)

    def list(self, query):
        jobs = self.server.jobs.listed()
        limit = int(query.get("limit", 20))
        start = next((i + 1 for i, job in enumerate(jobs) if job.id == query.get("after")), 0)
        page = jobs[start : start + limit]
        more = start + limit < len(jobs)
        self.json(200, {"object": "list", "data": [self.described(job) for job in page], "has_more": more})


def good(row):
    return bool(row["response"]) and row["response"]["status_code"] == 200


class OpenAIBatchServer(OpenAIServer):
    """``single`` gives one choice whatever is asked; ``queue`` is how many lines may be under way.

    ``rows`` gives the fates of rows, see :class:`Jobs`. It may forget metadata (``forgets``), and not give the input of
    a batch back (``gives_inputs``).
    """

    handler = OpenAIBatchHandler

    def __init__(self, *, polls=2, rows=None, single=False, queue=None, **options):
        super().__init__(**options)
        self.jobs = Jobs(polls=polls, rates=rows)
        self.files, self.inputs = {}, {}
        self.forgets, self.gives_inputs = False, True
        self.single, self.queue = single, queue
        self.reason = ("token_limit_exceeded", "Enqueued token limit reached for this model.")
        self.filters = None

    def answer(self, asked, fault):
        value, slots = super().answer(asked | {"n": 1} if self.single else asked, None if fault in ENDINGS else fault)
        if fault in ENDINGS:
            value["choices"] = [choice | FATES[fault] for choice in value["choices"]]
        return value, slots


if __name__ == "__main__":
    main(OpenAIBatchServer)
