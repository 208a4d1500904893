"""The pytest plugin: a question passes if its answer is right often enough."""

import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom, binomtest

import semece as se
from semece.testing import answer_often

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[1]
SUITE = """
from itertools import count

calls = count()


def sometimes(question):
    return "Lyon" if next(calls) % 5 == 0 else f"It is Paris."


async def always(question):
    return "Paris"


def test_good(right_often):
    found = right_often(always, "What is the capital of France?", ["Paris", "Lutetia"], at_least=0.8, repeats=14)
    assert (found.right, found.needed) == (14, 14)


def test_bad(right_often):
    right_often(sometimes, "What is the capital of France?", "Paris", at_least=0.8, repeats=30)


def test_own(right_often):
    right_often(sometimes, "What?", lambda text: "is" in text, at_least=0.6, repeats=40)


async def broken(question):
    raise OSError("no answer")


def test_broken(right_often):
    right_often(broken, "What?", "Paris")


def test_few(right_often):
    right_often(sometimes, "What?", "Paris", at_least=0.9, repeats=20)
"""


def test_a_suite_passes_and_fails_as_its_answers_are_right(pytester):
    pytester.makepyfile(SUITE)  # in a process of its own: modules that pytester unloads do not load twice
    result = pytester.runpytest_subprocess("-p", "semece.testing", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=2, failed=3)
    text = result.stdout.str()
    assert (
        "'What is the capital of France?' is right in 24 of 30 repeats, and 28 must be right to be 95 % sure that it "
        "is right 80 % of the time.\n\ntimes  right  text\n   24  yes    It is Paris.\n    6  no     Lyon" in text
    )
    assert "semece/testing.py" not in text
    assert "asyncio" not in text
    assert 'raise OSError("no answer")' in text
    assert "at least 29 repeats, all right, can show a frequency of 0.9 at level 0.95; got 20" in text


def test_it_is_there_for_pytest_and_loads_nothing_but_pytest():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pytest11"] == {"semece.testing": "semece.testing"}
    loaded = "import sys, semece.testing; print(sorted({'numpy', 'polars', 'scipy', 'openai'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
    loaded = "import sys, semece; print('semece.testing' in sys.modules, 'pytest' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"


def test_nothing_is_asked_where_nothing_could_pass_and_what_is_raised_ends_the_test():
    asked = []
    with pytest.raises(ValueError, match="at least 59 repeats, all right, can show"):
        answer_often(asked.append, "?", "a", at_least=0.95, repeats=58)
    assert not asked

    def broken(question):
        raise OSError(question)

    with pytest.raises(OSError, match="Why"):
        answer_often(broken, "Why", "a")


@pytest.mark.parametrize(("wanted", "repeats", "level"), [(0.8, 30, 0.95), (0.9, 100, 0.99), (0.5, 7, 0.9)])
def test_a_question_that_is_right_too_seldom_passes_no_oftener_than_promised(wanted, repeats, level):
    """Exact: the chance at the least favourable frequency, and one right answer fewer would be too many."""
    needed = se.frequency_gate(0, repeats, at_least=wanted, level=level).needed
    assert binom.sf(needed - 1, repeats, wanted) <= 1 - level + 1e-12
    assert binom.sf(needed - 2, repeats, wanted) > 1 - level
    for right in range(repeats + 1):
        found = se.frequency_gate(right, repeats, at_least=wanted, level=level)
        assert found.passed == (right >= needed) == (found.low >= wanted)
        expected = binomtest(right, repeats, alternative="greater").proportion_ci(level).low
        assert found.low == pytest.approx(expected, abs=1e-9)


def test_the_table_of_the_page_is_what_the_gate_does():
    page = (ROOT / "docs" / "decisions.md").read_text()
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith(("| 80 %", "| 90 %"))]
    assert len(rows) == 5
    for wanted, repeats, *said in rows:
        needed = se.frequency_gate(0, int(repeats), at_least=int(wanted[:2]) / 100).needed
        power = [f"{100 * binom.sf(needed - 1, int(repeats), chance):.0f} %" for chance in (0.95, 0.99)]
        assert said == [str(needed), *power]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((3, 2), "right must be at most the number of repeats, 2; got 3"),
        ((-1, 2), "right must be a whole number of at least 0; got -1"),
        ((0, 0), "repeats must be a whole number of at least 1; got 0"),
        ((0, 1.5), "repeats must be a whole number of at least 1; got 1.5"),
    ],
)
def test_bad_counts_are_named(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        se.frequency_gate(*arguments, at_least=0.1)
    with pytest.raises(ValueError, match="at_least must lie strictly between 0 and 1; got 1"):
        se.frequency_gate(1, 1, at_least=np.int64(1))
