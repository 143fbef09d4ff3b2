"""The audit's page in a real browser: filters, addresses, marks, phones, keyboards, hostile text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from leadline.report.audit_page import MOST_ITEMS, audit_page
from tests.report.audit_documents import WINDOW, audit_document, item_texts
from tests.report.test_audit_page import big
from tests.report.test_page_in_browser import Opened

pytestmark = pytest.mark.browser
WHOLE = audit_document()


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("audit") / "audit.html"
    file.write_text(audit_page(WHOLE, item_texts(WHOLE)), encoding="utf-8")
    return file


@pytest.fixture
def opened(browser: Any, path: Path) -> Iterator[Opened]:
    context = browser.new_context(viewport={"width": 1200, "height": 900}, color_scheme="light")
    page = Opened(context.new_page(), path)
    yield page
    context.close()
    assert page.complaints == []


def visible(opened: Opened) -> list[str]:
    found: list[str] = opened.page.evaluate(
        "[...document.querySelectorAll('.audited')].filter(d => !d.hidden).map(d => d.dataset.item)"
    )
    return found


def test_filters_show_the_items_that_fit_and_their_number(opened: Opened) -> None:
    assert opened.count() == 12 == len(visible(opened))
    assert opened.choose(show="flagged") == len(WHOLE.flagged)
    assert opened.choose(show="remarked") == 2 and visible(opened) == ["circular", "giveaway"]
    assert opened.choose(show="", failure="computational") == 2
    assert visible(opened) == ["share-1", "share-2"]
    assert opened.choose(state="not checkable") == 1 and visible(opened) == ["share-1"]
    assert opened.choose(category="patents") == 0
    assert "no item fits" in opened.page.inner_text("#item-count")
    opened.page.click("#f-reset")
    assert opened.count() == 12
    assert opened.choose(type="boolean") == 1 and visible(opened) == ["untraceable"]


def test_search_looks_into_ids_questions_windows_and_reasons(opened: Opened) -> None:
    assert opened.choose(search="SHARE-2") == 1
    assert opened.choose(search="points at a table") == 1
    assert opened.choose(search="1,362,500") == 1
    assert opened.choose(search="reinstated provisionally") == 10
    assert opened.choose(search="عاصمة") == 1
    assert opened.choose(search="no such words") == 0


def test_the_spans_are_marked_in_the_window_where_they_stand(opened: Opened) -> None:
    opened.go("#item=absent-1")
    box = opened.page.locator("[data-item='absent-1']")
    assert box.get_attribute("open") is not None
    window = box.locator(".window")
    assert window.evaluate("box => box.textContent") == WINDOW
    marks = window.locator("mark")
    assert marks.all_inner_texts() == ["If you cease all violation of this licence"]
    start = window.evaluate(
        """box => { const range = document.createRange(); range.setStart(box, 0);
            range.setEndBefore(box.querySelector('mark')); return range.toString().length; }"""
    )
    place = next(e for e in WHOLE.items if e.item == "absent-1").spans[0].in_window
    assert place is not None and start == place.start
    nearest = box.locator(".nearest mark").all_inner_texts()
    assert "60" in " ".join(nearest) and "holder" not in " ".join(nearest)


def test_an_items_address_opens_it_whatever_is_filtered(opened: Opened) -> None:
    opened.choose(failure="computational")
    opened.page.evaluate("location.hash = '#item=circular'")
    opened.page.wait_for_timeout(100)
    box = opened.page.locator("[data-item='circular']")
    assert box.is_visible() and box.get_attribute("open") is not None
    assert -1 <= box.evaluate("box => box.getBoundingClientRect().top") < 200
    assert opened.page.evaluate("document.activeElement.closest('.audited')?.dataset.item") == "circular"


def test_a_failure_types_share_leads_to_its_items(opened: Opened) -> None:
    opened.page.locator(".breakdown a", has_text="evidence absent").click()
    opened.page.wait_for_timeout(100)
    assert opened.count() == 5
    assert opened.page.input_value("#f-failure") == "evidence-absent"


def test_tables_sort_by_the_figures(opened: Opened) -> None:
    table = opened.page.locator("table[data-group='category']")
    table.locator("th button", has_text="Items").click()
    counts = [int(text) for text in table.locator("tbody td:nth-child(2)").all_inner_texts()]
    assert counts == sorted(counts, reverse=True) and counts[0] == 16


def test_hostile_texts_are_shown_and_never_run(opened: Opened) -> None:
    opened.page.evaluate("document.querySelectorAll('.audited').forEach(box => { box.open = true; })")
    opened.page.wait_for_timeout(100)
    assert "owned" not in opened.page.title()
    assert opened.page.locator("#items img, #items script, #items b:has(img)").count() == 0
    hostile = opened.page.locator(".audited[data-item*=hostile]")
    assert hostile.locator("summary .q").inner_text() == "<script>document.title='owned'</script>"
    assert hostile.locator("a[href^='javascript']").count() == 0


def test_the_page_can_be_used_by_keyboard_alone(opened: Opened) -> None:
    opened.page.keyboard.press("Tab")
    assert opened.page.evaluate("document.activeElement.textContent") == "Skip to the summary"
    summary = opened.page.locator("[data-item='absent-2'] summary")
    summary.focus()
    opened.page.keyboard.press("Enter")
    assert opened.page.locator("[data-item='absent-2']").get_attribute("open") is not None
    opened.page.keyboard.press("Tab")
    assert opened.page.evaluate("document.activeElement.className") == "window", "it can be scrolled"
    unnamed = opened.page.evaluate(
        """() => [...document.querySelectorAll('button, select, input, a, [role=region], [role=table]')]
            .filter(node => !(node.textContent.trim() || node.ariaLabel || node.labels?.length)).length"""
    )
    assert unnamed == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 400])
def test_nothing_runs_off_the_side_of_a_phone(browser: Any, path: Path, width: int, scheme: str) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 800}, is_mobile=True, has_touch=True, color_scheme=scheme
    )
    page = Opened(context.new_page(), path)
    assert page.page.evaluate("document.documentElement.scrollWidth") <= width
    page.page.evaluate("document.querySelectorAll('.audited').forEach(box => { box.open = true; })")
    assert page.page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.complaints == []
    context.close()


def test_everything_is_there_without_scripts(browser: Any, path: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    assert page.locator("details.audited").count() == 12
    assert page.locator("#filters").is_hidden() and page.locator("#theme").is_hidden()
    page.locator("[data-item='share-1'] summary").click()
    assert page.locator("[data-item='share-1'] .derivation").inner_text() == "81,575 / 1,362,500 = 5.99 %"
    context.close()


def test_a_page_without_verdicts_has_no_filters_and_no_complaints(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "failed.html"
    file.write_text(audit_page(audit_document(passed=False), {}), encoding="utf-8")
    context = browser.new_context()
    page = Opened(context.new_page(), file)
    assert page.page.locator("#filters").count() == 0
    assert page.page.locator("h2", has_text="No verdicts").is_visible()
    assert page.complaints == []
    context.close()


def test_as_many_items_as_a_page_holds_filter_fast(browser: Any, tmp_path: Path) -> None:
    document, texts = big(items=4_000, flagged=2_000, window=3_500)
    file = tmp_path / "big.html"
    file.write_text(audit_page(document, texts), encoding="utf-8")
    context = browser.new_context()
    page = Opened(context.new_page(), file)
    assert page.count() == MOST_ITEMS
    took = page.page.evaluate(
        """() => { const search = document.getElementById('f-search'), start = performance.now();
            search.value = 'f99';
            search.dispatchEvent(new Event('input'));
            return new Promise(done => {
                const look = () => /^\\d+ of/.test(document.getElementById('item-count').textContent)
                    ? done(performance.now() - start) : setTimeout(look, 5);
                look();
            }); }"""
    )
    assert took < 3000  # the first search reads every text once; busy machines are slow
    assert page.count() == 11  # f99 and f990 to f999
    assert page.complaints == []
    context.close()
