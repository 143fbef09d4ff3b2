"""A pack's pages in a browser: texts are not obeyed, nothing is wider than a phone, axe finds no fault."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from leadline.bench import load_benchmark
from leadline.review.pack import draw_pack
from leadline.review.pack_files import write_pack
from tests.review.packs import a_pack, benchmark

pytestmark = pytest.mark.browser
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 400, "height": 800}


def test_a_text_with_markup_is_shown_and_not_obeyed(browser: Any, tmp_path: Path) -> None:
    pack = a_pack(tmp_path / "pack", benchmark(), per_stratum=99)
    page = browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for row in pack.rows[:3]:
        page.goto((tmp_path / "pack" / row.page).as_uri())
        assert page.title().startswith(f"Question {row.number} of 60")
        assert "<script>document.title='obeyed'</script>" in page.inner_text("#text")
    assert all(url.startswith("file:") for url in asked) and len(asked) == 3
    page.close()


@pytest.mark.parametrize(("viewport", "scheme"), [(WIDE, "light"), (PHONE, "light"), (PHONE, "dark")])
def test_pages_are_accessible_and_as_wide_as_the_screen(
    browser: Any, tmp_path: Path, viewport: dict[str, int], scheme: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    pack = write_pack(draw_pack(load_benchmark("licences"), per_stratum=2), tmp_path / "pack")
    choosing = next(row for row in pack.rows if row.view.answer_type == "enum")
    context = browser.new_context(viewport=viewport, color_scheme=scheme)
    page = context.new_page()
    for name in ("index.html", choosing.page, pack.rows[0].page):
        page.goto((tmp_path / "pack" / name).as_uri())
        width = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
        assert width[0] <= width[1], name
        assert [found["id"] for found in axe.run(page).response["violations"]] == [], name
    context.close()


def test_a_reader_goes_from_question_to_question_by_keyboard(browser: Any, tmp_path: Path) -> None:
    pack = a_pack(tmp_path / "pack", benchmark(), per_stratum=2)
    page = browser.new_page()
    page.goto((tmp_path / "pack" / "index.html").as_uri())
    page.locator("#questions a").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/pages/001.html")
    for _ in range(3):  # the skip link, all questions, next; there is no question before the first
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/pages/002.html")
    assert pack.rows[1].view.question.splitlines()[0] in page.inner_text("h1")
    page.close()
