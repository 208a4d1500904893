"""Intervals of the smooth ECE and of the sweep-ECE: they hold their values and the truth, near calibration too."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semece as se
from semece.stats.calibration.adaptive import sweep_bins
from semece.stats.rows import check_rows
from semece.stats.uncertainty.adaptive_intervals import _kernel

INTERVALS = {"ece_sweep": se.ece_sweep_interval, "smooth_ece": se.smooth_ece_interval}
ROWS = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 1), st.integers(1, 3)), min_size=2, max_size=20)


@pytest.mark.parametrize("name", INTERVALS)
@settings(max_examples=12)
@given(ROWS)
def test_an_interval_holds_its_value_and_weights_equal_replication(name, rows):
    k, a, w = (np.array(column) for column in zip(*rows, strict=True))
    value, low, high = INTERVALS[name](k / 8, a, weights=w)
    assert value == pytest.approx(getattr(se, name)(k / 8, a, weights=w), abs=1e-9)
    assert 0 <= low <= value <= high <= 1
    np.testing.assert_allclose(INTERVALS[name](np.repeat(k / 8, w), np.repeat(a, w)), (value, low, high), atol=1e-6)


@pytest.mark.parametrize("name", INTERVALS)
def test_copies_of_the_same_questions_do_not_make_the_interval_narrower(name):
    rng = np.random.default_rng(0)
    c = rng.integers(0, 21, 200) / 20
    a = rng.random(200) < c**2
    once = INTERVALS[name](c, a)
    copies = INTERVALS[name](np.tile(c, 5), np.tile(a, 5), ids=np.tile(np.arange(200), 5))
    np.testing.assert_allclose(copies, once, atol=4e-3)


def test_the_sweep_is_that_of_its_bins():
    rng = np.random.default_rng(1)
    c = rng.integers(0, 11, 300) / 10
    rows = check_rows(c, rng.random(300) < c)
    bins = sweep_bins(rows)
    assert (np.diff(bins.total(rows.correct) / bins.total(np.ones(300))) >= 0).all()
    assert (bins.low <= bins.high).all()
    inside = (rows.confidence >= bins.low[bins.place]) & (rows.confidence <= bins.high[bins.place])
    assert inside.all()


@pytest.mark.parametrize("width", [0.02, 0.1, 0.7])
def test_the_kernel_loses_nothing_at_the_edges(width):
    np.testing.assert_allclose(_kernel(np.array([0.0, 0.3, 1.0]), width).mean(axis=1), 1, atol=1e-3)


def test_one_question_says_nothing_and_few_certain_answers_prove_little():
    for interval in INTERVALS.values():
        assert interval([0.7], [1])[1:] == (0.0, 1.0)
        assert interval([1.0] * 20, [1] * 20).low == 0
        assert interval([1.0] * 20, [1] * 20).high > 0.05


@pytest.mark.parametrize("name", INTERVALS)
@pytest.mark.parametrize("model", ["calibrated", "over-confident"])
def test_intervals_hold(name, model):
    """40 runs of 200 questions, 4 standard errors."""
    rng = np.random.default_rng(2)
    pool = rng.integers(0, 51, 20_000) / 50
    chance = pool if model == "calibrated" else pool**2
    truth, held = getattr(se, name)(pool, chance), 0
    for _ in range(40):
        at = rng.integers(0, len(pool), 200)
        _, low, high = INTERVALS[name](pool[at], rng.random(200) < chance[at])
        held += low - 1e-9 <= truth <= high
    assert held / 40 > 0.95 - 4 * (0.95 * 0.05 / 40) ** 0.5
