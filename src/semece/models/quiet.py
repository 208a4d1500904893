"""Secrets stay out of the logs of the libraries below."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

LIBRARIES = {"openai", "httpx", "httpcore", "httpx2", "httpcore2"}
"""Libraries that may write an address or a header into a log."""


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
        if any(secret in text for secret in self.secrets):
            for secret in sorted(self.secrets, key=len, reverse=True):
                text = text.replace(secret, "***")
            record.msg, record.args = text, ()
        return True


_redacting = Redacting()


def keep_out_of_logs(secrets: Iterable[str]) -> None:
    """Keep secrets out of every logger that :data:`LIBRARIES` have made so far, for the life of the process."""
    _redacting.secrets.update(secrets)
    if _redacting.secrets:
        for name in list(logging.root.manager.loggerDict):
            if name.partition(".")[0] in LIBRARIES:
                logging.getLogger(name).addFilter(_redacting)
