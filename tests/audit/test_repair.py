"""A repaired window is as long as the old one, holds the evidence, and is a piece of the source."""

from __future__ import annotations

import csv
import json
import shutil
import unicodedata
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from leadline.audit import audit
from leadline.audit.document import (
    AuditDocument,
    AuditedBenchmark,
    Failure,
    ItemVerdict,
    Route,
    SelfTest,
    State,
    load_audit,
)
from leadline.audit.evidence_hash import evidence_hash
from leadline.audit.matching import Match, match_quote
from leadline.audit.repair import Repair, repair
from leadline.audit.repair_cut import Cut, NoCut, cut_window
from leadline.audit.repair_document import Refusal, Repaired
from leadline.audit.repair_files import write_repair
from leadline.bench import load_benchmark
from leadline.bench.stream import open_stream
from leadline.documents import Sources, read_document
from leadline.errors import LeadlineError, UsageError
from tests.study.conftest import Leadline, leadline  # noqa: F401  # a fixture

PROBITY = Path(__file__).parents[3] / "shared" / "data" / "probity"
DEED = (
    "Article 1. The company is called Harbour Works. " * 20
    + "The purchase price of each share shall be nine pounds and forty pence, payable on the day of sale. "
    + "Article 2. Notices are sent by post to the registered office. " * 20
)
PRICE = "each share shall be nine pounds and forty pence, payable on the day"


def verdict(item: str, failure: Failure | None = Failure.EVIDENCE_ABSENT, source: str = "") -> ItemVerdict:
    return ItemVerdict(
        item=item,
        state=State.PRESENT if source else State.NOT_CHECKABLE,
        route=Route.DECLARED if source else Route.UNRESOLVED,
        source=source,
        quote_in_window=False,
        quote_in_source=bool(source),
        flagged=failure is not None,
        failure=failure,
        derivation="2 + 2 = 4" if failure is Failure.COMPUTATIONAL else "",
    )


def audited(folder: Path, verdicts: Sequence[ItemVerdict], passed: bool = True) -> AuditDocument:
    return audited_as(str(folder), verdicts, passed)


def audited_as(ref: str, verdicts: Sequence[ItemVerdict], passed: bool = True) -> AuditDocument:
    """An audit with these verdicts; the other items are not flagged."""
    benchmark = load_benchmark(ref)
    named = {one.item for one in verdicts}
    return AuditDocument(
        leadline_version="0",
        created=datetime.now(UTC),
        benchmark=AuditedBenchmark(
            name=benchmark.name,
            version=benchmark.version,
            path=ref,
            content_hash=benchmark.content_hash,
            evidence_hash=evidence_hash(benchmark.items),
            items=len(benchmark.items),
            sources=1,
        ),
        self_test=SelfTest(passed=passed, trials=()),
        items=(*verdicts, *(verdict(one.id, None) for one in benchmark.items if one.id not in named)),
    )


def write(folder: Path, items: Sequence[dict[str, Any]], **sources: str | bytes) -> Path:
    """A benchmark folder; a source's name has __ for its point."""
    (folder / "sources").mkdir(parents=True)
    (folder / "benchmark.yaml").write_text('name: deeds\nversion: "1.0"\nlicence: CC0-1.0\n', "utf-8")
    lines = [json.dumps({"question": "What?", "answer": "9.40", **item}) for item in items]
    (folder / "items.jsonl").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    for name, content in sources.items():
        data = content if isinstance(content, bytes) else content.encode()
        (folder / "sources" / name.replace("__", ".")).write_bytes(data)
    return folder


def item(identity: str, window: str, *quotes: str, source: str = "deed.txt") -> dict[str, Any]:
    return {
        "id": identity,
        "window": window,
        "evidence": [{"quote": quote, "source": source} for quote in quotes],
    }


def repaired(folder: Path, *verdicts: ItemVerdict, **options: Any) -> Repair:
    return repair(load_benchmark(folder), audited(folder, verdicts), Sources.of(folder), **options)


def one(folder: Path, failure: Failure = Failure.EVIDENCE_ABSENT, source: str = "deed.txt") -> Repaired:
    """What becomes of the only item."""
    (entry,) = repaired(folder, verdict("a", failure, source)).document.items
    return entry


# The cut


def test_a_window_is_cut_around_the_evidence_at_its_old_length(tmp_path: Path) -> None:
    folder = write(tmp_path / "b", [item("a", DEED[:300], PRICE)], deed__txt=DEED)
    found = repaired(folder, verdict("a", source="deed.txt"))
    assert found.benchmark is not None
    (entry,) = found.document.done
    window = found.benchmark.by_id["a"].window
    assert window is not None and len(window) == 300 == entry.characters
    assert match_quote(PRICE, window).found
    assert window == DEED[entry.start : entry.end]
    assert DEED[entry.evidence_start : entry.evidence_end] == PRICE
    assert entry.start is not None and entry.evidence_start is not None
    before, behind = entry.evidence_start - entry.start, entry.end - entry.evidence_end  # type: ignore[operator]
    assert abs(before - behind) <= 2 * 15 + 1, "centred, but for what keeps words whole"
    assert entry.whole_words and not DEED[entry.start - 1 : entry.start + 1].isalpha()


@pytest.mark.parametrize("at", [0, len(DEED)], ids=["beginning", "end"])
def test_at_the_ends_of_the_document_the_window_moves_inwards(at: int) -> None:
    quote = "The sum of eleven marks is owed by the house of Lund."
    document = DEED[:at] + f" {quote} " + DEED[at:]
    cut = cut_window(document, [quote], 400)
    assert isinstance(cut, Cut)
    assert len(cut.text) == 400 and quote in cut.text
    assert cut.start <= 20 if at == 0 else cut.end >= len(document) - 20, "20: so that words stay whole"


def test_a_window_as_long_as_the_document_is_the_document() -> None:
    cut = cut_window(DEED, [PRICE], len(DEED))
    assert isinstance(cut, Cut) and cut.text == DEED


def test_of_several_quotes_the_window_covers_all() -> None:
    other = "Notices are sent by post to the registered office"
    cut = cut_window(DEED, [other, PRICE], 300)
    assert isinstance(cut, Cut)
    assert match_quote(other, cut.text).found and match_quote(PRICE, cut.text).found


def test_where_a_span_stands_often_the_place_nearest_to_the_others_is_taken() -> None:
    common = "Article 1. The company is called Harbour Works."
    cut = cut_window(DEED, [common, PRICE], 220)
    assert isinstance(cut, Cut), (
        "its first place is a thousand characters away, its last is next to the price"
    )
    assert match_quote(common, cut.text).found and match_quote(PRICE, cut.text).found


def test_a_quote_with_an_omission_is_covered_from_its_first_to_its_last_span() -> None:
    quote = "The purchase price of each share shall be nine ... Notices are sent by post to the registered"
    cut = cut_window(DEED, [quote], 200)
    assert isinstance(cut, Cut) and match_quote(quote, cut.text).found


LETTERS = st.sampled_from(
    ["a", "é", "e\u0301", "ö\u0323", "क्षि", "👩‍👩‍👧", "🇩🇪", "👍🏽", "\r\n", " ", " ", ".", "각"]
)


@given(st.lists(LETTERS, min_size=40, max_size=400), st.integers(0, 300), st.integers(80, 200))
def test_no_cut_parts_a_character_and_every_cut_has_the_length(
    letters: list[str], place: int, length: int
) -> None:
    quote = "the sum of eleven marks is owed by the house"
    text = "".join(letters[:place]) + f" {quote} " + "".join(letters[place:])
    found = cut_window(text, [quote], length)
    if len(text) < length:
        assert isinstance(found, NoCut) and "shorter than the window" in found.reason
        return
    assume(isinstance(found, Cut))
    assert isinstance(found, Cut)
    assert len(found.text) == length and found.text == text[found.start : found.end]
    assert quote in found.text
    for edge in (found.start, found.end):
        before, behind = text[edge - 1 : edge], text[edge : edge + 1]
        if before and behind:
            assert not unicodedata.category(behind).startswith("M"), "an accent was parted from its letter"
            assert (before, behind) != ("\r", "\n")
            assert before != "\u200d" and behind != "\u200d"
            assert (
                unicodedata.normalize("NFC", before + behind)[:1] == unicodedata.normalize("NFC", before)[:1]
            )


# Refusals


LAST = "the very last clause of this deed is this one here"
ABSENT, UNTRACEABLE = Failure.EVIDENCE_ABSENT, Failure.LABEL_UNTRACEABLE
COMPUTED = Failure.COMPUTATIONAL
REFUSED = {
    "computational": (item("a", DEED[:300], PRICE), DEED, COMPUTED, "computational", "2 + 2 = 4"),
    "not in it": (item("a", DEED[:300], PRICE), DEED[:900], ABSENT, "no_document", "'each share shall be"),
    "long quote": (item("a", DEED[:60], PRICE), DEED, ABSENT, "no_cut", "the quote is longer"),
    "far apart": (
        item("a", DEED[:300], f"{PRICE} ... {LAST}"), DEED + LAST, ABSENT, "no_cut",
        "the spans of the evidence are too far apart",
    ),
    "short document": (
        item("a", "It is not payable at all. " * 80, "payable on the day of transfer"),
        "It is payable on the day of transfer.", ABSENT, "no_cut", "the document is shorter than the window",
    ),
    "in window": (item("a", DEED, PRICE), DEED, UNTRACEABLE, "in_window", "it is the source that lacks it"),
    "no quote": ({"id": "a", "window": DEED[:300]}, DEED, UNTRACEABLE, "no_quote", "no quote"),
    "no window": ({**item("a", "x", PRICE), "window": None}, DEED, ABSENT, "no_window", "no window"),
}  # fmt: skip


@pytest.mark.parametrize(("entry", "document", "failure", "refusal", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_repaired_is_refused_with_its_reason(
    entry: dict[str, Any], document: str, failure: Failure, refusal: str, reason: str, tmp_path: Path
) -> None:
    entry = {key: value for key, value in entry.items() if value is not None}
    found = one(write(tmp_path / "b", [entry], deed__txt=document), failure)
    assert (found.outcome, found.refusal) == ("refused", Refusal[refusal.upper()])
    assert reason in found.reason
    assert found.new_window_sha256 == "" and found.start is None


def test_a_document_that_is_not_there_or_cannot_be_read_is_said(tmp_path: Path) -> None:
    folder = write(tmp_path / "b", [item("a", DEED[:300], PRICE, source="lost.txt")], deed__txt=DEED[:900])
    found = one(folder, source="")
    assert found.refusal is Refusal.NO_DOCUMENT and found.reason == "its document is not held: lost.txt"
    folder = write(tmp_path / "c", [item("a", DEED[:300], PRICE, source="x.pdf")], x__pdf=b"%PDF-1.7 broken")
    assert one(folder, source="x.pdf").refusal is Refusal.UNREADABLE


def test_a_quote_of_the_markup_alone_is_refused_for_a_window_of_the_text(tmp_path: Path) -> None:
    page = f"<html><body><p>{DEED}</p><p title='the sum of eleven marks is owed by Lund'>x</p></body></html>"
    quote = "<p title='the sum of eleven marks is owed by Lund'>"
    folder = write(tmp_path / "b", [item("a", DEED[:300], quote, source="x.html")], x__html=page)
    assert one(folder, source="x.html").refusal is Refusal.MARKUP_ONLY
    window = page[:200]
    folder = write(tmp_path / "c", [item("a", window, quote, source="x.html")], x__html=page)
    found = one(folder, source="x.html")
    assert found.layer == "markup", "a window that was cut out of the markup is cut out of it again"


def test_a_matcher_that_finds_nothing_repairs_nothing(tmp_path: Path) -> None:
    def blind(quote: str, text: object) -> Match:
        return Match(False, ())

    folder = write(tmp_path / "b", [item("a", DEED[:300], PRICE)], deed__txt=DEED)
    assert repaired(folder, verdict("a", source="deed.txt"), matcher=blind).benchmark is None


def test_an_audit_without_verdicts_or_of_other_content_repairs_nothing(tmp_path: Path) -> None:
    folder = write(tmp_path / "b", [item("a", DEED[:300], PRICE)], deed__txt=DEED)
    benchmark, sources = load_benchmark(folder), Sources.of(folder)
    with pytest.raises(LeadlineError, match="failed its self-test"):
        repair(benchmark, audited(folder, (), passed=False), sources)
    other = audited(write(tmp_path / "c", [item("a", DEED[:301], PRICE)]), ())
    with pytest.raises(UsageError, match="of other content"):
        repair(benchmark, other, sources)


def test_an_audit_of_a_part_repairs_nothing(tmp_path: Path, leadline: Leadline) -> None:  # noqa: F811
    folder = write(tmp_path / "b", [item(one, DEED[:300], PRICE) for one in "abc"], deed__txt=DEED)
    asked = leadline("audit", folder, "--item", "b", "--out", tmp_path / "part.json")
    assert asked.code in (0, 1), asked.err
    ended = leadline("repair", folder, "--audit", tmp_path / "part.json")
    assert "part.json: the audit has verdicts on 1 of 3 items only" in ended.fault
    assert not (tmp_path / "b-repaired").exists()


@pytest.mark.parametrize("change", [("payable on", "to be paid on"), ("deed.txt", "deeds.txt")])
def test_an_audit_of_quotes_that_were_corrected_since_repairs_nothing(
    change: tuple[str, str],
    tmp_path: Path,
    leadline: Leadline,  # noqa: F811
) -> None:
    folder = write(tmp_path / "b", [item("a", DEED[:300], PRICE)], deed__txt=DEED)
    leadline("audit", folder, "--out", tmp_path / "audit.json")
    before = load_benchmark(folder).content_hash
    lines = (folder / "items.jsonl").read_text("utf-8")
    (folder / "items.jsonl").write_text(lines.replace(*change), "utf-8")
    assert load_benchmark(folder).content_hash == before, "the quotes are not part of it"
    ended = leadline("repair", folder, "--audit", tmp_path / "audit.json")
    assert "audit.json: the audit is of other quotes" in ended.fault


# Another document than the item names

OTHER = "This is another deed, of another company, about the lease of a quay and two cranes on it. " * 12
FACE = "face value of 5,280 crowns"
WITH_FACE = DEED + f"The share has a {FACE}. " + "Article 3. The seat is at Lund. " * 20


def after_its_audit(folder: Path) -> Repaired:
    """What becomes of the item `a`, by the audit itself."""
    found = audit(open_stream(folder), Sources.of(folder), workers=1)
    done = repair(load_benchmark(folder), found, Sources.of(folder))
    return next(one for one in done.document.items if one.item == "a")


@pytest.mark.parametrize("pointer", ["other.txt", "lost.txt", ""])
def test_long_evidence_in_one_other_document_is_cut_from_there_and_said(pointer: str, tmp_path: Path) -> None:
    folder = write(tmp_path / "b", [item("a", OTHER[:300], PRICE, source=pointer)],
                   deed__txt=DEED, other__txt=OTHER)  # fmt: skip
    for found in (after_its_audit(folder), one(folder, source="")):
        assert (found.outcome, found.source, found.refusal) == ("repaired", "deed.txt", None)
        names = {"other.txt": "other.txt", "lost.txt": "lost.txt, which is not held", "": "no document"}
        assert found.reason == f"found by content; the item names {names[pointer]}"


def test_short_evidence_in_another_document_is_refused_and_the_document_named(tmp_path: Path) -> None:
    folder = write(tmp_path / "b", [item("a", OTHER[:300], FACE, source="other.txt")],
                   deed__txt=WITH_FACE, other__txt=OTHER)  # fmt: skip
    found = after_its_audit(folder)
    assert found.refusal is Refusal.ELSEWHERE
    assert "deed.txt has the evidence, but the quote is too short to tell" in found.reason


def test_evidence_in_several_other_documents_is_refused_and_the_documents_named(tmp_path: Path) -> None:
    folder = write(tmp_path / "b", [item("a", OTHER[:300], PRICE, source="other.txt")],
                   deed__txt=DEED, copy__txt=DEED + "x", other__txt=OTHER)  # fmt: skip
    found = one(folder, source="")
    assert found.refusal is Refusal.ELSEWHERE
    assert "copy.txt, deed.txt have the evidence" in found.reason and "correct the pointer" in found.reason


def test_quotes_of_different_documents_are_refused_for_that(tmp_path: Path) -> None:
    entry = item("a", "Nothing of it is here. " * 20, PRICE)
    entry["evidence"].append({"quote": "the lease of a quay and two cranes on it", "source": "other.txt"})
    folder = write(tmp_path / "b", [entry], deed__txt=DEED, other__txt=OTHER)
    found = after_its_audit(folder)
    assert found.refusal is Refusal.SCATTERED
    assert "in deed.txt" in found.reason and "in other.txt" in found.reason


def test_where_no_document_has_the_evidence_those_that_cannot_be_read_are_counted(tmp_path: Path) -> None:
    folder = write(tmp_path / "b", [item("a", DEED[:300], PRICE)],
                   deed__txt=DEED[:900], x__pdf=b"%PDF-1.7 broken")  # fmt: skip
    found = one(folder)
    assert found.refusal is Refusal.NO_DOCUMENT and found.reason.endswith(
        "; 1 of the documents held cannot be read"
    )


# The folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Four items, two of them flagged, one of which can be repaired; the lines are written oddly."""
    place = write(
        tmp_path / "deeds",
        [
            item("a", DEED[:300], PRICE),
            item("b", DEED[900:1200], PRICE),
            item("c", DEED[:200], "nowhere at all " * 4),
            item("d", DEED[:250], PRICE),
        ],
        deed__txt=DEED,
    )
    lines = (place / "items.jsonl").read_text("utf-8").splitlines()
    lines[1] = lines[1].replace('{"', '{ "', 1).replace("What?", "Wh\\u0061t?")
    (place / "items.jsonl").write_bytes("\r\n".join(lines).encode() + b"\r\n")
    (place / "README.md").write_text("# Deeds\n", "utf-8")
    verdicts = (verdict("a", source="deed.txt"), verdict("c"))
    audit = audited(place, verdicts).model_dump_json(by_alias=True)
    (tmp_path / "audit.json").write_text(audit, "utf-8")
    return place


def test_a_new_version_is_written_beside_the_old_one(folder: Path, leadline: Leadline) -> None:  # noqa: F811
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    ended = leadline("repair", folder, "--audit", folder.parent / "audit.json")
    assert ended.code == 0, ended.err
    assert "4 items, 2 flagged, 1 repaired, 1 refused" in ended.out
    assert before == {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    new = folder.parent / "deeds-repaired"
    old_lines = (folder / "items.jsonl").read_bytes().splitlines(keepends=True)
    new_lines = (new / "items.jsonl").read_bytes().splitlines(keepends=True)
    assert new_lines[1:] == old_lines[1:], "what was not repaired keeps its bytes"
    first, second = load_benchmark(folder), load_benchmark(new)
    assert (first.version, second.version) == ("1.0", "1.0+repaired.1")
    assert [one.id for one in second.items] == ["a", "b", "c", "d"]
    assert second.by_id["a"].model_copy(update={"window": None}) == first.by_id["a"].model_copy(
        update={"window": None}
    )
    assert (new / "sources" / "deed.txt").read_bytes() == DEED.encode()
    assert (new / "README.md").exists()
    assert (new / "repaired.txt").read_text("utf-8") == "a\n"
    document = json.loads((new / "repair.json").read_text("utf-8"))
    assert document["original"]["content_hash"] == first.content_hash
    assert document["repaired"]["content_hash"] == second.content_hash
    with (new / "pairing.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["item"], row["outcome"]) for row in rows] == [("a", "repaired"), ("c", "refused")]
    assert rows[0]["old_window_sha256"] != rows[0]["new_window_sha256"] != ""
    window = second.by_id["a"].window
    assert window == DEED[int(rows[0]["start"]) : int(rows[0]["end"])]


def test_only_what_was_repaired_can_be_a_benchmark_of_its_own(folder: Path, leadline: Leadline) -> None:  # noqa: F811
    new = folder.parent / "pairs"
    ended = leadline(
        "repair", folder, "--audit", folder.parent / "audit.json", "--only-repaired", "--out", new, "--json"
    )
    assert ended.code == 0, ended.err
    assert json.loads(ended.out)["only_repaired"] is True
    assert [one.id for one in load_benchmark(new).items] == ["a"]


def test_a_second_repair_is_another_version(folder: Path, leadline: Leadline) -> None:  # noqa: F811
    new, again = folder.parent / "deeds-repaired", folder.parent / "again"
    assert leadline("repair", folder, "--audit", folder.parent / "audit.json").code == 0
    shutil.rmtree(again, ignore_errors=True)
    audit = folder.parent / "second.json"
    audit.write_text(
        audited(new, [verdict("c"), verdict("d", source="deed.txt")]).model_dump_json(by_alias=True)
    )
    assert leadline("repair", new, "--audit", audit, "--out", again).code == 0
    assert load_benchmark(again).version == "1.0+repaired.2"
    assert json.loads((again / "repair.json").read_text("utf-8"))["original"]["version"] == "1.0+repaired.1"


def test_nothing_is_overwritten_and_nothing_half_written(folder: Path, leadline: Leadline) -> None:  # noqa: F811
    audit = folder.parent / "audit.json"
    assert "there is something already" in leadline("repair", folder, "--audit", audit, "--out", folder).fault
    inside = folder / "new"
    assert "within the benchmark" in leadline("repair", folder, "--audit", audit, "--out", inside).fault
    occupied = folder.parent / "file"
    occupied.write_text("x")
    assert leadline("repair", folder, "--audit", audit, "--out", occupied / "new").code == 3
    assert sorted(path.name for path in folder.parent.iterdir()) == ["audit.json", "deeds", "file"]


def test_when_nothing_can_be_repaired_nothing_is_written(tmp_path: Path, leadline: Leadline) -> None:  # noqa: F811
    folder = write(tmp_path / "b", [item("a", DEED[:300], "nowhere at all " * 4)], deed__txt=DEED)
    audit = tmp_path / "audit.json"
    audit.write_text(audited(folder, [verdict("a")]).model_dump_json(by_alias=True))
    ended = leadline("repair", folder, "--audit", audit)
    assert ended.code == 1 and "0 repaired, 1 refused" in ended.out
    assert not (tmp_path / "b-repaired").exists()
    assert load_audit(audit).flagged


def test_a_dry_run_writes_nothing(folder: Path, leadline: Leadline) -> None:  # noqa: F811
    ended = leadline("repair", folder, "--audit", folder.parent / "audit.json", "--dry-run")
    assert ended.code == 0 and "1 repaired" in ended.out
    assert not (folder.parent / "deeds-repaired").exists()


# Real filings


@pytest.mark.skipif(not PROBITY.is_dir(), reason="the provenance cases are not beside this repository")
def test_real_items_whose_window_is_moved_off_the_evidence_are_repaired(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in (PROBITY / "items.jsonl").read_text("utf-8").splitlines()]
    rows = [row for row in rows if row.get("source_file")]
    assert len(rows) == 7
    entries, verdicts, names = [], [], {}
    for row in rows:
        name = Path(row["source_file"]).name
        document = read_document(PROBITY / "sources" / name)
        whole = document.markup or document.text
        length = min(len(row["window"]), len(whole) // 3)
        away = elsewhere(whole, length, row["quote"])
        identity = f"{row['task']}/{row['item']}"
        entries.append(item(identity, away, row["quote"], source=name))
        verdicts.append(verdict(identity, source=name))
        names[identity] = len(away)
    folder = write(tmp_path / "probity", entries)
    shutil.copytree(PROBITY / "sources", folder / "sources", dirs_exist_ok=True)
    found = repaired(folder, *verdicts)
    assert [(one.item, one.reason) for one in found.document.items if one.outcome == "refused"] == []
    assert found.benchmark is not None
    for new in found.benchmark.items:
        assert new.window is not None and len(new.window) == names[new.id]
        assert match_quote(new.evidence[0].quote, new.window).found


def elsewhere(text: str, length: int, quote: str) -> str:
    """The first piece of that length which lacks the quote."""
    starts: Callable[[], range] = lambda: range(0, len(text) - length, 50)  # noqa: E731
    return next(part for at in starts() if not match_quote(quote, part := text[at : at + length]).found)


def test_planted_faults_of_the_bundled_licences_are_repaired(
    tmp_path: Path,
    leadline: Leadline,  # noqa: F811
) -> None:
    """Real texts: every window that was cut from another passage is cut around its quote."""
    stream = open_stream("licences/planted")
    assert stream.folder is not None
    expected = json.loads((stream.folder / "expected.json").read_text("utf-8"))
    planted = load_benchmark("licences/planted")
    flagged = {one: told["expect"] for one, told in expected.items() if told["expect"].get("failure")}
    verdicts = [
        verdict(one.id, Failure(flagged[one.id]["failure"]), one.source)
        for one in planted.items
        if one.id in flagged
    ]
    audit, out = tmp_path / "audit.json", tmp_path / "out"
    audit.write_text(audited_as("licences/planted", verdicts).model_dump_json(by_alias=True), "utf-8")
    ended = leadline("repair", "licences/planted", "--audit", audit, "--out", out)
    assert ended.code == 0, ended.err
    document = json.loads((out / "repair.json").read_text("utf-8"))
    by_failure: dict[str, set[tuple[str, str]]] = {}
    for told in document["items"]:
        by_failure.setdefault(told["failure"], set()).add((told["outcome"], told.get("refusal", "")))
    assert by_failure["evidence absent"] == {("repaired", "")}
    assert by_failure["computational"] == {("refused", str(Refusal.COMPUTATIONAL))}
    assert by_failure["label untraceable"] == {("refused", str(Refusal.IN_WINDOW))}
    new = load_benchmark(out)
    sources = Sources.of(out)
    for told in document["items"]:
        if told["outcome"] == "repaired":
            window, old = new.by_id[told["item"]].window, planted.by_id[told["item"]].window
            assert window is not None and old is not None and len(window) == len(old)
            assert window in sources.read(sources.path(told["source"])).text
            assert all(match_quote(one.quote, window).found for one in new.by_id[told["item"]].evidence)


def reaudited(folder: Path) -> dict[str, ItemVerdict]:
    """What the audit says of each item of a benchmark."""
    document = audit(open_stream(folder), Sources.of(folder), workers=1)
    assert document.self_test.passed
    return {one.item: one for one in document.items}


def test_after_a_repair_the_audit_finds_the_evidence(
    tmp_path: Path,
    leadline: Leadline,  # noqa: F811
) -> None:
    """The whole way, without a word from us: audit, repair, audit."""
    out = tmp_path / "out"
    assert leadline("repair", "licences/planted", "--out", out, "--quiet").code == 0
    document = json.loads((out / "repair.json").read_text("utf-8"))
    repaired_ids = {one["item"] for one in document["items"] if one["outcome"] == "repaired"}
    assert len(repaired_ids) >= 12
    after = reaudited(out)
    for name in repaired_ids:
        assert after[name].quote_in_window is True, name
        assert after[name].state is State.PRESENT and not after[name].flagged, name
    refused = {one["item"] for one in document["items"]} - repaired_ids
    assert refused and all(after[name].flagged for name in refused), "what was refused is as it was"


@pytest.mark.skipif(not PROBITY.is_dir(), reason="the provenance cases are not beside this repository")
def test_real_filings_are_flagged_before_and_clean_after(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in (PROBITY / "items.jsonl").read_text("utf-8").splitlines()]
    entries = []
    for row in (row for row in rows if row.get("source_file")):
        name = Path(row["source_file"]).name
        document = read_document(PROBITY / "sources" / name)
        whole = document.markup or document.text
        away = elsewhere(whole, min(len(row["window"]), len(whole) // 3), row["quote"])
        answer = {"answer": "yes", "answer_type": "text"}
        entries.append({**item(f"{row['task']}/{row['item']}", away, row["quote"], source=name), **answer})
    folder = write(tmp_path / "filings", entries)
    shutil.copytree(PROBITY / "sources", folder / "sources", dirs_exist_ok=True)
    found = audit(open_stream(folder), Sources.of(folder), workers=1)
    assert [one.quote_in_window for one in found.items] == [False] * 7
    made = repair(load_benchmark(folder), found, Sources.of(folder))
    write_repair(made, folder, tmp_path / "out", "")
    assert {name: one.quote_in_window for name, one in reaudited(tmp_path / "out").items()} == {
        entry["id"]: True for entry in entries
    }
