"""The label job over HTTP: documents by number and never by path, hostile requests refused in words, and
what was answered with 200 is there after a kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from leadline.documents import Sources
from leadline.review.drafts import Drafts, Sent
from leadline.review.labelling import LabelJob
from leadline.review.labels import FILE, Label, add_label, read_labels
from leadline.review.passages import Documents
from leadline.review.places import DRAFTS
from leadline.review.questions import Question
from leadline.review.quotes import mark
from tests.review.pages import Client, Served, served, token_in

TEXT = "You may cure the violation prior to 30 days after the notice. 🧭 North.\n"
NAME = "<img src=x onerror=alert(1)> & 'so'.txt"
SECRET = "this stands outside of the sources"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("very-private-place")
    (place / "sources").mkdir()
    (place / "sources" / NAME).write_text(TEXT)
    (place / "sources" / "binary.bin").write_bytes(bytes(range(256)) * 20)
    (place / "secret.txt").write_text(SECRET)
    return place


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[tuple[Served, LabelJob]]:
    drafts = Drafts(folder / DRAFTS)
    job = LabelJob(Documents(Sources(folder / "sources")), folder, drafts)
    with served([job], drafts) as at:
        yield at, job


@pytest.fixture(scope="module")
def client(server: tuple[Served, LabelJob]) -> Client:
    return server[0].client()


def quote(client: Client, start: int, end: int, text: str, number: int = 0) -> httpx2.Response:
    return client.post(f"/api/documents/{number}/quote", json={"start": start, "end": end, "text": text})


def test_a_document_is_told_with_its_name_its_length_and_its_checksum(client: Client) -> None:
    told = client.get("/api/documents/0", params={"at": 10}).json()
    assert (told["text"], told["start"], told["end"], told["total"]) == (TEXT, 0, len(TEXT), len(TEXT))
    assert told["name"] == NAME and len(told["sha256"]) == 64


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/documents/2", 404),
        ("/api/documents/99999999999999999999999999", 404),
        (f"/api/documents/{'1' * 5000}", 404),
        ("/api/documents/\u0661", 404),
        ("/api/documents/-1", 404),
        ("/api/documents/1", 422),
        ("/api/documents/..%2fsecret.txt", 404),
        ("/api/documents/%2e%2e/secret.txt", 404),
        ("/api/documents/0%00", 404),
        ("/api/documents/0/../../secret.txt", 404),
        ("/label/..%2f..%2fsecret.txt", 404),
        ("/label/%2e%2e%2f%2e%2e%2fetc%2fpasswd", 404),
        ("/api/label/..%2f..%2fsecret.txt", 404),
        ("/static/..%2f..%2flabels.py", 404),
        ("/api/documents/0?at=-1", 422),
        ("/api/documents/0?at=ten", 422),
        ("/api/documents/0?at=1&from=2", 422),
        ("/api/documents/0?from=99999999999999999999999", 422),
        ("/api/documents/0/search", 422),
        ("/api/documents/0/search?q=%20%20", 422),
        ("/api/documents/0/search?q=a&from=x", 422),
        ("/api/documents/0/search?q=" + "a" * 1001, 422),
        ("/api/documents/0/quote", 405),
    ],
)
def test_what_makes_no_sense_is_refused_and_tells_nothing(
    client: Client, folder: Path, path: str, status: int
) -> None:
    answer = client.get(path)
    assert answer.status_code == status
    assert SECRET not in answer.text and "very-private-place" not in answer.text


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"{}", b'{"start": "0", "end": 3, "text": "You"}', b'{"start": 0, "end": 3}', b"\xff\xfe",
     b'{"start": 0, "end": 3, "text": "You", "more": 1}', b'{"start": -1, "end": 3, "text": "You"}',
     b'{"start": 0, "end": 3, "text": "\\ud83e"}', b'{"start": 1e400, "end": 3, "text": "You"}',
     b"[" * 100_000],
)  # fmt: skip
def test_a_quote_of_another_shape_is_refused_in_words(client: Client, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    answer = client.post("/api/documents/0/quote", content=body, headers=headers)
    assert answer.status_code == 422 and answer.json()["error"]


def test_a_marked_quote_is_compared_with_the_document_at_once(client: Client) -> None:
    start = TEXT.index("North")
    kept = quote(client, start, start + 5, "North").json()
    assert kept["quote"]["quote"] == "North" and kept["quote"]["start"] == start and not kept["widened"]
    shifted = quote(client, start + 1, start + 6, "North")  # as if the compass were two characters
    assert shifted.status_code == 422 and "is not what stands" in shifted.json()["error"]


def test_a_page_that_is_elsewhere_cannot_ask(server: tuple[Served, LabelJob]) -> None:
    url, body = server[0].url, {"start": 0, "end": 3, "text": "You"}
    assert httpx2.get(f"{url}/api/documents/0").status_code == 401
    other = server[0].client()
    for path, sent in (("/api/documents/0/quote", body), ("/api/new-item", {})):
        assert other.post(path, json=sent, headers={"Origin": "https://evil.example"}).status_code == 403
    assert other.get("/api/documents/0", headers={"Host": "evil.example"}).status_code == 403


def test_a_document_that_is_being_read_says_so_and_nobody_waits(server: tuple[Served, LabelJob]) -> None:
    at, job = server
    documents = Documents(job.documents.sources)
    slow = LabelJob(documents, job.folder, at.drafts)
    for _ in range(2):
        documents._readers.acquire()
    with served([slow], at.drafts) as other:
        client = other.client()
        answers = [client.get("/api/documents/0") for _ in range(3)]
        assert [(answer.status_code, answer.json()) for answer in answers] == [(202, {"reading": True})] * 3
        assert quote(client, 0, 3, "You").status_code == 202
        assert client.get("/label").status_code == 200
        for _ in range(2):
            documents._readers.release()
        threading.Event().wait(0.2)
        assert client.get("/api/documents/0").json()["text"] == TEXT


def test_names_of_files_are_text_in_the_page(client: Client, server: tuple[Served, LabelJob]) -> None:
    page = client.get(f"/label/{server[1].begin('Ann')}").text
    assert "<img" not in page and "&lt;img src=x onerror=alert(1)&gt; &amp; &#39;so&#39;.txt" in page


@pytest.mark.parametrize(
    "fields",
    [
        {"quotes": "x", "answer": ["y"], "question": {"z": 1}, "unsettled": "perhaps"},
        {"quotes": [1, None, {"document": "0"}], "answer_type": "poem", "task": 7},
        {"quotes": [{"document": 10**15, "name": NAME}], "choices": 5, "aliases": [[]]},
        {
            "question": "\x1b[2J</textarea><script>alert(1)</script>",
            "answer": "\u202e",
            "answer_type": "enum",
        },
    ],
)
def test_a_draft_may_hold_anything_and_the_page_still_opens(
    client: Client, server: tuple[Served, LabelJob], fields: dict[str, Any]
) -> None:
    key = server[1].begin("Ann")
    assert client.put(f"/api/label/{key}", json={"version": 1, "fields": fields}).status_code == 200
    page = client.get(f"/label/{key}")
    assert page.status_code == 200 and "<script>alert" not in page.text
    refused = client.post(f"/api/label/{key}/commit", json={"version": 2, "fields": fields})
    assert refused.status_code == 422 and refused.json()["problems"]
    assert client.get("/label?show=all").status_code == 200


def test_whoever_says_no_name_begins_no_item(server: tuple[Served, LabelJob]) -> None:
    nobody = server[0].client("")
    assert nobody.post("/api/new-item", json={}).status_code == 403


def label_of(key: str) -> Label:
    said = {"id": key, "question": f"{key}?", "answer": "yes", "reader": "Ann", "date": "2026-05-04"}
    return Label.model_validate(said)


def test_labels_of_questions_from_a_file_are_no_new_items(tmp_path: Path) -> None:
    """Ids of a file may be anything; here they are answered first, and then items are written without it."""
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / "a.txt").write_text(TEXT)
    documents, drafts = Documents(Sources(tmp_path / "sources")), Drafts(tmp_path / DRAFTS)
    asked = Question(id="lic/MIT 1", question="How long?")
    first = LabelJob(documents, tmp_path, drafts, (asked,))
    drafts.save("label", first.entries()[0].key, "", Sent(0, {"answer": "thirty"}, by="Ann"))
    for key in ("lic/MIT 1", "plain-id", "new"):
        add_label(tmp_path / FILE, label_of(key))
    job = LabelJob(documents, tmp_path, drafts)
    own = job.begin("Ann")
    assert [entry.key for entry in job.entries()] == [own, "new"]
    with served([job], drafts) as at:
        assert at.client().get("/").status_code == 200 and at.client().get("/label").status_code == 200


def test_a_label_that_stands_is_shown_whatever_was_undone(
    client: Client, server: tuple[Served, LabelJob]
) -> None:
    key = server[1].begin("Ann")
    start = TEXT.index("30 days")
    fields = {
        "question": "How long?", "answer": "30 days exactly",
        "quotes": [quote(client, start, start + 7, "30 days").json()["quote"]],
    }  # fmt: skip
    done = client.post(f"/api/label/{key}/commit", json={"version": 1, "fields": fields}).json()
    undone = client.post(f"/api/label/{key}/undo", json={"version": done["version"]}).json()
    assert undone["committed"] is False
    page = client.get(f"/label/{key}").text
    assert "Committed by Ann" in page and '<q dir="auto">30 days exactly</q>' in page
    assert read_labels(server[1].folder / FILE)[key].answer == "30 days exactly"


def test_a_commit_opens_no_document_within_its_transaction(tmp_path: Path) -> None:
    """Reading one may take longer than other readers' saves wait."""
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / "a.txt").write_text(TEXT)
    documents, drafts = Documents(Sources(tmp_path / "sources")), Drafts(tmp_path / DRAFTS)
    held = documents.open(0)
    assert held is not None
    kept = mark(held, 0, 3, "You").quote.model_dump()
    job = LabelJob(documents, tmp_path, drafts)
    key = job.begin("Ann")
    draft = drafts.save("label", key, "", Sent(1, {"question": "Who?", "answer": "you", "quotes": [kept]}))
    assert job.problems(key, "Ann", draft.fields) == {}
    (tmp_path / "sources" / "a.txt").unlink()  # what was compared a moment ago counts
    job.commit(key, "Ann", draft)
    assert [proof.source for proof in read_labels(tmp_path / FILE)[key].evidence] == ["a.txt"]


def test_a_file_whose_name_is_no_utf_8_does_not_take_the_pages_away(tmp_path: Path) -> None:
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / os.fsdecode(b"caf\xe9.txt")).write_text(TEXT)
    drafts = Drafts(tmp_path / DRAFTS)
    job = LabelJob(Documents(Sources(tmp_path / "sources")), tmp_path, drafts)
    with served([job], drafts) as at:
        page = at.client().get(f"/label/{job.begin('Ann')}")
        assert page.status_code == 200 and "caf?.txt" in page.text
        assert at.client().get("/api/documents/0").json()["text"] == TEXT
        refused = quote(at.client(), 0, 3, "You")
        assert refused.status_code == 422 and "another name" in refused.json()["error"]


class Process:
    """`leadline review serve` as a process of its own."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-m", "leadline.cli.app", "review", "serve", "licences", "--port", "0"]
        self.process = subprocess.Popen(
            [*command, "--into", str(folder)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env={**os.environ, "LEADLINE_CACHE": str(folder / "cache")},
        )  # fmt: skip
        assert self.process.stdout is not None
        line = self.process.stdout.readline().strip()
        self.client = Client(line.partition("/?")[0], token_in(line))

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def test_a_kill_loses_nothing_that_was_answered(tmp_path: Path) -> None:
    first = Process(tmp_path)
    try:
        key, other, begun = (first.client.post("/api/new-item", json={}).json()["key"] for _ in range(3))
        number = json.loads(first.client.get("/api/documents/15").text)
        at = number["text"].index("GNU")
        kept = quote(first.client, at, at + 3, "GNU", 15).json()["quote"]
        done = {"question": "Whose licence?", "answer": "the GNU project's", "quotes": [kept]}
        answer = first.client.post(f"/api/label/{key}/commit", json={"version": 1, "fields": done})
        assert answer.status_code == 200
        saved = {"question": "Half a question", "quotes": [kept]}
        assert (
            first.client.put(f"/api/label/{other}", json={"version": 1, "fields": saved}).status_code == 200
        )
    finally:
        first.kill()
    second = Process(tmp_path)
    try:
        assert second.client.get(f"/api/label/{other}").json()["fields"] == saved
        assert second.client.get(f"/api/label/{key}").json()["committed"] is True
        late = {"version": 1, "fields": {"question": "Typed while the server was away"}}
        assert second.client.put(f"/api/label/{begun}", json=late).status_code == 200
    finally:
        second.kill()
    assert read_labels(tmp_path / FILE)[key].answer == "the GNU project's"
