"""The page: one HTML file that needs nothing else, neither network nor server.

All text that comes from a study (questions, answers, names, settings) is hostile until proven otherwise:
the template escapes everything, the data block cannot end its own element, and the page's script only ever
sets text, never markup. The content security policy in the page forbids every request.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

import polars as pl
from jinja2.utils import htmlsafe_json_dumps

from leadline.lenses.registry import ALL_MODELS
from leadline.report.charts.beyond import beyond
from leadline.report.charts.decomposition import decomposition
from leadline.report.charts.group import ChartGroup
from leadline.report.charts.rank_shift import rank_shift
from leadline.report.charts.sweep import sweep
from leadline.report.claims import LEAD, claim_groups
from leadline.report.document import ConfigurationEntry, FindingsDocument
from leadline.report.evidence_items import EVIDENCE, anchor_of
from leadline.report.headline import Column, Headline, headlines, temperatures
from leadline.report.items import ItemText, items_data
from leadline.report.labels import spelt_out
from leadline.report.page_frame import CSP, assets, environment
from leadline.report.stability_page import stability_groups
from leadline.report.tables import Table, tables
from leadline.study.served_facts import calls_told

# More rows of one table make a page slow to open; a table longer than a printed page is not printed unopened.
MOST_ROWS, LONG_ROWS = 1000, 60

# Sections of the tables in the order of a reader's questions; lenses that are not listed follow.
LENS_ORDER = (
    "accuracy",
    "transitions",
    "against_sampling",
    "rank_shift",
    "beyond_sampling",
    "wobble",
    "sameness",
    "worst_category",
    "reliability",
    "observability",
    "difficulty",
    "transfer",
    "contrast",
    "repair",
    "exclusion",
    "adjudication",
    "label_errors",
    "equivalence",
    "steadiness",
)


# Tables without a chart that readers of recorded answers look for: linked from the head, open if not long.
LINKED = {
    ("exclusion", "both readings"): "Exclusion",
    ("adjudication", "both"): "Adjudication",
    ("label_errors", "candidates"): "Label errors",
    ("equivalence", "pairs"): "Same runs?",
}


def render_page(
    document: FindingsDocument,
    readings: pl.DataFrame,
    items: Mapping[str, ItemText],
    evidence: Collection[str] = (),
) -> str:
    """The whole page as text; `evidence` are the items that the evidence page beside it shows."""
    data = items_data(document, readings, items, evidence)
    printed_tables = tables(document)
    linked = {
        entry.anchor: LINKED[entry.lens, entry.name]
        for entry in printed_tables
        if (entry.lens, entry.name) in LINKED and entry.rows
    }
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            document=document,
            csp=CSP,
            style=assets("report.css"),
            script=assets("page.js", "report.js"),
            data=htmlsafe_json_dumps(data, dumps=_dumps),
            item_count=len(data["items"]),
            calls=[f"{one.model}: {calls_told(one.model_dump())}" for one in document.served],
            failed=readings.filter(pl.col("state") == "error").height,
            left_out=data["left_out"],
            groups=claim_groups(document),
            headlines=headlines(document),
            chart_groups=_chart_groups(document),
            claims_lead=LEAD,
            all_models=ALL_MODELS,
            lenses=_by_lens(printed_tables),
            linked=linked,
            evidence={item: f"{EVIDENCE}#{anchor_of(item)}" for item in evidence},
            settings=_settings,
            browse=lambda headline, row, column: _browse(document, headline, row, column),
            several=len(document.models) > 1,
            most_rows=MOST_ROWS,
            long_rows=LONG_ROWS,
            baseline=document.label(document.protocol.baseline) if document.protocol.baseline else "",
        )
    )


def _dumps(value: Any, **options: Any) -> str:
    return json.dumps(value, **(options | {"separators": (",", ":"), "sort_keys": False}))


def _chart_groups(document: FindingsDocument) -> list[ChartGroup]:
    """The charts of all models, question by question; a question that the study leaves open is left out.

    Without a baseline there is no headline, and how steady the answers are comes first.
    """
    models = [model.name for model in document.models]
    by_temperature = [(model, tau) for model in models for tau in temperatures(document, model)]
    found = (
        (
            ("gain", "Gain & loss"),
            "What is recovered, what is broken",
            "Accuracy hides these two behind one number: a method may leave it alone and still exchange many "
            "answers. Gain counts over the baseline’s failures, loss over its successes: the two sides have "
            "different denominators.",
            [decomposition(document, model) for model in models],
        ),
        (
            ("ranks", "Ranks"),
            "What moved beneath failures that stayed failures",
            "Where the first token of the gold answer stands in the model’s distribution without and with "
            "the method, on items that both the baseline and the method get wrong.",
            [rank_shift(document, model) for model in models],
        ),
        (
            ("beyond", "Beyond sampling"),
            "Does it reach further than asking again?",
            "Shallow failures are those that plain sampling gets right at least once, deep ones those "
            "that it never did. Only gains on deep failures go beyond sampling.",
            [beyond(document, model, tau) for model, tau in by_temperature],
        ),
        (
            ("sweep", "Samples"),
            "Does the number of samples decide?",
            "How much of the shallow set is found after K samples, and whether the methods would be ranked "
            "otherwise at another K.",
            [sweep(document, model, tau) for model, tau in by_temperature],
        ),
    )
    groups = [
        ChartGroup(anchor, short, title, lead, charts, titled=anchor in ("beyond", "sweep"))
        for (anchor, short), title, lead, drawn in found
        if (charts := tuple(chart for chart in drawn if chart is not None))
    ]
    return groups + stability_groups(document, leads=not headlines(document))


def _by_lens(found: list[Table]) -> list[tuple[str, list[Table]]]:
    lenses = list(dict.fromkeys([*LENS_ORDER, *(entry.lens for entry in found)]))
    # One table for all models, then the next table: readers compare models rather than lenses.
    names = list(dict.fromkeys(entry.name for entry in found))
    ordered = sorted(found, key=lambda entry: names.index(entry.name))
    grouped = [(lens, [entry for entry in ordered if entry.lens == lens]) for lens in lenses]
    return [(spelt_out(lens), entries) for lens, entries in grouped if entries]


def _browse(
    document: FindingsDocument, headline: Headline, method: str, column: Column
) -> dict[str, str] | None:
    """The filter of the item browser that shows what a headline figure counted, where it can show it."""
    parts = {entry.name: entry for entry in document.protocol.methods}
    if column.figure in ("gain", "loss"):
        return {
            "model": headline.model,
            "method": method,
            "show": "recovered" if column.figure == "gain" else "broken",
        }
    part = parts.get(method)
    # A temperature is judged over other samples at this level than the verdicts that the browser shows.
    if column.figure in ("sgr", "dgr") and part is not None and part.beyond_vote in (None, part.vote):
        depth = "shallow" if column.figure == "sgr" else "deep"
        tau = dict(column.keys)["temperature"]
        return {"model": headline.model, "method": method, "show": "recovered", "depth": f"{depth}@{tau}"}
    return None


def _settings(configuration: ConfigurationEntry) -> str:
    return json.dumps(configuration.settings, indent=2, ensure_ascii=False)
