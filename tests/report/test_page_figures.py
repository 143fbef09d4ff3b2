"""The page shows the findings' own figures: it is parsed, and compared with the document."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import polars as pl
from markupsafe import escape

from leadline.lenses.registry import ALL_MODELS
from leadline.report.charts.rank_shift import rank_shift
from leadline.report.headline import headlines
from leadline.report.items import RAW_LIMIT, ItemText, items_data
from leadline.report.numbers import printed
from leadline.report.page import render_page
from leadline.report.tables import anchor, slug, table
from tests.report.conftest import Written
from tests.report.documents import HOSTILE, item_texts, small_frame, study_document

VOID = {"meta", "link", "br", "input", "img", "hr"}


class Outline(HTMLParser):
    """The page's elements with their attributes, their texts, and whether every tag is closed."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.headline: dict[tuple[int, str], list[str]] = {}
        self.tables: dict[tuple[str, str, str], list[list[str]]] = {}
        self._cell: list[str] | None = None
        self._table: list[list[str]] | None = None
        self._headlines = -1
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.tags.append((tag, values))
        if tag not in VOID:
            self.open.append(tag)
        if "id" in values:
            self.ids.append(values["id"] or "")
        if tag == "a" and (values.get("href") or "").startswith("#"):
            self.links.append((values["href"] or "")[1:])
        if tag == "table":
            self._table = None
            self._headlines += "headline" in (values.get("class") or "")
            if "data-lens" in values:
                self._table = self.tables.setdefault(
                    (str(values["data-lens"]), str(values["data-table"]), str(values["data-model"])), []
                )
        if tag == "tr" and self._table is not None:
            self._table.append([])
        if tag in ("td", "th"):
            self._cell = []
            if "data-figure" in values:
                self.headline.setdefault((self._headlines, str(values["data-figure"])), []).append("")
                self._cell_key = (self._headlines, str(values["data-figure"]))
            else:
                self._cell_key = None

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag
        if tag in ("td", "th") and self._cell is not None:
            text = " ".join("".join(self._cell).split())
            if self._cell_key:
                self.headline[self._cell_key][-1] = text
            if self._table:
                self._table[-1].append(text)
            self._cell = None

    def handle_data(self, data: str) -> None:
        if self._cell is not None and "sup" not in self.open:
            self._cell.append(data)


def page(written: Written) -> str:
    return written.paths.html.read_text(encoding="utf-8")


def embedded(html: str) -> dict:
    return json.loads(re.search(r'id="data">(.*?)</script>', html, re.DOTALL)[1])


def test_every_tag_is_closed_every_id_is_unique_and_every_link_leads_somewhere(written: Written) -> None:
    outline = Outline(page(written))
    assert outline.open == []
    assert len(outline.ids) == len(set(outline.ids))
    dangling = {link for link in outline.links if not link.startswith("items?")} - set(outline.ids)
    assert dangling == set()


def test_headline_figures_are_the_findings_figures(written: Written) -> None:
    outline = Outline(page(written))
    for place, headline in enumerate(headlines(written.document)):
        for at, column in enumerate(headline.columns):
            wanted = [row.figures[at] for row in headline.rows]
            shown = outline.headline[place, column.id]
            assert shown == ["n/a" if f is None else str(printed(column.figure, f)) for f in wanted]


def test_the_headline_holds_all_three_levels_of_each_model(written: Written) -> None:
    tables = headlines(written.document)
    assert [entry.model for entry in tables] == ["large", "small"]
    for entry in tables:
        assert [column.id for column in entry.columns] == [
            "acc", "gain", "loss", "net", "improved", "tied", "worsened",
            "sgr@0.7", "dgr@0.7", "sgr@1.2", "dgr@1.2",
        ]  # fmt: skip
        gain = entry.rows[0].figures[1]
        overall = written.document.finding("transitions", "overall", entry.model)
        assert overall is not None
        assert gain == overall.rows[0].figures["gain"]


def test_every_finding_is_a_table_with_all_its_rows_and_figures(written: Written) -> None:
    outline = Outline(page(written))
    for finding in written.document.findings:
        if not finding.rows:
            continue
        shown = outline.tables[finding.lens, finding.table, finding.model]
        assert len(shown) == 1 + len(finding.rows)
        wanted = table(written.document, finding)
        for line, row in zip(shown[1:], wanted.rows, strict=True):
            assert line == [*row.keys, *("" if cell is None else str(cell.printed) for cell in row.cells)]


def test_every_claim_stands_on_the_page_and_links_to_its_table(written: Written) -> None:
    html = page(written)
    links = Outline(html).links
    for finding in written.document.findings:
        for claim in finding.claims:
            assert str(escape(claim.text)) in html
            assert anchor(finding) in links


def test_charts_have_a_title_a_description_and_a_table(written: Written) -> None:
    outline = Outline(page(written))
    charts = [values for tag, values in outline.tags if tag == "svg" and values.get("role") == "img"]
    # Two models; two temperatures each at the beyond-sampling level; five on stability, of all together.
    assert len(charts) == 2 + 2 + 4 + 4 + 5
    for values in charts:
        assert set((values["aria-labelledby"] or "").split()) <= set(outline.ids)


def test_a_method_that_left_nothing_to_shift_is_drawn_as_none() -> None:
    """Nothing that the baseline got wrong is left by DoLa: its shares are 0/0, and it stays in the chart."""
    right = (pl.col("configuration") == "dola") | pl.col("correct")
    frame = small_frame().with_columns(right.alias("correct"))
    document = study_document(frame)
    chart = rank_shift(document, "small")
    assert chart is not None
    assert re.search(r">DoLa</text><text [^>]*>n = 0</text><text [^>]*>none</text>", chart.svg)
    assert "DoLa: none" in chart.svg and chart.svg.count(">none<") == 1


def test_the_page_loads_nothing_and_forbids_loading(written: Written) -> None:
    outline = Outline(page(written))
    policy = next(v["content"] for t, v in outline.tags if t == "meta" and "http-equiv" in v)
    assert policy is not None and policy.startswith("default-src 'none'; ")
    for tag, values in outline.tags:
        assert "src" not in values, tag
        for name in values:
            assert not name.startswith("on"), (tag, name)
        if "href" in values:
            assert (values["href"] or "").startswith(("#", "data:,")), values
    assert "eval(" not in page(written) and "innerHTML" not in page(written)


def test_hostile_text_stays_text() -> None:
    frame = small_frame(8).with_columns(text=pl.lit(HOSTILE[0]))
    document = study_document(frame, study=HOSTILE[1], lenses=False).model_copy(
        update={"prompt": HOSTILE[0], "correctness": HOSTILE[3]}
    )
    html = render_page(document, frame, item_texts(frame))
    outline = Outline(html)
    assert outline.open == []
    assert [tag for tag, _ in outline.tags].count("script") == 2  # the data and the page's own
    assert "img" not in [tag for tag, _ in outline.tags]
    assert "{{ 7*7 }}" in html and "{% raw %}" in html
    data = embedded(html)
    assert [item["question"] for item in data["items"][:4]] == list(HOSTILE)
    assert "\u2028" not in re.search(r'id="data">(.*?)</script>', html, re.DOTALL)[1]


def test_the_browsers_counts_are_the_lenses_counts(written: Written) -> None:
    data = embedded(page(written))
    names = [entry["name"] for entry in data["configurations"]]
    for model in data["models"]:
        answers = [{names[row[0]]: row for row in item["of"][model]} for item in data["items"]]
        for row in written.document.finding("transitions", "overall", model).rows:
            method = row.keys["method"]
            recovered = [a for a in answers if a["greedy"][2] == 0 and a[method][2] == 1]
            broken = [a for a in answers if a["greedy"][2] == 1 and a[method][2] == 0]
            assert len(recovered) == row.figures["gain"].numerator
            assert len(broken) == row.figures["loss"].numerator
        for row in written.document.finding("beyond_sampling", "partition", model).rows:
            depths = [item["depth"].get(model, {}).get(row.keys["temperature"]) for item in data["items"]]
            assert depths.count("shallow") == row.figures["shallow"].numerator
            assert depths.count("deep") == row.figures["deep"].numerator
        for row in written.document.finding("wobble", "overall", ALL_MODELS).rows:
            of, _, name = row.keys["configuration"].partition(" · ")
            if of == model:
                assert sum(a[name][5] for a in answers if name in a) == row.figures["wobble"].numerator


def test_all_answers_are_there_and_counted_once(written: Written) -> None:
    data = embedded(page(written))
    counts = sum(
        count
        for item in data["items"]
        for rows in item["of"].values()
        for row in rows
        for group in row[6]
        for _, count in group[4]
    )
    assert counts == written.readings.height
    shown = {
        (item["id"], model, data["configurations"][row[0]]["name"], data["texts"][text])
        for item in data["items"]
        for model, rows in item["of"].items()
        for row in rows
        for group in row[6]
        for text, _ in group[4]
    }
    assert shown == set(
        written.readings.select("item", "model", "configuration", "text").unique().iter_rows()
    )


def test_a_runaway_answer_is_cut_and_says_so() -> None:
    frame = small_frame(4).with_columns(text=pl.lit("x" * (RAW_LIMIT + 500)))
    texts = items_data(study_document(frame, lenses=False), frame, item_texts(frame))["texts"]
    longest = max(texts, key=len)
    assert len(longest) < RAW_LIMIT + 60 and "(500 more characters in the study)" in longest


def test_failed_calls_are_compared_with_nothing() -> None:
    frame = small_frame(8)
    failed = (pl.col("configuration") == "genread") & (pl.col("item") == "q001")
    frame = frame.with_columns(
        state=pl.when(failed).then(pl.lit("error")).otherwise("state"),
        value=pl.when(failed).then(None).otherwise("value"),
        correct=pl.when(failed).then(pl.lit(value=False)).otherwise("correct"),
    )
    data = items_data(study_document(frame, lenses=False), frame, {})
    genread = [entry["name"] for entry in data["configurations"]].index("genread")
    item = next(item for item in data["items"] if item["id"] == "q001")
    assert next(row for row in item["of"]["small"] if row[0] == genread)[2] == -1


def test_items_that_were_not_asked_are_left_out_and_unknown_ones_are_shown_by_id() -> None:
    frame = small_frame(3)
    items = {"q001": ItemText("q001", "Known?", ("yes",)), "q999": ItemText("q999", "Never asked?", ("no",))}
    shown = [
        item["question"] for item in items_data(study_document(frame, lenses=False), frame, items)["items"]
    ]
    assert shown == ["Known?", "q000", "q002"]


def test_ids_of_different_names_differ() -> None:
    names = ["a/b", "a-b", "a:b", "ä", "ö", "a b"]
    assert len({slug("t", name) for name in names}) == len(names)
    assert slug("t", "rank_shift", "by category", "org/model@1").isascii()


def test_the_demo_sized_page_is_under_two_megabytes(written: Written) -> None:
    assert written.paths.html.stat().st_size < 2_000_000
