"""The account of endurance: what was done to a program, and what was lost by it.

A test takes the tally of its kind of fault and writes down each fault and what became of it. What a tally
holds is printed at the end of `make endurance` and kept under benchmarks/results/, from where
`python -m tests.endurance.ledger` writes it into docs/reliability.md. `check` fails the test after its last
fault, so that one loss does not hide how many there are.
"""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parents[2]
RESULTS = _ROOT / "benchmarks" / "results" / "endurance.json"
PAGE = _ROOT / "docs" / "reliability.md"
# Columns of the table: what must be 0 is said in CONTRACT.
COLUMNS = ("faults", "midway", "answers", "lost", "asked twice", "wrong reports", "other", "in flight")
CONTRACT = ("lost", "asked twice", "wrong reports", "other")


@dataclass
class Tally:
    """What became of one kind of fault, such as "run killed".

    midway: faults that hit it when some, but not all of the work was done. answers: stored answers (saves,
    files) that were compared afterwards. other: further broken promises, such as a traceback, a hang, or a
    lock that stays. in_flight: requests that were under way at the fault and were sent once more; these are
    no broken promise, since their answers were nowhere yet.
    """

    kind: str
    seed: int | None = None
    faults: int = 0
    midway: int = 0
    answers: int = 0
    lost: int = 0
    asked_twice: int = 0
    wrong_reports: int = 0
    other: int = 0
    in_flight: int = 0
    seconds: float = 0.0
    stories: list[str] = field(default_factory=list)
    _since: float = field(default_factory=time.monotonic)

    def fault(self, *, midway: bool = False) -> None:
        """One more fault was injected."""
        self.faults += 1
        self.midway += midway

    def broken(self, promise: str, what: str, number: int = 1) -> None:
        """A promise of CONTRACT was broken `number` times; `what` says how."""
        assert promise in CONTRACT, promise
        name = promise.replace(" ", "_")
        setattr(self, name, getattr(self, name) + number)
        if number:
            self.stories.append(f"{promise}: {what}")

    def expect(self, kept: bool, promise: str, what: str) -> None:
        """Write down a broken promise unless it was kept."""
        if not kept:
            self.broken(promise, what)

    def check(self, *, faults: int = 1, midway: int = 0) -> None:
        """Fail where a promise was broken, or where fewer faults than these hit."""
        self.seconds = time.monotonic() - self._since
        assert not self.stories, "\n".join(self.stories[:20])
        assert not (self.lost or self.asked_twice or self.wrong_reports or self.other), self
        assert self.faults >= faults, f"{self.kind}: {self.faults} faults, {faults} were meant"
        assert self.midway >= midway, f"{self.kind}: {self.midway} in its midst, {midway} were meant"

    def row(self) -> dict[str, Any]:
        """As the table and the file have it."""
        return {
            "kind": self.kind,
            "faults": self.faults,
            "midway": self.midway,
            "answers": self.answers,
            "lost": self.lost,
            "asked twice": self.asked_twice,
            "wrong reports": self.wrong_reports,
            "other": self.other,
            "in flight": self.in_flight,
            "seed": self.seed,
            "seconds": round(self.seconds, 1),
        }


@dataclass
class Ledger:
    """All tallies of one run of the tests."""

    tallies: dict[str, Tally] = field(default_factory=dict)

    def tally(self, kind: str, seed: int | None = None) -> Tally:
        """The tally of a kind of fault, begun with its first test. `seed`: of what was drawn."""
        return self.tallies.setdefault(kind, Tally(kind, seed))

    def rows(self) -> list[dict[str, Any]]:
        """One for each kind, in the order in which they were begun."""
        return [tally.row() for tally in self.tallies.values()]


def total(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The sum of all rows."""
    return {"kind": "all", **{name: sum(row[name] for row in rows) for name in COLUMNS}}


def table(rows: Sequence[dict[str, Any]]) -> str:
    """The rows and their sum, as a Markdown table."""
    lines = [
        f"| what was done | {' | '.join(COLUMNS)} |",
        f"| --- |{' ---: |' * len(COLUMNS)}",
    ]
    for row in (*rows, total(rows)):
        cells = " | ".join(f"{row[name]:,}" for name in COLUMNS)
        lines.append(f"| {row['kind']} | {cells} |")
    return "\n".join(lines)


def keep(rows: Sequence[dict[str, Any]], path: Path = RESULTS) -> None:
    """Put the rows in the place of those of the same kinds; others stay as an earlier run left them."""
    before: list[dict[str, Any]] = []
    if path.is_file():
        before = json.loads(path.read_text("utf-8"))["rows"]
    day = time.strftime("%Y-%m-%d", time.gmtime())
    new = {row["kind"]: {**row, "day": day, "python": platform.python_version()} for row in rows}
    kept = [new.pop(row["kind"], row) for row in before]
    whole = [*kept, *new.values()]
    path.parent.mkdir(parents=True, exist_ok=True)
    document = {"rows": whole, "all": total(whole)}
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", "utf-8")


def show(page: Path = PAGE, path: Path = RESULTS) -> None:
    """Put what was kept into the page, between its two marks."""
    before, _, rest = page.read_text("utf-8").partition("<!-- endurance -->\n")
    _, _, after = rest.partition("<!-- /endurance -->")
    shown = table(json.loads(path.read_text("utf-8"))["rows"])
    page.write_text(f"{before}<!-- endurance -->\n\n{shown}\n\n<!-- /endurance -->{after}", "utf-8")


if __name__ == "__main__":
    show()
