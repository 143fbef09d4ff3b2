"""A release of a study whose labels people decided on: its verifier lays the decisions over the items."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from leadline.bench import load_benchmark
from leadline.bench.adjudications import (
    FILE,
    Adjudication,
    add_adjudication,
    label_hash,
    read_adjudications,
)
from leadline.bundle.release import Bundled, bundle_study
from leadline.bundle.running import verify_bundle
from leadline.bundle.verifier.decisions import DECISIONS as DECISIONS_FILE
from leadline.bundle.verifier.decisions import check_decisions, load_decisions
from leadline.bundle.verifier.faults import Book
from leadline.bundle.verifier.loading import load_bundle
from leadline.errors import UsageError
from leadline.study.recording import RecordedAnswer, record
from leadline.study.study import open_study
from tests.bundle.conftest import seal
from tests.bundle.test_tampering import Line, edit_findings, edit_lines, faults, table
from tests.study import small

RIGHT, WRONG = "Rhine", "Oder"
# What was decided of which item; i0's label is wrong, and all configurations say so.
DECISIONS: tuple[tuple[str, Any, str | None], ...] = (
    ("i0", "upheld", WRONG),
    ("i1", "excluded-ambiguous", None),
    ("i2", "upheld", None),
    ("i3", "rejected", None),
    ("i4", "excluded-ambiguous", None),
    ("i4", "withdrawn", None),
)
YAML = """name: rivers
benchmark: items.jsonl
adjudications: adjudications.jsonl
baseline: once
stability: {rarefy: 2, top: [2], permutations: 100}
"""


def make_rivers(folder: Path) -> Path:
    """Nine items of two categories, two configurations of three answers and one of a single answer."""
    folder.mkdir(parents=True)
    entries = [
        {"id": f"i{at}", "question": f"Which river is {at}?", "answer": RIGHT, "category": f"c{at % 2}"}
        for at in range(9)
    ]
    small.write_items(folder / "items.jsonl", entries)
    (folder / "study.yaml").write_text(YAML, encoding="utf-8")
    (folder / FILE).touch()
    for model, name, samples in (("aye", "plain", 3), ("bee", "plain", 3), ("aye", "once", 1)):
        said = [
            RecordedAnswer(f"i{at}", sample, WRONG if at < 3 or (at == 7 and sample == 1) else RIGHT)
            for at in range(9)
            for sample in range(samples)
        ]
        record(folder, model, name, {}, said)
    items = load_benchmark(folder / "items.jsonl").by_id
    for number, (item, outcome, corrected) in enumerate(DECISIONS):
        decision = Adjudication(
            item=item,
            outcome=outcome,
            reader="Ada",
            date=f"2026-03-{number + 1:02d}",
            reason=f"as the text has it, {number}",
            label=label_hash(items[item]),
            corrected=corrected,
        )
        add_adjudication(folder / FILE, decision)
    add_adjudication(
        folder / FILE,
        Adjudication(
            item="i5",
            outcome="upheld",
            reader="Ben",
            date="2026-04-01",
            reason="of an older label",
            label=f"sha256:{'0' * 64}",
        ),
    )
    return folder


@pytest.fixture(scope="module")
def rivers(tmp_path_factory: pytest.TempPathFactory) -> Bundled:
    study = make_rivers(tmp_path_factory.mktemp("rivers") / "study")
    return bundle_study(open_study(study), study.parent / "release", say=lambda step: None)


@pytest.fixture
def copy(rivers: Bundled, tmp_path: Path) -> Path:
    """A copy of the release, to be tampered with."""
    return Path(shutil.copytree(rivers.path, tmp_path / "copy"))


def edit_json(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    held = json.loads(path.read_text(encoding="utf-8"))
    change(held)
    path.write_text(json.dumps(held, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def decide_otherwise(folder: Path, change: Callable[[list[Line]], list[Line]]) -> None:
    """Change the decisions, and all checksums with them, as whoever tampers with care does."""
    edit_lines(folder / FILE, change)
    digest = f"sha256:{hashlib.sha256((folder / FILE).read_bytes()).hexdigest()}"
    edit_findings(folder, lambda document: document["benchmark"].update(adjudications=digest))
    edit_json(folder / "manifest.json", lambda held: held["benchmark"].update(adjudications=digest))
    seal(folder)


def line_of(lines: list[Line], item: str) -> Line:
    return next(line for line in lines if line["item"] == item)


def test_the_finding_on_adjudication_is_recomputed(rivers: Bundled) -> None:
    report = rivers.verification.report
    assert report["figures"]["adjudication"]["not recomputed"] == 0
    assert (
        report["figures"]["adjudication"]["exactly"] + report["figures"]["adjudication"]["by resampling"]
        == 32
    )
    assert report["figures"]["adjudication"]["claims"] == 1 and report["facts"]["decisions"] == 7
    figures = table(json.loads((rivers.path / "findings.json").read_text()), "adjudication", "both")["rows"][
        0
    ]["figures"]
    # Of nine items three are wrong by the labels as they were; of these one is taken right, two are out.
    assert (figures["acc_labelled"]["numerator"], figures["acc_labelled"]["denominator"]) == (12, 18)
    assert (figures["acc_adjudicated"]["numerator"], figures["acc_adjudicated"]["denominator"]) == (14, 14)


def test_its_items_keep_the_labels_as_they_were_annotated(rivers: Bundled) -> None:
    released = load_benchmark(rivers.path / "benchmark")
    assert {item.answer for item in released.items} == {RIGHT}
    assert (rivers.path / FILE).read_bytes() == (rivers.path.parent / "study" / FILE).read_bytes()


def test_the_datasheet_has_a_layer_of_people_and_says_who_decided_what(rivers: Bundled) -> None:
    told = json.loads((rivers.path / "DATASHEET_EXCLUSIONS.json").read_text(encoding="utf-8"))
    layers = {one["layer"]: (one["items"], one["left_out"]) for one in told["layers"]}
    assert list(layers) == ["as annotated", "drawn", "audit", "named", "adjudication", "unmeasured"]
    assert layers["adjudication"] == (7, ["i1", "i2"])
    assert [(one["item"], one["label"], one["corrected"]) for one in told["decisions"]["applied"]] == [
        ("i0", RIGHT, WRONG), ("i1", RIGHT, None), ("i2", RIGHT, None), ("i3", RIGHT, None)
    ]  # fmt: skip
    assert told["decisions"]["stale"] == ["i5"]
    text = (rivers.path / "DATASHEET_EXCLUSIONS.md").read_text(encoding="utf-8")
    assert f"- `i0`: {RIGHT} → {WRONG}; Ada, 2026-03-01: as the text has it, 0\n" in text
    assert "- `i1`: adjudicated ambiguous; Ada, 2026-03-02: as the text has it, 1\n" in text


def test_readings_say_what_was_right_before_only_where_that_differs(rivers: Bundled) -> None:
    lines = [json.loads(line) for line in (rivers.path / "readings.jsonl").read_text("utf-8").splitlines()]
    said = {line["item"] for line in lines if "correct_labelled" in line}
    assert said == {"i0"}
    assert all(line["correct"] and not line["correct_labelled"] for line in lines if line["item"] == "i0")


def test_readers_are_counted_as_named_on_purpose(rivers: Bundled) -> None:
    text = (rivers.path / "PERSONAL_DATA.md").read_text(encoding="utf-8")
    assert "| adjudications.jsonl | 7 decisions | 2 |" in text and "Ada" not in text
    assert "| adjudications.jsonl | TO FILL" in (rivers.path / "LICENCES.md").read_text(encoding="utf-8")


def test_a_decision_changed_alone_is_not_the_file_that_the_findings_name(copy: Path) -> None:
    edit_lines(copy / FILE, lambda lines: [{**line, "reader": "Eve"} for line in lines])
    seal(copy)
    assert f"{FILE} is not the file that findings.json names" in faults(copy)


@pytest.mark.parametrize(
    ("item", "change", "named"),
    [
        ("i1", {"outcome": "rejected"}, "i1 is left out as adjudicated ambiguous; no decision in force"),
        ("i1", {"outcome": "upheld"}, "i1 is left out as adjudicated ambiguous; by adjudications.jsonl it"),
        ("i2", {"label": f"sha256:{'1' * 64}"}, "i2 is left out as adjudicated wrong; no decision in force"),
        ("i0", {"corrected": "Elbe"}, "i0, sample 0: correct is True, read again from the text it is False"),
        ("i0", {"corrected": None}, "i0 is in the population; adjudications.jsonl takes it out"),
        ("i3", {"reason": "for no reason"}, "the decision on item i3 is not as Ada made it"),
        ("i3", {"reader": "Eve"}, "the decision on item i3 is not as Eve made it"),
        ("i3", {"outcome": "withdrawn"}, "nobody made this decision on item i3"),
        ("i3", {"outcome": "perhaps"}, f"{FILE}:4: no such outcome is known: perhaps"),
        ("i5", {"outcome": "withdrawn"}, "1 excluded-ambiguous); 2 withdrawn"),
    ],
)  # fmt: skip
def test_a_falsified_decision_is_named(copy: Path, item: str, change: Line, named: str) -> None:
    def falsify(lines: list[Line]) -> list[Line]:
        line_of(lines, item).update(change)
        return [{key: value for key, value in line.items() if value is not None} for line in lines]

    decide_otherwise(copy, falsify)
    assert named in faults(copy)


def test_a_line_that_a_sudden_end_cut_off_is_nobodys_decision(copy: Path) -> None:
    book = Book()
    bundle = load_bundle(copy, book)
    assert bundle is not None
    load_decisions(bundle, book)
    path = copy / DECISIONS_FILE
    path.write_bytes(path.read_bytes() + b'{"item": "r1", "outc')
    bundle.document["benchmark"]["adjudications"] = f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
    before = dict(bundle.decisions.standing)
    load_decisions(bundle, book)
    assert bundle.decisions.standing == before and not book.faults
    assert len(read_adjudications(path)) == bundle.decisions.lines
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(UsageError, match="is no JSON object"):
        read_adjudications(path)


def test_a_decision_on_another_text_than_the_release_holds_is_named(copy: Path) -> None:
    book = Book()
    bundle = load_bundle(copy, book)
    assert bundle is not None
    load_decisions(bundle, book)
    source = copy / "benchmark" / "sources" / "a.txt"
    source.parent.mkdir(exist_ok=True)
    source.write_bytes(b"the text")
    item, decision = next(iter(bundle.decisions.standing.items()))
    decision["read"] = {"source": "a.txt", "sha256": hashlib.sha256(b"the text").hexdigest()}
    check_decisions(bundle, book)
    assert not book.faults
    source.write_bytes(b"another text")
    check_decisions(bundle, book)
    assert book.faults == [f"adjudication: item {item} was decided on another text of a.txt than lies here"]


def test_a_decision_that_was_taken_back_twice_over_stays_the_last_one(copy: Path) -> None:
    decide_otherwise(copy, lambda lines: [line for line in lines if line["outcome"] != "withdrawn"])
    assert "item i4 is in the population; adjudications.jsonl takes it out" in faults(copy)


def test_decisions_that_are_gone_are_missed_and_decisions_that_nobody_names_are_found(copy: Path) -> None:
    (copy / FILE).rename(copy / "kept")
    seal(copy)
    assert f"{FILE} is missing" in faults(copy)
    (copy / "kept").rename(copy / FILE)
    edit_findings(copy, lambda document: document["benchmark"].update(adjudications=""))
    seal(copy)
    assert f"{FILE} is there, and findings.json names none" in faults(copy)


def test_an_item_that_is_put_back_is_named(copy: Path) -> None:
    def back(held: dict[str, Any]) -> None:
        held["bundle"]["excluded"].pop("i1")
        held["bundle"]["items"] = sorted([*held["bundle"]["items"], "i1"])

    edit_json(copy / "manifest.json", back)
    edit_json(copy / "DATASHEET_EXCLUSIONS.json", lambda told: told["reasons"].pop("i1"))
    edit_lines(
        copy / "readings.jsonl",
        lambda lines: [
            {key: value for key, value in line.items() if key != "excluded" or line["item"] != "i1"}
            for line in lines
        ],
    )
    seal(copy)
    assert "item i1 is in the population; adjudications.jsonl takes it out (adjudicated ambiguous)" in faults(
        copy
    )


def test_a_corrected_label_that_was_not_applied_is_named(copy: Path) -> None:
    def by_the_old_one(lines: list[Line]) -> list[Line]:
        for line in lines:
            if line.pop("correct_labelled", None) is not None:
                line.pop("correct")
        return lines

    edit_lines(copy / "readings.jsonl", by_the_old_one)
    seal(copy)
    assert "item i0, sample 0: correct is False, read again from the text it is True" in faults(copy)


def test_what_was_right_by_the_label_before_is_read_again(copy: Path) -> None:
    edit_lines(
        copy / "readings.jsonl",
        lambda lines: [
            {key: value for key, value in line.items() if key != "correct_labelled"} for line in lines
        ],
    )
    seal(copy)
    assert "item i0, sample 0: correct_labelled is True, by the first label it is False" in faults(copy)


def test_another_word_for_what_was_decided_is_named(copy: Path) -> None:
    def other(lines: list[Line]) -> list[Line]:
        return [{**line, "adjudication": "corrected"} if line["item"] == "i6" else line for line in lines]

    edit_lines(copy / "readings.jsonl", other)
    seal(copy)
    assert "item i6: readings.jsonl says corrected of its label, adjudications.jsonl nothing" in faults(copy)


def test_labels_that_were_overwritten_are_not_those_that_were_annotated(copy: Path) -> None:
    def overwrite(lines: list[Line]) -> list[Line]:
        lines[0]["answer"] = WRONG
        return lines

    edit_lines(copy / "benchmark" / "items.jsonl", overwrite)
    seal(copy)
    assert "benchmark: the items are not those of" in faults(copy)


@pytest.mark.parametrize(
    ("figure", "change", "named"),
    [
        ("acc_change", {"value": 0.2}, "acc_change: value is 0.2"),
        ("acc_labelled", {"numerator": 19}, "acc_labelled: numerator is 19, recomputed 12"),
        ("wobble_change", {"high": 0.033}, "wobble_change: high is 0.033, resampled about"),
        ("taken_right", {"value": 0.5}, "taken_right: value is 0.5, recomputed 0"),
        ("taken_items", {"value": 3, "numerator": 3}, "taken_items: value is 3, recomputed 2"),
    ],
)
def test_a_falsified_figure_of_the_finding_is_named(
    copy: Path, figure: str, change: Line, named: str
) -> None:
    def falsify(document: dict[str, Any]) -> None:
        table(document, "adjudication", "both")["rows"][0]["figures"][figure].update(change)

    edit_findings(copy, falsify)
    seal(copy)
    said = faults(copy)
    assert f"adjudication, both, all models: configuration all configurations: {named}" in said


def test_a_finding_that_was_dropped_a_claim_and_a_sentence_that_were_changed_are_named(copy: Path) -> None:
    whole = (copy / "findings.json").read_bytes()
    edit_findings(copy, lambda document: document["findings"].remove(table(document, "adjudication", "both")))
    seal(copy)
    assert "adjudication, both, all models is missing" in faults(copy)
    (copy / "findings.json").write_bytes(whole)

    def better(document: dict[str, Any]) -> None:
        table(document, "adjudication", "both")["claims"][0]["status"] = "supported"
        told = document["benchmark"]["population"]
        document["benchmark"]["population"] = told.replace("labels corrected: 1; ", "")

    edit_findings(copy, better)
    seal(copy)
    said = faults(copy)
    assert "it is called supported; the figures make it unreachable by construction" in said
    assert "description: population: findings.json says" in said


@pytest.mark.parametrize("name", ["DATASHEET_EXCLUSIONS.json", "DATASHEET_EXCLUSIONS.md"])
def test_a_reason_that_was_changed_in_the_datasheet_is_named(copy: Path, name: str) -> None:
    text = (copy / name).read_text(encoding="utf-8")
    assert text.count("as the text has it, 2") == 1
    (copy / name).write_text(text.replace("as the text has it, 2", "nobody knows"), encoding="utf-8")
    seal(copy)
    said = faults(copy)
    assert f"exclusion: {name}" in said and "i2" in said


def test_a_study_that_follows_no_decisions_is_released_without_a_word_of_them(tmp_path: Path) -> None:
    study = make_rivers(tmp_path / "study")
    made = bundle_study(
        open_study(study, adjudications=Path("none")), tmp_path / "out", say=lambda step: None
    )
    names = {path.name for path in made.path.rglob("*")}
    assert FILE not in names and "packs" not in names
    for name in ("DATASHEET_EXCLUSIONS.md", "DATASHEET_EXCLUSIONS.json", "PERSONAL_DATA.md", "LICENCES.md",
                 "DATA_STATEMENT.md", "README.md"):  # fmt: skip
        text = (made.path / name).read_text(encoding="utf-8").replace("not adjudicated", "")
        assert "djudicat" not in text and "ecision" not in text, name
    lines = (made.path / "readings.jsonl").read_text(encoding="utf-8")
    assert "correct_labelled" not in lines and "adjudication" not in lines


def test_a_release_from_before_there_were_decisions_is_still_verified(tmp_path: Path) -> None:
    study = make_rivers(tmp_path / "study")
    made = bundle_study(
        open_study(study, adjudications=Path("none")), tmp_path / "out", say=lambda step: None
    )
    for name in ("findings.json", "manifest.json"):
        edit_json(made.path / name, lambda held: held["benchmark"].pop("adjudications"))
        said = (made.path / name).read_text(encoding="utf-8").replace("; not adjudicated", "")
        (made.path / name).write_text(said, encoding="utf-8")
    seal(made.path)
    assert verify_bundle(made.path).is_sound
