"""A server or proxy that sends a reply or an error twice: no other question gets it, nor what comes behind it."""

import asyncio
import json
from contextlib import asynccontextmanager

import pytest

from semece.errors import ModelError, TransientError
from semece.models import Call, Decoding, Message, Request, open_model
from semece.models.shared.refusals import COPY

STEPS = 24
"""A call begins so many turns of the loop, at most, after a reply came twice: the calls of a run begin at any."""


def openai(question, number):
    choice = {"index": 0, "message": {"role": "assistant", "content": question}, "finish_reason": "stop"}
    return {"id": f"c{number}", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}


def anthropic(question, number):
    used = {"input_tokens": 1, "output_tokens": 1}
    shape = {"type": "message", "role": "assistant", "model": "claude-x", "stop_reason": "end_turn", "usage": used}
    return {"id": f"m{number}", "content": [{"type": "text", "text": question}], **shape}


SERVICES = {
    "openai": ("openai-api/test/m", "TEST_API_KEY", "/v1", openai),
    "anthropic": ("anthropic/claude-x", "ANTHROPIC_API_KEY", "", anthropic),
}


ERRORS = {
    "429": (429, "rate_limit_error", "slow down"),
    "404": (404, "not_found_error", "no such model"),
    "an option": (
        400,
        "invalid_request_error",
        "Unsupported parameter: 'temperature' is not supported with this model.",
    ),
    "too long": (400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
    "as a success": (200, "authentication_error", "invalid key"),
    "a page": (502, "", "<html>Bad gateway</html>"),
}


class Repeating:
    """Answers a question with itself; the reply to 'twice' comes twice, to 'thrice' with the next one's behind it.

    So do errors, to questions that name one.
    """

    def __init__(self, shape):
        self.shape, self.number, self.wrote = shape, 0, asyncio.Event()

    def whole(self, question):
        self.number += 1
        if question in ERRORS:
            status, kind, said = ERRORS[question]
            data = json.dumps({"type": "error", "error": {"type": kind, "message": said}} if kind else said).encode()
        else:
            status, data = 200, json.dumps(self.shape(question, self.number)).encode()
        head = b"HTTP/1.1 %d .\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % (status, len(data))
        return head + data

    async def serve(self, reader, writer):
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
                body = json.loads(await reader.readexactly(int(length.split(b":")[1])))
                question = body["messages"][-1]["content"]
                question = question if isinstance(question, str) else question[0]["text"]
                reply = self.whole(question)
                behind = {"twice": reply, "thrice": reply + self.whole("of nobody")}.get(question, b"")
                behind = reply if question in ERRORS else behind
                writer.write(reply + behind)
                await writer.drain()
                if behind:
                    self.wrote.set()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def model_of(service, monkeypatch):
    spelling, variable, path, shape = SERVICES[service]
    monkeypatch.setenv(variable, "k")
    repeating = Repeating(shape)
    server = await asyncio.start_server(repeating.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    model = open_model(spelling, base_url=f"http://127.0.0.1:{port}{path}")
    try:
        yield model, repeating
    finally:
        await model.aclose()
        server.close()


async def asked(model, question):
    """Ask until the reply is whole; give its text, and how often a reply that may be paid for was refused as a copy."""
    refused = 0
    while True:
        try:
            call = await model(Request((Message("user", question),), Decoding()))
        except TransientError as error:
            refused += COPY in str(error) and error.maybe_paid
        else:
            return call.replies[0].text, refused


def text_of(call):
    return call.replies[0].text if isinstance(call, Call) else call


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("first", ["twice", "thrice"])
def test_no_other_call_gets_a_reply_that_came_twice(service, first, monkeypatch):
    async def run(steps):
        async with model_of(service, monkeypatch) as (model, repeating):
            assert await asked(model, "before") == ("before", 0), "the connection is open, and one name known"
            again = asyncio.create_task(asked(model, first))
            await repeating.wrote.wait()
            for _ in range(steps):
                await asyncio.sleep(0)
            late = [asyncio.create_task(asked(model, f"late {number}")) for number in range(3)]
            answers = [await again, *[await task for task in late], await asked(model, "after")]
            assert [text for text, _ in answers] == [first, "late 0", "late 1", "late 2", "after"]
            return sum(refused for _, refused in answers)

    async def all_of_them():
        return [await run(steps) for steps in range(STEPS)]

    refused = asyncio.run(all_of_them())
    assert max(refused) == 1, "a copy was read by some"


@pytest.mark.parametrize("service", SERVICES)
def test_what_comes_behind_a_copy_is_not_read(service, monkeypatch):
    async def run():
        async with model_of(service, monkeypatch) as (model, _):
            assert await asked(model, "before") == ("before", 0)
            assert await asked(model, "thrice") == ("thrice", 0)
            assert await asked(model, "next") == ("next", 1)

    asyncio.run(run())


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("error", ERRORS)
def test_an_error_that_comes_twice_is_no_answer_to_another_call(service, error, monkeypatch):
    async def run(steps):
        async with model_of(service, monkeypatch) as (model, repeating):
            assert await asked(model, "before") == ("before", 0), "the connection is open"
            failing = asyncio.create_task(model(Request((Message("user", error),), Decoding(temperature=0.5))))
            await repeating.wrote.wait()
            for _ in range(steps):
                await asyncio.sleep(0)
            late = [asyncio.create_task(model(Request((Message("user", str(i)),), Decoding()))) for i in range(3)]
            first, *calls = await asyncio.gather(failing, *late, return_exceptions=True)
            calls.append(await model(Request((Message("user", "3"),), Decoding())))
            assert [text_of(call) for call in calls] == ["0", "1", "2", "3"]
            assert isinstance(first, ModelError | Call)

    async def all_of_them():
        for steps in range(0, STEPS, 2):
            await run(steps)

    asyncio.run(all_of_them())
