"""The embedded model through the whole run: the same stored answers whatever happened in between."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

from semece.models.embedded.weights import SMOLLM2, find
from semece.runs.run import Run
from semece.sampling.settings import Settings
from tests.conftest import absent
from tests.making_runs import execute

pytestmark = [pytest.mark.weights, pytest.mark.slow]


@pytest.fixture(autouse=True, scope="module")
def weights():
    if find(SMOLLM2) is None:
        absent("the embedded model's weights (semece fetch-model)")
    pytest.importorskip("xllamacpp")


def do(path, **changes):
    settings = Settings("local/smollm2", "starter", **({"n": 8, "limit": 2} | changes))
    asyncio.run(execute(settings, path))
    with Run(path) as run:
        return run.responses(), run.estimates()


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return do(tmp_path_factory.mktemp("whole") / "a.db")


def test_a_run_a_top_up_and_a_killed_run_store_the_same_answers(tmp_path, whole):
    responses, numbers = whole
    assert len(responses) == 16
    assert responses["text"].n_unique() > 3
    do(tmp_path / "topped.db", n=3, limit=1)
    topped, topped_numbers = do(tmp_path / "topped.db")
    assert topped.equals(responses)
    assert topped_numbers.equals(numbers)
    killed_after_first_question(tmp_path)
    killed, _ = do(tmp_path / "killed.db")
    assert killed.equals(responses)


def killed_after_first_question(folder):
    words = ["run", "-m", "local/smollm2", "-d", "starter", "-n", "8", "--limit", "2", "-o", "killed.db", "-q"]
    process = subprocess.Popen(
        [sys.executable, "-c", "from semece.cli import main; main()", *words],
        cwd=folder,
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        env=os.environ,
    )
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        if (folder / "killed.db").exists() and stored(folder / "killed.db"):
            break
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert 0 < stored(folder / "killed.db") < 16


def stored(path):
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return connection.execute("SELECT count(*) FROM replies").fetchone()[0]
    except sqlite3.Error:
        return 0
    finally:
        connection.close()


def test_another_seed_gives_other_answers(tmp_path, whole):
    second, _ = do(tmp_path / "b.db", limit=1, seed=1)
    assert whole[0]["text"].to_list()[:8] != second["text"].to_list()


def test_a_confidence_is_stated_in_nearly_every_answer(whole):
    responses, _ = whole
    assert (responses["confidence"].is_not_null() | (responses["status"] == "truncated")).all()
    assert (responses["status"] == "parsed").mean() > 0.9
