"""What a study has still to ask of models behind an API, and what it may cost, told before or after a run."""

from __future__ import annotations

from dataclasses import dataclass

from leadline.models.model import ModelIdentity
from leadline.study.asking import counted
from leadline.study.ledger import Spent, money, spent
from leadline.study.served_entry import ServedEntry
from leadline.study.store import Store
from leadline.study.study import Study
from leadline.study.wanted import wanted


@dataclass(frozen=True)
class Left:
    """How many answers are still to ask of served models, and, by what those that are there took, what they
    will take; None where nothing was answered yet.

    `at_least` says that more may follow: what is asked of the baseline's failures alone is not known before
    the baseline was asked.
    """

    answers: int
    at_least: bool
    expected: Spent | None
    has_price: bool

    @property
    def words(self) -> str:
        """Such as "at least 120 answers are left to ask, about 130 requests, 44,000 tokens and 0.31"."""
        number = "1 answer is" if self.answers == 1 else f"{self.answers:,} answers are"
        said = f"{'at least ' if self.at_least else ''}{number} left to ask"
        if self.expected is None or not self.answers:
            return said
        cost = f" and {money(self.expected.money)} more" if self.has_price else ""
        return (
            f"{said}, which by what it took so far is about {counted(self.expected.requests, 'request')}, "
            f"{counted(self.expected.tokens, 'token')}{cost}"
        )


def left_to_ask(study: Study, store: Store) -> Left:
    """What is left of the study's served models, as they were when they were last asked."""
    identities = store.models()
    there = answers = 0
    at_least = False
    prices = []
    for entry in study.config.models:
        if not isinstance(entry, ServedEntry):
            continue
        prices.append(entry.price is not None)
        identity = identities.get(entry.label)
        if identity is None:  # not asked anything yet
            everywhere = [one for one in study.configurations if not one.failures_only]
            answers += sum(one.samples for one in everywhere) * len(study.benchmark.items)
            at_least |= len(everywhere) < len(study.configurations)
            continue
        stored, missing, unsure = _of_model(study, store, identity)
        there, answers, at_least = there + stored, answers + missing, at_least or unsure
    so_far = spent(store)
    expected = None
    if there:
        share = answers / there
        expected = Spent(round(so_far.requests * share), round(so_far.tokens * share), so_far.money * share)
    return Left(answers, at_least, expected, all(prices) and bool(prices))


def _of_model(study: Study, store: Store, identity: ModelIdentity) -> tuple[int, int, bool]:
    """Answers that are there and that are missing; whether the baseline lacks some: then more may follow."""
    there = missing = 0
    unsure = False
    for one in study.configurations:
        todo = wanted(study, store, identity, one)
        there += todo.there
        missing += len(todo.jobs)
        if one.role == "baseline" and todo.jobs:
            unsure = any(each.failures_only for each in study.configurations)
    return there, missing, unsure
