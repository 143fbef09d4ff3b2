"""The data statement of a built benchmark, in Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from leadline.bench.fact_rules import MAX_RELATION_SHARE, RELATION_SHARE_FROM
from leadline.build.attribution import terms
from leadline.build.filters.cardinality import CARDINALITY
from leadline.build.filters.relevance import RELEVANCE
from leadline.build.funnel import as_markdown
from leadline.build.markdown import plain
from leadline.build.plan import Plan
from leadline.build.provenance import provenance
from leadline.build.records import Fact
from leadline.build.statement_counts import days, judged, shards
from leadline.build.stats import Statistics

NO_DOMAIN = "other"  # a fact benchmark's items have a domain, also where the table knows none
_METHODS = {
    "rebel": "a seq2seq model ({model}) that reads triplets off sentences",
    "distant": "distant supervision: a page's links and names, aligned with Wikidata's statements",
    "chat": "a chat model ({model}) that fills in a JSON schema",
    "recorded": "extractions recorded beforehand",
}
_AGAIN = {
    False: ", from which the same triplet was extracted again",
    True: "; extracting the same triplet from it again was a replay of what was recorded, which shows that "
    "the sentence holds both ends of the triplet, not that a model would read it off that sentence",
}


def data_statement(
    plan: Plan, found: Statistics, facts: Iterable[Fact], counts: Mapping[str, Mapping[str, Any]]
) -> str:
    """What the benchmark is for, how it was made, what it covers. No date but those of the plan.

    `counts`: what the stages `frequency` and `scan` counted, as far as the plan has them.
    """
    source = plain(provenance(plan).source)
    line = list(facts)
    title = plain(plan.title or plan.name)
    paragraphs = [
        f"# Data statement: {title} {plain(plan.version)}",
        f"{len(line):,} questions on facts, each with one answer, made from "
        f"{source or 'pages whose source the plan does not name'} "
        f"({plain(', '.join(filter(None, (plan.articles.language, plan.articles.date))))}) by "
        "`leadline build`.",
        "## What it is for",
        "To see which facts a model gives by itself, which ones a technique draws out of it, and which it "
        "breaks. It is not for training. A fact is what its page said at its date and Wikidata agreed with: "
        f"it may be wrong, or out of date, and it leans to what {source or 'its source'} writes about.",
        "## How it was made",
        "\n".join(f"- {step}" for step in _steps(plan, line, counts)),
        "What each step took and let go (`facts.jsonl` has every kept fact with all that is known of it):",
        as_markdown(found.funnel).rstrip(),
        "No person has checked the items. `leadline audit` checks that each quote stands in its page.",
        "## What it covers",
        _table("domain", _counted(fact.domain or NO_DOMAIN for fact in line), len(line)),
    ]
    if found.bins:
        paragraphs += [
            "Bins are percentiles of page views over the subjects of all facts that were left when they were "
            "made, with buffers between them:",
            _table("bin", found.bins, len(line)),
        ]
    paragraphs.append(_table("relation", _counted(fact.relation for fact in line), len(line)))
    if warning := _dominant(line):
        paragraphs.append(warning)
    paragraphs += [
        "## Answers",
        "The gold answer is the object's label in Wikidata; its other names there are aliases, without those "
        "of one or two letters, which other words contain, and without demonyms. Dates are as full as both "
        "the page and Wikidata know them; numbers are in the unit that the item names.",
        _presence(plan, line, counts),
        "## Licence",
        terms(plan),
    ]
    return "\n\n".join(part for part in paragraphs if part) + "\n"


def _steps(plan: Plan, facts: list[Fact], counts: Mapping[str, Mapping[str, Any]]) -> Iterable[str]:
    method = _METHODS[plan.extract.method].format(model=plain(plan.extract.model or "its default"))
    yield f"Triplets: {method}."
    yield "Names were linked to Wikidata by page titles and redirects; both entities had to exist there."
    chosen = plan.filter
    if chosen.overlap != "off":
        yield f"Subject and answer share no word ({chosen.overlap})."
    if chosen.single:
        yield (
            "Wikidata holds one value for subject and relation: of best rank and not ended where the "
            "question is about today, of any rank and time where it is about the past too."
        )
    for classifier in (RELEVANCE, CARDINALITY):
        if (judge := getattr(chosen, classifier.name)) is not None:
            yield f"A language model ({plain(judge.model)}) {judged(classifier, judge, facts)}"
    if (views := plan.frequency) is not None:
        window = f"{views.start} to {views.end}" if views.start and views.end else "all files that were named"
        if part := days(counts.get("frequency", {})):
            window += f" ({part})"
        yield (
            f"Page views of {plain(views.project)}, {window}; bins of {views.head:g} % (head), "
            f"{views.torso:g} % (torso) and {views.tail:g} % (tail) with buffers of {views.buffer:g} %."
        )
    total = f", {plan.cap.total:,} of all" if plan.cap.total is not None else ""
    yield f"At most {plan.cap.per_relation:,} facts of a relation{total}, drawn by seed {plan.seed}."
    yield "One question template for each relation; facts that would be asked alike were let go."
    if (corpus := plan.presence) is not None:
        again = _AGAIN[plan.extract.method == "recorded"] if corpus.again else ""
        yield f"At least one supporting sentence stands in the training corpus ({corpus.keep}){again}."


def _table(name: str, counts: Mapping[str, int], total: int) -> str:
    if not counts:
        return ""
    rows = [f"| {name} | items | share |", "| --- | ---: | ---: |"]
    rows += [f"| {plain(key)} | {number:,} | {number / total:.1%} |" for key, number in counts.items()]
    return "\n".join(rows)


def _counted(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items(), key=lambda one: (-one[1], one[0])))


def _dominant(facts: list[Fact]) -> str:
    if len(facts) < RELATION_SHARE_FROM:
        return ""
    counts = _counted(fact.relation for fact in facts)
    large = [name for name, number in counts.items() if number > MAX_RELATION_SHARE * len(facts)]
    if not large:
        return ""
    return (
        f"More than {MAX_RELATION_SHARE:.0%} of the items are of one relation: "
        f"{', '.join(plain(name) for name in large)}. Figures over all items lean to it."
    )


def _presence(plan: Plan, facts: Iterable[Fact], counts: Mapping[str, Mapping[str, Any]]) -> str:
    if plan.presence is None:
        return "Whether the sentences stand in a model's training corpus was not looked at."
    tiers: dict[str, int] = {}
    for fact in facts:
        held = {support.tier for support in fact.support}
        best = next((tier for tier in ("exact", "normalised", "stripped") if tier in held), "not found")
        tiers[best] = tiers.get(best, 0) + 1
    said = ", ".join(f"{name} {number:,}" for name, number in sorted(tiers.items()))
    read = shards(counts.get("scan", {}))
    return f"In the training corpus, by the best tier of a fact's sentences: {said}. {read}".rstrip()
