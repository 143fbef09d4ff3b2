"""Builds that are interrupted, moved, damaged, or run twice at a time."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from leadline.build.checksums import Checksums
from leadline.build.parts import reading
from leadline.build.records import Fact
from leadline.build.workspace import StageFolder
from leadline.errors import LeadlineError, UsageError
from leadline.study.lock import locked
from tests.build.small_build import build, content

ROOT = Path(__file__).parents[2]
STAGES = ["articles", "extract", "short", "count"]


def inputs(folder: Path) -> Path:
    """Three input files, of the words of this very project."""
    words = (ROOT / "CONTRIBUTING.md").read_text("utf-8").split()
    (folder / "input").mkdir(parents=True)
    for number in range(3):
        lines = [" ".join(words[row * 5 : row * 5 + 5]) for row in range(number * 30, number * 30 + 30)]
        (folder / "input" / f"{number}.txt").write_text("\n".join(lines), "utf-8")
    return folder


def started(*given: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.build.small_build", *map(str, given)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = inputs(tmp_path_factory.mktemp("whole"))
    assert build(folder).done == STAGES
    return folder


def test_it_makes_what_it_should(whole: Path) -> None:
    facts = list(reading(whole / "out" / "stages" / "count" / "kept.jsonl.zst", Fact))
    dropped = list(StageFolder("short", whole / "out" / "stages" / "short").drops())
    assert len(facts) + len(dropped) == 900
    assert facts and dropped and all(fact.views for fact in facts)


def test_killed_at_any_step_with_a_file_and_resumed_it_makes_the_same_bytes(
    whole: Path, tmp_path: Path
) -> None:
    process = started(tmp_path, whole)
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    assert int(said) >= 40  # so many steps there are, and so often it was killed


def test_killed_with_its_workers_and_resumed_it_makes_the_same_bytes(whole: Path, tmp_path: Path) -> None:
    draw = random.Random(7)
    for run in range(3):
        folder = inputs(tmp_path / str(run))
        process = started(folder)
        end = time.monotonic() + draw.uniform(0.3, 1.2)
        while time.monotonic() < end and process.poll() is None:
            time.sleep(0.01)
        process.kill()
        process.wait()
        build(folder, workers=2)
        assert content(folder) == content(whole)


def test_a_second_run_does_nothing_and_a_change_redoes_only_what_follows(tmp_path: Path) -> None:
    folder = inputs(tmp_path / "a")
    assert build(folder).done == STAGES
    assert build(folder).kept == STAGES
    assert build(folder, seed=1).done == ["count"]
    assert build(folder, seed=1, least=6).done == ["short", "count"]
    assert build(folder, seed=1, least=6, until="short").kept == ["articles", "extract", "short"]
    (folder / "input" / "1.txt").write_text("Quite another text stands here.", "utf-8")
    assert build(folder, seed=1, least=6).done == STAGES
    assert len(list((folder / "out" / "stages" / "articles" / "parts").iterdir())) == 3


def test_a_moved_build_is_not_done_again(tmp_path: Path) -> None:
    folder = inputs(tmp_path / "a")
    build(folder)
    moved = folder.rename(tmp_path / "elsewhere")
    # Sums are found again under the relative names: the content is not read (it cannot be).
    sums = Checksums(moved / "out" / "checksums.json", moved)
    assert list(sums.of(sorted((moved / "input").iterdir()))) == ["input/0.txt", "input/1.txt", "input/2.txt"]
    assert str(tmp_path) not in (moved / "out" / "checksums.json").read_text()
    assert build(moved).kept == STAGES
    copied = tmp_path / "copied"
    shutil.copytree(moved, copied)
    for path in (copied / "input").iterdir():
        os.utime(path, (1, 1))  # read again, and the same
    assert build(copied).kept == STAGES


@pytest.mark.parametrize(
    ("name", "again"),
    [
        ("articles/parts/00001.jsonl.zst", ["articles"]),
        ("extract/kept.jsonl.zst", ["extract"]),
        ("short/dropped.jsonl.zst", ["short"]),
        ("count/parts/often.json", ["count"]),
        ("count/done.json", ["count"]),
    ],
)
def test_what_is_gone_or_cut_off_is_made_again_and_nothing_else(
    whole: Path, tmp_path: Path, name: str, again: list[str]
) -> None:
    for cut in (False, True):
        folder = tmp_path / str(cut)
        shutil.copytree(whole, folder)
        path = folder / "out" / "stages" / name
        if cut:
            path.write_bytes(path.read_bytes()[:-3])
        else:
            path.unlink()
        assert build(folder).done == again
        assert content(folder) == content(whole)


@pytest.mark.parametrize("written", [b"", b"[]", b'{"key": 5}', b"\xff\xfe", b'{"counts": []}', None])
def test_a_done_json_of_somebody_else_means_not_done(
    whole: Path, tmp_path: Path, written: bytes | None
) -> None:
    folder = tmp_path / "a"
    shutil.copytree(whole, folder)
    path = folder / "out" / "stages" / "short" / "done.json"
    path.unlink()
    if written is None:
        path.mkdir()
    else:
        path.write_bytes(written)
    assert build(folder).done == ["short"]
    assert content(folder) == content(whole)


def test_halves_of_files_are_cleared_away(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "a"
    shutil.copytree(whole, folder)
    stage = folder / "out" / "stages" / "articles"
    (stage / "done.json").unlink()
    (stage / "parts" / ".00002.jsonl.zst.x7_3abcd").write_bytes(b"half")
    (folder / "out" / ".stats.html.x7_3abcd").write_bytes(b"half")
    for place in (stage / "entities", folder / "out" / "cache" / "entities" / "0"):
        (place / ".entities.sqlite.x7_3abcd").mkdir(parents=True)
        (place / ".entities.sqlite.x7_3abcd" / "entities.sqlite").write_bytes(b"half")
    build(folder)
    assert content(folder) == content(whole)


def test_two_processes_never_work_in_one_folder(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "a"
    shutil.copytree(whole, folder)
    told: list[str] = []

    def other() -> None:
        try:
            build(folder)
        except LeadlineError as error:
            told.append(str(error))

    with locked(folder / "out"):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert told == [f"{folder / 'out'}: this build is being run by another process (wait for it to end)"]


def test_inputs_that_cannot_be_read_and_stages_that_are_none_are_named(tmp_path: Path) -> None:
    folder = inputs(tmp_path / "a")
    (folder / "input" / "9.txt").symlink_to(tmp_path / "nowhere")
    with pytest.raises(UsageError, match=r"9\.txt: cannot be read: No such file"):
        build(folder)
    with pytest.raises(UsageError, match=r"no stage is called 'filtering' .stages: articles, extract"):
        build(folder, until="filtering")


def test_sums_that_somebody_else_wrote_are_not_believed(tmp_path: Path) -> None:
    path = tmp_path / "input.txt"
    path.write_text("a")
    kept = tmp_path / "sums.json"
    right = Checksums(kept).of([path])
    for written in ("[]", "{", '{"input.txt": 1}', '{"input.txt": [1, 2]}', '{"input.txt": [1, 2, "no"]}'):
        kept.write_text(written)
        assert Checksums(kept).of([path]) == right
