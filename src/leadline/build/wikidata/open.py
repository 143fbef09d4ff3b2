"""Gathers the entities that a build wants, from files, a dump and the API, in this order, into one store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from leadline.build.plan import Plan
from leadline.build.plan_file import files_of, where_in
from leadline.build.progress import Progress, Quiet
from leadline.build.wikidata.api import EntityApi, agent
from leadline.build.wikidata.dump import Reading, read_dump
from leadline.build.wikidata.entity import id_order, is_entity_id
from leadline.build.wikidata.entity_files import read_files
from leadline.build.wikidata.redirects import redirects_of
from leadline.build.wikidata.store import ENTITIES, EntityStore, StoreWriter, writing_store
from leadline.build.workspace import Workspace, key_of, read_counts, write_json
from leadline.documents.fetch_settings import FetchSettings
from leadline.workers.engine import Engine
from leadline.workers.in_process import InProcess

# Classes above classes are asked of the API so many times; Wikidata's hierarchy is seldom deeper.
_MOST_STEPS = 8
_RATE = 5.0  # requests a second; one at a time is what the etiquette asks for


@dataclass
class Gathered:
    """How it went: ids per source, and files with broken lines."""

    sources: dict[str, int] = field(default_factory=dict)
    broken: dict[str, list[list[Any]]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Task:
    """A dump to go through, and where what is wanted of it goes."""

    dump: Path
    part: Path


@dataclass(frozen=True)
class _Wanted:
    ids: frozenset[bytes]
    languages: tuple[str, ...]
    told: Callable[[int], None] | None = None


def open_entities(
    plan: Plan,
    work: Workspace,
    ids: Iterable[str],
    *,
    folder: Path | None = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> EntityStore:
    """A store of those of `ids` that the plan's sources have; made where it is not there yet.

    For stages that need entities before the stage of that name has run. It lies in `folder`, else in the
    build's cache under a key of the ids and the sources.
    """
    wanted = _in_order(ids)
    if folder is None:
        stamps = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in source_files(plan)]
        key = key_of([wanted, plan.wikidata.model_dump(mode="json"), plan.articles.language, stamps])
        folder = work.folder / "cache" / "entities" / key[:16]
    path = folder / ENTITIES
    if not path.exists():
        gather(plan, wanted, path, _cache(work), engine or InProcess(), progress or Quiet())
    return EntityStore(path)


def source_files(plan: Plan) -> tuple[Path, ...]:
    """The files that entities are read from."""
    return (
        *files_of(plan, "wikidata", "entities"),
        *files_of(plan, "wikidata", "dump"),
        *files_of(plan, "wikidata", "redirects"),
    )


def gather(
    plan: Plan,
    ids: Iterable[str],
    path: Path,
    cache: Path,
    engine: Engine,
    progress: Progress,
    pages: Iterable[str] = (),
) -> Gathered:
    """Write the store at `path`. `pages` are the ids of which the classes' classes are wanted too.

    A dump gives the whole hierarchy of classes in the same pass. Each dump file is a task of its own, whose
    part stays beside `path` until all is done, so that an interrupted run does not begin again.
    """
    wanted = _in_order(ids)
    languages = (plan.articles.language,)
    how = Gathered()
    moved = redirects_of(files_of(plan, "wikidata", "redirects"), set(wanted))
    everything = {*wanted, *moved, *moved.values()}
    dumps = _through_dumps(plan, everything, languages, path.parent, engine, progress, how)
    with writing_store(path) as store:
        for old, new in sorted(moved.items()):
            store.redirect(old, new)
        for file in files_of(plan, "wikidata", "entities"):
            _from_file(file, everything, languages, store, how, progress)
        if plan.wikidata.entities:
            _count(how, "files", store, everything)
        for part in dumps:
            store.merge(part)
        if dumps:
            _count(how, "dump", store, everything)
        if plan.wikidata.api is not None:
            asking = agent(plan.wikidata.user_agent, where=where_in(plan, "wikidata", "api"))
            settings = FetchSettings(user_agent=asking, rate=_RATE)
            api = EntityApi(plan.wikidata.api, settings, cache / "wikidata-api.sqlite", languages)
            lacking = everything - store.held(everything)
            progress.begin("entities", len(lacking), "entities")
            for found in api.entities(lacking, progress.advance):
                store.add(found)
            _count(how, "api", store, everything)
            if not dumps:
                _climb(api, store, pages)
    for part in dumps:
        part.unlink(missing_ok=True)
        part.with_suffix(".json").unlink(missing_ok=True)
    return how


def _through_dumps(
    plan: Plan,
    wanted: set[str],
    languages: tuple[str, ...],
    folder: Path,
    engine: Engine,
    progress: Progress,
    how: Gathered,
) -> list[Path]:
    files = files_of(plan, "wikidata", "dump")
    tasks = [_Task(file, folder / "parts" / f"{number:05d}.sqlite") for number, file in enumerate(files)]
    todo = [task for task in tasks if not task.part.exists() or _counted(task) is None]
    if todo:
        progress.begin("entities", sum(task.dump.stat().st_size for task in todo), "bytes")
    told = progress.advance if engine.name == "in-process" else None  # it does not travel
    shared = _Wanted(frozenset(one.encode() for one in wanted), languages, told)
    for task, size in engine.run(go_through, todo, shared):
        if told is None:
            progress.advance(task.dump.stat().st_size)
        progress.note(f"{task.dump.name}: {size / 1e9:,.1f} GB of entities gone through")
    for task in tasks:
        said = _counted(task)
        if said is not None and said["broken"]:
            how.broken[task.dump.name] = said["faults"]
            progress.note(_broken(task.dump, said["broken"], said["faults"]))
    return [task.part for task in tasks]


def _counted(task: _Task) -> dict[str, Any] | None:
    """What was said of a dump when its part was whole; None where nothing was, or something else wrote it."""
    said = read_counts(task.part.with_suffix(".json"), {"broken": int, "faults": list})
    if said is None or bool(said["broken"]) != bool(said["faults"]):
        return None
    pairs = all(
        isinstance(one, list) and [type(part) for part in one] == [int, str] for one in said["faults"]
    )
    return said if pairs else None


def go_through(wanted: _Wanted, task: _Task) -> int:
    """Write the part of one dump, and last its counts; returns how many bytes it has, unpacked."""
    reading = Reading()
    with writing_store(task.part) as store:
        told = wanted.told or (lambda size: None)
        for kind, found in read_dump(task.dump, wanted.ids, wanted.languages, reading, told):
            if kind == "wanted":
                store.add(found)
            elif found.entity is not None:
                store.subclass(found.entity)
    counts = {"lines": reading.lines, "kept": reading.kept, "broken": reading.broken, "cut": reading.cut}
    write_json(task.part.with_suffix(".json"), {**counts, "faults": reading.faults})
    return reading.size


def _from_file(
    file: Path,
    wanted: set[str],
    languages: Sequence[str],
    store: StoreWriter,
    how: Gathered,
    progress: Progress,
) -> None:
    reading = Reading()
    for found in read_files(file, languages, reading):
        if found.id in wanted or (found.entity is not None and found.entity.id in wanted):
            store.add(found)
        elif found.entity is not None:
            store.subclass(found.entity)
    if reading.broken:
        how.broken[file.name] = [list(fault) for fault in reading.faults]
        progress.note(_broken(file, reading.broken, reading.faults))


def _broken(file: Path, count: int, faults: Sequence[Sequence[Any]]) -> str:
    line, why = faults[0]
    return f"{file}: broken lines, which are no entities: {count:,}, the first is line {line}: {why}"


def _climb(api: EntityApi, store: StoreWriter, pages: Iterable[str]) -> None:
    """The classes above what the pages are, step by step."""
    level, seen = store.classes_of(pages), set[str]()
    for _ in range(_MOST_STEPS):
        level -= seen
        if not level:
            return
        seen |= level
        for found in api.entities(one for one in level if not store.above([one])):
            if found.entity is not None:
                store.subclass(found.entity)
        level = store.above(level)


def _count(how: Gathered, source: str, store: StoreWriter, wanted: set[str]) -> None:
    """How many more of the wanted ids are settled than before."""
    how.sources[source] = len(store.held(wanted)) - sum(how.sources.values())


def _in_order(ids: Iterable[str]) -> list[str]:
    return sorted({one for one in ids if is_entity_id(one)}, key=id_order)


def _cache(work: Workspace) -> Path:
    return work.folder / "cache"
