"""What clients may ask for: the bodies of the two APIs, checked.

What is known is read, what changes no answer is ignored (`user`, `metadata`, `store`, ...), and everything
else is refused by name unless it has its neutral value: an answer that was drawn otherwise than was asked for
would be a wrong measurement without a word.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, NoReturn, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from leadline.serving.problem import ProblemError, unsupported, wrong

MAX_CHOICES = 128
MAX_STOPS = 16
MAX_TOP = 20
# Longer stop strings than this are a mistake, and each generated token is compared with all of them.
_MAX_STOP_LENGTH = 1000

# Change no answer.
_IGNORED = frozenset(
    {"metadata", "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention", "safety_identifier"}
    | {"service_tier", "store", "user"}
)
# Parameters that are not there, and the values that ask for nothing of them (null always does).
_NEUTRAL: Mapping[str, tuple[Any, ...]] = {
    "audio": (),
    "best_of": (1,),
    "frequency_penalty": (0,),
    "function_call": ("none",),
    "functions": ([],),
    "ignore_eos": (False,),
    "logit_bias": ({},),
    "min_p": (0,),
    "min_tokens": (0,),
    "modalities": (["text"],),
    "moderation": (),
    "parallel_tool_calls": (True, False),
    "prediction": (),
    "presence_penalty": (0,),
    "prompt_logprobs": (),
    "reasoning_effort": (),
    "response_format": ({"type": "text"},),
    "suffix": ("",),
    "tool_choice": ("none", "auto"),
    "tools": ([],),
    "top_k": (0, -1),
    "verbosity": (),
    "web_search_options": (),
}

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_Stop = Annotated[str, Field(min_length=1, max_length=_MAX_STOP_LENGTH)]
# A token id; whether the model has it is asked where the model is known.
Token = Annotated[int, Field(ge=0)]


class StreamOptions(BaseModel):
    """How a stream ends."""

    model_config = ConfigDict(strict=True, extra="ignore")

    include_usage: bool | None = None


class Body(BaseModel):
    """What both APIs share. None: not said."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True)

    model: str | None = None
    max_tokens: int | None = Field(default=None, ge=0, le=2**31)
    temperature: float | None = Field(default=None, ge=0, le=100, allow_inf_nan=False)
    top_p: float | None = Field(default=None, gt=0, le=1, allow_inf_nan=False)
    n: int | None = Field(default=None, ge=1, le=MAX_CHOICES)
    seed: int | None = Field(default=None, ge=-(2**63), lt=2**63)
    stop: _Stop | Annotated[list[_Stop], Field(max_length=MAX_STOPS)] | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    repetition_penalty: float | None = Field(default=None, gt=0, le=100, allow_inf_nan=False)

    @property
    def stops(self) -> tuple[str, ...]:
        """The stop strings."""
        return (self.stop,) if isinstance(self.stop, str) else tuple(dict.fromkeys(self.stop or ()))

    @property
    def tells_usage(self) -> bool:
        """Whether a stream ends with what it cost."""
        return bool(self.stream_options and self.stream_options.include_usage)


class TextPart(BaseModel):
    """A part of a message that is text."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)

    type: str
    text: str | None = None


class Message(BaseModel):
    """One message of a conversation."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True)

    role: str
    content: str | list[TextPart] | None = None


class ChatBody(Body):
    """POST /v1/chat/completions."""

    messages: list[Message] = Field(min_length=1)
    max_completion_tokens: int | None = Field(default=None, ge=1, le=2**31)
    logprobs: bool | None = None
    top_logprobs: int | None = Field(default=None, ge=0, le=MAX_TOP)


class CompletionBody(Body):
    """POST /v1/completions. `prompt`: one text, several, the token ids of one, or of several."""

    prompt: str | list[Token] | list[str] | list[list[Token]]
    echo: bool | None = None
    logprobs: int | None = Field(default=None, ge=0, le=MAX_TOP)


_Body = TypeVar("_Body", bound=Body)


def read_body(kind: type[_Body], raw: bytes) -> _Body:
    """The body, checked. Raises ProblemError (400), which names the parameter that is at fault."""
    body = _checked(kind, read_json(raw))
    for name, value in (body.model_extra or {}).items():
        if name in _IGNORED or value is None:
            continue
        neutral = _NEUTRAL.get(name)
        if neutral is None:
            raise unsupported(_shown(name))
        if not any(value == each and isinstance(value, bool) == isinstance(each, bool) for each in neutral):
            raise unsupported(name)
    return body


def read_json(raw: bytes) -> dict[str, Any]:
    """A JSON object. Raises ProblemError (400) for anything else."""
    try:
        value = json.loads(raw.decode("utf-8"), parse_constant=_constant)
        if _SURROGATE.search(raw):  # half of a pair is no character: no tokenizer takes it
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except RecursionError:
        raise ProblemError(400, "the body's JSON is nested too deeply", code="invalid_json") from None
    except ValueError as error:  # JSONDecodeError, UnicodeError, a number of thousands of digits
        place = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise ProblemError(400, f"the body is not JSON in UTF-8{place}", code="invalid_json") from None
    if not isinstance(value, dict):
        raise ProblemError(400, "the body is not a JSON object", code="invalid_json")
    return value


def _constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


def _checked(kind: type[_Body], value: dict[str, Any]) -> _Body:
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False, include_input=False)
        # Where several kinds are possible each complains: the one that got deepest says most.
        fault = max(faults[:50], key=lambda each: sum(isinstance(part, int) for part in each["loc"]))
        names = [str(part) for part in fault["loc"] if isinstance(part, int) or str(part).isidentifier()]
        where = ".".join(_shown(name) for name in names[:4]) or "body"
        if fault["type"] == "missing":
            raise ProblemError(400, f"{where} is missing", param=where, code="missing_parameter") from None
        message = fault["msg"][:1].lower() + fault["msg"][1:]
        raise wrong(where, message.replace("input should", "should")) from None


def _shown(name: str) -> str:
    """A name that a client made up, short and without signs that a terminal would obey."""
    return "".join(sign if sign.isprintable() else "?" for sign in name[:60])
