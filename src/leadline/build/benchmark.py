"""Writes what the stages left as a benchmark that `leadline run` takes."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from leadline.bench.benchmark import Benchmark
from leadline.bench.item import Evidence, Item
from leadline.bench.writing import write_benchmark
from leadline.build.attribution import attribution
from leadline.build.disk import said_by_the_disk
from leadline.build.link.properties import Properties, properties
from leadline.build.pages import Page, articles_of, page_of, stored_name
from leadline.build.plan import Plan, PresenceSection
from leadline.build.plan_file import file_of
from leadline.build.provenance import Provenance, provenance
from leadline.build.records import Article, Fact, Support, Tier
from leadline.build.standing import whatever_ended
from leadline.build.statement import NO_DOMAIN, data_statement
from leadline.build.stats import statistics
from leadline.build.workspace import Workspace
from leadline.documents.index import INDEX_NAME, IndexEntry
from leadline.documents.sources import FOLDER_NAME
from leadline.errors import UsageError

STATEMENT, ATTRIBUTION, FACTS = "DATA_STATEMENT.md", "ATTRIBUTION.md", "facts.jsonl"
_TIERS: tuple[Tier | None, ...] = ("exact", "normalised", "stripped", None)


def write_facts(plan: Plan, work: Workspace) -> Path:
    """Write WORK/benchmark and return it: the folder takes its place when it is whole.

    items.jsonl has the questions, sorted by id, with their supporting sentences as evidence; facts.jsonl, a
    line an item, all that the build knows of the fact (ids, bin, views, statements, verdicts, presence);
    sources/ the pages as they were read, under their addresses, so that an audit finds the quotes. The bytes
    depend on the plan and the stages alone. Raises UsageError where there are no questions yet.
    """
    found = statistics(plan, work, whatever_ended(plan, work))
    facts = sorted(work.stage(found.last_stage).facts(), key=lambda fact: fact.id)
    if not facts:
        raise UsageError("no fact is left to ask", where=str(plan.file), fix="leadline build stats says why")
    if not all(fact.question and fact.answer for fact in facts):
        raise UsageError(
            "there are no questions yet", where=str(work.folder), fix=f"leadline build run {plan.file}"
        )
    known = properties(file_of(plan, "link", "relations"))
    facts = [_named(fact, known) for fact in facts]
    counts = {name: (work.stage(name).done() or {}).get("counts", {}) for name in _counting(plan)}
    wanted = {page_of(fact, support) for fact in facts for support in fact.support}
    articles = {Page(one.id, one.title): one for one in articles_of(work, wanted)}
    new, old = work.folder / ".benchmark.new", work.folder / ".benchmark.old"
    with said_by_the_disk(new / STATEMENT):
        for left in (new, old):
            shutil.rmtree(left, ignore_errors=True)
        new.mkdir(parents=True)
        _write(new, plan, facts, articles, data_statement(plan, found, facts, counts))
        if work.benchmark.exists():
            work.benchmark.replace(old)
        new.replace(work.benchmark)
        shutil.rmtree(old, ignore_errors=True)
    return work.benchmark


def item_of(fact: Fact, addresses: Mapping[Page, str], presence: PresenceSection | None) -> Item:
    """A fact as an item. Its evidence is its supporting sentences, those found in the corpus first.

    Where `presence` was asked for, only sentences that it confirmed are evidence.
    """
    shown = [one for one in fact.support if presence is None or confirmed(one, presence.keep)]
    supports = sorted(shown, key=lambda support: _TIERS.index(support.tier))
    evidence = [
        Evidence(quote=support.sentence, source=addresses.get(page_of(fact, support), ""))
        for support in supports
    ]
    return Item.model_validate(
        {
            "id": fact.id,
            "question": fact.question,
            "answer": fact.answer,
            "aliases": fact.aliases,
            "answer_type": fact.answer_type or "text",
            "unit": fact.answer_unit,
            "category": fact.domain or NO_DOMAIN,
            "task": fact.relation,
            "subject": fact.asked or fact.subject,
            "evidence": evidence,
        }
    )


def confirmed(support: Support, keep: Tier) -> bool:
    """Whether a sentence stands in the corpus on the tier `keep` or a stricter one, and says the fact.

    What was not extracted again from it does not count; where nobody tried, it may.

    >>> confirmed(Support(sentence="s", start=0, tier="exact"), "normalised")
    True
    >>> confirmed(Support(sentence="s", start=0, tier="exact", again=False), "normalised")
    False
    """
    return _TIERS.index(support.tier) <= _TIERS.index(keep) and support.again is not False


def _write(
    folder: Path, plan: Plan, facts: Sequence[Fact], articles: Mapping[Page, Article], statement: str
) -> None:
    known = provenance(plan)
    pages = {page_of(fact, support) for fact in facts for support in fact.support}
    addresses = {page: _place(known, page, articles.get(page)) for page in pages}
    benchmark = Benchmark(
        name=plan.name,
        version=plan.version,
        title=plan.title,
        description=(
            f"Facts from {known.source or 'pages'}, one answer each, built by a plan: see {STATEMENT}."
        ),
        kind="facts",
        licence=known.licence,
        data_statement=STATEMENT,
        category_name="domain",
        task_name="relation",
        items=tuple(item_of(fact, addresses, plan.presence) for fact in facts),
    )
    write_benchmark(benchmark, folder)
    used = [articles[page] for page in sorted(articles)]
    (folder / STATEMENT).write_text(statement, "utf-8", newline="\n")
    (folder / ATTRIBUTION).write_text(attribution(plan, used), "utf-8", newline="\n")
    with (folder / FACTS).open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(fact.model_dump_json(exclude_defaults=True) + "\n" for fact in facts)
    _write_sources(folder / FOLDER_NAME, plan, used)


def _counting(plan: Plan) -> list[str]:
    """The stages whose counts the data statement tells."""
    wanted = {"frequency": plan.frequency, "scan": plan.presence}
    return [name for name, section in wanted.items() if section is not None]


def _place(known: Provenance, page: Page, article: Article | None) -> str:
    """What evidence names as its source: the page's address, else the file that holds its text."""
    address = known.address(page, article.revision if article else "")
    return address or (stored_name(article) if article else "")


def _write_sources(folder: Path, plan: Plan, articles: Sequence[Article]) -> None:
    """The pages, and an index that says which address each has, as if they had been fetched at their date.

    Pages without an address are found by the names of their files.
    """
    folder.mkdir()
    known = provenance(plan)
    lines = []
    for article in articles:
        data = article.text.encode()
        file = stored_name(article)
        (folder / file).write_bytes(data)
        url = known.address(Page(article.id, article.title), article.revision)
        if not url:
            continue
        entry = IndexEntry(
            url=url,
            fetched=article.timestamp or plan.articles.date,
            file=file,
            sha256=hashlib.sha256(data).hexdigest(),
            size=len(data),
            media_type="text/plain; charset=utf-8",
        )
        filled = {key: value for key, value in asdict(entry).items() if value or key == "fetched"}
        lines.append(json.dumps(filled, ensure_ascii=False) + "\n")
    if lines:
        (folder / INDEX_NAME).write_text("".join(lines), "utf-8", newline="\n")


def _named(fact: Fact, known: Properties) -> Fact:
    """Its relation by the one name that the table has for it, whatever the extractor called it."""
    label = known.label(fact.relation_id) if fact.relation_id else None
    return fact.model_copy(update={"relation": label}) if label else fact
