"""What went wrong with one attempt, in a word: whether it passes, and what to tell.

Providers' packages each have their own exceptions. They are told apart by what they carry (an HTTP status, a
cause) and by the names of their classes, so that no package has to be imported, or even be there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from leadline.redaction import redacted

# A later attempt, or a later run, may well succeed.
PASSING = frozenset({"rate_limited", "server_error", "timeout", "connection", "bad_response"})
# The same request would fail again.
LASTING = frozenset({"bad_request", "unauthorized", "too_long"})

_NO_CREDIT = ("insufficient_quota", "billing_hard_limit_reached", "insufficient balance", "credit balance")
_TOO_LONG = (
    "context_length_exceeded",
    "context length",
    "context window",
    "maximum context",
    "prompt is too long",
    "input is too long",
    "too many tokens",
    "input length",
    "string_above_max_length",
)
# There was no connection to begin with; some packages count that among their time-outs.
_NOT_CONNECTED = {"ConnectError", "NewConnectionError", "ClientConnectorError", "gaierror"}
# Likewise: the request itself was never sent.
_UNSENT = _NOT_CONNECTED | {"ConnectTimeout", "PoolTimeout", "ConnectionRefusedError"}
# The request was on its way; what it came of may have been a connection that was refused before.
_SENT = {
    "ReadError",
    "ReadTimeout",
    "WriteError",
    "WriteTimeout",
    "RemoteProtocolError",
    "ClientPayloadError",
}
_CONNECTION_CLASSES = {
    "APIConnectionError",
    "TransportError",  # httpx, httpx2: connecting, reading, writing, a broken protocol
    "ClientConnectionError",  # aiohttp
    "ClientPayloadError",
    "HTTPClientError",  # botocore
    "ServiceRequestError",  # azure-core
    "ServiceResponseError",
}
# What parsers raise on an answer that is not what it should be.
_PARSING = (ValueError, TypeError, AttributeError, LookupError)


@dataclass(frozen=True)
class Trouble:
    """Why an attempt gave no answer.

    `status`: HTTP's, where there was a response. `wait`: seconds that the server asked for. `account`: it is
    about the key or the account, not about this request. `unsent`: there was no connection, so nobody got it.
    """

    kind: str
    message: str
    status: int | None = None
    wait: float | None = None
    account: bool = False
    unsent: bool = False

    @property
    def passes(self) -> bool:
        """Whether another attempt may succeed."""
        return self.kind in PASSING


def trouble_of(error: BaseException, api: Any = None) -> Trouble:
    """What `error`, which an attempt ended in, is. `api`: inspect-ai's ModelAPI, asked for what is not known.

    >>> trouble_of(TimeoutError("no answer within 120 s")).kind
    'timeout'
    """
    status = next((found for each in _chain(error) if (found := _status(each)) is not None), None)
    words = _words(error)
    if status is not None and status >= 400:
        kind = _kind_of_status(status, words)
        out_of_credit = status in (402, 429) and any(sign in words.lower() for sign in _NO_CREDIT)
        if out_of_credit or status == 402:
            kind = "unauthorized"
        return Trouble(
            kind,
            _line(f"HTTP {status}: {words}"),
            status,
            _wait(error, api) if kind in PASSING else None,
            account=kind == "unauthorized" and status != 403,
        )
    names = {cls.__name__ for each in _chain(error) for cls in type(each).__mro__}
    unsent = bool(names & _UNSENT) and not names & _SENT
    if not names & _NOT_CONNECTED and any("Timeout" in name for name in names):
        return Trouble("timeout", _line(words), unsent=unsent)
    if names & _CONNECTION_CLASSES or any(isinstance(each, OSError) for each in _chain(error)):
        return Trouble("connection", _line(words), unsent=unsent)
    # An error object inside a good response, and whatever else the provider itself knows to be passing.
    code = str(getattr(error, "code", "") or "").lower()
    if "non-chatcompletion" in words.lower():
        return Trouble("bad_response", _line(words))
    decision = _decision(error, api)
    if decision is not None:
        limited = getattr(decision, "kind", "") == "rate_limit"
        return Trouble("rate_limited" if limited else "server_error", _line(words), None, _wait(error, api))
    if any(sign in f"{code} {words}".lower() for sign in _TOO_LONG):
        return Trouble("too_long", _line(words))
    if isinstance(error, _PARSING):
        return Trouble("bad_response", _line(f"the answer cannot be read: {words}"))
    return Trouble("bad_response", _line(words))


def _kind_of_status(status: int, words: str) -> str:
    if status in (401, 402, 403):
        return "unauthorized"
    if status == 408:
        return "timeout"
    if status == 429:
        return "rate_limited"
    if status == 409 or status >= 500:  # 409: a lock that passes; 529: Anthropic's "overloaded"
        return "server_error"
    if status == 413 or any(sign in words.lower() for sign in _TOO_LONG):
        return "too_long"
    return "bad_request"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and what it came of, whether it says so or not."""
    seen: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        yield at
        at = at.__cause__ or at.__context__


def _status(error: BaseException) -> int | None:
    response = getattr(error, "response", None)
    if isinstance(response, dict):  # botocore
        found = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
        return found if isinstance(found, int) else None
    for holder, name in (
        (error, "status_code"),
        (response, "status_code"),
        (error, "status"),
        (error, "code"),
    ):
        found = getattr(holder, name, None)
        if isinstance(found, int) and not isinstance(found, bool) and 100 <= found < 600:
            return found
    return None


def _words(error: BaseException) -> str:
    """What it says; where that is nothing ("Connection error."), what its cause says."""
    body = getattr(error, "body", None)
    if isinstance(body, dict):
        inner = body.get("error") if isinstance(body.get("error"), dict) else body
        said = inner.get("message") if isinstance(inner, dict) else None
        if isinstance(said, str) and said:
            # Which parameter it was, and the provider's word for the fault, where the message lacks them.
            about = (inner.get(name) for name in ("param", "code")) if isinstance(inner, dict) else ()
            more = ", ".join(one for one in about if isinstance(one, str) and one and one not in said)
            return f"{said} ({more})" if more else said
    said = str(error).strip()
    cause = error.__cause__
    if cause is not None and said.rstrip(".").lower() in ("", "connection error", "request timed out"):
        return f"{type(cause).__name__}: {cause}" if str(cause) else type(cause).__name__
    return said or type(error).__name__


def _line(words: str) -> str:
    """One line, not too long, without secrets and control characters."""
    line = "".join(sign if sign.isprintable() else " " for sign in redacted(words))
    line = " ".join(line.split())
    return line if len(line) <= 300 else line[:299] + "…"


def _decision(error: BaseException, api: Any) -> Any:
    """inspect-ai's own judgement where it says "retry", else None."""
    if api is None or not isinstance(error, Exception):
        return None
    decision = api.should_retry(error)
    return decision if decision else None


def _wait(error: BaseException, api: Any) -> float | None:
    headers = getattr(getattr(error, "response", None), "headers", None)
    exact = headers.get("retry-after-ms") if headers is not None and hasattr(headers, "get") else None
    try:
        if exact is not None and 0 <= float(exact) < 1e9:
            return float(exact) / 1000
    except ValueError:
        pass
    wait = getattr(_decision(error, api), "retry_after", None)
    return float(wait) if isinstance(wait, (int, float)) else None
