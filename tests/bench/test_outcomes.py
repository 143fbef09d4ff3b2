"""The outcomes of an adjudication are told in one wording."""

from __future__ import annotations

from typing import get_args

import typer

from leadline.bench.adjudications import Outcome
from leadline.bench.outcomes import MEANINGS, NAMES, SETTLING
from leadline.cli.app import app


def test_every_outcome_has_a_name_and_a_meaning() -> None:
    assert tuple(NAMES) == tuple(MEANINGS) == get_args(Outcome)
    assert set(get_args(Outcome)) - set(SETTLING) == {"withdrawn"}


def test_the_command_says_what_the_pages_say() -> None:
    command = typer.main.get_command(app).commands["review"].commands["decide"]  # type: ignore[attr-defined]
    (option,) = (one for one in command.params if one.name == "outcome")
    for outcome, meaning in MEANINGS.items():
        assert f"{outcome}: {meaning}." in option.help
