"""Fetch a benchmark once, check it, keep it.

What is fetched goes to a temporary file, is checked, and only then takes its place in the cache: an interrupted
download leaves nothing that could be read. A lock makes a second process wait and use what the first one fetched.
"""

from __future__ import annotations

import hashlib
import importlib
import logging
import os
import re
from pathlib import Path
from typing import Any

from semece.canonical_json import replacing
from semece.datasets.benchmarks import BENCHMARKS, Benchmark, read_benchmark
from semece.errors import ParseError, ProviderError, SemeceError

CONNECT, SILENCE = 15.0, 60.0
"""Seconds to wait for a connection, and for the next bytes."""


def cache_folder() -> Path:
    """Give the folder where what is downloaded is kept: ``SEMECE_CACHE``, else the user's cache folder.

    Returns
    -------
    Path
        It may not exist yet.
    """
    import platformdirs

    return Path(os.environ.get("SEMECE_CACHE") or platformdirs.user_cache_dir("semece")).expanduser()


def cached_file(name: str) -> Path:
    """Give the place of a benchmark in the cache; another address is another place.

    Parameters
    ----------
    name : str
        One of :data:`semece.datasets.benchmarks.BENCHMARKS`.

    Returns
    -------
    Path
        It may not exist yet.
    """
    benchmark = BENCHMARKS[name]
    key = hashlib.sha256(benchmark.url.encode()).hexdigest()[:8]
    return cache_folder() / "datasets" / f"{name}-{key}{benchmark.suffix}"


def fetch(name: str) -> Path:
    """Give a benchmark's file, from the cache or from its address.

    ``SEMECE_MIRROR`` is the address of a folder that holds copies named ``simpleqa.csv``, ``popqa.tsv`` and so on.

    Parameters
    ----------
    name : str
        One of :data:`semece.datasets.benchmarks.BENCHMARKS`.

    Returns
    -------
    Path
        The checked file.

    Raises
    ------
    SemeceError
        It is not there, may not be had, is not what it should be, or the cache cannot be written.
    """
    from filelock import FileLock

    path = cached_file(name)
    try:
        if not _is_sound(path, BENCHMARKS[name]):
            path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(f"{path}.lock"):  # keeps other processes from fetching the same file
                if not _is_sound(path, BENCHMARKS[name]):
                    _download(name, path)
    except OSError as error:
        said = f"{name} cannot be kept in {path.parent}: {error.strerror or error}"
        raise _refused(name, f"{said}; set SEMECE_CACHE to a folder that can be written,") from None
    return path


def _is_sound(path: Path, benchmark: Benchmark) -> bool:
    """Whether the file is there and is the one it should be."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == _expected(path, benchmark)


def _expected(path: Path, benchmark: Benchmark) -> str | None:
    """Give the hash that is known for a file, or that was noted when it was first fetched."""
    noted = _note(path)
    return benchmark.sha256 or (noted.read_text(encoding="ascii").strip() if noted.is_file() else None)


def _note(path: Path) -> Path:
    return Path(f"{path}.sha256")


def _download(name: str, path: Path) -> None:
    """Fetch a file beside its place, check it, put it there."""
    benchmark = BENCHMARKS[name]
    mirror = os.environ.get("SEMECE_MIRROR")
    address = f"{mirror.rstrip('/')}/{name}{benchmark.suffix}" if mirror else benchmark.url
    why = "the copy in the cache is damaged" if path.is_file() else "once"
    logging.getLogger("semece").warning("fetching %s (%s) from %s to %s", name, why, _public(address), path.parent)
    with replacing(path) as part:
        found = _save(name, address, part)
        expected = _expected(path, benchmark)
        if expected is None:
            _check_content(name, address, part)
            _note(path).write_text(found, encoding="ascii")
        elif found != expected:
            again = "" if benchmark.sha256 else f"; delete {_note(path)} if you want the new one"
            said = f"its sha256 begins with {found[:12]}, not {expected[:12]}{again}"
            raise SemeceError(
                f"{_public(address)} is not the file it should be: {said}; a copy that you trust: --dataset {name}=PATH"
            )


def _check_content(name: str, address: str, part: Path) -> None:
    """Read a file whose hash nobody knows, before it is kept."""
    try:
        read_benchmark(name, part, strict=True)
    except ParseError as error:
        problem = str(error).removeprefix(str(part)).lstrip(":, ")
        raise SemeceError(
            f"{_public(address)} is not the file it should be ({problem}); a copy that you trust: --dataset {name}=PATH"
        ) from None


def _save(name: str, address: str, part: Path) -> str:
    """Write what an address gives to a file; give its hash."""
    client = _http_client()
    headers = {"User-Agent": "semece", "Accept-Encoding": "identity"}
    if BENCHMARKS[name].gate and address == BENCHMARKS[name].url and os.environ.get("HF_TOKEN"):
        headers["Authorization"] = f"Bearer {os.environ['HF_TOKEN']}"
    digest = hashlib.sha256()
    try:
        timeout = client.Timeout(SILENCE, connect=CONNECT)
        with client.stream("GET", address, headers=headers, follow_redirects=True, timeout=timeout) as response:
            _check_status(name, address, response.status_code)
            with part.open("wb") as file:
                for chunk in response.iter_bytes():
                    if not file.tell() and chunk.lstrip().startswith(b"<"):
                        raise SemeceError(
                            f"{_public(address)} gave a web page instead of {name}: a login page or a proxy is in the "
                            f"way; fetch it with a browser and give --dataset {name}=PATH"
                        )
                    file.write(chunk)
                    digest.update(chunk)
    except (client.HTTPError, client.InvalidURL) as error:
        reason = _public(str(error)) or type(error).__name__
        raise _refused(name, f"{name} could not be fetched from {_public(address)}: {reason}; run it again,") from None
    return digest.hexdigest()


def _check_status(name: str, address: str, status: int) -> None:
    """Say what an answer without data means."""
    if status == 200:
        return
    where, gate = _public(address), BENCHMARKS[name].gate
    if status in {401, 403} and gate:
        token = "HF_TOKEN is not set" if not os.environ.get("HF_TOKEN") else "HF_TOKEN has no access"
        said = f"{name} is given out on request ({status}; {token}): ask at {gate}, put your token into HF_TOKEN,"
        raise _refused(name, said)
    means = {401: "access is refused", 403: "access is refused", 404: "it is not there", 410: "it is not there"}
    why = means.get(status, "the server cannot give it now")
    raise _refused(name, f"{name} could not be fetched from {where}: {why} ({status}); try again later,")


def _refused(name: str, said: str) -> ProviderError:
    return ProviderError(f"{said} or give a copy of yours: --dataset {name}=PATH")


def _http_client() -> Any:  # noqa: ANN401 - a module
    """Give httpx under the name that the installed version of openai brings."""
    try:
        return importlib.import_module("httpx2")
    except ImportError:
        return importlib.import_module("httpx")


def _public(text: str) -> str:
    """Take names and passwords out of addresses."""
    return re.sub(r"//[^/@\s]*@", "//", text)
