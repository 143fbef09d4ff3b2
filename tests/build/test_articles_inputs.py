"""Inputs of every form are read in blocks that give the same pages together; what is broken is said."""

from __future__ import annotations

import bz2
import gzip
import json
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

pytest.importorskip("mwxml", reason="building needs the 'build' extra")

import itertools

import polars
import zstandard

from leadline.build.articles import blocks, dump, json_lines, parquet
from leadline.build.articles.blocks import Block, Form, blocks_of
from leadline.build.articles.page import Fault, Page
from leadline.build.articles.taking_apart import taken_apart
from leadline.errors import LeadlineError, UsageError
from tests.build.test_articles import Listening, articles, built, dropped

HEADER = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.10/" version="0.10" xml:lang="de">
  <siteinfo><sitename>Wikipedia</sitename>
    <namespaces><namespace key="0" /><namespace key="6">Datei</namespace></namespaces>
  </siteinfo>
"""
WORDS = "Die Birne ist eine Frucht und wächst in Gärten. " * 3


def xml(number: int, text: str = WORDS) -> str:
    return (
        f"  <page>\n    <title>Birne {number}</title>\n    <ns>0</ns>\n    <id>{number}</id>\n"
        f"    <revision>\n      <id>{number}</id>\n      <timestamp>2022-03-01T00:00:00Z</timestamp>\n"
        f"      <text>{text} &lt;page&gt;</text>\n    </revision>\n  </page>\n"
    )


def whole(pages: int = 40) -> str:
    return HEADER + "".join(xml(number) for number in range(pages)) + "</mediawiki>\n"


def read(found: Iterable[Block]) -> list[Page | Fault]:
    readers = {"xml": dump.pages, "jsonl": json_lines.pages, "parquet": parquet.pages}
    return [page for block in found for page in readers[block.form](block)]


def ids(found: Iterable[Page | Fault]) -> list[str]:
    return [page.id if isinstance(page, Page) else f"{page.where}: {page.what}" for page in found]


def multistream(text: bytes, cuts: Iterable[int]) -> bytes:
    places = [0, *cuts, len(text)]
    return b"".join(bz2.compress(text[a:b]) for a, b in itertools.pairwise(places))


FORMS: dict[str, Callable[[bytes], bytes]] = {
    "d.xml": lambda text: text,
    "d.xml.bz2": lambda text: multistream(text, range(1_000, len(text), 1_000)),  # in the midst of pages
    "one.xml.bz2": lambda text: bz2.compress(text, 1),
    "d.xml.gz": gzip.compress,
    "d.xml.zst": lambda text: b"".join(
        zstandard.compress(text[at : at + 5_000]) for at in range(0, len(text), 5_000)
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_blocks_of_a_dump_give_its_pages_once_each(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    path.write_bytes(FORMS[name](whole().encode()))
    assert ids(read(blocks_of(path, "xml") or [])) == [str(number) for number in range(40)]
    monkeypatch.setattr(blocks, "PLAIN_BYTES", 777)
    monkeypatch.setattr(blocks, "PACKED_BYTES", 100)
    found = blocks_of(path, "xml")
    if name in {"d.xml", "d.xml.bz2"}:
        assert found is not None
        assert len(found) > 5
    else:  # it can be read from its beginning only
        assert found is None
        found, faults = taken_apart(path, "xml", tmp_path / "pieces", piece=2_000)
        assert len(found) > 3
        assert not faults
        assert taken_apart(path, "xml", tmp_path / "pieces", piece=2_000) == (found, faults)
    assert ids(read(found)) == [str(number) for number in range(40)]


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst"])
def test_blocks_of_json_lines_give_their_pages_once_each(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [json.dumps({"id": number, "title": "Pear", "text": "é" * number}) for number in range(1, 60)]
    text = "\n".join(lines).encode()  # the last line has no end
    path = tmp_path / name
    path.write_bytes(text if name == "a.jsonl" else FORMS[f"d.xml.{name.rpartition('.')[2]}"](text))
    expected = [str(number) for number in range(1, 60)]
    assert ids(read(blocks_of(path, "jsonl") or [])) == expected
    monkeypatch.setattr(blocks, "PACKED_BYTES", 10)
    for size in (50, 97, 1_000):
        monkeypatch.setattr(blocks, "PLAIN_BYTES", size)
        found = blocks_of(path, "jsonl") or taken_apart(path, "jsonl", tmp_path / str(size), piece=size)[0]
        assert len(found) > 2
        assert ids(read(found)) == expected


def test_a_parquet_file_is_read_in_blocks_of_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.parquet"
    rows = [str(number) for number in range(25)]
    polars.DataFrame({"id": rows, "url": rows, "title": rows, "text": rows}).write_parquet(path)
    monkeypatch.setattr(blocks, "ROWS", 10)
    found = blocks_of(path, "parquet") or []
    assert [(block.start, block.stop) for block in found] == [(0, 10), (10, 20), (20, 25)]
    assert ids(read(found)) == rows


def test_names_of_files_in_the_wikis_own_language_show_nothing(tmp_path: Path) -> None:
    path = tmp_path / "d.xml"
    path.write_text(HEADER + xml(1, f"[[Datei:B.jpg|mini|Eine [[Birne]]]]{WORDS}") + "</mediawiki>", "utf-8")
    here = built(tmp_path, dump="d.xml", language="de", min_words=5)
    assert articles(here)[0].text.startswith("Die Birne ist")


@pytest.mark.parametrize("name", ["d.xml", "d.xml.gz", "one.xml.bz2", "d.xml.zst"])
def test_a_dump_that_is_cut_off_keeps_what_was_read_and_says_so(name: str, tmp_path: Path) -> None:
    damage = "midst of a page" if name == "d.xml" else "midst of compressed data"
    text = "".join([HEADER, *(xml(number, f"{WORDS} {number * 7919}" * 9) for number in range(150))])
    data = FORMS[name](text.encode())
    (tmp_path / name).write_bytes(data[: int(len(data) * 0.98)])
    told = Listening()
    here = built(tmp_path, dump=name, min_words=5, told=told)
    assert here.counts()["faults"] == 1
    assert damage in told.lines[-1]
    assert f"{name}:" in told.lines[-1]
    assert len(articles(here)) > 60


def test_a_broken_page_is_lost_alone_with_its_line(tmp_path: Path) -> None:
    odd = [
        xml(2).replace("<id>2</id>", "<id>two</id>"),
        xml(3).replace("</title>", "</titel>"),
        xml(4).replace("<timestamp>2022-03-01T00:00:00Z</timestamp>", "<timestamp>yesterday</timestamp>"),
        "  <page><title>x</title><ns>0</ns><id>5</id></page>\n",
        xml(6).replace("<text>", "<text>\x08"),
    ]
    (tmp_path / "d.xml").write_text(HEADER + xml(1) + "".join(odd) + xml(7) + "</mediawiki>", "utf-8")
    told = Listening()
    here = built(tmp_path, dump="d.xml", min_words=5, told=told)
    assert [article.id for article in articles(here)] == ["1", "7"]
    assert [page.reason for page in dropped(here)] == ["broken"] * 5
    # The header has 4 lines, a page 10.
    assert [line.partition(": ")[0].rpartition("/")[2] for line in told.lines] == [
        "d.xml:15", "d.xml:25", "d.xml:35", "d.xml:45", "d.xml:46",
    ]  # fmt: skip
    assert not any(str(tmp_path) in page.detail for page in dropped(here))


def test_a_damaged_stream_costs_its_block_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = bytearray(FORMS["d.xml.bz2"](whole(200).encode()))
    monkeypatch.setattr(blocks, "PACKED_BYTES", len(data) // 4)
    (tmp_path / "d.xml.bz2").write_bytes(data)
    middle = len(data) // 2
    data[middle : middle + 40] = b"\0" * 40
    (tmp_path / "d.xml.bz2").write_bytes(data)
    told = Listening()
    here = built(tmp_path, dump="d.xml.bz2", min_words=5, told=told)
    kept = [int(article.id) for article in articles(here)]
    assert 120 < len(kept) < 200
    assert {0, 199} <= set(kept)
    assert here.counts()["faults"] == len(told.lines) >= 1
    assert "cannot be unpacked" in told.lines[0]


def test_lines_that_are_no_pages_are_counted_and_named(tmp_path: Path) -> None:
    good = json.dumps({"id": "1", "title": "Pear", "text": WORDS})
    bad = [
        "{",
        "[1]",
        '{"id": 2}',
        '{"id": 3, "title": ["a"], "text": "b"}',
        '"x"',
        r'{"id":"\ud800","title":"a","text":"b"}',
    ]
    (tmp_path / "a.jsonl").write_text("\n".join([good, *bad, "", good]), "utf-8")
    told = Listening()
    here = built(tmp_path, jsonl="a.jsonl", min_words=5, told=told)
    assert here.counts()["dropped"] == {"broken": 6}
    assert here.counts()["kept"] == 2
    assert [line.partition(": ")[0].rpartition("/")[2] for line in told.lines] == [
        f"a.jsonl:{n}" for n in range(2, 8)
    ]


@pytest.mark.parametrize(
    ("form", "name", "data", "said"),
    [
        ("parquet", "a.parquet", b"PAR1 no", "is no Parquet file"),
        ("dump", "a.xml", b"<html></html>", "is no MediaWiki export"),
        ("dump", "a.xml.bz2", b"no bz2 at all", "cannot be unpacked"),
        ("dump", "a.xml.gz", b"", "is no MediaWiki export"),
        ("dump", "a.xml.zst", b"no zstd at all, really", "cannot be unpacked"),
        ("jsonl", "a.jsonl", b"\xff\xfe\n", "no JSON"),
    ],
)
def test_a_file_of_another_kind_is_said_and_ends_in_one_line(
    form: str, name: str, data: bytes, said: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(data)
    told = Listening()
    with pytest.raises(LeadlineError, match="no page became an article"):
        built(tmp_path, told=told, **{form: name})
    assert any(said in line and name in line for line in told.lines)


def test_a_parquet_file_without_the_columns_says_which_it_has(tmp_path: Path) -> None:
    polars.DataFrame({"id": [1], "body": ["x"]}).write_parquet(tmp_path / "a.parquet")
    told = Listening()
    with pytest.raises(LeadlineError):
        built(tmp_path, parquet="a.parquet", told=told)
    assert "lacks the columns title, text; it has id, body" in told.lines[0]


def test_a_file_that_is_not_there_is_the_users_mistake(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text("articles:\n  dump: none.xml.bz2\n")
    with pytest.raises(UsageError, match=r"none\.xml\.bz2"):
        built(tmp_path, dump="none.xml.bz2")


@pytest.mark.parametrize("form", ["xml", "jsonl"])
def test_a_limit_takes_the_first_pages_whatever_the_blocks(
    form: Form, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = [{"id": str(number), "title": "Pear", "text": WORDS} for number in range(40)]
    text = whole() if form == "xml" else "\n".join(map(json.dumps, pages))
    (tmp_path / f"a.{form}").write_text(text, "utf-8")
    key = "dump" if form == "xml" else "jsonl"
    for size in (1_000, 1_000_000):
        monkeypatch.setattr(blocks, "PLAIN_BYTES", size)
        here = built(tmp_path / str(size), min_words=5, limit=17, **{key: str(tmp_path / f"a.{form}")})
        assert [article.id for article in articles(here)] == [str(number) for number in range(17)]
