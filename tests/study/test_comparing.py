"""Two configurations side by side: found, paired, and counted as every report counts them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from leadline.errors import LeadlineError, UsageError
from leadline.lenses.finding import ClaimStatus
from leadline.report.study_report import report_study
from leadline.study.comparing import compare
from leadline.study.recording import RecordedAnswer, record
from leadline.study.study import open_study

RIVERS = Path(__file__).parents[2] / "examples" / "quickstart" / "rivers.jsonl"
ANSWERS = Path(__file__).parents[2] / "examples" / "recorded-answers" / "answers.jsonl"


def items() -> list[dict[str, str]]:
    return [json.loads(line) for line in RIVERS.read_text("utf-8").splitlines()]


def a_study(folder: Path, name: str = "rivers", more: str = "") -> Path:
    folder.mkdir()
    shutil.copy(RIVERS, folder)
    (folder / "study.yaml").write_text(f"name: {name}\nbenchmark: rivers.jsonl\n{more}", "utf-8")
    return folder


def say(folder: Path, name: str, right: set[int], model: str = "m", of: range = range(12)) -> None:
    """One answer to each of these items: the gold answer for those in `right`, else another."""
    answers = [
        RecordedAnswer(one["id"], 0, one["answer"] if place in right else "nowhere")
        for place, one in enumerate(items())
        if place in of
    ]
    record(folder, model, name, {}, answers)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example's recorded answers: greedy once, recite five times, and samples."""
    folder = a_study(tmp_path_factory.mktemp("comparing") / "rivers", more="baseline: greedy\n")
    by_name: dict[str, list[RecordedAnswer]] = {}
    for line in ANSWERS.read_text("utf-8").splitlines():
        row = json.loads(line)
        by_name.setdefault(row["configuration"], []).append(
            RecordedAnswer(row["item"], row["sample"], row["text"])
        )
    for name, answers in by_name.items():
        record(folder, "m", name, {}, answers)
    return folder


def test_the_figures_are_those_of_the_studys_own_report(recorded: Path, tmp_path: Path) -> None:
    found = compare("greedy", "recite", recorded)
    document = report_study(open_study(recorded), tmp_path).document
    rows = document.finding("transitions", "overall", "m").rows
    row = next(row for row in rows if row.keys["method"] == "recite")
    for key in ("acc", "acc_baseline", "gain", "loss", "difference", "net", "mcnemar_p"):
        assert found.beside.figures[key] == row.figures[key], key
    wobbles = document.finding("wobble", "overall", "all models").rows
    row = next(row for row in wobbles if row.keys["configuration"] == "recite")
    assert found.beside.wobbles["b"]["wobble"] == row.figures["wobble"]
    assert found.beside.wobbles["b"]["pairwise"] == row.figures["pairwise"]
    assert found.beside.wobbles["a"]["wobble"].note == "asked once"


def test_turning_the_sides_turns_the_sign_and_keeps_the_verdict(recorded: Path) -> None:
    one, other = compare("greedy", "recite", recorded), compare("recite", "greedy", recorded)
    assert one.beside.moved.net == -other.beside.moved.net == 4
    assert one.beside.figures["mcnemar_p"] == other.beside.figures["mcnemar_p"]
    assert one.beside.claim.text.split(":")[0] == other.beside.claim.text.split(":")[0]
    assert one.beside.claim.status is other.beside.claim.status is ClaimStatus.NOT_SUPPORTED


def test_a_clear_lead_is_supported_whoever_has_it(tmp_path: Path) -> None:
    folder = a_study(tmp_path / "s")
    say(folder, "good", set(range(11)))
    say(folder, "bad", {0, 1, 11})
    for names in (("good", "bad"), ("bad", "good")):
        claim = compare(*names, folder).beside.claim
        assert claim.status is ClaimStatus.SUPPORTED
        assert claim.text.startswith(
            "good is right more often than bad: 91.7 % (11/12) against 25.0 % (3/12)"
        )
        assert "9 items won and 1 lost" in claim.text


def test_sides_that_agree_everywhere_do_not_pass_for_equal(tmp_path: Path) -> None:
    folder = a_study(tmp_path / "s")
    say(folder, "one", {0, 1, 2})
    say(folder, "other", {0, 1, 2})
    beside = compare("one", "other", folder).beside
    assert beside.claim.status is ClaimStatus.NOT_SUPPORTED and "equally many" in beside.claim.text
    assert beside.figures["difference"].low == pytest.approx(-0.2425, abs=1e-4)  # Tango's, 0 of 12 differ
    assert "−24." in beside.claim.conservative and "+24." in beside.claim.conservative


def test_few_items_could_never_tell_two_apart(tmp_path: Path) -> None:
    folder = a_study(tmp_path / "s")
    say(folder, "one", {0, 1, 2}, of=range(5))
    say(folder, "other", set(), of=range(5))
    assert compare("one", "other", folder).beside.claim.status is ClaimStatus.UNREACHABLE


def test_two_studies_are_paired_by_item_and_wording(tmp_path: Path) -> None:
    first, second = a_study(tmp_path / "monday", "monday"), a_study(tmp_path / "tuesday", "tuesday")
    lines = items()
    lines[3]["question"] = "Worded otherwise?"
    lines[4]["answer"] = "elsewhere"
    (second / "rivers.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines), "utf-8")
    say(first, "greedy", set(range(12)), of=range(10))
    record(second, "m", "greedy", {}, [RecordedAnswer(one["id"], 0, one["answer"]) for one in lines[2:]])
    found = compare(str(first), str(second))
    assert found.labels == ("monday", "tuesday")
    assert found.beside.pairs.height == 7  # 2 to 9, without the reworded one
    ids = [one["id"] for one in lines]
    assert set(found.items) == {*ids[2:3], *ids[4:10]}
    assert [sentence.partition(" (")[0] for sentence in found.left_out] == [
        "2 items",
        "2 items",
        "1 item",
        "1 item",
    ]
    assert f"({ids[3]}) worded otherwise" in found.left_out[2]
    assert f"({ids[4]}) with other gold answers" in found.left_out[3]
    # Each is judged by its own benchmark: "elsewhere" is right on the second side.
    assert found.beside.moved.items == found.beside.moved.d1 and found.beside.moved.broken == 0


def test_models_of_one_name_and_names_of_one_model_are_told_apart(tmp_path: Path) -> None:
    folder = a_study(tmp_path / "s")
    for model in ("org/small", "large"):
        say(folder, "greedy", {0}, model)
    say(folder, "warm", {1}, "large")
    assert compare("org/small/greedy", "large/greedy", folder).labels == ("org/small", "large")
    assert compare("large/greedy", "warm", folder).labels == ("greedy", "warm")
    assert compare(f"{folder}:org/small", f"{folder}:warm").labels == ("org/small/greedy", "large/warm")
    with pytest.raises(
        UsageError, match=r"'greedy' is several configurations .*large/greedy, large/warm, org/small"
    ):
        compare("greedy", "warm", folder)


def test_mistakes_are_one_line_that_helps(tmp_path: Path, recorded: Path) -> None:
    with pytest.raises(UsageError, match=r"no configuration 'gredy' \(did you mean 'greedy'\?\)"):
        compare("gredy", "recite", recorded)
    with pytest.raises(UsageError, match="there is no study"):
        compare(str(tmp_path / "absent:greedy"), f"{recorded}:greedy")
    with pytest.raises(UsageError, match=r"holds no study\.yaml"):
        compare(str(tmp_path), f"{recorded}:greedy")
    with pytest.raises(UsageError, match="holds several configurations"):
        compare(str(recorded), f"{recorded}:greedy")
    with pytest.raises(UsageError, match="m/greedy is on both sides"):
        compare("greedy", "m/greedy", recorded)
    empty = a_study(tmp_path / "empty")
    with pytest.raises(LeadlineError, match="holds no recorded answers"):
        compare(str(empty), f"{recorded}:greedy")


def test_a_folder_whose_name_has_a_colon_is_found(tmp_path: Path) -> None:
    folder = a_study(tmp_path / "run:12:30")
    say(folder, "one", {0})
    say(folder, "two", {1})
    assert compare(f"{folder}:one", f"{folder / 'study.yaml'}:two").beside.moved.net == 0


def test_nothing_in_common_is_said(tmp_path: Path) -> None:
    folder = a_study(tmp_path / "s")
    say(folder, "one", {0}, of=range(6))
    say(folder, "two", {6}, of=range(6, 12))
    with pytest.raises(LeadlineError, match="one and two have no item in common: 6 items"):
        compare("one", "two", folder)


def test_items_whose_calls_all_failed_are_left_out(tmp_path: Path) -> None:
    folder = a_study(tmp_path / "s")
    say(folder, "one", {0})
    ids = [one["id"] for one in items()]
    answers = [
        RecordedAnswer(name, 0, None if place < 2 else "x", failure="timeout")
        for place, name in enumerate(ids)
    ]
    record(folder, "m", "two", {}, answers)
    found = compare("one", "two", folder)
    assert found.beside.moved.items == 10
    assert "of 2 items every call of one side failed" in found.left_out
