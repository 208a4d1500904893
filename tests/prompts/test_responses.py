"""How a reply becomes an answer, a confidence and a status."""

import json
import re
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from semece.judges.answer_keys import answer_key
from semece.prompts import Labels
from semece.prompts.confidences import Scale, read_confidence, read_stated
from semece.prompts.final_message import final_message
from semece.prompts.markup import bare, last_box, unwrap
from semece.prompts.non_answers import is_non_answer
from semece.prompts.responses import _is_placeholder, read_response

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "cases" / "replies.jsonl").read_text(encoding="utf-8").splitlines()
]
SHARED = ("answer", "confidence")


def read_as(case):
    reading = read_response(case["reply"])
    return {"answer": reading.answer, "confidence": reading.confidence, "status": reading.status}


@pytest.mark.parametrize("kind", sorted({case["kind"] for case in CASES}))
def test_replies_are_read_as_a_person_reads_them(kind):
    wrong = []
    for case in (case for case in CASES if case["kind"] == kind):
        found, wanted = read_as(case), {name: case[name] for name in ("answer", "confidence", "status")}
        if found != wanted | {"confidence": pytest.approx(wanted["confidence"])}:
            wrong.append((case["reply"], found, wanted))
    assert not wrong


def test_the_cases_are_many_and_different():
    assert len({case["reply"] for case in CASES}) >= 330


@pytest.mark.shared_data
def test_the_cases_of_others_are_read_too(shared_data):
    path = shared_data.parent / "cases" / "replies_read.jsonl"
    if not path.exists():
        pytest.skip("these cases are not here")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    wrong = []
    for row in rows:
        reading = read_response(row["reply"])
        if (reading.answer, reading.confidence) != (row["answer"], pytest.approx(row["confidence"])):
            wrong.append((row, reading))
    assert not wrong


# -- labels, patterns, continued texts


def test_the_labels_are_parameters_and_other_labels_are_text():
    labels = Labels("Guess", "Probability")
    reading = read_response("Guess: Paris\nProbability: 0.8", labels)
    assert (reading.answer, reading.confidence) == ("Paris", 0.8)
    assert read_response("Answer: Paris\nProbability: 0.8", labels).status == "fallback"
    reading = read_response("Answer: Paris\nConfidence: 90%", Labels(confidence=None))
    assert (reading.answer, reading.stated) == ("Paris", "")


@pytest.mark.parametrize("label", ["Answer", "ANSWER", "an\u017fwer", "Final AN\u017fWER"])
@pytest.mark.parametrize("stated", ["Confidence", "CONFIDENCE", "Conf\u0131dence"])
def test_labels_are_read_in_any_case_of_any_alphabet(label, stated):
    """A long s and an i without a dot are other cases of s and i."""
    reading = read_response(f"Some words.\n{label}: Paris\n{stated}: 80%")
    assert (reading.answer, reading.confidence, reading.status) == ("Paris", 0.8, "parsed")


@pytest.mark.parametrize(
    ("pattern", "answer"),
    [(r"=> (.+)", "Oslo"), (r"(?P<x>=>) (?P<answer>\w+)", "Oslo"), (r"(?<==> )\w+", "Oslo"), (r"no such", "Bergen")],
)
def test_a_pattern_of_the_users_own_comes_first_and_its_last_match_counts(pattern, answer):
    text = "=> Bergen\n=> Oslo\nAnswer: Bergen\nConfidence: 70%"
    reading = read_response(text, pattern=re.compile(pattern))
    assert (reading.answer, reading.confidence, reading.status) == (answer, 0.7, "parsed")


def test_a_completion_begins_where_the_answer_begins_and_ends_before_the_next_question():
    text = " Jupiter\nConfidence: 90%\n\nQuestion: Who?\nAnswer: Nobody\nConfidence: 5%"
    reading = read_response(text, continues_answer=True)
    assert (reading.answer, reading.confidence) == ("Jupiter", 0.9)
    assert read_response("", continues_answer=True).status == "empty"


@example("THE ANSWER ALONE", 50, "")
@given(st.text(alphabet=st.characters(categories=["L", "N", "Zs"]), min_size=1), st.integers(11, 100), st.text())
def test_a_response_as_asked_for_is_read_back(answer, percent, thoughts):
    text = f"{re.sub(r'[<◁[|`~>]', '', thoughts)}\nAnswer: {answer}\nConfidence: {percent}%"
    reading = read_response(text)
    if answer.strip().lower() in {"", "answer"} or _is_placeholder(answer):
        return
    assert reading.answer == answer.strip()
    assert reading.confidence == percent / 100


# -- thoughts and turns


def test_thoughts_are_taken_out_wherever_they_are():
    assert final_message("a<think>b</think>c<thinking>d</thinking>e") == "ace"
    assert final_message("a<THINK>b") == "a"
    assert final_message("<think>a<think>b</think>c</think>d") == "d"


def test_a_mark_in_backticks_is_what_the_text_is_about():
    assert read_response("Answer: `<think>`").answer == "<think>"


def test_the_end_of_a_turn_within_thoughts_is_thought():
    assert final_message("<think>a</s>b</think>c</s>d") == "c"


# -- markup


def test_wrappers_are_stripped_layer_by_layer_and_only_if_they_enclose_everything():
    assert unwrap("**`Paris`**") == "Paris"
    assert unwrap("$$\\boxed{\\textbf{Paris}}$$") == "Paris"
    assert unwrap("**A** and **B**") == "**A** and **B**"
    assert unwrap("\\boxed{a}{b}") == "\\boxed{a}{b}"
    assert unwrap("__init__") == "__init__"


@pytest.mark.parametrize("text", ["Washington, D.C.", "Apple Inc.", "Martin Luther King Jr.", "5 p.m.", "Wait..."])
def test_a_full_stop_that_belongs_to_a_word_stays(text):
    assert bare(text) == text


def test_the_last_box_is_found_whatever_braces_it_holds():
    assert last_box("\\boxed{a} \\boxed{\\frac{1}{\\sqrt{2}}}")[2] == "\\frac{1}{\\sqrt{2}}"
    assert last_box("\\boxed{\\{1, 2\\}}")[2] == "\\{1, 2\\}"
    assert last_box("\\boxed{open") is None
    assert last_box("\\boxed 5.")[2] == "5"


# -- confidences


def test_a_bare_one_is_read_as_its_run_says():
    percents, decimals = Scale.of(["90%", "80", "1"]), Scale.of(["0.6", "0.5", "1"])
    assert (percents.read("1"), decimals.read("1")) == (0.01, 1.0)
    assert (percents.read("7"), decimals.read("7")) == (0.07, None)
    assert (percents.read("0.95%"), decimals.read("0.95%")) == (0.0095, 0.95)


def test_a_run_that_states_both_kinds_or_none_decides_nothing():
    assert Scale().read("1") is None
    assert Scale(5, 5).read("1") is None
    assert Scale(95, 5).read("1") == 0.01
    assert Scale(95, 5).read("0.4") == 0.4


@given(st.integers(11, 100))
def test_all_spellings_of_a_percentage_are_the_same_number(percent):
    spellings = [f"{percent}%", f"{percent} percent", f"{percent}", f"{percent}/100", f"~{percent}%", f"({percent}%)"]
    assert {read_confidence(text) for text in spellings} == {percent / 100}


@given(st.text(alphabet="0123456789.,%/-+~ <>()[]eE\n") | st.text(max_size=30))
def test_what_is_read_lies_between_0_and_1(text):
    stated = read_stated(text)
    assert all(value is None or 0 <= value <= 1 for value in (stated.percent, stated.decimal))


def test_a_confidence_that_is_stated_and_not_read_is_shown():
    assert read_response("Answer: A\nConfidence: high").stated == "high"
    assert read_response("Answer: A\nConfidence: 50%\nConfidence: 60%").stated == "50% / 60%"
    assert read_response("Answer: A").stated == ""


# -- any text


SCRIPTS = "aZ éß Жя 世界 ﷺ नम 한글 ءا ０９ ٠٩ ½² \u0301\u200b\u202e\ufeff\u2028 \U0001f468\u200d\U0001f469 \ud7ff"
MARKS = [
    *(
        "Answer:",
        "A:",
        "Confidence:",
        "90%",
        "1",
        "\\boxed{",
        "\\frac{1}{2}",
        "}",
        "{",
        '{"answer":',
        '"',
        "**",
        "*",
        "_",
        "`",
    ),
    *(
        "```",
        "$",
        "$$",
        "\\[",
        "\\]",
        "<think>",
        "</think>",
        "[THINK]",
        "◁think▷",
        "<answer>",
        "</answer>",
        "<|im_end|>",
    ),
    *(
        "<|channel|>final<|message|>",
        "analysis",
        "assistantfinal",
        "#### ",
        "The answer is ",
        "Question:",
        "\n",
        "\n> ",
        "- ",
        " ",
    ),
    *(
        "Therefore ",
        ".",
        ",",
        "\\",
        "I don't know",
        "the answer alone",
        "<confidence>",
        "(",
        ")",
        "[",
        "]",
        "-",
        "!",
        "^",
    ),
]
PIECES = st.lists(st.sampled_from(MARKS) | st.text(alphabet=SCRIPTS, max_size=6), max_size=40).map("".join)


@given(PIECES | st.text())
@settings(max_examples=500)
def test_any_text_is_read_without_an_error_and_within_range(text):
    reading = read_response(text)
    assert reading.confidence is None or 0 <= reading.confidence <= 1
    assert reading.answer == reading.answer.strip()
    assert reading.status in {"non_answer", "empty"} or reading.answer
    assert isinstance(answer_key(reading.answer), str)
    assert not (reading.status == "empty" and reading.answer)


LONG = [
    *MARKS,
    "word ",
    "Confidence: 1%\n",
    "Answer: x\n",
    "Question: x\n",
    "A:\n",
    "- x\n",
    "a,\n",
    "e\u0301",
    "世",
    "a and\n",
]


@pytest.mark.parametrize("piece", LONG)
def test_a_long_degenerate_text_takes_time_in_proportion_to_its_length(piece):
    """Six times the length takes at most twenty times as long: a reader of quadratic time takes thirty-six."""
    for read in (read_response, answer_key, is_non_answer):
        short, long = (_cost(read, piece * (length // len(piece))) for length in (6_000, 36_000))
        assert long < max(20 * short, 0.5), read


def _cost(read, text):
    """Processor time of the faster of two readings."""
    times = []
    for _ in range(2):
        begun = time.process_time()
        read(text)
        times.append(time.process_time() - begun)
    return min(times)


def test_a_megabyte_of_one_word_is_read_in_two_seconds():
    assert _cost(read_response, "word " * 200_000) < 2
    assert _cost(answer_key, "word " * 200_000) < 2


LETTERS = st.text(st.characters(exclude_categories=("Cn", "Cs", "Co")), min_size=1, max_size=12)


@given(st.lists(st.lists(st.sampled_from(MARKS) | LETTERS, min_size=1, max_size=9).map("".join), min_size=9))
def test_random_texts_of_every_script_are_read(texts):
    for text in texts:
        reading = read_response(text)
        assert reading.status in {"non_answer", "empty"} or reading.answer
        assert answer_key(text) == answer_key(f" {text}\t")


# -- the readings of real responses


@pytest.mark.shared_data
def test_real_responses_are_read_like_their_own_parser_read_them_or_better(shared_data):
    """Counts over 4,000 responses labelled 'Guess' and 'Probability', against the marks that came with them.

    ``theirs``: responses that are an answer and a bare number on two lines, without labels, which we do not guess at.
    ``ours``: 'Paris; Probability: 0.9'. ``differ``: the response corrects itself and the last answer wins.
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
            same += kind == "both" and reading.answer == row["answer"].strip().rstrip(".")
    assert found == {"both": 2802, "theirs": 690, "ours": 182, "differ": 3, "neither": 323}
    assert same == 2780


def test_half_a_character_in_json_can_be_stored():
    assert read_response('{"answer": "a\\ud800"}').answer.encode()
