"""A prediction is decided only by answers that came after it, and only as it was written."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leadline.lenses.finding import Figure
from leadline.study.registered_decision import decide
from leadline.study.registered_statistic import Measured, less, paired, pooled
from leadline.study.registered_verdict import Verdict, judge
from leadline.study.registration import Prediction, Statistic, read_registration, stamp
from leadline.study.study import open_study
from tests.study import recorded, small
from tests.study.conftest import Ended, Leadline

WARM = "tau-0.7"
PLAIN = ("--title", "Steady enough", "--statistic", "wobble", "--below", "0.5")
QUIET = {"techniques": [], "sampling": {"temperatures": [0.7], "vote": 4}, "beyond_sampling": None}


@pytest.fixture
def fresh(tmp_path: Path, model: Path) -> Path:
    """A study of six items, four samples each at one temperature, not yet run."""
    return small.small_study(tmp_path / "study", model, **QUIET)


def flips(*items: str) -> recorded.Says:
    """These items get two different answers under every configuration, the others one."""
    return lambda configuration, item, sample: f"w{sample % 2 if item in items else 0}"


def told(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "registration.verdict.json").read_text("utf-8"))
    return found


def test_what_was_registered_before_the_first_run_is_decided_after_it(
    fresh: Path, leadline: Leadline
) -> None:
    made = leadline("prereg", fresh, *PLAIN, "--hypothesis", "it is a small model\nand does not care")
    assert made.code == 0, made.err
    assert "leadline verdict" in made.out
    assert leadline("run", fresh, "--quiet").code == 0
    ended = leadline("verdict", fresh / "registration.json", fresh)
    assert ended.code == 0, ended.err
    found = told(fresh)
    assert found["outcome"] in ("holds", "fails") and found["deviations"] == []
    assert found["responses"] == found["responses_registered"] == 6 * 4
    (wilson, bootstrap) = found["figures"]
    assert wilson["denominator"] == 6 and wilson["method"] == "wilson"
    assert bootstrap["value"] == wilson["value"]
    page = (fresh / "registration.verdict.md").read_text("utf-8")
    assert f"The prediction {found['outcome']}" in page and "> it is a small model" in page
    report = json.loads((fresh / "report" / "findings.json").read_text("utf-8"))
    (row,) = (
        row
        for one in report["findings"]
        if (one["lens"], one["table"]) == ("wobble", "overall")
        for row in one["rows"]
        if row["keys"]["configuration"] == "τ = 0.7"
    )
    assert row["figures"]["wobble"]["value"] == wilson["value"], "the report measures the same"


def test_after_the_first_run_it_is_too_late(study: Path, leadline: Leadline) -> None:
    fault = leadline("prereg", study, *PLAIN).fault
    assert "too late to register" in fault
    assert "48 responses" in fault or "responses to these items" in fault
    assert "UTC" in fault
    assert not (study / "registration.json").exists()


def test_one_answer_that_is_there_already_is_one_too_many(fresh: Path, leadline: Leadline) -> None:
    only = ("i03", WARM, 2)
    recorded.answer(fresh, lambda name, item, sample: "w" if (item, name, sample) == only else None)
    assert "the study holds 1 response to these items" in leadline("prereg", fresh, *PLAIN).fault
    ids = fresh / "ids.txt"
    ids.write_text("i00\ni01\n\n", "utf-8")
    assert leadline("prereg", fresh, *PLAIN, "--items", ids).code == 0, "no answer to these is there"


def test_another_name_for_the_same_model_does_not_hide_its_answers(fresh: Path, leadline: Leadline) -> None:
    recorded.answer(fresh, flips())
    (ref,) = open_study(fresh).config.models
    small.change(fresh, models=[{"ref": ref.ref, "name": "somebody-else"}])
    assert "too late to register" in leadline("prereg", fresh, *PLAIN).fault


def test_answers_under_other_settings_do_not_forbid_it_but_are_told(fresh: Path, leadline: Leadline) -> None:
    recorded.answer(fresh, flips())
    small.change(fresh, max_tokens=5)
    assert leadline("prereg", fresh, *PLAIN).code == 0
    recorded.answer(fresh, flips())
    assert leadline("verdict", fresh / "registration.json", fresh).code == 0
    assert "30 responses to these items under other" in " ".join(told(fresh)["deviations"])


def test_a_registration_is_never_replaced(fresh: Path, leadline: Leadline) -> None:
    assert leadline("prereg", fresh, *PLAIN).code == 0
    before = (fresh / "registration.json").read_bytes()
    assert "never replaced" in leadline("prereg", fresh, *PLAIN).fault
    assert (fresh / "registration.json").read_bytes() == before


# Tampering


@pytest.fixture
def registered(fresh: Path, leadline: Leadline) -> Path:
    """Registered, then answered: one item of six wobbles."""
    assert leadline("prereg", fresh, *PLAIN).code == 0
    recorded.answer(fresh, flips("i02"))
    return fresh


def verdict(folder: Path, leadline: Leadline, *more: str) -> Ended:
    return leadline("verdict", folder / "registration.json", folder, *more)


def test_untouched_it_holds(registered: Path, leadline: Leadline) -> None:
    assert verdict(registered, leadline).code == 0
    found = told(registered)
    assert found["outcome"] == "holds"
    assert (found["figures"][0]["numerator"], found["figures"][0]["denominator"]) == (1, 6)


def _set(*place: str | int, value: object) -> Callable[[dict[str, Any]], None]:
    def change(content: dict[str, Any]) -> None:
        part: Any = content
        for key in place[:-1]:
            part = part[key]
        assert part[place[-1]] != value
        part[place[-1]] = value

    return change


CHANGES = {
    "threshold": _set("prediction", "threshold", value=0.1),
    "direction": _set("prediction", "direction", value="above"),
    "statistic": _set("prediction", "statistic", value="accuracy"),
    "title": _set("prediction", "title", value="What I said all along"),
    "time": _set("registered", value="2020-01-01T00:00:00Z"),
    "an item": _set("items", 0, value="i99"),
    "benchmark": _set("tested", "benchmark", "content_hash", value="sha256:0"),
    "samples": _set("tested", "configurations", 0, "samples", value=1),
    "stamp": _set("sha256", value="sha256:" + "0" * 64),
    "a new key": lambda content: content.update(note="x"),
    "a key gone": lambda content: content.pop("leadline_version"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_an_edited_registration_is_refused(
    change: Callable[[dict[str, Any]], None], registered: Path, leadline: Leadline
) -> None:
    file = registered / "registration.json"
    content = json.loads(file.read_text("utf-8"))
    change(content)
    file.write_text(json.dumps(content), "utf-8")
    assert "its own hash does not fit" in verdict(registered, leadline).fault
    assert not (registered / "registration.verdict.json").exists()


def test_other_spacing_of_the_same_content_is_no_edit(registered: Path, leadline: Leadline) -> None:
    file = registered / "registration.json"
    content = json.loads(file.read_text("utf-8"))
    file.write_text(json.dumps(content, separators=(",", ":"), sort_keys=True), "utf-8")
    assert verdict(registered, leadline).code == 0


def test_stamped_anew_it_is_not_the_one_that_the_study_knows(registered: Path, leadline: Leadline) -> None:
    file = registered / "registration.json"
    content = json.loads(file.read_text("utf-8"))
    content["prediction"]["threshold"] = 0.1
    content["sha256"] = stamp(content)
    file.write_text(json.dumps(content), "utf-8")
    assert verdict(registered, leadline).code == 0
    told_of = told(registered)["deviations"]
    assert any("does not know this registration" in one for one in told_of)
    assert any("1 other prediction was registered for this study" in one for one in told_of)


def test_how_many_predictions_were_made_is_told(fresh: Path, leadline: Leadline) -> None:
    for number in range(3):
        made = leadline(
            "prereg", fresh, *PLAIN, "--below", f"0.{number + 3}", "--out", fresh / f"{number}.json"
        )
        assert made.code == 0, made.err
    recorded.answer(fresh, flips())
    assert leadline("verdict", fresh / "0.json", fresh).code == 0
    (deviation,) = json.loads((fresh / "0.verdict.json").read_text("utf-8"))["deviations"]
    assert "2 other predictions were registered for this study" in deviation


def test_stamped_anew_with_other_items_it_still_does_not_fit(registered: Path, leadline: Leadline) -> None:
    file = registered / "registration.json"
    content = json.loads(file.read_text("utf-8"))
    content["items"] = content["items"][:3]
    content["sha256"] = stamp(content)
    file.write_text(json.dumps(content), "utf-8")
    assert "items_sha256 is not that of the items" in verdict(registered, leadline).fault


def test_a_registration_younger_than_an_answer_is_refused(registered: Path, leadline: Leadline) -> None:
    touched = recorded.edit(
        registered, "UPDATE responses SET created = 1e9 WHERE item = 'i04' AND sample = 1 AND "
        "configuration IN (SELECT id FROM configurations WHERE description LIKE '%sampling%')"
    )  # fmt: skip
    assert touched == 1
    fault = verdict(registered, leadline).fault
    assert "is younger than 1 of the 24 responses" in fault and "2001-09-09" in fault


def test_answers_of_configurations_that_do_not_count_may_be_older(
    registered: Path, leadline: Leadline
) -> None:
    touched = recorded.edit(
        registered, "UPDATE responses SET created = 1e9 WHERE "
        "configuration IN (SELECT id FROM configurations WHERE description NOT LIKE '%sampling%')"
    )  # fmt: skip
    assert touched == 6
    assert verdict(registered, leadline).code == 0


def test_a_corrected_gold_answer_makes_it_another_benchmark(registered: Path, leadline: Leadline) -> None:
    entries = small.items()
    entries[0]["answer"] = "another"
    small.write_items(registered / "items.jsonl", entries)
    assert "the benchmark changed, its content hash" in verdict(registered, leadline).fault


def test_the_same_items_in_another_order_are_the_same_benchmark(registered: Path, leadline: Leadline) -> None:
    small.write_items(registered / "items.jsonl", small.items()[::-1])
    assert verdict(registered, leadline).code == 0


def test_an_item_that_is_no_longer_asked_changes_the_list(registered: Path, leadline: Leadline) -> None:
    small.change(registered, items={"categories": ["even"]})
    fault = verdict(registered, leadline).fault
    assert "the item list changed, 3 of 6 registered items are no longer asked ('i01', ...)" in fault


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"max_tokens": 5}, "the configuration 'tau-0.7' is not as registered"),
        (
            {"sampling": {"temperatures": [0.8], "vote": 4}},
            "configuration 'tau-0.7' is no longer in the study",
        ),
        ({"correctness": "words"}, "correctness is 'words', and 'maple' was registered"),
        ({"prompt": "chat"}, "the configuration 'tau-0.7' is not as registered"),
    ],
    ids=["max_tokens", "temperature", "correctness", "prompt"],
)
def test_a_study_that_is_asked_otherwise_is_refused(
    changes: dict[str, Any], said: str, registered: Path, leadline: Leadline
) -> None:
    small.change(registered, **changes)
    assert said in verdict(registered, leadline).fault


def test_other_weights_under_the_same_name_are_refused(
    fresh: Path, model: Path, other_model: Path, tmp_path: Path, leadline: Leadline
) -> None:
    place = shutil.copytree(model, tmp_path / "changing")
    small.change(fresh, models=[{"ref": str(place), "name": "it"}])
    assert leadline("prereg", fresh, *PLAIN).code == 0
    shutil.rmtree(place)
    shutil.copytree(other_model, place)
    recorded.answer(fresh, flips())
    assert "the weights of 'it' are" in verdict(fresh, leadline).fault


def test_every_breach_is_named_on_a_line_of_its_own(registered: Path, leadline: Leadline) -> None:
    small.change(registered, items={"categories": ["even"]}, correctness="words")
    ended = verdict(registered, leadline)
    assert ended.code == 3
    refused = [line for line in ended.err.splitlines() if line.startswith("refused: ")]
    assert len(refused) == 2 and "and 1 more" in ended.fault


def test_missing_samples_are_refused_unless_partial_is_said(fresh: Path, leadline: Leadline) -> None:
    assert leadline("prereg", fresh, *PLAIN).code == 0
    recorded.answer(fresh, lambda _, item, sample: "w" if (item, sample) != ("i01", 3) else None)
    assert "1 of 24 registered responses are missing" in verdict(fresh, leadline).fault
    assert verdict(fresh, leadline, "--partial").code == 0
    found = told(fresh)
    assert found["deviations"][0] == "Partial: 1 of 24 registered responses are missing."
    assert found["responses"] == 23


def test_what_was_added_later_is_told_and_does_not_count(
    fresh: Path, model: Path, leadline: Leadline
) -> None:
    ids = fresh / "ids.txt"
    ids.write_text("i00\ni01\ni02\n", "utf-8")
    assert leadline("prereg", fresh, *PLAIN, "--items", ids).code == 0
    small.change(fresh, sampling={"temperatures": [0.7, 1.2], "vote": 8})
    # The registered three are steady in their first four samples, and everything else is not.
    recorded.answer(
        fresh, lambda name, item, sample: f"w{0 if item < 'i03' and sample < 4 and name == WARM else sample}"
    )
    assert verdict(fresh, leadline).code == 0
    found = told(fresh)
    assert (found["figures"][0]["numerator"], found["figures"][0]["denominator"]) == (0, 3)
    deviations = " ".join(found["deviations"])
    assert "3 items that were not registered" in deviations and "more samples than registered" in deviations


def test_with_too_few_measured_items_nothing_is_decided(fresh: Path, leadline: Leadline) -> None:
    assert leadline("prereg", fresh, *PLAIN, "--minimum-items", "5").code == 0
    recorded.answer(
        fresh, lambda _, item, sample: "" if item < "i02" else "w"
    )  # an empty answer says nothing
    assert verdict(fresh, leadline).code == 0
    found = told(fresh)
    assert found["outcome"] == "cannot be decided"
    assert "too few: 4 items were measured" in found["reason"]


# Two studies, and two groups


def pair(tmp_path: Path, model: Path, number: int = 6, **changes: Any) -> tuple[Path, Path]:
    """Two studies of the same items in different windows."""
    folders = []
    for name in ("original", "repaired"):
        folder = small.small_study(tmp_path / name, model, number, **{**QUIET, "name": name, **changes})
        entries = [{**entry, "window": f"{name} window of {entry['id']}"} for entry in small.items(number)]
        small.write_items(folder / "items.jsonl", entries)
        folders.append(folder)
    return folders[0], folders[1]


def test_a_reference_may_be_answered_before_and_is_pinned(
    tmp_path: Path, model: Path, leadline: Leadline
) -> None:
    original, repaired = pair(tmp_path, model)
    recorded.answer(original, flips("i00", "i01", "i02"))
    made = leadline("prereg", repaired, original, "--title", "Less", "--statistic", "wobble", "--below", "0")
    assert made.code == 0, made.err
    recorded.answer(repaired, flips("i00"))
    file = repaired / "registration.json"
    assert leadline("verdict", file, repaired, original).code == 0
    found = told(repaired)
    assert found["outcome"] == "holds" and found["figures"][0]["value"] == pytest.approx(-2 / 6)
    assert found["figures"][0]["note"] == "1/6 less 3/6"
    assert "name both" in leadline("verdict", file, repaired).fault
    recorded.edit(original, "UPDATE responses SET text = 'w0' WHERE item = 'i00'")
    assert "24 responses that were there at the time of registration are no longer the same" in (
        leadline("verdict", file, repaired, original).fault
    )


def test_studies_that_are_asked_differently_are_no_pair(
    tmp_path: Path, model: Path, leadline: Leadline
) -> None:
    original, repaired = pair(tmp_path, model)
    small.change(original, max_tokens=9)
    ended = leadline("prereg", repaired, original, "--title", "x", "--statistic", "wobble", "--below", "0")
    assert "the two studies differ in their configurations" in ended.fault


def test_a_study_is_no_reference_for_itself(fresh: Path, leadline: Leadline) -> None:
    assert "no reference for itself" in leadline("prereg", fresh, fresh, *PLAIN).fault


def test_two_groups_of_one_study_are_compared(fresh: Path, leadline: Leadline) -> None:
    (fresh / "ours.txt").write_text("i00\ni02\ni04\n", "utf-8")
    (fresh / "theirs.txt").write_text("i01\ni03\n", "utf-8")
    made = leadline("prereg", fresh, "--title", "More", "--statistic", "wobble", "--above", "0.1",
                    "--items", fresh / "ours.txt", "--other-items", fresh / "theirs.txt")  # fmt: skip
    assert made.code == 0, made.err
    recorded.answer(fresh, flips("i00", "i02", "i03"))
    assert verdict(fresh, leadline).code == 0
    found = told(fresh)
    assert found["figures"][0]["note"] == "2/3 less 1/2"
    assert found["figures"][0]["method"] == "newcombe"
    assert found["outcome"] == "holds"


@pytest.mark.parametrize(
    ("statistic", "value"),
    [("dispersion", (0.5 + 0.25) / 6), ("accuracy", 4 / 6), ("response_rate", 23 / 24)],
)
def test_the_other_statistics_are_those_of_the_lenses(
    statistic: str, value: float, fresh: Path, leadline: Leadline
) -> None:
    made = leadline("prereg", fresh, "--title", "x", "--statistic", statistic, "--above", "0.01",
                    "--configuration", WARM)  # fmt: skip
    assert made.code == 0, made.err
    gold = {entry["id"]: entry["answer"] for entry in small.items()}
    # Of two values named equally often the first one counts, so i00 is wrong, and so is i05.
    said = {("i00", 0): "w", ("i00", 1): "w", ("i01", 0): "w", ("i02", 3): ""}
    texts = {("i05", sample): "w" for sample in range(4)}
    recorded.answer(fresh, lambda _, item, sample: {**said, **texts}.get((item, sample), gold[item]))
    assert verdict(fresh, leadline).code == 0
    assert told(fresh)["figures"][0]["value"] == pytest.approx(value)


@pytest.mark.parametrize(("rule", "unstable"), [("exact", 2), ("rounding", 1), (None, 1)])
def test_the_rule_of_sameness_is_registered_and_decides(
    rule: str | None, unstable: int, fresh: Path, leadline: Leadline
) -> None:
    entries = [{**entry, "answer": "0.91", "aliases": [], "answer_type": "number"} for entry in small.items()]
    small.write_items(fresh / "items.jsonl", entries)
    named = ["--sameness", rule] if rule else []
    assert leadline("prereg", fresh, *PLAIN, *named).code == 0
    said = {("i00", 1): "0.9090909090909091", ("i01", 1): "0.908"}  # one rounds to 0.909, one does not
    recorded.answer(fresh, lambda _, item, sample: said.get((item, sample), "0.909"))
    assert verdict(fresh, leadline).code == 0
    assert told(fresh)["figures"][0]["numerator"] == unstable


def test_the_published_repair_fails_its_prediction(tmp_path: Path, model: Path, leadline: Leadline) -> None:
    """Table 7 of Probity: 10 items × 12 configurations, of which 32 wobble before and 25 after."""
    temperatures = [0.1 * number for number in range(1, 13)]
    original, repaired = pair(
        tmp_path, model, 10, sampling={"temperatures": [round(t, 1) for t in temperatures], "vote": 20}
    )
    names = [one.name for one in open_study(original).configurations if one.samples > 1]
    assert len(names) == 12
    tasks = {"i00": 0, "i01": 0, **dict.fromkeys(("i02", "i03", "i04", "i05", "i06"), 1),
             **dict.fromkeys(("i07", "i08", "i09"), 2)}  # fmt: skip

    def wobbling(counts: tuple[int, int, int]) -> recorded.Says:
        cells = {task: [(i, n) for n in names for i, of in tasks.items() if of == task] for task in range(3)}
        chosen = {cell for task, number in enumerate(counts) for cell in cells[task][:number]}
        return lambda name, item, sample: f"w{sample == 7 and (item, name) in chosen}"

    recorded.answer(original, wobbling((0, 10, 22)))
    one = leadline("prereg", repaired, "--title", "Repair", "--statistic", "wobble", "--below", "0.161",
                   "--minimum-items", "10")  # fmt: skip
    assert one.code == 0, one.err
    both = repaired / "difference.json"
    two = leadline("prereg", repaired, original, "--title", "Difference", "--statistic", "wobble",
                   "--below", "0", "--decided-by", "interval", "--out", both)  # fmt: skip
    assert two.code == 0, two.err
    recorded.answer(repaired, wobbling((2, 12, 11)))
    ended = leadline("verdict", repaired / "registration.json", repaired)
    assert "25/120 = 0.208 [0.145, 0.289] (wilson)" in ended.out
    assert "the prediction fails: 0.208 is not below 0.161" in ended.out
    ended = leadline("verdict", both, repaired, original)
    assert "25/120 less 32/120 = -0.058 [-0.165, 0.049] (newcombe)" in ended.out
    assert "cannot be decided" in ended.out and "holds the threshold 0" in ended.out


# Intervals over little

BY_INTERVAL = ("--title", "x", "--decided-by", "interval", "--configuration", WARM)


@pytest.mark.parametrize(
    ("statistic", "side"), [("dispersion", ("--below", "0.45")), ("response_rate", ("--above", "0.55"))]
)
@pytest.mark.parametrize(("items", "outcome"), [(2, "cannot be decided"), (12, "holds")])
def test_items_that_are_all_alike_decide_what_so_many_of_them_can(
    statistic: str,
    side: tuple[str, str],
    items: int,
    outcome: str,
    tmp_path: Path,
    model: Path,
    leadline: Leadline,
) -> None:
    """Resampling shows no spread among them, and yet two alike do not show that all others would be."""
    folder = small.small_study(tmp_path / "study", model, 12, **QUIET)
    made = leadline("prereg", folder, *BY_INTERVAL, "--statistic", statistic, *side)
    assert made.code == 0, made.err
    recorded.answer(folder, lambda _, item, sample: "w" if int(item[1:]) < items else None)
    ended = verdict(folder, leadline, "--partial")
    found = told(folder)
    assert (found["outcome"], found["items_measured"]) == (outcome, items)
    cells, bootstrap = found["figures"]
    assert (cells["method"], bootstrap["low"]) == ("wilson over cells", bootstrap["high"])
    assert "all alike, so it shows no spread" in ended.out
    if items == 2:
        assert "holds the threshold" in found["reason"] and "(wilson over cells)" in found["reason"]


def table_of(items: int, configurations: int, value: float) -> pl.DataFrame:
    """Cells of that value, under all configurations alike."""
    pairs = [(f"i{i}", f"c{c}") for i in range(items) for c in range(configurations)]
    return pl.DataFrame({"model": "m", "configuration": [c for _, c in pairs], "item": [i for i, _ in pairs],
                         "numerator": value, "denominator": 1.0})  # fmt: skip


@pytest.mark.parametrize("statistic", ["wobble", "dispersion"])
@pytest.mark.parametrize(("items", "outcome"), [(1, "cannot be decided"), (10, "holds")])
def test_many_cells_of_one_item_are_one_item(statistic: Statistic, items: int, outcome: str) -> None:
    prediction = Prediction(
        title="t", statistic=statistic, direction="below", threshold=0.3, decided_by="interval"
    )
    measured = pooled(table_of(items, 120 // items, 0.0), statistic)
    found, reason = decide(prediction, measured)
    assert found == outcome
    assert items == 10 or reason.endswith("(wilson over items)"), reason


@pytest.mark.parametrize("statistic", ["wobble", "dispersion", "accuracy", "response_rate"])
def test_one_item_is_no_difference(statistic: Statistic) -> None:
    one, other = table_of(1, 12, 0.0), table_of(1, 12, 1.0)
    prediction = Prediction(
        title="t",
        statistic=statistic,
        comparison="groups",
        direction="below",
        threshold=0.0,
        decided_by="interval",
    )
    for measured in (less(one, other, statistic), paired(one, other, statistic)):
        found, reason = decide(prediction, measured)
        assert found == "cannot be decided" and "newcombe over items" in reason


# What could only come out one way

WOBBLE = ("--title", "x", "--statistic", "wobble")  # unless the options say otherwise
ONE_WAY = {
    "too many readings": (("--below", "0.5", "--minimum-readings", "99"), "none can have 99 readable ones"),
    "too many readings of a name": (
        ("--below", "0.5", "--minimum-readings", "5", "--configuration", WARM), "tau-0.7 asks for 4 answers",
    ),
    "more dispersion than four answers have": (
        ("--statistic", "dispersion", "--above", "0.75"), "this could never hold: with the best answers",
    ),
    "less dispersion than four answers have": (
        ("--statistic", "dispersion", "--below", "0.8"), "this could never fail: with the worst answers",
    ),
    "readable answers that are required": (
        ("--statistic", "response_rate", "--above", "0.7", "--minimum-readings", "3"), "could never fail",
    ),
    "unreadable answers that are left out": (
        ("--statistic", "response_rate", "--below", "0.7", "--minimum-readings", "3"), "could never hold",
    ),
    "an interval of six items": (
        ("--below", "0.1", "--decided-by", "interval"), "could never hold: with the best answers",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("options", "said"), ONE_WAY.values(), ids=ONE_WAY)
def test_what_could_only_come_out_one_way_is_no_prediction(
    options: tuple[str, ...], said: str, fresh: Path, leadline: Leadline
) -> None:
    assert said in leadline("prereg", fresh, *WOBBLE, *options).fault
    assert not (fresh / "registration.json").exists()


def test_what_can_come_out_either_way_is_one(fresh: Path, leadline: Leadline) -> None:
    for number, options in enumerate((
        ("--statistic", "dispersion", "--above", "0.7"),
        ("--statistic", "response_rate", "--above", "0.8", "--minimum-readings", "3"),
        ("--below", "0.4", "--decided-by", "interval"),
        ("--below", "0.5", "--minimum-readings", "4"),
    )):  # fmt: skip
        made = leadline("prereg", fresh, *WOBBLE, *options, "--out", fresh / f"{number}.json")
        assert made.code == 0, made.err


def test_a_configuration_with_too_few_answers_for_the_minimum_does_not_count(
    fresh: Path, leadline: Leadline
) -> None:
    made = leadline("prereg", fresh, "--title", "x", "--statistic", "accuracy", "--above", "0.1",
                    "--minimum-readings", "2")  # fmt: skip
    assert made.code == 0, made.err
    found = read_registration(fresh / "registration.json")
    assert [one.name for one in found.tested.configurations] == [WARM], "greedy answers once"


@pytest.mark.parametrize("breaks", ["a\nb", "a\r\nb", "a\u2028b"])
def test_a_title_is_one_line(breaks: str, fresh: Path, leadline: Leadline) -> None:
    assert "title: must be one line" in leadline("prereg", fresh, *PLAIN, "--title", breaks).fault
    assert not (fresh / "registration.json").exists()
    assert leadline("prereg", fresh, *PLAIN, "--title", "a b\n").code == 0, "as YAML ends a block"
    assert read_registration(fresh / "registration.json").prediction.title == "a b"


@pytest.mark.parametrize(
    ("ref", "said"),
    [
        ("../gone", "the model '../gone': no such file or folder"),
        ("gone.gguf", "the model 'gone.gguf': no such file or folder"),
        ("gone", "the model 'gone': no model is called 'gone'"),
        ("prompts/gone", "no such file or folder in"),
        ("prompts", "the model 'prompts': no config.json"),
    ],
)
def test_a_model_that_leads_nowhere_is_not_registered(
    ref: str, said: str, fresh: Path, leadline: Leadline
) -> None:
    small.change(fresh, models=[ref])
    line = (fresh / "study.yaml").read_text("utf-8").splitlines().index(f"- {ref}") + 1
    fault = leadline("prereg", fresh, *PLAIN).fault
    assert said in fault and f"study.yaml:{line}: " in fault
    assert not (fresh / "registration.json").exists()


def test_a_model_of_the_hub_may_be_fetched_later(fresh: Path, leadline: Leadline) -> None:
    small.change(fresh, models=["nobody-at-all/not-fetched-yet"])
    made = leadline("prereg", fresh, *PLAIN)
    assert made.code == 0 and "not on this machine, so they are not pinned" in made.out


# The decision


@given(
    st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
    st.integers(1, 999),
)
def test_a_prediction_holds_or_fails_and_the_threshold_itself_is_on_neither_side(
    counts: tuple[int, int], thousandths: int
) -> None:
    value, threshold = counts[0] / counts[1], thousandths / 1000
    measured = Measured((Figure(value=value, low=value, high=value),), 9, 9, 9)
    outcome = {
        side: decide(
            Prediction(title="t", statistic="wobble", direction=side, threshold=threshold), measured
        )[0]
        for side in ("below", "above")
    }
    on_it = counts[0] * 1000 == thousandths * counts[1]
    assert list(outcome.values()).count("fails") == (2 if on_it else 1)
    assert list(outcome.values()).count("holds") == (0 if on_it else 1)


@pytest.mark.parametrize("threshold", [-0.1, 1.5, 0.0, float("nan")])
def test_a_prediction_that_cannot_hold_or_cannot_fail_is_none(threshold: float) -> None:
    with pytest.raises(ValueError, match=r"threshold|never hold|decided already|finite"):
        Prediction(title="t", statistic="wobble", direction="below", threshold=threshold)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 10**6), wobbling=st.sets(st.sampled_from(["i00", "i01", "i02", "i03", "i04", "i05"]))
)
def test_the_verdict_does_not_depend_on_the_order_of_the_answers(
    seed: int, wobbling: set[str], tmp_path_factory: pytest.TempPathFactory, model: Path
) -> None:
    from leadline.study.registering import register
    from leadline.study.registration import write_registration

    folder = small.small_study(tmp_path_factory.mktemp("order") / "study", model, **QUIET)
    file = folder / "registration.json"
    prediction = Prediction(title="t", statistic="dispersion", direction="below", threshold=0.2)
    registration = write_registration(register(open_study(folder), prediction), file)
    found: list[Verdict] = []
    for order in (None, seed):
        (folder / "responses.sqlite").unlink(missing_ok=True)
        recorded.answer(folder, flips(*wobbling), seed=order)
        found.append(judge(registration, file, open_study(folder)))
        small.write_items(folder / "items.jsonl", small.items()[::-1])
    first, second = (
        one.model_copy(update={"created": None, "oldest_response": None}).model_dump_json() for one in found
    )
    assert first == second


# A witness


def git(folder: Path, *arguments: str, **environment: str) -> None:
    settled = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org",
               "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org", **environment}  # fmt: skip
    import os

    subprocess.run(
        ["git", *arguments], cwd=folder, check=True, env={**os.environ, **settled}, capture_output=True
    )


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@pytest.mark.parametrize(("date", "before"), [(None, True), ("2099-01-01T00:00:00Z", False)])
def test_a_commit_that_holds_the_file_is_a_witness(
    date: str | None, before: bool, fresh: Path, leadline: Leadline
) -> None:
    git(fresh, "init", "-q")
    assert leadline("prereg", fresh, *PLAIN).code == 0
    git(fresh, "add", "registration.json")
    git(fresh, "commit", "-qm", "a prediction", **({"GIT_COMMITTER_DATE": date} if date else {}))
    import time

    time.sleep(1.1)  # commits know whole seconds
    recorded.answer(fresh, flips())
    assert verdict(fresh, leadline).code == 0
    found = told(fresh)
    assert found["anchor"]["before_responses"] is before
    assert any("version control does not show" in one for one in found["deviations"]) is not before


def test_without_a_commit_the_verdict_says_that_there_is_no_witness(
    registered: Path, leadline: Leadline
) -> None:
    assert "witness    none" in verdict(registered, leadline).out


# Bad input


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not JSON"),
        ("[]", "expected keys and values"),
        ('{"schema": "x"}', "not a registration: its schema is 'x'"),
        ('{"schema": "leadline.registration/1", "schema": "leadline.registration/1"}', "a key occurs twice"),
        ("[" * 100_000, "not a registration"),
        ("1" * 10_000, "not a registration"),
        ("\ud800", "not a registration"),
    ],
    ids=["empty", "list", "schema", "twice", "deep", "long number", "no UTF-8"],
)
def test_what_is_no_registration_is_one_line(text: str, said: str, fresh: Path, leadline: Leadline) -> None:
    file = fresh / "r.json"
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    assert said in leadline("verdict", file, fresh).fault


def test_a_prediction_file_says_the_same_as_options(fresh: Path, leadline: Leadline) -> None:
    file = fresh / "prediction.yaml"
    file.write_text(
        "title: Steady enough\nhypothesis: |\n  Two\n  lines.\nstatistic: wobble\nbelow: 0.3\n"
        "exclusions: [none]\nitems: [i01, i02]\nconfigurations: [tau-0.7]\n",
        "utf-8",
    )
    assert leadline("prereg", fresh, "--prediction", file, "--above", "0.9").code == 0
    found = read_registration(fresh / "registration.json")
    assert (found.prediction.direction, found.prediction.threshold) == ("above", 0.9), "options go before"
    assert found.items == ("i01", "i02") and found.prediction.exclusions == ("none",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("title: x\ntitel: y\n", "prediction.yaml:2: unknown key 'titel' (did you mean 'title'?)"),
        ("title: x\nbelow: low\n", "prediction.yaml:2: below: must be a number"),
        ("title: x\nstatistic: luck\nbelow: 0.2\n", "prediction.yaml:2: statistic: must be"),
        ("title: x\nstatistic: wobble\n", "the prediction has no direction (--below X or --above X)"),
        ("title: x\nstatistic: wobble\nbelow: 0.1\nabove: 0.2\n", "two directions"),
        ("title: x\nstatistic: wobble\nbelow: 2.5\n", "threshold: must be at most 1, not 2.5"),
        ("title: x\nstatistic: wobble\nbelow: 0.0\n", "this could never hold"),
        ("title: x\nstatistic: wobble\nbelow: 0.1\nitems: [i77]\n", "the study asks no item 'i77'"),
        (
            "title: x\nstatistic: wobble\nbelow: 0.1\nconfigurations: [tau]\n",
            "the study has no configuration 'tau'",
        ),
        (
            "title: x\nstatistic: wobble\nbelow: 0.1\nconfigurations: [greedy]\n",
            "greedy answers each item once",
        ),
        (
            "title: x\nstatistic: wobble\nbelow: 0.1\nminimum_items: 7\n",
            "6 items are registered, and at least 7",
        ),
        ("- a\n", "expected keys and values"),
    ],
)
def test_a_bad_prediction_is_one_line(text: str, said: str, fresh: Path, leadline: Leadline) -> None:
    file = fresh / "prediction.yaml"
    file.write_text(text, "utf-8")
    assert said in leadline("prereg", fresh, "--prediction", file).fault
    assert not (fresh / "registration.json").exists()
