"""Edges of bins: no value in the wrong bin, none dropped, none twice."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semece.stats.calibration.binned_errors import ece
from semece.stats.calibration.bins import CLOSED, OUTSIDE, bin_index, mass_bins, width_bins


def test_float_binning_equals_integer_binning_on_every_grid():
    for n in range(1, 301):
        k = np.arange(n + 1)
        for n_bins in range(2, 41):
            expected = np.minimum(k * n_bins // n, n_bins - 1)
            assert (bin_index(k / n, n_bins=n_bins) == expected).all(), (n, n_bins)


def test_bins_closed_on_the_right_mirror_those_closed_on_the_left():
    for n in range(1, 101):
        k = np.arange(n + 1)
        for n_bins in range(2, 41):
            expected = np.maximum(-(-k * n_bins // n) - 1, 0)
            assert (bin_index(k / n, n_bins=n_bins, closed="right") == expected).all(), (n, n_bins)


@pytest.mark.parametrize(
    ("closed", "edge", "zero", "one"), [("left", 3, 0, 9), ("right", 2, 0, 9), ("guo", 2, OUTSIDE, 9)]
)
def test_each_rule_at_an_edge_at_zero_and_at_one(closed, edge, zero, one):
    assert bin_index([0.3, 0.0, 1.0], closed=closed).tolist() == [edge, zero, one]


@pytest.mark.parametrize("share", [Fraction(15, 50), Fraction(30, 50), Fraction(35, 50)])
def test_three_six_and_seven_tenths_are_in_their_bin_but_one_too_low_on_linspace(share):
    value = float(share)
    assert bin_index([value]).tolist() == [int(share * 10)]
    assert bin_index([value], closed="linspace-digitize").tolist() == [int(share * 10) - 1]


@pytest.mark.parametrize("closed", ["left", "right"])
@pytest.mark.parametrize("error", [-9e-10, 9e-10])
def test_a_value_within_the_tolerance_of_an_edge_counts_as_on_it(closed, error):
    edges = np.arange(1, 10) / 10
    assert (bin_index(edges + error, closed=closed) == bin_index(edges, closed=closed)).all()
    beyond = bin_index(edges + 20 * error, closed=closed) == bin_index(edges, closed=closed)
    assert beyond.all() == ((error > 0) == (closed == "left"))


def test_averages_over_ten_splits_do_not_fall_below_their_edge():
    rng = np.random.default_rng(0)
    k = rng.integers(0, 26, (20_000, 10))
    average = (k / 25).mean(axis=1)
    assert (bin_index(average) == np.minimum(k.sum(axis=1) * 10 // 250, 9)).all()


def test_one_bin_holds_everything():
    for closed in CLOSED:
        assert set(bin_index([0.1, 0.5, 1.0], n_bins=1, closed=closed)) == {0}


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50), st.integers(1, 40), st.sampled_from(CLOSED))
def test_every_confidence_is_in_exactly_one_bin_that_holds_it(values, n_bins, closed):
    bins = width_bins(np.array(values), n_bins, closed)
    for value, place in zip(values, bins.place, strict=True):
        if place == OUTSIDE:
            assert closed == "guo"
            assert value <= 1e-9
        else:
            assert bins.low[place] - 2e-9 <= value <= bins.high[place] + 2e-9


@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(1, 5)), min_size=1, max_size=40),
    st.integers(1, 12),
    st.randoms(use_true_random=False),
)
def test_bins_by_mass_keep_equal_values_together_in_any_order_of_rows(rows, n_bins, random):
    values, weights = (np.array(column, float) for column in zip(*rows, strict=True))
    bins = mass_bins(values / 20, weights, n_bins)
    assert all(len(set(bins.place[values == v])) == 1 for v in set(values))
    assert (np.diff(bins.place[np.argsort(values)]) >= 0).all()
    assert set(bins.place) == set(range(len(bins.low)))
    order = random.sample(range(len(rows)), len(rows))
    assert (mass_bins(values[order] / 20, weights[order], n_bins).place == bins.place[order]).all()


def test_bins_by_mass_are_of_equal_size_where_values_differ():
    rng = np.random.default_rng(0)
    bins = mass_bins(rng.random(120), np.ones(120), 8)
    assert np.bincount(bins.place).tolist() == [15] * 8


def test_a_tie_goes_by_mass_where_its_middle_lies():
    bins = mass_bins(np.array([0.1, 0.5, 0.9]), np.array([2.0, 6.0, 2.0]), 2)
    assert bins.place.tolist() == [0, 1, 1]


def test_edges_are_the_decimals_they_stand_for():
    bins = width_bins(np.array([0.5]), 10)
    assert bins.low.tolist() == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    assert bins.high.tolist() == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]


def test_bins_by_mass_say_the_range_of_their_values():
    bins = mass_bins(np.array([0.9, 0.1, 0.2, 0.8]), np.ones(4), 2)
    assert bins.low.tolist() == [0.1, 0.8]
    assert bins.high.tolist() == [0.2, 0.9]


def test_heavy_ties_leave_fewer_bins_by_mass_and_none_is_empty():
    bins = mass_bins(np.array([0.5] * 9 + [0.6]), np.ones(10), 5)
    assert len(bins.low) == 2


def test_equal_mass_error_does_not_depend_on_the_order_within_ties():
    rng = np.random.default_rng(0)
    confidence, correct = rng.integers(0, 6, 300) / 5, rng.integers(0, 2, 300)
    values = set()
    for _ in range(20):
        order = rng.permutation(300)
        values.add(round(ece(confidence[order], correct[order], binning="mass"), 12))
    assert len(values) == 1
