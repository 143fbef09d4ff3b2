"""Facts that say the same: the first keeps the sentences of all, however many facts there are."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from leadline.build.link.literals import read_date, read_quantity
from leadline.build.parts import reading, writing
from leadline.build.records import Drop, Fact, Support

_KEPT = ""  # the reason of what goes on


def same(fact: Fact) -> str:
    """What two facts that say the same have in common: ids, or the literal in one form.

    "8 October 1951" and "October 8, 1951" are one date; "70 km" and "70" are two quantities.
    """
    said = fact.object_id or _literal(fact)
    return "\x1f".join((fact.subject_id or "", fact.relation_id or "", said))


def _literal(fact: Fact) -> str:
    if fact.kind == "date" and (date := read_date(fact.object)):
        return f"date {date.text}"
    if fact.kind == "quantity" and (quantity := read_quantity(fact.object)):
        return f"quantity {quantity.number} {quantity.unit.casefold()}"
    return f"text {' '.join(fact.object.split()).casefold()}"


class Merging:
    """Takes facts in order, finds those that were there before, and gives all back with nothing lost.

    A dump's facts are tens of millions: they wait in files of `folder`, which is emptied before and after.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __enter__(self) -> Self:
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(parents=True)
        self._database = sqlite3.connect(self._folder / "same.sqlite", isolation_level=None)
        self._database.execute("PRAGMA journal_mode = OFF")
        self._database.execute("PRAGMA synchronous = OFF")
        self._database.execute("PRAGMA cache_size = -256000")  # 256 MB
        self._database.execute("CREATE TABLE first (same text PRIMARY KEY, fact text) WITHOUT ROWID")
        self._database.execute("CREATE TABLE more (fact text, article text, title text, supports text)")
        self._database.execute("BEGIN")
        self._held = ExitStack()
        self._write = self._held.enter_context(writing(self._folder / "facts.jsonl.zst"))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._held.__exit__(kind, error, trace)
        self._database.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def first(self, fact: Fact) -> str | None:
        """The id of the fact that said the same before; None where this is the first."""
        key = same(fact)
        found = self._database.execute("SELECT fact FROM first WHERE same = ?", (key,)).fetchone()
        if found is None:
            self._database.execute("INSERT INTO first VALUES (?, ?)", (key, fact.id))
            return None
        supports = json.dumps([one.model_dump(exclude_defaults=True) for one in fact.support])
        self._database.execute(
            "INSERT INTO more VALUES (?, ?, ?, ?)", (found[0], fact.article, fact.title, supports)
        )
        return str(found[0])

    def take(self, result: Fact | Drop) -> None:
        """Hold what was judged until all are there."""
        held = result if isinstance(result, Drop) else Drop(fact=result, stage=_KEPT, reason=_KEPT)
        self._write(held)

    def results(self) -> Iterator[Fact | Drop]:
        """What was taken, in order; the first of each kind with the sentences of the others."""
        self._held.close()
        self._database.execute("CREATE INDEX by_fact ON more(fact)")
        for held in reading(self._folder / "facts.jsonl.zst", Drop):
            yield held if held.reason else self._with_all(held.fact)

    def _with_all(self, fact: Fact) -> Fact:
        supports = {support.sentence: support for support in reversed(fact.support)}
        supports = dict(reversed(supports.items()))
        known = len(supports)
        for article, title, others in self._database.execute(
            "SELECT article, title, supports FROM more WHERE fact = ? ORDER BY rowid", (fact.id,)
        ):
            for other in json.loads(others):
                support = Support(**other)
                if article != fact.article:
                    support = support.model_copy(update={"article": article, "title": title})
                supports.setdefault(support.sentence, support)
        if len(supports) == known == len(fact.support):
            return fact
        return fact.model_copy(update={"support": tuple(supports.values())})
