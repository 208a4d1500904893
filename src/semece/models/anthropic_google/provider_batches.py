"""Batches of Anthropic and Google, through ``pydantic-ai-slim`` (extra ``providers``).

Neither carries an id of ours for a batch, so a batch is recognised by the ids of its lines.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from semece.errors import ModelError, TransientError
from semece.models.anthropic_google.provider_chats import UNREADABLE, kept_bodies
from semece.models.anthropic_google.provider_errors import explain_status
from semece.models.protocol import (
    BatchFailedError,
    BatchState,
    EncodedLine,
    LineResult,
    Message,
    Request,
    UnknownBatchError,
    created_since,
    unreadable_line,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from semece.models.anthropic_google.provider_chats import ProviderModel
    from semece.models.protocol import Ending

MAX_LINES = 20_000
"""Most lines of a batch: below the services' own limits, since its results are held in memory."""

_PAGE, _LEAST = 100, 20


class ProviderBatches(ABC):
    """The batch interface of a model behind ``pydantic-ai``.

    Parameters
    ----------
    live : ProviderModel
        The model; options that it leaves out are left out here too.
    """

    max_choices = 1
    marks = False

    def __init__(self, live: ProviderModel) -> None:
        self.live = live
        self.name = live.name
        self.max_lines = min(MAX_LINES, live.model.batch_max_requests or MAX_LINES)
        self.max_bytes = int(live.model.batch_max_bytes)
        self._group: str | None = None

    async def aclose(self) -> None:
        """Close the connections."""
        await self.live.aclose()

    def told(self) -> tuple[str, ...]:
        """Give the options that were left out since the last time."""
        return self.live.noticed.told()

    @asynccontextmanager
    async def _explained(self) -> AsyncIterator[None]:
        """Turn the errors of the libraries into ours."""
        from pydantic_ai.exceptions import AgentRunError, ModelNotFoundError, UserError

        try:
            yield
        except ModelNotFoundError as error:
            raise UnknownBatchError(str(self.live.explained(error))) from None
        except AgentRunError as error:
            raise self.live.explained(error) from None
        except UserError as error:
            raise ModelError(f"{self.name}: {self.live.cleared(error.message)}") from None
        except UNREADABLE as error:
            raise self.live.unreadable(type(error).__name__) from None

    async def encode(self, custom_id: str, request: Request) -> EncodedLine:
        """Make a line of a request."""
        from pydantic_ai.models.batch import BatchRequest

        messages, settings, parameters = self.live.prepared(request)
        asked = BatchRequest(
            custom_id=custom_id, messages=messages, model_settings=settings, model_request_parameters=parameters
        )
        async with self._explained():
            line = await self.live.model.batch_encode(asked)
        return EncodedLine(custom_id, line, self.live.model.batch_request_size(line), line.group)

    async def create(self, lines: Sequence[EncodedLine], mark: str) -> BatchState:
        """Submit lines as one batch, once."""
        del mark
        try:
            async with self._explained():
                made = await self.live.model.batch_create([line.body for line in lines])
        except TransientError as error:
            error.maybe_paid |= error.status == "server"  # the batch may exist all the same
            raise
        return self._described(made)

    async def state(self, batch_id: str) -> BatchState:
        """Look at a batch."""
        async with self._explained():
            return self._described(await self.live.model.batch_status(await self._handle(batch_id)))

    async def _handle(self, batch_id: str, *, status: str = "in_progress", ending: str = "") -> Any:  # noqa: ANN401
        """Make pydantic-ai's handle of a batch that another process may have made."""
        from pydantic_ai.models.batch import Batch

        if self._group is None:
            self._group = (await self.encode("x", Request((Message("user", "x"),)))).group
        return Batch(
            id=batch_id,
            model_name=self.live.model.model_name,
            provider_name=self.live.model.system,
            group=self._group,
            status=status,  # type: ignore[arg-type]
            created_at=datetime.now(UTC),
            request_count=0,
            provider_details={"state": ending},
        )

    def _described(self, batch: Any) -> BatchState:  # noqa: ANN401 - pydantic-ai's Batch
        ending: Ending | None = None
        if batch.status == "ended":
            ending = _ENDINGS.get((batch.provider_details or {}).get("state", ""), "completed")
        return BatchState(batch.id, ending, batch.created_at.timestamp(), batch.request_count or None)

    async def line_of(self, state: BatchState) -> str | None:
        """Give the custom id of a line, once the batch has ended."""
        if state.ending is not None:
            async for result in self.results(state):
                return result.custom_id
        return None

    async def results(self, state: BatchState) -> AsyncIterator[LineResult]:
        """Give the results of a batch that has ended."""
        handle, bodies = await self._handle(state.id, status="ended"), list[str]()
        async with self._explained():
            found = await self._collected(handle, state, bodies)
        if not found and state.ending == "completed":
            raise UnknownBatchError(f"{self.name}: batch {state.id} is completed without results")
        for result in found:
            yield result if isinstance(result, LineResult) else self._line(result)

    async def _collected(self, handle: Any, state: BatchState, bodies: list[str]) -> list[Any]:  # noqa: ANN401
        """Let the library read the results; where it cannot because of some lines, read the others."""
        from pydantic_ai.exceptions import AgentRunError

        token = kept_bodies.set(bodies)
        try:
            return list(await self.live.model.batch_results(handle))
        except (AgentRunError, *UNREADABLE) as error:
            if type(error).__name__ == "BatchJobError":
                failed = self._failure(error, state)
                raise BatchFailedError(failed, cancelled=state.ending == "cancelled") from None
            lines = [self._split(line) for line in (bodies[-1] if bodies else "").splitlines() if line.strip()]
            if all(isinstance(line, LineResult) for line in lines):
                raise
            return lines
        finally:
            kept_bodies.reset(token)

    def _split(self, line: str) -> Any:  # noqa: ANN401 - pydantic-ai's BatchResult, or a LineResult that says why not
        """Read a line of the results as the library does."""
        from pydantic_ai.models.batch import BatchResult

        try:
            name, status, body = self._parts(json.loads(line))
            return BatchResult(custom_id=name, status=status, body=None if body is None else json.dumps(body))  # type: ignore[arg-type]
        except UNREADABLE as error:
            return unreadable_line(self.name, type(error).__name__)

    @abstractmethod
    def _parts(self, row: dict[str, Any]) -> tuple[str, str, Any]:
        """Give id, status and body of a line of the results."""

    def _failure(self, error: Exception, state: BatchState) -> ModelError:
        if state.ending == "expired":
            return TransientError(f"{self.name}: batch {state.id} expired", status="timeout")
        if state.ending == "cancelled":
            return TransientError(f"{self.name}: batch {state.id} was cancelled", status="server")
        return self.live.explained(error)

    def _line(self, result: Any) -> LineResult:  # noqa: ANN401 - pydantic-ai's BatchResult
        from pydantic_ai.exceptions import AgentRunError
        from pydantic_ai.models.batch import BatchRequest

        name = str(result.custom_id)
        try:
            response = self.live.model.batch_decode(result, BatchRequest(custom_id=name, messages=[]))
            return LineResult(name, self.live.call(response, result.body or ""))
        except TransientError as error:
            return LineResult(name, error=error)
        except AgentRunError as error:
            return self._refused(result, error)
        except UNREADABLE as error:
            return LineResult(name, error=self.live.unreadable(type(error).__name__))

    def _refused(self, result: Any, error: Exception) -> LineResult:  # noqa: ANN401 - pydantic-ai's BatchResult
        from pydantic_ai.exceptions import ModelRequestRejectedError

        name = str(result.custom_id)
        if result.status == "expired":
            late = TransientError(f"{self.name}: the line expired before it was run", status="timeout")
            return LineResult(name, error=late)
        if result.status == "canceled":
            said = f"{self.name}: the batch was cancelled before the line was run"
            return LineResult(name, error=TransientError(said, status="server"), cancelled=True)
        if (call := self.live.too_long(error)) is not None:
            return LineResult(name, call)
        if isinstance(error, ModelRequestRejectedError) and self.live.drop_named(error):
            return LineResult(name)
        return LineResult(name, error=self.live.explained(error))

    async def listed(self, since: float | None, *, limit: int | None = None) -> list[BatchState]:
        """List the batches created since then, whatever the order in which they come."""
        return await created_since(self._listing(limit or _PAGE), since, limit)

    @abstractmethod
    def _listing(self, page: int) -> AsyncIterator[BatchState]:
        """Give the provider's batches, page by page."""


_ENDINGS: dict[str, Ending] = {"JOB_STATE_EXPIRED": "expired", "JOB_STATE_CANCELLED": "cancelled"}


class AnthropicBatches(ProviderBatches):
    """Anthropic's message batches."""

    def _parts(self, row: dict[str, Any]) -> tuple[str, str, Any]:
        result = row["result"]
        return row["custom_id"], result["type"], result if result["type"] in {"succeeded", "errored"} else None

    async def _listing(self, page: int) -> AsyncIterator[BatchState]:
        from anthropic import APIConnectionError, APIStatusError

        try:
            async for batch in self.live.model.client.beta.messages.batches.list(limit=page):
                counts = batch.request_counts
                total = counts.processing + counts.succeeded + counts.errored + counts.canceled + counts.expired
                ending: Ending | None = "completed" if batch.processing_status == "ended" else None
                yield BatchState(batch.id, ending, batch.created_at.timestamp(), total)
        except APIStatusError as error:
            raise explain_status(error.status_code, f"{self.name}: {self.live.cleared(error.message)}") from None
        except APIConnectionError as error:
            raise TransientError(f"{self.name}: {self.live.cleared(error.message)}", status="connection") from None


class GoogleBatches(ProviderBatches):
    """Google's batch jobs.

    The library drops the number of requests from a list of jobs, so the list is read as it comes.
    """

    def _parts(self, row: dict[str, Any]) -> tuple[str, str, Any]:
        done = "response" in row
        return row["key"], "succeeded" if done else "errored", row["response"] if done else row["error"]

    async def _listing(self, page: int) -> AsyncIterator[BatchState]:
        token: str | None = ""
        while token is not None:
            answer = await self._page(max(page, _LEAST), token)
            for job in answer.get("operations", ()):
                about = job.get("metadata", {})
                if about.get("model", "").rpartition("/")[2] == self.live.model.model_name:
                    yield _job(job["name"], about)
            token = answer.get("nextPageToken")

    async def _page(self, page: int, token: str) -> dict[str, Any]:
        query = {"pageSize": str(page), **({"pageToken": token} if token else {})}
        status, body = await self.live.fetched("batches", query)
        if status != 200:
            said = body.get("error", {}).get("message", f"status {status}")
            raise explain_status(status, f"{self.name}: {self.live.cleared(said)}")
        return body


def _job(name: str, about: dict[str, Any]) -> BatchState:
    """Read a job of Google's list."""
    state = str(about.get("state", "")).replace("BATCH_STATE", "JOB_STATE")
    ended = state.rpartition("_")[2] in {"SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED"}
    count = int(about.get("batchStats", {}).get("requestCount", 0)) or None
    created = datetime.fromisoformat(about["createTime"]).timestamp()
    return BatchState(name, _ENDINGS.get(state, "completed") if ended else None, created, count)
