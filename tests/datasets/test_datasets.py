"""Questions of files: references in one cell, ids, and values that no run file can hold."""

import asyncio
import csv
import datetime as dt
import json
import random
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import polars as pl
import pytest

from semece.datasets import Dataset, open_dataset
from semece.datasets.files import question_from, read_questions
from semece.errors import ParseError
from semece.formats import collect
from semece.records import Question
from semece.sampling.job import choose_questions
from semece.sampling.settings import Settings
from tests.making_runs import execute

CELLS = [
    ("Paris", ("Paris",)),
    ('["Paris", "City of Light"]', ("Paris", "City of Light")),
    (' ["Paris"] ', ("Paris",)),
    ("Paris; Lyon | Nice, [1]", ("Paris; Lyon | Nice, [1]",)),
    ("[0, 1)", ("[0, 1)",)),
    ("[0, 1]", ("[0, 1]",)),
    ("[]", ()),
    ("", ()),
]


def write(path, rows):
    """Write rows as the file's ending says."""
    table = pl.DataFrame(rows)
    match path.suffix:
        case ".jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        case ".parquet":
            table.write_parquet(path)
        case suffix:
            table.write_csv(path, separator="\t" if suffix == ".tsv" else ",")
    return path


@pytest.mark.parametrize("form", ["jsonl", "csv", "tsv", "parquet"])
def test_a_json_list_of_texts_in_a_cell_is_several_references_and_anything_else_is_one(form, tmp_path):
    rows = [{"question": f"Q{i}?", "references": cell} for i, (cell, _) in enumerate(CELLS)]
    questions = read_questions(write(tmp_path / f"a.{form}", rows))
    assert [q.references for q in questions] == [references for _, references in CELLS]


@pytest.mark.parametrize("form", ["csv", "tsv", "parquet"])
def test_references_in_a_cell_are_read_alike_in_samples_and_in_questions(form, tmp_path):
    rows = [{"question": "Q?", "references": cell, "answers": '["a", "b"]'} for cell, _ in CELLS]
    samples = collect([write(tmp_path / f"a.{form}", rows)], form="samples").samples
    assert [sample.question.references for sample in samples] == [references for _, references in CELLS]


@pytest.mark.parametrize("name", ["reference", "gold", "golds", "answer", "possible_answers"])
def test_every_spelling_of_references_takes_a_list_in_a_cell(name, tmp_path):
    (question,) = read_questions(write(tmp_path / "a.csv", [{"question": "Q?", name: '["a", "b"]'}]))
    assert question.references == ("a", "b")


def test_a_list_column_of_parquet_is_several_references(tmp_path):
    rows = [{"question": "Q?", "references": ["a", "b"]}, {"question": "R?", "references": []}]
    assert [q.references for q in read_questions(write(tmp_path / "a.parquet", rows))] == [("a", "b"), ()]


@pytest.mark.parametrize("cell", ["['Paris', 'Lyon']", '["Paris", "Lyon', '["Paris", 7]', "[ 'Paris' 'Lyon' ]"])
def test_what_looks_like_a_list_of_texts_and_is_none_is_refused_with_place_and_example(cell, tmp_path):
    path = write(tmp_path / "a.csv", [{"question": "Q?", "references": cell}])
    with pytest.raises(ParseError, match=r'a\.csv, line 2: references must be a text or a JSON list .*\["Paris", '):
        read_questions(path)


@pytest.mark.parametrize("item", [None, True, {"text": "Paris"}, ["Paris"]])
def test_an_item_that_is_no_text_is_named_with_its_index(item):
    with pytest.raises(ParseError, match=r"here: references must be .*; got .* at index 1"):
        question_from({"question": "Q?", "references": ["Paris", item]}, "here")


@pytest.mark.parametrize("form", ["jsonl", "csv", "tsv", "parquet"])
def test_blanks_around_an_id_are_no_part_of_it(form, tmp_path):
    rows = [{"id": " q1 ", "question": "Q?"}, {"id": "q2\t", "question": "R?"}, {"id": "  ", "question": "S?"}]
    assert [q.id for q in open_dataset(str(write(tmp_path / f"a.{form}", rows))).questions] == ["q1", "q2", "2"]


def test_ids_that_differ_only_in_blanks_around_them_are_the_same_id(tmp_path):
    path = write(tmp_path / "a.csv", [{"id": "q1", "question": "Q?"}, {"id": " q1 ", "question": "R?"}])
    with pytest.raises(ParseError, match="ids must be unique; 'q1' is the id of rows 1 and 2"):
        read_questions(path)


UNUSUAL = {
    "nan.jsonl": (b'{"question": "Q?", "answer": "a", "level": NaN}', {"level": "nan"}),
    "deep.jsonl": (b'{"question": "Q?", "answer": "a", "level": {"a": [Infinity]}}', {"level": "{'a': [inf]}"}),
    "surrogate.jsonl": (
        b'{"question": "Q?", "answer": "a", "\\udc00": "x\\ud800y"}',
        {"\\udc00": "x\\ud800y"},
    ),
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_an_unused_column_of_any_kind_ends_no_run(name, tmp_path):
    content, metadata = UNUSUAL[name]
    (tmp_path / name).write_bytes(content)
    (question,) = read_questions(tmp_path / name)
    assert question.metadata == metadata
    run_on(tmp_path / name, tmp_path / "a.db")


def test_a_date_in_a_table_is_kept_as_text(tmp_path):
    path = write(tmp_path / "a.parquet", [{"question": "Q?", "answer": "a", "day": dt.date(2026, 1, 2), "k": 3}])
    (question,) = read_questions(path)
    assert question.metadata == {"day": "2026-01-02", "k": 3}
    run_on(path, tmp_path / "a.db")


def run_on(dataset, path):
    asyncio.run(execute(Settings("fake/?pmf=1", str(dataset), n=2), path))


def test_json_that_is_nested_too_deeply_is_named_with_its_line(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"question": "Q?"}\n{"question": "Q?", "x": ' + "[" * 100_000)
    with pytest.raises(ParseError, match=r"a\.jsonl, line 2: expected a JSON object; it is nested too deeply"):
        read_questions(path)


def test_a_cell_with_a_list_that_is_nested_too_deeply_is_named_with_its_line(tmp_path):
    path = write(tmp_path / "a.parquet", [{"question": "Q?", "references": '["a", ' + "[" * 100_000}])
    with pytest.raises(ParseError, match=r"a\.parquet, line 1: references must be .*; got .{,80}\.\.\.$"):
        read_questions(path)


def test_a_cell_that_is_too_long_for_a_table_is_named_with_its_line(tmp_path):
    path = tmp_path / "a.csv"
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([["question", "answer"], ["Q?", "a"], ["Q?", "x" * (1 << 24) + "y"]])
    with pytest.raises(ParseError, match=r"a\.csv, line 3: expected a table that can be read; field larger than"):
        read_questions(path)


MANY = Dataset("many", tuple(Question(str(i), f"Question {i}?", ()) for i in range(1000)))


def places(**options):
    return [place for place, _ in MANY.select(**options)]


@pytest.mark.parametrize("seed", range(5))
def test_a_larger_sample_contains_the_smaller_ones(seed):
    sizes = [1, 2, 20, 21, 80, 100, 333, 500, 999]
    samples = [places(sample=size, seed=seed) for size in sizes]
    assert [len(set(sample)) for sample in samples] == sizes
    assert all(set(small) < set(large) for small, large in pairwise(samples))
    assert all(sample == sorted(sample) for sample in samples)
    assert places(sample=1000, seed=seed) == places(sample=2000, seed=seed) == list(range(1000))


def test_a_sample_depends_on_the_seed_and_on_nothing_else():
    assert places(sample=50, seed=1) == places(sample=50, seed=1)
    assert len({tuple(places(sample=50, seed=seed)) for seed in range(20)}) == 20
    settings = Settings("fake/?pmf=1", "many", sample=50)
    assert [
        choose_questions(settings, MANY) == choose_questions(replace(settings, seed=seed), MANY) for seed in (0, 1)
    ] == [True, False]


@pytest.mark.parametrize("sample", [1, 5, 20, 80])
def test_a_small_sample_is_what_version_0_1_0_drew(sample):
    for seed in range(3):
        assert places(sample=sample, seed=seed) == sorted(random.Random(seed).sample(range(1000), sample))


def test_samples_are_uniform():
    """Each place is in a sample of 100 of 1,000 with probability 0.1; 400 seeds, 4 standard errors on the ends."""
    counts = Counter(place for seed in range(400) for place in places(sample=100, seed=seed))
    ends = sum(counts[place] for place in (*range(50), *range(950, 1000)))
    assert abs(ends - 4000) < 4 * (400 * 100 * 0.1 * 0.9) ** 0.5
