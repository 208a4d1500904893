"""The key of identical answers, and answers that answer nothing."""

import json
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semece.judges.answer_keys import is_non_answer, normalise


@pytest.mark.parametrize(
    ("text", "key"),
    [
        # case, white space, punctuation, articles
        ("  The Eiffel-Tower! ", "eiffel tower"),
        ("a\tb\nc", "b c"),
        ("**Paris**", "paris"),
        ("“Paris”", "paris"),
        ("Schindler's List", "schindlers list"),
        ("Simon & Garfunkel", "simon and garfunkel"),
        # compatibility forms and what has no width
        ("Ｐａｒｉｓ", "paris"),
        ("ﬁrst", "first"),
        ("Pa\u200bris", "paris"),
        ("\u202eParis\u202c", "paris"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        # abbreviations
        ("U.S. Army", "us army"),
        ("J.R.R. Tolkien", "jrr tolkien"),
        ("J. R. R. Tolkien", "j r r tolkien"),
        ("Ph.D.", "phd"),
        ("St. Louis", "st louis"),
        # numbers keep sign, point, fraction, exponent, unit marks
        ("1,250.5", "1250.5"),
        ("1,2", "1 2"),
        ("-5", "-5"),
        ("−5", "-5"),
        ("1914-1918", "1914 1918"),
        (".5", ".5"),
        ("5.", "5"),
        ("5½", "5 1/2"),
        ("10²", "10^2"),
        ("10⁻²", "10^-2"),
        ("5%", "5 %"),
        ("5 %", "5 %"),
        ("$5.00", "$ 5.00"),
        ("20°C", "20 ° c"),
        ("6:9", "6:9"),
        ("C++", "c++"),
        ("C#", "c#"),
        # an article that is a letter or the last word stays
        ("The The", "the"),
        ("Vitamin A", "vitamin a"),
        ("type A blood", "type a blood"),
        ("A", "a"),
        # accents stay
        ("Bäumer", "bäumer"),
        ("世界", "世界"),
        ("", ""),
        ("?!", ""),
    ],
)
def test_the_key_is_this(text, key):
    assert normalise(text) == key


@pytest.mark.parametrize(
    ("one", "other"),
    [("5", "-5"), ("3.14", "314"), ("1/2", "12"), ("5%", "5"), ("$5", "5"), ("C", "C++"), ("10²", "102"), ("é", "e")],
)
def test_what_changes_a_meaning_stays(one, other):
    assert normalise(one) != normalise(other)


@given(st.one_of(st.text(max_size=30), st.text("aAbtheTHE .,-'1234/½²%$°()\n\u200b&", max_size=30)))
def test_a_key_is_its_own_key(text):
    assert normalise(normalise(text)) == normalise(text)


@given(st.text(max_size=30))
def test_a_key_has_single_spaces_inside_only(text):
    assert " ".join(normalise(text).split()) == normalise(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "?",
        "...",
        "I don't know",
        "I do not know who wrote it.",
        "i dont know",
        "I really don't know the answer to that question",
        "Sorry, I don't know.",
        "I'm sorry, but I cannot answer that.",
        "I’m sorry, but I couldn’t find any information about it.",
        "I am not sure.",
        "I'm not sure which one you mean",
        "Not sure",
        "Unsure",
        "Unable to determine",
        "I am unable to answer this question",
        "I can't say",
        "Cannot be determined",
        "No idea",
        "I have no idea",
        "No information available",
        "Unknown",
        "The answer is unknown.",
        "It is unclear",
        "N/A",
        "idk",
        "Not enough information",
        "As an AI language model, I do not have access to real-time information.",
        "I don't recall",
        "I don't have that information",
    ],
)
def test_these_say_nothing(text):
    assert is_non_answer(text)


@pytest.mark.parametrize(
    "text",
    [
        "Paris",
        "No",
        "None",
        "Nothing",
        "Zero",
        "Not Paris",
        "I Don't Know How to Love Him",
        "(I Can't Get No) Satisfaction",
        "I don't know, but maybe Paris",
        "I'm not sure, but I think it is Paris",
        "I don't know exactly; probably Paris",
        "As an AI language model, I have no access to news. However, it was Asuka.",
        "The exact date is unknown, but it was in the fourth century.",
        "The Unknown Soldier",
        "Unforgiven",
        "Sorry",
        "No Country for Old Men",
        "Ich",
    ],
)
def test_these_say_something(text):
    assert not is_non_answer(text)


def test_every_phrase_of_other_languages_is_recognised_in_any_case():
    lines = resources.files("semece.judges").joinpath("non_answers.tsv").read_text(encoding="utf-8").splitlines()
    phrases = [line.split("\t") for line in lines if line and not line.startswith("#")]
    assert len({language for language, _ in phrases}) >= 20
    for _, phrase in phrases:
        assert is_non_answer(phrase)
        assert is_non_answer(f"  {phrase.upper()}. ")


@pytest.mark.shared_data
def test_at_most_half_of_real_answers_are_left_after_merging_identical_ones(shared_data):
    """TriviaQA, 500 questions x 20 sampled answers."""
    total = distinct = 0
    for line in (shared_data / "samples" / "triviaqa_500x20.jsonl").read_text(encoding="utf-8").splitlines():
        answers = json.loads(line)["answers"]
        total += len(answers)
        distinct += len({normalise(answer) for answer in answers if not is_non_answer(answer)})
    assert total == 10_000
    assert distinct <= 0.5 * total
