"""The page of an audit: self-contained, escaped, and small whatever the size of the benchmark."""

from __future__ import annotations

import html
import re

import pytest

from leadline.audit.document import AuditDocument
from leadline.report.audit_page import MOST_ITEMS, audit_page
from leadline.report.audit_texts import ItemTexts
from tests.report.audit_documents import HOSTILE, audit_document, item, item_texts

WHOLE = audit_document()
PAGE = audit_page(WHOLE, item_texts(WHOLE))


def big(items: int, flagged: int, window: int) -> tuple[AuditDocument, dict[str, ItemTexts]]:
    kind = WHOLE.flagged[1]  # its quote is nowhere in the window, which is then shown from its beginning
    entries = [kind.model_copy(update={"item": f"f{n}"}) for n in range(flagged)]
    entries += [item(f"o{n}") for n in range(items - flagged)]
    text = ItemTexts("Which?", "60", "word " * (window // 5))
    return audit_document(items=tuple(entries)), {entry.item: text for entry in entries}


def test_the_page_needs_nothing_else() -> None:
    assert "default-src 'none'" in html.unescape(PAGE)
    assert not re.search(r"<(?:link|script|img|iframe)[^>]+(?:src|href)=[\"'](?!data:)", PAGE)
    assert "@import" not in PAGE and "url(" not in PAGE


def test_hostile_texts_are_text() -> None:
    body = PAGE[PAGE.index("<main>") : PAGE.index("</main>")]
    for hostile in HOSTILE[:2]:
        assert hostile not in PAGE
    assert "<script" not in body and "<img" not in body and "&lt;script&gt;" in body
    assert 'href="javascript' not in PAGE


def test_only_web_addresses_become_links() -> None:
    links = re.findall(r'href="(https?:[^"]+)"', PAGE)
    assert set(links) == {"https://example.org/filing?id=1&amp;part=2"}


def test_flagged_and_remarked_items_are_shown_and_the_rest_is_counted() -> None:
    assert PAGE.count('<details class="audited') == 12
    assert "Of 10 further items nothing is shown" in PAGE
    assert "fine-0" not in PAGE


def test_the_page_of_a_big_benchmark_is_small_and_says_what_it_leaves_out() -> None:
    document, texts = big(items=10_000, flagged=3_000, window=3_500)
    page = audit_page(document, texts)
    assert len(page) < 10_000_000
    shown = page.count('<details class="audited')
    assert shown == MOST_ITEMS
    assert f"<b>{3_000 - shown:,} more items with flags or remarks are left out" in page
    assert "Of 7,000 further items nothing is shown" in page
    assert "3,000 of 10,000 items flagged" in page


def test_windows_of_whole_documents_do_not_make_the_page_huge() -> None:
    document, texts = big(items=900, flagged=900, window=500_000)
    page = audit_page(document, texts)
    assert len(page) < 10_000_000 and "characters left out" in page
    assert page.count('<details class="audited') < 900
    assert "more items with flags or remarks are left out" in page


def test_a_failed_self_test_leaves_a_page_without_verdicts() -> None:
    page = audit_page(audit_document(passed=False), {})
    assert "No verdicts" in page and "25/32" in page and "failed its self-test" in page
    assert "<details" not in page and "evidence absent" not in page


@pytest.mark.parametrize("count", [0, 1])
def test_a_benchmark_without_flags_says_so(count: int) -> None:
    page = audit_page(audit_document(items=tuple(item(f"i{n}") for n in range(count))), {})
    assert "No item is flagged" in page and "there is nothing to remark" in page


def test_an_item_whose_texts_are_missing_is_shown_by_its_verdict() -> None:
    page = audit_page(WHOLE, {})
    assert page.count('<details class="audited') == 12
    assert "texts were not at hand" in page
