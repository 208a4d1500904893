"""Distinct questions and how often they occur: the same as counting, whatever the parts."""

from collections import Counter
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semece.stats import estimate, merge, partial, weighted_estimates
from semece.stats.counts import weighted_table
from semece.stats.estimators.semx import semx
from semece.stats.uncertainty.bootstrap import Resampling, paired_bootstrap
from semece.stats.uncertainty.consistency import calibration_test, consistency_band
from semece.stats.uncertainty.exclusions import accuracy_bounds, ece_bounds
from semece.stats.uncertainty.held_out_errors import held_out_gap, semx_ece

QUESTION = st.tuples(
    st.lists(st.integers(-1, 3), min_size=0, max_size=7), st.lists(st.integers(0, 3), min_size=4, max_size=4)
)


def end_to_end(lists):
    return np.array(list(chain(*lists)), dtype=np.int64), np.cumsum([0, *map(len, lists)])


def table_of(questions):
    labels, grades = ([list(one[k]) for one in questions] for k in (0, 1))
    return partial(*end_to_end(labels), *end_to_end(grades))


def rows_of(table):
    """What a table says, as a bag of questions."""
    found = Counter()
    ends = table.counts.offsets
    for r, weight in enumerate(table.weights.tolist()):
        place = slice(ends[r], ends[r + 1])
        classes = tuple(zip(table.counts.values[place].tolist(), table.grades[place].tolist(), strict=True))
        found[classes, int(table.failed[r])] += weight
    return found


def counted(questions):
    """The same bag, counted with dictionaries."""
    found = Counter()
    for labels, grades in questions:
        counts = Counter(label for label in labels if label >= 0)
        classes = sorted(((count, grades[label]) for label, count in counts.items()), reverse=True)
        found[tuple(classes), labels.count(-1)] += 1
    return found


@given(st.lists(QUESTION, min_size=1, max_size=25), st.randoms(use_true_random=False))
def test_a_table_is_a_bag_of_questions(questions, random):
    whole = table_of(questions)
    assert rows_of(whole) == counted(questions)
    shuffled = random.sample(questions, len(questions))
    cut = random.randint(0, len(questions))
    parts = [table_of(part) for part in (shuffled[:cut], shuffled[cut:]) if part]
    merged = merge(parts)
    assert np.array_equal(whole.counts.values, merged.counts.values)
    assert np.array_equal(whole.counts.offsets, merged.counts.offsets)
    assert all(map(np.array_equal, whole[1:], merged[1:]))


def test_rows_that_meet_in_a_slot_are_told_apart(monkeypatch):
    """With as few slots as rows nearly every row meets another."""
    from semece.stats.counts import tally_kernels

    number_rows = tally_kernels.number_rows
    monkeypatch.setattr(
        tally_kernels, "number_rows", lambda rows, number, first, _: number_rows(rows, number, first, np.full(512, -1))
    )
    questions = [([0] * k + [1] * j, [g, 0, 0, 0]) for k in range(1, 9) for j in range(9) for g in range(4)]
    assert rows_of(table_of(questions * 2)) == counted(questions * 2)


def test_further_keys_tell_questions_apart():
    labels, offsets, grades, ends = np.array([0, 0, 0, 0]), np.array([0, 2, 4]), np.array([1, 1]), np.array([0, 1, 2])
    stated = np.array([2, 2]), np.array([1.5, 1.25])
    assert partial(labels, offsets, grades, ends).weights.tolist() == [2]
    table = partial(labels, offsets, grades, ends, stated=stated)
    assert sorted(table.verbalized.tolist()) == [0.625, 0.75]
    assert partial(labels, offsets, grades, ends, group=np.array([0, 1])).weights.tolist() == [1, 1]


def test_a_label_without_a_grade_is_refused_with_its_question():
    with pytest.raises(ValueError, match=r"labels of question 1 must be below its number of grades \(1\); got 2"):
        partial(np.array([0, 0, 2]), np.array([0, 1, 3]), np.array([1, 1]), np.array([0, 1, 2]))


@pytest.fixture(scope="module")
def questions():
    rng = np.random.default_rng(5)
    pmf = [0.6, 0.25, 0.1, 0.05]
    return [
        (rng.choice(4, size=6, p=pmf).tolist(), [*(rng.random(3) < pmf[:3]).astype(int).tolist(), 0])
        for _ in range(400)
    ]


def replicated(table):
    """Every question of a table by itself."""
    return np.repeat(np.arange(len(table.weights)), table.weights)


def test_estimates_and_semx_of_a_table_are_those_of_its_questions(questions):
    table = table_of(questions)
    assert len(table.weights) < 200
    whole = estimate([q for q, _ in questions], [g[: max(q) + 1] for q, g in questions])
    found = weighted_estimates(table)[replicated(table).tolist()]
    for name in ("margin", "top_two_mass", "sem1", "sem2", "correct", "correct_split"):
        np.testing.assert_allclose(np.sort(found[name]), np.sort(whole[name]), atol=1e-12)
    direct = semx([q for q, _ in questions], [g[: max(q) + 1] for q, g in questions])
    tabled = semx(counts=table.counts, correct=table.correct)
    for measure in (held_out_gap, semx_ece):
        one, other = measure(direct), measure(tabled, weights=table.weights)
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_weights_equal_replication(questions):
    table = table_of(questions)
    frame, w = weighted_estimates(table), table.weights
    sem1, sem2, correct = (frame[name].to_numpy() for name in ("sem1", "sem2", "correct"))
    every = replicated(table)
    low = frame["margin"].to_numpy() < 0.4
    one = paired_bootstrap(sem1, sem2, correct, low_margin=low, weights=w)
    other = paired_bootstrap(sem1[every], sem2[every], correct[every], low_margin=low[every])
    for part in ("overall", "low_margin"):
        ours, theirs = getattr(one, part), getattr(other, part)
        assert (ours.n_questions, ours.note) == (theirs.n_questions, theirs.note)
        np.testing.assert_allclose(
            [*ours.mean_difference, *ours.ece_difference], [*theirs.mean_difference, *theirs.ece_difference], atol=1e-12
        )
    bounds = accuracy_bounds(correct, 7, weights=w), ece_bounds(sem1, correct, sem1, weights=w, excluded_weights=w)
    plain = accuracy_bounds(correct[every], 7), ece_bounds(sem1[every], correct[every], sem1[every])
    np.testing.assert_allclose(bounds, plain, atol=1e-12)


def test_null_draws_of_weighted_rows_are_those_of_replicated_ones(questions):
    """The draws differ, so p-values and bands agree up to their noise."""
    rng = np.random.default_rng(3)
    confidence = np.repeat([0.2, 0.55, 0.9], 2)
    correct, weights = np.tile([0.0, 1.0], 3), np.array([60, 25, 40, 60, 8, 40])
    every = np.repeat(np.arange(6), weights)
    one = calibration_test(confidence, correct, weights=weights, rng=rng)
    other = calibration_test(confidence[every], correct[every])
    assert one.statistic == pytest.approx(other.statistic, abs=1e-12)
    assert one.p_value == pytest.approx(other.p_value, abs=0.05)
    bands = consistency_band(confidence, weights=weights), consistency_band(confidence[every])
    np.testing.assert_allclose(bands[0].low, bands[1].low, atol=0.03)
    with pytest.raises(ValueError, match="give either ids or weights; got both"):
        calibration_test(confidence, correct, weights=weights, ids=np.arange(6))


def test_sums_by_moments_have_the_ends_of_sums_by_draws():
    rng = np.random.default_rng(1)
    n = 200_000
    first = rng.integers(10, 51, n) / 50
    second, correct = np.round(first - 0.04, 2), (rng.random(n) < first**2).astype(float)
    by_draws, by_moments = (
        paired_bootstrap(first, second, correct, resampling=Resampling(method=method)).overall
        for method in ("draws", "moments")
    )
    np.testing.assert_allclose(by_draws.ece_difference, by_moments.ece_difference, atol=1e-4)
    np.testing.assert_allclose(by_draws.mean_difference, by_moments.mean_difference, atol=1e-4)
    with pytest.raises(ValueError, match="method must be one of"):
        paired_bootstrap(first, second, correct, resampling=Resampling(method="fast"))


def test_grades_have_the_numbers_that_files_have():
    assert (weighted_table.WRONG, weighted_table.RIGHT, weighted_table.UNGRADED, weighted_table.NO_ANSWER) == (
        0,
        1,
        2,
        3,
    )
