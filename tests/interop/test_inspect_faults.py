"""What is wrong with a log is one line, and the study is as it was."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from inspect_ai.dataset import Sample

from tests.interop.conftest import Leadline
from tests.interop.inspect_evals import RIVERS, SURE, UNSURE, evaluated, model


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(evaluated(tmp_path_factory.mktemp("log"), model(SURE)).location)


def _truncated(log: Path, folder: Path) -> tuple[Path, str]:
    path = folder / "cut.eval"
    path.write_bytes(log.read_bytes()[:-900])
    return path, "cut.eval: is broken off or damaged: "


def _begun(log: Path, folder: Path) -> tuple[Path, str]:
    path = folder / "begun.json"
    path.write_text('{"version": 2, "status": "success", "eval": {"task": "riv', "utf-8")
    return path, "begun.json: is broken off or damaged: "


def _empty(log: Path, folder: Path) -> tuple[Path, str]:
    (folder / "empty.eval").touch()
    return folder / "empty.eval", "empty.eval: is empty: broken off or damaged (leave it out)"


def _damaged(log: Path, folder: Path) -> tuple[Path, str]:
    data = bytearray(log.read_bytes())
    place = data.find(b"samples/eu/paris_epoch_1.json") + 60
    data[place : place + 200] = bytes(200)
    path = folder / "damaged.eval"
    path.write_bytes(data)
    return path, "damaged.eval: is broken off or damaged: "


def _other_json(log: Path, folder: Path) -> tuple[Path, str]:
    path = folder / "package.json"
    path.write_text('{"version": 2, "name": "something"}', "utf-8")
    return path, "package.json: is no log of Inspect (leave it out)"


def _newer(log: Path, folder: Path) -> tuple[Path, str]:
    path = folder / "newer.json"
    path.write_text('{"version": 99, "status": "success", "eval": {}}', "utf-8")
    return path, "Unable to read version 99"


def _other_name(log: Path, folder: Path) -> tuple[Path, str]:
    path = folder / "log.zip"
    path.write_bytes(log.read_bytes())
    return path, "log.zip: is no log of Inspect by its name (logs end in .eval or .json)"


def _nothing(log: Path, folder: Path) -> tuple[Path, str]:
    return folder / "none.eval", "none.eval: there is no such file or folder"


def _empty_folder(log: Path, folder: Path) -> tuple[Path, str]:
    (folder / "logs").mkdir()
    (folder / "logs" / "eval-set.json").write_text('{"eval_set_id": "1"}', "utf-8")
    return folder / "logs", "logs: there is no log of Inspect in this folder"


def _no_target(log: Path, folder: Path) -> tuple[Path, str]:
    written = evaluated(folder / "logs", model(SURE), [Sample(id="a", input="Vienna?")])
    return Path(written.location), "sample a, epoch 1: item 'a' has no target: no answer to it could be right"


def _no_question(log: Path, folder: Path) -> tuple[Path, str]:
    """Of an id that would clear the terminal, both mentions are printable."""
    written = evaluated(folder / "logs", model({"": ["x"]}), [Sample(id="\x1b[2Ja", input="", target="x")])
    return Path(written.location), "sample '\\x1b[2Ja', epoch 1: item '\\x1b[2Ja': 'question' is blank"


def _no_option(log: Path, folder: Path) -> tuple[Path, str]:
    asked = [Sample(id="a", input="Vienna?", choices=["Danube", "Seine"], target="E")]
    written = evaluated(folder / "logs", model(SURE), asked)
    return Path(written.location), "item 'a' has the target E, which is none of its 2 options"


def _set_of_options(log: Path, folder: Path) -> tuple[Path, str]:
    asked = [Sample(id="a", input="Vienna?", choices=["Danube", "Seine", "Wien"], target=["A", "C"])]
    written = evaluated(folder / "logs", model(SURE), asked)
    return Path(written.location), "item 'a' has several right options at once, A, C"


def _two_versions(log: Path, folder: Path) -> tuple[Path, str]:
    samples = [
        *RIVERS[:3],
        Sample(id="de_epoch_2", input="Which river flows through Dresden, now?", target="Elbe"),
    ]
    evaluated(folder / "logs", model(SURE))
    evaluated(folder / "logs", model(UNSURE), samples)
    return folder / "logs", "item 'de_epoch_2' asks '…through Dresden, now?' here and '…through Dresden?' in"


Fault = Callable[[Path, Path], tuple[Path, str]]


@pytest.mark.parametrize(
    "fault",
    [
        _truncated,
        _begun,
        _empty,
        _damaged,
        _other_json,
        _newer,
        _other_name,
        _nothing,
        _empty_folder,
        _no_target,
        _no_question,
        _no_option,
        _set_of_options,
        _two_versions,
    ],
)
def test_what_is_no_log_ends_in_one_line_and_leaves_nothing(
    log: Path, tmp_path: Path, leadline: Leadline, fault: Fault
) -> None:
    path, said = fault(log, tmp_path)
    ended = leadline("import", "inspect", path, "--study", tmp_path / "study")
    assert said in ended.fault and "\x1b" not in ended.fault, ended.err
    assert not (tmp_path / "study").exists()


def test_a_faulty_log_among_good_ones_stores_nothing(log: Path, tmp_path: Path, leadline: Leadline) -> None:
    cut, _ = _damaged(log, tmp_path)
    study = tmp_path / "study"
    leadline("import", "inspect", log, "--study", study)
    before = (study / "study.yaml").read_bytes(), (study / "manifest.json").read_bytes()
    other = Path(evaluated(tmp_path / "other", model(UNSURE)).location)
    assert "damaged.eval" in leadline("import", "inspect", other, cut, "--study", study).fault
    assert ((study / "study.yaml").read_bytes(), (study / "manifest.json").read_bytes()) == before
    ended = leadline("import", "inspect", other, "--study", study)
    assert "stored: 4 answers of 1 configuration" in ended.out


def test_another_wording_than_that_of_earlier_logs_is_refused(
    log: Path, tmp_path: Path, leadline: Leadline
) -> None:
    study = tmp_path / "study"
    leadline("import", "inspect", log, "--study", study)
    other = evaluated(tmp_path, model(SURE), [Sample(id=3, input="London's river?", target="Thames")])
    fault = leadline("import", "inspect", other.location, "--study", study).fault
    assert (
        "item '3' asks \"London's river?\" here and 'Which river flows through London?' in the study" in fault
    )


def test_items_that_the_study_does_not_have_are_refused(
    log: Path, tmp_path: Path, leadline: Leadline
) -> None:
    study = tmp_path / "study"
    evaluated(tmp_path / "all", model(SURE), RIVERS[:2])
    leadline("import", "inspect", tmp_path / "all", "--study", study)
    named = ("--study", tmp_path / "named", "--benchmark", study / "benchmark")
    assert "rivers has no item '3'" in leadline("import", "inspect", log, *named).fault
    facts = leadline("import", "inspect", log, "--study", tmp_path / "facts", "--benchmark", "facts").fault
    assert "facts has no item 'eu/vienna'" in facts and "sample eu/vienna, epoch 1" in facts


def test_a_benchmark_that_is_in_the_way_is_kept(log: Path, tmp_path: Path, leadline: Leadline) -> None:
    mine = tmp_path / "study" / "benchmark"
    mine.mkdir(parents=True)
    (mine / "items.jsonl").write_text("mine", "utf-8")
    assert "is in the way" in leadline("import", "inspect", log, "--study", tmp_path / "study").fault
    assert (mine / "items.jsonl").read_text("utf-8") == "mine"
    assert not (tmp_path / "study" / "study.yaml").exists()


def test_one_name_is_not_given_to_two_models(log: Path, tmp_path: Path, leadline: Leadline) -> None:
    other = evaluated(tmp_path, model(SURE, "large")).location
    said = ("--study", tmp_path / "study", "--configuration", "best")
    fault = leadline("import", "inspect", log, other, *said).fault
    assert "these logs are of 2 models: mockllm/small, mockllm/large" in fault
    assert (
        "there are no answers of 'bset'"
        in leadline("import", "inspect", log, "--study", tmp_path / "study", "--baseline", "bset").fault
    )


def test_names_and_ids_from_logs_cannot_steer_a_terminal(tmp_path: Path, leadline: Leadline) -> None:
    asked = [Sample(id="a", input="Vienna \x1b[31m?", target="Danube")]
    evaluated(tmp_path / "logs", model(SURE), asked, name="rivers\x1b[2J")
    ended = leadline("import", "inspect", tmp_path / "logs", "--study", tmp_path / "study")
    assert ended.code == 0 and "\x1b" not in ended.out and "\x1b" not in ended.err


def test_settings_that_look_like_keys_are_not_kept(tmp_path: Path, leadline: Leadline) -> None:
    asked = model(SURE, api_key="sk-very-secret-key-value-0123456789")
    written = evaluated(tmp_path / "logs", asked, temperature=0.5)
    ended = leadline("import", "inspect", written.location, "--study", tmp_path / "study")
    assert ended.code == 0, ended.err
    kept = b"".join(one.read_bytes() for one in (tmp_path / "study").rglob("*") if one.is_file())
    assert b"very-secret" not in kept and b"temperature" in kept


def test_without_inspect_one_line_says_what_to_install(
    log: Path, tmp_path: Path, leadline: Leadline, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "inspect_ai"]:
        monkeypatch.setitem(sys.modules, name, None)
    fault = leadline("import", "inspect", log, "--study", tmp_path / "study").fault
    assert "pip install 'leadline[served]'" in fault


def test_json_tells_programs_all_of_it(log: Path, tmp_path: Path, leadline: Leadline) -> None:
    done = json.loads(leadline("import", "inspect", log, "--study", tmp_path / "s", "--json").out)
    assert done["stored"] == 4 and done["made_benchmark"] and done["logs"][0]["task"] == "rivers"
    assert done["scores"] == [
        {
            "configuration": "small",
            "scorer": "includes",
            "answers": 4,
            "theirs": 3,
            "ours": 3,
            "differ": 0,
            "example": "",
        }
    ]
