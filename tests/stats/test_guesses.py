"""Confidences from lists of guesses."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import log_softmax

from semece.stats.estimators.guesses import pair_rank, stated_share, weighted_share

LISTS = st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=4, unique=True), min_size=1, max_size=6)


def test_one_list_gives_the_probability_it_states_and_a_list_without_the_answer_counts_0():
    assert stated_share([[2, 0, 1]], [[0.5, 0.3, 0.1]]) == pytest.approx(0.3)
    assert stated_share([[0], [1]], [[0.8], [0.9]]) == pytest.approx(0.4)
    assert stated_share([[0, 0]], [[0.7, 0.6]]) == 1.0
    with pytest.raises(ValueError, match="at least one list"):
        stated_share([], [])


def test_the_weighted_share_is_of_all_that_is_stated():
    assert weighted_share([[0, 1], [0, 2]], [[0.6, 0.2], [0.1, 0.1]]) == pytest.approx(0.7)
    assert weighted_share([[0, 1]], [[0.0, 0.0]]) is None


@settings(max_examples=20)
@given(LISTS, st.sampled_from([0.1, 0.5, 2.0]))
def test_pair_rank_maximises_its_likelihood(lists, prior):
    options = sorted({each for one in lists for each in one})
    wins = prior * (1 - np.eye(len(options)))
    for one in lists:
        for place, u in enumerate(one):
            for v in options:
                if v not in one[: place + 1]:
                    wins[options.index(u), options.index(v)] += 1

    def loss(logits):
        return np.sum(wins * np.logaddexp(0, logits[None, :] - logits[:, None]))

    best = minimize(loss, np.zeros(len(options)), method="BFGS", options={"gtol": 1e-9}).x
    weights = np.exp(log_softmax(best))
    assert [pair_rank(lists, label=k, prior=prior) for k in options] == pytest.approx(weights, abs=1e-5)


@given(LISTS)
def test_the_order_of_lists_changes_nothing_and_the_weights_sum_to_1(lists):
    options = {each for one in lists for each in one}
    assert pair_rank(lists[::-1]) == pytest.approx(pair_rank(lists), abs=1e-9)
    assert sum(pair_rank(lists, label=k) for k in options) == pytest.approx(1)


def test_an_answer_alone_has_all_the_weight_and_a_prior_is_needed():
    assert pair_rank([[0]]) == 1.0
    with pytest.raises(ValueError, match="prior must be above 0; got 0"):
        pair_rank([[0, 1]], prior=0)
