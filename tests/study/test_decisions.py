"""People's decisions on labels are a layer: what they take out and correct is hand-counted, both ways."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from leadline.bench import load_benchmark
from leadline.bundle.statement import statement_text
from leadline.interop.export_answers import export_answers
from leadline.ordinary_file import content
from leadline.study.readings import readings
from leadline.study.store import open_store
from leadline.study.study import Study, open_study
from tests.study import recorded, small, stored
from tests.study.conftest import Leadline
from tests.study.decided import (
    ANSWERS,
    NAMES,
    decided,
    decided_study,
    decisions,
    items,
    lines,
    write_decisions,
)
from tests.study.test_population import audit_of

WITHOUT = Path("none")
STAY = ["q1", "q2", "q5", "q6", "q7", "q8"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The study, with its decisions beside its benchmark."""
    made = decided_study(tmp_path / "study")
    write_decisions(made / "bench" / "adjudications.jsonl", decisions())
    return made


def read(study: Study) -> pl.DataFrame:
    with open_store(study.folder, write=False) as store:
        return readings(study, store)


def right(frame: pl.DataFrame, column: str, item: str) -> list[bool | None]:
    """By configuration and sample."""
    found: list[bool | None] = (
        frame.filter(pl.col("item") == item).sort("configuration", "sample")[column].to_list()
    )
    return found


def figures(folder: Path, configuration: str) -> dict[str, Any]:
    rows = stored.table(stored.findings(folder), "adjudication", "both")
    (found,) = (row["figures"] for row in rows if row["keys"] == {"configuration": configuration})
    return dict(found)


def fractions(told: dict[str, Any], *names: str) -> list[tuple[float, float]]:
    return [(told[name]["numerator"], told[name]["denominator"]) for name in names]


def test_each_outcome_does_what_it_says(folder: Path) -> None:
    study = open_study(folder)
    assert [item.id for item in study.benchmark.items] == STAY
    assert study.population.excluded == {"q3": "adjudicated wrong", "q4": "adjudicated ambiguous"}
    assert study.population.corrected == ("q1",)
    assert study.population.decisions.outcomes == {
        "q1": "corrected",
        "q3": "wrong",
        "q4": "ambiguous",
        "q5": "rejected",
    }
    by_id = study.benchmark.by_id
    assert by_id["q1"].valid_answers == ("Berlin",), "aliases of the wrong answer are none of the right one"
    assert by_id["q5"].answer == "Madrid", "a rejected doubt leaves the label"
    assert by_id["q6"].answer == "Vienna", "what was withdrawn changes nothing"
    assert by_id["q7"].answer == "Prague", "a decision on another wording is not one on this"
    assert study.population.sentence == (
        "6 of 8 items drawn; left out: 2 (adjudicated wrong 1, adjudicated ambiguous 1); not audited; "
        "labels corrected: 1; adjudications: 4 decisions in force (2 upheld, 1 rejected, "
        "1 excluded-ambiguous); 1 stale; 1 unknown; 1 withdrawn"
    )


def test_every_list_of_the_same_decisions_counts_them_alike(folder: Path, leadline: Leadline) -> None:
    told = open_study(folder).population.decisions.counted
    assert f"capitals 1: {told}; 8 lines in" in " ".join(
        leadline("review", "decisions", folder / "bench").out.split()
    )
    assert f"adjudications: {told}" in open_study(folder).population.sentence
    (line,) = [one for one in statement_text(open_study(folder), []).splitlines() if "Decisions on" in one]
    assert f": {told}. Readers whose decisions are in force: 1. Labels corrected: 1. " in line


def test_decisions_on_items_that_were_not_drawn_are_told_apart(folder: Path) -> None:
    small.change(folder, items={"limit": 3})
    found = open_study(folder).population
    assert [item.id for item in found.everyone.items] == ["q1", "q6", "q8"]
    assert found.decisions.counted == (
        "1 decision in force (1 upheld); 4 on items not drawn; 1 unknown; 1 withdrawn"
    )


def test_the_benchmark_stays_as_annotated_and_everyone_is_still_there(folder: Path) -> None:
    study = open_study(folder)
    assert study.whole == load_benchmark(folder / "bench")
    assert study.whole.by_id["q1"].valid_answers == ("Bonn", "Bonn-am-Rhein")
    everyone = study.population.everyone
    assert [item.id for item in everyone.items] == list(ANSWERS)
    assert everyone.by_id["q1"].answer == "Berlin"


def test_readings_are_judged_by_both_labels_where_one_was_corrected(folder: Path) -> None:
    frame = read(open_study(folder))
    assert right(frame, "correct", "q1") == [True, True, True, True, True, False]
    assert right(frame, "correct_labelled", "q1") == [False, False, False, False, False, True]
    rest = frame.filter(pl.col("item") != "q1")
    assert rest["correct_labelled"].null_count() == rest.height
    without = read(open_study(folder, adjudications=WITHOUT)).sort("configuration", "item", "sample")
    before = frame.sort("configuration", "item", "sample").select(
        pl.coalesce("correct_labelled", "correct").alias("correct")
    )
    assert before["correct"].to_list() == without["correct"].to_list()
    for column in ("value", "value_shared", "state", "text"):
        assert frame.sort("configuration", "item", "sample")[column].equals(without[column]), column


def test_the_sentence_and_the_columns_say_it_where_nothing_is_applied(folder: Path) -> None:
    study = open_study(folder, adjudications=WITHOUT)
    assert study.population.sentence == "all 8 items drawn; not audited; not adjudicated"
    assert study.population.adjudications == ""
    frame = read(study)
    assert set(frame["adjudication"]) == {""} and set(frame["excluded"]) == {""}
    assert frame["correct_labelled"].null_count() == frame.height


def test_the_report_sets_both_readings_side_by_side(folder: Path, leadline: Leadline) -> None:
    ended = leadline("report", folder)
    assert ended.code == 0, ended.err
    pooled = figures(folder, "all configurations")
    assert fractions(pooled, "acc_labelled", "acc_adjudicated") == [(6, 16), (8, 12)]
    assert fractions(pooled, "wobble_labelled", "wobble_adjudicated") == [(6, 16), (4, 12)]
    assert fractions(pooled, "taken_right") == [(2, 12)]
    assert pooled["acc_change"]["value"] == pytest.approx(8 / 12 - 6 / 16)
    assert pooled["wobble_change"]["value"] == pytest.approx(4 / 12 - 6 / 16)
    assert pooled["acc_change"]["low"] < pooled["acc_change"]["value"] < pooled["acc_change"]["high"]
    a, b = (figures(folder, name) for name in NAMES)
    assert fractions(a, "acc_labelled", "acc_adjudicated") == [(3, 8), (4, 6)]
    assert fractions(a, "wobble_labelled", "wobble_adjudicated") == [(2, 8), (1, 6)]
    assert fractions(b, "acc_labelled", "acc_adjudicated") == [(3, 8), (4, 6)]
    assert fractions(b, "wobble_labelled", "wobble_adjudicated") == [(4, 8), (3, 6)]
    assert a["acc_labelled"]["method"] == "wilson"

    assert "What people's decisions on labels change" in ended.out
    assert "37.5 % (6/16)" in ended.out and "66.7 % (8/12)" in ended.out
    page = (folder / "report" / "report.html").read_text("utf-8")
    assert "What people&#39;s decisions on labels change" in page
    assert "Acc, labelled" in page and "Acc, adjudicated" in page
    for text in (ended.out, (folder / "report" / "tables.md").read_text("utf-8"), page):
        assert "labels corrected: 1; adjudications: 4 decisions in force (2 upheld, 1 rejected, " in (
            " ".join(text.split())
        )
    assert "is not shown by adjudication" in " ".join(ended.out.split()), "the caveat stands on the terminal"
    assert "Adjudication moves" not in ended.out


def test_either_reading_is_what_the_report_says_with_and_without_the_layer(
    folder: Path, leadline: Leadline
) -> None:
    assert leadline("report", folder, "--json").code == 0
    both = figures(folder, "all configurations")
    wobble = stored.table(stored.findings(folder), "wobble", "overall")[-1]["figures"]
    assert [wobble[name]["value"] for name in ("acc", "wobble")] == [
        both["acc_adjudicated"]["value"],
        both["wobble_adjudicated"]["value"],
    ]
    assert leadline("report", folder, "--adjudications", "none", "--json").code == 0
    document = stored.findings(folder)
    without = stored.table(document, "wobble", "overall")[-1]["figures"]
    for name in ("acc", "wobble"):
        assert without[name] == both[f"{name}_labelled"]
    assert not [one for one in document["findings"] if one["lens"] == "adjudication"]
    assert document["benchmark"]["adjudications"] == ""


def test_a_rise_of_accuracy_is_not_sold_as_the_models_merit(folder: Path, leadline: Leadline) -> None:
    leadline("report", folder)
    document = stored.findings(folder)
    (found,) = (one for one in document["findings"] if one["lens"] == "adjudication")
    (claim,) = found["claims"]
    assert claim["status"] == "unreachable by construction"
    assert (
        "pooled accuracy 66.7 % (8/12) instead of 37.5 % (6/16), +29.2 points; accuracy rises in 2 of 2"
        in claim["text"]
    )
    assert "because" not in claim["text"], "why labels were doubted was not measured"
    assert claim["conservative"] == "37.5 % by the labels as they were"
    assert found["notes"][0] == "Taken out: 2 of 8 items (ambiguous 1, wrong 1). Labels corrected: 1."


def test_a_corrected_label_alone_moves_no_wobble(folder: Path, leadline: Leadline) -> None:
    write_decisions(folder / "bench" / "adjudications.jsonl", decisions()[:1])
    leadline("report", folder)
    pooled = figures(folder, "all configurations")
    assert pooled["wobble_labelled"] == pooled["wobble_adjudicated"]
    assert (pooled["wobble_change"]["value"], pooled["wobble_change"]["method"]) == (0, "by construction")
    assert fractions(pooled, "acc_labelled", "acc_adjudicated") == [(6, 16), (8, 16)]
    assert pooled["taken_right"]["value"] is None


def test_a_rejected_doubt_leaves_the_list_of_labels_to_look_at_and_changes_no_figure(
    folder: Path, leadline: Leadline
) -> None:
    def listed() -> list[str]:
        rows = stored.table(stored.findings(folder), "label_errors", "candidates")
        return sorted(row["keys"]["item"] for row in rows)

    leadline("report", folder, "--adjudications", "none")
    assert listed() == ["q1", "q3", "q4", "q5", "q6"]
    before = stored.table(stored.findings(folder), "wobble", "overall")
    write_decisions(folder / "bench" / "adjudications.jsonl", decisions()[3:4])
    leadline("report", folder)
    assert listed() == ["q1", "q3", "q4", "q6"]
    document = stored.findings(folder)
    assert stored.table(document, "wobble", "overall") == before
    assert not [one for one in document["findings"] if one["lens"] == "adjudication"]
    assert "adjudications: 1 decision in force (1 rejected)" in document["benchmark"]["population"]
    assert document["benchmark"]["adjudications"].startswith("sha256:")


def test_what_is_not_applied_is_named_and_refuses_nothing(folder: Path, leadline: Leadline) -> None:
    ended = leadline("report", folder)
    file = folder / "bench" / "adjudications.jsonl"
    assert f"note: {file}: 1 decision is about another question, window or label" in ended.err
    assert "not applied: q7" in ended.err
    assert f"note: {file}: 1 decision is about items that the benchmark lacks, and not applied: q99" in (
        ended.err
    )
    assert ended.code == 0


def test_an_edit_of_the_item_makes_a_decision_stale(folder: Path) -> None:
    entries = items()
    entries[3]["question"] = "Which capital does question q4 mean now?"
    small.write_items(folder / "bench" / "items.jsonl", entries)
    study = open_study(folder)
    assert list(study.population.decisions.stale) == ["q4", "q7"]
    assert "q4" in study.benchmark.by_id
    assert "3 decisions in force (2 upheld, 1 rejected); 2 stale; 1 unknown" in study.population.sentence


def test_the_checksum_is_that_of_the_decisions_that_were_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody decides while the file is being read."""
    file = folder / "bench" / "adjudications.jsonl"
    before = file.read_bytes()

    def content_and_growth(path: Path) -> bytes:
        data = content(path)
        if path == file:
            write_decisions(file, [*decisions(), decided(items()[2], "rejected")])
        return data

    monkeypatch.setattr("leadline.study.decisions.content", content_and_growth)
    found = open_study(folder).population.decisions
    assert file.read_bytes() != before
    assert found.digest == f"sha256:{hashlib.sha256(before).hexdigest()}"
    assert found.outcomes["q3"] == "wrong"


def test_the_last_decision_on_an_item_counts(folder: Path) -> None:
    file = folder / "bench" / "adjudications.jsonl"
    write_decisions(file, [*decisions(), decided(items()[2], "rejected")])
    study = open_study(folder)
    assert study.population.excluded == {"q4": "adjudicated ambiguous"}
    assert study.population.decisions.outcomes["q3"] == "rejected"


def test_the_draw_does_not_depend_on_the_layer(folder: Path) -> None:
    small.change(folder, items=5)
    without = {item.id for item in open_study(folder, adjudications=WITHOUT).benchmark.items}
    study = open_study(folder)
    assert {item.id for item in study.population.everyone.items} == without
    assert {item.id for item in study.benchmark.items} == without - {"q3", "q4"}
    assert set(study.population.decisions.outcomes) <= without, "of what was not drawn nothing is counted"


def test_an_audits_reason_comes_before_a_name_and_a_name_before_a_decision(folder: Path) -> None:
    small.change(folder, exclude={"items": ["q3"]})
    study = open_study(folder)
    assert study.population.excluded == {"q3": "named", "q4": "adjudicated ambiguous"}
    assert read(study).filter(pl.col("item") == "q3")["adjudication"].unique().to_list() == ["wrong"]


def test_what_study_yaml_names_takes_the_place_of_what_lies_beside_the_benchmark(
    folder: Path, leadline: Leadline
) -> None:
    write_decisions(folder / "ours.jsonl", decisions()[2:3])
    small.change(folder, adjudications="ours.jsonl")
    assert open_study(folder).population.excluded == {"q4": "adjudicated ambiguous"}
    small.change(folder, adjudications="none")
    assert open_study(folder).population.sentence.endswith("not adjudicated")
    theirs = write_decisions(folder / "theirs.jsonl", decisions()[1:2])
    assert open_study(folder, adjudications=theirs).population.excluded == {"q3": "adjudicated wrong"}
    ended = leadline("report", folder, "--adjudications", theirs)
    assert "left out: 1 (adjudicated wrong 1)" in ended.out


def test_a_file_that_is_none_is_one_line(folder: Path, leadline: Leadline) -> None:
    line = 1 + (folder / "study.yaml").read_text().count("\n")
    small.change(folder, adjudications="absent.jsonl")
    fault = leadline("report", folder).fault
    assert f"study.yaml:{line}: adjudications absent.jsonl: cannot be read" in fault
    assert "cannot be read" in leadline("report", folder, "--adjudications", folder / "no.jsonl").fault
    small.change(folder, adjudications="none")
    broken = folder / "broken.jsonl"
    broken.write_text('{"item": "q1"}\n', "utf-8")
    assert f"{broken}:1: outcome is missing" in leadline("report", folder, "--adjudications", broken).fault


def test_decisions_that_leave_nothing_are_refused(folder: Path, leadline: Leadline) -> None:
    every = [decided(entry, "excluded-ambiguous") for entry in items()]
    write_decisions(folder / "bench" / "adjudications.jsonl", every)
    assert "the decisions leave no item to ask" in leadline("report", folder).fault
    assert leadline("report", folder, "--adjudications", "none").code == 0


def test_a_corrected_answer_that_is_none_of_its_type_is_refused_before_it_makes_all_answers_wrong(
    tmp_path: Path, leadline: Leadline
) -> None:
    folder = decided_study(tmp_path / "study")
    entries = items()
    entries[1] |= {"answer": "7", "answer_type": "number"}
    small.write_items(folder / "bench" / "items.jsonl", entries)
    wrong = decided(entries[1], "upheld", corrected="nobody knows")
    write_decisions(folder / "bench" / "adjudications.jsonl", [wrong])
    for command in (["report", folder], ["export", "answers", folder, "--out", folder / "out.csv"]):
        fault = leadline(*command).fault
        assert "item q2: the corrected answer is not of its type, number" in fault
        assert "adjudications.jsonl" in fault


def test_an_empty_file_is_a_layer_without_decisions(folder: Path) -> None:
    write_decisions(folder / "bench" / "adjudications.jsonl", [])
    study = open_study(folder)
    assert study.population.sentence.endswith("adjudications: 0 decisions in force")
    assert study.population.adjudications.startswith("sha256:")


def test_exported_answers_say_both(folder: Path) -> None:
    export_answers(open_study(folder), folder / "out.jsonl")
    rows = lines(folder / "out.jsonl")
    assert len(rows) == 48
    first = [row for row in rows if row["item"] == "q1" and row["configuration"] == "b"]
    assert [(row["correct"], row["correct_labelled"]) for row in first] == [
        (True, False),
        (True, False),
        (False, True),
    ]
    assert {row["item"]: row["adjudication"] for row in rows if row["adjudication"]} == {
        "q1": "corrected",
        "q3": "wrong",
        "q4": "ambiguous",
        "q5": "rejected",
    }
    assert all(row["correct_labelled"] is None for row in rows if row["item"] != "q1")


def test_a_run_does_not_ask_what_was_taken_out_and_keeps_its_answers_when_a_label_is_corrected(
    tmp_path: Path, model: Path, leadline: Leadline
) -> None:
    folder = small.small_study(tmp_path / "study", model, techniques=[], beyond_sampling=None)
    entries = small.items()
    chosen = [decided(entries[2], "excluded-ambiguous")]
    file = write_decisions(folder / "ours.jsonl", chosen)
    small.change(folder, adjudications="ours.jsonl")
    assert leadline("run", folder, "--quiet").code == 0
    asked = {item for _, item, _, _ in stored.rows(folder)}
    assert asked == {"i00", "i01", "i03", "i04", "i05"}
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))["benchmark"]
    assert manifest["adjudications"] == stored.findings(folder)["benchmark"]["adjudications"] != ""
    kept = stored.texts(folder)
    write_decisions(file, [*chosen, decided(entries[0], "upheld", corrected="zzz")])
    assert leadline("run", folder, "--quiet").code == 0
    assert stored.texts(folder) == kept, "another label is no other question"


def test_a_decision_made_after_a_registration_is_noticed(
    tmp_path: Path, model: Path, leadline: Leadline
) -> None:
    quiet = {"techniques": [], "sampling": {"temperatures": [0.7], "vote": 4}, "beyond_sampling": None}
    folder = small.small_study(tmp_path / "study", model, **quiet)
    plain = ("--title", "Steady enough", "--statistic", "wobble", "--below", "0.5")
    assert leadline("prereg", folder, *plain).code == 0
    recorded.answer(folder, lambda configuration, item, sample: "a")
    verdict = ("verdict", folder / "registration.json", folder)
    assert leadline(*verdict).code == 0
    entries = small.items()
    for one, said in (
        (
            decided(entries[0], "upheld", corrected="zzz"),
            "registered items are corrected otherwise",
        ),
        (decided(entries[1], "upheld"), "1 of them by people's decisions"),
    ):
        file = write_decisions(folder / "later.jsonl", [one])
        fault = leadline(*verdict, "--adjudications", file).err.splitlines()[-1]
        assert said in fault and "--adjudications none" in fault
        assert leadline(*verdict, "--adjudications", "none").code == 0


def test_what_was_decided_before_the_registration_is_part_of_it(
    tmp_path: Path, model: Path, leadline: Leadline
) -> None:
    quiet = {"techniques": [], "sampling": {"temperatures": [0.7], "vote": 4}, "beyond_sampling": None}
    folder = small.small_study(tmp_path / "study", model, adjudications="ours.jsonl", **quiet)
    entries = small.items()
    write_decisions(folder / "ours.jsonl", [decided(entries[0], "upheld", corrected="zzz")])
    plain = ("--title", "Right enough", "--statistic", "accuracy", "--above", "0.1")
    assert leadline("prereg", folder, *plain).code == 0
    registered = json.loads((folder / "registration.json").read_text("utf-8"))["tested"]
    assert "labels corrected: 1" in registered["population"] and registered["labels"].startswith("sha256:")
    recorded.answer(folder, lambda configuration, item, sample: "zzz")
    verdict = ("verdict", folder / "registration.json", folder)
    assert leadline(*verdict).code == 0
    assert "corrected otherwise" in leadline(*verdict, "--adjudications", "none").err
    write_decisions(folder / "ours.jsonl", [decided(entries[0], "upheld", corrected="yyy")])
    assert "corrected otherwise" in leadline(*verdict).err


def test_an_audited_study_counts_a_flagged_item_with_the_audit(
    tmp_path: Path, model: Path, leadline: Leadline
) -> None:
    folder = small.small_study(tmp_path / "study", model, techniques=[], beyond_sampling=None)
    audit_of(folder)
    small.change(folder, exclude={"audit": "audit.json"}, adjudications="ours.jsonl")
    entries = small.items()
    chosen = [decided(entries[1], "excluded-ambiguous"), decided(entries[5], "upheld")]
    write_decisions(folder / "ours.jsonl", chosen)
    study = open_study(folder)
    assert study.population.excluded == {
        "i01": "evidence absent",
        "i03": "computational",
        "i05": "adjudicated wrong",
    }
    assert study.population.sentence == (
        "3 of 6 items drawn; left out: 3 (evidence absent 1, computational 1, adjudicated wrong 1); "
        "adjudications: 2 decisions in force (1 upheld, 1 excluded-ambiguous)"
    )
