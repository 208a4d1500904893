"""Files of answers that people have judged: what is refused, and what is left out when that is asked for."""

import json
import re

import polars as pl
import pytest

from semece.compare.judge_eval import groups_of, verdict_rows
from semece.compare.labelled_files import read_labelled, without_reference
from semece.datasets.files import read_rows
from semece.errors import ParseError

GOOD = {"question": "Q?", "references": ["a"], "answer": "b", "correct": True}
GROUPED = {"question": "R?", "answers": ["a", "b"], "labels": [0, 1]}


def write(path, rows):
    """Write rows; a text is a line as it is."""
    lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def without(name, row=GOOD):
    return {key: value for key, value in row.items() if key != name}


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ({**GOOD, "human_correct": False}, "correct and human_correct must say the same; got [True, False]"),
        ({**GOOD, "human_correct": "perhaps"}, "human_correct must be true or false; got 'perhaps'"),
        (
            {**GOOD, **GROUPED},
            "a row holds one graded answer, or the grouped answers of a question; got 'answers' and ",
        ),
        ({**GROUPED, "human_correct": 1}, "grouped answers of a question; got 'answers' and 'human_correct'"),
        ({**GOOD, "references": ["x", None]}, 'such as ["Paris", "City of Light"]; got None at index 1'),
        ({**GOOD, "gold": "c"}, "the references must be named once; got 'references' and 'gold', which differ"),
        ({**without("references"), "reference": "a", "gold": ["a", "b"]}, "got 'reference' and 'gold', which differ"),
        ({**GROUPED, "reference": "a", "gold": "b"}, "got 'reference' and 'gold', which differ"),
        (
            '{"question": "Q?", "references": ["a"], "answer": "b", "correct": true, "correct": false}',
            "expected a JSON object; the field 'correct' is there more than once",
        ),
        ('{"question": ', "expected a JSON object; Expecting value at character 14"),
        ("[1, 2]", "expected a JSON object; got list"),
        ("3", "expected a JSON object; got int"),
        ("[" * 100_000, "expected a JSON object; it is nested too deeply"),
        ('{"a": ' + "9" * 5000 + "}", "expected a JSON object; Exceeds the limit"),
        ({"answer\ud800\x1b[31m": 1}, "got answer\\ud800\\x1b[31m"),
    ],
)
def test_a_row_that_can_be_read_in_two_ways_or_in_none_is_refused(tmp_path, row, sentence):
    path = write(tmp_path / "a.jsonl", [GOOD, row])
    with pytest.raises(ParseError, match=re.escape(f"{path}, line 2: ")) as caught:
        read_labelled(path)
    assert sentence in str(caught.value)
    str(caught.value).encode()


def test_what_is_said_twice_alike_is_said(tmp_path):
    rows = [
        {**GOOD, "human_correct": True, "gold": "a"},
        {**GOOD, "references": ["", "a"]},
        {**GROUPED, "answer": "a", "references": ["b"], "correct": None},
    ]
    read = read_labelled(write(tmp_path / "a.jsonl", rows))
    assert [(row.correct, row.question.references) for row in read.graded] == [(True, ("a",)), (True, ("", "a"))]
    assert len(read.grouped) == 1


def test_answers_whose_references_are_all_empty_are_found(tmp_path):
    rows = [GOOD, {**GOOD, "references": [""]}, {**GOOD, "references": ["", "a"]}, {**GOOD, "references": [" ", ""]}]
    assert without_reference(read_labelled(write(tmp_path / "a.jsonl", rows))) == [2, 4]


def test_empty_cells_of_a_table_with_rows_of_both_kinds_are_no_fields(tmp_path):
    rows = [
        {"question": "Q?", "references": "a", "answer": "b", "correct": "true"},
        {"question": "R?", "answers": '["a", "b"]', "labels": "[0, 1]"},
    ]
    table = pl.DataFrame(rows)
    table.write_csv(tmp_path / "a.csv")
    table.write_parquet(tmp_path / "a.parquet")
    for name in ("a.csv", "a.parquet"):
        read = read_labelled(tmp_path / name)
        assert (len(read.graded), len(read.grouped)) == (1, 1)


def test_a_column_that_is_there_twice_is_refused_and_columns_without_a_name_are_not(tmp_path):
    (tmp_path / "a.csv").write_text("question,answer,answer,correct,references\nQ?,5,6,true,5\n")
    with pytest.raises(ParseError, match="line 1: the column 'answer' is there more than once"):
        read_labelled(tmp_path / "a.csv")
    (tmp_path / "b.csv").write_text("question,answer,correct,references,,\nQ?,5,true,5,,\n")
    assert read_labelled(tmp_path / "b.csv").graded[0].answer == "5"


def test_bad_rows_are_left_out_and_named_where_that_is_asked_for(tmp_path):
    bad = [
        '{"question": ',
        {**GOOD, "correct": None},
        "[1]",
        {**GOOD, "id": "x"},
        {**GOOD, "id": "x", "question": "S?"},
    ]
    path = write(tmp_path / "a.jsonl", [GOOD, *bad, GROUPED, GROUPED, GOOD])
    said = []
    read = read_labelled(path, bad=lambda error: said.append(str(error)))
    assert [row.line for row in read.graded] == [1, 5, 9]
    assert [row.line for row in read.grouped] == [7]
    assert [re.search(r"line (\d+): ", sentence)[1] for sentence in said] == ["2", "3", "4", "6", "8"]


def test_bad_rows_of_a_table_are_left_out_too(tmp_path):
    (tmp_path / "a.csv").write_text("question,answer,correct,references\nQ?,5,true\nQ?,5,true,5\nQ?,5,true,5,6\n")
    said = []
    assert [line for line, _ in read_rows(tmp_path / "a.csv", bad=lambda error: said.append(str(error)))] == [3]
    assert [sentence.partition(", ")[2] for sentence in said] == [f"line {k}: expected 4 columns" for k in (2, 4)]


def test_a_file_of_bad_rows_alone_has_no_answers(tmp_path):
    with pytest.raises(ParseError, match="has no labelled answers"):
        read_labelled(write(tmp_path / "a.jsonl", ["[1]"]), bad=lambda error: None)


def test_a_lone_surrogate_is_shown_by_its_code(tmp_path):
    rows = [{**GOOD, "answer": "\ud800", "question": "\ud800?", "references": ["\ud800"], "sys\udfff": "\ud800"}]
    read = read_labelled(write(tmp_path / "a.jsonl", rows))
    assert read.graded[0].answer == "\\ud800"
    assert groups_of(read, "sys\\udfff") == ["\\ud800"]

    class Nothing:
        verdicts = (None,)

    assert verdict_rows(read, Nothing(), by="sys\\udfff")["answer"].to_list() == ["\\ud800"]
