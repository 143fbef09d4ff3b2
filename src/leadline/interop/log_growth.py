"""A benchmark that was made of logs takes in what later logs ask: a run that was broken off, and its retry.

What is there stays as it is, also what somebody corrected in it; new items are added at its end. Its content
hash changes by that, and the run that brought them notes both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from leadline.bench import Benchmark, Item
from leadline.bench.header import HEADER_NAME, ITEMS_NAME
from leadline.bench.whole_file import whole_file
from leadline.bench.writing import write_benchmark
from leadline.errors import UsageError
from leadline.interop.filling import BENCHMARK_FOLDER, Filling
from leadline.interop.log_benchmark import item_of, items_of, kind_of, made_item, worded
from leadline.interop.log_ids import held
from leadline.interop.log_options import ordered_as
from leadline.interop.logs import Log, LoggedItem
from leadline.study.study import Study, open_study

# The version of a benchmark that was made of logs.
VERSION = "logs"


@dataclass(frozen=True)
class Growth:
    """The study with the items that were added, and what is worth saying of them."""

    into: Filling
    items: tuple[Item, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def about(self) -> dict[str, object]:
        """What the study notes of it."""
        return {"items": [item.id for item in self.items], "content_hash": self.into.study.whole.content_hash}


def is_of_logs(study: Study) -> bool:
    """Whether the study's benchmark was made of logs, so that it is the logs that say what was asked."""
    return study.config.benchmark == BENCHMARK_FOLDER and study.whole.version == VERSION


@contextmanager
def growing(into: Filling, logs: Sequence[Log], *, dry: bool) -> Iterator[Growth]:
    """The study whose benchmark holds what `logs` ask, where it was made of logs; else the study as it is.

    An exception in the body, and `dry`, leave the benchmark's files as they were. Raises UsageError where two
    of the logs disagree, or ask what is no item of ours.
    """
    study = into.study
    if into.made or not is_of_logs(study):
        yield Growth(into)
        return
    notes: list[str] = []
    added: list[Item] = []
    for task, found in items_of(logs).items():
        new, said = _new_items(study.whole, task, found)
        added += new
        notes += said
    if not added:
        yield Growth(into)
        return
    grown = study.whole.replaced(items=(*study.whole.items, *added))
    what = "1 item that is" if len(added) == 1 else f"{len(added):,} items that are"
    were, has = ("would be", "would have") if dry else ("was" if len(added) == 1 else "were", "now has")
    noted = (
        *notes,
        f"{what} new in these logs {were} added to the study's benchmark, which {has} {len(grown.items):,}",
    )
    if dry:
        larger = replace(study, whole=grown, benchmark=grown)
        yield Growth(replace(into, study=larger), tuple(added), noted)
        return
    with _kept(into.folder / BENCHMARK_FOLDER):
        write_benchmark(grown, into.folder / BENCHMARK_FOLDER)
        yield Growth(replace(into, study=open_study(into.folder)), tuple(added), noted)


def known_as(whole: Benchmark, task: str, name: str) -> str | None:
    """The id in a benchmark of what a log of `task` calls `name`; None where it has none."""
    for tried in (f"{task}/{name}", name):
        for one in (tried, held(tried)):
            if one in whole.by_id:
                return one
    return None


def _new_items(
    whole: Benchmark, task: str, found: Mapping[str, LoggedItem]
) -> tuple[list[Item], Sequence[str]]:
    """What of a task's items the benchmark lacks, and what is to be said of how they are read."""
    unknown = {name: item for name, item in found.items() if not _is_known(whole, task, item)}
    if not unknown:
        return [], ()
    # Ids that another task has already, or that this one has behind its name, go on behind its name.
    is_joined = any(known_as(whole, task, name) for name in unknown) or any(
        held(f"{task}/{name}") in whole.by_id for name in found
    )
    group = made_item(next(iter(unknown.values())), "-", task).task
    there = {item.answer_type for item in whole.items if item.task == group}
    kind = kind_of(unknown.values())
    notes = []
    if there and there != {kind}:
        if len(there) == 1 and (one := next(iter(there))) in ("number", "boolean"):
            notes.append(
                f"{task}: its items were read as {one}s so far, and the new ones, whose targets are none, as "
                f"text; correct {BENCHMARK_FOLDER}/{ITEMS_NAME} if that is not meant"
            )
        kind = "text"
    made = [
        made_item(item, held(f"{task}/{name}" if is_joined else name), task, kind)
        for name, item in unknown.items()
    ]
    return made, notes


def _is_known(whole: Benchmark, task: str, item: LoggedItem) -> bool:
    """The benchmark has the item; of what another task calls by the same id it would have to be the same."""
    name = known_as(whole, task, item.id)
    if name is None:
        return False
    if name in (f"{task}/{item.id}", held(f"{task}/{item.id}")):
        return True
    ours = whole.by_id[name]
    return made_item(item, "-", task).task == ours.task or asks_the_same(ours, item, task)


def asks_the_same(ours: Item, item: LoggedItem, task: str) -> bool:
    """Whether an item's wording is that of a log: of the question alone, or with its options in any order."""
    return _plain(ours.question) in set(_wordings(ours, item, task))


def _wordings(ours: Item, item: LoggedItem, task: str) -> Iterable[str]:
    yield _plain(item.question)
    orders = [item.choices]
    if item.choices and (choices := ordered_as(ours, item.choices)):
        orders.append(choices)
    for choices in orders:
        asked = replace(item, choices=choices)
        yield _plain(worded(asked))
        with suppress(ValueError, UsageError):  # what is no item of ours has no other wording
            yield _plain(item_of(asked, ours.id, task).question)


@contextmanager
def _kept(folder: Path) -> Iterator[None]:
    """Puts the files of a benchmark back where the body fails."""
    before = {name: (folder / name).read_bytes() for name in (HEADER_NAME, ITEMS_NAME)}
    try:
        yield
    except BaseException:
        for name, data in before.items():
            with whole_file(folder / name) as file:
                file.write(data)
        raise


def _plain(text: str) -> str:
    return " ".join(text.split())
