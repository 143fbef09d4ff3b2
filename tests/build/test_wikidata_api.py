"""Entities from an API that behaves as Wikidata's does, bad days included."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from leadline.build.progress import Quiet
from leadline.build.wikidata.api import EntityApi
from leadline.build.wikidata.open import gather
from leadline.build.wikidata.store import EntityStore
from leadline.documents.fetch_settings import FetchSettings
from leadline.errors import LeadlineError, UsageError
from leadline.workers.in_process import InProcess
from tests.build.entity_work import entity, plan_in

Answer = tuple[int, dict[str, str], bytes]


@dataclass
class Wikibase:
    """An API over some entities; `faults` are answers given before it behaves."""

    entities: dict[str, dict[str, Any]]
    moved: dict[str, str] = field(default_factory=dict)
    faults: list[Answer] = field(default_factory=list)
    queries: list[dict[str, str]] = field(default_factory=list)
    agents: list[str] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    url: str = ""

    def answer(self, query: dict[str, str]) -> Answer:
        if self.faults:
            return self.faults.pop(0)
        ids = query["ids"].split("|")
        if len(ids) > 50:
            return 200, {}, _json({"error": {"code": "toomanyvalues", "info": "Too many values supplied"}})
        found: dict[str, Any] = {}
        for one in ids:
            final = self.moved.get(one, one)
            if final not in self.entities:
                found[one] = {"id": one, "missing": ""}
            elif final != one:
                found[one] = {**self.entities[final], "redirects": {"from": one, "to": final}}
            else:
                found[one] = self.entities[one]
        return 200, {}, _json({"entities": found, "success": 1})


def _json(said: Any) -> bytes:
    return json.dumps(said).encode()


@contextmanager
def wikibase(**kwargs: Any) -> Iterator[Wikibase]:
    """Such an API on a free port of this machine."""
    api = Wikibase(**kwargs)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            query = {key: values[0] for key, values in parse_qs(urlsplit(self.path).query).items()}
            api.queries.append(query)
            api.agents.append(self.headers.get("user-agent", ""))
            api.times.append(time.monotonic())
            status, headers, body = api.answer(query)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    api.url = f"http://127.0.0.1:{server.server_port}/w/api.php"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()


def asking(api: Wikibase, folder: Path, **settings: Any) -> EntityApi:
    """One who asks fast."""
    known = {"user_agent": "Test test@example.org", "rate": 1000.0, "backoff": 0.01, **settings}
    return EntityApi(api.url, FetchSettings(**known), folder / "cache" / "api.sqlite", ("en",))


def some(number: int) -> dict[str, dict[str, Any]]:
    return {f"Q{one}": entity(f"Q{one}") for one in range(1, number + 1)}


def test_fifty_ids_are_asked_for_at_a_time_and_each_once(tmp_path: Path) -> None:
    with wikibase(entities=some(120)) as api:
        told: list[int] = []
        ids = [f"Q{one}" for one in range(121, 0, -1)] * 2
        found = list(asking(api, tmp_path).entities(ids, told.append))
        assert [one.id for one in found] == [f"Q{one}" for one in range(1, 122)]
        assert found[-1].entity is None
        assert [len(query["ids"].split("|")) for query in api.queries] == [50, 50, 21]
        assert told == [0, 50, 50, 21]
        assert {query["maxlag"] for query in api.queries} == {"5"}
        assert {query["languages"] for query in api.queries} == {"en|mul"}
        assert {query["sitefilter"] for query in api.queries} == {"enwiki"}
        assert set(api.agents) == {"Test test@example.org"}
        # Again: nothing is asked, also by one who wants others besides.
        again = list(asking(api, tmp_path).entities(["Q3", "Q121", "Q1"]))
        assert [one.id for one in again] == ["Q1", "Q3", "Q121"]
        assert len(api.queries) == 3


LAG: Answer = (
    200,
    {"retry-after": "0"},
    _json({"error": {"code": "maxlag", "info": "Waiting for db: 7 s lagged"}}),
)
BUSY: Answer = (429, {"retry-after": "0"}, b"too many")
DOWN: Answer = (500, {}, b"<html>")
SLOW: Answer = (200, {}, _json({"error": {"code": "ratelimited", "info": "slow down"}}))


def test_what_passes_is_tried_again(tmp_path: Path) -> None:
    with wikibase(entities=some(1), faults=[LAG, BUSY, DOWN, SLOW]) as api:
        (found,) = asking(api, tmp_path).entities(["Q1"])
        assert found.entity is not None
        assert len(api.queries) == 5


def test_the_wait_that_the_server_asks_for_is_kept(tmp_path: Path) -> None:
    lag = (LAG[0], {"retry-after": "1"}, LAG[2])
    with wikibase(entities=some(1), faults=[lag]) as api:
        list(asking(api, tmp_path).entities(["Q1"]))
        assert api.times[1] - api.times[0] >= 1.0


def test_requests_keep_their_distance(tmp_path: Path) -> None:
    with wikibase(entities=some(130)) as api:
        list(asking(api, tmp_path, rate=10.0).entities(api.entities))
        gaps = [later - sooner for sooner, later in zip(api.times, api.times[1:], strict=False)]
        assert len(gaps) == 2
        assert min(gaps) >= 0.08


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (LAG, "the API says maxlag: Waiting for db: 7 s lagged, 3 times"),
        (DOWN, "its host answers 500 Internal Server Error, 3 times"),
        ((404, {}, b""), "the API answers 404 Not Found"),
        ((200, {}, b"<html>"), "answers no JSON"),
        ((200, {}, b"[]"), "answers no JSON"),
        ((200, {}, b'{"batchcomplete": true}'), "answers without entities"),
        ((200, {}, b'{"entities": {}}'), "says nothing of Q1"),
        (
            (200, {}, _json({"error": {"code": "badtoken", "info": "a\nb\x1b[31m"}})),
            "the API says badtoken: a b",
        ),
        ((429, {"retry-after": "9999"}, b""), "asks to wait 9,999 seconds"),
    ],
)
def test_what_does_not_pass_is_one_line(fault: Answer, said: str, tmp_path: Path) -> None:
    with wikibase(entities=some(1), faults=[fault] * 9) as api:
        with pytest.raises(LeadlineError) as error:
            list(asking(api, tmp_path, attempts=3).entities(["Q1"]))
        assert said in str(error.value)
        assert "\n" not in str(error.value)
        assert "\x1b" not in str(error.value)


def test_a_run_that_broke_off_goes_on_where_it_was(tmp_path: Path) -> None:
    with wikibase(entities=some(100)) as api:

        def stop(done: int) -> None:
            if done:
                api.faults = [(404, {}, b"")]

        with pytest.raises(LeadlineError):
            list(asking(api, tmp_path).entities(api.entities, stop))
        found = list(asking(api, tmp_path).entities(api.entities))
        assert [query["ids"].split("|")[0] for query in api.queries] == ["Q1", "Q51", "Q51"]
        assert len(found) == 100


def test_an_address_that_is_none_is_the_users_mistake(tmp_path: Path) -> None:
    for url in ("www.wikidata.org/w/api.php", "ftp://x/api.php", "http://"):
        settings = FetchSettings(user_agent="Test test@example.org")
        with pytest.raises(UsageError, match="no address"):
            list(EntityApi(url, settings, tmp_path / "c" / "a.sqlite", ("en",)).entities(["Q1"]))


def test_the_api_is_asked_for_what_the_files_lack_and_for_the_classes_above_the_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEADLINE_USER_AGENT", "Test test@example.org")
    held = {
        "Q2": entity("Q2", P31=["Q20"]),
        "Q20": entity("Q20", P279=["Q200"]),
        "Q200": entity("Q200", P279=["Q2000"]),
        "Q2000": entity("Q2000"),
    }
    (tmp_path / "Q1.json").write_bytes(_json(entity("Q1")))
    with wikibase(entities=held, moved={"Q22": "Q2"}) as api:
        plan = plan_in(tmp_path, wikidata={"entities": "Q1.json", "api": api.url})
        path = tmp_path / "entities.sqlite"
        ids = ["Q1", "Q22", "Q9"]
        how = gather(plan, ids, path, tmp_path, InProcess(), Quiet(), pages=["Q22"])
        assert how.sources == {"files": 1, "api": 2}
        assert [query["ids"] for query in api.queries] == ["Q9|Q22", "Q20", "Q200", "Q2000"]
    store = EntityStore(path)
    assert list(store.ids()) == ["Q1", "Q2"]
    assert (store.resolve("Q22"), store.gone("Q9")) == ("Q2", True)
    assert (store.above("Q20"), store.above("Q200")) == (("Q200",), ("Q2000",))


def test_nobody_asks_wikidata_without_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LEADLINE_USER_AGENT", raising=False)
    plan = plan_in(tmp_path, wikidata={"api": "http://127.0.0.1:9/w/api.php"})
    with pytest.raises(UsageError, match="wants to know who asks"):
        gather(plan, ["Q1"], tmp_path / "e.sqlite", tmp_path, InProcess(), Quiet())
    assert not (tmp_path / "e.sqlite").exists()
