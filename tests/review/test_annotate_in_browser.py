"""Answering a blind pack in a real browser, as people do: by mouse, by keyboard, on a phone, two at once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from leadline.bench import load_benchmark
from leadline.bench.benchmark import Benchmark
from leadline.bench.item import Item
from leadline.review.annotating import AnnotateJob
from leadline.review.drafts import Drafts, Sent
from leadline.review.filled_sheet import read_sheet
from leadline.review.pack import Pack, draw_pack
from leadline.review.pack_files import read_pack, write_pack
from leadline.review.sheet import sheet_of
from tests.review.pages import DESK, PHONE, Notes, Opened, Served, faults, opened, served

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("notes_template")]
HOSTILE = "Is it <script>alert(1)</script> \u202e\x1b[31m deep?"


def five_kinds() -> Benchmark:
    """One item of each kind of answer, with a hostile question and a long text among them."""
    parts = [{"name": "rate", "answer_type": "number"}, {"name": "capped", "answer_type": "boolean"}]
    text = "The fee is 8 % a year.\n\n" + "It rests on the clause that follows. " * 60
    items = (
        Item(id="secret-text", question=HOSTILE, answer="no answer", window=f"<b>Deep</b> & {text}"),
        Item(id="secret-cap", question="Is there a cap?", answer="no", answer_type="boolean", window=text),
        Item(
            id="secret-enum", question="Of what kind?", answer="rock", answer_type="enum",
            vocabulary=("sand", "rock", "mud"), window=text,
        ),
        Item(id="secret-date", question="When?", answer="2020-02-01", answer_type="date", window=text),
        Item(
            id="secret-parts", question="Which fee?", answer='{"rate": "8", "capped": "no"}',
            answer_type="parts", fields=parts, window=text,
        ),
    )  # fmt: skip
    return Benchmark(name="five", version="1", items=items)


class Answering:
    """A running pack, and what its reader does on the pages."""

    def __init__(self, folder: Path, benchmark: Benchmark) -> None:
        self.folder = folder / "pack"
        write_pack(draw_pack(benchmark), self.folder)
        self.pack: Pack = read_pack(self.folder)
        self.drafts = Drafts(folder / "review.sqlite")
        self.job = AnnotateJob(self.pack, self.folder, self.drafts)

    def key(self, question: str) -> str:
        return next(row.token for row in self.pack.rows if row.view.question == question)


@pytest.fixture
def answering(tmp_path: Path) -> Answering:
    return Answering(tmp_path, five_kinds())


@pytest.fixture
def server(answering: Answering) -> Iterator[Served]:
    with served([answering.job], answering.drafts) as found:
        yield found


def expect(found: Any) -> Any:
    from playwright.sync_api import expect

    return expect(found)


def heading(browser: Opened) -> str:
    return str(browser.page.inner_text("h1"))


def test_by_mouse_on_a_desk_a_pack_is_answered_to_its_end(
    browser: Any, answering: Answering, server: Served
) -> None:
    with opened(browser, server, DESK) as ann:
        page = ann.page
        page.get_by_role("link", name=re.compile("^Begin")).click()
        for number in range(5):
            expect(page.locator(".top .progress")).to_contain_text(f"{number} of 5 done")
            question = answering.pack.rows[number].view.question
            kind = answering.pack.rows[number].view.answer_type
            if kind in ("boolean", "enum"):
                page.get_by_text("rock" if kind == "enum" else "no", exact=True).click()
            elif kind == "parts":
                page.get_by_label("rate").fill("8 %")
                page.get_by_text("no", exact=True).click()
            else:
                page.locator("#answer").fill("1 February 2020" if kind == "date" else "forty fathoms")
            ann.saved()
            if kind == "text":
                assert question == HOSTILE
                box = page.locator("[data-text]").bounding_box()
                page.mouse.dblclick(box["x"] + 30, box["y"] + 14)
                page.get_by_role("button", name="Quote the selected words").click()
                expect(page.locator("#quote")).not_to_have_value("")
            page.get_by_role("button", name="Commit").click()
        expect(page.locator(".finished")).to_have_text("All 5 are done.")
        expect(page.locator("main")).to_contain_text("BENCHMARK --reader Ann")
        assert not ann.complaints
    said = {row.view.answer_type: row.token for row in answering.pack.rows}
    answers = read_sheet(answering.pack, sheet_of(answering.folder, "Ann")).answers
    assert answers[said["enum"]].answer == "rock"
    assert answers[said["date"]].answer == "1 February 2020"
    assert answers[said["parts"]].answer == '{"rate": "8 %", "capped": "no"}'
    assert answers[said["text"]].answer == "forty fathoms"
    assert answers[said["text"]].quote in "<b>Deep</b> &"


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_by_keyboard_alone_a_pack_is_answered_to_its_end(
    browser: Any, answering: Answering, server: Served, size: tuple[int, int]
) -> None:
    with opened(browser, server, size) as ann:
        page, keys = ann.page, ann.page.keyboard
        page.locator("body").press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        ann.go("/annotate")
        keys.press("j")
        page.wait_for_selector("[data-entry]")
        for number in range(5):
            expect(page.locator(".top .progress")).to_contain_text(f"{number} of 5 done")
            page.wait_for_load_state("load")  # nobody types before the page's script is there
            kind = answering.pack.rows[number].view.answer_type
            if size == PHONE:
                keys.press("a")  # on a phone nothing has the focus until it is wanted
            if kind in ("boolean", "enum"):
                keys.press("2")
            elif kind == "parts":
                keys.type("8 %")
                keys.press("Tab")
                keys.press("ArrowDown")
            elif kind == "date":
                keys.type("2020-02-01")
                keys.press("Escape")
                keys.press("x")
                expect(page.get_by_label("The text cannot settle it")).to_be_checked()
                keys.press("x")
            else:
                keys.type("forty fathoms")
            keys.press("Control+Enter")
        expect(page.locator(".finished")).to_be_visible()
        assert not ann.complaints
    said = {row.view.answer_type: row.token for row in answering.pack.rows}
    answers = read_sheet(answering.pack, sheet_of(answering.folder, "Ann")).answers
    assert answers[said["boolean"]].answer == "no"
    assert answers[said["enum"]].answer == "rock"
    assert answers[said["date"]].answer == "2020-02-01"
    assert '"rate": "8 %"' in answers[said["parts"]].answer


@pytest.mark.parametrize(("size", "dark"), [(DESK, False), (DESK, True), (PHONE, False), (PHONE, True)])
def test_no_page_has_a_serious_fault_of_accessibility_or_is_wider_than_its_window(
    browser: Any, answering: Answering, server: Served, size: tuple[int, int], dark: bool
) -> None:
    with closing(server.client("Ann")) as ann:
        done = {"version": 0, "fields": {"unsettled": True, "note": "a note"}}
        ann.post(f"/api/annotate/{answering.key('When?')}/commit", json=done)
    with opened(browser, server, size, dark=dark) as ann:
        keys = [answering.key(row.view.question) for row in answering.pack.rows]
        lists = ("/", "/reader", "/annotate", "/annotate?show=all", "/nothing")
        for address in (*lists, *(f"/annotate/{key}" for key in keys)):
            ann.go(address)
            assert faults(ann.page) == [], address
            assert ann.sideways() <= 0, address
            assert ann.page.locator("h1").count() == 1
            small = ann.page.evaluate(
                "[...document.querySelectorAll('main a, main button, main input, main textarea, header a')]"
                ".filter(each => each.offsetParent && each.getBoundingClientRect().height < 24"
                " && !each.closest('label')).map(each => each.outerHTML)"
            )
            assert small == [], address
        for dialog in ("?", "h"):
            ann.page.keyboard.press("Escape")
            ann.page.keyboard.press(dialog)
            expect(ann.page.locator("dialog[open]")).to_be_visible()
            assert faults(ann.page) == []
            ann.page.keyboard.press("Escape")


def test_a_question_and_a_text_are_text_whatever_is_in_them(
    browser: Any, answering: Answering, server: Served
) -> None:
    with opened(browser, server) as ann:
        ann.go(f"/annotate/{answering.key(HOSTILE)}")
        assert "<script>alert(1)</script>" in heading(ann)
        assert ann.page.inner_text("[data-text]").startswith("<b>Deep</b> & The fee")
        assert ann.page.locator("[data-text] *, h1 *").count() == 0
        assert "script" not in ann.page.title()
        assert not ann.complaints


def test_what_is_no_answer_is_said_beside_its_field(
    browser: Any, answering: Answering, server: Served
) -> None:
    with opened(browser, server) as ann:
        key = answering.key("When?")
        ann.go(f"/annotate/{key}")
        ann.page.keyboard.press("Control+Enter")
        expect(ann.page.locator("#answer-problem")).to_have_text("there is no answer yet")
        ann.page.keyboard.type("some day")
        ann.page.keyboard.press("Control+Enter")
        expect(ann.page.locator("#answer-problem")).to_contain_text("this is not read as a date")
        assert ann.page.evaluate("document.activeElement.id") == "answer"
        assert ann.page.get_attribute("#answer", "aria-invalid") == "true"
        assert "not committed" in ann.status()
        assert faults(ann.page) == []
        assert answering.drafts.get("annotate", key, "Ann").fields["answer"] == "some day"
        ann.page.keyboard.press("Escape")
        ann.page.keyboard.press("x")
        ann.page.keyboard.press("Control+Enter")
        expect(ann.page.locator("[data-problem=unsettled]")).to_contain_text("An answer stands here too")
        assert answering.drafts.get("annotate", key, "Ann").fields["answer"] == "some day", "kept"
        ann.page.fill("#answer", "")
        ann.page.keyboard.press("Control+Enter")
        ann.page.wait_for_url(re.compile(f"annotate/(?!{key})"))


def test_undo_and_earlier_texts_bring_back_what_was_there(
    browser: Any, answering: Answering, server: Served
) -> None:
    with opened(browser, server) as ann:
        page = ann.page
        ann.go(f"/annotate/{answering.key('When?')}")
        page.fill("#answer", "2019")
        ann.saved()
        page.fill("#answer", "2020")
        page.wait_for_timeout(500)
        ann.saved()
        page.keyboard.press("Escape")
        page.keyboard.press("u")
        expect(page.locator("#answer")).to_have_value("2019")
        ann.wait_for("undone")
        page.keyboard.press("h")
        page.get_by_role("listitem").filter(has_text="answer: 2020").get_by_role("button").first.click()
        expect(page.locator("#answer")).to_have_value("2020")
        ann.saved()
        page.reload()
        expect(page.locator("#answer")).to_have_value("2020")


def test_a_pack_can_be_left_and_gone_on_with_and_others_see_nothing_of_it(
    browser: Any, answering: Answering, server: Served
) -> None:
    key = answering.key("When?")
    with opened(browser, server) as ann:
        ann.go(f"/annotate/{key}")
        ann.page.keyboard.type("March 2021")  # and the window is closed before anything was said to be saved
        ann.page.goto("about:blank")
    with opened(browser, server, reader="ann") as again:
        assert again.page.inner_text(".reader b") == "Ann"
        again.page.get_by_role("link", name=re.compile("^Go on")).click()
        again.go(f"/annotate/{key}")
        expect(again.page.locator("#answer")).to_have_value("March 2021")
    with opened(browser, server, reader="Bo") as bo:
        bo.go(f"/annotate/{key}")
        expect(bo.page.locator("#answer")).to_have_value("")
        assert "March 2021" not in bo.page.content()


def test_what_is_written_before_the_script_of_a_page_has_come_is_saved_too(
    browser: Any, answering: Answering, server: Served
) -> None:
    which = answering.key("Of what kind?"), answering.key("When?")
    with opened(browser, server, reader="Ed") as ed:
        held: list[Any] = []
        ed.page.route("**/review.js", lambda route: held.append(route))  # noqa: PLW0108
        for key in which:
            ed.page.goto(f"{ed.url}/annotate/{key}", wait_until="commit")
            if key == which[0]:
                ed.page.get_by_text("rock", exact=True).click()
            else:
                ed.page.locator("#answer").fill("2019")
            assert ed.status() == "", "nothing is promised yet"
            while held:
                held.pop().continue_()
            ed.saved()
    assert [answering.drafts.get("annotate", key, "Ed").fields["answer"] for key in which] == ["rock", "2019"]
    with opened(browser, server, reader="Ed") as ed:
        ed.go(f"/annotate/{which[1]}")
        assert ed.status().startswith("saved"), "a page that nobody wrote into is not saved anew"
        ed.page.wait_for_timeout(600)
    assert len(answering.drafts.history("annotate", which[1], "Ed")) == 1


def test_what_is_written_while_a_commit_is_on_its_way_is_sent_after_it(
    browser: Any, answering: Answering, server: Served
) -> None:
    with opened(browser, server, reader="Cy") as cy:
        key, held = answering.key("When?"), []
        cy.go(f"/annotate/{key}")
        cy.page.fill("#answer", "2019")
        cy.saved()
        cy.page.route("**/commit", lambda route: held.append(route))  # noqa: PLW0108
        cy.page.keyboard.press("Control+Enter")
        cy.page.locator("#answer").press_sequentially("-03")
        cy.page.wait_for_timeout(900)
        assert answering.drafts.get("annotate", key, "Cy").fields["answer"] == "2019", "not past the commit"
        held[0].continue_()
        cy.saved()
        kinds = [
            (draft.kind, draft.fields["answer"]) for draft in answering.drafts.history("annotate", key, "Cy")
        ]
        assert kinds == [("saved", "2019"), ("committed", "2019"), ("saved", "2019-03")]


def test_undo_empties_what_was_written_before_the_page_came(
    browser: Any, answering: Answering, server: Served
) -> None:
    key = answering.key("When?")
    answering.drafts.save("annotate", key, "Di", Sent(0, {"answer": "2019", "note": "mine"}))
    with opened(browser, server, reader="Di") as di:
        di.go(f"/annotate/{key}")
        expect(di.page.locator("#note")).to_have_value("mine")
        di.page.keyboard.press("Escape")
        di.page.keyboard.press("u")
        di.wait_for("undone")
        expect(di.page.locator("#answer")).to_have_value("")
        expect(di.page.locator("#note")).to_have_value("")


def test_single_keys_can_be_switched_off(browser: Any, answering: Answering, server: Served) -> None:
    with opened(browser, server) as ann:
        ann.go(f"/annotate/{answering.key('Is there a cap?')}")
        ann.page.keyboard.press("?")
        ann.page.get_by_label("single keys work").uncheck()
        ann.page.get_by_role("button", name="Close").click()
        ann.page.keyboard.press("2")
        ann.page.keyboard.press("x")
        assert ann.page.locator(":checked").count() == 0
        ann.page.keyboard.press("t")
        assert ann.page.evaluate("document.activeElement.id") != "text"
        ann.page.keyboard.press("?")
        assert ann.page.locator("dialog[open]").count() == 0


# Two people on one entry, and a server that goes away: of the frame, on a job that all readers share.


def test_two_browsers_on_one_entry_are_told_and_both_texts_are_kept(browser: Any, tmp_path: Path) -> None:
    job = Notes(name="shared", shared=True)
    with served([job], Drafts(tmp_path / "review.sqlite")) as server, ExitStack() as stack:
        ann, bo = (stack.enter_context(opened(browser, server, reader=name)) for name in ("Ann", "Bo"))
        for each in (ann, bo):
            each.go("/shared/1")
        ann.page.fill("#answer", "Ann's depth <b>")
        ann.saved()
        bo.page.fill("#answer", "Bo's depth")
        dialog = bo.page.locator("dialog[data-conflict]")
        expect(dialog).to_be_visible()
        expect(dialog).to_contain_text("Ann saved another text")
        expect(dialog).to_contain_text("Ann's depth <b>")
        expect(dialog).to_contain_text("Bo's depth")
        assert faults(bo.page) == []
        assert "not saved" in bo.status()
        assert [draft.fields["answer"] for draft in server.drafts.history("shared", "1", "")] == [
            "Ann's depth <b>",
            "Bo's depth",
        ]
        dialog.get_by_role("button", name="Take the other").click()
        expect(bo.page.locator("#answer")).to_have_value("Ann's depth <b>")
        bo.page.fill("#answer", "Bo's second")
        bo.saved()
        # Now it is Ann's page that is behind; by keyboard.
        ann.page.focus("#answer")
        ann.page.keyboard.type(" more")
        expect(ann.page.locator("dialog[data-conflict]")).to_be_visible()
        ann.page.get_by_role("button", name="Keep mine").press("Enter")
        ann.saved()
        kept = [draft.fields["answer"] for draft in server.drafts.history("shared", "1", "")]
        assert {"Ann's depth <b>", "Bo's depth", "Bo's second"} < set(kept)
        newest = server.drafts.get("shared", "1", "")
        assert newest is not None
        assert (newest.reader, newest.fields["answer"]) == ("Ann", ann.page.input_value("#answer"))
        assert not [line for line in ann.complaints + bo.complaints if "409" not in line]


def test_while_the_server_is_away_the_text_stays_and_is_saved_when_it_is_back(
    browser: Any, tmp_path: Path
) -> None:
    drafts, job = Drafts(tmp_path / "review.sqlite"), Notes()
    with ExitStack() as stack:
        with served([job], drafts) as server:
            port = int(server.url.rpartition(":")[2])
            ann = stack.enter_context(opened(browser, server))
            ann.go("/notes/1")
            closed = stack.enter_context(opened(browser, server, reader="Cid"))
            closed.go("/notes/2")
        ann.page.fill("#answer", "written while it was away")
        ann.wait_for("not saved: server away; it is kept in this browser")
        ann.page.keyboard.press("Control+Enter")
        ann.wait_for("not committed: server away")
        closed.page.fill("#answer", "kept over a closed page")
        closed.wait_for("not saved")
        assert drafts.get("notes", "1", "Ann") is None
        with served([job], drafts, port=port):
            ann.saved()
            found = drafts.get("notes", "1", "Ann")
            assert found is not None
            assert found.fields["answer"] == "written while it was away"
            closed.page.goto("about:blank")
            closed.go("/notes/2")
            expect(closed.page.locator("#answer")).to_have_value("kept over a closed page")
            closed.saved()
            assert closed.page.evaluate("Object.keys(localStorage).length") == 0
            ann.page.keyboard.press("Control+Enter")
            ann.page.wait_for_url("**/notes/2")
    assert [(key, reader) for key, reader, _ in job.kept] == [("1", "Ann")]


def test_all_of_the_bundled_licences_can_be_answered_on_a_page(browser: Any, tmp_path: Path) -> None:
    answering = Answering(tmp_path, load_benchmark("licences"))
    with served([answering.job], answering.drafts) as server, opened(browser, server, PHONE) as ann:
        ann.go("/annotate")
        ann.page.fill("#find", "patents")
        rows = ann.page.locator("#entries li:visible")
        wanted = sum("patents" in row.view.question.lower() for row in answering.pack.rows)
        expect(rows).to_have_count(wanted)
        rows.first.get_by_role("link").click()
        assert "patents" in heading(ann)
        assert ann.sideways() <= 0
        assert not ann.complaints
