"""Asks a study's local models on several workers. This process hands out, takes what comes, and stores it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from leadline.errors import UsageError
from leadline.models.model import ModelIdentity
from leadline.models.resolve import resolve
from leadline.models.weights import weight_files
from leadline.study import worker
from leadline.study.asking import Asking, RunSettings, begin_asking, counted
from leadline.study.changes import code
from leadline.study.config import ModelEntry
from leadline.study.configuration import Configuration
from leadline.study.model_loading import with_line
from leadline.study.progress import Reporter
from leadline.study.rehearsal import requests_of
from leadline.study.shares import Chunk, Opened, Plan, Shares
from leadline.study.shelf import FLUSH_SECONDS, Asked
from leadline.study.store import Key, Store
from leadline.study.study import Study
from leadline.study.worker import Named, Order, Told
from leadline.workers.engine import Engine

# Started when there is something to ask, and ended when there is nothing more.
Workers = AbstractContextManager[Engine]

# A chunk has this share of `batch_rows` at least, and so many times as many at most.
_LEAST, _MOST = 0.25, 4
# What reading a prompt costs beside writing tokens, in tokens written.
_PROMPT = 8


@dataclass(frozen=True)
class Shared:
    """A model that workers are to ask, and how large its files are."""

    named: Named
    size: int


def find_model(study: Study, store: Store, entry: ModelEntry, reporter: Reporter) -> Shared:
    """Which model workers are to load: found on this machine, and not loaded here. Raises as `resolve`."""

    class _Steps:
        def step(self, line: str) -> None:
            reporter.note(line)

    reference = study.model_reference(entry)
    try:
        files = resolve(reference, progress=_Steps())
    except UsageError as error:
        raise with_line(study, entry, error) from error
    if Path(reference).exists():
        reference = str(Path(reference).absolute())
    before = store.models().get(entry.label)
    # Where workers compute they tell; until then it is what is known from before.
    device = before.device if before is not None else entry.device
    identity = ModelIdentity.of_files(files, entry.dtype, device)
    size = sum(file.stat().st_size for file in weight_files(files.folder))
    return Shared(Named(entry, reference, identity), size)


def ask_shared(
    study: Study,
    store: Store,
    models: Sequence[Shared],
    workers: Workers,
    *,
    settings: RunSettings,
    reporter: Reporter,
    found: Asked,
    on_device: Callable[[str, str], None],
) -> None:
    """Ask `models` everything that they are to be asked; `found` counts what came, whatever ends the asking.

    Answers are stored as they come, those of a worker that dies included; what it still owed is asked of
    another. `on_device(label, device)` is told where a model computes. Raises LeadlineError for what a worker
    cannot do (another model on its machine, no memory), or when workers die over the same answers.
    """
    askings: dict[tuple[int, int], Asking] = {}
    models = _different(models)

    def open_part(model: int, number: int) -> Opened:
        named = models[model].named
        asking = begin_asking(
            study,
            store,
            named.identity,
            study.configurations[number],
            entry=named.entry,
            settings=settings,
            reporter=reporter.beside(),
            found=found,
        )
        askings[model, number] = asking

        def close() -> None:
            asking.close()
            del askings[model, number]

        return Opened(asking.called, asking.todo, close)

    deaths = 0

    def staffed() -> None:
        note_workers()
        reporter.note(_loading(models, shares.workers))

    def died(who: str, why: str, owed: int) -> None:
        nonlocal deaths
        deaths += 1
        note_workers()
        asked = (
            f"{counted(owed, 'answer')} {'is' if owed == 1 else 'are'} asked again"
            if owed
            else "it owed no answer"
        )
        reporter.note(f"{who} died: {why}; {asked}")

    def note_workers() -> None:
        said = {"engine": engine.name, "number": shares.workers, "died": deaths}
        store.note_run(settings.run, {"workers": said})

    rows = study.config.batch_rows
    least, most = round(_LEAST * rows), _MOST * rows
    shares = Shares(_plans(study, models), open_part, least, most, staffed=staffed, died=died)
    if not shares.is_open():
        return
    order = Order(_travelling(study), tuple(one.named for one in models), code(), FLUSH_SECONDS)
    with workers as engine:
        coming: Iterator[tuple[Chunk, Told]] = engine.run(
            worker.answers, shares, order, worker.arrive, devices=True
        )
        for chunk, told in coming:
            for line in told.notes:
                reporter.note(line)
            if told.device:
                on_device(models[chunk.model].named.entry.label, told.device)
            if told.fitted is not None:
                shares.fitted(chunk, told.fitted)
            if told.answers:
                shares.arrived(chunk, _stored(askings[chunk.model, chunk.configuration], shares, chunk, told))


def _different(models: Sequence[Shared]) -> list[Shared]:
    """Without those that an earlier one is under another label: they share its answers."""
    found: list[Shared] = []
    for one in models:
        if not any(one.named.identity.is_same(other.named.identity) for other in found):
            found.append(one)
    return found


def _loading(models: Sequence[Shared], workers: int) -> str:
    """What is said while nothing comes yet: libraries and models take their time."""
    first = models[0].named.entry.label
    which = first if len(models) == 1 else f"{first} and {counted(len(models) - 1, 'other model')}"
    return f"1 worker loads {which} …" if workers == 1 else f"{workers:,} workers load {which} …"


def _stored(asking: Asking, shares: Shares, chunk: Chunk, told: Told) -> list[Key]:
    """Store what has come, at once."""
    assert asking.shelf is not None
    keys = []
    with asking.shelf:
        for item, sample, answer in told.answers:
            if (key := shares.key(chunk, item, sample)) is not None:
                asking.shelf.put(key, answer)
                keys.append(key)
    return keys


def _plans(study: Study, models: Sequence[Shared]) -> list[list[Plan]]:
    """What each configuration of each model may take, in the order in which they are to be asked."""
    baseline = next(number for number, one in enumerate(study.configurations) if one.role == "baseline")
    return [
        [
            Plan(
                rows=len(study.benchmark.items) * one.samples,
                cost=_tokens(study, one) * model.size,
                is_fitted=one.technique.opens_the_model,
                after=baseline if one.failures_only else None,
            )
            for one in study.configurations
        ]
        for model in models
    ]


def _tokens(study: Study, configuration: Configuration) -> float:
    """About what one answer costs, in tokens written."""
    asked = requests_of(configuration.technique, study.prompts)
    return sum(_PROMPT + request.sampling.max_tokens for _, request in asked)


def _travelling(study: Study) -> Study:
    """The study as another process can use it: prompts are read, places are whole."""
    for one in study.configurations:
        study.prompts.texts(one.technique.prompt_names)
    folder = study.prompts.folder
    prompts = replace(study.prompts, folder=folder.absolute() if folder is not None else None)
    return replace(study, folder=study.folder.absolute(), prompts=prompts)
