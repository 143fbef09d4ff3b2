"""Sentences looked up in an infini-gram index of a training corpus, instead of a scan of its shards.

An index knows how often a sequence of tokens occurs, at once, in trillions of tokens. Two things it does not
know, and both are said of each result:

- Tokens are not bytes. The same sentence may be cut into tokens in another way where it stands in a document
  (after a line break, say), and then is not counted; two texts may become the same tokens. Whether a sentence
  stands in the corpus is therefore read off documents that the index gives back, never off a count.
- Only some of the documents are looked at.

An index over bytes has no such gap: its counts are those of a scan.

Source: Liu et al. 2024, https://arxiv.org/abs/2401.17377.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from pydantic import BaseModel, ConfigDict, ValidationError

from leadline.build.plan import Plan
from leadline.build.plan_file import where_in
from leadline.build.presence.normal_form import form
from leadline.build.records import Tier
from leadline.errors import UsageError

CACHE = "infini-gram.sqlite"
_TIERS: tuple[Tier, ...] = ("exact", "normalised", "stripped")
Query = str | tuple[int, ...]
"""What an index is asked for: token ids, or a text whose tokens the API makes."""


class Unasked(Exception):  # noqa: N818  # an outcome
    """A sentence that an index cannot be asked for, and why."""


class Counted(NamedTuple):
    """How often a query occurs, and whether that is an estimate."""

    times: int
    approx: bool


class Document(NamedTuple):
    """A part of a document around an occurrence."""

    name: str
    text: str


class Index(Protocol):
    """An infini-gram index. `name` is what its answers are kept under."""

    name: str
    on: Literal["bytes", "tokens"]

    def queries(self, sentence: str) -> tuple[Query, ...]:
        """The ways in which a sentence may stand there as tokens. Raises Unasked."""

    def count(self, query: Query) -> Counted:
        """How often it occurs."""

    def documents(self, query: Query, most: int) -> Iterator[Document]:
        """Documents in which it occurs, `most` at most, always the same ones."""


class Found(BaseModel):
    """What is known of one sentence.

    `count` is of its tokens (`on`), None where it could not be asked, and why then is in `unasked`; `approx`:
    the index estimated it. `tier` is the strictest one on which a document that was looked at holds the
    sentence, None where none does: it is never concluded from a count. `documents` are those that hold it,
    `looked` is how many were looked at.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    sentence: str
    count: int | None
    on: Literal["bytes", "tokens"]
    approx: bool = False
    tier: Tier | None = None
    documents: tuple[str, ...] = ()
    looked: int = 0
    unasked: str = ""


def look_up(
    sentences: Sequence[str],
    plan: Plan,
    folder: Path,
    progress: Callable[[int], None] = lambda done: None,
) -> list[Found]:
    """Each sentence in the index that the plan names (`presence.infini_gram`), in the same order.

    What was answered is kept in `folder`, one SQLite file: an interrupted run goes on where it was. Raises
    UsageError where the index cannot be used, LeadlineError where it cannot be asked.
    """
    if plan.presence is None:
        raise UsageError("names no corpus", where=str(plan.file), fix="presence: infini_gram: INDEX")
    most = max(1, plan.presence.locations)
    results = []
    with index_of(plan) as index, closing(_Cache(folder, f"{index.name} {most}")) as kept:
        for sentence in sentences:
            found = kept.get(sentence)
            if found is None:
                found = looked_up(sentence, index, most)
                kept.put(found)
            results.append(found)
            progress(1)
    return results


def looked_up(sentence: str, index: Index, most: int) -> Found:
    """One sentence: counted, then looked for in `most` documents at most."""
    try:
        queries = index.queries(sentence)
    except Unasked as why:
        return Found(sentence=sentence, count=None, on=index.on, unasked=str(why))
    counts = [index.count(query) for query in queries]
    names: dict[Tier, dict[str, None]] = {tier: {} for tier in _TIERS}
    looked = 0
    for query, counted in zip(queries, counts, strict=True):
        if not counted.times:
            continue
        for document in index.documents(query, most - looked):
            looked += 1
            tier = next((one for one in _TIERS if form(sentence, one) in form(document.text, one)), None)
            if tier is not None:
                names[tier][document.name] = None
        if looked >= most:
            break
    best = next((tier for tier in _TIERS if names[tier]), None)
    return Found(
        sentence=sentence,
        count=sum(counted.times for counted in counts),
        on=index.on,
        approx=any(counted.approx for counted in counts),
        tier=best,
        documents=tuple(names[best]) if best else (),
        looked=looked,
    )


def index_paths(plan: Plan) -> tuple[Path | None, Path | None]:
    """The folder of the index (None where an API has it) and its tokenizer, a file or the folder of one.

    Raises UsageError with the plan's line where they are not there.
    """
    presence = plan.presence
    assert presence is not None
    tokenizer = plan.folder / Path(presence.tokenizer).expanduser() if presence.tokenizer else None
    if tokenizer is not None and not tokenizer.exists():
        raise UsageError(
            f"presence.tokenizer: no file is called {presence.tokenizer!r}",
            where=where_in(plan, "presence", "tokenizer"),
            fix=f"relative to {plan.folder}",
        )
    if presence.infini_gram is None or presence.api is not None:
        return None, tokenizer
    folder = plan.folder / Path(presence.infini_gram).expanduser()
    if not folder.is_dir():
        raise UsageError(
            f"presence.infini_gram: no folder is called {presence.infini_gram!r}",
            where=where_in(plan, "presence", "infini_gram"),
            fix="for an index of an API add presence.api: https://api.infini-gram.io/",
        )
    return folder, tokenizer


@contextmanager
def index_of(plan: Plan) -> Iterator[Index]:
    """The index that a plan names: a folder, or one of an API's."""
    from leadline.build.presence.infini_gram_api import api_index
    from leadline.build.presence.infini_gram_folder import FolderIndex

    presence = plan.presence
    if presence is None or presence.infini_gram is None:
        raise UsageError("names no index", where=str(plan.file), fix="presence: infini_gram: INDEX")
    folder, tokenizer = index_paths(plan)
    if presence.api is not None:
        with api_index(presence.api, presence.infini_gram, tokenizer, presence.user_agent) as index:
            yield index
        return
    assert folder is not None
    yield FolderIndex(folder, tokenizer)


class _Cache:
    """Results by sentence. Several indexes share a file."""

    def __init__(self, folder: Path, of: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._database, self._of = sqlite3.connect(folder / CACHE), of
        self._database.execute("CREATE TABLE IF NOT EXISTS found (key TEXT PRIMARY KEY, said TEXT)")

    def _key(self, sentence: str) -> str:
        return hashlib.sha256(json.dumps([self._of, sentence]).encode()).hexdigest()

    def get(self, sentence: str) -> Found | None:
        row = self._database.execute(
            "SELECT said FROM found WHERE key = ?", (self._key(sentence),)
        ).fetchone()
        try:
            return Found.model_validate_json(row[0]) if row else None
        except ValidationError:
            return None  # of another version: asked again

    def put(self, found: Found) -> None:
        with self._database:
            self._database.execute(
                "INSERT OR REPLACE INTO found VALUES (?, ?)",
                (self._key(found.sentence), found.model_dump_json()),
            )

    def close(self) -> None:
        self._database.close()
