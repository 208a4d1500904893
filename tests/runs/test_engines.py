"""Engines: what a part gives does not depend on who computed it."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from semece.errors import ParseError, SemeceError
from semece.runs import Run, merge_shards
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


@pytest.mark.parametrize(("address", "where"), [(None, "this machine"), ("10.0.0.1:6379", "10.0.0.1:6379")])
def test_a_ray_that_does_not_start_is_one_sentence(address, where, monkeypatch):
    def init(**_):
        raise ConnectionError("the current node timed out during startup")

    if address is None:
        monkeypatch.delenv("RAY_ADDRESS", raising=False)
    else:
        monkeypatch.setenv("RAY_ADDRESS", address)
    ray = SimpleNamespace(is_initialized=lambda: False, init=init)
    monkeypatch.setitem(sys.modules, "ray", ray)
    with pytest.raises(SemeceError, match=f"--engine ray: Ray did not start on {where}: the current node timed out"):
        list(mapped("ray", abs, [1]))


@pytest.mark.slow
@THEIRS
def test_on_ray_a_task_runs_a_part_as_the_page_says(tmp_path, semece):
    there("ray")
    page = (Path(__file__).parent.parent.parent / "docs" / "self_hosted.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```text\n(import subprocess, ray\n.*?)```", page, re.DOTALL)
    changed = {
        "vllm/Qwen/Qwen3-8B": "fake/?pmf=.6,.4",
        '"--dataset", "simpleqa"': '"--dataset", "starter", "-n", "3"',
        '"--seed", "none"': '"--seed", "0"',
        "range(1, 21)": "range(1, 3)",
        "remote(k, 20)": "remote(k, 2)",
        "/shared/runs/simpleqa": str(tmp_path / "part"),
        "@ray.remote(": "ray.init(num_cpus=2, include_dashboard=False)\n@ray.remote(",
    }
    for before, after in changed.items():
        assert before in program
        program = program.replace(before, after)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "semece").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m semece "$@"\n')
    (tmp_path / "bin" / "semece").chmod(0o755)
    env = os.environ | {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "RAY_USAGE_STATS_ENABLED": "0"}
    done = subprocess.run([sys.executable, "-c", program], check=True, env=env, capture_output=True, text=True)
    assert "[0, 0]" in done.stdout.splitlines(), "what the tasks print stands there too, in any order"
    assert merge_shards([tmp_path / "part-1.db", tmp_path / "part-2.db"], tmp_path / "all.db") is None
    code, _, err = semece("run", "-m", "fake/?pmf=.6,.4", "-d", "starter", "-j", "rules", "-n", "3", "-o", "one.db")
    assert code == 0, err
    with Run(tmp_path / "all.db") as merged, Run(tmp_path / "one.db") as one:
        assert merged.responses().equals(one.responses())
        assert merged.estimates().equals(one.estimates())
