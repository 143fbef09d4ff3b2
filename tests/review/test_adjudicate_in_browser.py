"""The job of adjudicating as people do it: the real command, a real browser, at a desk and on a phone, by
mouse and by keyboard alone."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from leadline.bench.adjudications import read_adjudications
from leadline.review.drafts import Drafts
from leadline.review.places import DRAFTS
from tests.review.doubted import SECRETS, Doubted, copied, doubted
from tests.review.pages import PHONE, Opened, Served, faults, opened, token_in

pytestmark = pytest.mark.browser
LEADLINE = [sys.executable, "-m", "leadline"]
# By a word of the question: what is read, and what is decided.
SAYS = {
    "receives": ("Zanthoxa", "upheld"),
    "season": ("", "excluded-ambiguous"),
    "many": ("7316", "rejected"),
    "colour": ("murple", "upheld"),
    "mean": ("Kelpandor", "rejected"),
}


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Doubted:
    return doubted(tmp_path_factory.mktemp("doubted"))


@pytest.fixture
def made(original: Doubted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Doubted:
    monkeypatch.setenv("LEADLINE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    return copied(original, tmp_path / "work")


@contextmanager
def command(made: Doubted) -> Iterator[tuple[Served, subprocess.Popen[str]]]:
    """`leadline review serve`, on a port that the operating system chooses."""
    process = subprocess.Popen(
        [*LEADLINE, "review", "serve", "--study", str(made.study), "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            pytest.fail(process.communicate()[1])
        drafts = Drafts(made.benchmark / "review" / DRAFTS)
        yield Served(line.partition("/?")[0], drafts, token_in(line)), process
    finally:
        process.kill()
        process.communicate()


def said_of(page: Any) -> tuple[str, str]:
    question = page.inner_text("#question")
    return next(answer for word, answer in SAYS.items() if word in question)


def secrets_in(page: Any) -> list[str]:
    # Random tokens and checksums may hold any four digits.
    text = re.sub(r"[0-9a-f]{16,}", "", page.content().lower())
    return [secret for of_item in SECRETS.values() for secret in of_item if secret in text]


def until_revealed(page: Any) -> None:
    page.wait_for_selector("[data-revealed]")


def leave(page: Any, act: str | None = None) -> None:
    """Commit, and wait for the next page."""
    before = page.url
    if act is None:
        page.click("[data-do-commit]")
    else:
        page.keyboard.press(act)
    page.wait_for_url(lambda url: url != before)


def run(*arguments: str | Path) -> str:
    ended = subprocess.run(
        [*LEADLINE, *(str(one) for one in arguments)], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_at_a_desk_by_mouse_all_doubts_are_settled_and_counted(made: Doubted, browser: Any) -> None:
    with command(made) as (server, _), opened(browser, server) as ann:
        page = ann.page
        page.click("h2 >> text=Adjudicate flags")
        assert faults(page) == []
        page.click("text=Begin")
        seen: set[str] = set()
        for number in range(5):
            page.wait_for_selector("[data-pane-text] >> text=Nothing of note")
            if number == 0:
                assert faults(page) == []
            seen |= _settle(ann)
        page.wait_for_selector("text=All 5 are done.")
        assert seen == set(SAYS)
        assert page.title() != "obeyed" and ann.complaints == []

    listed = json.loads(run("review", "decisions", made.benchmark, "--json"))
    assert listed["counts"]["upheld"] == listed["counts"]["rejected"] == 2
    assert listed["counts"]["excluded-ambiguous"] == 1 and listed["counts"]["stale"] == 0
    by_item = {one["item"]: one for one in listed["decisions"]}
    assert by_item["crate-quibbleforth"]["corrected"] == "Zanthoxa"
    assert by_item["season-evidence-absent"]["reading"] == "cannot be settled"
    assert by_item["unsteady-colour"].get("corrected") is None, "the field was emptied"
    shown = run("report", made.study)
    assert re.search(r"adjudicated (wrong|ambiguous) 1", shown) and "labels corrected: 1" in shown
    assert "adjudications: 5 decisions" in shown


def _settle(ann: Opened) -> set[str]:
    """One item: read, commit, look, decide."""
    page = ann.page
    word = next(word for word in SAYS if word in page.inner_text("#question"))
    answer, outcome = SAYS[word]
    assert secrets_in(page) == []
    assert page.locator("mark").count() == (0 if word == "season" else 2), (
        "in the window, and in the document"
    )
    if answer:
        page.fill("#answer", answer)
    else:
        page.check("[data-field=unsettled]")
    page.click("[data-do-commit]")
    until_revealed(page)
    assert secrets_in(page)
    if word == "receives":
        assert "12 of 12 answers of models say what you say" in page.inner_text("[data-revealed]")
        assert page.locator(".as-reader").count() == 3
        assert faults(page) == []
    if word == "mean":
        assert page.locator(".long").count() == 3 and page.locator(".long p:visible").count() == 0, "folded"
        assert page.locator("img, main script").count() == 0, "text, whatever it says"
    page.check(f"[data-field=outcome][value={outcome}]")
    assert page.locator("#corrected").is_visible() == (outcome == "upheld")
    if word == "receives":
        assert page.input_value("#corrected") == "Zanthoxa", "what was read is proposed"
    elif outcome == "upheld":
        page.fill("#corrected", "")
    does = {
        "rejected": "Commit: the label stands",
        "excluded-ambiguous": "Commit: the item is taken out",
        "upheld": f"Commit: the label becomes {answer}"
        if word == "receives"
        else "Commit: the item is taken out",
    }
    assert page.inner_text("[data-do-commit]") == does[outcome], "nobody replaces a label unasked"
    assert page.locator(".given:visible").count() == 0, "what models say is folded, below the text"
    page.fill("#reason", f"by the clause on {word}")
    leave(page)
    return {word}


def test_on_a_phone_by_keyboard_alone(made: Doubted, browser: Any) -> None:
    with command(made) as (server, _), opened(browser, server, PHONE) as ann:
        page = ann.page
        ann.go("/adjudicate")
        assert faults(page) == [] and ann.sideways() == 0
        page.keyboard.press("j")
        page.wait_for_selector("#question")
        for number in range(5):
            answer, outcome = said_of(page)
            assert ann.sideways() == 0
            page.wait_for_selector("[data-pane-text] >> text=Nothing of note")
            if answer:  # the item whose quote stands nowhere has no mark
                mark, pane = (
                    page.locator(where).first.bounding_box()
                    for where in ("[data-pane-text] mark", "[data-pane-text]")
                )
                assert pane["y"] <= mark["y"] <= pane["y"] + pane["height"], "opened at the passage"
            page.keyboard.press("a")
            page.keyboard.type(answer or "nothing is said")
            page.keyboard.press("Control+Enter")
            until_revealed(page)
            assert ann.sideways() == 0
            if number == 0:
                assert faults(page) == []
                page.keyboard.press("Control+Enter")
                page.wait_for_selector("text=Choose an outcome.")
                assert page.evaluate("document.activeElement.dataset.field") == "outcome"
            page.keyboard.press(str(["upheld", "rejected", "excluded-ambiguous"].index(outcome) + 1))
            assert page.is_checked(f"[value={outcome}]")
            for _ in range(6):
                page.keyboard.press("Tab")
                if page.evaluate("document.activeElement.id") == "reason":
                    break
            page.keyboard.type("as it stands there")
            leave(page, "Control+Enter")
        page.wait_for_selector("text=All 5 are done.")
        assert all("422" in complaint for complaint in ann.complaints), (
            "but for the decision without an outcome"
        )
        # Back to the first by Tab and Enter, and its decision is taken back.
        for _ in range(20):
            page.keyboard.press("Tab")
            if re.search(r"/adjudicate/[0-9a-f]{16}$", page.evaluate("document.activeElement.href || ''")):
                break
        page.keyboard.press("Enter")
        until_revealed(page)
        page.keyboard.press("4")
        page.locator("#reason").focus()
        page.keyboard.press("Control+Enter")
        page.wait_for_selector("text=Withdrawn")
        assert page.locator("[value=withdrawn]").count() == 0, "nothing is in force that could be taken back"
    decisions = read_adjudications(made.benchmark / "adjudications.jsonl")
    assert [one.outcome for one in decisions][-1] == "withdrawn" and len(decisions) == 6


def test_two_readers_and_a_server_that_is_killed(made: Doubted, browser: Any) -> None:
    with command(made) as (server, process):
        with opened(browser, server, reader="Ann") as ann, opened(browser, server, reader="Bob") as bob:
            ann.go("/adjudicate/next")
            address = ann.page.url
            answer, _ = said_of(ann.page)
            ann.page.fill("#answer", answer or "no")
            ann.page.click("[data-do-commit]")
            until_revealed(ann.page)
            ann.page.check("[value=rejected]")
            ann.page.fill("#reason", "half a reas")
            ann.saved()
            bob.page.goto(address)
            assert secrets_in(bob.page) == [] and bob.page.input_value("#answer") == ""
        os.kill(process.pid, signal.SIGKILL)
    with command(made) as (server, _), opened(browser, server, reader="Ann", dark=True) as ann:
        ann.go(address.removeprefix(address.partition("/adjudicate")[0]))
        assert ann.page.input_value("#reason") == "half a reas" and ann.page.is_checked("[value=rejected]")
        assert secrets_in(ann.page), "the reading was committed, and stays so"
        assert faults(ann.page) == [], "in the dark as well"


def test_an_undo_takes_back_what_was_chosen_and_nothing_that_the_page_brought(
    made: Doubted, browser: Any
) -> None:
    with command(made) as (server, _), opened(browser, server) as ann:
        page = ann.page
        ann.go("/adjudicate")
        page.click("text=Who receives")
        page.fill("#answer", "Zanthoxa")
        page.click("[data-do-commit]")
        until_revealed(page)
        assert "12 of 12 answers of models say what you say" in page.inner_text("[data-revealed]")
        assert page.inner_text("label.option >> nth=0").startswith("Upheld: the label is wrong, or the text")
        page.check("[value=rejected]")
        ann.saved()
        page.check("[value=upheld]")
        ann.saved()
        page.locator("#corrected").wait_for(state="visible")
        page.fill("#corrected", "")
        ann.saved()
        page.click("[data-undo]")
        ann.wait_for("undone")
        assert page.is_checked("[value=upheld]") and page.input_value("#corrected") == "Zanthoxa"
        page.click("[data-undo]")
        page.locator("#corrected").wait_for(state="hidden")
        assert page.is_checked("[value=rejected]"), "and no field for a corrected answer"
        assert page.locator("[data-beside=seen]").input_value() == "0"
        page.fill("#reason", "by the clause")
        leave(page)
    (kept,) = read_adjudications(made.benchmark / "adjudications.jsonl")
    assert kept.outcome == "rejected" and kept.corrected is None
