"""People's decisions on labels as a study applies them: a layer over the items that were drawn.

The benchmark stays as annotated, and its content hash with it; a decision corrects the label that answers are
judged by, or takes the item out of the population. No decision changes what is shown to a model, so stored
answers stay what they are, and the same study can be read with the layer and without it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from leadline.bench import Benchmark
from leadline.bench.adjudications import FILE, Adjudication, adjudications_of, relabelled, standing
from leadline.bench.outcomes import tally
from leadline.errors import UsageError
from leadline.ordinary_file import content

# What study.yaml and --adjudications say where decisions are there and not to be applied.
NONE = "none"
# What is decided of an item (`adjudication` in `lenses.frame`), and why it is left out of the population.
EXCLUDES = {"wrong": "adjudicated wrong", "ambiguous": "adjudicated ambiguous"}
# More names than this make no readable line.
_NAMED = 5


@dataclass(frozen=True)
class Decisions:
    """What people decided of a study's items; as it is here, nothing.

    `digest` is the sha256 of the `file`. `applied` are the decisions on drawn items by item, `stale` those
    that are about another question, window or label than the item has now, `unknown` the items that the
    benchmark lacks: neither is applied. Decisions on items that were not drawn are in none of them, in force
    or stale: they are the number `elsewhere`. `withdrawn` are the items whose last decision was taken back.
    """

    file: Path | None = None
    digest: str = ""
    applied: Mapping[str, Adjudication] = field(default_factory=dict)
    stale: Mapping[str, Adjudication] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    withdrawn: int = 0
    elsewhere: int = 0

    @property
    def outcomes(self) -> dict[str, str]:
        """By item "rejected" (the label stands), "corrected", "wrong" or "ambiguous"."""
        return {item: _called(decision) for item, decision in self.applied.items()}

    @property
    def corrected(self) -> tuple[str, ...]:
        """The items whose label is another one."""
        return tuple(item for item, called in self.outcomes.items() if called == "corrected")

    @property
    def excluded(self) -> dict[str, str]:
        """By item why it is left out."""
        return {item: EXCLUDES[called] for item, called in self.outcomes.items() if called in EXCLUDES}

    def over(self, benchmark: Benchmark) -> Benchmark:
        """The benchmark with corrected labels in the place of those that were found wrong; all items stay."""
        if not self.corrected:
            return benchmark
        return benchmark.with_items(
            tuple(relabelled(item, self.applied.get(item.id)) for item in benchmark.items)
        )

    @property
    def sentence(self) -> str:
        """Such as "adjudications: 4 decisions in force (3 upheld, 1 rejected)"; "not adjudicated"."""
        return f"adjudications: {self.counted}" if self.digest else "not adjudicated"

    @property
    def counted(self) -> str:
        """How many decisions on the items drawn are in force, and what becomes of the file's others."""
        return tally(
            (decision.outcome for decision in self.applied.values()),
            **{
                "stale": len(self.stale),
                "on items not drawn": self.elsewhere,
                "unknown": len(self.unknown),
                "withdrawn": self.withdrawn,
            },
        )

    @property
    def remarks(self) -> list[str]:
        """A line for each kind of decision that is not applied, with the items."""
        found = []
        for items, what in (
            (self.stale, "about another question, window or label than the item has now, and not applied"),
            (self.unknown, "about items that the benchmark lacks, and not applied"),
        ):
            if items:
                number = f"{len(items):,} decision{' is' if len(items) == 1 else 's are'}"
                found.append(f"{self.file}: {number} {what}: {_listed(items)}")
        return found


def read_decisions(
    whole: Benchmark, drawn: Benchmark, place: str | None, folder: Path, named: str | None = None
) -> Decisions:
    """The decisions in the file `place` (its path starts at `folder`) on the items of `drawn`.

    Without a place, those beside the benchmark's benchmark.yaml, where there are any; of "none", none.
    `named` is the line of study.yaml that names the file, if one does. Raises UsageError for a file that
    cannot be read, with the line where one is none.
    """
    path = _beside(whole) if place is None else None if place == NONE else folder / Path(place).expanduser()
    if path is None:
        return Decisions()
    try:
        data = _bytes(path)
        decisions = adjudications_of(data, str(path))
    except UsageError as error:
        if named is None:
            raise
        line = (error.where or "").removeprefix(str(path))  # of the file itself, where it is known
        raise UsageError(f"adjudications {place}{line}: {error.what}", where=named, fix=error.fix) from error
    found = standing(whole, decisions)
    here = drawn.by_id
    applied, stale = (
        {item: decision for item, decision in told.items() if item in here}
        for told in (found.applied, found.stale)
    )
    counting = len(found.applied) + len(found.stale)
    return Decisions(
        path,
        f"sha256:{hashlib.sha256(data).hexdigest()}",
        applied,
        stale,
        tuple(found.unknown),
        withdrawn=len({one.item for one in decisions}) - counting - len(found.unknown),
        elsewhere=counting - len(applied) - len(stale),
    )


def _bytes(path: Path) -> bytes:
    if path.exists() and not path.is_file():
        raise UsageError("is no file, so it holds no decisions", where=str(path))
    try:
        return content(path)
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(path)) from None


def _beside(whole: Benchmark) -> Path | None:
    origin = whole.origin
    path = origin / FILE if origin is not None and origin.is_dir() else None
    return path if path is not None and path.is_file() else None


def _called(decision: Adjudication) -> str:
    if decision.outcome == "excluded-ambiguous":
        return "ambiguous"
    if decision.outcome == "rejected":
        return "rejected"
    return "wrong" if decision.corrected is None else "corrected"


def _listed(items: Collection[str]) -> str:
    more = f" and {len(items) - _NAMED:,} more" if len(items) > _NAMED else ""
    return ", ".join(list(items)[:_NAMED]) + more
