"""Brier score, its decompositions, and the log loss at 0 and 1."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semece.stats.calibration.proper_scores import brier, brier_decomposition, log_loss

ROWS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 4), st.integers(1, 3)), min_size=1, max_size=30)


def columns(rows):
    k, a, w = (np.array(column) for column in zip(*rows, strict=True))
    return k / 20, a / 4, w


@given(ROWS, st.sampled_from(["murphy", "corp"]))
def test_reliability_less_resolution_plus_uncertainty_is_the_brier_score(rows, method):
    c, a, w = columns(rows)
    reliability, resolution, uncertainty = brier_decomposition(c, a, method=method, weights=w)
    assert reliability - resolution + uncertainty == pytest.approx(brier(c, a, weights=w), abs=1e-14)
    assert min(reliability, resolution, uncertainty) >= -1e-14


@given(ROWS)
def test_murphys_parts_are_his_sums_over_distinct_confidences(rows):
    c, a, w = columns(rows)
    mean, n = np.average(a, weights=w), w.sum()
    reliability = resolution = 0.0
    for value in np.unique(c):
        at = c == value
        accuracy = np.average(a[at], weights=w[at])
        reliability += w[at].sum() / n * (value - accuracy) ** 2
        resolution += w[at].sum() / n * (accuracy - mean) ** 2
    parts = brier_decomposition(c, a, weights=w)
    assert parts == pytest.approx((reliability, resolution, np.average((a - mean) ** 2, weights=w)), abs=1e-12)


@given(ROWS)
def test_corp_finds_no_more_miscalibration_and_no_more_discrimination_than_murphy(rows):
    c, a, w = columns(rows)
    murphy, corp = (brier_decomposition(c, a, method=method, weights=w) for method in ("murphy", "corp"))
    assert corp.reliability <= murphy.reliability + 1e-12
    assert corp.resolution <= murphy.resolution + 1e-12


@given(ROWS)
def test_weights_equal_replication(rows):
    c, a, w = columns(rows)
    many, right = np.repeat(c, w), np.repeat(a, w)
    assert brier(c, a, weights=w) == pytest.approx(brier(many, right))
    for method in ("murphy", "corp"):
        expected = brier_decomposition(many, right, method=method)
        assert brier_decomposition(c, a, method=method, weights=w) == pytest.approx(expected, abs=1e-12)
    assert log_loss(c, a, clip=0.01, weights=w) == pytest.approx(log_loss(many, right, clip=0.01))
    assert log_loss(c, a, weights=w) == pytest.approx(log_loss(many, right))


def test_an_unknown_decomposition_is_refused():
    with pytest.raises(ValueError, match="method must be one of 'murphy', 'corp'; got 'CORP'"):
        brier_decomposition([0.5], [1], method="CORP")


def test_a_wrong_certainty_costs_infinity_and_is_counted():
    assert log_loss([1.0, 0.0, 0.5], [0, 1, 1]) == (math.inf, 2)
    assert log_loss([1.0, 0.0], [1, 0]) == (0.0, 0)
    assert log_loss([1.0, 0.0], [0.9, 0.1]) == (math.inf, 2)


def test_a_clipped_loss_is_finite_and_the_infinite_rows_are_still_counted():
    value, n_infinite = log_loss([1.0, 0.5], [0, 1], clip=0.01)
    assert value == pytest.approx((-math.log(0.01) - math.log(0.5)) / 2)
    assert n_infinite == 1


def test_jeffreys_smoothing_takes_the_number_of_answers():
    value, n_infinite = log_loss([1.0, 0.4], [0, 1], smoothing="jeffreys", n=[50, 10])
    assert value == pytest.approx(-(math.log(0.5 / 51) + math.log(4.5 / 11)) / 2)
    assert n_infinite == 1
    assert log_loss([1.0, 0.4], [0, 1], smoothing="jeffreys", n=10) == pytest.approx(
        log_loss([1.0, 0.4], [0, 1], smoothing="jeffreys", n=[10, 10])
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"clip": 0.0}, "clip must lie strictly between 0 and 0.5; got 0.0"),
        ({"clip": 0.5}, "clip must lie strictly between 0 and 0.5; got 0.5"),
        ({"clip": 0.1, "smoothing": "jeffreys"}, "choose one policy"),
        ({"smoothing": "laplace"}, "smoothing must be one of 'jeffreys'; got 'laplace'"),
        ({"smoothing": "jeffreys"}, "smoothing 'jeffreys' needs n,"),
        ({"smoothing": "jeffreys", "n": [5, 0]}, r"n must be at least 1; got 0\.0 at index 1"),
        (
            {"smoothing": "jeffreys", "n": [5]},
            "n must be one number or have one value per row; got 1 for 2",
        ),
        ({"clip": "a"}, "clip must lie strictly between 0 and 0.5; got a"),
        ({"n": 5}, "n has no effect without smoothing='jeffreys'"),
        ({"clip": 0.1, "n": 5}, "n has no effect without smoothing='jeffreys'"),
    ],
)
def test_a_bad_policy_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        log_loss([0.5, 1.0], [0, 1], **options)
