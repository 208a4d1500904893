"""Commands that decide, from a run to a decision."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from semece.runs.run import Run
from semece.runs.scored_samples import score
from semece.stats.calibration.abstention import abstention_threshold


def samples(path, questions, *, seed=0, accuracy=0.99):
    """Write answers of which the more frequent ones are mostly right, with columns to slice by."""
    rng = np.random.default_rng(seed)
    lines = []
    for number in range(questions):
        sure = rng.random() < 0.6
        n = rng.binomial(10, 0.98 if sure else 0.5)
        right = rng.random() < (accuracy if sure else 0.4)
        lines.append(
            {
                "id": f"q{number}",
                "question": f"Question {number}?",
                "references": ["yes" if right else "no"],
                "answers": ["yes"] * n + [f"other {k}" for k in range(10 - n)],
                "topic": "law" if number % 2 else "art",
                "metadata": {"level": number % 4, "rare": [1] if number < 20 else None},
            }
        )
    Path(path).write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    """A run of 400 questions."""
    folder = tmp_path_factory.mktemp("decisions")
    samples(folder / "samples.jsonl", 400)
    score([folder / "samples.jsonl"], folder / "run.db", judge="exact")
    return folder / "run.db"


@pytest.fixture
def run(semece, scored, tmp_path):
    """A copy of it in the folder where commands are typed."""
    return Path(shutil.copy(scored, tmp_path))


def test_a_threshold_is_printed_with_what_it_takes_and_what_it_promises(semece, run):
    code, out, _ = semece("abstain", "run.db", "--target-accuracy", "0.95", "--figure", "risk.svg")
    assert code == 0
    lines = out.splitlines()
    assert lines[1] == "A threshold takes at least 59 answers, all of them right, to promise 95 %."
    assert (
        "What a threshold promises: at least 95 % of the answers are right: 95 % sure, if the judge is right and "
        "future questions are like these." in lines
    )
    assert "Each score has a promise of its own: choose one before you look, not the best of them after." in lines
    found = json.loads(semece("abstain", "run.db", "--json")[1])
    with Run(run) as opened:
        pool = opened.pool()
    for row in found["thresholds"]:
        c = {"sem1": pool.sem1, "sem2": pool.sem2}[row["score"]]
        expected = abstention_threshold(c, np.floor(pool.correct), target=0.95, asked=400)
        assert (row["threshold"], row["coverage"]) == (expected.threshold, expected.coverage)
    assert found["thresholds"][0]["threshold"] > 0.5
    assert "answer from" in Path("risk.svg").read_text()


def test_slices_share_the_risk_and_what_they_need_is_said_first(semece, run):
    out = semece("abstain", "run.db", "--by", "topic", "--target-accuracy", "0.9")[1]
    assert "By topic it takes at least 36 right answers in each of the 2 slices that share the risk." in out
    assert "What a threshold promises, in all slices of a score together: at least 90 % of" in out
    assert "Choose the column before you look: topic is one of many that slices can be made by." in out
    rows = json.loads(semece("abstain", "run.db", "--by", "rare", "--json")[1])["thresholds"]
    assert [(row["slice"], row["questions"], row["needed"]) for row in rows[:2]] == [
        ("(none)", 380, 59),
        ("[1]", 20, 72),
    ]
    assert "fewer than 72 answers cannot show an accuracy of 0.95 here; got 20" in rows[1]["reason"]
    out = semece("abstain", "run.db", "--by", "rare")[1]
    assert "By rare it takes at least 59 right answers in each of the 1 slices" in out
    assert "; 1 of 2 slices by rare have fewer and are not judged." in out


def test_columns_are_kept_from_samples_to_run_to_samples(semece, run):
    with Run(run) as opened:
        assert opened.question("q3").question.metadata == {"topic": "law", "metadata": {"level": 3, "rare": [1]}}
    assert semece("export", "run.db", "-o", "again.jsonl")[0] == 0
    assert semece("score", "again.jsonl", "-o", "again.db")[0] == 0
    with Run("again.db") as opened:
        assert opened.question("q3").question.metadata == {"topic": "law", "metadata": {"level": 3, "rare": [1]}}


def test_nothing_is_promised_where_too_few_questions_are_there(semece):
    samples("few.jsonl", 30)
    semece("score", "few.jsonl", "-j", "exact", "-o", "few.db")
    code, out, _ = semece("abstain", "few.db")
    assert code == 0
    assert "Sem1: no threshold: fewer than 59 answers cannot show an accuracy of 0.95; got 30." in out
    assert "No threshold: nothing can be promised." in out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["--by", "tpoic"],
            (
                "the questions must have a column 'tpoic' to be sliced by (did you mean 'topic'?); they have level, "
                "rare, topic"
            ),
        ),
        (
            ["--target-accuracy", "95"],
            "--target-accuracy must lie strictly between 0 and 1; got 95.0 (percent? divide by 100)",
        ),
        (["--delta", "0"], "--delta must lie strictly between 0 and 1; got 0.0"),
        (["--by", "topic", "--figure", "a.svg"], "--figure is of all questions of a run; it does not go with --by"),
        (["--figure", "a.bmp"], "a figure is written as .pdf, .svg or .png; got 'a.bmp'"),
    ],
)
def test_what_cannot_be_meant_is_one_sentence(semece, run, words, sentence):
    assert run.exists()
    code, out, err = semece("abstain", "run.db", *words)
    assert (code, out, err) == (2, "", f"semece: {sentence}\n")


def test_the_python_of_the_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[2] / "docs" / "decisions.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "decisions.md", "exec"), {})
    assert capsys.readouterr().out.splitlines()[0] == "law 72 0.0 None"


def test_from_nothing_to_how_many_questions(semece, run):
    """The worst case first, then a pilot: it asks for less, and says what its plan is worth."""
    out = semece("plan", "--width", "0.1", "--answer-cost", "0.002")[1]
    first = "A 95 % interval of the held-out gap that is 0.1 wide takes 767 questions x 4 answers: about $6.14."
    assert out.splitlines()[0] == first
    assert "0.5 is the worst" in out
    assert "an answer: $0.0020, as given." in out
    assert "an answer: $0.0010, an assumption; --answer-cost sets it" in semece("plan", "--width", "0.1")[1]
    free = semece("plan", "--width", "0.1", "--answer-cost", "0")[1]
    assert "767 questions x 4 answers: about $0.00." in free
    assert "cost nothing, or have no known price); --answer-cost sets it" in semece("plan", "run.db", "--find", ".1")[1]
    made = json.loads(semece("plan", "run.db", "--width", "0.05", "--json")[1])
    assert [row["n_answers"] for row in made["rows"]] == [4, 6, 10]
    assert made["cheapest"]["questions"] < 4 * 767
    assert all(row["answers"] == row["questions"] * row["n_answers"] for row in made["rows"])
    out = semece("plan", "run.db", "--find", "0.1", "--overturned", "0.05")[1]
    assert out.splitlines()[0] == "A held-out gap of 0.1 is seen in 90 % of runs at a width of 0.121."
    assert "answers judged by people: about $" in out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            [],
            "give either --width, of the interval of the held-out gap (--width 0.1), or --find, a gap to be seen (--fi",
        ),
        (
            ["--width", ".1", "--find", ".1"],
            "give either --width, of the interval of the held-out gap (--width 0.1), or",
        ),
        (["--width", "3"], "--width must lie between 0 and 2; got 3.0"),
        (["--width", ".1", "--answer-cost", "-1"], "--answer-cost must be at least 0; got -1"),
        (["--width", ".1", "--overturned", "-1"], "--overturned must lie in [0, 1); got -1"),
        (["--find", ".1", "--power", ".1"], "--power must lie in [0.5, 1); got 0.1"),
        (["--width", ".1", "--label-cost", "-1"], "--label-cost must be above 0; got -1"),
        (["none.db", "--width", ".1"], "none.db does not exist"),
    ],
)
def test_a_plan_that_cannot_be_made_is_one_sentence(semece, words, sentence):
    code, out, err = semece("plan", *words)
    assert (code, out) == (2, "")
    assert err.startswith(f"semece: {sentence}")
    assert err.count("\n") == 1
