"""An audit as JSON, CSV and Markdown: whole, safe to open, and clear about whom it speaks of."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import jsonschema
import pytest

from leadline.audit.document import AuditDocument, load_audit
from leadline.errors import UsageError
from leadline.report.audit_csv import COLUMNS, audit_csv, spreadsheet_safe
from leadline.report.audit_files import form_of, write_audit
from leadline.report.audit_gate import Gate
from leadline.report.audit_json import audit_json, audit_schema
from leadline.report.audit_markdown import MOST_CHARACTERS, audit_markdown, plain
from leadline.report.audit_summary import summary
from leadline.report.audit_words import NO_CLAIMS, population
from tests.report.audit_documents import HOSTILE, audit_document, item, item_texts

DOCS = Path(__file__).parents[2] / "docs"
WHOLE = audit_document()


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def grown(number: int) -> AuditDocument:
    """An audit in which `number` items are flagged."""
    flagged = [entry for entry in WHOLE.items if entry.flagged]
    items = [flagged[at % len(flagged)].model_copy(update={"item": f"item-{at:05}"}) for at in range(number)]
    return audit_document(items=tuple(items))


# JSON


def test_an_audit_comes_back_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "audit.json"
    write_audit(WHOLE, [path], Gate(), tmp_path, {})
    assert load_audit(path) == WHOLE


def test_the_published_schema_is_the_one_of_the_code_and_the_json_obeys_it() -> None:
    published = json.loads((DOCS / "audit.schema.json").read_text(encoding="utf-8"))
    assert published == audit_schema()
    jsonschema.Draft202012Validator.check_schema(published)
    validator = jsonschema.Draft202012Validator(published)
    for document in (WHOLE, audit_document(passed=False)):
        validator.validate(json.loads(audit_json(document)))
    broken = json.loads(audit_json(WHOLE))
    broken["items"][0]["state"] = "probably present"
    with pytest.raises(jsonschema.ValidationError):
        validator.validate(broken)


@pytest.mark.parametrize(
    ("name", "form"),
    [("a.json", "json"), ("a.SARIF", "sarif"), ("a.sarif.json", "sarif"), ("a.b.md", "markdown")],
)
def test_a_files_ending_says_what_it_will_be(name: str, form: str) -> None:
    assert form_of(Path(name)) == form


@pytest.mark.parametrize("name", ["audit", "audit.pdf", ".json"])
def test_another_ending_is_refused_with_the_ones_there_are(name: str) -> None:
    with pytest.raises(UsageError, match=r"\.html"):
        form_of(Path(name))


def test_a_folder_in_the_place_of_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "audit.json").mkdir()
    with pytest.raises(UsageError, match="a folder is in the file's place"):
        form_of(tmp_path / "audit.json")


# The counts behind all of them


def test_every_item_is_in_exactly_one_row_of_each_breakdown() -> None:
    found = summary(WHOLE)
    for entry in found.breakdowns:
        total = len(WHOLE.flagged) if entry.over == "flagged items" else len(WHOLE.items)
        assert sum(figure.numerator or 0 for _, figure in entry.rows) == total
        assert {figure.denominator for _, figure in entry.rows} == {total}
    for _, groups in found.groups:
        assert sum(group.items for group in groups) == len(WHOLE.items)
        assert sum(group.flagged.numerator or 0 for group in groups) == len(WHOLE.flagged)
        for group in groups:
            assert sum(number for _, number in group.by_failure) == group.flagged.numerator


def test_what_is_not_checkable_counts_as_neither() -> None:
    (window,) = [entry for entry in summary(WHOLE).breakdowns if entry.title == "Quote in source"]
    counts = {name: figure.numerator for name, figure in window.rows}
    assert counts == {"verified present": 18, "verified absent": 2, "not checkable": 2}


def test_a_part_of_a_benchmark_is_never_taken_for_the_whole() -> None:
    part = WHOLE.model_copy(update={"items": WHOLE.items[:3]})
    assert population(part) == "terms 1.2: 3 of 22 items, 14 documents held"
    assert population(WHOLE) == "terms 1.2: 22 items, 14 documents held"


# CSV


def test_the_table_has_one_row_per_item_and_names_its_population_in_each() -> None:
    found = rows(audit_csv(WHOLE))
    assert len(found) == len(WHOLE.items) and tuple(found[0]) == COLUMNS
    for row in found:
        assert (row["benchmark"], row["version"], row["items_in_benchmark"]) == ("terms", "1.2", "22")
        assert row["content_hash"] == WHOLE.benchmark.content_hash and "not whether" in row["scope"]
    by_item = {row["item"]: row for row in found}
    assert by_item["share-1"]["derivation"] == "81,575 / 1,362,500 = 5.99 %"
    assert by_item["unheld"]["quote_in_source"] == "not checkable"
    absent = by_item["absent-1"]
    assert (absent["flagged"], absent["failure"], absent["similarity"]) == ("yes", "evidence absent", "0.81")
    assert absent["missing_spans"] == "if the holder fails to notify you within 30 days after the cessation"


def test_no_cell_of_the_table_is_a_formula() -> None:
    for row in rows(audit_csv(WHOLE)):
        for cell in row.values():
            assert not re.match(r"\s*[=+\-@]", cell), cell
    hostile = rows(audit_csv(audit_document(items=(item("\t=1"), item("＝1"), item("-1"), item("a-1")))))
    assert [row["item"] for row in hostile] == ["'\t=1", "'＝1", "'-1", "a-1"]


def test_a_table_without_verdicts_says_why() -> None:
    (row,) = rows(audit_csv(audit_document(passed=False)))
    assert row["item"] == "" and row["reasons"].startswith("Self-test FAILED") and row["benchmark"] == "terms"


# Markdown


def test_the_markdown_says_who_was_audited_what_was_found_and_what_may_not_be_claimed() -> None:
    text = audit_markdown(WHOLE, "fail: 10 items are flagged (none allowed)")
    assert "22 items, 14 documents held" in text and WHOLE.benchmark.content_hash in text
    assert "**Fail: 10 items are flagged (none allowed)**" in text
    assert "Not checkable: the source of 2 items" in text
    assert "45.5 % (10/22) [26.9, 65.3]" in text and "Self-test passed: 112 of 112" in text
    for sentence in NO_CLAIMS:
        assert sentence in text
    for entry in WHOLE.flagged:
        assert plain(entry.item) in text
    assert "fine-3" not in text


def test_texts_of_items_call_nobody_and_link_nowhere() -> None:
    text = audit_markdown(WHOLE)
    assert "@everyone" not in text and "http://example.org" not in text
    assert "<script>" not in text and "](javascript" not in text
    assert "\x1b" not in text
    assert not re.search(r"(?<!\\)<(?!!-- -->|/?details|/?summary|/?b>)", text)
    for hostile in HOSTILE:
        line = plain(hostile)
        assert "\n" not in line and not re.search(r"(?<!\\)\|", line)


def test_a_comment_is_never_longer_than_a_forge_takes() -> None:
    text = audit_markdown(grown(3000))
    assert len(text) <= MOST_CHARACTERS
    assert re.search(r"… and [\d,]+ more flagged items", text)
    listed = len(re.findall(r"^\| item-", text, flags=re.MULTILINE))
    left_out = int(re.search(r"… and ([\d,]+) more", text)[1].replace(",", ""))  # type: ignore[index]
    assert listed + left_out == 3000 and listed > 100


def test_a_comment_without_verdicts_shows_the_trials_and_no_counts() -> None:
    text = audit_markdown(audit_document(passed=False))
    assert "Self-test FAILED: 105 of 112" in text and "25/32" in text
    assert "Flagged" not in text and "No item has a verdict" in text


# All of them


def test_when_one_output_cannot_be_made_none_is_written(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        write_audit(WHOLE, [tmp_path / "a.json", tmp_path / "a.txt"], Gate(), tmp_path, item_texts(WHOLE))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", ["json", "csv", "md", "html", "sarif"])
def test_every_output_names_its_population_and_is_no_claim_of_truth(tmp_path: Path, ending: str) -> None:
    path = tmp_path / "out" / f"audit.{ending}"
    for document in (WHOLE, audit_document(passed=False)):
        write_audit(document, [path], Gate(), tmp_path, item_texts(document))
        text = path.read_text(encoding="utf-8")
        assert "terms" in text and "1.2" in text and document.benchmark.content_hash in text
        assert "22" in text
        if ending != "json":  # the document is data; what it means stands in its schema
            assert "provenance, not truth" in text or "not whether the answer is true" in text


def test_a_cell_of_the_csv_has_nothing_that_a_terminal_would_obey() -> None:
    assert (
        spreadsheet_safe("a \x1b[31mred\x1b[0m\x00 \u202eb\x9b")
        == "a \ufffd[31mred\ufffd[0m\ufffd \ufffdb\ufffd"
    )
    assert spreadsheet_safe("one\r\ntwo\tthree") == "one\ntwo\tthree"
    text = audit_csv(WHOLE)
    assert not set(text) & set(map(chr, [*range(9), *range(14, 32), *range(127, 160)]))
