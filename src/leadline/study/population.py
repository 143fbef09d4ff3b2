"""Which items a study is about: those of the benchmark, less those that were left out, and why each was.

The items are drawn first and left out afterwards, so that a population without flagged items is a part of the
one with them, and the answers to both are the same answers.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from leadline.audit.applies import check_applies
from leadline.audit.document import AuditDocument, Failure, ItemVerdict, State, load_audit
from leadline.bench import Benchmark
from leadline.bench.problem import did_you_mean
from leadline.errors import UsageError
from leadline.study.config import Exclude

VERDICTS = ("flagged", *map(str, Failure), str(State.NOT_CHECKABLE))
BY_NAME = "named in study.yaml"


@dataclass(frozen=True)
class Population:
    """`left_out` says how many items were left out for which reason; `audit` is the sha256 of the audit."""

    benchmark: Benchmark
    left_out: tuple[tuple[str, int], ...] = ()
    audit: str = ""

    @property
    def sentence(self) -> str:
        """Such as "70 of 82 drawn items; left out: 12 (evidence absent 9, computational 3)"."""
        out = sum(number for _, number in self.left_out)
        stay = len(self.benchmark.items)
        if not out:
            return f"all {stay:,} items drawn; " + (
                "the audit excludes none" if self.audit else "not audited"
            )
        reasons = ", ".join(f"{reason} {number:,}" for reason, number in self.left_out)
        return f"{stay:,} of {stay + out:,} items drawn; left out: {out:,} ({reasons})"


def population(whole: Benchmark, drawn: Benchmark, exclude: Exclude, folder: Path, where: str) -> Population:
    """`drawn`, a part of `whole`, without what `exclude` names; an audit's path starts at `folder`.

    Raises UsageError, with `where`, for an audit that cannot be read or is about other content, for items
    that do not exist, and when nothing stays.
    """
    for identity in exclude.items:
        if identity not in whole.by_id:
            raise UsageError(
                f"exclude: {whole.name} has no item {identity!r}",
                where=where,
                fix=did_you_mean(identity, whole.by_id, otherwise="leadline bench show lists all ids"),
            )
    reasons = dict.fromkeys(exclude.items, BY_NAME)
    digest = ""
    if exclude.audit is not None:
        path = folder / Path(exclude.audit).expanduser()
        audit = load_audit(path)
        _check(audit, whole, path)
        digest = f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
        reasons |= _by_verdict(audit.items, exclude.verdicts)
    stay = tuple(item for item in drawn.items if item.id not in reasons)
    if not stay:
        raise UsageError("exclude leaves no item to ask", where=where, fix="exclude less")
    counted = Counter(reasons[item.id] for item in drawn.items if item.id in reasons)
    return Population(drawn.with_items(stay), tuple(counted.most_common()), digest)


def exclude_by(audit: Path, verdicts: Sequence[str]) -> Exclude:
    """What flags say: the items with these of the audit's verdicts. Raises UsageError for another word."""
    for verdict in verdicts:
        if verdict not in VERDICTS:
            raise UsageError(
                f"an audit has no verdict {verdict!r}",
                fix=did_you_mean(verdict, VERDICTS, otherwise=f"one of: {', '.join(VERDICTS)}"),
            )
    return Exclude.model_validate({"audit": str(audit), "verdicts": tuple(verdicts)})


def _check(audit: AuditDocument, whole: Benchmark, path: Path) -> None:
    if not audit.self_test.passed:
        raise UsageError("the audit failed its self-test and has no verdicts", where=str(path))
    check_applies(audit, whole, str(path))


def _by_verdict(items: Iterable[ItemVerdict], verdicts: Iterable[str]) -> dict[str, str]:
    """Why each item goes that has one of `verdicts`: its failure type, or its state."""
    wanted = set(verdicts)
    reasons = {}
    for item in items:
        failure = str(item.failure or "flagged")
        if item.flagged and wanted & {"flagged", failure}:
            reasons[item.item] = failure
        elif item.state is State.NOT_CHECKABLE and str(State.NOT_CHECKABLE) in wanted:
            reasons[item.item] = str(State.NOT_CHECKABLE)
    return reasons
