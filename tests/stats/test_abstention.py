"""The threshold to abstain at: when it is found, what it promises, and that the promise is kept."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

import semece as se
from semece.stats.calibration.abstention import (
    abstention_threshold,
    fewest_answers,
    lower_limit,
    slice_thresholds,
)


@pytest.mark.parametrize(("target", "least"), [(0.8, 14), (0.9, 29), (0.95, 59)])
def test_so_many_right_answers_are_the_least(target, least):
    assert fewest_answers(target) == least
    assert abstention_threshold([1.0] * least, [1] * least, target=target).threshold == 0
    found = abstention_threshold([1.0] * (least - 1), [1] * (least - 1), target=target)
    assert found.threshold is None
    assert found.reason == f"fewer than {least} answers cannot show an accuracy of {target}; got {least - 1}"


@given(st.integers(1, 200), st.integers(0, 200), st.floats(0.01, 0.5))
def test_the_limit_is_that_of_clopper_and_pearson(n, wrong, delta):
    right = max(0, n - wrong)
    expected = binomtest(right, n, alternative="greater").proportion_ci(1 - delta, method="exact").low
    assert lower_limit(np.array([float(right)]), np.array([n]), delta)[0] == pytest.approx(expected, abs=1e-9)


def test_the_smallest_threshold_that_holds_all_the_way_down_is_taken():
    c = np.repeat([0.9, 0.7, 0.5], [60, 60, 200])
    y = np.concatenate([np.ones(60), np.ones(60), np.zeros(200)])
    found = abstention_threshold(c, y, target=0.9)
    assert found.threshold == pytest.approx(0.55)
    assert (found.answered, found.coverage, found.accuracy) == (120, 0.375, 1.0)
    assert found.accuracy_low == pytest.approx(0.05 ** (1 / 120))


def test_a_failure_on_the_way_ends_the_search():
    """Below 0.7 all would be well again; who looks on after a failure has no guarantee."""
    c = np.repeat([0.9, 0.7, 0.5], [60, 40, 2000])
    y = np.concatenate([np.ones(60), np.zeros(40), np.ones(2000)])
    assert y.mean() > 0.95
    assert abstention_threshold(c, y, target=0.9).threshold == 0.75


def test_the_first_threshold_is_chosen_by_confidences_alone():
    c = np.concatenate([np.full(10, 0.99), np.full(40, 0.92)])
    found = abstention_threshold(c, np.concatenate([np.zeros(10), np.ones(40)]), target=0.9)
    assert found.threshold is None
    assert found.reason == "of the 50 most confident answers, 80 % are right: not surely enough"


def test_more_answers_at_the_start_forgive_a_wrong_one():
    c, y = np.repeat([1.0, 0.9], [30, 100]), np.concatenate([[0], np.ones(129)])
    assert abstention_threshold(c, y, target=0.9).threshold is None
    found = abstention_threshold(c, y, target=0.9, min_answers=60)
    assert (found.threshold, found.answered) == (0.0, 130)
    fewer = abstention_threshold(c, y, target=0.9, min_answers=3)
    assert fewer == abstention_threshold(c, y, target=0.9)


@pytest.mark.parametrize("place", [0.15, 0.3, 0.35, 0.6, 0.7])
def test_a_confidence_at_a_threshold_is_answered(place):
    found = abstention_threshold([sum([place / 7] * 7)] * 60 + [0.0] * 60, [1] * 60 + [0] * 60, target=0.9)
    assert found.answered == 60
    exact = abstention_threshold([0.95] * 60 + [place] * 60, [1] * 60 + [0] * 60, target=0.9)
    assert exact.threshold == pytest.approx(place + 0.05)


def test_row_order_does_not_matter():
    rng = np.random.default_rng(1)
    c, order = rng.random(300), rng.permutation(300)
    y = (rng.random(300) < c**0.3).astype(float)
    assert abstention_threshold(c, y, target=0.8) == abstention_threshold(c[order], y[order], target=0.8)


def test_a_threshold_is_too_low_no_oftener_than_promised():
    """The accuracy above t is known: (t + 1) / 2 for uniform confidences that are calibrated."""
    rng, target, delta, times = np.random.default_rng(2), 0.9, 0.1, 2000
    wrong = found = 0
    for _ in range(times):
        c = rng.random(400)
        threshold = abstention_threshold(c, rng.random(400) < c, target=target, delta=delta).threshold
        found += threshold is not None
        wrong += threshold is not None and (threshold + 1) / 2 < target - 1e-9
    assert found > 0.3 * times
    assert wrong / times <= delta + 4 * np.sqrt(delta * (1 - delta) / times)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"correct": [0.5]}, r"correct must be 0 or 1 here; got 0.5 at index 0 \(.* np.floor\(correct\)\)$"),
        ({"confidence": [1.2]}, "confidence must lie in"),
        ({"target": 1.0}, "target must lie strictly between 0 and 1; got 1.0"),
        ({"delta": 0.0}, "delta must lie strictly between 0 and 1; got 0.0"),
        ({"steps": 0}, "steps must be a whole number of at least 1; got 0"),
    ],
)
def test_bad_input_is_named(changed, sentence):
    good = {"confidence": [0.5], "correct": [1], "target": 0.9} | changed
    with pytest.raises(ValueError, match=sentence):
        se.abstention_threshold(good.pop("confidence"), good.pop("correct"), **good)


def test_twelve_slices_need_107_right_answers_each_where_one_needs_59():
    places = np.repeat([f"s{k}" for k in range(12)], 107)
    full = slice_thresholds(np.ones(len(places)), np.ones(len(places)), places, target=0.95)
    assert {each.needed for each in full.values()} == {107}
    assert all(each.found.threshold == 0 for each in full.values())
    alone = slice_thresholds(np.ones(59), np.ones(59), ["all"] * 59, target=0.95)["all"]
    assert (alone.needed, alone.judged, alone.found.threshold) == (59, True, 0)
    assert not slice_thresholds(np.ones(58), np.ones(58), ["all"] * 58, target=0.95)["all"].judged


def test_a_slice_that_is_too_small_takes_nothing_from_the_others():
    places = ["large"] * 100 + ["small"] * 40
    found = slice_thresholds(
        np.ones(140), np.ones(140), places, target=0.95, asked={"large": 200, "small": 40, "no": 9}
    )
    assert list(found) == ["large", "small", "no"]
    assert found["large"].found == abstention_threshold(np.ones(100), np.ones(100), target=0.95, asked=200)
    assert (found["large"].needed, found["small"].needed) == (59, 72)
    assert [each.judged for each in found.values()] == [True, False, False]
    assert found["no"].found.reason == "fewer than 72 answers cannot show an accuracy of 0.95 here; got 0"


def test_each_slice_has_the_threshold_of_its_share_of_the_risk():
    rng = np.random.default_rng(3)
    c, places = rng.random(900), rng.choice(["a", "b", "c"], 900)
    y = (rng.random(900) < c**0.2).astype(float)
    for name, each in slice_thresholds(c, y, places, target=0.8, steps=10).items():
        kept = places == name
        assert each.found == abstention_threshold(c[kept], y[kept], target=0.8, delta=0.05 / 3, steps=10)


def test_some_slice_misses_its_target_no_oftener_than_promised():
    """The worst case: every answer is certain, and right a little less often than wanted."""
    rng, places, times = np.random.default_rng(4), np.repeat(list("abcdef"), 150), 400
    wrong = [0, 0]
    for _ in range(times):
        y = (rng.random(len(places)) < 0.899).astype(float)
        found = slice_thresholds(np.ones(len(y)), y, places, target=0.9)
        wrong[0] += any(each.found.threshold is not None for each in found.values())
        wrong[1] += any(abstention_threshold(np.ones(150), y[i : i + 150], target=0.9).threshold == 0 for i in STARTS)
    assert wrong[0] / times <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / times)
    assert wrong[1] / times > 0.1  # without sharing the risk


STARTS = range(0, 900, 150)


def test_slices_must_be_as_many_as_confidences():
    with pytest.raises(ValueError, match="confidence and slices must have the same length; got 2 and 1"):
        slice_thresholds([1.0, 1.0], [1, 1], ["a"], target=0.9)
    with pytest.raises(ValueError, match="asked must be a whole number of at least 60; got 3"):
        slice_thresholds(np.ones(60), np.ones(60), ["a"] * 60, target=0.9, asked={"a": 3})
