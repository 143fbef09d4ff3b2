"""`--help` is quick and complete."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator

import click
import pytest
import typer

from leadline.cli.app import app


def _commands(
    command: click.Command, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield path, command
    for name, below in getattr(command, "commands", {}).items():
        yield from _commands(below, (*path, name))


COMMANDS = dict(_commands(typer.main.get_command(app)))


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: " ".join(path) or "leadline")
def test_every_command_and_group_has_help_with_an_example(
    path: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    command = COMMANDS[path]
    with pytest.raises(SystemExit) as ended:
        app([*path, "--help"])
    assert ended.value.code == 0
    text = " ".join(capsys.readouterr().out.split())
    assert command.help and len(command.help) > 20
    assert "Example: leadline" in text or "Start with: leadline" in text
    for parameter in command.params:
        if isinstance(parameter, click.Option) and parameter.name not in ("help",) and not parameter.hidden:
            assert parameter.help, f"{parameter.name} is not explained"


@pytest.mark.parametrize("path", [path for path, one in COMMANDS.items() if not hasattr(one, "commands")])
def test_every_example_names_its_own_command(path: tuple[str, ...]) -> None:
    command = COMMANDS[path]
    text = f"{command.help} {command.epilog}"
    assert f"leadline {' '.join(path)}" in text


def _seconds_of_processor(*arguments: str) -> float:
    """What a command takes: of the processor, for a busy machine answers late."""
    before = os.times()
    subprocess.run([sys.executable, "-m", "leadline.cli.app", *arguments], capture_output=True, check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def test_help_answers_in_a_blink() -> None:
    assert min(_seconds_of_processor("--help") for _ in range(5)) < 0.4


def test_help_and_version_load_nothing_heavy() -> None:
    program = (
        "import sys, json\n"
        "from leadline.cli.app import app\n"
        "for arguments in (['--help'], ['run', '--help'], ['techniques', '--help'], ['--version']):\n"
        "    try: app(arguments)\n"
        "    except SystemExit as ended: assert ended.code == 0\n"
        "print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stdout.splitlines()[-1]))
    assert not loaded & {
        "torch",
        "transformers",
        "polars",
        "scipy",
        "statsmodels",
        "numpy",
        "jinja2",
    }


def test_python_m_leadline_is_the_command() -> None:
    command = [sys.executable, "-m", "leadline", "--version"]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ended.returncode == 0 and "leadline" in ended.stdout.lower(), ended.stderr
