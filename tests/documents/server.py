"""A real HTTP server in this process, whose pages say how they behave.

It also serves as a proxy, so that a test can speak to any number of hosts.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

Page = Callable[["Asked"], None]


@dataclass
class Asked:
    """One request, and how to answer it."""

    handler: BaseHTTPRequestHandler
    url: str  # as asked: a path, or a whole URL by way of the proxy
    count: int  # the how many-th request for this URL

    def answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        """Send a whole answer; header names with _ for -."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        named.setdefault("content-length", str(len(body)))
        self.handler.send_response(status)
        for name, value in named.items():
            if value:
                self.handler.send_header(name, value)
        self.handler.end_headers()
        self.handler.wfile.write(body)

    def header(self, name: str) -> str:
        return self.handler.headers.get(name, "")


@dataclass
class Server:
    url: str = ""
    pages: dict[str, Page] = field(default_factory=dict)
    log: list[tuple[float, str, str]] = field(default_factory=list)  # when, URL as asked, user agent

    def asked(self, path: str) -> int:
        """How often a URL was asked for."""
        return sum(url == path for _, url, _ in self.log)

    def times(self, host: str = "") -> list[float]:
        return [when for when, url, _ in self.log if (urlsplit(url).hostname or "") == host]


def page(body: bytes | str, **headers: str) -> Page:
    """Always answers 200 with `body`."""
    data = body.encode() if isinstance(body, str) else body
    return lambda asked: asked.answer(200, data, **headers)


@contextmanager
def serving(**pages: Page) -> Iterator[Server]:
    """A server on a free port of this machine, until the block ends; `pages` by path without the slash."""
    server = Server(pages={f"/{name}": made for name, made in pages.items()})
    counts: Counter[str] = Counter()
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            with lock:
                counts[self.path] += 1
                asked = Asked(self, self.path, counts[self.path])
                server.log.append((time.monotonic(), self.path, self.headers.get("user-agent", "")))
            answer = server.pages.get(self.path)
            if answer is None:
                asked.answer(404, b"not here")
            else:
                answer(asked)

        def log_message(self, *_: object) -> None:
            pass

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """A client that goes away in the middle of an answer is what some tests are about."""

    with Quiet(("127.0.0.1", 0), Handler) as running:
        server.url = f"http://127.0.0.1:{running.server_address[1]}"
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            running.shutdown()
