"""Which judge is recommended."""

import pytest

from semece.compare.judge_eval import Evaluation
from semece.compare.labelled_files import GradedAnswer, GroupedAnswers, Labelled
from semece.compare.recommendation import recommendations
from semece.records import Question


def graded(questions):
    """One answer to each question, which people call correct."""
    rows = tuple(GradedAnswer(Question(f"q{i}", "?", ("x",)), "x", True, i) for i in range(questions))
    return Labelled(rows, ())


def evaluation(judge, rights, of):
    verdicts = ("correct",) * rights + ("incorrect",) * (of - rights)
    return Evaluation(judge, verdicts, (), {})


def test_the_judge_that_agrees_most_is_recommended_if_the_difference_is_no_chance():
    found = [evaluation("rules", 50, 100), evaluation("openai/x", 90, 100)]
    (said,) = recommendations(graded(100), found)
    assert said == "To grade: openai/x, which agrees with people most often (0.90)."


def test_a_judge_without_a_model_is_recommended_if_the_difference_may_be_chance():
    found = [evaluation("openai/x", 90, 100), evaluation("rules", 88, 100)]
    (said,) = recommendations(graded(100), found)
    # 2 of 100 questions differ: the standard error is sqrt(100/99 * 100 * var)/100, var = .02 - .02 ** 2
    assert said.startswith("To grade: rules (0.88); openai/x agrees with people more often (0.90), but the difference")
    assert said.endswith("may be chance: 0.02 [-0.01, 0.05].")


def test_nothing_is_recommended_of_one_judge_or_of_few_questions():
    assert not list(recommendations(graded(100), [evaluation("rules", 50, 100)]))
    assert not list(recommendations(graded(29), [evaluation("rules", 1, 29), evaluation("exact", 29, 29)]))


def test_verdicts_that_are_missing_count_against_a_judge():
    blank = Evaluation("openai/x", (None,) * 50 + ("correct",) * 50, (), {})
    (said,) = recommendations(graded(100), [evaluation("rules", 80, 100), blank])
    assert said == "To grade: rules, which agrees with people most often (0.80)."


@pytest.mark.parametrize(
    ("judge", "spelled"), [("local/x", "local/x#pairs"), ("local/x#strict", "local/x#pairs,strict")]
)
def test_a_model_whose_lists_cannot_be_used_is_sent_to_pairs(judge, spelled):
    rows = tuple(GroupedAnswers(Question(f"q{i}", "?"), ("a", "b", "c"), (0, 0, 1), i) for i in range(200))
    usable = Evaluation("exact", (), ((0, 1, 2),) * 200, {})
    listed = Evaluation(judge, (), (None,) * 50 + ((0, 0, 1),) * 150, {})
    said = list(recommendations(Labelled((), rows), [usable, listed]))
    assert said[0] == f"To group: {judge}, which agrees with people most often (0.75)."
    assert said[1] == f"25 % of the classes that {judge} lists cannot be used: try {spelled}."
    by_pairs = Evaluation("local/x#pairs", (), (None,) * 200, {})
    assert len(list(recommendations(Labelled((), rows), [usable, by_pairs]))) == 1
