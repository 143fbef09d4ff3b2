"""Recorded answers stand beside asked ones: in one study, under their own names, in the parts they play."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from leadline.errors import UsageError
from leadline.study.members import members, protocol
from leadline.study.readings import readings
from leadline.study.recording import RecordedAnswer, record
from leadline.study.store import open_store
from leadline.study.study import Study, open_study
from tests.study import stored
from tests.study.conftest import Leadline
from tests.study.small import change, items
from tests.study.test_population import audit_of


def answers(text: str, number: int = 3) -> list[RecordedAnswer]:
    return [RecordedAnswer(item["id"], sample, text) for item in items() for sample in range(number)]


def parts(study: Study) -> tuple[list[tuple[str, str, str]], list[tuple[str, str, int]]]:
    """Members as (model, configuration, kind), methods as (name, kind, vote)."""
    with open_store(study.folder, write=False) as store:
        found = protocol(study, members(study, store))
    return (
        [(one.model, one.configuration, one.kind) for one in found.members],
        [(one.name, one.kind, one.vote) for one in found.methods],
    )


def test_recorded_answers_of_an_asked_model_are_compared_with_its_baseline(
    study: Path, leadline: Leadline
) -> None:
    done = record(study, "tiny", "elsewhere", {"serving": "routed"}, answers("e"))
    assert (done.stored, done.known, done.failed) == (18, 0, 0)
    members_, methods = parts(open_study(study))
    assert [one[:2] for one in members_][-1] == ("tiny", "elsewhere")
    assert methods[-3:] == [
        ("elsewhere", "recorded", 3),
        ("tau-0.7", "sampling", 3),
        ("tau-1.2", "sampling", 3),
    ]
    ended = leadline("report", study)
    assert ended.code == 0 and "not there yet" not in ended.err
    rows = stored.table(stored.findings(study), "transitions", "overall")
    assert "elsewhere" in [row["keys"]["method"] for row in rows]
    (entry,) = (one for one in stored.findings(study)["configurations"] if one["name"] == "elsewhere")
    assert (entry["technique"], entry["samples"], entry["responses"]) == ("recorded", 3, 18)
    assert entry["settings"] == {"serving": "routed"} and len(entry["id"]) == 16


def test_a_model_that_is_not_asked_is_a_model_of_its_own(study: Path, leadline: Leadline) -> None:
    before = {(one["lens"], one["table"], one["model"]): one for one in told(study, leadline)}
    record(study, "hosted", "answers", {}, answers("e"))
    after = {(one["lens"], one["table"], one["model"]): one for one in told(study, leadline)}
    document = stored.findings(study)
    assert [one["name"] for one in document["models"]] == ["hosted", "tiny"]
    assert document["models"][0]["description"] == "recorded answers"
    of_tiny = [key for key in before if key[2] == "tiny"]
    assert of_tiny
    for key in of_tiny:
        assert after[key] == before[key]
    assert not [key for key in after if key[2] == "hosted" and not after[key]["rows"]]


def told(study: Path, leadline: Leadline) -> list[dict[str, object]]:
    assert leadline("report", study, "--json").code == 0
    return list(stored.findings(study)["findings"])


def test_a_run_after_an_import_asks_nothing_twice_and_the_manifest_tells_of_both(
    study: Path, leadline: Leadline
) -> None:
    record(study, "tiny", "elsewhere", {"serving": "routed"}, answers("e"))
    ended = leadline("run", study, "--no-report")
    assert ended.code == 0 and "0 answers drawn" in ended.err
    manifest = json.loads((study / "manifest.json").read_text("utf-8"))
    assert manifest["configurations"]["tiny/elsewhere"]["recorded"]["serving"] == "routed"
    assert manifest["configurations"]["tiny/greedy"]["role"] == "baseline"
    assert [one.get("recorded") for one in manifest["runs"]] == [
        None,
        {"model": "tiny", "configuration": "elsewhere"},
        None,
    ]


def test_what_the_study_asks_is_not_recorded_as_well(study: Path, leadline: Leadline) -> None:
    with pytest.raises(UsageError, match="tiny · greedy is asked by this study"):
        record(study, "tiny", "greedy", {}, answers("e"))
    record(study, "tiny", "plain", {}, answers("e"))
    change(study, techniques=[{"technique": "genread", "name": "plain"}])
    assert "tiny · plain is asked by this study" in leadline("report", study).fault


def test_a_baseline_is_for_studies_without_models(study: Path, leadline: Leadline) -> None:
    change(study, baseline="greedy")
    line = 1 + (study / "study.yaml").read_text("utf-8").split("baseline:")[0].count("\n")
    assert f"study.yaml:{line}: baseline: models are compared" in leadline("report", study).fault


def test_later_answers_are_added_and_contradictions_refused(study: Path) -> None:
    record(study, "m", "x", {"family": "f"}, answers("e", 2))
    done = record(study, "m", "x", {"serving": "direct"}, answers("e", 4))
    assert (done.stored, done.known) == (12, 12)
    opened = open_study(study)
    with open_store(study, write=False) as store:
        (one,) = (one for one in members(opened, store) if one.model == "m")
    assert one.samples == 4
    assert (one.about["family"], one.about["serving"]) == ("f", "direct")
    there = stored.texts(study)
    with pytest.raises(UsageError, match=r"line 7.*sample 1 of m · x is answered 'o' here and 'e' before"):
        record(
            study,
            "m",
            "x",
            {},
            [RecordedAnswer("i00", 4, "e"), RecordedAnswer("i00", 1, "o", where="line 7")],
        )
    assert stored.texts(study) == there


def test_an_audit_groups_items_and_says_why_others_are_left_out(study: Path, leadline: Leadline) -> None:
    path = audit_of(study)
    document = json.loads(path.read_text("utf-8"))
    document["items"][0]["answer_in_window"] = "stated"
    document["items"][2]["answer_in_window"] = "not stated"
    path.write_text(json.dumps(document), "utf-8")
    change(study, exclude={"audit": "audit.json", "verdicts": ["computational"], "items": ["i05"]})
    opened = open_study(study)
    with open_store(study, write=False) as store:
        frame = readings(opened, store)
    about = frame.group_by("item").agg(pl.col("audit", "stated", "excluded").unique()).sort("item")
    assert about.select(pl.all().explode()).rows() == [
        ("i00", "clean", "stated", ""),
        ("i01", "evidence absent", "", ""),
        ("i02", "clean", "not stated", ""),
        ("i03", "computational", "", "computational"),
        ("i04", "not checkable", "", ""),
        ("i05", "clean", "", "named"),
    ]
    assert leadline("report", study).code == 0
    accuracy = stored.table(stored.findings(study), "accuracy", "overall")
    assert {row["figures"]["acc"]["denominator"] for row in accuracy} == {4}
    assert '"i03"' not in (study / "report" / "report.html").read_text("utf-8")


def test_an_audit_may_group_without_leaving_anything_out(study: Path, leadline: Leadline) -> None:
    path = audit_of(study)
    assert leadline("report", study, "--audit", path, "--exclude", "none").code == 0
    benchmark = stored.findings(study)["benchmark"]
    assert benchmark["items_asked"] == 6 and benchmark["audit"].startswith("sha256:")
    assert stored.table(stored.findings(study), "contrast", "flagged against clean")
    assert leadline("report", study).code == 0
    assert not [one for one in stored.findings(study)["findings"] if one["table"] == "flagged against clean"]
    change(study, audit="audit.json")
    assert leadline("report", study).code == 0
    assert stored.findings(study)["benchmark"]["items_asked"] == 6
    assert stored.table(stored.findings(study), "contrast", "flagged against clean")
    both = leadline("report", study, "--audit", path, "--exclude", "none", "--exclude", "flagged").fault
    assert "--exclude none leaves nothing out, and others do" in both
