"""The batch interface of a fake model: in memory, for trying things out and for tests."""

from __future__ import annotations

import itertools
import json
import time
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from semece.errors import ModelError
from semece.models.protocol import BatchState, EncodedLine, LineResult, UnknownBatchError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from semece.models.protocol import Model, Request


@dataclass(slots=True)
class _Job:
    lines: Sequence[EncodedLine]
    mark: str
    created: float
    looks: int = 0
    results: list[LineResult] = field(default_factory=list)


class FakeBatches:
    """Batches that a fake model answers, ended at the second look.

    Parameters
    ----------
    model : Model
        Who answers the lines.
    looks : int
        How many looks a batch needs to end.
    max_lines, max_bytes : int
        Limits of a batch.
    marks : bool
        Whether a batch carries our id.

    Examples
    --------
    >>> import asyncio
    >>> from semece.models import Message, Request
    >>> from semece.models.fakes.fake_model import FakeModel
    >>> async def life():
    ...     batches = FakeBatches(FakeModel((1.0,)), looks=1)
    ...     line = await batches.encode("a", Request((Message("user", "Who?"),)))
    ...     state = await batches.state((await batches.create([line], "mark")).id)
    ...     return [result.call.replies[0].text async for result in batches.results(state)]
    >>> asyncio.run(life())
    ['Answer: answer 0']
    """

    def __init__(
        self, model: Model, *, looks: int = 2, max_lines: int = 1000, max_bytes: int = 10**8, marks: bool = True
    ) -> None:
        self.model, self.name = model, model.name
        self.marks = marks
        self.max_lines = max_lines
        self.max_bytes = max_bytes
        self._looks = looks
        self._jobs: dict[str, _Job] = {}
        self._numbers = itertools.count(1)

    @property
    def max_choices(self) -> int:
        """How many choices one line may ask for."""
        return self.model.max_choices

    def told(self) -> tuple[str, ...]:
        """Nothing is ever left out."""
        return ()

    async def aclose(self) -> None:
        """Give back what the model holds."""
        await self.model.aclose()

    async def encode(self, custom_id: str, request: Request) -> EncodedLine:
        """Make a line of a request."""
        return EncodedLine(custom_id, request, len(custom_id) + len(json.dumps(asdict(request))))

    async def create(self, lines: Sequence[EncodedLine], mark: str) -> BatchState:
        """Submit lines as one batch."""
        name = f"batch-{next(self._numbers)}"
        job = _Job(lines, mark, time.time())
        for line in lines:
            try:
                job.results.append(LineResult(line.custom_id, await self.model(line.body)))
            except ModelError as error:
                job.results.append(LineResult(line.custom_id, error=error))
        self._jobs[name] = job
        return self._state(name)

    def _state(self, name: str) -> BatchState:
        job = self._jobs[name]
        ended = job.looks >= self._looks
        mark = job.mark if self.marks else None
        return BatchState(name, "completed" if ended else None, job.created, len(job.lines), mark)

    async def state(self, batch_id: str) -> BatchState:
        """Look at a batch, which brings it nearer to its end."""
        if batch_id not in self._jobs:
            raise UnknownBatchError(f"{self.name} keeps its batches in memory and has lost {batch_id}", gone=True)
        self._jobs[batch_id].looks += 1
        return self._state(batch_id)

    async def listed(self, since: float | None, *, limit: int | None = None) -> list[BatchState]:
        """List the batches created since then, newest first; it counts as a look at each."""
        for job in self._jobs.values():
            job.looks += 1
        states = [self._state(name) for name in reversed(self._jobs)]
        return [state for state in states if since is None or state.created >= since][:limit]

    async def line_of(self, state: BatchState) -> str | None:
        """Give the custom id of a line; only once the batch has ended, as services do that carry no ids of ours."""
        if state.ending is not None:
            async for result in self.results(state):
                return result.custom_id
        return None

    async def results(self, state: BatchState) -> AsyncIterator[LineResult]:
        """Give the results of a batch that has ended."""
        for result in self._jobs[state.id].results:
            yield result
