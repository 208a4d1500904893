"""Labelled answers as a table: the numbers are those of a run file, and bad rows are named."""

import json

import numpy as np
import polars as pl
import pytest

from semece.errors import ParseError, SemeceError
from semece.formats import labelled_answers
from semece.runs import Run, SamplesReading, open_run, score, summary_table, tabulate

WORDS = ("Paris", "Rome", "Bonn")


@pytest.fixture(scope="module")
def questions():
    rng = np.random.default_rng(2)
    drawn = [rng.choice(3, size=int(rng.integers(2, 7)), p=[0.6, 0.3, 0.1]).tolist() for _ in range(250)]
    right = [[bool(x) for x in rng.random(3) < (0.6, 0.2, 0.1)] for _ in drawn]
    stated = [[round(float(x), 1) for x in rng.random(len(labels))] for labels in drawn]
    return [{"labels": a, "correct": b, "confidences": c} for a, b, c in zip(drawn, right, stated, strict=True)]


def as_samples(questions, path):
    """The same questions as our own rows with texts."""
    rows = (
        {
            "question": f"What is {i}?",
            "references": ["Paris"],
            "answers": [WORDS[k] for k in q["labels"]],
            "labels": q["labels"],
            "grades": {str(k): "correct" if q["correct"][k] else "incorrect" for k in set(q["labels"])},
            "confidences": q["confidences"],
        }
        for i, q in enumerate(questions)
    )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


NOT_THE_SAME = {"run", "overturning_verdicts", "graded_classes"}


def assert_same_numbers(one, other):
    (first,), (second,) = (summary_table([run]).to_dicts() for run in (one, other))
    assert first.keys() == second.keys()
    for name in first.keys() - NOT_THE_SAME:
        assert first[name] == pytest.approx(second[name], abs=1e-12), name


def test_a_table_has_the_numbers_of_the_run_file(questions, tmp_path):
    pl.DataFrame(questions).write_parquet(tmp_path / "labels.parquet")
    tabulate([tmp_path / "labels.parquet"], tmp_path / "table.parquet")
    score([as_samples(questions, tmp_path / "a.jsonl")], tmp_path / "a.db", judge="given")
    with Run(tmp_path / "a.db") as run:
        assert_same_numbers(run, open_run(tmp_path / "table.parquet"))


def test_counts_folders_and_any_piece_size_give_the_same_table(questions, tmp_path, monkeypatch):
    frame = pl.DataFrame(questions).drop("confidences")
    (tmp_path / "parts").mkdir()
    for k in range(3):
        frame[k::3].write_parquet(tmp_path / "parts" / f"{k}.parquet")
    counts = [[q["labels"].count(k) for k in range(3)] for q in questions]
    frame.select("correct").with_columns(counts=pl.Series(counts)).write_parquet(tmp_path / "counts.parquet")
    tabulate([tmp_path / "parts"], tmp_path / "one.parquet")
    tabulate([tmp_path / "counts.parquet"], tmp_path / "other.parquet")
    monkeypatch.setattr("semece.formats.labelled_parquet.labelled_answers.__kwdefaults__", {"at_once": 7})
    tabulate([tmp_path / "parts"], tmp_path / "small.parquet")
    tables = [pl.read_parquet(tmp_path / f"{name}.parquet") for name in ("one", "other", "small")]
    assert tables[0].equals(tables[1])
    assert tables[0].equals(tables[2])
    assert tables[0]["weight"].sum() == 250


@pytest.mark.parametrize(("column", "row"), [("labels", [0] * 10), ("counts", [6, 4])])
def test_a_piece_has_about_so_many_answers(column, row, tmp_path):
    pl.DataFrame({column: [row] * 40, "correct": [[True, False][: len(set(row))]] * 40}).write_parquet(
        tmp_path / "a.parquet"
    )
    pieces = list(labelled_answers(tmp_path / "a.parquet", at_once=100))
    assert [piece.first for piece in pieces] == [0, 10, 20, 30]


def test_texts_are_judged_piece_by_piece(questions, tmp_path, monkeypatch):
    monkeypatch.setattr("semece.runs.tabled_runs._AT_ONCE", 40)
    samples = as_samples(questions, tmp_path / "a.jsonl")
    for judge in ("exact", "given"):
        tabulate([samples], tmp_path / f"{judge}.parquet", judge=judge)
        score([samples], tmp_path / f"{judge}.db", judge=judge)
        with Run(tmp_path / f"{judge}.db") as run:
            assert_same_numbers(run, open_run(tmp_path / f"{judge}.parquet"))


def test_failed_ungraded_and_refused_answers_are_what_they_are(tmp_path):
    rows = [
        {"labels": [0, 0, None], "grades": ["correct"]},
        {"labels": [0, 1, 1], "grades": ["correct", None]},
        {"labels": [0, 0, 1], "grades": ["not_attempted", "incorrect"]},
        {"labels": [0], "grades": ["incorrect"]},
        {"labels": [], "grades": []},
    ]
    pl.DataFrame(rows).write_parquet(tmp_path / "a.parquet")
    tabulate([tmp_path / "a.parquet"], tmp_path / "t.parquet")
    run = open_run(tmp_path / "t.parquet")
    (row,) = summary_table([run]).to_dicts()
    assert (row["questions"], row["ungraded"], row["too_few"], row["refused"]) == (2, 1, 2, 1)
    assert run.counts == {"parsed": 9, "empty": 1, "missing": 0}


BAD = {
    "text labels": ({"labels": [["a"]], "correct": [[True]]}, "row 0: labels must be whole numbers; got String"),
    "binary labels": ({"labels": [[b"a"]], "correct": [[True]]}, "row 0: labels must be whole numbers; got Binary"),
    "binary counts": ({"counts": [[b"a"]], "correct": [[True]]}, "row 0: counts must be whole numbers; got Binary"),
    "negative": (
        {"labels": [[0], [0, -2]], "correct": [[1], [1]]},
        "row 1: labels must each be a number of at least 0",
    ),
    "grade": (
        {"labels": [[0], [0]], "correct": [[1.0], [0.5]]},
        "row 1: correct must each be true, false, 1, 0, .*0.5",
    ),
    "word": ({"labels": [[0]], "grades": [["right"]]}, "row 0: grades must each be .* got 'right'"),
    "no grades": ({"labels": [[0]], "x": [1]}, "must have a column grades or correct; got labels, x"),
    "no list": ({"labels": [0], "correct": [[1]]}, "the column labels must hold lists; got Int64"),
    "null count": ({"counts": [[1, None]], "correct": [[1, 0]]}, "row 0: counts must each be a number of at least 0"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_refused_with_its_row(name, tmp_path):
    columns, said = BAD[name]
    pl.DataFrame(columns).write_parquet(tmp_path / "bad.parquet")
    with pytest.raises(ParseError, match=said):
        list(labelled_answers(tmp_path / "bad.parquet"))


def test_a_label_without_a_grade_names_its_question(tmp_path):
    pl.DataFrame({"labels": [[0], [0, 3]], "correct": [[True], [True, False]]}).write_parquet(tmp_path / "bad.parquet")
    with pytest.raises(ParseError, match=r"rows from 0: labels of question 1 must be below its number of grades \(2\)"):
        tabulate([tmp_path / "bad.parquet"], tmp_path / "t.parquet")
    assert not (tmp_path / "t.parquet").exists()


def test_what_needs_the_questions_says_so(questions, tmp_path):
    pl.DataFrame(questions).write_parquet(tmp_path / "a.parquet")
    tabulate([tmp_path / "a.parquet"], tmp_path / "t.parquet")
    run = open_run(tmp_path / "t.parquet")
    for ask in (run.question_views, lambda: run.question("1")):
        with pytest.raises(SemeceError, match="table of counts without questions"):
            ask()
    with pytest.raises(SemeceError, match="another judge or a recalibration needs the run file"):
        open_run(tmp_path / "t.parquet", judge="rules")
    with pytest.raises(ParseError, match="takes no --questions, --scorer or --score"):
        tabulate(
            [as_samples(questions, tmp_path / "a.jsonl")], tmp_path / "t.parquet", reading=SamplesReading(scorer="x")
        )


def test_score_and_summary_take_labelled_parquet(questions, tmp_path, semece):
    pl.DataFrame(questions).write_parquet(tmp_path / "labels.parquet")
    code, out, _ = semece("score", "labels.parquet")
    assert (code, out.splitlines()[-1]) == (0, "runs/labels.parquet")
    code, again, _ = semece("summary", "runs/labels.parquet")
    assert code == 0
    assert again.strip() in out
    code, _, err = semece("show", "runs/labels.parquet", "3")
    assert (code, err.count("\n")) == (2, 1)
    assert "needs the run file" in err


def test_labelled_answers_are_never_a_run_file_and_count_once(questions, tmp_path, semece):
    pl.DataFrame(questions).write_parquet(tmp_path / "labels.parquet")
    code, _, err = semece("score", "labels.parquet", "-o", "x.db")
    assert (code, "counted into a table: -o X.parquet; got x.db" in err) == (2, True)
    code, _, err = semece("score", "labels.parquet", "./labels.parquet", "-o", "t.parquet")
    assert (code, err) == (2, "semece: labels.parquet is named twice\n")
    assert {path.name for path in tmp_path.iterdir()} == {"labels.parquet"}


def test_no_output_takes_the_place_of_a_run_file(semece, tmp_path):
    assert semece("run", "-m", "fake/?pmf=1", "-d", "starter", "-n", "2", "-j", "rules", "-o", "a.db")[0] == 0
    before = (tmp_path / "a.db").read_bytes()
    for words in (["export", "a.db", "--to", "csv"], ["table", "ece", "a.db"]):
        code, _, err = semece(*words, "-o", "a.db")
        assert (code, err) == (
            2,
            "semece: a.db is a run file or another database, and stays: name another file with -o\n",
        )
    assert (tmp_path / "a.db").read_bytes() == before


@pytest.mark.parametrize("name", ["ece", "semx", "abstention", "margin", "rate"])
def test_a_table_of_the_paper_is_that_of_the_run_file(name, questions, tmp_path):
    from semece.show.tables import paper_table

    alike = [q for q in questions if len(q["labels"]) >= 5] * 3
    pl.DataFrame(alike).write_parquet(tmp_path / "labels.parquet")
    tabulate([tmp_path / "labels.parquet"], tmp_path / "table.parquet")
    score([as_samples(alike, tmp_path / "a.jsonl")], tmp_path / "a.db", judge="given")
    with Run(tmp_path / "a.db") as run:
        expected = paper_table(name, [run])
    found = paper_table(name, [open_run(tmp_path / "table.parquet")])
    resampled = [column for column in expected.columns if column.endswith(("_low", "_high")) and name == "rate"]
    drop = ["dataset", "model", *resampled]
    for one, other in zip(expected.drop(drop).rows(), found.drop(drop).rows(), strict=True):
        assert one == pytest.approx(other, abs=1e-9)


def test_figures_and_thresholds_are_of_the_questions_laid_out(questions, tmp_path, semece, monkeypatch):
    pl.DataFrame(questions).write_parquet(tmp_path / "labels.parquet")
    tabulate([tmp_path / "labels.parquet"], tmp_path / "t.parquet")
    code, out, err = semece("abstain", "t.parquet", "--target-accuracy", "0.7", "--figure", "risk.svg")
    assert (code, "250 questions asked" in out) == (0, True), err
    code, _, err = semece("abstain", "t.parquet", "--by", "topic")
    assert (code, "needs the run file" in err) == (2, True)
    monkeypatch.setattr("semece.runs.tabled_runs.MOST_LAID_OUT", 249)
    code, _, err = semece("table", "ece", "t.parquet")
    assert (code, "t.parquet counts 250 questions, and tables and figures are of at most 249" in err) == (2, True)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("counts", [[-1, 2]]),
        ("counts", [[10**12, 2]]),
        ("counts", "x"),
        ("grades", [[1]]),
        ("grades", [[77, 1]]),
        ("grades", [[None, 1]]),
        ("weight", -5),
        ("group", None),
        ("stated_sum", float("nan")),
        ("failed", "x"),
    ],
)
def test_a_table_that_was_changed_is_refused(semece, tmp_path, name, value):
    """By one sentence: what stands in it would be an error of the mathematics, or a wrong number."""
    source, path = tmp_path / "labels.parquet", tmp_path / "table.parquet"
    pl.DataFrame({"labels": [[0, 0], [0, 1]], "grades": [[1], [1, 0]]}).write_parquet(source)
    tabulate([source], path)
    frame, about = pl.read_parquet(path), pl.read_parquet_metadata(path)["semece"]
    changed = pl.Series(name, value * len(frame)) if isinstance(value, list) else pl.lit(value).alias(name)
    for wrong in (frame.with_columns(changed), frame.drop(name)):
        wrong.write_parquet(path, metadata={"semece": about})
        code, out, err = semece("summary", path)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "table.parquet is not what 'semece score -o X.parquet' wrote" in err
