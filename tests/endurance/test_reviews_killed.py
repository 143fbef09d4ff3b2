"""`leadline review serve` killed under those who work on its pages: every save that was answered with 200 is
there, every commit once; and two servers on one benchmark mix nothing up."""

from __future__ import annotations

import json
import random
import re
import signal
import threading
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import psutil
import pytest

from leadline.review.drafts import Drafts
from leadline.review.places import DRAFTS
from tests.endurance.ledger import Ledger, Tally
from tests.endurance.points import Killable
from tests.endurance.test_servers_killed import free_port
from tests.review.doubted import Doubted, copied, doubted
from tests.review.pages import Client, token_in
from tests.study.forks import Process, wait_until

pytestmark = pytest.mark.endurance
SEED = 96


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Doubted:
    return doubted(tmp_path_factory.mktemp("doubted"))


def start(killable: Killable, made: Doubted, port: int, point: int = 0) -> tuple[Process, str, str]:
    """A server of the review, its URL and its token; killed at a point of what it writes, if one is given:
    where it did not live to tell them, they are empty."""
    command = ("review", "serve", made.benchmark, "--study", made.study, "--port", str(port))
    process = killable.start_at(point, made.benchmark, *command)
    told = psutil.Process(process.pid)

    def is_decided() -> bool:
        has_told = process.out.exists() and "token=" in process.out.read_text()
        return has_told or told.status() == psutil.STATUS_ZOMBIE

    wait_until(is_decided, 120)
    line = process.out.read_text().strip()
    return process, line.partition("/?")[0], token_in(line) if line else ""


@dataclass
class Commit:
    """What a page sends: `beside`, how many decisions on the item it showed."""

    key: str
    fields: dict[str, str]
    beside: dict[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """What no other commit says."""
        return self.fields.get("reason") or self.fields["answer"]


@dataclass
class Reader:
    """Somebody who reads, types, commits a reading and decides, entry after entry, and remembers each 200."""

    name: str
    chance: random.Random
    saved: list[tuple[str, str]] = field(default_factory=list)  # entry, text
    sent: list[str] = field(default_factory=list)  # commits, whatever became of them
    readings: list[str] = field(default_factory=list)
    decisions: list[str] = field(default_factory=list)
    unanswered: list[Commit] = field(default_factory=list)  # of which nothing was heard
    odd: list[str] = field(default_factory=list)

    def work(self, url: str, token: str) -> None:
        """Until the server is gone, or all is done."""
        try:
            with closing(Client(url, token, self.name)) as client:
                while self.unanswered:
                    self._commit(client, self.unanswered.pop())
                page = client.get("/adjudicate?show=all").text
                for key in re.findall(r'href="/adjudicate/([\w-]+)"', page):
                    if key != "next":
                        self._entry(client, key)
        except httpx2.HTTPError:
            return
        except Exception as error:
            self.odd.append(f"{self.name}: {type(error).__name__}: {error}")

    def _entry(self, client: Client, key: str) -> None:
        for _ in range(3):
            text = str(self.chance.randint(10**6, 10**9))
            version = client.get(f"/api/adjudicate/{key}").json()["version"]
            sent = {"version": version, "fields": {"answer": text}}
            answer = client.put(f"/api/adjudicate/{key}", json=sent)
            assert answer.status_code == 200, answer.text
            self.saved.append((key, text))
        assert self._commit(client, Commit(key, {"answer": text}))
        for _ in range(9):  # whoever was not quick enough looks at it once more
            seen = len(client.get(f"/api/adjudicate/{key}/revealed").json()["earlier"])
            reason = f"read {self.chance.randint(10**6, 10**9)}"
            decision = Commit(key, {"outcome": "rejected", "reason": reason}, {"seen": str(seen)})
            if self._commit(client, decision):
                return
        raise AssertionError("it cannot decide")

    def _commit(self, client: Client, commit: Commit) -> bool:
        """Whether it was kept; False where somebody else has decided meanwhile, which is told."""
        self.sent.append(commit.text)
        try:
            version = client.get(f"/api/adjudicate/{commit.key}").json()["version"]
            sent = {"version": version, "fields": commit.fields, "beside": commit.beside}
            answer = client.post(f"/api/adjudicate/{commit.key}/commit", json=sent)
        except httpx2.HTTPError:
            self.unanswered.append(commit)
            raise
        if answer.status_code == 422 and "decided" in answer.text:
            return False
        assert answer.status_code == 200, answer.text
        (self.decisions if "reason" in commit.fields else self.readings).append(commit.text)
        return True


def lines(path: Path, name: str) -> Counter[str]:
    """How often each value of a key stands in a file of lines; its last line may be half written."""
    if not path.exists():
        return Counter()
    whole = path.read_text("utf-8").rpartition("\n")[0].splitlines()
    return Counter(json.loads(line)[name] for line in whole if line)


def check(tally: Tally, made: Doubted, readers: list[Reader], where: str) -> None:
    """Everything that was answered with 200 is there, every commit once."""
    drafts = Drafts(made.benchmark / "review" / DRAFTS)
    readings = lines(made.benchmark / "review" / "readings.jsonl", "answer")
    decisions = lines(made.benchmark / "adjudications.jsonl", "reason")
    for reader in readers:
        tally.expect(not reader.odd, "other", f"{where}: {reader.odd}")
        texts: dict[str, set[str]] = {}
        for key, text in reader.saved:
            if key not in texts:
                history = drafts.history("adjudicate", key, reader.name)
                texts[key] = {str(draft.fields.get("answer")) for draft in history}
            tally.expect(text in texts[key], "lost", f"{where}: a save of {reader.name}")
        for kept, told, what in (
            (readings, reader.readings, "reading"),
            (decisions, reader.decisions, "decision"),
        ):
            for one in told:
                tally.expect(kept[one] >= 1, "lost", f"{where}: a {what} of {reader.name}")
                tally.expect(
                    kept[one] <= 1, "asked twice", f"{where}: a {what} stands there {kept[one]} times"
                )
        tally.answers += len(reader.saved) + len(reader.readings) + len(reader.decisions)


def at_work(readers: list[Reader], url: str, token: str) -> list[threading.Thread]:
    """Everybody works, each on a thread."""
    threads = [threading.Thread(target=reader.work, args=(url, token)) for reader in readers]
    for thread in threads:
        thread.start()
    return threads


def join(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive(), "a reader waits for ever"


def test_killed_under_its_readers_it_keeps_every_save_that_was_answered(
    original: Doubted, tmp_path: Path, killable: Killable, ledger: Ledger, long: bool
) -> None:
    tally = ledger.tally("review server, killed under readers", SEED)
    chance = random.Random(SEED)
    made = copied(original, tmp_path)
    port = free_port()
    everybody: list[Reader] = []
    for life in range(22 if long else 2):
        # Those whom the last kill left without an answer go on, beside new ones.
        waiting = [reader for reader in everybody if reader.unanswered]
        new = [Reader(f"Reader {life}-{one}", random.Random(chance.random())) for one in range(2)]
        everybody += new
        point = chance.randint(1, 120) if life % 2 else 0
        process, url, token = start(killable, made, port, point)
        threads = at_work([*waiting, *new], url, token) if url else []
        if not point:
            time.sleep(chance.uniform(0.05, 1.5))
            process.kill()
        join(threads)
        if point:  # it was not reached, perhaps
            process.kill()
        assert process.wait() == -signal.SIGKILL
        tally.fault(midway=any(reader.saved for reader in new))
        check(tally, made, everybody, f"life {life}")
    process, url, token = start(killable, made, port)
    join(at_work([reader for reader in everybody if reader.unanswered], url, token))
    last = Reader("Last", random.Random(0))
    join(at_work([last], url, token))
    tally.expect(len(last.decisions) == 5, "other", f"the last reader decided {len(last.decisions)} of 5")
    check(tally, made, everybody, "at the end")
    process.kill()
    process.wait()
    tally.check(faults=2, midway=1)


def test_two_servers_on_one_benchmark_keep_what_both_were_told(
    original: Doubted, tmp_path: Path, killable: Killable, ledger: Ledger, long: bool
) -> None:
    tally = ledger.tally("two review servers on one benchmark, both killed", SEED)
    made = copied(original, tmp_path)
    chance = random.Random(SEED)
    for life in range(4 if long else 1):
        servers = [start(killable, made, free_port()) for _ in range(2)]
        readers = [Reader(f"Reader {life}-{one}", random.Random(chance.random())) for one in range(2)]
        threads = []
        for reader, (_, url, token) in zip(readers, servers, strict=True):
            threads += at_work([reader], url, token)
        wait_until(lambda readers=readers: all(reader.saved for reader in readers))
        time.sleep(chance.uniform(0, 1))
        for process, _, _ in servers:
            process.kill()
            assert process.wait() == -signal.SIGKILL
            tally.fault(midway=True)
        join(threads)
        check(tally, made, readers, f"life {life}")
    tally.check(faults=2)
