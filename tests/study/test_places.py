"""Studies anywhere: paths start at the study's folder, names are free, several models answer side by side."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from leadline.errors import UsageError
from leadline.study.study import open_study
from tests.study import stored
from tests.study.conftest import Leadline
from tests.study.small import change, small_study


def test_relative_paths_start_at_the_studys_folder_whatever_the_current_one_is(
    tmp_path: Path, model: Path, leadline: Leadline, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(model, tmp_path / "models" / "mine")
    folder = small_study(tmp_path / "deep" / "study", "../../models/mine")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for current, named in ((elsewhere, folder), (folder, "."), (folder.parent, "study"), (Path("/"), folder)):
        monkeypatch.chdir(current)
        assert leadline("run", named, "--quiet", "--no-report").code == 0
    assert stored.runs(folder) == 4 and set(stored.drawn_per_run(folder)) == {1}
    monkeypatch.chdir(folder)
    assert leadline("report").code == 0, "the current folder is the default"


def test_what_lies_in_the_current_folder_only_is_not_taken_for_the_studys_model(
    tmp_path: Path, model: Path, leadline: Leadline, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(model, tmp_path / "here" / "org" / "mine")
    folder = small_study(tmp_path / "study", "org/mine")
    monkeypatch.chdir(tmp_path / "here")
    fault = leadline("run", folder, "--quiet").fault
    assert f"{folder}/study.yaml:" in fault and "there is no model 'org/mine' in the study's folder" in fault
    assert not stored.rows(folder)


def test_a_folder_with_spaces_and_letters_of_all_kinds(
    tmp_path: Path, model: Path, leadline: Leadline
) -> None:
    odd = tmp_path / "Prüfung № 7 – 知识 (50 %?#)"
    shutil.copytree(model, odd / "mein Modell ü")
    folder = small_study(odd / "a study", "../mein Modell ü")
    shutil.move(folder / "items.jsonl", folder / "fragen ß.jsonl")
    shutil.move(folder / "prompts", folder / "eigene prompts")
    change(folder, benchmark="fragen ß.jsonl", prompts="eigene prompts")
    assert leadline("run", folder, "--quiet").code == 0
    before = stored.findings(folder)
    assert before["models"][0]["name"] == "mein Modell ü"
    assert leadline("report", folder, "--out", odd / "aus gabe").code == 0
    assert stored.findings(odd, "aus gabe") == before


def test_a_study_that_was_copied_elsewhere_reports_the_same_without_its_model(
    tmp_path: Path, model: Path, leadline: Leadline
) -> None:
    folder = small_study(tmp_path / "study", model)
    assert leadline("run", folder, "--quiet").code == 0
    copy = shutil.copytree(folder, tmp_path / "copy")
    change(copy, models=[{"ref": "/no/longer/there/tiny"}])
    assert leadline("report", copy).code == 0
    assert stored.findings(copy) == stored.findings(folder)


def test_two_models_in_one_study_answer_separately(
    tmp_path: Path, model: Path, other_model: Path, leadline: Leadline
) -> None:
    both = small_study(
        tmp_path / "both", model, models=[str(model), {"ref": str(other_model), "name": "second"}]
    )
    assert leadline("run", both, "--quiet").code == 0
    document = stored.findings(both)
    assert [one["name"] for one in document["models"]] == ["second", "tiny"]
    assert len({one["digest"] for one in document["models"]}) == 2
    assert {one["model"] for one in document["findings"]} == {"second", "tiny", "all models"}
    texts = set()
    for name, path in (("tiny", model), ("second", other_model)):
        alone = small_study(tmp_path / name, path, models=[{"ref": str(path), "name": name}])
        assert leadline("run", alone, "--quiet").code == 0
        mine = [one for one in document["findings"] if one["model"] == name]
        assert mine == [one for one in stored.findings(alone)["findings"] if one["model"] == name]
        assert stored.texts(both).items() >= stored.texts(alone).items()
        texts.add(tuple(sorted(stored.texts(alone).values())))
    assert len(texts) == 2


def test_a_model_added_later_asks_only_the_new_one(
    tmp_path: Path, model: Path, other_model: Path, leadline: Leadline
) -> None:
    folder = small_study(tmp_path / "study", model)
    assert leadline("run", folder, "--quiet").code == 0
    before = stored.rows(folder)
    change(folder, models=[str(model), str(other_model)])
    noted = leadline("report", folder)
    assert noted.code == 0 and "are not there yet" in noted.err
    assert leadline("run", folder, "--quiet").code == 0
    after = stored.rows(folder)
    assert after.items() > before.items()
    assert not {identity[0] for identity in after.keys() - before.keys()} & {one[0] for one in before}
    assert leadline("report", folder).err == ""
    assert (folder / "report" / "report.html").stat().st_size > 10_000


def test_a_techniques_data_file_is_meant_from_the_studys_folder(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = small_study(tmp_path / "study", str(model))
    data = "Question,Correct Answers,Incorrect Answers\nWhat is wet?,Water,Sand; Dust\n"
    (folder / "truths.csv").write_text(data, encoding="utf-8")
    of_data = [
        {"technique": "recite+iti", "iti": {"data": "truths.csv"}},
        {"technique": "iti", "data": "truths.csv"},
    ]
    change(folder, techniques=of_data)
    monkeypatch.chdir(tmp_path)
    found = {each.name: each.technique for each in open_study(folder).configurations}
    stacked, alone = found["recite+iti"], found["iti"]
    assert stacked.settings()["iti"]["data"] == alone.settings()["data"]  # a hash of what is in the file
    assert "truths.csv" not in str(alone.settings())


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"technique": "dola", "layers": [2, 4]}, ""),
        ({"technique": "decore", "heads": ["0.1", "1.0"]}, ""),
        ({"technique": "recite+dola", "dola": {"layers": [0]}}, ""),
        (
            {"technique": "recite+dola", "recite": {"pats": 2}},
            "recite has no setting 'pats' (did you mean 'paths'?)",
        ),
        ({"technique": "recite+dola", "recite.paths": 2, "dola.layers": "high"}, ""),
        ({"technique": "recite+dola", "max_tokens": 2}, "recite: {...}"),
        ({"technique": "decore", "alpha": float("nan")}, "decore.alpha: must be a number"),
        ({"technique": "dola", "layers": [-1]}, "dola.layers: must be at least 0"),
    ],
)
def test_settings_of_techniques_in_a_study_file(
    tmp_path: Path, model: Path, entry: dict[str, object], said: str
) -> None:
    folder = small_study(tmp_path / "study", str(model), techniques=[entry])
    if not said:
        assert open_study(folder).configurations[-1].name == entry["technique"]
        return
    with pytest.raises(UsageError) as fault:
        open_study(folder)
    assert said in str(fault.value) and "study.yaml:" in str(fault.value)
