"""Another server of this machine, opened in the browser that a reader works in, reaches no review."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from leadline.review.drafts import Drafts, Sent
from tests.review.pages import Notes, Served, opened, served

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("notes_template")]
SECRET = "words that Ann saved"
# What a hostile page would try, with the reader's cookie at hand; it counts what it got.
ATTACK = """<!doctype html><title>attack</title><body><script>
const at = "%s", got = [], include = { credentials: "include" };
const headers = { "X-Leadline": "1", "Content-Type": "application/json" };
const body = JSON.stringify({ version: 0, fields: { answer: "attacked" } });
const loaded = (element, then) => new Promise((done) => {
  element.onload = () => { then(element); done(); };
  element.onerror = done;
  document.body.append(element);
});
const script = document.createElement("script"), frame = document.createElement("iframe");
script.src = at + "/static/review.js";
frame.src = at + "/notes/1";
Promise.allSettled([
  fetch(at + "/api/notes/1", include).then((answer) => got.push("read")),
  fetch(at + "/notes/1", { ...include, mode: "no-cors" }).then((answer) => answer.text())
    .then((text) => { if (text) got.push("seen"); }),
  fetch(at + "/api/notes/2", { ...include, method: "PUT", headers, body }).then(() => got.push("put")),
  fetch(at + "/api/notes/2/commit", { ...include, method: "POST", mode: "no-cors", body }),
  loaded(script, () => got.push("script")),
  loaded(frame, () => {
    try { if (frame.contentDocument.body.textContent) got.push("framed"); } catch { /* another origin's */ }
  }),
]).then(() => { document.title = "done " + JSON.stringify(got); });
</script>"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    with served([Notes()], Drafts(tmp_path / "review.sqlite")) as found:
        found.drafts.save("notes", "1", "Ann", Sent(0, {"answer": SECRET}))
        yield found


@pytest.fixture
def hostile(server: Served) -> Iterator[str]:
    """A server on another port of the same address."""

    class Attack(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page = (ATTACK % server.url).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, format: str, *arguments: object) -> None:
            """Nothing."""

    other = ThreadingHTTPServer(("127.0.0.1", 0), Attack)
    thread = threading.Thread(target=other.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{other.server_port}"
    other.shutdown()
    other.server_close()


def test_a_page_of_another_port_reads_nothing_changes_nothing_and_runs_nothing(
    browser: Any, server: Served, hostile: str
) -> None:
    from playwright.sync_api import expect

    with opened(browser, server) as ann:
        ann.go("/notes/1")
        assert SECRET in ann.page.input_value("#answer"), "with the cookie, the reader's own page shows it"
        ann.page.goto(hostile)
        expect(ann.page).to_have_title("done []")
        shown = "".join(frame.content() for frame in ann.page.frames)
        assert SECRET not in shown.replace(ATTACK, "")
        ann.page.goto("about:blank")
        ann.go("/notes/1")
        assert ann.page.inner_text(".reader b") == "Ann"
    assert server.drafts.get("notes", "2", "Ann") is None
    assert [draft.fields for draft in server.drafts.history("notes", "1", "Ann")] == [{"answer": SECRET}]


def test_after_the_token_was_used_it_is_in_no_address_and_no_referrer(browser: Any, server: Served) -> None:
    context = browser.new_context()
    page = context.new_page()
    sent: list[tuple[str, dict[str, str]]] = []
    page.on("request", lambda request: sent.append((request.url, request.headers)))
    page.goto(server.address)
    page.fill("#name", "Ann")
    page.press("#name", "Enter")
    page.wait_for_selector(".reader b")
    page.goto(f"{server.url}/notes/1")
    first, *later = sent
    assert server.token in first[0]
    assert len(later) > 5
    for url, headers in later:
        assert server.token not in url
        assert not headers.get("referer")
    assert server.token not in page.content() + page.evaluate(
        "document.cookie + document.referrer + location.href"
    )
    assert page.evaluate("document.cookie") == "", "no script reads the cookie"
    context.close()
