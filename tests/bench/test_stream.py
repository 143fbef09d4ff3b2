"""Streams: the same items as loading gives, with their places, and next to nothing in memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from leadline.bench import bundled_names, load_benchmark, open_stream
from leadline.errors import UsageError
from tests.bench.folders import fact, folder


@pytest.mark.parametrize("name", bundled_names())
def test_a_stream_gives_what_loading_gives(name: str) -> None:
    stream, benchmark = open_stream(name), load_benchmark(name)
    assert [placed.item for placed in stream] == list(benchmark.items)
    assert [placed.item.id for placed in stream] == list(benchmark.by_id)  # a second time as well
    assert stream.folder is not None and (stream.folder / "benchmark.yaml").is_file()
    assert stream.header.version == benchmark.version


def test_places_are_files_and_lines(tmp_path: Path) -> None:
    path = folder(
        tmp_path,
        b'\n{"id": "a", "question": "Q?", "answer": "A"}\n\n{"id": "b", "question": "Q?", "answer": "A"}',
    )
    assert [placed.where for placed in open_stream(path)] == [
        f"{path}/items.jsonl:2",
        f"{path}/items.jsonl:4",
    ]
    bare = open_stream(path / "items.jsonl")
    assert bare.folder is None and bare.header.name == "items"


def test_the_first_fault_ends_it_after_the_items_before_it(tmp_path: Path) -> None:
    path = folder(tmp_path, [fact("a"), fact("a"), fact("b")])
    items = iter(open_stream(path))
    assert next(items).item.id == "a"
    with pytest.raises(UsageError, match=r"items\.jsonl:2: item a: duplicate id, first used on line 1"):
        next(items)


def test_faults_of_the_header_and_of_the_place_come_at_once(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"benchmark\.yaml:2: unknown key"):
        open_stream(folder(tmp_path, [fact("a")], "name: x\nversoin: '1'\n"))
    with pytest.raises(UsageError, match="did you mean 'facts'"):
        open_stream("fatcs")
    with pytest.raises(UsageError, match=r"items\.jsonl:1: the file holds no items"):
        list(open_stream(folder(tmp_path, b"\n")))
    (tmp_path / "items.jsonl").unlink()
    with pytest.raises(UsageError, match=r"items\.jsonl: does not exist"):
        open_stream(tmp_path)


def test_a_stream_of_many_items_stays_small(tmp_path: Path) -> None:
    """400 MB of windows pass through; benchmarks/large_benchmark.py measures the full size."""
    path = folder(tmp_path, [fact("a")])
    window = "x" * 40_000
    with (path / "items.jsonl").open("w", encoding="utf-8") as file:
        for number in range(10_000):
            file.write(f'{{"id": "{number}", "question": "Q?", "answer": "A", "window": "{window}"}}\n')
    code = (
        "import resource, sys; from leadline.bench import open_stream; import polars\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "print(sum(1 for _ in open_stream(sys.argv[1])))\n"
        "print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    items, grown = map(int, done.stdout.split())
    assert items == 10_000 and grown < 40  # MB; ru_maxrss counts in KB on Linux, in bytes on macOS
