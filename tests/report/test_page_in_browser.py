"""The page in a real browser: filters, search, addresses, themes, phones, keyboards, hostile text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from leadline.lenses.registry import ALL_MODELS
from leadline.report.write import write_report
from tests.lenses.frames import study_frame
from tests.report.conftest import Written
from tests.report.documents import HOSTILE, item_texts, study_document
from tests.report.stability import stability_document, stability_frame

pytestmark = pytest.mark.browser


class Opened:
    """An open page that fails the test on any complaint of the browser."""

    def __init__(self, page: Any, path: Path) -> None:
        self.page, self.path, self.complaints = page, path, []
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", self._dialog)
        page.on("request", self._request)
        self.go("")

    def _dialog(self, dialog: Any) -> None:
        self.complaints.append("a dialog")
        dialog.dismiss()

    def _request(self, request: Any) -> None:
        if not request.url.startswith((self.path.as_uri(), "data:", "about:")):
            self.complaints.append(request.url)

    def go(self, address: str) -> None:
        self.page.goto("about:blank")
        self.page.goto(self.path.as_uri() + address)

    def count(self) -> int:
        found = re.match(r"(?:All )?(\d+)", self.page.inner_text("#item-count"))
        assert found
        return int(found[1])

    def choose(self, **filters: str) -> int:
        """Set filters and wait until the list has followed."""
        for name, value in filters.items():
            if name == "search":
                self.page.fill("#f-search", value)
            else:
                self.page.select_option(f"#f-{name}", value)
        self.page.wait_for_timeout(250 if "search" in filters else 60)
        return self.count()


@pytest.fixture
def opened(browser: Any, written: Written) -> Iterator[Opened]:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light")
    page = Opened(context.new_page(), written.paths.html)
    yield page
    context.close()
    assert page.complaints == []


def figure(written: Written, table: tuple[str, str], model: str, key: str, **keys: str) -> int:
    """The numerator of a figure of the findings."""
    finding = written.document.finding(*table, model)
    assert finding is not None
    row = next(row for row in finding.rows if all(row.keys[k] == v for k, v in keys.items()))
    return int(row.figures[key].numerator or 0)


@pytest.mark.parametrize("width", [1100, 1280, 1600])
def test_the_headline_table_fits_with_its_heads_in_line(opened: Opened, width: int) -> None:
    opened.page.set_viewport_size({"width": width, "height": 900})
    tops, over, apart = opened.page.evaluate(
        """() => {
            const table = document.querySelector("table.headline"), box = table.parentElement;
            const heads = [...table.querySelectorAll("thead tr:last-child button")];
            const figures = [...table.querySelectorAll("tbody tr:first-child td .fig")];
            return [
                new Set(heads.map(head => Math.round(head.getBoundingClientRect().top))).size,
                box.scrollWidth - box.clientWidth,
                Math.max(...figures.map((one, at) => Math.abs(
                    one.getBoundingClientRect().right - heads[at + 1].getBoundingClientRect().right))),
            ];
        }"""
    )
    assert tops == 1, "all heads stand on one line"
    assert over <= 0, "no column is cut off"
    assert apart < 1, "a head ends where its figures end"


@pytest.mark.parametrize("model", ["small", "large"])
def test_filters_show_as_many_items_as_the_findings_count(
    opened: Opened, written: Written, model: str
) -> None:
    assert opened.choose(model=model) == written.readings["item"].n_unique()
    overall = ("transitions", "overall")
    for method in ("recite", "genread", "dola", "tau-1.2"):
        assert opened.choose(show="recovered", method=method) == figure(
            written, overall, model, "gain", method=method
        )
        assert opened.choose(show="broken") == figure(written, overall, model, "loss", method=method)
    failures = int(written.document.finding(*overall, model).rows[0].figures["gain"].denominator)
    recovered = opened.choose(show="recovered", method="recite")
    assert opened.choose(show="unrecovered") == failures - recovered
    wobble = ("wobble", "overall")
    assert opened.choose(show="unstable", method="tau-0.7") == figure(
        written, wobble, ALL_MODELS, "wobble", configuration=f"{model} · tau-0.7"
    )
    opened.page.click("#f-reset")
    opened.choose(model=model)
    for tau in ("0.7", "1.2"):
        for depth in ("shallow", "deep"):
            wanted = figure(written, ("beyond_sampling", "partition"), model, depth, temperature=tau)
            assert opened.choose(depth=f"{depth}@{tau}") == wanted
    assert opened.choose(depth="shallow@1.2", show="recovered", method="genread") == figure(
        written, ("beyond_sampling", "rates"), model, "sgr", temperature="1.2", method="genread"
    )


def test_a_category_is_filtered_together_with_the_rest(opened: Opened, written: Written) -> None:
    wanted = written.readings.filter(pl.col("category") == "law")["item"].n_unique()
    assert opened.choose(category="law") == wanted
    rows = opened.page.locator("tr[data-item]").all_inner_texts()
    assert len(rows) == wanted and all("law" in row for row in rows)


def test_search_looks_into_questions_gold_answers_and_raw_answers(opened: Opened) -> None:
    assert opened.choose(search="LADOGA, number 7?") == 1
    assert opened.choose(search="the 17th gold") == 1
    assert opened.choose(search="mistake 12.1") >= 1  # said by a model, in no question
    assert opened.choose(search="عاصمة") == 1
    assert opened.choose(search="onerror=") == 1
    assert opened.choose(search="no such words") == 0
    assert "No item fits" in opened.page.inner_text("#item-list")
    opened.page.click("#f-reset")
    assert opened.count() == 60


def test_headline_figures_open_the_items_behind_them(opened: Opened, written: Written) -> None:
    links = opened.page.locator("table.headline a.plain")
    assert links.count() > 10
    for place in range(0, links.count(), 4):
        link = links.nth(place)
        counted = re.search(r"\((\d+)/", link.inner_text())
        assert counted
        link.click()
        opened.page.wait_for_timeout(60)
        assert opened.count() == int(counted[1])


def test_hostile_questions_are_shown_as_text_and_never_run(opened: Opened) -> None:
    assert opened.choose(search="document.title='owned'") == 2
    shown = opened.page.locator("tr[data-item] .open").all_inner_texts()
    assert shown == list(HOSTILE[:2])
    for button in opened.page.locator("tr[data-item] .open").all():
        button.click()
    for box in opened.page.locator(".raws").all():
        box.locator("summary").click()
    opened.page.wait_for_timeout(100)
    assert "owned" not in opened.page.title()
    assert opened.page.locator("#items img, #items script").count() == 0
    assert opened.page.locator("tr.detail").first.inner_text().count("<b>gold</b> 0") >= 1
    assert opened.page.locator("bdi[dir=auto]").count() > 4


def test_an_items_address_opens_it_wherever_it_is(opened: Opened, written: Written) -> None:
    opened.go("#item=q047")  # on the second page of the list
    row = opened.page.locator("tr[data-item=q047]")
    assert row.locator("button").get_attribute("aria-expanded") == "true"
    assert opened.page.locator("tr.detail").count() == 1
    answers = opened.page.locator("tr.detail .answers section")
    names = written.readings.filter((pl.col("item") == "q047") & (pl.col("model") == "large"))
    assert answers.count() == names["configuration"].n_unique()
    assert row.evaluate("row => row.getBoundingClientRect().top < innerHeight")


def test_twenty_answers_collapse_to_the_different_ones_with_their_counts(
    opened: Opened, written: Written
) -> None:
    opened.go("#item=q005")
    card = opened.page.locator("tr.detail section").filter(has_text="RECITE")
    counts = [int(text.rstrip("×")) for text in card.locator("li .n").all_inner_texts()]
    assert sum(counts) == 20 and counts == sorted(counts, reverse=True)
    card.locator("details summary").click()
    raws = written.readings.filter(
        (pl.col("item") == "q005") & (pl.col("model") == "large") & (pl.col("configuration") == "recite")
    )["text"]
    assert sorted(card.locator("pre").all_inner_texts()) == sorted(
        text or "(empty)" for text in raws.unique()
    )


def test_a_claims_link_opens_its_table(opened: Opened) -> None:
    link = opened.page.locator(".claims[open] a.to").first
    target = (link.get_attribute("href") or "")[1:]
    table = opened.page.locator(f"[id='{target}']")
    assert table.get_attribute("open") is None
    link.click()
    opened.page.wait_for_timeout(60)
    assert table.get_attribute("open") is not None
    assert 0 <= table.evaluate("box => box.getBoundingClientRect().top") < 900


def test_tables_sort_by_the_figures_not_by_their_letters(opened: Opened) -> None:
    table = opened.page.locator("table.headline").first
    table.locator("th button", has_text="Net").click()

    def column() -> list[float]:
        texts = table.locator("td[data-figure=net] b").all_inner_texts()
        return [float(text.replace("−", "-")) for text in texts]

    assert column() == sorted(column(), reverse=True)
    assert table.locator("th[aria-sort=descending]").inner_text().startswith("Net")
    table.locator("th button", has_text="Net").click()
    assert column() == sorted(column())
    improved = table.locator("th button", has_text="Improved")
    improved.click()
    cells = table.locator("td[data-figure=improved]").all_inner_texts()
    assert [text == "n/a" for text in cells] == sorted(text == "n/a" for text in cells)  # empty cells last


def test_the_theme_follows_the_system_until_the_reader_chooses(browser: Any, written: Written) -> None:
    context = browser.new_context(color_scheme="dark")
    page = Opened(context.new_page(), written.paths.html)

    def brightness() -> float:
        colour = page.page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(map(int, re.findall(r"\d+", colour)[:3])) / 3

    assert brightness() < 60
    page.page.click("#theme")
    assert page.page.inner_text("#theme") == "Theme: light" and brightness() > 200
    page.page.reload()
    assert brightness() > 200
    page.page.click("#theme")
    page.page.emulate_media(color_scheme="light")
    assert page.page.inner_text("#theme") == "Theme: dark" and brightness() < 60
    assert page.complaints == []
    context.close()


@pytest.mark.parametrize("address", ["", "#item=q001", "#t:transitions:overall:small"])
def test_nothing_runs_off_the_side_of_a_phone(browser: Any, written: Written, address: str) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 740}, is_mobile=True, has_touch=True)
    page = Opened(context.new_page(), written.paths.html)
    page.go(address)
    assert page.page.evaluate("document.documentElement.scrollWidth") <= 360
    page.page.evaluate("document.querySelectorAll('details').forEach(box => { box.open = true; })")
    assert page.page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.complaints == []
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_their_background(browser: Any, written: Written, scheme: str) -> None:
    """WCAG AA: 4.5 to 1 for every colour that words are set in."""
    context = browser.new_context(color_scheme=scheme)
    page = Opened(context.new_page(), written.paths.html)
    colours = page.page.evaluate(
        """() => Object.fromEntries(['--paper', '--raised', '--ink', '--muted', '--link', '--better',
            '--on-better', '--worse', '--on-worse', '--tied', '--on-tied', '--better-ink', '--worse-ink',
            '--mark']
          .map(name => [name, getComputedStyle(document.documentElement).getPropertyValue(name).trim()]))"""
    )
    pairs = [(ink, paper) for ink in ("--ink", "--muted", "--link") for paper in ("--paper", "--raised")]
    pairs += [
        ("--on-better", "--better"),
        ("--on-worse", "--worse"),
        ("--on-tied", "--tied"),
        ("--ink", "--mark"),
    ]
    pairs += [(ink, paper) for ink in ("--better-ink", "--worse-ink") for paper in ("--paper", "--raised")]
    for ink, paper in pairs:
        assert _contrast(colours[ink], colours[paper]) >= 4.5, (ink, paper)
    context.close()


def test_the_page_can_be_used_by_keyboard_alone(opened: Opened) -> None:
    opened.page.keyboard.press("Tab")
    assert opened.page.evaluate("document.activeElement.textContent") == "Skip to the summary"
    opened.page.focus("tr[data-item=q003] .open")
    opened.page.keyboard.press("Enter")
    assert opened.page.locator("tr.detail").count() == 1
    opened.page.keyboard.press("Enter")
    assert opened.page.locator("tr.detail").count() == 0
    unnamed = opened.page.evaluate(
        """() => [...document.querySelectorAll('button, select, input, a, [role=region], [role=img]')]
            .filter(node => !(node.textContent.trim() || node.ariaLabel || node.labels?.length)).length"""
    )
    assert unnamed == 0


def test_figures_and_tables_are_there_without_scripts(browser: Any, written: Written) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(written.paths.html.as_uri())
    assert page.locator("svg.chart").count() == 17
    assert page.locator("table.headline").count() == 2
    assert page.locator("#filters").is_hidden() and page.locator("noscript").count() == 1
    context.close()


def test_a_thousand_items_with_many_answers_open_and_filter_fast(browser: Any, tmp_path: Path) -> None:
    few = study_frame(items=20, models=("small",))
    document = study_document(few, lenses=False)
    readings = pl.concat(
        few.with_columns(
            item=pl.format("{}-{}", pl.lit(copy), "item"), text=pl.format("{}, copy {}", "text", pl.lit(copy))
        )
        for copy in range(50)
    )
    assert readings["item"].n_unique() == 1000 and readings.height > 100_000
    paths = write_report(document, readings, item_texts(readings), tmp_path)
    context = browser.new_context()
    page = Opened(context.new_page(), paths.html)
    assert page.count() == 1000
    assert page.page.locator("tr[data-item]").count() == 25
    took = page.page.evaluate(
        """() => { const show = document.getElementById('f-show'), start = performance.now();
            show.value = 'recovered';
            show.dispatchEvent(new Event('change'));
            return new Promise(done => setTimeout(() => done(performance.now() - start), 1)); }"""
    )
    assert took < 1000  # a person notices from about 100 ms; busy machines are slower
    recovered = page.count()
    assert 0 < recovered < 1000 and recovered % 50 == 0
    page.page.click("#f-reset")
    page.page.fill("#f-search", "copy 33")
    page.page.get_by_text("20 of 1000 items").wait_for(timeout=5000)
    assert page.complaints == []
    context.close()


@pytest.mark.parametrize("width", [400, 1280])
def test_a_stability_study_can_be_browsed_without_a_baseline(
    browser: Any, tmp_path: Path, width: int
) -> None:
    document, readings = stability_document(), stability_frame()
    paths = write_report(document, readings, {}, tmp_path)
    context = browser.new_context(viewport={"width": width, "height": 800})
    page = Opened(context.new_page(), paths.html)
    assert page.page.evaluate("document.documentElement.scrollWidth") <= width
    page.page.evaluate("document.querySelectorAll('details').forEach(box => { box.open = true; })")
    assert page.page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.page.locator("#f-method-box").is_hidden()
    shown = page.page.locator("#f-show option").evaluate_all("options => options.map(one => one.value)")
    assert shown == ["all", "unstable"]
    overall = document.finding("wobble", "overall", ALL_MODELS)
    assert overall is not None
    for row in overall.rows[:2]:
        unstable = page.choose(model=row.keys["configuration"], show="unstable")
        assert unstable == row.figures["wobble"].numerator
    assert page.page.locator("td.v").first.inner_text().endswith("of 10 right")
    assert page.complaints == []
    context.close()


def _contrast(first: str, second: str) -> float:
    """The contrast ratio of WCAG 2.2 between two colours "#rrggbb"."""

    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)
