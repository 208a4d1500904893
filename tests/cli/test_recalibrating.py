"""The command that fits a map, and the options that apply it to other runs."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from semece import load_recalibration
from semece.runs.corrections import AuditedRow, KeptAudit
from semece.runs.question_views import answers_of
from semece.runs.run import Run
from semece.stats.recalibration.maps import question_mark


def samples(path, first, last):
    """Over-confident answers to questions of these numbers, under exact judgement."""
    with Path(path).open("w") as file:
        for number in range(first, last):
            rng = np.random.default_rng(number)
            share = rng.uniform(0.4, 1.0)
            right = rng.random() < share**3
            n = rng.binomial(10, share)
            line = {
                "id": f"q{number}-{path}",
                "question": f"Question {number}?",
                "references": ["yes" if right else "no"],
            }
            file.write(json.dumps(line | {"answers": ["yes"] * n + [f"other {k}" for k in range(10 - n)]}) + "\n")


@pytest.fixture(scope="module")
def kept():
    """What is made once: files and what the command printed."""
    return {}


@pytest.fixture
def runs(semece, kept):
    """Two runs that share ten questions, and a map that was fitted on the first; what was printed."""
    for name, content in kept.get("files", {}).items():
        Path(name).write_bytes(content)
    if not kept:
        for name, first, last in (("pilot", 0, 120), ("new", 110, 200)):
            samples(f"{name}.jsonl", first, last)
            assert semece("score", f"{name}.jsonl", "-j", "exact", "-o", f"{name}.db")[0] == 0
        code, kept["out"], _ = semece("recalibrate", "pilot.db", "-o", "map.json")
        assert code == 0
        kept["files"] = {path.name: path.read_bytes() for path in Path().iterdir() if path.is_file()}
    return kept["out"]


def test_a_map_is_fitted_said_kept_and_applied(semece, runs):
    lines = runs.splitlines()
    assert lines[0].startswith("Sem1, platt, 120 questions: Recalibration helps: the Brier score falls from")
    assert lines[2].split() == ["before", "after", "change"]
    assert [line.split("  ")[0] for line in lines[3:8]] == [
        "Confidence − accuracy",
        "ECE",
        "Brier score",
        "AUROC",
        "AURC",
    ]
    assert "has not seen its question (10 folds)" in runs
    assert lines[-1] == "map.json"
    before, after = (
        json.loads(semece("summary", "new.db", "--json", *more)[1])[0] for more in ((), ("--recalibrate", "map.json"))
    )
    assert "recalibration" not in before
    assert after["recalibration"].endswith("left out: 10 questions that the map was fitted on")
    assert (before["questions"], after["questions"]) == (90, 80)
    assert after["sem1_ece"] < before["sem1_ece"] / 2
    assert after["sem2_ece"] > 0.8 * before["sem2_ece"]
    out = semece("summary", "new.db", "--recalibrate", "map.json")[1]
    assert "Noticed: Sem1 is recalibrated by a map (platt) that was fitted on 120 questions" in out
    assert semece("check", "new.db", "--max", "sem1_ece=0.3")[0] == 1
    code, out, _ = semece("check", "new.db", "--max", "sem1_ece=0.3", "--recalibrate", "map.json")
    assert code == 0
    assert out.startswith("Sem1 is recalibrated by a map (platt)")


@pytest.mark.slow
def test_the_report_says_that_a_score_is_recalibrated(semece, runs):
    assert semece("report", "new.db", "--recalibrate", "map.json", "-o", "page.html")[0] == 0
    page = Path("page.html").read_text()
    assert "Sem1 is recalibrated by a map (platt)" in page
    assert "Recalibrated</h" in page
    assert "The confidence before and after recalibration, on questions that the map has not seen" in page


def test_a_run_is_never_judged_by_a_map_of_its_own_questions(semece, runs):
    for command in (("summary", "pilot.db"), ("check", "pilot.db", "--max", "sem1_ece=0.2"), ("report", "pilot.db")):
        code, _, err = semece(*command, "--recalibrate", "map.json")
        assert code == 2
        assert "the map was fitted on all 120 questions that this run has" in err


def test_the_facts_are_those_of_the_table(semece, runs):
    facts = json.loads(semece("recalibrate", "pilot.db", "--json", "--score", "sem2", "--method", "isotonic")[1])
    assert (facts["score"], facts["method"], facts["questions"], facts["folds"]) == ("sem2", "isotonic", 120, 10)
    assert [each["name"] for each in facts["effects"]] == ["gap", "ece", "brier", "auroc", "aurc"]
    for each in facts["effects"]:
        assert each["change_low"] <= each["change"] <= each["change_high"]
        assert each["change"] == pytest.approx(each["after"] - each["before"])
    assert "needs about" in semece("recalibrate", "pilot.db", "--method", "isotonic")[1]


def test_a_map_of_all_classes_is_fitted_and_applied(semece, runs):
    facts = json.loads(semece("recalibrate", "pilot.db", "--method", "dirichlet", "-o", "d.json", "--json")[1])
    assert facts["questions"] == 120
    assert facts["effects"][2]["change_high"] < 0
    before, after = (
        json.loads(semece("summary", "new.db", "--json", *more)[1])[0] for more in ((), ("--recalibrate", "d.json"))
    )
    assert after["sem1_ece"] < before["sem1_ece"] / 2
    code, _, err = semece("recalibrate", "pilot.db", "--method", "dirichlet", "--score", "sem2")
    assert code == 2
    assert "its score is sem1; got 'sem2'" in err


def test_a_map_is_deployed_with_numpy_alone(runs):
    code = (
        "import sys\n"
        "for name in ('scipy', 'polars', 'numba', 'matplotlib', 'typer', 'rich', 'openai', 'jinja2', 'filelock'):\n"
        "    sys.modules[name] = None\n"
        "import semece as se\n"
        "print(se.load_recalibration('map.json')([0.5, 1.0]).tolist())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert json.loads(done.stdout) == load_recalibration("map.json")([0.5, 1.0]).tolist(), done.stderr


WRONG = [
    (["recalibrate", "pilot.db", "--score", "x"], "score must be one of 'sem1', 'sem2', 'verbalized'; got 'x'"),
    (["recalibrate", "pilot.db", "--score", "verbalized"], "no question is complete and has Ver"),
    (["recalibrate", "pilot.db", "--method", "magic"], "method must be one of"),
    (["recalibrate", "none.db"], "none.db does not exist"),
    (["summary", "new.db", "--recalibrate", "none.json"], "none.json cannot be read"),
    (["summary", "new.db", "--recalibrate", "pilot.jsonl"], "pilot.jsonl: a recalibration is one JSON object"),
    (
        ["check", "new.db", "--baseline", "pilot.db", "--recalibrate", "map.json"],
        "--recalibrate goes with --max and --min",
    ),
]


def test_what_cannot_be_is_said_in_a_sentence(semece, runs):
    for words, sentence in WRONG:
        code, _, err = semece(*words)
        assert code == 2
        assert sentence in err
        assert "Traceback" not in err


def test_a_map_may_take_the_place_of_a_map_and_of_no_other_file(semece, runs):
    assert semece("recalibrate", "pilot.db", "--score", "sem2", "-o", "map.json")[0] == 0
    assert load_recalibration("map.json").score == "sem2"
    for text in ("my notes", "", Path("map.json").read_text()[:-40]):
        Path("notes.json").write_text(text)
        code, _, err = semece("recalibrate", "pilot.db", "-o", "notes.json")
        assert (code, Path("notes.json").read_text()) == (2, text)
        assert (
            err == "semece: notes.json is there and is not a map of 'semece recalibrate'; name another file with -o\n"
        )


def test_what_the_page_shows_runs(semece, runs):
    page = (Path(__file__).parents[2] / "docs" / "recalibration.md").read_text()
    commands = re.findall(r"^    semece (.*)$", page, flags=re.MULTILINE)
    blocks = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    assert len(commands) >= 3
    assert blocks
    for command in commands:
        assert semece(*shlex.split(command))[0] == 0, command
    for block in blocks:
        exec(compile(block, "recalibration.md", "exec"), {})


def test_refusals_are_no_part_of_a_map_and_a_reversed_order_is_no_help(semece):
    rng = np.random.default_rng(0)
    with Path("some.jsonl").open("w") as file:
        for number in range(180):
            right = int(rng.random() < 0.8)
            grade = "not_attempted" if number % 3 == 0 else "correct" if right else "incorrect"
            labels = [0] * 5 if number % 3 == 0 else [0, 0, 0, 1, 2] if number % 2 else [0, 0, 0, 0, 1]
            grades = {str(k): "incorrect" for k in labels} | {"0": grade}
            line = {"question": f"Question {number}?", "answers": ["abc"[k] for k in labels], "labels": labels}
            file.write(json.dumps(line | {"grades": grades}) + "\n")
    assert semece("score", "some.jsonl", "-j", "given", "-o", "some.db")[0] == 0
    code, out, _ = semece("recalibrate", "some.db", "-o", "map.json")
    assert code == 0
    assert "Sem1, platt, 120 questions: " in out.splitlines()[0]
    assert "Recalibration helps" not in out.splitlines()[0]
    assert out.splitlines()[1].startswith("Left out: 60 questions whose most frequent answer is none.")


def test_a_damaged_map_is_refused(semece, runs):
    facts = json.loads(Path("map.json").read_text())
    for change in ({"clip": 5}, {"rows": -4}, {"parameters": facts["parameters"] | {"slope": -1e308}}):
        Path("bad.json").write_text(json.dumps(facts | change))
        code, _, err = semece("summary", "new.db", "--recalibrate", "bad.json")
        assert (code, "is missing or damaged" in err) == (2, True), err


def test_a_question_that_is_wrapped_or_typed_otherwise_counts_as_seen(semece, runs):
    ways = ("Question\n   {}?", "QUESTION {}?", "Question\u00a0{}?", "Ques\u00adtion {}?\u200b", "Question {}\uff1f")
    with Path("again.jsonl").open("w") as file:
        for number in range(200):
            text = ways[number % len(ways)].format(number)
            line = {"id": f"other {number}", "question": text, "references": ["a" if number % 2 else "b"]}
            file.write(json.dumps(line | {"answers": ["a", "a", "a", "b"]}) + "\n")
    assert semece("score", "again.jsonl", "-j", "exact", "-o", "again.db")[0] == 0
    (facts,) = json.loads(semece("summary", "again.db", "--recalibrate", "map.json", "--json")[1])
    assert facts["questions"] == 80
    assert "left out: 120 questions that the map was fitted on" in facts["recalibration"]


def planted(path):
    """Every question twice, wrapped otherwise; whether it is right is drawn by lot, and its score is its own."""
    rng = np.random.default_rng(4)
    with Path(path).open("w") as file:
        for number in range(20):
            right, value = bool(rng.random() < 0.5), float(rng.random())
            for text in (f"Which of {number}?", f"which\n of {number}?"):
                line = {"question": text, "references": ["a" if right else "z"], "scores": {"lot": value}}
                file.write(json.dumps(line | {"answers": ["a", "a", "a", "b"]}) + "\n")


def test_a_planted_leak_is_found(semece, monkeypatch):
    from semece.runs import recalibrated

    planted("leak.jsonl")
    assert semece("score", "leak.jsonl", "-j", "exact", "-o", "leak.db")[0] == 0

    def after():
        out = semece("recalibrate", "leak.db", "--score", "lot", "--method", "histogram", "--json")[1]
        facts = json.loads(out)
        return facts["questions"], {each["name"]: each["after"] for each in facts["effects"]}["auroc"]

    kept_together = after()
    monkeypatch.setattr(recalibrated, "identity_of", lambda view: view.question.text)
    torn_apart = after()
    assert (kept_together[0], torn_apart[0]) == (20, 40)
    assert torn_apart[1] > 0.6 > kept_together[1]


def test_a_map_says_what_it_was_fitted_on_and_warns_where_a_run_differs(semece, runs):
    facts = json.loads(Path("map.json").read_text())
    assert facts["format"] == "semece recalibration 2"
    judge = facts["fitted_on"]["judge"]
    assert judge.startswith("exact")
    assert facts["fitted_on"] == {"model": "samples", "dataset": "pilot", "judge": judge, "answers": "10"}
    assert semece("score", "pilot.jsonl", "--name", "large", "--dataset", "mine", "-o", "named.db")[0] == 0
    assert semece("recalibrate", "named.db", "-o", "named.json")[0] == 0
    named = json.loads(Path("named.json").read_text())["fitted_on"]
    assert (named["model"], named["dataset"]) == ("large", "mine")
    assert (facts["score"], facts["rows"], len(facts["questions"])) == ("sem1", 120, 120)
    warning = "the map was fitted on other runs, and may not hold here: dataset pilot (here new)"
    assert f"Noticed: {warning}." in semece("summary", "new.db", "--recalibrate", "map.json")[1]
    abstain = ("abstain", "new.db", "--target-accuracy", "0.5", "--recalibrate", "map.json")
    assert f"\n{warning}.\n" in semece(*abstain)[1]
    assert warning in json.loads(semece(*abstain, "--json")[1])["notes"]
    code, out, err = semece("check", "new.db", "--max", "sem1_ece=0.3", "--recalibrate", "map.json")
    assert (code, err) == (0, f"semece: {warning}\n")
    assert [line.split()[0] for line in out.splitlines()[2:7]] == ["Confidence", "ECE", "Brier", "AUROC", "AURC"]
    Path("same.json").write_text(json.dumps(facts | {"fitted_on": {"dataset": "new", "answers": "10"}}))
    assert semece("check", "new.db", "--max", "sem1_ece=0.3", "--recalibrate", "same.json")[2] == ""
    Path("other.json").write_text(json.dumps(facts | {"fitted_on": facts["fitted_on"] | {"model": "x", "judge": "y"}}))
    err = semece("check", "new.db", "--max", "sem1_ece=0.3", "--recalibrate", "other.json")[2]
    assert "model x (here samples), dataset pilot (here new), judge y (here exact" in err
    assert err.count("\n") == 1


def test_an_audit_that_does_not_correct_the_map_is_named(semece, runs):
    said = "The map is fitted to the judge's verdicts: the audit of this run does not correct them."
    assert said not in semece("recalibrate", "pilot.db")[1]
    with Run("pilot.db") as run:
        answers = answers_of(run.question_views())
        rows = tuple(AuditedRow(each.question.id, each.answer, 0, 1.0) for each in answers[:60])
        run.keep_audit(KeptAudit("one", ("audit-1.csv",), "none", (len(answers),), rows))
    assert said in semece("recalibrate", "pilot.db")[1].splitlines()
    assert said in json.loads(semece("recalibrate", "pilot.db", "--json")[1])["notes"]


def test_a_map_of_the_first_format_is_read_and_knows_its_questions(semece, runs):
    facts = json.loads(Path("map.json").read_text())
    marks = [question_mark(f"Question {number}?") for number in range(120)]
    first = {k: v for k, v in facts.items() if k not in {"ends", "fitted_on"}} | {"format": "semece recalibration 1"}
    Path("first.json").write_text(json.dumps(first | {"questions": sorted(marks)}))
    (new,) = json.loads(semece("summary", "new.db", "--recalibrate", "first.json", "--json")[1])
    assert new["questions"] == 80
    assert load_recalibration("first.json").ends == (0, 1)


def test_a_score_that_only_ranks_becomes_a_confidence(semece):
    rng = np.random.default_rng(8)
    for name, first, last in (("a", 0, 150), ("b", 150, 260)):
        samples(f"{name}.jsonl", first, last)
        lines = [json.loads(line) for line in Path(f"{name}.jsonl").read_text().splitlines()]
        for line in lines:
            line["scores"] = {"entropy": 3 - line["answers"].count("yes") / 5 + float(rng.random()) / 2}
        Path(f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        assert semece("score", f"{name}.jsonl", "-j", "exact", "-o", f"{name}.db", "--score", "entropy=lower")[0] == 0
    code, out, _ = semece("recalibrate", "a.db", "--score", "entropy", "-o", "e.json")
    assert code == 0
    assert out.splitlines()[0].startswith("entropy, platt, 150 questions: A score that only ranked the answers is now")
    assert out.splitlines()[3].split() == ["Confidence", "−", "accuracy", "—", out.splitlines()[3].split()[4], "—"]
    (plain,) = json.loads(semece("summary", "b.db", "--json")[1])
    (now,) = json.loads(semece("summary", "b.db", "--recalibrate", "e.json", "--json")[1])
    assert "entropy_ece" not in plain
    assert now["entropy_ece"] < 0.2
    assert now["entropy_auroc"] == pytest.approx(plain["entropy_auroc"])
    repair = load_recalibration("e.json")
    assert repair.ends == (0, -1)
    assert repair([1.0])[0] > repair([2.5])[0]
    table = semece("table", "abstention", "b.db", "--recalibrate", "e.json", "-f", "json")[1]
    assert "entropy" in {row["score"] for row in json.loads(table)}
    assert semece("recalibrate", "a.db", "--score", "entropy", "--method", "beta")[0] == 2
    assert semece("score", "b.jsonl", "-j", "exact", "-o", "b.db", "--score", "entropy=0..5")[0] == 0
    code, _, err = semece("summary", "b.db", "--recalibrate", "e.json")
    assert code == 2
    assert "the map takes entropy as lower, and the kind of the run's is 0..5" in err
