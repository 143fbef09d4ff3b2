"""The page on importing shows what happens: its example is run, its table of names is the program's own."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from leadline.interop.table_columns import GUESSES
from tests.interop.conftest import Leadline

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "importing.md").read_text("utf-8")


def test_the_example_runs_and_prints_what_the_page_shows(
    tmp_path: Path, leadline: Leadline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (block,) = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
    commands = re.findall(r"^\$ leadline (.*)\n((?:[^$].*\n)*)", block, re.MULTILINE)
    assert [command.split()[0] for command, _ in commands] == ["import", "report"]
    for command, shown in commands:
        ended = leadline(*shlex.split(command))
        assert ended.code == 0 and ended.out.startswith(shown), ended.err
    document = json.loads((tmp_path / "my-answers" / "report" / "findings.json").read_text("utf-8"))
    (wobble,) = (one for one in document["findings"] if (one["lens"], one["table"]) == ("wobble", "overall"))
    shares = {
        row["keys"]["configuration"]: (
            row["figures"]["wobble"]["numerator"],
            row["figures"]["wobble"]["denominator"],
        )
        for row in wobble["rows"]
    }
    assert shares["recite"] == (9, 12) and shares["tau-0.7"] == (12, 12) and "greedy" not in shares


def test_the_table_on_the_page_is_one(tmp_path: Path, leadline: Leadline) -> None:
    (shown,) = re.findall(r"```csv\n(.*?)```", PAGE, re.DOTALL)
    path = tmp_path / "runs.csv"
    path.write_text(shown, "utf-8")
    items = ROOT / "examples" / "quickstart" / "rivers.jsonl"
    ended = leadline("import", "table", path, "--study", tmp_path / "study", "--benchmark", items)
    assert ended.code == 0 and "stored: 3 answers of 2 configurations to 1 item" in ended.out


def test_the_names_on_the_page_are_those_that_are_guessed() -> None:
    rows = re.findall(r"^\| `(\w+)` \|([^|]*)\|", PAGE, re.MULTILINE)
    assert {what: tuple(filter(None, names.strip().split(", "))) for what, names in rows} == GUESSES
