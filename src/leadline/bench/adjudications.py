"""People's decisions on labels: a file that only grows, and a layer over a benchmark that changes no label.

A line of adjudications.jsonl is one decision on one item, made by a reader who read the text. The last line
of an item counts; taking a decision back is a further line ("withdrawn"). A decision is about the label as it
was: where question, answer or window were changed since, it is stale, and not applied.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date as day
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from leadline.bench.benchmark import Benchmark, hashed_entry
from leadline.bench.complaint import complaint
from leadline.bench.item import Item
from leadline.bench.lines_file import growing, is_half
from leadline.errors import UsageError
from leadline.ordinary_file import content

FILE = "adjudications.jsonl"
Outcome = Literal["upheld", "rejected", "excluded-ambiguous", "withdrawn"]


def _is_day(text: str) -> str:
    day.fromisoformat(text)  # its ValueError says what is wrong
    return text


class Read(BaseModel):
    """The text that was read: a source's name and checksum, and which characters of it (all without them)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: str = Field(min_length=1)
    sha256: str = Field(default="", pattern=r"^([0-9a-f]{64})?$")
    start: int = Field(default=0, ge=0)
    end: int | None = Field(default=None, ge=0)


class Adjudication(BaseModel):
    """One decision.

    `upheld`: the doubt was right, the label is wrong (`corrected` is the answer that the text gives, where
    it gives one). `rejected`: the label stands. `excluded-ambiguous`: the item admits more than one reading.
    `reading` is what the reader answered before seeing label and models' answers; `quotes_shown`, whether the
    label's quotes were marked then where they were found (None: not told). `read` is the text that was read,
    with further ones in `also_read`. `label` is `label_hash` of the item as it was judged.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    item: str = Field(min_length=1)
    outcome: Outcome
    reader: str = Field(min_length=1)
    date: Annotated[str, AfterValidator(_is_day)]
    reason: str = Field(min_length=1)
    label: str
    reading: str = ""
    quotes_shown: bool | None = None
    corrected: str | None = None
    read: Read | None = None
    also_read: tuple[Read, ...] = ()
    flag: dict[str, Any] = {}

    @model_validator(mode="after")
    def _corrects_what_it_upholds(self) -> Adjudication:
        if self.corrected is not None and self.outcome != "upheld":
            raise ValueError("corrected goes with outcome upheld alone")
        return self


@dataclass(frozen=True)
class Layered:
    """A benchmark under a layer of decisions.

    `benchmark` has the items that stay, corrected answers in the place of those that were found wrong.
    `excluded` says why others went ("upheld", "excluded-ambiguous"), `corrected` which answers differ,
    `rejected` which doubts were settled for the label. `stale` decisions are about another wording or label,
    `unknown` ones about items that the benchmark lacks: neither is applied.
    """

    benchmark: Benchmark
    excluded: dict[str, str]
    corrected: tuple[str, ...]
    rejected: tuple[str, ...]
    stale: tuple[str, ...]
    unknown: tuple[str, ...]


@dataclass(frozen=True)
class Standing:
    """Decisions by item, told apart by what becomes of them: `applied` ones count, `stale` ones are about
    another wording or label than the item has now, `unknown` ones about items that the benchmark lacks."""

    applied: dict[str, Adjudication]
    stale: dict[str, Adjudication]
    unknown: dict[str, Adjudication]


def label_hash(item: Item) -> str:
    """sha256 over what a decision is about: how the item is asked and judged, as "sha256:<hex>"."""
    return f"sha256:{hashlib.sha256(hashed_entry(item)).hexdigest()}"


def read_adjudications(path: Path) -> tuple[Adjudication, ...]:
    """All decisions of a file, in order; half a line at its end, which a sudden end left, is none.

    Raises UsageError with file and line for one that is no decision, and for what is no file.
    """
    if path.exists() and not path.is_file():
        raise UsageError("is no file, so it holds no decisions", where=str(path))
    try:
        data = content(path)
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(path)) from None
    return adjudications_of(data, str(path))


def adjudications_of(data: bytes, where: str) -> tuple[Adjudication, ...]:
    """The decisions in what was read of the file `where`, as `read_adjudications` gives them: for whoever
    needs its checksum too, of the same bytes."""
    return tuple(_lines(data, where))


def add_adjudication(path: Path, decision: Adjudication) -> None:
    """Write one decision at the end of the file, which is made if it is not there: whole and on the disk.

    What a sudden end left half written at the end of the file was nobody's decision, and goes. Several
    processes may write at once. Raises LeadlineError where it cannot be written, and the file is as it was.
    """
    with adding(path) as add:
        add(decision)


@contextmanager
def adding(path: Path) -> Iterator[Callable[[Adjudication], None]]:
    """Be the only one who writes decisions to the file; the value does, as `add_adjudication`. What is read
    of the file meanwhile still holds when a line is added."""
    with growing(path) as add:
        yield add


def in_force(decisions: Iterable[Adjudication]) -> dict[str, Adjudication]:
    """The decision that counts for each item: its last one, unless that takes the one before back."""
    last = {decision.item: decision for decision in decisions}
    return {item: decision for item, decision in last.items() if decision.outcome != "withdrawn"}


def standing(benchmark: Benchmark, decisions: Iterable[Adjudication]) -> Standing:
    """What becomes of the decisions in force, in the benchmark's order; unknown items in that of their id."""
    known = in_force(decisions)
    applied: dict[str, Adjudication] = {}
    stale: dict[str, Adjudication] = {}
    for item in benchmark.items:
        if (decision := known.pop(item.id, None)) is not None:
            (applied if decision.label == label_hash(item) else stale)[item.id] = decision
    return Standing(applied, stale, dict(sorted(known.items())))


def relabelled(item: Item, decision: Adjudication | None) -> Item:
    """The item as it is judged under a decision about it, which changes nothing unless it corrects the label.

    >>> item = Item(id="1", question="Where?", answer="Bonn", aliases=("Bonn am Rhein",))
    >>> said = {"reader": "me", "date": "2026-01-01", "reason": "as the text says"}
    >>> upheld = Adjudication(
    ...     item="1", outcome="upheld", label=label_hash(item), corrected="Berlin", **said
    ... )
    >>> relabelled(item, upheld).valid_answers
    ('Berlin',)
    """
    if decision is None or decision.corrected is None:
        return item
    # Other names of the wrong answer are no names of the right one.
    return item.model_copy(update={"answer": decision.corrected, "aliases": ()})


def layered(benchmark: Benchmark, decisions: Iterable[Adjudication]) -> Layered:
    """`benchmark` under a layer of decisions; its own items are not changed.

    Raises UsageError where no item would stay.
    """
    stay: list[Item] = []
    excluded: dict[str, str] = {}
    corrected, rejected = [], []
    found = standing(benchmark, decisions)
    for item in benchmark.items:
        decision = found.applied.get(item.id)
        if decision is None:
            stay.append(item)
        elif decision.outcome == "rejected":
            rejected.append(item.id)
            stay.append(item)
        elif decision.corrected is not None:
            corrected.append(item.id)
            stay.append(relabelled(item, decision))
        else:
            excluded[item.id] = decision.outcome
    if not stay:
        raise UsageError(f"{benchmark.name}: the decisions leave no item")
    return Layered(
        benchmark.with_items(tuple(stay)),
        excluded,
        tuple(corrected),
        tuple(rejected),
        tuple(found.stale),
        tuple(found.unknown),
    )


def _lines(data: bytes, where: str) -> Iterator[Adjudication]:
    lines = data.split(b"\n")
    for number, line in enumerate(lines, 1):
        if not line.strip() or (number == len(lines) and is_half(line)):
            continue
        try:
            yield Adjudication.model_validate_json(line)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            what, fix = complaint(first)
            if first["type"] == "json_invalid":
                place, what, fix = "", "is no JSON object", "a decision is one object a line"
            elif first["type"] == "missing":
                what = "is missing"
            elif first["type"] == "extra_forbidden":
                what, fix = "is no key of a decision", f"keys: {', '.join(Adjudication.model_fields)}"
            raise UsageError(f"{place} {what}".strip(), where=f"{where}:{number}", fix=fix) from None
