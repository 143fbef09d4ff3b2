"""Who asks what next, where several workers ask: few models are loaded, and all end at about the same time.

A worker stays with the model that it has loaded. When nothing of it is left to hand out, it takes a model
that nobody has, else it helps those who have the most left for each of them (work stealing). Answers to one
question under one configuration stay together, since they share a prompt. The chunks that are handed out get
smaller towards the end (guided self-scheduling, Polychronopoulos & Kuck 1987), but not so small that a
batch is hardly filled.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from leadline.study.store import Key
from leadline.study.wanted import Wanted
from leadline.workers.source import ATTEMPTS, no_survivor


@dataclass(frozen=True)
class Plan:
    """What is known of a configuration before it is opened: `rows` answers at most, of which each costs about
    `cost`. `is_fitted`: it is made ready by one worker, and what that fitted serves the others. `after`: the
    number of the configuration of whose answers it hangs which questions it asks, if it does."""

    rows: int
    cost: float = 1.0
    is_fitted: bool = False
    after: int | None = None


@dataclass(frozen=True)
class Chunk:
    """Answers that a worker is asked for together: (item, sample, refill) each. `fitted` is what was fitted
    for their configuration elsewhere and this worker has not been told of; None: it fits it."""

    number: int
    model: int
    configuration: int
    called: str
    jobs: tuple[tuple[str, int, int], ...]
    fitted: Mapping[str, Any] | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        return f"{len(self.jobs):,} answers of {self.called}"


@dataclass(frozen=True)
class Opened:
    """A configuration that was opened: its name, what it wants, what to do when all of it has come."""

    called: str
    todo: Wanted
    close: Callable[[], None]


# Opens a configuration, both by number: (model, configuration).
Open = Callable[[int, int], Opened]


@dataclass
class _Part:
    """One configuration of one model. `waiting`: what is to be handed out, question by question."""

    plan: Plan
    opened: Opened | None = None
    waiting: deque[list[Key]] = field(default_factory=deque)
    flying: int = 0
    is_closed: bool = False
    fitting: int | None = None  # the chunk whose worker fits it
    fitted: Mapping[str, Any] | None = None

    @property
    def rows(self) -> int:
        """Answers that are, or may be, to be handed out."""
        return self.plan.rows if self.opened is None else sum(map(len, self.waiting))


@dataclass
class _Flight:
    """A chunk that was handed out, and what of it has not come."""

    part: _Part
    worker: int
    keys: dict[tuple[str, int], Key]


class Shares:
    """See `leadline.workers.source.Source`. `models`: the plans of each model's configurations. Chunks have
    `least` to `most` answers, where there are as many. `staffed` is called when it is settled how many
    workers there are, `died` for each that dies: who, why, and how many answers it owed."""

    def __init__(
        self,
        models: Sequence[Sequence[Plan]],
        open_part: Open,
        least: int,
        most: int,
        *,
        staffed: Callable[[], None] = lambda: None,
        died: Callable[[str, str, int], None] = lambda who, why, owed: None,
    ) -> None:
        self._models = [[_Part(plan) for plan in plans] for plans in models]
        self._open_part, self._least, self._most = open_part, max(1, least), max(1, most)
        self._staffed, self._died = staffed, died
        self.workers = 1
        self._holds: dict[int, int] = {}  # worker → the model that it has loaded
        self._told: dict[int, set[tuple[int, int]]] = {}  # worker → configurations of which it has the fit
        self._flights: dict[int, _Flight] = {}
        self._lives: Counter[tuple[int, int, Key]] = Counter()
        self._chunks = 0

    def is_open(self) -> bool:
        """As `Source.is_open`. Opens configurations until one lacks something."""
        return bool(self._flights) or any(self._is_left(model) for model in range(len(self._models)))

    @property
    def is_waiting(self) -> bool:
        """As `Source.is_waiting`."""
        return any(part.rows and not part.is_closed for parts in self._models for part in parts)

    def staff(self, workers: int) -> int:
        """As `Source.staff`."""
        chunks = sum(
            math.ceil(part.rows / self._least)
            for parts in self._models
            for part in parts
            if not part.is_closed
        )
        self.workers = max(1, min(workers, chunks))
        self._staffed()
        return self.workers

    def take(self, worker: int) -> Chunk | None:
        """As `Source.take`."""
        held = self._holds.get(worker)
        if held is not None and self._is_left(held):
            # Where its own model is held up (something is being fitted), another is not worth loading.
            return self._from(held, worker)
        for model in self._others(held):
            self._holds[worker] = model
            if (chunk := self._from(model, worker)) is not None:
                return chunk
            del self._holds[worker]
        if held is not None:
            self._holds[worker] = held
        return None

    def key(self, chunk: Chunk, item: str, sample: int) -> Key | None:
        """Which answer this is; None where it is not awaited of this chunk."""
        flight = self._flights.get(chunk.number)
        return flight.keys.get((item, sample)) if flight else None

    def arrived(self, chunk: Chunk, keys: Sequence[Key]) -> None:
        """These have come, and are stored: they are never asked again."""
        flight = self._flights[chunk.number]
        for key in keys:
            del flight.keys[key.item, key.sample]
        flight.part.flying -= len(keys)
        self._close(flight.part)

    def fitted(self, chunk: Chunk, found: Mapping[str, Any]) -> None:
        """What the worker of `chunk` has fitted: others may now ask this configuration."""
        part = self._flights[chunk.number].part
        part.fitting, part.fitted = None, found

    def done(self, worker: int, task: Chunk) -> None:
        """As `Source.done`."""
        flight = self._flights.pop(task.number)
        if flight.keys:
            raise RuntimeError(f"a worker is done with {task!r}, and {len(flight.keys)} have not come")

    def lost(self, worker: int, task: Chunk | None, why: str, who: str = "a worker") -> None:
        """As `Source.lost`: what has not come is handed out again, first of all."""
        self._holds.pop(worker, None)
        self._died(who, why, len(self._flights[task.number].keys) if task is not None else 0)
        if task is None:
            return
        flight = self._flights.pop(task.number)
        part, keys = flight.part, list(flight.keys.values())
        if part.fitting == task.number:
            part.fitting = None
        part.flying -= len(keys)
        for key in keys:
            self._lives[task.model, task.configuration, key] += 1
        if max((self._lives[task.model, task.configuration, key] for key in keys), default=0) >= ATTEMPTS:
            raise no_survivor(task, why)
        part.waiting.extendleft(reversed(_by_item(keys)))

    def _is_left(self, model: int) -> bool:
        """Whether there is, or will be, something of a model to hand out."""
        for number, part in enumerate(self._models[model]):
            if part.waiting or (part.opened is None and not self._may_open(part, model)):
                return True
            if part.opened is None:
                self._open(model, number)
                if part.waiting:
                    return True
        return False

    def _may_open(self, part: _Part, model: int) -> bool:
        return part.plan.after is None or self._models[model][part.plan.after].is_closed

    def _open(self, model: int, number: int) -> None:
        part = self._models[model][number]
        part.opened = self._open_part(model, number)
        part.waiting.extend(_by_item(list(part.opened.todo.jobs)))
        self._close(part)

    def _close(self, part: _Part) -> None:
        if part.opened is not None and not part.is_closed and not part.waiting and not part.flying:
            part.is_closed = True
            part.opened.close()
            part.opened = Opened(part.opened.called, Wanted(0, 0, {}), part.opened.close)  # of millions, none

    def _others(self, held: int | None) -> list[int]:
        """Models that a worker may take up: those that nobody has, then those with the most left for each of
        their workers, if that is worth loading a model."""
        holders = self._holders()
        weights = {
            model: sum(part.rows * part.plan.cost for part in self._models[model])
            for model in range(len(self._models))
            if model != held and self._is_left(model)
        }
        worth = [
            model
            for model in weights
            if not holders[model] or sum(part.rows for part in self._models[model]) > self._least
        ]
        return sorted(worth, key=lambda model: (-weights[model] / (holders[model] or 1e-9), model))

    def _holders(self) -> Counter[int]:
        return Counter(self._holds.values())

    def _from(self, model: int, worker: int) -> Chunk | None:
        """The next chunk of a model. Fitting comes first where others can go on meanwhile."""
        parts = self._models[model]
        is_fitting = any(part.fitting is not None for part in parts)
        numbers = list(range(len(parts)))
        if not is_fitting and self._holders()[model] > 1:
            numbers.sort(key=lambda number: not _is_to_fit(parts[number]))
        for number in numbers:
            part = parts[number]
            if is_fitting and _is_to_fit(part):
                continue
            if part.opened is None and self._may_open(part, model):
                self._open(model, number)
            if part.waiting:
                return self._cut(model, number, worker)
        return None

    def _cut(self, model: int, number: int, worker: int) -> Chunk:
        part = self._models[model][number]
        left = sum(each.rows for each in self._models[model])
        unfinished = sum(any(each.rows for each in parts) for parts in self._models)
        helpers = max(self._holders()[model], math.ceil(self.workers / max(1, unfinished)))
        size = min(self._most, max(self._least, left // (2 * helpers)))
        keys: list[Key] = []
        while part.waiting and (not keys or len(keys) + len(part.waiting[0]) <= size):
            keys += part.waiting.popleft()
        if len(keys) > self._most:  # very many answers to one question
            part.waiting.appendleft(keys[self._most :])
            keys = keys[: self._most]
        part.flying += len(keys)
        self._chunks += 1
        fitted: Mapping[str, Any] | None = {}
        if part.plan.is_fitted and (model, number) not in self._told.setdefault(worker, set()):
            self._told[worker].add((model, number))
            fitted = part.fitted
            if fitted is None:
                part.fitting = self._chunks
        assert part.opened is not None
        jobs = part.opened.todo.jobs
        chunk = Chunk(
            number=self._chunks,
            model=model,
            configuration=number,
            called=part.opened.called,
            jobs=tuple((key.item, key.sample, jobs[key].refill) for key in keys),
            fitted=fitted,
        )
        self._flights[chunk.number] = _Flight(part, worker, {(key.item, key.sample): key for key in keys})
        return chunk


def _is_to_fit(part: _Part) -> bool:
    return part.plan.is_fitted and part.fitted is None and not part.is_closed and part.rows > 0


def _by_item(keys: Sequence[Key]) -> list[list[Key]]:
    """Answers of one question beside each other; they come in the order of questions."""
    return [list(group) for _, group in groupby(keys, key=lambda key: key.item)]
