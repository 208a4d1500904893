"""Checks for continuous integration: limits on intervals, and regressions against another run."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from semece.compare.limits import check_run
from semece.runs.run import Run
from semece.show.tables import summary_table
from tests.compare.test_standings import sampled


@pytest.fixture
def paths(tmp_path):
    return {
        "timid": sampled(tmp_path, "timid", sure=5, right=30),
        "bold": sampled(tmp_path, "bold", sure=9, right=30),
        "wrong": sampled(tmp_path, "wrong", sure=9, right=6),
        "other": sampled(tmp_path, "other", sure=9, right=6, first=1_000),
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
        (("--max", "ece=0.1"), "a limit is NAME=VALUE; got 'ece=0.1'"),
        (("--max", "sem1_ece"), "the limit of sem1_ece must be a number in [0, 1]; got ''"),
        (("--max", "sem1_ece=nan"), "got 'nan'"),
        (
            ("--min", "accuracy=70"),
            "accuracy must be a number in [0, 1]; got '70' (percent? divide by 100)",
        ),
        (("--max", "ver_ece=0.1"), "the run has no Ver-ECE: no complete question has one"),
    ],
)
def test_what_cannot_be_checked_is_one_sentence(semece, paths, words, sentence):
    code, out, err = semece("check", paths["bold"], *words)
    assert (code, err.count("\n")) == (2, 1)
    assert sentence in err
    assert out == ""


def test_results_are_kept_when_one_limit_is_wrong(semece, paths):
    code, out, err = semece("check", paths["bold"], "--max", "semi1_ece=0.9", "--max", "sem1_ece=0.9")
    assert (code, [line.partition(":")[0] for line in out.splitlines()]) == (2, ["passed"])
    assert err.startswith("semece: not checked: a limit is")
    assert "(did you mean 'sem1_ece'?)" in err
    code, out, _ = semece("check", paths["bold"], "--max", "semi1_ece=0.9", "--max", "sem1_ece=0.0", "--json")
    assert (code, [row["passed"] for row in json.loads(out)]) == (1, [None, False])
    code, out, err = semece("check", paths["bold"], "--max", "sem1_ece=0.9", "--baseline", paths["other"])
    assert (code, [line.partition(":")[0] for line in out.splitlines()]) == (2, ["passed"])
    assert "no question is complete in all of" in err


def test_each_limit_that_is_wrong_is_told_once(semece, paths):
    code, out, err = semece("check", paths["bold"], "--max", "sem1=0.9", "--max", "sem1_ece=7", "--min", "accuracy=0")
    assert (code, out.count("\n"), out.startswith("passed: ")) == (2, 1, True)
    assert [line.startswith("semece: not checked: ") for line in err.splitlines()] == [True, True]
    assert err.count("got 'sem1=0.9'") == err.count("got '7'") == 1


@pytest.mark.parametrize(("limit", "code"), [("1", 4), ("0", 1), ("x", 2)])
def test_a_file_that_cannot_be_written_costs_no_other(semece, paths, limit, code):
    words = ("check", paths["bold"], "--max", f"sem1_ece={limit}", "--junit", "/proc/checks.xml", "--badge", "b.svg")
    got, out, err = semece(*words)
    assert (got, Path("b.svg").read_bytes()[:4]) == (code, b"<svg")
    assert err.count("cannot write /proc/checks.xml") == 1
    assert out.startswith({4: "passed", 1: "FAILED", 2: ""}[code])
    got, _, err = semece(*words[:-1], "/proc/b.svg")
    assert (got, err.count("cannot write")) == (code, 2)


@pytest.mark.parametrize(("slack", "code"), [(1e-9, 0), (-1e-9, 1)])
def test_of_a_value_limit_the_number_itself_decides(semece, paths, slack, code):
    number = summary_table([Run(paths["bold"])]).row(0, named=True)["sem1_ece"]
    got, out, _ = semece("check", paths["bold"], "--max-value", f"sem1_ece={number + slack}")
    assert got == code
    assert "the value alone, so chance may decide" in out
    assert semece("check", paths["bold"], "--min-value", f"sem1_ece={number + slack}")[0] == 1 - code


def test_few_questions_are_compared_by_what_has_an_interval(tmp_path):
    few = [Run(sampled(tmp_path, name, sure=5, right=right, questions=24)) for name, right in (("a", 20), ("b", 0))]
    found = {each.name: each for each in check_run(few[1], baseline=few[0])}
    assert found["accuracy"].passed is False
    assert found["sem1_ece"].passed is None
    assert not found["sem1_ece"].wrong
    assert "no interval for fewer than 30 questions" in found["sem1_ece"].sentence
    assert {each.passed for each in check_run(few[0], baseline=few[1])} == {True, None}


def test_too_few_questions_cannot_be_compared_at_all(tmp_path):
    few = [Run(sampled(tmp_path, name, sure=5, right=3, questions=5)) for name in ("a", "b")]
    (only,) = check_run(few[1], baseline=few[0])
    assert (only.passed, only.wrong) == (None, True)
    assert "no interval for so few questions (5)" in only.sentence


def test_junit_has_a_case_for_each_check(semece, paths):
    words = ("--max", "sem1_ece=0.9", "--max", "sem2_ece=0.0", "--max", "nothing<&=0.1", "--junit", "checks.xml")
    assert semece("check", paths["bold"], *words)[0] == 1
    root = ET.parse("checks.xml").getroot()
    counts = {"tests": "3", "failures": "1", "errors": "1", "skipped": "0"}
    for each in (root, root.find("testsuite")):
        assert {name: each.get(name) for name in counts} == counts
    cases = root.findall("testsuite/testcase")
    assert [[child.tag for child in case] for case in cases] == [["system-out"], ["failure"], ["error"]]
    assert len({(case.get("classname"), case.get("name")) for case in cases}) == 3
    assert "wanted at most 0" in cases[1].find("failure").get("message")
    assert "got 'nothing<&=0.1'" in cases[2].find("error").text


def test_a_badge_shows_the_number_of_one_check_and_its_colour(semece, paths):
    colours = {}
    for name, words in {
        "good": ("--max", "sem1_ece=0.9"),
        "bad": ("--max", "sem1_ece=0.0"),
        "both": ("--max", "sem1_ece=0.9", "--max", "sem2_ece=0.0"),
        "wrong": ("--max", "<b>=1"),
    }.items():
        semece("check", paths["bold"], *words, "--badge", f"{name}.svg")
        root = ET.parse(f"{name}.svg").getroot()
        space = "{http://www.w3.org/2000/svg}"
        texts, boxes = root.findall(f"{space}text"), root.findall(f"{space}rect")
        assert root.find(f"{space}title").text == ": ".join(text.text for text in texts)
        assert float(root.get("width")) == sum(float(box.get("width")) for box in boxes)
        colours[name] = (texts[0].text, boxes[1].get("fill"))
    assert colours["good"][0] == colours["bad"][0] == "Sem1-ECE"
    assert colours["both"] == ("semece check", colours["bad"][1])
    assert len({colour for _, colour in colours.values()}) == 3


def test_a_file_of_checks_never_takes_the_place_of_a_run(semece, paths):
    code, _, err = semece("check", paths["bold"], "--max", "sem1_ece=0.9", "--junit", paths["bold"])
    assert code == 2
    assert "is a run file" in err
    assert semece("check", paths["bold"], "--max", "sem1_ece=0.9")[0] == 0
