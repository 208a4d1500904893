"""The errors semece raises on purpose.

::

    SemeceError            something a person can act on; printed as one sentence, no traceback
    ├── ParseError         a file, a row or a reply that is not what was expected
    ├── StoreError         a run file that cannot be opened, locked, written or continued
    ├── ModelError         a model that cannot be used (refused key, unknown name, exhausted quota)
    │   └── TransientError nothing was delivered this time; asking again may work
    └── BudgetError        a cap was reached

Bad arguments of a function are ``ValueError``.
"""


class SemeceError(Exception):
    """Something a person can act on."""


class ParseError(SemeceError):
    """A file, a row or a reply that is not what was expected."""


class StoreError(SemeceError):
    """A run file that cannot be opened, locked, written or continued."""


class ModelError(SemeceError):
    """A model that cannot be used; asking again would not help."""


class TransientError(ModelError):
    """Nothing was delivered this time; asking again may work.

    Parameters
    ----------
    message : str
        One sentence, without keys.
    status : {'rate_limited', 'timeout', 'connection', 'server', 'broken_body'}
        What went wrong.
    retry_after : float, optional
        Seconds the provider asked to wait.
    maybe_paid : bool
        True if the request may have been served and billed although no reply arrived.
    """

    def __init__(
        self, message: str, *, status: str, retry_after: float | None = None, maybe_paid: bool = False
    ) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after
        self.maybe_paid = maybe_paid


class BudgetError(SemeceError):
    """A cap was reached; what was in flight is stored."""
