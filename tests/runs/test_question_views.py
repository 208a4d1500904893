"""A question of a run: why it enters no metric, and what its judge still owes."""

import pytest

from semece.records import Estimate, Partition, Question, Response
from semece.runs.question_views import QuestionView, with_estimates

QUESTION = Question("q", "Which?", ("a",))
VIEW = {"n": 4, "min_responses": None, "not_attempted": "incorrect"}


def view_of(answers, verdicts=None, *, missing=0, **settings):
    """Give the numbers of a question whose usable answers are these; a None is a response without a usable answer."""
    responses = tuple(
        Response("q", i, answer or "", answer or "", None, "parsed" if answer is not None else "truncated")
        for i, answer in enumerate(answers)
    )
    usable = [answer for answer in answers if answer is not None]
    classes = None
    if usable and verdicts is not None:
        names = list(dict.fromkeys(usable))
        classes = Partition("q", tuple(map(names.index, usable)), tuple(names), "exact")
    bare = QuestionView(QUESTION, responses, classes, verdicts or {}, Estimate("q", "", 0, 0), missing=missing)
    [found] = with_estimates([bare], VIEW | settings)
    return found.estimate.status


RIGHT = {0: "correct", 1: "incorrect"}


def test_a_question_with_all_it_needs_is_complete():
    assert view_of(["a", "a", "b", "a"], RIGHT) == "complete"


@pytest.mark.parametrize(
    ("answers", "settings", "status"),
    [
        (["a", "a", None, None], {}, "complete"),
        (["a", None, None, None], {}, "too_few"),
        (["a", None], {"n": 2}, "too_few"),
        (["a"], {"n": 1}, "too_few"),
        (["a"], {"n": 4, "sizes": {"q": 1}}, "too_few"),
        (["a", "b"], {"n": 50, "sizes": {"q": 2}}, "complete"),
        (["a", "a", "b"], {"min_responses": 3}, "complete"),
        (["a", "a", None], {"min_responses": 3}, "too_few"),
    ],
)
def test_fewer_than_two_usable_responses_or_than_asked_for_are_too_few(answers, settings, status):
    assert view_of(answers, RIGHT, **settings) == status


def test_one_response_of_one_is_too_few_even_where_no_judge_grouped_it():
    assert view_of(["a"], None, sizes={"q": 1}) == "too_few"


def test_what_is_missing_comes_first_and_a_question_without_classes_says_so():
    assert view_of(["a"], RIGHT, missing=1) == "incomplete"
    assert view_of(["a", "a"], None) == "unpartitioned"
    assert view_of(["a", "a"], {}) == "ungraded"


def test_excluding_what_was_not_attempted_looks_at_the_deployed_answer_alone():
    """The deployed answer is the most frequent one; a rare class that was not attempted excludes nothing."""
    rare, often = {0: "correct", 1: "not_attempted"}, {0: "not_attempted", 1: "correct"}
    answers = ["a", "a", "a", "b"]
    assert view_of(answers, rare, not_attempted="exclude") == "complete"
    assert view_of(answers, often, not_attempted="exclude") == "not_attempted"
    assert view_of(answers, often) == "complete"
    tied = {0: "correct", 1: "not_attempted", 2: "incorrect"}
    assert view_of(["a", "a", "b", "b", "c"], tied, not_attempted="exclude") == "not_attempted"
