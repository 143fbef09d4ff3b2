"""Who may ask: the names under which the server is known, the token, and how many at once.

A page in somebody's browser can reach a server on the loopback interface, under a name that it chooses (DNS
rebinding). So on loopback only loopback's own names are answered. Elsewhere a token is needed.
"""

from __future__ import annotations

import hmac
from collections.abc import Collection

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from leadline.serving.problem import ProblemError, busy

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
# Asked by whoever watches over servers, who has no token; it tells nothing of the model.
_OPEN_PATHS = frozenset({"/health"})


class Guard:
    """ASGI middleware before everything else."""

    def __init__(
        self, app: ASGIApp, *, token: str | None, hosts: Collection[str] | None, most_open: int
    ) -> None:
        """token: None: nobody needs one. hosts: names that requests may be for; None: any. most_open:
        requests that are open at once."""
        self.app, self.token, self.hosts, self.most_open = app, token, hosts, most_open
        self.open = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As ASGI wants it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        problem = self._problem(scope)
        if problem is not None:
            await problem.response()(scope, receive, send)
            return
        self.open += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self.open -= 1

    def _problem(self, scope: Scope) -> ProblemError | None:
        headers = Headers(scope=scope)
        if self.hosts is not None and hostname(headers.get("host", "")) not in self.hosts:
            return ProblemError(403, "this server answers only to the names of this machine's loopback")
        if self.token is not None and scope["path"] not in _OPEN_PATHS and not self._knows_token(headers):
            return ProblemError(
                401,
                "a bearer token is needed, and this is not it",
                code="invalid_api_key",
                headers={"www-authenticate": "Bearer"},
            )
        return busy(1) if self.open >= self.most_open else None

    def _knows_token(self, headers: Headers) -> bool:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        assert self.token is not None
        same = hmac.compare_digest(given.strip().encode("utf-8", "replace"), self.token.encode())
        return scheme.lower() == "bearer" and same


def hostname(host: str) -> str:
    """The name in a Host header, without port and brackets.

    >>> hostname("[::1]:8080"), hostname("LOCALHOST:80")
    ('::1', 'localhost')
    """
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower().rstrip(".")
