"""Tables about a run: what they say on known populations, on real samples, and where they say nothing."""

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semece.judges.answer_keys import normalise
from semece.stats import diagnostics, theory
from semece.stats.calibration.binned_errors import ece
from semece.stats.counts import Counts
from semece.stats.diagnostics import JudgedRun, pool
from semece.stats.diagnostics.arm_ranks import holm, ranks_of_terms
from semece.stats.diagnostics.changes import correctness_terms
from semece.stats.diagnostics.hedging import rearranged
from semece.stats.diagnostics.margins import window
from semece.stats.estimators import sem1, sem2
from semece.stats.estimators.budget_curves import budget_curve
from semece.stats.simulation import dirichlet_mixture, near_tie, simulate, softmax_normal
from semece.stats.uncertainty import bootstrap
from semece.stats.uncertainty.bootstrap import Resampling, resampled_sums
from semece.stats.uncertainty.paired_errors import binned_terms, paired_error, surely_less

FAST = Resampling(n_resamples=200)


def pool_of(study):
    """The pool of a simulated run."""
    return pool(counts=Counts.from_counts(study.counts), correct=study.correct)


def drawn(rng, n_questions, n, *, classes=4):
    """Labels of random questions, numbered by first appearance, and correctness by class."""
    labels = []
    for _ in range(n_questions):
        row = rng.choice(classes, size=n, p=rng.dirichlet(np.ones(classes)))
        _, first, number = np.unique(row, return_index=True, return_inverse=True)
        labels.append(np.argsort(np.argsort(first))[number])
    correct = [[float(k == 0) for k in range(max(row) + 1)] for row in labels]
    return labels, correct


@pytest.fixture(scope="module")
def near():
    """A near-tie population, over-confident."""
    study = simulate(near_tie(20_000, rng=1), rng=2)
    return study, pool_of(study)


@pytest.fixture(scope="module")
def flat():
    """A population with close third classes, over-confident."""
    study = simulate(softmax_normal(20_000, rng=1, scales=(0.2, 0.5)), rng=2)
    return study, pool_of(study)


# -- pools


def test_a_pool_holds_the_estimates_of_the_questions_that_enter():
    labels, correct = [[0, 0, 1, 2], [0], [0, 1, 0], [0, 0]], [[1, 0, 0], [1], None, [1]]
    some = pool(labels, correct, [[0.5, None, 0.7, None], None, None, [None, None]])
    assert some.question.tolist() == [0, 3]
    assert some.excluded == {"too_few": 1, "ungraded": 1}
    assert some.counts.values.tolist() == [2, 1, 1, 2]
    assert some.sem1.tolist() == pytest.approx([sem1([0, 0, 1, 2]), 1.0])
    assert some.sem2.tolist() == pytest.approx([sem2([0, 0, 1, 2]), 1.0])
    assert some.verbalized[0] == pytest.approx(0.6)
    assert np.isnan(some.verbalized[1])
    assert dict(some.confidences()).keys() == {"sem1", "sem2", "verbalized"}


def test_counts_make_the_same_pool_as_labels():
    labels, correct = drawn(np.random.default_rng(0), 20, 10)
    first, second = pool(labels, correct), pool(counts=Counts.from_labels(labels), correct=correct)
    for a, b in zip(first[1:-3], second[1:-3], strict=True):
        assert np.array_equal(a, b, equal_nan=True)
    array = pool(np.array(labels), [1.0] * 20)
    assert array.sem1.tolist() == pytest.approx(first.sem1.tolist())


def test_a_pool_of_nothing_is_refused():
    with pytest.raises(ValueError, match="at least one question must have two responses and a grade; got 1 too_few, 1"):
        pool([[0], [0, 1]], [1, None])


# -- margin strata and difficulty


def test_strata_hold_every_question_once_and_average_to_the_whole(near):
    _, some = near
    table = diagnostics.margin_strata(some, min_questions=1)
    for name, values in (("sem1", some.sem1), ("sem2", some.sem2)):
        rows = table.filter(estimator=name)
        assert rows.height == 12
        assert rows["questions"].sum() == len(values)
        filled = rows.filter(pl.col("questions") > 0)
        assert (filled["gap"] * filled["questions"]).sum() / len(values) == pytest.approx(
            (values - some.correct).mean()
        )
        assert (filled["ece"] - filled["gap"].abs()).abs().max() < 1e-15
        assert set(rows.filter(pl.col("questions") == 0)["reason"]) == {"fewer than 1 questions"}


def test_a_margin_on_an_edge_belongs_to_the_stratum_above():
    some = pool([[0, 0, 0, 1], [0, 0, 0, 0]], [1, 1])
    table = diagnostics.margin_strata(some, n_strata=2, min_questions=1).filter(estimator="sem1")
    assert table["questions"].to_list() == [0, 2]


def test_strata_count_stated_confidences_by_themselves():
    some = pool([[0, 1]] * 3, [1, 0, 1], [0.5, None, None])
    table = diagnostics.margin_strata(some, n_strata=1, min_questions=2)
    assert table.select("estimator", "questions").rows() == [("sem1", 3), ("sem2", 3), ("verbalized", 1)]
    assert table["reason"].to_list() == [None, None, "fewer than 2 questions"]


def test_difficulty_ranks_by_the_difference_and_shares_ranks():
    labels = [[0] * 6, [0, 0, 0, 1, 1, 1], [1, 0, 0, 0, 1, 1], [0, 0, 0, 0, 0, 1]]
    table = diagnostics.difficulty(pool(labels, [1, 0, 0, 1]))
    assert table["question"].to_list() == [1, 2, 0, 3]
    assert table["rank"].to_list() == [1, 1, 3, 3]
    assert (table["difficulty"] - (table["sem1"] - table["sem2"])).abs().max() < 1e-15
    assert diagnostics.difficulty(pool(labels, [1, 0, 0, 1]), top=1)["question"].to_list() == [1]


# -- alignment


def test_exact_is_the_gap_and_the_pools_formula_is_close_for_near_ties_and_fails_for_close_third_classes(near, flat):
    table = pl.concat(
        [
            diagnostics.alignment(some).insert_column(0, pl.lit(name).alias("population"))
            for name, (_, some) in (("near tie", near), ("close third classes", flat))
        ]
    )
    assert (table["exact"] - table["gap"]).abs().max() < 1e-12
    good, bad = table.filter(population="near tie"), table.filter(population="close third classes")
    assert (good["ratio_given_pool"] - 1).abs().max() < 0.1
    assert (good["ratio_same_n"] - 1).abs().min() > 0.15
    assert (bad["ratio_given_pool"] - 1).abs().min() > 0.15
    assert table.filter(boundary="crossover")["margins"].to_list() == [[0.08], [0.08]]
    assert good["half_width"].to_list() == [0.1, 0.1]
    assert (table["ratio_as_run"] - table["as_run"] / table["gap"]).abs().max() < 1e-12


def test_boundaries_are_the_papers_or_each_questions_own(near):
    _, some = near
    paper = diagnostics.alignment(some)
    k = some.n_classes.mean()
    assert paper["n_classes"].to_list() == [k, k]
    assert paper["margin"].to_list() == pytest.approx([0.612003 / np.sqrt(50), np.sqrt(np.log(k) / 50)])
    own = diagnostics.alignment(some, design="as-run", axis="own", mean_classes=False)
    unit = np.sqrt(some.top_two_mass / 50)
    expected = [(0.532193 * unit).mean(), np.maximum(np.sqrt(np.log(some.n_classes)), 0.532193) @ unit / len(unit)]
    assert own["margin"].to_list() == pytest.approx(expected)


def test_a_window_grows_by_half_until_it_holds_enough_and_stops_at_the_boundary_itself():
    margin = np.array([0.1, 0.115, 0.13, 0.19, 0.21])
    for least, half_width in ((1, 0.1), (2, 0.15), (3, 0.3375), (4, 1.0), (5, 1.0)):
        found = window(margin, np.full(5, 0.1), least)
        assert found.half_width == pytest.approx(half_width)
        assert found.inside.sum() == min(least, 4)


def test_alignment_says_why_there_is_nothing_to_compare():
    few = diagnostics.alignment(pool([[0, 1]] * 49, [0] * 49))
    assert few["reason"].to_list() == ["fewer than 50 questions within 100 % of the boundary"] * 2
    assert few["gap"].to_list() == [None, None]
    right = diagnostics.alignment(pool([[0, 0, 0, 1, 1]] * 60, [1] * 60), min_questions=1)
    assert set(right["reason"]) == {"not over-confident here: the gap of the ECEs is not that of the estimators"}
    assert right["gap"].is_not_null().all()
    assert right["ratio_exact"].is_null().all()
    same = diagnostics.alignment(pool([[0] * 20 + [1] * 1] * 60, [0] * 60), min_questions=1)
    assert set(same["reason"]) == {"fewer than 1 questions within 100 % of the boundary"}


def test_alignment_without_a_gap_has_no_ratios():
    some = pool([[0, 0, 0, 1]] * 60, [0] * 60)._replace(sem2=np.full(60, 0.75))
    table = diagnostics.alignment(some, min_questions=1)
    assert table["reason"].to_list()[1] == "no gap to compare with"
    assert table["ratio_exact"].is_null().all()


# -- sweep, spread, rate


def test_a_sweep_ends_at_the_pool_itself(near):
    _, some = near
    last = diagnostics.sweep(some, budgets=[10, 50]).row(1, named=True)
    assert last["sem1"] == pytest.approx(some.sem1.mean())
    assert last["sem2"] == pytest.approx(some.sem2.mean())
    assert last["ece_of_expected_sem1"] == pytest.approx(ece(some.sem1, some.correct), abs=1e-9)
    assert last["ece_of_one_subsample_sem1"] == pytest.approx(ece(some.sem1, some.correct), abs=1e-9)


def test_the_ece_of_one_subsample_is_that_of_drawn_subsamples_and_not_that_of_expectations():
    study = simulate(dirichlet_mixture(4000, rng=1, n_classes=(2, 11)), correctness="crossing", given="reported", rng=2)
    some = pool_of(study)
    table = diagnostics.sweep(some, budgets=[10]).row(0, named=True)
    rng = np.random.default_rng(3)
    subsamples = [rng.multivariate_hypergeometric(row, 10, size=10).max(axis=1) / 10 for row in study.counts]
    each = [ece(column, some.correct) for column in np.array(subsamples).T]
    assert np.mean(each) == pytest.approx(
        table["ece_of_one_subsample_sem1"], abs=4 * np.std(each) / np.sqrt(10) + 0.004
    )
    assert table["ece_of_one_subsample_sem1"] > table["ece_of_expected_sem1"] + 0.02


def test_every_number_of_a_sweep_has_an_interval_and_copies_do_not_make_it_surer(near):
    some = near[1].take(np.arange(80))
    once = diagnostics.sweep(some, budgets=[10]).row(0, named=True)
    numbers = [name for name in once if f"{name}_low" in once]
    assert len(numbers) == 7
    assert all(once[f"{name}_low"] <= once[name] <= once[f"{name}_high"] for name in numbers)
    twice = some.take(np.tile(np.arange(80), 2))
    copied = diagnostics.sweep(twice, budgets=[10], ids=np.tile(np.arange(80), 2)).row(0, named=True)
    for name in numbers:
        ends = [name, f"{name}_low", f"{name}_high"]
        assert [copied[each] for each in ends] == pytest.approx([once[each] for each in ends], abs=0.02)


def test_unanimous_answers_do_not_prove_that_mean_sem1_is_one():
    table = diagnostics.sweep(pool([[0] * 4] * 50, [1] * 50), budgets=[4]).row(0, named=True)
    assert table["sem1"] == 1
    assert 0.85 < table["sem1_low"] < 0.99
    assert table["ece_of_one_subsample_sem1_high"] > 0.02


def test_the_eces_of_low_margins_differ_with_a_paired_interval(near):
    some = near[1].take(np.arange(120))
    row = diagnostics.rate(some, budgets=[10], margin=np.zeros(120)).row(0, named=True)
    curve = budget_curve(counts=some.counts, budgets=[10])
    one, other = (binned_terms(np.minimum(each[0], 1), some.correct) for each in (curve.sem2, curve.sem1))
    found = paired_error(one, other)
    assert [row[f"ece_gap{end}"] for end in ("", "_low", "_high")] == pytest.approx(list(found[:3]))
    twice = some.take(np.tile(np.arange(120), 2))
    ids = np.tile(np.arange(120), 2)
    copied = diagnostics.rate(twice, budgets=[10], margin=np.zeros(240), ids=ids).row(0, named=True)
    assert copied["ece_gap_high"] == pytest.approx(row["ece_gap_high"], abs=0.02)
    alone = diagnostics.rate(twice, budgets=[10], margin=np.zeros(240), ids=np.zeros(240)).row(0, named=True)
    assert (alone["ece_gap"], alone["ece_gap_low"]) == (pytest.approx(row["ece_gap"]), None)


def test_spread_is_that_of_drawn_subsamples():
    labels, correct = drawn(np.random.default_rng(5), 30, 20)
    some = pool(labels, correct)
    row = diagnostics.budget_spread(some, budgets=[6]).row(0, named=True)
    rng = np.random.default_rng(6)
    counts = np.split(some.counts.values, some.counts.offsets[1:-1])
    variance = [(rng.multivariate_hypergeometric(c, 6, size=4000).max(axis=1) / 6).var() for c in counts]
    assert row["sem1_within"] == pytest.approx(np.sqrt(np.mean(variance)), rel=0.03)
    assert row["low_margin"] == np.mean(some.margin < 1 / np.sqrt(6))


@pytest.mark.slow
@pytest.mark.parametrize("family", [near_tie, softmax_normal, dirichlet_mixture])
def test_the_rate_interval_contains_the_slope_of_the_exact_expectations(family):
    population = family(200, rng=1)
    known = {"margin": population.margin, "pmf": population.pmf}
    some = pool_of(simulate(population, rng=2))
    observed, expected = diagnostics.rate_slope(some, **known).rows(named=True)
    assert observed["low"] <= expected["slope"] <= observed["high"]
    assert observed["high"] - observed["low"] < 0.2
    assert -0.67 < expected["slope"] < -0.47


def test_slopes_are_those_of_lines_through_the_rates():
    population = near_tie(60, rng=1)
    known = {"margin": population.margin, "pmf": population.pmf, "budgets": (4, 8, 16, 30), "resampling": FAST}
    some = pool_of(simulate(population, 30, rng=2))
    observed, expected = diagnostics.rate_slope(some, **known).rows(named=True)
    table = diagnostics.rate(some, **known)
    assert expected["slope"] == pytest.approx(np.polyfit(np.log(table["n"]), np.log(table["expected"]), 1)[0])
    assert observed["slope"] == pytest.approx(np.polyfit(np.log(table["n"]), np.log(table["gap"]), 1)[0])


@pytest.mark.slow
def test_empirical_margins_choose_near_ties_and_flatten_the_slope():
    population = near_tie(3000, rng=1)
    some = pool_of(simulate(population, rng=2))
    chosen, true = (
        diagnostics.rate_slope(some, margin=m, resampling=FAST)["slope"][0] for m in (None, population.margin)
    )
    assert chosen > true + 0.05


def test_the_threshold_is_evaluated_again_at_each_budget(near):
    _, some = near
    table = diagnostics.rate(some, budgets=[10, 40])
    for n, threshold, questions, gap in table.select("n", "threshold", "questions", "gap").rows():
        assert threshold == pytest.approx(1 / np.sqrt(n))
        assert questions == (some.margin < threshold).sum()
        assert gap > 0
    assert table["expected"].is_null().all()


def test_gaps_have_intervals_that_hold_them_and_rows_of_a_question_are_drawn_together():
    counts = Counts.from_counts(np.random.default_rng(0).multinomial(12, [0.4, 0.38, 0.22], 60))
    some = pool(counts=counts, correct=np.arange(60) % 2)
    tripled, ids = Counts(np.tile(counts.values, 3), np.arange(181) * 3), np.tile(np.arange(60), 3)
    three = pool(counts=tripled, correct=np.tile(some.correct, 3))
    once = diagnostics.rate(some, budgets=[4, 8, 12])
    copied = diagnostics.rate(three, budgets=[4, 8, 12], ids=ids)
    alone = diagnostics.rate(three, budgets=[4, 8, 12])
    for low, gap, high in once.select("gap_low", "gap", "gap_high").iter_rows():
        assert low < gap < high
    for row in range(3):
        widths = [(table["gap_high"] - table["gap_low"])[row] for table in (once, copied, alone)]
        assert widths[1] == pytest.approx(widths[0], rel=0.1)
        assert widths[2] < 0.7 * widths[0]
    slopes = [diagnostics.rate_slope(each, budgets=[4, 8, 12], ids=unit) for each, unit in ((some, None), (three, ids))]
    assert slopes[0]["low"][0] < slopes[0]["slope"][0] < slopes[0]["high"][0]
    assert slopes[1]["low"][0] == pytest.approx(slopes[0]["low"][0], abs=0.05)


def test_the_rate_of_one_margin_is_that_of_its_exact_expectations():
    pi = np.array([0.55, 0.45])
    counts = np.random.default_rng(0).multinomial(50, pi, size=400)
    some = pool(counts=Counts.from_counts(counts), correct=np.zeros(400))
    known = {"margin": np.full(400, 0.1), "pmf": np.tile(pi, (400, 1))}
    table = diagnostics.rate(some, budgets=[10, 20], **known)
    assert table["expected"].to_list() == pytest.approx([float(theory.expected_gap(pi, n)) for n in (10, 20)])
    assert table["ece_gap"].to_list() == pytest.approx(table["gap"].to_list(), abs=1e-9)


# -- where nothing can be said


def test_one_class_everywhere_leaves_no_low_margin_question():
    some = pool([[0] * 50] * 40, [1] * 40)
    slope = diagnostics.rate_slope(some)
    assert slope["slope"].is_null().all()
    assert slope["reason"].to_list() == [
        "fewer than 3 budgets with 30 low-margin questions",
        "the population is not known",
    ]
    assert set(diagnostics.rate(some)["reason"]) == {"fewer than 30 low-margin questions"}
    assert diagnostics.sweep(some)["gap"].to_list() == pytest.approx([0.0] * 5)
    assert (diagnostics.difficulty(some)["difficulty"] == 0).all()


def test_all_correct_is_a_run_like_any_other():
    labels, _ = drawn(np.random.default_rng(1), 60, 50)
    some = pool(labels, [1.0] * 60)
    assert diagnostics.sweep(some)["accuracy"].to_list() == pytest.approx([1] * diagnostics.sweep(some).height)
    assert diagnostics.margin_strata(some, min_questions=1)["gap"].drop_nulls().max() < 1e-12


def test_a_population_with_too_few_low_margins_has_a_reason_for_both_slopes():
    some = pool([[0] * 49 + [1]] * 40, [1] * 40)
    slope = diagnostics.rate_slope(some, pmf=np.tile([0.98, 0.02], (40, 1)))
    assert set(slope["reason"]) == {"fewer than 3 budgets with 30 low-margin questions"}
    assert (diagnostics.rate(some, pmf=np.tile([0.98, 0.02], (40, 1)), min_questions=1)["expected"]).is_null().all()


def test_two_responses_allow_one_budget_and_no_slope():
    some = pool([[0, 1], [0, 0]] * 40, [1, 0] * 40)
    table = diagnostics.sweep(some)
    assert table["sem1"].is_null().all()
    assert set(table["reason"]) == {"80 questions have fewer responses"}
    assert diagnostics.sweep(some, budgets=[2])["sem1"].to_list() == pytest.approx([0.75])
    assert diagnostics.rate_slope(some, budgets=[2])["budgets"].to_list() == [1, 0]


def test_unequal_numbers_of_responses_end_the_sweep_where_the_first_question_ends():
    some = pool([[0, 0, 1, 1] * 5] * 40 + [[0, 1, 0]], [1] * 41)
    for table in (diagnostics.sweep(some, budgets=[3, 10]), diagnostics.rate(some, budgets=[3, 10])):
        assert table["reason"].to_list() == [None, "1 question has fewer responses"]
    assert diagnostics.budget_spread(some, budgets=[3, 10])["sem1_within"].is_null().to_list() == [False, True]


def test_a_slope_through_no_gap_is_null():
    some = pool([[0, 0, 0, 1] * 10] * 40, [1] * 40)
    certain = np.tile([1.0, 0.0], (40, 1))
    slope = diagnostics.rate_slope(some, margin=np.zeros(40), pmf=certain, budgets=[4, 8, 12], resampling=FAST)
    assert slope["reason"].to_list() == [None, "no gap at some budget"]
    alone = pool([[0] * 40] * 40, [1] * 40)
    slope = diagnostics.rate_slope(alone, margin=np.zeros(40), budgets=[4, 8, 12], resampling=FAST)
    assert slope["reason"].to_list() == ["no gap at some budget", "the population is not known"]


def test_a_replicate_without_a_low_margin_question_is_left_out():
    labels = [[0, 0, 1, 1] * 5] + [[0] * 20] * 9
    some = pool(labels, [1] * 10)
    slope = diagnostics.rate_slope(some, budgets=[4, 8, 12], min_questions=1, resampling=FAST).row(0, named=True)
    assert slope["low"] == pytest.approx(slope["slope"])
    assert slope["high"] == pytest.approx(slope["slope"])


# -- agreement


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=40))
def test_rand_indices_equal_scikit_learn(pairs):
    metrics = pytest.importorskip("sklearn.metrics")
    first, second = np.array(pairs).T
    found = diagnostics.partition_agreement(first, second)
    assert found.rand == pytest.approx(metrics.rand_score(first, second), abs=1e-12)
    assert found.adjusted_rand == pytest.approx(metrics.adjusted_rand_score(first, second), abs=1e-12)
    again = diagnostics.partition_agreement(second, first)
    assert again[:3] == pytest.approx(found[:3], abs=1e-12)


def test_equal_partitions_agree_wholly_whatever_their_numbers():
    assert diagnostics.partition_agreement([0, 0, 1], [2, 2, 0]) == (1.0, 1.0, 1.0, 1.0)
    assert diagnostics.partition_agreement([0], [3]) == (1.0, 1.0, 1.0, 1.0)


def test_modes_are_compared_as_sets_of_responses():
    found = diagnostics.partition_agreement([0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 1])
    assert found.modal_jaccard == 0.75
    assert found.same_mode == 1.0
    half = diagnostics.partition_agreement([0, 0, 0, 0, 1, 1], [0, 0, 1, 2, 2, 2])
    assert (half.modal_jaccard, half.same_mode) == (pytest.approx(1 / 6), 0.0)
    half = diagnostics.partition_agreement([0, 0, 0, 0, 1, 1], [0, 1, 2, 2, 2, 2])
    assert (half.modal_jaccard, half.same_mode) == (pytest.approx(2 / 6), 1.0)
    apart = diagnostics.partition_agreement([0, 0, 0, 1, 1, 2], [0, 1, 2, 3, 3, 3])
    assert apart.modal_jaccard == 0.0
    assert apart.same_mode == 0.0


def test_judges_that_agree_change_nothing():
    labels, correct = drawn(np.random.default_rng(2), 40, 12)
    table = diagnostics.judge_agreement(JudgedRun(labels, correct), JudgedRun(labels, correct), resampling=FAST)
    assert table.filter(pl.col("quantity").is_in(["rand", "adjusted_rand"]))["change"].to_list() == pytest.approx(
        [1.0, 1.0]
    )
    rest = table.filter(~pl.col("quantity").is_in(["rand", "adjusted_rand", "modal_jaccard", "same_mode"]))
    assert rest["change"].to_list() == pytest.approx([0.0] * rest.height, abs=1e-12)
    assert rest["quantity"].to_list() == ["classes", "accuracy", "sem1", "sem1_ece", "sem2", "sem2_ece"]


def test_a_judge_that_splits_lowers_confidence_with_an_interval():
    rng = np.random.default_rng(3)
    labels, correct = drawn(rng, 60, 20, classes=3)
    split = [2 * row + rng.integers(0, 2, len(row)) for row in labels]
    finer = [
        [grades[k // 2] if k // 2 < len(grades) else 0.0 for k in range(row.max() + 1)]
        for row, grades in zip(split, correct, strict=True)
    ]
    stated = [0.5] * 60
    table = diagnostics.judge_agreement(
        JudgedRun(labels, correct, stated), JudgedRun(split, finer, stated), resampling=FAST
    )
    by_name = {row["quantity"]: row for row in table.rows(named=True)}
    assert by_name["sem1"]["high"] < 0
    assert by_name["classes"]["change"] > 0
    assert by_name["rand"]["low"] < by_name["rand"]["change"] < by_name["rand"]["high"] < 1
    first, second = pool(labels, correct), pool(split, finer)
    change = ece(second.sem1, second.correct) - ece(first.sem1, first.correct)
    assert by_name["sem1_ece"]["change"] == pytest.approx(change)
    assert by_name["sem1_ece"]["low"] < change < by_name["sem1_ece"]["high"]
    assert by_name["verbalized"]["change"] == pytest.approx(0, abs=1e-12)
    assert by_name["verbalized_ece"]["first"] == pytest.approx(ece([0.5] * 60, first.correct))


def test_every_pair_of_orders_is_compared():
    labels, correct = drawn(np.random.default_rng(2), 5, 12)
    one = JudgedRun(labels, correct)
    table = diagnostics.partition_stability({"a": one, "b": one, "c": one})
    assert table["pair"].unique(maintain_order=True).to_list() == ["a / b", "a / c", "b / c"]
    assert table.filter(quantity="rand")["reason"].to_list() == ["no interval for fewer than 30 questions"] * 3


# -- arms


def test_arms_are_matched_by_question_and_compared_with_the_first():
    labels, correct = drawn(np.random.default_rng(4), 80, 20)
    hot = pool(labels, [None, *correct[1:]])
    cold = pool([np.zeros_like(row) for row in labels], [[c[0]] for c in correct])
    table = diagnostics.compare_arms({"hot": hot, "cold": cold}, resampling=FAST)
    row = table.filter(quantity="sem1").row(0, named=True)
    assert (row["arm"], row["questions"], row["second"]) == ("cold", 79, 1.0)
    assert row["low"] <= row["change"] <= row["high"]
    accuracy = table.filter(quantity="accuracy").row(0, named=True)
    assert accuracy["first"] == pytest.approx(hot.correct.mean())


def test_arms_without_a_common_question_say_so():
    first, second = pool([[0, 1], [0, 1]], [1, None]), pool([[0, 1], [0, 1]], [None, 1])
    table = diagnostics.compare_arms({"a": first, "b": second})
    assert table.rows() == [("b", "accuracy", 0, None, None, None, None, None, "no question in common")]
    stated, silent = pool([[0, 1]] * 2, [1, 0], [0.5, None]), pool([[0, 1]] * 2, [1, 0], [None, 0.5])
    table = diagnostics.compare_arms({"a": stated, "b": silent}).filter(quantity="verbalized")
    assert table["reason"].to_list() == ["no question in common"]
    neither = diagnostics.compare_arms({"a": stated, "b": pool([[0, 1]] * 2, [1, 0])})
    assert "verbalized" not in neither["quantity"].to_list()


def test_the_interval_of_a_change_of_ece_holds_both_kinds_of_values():
    right, wrong = [1, 0] * 40, [0] * 80
    even, sure = [[0, 0, 1, 1]] * 80, [[0, 0, 0, 0]] * 80
    arms = {"bad": pool(even, wrong), "calibrated": pool(even, right), "worse": pool(sure, wrong)}
    table = diagnostics.compare_arms(arms).filter(quantity="sem1_ece")
    assert table["change"].to_list() == pytest.approx([-0.5, 0.5])
    assert (table["low"] <= table["change"]).all()
    assert (table["change"] <= table["high"]).all()
    assert (table["high"][0] < -0.3, table["low"][1] > 0.3) == (True, True)


# -- ranks


def test_arms_are_ranked_by_accuracy_and_by_each_ece():
    labels, correct = drawn(np.random.default_rng(4), 80, 20)
    first = pool(labels, correct)
    wrong = pool(labels, [[0.0] * len(c) for c in correct])
    table = diagnostics.rank_arms({"wrong": wrong, "first": first, "same": first}, resampling=FAST)
    assert table["quantity"].unique(maintain_order=True).to_list() == ["accuracy", "sem1_ece", "sem2_ece"]
    rows = table.filter(quantity="accuracy").select("arm", "rank", "rank_low", "rank_high", "ahead").rows()
    assert rows == [("first", 1, 1, 2, 0.0), ("same", 1, 1, 2, 0.0), ("wrong", 3, 3, 3, 0.0)]
    assert table.filter(quantity="sem1_ece")["value"].to_list()[0] == pytest.approx(ece(first.sem1, first.correct))


def test_arms_that_are_right_where_the_other_is_wrong_cannot_be_told_apart():
    right = np.array([1, 0] * 100)
    one, other = pool([[0, 0]] * 200, right), pool([[0, 0]] * 200, 1 - right)
    table = diagnostics.rank_arms({"one": one, "other": other})
    for name in ("accuracy", "sem1_ece"):
        rows = table.filter(quantity=name).select("rank", "rank_low", "rank_high", "ahead").rows()
        assert rows == [(1, 1, 2, 0.0), (1, 1, 2, 0.0)]


def test_a_calibrated_arm_is_ahead_of_one_that_is_not_and_an_equal_one_is_not():
    right = np.array([1, 0] * 100)
    arms = {
        "even": pool([[0, 0, 1, 1]] * 200, right),
        "sure": pool([[0, 0, 0, 1]] * 200, right),
        "also even": pool([[0, 0, 1, 1]] * 200, 1 - right),
    }
    rows = diagnostics.rank_arms(arms).filter(quantity="sem1_ece").select("arm", "rank_low", "rank_high").rows()
    assert rows == [("even", 1, 2), ("also even", 1, 2), ("sure", 3, 3)]
    del arms["also even"]
    ahead = diagnostics.rank_arms(arms).filter(quantity="sem1_ece")["ahead"].to_list()
    assert (ahead[0] > 0.99, ahead[1]) == (True, 0.0)


@pytest.mark.slow
def test_statements_about_several_arms_are_sure_together():
    """Of 5 arms with equal accuracies one is surely better than some other in 28 % of the runs if pairs stand alone."""
    assert holm(np.array([0.01, 0.02, 0.02, 0.9])).tolist() == pytest.approx([0.04, 0.06, 0.06, 0.9])
    assert holm(np.array([0.03])).tolist() == [0.03]
    rng, wrong = np.random.default_rng(0), 0
    for _ in range(100):
        terms = [correctness_terms(np.ones(200), (rng.random(200) < 0.7).astype(float)) for _ in range(5)]
        wrong += max(row["rank_low"] for row in ranks_of_terms("accuracy", "abcde", terms, higher=True)) > 1
    assert wrong <= 100 * 0.05 + 4 * (100 * 0.05 * 0.95) ** 0.5


def test_an_arm_that_is_surely_better_than_all_others_is_ahead_of_them():
    right = [np.arange(400) < 4 * x for x in (90, 60, 59)]
    terms = [correctness_terms(np.ones(400), each.astype(float)) for each in right]
    rows = list(ranks_of_terms("accuracy", "abc", terms, higher=True))
    assert [(row["arm"], row["rank_low"], row["rank_high"]) for row in rows] == [("a", 1, 1), ("b", 2, 3), ("c", 2, 3)]
    assert rows[0]["ahead"] > 0.999


def test_of_two_equal_arms_hardly_ever_one_is_ahead():
    """At most 5 % of the data sets, in 200 of them with four standard errors; a bootstrap said so in most of them."""
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(200):
        c = rng.integers(4, 21, 300) / 20
        sides = [binned_terms(c, (rng.random(300) < c).astype(float)) for _ in range(2)]
        wrong += min(surely_less(*sides, rng=rng)) < 0.025
    assert wrong <= 200 * 0.05 + 4 * (200 * 0.05 * 0.95) ** 0.5


def test_ranks_are_of_the_questions_that_all_arms_have():
    labels = [[0, 0, 1]] * 40
    some = pool(labels, [None, *[1, 0, 0] * 13], [0.9] * 40)
    every = pool(labels, [1] * 40, [None] * 20 + [0.5] * 20)
    table = diagnostics.rank_arms({"some": some, "every": every}, resampling=FAST)
    assert table.filter(arm="some")["questions"].to_list() == [39, 39, 39, 20]
    assert table.filter(quantity="verbalized_ece")["ahead"].to_list() == [None, None]
    assert table.filter(quantity="accuracy")["value"].to_list() == [1.0, pytest.approx(1 / 3)]


def test_arms_without_a_common_question_have_no_rank():
    first, second = pool([[0, 1], [0, 1]], [1, None]), pool([[0, 1], [0, 1]], [None, 1])
    with pytest.raises(ValueError, match="arms must have a question in common; got none"):
        diagnostics.rank_arms({"a": first, "b": second})
    with pytest.raises(ValueError, match="at least two arms are needed to rank; got 1"):
        diagnostics.rank_arms({"a": first})


def test_resampled_sums_share_their_draws_and_spread_as_they_should():
    features = np.random.default_rng(0).normal(size=(500, 2))
    features[:, 1] = 2 * features[:, 0]
    sums = resampled_sums(features, Resampling(n_resamples=4000))
    assert sums[:, 1] == pytest.approx(2 * sums[:, 0])
    assert sums.std(axis=0) == pytest.approx(features.std(axis=0) * np.sqrt(500), rel=0.05)
    assert abs(sums.mean(axis=0) - features.sum(axis=0)).max() < 4 * sums.std() / np.sqrt(4000)


@pytest.mark.parametrize("held", ["CHUNK", "BLOCK"])
def test_resampled_sums_do_not_depend_on_the_size_of_a_chunk(monkeypatch, held):
    features = np.arange(12.0).reshape(6, 2)
    whole = resampled_sums(features, Resampling(n_resamples=7))
    monkeypatch.setattr(bootstrap, held, 12)
    assert (resampled_sums(features, Resampling(n_resamples=7)) == whole).all()


# -- hedging


def test_hedges_bracket_the_confidence():
    rng = np.random.default_rng(6)
    labels, correct = drawn(rng, 50, 12)
    hedged = [rng.random(12) < 0.2 for _ in labels]
    table = diagnostics.hedging_bracket(labels, hedged, correct)
    judged, into, out = table["sem1"]
    assert out < judged < into
    assert table["hedged"].to_list() == pytest.approx([np.mean(hedged)] * 3)
    first = pool(labels, correct)
    assert table["sem1_ece"][0] == pytest.approx(ece(first.sem1, first.correct))


def test_hedged_responses_move_with_the_correctness_of_their_class():
    labels, hedged = np.array([0, 0, 0, 1, 1]), np.array([False, True, False, True, False])
    into, grades = rearranged(labels, hedged, [0.0, 1.0], "into the mode")
    assert (into.tolist(), grades) == ([0, 0, 0, 0, 1], [0.0, 1.0])
    into, grades = rearranged(np.array([0, 1, 1, 2]), np.array([True, False, False, True]), [0, 1, 0], "into the mode")
    assert (into.tolist(), grades) == ([0, 0, 0, 0], [1])
    out, grades = rearranged(labels, hedged, [0.0, 1.0], "out of the mode")
    assert (out.tolist(), grades) == ([0, 1, 0, 2, 2], [0.0, 0.0, 1.0])


def test_a_grade_of_the_deployed_answer_is_kept():
    labels, hedged = np.array([0, 0, 1]), np.array([True, True, False])
    for grade in (None, 1, 0.5):
        assert rearranged(labels, hedged, grade, "out of the mode")[1] == grade
    assert rearranged(labels, ~np.ones(3, bool), [1, 0], "into the mode")[0] is labels


# -- real samples


def numbered(keys):
    """Labels by first appearance."""
    seen = {}
    return [seen.setdefault(key, len(seen)) for key in keys]


def graded(question):
    """Labels and correctness per class: by the normalised string, or of puzzles by the final expression."""
    if "puzzle" in question:
        labels = numbered([sample.split("Answer:")[-1].strip() for sample in question["samples"]])
        right = dict(zip(labels, question["correct"], strict=True))
    else:
        keys = [normalise(answer) for answer in question["answers"]]
        labels = numbered(keys)
        gold = {normalise(answer) for answer in question["gold"]}
        right = {label: key in gold for label, key in zip(labels, keys, strict=True)}
    return labels, [float(right[k]) for k in range(len(right))]


@pytest.mark.slow
@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("name", "n", "questions"),
    [("triviaqa_500x20", 20, 500), ("dates_359x40", 40, 359), ("game24_100x100", 100, 100)],
)
def test_every_diagnostic_of_real_samples(shared_data, name, n, questions):
    lines = (shared_data / "samples" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    labels, correct = zip(*map(graded, map(json.loads, lines)), strict=True)
    some = pool(labels, correct)
    assert len(some.correct) == questions
    assert (some.n_responses == n).all()
    budgets = [n // 4, n // 2, 3 * n // 4, n]
    sweep = diagnostics.sweep(some, budgets=budgets)
    assert (sweep["gap"].diff().drop_nulls() < 0).all()
    assert sweep["sem1"][-1] == pytest.approx(some.sem1.mean())
    assert sweep["ece_of_one_subsample_sem1"][-1] == pytest.approx(ece(some.sem1, some.correct), abs=1e-9)
    spread = diagnostics.budget_spread(some, budgets=budgets)["sem1_within"].to_list()
    assert spread == sorted(spread, reverse=True)
    assert spread[-1] == pytest.approx(0, abs=1e-6)
    assert diagnostics.margin_strata(some).filter(estimator="sem1")["questions"].sum() == questions
    assert diagnostics.difficulty(some)["difficulty"].is_sorted(descending=True)
    aligned = diagnostics.alignment(some)
    assert (aligned["gap"].is_null() == (aligned["questions"] < 50)).all()
    slope = diagnostics.rate_slope(some, budgets=budgets, resampling=FAST).row(0, named=True)
    assert (slope["slope"] is None) == (slope["reason"] is not None)
    judge = JudgedRun(labels, correct)
    exact = JudgedRun([list(range(n))] * questions, [[0.0] * n] * questions)
    table = diagnostics.judge_agreement(judge, exact, resampling=FAST)
    assert table.filter(quantity="adjusted_rand")["change"][0] < 0.5
    hedged = [np.arange(n) % 7 == 0 for _ in labels]
    bracket = diagnostics.hedging_bracket(labels, hedged, correct)["sem1"].to_list()
    assert bracket[2] < bracket[0] < bracket[1]
    half = pool(
        [row[: n // 2] for row in labels], [c[: max(row[: n // 2]) + 1] for row, c in zip(labels, correct, strict=True)]
    )
    assert diagnostics.compare_arms({"all": some, "half": half}, resampling=FAST)["change"].is_not_null().all()


# -- what is refused


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda p: diagnostics.margin_strata(p, n_strata=0), "n_bins must be a whole number of at least 1; got 0"),
        (lambda p: diagnostics.margin_strata(p, min_questions=0), "min_questions must be a whole number of at least 1"),
        (lambda p: diagnostics.difficulty(p, top=0), "top must be a whole number of at least 1; got 0"),
        (lambda p: diagnostics.alignment(p, axis="p"), "axis must be one of 'unit', 'own'; got 'p'"),
        (lambda p: diagnostics.alignment(p, min_questions=0), "min_questions must be a whole number of at least 1"),
        (lambda p: diagnostics.sweep(p, budgets=[]), "budgets must not be empty"),
        (lambda p: diagnostics.sweep(p, budgets=[1]), "budgets must be a whole number of at least 2; got 1"),
        (lambda p: diagnostics.rate(p, margin=[0.1]), r"margin must have one entry per question \(2\); got 1"),
        (lambda p: diagnostics.rate(p, pmf=[[1.0]]), r"pmf must have one entry per question \(2\); got 1"),
        (lambda p: diagnostics.compare_arms({"a": p}), "at least two arms are needed to compare; got 1"),
        (lambda p: diagnostics.partition_stability({"a": p}), "at least two judgements are needed to compare; got 1"),
        (lambda p: diagnostics.partition_agreement([0, 1], [0]), "same responses, at least one; got 2 and 1"),
        (lambda p: diagnostics.partition_agreement([], []), "same responses, at least one; got 0 and 0"),
        (
            lambda p: diagnostics.judge_agreement(JudgedRun([[0]], [1]), JudgedRun([], [])),
            "judges must speak of the same questions; got 1 and 0",
        ),
        (
            lambda p: diagnostics.hedging_bracket([[0, 1]], [], [1]),
            "labels, hedged and correct must have the same length; got 1, 0, 1",
        ),
        (
            lambda p: diagnostics.hedging_bracket([[0, 1]], [[True]], [1]),
            r"hedged of question 0 must be 2 booleans; got bool of shape \(1,\)",
        ),
    ],
)
def test_bad_arguments_are_named(call, words):
    with pytest.raises(ValueError, match=words):
        call(pool([[0, 1], [0, 0]], [1, 0]))


def test_the_rate_of_clustered_questions_without_a_budget_that_has_enough_is_a_reason():
    table = diagnostics.rate(pool([[0, 0, 1, 1]] * 6, [1, 0] * 3), budgets=[2, 4], ids=["a", "b"] * 3)
    assert table["gap"].to_list() == [None, None]
    assert all(table["reason"].to_list())
