"""A blind pack: drawn by stratum under a seed, blind in every file, written whole, and checked when read."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.bench import Benchmark, load_benchmark
from leadline.errors import UsageError
from leadline.review.pack import draw_pack, items_of
from leadline.review.pack_files import read_pack, write_pack
from tests.review.packs import HOSTILE, SECRETS, a_pack, benchmark


def drawn_ids(whole: Benchmark, **how: int) -> set[str]:
    pack = draw_pack(whole, **how)
    return {item.id for item in items_of(pack, whole).values()}


def test_each_stratum_has_its_rows_and_small_ones_are_whole() -> None:
    whole = load_benchmark("licences")
    pack = draw_pack(whole, per_stratum=8)
    there = Counter((item.category, item.answer_type) for item in whole.items)
    taken = Counter((item.category, item.answer_type) for item in items_of(pack, whole).values())
    assert taken == {stratum: min(8, number) for stratum, number in there.items()}
    assert {(one.category, one.answer_type): (one.items, one.drawn) for one in pack.head.strata} == {
        stratum: (there[stratum], taken[stratum]) for stratum in there
    }


def test_the_draw_depends_on_seed_and_content_not_on_the_order_of_the_file() -> None:
    whole = benchmark()
    again = whole.with_items(tuple(reversed(whole.items)))
    first = draw_pack(whole, per_stratum=5, seed=3)
    assert draw_pack(again, per_stratum=5, seed=3).rows == first.rows
    assert draw_pack(whole, per_stratum=5, seed=4).rows != first.rows
    assert drawn_ids(whole, per_stratum=5, seed=4) != drawn_ids(whole, per_stratum=5, seed=3)


@settings(max_examples=20, deadline=None)
@given(small=st.integers(1, 19), more=st.integers(1, 10), seed=st.integers(0, 10**6))
def test_a_larger_pack_keeps_the_items_of_a_smaller_one(small: int, more: int, seed: int) -> None:
    whole = benchmark()
    assert drawn_ids(whole, per_stratum=small, seed=seed) <= drawn_ids(
        whole, per_stratum=small + more, seed=seed
    )


def test_rows_are_shuffled() -> None:
    whole = benchmark()
    order = [
        int(item.id.split("-")[1]) for item in items_of(draw_pack(whole, per_stratum=99), whole).values()
    ]
    assert order != sorted(order)
    ascents = sum(one < other for one, other in pairwise(order))
    assert 0.3 < ascents / len(order) < 0.7


def test_no_spreadsheet_takes_a_token_for_a_number_or_a_word() -> None:
    tokens = [row.token for seed in range(30) for row in draw_pack(benchmark(), seed=seed).rows]
    assert all(re.fullmatch("[bcdfghjkmnpqrstv]{16}", token) for token in tokens)


def test_no_file_of_a_pack_holds_anything_of_the_key(tmp_path: Path) -> None:
    pack = a_pack(tmp_path / "pack", per_stratum=99, author="A. Author")
    assert len(pack.rows) == 60
    held = {path: path.read_text("utf-8-sig") for path in (tmp_path / "pack").rglob("*") if path.is_file()}
    assert len(held) == 60 + len(("pack.json", "rows.jsonl", "sheet.csv", "index.html", "PROTOCOL.md"))
    assert any("clause 5" in text for text in held.values())
    found = [(path.name, word) for path, text in held.items() for word in SECRETS if word in text.casefold()]
    assert found == []


def test_texts_are_inert_in_every_file(tmp_path: Path) -> None:
    pack = a_pack(tmp_path / "pack", per_stratum=99)
    page = (tmp_path / "pack" / pack.rows[0].page).read_text("utf-8")
    assert "&lt;script&gt;document.title" in page and "script-src" not in page.split("</head>")[0]
    assert "default-src &#39;none&#39;" in page
    for path in (tmp_path / "pack").rglob("*.html"):
        assert "<script" not in path.read_text("utf-8")
    named = Benchmark(name="<script>x</script>", version="1", items=benchmark().items)
    write_pack(draw_pack(named), tmp_path / "named")
    assert "<script" not in (tmp_path / "named" / "PROTOCOL.md").read_text("utf-8")
    sheet = (tmp_path / "pack" / "sheet.csv").read_bytes()
    assert sheet.startswith(b"\xef\xbb\xbf") and b"\x1b" not in sheet
    assert b"'=What does clause 1 say?" in sheet


def test_a_pack_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    written = a_pack(tmp_path / "pack", author=" A.  Author ")
    assert read_pack(tmp_path / "pack") == written
    assert written.head.author == "A. Author"
    assert HOSTILE in (written.rows[0].view.window or "")
    assert [path.name for path in tmp_path.iterdir()] == ["pack"]


@pytest.mark.parametrize(
    ("name", "old", "new", "told"),
    [
        ("pages/003.html", "It says what", "It says not what", "pages/003.html: was changed"),
        ("rows.jsonl", "It says what", "It says not what", "rows.jsonl: was changed"),
        ("PROTOCOL.md", "Leave no row blank", "Leave rows blank", "PROTOCOL.md: was changed"),
        ("pack.json", '"format": "leadline-pack/1"', '"format": "other"', "pack.json: format"),
        ("pack.json", "{", "", "pack.json: is no JSON"),
        ("pack.json", '"pages/001.html"', '"../001.html"', "names a file outside of the pack"),
    ],
)
def test_a_changed_pack_is_refused_with_the_file(
    tmp_path: Path, name: str, old: str, new: str, told: str
) -> None:
    a_pack(tmp_path / "pack")
    file = tmp_path / "pack" / name
    assert old in file.read_text("utf-8")
    file.write_text(file.read_text("utf-8").replace(old, new), "utf-8")
    with pytest.raises(UsageError, match=re.escape(told)):
        read_pack(tmp_path / "pack")


def test_rows_that_were_changed_with_their_checksum_are_still_found(tmp_path: Path) -> None:
    a_pack(tmp_path / "pack")
    rows, head = tmp_path / "pack" / "rows.jsonl", tmp_path / "pack" / "pack.json"
    told = json.loads(head.read_text("utf-8"))
    del told["files"]["rows.jsonl"]
    head.write_text(json.dumps(told), "utf-8")
    rows.write_text(rows.read_text("utf-8").replace("It says what", "It says not what", 1), "utf-8")
    with pytest.raises(UsageError, match=r"rows.jsonl:1: is not what was drawn"):
        read_pack(tmp_path / "pack")


def test_a_folder_that_holds_something_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="is not empty"):
        a_pack(tmp_path / "pack")
    assert [path.name for path in (tmp_path / "pack").iterdir()] == ["mine.txt"]
    (tmp_path / "empty").mkdir()
    assert len(a_pack(tmp_path / "empty").rows) == 36


def test_a_pack_belongs_to_the_content_that_it_was_drawn_from(tmp_path: Path) -> None:
    whole = benchmark()
    pack = a_pack(tmp_path / "pack", whole)
    first = whole.items[0]
    relabelled = whole.with_items((first.model_copy(update={"answer": "another"}), *whole.items[1:]))
    with pytest.raises(UsageError, match="the pack was drawn from clauses 1"):
        items_of(pack, relabelled)
