"""Page views from the API: asked politely, kept at once, resumed."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from leadline.build.frequency.api import ViewsApi, user_agent
from leadline.build.frequency.window import Window
from leadline.documents.fetch_settings import FetchSettings
from leadline.errors import LeadlineError, UsageError
from tests.documents.server import Asked, Server, page, serving

SETTINGS = FetchSettings("Jane Doe jane@example.org", rate=1000, backoff=0.01, attempts=3)
BASE = "/metrics/pageviews/per-article/en.wikipedia/all-access/user"


def path(title: str) -> str:
    return f"{BASE}/{title}/monthly/2021030100/2022022800"


def months(*views: int) -> str:
    return json.dumps({"items": [{"article": "A", "views": number} for number in views]})


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as made:
        yield made


def api(server: Server, folder: Path, **changes: object) -> ViewsApi:
    fields = {"project": "en.wikipedia", "window": Window("2021-03", "2022-02"), "settings": SETTINGS}
    fields |= {"cache": folder / "cache" / "views.jsonl", "api": server.url}
    return ViewsApi(**{**fields, **changes})  # type: ignore[arg-type]


def test_months_are_summed_and_titles_escaped_whole(server: Server, tmp_path: Path) -> None:
    server.pages[path("9%2F11_conspiracy_theories")] = page(months(3, 4, 5))
    server.pages[path("Caf%C3%A9")] = page(months(1))
    found = api(server, tmp_path).views(["9/11 conspiracy theories", "café"])
    assert found == {"9/11 conspiracy theories": 12, "café": 1}
    assert {agent for _, _, agent in server.log} == {"Jane Doe jane@example.org"}


def test_an_unknown_page_has_no_views_and_nothing_is_asked_twice(server: Server, tmp_path: Path) -> None:
    server.pages[path("Earth")] = page(months(7))
    for _ in range(2):
        assert api(server, tmp_path).views(["Earth", "No such page"]) == {"Earth": 7, "No such page": None}
    assert len(server.log) == 2


def test_another_window_is_asked_anew(server: Server, tmp_path: Path) -> None:
    server.pages[path("Earth")] = page(months(7))
    server.pages[f"{BASE}/Earth/monthly/2024020100/2024022900"] = page(months(1))  # a leap year
    api(server, tmp_path).views(["Earth"])
    assert api(server, tmp_path, window=Window("2024-02", "2024-02")).views(["Earth"]) == {"Earth": 1}


def test_a_busy_host_is_asked_again(server: Server, tmp_path: Path) -> None:
    def busy(asked: Asked) -> None:
        asked.answer(*((503, b"") if asked.count < 3 else (200, months(7).encode())))

    server.pages[path("Earth")] = busy
    assert api(server, tmp_path).views(["Earth"]) == {"Earth": 7}


def test_what_was_answered_before_a_failure_stays_and_a_cut_line_is_asked_again(
    server: Server, tmp_path: Path
) -> None:
    server.pages[path("A")] = page(months(1))
    server.pages[path("B")] = lambda asked: asked.answer(500)
    with pytest.raises(LeadlineError, match="500 Internal Server Error"):
        api(server, tmp_path).views(["A", "B"])
    cache = tmp_path / "cache" / "views.jsonl"
    cache.write_text(cache.read_text() + '["en.wikipedia", "2021-03 to 20')  # as a kill leaves it
    server.pages[path("B")] = page(months(2))
    assert api(server, tmp_path).views(["A", "B"]) == {"A": 1, "B": 2}
    assert api(server, tmp_path).views(["A", "B"]) == {"A": 1, "B": 2}
    assert (server.asked(path("A")), server.asked(path("B"))) == (1, SETTINGS.attempts + 1)


@pytest.mark.parametrize("body", ["<html>", "{}", '{"items": [{"views": "x"}]}', "[]"])
def test_an_answer_that_holds_no_views_is_an_error_of_one_line(
    server: Server, tmp_path: Path, body: str
) -> None:
    server.pages[path("Earth")] = page(body)
    with pytest.raises(LeadlineError, match="holds no page views"):
        api(server, tmp_path).views(["Earth"])


def test_an_open_window_is_refused(server: Server, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="first and the last month"):
        api(server, tmp_path, window=Window("2021-03")).views(["Earth"])


def test_nobody_asks_without_saying_who(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LEADLINE_USER_AGENT", raising=False)
    with pytest.raises(UsageError, match="who asks"):
        user_agent(None)
    monkeypatch.setenv("LEADLINE_USER_AGENT", "me")
    assert user_agent(None, "") == "me"
