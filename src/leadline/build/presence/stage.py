"""The stage `presence`: facts of which a sentence stands in the corpus and says the fact by itself."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar

from leadline.build.parts import reading
from leadline.build.plan import Plan
from leadline.build.presence.again import Question, batches, read_again, ready
from leadline.build.presence.scan_stage import FOUND, INDEXED, ScanStage
from leadline.build.presence.scanner import TIERS
from leadline.build.records import Drop, Fact, Support, Tier
from leadline.build.stage import FactStage, Job
from leadline.build.workspace import StageFolder

# Facts whose sentences are read again in one go.
_BATCH = 256


class PresenceStage(FactStage):
    """Fills in where supporting sentences stand, and drops facts without one.

    Reasons: `not-in-corpus` (no sentence stands in the corpus on the tier that `keep` names, or a stricter
    one), `not-extracted-again` (none of those that do yields the triplet by itself). Counts by tier how many
    of the facts that stay stand on it at best: `tiers`.
    """

    name: ClassVar[str] = "presence"
    version: ClassVar[int] = 2

    def wanted(self, plan: Plan) -> bool:
        """Only where the plan names a corpus."""
        return plan.presence is not None

    def settings(self, plan: Plan) -> object:
        """Which tier keeps a fact, and whether it must be extracted again, and by what."""
        said = plan.presence
        assert said is not None
        by = plan.extract.model_dump(exclude={"device", "batch"}) if said.again else None
        return [said.keep, said.again, by]

    def run(self, job: Job, here: StageFolder, before: StageFolder | None) -> Mapping[str, Any]:
        """As every stage over facts; also counts tiers."""
        self._tiers: Counter[str] = Counter()
        counts = super().run(job, here, before)
        return {**counts, "tiers": {tier: self._tiers[tier] for tier in TIERS if self._tiers[tier]}}

    def judge(self, job: Job, facts: Iterable[Fact]) -> Iterator[Fact | Drop]:
        """Each fact with its supports filled in, or why it goes."""
        said = job.plan.presence
        assert said is not None
        enough = TIERS[: TIERS.index(said.keep) + 1]
        held = list(facts)
        found = _found(job)
        there = [fact.model_copy(update={"support": _placed(fact, found)}) for fact in held]
        places = [tuple(n for n, one in enumerate(fact.support) if one.tier in enough) for fact in there]
        again: Iterator[dict[int, bool]] = iter(())
        if said.again:
            asked = [(fact, place) for fact, place in zip(there, places, strict=True) if place]
            again = _again(job, batches(asked, _BATCH))
        for fact, place in zip(there, places, strict=True):
            if not place:
                loose = min((TIERS.index(one.tier) for one in fact.support if one.tier), default=None)
                yield self.drop(fact, "not-in-corpus", f"only {TIERS[loose]}" if loose is not None else "")
                continue
            if said.again:
                read = next(again)
                support = tuple(
                    one.model_copy(update={"again": read[n]}) if n in read else one
                    for n, one in enumerate(fact.support)
                )
                fact = fact.model_copy(update={"support": support})  # noqa: PLW2901
                if not any(read.values()):
                    yield self.drop(fact, "not-extracted-again", f"from {len(read)} sentences")
                    continue
            counted = [one for one in fact.support if one.tier in enough and one.again is not False]
            self._tiers[min((str(one.tier) for one in counted), key=TIERS.index)] += 1
            yield fact


def _found(job: Job) -> dict[str, dict[Tier, Any]]:
    """Sentence to tier to hits. Where a scan found nothing, what documents of an index showed counts."""
    here = job.work.stage(ScanStage.name)
    found: dict[str, dict[Tier, Any]] = json.loads((here.path / FOUND).read_bytes())
    if (here.path / INDEXED).exists():
        from leadline.build.presence.infini_gram import Found

        for one in reading(here.path / INDEXED, Found):
            if one.tier is not None and one.sentence not in found:
                hits = {"occurrences": one.count or 0, "sample": one.documents}
                found[one.sentence] = {one.tier: hits}
    return found


def _placed(fact: Fact, found: Mapping[str, Mapping[Tier, Any]]) -> tuple[Support, ...]:
    filled = []
    for one in fact.support:
        tiers = found.get(one.sentence, {})
        best = next((tier for tier in TIERS if tier in tiers), None)
        if best is not None:
            hits = tiers[best]
            changes = {"tier": best, "occurrences": hits["occurrences"], "documents": tuple(hits["sample"])}
            one = one.model_copy(update=changes)  # noqa: PLW2901
        filled.append(one)
    return tuple(filled)


def _again(job: Job, questions: list[Question]) -> Iterator[dict[int, bool]]:
    """For each fact asked about, in order, what was read off its sentences."""
    results: dict[int, list[dict[int, bool]]] = {}
    shared = (job.plan, job.work)
    for question, read in job.engine.run(read_again, questions, shared, ready, devices=True):
        results[question.number] = read
    for question in questions:
        yield from results[question.number]
