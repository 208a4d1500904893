"""SemX: residuals equal enumeration and are zero on average for calibrated models; errors, gaps and claims hold."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semece as se
from semece.stats.calibration.bins import bin_index
from semece.stats.counts import Counts, blocks
from semece.stats.estimators.semx import semx, semx_curve
from semece.stats.simulation import dirichlet_mixture, given_pmf, simulate
from semece.stats.uncertainty.claims import bracket_verdict, calibrated_within, hidden_verdict, model_verdict
from semece.stats.uncertainty.held_out_errors import (
    HeldOutGap,
    SemXError,
    gap_interval,
    held_out_gap,
    semx_ece,
    semx_table,
)
from semece.stats.uncertainty.intervals import Interval
from tests import brute_force

NUMPY, COMPILED = 10**18, 0
QUESTIONS = st.lists(
    st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=4).filter(
        lambda row: sum(count for count, _ in row) > 1
    ),
    min_size=1,
    max_size=8,
)


@pytest.fixture(params=[NUMPY, COMPILED], ids=["numpy", "compiled"])
def path(request, monkeypatch):
    """Both ways to treat many questions."""
    monkeypatch.setattr(blocks, "COMPILED_FROM", request.param)
    return request.param


def dense(found, name="value"):
    """One row per question that enters, one column per bin."""
    out = np.zeros((len(found.questions), len(found.low)))
    out[np.searchsorted(found.questions, found.question), found.bin] = getattr(found, name)
    return out


def enumerated(counts, correct, n_bins=10):
    """Residual of one question by size of the block, going through all blocks."""
    total = sum(counts)
    out = {s: np.zeros(n_bins) for s in range(1, total)}
    for s, block, ways, winners in brute_force.blocks(counts):
        if 0 < s < total:
            for k in winners:
                term = (counts[k] - block[k]) / (total - s) - correct[k]
                out[s][block[k] * n_bins // s - (block[k] == s)] += ways / math.comb(total, s) / len(winners) * term
    return out


def multinomial_draws(pmf, n):
    """Every count of n draws, and its probability."""
    for counts in itertools.product(range(n + 1), repeat=len(pmf)):
        if sum(counts) == n:
            ways = math.factorial(n) / math.prod(map(math.factorial, counts))
            yield counts, ways * math.prod(p**c for p, c in zip(pmf, counts, strict=True))


def some_questions(n=300, seed=0, missing=0.0):
    """Labels of 2 to 11 responses, and correctness of their classes."""
    rng = np.random.default_rng(seed)
    labels = [rng.integers(0, 5, rng.integers(2, 12)) for _ in range(n)]
    correct = [rng.integers(0, 2, row.max() + 1).astype(float) for row in labels]
    return labels, [np.where(rng.random(len(row)) < missing, np.nan, row) for row in correct]


# residuals


@pytest.mark.parametrize("total", range(2, 11))
def test_residuals_equal_the_enumeration_of_all_blocks(path, total):
    rng = np.random.default_rng(total)
    every = [counts for counts in brute_force.partitions(total) if len(counts) <= 5]
    correct = [rng.random(len(counts)) for counts in every]
    expected = [enumerated(counts, grades) for counts, grades in zip(every, correct, strict=True)]
    for s in range(1, total):
        found = semx(correct=correct, counts=Counts.from_counts(every), n_select=s)
        np.testing.assert_allclose(dense(found), [by_size[s] for by_size in expected], atol=1e-13)


@pytest.mark.parametrize("pmf", [(0.7, 0.3), (0.5, 0.5), (0.6, 0.3, 0.1), (0.4, 0.35, 0.25)])
def test_residuals_of_a_calibrated_model_are_zero_on_average(path, pmf):
    """Correctness is linear in the residual, so that a class that is right with chance pi counts pi."""
    for n in range(2, 8):
        draws, chances = zip(*multinomial_draws(pmf, n), strict=True)
        for s in range(1, n):
            found = semx(correct=[pmf] * len(draws), counts=Counts.from_counts(draws), n_select=s)
            np.testing.assert_allclose(np.array(chances) @ dense(found), 0, atol=1e-14)


def test_sem1_and_sem2_in_their_own_bins_are_not_zero_on_average():
    """The counter-examples: the same calibrated model, chosen and measured on the same answers, or binned by noise."""
    pmf, n = (0.6, 0.3, 0.1), 5
    draws, chances = zip(*multinomial_draws(pmf, n), strict=True)
    counts = Counts.from_counts(draws)
    table = se.estimate(counts=counts, correct=[pmf] * len(draws))
    errors = {}
    for name, correct in (("sem1", "correct"), ("sem2", "correct_split")):
        c, a = table[name].to_numpy(), table[correct].to_numpy()
        errors[name] = np.abs(np.bincount(bin_index(c), np.array(chances) * (c - a), 10)).sum()
    assert errors["sem1"] == pytest.approx(0.1429, abs=1e-4)
    assert errors["sem2"] == pytest.approx(0.1167, abs=1e-4)


def test_a_model_that_is_calibrated_in_its_first_answer_alone_has_a_gap():
    population = dirichlet_mixture(4000, rng=1)
    pmf = population.pmf
    first = pmf == pmf.max(axis=1, keepdims=True)
    counts = np.random.default_rng(2).multinomial(10, pmf)
    gap = held_out_gap(semx(correct=(first * pmf).ravel(), counts=Counts.from_counts(counts)))
    assert 0.05 < gap.low < gap.value < 0.1


def test_the_sum_of_residuals_is_mean_sem2_minus_the_accuracy_of_the_selected_answer(path):
    labels, correct = some_questions()
    found, table = semx(labels, correct), se.estimate(labels, correct)
    gap = table["sem2"].mean() - table["correct_split"].mean()
    assert found.value.sum() / len(labels) == pytest.approx(gap, abs=1e-12)
    np.testing.assert_allclose(dense(found, "chance").sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(dense(found, "held_out").sum(axis=1), table["sem2"], atol=1e-12)


def test_both_ways_of_computing_agree_for_many_answers(monkeypatch):
    counts = Counts.from_counts(np.random.default_rng(0).multinomial(50, dirichlet_mixture(50).pmf))
    correct = np.random.default_rng(1).random(len(counts.values))
    parts = []
    for limit in (NUMPY, COMPILED):
        monkeypatch.setattr(blocks, "COMPILED_FROM", limit)
        parts.append(dense(semx(correct=correct, counts=counts)))
    np.testing.assert_allclose(*parts, atol=1e-13)


@given(QUESTIONS)
def test_names_of_classes_and_order_of_responses_do_not_matter(rows):
    rng = np.random.default_rng(0)
    plain, renamed, grades, moved = [], [], [], []
    for row in rows:
        labels = np.repeat(np.arange(len(row)), [count for count, _ in row])
        name = rng.permutation(len(row))
        plain.append(labels)
        renamed.append(rng.permutation(name[labels]))
        right = np.array([float(each) for _, each in row])
        grades.append(right[: labels.max() + 1])
        moved.append(right[np.argsort(name)][: name[labels].max() + 1])
    first, second = semx(plain, grades), semx(renamed, moved)
    np.testing.assert_allclose(dense(first), dense(second), atol=1e-13)


@pytest.mark.parametrize(("n", "bins"), [(2, [9]), (3, [9]), (4, [5, 9]), (5, [5, 9])])
def test_one_response_selects_in_one_bin_and_two_in_two(n, bins):
    counts = Counts.from_counts([row for row in brute_force.partitions(n) if len(row) <= 5])
    found = semx(correct=np.zeros(len(counts.values)), counts=counts)
    assert np.unique(found.bin).tolist() == bins
    assert found.n_select.tolist() == [n // 2] * len(counts)


def test_refusals_are_removed_before_anything_else():
    counts = [[3, 4, 2], [2, 5, 1], [1, 3, 0]]
    refused = [[0, 1, 0], [0, 1, 0], [0, 1, 0]]
    found = semx(correct=[[1, 0, 0]] * 3, counts=Counts.from_counts(counts), refused=refused)
    without = semx(correct=[[1, 0]] * 2, counts=Counts.from_counts([[3, 2], [2, 1]]))
    assert found.questions.tolist() == [0, 1]
    assert found.n_select.tolist() == [2, 1]
    np.testing.assert_allclose(dense(found), dense(without), atol=1e-15)


def test_a_budget_is_the_mean_over_all_subsamples():
    labels, correct, n = [0, 0, 1, 2, 0, 1], [0.25, 1.0, 0.0], 4
    parts = [semx([[labels[i] for i in chosen]], None) for chosen in itertools.combinations(range(6), n)]
    assert len(parts) == 15
    expected = np.zeros(10)
    for chosen in itertools.combinations(range(6), n):
        some = [labels[i] for i in chosen]
        expected += dense(semx([some], [correct[: max(some) + 1]]))[0] / 15
    np.testing.assert_allclose(dense(semx([labels], [correct], budget=n))[0], expected, atol=1e-14)
    curve = semx_curve([labels, [0, 1]], [correct, [1, 0]], budgets=[2, 4, 8])
    assert curve.questions.tolist() == [2, 1, 0]
    assert curve.gap[1] == pytest.approx(expected.sum())
    assert curve.ece[1] == pytest.approx(np.abs(expected).sum())
    assert np.isnan(curve.gap[2])


def test_arrays_of_all_classes_and_sequences_of_each_question_are_the_same():
    labels, correct = some_questions(20, missing=0.2)
    counts = Counts.from_labels(labels)
    flat = semx(correct=np.concatenate(correct), counts=counts)
    rows = semx(labels, [None if np.isnan(row).all() else [None if np.isnan(x) else x for x in row] for row in correct])
    np.testing.assert_array_equal(dense(flat), dense(rows))
    np.testing.assert_array_equal(dense(flat, "ungraded"), dense(rows, "ungraded"))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: semx([[0]], [[1]]), "at least one question must have 2 answers; got at most 1"),
        (lambda: semx([[0, 1]], [[1]]), r"correct of question 0 must have one value per class \(2\); got 1"),
        (lambda: semx([[0, 1]], [1, 0]), r"correct of question 0 must have one value per class \(2\); got 1|one entry"),
        (lambda: semx([[0, 1]], [[2, 0]]), r"correct must lie in \[0, 1\]; got 2.0 at index 0"),
        (lambda: semx([[0, 1]], [[1, 0]], n_select=2), "n_select must be at most 1"),
        (lambda: semx([[0, 1]], [[1, 0]], n_select=1, budget=2), "either n_select or budget"),
        (lambda: semx(correct=np.ones(3), counts=Counts.from_counts([[1, 1]])), "one value per class"),
        (lambda: semx_curve([[0, 1]], [[1, 0]], budgets=[]), "budgets must not be empty"),
        (lambda: semx_ece(semx([[0, 1]], [[1, 0]]), level=1), "level must lie strictly between 0 and 1"),
        (lambda: semx_ece(semx([[0, 1]] * 2, [[1, 0]] * 2), ids=[1]), "ids must have one value per row"),
        (lambda: held_out_gap(semx([[0, 1]] * 2, [[1, 0]] * 2), weights=[0.5, 1]), "weights must be whole numbers"),
    ],
)
def test_what_cannot_be_meant_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# errors and gaps


@settings(max_examples=60)
@given(QUESTIONS)
def test_intervals_hold_their_values(rows):
    counts = Counts.from_counts([[count for count, _ in row] for row in rows])
    found = semx(correct=np.array([float(right) for row in rows for _, right in row]), counts=counts)
    error, gap, table = semx_ece(found), held_out_gap(found), semx_table(found)
    assert 0 <= error.low <= error.debiased <= error.value <= error.high <= 1
    assert -1 <= gap.low <= gap.value <= gap.high <= 1
    assert abs(gap.value) <= error.value + 1e-12
    assert np.nansum(table.chance * np.abs(table.gap)) == pytest.approx(error.value)
    assert np.nansum(table.chance * table.gap) == pytest.approx(gap.value)
    assert 0 < error.p_value <= 1


def test_weights_equal_replication():
    labels, correct = some_questions(40)
    times = np.random.default_rng(1).integers(0, 4, 40)
    many = semx(
        [labels[q] for q in np.repeat(np.arange(40), times)], [correct[q] for q in np.repeat(np.arange(40), times)]
    )
    once = semx(labels, correct)
    np.testing.assert_allclose(semx_ece(once, weights=times)[:6], semx_ece(many)[:6], atol=1e-6)
    np.testing.assert_allclose(held_out_gap(once, weights=times)[:4], held_out_gap(many)[:4], atol=1e-12)


def test_copies_of_a_question_do_not_make_a_gap_surer():
    labels, correct = some_questions(60)
    once, thrice = semx(labels, correct), semx(labels * 3, correct * 3)
    plain, copied = held_out_gap(once), held_out_gap(thrice, ids=list(range(60)) * 3)
    assert copied.value == pytest.approx(plain.value)
    for end in (1, 2):
        assert copied[end] - copied.value == pytest.approx((plain[end] - plain.value) * 1.021, rel=0.01)
    assert semx_ece(thrice, ids=list(range(60)) * 3).high > semx_ece(once).high
    assert held_out_gap(thrice).high - held_out_gap(thrice).low < 0.65 * (plain.high - plain.low)
    np.testing.assert_allclose(held_out_gap(once, ids=range(60)), plain)


def test_one_cluster_says_nothing():
    found = semx([[0, 0, 1], [0, 1, 1]], [[1, 0], [1, 0]])
    assert held_out_gap(found, ids=["a", "a"])[1:3] == (-1.0, 1.0)
    assert semx_ece(found, ids=["a", "a"])[1:3] == (0.0, 1.0)
    assert semx_ece(found, ids=["a", "a"]).p_value == 1


def test_bounds_hold_for_every_grading_of_ungraded_classes():
    labels, correct = some_questions(6, seed=3, missing=0.35)
    holes = [(q, k) for q, row in enumerate(correct) for k in np.flatnonzero(np.isnan(row))]
    assert 4 <= len(holes) <= 10
    found = semx(labels, correct)
    error, gap = semx_ece(found), held_out_gap(found)
    gaps, eces = [], []
    for grading in itertools.product((0.0, 1.0), repeat=len(holes)):
        graded = [row.copy() for row in correct]
        for (q, k), right in zip(holes, grading, strict=True):
            graded[q][k] = right
        one = semx(labels, graded)
        gaps.append(held_out_gap(one))
        eces.append(semx_ece(one))
    assert max(each.value for each in gaps) == pytest.approx(gap.value, abs=1e-12)
    assert min(each.value for each in gaps) == pytest.approx(gap.least, abs=1e-12)
    assert error.least <= min(each.value for each in eces) + 1e-12
    assert max(each.value for each in eces) <= error.value + 1e-12
    assert gap.low <= min(each.low for each in gaps) + 1e-12
    assert gap.high >= max(each.high for each in gaps) - 1e-12
    assert error.high >= max(each.high for each in eces) - 1e-12
    assert error.low <= min(each.low for each in eces) + 1e-6


def test_a_gap_of_a_model_that_is_always_right_is_not_certain():
    """No spread is seen, and four pseudo-questions give it some."""
    gap = held_out_gap(semx([[0, 0, 0, 0]] * 100, [[1]] * 100))
    assert gap.value == pytest.approx(0)
    assert 0.01 < gap.high < 0.11
    value, low, high = gap_interval([1.0] * 100, [1] * 100)
    assert value == pytest.approx(0)
    assert low <= 0 < high < 0.11


@pytest.mark.slow
@pytest.mark.parametrize("n", [5, 10])
def test_calibrated_models_are_rarely_called_anything(n):
    """400 runs of 200 questions; bounds widened by four standard errors."""
    rng = np.random.default_rng(n)
    pmf = dirichlet_mixture(20_000, rng=7).pmf
    counts = rng.multinomial(n, pmf)
    until = np.cumsum(pmf, axis=1)
    ticket = rng.random((len(pmf), 1))
    right = ((ticket < until) & (ticket >= until - pmf)).astype(float)
    found = semx(correct=right.ravel(), counts=Counts.from_counts(counts))
    called, rejected = [], []
    for run in range(400):
        times = np.bincount(rng.integers(0, len(pmf), 200), minlength=len(pmf))
        called.append(model_verdict(held_out_gap(found, weights=times)))
        if run < 100:
            rejected.append(semx_ece(found, weights=times).p_value <= 0.05)
    assert np.mean([side == "over-confident" for side in called]) < 0.025 + 4 * (0.025 / 400) ** 0.5
    assert np.mean([side == "under-confident" for side in called]) < 0.025 + 4 * (0.025 / 400) ** 0.5
    assert np.mean(rejected) < 0.05 + 4 * (0.05 / 100) ** 0.5


def test_an_over_confident_model_is_found():
    run = simulate(given_pmf([[0.8, 0.15, 0.05]] * 500), 5, correctness=lambda c: c - 0.25 * (c > 0.5), rng=3)
    found = semx(correct=run.right.ravel(), counts=Counts.from_counts(run.counts))
    assert model_verdict(held_out_gap(found)) == "over-confident"
    assert semx_ece(found).p_value < 0.001


# claims


def error_of(low, n_select=2):
    return SemXError(0.1, low, 0.2, 0.1, 0.1, 0.5, 100, n_select)


def gap_of(low, high):
    return HeldOutGap(0.0, low, high, 0.0, 100)


def test_the_gap_decides_on_which_side_a_model_is():
    assert model_verdict(gap_of(0.01, 0.2)) == "over-confident"
    assert model_verdict(gap_of(-0.2, -0.01)) == "under-confident"
    assert model_verdict(gap_of(0.0, 0.1)) is None
    assert model_verdict(gap_of(-0.1, 0.0)) is None


def test_the_bracket_needs_sem2_above_or_sem1_below_the_accuracy():
    above, below, around = Interval(0.1, 0.05, 0.2), Interval(-0.1, -0.2, -0.05), Interval(0.0, -0.1, 0.1)
    assert bracket_verdict(above, above) == "over-confident"
    assert bracket_verdict(above, around) is None
    assert bracket_verdict(below, below) == "under-confident"
    assert bracket_verdict(around, below) is None


def test_an_error_is_hidden_only_behind_a_gap_around_zero_and_in_two_bins():
    assert hidden_verdict(error_of(0.01), gap_of(-0.1, 0.1)) == "miscalibrated"
    assert hidden_verdict(error_of(0.0), gap_of(-0.1, 0.1)) is None
    assert hidden_verdict(error_of(0.01), gap_of(0.005, 0.1)) is None
    assert hidden_verdict(error_of(0.01, n_select=1), gap_of(-0.1, 0.1)) is None


def test_a_model_is_right_on_average_only_if_its_error_is_surely_larger_than_its_gap():
    assert hidden_verdict(error_of(0.09), gap_of(-0.05, 0.08)) == "right on average"
    assert hidden_verdict(error_of(0.08), gap_of(-0.05, 0.08)) == "miscalibrated"
    assert hidden_verdict(error_of(0.08), gap_of(-0.08, 0.05)) == "miscalibrated"


def doubtful(n, answers, wrong):
    """Residuals of questions of two classes, of which a share has no right one."""
    rng = np.random.default_rng(n)
    chance = rng.uniform(0.5, 1.0, n)
    counts = rng.multinomial(answers, np.stack([chance, 1 - chance], axis=1))
    right = (rng.random(n) < chance) & (rng.random(n) >= wrong)
    return semx(
        correct=np.stack([right, ~right & (rng.random(n) >= wrong)], axis=1).ravel(), counts=Counts.from_counts(counts)
    )


@pytest.mark.parametrize("wrong", [0.0, 0.1, 0.2, 0.4])
@pytest.mark.parametrize("n", [20, 40, 80])
def test_the_interval_of_the_error_begins_no_lower_than_a_gap_that_is_sure(n, wrong):
    found = doubtful(n, 5, wrong)
    gap, error = held_out_gap(found), semx_ece(found)
    assert error.low >= max(gap.low, -gap.high, 0.0)
    assert error.low <= error.debiased <= error.value <= error.high


@pytest.mark.parametrize("wrong", [0.0, 0.05, 0.1, 0.2])
def test_in_one_bin_the_error_is_the_size_of_the_gap_and_so_is_the_lower_end_of_its_interval(wrong):
    found = doubtful(60, 2, wrong)
    gap, error = held_out_gap(found), semx_ece(found)
    assert error.value == pytest.approx(abs(gap.value))
    assert error.low == pytest.approx(max(gap.low, -gap.high, 0.0))


def test_calibrated_within_names_the_upper_end():
    assert calibrated_within(error_of(0.0)) == 0.2
    assert calibrated_within(Interval(0.1, 0.0, 0.3)) == 0.3


@pytest.mark.parametrize("wrong", [0, 1, 12, 24])
def test_the_error_may_be_as_large_as_the_gap_may_be(wrong):
    """Few questions that are nearly all right leave a large gap open: |g| <= SemX-ECE holds of their ends too."""
    labels = [[0, 0, 0, 1], *([0, 0, 0, 0] for _ in range(23))]
    correct = [[float(q >= wrong)] * len(set(each)) for q, each in enumerate(labels)]
    gap, error = held_out_gap(semx(labels, correct)), semx_ece(semx(labels, correct))
    assert error.high >= max(-gap.low, gap.high) - 1e-12
    assert error.low <= error.value <= error.high <= 1
