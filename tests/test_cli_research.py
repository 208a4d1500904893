"""The commands that need no model and no run."""

import json

import pytest


def test_theory_says_regime_biases_gaps_and_the_least_n(semece):
    code, out, _ = semece("theory", "--margin", 0.08, "--mass", 1, "--classes", 2, "-n", 50, "--bias", 0.01, "--json")
    facts = json.loads(out)
    assert code == 0
    assert (facts["regime (same-n)"], facts["regime (as-run)"]) == ("jensen_dominated", "low_margin")
    assert facts["bias of Sem1 (n responses)"] == pytest.approx(0.0252, abs=1e-4)
    assert facts["estimator gap (given-pool)"] == pytest.approx(0.0709, abs=1e-4)
    assert facts["least n for a bias of Sem2 of 0.01"] == 414
    assert "0.0481" in semece("theory", "--margin", 0.08, "--mass", 1, "--classes", 2, "-n", 50)[1]


def test_a_margin_that_cannot_be_is_one_sentence(semece):
    code, _, err = semece("theory", "--margin", 2)
    assert (code, err) == (1, "semece: margin must lie in [0, 1]; got 2.0 at index 0\n")


def test_simulate_prints_truth_estimates_and_predictions_and_is_repeatable(semece):
    words = ("simulate", "--family", "near-tie", "-Q", 300, "--seed", 3)
    code, out, _ = semece(*words)
    assert code == 0
    for name in ("ECE*", "sem2    pooled", "jensen_dominated", "given-pool"):
        assert name in out
    assert semece(*words)[1] == out
    rows = json.loads(semece(*words, "--json")[1])
    assert {row["section"] for row in rows} == {"mean", "ece", "distance", "bound", "regime", "gap"}


def test_an_unknown_population_is_one_sentence(semece):
    code, _, err = semece("simulate", "--family", "nope")
    assert code == 1
    assert "nope" in err
    assert "Traceback" not in err
