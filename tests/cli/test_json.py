"""With ``--json`` stdout holds one JSON document, whatever happens."""

import json
import logging
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.main import get_command

from semece.cli import app, main

FAKE = ["-m", "fake/?pmf=.6,.4&correct=0", "-d", "starter", "-n", "4", "--limit", "3", "-q"]
STUDY = """
[study]
name = "small"
n = 4
[[models]]
model = "fake/?pmf=.9,.1"
name = "sure"
[[datasets]]
dataset = "starter"
limit = 3
"""

WORDS = {
    "run": (["run", *FAKE, "-o", "new.db"], ["run", "-m", "fakee/x", "-d", "starter"]),
    "score": (["score", "rows.jsonl", "-o", "scored.db"], ["score", "rowz.jsonl"]),
    "elicit": (["elicit", "a.db", "linguistic", "-q"], ["elicit", "a.db", "linguistics"]),
    "merge": (["merge", "s1.db", "s2.db", "-o", "all.db"], ["merge", "s1.db", "-o", "all.db"]),
    "study": (["study", "study.toml", "-q"], ["study", "studdy.toml"]),
    "paper": (None, ["paper", "a.db"]),
    "doctor": (["doctor", "a.db"], ["doctor", "rows.jsonl"]),
    "summary": (["summary", "a.db", "b.db"], ["summary", "aa.db"]),
    "report": (["report", "a.db", "-o", "page.html"], ["report", "a.db", "-o", "no/folder/page.html"]),
    "export": (["export", "a.db", "-o", "rows2.jsonl"], ["export", "a.db"]),
    "table": (["table", "ece", "a.db"], ["table", "eec", "a.db"]),
    "figure": (["figure", "reliability", "a.db", "-o", "f.svg"], ["figure", "relaibility", "a.db", "-o", "f.svg"]),
    "show": (["show", "a.db", "capital-france"], ["show", "a.db", "capital-frence"]),
    "recalibrate": (["recalibrate", "a.db", "-m", "platt"], ["recalibrate", "a.db", "-m", "plat"]),
    "abstain": (["abstain", "a.db"], ["abstain", "a.db", "--delta", "2"]),
    "plan": (["plan", "--width", "0.1"], ["plan"]),
    "compare": (["compare", "a.db", "b.db"], ["compare", "a.db"]),
    "check": (["check", "a.db", "--max", "sem1_ece=1"], ["check", "a.db"]),
    "judge-eval": (["judge-eval", "labelled.jsonl", "-j", "rules"], ["judge-eval", "labelled.jsonl", "-j", "ruels"]),
    "theory": (["theory", "--margin", "0.1"], ["theory", "--margin", "2"]),
    "simulate": (["simulate", "-Q", "50", "-n", "4"], ["simulate", "--family", "zip"]),
    "datasets": (["datasets"], ["datasets", "--jsn"]),
    "models": (["models"], ["models", "more"]),
    "fetch-model": (None, ["fetch-model", "more"]),
    "audit export": (["audit", "export", "a.db", "-o", "sheet.csv"], ["audit", "export", "a.db", "--size", "many"]),
    "audit score": (["audit", "score", "a.db", "filled.csv"], ["audit", "score", "a.db", "fild.csv"]),
}
"""Of each command right words and wrong ones; ``fetch-model`` would leave the machine, ``paper`` is tried elsewhere."""


def commands(known, before=""):
    """Every command with its options, those of groups under the group's name."""
    for name, command in known.items():
        inner = getattr(command, "commands", None)
        if inner:
            yield from commands(inner, f"{before}{name} ")
        else:
            yield f"{before}{name}", {option for each in command.params for option in each.opts}


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Iterator[Path]:
    """A folder with what the commands need, and an audit sheet that a person has filled."""
    folder = tmp_path_factory.mktemp("json")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)

        def typed(*words):
            patched.setattr(sys, "argv", ["semece", *words])
            with pytest.raises(SystemExit) as ended:
                main()
            assert not ended.value.code, words

        Path("study.toml").write_text(STUDY)
        Path("labelled.jsonl").write_text(
            '{"question": "Capital of France?", "references": ["Paris"], "answer": "paris", "correct": true}\n'
        )
        typed("run", *FAKE, "-o", "a.db")
        shutil.copy("a.db", "b.db")
        for k in (1, 2):
            typed("run", *FAKE, "--shard", f"{k}/2", "-o", f"s{k}.db")
        typed("export", "a.db", "-o", "rows.jsonl")
        typed("audit", "export", "a.db", "--annotators", "1", "-o", "blank.csv")
        blank = Path("blank-1.csv").read_text(encoding="utf-8-sig").splitlines()
        head = blank[0].split(",")
        filled = [
            ",".join(["correct" if n == "verdict" else c for n, c in zip(head, row.split(","), strict=False)])
            for row in blank[1:]
        ]
        Path("filled.csv").write_text("\n".join([blank[0], *filled]) + "\n")
        yield folder


@pytest.fixture
def typed(files, monkeypatch, capsys):
    """Type a command in the folder; give exit code, the document on stdout, and stderr."""
    monkeypatch.chdir(files)
    log = logging.getLogger("semece")
    handlers = list(log.handlers)

    def type_words(*words):
        monkeypatch.setattr(sys, "argv", ["semece", *words, "--json"])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return ended.value.code or 0, json.loads(out), err

    yield type_words
    log.handlers[:] = handlers


def test_every_command_takes_json_and_is_tried_here():
    found = dict(commands(get_command(app).commands))
    assert set(found) == set(WORDS)
    assert [name for name, options in found.items() if "--json" not in options] == []


@pytest.mark.parametrize("name", [name for name, (right, _) in WORDS.items() if right])
def test_what_is_found_is_one_document(typed, name):
    code, document, err = typed(*WORDS[name][0])
    assert code == 0, err
    assert document
    assert "error" not in document


@pytest.mark.parametrize("name", WORDS)
def test_a_failure_is_one_document_with_the_sentence_and_the_exit_code(typed, name):
    code, document, err = typed(*WORDS[name][1])
    assert code in {2, 4}
    assert document == {"error": {"message": err.splitlines()[-1].removeprefix("semece: "), "exit": code}}
    assert document["error"]["message"]


def test_a_dry_run_a_list_and_an_incomplete_run_are_documents(typed):
    code, plan, _ = typed("run", *FAKE, "--dry-run", "-o", "dry.db")
    assert (code, plan["missing"], plan["wanted"]) == (0, 12, 12)
    assert [stage["name"] for stage in plan["stages"]] == ["respond"]
    assert typed("elicit", "a.db", "top-k", "--dry-run")[1]["stages"]
    assert typed("study", "study.toml", "--dry-run")[1]["cells"]
    assert [row["id"] for row in typed("show", "a.db")[1]] == ["capital-france", "capital-japan", "capital-egypt"]
    code, run, err = typed("run", *FAKE, "--max-total-tokens", "1", "-o", "cap.db")
    assert (code, run["missing"]) == (3, 12)
    assert "run it again" in err


def test_what_was_asked_for_is_told_and_no_other_score(typed):
    assert [each["name"] for each in typed("elicit", "b.db", "linguistic", "-q")[1]["scores"]] == ["linguistic"]
    assert [each["name"] for each in typed("elicit", "b.db", "p-true", "-q")[1]["scores"]] == ["p_true"]
