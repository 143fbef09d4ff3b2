"""Whoever changes a release and writes its checksums anew is found out, and the message names the change."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from leadline.bundle.running import verify_bundle
from tests.bundle.conftest import seal

Line = dict[str, Any]


def edit_lines(path: Path, change: Callable[[list[Line]], list[Line]]) -> None:
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in change(lines))
    path.write_text(text, encoding="utf-8")


def edit_findings(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    path = folder / "findings.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    change(document)
    path.write_text(json.dumps(document, ensure_ascii=False, indent=1), encoding="utf-8")


def table(document: dict[str, Any], lens: str, name: str) -> dict[str, Any]:
    return next(one for one in document["findings"] if (one["lens"], one["table"]) == (lens, name))


def faults(folder: Path) -> str:
    verification = verify_bundle(folder)
    assert not verification.is_sound
    return "\n".join(verification.report["faults"])


def a_wrong_text(lines: list[Line]) -> list[Line]:
    """A right answer to a question whose answers are texts is made wrong."""
    place = next(n for n, line in enumerate(lines) if line.get("text", "").startswith("Opus "))
    lines[place]["text"] = "Something else"
    return lines


def test_a_changed_answer_breaks_the_checksums(copy: Path) -> None:
    edit_lines(copy / "responses.jsonl", a_wrong_text)
    assert "checksum: responses.jsonl" in faults(copy)


def test_a_changed_answer_is_found_though_the_checksums_were_written_anew(copy: Path) -> None:
    edit_lines(copy / "responses.jsonl", a_wrong_text)
    seal(copy)
    said = faults(copy)
    assert "checksum" not in said
    assert "reading: " in said and "read again from the text" in said


def test_a_dropped_answer_is_missed(copy: Path) -> None:
    edit_lines(copy / "responses.jsonl", lambda lines: lines[:100] + lines[101:])
    seal(copy)
    assert "there is no response" in faults(copy)


def test_an_answer_dropped_from_both_files_is_missed(copy: Path) -> None:
    edit_lines(copy / "responses.jsonl", lambda lines: lines[:100] + lines[101:])
    edit_lines(copy / "readings.jsonl", lambda lines: lines[:100] + lines[101:])
    seal(copy)
    said = faults(copy)
    assert "manifest.json counts" in said or "responses are declared" in said


def test_a_duplicated_answer_is_seen(copy: Path) -> None:
    edit_lines(copy / "readings.jsonl", lambda lines: [*lines, lines[7]])
    seal(copy)
    assert "a second reading" in faults(copy)


def test_a_changed_count_is_named(copy: Path) -> None:
    def more(document: dict[str, Any]) -> None:
        figure = table(document, "wobble", "overall")["rows"][0]["figures"]["wobble"]
        figure["numerator"] += 1

    edit_findings(copy, more)
    seal(copy)
    assert "wobble, overall, all models: configuration aye · again: wobble: numerator" in faults(copy)


def test_a_changed_wilson_interval_is_named(copy: Path) -> None:
    def narrower(document: dict[str, Any]) -> None:
        figure = table(document, "wobble", "overall")["rows"][0]["figures"]["wobble"]
        figure["low"] += 1e-6

    edit_findings(copy, narrower)
    seal(copy)
    assert "interval: wobble, overall" in faults(copy)


def test_a_changed_bootstrap_interval_is_named(copy: Path) -> None:
    def narrower(document: dict[str, Any]) -> None:
        figure = table(document, "wobble", "overall")["rows"][-1]["figures"]["wobble"]
        assert figure["method"].startswith("bootstrap")
        figure["low"] += 0.3 * (figure["value"] - figure["low"])

    edit_findings(copy, narrower)
    seal(copy)
    said = faults(copy)
    assert "configuration all configurations: wobble: low" in said and "resampled about" in said


def test_a_changed_permutation_p_is_named(copy: Path) -> None:
    def smaller(document: dict[str, Any]) -> None:
        row = table(document, "transfer", "by k")["rows"][0]
        row["figures"]["p"]["value"] = 0.9 if row["figures"]["p"]["value"] < 0.5 else 0.01

    edit_findings(copy, smaller)
    seal(copy)
    assert "transfer, by k" in faults(copy)


def test_changed_nulls_of_families_and_of_categories_are_named(copy: Path) -> None:
    def smaller(document: dict[str, Any]) -> None:
        across = table(document, "transfer", "across families")
        for row in (across["rows"][0], table(document, "worst_category", "trend")["rows"][0]):
            p = row["figures"]["p" if "p" in row["figures"] else "intercept_p"]
            p["value"] = 0.9 if p["value"] < 0.5 else 0.001
        figures = across["rows"][0]["figures"]
        figures["mean"]["low"], figures["null_mean"]["high"] = 0.0, 0.9
        across["claims"][0]["status"] = "supported"

    edit_findings(copy, smaller)
    seal(copy)
    said = faults(copy)
    assert "among all items: p" in said and "among all items: null_mean: high" in said
    assert "claim: transfer, across families" in said
    assert "subset all configurations: intercept_p" in said


def test_a_changed_verdict_on_an_answer_is_named(copy: Path) -> None:
    def flip(lines: list[Line]) -> list[Line]:
        place = next(n for n, line in enumerate(lines) if line.get("correct") and line["state"] == "ok")
        lines[place].update(correct=False, correct_strict=False)
        return lines

    edit_lines(copy / "readings.jsonl", flip)
    seal(copy)
    assert "reading: " in faults(copy)


def test_swapped_configurations_are_noticed(copy: Path) -> None:
    other = {"bee": "cee", "cee": "bee"}

    def swap(lines: list[Line]) -> list[Line]:
        return [{**line, "model": other.get(line["model"], line["model"])} for line in lines]

    edit_lines(copy / "responses.jsonl", swap)
    edit_lines(copy / "readings.jsonl", swap)
    seal(copy)
    said = faults(copy)
    assert "structure: responses.jsonl" in said and "is not" in said


def test_swapped_configurations_are_noticed_though_their_ids_were_swapped_as_well(copy: Path) -> None:
    other = {"bee": "cee", "cee": "bee"}
    document = json.loads((copy / "findings.json").read_text(encoding="utf-8"))
    ids = {one["model"]: one["id"] for one in document["configurations"]}

    def swap(lines: list[Line]) -> list[Line]:
        swapped = [{**line, "model": other.get(line["model"], line["model"])} for line in lines]
        for line in swapped:
            if "configuration_id" in line and line["model"] in other:
                line["configuration_id"] = ids[line["model"]]
        return swapped

    edit_lines(copy / "responses.jsonl", swap)
    edit_lines(copy / "readings.jsonl", swap)
    seal(copy)
    assert "figure: accuracy, overall, bee: configuration plain" in faults(copy)


def test_a_changed_gold_answer_is_noticed(copy: Path) -> None:
    def other(lines: list[Line]) -> list[Line]:
        lines[0]["answer"] = "Opus 999"
        return lines

    edit_lines(copy / "benchmark" / "items.jsonl", other)
    seal(copy)
    assert "benchmark: the items are not those of" in faults(copy)


def test_a_removed_exclusion_is_noticed(copy: Path) -> None:
    def included(lines: list[Line]) -> list[Line]:
        out = next(line["item"] for line in lines if line.get("excluded") == "evidence absent")
        for line in lines:
            if line["item"] == out:
                line.pop("excluded")
        return lines

    edit_lines(copy / "readings.jsonl", included)
    seal(copy)
    said = faults(copy)
    assert "exclusion: " in said


@pytest.mark.parametrize("lens", ["wobble", "transitions", "contrast", "difficulty"])
def test_a_claim_called_by_another_status_is_named(copy: Path, lens: str) -> None:
    other = {"supported": "not supported", "not supported": "supported", "not estimable": "supported"}

    def change(document: dict[str, Any]) -> None:
        found = next(one for one in document["findings"] if one["lens"] == lens and one["claims"])
        found["claims"][0]["status"] = other[found["claims"][0]["status"]]

    edit_findings(copy, change)
    seal(copy)
    assert f"claim: {lens}" in faults(copy)


def test_a_dropped_row_of_a_table_is_named(copy: Path) -> None:
    edit_findings(copy, lambda document: table(document, "wobble", "by task")["rows"].pop(3))
    seal(copy)
    assert "the row is missing" in faults(copy)


def test_a_dropped_table_is_named(copy: Path) -> None:
    def drop(document: dict[str, Any]) -> None:
        document["findings"].remove(table(document, "worst_category", "overall"))

    edit_findings(copy, drop)
    seal(copy)
    assert "worst_category, overall, all models is missing" in faults(copy)


def test_a_figure_that_nobody_recomputes_makes_the_bundle_unsound(copy: Path) -> None:
    def add(document: dict[str, Any]) -> None:
        figures = table(document, "wobble", "overall")["rows"][0]["figures"]
        figures["elegance"] = dict(figures["wobble"])

    edit_findings(copy, add)
    seal(copy)
    verification = verify_bundle(copy)
    assert not verification.is_sound
    assert verification.report["not_recomputed"] == ["wobble, overall: elegance"]


def test_a_bundle_that_brings_another_verifier_is_judged_by_ours(copy: Path) -> None:
    (copy / "verify.py").write_text("print('{\"verified\": true}')\n", encoding="utf-8")
    seal(copy)
    verification = verify_bundle(copy)
    assert verification.is_sound and not verification.is_own_copy


def test_a_link_is_no_file_of_a_release_and_nothing_of_what_it_leads_to_is_told(
    copy: Path, tmp_path: Path
) -> None:
    private = tmp_path / "private.txt"
    private.write_text("a private matter\n", encoding="utf-8")
    for name in ("responses.jsonl", "findings.json"):
        linked = copy / name
        kept = tmp_path / name
        linked.rename(kept)
        linked.symlink_to(private if name == "responses.jsonl" else kept)
    seal(copy)
    said = faults(copy)
    assert "responses.jsonl is a link, or no file" in said and "findings.json is a link" in said
    assert "private matter" not in said


def test_what_stands_in_a_bundle_steers_no_terminal_and_ends_in_no_traceback(copy: Path) -> None:
    (copy / "CHECKSUMS.sha256").write_bytes(b"\xff\xfe not text\n")
    assert "a file has another form than expected: UnicodeDecodeError" in faults(copy)
    edit_findings(
        copy, lambda document: document["configurations"][0].update({"name": "\x1b[2J" + "x" * 9_000})
    )
    seal(copy)
    said = faults(copy)
    assert "\x1b" not in said and max(map(len, said.splitlines())) < 600


def test_packed_answers_that_are_cut_or_a_bomb_are_told(copy: Path) -> None:
    lines = (copy / "responses.jsonl").read_bytes()
    (copy / "responses.jsonl").unlink()
    packed = copy / "responses.jsonl.gz"
    packed.write_bytes(gzip.compress(lines)[:-900])
    seal(copy)
    assert "a file has another form than expected: " in faults(copy)
    packed.write_bytes(gzip.compress(b" " * 70 * 2**20))
    seal(copy)
    assert "responses.jsonl:1: more than any bundle holds" in faults(copy)
