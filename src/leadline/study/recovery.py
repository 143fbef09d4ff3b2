"""A damaged database gives way to a whole one with every answer that can still be read; what is lost is told,
and the next run asks it.

Killed at any moment, it is begun again or ended by the next call: the new database is made under a name of
its own, and takes its place in one step. The damaged file stays under another name.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from leadline.errors import LeadlineError
from leadline.models.model import ModelIdentity
from leadline.study.database import DATABASE, RECOVERED, NoAnswersError, named_faults
from leadline.study.lock import locked
from leadline.study.manifest import Remembered, remembered
from leadline.study.members import RECORDED
from leadline.study.salvage import Salvage, salvage
from leadline.study.seals import insert, register
from leadline.study.store import RunNote, Store, open_store
from leadline.study.study import Study
from leadline.study.wanted import wanted

_UNFINISHED = "responses.sqlite.recovering"


@dataclass(frozen=True)
class Missing:
    """Answers of one configuration that the study asks for and that are not there, and of which items."""

    model: str
    configuration: str
    answers: int
    items: tuple[str, ...]


@dataclass(frozen=True)
class Recovered:
    """What became of a database.

    answers: that are there now. unsealed: how many of them are from a version without seals, so that a byte
    that turned over within one would not show. lost: answers that runs noted, in the database or in
    manifest.json, and that are not there any more; at least, where a run came to no end. all_known: whether
    something is left of every run; else more may be lost. damaged: answers that were found and are not what
    was stored.
    missing: what the study lacks, whether it was lost or never asked. has_imported: answers were imported,
    and nobody but who did so knows how many there were. kept: the damaged file; None where nothing is.
    """

    answers: int
    kept: Path | None
    unsealed: int = 0
    lost: int = 0
    all_known: bool = True
    damaged: int = 0
    has_imported: bool = False
    missing: tuple[Missing, ...] = ()


def recover(study: Study) -> Recovered:
    """Put a whole database in the place of a damaged one; of one that is whole, say so and leave it.

    Raises LeadlineError where there is none, where the study is being run, and for what the disk says.
    """
    path = study.folder / DATABASE
    with locked(study.folder):
        try:
            ended = _take_place(path)
            if not path.exists():
                raise LeadlineError("this study has no answers yet", where=str(study.folder))
            if path.is_dir():
                raise LeadlineError("is a folder, not a database", where=str(path), fix="move it aside")
            if ended is None and (answers := _whole(study.folder)) is not None:
                return Recovered(answers, None)
            if ended is None:
                _make(path, study)
                ended = _take_place(path)
        except OSError as error:
            fix = "free some space, or make the folder writable; nothing was changed"
            raise LeadlineError(
                f"cannot be recovered: {error.strerror or error}", where=str(path), fix=fix
            ) from error
        with open_store(study.folder, write=False) as store:
            return _told(study, store, ended)


def _whole(folder: Path) -> int | None:
    """How many answers there are, if none is damaged; else None."""
    try:
        with open_store(folder, write=False) as store:
            ((stored,),) = store.select("responses", "SELECT COUNT(*) FROM responses")
            read = sum(1 for one in store.configurations() for _ in store.responses(one))
            store.history(), store.models()
            return int(stored) if stored == read else None
    except NoAnswersError:  # an empty file is a sound database to SQLite
        return None
    except LeadlineError as error:
        if isinstance(error.__cause__, sqlite3.DatabaseError) and "leadline recover" in (error.fix or ""):
            return None
        raise


def _make(path: Path, study: Study) -> None:
    """Write all that can be read of the database at `path` beside it, and say with its name that it is
    complete."""
    unfinished = path.with_name(_UNFINISHED)
    unfinished.unlink(missing_ok=True)
    try:
        with named_faults(unfinished):
            found = salvage(path, unfinished, study)
            _note(unfinished, found)
        with unfinished.open("rb+") as file:
            os.fsync(file.fileno())
    except BaseException:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise
    unfinished.replace(path.with_name(RECOVERED))


def _note(unfinished: Path, found: Salvage) -> None:
    """Keep with the answers that they were recovered, and what of them was not as it was stored."""
    database = sqlite3.connect(unfinished)
    try:
        register(database)
        (last,) = database.execute("SELECT COALESCE(MAX(run), 0) FROM runs").fetchone()
        recorded = {
            identifier
            for identifier, about in database.execute("SELECT id, description FROM configurations")
            if RECORDED in json.loads(about)
        }
        there = "SELECT 1 FROM responses WHERE (configuration, item, asked, sample) = (?, ?, ?, ?)"
        damaged = [
            identifier
            for identifier, key in dict.fromkeys(found.damaged)
            if not database.execute(there, (identifier, key.item, key.asked, key.sample)).fetchone()
        ]
        about = {
            "recovered": {
                "answers": found.rows["responses"],
                "unsealed": found.unsealed,
                "damaged": len(damaged),
                "recorded": len(recorded),
            }
        }
        now = time.time()
        with database:
            database.execute(insert("runs"), (last + 1, now, now, json.dumps(about, sort_keys=True)))
    finally:
        database.close()


def _take_place(path: Path) -> Path | None:
    """Put the recovered database, if one is complete, into the place of the damaged one; where that is."""
    recovered, log = path.with_name(RECOVERED), path.with_name(f"{path.name}-wal")
    if not recovered.exists():
        return None
    kept = _kept(path)
    if path.exists() and not (kept.exists() and kept.samefile(path)):
        try:
            os.link(path, kept)
        except OSError:  # a file system without links
            part = kept.with_name(f"{kept.name}.part")
            shutil.copyfile(path, part)
            part.replace(kept)
    # A log that stays would be taken for that of the new database.
    if log.exists():
        log.replace(kept.with_name(f"{kept.name}-wal"))
    path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
    recovered.replace(path)
    return kept


def _kept(path: Path) -> Path:
    """A name for the damaged file: the next that is free, or the one that it has got already."""
    number = 1
    while True:
        kept = path.with_name(f"responses.damaged-{number}.sqlite")
        if not kept.exists() or (path.exists() and kept.samefile(path)):
            return kept
        number += 1


def _told(study: Study, store: Store, kept: Path | None) -> Recovered:
    """What was recovered and what is lacking now, from the database as it is."""
    ((answers,),) = store.select("responses", "SELECT COUNT(*) FROM responses")
    counted = dict(store.select("responses", "SELECT run, COUNT(*) FROM responses GROUP BY run"))
    for run, number in store.select("set_aside", "SELECT run, COUNT(*) FROM set_aside GROUP BY run"):
        counted[run] = counted.get(run, 0) + number
    history = store.history()
    noted = history[-1].about["recovered"]
    known = remembered(study.folder)
    drawn, all_known = _drawn(history[:-1], known)
    lost = sum(max(0, number - counted.get(run, 0)) for run, number in drawn.items())
    missing = []
    for label, identity in sorted(_models(study, store, known, answers).items()):
        for one in study.configurations:
            jobs = wanted(study, store, identity, one, retry_failed=True).jobs
            items = tuple(dict.fromkeys(key.item for key in jobs))
            if jobs:
                missing.append(Missing(label, one.name, len(jobs), items))
    return Recovered(
        answers=int(answers),
        kept=kept,
        unsealed=noted["unsealed"],
        lost=lost,
        all_known=all_known,
        damaged=noted["damaged"],
        has_imported=noted["recorded"] > 0 or known.has_imported or not study.config.models,
        missing=tuple(missing),
    )


def _drawn(history: list[RunNote], known: Remembered) -> tuple[dict[int, int], bool]:
    """Run → how many answers it noted, from what is left of the runs and from the manifest, and whether that
    is known of every run."""
    noted = {one.run: one.about.get("drawn") or 0 for one in history if "lost" not in one.about}
    drawn = known.drawn | noted
    last = max([*drawn, *(one.run for one in history)], default=0)
    return drawn, 0 < last == len(drawn)


def _models(study: Study, store: Store, known: Remembered, answers: int) -> dict[str, ModelIdentity]:
    """The study's models by label, as far as it is known which they were. Where no answer is left it makes no
    difference: all is missing, of whichever model."""
    labels = {entry.label for entry in study.config.models}
    unknown = {} if answers else {label: ModelIdentity(label, "lost", "", "", "", "", "") for label in labels}
    found = unknown | known.models | store.models()
    return {label: identity for label, identity in found.items() if label in labels}


def as_json(found: Recovered) -> str:
    """All that is told, as JSON."""
    told = asdict(found) | {"kept": None if found.kept is None else str(found.kept)}
    return json.dumps(told, indent=1, ensure_ascii=False)
