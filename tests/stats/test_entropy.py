"""Entropy scores by hand, by enumeration, and at their edges."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semece.stats.counts import Counts
from semece.stats.estimators.entropy import entropy_agreement, exp_entropy, held_out_entropy, semantic_entropy

MILLER = "miller-madow"


def plug_in(counts):
    total = sum(counts)
    return -sum(c / total * math.log(c / total) for c in counts if c)


def test_entropy_by_hand():
    expected = plug_in([3, 2, 1])
    assert semantic_entropy([0, 1, 0, 2, 1, 0]) == pytest.approx(expected, abs=1e-15)
    assert semantic_entropy(counts=[3, 2, 1], correction=MILLER) == pytest.approx(expected + 2 / 12, abs=1e-15)
    assert exp_entropy(counts=[3, 2, 1]) == pytest.approx(math.exp(-expected), abs=1e-15)
    assert exp_entropy(counts=[3, 2, 1], correction=MILLER) == pytest.approx(math.exp(-expected - 1 / 6), abs=1e-15)
    assert entropy_agreement(counts=[3, 2, 1]).value == pytest.approx(1 - expected / math.log(3), abs=1e-15)


def test_one_class_is_certain():
    for correction in (None, MILLER):
        assert semantic_entropy([0, 0], correction=correction) == 0
        assert exp_entropy([0, 0], correction=correction) == 1
        assert entropy_agreement([0, 0], correction=correction) == (1, 0)
        assert held_out_entropy([0, 0], correction=correction) == 0


def test_clipping_is_counted_and_rounding_is_not():
    fifty = [1] * 50
    assert 1 - semantic_entropy(counts=fifty, correction=MILLER) / math.log(50) == pytest.approx(-0.125, abs=5e-4)
    assert entropy_agreement(counts=fifty, correction=MILLER) == (0, 1)
    assert entropy_agreement(counts=Counts.from_counts([[7] * k for k in range(2, 60)])).n_clipped == 0
    many = entropy_agreement(counts=Counts.from_counts([fifty, [3, 1], [1, 1], [4]]), correction=MILLER)
    assert many.n_clipped == 2
    assert many.value.tolist() == pytest.approx([0, 1 - (plug_in([3, 1]) + 1 / 8) / math.log(2), 0, 1])


@pytest.mark.parametrize("labels", [[0, 1], [0, 0, 1], [0, 1, 1, 2, 0], [0, 0, 0, 1, 2, 3], [2, 2, 1, 1, 0, 0, 0]])
def test_held_out_entropy_is_the_mean_over_all_evaluation_blocks(labels):
    for s in range(1, len(labels)):
        pools = [np.bincount(np.delete(labels, chosen)) for chosen in itertools.combinations(range(len(labels)), s)]
        plain = [plug_in(pool) for pool in pools]
        corrected = [plug_in(p) + (np.count_nonzero(p) - 1) / (2 * (len(labels) - s)) for p in pools]
        assert held_out_entropy(labels, n_select=s) == pytest.approx(np.mean(plain), abs=1e-14)
        found = held_out_entropy(labels, n_select=s, correction=MILLER)
        assert found == pytest.approx(np.mean(corrected), abs=1e-14)


def test_many_questions_equal_one_at_a_time():
    rng = np.random.default_rng(0)
    rows = [rng.multinomial(rng.integers(2, 60), rng.dirichlet(np.ones(6))) for _ in range(25)]
    many = Counts.from_counts(rows)
    for correction in (None, MILLER):
        for function in (semantic_entropy, exp_entropy, held_out_entropy):
            one = [function(counts=row, correction=correction) for row in rows]
            np.testing.assert_allclose(function(counts=many, correction=correction), one, rtol=0, atol=1e-14)
        one = [entropy_agreement(counts=row, correction=correction).value for row in rows]
        np.testing.assert_allclose(entropy_agreement(counts=many, correction=correction).value, one, atol=1e-14)


@settings(deadline=None)
@given(st.lists(st.integers(0, 4), min_size=2, max_size=20))
def test_scores_are_confidences(labels):
    for correction in (None, MILLER):
        assert 0 < exp_entropy(labels, correction=correction) <= 1
        assert 0 <= entropy_agreement(labels, correction=correction).value <= 1
    assert held_out_entropy(labels) <= semantic_entropy(labels) + 1e-12
    assert 0 <= semantic_entropy(labels) <= math.log(len(set(labels))) + 1e-12


def test_no_questions_have_no_scores():
    nothing = Counts.from_counts([])
    for score in (semantic_entropy, held_out_entropy, exp_entropy):
        assert score(counts=nothing).shape == (0,)
    assert entropy_agreement(counts=nothing).value.shape == (0,)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: semantic_entropy([0, 1], correction="jackknife"), "correction must be one of 'miller-madow'"),
        (lambda: held_out_entropy([0, 1], correction="jackknife"), "correction must be one of 'miller-madow'"),
        (lambda: semantic_entropy([]), "labels must hold at least one response; got none"),
        (exp_entropy, "give either labels or counts=; got neither"),
        (lambda: entropy_agreement([0.5]), "labels must be a one-dimensional sequence of integers"),
        (lambda: held_out_entropy([0]), "a held-out frequency needs at least 2 responses"),
        (lambda: held_out_entropy([0, 1], n_select=2), "n_select must be at most 1 of the 2 responses; got 2"),
    ],
)
def test_wrong_input_is_refused_with_what_came(call, message):
    with pytest.raises(ValueError, match=message):
        call()
