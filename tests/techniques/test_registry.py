"""Techniques are found by name, described to users, and their prompts can be copied."""

from __future__ import annotations

from pathlib import Path

import pytest

from leadline.errors import UsageError
from leadline.techniques import Technique, technique_named, techniques
from leadline.techniques.decore import DeCoRe
from leadline.techniques.describe import copy_prompts, described, described_one
from leadline.techniques.dola import DoLa
from leadline.techniques.prompts_library import STYLES, Prompts
from leadline.techniques.spelling import technique_from


def test_the_techniques_are_found() -> None:
    assert {"genread", "greedy", "recite", "sampling"} <= set(techniques())
    for name, kind in techniques().items():
        assert issubclass(kind, Technique)
        assert kind.name == name
        assert kind.summary
        assert kind().samples >= kind().vote >= 1
        assert all(info.description for info in kind.model_fields.values())


def test_a_slip_of_the_pen_is_put_right() -> None:
    assert technique_named("recite").name == "recite"
    with pytest.raises(UsageError, match=r"there is no technique 'recit' .*recite"):
        technique_named("recit")
    with pytest.raises(UsageError, match=r"known techniques: .*greedy"):
        technique_named("qqqqqqqq")


def test_settings_that_do_not_exist_or_make_no_sense_are_refused() -> None:
    kind = technique_named("sampling")
    for wrong in (
        {"temprature": 1},
        {"temperature": 0},
        {"temperature": "nan"},
        {"draws": 0},
        {"max_tokens": 0},
    ):
        with pytest.raises(ValueError, match="validation error"):
            kind(**wrong)


def test_the_list_has_name_summary_and_source_kind_by_kind() -> None:
    rows = described()
    assert sorted(row["name"] for row in rows) == list(techniques())
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    assert kinds == ["baseline", "sampling", "prompting", "decoding", "steering"]
    assert [row["kind"] for row in rows] == sorted((row["kind"] for row in rows), key=kinds.index)
    assert "ICLR 2023" in next(row["citation"] for row in rows if row["name"] == "recite")


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", techniques())
def test_one_technique_is_shown_with_its_settings_and_prompts(name: str, style: str) -> None:
    card = described_one(name, style)
    assert {row["name"] for row in card["settings"]} == set(techniques()[name].model_fields)
    assert [prompt["name"] for prompt in card["prompts"]] == list(techniques()[name].prompt_names)
    assert all(prompt["text"] and prompt["origin"].startswith("leadline:") for prompt in card["prompts"])


def test_an_unknown_style_is_the_users_mistake(tmp_path: Path) -> None:
    for call in (lambda: described_one("greedy", "chatt"), lambda: copy_prompts("greedy", "chatt", tmp_path)):
        with pytest.raises(UsageError, match=r"there is no prompt style 'chatt'.*chat"):
            call()


@pytest.mark.parametrize("style", STYLES)
def test_copied_prompts_are_used_in_the_packaged_ones_place(tmp_path: Path, style: str) -> None:
    written = copy_prompts("recite", style, tmp_path / "mine")
    assert len(written) == 2
    card = described_one("recite", style, tmp_path / "mine")
    assert [prompt["origin"] for prompt in card["prompts"]] == [str(path) for path in written]
    assert [path.read_text() for path in written] == [
        prompt["text"] for prompt in described_one("recite", style)["prompts"]
    ]


def test_files_that_are_there_are_left_alone(tmp_path: Path) -> None:
    (first,) = copy_prompts("greedy", "chat", tmp_path)
    first.write_text("=== user ===\nmine {{ question }}")
    with pytest.raises(UsageError, match=r"question\.chat\.txt: is there already"):
        copy_prompts("greedy", "chat", tmp_path)
    assert Prompts("chat", tmp_path).file("question/question").text.endswith("mine {{ question }}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("decore:alpha=nan", "decore: alpha: must be a number, not 'nan'"),
        ("decore:alpha=-500", "decore: alpha: must be at least -100"),
        ("decore:heads=", "decore: heads: "),
        ("dola:layers=-1", "dola: layers: .*each must be at least 0"),
        ("recite+dola:dola.layers=-3", "dola.layers: .*at least 0"),
        ("recite+dola:dola.max_tokens=4", "dola.max_tokens has no effect here: recite asks"),
        ("recite+genread", "each put the question"),
        ("dola+sled", "each decide the scores"),
        ("greedy+dola", "greedy changes nothing"),
        ("dola+", "there is no technique ''"),
        ("dola:=3", "no setting ''"),
    ],
)
def test_a_technique_that_is_typed_wrongly_is_told_by_its_setting(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        technique_from(text)


def test_lists_are_written_as_lists_or_with_commas() -> None:
    for kind, field, value, read in (
        (DoLa, "layers", "[2, 4]", (2, 4)),
        (DoLa, "layers", '"2,4"', (2, 4)),
        (DeCoRe, "heads", '["12.3", "14.0"]', ("12.3", "14.0")),
        (DeCoRe, "heads", "12", 12),
    ):
        found = kind.model_validate_json(f'{{"{field}": {value}}}', strict=True)  # as study.yaml is read
        assert getattr(found, field) == read
