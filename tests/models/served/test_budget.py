"""The budget holds to the request, whatever is in flight."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from leadline.engine import Failure, Generation, Prompt
from leadline.models.served import BudgetExhausted, MemoryLedger, Price
from leadline.models.served.worst_case import PromptBound
from tests.models.served.asks import requests, served
from tests.models.served.fault_server import Running, serving
from tests.study.provider import provider, say


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Running]:
    with serving(tmp_path / "log.jsonl", seed=5, faults={"500": 0.2, "drop": 0.1}, delay=0.01) as running:
        yield running


def collected(
    server: Running, ledger: MemoryLedger, **settings: object
) -> list[tuple[int, Generation | Failure]]:
    """Ask 300 requests with 32 connections: what came before the budget was used up."""
    model = served(server.url, ledger, connections=32, **settings)
    came = []
    with pytest.raises(BudgetExhausted):
        for each in model.generate(requests(300)):
            came.append(each)
    model.close()
    return came


def test_not_one_request_more_is_sent_and_no_answer_is_lost(server: Running) -> None:
    ledger = MemoryLedger(requests=100)
    came = collected(server, ledger)
    assert len(server.lines("got")) == len(ledger.calls) == ledger.used["requests"] == 100
    answers = [each for _, each in came if isinstance(each, Generation)]
    assert len(answers) == len(server.lines("sent"))
    assert all(call.outcome is not None for call in ledger.calls)


def test_the_error_says_what_was_used(server: Running) -> None:
    model = served(server.url, MemoryLedger(requests=3))
    with pytest.raises(BudgetExhausted, match="the budget of requests is used up: 3 of 3") as stopped:
        list(model.generate(requests(10)))
    model.close()
    assert (stopped.value.exit_code, stopped.value.resource) == (3, "requests")


def test_tokens_never_exceed_the_budget_and_are_used_to_the_last_request_that_fits(server: Running) -> None:
    ledger = MemoryLedger(tokens=3000)
    collected(server, ledger)
    # The most that one request can take here: 10 bytes and what is laid around them, and 32 tokens of answer.
    assert 3000 - 130 < ledger.used["tokens"] <= 3000


def test_money_never_exceeds_the_budget(server: Running) -> None:
    ledger = MemoryLedger(money=0.002)
    collected(server, ledger, price=Price(input=1.0, output=2.0))
    assert 0.0018 < ledger.used["money"] <= 0.002


@pytest.mark.parametrize("usage", [(-500, -3), (-500, 3), (10, -3), (None, 3), (2.5, 3)])
def test_usage_that_cannot_be_one_credits_nothing_and_costs_no_answer(usage: tuple[Any, Any]) -> None:
    ledger = MemoryLedger(tokens=400)
    with provider(say("a b", usage=usage)) as house:
        model = served(house.url, ledger, connections=1, price=Price(input=1.0, output=2.0))
        came = []
        with pytest.raises(BudgetExhausted):
            for _, each in model.generate(requests(20)):
                came.append(each)
        model.close()
        assert [each.text for each in came if isinstance(each, Generation)] == ["a b"] * len(house.requests)
    # 10 bytes, 80 tokens that may lie around them, and an answer of 32, unless one of the two is told.
    assert 2 <= len(came) <= 4 and all(call.tokens_in >= 0 <= call.tokens_out for call in ledger.calls)
    assert all(call.cost > 0 for call in ledger.calls)


def test_a_prompt_that_the_provider_counts_higher_raises_later_bounds() -> None:
    bound, prompt = PromptBound(), Prompt(messages=(("user", "hello"),))
    first = bound.of(prompt)
    bound.learn(prompt, first + 500)  # a long system message that the provider adds
    assert bound.of(prompt) == first + 500
    bound.learn(prompt, 3)
    assert bound.of(prompt) == first + 500
