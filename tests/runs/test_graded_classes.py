"""Which classes of a run enter SemX, and where there is none."""

from dataclasses import replace

import numpy as np
import pytest

from semece.runs.graded_classes import MOST_UNGRADED, graded_classes
from semece.runs.summary_rows import headline, summary_frame
from semece.stats.estimators.semx import semx
from semece.stats.uncertainty.held_out_errors import held_out_gap, semx_ece
from tests.synthetic import make_page, make_views


def graded(view, verdict):
    """The view with the verdict of one class changed (None: taken away)."""
    label, new = verdict
    grades = {k: v for k, v in view.grades.items() if k != label} | ({} if new is None else {label: new})
    return replace(view, grades=grades)


def test_the_numbers_of_a_run_are_those_of_its_labels_and_grades():
    views = make_views(60)
    labels = [view.partition.labels for view in views]
    correct = [[float(view.grades[k] == "correct") for k in range(len(view.grades))] for view in views]
    row = make_page(views).summary
    gap, error = held_out_gap(semx(labels, correct)), semx_ece(semx(labels, correct))
    assert [row[f"held_out_gap{end}"] for end in ("", "_low", "_high")] == pytest.approx(gap[:3])
    assert [row[f"semx_ece{end}"] for end in ("", "_low", "_high")] == pytest.approx(error[:3])
    assert row["semx_ece_p_value"] == error.p_value
    assert row["semx_ece_debiased"] == pytest.approx(error.debiased)
    assert (row["semx_ece_n_questions"], row["semx_ece_n_select"]) == (60, 10)
    assert row["held_out_gap"] == pytest.approx(row["sem2_split_gap"])
    shown = headline(summary_frame([row]))
    assert {"held_out_gap", "semx_ece", "semx_ece_low"} <= set(shown.columns)


def test_refused_classes_are_removed_before_anything_else():
    views = make_views(40)
    refused = [graded(view, (0, "not_attempted")) for view in views]
    found = graded_classes(refused)
    assert found.refused.sum() == 40
    usable = [tuple(k for k in view.partition.labels if k != 0) for view in views]
    kept = [q for q, labels in enumerate(usable) if len(labels) > 1]
    wanted = semx(
        [[k - 1 for k in usable[q]] for q in kept],
        [[float(views[q].grades[k] == "correct") for k in range(1, len(views[q].grades))] for q in kept],
    )
    assert held_out_gap(found.residuals()).value == pytest.approx(held_out_gap(wanted).value)
    assert found.residuals().questions.tolist() == kept


def test_a_class_of_non_answers_is_refused_though_only_deployed_answers_are_graded():
    view = make_views(1)[0]
    blank = replace(view, partition=replace(view.partition, representatives=("", *view.partition.representatives[1:])))
    assert graded_classes([replace(blank, grades={})]).refused.tolist()[0] == 1


def test_few_ungraded_classes_widen_the_ends_and_many_leave_no_semx():
    views = make_views(60)
    some = [graded(view, (0, None)) if q == 5 else view for q, view in enumerate(views)]
    full, less = make_page(views).summary, make_page(some).summary
    assert less["held_out_gap_high"] >= full["held_out_gap_high"]
    assert less["held_out_gap_least"] < less["held_out_gap"]
    assert less["semx_ece_n_questions"] == 60  # the question stays, though nothing else has a number of it
    modes = [
        replace(view, grades={k: v for k, v in view.grades.items() if view.partition.labels.count(k) * 2 > 20})
        for view in views
    ]
    assert graded_classes(modes).residuals() is None
    row = make_page(modes).summary
    assert (row["held_out_gap"], row["semx_ece"], row["semx_ece_p_value"]) == (None, None, None)


def test_questions_with_one_answer_and_no_question_at_all_have_no_residuals():
    assert graded_classes([]).residuals() is None
    one = make_views(3, n=1)
    assert graded_classes(one).residuals() is None


def test_the_limit_on_ungraded_classes_is_of_their_chance_to_be_selected():
    views = make_views(100)
    for missing in (3, 30):
        part = [graded(view, (0, None)) if q < missing else view for q, view in enumerate(views)]
        classes = graded_classes(part)
        chance = semx(correct=classes.correct, counts=classes.counts, refused=classes.refused).ungraded.sum() / 100
        assert (classes.residuals() is None) == bool(chance > MOST_UNGRADED)
    assert np.isnan(graded_classes(part).correct).sum() == 30


def test_an_answer_without_words_is_no_answer_though_nobody_graded_it():
    view = make_views(1)[0]
    names = ("", *view.partition.representatives[1:])
    found = graded_classes([replace(graded(view, (0, None)), partition=replace(view.partition, representatives=names))])
    assert (found.refused[0], found.correct[0]) == (1, 0)
    assert not np.isnan(found.correct).any()
