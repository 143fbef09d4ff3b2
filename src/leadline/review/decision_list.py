"""The decisions on a benchmark as a list: what counts, what no longer does, and why."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leadline.bench import Benchmark
from leadline.bench.adjudications import Adjudication, read_adjudications, standing
from leadline.bench.outcomes import SETTLING, tally
from leadline.report.numbers import plural

COUNTS = "in force"
STALE = "stale: question, window or label were changed since"
UNKNOWN = "unknown item: the benchmark lacks it"
WITHDRAWN = "withdrawn"


@dataclass(frozen=True)
class DecisionList:
    """The last decision on each item, in the file's order, with what becomes of it."""

    file: Path
    benchmark: Benchmark
    lines: int
    last: tuple[tuple[Adjudication, str], ...]

    columns = ("Item", "Outcome", "Counts", "Corrected", "Reader", "Date", "Reason")

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """As `columns` say; whole texts."""
        return tuple(
            (one.item, one.outcome, state, one.corrected or "", one.reader, one.date, one.reason)
            for one, state in self.last
        )

    @property
    def counts(self) -> dict[str, int]:
        """How many decisions in force have which outcome, and how many items have one that does not count."""
        states = Counter(state for _, state in self.last)
        by_outcome = Counter(one.outcome for one, state in self.last if state == COUNTS)
        return {
            **{outcome: by_outcome[outcome] for outcome in SETTLING},
            "stale": states[STALE],
            "unknown": states[UNKNOWN],
            "withdrawn": states[WITHDRAWN],
        }

    @property
    def sentence(self) -> str:
        """Such as "licences 1: 3 decisions in force (1 upheld, 2 rejected); 1 stale"."""
        counts = self.counts
        in_force = (one.outcome for one, state in self.last if state == COUNTS)
        said = tally(in_force, **{name: counts[name] for name in ("stale", "unknown", "withdrawn")})
        return (
            f"{self.benchmark.name} {self.benchmark.version}: {said}; "
            f"{plural(self.lines, 'line')} in {self.file}"
        )

    @property
    def values(self) -> dict[str, Any]:
        """For another program."""
        return {
            "benchmark": self.benchmark.name,
            "version": self.benchmark.version,
            "content_hash": self.benchmark.content_hash,
            "file": str(self.file),
            "lines": self.lines,
            "counts": self.counts,
            "decisions": [
                {**one.model_dump(mode="json", exclude_defaults=True), "counts": state}
                for one, state in self.last
            ],
        }


def decision_list(benchmark: Benchmark, file: Path) -> DecisionList:
    """What the decisions in `file` (none where there is none) say of `benchmark` as it is now.

    Raises UsageError for a line that is no decision.
    """
    decisions = read_adjudications(file) if file.exists() else ()
    found = standing(benchmark, decisions)
    last = {one.item: one for one in decisions}

    def state(one: Adjudication) -> str:
        if one.outcome == "withdrawn":
            return WITHDRAWN
        return COUNTS if one.item in found.applied else STALE if one.item in found.stale else UNKNOWN

    return DecisionList(file, benchmark, len(decisions), tuple((one, state(one)) for one in last.values()))
