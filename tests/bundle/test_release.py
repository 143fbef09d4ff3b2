from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import polars as pl
import pytest

from leadline.bench import Item, load_benchmark
from leadline.bundle.personal_data import account
from leadline.bundle.private import without_places
from leadline.bundle.release import Bundled, bundle_study
from leadline.bundle.running import verify_place
from leadline.errors import LeadlineError, UsageError
from leadline.study.study import open_study
from tests.bundle import studies
from tests.bundle.conftest import seal

FILES = {
    "CHECKSUMS.sha256", "DATASHEET_EXCLUSIONS.json", "DATASHEET_EXCLUSIONS.md", "DATA_STATEMENT.md",
    "LICENCES.md", "PERSONAL_DATA.md", "README.md", "audit.json", "benchmark/benchmark.yaml", "evidence.html",
    "benchmark/items.jsonl", "findings.json", "manifest.json", "readings.jsonl", "report.html",
    "responses.jsonl", "responses.parquet", "study.yaml", "verify.py",
}  # fmt: skip


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_a_release_holds_what_it_says(bundled: Bundled) -> None:
    assert names(bundled.path) == FILES
    assert bundled.verification.is_sound and bundled.verification.is_own_copy


def test_every_figure_is_recomputed(bundled: Bundled) -> None:
    report = bundled.verification.report
    assert report["not_recomputed"] == [] and report["faults"] == []
    recomputed = sum(per["exactly"] + per["by resampling"] for per in report["figures"].values())
    document = json.loads((bundled.path / "findings.json").read_text(encoding="utf-8"))
    assert recomputed == sum(len(row["figures"]) for one in document["findings"] for row in one["rows"])
    assert sum(per["claims"] for per in report["figures"].values()) == sum(
        len(one["claims"]) for one in document["findings"]
    )
    assert report["facts"]["reread"] > 0.9 * report["facts"]["readable"]


def test_every_lens_that_the_study_has_findings_of_is_in_the_count(bundled: Bundled) -> None:
    document = json.loads((bundled.path / "findings.json").read_text(encoding="utf-8"))
    lenses = {one["lens"] for one in document["findings"] if one["rows"] or one["claims"]}
    assert lenses == set(bundled.verification.report["figures"])
    assert {"wobble", "sameness", "transfer", "contrast", "exclusion", "equivalence", "reliability"} <= lenses


def test_its_verify_py_runs_in_a_bare_python(bundled: Bundled) -> None:
    ended = subprocess.run(
        [sys.executable, "-I", "-S", str(bundled.path / "verify.py")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.splitlines()[-1] == "verified"


def test_the_same_study_gives_the_same_bytes_but_for_times(study: Path, bundled: Bundled) -> None:
    again = bundle_study(open_study(study), study.parent / "release-again", say=lambda step: None).path
    timed = {"findings.json", "report.html", "evidence.html", "CHECKSUMS.sha256"}
    for name in FILES - timed:
        assert (again / name).read_bytes() == (bundled.path / name).read_bytes(), name


def test_responses_and_parquet_hold_the_same(bundled: Bundled) -> None:
    lines = [json.loads(line) for line in (bundled.path / "responses.jsonl").read_text("utf-8").splitlines()]
    table = pl.read_parquet(bundled.path / "responses.parquet")
    assert table.height == len(lines)
    assert table["text"].to_list() == [line.get("text") for line in lines]
    assert {line["failure"] for line in lines if "failure" in line} == {"timeout"}
    assert all("text" not in line for line in lines if "failure" in line)


def test_the_benchmark_in_it_is_the_studys(study: Path, bundled: Bundled) -> None:
    assert load_benchmark(bundled.path / "benchmark").content_hash == open_study(study).whole.content_hash


def test_exclusions_are_told_in_order_with_counts_and_ids(bundled: Bundled) -> None:
    told = json.loads((bundled.path / "DATASHEET_EXCLUSIONS.json").read_text(encoding="utf-8"))
    layers = {one["layer"]: one for one in told["layers"]}
    assert list(layers) == ["as annotated", "drawn", "audit", "named", "unmeasured"]
    assert layers["as annotated"]["items"] == layers["drawn"]["items"] == 36
    assert layers["named"]["left_out"] == ["i-007"]
    assert layers["audit"]["items"] == 36 - len(layers["audit"]["left_out"])
    assert set(told["reasons"].values()) == {"named", "evidence absent"}


def test_what_is_not_known_is_marked_and_not_made_up(bundled: Bundled) -> None:
    text = (bundled.path / "DATA_STATEMENT.md").read_text(encoding="utf-8")
    assert "not recorded: 36 items" in text and text.count("**TO FILL**") > 6
    assert "| money | 9 |" in text


def test_personal_data_is_counted_and_never_quoted(bundled: Bundled) -> None:
    text = (bundled.path / "PERSONAL_DATA.md").read_text(encoding="utf-8")
    assert "Jane" not in text
    windows = next(line for line in text.splitlines() if line.startswith("| windows"))
    assert windows.split("|")[4].strip() == "4"  # items 4, 13, 22, 31


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("IN WITNESS\n  /s/ John Roe\n", "signature lines"),
        ("By: ____\nName: John Roe\nTitle: CEO", "signature blocks"),
        ("write to john.roe@example.co.uk.", "e-mail addresses"),
        ("call +44 20 7946 0958 now", "telephone numbers"),
        ("call (555) 123-4567", "telephone numbers"),
    ],
)
def test_personal_data_is_recognised(text: str, kind: str) -> None:
    holding = account("windows", [text]).holding
    assert holding.pop(kind) == 1 and set(holding.values()) == {0}


def test_amounts_and_file_numbers_are_no_telephone_numbers() -> None:
    text = "File No. 333-123456, $1,234,567.89 on 2020-06-05, CIK 0001234567, pages 123-128"
    assert set(account("windows", [text]).holding.values()) == {0}


def test_nothing_of_this_machine_is_in_it(study: Path, bundled: Bundled) -> None:
    for name in names(bundled.path):
        data = (bundled.path / name).read_bytes()
        for place in (f"{Path.home()}/", str(study), str(study.parent)):
            assert place.encode() not in data, (name, place)


def test_a_secret_of_the_environment_stops_the_release(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = "sk-planted-0123456789"
    monkeypatch.setenv("OPENAI_API_KEY", planted)
    (study / "study.yaml").write_text((study / "study.yaml").read_text() + f"# key: {planted}\n")
    try:
        with pytest.raises(
            LeadlineError, match=r"study\.yaml would hold the value of OPENAI_API_KEY"
        ) as raised:
            bundle_study(open_study(study), tmp_path / "out", say=lambda step: None)
    finally:
        text = (study / "study.yaml").read_text()
        (study / "study.yaml").write_text(text[: text.rindex("# key")])
    assert planted not in str(raised.value)
    assert list(tmp_path.iterdir()) == []


def test_a_secret_that_nothing_holds_is_in_no_file(bundled: Bundled) -> None:
    assert os.environ.get("OPENAI_API_KEY", "sk-planted") not in (bundled.path / "manifest.json").read_text()


def test_paths_are_cut_to_their_last_part() -> None:
    assert without_places("audit: /srv/audits/audit.json") == "audit: audit.json"
    assert without_places("C:\\Users\\jane\\model") == "model"
    assert without_places("https://example.org/a/b, 1/2, and/or") == "https://example.org/a/b, 1/2, and/or"


def test_a_zip_is_verified_as_a_folder_is(study: Path, tmp_path: Path) -> None:
    made = bundle_study(open_study(study), tmp_path / "out.zip", packed=True, say=lambda step: None)
    with zipfile.ZipFile(made.path) as archive:
        assert {name.removeprefix("out/") for name in archive.namelist()} == FILES
    assert verify_place(made.path).is_sound
    assert [path.name for path in tmp_path.iterdir()] == ["out.zip"]


def test_sources_are_released_where_that_is_asked_for(study: Path, tmp_path: Path) -> None:
    made = bundle_study(open_study(study), tmp_path / "out", with_sources=True, say=lambda step: None)
    assert len(list((made.path / "benchmark" / "sources").iterdir())) == 36
    assert "are part of this release" in (made.path / "LICENCES.md").read_text(encoding="utf-8")


def test_a_place_that_is_taken_is_refused(study: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is there already"):
        bundle_study(open_study(study), tmp_path, say=lambda step: None)


def test_findings_that_cannot_be_verified_are_not_released(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from leadline.lenses import wobble

    monkeypatch.setattr(wobble, "POOLED", "everybody")
    with pytest.raises(LeadlineError, match=r"could not be verified, nothing was released:\n  row: wobble"):
        bundle_study(open_study(study), tmp_path / "out", say=lambda step: None)
    told = tmp_path / "out.disagreements.txt"
    assert list(tmp_path.iterdir()) == [told]
    assert len(told.read_text(encoding="utf-8").splitlines()) > 1


def test_what_is_no_bundle_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not there"):
        verify_place(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="no bundle here"):
        verify_place(tmp_path)
    (tmp_path / "a.zip").write_bytes(b"no zip")
    with pytest.raises(UsageError, match="cannot be unpacked"):
        verify_place(tmp_path / "a.zip")


def test_files_of_another_form_end_in_a_fault_and_not_in_a_traceback(copy: Path) -> None:
    (copy / "findings.json").write_text('{"benchmark": 3, "configurations": []}', encoding="utf-8")
    seal(copy)
    verification = verify_place(copy)
    assert not verification.is_sound
    assert "another form than expected" in "\n".join(verification.report["faults"])


def test_answers_from_before_a_change_of_the_items_are_released_and_recomputed(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = studies._item

    def amended(number: int) -> Item:
        item = make(number)
        return item.model_copy(update={"window": f"{item.window}Amended.\n"}) if number % 3 == 0 else item

    monkeypatch.setattr(studies, "_item", amended)
    monkeypatch.setattr(
        studies, "YAML", studies.YAML + f"before: {os.path.relpath(study, tmp_path / 'second')}\n"
    )
    second = studies.make_study(tmp_path / "second", items=36, samples=6, seed=5)
    made = bundle_study(open_study(second), tmp_path / "out", say=lambda step: None)
    assert made.verification.report["figures"]["repair"]["by resampling"] > 0
    assert (made.path / "before" / "readings.jsonl").is_file()
