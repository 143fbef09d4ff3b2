"""A full disk ends every command in one line; nothing stored is lost, and no half file looks whole."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.endurance.ledger import Ledger
from tests.endurance.mounting import Filler, small
from tests.endurance.points import Killable
from tests.endurance.test_builds_killed import content, inputs
from tests.endurance.test_reviews_killed import start
from tests.endurance.test_servers_killed import free_port
from tests.review.doubted import copied, doubted
from tests.review.pages import Client
from tests.study import stored
from tests.study.conftest import Leadline
from tests.study.small import small_study

pytestmark = pytest.mark.endurance
MB = 2**20
KEPT = (".lock", "checksums.json", ".filler")


@dataclass(frozen=True)
class Command:
    """A command in a folder that has what it needs: its arguments, and what it makes, below the folder."""

    arguments: Callable[[Path], tuple[str | Path, ...]]
    makes: tuple[str, ...]
    rooms: tuple[int, ...] = (0, 9_000, 40_000)


COMMANDS = {
    "report": Command(lambda folder: ("report", folder / "study"), ("study/report",), (0, 30_000, 90_000)),
    "bundle": Command(
        lambda folder: ("bundle", folder / "made" / "study", folder / "release"),
        ("release",),
        (0, 60_000, 200_000),
    ),
    "export answers": Command(
        lambda folder: ("export", "answers", folder / "study", "--out", folder / "answers.parquet"),
        ("answers.parquet",),
        (0, 4_096),
    ),
    "export dataset": Command(
        lambda folder: ("export", "dataset", "facts", folder / "dataset"), ("dataset",)
    ),
    "export lm-eval-task": Command(
        lambda folder: ("export", "lm-eval-task", "facts", folder / "task"), ("task",)
    ),
    "audit": Command(
        lambda folder: ("audit", "licences", "--out", folder / "audit.html", "--out", folder / "audit.json"),
        ("audit.html", "audit.json"),
    ),
    "bench copy": Command(lambda folder: ("bench", "copy", "facts", folder / "own"), ("own",)),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, model: Path, killable: Killable) -> Path:
    """A folder with a study that is complete."""
    folder = tmp_path_factory.mktemp("whole")
    small_study(folder / "study", model)
    assert killable.start("run", folder / "study").wait() == 0
    doubted(folder / "made")
    return folder


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Path]:
    with small(tmp_path / "disk", 8 * MB) as folder:
        yield folder


def made(folder: Path, names: tuple[str, ...]) -> dict[str, int]:
    """Files that a command made, and how long they are."""
    found = {}
    for name in names:
        place = folder / name
        for path in [place] if place.is_file() else sorted(place.rglob("*")):
            if path.is_file() and not path.name.startswith(".") and path.name not in KEPT:
                found[path.relative_to(folder).as_posix()] = path.stat().st_size
    return found


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_finds_no_room_says_so_and_leaves_nothing_that_looks_whole(
    name: str, whole: Path, mounted: Path, tmp_path: Path, leadline: Leadline, ledger: Ledger, long: bool
) -> None:
    command = COMMANDS[name]
    tally = ledger.tally("disk full", None)
    shutil.copytree(whole, tmp_path / "calm")
    ended = leadline(*command.arguments(tmp_path / "calm"))
    assert ended.code in (0, 1), ended.err
    calm = made(tmp_path / "calm", command.makes)
    assert calm
    shutil.copytree(whole, mounted, dirs_exist_ok=True)
    filler = Filler(mounted)
    before, report = stored.rows(mounted / "study"), stored.findings(mounted / "study")
    rooms = (*command.rooms, *range(0, 300_000, 20_000)) if long else command.rooms
    for room in rooms:
        filler.leave(room)
        there = made(mounted, command.makes)
        ended = leadline(*command.arguments(mounted))
        tally.fault()
        called = f"{name}, room for {room}"
        if ended.code in (0, 1):  # that was enough
            filler.free()
            for one in command.makes:
                if (mounted / one).is_file():
                    (mounted / one).unlink()
                elif name != "report":
                    shutil.rmtree(mounted / one)
            continue
        tally.midway += 1
        lines = [line for line in ended.err.splitlines() if line.startswith("error: ")]
        tally.expect(len(lines) == 1 and "Traceback" not in ended.err, "other", f"{called}: {ended.err}")
        halves = {
            one: size
            for one, size in made(mounted, command.makes).items()
            if size != calm.get(one) and there.get(one) != size
        }
        tally.expect(not halves, "wrong reports", f"{called}: {halves} of {calm}")
        tally.expect(stored.findings(mounted / "study") == report, "wrong reports", called)
        filler.free()
    ended = leadline(*command.arguments(mounted))
    tally.expect(ended.code in (0, 1), "other", f"{name} after there was room: {ended.err}")
    tally.expect(made(mounted, command.makes).keys() == calm.keys(), "lost", f"{name}: not all is there")
    tally.expect(stored.rows(mounted / "study") == before, "lost", name)
    tally.answers += len(before)
    tally.check(faults=2)


def test_a_run_stops_in_one_line_at_any_write_and_goes_on_when_there_is_room(
    whole: Path, mounted: Path, model: Path, leadline: Leadline, ledger: Ledger, long: bool
) -> None:
    tally = ledger.tally("disk full, run", None)
    calm, report = stored.texts(whole / "study"), stored.findings(whole / "study")
    filler = Filler(mounted)
    for number, first in enumerate(range(0, 240_000, 12_000 if long else 80_000)):
        folder = small_study(mounted / f"study-{number}", model)
        before: dict[stored.Identity, object] = {}
        for room in (first, first // 2, 20_000):
            filler.leave(room)
            ended = leadline("run", folder, "--quiet")
            filler.free()
            tally.fault(midway=0 < len(before) < len(calm))
            lines = [line for line in ended.err.splitlines() if line.startswith("error: ")]
            whole_line = ended.code == 0 or (len(lines) == 1 and "Traceback" not in ended.err)
            tally.expect(whole_line, "other", f"room for {room}: {ended.err}")
            after = stored.rows(folder)
            tally.expect(after.items() >= before.items(), "lost", f"room for {room}")
            before = dict(after)
        assert leadline("run", folder, "--quiet").code == 0
        tally.expect(stored.rows(folder).items() >= before.items(), "asked twice", f"from {first}")
        tally.expect(stored.texts(folder) == calm, "lost", f"from {first}")
        tally.expect(stored.findings(folder) == report, "wrong reports", f"from {first}")
        tally.answers += len(calm)
        shutil.rmtree(folder)
    tally.check(faults=6)


def test_a_build_goes_on_when_there_is_room_and_makes_the_same_bytes(
    mounted: Path, tmp_path: Path, leadline: Leadline, ledger: Ledger, long: bool
) -> None:
    pytest.importorskip("mwparserfromhell", reason="builds need the 'build' extra")
    tally = ledger.tally("disk full, build", None)
    calm, plan = inputs(tmp_path / "calm"), inputs(mounted / "plan")
    assert leadline("build", "run", calm, "--workers", "1", "--quiet").code == 0
    filler = Filler(mounted)
    for room in range(0, 200_000, 10_000) if long else (0, 50_000):
        filler.leave(room)
        ended = leadline("build", "run", plan, "--workers", "1", "--quiet")
        filler.free()
        tally.fault(midway=True)
        lines = [line for line in ended.err.splitlines() if line.startswith("error: ")]
        tally.expect(ended.code == 0 or len(lines) == 1, "other", f"room for {room}: {ended.err}")
    assert leadline("build", "run", plan, "--workers", "1", "--quiet").code == 0
    one, other = content(calm), content(plan)
    tally.expect(one == other, "wrong reports", "the benchmark differs")
    tally.answers += len(one)
    tally.check(faults=2)


def test_a_save_that_found_no_room_is_told_and_one_that_was_told_as_saved_is_there(
    mounted: Path, tmp_path: Path, killable: Killable, ledger: Ledger, long: bool
) -> None:
    tally = ledger.tally("disk full, review", None)
    made_here = copied(doubted(tmp_path / "doubted"), mounted / "review")
    process, url, token = start(killable, made_here, free_port())
    filler = Filler(mounted)
    with closing(Client(url, token, "ann")) as ann:
        key = ann.get("/adjudicate/next").url.path.rpartition("/")[2]
        saved, refused, version = "", 0, 0
        for number in range(60 if long else 16):
            if number % 4 == 0:
                filler.leave(0)
            if number % 4 == 3:
                filler.free()
            text = f"{number} " + "long " * 4000
            answer = ann.put(f"/api/adjudicate/{key}", json={"version": version, "fields": {"answer": text}})
            tally.fault(midway=True)
            if answer.status_code == 200:
                saved, version = text, answer.json()["version"]
            else:
                refused += 1
                told = answer.status_code == 503 and "is there room on the disk" in answer.json()["error"]
                tally.expect(told, "other", answer.text)
        filler.free()
        now = ann.get(f"/api/adjudicate/{key}").json()
        tally.expect(now["fields"].get("answer", "").strip() == saved.strip(), "lost", "a save")
        tally.answers += 1
        assert refused
    process.kill()
    tally.check(faults=10)


def test_without_a_file_system_of_its_own_a_limit_of_the_size_of_files_is_one_line(
    whole: Path, tmp_path: Path, model: Path, ledger: Ledger
) -> None:
    tally = ledger.tally("files limited in size", None)
    folder = small_study(tmp_path / "study", model)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))

    command = [sys.executable, "-m", "leadline", "run", str(folder), "--quiet"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command, preexec_fn=limit, capture_output=True, text=True, env=environment, check=False
    )
    tally.fault(midway=True)
    assert done.returncode == 3 and "Traceback" not in done.stderr, done.stderr
    assert len(done.stderr.splitlines()) == 1 and str(folder) in done.stderr
    before = stored.rows(folder)
    assert subprocess.run(command, capture_output=True, env=environment, check=False).returncode == 0
    tally.expect(stored.rows(folder).items() >= before.items(), "lost", "answers")
    tally.expect(stored.texts(folder) == stored.texts(whole / "study"), "lost", "answers differ")
    tally.answers += len(before)
    tally.check()
