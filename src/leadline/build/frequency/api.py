"""Page views from the REST API of Wikimedia, article by article: for a few thousand of them.

    GET API/metrics/pageviews/per-article/en.wikipedia/all-access/user/Earth/monthly/2021030100/2022022800

Redirects are not asked for: each would be a request of its own.
Source: https://doc.wikimedia.org/generated-data-platform/aqs/analytics-api/reference/page-views.html
"""

from __future__ import annotations

import calendar
import json
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from leadline.build.frequency.pageviews import title_key
from leadline.build.frequency.window import Window
from leadline.documents.courtesy import Pace
from leadline.documents.fetch_settings import FetchSettings
from leadline.documents.request import PASSING_STATUS, Failed, Passing, asked, passing, patiently, status_line
from leadline.errors import LeadlineError, UsageError

API = "https://wikimedia.org/api/rest_v1"
_LARGEST = 1 << 20  # bytes; an answer of 100 months has some 20 kB


@dataclass(frozen=True)
class ViewsApi:
    """Asks for the views of titles, one request after the other, `settings.rate` a second at most.

    What was answered is appended to `cache` at once, keyed by project, window and title: an interrupted run
    goes on where it was, and another plan over the same window asks nothing twice.
    """

    project: str
    window: Window
    settings: FetchSettings
    cache: Path
    api: str = API

    def views(
        self, titles: Iterable[str], advance: Callable[[int], None] | None = None
    ) -> dict[str, int | None]:
        """Views summed over the window by title; None where the API knows no views of it (404).

        Raises UsageError without both ends of a window, LeadlineError where the API cannot be asked; what was
        answered until then is in the cache.
        """
        import httpx2

        wanted = list(dict.fromkeys(titles))
        first, last = self._span()
        known = self._known()
        pace = Pace(1 / self.settings.rate)
        self.cache.parent.mkdir(parents=True, exist_ok=True)
        headers = {"user-agent": self.settings.user_agent, "accept": "application/json"}
        with (
            httpx2.Client(timeout=self.settings.timeout, follow_redirects=False, headers=headers) as client,
            self.cache.open("a", encoding="utf-8") as file,
        ):
            for title in wanted:
                if title not in known:
                    url = self._url(title, first, last)
                    known[title] = self._one(client, pace, httpx2.URL(url))
                    entry = [self.project, str(self.window), title, known[title]]
                    file.write(json.dumps(entry, ensure_ascii=False) + "\n")
                    file.flush()
                if advance is not None:
                    advance(1)
        return {title: known[title] for title in wanted}

    def _span(self) -> tuple[str, str]:
        if not self.window.months():
            raise UsageError(
                "the API needs the first and the last month",
                where="frequency",
                fix="start: 2021-03 and end: 2022-02",
            )
        year, month = int(self.window.end[:4]), int(self.window.end[5:])
        days = calendar.monthrange(year, month)[1]
        return f"{self.window.start.replace('-', '')}0100", f"{year:04d}{month:02d}{days:02d}00"

    def _url(self, title: str, first: str, last: str) -> str:
        article = quote(title_key(title), safe="")
        base = f"{self.api.rstrip('/')}/metrics/pageviews/per-article"
        return f"{base}/{self.project}/all-access/user/{article}/monthly/{first}/{last}"

    def _known(self) -> dict[str, int | None]:
        known: dict[str, int | None] = {}
        try:
            lines = self.cache.read_text("utf-8").splitlines()
        except FileNotFoundError:
            return known
        if lines:  # a line that a kill cut off must not join the next one
            _close_line(self.cache)
        for line in lines:
            try:
                project, window, title, views = json.loads(line)
            except (ValueError, TypeError):
                continue
            if [project, window] == [self.project, str(self.window)]:
                known[title] = views
        return known

    def _one(self, client: object, pace: Pace, url: object) -> int | None:
        """One answer; passing failures are tried again as `settings` say."""
        try:
            return patiently(lambda: _asked_once(client, pace, url), pace, self.settings)
        except Failed as failure:
            fix = "run it again later" if isinstance(failure, Passing) else None
            raise LeadlineError(failure.reason, where=str(url), fix=fix) from None


def user_agent(*said: str | None) -> str:
    """The first that is said, else LEADLINE_USER_AGENT. Raises UsageError: Wikimedia wants a contact."""
    for agent in (*said, os.environ.get("LEADLINE_USER_AGENT")):
        if agent:
            return agent
    raise UsageError(
        "the API wants to know who asks",
        where="frequency.user_agent",
        fix='user_agent: "Jane Doe jane@example.org", or LEADLINE_USER_AGENT',
    )


def _asked_once(client: object, pace: Pace, url: object) -> int | None:
    with asked(client, pace, url, {}) as answer:  # type: ignore[arg-type]
        if answer.status_code in PASSING_STATUS:
            raise passing(answer)
        body = b""
        for piece in answer.iter_bytes():
            body += piece
            if len(body) > _LARGEST:
                raise Failed("answers more than page views would be", answer.status_code)
        if answer.status_code == 404:
            return None
        if answer.status_code != 200:
            raise Failed(f"the API answers {status_line(answer.status_code)}", answer.status_code)
    try:
        items = json.loads(body)["items"]
        return sum(int(item["views"]) for item in items)
    except (ValueError, TypeError, KeyError):
        raise Failed("the API's answer holds no page views", answer.status_code) from None


def _close_line(path: Path) -> None:
    with path.open("rb+") as file:
        file.seek(-1, os.SEEK_END)
        if file.read(1) != b"\n":
            file.write(b"\n")
