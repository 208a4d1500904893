"""What fewer responses would have given equals enumeration of all subsamples and splits."""

import itertools

import numpy as np
import pytest

from semece.stats.counts import Counts, blocks
from semece.stats.estimators import sem1, sem2
from semece.stats.estimators.budget_curves import budget_curve, sem1_distribution
from tests.brute_force import partitions, selection

POOLS = [[0, 0, 1, 2], [0, 1, 1, 2, 0], [0, 0, 0, 1, 2, 3], [0, 1, 2, 0, 1, 2, 0]]


@pytest.mark.parametrize("labels", POOLS)
def test_curve_is_the_mean_over_all_subsamples(labels):
    """Sem2 of a subsample averages over its splits; the mean over subsamples is Sem2 of the pool with n // 2."""
    budgets = range(1, len(labels) + 1)
    curve = budget_curve(labels, budgets=budgets)
    for n, first, second in zip(budgets, curve.sem1, curve.sem2, strict=True):
        samples = [np.array(labels)[list(chosen)] for chosen in itertools.combinations(range(len(labels)), n)]
        assert first == pytest.approx(np.mean([sem1(sample) for sample in samples]), abs=1e-13)
        if n == 1:
            assert np.isnan(second)
        else:
            assert second == pytest.approx(np.mean([sem2(sample) for sample in samples]), abs=1e-13)


@pytest.mark.parametrize("compiled_from", [0, 10**18])
def test_curve_of_many_questions_has_nan_where_a_budget_is_too_large(compiled_from, monkeypatch):
    monkeypatch.setattr(blocks, "COMPILED_FROM", compiled_from)
    rows = [[5, 3, 2], [2, 1], [10], [4, 4, 4, 1]]
    curve = budget_curve(counts=Counts.from_counts(rows), budgets=[2, 3, 10, 13, 20])
    assert curve.sem1.shape == curve.sem2.shape == (5, 4)
    for q, row in enumerate(rows):
        one = budget_curve(counts=row, budgets=[2, 3, 10, 13, 20])
        np.testing.assert_allclose(curve.sem1[:, q], one.sem1, rtol=0, atol=1e-14)
        np.testing.assert_allclose(curve.sem2[:, q], one.sem2, rtol=0, atol=1e-14)
    assert np.isnan(curve.sem1[2:, 1]).all()
    assert np.isnan(curve.sem1[4]).all()


def test_a_full_budget_is_the_estimate_itself():
    curve = budget_curve(counts=[20, 15, 10, 5], budgets=[50])
    assert curve.sem1[0] == pytest.approx(sem1(counts=[20, 15, 10, 5]))
    assert curve.sem2[0] == pytest.approx(sem2(counts=[20, 15, 10, 5]), abs=1e-15)


@pytest.mark.parametrize("total", [3, 6, 8])
def test_distribution_equals_enumeration(total):
    for counts in partitions(total):
        mass = selection(counts)[1]
        for n in range(1, total + 1):
            found = sem1_distribution(counts=counts, n=n)
            np.testing.assert_allclose(found, np.array(mass[n], dtype=float), rtol=0, atol=1e-13)


def test_distribution_has_the_mean_of_the_curve():
    many = Counts.from_counts([[12, 5, 3], [7, 7, 7]])
    table = sem1_distribution(counts=many, n=15)
    assert table.shape == (2, 16)
    np.testing.assert_allclose(table.sum(axis=1), 1, atol=1e-14)
    curve = budget_curve(counts=many, budgets=[15])
    np.testing.assert_allclose(table @ np.arange(16) / 15, curve.sem1[0], atol=1e-14)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: budget_curve([0, 1], budgets=[]), "budgets must not be empty"),
        (lambda: budget_curve([0, 1], budgets=[2, 0]), "budgets must be a whole number of at least 1; got 0"),
        (lambda: budget_curve([0, 1], budgets=[1.5]), "budgets must be a whole number of at least 1; got 1.5"),
        (lambda: budget_curve([0, 1], budgets=2), "budgets must be a sequence of whole numbers; got 2"),
        (lambda: budget_curve(counts=[20_000, 1], budgets=[1]), "a question must have at most 20000 responses"),
        (lambda: budget_curve(budgets=[1]), "give either labels or counts=; got neither"),
        (lambda: sem1_distribution([0, 1], n=3), "n must be at most 2, the responses of question 0; got 3"),
        (lambda: sem1_distribution([0, 1], n=0), "n must be a whole number of at least 1; got 0"),
    ],
)
def test_wrong_input_is_refused_with_what_came(call, message):
    with pytest.raises(ValueError, match=message):
        call()
