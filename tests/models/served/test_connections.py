"""As many requests are under way as there are connections, and never more."""

from __future__ import annotations

import time
from pathlib import Path

from leadline.engine import Generation
from tests.models.served.asks import requests, served
from tests.models.served.fault_server import serving


def test_all_connections_are_used_and_never_one_more(tmp_path: Path) -> None:
    with serving(tmp_path / "log.jsonl", delay=0.5) as server:
        model = served(server.url, connections=32)
        came = list(model.generate(requests(256)))
        model.close()
        under_way = [line["open"] for line in server.lines("got")]
    assert all(isinstance(each, Generation) for _, each in came)
    assert max(under_way) == 32


def test_many_requests_at_once_are_many_times_faster_than_one_after_the_other(tmp_path: Path) -> None:
    with serving(tmp_path / "log.jsonl", delay=0.5) as server:
        model = served(server.url, connections=64)
        list(model.generate(requests(64)))  # connections are made, modules loaded
        started = time.monotonic()
        list(model.generate(requests(256)))
        took = time.monotonic() - started
        model.close()
    # One after the other, 256 answers of half a second take 128 s. Four rounds of 64 take 2 s.
    assert took < 128 / 8
