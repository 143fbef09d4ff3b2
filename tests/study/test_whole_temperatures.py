"""A temperature of 1 is "1" in every row, as the verifier of a release has it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.study.conftest import Leadline
from tests.study.small import small_study


def _of(said: Any, key: str) -> Iterator[Any]:
    """Every value of this key, however deep, that is a text."""
    if isinstance(said, dict):
        yield from (value for name, value in said.items() if name == key and isinstance(value, str))
    if isinstance(said, dict | list):
        for part in said.values() if isinstance(said, dict) else said:
            yield from _of(part, key)


def test_a_whole_temperature_has_no_digit_after_its_point(
    tmp_path: Path, model: Path, leadline: Leadline
) -> None:
    folder = small_study(
        tmp_path / "study", model, techniques=[], sampling={"temperatures": [0.7, 1.0], "vote": 3}
    )
    assert leadline("run", folder, "--quiet").code == 0
    said = json.loads((folder / "report" / "findings.json").read_text("utf-8"))
    keys = set(_of(said, "temperature"))
    assert {"0.7", "1"} <= keys and "1.0" not in keys
