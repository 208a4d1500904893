"""Several runs on the same questions: what changes, who is ahead, and what cannot be compared."""

import json

import numpy as np
import pytest

from semece.compare.standings import compare_over_time, compare_runs, reference_note
from semece.errors import SemeceError
from semece.runs.run import Run, names_of
from semece.runs.scored_samples import score
from semece.stats.uncertainty.bootstrap import paired_bootstrap
from semece.stats.uncertainty.drift import change_at_look
from semece.stats.uncertainty.held_out_errors import held_out_gap


def sampled(folder, name, *, sure, right, questions=60, n=10, first=0, text="Question"):
    """Make a run of samples: `sure` of n answers agree, the first `right` questions are right."""
    folder.mkdir(exist_ok=True)
    labels = [0] * sure + list(range(1, n - sure + 1))
    rows = [
        {
            "id": f"q{i:02d}",
            "question": f"{text} {i}?",
            "references": ["a"],
            "answers": [f"a{label}" for label in labels],
            "labels": labels,
            "grades": {str(label): "correct" if i < right and label == 0 else "incorrect" for label in set(labels)},
        }
        for i in range(first, first + questions)
    ]
    source, path = folder / "questions.jsonl", folder / f"{name}.db"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    score([source], path)
    return path


@pytest.fixture
def pair(tmp_path):
    return sampled(tmp_path, "timid", sure=5, right=30), sampled(tmp_path, "bold", sure=9, right=30)


def opened(paths):
    return [Run(path) for path in paths]


def test_changes_are_paired_by_question_and_ranked(pair):
    found = compare_runs(opened(pair))
    assert (found.runs, found.questions) == (("timid", "bold"), 60)
    rows = {row["quantity"]: row for row in found.changes.to_dicts()}
    assert (rows["sem1"]["first"], rows["sem1"]["second"]) == pytest.approx((0.5, 0.9))
    assert rows["accuracy"]["change"] == 0
    assert -0.04 < rows["accuracy"]["change_low"] < 0 < rows["accuracy"]["change_high"] < 0.04
    assert rows["sem1_ece"]["change"] == pytest.approx(0.4)
    ranking = found.ranking.filter(quantity="sem1_ece").select("run", "value", "debiased", "rank", "rank_high").rows()
    assert ranking == [("timid", 0.0, 0.0, 1, 1), ("bold", pytest.approx(0.4), pytest.approx(0.4, abs=0.01), 2, 2)]


def test_the_interval_of_a_change_is_at_least_that_of_the_paired_bootstrap(pair):
    runs = opened(pair)
    row = compare_runs(runs).changes.filter(quantity="sem1_ece").to_dicts()[0]
    first, second = (run.pool() for run in runs)
    expected = paired_bootstrap(second.sem1, first.sem1, first.correct).overall.ece_difference
    assert row["change"] == pytest.approx(expected.value)
    assert row["change_low"] <= expected.low + 0.03
    assert row["change_high"] >= expected.high - 0.03


def test_only_questions_that_are_complete_everywhere_are_compared(tmp_path):
    paths = [
        sampled(tmp_path / "a", "a", sure=5, right=30),
        sampled(tmp_path / "b", "b", sure=9, right=30, first=20, questions=50),
    ]
    found = compare_runs(opened(paths))
    assert (found.questions, found.left_out) == (40, {"a": 20, "b": 10})
    assert found.changes.filter(quantity="accuracy")["first"].to_list() == [0.25]


def test_order_of_the_questions_does_not_matter(tmp_path, pair):
    path = sampled(tmp_path / "other", "reversed", sure=9, right=30)
    lines = (tmp_path / "other" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    (tmp_path / "other" / "questions.jsonl").write_text("\n".join(lines[::-1]), encoding="utf-8")
    path.unlink()
    score([tmp_path / "other" / "questions.jsonl"], path)
    found, other = compare_runs(opened(pair)), compare_runs(opened([pair[0], path]))
    assert found.changes.drop("run").rows() == other.changes.drop("run").rows()


def test_runs_are_named_by_model_then_by_file_then_by_path(tmp_path):
    paths = [sampled(tmp_path / name, "run", sure=5, right=3, questions=4) for name in ("a", "b")]
    assert names_of(opened(paths)) == [str(path) for path in paths]
    assert names_of(opened(paths[:1])) == ["samples"]


def test_what_cannot_be_compared_is_refused(tmp_path, pair):
    other_n = sampled(tmp_path / "n", "n", sure=5, right=3, n=6)
    other_text = sampled(tmp_path / "text", "text", sure=5, right=3, text="Another")
    apart = sampled(tmp_path / "apart", "apart", sure=5, right=3, first=70, questions=5)
    for path, sentence in (
        (other_n, "as many responses per question; got 10 in .*timid.db and 6 in .*n.db"),
        (other_text, "question 'q00' is 'Question 0\\?' in .*timid.db and 'Another 0\\?' in .*text.db"),
        (apart, "no question is complete in all of .*timid.db, .*apart.db"),
    ):
        with pytest.raises(SemeceError, match=sentence):
            compare_runs(opened([pair[0], path]))
    with pytest.raises(SemeceError, match=r"a run cannot be compared with itself; timid\.db is named 2 times"):
        compare_runs(opened([pair[0], pair[0]]))
    with pytest.raises(SemeceError, match="at least two runs"):
        compare_runs(opened(pair[:1]))


def test_references_that_differ_are_said_once(semece, tmp_path, pair):
    other = sampled(tmp_path / "other", "other", sure=9, right=30)
    source = tmp_path / "other" / "questions.jsonl"
    rows = [json.loads(line) for line in source.read_text(encoding="utf-8").splitlines()]
    for row in rows[3:5]:
        row["references"] = ["a", "the a"]
    rows[9]["references"] *= 2
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    other.unlink()
    score([source], other)
    note = "The references of 2 questions differ between the runs (the first is 'q03'): part of a change may be theirs."
    assert reference_note(opened([pair[0], other])) == note
    assert reference_note(opened(pair)) is None
    for words in ((), ("--over-time",)):
        assert semece("compare", *words, pair[0], other)[1].count(note) == 1
        assert json.loads(semece("compare", *words, pair[0], other, "--json")[1])["notes"] == [note]
        assert json.loads(semece("compare", *words, *pair, "--json")[1])["notes"] == []
    assert semece("check", other, "--baseline", pair[0])[2].count(note) == 1


STUDY = """
study = { name = "s", n = 10, output = "runs" }
judge = { judge = "rules" }
models = [{ model = "fake/a", name = "timid" }, { model = "fake/b", name = "bold" }, { model = "fake/c", name = "c" }]
datasets = [{ dataset = "simpleqa" }, { dataset = "popqa" }, { dataset = "hle" }]
"""


@pytest.fixture
def grid(tmp_path):
    """Two runs of a dataset that differ, two of another that differ otherwise, one of a third."""
    (tmp_path / "s.toml").write_text(STUDY, encoding="utf-8")
    sampled(tmp_path / "runs", "simpleqa--timid", sure=5, right=30)
    sampled(tmp_path / "runs", "simpleqa--bold", sure=9, right=30)
    sampled(tmp_path / "runs", "popqa--timid", sure=5, right=5, questions=40, text="Other question")
    sampled(tmp_path / "runs", "popqa--bold", sure=9, right=38, questions=40, text="Other question")
    sampled(tmp_path / "runs", "hle--timid", sure=5, right=5)
    return tmp_path / "s.toml"


def test_a_study_is_compared_within_each_dataset(semece, grid):
    code, out, err = semece("compare", grid, "--json")
    found = json.loads(out)
    assert code == 0
    assert found["missing"] == ["hle: nothing to compare, 1 of 3 runs is there"]
    assert err == f"semece: {found['missing'][0]}\n"
    assert list(found["datasets"]) == ["simpleqa", "popqa"]
    for dataset, questions in (("simpleqa", 60), ("popqa", 40)):
        runs = opened([grid.parent / "runs" / f"{dataset}--{name}.db" for name in ("timid", "bold")])
        alone, mine = compare_runs(runs), found["datasets"][dataset]
        assert (mine["runs"], mine["questions"]) == (["timid", "bold"], questions)
        assert np.allclose([row["change"] for row in mine["changes"]], alone.changes["change"].to_list())


def test_a_study_is_compared_for_people(semece, grid):
    out = semece("compare", grid)[1]
    first, second = out[: out.index("popqa\n")], out[out.index("popqa\n") :]
    assert first.startswith("simpleqa\n\n60 questions complete in all of 2 runs")
    assert "Accuracy: timid and bold cannot be told apart." in first
    assert "Accuracy: bold is ahead" in second


def test_a_study_without_two_runs_of_a_dataset_is_refused(semece, grid):
    for path in (grid.parent / "runs").glob("*--bold.db"):
        path.unlink()
    code, out, err = semece("compare", grid)
    assert (code, out) == (2, "")
    assert "no two runs of the study can be compared: simpleqa: nothing to compare, 1 of 3 runs is there" in err


def test_the_command_says_who_is_ahead_and_how_surely(semece, pair):
    code, out, err = semece("compare", *pair)
    assert (code, err) == (0, "")
    assert "60 questions complete in all of 2 runs" in out
    assert "Sem1-ECE: timid is ahead (0.00 against 0.40 of bold; over 99 % sure)." in out
    assert "Accuracy: timid and bold cannot be told apart." in out
    assert "From timid to bold" in out
    changed = [line.split() for line in out[out.index("From timid") :].splitlines() if line.startswith("Sem1-ECE")]
    assert changed[0][1:5] == ["60", "0.00", "0.40", "0.40"]


def test_the_command_gives_the_same_as_json(semece, pair):
    code, out, _ = semece("compare", *pair, "--json")
    found = json.loads(out)
    expected = compare_runs(opened(pair))
    assert code == 0
    assert (found["runs"], found["questions"]) == (list(expected.runs), 60)
    assert found["ranking"] == expected.ranking.to_dicts()
    assert np.allclose([row["change"] for row in found["changes"]], expected.changes["change"].to_list())


def test_the_command_says_that_judges_differ(semece, pair, tmp_path):
    source = tmp_path / "questions.jsonl"
    rows = [json.loads(line) for line in source.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        del row["labels"], row["grades"]
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    score([source], tmp_path / "ruled.db")
    code, out, _ = semece("compare", pair[0], tmp_path / "ruled.db")
    assert code == 0
    assert "Judged by different judges: given, rules." in out


def test_over_time_each_look_is_held_against_the_baseline(tmp_path):
    runs = opened(
        [
            sampled(tmp_path / "0", "base", sure=9, right=40),
            sampled(tmp_path / "1", "same", sure=9, right=40, first=10),
            sampled(tmp_path / "2", "worse", sure=9, right=10),
        ]
    )
    found = compare_over_time(runs)
    assert (found.runs, found.left_out) == (("base", "same", "worse"), {"same": 20, "worse": 0})
    accuracy = found.looks.filter(quantity="accuracy")
    assert accuracy.select("look", "run", "questions", "alarm").rows() == [
        (1, "same", 50, False),
        (2, "worse", 60, True),
    ]
    expected = change_at_look([-1.0] * 30 + [0.0] * 30, 2, alarms=0.025)
    assert accuracy.select("change", "change_low", "change_high").row(1) == pytest.approx(tuple(expected))
    gap = found.looks.filter(quantity="held_out_gap").row(1, named=True)
    before, after = (held_out_gap(run.classes().residuals()).value for run in (runs[0], runs[2]))
    assert (gap["first"], gap["second"]) == pytest.approx((before, after))
    assert gap["change"] == pytest.approx(after - before)


def test_over_time_too_few_questions_have_no_interval_and_no_alarm(tmp_path):
    runs = opened([sampled(tmp_path / name, name, sure=9, right=r, questions=8) for name, r in (("a", 8), ("b", 0))])
    row = compare_over_time(runs).looks.row(0, named=True)
    assert (row["change"], row["change_low"], row["alarm"]) == (-1.0, None, False)
    assert row["reason"] == "8 questions are too few for an interval at look 1"
    with pytest.raises(SemeceError, match="at least two runs are needed, the baseline first and then each look; got 1"):
        compare_over_time(runs[:1])


def test_a_question_that_is_refused_at_one_look_is_left_out_of_the_gap_there_alone(tmp_path):
    paths = [sampled(tmp_path / name, name, sure=9, right=30) for name in ("a", "b")]
    source = tmp_path / "b" / "questions.jsonl"
    rows = [json.loads(line) for line in source.read_text().splitlines()]
    rows[0]["grades"] = dict.fromkeys(rows[0]["grades"], "not_attempted")
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    score([source], tmp_path / "b" / "refusing.db")
    found = compare_over_time(opened([paths[0], tmp_path / "b" / "refusing.db"])).looks
    assert found["questions"].to_list() == [60, 59]


def test_the_command_says_at_which_look_a_model_has_changed(semece, tmp_path):
    base = sampled(tmp_path / "0", "base", sure=9, right=40)
    later = sampled(tmp_path / "1", "later", sure=9, right=10)
    code, out, _ = semece("compare", "--over-time", base, later)
    assert code == 0
    lines = out.splitlines()
    assert lines[0].startswith("Accuracy: changed since base: -0.50 [-0.7")
    assert lines[0].endswith("at look 1 (later), the first of 1 alarm.")
    assert lines[1].startswith("Held-out gap: changed since base: +0.50")
    assert "at most 5 of 100 such series" in lines[-1]
    looks = json.loads(semece("compare", "--over-time", base, later, "--json")[1])["looks"]
    assert [(row["quantity"], row["alarm"]) for row in looks] == [("accuracy", True), ("held_out_gap", True)]
    code, _, err = semece("compare", "--over-time", base, "--judges", "rules", "exact")
    assert (code, err) == (2, "semece: --over-time compares runs and --judges judges of one run; give one of them\n")
