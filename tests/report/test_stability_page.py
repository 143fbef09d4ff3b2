"""Stability on the page and on a terminal: read from the findings, also where there is no baseline."""

from __future__ import annotations

import re

import polars as pl
import pytest

from leadline.lenses.finding import Figure, Finding, Row
from leadline.lenses.registry import ALL_MODELS
from leadline.report.document import FindingsDocument
from leadline.report.headline import headlines
from leadline.report.items import items_data
from leadline.report.numbers import printed
from leadline.report.page import MOST_ROWS, render_page
from leadline.report.stability import by_configuration, p_histogram, steadiest_first, transfer_null, whole
from leadline.report.stability_page import stability_groups
from leadline.report.tables import anchor, table
from leadline.report.tables_markdown import markdown_tables
from leadline.report.terminal import plain, summary
from tests.report.documents import small_frame, study_document
from tests.report.stability import CONFIGURATIONS, stability_document, stability_frame
from tests.report.test_page_figures import Outline


@pytest.fixture(scope="module")
def document() -> FindingsDocument:
    return stability_document()


@pytest.fixture(scope="module")
def html(document: FindingsDocument) -> str:
    return render_page(document, stability_frame(), {})


def test_without_a_baseline_the_page_leads_with_stability(document: FindingsDocument, html: str) -> None:
    assert headlines(document) == []
    outline = Outline(html)
    assert outline.open == [] and len(outline.ids) == len(set(outline.ids))
    assert "headline" not in outline.ids and ", baseline " not in html and "<dt>Baseline</dt>" not in html
    places = [
        outline.ids.index(name)
        for name in ("summary", "wobble", "room", "transfer", "groups", "halves", "tables")
    ]
    assert places == sorted(places)
    dangling = {link for link in outline.links if not link.startswith("items?")} - set(outline.ids)
    assert dangling == set()


def test_charts_stand_where_their_findings_are_and_nowhere_else(document: FindingsDocument) -> None:
    groups = stability_groups(document, leads=True)
    assert [group.anchor for group in groups] == ["wobble", "room", "transfer", "groups", "halves"]
    for group in groups:
        assert 1 <= len(re.findall(r"[.:;?] ", group.lead)) + 1 <= 4, "told in two sentences"
        for chart in group.charts:
            assert set(chart.tables) <= {anchor(finding) for finding in document.findings}
    bare = document.model_copy(update={"findings": ()})
    assert stability_groups(bare, leads=True) == []


def test_groups_of_items_have_a_chart_with_both_rates_and_their_difference(
    document: FindingsDocument,
) -> None:
    (group,) = (one for one in stability_groups(document, leads=True) if one.anchor == "groups")
    svg = group.charts[0].svg
    row = next(iter(whole(document, "contrast", "flagged against clean").rows))  # type: ignore[union-attr]
    assert ">flagged, all against clean</text>" in svg
    for key in ("of", "against", "difference"):
        assert f">{printed(key, row.figures[key]).value}</text>" in svg
    assert ">computational against clean</text>" in svg
    bare = [one for one in document.findings if one.lens != "contrast"]
    without = document.model_copy(update={"findings": tuple(bare)})
    assert "groups" not in [one.anchor for one in stability_groups(without, leads=True)]


def test_tables_without_a_chart_are_linked_from_the_head_and_open(
    document: FindingsDocument, html: str
) -> None:
    head = html[: html.index("<main>")]
    for lens, table_name in (("exclusion", "both readings"), ("label_errors", "candidates")):
        found = whole(document, lens, table_name)
        target = anchor(document.finding(lens, table_name, ALL_MODELS))  # type: ignore[arg-type]
        if found is None:
            assert f'href="#{target}"' not in head
        else:
            assert f'href="#{target}"' in head
            assert f'id="{target}" open>' in html
    assert "Same runs?" not in head  # the study names no pair of runs


def test_the_head_counts_answers_as_what_they_are(document: FindingsDocument, html: str) -> None:
    answers = sum(one.responses for one in document.configurations)
    failed = stability_frame().filter(pl.col("state") == "error").height
    assert f"{answers:,} to the items of this population" in html and " stored<" not in html
    assert ("failed calls" in html[: html.index("<main>")]) == (failed > 0)


def test_the_wobble_chart_names_every_configuration_with_its_figure(document: FindingsDocument) -> None:
    svg = stability_groups(document, leads=True)[0].charts[0].svg
    lines = steadiest_first(document)
    assert [line.label for line in lines] == sorted(CONFIGURATIONS, key=[line.label for line in lines].index)
    rates = [line.figures["wobble"].value or 0.0 for line in lines]
    assert rates == sorted(rates)
    for line in lines:
        assert f">{line.label}</text>" in svg
        assert f">{printed('wobble', line.figures['wobble']).value}</text>" in svg


def test_the_histograms_hold_every_cell_and_every_permutation(document: FindingsDocument) -> None:
    overall = whole(document, "wobble", "overall")
    assert overall is not None
    assert sum(each.count for each in p_histogram(document)) == overall.rows[-1].figures["wobble"].denominator
    null = transfer_null(document)
    assert null is not None and null.permutations == document.protocol.stability.permutations
    assert null.k == document.protocol.stability.top[-1]


def test_labels_of_configurations_are_taken_as_they_are() -> None:
    """ "greedy" is the name of one configuration and may be what another is called."""
    document = study_document(small_frame(4), lenses=False)
    row = Row(keys={"configuration": "greedy"}, figures={"wobble": Figure(value=None)})
    one = Finding(lens="x", table="y", model="small", title="", definition="", rows=(row,))
    assert table(document, one).rows[0].keys == ("Greedy",)
    assert table(document, one.model_copy(update={"model": ALL_MODELS})).rows[0].keys == ("greedy",)


def test_the_terminal_shows_each_configuration_on_a_line_of_at_most_a_hundred_columns(
    document: FindingsDocument,
) -> None:
    text = plain(summary(document), width=100)
    assert "No method was compared" not in text
    assert max(map(len, text.splitlines())) <= 100
    for line in by_configuration(whole(document, "wobble", "overall")):
        shown = next(
            row for row in text.splitlines() if row.startswith((f" {line.label} ", f"{line.label} "))
        )
        for piece in (printed("wobble", line.figures["wobble"]), printed("acc", line.figures["acc"]).value):
            assert str(piece) in shown


def test_a_label_gives_a_terminal_no_orders(document: FindingsDocument) -> None:
    overall = whole(document, "wobble", "overall")
    assert overall is not None
    row = overall.rows[0].model_copy(update={"keys": {"configuration": "\x1b[2Jwiped\x07"}})
    changed = document.model_copy(update={"findings": (overall.model_copy(update={"rows": (row,)}),)})
    text = plain(summary(changed))
    assert "\x1b" not in text and "\x07" not in text and "wiped" in text


def test_excluded_items_are_not_among_those_to_browse(document: FindingsDocument) -> None:
    shown = {item["id"] for item in items_data(document, stability_frame(), {})["items"]}
    frame = stability_frame()
    assert shown == set(frame.filter(frame["excluded"] == "")["item"])
    assert len(shown) < frame["item"].n_unique()


def test_a_table_of_very_many_rows_is_shown_in_part_on_the_page_and_whole_in_markdown(
    document: FindingsDocument,
) -> None:
    overall = whole(document, "wobble", "overall")
    assert overall is not None
    rows = tuple(
        overall.rows[0].model_copy(update={"keys": {"configuration": f"number {at}"}})
        for at in range(MOST_ROWS + 7)
    )
    changed = document.model_copy(update={"findings": (overall.model_copy(update={"rows": rows}),)})
    html = render_page(changed, stability_frame().head(20), {})
    assert html.count('<th scope="row">number ') == MOST_ROWS
    assert f"The first 1,000 of {MOST_ROWS + 7:,} rows" in html
    assert markdown_tables(changed).count("| number ") == MOST_ROWS + 7
