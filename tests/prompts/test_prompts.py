"""How a question is put, and how a response is read."""

import re
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semece.errors import ParseError
from semece.prompts import ELICITS, load_text, response_prompt
from semece.prompts.non_answers import is_non_answer
from semece.prompts.responses import read_response
from semece.records import Question

QUESTION = Question("q1", "Which planet is the largest?")

TEXTS = {
    "chat-linguistic-mielke-v1": "6cb18604d870",
    "chat-linguistic-v1": "51ceb22245a7",
    "chat-none-v1": "73202daa47d6",
    "chat-percent-v1": "b66d5bdbf75f",
    "completion-linguistic-mielke-v1": "9060d95d0776",
    "completion-linguistic-v1": "60050a5624d6",
    "completion-none-v1": "efc8763bddc9",
    "completion-percent-v1": "1b737987b9ad",
    "elicit-linguistic-chat-v1": "a4222c9088f2",
    "elicit-linguistic-completion-v1": "3a678361a92d",
    "elicit-linguistic-mielke-chat-v1": "53cc5ae25eef",
    "elicit-linguistic-mielke-completion-v1": "6aae41edf303",
    "elicit-p-true-chat-v1": "58dc2e6e563a",
    "elicit-p-true-completion-v1": "53fe299818ef",
    "elicit-top-k-chat-v1": "2261c72ed904",
    "elicit-top-k-completion-v1": "dc1bab0ea29d",
    "elicit-two-stage-chat-v1": "6f2ddb2257d5",
    "elicit-two-stage-completion-v1": "87f5dbd2185f",
    "grade-default-v1": "7dfac8feaf6d",
    "grade-default-v2": "20c0b881511c",
    "grade-loose-v1": "67296040ab42",
    "grade-loose-v2": "4a84b27d2661",
    "grade-strict-v1": "8945c6542c45",
    "grade-strict-v2": "f6acd6eff3f5",
    "pair-default-v1": "302a7deea871",
    "pair-loose-v1": "957897f26e37",
    "pair-strict-v1": "e9f0cd89ba9d",
    "partition-default-v1": "201a518adcbc",
    "partition-default-v2": "2170aba3f77b",
    "partition-loose-v1": "3a3584351e75",
    "partition-loose-v2": "f03fc19df3a4",
    "partition-strict-v1": "c14f10072e11",
    "partition-strict-v2": "2c9bb96c422e",
}
"""The first hexadecimal digits of each text's sha256: a text that changes needs a new version."""


# -- asking


def test_a_text_never_changes_under_its_version():
    from hashlib import sha256

    found = {
        file.name.removesuffix(".txt"): sha256(load_text(file.name.removesuffix(".txt")).encode()).hexdigest()[:12]
        for file in resources.files("semece.prompts").iterdir()
        if file.name.endswith(".txt")
    }
    assert found == TEXTS


@pytest.mark.parametrize("style", ["chat", "completion"])
@pytest.mark.parametrize("elicit", ELICITS)
def test_the_question_stands_on_a_line_of_its_own_and_no_placeholder_is_left(style, elicit):
    (message,) = response_prompt(elicit, style=style).messages(QUESTION)
    assert "Question: Which planet is the largest?" in message.content.splitlines()
    assert "{question}" not in message.content
    assert message.role == ("user" if style == "chat" else "completion")


@pytest.mark.parametrize("style", ["chat", "completion"])
def test_a_confidence_is_mentioned_only_if_it_is_asked_for(style):
    texts = {e: response_prompt(e, style=style).messages(QUESTION)[0].content for e in ("percent", "none")}
    assert "Confidence:" in texts["percent"]
    assert "onfidence" not in texts["none"]
    assert "robab" not in texts["none"]


def test_the_examples_of_the_completion_prompt_are_four_read_as_written_with_different_confidences():
    text = response_prompt(style="completion").messages(QUESTION)[0].content
    *examples, question = text.split("\n\n")
    readings = [read_response(example.split("\n", 1)[1]) for example in examples]
    assert len(readings) == 4
    assert all(reading.status == "parsed" for reading in readings)
    assert len({reading.confidence for reading in readings}) == 4
    assert question.endswith("\nAnswer:")
    without = response_prompt("none", style="completion").messages(QUESTION)[0].content
    assert without == re.sub(r"Confidence: \d+%\n", "", text).replace("\n\n\n", "\n\n")


@given(st.text())
def test_a_question_is_put_as_it_is_whatever_braces_it_has(text):
    content = response_prompt().messages(Question("q", text + "{x} {0} {question} \\1"))[0].content
    assert (text + "{x} {0} {question} \\1").strip() in content


def test_only_the_completion_prompt_has_a_grammar_and_it_is_the_designs():
    assert response_prompt().grammar is None
    assert response_prompt(style="completion").grammar == (
        'root ::= " " [^\\n]{1,40} "\\nConfidence: " num "%"\nnum ::= "100" | [1-9]? [0-9]\n'
    )
    assert response_prompt("none", style="completion").grammar == 'root ::= " " [^\\n]{1,40} "\\n"\n'


@given(st.from_regex(r" [\w ,.'-]{1,40}\nConfidence: (100|[1-9]?[0-9])%", fullmatch=True))
def test_whatever_the_grammar_allows_is_read_with_its_confidence(text):
    reading = response_prompt(style="completion").read(text)
    assert reading.confidence == int(text.rpartition(" ")[2].rstrip("%")) / 100
    assert reading.status == ("non_answer" if is_non_answer(reading.answer) else "parsed")


def test_a_text_of_the_users_own_is_used_and_has_a_hash_of_its_own():
    prompt = response_prompt(text="Q. {question} Think, then write Answer: and Confidence:")
    assert (
        prompt.messages(QUESTION)[0].content
        == "Q. Which planet is the largest? Think, then write Answer: and Confidence:"
    )
    assert prompt.name == "file"
    assert prompt.hash != response_prompt().hash
    assert prompt.read("Answer: Jupiter").answer == "Jupiter"


def test_braces_in_a_text_of_the_users_own_are_left_alone():
    prompt = response_prompt(text='{question} Write {"answer": 1}, {0} and {question}')
    assert prompt.messages(Question("q", "Who?"))[0].content == 'Who? Write {"answer": 1}, {0} and Who?'


def test_a_completion_of_the_users_own_is_continued_only_if_it_ends_in_the_label():
    ending = response_prompt(style="completion", text="{question}\nAnswer:\n")
    assert ending.read(" Jupiter\nConfidence: 50%").answer == "Jupiter"
    assert ending.grammar
    other = response_prompt(style="completion", text="{question}\n")
    assert other.read("Well.\nAnswer: Jupiter").answer == "Jupiter"
    assert other.grammar is None


def test_a_text_without_the_placeholder_is_refused_in_one_sentence():
    with pytest.raises(
        ParseError, match=r"^a prompt must contain the placeholder \{question\}; got a text without it$"
    ):
        response_prompt(text="Tell me {questions}")


@pytest.mark.parametrize(("elicit", "style", "named"), [("words", "chat", "elicit"), ("none", "voice", "style")])
def test_an_unknown_option_is_refused_by_name(elicit, style, named):
    with pytest.raises(ValueError, match=rf"^{named} must be"):
        response_prompt(elicit, style=style)


def test_hashes_differ_wherever_messages_or_reading_differ():
    prompts = [response_prompt(e, style=s) for e in ("percent", "none") for s in ("chat", "completion")]
    own = "{question}"
    prompts += [response_prompt(e, style=s, text=own) for e in ("percent", "none") for s in ("chat", "completion")]
    assert len({prompt.hash for prompt in prompts}) == len(prompts)
    assert response_prompt().hash == response_prompt().hash
