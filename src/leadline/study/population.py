"""Which items a study is about: those of the benchmark, less those that were left out, and why each was.

The items are drawn first and left out afterwards, so that a population without flagged items is a part of the
one with them, and the answers to both are the same answers.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from leadline.audit.applies import check_applies
from leadline.audit.document import AnswerStated, AuditDocument, Failure, ItemVerdict, State, load_audit
from leadline.bench import Benchmark
from leadline.bench.problem import did_you_mean
from leadline.errors import UsageError
from leadline.study.config import Exclude
from leadline.study.decisions import EXCLUDES, Decisions

VERDICTS = ("flagged", *map(str, Failure), str(State.NOT_CHECKABLE))
BY_NAME = "named in study.yaml"
# What --exclude says where an audit groups items and leaves none of them out.
NONE = "none"
_NOTHING = Decisions()


@dataclass(frozen=True)
class Population:
    """`left_out` says how many items were left out for which reason; `audit` is the sha256 of the audit.

    `drawn` are the items with those that were left out, which `excluded` gives a reason each. `verdicts` and
    `stated` say what an audit found of each item: the words of `audit` and `stated` in `lenses.frame`.
    `decisions` are those of people on the items drawn: corrected labels are in all of the benchmarks here.
    """

    benchmark: Benchmark
    left_out: tuple[tuple[str, int], ...] = ()
    audit: str = ""
    drawn: Benchmark | None = None
    excluded: Mapping[str, str] = field(default_factory=dict)
    verdicts: Mapping[str, str] = field(default_factory=dict)
    stated: Mapping[str, str] = field(default_factory=dict)
    decisions: Decisions = _NOTHING

    @property
    def adjudications(self) -> str:
        """The sha256 of the file of people's decisions, "" without."""
        return self.decisions.digest

    @property
    def corrected(self) -> tuple[str, ...]:
        """The drawn items whose label is another one than the benchmark's."""
        return self.decisions.corrected

    @property
    def everyone(self) -> Benchmark:
        """The items of the population and those that were left out of it."""
        return self.drawn or self.benchmark

    @property
    def sentence(self) -> str:
        """Which layers made the population, and what each took from the items drawn, such as

        "70 of 82 items drawn; left out: 12 (evidence absent 9, computational 3); not adjudicated".
        """
        out = sum(number for _, number in self.left_out)
        stay = len(self.benchmark.items)
        said = [f"{stay:,} of {stay + out:,} items drawn" if out else f"all {stay:,} items drawn"]
        if out:
            reasons = ", ".join(f"{reason} {number:,}" for reason, number in self.left_out)
            said.append(f"left out: {out:,} ({reasons})")
        by_people = {BY_NAME, *EXCLUDES.values()}
        if all(reason in by_people for reason, _ in self.left_out):
            said.append("the audit excludes none" if self.audit else "not audited")
        here = self.benchmark.by_id
        if corrected := sum(item in here for item in self.corrected):
            said.append(f"labels corrected: {corrected:,}")
        return "; ".join([*said, self.decisions.sentence])


def population(
    whole: Benchmark,
    drawn: Benchmark,
    exclude: Exclude,
    folder: Path,
    where: str,
    audit: str | None = None,
    named: Mapping[str, str] | None = None,
    decisions: Decisions = _NOTHING,
) -> Population:
    """`drawn`, a part of `whole`, without what `exclude` names; paths of audits start at `folder`.

    Items are grouped by the verdicts of `audit`, or else of the one in `exclude`. `named` tells where in
    study.yaml either audit is named ("audit", "exclude"); without it, a flag has named it. Of several reasons
    to leave an item out the audit's counts, then the name in study.yaml, then a decision: what is left out
    by a decision is left out by nothing else.

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
    reasons = {**decisions.excluded, **dict.fromkeys(exclude.items, BY_NAME)}
    digest = ""
    groups: AuditDocument | None = None
    lines = named or {}
    if audit is not None:
        groups, digest = _load(audit, whole, folder, lines.get("audit"))
    if exclude.audit is not None:
        excludes, digest = (
            (groups, digest)
            if groups and exclude.audit == audit
            else _load(exclude.audit, whole, folder, lines.get("exclude"))
        )
        groups = groups or excludes
        reasons |= _by_verdict(excludes.items, exclude.verdicts)
    judged = decisions.over(drawn)
    stay = tuple(item for item in judged.items if item.id not in reasons)
    if not stay:
        if all(item.id in decisions.excluded for item in drawn.items):
            raise UsageError(
                "the decisions leave no item to ask", where=str(decisions.file), fix="--adjudications none"
            )
        raise UsageError("exclude leaves no item to ask", where=where, fix="exclude less")
    counted = Counter(reasons[item.id] for item in drawn.items if item.id in reasons)
    here = drawn.by_id
    found = [verdict for verdict in (groups.items if groups else ()) if verdict.item in here]
    return Population(
        drawn.with_items(stay),
        tuple(counted.most_common()),
        digest,
        judged,
        {item.id: _reason(reasons[item.id]) for item in drawn.items if item.id in reasons},
        {verdict.item: _called(verdict) for verdict in found},
        {
            verdict.item: str(verdict.answer_in_window)
            for verdict in found
            if verdict.answer_in_window is not AnswerStated.UNDECIDABLE
        },
        decisions,
    )


def exclude_by(audit: Path, verdicts: Sequence[str]) -> Exclude:
    """What flags say: the items with these of the audit's verdicts; of "none", no item.

    Raises UsageError for another word.
    """
    if NONE in verdicts:
        if len(set(verdicts)) > 1:
            raise UsageError("--exclude none leaves nothing out, and others do", fix="keep one of them")
        return Exclude()
    for verdict in verdicts:
        if verdict not in VERDICTS:
            raise UsageError(
                f"an audit has no verdict {verdict!r}",
                fix=did_you_mean(verdict, VERDICTS, otherwise=f"one of: {', '.join((*VERDICTS, NONE))}"),
            )
    return Exclude.model_validate({"audit": str(audit), "verdicts": tuple(verdicts)})


def _load(place: str, whole: Benchmark, folder: Path, named: str | None) -> tuple[AuditDocument, str]:
    """An audit of `whole` with its digest. A fault of it is one of the line that names it, if one does."""
    path = folder / Path(place).expanduser()
    try:
        audit = load_audit(path)
        if not audit.self_test.passed:
            raise UsageError("the audit failed its self-test and has no verdicts", where=str(path))
        check_applies(audit, whole, str(path))
    except UsageError as error:
        if named is None:
            raise
        line = (error.where or "").removeprefix(str(path))  # of the audit's file, where it is known
        raise UsageError(f"audit {place}{line}: {error.what}", where=named, fix=error.fix) from error
    return audit, f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"


def _reason(reason: str) -> str:
    return "named" if reason == BY_NAME else reason


def _called(verdict: ItemVerdict) -> str:
    """An audit's verdict in one word or two."""
    if verdict.flagged:
        return str(verdict.failure or "flagged")
    return str(State.NOT_CHECKABLE) if verdict.state is State.NOT_CHECKABLE else "clean"


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
