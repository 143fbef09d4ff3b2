"""Answers that were given elsewhere become part of a study: written into its store, all of them or none.

They are stored as asked ones are, under a configuration that is named by its model and its own name. What is
there already is skipped when it says the same, and is a fault when it does not. Of a call that failed and an
answer to the same question, whichever came first, the answer counts.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from leadline.bench.problem import did_you_mean, shortened
from leadline.errors import UsageError
from leadline.study.lock import locked
from leadline.study.manifest import write_manifest
from leadline.study.members import RECORDED, check_not_asked, recorded_id
from leadline.study.seals import answer_seal, insert, reseal
from leadline.study.store import open_store, storable
from leadline.study.study import Study, open_study
from leadline.techniques.technique import Stage

# Samples are places in an array; a date or an id is none.
MAX_SAMPLE = 99_999
_AT_ONCE = 20_000
# Rows may come in any order: what is written to stays in memory up to this many kilobytes.
_CACHE_KB = 200_000
_INSERT = (
    "INSERT INTO responses (configuration, item, asked, sample, text, finish, tokens_in, tokens_out, stages, "
    "probes, run, created, seal) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
)
_INSERT_FAILURE = insert("failures")


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """One answer. `text` is None for a call that failed; `failure` is then its kind, `message` what it said.

    `sample` counts from 0 or from 1. `where` is the place in the file that it comes from, for faults.
    `finish` says why the text ends, as `Generation.finish`, "" where that is not known; tokens are 0 then.
    `logged` is the text as it was given, where `text` says the same in other words (the letter that an option
    has in the benchmark); it is kept as the stage before the answer.
    """

    item: str
    sample: int
    text: str | None
    failure: str = ""
    where: str = ""
    message: str = ""
    finish: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    logged: str | None = None


@dataclass(frozen=True)
class Recorded:
    """What became of answers: stored now, there before, and failed calls among those stored."""

    stored: int = 0
    known: int = 0
    failed: int = 0


@dataclass
class Target:
    """A configuration that answers are added to. `first` is the number of its first sample, once known."""

    id: str
    model: str
    name: str
    about: dict[str, Any]
    first: int | None
    lowest: int = MAX_SAMPLE + 1
    highest: int = -1
    failures: set[tuple[str, str, int]] | None = None

    @property
    def called(self) -> str:
        """Model and name."""
        return f"{self.model} · {self.name}"


@dataclass
class Recorder:
    """Writes answers of several configurations in any order. Use `recorder`."""

    study: Study
    run: int
    about: dict[str, Any]  # what is noted of this run; may be added to until the recorder is left
    _db: sqlite3.Connection
    _asked: dict[str, str] = field(default_factory=dict)
    _targets: dict[tuple[str, str], Target] = field(default_factory=dict)
    _rows: list[tuple[object, ...]] = field(default_factory=list)
    _places: list[tuple[Target, str]] = field(default_factory=list)
    _stored: int = 0
    _known: int = 0
    _failed: int = 0
    _now: float = field(default_factory=time.time)

    def __post_init__(self) -> None:
        """Know how each item is worded."""
        self._asked = {item.id: self.study.asked(item) for item in self.study.whole.items}

    def target(self, model: str, configuration: str, about: Mapping[str, Any] | None = None) -> Target:
        """The configuration of these names; `about` is added to what is known of it."""
        key = (model, configuration)
        if key not in self._targets:
            check_not_asked(self.study, model, configuration)
            identifier = recorded_id(model, configuration)
            row = self._db.execute(
                "SELECT description FROM configurations WHERE id = ?", (identifier,)
            ).fetchone()
            known = json.loads(row[0]).get(RECORDED) if row else {}
            if known is None:
                raise UsageError(
                    f"what was known of the answers of {model} · {configuration} is lost with damage",
                    where=str(self.study.folder),
                    fix="import them under another name",
                )
            self._targets[key] = Target(identifier, model, configuration, known, known.get("first_sample"))
        target = self._targets[key]
        target.about |= about or {}
        return target

    def add(self, target: Target, answer: RecordedAnswer) -> None:
        """Take one answer. Raises UsageError, with its `where`, for an item or sample that cannot be."""
        asked = self._asked.get(answer.item)
        if asked is None:
            raise self._no_item(answer)
        sample = answer.sample - (target.first or 0)
        if not 0 <= sample <= MAX_SAMPLE:
            raise _no_sample(answer, target)
        target.lowest = min(target.lowest, sample)
        target.highest = max(target.highest, sample)
        if answer.text is None:
            self._fail(target, asked, sample, answer)
            return
        text = answer.text if answer.text.isascii() else storable(answer.text)
        said = (text, answer.finish, answer.tokens_in, answer.tokens_out, _stages(answer))
        row = (target.id, answer.item, asked, sample, *said, "[]", self.run, self._now)
        self._rows.append((*row, answer_seal(row)))
        self._places.append((target, answer.where))
        if len(self._rows) >= _AT_ONCE:
            self._flush()

    def next_samples(self, target: Target) -> dict[str, int]:
        """For each item that has answers or failed calls under this configuration, the first free sample."""
        self._flush()
        rows = self._db.execute(
            "SELECT item, MAX(sample) + 1 FROM (SELECT item, sample FROM responses WHERE configuration = ? "
            "UNION ALL SELECT item, sample FROM failures WHERE configuration = ?) GROUP BY item",
            (target.id, target.id),
        )
        first = target.first or 0
        return {str(item): int(sample) + first for item, sample in rows}

    def finish(self) -> Recorded:
        """Write what is left, number samples from 0, and describe what was added to."""
        self._flush()
        for target in self._targets.values():
            if target.highest < 0:
                continue
            if target.first is None:
                target.first = int(target.lowest == 1)
                if target.first:
                    for table in ("responses", "failures"):
                        for change in (
                            f"UPDATE {table} SET sample = sample - 1 WHERE configuration = ?",
                            reseal(table, "configuration = ?"),
                        ):
                            self._db.execute(change, (target.id,))
                    target.highest -= 1
            samples = max(target.highest + 1, int(target.about.get("samples", 0)))
            about = {
                **target.about,
                "model": target.model,
                "configuration": target.name,
                "samples": samples,
                "first_sample": target.first,
            }
            self._db.execute(
                insert("configurations", "INSERT OR REPLACE"),
                (target.id, json.dumps({RECORDED: about}, sort_keys=True, ensure_ascii=False)),
            )
        return Recorded(self._stored, self._known, self._failed)

    def _fail(self, target: Target, asked: str, sample: int, answer: RecordedAnswer) -> None:
        if target.failures is None:
            target.failures = set(
                self._db.execute(
                    "SELECT item, asked, sample FROM failures WHERE configuration = ?", (target.id,)
                )
            )
        if (key := (answer.item, asked, sample)) in target.failures:
            self._known += 1
            return
        target.failures.add(key)
        message = storable(answer.message or answer.failure)
        row = (target.id, *key, answer.failure or "error", message, self.run, self._now)
        self._db.execute(_INSERT_FAILURE, row)
        self._stored += 1
        self._failed += 1

    def _flush(self) -> None:
        new = self._db.executemany(_INSERT, self._rows).rowcount if self._rows else 0
        self._stored += new
        self._known += len(self._rows) - new
        if new < len(self._rows):
            for row, (target, where) in zip(self._rows, self._places, strict=True):
                self._check_same(row, target, where)
        self._rows.clear()
        self._places.clear()

    def _check_same(self, row: tuple[object, ...], target: Target, where: str) -> None:
        *key, text = row[:5]
        (there,) = self._db.execute(
            "SELECT text FROM responses WHERE (configuration, item, asked, sample) = (?, ?, ?, ?)", key
        ).fetchone()
        if there != text:
            sample = int(str(row[3])) + (target.first or 0)
            raise UsageError(
                f"item {shortened(str(row[1]))}, sample {sample} of {target.called} is answered "
                f"{shortened(str(text))} here and {shortened(str(there))} before",
                where=where or None,
                fix="an item has one answer of each sample; which column tells the samples apart?",
            )

    def _no_item(self, answer: RecordedAnswer) -> UsageError:
        known = self._asked
        otherwise = f"ids are such as {shortened(next(iter(known), ''))}; leadline bench show lists them"
        return UsageError(
            f"{self.study.whole.name} has no item {shortened(answer.item)}",
            where=answer.where or None,
            fix=did_you_mean(answer.item, known, otherwise=otherwise),
        )


def _stages(answer: RecordedAnswer) -> str:
    """What stands before the answer, as the store has it."""
    if answer.logged is None:
        return "[]"
    stage = Stage("logged", storable(answer.logged), answer.finish, 0, 0)
    return json.dumps([asdict(stage)])


def _no_sample(answer: RecordedAnswer, target: Target) -> UsageError:
    if answer.sample < MAX_SAMPLE and target.first and answer.sample >= 0:
        what = f"sample {answer.sample}, where those of {target.called} are numbered from {target.first} on"
        return UsageError(what, where=answer.where or None, fix="number them as before")
    return UsageError(
        f"item {shortened(answer.item)}: a sample is a number up to {MAX_SAMPLE:,}, not {answer.sample:,}",
        where=answer.where or None,
        fix="without a column of samples, answers are numbered in the order of the file",
    )


@contextmanager
def recorder(
    study: Study, about: Mapping[str, Any] | None = None, *, keep: bool = True
) -> Iterator[Recorder]:
    """Record into a study, in one transaction: an exception leaves it as it was, and so does `keep=False`.

    `about` is noted as what this run was. Call `finish` last. Raises LeadlineError where the study is being
    run, or cannot be written.
    """
    with locked(study.folder), open_store(study.folder, write=True) as store:
        with store.transaction() as connection:
            connection.execute(f"PRAGMA cache_size = -{_CACHE_KB}")
            recording = _begun(study, connection, dict(about or {}), store.now())
            yield recording
            connection.execute(
                "UPDATE runs SET finished = ?, about = ? WHERE run = ?",
                (store.now(), _noted(recording.about), recording.run),
            )
            connection.execute(reseal("runs", "run = ?"), (recording.run,))
            if not keep:
                connection.rollback()
        if keep:
            asked = {entry.label for entry in study.config.models}
            identities = {label: one for label, one in store.models().items() if label in asked}
            write_manifest(study, store, identities, recording.run)


def _begun(study: Study, connection: sqlite3.Connection, about: dict[str, Any], now: float) -> Recorder:
    statement = "INSERT INTO runs (started, about) VALUES (?, ?)"
    run = connection.execute(statement, (now, _noted(about))).lastrowid
    return Recorder(study, int(run or 0), about, connection, _now=now)


def _noted(about: Mapping[str, Any]) -> str:
    return json.dumps({RECORDED: dict(about)}, sort_keys=True, ensure_ascii=False)


def record(
    folder: Path,
    model: str,
    configuration: str,
    about: Mapping[str, Any],
    answers: Iterable[RecordedAnswer],
) -> Recorded:
    """Write the answers of one configuration of one model into the study in `folder`.

    `about` is what is known of it beside the answers, as JSON values: "serving", "family", where it is from.
    Answers are taken one by one, so that millions of them need little memory. Raises UsageError, with the
    answer's `where`, for an unknown item, and for an answer that contradicts one that is there.
    """
    with recorder(open_study(folder), {"model": model, "configuration": configuration}) as recording:
        target = recording.target(model, configuration, about)
        for answer in answers:
            recording.add(target, answer)
        return recording.finish()
