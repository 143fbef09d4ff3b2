"""Until a reader has committed a reading, no response of the server tells that reader the key, an answer of a
model, or why the item is in doubt: all jobs on, every address asked, bodies, headers and faults searched."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette

from leadline.bench import load_benchmark
from leadline.review.adjudicating import AdjudicateJob
from leadline.review.drafts import Drafts
from leadline.review.job import Job
from leadline.review.order import shuffled
from leadline.review.pack import draw_pack
from leadline.review.pack_files import write_pack
from leadline.review.places import DRAFTS
from leadline.review.start import OFFERS, ServeOptions, what_is_wanted
from leadline.review.wanted import Wanted
from tests.review.crawl import Crawl
from tests.review.doubted import ITEMS, MODELS, REASONS, SECRETS, Doubted, copied, doubted
from tests.review.pages import Served, app_of, served

WORDS = ("crate", "season", "the", "absent", "label", "q")
HIDDEN = tuple(secret for of_item in SECRETS.values() for secret in of_item)


@dataclass
class Blind:
    """A review with all jobs, on a real server."""

    made: Doubted
    jobs: Sequence[Job]
    served: Served
    app: Starlette

    def crawl(self, reader: str) -> Crawl:
        return Crawl(self.served, self.jobs, reader, WORDS)

    @property
    def job(self) -> AdjudicateJob:
        return next(job for job in self.jobs if isinstance(job, AdjudicateJob))

    def read(self, reader: str, item: str, answer: str) -> None:
        """Commit a reading."""
        key = next(key for key, one in self.job._items.items() if one.id == item)
        with closing(self.served.client(reader)) as client:
            version = client.get(f"/api/adjudicate/{key}").json()["version"]
            body = {"version": version, "fields": {"answer": answer}}
            answered = client.post(f"/api/adjudicate/{key}/commit", json=body)
            assert answered.status_code == 200, answered.text


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Doubted:
    return doubted(tmp_path_factory.mktemp("doubted"))


@pytest.fixture
def blind(original: Doubted, tmp_path: Path) -> Iterator[Blind]:
    made = copied(original, tmp_path)
    bench = load_benchmark(made.benchmark)
    write_pack(draw_pack(bench), tmp_path / "pack")
    folder = made.benchmark / "review"
    drafts = Drafts(folder / DRAFTS)
    wanted, _ = what_is_wanted(
        ServeOptions(benchmark=str(made.benchmark), study=made.study, pack=tmp_path / "pack")
    )
    assert wanted.folder == folder
    jobs = [job for job in (offer(wanted, drafts) for offer in OFFERS) if job is not None]
    assert [job.name for job in jobs] == ["label", "adjudicate", "annotate"]
    app = app_of(jobs, drafts)
    with served(jobs, drafts) as running:
        yield Blind(made, jobs, running, app)


def test_nothing_is_told_before_a_reading_and_all_of_it_after(blind: Blind) -> None:
    before = blind.crawl("Ann")
    assert before.not_asked(blind.app) == [], "every address that can be got was asked for"
    statuses = {one.status for one in before.said}
    assert statuses >= {200, 303, 401, 403, 404, 405, 409, 422}, "pages, faults and refusals of all kinds"
    assert before.holding([*HIDDEN, *REASONS, *MODELS]) == {}

    read: list[str] = []
    for item in SECRETS:
        blind.read("Ann", item, "8429" if item == "number-of-crates" else "something else")
        read.append(item)
        if len(read) == 1:  # one item's reading opens that item alone
            after = blind.crawl("Ann")
            others = [secret for other in SECRETS if other not in read for secret in SECRETS[other]]
            assert after.holding(others) == {}
    after = blind.crawl("Ann")
    found = after.holding(HIDDEN)
    told = {"7316", "8429", *(secret for secret in HIDDEN if "," not in secret)}
    assert told <= set(found), "the same crawl finds what is there to be found"
    for secret, places in found.items():
        (item,) = [name for name, secrets in SECRETS.items() if secret in secrets]
        key = next(key for key, one in blind.job._items.items() if one.id == item)
        assert all(key in place for place in places), (secret, places)
    for model in MODELS:
        assert after.holding([model])
    assert {"evidence absent", "dispersion"} <= set(after.holding(REASONS))

    second = blind.crawl("Bob")
    assert second.holding([*(one for one in HIDDEN if one != "8429"), *REASONS, *MODELS]) == {}
    assert second.holding(["8429", "something else"]) == {}, "nor what another reader read"


def test_no_kind_of_doubt_shows_in_the_shape_of_a_page(blind: Blind) -> None:
    with closing(blind.served.client("Ann")) as ann:
        shapes = {}
        for key, item in blind.job._items.items():
            page = ann.get(f"/adjudicate/{key}").text
            rest = page.partition('<h1 id="question"')[2]
            form = rest.partition("</h1>")[2].partition('<section class="aside"')[0]
            shapes[item.id] = re.sub(r"(Answer with|Choose an answer|Answer each part)[^,]*", "", form)
        listed = ann.get("/adjudicate").text
    assert all("Your reading" in form for form in shapes.values())
    assert len(set(shapes.values())) == 1, "label, audit or unstable: the same page"
    rows = re.findall(r"<li class=\"(.*?)\">.*?<span class=\"state\">(.*?)</span>", listed, re.DOTALL)
    assert len(rows) == 5 and len(set(rows)) == 1, "nor a row of the list"


def test_the_order_is_not_that_of_the_flags(blind: Blind) -> None:
    flagged = list(blind.job.flags.items)
    entries = [item.id for item in blind.job._items.values()]
    assert sorted(entries) == sorted(flagged)
    seeds = [f"{number:032x}" for number in range(30)]
    firsts = {shuffled(flagged, seed)[0] for seed in seeds}
    assert len(firsts) == 5, "each may come first"


def test_keys_tell_nothing(blind: Blind) -> None:
    for entry in blind.job.entries():
        assert re.fullmatch(r"[0-9a-f]{16}", entry.key)
        assert entry.note == entry.group == ""


@pytest.mark.parametrize("where", ["page", "list", "visible", "places", "header", "fault"])
def test_a_leak_anywhere_is_found(blind: Blind, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    """The crawl can fail: a key that is put into any of these by hand is seen."""
    leak = str(ITEMS[0]["answer"])
    kind = AdjudicateJob
    if where == "page":
        own = kind.context
        monkeypatch.setattr(kind, "context", lambda *args: {**own(*args), "how": f"one word, such as {leak}"})
    elif where == "visible":
        seen = kind.visible
        monkeypatch.setattr(kind, "visible", lambda *args: {**seen(*args), "key": [leak]})
    elif where == "list":
        listed = kind.entries
        monkeypatch.setattr(
            kind, "entries", lambda *args: [dataclasses.replace(one, title=leak) for one in listed(*args)]
        )
    elif where == "fault":
        monkeypatch.setattr(kind, "problems", lambda *args: {"answer": f"not {leak}"})
    else:
        from leadline.review import adjudicating

        answered = adjudicating.escaped_json

        def told(values: Any) -> Any:
            response = answered({**values, "gold": leak} if where == "places" else values)
            if where == "header":
                response.headers["x-item"] = leak
            return response

        monkeypatch.setattr(adjudicating, "escaped_json", told)
    crawl = Crawl(blind.served, [blind.job], "Ann", ())
    assert "quibbleforth" in crawl.holding(HIDDEN)


def test_the_label_is_in_the_process_and_the_pack_job_alone_has_none(blind: Blind, tmp_path: Path) -> None:
    """A pack can be served without its benchmark: then there is nothing that could leak."""
    drafts = Drafts(tmp_path / "alone.sqlite")
    wanted = Wanted(tmp_path, pack=tmp_path / "pack")
    jobs = [job for job in (offer(wanted, drafts) for offer in OFFERS) if job is not None]
    assert [job.name for job in jobs] == ["annotate"]
    assert not any(secret in repr(vars(job)).lower() for job in jobs for secret in HIDDEN)
