"""A wall clock that jumps an hour back and forth: nothing hangs, nothing lasts less than no time, and what
came later stands later."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest

from leadline.review.drafts import Drafts
from leadline.review.places import DRAFTS
from leadline.study.store import open_store
from tests.endurance.ledger import Ledger, Tally
from tests.endurance.test_servers_killed import free_port
from tests.review.doubted import doubted
from tests.review.pages import Client, token_in
from tests.study import stored
from tests.study.conftest import Leadline
from tests.study.forks import ROOT, wait_until
from tests.study.small import change, small_study

pytestmark = pytest.mark.endurance
SEED = 98
HOUR = 3600.0
MONTH = 31 * 24 * HOUR
# Where packages put it, which `faketime` itself knows.
PRELOADED = [
    Path(place)
    for place in (
        "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
        "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1",
        "/usr/lib/faketime/libfaketime.so.1",
    )
]


class Jumping:
    """time.time of a clock that somebody sets back or forward every few looks at it."""

    def __init__(self, tally: Tally) -> None:
        self._real, self._chance, self._tally = time.time, random.Random(SEED), tally
        self.offset = 0.0

    def __call__(self) -> float:
        if self._chance.random() < 0.2:
            self.offset = self._chance.choice((-HOUR, 0.0, HOUR))
            self._tally.fault(midway=True)
        return self._real() + self.offset


def check_times(tally: Tally, folder: Path) -> None:
    """Every answer lies within its run, every run ends after it began, and runs are told in order."""
    with closing(sqlite3.connect(folder / "responses.sqlite")) as database:
        runs = database.execute("SELECT run, started, finished FROM runs ORDER BY run").fetchall()
        answers = database.execute("SELECT run, created FROM responses").fetchall()
    spans = {run: (started, finished) for run, started, finished in runs}
    outside = [run for run, created in answers if not spans[run][0] <= created <= spans[run][1]]
    tally.answers += len(answers)
    tally.broken("other", f"answers outside of their runs: {outside[:3]}", len(outside))
    tally.expect(all(start <= end for start, end in spans.values()), "other", "a run of less than no time")
    told = json.loads((folder / "manifest.json").read_text("utf-8"))["runs"]
    tally.expect([one["run"] for one in told] == sorted(spans), "other", "runs in disorder")
    for one in told:
        lasted = datetime.fromisoformat(one["finished"]) - datetime.fromisoformat(one["started"])
        tally.expect(lasted.total_seconds() >= 0, "other", f"run {one['run']} lasted {lasted}")


def test_a_run_under_a_jumping_clock_is_the_run_of_a_steady_one(
    tmp_path: Path, model: Path, leadline: Leadline, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    tally = ledger.tally("clock set back and forward, in the process", SEED)
    calm = small_study(tmp_path / "calm", model, 3)
    folder = small_study(tmp_path / "study", model, 2)
    assert leadline("run", calm, "--quiet").code == 0
    with monkeypatch.context() as patched:
        patched.setattr(time, "time", Jumping(tally))
        assert leadline("run", folder, "--quiet").code == 0
        change(folder, **{"batch_rows": 4})
        (folder / "items.jsonl").write_bytes((calm / "items.jsonl").read_bytes())
        assert leadline("run", folder, "--quiet").code == 0
    check_times(tally, folder)
    assert stored.runs(folder) == 2
    tally.expect(stored.texts(folder) == stored.texts(calm), "wrong reports", "other answers")
    tally.expect(stored.findings(folder) == stored.findings(calm), "wrong reports", "other findings")
    tally.check(faults=3)


def test_predictions_are_listed_in_the_order_in_which_they_were_registered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ledger: Ledger
) -> None:
    tally = ledger.tally("clock set back between two predictions")
    real = time.time
    for jump, stamp in ((HOUR, "first"), (-HOUR, "second"), (0.0, "third")):
        monkeypatch.setattr(time, "time", lambda jump=jump: real() + jump)
        with open_store(tmp_path, write=True) as store:
            store.note_registration(stamp, "a prediction")
        tally.fault()
    with open_store(tmp_path, write=False) as store:
        tally.expect(list(store.registrations()) == ["first", "second", "third"], "other", "in disorder")
    tally.check(faults=3)


@pytest.fixture
def faked(tmp_path: Path, long: bool) -> tuple[dict[str, str], Path]:
    """An environment in which a process believes a file about the time, and the file."""
    if not long:
        pytest.skip("libfaketime is used in the long form only")
    library = next((path for path in PRELOADED if path.exists()), None)
    if library is None:
        pytest.skip("libfaketime is not installed (apt-get install faketime)")
    told = tmp_path / "clock"
    told.write_text("+0")
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "LD_PRELOAD": str(library),
        "FAKETIME_TIMESTAMP_FILE": str(told),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "OMP_NUM_THREADS": "1",
    }
    environment.pop("FAKETIME", None)
    return environment, told


def set_clock(told: Path, seconds: float) -> None:
    """All at once: half a line would be another time."""
    new = told.with_suffix(".new")
    new.write_text(f"{seconds:+.0f}")
    new.replace(told)


def test_a_process_whose_clock_is_set_back_and_forward_runs_to_its_end(
    tmp_path: Path, model: Path, leadline: Leadline, ledger: Ledger, faked: tuple[dict[str, str], Path]
) -> None:
    tally = ledger.tally("clock of a whole process, while it runs", SEED)
    environment, told = faked
    calm = small_study(tmp_path / "calm", model, 24, batch_rows=8)
    folder = small_study(tmp_path / "study", model, 24, batch_rows=8)
    assert leadline("run", calm, "--quiet").code == 0
    process = subprocess.Popen(
        [sys.executable, "-m", "leadline", "run", str(folder), "--quiet"], env=environment
    )
    started, jumps = time.monotonic(), 0
    while process.poll() is None:
        set_clock(told, (HOUR, -HOUR, 0.0, MONTH, -MONTH)[jumps % 5])
        jumps += 1
        tally.fault(midway=bool(stored.rows(folder)))
        time.sleep(0.15)
        if time.monotonic() - started > 240:
            process.kill()
            tally.broken("other", "it hangs")
    tally.expect(process.wait() == 0, "other", f"it ended with {process.returncode}")
    check_times(tally, folder)
    with closing(sqlite3.connect(folder / "responses.sqlite")) as database:
        (last,) = database.execute("SELECT max(created) FROM responses").fetchone()
    assert last > time.time() + MONTH / 2, "the process never saw the clock that was set for it"
    tally.expect(stored.texts(folder) == stored.texts(calm), "wrong reports", "other answers")
    tally.expect(stored.findings(folder) == stored.findings(calm), "wrong reports", "other findings")
    tally.check(faults=5, midway=1)


def test_saves_and_tokens_of_a_review_outlive_a_jump_of_the_clock(
    tmp_path: Path, ledger: Ledger, faked: tuple[dict[str, str], Path]
) -> None:
    tally = ledger.tally("clock of a review server, between saves")
    environment, told = faked
    environment["LEADLINE_CACHE"] = str(tmp_path / "cache")
    made = doubted(tmp_path / "made")
    port = str(free_port())
    jumps = (0.0, HOUR, -HOUR, MONTH, -MONTH, 0.0)
    for life in range(2):
        out = tmp_path / f"{life}.out"
        with out.open("w") as stream:
            command = ["review", "serve", str(made.benchmark), "--study", str(made.study), "--port", port]
            process = subprocess.Popen(
                [sys.executable, "-m", "leadline", *command], env=environment, stdout=stream
            )
        wait_until(lambda out=out: "token=" in out.read_text(), 120)
        url, token = out.read_text().strip().partition("/?")[0], token_in(out.read_text())
        with closing(Client(url, token, "Ann")) as client:
            entries = client.get("/adjudicate?show=all").text
            key = next(
                part.split('"')[0]
                for part in entries.split('href="/adjudicate/')[1:]
                if not part.startswith("next")
            )
            for jump in jumps:
                set_clock(told, jump)
                tally.fault(midway=True)
                version = client.get(f"/api/adjudicate/{key}").json()["version"]
                sent = {"version": version, "fields": {"answer": f"{life} {jump:.0f}"}}
                answer = client.put(f"/api/adjudicate/{key}", json=sent)
                tally.expect(answer.status_code == 200, "lost", f"{answer.status_code} after {jump}")
                tally.answers += 1
        set_clock(told, MONTH)  # the secret of the first life is old when the second begins
        process.send_signal(signal.SIGKILL)
        process.wait()
    history = Drafts(made.benchmark / "review" / DRAFTS).history("adjudicate", key, "Ann")
    texts = [draft.fields["answer"] for draft in history]
    tally.expect(
        texts == [f"{life} {jump:.0f}" for life in range(2) for jump in jumps],
        "other",
        f"in disorder: {texts}",
    )
    tally.check(faults=12)
