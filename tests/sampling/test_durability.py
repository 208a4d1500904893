"""What is paid for survives: faults of a provider, kills, and a key that nobody may see; over real sockets."""

import asyncio
import json
import os
import sqlite3
import subprocess
from dataclasses import replace

import pytest

from semece.errors import ModelError
from semece.models.fakes.fake_model import parse_fake
from semece.runs.run import Run
from semece.sampling.patience import Patience
from semece.sampling.settings import Settings
from semece.store.run_store import Store
from tests.killed_runs import SEMECE, Client, questions, references, write_questions
from tests.making_runs import execute
from tests.servers.openai_server import OpenAIServer

STUBBORN = Patience(attempts=40, first_wait=0.002, longest_wait=0.05)
FAULTS = {
    "429": 0.04, "429_retry_after": 0.04, "500": 0.03, "503": 0.03, "reset": 0.03, "reset_served": 0.03, "cut": 0.02,
    "html": 0.02, "empty": 0.02, "few": 0.03, "many": 0.01, "slow": 0.01,
}  # fmt: skip
FATES = {"content_filter": 0.02, "refusal": 0.02, "length": 0.02}


def settings(server, **changes):
    made = Settings("openai-api/test/m", "made", n=20, judge="exact", base_url=server.base_url, patience=STUBBORN)
    return replace(made, **changes)


def do(path, server, data, **changes):
    return asyncio.run(execute(settings(server, **changes), path, dataset=data))


def table(path, **options):
    with Run(path, **options) as run:
        return run.estimates()


def stored_rows(path):
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT question_id, position, status, raw FROM replies").fetchall()
    connection.close()
    return rows


def test_every_question_completes_whatever_the_provider_does(tmp_path):
    data = questions(40)
    with OpenAIServer(faults=FAULTS | FATES, references=references(data), slow=0.05, retry_after=0.02) as server:
        assert do(tmp_path / "a.db", server, data, concurrency=16).missing == 0
        faults, delivered = dict(server.account.faults), dict(server.delivered)
    rows = stored_rows(tmp_path / "a.db")
    kept = [row for row in rows if row[2] in {"ok", "content_filter", "refusal", "truncated"}]
    assert len(kept) == len({row[:2] for row in kept}) == 40 * 20
    serials = [json.loads(row[3])["serial"] for row in kept]
    assert len(set(serials)) == len(serials)
    assert set(serials) <= set(delivered)
    failed = [row[2] for row in rows if row not in kept]
    seen = {name: faults.get(name, 0) for name in FAULTS}
    assert failed.count("rate_limited") == seen["429"] + seen["429_retry_after"]
    assert failed.count("server") == seen["500"] + seen["503"]
    assert failed.count("connection") == seen["reset"] + seen["reset_served"]
    assert failed.count("broken_body") == seen["cut"] + seen["html"] + seen["empty"]
    with OpenAIServer(faults=FATES, references=references(data)) as server:
        do(tmp_path / "b.db", server, data)
    assert table(tmp_path / "a.db").equals(table(tmp_path / "b.db"))


def test_a_model_judge_on_a_faulty_provider_gives_what_it_gives_on_a_good_one(tmp_path):
    data = questions(12)
    tables = []
    for name, faults in (("a.db", FAULTS), ("b.db", {})):
        with OpenAIServer(faults=faults, references=references(data), slow=0.05, retry_after=0.02) as server:
            os.environ["TEST_BASE_URL"] = server.base_url
            try:
                done = do(tmp_path / name, server, data, judge="openai-api/test/judge", concurrency=8)
            finally:
                del os.environ["TEST_BASE_URL"]
        assert done.missing == 0
        tables.append(table(tmp_path / name))
    assert tables[0].equals(tables[1])
    assert set(tables[0]["status"]) == {"complete"}


@pytest.mark.parametrize("choices", [1, 8])
def test_topping_up_on_a_server_gives_what_one_go_gives(tmp_path, choices):
    data = questions(6)
    with OpenAIServer(references=references(data), choices=choices) as server:
        do(tmp_path / "one.db", server, data, n=50)
        do(tmp_path / "two.db", server, data, n=20)
        before = sum(server.account.served.values())
        do(tmp_path / "two.db", server, data, n=50)
        assert sum(server.account.served.values()) - before == 6 * 30
    assert table(tmp_path / "one.db").equals(table(tmp_path / "two.db"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("judge", "shares"),
    [("exact", (0.1, 0.4, 0.7)), ("openai-api/test/judge", (0.2, 0.7, 0.85))],  # of a judged run 60 % are responses
)
def test_kills_in_every_stage_change_nothing_and_buy_nothing_twice_but_what_was_in_flight(tmp_path, judge, shares):
    data, concurrency = questions(24), 4
    words = ["-d", "made.jsonl", "-n", "10", "-j", judge, "--concurrency", str(concurrency)]
    with OpenAIServer(references=references(data), latency=0.04) as server:
        whole, killed = (Client(tmp_path / name, server, data, *words) for name in ("whole", "killed"))
        whole.finish()
        total, once = len(whole.rows()), server.account.paid.total()
        landed = [killed.kill_after(int(share * total)) / total for share in shares]
        print("kills landed at", [round(share, 3) for share in landed])
        killed.finish()
        twice = server.account.paid.total() - 2 * once
    assert all(0.05 <= share <= 0.95 for share in landed)
    assert killed.rows() == whole.rows()
    assert 0 <= twice <= len(shares) * concurrency * 8
    assert table(killed.path).equals(table(whole.path))


KEY = "marker-5e4dc0ffee"


@pytest.mark.slow
@pytest.mark.parametrize("place", ["environment", "env file", "base url", "echo"])
def test_a_key_is_in_no_file_and_no_stream(semece, tmp_path, place):
    data = questions(3)
    write_questions(tmp_path, data)
    with OpenAIServer(references=references(data), key=None if place == "base url" else KEY) as server:
        words, environment = ["-v", "run", "-m", "openai-api/test/m", "-d", "made.jsonl", "-n", "4", "-j", "exact"], {}
        environment["TEST_BASE_URL"] = server.base_url
        if place == "environment":
            environment["TEST_API_KEY"] = KEY
        elif place == "env file":
            (tmp_path / "keys.env").write_text(f"TEST_API_KEY={KEY}\n")
            words += ["--env-file", "keys.env"]
        elif place == "base url":
            environment["TEST_BASE_URL"] = server.base_url.replace("http://", f"http://user:{KEY}@")
        else:
            environment["TEST_API_KEY"] = KEY + "-wrong"
            server.echo = True
        found = subprocess.run(
            SEMECE + words,
            cwd=tmp_path,
            env=os.environ | environment | {"OPENAI_LOG": "debug"},
            capture_output=True,
            text=True,
        )
        _, *report = semece("report", "runs/made--openai-api-test-m.db")
    assert found.returncode == (4 if place == "echo" else 0), found.stderr
    if place == "echo":
        assert "refused the key" in found.stderr
    assert "Request" in found.stderr or "HTTP" in found.stderr, "the libraries' debug log is on"
    assert KEY not in found.stdout + found.stderr + "".join(report)
    for path in tmp_path.rglob("*"):
        if path.is_file() and path.name != "keys.env":
            assert KEY.encode() not in path.read_bytes(), path


@pytest.mark.slow
def test_a_cap_holds_with_many_calls_at_once(tmp_path):
    data = questions(60)
    with OpenAIServer(references=references(data), latency=0.01, choices=1) as server:
        from semece.errors import BudgetError

        with pytest.raises(BudgetError):
            do(tmp_path / "a.db", server, data, concurrency=64, max_tokens=50, max_total_tokens=30_000)
        used = server.account.input_tokens + server.account.output_tokens
        assert 29_000 < used <= 30_000
        assert do(tmp_path / "a.db", server, data, concurrency=64, max_tokens=50).missing == 0


def test_a_judge_that_refuses_is_not_asked_for_ever(tmp_path, monkeypatch):
    with OpenAIServer(faults={"refusal": 1.0}) as server:
        monkeypatch.setenv("TEST_BASE_URL", server.base_url)
        asked = Settings("fake/?pmf=.5,.5", "starter", n=6, limit=3, judge="openai-api/test/judge", patience=STUBBORN)
        assert asyncio.run(execute(asked, tmp_path / "a.db")).missing == 0
        before = sum(server.account.requests.values())
        assert asyncio.run(execute(asked, tmp_path / "a.db")).missing == 0
        assert sum(server.account.requests.values()) == before > 0
    assert set(table(tmp_path / "a.db")["status"]) == {"unpartitioned"}


def view_of(path):
    with Store(path) as store:
        return store.meta("view")


@pytest.mark.parametrize(
    "changes",
    [
        {"judge": "openai/gpt-4o"},
        {"judge": "xai/grok-4", "batch": True},
        {"n": 12},
        {"n": 12, "batch": True},
        {"limit": 6},
        {"retry_failed": True},
    ],
)
def test_a_refused_command_leaves_the_run_as_it_was(tmp_path, monkeypatch, changes):
    """What cannot be opened is refused before the view changes or a reply is set aside."""
    monkeypatch.setenv("XAI_API_KEY", "k")
    path, asked = tmp_path / "a.db", Settings("openai/m", "starter", n=8, limit=5, judge="exact", patience=STUBBORN)
    with OpenAIServer(faults={"length": 0.3}) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        assert asyncio.run(execute(replace(asked, base_url=server.base_url), path)).missing == 0
    monkeypatch.delenv("OPENAI_API_KEY")
    view, before = view_of(path), table(path)
    with pytest.raises(ModelError, match=r"needs a key: set OPENAI_API_KEY|no batch interface"):
        asyncio.run(execute(replace(asked, **changes), path))
    assert view_of(path) == view
    assert table(path).equals(before)


def test_a_finished_run_needs_no_key(tmp_path, monkeypatch):
    path, asked = tmp_path / "a.db", Settings("openai/m", "starter", n=6, limit=4, judge="openai/judge")
    with OpenAIServer() as server:
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        assert asyncio.run(execute(asked, path)).missing == 0
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.delenv("OPENAI_BASE_URL")
    for changes in ({}, {"batch": True}, {"limit": 3}, {"min_responses": 4}):
        assert asyncio.run(execute(replace(asked, **changes), path)).missing == 0
    assert view_of(path)["min_responses"] == 4
    with pytest.raises(ModelError, match="needs a key"):
        asyncio.run(execute(replace(asked, judge_prompt="strict"), path))


def test_a_judge_is_asked_where_its_service_is_and_not_at_the_models_base_url(tmp_path, monkeypatch):
    data = questions(2)
    with OpenAIServer(references=references(data)) as server, OpenAIServer() as other:
        monkeypatch.setenv("ELSEWHERE_BASE_URL", other.base_url)
        assert do(tmp_path / "a.db", server, data, judge="openai-api/elsewhere/judge").missing == 0
        assert {body["model"] for body in server.bodies} == {"m"}
        assert {body["model"] for body in other.bodies} == {"judge"}


def test_a_question_is_judged_once_all_its_responses_are_there(tmp_path):
    """Classes of some of the answers would be bought again with the rest."""
    path, spelling = tmp_path / "a.db", "fake/?pmf=.4,.3,.2,.1&choices=5"
    once = Patience(attempts=1, first_wait=0.001, longest_wait=0.002)
    asked = Settings(parse_fake(spelling).name, "starter", n=20, judge="fake/judge", patience=once)
    for fault in ("&fault=timeout:.5", "&fault=timeout:.3", ""):
        missing = asyncio.run(execute(asked, path, model=parse_fake(spelling + fault))).missing
        with Store(path) as store:
            bought = store.count("partition").get("ok", 0)
        with Run(path) as run:
            assert bought == run.complete[0]
    assert (missing, bought) == (0, 24)
