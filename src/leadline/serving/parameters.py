"""What clients may ask for: the bodies of the two APIs, checked.

What is known is read, what changes no answer is ignored (`user`, `metadata`, `store`, ...), and everything
else is refused by name unless it has its neutral value, inside messages too: an answer that was drawn
otherwise than was asked for would be a wrong measurement without a word.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any, NoReturn, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from leadline.serving.complaint import complaint, shown
from leadline.serving.problem import ProblemError, unknown, unsupported

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

# Inside messages: what other APIs' answers bring along when they are sent back, and what asks for nothing.
_IN_MESSAGES: Mapping[str, tuple[Any, ...]] = {
    "annotations": ([],),
    "audio": (),
    "function_call": (),
    # OpenAI's tells the model who speaks; no chat template here shows it.
    "name": (),
    "reasoning_content": ("",),
    "refusal": ("",),
    "tool_call_id": (),
    "tool_calls": ([],),
    "type": ("text", "message"),
}
_IGNORED_IN_PARTS = frozenset({"cache_control"})

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

    model_config = ConfigDict(strict=True, extra="allow", frozen=True)

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
    max_tokens: int | None = Field(default=None, ge=1, le=2**31)
    max_completion_tokens: int | None = Field(default=None, ge=1, le=2**31)
    logprobs: bool | None = None
    top_logprobs: int | None = Field(default=None, ge=0, le=MAX_TOP)


class CompletionBody(Body):
    """POST /v1/completions. `prompt`: one text, several, the token ids of one, or of several."""

    prompt: str | list[Token] | list[str] | list[list[Token]]
    echo: bool | None = None
    logprobs: int | None = Field(default=None, ge=0, le=MAX_TOP)


_Body = TypeVar("_Body", bound=BaseModel)


def read_body(kind: type[_Body], raw: bytes) -> _Body:
    """The body, checked. Raises ProblemError (400), which names the parameter that is at fault."""
    return checked(kind, read_json(raw), _NEUTRAL, _IGNORED)


def checked(
    kind: type[_Body],
    value: dict[str, Any],
    neutral: Mapping[str, tuple[Any, ...]],
    ignored: frozenset[str] = frozenset(),
) -> _Body:
    """`value` as a `kind`; further parameters must be `ignored`, null or `neutral`, those of messages too."""
    try:
        body = kind.model_validate(value)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        raise complaint(faults, _NAMES | frozenset(kind.model_fields)) from None
    _check_rest(body, neutral, ignored)
    for at, message in enumerate(getattr(body, "messages", None) or ()):
        where = f"messages.{at}."
        _check_rest(message, _IN_MESSAGES, frozenset(), where)
        for number, part in enumerate(message.content if isinstance(message.content, list) else ()):
            if part.type == "text":  # others are refused as a whole
                _check_rest(part, {}, _IGNORED_IN_PARTS, f"{where}content.{number}.")
    return body


def _check_rest(
    of: BaseModel, neutral: Mapping[str, tuple[Any, ...]], ignored: frozenset[str], where: str = ""
) -> None:
    for name, value in (of.model_extra or {}).items():
        if name in ignored or value is None:
            continue
        if name not in neutral:
            raise unknown(where + shown(name))
        same = (isinstance(value, bool) == isinstance(each, bool) for each in neutral[name] if value == each)
        if not any(same):
            raise unsupported(where + name)


def read_json(raw: bytes) -> dict[str, Any]:
    """A JSON object. Raises ProblemError (400) for anything else."""
    try:
        value = json.loads(raw.decode("utf-8"), parse_constant=_constant, object_pairs_hook=_object)
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


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """One of two values for the same key would be taken without a word."""
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        twice = shown(next(name for name, number in counts.items() if number > 1))
        raise ProblemError(400, f"{twice} stands twice in one object", param=twice, code="invalid_json")
    return found


# What the parts of a body are called.
_NAMES = frozenset(
    name
    for kind in (ChatBody, CompletionBody, Message, TextPart, StreamOptions)
    for name in kind.model_fields
)
