"""Claims on labels in a release: many candidates are confirmed, and what one configuration says stands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from leadline.bundle import release
from leadline.bundle.release import bundle_study
from leadline.bundle.running import Verification
from leadline.bundle.verifier.program import as_json, verify
from leadline.study.recording import RecordedAnswer, record
from leadline.study.study import open_study
from tests.study import small


@pytest.mark.parametrize(
    ("third", "once", "status"),
    [
        ("Oder", "", "supported"),
        ("Danube", "", "not supported"),
        ("Oder", "Elbe", "supported"),
        ("Oder", "Danube", "not supported"),
    ],
)
def test_a_dozen_candidates_are_confirmed(
    third: str, once: str, status: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two of three configurations say otherwise than the label, and so does the third, or it holds it; or a
    fourth does that was asked once."""

    def verified(folder: Path) -> Verification:
        book = verify(folder)
        return Verification(book.is_sound, json.loads(as_json(book, 0.0)), is_own_copy=True)

    monkeypatch.setattr(release, "verify_bundle", verified)
    folder = tmp_path / "study"
    folder.mkdir()
    items = [{"id": f"i{n:02d}", "question": f"Which river is {n}?", "answer": "Danube"} for n in range(12)]
    small.write_items(folder / "items.jsonl", items)
    config = {"name": "rivers", "benchmark": "items.jsonl", "models": [], "stability": {"permutations": 200}}
    (folder / "study.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    for model, said in (("a", "Oder"), ("b", "Oder"), ("c", third)):
        answers = [RecordedAnswer(item["id"], sample, said) for item in items for sample in range(2)]
        record(folder, model, f"{model}-run", {}, answers)
    if once:
        record(folder, "d", "d-run", {}, [RecordedAnswer(item["id"], 0, once) for item in items])
    made = bundle_study(open_study(folder), tmp_path / "release", say=lambda step: None)
    assert made.verification.report["figures"]["label_errors"]["exactly"] > 0
    document = json.loads(next((tmp_path / "release").rglob("findings.json")).read_text(encoding="utf-8"))
    (finding,) = [one for one in document["findings"] if one["lens"] == "label_errors"]
    assert len(finding["rows"]) == 12
    assert finding["claims"][0]["status"] == status
    assert {row["figures"].get("once_for_label", {}).get("value") for row in finding["rows"]} == {
        {"": None, "Elbe": 0, "Danube": 1}[once]
    }
