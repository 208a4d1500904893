"""What is no file, no name, no ending: one sentence, the right exit code, and nothing left behind."""

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest

from semece.runs.run import Run
from semece.show.figures.run_figures import draw

FAKE = "fake/?pmf=.5,.3,.2"
ROW = '{"question": "Q?", "references": ["a"], "answers": ["a", "b"]}\n'


@pytest.fixture
def run(semece):
    """Make a small run file."""
    assert semece("run", "-m", FAKE, "-d", "starter", "-n", 4, "--limit", 12, "-o", "a.db", "-q")[0] == 0
    return semece


def refused(said, code, part):
    assert said[0] == code, said
    assert said[1] == ""
    assert said[2].startswith("semece: ")
    assert said[2].count("\n") == 1
    assert part in said[2]


@pytest.mark.parametrize(
    ("name", "make", "part"),
    [
        ("folder", os.mkdir, "folder cannot be read: it is a folder"),
        ("pipe", os.mkfifo, "pipe cannot be read: it is a pipe"),
        ("empty", lambda path: Path(path).touch(), "empty: a recalibration is one JSON object"),
        ("bytes", lambda path: Path(path).write_bytes(bytes(range(256))), "bytes is not a map of 'semece recalibrate'"),
        ("absent", lambda path: None, "absent cannot be read: it does not exist"),
    ],
)
def test_a_map_that_is_none_is_one_sentence(run, name, make, part):
    make(name)
    refused(run("summary", "a.db", "--recalibrate", name), 2, part)


@pytest.mark.parametrize("option", ["--name", "--dataset"])
def test_a_blank_name_leaves_no_file(semece, option):
    Path("s.jsonl").write_text(ROW)
    refused(semece("score", "s.jsonl", option, " ", "-o", "n.db"), 2, f"{option} must be a name, not blank")
    assert [path.name for path in Path().iterdir()] == ["s.jsonl"]


def test_an_ending_that_is_not_known_is_refused(run):
    refused(run("export", "a.db", "-o", "a.xlsx"), 2, "the output must end in .jsonl, .csv or .parquet")
    assert not Path("a.xlsx").exists()
    assert run("export", "a.db", "-o", "a.txt", "--to", "jsonl")[0] == 0


OUTPUTS = {
    "run": ("run", "-m", FAKE, "-d", "starter", "-n", 4, "-q"),
    "score": ("score", "s.jsonl"),
    "report": ("report", "a.db"),
    "export": ("export", "a.db"),
    "table": ("table", "ece", "a.db"),
    "figure": ("figure", "reliability", "a.db"),
    "merge": ("merge", "a.db", "b.db"),
}


@pytest.mark.parametrize("command", OUTPUTS)
def test_an_output_that_is_a_folder_or_in_a_missing_one_is_refused_by_the_disk(run, command):
    Path("s.jsonl").write_text(ROW)
    folder = "folder.svg" if command == "figure" else "folder"
    Path(folder).mkdir()
    refused(run(*OUTPUTS[command], "-o", folder), 4, "folder")
    if command in {"report", "export", "table", "figure"}:
        refused(run(*OUTPUTS[command], "-o", f"missing/a.{'jsonl' if command == 'export' else 'svg'}"), 4, "missing/a.")


@pytest.mark.parametrize("command", ["summary", "doctor", "export"])
def test_what_is_read_and_is_no_file_is_wrong_input(semece, command):
    Path("folder").mkdir()
    refused(semece(command, "folder"), 2, "folder cannot be read: it is a folder")
    refused(semece(command, "absent.db"), 2, "absent.db does not exist")


def test_a_run_is_named_once(run):
    Path("b.db").symlink_to("a.db")
    for command in (("summary",), ("table", "ece"), ("report",)):
        refused(run(*command, "a.db", "b.db"), 2, "a run is named once; a.db is named 2 times")


@pytest.mark.parametrize("words", [("study", "absent.toml"), ("summary", "absent.db"), ("plan", "--width", "3")])
def test_a_command_that_fails_says_so_in_json_too(semece, words):
    code, out, err = semece(*words, "--json")
    assert code == 2
    assert json.loads(out) == {"error": {"message": err.removeprefix("semece: ").strip(), "exit": 2}}


def test_an_address_that_is_wrong_shows_no_secret_in_json(semece):
    code, out, err = semece("study", "http://user:hidden-word@host/a?token=marker-word", "--json")
    assert code == 2
    assert "hidden-word" not in out + err
    assert "marker-word" not in out + err


def test_a_width_that_no_number_of_questions_has_is_refused(semece):
    refused(semece("plan", "--width", "1e-9"), 2, "1,000,000,000 questions can have, at least 8.8e-05; got 1e-09")


def test_no_more_classes_than_answers_are_priced(semece):
    words = ("run", "-m", FAKE, "-d", "starter", "-j", "fake/judge", "--dry-run", "-o", "a.db", "-n")
    calls = [semece(*words, n)[1].splitlines()[2].split(": ")[1].split(" calls")[0] for n in (2, 4, 40)]
    assert calls == ["48", "96", "144"]


def test_a_confidence_that_was_asked_for_with_other_answers_is_said_to_be_lacking(run):
    assert run("elicit", "a.db", "p-true", "-q")[0] == 0
    assert "lacking" not in run("summary", "a.db")[1]
    assert run("run", "-m", FAKE, "-d", "starter", "-n", 3, "--limit", 12, "-o", "a.db", "-q")[0] == 0
    assert "p-true is lacking for 12 of 12 questions, which have other answers now" in run("summary", "a.db")[1]
    assert run("elicit", "a.db", "p-true", "-q")[0] == 0
    assert "lacking" not in run("summary", "a.db")[1]


def test_a_prompt_typed_instead_of_its_file_says_that_a_file_is_meant(semece):
    said = semece("run", "-m", FAKE, "-d", "starter", "--prompt", "Q: {question}", "-o", "a.db")
    refused(said, 2, "--prompt names a file that holds the text; got 'Q: {question}'")
    assert not Path("a.db").exists()


@pytest.mark.parametrize("words", [("recalibrate",), ("audit", "forget"), ("report",), ("show",), ("audit", "export")])
def test_what_a_table_of_counts_cannot_do_needs_the_run_file(semece, words):
    pl.DataFrame({"labels": [[0, 1, 0]] * 40, "correct": [[True, False]] * 40}).write_parquet("labels.parquet")
    assert semece("score", "labels.parquet", "-o", "t.parquet")[0] == 0
    refused(semece(*words, "t.parquet"), 2, "needs the run file")


def test_an_engine_that_nobody_knows_is_refused_before_a_file_is_read(semece):
    for output in ("t.parquet", "a.db"):
        said = semece("score", "nowhere.jsonl", "--engine", "spark", "-o", output)
        refused(said, 2, "engine must be one of local, daft, ray; got 'spark'")


def test_lists_that_are_all_empty_are_questions_without_an_answer(semece):
    pl.DataFrame({"labels": [[], []], "correct": [[], []]}).write_parquet("labels.parquet")
    code, out, err = semece("score", "labels.parquet", "-o", "t.parquet")
    assert (code, err) == (0, "")
    assert "no question enters (2 with too few usable answers)" in out


def test_the_doctor_advises_to_set_aside_only_what_can_be_set_aside(run):
    whole = Path("a.db").read_bytes()
    place = whole.index(b"Answer: ") + 2
    Path("a.db").write_bytes(whole[:place] + bytes([whole[place] ^ 8]) + whole[place + 1 :])
    refused(run("doctor", "a.db"), 2, "this cannot be set aside")
    Path("a.db").write_bytes(whole)
    with closing(sqlite3.connect("a.db")) as connection, connection:
        connection.execute("UPDATE replies SET cost = 9 WHERE id = 1")
    refused(run("doctor", "a.db"), 2, "'semece doctor a.db --set-aside' sets what is damaged aside")


def test_of_more_than_four_confidences_the_first_four_are_drawn(semece):
    row = {"references": ["a"], "answers": ["a", "b", "a"], "confidences": [0.9, 0.5, 0.8]}
    rows = [row | {"question": f"Q{i}?", "scores": {"one": i / 20, "two": i / 30, "three": 0.5}} for i in range(20)]
    Path("s.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    assert semece("score", "s.jsonl", "-j", "exact", "-o", "a.db")[0] == 0
    with Run("a.db") as opened:
        assert len(draw("reliability", [opened]).axes) == 4
    many = [word for name in ("sem1", "sem2", "verbalized", "one", "two") for word in ("--score", name)]
    refused(semece("figure", "reliability", "a.db", "-o", "five.svg", *many), 2, "a figure has at most 4 panels")


@pytest.mark.parametrize("quiet", [(), ("-q",)])
@pytest.mark.parametrize(("fault", "part"), [("401", "refused the key"), ("quota", "quota is exhausted")])
def test_what_is_refused_at_the_first_call_is_one_sentence(semece, fault, part, quiet):
    words = ("run", "-m", f"{FAKE}&fault={fault}:1", "-d", "starter", "-n", 4, "--limit", 5, "-o", "a.db", *quiet)
    for _ in range(2):
        refused(semece(*words), 4, part)


def test_what_is_refused_later_says_where_the_rest_is(semece):
    words = ("run", "-m", f"{FAKE}&fault=quota:.1", "-d", "starter", "-n", 4, "--limit", 40, "--concurrency", 2)
    refused(semece(*words, "-o", "q.db", "-q"), 4, "quota is exhausted; what was delivered before is stored in q.db")
    code, _, err = semece(*words, "-o", "a.db")
    assert (code, err.splitlines()[0], err.count("\n")) == (4, "a.db", 2)
    assert err.splitlines()[1].endswith("what was delivered before is stored in a.db")


def test_a_run_that_answers_says_its_file(semece):
    assert semece("run", "-m", FAKE, "-d", "starter", "-n", 4, "--limit", 3, "-o", "a.db")[2] == "a.db\n"


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("/proc/x.db", "/proc/x.db cannot be written: no file can be made in its folder"),
        ("/dev/null", "/dev/null cannot be read: it is a device"),
        ("file/x.db", "file/x.db cannot be written"),
    ],
)
def test_where_no_run_file_can_be_is_said_as_it_is(semece, path, part):
    Path("file").touch()
    code, out, err = semece("run", "-m", FAKE, "-d", "starter", "-n", 2, "--limit", 2, "-o", path, "-q")
    assert (code in {2, 4}, out, err.count("\n")) == (True, "", 1)
    assert part in err
    assert "another process" not in err


def test_a_file_in_a_file_is_not_looked_for(semece):
    Path("file").touch()
    refused(semece("summary", "file/x.db"), 2, "file/x.db does not exist: file is no folder")


PLURAL = re.compile(
    r"\b1 (?:[a-z]+ ){0,2}"
    r"(?:answers|questions|runs|rows|responses|replies|calls|classes|lines|requests|tokens|are|have)\b"
)


def test_one_of_a_thing_is_not_called_several(semece):
    Path("one.jsonl").write_text(ROW.replace('["a", "b"]', '["a"]'))
    Path("two.jsonl").write_text(ROW.replace('["a", "b"]', '["a", "a"]'))
    few = ("-d", "starter", "-n", 1, "--limit", 1, "-j", "rules", "--attempts", 1)
    told = "".join(
        "".join(semece(*words)[1:])
        for words in (
            ("score", "one.jsonl", "-o", "a.db"),
            ("score", "two.jsonl", "-o", "b.db"),
            ("doctor", "a.db"),
            ("show", "b.db", "0"),
            ("compare", "b.db", "--judges", "rules", "exact"),
            ("check", "b.db", "--min-value", "accuracy=.5"),
            ("audit", "export", "b.db", "--size", 1, "--annotators", 1, "-o", "sheet.csv"),
            ("run", "-m", "fake/?pmf=.5,.5&fault=500:1", *few, "-o", "c.db"),
            ("run", "-m", "fake/?pmf=.5,.5", *few, "-o", "d.db", "--dry-run"),
        )
    )
    assert "0 of 1 question complete" in told
    assert "1 reply is missing" in told
    assert "1 of 1 answer was drawn" in told
    assert PLURAL.findall(told) == []


def test_a_near_name_of_a_file_has_its_ending_and_an_equal_one_any(semece):
    for name in ("alpha.jsonl", "alpha.db.lock", "zz.csv"):
        Path(name).write_text(ROW)
    assert "(did you mean 'alpha.jsonl'?)" in semece("score", "alpha.csv")[2]
    assert "(did you mean 'alpha.jsonl'?)" in semece("score", "alhpa.jsonl")[2]
    assert "did you mean" not in semece("summary", "alhpa.db")[2]
    assert "did you mean" not in semece("score", "b.jsonl")[2]
    Path("alpha.csv").write_text("")
    assert "(did you mean 'alpha.csv'?)" in semece("score", "alhpa.csv")[2]


def test_a_run_says_what_it_is_where_python_shows_it(semece):
    Path("one.jsonl").write_text(ROW)
    semece("score", "one.jsonl", "--name", "mine", "--dataset", "few", "-o", "a.db")
    with Run("a.db") as opened:
        assert repr(opened) == "<Run few · mine: n = 2, judge rules, 'a.db'>"


def test_a_link_that_leads_nowhere_is_not_what_was_meant(semece):
    Path("a.db").symlink_to("a.db")
    refused(semece("summary", "a.db"), 2, "a.db does not exist; 'semece run' makes run files")


def test_a_signal_that_falls_into_an_import_ends_the_command():
    program = """
import os, signal, time
from semece import cli

def app(**_):
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5)
    except SystemExit:
        raise ImportError("initialization failed") from None

cli.app = app
cli.main()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (143, "semece: stopped\n")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("as_json", [(), ("--json",)])
def test_a_reading_command_that_is_stopped_says_so(number, code, as_json, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    program = f"""
import os, signal, sys
import semece.runs

def tabulate(*_, **__):
    os.kill(os.getpid(), {int(number)})
    signal.pause()

semece.runs.tabulate = tabulate
sys.argv = ["semece", "score", "a.jsonl", "-o", "a.parquet", *{as_json}]
from semece import cli
cli.main()
"""
    Path("a.jsonl").write_text('{"question": "?", "references": ["a"], "answers": ["a", "b"]}\n')
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (code, "semece: stopped\n")
    assert json.loads(done.stdout) == {"error": {"message": "stopped", "exit": code}} if as_json else not done.stdout
    assert not list(Path().glob("a.parquet*"))
