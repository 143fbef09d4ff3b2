"""A blind pack: a sample of a benchmark's questions without their labels, for a person to answer again.

The sample is stratified, category × answer type, so that small strata are not lost; within a stratum it is
spread over the tasks. Draw, order and tokens are hashes of a recorded seed: whoever holds the benchmark can
draw the same pack again, and the scorer finds the item of a row by computing its token, so that no file of
the pack needs to name one.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from leadline import __version__
from leadline.bench import Benchmark, Item
from leadline.bench.answer_form import AnswerType
from leadline.bench.subset import draw
from leadline.bench.views import LabellerView, for_labeller
from leadline.errors import UsageError

FORMAT: Literal["leadline-pack/1"] = "leadline-pack/1"
PER_STRATUM = 8
# A token is 16 letters for as many hexadecimal digits: a spreadsheet would take 12e4567890123456 for a
# number, and vowels make words.
_TOKEN = 16
_LETTERS = str.maketrans("0123456789abcdef", "bcdfghjkmnpqrstv")
_VIEW = TypeAdapter(LabellerView)


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PackBenchmark(_Frozen):
    """What a pack was drawn from; a pack is scored against this content and no other."""

    name: str
    version: str
    content_hash: str


class PackStratum(_Frozen):
    """One stratum: how many items the population has of it, and how many of them are rows of the pack."""

    category: str
    answer_type: AnswerType
    items: int = Field(ge=1)
    drawn: int = Field(ge=1)


class PackEntry(_Frozen):
    """One row in pack.json: its token, and the sha256 of what its reader is shown."""

    token: str
    sha256: str


class PackHead(_Frozen):
    """pack.json. `drawn` is a hash over the ids of the drawn items, `population` says which items could be
    drawn, `author` who wrote the labels ("" if that is not known); `files` has the sha256 of each page."""

    format: Literal["leadline-pack/1"] = FORMAT
    benchmark: PackBenchmark
    population: str
    author: str = ""
    seed: int
    per_stratum: int = Field(ge=1)
    drawn: str
    strata: tuple[PackStratum, ...]
    rows: tuple[PackEntry, ...] = Field(min_length=1)
    files: dict[str, str] = {}
    created: datetime
    leadline_version: str


@dataclass(frozen=True)
class PackRow:
    """One question as its reader sees it: `number` from 1 in the pack's order, `token` names the row."""

    number: int
    token: str
    view: LabellerView

    @property
    def page(self) -> str:
        """The row's page, from the pack's folder: "pages/001.html"."""
        return f"pages/{self.number:03}.html"


@dataclass(frozen=True)
class Pack:
    """A pack as it lies on a disk, or is about to."""

    head: PackHead
    rows: tuple[PackRow, ...]

    @cached_property
    def by_token(self) -> dict[str, PackRow]:
        """Rows by their token."""
        return {row.token: row for row in self.rows}

    @property
    def sha256(self) -> str:
        """What identifies the pack in scores: a hash over benchmark, draw, order and all that is shown, but
        not over when it was made, so that the same pack drawn twice is one."""
        about = self.head.model_dump(mode="json", exclude={"created", "leadline_version", "files", "author"})
        return _sha256(json.dumps(about, ensure_ascii=False, sort_keys=True))


def draw_pack(
    benchmark: Benchmark,
    items: Iterable[Item] | None = None,
    *,
    per_stratum: int = PER_STRATUM,
    seed: int = 0,
    author: str = "",
    population: str = "",
) -> Pack:
    """A pack of `items` (all of the benchmark's by default), at most `per_stratum` of each stratum, in a
    shuffled order.

    `population` says in words which items these are. The draw depends on content and seed alone, not on the
    order of the file; a larger `per_stratum` keeps the items of a smaller one. Raises UsageError for a
    `per_stratum` below 1, and where two tokens are alike.

    >>> from leadline.bench.item import Item
    >>> asked = tuple(Item(id=f"q{at}", question=f"{at}?", answer="yes") for at in range(20))
    >>> pack = draw_pack(Benchmark(name="small", version="1", items=asked), per_stratum=8)
    >>> len(pack.rows), pack.head.strata[0].items
    (8, 20)
    """
    if per_stratum < 1:
        raise UsageError(f"{per_stratum} items a stratum leave nothing to read", fix="at least 1")
    strata: dict[tuple[str, AnswerType], list[Item]] = defaultdict(list)
    for item in benchmark.items if items is None else items:
        strata[item.category, item.answer_type].append(item)
    if not strata:
        raise UsageError(f"{benchmark.name}: there is no item to draw")
    taken = {key: draw(members, per_stratum, seed) for key, members in sorted(strata.items())}
    chosen = [item for members in taken.values() for item in members]
    digest = _drawn(chosen)
    tokens = {item.id: _token(benchmark.content_hash, seed, digest, item.id) for item in chosen}
    # By the token, which is a hash of the seed as well: an order that tells nothing of the file's.
    ordered = sorted(chosen, key=lambda item: tokens[item.id])
    if len(set(tokens.values())) < len(chosen):
        raise UsageError("two rows of the pack have one token", fix="draw with another --seed")
    rows = tuple(
        PackRow(number, tokens[item.id], for_labeller(item)) for number, item in enumerate(ordered, 1)
    )
    head = PackHead(
        benchmark=PackBenchmark(
            name=benchmark.name, version=benchmark.version, content_hash=benchmark.content_hash
        ),
        population=population or f"all {len(benchmark.items):,} items",
        author=" ".join(author.split()),
        seed=seed,
        per_stratum=per_stratum,
        drawn=digest,
        strata=tuple(
            PackStratum(
                category=category, answer_type=kind, items=len(strata[category, kind]), drawn=len(its)
            )
            for (category, kind), its in taken.items()
        ),
        rows=tuple(PackEntry(token=row.token, sha256=shown_sha256(row.view)) for row in rows),
        created=datetime.now(UTC).replace(microsecond=0),
        leadline_version=__version__,
    )
    return Pack(head, rows)


def items_of(pack: Pack, benchmark: Benchmark) -> dict[str, Item]:
    """The item of each of the pack's tokens.

    Raises UsageError where the pack was drawn from other content than the benchmark has now.
    """
    head = pack.head
    if head.benchmark.content_hash != benchmark.content_hash:
        drawn_from = f"{head.benchmark.name} {head.benchmark.version} ({head.benchmark.content_hash[:19]}…)"
        raise UsageError(
            f"the pack was drawn from {drawn_from}, and this benchmark is {benchmark.name} "
            f"{benchmark.version} ({benchmark.content_hash[:19]}…)",
            fix="score it against the items and labels that it was drawn from",
        )
    found = {_token(benchmark.content_hash, head.seed, head.drawn, item.id): item for item in benchmark.items}
    of = {row.token: found[row.token] for row in pack.rows if row.token in found}
    if len(of) < len(pack.rows) or _drawn(of.values()) != head.drawn:
        raise UsageError(
            "pack.json was changed: its rows are not the items that were drawn", fix="draw the pack again"
        )
    for row in pack.rows:
        if for_labeller(of[row.token]) != row.view:
            what = "shows its reader another question or text than the benchmark has"
            raise UsageError(f"row {row.number} {what}", fix="draw the pack again")
    return of


def shown(view: LabellerView) -> str:
    """What a reader is shown, as one line of JSON; what a view leaves at its default is left out."""
    return _VIEW.dump_json(view, exclude_defaults=True).decode()


def view_of(line: str) -> LabellerView:
    """The view that `shown` wrote. Raises pydantic's ValidationError."""
    return _VIEW.validate_json(line)


def shown_sha256(view: LabellerView) -> str:
    """sha256 over `shown`."""
    return _sha256(shown(view))


def strata_sentence(strata: Sequence[PackStratum]) -> str:
    """Such as "154 rows of 427 items, 24 strata (category × answer type), 7 of them whole"."""
    drawn, items = sum(one.drawn for one in strata), sum(one.items for one in strata)
    whole = sum(one.drawn == one.items for one in strata)
    kinds = f"{len(strata)} strat{'um' if len(strata) == 1 else 'a'} (category × answer type)"
    return f"{drawn:,} rows of {items:,} items, {kinds}, {whole} of them whole"


def _drawn(items: Iterable[Item]) -> str:
    return _sha256("\0".join(sorted(item.id for item in items)))


def _token(content_hash: str, seed: int, drawn: str, identity: str) -> str:
    return _sha256(f"token\0{content_hash}\0{seed}\0{drawn}\0{identity}")[:_TOKEN].translate(_LETTERS)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
