"""Answers that answer nothing."""

from importlib import resources

import pytest

from semece.prompts.non_answers import is_non_answer


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
        "That information isn't available to me.",
        "The question cannot be answered as stated.",
        "Hmm, I'd have to look that up.",
        "Sorry, I don't have an answer for you, but Lyon is a city there.",
        "\u200b",
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
        "==",
        "*",
        "+",
        "I don't have an answer, but it is Paris",
    ],
)
def test_these_say_something(text):
    assert not is_non_answer(text)


def test_every_phrase_of_other_languages_is_recognised_in_any_case():
    lines = resources.files("semece.prompts").joinpath("non_answers.tsv").read_text(encoding="utf-8").splitlines()
    phrases = [line.split("\t") for line in lines if line and not line.startswith("#")]
    assert len({language for language, _ in phrases}) >= 20
    for _, phrase in phrases:
        assert is_non_answer(phrase)
        assert is_non_answer(f"  {phrase.upper()}. ")
