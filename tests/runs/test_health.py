"""The doctor: whole, busy, missing, how to continue."""

import asyncio
import json
import shlex
import sys
from dataclasses import replace

import pytest

from semece.cli import main
from semece.compare.judge_eval import SOURCE
from semece.errors import StoreError
from semece.runs.health import examine
from semece.runs.run import Run
from semece.runs.scored_samples import SamplesReading, score
from semece.sampling.batch.ledger import Ledger, new_id
from semece.sampling.settings import Settings
from semece.store.run_store import Store
from tests.making_runs import execute
from tests.servers.openai_server import OpenAIServer
from tests.store.test_run_store import truncated


def make(path, **changes):
    options = {"n": 6, "limit": 3, "temperature": 0.5} | changes
    asyncio.run(execute(Settings("fake/?pmf=.5,.5", "starter", **options), path))


def test_a_finished_run_is_well(tmp_path):
    make(tmp_path / "a.db")
    well, lines = examine(tmp_path / "a.db")
    assert well
    assert lines == [f"{tmp_path / 'a.db'} is whole", "3 of 3 questions complete, 0 responses missing"]


def test_an_incomplete_run_says_the_command_that_completes_it(tmp_path, monkeypatch, capsys):
    make(tmp_path / "a.db")
    with Store(tmp_path / "a.db", write=True) as store:
        store.set_meta("view", store.meta("view") | {"n": 8})
        store.set_meta("options", ["-n", "8", *store.meta("options")[2:]])
    well, lines = examine(tmp_path / "a.db")
    assert not well
    assert "0 of 3 questions complete, 6 responses missing" in lines
    command = lines[-1].removeprefix("to continue: ")
    assert "--limit 3" in command
    assert "--temperature 0.5" in command
    monkeypatch.setattr(sys, "argv", shlex.split(command))
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    with Run(tmp_path / "a.db") as run:
        assert run.counts == {"parsed": 24, "missing": 0}


def test_the_command_asks_where_the_run_asked(tmp_path, monkeypatch):
    asked = Settings("openai-api/test/m", "starter", n=2, limit=1, judge="openai-api/other/judge")
    with OpenAIServer() as model, OpenAIServer() as judge:
        monkeypatch.setenv("OTHER_BASE_URL", judge.base_url)
        asyncio.run(execute(replace(asked, base_url=model.base_url), tmp_path / "a.db"))
        with Store(tmp_path / "a.db", write=True) as store:
            store.set_meta("view", store.meta("view") | {"n": 8})
        command = examine(tmp_path / "a.db")[1][-1].removeprefix("to continue: ")
    assert command.startswith(f"OTHER_BASE_URL={judge.base_url} semece run --model openai-api/test/m ")
    assert f"--base-url {model.base_url} " in command


def test_a_file_that_is_being_written_is_said_with_the_warning_about_copies(tmp_path):
    make(tmp_path / "a.db")
    with Store(tmp_path / "a.db", write=True) as store:
        store.set_meta("x", 1)
        _, lines = examine(tmp_path / "a.db")
    assert "it is being written now" in lines
    assert any("a.db-wal" in line and "together" in line for line in lines)


def test_a_file_of_judge_eval_is_said_to_be_one(tmp_path):
    with Store(tmp_path / "a.db", write=True) as store:
        store.set_meta("source", SOURCE)
        store.set_meta("identity", {"model": "judge-eval", "dataset": "judge-eval"})
    well, lines = examine(tmp_path / "a.db")
    assert well
    assert lines[-1] == "it holds no run, but a judge's replies to labelled answers, for semece judge-eval"


def test_batches_under_way_are_said(tmp_path):
    make(tmp_path / "a.db")
    with Store(tmp_path / "a.db", write=True) as store:
        Ledger(store).enter(new_id(), "fake/x", [], since=None, held=(0.0, 0))
    assert any("batches under way at the provider: 1" in line for line in examine(tmp_path / "a.db")[1])


def test_a_damaged_file_is_said_to_be(tmp_path):
    truncated(tmp_path / "a.db")
    with pytest.raises(StoreError, match="damaged or truncated"):
        examine(tmp_path / "a.db")


def test_samples_whose_storing_was_killed_say_the_command_that_stores_the_rest(tmp_path, monkeypatch, capsys):
    rows = [{"question": f"Capital {i}?", "references": ["Paris"], "answers": ["Paris", "Lyon"]} for i in range(4)]
    samples = tmp_path / "my samples.jsonl"
    samples.write_text("".join(json.dumps(row) + "\n" for row in [*rows, {"question": "no answers"}]))
    path = tmp_path / "a.db"
    score([samples], path, judge="exact", reading=SamplesReading("samples", skip_bad=True))
    with Store(path, write=True) as store:
        store._execute("DELETE FROM replies WHERE id > 3")
    well, lines = examine(path)
    assert not well
    assert "1 of 4 questions complete, 5 responses missing" in lines
    command = lines[-1].removeprefix("to continue: ")
    assert command.startswith("semece score ")
    monkeypatch.setattr(sys, "argv", shlex.split(command))
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code, capsys.readouterr().err
    assert examine(path)[0]
    with Run(path) as run:
        assert run.judge_names == ("exact", "exact")


def test_samples_of_an_older_file_ask_for_the_same_files(tmp_path):
    samples = tmp_path / "a.jsonl"
    samples.write_text(json.dumps({"question": "Capital?", "references": ["Paris"], "answers": ["Paris", "Lyon"]}))
    score([samples], tmp_path / "a.db")
    with Store(tmp_path / "a.db", write=True) as store:
        store._execute("DELETE FROM replies")
        store._execute("DELETE FROM meta WHERE name IN ('files', 'options')")
    assert examine(tmp_path / "a.db")[1][-1] == f"to continue: semece score THE_SAME_FILES -o {tmp_path / 'a.db'}"
