"""The adapter of OpenAI-compatible services, over real sockets: what comes, what goes wrong, what stays secret."""

import asyncio
import gzip
import json
import logging
import re
import socket
import threading
import time
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer

import pytest

from semece.datasets import Dataset
from semece.errors import BudgetError, ModelError, ProviderError, TransientError
from semece.models import PROVIDERS, Decoding, Message, Model, Request, Usage, open_model
from semece.models.openai.chat_completions import LONELY
from semece.models.openai.openai_errors import Refusal, named_option
from semece.models.shared.refusals import retry_after
from semece.records import Question
from semece.runs.run import Run
from semece.sampling.settings import Settings
from tests.making_runs import execute
from tests.servers.openai_server import COUNTS, FATES, OpenAIServer
from tests.servers.serving import FAULTS, tokens_of

KEY = "sk-marker-0123456789"
PROMPT = "State a confidence.\nQuestion: Capital of France?"
ASK = Request((Message("system", "Be brief."), Message("user", PROMPT)), Decoding(), n=4, seed=7)


@pytest.fixture
def key(monkeypatch):
    monkeypatch.setenv("TEST_API_KEY", KEY)


def call(server, request=ASK, *, times=1, **options):
    """Ask once, or several times with one model; give the last call."""

    async def ask():
        model = open_model("openai-api/test/m", base_url=server.base_url, **options)
        try:
            for _ in range(times):
                last = await model(request)
        finally:
            await model.aclose()
        return last

    return asyncio.run(ask())


def test_it_asks_for_what_is_asked_and_reads_what_comes(key):
    decoding = Decoding(0.5, 0.9, 77, "low", schema={"type": "object"})
    with OpenAIServer(key=KEY) as server:
        got = call(server, Request(ASK.messages, decoding, n=4, seed=7))
    assert server.bodies == [
        {
            "model": "m",
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": PROMPT}],
            "temperature": 0.5,
            "top_p": 0.9,
            "max_tokens": 77,
            "reasoning_effort": "low",
            "seed": 7,
            "n": 4,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "reply", "strict": True, "schema": {"type": "object"}},
            },
        }
    ]
    assert [json.loads(reply.raw)["serial"] for reply in got.replies] == [0, 1, 2, 3]
    for reply in got.replies:
        assert reply.text == json.loads(reply.raw)["message"]["content"]
        assert re.fullmatch(r"Answer: answer \d\nConfidence: 70%", reply.text)
        assert (reply.status, reply.finish_reason) == ("ok", "stop")
    words = tokens_of("Be brief.") + tokens_of(PROMPT) + 8
    assert got.usage == Usage(words, sum(tokens_of(reply.text) for reply in got.replies))
    assert got.request_id.startswith("chatcmpl-")
    assert got.latency > 0
    assert got.events == ()


def test_it_is_a_model_and_opening_it_sends_nothing_and_imports_no_sdk(monkeypatch):
    monkeypatch.setattr("openai.AsyncOpenAI", lambda **options: pytest.fail("opened too early"))
    model = open_model("vllm/m")
    assert isinstance(model, Model)
    assert (model.name, model.max_choices, model.base_url) == ("vllm/m", 50, "http://127.0.0.1:8000/v1")
    asyncio.run(model.aclose())


def test_options_that_are_none_are_not_sent():
    with OpenAIServer() as server:
        call(server, Request(ASK.messages, Decoding(None, None)))
    assert set(server.bodies[0]) == {"model", "messages", "max_tokens"}


def test_chunks_give_what_one_request_gives():
    with OpenAIServer() as server:
        whole = call(server, Request(ASK.messages, n=8, seed=3)).replies
        parts = [call(server, Request(ASK.messages, n=4, seed=3 + k)).replies for k in (0, 4)]
    assert [reply.text for reply in whole] == [reply.text for part in parts for reply in part]


TRANSIENT = {
    "429": ("rate_limited", None, False),
    "429_retry_after": ("rate_limited", 0.05, False),
    "500": ("server", None, False),
    "502": ("server", None, True),
    "503": ("server", None, False),
    "reset": ("connection", None, True),
    "reset_served": ("connection", None, True),
    "cut": ("broken_body", None, True),
    "html": ("broken_body", None, True),
    "empty": ("broken_body", None, True),
}


@pytest.mark.parametrize("fault", TRANSIENT)
def test_a_fault_is_classified_as_what_it_was_and_not_asked_again(fault, key):
    with OpenAIServer(faults={fault: 1.0}, key=KEY) as server, pytest.raises(TransientError) as caught:
        call(server)
    assert (caught.value.status, caught.value.retry_after, caught.value.maybe_paid) == TRANSIENT[fault]
    assert server.account.requests.total() == 1
    assert str(caught.value).startswith(f"openai-api/test/m at {server.url.removeprefix('http://')}: ")
    assert "\n" not in str(caught.value)


def test_a_reply_that_is_late_is_a_timeout_that_may_be_paid():
    with OpenAIServer(faults={"slow": 1.0}, slow=0.5) as server:
        assert call(server).latency >= 0.5
        with pytest.raises(TransientError, match="no reply in time") as caught:
            call(server, timeout=0.1)
    assert (caught.value.status, caught.value.maybe_paid) == ("timeout", True)


def test_a_closed_port_is_a_connection_that_was_not_paid():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    model = open_model("openai-api/test/m", base_url=f"http://127.0.0.1:{port}/v1")
    with pytest.raises(TransientError, match=r"no connection \(") as caught:
        asyncio.run(model(ASK))
    assert (caught.value.status, caught.value.maybe_paid) == ("connection", False)


@pytest.mark.parametrize(("fate", "finish"), [("content_filter",) * 2, ("refusal", "stop"), ("length", "length")])
def test_a_choice_without_an_answer_has_the_status_that_the_provider_gave_it(fate, finish):
    with OpenAIServer(faults={fate: 1.0}) as server:
        replies = call(server).replies
    assert len(replies) == 4
    for reply in replies:
        assert (reply.status, reply.finish_reason) == ({"length": "truncated"}.get(fate, fate), finish)
        assert json.loads(reply.raw)["message"]["role"] == "assistant"
    assert replies[0].text == ("Let me think. First," if fate == "length" else "")


def test_too_few_choices_are_kept_and_said_once():
    with OpenAIServer(faults={"few": 1.0}) as server:
        assert call(server).events == ("openai-api/test/m gave fewer choices than asked for",)
        second = call(server, times=2)
    assert (len(second.replies), second.events) == (2, ())


def test_of_too_many_choices_the_first_are_kept():
    with OpenAIServer(faults={"many": 1.0}) as server:
        replies = call(server).replies
    assert [json.loads(reply.raw)["index"] for reply in replies] == [0, 1, 2, 3]


def test_every_fault_of_the_server_is_tested_here():
    assert {*TRANSIENT, "slow", *FATES, *COUNTS} == {*FAULTS, *COUNTS}


@pytest.mark.parametrize("names", [True, False])
def test_refused_choices_are_asked_one_by_one_from_then_on(names):
    async def ask(server):
        model = open_model("openai-api/test/m", base_url=server.base_url)
        first = await model(ASK)
        fell = model.max_choices
        second = await model(ASK)
        await model.aclose()
        return first, fell, second

    with OpenAIServer(choices=1, names=names) as server:
        first, fell, second = asyncio.run(ask(server))
    assert (len(first.replies), fell, len(second.replies)) == (1, 1, 1)
    assert first.events == ("openai-api/test/m gives one choice per request: asked one by one",)
    assert second.events == ()
    assert [body.get("n") for body in server.bodies] == [4, None, None]


def test_calls_that_were_under_way_learn_the_same_and_say_it_once():
    async def ask(server):
        model = open_model("openai-api/test/m", base_url=server.base_url)
        calls = await asyncio.gather(*(model(ASK) for _ in range(8)))
        await model.aclose()
        return calls

    with OpenAIServer(choices=1, refuses=("temperature",)) as server:
        calls = asyncio.run(ask(server))
    assert sorted(event for call in calls for event in call.events) == [
        "openai-api/test/m does not take temperature: left out",
        "openai-api/test/m gives one choice per request: asked one by one",
    ]


@pytest.mark.parametrize("names", [True, False])
@pytest.mark.parametrize("option", ["temperature", "top_p", "seed", "reasoning_effort", "response_format"])
def test_a_refused_option_is_left_out_from_then_on_and_said_once(option, names):
    decoding = Decoding(reasoning_effort="low", schema={"type": "object"})
    with OpenAIServer(refuses=(option,), names=names) as server:
        request = Request(ASK.messages, decoding, seed=1)
        assert call(server, request).events == (f"openai-api/test/m does not take {option}: left out",)
        assert call(server, request, times=2).events == ()
    first, second = (set(body) for body in server.bodies[:2])
    assert first - second == {option}
    assert option not in server.bodies[-1]


@pytest.mark.parametrize("names", [True, False])
def test_the_most_tokens_are_sent_under_the_other_name_but_never_left_out(names):
    sentence = "Unsupported parameter: '{}' is not supported with this model. Use 'max_completion_tokens' instead."
    with OpenAIServer(refuses={"max_tokens": sentence}, names=names) as server:
        (event,) = call(server).events
    assert event == "openai-api/test/m does not take max_tokens: sent as max_completion_tokens"
    assert server.bodies[-1]["max_completion_tokens"] == 1024
    refused = pytest.raises(ModelError, match=r"refused the request \(400\): Unsupported parameter: 'max_completion")
    with OpenAIServer(refuses=("max_tokens", "max_completion_tokens"), names=names) as server, refused:
        call(server)


@pytest.mark.parametrize("names", [True, False])
@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ("temperature", "Invalid '{}': decimal above maximum value. Expected a value <= 2, but got 3 instead."),
        ("reasoning_effort", "Unsupported value: '{}' does not support 'low'. Supported values are: 'none', 'high'."),
        ("max_tokens", "Invalid {} value, the valid range of {} is [1, 512]"),
    ],
)
def test_a_value_that_is_refused_ends_with_the_services_sentence_and_is_never_left_out(option, sentence, names):
    decoding = Decoding(temperature=3.0, reasoning_effort="low")
    with OpenAIServer(refuses={option: sentence.replace("{}", option)}, names=names) as server:
        with pytest.raises(
            ModelError, match=r"refused the request \(400\): .*(<= 2|'none', 'high'|\[1, 512\])"
        ) as caught:
            call(server, Request(ASK.messages, decoding))
        assert server.account.requests.total() == 1
    assert type(caught.value) is ProviderError


def test_where_two_are_refused_together_the_temperature_stays():
    with OpenAIServer(refuses={"top_p": "`temperature` and `{}` cannot both be specified"}, names=False) as server:
        call(server)
    assert "temperature" in server.bodies[-1]
    assert "top_p" not in server.bodies[-1]


@pytest.mark.parametrize(
    ("broken", "sentence"),
    [
        ("401", "refused the key (401): Incorrect API key provided"),
        ("403", "does not allow this (403): You are not allowed to sample from this model"),
        ("404", "does not know this model (404): The model `m` does not exist or you do not have access to it"),
        ("402", "wants money (402): Insufficient Balance"),
        ("quota", "has no quota left (429): You exceeded your current quota, please check your plan and billing"),
    ],
)
def test_what_asking_again_does_not_help_is_one_sentence_with_the_providers_own(broken, sentence):
    with OpenAIServer() as server:
        server.broken = broken
        with pytest.raises(ModelError) as caught:
            call(server)
    assert type(caught.value) is ProviderError
    assert str(caught.value) == f"openai-api/test/m at {server.url.removeprefix('http://')} {sentence}"
    assert server.account.requests.total() == 1


def test_a_prompt_that_the_filter_stops_is_filtered_choices():
    with OpenAIServer() as server:
        server.broken = "filtered"
        got = call(server)
    assert [reply.status for reply in got.replies] == ["content_filter"] * 4
    assert json.loads(got.replies[0].raw) == {"error": "The prompt was filtered"}
    assert got.usage == Usage(0, 0), "a refused prompt is free"


def test_a_prompt_beyond_the_context_is_choices_cut_short_that_cost_nothing_and_is_said_once():
    request = Request(ASK.messages, Decoding(max_tokens=9), n=4)
    with OpenAIServer() as server:
        server.context = 10
        got = call(server, request)
        again = call(server, request, times=2)
    found = [(reply.status, reply.finish_reason) for reply in got.replies]
    assert found == [("truncated", "context_length_exceeded")] * 4
    assert "maximum context length is 10 tokens" in json.loads(got.replies[0].raw)["error"]
    assert (got.usage, server.account.paid.total()) == (Usage(0, 0), 0)
    assert got.events == ("openai-api/test/m: a prompt is too long for its context: no answer",)
    assert again.events == ()


def test_a_question_that_is_too_long_fails_alone_and_the_run_goes_on(tmp_path):
    texts = {"a": "Capital of France?", "long": f"{'Very ' * 2000}long?", "b": "Capital of Italy?"}
    data = Dataset("three", tuple(Question(name, text, ("Paris",)) for name, text in texts.items()))
    with OpenAIServer(references={texts["a"]: "Paris"}) as server:
        server.context = 1500
        settings = Settings("openai-api/test/m", "three", n=10, judge="exact", base_url=server.base_url)
        for _ in range(2):
            assert asyncio.run(execute(settings, tmp_path / "a.db", dataset=data)).missing == 0
        assert (len(server.bodies), server.account.paid.total()) == (6, 20)
    with Run(tmp_path / "a.db") as run:
        assert run.counts == {"parsed": 20, "truncated": 10, "missing": 0}
        assert run.estimates()["status"].to_list() == ["complete", "too_few", "complete"]
        assert run.events == ("openai-api/test/m: a prompt is too long for its context: no answer",)


# Bodies of services that differ from OpenAI's

SCHEMA_REFUSED = (
    "1 validation error:\n  {'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), 'msg': \"Input "
    "should be 'text' or 'json_object'\", 'input': 'json_schema', 'ctx': {'expected': \"'text' or 'json_object'\"}}\n\n"
    '  File "/opt/llama_cpp/server/app.py", line 376, in create_chat_completion\n    POST /v1/chat/completions'
)
TOP_P_REFUSED = (
    "1 validation error:\n  {'type': 'less_than_equal', 'loc': ('body', 'top_p'), 'msg': 'Input should be less than or "
    "equal to 1', 'input': 3.0, 'ctx': {'le': 1.0}}"
)
LONG_REFUSED = {
    "message": "This model's maximum context length is 512 tokens. However, you requested 1955 tokens (931 in the "
    "messages, 1024 in the completion). Please reduce the length of the messages or completion.",
    "type": "invalid_request_error",
    "param": "messages",
    "code": "context_length_exceeded",
}
"""What the server of llama-cpp-python 0.3.36 sends."""


def fault(sentence):
    return 500, {"error": {"message": sentence, "type": "internal_server_error", "param": None, "code": None}}


def test_a_request_that_is_refused_with_a_500_is_not_asked_again_and_again():
    request = Request(ASK.messages, Decoding(schema={"type": "object"}), seed=1)
    got, model = canned(fault(SCHEMA_REFUSED), (200, choices(said("a"))), request=request)
    assert got.events == ("openai-api/test/m does not take a schema as OpenAI writes it: sent as json_object",)
    forms = [json.loads(data)["response_format"] for _, _, data in model.asked]
    assert [form["type"] for form in forms] == ["json_schema", "json_object"]
    assert forms[1]["schema"] == {"type": "object"}
    _, model = canned(*[fault(SCHEMA_REFUSED)] * 2, (200, choices(said("a"))), request=request)
    assert "response_format" not in json.loads(model.asked[-1][2])
    with pytest.raises(ProviderError, match=r"refused the request \(500\): 1 validation error.*top_p"):
        canned(fault(TOP_P_REFUSED))
    with pytest.raises(TransientError, match="500 out of memory"):
        canned(fault("out of memory"))


def test_two_calls_that_are_refused_at_once_learn_the_same():
    """The second refusal is of what was sent before the first came back, not of what was learned from it."""
    request = Request(ASK.messages, Decoding(schema={"type": "object"}), seed=1)
    both = threading.Barrier(2)

    def answer(body):
        if body["response_format"]["type"] == "json_schema":
            both.wait(timeout=60)
            return fault(SCHEMA_REFUSED)
        return 200, choices(said("a"), id=str(body["seed"]))

    async def ask():
        async with model_of(answer) as model:
            await asyncio.gather(*(model(replace(request, seed=seed)) for seed in range(2)))
            return [json.loads(data)["response_format"]["type"] for _, _, data in model.asked]

    assert asyncio.run(ask()) == ["json_schema"] * 2 + ["json_object"] * 2


def test_a_prompt_that_is_too_long_by_itself_fails_alone_however_many_tokens_are_asked_for():
    got, _ = canned((400, {"error": LONG_REFUSED}), request=Request(ASK.messages, Decoding(max_tokens=1024)))
    assert (got.replies[0].status, got.usage) == ("truncated", Usage(0, 0))
    in_vain = LONG_REFUSED["message"].replace("931", "31")
    with pytest.raises(ProviderError, match="31 in the messages"):
        canned((400, {"error": LONG_REFUSED | {"message": in_vain}}), request=Request(ASK.messages, Decoding()))


@asynccontextmanager
async def model_of(*answers, spelling="openai-api/test/m"):
    """Open a model of a server that gives these answers: (status, body) or (status, body, headers).

    Or one function that gives each request its answer; requests that come at once are then answered at once.
    """
    left, asked = list(answers), []
    makes = answers[0] if answers and callable(answers[0]) else None

    class Canned(BaseHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

        def do_POST(self):
            sent = self.rfile.read(int(self.headers["Content-Length"]))
            asked.append((self.headers, self.path, sent))
            status, body, *headers = makes(json.loads(sent)) if makes else left.pop(0)
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            for name, value in {"Content-Length": str(len(data)), **(headers[0] if headers else {})}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

    with (ThreadingHTTPServer if makes else HTTPServer)(("127.0.0.1", 0), Canned) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        model = open_model(spelling, base_url=f"http://127.0.0.1:{server.server_port}/v1")
        model.asked = asked
        try:
            yield model
        finally:
            await model.aclose()
            server.shutdown()
            thread.join()


def canned(*answers, request=ASK, spelling="openai-api/test/m"):
    """Ask until the answers are used up; give the last call and what was sent."""

    async def ask():
        async with model_of(*answers, spelling=spelling) as model:
            while len(model.asked) < len(answers):
                last = await model(request)
            return last, model

    return asyncio.run(ask())


def choices(*made, **fields):
    return {"choices": [{"index": k, **choice} for k, choice in enumerate(made)], **fields}


def said(content, **fields):
    return {"message": {"role": "assistant", "content": content}, "finish_reason": "stop", **fields}


def test_parts_of_a_reasoning_model_are_kept_raw_and_only_the_text_is_read():
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "Lyon?"}]}, {"type": "text", "text": "Paris"}]
    aside = {
        "message": {"role": "assistant", "content": "Paris", "reasoning_content": "Lyon?"},
        "finish_reason": "stop",
    }
    got, _ = canned((200, choices(said(parts), aside, said(None))))
    assert [reply.text for reply in got.replies] == ["Paris", "Paris", ""]
    assert json.loads(got.replies[0].raw)["message"]["content"] == parts
    assert json.loads(got.replies[1].raw)["message"]["reasoning_content"] == "Lyon?"


@pytest.mark.parametrize("sign", ["", "-"])
def test_a_number_without_end_does_not_cost_the_answer(sign):
    body = json.dumps(choices(said("Paris", logprobs={"content": [{"token": "Paris", "logprob": 271828}]})))
    got, _ = canned((200, body.replace("271828", sign + "9" * 5000).encode()))
    assert got.replies[0].text == "Paris"
    assert json.loads(got.replies[0].raw)["logprobs"]["content"][0]["logprob"] is None


@pytest.mark.parametrize("word", ["length", "model_length", "max_tokens"])
def test_every_word_for_the_token_limit_is_truncated(word):
    got, _ = canned((200, choices(said("Paris", finish_reason=word))))
    assert (got.replies[0].status, got.replies[0].finish_reason) == ("truncated", word)


def test_choices_come_in_the_order_of_their_index():
    body = {"choices": [{**said("b"), "index": 1}, {**said("a"), "index": 0}]}
    assert [reply.text for reply in canned((200, body))[0].replies] == ["a", "b"]


def test_a_choice_that_cannot_be_read_is_missing_and_the_others_stand():
    got, _ = canned((200, choices(said("a"), {"message": None}, said("b", finish_reason="error"), said("c"))))
    assert [reply.text for reply in got.replies] == ["a", "c"]


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": None}, "none"])
def test_a_service_that_counts_no_tokens_has_no_usage(usage):
    assert canned((200, choices(said("a"), usage=usage)))[0].usage is None


@pytest.mark.parametrize(
    "body",
    [b"", b"null", b"[]", b"3", b'{"choices": 3}', b'{"choices": [3]}', b"\xff\xfe", b"[" * 100_000],
)
def test_a_body_of_any_other_shape_is_broken(body):
    with pytest.raises(
        TransientError, match=r"the reply was broken: (it is no JSON|there are no choices in it)$"
    ) as caught:
        canned((200, body))
    assert (caught.value.status, caught.value.maybe_paid) == ("broken_body", True)


@pytest.mark.parametrize(
    ("body", "kind", "sentence"),
    [
        ({"error": {"code": 429, "message": "slow down"}}, "rate_limited", "429 slow down"),
        ({"error": {"type": "overloaded_error", "message": "later"}}, "server", "503 later"),
        ({"error": "something broke"}, "server", "500 something broke"),
        ({"error": {"type": "authentication_error", "message": "bad key"}}, None, "refused the key (401): bad key"),
        ({"error": {"code": "insufficient_quota", "message": "pay"}}, None, "has no quota left (429): pay"),
        ({"object": "error", "message": "no such model", "code": 404}, None, "does not know this model (404): no such"),
        ({"choices": [{"finish_reason": "error", "error": {"code": 502, "message": "lost"}}]}, "server", "502 lost"),
    ],
)
def test_an_error_with_status_200_is_the_error_it_says(body, kind, sentence):
    with pytest.raises(ProviderError) as caught:
        canned((200, body))
    assert (getattr(caught.value, "status", None), sentence in str(caught.value)) == (kind, True)


def test_a_page_in_the_place_of_a_reply_and_a_list_without_choices_are_said():
    for body, why in (
        (b"<html>Sign in</html>", "a web page in its place"),
        (b'{"choices": []}', "there are no choices"),
    ):
        with pytest.raises(TransientError, match=why):
            canned((200, body))


def test_bytes_that_are_no_text_and_a_byte_order_mark_are_noticed():
    body = json.dumps(choices(said("caf\xe9")), ensure_ascii=False)
    one = Request(ASK.messages)
    got, _ = canned((200, b"\xef\xbb\xbf" + body.encode("latin-1")), request=one)
    assert got.replies[0].text == "caf\ufffd"
    assert got.events == (
        "openai-api/test/m sent bytes that are no utf-8: they are kept as \ufffd",
        "openai-api/test/m begins its replies with a byte order mark: it is left out",
    )
    assert canned((200, body.replace("\xe9", "\ufffd").encode()), request=one)[0].events == ()


def test_a_redirect_to_another_host_is_refused_and_one_on_the_same_host_followed():
    good = (200, choices(said("a")))
    assert canned((307, b"", {"Location": "/v1/elsewhere"}), good)[0].replies[0].text == "a"
    with pytest.raises(ProviderError, match=r"127\.0\.0\.1 sends requests on to localhost: nothing is sent there"):
        canned((307, b"", {"Location": "http://localhost:9/v1/chat/completions"}))


@pytest.mark.parametrize(
    "sentence", ["Only one completion choice is allowed", "multiple choices are not supported here"]
)
def test_a_service_that_says_it_knows_one_choice_is_asked_one_by_one(sentence):
    got, model = canned((400, {"error": {"message": sentence}}), (200, choices(said("a"))))
    assert (len(got.replies), model.max_choices) == (1, 1)


def test_a_body_that_is_not_what_its_encoding_says_is_broken():
    with pytest.raises(TransientError) as caught:
        canned((200, b"not gzip", {"Content-Encoding": "gzip"}))
    assert caught.value.status == "broken_body"


def test_a_body_that_grows_without_end_when_it_is_unpacked_is_not_read_on(monkeypatch):
    monkeypatch.setattr("semece.models.shared.http_limits.MOST_BYTES", 1 << 20)
    packed = gzip.compress(b" " * (64 << 20))
    with pytest.raises(TransientError, match=r"the reply of 127\.0\.0\.1 is longer than 1 MB$") as caught:
        canned((200, packed, {"Content-Encoding": "gzip"}))
    assert (caught.value.status, caught.value.maybe_paid) == ("broken_body", True)


def test_the_time_limit_is_of_the_whole_call_and_not_of_the_next_byte():
    """A server that sends a byte now and then never lets a single read wait long."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        done = threading.Event()

        def drip():
            connection, _ = listening.accept()
            with connection, suppress(OSError):
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n")
                while not done.wait(0.02):
                    connection.sendall(b" ")

        thread = threading.Thread(target=drip)
        thread.start()
        address = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        started = time.perf_counter()
        with pytest.raises(TransientError, match="no reply in time") as caught:
            asyncio.run(open_model("openai-api/test/m", base_url=address, timeout=0.3)(ASK))
        done.set()
        thread.join()
    assert (caught.value.status, caught.value.maybe_paid) == ("timeout", True)
    assert 0.3 <= time.perf_counter() - started < 10


IMPOSSIBLE = [(-1_000_000, -5), (10**30, 3), (3, 10**30), ("many", 3), (1.5, 3), (True, 3), (3, "few"), (None, 3)]


@pytest.mark.parametrize(("asked", "answered"), IMPOSSIBLE)
def test_numbers_of_tokens_that_cannot_be_are_not_known_and_that_is_said_once(asked, answered):
    reply = (200, choices(said("Paris"), usage={"prompt_tokens": asked, "completion_tokens": answered}))

    async def ask():
        async with model_of(reply, reply) as model:
            return [await model(Request(ASK.messages)) for _ in range(2)]

    first, second = asyncio.run(ask())
    assert first.usage is second.usage is None
    assert first.events == (
        "openai-api/test/m gives numbers of tokens that cannot be: what its calls take is not known",
    )
    assert second.events == ()


def test_numbers_of_tokens_that_cannot_be_do_not_loosen_a_cap(tmp_path):
    """They count as what was set aside for the call: the most that it can take."""
    reply = (200, choices(said("Paris"), usage={"prompt_tokens": -1_000_000, "completion_tokens": -5}))
    data = Dataset("one", (Question("a", "Capital of France?", ("Paris",)),))

    async def run():
        async with model_of(*[reply] * 20) as model:
            model.max_choices = 1
            settings = Settings("openai-api/test/m", "one", n=20, judge="exact", max_total_tokens=4000, concurrency=1)
            for _ in range(2):
                with pytest.raises(BudgetError):
                    await execute(settings, tmp_path / "a.db", dataset=data, model=model)
            return len(model.asked)

    assert 2 <= asyncio.run(run()) <= 3, "a call may take 1,024 tokens and its prompt"


@pytest.mark.parametrize(
    ("status", "body", "option"),
    [
        (400, {"code": "invalid argument", "error": "Argument not supported on this model: reasoningEffort"}, "effort"),
        (422, {"detail": [{"loc": ["body", "temperature"], "msg": "Extra inputs are not permitted"}]}, "temperature"),
        (422, {"message": {"detail": [{"type": "extra_forbidden", "loc": ["body", "top_p"]}]}}, "top_p"),
        (400, {"error": {"message": "response_format.json_schema is not supported"}}, "response_format"),
        (400, {"object": "error", "message": "seed: not supported", "code": 400}, "seed"),
    ],
)
def test_an_option_is_found_in_every_shape_of_a_refusal(status, body, option):
    request = Request(ASK.messages, Decoding(reasoning_effort="low", schema={"type": "object"}), seed=1)
    got, model = canned((status, body), (200, choices(said("a"))), request=request)
    assert re.search(rf"does not take \w*{option}\w*: left out", got.events[0])
    first, second = (json.loads(data) for _, _, data in model.asked)
    assert len(second) == len(first) - 1


@pytest.mark.parametrize(
    "sentence",
    ["'n' : number must be at most 1", "n must be 1 when using greedy sampling, got 4.", "n > 1 is not supported"],
)
def test_services_refuse_several_choices_in_different_words(sentence):
    got, _ = canned((400, {"error": {"message": sentence}}), (200, choices(said("a"))))
    assert "asked one by one" in got.events[0]


@pytest.mark.parametrize(
    "sentence",
    [
        "This model's maximum context length is 4096 tokens. However, you requested 5020 tokens (3996 in the messages)",
        "Prompt contains 33000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
        "This endpoint's maximum context length is 32,768 tokens.",
        "This model's maximum prompt length is 131072 but the request contains 131087 tokens.",
        "the request exceeds the available context size, try increasing it",
        "Please reduce the length of the messages.",
    ],
)
def test_services_refuse_a_long_prompt_in_different_words(sentence):
    got, _ = canned((400, {"error": {"message": sentence, "type": "BadRequestError"}}))
    assert {reply.status for reply in got.replies} == {"truncated"}
    got, _ = canned((400, {"error": {"message": "too long", "code": "context_length_exceeded"}}))
    assert {reply.status for reply in got.replies} == {"truncated"}


@pytest.mark.parametrize(
    "sentence",
    [
        "This model's maximum context length is 1,024 tokens. However, you requested 1044 tokens (20 in the messages)",
        "max_tokens is too large: 1024. This model supports at most 512 completion tokens",
    ],
)
def test_more_tokens_than_any_prompt_leaves_are_the_options_fault(sentence):
    with pytest.raises(ModelError, match=r"refused the request \(400\)"):
        canned(*[(400, {"error": {"message": sentence}})] * 3)


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "Bad JSON in line\nn of the body"}},
        {"error": {"message": "A reseeded temperature_unit is unknown"}},
    ],
)
def test_a_refusal_that_names_no_option_is_final(body):
    with pytest.raises(ModelError, match=r"refused the request \(400\)"):
        canned((400, body))


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"<html>Bad gateway</html>", "a page instead of a reason"),
        (b"", "no reason given"),
        ({"error": {"message": None}}, "no reason given"),
        ({"detail": "Not Found"}, "Not Found"),
        ({"error": "model 'm' not found"}, "model 'm' not found"),
        ({"message": "two\nlines"}, "two lines"),
    ],
)
def test_the_sentence_of_an_error_is_found_in_every_shape(body, sentence):
    with pytest.raises(ModelError) as caught:
        canned((404, body))
    assert re.fullmatch(
        rf"openai-api/test/m at 127\.0\.0\.1:\d+ does not know this model \(404\): {re.escape(sentence)}",
        str(caught.value),
    )


@pytest.mark.parametrize(("status", "kind"), [(408, "timeout"), (409, "server"), (425, "server"), (529, "server")])
def test_other_statuses_that_pass_are_transient(status, kind):
    with pytest.raises(TransientError) as caught:
        canned((status, b"", {"Retry-After": "3"}))
    assert (caught.value.status, caught.value.retry_after, caught.value.maybe_paid) == (kind, 3.0, status == 408)


def test_a_date_to_retry_after_is_read_as_seconds_from_now():
    server = OpenAIServer(faults={"429_retry_after": 1.0}, retry_after=100, dates=True)
    with server, pytest.raises(TransientError) as caught:
        call(server)
    assert 97 < caught.value.retry_after <= 100


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("2", 2.0), ("-1", 0.0), ("nan", None), ("inf", None), ("soon", None), ("Fri, 99 Foo", None), ("", None)],
)
def test_retry_after_is_never_guessed(value, seconds):
    assert retry_after({"retry-after": value}) == seconds
    assert retry_after({"retry-after-ms": "250", "retry-after": value}) == 0.25


def test_a_service_that_ignores_several_choices_is_asked_one_by_one_in_the_end():
    async def ask():
        async with model_of(*[(200, choices(said("a")))] * (LONELY + 1)) as model:
            calls = [await model(ASK) for _ in range(LONELY + 1)]
            return calls, [json.loads(data).get("n") for _, _, data in model.asked], model.max_choices

    calls, asked, fell = asyncio.run(ask())
    assert (asked, fell) == ([4] * LONELY + [None], 1)
    assert calls[LONELY - 1].events == ("openai-api/test/m gives one choice per request: asked one by one",)


def test_mistral_has_its_own_word_for_the_seed():
    _, model = canned((200, choices(said("a"))), spelling="mistral/m")
    sent = json.loads(model.asked[0][2])
    assert sent["random_seed"] == 7
    assert not {"seed", "extra_body", "n"} & set(sent)
    refusal = {"message": {"detail": [{"loc": ["body", "random_seed"], "msg": "Extra inputs are not permitted"}]}}
    got, model = canned((422, refusal), (200, choices(said("a"))), spelling="mistral/m")
    assert got.events == ("mistral/m does not take seed: left out",)
    assert "random_seed" not in json.loads(model.asked[1][2])


def test_openai_has_a_newer_word_for_the_most_tokens():
    _, model = canned((200, choices(said("a"))), spelling="openai/m")
    assert json.loads(model.asked[0][2])["max_completion_tokens"] == 1024


def test_a_completion_message_goes_to_the_user_role():
    _, model = canned((200, choices(said("a"))), request=Request((Message("completion", "1, 2,"),)))
    assert json.loads(model.asked[0][2])["messages"] == [{"role": "user", "content": "1, 2,"}]


# Addresses and keys


def test_the_address_given_wins_over_the_environment_and_that_over_the_table(monkeypatch):
    assert open_model("ollama/m").base_url == PROVIDERS["ollama"].address
    monkeypatch.setenv("OLLAMA_BASE_URL", "http://localhost:1/v1")
    assert open_model("ollama/m").base_url == "http://localhost:1/v1"
    assert open_model("ollama/m", base_url="http://localhost:2/v1").base_url == "http://localhost:2/v1"


@pytest.mark.parametrize(
    ("spelling", "options", "sentence"),
    [
        ("openai-api/my-lab/m", {}, "openai-api/my-lab/m needs an address: set MY_LAB_BASE_URL, or give --base-url"),
        ("openai-api/lab/m", {"base_url": "https://x.example"}, "openai-api/lab/m needs a key: set LAB_API_KEY"),
        ("openai-api/lab", {}, "'openai-api/lab' must be spelled openai-api/SERVICE/NAME"),
        ("openai/", {}, "there is no model 'openai/': a model is spelled as one of"),
        ("nobody/m", {}, "there is no model 'nobody/m': a model is spelled as one of"),
        ("vllm/m", {"base_url": "127.0.0.1:8000"}, "the address of vllm/m must begin with http:// or https://"),
    ],
)
def test_what_is_missing_is_one_sentence(spelling, options, sentence):
    with pytest.raises(ModelError, match=f"^{re.escape(sentence)}"):
        open_model(spelling, **options)


def test_a_user_name_and_password_in_the_address_are_sent_as_such_and_not_shown():
    async def ask():
        async with model_of((200, choices(said("a")))) as model:
            model._address = model._address.replace("http://", "http://me:p%40ss@")
            await model(ASK)
            return model

    model = asyncio.run(ask())
    headers, _, _ = model.asked[0]
    assert headers["Authorization"] == "Basic bWU6cEBzcw=="
    assert re.fullmatch(r"http://\*{3}@127\.0\.0\.1:\d+/v1", model.base_url)


def test_other_services_do_not_learn_who_is_asking_openai(monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-marker")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-marker")
    _, model = canned((200, choices(said("a"))))
    assert "marker" not in str([(headers.items(), data) for headers, _, data in model.asked])


def test_on_this_machine_no_proxy_is_asked(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert canned((200, choices(said("a"))))[0].replies[0].text == "a"


@pytest.fixture
def records(caplog, capfd):
    """Record what the libraries write at debug level; give it with all that is printed."""
    for name in ("", "openai", "httpx", "httpcore", "httpx2", "httpcore2"):
        caplog.set_level(logging.DEBUG, logger=name)
    return lambda: caplog.text + "".join(capfd.readouterr())


def address_of(server, place):
    """Put the key where it may stand."""
    with_password = server.base_url.replace("http://", f"http://me:{KEY}@")
    return {"environment": server.base_url, "password": with_password, "query": f"{server.base_url}?key={KEY}"}[place]


async def outcome(address):
    """Ask, and show the call or the error, and the model."""
    model = open_model("openai-api/test/m", base_url=address)
    try:
        shown = repr(await model(ASK))
    except ModelError as error:
        shown = repr(error)
    await model.aclose()
    return f"{shown} {model!r} {model.base_url}"


@pytest.mark.parametrize("ending", [None, "401", "quota", "filtered", *TRANSIENT])
@pytest.mark.parametrize("place", ["environment", "password", "query"])
def test_a_key_is_in_no_message_record_or_reply(place, ending, monkeypatch, records):
    if place == "environment":
        monkeypatch.setenv("TEST_API_KEY", KEY)
    with OpenAIServer(faults={ending: 1.0} if ending in TRANSIENT else {}) as server:
        server.broken, server.echo = ending if ending not in TRANSIENT else None, True
        shown = asyncio.run(outcome(address_of(server, place)))
    written = records()
    assert KEY not in shown + written
    assert "bWU6c2st" not in shown + written, "the pair of name and key, encoded"
    if ending == "401" and place == "environment":
        assert "Bearer ***" in shown, "the provider's sentence is shown, and its echo is not"
    assert "HTTP" in written, "the libraries did write records"


def test_a_key_that_comes_back_in_a_reply_is_not_kept(key):
    got, _ = canned((200, choices(said(f"Your key is {KEY}"))))
    assert got.replies[0].text == "Your key is ***"
    assert KEY not in got.replies[0].raw


@pytest.mark.parametrize(
    ("sentence", "named"),
    [
        ("'max_tokens' is not supported. Use 'max_completion_tokens' instead.", "max_tokens"),
        ("max_completion_tokens is unknown, max_tokens is meant", "max_completion_tokens"),
        ("top_p and temperature are not supported", "top_p"),
        ("top_p and temperature", None),
        ("nothing of that kind", None),
    ],
)
def test_of_two_options_in_a_sentence_the_refused_one_is_found(sentence, named):
    refusal = Refusal(400, {"message": sentence})
    sent = ["n", "temperature", "top_p", "max_completion_tokens", "max_tokens"]
    assert named_option(refusal, sent) == named
