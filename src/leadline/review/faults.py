"""What the server of a review says when something goes wrong: a page to people, JSON to pages."""

from __future__ import annotations

from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from leadline.review import pages
from leadline.review.asking import RefusedError, reader_of, refusal
from leadline.review.drafts import ConflictError, Draft
from leadline.review.pages import Review

_CLIENT_LEFT = 499


class Faults:
    """An answer for each kind of exception."""

    def __init__(self, review: Review) -> None:
        """review: what its pages are about."""
        self.review = review

    async def not_here(self, request: Request, error: Exception) -> Response:
        """404 and 405."""
        assert isinstance(error, HTTPException)
        nothing = error.status_code == 404
        words = "There is nothing at this address." if nothing else "This address is asked in another way."
        return self._said(request, error.status_code, words)

    async def conflict(self, request: Request, error: Exception) -> Response:
        """409: somebody else was first; both texts are kept."""
        assert isinstance(error, ConflictError)
        theirs = error.theirs
        more = {**told(theirs), "theirs": theirs.fields, "kept": error.kept}
        return refusal(409, f"{theirs.reader} has saved another text", **more)

    async def late(self, request: Request, error: Exception) -> Response:
        """409: a commit of what is not the newest text any more."""
        return refusal(409, "you have written on since: look at it, and commit again")

    async def refused(self, request: Request, error: Exception) -> Response:
        """What was asked for in a wrong way."""
        assert isinstance(error, RefusedError)
        return self._said(request, error.status, error.words)

    async def failed(self, request: Request, error: Exception) -> Response:
        """A full disk, a file that went away: what the command line would say in one line."""
        return self._said(request, 503, str(error))

    async def left(self, request: Request, error: Exception) -> Response:
        """Nobody hears it."""
        return Response(status_code=_CLIENT_LEFT)

    def _said(self, request: Request, status: int, words: str) -> Response:
        if request.url.path.startswith("/api/"):
            return refusal(status, words)
        heading = {404: "Not here", 503: "That did not work"}.get(status, "Not like this")
        return HTMLResponse(pages.words_page(self.review, reader_of(request), heading, words), status)


def told(draft: Draft) -> dict[str, Any]:
    """A version as pages are told of it."""
    return {
        "version": draft.version,
        "fields": draft.fields,
        "saved": draft.saved,
        "by": draft.reader,
        "committed": draft.committed,
        "kind": draft.kind,
    }
