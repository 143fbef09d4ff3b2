"""When asking is no use, it ends with one line and not with a thousand failures."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from leadline.engine import Failure, Generation
from leadline.errors import LeadlineError
from leadline.models.served import MemoryLedger, Price, ProviderFailed
from tests.models.served.asks import requests, served
from tests.models.served.fault_server import serving


def stopped(
    tmp_path: Path, faults: dict[str, float], **settings: object
) -> tuple[LeadlineError, MemoryLedger, int]:
    """The error that a thousand requests end in, the ledger, and how many requests the server got."""
    ledger = MemoryLedger()
    with serving(tmp_path / "log.jsonl", faults=faults) as server:
        model = served(server.url, ledger, **settings)
        with pytest.raises(LeadlineError) as ended:
            list(model.generate(requests(1000)))
        model.close()
        return ended.value, ledger, len(server.lines("got"))


def test_a_key_that_is_refused_ends_the_run_at_once(tmp_path: Path) -> None:
    error, ledger, got = stopped(tmp_path, {"401": 1.0}, connections=8)
    assert "m: the provider refuses the account: HTTP 401: Incorrect API key" in str(error)
    assert "\n" not in str(error) and error.exit_code == 3
    assert got == len(ledger.calls) <= 8
    assert {call.outcome for call in ledger.calls} == {"unauthorized"}


def test_an_account_without_credit_is_not_a_rate_limit_to_wait_for(tmp_path: Path) -> None:
    error, _, got = stopped(tmp_path, {"quota": 1.0}, connections=4)
    assert "HTTP 429: You exceeded your current quota (insufficient_quota)" in str(error)
    assert got <= 4


def test_a_model_that_does_not_exist_ends_the_run_at_once(tmp_path: Path) -> None:
    error, _, got = stopped(tmp_path, {"404": 1.0}, connections=4)
    assert "refuses the first request: HTTP 404: The model does not exist" in str(error)
    assert got <= 4


def test_a_server_that_is_not_there_ends_the_run_after_the_retries_of_one_request() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # not listening: nobody else can, and whoever connects is refused
        port = taken.getsockname()[1]
        ledger = MemoryLedger()
        price = Price(input=1.0, output=2.0)
        model = served(f"http://127.0.0.1:{port}/v1", ledger, connections=4, retries=2, price=price)
        with pytest.raises(
            LeadlineError, match=rf"http://127.0.0.1:{port}/v1 cannot be reached: ConnectError"
        ):
            list(model.generate(requests(1000)))
        model.close()
    assert len(ledger.calls) <= 3 * 4
    assert {call.outcome for call in ledger.calls} == {"connection"}
    # Each attempt was one, and none of them reached anybody who could charge for it.
    assert ledger.used["requests"] == len(ledger.calls)
    assert ledger.used["tokens"] == ledger.used["money"] == 0


def test_a_server_that_breaks_down_ends_the_run_after_a_row_of_failures(tmp_path: Path) -> None:
    ledger, came = MemoryLedger(), []
    with serving(tmp_path / "log.jsonl", faults={"500": 1.0}) as server:
        model = served(server.url, ledger, connections=4, retries=0)
        with pytest.raises(LeadlineError, match="20 requests failed one after the other, the last: HTTP 500"):
            for outcome in model.generate(requests(1000)):
                came.append(outcome)
        model.close()
        assert len(server.lines("got")) == len(ledger.calls) < 30
    assert 20 <= len(came) == len(ledger.calls) and all(isinstance(each, Failure) for _, each in came)


def test_what_was_under_way_when_the_row_was_full_failed_for_good_as_well(tmp_path: Path) -> None:
    """Else a later run would ask again what the ledger says was refused."""
    ledger, came = MemoryLedger(), []
    with serving(tmp_path / "log.jsonl", faults={"400": 1.0}, delay=0.05) as server:
        model = served(server.url, ledger, connections=10)
        with pytest.raises(ProviderFailed, match="20 requests failed one after the other"):
            for outcome in model.generate(requests(100)):
                came.append(outcome)
        model.close()
    refused = sorted(at for at, each in came if isinstance(each, Failure) and each.kind == "bad_request")
    assert len(refused) == len(set(refused)) == len(ledger.calls) > 20


def test_a_request_that_is_too_long_or_wrong_fails_alone_and_is_sent_once(tmp_path: Path) -> None:
    with serving(tmp_path / "log.jsonl", seed=2, faults={"400": 0.1, "long": 0.1}) as server:
        model = served(server.url)
        came = list(model.generate(requests(60)))
        model.close()
        assert len(server.lines("got")) == 60
    failures = [each for _, each in came if isinstance(each, Failure)]
    assert {failure.kind for failure in failures} == {"bad_request", "too_long"}
    assert len(came) == 60 and len(failures) < 30


def test_a_server_that_asks_for_an_hour_is_not_waited_for(tmp_path: Path) -> None:
    with serving(tmp_path / "log.jsonl", faults={"429": 1.0}, retry_after="3600") as server:
        model = served(server.url)
        came = list(model.generate(requests(3)))
        model.close()
        assert len(server.lines("got")) == 3
    assert {each.kind for _, each in came if isinstance(each, Failure)} == {"rate_limited"}
    assert all("wants 3,600 s of patience" in each.message for _, each in came if isinstance(each, Failure))


def test_a_wait_that_the_server_asks_for_is_kept(tmp_path: Path) -> None:
    import time

    with serving(tmp_path / "log.jsonl", seed=1, faults={"429": 0.5}, retry_after="0.7") as server:
        model = served(server.url, connections=1, retries=20)
        started = time.monotonic()
        came = list(model.generate(requests(4)))
        took = time.monotonic() - started
        model.close()
        limited = sum(line["dealt"] == "429" for line in server.lines("got"))
    assert limited and all(isinstance(each, Generation) for _, each in came)
    # Requests that are limited in the same moment wait together; a pause for all of them is as long as one.
    assert took >= 0.7
