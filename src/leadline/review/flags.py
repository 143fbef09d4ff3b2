"""A flag: a doubt about one item, raised by a machine, for a person to settle. It never changes a label."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, model_validator

from leadline.bench.benchmark import Benchmark
from leadline.bench.item import Item
from leadline.bench.problem import did_you_mean
from leadline.bench.views import LabellerView
from leadline.errors import UsageError

Kind = Literal["label", "audit", "unstable", "reread", "withheld"]
# Why an item is listed, in the order in which the doubts are worth a person's time.
KINDS: tuple[Kind, ...] = ("label", "reread", "audit", "unstable", "withheld")
SENTENCE = (
    "A flag proposes; it changes no label. What becomes of it is decided by a person who read the text."
)
# Fields of an item that a labeller is shown.
_SHOWN = {field.name for field in fields(LabellerView)}


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Flag(_Frozen):
    """One doubt. `label_hash` says which wording and label it is about; an item may have several flags.

    A blind list names an item by its place in the benchmark ("#17"), and has no `label_hash`: an id may tell
    the label, and a hash tells it to whoever hashes the few labels that there could be.

    `label`: the configurations agree on `value` against the label. `runs` are their readings that say so over
    all readings; `floor` is the configuration `weakest`, with the readings of its own most frequent answer
    over all its readings. Where not all agree, `dissenter` says `dissent` ("the label", "something else").
    `firm` as lens `label_errors` has it.
    `reread`: who read the item again (`reader`) answered `value`.
    `audit`: `failure` (evidence absent, computational, ...), with the audit's `reason`.
    `unstable`: in each of `configurations` readings differ; dispersion is from `least` to `largest`.
    `withheld`: that there is a doubt, and no more, for readers who have not read yet.

    `adjudication` is the outcome that was in force when the list was made, "" for none.
    """

    item: str = Field(min_length=1)
    kind: Kind
    task: str = ""
    category: str = ""
    label_hash: str = Field(default="", pattern=r"^(sha256:[0-9a-f]{64})?$")
    label: str = ""
    value: str = ""
    runs: tuple[int, int] | None = None
    floor: tuple[int, int] | None = None
    weakest: str = ""
    unanimous: bool | None = None
    firm: bool | None = None
    dissenter: str = ""
    dissent: str = ""
    reader: str = ""
    failure: str = ""
    reason: str = ""
    configurations: int | None = None
    least: float | None = Field(default=None, ge=0, le=1)
    largest: float | None = Field(default=None, ge=0, le=1)
    adjudication: str = ""

    @model_validator(mode="after")
    def _says_what_its_kind_says(self) -> Flag:
        needed: Mapping[Kind, tuple[str, ...]] = {
            "label": ("label_hash", "value", "runs", "floor", "unanimous"),
            "reread": ("label_hash", "reader"),
            "audit": ("label_hash", "failure"),
            "unstable": ("label_hash", "configurations", "least", "largest"),
            "withheld": (),
        }
        for name in needed[self.kind]:
            if getattr(self, name) in (None, ""):
                raise ValueError(f"a flag of kind {self.kind} has a {name}")
        for name in ("runs", "floor"):
            said = getattr(self, name)
            if said is not None and not 0 <= said[0] <= said[1] >= 1:
                raise ValueError(f"{name} {list(said)} cannot be: so many readings, of so many")
        return self


class FlagList(_Frozen):
    """Flags on items of one benchmark, in order, and what they were raised from.

    `configurations` names those whose answers were compared. `decided` counts the items that are not listed
    because a decision on them is in force. `notes` say what a reader of the list has to know. A `blind` list
    tells which items are in doubt and nothing of why; its `asked_hash` is over what a labeller is shown of
    the benchmark, in place of `content_hash`, which is over labels too.
    """

    benchmark: str
    version: str = ""
    content_hash: str = ""
    asked_hash: str = ""
    study: str = ""
    configurations: tuple[str, ...] = ()
    created: AwareDatetime
    blind: bool = False
    decided: int = 0
    notes: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = ()

    @property
    def items(self) -> tuple[str, ...]:
        """The flagged items, each once, in the order of their first flags."""
        return tuple(dict.fromkeys(flag.item for flag in self.flags))

    @property
    def counts(self) -> dict[Kind, int]:
        """How many flags there are of each kind that occurs."""
        counted = Counter(flag.kind for flag in self.flags)
        return {kind: counted[kind] for kind in KINDS if counted[kind]}

    def of(self, item: str) -> tuple[Flag, ...]:
        """The flags of one item."""
        return tuple(flag for flag in self.flags if flag.item == item)


def flag_list(
    benchmark: Benchmark,
    flags: Iterable[Flag],
    *,
    study: str = "",
    configurations: tuple[str, ...] = (),
    decided: int = 0,
    notes: Iterable[str] = (),
) -> FlagList:
    """A list about `benchmark` (as annotated), made now, its flags in the order of their kinds."""
    return FlagList(
        benchmark=benchmark.name,
        version=benchmark.version,
        content_hash=benchmark.content_hash,
        study=study,
        configurations=configurations,
        created=datetime.now(UTC).replace(microsecond=0),
        decided=decided,
        notes=tuple(notes),
        flags=tuple(sorted(flags, key=lambda flag: KINDS.index(flag.kind))),
    )


def blinded(flags: FlagList, benchmark: Benchmark) -> FlagList:
    """The same items, in the benchmark's order, without labels, answers, kinds or decisions, ids or groups.

    The order of the full list would tell the kind.
    """
    wanted = set(flags.items)
    return FlagList(
        benchmark=flags.benchmark,
        version=flags.version,
        asked_hash=asked_hash(benchmark),
        study=flags.study,
        created=flags.created,
        blind=True,
        flags=tuple(
            Flag(item=place, kind="withheld")
            for place, item in places(benchmark).items()
            if item.id in wanted
        ),
    )


def places(benchmark: Benchmark) -> dict[str, Item]:
    """What a blind list calls each item, in the benchmark's order: "#1", "#2", ..."""
    return {f"#{number}": item for number, item in enumerate(benchmark.items, 1)}


def asked_hash(benchmark: Benchmark) -> str:
    """sha256 over what a labeller is shown of each item, in order, as "sha256:<hex>": no key moves it.

    >>> from leadline.bench.item import Item
    >>> def hashed(answer: str) -> str:
    ...     item = Item(id="1", question="Where?", answer=answer)
    ...     return asked_hash(Benchmark(name="b", version="1", items=(item,)))
    >>> hashed("Bonn") == hashed("Berlin")
    True
    """
    digest = hashlib.sha256()
    for item in benchmark.items:
        shown = item.model_dump(mode="json", include=_SHOWN, exclude_defaults=True)
        digest.update(json.dumps(shown, sort_keys=True).encode("ascii") + b"\n")
    return f"sha256:{digest.hexdigest()}"


def as_recorded(flags: FlagList, item: str) -> dict[str, Any]:
    """What a decision on `item` keeps of its flags: the first one, and the kinds of the others in "also".

    Raises UsageError where the list does not flag the item.
    """
    found = flags.of(item)
    if not found:
        known = did_you_mean(item, flags.items, otherwise="a decision may be taken without a flag as well")
        raise UsageError(f"the list does not flag {item!r}", fix=known)
    first, *others = found
    left_out = {"item", "task", "category", "label_hash", "adjudication"}
    said = first.model_dump(mode="json", exclude=left_out, exclude_defaults=True)
    return said | ({"also": [flag.kind for flag in others]} if others else {})
