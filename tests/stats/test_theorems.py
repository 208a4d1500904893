"""The theorems, checked exactly or within four standard errors; and where a statement needs more than it says."""

import itertools
from math import comb, factorial, prod

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from semece.stats import estimators, theory
from semece.stats.calibration.binned_errors import ece, reliability_table
from semece.stats.counts import Counts, poisson_weights, selection_table
from semece.stats.simulation import (
    CORRECTNESS,
    dirichlet_mixture,
    easy,
    given_pmf,
    near_tie,
    simulate,
    softmax_normal,
    zipf,
)


@st.composite
def probabilities(draw, largest=6):
    """Class probabilities, most of them without ties."""
    weights = draw(st.lists(st.integers(1, 50), min_size=1, max_size=largest))
    return np.array(weights) / sum(weights)


def two_and_a_rest(m, n, *, mass=0.8, n_rest=20):
    """A pmf with standardised margin m at n and a rest too small to matter."""
    delta = m * np.sqrt(mass / n)
    return np.array([(mass + delta) / 2, (mass - delta) / 2, *np.full(n_rest, (1 - mass) / max(n_rest, 1))])


def leading(pi):
    """Margin and top-two mass of a pmf."""
    first, second = np.sort(pi)[::-1][:2]
    return first - second, first + second


def multinomial_table(pi, n, *, ties="uniform"):
    """P(class k has j of n responses, and is selected)."""
    table = selection_table([poisson_weights(n * float(p), n) for p in pi], n, ties=ties)
    return table / poisson_weights(n, n)[n]


def multinomial(pi, n):
    """All count vectors of n responses with their probabilities."""
    for counts in itertools.product(range(n + 1), repeat=len(pi)):
        if sum(counts) == n:
            yield np.array(counts), factorial(n) * prod(p**c / factorial(c) for p, c in zip(pi, counts, strict=True))


# -- Jensen, unbiasedness, marginal bias


@settings(max_examples=60)
@given(probabilities(), st.integers(1, 40))
def test_jensen_sem1_is_never_too_low_on_average_and_more_responses_help(pi, n):
    here, more = theory.expected_sem1(pi, n), theory.expected_sem1(pi, n + 1)
    assert here >= pi.max() - 1e-13
    assert more <= here + 1e-13


@settings(max_examples=60)
@given(probabilities(), st.integers(1, 40))
def test_marginal_bias_sem2_is_never_too_high_on_average(pi, s):
    assert theory.expected_sem2(pi, s) <= pi.max() + 1e-13
    lost = theory.population_selection_probability(pi, s) @ (pi.max() - pi)
    assert pi.max() - theory.expected_sem2(pi, s) == pytest.approx(lost, abs=1e-13)


@pytest.mark.parametrize("pi", [[0.5, 0.3, 0.2], [0.25, 0.25, 0.25, 0.25], [0.9, 0.1]])
@pytest.mark.parametrize(("m", "s"), [(4, 2), (5, 2), (7, 3)])
def test_unbiasedness_the_average_over_all_splits_of_a_pool_has_the_mean_of_one_split(pi, m, s):
    pool = sum(chance * estimators.sem2(counts=counts, n_select=s) for counts, chance in multinomial(pi, m))
    assert pool == pytest.approx(theory.expected_sem2(pi, s), abs=1e-14)


def test_conditional_unbiasedness_the_held_out_frequency_of_a_selected_class_has_its_probability():
    rng = np.random.default_rng(7)
    pi = np.array([0.36, 0.34, 0.2, 0.1])
    select, evaluate = rng.multinomial(15, pi, 200_000), rng.multinomial(12, pi, 200_000)
    tickets = select + rng.random(select.shape)
    chosen = tickets.argmax(axis=1)
    for k, p in enumerate(pi):
        held_out = evaluate[chosen == k, k] / 12
        assert abs(held_out.mean() - p) <= 4 * held_out.std() / np.sqrt(len(held_out))


def test_a_selection_that_saw_the_evaluation_block_is_biased_upwards():
    for k in (3, 4):
        pi = np.full(k, 1 / k)
        uniform = lowest = 0.0
        for counts, chance in multinomial(pi, 8):
            by_size = np.sort(counts)[::-1]
            uniform += chance * estimators.sem2(counts=by_size)
            lowest += chance * estimators.sem2(counts=by_size, ties="lowest")
        assert uniform == pytest.approx(1 / k, abs=1e-13)
        assert lowest > 1 / k + 0.03


# -- selection and confidence errors


@settings(max_examples=100)
@given(probabilities(), st.integers(1, 40), st.sampled_from(["uniform", "lowest"]))
def test_selection_lemma_holds_with_its_constant_for_every_rule_for_ties(pi, n, ties):
    ascending = np.sort(pi)  # the mode is last, so that 'lowest' gives every tie to a rival
    delta, mass = leading(pi) if len(pi) > 1 else (1.0, 1.0)
    assume(delta > 0)
    error = 1 - multinomial_table(ascending, n, ties=ties)[-1].sum()
    chernoff = ((1 - (np.sqrt(ascending[-1]) - np.sqrt(ascending[:-1])) ** 2) ** n).sum()
    assert error <= chernoff + 1e-12
    assert chernoff <= theory.selection_error_bound(delta, mass, len(pi), n) + 1e-12


@settings(max_examples=100)
@given(probabilities(), st.integers(1, 40))
def test_bias_bounds_hold_the_papers_and_the_sharp_ones(pi, n):
    delta, mass = leading(pi) if len(pi) > 1 else (1.0, 1.0)
    first, second = theory.expected_sem1(pi, n) - pi.max(), pi.max() - theory.expected_sem2(pi, n)
    for sharp in (False, True):
        for estimator, bias in (("sem1", first), ("sem2", second), ("sum", first + second)):
            bound = theory.bias_bound(delta, mass, len(pi), n, estimator=estimator, sharp=sharp)
            assert bias <= bound + 1e-12


def test_the_sharp_bound_is_within_a_factor_of_the_truth_for_equal_classes():
    for k in (5, 50, 300):
        bias = theory.expected_sem1(np.full(k, 1 / k), 50) - 1 / k
        assert bias <= theory.bias_bound(0.0, 2 / k, k, 50, sharp=True)
    assert theory.expected_sem1([0.5, 0.5], 50) - 0.5 > 0.6 * theory.bias_bound(0.0, 1.0, 2, 50, sharp=True)


@settings(max_examples=60)
@given(probabilities(), st.integers(1, 40))
def test_boundc1_the_expected_error_of_sem1_is_below_its_bound(pi, n):
    largest = multinomial_table(pi, n).sum(axis=0)
    error = largest @ np.abs(np.arange(n + 1) / n - pi.max())
    assert error <= theory.confidence_error_bound_sem1(len(pi), n) + 1e-12
    delta, mass = leading(pi) if len(pi) > 1 else (1.0, 1.0)
    assert error <= theory.confidence_error_bound_sem1(len(pi), n, margin=delta, top_two_mass=mass) + 1e-12


@settings(max_examples=60)
@given(probabilities(), st.integers(1, 25), st.integers(1, 25))
def test_bound_c2_the_expected_error_of_sem2_is_below_its_bound(pi, s, m):
    delta, mass = leading(pi) if len(pi) > 1 else (1.0, 1.0)
    selected = theory.population_selection_probability(pi, s)
    j = np.arange(m + 1)
    ways = np.array([comb(m, int(i)) for i in j])
    held_out = ways * pi[:, None] ** j * (1 - pi[:, None]) ** (m - j)
    error = selected @ (held_out @ np.abs(j / m - pi.max()))
    for sharp in (False, True):
        assert error <= theory.confidence_error_bound_sem2(delta, mass, len(pi), s, m, sharp=sharp) + 1e-12


@given(probabilities(), st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_pointwise_the_largest_frequency_moves_by_at_most_the_largest_deviation(pi, n, seed):
    frequency = np.random.default_rng(seed).multinomial(n, pi) / n
    assert abs(frequency.max() - pi.max()) <= np.abs(frequency - pi).max() + 1e-15


# -- the binned ECE


@pytest.mark.parametrize("family", [dirichlet_mixture, zipf, softmax_normal, near_tie, easy])
@pytest.mark.parametrize("correctness", list(CORRECTNESS))
@pytest.mark.parametrize("n", [6, 50, 400])
def test_ece_bound_holds_for_every_realisation(family, correctness, n):
    study = simulate(family(400, rng=n), n, correctness=correctness, rng=n + 1)
    target = ece(study.oracle_confidence, study.oracle_correct)
    for c, a in ((study.sem1, study.correct), (study.sem2, study.correct), (study.sem2, study.correct_split)):
        delta = np.abs(a - study.oracle_correct).mean()
        epsilon = np.abs(c - study.oracle_confidence).mean()
        bound = theory.ece_bound(delta, epsilon, oracle_confidence=study.oracle_confidence)
        assert abs(ece(c, a) - target) <= bound


def test_ece_bound_is_attained_up_to_its_factor_by_a_question_that_just_crosses_an_edge():
    c_star, c, a = np.array([0.5001, 0.45]), np.array([0.4999, 0.45]), np.array([0.0, 1.0])
    moved = abs(ece(c, a) - ece(c_star, a))
    bound = theory.ece_bound(0.0, float(np.abs(c - c_star).mean()), oracle_confidence=c_star)
    assert 0.25 * bound <= moved <= bound


@pytest.mark.parametrize("n", [20, 200, 1000])
def test_ece_bound_with_a_density_holds_for_a_uniform_oracle_confidence(n):
    c_star = np.linspace(0.5, 1, 4001)
    study = simulate(given_pmf(np.column_stack([c_star, 1 - c_star])), n, correctness="over-confident", rng=n)
    target = ece(study.oracle_confidence, study.oracle_correct)
    for c in (study.sem1, study.sem2):
        delta = np.abs(study.correct - study.oracle_correct).mean()
        bound = theory.ece_bound(delta, np.abs(c - c_star).mean(), density_bound=2.0)
        assert abs(ece(c, study.correct) - target) <= bound
        assert theory.ece_bound(delta, np.abs(c - c_star).mean(), oracle_confidence=c_star) <= bound + 1e-3


# -- bias expansions


@pytest.mark.parametrize("m", [0.0, 0.3, 0.612, 1.0, 2.0])
def test_bias_expansions_have_the_right_constant_with_a_separated_third_class(m):
    errors = []
    for n in (100, 1000):
        pi = two_and_a_rest(m, n)
        delta, mass = leading(pi)
        first = (theory.expected_sem1(pi, n) - pi.max()) / theory.predicted_bias(delta, mass, n)
        errors.append(abs(first - 1))
        if m > 0:
            second = (theory.expected_sem2(pi, n) - pi.max()) / theory.predicted_bias(delta, mass, n, estimator="sem2")
            errors[-1] = max(errors[-1], abs(second - 1))
    assert errors[1] < 0.01
    assert errors[1] < errors[0] or errors[0] < 1e-3


def test_bias_expansions_have_the_rate_one_over_root_n_at_a_fixed_standardised_margin():
    sizes = np.array([100, 200, 400, 800])
    first = [theory.expected_sem1(two_and_a_rest(0.5, n), n) - two_and_a_rest(0.5, n).max() for n in sizes]
    second = [two_and_a_rest(0.5, n).max() - theory.expected_sem2(two_and_a_rest(0.5, n), n) for n in sizes]
    for biases in (first, second):
        assert np.polyfit(np.log(sizes), np.log(biases), 1)[0] == pytest.approx(-0.5, abs=0.01)


@pytest.mark.parametrize(("k", "factor"), [(3, 1.5), (5, 2.1), (10, 2.8), (12, 3.0)])
def test_bias_expansions_fail_by_a_factor_with_equal_classes(k, factor):
    bias = theory.expected_sem1(np.full(k, 1 / k), 400) - 1 / k
    assert bias / theory.predicted_bias(0.0, 2 / k, 400) == pytest.approx(factor, abs=0.06)


# -- the direct gap, its condition, and what happens without it


@pytest.mark.parametrize(("correctness", "larger"), [("over-confident", "sem1"), ("calibrated", "sem2")])
def test_which_ece_is_smaller_does_not_follow_from_the_regime(correctness, larger):
    """Near ties, all Jensen-dominated: the larger ECE is Sem1's, or Sem2's."""
    study = simulate(near_tie(2000, rng=1), 50, correctness=correctness, given="reported", rng=2)
    population = study.population
    m = population.margin * np.sqrt(50 / population.top_two_mass)
    assert (m < theory.crossover()).all()
    eces = {name: ece(getattr(study, name), study.correct) for name in ("sem1", "sem2")}
    assert max(eces, key=eces.get) == larger


@pytest.mark.parametrize("family", [near_tie, easy])
def test_direct_gap_is_the_difference_of_the_eces_where_every_bin_is_over_confident(family):
    study = simulate(family(3000, rng=1), 50, rng=2)
    correct = 0.5 * study.oracle_confidence**2
    for c in (study.sem1, study.sem2):
        assert (reliability_table(c, correct).gap[reliability_table(c, correct).count > 0] > 0).all()
    difference = ece(study.sem1, correct) - ece(study.sem2, correct)
    assert difference == pytest.approx((study.sem1 - study.sem2).mean(), abs=1e-12)
    assert difference > 0


@pytest.mark.slow
def test_direct_gap_is_false_with_over_confidence_on_average_alone():
    study = simulate(dirichlet_mixture(60_000, rng=1, n_classes=(2, 11)), 50, rng=2)
    correct = 0.24 + 0.5 * study.oracle_confidence
    assert (study.oracle_confidence - correct).mean() == pytest.approx(0.014, abs=5e-4)
    assert (study.sem1 - study.sem2).mean() > 0.03
    assert ece(study.sem1, correct) - ece(study.sem2, correct) == pytest.approx(-0.027, abs=5e-4)


# -- the oracle distance


@pytest.mark.parametrize("n", [400, 1000])
def test_oracle_distance_sem2_is_closer_below_the_crossover_and_farther_above(n):
    for m, closer in ((0.0, True), (0.3, True), (0.57, True), (0.66, False), (1.0, False), (2.0, False)):
        pi = two_and_a_rest(m, n)
        first, second = theory.expected_sem1(pi, n) - pi.max(), pi.max() - theory.expected_sem2(pi, n)
        assert (second < first) == closer


@pytest.mark.parametrize(("m", "closer"), [(0.49, True), (0.57, False)])
def test_oracle_distance_of_a_run_turns_at_its_own_crossover(m, closer):
    pi = two_and_a_rest(m, 1000)
    first, second = theory.expected_sem1(pi, 1000) - pi.max(), pi.max() - theory.expected_sem2(pi, 500)
    assert (second < first) == closer


def test_oracle_distance_turns_at_0532193_as_n_grows():
    roots = []
    for n in (250, 1000):
        low, high = 0.3, 0.7
        while high - low > 1e-4:
            m = (low + high) / 2
            pi = two_and_a_rest(m, n, mass=1.0, n_rest=0)
            balance = theory.expected_sem1(pi, n) + theory.expected_sem2(pi, n // 2) - 2 * pi.max()
            low, high = (m, high) if balance > 0 else (low, m)
        roots.append(low)
    assert abs(roots[1] - 0.532193) < abs(roots[0] - 0.532193) < 0.01
    assert roots[1] == pytest.approx(0.532193, abs=2e-3)


@pytest.mark.parametrize("family", [softmax_normal, dirichlet_mixture, zipf])
def test_outside_the_jensen_dominated_regime_sem2_ece_is_smaller_but_farther(family):
    population = family(20_000, rng=5)
    names = theory.regime(population.margin, population.top_two_mass, population.n_classes, 50, design="as-run")
    study = simulate(given_pmf(population.pmf[names != "jensen_dominated"]), 50, rng=6)
    chance = study.population.pmf**2  # accuracy without the noise of drawing it
    correct = estimators.correctness(chance.ravel(), counts=Counts.from_counts(study.counts))
    target = ece(study.oracle_confidence, chance.max(axis=1))
    first, second = ece(study.sem1, correct), ece(study.sem2, correct)
    assert second < first
    assert abs(second - target) > abs(first - target)
    assert second < target < first
