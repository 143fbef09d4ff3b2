"""Runs that are killed, interrupted or started twice lose nothing, repeat nothing and change nothing."""

from __future__ import annotations

import itertools
import random
import signal
import time
from pathlib import Path

import pytest

from tests.study import stored
from tests.study.conftest import Leadline
from tests.study.forks import Forks, wait_until
from tests.study.small import small_study


def long_study(folder: Path, model: Path) -> Path:
    """Most of its time goes into asking, and answers are stored often."""
    return small_study(folder, model, 24, batch_rows=8)


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory, model: Path, forks: Forks) -> tuple[Path, float]:
    """A study that was run without disturbance, and the seconds that it took."""
    folder = long_study(tmp_path_factory.mktemp("calm") / "study", model)
    started = time.monotonic()
    process = forks.start("run", folder, "--no-report")
    assert process.wait() == 0, process.err.read_text()
    duration = time.monotonic() - started
    assert forks.start("report", folder).wait() == 0
    return folder, duration


def test_a_run_killed_at_any_moment_and_run_again_is_the_undisturbed_run(
    calm: tuple[Path, float], tmp_path: Path, model: Path, forks: Forks
) -> None:
    expected, duration = calm
    whole = stored.texts(expected)
    chance = random.Random(20)
    kills = midway = 0
    for study in itertools.count():
        folder = long_study(tmp_path / f"study-{study}", model)
        before: dict[stored.Identity, dict[str, object]] = {}
        for attempt in itertools.count():
            process = forks.start("run", folder, "--no-report")
            # Short enough that a study is killed several times on its way; longer each time, so that it ends.
            time.sleep(chance.uniform(0, (0.4 + 0.1 * attempt) * duration))
            process.kill()
            code = process.wait()
            after = stored.rows(folder)
            assert after.items() >= before.items(), "a stored answer was lost or replaced"
            before = after
            if code == 0:
                break
            assert code == -signal.SIGKILL, process.err.read_text()
            kills += 1
            midway += 0 < len(after) < len(whole)
        for _ in range(2):  # in the midst of reporting, too
            process = forks.start("run", folder)
            time.sleep(chance.uniform(0, 0.8))
            process.kill()
            kills += process.wait() == -signal.SIGKILL
        assert forks.start("run", folder).wait() == 0
        assert stored.texts(folder) == whole
        assert stored.findings(folder) == stored.findings(expected)
        if kills >= 24 and midway >= 8:
            break
        assert study < 10, "the kills were to hit runs in their midst"


def test_a_second_run_at_the_same_time_is_told_so_in_one_line(
    tmp_path: Path, model: Path, forks: Forks, leadline: Leadline
) -> None:
    folder = small_study(tmp_path / "study", model)
    first = forks.start("run", folder)
    wait_until(lambda: stored.rows(folder))
    first.kill(signal.SIGSTOP)
    second = leadline("run", folder)
    first.kill(signal.SIGCONT)
    assert second.code == 3
    assert second.fault == f"error: {folder}: this study is being run by another process (wait for it to end)"
    assert first.wait() == 0
    assert set(stored.drawn_per_run(folder)) == {1} and stored.runs(folder) == 1


def test_control_c_keeps_what_was_answered_and_exits_130(
    calm: tuple[Path, float], tmp_path: Path, model: Path, forks: Forks
) -> None:
    expected, _ = calm
    folder = long_study(tmp_path / "study", model)
    chance = random.Random(5)
    for wanted in (1, 60, 150, 250):
        known = stored.rows(folder)
        process = forks.start("run", folder)
        wait_until(lambda wanted=wanted: len(stored.rows(folder)) >= wanted)
        time.sleep(chance.uniform(0, 0.1))
        process.kill(signal.SIGINT)
        assert process.wait() == 130, process.err.read_text()
        said = process.err.read_text()
        assert "Traceback" not in said
        assert said.splitlines()[-1] == "interrupted; what was answered is stored, run again to go on"
        assert stored.rows(folder).items() >= known.items()
    last = forks.start("run", folder)
    assert last.wait() == 0
    assert stored.findings(folder) == stored.findings(expected)
