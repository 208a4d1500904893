"""Secrets: what they are, how an address is shown without them, and how they stay out of logs and streams."""

from __future__ import annotations

import base64
import logging
import os
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

from semece.errors import ModelError, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from semece.models.services import Service

LONGEST_SENTENCE = 300
"""Characters of a service's sentence that are shown."""

LIBRARIES = {"openai", "anthropic", "google_genai", "httpx", "httpcore", "httpx2", "httpcore2"}
"""Libraries that may write an address or a header into a log."""

_PLAIN = re.compile(
    r"v\d+(?:alpha|beta)?\d*|api|openai|anthropic|google|openrouter|compatible-mode|inference|engines|deployments"
    r"|serving-endpoints|models|llm|paas|chat|completions|messages|responses|batches|files"
)
"""Words in the path of an address that hide nothing; whatever else stands there may be a key."""


def secrets_of(address: str, key: str) -> tuple[str, ...]:
    """List what must not be printed: the key, and what hides in the address; the longest first.

    Examples
    --------
    >>> secrets_of("https://user:word-1@llm.example/v1?token=abcd", "sk-123456")[-3:]
    ('sk-123456', 'word-1', 'abcd')
    >>> secrets_of("https://llm.example/7f3a9c21d4/acme/v1", "")
    ('7f3a9c21d4', '/acme/')
    """
    try:
        parts = urlsplit(address)
    except ValueError:  # what is no address is not shown at all
        return (address,)
    values = {key, *(word for pair in parse_qsl(parts.query, keep_blank_values=True) for word in _hidden(*pair))}
    hidden = (segment for segment in parts.path.split("/") if _hides(segment))
    values |= {
        segment if is_token(segment) else f"/{segment}/" for segment in hidden
    }  # a word is one in its place only
    if parts.username:
        secret = parts.password or parts.username  # without a password the name is the secret
        names = {parts.username} if is_token(parts.username) else set()
        values |= {secret, unquote(secret), basic_of(address), *names}
    return tuple(sorted((value for value in values if len(value) > 3), key=len, reverse=True))


def _hidden(name: str, value: str) -> tuple[str, ...]:
    """List what is secret in a pair of a query: its value, and a name that looks like a key."""
    return (value, name) if is_token(name) else (value,)


def _hides(segment: str) -> bool:
    """Whether a part of a path may be a key."""
    return bool(segment) and not _PLAIN.fullmatch(segment)


def is_token(text: str) -> bool:
    """Whether a part of an address looks like a key: a run of letters and digits that is no word and no version.

    Examples
    --------
    >>> [is_token(text) for text in ("v1beta", "deployments", "gpt-4o-mini-2024-07-18", "sk-7f3a9c21d4", "x" * 24)]
    [False, False, False, True, True]
    """
    runs = re.findall(r"[A-Za-z0-9]{8,}", unquote(text))
    return any(
        len(run) >= 20 or (run.isdigit() and len(run) > 8) or not (run.isalpha() or run.isdigit()) for run in runs
    )


def shown_address(address: str) -> str:
    """Write an address as it may be seen: three stars for user and password, query, and unknown words in its path.

    Examples
    --------
    >>> shown_address("https://me:word-1@llm.example/7f3a9c21d4/v1?token=abcd")
    'https://***@llm.example/***/v1?***'
    >>> shown_address("http://127.0.0.1:8000/v1"), shown_address("http://[")
    ('http://127.0.0.1:8000/v1', '***')
    """
    if not is_address(address):
        return "***"
    parts = urlsplit(address)
    host = parts.netloc.rpartition("@")[2]
    user = "***@" if "@" in parts.netloc else ""
    path = "/".join("***" if _hides(segment) else segment for segment in parts.path.split("/"))
    return f"{parts.scheme}://{user}{host}{path}{'?***' if parts.query or parts.fragment else ''}"


def check_address(address: str, what: str) -> str:
    """Give an address that a request can be sent to.

    Parameters
    ----------
    address : str
        What was given.
    what : str
        Whose, for the error; the address itself is not shown, since it may hold a key.

    Raises
    ------
    semece.errors.ModelError
        It is none.

    Examples
    --------
    >>> check_address("http://127.0.0.1:8000/v1", "the address of vllm/m")
    'http://127.0.0.1:8000/v1'
    """
    if not is_address(address):
        raise ModelError(f"{what} must begin with http:// or https:// and a host, and hold a port only as a number")
    return address


def is_address(text: str) -> bool:
    """Whether a request can be sent to an address.

    Examples
    --------
    >>> [is_address(text) for text in ("http://127.0.0.1:8000/v1", "127.0.0.1:8000", "http://[", "http://x:y/")]
    [True, False, False, False]
    """
    try:
        parts = urlsplit(text)
        good = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        return False
    return good and text.isprintable() and " " not in text


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


PLACEHOLDERS = frozenset({"none", "null", "empty", "dummy", "local", "ollama", "test", "token"})
"""Words that people give to servers that ask for no key: they protect nothing, and stand in ordinary sentences."""


def keep_out_of_logs(secrets: Iterable[str]) -> None:
    """Keep secrets out of every logger that :data:`LIBRARIES` have made so far, for the life of the process."""
    _redacting.secrets.update(secret for secret in secrets if secret.casefold() not in PLACEHOLDERS)
    if _redacting.secrets:
        for name in list(logging.root.manager.loggerDict):
            if name.partition(".")[0] in LIBRARIES:
                logging.getLogger(name).addFilter(_redacting)


def keep_secret(secrets: Iterable[str]) -> None:
    """Keep secrets out of all that :func:`without_known_secrets` cleans, for the life of the process.

    Texts of up to three letters and :data:`PLACEHOLDERS` are no secrets.

    Examples
    --------
    >>> keep_secret(["none"])
    >>> without_known_secrets("the files have none")
    'the files have none'
    """
    _redacting.secrets.update(secret for secret in secrets if len(secret) > 3 and secret.casefold() not in PLACEHOLDERS)


def without_known_secrets(text: str) -> str:
    """Take every secret that this process has met out of a text.

    Examples
    --------
    >>> keep_secret(["sk-654321"])
    >>> without_known_secrets("Authorization: Bearer sk-654321")
    'Authorization: Bearer ***'
    """
    return hide(text, sorted(_redacting.secrets, key=len, reverse=True))


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


def hidden_in(value: Any, secrets: Sequence[str]) -> Any:  # noqa: ANN401 - JSON
    r"""Take secrets out of all texts of what was read from JSON, however they were spelled there.

    Examples
    --------
    >>> import json
    >>> hidden_in(json.loads('{"said": ["sk-1234\\u0035\\/6"]}'), ["sk-12345/6"])
    {'said': ['***']}
    """
    if isinstance(value, str):
        return hide(value, secrets)
    if isinstance(value, list):
        return [hidden_in(each, secrets) for each in value]
    if isinstance(value, dict):
        return {hide(name, secrets): hidden_in(each, secrets) for name, each in value.items()}
    return value


def clear(text: str, secrets: Iterable[str]) -> str:
    """Take secrets out of a text and make it one line of at most 300 characters.

    Examples
    --------
    >>> clear("invalid x-api-key sk-123456", ["sk-123456"])
    'invalid x-api-key ***'
    """
    line = " ".join(hide(text, secrets).split())
    return shortened(line, LONGEST_SENTENCE, mark="...", kept=LONGEST_SENTENCE)
