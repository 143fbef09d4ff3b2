"""DATA_STATEMENT.md: what is known about the data, in the form of Bender and Friedman; gaps are marked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from leadline.bench import Benchmark
from leadline.bundle.exclusions import Layer
from leadline.bundle.packs import PackFiles
from leadline.bundle.scores_told import agreement_lines, authors_of, same_name
from leadline.study.study import Study

TO_FILL = "**TO FILL**"


def statement_text(study: Study, found: Sequence[Layer], packs: Sequence[PackFiles] = ()) -> str:
    """The statement of a study's benchmark. What the files do not say is marked, never made up.

    Source: E. Bender and B. Friedman, Data Statements for NLP (TACL 2018).
    """
    whole = study.whole
    lines = [
        f"# Data statement: {whole.title or whole.name} {whole.version}",
        "",
        f"Every {TO_FILL} is something that nobody has put down where a program finds it."
        + _own_statement(whole),
        "",
        "## Curation rationale",
        "",
        whole.description or f"{TO_FILL}: why these items, and how they were chosen.",
        "",
        "## Composition",
        "",
        f"{len(whole.items):,} items, of which {len(study.benchmark.items):,} belong to this study's "
        "population; "
        f"{study.population.sentence}.",
        "",
        *_composition(study),
        "",
        "## Language varieties",
        "",
        *_languages(study),
        "",
        "## Speakers and annotators",
        "",
        f"- Who wrote the texts: {TO_FILL}",
        f"- Who wrote questions and labels, how many, trained and paid how: {TO_FILL}",
        *agreement_lines(packs, bool(whole.data_statement.strip())),
        *_one_and_the_same(study, packs),
        "",
        "## Labels and evidence",
        "",
        *_evidence(study),
        "",
        "## Exclusions",
        "",
        *(
            f"- {one.name}: {one.stay:,} items left, {len(one.gone):,} left out ({one.meaning})"
            for one in found
        ),
        "",
        "See DATASHEET_EXCLUSIONS.md for the ids.",
        "",
        "## Intended use",
        "",
        f"- Made for: {TO_FILL}",
        f"- Not to be used for: {TO_FILL}",
        "- The answers in this release were drawn to measure how right and how steady they are; they are no",
        "  reference answers.",
        "",
        "## What its makers state",
        "",
        whole.data_statement.strip() or f"{TO_FILL}: the benchmark brings no data statement of its own.",
        "",
        "## Personal data, licences",
        "",
        "See PERSONAL_DATA.md and LICENCES.md.",
        "",
    ]
    return "\n".join(lines)


def _own_statement(whole: Benchmark) -> str:
    if not whole.data_statement.strip():
        return " The benchmark brings no data statement of its own."
    return (
        " The benchmark's own data statement stands whole below, under “What its makers state”: read it"
        " first, it may answer them."
    )


def _composition(study: Study) -> list[str]:
    whole, population = study.whole, {item.id for item in study.benchmark.items}
    lines = []
    for heading, name in (
        (whole.category_name, "category"),
        (whole.task_name, "task"),
        ("answer type", "answer_type"),
    ):
        total = Counter(getattr(item, name) or "(none)" for item in whole.items)
        inside = Counter(getattr(item, name) or "(none)" for item in whole.items if item.id in population)
        lines += [f"| {heading} | items | in the population |", "| --- | ---: | ---: |"]
        lines += [f"| {_cell(key)} | {number:,} | {inside[key]:,} |" for key, number in sorted(total.items())]
        lines.append("")
    return lines[:-1]


def _languages(study: Study) -> list[str]:
    declared = Counter(item.locale for item in study.whole.items if item.locale)
    undeclared = len(study.whole.items) - sum(declared.values())
    lines = [
        f"- {locale} (declared for reading numbers and dates): {number:,} items"
        for locale, number in sorted(declared.items())
    ]
    return [*lines, f"- not recorded: {undeclared:,} items. {TO_FILL}"]


def _evidence(study: Study) -> list[str]:
    items = study.whole.items
    aliases = sum(bool(item.aliases) for item in items)
    quoted = sum(bool(item.evidence) for item in items)
    windows = sum(item.window is not None for item in items)
    return [
        f"- {quoted:,} items bring a quote that validates the label, {windows:,} a window that is shown to "
        f"the model, {aliases:,} more than one valid answer.",
        f"- Audit of labels against their sources: {study.population.audit or 'none'}.",
        *_decisions(study),
    ]


def _one_and_the_same(study: Study, packs: Sequence[PackFiles]) -> list[str]:
    """Whether who labelled decided on own labels, as far as names tell."""
    applied = study.population.decisions.applied.values()
    if not applied:
        return []
    authors = authors_of(packs)
    if not authors:
        return [
            "- Whether who decided on labels had written them cannot be told: no pack names their author."
        ]
    found = []
    for author in authors:
        number = sum(same_name(one.reader, author) for one in applied)
        if number:
            found.append(
                f"- By the names given author and adjudicator are one: {author} wrote labels, and made "
                f"{number:,} of the {len(applied):,} decisions on labels that are in force."
            )
    return found or ["- By the names given nobody who decided on labels in force had written them."]


def _decisions(study: Study) -> list[str]:
    """What people decided of the labels, where the study follows such decisions."""
    decisions = study.population.decisions
    if not decisions.digest:
        return []
    readers = len({decision.reader for decision in decisions.applied.values()})
    said = [f"- Decisions on labels, in adjudications.jsonl: {decisions.counted}."]
    if readers:
        said.append(f"Readers whose decisions are in force: {readers:,}.")
    if decisions.corrected:
        said.append(f"Labels corrected: {len(decisions.corrected):,}.")
    return [" ".join([*said, "`benchmark/` keeps the labels as they were annotated."])]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
