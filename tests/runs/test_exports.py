"""Samples of a run, written and scored again, are the same run."""

import json
import tempfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from semece.runs.exports import export
from semece.runs.run import Run
from semece.runs.scored_samples import score

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
numbers = st.floats(0, 1).map(lambda value: round(value, 3))
answers = st.one_of(st.sampled_from(["Paris", "paris.", "Rome", "=1+1", "", "I don't know", "5", '["a"]']), texts)
metadata = st.dictionaries(
    st.sampled_from(["topic", "level", "more", "kept"]),
    st.one_of(texts, st.integers(-9, 9), st.booleans(), st.none(), st.lists(st.integers(0, 3), max_size=2)),
    max_size=3,
)


@st.composite
def questions(draw, place):
    """A question with answers of any kind, classes, verdicts of some classes, confidences and a score."""
    n = draw(st.integers(1, 6))
    labels = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    order = list(dict.fromkeys(labels))
    graded = st.sampled_from(["correct", "incorrect", "not_attempted", None])
    return {
        **draw(metadata),
        "id": f"q{place}",
        "question": f"{draw(texts)} {place}?",
        "references": draw(st.lists(texts.filter(str.strip), max_size=2)),
        "answers": draw(st.lists(answers, min_size=n, max_size=n)),
        "confidences": draw(st.lists(st.none() | numbers, min_size=n, max_size=n)),
        "labels": [order.index(label) for label in labels],
        "grades": {str(label): draw(graded) for label in range(len(order))},
        "scores": {"p_true": draw(st.lists(st.none() | numbers, min_size=n, max_size=n))},
    }


runs = st.integers(1, 6).flatmap(lambda size: st.tuples(*map(questions, range(size))))


def rescored(run, folder, form):
    path, again = folder / f"samples.{form}", folder / f"{form}.db"
    notes = export(run, output=path)
    score([path], again)
    return notes, again


def one_of(place, n, score):
    """A question with equal answers, of which each has the score."""
    answers = {"answers": ["Paris"] * n, "labels": [0] * n, "confidences": [None] * n, "grades": {"0": "correct"}}
    return (
        {"id": f"q{place}", "question": f"{place}?", "references": []} | answers | {"scores": {"p_true": [score] * n}}
    )


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
@example(rows=(one_of(0, 1, 0.0), one_of(1, 2, None)))
@settings(max_examples=8)
@given(rows=runs)
def test_samples_scored_again_give_the_same_numbers(form, rows):
    """Every number of every question that enters, what questions are called, and their metadata."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, first = folder / "rows.jsonl", folder / "first.db"
        source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        score([source], first)
        with Run(first) as run:
            entering = run.estimates().filter(pl.col("status").is_in(["complete", "ungraded"]))
            if not entering.height:
                return
            notes, path = rescored(run, folder, form)
            with Run(path) as again:
                found = again.estimates()
                lost = [name for name in entering.columns if name not in found.columns]  # of left out questions alone
                assert all(entering[name].null_count() == entering.height for name in lost)
                assert entering.drop(lost).equals(found, null_equal=True)
                assert (again.names, again.judge_names) == (run.names, ("given", "given"))
                assert len(run.estimates()) - entering.height == sum(int(each.split()[2]) for each in notes)
                kept = {view.question.id: view.question for view in again.question_views()}
                told = {view.question.id: view.question for view in run.question_views()}
                for key, question in kept.items():
                    assert question.references == told[key].references
                    assert question.metadata.items() >= told[key].metadata.items() if form == "jsonl" else True
                    assert plain(question.metadata) == plain(told[key].metadata)


def plain(told):
    """Metadata as a table can hold it: what is nothing is not there, and what is no text is written as JSON."""
    made = {name: value if isinstance(value, str) else json.dumps(value) for name, value in told.items()}
    return {name: value for name, value in made.items() if value not in {"", "null"}}


def test_a_question_with_too_few_answers_is_left_out_and_counted(tmp_path):
    """A run of 6 wants 3 usable answers; scored again two would do, and the number would be another one."""
    rows = [
        {
            "id": name,
            "question": "?",
            "references": ["a"],
            "answers": answers,
            "labels": [0] * len(answers),
            "grades": {},
        }
        for name, answers in (("whole", ["a"] * 6), ("few", ["a"]))
    ]
    source = tmp_path / "rows.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    score([source], tmp_path / "a.db")
    with Run(tmp_path / "a.db") as run:
        notes, path = rescored(run, tmp_path, "csv")
        assert notes == ("left out: 1 of 2 questions with too few usable answers",)
    with Run(path) as again:
        assert again.estimates()["question_id"].to_list() == ["whole"]
