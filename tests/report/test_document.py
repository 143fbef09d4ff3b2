"""findings.json: what goes in comes out, and what is wrong is named."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from leadline.errors import LeadlineError, UsageError
from leadline.report.atomic import write_text
from leadline.report.document import findings_schema, load_findings, row_figures, write_findings
from tests.report.conftest import Written

DOCS = Path(__file__).parents[2] / "docs"


def test_findings_come_back_as_they_were_written(written: Written) -> None:
    assert load_findings(written.paths.findings) == written.document


def test_the_published_schema_is_the_one_of_the_code_and_the_file_obeys_it(written: Written) -> None:
    published = json.loads((DOCS / "findings.schema.json").read_text(encoding="utf-8"))
    assert published == findings_schema()
    jsonschema.Draft202012Validator.check_schema(published)
    findings = json.loads(written.paths.findings.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(published).validate(findings)
    findings["findings"][0]["rows"][0]["figures"]["acc"]["value"] = "many"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(published).validate(findings)


def test_figures_keep_every_digit(written: Written) -> None:
    loaded = json.loads(written.paths.findings.read_text(encoding="utf-8"))
    for raw, finding in zip(loaded["findings"], written.document.findings, strict=True):
        for raw_row, row in zip(raw["rows"], finding.rows, strict=True):
            assert {key: entry["value"] for key, entry in raw_row["figures"].items()} == {
                key: figure.value for key, figure in row.figures.items()
            }


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "findings.json:1: not JSON"),
        ("[]", "schema is None"),
        ('{"schema": "leadline.findings/99"}', "schema is 'leadline.findings/99'"),
        ('{"schema": "leadline.findings/1", "study": "x"}', "leadline_version: Field required"),
    ],
)
def test_a_wrong_file_is_named_in_one_line(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "findings.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=r"^[^\n]+$") as caught:
        load_findings(path)
    assert complaint in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no findings here"):
        load_findings(tmp_path / "findings.json")


def test_a_failed_write_leaves_the_old_file_and_no_rubbish(
    written: Written, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "findings.json"
    write_text(path, "old\n")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("leadline.report.atomic.os.fsync", full)
    with pytest.raises(LeadlineError, match="No space left on device"):
        write_findings(written.document, path)
    assert path.read_text(encoding="utf-8") == "old\n"
    assert [entry.name for entry in tmp_path.iterdir()] == ["findings.json"]


def test_a_row_is_found_by_all_its_keys(written: Written) -> None:
    rates = written.document.finding("beyond_sampling", "rates", "small")
    assert rates is not None
    figures = row_figures(rates, temperature="1.2", method="genread")
    assert figures == next(
        r.figures for r in rates.rows if r.keys == {"temperature": "1.2", "method": "genread"}
    )
    assert row_figures(rates, temperature="9", method="genread") == {}
    assert row_figures(None, method="genread") == {}
