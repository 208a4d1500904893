"""How good a judge is: shares by hand, kappa against an oracle, intervals that keep questions together."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semece.stats.diagnostics import partition_agreement
from semece.stats.diagnostics.judge_quality import cohen_kappa, grading_quality, pair_quality, partition_quality
from semece.stats.uncertainty.bootstrap import Resampling

PEOPLE = [1, 1, 1, 1, 0, 0, 0, 0, 0, 0]
JUDGE = [1, 1, 1, 0, 1, 0, 0, 0, 0, 0]
FEW = Resampling(n_resamples=50)
ANSWERS = st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 4)), min_size=1, max_size=30)


def values(quality):
    return {name: getattr(quality, name).value for name in quality._fields if hasattr(getattr(quality, name), "value")}


# -- verdicts


def test_the_shares_are_those_counted_by_hand():
    quality = grading_quality(PEOPLE, JUDGE)
    assert quality.confusion == (3, 1, 1, 5)
    assert quality.answers == quality.questions == 10
    expected = {"agreement": 0.8, "precision": 3 / 4, "recall": 3 / 4, "false_correct": 1 / 6}
    expected["kappa"] = (0.8 - (0.16 + 0.36)) / (1 - 0.52)
    assert values(quality) == pytest.approx(expected)


def test_kappa_is_that_of_an_independent_library():
    from sklearn import metrics

    rng = np.random.default_rng(0)
    for _ in range(20):
        people, judge = rng.random((2, 40)) < rng.random((2, 1))
        ours = grading_quality(people, judge, resampling=FEW).kappa.value
        if np.isnan(ours):
            continue
        assert ours == pytest.approx(metrics.cohen_kappa_score(people, judge), abs=1e-12)


def test_what_cannot_be_had_is_nan():
    right = grading_quality([1, 1], [1, 1])
    assert np.isnan(right.kappa.value)
    assert np.isnan(right.false_correct.value)
    wrong = grading_quality([0, 0], [0, 0])
    assert np.isnan(wrong.precision.value)
    assert np.isnan(wrong.recall.value)
    assert wrong.agreement.value == 1
    assert np.isnan(cohen_kappa([5, 0, 0, 0]))


@given(ANSWERS)
def test_shares_lie_in_their_intervals_whatever_the_answers(rows):
    people, judge, ids = map(list, zip(*rows, strict=True))
    quality = grading_quality(people, judge, ids=ids, resampling=FEW)
    assert sum(quality.confusion) == len(rows)
    assert quality.questions == len(set(ids))
    for name in ("agreement", "precision", "recall", "false_correct"):
        value, low, high = getattr(quality, name)
        assert np.isnan(value) or 0 <= low <= value <= high <= 1


@given(ANSWERS, st.randoms(use_true_random=False))
def test_the_order_of_answers_and_the_names_of_questions_change_nothing(rows, random):
    people, judge, ids = map(list, zip(*rows, strict=True))
    shuffled = random.sample(rows, len(rows))
    people2, judge2, ids2 = map(list, zip(*shuffled, strict=True))
    one = grading_quality(people, judge, ids=ids, resampling=FEW)
    other = grading_quality(people2, judge2, ids=[f"q{i}" for i in ids2], resampling=FEW)
    assert one.confusion == other.confusion
    assert one.agreement == pytest.approx(other.agreement)


def test_copies_of_a_question_do_not_make_the_numbers_surer():
    once = grading_quality(PEOPLE * 4, JUDGE * 4)
    copied = grading_quality(np.repeat(PEOPLE * 4, 10), np.repeat(JUDGE * 4, 10), ids=np.repeat(np.arange(40), 10))
    careless = grading_quality(np.repeat(PEOPLE * 4, 10), np.repeat(JUDGE * 4, 10))
    for name in ("agreement", "precision", "recall", "false_correct"):
        assert getattr(copied, name).value == pytest.approx(getattr(once, name).value), name
        # Student's quantiles: 40 questions at most
        assert getattr(copied, name).low == pytest.approx(getattr(once, name).low, abs=0.03), name
        assert getattr(copied, name).low < getattr(once, name).low
        assert getattr(careless, name).low > getattr(once, name).low
    assert copied.kappa == pytest.approx(once.kappa)


def test_intervals_cover_the_truth_when_answers_of_a_question_are_alike():
    """A question is easy or hard for the judge, 5 answers each; nominal 95 %, 300 replications."""
    rng = np.random.default_rng(1)
    covered = {"agreement": 0, "false_correct": 0, "kappa": 0}
    n = 300
    truth = {"agreement": 0.8, "false_correct": 0.2, "kappa": 0.6}
    for _ in range(n):
        hard = rng.beta(0.8, 3.2, 100)
        ids = np.repeat(np.arange(100), 5)
        people = rng.random(500) < 0.5
        judge = people ^ (rng.random(500) < hard[ids])
        quality = grading_quality(people, judge, ids=ids, resampling=Resampling(n_resamples=300))
        for name, value in truth.items():
            _, low, high = getattr(quality, name)
            covered[name] += low <= value <= high
    for name, count in covered.items():
        assert count / n > 0.95 - 4 * np.sqrt(0.95 * 0.05 / n) - 0.01, name


def test_kappa_has_no_interval_for_few_questions():
    few = grading_quality(PEOPLE, JUDGE).kappa
    assert np.isnan([few.low, few.high]).all()
    many = grading_quality(PEOPLE * 4, JUDGE * 4).kappa
    assert many.low < many.value < many.high


@pytest.mark.parametrize(
    ("people", "judge", "message"),
    [
        ([], [], "people must not be empty"),
        ([1, 0], [1], "people and judge must have the same length; got 2 and 1"),
        ([1, 0.5], [1, 1], "people must be 0 or 1; got 0.5 at index 1"),
        ([1, 0], [1, 2], "judge must lie in"),
    ],
)
def test_bad_verdicts_are_refused_by_name(people, judge, message):
    with pytest.raises(ValueError, match=message):
        grading_quality(people, judge)


# -- classes

LABELS = st.lists(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=8), min_size=1, max_size=6
)


@given(LABELS)
def test_merges_and_splits_are_those_of_all_pairs(questions):
    people, judge = ([[pair[side] for pair in rows] for rows in questions] for side in (0, 1))
    apart = together = merged = split = 0
    for a, b in zip(people, judge, strict=True):
        for i, j in combinations(range(len(a)), 2):
            apart, together = apart + (a[i] != a[j]), together + (a[i] == a[j])
            merged += a[i] != a[j] and b[i] == b[j]
            split += a[i] == a[j] and b[i] != b[j]
    quality = partition_quality(people, judge, resampling=FEW)
    assert quality.pairs == apart + together
    assert quality.false_merges.value == pytest.approx(merged / apart if apart else np.nan, nan_ok=True)
    assert quality.false_splits.value == pytest.approx(split / together if together else np.nan, nan_ok=True)
    alike = np.mean([partition_agreement(a, b) for a, b in zip(people, judge, strict=True)], axis=0)
    for name, value in zip(("rand", "adjusted_rand", "modal_jaccard", "same_mode"), alike, strict=True):
        assert getattr(quality, name).value == pytest.approx(value)


def test_a_judge_that_says_what_people_say_has_no_error():
    quality = partition_quality([[0, 0, 1]] * 40, [[5, 5, 2]] * 40)
    assert quality.false_merges.value == quality.false_splits.value == 0
    assert quality.adjusted_rand == (1, 1, 1)
    assert quality.false_merges.high > 0, "40 questions prove no perfection"


def test_one_question_with_many_answers_does_not_make_the_shares_sure():
    many = partition_quality([[0] * 10 + [1] * 10] + [[0, 1]] * 40, [[0] * 20] + [[0, 1]] * 40)
    assert many.false_merges.value == pytest.approx(100 / 140)
    assert many.false_merges.high - many.false_merges.low > 0.5


@given(LABELS)
def test_graded_answers_in_one_class_are_those_of_all_pairs(questions):
    people, judge = ([[pair[side] for pair in rows] for rows in questions] for side in (0, 1))
    right = [[label > 1 for label in row] for row in people]
    opposite = correct = merged = joined = 0
    for a, b in zip(right, judge, strict=True):
        for i, j in combinations(range(len(a)), 2):
            opposite, correct = opposite + (a[i] != a[j]), correct + (a[i] and a[j])
            merged += a[i] != a[j] and b[i] == b[j]
            joined += a[i] and a[j] and b[i] == b[j]
    quality = pair_quality(right, judge)
    assert (quality.opposite_pairs, quality.correct_pairs) == (opposite, correct)
    assert quality.opposite_merged.value == pytest.approx(merged / opposite if opposite else np.nan, nan_ok=True)
    assert quality.correct_merged.value == pytest.approx(joined / correct if correct else np.nan, nan_ok=True)


@pytest.mark.parametrize("measure", [partition_quality, pair_quality])
def test_bad_classes_are_refused(measure):
    with pytest.raises(ValueError, match="the same questions; got 0 and 0"):
        measure([], [])
    with pytest.raises(ValueError, match="the same questions; got 1 and 2"):
        measure([[0]], [[0], [1]])
    with pytest.raises(ValueError, match="of the same responses"):
        measure([[0, 1]], [[0]])
