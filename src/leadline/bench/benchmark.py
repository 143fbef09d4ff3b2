"""A benchmark: a named, versioned, content-hashed set of items."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, model_validator

from leadline.bench.answer_form import AnswerForm
from leadline.bench.item import Item
from leadline.bench.problem import did_you_mean
from leadline.bench.subset import draw
from leadline.bench.task import TaskDeclaration
from leadline.errors import UsageError


class Benchmark(BaseModel):
    """Items, and what they are called; `category_name` and `task_name` are this field's words for the groups.

    `tasks` are those that its header declares; what they declare, its items already have. Never empty, ids
    unique: pydantic's ValidationError otherwise.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    version: str
    title: str = ""
    description: str = ""
    kind: Literal["facts", "general"] = "general"
    licence: str = ""
    data_statement: str = ""
    category_name: str = "category"
    task_name: str = "task"
    tasks: tuple[TaskDeclaration, ...] = ()
    items: tuple[Item, ...]

    @model_validator(mode="after")
    def _items_are_a_set(self) -> Self:
        if not self.items:
            raise ValueError("a benchmark has at least one item")
        if len({item.id for item in self.items}) != len(self.items):
            raise ValueError("two items have the same id")
        return self

    @cached_property
    def origin(self) -> Path | None:
        """The folder (or the bare item file) that it was read from; None for one that was made in code.

        Not a field: benchmarks that hold the same are equal, wherever they lie.
        """
        return None

    @cached_property
    def content_hash(self) -> str:
        """See `content_hash`, the function."""
        return content_hash(self.items)

    @cached_property
    def by_id(self) -> Mapping[str, Item]:
        """Items by their id."""
        return {item.id: item for item in self.items}

    @cached_property
    def categories(self) -> tuple[str, ...]:
        """The categories that occur, sorted; "" for items without one."""
        return tuple(sorted({item.category for item in self.items}))

    def subset(
        self, limit: int | None = None, seed: int = 0, categories: Collection[str] | None = None
    ) -> Benchmark:
        """At most `limit` items, only of `categories` if given: see `leadline.bench.subset.draw`.

        Independent of the order of the file; a larger limit only adds items. Sorted by id. Raises UsageError
        for a limit below 1 and for a category that does not occur.
        """
        for category in categories or ():
            if category not in self.categories:
                known = f"in this benchmark: {', '.join(name or '(none)' for name in self.categories)}"
                raise UsageError(
                    f"{self.name}: no {self.category_name} is called {category!r}",
                    fix=did_you_mean(category, self.categories, otherwise=known),
                )
        if limit is not None and limit < 1:
            raise UsageError(f"a limit of {limit} items leaves nothing to ask", fix="at least 1")
        chosen = [item for item in self.items if categories is None or item.category in categories]
        if not chosen:
            raise UsageError(f"{self.name}: no categories were named", fix="leave them out to take all")
        return self.with_items(draw(chosen, limit or len(chosen), seed))

    def with_items(self, items: tuple[Item, ...]) -> Benchmark:
        """The same benchmark with other items."""
        return self.replaced(items=items)

    def replaced(self, **changes: object) -> Benchmark:
        """The same benchmark with other fields, such as its version or its items; it remembers its origin."""
        # A copy of the fields, not model_copy: the cached hash and index belong to the old items.
        kept = {name: getattr(self, name) for name in type(self).model_fields}
        changed = Benchmark.model_validate({**kept, **changes})
        return changed.from_origin(self.origin)

    def from_origin(self, origin: Path | None) -> Self:
        """Itself, told where it was read from."""
        vars(self)["origin"] = origin  # as cached_property keeps it; equality looks at fields alone
        return self


def content_hash(items: Iterable[Item]) -> str:
    """sha256 over what decides how items are asked and judged, as "sha256:<hex>".

    That is id, question, window (wherever it is kept), prompt, answer, aliases (as a set), answer type and
    how answers are read, as canonical JSON, sorted by id. Fields at their default are left out, so that an
    optional field that a later version adds changes no hash. Grouping, subject and evidence are not part of
    it: they move no answer and no verdict.
    """
    return hash_of_entries(hashed_entry(item) for item in sorted(items, key=lambda item: item.id))


def hashed_entry(item: Item) -> bytes:
    """What `content_hash` takes of one item."""
    return json.dumps(_judged_by(item), ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def hash_of_entries(entries: Iterable[bytes]) -> str:
    """`content_hash` of the items whose entries these are, sorted by id."""
    digest = hashlib.sha256(b"[")
    for number, entry in enumerate(entries):
        digest.update(b"," * bool(number) + entry)
    digest.update(b"]")
    return f"sha256:{digest.hexdigest()}"


def _judged_by(item: Item) -> dict[str, object]:
    entry: dict[str, object] = {"id": item.id, "question": item.question, "answer": item.answer}
    if aliases := sorted(set(item.aliases) - {item.answer}):
        entry["aliases"] = aliases
    if item.answer_type != "text":
        entry["answer_type"] = item.answer_type
    if item.window is not None:
        entry["window"] = item.window
    # How it is asked and read, where anything is declared about that.
    for name in (*AnswerForm.model_fields, "fields", "prompt"):
        if getattr(item, name) not in (None, ()):
            entry[name] = item.model_dump(mode="json", include={name}, exclude_defaults=True)[name]
    return entry
