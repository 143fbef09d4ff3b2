"""`leadline compare`: what is printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from leadline.report.terminal import plain
from leadline.report.terminal_comparison import comparison_shown
from leadline.study.comparing import compare
from leadline.study.recording import RecordedAnswer, record
from tests.study.conftest import Leadline
from tests.study.test_comparing import a_study, items, say


@pytest.fixture
def study(tmp_path: Path) -> Path:
    folder = a_study(tmp_path / "s")
    say(folder, "plain", {0, 1, 2})
    say(folder, "new", {1, 2, 3, 4})
    return folder


def test_the_flipped_items_stand_there_with_what_either_side_said(study: Path, leadline: Leadline) -> None:
    ended = leadline("compare", "--study", study, "plain", "new")
    assert ended.code == 0 and ended.err == ""
    gained, lost = ended.out.split("plain alone is right: 1 item")
    assert "new alone is right: 2 items" in gained
    ids, golds = [one["id"] for one in items()], [one["answer"] for one in items()]
    assert all(f"{ids[place]}  " in gained and golds[place] in gained for place in (3, 4))
    assert ids[0] in lost and ids[3] not in lost
    assert "nowhere" in lost
    assert "McNemar's p" in gained and "33.3 % (4/12)" in gained


def test_flips_alone_and_how_many_of_them(study: Path, leadline: Leadline) -> None:
    ended = leadline("compare", "--study", study, "plain", "new", "--flips-only", "--items", "1")
    assert "accuracy" not in ended.out
    assert "... and 1 more; --items 2 lists them" in ended.out


def test_json_has_everything(study: Path, leadline: Leadline) -> None:
    ended = leadline("compare", f"{study}:plain", f"{study}:new", "--json")
    told = json.loads(ended.out)
    assert (told["gained"], told["lost"], told["both_right"], told["both_wrong"]) == (2, 1, 2, 7)
    assert told["figures"]["difference"]["value"] == pytest.approx(1 / 12)
    assert told["claim"]["status"] == "not supported"
    assert [flip["right"] for flip in told["flips"]] == ["b", "b", "a"]
    assert told["flips"][0]["a"] == {
        "value": "nowhere",
        "text": "nowhere",
        "votes": 1,
        "asked": 1,
        "state": "ok",
    }
    assert told["a"]["label"] == "plain" and told["b"]["configuration"] == "new"


def test_a_terminal_does_not_obey_an_answer(study: Path, leadline: Leadline) -> None:
    answers = [
        RecordedAnswer(one["id"], 0, f"\x1b]0;owned\x07[red]{one['answer']}[/red]\u202e") for one in items()
    ]
    record(study, "m", "evil", {}, answers)
    ended = leadline("compare", "--study", study, "plain", "evil")
    assert "\x1b" not in ended.out and "\u202e" not in ended.out and "\x07" not in ended.out
    assert "[red]" in ended.out and r"\x1b]0;owned" in ended.out


@pytest.mark.parametrize("width", [60, 80, 120])
def test_every_line_fits_the_terminal(study: Path, width: int) -> None:
    lines = plain(comparison_shown(compare("plain", "new", study), 5), width).splitlines()
    assert max(map(len, lines)) <= width
    words = " ".join(" ".join(lines).split())
    assert "gets right, new gets wrong" in words or width < 80


def test_a_mistake_is_one_line(study: Path, leadline: Leadline) -> None:
    assert (
        "there is no configuration 'newer'" in leadline("compare", "--study", study, "plain", "newer").fault
    )
