"""The claims and all tables as GitHub-flavoured Markdown, for issues, wikis and notes."""

from __future__ import annotations

import re

from leadline.report.claims import HEADS, LEAD, ClaimGroup, claim_groups
from leadline.report.document import FindingsDocument
from leadline.report.headline import Headline, headlines
from leadline.report.labels import spelt_out
from leadline.report.numbers import printed
from leadline.report.tables import Table, tables


def markdown_tables(document: FindingsDocument) -> str:
    """The headline of each model, the claims by status, then every finding, as Markdown text."""
    benchmark = document.benchmark
    blocks = [
        f"# {escape(document.study)}",
        f"{escape(benchmark.name)} {escape(benchmark.version)} ({benchmark.items_asked} of "
        f"{benchmark.items_total} items), {escape(benchmark.content_hash)}; Leadline "
        f"{escape(document.leadline_version)}, {document.created.isoformat()}.",
        *([f"Population: {escape(benchmark.population)}."] if benchmark.population else ()),
        *(f"**Not complete.** {escape(sentence)}." for sentence in document.incomplete),
        *(f"**Drawn in parts.** {escape(sentence)}." for sentence in document.changes),
        *(f"**Note.** {escape(sentence)}." for sentence in document.remarks),
        "Shares come with what they were counted over and their 95 % interval: 12.5 % (5/40) [5.5, 26.1].",
        *(block for entry in headlines(document) for block in _headline(entry)),
        *_claims(claim_groups(document)),
        *(block for entry in tables(document) for block in _table(entry)),
    ]
    return "\n\n".join(blocks) + "\n"


def escape(text: str) -> str:
    """Text that Markdown shows as it is: no emphasis, links, HTML or new cells."""
    one_line = " ".join(text.split())
    return re.sub(r"([\\`*_{}\[\]<>|#~&])", r"\\\1", one_line)


def _headline(entry: Headline) -> list[str]:
    heads = [
        "Method",
        *(f"{column.label} ({column.group})" if column.keys else column.label for column in entry.columns),
    ]
    lines = [
        [
            escape(row.label),
            *(str(printed(c.figure, f)) for c, f in zip(entry.columns, row.figures, strict=True)),
        ]
        for row in entry.rows
    ]
    baseline = printed("acc", entry.baseline_accuracy)
    return [
        f"## {escape(entry.model)}: each method against the baseline",
        f"Baseline {escape(entry.baseline)}: Acc {baseline}",
        _grid(heads, lines, keys=1),
    ]


def _claims(groups: list[ClaimGroup]) -> list[str]:
    if not groups:
        return []
    blocks = ["## What may be said", LEAD]
    for group in groups:
        lines = [
            [
                escape(sentence.text),
                escape(sentence.point),
                escape(sentence.conservative),
                escape(f"{sentence.table} ({sentence.model})"),
            ]
            for sentence in group.sentences
        ]
        blocks += [
            f"### {spelt_out(group.status)} ({len(lines)})",
            group.meaning,
            _grid(list(HEADS), lines, len(HEADS)),
        ]
    return blocks


def _table(entry: Table) -> list[str]:
    lines = [
        [*map(escape, row.keys), *(str(cell.printed) if cell else "" for cell in row.cells)]
        for row in entry.rows
    ]
    heads = [*map(escape, entry.key_heads), *map(escape, entry.figure_heads)]
    remarks = [f"- {escape(remark)}" for remark in (*entry.notes, *entry.remarks)]
    return [
        f"## {escape(spelt_out(entry.lens))}: {escape(entry.title)} ({escape(entry.model)})",
        *([escape(entry.definition)] if entry.definition else []),
        *([_grid(heads, lines, keys=len(entry.key_heads))] if lines else ["No rows."]),
        *(["\n".join(remarks)] if remarks else []),
    ]


def _grid(heads: list[str], lines: list[list[str]], keys: int) -> str:
    rule = ["---"] * keys + ["---:"] * (len(heads) - keys)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (heads, rule, *lines))
