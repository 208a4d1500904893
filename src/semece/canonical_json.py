"""What is written down: JSON in one way only, its hash, and files that are there whole or not at all."""

from __future__ import annotations

import hashlib
import json
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


def encodable(text: str) -> str:
    r"""Write lone surrogates, which no UTF-8 file can hold, as their escapes.

    Examples
    --------
    >>> encodable("a\ud800b")
    'a\\ud800b'
    """
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def canonical(value: object) -> str:
    """JSON with sorted names, no spaces, no NaN.

    Examples
    --------
    >>> canonical({"b": 1, "a": [None, "é"]})
    '{"a":[null,"é"],"b":1}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(value: object) -> bytes:
    """SHA-256 of the canonical JSON of a value.

    Examples
    --------
    >>> digest([1, 2]).hex()[:8]
    '49a64717'
    """
    return hashlib.sha256(canonical(value).encode("utf-8", "surrogatepass")).digest()


def plain(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Keep what JSON in a UTF-8 file can hold, and the rest as text: dates, NaN, lone surrogates.

    Examples
    --------
    >>> plain({"a": 1, "b": float("nan")})
    {'a': 1, 'b': 'nan'}
    """
    return {
        encodable(str(name)): value if _is_json(value) else encodable(str(value)) for name, value in metadata.items()
    }


def _is_json(value: object) -> bool:
    if value is None or value is True or value is False or (type(value) is str and value.isascii()):
        return True
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except (TypeError, ValueError, RecursionError):
        return False
    return True


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Write a file whole or not at all: give a place beside it; what is there at the end takes its place.

    Parameters
    ----------
    path : Path
        The file. What it holds stays as it is until then, and if anything is raised.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(Path(folder) / "a.txt") as part:
    ...         _ = part.write_text("whole")
    ...     [file.name for file in Path(folder).iterdir()]
    ['a.txt']
    """
    part = path.with_name(f".part-{path.name}")  # its ending says how it is read
    try:
        part.unlink(missing_ok=True)
        yield part
        part.replace(path)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
