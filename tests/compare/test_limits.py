"""Checks for continuous integration: limits on intervals, and regressions against another run."""

import json

import pytest

from semece.compare.limits import check_run
from semece.errors import SemeceError
from semece.runs.run import Run
from semece.show.tables import summary_table
from tests.compare.test_standings import sampled


@pytest.fixture
def paths(tmp_path):
    return {
        "timid": sampled(tmp_path, "timid", sure=5, right=30),
        "bold": sampled(tmp_path, "bold", sure=9, right=30),
        "wrong": sampled(tmp_path, "wrong", sure=9, right=6),
    }


def ends(path, name):
    row = summary_table([Run(path)]).row(0, named=True)
    return row[f"{name}_low"], row[f"{name}_high"]


@pytest.mark.parametrize(
    ("name", "slack", "code"), [("sem1_ece", 1e-6, 0), ("sem1_ece", -1e-6, 1), ("accuracy", -1e-6, 1)]
)
def test_the_upper_end_of_the_interval_decides(semece, paths, name, slack, code):
    limit = ends(paths["bold"], name)[1] + slack
    got, out, _ = semece("check", paths["bold"], "--max", f"{name}={limit}")
    assert got == code
    assert out.startswith("passed: " if code == 0 else "FAILED: ")


@pytest.mark.parametrize(("slack", "code"), [(-1e-6, 0), (1e-6, 1)])
def test_of_a_least_value_the_lower_end_decides(semece, paths, slack, code):
    limit = ends(paths["bold"], "accuracy")[0] + slack
    assert semece("check", paths["bold"], "--min", f"accuracy={limit}")[0] == code


def test_one_failure_of_several_fails(semece, paths):
    code, out, _ = semece(
        "check", paths["bold"], "--max", "sem1_ece=0.9", "--max", "sem2_ece=0.1", "--min", "accuracy=0.1"
    )
    assert code == 1
    assert [line.split(":")[0] for line in out.splitlines()] == ["passed", "FAILED", "passed"]
    assert "FAILED: Sem2-ECE 0." in out
    assert "wanted at most 0.1" in out


def test_a_run_that_is_surely_worse_than_its_baseline_fails(semece, paths):
    code, out, _ = semece("check", paths["wrong"], "--baseline", paths["bold"], "--json")
    found = {row["name"]: row["passed"] for row in json.loads(out)}
    assert code == 1
    assert not any(found[name] for name in ("accuracy", "sem1_ece", "sem2_ece"))


def test_a_better_run_passes(semece, paths):
    code, out, _ = semece("check", paths["bold"], "--baseline", paths["wrong"])
    assert code == 0
    assert "FAILED" not in out


def test_a_collapse_of_a_calibrated_run_fails(paths):
    found = {each.name: each.passed for each in check_run(Run(paths["bold"]), baseline=Run(paths["timid"]))}
    assert set(found) == {"accuracy", "semx_ece", "sem1_ece", "sem2_ece", "held_out_gap"}
    assert found["accuracy"]
    assert {found[name] for name in ("semx_ece", "sem1_ece", "held_out_gap")} == {False}


def test_a_gap_that_comes_nearer_to_zero_passes(paths):
    found = {each.name: each.passed for each in check_run(Run(paths["timid"]), baseline=Run(paths["bold"]))}
    assert all(found.values())


def test_the_baseline_may_be_the_run_itself(semece, paths):
    code, out, err = semece("check", paths["bold"], "--baseline", paths["bold"])
    assert (code, err) == (0, "")
    assert out == "passed: the baseline is the run itself (bold.db): nothing has changed\n"


def test_an_incomplete_run_that_passes_ends_with_three(semece):
    words = ("--model", "fake/?pmf=.6,.4&correct=0", "--dataset", "starter", "--judge", "rules", "-n", 10, "-o", "a.db")
    assert semece("run", *words, "--quiet", "--limit", 12)[0] == 0
    assert semece("run", *words, "--quiet", "--max-total-tokens", 1)[0] == 3
    code, out, err = semece("check", "a.db", "--max", "sem1_ece=1")
    assert (code, out.startswith("passed")) == (3, True)
    assert "questions complete; run it again to continue" in err
    assert semece("check", "a.db", "--max", "sem1_ece=0")[0] == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "there is nothing to check"),
        (("--max", "ece=0.1"), "a limit is NAME=VALUE with a name of accuracy, oracle, semx_ece"),
        (("--max", "sem1_ece"), "the limit of sem1_ece must be a number in [0, 1]; got ''"),
        (("--max", "sem1_ece=nan"), "got 'nan'"),
        (("--min", "accuracy=70"), "the limit of accuracy must be a number in [0, 1]; got '70'"),
        (("--max", "ver_ece=0.1"), "the run has no Ver-ECE: no complete question has one"),
    ],
)
def test_what_cannot_be_checked_is_one_sentence(semece, paths, words, sentence):
    code, out, err = semece("check", paths["bold"], *words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert sentence in err


def test_few_questions_cannot_be_compared(tmp_path):
    few = [sampled(tmp_path, name, sure=5, right=5, questions=10) for name in ("a", "b")]
    with pytest.raises(SemeceError, match=r"Accuracy cannot be compared with .*a\.db: no interval for fewer than"):
        check_run(Run(few[1]), baseline=Run(few[0]))
