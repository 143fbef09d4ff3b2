"""Databases and folders that cannot be used: one line, nothing changed, and a way on."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from leadline.errors import LeadlineError
from leadline.study.database import DATABASE, connect
from leadline.study.readings import readings
from leadline.study.store import open_store
from leadline.study.study import open_study
from tests.study import stored
from tests.study.conftest import Leadline
from tests.study.small import change, items, small_study, write_items


def _garbage(data: bytes) -> bytes:
    return random.Random(0).randbytes(len(data))


def _truncated(data: bytes) -> bytes:
    return data[: len(data) // 2 + 100]


def _headless(data: bytes) -> bytes:
    return b"\0" * 4096 + data[4096:]


def _scribbled(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + b"\xff" * 9000 + data[middle + 9000 :]


@pytest.mark.parametrize("damage", [_garbage, _truncated, _headless, _scribbled])
def test_a_damaged_database_is_named_and_left_as_it_is(
    study: Path, leadline: Leadline, damage: Callable[[bytes], bytes]
) -> None:
    database = study / "responses.sqlite"
    broken = damage(database.read_bytes())
    database.write_bytes(broken)
    for command in ("run", "report"):
        ended = leadline(command, study)
        assert ended.code == 3
        assert ended.fault.startswith(f"error: {database}: the database cannot be used: ")
        assert f"leadline recover {study} saves what can be read" in ended.fault
        assert database.read_bytes() == broken


def _hello(data: bytes) -> bytes:
    return b"hello"


def _emptied(data: bytes) -> bytes:
    return b""


def _stump(data: bytes) -> bytes:
    return data[:5000]


@pytest.mark.parametrize("damage", [_emptied, _hello, _stump, _garbage])
@pytest.mark.parametrize("has_manifest", [True, False])
def test_where_everything_is_lost_recover_says_how_much_and_what_to_do(
    study: Path, leadline: Leadline, damage: Callable[[bytes], bytes], has_manifest: bool
) -> None:
    before = stored.rows(study)
    (study / "responses.sqlite").write_bytes(damage((study / "responses.sqlite").read_bytes()))
    if not has_manifest:
        (study / "manifest.json").write_text('{"runs": "none", "models": 3}')
    ended = leadline("recover", study)
    assert ended.code == 0 and not ended.err
    first, lost, *missing, more, last = ended.out.splitlines()
    assert more.startswith("more may be missing")
    kept = study / "responses.damaged-1.sqlite"
    assert first == f"0 answers recovered; the damaged file is kept: {kept}"
    assert lost == (
        f"{len(before)} answers lost"
        if has_manifest
        else "how many answers were lost is not known: what runs noted is lost, too"
    )
    asked = {one.name for one in open_study(study).configurations if not one.failures_only}
    assert {one.split(" · ")[1].split(": ")[0] for one in missing} == asked
    assert last == f"next: leadline run {study}"
    assert (
        leadline("report", study).fault
        == f"error: {study}: this study has no answers yet (leadline run {study})"
    )
    assert leadline("recover", study).out.startswith("nothing is damaged: 0 answers")


def test_a_database_that_was_emptied_is_told_by_whoever_opens_it(study: Path, leadline: Leadline) -> None:
    (study / "responses.sqlite").write_bytes(b"")
    for command in (("run", study), ("report", study), ("run", study, "--dry-run")):
        assert f"it was emptied (nothing was changed; leadline recover {study}" in leadline(*command).fault
    said = leadline("recover", study).out
    assert "more may be missing: what partitions ask hangs on the baseline's failures" in said


def test_what_was_lost_is_asked_again_in_full(study: Path, leadline: Leadline) -> None:
    before = stored.texts(study)
    (study / "responses.sqlite").write_bytes(b"")
    assert leadline("recover", study).code == 0
    assert leadline("run", study, "--quiet").code == 0
    assert stored.texts(study) == before
    with (study / "responses.sqlite").open("r+b") as file:
        file.truncate(5000)
    ended = leadline("recover", study)
    assert f"\n{len(before)} answers lost\n" in ended.out, "the recovery before is no run that lost answers"


def test_a_run_killed_before_its_first_answer_leaves_no_answers_yet(
    tmp_path: Path, model: Path, leadline: Leadline
) -> None:
    folder = small_study(tmp_path / "study", model)
    with open_store(folder, write=True) as store:
        store.begin_run({"drawn": None})
    ended = leadline("report", folder)
    assert ended.fault == f"error: {folder}: this study has no answers yet (leadline run {folder})"


def test_a_run_killed_before_its_database_has_tables_leaves_no_answers_yet(
    tmp_path: Path, model: Path, leadline: Leadline
) -> None:
    folder = small_study(tmp_path / "study", model)
    with closing(connect(folder / DATABASE, write=True)) as database:
        database.execute("PRAGMA journal_mode = WAL")
    ended = leadline("report", folder)
    assert ended.fault == f"error: {folder}: this study has no answers yet (leadline run {folder})"
    assert leadline("run", folder, "--quiet").code == 0
    assert leadline("report", folder).code == 0


def test_a_byte_turned_over_anywhere_never_ends_in_a_traceback(study: Path) -> None:
    database = study / "responses.sqlite"
    whole = database.read_bytes()
    chance = random.Random(3)
    refused = 0
    opened = open_study(study)
    for _ in range(100):
        broken = bytearray(whole)
        broken[chance.randrange(100, len(broken))] ^= chance.randrange(1, 256)
        database.write_bytes(broken)
        try:
            with open_store(study, write=False) as store:
                readings(opened, store)
        except LeadlineError as error:
            assert str(database) in str(error) and "\n" not in str(error)
            refused += 1
    assert refused, "some of these are to be noticed"


def test_a_database_of_a_later_version_is_not_touched(study: Path, leadline: Leadline) -> None:
    database = study / "responses.sqlite"
    with sqlite3.connect(database) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    later = database.read_bytes()
    for command in ("run", "report"):
        ended = leadline(command, study)
        assert ended.code == 3
        assert "the database has format 99, this version reads 2" in ended.fault
    assert database.read_bytes() == later


def test_a_report_that_cannot_be_written_says_where(study: Path, leadline: Leadline) -> None:
    (study / "file").write_text("in the way")
    for out in (study / "file", study / "file" / "below"):
        ended = leadline("report", study, "--out", out)
        assert ended.code == 2, "the flag is wrong, not the disk"
        assert ended.fault == (
            f"error: {study / 'file'}: is a file, where the report's folder should be "
            "(move it aside, or name another folder with --out)"
        )
    ended = leadline("techniques", "show", "recite", "--write", study / "file")
    assert ended.code == 2
    assert ended.fault == f"error: {study / 'file'}: is a file, not a folder (--write names a folder)"
    assert (study / "file").read_text() == "in the way"
    shutil.rmtree(study / "report")
    (study / "report").write_text("in the way")
    ended = leadline("report", study)
    assert ended.code == 2 and ended.fault.startswith(f"error: {study / 'report'}: is a file, where")


def test_a_folder_in_a_files_place_is_named(study: Path, leadline: Leadline) -> None:
    (study / "responses.sqlite").unlink()
    (study / "responses.sqlite").mkdir()
    for command in ("run", "report"):
        ended = leadline(command, study)
        assert ended.code == 3
        assert ended.fault == (
            f"error: {study / 'responses.sqlite'}: is a folder, not a database (move it aside)"
        )
    (study / ".lock").unlink()
    (study / ".lock").mkdir()
    ended = leadline("run", study)
    assert ended.code == 3
    assert ended.fault == f"error: {study / '.lock'}: is a folder, not a file (remove it)"


def _mount(*arguments: str) -> None:
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Path]:
    """A folder for a file system of its own."""
    folder = tmp_path / "mounted"
    folder.mkdir()
    yield folder
    subprocess.run(["umount", str(folder)], capture_output=True, check=False)


def _read_only(folder: Path, mounted: Path) -> Path:
    """`folder` as one that cannot be written; permissions do not bind the superuser, a mount does."""
    if os.geteuid():
        folder.chmod(0o555)
        return folder
    _mount("--bind", str(folder), str(mounted))
    _mount("-o", "remount,bind,ro", str(mounted))
    return mounted


def test_a_study_that_cannot_be_written_is_reported_elsewhere_and_not_run(
    study: Path, mounted: Path, tmp_path: Path, leadline: Leadline
) -> None:
    expected = stored.findings(study)
    folder = _read_only(study, mounted)
    ended = leadline("run", folder)
    assert ended.code == 3 and "cannot be written" in ended.fault and str(folder) in ended.fault
    ended = leadline("report", folder)
    assert ended.code == 3 and "cannot be written" in ended.fault
    assert leadline("report", folder, "--out", tmp_path / "out").code == 0
    assert stored.findings(tmp_path, "out") == expected
    study.chmod(0o755)


def test_a_full_disk_ends_the_run_in_one_line_and_room_lets_it_go_on(
    mounted: Path, tmp_path: Path, model: Path, leadline: Leadline
) -> None:
    if os.geteuid():
        pytest.skip("only the superuser can mount a small file system")
    _mount("-t", "tmpfs", "-o", "size=420k", "tmpfs", str(mounted))
    folder = small_study(mounted / "study", model, 24)
    ended = leadline("run", folder, "--quiet")
    assert ended.code == 3 and str(folder) in ended.fault
    assert "full" in ended.fault or "No space" in ended.fault or "disk" in ended.fault, ended.fault
    kept = stored.rows(folder)
    _mount("-o", "remount,size=8m", str(mounted))
    assert leadline("run", folder, "--quiet").code == 0
    assert stored.rows(folder).items() >= kept.items() and len(kept) > 0
    calm = small_study(tmp_path / "calm", model, 24)
    assert leadline("run", calm, "--quiet").code == 0
    assert stored.findings(folder) == stored.findings(calm)


def test_answers_of_a_run_that_could_not_end_are_reported_as_far_as_they_go(
    study: Path, leadline: Leadline
) -> None:
    change(study, sampling={"temperatures": [0.7, 1.2], "vote": 6})
    write_items(study / "items.jsonl", items(7))
    ended = leadline("report", study)
    assert ended.code == 0
    assert "answers that the study asks for are not there yet" in ended.err
    assert len(ended.err.splitlines()) == 1
