"""How a question is put, and how a response is read."""

import json
import re
from collections import Counter
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semece.errors import ParseError
from semece.prompts import Labels, load_text, response_prompt
from semece.prompts.responses import read_confidence, read_response, unwrap, without_thinking
from semece.records import Question

QUESTION = Question("q1", "Which planet is the largest?")

TEXTS = {
    "chat-none-v1": "73202daa47d6",
    "chat-percent-v1": "b66d5bdbf75f",
    "completion-none-v1": "efc8763bddc9",
    "completion-percent-v1": "1b737987b9ad",
    "grade-default-v1": "7dfac8feaf6d",
    "grade-loose-v1": "67296040ab42",
    "grade-strict-v1": "8945c6542c45",
    "partition-default-v1": "201a518adcbc",
    "partition-loose-v1": "3a3584351e75",
    "partition-strict-v1": "c14f10072e11",
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
@pytest.mark.parametrize("elicit", ["percent", "none"])
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
    assert reading.status == ("parsed" if reading.answer else "non_answer")


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


@pytest.mark.parametrize(("elicit", "style", "named"), [("linguistic", "chat", "elicit"), ("none", "voice", "style")])
def test_an_unknown_option_is_refused_by_name(elicit, style, named):
    with pytest.raises(ValueError, match=rf"^{named} must be"):
        response_prompt(elicit, style=style)


def test_hashes_differ_wherever_messages_or_reading_differ():
    prompts = [response_prompt(e, style=s) for e in ("percent", "none") for s in ("chat", "completion")]
    own = "{question}"
    prompts += [response_prompt(e, style=s, text=own) for e in ("percent", "none") for s in ("chat", "completion")]
    assert len({prompt.hash for prompt in prompts}) == len(prompts)
    assert response_prompt().hash == response_prompt().hash


# -- reading: answers


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Answer: Paris", "Paris"),
        ("It is big.\n\nAnswer: Paris\nConfidence: 90%", "Paris"),
        ("**Answer:** Paris", "Paris"),
        ("**Answer**: Paris", "Paris"),
        ("**Answer: Paris**\n**Confidence: 90%**", "Paris"),
        ("*Answer: Paris*", "Paris"),
        ("### Final answer: **Paris**", "Paris"),
        ("- Answer: `Paris`", "Paris"),
        ("> answer : Paris", "Paris"),
        (" " * 40 + "Answer: Paris", "Paris"),
        ("Answer：巴黎", "巴黎"),
        ("Answer:\n\n  Paris  \n", "Paris"),
        ("Answer:\n```\nParis\n```\nConfidence: 90%", "Paris"),
        ("Answer: $\\boxed{\\text{Paris}}$", "Paris"),
        ("Answer: \\(\\frac{1}{2}\\)", "\\frac{1}{2}"),
        ("Answer: \\boxed{a} + \\boxed{b}", "\\boxed{a} + \\boxed{b}"),
        ("Answer: Paris, Confidence: 90%", "Paris"),
        ("Answer: Paris (Confidence: 90%)", "Paris"),
        ("Answer: Lyon\nNo.\nAnswer: Paris", "Paris"),
        ("Answer: Paris\nConfidence: 90%\nBecause it is the seat of government.", "Paris"),
        ("Answer: Paris\nand Lyon\nConfidence: 90%", "Paris\nand Lyon"),
        ("Answer: A*", "A*"),
        ("Answer: *Hamlet* and *Macbeth*", "*Hamlet* and *Macbeth*"),
        ("Answer: $5", "$5"),
        ("Answer: [0, 1]", "[0, 1]"),
        ("Answer: M*A*S*H", "M*A*S*H"),
        ("Answer: Confidence trick", "Confidence trick"),
        ("Answer: I don't know", "I don't know"),
        ("<think>Answer: Lyon</think>Answer: Paris", "Paris"),
        ("Answer: Lyon?</think>\n\nAnswer: Paris", "Paris"),
    ],
)
def test_the_answer_is_what_the_last_answer_line_says_without_its_wrapping(text, answer):
    reading = read_response(text)
    assert (reading.answer, reading.status) == (answer, "parsed")


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Paris", "Paris"),
        ("I think that it is **Paris**.", "I think that it is **Paris**."),
        ("x" * 150 + "y" * 200, "y" * 200),
        ("Paris\nConfidence: 90%", "Paris"),
        ("Paris; Confidence: 90%\n\nNote: this is what most people would say.", "Paris"),
        ("Confidence: 90%\nParis", "Paris"),
        ("The answer is: Paris", "The answer is: Paris"),
        ("Paris\n0.95", "Paris\n0.95"),
    ],
)
def test_without_an_answer_line_the_end_of_what_precedes_the_confidence_is_taken(text, answer):
    reading = read_response(text)
    assert (reading.answer, reading.status) == (answer, "fallback")


@pytest.mark.parametrize(
    "text", ["", " \n ", "Answer:", "Answer: **  **\nConfidence: 3%", "Confidence: 90%", "<think>Paris"]
)
def test_nothing_left_is_a_non_answer(text):
    reading = read_response(text)
    assert (reading.answer, reading.status) == ("", "non_answer")


def test_a_completion_begins_where_the_answer_begins_and_ends_before_the_next_question():
    prompt = response_prompt(style="completion")
    reading = prompt.read(" Jupiter\nConfidence: 90%\n\nQuestion: Who?\nAnswer: Nobody\nConfidence: 5%")
    assert (reading.answer, reading.confidence) == ("Jupiter", 0.9)
    assert prompt.read("").status == "non_answer"


def test_the_labels_are_parameters_and_other_labels_are_text():
    labels = Labels("Guess", "Probability")
    reading = read_response("Guess: Paris\nProbability: 0.8", labels)
    assert (reading.answer, reading.confidence) == ("Paris", 0.8)
    assert read_response("Answer: Paris\nProbability: 0.8", labels).status == "fallback"
    assert read_response("Answer: Paris\nConfidence: 90%", Labels(confidence=None)).answer == "Paris\nConfidence: 90%"


@given(st.text(alphabet=st.characters(categories=["L", "N", "Zs"]), min_size=1), st.integers(0, 100), st.text())
def test_a_response_as_asked_for_is_read_back(answer, percent, thoughts):
    text = f"{thoughts.replace('<', '')}\nAnswer: {answer}\nConfidence: {percent}%"
    reading = read_response(text)
    assert reading.answer == answer.strip()
    assert reading.confidence == percent / 100


PIECES = [*"Ab1 .*_`$\\{}()\n:%", "Answer:", "Confidence:", "90%", "\\boxed{", "**", "<think>", "</think>", "```"]


@given(st.lists(st.sampled_from(PIECES)).map("".join) | st.text())
def test_any_text_is_read_without_an_error_and_within_range(text):
    reading = read_response(text)
    assert reading.confidence is None or 0 <= reading.confidence <= 1
    assert (reading.answer == "") == (reading.status == "non_answer")
    assert reading.answer == reading.answer.strip()
    if reading.status == "fallback":
        assert len(reading.answer) <= 200


@pytest.mark.parametrize(
    "piece", ["*", "_", "`", "$", "\\boxed{", " ", "\n", "9", "Answer:", "Confidence: 1%\n", "<think>"]
)
def test_a_long_degenerate_response_is_read_at_once(piece):
    """A reader that takes quadratic time does not come back from these within a test's patience."""
    read_response(piece * (40_000 // len(piece)))


# -- reading: confidences


@pytest.mark.parametrize(
    ("text", "confidence"),
    [
        ("90%", 0.9),
        ("90 %", 0.9),
        ("90 percent", 0.9),
        ("0.5%", 0.005),
        ("0.5\\%", 0.005),
        ("0.5％", 0.005),
        ("1%", 0.01),
        ("100%", 1.0),
        ("0%", 0.0),
        ("90", 0.9),
        ("2", 0.02),
        ("100", 1.0),
        ("0.9", 0.9),
        (".9", 0.9),
        ("0.02", 0.02),
        ("1.0", 1.0),
        ("0", 0.0),
        ("0,95", 0.95),
        ("**90%**", 0.9),
        ("$90\\%$", 0.9),
        ("\\boxed{90\\%}", 0.9),
        ("90%.", 0.9),
        ("90% (quite sure)", 0.9),
        ("90% confident", 0.9),
        ("1", None),
        ("101%", None),
        ("101", None),
        ("12.5", None),
        ("100.0", None),
        ("-5%", None),
        ("80-90%", None),
        ("80 to 90%", None),
        ("9/10", None),
        ("9 out of 10", None),
        (">90%", None),
        ("~90%", None),
        ("90% or more", None),
        ("about 90%", None),
        ("high", None),
        ("ninety percent", None),
        ("1,000%", None),
        ("1e-1", None),
        ("nan", None),
        ("", None),
    ],
)
def test_a_confidence_is_read_only_if_it_is_certain(text, confidence):
    assert read_confidence(text) == pytest.approx(confidence)


@pytest.mark.parametrize(
    ("text", "confidence"),
    [
        ("Answer: A\nConfidence: 90%", 0.9),
        ("Confidence: 90%\nAnswer: A", 0.9),
        ("Answer: A\nConfidence: 50%\nNo.\nAnswer: B\nConfidence: 90%", 0.9),
        ("Answer: A\nConfidence: 50%\nNo.\nAnswer: B", None),
        ("Answer: A\nConfidence: 50%\nConfidence: 60%", None),
        ("Answer: A\nConfidence: 50%\nConfidence: 0.5", 0.5),
        ("Answer: A\nConfidence: high", None),
        ("Answer: A\np: 3", None),
        ("Answer: A\nMy confidence is 90%", None),
        ("A, Confidence: 90%", 0.9),
        ("<think>Confidence: 10%</think>Answer: A\nConfidence: 90%", 0.9),
    ],
)
def test_a_confidence_belongs_to_the_last_answer(text, confidence):
    assert read_response(text).confidence == confidence


def test_wrappers_are_stripped_layer_by_layer_and_only_if_they_enclose_everything():
    assert unwrap("**`Paris`**") == "Paris"
    assert unwrap("$$\\boxed{\\textbf{Paris}}$$") == "Paris"
    assert unwrap("**A** and **B**") == "**A** and **B**"
    assert unwrap("\\boxed{a}{b}") == "\\boxed{a}{b}"


def test_thoughts_are_taken_out_wherever_they_are():
    assert without_thinking("a<think>b</think>c<thinking>d</thinking>e") == "ace"
    assert without_thinking("a<THINK>b") == "a"


# -- the readings of real responses


@pytest.mark.shared_data
def test_real_responses_are_read_like_their_own_parser_read_them_or_better(shared_data):
    """Counts over 4,000 responses labelled 'Guess' and 'Probability', against the marks that came with them.

    ``theirs``: 687 responses are an answer and a bare number on two lines, without labels, which we do not guess at;
    one names two answers; two correct themselves without a new probability. ``ours``: 'Paris; Probability: 0.9'.
    ``differ``: the response corrects itself and the last answer wins.
    """
    found, same = Counter(), 0
    for file in sorted((shared_data / "verbalized").glob("*.jsonl")):
        for line in file.read_text().strip().split("\n"):
            row = json.loads(line)
            reading = read_response(row["response"], Labels("Guess", "Probability"))
            theirs = None if row["confidence"] == -1 else row["confidence"]
            kind = {(0, 0): "neither", (0, 1): "theirs", (1, 0): "ours", (1, 1): "both"}[
                reading.confidence is not None, theirs is not None
            ]
            if kind == "both" and reading.confidence != pytest.approx(theirs):
                kind = "differ"
            found[kind] += 1
            same += kind == "both" and reading.answer == row["answer"].strip()
    assert found == {"both": 2802, "theirs": 690, "ours": 182, "differ": 3, "neither": 323}
    assert same == 2784


@pytest.mark.parametrize("label", ["Answer", "ANSWER", "an\u017fwer", "Final AN\u017fWER"])
@pytest.mark.parametrize("stated", ["Confidence", "CONFIDENCE", "Conf\u0131dence"])
def test_labels_are_read_in_any_case_of_any_alphabet(label, stated):
    """A long s and an i without a dot are other cases of s and i."""
    reading = read_response(f"Some words.\n{label}: Paris\n{stated}: 80%")
    assert (reading.answer, reading.confidence, reading.status) == ("Paris", 0.8, "parsed")
