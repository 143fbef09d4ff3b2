"""Exceptions of providers' packages, told apart without them."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import openai
import pytest

from leadline.models.served.backoff import Backoff
from leadline.models.served.failures import LASTING, PASSING, trouble_of

REQUEST = httpx2.Request("POST", "http://127.0.0.1/v1/chat/completions")


def status_error(status: int, error: dict[str, Any] | None = None, **headers: str) -> openai.APIStatusError:
    response = httpx2.Response(status, headers=headers, request=REQUEST, json={"error": error or {}})
    return openai.APIStatusError("said so", response=response, body=error)


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


class BotoError(Exception):
    """As botocore's ClientError has it."""

    response = {"ResponseMetadata": {"HTTPStatusCode": 503}, "Error": {"Code": "ServiceUnavailable"}}  # noqa: RUF012


class GoogleError(Exception):
    """As google-genai's APIError has it."""

    code = 429


@pytest.mark.parametrize(
    "error, kind",
    [
        (status_error(429), "rate_limited"),
        (status_error(429, {"message": "no", "code": "insufficient_quota"}), "unauthorized"),
        (status_error(402), "unauthorized"),
        (status_error(401), "unauthorized"),
        (status_error(403), "unauthorized"),
        (status_error(400, {"message": "no"}), "bad_request"),
        (status_error(400, {"message": "no", "code": "context_length_exceeded"}), "too_long"),
        (status_error(400, {"message": "The prompt is too long: 9 tokens"}), "too_long"),
        (status_error(404), "bad_request"),
        (status_error(408), "timeout"),
        (status_error(409), "server_error"),
        (status_error(413), "too_long"),
        (status_error(422), "bad_request"),
        (status_error(500), "server_error"),
        (status_error(529), "server_error"),
        (BotoError("no"), "server_error"),
        (GoogleError("no"), "rate_limited"),
        (TimeoutError(), "timeout"),
        (openai.APITimeoutError(REQUEST), "timeout"),
        (caused(openai.APIConnectionError(request=REQUEST), httpx2.ConnectError("refused")), "connection"),
        (httpx2.RemoteProtocolError("closed"), "connection"),
        (httpx2.ReadTimeout("slow"), "timeout"),
        (ConnectionResetError(), "connection"),
        (json.JSONDecodeError("no", "{", 0), "bad_response"),
        (TypeError("'NoneType' object is not iterable"), "bad_response"),
    ],
)
def test_a_failure_has_a_kind(error: Exception, kind: str) -> None:
    assert trouble_of(error).kind == kind


def test_every_kind_either_passes_or_lasts() -> None:
    assert not PASSING & LASTING
    assert trouble_of(TimeoutError()).passes and not trouble_of(status_error(400)).passes


def test_what_is_about_the_account_is_told_apart_from_a_refused_request() -> None:
    assert trouble_of(status_error(401)).account
    assert not trouble_of(status_error(403)).account, "a moderated prompt is refused with this, too"


def test_a_connection_that_failed_says_why() -> None:
    error = caused(openai.APIConnectionError(request=REQUEST), httpx2.ConnectError("refused"))
    assert trouble_of(error).message == "ConnectError: refused"


def test_a_message_is_one_short_line() -> None:
    trouble = trouble_of(status_error(400, {"message": "a\nb\x1b[2J" + "c" * 1000}))
    assert trouble.message.startswith("HTTP 400: a b [2Jccc") and len(trouble.message) == 300


@pytest.mark.parametrize(
    "headers, seconds",
    [({"retry-after": "7"}, 7.0), ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5), ({}, None)],
)
def test_the_wait_that_a_server_asks_for_is_read(headers: dict[str, str], seconds: float | None) -> None:
    from inspect_ai.model import get_model

    api = get_model("openai-api/local/m", base_url="http://127.0.0.1/v1", api_key="none", memoize=False).api
    assert trouble_of(status_error(429, **headers), api).wait == seconds


def test_waits_double_up_to_a_bound_and_never_undercut_the_servers_wish() -> None:
    backoff = Backoff(first=1.0, longest=8.0)
    for failures, bound in ((1, 1.0), (2, 2.0), (3, 4.0), (4, 8.0), (40, 8.0)):
        for _ in range(50):
            assert bound / 2 <= backoff.wait(failures) <= bound
            assert 20.0 <= backoff.wait(failures, 20.0) <= 22.1


@pytest.mark.parametrize(
    "cause, unsent",
    [
        (httpx2.ConnectError("refused"), True),
        (httpx2.ConnectTimeout("slow"), True),
        (ConnectionRefusedError(111, "refused"), True),
        (httpx2.ReadError("reset"), False),
        (httpx2.ReadTimeout("slow"), False),
        (httpx2.RemoteProtocolError("half"), False),
        (caused(httpx2.ReadError("reset"), httpx2.ConnectError("the other address")), False),
        (ConnectionResetError(104, "reset"), False),
    ],
)
def test_what_never_had_a_connection_was_not_sent(cause: Exception, unsent: bool) -> None:
    assert trouble_of(caused(openai.APIConnectionError(request=REQUEST), cause)).unsent is unsent


def test_the_parameter_that_a_server_names_is_told() -> None:
    refused: dict[str, Any] = {"message": "It should be at most 16", "param": "stop", "code": "invalid_value"}
    message = trouble_of(status_error(400, refused)).message
    assert message == "HTTP 400: It should be at most 16 (stop, invalid_value)"
    refused["message"] = "stop: should be at most 16"
    assert trouble_of(status_error(400, refused)).message == (
        "HTTP 400: stop: should be at most 16 (invalid_value)"
    )
