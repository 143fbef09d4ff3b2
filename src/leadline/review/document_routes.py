"""What the pages ask of documents over HTTP: slices, searches, and whether what was marked is a quote.

Documents have numbers in addresses, never names or paths; every answer is JSON, so nothing of a document is
ever HTML.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from functools import wraps
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from leadline.documents import UnreadableDocument
from leadline.review.asking import escaped_json, read_json, refusal
from leadline.review.passages import (
    Documents,
    NoSuchDocument,
    OpenDocument,
    slice_at,
    slice_from,
    slice_until,
)
from leadline.review.quotes import LONGEST, RefusedQuote, mark
from leadline.review.searching import LONGEST_QUERY, search

# Most documents are read within this; for others the page asks again.
_WAIT_SECONDS = 0.3
_READING = 202
Answer = Callable[[OpenDocument, Request, Any], "Response"]


class _Marking(BaseModel):
    """What a page sends of a selection."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    start: int = Field(ge=0)
    end: int = Field(ge=0)
    text: str = Field(min_length=1, max_length=50 * LONGEST)


def document_routes(documents: Documents) -> list[Route]:
    """GET /api/documents/N?at=|from=|until=, GET /api/documents/N/search?q=&from= and POST
    /api/documents/N/quote {start, end, text}.

    202 {"reading": true} while a document is being read; 404 where there is none of that number; 422 with a
    sentence where it has no text, or what was asked for makes no sense.
    """

    def route(path: str, answer: Answer, method: str = "GET") -> Route:
        @wraps(answer)
        async def endpoint(request: Request) -> Response:
            body = await read_json(request, _Marking) if method == "POST" else None
            # Aside: documents are looked through while other readers' answers are kept.
            return await run_in_threadpool(_answered, documents, request, answer, body)

        return Route(f"/api/documents/{{number}}{path}", endpoint, methods=[method])

    return [route("", _slice), route("/search", _search), route("/quote", _quote, "POST")]


def _answered(documents: Documents, request: Request, answer: Answer, body: _Marking | None) -> Response:
    number = _number(request.path_params["number"])
    if number is None:
        return refusal(404, "documents have numbers")
    try:
        document = documents.open(number, _WAIT_SECONDS)
        if document is None:
            return escaped_json({"reading": True}, _READING)
        return answer(document, request, body)
    except NoSuchDocument as error:
        return refusal(404, str(error))
    except UnreadableDocument as error:
        # Its path is nobody's business; which document it is, the page knows.
        return refusal(422, f"this document {error.what}" + (f" ({error.fix})" if error.fix else ""))
    except RefusedQuote as error:
        return refusal(422, str(error))


def _slice(document: OpenDocument, request: Request, body: _Marking | None) -> Response:
    cuts = {"at": slice_at, "from": slice_from, "until": slice_until}
    asked = [name for name in cuts if name in request.query_params]
    if len(asked) > 1:
        return refusal(422, "one of at, from and until")
    name = asked[0] if asked else "at"
    place = _place(request, name)
    if place is None:
        return refusal(422, f"{name} is a number of characters")
    found = cuts[name](document.text, place)
    return escaped_json({**asdict(found), "name": document.name, "sha256": document.sha256})


def _search(document: OpenDocument, request: Request, body: _Marking | None) -> Response:
    query, place = request.query_params.get("q", ""), _place(request, "from")
    if not query.strip():
        return refusal(422, "write what is to be looked for")
    if len(query) > LONGEST_QUERY:
        return refusal(422, f"at most {LONGEST_QUERY:,} characters can be looked for")
    if place is None:
        return refusal(422, "from is a number of characters")
    return escaped_json({**asdict(search(document.text, query, place)), "total": len(document.text)})


def _quote(document: OpenDocument, request: Request, body: _Marking | None) -> Response:
    assert body is not None
    marked = mark(document, body.start, body.end, body.text)
    return escaped_json({"quote": marked.quote.model_dump(), "widened": marked.widened})


def _place(request: Request, name: str) -> int | None:
    return _number(request.query_params.get(name, "0"))


def _number(written: str) -> int | None:
    """What is written as digits; None for anything else, and for more of them than anything has."""
    return int(written) if written.isascii() and written.isdigit() and len(written) < 16 else None
