"""An audit, counted: by route, state, failure type, category, task and answer type."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from leadline.audit.document import AnswerStated, AuditDocument, Failure, ItemVerdict, Route, State
from leadline.lenses.figures import share
from leadline.lenses.finding import Figure
from leadline.report.audit_words import checked, failure_name, unchecked


@dataclass(frozen=True)
class Breakdown:
    """The items by one property: `over` says what the shares are of."""

    title: str
    over: str
    rows: tuple[tuple[str, Figure], ...]


@dataclass(frozen=True)
class Group:
    """The items of one category, task or answer type. `by_failure` counts flagged items by type; `flagged` is
    out of the items that could be checked."""

    name: str
    items: int
    flagged: Figure
    by_failure: tuple[tuple[str, int], ...]
    unchecked: int


@dataclass(frozen=True)
class Summary:
    """All counts of an audit; empty when the self-test failed. Items are flagged out of those that could be
    checked: whose quote could be looked for in a window or a source."""

    flagged: Figure
    remarked: Figure
    breakdowns: tuple[Breakdown, ...]
    groups: tuple[tuple[str, tuple[Group, ...]], ...]


def summary(document: AuditDocument) -> Summary:
    """Count the verdicts. Shares have Wilson intervals; an item is in exactly one row of each breakdown."""
    items = document.items
    flagged = [verdict for verdict in items if verdict.flagged]
    breakdowns = (
        _breakdown(
            "Failure type",
            "flagged items",
            [*(failure.value for failure in Failure), "unclassified"],
            [failure_name(verdict) for verdict in flagged],
            always=[failure.value for failure in Failure],
        ),
        _breakdown("Quote in window", "items", _YES_NO, [_said(v.quote_in_window) for v in items]),
        _breakdown("Quote in source", "items", [s.value for s in State], [v.state.value for v in items]),
        _breakdown("Source found by", "items", [r.value for r in Route], [v.route.value for v in items]),
        _breakdown(
            "Answer in window",
            "items",
            [stated.value for stated in AnswerStated],
            [verdict.answer_in_window.value for verdict in items],
        ),
    )
    groups = (
        ("category", _groups(items, lambda verdict: verdict.category)),
        ("answer type", _groups(items, lambda verdict: verdict.answer_type)),
        ("task", _groups(items, lambda verdict: verdict.task)),
    )
    return Summary(
        flagged=share(len(flagged), sum(map(checked, items))),
        remarked=share(sum(bool(verdict.remarks) for verdict in items), len(items)),
        breakdowns=tuple(entry for entry in breakdowns if entry.rows[0][1].denominator),
        # A benchmark that does not group its items has one nameless group, which says nothing new.
        groups=tuple((title, found) for title, found in groups if any(group.name for group in found)),
    )


_YES_NO = ("present", "absent", "not checkable")


def _said(verdict: bool | None) -> str:
    return {True: "present", False: "absent", None: "not checkable"}[verdict]


def _breakdown(
    title: str, over: str, names: Sequence[str], values: Sequence[str], always: Sequence[str] | None = None
) -> Breakdown:
    counts = Counter(values)
    kept = [name for name in names if counts[name] or name in (names if always is None else always)]
    return Breakdown(title, over, tuple((name, share(counts[name], len(values))) for name in kept))


def _groups(items: Iterable[ItemVerdict], key: Callable[[ItemVerdict], str]) -> tuple[Group, ...]:
    members: dict[str, list[ItemVerdict]] = {}
    for verdict in items:
        members.setdefault(key(verdict), []).append(verdict)
    order = [*(failure.value for failure in Failure), "unclassified"]
    found = []
    for name, group in members.items():
        types = Counter(failure_name(verdict) for verdict in group if verdict.flagged)
        found.append(
            Group(
                name=name,
                items=len(group),
                flagged=share(types.total(), sum(map(checked, group))),
                by_failure=tuple((kind, types[kind]) for kind in order if types[kind]),
                unchecked=sum(map(unchecked, group)),
            )
        )
    # Readers look for flags; names decide between groups that have as many.
    return tuple(sorted(found, key=lambda group: (-(group.flagged.numerator or 0), group.name)))
