"""What requests to a provider may cost, and what they did: a row for each, written before it is sent.

A request that is under way counts at the most it can cost. So the budget holds whatever comes back, and also
if nothing does because the process was killed: its rows stay open, and stay counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from leadline.errors import LeadlineError
from leadline.models.served.settings import Price


class BudgetExhausted(LeadlineError):  # noqa: N818  # spending all of it is no error
    """One more request could exceed the budget. `what`: "requests", "tokens" or "money"."""

    def __init__(self, what: str, used: float, limit: float, *, where: str | None = None) -> None:
        """`used`: what closed requests took, and what open ones may take at most."""
        self.resource, self.used, self.limit = what, used, limit
        shown = f"{used:,.2f} of {limit:,.2f}" if what == "money" else f"{used:,.0f} of {limit:,.0f}"
        super().__init__(
            f"the budget of {what} is used up: {shown}",
            where=where,
            fix=f"raise budget: {what} in study.yaml and run again",
        )


def check_within(
    limits: Mapping[str, float | None], used: Mapping[str, float], more: Mapping[str, float]
) -> None:
    """Raise BudgetExhausted where `more` on top of what is used is over a limit; None stands for no limit."""
    for what, limit in limits.items():
        if limit is not None and more[what] and used[what] + more[what] > limit:
            raise BudgetExhausted(what, used[what], limit)


class Ledger(Protocol):
    """A store of calls. Called from one thread, the one that asks."""

    def open(
        self,
        key: tuple[int | str, ...],
        *,
        requests: int,
        tokens_in: int,
        tokens_out: int,
        price: Price | None,
    ) -> int:
        """Write down a request that is about to be sent, and give its row's number.

        `key` is the request's; `tokens_in` and `tokens_out` are the most it can take. Raises BudgetExhausted,
        and writes nothing, if it could exceed the budget, all open rows at their worst.
        """

    def close(
        self,
        row: int,
        *,
        outcome: str,
        tokens_in: int | None = None,
        tokens_out: int | None = None,
        cost: float | None = None,
        model: str | None = None,
        fingerprint: str | None = None,
        finish: str | None = None,
        seconds: float = 0.0,
        cached: bool = False,
    ) -> None:
        """Write down how it ended. `outcome`: "answer", "cancelled" or a failure's kind. None for tokens or
        cost: the provider did not say, and the worst case stays counted. `cached`: the answer was there, no
        request was sent."""


@dataclass
class Call:
    """One row of a `MemoryLedger`."""

    key: tuple[int | str, ...]
    requests: int
    tokens_in: int
    tokens_out: int
    cost: float
    outcome: str | None = None  # None while it is open
    model: str | None = None
    fingerprint: str | None = None
    finish: str | None = None
    seconds: float = 0.0


@dataclass
class MemoryLedger:
    """A ledger that is kept in memory; None stands for no limit.

    >>> ledger = MemoryLedger(requests=1)
    >>> row = ledger.open(("a", 1), requests=1, tokens_in=9, tokens_out=9, price=None)
    >>> ledger.open(("a", 2), requests=1, tokens_in=9, tokens_out=9, price=None)
    Traceback (most recent call last):
    leadline.models.served.ledger.BudgetExhausted: the budget of requests is used up: 1 of 1 ...
    """

    requests: int | None = None
    tokens: int | None = None
    money: float | None = None
    calls: list[Call] = field(default_factory=list)
    used: dict[str, float] = field(default_factory=lambda: {"requests": 0, "tokens": 0, "money": 0.0})

    def open(
        self,
        key: tuple[int | str, ...],
        *,
        requests: int,
        tokens_in: int,
        tokens_out: int,
        price: Price | None,
    ) -> int:
        """As `Ledger.open`."""
        cost = price.of(tokens_in, tokens_out) if price else 0.0
        limits = {"requests": self.requests, "tokens": self.tokens, "money": self.money}
        check_within(
            limits, self.used, {"requests": requests, "tokens": tokens_in + tokens_out, "money": cost}
        )
        self._count(requests, tokens_in + tokens_out, cost)
        self.calls.append(Call(key, requests, tokens_in, tokens_out, cost))
        return len(self.calls) - 1

    def close(
        self,
        row: int,
        *,
        outcome: str,
        tokens_in: int | None = None,
        tokens_out: int | None = None,
        cost: float | None = None,
        model: str | None = None,
        fingerprint: str | None = None,
        finish: str | None = None,
        seconds: float = 0.0,
        cached: bool = False,
    ) -> None:
        """As `Ledger.close`."""
        call = self.calls[row]
        before = call.requests, call.tokens_in + call.tokens_out, call.cost
        call.outcome, call.model, call.fingerprint = outcome, model, fingerprint
        call.finish, call.seconds = finish, seconds
        call.tokens_in = call.tokens_in if tokens_in is None else tokens_in
        call.tokens_out = call.tokens_out if tokens_out is None else tokens_out
        call.cost = call.cost if cost is None else cost
        if cached:
            call.requests = call.tokens_in = call.tokens_out = 0
            call.cost = 0.0
        self._count(
            call.requests - before[0], call.tokens_in + call.tokens_out - before[1], call.cost - before[2]
        )

    def _count(self, requests: int, tokens: int, cost: float) -> None:
        self.used["requests"] += requests
        self.used["tokens"] += tokens
        self.used["money"] += cost
