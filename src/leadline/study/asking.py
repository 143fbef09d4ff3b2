"""Asks one model under one configuration what is missing, and stores what comes, as it comes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from leadline.errors import LeadlineError
from leadline.models.memory import is_out_of_memory
from leadline.models.model import Model, ModelIdentity
from leadline.study.changes import changed_code, code, code_key, settle
from leadline.study.config import AnyModel
from leadline.study.configuration import Configuration
from leadline.study.prepare import prepare
from leadline.study.progress import Reporter
from leadline.study.rehearsal import requests_of
from leadline.study.served_entry import ServedEntry
from leadline.study.shelf import Asked, Shelf
from leadline.study.store import Store
from leadline.study.study import Study
from leadline.study.wanted import Wanted, wanted
from leadline.techniques.conversation import converse
from leadline.techniques.prepared import AS_IT_IS

# Of a technique of several stages, so many conversations for each request in flight are held at once. More
# would lose more of them to a sudden end; fewer would wait more often for the slowest.
_IN_HAND = 64


@dataclass(frozen=True)
class RunSettings:
    """What a run is told beside the study. `run` is its number in the store."""

    run: int
    accept_changes: bool = False
    retry_failed: bool = False
    refill_empty: bool = False


def counted(number: int, noun: str) -> str:
    """ "1 answer", "2 answers"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def calls_failed(number: int) -> str:
    """ "1 call failed", "2 calls failed"."""
    return f"{counted(number, 'call')} failed"


@dataclass
class Asking:
    """One configuration of one model, being asked: what is wanted, and the shelf that takes what comes.
    There is no shelf where nothing is to be asked."""

    called: str
    todo: Wanted
    reporter: Reporter
    shelf: Shelf | None = None

    def close(self) -> None:
        """Nothing more will come."""
        self.reporter.end()
        if self.shelf is not None and self.shelf.first is not None:
            failed = self.shelf.failed
            kinds = f" ({_counted(failed)})" if self.shelf.at_once else ""
            self.reporter.note(
                f"{self.called}: {calls_failed(failed.total())}{kinds}, the first: {self.shelf.first.message}"
            )


def begin_asking(
    study: Study,
    store: Store,
    identity: ModelIdentity,
    configuration: Configuration,
    *,
    entry: AnyModel,
    settings: RunSettings,
    reporter: Reporter,
    found: Asked,
) -> Asking:
    """Find out what a configuration lacks. `found` counts what is there, and later what comes.

    Raises UsageError where answers would be drawn by other code than earlier ones.
    """
    called = f"{entry.label} · {configuration.label}"
    identifier = study.configuration_id(configuration, identity)
    store.set_configuration(identifier, study.described(configuration, identity))
    store.asking = identifier
    todo = wanted(
        study,
        store,
        identity,
        configuration,
        retry_failed=settings.retry_failed,
        refill_empty=settings.refill_empty,
    )
    found.kept += todo.there
    found.given_up += todo.given_up
    reporter.begin(called, todo.total, todo.there)
    _tell_of_rest(todo, called, reporter)
    asking = Asking(called, todo, reporter)
    if todo.jobs:
        # Only now: a study that lacks nothing may be looked at with any code.
        is_served = isinstance(entry, ServedEntry)
        settle(changed_code(store, is_served), study, store, settings.run, settings.accept_changes)
        store.note_run(settings.run, {code_key(is_served): code(is_served)})
        asking.shelf = Shelf(store, identifier, settings.run, todo, reporter, found, is_served)
    return asking


def ask(
    study: Study,
    store: Store,
    model: Model,
    configuration: Configuration,
    *,
    entry: AnyModel,
    settings: RunSettings,
    reporter: Reporter,
    found: Asked,
) -> None:
    """Ask what is missing under one configuration; `found` counts what came, whatever ends the asking."""
    asking = begin_asking(
        study,
        store,
        model.identity,
        configuration,
        entry=entry,
        settings=settings,
        reporter=reporter,
        found=found,
    )
    if asking.shelf is not None:
        with memory_told(asking.called):
            _converse(study, model, configuration, entry, reporter, asking.todo, asking.shelf)
    asking.close()


@contextmanager
def memory_told(called: str) -> Iterator[None]:
    """Within it `called` is asked: where memory runs out, one line says so."""
    try:
        yield
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        fix = "lower batch_rows in study.yaml"
        raise LeadlineError("out of memory", where=called, fix=fix) from error


def _converse(
    study: Study,
    model: Model,
    configuration: Configuration,
    entry: AnyModel,
    reporter: Reporter,
    todo: Wanted,
    shelf: Shelf,
) -> None:
    technique, prepared = configuration.technique, AS_IT_IS
    keys = {(key.item, key.sample): key for key in todo.jobs}
    jobs = list(todo.jobs.values())
    size = study.config.batch_rows
    if isinstance(entry, ServedEntry):
        # Each batch ends in waiting for its slowest answer.
        several = len(requests_of(technique, study.prompts)) > 1
        size = max(size, _IN_HAND * entry.connections) if several else max(1, len(jobs))
    else:
        prepared = prepare(study, model, entry, technique, reporter)
    for start in range(0, len(jobs), size):
        batch = jobs[start : start + size]
        with shelf:
            for job, answer in converse(
                technique, batch, study.prompts, model.generate, prepared, merge=not shelf.at_once
            ):
                shelf.put(keys[job.question.item, job.sample], answer)


def _tell_of_rest(todo: Wanted, called: str, reporter: Reporter) -> None:
    """What is missing and is not asked."""
    if todo.given_up:
        number = todo.given_up.total()
        reporter.note(
            f"{called}: {calls_failed(number)} for good in earlier runs ({_counted(todo.given_up)}) and "
            f"{'is' if number == 1 else 'are'} not asked again (--retry-failed asks "
            f"{'it' if number == 1 else 'them'})"
        )
    if todo.unchanging:
        reporter.note(
            f"{called}: {counted(todo.unchanging, 'empty answer')} "
            f"{'is' if todo.unchanging == 1 else 'are'} not asked again, for nothing in them is drawn: "
            "they would come out the same"
        )


def _counted(kinds: Counter[str]) -> str:
    return ", ".join(f"{kind} {number:,}" for kind, number in sorted(kinds.items()))
