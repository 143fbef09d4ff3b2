"""`init`, the schema that it writes, and prompts of one's own."""

from __future__ import annotations

import json
import shlex
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from leadline.study.config_file import read_config
from leadline.study.study import open_study
from tests.study import stored
from tests.study.conftest import Leadline
from tests.study.small import PROMPTS, STUDY, change, small_study


def test_init_makes_a_study_that_opens_and_says_what_is_next(tmp_path: Path, leadline: Leadline) -> None:
    folder = tmp_path / "my study"
    ended = leadline("init", folder, "--items", "12")
    assert ended.code == 0 and ended.err == ""
    assert ended.out == f"{folder}/study.yaml\nnext: leadline run {shlex.quote(str(folder))}\n"
    study = open_study(folder)
    assert study.config.name == "my-study" and len(study.benchmark.items) == 12
    assert {each.role for each in study.configurations} == {"baseline", "partition", "method"}
    assert leadline("init", tmp_path / "all").code == 0
    assert len(open_study(tmp_path / "all").benchmark.items) == len(study.whole.items)


def test_init_overwrites_nothing(tmp_path: Path, leadline: Leadline) -> None:
    (tmp_path / "study.yaml").write_text("mine")
    ended = leadline("init", tmp_path)
    assert ended.code == 2
    assert ended.fault == (
        f"error: {tmp_path}/study.yaml: there is a study already (leadline run {tmp_path})"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["study.yaml"]
    assert (tmp_path / "study.yaml").read_text() == "mine"
    (tmp_path / "file").write_text("mine")
    assert "is a file, not a folder" in leadline("init", tmp_path / "file").fault


@pytest.mark.parametrize("name", ["- odd: [name]", "#7", "'", "a\tb", "-"])
def test_a_folder_of_any_name_makes_a_study_that_opens(tmp_path: Path, leadline: Leadline, name: str) -> None:
    assert leadline("init", "--items", "2", "--", tmp_path / name).code == 0
    assert open_study(tmp_path / name).config.name


def test_init_takes_a_benchmark_and_a_model_from_here(
    tmp_path: Path, model: Path, leadline: Leadline, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_study(tmp_path / "other", model)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").symlink_to(model)
    ended = leadline("init", "study", "--benchmark", "other/items.jsonl", "--model", "mine")
    assert ended.code == 0
    monkeypatch.chdir("/")
    study = open_study(tmp_path / "study")
    assert len(study.benchmark.items) == 6
    assert Path(study.model_reference(study.config.models[0])).samefile(model)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("smolm2", "no model is called 'smolm2' (did you mean smollm2?"),
        ("a b", "no model is called 'a b' (by name there is smollm2"),
        ("", "no model is named"),
        ("./nowhere", "./nowhere: no such file or folder"),
        ("mine.gguf", "mine.gguf: no such file or folder"),
        ("empty", "empty: no config.json"),
    ],
)
def test_init_says_at_once_what_can_be_no_model(
    tmp_path: Path, leadline: Leadline, monkeypatch: pytest.MonkeyPatch, model: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty").mkdir()
    ended = leadline("init", "study", "--model", model)
    assert ended.code == 2 and ended.fault.startswith(f"error: {said}")
    assert not Path("study").exists()
    assert leadline("init", "hub", "--model", "org/name@main").code == 0, "asked for when it is run"


def test_a_folder_named_like_a_catalogue_model_is_not_taken_for_it(
    tmp_path: Path, leadline: Leadline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("smollm2").mkdir()
    assert leadline("init", "study").code == 0
    assert read_config(tmp_path / "study" / "study.yaml").models[0].ref == "smollm2"


@pytest.fixture
def schema(tmp_path: Path, leadline: Leadline) -> dict[str, Any]:
    assert leadline("init", tmp_path / "for-schema").code == 0
    found: dict[str, Any] = json.loads((tmp_path / "for-schema" / "study.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(found)
    return found


def _examples() -> list[Path]:
    root = Path(__file__).parents[2]
    return sorted(root.glob("examples/**/study.yaml"))


def test_the_schema_accepts_what_the_program_accepts(
    tmp_path: Path, schema: dict[str, Any], leadline: Leadline
) -> None:
    assert leadline("init", tmp_path / "one").code == 0
    templates = [files("leadline.study").joinpath("templates", name) for name in ("study.yaml", "demo.yaml")]
    filled = [
        text.read_text("utf-8")
        .replace("<name>", "a")
        .replace("<benchmark>", "facts")
        .replace("<model>", "smollm2")
        .replace("<items>", "items: 3")
        for text in templates
    ]
    documents = [yaml.safe_load(text) for text in filled]
    documents += [
        yaml.safe_load(path.read_text("utf-8")) for path in (tmp_path / "one" / "study.yaml", *_examples())
    ]
    documents += [
        {**STUDY, "models": "smollm2"},
        {**STUDY, "models": {"ref": "a/b", "dtype": "bfloat16"}, "techniques": "recite"},
        {
            **STUDY,
            "models": ["a/b", {"ref": "c"}],
            "items": {"limit": 3, "categories": ["x"]},
            "beyond_sampling": None,
        },
        {**STUDY, "models": "a", "techniques": {"technique": "recite", "paths": 3}},
    ]
    for number, document in enumerate(documents):
        jsonschema.validate(document, schema)
        path = tmp_path / f"{number}.yaml"
        path.write_text(yaml.safe_dump(document), "utf-8")
        read_config(path)


@pytest.mark.parametrize(
    "change_",
    [
        {"modles": "x"},
        {"items": {"limt": 3}},
        {"sampling": {"temperature": [1.0]}},
        {"beyond_sampling": {"kk": 3}},
        {"models": [{"ref": "x", "typ": "float32"}]},
        {"items": 0},
        {"prompt": "chatty"},
        {"name": "a b"},
        {"max_tokens": 0},
        {"techniques": [{"name": "x"}]},
    ],
    ids=json.dumps,
)
def test_the_schema_rejects_what_the_program_rejects(
    tmp_path: Path, schema: dict[str, Any], change_: dict[str, Any]
) -> None:
    from leadline.errors import UsageError

    document = {**STUDY, "models": "smollm2", **change_}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, schema)
    path = tmp_path / "study.yaml"
    path.write_text(yaml.safe_dump(document), "utf-8")
    with pytest.raises(UsageError):
        read_config(path)


def test_prompts_are_copied_changed_and_used(tmp_path: Path, model: Path, leadline: Leadline) -> None:
    folder = small_study(tmp_path / "study", model)
    mine = folder / "mine"
    ended = leadline("techniques", "show", "recite", "--write", mine)
    assert ended.code == 0
    written = [Path(line) for line in ended.out.splitlines()]
    assert [path.relative_to(mine).as_posix() for path in written] == [
        "recite/recite.txt",
        "recite/answer.txt",
    ]
    shown = json.loads(leadline("techniques", "show", "recite", "--json").out)
    assert [one["text"] for one in shown["prompts"]] == [path.read_text("utf-8") for path in written]

    again = leadline("techniques", "show", "recite", "--write", mine)
    assert again.code == 2 and "is there already" in again.fault

    written[0].write_text("Q: {{ question }}\nThink:", "utf-8")
    written[1].write_text(PROMPTS["recite/answer.txt"], "utf-8")
    (mine / "question").mkdir()
    (mine / "question" / "question.txt").write_text(PROMPTS["question/question.txt"], "utf-8")
    change(folder, prompts="mine", techniques=[STUDY["techniques"][0]])
    assert leadline("run", folder, "--quiet").code == 0
    made = json.loads((folder / "manifest.json").read_text("utf-8"))["configurations"]["tiny/recite"]
    assert made["prompts"]["recite/recite"] == "Q: {{ question }}\nThink:"
    assert sum(identity[0] == made["id"] for identity in stored.rows(folder)) == 12


def test_another_set_of_a_bundled_folder_can_be_asked(tmp_path: Path, leadline: Leadline) -> None:
    folder = tmp_path / "study"
    assert leadline("init", folder, "--benchmark", "licences/planted").code == 0
    study = open_study(folder)
    assert study.config.benchmark == study.whole.name.replace("-", "/") == "licences/planted"
