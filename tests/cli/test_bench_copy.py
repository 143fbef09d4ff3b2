"""`leadline bench copy`: a folder of one's own that is the same benchmark."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from leadline.bench import load_benchmark
from tests.study.conftest import Leadline


@pytest.mark.parametrize("name", ["licences", "licences/planted", "facts"])
def test_a_copy_is_the_same_benchmark_with_the_same_documents(
    leadline: Leadline, tmp_path: Path, name: str
) -> None:
    out = tmp_path / "mine"
    told = json.loads(leadline("bench", "copy", name, out, "--json").out)
    copied, original = load_benchmark(out), load_benchmark(name)
    assert copied == original
    assert told["content_hash"] == copied.content_hash == original.content_hash
    held = {path.name: path.read_bytes() for path in (out / "sources").glob("*")}
    assert told["sources"] == len(held) == (0 if name == "facts" else 31)
    if name == "licences":
        assert {item.source.removeprefix("sources/") for item in original.items} <= set(held)


def test_what_is_there_is_left_alone(leadline: Leadline, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine", encoding="utf-8")
    ended = leadline("bench", "copy", "facts", tmp_path / "mine")
    assert ended.code == 2 and "is there already" in ended.err
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes.txt"]


def test_the_folder_that_one_is_in_is_not_replaced(
    tmp_path: Path, leadline: Leadline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = leadline("bench", "copy", "facts", ".")
    assert ended.fault == "error: .: is the folder that you are in (name a new folder)"
    assert list(tmp_path.iterdir()) == [] and Path.cwd() == tmp_path
