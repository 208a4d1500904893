"""The seam to a provider's batch interface: many requests at once, cheaper and later.

A batch model encodes lines, creates a batch of them, and is looked at until the batch has ended. It never submits a
line again by itself: what is asked when belongs to :mod:`semece.sampling.batch`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from semece.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from semece.models import Call, Request

Ending = Literal["completed", "expired", "cancelled"]
"""How a batch ended; expired and cancelled ones may hold results of a part of their lines."""


class BatchFailedError(ModelError):
    """A batch ended without a result for any line.

    Parameters
    ----------
    reason : ModelError
        Why; a :class:`semece.TransientError` where submitting again may help.
    cancelled : bool
        Whether somebody stopped it.
    """

    def __init__(self, reason: ModelError, *, cancelled: bool = False) -> None:
        super().__init__(str(reason))
        self.reason = reason
        self.cancelled = cancelled


class UnknownBatchError(ModelError):
    """The provider does not know a batch: another key, another endpoint, or it is too old.

    Parameters
    ----------
    message : str
        One sentence.
    gone : bool
        Whether it is certain that its results will never come.
    """

    def __init__(self, message: str, *, gone: bool = False) -> None:
        super().__init__(message)
        self.gone = gone


@dataclass(frozen=True, slots=True)
class EncodedLine:
    """One line of a batch, ready to be sent.

    Parameters
    ----------
    custom_id : str
        What its result will be found by; unique in a batch.
    body : object
        The adapter's own.
    size : int
        Bytes that it adds to a batch.
    group : str
        Lines of one batch must share it.
    """

    custom_id: str
    body: Any
    size: int
    group: str = ""


@dataclass(frozen=True, slots=True)
class BatchState:
    """A batch as the provider describes it.

    Parameters
    ----------
    id : str
        The provider's.
    ending : {'completed', 'expired', 'cancelled'} or None
        None while it is under way.
    created : float
        Seconds since 1970 by the provider's clock.
    requests : int or None
        How many lines it holds; None if the provider does not say.
    mark : str or None
        The id that we gave it, where the provider carries one.
    """

    id: str
    ending: Ending | None
    created: float
    requests: int | None = None
    mark: str | None = None


@dataclass(frozen=True, slots=True)
class LineResult:
    """What became of one line.

    Parameters
    ----------
    custom_id : str
        The line's.
    call : Call or None
        What was delivered.
    error : ModelError or None
        Why nothing was. Neither call nor error: an option was refused that is left out from now on; ask again.
    cancelled : bool
        Whether somebody stopped it.
    """

    custom_id: str
    call: Call | None = None
    error: ModelError | None = None
    cancelled: bool = False


class BatchModel(Protocol):
    """A model's batch interface.

    Every method raises :class:`semece.TransientError` or :class:`semece.ModelError`, as a
    :class:`semece.models.Model` does. After a TransientError of :meth:`create` that says ``maybe_paid`` the batch may
    exist.
    """

    @property
    def name(self) -> str:
        """The model's spelling."""
        ...

    @property
    def max_choices(self) -> int:
        """How many choices one line may ask for now."""
        ...

    @property
    def marks(self) -> bool:
        """Whether the provider carries our id for a batch."""
        ...

    @property
    def max_lines(self) -> int:
        """Most lines of a batch."""
        ...

    @property
    def max_bytes(self) -> int:
        """Most bytes of a batch."""
        ...

    async def encode(self, custom_id: str, request: Request) -> EncodedLine:
        """Make a line of a request."""
        ...

    async def create(self, lines: Sequence[EncodedLine], mark: str) -> BatchState:
        """Submit lines as one batch, once; ``mark`` is our id for it, carried where the provider can."""
        ...

    async def state(self, batch_id: str) -> BatchState:
        """Look at a batch.

        Raises
        ------
        UnknownBatchError
            The provider does not know it.
        """
        ...

    async def listed(self, since: float | None, *, limit: int | None = None) -> list[BatchState]:
        """List the batches created since then, all of them if None; at most `limit`, the first that are told of."""
        ...

    def results(self, state: BatchState) -> AsyncIterator[LineResult]:
        """Give the results of a batch that has ended; lines that were not run may be missing.

        Raises
        ------
        BatchFailedError
            There are none.
        """
        ...

    def told(self) -> tuple[str, ...]:
        """Give what was noticed since the last time (an option left out), one sentence each."""
        ...

    async def aclose(self) -> None:
        """Give back connections."""
        ...
