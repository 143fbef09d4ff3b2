"""Fetching from a real server, with the faults that real servers have."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from leadline.documents import FetchOutcome, FetchSettings, FetchStep, Sources, fetch, read_index
from leadline.errors import LeadlineError, UsageError
from tests.documents.papers import pdf
from tests.documents.server import Asked, Page, Server, page, serving

QUICK = FetchSettings(
    user_agent="Test test@example.org", rate=1000, timeout=2, attempts=3, backoff=0.01, robots=False
)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Server]:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LEADLINE_CACHE", str(tmp_path / "cache"))
    with serving() as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "sources"


def get(server: Server, folder: Path, *paths: str, settings: FetchSettings = QUICK) -> FetchOutcome:
    return fetch([server.url + path for path in paths], folder, settings)


def content(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in Sources(folder).names()}


def leftovers(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.endswith(".part")]


def test_a_document_is_stored_as_it_came_and_found_by_its_url(server: Server, folder: Path) -> None:
    body = "<p>Café".encode("latin-1")
    server.pages["/d/filing.htm"] = page(body, content_type="text/html; charset=ISO-8859-1")
    outcome = get(server, folder, "/d/filing.htm")
    (entry,) = outcome.fetched
    digest = hashlib.sha256(body).hexdigest()
    assert entry.file == f"filing-{digest[:16]}.htm"
    assert (entry.sha256, entry.size, entry.status) == (digest, len(body), 200)
    sources = Sources(folder)
    found = sources.find(server.url + "/d/filing.htm#part-2")
    assert found is not None and found.read_bytes() == body
    assert sources.read(found).text == "Café"
    assert read_index(folder)[server.url + "/d/filing.htm"] == entry


def test_each_url_is_asked_for_once_however_many_items_point_to_it(server: Server, folder: Path) -> None:
    server.pages["/a"] = page("text")
    outcome = get(server, folder, "/a", "/a#x", "/a", "/a#y")
    assert len(outcome.fetched) == 1 and server.asked("/a") == 1


def test_what_is_held_is_not_asked_for_again(server: Server, folder: Path) -> None:
    server.pages["/a"] = page("text")
    get(server, folder, "/a")
    outcome = get(server, folder, "/a")
    assert len(outcome.held) == 1 and server.asked("/a") == 1


def test_what_somebody_deleted_is_fetched_again(server: Server, folder: Path) -> None:
    server.pages["/a"] = page("text")
    (entry,) = get(server, folder, "/a").fetched
    (folder / entry.file).unlink()
    assert len(get(server, folder, "/a").fetched) == 1
    assert content(folder) == {entry.file: b"text"}


def test_two_urls_with_the_same_content_share_a_file(server: Server, folder: Path) -> None:
    server.pages |= {"/a.txt": page("same"), "/b.txt": page("same"), "/c.txt": page("other")}
    get(server, folder, "/a.txt", "/b.txt", "/c.txt")
    sources = Sources(folder)
    assert len(sources.names()) == 2
    assert sources.find(server.url + "/a.txt") == sources.find(server.url + "/b.txt")


def test_redirects_are_followed_and_the_last_url_is_kept(server: Server, folder: Path) -> None:
    server.pages |= {
        "/old": lambda asked: asked.answer(301, location="/older"),
        "/older": lambda asked: asked.answer(302, location=f"{server.url}/new.txt"),
        "/new.txt": page("text"),
    }
    (entry,) = get(server, folder, "/old").fetched
    assert entry.final_url == server.url + "/new.txt"
    assert Sources(folder).find(entry.final_url) is not None


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("/again", "redirects more than 10 times"),
        ("file:///etc/passwd", "redirects to a URL of scheme 'file'"),
        ("ftp://example.org/x", "redirects to a URL of scheme 'ftp'"),
    ],
)
def test_a_redirect_that_leads_nowhere_good_is_a_failure(
    server: Server, folder: Path, location: str, reason: str
) -> None:
    server.pages["/again"] = lambda asked: asked.answer(302, location=location)
    (entry,) = get(server, folder, "/again").failed
    assert reason in entry.error


def test_a_redirect_from_the_world_into_a_private_network_is_refused(
    server: Server, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", server.url)
    server.pages["http://archive.example/a"] = lambda asked: asked.answer(
        302, location="http://10.0.0.1/admin"
    )
    (entry,) = fetch(["http://archive.example/a"], folder, QUICK).failed
    assert entry.error == "redirects into a private network"
    assert server.asked("http://10.0.0.1/admin") == 0


def test_404_is_final_and_said(server: Server, folder: Path) -> None:
    (entry,) = get(server, folder, "/gone").failed
    assert entry.error == "its host answers 404 Not Found"
    assert entry.status == 404 and server.asked("/gone") == 1
    assert read_index(folder)[server.url + "/gone"].error == entry.error


def test_a_failure_is_tried_again_by_the_next_run(server: Server, folder: Path) -> None:
    get(server, folder, "/a")
    server.pages["/a"] = page("text")
    assert len(get(server, folder, "/a").fetched) == 1


def failing_first(times: int, status: int, body: bytes, **headers: str) -> Page:
    def answer(asked: Asked) -> None:
        if asked.count <= times:
            asked.answer(status, b"wait", **headers)
        else:
            asked.answer(200, body)

    return answer


def test_a_server_that_fails_twice_and_then_answers_is_waited_for(server: Server, folder: Path) -> None:
    server.pages["/a"] = failing_first(2, 500, b"text")
    assert len(get(server, folder, "/a").fetched) == 1
    assert server.asked("/a") == 3


def test_a_server_that_goes_on_failing_is_given_up_after_the_last_attempt(
    server: Server, folder: Path
) -> None:
    server.pages["/a"] = failing_first(99, 503, b"")
    (entry,) = get(server, folder, "/a").failed
    assert entry.error == "its host answers 503 Service Unavailable, 3 times"
    assert server.asked("/a") == 3


def test_retry_after_is_obeyed(server: Server, folder: Path) -> None:
    server.pages["/a"] = failing_first(1, 429, b"text", retry_after="1")
    assert len(get(server, folder, "/a").fetched) == 1
    first, second = server.times()
    assert second - first >= 1.0


def test_a_host_that_asks_for_too_long_a_wait_is_left_alone(server: Server, folder: Path) -> None:
    server.pages["/a"] = failing_first(1, 429, b"text", retry_after="86400")
    (entry,) = get(server, folder, "/a").failed
    assert "asks to wait 86,400 seconds" in entry.error
    assert server.asked("/a") == 1


def test_requests_to_one_host_keep_their_distance(server: Server, folder: Path) -> None:
    paths = [f"/{number}" for number in range(5)]
    server.pages |= {path: page(path) for path in paths}
    get(server, folder, *paths, settings=replace(QUICK, rate=10))
    times = server.times()
    # From the first to the last: a busy machine answers single requests late.
    assert times[-1] - times[0] >= 0.35


def test_hosts_do_not_wait_for_each_other(
    server: Server, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", server.url)
    urls = [f"http://{host}.example/{number}" for host in "abcd" for number in range(3)]
    server.pages |= {url: page(url) for url in urls}
    began = time.monotonic()
    outcome = fetch(urls, folder, replace(QUICK, rate=4))
    assert len(outcome.fetched) == 12
    assert time.monotonic() - began < 2.0  # 0.5 s each side by side; 3 s one after the other
    assert [entry.url for entry in outcome.fetched] == urls
    for host in "abcd":
        times = server.times(f"{host}.example")
        # From the first to the last: a busy machine answers single requests late.
        assert times[-1] - times[0] >= 0.3


def test_after_three_documents_in_a_row_a_dead_host_is_left_for_another_run(
    folder: Path, server: Server
) -> None:
    paths = [f"/{number}" for number in range(6)]
    server.pages |= {path: failing_first(99, 503, b"") for path in paths}
    outcome = get(server, folder, *paths)
    assert len(outcome.failed) == 6
    assert [server.asked(path) for path in paths] == [3, 3, 3, 0, 0, 0]
    assert outcome.failed[5].error.startswith("not tried: 3 documents of its host had failed in a row")
    assert len(read_index(folder)) == 3


def cut_off(asked: Asked) -> None:
    asked.answer(200, b"half of", content_length="1000")
    asked.handler.close_connection = True
    asked.handler.connection.shutdown(2)


def test_a_body_that_is_cut_off_leaves_nothing(server: Server, folder: Path) -> None:
    server.pages["/a"] = cut_off
    (entry,) = get(server, folder, "/a").failed
    assert entry.error.startswith("the connection broke: ") and entry.error.endswith(", 3 times")
    assert content(folder) == {} and leftovers(folder) == []


def test_a_body_that_is_cut_off_once_is_fetched_whole(server: Server, folder: Path) -> None:
    server.pages["/a"] = lambda asked: cut_off(asked) if asked.count == 1 else asked.answer(200, b"the whole")
    get(server, folder, "/a")
    assert list(content(folder).values()) == [b"the whole"]


def test_a_server_that_falls_silent_is_not_waited_for_for_ever(server: Server, folder: Path) -> None:
    gone = threading.Event()
    server.pages["/a"] = lambda asked: gone.wait(20) and None
    (entry,) = get(server, folder, "/a", settings=replace(QUICK, timeout=0.2, attempts=2)).failed
    gone.set()
    assert entry.error == "its host was silent for 0.2 seconds, 2 times"


def test_a_server_that_drips_is_cut_off(server: Server, folder: Path) -> None:
    def drip(asked: Asked) -> None:
        asked.handler.send_response(200)
        asked.handler.send_header("content-length", "1000")
        asked.handler.end_headers()
        for _ in range(50):
            asked.handler.wfile.write(b"x")
            asked.handler.wfile.flush()
            time.sleep(0.05)

    server.pages["/a"] = drip
    (entry,) = get(server, folder, "/a", settings=replace(QUICK, longest=0.3)).failed
    assert entry.error.startswith("takes longer than")
    assert leftovers(folder) == []


def test_nobody_there_is_said(folder: Path, server: Server) -> None:
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/a"
    (entry,) = fetch([url], folder, QUICK).failed
    assert entry.error.startswith("its host cannot be reached: ")


def with_etag(body: bytes, etag: str) -> Page:
    def answer(asked: Asked) -> None:
        if asked.header("if-none-match") == etag:
            asked.answer(304, etag=etag)
        else:
            asked.answer(200, body, etag=etag)

    return answer


def test_refreshing_asks_whether_it_has_changed_and_keeps_what_has_not(server: Server, folder: Path) -> None:
    server.pages["/a"] = with_etag(b"text", '"one"')
    get(server, folder, "/a")
    (entry,) = get(server, folder, "/a", settings=replace(QUICK, refresh=True)).unchanged
    assert entry.status == 304 and entry.etag == '"one"'
    assert server.asked("/a") == 2 and list(content(folder).values()) == [b"text"]
    assert len(get(server, folder, "/a").held) == 1


def test_refreshing_asks_by_date_where_there_is_no_etag(server: Server, folder: Path) -> None:
    day = "Tue, 03 Mar 2020 10:00:00 GMT"

    def answer(asked: Asked) -> None:
        if asked.header("if-modified-since") == day:
            asked.answer(304)
        else:
            asked.answer(200, b"text", last_modified=day)

    server.pages["/a"] = answer
    get(server, folder, "/a")
    assert len(get(server, folder, "/a", settings=replace(QUICK, refresh=True)).unchanged) == 1


def test_refreshing_fetches_what_has_changed_and_says_so(server: Server, folder: Path) -> None:
    server.pages["/a"] = with_etag(b"text", '"one"')
    get(server, folder, "/a")
    server.pages["/a"] = with_etag(b"another text", '"two"')
    outcome = get(server, folder, "/a", settings=replace(QUICK, refresh=True))
    assert outcome.changed == (server.url + "/a",)
    found = Sources(folder).find(server.url + "/a")
    assert found is not None and found.read_bytes() == b"another text"


def test_refreshing_keeps_the_document_when_its_url_is_dead_by_now(server: Server, folder: Path) -> None:
    server.pages["/a"] = page("text")
    get(server, folder, "/a")
    del server.pages["/a"]
    assert len(get(server, folder, "/a", settings=replace(QUICK, refresh=True)).failed) == 1
    assert Sources(folder).find(server.url + "/a") is not None


def test_a_file_that_somebody_altered_is_no_longer_what_the_etag_is_of(server: Server, folder: Path) -> None:
    server.pages["/a"] = with_etag(b"text", '"one"')
    (entry,) = get(server, folder, "/a").fetched
    (folder / entry.file).write_bytes(b"forged")
    outcome = get(server, folder, "/a", settings=replace(QUICK, refresh=True))
    assert len(outcome.fetched) == 1 and content(folder) == {entry.file: b"text"}


def test_the_packing_of_the_transport_is_taken_off(server: Server, folder: Path) -> None:
    server.pages["/a.txt"] = page(gzip.compress(b"text" * 100), content_encoding="gzip")
    (entry,) = get(server, folder, "/a.txt").fetched
    assert (folder / entry.file).read_bytes() == b"text" * 100


def test_wrongly_packed_is_a_failure(server: Server, folder: Path) -> None:
    server.pages["/a.txt"] = page(b"no gzip at all", content_encoding="gzip")
    (entry,) = get(server, folder, "/a.txt").failed
    assert entry.error.startswith("is packed wrongly by its server")


def test_a_document_over_the_limit_is_refused_by_what_is_announced_and_by_what_comes(
    server: Server, folder: Path
) -> None:
    server.pages |= {
        "/announced": lambda asked: asked.answer(200, b"x", content_length="5000000000"),
        "/packed": page(gzip.compress(b"0" * 5_000_000), content_encoding="gzip"),
        "/small": page("small"),
    }
    outcome = get(
        server, folder, "/announced", "/packed", "/small", settings=replace(QUICK, max_bytes=1_000_000)
    )
    assert [entry.error for entry in outcome.failed] == [
        "is too large: 5,000,000,000 bytes, and 1,000,000 are allowed",
        "is larger than the 1,000,000 bytes allowed",
    ]
    assert list(content(folder).values()) == [b"small"] and leftovers(folder) == []


def test_an_empty_answer_is_no_document(server: Server, folder: Path) -> None:
    server.pages["/a"] = page(b"")
    assert get(server, folder, "/a").failed[0].error == "is empty"


def test_a_pdf_keeps_its_ending_and_is_read(server: Server, folder: Path) -> None:
    server.pages["/report?id=5"] = page(pdf("Revenue was 29.00"), content_type="application/pdf")
    (entry,) = get(server, folder, "/report?id=5").fetched
    assert entry.file.startswith("report-") and entry.file.endswith(".pdf")
    assert "Revenue was 29.00" in Sources(folder).read(folder / entry.file).text


@pytest.mark.parametrize(
    "path", ["/../../etc/passwd", "/%2e%2e%2fx", "/a%00b", "/.hidden", "/" + "x" * 500, "/ä/"]
)
def test_no_url_leads_out_of_the_folder(server: Server, folder: Path, path: str) -> None:
    for asked in {path, path.replace("ä", "%C3%A4"), path.removeprefix("/../.."), "/.."}:
        server.pages[asked] = page("text")
    outcome = get(server, folder, path)
    for entry in outcome.fetched:
        assert "/" not in entry.file and not entry.file.startswith(".")
        assert (folder / entry.file).is_file()
    assert {entry.name for entry in folder.parent.iterdir()} <= {"sources", "cache"}


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("ftp://example.org/a", "scheme 'ftp'"),
        ("file:///etc/passwd", "scheme 'file'"),
        ("http://name:secret@127.0.0.1/", "a password in it"),
        ("http://[::1/", "no valid URL"),
        ("http://", "without a host"),
    ],
)
def test_what_is_no_url_of_the_web_is_not_fetched(folder: Path, url: str, reason: str) -> None:
    (entry,) = fetch([url], folder, QUICK).failed
    assert reason in entry.error


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://user:s3cret@127.0.0.1:1/x#top", "http://***@127.0.0.1:1/x#top"),
        ("ftp://user:s3cret@127.0.0.1/x", "ftp://***@127.0.0.1/x"),
        ("http://user:s3cret@[::1/", "http://***@[::1/"),
        ("http://user:a/s3cret@127.0.0.1/", "http://***@127.0.0.1/"),
        ("http://user:a#s3cret@127.0.0.1/", "http://***@127.0.0.1/"),
        ("http:///user:s3cret@127.0.0.1/", "http://***@127.0.0.1/"),
        ("http://s3cret@127.0.0.1/", "http://***@127.0.0.1/"),
    ],
)
def test_a_password_in_a_url_is_written_nowhere(folder: Path, url: str, shown: str) -> None:
    steps: list[FetchStep] = []
    (entry,) = fetch([url], folder, QUICK, steps.append).failed
    assert (entry.url, steps[0].url) == (shown, shown) and "a password in it" in entry.error
    assert not any("s3cret" in path.read_text() for path in folder.rglob("*") if path.is_file())
    assert read_index(folder) == {}


@pytest.mark.parametrize("path", ["/@name/a@b.htm", "/x?mail=a:b@c", "/a:b@c"])
def test_an_at_sign_behind_the_host_is_no_password(server: Server, folder: Path, path: str) -> None:
    server.pages[path.partition("?")[0]] = page("text")
    server.pages[path] = page("text")
    (entry,) = get(server, folder, path).fetched
    assert entry.url == server.url + path


def test_names_of_documents_are_not_fetched_but_missing_ones_are_told(folder: Path) -> None:
    folder.mkdir()
    (folder / "held.txt").write_text("text")
    outcome = fetch(["held.txt", "lost.txt", "", "lost.txt"], folder, QUICK)
    assert outcome.missing == ("lost.txt",)


def test_nothing_to_fetch_makes_no_folder(folder: Path) -> None:
    fetch(["", "a.txt"], folder, QUICK)
    assert not folder.exists()


def test_the_user_agent_is_the_users_own(server: Server, folder: Path) -> None:
    server.pages["/a"] = page("text")
    get(server, folder, "/a")
    assert {agent for _, _, agent in server.log} == {"Test test@example.org"}


@pytest.mark.parametrize("agent", ["", "  ", "two\nlines", "Zoë z@example.org", "x" * 301])
def test_a_user_agent_that_is_no_header_is_refused(folder: Path, agent: str) -> None:
    with pytest.raises(UsageError, match="not a user agent"):
        fetch(["http://127.0.0.1/"], folder, replace(QUICK, user_agent=agent))


def test_progress_counts_every_url_once(server: Server, folder: Path) -> None:
    server.pages |= {"/a": page("a"), "/b": page("b")}
    get(server, folder, "/a")
    steps: list[FetchStep] = []
    fetch([server.url + path for path in ("/a", "/b", "/none")], folder, QUICK, steps.append)
    assert [(step.done, step.total) for step in steps] == [(1, 3), (2, 3), (3, 3)]
    assert [step.outcome for step in steps] == ["held", "fetched", "failed"]


def test_only_one_run_at_a_time_fetches_into_a_folder(server: Server, folder: Path) -> None:
    began, go_on = threading.Event(), threading.Event()

    def slow(asked: Asked) -> None:
        began.set()
        go_on.wait(10)
        asked.answer(200, b"text")

    server.pages["/a"] = slow
    first = threading.Thread(target=get, args=(server, folder, "/a"))
    first.start()
    assert began.wait(10)
    try:
        with pytest.raises(LeadlineError, match="another run"):
            get(server, folder, "/b")
    finally:
        go_on.set()
        first.join()
    assert len(content(folder)) == 1


# robots.txt


def test_robots_txt_is_obeyed_and_asked_for_once(server: Server, folder: Path) -> None:
    server.pages |= {
        "/robots.txt": page("User-agent: *\nDisallow: /private\nAllow: /private/but-this\n"),
        "/private/x": page("x"),
        "/private/but-this": page("this"),
        "/public": page("public"),
    }
    outcome = get(
        server, folder, "/private/x", "/private/but-this", "/public", settings=replace(QUICK, robots=True)
    )
    assert [entry.error for entry in outcome.failed] == ["its host's robots.txt asks not to fetch it"]
    assert len(outcome.fetched) == 2
    assert server.asked("/robots.txt") == 1 and server.asked("/private/x") == 0


def test_a_host_without_robots_txt_allows_everything(server: Server, folder: Path) -> None:
    server.pages["/a"] = page("text")
    assert len(get(server, folder, "/a", settings=replace(QUICK, robots=True)).fetched) == 1


def test_a_host_that_cannot_say_what_it_allows_is_not_asked_for_more(server: Server, folder: Path) -> None:
    server.pages |= {"/robots.txt": failing_first(99, 503, b""), "/a": page("text")}
    (entry,) = get(server, folder, "/a", settings=replace(QUICK, robots=True)).failed
    assert entry.error == "its host answers 503 Service Unavailable, 3 times (asked for robots.txt)"
    assert server.asked("/a") == 0


def test_the_delay_that_a_host_wishes_is_kept(server: Server, folder: Path) -> None:
    server.pages |= {
        "/robots.txt": page("User-agent: *\nCrawl-delay: 0.3\n"),
        "/a": page("a"),
        "/b": page("b"),
    }
    get(server, folder, "/a", "/b", settings=replace(QUICK, robots=True))
    times = server.times()
    assert times[2] - times[1] >= 0.29


# Ends that come in the middle


RUN = """
import sys
from pathlib import Path
from leadline.documents import FetchSettings, fetch
urls = [f"{sys.argv[1]}/{number}.txt" for number in range(40)]
fetch(urls, Path(sys.argv[2]), FetchSettings("Test test@example.org", rate=1000, robots=False))
"""


def test_a_run_killed_at_any_moment_leaves_whole_documents_and_the_next_goes_on(
    server: Server, folder: Path
) -> None:
    def slowly(asked: Asked) -> None:
        body = asked.url.encode() * 2000
        asked.handler.send_response(200)
        asked.handler.send_header("content-length", str(len(body)))
        asked.handler.end_headers()
        for start in range(0, len(body), 4000):
            asked.handler.wfile.write(body[start : start + 4000])
            time.sleep(0.002)

    expected = {f"/{number}.txt": f"/{number}.txt".encode() * 2000 for number in range(40)}
    server.pages |= dict.fromkeys(expected, slowly)
    kills = 0
    for wait in (0.5, 0.62, 0.71, 0.83):
        process = subprocess.Popen([sys.executable, "-c", RUN, server.url, str(folder)])
        # From the first document of this run on, so that the kill falls among them on a slow machine too.
        before = len(server.log)
        while len(server.log) == before and process.poll() is None:
            time.sleep(0.01)
        time.sleep(wait - 0.5)
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
            kills += 1
        process.wait()
        held = content(folder)
        assert all(body in expected.values() for body in held.values())
        index = read_index(folder)
        assert all((folder / entry.file).is_file() for entry in index.values())
    assert kills >= 2
    asked_before = len(server.log)
    held_before = len(read_index(folder))
    outcome = get(server, folder, *expected)
    assert len(outcome.held) == held_before and not outcome.failed
    assert len(server.log) - asked_before == 40 - held_before
    sources = Sources(folder)
    for path, body in expected.items():
        found = sources.find(server.url + path)
        assert found is not None and found.read_bytes() == body
    assert len(sources.names()) == 40 and leftovers(folder) == []


def test_a_line_of_the_index_that_was_cut_off_costs_only_itself(server: Server, folder: Path) -> None:
    server.pages |= {"/a": page("a"), "/b": page("b"), "/c": page("c")}
    get(server, folder, "/a", "/b")
    index = folder / "index.jsonl"
    index.write_bytes(index.read_bytes()[:-20])
    outcome = get(server, folder, "/a", "/b", "/c")
    assert [len(outcome.held), len(outcome.fetched)] == [1, 2]
    assert len(read_index(folder)) == 3
    assert len(get(server, folder, "/a", "/b", "/c").held) == 3


def test_the_index_is_one_object_a_line_and_only_grows(server: Server, folder: Path) -> None:
    server.pages |= {"/a": with_etag(b"a", '"1"')}
    get(server, folder, "/a", "/none")
    before = (folder / "index.jsonl").read_bytes()
    get(server, folder, "/a", "/none", settings=replace(QUICK, refresh=True))
    after = (folder / "index.jsonl").read_bytes()
    assert after.startswith(before) and len(after.splitlines()) == 4
    first = json.loads(after.splitlines()[0])
    assert set(first) >= {"url", "file", "sha256", "size", "status", "fetched", "etag"}


def test_an_index_of_other_peoples_making_leads_nowhere_else(folder: Path) -> None:
    folder.mkdir()
    (folder.parent / "secret.txt").write_text("secret")
    lines = [
        {"url": "http://a.example/1", "fetched": "", "file": "../secret.txt"},
        {"url": "http://a.example/2", "fetched": "", "file": str(folder.parent / "secret.txt")},
        {"url": "http://a.example/3", "fetched": "", "file": 5},
        {"url": ["http://a.example/4"], "fetched": ""},
        "text",
        None,
    ]
    (folder / "index.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n\xff{")
    sources = Sources(folder)
    assert [sources.find(f"http://a.example/{number}") for number in (1, 2, 3, 4)] == [None] * 4
