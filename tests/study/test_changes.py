"""Between two runs a model, a wording or the code may change: it is refused, or gone on with and kept."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from leadline.study import changes
from leadline.study.progress import Quiet
from leadline.study.run import run_study
from leadline.study.store import open_store
from leadline.study.study import open_study
from tests.study import stored
from tests.study.conftest import Leadline
from tests.study.recorded import edit
from tests.study.small import change, items, small_study, write_items


def reword(folder: Path, *numbers: int) -> None:
    entries = items()
    for number in numbers:
        entries[number]["question"] = f"And number {number}?"
    write_items(folder / "items.jsonl", entries)


def run(leadline: Leadline, folder: Path, *flags: str) -> Any:
    return leadline("run", folder, "--quiet", "--no-report", *flags)


def manifest(folder: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((folder / "manifest.json").read_text("utf-8"))
    return document


def older(folder: Path, **noted: Any) -> None:
    """What the last run noted of the code it ran, as an earlier state of this program would have."""
    with open_store(folder, write=True) as store:
        last = store.history()[-1]
        store.note_run(last.run, {"code": {**last.about["code"], **noted}})


def test_a_reworded_item_is_refused_in_one_line_and_nothing_is_asked(study: Path, leadline: Leadline) -> None:
    before, pinned = stored.rows(study), (study / "manifest.json").read_bytes()
    old = open_study(study).asked(open_study(study).benchmark.items[2])
    reword(study, 2)
    new = open_study(study).asked(open_study(study).benchmark.items[2])
    ended = run(leadline, study)
    assert ended.code == 2
    fault = ended.fault
    assert f"item i02 is worded otherwise than when it was asked ({old}, now {new})" in fault
    assert "--accept-changes goes on" in fault and "new study folder" in fault and str(study) in fault
    assert stored.rows(study) == before and (study / "manifest.json").read_bytes() == pinned
    with open_store(study, write=False) as store:
        assert len(store.history()) == 1


def test_many_reworded_items_are_counted(study: Path, leadline: Leadline) -> None:
    reword(study, 0, 1, 2, 3, 4)
    fault = run(leadline, study).fault
    assert "i00" in fault and "i02" in fault and "i03" not in fault and "and 2 more items" in fault


def test_an_accepted_change_is_kept_in_database_manifest_and_report(study: Path, leadline: Leadline) -> None:
    reword(study, 2)
    assert run(leadline, study, "--accept-changes").code == 0
    (kept,) = manifest(study)["runs"][-1]["accepted"]
    assert (kept["kind"], kept["what"]) == ("item", "i02") and kept["time"].startswith("20")
    assert manifest(study)["runs"][0]["accepted"] == []
    ended = leadline("report", study)
    assert "note: Changed before run 2" in ended.err and "item i02 is worded otherwise" in ended.err
    (sentence,) = stored.findings(study)["changes"]
    assert "accepted: item i02" in sentence
    assert sentence in (study / "report" / "report.html").read_text("utf-8").replace("&#39;", "'")
    assert "**Drawn in parts.**" in (study / "report" / "tables.md").read_text("utf-8")


def test_what_was_accepted_is_not_asked_about_again_though_the_run_was_stopped(
    study: Path, leadline: Leadline
) -> None:
    reword(study, 2)
    assert run(leadline, study, "--accept-changes").code == 0
    edit(study, "DELETE FROM responses WHERE run = 2")
    assert run(leadline, study).code == 0
    reword(study, 2, 3)
    assert "i02" not in run(leadline, study).fault


def test_an_old_wording_that_returns_is_no_change(study: Path, leadline: Leadline) -> None:
    reword(study, 2)
    assert run(leadline, study, "--accept-changes").code == 0
    write_items(study / "items.jsonl", items())
    assert run(leadline, study).code == 0


def test_further_items_and_other_gold_answers_are_no_change(
    tmp_path: Path, model: Path, leadline: Leadline
) -> None:
    folder = small_study(tmp_path / "study", model, 8, items=4)
    assert run(leadline, folder).code == 0
    entries = [{**entry, "aliases": ["x"]} for entry in items(10)]
    write_items(folder / "items.jsonl", entries)
    change(folder, items=9, max_tokens=5)
    assert run(leadline, folder).code == 0
    assert all(one["accepted"] == [] for one in manifest(folder)["runs"])


@pytest.mark.parametrize("what", ["weights", "dtype"])
def test_another_model_under_the_same_name_is_refused_and_the_first_one_may_return(
    study: Path, model: Path, other_model: Path, leadline: Leadline, what: str
) -> None:
    before = stored.rows(study)
    other = {"ref": str(other_model)} if what == "weights" else {"ref": str(model), "dtype": "bfloat16"}
    change(study, models=[{"name": model.name, **other}])
    fault = run(leadline, study).fault
    assert f"model {model.name} is not the one that was asked" in fault
    assert "float32, now" in fault and ("bfloat16" in fault) == (what == "dtype")
    assert stored.rows(study) == before
    change(study, models=[str(model)])
    assert run(leadline, study).code == 0
    change(study, models=[{"name": model.name, **other}])
    assert run(leadline, study, "--accept-changes").code == 0
    assert [one["kind"] for one in manifest(study)["runs"][-1]["accepted"]] == ["model"]
    assert run(leadline, study).code == 0, "accepted once"


def test_another_model_under_another_name_is_no_change(
    study: Path, model: Path, other_model: Path, leadline: Leadline
) -> None:
    change(study, models=[str(model), str(other_model)])
    assert run(leadline, study).code == 0


@pytest.mark.parametrize(
    ("noted", "told"),
    [
        ({"transformers": "4.0.0"}, "transformers is not what earlier answers were drawn with (4.0.0, now "),
        ({"leadline": "0.0.9", "leadline's sources": "0" * 64}, "leadline is not what earlier answers"),
        ({"leadline's sources": "0" * 64}, "leadline's sources is not what earlier"),
    ],
)
def test_other_code_is_refused_only_when_something_is_to_be_drawn(
    study: Path, leadline: Leadline, noted: dict[str, str], told: str
) -> None:
    older(study, **noted)
    assert run(leadline, study).code == 0, "nothing is missing"
    change(study, max_tokens=5)
    before = stored.rows(study)
    fault = run(leadline, study).fault
    assert told in fault and stored.rows(study) == before
    assert ("sources" in fault) == ("leadline" not in noted and "transformers" not in noted)
    assert run(leadline, study, "--accept-changes").code == 0
    change(study, max_tokens=4)
    assert run(leadline, study).code == 0, "what was accepted is the state from now on"


def test_studies_of_versions_that_noted_no_code_are_compared_by_versions(
    study: Path, leadline: Leadline
) -> None:
    with sqlite3.connect(study / "responses.sqlite") as database:
        about = json.loads(database.execute("SELECT about FROM runs").fetchone()[0])
        del about["code"], about["models"], about["drawn"]
    database.close()
    edit(study, "UPDATE runs SET about = ?", json.dumps(about))
    change(study, max_tokens=5)
    assert run(leadline, study).code == 0
    about["environment"]["libraries"]["torch"] = "1.0"
    edit(study, "UPDATE runs SET about = ?", json.dumps(about))
    change(study, max_tokens=4)
    assert "torch is not what earlier answers were drawn with (1.0, now" in run(leadline, study).fault


def test_the_manifest_tells_every_run(study: Path, leadline: Leadline) -> None:
    first = manifest(study)["runs"]
    assert [one["run"] for one in first] == [1]
    assert first[0]["drawn"] == len(stored.rows(study)) and first[0]["finished"] >= first[0]["started"]
    assert first[0]["code"] == manifest(study)["code"] == changes.code()
    (digest,) = {one["digest"] for one in manifest(study)["models"].values()}
    assert first[0]["models"] == {"tiny": {"digest": digest, "dtype": "float32"}}
    assert run(leadline, study).code == 0
    assert [(one["run"], one["drawn"]) for one in manifest(study)["runs"]] == [(1, first[0]["drawn"]), (2, 0)]


def test_a_run_that_was_stopped_notes_what_it_drew(tmp_path: Path, model: Path) -> None:
    folder = small_study(tmp_path / "study", model, batch_rows=4)

    class Impatient(Quiet):
        def advance(self, answers: int, tokens: int) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_study(open_study(folder), Impatient())
    with open_store(folder, write=False) as store:
        (note,) = store.history()
    assert note.finished is None and note.about["drawn"] == len(stored.rows(folder)) > 0


def test_the_code_digest_is_of_the_sources_that_decide_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import leadline

    def digest() -> str:
        return changes.code.__wrapped__()["leadline's sources"]

    for place in ("engine/a.py", "techniques/deep/b.py", "models/c.py", "report/d.py"):
        (tmp_path / place).parent.mkdir(parents=True)
        (tmp_path / place).write_text("1", "utf-8")
    monkeypatch.setattr(leadline, "__file__", str(tmp_path / "__init__.py"))
    before = digest()
    (tmp_path / "report/d.py").write_text("2", "utf-8")
    assert digest() == before
    (tmp_path / "techniques/deep/b.py").write_text("2", "utf-8")
    assert digest() != before
    (tmp_path / "techniques/deep/b.py").write_text("1", "utf-8")
    (tmp_path / "models/c.py").rename(tmp_path / "models/e.py")
    assert digest() != before
