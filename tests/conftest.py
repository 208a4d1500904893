"""What every test may need: the real data, and the programs that may be absent on a laptop."""

import logging
import os
import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import settings

# Many tests start commands: with compiled modules kept on the disk they start three times as fast.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

settings.register_profile("semece", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None, max_examples=1000)
settings.load_profile("semece")

SHARED_DATA = Path(os.environ.get("SEMECE_TEST_DATA", Path(__file__).parents[2] / "shared" / "data"))
REQUIRE_ALL = os.environ.get("SEMECE_REQUIRE_ALL") == "1"


def absent(what: str) -> None:
    """Skip with a reason, or fail where everything is promised to be there."""
    if REQUIRE_ALL:
        pytest.fail(f"{what} is required by SEMECE_REQUIRE_ALL=1")
    pytest.skip(f"{what} is not here")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data."""
    if not SHARED_DATA.is_dir():
        absent(f"the real data ({SHARED_DATA})")
    return SHARED_DATA


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a Chromium that playwright can drive."""
    path = shutil.which("chromium")
    if path is None:
        absent("chromium")
    return path


@pytest.fixture
def one_by_one(monkeypatch):
    """Have the embedded model draw no choice that nobody asked for, which is cheaper for a few."""
    from semece.models.embedded import llama_cpp

    monkeypatch.setattr(llama_cpp, "CYCLE", tuple(range(51)))


@pytest.fixture(autouse=True)
def quiet_environment(monkeypatch, tmp_path_factory):
    """No key, no cache and no configuration of the person who runs the tests."""
    for name in list(os.environ):
        if name.endswith("_API_KEY") or name.startswith("OPENAI_"):
            monkeypatch.delenv(name)
    if "SEMECE_CACHE" not in os.environ:
        monkeypatch.setenv("SEMECE_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture
def semece(monkeypatch, capsys, tmp_path):
    """Type a command in an empty folder; give exit code, stdout and stderr."""
    from semece.cli import main

    monkeypatch.chdir(tmp_path)
    log = logging.getLogger("semece")
    handlers, level = list(log.handlers), log.level

    def typed(*words):
        monkeypatch.setattr(sys, "argv", ["semece", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, err

    yield typed
    log.handlers[:] = handlers  # what '-v' added would speak in the next test
    log.setLevel(level)
