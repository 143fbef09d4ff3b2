"""A study that names the one from before a change of its benchmark says what the change did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from leadline.lenses.finding import Figure
from leadline.report.document import FindingsDocument, load_findings, row_figures
from leadline.study.recording import RecordedAnswer, record
from leadline.study.study import open_study
from tests.study import recorded, small
from tests.study.conftest import Leadline

WARM = "tau-0.7"
QUIET: dict[str, Any] = {
    "techniques": [],
    "sampling": {"temperatures": [0.7], "vote": 4},
    "beyond_sampling": None,
}
# Items whose window was cut anew; the others are asked as they were.
CHANGED = [f"i{number:02}" for number in range(8)]
SAME = ["i08", "i09"]


def windows(folder: Path, said: str) -> None:
    """The benchmark: ten items in two tasks, of which eight are shown `said`."""
    entries = [
        {
            **item,
            "task": "first" if number < 5 else "second",
            "window": said if item["id"] in CHANGED else "always shown",
        }
        for number, item in enumerate(small.items(10))
    ]
    small.write_items(folder / "items.jsonl", entries)


def wavers(*items: str) -> recorded.Says:
    return lambda configuration, item, sample: f"w{sample % 2 if item in items else 0}"


@pytest.fixture
def pair(tmp_path: Path, model: Path) -> tuple[Path, Path]:
    """A study before the change, in which nine items waver, and one after it, in which one of them does."""
    folders = []
    for name, said, unstable in (
        ("original", "cut too short", (*CHANGED[:7], *SAME)),
        ("repaired", "with the evidence in it", ("i00",)),
    ):
        folder = small.small_study(tmp_path / name, model, **QUIET)
        windows(folder, said)
        recorded.answer(folder, wavers(*unstable))
        folders.append(folder)
    small.change(folders[1], name="repaired", before="../original")
    return folders[0], folders[1]


def found(folder: Path) -> FindingsDocument:
    return load_findings(folder / "report" / "findings.json")


def figures(folder: Path, measure: str = "wobble", task: str = "all tasks") -> dict[str, Figure]:
    table = found(folder).finding("repair", "by task", "all models")
    return row_figures(table, task=task, measure=measure)


def test_the_report_sets_the_same_items_side_by_side(pair: tuple[Path, Path], leadline: Leadline) -> None:
    ended = leadline("report", pair[1])
    assert ended.code == 0, ended.err
    row = figures(pair[1])
    assert (row["items"].value, row["cells"].value) == (8, 8), (
        "greedy answers once, and says nothing of wobble"
    )
    assert (row["before"].numerator, row["after"].numerator) == (7, 1)
    assert row["fall"].value == 6 / 8 and row["fall"].low is not None and row["fall"].low > 0
    assert figures(pair[1], task="first")["before"].numerator == 5
    table = found(pair[1]).finding("repair", "by task", "all models")
    assert table is not None and table.claims[0].status == "supported"
    assert "Items that show the same as before left out: 2." in table.notes
    page = (pair[1] / "report" / "report.html").read_text("utf-8")
    assert "What did the change of the items change?" in page


def test_the_figure_shows_the_change_and_its_caption_says_so(
    pair: tuple[Path, Path], leadline: Leadline
) -> None:
    pytest.importorskip("matplotlib")
    assert leadline("report", pair[1]).code == 0
    ended = leadline("figures", pair[1], "--format", "svg")
    assert ended.code == 0, ended.err
    folder = pair[1] / "report" / "figures"
    assert "before the change" in (folder / "contrast.svg").read_text("utf-8")
    assert "of 8 items before and after they were changed" in (folder / "captions.md").read_text("utf-8")


def test_a_study_that_names_none_has_no_such_finding(pair: tuple[Path, Path], leadline: Leadline) -> None:
    assert leadline("report", pair[0]).code == 0
    assert found(pair[0]).protocol.before is None
    assert not [one for one in found(pair[0]).findings if one.lens == "repair"]


def test_where_no_item_is_shown_otherwise_all_count(
    pair: tuple[Path, Path], tmp_path: Path, model: Path, leadline: Leadline
) -> None:
    again = small.small_study(tmp_path / "again", model, **QUIET, before=str(pair[0]))
    windows(again, "cut too short")
    recorded.answer(again, wavers())
    assert leadline("report", again).code == 0
    row = figures(again)
    assert (row["items"].value, row["before"].numerator, row["after"].numerator) == (10, 9, 0)


def test_what_else_was_otherwise_is_said(
    pair: tuple[Path, Path], other_model: Path, leadline: Leadline
) -> None:
    small.change(pair[0], models=[{"ref": str(other_model), "name": "tiny"}])
    recorded.answer(pair[0], wavers(*CHANGED))
    assert leadline("report", pair[1]).code == 0
    told = found(pair[1]).protocol.before
    assert told is not None and "tiny: the weights were others before." in told.notes


@pytest.mark.parametrize(
    ("comparison", "outcome"),
    [(("--below", "0.3"), "holds"), (("--below", "0.1"), "fails")],
)
def test_a_registered_threshold_is_decided_as_by_the_verdict(
    pair: tuple[Path, Path], tmp_path: Path, model: Path, comparison: tuple[str, str], outcome: str,
    leadline: Leadline,
) -> None:  # fmt: skip
    fresh = small.small_study(tmp_path / "fresh", model, **QUIET, before=str(pair[0]))
    windows(fresh, "with the evidence in it")
    ids = tmp_path / "ids.txt"
    ids.write_text("\n".join(CHANGED), "utf-8")
    ended = leadline(
        "prereg", fresh, "--title", "Steadier", "--statistic", "wobble", *comparison, "--items", ids
    )
    assert ended.code == 0, ended.err
    recorded.answer(fresh, wavers("i00"))
    assert leadline("report", fresh).code == 0
    table = found(fresh).finding("repair", "registered", "all models")
    assert table is not None
    (claim,) = table.claims
    assert f"wobble below {comparison[1]}" in claim.text and outcome in claim.text
    assert claim.status == ("supported" if outcome == "holds" else "not supported")
    assert table.rows[0].figures["measured"].value == 1 / 8
    assert leadline("verdict", fresh / "registration.json", fresh).code == 0
    verdict = json.loads((fresh / "registration.verdict.json").read_text("utf-8"))
    assert verdict["outcome"] == outcome


def test_a_prediction_that_broke_its_rules_has_no_verdict(
    pair: tuple[Path, Path], tmp_path: Path, model: Path, leadline: Leadline
) -> None:
    fresh = small.small_study(tmp_path / "fresh", model, **QUIET, before=str(pair[0]))
    windows(fresh, "with the evidence in it")
    paired = ("--title", "Falls", "--statistic", "wobble", "--below", "-0.1")
    assert leadline("prereg", fresh, pair[0], *paired).code == 0
    recorded.answer(fresh, lambda configuration, item, sample: "w0" if item != "i03" else None)
    assert leadline("report", fresh).code == 0
    table = found(fresh).finding("repair", "registered", "all models")
    assert table is not None and table.claims[0].status == "not estimable"
    assert "missing" in table.notes[0]


def test_recorded_configurations_are_matched_by_name_or_by_label(tmp_path: Path, leadline: Leadline) -> None:
    """One has its model and name in both studies, one its label alone, one is in one study only."""
    for name, said, label, others in (
        ("original", "short", "old", [("bee", "old"), ("cee", "plain")]),
        ("repaired", "long", "new", [("bee-2", "new"), ("dee", "plain")]),
    ):
        folder = tmp_path / name
        folder.mkdir()
        windows(folder, said)
        config = {"name": name, "benchmark": "items.jsonl", "traits": {label: {"label": "Bee"}}}
        small.write_config(folder, config | ({"before": "../original"} if name == "repaired" else {}))
        for model, configuration in [("aye", "plain"), *others]:
            answers = [
                RecordedAnswer(item, sample, f"w{sample % 2 if model == 'bee' else 0}")
                for item in CHANGED
                for sample in range(3)
            ]
            record(folder, model, configuration, {}, answers)
    ended = leadline("report", tmp_path / "repaired")
    assert ended.code == 0, ended.err
    row = figures(tmp_path / "repaired")
    assert (row["cells"].value, row["before"].numerator, row["after"].numerator) == (2 * 8, 8, 0)


@pytest.mark.parametrize(
    ("before", "fault"),
    [
        ("../nowhere", "before: there is no study '../nowhere'"),
        (".", "before: a study does not come before itself"),
        ("../repaired/study.yaml", "before: a study does not come before itself"),
    ],
)
def test_a_study_that_cannot_come_before_is_refused_in_one_line(
    pair: tuple[Path, Path], before: str, fault: str, leadline: Leadline
) -> None:
    small.change(pair[1], before=before)
    said = leadline("report", pair[1]).fault
    assert fault in said and "study.yaml:" in said


def test_studies_without_a_common_item_are_refused(pair: tuple[Path, Path], leadline: Leadline) -> None:
    entries = [{**item, "id": f"other-{item['id']}"} for item in small.items(4)]
    small.write_items(pair[0] / "items.jsonl", entries)
    recorded.answer(pair[0], wavers())
    assert "asks none of this study's items" in leadline("report", pair[1]).fault


def test_studies_without_a_common_configuration_are_refused(
    pair: tuple[Path, Path], leadline: Leadline
) -> None:
    (entry,) = open_study(pair[0]).config.models
    small.change(pair[0], models=[{"ref": entry.ref, "name": "somebody-else"}])
    (pair[0] / "responses.sqlite").unlink()
    recorded.answer(pair[0], wavers())
    fault = leadline("report", pair[1]).fault
    assert "has none of this study's configurations" in fault and "somebody-else" in fault


def test_a_study_without_answers_is_named(pair: tuple[Path, Path], leadline: Leadline) -> None:
    (pair[0] / "responses.sqlite").unlink()
    fault = leadline("report", pair[1]).fault
    assert "no answers yet" in fault and "original" in fault


def test_two_studies_that_name_each_other_are_no_circle(pair: tuple[Path, Path], leadline: Leadline) -> None:
    small.change(pair[0], before="../repaired")
    assert leadline("report", pair[1]).code == 0
    assert leadline("report", pair[0]).code == 0
    assert figures(pair[0])["fall"].value == -6 / 8
