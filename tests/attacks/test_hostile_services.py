"""Services that would lose replies, money or keys if they could; over real sockets, through whole runs."""

import asyncio
import gzip
import json
import sqlite3
import ssl
import subprocess
import time
from contextlib import suppress
from dataclasses import replace

import pytest
from tests.making_runs import execute
from tests.servers.anthropic_server import AnthropicHandler, AnthropicServer
from tests.servers.openai_server import OpenAIHandler, OpenAIServer

from semece.datasets import Dataset
from semece.errors import ProviderError, TransientError
from semece.models import Message, Request, open_batches, open_model
from semece.records import Question
from semece.sampling.live_calls import IN_VAIN
from semece.sampling.patience import Patience
from semece.sampling.settings import Settings

KEY = "sk-marker+5e4dc0ffee/AB12=="
DATA = Dataset("made", tuple(Question(f"q{i}", f"Question number {i}?", (f"answer {i}",)) for i in range(3)))
QUICK = Patience(attempts=2, first_wait=0.001, longest_wait=0.002)


class TrickyHandler(OpenAIHandler):
    """Answers a call as the server's ``trick`` says: a function of the handler and the value it would have sent."""

    def complete(self, asked, fault, attempt):
        self.server.trick(self, self.server.answer(asked, fault)[0])


class TrickyServer(OpenAIServer):
    handler = TrickyHandler

    def __init__(self, trick, **options):
        super().__init__(references={q.text: q.references[0] for q in DATA.questions}, **options)
        self.trick = trick


def run(trick, path, *, choices=8, **changes):
    """Run three questions x 4 answers against a server with a trick; give the server and what is missing."""
    with TrickyServer(trick, choices=choices) as server:
        settings = Settings(
            "openai-api/test/m", "made", n=4, judge="exact", base_url=server.base_url, patience=QUICK, timeout=5.0
        )
        return server, asyncio.run(execute(replace(settings, **changes), path, dataset=DATA)).missing


def rows(path):
    connection = sqlite3.connect(path)
    found = connection.execute("SELECT status, finish_reason, provider_id, text FROM replies").fetchall()
    connection.close()
    return found


def changed(change, *, kind="application/json"):
    """Send the value after a change in place."""

    def trick(handler, value):
        change(value)
        handler.raw(200, json.dumps(value).encode(), kind)

    return trick


def every_choice(**fields):
    return lambda value: [choice.update(fields) for choice in value["choices"]]


ODD = [{"a": 1}, ["stop"], 2**70, "\ud800", 0.5, True]


@pytest.mark.parametrize("odd", ODD, ids=repr)
@pytest.mark.parametrize("field", ["finish_reason", "index", "id"])
def test_a_reply_that_was_paid_for_is_kept_whatever_stands_beside_its_text(field, odd, tmp_path):
    change = every_choice(**{field: odd}) if field != "id" else lambda value: value.update(id=odd)
    server, missing = run(changed(change), tmp_path / "a.db")
    assert missing == 0
    assert [row[0] for row in rows(tmp_path / "a.db")] == ["ok"] * 12
    assert server.account.paid.total() == 12


@pytest.mark.parametrize("charset", ["rot13", "hex", "idna", "undefined", "utf-16", "punycode", "no-such", "latin-1"])
def test_json_is_read_by_what_it_is_whatever_charset_its_header_tells(charset, tmp_path):
    trick = changed(every_choice(message={"content": "Answer: Málaga"}), kind=f"application/json; charset={charset}")
    _, missing = run(trick, tmp_path / "a.db")
    assert missing == 0
    assert {row[3] for row in rows(tmp_path / "a.db")} == {"Answer: Málaga"}


def in_a_header(handler, value):
    handler.json(200, value, [("x-request-id", handler.headers["Authorization"])])


def in_escapes(handler, value):
    value["choices"][0]["message"]["content"] = "PLACE"
    escaped = "".join(f"\\u{ord(mark):04x}" for mark in KEY)
    handler.raw(200, json.dumps(value).replace("PLACE", escaped).encode(), "application/json")


def with_slashes(handler, value):
    value["choices"][0]["message"]["content"] = "PLACE"
    handler.raw(200, json.dumps(value).replace("PLACE", KEY.replace("/", "\\/")).encode(), "application/json")


def as_a_name(handler, value):
    value["choices"][0] |= {f"echo {KEY}": 1, "finish_reason": KEY}
    handler.json(200, value)


@pytest.mark.parametrize("trick", [in_a_header, in_escapes, with_slashes, as_a_name])
def test_a_key_that_comes_back_is_in_no_file_however_it_is_spelled(trick, tmp_path, monkeypatch):
    monkeypatch.setenv("TEST_API_KEY", KEY)
    _, missing = run(trick, tmp_path / "a.db")
    assert missing == 0
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert KEY.encode() not in content
    assert b"***" in content


@pytest.mark.parametrize("where", ["key", "text"])
def test_a_key_that_comes_back_from_anthropic_is_in_no_reply(where, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    escaped = "".join(f"\\u{ord(mark):04x}" for mark in KEY) if where == "key" else KEY

    def json_with_key(self, status, value, headers=()):
        text = json.dumps(value).replace("Answer", f"Answer {escaped}")
        self.raw(status, text.encode(), "application/json", headers)

    monkeypatch.setattr(AnthropicHandler, "json", json_with_key)
    with AnthropicServer() as server:
        call = asyncio.run(ask("anthropic/claude-haiku-4-5", server.url))
    assert "Answer ***" in call.replies[0].text
    assert KEY not in repr(call)


async def ask(spelling, address, **options):
    model = open_model(spelling, base_url=address, **options)
    try:
        return await model(Request((Message("user", "Question: Capital of France?"),)))
    finally:
        await model.aclose()


def test_a_text_that_took_no_token_is_a_number_that_cannot_be(tmp_path):
    """A service that says so could be asked for ever under a cap."""
    nothing = changed(lambda value: value.update(usage={"prompt_tokens": 9, "completion_tokens": 0}))
    with pytest.raises(Exception, match=r"cap of 4,000 tokens is reached"):
        run(nothing, tmp_path / "a.db", max_total_tokens=4000, concurrency=1, max_tokens=500)
    assert [row[0] for row in rows(tmp_path / "a.db")] == ["ok"] * 4, "one call; the next could pass the cap"


@pytest.mark.parametrize("status", [200, 500, 401])
@pytest.mark.parametrize("spelling", ["openai-api/test/m", "anthropic/claude-haiku-4-5", "google/gemini-2.5-flash"])
def test_a_body_that_grows_without_end_is_not_read_on_whatever_its_status(status, spelling, monkeypatch):
    monkeypatch.setattr("semece.models.shared.http_limits.MOST_BYTES", 1 << 20)
    packed = gzip.compress(b'{"error": {"message": "' + b"a" * (8 << 20))

    def post(self):
        self.body()
        self.raw(status, packed, "application/json", [("Content-Encoding", "gzip")])

    monkeypatch.setattr(OpenAIHandler, "post", post)
    with OpenAIServer() as server, pytest.raises(ProviderError, match=r"the reply of 127.0.0.1 is longer than 1 MB$"):
        asyncio.run(ask(spelling, server.base_url))


@pytest.mark.parametrize("packed", ["zstd", "br", "gzip, zstd", "\x1b[31m"])
def test_a_body_that_is_packed_as_nobody_asked_is_not_unpacked(packed):
    refused = pytest.raises(ProviderError, match=r"is packed as .*, which was not asked for$")
    trick = lambda handler, value: handler.raw(200, b"x", "a/b", [("Content-Encoding", packed)])  # noqa: E731
    with TrickyServer(trick) as server, refused as caught:
        asyncio.run(ask("openai-api/test/m", server.base_url))
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("location", "named"),
    [
        ("{other}/chat/completions", "http://127.0.0.1:"),
        ("https://127.0.0.1/v1", "https://127.0.0.1"),
        ("file:///etc/passwd", "an address that is none"),
        ("http://[::", "an address that is none"),
        ("http://127.0.0.1:none/", "an address that is none"),
        ("http://evil\x1b[31m.example/x", "127.0.0.1 sends"),
        ("//evil.example/v1", "evil.example"),
    ],
)
@pytest.mark.parametrize("spelling", ["openai-api/test/m", "anthropic/claude-haiku-4-5"])
def test_a_redirect_to_a_place_that_nobody_named_is_refused(location, named, spelling, monkeypatch):
    """Another port of the same host is another place: a header with a key would go with it."""
    with OpenAIServer() as other:

        def post(self):
            self.body()
            self.raw(307, b"", "text/plain", [("Location", location.format(other=other.base_url))])

        with TrickyServer(None) as server:
            monkeypatch.setattr(server.RequestHandlerClass, "post", post)
            with pytest.raises(ProviderError, match="nothing is sent there") as caught:
                asyncio.run(ask(spelling, server.base_url))
        assert named in str(caught.value)
        assert str(caught.value).isprintable()
        assert not other.account.requests


def test_a_service_that_takes_the_money_and_drops_every_reply_is_left_soon(tmp_path):
    path, calls = tmp_path / "a.db", Patience(attempts=10, first_wait=0.001, longest_wait=0.002)
    with TrickyServer(lambda handler, value: handler.reset(), choices=1) as server:
        settings = Settings(
            "openai-api/test/m", "made", n=50, judge="exact", base_url=server.base_url, patience=calls, concurrency=4
        )
        with pytest.raises(ProviderError, match=rf"{IN_VAIN} calls in a row may be paid for and brought nothing"):
            asyncio.run(execute(settings, path, dataset=DATA))
        assert IN_VAIN <= server.account.paid.total() <= IN_VAIN + 4, "not 150 slots x 10 attempts"
    assert sum(row[0] == "connection" for row in rows(path)) == server.account.paid.total(), "all of it is booked"


def test_a_service_that_drops_every_reply_from_some_moment_on_is_left_too(tmp_path):
    given = []

    def trick(handler, value):
        given.append(value)
        handler.json(200, value) if len(given) <= 5 else handler.reset()

    calls = Patience(attempts=3, first_wait=0.001, longest_wait=0.002)
    with pytest.raises(ProviderError, match=rf"{4 * IN_VAIN} calls in a row may be paid for and brought nothing"):
        run(trick, tmp_path / "a.db", choices=1, n=50, patience=calls, concurrency=4)
    assert len(given) <= 5 + 4 * IN_VAIN + 4
    assert [row[0] for row in rows(tmp_path / "a.db")].count("ok") == 5


def test_a_service_that_wants_a_pause_of_a_year_ends_the_run_with_that_sentence(tmp_path):
    def trick(handler, value):
        handler.json(429, {"error": {"message": "slow down"}}, [("Retry-After", "31536000")])

    with pytest.raises(ProviderError, match=r"429 slow down; the service wants a pause of 31,536,000 seconds"):
        run(trick, tmp_path / "a.db", patience=Patience())


def test_a_reply_that_is_sent_twice_is_not_taken_for_the_next_one(tmp_path):
    """What a broken proxy sends too much on a connection belongs to no call."""

    def trick(handler, value):
        body = json.dumps(value).encode()
        whole = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
        handler.wfile.write(whole + whole)
        handler.wfile.flush()

    _, missing = run(trick, tmp_path / "a.db", choices=1, concurrency=1)
    assert missing == 0
    ids = [row[2] for row in rows(tmp_path / "a.db") if row[0] == "ok"]
    assert len(set(ids)) == len(ids) == 12


@pytest.mark.parametrize("choices", [1, 4])
def test_a_service_that_gives_all_its_replies_one_name_is_doubted_once(choices, tmp_path):
    def change(value):
        value.update(id="chatcmpl-1", usage=None)
        for choice in value["choices"]:
            choice["serial"] = 0
            choice["message"]["content"] = "Answer: yes"

    server, missing = run(changed(change), tmp_path / "a.db", choices=choices)
    assert missing == 0
    assert server.account.paid.total() == 12 + choices


def test_a_certificate_that_nobody_signed_is_refused_before_anything_is_sent(tmp_path):
    made = "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -keyout k.pem -out c.pem"
    subprocess.run(made.split(), cwd=tmp_path, capture_output=True, check=True)
    with TrickyServer(lambda handler, value: handler.json(200, value)) as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tmp_path / "c.pem", tmp_path / "k.pem")
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        settings = Settings("openai-api/test/m", "made", n=4, judge="exact", patience=QUICK)
        address = server.base_url.replace("http", "https")
        with pytest.raises(ProviderError, match=r"(?i)certificate.*nothing has answered yet"):
            asyncio.run(execute(replace(settings, base_url=address), tmp_path / "a.db", dataset=DATA))
        assert not server.account.requests


@pytest.mark.parametrize("spelling", ["openai/gpt-4o-mini", "anthropic/claude-haiku-4-5", "google/gemini-2.5-flash"])
def test_a_list_of_batches_that_begins_again_and_again_comes_to_an_end(spelling, monkeypatch):
    """It is read to find a batch whose creation was interrupted."""
    openai = {"id": "batch_1", "object": "batch", "status": "in_progress", "created_at": 1, "input_file_id": "f"}
    openai |= {"endpoint": "/v1/chat/completions", "completion_window": "24h"}
    counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
    anthropic = {"id": "b1", "type": "message_batch", "processing_status": "in_progress", "request_counts": counts}
    anthropic |= {"created_at": "2026-01-01T00:00:00Z", "expires_at": "2026-01-02T00:00:00Z"}
    google = {
        "name": "batches/1",
        "metadata": {"model": "models/gemini-2.5-flash", "createTime": "2026-01-01T00:00:00Z"},
    }
    page = {"data": [openai if spelling.startswith("openai") else anthropic], "has_more": True, "last_id": "b1"}
    page |= {"object": "list", "operations": [google], "nextPageToken": "again"}
    asked = []

    def get(self):
        asked.append(self.path)
        self.json(200, page)

    async def listed(address):
        model = open_batches(spelling, base_url=address)
        try:
            return await asyncio.wait_for(model.listed(None), 20)
        finally:
            await model.aclose()

    monkeypatch.setattr(OpenAIHandler, "get", get)
    with OpenAIServer() as server:
        address = server.base_url if spelling.startswith("openai") else server.url
        assert len(asyncio.run(listed(address))) == 1
    assert len(asked) == 2


def test_a_look_at_a_batch_whose_reply_drips_ends(monkeypatch):
    def get(self):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.close_connection = True
        with suppress(OSError):
            for _ in range(200):
                self.wfile.write(b" ")
                self.wfile.flush()
                time.sleep(0.05)

    async def look(address):
        model = open_batches("openai/gpt-4o-mini", base_url=address, timeout=0.5)
        try:
            await model.state("batch_1")
        finally:
            await model.aclose()

    monkeypatch.setattr(OpenAIHandler, "get", get)
    with OpenAIServer() as server, pytest.raises(TransientError, match=r"was not whole within 0\.5 seconds") as caught:
        asyncio.run(look(server.base_url))
    assert caught.value.status == "timeout"
