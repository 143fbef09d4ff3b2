"""Many clients for a while: everybody is answered, and the server grows no fatter.

`python benchmarks/serving.py` does the same for two minutes on the real model.
"""

from __future__ import annotations

import random
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.serving.asked import chunks, texts, user
from tests.serving.test_start import started
from tests.study.small import write_model

CLIENTS = 32
SECONDS = 6.0
WARM = 400  # answers


def resident(process: int) -> int:
    """Bytes of a process that are in memory."""
    return 4096 * int(Path(f"/proc/{process}/statm").read_text().split()[1])


class Rush:
    """Clients that ask, each with a session of its own, until the time is up."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.answered: list[int] = []
        self.faults: list[str] = []

    def run(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        threads = [threading.Thread(target=self._ask, args=(number, end)) for number in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _ask(self, number: int, end: float) -> None:
        draw = random.Random(number)
        with httpx2.Client(timeout=60) as session:
            while time.monotonic() < end:
                # Few lengths: kernels keep something for each new shape, up to a bound that takes minutes.
                body: dict[str, Any] = {
                    "messages": user("".join(draw.choices("abcdefgh ", k=draw.choice((10, 40))))),
                    "max_tokens": draw.choice((4, 16)),
                    # Stop strings that are never the same: nothing must be kept for each of them.
                    "stop": ["".join(draw.choices("klmnopqrstuvwxyz0123456789", k=6)) for _ in range(4)],
                    "stream": draw.random() < 0.3,
                    "logprobs": draw.random() < 0.2,
                }
                try:
                    if draw.random() < 0.05:  # some go without waiting
                        with suppress(httpx2.TimeoutException):
                            session.post(self.url, json={**body, "max_tokens": 400}, timeout=0.05)
                        continue
                    found = session.post(self.url, json=body)
                    assert len(chunks(found) if body["stream"] else texts(found)) >= 1
                    self.answered.append(number)
                except Exception as error:
                    self.faults.append(repr(error))


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="a process's memory is read from /proc")
def test_32_clients_are_answered_with_bounded_memory(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "little")
    with started("--model", str(folder), "--port", "0", "--max-batch", "16", "--quiet") as (process, url):
        rush = Rush(f"{url}/chat/completions")
        for _ in range(10):
            rush.run(2.0)
            if len(rush.answered) >= WARM:
                break
        before = resident(process.pid)
        rush.answered.clear()
        rush.run(SECONDS)
        grown = resident(process.pid) / before
        health = httpx2.get(url.removesuffix("/v1") + "/health").json()
    assert rush.faults == []
    assert set(rush.answered) == set(range(CLIENTS))  # nobody starves
    assert grown < 1.05
    assert health["waiting"] == 0
