"""The embedded model in processes as a user starts them, killed anywhere: the run that nobody disturbed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.endurance.ledger import Ledger
from tests.endurance.test_runs_killed import compare
from tests.study import stored
from tests.study.forks import ROOT
from tests.study.small import write_config

pytestmark = [pytest.mark.endurance, pytest.mark.model]
SEED = 99


def study(folder: Path, items: int) -> Path:
    """A few facts, asked greedily and by drawing."""
    folder.mkdir()
    write_config(
        folder,
        {
            "name": "killed",
            "benchmark": "facts",
            "models": ["smollm2"],
            "items": {"limit": items},
            "max_tokens": 8,
            "techniques": [{"technique": "recite", "paths": 2, "passage_tokens": 12, "max_tokens": 8}],
            "sampling": {"temperatures": [0.7], "vote": 3},
            "beyond_sampling": None,
            "batch_rows": 16,
        },
    )
    return folder


def run(folder: Path) -> subprocess.Popen[bytes]:
    """`leadline run`, as its users start it."""
    command = [sys.executable, "-m", "leadline", "run", str(folder), "--quiet"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "src")}
    return subprocess.Popen(command, env=environment)


def test_killed_anywhere_and_run_again_it_is_the_undisturbed_run(
    tmp_path: Path, ledger: Ledger, long: bool, request: pytest.FixtureRequest
) -> None:
    if not long:
        pytest.skip("a process of the real model takes seconds to start: in the long form only")
    request.getfixturevalue("smollm2")  # fetched, if need be, before processes are timed
    tally = ledger.tally("run of SmolLM2, killed", SEED)
    chance = random.Random(SEED)
    items = 6
    calm = study(tmp_path / "calm", items)
    started = time.monotonic()
    process = run(calm)
    assert process.wait() == 0
    seconds = time.monotonic() - started
    expected, report = stored.texts(calm), stored.findings(calm)
    for which in range(3):
        folder = study(tmp_path / f"study-{which}", items)
        before: stored.Stored = {}
        for _ in range(4):
            process = run(folder)
            time.sleep(seconds * chance.uniform(0.3, 0.9))
            process.kill()
            if process.wait() == -signal.SIGKILL:
                after = stored.rows(folder)
                tally.fault(midway=0 < len(after) < len(expected))
                compare(tally, before, after, f"study {which}")
                before = after
        assert run(folder).wait() == 0
        found = stored.texts(folder)
        compare(tally, before, stored.rows(folder), f"study {which}, at the end")
        tally.broken("lost", f"study {which}", len(expected.keys() - found.keys()))
        tally.expect(found == expected, "wrong reports", f"study {which}: other answers")
        tally.expect(stored.findings(folder) == report, "wrong reports", f"study {which}: other findings")
    tally.check(faults=6, midway=1)
