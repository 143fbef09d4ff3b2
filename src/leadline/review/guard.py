"""Who may ask: this machine's own browser, opened with the address that the command printed, and nobody else.

A server on the loopback interface is reached by every page in the user's browser, under any name that its
author points there, and by other programs of the machine. So only the server's own names are answered (DNS
rebinding), every request shows a cookie that came for the token, and what changes something comes from the
server's own pages (cross-site requests).
"""

from __future__ import annotations

import hmac
import logging
import uuid
from collections.abc import Collection
from dataclasses import dataclass
from http import HTTPStatus

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from leadline.review.asking import refusal
from leadline.serving.guard import hostname

logger = logging.getLogger("leadline.review")

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_READING = frozenset({"GET", "HEAD"})
_NO_TOKEN = (
    "This page is for whoever started the server. Open the address that the command printed, with its token."
)


@dataclass(frozen=True)
class Pass:
    """What lets a browser in: the token of the printed address buys the cookie.

    Cookies do not know ports, and another server on this machine is sent ours; so its name is our port's.
    """

    token: str
    cookie: str
    value: str


class Guard:
    """ASGI middleware before everything else. It also sees to it that no fault ends without an answer."""

    def __init__(self, app: ASGIApp, *, entry: Pass, hosts: Collection[str] | None) -> None:
        """hosts: names that requests may be for; None: any, for a server that listens on all addresses."""
        self.app, self.entry, self.hosts = app, entry, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As ASGI wants it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        started = False

        async def with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
            await send(message)

        try:
            answer = self._answer(Request(scope)) or self.app
            await answer(scope, receive, with_headers)
        except Exception as error:
            fault = f"fault-{uuid.uuid4().hex[:12]}"
            logger.error("%s: a request could not be answered", fault, exc_info=error)
            if started:  # the answer breaks off, which the browser notices
                raise
            words = f"Something is wrong in the program. Its output tells more, under {fault}."
            await _told(scope["path"], 500, words)(scope, receive, with_headers)

    def _answer(self, request: Request) -> Response | None:
        """What the guard itself has to say; None where the request may go on."""
        path = request.url.path
        host = request.headers.getlist("host")
        if len(host) != 1 or (self.hosts is not None and hostname(host[0]) not in self.hosts):
            return _told(path, 403, "This server answers only to its own name.")
        if path == "/" and request.method in _READING and (token := _token(request)) is not None:
            return self._let_in(token)
        if not _same(request.cookies.get(self.entry.cookie, ""), self.entry.value):
            return _told(path, 401, _NO_TOKEN)
        return _foreign(request.headers, path, host[0], request.method)

    def _let_in(self, token: str) -> Response:
        if not _same(token, self.entry.token):
            return _told("/", 401, f"That is not the token of this server. {_NO_TOKEN}")
        response = RedirectResponse("/", 303)  # to an address that may stand in a history
        response.set_cookie(self.entry.cookie, self.entry.value, path="/", httponly=True, samesite="strict")
        return response


def _token(request: Request) -> str | None:
    return request.query_params.get("token")


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())


def _foreign(headers: Headers, path: str, host: str, method: str) -> Response | None:
    """The refusal of what another site's page asks for in the user's name."""
    site = headers.get("sec-fetch-site")
    if method in _READING:
        # An address that is followed or typed is no danger; a picture or a script in a foreign page is.
        if site in ("cross-site", "same-site") and headers.get("sec-fetch-mode") != "navigate":
            return _told(path, 403, "This is not for pages of other servers.")
        return None
    origins = headers.getlist("origin")
    own = origins == [f"http://{host}"] if origins else site == "same-origin"
    if not own or site not in (None, "same-origin"):
        return _told(path, 403, "Only the server's own pages may change something.")
    if headers.get("x-leadline") != "1":
        return _told(path, 403, "The header X-Leadline: 1 is missing.")
    return None


def _told(path: str, status: int, words: str) -> Response:
    if path.startswith("/api/"):
        return refusal(status, words)
    title = HTTPStatus(status).phrase
    return HTMLResponse(
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width"><main><h1>'
        f'{title}</h1><p>{words}</p><p><a href="/">Try again</a></p></main></html>',
        status,
    )
