"""Servers of one's own: all answers in one request, without a seed; and a run as an array of jobs."""

import os
import subprocess
import sys
from pathlib import Path

from semece.runs import Run, merge_shards
from semece.sampling import Settings
from semece.store import Store
from tests.servers.openai_server import OpenAIServer

ROOT = Path(__file__).parent.parent.parent


def test_fifty_answers_come_with_one_request_and_without_a_seed(semece, tmp_path):
    with OpenAIServer(choices=50) as server:
        words = ["run", "-m", "vllm/m", "--base-url", server.base_url, "-d", "starter", "-j", "exact", "-o", "a.db"]
        code, _, err = semece(*words, "--limit", "2", "--seed", "none")
        bodies = list(server.bodies)
    assert code == 0, err
    assert [body["n"] for body in bodies] == [50, 50]
    assert not any("seed" in body for body in bodies)
    with Store(tmp_path / "a.db") as store:
        assert store.meta("identity")["seed"] is None
        assert store.meta("options")[:4] == ["--limit", "2", "--seed", "none"]
    code, _, err = semece(*words, "--limit", "2")
    assert (code, "seed" in err, "None" in err or "none" in err) == (2, True, True)


def test_a_seed_is_a_whole_number_or_none(semece):
    code, _, err = semece("run", "-m", "fake/?pmf=1", "-d", "starter", "-j", "rules", "--seed", "1.5")
    assert (code, err) == (2, "semece: seed must be a whole number or none; got 1.5\n")
    assert Settings("fake/?pmf=1", "starter", seed=None).words() == ["--seed", "none"]
    assert Settings("fake/?pmf=1", "starter", seed=3).words() == ["--seed", "3"]
    assert Settings("fake/?pmf=1", "starter").words() == []


def test_the_job_array_of_the_examples_makes_the_run(semece, tmp_path):
    script = ROOT / "examples" / "shards.slurm"
    told = {"MODEL": "fake/?pmf=.6,.4", "DATASET": "starter", "SLURM_ARRAY_TASK_COUNT": "2"}
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "semece").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m semece "$@"\n')
    (tmp_path / "bin" / "semece").chmod(0o755)
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    for number in ("1", "2"):
        env = os.environ | told | {"SLURM_ARRAY_TASK_ID": number, "PATH": path}
        words = ["bash", str(script), "-n", "3", "--seed", "0", "-o", f"{number}.db"]
        subprocess.run(words, check=True, cwd=tmp_path, env=env, capture_output=True)
    assert merge_shards([tmp_path / "1.db", tmp_path / "2.db"], tmp_path / "all.db") is None
    code, _, err = semece("run", "-m", told["MODEL"], "-d", "starter", "-j", "rules", "-n", "3", "-o", "one.db")
    assert code == 0, err
    with Run(tmp_path / "all.db") as merged, Run(tmp_path / "one.db") as one:
        assert merged.responses().equals(one.responses())
    assert "--array=1-20" in script.read_text()
    assert "COUNT:-20" in script.read_text()
