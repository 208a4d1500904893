"""Engines: what a part gives does not depend on who computed it."""

import importlib.util
import json

import numpy as np
import polars as pl
import pytest

from semece.errors import ParseError, SemeceError
from semece.runs.engines import mapped

BEYOND = ["daft", "ray"]
THEIRS = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
"""Both leave pipes of their own processes to the garbage collector."""
TABLED = {"labels": [[0, 0, 1], [0, 1, 1]], "correct": [[True, False], [False, True]]}


@pytest.fixture
def parts(tmp_path):
    """Four files of labelled answers, and one of samples with texts."""
    rng = np.random.default_rng(3)
    (tmp_path / "parts").mkdir()
    for k in range(4):
        labels = [rng.integers(0, 3, 5).tolist() for _ in range(50)]
        correct = [(rng.random(3) < 0.5).tolist() for _ in labels]
        pl.DataFrame({"labels": labels, "correct": correct}).write_parquet(tmp_path / "parts" / f"{k}.parquet")
    row = {"question": "Capital of France?", "references": ["Paris"], "answers": ["Paris", "Rome", "Paris"]}
    (tmp_path / "texts.jsonl").write_text("".join(json.dumps({**row, "id": str(i)}) + "\n" for i in range(30)))
    return tmp_path


def there(name):
    """Skip where an engine is not installed: the engines' benchmark installs them."""
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed")


def test_in_this_process_parts_are_computed_as_they_are_asked_for():
    done = []
    found = mapped("local", done.append, range(3))
    assert (next(found), done) == (None, [0])


def test_an_engine_is_one_of_three(parts, semece):
    code, _, err = semece("score", "parts", "--engine", "spark", "-o", "t.parquet")
    assert (code, err) == (2, "semece: engine must be one of local, daft, ray; got 'spark'\n")
    code, _, err = semece("score", "texts.jsonl", "--engine", "ray", "-o", "t.db")
    assert (code, err) == (2, "semece: --engine ray counts into a table: -o X.parquet; got t.db\n")
    assert not list(parts.glob("t.*"))


@pytest.mark.parametrize("name", BEYOND)
def test_an_engine_that_is_not_installed_is_named(name, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, name, None)
    with pytest.raises(SemeceError, match=rf"--engine {name} needs {name}: pip install 'semece\[scale\]'"):
        list(mapped(name, abs, [1]))


@pytest.mark.slow
@THEIRS
@pytest.mark.parametrize("name", BEYOND)
def test_an_engine_gives_the_very_table(name, parts, semece):
    there(name)
    for source in ("parts", "texts.jsonl"):
        tables = []
        for engine in ("local", name):
            code, _, err = semece(
                "score",
                source,
                "--judge",
                "given" if source == "parts" else "rules",
                "--engine",
                engine,
                "-o",
                f"{engine}.parquet",
            )
            assert code == 0, err
            tables.append((parts / f"{engine}.parquet").read_bytes())
        assert tables[0] == tables[1]


@pytest.mark.slow
@THEIRS
@pytest.mark.parametrize("name", BEYOND)
def test_a_part_that_is_refused_elsewhere_says_why(name, parts):
    there(name)
    bad = parts / "parts" / "9.parquet"
    pl.DataFrame({**TABLED, "labels": [[0, 5], [0]]}).write_parquet(bad)
    from semece.runs.tabled_runs import _counted

    with pytest.raises(ParseError, match=r"9\.parquet, rows from 0: labels of question 0 must be below"):
        list(mapped(name, _counted, sorted((parts / "parts").glob("*.parquet"))))
