"""The ECE family and the reliability table: worked values, properties, and the mistakes of other tools."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semece.stats.calibration.adaptive import ece_sweep, smooth_ece
from semece.stats.calibration.binned_errors import debiased_rms_ce, ece, mce, reliability_table, rms_ce
from semece.stats.calibration.bins import BINNING, CLOSED
from semece.stats.calibration.proper_scores import brier
from semece.stats.calibration.ranking import auroc

ROWS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 4), st.integers(1, 3)), min_size=1, max_size=30)
"""Confidence on a grid of twentieths, soft correctness on one of quarters, a frequency weight."""
METRICS = (ece, mce, rms_ce, debiased_rms_ce, ece_sweep, smooth_ece)


def columns(rows):
    k, a, w = (np.array(column) for column in zip(*rows, strict=True))
    return k / 20, a / 4, w


@given(ROWS, st.randoms(use_true_random=False))
def test_the_order_of_rows_never_matters(rows, random):
    shuffled = random.sample(rows, len(rows))
    for metric in METRICS:
        c, a, w = columns(rows)
        d, b, v = columns(shuffled)
        assert metric(c, a, weights=w) == pytest.approx(metric(d, b, weights=v), abs=1e-12)


@given(ROWS)
def test_weights_equal_replication(rows):
    c, a, w = columns(rows)
    for metric in METRICS:
        assert metric(c, a, weights=w) == pytest.approx(metric(np.repeat(c, w), np.repeat(a, w)), abs=1e-9)
    for metric in (ece, mce, rms_ce, debiased_rms_ce):
        for options in ({"binning": "mass"}, {"closed": "guo"}, {"n_bins": 7, "closed": "right"}):
            expected = metric(np.repeat(c, w), np.repeat(a, w), **options)
            assert metric(c, a, weights=w, **options) == pytest.approx(expected, abs=1e-12, nan_ok=True)


@given(ROWS, st.integers(1, 15))
def test_residuals_of_one_sign_make_the_error_the_mean_gap(rows, n_bins):
    c, a, w = columns(rows)
    gap = abs(np.average(c, weights=w) - np.average(a, weights=w))
    for options in ({}, {"closed": "right"}, {"binning": "mass"}):
        table = reliability_table(c, a, n_bins=n_bins, weights=w, **options)
        signs = set(np.sign(np.round(table.gap[table.count > 0], 12)))
        if not {-1.0, 1.0} <= signs:
            assert ece(c, a, n_bins=n_bins, weights=w, **options) == pytest.approx(gap, abs=1e-12)


@given(ROWS, st.integers(1, 15), st.sampled_from(BINNING), st.sampled_from(CLOSED))
def test_the_table_adds_up_to_the_error(rows, n_bins, binning, closed):
    c, a, w = columns(rows)
    options = {"n_bins": n_bins, "binning": binning, "closed": closed, "weights": w}
    table = reliability_table(c, a, **options)
    assert np.nansum(table.count * np.abs(table.gap)) / w.sum() == pytest.approx(ece(c, a, **options), abs=1e-12)
    kept = w.sum() - (w[c == 0].sum() if (closed, binning) == ("guo", "width") else 0)
    assert table.count.sum() == kept


@given(ROWS, st.integers(1, 15))
def test_the_error_lies_between_the_mean_gap_and_the_worst_bin(rows, n_bins):
    c, a, w = columns(rows)
    error = ece(c, a, n_bins=n_bins, weights=w)
    assert abs(np.average(c - a, weights=w)) - 1e-12 <= error <= mce(c, a, n_bins=n_bins, weights=w) + 1e-12
    assert error <= rms_ce(c, a, n_bins=n_bins, weights=w) + 1e-12


@pytest.mark.parametrize("metric", [*METRICS, lambda c, a: reliability_table(c, a).gap[-1]])
def test_an_always_wrong_fully_confident_model_is_off_by_one_however_few_questions(metric):
    for n in (1, 2, 50, 99, 100, 150, 199):
        expected = 0.0 if metric is debiased_rms_ce and n == 1 else 1.0
        assert metric([1.0] * n, [0] * n) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("metric", METRICS)
def test_all_correct_and_all_wrong_answers_are_valid(metric):
    assert metric([1.0] * 5, [1] * 5) == 0.0
    assert metric([0.0] * 5, [0] * 5) == 0.0


def test_certainty_that_is_always_wrong_and_doubt_that_is_always_right_differ_in_sign_not_in_size():
    assert reliability_table([1.0] * 4, [0] * 4).gap[-1] == 1.0
    assert reliability_table([0.0] * 4, [1] * 4).gap[0] == -1.0
    assert ece([1.0] * 4, [0] * 4) == ece([0.0] * 4, [1] * 4) == 1.0


@pytest.mark.parametrize("closed", CLOSED)
def test_confidence_one_is_in_the_last_bin_and_zero_is_counted(closed):
    table = reliability_table([1.0, 0.0], [0, 1], closed=closed)
    assert len(table.count) == 10
    assert table.count[-1] == 1
    assert ece([1.0, 0.0], [0, 1], closed=closed) == (0.5 if closed == "guo" else 1.0)


def test_averaging_repeats_before_binning_hides_miscalibration():
    """One question answered twice: certain and wrong, doubtful and right. The mean over repeats looks perfect."""
    confidence, correct = np.array([[0.9, 0.1]] * 50), np.array([[0, 1]] * 50)
    assert ece(confidence.mean(axis=1), correct.mean(axis=1)) == pytest.approx(0.0)
    assert ece(confidence.ravel(), correct.ravel()) == pytest.approx(0.9)


def test_a_table_has_empty_bins_with_count_zero_and_nan():
    table = reliability_table([0.95, 0.05], [1, 0])
    assert table.count.tolist() == [1, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    for values in table[3:]:
        assert np.isnan(values[1:-1]).all()
        assert np.isfinite(values[[0, -1]]).all()


def test_counts_are_whole_numbers():
    assert reliability_table([0.5], [1]).count.dtype == np.int64
    assert reliability_table([0.5], [1], weights=[2]).count.dtype == np.int64
    assert reliability_table([0.5], [1], weights=[2.0]).count[5] == 2


@pytest.mark.parametrize("metric", [ece, ece_sweep, smooth_ece, brier, auroc])
def test_a_metric_that_counts_no_rows_depends_on_the_ratios_of_weights_alone(metric):
    c, a, w = [0.1, 0.35, 0.9, 0.6], [0, 1, 1, 0.5], np.array([1, 2, 3, 1])
    assert metric(c, a, weights=w / 8) == pytest.approx(metric(c, a, weights=w), abs=1e-9)


def test_the_accuracy_of_a_bin_has_a_wilson_interval():
    table = reliability_table([0.5] * 10, [1] * 7 + [0] * 3)
    assert table.accuracy_low[5] == pytest.approx(0.39677, abs=1e-5)
    assert table.accuracy_high[5] == pytest.approx(0.89221, abs=1e-5)
    extreme = reliability_table([0.0, 1.0], [0, 1])
    assert extreme.accuracy_low[0] == 0.0
    assert extreme.accuracy_high[-1] == 1.0


def test_a_higher_level_makes_a_wider_interval():
    narrow, wide = (reliability_table([0.5] * 10, [1] * 7 + [0] * 3, level=level) for level in (0.5, 0.99))
    assert wide.accuracy_low[5] < narrow.accuracy_low[5] < narrow.accuracy_high[5] < wide.accuracy_high[5]


def test_small_bins_can_be_kept_out_of_the_worst_gap_and_the_root_mean_square():
    confidence, correct = [0.55] * 10 + [0.95], [1] * 5 + [0] * 6
    assert mce(confidence, correct) == pytest.approx(0.95)
    assert mce(confidence, correct, min_count=2) == pytest.approx(0.05)
    assert rms_ce(confidence, correct, min_count=2) == pytest.approx(0.05)
    assert rms_ce(confidence, correct) == pytest.approx(((10 * 0.05**2 + 0.95**2) / 11) ** 0.5)
    assert np.isnan(mce(confidence, correct, min_count=11))
    assert np.isnan(rms_ce(confidence, correct, min_count=11))


@pytest.mark.parametrize("metric", [mce, rms_ce])
@pytest.mark.parametrize("min_count", [float("nan"), -1, "2"])
def test_a_least_count_is_a_number_of_at_least_0(metric, min_count):
    with pytest.raises(ValueError, match=f"min_count must be a number of at least 0; got {min_count!r}"):
        metric([0.5, 0.5], [1, 0], min_count=min_count)


def test_the_debiased_root_mean_square_is_zero_where_sampling_explains_the_gap():
    assert debiased_rms_ce([0.5] * 10, [1] * 6 + [0] * 4) == 0.0
    assert debiased_rms_ce([0.9] * 10, [1] * 6 + [0] * 4) == pytest.approx((0.09 - 0.24 / 9) ** 0.5)


def test_a_bin_of_one_row_adds_nothing_to_the_debiased_root_mean_square():
    alone = debiased_rms_ce([0.9] * 10 + [0.1], [1] * 6 + [0] * 4 + [1])
    assert alone == pytest.approx(((0.09 - 0.24 / 9) * 10 / 11) ** 0.5)


def hle_script(confidence, correct, size=100):
    """Bins of ``size`` in order of confidence, the last one left out of the sum."""
    order = np.argsort(confidence)
    c, a = confidence[order], correct[order]
    ends = [(i * size, (i + 1) * size) for i in range(len(c) // size)]
    total = sum((e - s) / len(c) * (c[s:e].mean() - a[s:e].mean()) ** 2 for s, e in ends[:-1])
    return total**0.5


@pytest.mark.parametrize("n", [100, 150, 199, 200, 450, 1000])
def test_the_script_of_humanitys_last_exam_is_reproduced_for_comparison(n):
    rng = np.random.default_rng(n)
    confidence, correct = rng.random(n), rng.integers(0, 2, n).astype(float)
    assert rms_ce(confidence, correct, variant="hle-script") == pytest.approx(hle_script(confidence, correct))


def test_the_script_of_humanitys_last_exam_calls_an_always_wrong_certain_model_perfect_and_ours_does_not():
    assert rms_ce([1.0] * 199, [0] * 199, variant="hle-script") == 0.0
    assert rms_ce([1.0] * 199, [0] * 199) == 1.0


def test_the_script_of_humanitys_last_exam_says_where_it_fails():
    with pytest.raises(ValueError, match="'hle-script' needs at least 100 rows; got 99"):
        rms_ce([1.0] * 99, [0] * 99, variant="hle-script")
    with pytest.raises(ValueError, match="weights are not part of variant 'hle-script'"):
        rms_ce([1.0] * 100, [0] * 100, variant="hle-script", weights=[1] * 100)
    with pytest.raises(ValueError, match="variant must be one of 'bins', 'hle-script'; got 'hle'"):
        rms_ce([1.0], [0], variant="hle")


ZERO_CONFIDENCE = {
    ("Gpt-4.1", "other"), ("Gpt-4.1", "physics"), ("Gpt-4o-2024-08-06", "chemistry"),
    ("Gpt-4o-2024-08-06", "history"), ("Gpt-4o-2024-08-06", "philosophy"), ("Deepseek-chat", "chemistry"),
    ("Deepseek-chat", "economics"), ("Deepseek-chat", "physics"), ("Qwen3-32b", "computer science"),
    ("Qwen3-32b", "math"), ("Gpt-4.1-mini", "biology"), ("Gpt-4.1-mini", "chemistry"), ("Gpt-4.1-mini", "health"),
    ("Gpt-4.1-mini", "physics"),
}  # fmt: skip
"""The cells whose linguistic confidences contain 0, which the published loop leaves out of the sum."""


@pytest.mark.shared_data
def test_ninety_published_errors_are_reproduced_by_guo_and_all_but_fourteen_named_ones_by_right(shared_data):
    lines = (shared_data / "known_ece" / "mmlupro_half.jsonl").read_text(encoding="utf-8").splitlines()
    agrees = {"guo": 0, "right": 0}
    differs = set()
    for cell in map(json.loads, lines):
        for kind, given_ in cell.items():
            if not isinstance(given_, dict):
                continue
            for closed in agrees:
                same = abs(ece(given_["conf"], cell["correct"], closed=closed) - given_["published_ece"]) < 1e-6
                agrees[closed] += same
                if not same:
                    differs.add((cell["model"], cell["category"], kind, min(given_["conf"])))
    assert agrees == {"guo": 90, "right": 76}
    assert differs == {(*cell, "verbal_linguistic_confidence", 0.0) for cell in ZERO_CONFIDENCE}
