"""How many verdicts a claim about a model rests on: as many as it takes, and not fewer."""

import numpy as np
import pytest

from semece.stats.counts import Counts
from semece.stats.estimators.semx import semx
from semece.stats.uncertainty.claims import hidden_verdict, model_verdict
from semece.stats.uncertainty.held_out_errors import gap_interval, held_out_gap, semx_ece
from semece.stats.uncertainty.overturning import verdicts_to_overturn


def drawn(over, *, seed=0, questions=120, n=8):
    """Counts and grades of a model that is over- or under-confident."""
    rng = np.random.default_rng(seed)
    pmf = rng.dirichlet([0.6] * 4, questions)
    counts = rng.multinomial(n, pmf)
    right = np.zeros_like(pmf)
    chosen = rng.integers(0, 4, questions) if over else pmf.argmax(axis=1)
    right[np.arange(questions), chosen] = 1
    return Counts.from_counts(counts), right.ravel()


@pytest.mark.parametrize("over", [True, False])
def test_so_many_verdicts_overturn_the_claim_and_one_fewer_does_not(over):
    counts, correct = drawn(over)
    claim = "over-confident" if over else "under-confident"
    assert model_verdict(held_out_gap(semx(correct=correct, counts=counts))) == claim
    found = verdicts_to_overturn(claim, counts, correct)
    assert found.graded == (counts.values > 0).sum()
    from semece.stats.estimators.held_out import selection_probability

    weight = selection_probability(counts=counts)
    wrong = np.flatnonzero((correct == (0 if over else 1)) & (weight > 0))
    order = wrong[np.argsort(-weight[wrong], kind="stable")]
    for changed, verdict in ((found.verdicts, None), (found.verdicts - 1, claim)):
        grades = correct.copy()
        grades[order[:changed]] = 1 - grades[order[:changed]]
        assert model_verdict(held_out_gap(semx(correct=grades, counts=counts))) == verdict


def test_the_bracket_is_overturned_by_deployed_answers():
    rng = np.random.default_rng(4)
    counts = Counts.from_counts([[7, 1]] * 100)
    correct = np.tile([0.0, np.nan], 100)
    correct[2 * rng.permutation(100)[:50]] = 1.0
    found = verdicts_to_overturn("over-confident", counts, correct, basis="bracket")
    assert found.graded == 100
    sem2 = np.full(100, 7 / 8)
    right = np.sort(correct[::2])[::-1]
    for more, sure in ((found.verdicts, False), (found.verdicts - 1, True)):
        changed = np.append(np.ones(50 + more), np.zeros(50 - more))
        assert (gap_interval(sem2, changed).low > 0) == sure
    assert right.sum() == 50


def test_a_claim_that_no_verdicts_overturn_and_unknown_words():
    counts = Counts.from_counts([[4, 4]] * 50)
    nobody = verdicts_to_overturn("over-confident", counts, np.array([np.nan, 0.0] * 50), basis="bracket")
    assert nobody.verdicts == 0
    with pytest.raises(ValueError, match="claim must be"):
        verdicts_to_overturn("sure", counts, np.ones(50))


@pytest.mark.parametrize("claim", ["miscalibrated", "right on average"])
def test_an_error_that_is_hidden_on_average_is_overturned_by_verdicts_on_both_sides(claim):
    rng = np.random.default_rng(3)
    sure = rng.random(300) < 0.5
    counts = rng.multinomial(8, np.where(sure[:, None], [0.98, 0.01, 0.01], [0.6, 0.2, 0.2]))
    correct = np.zeros((300, 3))
    correct[:, 0] = rng.random(300) < np.where(sure, 0.7, 1.0)  # too sure where it is sure, and the other way round
    ragged, flat = Counts.from_counts(counts), correct.ravel()
    found = verdicts_to_overturn(claim, ragged, flat)
    residuals = semx(correct=flat, counts=ragged)
    assert hidden_verdict(semx_ece(residuals), held_out_gap(residuals)) == "right on average"
    assert 0 < found.verdicts < 100
