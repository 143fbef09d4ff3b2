"""Runs the application: on a socket that is bound first, in the foreground or on a thread."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.applications import Starlette

from leadline.errors import LeadlineError, UsageError
from leadline.serving.batcher import Batcher
from leadline.serving.encryption import Certificate
from leadline.serving.heads import TimelyProtocol

# What runs when a server is stopped has so long to end.
GRACE_SECONDS = 5
# A token of a large model, and what is still to be sent, after that.
_TELLING_SECONDS = 5
# Clients keep connections for further requests; one that is closed just when the next is sent looks like a
# failure, so they are kept for longer than clients keep them.
_KEEP_ALIVE_SECONDS = 75
_STARTING_SECONDS = 30.0
# Connections that wait to be taken; uvicorn's own number.
_WAITING = 2048


def listen(host: str, port: int) -> socket.socket:
    """A socket on `host` and `port` (0: one that is free), which clients may connect to from now on.

    They wait until it is served. Raises LeadlineError where none can be had.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (socket.gaierror, UnicodeError) as error:
        raise UsageError(
            f"there is no host {host!r}", fix="--host 127.0.0.1, or an address of this machine"
        ) from error
    found = socket.socket(family, kind, protocol)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
        found.listen(_WAITING)
    except OSError as error:
        found.close()
        if error.errno == errno.EADDRNOTAVAIL:
            raise UsageError(
                f"{host} is no address of this machine", fix="--host 127.0.0.1, or 0.0.0.0 for all of them"
            ) from error
        reason = (error.strerror or str(error)).lower()
        raise LeadlineError(
            f"port {port} cannot be had: {reason}", where=host, fix="--port 0 takes one that is free"
        ) from error
    return found


def url_of(bound: socket.socket, scheme: str = "http") -> str:
    """Where a socket is reached, without a path: "http://127.0.0.1:8080"."""
    host, port = bound.getsockname()[:2]
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"


class _Server(uvicorn.Server):
    """Tells clients that it stops while there are still connections to tell them by."""

    batcher: Batcher | None = None

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Refuse what waits, give what runs its time, then end it; wait until all clients have heard."""
        ending = asyncio.create_task(self._end())
        try:
            await super().shutdown(sockets)
        finally:
            ending.cancel()

    async def _end(self) -> None:
        if self.batcher is not None:
            self.batcher.drain()
            await asyncio.sleep(GRACE_SECONDS)
            self.batcher.cut()


def _server(app: Starlette, certificate: Certificate | None = None) -> uvicorn.Server:
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # what it would say, the journal says
    server = _Server(
        uvicorn.Config(
            app,
            http=TimelyProtocol,
            ssl_certfile=certificate.chain if certificate else None,
            ssl_keyfile=certificate.key if certificate else None,
            lifespan="on",
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=GRACE_SECONDS + _TELLING_SECONDS,
        )
    )
    server.batcher = getattr(app.state, "batcher", None)
    return server


def serve(app: Starlette, bound: socket.socket, certificate: Certificate | None = None) -> None:
    """Serve until Ctrl-C: what waits is then refused, and running requests have 5 seconds until their clients
    are told; a second Ctrl-C ends at once. With a certificate, over TLS.

    Ends with the signal that stopped it (KeyboardInterrupt for Ctrl-C).
    """
    with bound:
        _server(app, certificate).run(sockets=[bound])


@contextmanager
def running(app: Starlette, host: str = "127.0.0.1", port: int = 0) -> Iterator[str]:
    """Serve on a thread while the context lasts; gives the URL without a path. Port 0: one that is free."""
    bound = listen(host, port)
    server = _server(app)
    failures: list[BaseException] = []

    def run() -> None:
        try:
            server.run(sockets=[bound])
        except BaseException as error:  # told by whoever waits below
            failures.append(error)

    thread = threading.Thread(target=run, name="leadline-server", daemon=True)
    thread.start()
    try:
        end = time.monotonic() + _STARTING_SECONDS
        while not server.started:
            if failures or not thread.is_alive() or time.monotonic() > end:
                raise LeadlineError("the server does not start") from (failures[0] if failures else None)
            time.sleep(0.005)
        yield url_of(bound)
    finally:
        server.should_exit = True
        thread.join(GRACE_SECONDS + _TELLING_SECONDS + _STARTING_SECONDS)
        bound.close()
