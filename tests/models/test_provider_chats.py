"""Anthropic and Google over real sockets: every fault is what it is, nothing is asked twice, no key is seen."""

import asyncio
import logging
import os
import re
import socket
import sys
import traceback
from dataclasses import replace

import pytest

from semece.datasets import Dataset
from semece.errors import ModelError, ProviderError, TransientError
from semece.models import Decoding, Message, Request, Usage, open_model
from semece.models.anthropic_google.provider_errors import named_option
from semece.prompts.replies import GRADE_SCHEMA
from semece.records import Question
from semece.runs.run import Run
from semece.sampling.patience import Patience
from semece.sampling.settings import Settings
from tests.making_runs import execute
from tests.servers import anthropic_server, google_server
from tests.servers.anthropic_server import AnthropicServer
from tests.servers.google_server import GoogleServer

SPELLINGS = {"anthropic": "anthropic/claude-haiku-4-5", "google": "google/gemini-2.5-flash"}
SERVERS = {"anthropic/claude-haiku-4-5": AnthropicServer, "google/gemini-2.5-flash": GoogleServer}
ASKED = (Message("system", "State a confidence."), Message("user", "Question: Capital of France?"))
KEY = "sk-marker-0123456789abcdef"


@pytest.fixture(params=sorted(SERVERS), ids=lambda spelling: spelling.partition("/")[0])
def spelling(request):
    return request.param


def server_of(spelling, **options):
    return SERVERS[spelling](**options)


def ask(spelling, server, *requests, timeout=20.0, base_url=None):
    """Ask one after the other; gives the model and what came, errors included."""

    async def go():
        model = open_model(spelling, base_url=base_url or server.url, timeout=timeout)
        came = []
        for request in requests or (Request(ASKED),):
            try:
                came.append(await model(request))
            except (ModelError, ValueError) as error:
                came.append(error)
        await model.aclose()
        return model, came

    return asyncio.run(go())


@pytest.mark.parametrize("counts", [(-1_000_000, -5), (10**30, 3)])
def test_numbers_of_tokens_that_cannot_be_are_not_known_and_that_is_said_once(spelling, counts):
    from pydantic_ai.messages import ModelResponse, TextPart
    from pydantic_ai.usage import RequestUsage

    model = open_model(spelling, base_url="http://127.0.0.1:9")
    usage = RequestUsage(input_tokens=counts[0], output_tokens=counts[1])
    response = ModelResponse(parts=[TextPart("Paris")], usage=usage)
    calls = [model.call(response, "{}") for _ in range(2)]
    assert [call.usage for call in calls] == [None, None]
    said = f"{spelling} gives numbers of tokens that cannot be: what its calls take is not known"
    assert [call.events for call in calls] == [(said,), ()]
    asyncio.run(model.aclose())


def test_a_call_gives_text_usage_and_the_body_as_it_came(spelling):
    with server_of(spelling, references={"Capital of France?": "Paris"}, pmf=(1.0,)) as server:
        model, [call] = ask(spelling, server)
        account = server.account
    [reply] = call.replies
    assert (reply.text, reply.status) == ("Answer: Paris\nConfidence: 70%", "ok")
    assert reply.finish_reason in {"end_turn", "STOP"}
    assert "Let me think" in reply.raw
    assert "Let me think" not in reply.text
    assert (call.usage.input_tokens, call.usage.output_tokens) == (account.input_tokens, account.output_tokens)
    assert call.request_id
    assert (model.name, model.max_choices) == (spelling, 1)


def test_several_choices_are_never_asked_for(spelling):
    with server_of(spelling) as server:
        _, [error] = ask(spelling, server, Request(ASKED, n=2))
        assert isinstance(error, ValueError)
        assert not server.account.requests


CLASSES = {
    "429": ("rate_limited", None, False),
    "429_retry_after": ("rate_limited", 0.05, False),
    "500": ("server", None, False),
    "502": ("server", None, False),
    "503": ("server", None, False),
    "reset": ("connection", None, True),
    "reset_served": ("connection", None, True),
    "cut": ("broken_body", None, True),
    "html": ("broken_body", None, True),
    "empty": ("broken_body", None, True),
}


def test_a_reply_that_ended_well_without_content_is_delivered_and_paid_for():
    """Asking again would buy the same again; the run counts it as empty."""
    with server_of("anthropic/claude-haiku-4-5", faults={"empty": 1.0}) as server:
        _, [call] = ask("anthropic/claude-haiku-4-5", server)
    [reply] = call.replies
    assert (reply.text, reply.status, reply.finish_reason) == ("", "ok", "end_turn")


@pytest.mark.parametrize("fault", CLASSES)
def test_what_delivers_nothing_is_transient_and_says_what_it_was(spelling, fault):
    if (spelling, fault) == ("anthropic/claude-haiku-4-5", "empty"):
        return  # has an end of its own, above
    with server_of(spelling, faults={fault: 1.0}) as server:
        _, [error] = ask(spelling, server)
        requests = sum(server.account.requests.values())
    assert isinstance(error, TransientError)
    assert (error.status, error.retry_after, error.maybe_paid) == CLASSES[fault]
    assert requests == 1, "a call is sent once"


@pytest.mark.parametrize(
    ("fault", "anthropic", "google"),
    [
        ("content_filter", "refusal", "content_filter"),
        ("refusal", "refusal", "content_filter"),
        ("length", "truncated", "truncated"),
    ],
)
def test_a_stopped_reply_is_delivered_with_its_status(spelling, fault, anthropic, google):
    with server_of(spelling, faults={fault: 1.0}) as server:
        _, [call] = ask(spelling, server)
    assert call.replies[0].status == (anthropic if spelling.startswith("anthropic") else google)
    assert call.usage is not None


@pytest.mark.parametrize(
    ("spelling", "word", "status"),
    [
        ("anthropic/claude-haiku-4-5", "end_turn", "ok"),
        ("anthropic/claude-haiku-4-5", "stop_sequence", "ok"),
        ("anthropic/claude-haiku-4-5", "refusal", "refusal"),
        ("anthropic/claude-haiku-4-5", "max_tokens", "truncated"),
        ("anthropic/claude-haiku-4-5", "model_context_window_exceeded", "truncated"),
        ("google/gemini-2.5-flash", "STOP", "ok"),
        ("google/gemini-2.5-flash", "OTHER", "ok"),
        ("google/gemini-2.5-flash", "MAX_TOKENS", "truncated"),
        ("google/gemini-2.5-flash", "CONTINUATION", "truncated"),
        ("google/gemini-2.5-flash", "SAFETY", "content_filter"),
        ("google/gemini-2.5-flash", "RECITATION", "content_filter"),
        ("google/gemini-2.5-flash", "LANGUAGE", "content_filter"),
        ("google/gemini-2.5-flash", "BLOCKLIST", "content_filter"),
        ("google/gemini-2.5-flash", "PROHIBITED_CONTENT", "content_filter"),
        ("google/gemini-2.5-flash", "SPII", "content_filter"),
    ],
)
def test_a_text_that_the_service_stopped_is_no_answer_whatever_its_word_for_it(spelling, word, status, monkeypatch):
    stops = {"anthropic": anthropic_server, "google": google_server}[spelling.partition("/")[0]].STOPS
    monkeypatch.setitem(stops, None, word)
    with server_of(spelling, references={"Capital of France?": "Paris"}, pmf=(1.0,)) as server:
        _, [call] = ask(spelling, server)
    [reply] = call.replies
    assert (reply.status, reply.finish_reason) == (status, word)
    assert "Paris" in reply.text, "what came is kept"


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"type": "overloaded_error", "message": "later", "status": "UNAVAILABLE", "code": 503}, "server"),
        ({"type": "authentication_error", "message": "bad key", "status": "UNAUTHENTICATED", "code": 401}, None),
    ],
)
def test_an_error_with_status_200_is_the_error_it_says(spelling, error, kind, monkeypatch):
    handler = SERVERS[spelling].handler
    monkeypatch.setattr(handler, "post", lambda self: (self.body(), self.json(200, {"type": "error", "error": error})))
    with server_of(spelling) as server:
        _, [found] = ask(spelling, server)
    assert isinstance(found, ProviderError)
    assert (getattr(found, "status", None), error["message"] in str(found)) == (kind, True)
    assert f" at {server.url.removeprefix('http://')}" in str(found)


def test_a_redirect_to_another_host_is_refused(spelling, monkeypatch):
    def post(self):
        self.body()
        self.json(307, {}, [("Location", f"http://localhost:9{self.path}")])

    monkeypatch.setattr(SERVERS[spelling].handler, "post", post)
    with server_of(spelling) as server:
        _, [found] = ask(spelling, server)
    assert type(found) is ProviderError
    assert server.account.paid.total() == 0


def test_a_late_answer_is_a_timeout_that_may_be_paid(spelling):
    with server_of(spelling, faults={"slow": 1.0}, slow=1.5) as server:
        _, [error] = ask(spelling, server, timeout=0.3)
    assert (error.status, error.maybe_paid) == ("timeout", True)


def test_nobody_there_is_a_connection_that_was_not_paid(spelling):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    _, [error] = ask(spelling, None, base_url=url)
    assert (error.status, error.maybe_paid) == ("connection", False)


@pytest.mark.parametrize(
    ("broken", "sentence"),
    [("401", "api|API key"), ("404", "no-such-model"), ("quota", "credit balance|current quota")],
)
def test_what_asking_again_cannot_help_stops_with_the_services_sentence(spelling, broken, sentence):
    with server_of(spelling) as server:
        server.broken = broken
        _, [error] = ask(spelling, server)
    assert not isinstance(error, TransientError)
    assert str(error).startswith(f"{spelling} at {server.url.removeprefix('http://')}: ")
    assert any(part in str(error) for part in sentence.split("|"))
    assert "\n" not in str(error)


@pytest.mark.parametrize("broken", ["401", "404", "quota"])
def test_the_key_that_a_service_repeats_is_taken_out(spelling, broken, monkeypatch):
    monkeypatch.setenv(f"{spelling.partition('/')[0].upper()}_API_KEY", KEY)
    with server_of(spelling) as server:
        server.broken, server.echo = broken, True
        _, [error] = ask(spelling, server)
    shown = "".join(traceback.format_exception(error))
    assert "***" in str(error)
    assert KEY not in shown


def test_a_secret_in_the_address_is_taken_out(spelling, monkeypatch, caplog):
    monkeypatch.setenv(f"{spelling.partition('/')[0].upper()}_API_KEY", "other-key-1234")
    caplog.set_level(logging.DEBUG)
    _, [error] = ask(spelling, None, base_url=f"http://user:{KEY}@127.0.0.1:9/?token={KEY}")
    assert KEY not in "".join(traceback.format_exception(error)) + caplog.text


REFUSED = {"anthropic": ("temperature", "temperature"), "google": ("topP", "top_p")}


def test_an_option_that_is_refused_by_name_is_left_out_once_and_told_once(spelling):
    theirs, ours = REFUSED[spelling.partition("/")[0]]
    with server_of(spelling) as server:
        server.refuses = {theirs}
        _, calls = ask(spelling, server, *[Request(ASKED, Decoding(top_p=0.9), seed=i) for i in range(3)])
        sent = len(server.bodies)
    assert sent == 4, "one refusal, then three calls"
    news = [event for call in calls for event in call.events]
    assert sum(event.startswith(f"{ours} is left out") for event in news) == 1
    assert [event for call in calls[1:] for event in call.events] == []


def test_calls_under_way_learn_the_same_thing_once(spelling):
    theirs, ours = REFUSED[spelling.partition("/")[0]]

    async def go(server):
        model = open_model(spelling, base_url=server.url, timeout=20.0)
        calls = await asyncio.gather(*(model(Request(ASKED, Decoding(top_p=0.9), seed=i)) for i in range(8)))
        await model.aclose()
        return calls

    with server_of(spelling) as server:
        server.refuses = {theirs}
        calls = asyncio.run(go(server))
    assert all(call.replies[0].status == "ok" for call in calls)
    assert sum(event.startswith(f"{ours} is left out") for call in calls for event in call.events) == 1


@pytest.mark.parametrize(
    ("name", "change", "sent"),
    [
        ("anthropic/claude-3-haiku-20240307", {"schema": GRADE_SCHEMA}, "output_config"),
        ("google/gemini-2.0-flash", {"reasoning_effort": "low"}, "thinkingConfig"),
    ],
)
def test_what_a_model_has_not_is_not_sent(name, change, sent):
    server = AnthropicServer() if name.startswith("anthropic") else GoogleServer()
    with server:
        _, [call] = ask(name, server, Request(ASKED, Decoding(0.0, None, **change)))
        assert sent not in str(server.bodies[0])
    assert len(call.events) == 1


def test_a_conversation_keeps_its_turns(spelling):
    turns = (*ASKED, Message("assistant", "Lyon"), Message("user", "No. Question: Capital of France?"))
    with server_of(spelling) as server:
        ask(spelling, server, Request(turns))
        [body] = server.bodies
    roles = [turn["role"] for turn in body.get("messages") or body["contents"]]
    assert roles == ["user", "assistant" if spelling.startswith("anthropic") else "model", "user"]


def test_a_prompt_that_google_blocks_is_filtered():
    with GoogleServer() as server:
        server.blocks = True
        _, [call] = ask("google/gemini-2.5-flash", server)
    assert (call.replies[0].status, call.replies[0].finish_reason) == ("content_filter", "PROHIBITED_CONTENT")


def test_a_prompt_beyond_the_context_is_a_reply_cut_short_that_cost_nothing_and_is_said_once(spelling):
    long = Request((*ASKED[:1], Message("user", f"{'word ' * 90}\nQuestion: Capital of France?")))
    with server_of(spelling) as server:
        server.context = 60
        _, [first, answered, second] = ask(spelling, server, long, Request(ASKED), long)
        assert server.account.paid.total() == 1
    for call in (first, second):
        assert [(r.status, r.finish_reason) for r in call.replies] == [("truncated", "context_length_exceeded")]
        assert call.usage == Usage(0, 0)
    assert "60" in first.replies[0].raw
    assert f"{spelling}: a prompt is too long for its context: no answer" in first.events
    assert second.events == ()
    assert answered.replies[0].status == "ok"


def test_anthropics_other_words_for_a_prompt_that_leaves_no_room(monkeypatch):
    sentence = "input length and `max_tokens` exceed context limit: 199000 + 1024 > 200000, decrease input length"
    monkeypatch.setattr(AnthropicServer.handler, "refused", lambda self, params: sentence)
    with AnthropicServer() as server:
        _, [call] = ask("anthropic/claude-haiku-4-5", server)
    assert call.replies[0].status == "truncated"


def test_a_refusal_that_names_no_option_stops(spelling):
    with server_of(spelling) as server:
        server.refuses = {"messages", "maxOutputTokens"}
        _, [error] = ask(spelling, server)
        assert sum(server.account.requests.values()) == 1
    assert not isinstance(error, TransientError)


def test_anthropic_never_gets_temperature_and_top_p_together():
    with AnthropicServer() as server:
        _, calls = ask("anthropic/claude-haiku-4-5", server, *[Request(ASKED)] * 2)
        assert [("temperature" in body, "top_p" in body) for body in server.bodies] == [(True, False)] * 2
        _, _ = ask("anthropic/claude-haiku-4-5", server, Request(ASKED, Decoding(temperature=None, top_p=0.9)))
        assert server.bodies[-1]["top_p"] == 0.9
    assert calls[0].events == ("top_p is left out: Anthropic refuses it together with temperature",)
    assert calls[1].events == ()


def test_a_model_without_sampling_options_gets_none():
    with AnthropicServer() as server:
        _, [call] = ask("anthropic/claude-opus-5-5", server)
        assert not {"temperature", "top_p"} & set(server.bodies[0])
    assert len(call.events) == 2


def test_google_gets_the_seed():
    with GoogleServer() as server:
        ask("google/gemini-2.5-flash", server, Request(ASKED, seed=11))
        assert server.bodies[0]["generationConfig"]["seed"] == 11


def test_a_schema_asks_for_structured_output(spelling):
    with server_of(spelling) as server:
        ask(spelling, server, Request(ASKED, Decoding(0.0, None, schema=GRADE_SCHEMA)))
        [body] = server.bodies
    sent = (
        body.get("output_config", {}).get("format", {}).get("schema") or body["generationConfig"]["responseJsonSchema"]
    )
    assert sent["properties"]["verdict"]["enum"] == ["correct", "incorrect", "not_attempted"]


def test_a_schema_that_is_refused_is_left_out(spelling):
    with server_of(spelling) as server:
        server.refuses = {"output_config", "responseJsonSchema"}
        _, [call] = ask(spelling, server, Request(ASKED, Decoding(0.0, None, schema=GRADE_SCHEMA)))
    assert call.replies[0].status == "ok"
    assert any(event.startswith("schema is left out") for event in call.events)


def test_a_reasoning_effort_is_passed_on():
    with AnthropicServer() as server:
        ask("anthropic/claude-opus-5-5", server, Request(ASKED, Decoding(reasoning_effort="low")))
        assert server.bodies[0]["output_config"]["effort"] == "low"


@pytest.mark.parametrize(
    ("sentence", "sent", "name"),
    [
        ("`temperature` and `top_p` cannot both be specified", ["top_p", "temperature"], "top_p"),
        ("`temperature` may only be set to 1 when thinking is enabled", ["temperature", "thinking"], None),
        ("Unknown name \"topP\" at 'generation_config'", ["top_p", "temperature"], "top_p"),
        ("Thinking level is not supported for this model", ["temperature", "thinking"], "thinking"),
        ("prompt is too long", ["top_p", "temperature"], None),
        ("the stop_temperature field is unknown", ["temperature"], "temperature"),
        ("max_tokens must be greater than thinking.budget_tokens", ["temperature", "thinking"], None),
    ],
)
def test_the_option_a_refusal_names_is_found_among_those_that_were_sent(sentence, sent, name):
    assert named_option(sentence, sent) == name


@pytest.mark.parametrize(
    "sentence",
    [
        "temperature: range: Input should be less than or equal to 1",
        "it has a temperature value of 3 but the supported range is from 0 (inclusive) to 2.0001 (exclusive)",
    ],
)
def test_a_value_that_is_refused_ends_with_the_services_sentence_and_is_never_left_out(spelling, sentence, monkeypatch):
    with server_of(spelling) as server:
        monkeypatch.setattr(server.handler, "refused", lambda self, params: sentence)
        model, [error] = ask(spelling, server, Request(ASKED, Decoding(temperature=3.0, top_p=None)))
        assert sum(server.account.requests.values()) == 1
    assert not isinstance(error, TransientError)
    assert sentence in str(error)
    assert model.noticed.dropped == set()


@pytest.mark.parametrize("name", ["anthropic/claude-opus-5-5", "google/gemini-3-pro-preview"])
def test_a_reasoning_effort_that_cannot_be_sent_is_one_sentence_and_sends_nothing(name):
    with server_of(SPELLINGS[name.partition("/")[0]]) as server:
        _, [error] = ask(name, server, Request(ASKED, Decoding(reasoning_effort="hi")))
        assert not server.bodies
    assert not isinstance(error, TransientError)
    assert re.search(r"reasoning effort of .* must be one of minimal, low, .*; got 'hi'$", str(error))


@pytest.mark.parametrize("key", ["sk-\u00e4nt-1234", "sk ant-1234", "sk-ant\x001234"])
def test_a_key_that_no_header_can_carry_is_named_before_anything_is_sent(spelling, key, monkeypatch):
    name = f"{spelling.partition('/')[0].upper()}_API_KEY"
    monkeypatch.setattr(os, "environ", {**os.environ, name: key})
    with pytest.raises(ModelError, match=f"the key in {name} holds a character that cannot be sent"):
        open_model(spelling)


def test_blanks_that_pasting_left_around_a_key_are_not_sent(spelling, monkeypatch):
    service = spelling.partition("/")[0]
    monkeypatch.setenv(f"{service.upper()}_API_KEY", f" {KEY} \n")
    with server_of(spelling) as server:
        _, [call] = ask(spelling, server)
    assert call.replies[0].status == "ok"


def test_a_missing_key_is_one_sentence(spelling, monkeypatch):
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    with pytest.raises(ModelError, match=r"needs a key: set (ANTHROPIC|GOOGLE)_API_KEY"):
        open_model(spelling)


def test_a_missing_package_is_one_sentence(spelling, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "pydantic_ai"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)
    with pytest.raises(ModelError, match=r"pip install 'semece\[providers\]'"):
        open_model(spelling, base_url="http://127.0.0.1:9")


QUESTIONS = tuple(Question(f"q{i}", f"Question number {i}?", (f"answer {i}",)) for i in range(6))
DATA = Dataset("six", QUESTIONS)
REFERENCES = {question.text: question.references[0] for question in QUESTIONS}
THIRTY = dict.fromkeys(
    ("429", "429_retry_after", "500", "502", "503", "reset", "reset_served", "cut", "html", "empty"), 0.024
) | dict.fromkeys(("content_filter", "refusal", "length"), 0.02)


def run(spelling, server, path, **changes):
    patience = Patience(attempts=12, first_wait=0.005, longest_wait=0.05)
    settings = Settings(spelling, "six", judge="exact", patience=patience, base_url=server.url, **changes)
    return asyncio.run(execute(settings, path, dataset=DATA))


def test_a_question_that_is_too_long_fails_alone_and_is_asked_again_on_demand(spelling, tmp_path, semece):
    path = tmp_path / "a.db"
    long = Question("long", f"{'Very ' * 300}long?", ("yes",))
    data = Dataset("seven", (*QUESTIONS[:3], long, *QUESTIONS[3:]))
    with server_of(spelling, references=REFERENCES) as server:
        server.context = 300
        settings = Settings(spelling, "seven", judge="exact", n=4, base_url=server.url)
        for _ in range(2):
            assert asyncio.run(execute(settings, path, dataset=data)).missing == 0
        assert (len(server.bodies), server.account.paid.total()) == (28, 24)
        with Run(path) as done:
            assert done.counts == {"parsed": 24, "truncated": 4, "missing": 0}
            assert dict(done.estimates().select("question_id", "status").iter_rows())["long"] == "too_few"
        out = semece("summary", path)[1]
        assert "4 unusable" in out
        assert f"Noticed: {spelling}: a prompt is too long for its context: no answer." in out
        server.context = None
        asyncio.run(execute(replace(settings, retry_failed=True), path, dataset=data))
    with Run(path) as done:
        assert done.counts == {"parsed": 28, "missing": 0}


@pytest.mark.slow
def test_a_run_completes_where_three_calls_in_ten_go_wrong(spelling, tmp_path):
    path = tmp_path / "a.db"
    with server_of(spelling, faults=THIRTY, references=REFERENCES) as server:
        outcome = run(spelling, server, path, n=20, concurrency=8)
        account = server.account
    assert outcome.missing == 0
    with Run(path) as done:
        counts, (_, asked, answered) = done.counts, done.spent
        failed, paid = done.failed_calls
    empty = counts.get("empty", 0)  # an end without content is delivered; a body without candidates is not
    assert sum(counts.values()) == 120 == account.served.total() + empty
    stopped = empty + sum(account.faults[name] for name in ("content_filter", "refusal", "length"))
    assert counts["parsed"] == 120 - stopped
    lost = sum(account.faults[name] for name in ("reset_served", "cut", "html", "empty")) - empty
    assert account.paid.total() == 120 + lost
    assert failed == sum(account.faults.values()) - stopped
    assert paid == lost + account.faults["reset"]
    assert account.faults.total() > 20
    assert asked + answered <= account.input_tokens + account.output_tokens


@pytest.mark.slow
def test_the_marker_key_is_in_no_file_and_no_stream(spelling, tmp_path, monkeypatch, caplog, capfd):
    service = spelling.partition("/")[0]
    monkeypatch.setenv(f"{service.upper()}_API_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    logging.getLogger().addHandler(handler := logging.FileHandler(tmp_path / "log.txt"))
    try:
        with server_of(spelling, faults=THIRTY, references=REFERENCES) as server:
            server.refuses, server.echo = {"topP"}, True
            run(spelling, server, tmp_path / "a.db", n=4)
            server.broken = "401"
            with pytest.raises(ModelError) as refusal:
                run(spelling, server, tmp_path / "a.db", n=5)
    finally:
        logging.getLogger().removeHandler(handler)
        handler.close()
    out, err = capfd.readouterr()
    assert KEY not in out + err + caplog.text + "".join(traceback.format_exception(refusal.value))
    for file in tmp_path.iterdir():
        assert KEY.encode() not in file.read_bytes(), file.name
