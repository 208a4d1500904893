"""Semantic entropy and the scores of Lyu et al. are those of uqlm, lm-polygraph and the papers, on 50 shared cases.

The other side is written anew from the papers and the tools' descriptions. Where a tool differs, that is a test, too.
"""

import math
from collections import Counter

import numpy as np
import pytest

import semece as se

RNG = np.random.default_rng(11)
CASES = [
    [0] * 7,
    [0, 1],
    list(range(50)),
    *(RNG.integers(0, RNG.integers(1, 12), RNG.integers(2, 51)).tolist() for _ in range(47)),
]
"""Classes of the answers to 50 questions: unanimous, two, all different, and drawn ones."""


def clusters(labels):
    """Give the classes as lists of places, as the tools hold them."""
    found = {}
    for place, label in enumerate(labels):
        found.setdefault(label, []).append(place)
    return list(found.values())


def uqlm_entropy(labels):
    """Discrete semantic entropy of uqlm: every answer has the probability 1/M, a cluster their sum, normalised."""
    mass = [sum(1 / len(labels) for _ in cluster) for cluster in clusters(labels)]
    shares = [each / sum(mass) for each in mass]
    return abs(sum(p * math.log(p) for p in shares))


def polygraph_entropy(labels):
    """SemanticEntropyEmpirical of lm-polygraph: minus the mean, over the samples, of the log share of their class."""
    of = {place: len(cluster) / len(labels) for cluster in clusters(labels) for place in cluster}
    return -np.mean([np.log(of[place]) for place in range(len(labels))])


def polygraph_direct_entropy(labels):
    """Its variant 'direct', which adds a term per sample, not per class."""
    of = {place: len(cluster) / len(labels) for cluster in clusters(labels) for place in cluster}
    return -sum(np.log(of[place]) * of[place] for place in range(len(labels)))


def lyu(labels):
    """Agreement, entropy-based and first-second distance consistency of Lyu et al. (2024), sections 3.2 to 3.4."""
    votes = sorted(Counter(labels).values(), reverse=True)
    shares = [vote / len(labels) for vote in votes]
    entropy = -sum(p * math.log(p) for p in shares)
    by_entropy = 1.0 if len(votes) == 1 else 1 - entropy / math.log(len(votes))
    return shares[0], by_entropy, shares[0] - (shares[1] if len(shares) > 1 else 0)


def test_there_are_fifty_cases_of_many_kinds():
    assert len(CASES) == 50
    assert {1, 2, 50} <= {len(set(labels)) for labels in CASES}


@pytest.mark.parametrize("theirs", [uqlm_entropy, polygraph_entropy])
def test_semantic_entropy_is_theirs(theirs):
    np.testing.assert_allclose([se.semantic_entropy(each) for each in CASES], [*map(theirs, CASES)], atol=1e-12)


def test_the_scores_of_lyu_are_sem1_entropy_agreement_and_the_margin():
    ours = [(se.sem1(each), se.entropy_agreement(each).value, se.margin(each)) for each in CASES]
    np.testing.assert_allclose(ours, [*map(lyu, CASES)], atol=1e-12)


def test_the_number_of_sets_is_ours():
    assert [se.n_classes(each) for each in CASES] == [len(clusters(each)) for each in CASES]


def test_uqlm_divides_by_the_answers_and_lyu_by_the_classes():
    """``semantic_negentropy`` is 1 - SE / ln M: the agreement where all answers differ, and above it elsewhere."""
    negentropy = np.array([1 - uqlm_entropy(each) / math.log(len(each)) for each in CASES])
    agreement = np.array([se.entropy_agreement(each).value for each in CASES])
    assert (negentropy >= agreement - 1e-12).all()
    assert negentropy[2] == pytest.approx(agreement[2], abs=1e-12)
    assert (negentropy > agreement + 0.01).sum() > 40


def test_the_direct_entropy_of_polygraph_is_another_number():
    """It weighs each class with its count, so it is M times the sum of p^2 ln(1/p), not of p ln(1/p)."""
    for labels in CASES:
        shares = np.array([len(each) / len(labels) for each in clusters(labels)])
        expected = -len(labels) * (shares**2 * np.log(shares)).sum()
        assert polygraph_direct_entropy(labels) == pytest.approx(expected, abs=1e-9)
