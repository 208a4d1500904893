"""How a model is asked about an answer, and how its replies are read."""

import json
import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semece.canonical_json import digest
from semece.prompts import ELICITATIONS, AskedAnswer, Scale, load_text, response_prompt
from semece.prompts.elicitations import VERSION
from semece.prompts.probabilities import read_probability
from semece.prompts.word_scales import read_words

FOLDER = Path(__file__).parents[1] / "cases"
CASES, OTHERS, UNSEEN = (
    [
        json.loads(line)
        for line in (FOLDER / f"elicited_replies{name}.jsonl").read_text(encoding="utf-8").split("\n")
        if line
    ]
    for name in ("", "_of_other_styles", "_written_unseen")
)
SCHEMES = ("linguistic", "linguistic-mielke", "top-k", "two-stage", "p-true")
READ = {
    "elicited-1": "efc13dac4e6ff5a1",
    "elicited-2": "c77d7d26443f6591",
    "elicited-3": "97415bc9549ca0cd",
    "elicited-4": "66bc605919a0b0ee",
    "elicited-5": "d3c72656b6972c95",
}
"""What each version reads of the cases: a changed reader gets a new version."""


def _read(scheme, reply):
    """Read a reply as a run of such replies would."""
    found = ELICITATIONS[scheme].read(reply)
    scale = Scale.counted(guess.said for guess in found)
    return [[guess.answer, scale.decide(guess.said)] for guess in found]


def _wanted(case):
    value = case["value"]
    return value if isinstance(value, list) else [] if value is None else [[None, value]]


@pytest.mark.parametrize(
    ("cases", "scheme"),
    [(cases, scheme) for cases in (CASES, OTHERS) for scheme in SCHEMES]
    + [(UNSEEN, scheme) for scheme in SCHEMES if scheme != "top-k"],
)
def test_of_120_replies_none_is_misread_and_97_in_100_that_state_a_confidence_are_read(scheme, cases):
    rows = [case for case in cases if case["scheme"] == scheme]
    found = [_read(scheme, case["reply"]) for case in rows]
    wrong = [case["reply"] for case, got in zip(rows, found, strict=True) if got and not _same(got, _wanted(case))]
    stating = [got for case, got in zip(rows, found, strict=True) if _wanted(case)]
    assert len(rows) >= 120
    assert not wrong
    assert sum(map(bool, stating)) >= 0.97 * len(stating) > 80


def _same(found, wanted):
    return [one[0] for one in found] == [one[0] for one in wanted] and [one[1] for one in found] == pytest.approx(
        [one[1] for one in wanted]
    )


def test_readings_of_the_cases_change_only_with_the_version():
    made = digest([_read(case["scheme"], case["reply"]) for case in CASES + OTHERS + UNSEEN]).hex()[:16]
    assert READ[VERSION] == made, f"what {VERSION} reads has changed ({made}): give it a new version, and a line here"


ERRORS = (
    "10% chance of being wrong",
    "5% chance it is incorrect",
    "There is a 20% chance that my answer is wrong",
    "10% (chance of being mistaken)",
    "There is a 20% chance that, given the dates, I am wrong",
    "10% chance that it isn't right",
    "I can't be 100% certain",
    "I can’t be 100% sure",
    "Nothing is ever 100% certain",
    "100% certainty cannot be claimed",
)


@pytest.mark.parametrize("label", ["Confidence: ", ""])
@pytest.mark.parametrize("text", ERRORS)
def test_how_likely_an_error_is_and_a_certainty_that_is_denied_are_no_confidence(text, label):
    assert read_probability(label + text) == ()
    reading = response_prompt().read(f"Answer: Paris\n{label}{text}")
    assert (reading.answer, reading.confidence) == ("Paris", None)


@pytest.mark.parametrize(
    "line",
    [
        "Probability of error: 10%",
        "The probability that my answer is incorrect is 10%",
        "Confidence that my answer is wrong: 10%",
        "Confidence (of being wrong): 10%",
        "Uncertainty: 10%",
    ],
)
def test_a_label_that_speaks_of_error_labels_no_confidence(line):
    assert read_probability(line) == read_probability(f"{line}\nSo it is.") == ()
    assert response_prompt().read(f"Answer: Paris\n{line}").confidence is None


@pytest.mark.parametrize("error", ["Probability of error: 10%", "Confidence: 10% chance of being wrong"])
def test_a_labelled_confidence_beside_the_chance_of_an_error_is_read(error):
    (guess,) = read_probability(f"{error}\nConfidence: 85%")
    reading = response_prompt().read(f"Answer: Paris\n{error}\nConfidence: 85%")
    assert guess.said.certain == reading.confidence == 0.85


@pytest.mark.parametrize(
    "text",
    [
        "90%. I could be mistaken.",
        "90%, though I may be wrong",
        "90% (I might be wrong)",
        "I can't be sure, 90%",
        "90%. The other answer is incorrect.",
        "90% - the other answer is wrong",
        "90% because the other answer is wrong",
    ],
)
def test_a_doubt_in_another_clause_leaves_a_confidence_as_it_is(text):
    (guess,) = read_probability(f"Confidence: {text}")
    assert guess.said.certain == response_prompt().read(f"Answer: Paris\nConfidence: {text}").confidence == 0.9


UNCLEAR = {
    "linguistic": [
        "Confidence: medium (high for the country)",
        "Confidence: high. But maybe low",
        "I'd say high or medium",
        "I'd say it's high time",
        "So: not high",
        "The wall is high. Overall: high",
        "High confidence would be wrong",
        "Konfidenz: high oder low",
        "I would not say my confidence is low",
        "If the later edition is meant, my confidence is high",
        "You could say my confidence is high.",
        "I'm sure that its price is low.",
        "My confidence in its being wrong is high",
        "So high!",
        "Wow, so low!",
        'He said: "My confidence is high."',
        "Consumer confidence is low.",
        "I would describe the risk as high.",
        "The price is fixed, but low.",
        "| Q | Confidence |\n|---|---|\n| a | low |\n| b | high |",
    ],
    "linguistic-mielke": [
        "I'd say I'm not certain",
        "Confidence: certain. I do not know.",
        "Confidence: do not know / uncertain",
        "To be honest, not certain",
        "So: almost certain",
        "I'm not so certain.",
        "I'm not certain this is correct",
        "I am certain, unless the remake is meant.",
        "I am certain that my answer is incorrect.",
        "If it is the first, I am certain.",
        'He said: "I am certain."',
        "I am certain it was a mistake.",
        "I'm certain the answer should be 1751.",
    ],
    "two-stage": [
        "Confidence: 60% (there's a 30% chance that I'm right)",
        "Confidence: 80% (90% for the city)",
        "Confidence: N%, where N is between 0 and 100",
        "Confidence: 99%\nProbability: 0.98",
        "Confidence: 90%\n\nWait.\n\nConfidence: 50-60%",
        "| Confidence of error |\n|---|\n| 10% |",
        "Confidence: 50/50",
        "Confidence: 40/60",
        "Confidence: 50:50",
        "I may be wrong with a probability of 10%.",
        "If the map is right, 90%.",
        "So the turnout was 66%.",
        "She is 90% sure.",
        'He said: "I am 90% sure."',
        "Chance of rain: 60%",
        "There's a 60% chance of rain.",
        "The probability of heads is 50%.",
        "Confidence interval: 95%",
        "My answer: 64%",
        "I'm 90% sure it should be 1751 instead.",
        "I estimate 80% of its fish are gone.",
        "unclear\n\nQuestion: Who?\nAnswer: Kafka\nConfidence: 80%",
    ],
    "p-true": [
        "(A) is wrong",
        "(A). This is false.",
        "(A)\n\nThe answer is (B).",
        "(A)\n\n(B) is the right one.",
        "(A)\n\nThis is incorrect because it was 1912.",
        "(B). It is true.",
        "The answer is not (A).",
        "I am not sure the answer is (A).",
        "If the year is 1912, then it is (A).",
        "The answer is (A) if Paris is meant.",
        "The candidates are: (A)",
        "Yes, the possible answer is incorrect.",
        "Correct me if I am wrong.",
        "Hepatitis: B",
        "A. Einstein",
        "（A）或（B）",
        "The answer is true, so (B).",
        "No, (A).",
        "It is right. (B)",
        "(A) True is wrong.",
        "(A) True?",
        "(A) True\n(B) False\n\nIt depends.",
        "It is likely (A), but (B) is possible.",
        "Probably true.",
    ],
}


@pytest.mark.parametrize(("scheme", "reply"), [(name, reply) for name, replies in UNCLEAR.items() for reply in replies])
def test_where_two_readings_are_possible_there_is_none(scheme, reply):
    assert _read(scheme, reply) == []


@pytest.mark.parametrize(
    ("scheme", "reply", "value"),
    [
        ("linguistic", "high\n\nQuestion: Who?\nAnswer: Kafka\nConfidence: low", 0.7),
        ("linguistic-mielke", " certain\n\nQuestion: Who?\nAnswer: Kafka\nConfidence: uncertain", 5 / 6),
        ("two-stage", " 90%\n\nQuestion: Who?\nAnswer: Kafka\nConfidence: 80%", 0.9),
        ("p-true", "B)\n\nQuestion: Who?\nPossible answer: Kafka\nThe possible answer is: (A)", 0.0),
    ],
)
def test_a_reply_that_goes_on_to_another_question_is_read_up_to_there(scheme, reply, value):
    assert _same(_read(scheme, reply), [[None, value]])


def _of_confidence(scheme, pairs):
    return [(scheme, reply, value) for reply, value in pairs]


KINDS = [
    *_of_confidence(
        "linguistic",
        [
            ("I would say my confidence is low", 0.3),
            ("My knowledge of this war is thin, so I'd rate my confidence low.", 0.3),
            ("With two kings of that name, I'd assign a confidence of medium.", 0.5),
            ('My confidence in the answer "Lake Inari" is highest.', 0.9),
            ("It rests on one source. Medium.", 0.5),
            ("I can say this with high confidence.", 0.7),
            ("The final answer is: $\\boxed{\\text{low}}$", 0.3),
            ("low\nExplanation: the actor may be another one.", 0.3),
            ("Confidence: one of the five words lowest, low, medium, high, highest\nConfidence: high", 0.7),
            ("On this scale I select high.", 0.7),
            ("On a scale from lowest to highest, I'd say high.", 0.7),
            ("I would assign medium confidence to my answer.", 0.5),
            ("I lean towards medium confidence.", 0.5),
            ("Medium would be appropriate.", 0.5),
            ("The exact year escapes me, and therefore medium confidence.", 0.5),
            ("My confidence in that answer is low: I recall no details.", 0.3),
        ],
    ),
    *_of_confidence(
        "linguistic-mielke",
        [
            ("I'm certain this is correct", 5 / 6),
            ("Yes, certain.", 5 / 6),
            ("Yes, I am certain that Inari is a lake.", 5 / 6),
            ("It sounds right, but I'm uncertain.", 0.5),
            ("I'd say that I do not know.", 1 / 6),
            ("I must admit I do not know.", 1 / 6),
            ("I do not know the answer to this question.", 1 / 6),
            ("I am certain Inari is a lake.", 5 / 6),
            ("I'm not certain, so I'd say uncertain.", 0.5),
            ("I am uncertain regarding the exact year.", 0.5),
            ("Probably correct, but uncertain.", 0.5),
            ("$\\boxed{do\\ not\\ know}$", 1 / 6),
        ],
    ),
    *_of_confidence(
        "two-stage",
        [
            ("The lake was named in a survey of 1751. I am 80% confident in this answer.", 0.8),
            ("I'd estimate a 70% chance that my answer is correct.", 0.7),
            ("Yes, I think so. 93%", 0.93),
            ("I would assign an 80% probability to my answer.", 0.8),
            ("I'd assign a probability of 80% to my answer being correct.", 0.8),
            ("I'd lower my confidence to about 80%.", 0.8),
            ("I'm 80% sure it was 1751.", 0.8),
            ("Chance of being correct: 80%", 0.8),
            ("The probability is $\\boxed{85\\%}$.", 0.85),
        ],
    ),
    *_of_confidence(
        "p-true",
        [
            ("Yes, (A).", 1.0),
            ("(A) True\n(B) False\n\nAnswer: (B)", 0.0),
            ("Most likely (A).", 1.0),
            ("I am not certain, but I'd go with (B) False.", 0.0),
            ("B (False)", 0.0),
            ("Brahe → (A)", 1.0),
            ("Answer: (B) False\n\nExplanation: (A) would be true only for Kepler.", 0.0),
            ("No. (B) False", 0.0),
            ("So the answer is (A) True", 1.0),
            ("The possible answer is wrong: it was Brahe, not Kepler. (B)", 0.0),
            ("Inari is in Finland. (A) True", 1.0),
            ("Option (B) is correct.", 0.0),
            ("The year should be 1751, hence (B).", 0.0),
            ("Die Antwort lautet (A).", 1.0),
        ],
    ),
]


@pytest.mark.parametrize(("scheme", "reply", "value"), KINDS)
def test_sentences_that_state_a_confidence_are_read(scheme, reply, value):
    assert _same(_read(scheme, reply), [[None, value]])


GUESSED = [["Lisbon", 0.8], ["Porto", 0.1]]


@pytest.mark.parametrize(
    "reply",
    [
        "G1: Lisbon (80%)\nG2: Porto (10%)",
        "G1: Lisbon - 80%\nG2: Porto - 10%",
        "G1: Lisbon (P1: 80%)\nG2: Porto (P2: 10%)",
        "G1: Lisbon → 80%\nG2: Porto → 10%",
        "G1: Lisbon 80%\nG2: Porto 10%",
        "G1: The first guess is Lisbon\nP1: 80%\nG2: The second guess is Porto\nP2: 10%",
        "1. Lisbon\nP1: 80%\n2. Porto\nP2: 10%",
        "1. Lisbon with an 80% probability\n2. Porto with a 10% probability",
        "### Guess 1\nLisbon\nProbability: 80%\n\n### Guess 2\nPorto\nProbability: 10%",
        "[G1] Lisbon\n[P1] 80%\n[G2] Porto\n[P2] 10%",
        "G1: Lisbon<br>P1: 80%<br>G2: Porto<br>P2: 10%",
        "Most likely: Lisbon (80%)\nSecond: Porto (10%)",
        "G1: Lisbon: 80%\nG2: Porto: 10%",
        'G1: "Lisbon" [80%]\nG2: "Porto" [10%]',
        "G1: Lisbon, with a probability of 80%\nG2: Porto, with a probability of 10%",
        "G1. Lisbon\nP1. 80%\nG2. Porto\nP2. 10%",
        "G1: Lisbon\n80%\nG2: Porto\n10%",
        "G1 (80%): Lisbon\nG2 (10%): Porto",
        "G1: Lisbon\nP1: 80% (likely)\nG2: Porto\nP2: 10% (unlikely)",
        "1) Lisbon — 0.8\n2) Porto — 0.1",
        "1. **Lisbon (80%)** - the capital\n2. **Porto (10%)** - the other large city",
        "1. Lisbon\n   Probability: 80%\n2. Porto\n   Probability: 10%",
        "- Lisbon: 80%\n- Porto: 10%",
        "First guess: Lisbon (80%)\nSecond guess: Porto (10%)",
        "Guess: Lisbon\nProbability: 80%\nGuess: Porto\nProbability: 10%",
        "| # | Guess | Probability |\n|:-:|---|--:|\n| 1 | Lisbon | 80% |\n| 2 | Porto | 10% |",
        "| G | P |\n|---|---|\n| G1: Lisbon | P1: 80% |\n| G2: Porto | P2: 10% |",
        '[{"guess": "Lisbon", "probability": 0.8}, {"guess": "Porto", "probability": 0.1}]',
        '{"guesses": [{"answer": "Lisbon", "probability": 80}, {"answer": "Porto", "probability": 10}]}',
        '{"Lisbon": 0.8, "Porto": 0.1}',
        " Lisbon\nP1: 80%\nG2: Porto\nP2: 10%\n\nQuestion: Who wrote Emma?\nG1: Austen\nP1: 97%",
        "G1: Lisbon\nP1: 80%\nG2: Porto\nP2: 10%\n\nQ: Who wrote Emma?\nG1: Austen\nP1: 97%",
    ],
)
def test_guesses_are_read_without_what_stands_between_them_and_their_probabilities(reply):
    assert _same(_read("top-k", reply), GUESSED)


@pytest.mark.parametrize(
    ("reply", "guesses"),
    [
        ("G1: Georgia (country) (60%)\nG2: 3.5% (4%)", [["Georgia (country)", 0.6], ["3.5%", 0.04]]),
        ("G1: U-2 - 50%\nG2: AC/DC - 30%", [["U-2", 0.5], ["AC/DC", 0.3]]),
        ('G1: "Weird Al" Yankovic\nP1: 50%\nG2: \\text{Ne}\nP2: 5\\%', [['"Weird Al" Yankovic', 0.5], ["Ne", 0.05]]),
        ("G1: 1889 - probability 85%\nG2: 12:30 (8%)", [["1889", 0.85], ["12:30", 0.08]]),
    ],
)
def test_marks_that_belong_to_a_guess_stay(reply, guesses):
    assert _same(_read("top-k", reply), guesses)


@pytest.mark.parametrize(
    "reply",
    [
        "1. Exports rose by 12%.\n2. Imports fell by 3%.",
        "Of the voters: 60% from towns, 40% from villages",
        "1. Lisbon (2,870,000)\n2. Porto (1,720,000)",
        "G1: Lisbon, 1755\nG2: Porto, 1123",
        "G1: Turnout 60%\nG2: Turnout 50%",
        "G1: about 60%\nG2: about 50%",
        "P1: 80%\nP2: 10%",
        "G1: Lisbon\nP1: 80%\nG2: Porto\nP2: ?",
    ],
)
def test_numbers_that_are_no_probabilities_make_no_guesses(reply):
    assert _read("top-k", reply) == []


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Kemi. I'm 80% sure.", "Kemi"),
        ("Kemi (80% confident)", "Kemi"),
        ("Answer: Kemi, with a confidence of 80%", "Kemi"),
        ("Answer: Kemi [80% certain]", "Kemi"),
        ("Answer: 15% - I'm 80% confident", "15%"),
        ("Answer: Kemi\n80%", "Kemi"),
        ("Answer: Kemi\nI am 80% confident because I have seen the map.", "Kemi"),
        ("Answer: Kemi\nThere is an 80% chance that this is correct.", "Kemi"),
        ("Answer: Kemi\nProbability of being correct: 80%", "Kemi"),
        ("Answer: Kemi\nI'd give it an 80% chance.", "Kemi"),
        ("Answer: Kemi\nI'm 80% sure it's Kemi.", "Kemi"),
        ("Answer: Kemi\nConfidence in answer: 80%", "Kemi"),
        ("Answer: Kemi (80% likely)", "Kemi"),
        ("The answer is Kemi, and I am 80% sure.", "Kemi"),
        ("I'm 80% sure it's Kemi.", "it's Kemi"),
        ("| Answer | Confidence |\n|---|---|\n| Kemi | 80% |", "Kemi"),
        ("Kemi\nConfidence: 80%\n\nQuestion: Who wrote Emma?\nAnswer: Austen\nConfidence: 97%", "Kemi"),
    ],
)
def test_a_confidence_in_passing_is_read_and_is_no_part_of_the_answer(reply, answer):
    reading = response_prompt().read(reply)
    assert (reading.answer, reading.confidence) == (answer, 0.8)


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Answer: Kemi\nConfidence: 50/50", "Kemi"),
        ("Answer: Kemi\nConfidence: 50:50", "Kemi"),
        ("The rate is 80%", "The rate is 80%"),
        ("Answer: 80%", "80%"),
        ("Answer: 95% certainty", "95% certainty"),
        ("Answer:\n95% confidence", "95% confidence"),
        ("About 70% are sure to vote", "About 70% are sure to vote"),
        ("Answer: Kemi\nI'm not 80% sure.", "Kemi"),
        ("Answer: Kemi\nIf it is in Finland, I'm 80% sure.", "Kemi"),
        ("Answer: Kemi\nI was 80% sure it was Oulu.", "Kemi"),
        ("Answer: Kemi\nI'm 80% sure it is in Lapland.", "Kemi"),
        ("Answer: Kemi (80%)", "Kemi (80%)"),
        ("Answer: Kemi\nSome 80% of its people agree.", "Kemi"),
        ("Answer: Kemi\nProbability of rain: 60%", "Kemi"),
        ("The drug works with 95% confidence", "The drug works with 95% confidence"),
    ],
)
def test_a_percentage_of_something_else_is_no_confidence(reply, answer):
    reading = response_prompt().read(reply)
    assert (reading.answer, reading.confidence) == (answer, None)


@pytest.mark.shared_data
def test_real_replies_with_a_probability_are_read_as_their_authors_read_them(shared_data):
    files = sorted((shared_data / "verbalized").glob("*.jsonl"))
    rows = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").split("\n") if line]
    found = [(row, read_probability(row["response"])) for row in rows]
    both = [(row, got) for row, got in found if got and row["confidence"] >= 0]
    assert len(both) > 3400
    assert all(got[0].said.decimal == pytest.approx(row["confidence"]) for row, got in both)
    stating = [got for row, got in found if re.search(r"\d", row["response"])]
    assert sum(map(bool, stating)) >= 0.97 * len(stating) > 3800


@pytest.mark.parametrize("name", ELICITATIONS)
@pytest.mark.parametrize("style", ["chat", "completion"])
def test_a_text_shows_question_and_answer_and_no_placeholder_that_is_ours(name, style):
    asked = AskedAnswer("Capital of France?", "Paris\n(B) False", ("Paris", "Lyon {answer}"))
    turns = ELICITATIONS[name].turns(asked, load_text(ELICITATIONS[name].text_name(style)), style=style)
    whole = "\n".join(content for _, content in turns)
    assert "Question: Capital of France?" in whole.splitlines()
    assert ("Paris (B) False" in whole) == ELICITATIONS[name].about_answer
    assert "{question}" not in whole
    assert whole.count("{answer}") == (name == "p-true")  # a model's own text is left alone
    assert [role for role, _ in turns] in (["user", "assistant", "user"], ["user"], ["completion"])


def test_a_reply_that_goes_on_where_the_text_ends_is_read_whole():
    replies = {"linguistic": " high", "linguistic-mielke": " do not know", "two-stage": " 85%", "p-true": "B)"}
    assert all(ELICITATIONS[name].read(reply) for name, reply in replies.items())
    found = _read("top-k", " Paris\nP1: 90%\nG2: Lyon\nP2: 4%\nG3: Nice\nP3: 3%\nG4: Lille\nP4: 3%\n")
    assert _same(found, [["Paris", 0.9], ["Lyon", 0.04], ["Nice", 0.03], ["Lille", 0.03]])


@pytest.mark.parametrize("text", ["The answer is (A) ", "Confidence: high. Wait. ", "(A)\n(B) would be ", "so: "])
def test_ten_times_the_text_takes_less_than_forty_times_the_work(text):
    def seconds(times):
        begun = time.process_time()
        for scheme in ELICITATIONS:
            ELICITATIONS[scheme].read(text * times)
        return time.process_time() - begun

    seconds(10)
    assert seconds(2000) < 0.05 + 40 * seconds(200)


@given(st.text(max_size=80))
def test_no_text_breaks_a_reader_and_a_confidence_lies_between_0_and_1(text):
    for scheme in ELICITATIONS:
        for _, value in _read(scheme, text):
            assert value is None or 0 <= value <= 1


def test_a_word_in_an_answer_is_no_confidence():
    assert read_words("Answer: high", alone=False) == ()
    assert response_prompt("linguistic").read("Answer: Low\nConfidence: high").confidence == 0.7
    assert response_prompt("linguistic").read("Answer: Paris").confidence is None
    assert response_prompt("linguistic-mielke").read(
        "Answer: Paris\nConfidence: do not know"
    ).confidence == pytest.approx(1 / 6)


def test_what_is_asked_for_is_part_of_the_hash_and_of_the_reading():
    ours = "Q: {question}"
    prompts = [response_prompt(name, text=ours) for name in ("percent", "none", "linguistic", "linguistic-mielke")]
    assert len({prompt.hash for prompt in prompts}) == len({prompt.reading_id for prompt in prompts}) == 4
