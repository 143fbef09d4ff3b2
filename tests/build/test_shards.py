"""Shards as they are found: whatever is wrong with one is counted by kind, and the rest of it is read."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import json
import lzma
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from leadline.build.presence import unpacking
from leadline.build.presence.scanner import Scanner, ShardHits
from leadline.build.presence.shards import Faults, Lines, blocks
from leadline.build.presence.unpacking import CutShort, Damaged, unpacked

from .real_inputs import DATA, needs_data

SENTENCE = "The Treaty of Lisbon was signed on 13 December 2007 in the Jerónimos Monastery."
PACK: dict[str, Callable[[bytes], bytes]] = {
    ".zst": lambda data: bytes(zstandard.ZstdCompressor().compress(data)),
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}


def document(number: int) -> bytes:
    return json.dumps({"id": f"d{number}", "text": f"{number}. {SENTENCE}"}).encode() + b"\n"


def scan(path: Path) -> ShardHits:
    return Scanner([SENTENCE], ["exact"]).scan(path)


def hits(found: ShardHits) -> int:
    return found.hits[0]["exact"].occurrences if found.hits else 0


def test_lines_that_are_no_documents_are_counted_by_kind_with_the_first_of_each(tmp_path: Path) -> None:
    path = tmp_path / "shard.jsonl"
    odd = [
        b"",
        b"   ",
        b"not JSON",
        b"[1, 2]",
        b'"a string"',
        b'{"id": "no text"}',
        b'{"id": 1, "text": null}',
        b'{"id": 2, "text": ["a", "list"]}',
        b'{"id": 3, "meta": {"text": 7}}',
        b'{"id": 4, "text": "cut in the mid',
        b"7",
    ]
    path.write_bytes(document(0) + b"\n".join(odd) + b"\n" + document(1))
    found = scan(path)
    assert found.faults.counts == {"blank": 2, "broken": 2, "not-object": 3, "no-text": 4}
    assert found.faults.first == {"blank": 2, "broken": 4, "not-object": 5, "no-text": 7}
    assert (found.documents, hits(found)) == (2, 2)


def test_a_line_that_only_looks_like_a_document_is_found_out_when_it_hits(tmp_path: Path) -> None:
    path = tmp_path / "shard.jsonl"
    line = b'{"id": 1, "text": "' + SENTENCE.encode() + b'" trailing}\n'
    path.write_bytes(line + document(1) + document(2)[:-1].replace(b"Treaty", b"Tre\xffaty"))
    found = scan(path)
    assert found.faults.counts == {"broken": 1}
    assert hits(found) == 1


def test_other_columns_never_count_as_text(tmp_path: Path) -> None:
    path = tmp_path / "shard.jsonl"
    path.write_text(json.dumps({"id": "x", "title": SENTENCE, "text": "Something else."}) + "\n")
    found = scan(path)
    assert (found.documents, hits(found), found.faults.counts) == (1, 0, {})


@pytest.mark.parametrize("suffix", PACK)
def test_a_packed_shard_is_read_whole_and_a_cut_one_up_to_the_cut(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"shard.jsonl{suffix}"
    # Numbers that no packing makes small, so that the cut falls among them.
    lines = [document(n).replace(b'"id"', f'"x": "{hash_of(n)}", "id"'.encode()) for n in range(20_000)]
    packed = PACK[suffix](b"".join(lines))
    path.write_bytes(packed)
    whole = scan(path)
    assert (hits(whole), whole.faults.counts) == (20_000, {})
    path.write_bytes(packed + PACK[suffix](document(7)))
    assert hits(scan(path)) == 20_001, "files of several members, as pigz and pzstd write them"
    path.write_bytes(packed[: len(packed) // 2])
    cut = scan(path)
    assert cut.faults.counts == {"cut": 1}
    assert hits(cut) < 12_000
    assert hits(cut) > 4_000 or suffix == ".bz2"  # whose blocks are large
    assert hits(cut) == cut.documents
    path.write_bytes(packed[:-1])
    assert scan(path).faults.counts == {"cut": 1}
    path.write_bytes(packed[: len(packed) // 2] + b"\0\1\2\3" * 8 + packed[len(packed) // 2 + 32 :])
    counts = scan(path).faults.counts
    assert counts["damaged"] == 1 and set(counts) <= {"damaged", "broken"}


def hash_of(number: int) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest()


def test_a_name_that_says_something_else_than_the_file_holds_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "shard.jsonl.gz"
    path.write_bytes(PACK[".zst"](document(0)))
    found = scan(path)
    assert (hits(found), found.faults.counts) == (1, {"other-packing": 1})
    path = tmp_path / "shard.jsonl"
    path.write_bytes(PACK[".gz"](document(0)))
    assert scan(path).faults.counts == {"other-packing": 1}


def test_empty_and_missing_shards_are_counted(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "empty.jsonl.zst").write_bytes(PACK[".zst"](b""))
    assert scan(tmp_path / "empty.jsonl").faults.counts == {"empty": 1}
    assert scan(tmp_path / "empty.jsonl.zst").faults.counts == {"empty": 1}
    assert scan(tmp_path / "gone.jsonl").faults.counts == {"unreadable": 1}
    assert scan(tmp_path).faults.counts == {"unreadable": 1}


def test_a_mark_of_byte_order_and_line_ends_of_windows_are_no_faults(tmp_path: Path) -> None:
    path = tmp_path / "shard.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + document(0).replace(b"\n", b"\r\n") + document(1))
    found = scan(path)
    assert (hits(found), found.faults.counts) == (2, {})


def test_a_parquet_file_without_text_or_cut_is_reported(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "shard.parquet"
    parquet.write_table(pyarrow.table({"body": [SENTENCE]}), path)
    assert scan(path).faults.counts == {"no-text-column": 1}
    parquet.write_table(pyarrow.table({"text": [SENTENCE, None], "n": [1, 2]}), path)
    found = scan(path)
    assert (hits(found), found.faults.counts) == (1, {"no-text": 1})
    assert found.hits[0]["exact"].sample == ["shard.parquet:1"]
    path.write_bytes(path.read_bytes()[:-10])
    assert scan(path).faults.counts == {"damaged": 1}


@needs_data
def test_real_shards_of_dolma_are_read_and_what_is_none_is_told(tmp_path: Path) -> None:
    dolma = DATA / "dolma"
    counts = {path.name: scan(path).faults.counts for path in sorted(dolma.glob("*.*"))}
    assert counts == {
        "000.json.gz": {},
        "cc_en_head-0091.jsonl.gz": {},
        "cc_en_head-0174.jsonl.gz": {},
        "sample-0000.warc.gz": {"warc": 1},
        "test.jsonl.zst": {"no-text": 1},
    }
    for path in (dolma / "attributes").iterdir():
        attributes = scan(path)
        assert attributes.documents == 0
        assert set(attributes.faults.counts) == {"no-text"}
    first = json.loads(gzip.decompress((dolma / "000.json.gz").read_bytes()).splitlines()[0])
    sentence = next(line for line in first["text"].splitlines() if len(line) > 60)
    found = Scanner([sentence]).scan(dolma / "000.json.gz")
    assert found.hits[0]["exact"].sample == [first["id"]]


def test_blocks_are_whole_lines_and_number_them(tmp_path: Path) -> None:
    path = tmp_path / "shard.jsonl"
    lines = [b'{"text": "' + b"x" * (1 + number * 37 % 5000) + b'"}\n' for number in range(3000)]
    path.write_bytes(b"".join(lines))
    number = 1
    content = b""
    for block in blocks(path, Faults()):
        assert isinstance(block, Lines)
        assert block.first == number
        assert block.data.endswith(b"\n")
        number += block.data.count(b"\n")
        content += block.data
    assert content == path.read_bytes()


_MEMORY = """
import re, sys
from pathlib import Path
from leadline.build.presence.scanner import Scanner
# What getrusage says of a process includes the one that started it.
most = lambda: int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
scanner = Scanner([sys.argv[2]])
scanner.scan(Path(sys.argv[1]) / "small.jsonl")
before = most()
found = scanner.scan(Path(sys.argv[1]) / "long.jsonl.zst")
print(found.faults.counts, found.documents, found.hits[0]["exact"].occurrences, (most() - before) // 1024)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc to measure memory")
def test_a_line_of_200_megabytes_is_passed_over_within_bounded_memory(tmp_path: Path) -> None:
    (tmp_path / "small.jsonl").write_bytes(document(0))
    with (
        (tmp_path / "long.jsonl.zst").open("wb") as file,
        zstandard.ZstdCompressor().stream_writer(file) as packed,
    ):
        packed.write(document(0) + b'{"id": "long", "text": "')
        for _ in range(200):
            packed.write(b"many words " * 95_325)
        packed.write(b'"}\n' + document(2))
    done = subprocess.run(
        [sys.executable, "-c", _MEMORY, str(tmp_path), SENTENCE], capture_output=True, text=True, check=True
    )
    counts, documents, found, megabytes = done.stdout.replace("{'too-long': 1}", "too-long").split()
    assert (counts, documents, found) == ("too-long", "2", "2")
    assert int(megabytes) < 150


def test_a_gigabyte_packed_into_little_is_unpacked_piece_by_piece(tmp_path: Path) -> None:
    path = tmp_path / "bomb.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(50):
            file.write(bytes(1 << 20))
    assert max(map(len, unpacked(path))) <= 1 << 20
    assert sum(map(len, unpacked(path))) == 50 << 20


def test_gzip_is_read_alike_with_and_without_isal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "shard.jsonl.gz"
    data = b"".join(map(document, range(5000)))
    path.write_bytes(gzip.compress(data))
    for there in (True, False):
        if not there:
            monkeypatch.setattr(unpacking, "find_spec", lambda name: None)
        assert b"".join(unpacked(path)) == data
        cut = tmp_path / "cut.gz"
        cut.write_bytes(path.read_bytes()[:-3])
        with pytest.raises(CutShort):
            list(unpacked(cut))
        cut.write_bytes(path.read_bytes()[:2000] + bytes(300) + path.read_bytes()[2300:])
        with pytest.raises(Damaged):
            list(unpacked(cut))


def test_a_file_written_by_the_zstd_program_is_read(tmp_path: Path) -> None:
    program = shutil.which("zstd")
    if program is None:
        pytest.skip("needs the program zstd")
    path = tmp_path / "shard.jsonl"
    path.write_bytes(b"".join(map(document, range(9_000))))
    subprocess.run([program, "-q", "-19", "--long=28", str(path)], check=True)
    assert hits(scan(tmp_path / "shard.jsonl.zst")) == 9_000
