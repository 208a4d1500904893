"""The fake model draws what it says and misbehaves as it is told."""

import asyncio
import json
import math
import re
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semece.errors import ModelError, ParseError, TransientError
from semece.judges.exact import ExactJudge
from semece.judges.judged_questions import run_procedure
from semece.judges.llm import LLMJudge
from semece.judges.rules.rules_judge import RulesJudge
from semece.models import Message, Model, Request
from semece.models.fakes.fake_model import FakeJudge, FakeModel, parse_fake, question_of
from semece.models.fakes.faults import CALL_FAULTS, REPLY_FAULTS, Faults
from semece.prompts.replies import read_partition, retry_messages
from semece.records import Question

ASK = "State a confidence.\nQuestion: Capital of France?"


def ask(model, n=1, seed=0, text=ASK, role="user"):
    return asyncio.run(model(Request((Message(role, text),), n=n, seed=seed)))


def texts(model, **options):
    return [reply.text for reply in ask(model, **options).replies]


def test_it_is_a_model():
    assert isinstance(FakeModel(), Model)


@given(seed=st.integers(0, 2**30), n=st.integers(2, 50), cut=st.integers(1, 49))
def test_chunks_and_top_ups_give_what_one_request_gives(seed, n, cut):
    model = FakeModel(faults=Faults({"no_confidence": 0.2, "refusal": 0.1, "identical": 0.1}))
    cut = min(cut, n - 1)
    chunks = [*ask(model, n=cut, seed=seed).replies, *ask(model, n=n - cut, seed=seed + cut).replies]
    assert chunks == list(ask(model, n=n, seed=seed).replies)


def test_classes_come_at_the_rates_of_the_pmf():
    pmf, n = (0.5, 0.3, 0.2), 4000
    model = FakeModel(pmf, max_choices=n)
    said = texts(model, n=n)
    for kind, p in enumerate(pmf):
        share = sum(f"answer {kind}\n" in text for text in said) / n
        assert abs(share - p) < 4 * math.sqrt(p * (1 - p) / n)


def test_questions_are_drawn_independently():
    model = FakeModel((0.5, 0.5), max_choices=2000)
    first, second = (texts(model, n=2000, text=f"Question: {name}") for name in "ab")
    same = sum(a == b for a, b in zip(first, second, strict=True)) / 2000
    assert abs(same - 0.5) < 4 * math.sqrt(0.25 / 2000)


def test_the_correct_class_says_the_reference_and_the_others_distinct_wrong_answers():
    model = FakeModel((0.2,) * 5, correct=2, confidence=None, references={"Capital of France?": "Paris"})
    assert set(texts(model, n=50)) == {"Answer: Paris", *(f"Answer: wrong{k}" for k in ("ba", "de", "fi", "go"))}
    model = FakeModel((0.5, 0.5), correct=None, references={"Capital of France?": "Paris"})
    assert not any("Paris" in text for text in texts(model, n=50))


@pytest.mark.parametrize("judge", [RulesJudge(), ExactJudge()], ids=lambda judge: judge.name)
def test_wrong_answers_are_wrong_whatever_the_reference_and_differ_in_meaning(judge):
    references = [*map(str, range(13)), "two", "twelve", "A", "B", "II", "wrong", "no", "1.5", "7 May 1989", "12 km"]
    model = FakeModel((1 / 24,) * 24, confidence=None, references={"Which?": "Paris"})
    said = {text.removeprefix("Answer: ") for text in texts(model, n=50, text="Question: Which?")}
    said |= {text.removeprefix("Answer: ") for text in texts(model, n=50, seed=50, text="Question: Which?")}
    wrong = sorted(said - {"Paris"})
    assert len(wrong) > 15
    for reference in references:
        question = Question("q", "Which?", (reference,))
        assert {judge.grade(question, answer) for answer in wrong} == {"incorrect"}
        assert len(set(judge.partition(question, [reference, *wrong]))) == len(wrong) + 1


def test_confidence_may_differ_by_class_and_is_stated_only_if_asked_for():
    model = FakeModel((0.5, 0.5), confidence=(0.9, 0.125))
    assert set(texts(model, n=50)) == {"Answer: answer 0\nConfidence: 90%", "Answer: answer 1\nConfidence: 12.5%"}
    assert set(texts(model, n=50, text="Question: x")) == {"Answer: answer 0", "Answer: answer 1"}


def test_a_completion_prompt_is_continued_after_its_label():
    prompt = "Question: 1 + 1?\nAnswer: 2\nConfidence: 99%\n\nQuestion: Capital of France?\nAnswer:"
    model = FakeModel((1.0,), references={"Capital of France?": "Paris", "1 + 1?": "2"})
    assert texts(model, text=prompt, role="completion") == [" Paris\nConfidence: 70%"]


def test_the_first_line_of_a_long_question_finds_its_reference():
    text = "Which is\nlonger?"
    assert texts(FakeModel((1.0,), references={text: "a"}), text=f"Question: {text}") == ["Answer: a"]


def test_a_prompt_without_a_question_line_is_the_question():
    assert question_of(Request((Message("user", "Capital?"),))) == "Capital?"


def test_raw_is_the_choice_and_usage_counts_words():
    call = ask(FakeModel((1.0,)), n=2)
    assert json.loads(call.replies[0].raw)["message"]["content"] == call.replies[0].text
    assert (call.usage.input_tokens, call.usage.output_tokens) == (8, 10)


STOPS = {"401": ModelError, "quota": ModelError}
TRANSIENT = {
    "429": ("rate_limited", None, False),
    "429_retry_after": ("rate_limited", 0.05, False),
    "500": ("server", None, False),
    "timeout": ("timeout", None, True),
    "connection": ("connection", None, False),
    "connection_served": ("connection", None, True),
    "broken_body": ("broken_body", None, True),
}


@pytest.mark.parametrize("fault", TRANSIENT)
def test_a_call_fault_that_delivers_nothing_says_what_it_was(fault):
    with pytest.raises(TransientError) as caught:
        ask(FakeModel(faults=Faults({fault: 1.0})))
    assert (caught.value.status, caught.value.retry_after, caught.value.maybe_paid) == TRANSIENT[fault]


@pytest.mark.parametrize("fault", STOPS)
def test_a_fault_that_asking_again_does_not_help_is_no_transient_one(fault):
    with pytest.raises(ModelError) as caught:
        ask(FakeModel(faults=Faults({fault: 1.0})))
    assert not isinstance(caught.value, TransientError)


def test_too_few_choices_are_the_first_ones():
    assert texts(FakeModel(faults=Faults({"too_few": 1.0})), n=7) == texts(FakeModel(), n=7)[:3]


def test_a_fall_to_single_choices_is_told_once_and_stays():
    model = FakeModel(faults=Faults({"single": 1.0}))
    first, second = ask(model, n=8), ask(model, n=8)
    assert (len(first.replies), len(second.replies), model.max_choices) == (1, 1, 1)
    assert (len(first.events), len(second.events)) == (1, 0)


def test_a_slow_call_takes_longer():
    assert ask(FakeModel(faults=Faults({"slow": 1.0}, slow_seconds=0.05))).latency >= 0.05
    assert ask(FakeModel(latency=0.03)).latency >= 0.03


@pytest.mark.parametrize(("fault", "finish"), [("content_filter", "content_filter"), ("truncated", "length")])
def test_a_reply_fault_of_the_provider_is_a_status_without_text(fault, finish):
    (reply,) = ask(FakeModel(faults=Faults({fault: 1.0}))).replies
    assert (reply.text, reply.status, reply.finish_reason) == ("", fault, finish)


def test_a_refusal_is_a_status():
    assert {reply.status for reply in ask(FakeModel(faults=Faults({"refusal": 1.0})), n=3).replies} == {"refusal"}


def test_the_remaining_reply_faults_are_texts():
    assert texts(FakeModel((1.0,), faults=Faults({"no_confidence": 1.0}))) == ["Answer: answer 0"]
    assert texts(FakeModel((1.0,), faults=Faults({"off_format": 1.0}))) == ["I would say that it is answer 0"]
    assert len(set(texts(FakeModel(faults=Faults({"identical": 1.0})), n=50))) == 1


def test_every_fault_is_tested_here():
    tested = {*TRANSIENT, *STOPS, "too_few", "single", "slow"}
    assert tested == set(CALL_FAULTS)
    assert set(REPLY_FAULTS) == {
        "content_filter",
        "truncated",
        "refusal",
        "no_confidence",
        "off_format",
        "identical",
    }


def served(model, attempts=40):
    outcome = []
    for _ in range(attempts):
        try:
            ask(model)
            outcome.append("served")
        except TransientError as error:
            outcome.append(error.status)
    return outcome


def test_call_faults_are_the_same_in_every_run_and_new_at_every_attempt():
    rates = {"429": 0.2, "500": 0.2}
    first = served(FakeModel(faults=Faults(rates)))
    assert first == served(FakeModel(faults=Faults(rates)))
    assert set(first) == {"served", "rate_limited", "server"}
    assert first != served(FakeModel(faults=Faults(rates, seed=1)))


def test_the_name_says_what_the_model_is_and_not_how_it_misbehaves():
    spelling = "fake/?pmf=.5,.5&correct=none&confidence=.9,.1&fault=429:.1,refusal&latency=.01&choices=8&fault_seed=3"
    model = parse_fake(spelling)
    assert model.name == "fake/?pmf=0.5,0.5&correct=none&confidence=0.9,0.1"
    assert parse_fake(model.name).name == model.name
    assert model.max_choices == 8
    assert parse_fake("fake/?confidence=none").name == "fake/?pmf=0.5,0.3,0.2&correct=0&confidence=none"


@pytest.mark.parametrize(
    ("spelling", "sentence"),
    [
        ("fake/?pfm=1", "a fake model takes pmf, correct, confidence, .*; got 'pfm' .did you mean 'pmf'.."),
        ("fake/?pmf=.5,.6", r"pmf must sum to 1; got 1\.1"),
        ("fake/?pmf=1.5,-.5", r"pmf must lie in \[0, 1\]; got 1\.5 at index 0"),
        ("fake/?pmf=a", "pmf of a fake model must be a number; got 'a'"),
        ("fake/?pmf=1&correct=1", "correct must be a class of pmf, 0 to 0, or None; got 1"),
        ("fake/?correct=.5", r"correct of a fake model must be a whole number; got '\.5'"),
        ("fake/?confidence=2", r"confidence must lie in \[0, 1\]; got 2\.0 at index 0"),
        ("fake/?confidence=.1,.2", r"confidence must have one value or one per class of pmf \(3\); got 2"),
        ("fake/?fault=430:.1", "fault must be one of 429, .*; got '430'"),
        ("fake/?fault=429:2", r"the rate of a fault must lie in \[0, 1\]; got 2\.0 for 429"),
        ("fake/?fault=429:.6,500:.6", "rates of 429, 500 must sum to at most 1"),
        ("fake/?choices=0", "max_choices must be at least 1; got 0"),
        ("fake/judge?pmf=1", "a fake model takes invalid, latency, .*; got 'pmf'"),
        ("fake/judge?invalid=2", r"invalid must lie in \[0, 1\]; got 2\.0"),
    ],
)
def test_a_wrong_spelling_is_one_sentence(spelling, sentence):
    with pytest.raises(ModelError, match=f"^{sentence}, in '{re.escape(spelling)}'$"):
        parse_fake(spelling)


def test_another_fake_than_those_two_is_refused():
    with pytest.raises(ModelError, match=r"^a fake model is spelled fake/.*, or fake/judge; got 'fake/nothing'$"):
        parse_fake("fake/nothing")


def test_more_choices_than_the_maximum_are_refused():
    with pytest.raises(ValueError, match="n must lie in 1 to 8; got 9"):
        ask(parse_fake("fake/?choices=8"), n=9)


QUESTION = Question("q", "Capital of France?", ("Paris", "City of Light"))


def put(model, query):
    """Ask as the pipeline does, without a store."""
    reply = asyncio.run(model(Request(query.messages, seed=None))).replies[0].text
    try:
        return query.read(reply)
    except ParseError as fault:
        again = retry_messages(query.messages, reply, str(fault))
        return query.read(asyncio.run(model(Request(again, seed=None))).replies[0].text)


def judged(model, what, *arguments):
    return run_procedure(getattr(LLMJudge("fake/judge"), what)(QUESTION, *arguments), partial(put, model))


def test_the_fake_judge_answers_the_prompts_of_the_judge():
    assert isinstance(FakeJudge(), Model)
    assert judged(FakeJudge(), "partition", ["Paris", "Lyon", "paris", "LYON", "Nice"]) == [0, 1, 0, 1, 2]
    assert judged(FakeJudge(), "grade", "city of light") == "correct"
    assert judged(FakeJudge(), "grade", "Lyon") == "incorrect"


def test_the_fake_judge_is_invalid_at_the_rate_it_is_told_and_right_when_asked_again():
    model, n = parse_fake("fake/judge?invalid=.3"), 400
    invalid = right = 0
    for k in range(n):
        data = f'{{"question": "q{k}", "answers": [[1, "Paris"], [2, "{k}"]]}}'
        reply = ask(model, text=data).replies[0].text
        try:
            assert read_partition(reply, 2) == [0, 1]
        except ParseError as fault:
            invalid += 1
            again = retry_messages((Message("user", data),), reply, str(fault))
            right += "classes" in asyncio.run(model(Request(again))).replies[0].text
    assert abs(invalid / n - 0.3) < 4 * math.sqrt(0.21 / n)
    assert right > invalid / 2


def test_the_fake_judge_misbehaves_like_any_fake():
    with pytest.raises(TransientError):
        ask(parse_fake("fake/judge?fault=500"), text="{}")
    assert parse_fake("fake/judge?fault=500:.1&invalid=.2").name == "fake/judge"
