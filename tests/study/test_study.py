"""A study: many runs from one file, each bought once, whatever stops it."""

import asyncio
import json
import os
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, nullcontext
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from semece import study as studies
from semece.datasets import Dataset, open_dataset
from semece.errors import ParseError
from semece.models import Decoding, Message, Request
from semece.records import Question
from semece.runs.run import Run
from semece.sampling import job
from semece.sampling.batch.ledger import Ledger, Line
from semece.sampling.stages import Outcome
from semece.show.tables import paper_table
from semece.show.tables.study_grid import grid_table, read_cell
from semece.store.keys import Slot
from semece.store.run_store import Store
from semece.study import Cell, read_study
from tests.servers.openai_server import OpenAIServer

ROOT = Path(__file__).parents[2]
SEMECE = [sys.executable, "-c", "from semece.cli import main; main()"]

TWO_BY_TWO = """
[study]
name = "two"
n = 6

[[models]]
name = "sure"
model = "fake/?pmf=.9,.1"

[[models]]
name = "unsure"
model = "fake/?pmf=.4,.35,.25"

[[datasets]]
dataset = "starter"
limit = 10

[[datasets]]
dataset = "few=made.jsonl"
limit = 12
"""


def made_questions(count, folder=None):
    """Questions with references, as a file and as the server knows them."""
    every = [Question(f"q{i}", f"What is number {i}?", (f"thing {i}",)) for i in range(count)]
    lines = [json.dumps({"id": q.id, "question": q.text, "references": list(q.references)}) for q in every]
    (folder or Path()).joinpath("made.jsonl").write_text("\n".join(lines))
    return {q.text: q.references[0] for q in every}


def write_study(text, name="s.toml"):
    Path(name).write_text(text)


def rows_of(path):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT key, status FROM replies ORDER BY id").fetchall()


def numbers_in(out):
    """The lines of the table of numbers: what stands before the table of outcomes."""
    return re.split(r"^Dataset +Model +right / wrong", out, flags=re.MULTILINE | re.IGNORECASE)[0].splitlines()


def ends(err):
    """The sentences of the command itself; those about runs begin with their names."""
    assert "Traceback" not in err
    return [line for line in err.splitlines() if line.startswith("semece: ")]


@pytest.fixture
def two(semece):
    """A study of two models and two datasets, written down."""
    made_questions(20)
    write_study(TWO_BY_TWO)
    return semece


PATHS = [f"runs/two/{name}.db" for name in ("starter--sure", "starter--unsure", "few--sure", "few--unsure")]


def test_a_study_says_a_sentence_for_each_run_then_the_table_then_the_paths(two):
    code, out, err = two("study", "s.toml")
    assert (code, ends(err)) == (0, [])
    lines = out.splitlines()
    names = ["starter · sure", "starter · unsure", "few · sure", "few · unsure"]
    assert [line.partition(": ")[0] for line in lines[:4]] == names
    assert lines[4] == "Grouped and graded by rules, not by a model or a person."
    assert lines[6].split()[:3] == ["Dataset", "Model", "N"]
    assert [line.split()[:3] for line in lines[7:13]] == [
        *(["starter", model, n] for model, n in (("sure", "10"), ("unsure", "10"), ("pooled", "20"))),
        *(["few", model, n] for model, n in (("sure", "12"), ("unsure", "12"), ("pooled", "24"))),
    ]
    assert lines[-4:] == PATHS
    for dataset, questions in (("starter", 10), ("few", 12)):
        place = lines.index(f"{dataset}, {questions} questions complete in all of 2 runs")
        assert lines[place + 1] == "Accuracy: too few questions to say who is ahead."
    assert err.splitlines() == [f"{place} of 4: {path}" for place, path in enumerate(PATHS, 1)]


def test_running_it_again_asks_nothing_and_prints_the_same(two):
    code, out, _ = two("study", "s.toml")
    before = {path: rows_of(path) for path in PATHS}
    assert [len(before[path]) for path in PATHS] == [60, 60, 72, 72]
    assert two("study", "s.toml")[:2] == (code, out)
    assert {path: rows_of(path) for path in PATHS} == before


def test_the_table_is_that_of_the_command_table_with_the_studys_names(two):
    _, out, _ = two("study", "s.toml", "--json")
    facts = json.loads(out)
    mine = facts["table"]
    theirs = json.loads(two("table", "ece", *PATHS, "--format", "json")[1])
    assert [row.pop("model") for row in mine] == ["sure", "unsure", "pooled"] * 2
    for row in theirs:
        row.pop("model")
    assert mine == theirs
    assert [cell["path"] for cell in facts["cells"]] == PATHS
    assert [found["runs"] for found in facts["comparisons"].values()] == [["sure", "unsure"]] * 2
    assert all(cell["finished"] and cell["complete"] == cell["questions"] for cell in facts["cells"])


def test_the_file_is_copied_beside_the_runs_under_its_hash(two):
    two("study", "s.toml")
    copies = list(Path("runs/two").glob("*.toml"))
    made = read_study("s.toml")
    assert copies == [made.copy]
    assert copies[0].read_text() == TWO_BY_TWO
    assert copies[0].name == f"two--{made.sha256[:12]}.toml"
    write_study(TWO_BY_TWO.replace("limit = 12", "limit = 14"))
    two("study", "s.toml")
    assert len(list(Path("runs/two").glob("*.toml"))) == 2
    before = {path: rows_of(path) for path in PATHS}
    assert two("study", copies[0])[0] == 0
    assert {path: rows_of(path) for path in PATHS} == before


def test_more_responses_and_more_questions_are_topped_up(two):
    two("study", "s.toml")
    write_study(TWO_BY_TWO.replace("n = 6", "n = 9").replace("limit = 12", "limit = 20"))
    before = {path: rows_of(path) for path in PATHS}
    assert two("study", "s.toml")[0] == 0
    after = {path: rows_of(path) for path in PATHS}
    for path, count in zip(PATHS, (90, 90, 180, 180), strict=True):
        assert after[path][: len(before[path])] == before[path]
        assert len(after[path]) == count


MODEL, DATASET = '[[models]]\nmodel = "fake/?pmf=1"\n', '[[datasets]]\ndataset = "starter"\n'
HEAD = '[study]\nname = "x"\n'
WHOLE = HEAD + MODEL + DATASET


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[study\n", "s.toml is not TOML"),
        (
            WHOLE + "[judges]\n",
            "expected the tables [study], [[models]], [[datasets]], [judge], [analysis], [prices]; ",
        ),
        (WHOLE.replace("[study]", "[[study]]"), "study must be one table [study]; got [{'name': 'x'}]"),
        (HEAD + DATASET, 'name at least one model: [[models]] with model = "local/smollm2"'),
        (HEAD + MODEL, 'name at least one dataset: [[datasets]] with dataset = "starter"'),
        (HEAD + DATASET + '[models]\nmodel = "fake/?pmf=1"\n', "models must be tables [[models]]; got {"),
        (MODEL + DATASET, '[study] must have a name, for example name = "s"'),
        ('[study]\nname = ""\n' + MODEL + DATASET, "[study]: name must be text, not empty; got ''"),
        (
            WHOLE + "limits = 3\n",
            "[[datasets]] 1 has no option 'limits' (did you mean 'limit'?); its options are dataset, limit",
        ),
        (HEAD + DATASET + MODEL + "temperature = 'hot'\n", "[[models]] 1: temperature must be a number; got 'hot'"),
        (HEAD + DATASET + MODEL + "batch = 1\n", "[[models]] 1: batch must be true or false; got 1"),
        (HEAD + "n = true\n" + MODEL + DATASET, "[study]: n must be a whole number; got True"),
        (HEAD + DATASET + MODEL + "[[models]]\nname = 'a'\n", "[[models]] 2 must name a model, for example model = "),
        (HEAD + DATASET + 2 * MODEL, "[[models]] 2 is named 'fake/?pmf=1' like [[models]] 1; give it another: name ="),
        (WHOLE + DATASET, "[[datasets]] 2 is named 'starter' like [[datasets]] 1; give a file another name: dataset ="),
        (
            HEAD + DATASET + MODEL + "prompt = 'no.txt'\n",
            "[[models]] 1: prompt no.txt cannot be read: it does not exist",
        ),
        (WHOLE + "ids = 'no.txt'\n", "[[datasets]] 1: ids no.txt cannot be read: it does not exist"),
        (WHOLE.replace("starter", "no.jsonl"), "no · fake/?pmf=1: there is no dataset 'no.jsonl': give one of starter"),
        (WHOLE.replace("fake/", "nowhere/"), "starter · nowhere/?pmf=1: there is no model 'nowhere/?pmf=1'"),
        (
            WHOLE.replace("fake/?pmf=1", "openai/m"),
            'name a judge in the table [judge]: judge = "rules" (free) or judge',
        ),
        (WHOLE + "[judge]\njudge = 'me'\n", "starter · fake/?pmf=1: there is no judge 'me'"),
        (WHOLE + "[judge]\ngrade = 'nowhere/m'\n", "there is no model 'nowhere/m'"),
        (WHOLE + "[judge]\njudge = 'given'\n", "a study needs another"),
        (WHOLE + "[judge]\nprompt = 'lax'\n", "judge-prompt must be default, strict, loose; got lax"),
        (HEAD + "n = 0\n" + MODEL + DATASET, "starter · fake/?pmf=1: n must be from 1 to 20,000; got 0"),
        (WHOLE + "limit = 0\n", "limit must be at least 1; got 0"),
        (HEAD + DATASET + MODEL + "temperature = -1\n", "temperature must be "),
        (WHOLE + "[analysis]\nbins = 0\n", "[analysis] bins must be at least 1; got 0"),
        (
            WHOLE + "[analysis]\nclosed = 'up'\n",
            "[analysis] closed must be left, right, guo, linspace-digitize; got 'up'",
        ),
        (
            WHOLE + "[prices]\n'a/b' = 3\n",
            "[prices] 'a/b' must be { input = USD, output = USD } per million tokens; got 3",
        ),
        (
            HEAD + DATASET + MODEL + "base_url = 'http://u:key@h/v1'\n",
            "[[models]] 1: base_url must hold no key, because",
        ),
        (
            HEAD + DATASET + MODEL + "base_url = 'http://h/v1?key=k'\n",
            "[[models]] 1: base_url must hold no key, because",
        ),
        ("prices = 3\n" + WHOLE, "prices must be one table [prices]; got 3"),
    ],
)
@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_a_wrong_file_is_one_sentence_with_the_place_and_nothing_is_made(semece, text, sentence, more):
    write_study(text)
    code, out, err = semece("study", "s.toml", *more)
    (said,) = ends(err)
    assert (code, out) == (2, "")
    assert said.startswith("semece: s.toml")
    assert sentence in said
    assert not Path("runs").exists()


def test_a_file_that_is_not_there_is_one_sentence(semece):
    code, _, err = semece("study", "no.toml")
    assert (code, ends(err)) == (2, ["semece: no.toml cannot be read: it does not exist"])


def test_words_are_joined_by_hyphens_or_underscores(tmp_path):
    file = tmp_path / "s.toml"
    file.write_text(HEAD + DATASET + MODEL + "top-p = 0.5\nmax_tokens = 7\nattempts = 3\n")
    (cell,) = read_study(file).cells
    assert (cell.settings.top_p, cell.settings.max_tokens, cell.settings.patience.attempts) == (0.5, 7, 3)


@pytest.mark.parametrize(("first", "second"), [("a/b", "a:b"), ("Big", "big"), ("x?", "x-")])
def test_two_runs_of_one_file_are_refused_by_name(semece, first, second):
    text = HEAD + DATASET
    for name in (first, second):
        text += f'[[models]]\nmodel = "fake/?pmf=1"\nname = "{name}"\n'
    write_study(text)
    code, _, err = semece("study", "s.toml")
    assert code == 2
    assert f"starter · {first} and starter · {second} would both be written to runs/x/starter--" in ends(err)[0]


def test_two_runs_of_one_file_across_datasets_are_refused_too(semece):
    made_questions(2)
    models = "".join(f'[[models]]\nmodel = "fake/?pmf=1"\nname = "{name}"\n' for name in ("c", "b--c"))
    write_study(f'{HEAD}{models}[[datasets]]\ndataset = "a--b=made.jsonl"\n[[datasets]]\ndataset = "a=made.jsonl"\n')
    assert "a--b · c and a · b--c would both be written to runs/x/a--b--c.db" in ends(semece("study", "s.toml")[2])[0]


def test_every_setting_reaches_the_run(tmp_path):
    (tmp_path / "p.txt").write_text("Say: {question}")
    (tmp_path / "i.txt").write_text("capital-france\n\n")
    (tmp_path / "s.toml").write_text(f"""
[study]
name = "all"
n = 7
seed = 3
output = "{tmp_path}/out"
[[models]]
model = "openai-api/test/m"
temperature = 0.5
top_p = 0.9
max_tokens = 77
reasoning_effort = "low"
elicit = "none"
logprobs = 3
answer_pattern = "=> (.*)"
prompt = "{tmp_path}/p.txt"
base_url = "http://127.0.0.1:9/v1"
timeout = 5
concurrency = 2
batch = true
[[datasets]]
dataset = "starter"
limit = 4
sample = 5
ids = "{tmp_path}/i.txt"
[judge]
judge = "rules"
partition = "exact"
grade = "openai-api/test/j"
prompt = "strict"
method = "pairs"
max_tokens = 99
grade_classes = "mode"
not_attempted = "exclude"
min_responses = 4
[prices]
"openai-api/test/m" = {{ input = 1, output = 2 }}
[analysis]
bins = 5
closed = "right"
""")
    made = read_study(tmp_path / "s.toml")
    (cell,) = made.cells
    found = {name: getattr(cell.settings, name) for name in cell.settings.__dataclass_fields__}
    assert (made.binning, cell.path) == ((5, "right"), tmp_path / "out" / "starter--openai-api-test-m.db")
    untouched = {"no_lock", "patience", "max_cost", "max_total_tokens", "batch_patience", "retry_failed", "shard"}
    from semece.sampling.settings import Settings

    plain = Settings("", "")
    assert {name for name, value in found.items() if value == getattr(plain, name)} == untouched
    assert found["prompt"] == "Say: {question}"
    assert found["ids"] == ("capital-france",)
    judge = [found[name] for name in ("partition_judge", "grade_judge", "judge_prompt", "judge_max_tokens")]
    assert judge == ["exact", "openai-api/test/j", "strict", 99]


SERVED = """
[study]
name = "served"
n = 8

[[models]]
name = "one"
model = "openai-api/first/m"
concurrency = 4

[[models]]
name = "two"
model = "openai-api/second/m"
concurrency = 4
attempts = 2

[[datasets]]
dataset = "made.jsonl"

[judge]
judge = "exact"
"""


@pytest.fixture
def served(semece, monkeypatch):
    """Two services that may refuse, and a study of one model of each."""
    references = made_questions(30)
    write_study(SERVED)
    with OpenAIServer(references=references) as first, OpenAIServer(references=references) as second:
        for name, server in (("FIRST", first), ("SECOND", second)):
            monkeypatch.setenv(f"{name}_BASE_URL", server.base_url)
        yield semece, first, second


ONE, TWO = "runs/served/made--one.db", "runs/served/made--two.db"


@pytest.mark.parametrize(
    ("broken", "sentence"), [("401", "Incorrect API key provided"), ("404", "The model `m` does not exist")]
)
def test_a_run_that_is_refused_does_not_stop_the_others(served, broken, sentence):
    semece, first, second = served
    first.broken = broken
    code, out, err = semece("study", "s.toml")
    assert code == 3
    assert out.splitlines()[0].startswith("made · one: ")
    assert sentence in out.splitlines()[0]
    assert "made · one: " in err.splitlines()[1]
    assert sentence in err.splitlines()[1]
    assert out.splitlines()[-1] == TWO
    assert out.splitlines()[-2] == ""
    assert ends(err) == ["semece: 1 of 2 runs are not finished; run it again to continue: semece study s.toml"]
    with Run(TWO) as run:
        assert run.complete == (30, 30)
    asked = second.account.requests.total()
    first.broken = None
    code, out, err = semece("study", "s.toml")
    assert (code, ends(err)) == (0, [])
    assert [line.split()[1:3] for line in numbers_in(out) if line.startswith("made  ")] == [
        ["one", "30"],
        ["two", "30"],
        ["pooled", "60"],
    ]
    assert second.account.requests.total() == asked
    assert first.account.paid_twice == second.account.paid_twice == 0


def test_a_missing_key_is_one_runs_trouble(semece):
    write_study(HEAD + DATASET + MODEL + '[[models]]\nmodel = "openai/gpt-4o-mini"\n[judge]\njudge = "rules"\n')
    code, out, _ = semece("study", "s.toml")
    assert code == 3
    assert "starter · openai/gpt-4o-mini: not in the table: openai/gpt-4o-mini needs a key" in out
    assert "starter  fake/?pmf=1  24 " in out
    assert not Path("runs/x/starter--openai-gpt-4o-mini.db").exists()
    facts = json.loads(semece("study", "s.toml", "--json")[1])
    assert [cell["finished"] for cell in facts["cells"]] == [True, False]
    assert len(facts["table"]) == 1


def test_replies_that_do_not_come_are_said_and_asked_for_again(semece):
    text = HEAD + DATASET + 'limit = 8\n[[models]]\nname = "m"\nmodel = "fake/?pmf=.5,.5&fault=500:.4"\nattempts = {}\n'
    write_study(text.format(1))
    code, out, err = semece("study", "s.toml")
    assert code == 3
    assert re.match(r"starter · m: \d of 8 questions\. .* Not finished: [\d,]+ replies are missing \(the last", out)
    assert "the fake model answered 500" in err
    write_study(text.format(99))
    assert semece("study", "s.toml")[0] == 0


def test_another_temperature_is_refused_with_the_files_sentence_before_any_run_is_asked(served):
    semece, _, second = served
    second.broken = "401"
    semece("study", "s.toml")
    second.broken = None
    asked = second.account.requests.total()
    write_study(SERVED.replace('model = "openai-api/first/m"', 'model = "openai-api/first/m"\ntemperature = 0.5'))
    for more in ((), ("--dry-run",)):
        code, out, err = semece("study", "s.toml", *more)
        assert (code, out) == (2, "")
        (said,) = ends(err)
        assert said.startswith(f"semece: s.toml: made · one: {ONE} was made with temperature 1.0, not 0.5; give the ")
        assert said.endswith("same value, or give the model another name, or the study another output, in s.toml")
    assert second.account.requests.total() == asked
    assert rows_of(TWO) == []


def test_a_dataset_that_has_changed_is_refused(two):
    two("study", "s.toml")
    made_questions(19)
    assert "few--sure.db was made with dataset content" in ends(two("study", "s.toml")[2])[0]


def test_a_run_file_that_is_damaged_or_in_use_is_one_runs_trouble(two):
    two("study", "s.toml")
    Path(PATHS[0]).write_bytes(b"no database")
    with Store(PATHS[1], write=True):
        code, out, err = two("study", "s.toml")
    assert code == 3
    assert "starter · sure: not in the table: runs/two/starter--sure.db is not a semece run file" in out
    in_use = r"^starter · unsure: Does .* Not finished: runs/two/starter--unsure\.db is being written by another"
    assert re.search(in_use, out, flags=re.MULTILINE)
    rows = [line.split()[:2] for line in numbers_in(out) if line.startswith(("few  ", "starter  "))]
    assert rows == [["starter", "unsure"], ["few", "sure"], ["few", "unsure"], ["few", "pooled"]]
    assert "2 of 4 runs are not finished" in ends(err)[0]
    assert Path(PATHS[0]).read_bytes() == b"no database"


def test_a_run_that_could_not_be_begun_anew_is_not_pooled_with_other_n_questions_or_judges(served):
    semece, _, _ = served
    semece("study", "s.toml")
    limited = 'dataset = "made.jsonl"\nlimit = 20'
    for old, new in (("n = 8", "n = 9"), ('dataset = "made.jsonl"', limited), ('"exact"', '"rules"')):
        write_study(SERVED.replace(old, new))
        with Store(ONE, write=True):
            code, out, _ = semece("study", "s.toml")
        assert code == 3
        assert f"made · one: not in the table: {ONE} is being written by another process" in out
        assert [line.split()[1] for line in numbers_in(out) if line.startswith("made  ")] == ["two"]
        write_study(SERVED)
        semece("study", "s.toml")


def test_a_second_study_in_the_same_folder_waits(two):
    from filelock import FileLock

    Path("runs/two").mkdir(parents=True)
    with FileLock("runs/two/study.lock"):
        code, _, err = two("study", "s.toml")
    assert (code, ends(err)) == (4, ["semece: runs/two is being written by another study; wait for it"])
    assert two("study", "s.toml")[0] == 0


def test_an_output_that_cannot_be_made_is_one_sentence(two):
    Path("runs").write_text("a file")
    code, _, err = two("study", "s.toml")
    assert code == 4
    assert "runs/two cannot be written" in ends(err)[0]


def test_a_benchmark_that_cannot_be_fetched_is_the_trouble_of_its_runs(two, monkeypatch):
    monkeypatch.setenv("SEMECE_MIRROR", "http://127.0.0.1:9")
    write_study(TWO_BY_TWO + '[[datasets]]\ndataset = "popqa"\n')
    code, out, err = two("study", "s.toml")
    assert code == 3
    assert "popqa · sure: not in the table: " in out
    assert "2 of 6 runs are not finished" in ends(err)[0]
    code, out, _ = two("study", "s.toml", "--dry-run")
    assert code == 3
    assert "together $0.00 for 4 of 4 runs" in out
    assert out.count("not priced") == 2


def test_a_dry_run_prices_every_run_and_the_sum_and_makes_nothing(semece):
    made_questions(40)
    write_study("""
[study]
name = "priced"
n = 10
[[models]]
name = "mini"
model = "openai/gpt-4o-mini"
[[models]]
name = "ours"
model = "openai-api/ours/m"
[[models]]
name = "free"
model = "fake/?pmf=1"
[[datasets]]
dataset = "made.jsonl"
sample = 20
[[datasets]]
dataset = "starter"
limit = 5
[judge]
partition = "exact"
grade = "openai/gpt-4o-mini"
""")
    code, out, err = semece("study", "s.toml", "--dry-run", "--expected-tokens", 1000)
    assert (code, err) == (0, "")
    assert not Path("runs").exists()
    rows = [re.split(r"\s{2,}", line) for line in out.splitlines()[1:7]]
    assert [row[:4] for row in rows] == [
        *(["made", name, "200 of 200", calls] for name, calls in (("mini", "160"), ("ours", "160"), ("free", "140"))),
        *(["starter", name, "50 of 50", calls] for name, calls in (("mini", "40"), ("ours", "40"), ("free", "35"))),
    ]
    known = re.search(r"together \$(0\.\d\d) for 4 of 6 runs; the price of 2 is not known: \[prices\] in the file", out)
    assert rows[0][6] == "$0.12"
    assert rows[1][6:9:2] == ["unknown", "unknown"]
    facts = json.loads(semece("study", "s.toml", "--dry-run", "--expected-tokens", 1000, "--json")[1])["cells"]
    assert 0.15 < sum(cell["cost"] or 0 for cell in facts) == pytest.approx(float(known[1]), abs=0.006)
    assert [cell["cost"] is None for cell in facts] == [False, True, False] * 2
    text = Path("s.toml").read_text() + '[prices]\n"openai-api/ours/m" = { input = 0, output = 1000000 }\n'
    write_study(text)
    assert "together $250,000" in semece("study", "s.toml", "--dry-run", "--expected-tokens", 1000)[1]


def test_a_dry_run_says_what_is_missing_of_each_run(two):
    write_study(TWO_BY_TWO.replace("n = 6", "n = 4"))
    two("study", "s.toml")
    write_study(TWO_BY_TWO)
    Path(PATHS[3]).unlink()
    _, out, _ = two("study", "s.toml", "--dry-run")
    rows = [re.split(r"\s{2,}", line) for line in out.splitlines()[1:5]]
    assert [row[2] for row in rows] == ["20 of 60", "20 of 60", "24 of 72", "72 of 72"]
    two("study", "s.toml")
    _, out, _ = two("study", "s.toml", "--dry-run")
    assert [re.split(r"\s{2,}", line)[2:6] for line in out.splitlines()[1:5]] == [
        *([f"0 of {n}", "0", "0", "0"] for n in (60, 60, 72, 72))
    ]


def test_a_run_in_batches_is_priced_in_batches(semece):
    model = '[[models]]\nname = "{}"\nmodel = "openai/gpt-4o-mini"\n{}'
    models = model.format("live", "") + model.format("late", "batch = true\n")
    write_study(f"{HEAD}n = 50\n{DATASET}{models}[judge]\njudge = 'rules'")
    facts = json.loads(semece("study", "s.toml", "--dry-run", "--json")[1])["cells"]
    assert facts[0]["batch_cost"] == facts[1]["batch_cost"] == facts[1]["cost"] == pytest.approx(facts[0]["cost"] / 2)


PRICES = """
[prices]
"openai-api/first/m" = { input = 1000, output = 10000 }
"openai-api/second/m" = { input = 1000, output = 10000 }
"""


def cost_of(server):
    return (1000 * server.account.input_tokens + 10000 * server.account.output_tokens) / 1e6


def short(text):
    """The study with short answers, so that what a call reserves is near what it costs."""
    return text.replace("concurrency = 4", "concurrency = 1\nmax_tokens = 16")


def test_a_cap_holds_for_all_runs_together_and_over_invocations(served):
    semece, first, second = served
    write_study(short(SERVED) + PRICES)
    assert semece("study", "s.toml", "--dry-run")[0] == 0
    whole = 30 * 8 * 10000 * 10 / 1e6
    cap = 0.75 * 2 * whole
    code, out, err = semece("study", "s.toml", "--budget", cap)
    assert code == 3
    assert "made · two: " in out
    assert re.search(rf"Not finished: the cap of \${cap:g} is reached: \$[\d.]+ are spent and the next call may", out)
    spent = cost_of(first) + cost_of(second)
    assert 0.85 * cap < spent <= cap
    with Run(ONE) as run:
        assert run.complete == (30, 30)
    with Run(TWO) as run:
        assert 0 < run.complete[0] < 30
    again = semece("study", "s.toml", "--budget", cap)
    assert again[0] == 3
    assert cost_of(first) + cost_of(second) == spent
    assert "spent so far: $" in semece("study", "s.toml", "--dry-run")[1]
    command = ends(err)[0].split("run it again with a higher cap to continue: semece ")[1]
    assert shlex.split(command) == ["study", "s.toml", "--budget", f"{2 * cap:.15g}"]
    code, out, err = semece(*shlex.split(command))
    assert (code, ends(err)) == (0, [])
    assert cost_of(first) + cost_of(second) <= 2 * cap
    assert first.account.paid_twice == second.account.paid_twice == 0


def test_a_cap_on_tokens_holds_for_all_runs_together(served):
    semece, first, second = served
    write_study(short(SERVED))
    code, out, _ = semece("study", "s.toml", "--max-total-tokens", 3000)
    spent = sum(s.account.input_tokens + s.account.output_tokens for s in (first, second))
    assert code == 3
    assert 2000 < spent <= 3000
    assert out.count("the cap of 3,000 tokens is reached") == 2 - (first.account.requests.total() == 30)


def test_a_run_that_costs_nothing_goes_on_when_a_cap_is_reached(served):
    semece, first, _ = served
    text = short(SERVED).replace("openai-api/second/m", "fake/?pmf=1") + PRICES
    write_study(text)
    code, out, _ = semece("study", "s.toml", "--budget", 1)
    assert code == 3
    assert "made · one: " in out
    with Run(TWO) as run:
        assert run.complete == (30, 30)
    assert cost_of(first) <= 1


def test_a_budget_needs_every_price_and_says_which_is_missing_before_anything_is_bought(served):
    semece, first, second = served
    write_study(SERVED + PRICES.replace("second", "third"))
    code, _, err = semece("study", "s.toml", "--budget", 5)
    assert code == 2
    assert "s.toml: made · two: the price of openai-api/second/m is not known, so a budget" in ends(err)[0]
    write_study(SERVED.replace('judge = "exact"', 'grade = "openai-api/third/j"\npartition = "exact"') + PRICES)
    assert "the price of openai-api/third/j is not known" in ends(semece("study", "s.toml", "--budget", 5)[2])[0]
    assert first.account.requests.total() == second.account.requests.total() == 0
    for wrong in ("0", "nan", "-1"):
        assert ends(semece("study", "s.toml", "--budget", wrong)[2])[0].startswith("semece: budget must be above 0")


def test_what_was_spent_before_a_price_was_known_counts(served):
    semece, first, second = served
    second.broken = "401"
    write_study(short(SERVED))
    semece("study", "s.toml")
    second.broken = None
    write_study(short(SERVED) + PRICES)
    cap = cost_of(first) * 1.05
    assert semece("study", "s.toml", "--budget", cap)[0] == 3
    assert cost_of(second) <= cap - cost_of(first)
    assert f"spent so far: ${cost_of(first) + cost_of(second):,.2f}" in semece("study", "s.toml", "--dry-run")[1]


def test_what_is_under_way_in_batches_of_another_run_is_set_aside(served):
    semece, first, _ = served
    write_study(short(SERVED) + PRICES)
    cell = read_study("s.toml").cells[1]
    with Store(cell.path, write=True) as store:
        request = Request((Message("user", "What is number 1?"),), Decoding())
        slot = Slot(b"k", "respond", "q1", 0, None, store.add_request({"asked": "m", "messages": [], "decoding": {}}))
        Ledger(store).enter("0" * 32, "openai-api/second/m", [Line(request, (slot,))], since=None, held=(6.0, 10))
    semece("study", "s.toml", "--budget", 10)
    assert 2 < cost_of(first) <= 4


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.slow)]
)
def test_a_signal_stops_the_study_and_says_how_to_go_on(tmp_path, number, code):
    made_questions(10, tmp_path)
    model = 'model = "fake/?pmf=.9,.1&latency=.04&choices=1"\nconcurrency = 2'
    (tmp_path / "s.toml").write_text(TWO_BY_TWO.replace('model = "fake/?pmf=.9,.1"', model))
    process = subprocess.Popen([*SEMECE, "study", "s.toml"], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    wait_for(tmp_path / PATHS[2], 10)
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    assert process.returncode == code
    assert "stopped; what was delivered is stored in runs/two; run it again to continue: semece study s.toml" in err
    assert "Traceback" not in err
    assert len(rows_of(tmp_path / PATHS[0])) == 60
    assert 10 <= len(rows_of(tmp_path / PATHS[2])) < 60
    assert not (tmp_path / PATHS[3]).exists()
    found = subprocess.run([*SEMECE, "study", "s.toml"], cwd=tmp_path, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert [len(rows_of(tmp_path / path)) for path in PATHS] == [60, 60, 60, 60]


def test_a_signal_is_heard_between_runs_that_have_nothing_to_wait_for(two, monkeypatch):
    done = []

    async def at_once(job, **_):
        done.append(job.path)
        asyncio.get_running_loop().call_soon(asyncio.current_task().cancel)
        return Outcome(str(job.path), 0)

    monkeypatch.setattr("semece.study.cells.make_run", at_once)
    made = read_study("s.toml")
    work = studies.make_runs(made, studies.prepare(made), begun=lambda _: nullcontext(), ended=lambda _: None)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(work)
    assert len(done) == 1


def wait_for(path, rows):
    """Wait until a run file holds so many replies."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
                if connection.execute("SELECT count(*) FROM replies").fetchone()[0] >= rows:
                    return
        except sqlite3.Error:
            pass
        time.sleep(0.01)
    raise AssertionError(f"{path} never held {rows} replies")


@pytest.mark.slow
def test_a_study_that_is_killed_in_its_second_run_buys_nothing_twice_but_what_was_in_flight(tmp_path):
    kills, concurrency = 2, 4
    tables, landed = [], []
    for folder, moments in (("whole", ()), ("killed", [int(240 * (0.2 + 0.8 * k / kills)) for k in range(kills)])):
        (tmp_path / folder).mkdir()
        references = made_questions(30, tmp_path / folder)
        (tmp_path / folder / "s.toml").write_text(SERVED)
        with OpenAIServer(references=references, latency=0.03) as server:
            environment = os.environ | {"FIRST_BASE_URL": server.base_url, "SECOND_BASE_URL": server.base_url}
            options = {"cwd": tmp_path / folder, "env": environment, "stdout": subprocess.PIPE, "text": True}
            for moment in moments:
                process = subprocess.Popen([*SEMECE, "study", "s.toml"], stderr=subprocess.DEVNULL, **options)
                wait_for(tmp_path / folder / TWO, moment)
                process.send_signal(signal.SIGKILL)
                process.communicate()
                landed.append(len(rows_of(tmp_path / folder / TWO)) / 240)
            before = server.account.requests.total()
            found = subprocess.run([*SEMECE, "study", "s.toml", "--json"], stderr=subprocess.PIPE, **options)
            assert found.returncode == 0, found.stderr
            tables.append(json.loads(found.stdout)["table"])
            if moments:
                print("kills landed at", [round(share, 3) for share in landed])
                assert sum(0.05 <= share <= 0.95 for share in landed) >= 0.75 * kills
                assert server.account.requests.total() - before < 30
                # Both models ask the same server, so every answer is paid once for each
                paid = sum(server.account.paid.values()) - 2 * 240
                assert paid <= kills * concurrency * 8
        for path in (ONE, TWO):
            rows = rows_of(tmp_path / folder / path)
            assert len(rows) == len({key for key, _ in rows}) == 240
    assert tables[0] == tables[1]


def test_bins_are_those_of_the_analysis(two):
    write_study(TWO_BY_TWO + '[analysis]\nbins = 3\nclosed = "right"\n')
    code, out, _ = two("study", "s.toml")
    assert code == 0
    assert "ECE in 3 bins, closed right, as [analysis] says" in out
    table = json.loads(two("study", "s.toml", "--json")[1])["table"]
    with Run(PATHS[1]) as run:
        pool = run.pool()
        from semece import ece

        wanted = ece(pool.sem1, pool.correct, n_bins=3, closed="right")
        assert wanted != ece(pool.sem1, pool.correct)
        assert table[1]["sem1_ece"] == pytest.approx(wanted, abs=1e-12)
        assert read_cell(run, "d", "m", n_bins=3, closed="right").row["sem1_ece"] == table[1]["sem1_ece"]
        assert re.search(rf"Sem1 is .* \(ECE {wanted:.2f}, ", out.splitlines()[1])


def test_a_grid_of_runs_is_read_one_by_one_and_is_the_papers_table(two):
    two("study", "s.toml")
    read = []
    for path in PATHS:
        with Run(path) as run:
            read.append(read_cell(run, *run.names))
    assert not any(view.responses for numbers in read for view in numbers.views)
    runs = [Run(path) for path in PATHS]
    assert grid_table(read).equals(paper_table("ece", runs))
    for run in runs:
        run.close()
    assert grid_table([]).height == 0


def test_a_run_without_a_complete_question_has_a_sentence_and_no_row(two):
    two("study", "s.toml")
    with closing(sqlite3.connect(PATHS[0])) as connection, connection:
        connection.execute("DELETE FROM replies")
    with Run(PATHS[0]) as empty, Run(PATHS[1]) as full:
        read = [read_cell(empty, "starter", "empty"), read_cell(full, "starter", "full")]
    assert grid_table(read)["model"].to_list() == ["full"]
    assert grid_table(read[:1]).equals(pl.DataFrame())


def test_keys_of_an_env_file_are_used(served):
    semece, first, second = served
    first.key = second.key = "marker-key"
    assert semece("study", "s.toml")[0] == 3
    Path("keys.env").write_text("FIRST_API_KEY=marker-key\nSECOND_API_KEY=marker-key\n")
    try:
        code, out, err = semece("study", "s.toml", "--env-file", "keys.env")
    finally:
        for name in ("FIRST_API_KEY", "SECOND_API_KEY"):
            os.environ.pop(name, None)
    assert code == 0
    assert "marker-key" not in out + err
    assert not any(b"marker-key" in path.read_bytes() for path in Path("runs").rglob("*") if path.is_file())


def test_retry_failed_asks_again_in_every_run(served):
    semece, first, second = served
    first.fates = second.fates = {"length": 0.2}
    semece("study", "s.toml")
    counts = [sum(status == "truncated" for _, status in rows_of(path)) for path in (ONE, TWO)]
    assert min(counts) > 0
    first.fates = second.fates = {}
    assert semece("study", "s.toml", "--retry-failed")[0] == 0
    for path, count in zip((ONE, TWO), counts, strict=True):
        assert len(rows_of(path)) == 240 + count


def test_what_a_run_noticed_is_said_with_its_name(served):
    semece, first, _ = served
    first.refuses = {"temperature": "Unsupported parameter: '{}' is not supported with this model."}
    out = semece("study", "s.toml")[1]
    assert re.search(r"^Noticed, made · one: .*temperature", out, flags=re.MULTILINE)
    assert "Noticed, made · two" not in out


def test_the_papers_grid_is_five_models_on_three_datasets_and_is_priced(semece, monkeypatch):
    made_questions(3)
    file = ROOT / "examples" / "paper.toml"
    made = read_study(file)
    names = [(cell.dataset, cell.model) for cell in made.cells]
    assert len(set(names)) == len({cell.path for cell in made.cells}) == 15
    assert {cell.settings.n for cell in made.cells} == {50}
    few = replace(open_dataset("starter"), questions=open_dataset("made.jsonl").questions)
    monkeypatch.setattr(job, "open_dataset", lambda spelling: replace(few, name=spelling))
    code, out, err = semece("study", file, "--dry-run")
    assert code == 0
    assert err.count("note: ") == err.count("prompts and answers go to several places") == len(err.splitlines()) > 0
    assert re.search(r"together \$[\d.]+ for 15 of 15 runs$", out, flags=re.MULTILINE)


def blocks(page, kind):
    return re.findall(rf"```{kind}\n(.*?)```", (ROOT / "docs" / page).read_text(), flags=re.DOTALL)


def test_the_example_of_the_page_runs_and_prints_what_the_page_says(semece):
    (text,) = blocks("study.md", "toml")
    shown = blocks("study.md", "text")
    write_study(text, "study.toml")
    assert semece("study", "study.toml", "--dry-run")[1] == shown[0]
    assert semece("study", "study.toml")[1] == shown[1]


def test_the_page_names_every_option():
    page = (ROOT / "docs" / "study.md").read_text()
    from semece.study.study_file import TABLES

    for table, rows in TABLES.items():
        for name in rows:
            assert f"`{name}`" in page, f"[{table}] {name}"


def test_names_of_a_cell_are_for_people():
    made = Cell("d", "m", None, Path("d--m.db"))
    assert made.name == "d · m"
    with pytest.raises(ParseError):
        read_study("absent.toml")
    assert isinstance(open_dataset("starter"), Dataset)
    assert asyncio.iscoroutinefunction(studies.make_runs)
