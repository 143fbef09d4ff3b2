"""Who asks what next: few loads, an even end, nothing twice, whatever becomes of workers."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.errors import LeadlineError
from leadline.study.shares import Chunk, Opened, Plan, Shares
from leadline.study.store import Key
from leadline.study.wanted import Wanted
from leadline.techniques import Question
from leadline.techniques.conversation import Job


@dataclass
class House:
    """Models that lack `items` × `samples` answers to each of their configurations."""

    models: Sequence[Sequence[Plan]]
    items: int = 40
    samples: int = 4
    least: int = 8
    most: int = 64
    opened: list[tuple[int, int]] = field(default_factory=list)
    closed: list[tuple[int, int]] = field(default_factory=list)
    came: Counter[tuple[int, int, str, int]] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.shares = Shares(self.models, self._open, self.least, self.most)

    def _open(self, model: int, number: int) -> Opened:
        self.opened.append((model, number))
        keys = [Key(f"i{at:03}", "x", sample) for at in range(self.items) for sample in range(self.samples)]
        jobs = {key: Job(Question(key.item, "?"), key.sample) for key in keys}
        called = f"model {model} · {number}"
        return Opened(called, Wanted(len(jobs), 0, jobs), lambda: self.closed.append((model, number)))

    def answer(self, chunk: Chunk, number: int | None = None) -> None:
        """The first `number` answers of a chunk, or all of them, come in."""
        keys = []
        for item, sample, _ in chunk.jobs[:number]:
            if (key := self.shares.key(chunk, item, sample)) is not None:
                keys.append(key)
                self.came[chunk.model, chunk.configuration, item, sample] += 1
        self.shares.arrived(chunk, keys)

    def finish(self, worker: int, chunk: Chunk) -> None:
        if chunk.fitted is None:
            self.shares.fitted(chunk, {"fit": 1})
        self.answer(chunk)
        self.shares.done(worker, chunk)


@dataclass
class Work:
    """Chunks in the order in which they were taken, by whom, and the time at which each worker ended."""

    taken: list[tuple[int, Chunk]]
    ended: list[float]

    @property
    def chunks(self) -> list[Chunk]:
        return [chunk for _, chunk in self.taken]

    @property
    def loads(self) -> int:
        """How often a worker took up another model."""
        held: dict[int, int] = {}
        found = 0
        for worker, chunk in self.taken:
            found += held.get(worker) != chunk.model
            held[worker] = chunk.model
        return found


def worked(house: House, workers: int, speeds: Sequence[float] | None = None) -> Work:
    """What so many workers make of it, where an answer takes each `1 / speed`."""
    speeds = speeds or [1.0] * workers
    clock = [0.0] * workers
    busy: dict[int, Chunk] = {}
    taken = []
    assert house.shares.is_open()
    house.shares.staff(workers)
    while True:
        for worker in range(workers):
            if worker not in busy and (chunk := house.shares.take(worker)) is not None:
                taken.append((worker, chunk))
                clock[worker] += len(chunk.jobs) / speeds[worker]
                busy[worker] = chunk
        if not busy:
            break
        first = min(busy, key=lambda worker: clock[worker])
        house.finish(first, busy.pop(first))
        for worker in range(workers):  # whoever waits has waited until now
            if worker not in busy:
                clock[worker] = max(clock[worker], clock[first])
    assert not house.shares.is_open()
    return Work(taken, clock)


def test_every_answer_is_asked_once_and_answers_to_one_question_together() -> None:
    house = House([[Plan(160)] * 3, [Plan(160)] * 2])
    chunks = worked(house, 3).chunks
    assert len(house.came) == 5 * 160 and set(house.came.values()) == {1}
    for chunk in chunks:
        assert all(number == 4 for number in Counter(item for item, _, _ in chunk.jobs).values())
    assert sorted(house.closed) == sorted(house.opened) == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]


def test_few_models_are_loaded_and_an_idle_worker_helps_with_what_is_left() -> None:
    """About as many loads as models or workers, and one more for each worker that helps at the end."""
    for sizes, workers in (((9, 1), 2), ((3, 3, 3), 2), ((8, 1, 1, 1), 3), ((5,), 4), ((1, 1, 1, 1, 1), 2)):
        house = House([[Plan(160)] * size for size in sizes])
        work = worked(house, workers)
        assert len(sizes) <= work.loads <= max(len(sizes), workers) + workers - 1, (sizes, workers)
        assert max(work.ended) <= 1.12 * sum(sizes) * 160 / workers + house.least, (sizes, workers)


def test_chunks_get_smaller_so_that_a_slow_worker_does_not_hold_up_the_end() -> None:
    house = House([[Plan(4000)]], items=1000, most=10_000)
    work = worked(house, 4, [1.0, 1.0, 1.0, 0.25])
    sizes = [len(chunk.jobs) for chunk in work.chunks]
    assert sizes[0] == 500 and sizes == sorted(sizes, reverse=True) and sizes[-1] <= house.least
    even = 4000 / 3.25
    assert max(work.ended) < 1.7 * even  # the slow one's first chunk alone is 1.4 of it
    assert max(len(chunk.jobs) for chunk in worked(House([[Plan(160)]]), 1).chunks) <= 64


def test_what_the_baseline_gets_wrong_is_asked_only_when_the_baseline_is_there() -> None:
    house = House([[Plan(160), Plan(160, after=0), Plan(160)]])
    house.shares.staff(2)
    first, second = house.shares.take(0), house.shares.take(1)
    assert first and second
    taken = [first, second]
    while (more := house.shares.take(0)) is not None:
        taken.append(more)
    assert {chunk.configuration for chunk in taken} == {0, 2} and (0, 1) not in house.opened
    for chunk in taken:
        house.finish(0, chunk)
    more = house.shares.take(0)
    assert more is not None and more.configuration == 1


def test_a_configuration_is_fitted_by_one_worker_and_others_are_told_what_it_found() -> None:
    house = House([[Plan(160), Plan(160, is_fitted=True), Plan(160, is_fitted=True)]])
    house.shares.staff(3)
    one, two, three = (house.shares.take(worker) for worker in range(3))
    assert one and two and three
    # With others at work one fits ahead, and no two fit at once: the fits may be the same.
    assert [(chunk.configuration, chunk.fitted) for chunk in (one, two, three)] == [
        (0, {}),
        (1, None),
        (0, {}),
    ]
    house.shares.fitted(two, {"direction": 7})
    house.finish(2, three)
    again = house.shares.take(2)
    assert again and (again.configuration, again.fitted) == (2, None)
    house.shares.lost(2, again, "killed")  # before it had fitted
    house.finish(0, one)
    other = house.shares.take(0)
    assert other and (other.configuration, other.fitted) == (2, None)
    told = []
    for worker in (3, 3):
        while (chunk := house.shares.take(worker)) is not None and chunk.configuration != 1:
            house.answer(chunk)
            house.shares.done(worker, chunk)
        if chunk is not None:
            told.append(chunk.fitted)
            house.answer(chunk)
            house.shares.done(worker, chunk)
    assert told == [{"direction": 7}, {}]  # once is enough


def test_what_a_dead_worker_owed_is_asked_again_and_what_it_gave_is_not() -> None:
    house = House([[Plan(160)]])
    house.shares.staff(2)
    chunk = house.shares.take(0)
    assert chunk
    house.answer(chunk, 5)
    house.shares.lost(0, chunk, "killed")
    again = house.shares.take(1)
    assert again and again.jobs[: len(chunk.jobs) - 5] == chunk.jobs[5:]
    assert house.shares.key(chunk, *chunk.jobs[6][:2]) is None  # a late word of the dead counts for nothing
    house.finish(1, again)
    worked(house, 1)
    assert len(house.came) == 160 and set(house.came.values()) == {1}


def test_answers_over_which_three_workers_die_end_the_run_and_are_named() -> None:
    house = House([[Plan(160)]])
    house.shares.staff(1)
    for worker in range(2):
        chunk = house.shares.take(worker)
        assert chunk
        house.shares.lost(worker, chunk, "killed")
    chunk = house.shares.take(2)
    with pytest.raises(LeadlineError, match=r"the task \d+ answers of model 0 · 0: killed, 3 times"):
        house.shares.lost(2, chunk, "killed")


def test_very_many_answers_to_one_question_are_cut() -> None:
    house = House([[Plan(1000)]], items=1, samples=1000)
    chunks = worked(house, 2).chunks
    assert max(len(chunk.jobs) for chunk in chunks) == 64 and len(house.came) == 1000


@given(
    st.lists(st.lists(st.sampled_from("abf"), min_size=1, max_size=4), min_size=1, max_size=3),
    st.integers(1, 4),
    st.integers(0, 2**32),
)
def test_whatever_dies_and_in_whatever_order_answers_come_each_comes_once(
    kinds: list[list[str]], workers: int, seed: int
) -> None:
    chance = random.Random(seed)
    plans = {"a": Plan(24, after=0), "b": Plan(24), "f": Plan(24, is_fitted=True)}
    models = [[Plan(24), *(plans[kind] for kind in row)] for row in kinds]
    house = House(models, items=8, samples=3, least=4, most=12)
    assert house.shares.is_open()
    house.shares.staff(workers)
    alive, following, busy, deaths = list(range(workers)), workers, {}, 0
    while house.shares.is_open():
        for worker in alive:
            if worker not in busy and (chunk := house.shares.take(worker)) is not None:
                busy[worker] = chunk
        assert busy, "somebody must have something to do"
        worker = chance.choice(sorted(busy))
        chunk = busy[worker]
        if chunk.fitted is None and chance.random() < 0.8:
            house.shares.fitted(chunk, {"fit": 1})
        house.answer(chunk, chance.randrange(len(chunk.jobs) + 1))
        if chance.random() < 0.3 and deaths < 2:  # three over the same answers end a run
            deaths += 1
            house.shares.lost(worker, busy.pop(worker), "killed")
            alive[alive.index(worker)], following = following, following + 1
        elif chance.random() < 0.5:
            if chunk.fitted is None:
                house.shares.fitted(chunk, {"fit": 1})
            house.answer(chunk)
            house.shares.done(worker, busy.pop(worker))
    assert set(house.came.values()) == {1}
    assert len(house.came) == 24 * sum(map(len, models))
    assert sorted(house.closed) == sorted(house.opened)
