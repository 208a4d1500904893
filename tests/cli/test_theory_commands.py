"""The commands that need no model and no run."""

import json

import pytest


def test_theory_says_regime_biases_gaps_and_the_least_n(semece):
    words = ("theory", "--margin", 0.08, "--mass", 1, "--classes", 2, "-n", 50, "--bias", 0.01)
    code, out, _ = semece(*words, "--json")
    facts = json.loads(out)
    assert code == 0
    assert (facts["regime_same_n"], facts["regime_as_run"]) == ("jensen_dominated", "low_margin")
    assert facts["sem1_bias"] == pytest.approx(0.0252, abs=1e-4)
    assert facts["estimator_gap_given_pool"] == pytest.approx(0.0709, abs=1e-4)
    assert facts["sem2_least_n"] == 414
    lines = semece(*words)[1].splitlines()
    assert len(lines) == len(facts)
    assert "estimator gap (same-n)             0.0481" in lines
    assert "least n for this bias of Sem2      414" in lines


def test_names_of_theory_in_json_are_stable(semece):
    words = ("theory", "--margin", 0.08, "--json")
    names = [
        *("regime_same_n", "regime_as_run", "sem1_bias", "sem2_bias", "estimator_gap_same_n"),
        *("estimator_gap_as_run", "estimator_gap_given_pool"),
    ]
    assert list(json.loads(semece(*words)[1])) == names
    assert list(json.loads(semece(*words, "--bias", 0.01)[1])) == [*names, "sem1_least_n", "sem2_least_n"]


def test_a_margin_that_cannot_be_is_one_sentence(semece):
    code, _, err = semece("theory", "--margin", 2)
    assert (code, err) == (2, "semece: --margin must lie in [0, 1]; got 2.0 at index 0\n")


@pytest.mark.parametrize("classes", [1, 0, -3, 1.9, "nan"])
def test_fewer_than_two_classes_have_no_margin(semece, classes):
    code, out, err = semece("theory", "--margin", 0.08, f"--classes={classes}")
    assert (code, out, err) == (2, "", f"semece: --classes must be at least 2; got {classes}\n")


@pytest.mark.parametrize(
    ("margin", "mass", "classes", "needed"),
    [(0, 0.8, 2, "at least 3 classes"), (0.5, 0.6, 9, "at least 10 classes"), (0.4, 0.4, 50, "a mass of 1")],
)
def test_a_margin_and_a_mass_that_do_not_fit_the_classes_are_one_sentence(semece, margin, mass, classes, needed):
    code, out, err = semece("theory", "--margin", margin, "--mass", mass, "-K", classes)
    assert (code, out) == (2, "")
    assert err.startswith(f"semece: a margin of {margin} with a mass of {mass} leaves ")
    assert f": it needs {needed}; got {classes} classes\n" in err


@pytest.mark.parametrize(("margin", "mass", "classes"), [(0, 0.8, 3), (0.5, 0.6, 10), (1, 1, 2), (0.1, 1, 7)])
def test_a_population_that_just_fits_is_taken(semece, margin, mass, classes):
    assert semece("theory", "--margin", margin, "--mass", mass, "-K", classes)[0] == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--margin", 0.5, "--mass", 0.4), "--mass must be positive and at least the margin; got 0.4"),
        (("--margin=-0.1",), "--margin must lie in [0, 1]; got -0.1"),
        (("--margin", "nan"), "--margin must lie in [0, 1]; got nan"),
        (("--margin", 0.1, "--mass", 0), "--mass must be positive and at least the margin; got 0.0"),
        (("--margin", 0.1, "-K", "inf"), "--classes must be finite"),
    ],
)
def test_an_impossible_number_of_theory_is_named(semece, words, sentence):
    code, out, err = semece("theory", *words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"semece: {sentence}")


def test_simulate_prints_truth_estimates_and_predictions_and_is_repeatable(semece):
    words = ("simulate", "--family", "near-tie", "-Q", 300, "--seed", 3)
    code, out, _ = semece(*words)
    assert code == 0
    for name in ("ECE*", "sem2    pooled", "jensen_dominated", "given-pool"):
        assert name in out
    assert semece(*words)[1] == out
    rows = json.loads(semece(*words, "--json")[1])
    assert {row["section"] for row in rows} == {"mean", "ece", "distance", "bound", "semx", "regime", "gap"}


def test_an_unknown_population_is_one_sentence(semece):
    code, _, err = semece("simulate", "--family", "nope")
    assert code == 2
    assert "nope" in err
    assert "Traceback" not in err
