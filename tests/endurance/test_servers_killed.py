"""`leadline serve` killed under its clients: an answer that came is whole, and the server comes back."""

from __future__ import annotations

import random
import signal
import socket
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import pytest

from tests.endurance.ledger import Ledger, Tally
from tests.endurance.points import Killable
from tests.serving.asked import chunks, texts, user
from tests.study.forks import Process, wait_until

pytestmark = pytest.mark.endurance
SEED = 95
QUESTIONS = 6


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return int(bound.getsockname()[1])


def start(killable: Killable, model: Path, port: int) -> tuple[Process, str]:
    """A server that answers, and its URL."""
    process = killable.start("serve", "--model", model, "--port", str(port), "--quiet")
    wait_until(lambda: process.out.exists() and "http://" in process.out.read_text(), 120)
    return process, process.out.read_text().strip()


def body(number: int) -> dict[str, object]:
    """A request whose answer is always the same."""
    said = user(f"Which letters does number {number} have?")
    return {"messages": said, "temperature": 0.7, "seed": number, "max_tokens": 40}


def ask(url: str, number: int, streamed: bool) -> str:
    """The answer's text; httpx2.HTTPError where none came, or half of one."""
    with httpx2.Client(timeout=30) as client:
        if not streamed:
            return texts(client.post(f"{url}/chat/completions", json=body(number)))[0]
        answer = client.post(f"{url}/chat/completions", json={**body(number), "stream": True})
        return "".join(
            each["delta"].get("content") or "" for chunk in chunks(answer) for each in chunk["choices"]
        )


@dataclass
class Clients:
    """Threads that ask until the server is gone: what they were told, and how often they heard nothing."""

    url: str
    heard: list[tuple[int, str]] = field(default_factory=list)
    failed: int = 0
    odd: list[str] = field(default_factory=list)
    threads: list[threading.Thread] = field(default_factory=list)

    def go(self, count: int) -> None:
        for which in range(count):
            self.threads.append(threading.Thread(target=self._work, args=(which,)))
            self.threads[-1].start()

    def _work(self, which: int) -> None:
        for number in range(which, 10_000):
            try:
                self.heard.append((number % QUESTIONS, ask(self.url, number % QUESTIONS, which % 2 == 1)))
            except httpx2.HTTPError:
                self.failed += 1
                return
            except Exception as error:
                self.odd.append(f"{type(error).__name__}: {error}")
                return

    def join(self) -> None:
        for thread in self.threads:
            thread.join(60)
            assert not thread.is_alive(), "a client hangs"


def check(tally: Tally, clients: Clients, expected: list[str], where: str) -> None:
    """What clients were told is whole; whoever was not told, knows."""
    tally.answers += len(clients.heard)
    wrong = [told for told in clients.heard if told[1] != expected[told[0]]]
    tally.broken("wrong reports", f"{where}: {wrong[:2]}", len(wrong))
    tally.broken("other", f"{where}: {clients.odd[:2]}", len(clients.odd))


def test_killed_under_its_clients_it_answers_again_and_what_they_heard_is_whole(
    model: Path, killable: Killable, ledger: Ledger, long: bool
) -> None:
    tally = ledger.tally("server, killed under clients", SEED)
    chance = random.Random(SEED)
    port = free_port()
    process, url = start(killable, model, port)
    expected = [ask(url, number, False) for number in range(QUESTIONS)]
    for life in range(20 if long else 1):
        clients = Clients(url)
        clients.go(4)
        time.sleep(chance.uniform(0, 1.0))
        process.kill()
        assert process.wait() == -signal.SIGKILL
        clients.join()
        tally.fault(midway=bool(clients.heard))
        check(tally, clients, expected, f"life {life}")
        tally.expect(clients.failed == 4, "other", f"life {life}: {clients.failed} of 4 clients know of it")
        process, again = start(killable, model, port)
        tally.expect(again == url, "other", "the port is not to be had again")
        number = chance.randrange(QUESTIONS)
        tally.expect(ask(url, number, life % 2 == 0) == expected[number], "wrong reports", f"life {life}")
    process.kill()
    process.wait()
    tally.check(faults=1)


def test_killed_while_it_starts_it_leaves_nothing_in_the_way(
    model: Path, killable: Killable, ledger: Ledger, long: bool
) -> None:
    tally = ledger.tally("server, killed as it starts", SEED)
    chance = random.Random(SEED)
    port = free_port()
    for _ in range(5 if long else 1):
        process = killable.start("serve", "--model", model, "--port", str(port), "--quiet")
        time.sleep(chance.uniform(0, 0.6))
        process.kill()
        assert process.wait() == -signal.SIGKILL
        tally.fault()
    process, url = start(killable, model, port)
    tally.expect(ask(url, 1, False) == ask(url, 1, True), "wrong reports", "streamed, another answer")
    process.kill()
    process.wait()
    tally.check(faults=1)
