"""Changes since a baseline, at every look."""

import numpy as np
import pytest
from scipy.stats import norm

import semece as se
from semece.stats.uncertainty.drift import TAIL, change_at_look


def test_the_interval_holds_what_the_rule_for_coins_does_not_reject():
    """0 is left out exactly where the sum of the differences is beyond the bound for coins of their sizes."""
    rng = np.random.default_rng(0)
    for look in (1, 2, 7, 100):
        x = norm.isf(0.05 / (look * (look + 1)) / (2 * TAIL))
        for shift in np.linspace(0, 0.4, 30):
            d = rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0], 60) + shift
            found = change_at_look(d, look)
            rejected = abs(d.sum()) > x * np.sqrt((d**2).sum() + 1)
            assert (found.low > 0 or found.high < 0) == rejected
            assert found.low <= found.value <= found.high


def test_the_bound_for_coins_holds():
    """The least favourable sizes: all equal, few and many; exact by the binomial distribution."""
    for n in (1, 2, 3, 10, 50, 400):
        signs = np.random.default_rng(n).choice([-1.0, 1.0], (20_000, n)).sum(axis=1) / n**0.5
        for x in (1.0, 2**0.5, 2.0, 2.5):
            assert (signs >= x).mean() <= TAIL * norm.sf(x) + 4 * np.sqrt(0.25 / 20_000)
    assert pytest.approx(3.1787, abs=1e-4) == TAIL


def test_a_model_that_does_not_change_has_few_alarms_at_a_hundred_looks_together():
    rng, times, looks = np.random.default_rng(1), 300, 100
    chance = rng.beta(0.5, 0.5, 60)
    alarms = usual = 0
    for _ in range(times):
        right = (rng.random((looks + 1, 60)) < chance).astype(float)
        found = [change_at_look(now - right[0], look) for look, now in enumerate(right[1:], 1)]
        alarms += any(each.low > 0 or each.high < 0 for each in found)
        d = right[1:] - right[0]
        usual += bool((np.abs(d.mean(axis=1)) > 1.96 * d.std(axis=1) / 60**0.5).any())
    assert alarms / times <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / times)
    assert usual / times > 0.4  # intervals for one look alone


def test_a_change_is_found_and_the_width_grows_slowly_with_the_looks():
    d = np.array([-1.0] * 30 + [0.0] * 170)
    assert change_at_look(d, 1).high < change_at_look(d, 100).high < 0
    widths = [found.high - found.low for found in (change_at_look(d, look) for look in (1, 10, 100, 1000))]
    assert widths == sorted(widths)
    assert widths[-1] < 2.4 * widths[0]


def test_few_questions_have_no_interval_and_equal_ones_one_of_some_width():
    few = change_at_look(np.zeros(7), 1)
    assert (few.low, few.high) == (-np.inf, np.inf)
    same = change_at_look(np.zeros(100), 1)
    assert -0.05 < same.low < -0.01
    assert same.high == -same.low


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([], 1), "difference must not be empty"),
        (([np.nan], 1), "difference must be finite"),
        (([0.0], 0), "look must be a whole number of at least 1; got 0"),
        (([0.0], 1.5), "look must be a whole number of at least 1; got 1.5"),
    ],
)
def test_bad_input_is_named(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        se.change_at_look(*arguments)
    with pytest.raises(ValueError, match="alarms must lie strictly between 0 and 1; got 2"):
        se.change_at_look([0.0], 1, alarms=2)
