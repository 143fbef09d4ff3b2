"""The server of a review: its addresses, whatever jobs it offers."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from leadline.errors import LeadlineError
from leadline.review import pages
from leadline.review.asking import (
    Asked,
    ReaderName,
    RefusedError,
    Text,
    keep_reader,
    read_json,
    reader_of,
)
from leadline.review.document_routes import document_routes
from leadline.review.drafts import ConflictError, Draft, Drafts, LateError
from leadline.review.faults import Faults, told
from leadline.review.guard import Guard, Pass
from leadline.review.job import RESERVED, Job
from leadline.review.pages import Review
from leadline.review.passages import Documents
from leadline.review.reader import reader_name
from leadline.serving.intake import ClientDisconnect

Endpoint = Callable[[Request], Awaitable[Response]]
_OWN_ADDRESS = re.compile(r"(/[A-Za-z0-9_-]+){0,2}/?")
_HISTORY = 100


def make_app(
    jobs: Sequence[Job],
    drafts: Drafts,
    entry: Pass,
    *,
    hosts: Collection[str] | None,
    title: str = "",
    reader: str = "",
    instance: str = "",
    documents: Documents | None = None,
) -> Starlette:
    """An application that offers `jobs`, which read in `documents`.

    entry: what lets a browser in. hosts: the server's names; None: any. title: what is reviewed. reader: who
    reads where a browser does not know. instance: names the review in a browser's store, which several
    servers on one port share. Raises ValueError for a job's name that cannot stand in an address.
    """
    for job in jobs:
        if job.name in RESERVED or not re.fullmatch(r"[a-z][a-z-]*", job.name):
            raise ValueError(f"no job can be called {job.name!r}")
    served = _Served(Review(title, {job.name: job for job in jobs}, drafts, instance))
    faults = Faults(served.review)
    app = Starlette(
        routes=[
            *(route for job in jobs for route in job.routes()),
            *(document_routes(documents) if documents is not None else ()),
            Route("/", served.overview),
            Route("/reader", served.reader),
            Route("/api/reader", served.name_reader, methods=["POST"]),
            Route("/static/{name}", served.static),
            Route("/api/{job}/{key}", served.tell),
            Route("/api/{job}/{key}", served.save, methods=["PUT"]),
            Route("/api/{job}/{key}/history", served.history),
            Route("/api/{job}/{key}/undo", served.undo, methods=["POST"]),
            Route("/api/{job}/{key}/commit", served.commit, methods=["POST"]),
            Route("/{job}", served.entries),
            Route("/{job}/next", served.next),
            Route("/{job}/{key}", served.entry),
        ],
        middleware=[Middleware(Guard, entry=entry, hosts=hosts)],
        exception_handlers={
            HTTPException: faults.not_here,
            RefusedError: faults.refused,
            ConflictError: faults.conflict,
            LateError: faults.late,
            LeadlineError: faults.failed,
            ClientDisconnect: faults.left,
        },
    )
    app.router.redirect_slashes = False
    # A name that the command was given counts until another is chosen on the pages of this very server; one
    # that was not is asked for once, and remembered for the next time.
    start = hashlib.sha256(entry.token.encode()).hexdigest()[:8]
    app.state.reader_cookie = f"{entry.cookie}_reader{f'_{start}' if reader else ''}"
    app.state.reader = reader
    return app


class _Served:
    """The frame's own addresses."""

    def __init__(self, review: Review) -> None:
        self.review = review

    # Pages.

    async def overview(self, request: Request) -> Response:
        """GET /."""
        return await self._for_reader(request, pages.overview)

    async def entries(self, request: Request) -> Response:
        """GET /JOB, with ?show=all."""
        open_only = request.query_params.get("show") != "all"
        return await self._for_reader(request, pages.entries_list, self._job(request), open_only)

    async def entry(self, request: Request) -> Response:
        """GET /JOB/KEY."""
        return await self._for_reader(
            request, pages.entry_page, self._job(request), request.path_params["key"]
        )

    async def next(self, request: Request) -> Response:
        """GET /JOB/next: the next open entry, behind ?after=KEY; the list where all are done."""
        job, reader = self._job(request), reader_of(request)
        if not reader:
            return _ask_reader(request)
        after = request.query_params.get("after", "")
        return RedirectResponse(await run_in_threadpool(self._next, job, reader, after), 303)

    async def reader(self, request: Request) -> Response:
        """GET /reader?then=ADDRESS: who reads."""
        then = request.query_params.get("then", "/")
        own = then if _OWN_ADDRESS.fullmatch(then) else "/"
        return HTMLResponse(pages.reader_page(self.review, reader_of(request), own))

    async def static(self, request: Request) -> Response:
        """GET /static/NAME."""
        found = pages.static_file(request.path_params["name"])
        if found is None:
            raise HTTPException(404)
        return Response(found[0], media_type=found[1])

    # What pages ask for.

    async def name_reader(self, request: Request) -> Response:
        """POST /api/reader {name}: who reads in this browser from now on. A name that was used before, but
        for capitals, is that reader's."""
        name = reader_name((await read_json(request, ReaderName)).name)
        if not name:
            raise RefusedError(422, "name: 1 to 100 letters, digits and signs")
        same = await run_in_threadpool(self.review.drafts.known_reader, name)
        response = JSONResponse({"reader": same})
        keep_reader(response, request.app.state.reader_cookie, same, for_long=not request.app.state.reader)
        return response

    async def tell(self, request: Request) -> Response:
        """GET /api/JOB/KEY: the draft, and what the reader may see."""
        job, key, reader = await self._asked(request)

        def all_of_it() -> dict[str, Any]:
            draft = self.review.draft(job, key, reader)
            empty = {"version": 0, "fields": {}, "committed": False}
            return {**(told(draft) if draft else empty), "visible": dict(job.visible(key, reader, draft))}

        return JSONResponse(await run_in_threadpool(all_of_it))

    async def save(self, request: Request) -> Response:
        """PUT /api/JOB/KEY {version, fields}: keep a text; 409 with theirs where somebody was first."""
        job, key, reader = await self._asked(request)
        text = await self._text(request, reader)
        return JSONResponse(told(await self._keep(job, key, reader, text)))

    async def history(self, request: Request) -> Response:
        """GET /api/JOB/KEY/history: the last 100 versions, the newest first."""
        job, key, reader = await self._asked(request)
        place = self.review.place(job, reader)
        found = await run_in_threadpool(self.review.drafts.history, job.name, key, place)
        return JSONResponse({"versions": [told(draft) for draft in reversed(found[-_HISTORY:])]})

    async def undo(self, request: Request) -> Response:
        """POST /api/JOB/KEY/undo {version}: the state before."""
        job, key, reader = await self._asked(request)
        asked = await read_json(request, Asked)
        _same_reader(asked, reader)
        place = job.name, key, self.review.place(job, reader)
        try:
            draft = await run_in_threadpool(self.review.drafts.undo, *place, asked.version, by=reader)
        except LookupError:
            raise RefusedError(409, "there is nothing to undo") from None
        return JSONResponse(told(draft))

    async def commit(self, request: Request) -> Response:
        """POST /api/JOB/KEY/commit {version, fields}: the answer; 422 with problems where it is none yet, its
        text being kept all the same."""
        job, key, reader = await self._asked(request)
        text = await self._text(request, reader)
        problems = await run_in_threadpool(job.problems, key, reader, {**text.fields, **text.beside})
        if problems:
            kept = told(await self._keep(job, key, reader, text))
            return JSONResponse({"error": "not committed", **kept, "problems": dict(problems)}, 422)

        def hand_over(made: Draft) -> None:
            # Of a shared entry, a commit that says the same once more is still of whom it was.
            job.commit(key, made.reader, replace(made, fields={**made.fields, **text.beside}))

        place = job.name, key, self.review.place(job, reader)
        draft = await run_in_threadpool(
            self.review.drafts.commit,
            *place,
            text.sent(reader),
            hand_over,
        )
        # A job in two steps goes on with the second one.
        is_half = await run_in_threadpool(job.state, key, reader, draft) == "read"
        following = f"/{job.name}/{key}" if is_half else await run_in_threadpool(self._next, job, reader, key)
        return JSONResponse({**told(draft), "next": following})

    # Parts of the above.

    def _job(self, request: Request) -> Job:
        job = self.review.jobs.get(request.path_params["job"])
        if job is None:
            raise HTTPException(404)
        return job

    async def _asked(self, request: Request) -> tuple[Job, str, str]:
        job, key, reader = self._job(request), request.path_params["key"], reader_of(request)
        if not await run_in_threadpool(job.has, key):
            raise HTTPException(404)
        if not reader:
            raise RefusedError(403, "nobody has said who reads: open /reader")
        return job, key, reader

    async def _text(self, request: Request, reader: str) -> Text:
        text = await read_json(request, Text)
        _same_reader(text, reader)
        return text

    async def _keep(self, job: Job, key: str, reader: str, text: Text) -> Draft:
        place = job.name, key, self.review.place(job, reader)
        return await run_in_threadpool(self.review.drafts.save, *place, text.sent(reader))

    def _next(self, job: Job, reader: str, after: str) -> str:
        key = pages.next_open(self.review, reader, job, after)
        return f"/{job.name}/{key}" if key is not None else f"/{job.name}?show=all"

    async def _for_reader(self, request: Request, page: Callable[..., str | None], *rest: Any) -> Response:
        if not (reader := reader_of(request)):
            return _ask_reader(request)
        html = await run_in_threadpool(page, self.review, reader, *rest)
        if html is None:
            raise HTTPException(404)
        return HTMLResponse(html)


def _same_reader(asked: Asked, reader: str) -> None:
    """A page that was opened for one reader writes nothing in the name of another, who came since."""
    if asked.reader is not None and asked.reader != reader:
        raise RefusedError(403, f"this page is {asked.reader}'s, and now {reader} reads: open it again")


def _ask_reader(request: Request) -> Response:
    return RedirectResponse(f"/reader?{urlencode({'then': request.url.path})}", 303)
