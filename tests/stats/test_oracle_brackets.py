"""The bracket of the mean oracle confidence: exact expectations, weights that keep their promise, ends that hold."""

from itertools import product
from math import factorial, prod

import numpy as np
import pytest
from benchmarks import _oracle_weights as script

import semece as se
from semece.stats.counts import Counts, blocks_of_every_size, subset_selection
from semece.stats.simulation import dirichlet_mixture, near_tie
from semece.stats.theory import expected_sem1, expected_sem2
from semece.stats.uncertainty import oracle_brackets
from semece.stats.uncertainty.oracle_brackets import narrow_bounds, oracle_bracket, plain_bounds, tables


def test_blocks_of_every_size_are_those_of_each_size():
    rng = np.random.default_rng(2)
    counts = Counts.from_counts(rng.multinomial(11, rng.dirichlet([0.6] * 7, 30)))
    found = blocks_of_every_size(counts, 9)
    for m in range(1, 10):
        one = subset_selection(counts, m)
        np.testing.assert_allclose(found.largest[:, m - 1], one.largest, rtol=1e-12)
        np.testing.assert_allclose(found.selected[:, m - 1], one.selected, rtol=1e-12)


@pytest.mark.parametrize("counts", [[[20]], [[1] * 20], [[7, 7, 3, 3], [19, 1, 0, 0]]])
def test_the_bracket_is_the_same_with_all_sizes_at_once_and_one_by_one(counts, monkeypatch):
    at_once = oracle_bracket(counts=Counts.from_counts(counts * 3))
    monkeypatch.setattr(oracle_brackets, "is_much", lambda *_: True)
    assert oracle_bracket(counts=Counts.from_counts(counts * 3)) == pytest.approx(at_once, abs=1e-12)


def draws_of(pmf, n):
    """Every partition of n answers among the classes, and its probability."""
    for counts in product(range(n + 1), repeat=len(pmf)):
        if sum(counts) == n:
            ways = factorial(n) / prod(map(factorial, counts))
            yield counts, ways * prod(p**c for p, c in zip(pmf, counts, strict=True))


def expected_bounds(pmf, size):
    """Expectation of the bounds of the table for ``size`` answers, moved outwards."""
    weights = tables()[size]
    first = [float(expected_sem1(pmf, m)) for m in range(1, size + 1)]
    second = [float(expected_sem2(pmf, m)) for m in range(1, size)]
    return weights.sem1 @ first + weights.selected @ second + weights.outwards


@pytest.mark.parametrize("pmf", [(0.6, 0.3, 0.1), (0.36, 0.34, 0.3)])
@pytest.mark.parametrize(("n", "size"), [(4, 4), (6, 6), (7, 6)])
def test_bounds_of_answers_average_to_the_combination_of_exact_expectations(pmf, n, size):
    counts, chances = zip(*draws_of(pmf, n), strict=True)
    every = Counts.from_counts(counts)
    found = narrow_bounds(every, plain_bounds(every)) @ np.array(chances)
    np.testing.assert_allclose(found, expected_bounds(pmf, size), atol=1e-12)


@pytest.mark.parametrize("size", [4, 10, 20])
def test_no_fresh_distribution_is_outside_once_the_sides_are_moved(size):
    rng = np.random.default_rng(77)
    pmf = np.concatenate([script.net_of(150, rng), [[1.0] + [0.0] * 19], np.full((1, 20), 0.05)])
    weights = tables()[size]
    exact = script.basis(pmf, size)
    bounds = exact @ np.concatenate([weights.sem1, weights.selected], axis=1).T + weights.outwards
    assert (bounds[:, 0] <= pmf[:, 0] + 1e-9).all()
    assert (bounds[:, 1] >= pmf[:, 0] - 1e-9).all()


def test_the_script_computes_the_exact_expectations():
    pmf = script.net_of(11, np.random.default_rng(0))
    pmf = pmf[pmf.sum(axis=1) > 1 - 1e-9]
    exact = script.basis(pmf, 9)
    for m in range(1, 10):
        np.testing.assert_allclose(exact[:, m - 1], expected_sem1(pmf, m), atol=1e-12)
    for m in range(1, 9):
        np.testing.assert_allclose(exact[:, 8 + m], expected_sem2(pmf, m), atol=1e-12)


def test_a_tail_is_what_very_many_classes_come_to():
    wide = np.concatenate([[[0.3, 0.1]], np.full((1, 6000), 1e-4)], axis=1)
    np.testing.assert_allclose(script.basis(wide[:, :2], 8), script.basis(wide, 8), atol=2e-4)


def test_weights_are_at_most_one_in_size_and_violations_small():
    assert {10, 20, 50} <= set(tables())
    for size, (sem1, selected, outwards) in tables().items():
        assert sem1.shape == (2, size)
        assert selected.shape == (2, size - 1)
        assert max(np.abs(sem1).max(), np.abs(selected).max()) <= 1
        assert outwards[0] <= 0 <= outwards[1]
        assert np.abs(outwards).max() < 0.01


def test_the_plain_bracket_is_mean_sem2_and_mean_sem1():
    labels = [np.random.default_rng(q).integers(0, 4, 2 + q % 9) for q in range(60)]
    found, table = se.oracle_bracket(labels, method="means"), se.estimate(labels)
    assert (found.lower, found.upper) == pytest.approx((table["sem2"].mean(), table["sem1"].mean()))
    assert (found.sem2, found.sem1) == (found.lower, found.upper)
    assert found.low <= found.lower <= found.upper <= found.high


def test_the_plain_bounds_are_in_order_also_where_only_rounding_parts_them():
    pairs = [[most, n - most] for n in range(4, 51) for most in range(n // 2 + 1, n)]
    lower, upper = plain_bounds(Counts.from_counts(pairs))
    assert (lower <= upper).all()
    found = oracle_bracket(counts=[[8, 1]] * 30)
    assert found.low <= found.lower <= found.upper <= found.high


def test_each_question_takes_the_largest_table_that_fits():
    few = Counts.from_counts([[2, 1], [1, 1]])
    np.testing.assert_array_equal(narrow_bounds(few, plain_bounds(few)), plain_bounds(few))
    mixed = Counts.from_counts([[2, 1], [5, 3, 1], [9, 6, 4]])
    found = narrow_bounds(mixed, plain_bounds(mixed))
    for q in range(3):
        alone, _ = mixed.take(np.array([q]))
        np.testing.assert_allclose(found[:, [q]], narrow_bounds(alone, plain_bounds(alone)))


@pytest.mark.parametrize("family", [dirichlet_mixture, near_tie])
def test_the_narrow_bracket_is_half_as_wide_and_holds(family):
    """200 questions of 20 answers; 5 runs."""
    widths = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        pmf = family(200, rng=rng).pmf
        counts = Counts.from_counts(rng.multinomial(20, pmf))
        plain, narrow = (se.oracle_bracket(counts=counts, method=method) for method in ("means", "narrow"))
        assert plain.low <= narrow.low <= narrow.lower <= narrow.upper <= narrow.high <= plain.high
        assert narrow.low <= pmf.max(axis=1).mean() <= narrow.high
        widths.append((narrow.upper - narrow.lower) / (plain.upper - plain.lower))
    assert np.mean(widths) < 0.5


def test_copies_of_a_question_do_not_make_the_bracket_surer():
    labels = [np.random.default_rng(q).integers(0, 3, 8) for q in range(50)]
    once = se.oracle_bracket(labels)
    copied = se.oracle_bracket(labels * 3, ids=list(range(50)) * 3)
    assert copied.lower == pytest.approx(once.lower)
    assert copied.low == pytest.approx(once.low, abs=3e-3)
    assert copied.high == pytest.approx(once.high, abs=3e-3)


def test_weights_are_copies():
    labels = [np.random.default_rng(q).integers(0, 3, 8) for q in range(30)]
    times = np.arange(30) % 3
    weighed = se.oracle_bracket(labels, weights=times)
    assert weighed == pytest.approx(
        se.oracle_bracket([row for row, n in zip(labels, times, strict=True) for _ in range(n)])
    )


def test_answers_that_always_agree_do_not_prove_certainty():
    found = se.oracle_bracket([[0] * 10] * 100)
    assert 0.98 < found.lower <= found.upper == pytest.approx(1)
    assert 0.85 < found.low < 0.999


def test_what_cannot_be_meant_is_refused():
    with pytest.raises(ValueError, match="at least one question must have 2 answers; got at most 1"):
        se.oracle_bracket([[0], [1]])
    with pytest.raises(ValueError, match="method must be one of 'narrow', 'means'; got 'mean'"):
        se.oracle_bracket([[0, 1]], method="mean")
    with pytest.raises(ValueError, match="ids must have one value per row"):
        se.oracle_bracket([[0, 1]], ids=[1, 2])


@pytest.mark.parametrize("size", [10, 20])
def test_answers_that_never_repeat_do_not_break_the_bounds(size):
    """A leading class and 60 or 200 rivals that hardly ever come twice; nothing but answers that differ."""
    weights = tables()[size]
    every = np.concatenate([weights.sem1, weights.selected], axis=1).T
    for rivals in (60, 200):
        lead = np.array([[0.02], [0.1], [0.3], [0.5], [0.8]])
        pmf = np.concatenate([lead, np.repeat((1 - lead) / rivals, rivals, axis=1)], axis=1)
        low, high = (script.basis(pmf, size) @ every + weights.outwards).T
        assert (low <= pmf[:, 0] + 2e-3).all()
        assert (high >= pmf[:, 0] - 2e-3).all()
    found = se.oracle_bracket([range(size)] * 50)
    assert found.lower == pytest.approx(0, abs=1e-3)
