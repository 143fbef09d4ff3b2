"""What a release says of itself, beside its figures, cannot be changed without notice either."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from leadline.bundle.pages import check_parquet
from leadline.bundle.running import verify_bundle
from leadline.bundle.verifier.program import verify
from tests.bundle.conftest import seal
from tests.bundle.test_tampering import Line, edit_findings, edit_lines, table

Change = Callable[[dict[str, Any]], None]


def _claim(document: dict[str, Any]) -> dict[str, Any]:
    """One whose words hold a share in per cent."""
    claims = [claim for one in document["findings"] for claim in one["claims"]]
    return next(claim for claim in claims if re.search(r"\d\.\d %", claim["text"]))


def _other_words(document: dict[str, Any]) -> None:
    claim = _claim(document)
    claim["text"] = re.sub(r"\d+\.\d %", "99.87 %", claim["text"])


def _twice(document: dict[str, Any]) -> None:
    found = next(one for one in document["findings"] if one["claims"])
    found["claims"].append(dict(found["claims"][0]))


FINDINGS: dict[str, tuple[Change, str]] = {
    "rule of correctness": (lambda d: d.update(correctness="words: something else"), "correctness"),
    "schema": (lambda d: d.update({"schema": "leadline.findings/2"}), "schema"),
    "settings": (lambda d: d["configurations"][0]["settings"].update(temperature=0.1), "settings"),
    "samples": (lambda d: d["configurations"][0].update(samples=99), "samples"),
    "items asked": (lambda d: d["benchmark"].update(items_asked=9999), "items_asked"),
    "population": (lambda d: d["benchmark"].update(population="all 700 items drawn; audited"), "population"),
    "number in a claim": (_other_words, "no figure of it is 99.87"),
    "claim told twice": (_twice, "stands there twice"),
    "point of a claim": (lambda d: _claim(d).update(point="99.87 %"), "no figure of it is 99.87"),
    "conservative reading": (lambda d: _claim(d).update(conservative="at least 99.87 %"), "99.87"),
    "method": (
        lambda d: table(d, "wobble", "overall")["rows"][0]["figures"]["wobble"].update(method="by eye"),
        "no such method",
    ),
    "draws": (
        lambda d: table(d, "wobble", "overall")["rows"][-1]["figures"]["wobble"].update(
            method="bootstrap over items, 90000 draws, seed 0"
        ),
        "is not the protocol's",
    ),
}


@pytest.mark.parametrize("name", FINDINGS)
def test_a_change_of_the_findings_is_named(copy: Path, name: str) -> None:
    change, said = FINDINGS[name]
    edit_findings(copy, change)
    seal(copy)
    faults = "\n".join(verify(copy).faults)
    assert said in faults, faults


def _edit_json(path: Path, change: Change) -> None:
    document = json.loads(path.read_text(encoding="utf-8"))
    change(document)
    path.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")


def test_times_of_answers_lie_within_runs(copy: Path) -> None:
    _edit_json(copy / "manifest.json", lambda manifest: manifest.update(runs=[]))
    assert "no run of manifest.json was under way" in "\n".join(verify(copy).faults)


def test_both_files_of_the_datasheet_are_counted_again(copy: Path) -> None:
    _edit_json(copy / "DATASHEET_EXCLUSIONS.json", lambda told: told["layers"][2]["left_out"].pop())
    path = copy / "DATASHEET_EXCLUSIONS.md"
    path.write_text(path.read_text("utf-8").replace("| drawn | chosen", "| drawn | fairly chosen"), "utf-8")
    faults = "\n".join(verify(copy).faults)
    assert "DATASHEET_EXCLUSIONS.json: not as counted again: audit" in faults
    assert "DATASHEET_EXCLUSIONS.md: not as counted again" in faults


def test_a_name_that_stands_twice_in_an_object_is_refused(copy: Path) -> None:
    path = copy / "findings.json"
    path.write_text(path.read_text("utf-8").replace('"findings":', '"findings": [], "findings":', 1), "utf-8")
    assert "the name 'findings' stands twice" in "\n".join(verify(copy).faults)


def test_a_file_that_is_no_parquet_is_seen_without_any_package(copy: Path) -> None:
    (copy / "responses.parquet").write_bytes(b"junk")
    assert "responses.parquet is no Parquet file" in "\n".join(verify(copy).faults)


def test_leadline_verify_compares_parquet_and_page(copy: Path) -> None:
    def later(lines: list[Line]) -> list[Line]:
        return [{**line, "created": 0.5 + line["created"]} if "created" in line else line for line in lines]

    edit_lines(copy / "responses.jsonl", later)
    page = copy / "report.html"
    page.write_text(
        re.sub(r"(<td[^>]*>)\d+\.\d %", r"\g<1>123.4 %", page.read_text("utf-8"), count=1), "utf-8"
    )
    seal(copy)
    faults = "\n".join(verify_bundle(copy).report["faults"])
    assert "parquet: row 1" in faults and "report.html shows 123.4 %" in faults


def test_a_configuration_is_what_its_id_is_the_hash_of() -> None:
    from leadline.bundle.verifier.described import id_of
    from leadline.study.configuration import configuration_id

    description = {"model": {"digest": "sha256:0"}, "settings": {"temperature": 0.7}, "style": "few-shot"}
    assert id_of(description) == configuration_id(description)
    assert id_of({**description, "style": "chat"}) != configuration_id(description)


def test_answers_that_are_packed_where_no_release_has_them_packed_are_told_in_words(tmp_path: Path) -> None:
    pl.DataFrame({"item": ["a"]}).write_parquet(tmp_path / "responses.parquet")
    (tmp_path / "responses.jsonl.gz").write_bytes(gzip.compress(b'{"item": "a"}\n'))
    (fault,) = check_parquet(tmp_path)
    assert "there is no responses.jsonl" in fault
