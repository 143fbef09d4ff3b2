"""Everything that a server says to one reader: every page that links lead to, every address that is asked by
scripts, files, faults. For tests of what must not be said."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from lxml import html
from starlette.applications import Starlette
from starlette.routing import Match, Route

from leadline.review.job import Job
from tests.review.pages import Served

NOBODY = "0123456789abcdef"
# Attributes in which a page keeps an address.
_ADDRESSES = ("href", "src", "action", "data-entry", "data-then", "formaction")


@dataclass(frozen=True)
class Said:
    """One response, as it came over the wire: its status line, headers and body together."""

    method: str
    address: str
    status: int
    text: str

    def holds(self, secret: str) -> bool:
        # Random tokens, checksums and the length of a page may hold any four digits.
        chance = r"[0-9a-f]{16,}|^content-length: \d+$"
        return secret.casefold() in re.sub(chance, "", self.text.casefold(), flags=re.MULTILINE)


class Crawl:
    """A reader who asks for all there is, and commits nothing."""

    def __init__(self, served: Served, jobs: Sequence[Job], reader: str, words: Iterable[str]) -> None:
        """words: what is looked for in documents."""
        self.jobs, self.words = jobs, words
        self.said: list[Said] = []
        self._seen: set[str] = set()
        with closing(served.client(reader)) as client:
            client.follow_redirects = False
            self._client = client
            self._pages(["/", "/reader"])
            for job in jobs:
                self._pages([f"/{job.name}", f"/{job.name}?show=all", f"/{job.name}/next"])
                for key in [entry.key for entry in job.entries()]:
                    self._entry(job.name, key)
            self._documents()
            self._faults()
            self._entry(jobs[0].name, NOBODY)

    def holding(self, secrets: Iterable[str]) -> dict[str, list[str]]:
        """Secret → the addresses at which it was said."""
        found = {
            secret: [f"{one.method} {one.address} {one.status}" for one in self.said if one.holds(secret)]
            for secret in secrets
        }
        return {secret: places for secret, places in found.items() if places}

    def not_asked(self, app: Starlette) -> list[str]:
        """Addresses of the application that can be got and were not."""
        missed = []
        for route in app.routes:
            assert isinstance(route, Route)
            if "GET" not in (route.methods or ()):
                continue
            if not any(
                route.matches({"type": "http", "path": one.address.partition("?")[0], "method": "GET"})[0]
                is Match.FULL
                for one in self.said
                if one.method == "GET"
            ):
                missed.append(route.path)
        return missed

    def _ask(self, method: str, address: str, **more: Any) -> str:
        answer = self._client.request(method, address, **more)
        head = "\n".join(f"{name}: {value}" for name, value in answer.headers.multi_items())
        body = answer.content.decode("utf-8", "replace")
        # As a browser would read it, and as it came: an escape hides nothing.
        plain = json.dumps(answer.json(), ensure_ascii=False) if "json" in head and body else ""
        self.said.append(Said(method, address, answer.status_code, f"{head}\n\n{body}\n{plain}"))
        if "text/html" in head:
            return body
        return f'<a href="{answer.headers["location"]}">' if answer.is_redirect else ""

    def _pages(self, addresses: Iterable[str]) -> None:
        waiting = list(addresses)
        while waiting:
            address = waiting.pop()
            if address in self._seen:
                continue
            self._seen.add(address)
            body = self._ask("GET", address)
            if not body.strip():
                continue
            tree = html.fromstring(body)
            for name in _ADDRESSES:
                waiting += [one for one in tree.xpath(f"//@{name}") if re.match(r"/(?!/)", one)]

    def _entry(self, job: str, key: str) -> None:
        self._pages([f"/{job}/{key}", f"/{job}/next?after={key}"])
        api = f"/api/{job}/{key}"
        for address in ("", "/history", "/revealed", "/places"):
            self._ask("GET", api + address)
            self._ask("HEAD", api + address)
        # Texts that are too old (409 after a first one), commits of nothing (422), bodies of no sense (422).
        self._ask("POST", f"{api}/commit", json={"version": 0, "fields": {}})
        self._ask("PUT", api, json={"version": 777, "fields": {"note": "n"}})
        self._ask("POST", f"{api}/undo", json={"version": 777})
        self._ask("POST", f"{api}/commit", json={"version": 777, "fields": {"outcome": "", "answer": ""}})
        self._ask("POST", f"{api}/commit", content=b"{", headers={"Content-Type": "application/json"})
        self._ask("PUT", api, content=b"[]", headers={"Content-Type": "text/plain"})
        self._ask("DELETE", api)

    def _documents(self) -> None:
        for number in range(3):
            base = f"/api/documents/{number}"
            for query in ("", "?at=0", "?at=99999999", "?from=0", "?until=500", "?at=x"):
                self._ask("GET", base + query)
            for word in self.words:
                self._ask("GET", f"{base}/search?q={word}")
            self._ask("POST", f"{base}/quote", json={"start": 0, "end": 1, "text": "x"})

    def _faults(self) -> None:
        for address in (
            "/static/nothing.js",
            "/static/..%2freview.sqlite",
            "/review.sqlite",
            "/review/review.sqlite",
            "/adjudications.jsonl",
            "/readings.jsonl",
            "/api/nothing/1",
            "/nothing",
            "/?token=wrong",
            "/api/reader",
        ):
            self._ask("GET", address)
