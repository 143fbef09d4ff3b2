"""What a study wants of a configuration, what of it is there, and what is to be asked."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from leadline.models.model import ModelIdentity
from leadline.models.served import LASTING
from leadline.study.configuration import Configuration
from leadline.study.judging import judged
from leadline.study.rehearsal import draws
from leadline.study.set_aside import empty_answers
from leadline.study.store import Key, Store
from leadline.study.study import Study
from leadline.techniques.conversation import Job

SERVED = "served"


@dataclass(frozen=True)
class Wanted:
    """`jobs` are to be asked, `again` those of them that replace an empty answer.

    `there` of `total` answers are stored and stay. `given_up`, by kind of failure, failed for good in an
    earlier run and are not asked again. `unchanging`: empty answers that would come out the same.
    """

    total: int
    there: int
    jobs: dict[Key, Job]
    again: frozenset[Key] = frozenset()
    given_up: Counter[str] = field(default_factory=Counter)
    unchanging: int = 0


def wanted(
    study: Study,
    store: Store,
    identity: ModelIdentity,
    configuration: Configuration,
    *,
    retry_failed: bool = False,
    refill_empty: bool = False,
) -> Wanted:
    """What is to be asked of a model under one configuration."""
    identifier = study.configuration_id(configuration, identity)
    items = list(study.benchmark.items)
    if configuration.failures_only:
        failures = baseline_failures(study, store, identity)
        items = [item for item in items if item.id in failures]
    everything = {
        Key(item.id, study.asked(item), sample): Job(study.question(item), sample)
        for item in items
        for sample in range(configuration.samples)
    }
    answered = store.answered(identifier)
    jobs = {key: job for key, job in everything.items() if key not in answered}
    missing = len(jobs)
    given_up: Counter[str] = Counter()
    if identity.kind == SERVED and not retry_failed:
        for key, kind in store.failures(identifier).items():
            if kind in LASTING and jobs.pop(key, None) is not None:
                given_up[kind] += 1
    again: dict[Key, Job] = {}
    unchanging = 0
    if refill_empty:
        empty = {
            key: times for key, times in empty_answers(study, store, identifier).items() if key in everything
        }
        if identity.kind == SERVED or draws(configuration.technique, study.prompts):
            again = {
                key: Job(everything[key].question, key.sample, times + 1) for key, times in empty.items()
            }
        else:
            unchanging = len(empty)
    return Wanted(
        total=len(everything),
        there=len(everything) - missing - len(again),
        jobs=jobs | again,
        again=frozenset(again),
        given_up=given_up,
        unchanging=unchanging,
    )


def baseline_failures(study: Study, store: Store, model: ModelIdentity) -> set[str]:
    """Items that the baseline answered wrongly."""
    baseline = next(each for each in study.configurations if each.role == "baseline")
    items = study.benchmark.by_id
    wrong = set()
    for response in store.responses(study.configuration_id(baseline, model)):
        item = items.get(response.key.item)
        if item is None or response.key.asked != study.asked(item):
            continue
        if not judged(study, item, response.text, response.finish).correct:
            wrong.add(item.id)
    return wrong
