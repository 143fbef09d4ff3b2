"""What a run would ask and what it may cost, without asking anything: `leadline run --dry-run`.

Prompts are rendered and counted at four characters a token, which is roughly what tokenizers make of English
text; answers are counted at their longest. Further attempts after failures come on top.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from leadline.errors import UsageError
from leadline.models.model import ModelIdentity
from leadline.models.served import MemoryLedger, ServedModel
from leadline.study.config import AnyModel
from leadline.study.configuration import Configuration
from leadline.study.database import NoAnswersError
from leadline.study.ledger import Spent, spent
from leadline.study.model_loading import with_line
from leadline.study.rehearsal import requests_of, shown
from leadline.study.served_entry import ServedEntry
from leadline.study.store import Store, open_store
from leadline.study.study import Study
from leadline.study.wanted import wanted

CHARACTERS = 4  # of a token, roughly


@dataclass(frozen=True)
class Line:
    """What one configuration would ask. `money` is None where there is no price, and for models of this
    machine. `at_most`: it asks only what the baseline fails on, which is not known yet."""

    model: str
    configuration: str
    served: bool
    answers: int
    requests: int
    prompt_tokens: int
    generated_tokens: int
    money: float | None
    at_most: bool


@dataclass(frozen=True)
class Estimate:
    """The lines of a study, and what its runs took so far."""

    lines: tuple[Line, ...]
    so_far: Spent

    @property
    def total(self) -> Spent:
        """What the served models would take, answers at their longest."""
        served = [line for line in self.lines if line.served]
        return Spent(
            sum(line.requests for line in served),
            sum(line.prompt_tokens + line.generated_tokens for line in served),
            sum(line.money or 0.0 for line in served),
        )

    def exceeded(self, study: Study) -> list[str]:
        """The parts of the budget that asking all of it could exceed."""
        budget, more, used = study.config.budget, self.total, self.so_far
        return [
            name
            for name in ("requests", "tokens", "money")
            if (limit := getattr(budget, name)) is not None
            and 0 < getattr(more, name) > limit - getattr(used, name)
        ]


def estimate(study: Study, *, retry_failed: bool = False, refill_empty: bool = False) -> Estimate:
    """What a run would ask. Raises UsageError where a served model cannot be asked: no key, say."""
    lines = []
    with _store(study) as store:
        for entry in study.config.models:
            identity = _identity(study, entry, store)
            for one in study.configurations:
                chosen, at_most = _jobs(study, store, identity, one, retry_failed, refill_empty)
                lines.append(_line(study, entry, one, chosen, at_most))
        return Estimate(tuple(lines), spent(store) if store else Spent())


@contextmanager
def _store(study: Study) -> Iterator[Store | None]:
    with ExitStack() as stack:
        try:
            store = stack.enter_context(open_store(study.folder, write=False))
        except NoAnswersError:
            store = None
        yield store


def _identity(study: Study, entry: AnyModel, store: Store | None) -> ModelIdentity | None:
    """Who would be asked; of a model on this machine, who was asked last."""
    if isinstance(entry, ServedEntry):
        try:
            model = ServedModel(entry, MemoryLedger())
        except UsageError as error:
            raise with_line(study, entry, error) from error
        model.close()
        return model.identity
    return store.models().get(entry.label) if store else None


def _jobs(
    study: Study,
    store: Store | None,
    identity: ModelIdentity | None,
    one: Configuration,
    retry_failed: bool,
    refill_empty: bool,
) -> tuple[Counter[str], bool]:
    """How many answers would be asked of each item, and whether some of them may not be."""
    everything = Counter({item.id: one.samples for item in study.benchmark.items})
    if store is None or identity is None:
        return everything, one.failures_only
    todo = wanted(study, store, identity, one, retry_failed=retry_failed, refill_empty=refill_empty)
    chosen = Counter(key.item for key in todo.jobs)
    if not one.failures_only:
        return chosen, False
    baseline = next(each for each in study.configurations if each.role == "baseline")
    if not wanted(study, store, identity, baseline).jobs:
        return chosen, False
    known = {key.item for key in store.answered(study.configuration_id(baseline, identity))}
    chosen.update({item: one.samples for item in everything if item not in known})
    return chosen, True


def _line(study: Study, entry: AnyModel, one: Configuration, chosen: Counter[str], at_most: bool) -> Line:
    requests = characters = generated = 0
    items = study.benchmark.by_id
    for item, number in chosen.items():
        stages = requests_of(one.technique, study.prompts, study.question(items[item]), None)
        requests += number * len(stages)
        characters += number * sum(len(text) for _, request in stages for text in shown(request))
        generated += number * sum(request.sampling.max_tokens for _, request in stages)
    prompt_tokens = -(-characters // CHARACTERS)
    price = entry.price if isinstance(entry, ServedEntry) else None
    return Line(
        model=entry.label,
        configuration=one.label,
        served=isinstance(entry, ServedEntry),
        answers=chosen.total(),
        requests=requests,
        prompt_tokens=prompt_tokens,
        generated_tokens=generated,
        money=price.of(prompt_tokens, generated) if price else None,
        at_most=at_most,
    )
