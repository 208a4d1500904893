"""Benchmarks in their original formats become questions."""

import csv
import json
import re
from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semece.datasets import BENCHMARKS, catalogue, open_dataset
from semece.datasets.benchmarks import read_benchmark
from semece.errors import ParseError

POPQA = "id subj prop obj subj_id prop_id obj_id s_aliases o_aliases s_uri o_uri s_wiki_title o_wiki_title s_pop o_pop"
POPQA = [*POPQA.split(), "question", "possible_answers"]

ONE = {
    "simpleqa": {"metadata": "{'topic': 'Art', 'answer_type': 'Date', 'urls': []}", "problem": "Q?", "answer": "7 May"},
    "simpleqa-verified": {"original_index": "5", "problem": "Q?", "answer": "7 May", "topic": "Art", "urls": "u"},
    "popqa": {"id": "9", "question": "Q?", "possible_answers": '["a", "b"]', "s_pop": "12"},
    "nq-open": {"question": "q", "answer": ["a", "b"]},
    "triviaqa": {"question_id": "tc_3", "question": "Q?", "answer": {"value": "b", "aliases": ["a", "b"]}},
    "math-500": {"unique_id": "test/algebra/1.json", "problem": "Q?", "answer": "\\frac{1}{2}", "subject": "Algebra"},
    "aime": {"id": "0", "problem": "Q?", "answer": "70"},
    "hle": {"id": "ab", "question": "Q?", "answer": "A", "image": "", "answer_type": "multipleChoice"},
    "medxpertqa": {"id": "Text-0", "question": "Q?", "options": {"A": "ash", "B": "bay"}, "label": "B"},
}
"""A row of each benchmark."""


def write(path, rows):
    """Write rows as the file's ending says, cells as they are."""
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif path.suffix == ".parquet":
        pl.DataFrame(rows).write_parquet(path)
    else:
        with path.open("w", encoding="utf-8", newline="") as stream:
            table = csv.DictWriter(stream, list(rows[0]), delimiter="\t" if path.suffix == ".tsv" else ",")
            table.writeheader()
            table.writerows(rows)
    return path


def read(tmp_path, name, *rows):
    """Read rows of a benchmark through its own spelling."""
    path = write(tmp_path / f"copy{BENCHMARKS[name].suffix}", rows)
    return open_dataset(f"{name}={path}").questions


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.shared_data
def test_simpleqa_is_read_as_it_is_published(shared_data):
    dataset = open_dataset(f"simpleqa={shared_data}/questions/simple_qa_test_set.csv")
    assert dataset.name == "simpleqa"
    assert [q.id for q in dataset.questions] == [str(i) for i in range(4326)]
    first = dataset.questions[0]
    assert (first.text, first.references) == (
        "Who received the IEEE Frank Rosenblatt Award in 2010?",
        ("Michio Sugeno",),
    )
    assert first.metadata == {"topic": "Science and technology", "answer_type": "Person"}
    assert all(len(q.references) == 1 and q.references[0] == q.references[0].strip() != "" for q in dataset.questions)
    assert {q.metadata["answer_type"] for q in dataset.questions} == {"Person", "Place", "Date", "Number", "Other"}


@pytest.mark.shared_data
def test_popqa_is_read_from_its_table_and_its_ids_tell_equal_texts_apart(shared_data, tmp_path):
    known = lines(shared_data / "questions" / "q_popqa_2000.jsonl")
    rows = [
        dict.fromkeys(POPQA, 'of "no" use\there')
        | {"id": row["id"].removeprefix("popqa_"), "question": row["question"], "s_pop": row["s_pop"]}
        | {"possible_answers": json.dumps(row["gold"]), "o_pop": row["o_pop"]}
        for row in known
    ]
    questions = read(tmp_path, "popqa", *rows)
    assert [q.id for q in questions] == [row["id"] for row in rows]
    assert [q.text for q in questions] == [row["question"] for row in known]
    assert [list(q.references) for q in questions] == [list(dict.fromkeys(row["gold"])) for row in known]
    assert questions[0].metadata["s_pop"] == known[0]["s_pop"]
    assert len({q.text for q in questions}) == 2000 - 38


@pytest.mark.shared_data
def test_nq_open_is_read_from_question_and_answer(shared_data, tmp_path):
    known = lines(shared_data / "questions" / "q_nq_open_dev.jsonl")
    questions = read(tmp_path, "nq-open", *({"question": row["question"], "answer": row["gold"]} for row in known))
    assert [q.id for q in questions] == [str(i) for i in range(3610)]
    assert [list(q.references) for q in questions] == [list(dict.fromkeys(row["gold"])) for row in known]


@pytest.mark.shared_data
def test_math_500_keeps_latex_and_its_own_ids(shared_data, tmp_path):
    known = lines(shared_data / "questions" / "q_math500.jsonl")
    rows = [{"problem": q["question"], "answer": q["gold"][0], "unique_id": q["id"], "level": 2} for q in known]
    questions = read(tmp_path, "math-500", *rows)
    assert [(q.id, q.text, q.references[0]) for q in questions] == [
        (q["id"], q["question"], q["gold"][0].strip()) for q in known
    ]
    assert questions[0].metadata == {"level": 2}


@pytest.mark.shared_data
@pytest.mark.parametrize("name", ["popqa", "nq-open", "math-500"])
def test_a_file_in_another_format_is_a_file_of_questions_under_that_name(shared_data, name):
    path = {"popqa": "q_popqa_2000", "nq-open": "q_nq_open_dev", "math-500": "q_math500"}[name]
    dataset = open_dataset(f"{name}={shared_data}/questions/{path}.jsonl")
    known = lines(shared_data / "questions" / f"{path}.jsonl")
    assert dataset.name == name
    assert [q.id for q in dataset.questions] == [row["id"] for row in known]
    assert dataset.questions[0].references == tuple(known[0]["gold"])


@pytest.mark.parametrize(
    ("name", "identity", "references", "metadata"),
    [
        ("simpleqa", "0", ("7 May",), {"topic": "Art", "answer_type": "Date"}),
        ("simpleqa-verified", "5", ("7 May",), {"topic": "Art"}),
        ("popqa", "9", ("a", "b"), {"s_pop": 12}),
        ("nq-open", "0", ("a", "b"), {}),
        ("triviaqa", "tc_3", ("b", "a"), {}),
        ("math-500", "test/algebra/1.json", ("\\frac{1}{2}",), {"subject": "Algebra"}),
        ("aime", "0", ("70",), {}),
        ("hle", "ab", ("A",), {"answer_type": "multipleChoice"}),
        ("medxpertqa", "Text-0", ("B", "bay"), {}),
    ],
)
def test_every_benchmark_has_an_id_references_and_what_else_is_worth_keeping(
    name, identity, references, metadata, tmp_path
):
    (question,) = read(tmp_path, name, ONE[name])
    assert (question.id, question.references, question.metadata) == (identity, references, metadata)
    assert question.text.lower().startswith("q")


def test_every_benchmark_has_a_row_here():
    assert set(ONE) == set(BENCHMARKS)


def test_the_options_are_in_the_question_once(tmp_path):
    asked = "Q?\nAnswer Choices: (A) ash (B) bay"
    written, bare = read(
        tmp_path, "medxpertqa", ONE["medxpertqa"] | {"question": asked}, ONE["medxpertqa"] | {"id": "Text-1"}
    )
    assert written.text == bare.text == asked


def test_questions_with_an_image_are_left_out(tmp_path):
    shown = ONE["hle"] | {"id": "cd", "image": "data:image/png;base64,AAAA"}
    assert [q.id for q in read(tmp_path, "hle", shown, ONE["hle"])] == ["ab"]


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("simpleqa", {"metadata": "__import__('pathlib').Path('touched').touch()"}),
        ("simpleqa", {"metadata": "{'topic': "}),
        ("simpleqa", {"metadata": "(" * 5000}),
        ("simpleqa", {"metadata": "7"}),
        ("popqa", {"possible_answers": "a, b"}),
        ("popqa", {"s_pop": "many"}),
        ("triviaqa", {"answer": {"value": "b"}}),
        ("medxpertqa", {"label": "C"}),
    ],
)
def test_a_row_that_cannot_be_one_is_named_and_nothing_in_it_is_executed(name, change, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParseError, match=rf"copy\.\w+, line \d+ is not a row of {name}: "):
        read(tmp_path, name, ONE[name] | change)
    assert not (tmp_path / "touched").exists()


@pytest.mark.parametrize("name", BENCHMARKS)
def test_what_is_fetched_must_have_the_columns_and_the_number_of_questions(name, tmp_path, monkeypatch):
    path = tmp_path / f"copy{BENCHMARKS[name].suffix}"
    with pytest.raises(ParseError, match=rf"expected {BENCHMARKS[name].count:,} questions; got 1"):
        read_benchmark(name, write(path, [ONE[name]]), strict=True)
    monkeypatch.setitem(BENCHMARKS, name, replace(BENCHMARKS[name], count=1))
    assert len(read_benchmark(name, path, strict=True)) == 1
    for column in BENCHMARKS[name].columns:
        rows = [{key: value for key, value in ONE[name].items() if key != column} | {"other": "x"}]
        with pytest.raises(ParseError, match=rf"line \d+: expected the columns .*{column}"):
            read_benchmark(name, write(path, rows), strict=True)


def test_what_is_fetched_must_have_references(tmp_path, monkeypatch):
    monkeypatch.setitem(BENCHMARKS, "aime", replace(BENCHMARKS["aime"], count=1))
    path = write(tmp_path / "a.jsonl", [ONE["aime"] | {"answer": " "}])
    with pytest.raises(ParseError, match="expected a reference to every question; question 0 has none"):
        read_benchmark("aime", path, strict=True)


@given(st.lists(st.text(st.characters(exclude_categories=("Cs",)))))
def test_references_are_never_empty_or_repeated_and_none_is_lost(tmp_path_factory, answers):
    (question,) = read(
        tmp_path_factory.mktemp("popqa"), "popqa", ONE["popqa"] | {"possible_answers": json.dumps(answers)}
    )
    assert set(question.references) == {answer.strip() for answer in answers} - {""}
    assert len(set(question.references)) == len(question.references)


def test_addresses_are_fixed():
    for name, benchmark in BENCHMARKS.items():
        assert benchmark.url.startswith("https://"), name
        assert re.search(r"/[0-9a-f]{40}/", benchmark.url) or benchmark.sha256, name
        assert benchmark.sha256 is None or re.fullmatch(r"[0-9a-f]{64}", benchmark.sha256), name


def test_the_catalogue_says_where_everything_is_from():
    rows = {row["name"]: row for row in catalogue()}
    assert list(rows) == ["starter", *BENCHMARKS]
    assert rows["starter"]["questions"] == 24
    assert all(row["licence"] and row["about"] for row in rows.values())
    assert rows["hle"]["file"] is None
