"""-v: what a run notices is said on stderr as it happens."""

import logging
import sys

import pytest

from semece.cli import main, show_events
from semece.sampling.patience import Patience
from semece.store.run_store import Store

RUN = "run -m fake/?pmf=.5,.5&fault=429:.4 -d starter --limit 6 -n 20 --concurrency 8 -q -o {path}"


@pytest.fixture(autouse=True)
def quiet_again():
    log = logging.getLogger("semece")
    before = log.level, list(log.handlers)
    yield
    log.setLevel(before[0])
    log.handlers[:] = before[1]


def said(monkeypatch, capsys, path, *first):
    monkeypatch.setattr(sys, "argv", ["semece", *first, *RUN.format(path=path).split()])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    return capsys.readouterr().err.splitlines()


def test_rate_limits_are_said_when_it_is_wanted_and_only_then(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(Patience, "wait", lambda *_: 0.001)
    lines = said(monkeypatch, capsys, tmp_path / "a.db", "-v")
    with Store(tmp_path / "a.db") as store:
        events = [f"{name}: {text}" for name, text in store.events()]
    assert "pace: rate limited: at most 4 calls at once" in events
    assert [line for line in lines if line.startswith("pace: ")] == events
    logging.getLogger("semece").handlers.clear()
    logging.getLogger("semece").setLevel(logging.NOTSET)
    assert not [line for line in said(monkeypatch, capsys, tmp_path / "b.db") if line.startswith("pace")]


def test_asking_twice_says_everything_once(capsys):
    show_events()
    show_events()
    logging.getLogger("semece").info("noticed: %s", "a thing")
    assert capsys.readouterr().err == "noticed: a thing\n"
