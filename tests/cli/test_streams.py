"""Nothing that ends a command prints a secret or a terminal code, whoever wrote it."""

import csv
import io
import json
import os
import sys
from contextlib import closing
from pathlib import Path

import openpyxl
import pytest

from semece.cli import streams
from semece.runs.run import Run
from tests.servers.openai_server import OpenAIServer
from tests.tool_files import inspect_header, inspect_json

MARKER = "marker5e4dc0ffee"
SAMPLES = [{"id": "a", "question": "Why?", "references": ["b"]}]
RUN = ("run", "-m", "openai-api/test/m", "-d", "a.jsonl", "-n", 4, "-j", "exact", "-o", "a.db", "--attempts", 1)

PLACES = {
    "user": "http://{}@{}/v1",
    "password": "http://me:{}@{}/v1",
    "escaped password": "http://me:{}%40@{}/v1",
    "query": "http://{1}/v1?key={0}",
    "query without a value": "http://{1}/v1?{0}",
    "path": "http://{1}/v1/{0}/openai",
    "no address": "http://{}@[{}",
    "port": "http://{1}:{0}/v1",
    "no scheme": "me:{}@{}/v1",
}
"""Where a key may stand in an address: the marker, then the host."""

ENDINGS = {"done": None, "401": "401", "404": "404", "quota": "quota", "unreachable": None, "cap": None, "server": None}


@pytest.fixture(autouse=True)
def forgetful(monkeypatch):
    """What a test makes known as secret is forgotten after it."""
    from semece.models.shared import secrets

    monkeypatch.setattr(secrets._redacting, "secrets", set(secrets._redacting.secrets))


def everywhere(*texts):
    """All that a command leaves: what it printed, and the files beside it."""
    files = [path for path in Path().rglob("*") if path.is_file() and path.name not in {"keys.env", "run.toml"}]
    return [*(text.encode() for text in texts), *(str(path).encode() + path.read_bytes() for path in files)]


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("place", PLACES)
def test_a_secret_in_an_address_is_in_no_file_and_no_stream(semece, place, ending):
    Path("a.jsonl").write_text(json.dumps(SAMPLES[0]))
    faults = {"500": 1.0} if ending == "server" else {}
    with OpenAIServer(faults=faults) as server:
        server.broken, server.echo = ENDINGS[ending], True
        host = "127.0.0.1:9" if ending == "unreachable" else server.url.removeprefix("http://")
        words = [*RUN, "--base-url", PLACES[place].format(MARKER, host)]
        words += ["--max-total-tokens", 10] if ending == "cap" else []
        code, out, err = semece("-v", *words)
        found = everywhere(out, err, *semece("doctor", "a.db")[1:])
    assert code in {0, 2, 3, 4}
    assert not [text[:400] for text in found if MARKER.encode() in text]
    if code == 3:
        assert '--base-url "$BASE_URL"' in err


@pytest.mark.parametrize("place", ["environment", "env file", "config", "config of another kind", "study", "typo"])
def test_a_secret_in_another_place_is_in_no_file_and_no_stream(semece, monkeypatch, place):
    Path("a.jsonl").write_text(json.dumps(SAMPLES[0]))
    words = [*RUN]
    with OpenAIServer(faults={"500": 1.0}) as server:
        address = server.base_url.replace("http://", f"http://me:{MARKER}@")
        if place == "environment":
            monkeypatch.setenv("TEST_BASE_URL", address)
        elif place == "env file":
            monkeypatch.setenv("TEST_BASE_URL", "")
            Path("keys.env").write_text(f"TEST_API_KEY={MARKER}\nTEST_BASE_URL={address}\n")
            monkeypatch.delenv("TEST_BASE_URL")
            monkeypatch.setattr(os, "environ", os.environ.copy())
            words += ["--env-file", "keys.env"]
        elif place.startswith("config"):
            value = json.dumps(address if place == "config" else [address])
            Path("run.toml").write_text(f"[run]\nbase_url = {value}\n")
            words += ["--config", "run.toml"]
        elif place == "study":
            head = (
                f'study = {{ name = "s", n = 2 }}\njudge = {{ judge = "exact" }}\nmodels = [{{ base_url = "{address}", '
            )
            Path("run.toml").write_text(
                f'{head} model = "openai-api/test/m" }}]\ndatasets = [{{ dataset = "a.jsonl" }}]'
            )
            words = ["study", "run.toml"]
        else:
            words += [f"--base-ulr={address}"]
        code, out, err = semece(*words)
    assert code in {2, 3, 4}
    assert not [text[:400] for text in everywhere(out, err) if MARKER.encode() in text]


CODES = "\x1b[31m\x1b]0;title\x07\u202e\x9b\x00\x7f"
RAW = [mark for mark in CODES if not mark.isascii() or not mark.isprintable()]


@pytest.mark.parametrize(
    "source",
    ["error", "model", "judge", "file", "question", "answer", "references", "key", "toml"],
)
def test_no_terminal_code_is_printed_whoever_sends_it(semece, monkeypatch, source):
    codes = CODES.replace("\x00", "")
    row = {"id": "a", "question": "Why?", "references": ["b"], "answers": ["b", "c"]}
    Path("a.jsonl").write_text(json.dumps(row))
    with OpenAIServer() as server:
        monkeypatch.setenv("TEST_BASE_URL", server.base_url)
        words = [("run", "-m", "openai-api/test/m", "-d", "a.jsonl", "-n", 2, "-j", "exact", "-o", "a.db")]
        if source == "error":
            monkeypatch.setitem(sys.modules["tests.servers.openai_server"].BROKEN, "401", (401, "x", f"no {CODES}"))
            server.broken = "401"
        elif source == "model":
            words = [("run", "-m", f"fake/?{codes}", "-d", "a.jsonl"), ("run", "-m", codes, "-d", "a.jsonl")]
        elif source == "judge":
            words = [(*words[0][:-4], "-j", codes)]
        elif source == "file":
            Path(f"a{codes}.jsonl").write_text("{")
            words = [
                ("score", f"a{codes}.jsonl"),
                ("summary", f"a{codes}.jsonl"),
                ("audit", "score", f"a{codes}.jsonl"),
            ]
        elif source == "toml":
            Path("a.toml").write_text(f"[run]\n{json.dumps(CODES)} = 1\n")
            words = [("run", "--config", "a.toml")]
        elif source != "key":
            row[{"question": "question", "answer": "answers", "references": "references"}[source]] = (
                f"why {CODES}" if source == "question" else [f"b {CODES}", "c"]
            )
            Path("a.jsonl").write_text(json.dumps(row))
            words = [("score", "a.jsonl", "-j", "exact", "-o", "a.db"), ("show", "a.db", "a")]
            words += [("judge-eval", "a.jsonl", "-j", "exact"), ("summary", "a.db", "--json")]
        else:
            monkeypatch.setenv("TEST_API_KEY", f"sk-{codes}")
        printed = "".join(text for typed in words for text in semece(*typed)[1:])
    assert printed
    assert not [mark for mark in RAW if mark in printed]


def written_by(source, codes):
    """Write a file in which a source has terminal codes; give the commands that read it."""
    if source in {"scorer", "log"}:
        more = {"model": CODES, "task": f"t{CODES}"} if source == "log" else {}
        data = inspect_json(header=inspect_header(**more)).decode()
        Path("a.json").write_text(data.replace('"match"', json.dumps(CODES)) if source == "scorer" else data)
        words = [("score", "a.json", "-o", "a.db"), ("score", "a.json", "-j", "given", "--scorer", "x", "-o", "b.db")]
        return [*words, ("summary", "a.db"), ("report", "a.db")]
    if source == "column":
        Path("a.csv").write_text(f"question,{codes},{codes}\n1,2,3\n")
        Path("b.csv").write_text(f"{codes}\n1\n")
        return [("score", "a.csv"), ("score", "b.csv"), ("judge-eval", "b.csv", "-j", "exact")]
    if source == "dataset":
        return [("run", "-m", "fake/?pmf=1", "-d", codes), ("run", "-m", "fake/?pmf=1", "-d", f"{codes}=a.jsonl")]
    if source == "study":
        name = json.dumps(codes)
        Path("a.toml").write_text(f"study = {{ name = {name} }}\nmodels = [{{ name = {name}, model = {name} }}]\n")
        return [("study", "a.toml"), ("study", "a.toml", "--dry-run")]
    return [("score", "a.jsonl", "-o", f"{codes}.db"), ("doctor", f"{codes}.db"), ("summary", f"no{codes}.db")]


@pytest.mark.parametrize("source", ["scorer", "log", "column", "dataset", "study", "run file"])
def test_no_terminal_code_of_a_file_is_printed(semece, source):
    Path("a.jsonl").write_text(json.dumps({"id": "a", "question": "Why?", "references": ["b"], "answers": ["b", "c"]}))
    commands = written_by(source, CODES.replace("\x00", ""))
    printed = "".join(text for typed in commands for text in semece(*typed)[1:])
    assert printed
    assert not [mark for mark in RAW if mark in printed]


def test_json_stays_json():
    text = json.dumps({"answer": CODES + "\U000e0001"}, ensure_ascii=False)
    assert json.loads(streams.clean(text)) == {"answer": CODES + "\U000e0001"}


class Terminal(io.StringIO):
    """A terminal that remembers what it was sent."""

    def isatty(self):
        return True


def test_an_export_to_a_terminal_is_cleaned_and_one_to_a_file_is_whole(semece, monkeypatch):
    row = {"id": "a", "question": "Why?", "references": ["b"], "answers": [CODES, "c"]}
    Path("a.jsonl").write_text(json.dumps(row))
    assert semece("score", "a.jsonl", "-j", "exact", "-o", "a.db")[0] == 0
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    words = ("export", "a.db", "--what", "responses", "--to", "csv")
    assert semece(*words)[0] == semece(*words, "-o", "a.csv")[0] == 0
    assert "\\u001b[31m" in terminal.getvalue()
    assert not [mark for mark in RAW if mark in terminal.getvalue()]
    assert CODES in Path("a.csv").read_text()


FORMULAS = ("=1+1", "+1", "-1+2", "@SUM(1)", " =1", "\t=1", "\n=1", "\uff1d1", "\u00a0=1", "'=1", "=cmd|' /C x'!A0")


def test_no_cell_of_any_export_begins_a_formula_and_samples_score_to_equal_numbers(semece):
    """Eight exports: responses, estimates, three tables, and the sheets of an audit as CSV and XLSX, and samples."""
    rows = [
        {"id": f"{sign}{i}", "question": f"{sign} {i}?", "references": [sign], "answers": [sign, sign, "b", sign]}
        for i, sign in enumerate(FORMULAS)
    ]
    Path("a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert semece("score", "a.jsonl", "-j", "exact", "-o", "=a.db")[0] == 0
    for what in ("responses", "estimates"):
        assert semece("export", "=a.db", "--what", what, "-o", f"{what}.csv")[0] == 0
    for name in ("ece", "margin", "alignment"):
        assert semece("table", name, "=a.db", "--format", "csv", "-o", f"{name}.csv")[0] == 0
    for ending in ("csv", "xlsx"):
        assert semece("audit", "export", "=a.db", "-o", f"sheet.{ending}")[0] == 0
    assert semece("export", "=a.db", "-o", "b.jsonl")[0] == 0
    found = list(Path().rglob("*.csv"))
    assert len(found) >= 6
    for path in found:
        for row in csv.reader(path.read_text(encoding="utf-8-sig").splitlines(keepends=True)):
            live = [cell for cell in row if cell.lstrip(" \t\r\n\u00a0")[:1] in set("=+-@\uff1d\uff0b\uff0d\uff20")]
            assert not [cell for cell in live if cell and not is_number(cell)], path
    for path in Path().rglob("*.xlsx"):
        with closing(openpyxl.load_workbook(path)) as book:
            cells = [cell for sheet in book.worksheets for row in sheet.iter_rows() for cell in row]
        assert not [cell.value for cell in cells if cell.data_type == "f"]
    assert semece("score", "b.jsonl", "-j", "exact", "-o", "b.db")[0] == 0
    with Run("=a.db") as one, Run("b.db") as other:
        numbers = [run.estimates().drop("question_id") for run in (one, other)]
        assert numbers[0].equals(numbers[1])


def is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True
