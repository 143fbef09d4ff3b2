"""Items may be left out by an audit's verdict or by name, in any command, and every report says so."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from leadline.audit.document import (
    AuditDocument,
    AuditedBenchmark,
    Failure,
    ItemVerdict,
    Route,
    SelfTest,
    State,
    Trial,
)
from leadline.audit.evidence_hash import evidence_hash
from leadline.bench import load_benchmark
from tests.study import stored
from tests.study.conftest import Leadline
from tests.study.small import change, items, small_study, write_items

# i01 lacks its evidence, i03 is computational, i04 could not be checked.
FAILURES = {"i01": Failure.EVIDENCE_ABSENT, "i03": Failure.COMPUTATIONAL}
UNCHECKED = {"i04"}


def audit_of(folder: Path, *, passed: bool = True, content_hash: str | None = None) -> Path:
    """audit.json of the small study's items."""
    benchmark = load_benchmark(folder / "items.jsonl")
    document = AuditDocument(
        leadline_version="0",
        created=datetime.now(UTC),
        benchmark=AuditedBenchmark(
            name=benchmark.name,
            version=benchmark.version,
            path="items.jsonl",
            content_hash=content_hash or benchmark.content_hash,
            evidence_hash=evidence_hash(benchmark.items),
            items=len(benchmark.items),
            sources=0,
        ),
        self_test=SelfTest(passed=passed, trials=(Trial(name="a planted quote passes", tried=1, right=1),)),
        items=tuple(
            ItemVerdict(
                item=item.id,
                state=State.NOT_CHECKABLE if item.id in UNCHECKED else State.PRESENT,
                route=Route.DECLARED,
                quote_in_window=item.id not in FAILURES,
                quote_in_source=True,
                flagged=item.id in FAILURES,
                failure=FAILURES.get(item.id),
            )
            for item in benchmark.items
        ),
    )
    path = folder / "audit.json"
    path.write_text(document.model_dump_json(by_alias=True), "utf-8")
    return path


def asked(folder: Path) -> set[str]:
    return {item for _, item, _, _ in stored.rows(folder)}


def test_a_study_that_excludes_flagged_items_does_not_ask_them(
    tmp_path: Path, model: Path, leadline: Leadline
) -> None:
    folder = small_study(tmp_path, model, exclude={"audit": "audit.json"})
    audit_of(folder)
    assert leadline("run", folder, "--quiet").code == 0
    assert asked(folder) == {"i00", "i02", "i04", "i05"}
    benchmark = stored.findings(folder)["benchmark"]
    assert benchmark["items_asked"] == 4
    assert benchmark["population"] == (
        "4 of 6 items drawn; left out: 2 (evidence absent 1, computational 1); not adjudicated"
    )
    assert benchmark["audit"].startswith("sha256:")
    for name in ("tables.md", "tables.tex", "report.html"):
        assert "left out: 2 (evidence absent 1, computational 1)" in (folder / "report" / name).read_text()


def test_a_report_of_old_answers_can_leave_flagged_items_out(
    tmp_path: Path, model: Path, leadline: Leadline
) -> None:
    folder = small_study(tmp_path, model)
    audit = audit_of(folder)
    ended = leadline("run", folder, "--quiet")
    assert "Population: all 6 items drawn; not audited; not adjudicated." in ended.out
    kept = stored.texts(folder)
    ended = leadline("report", folder, "--audit", audit)
    assert (
        "Population: 4 of 6 items drawn; left out: 2 (evidence absent 1, computational 1); not adjudicated."
        in ended.out
    )
    accuracy = stored.table(stored.findings(folder), "accuracy", "overall")
    assert {row["figures"]["acc"]["denominator"] for row in accuracy} == {4}
    assert stored.texts(folder) == kept


@pytest.mark.parametrize(
    ("words", "left"),
    [
        (["computational"], 5),
        (["not checkable"], 5),
        (["flagged", "not checkable"], 3),
        (["label untraceable"], 6),
    ],
)
def test_each_verdict_excludes_its_own_items(
    tmp_path: Path, model: Path, leadline: Leadline, words: list[str], left: int
) -> None:
    folder = small_study(tmp_path, model, techniques=[], beyond_sampling=None, sampling={"temperatures": []})
    flags = [flag for word in words for flag in ("--exclude", word)]
    ended = leadline("run", folder, "--audit", audit_of(folder), *flags, "--quiet", "--json")
    assert json.loads(ended.out)["benchmark"]["items_asked"] == left
    assert len(asked(folder)) == left


def test_items_are_left_out_by_name(tmp_path: Path, model: Path, leadline: Leadline) -> None:
    folder = small_study(tmp_path, model, techniques=[], exclude={"items": ["i02"]})
    assert leadline("run", folder, "--quiet").code == 0
    assert asked(folder) == {f"i0{n}" for n in (0, 1, 3, 4, 5)}
    assert "named in study.yaml 1" in stored.findings(folder)["benchmark"]["population"]


def test_excluding_exchanges_no_other_items(tmp_path: Path, model: Path, leadline: Leadline) -> None:
    folder = small_study(tmp_path, model, techniques=[], items=4)
    assert leadline("run", folder, "--quiet").code == 0
    before = asked(folder)
    change(folder, exclude={"items": [min(before)]})
    assert leadline("run", folder, "--quiet").code == 0
    assert asked(folder) == before


def test_what_cannot_be_excluded_is_one_line(tmp_path: Path, model: Path, leadline: Leadline) -> None:
    folder = small_study(tmp_path, model)
    audit = audit_of(folder)
    line = 1 + (folder / "study.yaml").read_text().count("\n")

    assert "needs the audit" in leadline("run", folder, "--exclude", "flagged").fault
    assert (
        "did you mean 'computational'?"
        in leadline("run", folder, "--audit", audit, "--exclude", "computationl").fault
    )
    assert "no audit here" in leadline("run", folder, "--audit", tmp_path / "none.json").fault
    assert "not an audit" in leadline("run", folder, "--audit", folder / "items.jsonl").fault

    change(folder, exclude={"items": ["i77"]})
    assert f"study.yaml:{line}: exclude: items has no item 'i77'" in leadline("run", folder).fault
    change(folder, exclude={"audit": "audit.json", "verdicts": ["bad"]})
    assert "exclude.verdicts" in leadline("run", folder).fault
    change(folder, exclude={"items": [f"i0{n}" for n in range(6)]})
    assert "leaves no item to ask" in leadline("run", folder).fault


def test_an_audit_of_other_content_or_without_verdicts_excludes_nothing(
    tmp_path: Path, model: Path, leadline: Leadline
) -> None:
    folder = small_study(tmp_path, model)
    assert "failed its self-test" in leadline("run", folder, "--audit", audit_of(folder, passed=False)).fault
    audit = audit_of(folder)
    entries = items()
    entries[0]["question"] = "Which letters does number 0 really have?"
    write_items(folder / "items.jsonl", entries)
    assert "the audit is of other content" in leadline("run", folder, "--audit", audit).fault
    assert not (folder / "responses.sqlite").exists()


def test_an_audit_of_other_quotes_excludes_nothing(tmp_path: Path, model: Path, leadline: Leadline) -> None:
    folder = small_study(tmp_path, model)
    audit = audit_of(folder)
    entries = items()
    entries[0]["evidence"] = [{"quote": "the letters of number 0"}]
    write_items(folder / "items.jsonl", entries)
    assert "the audit is of other quotes" in leadline("run", folder, "--audit", audit).fault


def test_an_audit_of_a_part_excludes_nothing(tmp_path: Path, model: Path, leadline: Leadline) -> None:
    folder = small_study(tmp_path, model, exclude={"audit": "audit.json"})
    path = audit_of(folder)
    part = json.loads(path.read_text("utf-8"))
    part["items"] = part["items"][:2]
    path.write_text(json.dumps(part), "utf-8")
    assert "the audit has verdicts on 2 of 6 items only" in leadline("run", folder).fault
    assert not (folder / "responses.sqlite").exists()


def test_an_items_own_prompt_is_what_the_model_sees(tmp_path: Path, model: Path, leadline: Leadline) -> None:
    folder = small_study(tmp_path, model, techniques=[])
    assert leadline("run", folder, "--quiet").code == 0
    before = stored.texts(folder)
    entries = items()
    entries[0]["prompt"] = "read {{ window }} now {{ question }}"
    write_items(folder / "items.jsonl", entries)
    assert leadline("run", folder, "--quiet", "--accept-changes").code == 0
    new = {key for key in stored.texts(folder) if key not in before}
    assert new and {item for _, item, _, _ in new} == {"i00"}


def test_a_broken_prompt_of_an_item_is_one_line(tmp_path: Path, model: Path, leadline: Leadline) -> None:
    folder = small_study(tmp_path, model)
    entries = items()
    entries[2]["prompt"] = "{{ windw }} {{ question }}"
    write_items(folder / "items.jsonl", entries)
    fault = leadline("run", folder).fault
    assert f"{folder / 'items.jsonl'}:3: item i02: prompt: " in fault
    assert "windw" in fault and "window" in fault
