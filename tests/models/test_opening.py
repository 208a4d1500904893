"""From spellings to models."""

import asyncio

import pytest

from semece.errors import SemeceError
from semece.models import Decoding, Message, Request, check_model, open_model, secrets_of, shown_address


def test_the_fake_model_needs_no_name():
    check_model("fake/")
    assert open_model("fake/").name == "fake/?pmf=0.5,0.3,0.2&correct=0"
    for wrong in ("openai/", "fake", "/", ""):
        with pytest.raises(SemeceError, match="there is no model"):
            check_model(wrong)


def test_a_fake_model_that_is_asked_a_question_answers_it_whatever_the_schema():
    request = Request((Message("user", "Question: Capital of France?"),), Decoding(schema={"type": "object"}))
    assert asyncio.run(open_model("fake/?pmf=1")(request)).replies[0].text == "Answer: answer 0"


@pytest.mark.parametrize("spelling", ["openai/gpt\nrm -rf x", "openai/gpt\x1b[31m", "openai/a\u202eb"])
def test_a_name_that_is_not_seen_as_it_is_is_refused(spelling):
    """It would stand in commands that are printed to be typed again."""
    with pytest.raises(SemeceError, match="no line breaks and no characters that are not seen") as caught:
        check_model(spelling)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("word", ["hunter2", "acme-team-secret", "TOKENMARK", "sk-proj", "correcthorsebatterystaple"])
def test_no_word_in_the_path_of_an_address_is_shown(word):
    address = f"http://127.0.0.1:9/{word}/v1"
    assert shown_address(address) == "http://127.0.0.1:9/***/v1"
    said = f"no such path: /{word}/v1/chat/completions"
    for secret in secrets_of(address, ""):
        said = said.replace(secret, "***")
    assert word not in said
