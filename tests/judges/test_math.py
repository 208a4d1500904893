"""The mathematics judge: equality, exactness, and texts that are meant to stop it."""

import os
import random
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from benchmarks.mathematics import measure

from semece.errors import ParseError, SemeceError
from semece.judges import math
from semece.judges.known import open_judge
from semece.judges.math import MathJudge, compare
from semece.judges.math_texts import LONGEST, formula
from semece.records import Question
from tests.judges.case_rows import CASES

VERDICTS = {"equal": "correct", "unequal": "incorrect", "not_attempted": "not_attempted"}
JUDGE = MathJudge()


def asked(*references):
    return Question("q", "What is it?", references)


def rows(path):
    lines = path.read_text(encoding="utf-8").splitlines()[1:]
    return [[cell.replace("\\\\", "\\") for cell in line.split("\t")] for line in lines]


def wrong(cases):
    found = [(reference, answer, JUDGE.grade(asked(reference), answer), wanted) for reference, answer, wanted in cases]
    return [case for case in found if case[2] != VERDICTS[case[3]]]


def test_answers_are_graded_as_a_mathematician_grades_them():
    assert not wrong(rows(CASES / "mathematics.tsv"))


@pytest.mark.shared_data
def test_the_cases_of_others_are_graded_right_too(shared_data):
    path = shared_data.parent / "cases" / "math_pairs.tsv"
    if not path.exists():
        pytest.skip("these cases are not here")
    assert not wrong(rows(path))


@pytest.mark.shared_data
def test_changed_references_are_wrong_and_rewritten_ones_right(shared_data):
    """A tenth of MATH-500; ``python -m benchmarks mathematics`` takes all."""
    from benchmarks._data import shared_rows

    references = sorted({row["gold"][0] for row in shared_rows("questions/q_math500.jsonl")})
    _, found = measure(random.Random(0).sample(references, 40))
    assert not found


def test_equal_answers_share_a_class_whichever_comes_first():
    answers = [
        "1/2",
        "0.5",
        "\\frac{1}{3}",
        "\\boxed{\\frac12}",
        "east",
        "\\text{East}",
        "2",
        "x^2-1",
        "(x-1)(x+1)",
        "West",
    ]
    for seed in range(3):
        shuffled = random.Random(seed).sample(answers, len(answers))
        found = JUDGE.partition(asked(), shuffled)
        classes = {frozenset(a for a, b in zip(shuffled, found, strict=True) if b == label) for label in found}
        assert classes == {
            frozenset({"1/2", "0.5", "\\boxed{\\frac12}"}),
            frozenset({"\\frac{1}{3}"}),
            frozenset({"east", "\\text{East}"}),
            frozenset({"2"}),
            frozenset({"x^2-1", "(x-1)(x+1)"}),
            frozenset({"West"}),
        }


HOSTILE = [
    *(
        "__import__('os').system('true')",
        "1" * 900,
        "(" * 400,
        "\\frac{" * 100,
        "x^" * 200,
        "\\sum_{n=1}^{\\infty}",
        "\x00",
        "\\",
    ),
    *(
        "{" * 300 + "}" * 300,
        "$" * 300,
        "1/0",
        "\\int e^{x^2}",
        "9" * LONGEST * 2,
        "lambda: 0",
        "é" * 300,
        "\\begin{pmatrix}",
    ),
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_text_is_not_equal_and_the_judge_goes_on(text):
    with suppress(ParseError):  # the comparison did not end
        assert JUDGE.grade(asked("2"), text) != "correct"
    assert compare("1/2", "0.5") is True


@pytest.mark.slow
def test_a_comparison_that_does_not_end_gives_no_verdict_and_the_next_one_is_made():
    with pytest.raises(ParseError, match="could not be compared"):
        JUDGE.grade(asked("3"), "9^{9^{9^9}}")
    assert JUDGE.grade(asked("3"), "6/2") == "correct"


def test_a_process_that_was_killed_is_started_again():
    assert compare("4", "8/2") is True
    math._PROCESS._running.kill()
    math._PROCESS._running.wait()
    assert compare("5", "10/2") is None
    assert compare("6", "12/2") is True


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_the_process_has_no_keys_in_its_environment(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-that-must-not-leave")
    math._PROCESS.end()
    assert compare("7", "14/2") is True
    environment = Path(f"/proc/{math._PROCESS._running.pid}/environ").read_bytes()
    assert b"a-key-that-must-not-leave" not in environment
    assert os.environ["OPENAI_API_KEY"]


def test_without_the_extra_its_name_is_said(monkeypatch):
    monkeypatch.setattr(math, "find_spec", lambda name: None)
    with pytest.raises(SemeceError, match=r"pip install 'semece\[math\]'"):
        open_judge("math")


def test_a_long_text_is_no_formula():
    assert formula("1+" * LONGEST) is None


def test_words_are_left_to_the_rules():
    assert JUDGE.grade(Question("q", "Who won?", ("\\text{Evelyn}",)), "It was Evelyn.") == "correct"
    assert JUDGE.grade(Question("q", "Who won?", ("\\text{Evelyn}",)), "Nyleve") == "incorrect"
