"""What one line of an OpenAI batch's output or error file says: answers, or a call that failed.

The service answers chat completions, older completions and responses, each in its own shape; other services
write the same files. Source of the shapes: OpenAI's API reference, "Batch" and "The request output object".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_FINISH = {
    "max_tokens": "length",
    "max_output_tokens": "length",
    "tool_calls": "stop",
    "function_call": "stop",
}
_KNOWN = ("stop", "length", "content_filter")
_TOO_LONG = ("context_length_exceeded", "string_above_max_length")
_BY_CODE = {"batch_expired": "timeout", "request_timeout": "timeout", "rate_limit_exceeded": "rate_limited"}


@dataclass(frozen=True, slots=True)
class Said:
    """One text that was answered, and why it ended: "stop", "length", "content_filter" or "" (unknown)."""

    text: str
    finish: str


@dataclass(frozen=True, slots=True)
class BatchRow:
    """One request, answered or failed. `said` has one text for each choice; it is empty where the call
    failed.

    `model` and `fingerprint` are what the service reports, `created` its clock in seconds, 0 where unknown.
    """

    custom_id: str
    said: tuple[Said, ...] = ()
    failure: str = ""
    message: str = ""
    model: str = ""
    fingerprint: str = ""
    created: float = 0
    tokens_in: int = 0
    tokens_out: int = 0


def batch_row(fields: Mapping[str, Any]) -> BatchRow | None:
    """Read a line; None where it is none of a batch's output.

    >>> body = {"model": "m", "choices": [{"message": {"content": "4"}, "finish_reason": "stop"}]}
    >>> batch_row({"custom_id": "a", "response": {"status_code": 200, "body": body}, "error": None}).said
    (Said(text='4', finish='stop'),)
    >>> batch_row({"custom_id": "a", "response": None, "error": {"code": "batch_expired"}}).failure
    'timeout'
    """
    custom_id = fields.get("custom_id")
    if not isinstance(custom_id, str) or not custom_id or not fields.keys() & {"response", "error"}:
        return None
    error, response = fields.get("error"), fields.get("response")
    if isinstance(error, Mapping) and error:
        return _failed(custom_id, error, 0, {})
    if not isinstance(response, Mapping):
        return BatchRow(custom_id, failure="bad_response", message="neither a response nor an error")
    body = response.get("body")
    body = body if isinstance(body, Mapping) else {}
    status = response.get("status_code")
    status = status if isinstance(status, int) else 0
    inner = body.get("error")
    if isinstance(inner, Mapping) and inner:
        return _failed(custom_id, inner, status, body)
    if status and status != 200:
        return _failed(custom_id, {}, status, body)
    said = _responses(body) if isinstance(body.get("output"), list) else _choices(body)
    if not said:
        return BatchRow(custom_id, failure="bad_response", message="the body holds no answer", **_about(body))
    return BatchRow(custom_id, said, **_about(body))


def _choices(body: Mapping[str, Any]) -> tuple[Said, ...]:
    """Chat completions and completions, in the order of their index."""
    choices = body.get("choices")
    listed = [one for one in choices if isinstance(one, Mapping)] if isinstance(choices, list) else []
    listed.sort(key=lambda one: at if isinstance(at := one.get("index"), int) else 0)
    found = []
    for choice in listed:
        finish = _finish(choice.get("finish_reason"))
        message = choice.get("message")
        if isinstance(message, Mapping):
            text, refused = _text(message.get("content")), message.get("refusal")
            if not text and isinstance(refused, str) and refused:
                text, finish = refused, "content_filter"  # the model declined, in a field of its own
        else:
            text = _text(choice.get("text"))
        found.append(Said(text, finish))
    return tuple(found)


def _responses(body: Mapping[str, Any]) -> tuple[Said, ...]:
    """The responses API: one answer, whose parts are strung together; what it thought is none of it."""
    parts, refused = [], False
    for output in body["output"]:
        if not isinstance(output, Mapping) or output.get("type", "message") != "message":
            continue
        content = output.get("content")
        for part in content if isinstance(content, list) else ():
            if isinstance(part, Mapping):
                refused |= part.get("type") == "refusal"
                parts.append(_text(part.get("text") or part.get("refusal")))
    reason = body.get("incomplete_details")
    reason = reason.get("reason") if isinstance(reason, Mapping) else None
    if body.get("status") == "incomplete":
        finish = _finish(reason)
    else:
        finish = "content_filter" if refused else "stop" if body.get("status") == "completed" else ""
    return (Said("".join(parts), finish),)


def _failed(custom_id: str, error: Mapping[str, Any], status: int, body: Mapping[str, Any]) -> BatchRow:
    code = str(error.get("code") or error.get("type") or "")
    said = str(error.get("message") or "")
    if code in _TOO_LONG:
        kind = "too_long"
    elif code in _BY_CODE:
        kind = _BY_CODE[code]
    elif status in (401, 403):
        kind = "unauthorized"
    elif status in (408, 504):
        kind = "timeout"
    elif status == 429:
        kind = "rate_limited"
    elif status >= 500:
        kind = "server_error"
    else:
        kind = "bad_request" if status >= 400 else "error"
    parts = (f"status {status}" if status else "", code, said)
    return BatchRow(
        custom_id, failure=kind, message=": ".join(part for part in parts if part), **_about(body)
    )


def _about(body: Mapping[str, Any]) -> dict[str, Any]:
    usage = body.get("usage")
    usage = usage if isinstance(usage, Mapping) else {}
    created = body.get("created", body.get("created_at"))
    model, fingerprint = body.get("model"), body.get("system_fingerprint")
    return {
        "model": model if isinstance(model, str) else "",
        "fingerprint": fingerprint if isinstance(fingerprint, str) else "",
        "created": created if isinstance(created, int | float) and 0 < created < 1e11 else 0,
        "tokens_in": _number(usage.get("prompt_tokens", usage.get("input_tokens"))),
        "tokens_out": _number(usage.get("completion_tokens", usage.get("output_tokens"))),
    }


def _finish(reason: object) -> str:
    if not isinstance(reason, str):
        return ""
    return reason if reason in _KNOWN else _FINISH.get(reason, "")


def _text(content: object) -> str:
    """A text, or a list of parts of which the texts count."""
    if isinstance(content, list):
        return "".join(_text(part.get("text")) for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
