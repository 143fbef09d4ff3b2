"""Who is let in: only a browser that followed the printed address, and only the server's own pages."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import pytest

from leadline.review.drafts import Drafts
from leadline.review.guard import POLICY
from leadline.review.start import ServeOptions, hosts_of, pass_for
from leadline.serving.server import listen
from tests.review.pages import PASS, Client, Notes, Served, served

pytestmark = pytest.mark.usefixtures("notes_template")
BARE = httpx2.Client(timeout=20)
COOKIE = {PASS.cookie: PASS.value}
ADDRESSES = (
    "/",
    "/reader",
    "/notes",
    "/notes/1",
    "/notes/next",
    "/api/notes/1",
    "/static/review.js",
    "/nothing",
)
SAVE = {"version": 0, "fields": {"answer": "a"}}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served([Notes()], Drafts(tmp_path_factory.mktemp("guard") / "review.sqlite")) as found:
        yield found


@pytest.fixture
def client(server: Served) -> Iterator[Client]:
    with closing(server.client()) as found:
        yield found


def ask(method: str, url: str, cookies: Mapping[str, str] | None = None, **more: Any) -> httpx2.Response:
    """One request that shows nothing but what is given."""
    shown = "; ".join(f"{name}={value}" for name, value in (cookies or {}).items())
    headers = {**more.pop("headers", {}), **({"cookie": shown} if shown else {})}
    BARE.cookies.clear()
    return BARE.request(method, url, headers=headers, **more)


def raw(server: Served, request: bytes) -> bytes:
    """Whatever comes back for bytes that no client would send."""
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), 10) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(65536), b""))


@pytest.mark.parametrize("address", ADDRESSES)
def test_without_the_cookie_nothing_is_answered_but_what_to_do(server: Served, address: str) -> None:
    found = ask("GET", server.url + address)
    assert found.status_code == 401
    assert "Open the address that the command printed" in found.text
    for cookie in ({PASS.cookie: ""}, {PASS.cookie: PASS.token}, {"leadline_review_1": PASS.value}):
        assert ask("GET", server.url + address, cookies=cookie).status_code == 401


def test_the_token_is_taken_out_of_the_address_and_never_sent_again(server: Served) -> None:
    found = ask("GET", f"{server.url}/?token={PASS.token}")
    assert (found.status_code, found.headers["location"]) == (303, "/")
    cookie = found.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert PASS.token not in cookie
    assert PASS.token not in found.text
    assert found.headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize("token", ["", "x", PASS.token[:-1], f"{PASS.token}x", "é", PASS.value])
def test_another_token_is_refused_even_with_the_cookie(server: Served, token: str) -> None:
    found = ask("GET", f"{server.url}/", params={"token": token}, cookies=COOKIE)
    assert found.status_code == 401
    assert "set-cookie" not in found.headers
    # A token counts at one address only.
    assert ask("GET", f"{server.url}/notes?token={PASS.token}").status_code == 401


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example", "", "[::2]"],
)
def test_a_foreign_name_that_points_here_is_refused_whatever_it_shows(server: Served, host: str) -> None:
    for address in (*ADDRESSES, f"/?token={PASS.token}"):
        found = ask("GET", server.url + address, headers={"Host": host}, cookies=COOKIE)
        assert found.status_code in (400, 403)
        assert "set-cookie" not in found.headers


def test_two_hosts_or_none_are_refused(server: Served) -> None:
    two = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
    none = b"GET / HTTP/1.0\r\n\r\n"
    for request in (two, none):
        assert raw(server, request).split(b"\r\n")[0].split()[1] in (b"400", b"403")


def test_the_servers_own_names_are_all_answered(server: Served) -> None:
    port = server.url.rpartition(":")[2]
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"LOCALHOST:{port}", "localhost:9000"):
        assert ask("GET", f"{server.url}/reader", headers={"Host": host}, cookies=COOKIE).status_code == 200


CROSS_SITE = {
    "no origin": {"Origin": None, "Sec-Fetch-Site": None},
    "another site": {"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"},
    "another port": {"Origin": "http://127.0.0.1:9", "Sec-Fetch-Site": "same-site"},
    "an origin that hides": {"Origin": "null"},
    "another scheme": {"Origin": "https"},
    "no origin, another site": {"Origin": None, "Sec-Fetch-Site": "cross-site"},
    "own origin from another site": {"Sec-Fetch-Site": "cross-site"},
    "no header of ours": {"X-Leadline": None},
}


@pytest.mark.parametrize("changes", CROSS_SITE.values(), ids=CROSS_SITE)
def test_another_sites_page_changes_nothing(
    server: Served, client: Client, changes: dict[str, str | None]
) -> None:
    headers = dict(client.headers)
    headers = {name: value for name, value in headers.items() if name not in {key.lower() for key in changes}}
    for name, value in changes.items():
        if value is not None:
            headers[name.lower()] = server.url.replace("http", "https") if value == "https" else value
    reader = {**COOKIE, f"{PASS.cookie}_reader": "Ann"}
    for method, address, body in (
        ("PUT", "/api/notes/3", SAVE),
        ("POST", "/api/notes/3/commit", SAVE),
        ("POST", "/api/notes/3/undo", {"version": 0}),
        ("POST", "/api/reader", {"name": "Eve"}),
        ("DELETE", "/api/notes/3", {}),
        ("POST", "/nothing", {}),
    ):
        found = ask(method, server.url + address, json=body, headers=headers, cookies=reader)
        assert found.status_code == 403, (method, address)
    assert server.drafts.get("notes", "3", "Ann") is None


def test_a_form_of_another_site_cannot_even_be_sent_as_text(client: Client, server: Served) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""):
        found = client.put(
            "/api/notes/3", content=b'{"version": 0, "fields": {}}', headers={"Content-Type": kind}
        )
        assert found.status_code == 415
    assert server.drafts.get("notes", "3", "Ann") is None


def test_own_pages_may_without_an_origin_where_the_browser_vouches_for_them(
    server: Served, client: Client
) -> None:
    del client.headers["Origin"]
    assert client.put("/api/notes/2", json=SAVE).status_code == 200


def test_no_page_of_another_site_reads_anything(server: Served) -> None:
    for site in ("cross-site", "same-site"):
        for mode in ("no-cors", "cors"):
            headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode}
            for address in ADDRESSES:
                assert ask("GET", server.url + address, headers=headers, cookies=COOKIE).status_code == 403
    asked = {"Origin": "http://evil.example", "Access-Control-Request-Method": "PUT"}
    found = ask("OPTIONS", f"{server.url}/api/notes/1", headers=asked, cookies=COOKIE)
    assert found.status_code == 403
    assert not any(name.startswith("access-control") for name in found.headers)


def test_every_answer_carries_the_policy_and_is_kept_nowhere(server: Served, client: Client) -> None:
    answers = [client.get(address) for address in ADDRESSES]
    answers += [ask("GET", server.url), ask("GET", f"{server.url}/?token={PASS.token}")]
    answers += [client.put("/api/notes/1", json={}), client.request("TRACE", "/"), client.post("/notes")]
    assert {answer.status_code for answer in answers} >= {200, 303, 401, 404, 405, 422}
    for answer in answers:
        assert answer.headers["content-security-policy"] == POLICY
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert "server" not in answer.headers
        assert PASS.token not in answer.text
        assert PASS.value not in answer.text
    assert "unsafe" not in POLICY


def test_a_fault_of_the_program_is_told_under_a_number_and_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(Notes):
        def entries(self) -> list[object]:  # type: ignore[override]
            raise ZeroDivisionError("the key is 42")

    with served([Broken()], Drafts(tmp_path / "review.sqlite"), reader="Ann") as server:
        for address in ("/notes", "/api/notes/1"):
            found = ask("GET", server.url + address, cookies=COOKIE)
            assert found.status_code == 500
            assert "fault-" in found.text
            assert "42" not in found.text
            assert found.headers["content-security-policy"] == POLICY
    assert "the key is 42" in caplog.text


def test_a_cookie_of_one_server_lets_nobody_into_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEADLINE_CACHE", str(tmp_path / "cache"))
    with listen("127.0.0.1", 0) as first, listen("127.0.0.1", 0) as second:
        one, other = pass_for(tmp_path / "a", first), pass_for(tmp_path / "a", second)
        elsewhere = pass_for(tmp_path / "b", first)
        again = pass_for(tmp_path / "a", first)
    assert one.cookie != other.cookie, "cookies do not know ports: the name tells them apart"
    assert len({one.value, other.value, elsewhere.value}) == 3
    assert len({one.token, other.token, elsewhere.token, again.token}) == 4, "a token is for one start"
    assert again.value == one.value, "a page that is open goes on after a restart"
    secret = tmp_path / "cache" / "review" / "secret"
    assert secret.stat().st_mode & 0o077 == 0, "nobody else on the machine can read it"


def test_which_names_are_answered_depends_on_where_the_server_listens() -> None:
    assert "localhost" in (hosts_of("127.0.0.1") or ())
    assert hosts_of("10.0.0.5") == {"10.0.0.5"}
    assert hosts_of("0.0.0.0") is None
    assert ServeOptions().host == "127.0.0.1"
