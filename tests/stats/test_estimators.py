"""Confidences of one question and of many: worked values, enumeration, conventions at ties, the door."""

import itertools
import math
import subprocess
import sys
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semece.records import Estimate
from semece.stats import estimators
from semece.stats.counts import Counts, blocks, population_selection
from semece.stats.estimators import (
    correctness,
    estimate,
    half_margin,
    margin,
    mode,
    n_classes,
    pmf,
    selection_probability,
    sem1,
    sem2,
    standardized_margin,
    top_two_mass,
    verbalized,
)
from tests.brute_force import compositions, partitions, selection

nan = float("nan")
label_lists = st.lists(st.integers(0, 5), min_size=2, max_size=14)


# worked values


@pytest.mark.parametrize(
    ("counts", "ties", "value"),
    [
        ((20, 15, 10, 5), "uniform", 0.3419333960733223),
        ((20, 15, 10, 5), "lowest", 0.35330290990556884),
        ((14, 12, 9, 6, 4, 3, 1, 1), "uniform", 0.21196507685153623),
        ((5,) * 10, "uniform", 0.03307476864735109),
        ((26, 24), "uniform", 0.4489167517699522),
    ],
)
def test_sem2_has_its_worked_values(counts, ties, value):
    assert sem2(counts=counts, ties=ties) == pytest.approx(value, abs=1e-12)
    many = sem2(counts=Counts.from_counts([counts, (1, 1)]), ties=ties)
    assert many[0] == pytest.approx(value, abs=1e-12)


def test_measures_of_one_question_by_hand():
    labels = [1, 0, 0, 2, 0, 1]
    assert sem1(labels) == 0.5
    assert margin(labels) == pytest.approx(1 / 6)
    assert top_two_mass(labels) == pytest.approx(5 / 6)
    assert n_classes(labels) == 3
    assert pmf(labels).tolist() == pytest.approx([3 / 6, 2 / 6, 1 / 6])
    assert standardized_margin(labels) == pytest.approx(1 / 6 * math.sqrt(6 / (5 / 6)))
    assert half_margin(labels, n=50) == pytest.approx(1 / 12 * math.sqrt(50 / (5 / 6)))
    assert standardized_margin(counts=[3, 2, 1], n=50) == 2 * half_margin(counts=[3, 2, 1], n=50)


def test_one_class_has_margin_and_mass_one():
    assert margin([0, 0]) == top_two_mass([0, 0]) == sem1([0, 0]) == sem2([0, 0]) == 1


def test_one_response_has_sem1_one_and_no_sem2():
    assert sem1([0]) == 1
    with pytest.raises(ValueError, match="a held-out frequency needs at least 2 responses; question 0 has 1"):
        sem2([0])


def test_numbers_come_out_as_python_numbers():
    for function in (sem1, sem2, margin, top_two_mass, standardized_margin, half_margin):
        assert type(function([0, 1, 0])) is float
        assert type(function(counts=[2, 1])) is float
    for function in (n_classes, mode):
        assert type(function([0, 1, 0])) is int
        assert type(function(counts=[2, 1])) is int


def test_mode_is_the_tied_class_that_came_first():
    assert mode([2, 0, 1, 0, 2, 1]) == 2
    assert mode([1, 0, 0, 1, 0]) == 0
    assert mode(counts=[1, 3, 3]) == 1
    assert mode(counts=Counts.from_counts([[1, 2], [3], [0, 1, 1]])).tolist() == [1, 0, 1]


def test_many_questions_equal_one_at_a_time():
    rng = np.random.default_rng(0)
    rows = [rng.multinomial(rng.integers(2, 40), rng.dirichlet(np.ones(5))) for _ in range(30)]
    many = Counts.from_counts(rows)
    for function in (sem1, sem2, margin, top_two_mass, n_classes, standardized_margin, half_margin, mode):
        np.testing.assert_allclose(function(counts=many), [function(counts=row) for row in rows], rtol=0, atol=1e-15)
    for function in (pmf, selection_probability):
        np.testing.assert_allclose(
            function(counts=many), np.concatenate([function(counts=row) for row in rows]), rtol=0, atol=1e-15
        )


# Sem2 against enumeration


@pytest.mark.parametrize("total", range(2, 9))
@pytest.mark.parametrize("ties", ["uniform", "lowest"])
def test_sem2_equals_enumeration(total, ties):
    for counts in compositions(total) if total < 7 else partitions(total):
        held_out = selection(counts, ties)[2]
        for s in range(1, total):
            assert sem2(counts=counts, n_select=s, ties=ties) == pytest.approx(float(held_out[s]), abs=1e-12)


@pytest.mark.parametrize("total", [9, 10])
def test_sem2_of_many_equals_enumeration(total, monkeypatch):
    monkeypatch.setattr(blocks, "COMPILED_FROM", 0)
    rows = list(partitions(total))
    truth = [selection(counts)[2] for counts in rows]
    for s in range(1, total):
        found = sem2(counts=Counts.from_counts(rows), n_select=s)
        np.testing.assert_allclose(found, [float(t[s]) for t in truth], rtol=0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("total", range(7, 13))
@pytest.mark.parametrize("ties", ["uniform", "lowest"])
def test_sem2_equals_enumeration_up_to_twelve_responses(total, ties):
    rows = list(compositions(total)) if ties == "lowest" else list(partitions(total))
    for counts in rows[:: 1 + len(rows) // 300]:  # all up to nine responses, then every second to seventh
        held_out = selection(counts, ties)[2]
        found = [sem2(counts=counts, n_select=s, ties=ties) for s in range(1, total)]
        np.testing.assert_allclose(found, [float(held_out[s]) for s in range(1, total)], rtol=0, atol=1e-12)


def test_sem2_equals_all_pairs_of_blocks_of_labels():
    """Literally: every selection block of positions, the rest evaluates."""
    labels = np.array([0, 1, 1, 2, 0, 2, 2])
    for ties in ("uniform", "lowest"):
        values = []
        for chosen in itertools.combinations(range(7), 3):
            rest = np.delete(labels, chosen)
            values.append(sem2((labels[list(chosen)], rest), method="blocks", ties=ties))
        assert sem2(labels, ties=ties) == pytest.approx(np.mean(values), abs=1e-12)


@pytest.mark.parametrize("counts", [(20, 15, 10, 5), (5,) * 10, (14, 12, 9, 6, 4, 3, 1, 1)])
def test_sem2_is_the_mean_of_random_splits_with_random_ties(counts):
    rng = np.random.default_rng(0)
    n_draws = 100_000
    blocks_drawn = rng.multivariate_hypergeometric(counts, 25, size=n_draws)
    tickets = blocks_drawn + rng.random(blocks_drawn.shape) / 2
    chosen = tickets.argmax(axis=1)[:, None]
    held_out = (np.array(counts)[chosen] - np.take_along_axis(blocks_drawn, chosen, axis=1))[:, 0] / 25
    error = held_out.std() / math.sqrt(n_draws)
    assert abs(held_out.mean() - sem2(counts=counts)) < 4 * error
    chances = selection_probability(counts=counts)
    shares = np.bincount(chosen[:, 0], minlength=len(counts)) / n_draws
    assert (np.abs(shares - chances) <= 4 * np.sqrt(chances * (1 - chances) / n_draws)).all()


# what uniform ties are for


def multinomial_chances(n, k):
    for counts in itertools.product(range(n + 1), repeat=k):
        if sum(counts) == n:
            yield counts, Fraction(math.factorial(n), math.prod(map(math.factorial, counts)) * k**n)


@pytest.mark.parametrize("k", [3, 4])
def test_equal_classes_have_mean_sem2_one_over_k_only_with_uniform_ties(k):
    """Labels numbered by size, as judges number them, carry information about the evaluation block."""
    draws = [(sorted(c, reverse=True), float(p)) for c, p in multinomial_chances(8, k)]
    uniform = sum(p * sem2(counts=c) for c, p in draws)
    by_size = sum(p * sem2(counts=c, ties="lowest") for c, p in draws)
    assert uniform == pytest.approx(1 / k, abs=1e-12)
    assert by_size > 1 / k + 0.02
    if k == 4:
        assert by_size == pytest.approx(0.2956, abs=5e-5)


def test_labels_numbered_by_first_appearance_leak_too():
    total, leaky = 0.0, 0.0
    for labels in itertools.product(range(3), repeat=6):
        order = {label: number for number, label in enumerate(dict.fromkeys(labels))}
        numbered = [order[label] for label in labels]
        total += sem2(numbered) / 3**6
        leaky += sem2(numbered, ties="lowest") / 3**6
    assert total == pytest.approx(1 / 3, abs=1e-12)
    assert leaky > 1 / 3 + 0.01


@pytest.mark.parametrize("pi", [(0.5, 0.3, 0.2), (0.4, 0.4, 0.2)])
def test_mean_sem2_over_draws_is_the_mean_probability_of_the_selected_class(pi):
    """Conditional unbiasedness, exactly: E Sem2 = sum_k pi_k P(k is selected by s independent responses)."""
    n, s = 7, 3
    mean = 0.0
    for counts, ways in multinomial_chances(n, 3):
        chance = float(ways) * 3**n * math.prod(p**c for p, c in zip(pi, counts, strict=True))
        mean += chance * sem2(counts=counts, n_select=s)
    expected = population_selection(np.array([pi]), s).probability[0] @ pi
    assert mean == pytest.approx(expected, abs=1e-12)


@settings(deadline=None)
@given(label_lists, st.randoms())
def test_order_and_names_do_not_matter(labels, random):
    shuffled = random.sample(labels, len(labels))
    names = random.sample(range(6), 6)
    renamed = [names[label] for label in shuffled]
    for function in (sem1, sem2, margin, top_two_mass, n_classes):
        assert function(renamed) == function(labels)


@pytest.mark.parametrize("compiled_from", [0, 10**18])
def test_equal_counts_give_equal_bits_in_any_order_of_classes(compiled_from, monkeypatch):
    """Scores that treat ties must see them."""
    monkeypatch.setattr(blocks, "COMPILED_FROM", compiled_from)
    rng = np.random.default_rng(0)
    counts = np.array([13, 11, 9, 7, 5, 3, 1, 1])
    many = Counts.from_counts([rng.permutation(counts) for _ in range(200)])
    assert len(np.unique(sem2(counts=many))) == 1


@settings(deadline=None)
@given(label_lists, st.data())
def test_sem2_is_a_frequency_below_sem1_on_average(labels, data):
    s = data.draw(st.integers(1, len(labels) - 1))
    value = sem2(labels, n_select=s)
    assert 0 <= value <= sem1(labels) * len(labels) / (len(labels) - s) + 1e-12
    assert selection_probability(labels, n_select=s).sum() == pytest.approx(1, abs=1e-12)


def test_selection_on_all_responses_selects_the_modes():
    assert selection_probability([0, 1, 1, 0, 2], n_select=5).tolist() == pytest.approx([0.5, 0.5, 0])


# random splits and given blocks


@pytest.mark.parametrize(
    ("labels", "value"),
    [
        ([0] * 20 + [1] * 15 + [2] * 10 + [3] * 5, 0.324),
        ([i % 7 for i in range(50)], 0.092),
        ([0, 0, 1, 2], 0.35),
        ([1, 0], 0.0),
        ([0, 0, 1, 0, 2, 1, 1, 2, 0, 3, 3, 1], 0.25),
    ],
)
def test_splits_have_the_values_of_the_authors_program(labels, value):
    """Computed with compute_confidence.py of github.com/ZhanliangAaronWang/Sem-ECE (seed 0, R = 10)."""
    assert sem2(labels, method="splits") == pytest.approx(value, abs=1e-15)


def test_splits_are_means_over_halves_of_permutations():
    labels = np.random.default_rng(1).integers(0, 6, 50)
    rng = np.random.default_rng(3)
    values = []
    for _ in range(4):
        order = rng.permutation(50)
        counts = [int((labels[order[:25]] == k).sum()) for k in range(6)]
        values.append(float(np.mean(labels[order[25:]] == counts.index(max(counts)))))
    assert sem2(labels, method="splits", n_splits=4, rng=3) == pytest.approx(np.mean(values), abs=1e-15)
    assert sem2(labels, method="splits", n_splits=4, rng=np.random.default_rng(3)) == pytest.approx(
        np.mean(values), abs=1e-15
    )


@pytest.mark.parametrize("ties", ["uniform", "lowest"])
def test_many_splits_approach_all_of_them(ties):
    labels = [0] * 5 + [1] * 5 + [2] * 3
    exact = sem2(labels, ties=ties)
    values = [sem2(labels, method="splits", n_splits=500, rng=seed, ties=ties) for seed in range(20)]
    assert abs(np.mean(values) - exact) < 4 * np.std(values) / math.sqrt(20)


def test_an_odd_pool_selects_on_the_smaller_half():
    labels = [0, 0, 0, 1, 1]
    order = np.random.default_rng(0).permutation(5)
    chosen = np.array(labels)[order]
    assert sem2(labels, method="splits", n_splits=1) == sem2((chosen[:2], chosen[2:]), method="blocks")
    assert sem2(labels) == sem2(labels, n_select=2)


def test_given_blocks_may_share_no_label():
    assert sem2(([0, 0, 1], [2, 2]), method="blocks") == 0
    assert sem2(([0, 1], [1, 1, 0, 0]), method="blocks") == 0.5
    assert sem2(([0, 1, 2], [1, 1, 1]), method="blocks", ties="uniform") == pytest.approx(1 / 3)


# stated confidences


def test_missing_confidences_are_dropped_or_count_as_one():
    assert verbalized([0.5, None, 0.7, nan]) == pytest.approx(0.6)
    assert verbalized([0.5, None, 0.7, nan], missing="one") == pytest.approx(0.8)
    assert verbalized([None, None]) is None
    assert verbalized([None, None], missing="one") == 1
    assert verbalized([]) is None
    assert verbalized([], missing="one") is None
    assert verbalized(np.array([0.25, nan, 0.75])) == 0.5


def test_single_precision_is_read_as_the_decimal_it_was_written_as():
    single = np.array([0.7, 0.3], dtype=np.float32)
    column = pl.Series(single)
    assert [verbalized(single[:1]), verbalized([single[0]]), verbalized(column[:1])] == [0.7, 0.7, 0.7]
    assert correctness(single, [0, 0, 1]) == correctness(column, [0, 0, 1]) == 0.7
    for given_as in (single, list(single), column, single[:, None]):
        table = estimate([[0, 0], [0, 0]], given_as, given_as)
        assert table["verbalized"].to_list() == table["correct"].to_list() == [0.7, 0.3]


# pairings


@pytest.mark.parametrize("pairing", ["pooled", "split"])
def test_correctness_of_right_answers_is_one_and_never_above(pairing):
    labels = [list(range(k)) * (m // k) for m in range(2, 200) for k in (1, 2, 3, 49) if m % k == 0 and m > 1]
    column = {"pooled": "correct", "split": "correct_split"}[pairing]
    values = estimate(labels, [[1.0] * (max(row) + 1) for row in labels])[column].to_numpy()
    assert values.max() == 1.0
    assert values.min() > 1 - 1e-14
    assert max(correctness([1.0] * (max(row) + 1), row, pairing=pairing) for row in labels) == 1.0


def test_pooled_correctness_is_that_of_the_mode_or_the_mean_over_tied_modes():
    assert correctness([0.0, 1.0], [0, 1, 1]) == 1
    assert correctness([0.25, 1.0, 0.0], [1, 0, 0, 1, 2]) == 0.625
    assert correctness([0.25, 1.0, 0.0], [1, 0, 0, 1, 2], ties="earliest") == 1
    assert correctness([0.25, 1.0], counts=[2, 2], ties="earliest") == 0.25
    assert correctness([True, False], [0, 1, 0]) == 1


def test_split_correctness_is_weighted_by_the_chance_of_selection():
    grades = np.array([1.0, 0.0, 0.5, 0.0])
    counts = [20, 15, 10, 5]
    expected = selection_probability(counts=counts, n_select=7) @ grades
    assert correctness(grades, counts=counts, pairing="split", n_select=7) == pytest.approx(expected, abs=1e-15)
    lowest = selection_probability(counts=counts, ties="lowest") @ grades
    assert correctness(grades, counts=counts, pairing="split", ties="lowest") == pytest.approx(lowest, abs=1e-15)


def test_correctness_of_many_questions_is_aligned_with_their_classes():
    many = Counts.from_counts([[2, 1], [3, 3, 1]])
    assert correctness([1, 0, 1, 0, nan], counts=many).tolist() == [1, 0.5]
    assert correctness([1, 0, 1, 0, 0], counts=many, ties="earliest").tolist() == [1, 1]


def test_an_ungraded_class_matters_only_if_it_can_be_selected():
    assert correctness([1.0, None], [0, 0, 0, 1]) == 1
    assert math.isnan(correctness([1.0, None], [0, 0, 1, 1]))
    assert math.isnan(correctness([1.0, None], [0, 0, 0, 1], pairing="split"))
    assert correctness([1.0, None], [0, 0, 0, 0, 0, 1], pairing="split", n_select=5) == pytest.approx(1)


# the table


def test_table_has_the_fields_of_a_record():
    assert [*estimate([[0, 1, 0]]).columns, "refused"] == list(Estimate.__slots__), "labels do not tell a refusal"


def test_table_equals_the_functions():
    labels = [[0, 0, 1], [0, 1, 1, 2, 0], [0, 0]]
    grades = [[1.0, 0.0], [0.0, 1.0, 1.0], [1.0]]
    stated = [[0.5, None, 1.0], [None] * 5, [0.2, 0.4]]
    table = estimate(labels, grades, stated)
    assert table["question_id"].to_list() == [0, 1, 2]
    assert table["status"].to_list() == ["complete"] * 3
    assert table["n_responses"].to_list() == [3, 5, 2]
    for name in ("n_classes", "margin", "top_two_mass", "sem1", "sem2"):
        assert table[name].to_list() == pytest.approx([getattr(estimators, name)(row) for row in labels], abs=1e-15)
    assert table["verbalized"].to_list() == [0.75, None, pytest.approx(0.3)]
    assert table["correct"].to_list() == [1, 0.5, 1]
    split = [correctness(g, row, pairing="split") for g, row in zip(grades, labels, strict=True)]
    assert table["correct_split"].to_list() == pytest.approx(split, abs=1e-15)
    from_counts = estimate(None, grades, stated, counts=Counts.from_labels(labels))
    assert from_counts.equals(table)


def test_table_says_why_a_question_has_no_numbers():
    table = estimate([[], [0], [0, 1], [0, 0]], [None, 1.0, None, [None]])
    assert table["status"].to_list() == ["too_few", "too_few", "ungraded", "ungraded"]
    assert table["sem1"].to_list() == [None, 1, 0.5, 1]
    assert table["sem2"].to_list() == [None, None, 0, pytest.approx(1)]
    assert table["margin"].to_list() == [None, 1, 0, 1]
    assert table["n_classes"].to_list() == [0, 1, 2, 1]
    assert table["correct"].to_list() == [None, 1, None, None]
    assert table["correct_split"].to_list() == [None] * 4
    assert table["verbalized"].to_list() == [None] * 4


def test_table_of_no_question_has_its_columns():
    table = estimate([])
    assert table.shape == (0, 11)
    assert table.schema["sem2"] == pl.Float64
    assert table.schema["status"] == pl.String


def test_table_takes_one_number_per_question_and_per_class_side_by_side():
    table = estimate([[0, 1, 1], [0, 0], [0, 1]], [0.5, [1.0], nan], [0.25, [0.5, None], None], missing="one")
    assert table["correct"].to_list() == [0.5, 1, None]
    assert table["correct_split"].to_list() == [None, 1, None]
    assert table["verbalized"].to_list() == [0.25, 0.75, None]
    arrays = estimate(np.array([[0, 1], [0, 0]]), np.array([1.0, 0.0]), np.array([0.5, nan]))
    assert arrays["correct"].to_list() == [1, 0]
    assert arrays["verbalized"].to_list() == [0.5, None]


def test_table_as_the_paper_made_it():
    labels = [[1, 0, 0, 1], [0, 0, 1, 2, 1, 0]]
    table = estimate(labels, [[0.0, 1.0], [1.0, 0.0, 0.0]], method="splits", ties="earliest")
    assert table["sem2"].to_list() == pytest.approx([sem2(row, method="splits") for row in labels])
    assert table["correct"].to_list() == [1, 1]
    earliest = estimate(None, [[0.0, 1.0]], counts=Counts.from_counts([[2, 2]]), ties="earliest")
    assert earliest["correct"].to_list() == [0]


# the door

REFUSED = [
    (sem1, "give either labels or counts=; got neither"),
    (lambda: sem1([0], counts=[1]), "give either labels or counts=; got both"),
    (lambda: sem1([]), "labels must hold at least one response; got none"),
    (lambda: sem1(counts=[]), "counts must hold at least one response; got none"),
    (lambda: sem1(counts=[0, 0]), "counts must hold at least one response; got none"),
    (lambda: sem1(counts=Counts.from_counts([[1], [0]])), "at least one response; question 1 has none"),
    (lambda: sem1([0, -1]), "labels must be >= 0; got -1 at index 1"),
    (lambda: sem1(counts=[3, 2, -1]), "counts must be >= 0; got -1 at index 2"),
    (lambda: sem1([0.0, 1.0]), r"labels must be .* integers; got 0\.0 at index 0, dtype float64: convert to int first"),
    (lambda: sem1([0, nan]), "labels must be .* integers; got nan at index 1$"),
    (lambda: sem1(counts=[1, math.inf]), "counts must be .* integers; got inf at index 1$"),
    (lambda: sem1(counts=[2.5, 1]), r"counts must be .* integers; got 2\.5 at index 0$"),
    (lambda: sem1([True, False]), "labels must be .* integers; got True at index 0$"),
    (lambda: sem1(["a", "b"]), "labels must be .* integers; got 'a' at index 0$"),
    (lambda: sem1([[0, 1], [0]]), "labels must be a one-dimensional sequence of integers; got .* dtype object"),
    (lambda: sem1([0, None, 1]), "labels must be .* integers; got None at index 1$"),
    (lambda: sem1([[0, 1]]), r"labels must be a one-dimensional sequence of integers; got shape \(1, 2\)"),
    (lambda: sem1(3), r"labels must be a one-dimensional sequence of integers; got shape \(\)"),
    (lambda: sem2([0, 1], n_select=0), "n_select must be a whole number of at least 1; got 0"),
    (lambda: sem2([0, 1], n_select=2), r"n_select must be at most 1 of the 2 responses; got 2 \(question 0\)"),
    (lambda: sem2([0, 1], n_select=1.0), "n_select must be a whole number of at least 1; got 1.0"),
    (lambda: sem2(counts=Counts.from_counts([[5], [3]]), n_select=4), r"n_select must be at most 2 .* \(question 1\)"),
    (lambda: sem2(counts=Counts.from_counts([[5], [1]])), "needs at least 2 responses; question 1 has 1"),
    (lambda: sem2([0, 1], ties="random"), "ties must be one of 'uniform', 'lowest'; got 'random'"),
    (lambda: sem2([0, 1], method="halves"), "method must be one of 'exact', 'splits', 'blocks'; got 'halves'"),
    (lambda: sem2(counts=[1, 1], method="splits"), "method='splits' needs labels; got counts, which have no order"),
    (lambda: sem2(counts=[1, 1], method="blocks"), "method='blocks' needs labels; got counts, which have no order"),
    (lambda: sem2([0, 1], method="splits", n_splits=0), "n_splits must be a whole number of at least 1; got 0"),
    (lambda: sem2([0], method="splits"), "a held-out frequency needs at least 2 responses"),
    (lambda: sem2([0, 1, 1], method="blocks"), "method='blocks' takes a pair of label sequences"),
    (lambda: sem2(([0], [1]), method="blocks", n_select=1), "method='blocks' takes a pair of label sequences"),
    (lambda: sem2(([0], []), method="blocks"), "evaluation block must hold at least one response; got none"),
    (lambda: sem2(([], [0]), method="blocks"), "selection block must hold at least one response; got none"),
    (lambda: selection_probability([0, 1], ties="first"), "ties must be one of"),
    (lambda: selection_probability([0, 1], n_select=3), "n_select must be at most 2 of the 2 responses; got 3"),
    (lambda: standardized_margin([0, 1], n=0), "n must be a whole number of at least 1; got 0"),
    (lambda: verbalized([0.5, 1.2]), r"confidence must lie in \[0, 1\]; got 1.2 at index 1"),
    (lambda: verbalized([0.5, 85]), r"got 85.0 at index 1 \(percentages\? divide by 100\)"),
    (lambda: verbalized([0.5, 100]), r"got 100.0 at index 1 \(percentages\? divide by 100\)"),
    (lambda: verbalized([0.5, 101]), r"got 101.0 at index 1$"),
    (lambda: verbalized(None), "confidence must be a sequence of numbers; got None"),
    (lambda: verbalized(0.5), "confidence must be a sequence of numbers; got 0.5"),
    (lambda: correctness(1, [0, 0, 1]), "correct must be a sequence of numbers; got 1"),
    (lambda: verbalized([-0.1]), r"confidence must lie in \[0, 1\]; got -0.1 at index 0$"),
    (lambda: verbalized([math.inf]), r"confidence must lie in \[0, 1\]; got inf at index 0"),
    (lambda: verbalized(["0.5"]), "confidence must be a number or None; got '0.5' at index 0"),
    (lambda: verbalized(np.ones((2, 2))), r"confidence must be one-dimensional; got shape \(2, 2\)"),
    (lambda: verbalized([0.5], missing="zero"), "missing must be one of 'drop', 'one'; got 'zero'"),
    (lambda: correctness([1.0], [0, 1]), r"correct must have one value per class \(2\); got 1"),
    (lambda: correctness([1.0, 2.0], [0, 1]), r"correct must lie in \[0, 1\]; got 2.0 at index 1"),
    (lambda: correctness([1.0, 0.0], [0, 1], pairing="both"), "pairing must be one of 'pooled', 'split'; got 'both'"),
    (lambda: correctness([1.0, 0.0], [0, 1], ties="lowest"), "ties must be one of 'mean', 'earliest'; got 'lowest'"),
    (lambda: correctness([1, 0], [0, 1], pairing="split", ties="mean"), "ties must be one of 'uniform', 'lowest'"),
    (estimate, "give either labels or counts=; got neither"),
    (lambda: estimate([[0]], counts=Counts.from_counts([[1]])), "give either labels or counts=; got both"),
    (lambda: estimate([[0]], [1.0, 0.0]), r"correct must have one entry per question \(1\); got 2"),
    (
        lambda: sem2(counts=Counts.from_counts([[3, 1], [20_000, 1]])),
        r"a question must have at most 20000 responses to be averaged over all blocks; got 20001 \(question 1\)",
    ),
    (lambda: selection_probability(counts=[30_000]), "a question must have at most 20000 responses"),
    (lambda: estimate([[0, 0]], correct=5), "correct must be a sequence with one entry per question; got 5"),
    (lambda: estimate([[0, 0]], verbalized=0.5), "verbalized must be a sequence with one entry per question; got 0.5"),
    (lambda: estimate(counts=[[3, 1], [2, 2]]), "counts must be made by Counts.from_counts; got list"),
    (lambda: estimate({"a": [0, 0]}), "labels must be a sequence of label sequences; got dict"),
    (
        lambda: sem2([0, 1], method="splits", rng="x"),
        "rng must be a whole number of at least 0 or a numpy Generator; got 'x'",
    ),
    (lambda: estimate([[0]], None, [0.5, 0.5]), r"verbalized must have one entry per question \(1\); got 2"),
    (
        lambda: estimate([[0], [0, 1]], [[1.0], [1.0]]),
        r"correct of question 1 must have one value per class \(2\); got 1",
    ),
    (
        lambda: estimate([[0], [0, 1]], [[1.0], [1.0, 3.0]]),
        r"correct of question 1 must lie in \[0, 1\]; got 3.0 at index 1",
    ),
    (lambda: estimate([[0], [0, 1]], [1.0, 1.5]), r"correct must lie in \[0, 1\]; got 1.5 at index 1"),
    (lambda: estimate([[0], [0, 1]], None, [[0.5], [70]]), r"confidence of question 1 must lie in .* divide by 100"),
    (lambda: estimate([[0], [0, 1]], None, [0.5, 70]), r"confidence must lie in \[0, 1\]; got 70.0 at index 1"),
    (lambda: estimate([[0]], missing="zero"), "missing must be one of"),
    (lambda: estimate([[0]], method="blocks"), "method must be one of 'exact', 'splits'; got 'blocks'"),
    (lambda: estimate([[0]], ties="uniform"), "ties must be one of 'mean', 'earliest'; got 'uniform'"),
    (lambda: estimate(None, counts=Counts.from_counts([[2]]), method="splits"), "method='splits' needs labels"),
    (lambda: estimate([[0], [0, -1]]), "labels of question 1 must be >= 0; got -1 at index 1"),
    (lambda: estimate([0, 0, 1]), "labels of question 0 must be a one-dimensional sequence of integers"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED, ids=[message[:40] for _, message in REFUSED])
def test_wrong_input_is_refused_with_what_came(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_table_of_numbers_loads_no_other_library():
    code = """
import sys
import semece.stats.estimators as e
import semece.stats.estimators.entropy, semece.stats.estimators.budget_curves
e.sem1([0, 1]), e.sem2([0, 0, 1]), e.correctness([1, 0], [0, 1, 0], pairing="split")
print([name for name in ("numba", "polars", "scipy", "matplotlib") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
