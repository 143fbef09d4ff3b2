"""Runs a study: asks each model, under each configuration, what has not been answered yet."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from leadline.errors import LeadlineError, UsageError
from leadline.models.model import Model, ModelIdentity
from leadline.models.served import BudgetExhausted, ProviderFailed
from leadline.study.asking import RunSettings, ask, calls_failed
from leadline.study.changes import changed_items, changed_model, noted, settle
from leadline.study.config import AnyModel, ModelEntry
from leadline.study.config_file import where_in
from leadline.study.environment import environment
from leadline.study.left import Left, left_to_ask
from leadline.study.lock import locked
from leadline.study.manifest import write_manifest
from leadline.study.model_loading import LoadModel, load_model
from leadline.study.progress import Reporter
from leadline.study.readings import check_readable
from leadline.study.served_entry import ServedEntry
from leadline.study.shelf import Asked
from leadline.study.side_by_side import asked_together
from leadline.study.store import Store, open_store
from leadline.study.study import Study

if TYPE_CHECKING:
    from leadline.study.sharing import Workers

_MORE = "raise budget in study.yaml and run again"

__all__ = ["LoadModel", "Outcome", "calls_failed", "run_study"]


@dataclass(frozen=True)
class Outcome:
    """What a run did: answers that it drew (`refilled` of them in the place of empty ones), those that were
    there before, and calls that failed (`lasting`: for good).

    `given_up` failed for good in earlier runs and were not asked again. `stopped` is why the run ended before
    it had asked everything ("" where it did not), `fix` what to do then, and `left` what there was still to
    ask.
    """

    drawn: int
    kept: int
    failed: int
    seconds: float
    refilled: int = 0
    given_up: int = 0
    stopped: str = ""
    left: Left | None = None
    lasting: int = 0
    fix: str = ""

    @property
    def lacking(self) -> tuple[str, str] | None:
        """What to say of answers that are missing because their calls failed, and what to do; None where
        there are none."""
        if not self.failed and not self.given_up:
            return None
        said = [calls_failed(self.failed)] if self.failed else []
        if self.given_up:
            said.append(f"{calls_failed(self.given_up)} for good in earlier runs")
        if self.lasting == self.failed:
            again = "--retry-failed asks these again"
        else:
            again = "run it again to ask these again"
            if self.lasting or self.given_up:
                again += ", with --retry-failed also what failed for good"
        return f"{' and '.join(said)}, the study is not complete", again


def run_study(
    study: Study,
    reporter: Reporter,
    load: LoadModel = load_model,
    *,
    accept_changes: bool = False,
    retry_failed: bool = False,
    refill_empty: bool = False,
    workers: Workers | None = None,
) -> Outcome:
    """Draw every answer that the study lacks. Interrupt it at any moment and call it again.

    `workers` ask the local models, where there are any (see `sharing.py`), and then served models are asked
    here; the answers are those of a run without.

    `retry_failed` asks again what providers refused for good, `refill_empty` what was answered with nothing
    (the empty answers are set aside and counted). A budget that is used up, or a provider that refuses
    everything, ends the run, with all answers stored. Raises LeadlineError when the folder, the database or a
    model cannot be used, and UsageError when a model, an item's wording or the code changed since earlier
    answers were drawn and `accept_changes` does not say to go on; what was stored stays.
    """
    if not study.config.models:
        raise UsageError(
            "there is nothing to ask: the study names no models",
            where=where_in(study.file, "models"),
            fix=f"name at least one; of recorded answers: leadline report {study.folder}",
        )
    started = time.monotonic()
    found = Asked()
    stopped: BudgetExhausted | ProviderFailed | None = None
    left: Left | None = None
    check_readable(study)
    _note_too_many(study, reporter)
    with locked(study.folder), open_store(study.folder, write=True) as store:
        reworded = changed_items(study, store)
        settle(reworded, study, store, None, accept_changes)
        about = {"environment": environment(), "study": study.config.model_dump(mode="json"), "drawn": None}
        run = store.begin_run(about)
        settle(reworded, study, store, run, accept_changes)
        settings = RunSettings(run, accept_changes, retry_failed, refill_empty)
        identities: dict[str, ModelIdentity] = {}
        try:
            entries = list(study.config.models)
            if workers is not None:
                local = [entry for entry in entries if not isinstance(entry, ServedEntry)]
                _ask_workers(study, local, workers, settings, store, reporter, identities, found)
                entries = [entry for entry in entries if isinstance(entry, ServedEntry)]
            for entry in entries:
                _ask_model(study, entry, load, settings, store, reporter, identities, found)
            store.end_run(run)
        except (BudgetExhausted, ProviderFailed) as error:
            stopped = error
            left = left_to_ask(study, store)
            store.note_run(run, {"stopped": error.what})
            store.end_run(run)
        finally:
            # Of a run that was stopped as well; what stopped it matters more than that this cannot be noted.
            with suppress(LeadlineError):
                store.note_run(run, {"drawn": store.added})
                if found.refilled:
                    store.note_run(run, {"refilled": found.refilled})
        if identities:
            labels = [entry.label for entry in study.config.models]
            identities = {label: identities[label] for label in labels if label in identities}
            write_manifest(study, store, identities, run)
    return Outcome(
        drawn=found.drawn,
        kept=found.kept,
        failed=found.failed.total(),
        seconds=time.monotonic() - started,
        refilled=found.refilled,
        given_up=found.given_up.total(),
        stopped=_why(stopped) if stopped else "",
        left=left,
        lasting=found.lasting,
        fix=(stopped.fix or "") if isinstance(stopped, ProviderFailed) else _MORE if stopped else "",
    )


def _why(stopped: LeadlineError) -> str:
    """What ended the run, and of which model, if of one."""
    return f"{stopped.where}: {stopped.what}" if stopped.where else stopped.what


def _ask_model(
    study: Study,
    entry: AnyModel,
    load: LoadModel,
    settings: RunSettings,
    store: Store,
    reporter: Reporter,
    identities: dict[str, ModelIdentity],
    found: Asked,
) -> None:
    """Ask one model everything that it is to be asked; its identity joins `identities`."""
    run = settings.run
    model = load(study, entry, reporter, store, run)
    try:
        _introduce(study, entry, model.identity, settings, store, reporter, identities)
        for together in asked_together(study, entry):
            ask(
                study,
                store,
                model,
                together,
                entry=entry,
                settings=settings,
                reporter=reporter,
                found=found,
            )
    finally:
        with suppress(LeadlineError):
            _note_remarks(store, run, entry.label, model)
        if (close := getattr(model, "close", None)) is not None:
            close()


def _ask_workers(
    study: Study,
    entries: Sequence[ModelEntry],
    workers: Workers,
    settings: RunSettings,
    store: Store,
    reporter: Reporter,
    identities: dict[str, ModelIdentity],
    found: Asked,
) -> None:
    """Have workers ask local models everything that these are to be asked."""
    from leadline.study.sharing import ask_shared, find_model

    models = []
    for entry in entries:
        models.append(find_model(study, store, entry, reporter))
        _introduce(study, entry, models[-1].named.identity, settings, store, reporter, identities)

    def on_device(label: str, device: str) -> None:
        if identities[label].device != device:
            identities[label] = replace(identities[label], device=device)
            store.set_model(label, identities[label])

    ask_shared(
        study,
        store,
        models,
        workers,
        settings=settings,
        reporter=reporter,
        found=found,
        on_device=on_device,
    )


def _introduce(
    study: Study,
    entry: AnyModel,
    identity: ModelIdentity,
    settings: RunSettings,
    store: Store,
    reporter: Reporter,
    identities: dict[str, ModelIdentity],
) -> None:
    """Note who is going to be asked. Raises UsageError where it is another model than before."""
    changes = changed_model(store, entry.label, identity)
    settle(changes, study, store, settings.run, settings.accept_changes)
    if twin := next((label for label, one in identities.items() if one.is_same(identity)), None):
        reporter.note(f"{entry.label} is {twin} under another name: reports count the same answers twice")
    identities[entry.label] = identity
    store.note_run(settings.run, {"models": {label: noted(one) for label, one in identities.items()}})
    store.set_model(entry.label, identity)
    write_manifest(study, store, identities, settings.run)


def _note_remarks(store: Store, run: int, label: str, model: Model) -> None:
    """Keep what a served model says of its provider: that it takes no seed, say."""
    if remarks := list(getattr(model, "notes", ())):
        known: dict[str, list[str]] = next(
            (one.about.get("remarks", {}) for one in store.history() if one.run == run), {}
        )
        store.note_run(run, {"remarks": {**known, label: remarks}})


def _note_too_many(study: Study, reporter: Reporter) -> None:
    """Somebody who asks for more items than there are may have meant another benchmark."""
    limit, there = study.config.items.limit, len(study.benchmark.items)
    if limit is not None and limit > there:
        which = "these categories have" if study.config.items.categories else f"{study.whole.name} has"
        reporter.note(f"items: {limit:,} are asked for, {which} {there:,}; all of them are asked")
