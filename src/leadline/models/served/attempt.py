"""One attempt: one request to a provider, and what came of it. Runs in the background thread's event loop."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Any

from leadline.engine import Prompt
from leadline.models.served.failures import Trouble, trouble_of
from leadline.redaction import redacted

_FINISH = {"max_tokens": "length", "model_length": "length", "content_filter": "content_filter"}


@dataclass(frozen=True)
class Reply:
    """What an attempt gave: a text, or `trouble`.

    `finish` is ours ("stop", "length", "content_filter"), `raw_finish` inspect-ai's. Numbers of tokens are
    None where the provider did not say. `model` and `fingerprint` are what the provider says answered.
    `seed_sent`: whether a seed was among what was sent; None where that cannot be seen. `output`: as
    inspect-ai has it.
    """

    text: str = ""
    finish: str = "stop"
    raw_finish: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    model: str | None = None
    fingerprint: str | None = None
    seconds: float = 0.0
    seed_sent: bool | None = None
    trouble: Trouble | None = None
    output: Any = None


def messages_of(prompt: Prompt, raw: bool) -> list[Any]:
    """A prompt as inspect-ai's messages. Raises ValueError for what the provider cannot be sent."""
    from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser

    if prompt.messages is None:
        if prompt.text is None:
            raise ValueError("token ids cannot be sent to a served model")
        return [ChatMessageUser(content=prompt.text)]
    if raw:
        raise ValueError("a provider that takes raw text cannot be sent a conversation")
    kinds = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
    return [kinds[role](content=content) for role, content in prompt.messages]


async def attempt(api: Any, messages: list[Any], config: Any, timeout: float) -> Reply:
    """Send one request and wait `timeout` seconds at most. Whatever goes wrong with it is a `trouble`."""
    started = time.monotonic()
    try:
        async with asyncio.timeout(timeout):
            # Not `Model.generate`, which would retry, and keep a transcript of everything in memory.
            result = await api.generate(input=messages, tools=[], tool_choice="none", config=config)
    except Exception as error:
        if isinstance(error, TimeoutError) and time.monotonic() - started >= timeout * 0.99:
            trouble = Trouble("timeout", f"no answer within {timeout:g} s")
        else:
            trouble = trouble_of(error, api)
        return Reply(seconds=time.monotonic() - started, trouble=trouble)
    return read_result(result, api, time.monotonic() - started)


def read_result(result: Any, api: Any, seconds: float) -> Reply:
    """The reply in what `ModelAPI.generate` returns: an output, or (output or exception, raw call)."""
    output, call = result if isinstance(result, tuple) else (result, None)
    sent = None if call is None else _has_seed(call.request)
    if isinstance(output, Exception):
        return Reply(seconds=seconds, seed_sent=sent, trouble=trouble_of(output, api))
    response = call.response if call is not None and isinstance(call.response, dict) else {}
    if call is not None and call.error:
        return _refused_by_provider(output, response, seconds, sent)
    if not output.choices:
        return Reply(
            seconds=seconds,
            seed_sent=sent,
            trouble=Trouble("bad_response", "the answer has no choices in it"),
        )
    raw_finish = str(output.stop_reason)
    tokens_in, tokens_out = _tokens(output.usage)
    fingerprint = response.get("system_fingerprint")
    return Reply(
        text=output.completion,
        finish=_FINISH.get(raw_finish, "stop"),
        raw_finish=raw_finish,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        model=_short(response.get("model") or output.model),
        fingerprint=_short(fingerprint) if isinstance(fingerprint, str) else None,
        seconds=seconds,
        seed_sent=sent,
        output=output,
    )


def _refused_by_provider(output: Any, response: dict[str, Any], seconds: float, sent: bool | None) -> Reply:
    """inspect-ai makes answers out of some errors, with the error's message as the model's text. The model
    said nothing of the kind."""
    message = str(output.completion)
    if output.choices and output.stop_reason == "content_filter":
        return Reply(
            finish="content_filter",
            raw_finish="content_filter",
            tokens_in=0,
            tokens_out=0,
            model=_short(output.model),
            seconds=seconds,
            seed_sent=sent,
        )
    kind = "too_long" if output.choices and output.stop_reason == "model_length" else "bad_request"
    told = trouble_of(RuntimeError(message))  # for its one clean line
    return Reply(seconds=seconds, seed_sent=sent, trouble=Trouble(kind, told.message, 400))


def _tokens(usage: Any) -> tuple[int | None, int | None]:
    """Tokens of the prompt, cached ones too, and generated ones, those of reasoning too. A number that cannot
    be one of tokens, which would credit the budget, counts as not said."""
    if usage is None:
        return None, None
    cached = usage.input_tokens_cache_read or 0, usage.input_tokens_cache_write or 0
    prompt = usage.input_tokens + sum(cached)
    return prompt if min(prompt, *cached) >= 0 else None, whole_tokens(usage.output_tokens)


def whole_tokens(number: Any) -> int | None:
    """`number` if it can be one of tokens, else None.

    >>> whole_tokens(3), whole_tokens(-3), whole_tokens(2.5), whole_tokens(True)
    (3, None, None, None)
    """
    return number if type(number) is int and number >= 0 else None


def _has_seed(sent: Any) -> bool:
    """Whether a seed is anywhere in what was sent; providers nest their settings differently."""
    if isinstance(sent, dict):
        if any(isinstance(sent.get(name), int) for name in ("seed", "random_seed")):
            return True
        return any(_has_seed(value) for key, value in sent.items() if key != "messages")
    return False


def _short(name: Any) -> str:
    """A name that a provider gave, fit to be stored and shown."""
    return "".join(sign for sign in redacted(str(name)) if sign.isprintable())[:200]
