"""Serving a review's pages to tests: over HTTP, and in a real browser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from starlette.applications import Starlette
from starlette.routing import Route

from leadline.review.app import make_app
from leadline.review.drafts import Draft, Drafts, Fields
from leadline.review.guard import Pass
from leadline.review.job import Entry, Job, State, state_of
from leadline.serving.guard import LOOPBACK
from leadline.serving.server import running

PASS = Pass("the-token-of-this-test", "leadline_review_test", "the-value-of-this-test")
PHONE, DESK = (400, 800), (1280, 860)


@dataclass
class Notes:
    """A small job: an answer to each of some questions; what is committed is kept in memory."""

    name: str = "notes"
    title: str = "Notes"
    verb: str = "Commit"
    shared: bool = False
    template: str = "notes.html.j2"
    scripts: tuple[str, ...] = ()
    styles: tuple[str, ...] = ()
    asked: tuple[str, ...] = ("How deep?", "How wide?", "How long?")
    kept: list[tuple[str, str, Fields]] = field(default_factory=list)
    more: tuple[Route, ...] = ()

    def entries(self, reader: str = "") -> Sequence[Entry]:
        return [Entry(str(at), asked) for at, asked in enumerate(self.asked, 1)]

    def has(self, key: str) -> bool:
        return key in {entry.key for entry in self.entries()}

    def context(self, key: str, reader: str, draft: Draft | None) -> Mapping[str, Any]:
        return {}

    def visible(self, key: str, reader: str, draft: Draft | None) -> Mapping[str, Any]:
        return {"question": self.asked[int(key) - 1]}

    def problems(self, key: str, reader: str, fields: Fields) -> Mapping[str, str]:
        return {} if str(fields.get("answer", "")).strip() else {"answer": "there is no answer yet"}

    def commit(self, key: str, reader: str, draft: Draft) -> None:
        self.kept.append((key, reader, draft.fields))

    def state(self, key: str, reader: str, draft: Draft | None) -> State:
        return state_of(draft)

    def routes(self) -> Sequence[Route]:
        return self.more


@dataclass(frozen=True)
class Served:
    """A running review: `url` without a path, `address` with the token."""

    url: str
    drafts: Drafts
    token: str = PASS.token

    @property
    def address(self) -> str:
        return f"{self.url}/?token={self.token}"

    def client(self, reader: str = "Ann") -> Client:
        """A browser that was let in, without the browser."""
        return Client(self.url, self.token, reader)


class Client(httpx2.Client):
    """Asks as the pages do."""

    def __init__(self, url: str, token: str, reader: str = "Ann") -> None:
        headers = {"X-Leadline": "1", "Origin": url, "Sec-Fetch-Site": "same-origin"}
        super().__init__(base_url=url, headers=headers, follow_redirects=True, timeout=20)
        assert self.get("/", params={"token": token}).status_code == 200
        if reader:
            assert self.post("/api/reader", json={"name": reader}).status_code == 200


def app_of(jobs: Sequence[Job], drafts: Drafts, **more: Any) -> Starlette:
    """The application; documents are those that a job reads in."""
    documents = next((found for job in jobs if (found := getattr(job, "documents", None))), None)
    return make_app(jobs, drafts, PASS, hosts=LOOPBACK, documents=documents, **more)


@contextmanager
def served(jobs: Sequence[Job], drafts: Drafts, reader: str = "", port: int = 0) -> Iterator[Served]:
    """Serves `jobs` and their documents on a thread, on a port that the operating system chooses."""
    app = app_of(jobs, drafts, title="A review", reader=reader, instance="test")
    with running(app, port=port) as url:
        yield Served(url, drafts)


@dataclass
class Opened:
    """A browser of its own (cookies, storage) with one page; `complaints` is what its console said."""

    page: Any
    url: str
    complaints: list[str]

    def go(self, path: str) -> None:
        self.page.goto(self.url + path)

    def status(self) -> str:
        return str(self.page.inner_text("[data-status]"))

    def wait_for(self, words: str) -> None:
        """Until the status line says so. (`wait_for_function` is no way: the policy forbids its eval.)"""
        from playwright.sync_api import expect

        expect(self.page.locator("[data-status]")).to_contain_text(words, timeout=8000)

    def saved(self) -> None:
        """Until the status line says that all is saved; "not saved: Bo saved another text" does not."""
        from playwright.sync_api import expect

        saved = re.compile(r"^\s*saved \d")
        expect(self.page.locator("[data-status]")).to_have_text(saved, timeout=8000)

    def sideways(self) -> int:
        """Pixels that the page is wider than its window."""
        return int(
            self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        )

    def picture(self, path: Path) -> None:
        """A screenshot of the whole page."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=str(path), full_page=True)


@contextmanager
def opened(
    browser: Any, served: Served, size: tuple[int, int] = DESK, reader: str = "Ann", dark: bool = False
) -> Iterator[Opened]:
    """A fresh browser that followed the printed address, with a reader named by hand."""
    width, height = size
    touch = {"has_touch": True, "is_mobile": True} if size == PHONE else {}
    scheme = "dark" if dark else "light"
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, **touch)
    page = context.new_page()
    page.set_default_timeout(8000)
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(served.address)
    if reader:
        page.fill("#name", reader)
        page.press("#name", "Enter")
        page.wait_for_selector(".reader b")
    try:
        yield Opened(page, served.url, complaints)
    finally:
        context.close()


def faults(page: Any) -> list[str]:
    """What axe-core finds that is serious or critical, in words."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [
        f"{fault['id']}: {node['html'][:200]} {' '.join(node['target'][:3])} {node['failureSummary'][:300]}"
        for fault in found
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"]
    ]


def token_in(line: str) -> str:
    """The token of a printed address."""
    found = re.search(r"\?token=([A-Za-z0-9_-]+)", line)
    assert found, line
    return found[1]


def as_json(text: str) -> Any:
    return json.loads(text)
