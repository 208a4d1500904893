"""A question of a run: why it enters no metric, and what its judge still owes."""

import asyncio

import pytest

from semece.prompts import ResponsePrompt
from semece.records import Estimate, Partition, Question, Response
from semece.runs.question_views import QuestionView, with_estimates
from semece.runs.run import Run
from semece.sampling.settings import Settings
from tests.making_runs import execute

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
    empty = Estimate("q", "incomplete", 0, 0)
    bare = QuestionView(QUESTION, responses, classes, verdicts or {}, empty, missing=missing)
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


def test_replies_are_read_once_and_read_again_where_there_are_more(tmp_path, monkeypatch):
    """What a reader found is stored; more replies to a question are another source."""
    path, settings = tmp_path / "a.db", Settings("fake/?pmf=.6,.4", "starter", n=4, limit=3, judge="rules")
    asyncio.run(execute(settings, path))
    seen, real = [], ResponsePrompt.read
    monkeypatch.setattr(ResponsePrompt, "read", lambda prompt, text: seen.append(text) or real(prompt, text))
    with Run(path) as run:
        first = run.question_views()
    assert len(seen) == 12
    with Run(path) as run:
        assert run.question_views() == first
        assert run.question(first[1].question.id) == first[1]
    assert len(seen) == 12
    asyncio.run(execute(Settings("fake/?pmf=.6,.4", "starter", n=6, limit=3, judge="rules"), path))
    seen.clear()
    with Run(path) as run:
        assert [view.responses[:4] for view in run.question_views()] == [view.responses for view in first]
    assert len(seen) == 18
