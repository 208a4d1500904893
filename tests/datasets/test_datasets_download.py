"""Benchmarks are fetched once, checked, and kept; whatever goes wrong is one sentence and leaves nothing behind."""

import hashlib
import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from semece.datasets import BENCHMARKS, download, open_dataset
from semece.datasets.download import cache_folder, cached_file, fetch
from semece.errors import SemeceError
from tests.servers.file_server import FileServer

SEMECE = [sys.executable, "-c", "from semece.cli import main; main()"]
AIME = b"".join(b'{"id": "%d", "problem": "What is %d + 1?", "answer": "%d"}\n' % (i, i, i + 1) for i in range(30))
PINNED = hashlib.sha256(AIME).hexdigest()
PAGE = b"\n <!DOCTYPE html><html><body>Please log in</body></html>"


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A mirror with thirty sums as 'aime', and an empty cache."""
    monkeypatch.setenv("SEMECE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("HF_TOKEN", raising=False)
    with FileServer(aime__jsonl=AIME) as server:
        monkeypatch.setenv("SEMECE_MIRROR", f"{server.url}/")
        yield server


@pytest.fixture(params=["pinned", "noted"])
def known(request, monkeypatch):
    """Whether the hash of the file is known before, or noted when it is first fetched."""
    pin(monkeypatch, PINNED if request.param == "pinned" else None)
    return request.param


def pin(monkeypatch, sha256, **more):
    monkeypatch.setitem(BENCHMARKS, "aime", replace(BENCHMARKS["aime"], sha256=sha256, **more))


def kept():
    """What lies in the cache, locks apart."""
    return sorted(path.name for path in cache_folder().rglob("*") if path.is_file() and path.suffix != ".lock")


def refused(name="aime"):
    """The sentence with which a benchmark is not there."""
    with pytest.raises(SemeceError) as caught:
        open_dataset(name)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_it_is_fetched_once_and_then_read_without_network(server, known):
    assert len(open_dataset("aime").questions) == 30
    server.statuses["/aime.jsonl"] = 500
    assert open_dataset("aime").questions[29].references == ("30",)
    assert server.requests == {"/aime.jsonl": 1}
    name = cached_file("aime").name
    assert kept() == ([name] if known == "pinned" else [name, f"{name}.sha256"])


def test_fetching_is_said(server, monkeypatch, caplog):
    pin(monkeypatch, PINNED)
    fetch("aime")
    assert caplog.messages == [f"fetching aime (once) from {server.url}/aime.jsonl to {cache_folder() / 'datasets'}"]
    fetch("aime")
    assert len(caplog.messages) == 1


def test_a_damaged_copy_is_fetched_again(server, known, caplog):
    path = fetch("aime")
    path.write_bytes(AIME[:100])
    assert fetch("aime").read_bytes() == AIME
    assert "(the copy in the cache is damaged)" in caplog.messages[-1]


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        (404, "aime could not be fetched from URL: it is not there (404); try again later, or give a copy of yours: "),
        (403, "aime could not be fetched from URL: access is refused (403); "),
        (503, "aime could not be fetched from URL: the server cannot give it now (503); "),
        (204, "aime could not be fetched from URL: the server cannot give it now (204); "),
        ("cut", "aime could not be fetched from URL: peer closed connection without sending complete message body"),
        ("stalled", "aime could not be fetched from URL: "),
        ("gone", "aime could not be fetched from URL: "),
        ("page", "URL gave a web page instead of aime: "),
    ],
)
def test_what_does_not_arrive_is_one_sentence_and_leaves_nothing(server, known, how, sentence, monkeypatch):
    path = "/aime.jsonl"
    if isinstance(how, int):
        server.statuses[path] = how
    elif how == "cut":
        server.cut.add(path)
    elif how == "stalled":
        server.stalls.add(path)
        monkeypatch.setattr(download, "SILENCE", 0.2)
    elif how == "gone":
        server.shutdown()
        server.server_close()
    else:
        server.files[path] = PAGE
    said = refused()
    assert said.startswith(sentence.replace("URL", f"{server.url}{path}")), said
    assert said.endswith("--dataset aime=PATH")
    assert kept() == []


def test_another_file_is_refused_by_its_hash(server, monkeypatch):
    pin(monkeypatch, "0" * 64)
    assert f"is not the file it should be: its sha256 begins with {PINNED[:12]}, not 000000000000; " in refused()
    assert kept() == []


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "(has no questions)"),
        (AIME[:-50], "(line 30: expected a JSON object; "),
        (AIME[: AIME.index(b"\n") + 1], "(expected 30 questions; got 1)"),
        (b'{"question": "Q?", "answer": "1"}\n' * 30, "(line 1: expected the columns answer, id, problem; got "),
        (b"\xff\xfe", "(is not UTF-8 text "),
    ],
)
def test_without_a_known_hash_the_content_is_checked_before_it_is_kept(server, monkeypatch, body, problem):
    pin(monkeypatch, None)
    server.files["/aime.jsonl"] = body
    assert f"{server.url}/aime.jsonl is not the file it should be {problem}" in refused()
    assert kept() == []


def test_without_a_known_hash_a_file_that_changed_later_is_refused_until_the_note_is_deleted(server, monkeypatch):
    pin(monkeypatch, None)
    path = fetch("aime")
    note = Path(f"{path}.sha256")
    assert note.read_text() == PINNED
    path.unlink()
    server.files["/aime.jsonl"] = AIME.replace(b"+ 1", b"plus 1")
    said = refused()
    assert f"not {PINNED[:12]}; delete {note} if you want the new one" in said
    assert kept() == [note.name]
    note.unlink()
    assert "plus" in open_dataset("aime").questions[0].text


@pytest.mark.parametrize("mirror", ["mirror.example/files", "ftp://127.0.0.1/files", "http://[::1"])
def test_a_mirror_that_is_no_address_is_one_sentence(server, mirror, monkeypatch):
    monkeypatch.setenv("SEMECE_MIRROR", mirror)
    assert refused().startswith("aime could not be fetched from ")


def test_a_password_in_the_mirror_s_address_is_not_printed(server, monkeypatch, caplog):
    with caplog.at_level(logging.WARNING, "semece"):
        monkeypatch.setenv("SEMECE_MIRROR", server.url.replace("//", "//user:word-1@"))
        server.statuses["/aime.jsonl"] = 404
        said = refused()
    assert "Basic" in server.headers["Authorization"]
    assert f"{server.url}/aime.jsonl" in said
    assert "word-1" not in said + caplog.text


def gated(monkeypatch, server):
    monkeypatch.delenv("SEMECE_MIRROR")
    pin(monkeypatch, PINNED, url=f"{server.url}/aime.jsonl", gate="https://example.org/aime")


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("token", ["", "hf_secret"])
def test_a_benchmark_given_out_on_request_says_where_to_ask(server, status, token, monkeypatch, caplog):
    gated(monkeypatch, server)
    monkeypatch.setenv("HF_TOKEN", token)
    server.statuses["/aime.jsonl"] = status
    said = refused()
    state = "HF_TOKEN has no access" if token else "HF_TOKEN is not set"
    assert said.startswith(f"aime is given out on request ({status}; {state}): ask at https://example.org/aime, put ")
    assert "hf_secret" not in said + caplog.text


def test_the_token_goes_to_the_benchmark_s_own_address_only(server, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    pin(monkeypatch, PINNED, gate="https://example.org/aime")
    fetch("aime")
    assert "Authorization" not in server.headers, "a mirror"
    gated(monkeypatch, server)
    fetch("aime")
    assert server.headers["Authorization"] == "Bearer hf_secret"
    pin(monkeypatch, PINNED, url=f"{server.url}/aime.jsonl?open", gate=None)
    server.files["/aime.jsonl?open"] = AIME
    fetch("aime")
    assert "Authorization" not in server.headers, "a benchmark that anybody may have"


def test_the_token_does_not_follow_to_another_server(server, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    gated(monkeypatch, server)
    with FileServer(aime__jsonl=AIME) as other:
        server.redirects["/aime.jsonl"] = f"{other.url}/aime.jsonl"
        assert fetch("aime").read_bytes() == AIME
        assert server.headers["Authorization"] == "Bearer hf_secret"
        assert other.requests == {"/aime.jsonl": 1}
        assert "Authorization" not in other.headers


def test_an_older_openai_brings_httpx_under_its_old_name(server, monkeypatch):
    pytest.importorskip("httpx")
    monkeypatch.setitem(sys.modules, "httpx2", None)
    pin(monkeypatch, PINNED)
    assert fetch("aime").read_bytes() == AIME


@contextmanager
def without_rights():
    """Be nobody for a while, where the tests run as root."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


@pytest.fixture
def closed_cache(monkeypatch):
    """A cache that may be read but not written."""
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder) / "cache"
        cache.mkdir()
        monkeypatch.setenv("SEMECE_CACHE", str(cache))
        Path(folder).chmod(0o755)
        yield cache
        cache.chmod(0o755)


def test_a_cache_that_cannot_be_written_is_one_sentence(server, closed_cache, monkeypatch):
    pin(monkeypatch, PINNED)
    closed_cache.chmod(0o555)
    with without_rights():
        said = refused()
    assert said.startswith(
        f"aime cannot be kept in {closed_cache / 'datasets'}: Permission denied; set SEMECE_CACHE to "
    )
    closed_cache.rmdir()
    closed_cache.write_text("a file")
    assert "aime cannot be kept in " in refused()
    closed_cache.unlink()
    closed_cache.mkdir()


def test_a_cache_that_cannot_be_written_is_read(server, closed_cache, monkeypatch):
    pin(monkeypatch, PINNED)
    fetch("aime")
    for path in (closed_cache / "datasets", closed_cache):
        path.chmod(0o555)
    with without_rights():
        assert len(open_dataset("aime").questions) == 30
    (closed_cache / "datasets").chmod(0o755)


def test_a_full_disk_is_one_sentence_and_leaves_nothing(server, monkeypatch):
    pin(monkeypatch, PINNED)
    disk_full = OSError(28, "No space left on device")

    class Full(type(Path())):
        def open(self, mode="r", **more):
            if mode == "wb":
                super().open(mode, **more).close()
                raise disk_full
            return super().open(mode, **more)

    monkeypatch.setattr(download, "Path", Full)
    assert "No space left on device; set SEMECE_CACHE" in refused()
    assert kept() == []


@pytest.fixture
def shared_server(shared_data, tmp_path, monkeypatch):
    """A mirror with SimpleQA as it is published."""
    monkeypatch.setenv("SEMECE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    body = (shared_data / "questions" / "simple_qa_test_set.csv").read_bytes()
    with FileServer(simpleqa__csv=body) as server:
        monkeypatch.setenv("SEMECE_MIRROR", server.url)
        yield server


PLAN = ["run", "--model", "fake/?pmf=1", "--dataset", "simpleqa", "--dry-run"]


RUN = ["run", "--model", "fake/?pmf=1", "--dataset", "simpleqa", "--judge", "rules", "--limit", "1", "-n", "2"]


def start(*words):
    return subprocess.Popen(
        [*SEMECE, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ.copy()
    )


@pytest.mark.slow
@pytest.mark.shared_data
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_download_stopped_in_the_middle_leaves_no_file_and_the_next_run_fetches_it(shared_server, number):
    shared_server.stalls.add("/simpleqa.csv")
    process = start(*PLAN)
    assert shared_server.half.wait(30)
    process.send_signal(number)
    process.communicate(timeout=30)
    assert process.returncode == (-number if number == signal.SIGKILL else 128 + number)
    assert not cached_file("simpleqa").exists()
    shared_server.stalls.clear()
    process = start(*PLAN)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "4,326 calls" in out
    assert kept() == [cached_file("simpleqa").name], "half a file of the first try is replaced"


@pytest.mark.slow
@pytest.mark.shared_data
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_run_that_is_fetching_is_stopped_at_once(shared_server, tmp_path, number):
    shared_server.stalls.add("/simpleqa.csv")
    process = start(*RUN, "-o", str(tmp_path / "a.db"))
    assert shared_server.half.wait(30)
    process.send_signal(number)
    process.communicate(timeout=5)
    assert process.returncode == (-number if number == signal.SIGKILL else 128 + number)
    assert not (tmp_path / "a.db").exists()


@pytest.mark.slow
@pytest.mark.shared_data
def test_two_processes_at_once_fetch_it_once(shared_server):
    shared_server.stalls.add("/simpleqa.csv")
    first = start(*PLAN)
    assert shared_server.half.wait(30)
    second = start(*PLAN)
    with pytest.raises(subprocess.TimeoutExpired):
        second.wait(3)
    shared_server.go.set()
    for process in (first, second):
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        assert "4,326 calls" in out
    assert shared_server.requests == {"/simpleqa.csv": 1}


@pytest.mark.shared_data
def test_a_run_on_a_local_copy_and_one_on_what_was_fetched_are_the_same_run(semece, shared_server, shared_data):
    local = f"simpleqa={shared_data}/questions/simple_qa_test_set.csv"
    words = ["run", "-m", "fake/?pmf=.6,.4", "-n", 4, "--limit", 3, "--judge", "rules"]
    code, out, _ = semece(*words, "-d", local)
    assert (code, out.splitlines()[-1]) == (0, "runs/simpleqa--fake--pmf-.6-.4.db")
    assert "3 questions" in out
    assert shared_server.requests == {}
    assert semece(*words, "-d", "simpleqa")[:2] == (0, out)
    assert shared_server.requests == {"/simpleqa.csv": 1}


@pytest.mark.shared_data
def test_subsets_by_sample_and_ids_are_those_of_any_dataset(semece, shared_server):
    Path("ids.txt").write_text("17\n4000\n")
    code, out, _ = semece("run", "-m", "fake/?pmf=1", "-n", 2, "-d", "simpleqa", "--ids", "ids.txt")
    assert (code, "2 questions" in out) == (0, True)
    assert "1 call," in semece("run", "-m", "fake/?pmf=1", "-d", "simpleqa", "--sample", 1, "--dry-run")[1]


def test_what_cannot_be_fetched_stops_a_run_before_there_is_a_file(semece, server):
    server.statuses["/aime.jsonl"] = 404
    code, out, err = semece("run", "-m", "fake/?pmf=1", "-d", "aime")
    assert (code, out) == (4, "")
    assert "semece: aime could not be fetched from" in err
    assert "Traceback" not in err
    assert not list(Path().rglob("*.db"))


def test_the_catalogue_says_what_is_in_the_cache(semece, server, monkeypatch):
    pin(monkeypatch, PINNED)
    rows = {row["name"]: row for row in json.loads(semece("datasets", "--json")[1])}
    assert (rows["aime"]["questions"], rows["aime"]["file"]) == (30, None)
    path = fetch("aime")
    rows = {row["name"]: row for row in json.loads(semece("datasets", "--json")[1])}
    assert rows["aime"]["file"] == str(path)
    out = semece("datasets")[1]
    assert str(cache_folder()) in out
    assert "in the cache" in next(line for line in out.splitlines() if line.startswith("aime "))
    assert "to be fetched" in next(line for line in out.splitlines() if line.startswith("popqa "))
    assert "bundled" in next(line for line in out.splitlines() if line.startswith("starter "))


def test_the_cache_is_the_user_s_unless_it_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("SEMECE_CACHE", "~/here")
    assert cache_folder() == Path.home() / "here"
    monkeypatch.delenv("SEMECE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder().name == "semece"
