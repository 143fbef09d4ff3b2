"""`leadline build run` killed anywhere and run again makes the same bytes."""

from __future__ import annotations

import itertools
import random
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from leadline.build.work_folder import MARK
from tests.endurance.ledger import Ledger
from tests.endurance.points import Killable, points_of
from tests.endurance.test_runs_killed import ended

pytest.importorskip("mwparserfromhell", reason="builds need the 'build' extra")
pytestmark = pytest.mark.endurance
SEED = 94
EXAMPLE = Path(__file__).parents[2] / "examples" / "building"
WORK = "first-facts-build"


@dataclass(frozen=True)
class Calm:
    """What a build makes that nobody disturbs, its seconds, and its points."""

    content: dict[str, bytes]
    seconds: float
    points: int


def inputs(folder: Path) -> Path:
    """The example's plan and everything that it names; gives the plan."""
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("*-build"))
    return folder / "plan.yaml"


def content(plan: Path) -> dict[str, bytes]:
    """Everything that a build left, but what it remembers of the times of its inputs, and what may stay
    beside a file that was being written (see docs/reliability.md)."""
    work = plan.parent / WORK
    return {
        path.relative_to(work).as_posix(): path.read_bytes()
        for path in sorted(work.rglob("*"))
        if path.is_file()
        and path.name not in (".lock", "checksums.json")
        and (not path.name.startswith(".") or path.name == MARK)
    }


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory, killable: Killable) -> Calm:
    plan = inputs(tmp_path_factory.mktemp("calm-build") / "plan")
    started = time.monotonic()
    process = killable.start_at(0, plan.parent, "build", "run", plan, "--workers", "1", "--quiet")
    assert process.wait() == 0, process.err.read_text()
    seconds = time.monotonic() - started
    found = content(plan)
    assert {"benchmark/items.jsonl", "manifest.json", "stats.html"} <= found.keys()
    return Calm(found, seconds, points_of(process))


def test_killed_anywhere_and_run_again_it_makes_the_same_bytes(
    calm: Calm, tmp_path: Path, killable: Killable, ledger: Ledger, long: bool
) -> None:
    tally = ledger.tally("build, killed", SEED)
    chance = random.Random(SEED)
    firsts = [1, calm.points - 1, calm.points]
    for build in itertools.count():
        plan = inputs(tmp_path / f"build-{build}")
        # With two workers a kill leaves them alone, with a task in hand.
        workers = "2" if build % 3 == 2 else "1"
        command = ("build", "run", plan, "--workers", workers, "--quiet")
        for _ in range(3):
            point = firsts.pop() if firsts else chance.choice((0, chance.randint(1, calm.points)))
            process = killable.start_at(point, plan.parent, *command)
            if not point:
                time.sleep(chance.uniform(0, calm.seconds))
                process.kill()
            if ended(process) == 0:
                break
            done = len(list((plan.parent / WORK).glob("stages/*/done.json")))
            tally.fault(midway=done > 0)
        last = killable.start(*command)
        assert last.wait() == 0, last.err.read_text()
        found = content(plan)
        tally.answers += len(calm.content)
        missing = calm.content.keys() - found.keys()
        tally.broken("lost", f"build {build}: {sorted(missing)[:3]}", len(missing))
        others = [name for name in found if found[name] != calm.content.get(name)]
        tally.expect(not others, "wrong reports", f"build {build}: {others[:5]}")
        if tally.faults >= (30 if long else 1):
            break
    tally.check(faults=1)
