"""Answers that do not commit themselves."""

import pytest

from semece.judges.hedges import is_hedged
from semece.records import Question

QUESTION = Question("1", "When did the Little House or Nothing tour begin?", ("1990", "Truth or Dare"))


@pytest.mark.parametrize(
    "answer",
    [
        "I think it is 1990",
        "Maybe 1990",
        "1990, but I am not entirely sure",
        "It might be 1990.",
        "could have been 1990",
        "Most likely 1990",
        "1990 or 1991",
        "either in the spring of 1990 or in the autumn of the year after that, when they toured again",
        "about 1990",
        "approximately 300 miles",
        "ABOUT 1990",
    ],
)
def test_doubt_alternatives_and_approximations_are_hedges(answer):
    assert is_hedged(QUESTION, answer)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "1990",
        "Truth or Dare",
        "the Little House or Nothing tour",
        "May 1990",
        "Might and Magic",
        "an oar",
        "whether or not they came",
        "It began in 1990, and around 300 people or more came to see the first concert of the tour",
        "Oregon",
    ],
)
def test_plain_answers_are_none(answer):
    assert not is_hedged(QUESTION, answer)


def test_an_alternative_that_no_reference_names_is_one():
    assert is_hedged(Question("1", "Which game?", ("Chess",)), "Truth or Dare")
    assert not is_hedged(Question("1", "Which game?", ("Chess", "Truth or Dare")), "Truth or Dare!")
