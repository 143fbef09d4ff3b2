"""The documents that a benchmark holds."""

from __future__ import annotations

import json
import os
import pickle
from pathlib import Path

import pytest

from leadline.documents import Sources, UnreadableDocument
from leadline.errors import LeadlineError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "bench" / "sources"
    (folder / "filings" / "2024").mkdir(parents=True)
    (folder / ".cache").mkdir()
    for name in ("b.txt", "a.htm", "filings/2024/c.txt", ".hidden.txt", ".cache/d.txt", "index.jsonl"):
        (folder / name).write_text(f"text of {name}", encoding="utf-8")
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    return folder


def test_documents_are_listed_below_the_folder_without_hidden_files_and_the_index(folder: Path) -> None:
    assert Sources(folder).names() == ["a.htm", "b.txt", "filings/2024/c.txt"]
    assert Sources.of(folder.parent).names() == Sources(folder).names()


def test_a_name_is_found_with_or_without_the_folder_before_it(folder: Path) -> None:
    sources = Sources(folder)
    expected = folder / "filings" / "2024" / "c.txt"
    for pointer in (
        "filings/2024/c.txt",
        "sources/filings/2024/c.txt",
        " filings/2024/c.txt ",
        "filings//2024/c.txt",
    ):
        assert sources.find(pointer) == expected
    assert sources.path("b.txt") == folder / "b.txt"
    assert sources.read(sources.path("b.txt")).text == "text of b.txt"


@pytest.mark.parametrize(
    "pointer",
    [
        "",
        ".",
        "..",
        "../../secret.txt",
        "sources/../../../secret.txt",
        "filings/../b.txt",
        "/etc/passwd",
        "filings",
        "none.txt",
        ".hidden.txt",
        ".cache/d.txt",
        "index.jsonl",
        "b.txt/x",
        "x" * 5000,
        "a\0b",
        "https://example.org/b.txt",
        "file:///etc/passwd",
    ],
)
def test_nothing_else_is_found(folder: Path, pointer: str) -> None:
    assert Sources(folder).find(pointer) is None
    with pytest.raises(UnreadableDocument, match="is not among the sources"):
        Sources(folder).path(pointer)


def test_links_are_followed_within_the_folder_and_never_out_of_it(folder: Path) -> None:
    (folder / "in.txt").symlink_to("b.txt")
    (folder / "out.txt").symlink_to("../../secret.txt")
    (folder / "chain.txt").symlink_to("out.txt")
    (folder / "up").symlink_to("..")
    (folder / "around").symlink_to(".")
    (folder / "dead.txt").symlink_to("none")
    (folder / "loop.txt").symlink_to("loop.txt")
    sources = Sources(folder)
    assert sources.names() == ["a.htm", "b.txt", "filings/2024/c.txt", "in.txt"]
    for name in ("out.txt", "chain.txt", "dead.txt", "up/../../secret.txt", "up/x"):
        assert sources.find(name) is None
    assert sources.find("in.txt") == folder / "in.txt"


def test_a_folder_that_is_itself_a_link_is_a_folder(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(folder)
    sources = Sources(tmp_path / "link")
    assert len(sources.names()) == 3 and sources.find("b.txt") is not None


def test_pipes_are_no_documents(folder: Path) -> None:
    os.mkfifo(folder / "pipe.txt")
    assert "pipe.txt" not in Sources(folder).names()
    assert Sources(folder).find("pipe.txt") is None


def test_a_url_is_found_by_the_index_by_its_own_and_its_last_name(folder: Path) -> None:
    lines = [
        {"url": "https://a.example/1", "fetched": "", "file": "a.htm", "final_url": "https://a.example/2"},
        {"url": "https://a.example/3", "fetched": "", "error": "404"},
        {"url": "https://a.example/4", "fetched": "", "file": "b.txt"},
        {"url": "https://a.example/4", "fetched": "", "file": "a.htm"},
        {"url": "https://a.example/5", "fetched": "", "file": "b.txt"},
        {"url": "https://a.example/5", "fetched": "", "error": "404"},
    ]
    (folder / "index.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = {number: Sources(folder).find(f"https://a.example/{number}") for number in range(1, 7)}
    names = {number: path.name if path else None for number, path in found.items()}
    assert names == {1: "a.htm", 2: "a.htm", 3: None, 4: "a.htm", 5: "b.txt", 6: None}


def test_a_copy_for_another_process_is_the_path_alone(folder: Path) -> None:
    url = "https://a.example/" + "x" * 1000
    (folder / "index.jsonl").write_text(json.dumps({"url": url, "fetched": "", "file": "b.txt"}) + "\n")
    sources = Sources(folder)
    assert sources.find(url) is not None
    copy = pickle.dumps(sources)
    assert len(copy) < 400
    assert pickle.loads(copy).find(url) == folder / "b.txt"


def test_a_missing_folder_holds_nothing(tmp_path: Path) -> None:
    sources = Sources(tmp_path / "none")
    assert sources.names() == []
    assert sources.find("a.txt") is None and sources.find("https://a.example/") is None


def test_a_folder_that_is_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "sources").write_text("text")
    with pytest.raises(LeadlineError, match="cannot be listed"):
        Sources(tmp_path / "sources").names()
