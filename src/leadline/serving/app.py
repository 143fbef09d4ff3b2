"""The server's routes: OpenAI's chat completions, completions and models, over one batcher."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from leadline import __version__
from leadline.errors import LeadlineError
from leadline.serving.asking import Asked, of_chat, of_completion
from leadline.serving.batcher import Batcher
from leadline.serving.guard import LOOPBACK, Guard
from leadline.serving.intake import ClientDisconnect, Intake
from leadline.serving.journal import Entry, Journal
from leadline.serving.parameters import Body, ChatBody, CompletionBody, checked, read_body, read_json
from leadline.serving.problem import ProblemError, ending, failed
from leadline.serving.shapes import ChatShape, CompletionShape, Shape, usage
from leadline.serving.stream import EventStream, client_left
from leadline.serving.tokenizing import (
    NEUTRAL,
    DetokenizeBody,
    TokenizeBody,
    detokenize,
    tokenize,
    tokenizer_info,
)
from leadline.serving.work import Outcome, Work

logger = logging.getLogger("leadline.serving")

MAX_TOKENS = 512
# nginx's word for a client that went away; nobody reads it but the journal.
_CLIENT_LEFT = 499
# Open requests that neither run nor wait: their bodies arrive, or their answers leave.
_IN_PASSING = 256

_Result = TypeVar("_Result")
Endpoint = Callable[[Request], Awaitable[Response]]


def make_app(
    batcher: Batcher,
    *,
    token: str | None = None,
    hosts: Collection[str] | None = LOOPBACK,
    max_tokens: int = MAX_TOKENS,
    journal: Journal | None = None,
    intake: Intake | None = None,
) -> Starlette:
    """An application that serves what `batcher` offers; the batcher runs while the application does.

    token: what clients must show; None: nothing. hosts: names under which requests may come; None: any.
    max_tokens: of a chat's answer, where a client does not say.

        from leadline.serving import Batcher, make_app, offered, running
        with running(make_app(Batcher(offered(model)))) as url:  # "http://127.0.0.1:49152"
            ...
    """
    serving = _Serving(batcher, max_tokens, journal or Journal(), intake or Intake())

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        batcher.start()
        try:
            yield
        finally:
            await run_in_threadpool(batcher.close)
            serving.reader.shutdown(wait=False)

    most_open = batcher.max_waiting + batcher.max_batch + _IN_PASSING
    app = Starlette(
        routes=[
            Route("/v1/chat/completions", serving.endpoint(serving.chat), methods=["POST"]),
            Route("/v1/completions", serving.endpoint(serving.completion), methods=["POST"]),
            Route("/v1/models", serving.endpoint(serving.models)),
            Route("/v1/models/{name:path}", serving.endpoint(serving.model)),
            Route("/tokenizer_info", serving.endpoint(serving.tokenizer_info)),
            Route("/tokenize", serving.endpoint(serving.tokenize), methods=["POST"]),
            Route("/detokenize", serving.endpoint(serving.detokenize), methods=["POST"]),
            Route("/health", serving.endpoint(serving.health)),
        ],
        middleware=[Middleware(Guard, token=token, hosts=hosts, most_open=most_open)],
        exception_handlers={HTTPException: _not_here},
        lifespan=lifespan,
    )
    app.router.redirect_slashes, app.state.batcher = False, batcher
    return app


async def _not_here(request: Request, error: Exception) -> Response:
    """404 and 405, in the API's form."""
    assert isinstance(error, HTTPException)
    nothing = error.status_code == 404
    what = "there is nothing at this address" if nothing else "this address is asked in another way"
    refused = ProblemError(error.status_code, what, code="unknown_url", headers=error.headers or {})
    return refused.response()


class _Serving:
    """What the routes share."""

    def __init__(self, batcher: Batcher, max_tokens: int, journal: Journal, intake: Intake) -> None:
        self.batcher, self.offer, self.max_tokens = batcher, batcher.offer, max_tokens
        self.journal, self.intake = journal, intake
        # Bodies are parsed and tokenised beside the loop, one after the other: a tokenizer is for one thread,
        # and each further thread would keep memory of its own.
        self.reader = ThreadPoolExecutor(1, "leadline-reader")

    def endpoint(self, answer: Callable[[Request, Entry], Awaitable[Response]]) -> Endpoint:
        """`answer`, with whatever goes wrong told in the API's form, and a line in the journal. A stream
        writes its own line, when it has ended."""

        async def endpoint(request: Request) -> Response:
            entry = Entry(request.scope["route"].path)
            response: Response
            try:
                response = await answer(request, entry)
            except ProblemError as problem:
                response, entry.note = problem.response(), problem.note
            except LeadlineError as error:  # what is asked for cannot be
                refused = ProblemError(400, str(error))
                response, entry.note = refused.response(), refused.note
            except asyncio.CancelledError:  # its time is over, and nobody is told any more
                entry.status, entry.note = 503, ending().note
                self.journal.write(entry)
                raise
            except ClientDisconnect:
                response = Response(status_code=_CLIENT_LEFT)
            except Exception as error:
                identifier = f"fault-{uuid.uuid4().hex[:12]}"
                logger.error("%s: a request could not be answered", identifier, exc_info=error)
                response, entry.note = failed(identifier).response(), identifier
            entry.status = response.status_code
            if not isinstance(response, EventStream) and entry.path != "/health":
                self.journal.write(entry)
            return response

        return endpoint

    async def chat(self, request: Request, entry: Entry) -> Response:
        """POST /v1/chat/completions."""
        async with self.intake.body(request) as raw:
            body, asked = await self._beside(self._read_chat, raw)
        shape = ChatShape(self.offer, asked, bool(body.logprobs))
        return await self._answer(request, entry, body, asked, shape)

    async def completion(self, request: Request, entry: Entry) -> Response:
        """POST /v1/completions."""
        async with self.intake.body(request) as raw:
            body, asked = await self._beside(self._read_completion, raw)
        shape = CompletionShape(self.offer, asked, body.logprobs is not None)
        return await self._answer(request, entry, body, asked, shape)

    async def _beside(self, read: Callable[..., _Result], *arguments: Any) -> _Result:
        return await asyncio.get_running_loop().run_in_executor(self.reader, read, *arguments)

    def _read_chat(self, raw: bytes) -> tuple[ChatBody, Asked]:
        body = read_body(ChatBody, raw)
        self._check_model(body.model)
        return body, of_chat(self.offer, body, self.max_tokens)

    def _read_completion(self, raw: bytes) -> tuple[CompletionBody, Asked]:
        body = read_body(CompletionBody, raw)
        self._check_model(body.model)
        return body, of_completion(self.offer, body)

    def _check_model(self, name: str | None) -> None:
        if name is not None and name != self.offer.name:
            raise ProblemError(
                404, f"this server serves {self.offer.name} alone", param="model", code="model_not_found"
            )

    async def _answer(
        self, request: Request, entry: Entry, body: Body, asked: Asked, shape: Shape
    ) -> Response:
        entry.id, entry.stream, entry.choices = shape.id, bool(body.stream), len(asked.choices)
        entry.seed = asked.seed
        if self.journal.texts:
            entry.asked = body.model_dump(mode="json", exclude_none=True)
        headers = {"x-request-id": shape.id, "x-leadline-seed": str(asked.seed)}
        work = self.batcher.submit(asked, bool(body.stream))

        def note(outcomes: list[Outcome], problem: ProblemError | None) -> None:
            spent = usage(asked, outcomes)
            entry.tokens_in, entry.tokens_out = spent["prompt_tokens"], spent["completion_tokens"]
            entry.said = [each.text for each in outcomes]
            if problem is not None:
                entry.note = problem.note
            elif len(outcomes) < entry.choices:
                entry.note = "the client left"

        if body.stream:

            def ended(outcomes: list[Outcome], problem: ProblemError | None) -> None:
                note(outcomes, problem)
                self.journal.write(entry)

            return EventStream(
                work,
                shape,
                tells_usage=body.tells_usage,
                forget=self.batcher.forget,
                ended=ended,
                headers=headers,
            )
        collecting = asyncio.create_task(_collected(work, len(asked.choices)))
        leaving = asyncio.create_task(client_left(request.receive))
        try:
            await asyncio.wait({collecting, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not collecting.done():
                entry.note = "the client left"
                return Response(status_code=_CLIENT_LEFT)
            outcomes = collecting.result()
        finally:
            self.batcher.forget(work)
            collecting.cancel()
            leaving.cancel()
        note(outcomes, None)
        return JSONResponse(shape.whole(outcomes), headers=headers)

    async def models(self, request: Request, entry: Entry) -> Response:
        """GET /v1/models."""
        return JSONResponse({"object": "list", "data": [self._card()]})

    async def model(self, request: Request, entry: Entry) -> Response:
        """GET /v1/models/NAME."""
        self._check_model(request.path_params["name"])
        return JSONResponse(self._card())

    def _card(self) -> dict[str, Any]:
        technique = self.offer.technique
        return {
            "id": self.offer.name,
            "object": "model",
            "created": self.offer.created,
            "owned_by": "leadline",
            "max_model_len": self.offer.reader.context_length,
            "leadline": {
                "version": __version__,
                "weights": self.offer.model.identity.digest,
                "dtype": self.offer.model.identity.dtype,
                "technique": technique.name if technique else None,
                "settings": technique.settings() if technique else {},
                "system_fingerprint": self.offer.fingerprint,
            },
        }

    async def tokenizer_info(self, request: Request, entry: Entry) -> Response:
        """GET /tokenizer_info."""
        return JSONResponse(tokenizer_info(self.offer))

    async def tokenize(self, request: Request, entry: Entry) -> Response:
        """POST /tokenize."""
        async with self.intake.body(request) as raw:
            return JSONResponse(await self._beside(self._tokenized, TokenizeBody, raw, tokenize))

    async def detokenize(self, request: Request, entry: Entry) -> Response:
        """POST /detokenize."""
        async with self.intake.body(request) as raw:
            return JSONResponse(await self._beside(self._tokenized, DetokenizeBody, raw, detokenize))

    def _tokenized(
        self,
        kind: type[TokenizeBody] | type[DetokenizeBody],
        raw: bytes,
        act: Callable[..., dict[str, Any]],
    ) -> dict[str, Any]:
        body = checked(kind, read_json(raw), NEUTRAL)
        self._check_model(body.model)
        return act(self.offer, body)

    async def health(self, request: Request, entry: Entry) -> Response:
        """GET /health."""
        waiting, running = self.batcher.waiting, self.batcher.running
        return JSONResponse({"status": "ok", "waiting": waiting, "running": running})


async def _collected(work: Work, count: int) -> list[Outcome]:
    """All outcomes of a work that does not stream. Raises ProblemError where one of its choices fails."""
    outcomes: list[Outcome] = []
    while len(outcomes) < count:
        found = await work.events.get()
        if isinstance(found, ProblemError):
            raise found
        if isinstance(found, Outcome):
            outcomes.append(found)
    return outcomes
