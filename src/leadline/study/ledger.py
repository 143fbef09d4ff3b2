"""What a study's requests to providers cost, over all its runs: a row for each, written before it is sent.

A request that is under way counts at the most that it can take, and so does one of a run that was killed, for
ever: the budget is never exceeded, whatever comes back.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from leadline.models.served import Price
from leadline.models.served.ledger import check_within
from leadline.study.seals import reseal
from leadline.study.served_entry import Budget
from leadline.study.store import Store

_OPEN = (
    "INSERT INTO calls (run, model, configuration, key, opened, requests, most_in, most_out, most_cost) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_CLOSE = (
    "UPDATE calls SET outcome = ?, tokens_in = ?, tokens_out = ?, cost = ?, answered_by = ?, "
    "fingerprint = ?, finish = ?, seconds = ?, cached = ?, requests = ? WHERE call = ?"
)
_RESEAL = reseal("calls", "call = ?")
_SPENT = (
    "SELECT COALESCE(SUM(requests), 0), COALESCE(SUM(COALESCE(tokens_in, most_in)), 0) "
    "+ COALESCE(SUM(COALESCE(tokens_out, most_out)), 0), COALESCE(SUM(COALESCE(cost, most_cost)), 0.0) "
    "FROM calls"
)


@dataclass(frozen=True)
class Spent:
    """What was taken of a budget: requests, tokens of prompts and answers together, money."""

    requests: int = 0
    tokens: int = 0
    money: float = 0.0

    def words(self, budget: Budget, *, with_money: bool = True) -> str:
        """Such as "1,203 of 10,000 requests, 40,112 tokens, 0.42 of 5.00"."""
        said = [
            f"{self.requests:,}{_of(budget.requests)} {_noun('request', budget.requests or self.requests)}",
            f"{self.tokens:,}{_of(budget.tokens)} {_noun('token', budget.tokens or self.tokens)}",
        ]
        if with_money:
            limit = f" of {money(budget.money)}" if budget.money is not None else ""
            said.append(f"{money(self.money)}{limit} spent")
        return ", ".join(said)


def _noun(one: str, number: int) -> str:
    return one if number == 1 else f"{one}s"


def _of(limit: int | None) -> str:
    return "" if limit is None else f" of {limit:,}"


def money(amount: float) -> str:
    """An amount in the budget's currency, with as many digits as tell a small one from nothing.

    >>> money(5), money(0.00031), money(0)
    ('5.00', '0.00031', '0.00')
    """
    return f"{amount:,.2f}" if amount == 0 or abs(amount) >= 0.1 else f"{amount:.2g}"


def spent(store: Store) -> Spent:
    """What all runs of the study took, what is not known at its most."""
    rows = store.select("calls", _SPENT)
    return Spent(*rows[0]) if rows else Spent()


@dataclass
class _Under:
    """A row that is open: what it counts."""

    requests: int
    tokens_in: int
    tokens_out: int
    cost: float


class StudyLedger:
    """One model's ledger in one run, as `models.served.Ledger`; the budget is that of the whole study."""

    def __init__(
        self,
        store: Store,
        run: int,
        model: str,
        budget: Budget,
        watch: Callable[[], None] = lambda: None,
    ) -> None:
        """`watch` is called after each row that was closed."""
        self._store, self._run, self._model, self._budget, self._watch = store, run, model, budget, watch
        self._open: dict[int, _Under] = {}
        self.failed = 0  # attempts that brought no answer
        start = spent(store)
        self._used = {"requests": start.requests, "tokens": start.tokens, "money": start.money}

    @property
    def spent(self) -> Spent:
        """What all runs took so far, what is under way at its most."""
        return Spent(int(self._used["requests"]), int(self._used["tokens"]), float(self._used["money"]))

    @property
    def is_idle(self) -> bool:
        """Whether nothing is under way."""
        return not self._open

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
        budget = self._budget
        limits = {"requests": budget.requests, "tokens": budget.tokens, "money": budget.money}
        more = {"requests": requests, "tokens": tokens_in + tokens_out, "money": cost}
        check_within(limits, self._used, more)
        named = json.dumps(list(key), ensure_ascii=False).encode("utf-8", "backslashreplace").decode()
        asked = (self._run, self._model, self._store.asking, named)
        values = (*asked, self._store.now(), requests, tokens_in, tokens_out, cost)
        with self._store.transaction() as connection:
            row = int(connection.execute(_OPEN, values).lastrowid or 0)
            connection.execute(_RESEAL, (row,))
        self._open[row] = _Under(requests, tokens_in, tokens_out, cost)
        self._count(requests, tokens_in + tokens_out, cost)
        return row

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
        before = self._open.pop(row)
        if cached:
            tokens_in, tokens_out, cost, requests = 0, 0, 0.0, 0
        else:
            requests = before.requests
        told = (outcome, tokens_in, tokens_out, cost, model, fingerprint, finish, seconds, cached)
        with self._store.transaction() as connection:
            connection.execute(_CLOSE, (*told, requests, row))
            connection.execute(_RESEAL, (row,))
        self._count(
            requests - before.requests,
            (before.tokens_in if tokens_in is None else tokens_in)
            + (before.tokens_out if tokens_out is None else tokens_out)
            - before.tokens_in
            - before.tokens_out,
            (before.cost if cost is None else cost) - before.cost,
        )
        self.failed += outcome != "answer"
        self._watch()

    def _count(self, requests: int, tokens: int, cost: float) -> None:
        self._used["requests"] += requests
        self._used["tokens"] += tokens
        self._used["money"] += cost
