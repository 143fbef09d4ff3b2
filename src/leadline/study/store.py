"""The responses of a study: one append-only SQLite table, unique on (configuration, item, wording, sample).

Raw answers are kept for ever and whole. An interrupted call leaves nothing; a failed one leaves a row in
`failures`, and a later run asks again. When an item's wording changes, answers to the old wording stay where
they are but are not used: `asked` is a hash of what the item shows.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from leadline.engine import GoldProbe
from leadline.errors import LeadlineError
from leadline.models.model import ModelIdentity
from leadline.study.database import (
    DATABASE,
    MANIFEST,
    NoAnswersError,
    check_whole,
    columns_of,
    connect,
    is_begun,
    is_sealed,
    make_ready,
    named_faults,
)
from leadline.study.seals import answer_seal, check_answers, fits, insert, reseal
from leadline.study.tables import COLUMNS
from leadline.techniques import Answer, Stage

__all__ = ["DATABASE", "Key", "Response", "RunNote", "Store", "open_store", "storable"]

Part = TypeVar("Part", Stage, GoldProbe)


@dataclass(frozen=True)
class Key:
    """What a response belongs to within a configuration."""

    item: str
    asked: str
    sample: int


@dataclass(frozen=True)
class Response:
    """One stored answer."""

    key: Key
    text: str
    finish: str
    tokens_in: int
    tokens_out: int
    stages: tuple[Stage, ...]
    probes: tuple[GoldProbe, ...]


@dataclass(frozen=True)
class RunNote:
    """What is known of a run: seconds since 1970, `finished` None where it did not come to its end."""

    run: int
    started: float
    finished: float | None
    about: dict[str, Any]


class Store:
    """An open database. Use `open_store`."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._db, self.path = connection, path
        self._is_sealed = is_sealed(connection)
        self.added = 0  # answers that were stored since this was opened
        self.asking = ""  # the configuration that is being asked: requests to providers are noted with it
        self._latest = 0.0

    def now(self) -> float:
        """Seconds since 1970, and never less than before: where the clock is set back in the midst of a run,
        its answers still lie between its start and its end."""
        self._latest = max(self._latest, time.time())
        return self._latest

    def begin_run(self, about: dict[str, Any]) -> int:
        """Note that a run starts; its number goes on every answer that it stores."""
        with named_faults(self.path), self._db:
            row = self._db.execute(
                "INSERT INTO runs (started, about) VALUES (?, ?)",
                (self.now(), json.dumps(about, sort_keys=True)),
            )
            self._db.execute(_RESEAL_RUN, (row.lastrowid,))
        return int(row.lastrowid or 0)

    def end_run(self, run: int) -> None:
        """Note that a run came to its end."""
        with named_faults(self.path), self._db:
            self._db.execute("UPDATE runs SET finished = ? WHERE run = ?", (self.now(), run))
            self._db.execute(_RESEAL_RUN, (run,))

    def note_run(self, run: int, more: dict[str, Any]) -> None:
        """Add to what is noted of a run; keys that are there are replaced."""
        with named_faults(self.path), self._db:
            (about,) = self._db.execute("SELECT about FROM runs WHERE run = ?", (run,)).fetchone()
            text = json.dumps(json.loads(about) | more, sort_keys=True)
            self._db.execute("UPDATE runs SET about = ? WHERE run = ?", (text, run))
            self._db.execute(_RESEAL_RUN, (run,))

    def history(self) -> list[RunNote]:
        """What was noted of every run, in order."""
        with named_faults(self.path):
            try:
                rows = self._db.execute("SELECT run, started, finished, about FROM runs ORDER BY run")
                return [
                    RunNote(run, begun, ended, dict(json.loads(about))) for run, begun, ended, about in rows
                ]
            except (ValueError, TypeError) as error:
                raise sqlite3.DatabaseError(f"a row is damaged ({error})") from error

    def has_answers(self, configuration: str) -> bool:
        """Whether anything is stored under this configuration."""
        with named_faults(self.path):
            row = self._db.execute(
                "SELECT 1 FROM responses WHERE configuration = ? LIMIT 1", (configuration,)
            ).fetchone()
            return row is not None

    def wordings(self, configurations: Iterable[str], item: str) -> list[str]:
        """The wordings under which an item was answered, in order of the run that first asked so."""
        found: dict[str, int] = {}
        with named_faults(self.path):
            for configuration in configurations:
                rows = self._db.execute(
                    "SELECT asked, MIN(run) FROM responses WHERE configuration = ? AND item = ? "
                    "GROUP BY asked",
                    (configuration, item),
                )
                for asked, run in rows:
                    found[asked] = min(run, found.get(asked, run))
        return sorted(found, key=lambda asked: (found[asked], asked))

    def set_model(self, label: str, identity: ModelIdentity) -> None:
        """Remember which model a label stands for now."""
        with named_faults(self.path), self._db:
            self._db.execute(
                insert("models", "INSERT OR REPLACE"),
                (label, json.dumps(asdict(identity), sort_keys=True)),
            )

    def models(self) -> dict[str, ModelIdentity]:
        """Label → identity of the models that were asked."""
        with named_faults(self.path):
            rows = self._db.execute("SELECT label, identity FROM models").fetchall()
            try:
                return {label: ModelIdentity(**json.loads(identity)) for label, identity in rows}
            except (ValueError, TypeError) as error:
                raise sqlite3.DatabaseError(f"a row is damaged ({error})") from error

    def set_configuration(self, identifier: str, description: dict[str, Any]) -> None:
        """Keep what a configuration's id is the hash of."""
        with named_faults(self.path), self._db:
            self._db.execute(
                insert("configurations", "INSERT OR IGNORE"),
                (identifier, json.dumps(description, sort_keys=True, ensure_ascii=False)),
            )

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """The connection, for statements of which all count or none: an exception takes them back."""
        with named_faults(self.path), self._db:
            yield self._db

    def note_registration(self, sha256: str, prediction: str) -> None:
        """Remember that a prediction about this study was registered, in words, and under which stamp."""
        with named_faults(self.path), self._db:
            self._db.execute(insert("registrations", "INSERT OR IGNORE"), (sha256, prediction, self.now()))

    def registrations(self) -> dict[str, float]:
        """Stamp → time of every prediction that was registered here, in order."""
        rows = self.select("registrations", "SELECT sha256, created FROM registrations ORDER BY rowid")
        return {str(sha256): float(created) for sha256, created in rows}

    def select(self, table: str, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """What `statement` finds in `table`; nothing where a database of an earlier version, not run since,
        has no such table."""
        with named_faults(self.path):
            if not self._db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone():
                return []
            return self._db.execute(statement, values).fetchall()

    def configurations(self) -> dict[str, dict[str, Any]]:
        """Id → description of every configuration that was ever asked here."""
        with named_faults(self.path):
            try:
                return {
                    identifier: dict(json.loads(description))
                    for identifier, description in self._db.execute(
                        "SELECT id, description FROM configurations"
                    )
                }
            except (ValueError, TypeError) as error:
                raise sqlite3.DatabaseError(f"a row is damaged ({error})") from error

    def times(self, configuration: str) -> dict[Key, float]:
        """When each response of a configuration was stored, in seconds since 1970."""
        with named_faults(self.path):
            rows = self._db.execute(
                "SELECT item, asked, sample, created FROM responses WHERE configuration = ?", (configuration,)
            )
            return {Key(item, asked, sample): float(created) for item, asked, sample, created in rows}

    def stamps(self, configuration: str) -> Iterator[tuple[Key, str, float, tuple[Stage, ...]]]:
        """Of each response of a configuration: why it ended, when it was stored (seconds since 1970), and the
        stages before its last."""
        with named_faults(self.path):
            rows = self._db.execute(
                "SELECT item, asked, sample, finish, created, stages FROM responses WHERE configuration = ?",
                (configuration,),
            )
            for item, asked, sample, finish, created, stages in rows:
                before = () if stages == "[]" else _parsed(Stage, stages)
                yield Key(item, asked, sample), str(finish), float(created), before

    def answered(self, configuration: str, run: int | None = None) -> set[Key]:
        """What has a response under this configuration; of one run alone, where one is named."""
        with named_faults(self.path):
            rows = self._db.execute(
                "SELECT item, asked, sample FROM responses "
                "WHERE configuration = ?1 AND (?2 IS NULL OR run = ?2)",
                (configuration, run),
            )
            return {Key(*row) for row in rows}

    def add(self, configuration: str, run: int, answers: Iterable[tuple[Key, Answer]]) -> None:
        """Store answers, all or none. An answer that is there already is never replaced (IntegrityError)."""
        rows = [_row(configuration, run, key, answer, self.now()) for key, answer in answers]
        with named_faults(self.path), self._db:
            self._db.executemany(_INSERT, rows)
        self.added += len(rows)

    def add_again(self, configuration: str, run: int, answers: Iterable[tuple[Key, Answer]]) -> None:
        """Store answers in the place of those that are there, which are set aside; all or none."""
        rows = [_row(configuration, run, key, answer, self.now()) for key, answer in answers]
        which = "WHERE configuration = ? AND item = ? AND asked = ? AND sample = ?"
        with named_faults(self.path), self._db:
            for row in rows:
                before = row[:4]
                (old,) = self._db.execute(f"SELECT {_ALL}, {run:d} FROM responses {which}", before)
                self._db.execute(insert("set_aside"), old)
                self._db.execute(f"DELETE FROM responses {which}", before)
                self._db.execute(_INSERT, row)
        self.added += len(rows)

    def add_failure(self, configuration: str, run: int, key: Key, kind: str, message: str) -> None:
        """Note that asking failed; a later run asks again."""
        with named_faults(self.path), self._db:
            self._db.execute(
                insert("failures"),
                (configuration, key.item, key.asked, key.sample, kind, message, run, self.now()),
            )

    def responses(self, configuration: str) -> Iterator[Response]:
        """All responses of a configuration, in the order of (item, wording, sample)."""
        with named_faults(self.path):
            rows = self._db.execute(
                f"SELECT {_ALL}, {self._seal} FROM responses WHERE configuration = ? "
                "ORDER BY item, asked, sample",
                (configuration,),
            )
            for *row, seal in rows:
                _, item, asked, sample, text, finish, tokens_in, tokens_out, stages, probes, _, _ = row
                if self._is_sealed and not fits("responses", row, seal):
                    raise sqlite3.DatabaseError(f"an answer is damaged (item {item}, sample {sample})")
                yield Response(
                    Key(item, asked, sample),
                    text,
                    finish,
                    tokens_in,
                    tokens_out,
                    _parsed(Stage, stages),
                    _parsed(GoldProbe, probes),
                )

    def batches(self, configuration: str, size: int = 100_000) -> Iterator[list[list[Any]]]:
        """All responses of a configuration, column by column: item, asked, sample, text, finish, tokens_in,
        tokens_out, probes, created.

        So many rows at a time, in the order of (item, wording, sample); `probes` is None where there are
        none, else as `probes_of` reads it. For whoever looks at millions of responses.
        """
        with named_faults(self.path):
            rows = self._db.execute(
                "SELECT item, asked, sample, text, finish, tokens_in, tokens_out, NULLIF(probes, '[]'), "
                f"run, created, {self._seal} FROM responses WHERE configuration = ? "
                "ORDER BY item, asked, sample",
                (configuration,),
            )
            while columns := columns_of(rows, size):
                if self._is_sealed:
                    check_answers(configuration, columns)
                yield [*columns[:8], columns[9]]

    @property
    def _seal(self) -> str:
        """The column of seals; a database of an earlier version, not run since, has none."""
        return "seal" if self._is_sealed else "NULL"

    def probes_of(self, stored: str) -> tuple[GoldProbe, ...]:
        """What a row of `batches` holds as `probes`."""
        with named_faults(self.path):
            return _parsed(GoldProbe, stored)

    def failures(self, configuration: str) -> dict[Key, str]:
        """The kind of the last failure of what has no response."""
        with named_faults(self.path):
            rows = self._db.execute(
                "SELECT item, asked, sample, kind FROM failures AS f WHERE configuration = ? AND NOT EXISTS "
                "(SELECT 1 FROM responses AS r WHERE r.configuration = f.configuration AND r.item = f.item "
                "AND r.asked = f.asked AND r.sample = f.sample) ORDER BY rowid",
                (configuration,),
            )
            return {Key(item, asked, sample): str(kind) for item, asked, sample, kind in rows}


_ALL = ", ".join(COLUMNS["responses"])
_INSERT = f"INSERT INTO responses ({_ALL}, seal) VALUES ({','.join('?' * 13)})"
_RESEAL_RUN = reseal("runs", "run = ?")


def _row(configuration: str, run: int, key: Key, answer: Answer, created: float) -> tuple[object, ...]:
    """An answer as a row of `responses`, with its seal."""
    row = (
        configuration,
        key.item,
        key.asked,
        key.sample,
        storable(answer.text),
        answer.finish,
        answer.tokens_in,
        answer.tokens_out,
        json.dumps([asdict(stage) for stage in answer.stages[:-1]]),
        json.dumps([asdict(probe) for probe in answer.probes]),
        run,
        created,
    )
    return (*row, answer_seal(row))


def _parsed(kind: type[Part], stored: str) -> tuple[Part, ...]:
    """The parts that a JSON column holds."""
    try:
        return tuple(kind(**part) for part in json.loads(stored))
    except (ValueError, TypeError) as error:
        raise sqlite3.DatabaseError(f"a row is damaged ({error})") from error


def storable(text: str) -> str:
    """Text as SQLite can hold it: a lone surrogate (no tokenizer makes one, some servers do) is escaped."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


@contextmanager
def open_store(folder: Path, *, write: bool) -> Iterator[Store]:
    """The study's database. With `write` it is made if need be, and nobody else may write at the same time;
    without, all that is read is of the moment at which it was opened.

    Raises LeadlineError for a damaged file, a folder that cannot be written, or a study that is being run.
    """
    path = folder / DATABASE
    if path.is_dir():
        raise LeadlineError("is a folder, not a database", where=str(path), fix="move it aside")
    is_old = path.exists()
    if not write and not is_old:
        raise NoAnswersError(folder)
    with named_faults(path):
        connection = connect(path, write)
    try:
        with named_faults(path):
            if not write:
                connection.execute("BEGIN")  # what is read is of one moment, whoever writes meanwhile
            check_whole(connection, path)
            if is_old and not is_begun(connection):
                if (folder / MANIFEST).exists():  # which is written when there are tables
                    raise sqlite3.DatabaseError("it was emptied")
                if not write:
                    raise NoAnswersError(folder)
            if write:
                make_ready(connection)
        yield Store(connection, path)
    finally:
        connection.close()
