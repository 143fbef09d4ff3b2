"""Reads the bodies of requests: no more than fits, and no longer than is decent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from leadline.serving.problem import ProblemError, busy

MAX_BODY = 4 * 2**20
# Bodies that are held at once, of all requests together.
_MAX_HELD = 64 * MAX_BODY
_SECONDS = 30.0
# Of a body that is too large so much is read and thrown away, for so long: a connection that is closed while
# a client is still sending looks like a failure, and the answer is lost with it.
_DRAINED = 8 * MAX_BODY
_DRAINING_SECONDS = 5.0
_CLOSE = {"connection": "close"}


class _TooLargeError(ProblemError):
    """413, told at once."""

    def response(self) -> Response:
        """As `ProblemError.response`; it ends when the client has."""
        return _Refusal(self.body, status_code=self.status, headers=dict(self.headers))


class _Refusal(JSONResponse):
    """Sent whole before the request has been read; closes the connection when the client has seen it."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As ASGI wants it."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        await send({"type": "http.response.body", "body": self.body, "more_body": True})
        left = _DRAINED
        with suppress(TimeoutError):
            async with asyncio.timeout(_DRAINING_SECONDS):
                while left > 0:
                    message = await receive()
                    left -= len(message.get("body", b""))
                    if message["type"] == "http.disconnect" or not message.get("more_body"):
                        break
        await send({"type": "http.response.body", "body": b"", "more_body": False})


class Intake:
    """Counts what is held."""

    def __init__(self, limit: int = MAX_BODY, held: int = _MAX_HELD, seconds: float = _SECONDS) -> None:
        """limit: bytes of one body. held: bytes of all. seconds: until a body must be there."""
        self.limit, self.most_held, self.seconds = limit, held, seconds
        self.held = 0

    @asynccontextmanager
    async def body(self, request: Request) -> AsyncIterator[bytes]:
        """The body, held while the context lasts.

        Raises ProblemError: 408 for one that does not come, 413 for a large one, 415 for one that is not said
        to be JSON, 429 where too much is held; ClientDisconnect for a client that went away.
        """
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json" and not kind.endswith("+json"):
            # A browser asks a server's leave to send JSON to it from a foreign page, and gets none.
            raise ProblemError(415, "the body must be JSON: content-type: application/json", headers=_CLOSE)
        declared = request.headers.get("content-length", "")
        if declared.isdecimal() and int(declared[:18]) > self.limit:
            raise self._too_large()
        mine = 0
        chunks: list[bytes] = []
        try:
            try:
                async with asyncio.timeout(self.seconds):
                    async for chunk in request.stream():
                        mine += len(chunk)
                        self.held += len(chunk)
                        if mine > self.limit:
                            raise self._too_large()
                        if self.held > self.most_held:
                            raise busy(1)
                        chunks.append(chunk)
            except TimeoutError:
                raise ProblemError(408, "the body did not arrive in time", headers=_CLOSE) from None
            yield b"".join(chunks)
        finally:
            self.held -= mine

    def _too_large(self) -> ProblemError:
        return _TooLargeError(413, f"a body has {self.limit:,} bytes at most", headers=_CLOSE)


__all__ = ["MAX_BODY", "ClientDisconnect", "Intake"]
