"""Two processes on one study: never mixed up, never both asking, and whoever only reads sees one moment."""

from __future__ import annotations

import json
import random
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from leadline.bundle.running import verify_bundle
from leadline.study.store import Key, open_store
from tests.endurance.ledger import Ledger, Tally
from tests.endurance.points import Killable
from tests.endurance.test_runs_killed import long_study
from tests.study import stored
from tests.study.forks import Process, wait_until
from tests.study.provider import Reply, provider, question_of, served_study
from tests.study.recorded import said

pytestmark = pytest.mark.endurance
SEED = 97
REFUSED = "this study is being run by another process (wait for it to end)"


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory, model: Path, killable: Killable) -> Path:
    folder = long_study(tmp_path_factory.mktemp("calm-two") / "study", model)
    assert killable.start("run", folder, "--quiet").wait() == 0
    return folder


def one_line(process: Process) -> str:
    """The last line of what a process said, which says no more than that of a fault."""
    said = process.err.read_text()
    assert "Traceback" not in said, said
    return said.strip().splitlines()[-1] if said.strip() else ""


def test_of_two_runs_one_asks_and_the_other_waits_or_is_told(
    calm: Path, tmp_path: Path, model: Path, killable: Killable, ledger: Ledger, long: bool
) -> None:
    tally = ledger.tally("two runs of one study at once", SEED)
    chance = random.Random(SEED)
    expected, report = stored.texts(calm), stored.findings(calm)
    for pair in range(8 if long else 1):
        folder = long_study(tmp_path / f"study-{pair}", model)
        first = killable.start("run", folder, "--quiet")
        time.sleep(chance.choice((0, chance.uniform(0, 1))))
        second = killable.start("run", folder, "--quiet")
        if killed := pair % 2 == 0:  # of whoever holds the study the other one takes it over, if it waits yet
            time.sleep(chance.uniform(0, 1))
            first.kill()
        codes = first.wait(), second.wait()
        tally.fault(midway=0 < len(stored.rows(folder)) < len(expected) or not killed)
        for code, process in zip(codes, (first, second), strict=True):
            if code == 3:
                tally.expect(one_line(process).endswith(REFUSED), "other", process.err.read_text())
            else:
                tally.expect(code in (0, -signal.SIGKILL), "other", process.err.read_text())
        assert killable.start("run", folder, "--quiet").wait() == 0
        found = stored.texts(folder)
        tally.answers += len(found)
        tally.broken("lost", f"pair {pair}", len(expected.keys() - found.keys()))
        tally.expect(found == expected, "wrong reports", f"pair {pair}: other answers")
        tally.expect(stored.findings(folder) == report, "wrong reports", f"pair {pair}: other findings")
        if not killed:
            tally.expect(stored.runs(folder) <= 3, "other", "more runs than were started")
    tally.check(faults=1)


def test_what_is_read_is_of_one_moment_however_much_is_stored_meanwhile(tmp_path: Path) -> None:
    with open_store(tmp_path, write=True) as writer:
        run = writer.begin_run({})
        writer.set_configuration("c", {})
        writer.add("c", run, [(Key("a", "w", 0), said("first"))])
        with open_store(tmp_path, write=False) as reader:
            writer.add("c", run, [(Key("b", "w", 0), said("second"))])
            writer.end_run(run)
            assert [one.text for one in reader.responses("c")] == ["first"]
            assert [one.finished for one in reader.history()] == [None], "of the same moment"
        with open_store(tmp_path, write=False) as reader:
            assert [one.text for one in reader.responses("c")] == ["first", "second"]


def in_order(tally: Tally, document: dict[str, Any], items: int, where: str) -> None:
    """Configurations are asked one after the other: at every moment those before the last are complete."""
    ratios = [one["responses"] / (items * one["samples"]) for one in document["configurations"]]
    after = [ratio for at, ratio in enumerate(ratios) if at and ratios[at - 1] < 1]
    tally.expect(not any(after), "wrong reports", f"{where}: of several moments: {ratios}")
    for number in document["served"]:
        counted = number["outcomes"].get("answer", 0)
        told = sum(one["responses"] for one in document["configurations"])
        tally.expect(0 <= counted - told <= 1, "wrong reports", f"{where}: {told} of {counted} answers")


def test_a_report_and_a_bundle_in_the_midst_of_a_run_show_one_moment_of_it(
    tmp_path: Path, killable: Killable, ledger: Ledger, long: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("inspect_ai", reason="models behind an API need the 'served' extra")
    monkeypatch.delenv("LOCAL_API_KEY", raising=False)
    tally = ledger.tally("report and bundle in the midst of a run", SEED)
    chance = random.Random(SEED)
    items, patience = 12, 0.06 if long else 0.03

    def rule(body: dict[str, Any], number: int) -> Reply:
        time.sleep(patience)
        return Reply(f"a {question_of(body)[-8:]}")

    with provider(rule) as house:
        folder = served_study(
            tmp_path / "study",
            house.url,
            number=items,
            entry={"connections": 1},
            sampling={"temperatures": [0.7, 1.2], "vote": 6},
        )
        process = killable.start("run", folder, "--quiet", "--no-report")
        wait_until(lambda: stored.rows(folder))
        for look in range(1000):
            out = tmp_path / f"{look}"
            makes_bundle = look % 3 == 1
            command = "bundle" if makes_bundle else "report"
            more = (out,) if makes_bundle else ("--out", out)
            reader = killable.start(command, folder, *more)
            code = reader.wait()
            tally.fault(midway=code == 0)
            if code == 0:
                tally.answers += 1
                document = json.loads((out / "findings.json").read_text("utf-8"))
                in_order(tally, document, items, f"{command} {look}")
                if makes_bundle:
                    tally.expect(verify_bundle(out).is_sound, "wrong reports", f"bundle {look}")
            else:
                tally.broken("other", f"{command} {look}: {one_line(reader)[:400]}")
            if len(stored.rows(folder)) == items * 13:
                break
            time.sleep(chance.uniform(0, 0.3))
        assert process.wait() == 0, process.err.read_text()
        assert len(house.requests) == items * 13
    tally.check(faults=2, midway=2)
