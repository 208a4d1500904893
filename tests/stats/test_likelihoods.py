"""Confidences from log probabilities, against the papers' formulas."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semece.sampling.request_templates import sure
from semece.stats.estimators.likelihoods import choice_softmax, likelihood_entropy, sequence_probability

LOGPROBS = st.lists(st.floats(-30, 0), min_size=1, max_size=12)


@given(LOGPROBS)
def test_a_sequence_is_as_likely_as_its_tokens_together_or_on_geometric_average(logprobs):
    product = np.prod(np.exp(logprobs))
    assert sequence_probability(logprobs) == pytest.approx(product, rel=1e-9, abs=1e-300)
    assert sequence_probability(logprobs, normalized=True) == pytest.approx(np.exp(np.mean(logprobs)))


@given(LOGPROBS, st.data())
def test_the_two_entropies_are_those_of_the_papers(logprobs, data):
    labels = data.draw(st.lists(st.integers(0, 3), min_size=len(logprobs), max_size=len(logprobs)))
    p = np.exp(logprobs)
    masses = np.array([p[np.array(labels) == c].sum() for c in sorted(set(labels))])
    shares = masses / masses.sum()
    farquhar = -sum(share * np.log(share) for share in shares if share > 0)
    assert likelihood_entropy(labels, logprobs) == pytest.approx(farquhar, abs=1e-9)
    assert likelihood_entropy(labels, logprobs, estimator="monte-carlo") == pytest.approx(-np.mean(np.log(masses)))
    assert 0 <= likelihood_entropy(labels, logprobs) <= np.log(len(set(labels))) + 1e-12


def test_equal_likelihoods_give_the_discrete_entropy_and_one_class_none():
    assert likelihood_entropy([0, 0, 1, 2], [-3.0] * 4) == pytest.approx(1.5 * np.log(2))
    assert likelihood_entropy([0, 0], [-1.0, -900.0]) == 0.0


@given(st.lists(st.floats(-800, 0), min_size=2, max_size=2))
def test_p_true_is_the_softmax_of_its_two_options(pair):
    assert sure(*pair).certain == pytest.approx(choice_softmax(pair)[0], abs=1e-12)


def test_an_option_that_was_not_told_has_no_share():
    assert choice_softmax([-0.5, -np.inf]).tolist() == [1.0, 0.0]


@pytest.mark.parametrize("logprobs", [[], [0.1], [float("nan")]])
@pytest.mark.parametrize("function", [sequence_probability, choice_softmax])
def test_what_is_no_log_probability_is_refused(function, logprobs):
    with pytest.raises(ValueError, match="logprobs must"):
        function(logprobs)


def test_all_impossible_or_of_other_length_is_refused():
    with pytest.raises(ValueError, match="must not all be -inf"):
        choice_softmax([-np.inf])
    with pytest.raises(ValueError, match="must not all be -inf"):
        likelihood_entropy([0], [-np.inf])
    with pytest.raises(ValueError, match="one length; got 2 and 1"):
        likelihood_entropy([0, 1], [-1.0])
    with pytest.raises(ValueError, match="estimator must be"):
        likelihood_entropy([0], [-1.0], estimator="mean")
