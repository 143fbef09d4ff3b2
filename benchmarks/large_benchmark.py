"""How much memory a large benchmark takes: 100,000 items, windows of 3 kB, sources of 50 kB.

    python benchmarks/large_benchmark.py [--items 100000] [--sources 2000] [--keep FOLDER]

Makes the benchmark in a temporary folder, once with its windows inline and once in files, and measures in
fresh processes how large they become at most. Several items share a source, as in real benchmarks; what is
streamed does not depend on that.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

LIMIT_MB = 1024
_HEADER = """\
name: large
version: "1"
tasks:
  - {name: payment, category: money, answer_type: number, unit: USD, precision: 0.01}
"""
# Typographic quotes and dashes: Python keeps such a text in two bytes a character.
_TEXT = "the party of this “Agreement” shall – as set out below – pay not more than amount within days of"
_WORDS = tuple(_TEXT.split(" "))
_WAYS = ("stream", "load", "load and hash")


def make(folder: Path, items: int, sources: int, *, in_files: bool) -> None:
    """Write the benchmark to `folder`."""
    draw = random.Random(0)
    (folder / "sources").mkdir(parents=True)
    (folder / "windows").mkdir()
    (folder / "benchmark.yaml").write_text(_HEADER, encoding="utf-8")
    documents = []
    for number in range(sources):
        text = " ".join(draw.choices(_WORDS, k=12_000))[:50_000]
        documents.append(text[:20_000])
        (folder / "sources" / f"{number}.txt").write_text(text, encoding="utf-8")
    with (folder / "items.jsonl").open("w", encoding="utf-8") as file:
        for number in range(items):
            document = documents[number % sources]
            start = draw.randrange(len(document) - 3000)
            window = document[start : start + 3000]
            entry: dict[str, object] = {
                "id": f"item-{number}",
                "task": "payment",
                "question": f"How much is due under clause {number}?",
                "answer": number,
                "quote": window[1000:1100],
                "source": f"{number % sources}.txt",
            }
            if in_files:
                (folder / "windows" / f"{number}.txt").write_text(window, encoding="utf-8")
                entry["window_file"] = f"{number}.txt"
            else:
                entry["window"] = window
            file.write(json.dumps(entry, ensure_ascii=False) + "\n")


def run(folder: str, way: str) -> dict[str, Any]:
    """Read the benchmark one way, in this process: items, peak memory in MB, seconds."""
    from leadline.bench import load_benchmark, open_stream

    started = time.perf_counter()
    if way == "stream":
        items = sum(1 for _ in open_stream(folder))
    else:
        benchmark = load_benchmark(folder)
        items = len(benchmark.items)
        if way == "load and hash":
            assert benchmark.content_hash
    seconds = time.perf_counter() - started
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # bytes on macOS
    return {"items": items, "peak_mb": kilobytes // 1024, "seconds": round(seconds, 1)}


def measure(items: int, sources: int, keep: Path | None = None) -> list[dict[str, Any]]:
    """Every way of reading, with windows inline and in files, each in a process of its own."""
    found = []
    with tempfile.TemporaryDirectory() as temporary:
        for windows in ("inline", "files"):
            folder = (keep or Path(temporary)) / windows
            if not folder.exists():
                # In another process: what this one has held would count as its children's.
                _child("--make", str(folder), windows, str(items), str(sources))
            for way in _WAYS:
                done = _child("--run", str(folder), way)
                found.append({"windows": windows, "way": way, **json.loads(done)})
    return found


def _child(*arguments: str) -> str:
    command = [sys.executable, __file__, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def main() -> None:
    """Make, measure, print; exit code 1 where a process grew beyond the limit."""
    parser = argparse.ArgumentParser(description="Measure the memory that a large benchmark takes.")
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--sources", type=int, default=2_000)
    parser.add_argument("--keep", type=Path, help="make it here, and use it again the next time")
    parser.add_argument("--run", nargs=2, metavar=("FOLDER", "WAY"), help=argparse.SUPPRESS)
    parser.add_argument("--make", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.make:
        folder, windows, items, sources = arguments.make
        make(Path(folder), int(items), int(sources), in_files=windows == "files")
        return
    if arguments.run:
        print(json.dumps(run(*arguments.run)))
        return
    found = measure(arguments.items, arguments.sources, arguments.keep)
    for row in found:
        print("{windows:8} {way:14} {items:>9,} items {peak_mb:>6,} MB {seconds:>7} s".format(**row))
    sys.exit(any(row["peak_mb"] > LIMIT_MB for row in found))


if __name__ == "__main__":
    main()
