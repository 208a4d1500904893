"""The smooth ECE against its integral, the sweep against its definition."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from semece.stats.calibration.adaptive import ece_sweep, smooth_ece

ROWS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 1)), min_size=1, max_size=25)


def smoothed(confidence, correct, sigma):
    """The definition: the integral of the absolute residual under a Gaussian kernel reflected at 0 and 1."""
    values, place = np.unique(confidence, return_inverse=True)
    mirrors = np.concatenate([2 * k + sign * values for k in range(-4, 5) for sign in (1, -1)])
    residual = np.tile(np.bincount(place, correct - confidence), 18) / len(confidence)

    def density(t):
        return abs(residual @ norm.pdf(t - mirrors, scale=sigma))

    return quad(density, 0, 1, limit=500)[0]


@pytest.mark.parametrize("seed", range(4))
def test_the_smooth_error_is_the_fixed_point_of_its_definition(seed):
    rng = np.random.default_rng(seed)
    confidence = np.concatenate([rng.integers(0, 51, 40) / 50, [0.0, 1.0]])
    correct = (rng.random(42) < confidence ** (seed + 0.5)).astype(float)
    value = smooth_ece(confidence, correct)
    assert smoothed(confidence, correct, value) == pytest.approx(value, abs=2e-5)


def test_widths_below_the_first_and_the_last_resort_are_found():
    """Residuals that nearly cancel: the width falls below 0.016, then below 0.001."""
    confidence = np.repeat([0.2, 0.4, 0.6, 0.8], 1000)
    nearly = np.concatenate(
        [np.arange(1000) < 1000 * c + shift for c, shift in zip((0.2, 0.4, 0.6, 0.8), (9, -9, 9, -9), strict=True)]
    )
    value = smooth_ece(confidence, nearly)
    assert 0.004 < value < 0.016
    assert smoothed(confidence, nearly, value) == pytest.approx(value, abs=2e-5)
    exact = np.concatenate([np.arange(1000) < 1000 * c for c in (0.2, 0.4, 0.6, 0.8)])
    assert smooth_ece(confidence, exact) == pytest.approx(0.0, abs=1e-12)


@given(ROWS)
def test_residuals_of_one_sign_are_not_cancelled_by_smoothing(rows):
    k, _ = (np.array(column) for column in zip(*rows, strict=True))
    assert smooth_ece(k / 20, np.zeros(len(k))) == pytest.approx((k / 20).mean(), abs=1e-3)


@given(ROWS)
def test_the_smooth_error_lies_between_the_mean_gap_and_the_mean_distance(rows):
    k, a = (np.array(column) for column in zip(*rows, strict=True))
    value = smooth_ece(k / 20, a)
    assert abs((k / 20 - a).mean()) - 1e-3 <= value <= np.abs(k / 20 - a).mean() + 1e-3


@pytest.mark.parametrize("n", [1, 3, 7, 10, 30])
def test_the_smooth_error_is_at_most_one(n):
    assert smooth_ece([1.0] * n, [0] * n) == pytest.approx(1.0, abs=1e-9)
    assert smooth_ece([1.0] * n, [0] * n) <= 1.0


def test_many_distinct_confidences_fit_in_memory():
    rng = np.random.default_rng(0)
    confidence = rng.random(100_000)
    assert smooth_ece(confidence, confidence**2) == pytest.approx(1 / 2 - 1 / 3, abs=2e-3)


def sweep(confidence, correct):
    """The definition, on rows sorted by confidence with ties moved to the bin of their middle."""
    order = np.argsort(confidence)
    c, a = confidence[order], correct[order]
    n = len(c)
    middle = np.array([(np.sum(c < v) + np.sum(c <= v)) / 2 for v in c])
    best = abs((a - c).sum()) / n
    for b in range(2, len(np.unique(c)) + 1):
        place = np.minimum(np.floor(b * middle / n + 1e-9), b - 1)
        bins = [place == j for j in np.unique(place)]
        accuracy = [a[inside].mean() for inside in bins]
        if any(later < earlier - 1e-12 for earlier, later in itertools.pairwise(accuracy)):
            break
        best = sum(abs((a[inside] - c[inside]).sum()) for inside in bins) / n
    return best


@given(ROWS)
def test_the_sweep_takes_the_last_number_of_bins_before_accuracy_falls(rows):
    k, a = (np.array(column) for column in zip(*rows, strict=True))
    assert ece_sweep(k / 20, a) == pytest.approx(sweep(k / 20, a), abs=1e-12)


def test_the_sweep_stops_at_one_bin_where_accuracy_falls_at_once():
    assert ece_sweep([0.2, 0.8], [1, 0]) == 0.0
    assert ece_sweep([0.2, 0.8], [0, 1]) == pytest.approx(0.2)
