"""Labelling in a real browser, as a person would: by mouse, by keys alone, on a desk and on a phone."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from leadline.bench import load_benchmark
from leadline.documents import Sources
from leadline.review.drafts import Drafts, Sent
from leadline.review.labelling import LabelJob
from leadline.review.labels import FILE, Label, read_labels
from leadline.review.passages import Documents, documents_of
from leadline.review.places import DRAFTS
from leadline.review.questions import Question
from leadline.review.quotes import mark
from tests.end_to_end.commands import leadline
from tests.review.hard_documents import NEEDLE, ODD, SHOWN_AS_TEXT, write_hard
from tests.review.pages import DESK, PHONE, Opened, Served, faults, opened, served

pytestmark = pytest.mark.browser
CURE = "cure the violation prior to 30 days"


@dataclass(frozen=True)
class Labelled:
    job: LabelJob
    served: Served

    @property
    def labels(self) -> dict[str, Label]:
        return read_labels(self.job.folder / FILE)

    def source(self, name: str) -> str:
        """The document, read here and not by the program; that is, as text with its own line ends."""
        return (self.job.documents.sources.folder / name).read_bytes().decode()


@pytest.fixture(scope="module")
def licences(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Labelled]:
    folder, benchmark = tmp_path_factory.mktemp("review"), load_benchmark("licences")
    documents, drafts = documents_of(benchmark), Drafts(folder / DRAFTS)
    assert documents is not None
    job = LabelJob(documents, folder, drafts, (), benchmark.tasks)
    with served([job], drafts) as at:
        yield Labelled(job, at)


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Labelled]:
    """Questions from a file, on documents that are hard to show."""
    folder = tmp_path_factory.mktemp("asked")
    write_hard(folder / "sources")
    drafts = Drafts(folder / DRAFTS)
    names = ("odd.txt", "deep/page.htm", "tags.txt", "line.txt", "packed.txt.gz", "binary.bin")
    questions = tuple(
        Question(id=f"q-{name}", question=f"What does {name} say?", source=name) for name in names
    )
    job = LabelJob(Documents(Sources(folder / "sources")), folder, drafts, questions)
    with served([job], drafts) as at:
        yield Labelled(job, at)


def shown(page: Any, name: str) -> None:
    """Until the pane shows a document."""
    page.wait_for_selector(f'[data-pane-text][aria-label="Text of {name}"] .pane-body span')


def drag(page: Any, text: str) -> None:
    """Selects `text` in the pane with the mouse: from before its first to behind its last character."""
    places = page.evaluate(
        """text => {
          const body = document.querySelector(".pane-body"), pane = document.querySelector(".pane-text");
          const found = body.textContent.indexOf(text);
          if (found < 0) return null;
          const point = (at) => {
            const walker = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
            while (walker.nextNode() && at > walker.currentNode.length) at -= walker.currentNode.length;
            return [walker.currentNode, at];
          };
          const range = document.createRange();
          range.setStart(...point(found));
          range.setEnd(...point(found + text.length));
          pane.scrollTop += range.getBoundingClientRect().top - pane.getBoundingClientRect().top - 60;
          pane.scrollIntoView({ block: "center" });
          const boxes = [...range.getClientRects()].filter((box) => box.width);
          const first = boxes[0], last = boxes.at(-1);
          return [first.left + 1, first.top + first.height / 2, last.right - 1, last.top + last.height / 2];
        }""",
        text,
    )
    assert places is not None, f"{text!r} is not in the pane"
    time.sleep(0.05)  # what scrolling loads
    page.mouse.move(places[0], places[1])
    page.mouse.down()
    page.mouse.move(places[2], places[3], steps=6)
    page.mouse.up()


def kept(page: Any, number: int) -> None:
    page.wait_for_selector(f'[data-pane-status]:has-text("quote {number} kept")')


def hits_its_source(labelled: Labelled, label: Label) -> None:
    assert label.evidence
    for proof in label.evidence:
        assert labelled.source(proof.source)[proof.start : proof.end] == proof.quote


def only_label(labelled: Labelled, reader: str) -> tuple[str, Label]:
    ((key, label),) = ((key, one) for key, one in labelled.labels.items() if one.reader == reader)
    return key, label


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_a_new_item_is_labelled_by_mouse(browser: Any, licences: Labelled, size: tuple[int, int]) -> None:
    reader = f"Mouse {size[0]}"
    with opened(browser, licences.served, size, reader) as window:
        page = window.page
        window.go("/label")
        page.click("text=A new item")
        shown(page, "AGPL-3.0.txt")
        page.select_option("#task", "cure period")
        page.wait_for_selector("#how:has-text('a number of days')")
        page.fill("#asked", f"How long is the cure period, {reader}?")
        page.select_option("#which", label="GPL-3.0.txt")
        shown(page, "GPL-3.0.txt")
        page.fill("#pane-query", "cure the  VIOLATION")
        page.click("text=Find >> nth=0")
        page.wait_for_selector("[data-marked]:has-text('cure the violation')")
        drag(page, CURE)
        page.wait_for_selector(f"[data-marked]:has-text('{CURE}')")
        page.click("[data-do-quote]")
        kept(page, 1)
        page.click("[aria-label='Quote hit 1']")
        kept(page, 2)
        page.click("[aria-label='Remove quote 2']")
        page.fill("#answer", "30 days")
        window.saved()
        assert faults(page) == [] and window.complaints == [] and window.sideways() == 0
        page.click("[data-do-commit]")
        page.wait_for_selector("[data-begin]")  # the next open one is a new item
    key, label = only_label(licences, reader)
    hits_its_source(licences, label)
    assert [proof.quote for proof in label.evidence] == [CURE]
    assert (label.answer, label.task, label.unit, label.answer_type) == (
        "30 days",
        "cure period",
        "day",
        "number",
    )
    assert licences.served.drafts.get("label", key, "").committed  # type: ignore[union-attr]


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_a_new_item_is_labelled_by_keys_alone(
    browser: Any, licences: Labelled, size: tuple[int, int]
) -> None:
    reader = f"Keys {size[0]}"
    with opened(browser, licences.served, size, reader) as window:
        page, keys = window.page, window.page.keyboard

        def tab_to(what: str) -> None:
            for _ in range(60):
                if page.evaluate("what => document.activeElement.matches(what)", what):
                    return
                keys.press("Tab")
            raise AssertionError(f"Tab does not lead to {what}")

        window.go("/label")
        tab_to('a[href="/label/new#begin"]')
        keys.press("Enter")
        shown(page, "AGPL-3.0.txt")
        tab_to("#asked")
        keys.type(f"What is the date of this version, {reader}?")
        tab_to("#answer-type")
        keys.type("a date")
        page.wait_for_selector("#how:has-text('a date')")
        shown(page, "AGPL-3.0.txt")  # the page came anew
        keys.press("Escape")
        keys.press("/")
        keys.type("19 november")
        keys.press("Enter")
        page.wait_for_selector("[data-marked]:has-text('19 November')")
        keys.press("Escape")
        keys.press("d")
        keys.press("Shift+End")  # the hit is selected, and is made longer
        page.wait_for_selector("[data-marked]:has-text('19 November 2007')")
        keys.press("q")
        kept(page, 1)
        # The caret alone: from the top two lines down, and from there two lines and a bit are selected.
        keys.press("Control+Home")
        keys.press("ArrowDown")
        keys.press("ArrowDown")
        keys.press("Home")
        keys.press("Shift+ArrowDown")
        keys.press("Shift+ArrowDown")
        keys.press("Shift+Control+ArrowRight")
        page.wait_for_selector("[data-do-quote]:not([disabled])")
        keys.press("q")
        kept(page, 2)
        keys.press("a")
        tab_to("#answer")
        keys.type("2007-11-19")
        keys.press("Control+Enter")
        page.wait_for_selector("[data-begin]")
    _, label = only_label(licences, reader)
    hits_its_source(licences, label)
    assert label.evidence[0].quote == "19 November 2007" and label.answer == "2007-11-19"
    first = label.evidence[1]  # lines of the screen, which on a phone are shorter
    assert first.start < 160 and (size == PHONE or first.quote.startswith("Copyright (C) 2007"))


def test_what_was_labelled_becomes_a_benchmark_that_an_audit_passes(
    licences: Labelled, tmp_path: Path
) -> None:
    assert len(licences.labels) == 4
    made = tmp_path / "made"
    assert leadline("review", "items", "licences", "--into", licences.job.folder, "--out", made).code == 0
    assert "0 errors" in leadline("bench", "validate", made).out
    audit = leadline("audit", made)
    assert audit.code == 0 and "4 items" in audit.out


def entry_of(labelled: Labelled, name: str) -> str:
    return next(entry.key for entry in labelled.job.entries() if name in entry.title)


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_offsets_hold_in_a_text_of_emoji_marks_and_many_scripts(
    browser: Any, asked: Labelled, size: tuple[int, int]
) -> None:
    quotes = ["🧭 compass", "ثلاثين يومًا", "לשלושים", "the fee is 1,250 🪙 per year"]
    with opened(browser, asked.served, size, "Ann") as window:
        window.go(f"/label/{entry_of(asked, 'odd.txt')}")
        page = window.page
        shown(page, "odd.txt")
        assert page.evaluate("document.querySelector('.pane-body').textContent") == ODD
        before = page.locator("[data-quotes] li").count()
        for number, text in enumerate(quotes, start=before + 1):
            page.fill("#pane-query", text)
            page.press("#pane-query", "Enter")
            page.wait_for_selector("[data-pane-status]:has-text('1 found')")
            page.click("[aria-label='Quote hit 1']")
            if before:
                page.wait_for_selector("[data-pane-status]:has-text('already')")
            else:
                kept(page, number)
        page.fill("#answer", "a fee")
        page.click("[data-do-commit]")
        page.wait_for_selector("h1:not(:has-text('odd.txt'))")
        assert window.complaints == []
    label = asked.labels["q-odd.txt"]
    hits_its_source(asked, label)
    assert [proof.quote for proof in label.evidence] == quotes


def test_a_document_with_scripts_is_text(browser: Any, asked: Labelled) -> None:
    with opened(browser, asked.served) as window:
        page = window.page
        for name in ("deep/page.htm", "tags.txt"):
            window.go(f"/label/{entry_of(asked, name)}")
            shown(page, name)
            assert "script" in page.inner_text(".pane-body")
            assert page.locator(".pane-body script, .pane-body img, .pane-body textarea").count() == 0
        assert SHOWN_AS_TEXT in page.inner_text(".pane-body")
        page.fill("#pane-query", "</textarea><img")
        page.press("#pane-query", "Enter")
        page.click("[aria-label='Quote hit 1']")
        kept(page, 1)
        assert "</textarea><img" in page.inner_text("[data-quotes]")
        page.reload()
        page.wait_for_selector("[data-quotes] li")
        assert "</textarea><img" in page.inner_text("[data-quotes]")
        assert "owned" not in page.title() and window.complaints == []


def test_a_line_of_five_million_characters_can_be_read_and_quoted(browser: Any, asked: Labelled) -> None:
    with opened(browser, asked.served) as window:
        window.go(f"/label/{entry_of(asked, 'line.txt')}")
        page = window.page
        shown(page, "line.txt")
        page.fill("#pane-query", "needle lies 🧭")
        page.press("#pane-query", "Enter")
        page.wait_for_selector("[data-marked]:has-text('needle lies 🧭')")
        page.press("#pane-query", "Escape")
        page.keyboard.press("d")
        page.keyboard.press("Control+End")
        page.wait_for_selector("[data-pane-place]:has-text('5,000,022 of 5,000,022')")
        page.keyboard.press("Control+Home")
        page.wait_for_selector("[data-pane-place]:has-text('characters 0–')")
        assert window.sideways() == 0 and window.complaints == []


def test_a_document_without_text_says_so(browser: Any, asked: Labelled) -> None:
    with opened(browser, asked.served) as window:
        window.go(f"/label/{entry_of(asked, 'binary.bin')}")
        window.page.wait_for_selector("[data-pane-status]:has-text('this document')")
        said = window.page.inner_text("[data-pane-status]")
        assert "binary" in said and str(asked.job.folder) not in said


def test_what_is_missing_is_said_beside_its_field(browser: Any, asked: Labelled) -> None:
    with opened(browser, asked.served, PHONE) as window:
        window.go(f"/label/{entry_of(asked, 'packed.txt.gz')}")
        page = window.page
        shown(page, "packed.txt.gz")
        page.click("[data-do-commit]")
        page.wait_for_selector("[data-problem='quotes']:has-text('at least one quote')")
        assert "say what the answer is" in page.inner_text("[data-problem='answer']")
        assert faults(page) == [] and window.sideways() == 0
        page.check("[data-field='unsettled']")
        page.click("[data-do-commit]")
        page.wait_for_selector("[data-problem='reason']:has-text('say why')")
        page.fill("#reason", "it speaks of 45 days alone")
        page.click("[data-do-commit]")
        page.wait_for_selector("h1:not(:has-text('packed'))")
    assert asked.labels["q-packed.txt.gz"].reason == "it speaks of 45 days alone"


def test_two_people_at_one_question_both_keep_what_they_wrote(browser: Any, asked: Labelled) -> None:
    key = entry_of(asked, "tags.txt")
    with opened(browser, asked.served, reader="Ann") as ann, opened(browser, asked.served, reader="Bo") as bo:
        for window in (ann, bo):
            window.go(f"/label/{key}")
            shown(window.page, "tags.txt")
        drag(ann.page, "for 30 days")
        ann.page.click("[data-do-quote]")
        ann.page.wait_for_selector("[data-pane-status]:has-text('kept')")
        ann.page.fill("#answer", "thirty days, says Ann")
        ann.saved()
        bo.page.fill("#answer", "a month, says Bo")
        bo.page.wait_for_selector("[data-conflict][open]")
        words = bo.page.inner_text("[data-conflict]")
        assert "thirty days, says Ann" in words and "a month, says Bo" in words and "Quotes" in words
        assert faults(bo.page) == []
        bo.page.click("[data-take-theirs]")
        bo.page.wait_for_selector("[data-quotes] li:has-text('for 30 days')")
        assert bo.page.input_value("#answer") == "thirty days, says Ann"
        bo.page.keyboard.press("Escape")
    written = [draft.fields.get("answer") for draft in asked.served.drafts.history("label", key, "")]
    assert "thirty days, says Ann" in written and "a month, says Bo" in written


def test_undo_brings_a_quote_back(browser: Any, asked: Labelled) -> None:
    with opened(browser, asked.served) as window:
        window.go(f"/label/{entry_of(asked, 'line.txt')}")
        page = window.page
        shown(page, "line.txt")
        page.fill("#pane-query", NEEDLE)
        page.press("#pane-query", "Enter")
        page.click("[aria-label='Quote hit 1']")
        kept(page, 1)
        window.saved()
        page.click("[aria-label='Remove quote 1']")
        page.wait_for_selector("[data-pane-status]:has-text('removed')")
        window.saved()
        page.click("[data-undo]")
        page.wait_for_selector("[data-quotes] li")
        assert NEEDLE in page.inner_text("[data-quotes]")


def test_a_quote_whose_document_cannot_be_had_does_not_hold_the_page(browser: Any, asked: Labelled) -> None:
    """Its draft lies in the browser's page; the server goes away, for this document, before it is shown."""
    documents, key = asked.job.documents, entry_of(asked, "deep/page.htm")
    number = documents.names.index("line.txt")
    held = documents.open(number)
    assert held is not None
    at = held.text.index(NEEDLE)
    quotes = [
        mark(held, at, at + len(NEEDLE), NEEDLE).quote.model_dump(),
        {"name": "gone.txt", "sha256": "0" * 64, "start": 0, "end": 4, "quote": "gone"},
    ]
    before = asked.served.drafts.get("label", key, "")
    asked.served.drafts.save(
        "label", key, "", Sent(before.version if before else 0, {"quotes": quotes}, by="Ann")
    )
    with opened(browser, asked.served) as window:
        page, tried = window.page, []
        window.go(f"/label/{key}")
        shown(page, "line.txt")
        away = f"**/api/documents/{number}?**"
        page.route(away, lambda route: (tried.append(1), route.abort()))
        page.select_option("#which", label="tags.txt")
        shown(page, "tags.txt")
        for expected in (1, 2):  # of another document, then of the one that is open and is not there
            page.click("[aria-label='Show quote 1']")
            page.wait_for_selector("[data-pane-status]:has-text('does not answer')")
            page.wait_for_timeout(200)
            assert len(tried) == expected
        page.click("[aria-label='Show quote 2']")
        page.wait_for_selector("[data-pane-status]:has-text('gone.txt is not among the documents')")
        page.fill("#answer", "the page is alive")
        window.saved()
        page.unroute(away)
        page.click("[aria-label='Show quote 1']")
        page.wait_for_selector(f"[data-marked]:has-text('{NEEDLE}')")


def test_the_key_to_the_document_is_off_where_single_keys_are(browser: Any, asked: Labelled) -> None:
    with opened(browser, asked.served) as window:
        page = window.page
        window.go(f"/label/{entry_of(asked, 'tags.txt')}")
        shown(page, "tags.txt")
        page.keyboard.press("Escape")
        page.keyboard.press("d")
        assert page.evaluate("document.activeElement.matches('[data-pane-text]')")
        page.evaluate("localStorage.setItem('leadline:single-keys', 'no')")
        page.focus("[data-undo]")
        page.keyboard.press("d")
        assert page.evaluate("document.activeElement.matches('[data-undo]')")


def test_a_slash_leads_from_the_list_of_documents_to_the_search_and_words_go_along(
    browser: Any, licences: Labelled
) -> None:
    with opened(browser, licences.served, reader="Slash") as window:
        page, keys = window.page, window.page.keyboard
        window.go("/label")
        page.click("text=A new item")
        shown(page, "AGPL-3.0.txt")
        page.select_option("#which", label="MIT.txt")
        shown(page, "MIT.txt")
        page.focus("#which")
        keys.press("/")
        assert page.evaluate("document.activeElement.id") == "pane-query"
        keys.type("redistributions of source code")
        keys.press("Enter")
        page.wait_for_selector("[data-pane-status]:has-text('0 found')")
        page.click("[data-pane-elsewhere]")
        page.wait_for_selector("[data-marked]:has-text('Redistributions of source code')")
        there = page.input_value("#which")
        assert there != "" and page.inner_text("[data-which] option:checked") != "MIT.txt"
        assert page.locator("[data-pane-hits] li").count() > 0
        page.select_option("#which", label="ISC.txt")
        page.wait_for_selector("[data-pane-status]:has-text('0 found')")
        assert page.input_value("#pane-query") == "redistributions of source code"
        assert window.complaints == []


@pytest.mark.parametrize("query", ["cure the violation", "notice, and", "Preamble"])
def test_the_caret_stands_where_the_hit_ends(browser: Any, licences: Labelled, query: str) -> None:
    with opened(browser, licences.served, reader=f"Caret {query}") as window:
        page = window.page
        window.go("/label")
        page.click("text=A new item")
        shown(page, "AGPL-3.0.txt")
        page.fill("#pane-query", query)
        page.press("#pane-query", "Enter")
        page.wait_for_selector("[data-pane-hits] li")
        page.press("#pane-query", "Enter")  # once more: goes to the next hit, and into the text
        page.wait_for_selector("[data-pane-text]:focus")
        page.wait_for_selector(".pane-caret:not([hidden])")
        caret, spot = (page.locator(each).last.bounding_box() for each in (".pane-caret", ".pane-spot"))
        assert caret is not None and spot is not None
        assert abs(caret["y"] + caret["height"] / 2 - spot["y"] - spot["height"] / 2) < 40
        text = page.locator("[data-pane-text]").bounding_box()
        assert text is not None and (caret["x"] > text["x"] + 20 or caret["y"] > text["y"] + 40)


@pytest.mark.parametrize("size", [(1280, 800), (400, 800), (780, 437)])
def test_nothing_lies_over_the_search_and_a_desk_shows_it_all(
    browser: Any, licences: Labelled, size: tuple[int, int]
) -> None:
    with opened(browser, licences.served, size, reader=f"Look {size}") as window:
        page = window.page
        window.go("/label")
        page.click("text=A new item")
        shown(page, "AGPL-3.0.txt")
        page.fill("#pane-query", "the")
        page.press("#pane-query", "Enter")
        page.wait_for_selector("[data-pane-hits] li >> nth=9")
        page.press("#pane-query", "Escape")
        for what in ("#pane-query", "[data-pane-hits] li:first-child button", "#asked", "#answer"):
            page.evaluate("window.scrollTo(0, 0)")
            page.focus(what)
            over = page.evaluate(
                """what => {
                  const box = document.querySelector(what).getBoundingClientRect();
                  const found = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
                  return found?.closest(what) ? "" : (found?.className || found?.tagName || "nothing");
                }""",
                what,
            )
            assert over == "", f"{what} is under {over}"
        height = page.evaluate("document.documentElement.scrollHeight - innerHeight")
        assert size != (1280, 800) or height == 0
        assert faults(page) == [] and window.sideways() == 0


def test_one_set_of_keys_and_where_one_says_to_begin_one_begins(browser: Any, licences: Labelled) -> None:
    with opened(browser, licences.served, reader="Keys") as window:
        page = window.page
        window.go("/label/new")
        page.wait_for_selector("[data-begin]:not([disabled])")
        assert page.url.endswith("/label/new"), "whoever turns the pages begins nothing"
        assert page.locator(".place").count() == 0
        window.go("/label")
        page.click("text=A new item")
        shown(page, "AGPL-3.0.txt")
        assert "without a task" in page.inner_text("[data-no-task]")
        page.keyboard.press("Escape")
        for key in ("t", "d"):
            page.focus("[data-undo]")
            page.keyboard.press(key)
            assert page.evaluate("document.activeElement.matches('[data-pane-text]')"), key
        page.focus("[data-undo]")
        page.keyboard.press("x")
        assert page.is_checked('[data-field="unsettled"]')


def test_in_a_conflict_what_only_one_wrote_stays_whichever_text_is_taken(
    browser: Any, asked: Labelled
) -> None:
    key = entry_of(asked, "packed.txt.gz")
    for taken, reason in (("[data-take-theirs]", "Bo's reason"), ("[data-keep-mine]", "Ann's reason")):
        head = asked.served.drafts.get("label", key, "")
        version = head.version if head else 0
        asked.served.drafts.save("label", key, "", Sent(version, {"reason": reason}, by="Setup"))
        with (
            opened(browser, asked.served, reader="Ann") as ann,
            opened(browser, asked.served, reader="Bo") as bo,
        ):
            for window in (ann, bo):
                window.go(f"/label/{key}")
                shown(window.page, "packed.txt.gz")
            ann.page.fill("#aliases", "of Ann alone")
            ann.page.fill("#answer", "thirty, says Ann")
            ann.saved()
            bo.page.evaluate(
                "leadline.set({ ...leadline.value(), answer: 'a month, says Bo', note: 'of Bo alone', "
                "reason: '' })"
            )
            bo.page.evaluate("leadline.changed()")
            bo.page.wait_for_selector("[data-conflict][open]")
            bo.page.click(taken)
            bo.saved()
        fields = asked.served.drafts.get("label", key, "").fields  # type: ignore[union-attr]
        theirs = taken == "[data-take-theirs]"
        assert fields["answer"] == ("thirty, says Ann" if theirs else "a month, says Bo")
        assert (fields["aliases"], fields["note"]) == ("of Ann alone", "of Bo alone")
        assert fields["reason"] == (reason if theirs else ""), (
            "what one took out on purpose does not come back"
        )


def test_pages_are_sound_in_the_dark_too(browser: Any, asked: Labelled, licences: Labelled) -> None:
    def look(window: Opened, path: str) -> None:
        window.go(path)
        window.page.wait_for_load_state("networkidle")
        assert faults(window.page) == [] and window.sideways() == 0 and window.complaints == []

    # Light pages are looked at above, in the midst of the work.
    with opened(browser, asked.served, PHONE, dark=True) as window:
        look(window, "/label")
        look(window, f"/label/{entry_of(asked, 'odd.txt')}")
    with opened(browser, licences.served, DESK, dark=True) as window:
        for key in ("new", next(iter(licences.labels))):
            look(window, f"/label/{key}")
