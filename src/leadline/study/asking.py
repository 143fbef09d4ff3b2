"""Asks one model under one configuration what is missing, and stores what comes, as it comes."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from types import TracebackType

from leadline.engine import Failure
from leadline.errors import LeadlineError
from leadline.models.model import Model
from leadline.models.served import LASTING
from leadline.study.changes import changed_code, code, code_key, settle
from leadline.study.config import AnyModel
from leadline.study.configuration import Configuration
from leadline.study.prepare import prepare
from leadline.study.progress import Reporter
from leadline.study.rehearsal import requests_of
from leadline.study.served_entry import ServedEntry
from leadline.study.store import Key, Store
from leadline.study.study import Study
from leadline.study.wanted import Wanted, wanted
from leadline.techniques import Answer
from leadline.techniques.conversation import converse
from leadline.techniques.prepared import AS_IT_IS

# Answers wait this long at most before they are stored: what a sudden end can lose.
_FLUSH_SECONDS = 1.0
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


@dataclass
class Asked:
    """What became of asking: answers drawn, those that were there, calls that failed, by kind, now and (for
    good) in earlier runs; and answers that took the place of empty ones."""

    drawn: int = 0
    kept: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    given_up: Counter[str] = field(default_factory=Counter)
    refilled: int = 0
    lasting: int = 0


def counted(number: int, noun: str) -> str:
    """ "1 answer", "2 answers"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def calls_failed(number: int) -> str:
    """ "1 call failed", "2 calls failed"."""
    return f"{counted(number, 'call')} failed"


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
    called = f"{entry.label} · {configuration.label}"
    identifier = study.configuration_id(configuration, model.identity)
    store.set_configuration(identifier, study.described(configuration, model.identity))
    store.asking = identifier
    todo = wanted(
        study,
        store,
        model.identity,
        configuration,
        retry_failed=settings.retry_failed,
        refill_empty=settings.refill_empty,
    )
    found.kept += todo.there
    found.given_up += todo.given_up
    reporter.begin(called, todo.total, todo.there)
    _tell_of_rest(todo, called, reporter)
    shelf = None
    if todo.jobs:
        # Only now: a study that lacks nothing may be looked at with any code.
        is_served = isinstance(entry, ServedEntry)
        settle(changed_code(store, is_served), study, store, settings.run, settings.accept_changes)
        store.note_run(settings.run, {code_key(is_served): code(is_served)})
        shelf = _Shelf(store, identifier, settings.run, todo, reporter, found, is_served)
        try:
            _converse(study, model, configuration, entry, reporter, todo, shelf)
        except MemoryError as error:
            fix = "lower batch_rows in study.yaml"
            raise LeadlineError("out of memory", where=called, fix=fix) from error
    reporter.end()
    if shelf is not None and shelf.first is not None:
        kinds = f" ({_counted(shelf.failed)})" if shelf.at_once else ""
        reporter.note(
            f"{called}: {calls_failed(shelf.failed.total())}{kinds}, the first: {shelf.first.message}"
        )


def _converse(
    study: Study,
    model: Model,
    configuration: Configuration,
    entry: AnyModel,
    reporter: Reporter,
    todo: Wanted,
    shelf: _Shelf,
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


@dataclass
class _Shelf:
    """Takes what comes, and stores it: what a provider was paid for at once, else about once a second.

    What is in hand when a batch ends is stored, whatever ends it.
    """

    store: Store
    identifier: str
    run: int
    todo: Wanted
    reporter: Reporter
    found: Asked
    at_once: bool
    ready: list[tuple[Key, Answer]] = field(default_factory=list)
    failed: Counter[str] = field(default_factory=Counter)
    first: Failure | None = None
    flushed: float = 0.0

    def __enter__(self) -> None:
        self.flushed = time.monotonic()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            # An interrupt may have come after storing a part of it and before forgetting that part.
            there = self.store.answered(self.identifier, self.run)
            self.ready = [pair for pair in self.ready if pair[0] not in there]
        self._flush()

    def put(self, key: Key, answer: Answer | Failure) -> None:
        """Take an answer, or note that there is none."""
        if isinstance(answer, Failure):
            self.store.add_failure(self.identifier, self.run, key, answer.kind, answer.message)
            self.first = self.first or answer
            self.failed[answer.kind] += 1
            self.found.failed[answer.kind] += 1
            # What a provider refused it would refuse again; what failed here is tried again in any case.
            self.found.lasting += self.at_once and answer.kind in LASTING
            return
        self.ready.append((key, answer))
        if self.at_once or time.monotonic() - self.flushed >= _FLUSH_SECONDS:
            self._flush()
            self.flushed = time.monotonic()

    def _flush(self) -> None:
        if not self.ready:
            return
        again = [pair for pair in self.ready if pair[0] in self.todo.again]
        self.store.add(
            self.identifier, self.run, [pair for pair in self.ready if pair[0] not in self.todo.again]
        )
        self.store.add_again(self.identifier, self.run, again)
        self.found.drawn += len(self.ready)
        self.found.refilled += len(again)
        self.reporter.advance(len(self.ready), sum(answer.tokens_out for _, answer in self.ready))
        self.ready.clear()


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
