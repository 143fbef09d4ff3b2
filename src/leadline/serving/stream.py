"""An answer as it comes: server-sent events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from leadline.serving.problem import ProblemError, ending
from leadline.serving.shapes import Shape
from leadline.serving.work import Outcome, Piece, Work

# A proxy or a client gives a silent connection up after a minute or so.
KEEP_ALIVE_SECONDS = 10.0
# A client that takes nothing for so long has hung.
_STALLED_SECONDS = 60.0
_DONE = b"data: [DONE]\n\n"
_COMMENT = b": waiting\n\n"

Ended = Callable[[list[Outcome], ProblemError | None], None]


class EventStream(Response):
    """Sends a work's events until it ends or the client goes, and says how it `ended`."""

    media_type = "text/event-stream"

    def __init__(
        self,
        work: Work,
        shape: Shape,
        *,
        tells_usage: bool,
        forget: Callable[[Work], None],
        ended: Ended,
        headers: Mapping[str, str],
        keep_alive: float | None = None,
    ) -> None:
        self.status_code, self.background, self.body = 200, None, b""
        self.init_headers({"cache-control": "no-store", "x-accel-buffering": "no", **headers})
        del self.headers["content-length"]
        self.work, self.shape, self.tells_usage = work, shape, tells_usage
        self.forget, self.ended = forget, ended
        self.keep_alive = KEEP_ALIVE_SECONDS if keep_alive is None else keep_alive
        self.outcomes: list[Outcome] = []
        self.problem: ProblemError | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As ASGI wants it."""
        sending = asyncio.create_task(self._send(send))
        leaving = asyncio.create_task(client_left(receive))
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:  # not by the client, who would have left
            self.problem = ending()
            raise
        finally:
            self.forget(self.work)
            for task in (sending, leaving):
                task.cancel()
            found = await asyncio.gather(sending, leaving, return_exceptions=True)
            self.ended(self.outcomes, self.problem)
        if isinstance(found[0], Exception) and not isinstance(found[0], (TimeoutError, OSError)):
            raise found[0]

    async def _send(self, send: Send) -> None:
        async def pass_on(message: Mapping[str, Any]) -> None:
            async with asyncio.timeout(_STALLED_SECONDS):
                await send(dict(message))

        start = {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
        await pass_on(start)
        async for chunk in self._chunks():
            await pass_on({"type": "http.response.body", "body": chunk, "more_body": True})
        await pass_on({"type": "http.response.body", "body": b"", "more_body": False})

    async def _chunks(self) -> AsyncIterator[bytes]:
        count = len(self.shape.asked.choices)
        for choice in range(count):
            if (opening := self.shape.opening(choice)) is not None:
                yield event(opening)
        getting = asyncio.create_task(self.work.events.get())
        try:
            while len(self.outcomes) < count:
                done, _ = await asyncio.wait({getting}, timeout=self.keep_alive)
                if not done:
                    yield _COMMENT
                    continue
                found = getting.result()
                getting = asyncio.create_task(self.work.events.get())
                if isinstance(found, ProblemError):  # too late for a status
                    self.problem = found
                    yield event(found.body)
                    return
                if isinstance(found, Piece):
                    yield event(self.shape.piece(found))
                else:
                    self.outcomes.append(found)
                    yield event(self.shape.last(found))
        finally:
            getting.cancel()
        if self.tells_usage:
            yield event(self.shape.spent(self.outcomes))
        yield _DONE


def event(value: Mapping[str, Any]) -> bytes:
    """One event of a stream. ASCII, so that no sign in a text can be taken for the end of a line."""
    return b"data: " + json.dumps(value, separators=(",", ":")).encode() + b"\n\n"


async def client_left(receive: Receive) -> None:
    """Returns when the client has gone; the body must have been read."""
    while (await receive())["type"] != "http.disconnect":
        pass
