"""Reads the bodies of requests: no more than fits, and no longer than is decent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.requests import ClientDisconnect, Request

from leadline.serving.problem import ProblemError, busy

MAX_BODY = 4 * 2**20
# Bodies that are held at once, of all requests together.
_MAX_HELD = 64 * MAX_BODY
_SECONDS = 30.0
# Of a body that is too large so much is read and thrown away: a client that is still sending does not listen.
_DRAINED = 8 * MAX_BODY
_CLOSE = {"connection": "close"}


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
        mine = 0
        chunks: list[bytes] = []
        try:
            try:
                async with asyncio.timeout(self.seconds):
                    async for chunk in request.stream():
                        mine += len(chunk)
                        self.held += len(chunk)
                        if mine > self.limit:
                            chunks.clear()
                            if mine > _DRAINED:
                                break
                            continue
                        if self.held > self.most_held:
                            raise busy(1)
                        chunks.append(chunk)
            except TimeoutError:
                raise ProblemError(408, "the body did not arrive in time", headers=_CLOSE) from None
            if mine > self.limit:
                raise ProblemError(413, f"a body has {self.limit:,} bytes at most", headers=_CLOSE)
            yield b"".join(chunks)
        finally:
            self.held -= mine


__all__ = ["MAX_BODY", "ClientDisconnect", "Intake"]
