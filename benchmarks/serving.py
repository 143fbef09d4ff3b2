"""How many requests a server answers when 32 clients ask at once, beside one client that waits for each.

    python benchmarks/serving.py --seconds 120

Both ask the same kind of question of one server, in turns of some seconds, so that what the machine does
meanwhile falls on both. Then the 32 go on for two minutes, and the server's memory is looked at:
it is a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

from leadline.bench import load_benchmark

CLIENTS = 32
TOKENS = 16
# (turns, seconds of a turn, seconds of the long run).
WHOLE, QUICK = (3, 12.0, 120.0), (1, 4.0, 8.0)


def measure(*, repeats: int, quick: bool, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """Requests per second of one client and of 32, and the memory under the 32."""
    del repeats
    turns, seconds, long = QUICK if quick else WHOLE
    return [run(turns, seconds, long, say)]


@contextmanager
def served(model: str = "smollm2") -> Iterator[tuple[int, str]]:
    """A server as its users start it: its process and its URL."""
    command = [sys.executable, "-m", "leadline", "serve", "--model", model, "--port", "0", "--quiet"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        if not url:
            raise SystemExit("the server did not start")
        yield process.pid, url
    finally:
        process.terminate()
        process.wait(30)


def resident(process: int) -> int:
    """Megabytes of a process that are in memory."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 2**20


def ask(url: str, clients: int, seconds: float, seed: int = 0) -> tuple[int, float, list[float]]:
    """Answers, the seconds that they took, and how long each waited."""
    questions = [item.question for item in load_benchmark("facts").items]
    end = time.monotonic() + seconds
    waited: list[float] = []
    faults: list[str] = []

    def client(number: int) -> None:
        draw = random.Random(f"{seed} {number}")
        with httpx2.Client(timeout=300) as session:
            while time.monotonic() < end and not faults:
                body = {
                    "messages": [{"role": "user", "content": draw.choice(questions)}],
                    "max_tokens": TOKENS,
                    "temperature": 0.7,
                    "seed": draw.randrange(2**31),
                }
                begun = time.monotonic()
                answer = session.post(f"{url}/chat/completions", json=body)
                if answer.status_code != 200:
                    faults.append(answer.text)
                waited.append(time.monotonic() - begun)

    begun = time.monotonic()
    threads = [threading.Thread(target=client, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise SystemExit(f"a request failed: {faults[0]}")
    return len(waited), time.monotonic() - begun, waited


def run(turns: int, seconds: float, long: float, say: Callable[[str], None]) -> dict[str, Any]:
    """All figures of one server."""
    with served() as (process, url):
        ask(url, CLIENTS, 2.0)
        alone: list[float] = []
        together: list[float] = []
        for turn in range(turns):
            for clients, rates in ((1, alone), (CLIENTS, together)):
                count, took, _ = ask(url, clients, seconds, turn)
                rates.append(count / took)
                say(f"{clients} client{'s' * (clients > 1)}: {count / took:.2f} answers a second")
        before = resident(process)
        say(f"{CLIENTS} clients for {long:.0f} seconds")
        count, took, waited = ask(url, CLIENTS, long, turns)
        after = resident(process)
    waited.sort()
    return {
        "clients": CLIENTS,
        "longest answer, tokens": TOKENS,
        "alone, answers a second": round(max(alone), 3),
        "together, answers a second": round(max(together), 3),
        "ratio": round(sum(together) / sum(alone), 2),
        "long run, seconds": round(took, 1),
        "long run, answers": count,
        "median wait, seconds": round(waited[len(waited) // 2], 2),
        "longest wait, seconds": round(waited[-1], 2),
        "memory before, megabytes": before,
        "memory after, megabytes": after,
    }


def main() -> None:
    """One run; prints JSON."""
    parser = argparse.ArgumentParser(description="Measure leadline serve under 32 clients.")
    parser.add_argument("--turns", type=int, default=WHOLE[0])
    parser.add_argument("--turn-seconds", type=float, default=WHOLE[1])
    parser.add_argument("--seconds", type=float, default=WHOLE[2], help="of the long run")
    arguments = parser.parse_args()
    found = run(
        arguments.turns,
        arguments.turn_seconds,
        arguments.seconds,
        lambda line: print(line, file=sys.stderr, flush=True),
    )
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
