"""What people read: a release holds decisions of every outcome, and the packs of its benchmark."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from leadline.bench import load_benchmark
from leadline.bundle.packs import packs_in, read_packs
from leadline.bundle.release import Bundled, bundle_study
from leadline.bundle.verifier.faults import Book
from leadline.bundle.verifier.loading import load_bundle
from leadline.bundle.verifier.packs import check_packs
from leadline.cli.app import app
from leadline.errors import UsageError
from leadline.study.study import open_study
from tests.bundle.decided import READERS, make_decided, make_pack
from tests.bundle.studies import make_bench
from tests.bundle.test_tampering import table

SCORE, SHEET = "score-ada-reader.json", "sheets/ada-reader.csv"


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Bundled:
    """The release of a study with decisions and packs: beside the benchmark, elsewhere, of another one."""
    place = tmp_path_factory.mktemp("read")
    study = make_decided(place / "study", items=24, samples=4)
    beside = study / "bench" / "review" / "packs"
    make_bench(place / "other", 12)
    make_pack(place / "other", beside / "other")
    autumn = make_pack(study / "bench", place / "autumn", seed=1)
    return bundle_study(
        open_study(study), place / "out", packs=[autumn], found_packs=packs_in(beside), say=lambda step: None
    )


@pytest.fixture
def copy(read: Bundled, tmp_path: Path) -> Path:
    return Path(shutil.copytree(read.path, tmp_path / "copy"))


def pack_faults(folder: Path) -> str:
    """What the verifier says of the packs alone; it is asked for all else elsewhere."""
    book = Book()
    bundle = load_bundle(folder, book)
    assert bundle is not None and not book.faults
    check_packs(bundle, book)
    return "\n".join(book.faults)


def test_every_figure_is_recomputed_under_decisions_of_every_outcome(read: Bundled) -> None:
    assert read.verification.is_sound and read.verification.report["not_recomputed"] == []
    assert (read.verification.report["facts"]["decisions"], read.verification.report["facts"]["packs"]) == (
        11,
        2,
    )
    document = json.loads((read.path / "findings.json").read_text(encoding="utf-8"))
    rows = table(document, "adjudication", "both")["rows"]
    counted = read.verification.report["figures"]["adjudication"]
    assert counted["exactly"] + counted["by resampling"] == sum(len(row["figures"]) for row in rows)
    assert counted["not recomputed"] == 0 < counted["by resampling"]
    assert (
        "adjudications: 6 decisions in force (3 upheld, 1 rejected, 2 excluded-ambiguous); "
        "1 stale; 1 unknown; 1 withdrawn" in document["benchmark"]["population"]
    )
    told = json.loads((read.path / "DATASHEET_EXCLUSIONS.json").read_text(encoding="utf-8"))
    assert told["reasons"]["i-004"] == "evidence absent"  # decided on as well: the audit comes first


def test_an_item_that_two_layers_take_is_left_out_by_the_first_one(read: Bundled) -> None:
    told = json.loads((read.path / "DATASHEET_EXCLUSIONS.json").read_text(encoding="utf-8"))
    layers = {one["layer"]: one["left_out"] for one in told["layers"]}
    assert "i-004" in layers["audit"] and layers["adjudication"] == ["i-001", "i-002"]


def test_what_readers_wrote_is_no_html_in_the_datasheet(read: Bundled) -> None:
    text = (read.path / "DATASHEET_EXCLUSIONS.md").read_text(encoding="utf-8")
    assert (
        "Ben &lt;b&gt;Bold&lt;/b&gt;, 2026-03-04: as I read it, number 3 &amp; so" in text
        and "<b>" not in text
    )


def test_packs_of_the_benchmark_are_released_and_others_are_left_out_with_a_word(read: Bundled) -> None:
    assert sorted(path.name for path in (read.path / "packs").iterdir()) == ["autumn", "spring"]
    (remark,) = read.remarks
    assert "pack other is left out: drawn from other content than matters has now" in remark
    names = {
        path.relative_to(read.path / "packs" / "spring").as_posix()
        for path in (read.path / "packs" / "spring").rglob("*")
    }
    assert {"pack.json", "rows.jsonl", "sheet.csv", SCORE, SHEET, "PROTOCOL.md", "pages/001.html"} <= names
    assert not any(name.startswith(".") for name in names)
    listed = (read.path / "CHECKSUMS.sha256").read_text(encoding="utf-8")
    assert f"  packs/spring/{SCORE}\n" in listed and f"  packs/spring/{SHEET}\n" in listed


def test_agreement_is_told_in_the_words_of_its_score(read: Bundled) -> None:
    text = (read.path / "DATA_STATEMENT.md").read_text(encoding="utf-8")
    (line,) = (line for line in text.splitlines() if f"packs/spring/{SCORE}: intra-annotator" in line)
    assert "100.0 % (8/8) [67.6, 100.0] of 8 rows agree; " in line
    assert "This is intra-annotator agreement by the names given and must be reported in those words" in line
    assert "kappa not estimable (8 rows, fewer than 30)" in line
    assert (
        "measured on blind packs, 2 scores" in text
        and "Agreement between annotators: **TO FILL**" not in text
    )
    assert "By the names given author and adjudicator are one: Ada Reader wrote labels, and made" in text


def test_people_are_named_on_purpose_and_counted(read: Bundled) -> None:
    text = (read.path / "PERSONAL_DATA.md").read_text(encoding="utf-8")
    assert "| adjudications.jsonl | 11 decisions | 2 |" in text and "| packs/spring/ | 1 score | 1 |" in text
    assert not any(name in text for name in READERS)
    assert "| sheets of packs | 4 | 4 |" in text and "| decisions on labels | 11 |" in text


@pytest.mark.parametrize(
    ("name", "old", "new", "named"),
    [
        (SHEET, b"yes", b"no", f"{SCORE} is of another sheet than {SHEET}"),
        ("pages/001.html", b"matter", b"master", "pages/001.html is not what the reader was shown"),
        (SCORE, b"sha256:", b"sha256:0", f"{SCORE} is a score of other content"),
        (
            "pack.json",
            b'"content_hash": "sha256:',
            b'"content_hash": "sha256:0',
            "was drawn from other content",
        ),
        ("pack.json", b'"seed": 0', b'"seed": 9', "row 1 is no item of the benchmark"),
        ("pack.json", b'"items": 6', b'"items": 5', "stratum arts, text: 5 items, the benchmark has 6"),
        ("pack.json", b'"drawn": 2', b'"drawn": 1', "its strata are not those of its rows"),
        (
            "pack.json",
            b'"per_stratum": 2',
            b'"per_stratum": 3',
            "stratum arts, text: 2 of 6 items drawn, asked: 3",
        ),
        (SCORE, b'"numerator": 8.0', b'"numerator": 7.0', f"{SCORE}: overall: the share of agreement"),
        (SCORE, b'"intra-annotator', b'"inter-annotator', f"{SCORE}: calls intra-annotator agreement"),
    ],
)
def test_a_falsified_pack_is_named(copy: Path, name: str, old: bytes, new: bytes, named: str) -> None:
    path = copy / "packs" / "spring" / name
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new))
    assert f"pack: packs/spring: {named}" in pack_faults(copy)


def changed(path: Path, change: Callable[[Any], object]) -> None:
    told = json.loads(path.read_text("utf-8"))
    change(told)
    path.write_text(json.dumps(told, ensure_ascii=False), "utf-8")


def test_a_pack_has_the_files_of_its_rows_and_no_others(copy: Path) -> None:
    pack = copy / "packs" / "spring"
    (pack / "pages" / "key.html").write_text("the key", "utf-8")
    assert "packs/spring: pages/key.html is no file of a pack" in pack_faults(copy)
    changed(pack / "pack.json", lambda head: head["files"].pop("pages/001.html"))
    assert "pack.json names other files than a pack of its rows has" in pack_faults(copy)


def test_a_row_that_asked_for_another_form_of_answer_is_named(copy: Path) -> None:
    pack = copy / "packs" / "spring"
    lines = (pack / "rows.jsonl").read_bytes().split(b"\n")
    lines[0] = json.dumps({**json.loads(lines[0]), "unit": "furlong"}).encode()
    (pack / "rows.jsonl").write_bytes(b"\n".join(lines))

    def again(head: Any) -> None:
        head["rows"][0]["sha256"] = hashlib.sha256(lines[0]).hexdigest()
        head["files"]["rows.jsonl"] = hashlib.sha256((pack / "rows.jsonl").read_bytes()).hexdigest()

    changed(pack / "pack.json", again)
    assert "row 1 shows another question, text or form of answer" in pack_faults(copy)


def test_a_sheet_that_is_none_gives_no_score_whatever_its_checksum(copy: Path) -> None:
    pack = copy / "packs" / "spring"
    (pack / SHEET).write_text("x", "utf-8")
    changed(pack / SCORE, lambda score: score.update(sheet=hashlib.sha256(b"x").hexdigest()))
    assert f"{SCORE}: its sheet has not every row of the pack" in pack_faults(copy)


def test_the_data_statement_tells_each_score_as_it_is(copy: Path) -> None:
    path = copy / "DATA_STATEMENT.md"
    text = path.read_text("utf-8")
    path.write_text(text.replace("must be reported in those words", "may be reported"), "utf-8")
    assert f"{SCORE}: DATA_STATEMENT.md does not tell its share of agreement" in pack_faults(copy)
    path.write_text(text.replace("100.0 % (8/8)", "99.0 % (8/8)"), "utf-8")
    assert "DATA_STATEMENT.md does not tell its share of agreement" in pack_faults(copy)


@pytest.mark.parametrize("name", ["pack.json", SCORE])
def test_what_is_nested_without_end_is_no_pack(copy: Path, name: str) -> None:
    (copy / "packs" / "spring" / name).write_text("[" * 100_000, "utf-8")
    assert "packs/spring: is no pack: ValueError is nested deeper" in pack_faults(copy)


def test_what_somebody_left_in_a_pack_is_not_released(tmp_path: Path) -> None:
    bench = make_bench(tmp_path / "bench", 8)
    own = make_pack(tmp_path / "bench", tmp_path / "spring")
    (own / "key.html").write_text("the key", "utf-8")
    ((pack,), _) = read_packs(bench, [own])
    assert "key.html" not in pack.files and {"pack.json", "pages/001.html", SCORE, SHEET} <= set(pack.files)


def test_a_pack_or_a_score_that_is_gone_is_missed(copy: Path) -> None:
    (copy / "packs" / "spring" / SCORE).unlink()
    shutil.rmtree(copy / "packs" / "autumn")
    said = pack_faults(copy)
    assert "packs/spring: its scores are not those that manifest.json names" in said
    assert "packs/autumn: only one of the folder and manifest.json has this pack" in said


def test_a_named_pack_has_to_fit(tmp_path: Path) -> None:
    bench = make_bench(tmp_path / "bench", 8)
    make_bench(tmp_path / "other", 12)
    foreign = make_pack(tmp_path / "other", tmp_path / "foreign")
    own, again = (make_pack(tmp_path / "bench", tmp_path / name / "spring") for name in ("one", "two"))
    with pytest.raises(UsageError, match="the pack was drawn from other content than matters has now"):
        read_packs(bench, [foreign])
    with pytest.raises(UsageError, match="no pack here: there is no pack"):
        read_packs(bench, [tmp_path])
    with pytest.raises(UsageError, match="there are two packs called spring"):
        read_packs(bench, [own, again])
    assert [pack.name for pack in read_packs(bench, [own], [own])[0]] == ["spring"]
    (own / SHEET).rename(tmp_path / "kept")
    assert read_packs(bench, [own])[1] == [
        f"pack spring: the sheet that {SCORE} is of does not lie in the pack"
    ]
    (own / SHEET).symlink_to(tmp_path / "kept")
    with pytest.raises(UsageError, match="is a link, and a release holds files"):
        read_packs(bench, [own])
    assert load_benchmark(tmp_path / "bench").content_hash == bench.content_hash


def test_the_command_refuses_a_pack_of_another_benchmark_in_one_line(read: Bundled, tmp_path: Path) -> None:
    study, foreign = (
        read.path.parent / "study",
        read.path.parent / "study" / "bench" / "review" / "packs" / "other",
    )
    ended = CliRunner().invoke(app, ["bundle", str(study), str(tmp_path / "out"), "--pack", str(foreign)])
    assert isinstance(ended.exception, UsageError) and "drawn from other content" in str(ended.exception)
    assert list(tmp_path.iterdir()) == []
