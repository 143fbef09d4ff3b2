"""Several contrasts of few tasks: their corrected p-values are figures, and are counted again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from leadline.bundle.release import Bundled, bundle_study
from leadline.bundle.running import verify_bundle
from leadline.study.recording import RecordedAnswer, record
from leadline.study.study import open_study
from tests.bundle.conftest import seal
from tests.bundle.test_tampering import table
from tests.study import small

YAML = """name: tasks
benchmark: items.jsonl
stability:
  contrasts:
    - {name: high, of: {tasks: [t0, t1, t2]}, against: {tasks: [t3, t4, t5, t6, t7, t8]}}
    - {name: others, of: {tasks: [t2, t1, t0]}, against: {tasks: [t3, t4, t5, t6, t7]}}
"""


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Bundled:
    """Nine tasks of two items, of which three waver; two contrasts that overlap."""
    folder = tmp_path_factory.mktemp("contrasts")
    study = folder / "study"
    study.mkdir()
    entries = [
        {"id": f"i{at:02d}", "question": f"What is {at}?", "answer": f"gold {at}", "task": f"t{at // 2}"}
        for at in range(18)
    ]
    small.write_items(study / "items.jsonl", entries)
    (study / "study.yaml").write_text(YAML, encoding="utf-8")
    answers = [
        RecordedAnswer(
            entry["id"], sample, "else" if entry["task"] < "t3" and sample % 2 else entry["answer"]
        )
        for entry in entries
        for sample in range(5)
    ]
    record(study, "m", "plain", {}, answers)
    return bundle_study(open_study(study), folder / "release", say=lambda step: None)


def told(folder: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((folder / "findings.json").read_text(encoding="utf-8"))
    return document


def test_two_contrasts_of_few_tasks_are_released(released: Bundled) -> None:
    chosen = table(told(released.path), "contrast", "chosen")
    headlines = [row["figures"] for row in chosen["rows"] if "p_holm" in row["figures"]]
    assert [one["p_tasks"]["value"] for one in headlines] == pytest.approx([1 / 84, 1 / 56])
    assert [one["p_holm"]["value"] for one in headlines] == pytest.approx([2 / 84, 2 / 84])
    assert [claim["status"] for claim in chosen["claims"]] == ["supported"] * 2
    assert "p = 0.024 when tasks change groups, after Holm over 2" in chosen["claims"][1]["conservative"]


def test_a_p_of_few_ways_is_checked_to_the_last_digit(released: Bundled, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(released.path, tmp_path / "copy"))
    document = told(copy)
    first, second = (
        row["figures"]
        for row in table(document, "contrast", "chosen")["rows"]
        if row["keys"]["measure"] == "wobble"
    )
    first["p_tasks"]["value"] += 0.001
    second["p_holm"]["value"] = second["p_tasks"]["value"]
    (copy / "findings.json").write_text(json.dumps(document, ensure_ascii=False, indent=1), encoding="utf-8")
    seal(copy)
    said = "\n".join(verify_bundle(copy).report["faults"])
    assert "contrast high, measure wobble, stratum all items, subset all configurations: p_tasks" in said
    assert "contrast others, measure wobble, stratum all items, subset all configurations: p_holm" in said
