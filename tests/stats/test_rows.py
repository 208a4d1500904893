"""What is refused at the public door, by every function that takes rows, and how it is said."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semece.stats.calibration.adaptive import ece_sweep, smooth_ece
from semece.stats.calibration.binned_errors import debiased_rms_ce, ece, mce, reliability_table, rms_ce
from semece.stats.calibration.bins import bin_index
from semece.stats.calibration.proper_scores import brier, brier_decomposition, log_loss
from semece.stats.calibration.ranking import aurc, auroc, average_precision, eaurc, risk_coverage
from semece.stats.rows import check_rows
from semece.stats.uncertainty.consistency import calibration_test, consistency_band
from semece.stats.uncertainty.exclusions import accuracy_bounds, ece_bounds
from semece.stats.uncertainty.intervals import accuracy_interval, debiased_ece, ece_interval

WEIGHTED = (
    ece, mce, rms_ce, debiased_rms_ce, reliability_table, ece_sweep, smooth_ece, ece_interval, debiased_ece,
    brier, brier_decomposition, log_loss, auroc, average_precision, risk_coverage, aurc, eaurc,
)  # fmt: skip
ROWS = (*WEIGHTED, calibration_test, lambda c, a: ece_bounds(c, a, [0.5]))
BINNED = (ece, mce, rms_ce, debiased_rms_ce, reliability_table, ece_interval, debiased_ece, calibration_test)

BAD_CONFIDENCE = [
    ([0.5, float("nan")], r"confidence must be finite; got nan at index 1"),
    ([float("inf"), 0.5], r"confidence must be finite; got inf at index 0"),
    ([0.5, 1.2], r"confidence must lie in \[0, 1\]; got 1\.2 at index 1$"),
    ([-0.1, 0.5], r"confidence must lie in \[0, 1\]; got -0\.1 at index 0$"),
    ([0.0, 85.0], r"got 85\.0 at index 1 \(percentages\? divide by 100\)$"),
    ([-3.0, 85.0], r"got -3\.0 at index 0$"),
    ([], r"confidence must not be empty"),
    ([[0.5, 0.5]], r"confidence must be one-dimensional; got shape \(1, 2\)"),
    ([0.5, None], r"confidence must be numbers; got None at index 1 \(filter out rows without a number first"),
    (["0.5", "1"], r"confidence must be numbers; got '0\.5' at index 0$"),
    (np.array([0.5, "x"], object), r"confidence must be numbers; got 'x' at index 1$"),
    ([0.5 + 1j, 0.5], r"confidence must be numbers; got \(0\.5\+1j\) at index 0$"),
    ([0.5, [0.5]], r"confidence must be one-dimensional; got a nest of unequal lengths"),
    ([0.0, 100.0], r"got 100\.0 at index 1 \(percentages\? divide by 100\)$"),
    ([0.0, 101.0], r"got 101\.0 at index 1$"),
    ([0.5], r"confidence and correct must have the same length; got 1 and 2"),
]


@pytest.mark.parametrize("function", ROWS)
@pytest.mark.parametrize(("confidence", "message"), BAD_CONFIDENCE)
def test_a_bad_confidence_is_refused_with_value_and_index(function, confidence, message):
    with pytest.raises(ValueError, match=message):
        function(confidence, [0, 1])


@pytest.mark.parametrize("function", ROWS)
@pytest.mark.parametrize(
    ("correct", "message"),
    [
        ([0, 2], r"correct must lie in \[0, 1\]; got 2\.0 at index 1"),
        ([0, float("nan")], r"correct must be finite; got nan at index 1"),
        ([], r"correct must not be empty"),
        ([True, None], r"correct must be numbers; got None"),
    ],
)
def test_a_bad_correctness_is_refused_with_value_and_index(function, correct, message):
    with pytest.raises(ValueError, match=message):
        function([0.5, 0.5], correct)


@pytest.mark.parametrize("function", WEIGHTED)
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -1], r"weights must not be negative; got -1\.0 at index 1"),
        ([1, float("inf")], r"weights must be finite; got inf at index 1"),
        ([0, 0], r"weights must not all be zero"),
        ([1, 1, 1], r"weights must have one value per row; got 3 for 2 rows"),
        ([1, None], r"weights must be numbers; got None"),
    ],
)
def test_bad_weights_are_refused_with_value_and_index(function, weights, message):
    with pytest.raises(ValueError, match=message):
        function([0.5, 0.5], [0, 1], weights=weights)


@pytest.mark.parametrize("function", BINNED)
@pytest.mark.parametrize("n_bins", [0, -1, 2.5, "10", None])
def test_fewer_than_one_bin_is_refused(function, n_bins):
    with pytest.raises(ValueError, match=f"n_bins must be a whole number of at least 1; got {n_bins!r}"):
        function([0.5, 0.5], [0, 1], n_bins=n_bins)


@pytest.mark.parametrize("function", BINNED)
def test_an_unknown_edge_rule_is_refused(function):
    with pytest.raises(ValueError, match=r"closed must be one of 'left', 'right', .*; got 'both'"):
        function([0.5, 0.5], [0, 1], closed="both")


@pytest.mark.parametrize("function", [ece, mce, rms_ce, debiased_rms_ce, reliability_table])
def test_an_unknown_binning_is_refused(function):
    with pytest.raises(ValueError, match="binning must be one of 'width', 'mass'; got 'quantile'"):
        function([0.5, 0.5], [0, 1], binning="quantile")


@pytest.mark.parametrize("level", [0, 1, -0.1, 95])
def test_a_level_is_strictly_between_0_and_1(level):
    for call in (
        lambda: reliability_table([0.5], [1], level=level),
        lambda: ece_interval([0.5], [1], level=level),
        lambda: accuracy_interval([1], level=level),
        lambda: consistency_band([0.5], level=level),
    ):
        with pytest.raises(ValueError, match="level must lie strictly between 0 and 1"):
            call()


def test_ids_are_one_per_row():
    with pytest.raises(ValueError, match=r"ids must have one value per row; got shape \(3,\) for 2 rows"):
        ece_interval([0.5, 0.5], [0, 1], ids=["a", "b", "c"])


def test_a_nest_of_unequal_lengths_is_refused_by_name():
    with pytest.raises(ValueError, match=r"ids must have one value per row; got shape .* for 2 rows"):
        ece_interval([0.5, 0.5], [1, 0], ids=[[1], [1, 2]])
    with pytest.raises(ValueError, match="confidence must be one-dimensional; got a nest of unequal lengths"):
        consistency_band([0.5, [0.5]])


def test_ids_may_be_strings_numbers_or_a_mixture():
    for ids in (["a", "a", "b"], [7, 7, 9], np.array(["a", "a", 3], dtype=object)):
        assert check_rows([0.1, 0.2, 0.3], [0, 1, 1], ids=ids).ids.tolist() in ([0, 0, 1], [1, 1, 0])


def test_where_correctness_must_be_binary_a_share_is_refused():
    with pytest.raises(ValueError, match=r"correct must be 0 or 1 here; got 0\.5 at index 1"):
        calibration_test([0.5, 0.5], [1, 0.5])


def test_one_argument_functions_refuse_alike():
    with pytest.raises(ValueError, match=r"correct must lie in \[0, 1\]; got 3\.0 at index 0"):
        accuracy_interval([3])
    with pytest.raises(ValueError, match=r"correct must not be empty"):
        accuracy_bounds([], 3)
    with pytest.raises(ValueError, match="n_excluded must be a whole number of at least 0; got -1"):
        accuracy_bounds([1], -1)
    with pytest.raises(ValueError, match=r"confidence must lie in \[0, 1\]; got 1\.5 at index 0"):
        bin_index([1.5])
    with pytest.raises(ValueError, match=r"excluded_confidence must lie in \[0, 1\]; got 50\.0 at index 0 \(perc"):
        ece_bounds([0.5], [1], [50])


def test_uncertainties_passed_as_confidences_are_refused_once_they_leave_the_unit_interval():
    entropies = [0.0, 0.4, 1.7]
    with pytest.raises(ValueError, match=r"got 1\.7 at index 2"):
        ece(entropies, [1, 1, 0])


def test_booleans_integers_and_short_floats_are_numbers():
    assert ece([1, 0], [True, False]) == 0.0
    assert ece(np.array([1, 0], np.uint8), np.array([1, 0], np.float16)) == 0.0


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_a_shorter_float_falls_in_the_bin_of_the_number_it_was_written_as(kind):
    grid = np.arange(51) / 50
    assert bin_index(grid.astype(kind)).tolist() == [min(k * 10 // 50, 9) for k in range(51)]


def test_numbers_in_an_array_of_objects_are_numbers():
    assert ece(np.array([0.5, np.float32(0.7)], object), [1, 1]) == ece([0.5, 0.7], [1, 1])


@pytest.mark.parametrize("level", ["a", None, [0.5]])
def test_a_level_that_is_no_number_is_refused(level):
    with pytest.raises(ValueError, match="level must lie strictly between 0 and 1; got "):
        ece_interval([0.5, 0.5], [1, 0], level=level)


COUNTING = (ece_interval, debiased_ece, debiased_rms_ce, mce, rms_ce, reliability_table)


@pytest.mark.parametrize("weighted", [*COUNTING, lambda c, a, weights: accuracy_interval(a, weights=weights)])
def test_weights_that_say_how_many_rows_there_are_must_be_whole(weighted):
    message = r"weights must be whole numbers here, how often a row occurs; got 0\.25 at index 1$"
    with pytest.raises(ValueError, match=message):
        weighted([0.5, 0.5, 0.5], [1, 0, 1], weights=[2, 0.25, 0.75])


@pytest.mark.parametrize("rng", ["x", -1, 0.5])
@pytest.mark.parametrize("drawing", [ece_interval, debiased_ece, calibration_test])
def test_a_seed_that_is_none_is_refused(drawing, rng):
    with pytest.raises(ValueError, match="rng must be a whole number of at least 0 or a numpy Generator; got "):
        drawing([0.5, 0.7], [1, 0], rng=rng)


def test_a_truth_value_is_no_number_of_bins():
    with pytest.raises(ValueError, match="n_bins must be a whole number of at least 1; got True"):
        ece([0.5], [1], n_bins=True)


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 1)), min_size=2, max_size=20))
def test_a_row_of_weight_zero_is_not_there(rows):
    confidence, correct = map(np.array, zip(*rows, strict=True))
    weights = np.ones(len(rows))
    weights[0] = 0
    for function in WEIGHTED:
        with_zero, without = function(confidence, correct, weights=weights), function(confidence[1:], correct[1:])
        np.testing.assert_allclose(with_zero, without, rtol=1e-12, atol=1e-12)


def test_a_row_of_weight_zero_takes_its_id_along():
    rows = check_rows([0.1, 0.2, 0.3], [0, 1, 1], weights=[0, 1, 1], ids=["a", "b", "c"])
    assert rows.ids.tolist() == [0, 1]
