"""Bounds over gradings that nobody made, against every one of them."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semece.stats.calibration.binned_errors import ece
from semece.stats.uncertainty.exclusions import accuracy_bounds, ece_bounds

ROW = st.tuples(st.integers(0, 10), st.integers(0, 1))


@given(st.lists(ROW, min_size=1, max_size=8), st.lists(st.integers(0, 10), max_size=6), st.sampled_from([1, 3, 10]))
def test_every_grading_of_the_excluded_lies_within_the_bounds_and_the_upper_one_is_reached(rows, excluded, n_bins):
    k, a = (np.array(column) for column in zip(*rows, strict=True))
    c = np.concatenate([k, excluded]) / 10
    low, high = ece_bounds(k / 10, a, np.array(excluded) / 10, n_bins=n_bins)
    found = [
        ece(c, np.concatenate([a, grading]), n_bins=n_bins)
        for grading in itertools.product([0, 1], repeat=len(excluded))
    ]
    assert low - 1e-12 <= min(found)
    assert max(found) == pytest.approx(high, abs=1e-12)


def test_all_right_and_all_wrong_do_not_bound_the_error():
    """80 graded, 40 right, 20 excluded, all at 0.5: 0.10 either way, but nothing when they are split."""
    c, a, excluded = [0.5] * 80, [1] * 40 + [0] * 40, [0.5] * 20
    assert ece(c + excluded, a + [1] * 20) == pytest.approx(0.1)
    assert ece(c + excluded, a + [0] * 20) == pytest.approx(0.1)
    assert ece_bounds(c, a, excluded) == pytest.approx((0.0, 0.1))


def test_the_lower_bound_can_be_above_zero_on_either_side():
    assert ece_bounds([0.9] * 9, [0] * 9, [0.9]) == pytest.approx(((8.1 - 0.1) / 10, 0.9))
    assert ece_bounds([0.1] * 9, [1] * 9, [0.1]) == pytest.approx(((8.1 - 0.1) / 10, 0.9))


def test_nothing_excluded_leaves_the_numbers_themselves():
    c, a = [0.9, 0.4, 0.0], [1, 0, 1]
    for closed in ("left", "right", "guo"):
        assert ece_bounds(c, a, [], closed=closed) == pytest.approx((ece(c, a, closed=closed),) * 2)
    assert accuracy_bounds(a, 0) == pytest.approx((2 / 3, 2 / 3))


def test_accuracy_lies_between_all_wrong_and_all_right():
    assert accuracy_bounds([1, 0.5], 2) == (1.5 / 4, 3.5 / 4)
