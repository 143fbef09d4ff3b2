"""What is read out of a request: who reads, and a body of JSON of the right shape."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar
from urllib.parse import quote, unquote

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from leadline.bench.complaint import complaint
from leadline.review.draft import Sent
from leadline.review.reader import MAX_READER, reader_name
from leadline.serving.intake import Intake
from leadline.serving.problem import ProblemError

MAX_BODY = 2**20
# Characters of one text: twice the longest question that a benchmark may hold, and far above any answer.
MAX_TEXT = 40_000
_INTAKE = Intake(limit=MAX_BODY)

Body = TypeVar("Body", bound=BaseModel)


class RefusedError(Exception):
    """A request that is answered with a status and a sentence."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status, self.words = status, words


def refusal(status: int, words: str, **more: Any) -> Response:
    """{"error": words, ...} with a status."""
    return JSONResponse({"error": words, **more}, status)


def escaped_json(values: Mapping[str, Any], status: int = 200) -> Response:
    """JSON in ASCII: a text of a document may hold half a character, which UTF-8 has no bytes for."""
    return Response(json.dumps(values).encode("ascii"), status, media_type="application/json")


def _can_be_kept(value: JsonValue) -> JsonValue:
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("is no number that JSON knows")
    if isinstance(value, int) and abs(value) > 2**53:
        raise ValueError("is too large a number")
    if isinstance(value, str) and len(value) > MAX_TEXT:
        raise ValueError(f"has {len(value):,} characters, and {MAX_TEXT:,} are the most")
    for part in value if isinstance(value, list) else value.values() if isinstance(value, dict) else ():
        _can_be_kept(part)
    return value


FieldName = Annotated[str, Field(min_length=1, max_length=100)]
Value = Annotated[JsonValue, AfterValidator(_can_be_kept)]


class _Body(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Asked(_Body):
    """What names a version of a draft, and the open page that asks: its random name, how many texts it has
    sent, and whom it takes for the reader."""

    version: int = Field(ge=0, le=2**53)
    page: str = Field(default="", max_length=64)
    edit: int = Field(default=0, ge=0, le=2**53)
    reader: str | None = Field(default=None, max_length=MAX_READER)


class Text(Asked):
    """A text to be saved or committed. `beside` is told of the page, not kept: what it showed, say."""

    fields: dict[FieldName, Value] = Field(max_length=200)
    beside: dict[FieldName, Value] = Field(default_factory=dict, max_length=20)

    def sent(self, by: str) -> Sent:
        """It, as drafts take it from `by`."""
        return Sent(self.version, self.fields, by, self.page, self.edit)


class ReaderName(_Body):
    """Who reads from now on."""

    name: str = Field(max_length=1000)


async def read_json(request: Request, kind: type[Body]) -> Body:
    """The body as `kind`. Raises RefusedError: 408, 413 or 415 for one that cannot be read, 422 for one of
    another shape, with what is wrong where."""
    try:
        async with _INTAKE.body(request) as raw:
            return kind.model_validate_json(raw)
    except ProblemError as problem:
        raise RefusedError(problem.status, problem.message) from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        if first["type"] == "json_invalid":
            raise RefusedError(422, "the body is no JSON") from None
        what, fix = complaint(first)
        place = ".".join(str(part)[:100] for part in first["loc"])
        words = "is missing" if first["type"] == "missing" else what
        raise RefusedError(422, f"{place}: {words}{f' ({fix})' if fix else ''}".strip(": ")) from None


def reader_of(request: Request) -> str:
    """Who reads: the name in the browser's cookie, else the one that the command was given, else ""."""
    state = request.app.state
    written = request.cookies.get(state.reader_cookie, "")
    return reader_name(unquote(written)) or str(state.reader)


def keep_reader(response: Response, cookie: str, name: str, *, for_long: bool) -> None:
    """Let the browser remember a reader's name: until it is closed, or `for_long`, a year."""
    age = 365 * 24 * 3600 if for_long else None
    response.set_cookie(cookie, quote(name), max_age=age, path="/", httponly=True, samesite="strict")
