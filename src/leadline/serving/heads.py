"""Connections whose requests do not begin: a client that sends its headers a letter a minute holds a
connection of the server's for as long as it likes, and needs no token for it. Here it has half a minute.

Bodies have their own limits (see `intake`), answers their clients' leaving, and connections that are kept
between two requests uvicorn's time-out.
"""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 30.0


class TimelyProtocol(H11Protocol):
    """uvicorn's HTTP/1.1, which closes a connection whose next request is not begun and told in time."""

    _clock: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """As asyncio wants it."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """As asyncio wants it."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """As asyncio wants it."""
        self._stop()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Let the clock run while a head is awaited, from its first byte on; stop it when it is there."""
        if self.conn.their_state is not h11.IDLE:
            self._stop()
        elif self._clock is None:
            self._clock = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _stop(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None
