"""`leadline run` killed at any moment and at any write, and run again, is the run that nobody disturbed."""

from __future__ import annotations

import itertools
import random
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.endurance.ledger import Ledger, Tally
from tests.endurance.points import Killable, points_of
from tests.study import stored
from tests.study.forks import Process
from tests.study.small import small_study

pytestmark = pytest.mark.endurance
SEED = 91


@dataclass(frozen=True)
class Calm:
    """A study that was run without disturbance: its folder, seconds and points of a run of it."""

    folder: Path
    seconds: float
    points: int


def long_study(folder: Path, model: Path) -> Path:
    """Most of its time goes into asking, and answers are stored often."""
    return small_study(folder, model, 16, batch_rows=8)


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory, model: Path, killable: Killable) -> Calm:
    folder = long_study(tmp_path_factory.mktemp("calm") / "study", model)
    started = time.monotonic()
    process = killable.start_at(0, folder, "run", folder, "--no-report")
    assert process.wait() == 0, process.err.read_text()
    seconds = time.monotonic() - started
    assert killable.start("report", folder).wait() == 0
    return Calm(folder, seconds, points_of(process))


def kill_somewhere(chance: random.Random, killable: Killable, calm: Calm, folder: Path, attempt: int) -> int:
    """Run the study and kill it, at a moment or at a point; how it ended."""
    command = ("run", folder, "--no-report")
    if chance.random() < 0.5:
        point = chance.choice((1, 2, calm.points, chance.randint(1, calm.points)))
        process = killable.start_at(point, folder, *command)
    else:
        process = killable.start(*command)
        # Longer each time, so that the study ends.
        time.sleep(chance.uniform(0, (0.5 + 0.1 * attempt) * calm.seconds))
        process.kill()
    return ended(process)


def ended(process: Process) -> int:
    """How a process ended, which must not be by a fault of its own."""
    code = process.wait()
    assert code in (0, -signal.SIGKILL), process.err.read_text()
    return code


def compare(tally: Tally, before: stored.Stored, after: stored.Stored, where: str) -> None:
    """Every answer that was stored before is there, as it was."""
    tally.answers += len(before)
    gone = [key for key in before if key not in after]
    tally.broken("lost", f"{where}: {gone[:3]}", len(gone))
    again = [key for key, row in before.items() if key in after and after[key] != row]
    tally.broken("asked twice", f"{where}: {again[:3]}", len(again))


def test_killed_anywhere_and_run_again_it_is_the_undisturbed_run(
    calm: Calm, tmp_path: Path, model: Path, killable: Killable, ledger: Ledger, long: bool
) -> None:
    tally = ledger.tally("run of a local model, killed", SEED)
    chance = random.Random(SEED)
    expected, report = stored.texts(calm.folder), stored.findings(calm.folder)
    for study in itertools.count():
        folder = long_study(tmp_path / f"study-{study}", model)
        before: stored.Stored = {}
        for attempt in itertools.count():
            code = kill_somewhere(chance, killable, calm, folder, attempt)
            after = stored.rows(folder)
            compare(tally, before, after, f"study {study}, attempt {attempt}")
            before = after
            if code == 0:
                break
            tally.fault(midway=0 < len(after) < len(expected))
        where = f"study {study}"
        assert killable.start("run", folder).wait() == 0, "it ends, and reports"
        found = stored.texts(folder)
        tally.broken("lost", where, len(expected.keys() - found.keys()))
        tally.expect(found == expected, "wrong reports", f"{where}: other answers")
        tally.expect(stored.findings(folder) == report, "wrong reports", f"{where}: other findings")
        if tally.faults >= (70 if long else 3):
            break
    tally.check(faults=3, midway=1 if long else 0)


def test_killed_at_its_first_and_at_its_last_write_it_loses_nothing(
    calm: Calm, tmp_path: Path, model: Path, killable: Killable, ledger: Ledger, long: bool
) -> None:
    tally = ledger.tally("run of a local model, killed at its first and last writes")
    last = range(calm.points - (15 if long else 1), calm.points + 1)
    expected = stored.texts(calm.folder)
    for point in (*range(1, 16 if long else 2), *last):
        folder = long_study(tmp_path / f"point-{point}", model)
        assert ended(killable.start_at(point, folder, "run", folder, "--no-report")) == -signal.SIGKILL
        before = stored.rows(folder)
        tally.fault(midway=0 < len(before) < len(expected))
        assert ended(killable.start("run", folder, "--no-report")) == 0
        compare(tally, before, stored.rows(folder), f"point {point}")
        tally.expect(stored.texts(folder) == expected, "lost", f"point {point}")
    tally.check(faults=2)
