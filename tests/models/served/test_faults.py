"""A thousand requests to a server that fails in every way that servers do."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from leadline.engine import Failure, Generation, Request
from leadline.models.served import PASSING, MemoryLedger, Price
from tests.models.served.asks import requests, right_answer, served
from tests.models.served.fault_server import WHOLE, serving

NUMBER = 1000
FAULTS = {
    "429": 0.06,
    "500": 0.06,
    "503": 0.04,
    "hang": 0.01,
    "drop": 0.04,
    "drop_inside": 0.04,
    "malformed": 0.04,
    "html": 0.02,
    "no_choices": 0.02,
    "empty": 0.04,
    "length": 0.04,
    "content_filter": 0.02,
    "slow": 0.04,
}
# What a failed attempt is called in the ledger.
CALLED = {
    "429": "rate_limited",
    "500": "server_error",
    "503": "server_error",
    "hang": "timeout",
    "drop": "connection",
    "drop_inside": "connection",
    "malformed": "bad_response",
    "html": "bad_response",
    "no_choices": "bad_response",
}


@dataclass(frozen=True)
class Asked:
    requests: list[Request]
    outcomes: list[tuple[int, Generation | Failure]]
    ledger: MemoryLedger
    got: list[dict[str, Any]]
    sent: list[dict[str, Any]]

    @property
    def answers(self) -> dict[int, Generation]:
        return {at: each for at, each in self.outcomes if isinstance(each, Generation)}

    @property
    def failures(self) -> dict[int, Failure]:
        return {at: each for at, each in self.outcomes if isinstance(each, Failure)}


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    log = tmp_path_factory.mktemp("faults") / "log.jsonl"
    ledger, price = MemoryLedger(), Price(input=1.0, output=2.0)
    with serving(log, seed=3, faults=FAULTS, delay=0.005, retry_after="0.1") as server:
        # So few retries that some requests are given up.
        model = served(server.url, ledger, connections=32, timeout=5.0, retries=3, price=price)
        asked = requests(NUMBER)
        outcomes = list(model.generate(asked))
        model.close()
        return Asked(asked, outcomes, ledger, server.lines("got"), server.lines("sent"))


def test_every_request_has_one_outcome(asked: Asked) -> None:
    assert Counter(at for at, _ in asked.outcomes) == Counter(range(NUMBER))


def test_every_fault_was_dealt(asked: Asked) -> None:
    assert set(FAULTS) <= {line["dealt"] for line in asked.got}


def test_each_answer_is_that_of_its_own_question_and_sample(asked: Asked) -> None:
    for at, answer in asked.answers.items():
        assert answer.text in ("", right_answer(asked.requests[at]))


def test_nothing_that_was_answered_is_asked_again(asked: Asked) -> None:
    whole = Counter(line["key"] for line in asked.sent)
    assert set(whole.values()) == {1}
    assert len(whole) == len(asked.answers)
    assert all(line["dealt"] in WHOLE for line in asked.sent)


def test_empty_cut_off_and_filtered_answers_are_told_apart(asked: Asked) -> None:
    dealt = Counter(line["dealt"] for line in asked.sent)
    answers = asked.answers.values()
    assert sum(not answer.text for answer in answers) == dealt["empty"]
    finishes = Counter(answer.finish for answer in answers)
    assert finishes["length"] == dealt["length"]
    assert finishes["content_filter"] == dealt["content_filter"]
    assert finishes["stop"] == dealt["good"] + dealt["empty"] + dealt["slow"]


def test_the_ledger_has_a_row_for_each_request_that_the_server_got(asked: Asked) -> None:
    assert len(asked.ledger.calls) == len(asked.got) == asked.ledger.used["requests"]
    dealt = Counter(CALLED.get(line["dealt"], "answer") for line in asked.got)
    assert Counter(call.outcome for call in asked.ledger.calls) == dealt


def test_tokens_and_money_are_those_that_the_server_told(asked: Asked) -> None:
    answered = [call for call in asked.ledger.calls if call.outcome == "answer"]
    tokens_in = sum(line["usage"]["prompt_tokens"] for line in asked.sent)
    tokens_out = sum(line["usage"]["completion_tokens"] for line in asked.sent)
    assert sum(call.tokens_in for call in answered) == tokens_in
    assert sum(call.tokens_out for call in answered) == tokens_out
    assert sum(call.cost for call in answered) == pytest.approx((tokens_in + 2 * tokens_out) / 1e6)
    assert sum(answer.tokens_out for answer in asked.answers.values()) == tokens_out


def test_what_a_broken_call_cost_is_not_known_so_its_worst_case_counts(asked: Asked) -> None:
    for call in asked.ledger.calls:
        if call.outcome in ("timeout", "connection", "bad_response"):
            assert call.tokens_out == 32 and call.tokens_in > 32
        elif call.outcome in ("rate_limited", "server_error"):
            assert call.tokens_in == call.tokens_out == 0


def test_the_ledger_says_which_model_answered(asked: Asked) -> None:
    answered = [call for call in asked.ledger.calls if call.outcome == "answer"]
    assert {(call.model, call.fingerprint) for call in answered} == {("m-2026", "fp_1")}


def test_requests_are_given_up_after_the_retries_that_were_allowed(asked: Asked) -> None:
    assert asked.failures, "with so few retries some must fail"
    tries = Counter(line["key"] for line in asked.got)
    assert max(tries.values()) == 4
    for failure in asked.failures.values():
        assert failure.kind in PASSING
        assert failure.message.endswith("(4 attempts)")


def test_what_failed_is_answered_when_it_is_asked_again(asked: Asked, tmp_path: Path) -> None:
    again = [asked.requests[at] for at in asked.failures]
    with serving(tmp_path / "log.jsonl") as server:
        model = served(server.url)
        answers = dict(model.generate(again))
        model.close()
    assert {at: answer.text for at, answer in answers.items() if isinstance(answer, Generation)} == {
        at: right_answer(request) for at, request in enumerate(again)
    }
