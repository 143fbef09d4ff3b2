"""`leadline bench` as a user meets it: exit codes, JSON, clickable lines, quick help."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from leadline.bench import bundled_names
from leadline.bench.validate import validate
from leadline.cli.bench import app
from leadline.errors import UsageError
from tests.bench.folders import FACTS_HEADER, fact, folder

runner = CliRunner()


def test_a_sound_benchmark_exits_0(tmp_path: Path) -> None:
    result = runner.invoke(app, ["validate", str(folder(tmp_path, [fact("a"), fact("b")], FACTS_HEADER))])
    assert result.exit_code == 0
    assert result.stdout == f"{tmp_path}: 2 items, 1 task, 0 errors, 0 warnings\n"


def test_warnings_are_shown_and_do_not_fail(tmp_path: Path) -> None:
    path = folder(tmp_path, [fact("a"), fact("b", question="Name the place.")], FACTS_HEADER)
    result = runner.invoke(app, ["validate", str(path)])
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == (
        f"{path / 'items.jsonl'}:2: warning: item b: the question has no question mark"
    )
    assert "0 errors, 1 warning" in result.stdout


def test_an_answer_type_that_no_reader_reads_is_a_warning(tmp_path: Path) -> None:
    path = folder(tmp_path, [fact("a"), fact("b", answer="1889", answer_type="number")], FACTS_HEADER)
    _, problems = validate(path, readable={"text"})
    assert [problem.line() for problem in problems] == [
        f"{path / 'items.jsonl'}:2: warning: item b: answers of type 'number' cannot be read yet (1 item): "
        "no study can ask them (types that can be read: text)"
    ]


def test_faults_of_the_files_and_of_the_rules_are_listed_together_and_exit_1(tmp_path: Path) -> None:
    path = folder(tmp_path, [fact("a", aliases=["PARIS"]), fact("b", answer=None)], FACTS_HEADER)
    result = runner.invoke(app, ["validate", str(path)])
    assert result.exit_code == 1
    first, second, *_ = result.stdout.splitlines()
    assert first.startswith(f"{path / 'items.jsonl'}:1: error: item a: the alias 'PARIS'")
    assert second.startswith(f"{path / 'items.jsonl'}:2: error: item b: the field 'answer' is missing")


def test_json_carries_file_line_and_column(tmp_path: Path) -> None:
    path = folder(tmp_path, b'{"id": \n')
    result = runner.invoke(app, ["validate", str(path), "--json"])
    assert result.exit_code == 1
    document = json.loads(result.stdout)
    assert document["sound"] is False and document["benchmark"] is None
    problem = document["problems"][0]
    assert (problem["file"], problem["line"], problem["severity"]) == (str(path / "items.jsonl"), 1, "error")
    assert isinstance(problem["column"], int)


def test_nothing_there_is_a_usage_error() -> None:
    result = runner.invoke(app, ["validate", "no-such-place"])
    assert isinstance(result.exception, UsageError) and result.exception.exit_code == 2


def test_show_counts_the_groups_and_shows_items(tmp_path: Path) -> None:
    path = str(folder(tmp_path, [fact("a"), fact("b")], FACTS_HEADER))
    overview = runner.invoke(app, ["show", path])
    assert "domain\trelation\titems\tanswers\tread by\ngeography\tcapital\t2\ttext 2\t\n" in overview.stdout
    document = json.loads(runner.invoke(app, ["show", path, "--json"]).stdout)
    assert document["items"] == 2 and document["ids"] == ["a", "b"]
    group = {"category": "geography", "task": "capital", "items": 2}
    assert document["groups"] == [{**group, "answer_types": {"text": 2}, "read_by": []}]
    entry = json.loads(runner.invoke(app, ["show", path, "a", "--json"]).stdout)
    assert entry["answer"] == "Paris"
    assert "answer\tParis\n" in runner.invoke(app, ["show", path, "a"]).stdout
    wrong = runner.invoke(app, ["show", path, "aa"])
    assert isinstance(wrong.exception, UsageError) and "did you mean 'a'" in str(wrong.exception)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("# Card text\nHello\nthere.\n\nMore.", "Hello there."),
        ("# Card text\n\n## Made\n", "Card text"),
        ("", "none"),
    ],
)
def test_show_begins_the_data_statement_below_its_heading(tmp_path: Path, text: str, shown: str) -> None:
    path = folder(tmp_path, [fact("a"), fact("b")], FACTS_HEADER)
    (path / "README.md").write_text(text)
    assert f"data_statement\t{shown}\n" in runner.invoke(app, ["show", str(path)]).stdout


def test_a_folder_whose_name_has_a_line_break_is_told_on_one_line(tmp_path: Path) -> None:
    path = folder(tmp_path / "a\nb", [fact("a"), fact("b")], FACTS_HEADER)
    result = runner.invoke(app, ["validate", str(path)])
    assert result.stdout == f"{tmp_path}/a\\nb: 2 items, 1 task, 0 errors, 0 warnings\n"


def test_texts_of_files_cannot_drive_the_terminal(tmp_path: Path) -> None:
    path = str(folder(tmp_path, [fact("a", question="\x1b[2JQ?")], FACTS_HEADER))
    result = runner.invoke(app, ["show", path, "a"])
    assert "\x1b" not in result.stdout and "\\x1b[2JQ?" in result.stdout


def test_list_names_what_is_bundled() -> None:
    documents = json.loads(runner.invoke(app, ["list", "--json"]).stdout)
    assert tuple(document["name"] for document in documents) == bundled_names()
    assert runner.invoke(app, ["list"]).stdout.startswith("name\tversion\tkind\titems")


@pytest.mark.parametrize("command", ["list", "show", "validate"])
def test_every_command_has_an_example_and_json(command: str) -> None:
    text = runner.invoke(app, [command, "--help"]).stdout
    assert f"Example: leadline bench {command}" in text and "--json" in text


def test_importing_the_command_group_loads_nothing_heavy() -> None:
    heavy = ("pydantic", "yaml", "rich.table", "torch")
    code = f"import sys, leadline.cli.bench; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
