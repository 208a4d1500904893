"""Secrets: what they are, and how they stay out of the logs of the libraries below."""

from __future__ import annotations

import base64
import logging
import os
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote, urlsplit

from semece.errors import ModelError, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable

    from semece.models.services import Service

LONGEST_SENTENCE = 300
"""Characters of a service's sentence that are shown."""

LIBRARIES = {"openai", "anthropic", "google_genai", "httpx", "httpcore", "httpx2", "httpcore2"}
"""Libraries that may write an address or a header into a log."""


def secrets_of(address: str, key: str) -> tuple[str, ...]:
    """List what must not be printed: the key, and what hides in the address; the longest first.

    Examples
    --------
    >>> secrets_of("https://user:word-1@llm.example/v1?token=abcd", "sk-123456")[-3:]
    ('sk-123456', 'word-1', 'abcd')
    """
    parts = urlsplit(address)
    values = {key, *(value for _, value in parse_qsl(parts.query))}
    if parts.username:
        secret = parts.password or parts.username  # without a password the name is the secret
        values |= {secret, unquote(secret), basic_of(address)}
    return tuple(sorted((value for value in values if len(value) > 3), key=len, reverse=True))


def basic_of(address: str) -> str:
    """Encode the user name and password of an address as HTTP sends them; empty if there are none.

    Examples
    --------
    >>> basic_of("https://user:word-1@llm.example/v1"), basic_of("https://llm.example/v1")
    ('dXNlcjp3b3JkLTE=', '')
    """
    parts = urlsplit(address)
    pair = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    return base64.b64encode(pair.encode()).decode() if parts.username else ""


class Redacting(logging.Filter):
    """Takes secrets out of the records that pass it.

    Examples
    --------
    >>> redacting = Redacting()
    >>> redacting.secrets.add("sk-123456")
    >>> record = logging.LogRecord("httpx", 20, "", 0, "POST %s", ("http://127.0.0.1/?key=sk-123456",), None)
    >>> redacting.filter(record), record.getMessage()
    (True, 'POST http://127.0.0.1/?key=***')
    """

    def __init__(self) -> None:
        super().__init__()
        self.secrets: set[str] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        """Redact the finished message; let the record through."""
        text = record.getMessage()
        if (hidden := hide(text, sorted(self.secrets, key=len, reverse=True))) != text:
            record.msg, record.args = hidden, ()
        return True


_redacting = Redacting()


def keep_out_of_logs(secrets: Iterable[str]) -> None:
    """Keep secrets out of every logger that :data:`LIBRARIES` have made so far, for the life of the process."""
    _redacting.secrets.update(secrets)
    if _redacting.secrets:
        for name in list(logging.root.manager.loggerDict):
            if name.partition(".")[0] in LIBRARIES:
                logging.getLogger(name).addFilter(_redacting)


def sendable(key: str, name: str) -> str:
    r"""Give a key without the blanks and line ends that pasting leaves around it.

    Raises
    ------
    semece.errors.ModelError
        It holds a character that no HTTP header can carry.

    Examples
    --------
    >>> sendable("sk-1 \n", "SERVICE_API_KEY")
    'sk-1'
    """
    stripped = key.strip()
    if not stripped.isascii() or not stripped.isprintable() or " " in stripped:
        raise ModelError(f"the key in {name} holds a character that cannot be sent: paste it again")
    return stripped


def key_of(service: Service) -> str:
    """Find the key of a service in the environment; empty if there is none.

    Raises
    ------
    semece.errors.ModelError
        It holds a character that no HTTP header can carry.
    """
    return next((key for name in service.keys if (key := sendable(os.environ.get(name, ""), name))), "")


def hide(text: str, secrets: Iterable[str]) -> str:
    """Take secrets out of a text.

    Examples
    --------
    >>> hide("invalid x-api-key sk-123456", ["sk-123456"])
    'invalid x-api-key ***'
    """
    for secret in secrets:
        text = text.replace(secret, "***")
    return text


def clear(text: str, secrets: Iterable[str]) -> str:
    """Take secrets out of a text and make it one line of at most 300 characters.

    Examples
    --------
    >>> clear("invalid x-api-key sk-123456", ["sk-123456"])
    'invalid x-api-key ***'
    """
    line = " ".join(hide(text, secrets).split())
    return shortened(line, LONGEST_SENTENCE, mark="...", kept=LONGEST_SENTENCE)
