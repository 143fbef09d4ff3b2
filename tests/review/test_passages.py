"""Documents for readers: slices that join, offsets that hold, searches that find, and nothing that blocks."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.bench import load_benchmark
from leadline.documents import MAX_BYTES, Document, Sources, UnreadableDocument
from leadline.review.passages import (
    SLICE,
    Documents,
    NoSuchDocument,
    documents_of,
    slice_at,
    slice_from,
    slice_until,
)
from leadline.review.searching import MOST_HITS, search
from tests.review.hard_documents import NEEDLE, ODD, write_hard


@pytest.fixture(scope="module")
def hard(tmp_path_factory: pytest.TempPathFactory) -> Documents:
    folder = tmp_path_factory.mktemp("sources")
    write_hard(folder)
    return Documents(Sources(folder))


def text_of(documents: Documents, name: str) -> str:
    opened = documents.open(documents.names.index(name))
    assert opened is not None
    return opened.text


def forwards(text: str) -> list[str]:
    parts, at = [], 0
    while at < len(text):
        part = slice_from(text, at)
        assert part.start == at and part.text == text[part.start : part.end] and part.end > at
        parts.append(part.text)
        at = part.end
    return parts


def backwards(text: str) -> list[str]:
    parts, at = [], len(text)
    while at > 0:
        part = slice_until(text, at)
        assert part.end == at and part.text == text[part.start : part.end] and part.start < at
        parts.insert(0, part.text)
        at = part.start
    return parts


@pytest.mark.parametrize("name", ["odd.txt", "line.txt", "deep/page.htm", "packed.txt.gz"])
def test_slices_join_to_the_whole_text_both_ways(hard: Documents, name: str) -> None:
    text = text_of(hard, name)
    assert "".join(forwards(text)) == text == "".join(backwards(text))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(["a", "b ", "\r\n", "\n", "e\u0301", "👩‍👧", "🇳🇴", "\u05d0\u05b8", "\t"]), max_size=60
    ),
    st.integers(1, 9000),
)
def test_no_slice_parts_what_a_reader_sees_as_one(pieces: list[str], times: int) -> None:
    text = "".join(pieces) * times
    for part in (*forwards(text[:400_000])[:-1],):
        assert len(part) <= SLICE
        assert not part.endswith(("\r", "\u200d")), "a line end or an emoji is parted"
    # An empty line begins with a line end of its own: "\r" at the end of a part tells a parted one.
    for part in forwards(text[:400_000])[1:]:
        assert not part.startswith(("\u0301", "\u05b8", "\u200d")) or part[0] == text[0]


def test_a_text_with_lines_is_cut_where_lines_begin() -> None:
    text = "".join(f"line {number} of the text\n" for number in range(20_000))
    assert all(part.endswith("\n") for part in forwards(text))
    opened = slice_at(text, 300_000)
    assert opened.start < 300_000 < opened.end and text[opened.start - 1] == "\n"


def test_offsets_count_characters_and_the_checksum_is_that_of_the_bytes(hard: Documents) -> None:
    number = hard.names.index("odd.txt")
    opened = hard.open(number)
    assert opened is not None and opened.text == ODD
    data = (hard.sources.folder / "odd.txt").read_bytes()
    assert opened.sha256 == hashlib.sha256(data).hexdigest()
    assert opened.text.index("compass") == data.decode().index("compass") == 6


def test_a_document_without_text_and_a_number_without_a_document_are_told_apart(hard: Documents) -> None:
    with pytest.raises(UnreadableDocument):
        hard.open(hard.names.index("binary.bin"))
    for number in (-1, len(hard.names), 10**30):
        with pytest.raises(NoSuchDocument, match="0 to 5"):
            hard.open(number)


def test_a_document_that_was_changed_is_read_again(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one")
    documents = Documents(Sources(tmp_path))
    before = documents.open(0)
    (tmp_path / "a.txt").write_text("another")
    os.utime(tmp_path / "a.txt", ns=(1, 1))
    after = documents.open(0)
    assert before is not None and after is not None
    assert (before.text, after.text) == ("one", "another") and before.sha256 != after.sha256
    (tmp_path / "a.txt").unlink()
    with pytest.raises(UnreadableDocument, match="not among the sources"):
        documents.open(0)


@dataclass(frozen=True)
class Disturbed(Sources):
    """Sources that somebody works on: each of `then` is done once, when a document was just read."""

    then: list[Callable[[Path], None]] = field(default_factory=list)

    def read(self, path: Path, *, max_bytes: int = MAX_BYTES) -> Document:
        found = super().read(path, max_bytes=max_bytes)
        if self.then:
            self.then.pop(0)(path)
        return found


def writes(text: str) -> Callable[[Path], None]:
    return lambda path: (path.write_text(text), None)[1]


def test_the_checksum_is_that_of_the_text_where_the_file_is_written_meanwhile(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one")
    held = Documents(Disturbed(tmp_path, [writes("another")])).open(0)
    assert held is not None and held.text == "another"
    assert held.sha256 == hashlib.sha256(b"another").hexdigest()


def test_a_file_that_is_written_all_the_time_is_none_yet(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one")
    documents = Documents(Disturbed(tmp_path, [writes("two " * n) for n in range(2, 5)]))
    with pytest.raises(UnreadableDocument, match="is being written"):
        documents.open(0)
    held = documents.open(0)
    assert held is not None and held.text == "two " * 4


def test_what_is_not_the_document_s_fault_is_tried_again(tmp_path: Path) -> None:
    def fails(path: Path) -> None:
        raise MemoryError

    (tmp_path / "a.txt").write_text("one")
    documents = Documents(Disturbed(tmp_path, [fails]))
    with pytest.raises(MemoryError):
        documents.open(0)
    held = documents.open(0)
    assert held is not None and held.text == "one"


def test_the_folder_is_never_left(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / "link.txt").symlink_to(tmp_path / "secret.txt")
    (tmp_path / "sources" / ".hidden").write_text("hidden")
    documents = Documents(Sources(tmp_path / "sources"))
    assert documents.names == ()
    assert documents.number_of("../secret.txt") is None and documents.number_of("/etc/passwd") is None


def test_names_and_pointers_lead_to_the_same_number() -> None:
    documents = documents_of(load_benchmark("licences"))
    assert documents is not None
    number = documents.number_of("GPL-3.0.txt")
    assert number is not None and documents.names[number] == "GPL-3.0.txt"
    assert documents.number_of("sources/GPL-3.0.txt") == number


def test_few_documents_are_kept_in_memory(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"{number}.txt").write_text(f"{number}" * 30_000_000)
    documents = Documents(Sources(tmp_path))
    for number in range(5):
        documents.open(number)
    assert len(documents._reading) == 2
    first = documents.open(0)
    assert first is not None and first.text[0] == "0"


def test_case_blanks_and_kinds_of_signs_do_not_matter_in_a_search() -> None:
    text = "The Licensee’s  rights\r\nend — on “notice”.  THE LICENSEE'S rights."
    assert [hit.text for hit in search(text, "the licensee's rights").hits] == [
        "The Licensee’s  rights",
        "THE LICENSEE'S rights",
    ]
    assert search(text, 'end - on "notice"').hits[0].start == text.index("end")
    assert search(text, "right s").hits == () and search(text, " \n ").hits == ()


def test_a_search_stops_after_its_budget_and_goes_on_from_there() -> None:
    text = "a word here. " * 400
    hits, at, asked = [], 0, 0
    while at is not None:
        found = search(text, "WORD", at)
        assert len(found.hits) <= MOST_HITS
        hits += found.hits
        at, asked = found.next, asked + 1
    assert [hit.start for hit in hits] == [2 + 13 * number for number in range(400)] and asked == 8
    big = "x" * 3_000_000 + "needle"
    once = search(big, "needle", seconds=0.0)
    assert once.next is not None and once.searched < len(big) and not once.hits


@pytest.mark.parametrize("at", [0, 262_100, 262_140, 262_144, 500_000])
def test_a_hit_that_lies_across_two_blocks_is_found_once(at: int) -> None:
    text = "é" * at + "the   needle" + "é" * 300_000
    found = search(text, "The Needle", seconds=9)
    assert [(hit.start, hit.end) for hit in found.hits] == [(at, at + 12)]


def test_blanks_without_end_cost_a_search_no_more_than_letters() -> None:
    text = "a" + " " * 3_000_000 + "c"
    begun = time.perf_counter()
    assert search(text, "a b", seconds=30).hits == ()
    assert time.perf_counter() - begun < 3


def test_what_stands_in_a_line_of_five_million_characters_is_found(hard: Documents) -> None:
    text = text_of(hard, "line.txt")
    (hit,) = search(text, "Needle LIES 🧭", seconds=9).hits
    assert text[hit.start : hit.end] == "needle lies 🧭"
    assert NEEDLE in slice_at(text, hit.start).text


def test_200_megabytes_are_read_aside_and_then_shown_at_once(
    tmp_path: Path, record_property: pytest.RecordProperty
) -> None:
    row = "The Licensee shall, within thirty (30) days — “the cure period” — remedy breach %06d of §4.\n"
    with (tmp_path / "big.txt").open("w") as file:
        size = 0
        for block in range(420):
            size += file.write("".join(row % (5_000 * block + number) for number in range(5_000)))
        file.write(NEEDLE)
    assert (tmp_path / "big.txt").stat().st_size > 200_000_000
    documents = Documents(Sources(tmp_path))
    begun = time.perf_counter()
    assert documents.open(0, 0.0) is None
    assert time.perf_counter() - begun < 0.5
    opened = documents.open(0)
    assert opened is not None
    reading = time.perf_counter() - begun
    slowest = 0.0
    for share in range(10):
        begun = time.perf_counter()
        again = documents.open(0, 0.0)
        assert again is not None
        part = slice_at(again.text, share * len(again.text) // 9)
        slowest = max(slowest, time.perf_counter() - begun)
        assert part.text == opened.text[part.start : part.end]
    assert slowest < 0.2
    begun = time.perf_counter()
    at, asked, longest = 0, 0, 0.0
    while at is not None:
        before = time.perf_counter()
        found = search(opened.text, NEEDLE, at)
        longest, asked, at = max(longest, time.perf_counter() - before), asked + 1, found.next
    assert found.hits[-1].end == len(opened.text) and longest < 1.5
    for name, value in (
        ("reading_s", reading),
        ("slice_s", slowest),
        ("search_s", time.perf_counter() - begun),
    ):
        record_property(name, round(value, 4))
    print(
        f"read {reading:.2f} s, slice {1000 * slowest:.1f} ms, search {time.perf_counter() - begun:.2f} s "
        f"in {asked} requests of {1000 * longest:.0f} ms at most"
    )
