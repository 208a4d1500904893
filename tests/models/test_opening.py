"""From spellings to models and judges."""

import asyncio

import pytest

from semece.errors import SemeceError
from semece.models import Decoding, Message, Request, check_model, open_model
from semece.records import Question
from semece.sampling.opening import open_judge

QUESTION = Question("q", "Capital of France?", ("Paris",))


@pytest.mark.parametrize(
    "variant",
    ["loose,strict", "strict,strict", "prompt=loose,strict", "order=1,order=2", "seed=1,order=2,seed=1"],
)
def test_what_follows_the_hash_says_each_thing_once(variant):
    with pytest.raises(SemeceError, match=f"says each thing once; got '{variant}'"):
        open_judge(f"openai/x#{variant}")


@pytest.mark.parametrize("number", ["9" * 19, "9" * 5000])
def test_a_number_that_no_order_has_is_refused(number):
    with pytest.raises(SemeceError, match="after # a judge's spelling takes"):
        open_judge(f"openai/x#order={number}")


def test_the_fake_model_needs_no_name():
    check_model("fake/")
    assert open_model("fake/").name == "fake/?pmf=0.5,0.3,0.2&correct=0"
    for wrong in ("openai/", "fake", "/", ""):
        with pytest.raises(SemeceError, match="there is no model"):
            check_model(wrong)


@pytest.mark.parametrize("spelling", ["fake/", "fake/?pmf=1", "fake/?pmf=.5,.5&correct=none", "fake/judge"])
def test_every_fake_model_judges_by_equal_strings(spelling):
    """So that judging can be tried out without a key."""
    judge, model = open_judge(spelling), open_model(spelling)

    async def ask(messages, *, schema, read, index):
        return read((await model(Request(messages, Decoding(schema=schema)))).replies[0].text)

    assert asyncio.run(judge.partition(QUESTION, ["Paris", "Lyon", "paris"], ask)) == [0, 1, 0]
    verdicts = [asyncio.run(judge.grade(QUESTION, answer, ask)) for answer in ("paris", "the city of Paris")]
    assert verdicts == ["correct", "incorrect"]


def test_a_fake_model_that_is_asked_a_question_answers_it_whatever_the_schema():
    request = Request((Message("user", "Question: Capital of France?"),), Decoding(schema={"type": "object"}))
    assert asyncio.run(open_model("fake/?pmf=1")(request)).replies[0].text == "Answer: answer 0"
