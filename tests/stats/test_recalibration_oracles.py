"""Every map against an independent library or the formula of its paper; where they differ, how."""

import warnings

import calibration
import numpy as np
import probcal
import pytest
from probcal import vennabers
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from venn_abers import VennAbers

from semece.stats.recalibration.dirichlet import fit_dirichlet
from semece.stats.recalibration.effects import verified_error
from semece.stats.recalibration.fitting import fit_recalibration
from semece.stats.recalibration.maps import logit

PROBES = np.concatenate([[0.0, 1.0], np.random.default_rng(9).random(200)])
TIGHT = {"clip": 1e-6}
"""A clip that touches none of the scores below 1e-6: the libraries have clips of their own."""


def smooth(n=700, seed=0):
    """Scores without ties."""
    rng = np.random.default_rng([seed, n])
    score = rng.random(n)
    return score, (rng.random(n) < score**1.5).astype(int)


def grid(n=900, steps=50, seed=0):
    """Scores with many ties, without 0 and 1."""
    rng = np.random.default_rng([seed, n])
    score = rng.integers(1, steps, n) / steps
    return score, (rng.random(n) < score**2).astype(int)


DATA = {"smooth": smooth(), "few": smooth(30), "grid": grid(), "tenths": grid(200, 10)}


@pytest.fixture(params=DATA)
def data(request):
    return DATA[request.param]


def close(ours, theirs, tolerance=1e-8):
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance)


def oracle(calibrator, score, correct):
    """A fitted calibrator of probcal; its notes on a fit are ours to give."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return calibrator.fit(score, correct)


def test_isotonic_is_scikit_learns(data):
    theirs = IsotonicRegression(out_of_bounds="clip").fit(*data).predict(PROBES)
    close(fit_recalibration(*data, method="isotonic")(PROBES), theirs)


def test_isotonic_is_scikit_learns_with_weights_and_soft_answers():
    score, correct = grid(300, 10)
    soft, weights = (correct + score) / 2, np.random.default_rng(0).integers(1, 5, 300)
    theirs = IsotonicRegression(out_of_bounds="clip").fit(score, soft, weights).predict(PROBES)
    close(fit_recalibration(score, soft, method="isotonic", weights=weights)(PROBES), theirs)


def logistic(design, target, weights=None):
    """Scikit-learn's logistic regression with soft targets: each row once as right and once as wrong."""
    w = np.ones(len(target)) if weights is None else weights
    model = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-13, max_iter=500)
    rows, answers = np.vstack([design, design]), np.repeat([1, 0], len(target))
    model.fit(rows, answers, sample_weight=np.concatenate([w * target, w * (1 - target)]))
    return lambda new: model.predict_proba(new)[:, 1]


def platts(correct):
    """Platt's targets."""
    right, wrong = correct.sum(), (1 - correct).sum()
    return np.where(correct == 1, (right + 1) / (right + 2), 1 / (wrong + 2))


def test_platt_is_scikit_learns_logistic_regression_on_platts_targets(data):
    score, correct = data
    theirs = logistic(logit(score, 1e-6)[:, None], platts(correct))
    close(fit_recalibration(score, correct, **TIGHT)(PROBES), theirs(logit(PROBES, 1e-6)[:, None]))


def test_platt_on_the_real_line_is_platts_own(data):
    score, correct = data
    values = 7 * score - 3
    theirs = logistic(values[:, None], platts(correct))
    ours = fit_recalibration(values, correct, domain="real")
    close(ours(7 * PROBES - 3), theirs((7 * PROBES - 3)[:, None]))


def test_platt_is_probcals(data):
    close(
        fit_recalibration(*data, **TIGHT)(PROBES[2:]),
        oracle(probcal.PlattCalibrator(), *data).predict_proba(PROBES[2:]),
    )


def test_uncertainty_calibration_has_no_imagined_answers():
    """Its Platt scaler is the same line without Platt's targets, to its solver's tolerance: the difference vanishes."""
    for n, tolerance in ((100, 0.06), (20_000, 0.002)):
        score, correct = smooth(n)
        theirs = calibration.utils.get_platt_scaler(score, correct)(PROBES[2:])
        close(fit_recalibration(score, correct, **TIGHT)(PROBES[2:]), theirs, tolerance)


def test_temperature_is_probcals(data):
    theirs = oracle(probcal.TemperatureCalibrator(), *data).predict_proba(PROBES[2:])
    close(fit_recalibration(*data, method="temperature", **TIGHT)(PROBES[2:]), theirs)


def test_temperature_is_logistic_regression_without_a_level(data):
    score, correct = data
    model = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-13, max_iter=500, fit_intercept=False)
    theirs = model.fit(logit(score, 1e-6)[:, None], correct).predict_proba(logit(PROBES, 1e-6)[:, None])[:, 1]
    close(fit_recalibration(score, correct, method="temperature", **TIGHT)(PROBES), theirs)


def test_beta_is_probcals(data):
    theirs = oracle(probcal.BetaCalibrator(), *data).predict_proba(PROBES[2:])
    close(fit_recalibration(*data, method="beta", **TIGHT)(PROBES[2:]), theirs)


def test_beta_is_logistic_regression_on_both_logarithms():
    score, correct = grid()
    theirs = logistic(np.column_stack([np.log(score), -np.log1p(-score)]), correct.astype(float))
    new = PROBES[2:]
    close(
        fit_recalibration(score, correct, method="beta", **TIGHT)(new),
        theirs(np.column_stack([np.log(new), -np.log1p(-new)])),
    )


@pytest.mark.parametrize("n_bins", [1, 5, 10])
def test_histogram_is_uncertainty_calibrations_and_probcals(n_bins):
    score, correct = smooth()
    bins = calibration.utils.get_equal_bins(score, num_bins=n_bins)
    ours = fit_recalibration(score, correct, method="histogram", n_bins=n_bins)(PROBES)
    close(ours, calibration.utils.get_histogram_calibrator(score, correct, bins)(PROBES))
    theirs = oracle(probcal.HistogramBinningCalibrator(n_bins, shrinkage=None), score, correct)
    np.testing.assert_allclose(np.unique(ours), np.unique(theirs.predict_proba(PROBES)), atol=1e-8)


@pytest.mark.parametrize("n_bins", [1, 5, 10])
def test_scaling_binning_is_uncertainty_calibrations_given_the_line(n_bins):
    score, correct = smooth()
    line = fit_recalibration(score, correct, **TIGHT)
    bins = calibration.utils.get_equal_bins(line(score), num_bins=n_bins)
    theirs = calibration.utils.get_discrete_calibrator(line(score), bins)(line(PROBES))
    ours = fit_recalibration(score, correct, method="scaling-binning", **TIGHT, n_bins=n_bins)
    close(ours(PROBES), theirs)


def test_venn_abers_is_the_packages_of_its_authors(data):
    score, correct = data
    package = VennAbers()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # it divides 0 by 0 where scores are tied
        package.fit(np.column_stack([1 - score, score]), correct)
        theirs, pair = package.predict_proba(np.column_stack([1 - PROBES, PROBES]))
    ours = fit_recalibration(score, correct, method="venn-abers")
    close(ours.interval(PROBES), pair)
    close(ours(PROBES), theirs[:, 1])


def test_venn_abers_is_probcals_at_known_scores_too(data):
    score, correct = data
    theirs = oracle(vennabers.VennAbersCalibrator(), score, correct)
    new = np.concatenate([PROBES, score])
    close(fit_recalibration(score, correct, method="venn-abers").interval(new), theirs.predict_interval(new))


def kull(shares, target, penalty, clip=0.01):
    """Dirichlet calibration as in the paper, by a general optimiser."""
    kept = np.maximum(shares, clip)
    logs = np.log(kept / kept.sum(axis=1, keepdims=True))
    k = shares.shape[1]
    off = ~np.eye(k, dtype=bool)

    def loss(flat):
        weights, level = flat[: k * k].reshape(k, k), flat[k * k :]
        value = log_softmax(logs @ weights.T + level, axis=1)
        odir = (weights[off] ** 2).sum() / (k * (k - 1)) + (level**2).sum() / k
        p = np.exp(value)
        slope = (p - target) / len(shares)
        by_weight = slope.T @ logs + penalty * 2 * weights * off / (k * (k - 1))
        by_level = slope.sum(axis=0) + penalty * 2 * level / k
        return -(target * value).sum() / len(shares) + penalty * odir, np.concatenate([by_weight.ravel(), by_level])

    start = np.concatenate([np.eye(k).ravel(), np.zeros(k)])
    found = minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-12, "maxiter": 10_000}).x
    weights, level = found[: k * k].reshape(k, k), found[k * k :]
    return lambda new: np.exp(log_softmax(np.log(new) @ weights.T + level, axis=1))[:, 0]


@pytest.mark.parametrize("penalty", [0.001, 0.1])
def test_dirichlet_is_the_papers_objective(penalty):
    rng = np.random.default_rng(0)
    shares = rng.dirichlet([2, 1, 1], 300)
    target = np.eye(3)[[rng.choice(3, p=0.6 * row + 0.4 / 3) for row in shares]]
    new = rng.dirichlet([2, 2, 2], 50).clip(0.02)
    new /= new.sum(axis=1, keepdims=True)
    close(fit_dirichlet(shares, target, penalty=penalty)(new), kull(shares, target, penalty)(new), 1e-7)


def test_dirichlet_without_penalty_is_scikit_learns_multinomial_regression():
    rng = np.random.default_rng(1)
    shares = rng.dirichlet([2, 2, 2, 2], 400).clip(0.02)
    shares /= shares.sum(axis=1, keepdims=True)
    answer = np.array([rng.choice(4, p=0.5 * row + 0.125) for row in shares])
    model = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-13, max_iter=500)
    theirs = model.fit(np.log(shares), answer).predict_proba(np.log(shares))[:, 0]
    close(fit_dirichlet(shares, answer, penalty=0)(shares), theirs)


@pytest.mark.parametrize("method", ["histogram", "scaling-binning"])
def test_the_verified_error_is_uncertainty_calibrations(method):
    fitted = fit_recalibration(*smooth(500), method=method, ids=range(500))
    score, correct = smooth(400, seed=1)
    theirs = calibration.utils.get_binning_ce(fitted(score), correct, p=2, debias=True)
    close(verified_error(fitted, score, correct, ids=range(500, 900)).error.value, theirs)


def test_the_error_of_other_maps_is_uncertainty_calibrations_lower_bound():
    fitted = fit_recalibration(*smooth(500), ids=range(500))
    score, correct = smooth(450, seed=1)
    theirs = calibration.utils.lower_bound_scaling_ce(fitted(score), correct, p=2, debias=True, num_bins=15)
    close(verified_error(fitted, score, correct, ids=range(500, 950)).error.value, theirs)
