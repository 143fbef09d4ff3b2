"""The evidence page as text: what it shows of an item, what it leaves out, and that texts stay texts."""

from __future__ import annotations

import html
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from leadline.audit.document import ItemVerdict, Route, State
from leadline.bench import Evidence as Quote
from leadline.bench import Item
from leadline.bench.adjudications import Adjudication, add_adjudication, label_hash
from leadline.report import evidence_page as module
from leadline.report.evidence_items import Evidence, EvidenceItem, anchor_of, evidence_of
from leadline.report.evidence_page import evidence_page
from leadline.report.study_report import report_study
from leadline.report.write import write_report
from leadline.study.study import open_study
from tests.bundle.studies import make_study
from tests.report.audit_documents import CREATED, HOSTILE
from tests.report.conftest import Written

WINDOW = "Whoever received the work, may pass it on within 60 days,\nas long as the  notice is kept."
IDS = ("plain", "a/b c", "100%", "#top?x=1&y", "naïve-Ω", "it's (one)", "..", "<b>")


def item(name: str, **more: object) -> Item:
    quote = Quote(quote="as long as the notice is kept", source="https://example.org/licence?v=1&x=2")
    known = {"question": f"What of {name}?", "answer": "60 days", "window": WINDOW, "evidence": (quote,)}
    return Item.model_validate({"id": name, **known, **more})


def decision(one: Item, outcome: str, **more: object) -> Adjudication:
    known = {"item": one.id, "outcome": outcome, "reader": "R. Eader", "date": "2026-02-03"}
    return Adjudication.model_validate(
        {**known, "reason": "as the text says", "label": label_hash(one), **more}
    )


def evidence(*items: EvidenceItem, **more: object) -> Evidence:
    known = {"benchmark": "terms 1.0", "study": "terms-study", "population": "all 2 items drawn; not audited"}
    return Evidence(**{**known, "items": items, **more})


def page(*items: EvidenceItem, **more: object) -> str:
    return evidence_page(evidence(*items, **more), CREATED).html


def words(text: str) -> str:
    """What a reader sees."""
    body = text[text.index("<main>") : text.index("</main>")]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())


def test_an_item_is_shown_with_its_label_its_source_and_the_quote_marked_in_its_window() -> None:
    made = page(EvidenceItem(item("one", aliases=("two months",))))
    assert '<mark data-span="1">as long as the  notice is kept</mark>' in made
    seen = words(made)
    assert "60 days" in seen and "two months" in seen and "in the window at" in seen
    assert 'href="https://example.org/licence?v=1&amp;x=2" rel="noopener noreferrer nofollow"' in made


def test_every_quote_is_marked_and_one_that_is_not_there_is_said_to_be_absent() -> None:
    quotes = tuple(Quote(quote=text) for text in ("received the work", "within 61 days", "notice is kept"))
    made = page(EvidenceItem(item("one", evidence=quotes)))
    assert re.findall(r"<mark[^>]*>([^<]+)</mark>", made) == ["received the work", "notice is kept"]
    assert words(made).count("not in the window") == 2  # beside the quote, and as a filter


def test_a_corrected_label_stands_with_the_old_one_the_reader_and_the_reason() -> None:
    one = item("one", aliases=("two months",))
    decided = decision(one, "upheld", corrected="30 days", reading="thirty days")
    made = page(EvidenceItem(one, corrected="30 days", decision=decided), adjudicated=True)
    assert '<del><bdi dir="auto">60 days</bdi></del>' in made
    seen = words(made)
    for text in (
        "30 days as corrected",
        "R. Eader , 2026-02-03",
        "as the text says",
        "thirty days",
        "label corrected",
    ):
        assert text in seen, text
    assert "label corrected" in seen


def test_a_decision_tells_its_outcome_in_words_and_every_document_that_was_read() -> None:
    one = item("one")
    read = {"source": "deed.txt", "sha256": "0" * 64, "end": 1200}
    decided = decision(one, "upheld", read=read, also_read=[{"source": "annex.txt"}])
    seen = words(page(EvidenceItem(one, decision=decided), adjudicated=True))
    assert "upheld: the label is wrong, or the text does not give it" in seen
    assert "Text read deed.txt characters 0–1,200 annex.txt" in seen
    decided = decision(one, "upheld", corrected="30 days")
    seen = words(page(EvidenceItem(one, corrected="30 days", decision=decided), adjudicated=True))
    assert "upheld, corrected to 30 days" in seen and "Text read" not in seen


def test_a_stale_decision_is_shown_as_not_applied() -> None:
    one = item("one")
    made = page(EvidenceItem(one, decision=decision(one, "excluded-ambiguous"), stale=True), adjudicated=True)
    assert "not applied: it is about another question, window or label" in words(made)
    assert "decision not applied" in words(made)


def test_an_audits_verdict_stands_beside_the_label() -> None:
    verdict = ItemVerdict(
        item="one", state=State.ABSENT, route=Route.DECLARED, quote_in_window=True, quote_in_source=False,
        flagged=True, failure="evidence absent", reasons=("the quote is not in its source",),
    )  # fmt: skip
    seen = words(page(EvidenceItem(item("one"), verdict=verdict, left_out="evidence absent"), audited=True))
    assert "flagged: evidence absent" in seen and "the quote is not in its source" in seen
    assert "left out: evidence absent" in seen


@pytest.mark.parametrize(
    "field", ["question", "answer", "window", "category", "aliases", "quote", "source", "reason"]
)
def test_hostile_texts_are_text_wherever_they_stand(field: str) -> None:
    for hostile in HOSTILE[:2]:
        plain = {name: hostile for name in ("question", "answer", "window", "category") if name == field}
        if field == "aliases":
            plain = {"aliases": (hostile,)}
        if field in ("quote", "source"):
            plain = {"evidence": (Quote(**{"quote": "notice is kept", field: hostile}),)}
        one = item("one", **plain)
        said = {"reason": hostile} if field == "reason" else {}
        made = page(EvidenceItem(one, decision=decision(one, "rejected", **said)))
        body = made[made.index("<main>") : made.index("</main>")]
        assert "<script" not in body and "<img" not in body
        assert hostile in html.unescape(body)


@pytest.mark.parametrize("pointer", ["javascript:alert(1)", "data:text/html,x", "file:///etc", "a.txt"])
def test_only_web_addresses_become_links(pointer: str) -> None:
    made = page(EvidenceItem(item("one", evidence=(Quote(quote="notice is kept", source=pointer),))))
    assert pointer in html.unescape(made)
    assert set(re.findall(r'href="([^"#]+)', made)) == {"data:,", "report.html"}


def test_the_page_needs_nothing_else_and_may_ask_for_nothing() -> None:
    made = page(EvidenceItem(item("one")))
    assert "default-src 'none'" in html.unescape(made)
    assert not re.search(r"<(?:link|script|img|iframe)[^>]+(?:src|href)=[\"'](?!data:)", made)


def test_a_window_of_two_million_characters_is_cut_around_its_quote() -> None:
    long = "word " * 199_900 + WINDOW + " word" * 199_900
    made = page(EvidenceItem(item("one", window=long)))
    assert len(made) < 100_000
    assert "as long as the  notice is kept</mark>" in made
    assert len(re.findall(r"9\d\d,\d{3} characters left out", made)) == 2


def test_a_page_that_would_be_too_big_keeps_what_somebody_doubted_and_says_what_it_leaves_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOST_ITEMS", 3)
    items = [EvidenceItem(item(f"i{at}")) for at in range(10)]
    items[7] = EvidenceItem(items[7].item, decision=decision(items[7].item, "rejected"))
    made = evidence_page(evidence(*items, first={"i9"}), CREATED)
    assert made.items == {"i0", "i7", "i9"}
    assert re.findall(r'data-item="(\w+)"', made.html) == ["i0", "i7", "i9"]
    assert "7 items are left out to keep this page small" in words(made.html)


def test_many_long_windows_stay_within_the_size_of_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_CHARACTERS", 100_000)
    items = [EvidenceItem(item(f"i{at}", window="word " * 3_000 + WINDOW)) for at in range(80)]
    made = evidence_page(evidence(*items), CREATED)
    assert 40 < len(made.items) < 80 and len(made.html) < 250_000
    assert f"{80 - len(made.items)} items are left out" in words(made.html)
    assert "as long as the  notice is kept</mark>" in made.html and "characters left out" in made.html


@pytest.mark.parametrize("name", IDS)
def test_an_items_place_is_its_id_percent_encoded(name: str) -> None:
    made = page(EvidenceItem(item(name)))
    assert f'<div class="body" id="{html.escape(anchor_of(name))}">'.replace("&#x27;", "&#39;") in made
    assert re.fullmatch(r"item=[A-Za-z0-9%_.!~*'()-]+", anchor_of(name))


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of recorded answers with an audit, and people's decisions on three of its items."""
    folder = make_study(tmp_path_factory.mktemp("evidence") / "study", items=36, samples=3)
    study = open_study(folder)
    whole = study.whole.by_id
    decisions = folder / "adjudications.jsonl"
    add_adjudication(decisions, decision(whole["i-000"], "upheld", corrected="Opus 99"))
    add_adjudication(decisions, decision(whole["i-001"], "excluded-ambiguous"))
    add_adjudication(decisions, decision(whole["i-002"], "rejected").model_copy(update={"label": "sha256:0"}))
    (folder / "study.yaml").write_text(
        (folder / "study.yaml").read_text("utf-8") + "adjudications: adjudications.jsonl\n", "utf-8"
    )
    report_study(open_study(folder))
    return folder


def of(made: str, name: str) -> str:
    """What the page says of one item."""
    start = made.index(f'data-item="{name}"')
    return words(f"<main>{made[start : made.index('</details>', start)]}</main>")


def test_a_study_with_windows_has_the_page_and_its_report_leads_there(reported: Path) -> None:
    made = (reported / "report" / "evidence.html").read_text("utf-8")
    assert "Opus 99 as corrected" in of(made, "i-000") and "Opus 0" in of(made, "i-000")
    assert "left out: adjudicated ambiguous" in of(made, "i-001")
    assert "decision not applied" in of(made, "i-002")
    assert "flagged: evidence absent" in of(made, "i-004")
    assert "left out: named" in of(made, "i-007")
    report = (reported / "report" / "report.html").read_text("utf-8")
    assert 'href="evidence.html"' in report
    linked = set(re.findall(r'href="evidence\.html#item=([^"]+)"', report))
    findings = json.loads((reported / "report" / "findings.json").read_text("utf-8"))
    doubted = {
        row["keys"]["item"] for one in findings["findings"] for row in one["rows"] if "item" in row["keys"]
    }
    assert linked == doubted != set()


def test_the_page_shows_the_decisions_that_the_study_was_opened_with(reported: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(reported, tmp_path / "study"))
    study = open_study(folder)
    whole = study.whole.by_id
    later = decision(whole["i-002"], "rejected").model_copy(update={"label": "sha256:1", "reason": "later"})
    add_adjudication(folder / "adjudications.jsonl", later)
    found = evidence_of(study)
    assert found is not None
    (shown,) = (one for one in found.items if one.item.id == "i-002")
    assert shown.stale and shown.decision is not None and shown.decision.reason != "later"


def test_a_study_without_windows_and_quotes_has_no_such_page(reported: Path) -> None:
    study = open_study(reported)
    bare = tuple(
        one.model_copy(update={"window": None, "evidence": ()}) for one in study.population.everyone.items
    )
    people = replace(study.population, drawn=study.benchmark.with_items(bare))
    assert evidence_of(study) is not None
    assert evidence_of(replace(study, population=people)) is None


def test_a_page_of_an_earlier_report_does_not_stay_beside_one_without(
    written: Written, tmp_path: Path
) -> None:
    first = next(iter(written.items))
    found = evidence(EvidenceItem(item(first)))
    parts = written.document, written.readings, written.items, tmp_path
    assert write_report(*parts, found).evidence == tmp_path / "evidence.html"
    report = (tmp_path / "report.html").read_text("utf-8")
    assert report.count('"evidence":true') == 1 and 'href="evidence.html"' in report
    assert write_report(*parts).evidence is None
    assert not (tmp_path / "evidence.html").exists()
    report = (tmp_path / "report.html").read_text("utf-8")
    assert 'href="evidence.html' not in report and '"evidence":true' not in report
