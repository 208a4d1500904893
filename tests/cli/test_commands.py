"""The command line: what a person types, what is printed where, and the exit codes."""

import csv
import json
import os
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from semece.datasets import read_rows
from semece.runs.renderers import guarded
from semece.runs.run import Run
from semece.store.run_store import Store
from tests.making_runs import change
from tests.servers.openai_server import OpenAIServer

FAKE = "fake/?pmf=.5,.3,.2"
SEMECE = [sys.executable, "-c", "from semece.cli import main; main()"]


def run_starter(semece, *more, model=FAKE):
    return semece("run", "--model", model, "--dataset", "starter", "-n", 10, "-o", "a.db", *more)


def one_sentence(err):
    lines = [line for line in err.splitlines() if line.startswith("semece: ")]
    assert "Traceback" not in err
    assert len(lines) == 1, err
    return lines[0]


def test_a_run_says_a_sentence_then_the_table_and_again_the_same(semece):
    code, out, err = run_starter(semece)
    assert code == 0
    assert out.splitlines()[0].startswith(f"starter · {FAKE}: ")
    assert "Grouped and graded by rules" in out
    for name in ("Accuracy", "Ver-ECE", "Sem1-ECE", "Sem2-ECE", "N   "):
        assert name in out
    assert (out.splitlines()[-1], err.strip()) == ("a.db", "a.db")
    assert run_starter(semece) == (code, out, "")


def test_the_default_path_is_made_of_dataset_and_model(semece):
    _, out, _ = semece("run", "-m", FAKE, "-d", "starter", "-n", 4, "--limit", 2)
    assert out.splitlines()[-1] == "runs/starter--fake--pmf-.5-.3-.2.db"
    assert Path("runs/starter--fake--pmf-.5-.3-.2.db").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["run", "-d", "starter"], "name a model with --model"),
        (["run", "-m", FAKE], "name a dataset with --dataset"),
        (["run", "-m", "nothing", "-d", "starter"], "there is no model 'nothing'"),
        (["run", "-m", "nowhere/x", "-d", "starter", "-j", "rules"], "there is no model 'nowhere/x'"),
        (["run", "-m", "openai/gpt-4o-mini", "-d", "starter"], "name a judge: --judge rules"),
        (["run", "-m", "openai/gpt-4o-mini", "-d", "starter", "-j", "rules"], "OPENAI_API_KEY"),
        (["run", "-m", FAKE, "-d", "nothing"], "there is no dataset 'nothing'"),
        (["run", "-m", FAKE, "-d", "starter", "-j", "me"], "there is no judge 'me'"),
        (["run", "-m", FAKE, "-d", "starter", "--env-file", "no.env"], "no.env does not exist"),
        (["run", "-m", FAKE, "-d", "starter", "--prompt", "no.txt"], "no.txt cannot be read"),
        (["run", "-m", FAKE, "-d", "starter", "--config", "no.toml"], "no.toml cannot be read"),
        (["run", "-m", FAKE, "-d", "starter", "-n", "0"], "n must be from 1 to 20,000; got 0"),
        (["run", "-m", FAKE, "-d", "starter", "--budget", "nan"], "budget must be above 0 (USD); got nan"),
        (["run", "-m", FAKE, "-d", "starter", "--budget", "-1"], "budget must be above 0 (USD); got -1"),
        (["run", "-m", FAKE, "-d", "starter", "--max-total-tokens", "-5"], "max-total-tokens must be at least 1"),
        (["run", "-m", FAKE, "-d", "starter", "--judge-prompt", "foo"], "judge-prompt must be default, strict, loose"),
        (["run", "-m", FAKE, "-d", "starter", "-j", "given"], "the judge 'given' reads labels that came with samples"),
        (["run", "-m", FAKE, "-d", "starter", "-j", "openai/gpt-4o-mini"], "OPENAI_API_KEY"),
        (["run", "-m", FAKE, "-d", "starter", "-j", "nowhere/x"], "there is no model 'nowhere/x'"),
        (["run", "-m", "fake/?pmf=.5", "-d", "starter"], "pmf"),
        (["summary", "absent.db"], "absent.db does not exist"),
        (["show", "absent.db", "q"], "absent.db does not exist"),
        (["report", "absent.db"], "absent.db does not exist"),
        (["export", "absent.db"], "absent.db does not exist"),
        (["score", "absent.jsonl"], "absent.jsonl cannot be read"),
        (
            ["score", "absent.jsonl", "-j", "nonsense"],
            "judge of samples must be rules, exact, math, nli/PATH or given; got 'nonsense'",
        ),
    ],
)
def test_wrong_input_is_one_sentence_and_leaves_no_file(semece, words, sentence):
    code, out, err = semece(*words)
    assert code == 2
    assert sentence in one_sentence(err)
    assert out == ""
    assert not list(Path().rglob("*.db"))


def test_what_the_parser_rejects_exits_with_two(semece):
    assert semece("run", "--nonsense")[0] == 2
    assert semece("run", "-m", FAKE, "-d", "starter", "-n", "many")[0] == 2
    assert semece("nothing")[0] == 2


@pytest.mark.parametrize("command", [["summary"], ["report"], ["show", "q"]])
def test_a_foreign_file_is_one_sentence_and_untouched(semece, command):
    Path("b.db").write_text("hello, this is a letter")
    code, _, err = semece(command[0], "b.db", *command[1:])
    assert code == 2
    assert "not a semece run file" in one_sentence(err)
    assert Path("b.db").read_text() == "hello, this is a letter"


def test_a_newer_file_is_refused(semece):
    run_starter(semece)
    with sqlite3.connect("a.db") as connection:
        connection.execute("PRAGMA user_version=9")
    connection.close()
    assert "has format 9" in one_sentence(semece("summary", "a.db")[2])


def test_a_changed_temperature_is_refused_by_name(semece):
    run_starter(semece)
    code, _, err = run_starter(semece, "--temperature", 0.5)
    assert code == 2
    assert "a.db was made with temperature 1.0, not 0.5" in one_sentence(err)


def test_an_incomplete_run_prints_its_table_and_exits_with_three(semece):
    code, out, err = run_starter(semece, "--attempts", 1, model=FAKE + "&fault=500:.3")
    assert code == 3
    assert "of 24 questions complete" in out.splitlines()[0]
    assert "replies are missing (the last failure: the fake model answered 500)" in one_sentence(err)
    assert "; run it again to continue: semece run" in err


def test_a_cap_exits_with_three_and_says_how_to_go_on(semece):
    code, out, err = run_starter(semece, "--max-total-tokens", 2_000, "--max-tokens", 50, "--concurrency", 1)
    assert code == 3
    assert "cap of 2,000 tokens is reached" in err
    assert "questions complete" in out
    assert " 0 replies" not in err
    for _ in range(5):
        command = err.split("run it again with a higher cap to continue: semece ")[1].strip()
        assert "--max-total-tokens" in command
        code, out, err = semece(*shlex.split(command))
        if not code:
            break
    assert code == 0
    with Run("a.db") as run:
        assert run.complete == (24, 24)


def test_a_cap_below_one_call_is_raised_to_what_one_call_needs(semece):
    code, _, err = run_starter(semece, "--max-total-tokens", 10, "--budget", 1e-9)
    assert code == 3
    command = err.split("run it again with a higher cap to continue: semece ")[1].strip()
    assert "--budget 2e-09" in command
    needed = int(command.partition("--max-total-tokens ")[2].partition(" ")[0])
    assert 10 * 1024 < needed < 12_000
    assert "cap of 10 tokens" not in semece(*shlex.split(command))[2]


def test_a_cap_of_a_configuration_is_doubled_in_the_command_that_goes_on(semece):
    caps = "[run]\nmax_total_tokens = 2_000\nmax_tokens = 50\nconcurrency = 1\nbudget = 1e-3\n"
    Path("run.toml").write_text(caps)
    code, _, err = run_starter(semece, "--config", "run.toml")
    assert code == 3
    command = err.split("run it again with a higher cap to continue: semece ")[1].strip()
    assert command.endswith("--config run.toml --budget 0.002 --max-total-tokens 4000")
    code, _, err = semece(*shlex.split(command))
    assert code == 0


@pytest.mark.parametrize(
    ("content", "sentence"),
    [(b"A=\xff", "a.env is not UTF-8 text"), (b"A=\x00b", "a.env: expected lines NAME=value; embedded null byte")],
)
def test_a_file_of_keys_that_cannot_be_read_is_one_sentence(semece, content, sentence):
    Path("a.env").write_bytes(content)
    code, _, err = run_starter(semece, "--env-file", "a.env")
    assert code == 2
    assert one_sentence(err) == f"semece: {sentence}"


def test_show_has_the_classes_the_grades_and_the_numbers(semece):
    run_starter(semece)
    code, out, _ = semece("show", "a.db", "capital-france")
    assert code == 0
    for text in ("What is the capital of France?", "references: Paris", "Sem2", "correct        Paris", "x 'Paris'"):
        assert text in out
    assert "has no question 'nope'" in one_sentence(semece("show", "a.db", "nope")[2])


def test_exported_samples_score_to_the_same_numbers(semece):
    run_starter(semece)
    assert semece("export", "a.db", "-o", "samples.jsonl")[0] == 0
    assert semece("score", "samples.jsonl", "-o", "b.db")[0] == 0
    with Run("a.db") as run, Run("b.db") as scored:
        columns = ["question_id", "n_responses", "n_classes", "sem1", "sem2", "verbalized", "correct", "correct_split"]
        assert scored.judge_names == ("given", "given")
        assert scored.estimates()[columns].equals(run.estimates()[columns])
    assert semece("score", "samples.jsonl", "-o", "b.db")[0] == 0
    Path("other.jsonl").write_text('{"question": "?", "answers": ["a", "b"]}\n')
    assert "holds other samples" in one_sentence(semece("score", "other.jsonl", "-o", "b.db")[2])


def test_what_is_exported_is_scored_whatever_failed_and_what_is_left_out_is_said(semece):
    run_starter(semece, "--judge", "fake/judge")
    with sqlite3.connect("a.db") as connection:
        ids = [row[0] for row in connection.execute("SELECT id FROM questions ORDER BY position")]
        connection.execute("DELETE FROM replies WHERE stage = 'partition' AND question_id = ?", ids[2:3])
        connection.execute("DELETE FROM derived")
    connection.close()
    cut = "UPDATE replies SET status = 'truncated' WHERE stage = 'respond' AND question_id IN (?, ?)"
    change("a.db", cut, ids[:2])
    code, out, err = semece("export", "a.db")
    assert code == 0
    assert err.splitlines() == [
        "semece: left out: 2 of 24 questions without a usable answer",
        "semece: left out: 1 of 24 questions without classes",
    ]
    assert [json.loads(line)["id"] for line in out.splitlines()] == ids[3:]
    Path("samples.jsonl").write_text(out)
    assert semece("score", "samples.jsonl", "-o", "b.db")[0] == 0
    with Run("a.db") as run, Run("b.db") as scored:
        assert scored.judge_names == ("given", "given")
        assert scored.estimates()["sem2"].to_list() == run.estimates()["sem2"].to_list()[3:]
    with sqlite3.connect("a.db") as connection:
        connection.execute("DELETE FROM replies WHERE stage = 'partition'")
        connection.execute("DELETE FROM derived")
    connection.close()
    _, out, err = semece("export", "a.db")
    assert err.splitlines() == ["semece: left out: 2 of 24 questions without a usable answer"]
    assert len(out.splitlines()) == 22
    assert "labels" not in out


def test_samples_are_judged_by_a_model_only_once_they_are_stored(semece):
    Path("s.jsonl").write_text('{"question": "?", "references": ["a"], "answers": ["a", "b"]}\n')
    code, _, err = semece("score", "s.jsonl", "-j", "fake/judge", "-o", "s.db")
    assert code == 2
    assert not Path("s.db").exists()
    command = one_sentence(err).split("a model judges them once they are stored: semece ")[1]
    assert semece("score", "s.jsonl", "-o", "s.db")[0] == 0
    assert semece(*shlex.split(command.replace("RUN", "s.db")))[0] == 0
    assert semece("summary", "s.db", "-j", "fake/judge")[0] == 0


def test_the_ending_of_an_export_says_its_form_and_must_not_contradict(semece):
    run_starter(semece)
    assert semece("export", "a.db", "--what", "responses", "-o", "a.csv")[0] == 0
    assert Path("a.csv").read_text().startswith("question_id,index,")
    assert semece("export", "a.db", "--what", "estimates", "-o", "a.PARQUET")[0] == 0
    assert pl.read_parquet("a.PARQUET").height == 24
    code, _, err = semece("export", "a.db", "-o", "a.txt")
    assert (code, "the output must end in .jsonl, .csv or .parquet" in err) == (2, True), err
    assert not Path("a.txt").exists()
    code, _, err = semece("export", "a.db", "--what", "responses", "--to", "jsonl", "-o", "b.csv")
    assert (code, "b.csv ends like a csv file, and --to says jsonl" in err) == (2, True), err
    assert not Path("b.csv").exists()


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_responses_and_estimates_export_in_every_form(semece, form):
    run_starter(semece)
    for what, rows in (("responses", 240), ("estimates", 24)):
        assert semece("export", "a.db", "--what", what, "--to", form, "-o", f"{what}.{form}")[0] == 0
        import polars as pl

        read = {"jsonl": pl.read_ndjson, "csv": pl.read_csv, "parquet": pl.read_parquet}[form]
        assert read(f"{what}.{form}").height == rows


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("{", "line 1: expected a JSON object"),
        ("[]", "got JSON without a row"),
        ("[3]", "item 1: expected a JSON object; got int"),
        ('{"answers": ["a"]}', "line 1: expected a field 'question'"),
        ('{"question": "?"}', "expected a list 'answers'"),
        ('{"question": "?", "answers": []}', "at least one answer"),
        ('{"question": "?", "answers": ["a", 1]}', "answers must be texts; got 1 at index 1"),
        ('{"question": "?", "answers": ["a"], "confidences": [90]}', "[0, 1]; got 90 at index 0 (percent?"),
        ('{"question": "?", "answers": ["a"], "confidences": []}', "one confidence per answer; got 0 for 1"),
        ('{"question": "?", "answers": ["a"], "labels": [0, 1]}', "one label per response; got 2 for 1"),
        ('{"question": "?", "answers": ["a"], "labels": [0], "grades": {"0": "CORRECT"}}', "got 'CORRECT'"),
        ('{"id": 1, "question": "?", "answers": ["a"]}\n{"id": 1, "question": "!", "answers": ["a"]}', "unique"),
        ("", "no samples"),
    ],
)
def test_a_bad_samples_file_is_named_with_its_line(semece, line, sentence):
    Path("bad.jsonl").write_text(line + "\n")
    code, _, err = semece("score", "bad.jsonl")
    assert code == 2
    assert "bad.jsonl" in one_sentence(err)
    assert sentence in one_sentence(err)


def test_unequal_numbers_of_answers_one_answer_and_empty_answers_are_defined(semece):
    rows = [
        {"question": "a?", "reference": "x", "answers": ["x", "x", "y"]},
        {"question": "b?", "reference": "x", "answers": ["x"]},
        {"question": "c?", "reference": "x", "answers": ["", "", "x", " "]},
    ]
    Path("s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert semece("score", "s.jsonl", "-j", "rules", "-o", "s.db")[0] == 0
    with Run("s.db") as run:
        table = run.estimates()
    assert table["n_responses"].to_list() == [3, 1, 1], "a text that is blank is no answer"
    assert table["status"].to_list() == ["complete", "too_few", "too_few"]
    assert table["correct"].to_list()[0] == 1.0


def test_labels_that_only_some_questions_bring_are_not_ignored_in_silence(semece):
    rows = ['{"question": "a?", "reference": "x", "answers": ["x", "y"], "labels": [0, 0], "grades": {"0": "correct"}}']
    Path("all.jsonl").write_text(rows[0])
    Path("some.jsonl").write_text(rows[0] + '\n{"question": "b?", "reference": "x", "answers": ["x", "y"]}\n')
    Path("labels.jsonl").write_text(rows[0].replace(', "grades": {"0": "correct"}', ""))
    assert semece("score", "all.jsonl", "-o", "all.db")[0] == 0
    assert "1 of 2 questions bring labels" in one_sentence(semece("score", "some.jsonl", "-o", "some.db")[2])
    assert semece("score", "some.jsonl", "-j", "rules", "-o", "some.db")[0] == 0
    assert semece("score", "labels.jsonl", "-o", "labels.db")[0] == 0
    for name, judges in (("all.db", ("given", "given")), ("labels.db", ("given", "rules"))):
        with Run(name) as run:
            assert run.judge_names == judges
            assert run.estimates()["n_classes"].to_list() == [1]


def test_a_terminal_is_not_obeyed_by_an_answer(semece):
    Path("esc.jsonl").write_text(json.dumps({"question": "q\x1b[31m?", "answers": ["\x1b]0;x\x07\x1b[2J", "b"]}) + "\n")
    semece("score", "esc.jsonl", "-o", "esc.db")
    out = semece("show", "esc.db", "0")[1]
    assert "\x1b" not in out
    assert "\x07" not in out
    assert "\\x1b" in out


def test_a_server_that_nobody_answers_at_is_named_at_once(semece, monkeypatch):
    monkeypatch.setenv("TEST_BASE_URL", "http://127.0.0.1:9/v1")
    started = time.monotonic()
    code, _, err = semece("run", "-m", "openai-api/test/m", "-d", "starter", "-j", "rules", "-n", 4, "-o", "a.db")
    assert code == 4
    assert "nothing has answered yet: is the address right" in one_sentence(err)
    assert time.monotonic() - started < 20


def test_a_key_is_pasted_with_blanks_or_with_what_cannot_be_sent(semece, monkeypatch):
    from semece.models.shared.secrets import sendable

    assert sendable(" sk-1\r\n", "X") == "sk-1"
    monkeypatch.setenv("TEST_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("TEST_API_KEY", "sk-é")
    _, _, err = semece("run", "-m", "openai-api/test/m", "-d", "starter", "-j", "rules", "-n", 4, "-o", "a.db")
    assert "TEST_API_KEY holds a character that cannot be sent" in one_sentence(err)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_an_output_that_is_full_is_one_sentence(semece, tmp_path):
    run_starter(semece)
    for command in (["summary", "a.db"], ["export", "a.db"]):
        with Path("/dev/full").open("w") as full:
            found = subprocess.run(SEMECE + command, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True)
        assert found.returncode == 4
        assert "Traceback" not in found.stderr


def test_json_has_every_column(semece):
    run_starter(semece)
    code, out, _ = semece("summary", "a.db", "--json")
    assert code == 0
    rows = json.loads(out)
    assert rows[0]["questions"] == 24
    assert 0 <= rows[0]["sem2_ece_low"] <= rows[0]["sem2_ece"] <= 1


FORMULAS = ["=1+1", "+1+1", "-1+1", "@SUM(A1)", " =1", "\t=1", "＝1", "'=1", "=HYPERLINK(1)", "-5", "a=b"]


def test_no_cell_of_a_csv_is_a_formula_and_what_was_guarded_reads_as_it_was(semece):
    rows = [{"question": f"{text}?", "references": [text], "answers": [text, "x"]} for text in FORMULAS]
    Path("a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert semece("score", "a.jsonl", "-j", "exact", "-o", "a.db")[0] == 0
    for words in (["export", "a.db", "--what", "responses", "--to", "csv"], ["table", "ece", "a.db", "-f", "csv"]):
        assert semece(*words, "-o", "a.csv")[0] == 0
        with Path("a.csv").open(newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        live = [
            cell for cell in cells if cell.lstrip()[:1] in {*"=+-@＝"} - {""} and not re.fullmatch(r"-?[\d.]+", cell)
        ]
        assert not live
    rows = [{"question": text, "references": f"x{text}"} for text in FORMULAS]
    Path("q.csv").write_bytes(guarded(pl.DataFrame(rows)).write_csv().encode())
    assert [row["question"] for _, row in read_rows(Path("q.csv"))] == FORMULAS


def test_a_report_is_one_file(semece):
    run_starter(semece)
    code, out, _ = semece("report", "a.db", "-o", "r.html")
    assert (code, out.strip()) == (0, "r.html")
    page = Path("r.html").read_text()
    assert "starter" in page
    assert "<script src" not in page


def test_the_configuration_file_says_what_the_command_line_does_not(semece):
    Path("c.toml").write_text(f'[run]\nmodel = "{FAKE}"\ndataset = "starter"\nn = 4\nlimit = 3\n')
    code, _, _ = semece("run", "--config", "c.toml", "--limit", 2, "-o", "a.db")
    assert code == 0
    with Run("a.db") as run:
        assert (run.n, run.complete) == (4, (2, 2))
    Path("d.toml").write_text("[run]\nmodle = 1\n")
    assert "[run] has no option 'modle'" in one_sentence(semece("run", "--config", "d.toml")[2])
    for line, wanted in (
        ('n = "x"', "a whole number"),
        ("n = true", "a whole number"),
        ('batch = "no"', "true or false"),
    ):
        Path("f.toml").write_text(f"[run]\n{line}\n")
        assert f"must be {wanted}" in one_sentence(semece("run", "--config", "f.toml")[2])
    Path("e.toml").write_text("[walk]\n")
    assert "got [walk]" in one_sentence(semece("run", "--config", "e.toml")[2])
    Path("g.toml").write_text("run = 3\n")
    assert "g.toml: run must be a table [run]; got 3" in one_sentence(semece("run", "--config", "g.toml")[2])


def test_a_dry_run_asks_and_writes_nothing(semece):
    code, out, _ = run_starter(semece, "--dry-run")
    assert code == 0
    assert "24 calls" in out
    assert not Path("a.db").exists()
    run_starter(semece)
    assert "0 calls" in run_starter(semece, "--dry-run")[1]


def test_the_catalogues_list_what_is_there(semece):
    assert "starter" in semece("datasets")[1]
    assert "openai/NAME" in semece("models")[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "code", "times"), [(signal.SIGINT, 130, 1), (signal.SIGTERM, 143, 1), (signal.SIGINT, 130, 2)]
)
def test_a_signal_loses_nothing_that_is_paid_for_and_a_second_one_books_it(tmp_path, number, code, times):
    with OpenAIServer(latency=0.3) as server:
        words = ["run", "-m", "openai-api/test/m", "-d", "starter", "-n", "40", "-j", "exact", "-o", "a.db"]
        process = subprocess.Popen(
            [*SEMECE, *words, "--concurrency", "4"],
            cwd=tmp_path,
            env=os.environ | {"TEST_BASE_URL": server.base_url},
            stderr=subprocess.PIPE,
            text=True,
        )
        deadline = time.monotonic() + 30
        while server.account.requests.total() < 6 and time.monotonic() < deadline:
            time.sleep(0.02)
        for _ in range(times):
            process.send_signal(number)
            time.sleep(0.1)
        _, err = process.communicate(timeout=30)
        time.sleep(0.3)
        paid, tokens = server.account.paid.total(), server.account.input_tokens + server.account.output_tokens
    assert process.returncode == code
    assert "is waited for (at most 600 s)" in err
    assert f"is stored in a.db; run it again to continue: semece {shlex.join(words)}" in err
    assert "Traceback" not in err
    assert {p.name for p in tmp_path.iterdir()} <= {"a.db", "a.db.lock"}
    with Store(tmp_path / "a.db") as store:
        spent, (failed, maybe_paid) = store.spent()["respond"], store.failed_calls()
    assert stored(tmp_path / "a.db") - failed == paid - 8 * maybe_paid
    assert failed == maybe_paid == (4 if times == 2 else 0)
    assert times == 2 or spent[0] + spent[1] == tokens


def stored(path):
    if not path.exists():
        return 0
    connection = sqlite3.connect(path)
    try:
        return connection.execute("SELECT count(*) FROM replies").fetchone()[0]
    except sqlite3.Error:
        return 0
    finally:
        connection.close()


HEAVY = (
    "numpy",
    "scipy",
    "polars",
    "numba",
    "matplotlib",
    "openai",
    "httpx",
    "xllamacpp",
    "pydantic_ai",
    "genai_prices",
)


@pytest.mark.parametrize(
    "code",
    [
        "import semece",
        *(
            f"import sys; sys.argv = {words}\nfrom semece.cli import main\ntry: main()\nexcept SystemExit: pass"
            for words in (["semece", "--help"], ["semece", "run", "-h"])
        ),
    ],
)
def test_importing_and_helping_load_nothing_heavy(code):
    code += f"\nimport sys; print(sorted(set({HEAVY}) & set(sys.modules)), file=sys.stderr)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    assert found.stderr.strip() == "[]"


@pytest.mark.parametrize("command", ["run", "score", "summary", "show", "report", "export", "datasets", "models"])
def test_every_command_has_help_with_an_example(semece, command):
    code, out, _ = semece(command, "--help")
    assert code == 0
    assert f"semece {command}" in out
    assert "Example" in out


def test_the_package_runs_as_a_module():
    """Where the folder of installed commands is not on the path."""
    found = subprocess.run([sys.executable, "-m", "semece", "--version"], capture_output=True, text=True, check=True)
    assert found.stdout.startswith("semece ")
    refused = subprocess.run([sys.executable, "-m", "semece", "summary", "absent.db"], capture_output=True, text=True)
    assert refused.returncode == 2
    assert refused.stderr.startswith("semece: ")


def test_the_doctor_ends_with_two_on_a_damaged_file_and_repeats_the_configuration(semece):
    Path("run.toml").write_text('[run]\nmodel = "fake/?pmf=.5,.5"\ndataset = "starter"\nlimit = 2\nn = 4\n')
    assert semece("run", "--config", "run.toml", "-o", "a.db", "--quiet")[0] == 0
    change("a.db", "DELETE FROM replies WHERE position = 1")
    code, out, _ = semece("doctor", "a.db")
    assert code == 3
    assert "--config run.toml" in out.splitlines()[-1]
    with sqlite3.connect("a.db") as connection:
        connection.execute("UPDATE replies SET cost = 9 WHERE position = 2")
    connection.close()
    code, out, err = semece("doctor", "a.db")
    assert (code, out) == (2, "")
    assert "a.db is damaged: replies that are not what was stored: 2, the first: respond, question" in err
    assert err.count("\n") == 1
    code, out, _ = semece("doctor", "a.db", "--set-aside")
    assert code == 3
    assert out.startswith("damaged rows set aside: 2; what they held is asked for again\n")
    assert semece("run", "--config", "run.toml", "-o", "a.db", "--quiet")[0] == 0
