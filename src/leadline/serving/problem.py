"""What a client is told when its request is not answered: errors in the shape of OpenAI's API.

Clients decide by the status (retry 429 and 5xx, give up on 4xx) and by `code`; people read `message`. A
message never repeats what was asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.responses import JSONResponse, Response

# What inspect-ai and other harnesses know a prompt by that is too long, as they know OpenAI's own.
TOO_LONG = "context_length_exceeded"
_STOPPING = "stopping"
# Whoever stops a server to start it anew needs some seconds.
_RESTART_SECONDS = 5


@dataclass(eq=False)  # not frozen: a traceback is put into it
class ProblemError(Exception):
    """One refused or failed request: the HTTP status and the fields of OpenAI's error object."""

    status: int
    message: str
    kind: str = "invalid_request_error"
    param: str | None = None
    code: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def body(self) -> dict[str, Any]:
        """The error object, as it is sent.

        >>> ProblemError(400, "n is too large", param="n").body["error"]["param"]
        'n'
        """
        error = {"message": self.message, "type": self.kind, "param": self.param, "code": self.code}
        return {"error": error}

    @property
    def note(self) -> str:
        """What a log says of it: the kind of fault, and the parameter at fault.

        >>> wrong("n", "is too large").note
        'invalid_value (n)'
        """
        if self.code == _STOPPING:
            return "the server stopped"
        return (self.code or self.kind) + (f" ({self.param})" if self.param else "")

    def response(self) -> Response:
        """The whole answer."""
        return JSONResponse(self.body, status_code=self.status, headers=dict(self.headers))


def unsupported(name: str, why: str = "") -> ProblemError:
    """400 for a parameter that would change the answer and is not known here."""
    reason = f": {why}" if why else ", and would change the answer"
    return ProblemError(
        400, f"{name} is not supported here{reason}", param=name, code="unsupported_parameter"
    )


def unknown(name: str) -> ProblemError:
    """400 for a parameter that nobody here has heard of."""
    return ProblemError(
        400,
        f"{name} is no parameter that is known here, and might change the answer",
        param=name,
        code="unsupported_parameter",
    )


def wrong(name: str, what: str) -> ProblemError:
    """400 for a parameter that cannot be meant."""
    return ProblemError(400, f"{name}: {what}", param=name, code="invalid_value")


def busy(seconds: int) -> ProblemError:
    """429: enough is waiting already; `seconds` is when to try again."""
    return ProblemError(
        429,
        "too many requests are waiting; try again later",
        "rate_limit_error",
        code="rate_limit_exceeded",
        headers={"retry-after": str(seconds)},
    )


def failed(identifier: str) -> ProblemError:
    """500: a fault of the server's; `identifier` finds it in the server's log."""
    return ProblemError(
        500, f"the server failed to answer; its log has the reason under {identifier}", "server_error"
    )


def too_large() -> ProblemError:
    """503: the request does not fit into the memory that is free now, even by itself."""
    return ProblemError(
        503,
        "the server has not enough memory for this request; a shorter one may fit",
        "server_error",
        code="out_of_memory",
    )


def ending() -> ProblemError:
    """503: the server is being stopped."""
    return ProblemError(
        503,
        "the server is being stopped",
        "server_error",
        code=_STOPPING,
        headers={"retry-after": str(_RESTART_SECONDS)},
    )
