"""`leadline report` and `leadline bundle` killed: the old one stays whole, or the new one is there whole."""

from __future__ import annotations

import random
import re
import shutil
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from leadline.bundle.running import verify_bundle
from tests.endurance.ledger import Ledger, Tally
from tests.endurance.points import Killable, points_of
from tests.endurance.test_runs_killed import ended
from tests.review.doubted import doubted
from tests.study.small import change, small_study

pytestmark = pytest.mark.endurance
SEED = 93
TIMES = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(\+00:00|Z)?|\d{1,2} [A-Z][a-z]+ \d{4}, \d\d:\d\d")
Files = dict[str, bytes]


def files(folder: Path) -> Files:
    """Everything in a folder, with its content but for the times at which it was made."""
    return {
        path.relative_to(folder).as_posix(): TIMES.sub(b"TIME", path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "CHECKSUMS.sha256"  # of files with times in them
    }


def named(found: Files) -> Files:
    """Without files under other names than a reader opens."""
    return {name: content for name, content in found.items() if not name.startswith(".")}


@dataclass(frozen=True)
class Grown:
    """A study with a report of fewer answers than it has now; its report then, and the one that it gets."""

    folder: Path
    old: Files
    new: Files
    seconds: float
    points: int


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory, model: Path, killable: Killable) -> Grown:
    place = tmp_path_factory.mktemp("grown")
    folder = small_study(place / "study", model, 6, items=3, techniques=[])
    assert killable.start("run", folder, "--quiet").wait() == 0
    change(folder, items=6)
    assert killable.start("run", folder, "--quiet", "--no-report").wait() == 0
    done = Path(shutil.copytree(folder, place / "done"))
    started = time.monotonic()
    process = killable.start_at(0, done / "report", "report", done)
    assert process.wait() == 0, process.err.read_text()
    seconds = time.monotonic() - started
    old, new = files(folder / "report"), files(done / "report")
    assert old.keys() == new.keys() and all(old[name] != new[name] for name in old)
    return Grown(folder, old, new, seconds, points_of(process))


def check_report(tally: Tally, grown: Grown, folder: Path, where: str) -> None:
    """Each file of a report whose making was killed is the old one or the new one; the page is new last."""
    found = named(files(folder / "report"))
    tally.expect(found.keys() == grown.old.keys(), "lost", f"{where}: {sorted(found)}")
    states = {
        name: "old" if content == grown.old.get(name) else "new" if content == grown.new[name] else "neither"
        for name, content in found.items()
    }
    tally.answers += len(states)
    tally.expect("neither" not in states.values(), "wrong reports", f"{where}: {states}")
    page_is_alone = states.get("report.html") == "new" and "old" in states.values()
    tally.expect(not page_is_alone, "wrong reports", f"{where}: the page speaks of older files")


def test_a_report_whose_making_was_killed_is_the_old_one_or_the_new_one(
    grown: Grown, tmp_path: Path, killable: Killable, ledger: Ledger, long: bool
) -> None:
    tally = ledger.tally("report, killed", SEED)
    chance = random.Random(SEED)
    folder = Path(shutil.copytree(grown.folder, tmp_path / "study"))
    points = list(range(1, grown.points + 1))
    for point in (*(points if long else points[-2:-1]), *((0,) * (15 if long else 0))):
        where = f"point {point}"
        process = killable.start_at(point, folder / "report", "report", folder)
        if not point:
            time.sleep(chance.uniform(0, grown.seconds))
            process.kill()
        if ended(process) == -signal.SIGKILL:
            tally.fault(midway=point > 0)
        check_report(tally, grown, folder, where)
        shutil.rmtree(folder / "report")
        shutil.copytree(grown.folder / "report", folder / "report")
    # Once more in the place where it was killed last, without being killed.
    assert ended(killable.start_at(grown.points, folder / "report", "report", folder)) == -signal.SIGKILL
    tally.fault(midway=True)
    assert killable.start("report", folder).wait() == 0
    tally.expect(named(files(folder / "report")) == grown.new, "wrong reports", "the next one is another")
    tally.check(faults=2, midway=2)


def test_a_bundle_whose_making_was_killed_is_not_there_or_is_whole(
    tmp_path: Path, killable: Killable, ledger: Ledger, long: bool
) -> None:
    tally = ledger.tally("bundle, killed", SEED)
    chance = random.Random(SEED)
    folder = doubted(tmp_path / "made").study
    whole = tmp_path / "whole"
    process = killable.start_at(0, tmp_path, "bundle", folder, whole)
    assert process.wait() == 0, process.err.read_text()
    points, expected = points_of(process), files(whole)
    drawn = [*(chance.randint(1, points) for _ in range(13)), points] if long else []
    for point in (*drawn, points - 1):
        out = tmp_path / f"bundle-{point}"
        process = killable.start_at(point, tmp_path, "bundle", folder, out)
        if ended(process) == -signal.SIGKILL:
            tally.fault(midway=point < points)
        if out.exists():
            tally.expect(files(out) == expected, "wrong reports", f"point {point}: it is not the same")
            tally.expect(verify_bundle(out).is_sound, "wrong reports", f"point {point}: not sound")
        else:
            assert killable.start("bundle", folder, out).wait() == 0
            tally.expect(files(out) == expected, "wrong reports", f"point {point}: not the same again")
        tally.answers += 1
        shutil.rmtree(out)
    tally.expect(verify_bundle(whole).is_sound, "wrong reports", "it is not sound")
    tally.check(faults=1)
