"""What a command prints, whoever wrote it: no terminal codes, and no secret that this process has met."""

from __future__ import annotations

import codecs
import os
import re
import sys
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from semece.errors import visible
from semece.models import is_token, keep_secret, secrets_of, without_known_secrets

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_ADDRESS = re.compile(r"https?://[^\s'\"<>]+")
_HIDDEN = re.compile(r"(?<=://)[^\s/@'\"]+(?=@)|(?<=\?)[^\s'\"<>)]+")
_NAMES = ("_API_KEY", "_BASE_URL", "_TOKEN", "_SECRET")


class CleanStream:
    r"""A text stream that writes what a terminal would obey as escapes, and three stars for secrets.

    Escapes are those of JSON, so that JSON stays JSON. Rich, which draws help and bars and prints nothing from outside,
    finds the stream below.

    Parameters
    ----------
    stream : IO of str
        Where to.
    told : bool
        Whether it is for people, who need neither the user nor the query of any address, known or not.

    Attributes
    ----------
    last_line : str
        The last line with something in it that was written so far, at least in part.

    Examples
    --------
    >>> import io
    >>> below = io.StringIO()
    >>> _ = CleanStream(below).write("a\x1b[31mb\n")
    >>> below.getvalue()
    'a\\u001b[31mb\n'
    """

    def __init__(self, stream: IO[str], *, told: bool = False) -> None:
        self.rich_proxied_file, self._told = stream, told
        self.last_line = ""

    def __getattr__(self, name: str) -> object:
        return getattr(self.rich_proxied_file, name)

    def write(self, text: str) -> int:
        """Write a text, cleaned."""
        cleaned = clean(text, told=self._told)
        self.last_line = next(filter(None, map(str.strip, reversed(cleaned.splitlines()))), self.last_line)
        self.rich_proxied_file.write(cleaned)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write texts, cleaned."""
        for line in lines:
            self.write(line)


def clean(text: str, *, told: bool = False) -> str:
    """Take secrets and what a terminal would obey out of a text; line breaks and tabs stay."""
    if told:
        text = _ADDRESS.sub(lambda found: _HIDDEN.sub("***", found[0]), text)
    return visible(without_known_secrets(text), keep="\n\t", json=True)


@contextmanager
def clean_streams() -> Iterator[tuple[CleanStream, CleanStream]]:
    """Clean all that is printed inside, after what the environment and the command's words hold is known as secret."""
    keep_secrets_of(os.environ)
    keep_addresses_of(sys.argv[1:])
    before = sys.stdout, sys.stderr
    for stream in before:
        if getattr(stream, "encoding", None) and codecs.lookup(stream.encoding).name == "ascii":
            stream.reconfigure(encoding="utf-8")  # type: ignore[union-attr] # else Typer writes past what cleans
    cleaned = CleanStream(before[0]), CleanStream(before[1], told=True)
    sys.stdout, sys.stderr = cleaned
    try:
        yield cleaned
    finally:
        sys.stdout, sys.stderr = before


def keep_secrets_of(environment: dict[str, str] | os._Environ[str]) -> None:
    """Remember the keys of an environment, and what hides in its addresses; a word such as ``none`` is no key."""
    for name, value in environment.items():
        if name.upper().endswith(_NAMES):
            keep_addresses_of([value])
            if not _ADDRESS.match(value) and (is_token(value) or len(value) > 15):
                _keep([value.strip()])


def keep_addresses_of(words: Iterable[str]) -> None:
    """Remember what hides in the addresses among some words."""
    for word in words:
        for found in _ADDRESS.findall(word):
            _keep(secrets_of(found, ""))


def _keep(secrets: Iterable[str]) -> None:
    keep_secret(secret for secret in secrets if len(secret) > 5)
