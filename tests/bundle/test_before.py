"""A release of a study that names one from before a change: its verifier counts both sides again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from leadline.bundle.release import bundle_study
from leadline.study.registering import register
from leadline.study.registration import Prediction, write_registration
from leadline.study.study import open_study
from tests.bundle.conftest import seal
from tests.bundle.test_tampering import Line, edit_findings, edit_lines, faults, table

pytest.importorskip("torch", reason="the small model is written with it")
from tests.study import recorded, small

QUIET: dict[str, Any] = {
    "techniques": [],
    "sampling": {"temperatures": [0.7, 1.2], "vote": 5},
    "beyond_sampling": None,
    "stability": {"rarefy": 3, "permutations": 300},
}
ITEMS = 20
# Changed items come first; the rest is asked as before.
CHANGED = 16


def windows(folder: Path, said: str) -> None:
    entries = [
        {
            **item,
            "task": f"t{number % 3}" if number % 7 else "",
            "window": said if number < CHANGED else "as ever",
        }
        for number, item in enumerate(small.items(ITEMS))
    ]
    small.write_items(folder / "items.jsonl", entries)


def wavers(share: float) -> recorded.Says:
    """A share of the items waver; some answers are short of one, and some cells of all."""

    def says(configuration: str, item: str, sample: int) -> str | None:
        number = int(item[1:])
        if configuration == "tau-0.7" and number == 3:
            return ""  # read as empty
        if number == 5 and sample == 4:
            return ""
        return f"w{sample % 2 if number < share * ITEMS and sample else 0}"

    return says


def make(folder: Path, prediction: Prediction | None, *, paired: bool) -> Path:
    small.write_model(folder / "tiny")
    studies = []
    for name, said in (("original", "cut short"), ("repaired", "with the evidence")):
        place = small.small_study(folder / name, "../tiny", **QUIET)
        windows(place, said)
        studies.append(place)
    small.change(studies[1], name="repaired", before="../original")
    recorded.answer(studies[0], wavers(0.9))
    if prediction is not None:
        opened = [open_study(place) for place in studies]
        registration = register(opened[1], prediction, reference=opened[0] if paired else None)
        write_registration(registration, studies[1] / "registration.json")
    recorded.answer(studies[1], wavers(0.4))
    return studies[1]


VALUE = Prediction(title="Steadier", statistic="wobble", direction="below", threshold=0.5)
PAIRED = Prediction(
    title="Falls",
    statistic="wobble",
    comparison="paired",
    direction="below",
    threshold=-0.1,
    sameness="exact",
)


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("before")
    study = make(folder, VALUE, paired=False)
    return bundle_study(open_study(study), folder / "release", say=lambda step: None).path


@pytest.fixture
def copy(released: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(released, tmp_path / "copy"))


def test_every_figure_of_before_and_after_is_recomputed(released: Path) -> None:
    document = json.loads((released / "findings.json").read_text("utf-8"))
    rows = table(document, "repair", "by task")["rows"]
    assert {row["keys"]["task"] for row in rows} == {"all tasks", "t0", "t1", "t2", "(none)"}
    whole, complete = rows[0]["figures"], rows[1]["figures"]
    assert whole["items"]["value"] == CHANGED and whole["cells"]["value"] == 2 * CHANGED - 1
    assert complete["cells"]["value"] == 2 * CHANGED - 3
    assert table(document, "repair", "registered")["claims"][0]["status"] == "supported"
    assert len((released / "before" / "readings.jsonl").read_text("utf-8").splitlines()) == CHANGED * (1 + 10)
    assert "before/readings.jsonl" in (released / "README.md").read_text("utf-8")
    assert "from before the items were changed" in (released / "PERSONAL_DATA.md").read_text("utf-8")


def test_a_paired_prediction_over_all_items_is_recomputed(tmp_path: Path) -> None:
    study = make(tmp_path, PAIRED, paired=True)
    made = bundle_study(open_study(study), tmp_path / "release", say=lambda step: None)
    found = table(json.loads((made.path / "findings.json").read_text("utf-8")), "repair", "registered")
    figures = found["rows"][0]["figures"]
    assert figures["measured"]["value"] == pytest.approx(
        made.document.protocol.before.registered.figures[0].value  # type: ignore[union-attr]
    )
    before = table(json.loads((made.path / "findings.json").read_text("utf-8")), "repair", "by task")
    assert before["rows"][0]["figures"]["items"]["value"] == CHANGED, (
        "items that were not changed tell nothing"
    )


def one_answer(lines: list[Line]) -> list[Line]:
    place = next(
        n for n, line in enumerate(lines) if line["configuration"] == "tau-1.2" and line["sample"] == 1
    )
    lines[place]["value"] = "another"
    for other in lines:
        if (other["configuration"], other["item"]) == ("tau-1.2", lines[place]["item"]):
            other["value"] = "all alike"
    return lines


def a_right_one(lines: list[Line]) -> list[Line]:
    for line in lines:
        if line["configuration"] == "tau-0.7" and line.get("value"):
            line["correct"] = not line.get("correct", False)
    return lines


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (one_answer, "repair, by task"),
        (a_right_one, "acc_before"),
        (lambda lines: lines[1:], "readings from before"),
        (lambda lines: [*lines, lines[0]], "a second reading"),
    ],
)
def test_readings_from_before_cannot_be_changed(
    copy: Path, change: Callable[[list[Line]], list[Line]], said: str
) -> None:
    edit_lines(copy / "before" / "readings.jsonl", change)
    seal(copy)
    assert said in faults(copy)


def _row(document: dict[str, Any], name: str) -> dict[str, Any]:
    figures: dict[str, Any] = table(document, "repair", name)["rows"][0]["figures"]
    return figures


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda it: _row(it, "by task")["after"].update(numerator=1), "after: numerator"),
        (lambda it: _row(it, "by task")["fall"].update(low=0.6), "fall: low"),
        (lambda it: _row(it, "by task")["p"].update(value=0.2), "p: value"),
        (lambda it: _row(it, "registered")["threshold"].update(value=0.9), "threshold: value"),
        (lambda it: _row(it, "registered")["measured"].update(value=0.2), "measured: value"),
        (
            lambda it: table(it, "repair", "registered")["claims"][0].update(status="not supported"),
            "it is called not supported",
        ),
        (
            lambda it: table(it, "repair", "by task")["claims"][0].update(status="not estimable"),
            "it is called not estimable",
        ),
    ],
)
def test_findings_of_before_and_after_cannot_be_changed(
    copy: Path, change: Callable[[dict[str, Any]], None], said: str
) -> None:
    edit_findings(copy, change)
    seal(copy)
    assert said in faults(copy)


def test_a_registration_that_was_changed_is_none(copy: Path) -> None:
    path = copy / "registrations" / "registration.json"
    path.write_text(path.read_text("utf-8").replace('"threshold": 0.5', '"threshold": 0.9'), "utf-8")
    seal(copy)
    assert "no such row was recomputed" in faults(copy)
