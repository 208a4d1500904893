"""The one seam to a language model, live and in batches.

A model is anything with a ``name``, a ``max_choices`` and an async call from a :class:`Request` to a :class:`Call`.
A batch model takes many requests at once, cheaper and later: it encodes lines, creates a batch of them, and is looked
at until the batch has ended. It never submits a line again by itself: what is asked when belongs to the pipeline.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from semece.errors import ModelError, ProviderError, TransientError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

ReplyStatus = Literal["ok", "empty", "content_filter", "truncated", "refusal"]
"""``ok``, or delivered and paid for but without a usable text (by the provider's own field).

A prompt that is longer than the context is ``truncated`` too: asking again would not help, and other prompts may fit.
"""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a prompt.

    Parameters
    ----------
    role : {'system', 'user', 'assistant', 'completion'}
        ``completion``: raw text to be continued, for models without a chat (the embedded one).
    content : str
        The text.
    """

    role: Literal["system", "user", "assistant", "completion"]
    content: str


@dataclass(frozen=True, slots=True)
class Decoding:
    """Decoding options as the user asked for them; None means the provider's default.

    Parameters
    ----------
    temperature, top_p : float or None
        Sampling temperature (>= 0) and nucleus mass in (0, 1].
    max_tokens : int
        Most tokens of one reply, >= 1.
    reasoning_effort : str or None
        Passed on as it is.
    grammar : str or None
        A GBNF grammar for models that take one (the embedded one); others ignore it.
    schema : mapping or None
        JSON schema of the wanted reply, for providers with structured output; others ignore it.
    """

    temperature: float | None = 1.0
    top_p: float | None = 1.0
    max_tokens: int = 1024
    reasoning_effort: str | None = None
    grammar: str | None = None
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a model in one call.

    Parameters
    ----------
    messages : tuple of Message
        The prompt.
    decoding : Decoding
        Options.
    n : int
        How many choices are wanted, 1 <= n <= the model's ``max_choices``.
    seed : int or None
        Seed of the first choice; choice i is drawn with ``seed + i`` where the model takes seeds.
    """

    messages: tuple[Message, ...]
    decoding: Decoding = Decoding()
    n: int = 1
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """One choice as it came back.

    Parameters
    ----------
    text : str
        The text; ``''`` if there was none.
    status : {'ok', 'empty', 'content_filter', 'truncated', 'refusal'}
        See :data:`ReplyStatus`.
    finish_reason : str or None
        The provider's own word.
    raw : str
        The choice as the provider sent it (JSON), stored and never interpreted again by an adapter.
    """

    text: str
    status: ReplyStatus
    finish_reason: str | None
    raw: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call as the provider counted them."""

    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class Call:
    """What one call to a model delivered.

    Parameters
    ----------
    replies : tuple of Reply
        The choices that came back: at least one, possibly fewer than asked for, never more.
    usage : Usage or None
        Tokens of the whole call; None if the provider does not say.
    request_id : str or None
        The provider's id of the request.
    latency : float
        Seconds.
    events : tuple of str
        What the adapter noticed for the first time (an option dropped, choices not supported), without bodies.
    """

    replies: tuple[Reply, ...]
    usage: Usage | None = None
    request_id: str | None = None
    latency: float = 0.0
    events: tuple[str, ...] = ()


class Opened(Protocol):
    """What a live model and its batches have in common."""

    @property
    def name(self) -> str:
        """The spelling that opens it, such as ``openai/gpt-4o-mini``; part of every key."""

    @property
    def max_choices(self) -> int:
        """How many choices one request, or line of a batch, may ask for now; may fall to 1, never rises."""

    async def aclose(self) -> None:
        """Give back connections and memory."""


@runtime_checkable
class Model(Opened, Protocol):
    """Anything that answers.

    A call raises :class:`semece.TransientError` if nothing was delivered and asking again may work, and
    :class:`semece.ModelError` if it will not (refused key, unknown model, exhausted quota). It does not
    retry: pacing belongs to the pipeline.
    """

    async def __call__(self, request: Request, /) -> Call:
        """Ask."""


Ending = Literal["completed", "expired", "cancelled"]
"""How a batch ended; expired and cancelled ones may hold results of a part of their lines."""


class BatchFailedError(ProviderError):
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


class UnknownBatchError(ProviderError):
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
        The line's; empty for a result that cannot be read, and so is nobody's.
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


async def created_since(
    states: AsyncIterator[BatchState], since: float | None, limit: int | None = None
) -> list[BatchState]:
    """Choose, of the batches that a provider tells of, those created since then, whatever the order they come in.

    A list that begins again has come to its end.

    Parameters
    ----------
    states : async iterator of BatchState
        What the provider tells.
    since : float or None
        Seconds since 1970; None: all.
    limit : int or None
        At most so many, the first that are told of; what comes after them is not asked for.

    Returns
    -------
    list of BatchState
    """
    found: list[BatchState] = []
    seen: set[str] = set()
    async for state in states:
        if len(found) == limit or state.id in seen:
            break
        seen.add(state.id)
        if since is None or state.created >= since:
            found.append(state)
    return found


def unreadable_line(name: str, why: str, custom_id: str = "") -> LineResult:
    """Say that a line of the results cannot be read: it was paid for, and is nobody's unless its id is known."""
    said = f"{name}: a line of the batch's results cannot be read ({why})"
    return LineResult(custom_id, error=TransientError(said, status="broken_body", maybe_paid=True))


class BatchModel(Opened, Protocol):
    """A model's batch interface.

    Every method raises :class:`semece.TransientError` or :class:`semece.ModelError`, as a
    :class:`Model` does. After a TransientError of :meth:`create` that says ``maybe_paid`` the batch may
    exist.
    """

    @property
    def marks(self) -> bool:
        """Whether the provider carries our id for a batch."""

    @property
    def max_lines(self) -> int:
        """Most lines of a batch."""

    @property
    def max_bytes(self) -> int:
        """Most bytes of a batch."""

    async def encode(self, custom_id: str, request: Request) -> EncodedLine:
        """Make a line of a request."""

    async def create(self, lines: Sequence[EncodedLine], mark: str) -> BatchState:
        """Submit lines as one batch, once; ``mark`` is our id for it, carried where the provider can."""

    async def state(self, batch_id: str) -> BatchState:
        """Look at a batch.

        Raises
        ------
        UnknownBatchError
            The provider does not know it.
        """

    async def listed(self, since: float | None, *, limit: int | None = None) -> list[BatchState]:
        """List the batches created since then, all of them if None; at most `limit`, the first that are told of."""

    async def line_of(self, state: BatchState) -> str | None:
        """Give the custom id of one of a batch's lines; None as long as that cannot be seen.

        Raises
        ------
        BatchFailedError
            It failed as a whole.
        """

    def results(self, state: BatchState) -> AsyncIterator[LineResult]:
        """Give the results of a batch that has ended; lines that were not run may be missing.

        A result that cannot be read costs its line and no other.

        Raises
        ------
        BatchFailedError
            There are none.
        UnknownBatchError
            There were some, and they are gone.
        """

    def told(self) -> tuple[str, ...]:
        """Give what was noticed since the last time (an option left out), one sentence each."""
