"""Whether an audit lets a benchmark pass: the threshold and what counts against it."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from leadline.audit.document import AuditDocument, Failure, ItemVerdict
from leadline.bench.problem import did_you_mean
from leadline.errors import UsageError
from leadline.report.audit_words import KEYS, checked, failure_key, nothing_checked, unchecked
from leadline.report.numbers import count, plural


@dataclass(frozen=True)
class Gate:
    """Up to `most` items may count; with `percent`, `most` is a percentage of the items audited.

    A flagged item counts unless its failure type is in `ignored`; with `require_checked`, so does an item
    whose source or window could not be checked.
    """

    most: Decimal = Decimal(0)
    percent: bool = False
    ignored: frozenset[Failure | None] = frozenset()
    require_checked: bool = False

    def counts(self, verdict: ItemVerdict) -> bool:
        """Whether this item counts against the benchmark."""
        flagged = verdict.flagged and verdict.failure not in self.ignored
        return flagged or (self.require_checked and unchecked(verdict))

    def allowed(self, items: int) -> Decimal:
        """How many of `items` (those that could be checked) may count; a fraction of an item is no item."""
        return self.most * items / 100 if self.percent else self.most


@dataclass(frozen=True)
class Outcome:
    """`sentence` is what the command says at its end."""

    passes: bool
    counted: int
    sentence: str


def read_gate(max_flagged: str, ignore: list[str], require_checked: bool) -> Gate:
    """The gate that the flags describe: "3" items, or "2%" of them. Raises UsageError."""
    text = max_flagged.strip()
    number, percent = text.removesuffix("%").strip(), text.endswith("%")
    try:
        most = Decimal(number)
    except InvalidOperation:
        most = Decimal("NaN")
    whole = most.is_finite() and (percent or most == most.to_integral_value())
    if not whole or most < 0 or (percent and most > 100):
        raise UsageError(f"--max-flagged {max_flagged!r}: not a number of items or a share", fix="5 or 2%")
    return Gate(most, percent, frozenset(map(failure_named, ignore)), require_checked)


def failure_named(name: str) -> Failure | None:
    """The failure type that a flag names: "evidence-absent" or "evidence absent". Raises UsageError."""
    key = name.strip().lower().replace(" ", "-").replace("_", "-")
    if key not in KEYS:
        raise UsageError(
            f"there is no failure type {name!r}", fix=did_you_mean(key, KEYS, otherwise=", ".join(KEYS))
        )
    return KEYS[key]


def judge(document: AuditDocument, gate: Gate) -> Outcome:
    """Count the items against the gate. The document's self-test must have passed.

    Where nothing could be checked the sentence says so: nothing failed, but nothing passed either.
    """
    counted = sum(map(gate.counts, document.items))
    base = len(document.items) if gate.require_checked else sum(map(checked, document.items))
    passes = counted <= gate.allowed(base)
    if passes and (nothing := nothing_checked(document)):
        return Outcome(True, 0, nothing)
    ignored = sum(verdict.flagged and verdict.failure in gate.ignored for verdict in document.items)
    what = "flagged or unchecked" if gate.require_checked else "flagged"
    limit = f"{gate.most.normalize():f} %" if gate.percent else count(float(gate.most))
    notes = [f"{limit} allowed" if gate.most else "none allowed"]
    if ignored:
        kinds = sorted({failure_key(v) for v in document.items if v.flagged and v.failure in gate.ignored})
        notes.append(f"{count(ignored)} ignored: {', '.join(kinds)}")
    verb = "is" if counted == 1 else "are"
    word = "pass" if passes else "fail"
    return Outcome(passes, counted, f"{word}: {plural(counted, 'item')} {verb} {what} ({'; '.join(notes)})")
