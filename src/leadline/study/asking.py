"""Asks one model what is missing under one configuration, or several, and stores what comes, as it comes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
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
from leadline.study.side_by_side import SideBySide, by_question
from leadline.study.store import Key, Store
from leadline.study.study import Study
from leadline.study.wanted import Wanted, wanted
from leadline.techniques.conversation import Job, converse
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
    configurations: Sequence[Configuration],
    *,
    entry: AnyModel,
    settings: RunSettings,
    reporter: Reporter,
    found: Asked,
) -> None:
    """Ask what is missing under configurations that are asked together (`asked_together`); `found` counts
    what came, whatever ends the asking."""
    askings = [
        begin_asking(
            study,
            store,
            model.identity,
            configuration,
            entry=entry,
            settings=settings,
            reporter=reporter if at == 0 else reporter.beside(),
            found=found,
        )
        for at, configuration in enumerate(configurations)
    ]
    pairs = zip(configurations, askings, strict=True)
    wanting = [(configuration, asking) for configuration, asking in pairs if asking.shelf is not None]
    if len(wanting) > 1:
        *others, last = (configuration.label for configuration, _ in wanting)
        reporter.note(f"{entry.label}: {', '.join(others)} and {last} ask the same, and are asked together")
    if wanting:
        with memory_told(" and ".join(asking.called for _, asking in wanting)):
            _converse(study, model, wanting, entry, reporter)
    for asking in askings:
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
    wanting: Sequence[tuple[Configuration, Asking]],
    entry: AnyModel,
    reporter: Reporter,
) -> None:
    """Ask what these want: one configuration, or several that leave a local model as it is."""
    techniques = [configuration.technique for configuration, _ in wanting]
    together, prepared = SideBySide(techniques), AS_IT_IS
    shelves: list[Shelf] = []
    keys: dict[tuple[int, str, int], Key] = {}
    jobs: list[Job] = []
    for which, (_, asking) in enumerate(wanting):
        assert asking.shelf is not None
        shelves.append(asking.shelf)
        keys |= {(which, key.item, key.sample): key for key in asking.todo.jobs}
        jobs += [together.job(which, job) for job in asking.todo.jobs.values()]
    size = study.config.batch_rows
    if isinstance(entry, ServedEntry):
        # Each batch ends in waiting for its slowest answer.
        several = len(requests_of(techniques[0], study.prompts)) > 1
        size = max(size, _IN_HAND * entry.connections) if several else max(1, len(jobs))
    elif len(techniques) == 1:
        prepared = prepare(study, model, entry, techniques[0], reporter)
    merge = not isinstance(entry, ServedEntry)
    for batch in by_question(jobs, size):
        with ExitStack() as stack:
            for shelf in shelves:
                stack.enter_context(shelf)
            for job, answer in converse(
                together, batch, study.prompts, model.generate, prepared, merge=merge
            ):
                which, sample = together.of(job.sample)
                shelves[which].put(keys[which, job.question.item, sample], answer)


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
