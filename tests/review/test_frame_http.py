"""The frame over HTTP: saving, conflicts, undo, commits, wrong requests; and a server that is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from leadline.bench import load_benchmark
from leadline.review import annotating
from leadline.review.drafts import Drafts, Sent
from leadline.review.filled_sheet import read_begun_sheet, read_sheet
from leadline.review.job import Entry
from leadline.review.pack import draw_pack
from leadline.review.pack_files import read_pack, write_pack
from leadline.review.sheet import sheet_of
from leadline.review.start import OFFERS, ServeOptions, greeting, what_is_wanted
from tests.review.pages import Client, Notes, Served, served, token_in

pytestmark = pytest.mark.usefixtures("notes_template")


@pytest.fixture(scope="module")
def job() -> Notes:
    return Notes(asked=tuple(f"Question {at}?" for at in range(1, 41)))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, job: Notes) -> Iterator[Served]:
    shared = Notes(name="shared", shared=True)
    with served([job, shared], Drafts(tmp_path_factory.mktemp("http") / "review.sqlite")) as found:
        yield found


@pytest.fixture(scope="module")
def ann(server: Served) -> Iterator[Client]:
    with closing(server.client("Ann")) as found:
        yield found


@pytest.fixture(scope="module")
def bo(server: Served) -> Iterator[Client]:
    with closing(server.client("Bo")) as found:
        yield found


def text(version: int, answer: object, **more: Any) -> dict[str, Any]:
    return {"version": version, "fields": {"answer": answer}, **more}


def test_a_text_is_saved_read_back_undone_and_committed(ann: Client, job: Notes) -> None:
    saved = ann.put("/api/notes/1", json=text(0, "sand")).json()
    assert (saved["version"], saved["fields"], saved["by"]) == (1, {"answer": "sand"}, "Ann")
    ann.put("/api/notes/1", json=text(1, "rock"))
    undone = ann.post("/api/notes/1/undo", json={"version": 2}).json()
    assert (undone["version"], undone["fields"]) == (3, {"answer": "sand"})
    told = ann.get("/api/notes/1").json()
    assert (told["version"], told["visible"]) == (3, {"question": "Question 1?"})
    done = ann.post("/api/notes/1/commit", json=text(3, "sand")).json()
    assert done["committed"]
    assert done["next"] == "/notes/2"
    assert job.kept[-1] == ("1", "Ann", {"answer": "sand"})
    versions = ann.get("/api/notes/1/history").json()["versions"]
    assert [each["fields"]["answer"] for each in versions] == ["sand", "sand", "rock", "sand"]


def test_of_two_people_on_a_shared_entry_the_second_is_told_whose_text_is_there(
    ann: Client, bo: Client
) -> None:
    ann.put("/api/shared/1", json=text(0, "Ann's"))
    found = bo.put("/api/shared/1", json=text(0, "Bo's"))
    assert found.status_code == 409
    told = found.json()
    assert (told["theirs"], told["by"], told["version"]) == ({"answer": "Ann's"}, "Ann", 1)
    assert told["saved"]
    assert bo.put("/api/shared/1", json=text(told["version"], "Bo's")).status_code == 200
    for address, body in (("undo", {"version": 1}), ("commit", text(1, "Ann's again"))):
        assert ann.post(f"/api/shared/1/{address}", json=body).status_code == 409
    kept = [each["fields"]["answer"] for each in ann.get("/api/shared/1/history").json()["versions"]]
    assert set(kept) == {"Ann's", "Bo's", "Ann's again"}


def test_a_reader_sees_nothing_that_another_wrote_alone(ann: Client, bo: Client) -> None:
    secret = "a word that Ann alone knows"
    ann.put("/api/notes/5", json=text(0, secret))
    for address in ("/", "/notes?show=all", "/notes/5", "/api/notes/5", "/api/notes/5/history"):
        assert secret not in bo.get(address).text
    assert bo.put("/api/notes/5", json=text(0, "Bo's own")).status_code == 200
    assert secret in ann.get("/notes/5").text


def test_what_is_no_answer_yet_is_not_committed_but_kept(ann: Client, job: Notes) -> None:
    before = list(job.kept)
    found = ann.post("/api/notes/7/commit", json=text(0, "  "))
    assert found.status_code == 422
    assert found.json()["problems"] == {"answer": "there is no answer yet"}
    assert ann.get("/api/notes/7").json()["fields"] == {"answer": "  "}
    assert job.kept == before


def test_next_is_the_next_open_one_round_the_end_and_the_list_when_all_are_done(tmp_path: Path) -> None:
    with (
        served([Notes()], Drafts(tmp_path / "review.sqlite"), reader="Ann") as server,
        closing(server.client("")) as ann,
    ):
        done = [ann.post(f"/api/notes/{key}/commit", json=text(0, "a")).json()["next"] for key in "312"]
        assert done == ["/notes/1", "/notes/2", "/notes?show=all"]
        assert ann.get("/notes/next").url.path == "/notes"
        assert "All 3 are done" in ann.get("/notes").text
        assert "3 of 3 done" in ann.get("/").text


def test_an_entry_that_leads_to_more_work_is_offered_and_not_counted(tmp_path: Path) -> None:
    class Endless(Notes):
        def entries(self, reader: str = "") -> list[Entry]:
            return [*super().entries(), Entry("new", "One more", counted=False)]

    with (
        served([Endless()], Drafts(tmp_path / "review.sqlite"), reader="Ann") as server,
        closing(server.client("")) as ann,
    ):
        done = [ann.post(f"/api/notes/{key}/commit", json=text(0, "a")).json()["next"] for key in "123"]
        assert done[-1] == "/notes/new"
        page = ann.get("/notes").text
        assert "3 of 3 done" in page
        assert "One more" in page


def test_who_reads_is_asked_once_and_a_name_keeps_its_first_spelling(server: Served) -> None:
    with closing(server.client("")) as new:
        asked = new.get("/notes/3")
        assert (asked.url.path, asked.url.params["then"]) == ("/reader", "/notes/3")
        assert new.put("/api/notes/3", json=text(0, "a")).status_code == 403
        for bad in ("", "   ", "a\nb", "x" * 101, "\u202ename", "\x00"):
            assert new.post("/api/reader", json={"name": bad}).status_code in (200, 422), bad
        assert new.post("/api/reader", json={"name": "\x1b[31m"}).status_code == 422
        assert new.post("/api/reader", json={"name": "  Ana   María <b> "}).json() == {
            "reader": "Ana María <b>"
        }
        assert "Ana María &lt;b&gt;" in new.get("/notes").text
        new.put("/api/notes/3", json=text(0, "a"))
        assert new.post("/api/reader", json={"name": "ana maría <B>"}).json() == {"reader": "Ana María <b>"}


def test_a_name_that_the_command_was_given_counts_until_another_is_chosen_there(tmp_path: Path) -> None:
    drafts = Drafts(tmp_path / "review.sqlite")
    with served([Notes()], drafts) as asking, closing(asking.client("Ann")) as browser:
        cookies = dict(browser.cookies)
    with served([Notes()], drafts, reader="John Roe") as told, closing(told.client("")) as browser:
        browser.cookies.update(cookies)  # of yesterday, from the same port
        assert "<b>John Roe</b>" in browser.get("/").text
        browser.post("/api/reader", json={"name": "Cid"})
        assert "<b>Cid</b>" in browser.get("/").text


def test_two_servers_over_one_folder_know_of_each_others_texts(tmp_path: Path) -> None:
    path, jobs = tmp_path / "review.sqlite", [Notes(name="shared", shared=True)]
    with (
        served(jobs, Drafts(path)) as one,
        served(jobs, Drafts(path)) as other,
        closing(one.client("Ann")) as ann,
        closing(other.client("Bo")) as bo,
    ):
        assert ann.put("/api/shared/1", json=text(0, "a")).status_code == 200
        assert bo.put("/api/shared/1", json=text(0, "b")).json()["theirs"] == {"answer": "a"}


def test_where_to_go_on_is_an_address_of_this_server(ann: Client) -> None:
    for then in (
        "//evil.example",
        "http://evil.example",
        "/\\evil.example",
        "javascript:alert(1)",
        "/a/b/c/d",
    ):
        assert 'data-then="/"' in ann.get("/reader", params={"then": then}).text
    assert 'data-then="/notes/3"' in ann.get("/reader", params={"then": "/notes/3"}).text


def test_a_page_that_was_opened_for_another_reader_writes_nothing_in_this_ones_name(bo: Client) -> None:
    for method, address in (("PUT", ""), ("POST", "/commit")):
        found = bo.request(method, f"/api/notes/9{address}", json=text(0, "a", reader="Ann"))
        assert found.status_code == 403
        assert "this page is Ann's, and now Bo reads" in found.json()["error"]
    assert bo.get("/api/notes/9").json()["version"] == 0


WRONG: dict[str, Any] = {
    "no object": [1, 2],
    "a text": "a",
    "nothing": None,
    "no version": {"fields": {}},
    "no fields": {"version": 0},
    "fields are a list": {"version": 0, "fields": ["a"]},
    "fields are a text": {"version": 0, "fields": "a"},
    "version is text": {"version": "0", "fields": {}},
    "version is a fraction": {"version": 0.5, "fields": {}},
    "version is true": {"version": True, "fields": {}},
    "version below 0": {"version": -1, "fields": {}},
    "version beyond SQLite": {"version": 2**70, "fields": {}},
    "an unknown key": {"version": 0, "fields": {}, "kind": "committed"},
    "a nameless field": {"version": 0, "fields": {"": "a"}},
    "a field with an endless name": {"version": 0, "fields": {"a" * 101: "a"}},
    "201 fields": {"version": 0, "fields": {str(at): "" for at in range(201)}},
    "a long text": {"version": 0, "fields": {"answer": "a" * 40_001}},
    "a long text within": {"version": 0, "fields": {"quotes": [{"quote": "a" * 40_001}]}},
    "a number beyond JSON's": {"version": 0, "fields": {"answer": 10**400}},
    "page is a number": {"version": 0, "fields": {}, "page": 1},
    "edit is text": {"version": 0, "fields": {}, "edit": "1"},
    "reader is a list": {"version": 0, "fields": {}, "reader": []},
}
WRONG_TEXTS = {
    "empty": b"",
    "cut": b'{"version": 0, "fields": {"answer"',
    "not UTF-8": b'{"version": 0, "fields": {"answer": "\xff\xfe"}}',
    "half a character": b'{"version": 0, "fields": {"answer": "\\ud800"}}',
    "NaN": b'{"version": 0, "fields": {"answer": NaN}}',
    "Infinity": b'{"version": 0, "fields": {"answer": [-Infinity]}}',
    "1e999": b'{"version": 0, "fields": {"answer": 1e999}}',
    "deep": b'{"version": 0, "fields": {"answer": ' + b"[" * 100_000 + b"]" * 100_000 + b"}}",
}


BODIES = {name: json.dumps(body).encode() for name, body in WRONG.items()} | WRONG_TEXTS


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_body_of_another_shape_is_refused_in_words(ann: Client, body: bytes) -> None:
    kind = {"Content-Type": "application/json"}
    for method, address in (("PUT", ""), ("POST", "/commit")):
        found = ann.request(method, f"/api/notes/11{address}", content=body, headers=kind)
        assert found.status_code == 422
        assert isinstance(found.json()["error"], str)
        assert 3 < len(found.json()["error"]) < 400
    assert ann.post("/api/reader", content=body, headers=kind).status_code == 422
    if b'"fields"' in body:  # an undo has none
        assert ann.post("/api/notes/11/undo", content=body, headers=kind).status_code == 422
    assert ann.get("/api/notes/11").json()["version"] == 0


def test_a_body_beyond_a_megabyte_is_refused_before_it_is_read(ann: Client) -> None:
    long = json.dumps({"version": 0, "fields": {str(at): "a" * 30_000 for at in range(60)}}).encode()
    for content in (long, iter([long])):
        found = ann.put("/api/notes/12", content=content, headers={"Content-Type": "application/json"})
        assert found.status_code == 413
        assert "1,048,576 bytes at most" in found.json()["error"]


KEYS = (
    "..", "%2e%2e", "..%2f..%2fetc%2fpasswd", "....//....//etc/passwd", "%00", "1%00", "a%0d%0ab",
    "41", "-1", "01", "1'--", "<script>", "👍", "a" * 3000,
)  # fmt: skip


@pytest.mark.parametrize("key", KEYS)
def test_a_key_is_one_of_the_jobs_own_or_nothing(ann: Client, key: str) -> None:
    for address in (
        f"/notes/{key}",
        f"/api/notes/{key}",
        f"/api/notes/{key}/history",
        f"/static/{key}",
        f"/{key}",
    ):
        found = ann.get(address)
        assert found.status_code in (200, 404)
        if found.status_code == 200:  # a path with dots that the client itself shortened
            assert ".." in key
        assert "<script>" not in found.text.replace('<script src="/static/', "")
        assert "root:" not in found.text
    assert ann.put(f"/api/notes/{key}", json=text(0, "a")).status_code in (404, 405)


@pytest.mark.parametrize(
    "name", ["review.sqlite", "../app.py", "..%2fapp.py", "frame.html.j2", "report.html.j2", ""]
)
def test_only_scripts_and_styles_are_served_as_files(ann: Client, name: str) -> None:
    assert ann.get(f"/static/{name}").status_code == 404
    assert ann.get("/static/report.css").headers["content-type"].startswith("text/css")


def test_addresses_are_asked_in_their_own_way(ann: Client) -> None:
    for method, address in (
        ("DELETE", "/api/notes/1"),
        ("PATCH", "/api/notes/1"),
        ("POST", "/api/notes/1"),
        ("PUT", "/notes/1"),
        ("POST", "/"),
        ("GET", "/api/notes/1/commit"),
    ):
        assert ann.request(method, address).status_code == 405, (method, address)
    assert ann.head("/notes/1").status_code == 200
    assert not ann.head("/notes/1").content


def test_text_of_people_is_never_markup(server: Served, bo: Client) -> None:
    hostile = "</textarea><script>alert(1)</script>\"' onfocus=alert(1) {{ 7 * 7 }} \x1b[31m"
    bo.put("/api/notes/20", json=text(0, hostile))
    page = bo.get("/notes/20").text
    assert "<script>alert" not in page
    assert "&lt;/textarea&gt;&lt;script&gt;" in page
    assert "{{ 7 * 7 }}" in page


# The real command.


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pack") / "licences-pack"
    write_pack(draw_pack(load_benchmark("licences"), per_stratum=1), folder)
    return folder


@contextmanager
def command(pack: Path, tmp_path: Path, port: int = 0, *more: str) -> Iterator[tuple[Any, str, str]]:
    """`leadline review serve` as a process of its own: the process, its URL, its token."""
    started = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "leadline",
            "review",
            "serve",
            "--pack",
            str(pack),
            "--port",
            str(port),
            *more,
        ],
        stdout=subprocess.PIPE,
        stderr=(tmp_path / "stderr").open("a"),
        text=True,
        env={**os.environ, "LEADLINE_CACHE": str(tmp_path / "cache")},
    )
    try:
        assert started.stdout is not None
        line = started.stdout.readline()
        assert line, (tmp_path / "stderr").read_text()
        yield started, line.partition("/?")[0], token_in(line)
    finally:
        started.kill()
        started.wait(20)


WRONGLY_NAMED = {
    "nothing": ([], "nothing was named to work on"),
    "a pack that is not there": (["--pack", "nowhere"], "nowhere"),
    "a reader that is an escape": (["--pack", "nowhere", "--reader", "a\x1b[31mb"], "--reader: is no name"),
    "flags without their items": (["--flags", "flags.jsonl"], "a list of flags holds no items"),
    "a benchmark without sources": (["facts"], "there is nothing to do"),
}


@pytest.mark.parametrize(("named", "words"), WRONGLY_NAMED.values(), ids=WRONGLY_NAMED)
def test_what_cannot_be_served_is_said_in_one_line_and_leaves_nothing_behind(
    named: list[str], words: str, tmp_path: Path
) -> None:
    found = subprocess.run(
        [sys.executable, "-m", "leadline", "review", "serve", "--port", "0", *named],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=60,
        check=False,
    )
    assert found.returncode == 2
    assert found.stderr.startswith("error: ")
    assert found.stderr.count("\n") == 1
    assert words in found.stderr
    assert not found.stdout
    assert list(tmp_path.iterdir()) == []


def test_what_was_answered_200_is_there_after_the_server_was_killed(pack: Path, tmp_path: Path) -> None:
    with command(pack, tmp_path) as (process, url, token), closing(Client(url, token, "Ann")) as ann:
        keys = [row.token for row in draw_pack(load_benchmark("licences"), per_stratum=1).rows]
        for version in range(20):
            assert (
                ann.put(f"/api/annotate/{keys[0]}", json=text(version, f"text {version}")).status_code == 200
            )
        done = {"version": 0, "fields": {"unsettled": True}}
        assert ann.post(f"/api/annotate/{keys[1]}/commit", json=done).status_code == 200
        process.send_signal(signal.SIGKILL)
        process.wait(20)
        cookies = dict(ann.cookies)
    port = int(url.rpartition(":")[2])
    with command(pack, tmp_path, port) as (process, again, new):
        assert again == url
        assert new != token
        with closing(Client(url, new, "Ann")) as ann:
            assert ann.get(f"/api/annotate/{keys[0]}").json()["fields"] == {"answer": "text 19"}
            assert ann.get(f"/api/annotate/{keys[1]}").json()["committed"]
            assert "1 of" in ann.get("/").text
            # A page that was open all the time goes on: it has only its cookies.
            ann.cookies.clear()
            for name, value in cookies.items():
                ann.cookies.set(name, value)
            assert ann.put(f"/api/annotate/{keys[0]}", json=text(20, "text 20")).status_code == 200
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130, "Ctrl-C ends it"
    said = (tmp_path / "stderr").read_text()
    assert "Traceback" not in said
    assert token not in said
    assert f"answers are kept in {pack / 'review'}" in said


def test_a_pack_that_was_answered_on_the_pages_is_the_sheet_that_is_scored(
    pack: Path, tmp_path: Path
) -> None:
    import shutil

    own = tmp_path / "pack"
    shutil.copytree(pack, own, ignore=shutil.ignore_patterns("review", "sheets"))
    wanted, _ = what_is_wanted(ServeOptions(pack=own))
    assert wanted.benchmark is None, "no key is in the process"
    drafts = Drafts(wanted.folder / "review.sqlite")
    jobs = [made for offer in OFFERS if (made := offer(wanted, drafts)) is not None]
    drawn = draw_pack(load_benchmark("licences"), per_stratum=1)
    with served(jobs, drafts) as server, closing(server.client("Ann")) as ann:
        problem = ann.post(f"/api/annotate/{drawn.rows[0].token}/commit", json=text(0, "")).json()
        assert problem["problems"]
        for row in drawn.rows:
            at = ann.get(f"/api/annotate/{row.token}").json()["version"]
            fields = {"unsettled": True, "note": "=1+1, as it says", "quote": "  some words "}
            found = ann.post(f"/api/annotate/{row.token}/commit", json={"version": at, "fields": fields})
            assert found.status_code == 200
        path = sheet_of(own, "Ann")
        filled = read_sheet(drawn, path)
        assert {(each.answer, each.quote, each.note) for each in filled.answers.values()} == {
            ("?", "some words", "=1+1, as it says")
        }
        # A sheet that somebody changed by hand is not lost when the page writes it anew.
        by_hand = path.read_text(encoding="utf-8").replace("some words", "OTHER words")
        path.write_text(by_hand, encoding="utf-8", newline="")
        key = drawn.rows[0].token
        at = ann.get(f"/api/annotate/{key}").json()["version"]
        fields = {"unsettled": True, "note": "changed"}
        assert (
            ann.post(f"/api/annotate/{key}/commit", json={"version": at, "fields": fields}).status_code == 200
        )
        assert read_sheet(drawn, path).answers[key].note == "changed"
        (aside,) = path.parent.glob("*.replaced")
        assert "OTHER words" in aside.read_text(encoding="utf-8")


def test_what_a_page_sends_beside_a_text_reaches_the_job_and_is_kept_in_no_draft(tmp_path: Path) -> None:
    job = Seeing()
    with served([job], Drafts(tmp_path / "review.sqlite")) as server, closing(server.client()) as ann:
        refused = ann.post("/api/notes/1/commit", json=text(0, "sand", beside={"seen": "2"}))
        assert refused.status_code == 422 and refused.json()["problems"] == {"": "seen 2"}
        assert ann.get("/api/notes/1").json()["fields"] == {"answer": "sand"}
        assert ann.post("/api/notes/1/commit", json=text(1, "sand", beside={"seen": "1"})).json()["committed"]
        assert job.kept == [("1", "Ann", {"answer": "sand", "seen": "1"})]
        assert ann.get("/api/notes/1").json()["fields"] == {"answer": "sand"}
        versions = ann.get("/api/notes/1/history").json()["versions"]
        assert all("seen" not in each["fields"] for each in versions)


class Seeing(Notes):
    """Takes an answer from a page that shows one thing, and from no other."""

    def problems(self, key: str, reader: str, fields: Mapping[str, Any]) -> Mapping[str, str]:
        seen = fields.get("seen")
        return {} if seen == "1" else {"": f"seen {seen}"}


def test_a_commit_that_comes_behind_a_newer_text_of_its_page_is_refused_in_words(tmp_path: Path) -> None:
    job = Notes()
    with served([job], Drafts(tmp_path / "review.sqlite")) as server, closing(server.client()) as ann:
        ann.put("/api/notes/1", json=text(0, "newer", page="p", edit=2))
        late = ann.post("/api/notes/1/commit", json=text(0, "older", page="p", edit=1))
        assert late.status_code == 409 and "you have written on since" in late.json()["error"]
        assert ann.get("/api/notes/1").json()["fields"] == {"answer": "newer"} and not job.kept


def test_no_list_of_entries_is_made_to_keep_a_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = Notes()
    with served([job], Drafts(tmp_path / "review.sqlite")) as server, closing(server.client()) as ann:
        asked: list[str] = []
        monkeypatch.setattr(Notes, "has", lambda self, key: asked.append(key) or key == "1")
        monkeypatch.setattr(Notes, "entries", lambda self: pytest.fail("all entries were listed"))
        assert ann.put("/api/notes/1", json=text(0, "sand")).status_code == 200
        assert ann.put("/api/notes/7", json=text(0, "sand")).status_code == 404
    assert asked == ["1", "7"]


def test_names_that_look_alike_have_sheets_of_their_own_and_what_is_in_a_sheet_stays(
    pack: Path, tmp_path: Path
) -> None:
    import shutil

    own = tmp_path / "pack"
    shutil.copytree(pack, own, ignore=shutil.ignore_patterns("review", "sheets"))
    read = read_pack(own)
    first, second, third = (row.token for row in read.rows[:3])

    def answers(folder: str, reader: str, token: str, answer: str) -> None:
        made = annotating.AnnotateJob(read, own, drafts := Drafts(tmp_path / folder / "review.sqlite"))
        sent = Sent(0, {"answer": answer})
        drafts.commit("annotate", token, reader, sent, lambda draft: made.commit(token, reader, draft))

    answers("one", "Ann Lee", first, "sand")
    answers("one", "Ann-Lee", first, "rock")
    answers("two", "ann  lee", second, "clay")  # another review folder, the same reader
    sheet = sheet_of(own, "Ann Lee")
    found = read_begun_sheet(read, sheet).answers
    assert (found[first].answer, found[second].answer, found[third].answer) == ("sand", "clay", "")
    assert read_begun_sheet(read, sheet_of(own, "Ann-Lee")).answers[first].answer == "rock"
    assert len(list((own / "sheets").iterdir())) == 2, "nothing had to be set aside"
    answers("three", "Ann Lee", first, "gravel")  # over what is not known to come from there
    assert read_begun_sheet(read, sheet).answers[first].answer == "gravel"
    (aside,) = (own / "sheets").glob("*.replaced")
    assert read_begun_sheet(read, aside).answers[first].answer == "sand"


def test_where_answers_go_is_told_as_a_plain_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my-study").mkdir()
    monkeypatch.chdir(tmp_path)
    through = Path("my-study") / ".." / "my-bench" / "review"
    assert "answers are kept in my-bench/review" in greeting([], through, "127.0.0.1")
    monkeypatch.chdir("my-study")
    assert f"answers are kept in {tmp_path / 'my-bench' / 'review'}" in greeting(
        [], Path("..") / "my-bench" / "review", "127.0.0.1"
    )


def test_a_name_that_the_command_was_given_keeps_its_first_spelling(pack: Path, tmp_path: Path) -> None:
    import shutil

    own = tmp_path / "pack"
    shutil.copytree(pack, own, ignore=shutil.ignore_patterns("review", "sheets"))
    token = read_pack(own).rows[0].token
    Drafts(own / "review" / "review.sqlite").save("annotate", token, "Ana", Sent(0, {"answer": "sand"}))
    with (
        command(own, tmp_path, 0, "--reader", "ana") as (_, url, token_of_it),
        closing(Client(url, token_of_it, reader="")) as ana,
    ):
        assert ana.get(f"/api/annotate/{token}").json()["fields"] == {"answer": "sand"}
