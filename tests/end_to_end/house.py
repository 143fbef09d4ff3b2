"""`leadline serve` as its users start it: the small model in a process of its own, behind a key.

The server's log holds what it was asked, the seed, and what it said: what came out of a tool's log at the
other end can be held against it.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leadline.engine import Generation, Prompt, Request, Sampling
from leadline.models.local import LocalModel

# What every client has to show. No file that is written may hold it.
KEY = "a-key-that-no-file-may-hold"


@dataclass(frozen=True)
class Said:
    """One answer of the server, and what it was asked."""

    asked: dict[str, Any]
    seed: int
    text: str

    @property
    def question(self) -> str:
        """The last message."""
        return str(self.asked["messages"][-1]["content"])


@dataclass(frozen=True)
class House:
    """Where the server is reached ("http://.../v1"), and its log."""

    url: str
    log: Path

    def records(self) -> list[dict[str, Any]]:
        """The lines of the log, one a request, in the order in which they were answered."""
        text = self.log.read_text("utf-8")
        whole = text[: text.rfind("\n") + 1].splitlines()  # the last line may still be in the writing
        return [json.loads(line) for line in whole if line.startswith("{")]

    def said(self, since: int = 0) -> list[Said]:
        """All answers after the first `since` requests."""
        return [
            Said(record["asked"], record["seed"], record["said"][0])
            for record in self.records()[since:]
            if record["path"] == "/v1/chat/completions" and record["status"] == 200
        ]


@contextmanager
def serving(folder: Path) -> Iterator[House]:
    """Serve until the block ends."""
    command = [sys.executable, "-m", "leadline", "serve", "--port", "0", "--device", "cpu"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "LEADLINE_TOKEN": KEY}
    log = folder / "server.log"
    with log.open("w", encoding="utf-8") as errors:
        process = subprocess.Popen(
            [*command, "--json-log", "--log-prompts"],
            stdout=subprocess.PIPE, stderr=errors, text=True, env=environment,
        )  # fmt: skip
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert url, log.read_text("utf-8")
        yield House(url, log)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        assert "Traceback" not in log.read_text("utf-8")
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def drawn_again(model: LocalModel, answers: Sequence[Said]) -> list[Generation]:
    """What the engine draws in this process, all at once, under the keys that the server says it uses."""
    requests = []
    for one in answers:
        messages = tuple((each["role"], each["content"]) for each in one.asked["messages"])
        ids = tuple(model.lm.ids_of(Prompt(messages=messages)))
        name = hashlib.sha256(",".join(map(str, ids)).encode()).hexdigest()
        stop = one.asked.get("stop") or ()
        sampling = Sampling(
            temperature=one.asked["temperature"],
            max_tokens=one.asked["max_tokens"],
            stop=(stop,) if isinstance(stop, str) else tuple(stop),
        )
        requests.append(Request(Prompt(tokens=ids), sampling, (one.seed, name, 0)))
    found = dict(model.generate(requests))
    drawn = []
    for at in range(len(requests)):
        generation = found[at]
        assert isinstance(generation, Generation), generation
        drawn.append(generation)
    return drawn


def until(true: Any, seconds: float = 90.0) -> None:
    """Wait for something to become true."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.05)
