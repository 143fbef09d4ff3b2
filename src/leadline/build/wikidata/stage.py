"""The stage that fetches what Wikidata holds about the subjects, objects and pages of the facts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from leadline.build.plan import Plan
from leadline.build.plan_file import where_in
from leadline.build.stage import Job, Stage
from leadline.build.wikidata.api import agent
from leadline.build.wikidata.open import gather, source_files
from leadline.build.wikidata.store import ENTITIES, EntityStore
from leadline.build.workspace import StageFolder
from leadline.errors import LeadlineError, UsageError


class EntitiesStage(Stage):
    """Leaves entities.sqlite; facts pass by.

    Counts: `wanted` ids, `found` of them (`redirected`: of these, by an id that was merged into another),
    `gone` (a source says that they do not exist), `missing` (no source has them), `sources` (ids settled by
    each), `broken` (lines of dumps that are no entity: file, line, why).
    """

    name: ClassVar[str] = "entities"

    def settings(self, plan: Plan) -> object:
        """The sources, the language of the names, and whether classes are climbed."""
        said = plan.wikidata
        return [said.dump, said.entities, said.redirects, said.api, plan.articles.language]

    def inputs(self, plan: Plan) -> tuple[Path, ...]:
        """Dumps, files and tables; answers of the API are kept in the build's cache."""
        return source_files(plan)

    def check(self, plan: Plan) -> None:
        """There is a source, and its files are there."""
        said = plan.wikidata
        if not (said.dump or said.entities or said.api):
            raise UsageError(
                "wikidata names no source: dump, entities or api",
                where=where_in(plan, "wikidata"),
                fix="api: https://www.wikidata.org/w/api.php, with a user_agent",
            )
        if said.api:
            agent(said.user_agent, where=where_in(plan, "wikidata", "api"))
        super().check(plan)

    def run(self, job: Job, here: StageFolder, before: StageFolder | None) -> Mapping[str, Any]:
        """Collect the ids of the facts, then their entities."""
        if before is None:
            raise AssertionError("entities are those of facts")
        wanted: set[str] = set()
        pages: set[str] = set()
        for fact in before.facts():
            ids = {one for one in (fact.subject_id, fact.object_id, fact.article_id) if one is not None}
            wanted |= ids
            # Classes are wanted of what decides the domain.
            pages |= {fact.article_id or fact.subject_id or ""} - {""}
        cache = job.work.folder / "cache"
        how = gather(
            job.plan, wanted, here.path / ENTITIES, cache, job.engine, job.progress, pages=sorted(pages)
        )
        counts = _counted(EntityStore(here.path / ENTITIES), wanted)
        if wanted and not counts["found"]:
            raise LeadlineError(
                f"none of the {len(wanted):,} entities wanted is there: {', '.join(sorted(wanted)[:3])}, ...",
                where=", ".join(map(str, source_files(job.plan))) or job.plan.wikidata.api,
                fix="are these sources of the same Wikibase as the ids?",
            )
        broken = dict(sorted(how.broken.items()))
        return {**counts, "sources": how.sources, **({"broken": broken} if broken else {})}


def _counted(store: EntityStore, wanted: set[str]) -> dict[str, int]:
    counts = {"wanted": len(wanted), "found": 0, "redirected": 0, "gone": 0, "missing": 0}
    for one in wanted:
        final = store.resolve(one)
        if final in store:
            counts["found"] += 1
            counts["redirected"] += final != one
        else:
            counts["gone" if store.gone(one) else "missing"] += 1
    store.close()
    return counts
