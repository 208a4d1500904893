"""Intervals of scores: they hold their values, their influences are derivatives, and they cover."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import semece as se
from semece.stats.rows import check_rows
from semece.stats.uncertainty import score_intervals as scores
from semece.stats.uncertainty.skewed_means import Influence, influence_interval

INTERVALS = {"brier": se.brier_interval, "auroc": se.auroc_interval, "aurc": se.aurc_interval}
ROWS = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 1), st.integers(1, 3)), min_size=2, max_size=25)


def columns(rows):
    k, a, w = (np.array(column) for column in zip(*rows, strict=True))
    return k / 8, a, w


@pytest.mark.parametrize("name", INTERVALS)
@given(ROWS)
def test_an_interval_holds_its_value_which_is_the_score(name, rows):
    c, a, w = columns(rows)
    value, low, high = INTERVALS[name](c, a, weights=w)
    assert value == pytest.approx(getattr(se, name)(c, a, weights=w), abs=1e-12, nan_ok=True)
    assert np.isnan(value) or 0 <= low <= value <= high <= 1


@pytest.mark.parametrize("name", INTERVALS)
@given(ROWS)
def test_weights_equal_replication(name, rows):
    c, a, w = columns(rows)
    once, many = INTERVALS[name](c, a, weights=w), INTERVALS[name](np.repeat(c, w), np.repeat(a, w))
    np.testing.assert_allclose(once, many, atol=1e-9)


@pytest.mark.parametrize("name", INTERVALS)
def test_copies_of_the_same_questions_do_not_make_the_interval_narrower(name):
    rng = np.random.default_rng(0)
    c = rng.integers(0, 21, 200) / 20
    a = rng.random(200) < c
    once = INTERVALS[name](c, a)
    copies = INTERVALS[name](np.tile(c, 5), np.tile(a, 5), ids=np.tile(np.arange(200), 5))
    independent = INTERVALS[name](np.tile(c, 5), np.tile(a, 5))
    np.testing.assert_allclose(copies, once, atol=4e-3)
    assert independent.high - independent.low < 0.6 * (once.high - once.low)


@pytest.mark.parametrize(("name", "influence"), [("auroc", scores._auroc_influence), ("aurc", scores._aurc_influence)])
def test_influences_are_derivatives_by_weights(name, influence):
    rng, step = np.random.default_rng(3), 1e-5
    c, a = rng.integers(0, 6, 40) / 5, rng.integers(0, 2, 40)
    found, function = influence(check_rows(c, a)), getattr(se, name)
    for at in range(40):
        for right, psi in ((1, found.right[at]), (0, found.wrong[at])):
            ends = [
                function(np.append(c, c[at]), np.append(a, right), weights=np.append(np.ones(40), weight))
                for weight in (step, 2 * step)
            ]
            assert 40 * (ends[1] - ends[0]) / step == pytest.approx(psi, abs=2e-3)


def test_the_ends_are_those_of_the_mean_gap_where_influences_are_residuals():
    c, a = np.array([0.9, 0.4] * 30), np.array([1, 0, 0] * 20)
    found = influence_interval(Influence(float((c - a).mean()), c - 1, c), check_rows(c, a), 0.95)
    np.testing.assert_allclose(found, se.gap_interval(c, a))


def test_what_cannot_be_known_is_not_given():
    assert np.isnan(se.auroc_interval([0.2, 0.9], [1, 1])).all()
    assert se.brier_interval([0.5], [1])[1:] == (0.0, 1.0)
    assert se.aurc_interval([0.5, 0.6], [1, 0], ids=["a", "a"])[1:] == (0.0, 1.0)
    assert se.auroc_interval([0.5, 0.6], [0, 1], ids=["a", "a"])[1:] == (0.0, 1.0)


def test_a_perfect_score_is_not_certain():
    assert se.auroc_interval([0.9] * 10 + [0.1] * 10, [1] * 10 + [0] * 10).low < 0.9
    assert 0.01 < se.aurc_interval([0.9] * 50, [1] * 50).high < 0.3
    assert 0.01 < se.brier_interval([1.0] * 50, [1] * 50).high < 0.3


def test_a_rare_wrong_answer_leaves_the_auroc_open():
    value, low, high = se.auroc_interval(np.linspace(0.5, 1, 100), [1] * 60 + [0] + [1] * 39)
    assert value == pytest.approx(39 / 99, abs=1e-9)
    assert low < 0.15
    assert high > 0.75


@pytest.mark.parametrize("size", [50, 300])
def test_intervals_hold(size):
    """Sem1-like confidences of an over-confident model; 400 runs, 4 standard errors."""
    rng = np.random.default_rng(size)
    pool = rng.integers(10, 51, 20_000) / 50
    chance = pool**2
    truth = {"brier": np.mean(chance * (1 - pool) ** 2 + (1 - chance) * pool**2)}
    truth |= {name: getattr(se, name)(pool, chance) for name in ("auroc", "aurc")}
    held = dict.fromkeys(truth, 0)
    for _ in range(400):
        at = rng.integers(0, len(pool), size)
        right = rng.random(size) < chance[at]
        for name, true in truth.items():
            _, low, high = INTERVALS[name](pool[at], right)
            held[name] += low <= true <= high
    assert min(held.values()) / 400 > 0.95 - 4 * (0.95 * 0.05 / 400) ** 0.5
