"""Files, folders and patterns of samples: which files are meant, and what is not one kind."""

import json

import polars as pl
import pytest

from semece.errors import ParseError
from semece.formats import sample_files
from semece.runs import Run

ROWS = [
    {"question": f"Capital {i}?", "references": ["Paris"], "answers": ["Paris", "Rome", "Paris"], "id": str(i)}
    for i in range(6)
]


@pytest.fixture
def samples(tmp_path, monkeypatch):
    """Three files with two questions each, and what else lies in a folder."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "samples"
    (folder / "inner").mkdir(parents=True)
    for k in range(3):
        text = "".join(json.dumps(row) + "\n" for row in ROWS[2 * k : 2 * k + 2])
        (folder / f"part-{k}.jsonl").write_text(text)
    (folder / "README.md").write_text("What this is.")
    (folder / ".part-9.jsonl").write_text("not whole")
    (tmp_path / "all.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return tmp_path


@pytest.mark.parametrize("how", ["samples", "samples/*.jsonl", "samples/part-[0-2].*", "**/part-*.jsonl"])
def test_a_folder_and_a_pattern_give_what_one_file_gives(how, samples, semece):
    assert semece("score", "all.jsonl", "--judge", "exact", "-o", "one.db")[0] == 0
    code, out, err = semece("score", how, "--judge", "exact")
    assert code == 0, err
    assert out.endswith("runs/samples.db\n")
    with Run("one.db") as one, Run("runs/samples.db") as parts:
        assert parts.estimates().equals(one.estimates())
        assert parts.dataset == "part-0+part-1+part-2"


def test_a_folder_is_counted_into_a_table(samples, semece):
    for source, table in (("samples", "parts.parquet"), ("all.jsonl", "one.parquet")):
        assert semece("score", source, "--judge", "exact", "-o", table)[0] == 0
    assert pl.read_parquet("parts.parquet").equals(pl.read_parquet("one.parquet"))


def test_a_folder_of_tables_is_read(samples, semece):
    (samples / "csv").mkdir()
    for row in ROWS[:2]:
        text = 'id,question,references,answers\n{id},{question},Paris,"[""Paris"", ""Rome""]"\n'.format(**row)
        (samples / "csv" / f"{row['id']}.csv").write_text(text)
    code, _, err = semece("score", "csv", "--judge", "exact", "-o", "c.db")
    assert code == 0, err
    with Run("c.db") as run:
        assert run.estimates()["n_responses"].to_list() == [2, 2]


def test_what_is_not_of_one_kind_is_one_sentence(samples, semece):
    (samples / "samples" / "more.csv").write_text("question,references,answers\n")
    said = "stands for files of several kinds (1 .csv, 3 .jsonl): name one kind, such as"
    assert semece("score", "samples") == (2, "", f"semece: samples {said} 'samples/*.csv'\n")
    assert semece("score", "samples/*[0-9e].*") == (2, "", f"semece: samples/*[0-9e].* {said} 'samples/*.csv'\n")
    assert semece("score", "none*.jsonl") == (2, "", "semece: none*.jsonl matches no file\n")
    with pytest.raises(ParseError, match=r"inner is a folder without samples \(\.csv, \.eval"):
        sample_files([samples / "samples" / "inner"])
    with pytest.raises(ParseError, match=r"part-1\.jsonl is named twice"):
        sample_files([samples / "samples" / "part-1.jsonl", samples / "samples" / "*.jsonl"])


def test_labels_without_texts_and_texts_are_scored_apart(samples):
    (samples / "mixed").mkdir()
    pl.DataFrame({"labels": [[0, 0, 1]], "correct": [[True, False]]}).write_parquet(samples / "mixed" / "a.parquet")
    pl.DataFrame({"question": ["Why?"], "answers": [["a", "b"]]}).write_parquet(samples / "mixed" / "b.parquet")
    with pytest.raises(ParseError, match=r"a\.parquet has labels without texts, and .*b\.parquet has not: score them"):
        sample_files([samples / "mixed"])


def test_a_file_whose_name_looks_like_a_pattern_is_itself(samples):
    (samples / "what [1].jsonl").write_text("{}")
    assert sample_files([samples / "what [1].jsonl"]) == [samples / "what [1].jsonl"]
