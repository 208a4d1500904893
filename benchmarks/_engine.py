"""A model's server as a process of its own: it answers over real sockets, and does only so many requests at once.

``python -m benchmarks._engine '{"slots": 32, "seconds": 0.4}'`` prints its address and serves until it is ended. A
request waits for one of ``slots`` places and takes ``seconds`` in it; with ``gentle`` g others under way it takes twice
as long. Of more than ``most`` requests the latest is refused with 429. ``GET /found`` says what it saw since the last
time: answers, refusals, the most requests at once, and the seconds from the first request to the last answer.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from dataclasses import dataclass, field
from typing import Any

REFUSED = {"error": {"message": "too many requests", "type": "requests", "param": None, "code": None}}
ONE_EACH = {"error": {"message": "n must be 1", "type": "invalid_request_error", "param": "n", "code": None}}
ANSWER = {
    "id": "1",
    "object": "chat.completion",
    "created": 0,
    "model": "m",
    "choices": [
        {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Answer: 4\nConfidence: 90%"}}
    ],
    "usage": {"prompt_tokens": 60, "completion_tokens": 8, "total_tokens": 68},
}


@dataclass
class Engine:
    """How much a server does at once, and what it saw."""

    slots: int = 10**6
    seconds: float = 0.4
    gentle: float | None = None
    most: int = 10**6
    free: asyncio.Semaphore = field(init=False)
    under_way: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.free = asyncio.Semaphore(self.slots)
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self.answers = self.refused = self.highest = 0
        self.first = self.last = 0.0

    async def answered(self, asked: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Serve one request."""
        if asked.get("n", 1) > 1:
            return 400, ONE_EACH
        self.first = self.first or time.monotonic()
        if self.under_way >= self.most:
            self.refused += 1
            return 429, REFUSED
        self.under_way += 1
        self.highest = max(self.highest, self.under_way)
        async with self.free:
            running = min(self.under_way, self.slots)
            await asyncio.sleep(self.seconds * (1 + running / self.gentle if self.gentle else 1))
        self.under_way -= 1
        self.answers, self.last = self.answers + 1, time.monotonic()
        return 200, ANSWER

    def found(self) -> dict[str, float]:
        """Say what was seen, and forget it."""
        seen = {"answers": self.answers, "refused": self.refused, "highest": self.highest}
        seconds = self.last - self.first
        self.forget()
        return {**seen, "seconds": seconds}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer what comes on one connection, one request after the other."""
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                name, *lines = head.decode("latin-1").split("\r\n")
                told = dict(line.lower().split(": ", 1) for line in lines if ": " in line)
                body = await reader.readexactly(int(told.get("content-length", 0)))
                status, reply = (200, self.found()) if name.startswith("GET") else await self.answered(json.loads(body))
                data = json.dumps(reply).encode()
                said = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
                writer.write(said.encode() + data)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


async def main() -> None:
    """Serve until the process is ended."""
    engine = Engine(**json.loads(sys.argv[1]))
    server = await asyncio.start_server(engine.serve, "127.0.0.1", 0, backlog=1024)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
