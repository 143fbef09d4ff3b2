"""`leadline models`: results on stdout, progress on stderr, and nothing heavy for a list."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from leadline.cli.models import app
from leadline.errors import UsageError
from leadline.models.catalogue import EmbeddedModel

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.usefixtures("tiny_model", "wheel_by_hand", "quick_conversion")


def leadline_models(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def test_a_model_goes_through_its_life(tiny_model: EmbeddedModel, model_cache: Path) -> None:
    assert state_of("tiny") == "not fetched"

    got = leadline_models("get", "tiny")
    assert got.exit_code == 0
    assert got.stdout == f"{model_cache / 'tiny'}\n"
    assert "converting Tiny" in got.stderr
    assert state_of("tiny") == "ready"

    info = json.loads(leadline_models("info", "tiny", "--json").stdout)
    assert (info["layers"], info["licence"], info["folder"]) == (2, "CC0-1.0", str(model_cache / "tiny"))

    assert leadline_models("check", "tiny").exit_code == 0
    os.truncate(model_cache / "tiny" / "model.safetensors", 100)
    assert state_of("tiny") == "damaged"
    checked = leadline_models("check", "tiny", "--json")
    assert checked.exit_code == 1
    assert json.loads(checked.stdout)["whole"] is False

    removed = leadline_models("remove", "tiny")
    assert (removed.exit_code, removed.stdout) == (0, "removed tiny\n")
    assert state_of("tiny") == "not fetched"
    assert isinstance(leadline_models("remove", "tiny").exception, UsageError)
    assert isinstance(leadline_models("check", "tiny").exception, UsageError)


def test_a_converted_gguf_file_is_listed_and_removed_by_either_name(tiny_gguf: Path) -> None:
    leadline_models("get", str(tiny_gguf))
    (key,) = [row["name"] for row in listed() if row["name"].startswith("gguf-")]
    assert leadline_models("check", key).exit_code == 0
    assert leadline_models("remove", str(tiny_gguf)).stdout == f"removed {key}\n"
    assert key not in [row["name"] for row in listed()]


def test_info_is_readable_by_people_too() -> None:
    leadline_models("get", "tiny")
    lines = leadline_models("info", "tiny").stdout.splitlines()
    assert "parameters       21,760" in lines
    assert "chat template    no" in lines


def test_a_users_own_folder_is_never_removed(tiny_folder: Path) -> None:
    answer = leadline_models("remove", str(tiny_folder))
    assert isinstance(answer.exception, UsageError)
    assert (tiny_folder / "model.safetensors").is_file()


@pytest.mark.parametrize("command", ["check", "remove"])
def test_a_misspelt_name_is_answered_with_the_nearest(command: str) -> None:
    wrong = leadline_models(command, "tinny").exception
    assert isinstance(wrong, UsageError)
    assert str(wrong) == "'tinny' is not in the cache (did you mean tiny?)"
    far = leadline_models(command, "something-else").exception
    assert isinstance(far, UsageError) and "leadline models list" in str(far)


def test_list_loads_no_library_that_runs_models() -> None:
    code = (
        "import sys; from leadline.cli.models import app; app(['list'], standalone_mode=False); "
        "print(sorted({'torch', 'transformers', 'numpy', 'polars'} & sys.modules.keys()))"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"
    assert done.stdout.startswith("smollm2")


def listed() -> list[dict[str, object]]:
    return json.loads(leadline_models("list", "--json").stdout)


def state_of(name: str) -> object:
    return next(row["state"] for row in listed() if row["name"] == name)
