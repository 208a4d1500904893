"""Formulas of the theory: their printed values, their shapes, and what they refuse."""

import itertools
import re
from math import factorial, prod
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from semece.stats import estimators, theory
from semece.stats.calibration.binned_errors import ece


def enumerated(pi, n):
    """E Sem1, the selection probabilities and E Sem2 by listing all count vectors of n responses."""
    expected_max, selected = 0.0, np.zeros(len(pi))
    for counts in itertools.product(range(n + 1), repeat=len(pi)):
        if sum(counts) == n:
            chance = factorial(n) * prod(p**c / factorial(c) for p, c in zip(pi, counts, strict=True))
            modes = np.array(counts) == max(counts)
            expected_max += chance * max(counts) / n
            selected += chance * modes / modes.sum()
    return expected_max, selected, float(selected @ pi)


@st.composite
def probabilities(draw, largest=6):
    """Class probabilities with at least one class, some of them zero."""
    weights = draw(st.lists(st.integers(0, 9), min_size=1, max_size=largest).filter(any))
    return np.array(weights) / sum(weights)


# -- leading constants


def test_leading_constants_have_the_printed_values():
    assert theory.jensen_bias(0.0) == pytest.approx(1 / np.sqrt(2 * np.pi), abs=1e-15)
    assert theory.selection_bias(0.0) == 0.0
    assert theory.crossover() == pytest.approx(0.612003181, abs=5e-10)
    assert theory.crossover() / 2 == pytest.approx(0.3060015904, abs=1e-10)
    assert theory.crossover(0.5) == pytest.approx(0.532193, abs=5e-7)
    assert theory.oracle_gap(0.3060015904) == pytest.approx(0.0, abs=1e-9)


@given(st.floats(0, 40))
def test_the_gaps_are_sum_and_difference_of_the_two_biases(half):
    j, s = theory.jensen_bias(half), theory.selection_bias(half)
    assert theory.direct_gap(half) == pytest.approx(j + s, abs=1e-15)
    assert theory.oracle_gap(half) == pytest.approx(j - s, abs=1e-15)
    assert j >= 0
    assert s >= 0


def test_oracle_gap_changes_its_sign_once():
    sign = np.sign(theory.oracle_gap(np.linspace(0, 10, 100_001)))
    assert np.count_nonzero(np.diff(sign)) == 1


def test_selection_bias_is_largest_where_its_docstring_says():
    m = np.linspace(0, 3, 300_001)
    values = theory.selection_bias(m / 2)
    assert m[values.argmax()] == pytest.approx(0.7518, abs=5e-5)
    assert values.max() == pytest.approx(0.1700, abs=5e-5)


def test_crossover_of_an_array_keeps_its_shape():
    roots = theory.crossover([[1.0, 0.5], [0.5, 0.25]])
    assert roots.shape == (2, 2)
    assert roots[0, 1] == roots[1, 0] == theory.crossover(0.5)
    assert roots[1, 1] < roots[0, 1] < roots[0, 0]


def test_the_mean_of_the_folded_normal_is_behind_the_constants():
    m = 0.7
    folded = 2 * np.exp(-(m**2) / 2) / np.sqrt(2 * np.pi) + m * (1 - 2 * theory.selection_bias(m / 2) / m)
    assert theory.jensen_bias(m / 2) == pytest.approx((folded - m) / 2, abs=1e-15)


# -- regimes


def test_boundaries_on_the_papers_axis():
    edges = theory.regime_boundaries([2, 5], 50, design="same-n")
    assert edges.crossover == pytest.approx(0.0866, abs=5e-5)
    assert edges.low_margin == pytest.approx(np.sqrt(np.log([2, 5]) / 50))


def test_boundaries_on_a_questions_own_axis_shrink_with_its_mass():
    full, half = (theory.regime_boundaries(5, 50, top_two_mass=p, design="same-n") for p in (1.0, 0.25))
    assert half.crossover == pytest.approx(full.crossover / 2)
    assert half.low_margin == pytest.approx(full.low_margin / 2)


def test_a_regime_ends_at_its_boundary():
    edges = theory.regime_boundaries(6, 50, top_two_mass=0.8)
    at = [edges.crossover, edges.low_margin]
    assert theory.regime(at, 0.8, 6, 50).tolist() == ["low_margin", "low_margin"]
    assert theory.regime(np.array(at) - 1e-9, 0.8, 6, 50).tolist() == ["jensen_dominated", "low_margin"]
    assert theory.regime(np.array(at) + 1e-9, 0.8, 6, 50).tolist() == ["low_margin", "large_margin"]


def test_one_class_is_large_margin_and_leaves_no_room_for_a_low_one():
    assert theory.regime(1.0, 1.0, 1, 50) == "large_margin"
    assert theory.regime([0.05, 0.07, 0.09], 1.0, 1.3, 50).tolist() == ["jensen_dominated"] * 2 + ["large_margin"]


def test_a_run_crosses_over_earlier_than_equal_sizes_do():
    same, run = (theory.regime(0.08, 1.0, 2, 50, design=d) for d in ("same-n", "as-run"))
    assert (same, run) == ("jensen_dominated", "low_margin")
    assert theory.regime(0.08, 1.0, 2, 50, design="as-run", n_select=49) == "jensen_dominated"


def test_where_no_design_is_named_it_is_that_of_a_run():
    assert theory.regime(0.08, 1.0, 2, 50) == theory.regime_summary([0.08], 1.0, 2, 50).dominant == "low_margin"
    assert theory.regime_boundaries(2, 50) == theory.regime_boundaries(2, 50, design="as-run")
    assert theory.predicted_gap(0.08, 1.0, 50) == theory.predicted_gap(0.08, 1.0, 50, design="as-run")


def test_each_question_has_its_own_crossover_where_numbers_of_responses_differ():
    edges = theory.regime_boundaries(2, [50, 20], design="as-run", n_select=[25, 5])
    expected = [theory.crossover(f) / np.sqrt(n) for f, n in ((0.5, 50), (0.25, 20))]
    assert edges.crossover.tolist() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("margin", "dominant", "words"),
    [
        (0.0, "jensen_dominated", "jensen-dominated: two answers nearly tie"),
        (0.12, "low_margin", "low-margin regime: one answer leads by a little"),
        (0.9, "large_margin", "large-margin regime: one answer clearly leads"),
    ],
)
def test_summary_names_the_dominant_regime_and_what_it_implies(margin, dominant, words):
    summary = theory.regime_summary([margin, margin, 0.3], 1.0, 4, 50)
    assert summary.dominant == dominant
    assert summary[:3] == pytest.approx(
        [np.mean([d == r for d in (dominant, dominant, "large_margin")]) for r in theory.REGIMES]
    )
    assert words in summary.text
    assert "ECE" not in summary.text  # which of the two is smaller does not follow from the regime


# -- bounds


def test_bias_bounds_at_a_tie_have_the_papers_constants():
    first, second = (theory.bias_bound(0.0, 0.5, 8, 50, estimator=e) for e in ("sem1", "sem2"))
    assert first == pytest.approx(np.sqrt(np.log(16) / 100))
    assert second == pytest.approx(2 * first)
    assert theory.bias_bound(0.0, 0.5, 8, 50, estimator="sum") == pytest.approx(3 * first)
    assert theory.bias_bound(0.0, 0.5, 8, 50, sharp=True) == pytest.approx(np.sqrt(np.log(8) / 100))


def test_bias_bounds_at_a_large_margin_are_the_selection_error():
    error = theory.selection_error_bound(0.6, 1.0, 4, 50)
    assert error == pytest.approx(3 * np.exp(-50 * 0.36 / 2))
    for estimator in ("sem1", "sem2"):
        assert theory.bias_bound(0.6, 1.0, 4, 50, estimator=estimator) == error
        assert theory.bias_bound(0.6, 1.0, 4, 50, estimator=estimator, sharp=True) == error
    assert theory.bias_bound(0.6, 1.0, 4, 50, estimator="sum", sharp=True) == 2 * error


def test_averaged_confidence_bounds_are_means_over_questions():
    classes = [2, 9, 4]
    assert theory.confidence_error_bound_sem1(classes, 50, average=True) == pytest.approx(
        theory.confidence_error_bound_sem1(classes, 50).mean()
    )
    each = theory.confidence_error_bound_sem2([0.0, 0.1, 0.9], 1.0, classes, 25, 25)
    assert theory.confidence_error_bound_sem2([0.0, 0.1, 0.9], 1.0, classes, 25, 25, average=True) == each.mean()
    assert each[2] == pytest.approx(np.sqrt(0.95 * 0.05 / 25), abs=1e-3)


def test_a_clear_margin_makes_confidence_bounds_small():
    """The margin branch of thms. boundc1 and bound-c2: pi_1 = .95, K = 3, n = 50."""
    clear = {"margin": 0.92, "top_two_mass": 0.98}
    assert theory.confidence_error_bound_sem1(3, 50) == pytest.approx(0.134, abs=5e-4)
    assert theory.confidence_error_bound_sem1(3, 50, **clear) == pytest.approx(0.031, abs=5e-4)
    assert theory.confidence_error_bound_sem1(3, 50, margin=0.0, top_two_mass=0.6) == pytest.approx(0.134, abs=5e-4)
    assert theory.confidence_error_bound_sem2(0.92, 0.98, 3, 25, 25) == pytest.approx(0.0437, abs=5e-4)
    with pytest.raises(ValueError, match="give both margin and top_two_mass, or neither"):
        theory.confidence_error_bound_sem1(3, 50, margin=0.5)


def test_a_pooled_value_lies_where_arithmetic_puts_it():
    """A pooled mean difference lies among its cells, a pooled ECE below the largest; an ECE difference may not."""
    rng = np.random.default_rng(0)
    cells = []
    for shift in (-0.15, 0.15):
        c1 = rng.uniform(0.3, 0.9, 400)
        cells.append((c1, c1 - 0.02, (rng.random(400) < c1 + shift).astype(float)))
    first, second, right = (np.concatenate(column) for column in zip(*cells, strict=True))
    means = [(one - other).mean() for one, other, _ in cells]
    assert min(means) - 1e-12 <= (first - second).mean() <= max(means) + 1e-12
    eces = [[ece(c, a) for c in pair] for *pair, a in cells]
    pooled = [ece(c, right) for c in (first, second)]
    assert (pooled <= np.max(eces, axis=0)).all()
    assert (pooled < np.min(eces, axis=0)).all()


def test_sharp_confidence_bound_of_sem2_is_below_the_papers():
    sharp = theory.confidence_error_bound_sem2(0.0, 0.5, 8, 25, 25, sharp=True)
    assert sharp == pytest.approx(0.1 + np.sqrt(np.log(8) / 50))
    assert sharp < theory.confidence_error_bound_sem2(0.0, 0.5, 8, 25, 25)


def test_ece_bound_is_the_minimum_over_a_fine_grid_of_eta():
    c = np.random.default_rng(0).uniform(0.4, 1, 200)
    distance = np.abs(c[:, None] - np.arange(1, 10) / 10).min(axis=1)
    grid = np.geomspace(1e-5, 1, 20_000)
    searched = min(0.002 / eta + np.mean(distance < eta) for eta in grid)
    bound = theory.ece_bound(0.03, 0.002, oracle_confidence=c)
    assert bound == pytest.approx(0.032 + 2 * searched, abs=2e-4)
    assert bound <= 0.032 + 2 * searched


def test_ece_bound_with_a_density_is_its_formula():
    bound = theory.ece_bound(0.01, 0.0001, density_bound=2.0, n_bins=5)
    assert bound == pytest.approx(0.0101 + 4 * np.sqrt(2 * 2.0 * 4 * 0.0001))


def test_ece_bound_where_nothing_moved_is_what_the_labels_moved():
    assert theory.ece_bound(0.05, 0.0, oracle_confidence=[0.33, 0.71]) == pytest.approx(0.05)


def test_ece_bound_with_one_bin_needs_no_edges():
    assert theory.ece_bound(0.05, 0.02, oracle_confidence=[0.33, 0.71], n_bins=1) == pytest.approx(0.07)
    assert theory.ece_bound(0.05, 0.02, density_bound=3.0, n_bins=1) == pytest.approx(0.07)


def test_ece_bound_is_useless_where_every_question_sits_on_an_edge():
    assert theory.ece_bound(0.0, 0.01, oracle_confidence=[0.5, 0.7]) == pytest.approx(2.01)


# -- exact expectations


@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
def test_expectations_equal_enumeration(k, n):
    pi = np.random.default_rng([k, n]).dirichlet(np.ones(k))
    expected_max, selected, held_out = enumerated(pi, n)
    assert theory.expected_sem1(pi, n) == pytest.approx(expected_max, abs=1e-14)
    assert theory.expected_sem2(pi, n) == pytest.approx(held_out, abs=1e-14)
    assert theory.population_selection_probability(pi, n) == pytest.approx(selected, abs=1e-14)


def test_expectations_equal_enumeration_with_ties_and_absent_classes():
    pi = [0.25, 0.0, 0.25, 0.5]
    expected_max, selected, held_out = enumerated(pi, 6)
    assert theory.expected_sem1(pi, 6) == pytest.approx(expected_max, abs=1e-14)
    assert theory.expected_sem2(pi, 6) == pytest.approx(held_out, abs=1e-14)
    assert theory.population_selection_probability(pi, 6) == pytest.approx(selected, abs=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("n", [25, 50, 400])
@pytest.mark.parametrize("alpha", [0.3, 3.0])
def test_expectations_equal_simulation(n, alpha):
    rng = np.random.default_rng([n, int(10 * alpha)])
    pi = rng.dirichlet(np.full(9, alpha))
    counts = rng.multinomial(n, pi, size=100_000)
    largest = counts.max(axis=1, keepdims=True)
    modes = (counts == largest) / (counts == largest).sum(axis=1, keepdims=True)
    for value, draws in ((theory.expected_sem1(pi, n), largest[:, 0] / n), (theory.expected_sem2(pi, n), modes @ pi)):
        assert abs(value - draws.mean()) <= 4 * draws.std() / np.sqrt(len(draws)) + 1e-8
    selected = theory.population_selection_probability(pi, n)
    error = np.sqrt(selected * (1 - selected) / len(modes))
    assert (np.abs(selected - modes.mean(axis=0)) <= 4 * error + 5 / len(modes)).all()


@pytest.mark.slow
def test_a_thousand_responses_keep_twelve_digits():
    pi = np.random.default_rng(5).dirichlet(np.ones(20))
    assert theory.population_selection_probability(pi, 1000).sum() == pytest.approx(1.0, abs=1e-12)
    assert theory.expected_sem1([0.5, 0.5], 1000) == pytest.approx(
        0.5 + prod((2 * i - 1) / (2 * i) for i in range(1, 501)) / 2, abs=1e-12
    )


def test_many_questions_are_rows():
    pi = np.array([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]])
    for function in (theory.expected_sem1, theory.expected_sem2, theory.population_selection_probability):
        assert function(pi, 7) == pytest.approx(np.array([function(row, 7) for row in pi]), abs=1e-14)


def test_a_nearly_certain_class_is_nearly_always_selected():
    assert theory.expected_sem1([1 - 1e-9, 1e-9], 1000) == pytest.approx(1 - 1e-9, abs=1e-13)
    assert theory.expected_sem2([1 - 1e-9, 1e-9], 1000) == pytest.approx(1 - 1e-9, abs=1e-13)


@settings(max_examples=40)
@given(probabilities(), st.integers(1, 30))
def test_selection_probabilities_sum_to_one_and_follow_the_classes(pi, n):
    selected = theory.population_selection_probability(pi, n)
    assert selected.sum() == pytest.approx(1.0, abs=1e-13)
    assert (selected[pi == 0] == 0).all()
    assert theory.population_selection_probability(pi[::-1], n)[::-1] == pytest.approx(selected, abs=1e-13)


# -- predictions


@pytest.mark.parametrize(("observed", "mass"), [(0.0526, 0.609), (0.0545, 0.643), (0.0527, 0.611)])
def test_the_papers_boundary_table_is_explained_by_the_pool_and_not_by_the_direct_gap(observed, mass):
    assert max(theory.predicted_gap(0.08, np.linspace(0.08, 1, 1000), 50, design="same-n")) == pytest.approx(
        0.0481, abs=5e-5
    )
    implied = brentq(lambda p: theory.predicted_gap(0.08, p, 50, design="given-pool") - observed, 0.1, 1.0)
    assert implied == pytest.approx(mass, abs=1e-3)


@pytest.mark.parametrize("n_select", [15, 25, 35])
@pytest.mark.parametrize("counts", [[26, 24], [28, 22], [22, 20, 4, 4]])
def test_the_pools_formula_is_close_to_the_counts_for_two_separated_classes(counts, n_select):
    delta, mass = (counts[0] - counts[1]) / 50, (counts[0] + counts[1]) / 50
    formula = theory.predicted_gap(delta, mass, 50, design="given-pool", n_select=n_select)
    exact = estimators.sem1(counts=counts) - estimators.sem2(counts=counts, n_select=n_select)
    assert formula == pytest.approx(exact, rel=0.05)


def test_the_pools_formula_is_far_off_where_the_gap_has_vanished():
    exact = estimators.sem1(counts=[34, 16]) - estimators.sem2(counts=[34, 16])
    assert theory.predicted_gap(0.36, 1.0, 50, design="given-pool") > 1.9 * exact
    assert exact < 0.003


def test_the_pools_formula_is_far_off_with_close_third_classes():
    exact = estimators.sem1(counts=[20, 10, 10, 10]) - estimators.sem2(counts=[20, 10, 10, 10])
    assert theory.predicted_gap(0.2, 0.6, 50, design="given-pool") < 0.7 * exact


def test_biases_of_two_classes_at_margin_008_have_the_printed_values():
    pi = [0.54, 0.46]
    assert theory.expected_sem1(pi, 50) - 0.54 == pytest.approx(0.0249, abs=5e-5)
    assert 0.54 - theory.expected_sem2(pi, 25) == pytest.approx(0.0274, abs=5e-5)
    assert theory.expected_gap(pi, 50) == pytest.approx(0.0249 + 0.0274, abs=1e-4)


@given(st.floats(0, 0.5), st.floats(0.5, 1), st.integers(2, 400))
def test_as_run_is_the_sum_of_both_biases_and_equals_same_n_at_equal_sizes(margin, mass, n):
    bias = theory.predicted_bias(margin, mass, n) - theory.predicted_bias(margin, mass, n // 2, estimator="sem2")
    assert theory.predicted_gap(margin, mass, n, design="as-run") == pytest.approx(bias, abs=1e-15)
    same = theory.predicted_bias(margin, mass, n) - theory.predicted_bias(margin, mass, n, estimator="sem2")
    assert theory.predicted_gap(margin, mass, n, design="same-n") == pytest.approx(same, abs=1e-15)


def test_expected_gap_at_equal_sizes_approaches_the_direct_gap():
    pi = np.array([0.41, 0.39, 0.1, 0.1])
    exact = theory.expected_gap(pi, 1000, n_select=1000)
    assert exact == pytest.approx(theory.predicted_gap(0.02, 0.8, 1000, design="same-n"), rel=0.01)


@pytest.mark.parametrize("estimator", ["sem1", "sem2"])
def test_minimal_n_is_the_smallest(estimator):
    n = theory.minimal_n(0.004, 0.05, 0.9, estimator=estimator)
    at, before = (abs(theory.predicted_bias(0.05, 0.9, k, estimator=estimator)) for k in (n, n - 1))
    assert at <= 0.004 < before


def test_a_bias_out_of_reach_is_said():
    with pytest.raises(ValueError, match="bias must be reachable with at most 1000000000000000 responses; got 1e-12"):
        theory.minimal_n(1e-12, 0.0, 0.9)
    n = theory.minimal_n(1e-7, 0.0, 0.9)
    assert theory.predicted_bias(0.0, 0.9, n) <= 1e-7 < theory.predicted_bias(0.0, 0.9, n - 1)


def test_confidences_that_do_not_move_leave_the_error_where_it_was():
    assert theory.ece_bound(0.0, 0.0, oracle_confidence=[0.1, 0.5]) == 0.0
    assert theory.ece_bound(0.25, 0.0, oracle_confidence=[0.1, 0.55]) == 0.25


LENGTHS = "must be single numbers or have the same length; got shapes"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: theory.regime([0.1, 0.2], [0.9] * 3, 3, 50), rf"margin and top_two_mass {LENGTHS} \(2,\) and \(3,\)"),
        (lambda: theory.regime([0.1, 0.2], 0.9, [3] * 3, 50), rf"margin, n_classes and n {LENGTHS} \(2,\), \(3,\) and"),
        (lambda: theory.regime([0.1, 0.2], 0.9, 3, [50] * 3), rf"margin, n_classes and n {LENGTHS} \(2,\), \(\) and"),
        (
            lambda: theory.regime_boundaries([3, 4], [50] * 3),
            rf"n_classes, n and top_two_mass {LENGTHS} \(2,\), \(3,\)",
        ),
        (lambda: theory.regime(0.1, 1, 3, [50] * 2, design="as-run", n_select=[9] * 3), rf"n and n_select {LENGTHS}"),
        (lambda: theory.predicted_bias([0.1, 0.2], 1, [50] * 3), rf"margin and n {LENGTHS}"),
        (lambda: theory.predicted_gap([0.1, 0.2], 1, [50] * 3), rf"margin and n {LENGTHS}"),
        (lambda: theory.bias_bound([0.1, 0.2], 1, 3, [50] * 3), rf"margin, n_classes and n {LENGTHS}"),
        (lambda: theory.confidence_error_bound_sem1([3, 4], [50] * 3), rf"n_classes and n {LENGTHS}"),
        (
            lambda: theory.confidence_error_bound_sem2([0.1, 0.2], 1, 3, 25, [25] * 3),
            rf"margin and n_evaluate {LENGTHS}",
        ),
        (lambda: theory.ece_bound([0, 1], 0, density_bound=1), r"delta must be a single number; got shape \(2,\)"),
        (lambda: theory.minimal_n([0.1], 0.1, 0.9), r"bias must be a single number; got shape \(1,\)"),
        (lambda: theory.minimal_n(0.1, [0.1, 0.2], 0.9), r"margin must be a single number; got shape \(2,\)"),
        (lambda: theory.minimal_n(0.1, 0.1, [0.9]), r"top_two_mass must be a single number; got shape \(1,\)"),
        (lambda: theory.jensen_bias([[0.1], [0.1, 0.2]]), "half_margin must be numbers in a regular shape; got a nest"),
    ],
)
def test_unequal_lengths_are_refused_by_name(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_minimal_n_is_one_where_there_is_no_bias():
    assert theory.minimal_n(0.01, 0.0, 1.0, estimator="sem2") == 1


# -- what is refused


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: theory.jensen_bias(-0.1), "half_margin must be finite and at least 0; got -0.1 at index 0"),
        (lambda: theory.jensen_bias([0.0, np.nan]), "half_margin must be finite and at least 0; got nan at index 1"),
        (lambda: theory.jensen_bias(["a"]), "half_margin must be numbers; got 'a' at index 0"),
        (lambda: theory.crossover(1.5), r"select_fraction must lie in \[0, 1\]; got 1.5 at index 0"),
        (lambda: theory.regime([0.1, 1.2], 1.0, 3, 50), r"margin must lie in \[0, 1\]; got 1.2 at index 1"),
        (
            lambda: theory.regime([0.1, 0.6], 0.5, 3, 50),
            "top_two_mass must be positive and at least the margin; got 0.5 with margin 0.6 at index 1",
        ),
        (lambda: theory.regime(0.0, 0.0, 3, 50), "top_two_mass must be positive and at least the margin; got 0.0"),
        (lambda: theory.regime(0.1, 1.0, 0.5, 50), "n_classes must be finite and at least 1; got 0.5"),
        (lambda: theory.regime(0.1, 1.0, 3, 0), "n must be finite and at least 1; got 0.0"),
        (lambda: theory.regime(0.1, 1.0, 3, 50, design="run"), "design must be one of 'same-n', 'as-run'; got 'run'"),
        (
            lambda: theory.regime(0.1, 1.0, 3, [50, 20], design="as-run", n_select=20),
            "n_select must be less than n; got 20 of 20 at index 1",
        ),
        (lambda: theory.regime_summary([], [], [], 50), "margin must not be empty"),
        (lambda: theory.bias_bound(0.1, 1, 3, 50, estimator="ver"), "estimator must be one of 'sem1', 'sem2', 'sum'"),
        (lambda: theory.ece_bound(0.1, 0.1), "give either oracle_confidence or density_bound; got neither"),
        (
            lambda: theory.ece_bound(0.1, 0.1, oracle_confidence=[0.5], density_bound=1.0),
            "give either oracle_confidence or density_bound; got both",
        ),
        (lambda: theory.expected_sem1([0.5, 0.4], 5), r"pmf must sum to 1; got 0.9 at index 0"),
        (lambda: theory.expected_sem1([[1.0, 0.0], [0.5, 0.4]], 5), r"pmf must sum to 1; got 0.9 at index 1"),
        (lambda: theory.expected_sem1([1.2, -0.2], 5), "pmf must lie in"),
        (lambda: theory.expected_sem1(1.0, 5), r"pmf must have shape \(K,\) or \(Q, K\) and not be empty; got shape"),
        (lambda: theory.expected_sem1([1.0], 0), "n must be a whole number of at least 1; got 0"),
        (lambda: theory.expected_sem2([1.0], 2.5), "n_select must be a whole number of at least 1; got 2.5"),
        (lambda: theory.expected_gap([1.0], 5, n_select=6), "n_select must be at most n; got 6 of 5"),
        (lambda: theory.predicted_gap(0.1, 1, 50, design="exact"), "design must be one of 'same-n', 'as-run', 'giv"),
        (lambda: theory.predicted_gap(0.1, 1, 1, design="given-pool"), "n must be finite and at least 2; got 1.0"),
        (lambda: theory.predicted_bias(0.1, 1, 50, estimator="ver"), "estimator must be one of 'sem1', 'sem2'; got"),
        (lambda: theory.minimal_n(0.0, 0.1, 1.0), "bias must be positive; got 0.0"),
    ],
)
def test_bad_arguments_are_named_with_their_value_and_place(call, words):
    with pytest.raises(ValueError, match=words):
        call()


# -- the page


def test_python_on_the_page_runs(capsys):
    page = Path(__file__).parents[2] / "docs" / "theory.md"
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        exec(compile(block, str(page), "exec"), {})
    assert capsys.readouterr().out.count("shape") == 2


@pytest.mark.parametrize(
    ("k", "bias", "formula"),
    [(2, 0.0561, 0.0564), (3, 0.0699, 0.0461), (5, 0.0760, 0.0357), (10, 0.0738, 0.0252), (12, 0.0722, 0.0230)],
)
def test_the_pages_table_of_equal_classes(k, bias, formula):
    assert theory.expected_sem1(np.full(k, 1 / k), 50) - 1 / k == pytest.approx(bias, abs=5e-5)
    assert theory.predicted_bias(0.0, 2 / k, 50) == pytest.approx(formula, abs=5e-5)


def test_the_pages_example_of_bounds():
    pi = np.array([0.5, 0.3, 0.2])
    biases = theory.expected_sem1(pi, 50) - 0.5, theory.expected_sem2(pi, 50) - 0.5
    assert biases == pytest.approx((0.0029, -0.0116), abs=5e-5)
    bounds = [theory.bias_bound(0.2, 0.8, 3, 50, estimator=e) for e in ("sem1", "sem2")]
    assert [*bounds, theory.bias_bound(0.2, 0.8, 3, 50, sharp=True)] == pytest.approx([0.134, 0.268, 0.105], abs=5e-4)


def test_numbers_in_an_object_array_are_numbers():
    names = theory.regime(np.array([0.0, 0.4], dtype=object), 0.8, 6, 50).tolist()
    assert names == ["jensen_dominated", "large_margin"]
