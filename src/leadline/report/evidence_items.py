"""What a study's items rest on, collected for the evidence page: label, window, quotes, verdict, decision."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from leadline.audit.document import ItemVerdict, load_audit
from leadline.bench.adjudications import Adjudication
from leadline.bench.item import Item
from leadline.study.study import Study

# The page's name, beside report.html.
EVIDENCE = "evidence.html"
# What `encodeURIComponent` leaves as it is, so that a link reads the same wherever it was made.
_PLAIN = "!~*'()"


@dataclass(frozen=True)
class EvidenceItem:
    """One item with all that a person wants to see beside its answers.

    `item` is as annotated; `corrected` is the answer that it is judged by where a person corrected it.
    `left_out` is the reason why it is not in the population, "" where it is. `decision` is what a person
    decided; where that is `stale`, it is about another question, window or label, and not applied.
    """

    item: Item
    corrected: str | None = None
    left_out: str = ""
    verdict: ItemVerdict | None = None
    decision: Adjudication | None = None
    stale: bool = False


@dataclass(frozen=True)
class Evidence:
    """All items that were drawn, in the benchmark's order; and which layers there are to look at."""

    benchmark: str
    study: str
    population: str
    items: tuple[EvidenceItem, ...]
    category_name: str = "category"
    task_name: str = "task"
    audited: bool = False
    adjudicated: bool = False
    first: Collection[str] = field(default_factory=frozenset)


def anchor_of(item: str) -> str:
    """Where an item stands on the page, as the part of an address after "#".

    >>> anchor_of("a/b 100%")
    'item=a%2Fb%20100%25'
    """
    return f"item={quote(item, safe=_PLAIN, errors='replace')}"


def evidence_of(study: Study, first: Collection[str] = ()) -> Evidence | None:
    """What the items of a study rest on; None where no item has a window or evidence.

    `first` are items that must not be left out when there are too many for a page. Raises UsageError where
    the audit cannot be read any more.
    """
    everyone = study.population.everyone
    if not any(item.window or item.evidence for item in everyone.items):
        return None
    whole = study.whole.by_id
    verdicts = _verdicts(study)
    decided = study.population.decisions
    corrected = set(study.population.corrected)
    return Evidence(
        benchmark=f"{study.whole.name} {study.whole.version}",
        study=study.config.name,
        population=study.population.sentence,
        items=tuple(
            EvidenceItem(
                item=whole[item.id],
                corrected=item.answer if item.id in corrected else None,
                left_out=study.population.excluded.get(item.id, ""),
                verdict=verdicts.get(item.id),
                decision=decided.applied.get(item.id) or decided.stale.get(item.id),
                stale=item.id in decided.stale,
            )
            for item in everyone.items
        ),
        category_name=study.whole.category_name,
        task_name=study.whole.task_name,
        audited=bool(verdicts),
        adjudicated=bool(decided.digest),
        first=frozenset(first),
    )


def _verdicts(study: Study) -> dict[str, ItemVerdict]:
    """What the study's audit says, by item; the study was opened with it, so it is about these items."""
    named = study.config.audit or study.config.exclude.audit
    if named is None:
        return {}
    return {verdict.item: verdict for verdict in load_audit(study.folder / Path(named).expanduser()).items}
