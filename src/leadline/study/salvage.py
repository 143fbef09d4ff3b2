"""From the pages of a damaged database to a whole one: every row whose seal fits, and the rows of a database
without seals that look like rows."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from leadline.models.model import ModelIdentity
from leadline.study.configuration import configuration_id
from leadline.study.database import FORMAT
from leadline.study.pages import Pages, Record
from leadline.study.seals import ANSWERS, answer_seal, fits, register, row_seal
from leadline.study.store import Key
from leadline.study.study import Study
from leadline.study.tables import COLUMNS, SCHEMA, TYPES

_WITHOUT_ROWID = frozenset(("models", "configurations", ANSWERS))
_NUMBERED = frozenset(("runs", "calls"))  # whose first column is the row's number, and not in the record
_JSON = frozenset(("about", "identity", "description", "stages", "probes"))
_HOLDS: dict[str, tuple[type, ...]] = {"TEXT": (str,), "INTEGER": (int,), "REAL": (int, float)}
_RECORDED = "recorded"
# What is known of a run or a configuration whose own row is lost.
LOST = {"lost": True}


@dataclass
class Salvage:
    """What was found in a damaged file: rows by table, those of them without a seal to go by, and the keys of
    answers, by configuration, that were seen and are not what was stored."""

    rows: Counter[str] = field(default_factory=Counter)
    unsealed: int = 0
    damaged: list[tuple[str, Key]] = field(default_factory=list)
    is_sealed: bool = True


def salvage(damaged: Path, whole: Path, study: Study) -> Salvage:
    """Write what can be read of the database `damaged` into the new one `whole`, and make that fit together.

    `study` tells what the ids of configurations stand for, where that is lost. Raises OSError and
    sqlite3.Error for what the disk says.
    """
    pages = Pages(damaged)
    found = Salvage(is_sealed=_is_sealed(pages))
    database = sqlite3.connect(whole)
    try:
        database.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {SCHEMA}")
        register(database)
        with database:
            for record in pages.records():
                _take(record, database, found)
            for table in COLUMNS:
                found.rows[table] = database.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]
            _fit(database, study)
            database.execute(f"PRAGMA user_version = {FORMAT}")
        if database.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            raise AssertionError("what was recovered is damaged")
    finally:
        database.close()
    return found


def _is_sealed(pages: Pages) -> bool:
    """Whether rows are to have seals: some have."""
    return any(
        len(record.values) == len(COLUMNS[table]) + 1
        and fits(table, _whole(record, table), record.values[-1])
        for record in pages.records()
        for table in COLUMNS
    )


def _whole(record: Record, table: str) -> tuple[Any, ...]:
    """The columns of a record of this table, without its seal."""
    values = record.values[: len(COLUMNS[table])]
    return (record.rowid, *values[1:]) if table in _NUMBERED else values


def _take(record: Record, database: sqlite3.Connection, found: Salvage) -> None:
    """Store a record, if it is a row of ours."""
    for table, names in COLUMNS.items():
        if (record.kind == "index") != (table in _WITHOUT_ROWID):
            continue
        values = _whole(record, table)
        if found.is_sealed:
            if len(record.values) != len(names) + 1:
                continue
            seal = record.values[-1]
            if fits(table, values, seal):
                _store(table, values, seal, record.rowid, database)
                return
            if table == ANSWERS and _looks_like(table, values):
                found.damaged.append((values[0], Key(*values[1:4])))
        elif len(record.values) == len(names) and _looks_like(table, values):
            _store(table, values, _sealed(table, values), record.rowid, database)
            found.unsealed += table == ANSWERS
            return


def _sealed(table: str, values: tuple[Any, ...]) -> int:
    return answer_seal(values) if table == ANSWERS else row_seal(table, values)


def _store(
    table: str, values: tuple[Any, ...], seal: int, rowid: int | None, database: sqlite3.Connection
) -> None:
    names = [*COLUMNS[table], "seal"]
    given: list[Any] = [*values, seal]
    if rowid is not None and table not in _NUMBERED:  # their order tells which came last
        names, given = ["rowid", *names], [rowid, *given]
    places = ", ".join("?" * len(given))
    # Of two answers of one key the later counts: the other was set aside.
    later = "" if table != ANSWERS else " WHERE excluded.created > created"
    how = "INSERT OR REPLACE"
    rest = ""
    if table == ANSWERS:
        how = "INSERT"
        changes = ", ".join(f"{name} = excluded.{name}" for name in names)
        rest = f" ON CONFLICT DO UPDATE SET {changes}{later}"
    database.execute(f"{how} INTO {table} ({', '.join(names)}) VALUES ({places}){rest}", given)


def _looks_like(table: str, values: tuple[Any, ...]) -> bool:
    """Whether these can be a row of this table: for one that has no seal."""
    for (name, kind), value in zip(TYPES[table].items(), values, strict=False):
        if value is None:
            if table == ANSWERS or name == next(iter(TYPES[table])):
                return False
            continue
        if not isinstance(value, _HOLDS[kind]):
            return False
        if name in _JSON and not _is_json(str(value)):
            return False
    if table == "configurations":
        about = json.loads(values[1])
        return isinstance(about, dict) and (_RECORDED in about or configuration_id(about) == values[0])
    return table != "models" or _is_identity(values[1])


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _is_identity(text: str) -> bool:
    try:
        ModelIdentity(**json.loads(text))
    except TypeError:
        return False
    return True


def _fit(database: sqlite3.Connection, study: Study) -> None:
    """Make up for rows that others need and that are lost: models by what runs noted of them, configurations
    by the study, and runs by their numbers alone."""
    abouts = [json.loads(about) for (about,) in database.execute("SELECT about FROM runs ORDER BY run")]
    known = dict(database.execute("SELECT id, description FROM configurations").fetchall())
    kinds = {
        model["digest"]: model["kind"]
        for model in (json.loads(about).get("model") for about in known.values())
        if isinstance(model, dict)
    }
    models = {
        label: ModelIdentity(**json.loads(text))
        for label, text in database.execute("SELECT label, identity FROM models")
    }
    for label, noted in ((label, one) for about in abouts for label, one in about.get("models", {}).items()):
        if label not in models and noted["digest"] in kinds:
            kind = kinds[noted["digest"]]
            one = ModelIdentity(label, kind, noted["digest"], noted["dtype"], "", "", "")
            models[label] = one
            _keep_model(label, one, database)
    if not models and kinds:  # which label had which of them is lost; the next run notes it
        digest, kind = next(iter(kinds.items()))
        _keep_model("lost", ModelIdentity("lost", kind, digest, "", "", "", ""), database)
    described = {
        study.configuration_id(one, identity): study.described(one, identity)
        for identity in models.values()
        for one in study.configurations
    }
    rows = database.execute("SELECT DISTINCT configuration FROM responses").fetchall()
    for (identifier,) in rows:
        if identifier not in known:
            text = json.dumps(described.get(identifier, LOST), sort_keys=True, ensure_ascii=False)
            values = (identifier, text)
            _store("configurations", values, row_seal("configurations", values), None, database)
    rows = database.execute(
        "SELECT run, MIN(created) FROM responses WHERE run NOT IN (SELECT run FROM runs) GROUP BY run"
    ).fetchall()
    for number, begun in rows:
        run = (number, begun, None, json.dumps(LOST))
        _store("runs", run, row_seal("runs", run), number, database)


def _keep_model(label: str, identity: ModelIdentity, database: sqlite3.Connection) -> None:
    values = (label, json.dumps(asdict(identity), sort_keys=True))
    _store("models", values, row_seal("models", values), None, database)
