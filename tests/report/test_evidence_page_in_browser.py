"""The evidence page in a real browser: addresses, filters, phones, keyboards, no scripts, hostile texts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from leadline.report.evidence_items import EvidenceItem, anchor_of
from leadline.report.evidence_page import evidence_page
from leadline.report.items import ItemText
from leadline.report.write import write_report
from tests.report.audit_documents import CREATED, HOSTILE
from tests.report.conftest import Written
from tests.report.test_evidence_page import IDS, WINDOW, decision, evidence, item
from tests.report.test_page_in_browser import Opened

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    far = WINDOW.join(["word " * 3_000] * 2)
    items = [EvidenceItem(item(name, window=far, category="names")) for name in IDS]
    one = item("decided", answer_type="number")
    items.append(EvidenceItem(one, corrected="61", decision=decision(one, "upheld", corrected="61")))
    for at, text in enumerate(HOSTILE):
        wild = item(
            f"wild {at}",
            question=text,
            window=f"{text} as long as the notice is kept",
            answer=text,
            category="wild",
        )
        items.append(EvidenceItem(wild, left_out="named", decision=decision(wild, "rejected", reason=text)))
    file = tmp_path_factory.mktemp("evidence") / "evidence.html"
    file.write_text(evidence_page(evidence(*items, adjudicated=True), CREATED).html, encoding="utf-8")
    return file


@pytest.fixture
def opened(browser: Any, path: Path) -> Iterator[Opened]:
    context = browser.new_context(viewport={"width": 1200, "height": 900}, color_scheme="light")
    page = Opened(context.new_page(), path)
    yield page
    context.close()
    assert page.complaints == []


def lit(page: Any) -> list[str]:
    """The items that are open and in sight."""
    found: list[str] = page.evaluate(
        """[...document.querySelectorAll('.audited[open]')].filter((box) => {
            const at = box.querySelector('.body').getBoundingClientRect();
            return at.top < innerHeight && at.bottom > 0;
        }).map((box) => box.dataset.item)"""
    )
    return found


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("scripts", [True, False])
def test_an_items_address_opens_it_whatever_its_id_is_made_of(
    browser: Any, path: Path, name: str, scripts: bool
) -> None:
    context = browser.new_context(viewport={"width": 1200, "height": 900}, java_script_enabled=scripts)
    page = context.new_page()
    page.goto(f"{path.as_uri()}#{anchor_of(name)}")
    if scripts:
        assert lit(page) == [name]
        page.goto("about:blank")
        page.goto(f"{path.as_uri()}#item={quote(name, safe='')}")  # as others may encode it
        assert lit(page) == [name]
    else:  # of what is closed a browser opens what an address leads to
        box = page.locator("details[open] .body")
        assert box.count() == 1 and box.is_visible()
        assert page.locator("details[open]").get_attribute("data-item") == name
    context.close()


def test_an_opened_window_shows_the_quote(opened: Opened) -> None:
    opened.go("#item=plain")
    mark = opened.page.locator(".audited[open] .window mark")
    box, found = opened.page.locator(".audited[open] .window").bounding_box(), mark.bounding_box()
    assert box["y"] <= found["y"] <= box["y"] + box["height"]


def test_filters_and_search_find_items(opened: Opened) -> None:
    assert opened.count() == len(IDS) + 1 + len(HOSTILE)
    assert opened.choose(show="decided") == 1 + len(HOSTILE)
    assert opened.choose(show="out") == len(HOSTILE)
    assert opened.choose(show="", category="names") == len(IDS)
    opened.page.click("#f-reset")
    assert opened.choose(search="what of 100%") == 1


def test_hostile_texts_are_shown_and_never_run(opened: Opened) -> None:
    opened.page.evaluate("document.querySelectorAll('details').forEach((box) => { box.open = true; })")
    assert "evidence" in opened.page.title().lower()
    assert opened.page.locator("main img, main script").count() == 0
    assert HOSTILE[0] in opened.page.inner_text("main")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_axe_finds_no_fault_and_nothing_runs_off_the_side(
    browser: Any, path: Path, width: int, scheme: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    # The page's policy forbids it to run the checker.
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True
    )
    page = context.new_page()
    page.goto(path.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach((box) => { box.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = axe.Axe().run(page).response["violations"]
    assert [(fault["id"], fault["nodes"][0]["html"][:200]) for fault in found] == []
    context.close()


def test_items_can_be_opened_by_keyboard_alone(opened: Opened) -> None:
    opened.page.focus("#f-reset")
    opened.page.keyboard.press("Tab")
    opened.page.keyboard.press("Enter")
    assert opened.page.locator(".audited[open]").get_attribute("data-item") == "plain"
    for _ in range(4):
        opened.page.keyboard.press("Tab")
        if opened.page.evaluate("document.activeElement.className") == "window":
            return
    raise AssertionError("the window cannot be reached")


def test_the_report_leads_to_an_item_and_back(browser: Any, written: Written, tmp_path: Path) -> None:
    first = next(iter(written.items))
    renamed = "a/b c%#?é"
    document, readings = (
        written.document,
        written.readings.with_columns(written.readings["item"].replace({first: renamed})),
    )
    items = {renamed: ItemText(renamed, "What of it?", ("60 days",)), **written.items}
    write_report(document, readings, items, tmp_path, evidence(EvidenceItem(item(renamed))))
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    page = context.new_page()
    page.goto(f"{(tmp_path / 'report.html').as_uri()}#item={quote(renamed, safe='')}")
    page.click("text=window and evidence")
    page.wait_for_url("**/evidence.html#*")
    assert lit(page) == [renamed]
    page.click("text=what was answered")
    page.wait_for_url("**/report.html#*")
    assert page.locator("tr.detail").count() == 1
    context.close()
