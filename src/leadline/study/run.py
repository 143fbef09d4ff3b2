"""Runs a study: asks each model, under each configuration, what has not been answered yet."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from leadline.engine import Failure
from leadline.errors import LeadlineError, UsageError
from leadline.models.model import Model, ModelIdentity
from leadline.study.changes import changed_code, changed_items, changed_model, code, noted, settle
from leadline.study.config import ModelEntry
from leadline.study.config_file import where_in
from leadline.study.configuration import Configuration
from leadline.study.environment import environment
from leadline.study.lock import locked
from leadline.study.manifest import write_manifest
from leadline.study.prepare import prepare
from leadline.study.progress import Reporter
from leadline.study.readings import check_readable, judged
from leadline.study.store import Key, Store, open_store
from leadline.study.study import Study
from leadline.techniques import Answer
from leadline.techniques.conversation import Job, converse

# Answers wait this long at most before they are stored: what a sudden end can lose.
_FLUSH_SECONDS = 1.0

LoadModel = Callable[[Study, ModelEntry, Reporter], Model]


@dataclass(frozen=True)
class Outcome:
    """What a run did: answers that it drew, those that were there before, and calls that failed."""

    drawn: int
    kept: int
    failed: int
    seconds: float


def load_local(study: Study, entry: ModelEntry, reporter: Reporter) -> Model:
    """The model that `entry` names, on this machine."""
    from leadline.models.local import LocalModel
    from leadline.models.resolve import resolve

    class _Steps:
        def step(self, line: str) -> None:
            reporter.note(line)

    reference = study.model_reference(entry)
    try:
        files = resolve(reference, progress=_Steps())
    except UsageError as error:  # it names the model; say where the study does
        line = where_in(study.file, "models", study.config.models.index(entry), "ref")
        where = f"{line}: {error.where}" if error.where else line
        raise UsageError(error.what, where=where, fix=error.fix) from error
    return LocalModel(files, entry.dtype, entry.device, study.config.batch_rows)


def run_study(
    study: Study, reporter: Reporter, load: LoadModel = load_local, *, accept_changes: bool = False
) -> Outcome:
    """Draw every answer that the study lacks. Interrupt it at any moment and call it again.

    Raises LeadlineError when the folder, the database or a model cannot be used, and UsageError when a model,
    an item's wording or the code changed since earlier answers were drawn and `accept_changes` does not say
    to go on; what was stored stays.
    """
    if not study.config.models:
        raise UsageError(
            "there is nothing to ask: the study names no models",
            where=where_in(study.file, "models"),
            fix=f"name at least one; of recorded answers: leadline report {study.folder}",
        )
    started = time.monotonic()
    drawn = kept = failed = 0
    check_readable(study)
    _note_too_many(study, reporter)
    with locked(study.folder), open_store(study.folder, write=True) as store:
        reworded = changed_items(study, store)
        settle(reworded, study, store, None, accept_changes)
        about = {"environment": environment(), "study": study.config.model_dump(mode="json"), "drawn": None}
        run = store.begin_run(about)
        settle(reworded, study, store, run, accept_changes)
        identities: dict[str, ModelIdentity] = {}
        seen: dict[str, dict[str, str]] = {}
        try:
            for entry in study.config.models:
                model = load(study, entry, reporter)
                settle(changed_model(store, entry.label, model.identity), study, store, run, accept_changes)
                identities[entry.label] = model.identity
                seen[entry.label] = noted(model.identity)
                store.note_run(run, {"models": seen})
                store.set_model(entry.label, model.identity)
                write_manifest(study, store, identities, run)
                for configuration in study.configurations:
                    new, old, lost = _ask(
                        study,
                        store,
                        run,
                        model,
                        configuration,
                        entry=entry,
                        reporter=reporter,
                        accept_changes=accept_changes,
                    )
                    drawn, kept, failed = drawn + new, kept + old, failed + lost
            store.end_run(run)
        finally:
            # Of a run that was stopped as well; what stopped it matters more than that this cannot be noted.
            with suppress(LeadlineError):
                store.note_run(run, {"drawn": store.added})
        if identities:
            write_manifest(study, store, identities, run)
    return Outcome(drawn, kept, failed, time.monotonic() - started)


def _note_too_many(study: Study, reporter: Reporter) -> None:
    """Somebody who asks for more items than there are may have meant another benchmark."""
    limit, there = study.config.items.limit, len(study.benchmark.items)
    if limit is not None and limit > there:
        which = "these categories have" if study.config.items.categories else f"{study.whole.name} has"
        reporter.note(f"items: {limit:,} are asked for, {which} {there:,}; all of them are asked")


def calls_failed(number: int) -> str:
    """ "1 call failed", "2 calls failed"."""
    return f"{number:,} call{'' if number == 1 else 's'} failed"


def _ask(
    study: Study,
    store: Store,
    run: int,
    model: Model,
    configuration: Configuration,
    *,
    entry: ModelEntry,
    reporter: Reporter,
    accept_changes: bool,
) -> tuple[int, int, int]:
    """Ask what is missing under one configuration: how many answers were drawn, were there, and failed."""
    technique, prompts, label = configuration.technique, study.prompts, entry.label
    identifier = study.configuration_id(configuration, model.identity)
    store.set_configuration(identifier, study.described(configuration, model.identity))
    items = list(study.benchmark.items)
    if configuration.failures_only:
        failures = _baseline_failures(study, store, model.identity)
        items = [item for item in items if item.id in failures]
    answered = store.answered(identifier)
    wanted = {
        Key(item.id, study.asked(item), sample): Job(study.question(item), sample)
        for item in items
        for sample in range(configuration.samples)
    }
    missing = {key: job for key, job in wanted.items() if key not in answered}
    reporter.begin(f"{label} · {configuration.label}", len(wanted), len(wanted) - len(missing))
    keys = {(key.item, key.sample): key for key in missing}
    jobs = list(missing.values())
    failed: list[Failure] = []
    if jobs:
        # Only now: a study that lacks nothing may be looked at with any code.
        settle(changed_code(store), study, store, run, accept_changes)
        store.note_run(run, {"code": code()})
        prepared = prepare(study, model, entry, technique, reporter)
        for start in range(0, len(jobs), study.config.batch_rows):
            ready: list[tuple[Key, Answer]] = []
            flushed = time.monotonic()
            try:
                for job, answer in converse(
                    technique,
                    jobs[start : start + study.config.batch_rows],
                    prompts,
                    model.generate,
                    prepared,
                ):
                    key = keys[job.question.item, job.sample]
                    if isinstance(answer, Failure):
                        store.add_failure(identifier, run, key, answer.kind, answer.message)
                        failed.append(answer)
                        continue
                    ready.append((key, answer))
                    if time.monotonic() - flushed >= _FLUSH_SECONDS:
                        _store(store, identifier, run, ready, reporter)
                        flushed = time.monotonic()
            except BaseException as error:
                # Whatever ends the run, what was answered stays. An interrupt may have come after storing a
                # part of it and before forgetting that part.
                there = store.answered(identifier)
                _store(store, identifier, run, [pair for pair in ready if pair[0] not in there], reporter)
                if isinstance(error, MemoryError):
                    raise LeadlineError(
                        "out of memory",
                        where=f"{label} · {configuration.label}",
                        fix="lower batch_rows in study.yaml",
                    ) from error
                raise
            _store(store, identifier, run, ready, reporter)
    reporter.end()
    if failed:
        reporter.note(
            f"{label} · {configuration.label}: {calls_failed(len(failed))}, the first: {failed[0].message}"
        )
    return len(missing) - len(failed), len(wanted) - len(missing), len(failed)


def _store(
    store: Store, identifier: str, run: int, ready: list[tuple[Key, Answer]], reporter: Reporter
) -> None:
    if ready:
        store.add(identifier, run, ready)
        reporter.advance(len(ready), sum(answer.tokens_out for _, answer in ready))
        ready.clear()


def _baseline_failures(study: Study, store: Store, model: ModelIdentity) -> set[str]:
    """Items that the baseline answered wrongly."""
    baseline = next(each for each in study.configurations if each.role == "baseline")
    items = study.benchmark.by_id
    wrong = set()
    for response in store.responses(study.configuration_id(baseline, model)):
        item = items.get(response.key.item)
        if item is None or response.key.asked != study.asked(item):
            continue
        if not judged(study, item, response.text).correct:
            wrong.add(item.id)
    return wrong
