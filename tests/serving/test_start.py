"""`leadline serve` from start to Ctrl-C, as a process of its own."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import httpx2
import pytest

from leadline.errors import LeadlineError, UsageError
from leadline.serving.server import listen
from leadline.serving.start import Wanted, start
from tests.serving.asked import texts, user
from tests.study.small import write_model

COMMAND = [sys.executable, "-m", "leadline", "serve"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("models") / "little")


@contextmanager
def started(*arguments: str, **environment: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process, and the URL that it prints when it is ready."""
    settings = {**os.environ, "OMP_NUM_THREADS": "1", **environment}
    process = subprocess.Popen(
        [*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=settings
    )
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert url, rest(process.stderr)
        yield process, url
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def rest(stream: IO[str] | None) -> str:
    assert stream is not None
    return stream.read()


def test_it_says_how_it_is_reached_serves_logs_no_texts_and_ends_on_ctrl_c(folder: Path) -> None:
    with started("--model", str(folder), "--port", "0", "--name", "tiny", "--json-log") as (process, url):
        body = {"model": "tiny", "messages": user("a secret cab"), "max_tokens": 3}
        assert texts(httpx2.post(f"{url}/chat/completions", json=body, timeout=60))
        held = httpx2.Client()
        assert held.get(f"{url}/models").json()["data"][0]["id"] == "tiny"
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        assert time.monotonic() - begun < 20
        held.close()
        said = rest(process.stderr)
    assert f'base_url="{url}"' in said and "openai-api/local/tiny" in said
    assert f"model=tiny,base_url={url}/chat/completions" in said
    assert "Traceback" not in said and "cab" not in said
    record = json.loads(next(line for line in said.splitlines() if line.startswith("{")))
    assert record["path"] == "/v1/chat/completions" and record["status"] == 200
    assert record["prompt_tokens"] == 13 and record["completion_tokens"] <= 3


def test_what_runs_has_five_seconds_when_it_is_stopped_and_a_token_is_made_for_others(folder: Path) -> None:
    arguments = ("--model", str(folder), "--host", "0.0.0.0", "--port", "0", "--quiet", "--max-batch", "1")
    with started(*arguments, LEADLINE_TOKEN="") as (process, bound):
        url = bound.replace("0.0.0.0", "127.0.0.1")
        assert httpx2.get(f"{url}/models").status_code == 401
        assert process.stderr is not None
        token = next(line.split()[1] for line in process.stderr if line.split()[:1] == ["token"])
        headers = {"authorization": f"Bearer {token}"}
        # One after the other, 128 texts of some sixty tokens take far longer than five seconds.
        body = {"messages": user("a"), "max_tokens": 500, "n": 128, "temperature": 5, "stream": True}
        said = b""
        with httpx2.stream("POST", f"{url}/chat/completions", json=body, headers=headers, timeout=60) as got:
            coming = got.iter_bytes()
            said += next(coming)
            begun = time.monotonic()
            process.send_signal(signal.SIGINT)
            for part in coming:
                said += part
        assert process.wait(40) == 130
        assert 4 < time.monotonic() - begun < 30
        assert said.count(b"data: ") > 200 and b"[DONE]" not in said
        assert (
            json.loads(said.strip().splitlines()[-1].removeprefix(b"data: "))["error"]["code"] == "stopping"
        )


def test_on_ctrl_c_everybody_is_told_and_the_log_says_who_stopped(folder: Path) -> None:
    arguments = ("--model", str(folder), "--port", "0", "--max-batch", "1")
    with started(*arguments) as (process, url):

        def ask(n: int) -> httpx2.Response:
            body = {"messages": user("a"), "max_tokens": 500, "n": n, "temperature": 5}
            return httpx2.post(f"{url}/chat/completions", json=body, timeout=60)

        with ThreadPoolExecutor(2) as pool:
            running = pool.submit(ask, 128)
            while httpx2.get(f"{url.removesuffix('/v1')}/health").json()["running"] == 0:
                time.sleep(0.02)
            waiting = pool.submit(ask, 1)
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            told = waiting.result(), running.result()
        assert process.wait(40) == 130
        for answer in told:
            assert answer.status_code == 503 and answer.json()["error"]["code"] == "stopping"
            assert int(answer.headers["retry-after"]) > 0
        said = rest(process.stderr)
    assert said.count(" 503 ") == said.count("the server stopped") == 2 and "client left" not in said


def test_a_port_that_is_taken_is_one_line(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ended = subprocess.run(
            [*COMMAND, "--model", str(folder), "--port", port], capture_output=True, text=True, check=False
        )
    assert ended.returncode == 3 and ended.stdout == ""
    assert ended.stderr.count("\n") == 1 and f"port {port}" in ended.stderr and "--port 0" in ended.stderr


def test_a_host_that_is_not_there_is_one_line() -> None:
    for host in ("no-such-host.invalid", "192.0.2.1"):
        with pytest.raises(LeadlineError, match=host) as raised:
            listen(host, 0)
        assert "\n" not in str(raised.value) and "port" not in str(raised.value)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (Wanted("smollm2", name=""), "--name '': is empty"),
        (Wanted("smollm2", name="a b"), "--name 'a b': cannot be a name"),
        (Wanted("smollm2", name="a\x1b[2J"), "cannot be a name"),
        (Wanted("inspect:openai/gpt-4o-mini"), "a model behind an API is served already"),
        (
            Wanted("smollm2", technique="dola", settings=("layers=foo",)),
            "must be 'low' or 'high', or numbers",
        ),
    ],
)
def test_what_cannot_be_served_is_told_before_a_model_is_loaded(wanted: Wanted, said: str) -> None:
    with pytest.raises(UsageError) as raised:
        start(wanted)
    assert said in str(raised.value) and "\n" not in str(raised.value)
