"""`leadline run` against a provider, killed anywhere: no answer that is stored is paid for again.

The provider counts what it was sent. What was on its way when the process died is answered nowhere, so it is
sent once more; that is counted apart, and is never more than what may be under way at once.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import random
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from leadline.study.ledger import spent
from leadline.study.store import open_store
from tests.endurance.ledger import Ledger
from tests.endurance.points import Killable, points_of
from tests.endurance.test_runs_killed import Calm, compare, ended
from tests.study import stored
from tests.study.provider import Provider, Reply, provider, served_study

pytest.importorskip("inspect_ai", reason="models behind an API need the 'served' extra")
pytestmark = pytest.mark.endurance
SEED = 92
CONNECTIONS = 4


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOCAL_API_KEY", raising=False)


def named(body: dict[str, Any]) -> str:
    """What a request is, in a few letters: the same words, temperature and seed give the same."""
    asked = [body["messages"], body["temperature"], body.get("seed")]
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:12]


@dataclass
class House:
    """A provider that answers each request with its name, and remembers what it was sent in this life."""

    house: Provider
    sent: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, body: dict[str, Any], number: int) -> Reply:
        """The rule: a name is also an answer, in which some gold letters are."""
        name = named(body)
        with self.lock:
            self.sent.append(name)
        time.sleep(0.004)
        return Reply(name)

    def new_life(self) -> list[str]:
        """What was sent since this was asked last."""
        with self.lock:
            before, self.sent = self.sent, []
        return before


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    with provider(lambda body, number: here.answer(body, number)) as found:  # noqa: PLW0108  # bound later
        here = House(found)
        yield here


def study_of(folder: Path, house: House) -> Path:
    """Greedy, drawn, and in two stages."""
    return served_study(
        folder,
        house.house.url,
        number=12,
        entry={"connections": CONNECTIONS},
        techniques=[{"technique": "genread", "passage_tokens": 8, "max_tokens": 6}],
        sampling={"temperatures": [0.7], "vote": 4},
    )


def findings(folder: Path) -> dict[str, Any]:
    """Without what tells of requests, of which a killed run makes more, and of the run's own ledger."""
    document = stored.findings(folder)
    del document["served"]
    document["remarks"] = [one for one in document["remarks"] if "under way" not in one]
    return document


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory, killable: Killable, house: House) -> Calm:
    folder = study_of(tmp_path_factory.mktemp("calm-served") / "study", house)
    started = time.monotonic()
    process = killable.start_at(0, folder, "run", folder, "--no-report")
    assert process.wait() == 0, process.err.read_text()
    seconds = time.monotonic() - started
    sent = house.new_life()
    assert len(sent) == len(set(sent)), "every request has words or a seed of its own"
    assert killable.start("report", folder).wait() == 0
    return Calm(folder, seconds, points_of(process))


def answers_in(rows: stored.Stored) -> set[str]:
    """The names of the requests whose answers are stored, of all stages."""
    stages = [stage["text"] for row in rows.values() for stage in json.loads(row["stages"])]
    return {row["text"] for row in rows.values()} | set(stages)


def test_killed_anywhere_no_stored_answer_is_asked_for_again(
    calm: Calm, tmp_path: Path, killable: Killable, house: House, ledger: Ledger, long: bool
) -> None:
    tally = ledger.tally("run of a served model, killed", SEED)
    chance = random.Random(SEED)
    expected, report = stored.texts(calm.folder), findings(calm.folder)
    house.new_life()
    for study in itertools.count():
        folder = study_of(tmp_path / f"study-{study}", house)
        before: stored.Stored = {}
        answered: set[str] = set()
        all_sent = 0
        for attempt in itertools.count():
            where = f"study {study}, attempt {attempt}"
            point = chance.choice((0, 1, calm.points, chance.randint(1, calm.points)))
            process = killable.start_at(point, folder, "run", folder, "--no-report")
            if not point:
                time.sleep(chance.uniform(0, (0.5 + 0.1 * attempt) * calm.seconds))
                process.kill()
            code = ended(process)
            sent, after = house.new_life(), stored.rows(folder)
            compare(tally, before, after, where)
            known = answers_in(before)
            twice = [name for name in sent if name in known]
            tally.broken("asked twice", f"{where}: {twice[:3]}", len(twice))
            tally.broken("asked twice", f"{where}: in one life", len(sent) - len(set(sent)))
            again = [name for name in sent if name in answered]
            tally.in_flight += len(again)
            all_sent += len(sent)
            before, answered = after, (answered | set(sent))
            if code == 0:
                break
            # Of two stages the first is stored with the second: a wave of them may be in hand.
            lost = set(sent) - answers_in(after)
            tally.expect(len(lost) <= 12 + CONNECTIONS, "other", f"{where}: {len(lost)} were under way")
            tally.fault(midway=0 < len(after) < len(expected))
        with open_store(folder, write=False) as store:
            tally.expect(spent(store).requests >= all_sent, "other", f"study {study}: requests not counted")
        assert killable.start("report", folder).wait() == 0
        found = stored.texts(folder)
        tally.broken("lost", f"study {study}", len(expected.keys() - found.keys()))
        tally.expect(found == expected, "wrong reports", f"study {study}: other answers")
        tally.expect(findings(folder) == report, "wrong reports", f"study {study}: other findings")
        if tally.faults >= (60 if long else 3):
            break
    tally.check(faults=3, midway=1 if long else 0)


def test_after_a_kill_the_study_is_not_locked_and_its_last_request_is_counted(
    calm: Calm, tmp_path: Path, killable: Killable, house: House, ledger: Ledger
) -> None:
    tally = ledger.tally("run killed as it writes a request down")
    house.new_life()
    folder = study_of(tmp_path / "study", house)
    assert ended(killable.start_at(calm.points // 2, folder, "run", folder)) == -signal.SIGKILL
    tally.fault(midway=True)
    sent = len(house.new_life())
    with open_store(folder, write=False) as store:
        tally.expect(spent(store).requests >= sent, "other", "a request that was sent is not counted")
    started = time.monotonic()
    assert killable.start("run", folder, "--no-report").wait() == 0, "nobody holds it"
    tally.expect(time.monotonic() - started < 60, "other", "it waited for a lock")
    tally.expect(stored.texts(folder) == stored.texts(calm.folder), "lost", "other answers")
    tally.check(faults=1, midway=1)
