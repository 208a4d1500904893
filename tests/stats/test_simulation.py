"""Populations with known truth, the runs drawn from them, and the table of a study."""

import numpy as np
import pytest

from semece.stats import estimators, simulation, theory
from semece.stats.calibration.binned_errors import ece
from semece.stats.counts import Counts
from semece.stats.simulation import FAMILIES, given_pmf, near_tie, simulate, simulate_study, study_table
from semece.stats.simulation.drawn_runs import draw_right


def value_of(table, quantity, estimator=None, pairing=None):
    """The one value of a study's table under these keys."""
    rows = table.filter(
        table["quantity"].eq(quantity) & table["estimator"].eq_missing(estimator) & table["pairing"].eq_missing(pairing)
    )
    assert len(rows) == 1
    return rows["value"][0]


# -- populations


@pytest.mark.parametrize("family", FAMILIES)
def test_rows_are_distributions_and_belong_to_the_seed(family):
    population = FAMILIES[family](300, rng=4)
    assert population.family == family
    assert population.pmf.shape[0] == 300
    assert population.pmf.sum(axis=1) == pytest.approx(np.ones(300), abs=1e-12)
    assert (population.pmf >= 0).all()
    assert (FAMILIES[family](300, rng=np.random.default_rng(4)).pmf == population.pmf).all()
    assert (FAMILIES[family](300, rng=5).pmf != population.pmf).any()


@pytest.mark.parametrize("family", ["dirichlet-mixture", "zipf", "softmax-normal"])
def test_numbers_of_classes_fill_their_range(family):
    classes = FAMILIES[family](2000, n_classes=(3, 5)).n_classes
    assert sorted(set(classes.tolist())) == [3, 4, 5]


def test_margin_and_mass_are_those_of_the_two_largest():
    population = given_pmf([[0.2, 0.5, 0.3], [1.0, 0.0, 0.0]])
    assert population.margin == pytest.approx([0.2, 1.0])
    assert population.top_two_mass == pytest.approx([0.8, 1.0])
    assert population.oracle_confidence.tolist() == [0.5, 1.0]
    assert population.n_classes.tolist() == [3, 1]
    assert given_pmf([[1.0]]).margin.tolist() == [1.0]


def test_families_keep_to_their_parameters():
    near = near_tie(500, top_two_mass=(0.9, 0.95), margin=(0.01, 0.02))
    assert 0.01 <= near.margin.min() <= near.margin.max() <= 0.02
    assert 0.9 <= near.top_two_mass.min() <= near.top_two_mass.max() <= 0.95
    easy = simulation.easy(500, confidence=(0.9, 0.92))
    assert 0.9 <= easy.oracle_confidence.min() <= easy.oracle_confidence.max() <= 0.92
    flat = simulation.zipf(50, exponents=(0.0, 0.0))
    assert flat.margin[flat.n_classes > 1] == pytest.approx(0.0)


def test_small_concentrations_never_divide_by_zero():
    population = simulation.dirichlet_mixture(2000, alphas=[0.001], n_classes=(2, 3))
    assert np.isfinite(population.pmf).all()
    assert population.pmf.sum(axis=1) == pytest.approx(np.ones(2000))


# -- runs


@pytest.mark.parametrize("correctness", ["calibrated", "over-confident", "crossing"])
def test_the_oracle_answer_is_right_with_the_chance_at_its_confidence(correctness):
    study = simulate(simulation.softmax_normal(40_000, rng=1), 10, correctness=correctness, rng=2)
    chance = simulation.CORRECTNESS[correctness](study.oracle_confidence)
    off = study.oracle_correct - chance
    assert abs(off.mean()) <= 4 * off.std() / np.sqrt(len(off))


@pytest.mark.parametrize("correctness", ["calibrated", "over-confident", "crossing"])
def test_the_deployed_answer_is_right_with_the_chance_at_its_reported_confidence(correctness):
    study = simulate(simulation.softmax_normal(40_000, rng=1), 10, correctness=correctness, given="reported", rng=2)
    off = study.correct - simulation.CORRECTNESS[correctness](study.sem1)
    assert abs(off.mean()) <= 4 * off.std() / np.sqrt(len(off))
    calibrated = ece(study.sem1, study.correct)
    assert (calibrated < 0.02) == (correctness == "calibrated")


def test_a_runner_up_is_right_with_the_chance_of_its_own_probability():
    pmf = np.tile([0.5, 0.3, 0.2], (40_000, 1))
    right = simulate(given_pmf(pmf), 4, rng=3).right
    assert right.sum(axis=1).max() == 1
    error = np.sqrt(pmf[0] ** 2 * (1 - pmf[0] ** 2) / len(pmf))
    assert (np.abs(right.mean(axis=0) - pmf[0] ** 2) <= 4 * error).all()


def test_chances_beyond_one_are_cut_in_order_of_the_classes():
    share = np.tile([0.4, 0.35, 0.25], (20_000, 1))
    chance = np.tile([0.5, 0.4, 0.3], (20_000, 1))
    right = draw_right(share, share == 0.4, chance, rng=np.random.default_rng(0))
    assert right.mean(axis=0) == pytest.approx([0.5, 0.4, 0.1], abs=0.015)
    assert (right.sum(axis=1) == 1).all()


def test_tied_answers_are_right_together_and_absent_classes_never():
    share = np.tile([0.4, 0.4, 0.2, 0.0], (20_000, 1))
    right = draw_right(share, share == 0.4, np.full_like(share, 0.3), rng=np.random.default_rng(0))
    assert (right[:, 0] == right[:, 1]).all()
    assert right.mean(axis=0) == pytest.approx([0.3, 0.3, 0.3, 0.0], abs=0.015)


def test_estimates_of_a_run_are_the_estimators():
    study = simulate(simulation.dirichlet_mixture(40, rng=1), 15, n_select=6, rng=2)
    for q in range(40):
        counts, right = study.counts[q], study.right[q]
        assert study.sem1[q] == estimators.sem1(counts=counts)
        assert study.sem2[q] == pytest.approx(estimators.sem2(counts=counts, n_select=6), abs=1e-13)
        assert study.correct[q] == pytest.approx(estimators.correctness(right, counts=counts), abs=1e-13)
        split = estimators.correctness(right, counts=counts, pairing="split", n_select=6)
        assert study.correct_split[q] == pytest.approx(split, abs=1e-13)


def test_questions_keep_their_order():
    study = simulate(given_pmf([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]), 4, correctness="calibrated")
    assert study.counts.tolist() == [[4, 0], [0, 4], [0, 4]]
    assert study.right.tolist() == [[1, 0], [0, 1], [0, 1]]


def test_a_callable_gives_any_accuracy():
    study = simulate(near_tie(500), 10, correctness=np.ones_like, rng=1)
    assert (study.oracle_correct == 1).all()
    assert (simulate(near_tie(500), 10, correctness=np.zeros_like, rng=1).right == 0).all()


def test_mean_estimates_approach_their_exact_expectations():
    pmf = np.tile([0.4, 0.35, 0.25], (40_000, 1))
    study = simulate(given_pmf(pmf), 20, rng=8)
    for draws, expected in (
        (study.sem1, theory.expected_sem1(pmf[0], 20)),
        (study.sem2, theory.expected_sem2(pmf[0], 10)),
    ):
        assert abs(draws.mean() - expected) <= 4 * draws.std() / np.sqrt(len(draws))


# -- studies


def test_a_study_belongs_to_its_seed():
    first, again, other = (simulate_study("zipf", 300, 20, rng=seed) for seed in (1, 1, 2))
    assert first.equals(again)
    assert not first.equals(other)


@pytest.mark.slow
def test_a_study_does_not_depend_on_the_number_of_threads():
    import numba

    tables = []
    before = numba.get_num_threads()
    try:
        for threads in (1, before):
            numba.set_num_threads(threads)
            tables.append(simulate_study("dirichlet-mixture", 3000, rng=3))
    finally:
        numba.set_num_threads(before)
    assert tables[0].equals(tables[1])


def test_a_study_tabulates_what_its_run_says():
    study = simulate(simulation.softmax_normal(400, rng=1), 20, n_select=8, rng=2)
    table = study_table(study, expected=True)
    target = ece(study.oracle_confidence, study.oracle_correct)
    assert value_of(table, "ECE*", "oracle") == target
    for estimator, pairing, c, a in (
        ("sem1", "pooled", study.sem1, study.correct),
        ("sem2", "pooled", study.sem2, study.correct),
        ("sem2", "split", study.sem2, study.correct_split),
    ):
        assert value_of(table, "ECE", estimator, pairing) == ece(c, a)
        assert value_of(table, "ECE - ECE*", estimator, pairing) == ece(c, a) - target
        epsilon, delta = np.abs(c - study.oracle_confidence).mean(), np.abs(a - study.oracle_correct).mean()
        assert value_of(table, "epsilon", estimator, pairing) == pytest.approx(epsilon)
        assert value_of(table, "delta", estimator, pairing) == pytest.approx(delta)
        bound = theory.ece_bound(delta, epsilon, oracle_confidence=study.oracle_confidence)
        assert value_of(table, "realised", estimator, pairing) == pytest.approx(bound)
        margins = study.population.margin, study.population.top_two_mass, study.population.n_classes
        error = np.minimum(theory.selection_error_bound(*margins, 20 if pairing == "pooled" else 8), 1).mean()
        most = (
            theory.confidence_error_bound_sem1(margins[2], 20, margin=margins[0], top_two_mass=margins[1])
            if estimator == "sem1"
            else theory.confidence_error_bound_sem2(*margins, 8, 12, sharp=True)
        )
        bound = theory.ece_bound(error, most.mean(), oracle_confidence=study.oracle_confidence)
        assert value_of(table, "a priori", estimator, pairing) == pytest.approx(bound)
    assert value_of(table, "Sem1 - Sem2") == pytest.approx((study.sem1 - study.sem2).mean())
    eces = [value_of(table, "ECE", e, "pooled") for e in ("sem1", "sem2")]
    assert value_of(table, "Sem1-ECE - Sem2-ECE", None, "pooled") == pytest.approx(eces[0] - eces[1])
    population = study.population
    expected = theory.expected_gap(population.pmf, 20, n_select=8).mean()
    assert value_of(table, "expected") == pytest.approx(expected)
    run = theory.predicted_gap(population.margin, population.top_two_mass, 20, design="as-run", n_select=8).mean()
    assert value_of(table, "as-run") == pytest.approx(run)
    counts = Counts.from_counts(study.counts)
    pool = estimators.margin(counts=counts), estimators.top_two_mass(counts=counts)
    given = theory.predicted_gap(*pool, 20, design="given-pool", n_select=8).mean()
    assert value_of(table, "given-pool") == pytest.approx(given)


def test_shares_of_regimes_sum_to_one_in_each_design():
    table = simulate_study("dirichlet-mixture", 500, 20)
    for design in ("same-n", "as-run"):
        names = [f"{name}, {design}" for name in theory.REGIMES]
        assert sum(value_of(table, name) for name in names) == pytest.approx(1.0)


def test_what_was_not_asked_for_is_null_with_a_reason():
    row = simulate_study("easy", 50, 10).filter(quantity="expected").row(0, named=True)
    assert (row["value"], row["reason"]) == (None, "not asked for")


def test_a_population_of_one_class_has_no_gap_and_no_error():
    table = study_table(simulate(given_pmf([[1.0]] * 10), 50, correctness="calibrated"))
    for quantity in ("Sem1 - Sem2", "Sem1-ECE - Sem2-ECE", "same-n", "given-pool"):
        pairing = "pooled" if "ECE" in quantity else None
        assert value_of(table, quantity, None, pairing) == pytest.approx(0.0, abs=1e-9)
    assert value_of(table, "ECE", "sem1", "pooled") == value_of(table, "ECE*", "oracle") == 0.0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: simulate_study("normal", 10), "family must be one of 'dirichlet-mixture', 'zipf', 'softmax-normal'"),
        (lambda: simulate(near_tie(5), 1), "n must be a whole number of at least 2; got 1"),
        (lambda: simulate(near_tie(5), 4, n_select=4), "n_select must be less than n; got 4 of 4"),
        (lambda: simulate(near_tie(5), 4, given="truth"), "given must be one of 'oracle', 'reported'; got 'truth'"),
        (lambda: simulate(near_tie(5), 4, correctness="bad"), "correctness must be one of 'calibrated', 'over-conf"),
        (
            lambda: simulate(near_tie(5), 4, correctness=lambda c: c + 1),
            r"correctness\(confidence\) must lie in \[0, 1",
        ),
        (lambda: near_tie(0), "n_questions must be a whole number of at least 1; got 0"),
        (lambda: near_tie(5, n_rest=0), "n_rest must be a whole number of at least 1; got 0"),
        (lambda: simulation.zipf(5, n_classes=(4, 3)), r"n_classes\[1\] must be a whole number of at least 4; got 3"),
        (lambda: given_pmf([0.5, 0.5]), r"pmf must have shape \(Q, K\); got shape \(2,\)"),
        (lambda: given_pmf([[0.5, 0.4]]), "pmf must sum to 1; got 0.9 at index 0"),
    ],
)
def test_bad_arguments_are_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
