"""What a worker does: loads the model that it is asked for, makes techniques ready, answers in chunks.

Everything here runs in a process of its own, perhaps on another machine. It stores nothing: answers go back
to the process that handed the work out, which alone writes the study.
"""

from __future__ import annotations

import gc
import socket
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from leadline.engine import Failure
from leadline.errors import UsageError
from leadline.models.model import ModelIdentity
from leadline.study.asking import memory_told
from leadline.study.changes import code
from leadline.study.config import ModelEntry
from leadline.study.prepare import prepare
from leadline.study.progress import Quiet
from leadline.study.shares import Chunk
from leadline.study.study import Study
from leadline.techniques import Answer, artefacts
from leadline.techniques.conversation import Job, converse
from leadline.techniques.prepared import Prepared


@dataclass(frozen=True)
class Named:
    """A model as workers are to find it: `reference` is resolved on their machine, and must give the very
    weights of `identity`."""

    entry: ModelEntry
    reference: str
    identity: ModelIdentity


@dataclass(frozen=True)
class Order:
    """What every worker is told once. `models` are those that a chunk names by number; `code` is what the
    study's answers are drawn with; answers are sent back about every `seconds`."""

    study: Study
    models: tuple[Named, ...]
    code: Mapping[str, str]
    seconds: float


@dataclass(frozen=True)
class Told:
    """What a worker sends back: answers by item and sample, lines for the user, the device that it computes
    on; once for each configuration that it fits, what it fitted."""

    answers: tuple[tuple[str, int, Answer | Failure], ...] = ()
    notes: tuple[str, ...] = ()
    device: str = ""
    fitted: Mapping[str, Any] | None = None


class _Notes(Quiet):
    """Keeps what is to be told until it can be sent."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def note(self, line: str) -> None:
        self.lines.append(line)

    def step(self, line: str) -> None:
        """As `models.progress.Progress.step`."""
        self.lines.append(line)

    def taken(self) -> tuple[str, ...]:
        """The lines since the last time."""
        lines, self.lines = tuple(self.lines), []
        return lines


@dataclass
class Desk:
    """What a worker has at hand: one model, and one configuration made ready for it."""

    order: Order
    notes: _Notes = field(default_factory=_Notes)
    number: int | None = None
    model: Any = None
    configuration: int | None = None
    prepared: Prepared | None = None


def arrive(order: Order) -> Desk:
    """Begin. Raises UsageError where this machine would draw answers with other code than the study's."""
    if changed := sorted({*order.code.items()} ^ {*code().items()}):
        name = changed[0][0]
        raise UsageError(
            f"{name} is {code().get(name, 'not installed')[:20]} here and "
            f"{order.code.get(name, 'not installed')[:20]} where the run was started",
            where=f"the worker on {socket.gethostname()}",
            fix="install the same versions on every node",
        )
    # What takes seconds to import is imported before any work is in hand.
    from leadline.engine import decode  # noqa: F401

    return Desk(order)


def answers(desk: Desk, chunk: Chunk) -> Iterator[Told]:
    """Answer a chunk, and tell of it as answers come.

    Raises LeadlineError where the model is not here, or is another one, or memory runs out.
    """
    study = desk.order.study
    configuration = study.configurations[chunk.configuration]
    with memory_told(chunk.called):
        yield from _made_ready(desk, chunk)
        items = study.benchmark.by_id
        jobs = [Job(study.question(items[item]), sample, refill) for item, sample, refill in chunk.jobs]
        ready: list[tuple[str, int, Answer | Failure]] = []
        sent = time.monotonic()
        assert desk.prepared is not None
        for job, answer in converse(
            configuration.technique, jobs, study.prompts, desk.model.generate, desk.prepared
        ):
            ready.append((job.question.item, job.sample, answer))
            if time.monotonic() - sent >= desk.order.seconds:
                yield Told(tuple(ready), desk.notes.taken())
                ready, sent = [], time.monotonic()
        yield Told(tuple(ready), desk.notes.taken())


def _made_ready(desk: Desk, chunk: Chunk) -> Iterator[Told]:
    if chunk.fitted:
        artefacts.bring(chunk.fitted)
    if desk.number != chunk.model:
        _load(desk, chunk.model)
    if desk.configuration == chunk.configuration and chunk.fitted is not None:
        return
    study, entry = desk.order.study, desk.order.models[chunk.model].entry
    desk.prepared = None
    with artefacts.noted() as used:
        desk.prepared = prepare(
            study, desk.model, entry, study.configurations[chunk.configuration].technique, desk.notes
        )
    desk.configuration = chunk.configuration
    fitted = None
    if chunk.fitted is None:
        artefacts.bring(used)
        fitted = dict(used)
    yield Told((), desk.notes.taken(), desk.model.identity.device, fitted)


def _load(desk: Desk, number: int) -> None:
    """Take another model in the place of the one that is there."""
    from leadline.models.local import LocalModel
    from leadline.models.resolve import resolve

    named = desk.order.models[number]
    where = f"the worker on {socket.gethostname()}"
    desk.number = desk.configuration = desk.model = desk.prepared = None
    gc.collect()
    place = Path(named.reference)
    if place.is_absolute() and not place.exists():
        raise UsageError(
            f"there is no model {named.reference}",
            where=where,
            fix="models lie under the same path on every node: a shared file system, or a copy on each",
        )
    files = resolve(named.reference, progress=desk.notes)
    found, asked = files.digest, named.identity.digest
    if found != asked:
        raise UsageError(
            f"{named.entry.label} is another model there: {_short(found)}; the study asks {_short(asked)}",
            where=where,
            fix=f"put the same weights on every node; the worker took {files.source}",
        )
    entry, rows = named.entry, desk.order.study.config.batch_rows
    # Of several devices a worker sees its own alone, whose number there is 0.
    device = "cuda" if entry.device.startswith("cuda") else entry.device
    desk.model = LocalModel(files, entry.dtype, device, rows)
    desk.number = number


def _short(digest: str) -> str:
    return f"{digest.removeprefix('sha256:')[:12]}…"
