"""Ctrl-C while requests are under way."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

from tests.models.served.fault_server import Running, serving

ROOT = Path(__file__).parents[3]
ASK = """
import json, sys, threading
from leadline.engine import Generation
from leadline.models.served import MemoryLedger
from tests.models.served.asks import requests, served

ledger = MemoryLedger()
model = served(sys.argv[1], ledger, connections=8)
answers, interrupted = 0, False
try:
    for _, outcome in model.generate(requests(400)):
        answers += isinstance(outcome, Generation)
        print("answer", flush=True)
except KeyboardInterrupt:
    interrupted = True
model.close()
told = {
    "answers": answers,
    "interrupted": interrupted,
    "outcomes": [call.outcome for call in ledger.calls],
    "threads": [each.name for each in threading.enumerate()],
}
print(json.dumps(told))
"""


def asking(server: Running) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", ASK, server.url],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )


def test_answers_on_the_way_are_waited_for_and_kept(tmp_path: Path) -> None:
    with serving(tmp_path / "log.jsonl", delay=0.4) as server, asking(server) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "answer\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        told = json.loads(out.splitlines()[-1])
        assert told["interrupted"]
        assert told["answers"] == len(server.lines("sent")) == len(server.lines("got")) < 100
        assert set(told["outcomes"]) == {"answer"}
        assert "Traceback" not in err and "served-model" not in told["threads"]


def test_a_second_one_does_not_wait(tmp_path: Path) -> None:
    with (
        serving(tmp_path / "log.jsonl", faults={"hang": 0.5}, delay=0.05) as server,
        asking(server) as process,
    ):
        assert process.stdout is not None
        assert process.stdout.readline() == "answer\n"
        process.send_signal(signal.SIGINT)
        time.sleep(1.0)
        started = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert time.monotonic() - started < 5.0
        told = json.loads(out.splitlines()[-1])
        assert told["interrupted"] and "Traceback" not in err
        # What was broken off may have been paid for: it is closed, and counts at its worst.
        assert "cancelled" in told["outcomes"] and None not in told["outcomes"]


STUDY = """
name: interrupted
benchmark: facts
items: 40
models:
  - ref: inspect:openai-api/local/m
    base_url: {url}
    connections: 8
prompt: chat
techniques: []
sampling: {{temperatures: [0.7], vote: 4}}
beyond_sampling: null
"""


def test_a_run_that_is_interrupted_stores_what_was_on_the_way(tmp_path: Path) -> None:
    with serving(tmp_path / "log.jsonl", delay=0.4) as server:
        (tmp_path / "study.yaml").write_text(STUDY.format(url=server.url))
        command = [sys.executable, "-m", "leadline", "run", str(tmp_path), "--no-report"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            until = time.monotonic() + 60
            while not server.lines("sent") and time.monotonic() < until:
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)
            said = process.communicate(timeout=60)[1]
        assert process.returncode == 130 and "Traceback" not in said
        assert "waiting for" in said and "what was answered is stored" in said
        with sqlite3.connect(tmp_path / "responses.sqlite") as connection:
            ((stored,),) = connection.execute("SELECT COUNT(*) FROM responses").fetchall()
            outcomes = connection.execute("SELECT DISTINCT outcome FROM calls").fetchall()
        assert stored == len(server.lines("sent")) == len(server.lines("got")) < 100
        assert outcomes == [("answer",)]
