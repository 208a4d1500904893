"""Batches of OpenAI and of services that have them the same way: a file of chat requests, our id in the metadata."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Literal

from semece.errors import ModelError, ProviderError, TransientError
from semece.models.openai.chat_completions import OpenAICompatible
from semece.models.openai.openai_errors import OPTIONS, Refusal, broken_off
from semece.models.protocol import (
    BatchFailedError,
    BatchState,
    EncodedLine,
    LineResult,
    UnknownBatchError,
    created_since,
    unreadable_line,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from semece.models.protocol import Ending, Request

ENDPOINT: Literal["/v1/chat/completions"] = "/v1/chat/completions"
MARK = "semece"
"""The name under which a batch's metadata carries our id."""

_ENDINGS: Mapping[str, Ending] = {
    "completed": "completed",
    "failed": "completed",
    "expired": "expired",
    "cancelled": "cancelled",
}
_UNREADABLE = (AttributeError, TypeError, KeyError, IndexError, ValueError, RecursionError)
_OPTIONS = (*OPTIONS, "n")
_PAGE = 100
_MOST_CHOICES = 128


class OpenAIBatches(OpenAICompatible):
    """The batch interface of a model; it speaks and learns as the live model does.

    Parameters
    ----------
    live : OpenAICompatible
        The model whose connections and knowledge it takes over.
    """

    marks = True
    max_lines = 20_000
    max_bytes = 190_000_000

    def __init__(self, live: OpenAICompatible) -> None:
        vars(self).update(vars(live))

    def told(self) -> tuple[str, ...]:
        """Give what was learned since the last time."""
        return self._noticed.told()

    @asynccontextmanager
    async def _explained(self, *, creating: bool | None = None) -> AsyncIterator[None]:
        """Turn the library's errors into ours; ``creating``: whether a failed call may have created a batch."""
        import openai

        try:
            yield
        except TransientError as error:
            raise _about(error, creating) from None
        except openai.APIStatusError as error:
            refusal = Refusal.of(error)
            if refusal.status != 404:
                raise _about(self._explain(refusal), creating) from None
            said = f"{self.name}: {self._clean(refusal.sentence)} (404)"
            raise UnknownBatchError(said if creating is None else str(self._explain(refusal))) from None
        except openai.APIConnectionError as error:
            raise _about(self._lost(error), creating) from None
        except broken_off() as error:
            sentence = f"{self.name}: connection lost ({type(error).__name__})"
            raise _about(TransientError(sentence, status="connection", maybe_paid=True), creating) from None
        except _UNREADABLE:
            sentence = f"{self.name}: the reply was broken"
            raise _about(TransientError(sentence, status="broken_body", maybe_paid=True), creating) from None

    async def encode(self, custom_id: str, request: Request) -> EncodedLine:
        """Make a line of a request."""
        body = self._body(request)
        body |= body.pop("extra_body", {})
        line = {"custom_id": custom_id, "method": "POST", "url": ENDPOINT, "body": body}
        text = json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"
        return EncodedLine(custom_id, text, len(text))

    async def create(self, lines: Sequence[EncodedLine], mark: str) -> BatchState:
        """Upload the lines, then create a batch of them, once."""
        async with self._explained(creating=False):
            data = b"".join(line.body for line in lines)
            file = await self._client.files.create(file=(f"semece-{mark[:8]}.jsonl", data), purpose="batch")
            uploaded = file.id
        async with self._explained(creating=True):
            made = await self._client.batches.create(
                input_file_id=uploaded, endpoint=ENDPOINT, completion_window="24h", metadata={MARK: mark}
            )
            return _described(made)

    async def state(self, batch_id: str) -> BatchState:
        """Look at a batch."""
        async with self._explained():
            return _described(await self._client.batches.retrieve(batch_id))

    async def listed(self, since: float | None, *, limit: int | None = None) -> list[BatchState]:
        """List the batches created since then, whatever the order in which they come."""
        async with self._explained():
            listing = self._client.batches.list(limit=limit or _PAGE)
            return await created_since((_described(batch) async for batch in listing), since, limit)

    async def line_of(self, state: BatchState) -> str | None:
        """Give the custom id of the first line of its input, which is there while the batch is under way."""
        with suppress(UnknownBatchError):  # some services do not give the input back
            async with self._explained():
                batch = await self._client.batches.retrieve(state.id)
                async with self._client.files.with_streaming_response.content(batch.input_file_id) as answer:
                    async for line in answer.iter_lines():
                        return str(json.loads(line)["custom_id"])
        if state.ending is not None:
            async for result in self.results(state):
                return result.custom_id
        return None

    async def results(self, state: BatchState) -> AsyncIterator[LineResult]:
        """Give the results of a batch that has ended: those delivered, then the errors."""
        async with self._explained():
            batch = await self._client.batches.retrieve(state.id)
            files = [name for name in (batch.output_file_id, batch.error_file_id) if name]
            if batch.status == "failed":
                raise BatchFailedError(self._failure(batch))
            if not files and state.ending != "completed":
                reason = TransientError(f"{self.name}: batch {state.id} was {state.ending}", status="timeout")
                raise BatchFailedError(reason, cancelled=state.ending == "cancelled")
            if not files and state.requests != 0:
                raise UnknownBatchError(f"{self.name}: batch {state.id} is completed without a file of results")
            for name in files:
                async with self._client.files.with_streaming_response.content(name) as answer:
                    async for line in answer.iter_lines():
                        if line.strip():
                            yield self._read_line(line)

    def _failure(self, batch: Any) -> ModelError:  # noqa: ANN401 - openai's Batch
        """Say why a batch failed as a whole; a full queue is a rate limit."""
        first = batch.errors.data[0] if batch.errors and batch.errors.data else None
        sentence = f"{self.name}: batch {batch.id} failed: {self._clean(str(first.message if first else 'no reason'))}"
        if first is not None and "limit" in f"{first.code}":
            return TransientError(sentence, status="rate_limited")
        return ProviderError(sentence)

    def _read_line(self, line: str) -> LineResult:
        """Read a line of the results; one that is none costs its own line, if it says whose it is."""
        row: Any = None
        try:
            row = json.loads(line)
            return self._line(row)
        except _UNREADABLE as error:
            name = row.get("custom_id") if isinstance(row, dict) else None
            return unreadable_line(self.name, type(error).__name__, name if isinstance(name, str) else "")

    def _line(self, row: Mapping[str, Any]) -> LineResult:
        name, answer, error = str(row["custom_id"]), row.get("response"), row.get("error")
        if not answer:
            return self._unrun(name, error or {})
        body, status = answer.get("body"), int(answer["status_code"])
        inside = Refusal.inside(body) if status == 200 else None
        if status == 200 and inside is None:
            try:
                several = len(body["choices"]) if isinstance(body, dict) and "choices" in body else 1
                return LineResult(name, self._read(json.dumps(body), several, None, 0.0))
            except TransientError as broken:
                return LineResult(name, error=broken)
        refusal = inside or Refusal(status, body)
        if (call := self._unanswered(refusal, {"n": _MOST_CHOICES})) is not None:
            return LineResult(name, call)
        if self._learn(refusal, dict.fromkeys(_OPTIONS)):
            return LineResult(name)
        return LineResult(name, error=self._explain(refusal))

    def _unrun(self, name: str, error: Mapping[str, Any]) -> LineResult:
        code = str(error.get("code"))
        sentence = f"{self.name}: {self._clean(str(error.get('message') or code))}"
        status = "timeout" if code == "batch_expired" else "server"
        return LineResult(name, error=TransientError(sentence, status=status), cancelled=code == "batch_cancelled")


def _about(error: ModelError, creating: bool | None) -> ModelError:
    """Say whether a failed call may have created a batch: one that was refused or only limited cannot."""
    if creating is not None and isinstance(error, TransientError):
        error.maybe_paid = (
            creating and error.status != "rate_limited" and (error.maybe_paid or error.status == "server")
        )
    return error


def _described(batch: Any) -> BatchState:  # noqa: ANN401 - openai's Batch
    counts = batch.request_counts
    mark = (batch.metadata or {}).get(MARK)
    return BatchState(
        batch.id, _ENDINGS.get(batch.status), float(batch.created_at), counts.total if counts else None, mark
    )
