"""What calibrated confidences would show: exact probabilities, and the size of the test."""

import numpy as np
import pytest
from scipy.stats import binom

from semece.stats.calibration.binned_errors import ece
from semece.stats.uncertainty import consistency
from semece.stats.uncertainty.consistency import calibration_test, consistency_band


def test_the_p_value_is_the_share_of_draws_that_are_at_least_as_far_off():
    """One bin of 20 answers at 0.5: the error is |k - 10| / 20, so that the exact probability is binomial."""
    for n_right in (10, 12, 14):
        exact = binom.cdf(20 - n_right, 20, 0.5) + binom.sf(n_right - 1, 20, 0.5) if n_right != 10 else 1.0
        found = calibration_test([0.5] * 20, [1] * n_right + [0] * (20 - n_right), n_resamples=20_000)
        assert found.statistic == pytest.approx(abs(n_right - 10) / 20)
        assert found.p_value == pytest.approx(exact, abs=4 * (exact * (1 - exact) / 20_000) ** 0.5 + 1e-4)


def test_the_least_p_value_counts_the_data_themselves():
    assert calibration_test([0.99] * 100, [0] * 100, n_resamples=99).p_value == pytest.approx(0.01, rel=1e-15)
    assert calibration_test([1.0, 0.0], [1, 0], n_resamples=99).p_value == 1.0


def test_the_statistic_is_the_error_in_the_bins_that_were_asked_for():
    c, a = [0.3, 0.3, 0.0, 0.95] * 5, [1, 0, 1, 1] * 5
    for options in ({}, {"closed": "right"}, {"closed": "guo"}, {"n_bins": 3}):
        assert calibration_test(c, a, **options).statistic == pytest.approx(ece(c, a, **options))


def test_a_calibrated_model_is_rejected_as_often_as_the_level_says():
    rng = np.random.default_rng(0)
    c = rng.integers(0, 51, 300) / 50
    p = np.array([calibration_test(c, rng.random(300) < c, n_resamples=199, rng=rng).p_value for _ in range(300)])
    for level in (0.05, 0.25, 0.5):
        assert np.mean(p <= level) == pytest.approx(level, abs=4 * (level * (1 - level) / 300) ** 0.5)


def test_rows_of_one_question_are_drawn_together():
    """Ten copies of 50 questions: as independent rows the same error would be far beyond chance."""
    rng = np.random.default_rng(1)
    c = rng.integers(0, 51, 50) / 50
    a = rng.random(50) < c
    copies, right, ids = np.tile(c, 10), np.tile(a, 10), np.tile(np.arange(50), 10)
    once = calibration_test(c, a, n_resamples=4000).p_value
    assert once > 0.05
    assert calibration_test(copies, right, ids=ids, n_resamples=4000).p_value == pytest.approx(once, abs=0.04)
    assert calibration_test(copies, right).p_value < 0.01


@pytest.mark.parametrize("chunk", [1, 100, 10**9])
def test_results_do_not_depend_on_what_is_held_in_memory(monkeypatch, chunk):
    c, a = [0.2, 0.4, 0.9] * 10, [0, 1, 1] * 10
    whole = calibration_test(c, a), consistency_band(c)
    monkeypatch.setattr(consistency, "CHUNK", chunk)
    chunked = calibration_test(c, a), consistency_band(c)
    assert chunked[0] == whole[0]
    np.testing.assert_array_equal(chunked[1], whole[1])


def test_equal_input_gives_equal_output():
    c, a = [0.2, 0.4, 0.9] * 10, [0, 1, 1] * 10
    assert calibration_test(c, a) == calibration_test(c, a, rng=np.random.default_rng(0))
    np.testing.assert_array_equal(consistency_band(c), consistency_band(c, rng=np.random.default_rng(0)))


def test_the_band_holds_the_central_binomial_counts():
    for level in (0.5, 0.95):
        low, high = consistency_band([0.25] * 400, n_resamples=20_000, level=level)
        assert low[2] == pytest.approx(binom.ppf(0.5 - level / 2, 400, 0.25) / 400, abs=0.003)
        assert high[2] == pytest.approx(binom.ppf(0.5 + level / 2, 400, 0.25) / 400, abs=0.003)
        assert np.isnan(np.delete(low, 2)).all()
        assert np.isnan(np.delete(high, 2)).all()


def test_the_ends_of_the_band_are_draws_taken_outwards():
    """Of 10 draws of 1000 questions: the third from below and from above, not the fourth."""
    draws = np.sort((np.random.default_rng(0).random((10, 1000)) < 0.5).mean(axis=1))
    band = consistency_band([0.5] * 1000, n_bins=1, level=0.5, n_resamples=10)
    assert draws[2] < draws[3]
    assert draws[6] < draws[7]
    assert (band.low[0], band.high[0]) == (draws[2], draws[7])


def test_the_band_of_certainty_has_no_width():
    low, high = consistency_band([1.0, 1.0, 0.0])
    assert (low[-1], high[-1], low[0], high[0]) == (1, 1, 0, 0)


def test_a_zero_that_is_in_no_bin_has_no_band():
    low, high = consistency_band([0.0] * 30 + [0.5] * 10, closed="guo")
    assert np.isnan(low[0])
    without = consistency_band([0.5] * 10, closed="guo", n_resamples=20_000)
    assert high[4] == pytest.approx(without.high[4], abs=0.101)
    assert high[4] <= 1


def test_the_band_is_wider_for_a_higher_level_and_for_shared_questions():
    narrow, wide = consistency_band([0.5] * 60, level=0.5), consistency_band([0.5] * 60, level=0.99)
    assert wide.low[5] < narrow.low[5] <= narrow.high[5] < wide.high[5]
    shared = consistency_band([0.5] * 60, ids=np.arange(60) // 10)
    alone = consistency_band([0.5] * 60)
    assert shared.high[5] - shared.low[5] > 2 * (alone.high[5] - alone.low[5])


@pytest.mark.parametrize("n_resamples", [0, 10.0])
def test_the_number_of_draws_is_a_whole_number(n_resamples):
    for call in (
        lambda n: calibration_test([0.5], [1], n_resamples=n),
        lambda n: consistency_band([0.5], n_resamples=n),
    ):
        with pytest.raises(ValueError, match="n_resamples must be a whole number of at least 1"):
            call(n_resamples)
