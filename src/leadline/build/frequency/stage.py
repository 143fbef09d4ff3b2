"""The stage that counts page views of subjects and puts them into bins."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from leadline.build.frequency.api import API, ViewsApi, user_agent
from leadline.build.frequency.bins import BUFFER, bins
from leadline.build.frequency.pageviews import Wanted, count_views, title_key
from leadline.build.frequency.window import Chosen, Window, choose
from leadline.build.link.open import open_titles
from leadline.build.plan import FrequencySection, Plan
from leadline.build.plan_file import files_of, where_in
from leadline.build.records import Drop, Fact
from leadline.build.stage import FactStage, Job
from leadline.build.subject import entities, subject_is_page, subject_title, wiki_of
from leadline.build.workspace import StageFolder, write_json
from leadline.documents.fetch_settings import FetchSettings
from leadline.errors import UsageError


class FrequencyStage(FactStage):
    """Views of every distinct subject over the window, and its percentile bin among them.

    Views come from the dumps in `plan.frequency.pageviews`, else from the API. A subject's views are those of
    its page and, where the link index knows them, of the redirects to it.
    """

    name: ClassVar[str] = "frequency"
    version: ClassVar[int] = 2
    after: ClassVar[tuple[str, ...]] = ("cardinality",)

    def settings(self, plan: Plan) -> object:
        """All of the section but who asks."""
        section = _section(plan).model_dump(mode="json")
        del section["user_agent"]
        return section

    def inputs(self, plan: Plan) -> tuple[Path, ...]:
        """The files of page views in the window."""
        section = _section(plan)
        if not section.pageviews:
            return ()
        return _chosen(plan, section).files

    def wanted(self, plan: Plan) -> bool:
        """Only where the plan has a section `frequency`."""
        return plan.frequency is not None

    def check(self, plan: Plan) -> None:
        """The window is one, and has files in it; or somebody says who asks the API."""
        section = _section(plan)
        try:
            Window(section.start, section.end)
            if not section.pageviews:
                user_agent(section.user_agent, plan.wikidata.user_agent)
            super().check(plan)
        except UsageError as error:
            if not (error.where or "").startswith("frequency"):
                raise
            line = where_in(plan, "frequency")
            raise UsageError(f"{error.where}: {error.what}", where=line, fix=error.fix) from None

    def run(self, job: Job, here: StageFolder, before: StageFolder | None) -> Mapping[str, Any]:
        """As any stage over facts; of dated files the counts also say how many `days` they count, `of` how
        many in the window."""
        counts = dict(super().run(job, here, before))
        section = _section(job.plan)
        if section.pageviews and (days := _chosen(job.plan, section).days):
            counts["days"] = {"counted": days[0], "of": days[1]}
        return counts

    def judge(self, job: Job, facts: Iterable[Fact]) -> Iterator[Fact | Drop]:
        """Reasons: no-views, buffer (unless `keep_buffer`)."""
        section = _section(job.plan)
        line = list(facts)
        pages = _pages(job, line, section)
        views = _views(job, section, pages)
        shares = {name: getattr(section, name) for name in ("head", "torso", "tail", BUFFER)}
        placed = bins(views, **shares)
        for name, number in Counter(placed.values()).items():
            job.progress.note(f"frequency: {number:,} of {len(placed):,} subjects in {name}")
        job.progress.begin(self.name, len(line), "facts")
        for fact in line:
            subject = _subject(fact)
            if subject not in views:
                titles = pages[subject].titles
                why = f"no views of {titles[0]!r} in the window" if titles else "its page is not known"
                yield self.drop(fact, "no-views", why)
                continue
            found = fact.model_copy(update={"views": views[subject], "bin": placed[subject]})
            if placed[subject] == BUFFER and not section.keep_buffer:
                yield self.drop(found, "buffer", f"{views[subject]:,} views")
            else:
                yield found


@dataclass(frozen=True)
class _Page:
    """Where a subject is looked up: its page's title and those of redirects, and the page's id."""

    titles: tuple[str, ...]
    number: str | None = None


def _section(plan: Plan) -> FrequencySection:
    if plan.frequency is None:
        raise AssertionError("asked for without a section")
    if not plan.frequency.pageviews and plan.frequency.api is None:
        raise UsageError(
            "names neither files of page views nor the API",
            where=f"{plan.file}: frequency",
            fix=f"pageviews: 'pageviews-2021*-user.bz2', or api: {API}",
        )
    return plan.frequency


def _chosen(plan: Plan, section: FrequencySection) -> Chosen:
    return choose(files_of(plan, "frequency", "pageviews"), Window(section.start, section.end))


def _subject(fact: Fact) -> str:
    return fact.subject_id or f"title:{title_key(fact.subject)}"


def _pages(job: Job, facts: Iterable[Fact], section: FrequencySection) -> dict[str, _Page]:
    """Each distinct subject's page."""
    store = entities(job.work)
    wiki = wiki_of(section.project)
    pages: dict[str, _Page] = {}
    with open_titles(job.plan, job.work, job.progress.note) as index:
        for fact in facts:
            subject = _subject(fact)
            if subject in pages and pages[subject].titles and pages[subject].number:
                continue  # of several facts, one that stands on the subject's own page knows most
            own = subject_title(fact, store, wiki)
            titles = [own] if own else []
            if fact.subject_id is not None:
                titles += index.titles(fact.subject_id)
            number = fact.article if subject_is_page(fact) and fact.article.isdigit() else None
            held = pages.get(subject, _Page(()))
            pages[subject] = _Page(tuple(dict.fromkeys((*titles, *held.titles))), number or held.number)
    return pages


def _views(job: Job, section: FrequencySection, pages: Mapping[str, _Page]) -> dict[str, int]:
    """Views by subject; one of which nothing is known is absent."""
    if section.pageviews:
        return _from_files(job, section, pages)
    window = Window(section.start, section.end)
    settings = FetchSettings(user_agent=user_agent(section.user_agent, job.plan.wikidata.user_agent), rate=5)
    cache = job.work.folder / "cache" / "pageviews.jsonl"
    api = ViewsApi(section.project, window, settings, cache, section.api or API)
    first = {subject: page.titles[0] for subject, page in pages.items() if page.titles}
    job.progress.begin("frequency", len(set(first.values())), "pages asked for")
    said = api.views(sorted(first.values()), job.progress.advance)
    return {subject: views for subject, title in first.items() if (views := said[title]) is not None}


def _from_files(job: Job, section: FrequencySection, pages: Mapping[str, _Page]) -> dict[str, int]:
    chosen = _chosen(job.plan, section)
    for note in chosen.notes:
        job.progress.note(f"frequency: {note}")
    titles: dict[str, str] = {}
    # A page's own title before redirects: two entities never share a page, but a redirect may have moved on.
    for subject, page in sorted(pages.items()):
        titles.update({title_key(title): subject for title in page.titles[:1]})
    for subject, page in sorted(pages.items()):
        for title in page.titles[1:]:
            titles.setdefault(title_key(title), subject)
    ids = {page.number: subject for subject, page in sorted(pages.items()) if page.number}
    wanted = Wanted(section.project, titles, ids)
    here = job.work.stage("frequency")
    tasks = [(str(path), str(here.part(n, suffix=".json"))) for n, path in enumerate(chosen.files)]
    job.progress.begin("frequency", len(tasks), "files of page views")
    lacking = [task for task in tasks if not Path(task[1]).exists()]
    job.progress.advance(len(tasks) - len(lacking))
    for _ in job.engine.run(count_file, lacking, wanted):
        job.progress.advance(1)
    views: Counter[str] = Counter()
    for source, part in tasks:
        found = json.loads(Path(part).read_bytes())
        views.update(found["views"])
        if not found["rows"]:
            job.progress.note(f"frequency: {Path(source).name} holds no row of {section.project}")
        if found["broken"]:
            job.progress.note(f"frequency: {Path(source).name} has {found['broken']:,} broken lines")
    return dict(views)


def count_file(wanted: Wanted, task: tuple[str, str]) -> None:
    """The views of one file, written whole to its part."""
    source, part = task
    counted = count_views(Path(source), wanted)
    views = dict(sorted(counted.views.items()))
    write_json(Path(part), {"views": views, "rows": counted.rows, "broken": counted.broken})
