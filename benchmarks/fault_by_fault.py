"""One fault at a time in three calls of ten, through the command line; a model is judge of 60 questions x 10 answers.

For every fault: what left the server whole is stored once, what did not is counted under its reason, the command ends
with the right code and sentence, and after it has been typed again the file holds the rows of an undisturbed run.
"""

from __future__ import annotations

import gzip
import importlib
import json
import os
import re
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from email.utils import formatdate
from pathlib import Path
from typing import TYPE_CHECKING

from tests.servers.openai_server import OpenAIHandler, OpenAIServer, error_body
from tests.servers.serving import uniform

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

TITLE = "One fault at a time (three calls in ten; 60 questions x 10 answers, a judge that is a model)"
QUESTIONS, N, RATE = 60, 10, 0.3
NOTHING = {"rate_limited", "timeout", "connection", "server", "broken_body"}
DONE = r"\.db$"
"""The last line of a run that is complete: its file."""


@dataclass(frozen=True)
class Fault:
    """What a call meets.

    ``act`` answers (handler, the value it would have sent). ``paid``: whether the value is made, and paid for.
    ``whole``: whether it leaves whole, and so must be stored. ``reason``: the status that a call which brought nothing
    is counted under. ``code`` and ``said``: how the command ends. ``again``: what the second command is told besides.
    ``crossed``: replies of other calls come first, so that some which left whole are never read; they are counted.
    """

    act: Callable[[OpenAIHandler, dict], None]
    paid: bool = True
    whole: bool = False
    reason: str | None = None
    code: int = 0
    said: str = DONE
    again: tuple[str, ...] = ()
    crossed: bool = False


def status(code: int, *headers: tuple[str, str], said: str = "not now", word: str | None = None):
    return lambda handler, _: handler.json(code, error_body(code, said, code=word), headers)


def dated(handler: OpenAIHandler, value: dict) -> None:
    status(429, ("Retry-After", formatdate(time.time() + 1, usegmt=True)))(handler, value)


def body(change: Callable[[str], bytes], kind: str = "application/json", *headers: tuple[str, str]):
    return lambda handler, value: handler.raw(200, change(json.dumps(value)), kind, headers)


def changed(change: Callable[[dict], object], kind: str = "application/json"):
    """Send the whole value after a change beside its texts."""

    def act(handler: OpenAIHandler, value: dict) -> None:
        change(value)
        handler.raw(200, json.dumps(value).encode(), kind)

    return act


def choices(**fields):
    return lambda value: [choice.update(fields) for choice in value["choices"]]


def in_header_only(handler: OpenAIHandler, value: dict) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "99999")
    handler.end_headers()
    handler.wfile.write(json.dumps(value).encode()[:40])
    handler.close_connection = True


def drip(handler: OpenAIHandler, _: dict) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.end_headers()
    handler.close_connection = True
    for _ in range(150):
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.1)


def late(handler: OpenAIHandler, value: dict) -> None:
    time.sleep(12.0)
    handler.json(200, value)


def no_http(handler: OpenAIHandler, _: dict) -> None:
    handler.wfile.write(b"SSH-2.0-OpenSSH_9.6\r\n")
    handler.wfile.flush()
    handler.close_connection = True


def hanging_up(handler: OpenAIHandler, _: dict) -> None:
    handler.close_connection = True


def twice(handler: OpenAIHandler, value: dict) -> None:
    data = json.dumps(value).encode()
    whole = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(data), data)
    handler.wfile.write(whole + whole)
    handler.wfile.flush()


def redirected(place: str):
    return lambda handler, _: handler.raw(307, b"", "text/plain", [("Location", place)])


def half(value: dict) -> None:
    value["choices"] = value["choices"][: max(1, len(value["choices"]) // 2)]


def more(value: dict) -> None:
    value["choices"] += [choice | {"index": 99} for choice in value["choices"]]


def ended(reason: str, **message: object):
    """Let every choice end without an answer; it is delivered, and asked again on demand."""
    made = {"role": "assistant", "content": "", **message}
    return changed(choices(finish_reason=reason, message=made))


def unpaid(act, reason: str | None, **more) -> Fault:
    return Fault(act, paid=False, reason=reason, **more)


def lost(act, reason: str) -> Fault:
    return Fault(act, reason=reason)


def kept(act, **more) -> Fault:
    return Fault(act, whole=True, **more)


def fatal(act, said: str) -> Fault:
    return Fault(act, paid=False, code=4, said=said)


RETRY = ("--retry-failed",)
LACKING = {"code": 3, "said": r"replies are missing; run it again to continue: semece run"}
"""A judge that says nothing twice has not judged: the next run asks it again."""

DEEP = b'{"choices": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
LONG = gzip.compress(b'{"choices": "' + b"a" * (40 << 20) + b'"}')
TAKEN = {"prompt_tokens": 1, "completion_tokens": 0}

FAULTS: dict[str, Fault] = {
    "429": unpaid(status(429), "rate_limited"),
    "429, Retry-After in seconds": unpaid(status(429, ("Retry-After", "0.2")), "rate_limited"),
    "429, Retry-After as a date": unpaid(dated, "rate_limited"),
    "429, Retry-After that is nonsense": unpaid(status(429, ("Retry-After", "soon\x1b[31m")), "rate_limited"),
    "408": unpaid(status(408), "timeout"),
    "500": unpaid(status(500), "server"),
    "502 with a page": unpaid(lambda h, _: h.raw(502, b"<html>Bad gateway</html>", "text/html"), "server"),
    "503": unpaid(status(503), "server"),
    "504": unpaid(status(504), "server"),
    "529": unpaid(status(529), "server"),
    "reset before serving": unpaid(lambda h, _: h.reset(), "connection"),
    "hung up before serving": unpaid(hanging_up, "connection"),
    "no HTTP": unpaid(no_http, "connection"),
    "reset after serving": lost(lambda h, _: h.reset(), "connection"),
    "cut body": lost(body(lambda text: text.encode()[: len(text) // 2]), "broken_body"),
    "shorter than its length": lost(in_header_only, "connection"),
    "a page in its place": lost(body(lambda _: b"<html>Sign in</html>", "text/html"), "broken_body"),
    "no body": lost(body(lambda _: b""), "broken_body"),
    "no choices": lost(changed(lambda value: value.update(choices=[])), "broken_body"),
    "choices of another shape": lost(changed(lambda value: value.update(choices={"0": 1})), "broken_body"),
    "nested without end": lost(body(lambda _: DEEP), "broken_body"),
    "grows when unpacked": lost(body(lambda _: LONG, "application/json", ("Content-Encoding", "gzip")), "broken_body"),
    "packed badly": lost(body(str.encode, "application/json", ("Content-Encoding", "gzip")), "broken_body"),
    "packed as nobody asked": lost(body(str.encode, "a/b", ("Content-Encoding", "zstd")), "broken_body"),
    "too late": lost(late, "timeout"),
    "a byte now and then": lost(drip, "timeout"),
    "200 with an overload": lost(body(lambda _: b'{"error": {"type": "overloaded_error", "message": "x"}}'), "server"),
    "200 with a rate limit": lost(body(lambda _: b'{"error": {"code": 429, "message": "x"}}'), "rate_limited"),
    "200 with a bare error": lost(body(lambda _: b'{"error": "something broke"}'), "server"),
    "an error in every choice": lost(
        changed(choices(finish_reason="error", message=None, error={"code": 502, "message": "x"})), "server"
    ),
    "half of the choices": kept(changed(half)),
    "more choices than asked": kept(changed(more)),
    "a byte order mark": kept(body(lambda text: b"\xef\xbb\xbf" + text.encode())),
    "a charset that is none": kept(changed(dict.copy, "application/json; charset=rot13")),
    "UTF-16": kept(body(lambda text: text.encode("utf-16"), "application/json; charset=utf-8")),
    "a finish reason that is no word": kept(changed(choices(finish_reason={"a": 2**80}))),
    "an id that is no word": kept(changed(lambda value: value.update(id=[2**80, "\ud800"]))),
    "places that are no numbers": kept(changed(choices(index="first"))),
    "no usage": kept(changed(lambda value: value.pop("usage"))),
    "usage below zero": kept(changed(lambda value: value.update(usage={"prompt_tokens": -5, "completion_tokens": -9}))),
    "a text that took no token": kept(changed(lambda value: value.update(usage=TAKEN))),
    "the reply sent twice": kept(twice, crossed=True),
    "stopped by a filter": kept(ended("content_filter"), again=RETRY),
    "cut short": kept(ended("length", content="Let me th"), again=RETRY),
    "refused": kept(ended("stop", refusal="I cannot."), again=RETRY),
    "no text": kept(ended("stop", content=None), again=RETRY, **LACKING),
    "only thoughts": kept(ended("stop", content="<think>well</think>"), again=RETRY, **LACKING),
    "401": fatal(status(401, said="Incorrect API key"), r"refused the key \(401\): Incorrect API key"),
    "402": fatal(status(402, said="pay first"), r"wants money \(402\): pay first"),
    "403": fatal(status(403, said="not here"), r"does not allow this \(403\): not here"),
    "404": fatal(status(404, said="no such model"), r"does not know this model \(404\): no such model"),
    "quota": fatal(status(429, said="pay", word="insufficient_quota"), r"has no quota left \(429\): pay"),
    "a redirect elsewhere": fatal(redirected("http://localhost:9/v1"), r"sends requests on to localhost"),
    "a redirect to another port": fatal(redirected("http://127.0.0.1:9/v1"), r"sends requests on to http://127"),
    "a pause of a year": fatal(status(429, ("Retry-After", "31536000")), r"wants a pause of 31,536,000 seconds"),
}


class FaultyHandler(OpenAIHandler):
    def complete(self, asked, fault, attempt):  # noqa: ARG002 - of the other server
        server = self.server
        met = server.fault is not None and uniform(server.named, json.dumps(asked), attempt) < RATE
        if not met:
            super().complete(asked, None, attempt)
            return
        with server.lock:
            server.account.faults["met"] += 1
        if not server.fault.paid:
            server.fault.act(self, {})
            return
        value, slots = server.answer(asked, None)
        if server.fault.whole:
            wanted = [choice["serial"] for choice in value["choices"]][: asked.get("n", 1)]
            if server.fault.act is HALF:
                wanted = wanted[: max(1, len(wanted) // 2)]
            with server.lock:
                server.delivered.update(dict.fromkeys(wanted, slots[0]))
        server.fault.act(self, value)


SLOW = {"too late", "a byte now and then"}
HALF = FAULTS["half of the choices"].act


class FaultyServer(OpenAIServer):
    handler = FaultyHandler

    def __init__(self, named: str = "", fault: Fault | None = None) -> None:
        super().__init__(references={f"Question number {i}?": f"answer {i}" for i in range(QUESTIONS)})
        self.named, self.fault, self.keep_bodies = named, fault, False


def typed(server: OpenAIServer, folder: Path, name: str, *more: str) -> tuple[int, str]:
    """Type the command in a fork of this process; give its exit code and the last line that it wrote on stderr."""
    words = ["semece", "run", "-m", "openai-api/test/m", "-j", "openai-api/test/judge", "-d", "made.jsonl", "-q"]
    words += ["-n", str(N), "-o", f"{name}.db", "--timeout", "8" if name in SLOW else "60", *more]
    child = os.fork()
    if child == 0:
        from semece.cli import main

        os.chdir(folder)
        os.environ["TEST_BASE_URL"] = server.base_url
        for number in (1, 2):
            os.dup2(os.open(f"{name}.out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND), number)
        sys.argv = words
        try:
            main()
        except SystemExit as left:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(int(left.code or 0))
        finally:
            os._exit(70)
    _, code = os.waitpid(child, 0)
    lines = (folder / f"{name}.out").read_text(errors="replace").strip().splitlines()
    return os.waitstatus_to_exitcode(code), lines[-1] if lines else ""


def rows_of(path: Path, sql: str) -> list[tuple]:
    connection = sqlite3.connect(path)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def final_rows(path: Path, fault: Fault | None = None) -> list[tuple]:
    """List what stands: stage, question, place, status and text.

    Where answers were asked for again, what a judge said of their classes before stays, so that they alone are listed.
    """
    sql = "SELECT stage, question_id, position, status, text, key FROM replies WHERE superseded = 0"
    rows = sorted(row for row in rows_of(path, sql) if row[3] not in NOTHING | {"unparseable"})
    return rows if fault is None or not fault.again else [row for row in rows if row[0] == "respond"]


def judged(folder: Path, name: str) -> str:
    """Read what comes out of a file, as the command prints it."""
    child = os.fork()
    out = folder / f"{name}.summary"
    if child == 0:
        from semece.runs.run import Run

        with Run(folder / f"{name}.db") as run:
            out.write_text(repr(run.estimates().rows()))
        os._exit(0)
    os.waitpid(child, 0)
    return out.read_text()


def stored_serials(path: Path) -> Counter[int]:
    raws = rows_of(path, "SELECT raw FROM replies WHERE status NOT IN ('rate_limited', 'timeout', 'connection', "
                         "'server', 'broken_body')")  # fmt: skip
    return Counter(json.loads(raw).get("serial") for (raw,) in raws)


def stock(server: FaultyServer, path: Path, fault: Fault) -> Iterator[str]:
    """Compare what the file holds with what the server did; say what is wrong."""
    stored, sent, met = stored_serials(path), set(server.delivered), server.account.faults["met"]
    if sent - set(stored) and not fault.crossed:
        yield f"{len(sent - set(stored))} that left whole are not stored"
    if set(stored) - sent:
        yield "something is stored that did not leave whole"
    if any(count > 1 for count in stored.values()):
        yield "something is stored twice"
    failed = failures(path)
    if fault.reason is not None and dict(failed) != {fault.reason: met}:
        yield f"{met} calls met it, and these are counted: {dict(failed)}"


def failures(path: Path) -> Counter[str]:
    statuses = Counter(dict(rows_of(path, "SELECT status, count(*) FROM replies GROUP BY status")))
    return Counter({name: count for name, count in statuses.items() if name in NOTHING})


def tried(name: str, fault: Fault, folder: Path, expected: list[tuple]) -> dict[str, object]:
    """Run under a fault, then without it; say what is wrong."""
    path = folder / f"{name}.db"
    with FaultyServer(name, fault) as server:
        code, last = typed(server, folder, name)
        time.sleep(0.1)
        met, paid, sent = server.account.faults["met"], server.account.paid.total(), len(server.delivered)
        wrong, failed = list(stock(server, path, fault)), failures(path).total()
        if code != fault.code or not re.search(fault.said, last):
            wrong.append(f"exit code {code}, last line {last!r}")
        server.fault, asked = None, server.account.requests.total()
        code, last = typed(server, folder, name, *fault.again)
        if code != 0 or not re.search(DONE, last):
            wrong.append(f"typed again: {code}, {last!r}")
        wanted = [row for row in expected if not fault.again or row[0] == "respond"]
        if final_rows(path, fault) != wanted or judged(folder, name) != judged(folder, "undisturbed"):
            wrong.append("the rows are not those of the undisturbed run")
        if fault.code == 0 and not fault.again and server.account.requests.total() != asked:
            wrong.append("a finished run asks again")
    counts = {"met": met, "paid": paid, "left": sent, "failed": failed}
    return {"fault": name, **counts, "code": fault.code, "wrong": wrong}


def import_first() -> None:
    """Import what every fork needs, but nothing that starts threads."""
    for module in (
        "openai.resources.chat.completions",
        "semece.cli",
        "semece.runs.run",
        "scipy.special",
        "genai_prices",
    ):
        importlib.import_module(module)


def main(named: Sequence[str] = ()) -> str:
    """Try every fault."""
    import semece.cli
    import semece.runs.run  # noqa: F401 - imported before the forks
    from benchmarks._tables import table

    found = []
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        lines = (
            {"id": f"q{i}", "question": f"Question number {i}?", "references": [f"answer {i}"]}
            for i in range(QUESTIONS)
        )
        (folder / "made.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        with FaultyServer() as server:
            code, last = typed(server, folder, "undisturbed")
            assert code == 0, last
        expected = final_rows(folder / "undisturbed.db")
        for name, fault in FAULTS.items():
            if not named or name in named:
                found.append(tried(name, fault, folder, expected))
                print(found[-1], file=sys.stderr, flush=True)
    bad = [f"{each['fault']}: {'; '.join(each['wrong'])}" for each in found if each["wrong"]]
    said = f"{len(found)} faults; {len(bad)} of them with something wrong{': ' if bad else ''}{'. '.join(bad)}."
    head = ["fault", "calls that met it", "choices paid", "left whole and stored", "counted as failed", "exit code"]
    rows = [[str(each[key]) for key in ("fault", "met", "paid", "left", "failed", "code")] for each in found]
    return f"{said}\n\n{table(head, rows)}"


if __name__ == "__main__":
    print(main(sys.argv[1:]))
