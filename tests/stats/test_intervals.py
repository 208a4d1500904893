"""Intervals of the calibration error: what they are, what they refuse to claim, and how often they hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri, stdtrit
from scipy.stats import binom

from semece.stats.calibration.binned_errors import ece
from semece.stats.calibration.bins import width_bins
from semece.stats.counts import Counts
from semece.stats.estimators import sem2
from semece.stats.rows import check_rows
from semece.stats.uncertainty.intervals import (
    accuracy_interval,
    debiased_ece,
    ece_interval,
    paired_draws,
    rejects_calibration,
    residual_moments,
)

ROWS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 1), st.integers(1, 3)), min_size=2, max_size=30)


def columns(rows):
    k, a, w = (np.array(column) for column in zip(*rows, strict=True))
    return k / 20, a, w


def student(degrees):
    """Level at which normal quantiles are those of Student's distribution at 95 %."""
    return 2 * ndtr(stdtrit(degrees, 0.975)) - 1


def moments(confidence, correct, **options):
    rows = check_rows(confidence, correct, **options)
    return residual_moments(rows, width_bins(rows.confidence, 10))


@given(ROWS)
def test_an_interval_holds_its_value_which_is_the_error(rows):
    c, a, w = columns(rows)
    value, low, high = ece_interval(c, a, weights=w)
    assert value == pytest.approx(ece(c, a, weights=w), abs=1e-15)
    assert 0 <= low <= debiased_ece(c, a, weights=w) + 1e-9
    assert debiased_ece(c, a, weights=w) <= value + 1e-9
    assert value <= high <= 1


@given(ROWS)
def test_weights_equal_replication(rows):
    c, a, w = columns(rows)
    many, right = np.repeat(c, w), np.repeat(a, w)
    np.testing.assert_allclose(ece_interval(c, a, weights=w), ece_interval(many, right), atol=1e-6)
    assert debiased_ece(c, a, weights=w) == pytest.approx(debiased_ece(many, right), abs=1e-6)
    np.testing.assert_allclose(accuracy_interval(a, weights=w), accuracy_interval(right))
    ids = np.arange(len(w)) // 2
    named = ece_interval(many, right, ids=np.repeat(ids, w))
    np.testing.assert_allclose(ece_interval(c, a, weights=w, ids=ids), named, atol=1e-6)


@given(ROWS)
def test_ids_that_never_repeat_change_nothing(rows):
    c, a, _ = columns(rows)
    plain, named = moments(c, a), moments(c, a, ids=np.arange(len(c)))
    np.testing.assert_allclose(plain.value, named.value, atol=1e-15)
    np.testing.assert_allclose(plain.covariance, named.covariance, atol=1e-15)


@given(ROWS, st.randoms(use_true_random=False))
def test_the_order_of_rows_never_matters(rows, random):
    c, a, w = columns(rows)
    d, b, v = columns(random.sample(rows, len(rows)))
    np.testing.assert_allclose(ece_interval(c, a, weights=w), ece_interval(d, b, weights=v), atol=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_a_rounding_error_does_not_turn_the_draws(seed):
    """Bins of equal variance leave the eigenvectors open; the interval must not depend on them."""
    rng = np.random.default_rng(seed)
    c = np.repeat(np.arange(10) / 10 + 0.05, 20)
    a = np.tile([1, 0], 100)
    order = rng.permutation(200)
    np.testing.assert_allclose(ece_interval(c, a), ece_interval(c[order], a[order]), atol=1e-6)


def test_copies_of_the_same_questions_do_not_make_the_interval_narrower():
    rng = np.random.default_rng(0)
    c = rng.integers(0, 51, 200) / 50
    a = rng.random(200) < c**2
    once = ece_interval(c, a)
    copies = ece_interval(np.tile(c, 5), np.tile(a, 5), ids=np.tile(np.arange(200), 5))
    independent = ece_interval(np.tile(c, 5), np.tile(a, 5))
    assert copies == pytest.approx(once, abs=1e-3)
    assert independent.high - independent.low < 0.6 * (once.high - once.low)


def test_the_covariance_is_that_of_the_bootstrap():
    rng = np.random.default_rng(1)
    ids = np.repeat(np.arange(150), rng.integers(1, 4, 150))
    c = np.clip(rng.random(150)[ids] + rng.normal(0, 0.1, len(ids)), 0, 1)
    a = (rng.random(150)[ids] < 0.25 + 0.5 * c).astype(float)
    rows = check_rows(c, a, ids=ids)
    ours = residual_moments(rows, width_bins(rows.confidence, 10), floored=False)
    cells = np.zeros((150, 10))
    np.add.at(cells, (ids, width_bins(c, 10).place), a - c)
    weights = rng.multinomial(150, np.full(150, 1 / 150), 20_000)
    replicates = weights @ cells / (weights @ np.bincount(ids))[:, None]
    expected = np.cov(replicates.T)
    spread = np.sqrt(np.diag(expected))
    difference = (ours.covariance - expected) / np.outer(spread, spread)
    assert np.abs(difference).max() < 0.06


def test_equal_input_gives_equal_output_and_a_generator_is_used_as_it_is():
    c, a = [0.9, 0.8, 0.3, 0.5] * 10, [1, 0, 0, 1] * 10
    assert ece_interval(c, a) == ece_interval(c, a, rng=0) == ece_interval(c, a, rng=np.random.default_rng(0))
    assert ece_interval(c, a) != ece_interval(c, a, rng=1)
    generator = np.random.default_rng(0)
    assert ece_interval(c, a, rng=generator) != ece_interval(c, a, rng=generator)


def test_the_upper_end_is_a_normal_step_above_the_value():
    """Two bins: residuals -0.2 and 0.1 of halves, so that everything can be written out."""
    c, a = [0.9] * 50 + [0.2] * 50, [1] * 25 + [0] * 25 + [1] * 20 + [0] * 30
    second = np.array([25 * 0.01 + 25 * 0.81, 20 * 0.64 + 30 * 0.04]) / 100
    r = np.array([-0.2, 0.1])
    covariance = (np.diag(second) - np.outer(r, r)) / 99
    variance = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    for level in (0.5, 0.95):
        value, _, high = ece_interval(c, a, level=level)
        assert value == pytest.approx(0.3)
        assert high == pytest.approx(0.3 + ndtri(0.5 + level / 2) * variance**0.5)


def test_the_lower_end_and_the_debiased_value_solve_their_equations():
    c, a = [0.9] * 50 + [0.2] * 50, [1] * 25 + [0] * 25 + [1] * 20 + [0] * 30
    r, covariance, _ = moments(c, a)
    noise = np.random.default_rng(5).multivariate_normal(r * 0, covariance, 400_000)
    total = np.abs(r).sum()
    _, low, _ = ece_interval(c, a)
    clear = np.sign(r) * np.maximum(np.abs(r) - np.diag(covariance) ** 0.5, 0)
    at_low = np.abs(low * clear / np.abs(clear).sum() + noise).sum(axis=1)
    assert np.mean(at_low < total) == pytest.approx(0.975, abs=0.004)
    at_middle = np.abs(debiased_ece(c, a) / total * r + noise).sum(axis=1)
    assert np.mean(at_middle < total) == pytest.approx(0.5, abs=0.02)


def test_noise_in_the_other_bins_does_not_lift_the_lower_end():
    """One bin of ten errs by 0.5; 400 runs of 400 questions, 4 standard errors."""
    rng, c = np.random.default_rng(4), np.tile(np.arange(10) / 10 + 0.05, 40)
    chance = np.where(c > 0.9, c - 0.5, c)
    ends = [ece_interval(c, rng.random(400) < chance, rng=rng) for _ in range(400)]
    too_high = np.mean([end.low > 0.05 for end in ends])
    assert too_high < 0.025 + 4 * (0.025 / 400) ** 0.5
    assert np.mean([end.low > 0 for end in ends]) > 0.02


def test_half_of_the_draws_around_the_debiased_value_are_below_the_error():
    """Residuals of about their noise, so that the value lies well between 0 and the error."""
    c, a = [0.9] * 40 + [0.5] * 40 + [0.2] * 40, [1] * 33 + [0] * 7 + [1] * 26 + [0] * 14 + [1] * 11 + [0] * 29
    r, covariance, _ = moments(c, a)
    total, value = np.abs(r).sum(), debiased_ece(c, a)
    assert 0.2 * total < value < 0.95 * total
    noise = np.random.default_rng(5).multivariate_normal(r * 0, covariance, 400_000)
    assert np.mean(np.abs(value / total * r + noise).sum(axis=1) < total) == pytest.approx(0.5, abs=0.012)


def test_bins_without_rows_cost_nothing():
    c, a = [0.5, 0.9, 0.5], [1, 0, 0]
    assert ece_interval(c, a, n_bins=10**6) == pytest.approx(ece_interval(c, a))
    assert debiased_ece(c, a, n_bins=10**6) == pytest.approx(debiased_ece(c, a))


def test_a_higher_level_makes_a_wider_interval():
    c, a = [0.9] * 50 + [0.2] * 50, [1] * 25 + [0] * 25 + [1] * 20 + [0] * 30
    ends = [ece_interval(c, a, level=level)[1:] for level in (0.5, 0.9, 0.99)]
    assert ends[0][0] > ends[1][0] > ends[2][0]
    assert ends[0][1] < ends[1][1] < ends[2][1]


def test_the_bins_and_their_edges_are_those_that_were_asked_for():
    c, a = [0.3, 0.3, 0.0, 0.95] * 10, [1, 0, 1, 1] * 10
    for options in ({"closed": "right"}, {"closed": "guo"}, {"n_bins": 3}):
        assert ece_interval(c, a, **options).value == pytest.approx(ece(c, a, **options))
    assert debiased_ece(c, a, n_bins=1) <= ece(c, a, n_bins=1) < ece(c, a)


def test_one_question_says_nothing():
    assert ece_interval([0.7], [1]) == (pytest.approx(0.3), 0.0, 1.0)
    assert ece_interval([0.7, 0.9], [1, 1], ids=["a", "a"])[1:] == (0.0, 1.0)
    assert debiased_ece([0.7], [1]) == pytest.approx(0.3)
    assert not rejects_calibration(moments([0.0], [1]))


def test_a_few_certain_and_correct_answers_do_not_prove_calibration():
    value, low, high = ece_interval([1.0] * 20, [1] * 20)
    assert (value, low) == (0.0, 0.0)
    assert high == pytest.approx(2 / 24 + 1.96 * (22 / 24 * 2 / 24 / 20) ** 0.5, abs=1e-4)
    assert ece_interval([1.0] * 20, [1] * 20, ids=np.arange(20)) == pytest.approx((value, low, high))
    assert ece_interval([0.0] * 20, [0] * 20).high == pytest.approx(high)


def test_a_bin_with_both_kinds_of_answers_is_given_no_further_variance():
    r = moments([0.5] * 10, [1] * 5 + [0] * 5)
    assert r.covariance[0, 0] == pytest.approx(0.25 / 9)
    alike = moments([0.5] * 10, [1] * 10)
    assert alike.covariance[0, 0] == pytest.approx(10 * 12 * 2 / 14**2 / 100)


def test_a_constant_model_with_chance_residual_zero_still_has_an_upper_end():
    value, low, high = ece_interval([0.5] * 20, [1] * 10 + [0] * 10)
    assert (value, low) == (0.0, 0.0)
    assert high == pytest.approx(1.96 * 0.5 / 19**0.5, abs=1e-3)


def test_the_sign_of_a_rounding_error_does_not_decide_the_upper_end():
    """Residuals of one bin that cancel, in two orders of summation, in rows whose questions reach over two bins."""
    c, a, w = np.array([0.0, 0.3, 0.35, 0.35]), np.array([1, 1, 0, 0]), np.array([1, 2, 1, 3])
    many, right, ids = np.repeat(c, w), np.repeat(a, w), np.repeat([0, 0, 1, 1], w)
    for order in (np.arange(7), np.arange(7)[::-1], np.array([3, 0, 6, 1, 4, 2, 5])):
        high = ece_interval(many[order], right[order], ids=ids[order]).high
        assert high == pytest.approx(ece_interval(c, a, weights=w, ids=[0, 0, 1, 1]).high, abs=1e-9)


def test_soft_correctness_without_spread_has_an_interval_all_the_same():
    value, low, high = ece_interval([0.75] * 30, [0.5] * 30)
    assert 0 < low < value == 0.25 < high
    assert high - low == pytest.approx(2 * 1.96 * 0.5 / 30**0.5, rel=0.1)
    value, low, high = ece_interval([1.0] * 3, [0.75] * 3)
    assert low < value < high
    assert debiased_ece([0.75] * 30, [0.5] * 30) == 0.25


def test_noise_alone_is_not_rejected_and_a_plain_error_is():
    rng = np.random.default_rng(0)
    c = rng.integers(0, 51, 1000) / 50
    calibrated = [rejects_calibration(moments(c, rng.random(1000) < c), rng=rng) for _ in range(200)]
    assert np.mean(calibrated) < 0.05 + 4 * (0.05 * 0.95 / 200) ** 0.5
    assert rejects_calibration(moments(c, rng.random(1000) < c**2))


def test_draws_have_the_covariance_they_were_asked_for_and_come_in_pairs():
    covariance = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 0.0]])
    draws = paired_draws(covariance)
    assert (draws[:, :5000] == -draws[:, 5000:]).all()
    np.testing.assert_allclose(draws @ draws.T / draws.shape[1], covariance, atol=0.15)


def test_accuracy_has_its_wilson_interval():
    assert accuracy_interval([1] * 7 + [0] * 3) == pytest.approx((0.7, 0.39677, 0.89221), abs=1e-5)
    assert accuracy_interval([1] * 5)[2] == pytest.approx(1.0)
    assert accuracy_interval([0] * 5)[:2] == pytest.approx((0.0, 0.0), abs=1e-12)
    assert accuracy_interval([0.5] * 10)[1:] == pytest.approx(accuracy_interval([1, 0] * 5)[1:])


def test_copies_of_an_answer_do_not_make_the_accuracy_surer():
    ids = np.repeat(np.arange(10), 8)
    for right in ([1] * 7 + [0] * 3, [1] * 10):
        copies = accuracy_interval(np.repeat(right, 8), ids=ids)
        np.testing.assert_allclose(copies, accuracy_interval(right, level=student(9)))
    alone = accuracy_interval([1, 0, 1], ids=["a"] * 3)
    assert alone.low < 0.05
    assert alone.high > 0.95


def test_questions_of_one_row_count_in_full_and_rows_that_balance_each_other_for_one():
    right = [1] * 7 + [0] * 3
    np.testing.assert_allclose(accuracy_interval(right, ids=range(10)), accuracy_interval(right))
    balanced = accuracy_interval([1, 0] * 20, ids=np.repeat(np.arange(20), 2))
    np.testing.assert_allclose(balanced, accuracy_interval([1, 0] * 10, level=student(19)))


@pytest.mark.parametrize("function", [accuracy_interval, lambda a, ids: ece_interval(np.ones(len(a)), a, ids=ids)])
def test_intervals_of_few_questions_with_many_rows_hold(function):
    """Five questions with five rows each, alike within a question; 1,000 replications, 4 standard errors."""
    rng, ids, held = np.random.default_rng(5), np.repeat(np.arange(5), 5), 0
    for _ in range(1000):
        chance = rng.beta(2, 2, 5)[ids]
        _, low, high = function((rng.random(25) < chance).astype(float), ids=ids)
        held += low <= 0.5 <= high
    assert held / 1000 > 0.95 - 4 * (0.95 * 0.05 / 1000) ** 0.5


@pytest.mark.parametrize("confidence", [1.0, 0.6, 0.25])
@pytest.mark.parametrize("size", [50, 200, 1000, 4000])
def test_intervals_of_a_constant_confidence_hold_by_exact_sums(confidence, size):
    """Nearly all right or nearly all wrong: a normal interval of what was seen holds .80 of the time at worst."""
    known = {}
    for share in (0.9, 0.95, 0.97, 0.99, 0.998, 0.1, 0.05, 0.03, 0.01, 0.002):
        chances = binom.pmf(np.arange(size + 1), size, share)
        missed = 0.0
        for right in np.flatnonzero(chances > 1e-7).tolist():
            if right not in known:
                weights = [right, size - right]
                known[right] = ece_interval([confidence] * 2, [1, 0], weights=weights)[1:]
            low, high = known[right]
            missed += chances[right] * (not low - 1e-12 <= abs(confidence - share) <= high + 1e-12)
        assert missed < 0.07


@pytest.mark.parametrize("right", [0, 1, 50, 97, 99, 100])
def test_accuracy_and_error_of_a_unanimous_model_agree(right):
    """All confidences are 1: the error is one minus the accuracy, and so are the ends but for a bin's correction."""
    correct = [1] * right + [0] * (100 - right)
    accuracy, error = accuracy_interval(correct), ece_interval([1.0] * 100, correct)
    assert error.value == pytest.approx(1 - accuracy.value)
    assert (error.low, error.high) == pytest.approx((1 - accuracy.high, 1 - accuracy.low), abs=0.03)


ACCURACY = {"calibrated": lambda c: c, "over-confident": lambda c: c**2, "crossing": lambda c: 0.25 + 0.5 * c}


@pytest.fixture(scope="module")
def pool():
    """Sem1 and Sem2 of questions with K ~ U{2..12} classes, Dirichlet probabilities, n = 50."""
    rng = np.random.default_rng(0)
    counts = np.zeros((20_000, 12), int)
    for row in counts:
        k, alpha = rng.integers(2, 13), rng.choice([0.15, 0.4, 1.0, 3.0])
        row[:k] = rng.multinomial(50, rng.dirichlet([alpha] * k))
    distinct, place = np.unique(-np.sort(-counts, axis=1), axis=0, return_inverse=True)
    return distinct[place, 0] / 50, sem2(counts=Counts.from_counts(distinct))[place]


@pytest.mark.slow
@pytest.mark.parametrize("population", ACCURACY)
@pytest.mark.parametrize("size", [500, 4000])
def test_intervals_hold_and_the_bias_is_less(pool, population, size):
    """Samples with replacement from a pool whose own error is the truth; 200 replications, 4 standard errors."""
    replications = 200
    accuracy = ACCURACY[population](pool[0])
    rng = np.random.default_rng(size)
    found = []
    for _ in range(replications):
        index = rng.integers(0, len(accuracy), size)
        correct = rng.random(size) < accuracy[index]
        found.append([[*ece_interval(c[index], correct, rng=rng), debiased_ece(c[index], correct)] for c in pool])
    for place, (least, most) in enumerate([(0.93, 0.99), (0.91, 1.0)]):
        value, low, high, debiased = np.array(found)[:, place].T
        truth = ece(pool[place], accuracy)
        covered = np.mean((low <= truth + 1e-12) & (truth <= high))
        error = 4 * (covered * (1 - covered) / replications) ** 0.5
        assert least - error <= covered <= most + error
        slack = 4 * debiased.std() / replications**0.5
        if population == "calibrated" and place == 0:
            assert debiased.mean() - truth <= (value.mean() - truth) / 2 + slack
        else:
            assert abs(debiased.mean() - truth) <= 0.006 + slack


@pytest.mark.slow
def test_the_bias_is_less_with_few_questions_of_an_over_confident_model(pool):
    """24 questions; 400 replications, 4 standard errors."""
    accuracy, rng, found = pool[0] ** 2, np.random.default_rng(24), []
    for _ in range(400):
        index = rng.integers(0, len(accuracy), 24)
        rows = pool[0][index], rng.random(24) < accuracy[index]
        found.append([ece(*rows), debiased_ece(*rows)])
    plug_in, debiased = np.array(found).T - ece(pool[0], accuracy)
    assert abs(debiased.mean()) <= plug_in.mean() / 2 + 4 * debiased.std() / 20
