"""Every metric against an independent library; where the library is wrong, how, and what is right."""

import warnings

import calibration
import calibstats
import calikit.binning
import numpy as np
import probcal.metrics
import pytest
import relplot.metrics
from model_diagnostics.scoring import SquaredError, decompose
from scipy.stats import binomtest, bootstrap
from sklearn import metrics
from sklearn.isotonic import IsotonicRegression

from semece.stats.calibration.adaptive import ece_sweep, smooth_ece
from semece.stats.calibration.binned_errors import debiased_rms_ce, ece, mce, reliability_table, rms_ce
from semece.stats.calibration.proper_scores import brier, brier_decomposition, log_loss
from semece.stats.calibration.ranking import aurc, auroc, average_precision
from semece.stats.uncertainty.bootstrap import Resampling, paired_bootstrap
from semece.stats.uncertainty.intervals import accuracy_interval


def grid(n, steps, power=1.5, seed=0):
    """Confidences on a grid with every edge, 0 and 1, many ties, and binary correctness."""
    rng = np.random.default_rng([seed, n, steps])
    confidence = np.concatenate([np.arange(steps + 1) / steps, rng.integers(0, steps + 1, n) / steps])
    return confidence, (rng.random(len(confidence)) < confidence**power).astype(int)


def smooth(n, seed=0):
    """Confidences without ties, and binary correctness."""
    rng = np.random.default_rng([seed, n])
    confidence = rng.random(n)
    return confidence, (rng.random(n) < confidence**1.5).astype(int)


DATA = {
    "random": smooth(700),
    "few": smooth(30),
    "tenths": grid(300, 10),
    "fiftieths": grid(900, 50),
    "twentieths": grid(60, 20),
    "all correct but one": (grid(40, 10)[0], np.r_[0, np.ones(50, int)]),
}
WEIGHTS = {name: np.random.default_rng(1).integers(1, 5, len(c)) for name, (c, _) in DATA.items()}
OFF_EDGES = {name: (c * 0.97 + 0.0131, a) for name, (c, a) in DATA.items()}
"""The same without a value on an edge of 10 or 15 bins, where the edge rules do not matter."""


@pytest.fixture(params=DATA)
def data(request):
    return DATA[request.param]


@pytest.fixture(params=DATA)
def weighted(request):
    return (*DATA[request.param], WEIGHTS[request.param])


@pytest.mark.parametrize("n_bins", [2, 10, 15])
class TestBinnedErrors:
    def test_calikit_has_bins_closed_on_the_left(self, data, n_bins):
        c, a = data
        bins = calikit.binning.bin_predictions(c.tolist(), a.tolist(), k=n_bins, scheme="width")
        assert ece(c, a, n_bins=n_bins) == pytest.approx(calikit.binning.ece(bins), abs=1e-12)
        assert mce(c, a, n_bins=n_bins) == pytest.approx(calikit.binning.mce(bins), abs=1e-12)
        table = reliability_table(c, a, n_bins=n_bins)
        kept = table.count > 0
        for ours, theirs in (
            ("count", "n"),
            ("confidence", "conf"),
            ("accuracy", "acc"),
            ("low", "lo"),
            ("high", "hi"),
        ):
            np.testing.assert_allclose(getattr(table, ours)[kept], [getattr(b, theirs) for b in bins], atol=1e-12)

    def test_uncertainty_calibration_has_bins_closed_on_the_right(self, data, n_bins):
        c, a = data
        theirs = calibration.get_ece(c, a, num_bins=n_bins, mode="marginal")
        assert ece(c, a, n_bins=n_bins, closed="right") == pytest.approx(theirs, abs=1e-12)

    def test_calibstats_and_probcal_digitize_on_linspace(self, weighted, n_bins):
        c, a, w = weighted
        options = {"n_bins": n_bins, "closed": "linspace-digitize"}
        assert ece(c, a, **options) == pytest.approx(calibstats.ece(c, a, n_bins=n_bins), abs=1e-12)
        assert mce(c, a, **options) == pytest.approx(calibstats.mce(c, a, n_bins=n_bins), abs=1e-12)
        theirs = {"n_bins": n_bins, "strategy": "width", "sample_weight": w}
        for ours, norm in ((ece, "l1"), (rms_ce, "l2"), (mce, "max")):
            expected = probcal.metrics.ece(a, c, norm=norm, **theirs)
            assert ours(c, a, weights=w, **options) == pytest.approx(expected, abs=1e-12)

    def test_all_agree_away_from_edges(self, n_bins):
        for name, (c, a) in OFF_EDGES.items():
            w = WEIGHTS[name]
            expected = probcal.metrics.ece(a, c, n_bins=n_bins, strategy="width", sample_weight=w)
            for closed in ("left", "right", "guo", "linspace-digitize"):
                assert ece(c, a, n_bins=n_bins, closed=closed, weights=w) == pytest.approx(expected, abs=1e-12)

    def test_the_debiased_root_mean_square_is_kumars(self, data, n_bins):
        c, a = data
        theirs = calibration.lower_bound_scaling_ce(
            c, a, p=2, debias=True, num_bins=n_bins, binning_scheme=calibration.utils.get_equal_prob_bins
        )
        assert debiased_rms_ce(c, a, n_bins=n_bins, closed="right") == pytest.approx(theirs, abs=1e-9)
        digitize = debiased_rms_ce(c, a, n_bins=n_bins, closed="linspace-digitize")
        assert digitize == pytest.approx(calibstats.debiased_ece(c, a, n_bins=n_bins), abs=1e-9)


@pytest.mark.parametrize("n_bins", [1, 5, 10])
def test_bins_by_mass_are_everyones_where_confidences_differ(n_bins):
    c, a = smooth(700)
    ours = ece(c, a, n_bins=n_bins, binning="mass")
    assert ours == pytest.approx(calibration.get_ece_em(c, a, num_bins=n_bins, mode="marginal"), abs=1e-12)
    assert ours == pytest.approx(probcal.metrics.ece(a, c, n_bins=n_bins, strategy="mass"), abs=1e-12)
    if n_bins > 1:
        bins = calikit.binning.bin_predictions(c.tolist(), a.tolist(), k=n_bins, scheme="mass")
        assert ours == pytest.approx(calikit.binning.ece(bins), abs=1e-12)


def test_calikits_bins_by_mass_depend_on_the_order_within_ties_and_ours_do_not():
    c, a = np.full(100, 0.5), np.repeat([0, 1], 50)
    theirs = {
        calikit.binning.ece(calikit.binning.bin_predictions(c.tolist(), a[order].tolist(), k=2, scheme="mass"))
        for order in (np.arange(100), np.arange(100).reshape(2, 50).T.ravel())
    }
    assert theirs == {0.5, 0.0}
    assert ece(c, a, n_bins=2, binning="mass") == 0.0


@pytest.mark.parametrize("value", [0.3, 0.6, 0.7])
def test_calibstats_and_probcal_put_three_tenths_a_bin_too_low(value):
    """0.3 is on an edge with 0.25 below it: one residual would cancel the other if they shared a bin."""
    c, a = np.array([value, value - 0.05]), np.array([1, 0])
    apart = (1 - value + value - 0.05) / 2
    together = abs(1 - 2 * value + 0.05) / 2
    assert calibstats.ece(c, a, n_bins=10) == pytest.approx(together)
    assert probcal.metrics.ece(a, c, n_bins=10, strategy="width") == pytest.approx(together)
    assert ece(c, a) == pytest.approx(apart)


def test_relplot_gives_certainty_a_bin_of_its_own():
    c, a = np.array([1.0, 0.95]), np.array([0.0, 1.0])
    assert relplot.metrics.binnedECE(c, a) == pytest.approx(0.525)
    assert ece(c, a) == pytest.approx(0.475)


@pytest.mark.parametrize("seed", range(6))
def test_the_smooth_error_is_relplots_inside_the_unit_interval(seed):
    c, a = smooth(400, seed)
    c = 0.1 + 0.8 * c
    assert smooth_ece(c, a) == pytest.approx(relplot.metrics.smECE(c, a.astype(float)), abs=1e-3)


def test_relplot_halves_what_lies_at_zero_and_one_and_ours_does_not():
    """Always wrong at 0.8 and at 1: residuals of one sign cannot cancel, so every width gives their mean, 0.9."""
    c, a = np.array([0.8, 1.0] * 100), np.zeros(200)
    assert smooth_ece(c, a) == pytest.approx(0.9, abs=1e-9)
    assert abs(relplot.metrics.smECE(c, a) - 0.9) > 0.01


def test_the_sweep_is_probcals_where_bins_divide_the_rows():
    """Up to ten bins divide 2,520 rows; accuracy falls before that, as it rises by little."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        c = rng.random(2520)
        a = (rng.random(2520) < 0.4 + 0.2 * c).astype(int)
        assert ece_sweep(c, a) == pytest.approx(probcal.metrics.ece_sweep(a, c), abs=1e-12)


def test_brier_score_and_log_loss_are_scikit_learns(weighted):
    c, a, w = weighted
    assert brier(c, a, weights=w) == pytest.approx(metrics.brier_score_loss(a, c, sample_weight=w), abs=1e-12)
    expected = metrics.log_loss(a, c, sample_weight=w, labels=[0, 1])
    clipped = log_loss(c, a, clip=float(np.finfo(np.float64).eps), weights=w)
    assert clipped.value == pytest.approx(expected, rel=1e-9)


def test_murphys_parts_are_probcals_with_a_bin_for_every_value():
    c, a = grid(300, 10)
    w = np.random.default_rng(2).integers(1, 4, len(c))
    inside = c * 10 / 11 + 1 / 22
    expected = probcal.metrics.murphy_decomposition(a, inside, n_bins=11, strategy="width", sample_weight=w)
    ours = brier_decomposition(inside, a, weights=w)
    assert ours == pytest.approx((expected.reliability, expected.resolution, expected.uncertainty), abs=1e-12)


def test_corp_is_that_of_model_diagnostics_and_its_fit_scikit_learns(weighted):
    c, a, w = weighted
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = decompose(a, c, weights=w, scoring_function=SquaredError(), functional="mean")
    reliability, resolution, uncertainty = brier_decomposition(c, a, method="corp", weights=w)
    assert reliability == pytest.approx(expected["miscalibration"][0], abs=1e-12)
    assert resolution == pytest.approx(expected["discrimination"][0], abs=1e-12)
    assert uncertainty == pytest.approx(expected["uncertainty"][0], abs=1e-12)
    fit = IsotonicRegression().fit(c, a, sample_weight=w).predict(c)
    assert brier(c, a, weights=w) - reliability == pytest.approx(np.average((fit - a) ** 2, weights=w), abs=1e-12)


def test_ranking_is_scikit_learns(weighted):
    c, a, w = weighted
    assert auroc(c, a, weights=w) == pytest.approx(metrics.roc_auc_score(a, c, sample_weight=w), abs=1e-12)
    expected = metrics.average_precision_score(a, c, sample_weight=w)
    assert average_precision(c, a, weights=w) == pytest.approx(expected, abs=1e-12)


def test_the_area_under_the_risk_coverage_curve_is_one_less_the_selective_accuracy_of_uncertainty_calibration():
    c, a = smooth(500)
    area, _ = calibration.utils.get_selective_stats(c, a)
    assert aurc(c, a) == pytest.approx(1 - area, abs=1e-12)


@pytest.mark.parametrize(("right", "n"), [(0, 5), (3, 10), (7, 10), (480, 500)])
def test_the_wilson_interval_is_scipys(right, n):
    for level in (0.5, 0.95):
        expected = binomtest(right, n).proportion_ci(level, method="wilson")
        assert accuracy_interval([1] * right + [0] * (n - right), level=level)[1:] == pytest.approx(tuple(expected))


def test_the_percentile_interval_of_a_mean_difference_is_scipys():
    rng = np.random.default_rng(0)
    first = rng.random(300)
    second = first * rng.random(300)
    ours = paired_bootstrap(first, second, rng.integers(0, 2, 300), resampling=Resampling(20_000)).overall
    theirs = bootstrap(
        (first - second,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(1)
    ).confidence_interval
    width = theirs.high - theirs.low
    assert ours.mean_difference[1:] == pytest.approx((theirs.low, theirs.high), abs=0.03 * width)
