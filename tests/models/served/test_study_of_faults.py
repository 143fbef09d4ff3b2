"""A study of a thousand answers, from a server that fails, with a process that is killed and a budget that is
used up on the way: in the end every answer is there, and none that had been stored was asked for again."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.models.served.fault_server import Running, serving

FAULTS = {
    "429": 0.04,
    "500": 0.05,
    "drop": 0.03,
    "drop_inside": 0.03,
    "malformed": 0.03,
    "hang": 0.005,
    "empty": 0.04,
    "length": 0.04,
    "content_filter": 0.02,
}
CONNECTIONS = 32
STUDY = """
name: faults
benchmark: facts
items: 50
models:
  - ref: inspect:openai-api/local/m
    base_url: {url}
    connections: {connections}
    timeout: 5
    retries: 2
budget: {{requests: {budget}}}
prompt: chat
techniques: []
sampling: {{temperatures: [0.7], vote: 19}}
beyond_sampling: null
"""
# The baseline's answer and 19 samples of each item.
ANSWERS = 50 * 20


@dataclass
class Lived:
    """What was there after each part of the study's life."""

    folder: Path
    server: Running
    got: dict[str, int]
    stored: dict[str, int]
    counted: dict[str, int]
    said: dict[str, str]
    codes: dict[str, int]

    def select(self, query: str) -> list[tuple[Any, ...]]:
        """Rows of the study's database."""
        with sqlite3.connect(f"file:{self.folder / 'responses.sqlite'}?mode=ro", uri=True) as connection:
            return connection.execute(query).fetchall()

    def note(self, part: str) -> None:
        self.got[part] = len(self.server.lines("got"))
        ((self.stored[part],),) = self.select("SELECT COUNT(*) FROM responses")
        ((self.counted[part],),) = self.select("SELECT SUM(requests) FROM calls")


def running(folder: Path) -> subprocess.Popen[str]:
    """leadline run, in a process of its own."""
    command = [sys.executable, "-m", "leadline", "run", str(folder), "--no-report"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment
    )


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lived]:
    folder = tmp_path_factory.mktemp("study")
    log = tmp_path_factory.mktemp("log") / "log.jsonl"
    with serving(log, seed=11, faults=FAULTS, delay=0.01, retry_after="0.1") as server:
        life = Lived(folder, server, {}, {}, {}, {}, {})

        def write(budget: int) -> None:
            text = STUDY.format(url=server.url, connections=CONNECTIONS, budget=budget)
            (folder / "study.yaml").write_text(text)

        def part(name: str) -> None:
            process = running(folder)
            life.said[name] = process.communicate(timeout=300)[1]
            life.codes[name] = process.returncode
            life.note(name)

        write(500)
        killed = running(folder)
        until = time.monotonic() + 120
        while len(log.read_text().splitlines()) < 300 and time.monotonic() < until:
            time.sleep(0.02)
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        time.sleep(0.5)  # what is on the way in the server comes to its end
        life.note("killed")
        part("exhausted")
        write(10_000)
        for turn in range(6):
            part(f"whole {turn}")
            if life.codes[f"whole {turn}"] == 0:
                break
        yield life


def test_the_killed_run_had_stored_what_it_was_told(lived: Lived) -> None:
    answered = lived.select("SELECT COUNT(*) FROM calls WHERE outcome = 'answer' AND run = 1")[0][0]
    assert 0 < lived.stored["killed"] <= answered <= lived.stored["killed"] + CONNECTIONS


def test_requests_that_the_killed_run_had_under_way_count_for_ever(lived: Lived) -> None:
    ((open_rows,),) = lived.select("SELECT COUNT(*) FROM calls WHERE outcome IS NULL AND run = 1")
    assert 0 < open_rows <= CONNECTIONS
    assert lived.select("SELECT COUNT(*) FROM calls WHERE outcome IS NULL AND run > 1") == [(0,)]


def test_the_budget_was_kept_to_the_request(lived: Lived) -> None:
    assert lived.counted["exhausted"] == 500
    assert lived.got["exhausted"] <= 500
    # A killed process may have written down a request that it had no time to send.
    assert 500 - lived.got["exhausted"] <= CONNECTIONS


def test_the_run_that_used_the_budget_up_says_so_in_one_line(lived: Lived) -> None:
    assert lived.codes["exhausted"] == 3
    last = lived.said["exhausted"].strip().splitlines()[-1]
    assert last.startswith("error: ") and "the budget of requests is used up: 500 of 500" in last
    assert "Traceback" not in lived.said["exhausted"]


def test_with_a_larger_budget_every_answer_is_there(lived: Lived) -> None:
    assert list(lived.codes.values())[-1] == 0, lived.said
    assert lived.select("SELECT COUNT(*) FROM responses") == [(ANSWERS,)]
    assert lived.select(
        "SELECT COUNT(*) FROM (SELECT DISTINCT configuration, item, sample FROM responses)"
    ) == [(ANSWERS,)]


def test_every_answer_is_its_own(lived: Lived) -> None:
    said = [text for (text,) in lived.select("SELECT text FROM responses")]
    whole = Counter(text for text in said if text)
    assert max(whole.values()) == 1 and len(whole) > 900
    assert set(whole) <= {f"answer to {line['key']}" for line in lived.server.lines("sent")}


def test_nothing_that_was_stored_was_asked_again(lived: Lived) -> None:
    whole = Counter(line["key"] for line in lived.server.lines("sent"))
    assert len(whole) == ANSWERS
    # Answers that came in the moment of the kill were paid for and lost; nothing else is asked for twice.
    assert whole.total() - ANSWERS <= CONNECTIONS
    assert max(whole.values()) <= 2


def test_the_ledger_has_every_request_that_the_server_got(lived: Lived) -> None:
    got, rows = len(lived.server.lines("got")), lived.select("SELECT SUM(requests) FROM calls")[0][0]
    assert got <= rows <= got + CONNECTIONS
    dealt = Counter(line["dealt"] for line in lived.server.lines("got"))
    for outcome, faults in {
        "rate_limited": ("429",),
        "server_error": ("500",),
        "connection": ("drop", "drop_inside"),
        "bad_response": ("malformed",),
        "timeout": ("hang",),
    }.items():
        ((closed,),) = lived.select(f"SELECT COUNT(*) FROM calls WHERE outcome = '{outcome}'")
        ((unknown,),) = lived.select("SELECT COUNT(*) FROM calls WHERE outcome IS NULL")
        assert closed <= sum(dealt[fault] for fault in faults) <= closed + unknown


def test_tokens_are_those_that_the_server_told(lived: Lived) -> None:
    rows = "SELECT SUM(tokens_in), SUM(tokens_out) FROM calls WHERE outcome = 'answer'"
    (told,) = lived.select(rows)
    ((answered,),) = lived.select("SELECT COUNT(*) FROM calls WHERE outcome = 'answer'")
    sent = lived.server.lines("sent")
    if answered == len(sent):  # none was lost with the killed process
        assert told == tuple(
            sum(line["usage"][f"{kind}_tokens"] for line in sent) for kind in ("prompt", "completion")
        )
    (stored,) = lived.select("SELECT SUM(tokens_out) FROM responses")
    assert stored[0] == sum(len(text.split()) for (text,) in lived.select("SELECT text FROM responses"))
