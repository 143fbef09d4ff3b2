"""How fast the audit is, and how much memory it takes, on benchmarks of made-up filings.

    python benchmarks/audit.py --items 10000 --kilobytes 50

Each item has a document of its own. The texts are made of the bundled licence texts' sentences with numbers
put in, in the typography of real filings: entities, curly quotation marks, broken lines, a share of HTML.
Most items are sound; some have their quote elsewhere in the document, some name another item's document, some
are calculations.
"""

from __future__ import annotations

import argparse
import html
import json
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any

from goals import Goal

QUICK_ITEMS = 400


def measure(*, repeats: int, quick: bool, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """The audit of 10,000 items with documents of 50 kB, on two processes; once, for it takes a minute."""
    del repeats
    items = QUICK_ITEMS if quick else 10_000
    say(f"making and auditing {items:,} items")
    # In a process of its own: what this one has imported would be counted as the audit's memory.
    command = [sys.executable, __file__, "--items", str(items)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [json.loads(printed[printed.index("{") :])]


def goals(found: list[dict[str, Any]]) -> list[Goal]:
    """The audit beside searches for its quotes as they are, which answer another question; no goal is set."""
    made = []
    for row in found:
        for number, (name, other) in enumerate(row["others"].items()):
            ratio = other["processor seconds"] / row["processor seconds, all processes"]
            wrong = other["sound items flagged"] + other["flagged items missed"]
            made.append(
                Goal(
                    number=f"5 audit {number + 1}",
                    what=f"audit of {row['items']:,} items, {row['megabytes']:,} MB",
                    against=f"{name}, wrong on {wrong:,} items",
                    target=None,
                    ratio=ratio,
                    low=ratio,
                    high=ratio,
                    how=f"processor time; the audit is wrong on {row['verdicts other than made']:,}",
                    reason="docs/performance.md, The audit",
                )
            )
    return made


def run(
    *, items: int, kilobytes: int, documents: int, workers: int, say: Callable[[str], None]
) -> dict[str, Any]:
    """Make a benchmark, read its documents once as a yardstick, and audit it."""
    from leadline.audit import audit
    from leadline.bench.stream import open_stream
    from leadline.documents import Sources

    with tempfile.TemporaryDirectory() as folder:
        say(f"making {items:,} items and {documents:,} documents of {kilobytes} kB")
        expected = make(Path(folder), items, documents, kilobytes * 1000)
        paths = sorted(Path(folder, "sources").iterdir())
        size = sum(path.stat().st_size for path in paths)
        started = time.perf_counter()
        for path in paths:
            path.read_bytes().decode()
        reading = time.perf_counter() - started
        others = literally(Path(folder), expected, say)
        stream = open_stream(Path(folder))
        memory = PeakMemory()
        worked, started = _processor_seconds(), time.perf_counter()
        with memory:
            document = audit(stream, Sources.of(Path(folder)), workers=workers)
        seconds, worked = time.perf_counter() - started, _processor_seconds() - worked
    wrong = sum(verdict.flagged != expected[verdict.item] for verdict in document.items)
    return {
        "items": items,
        "documents": documents,
        "megabytes": round(size / 1e6),
        "workers": workers,
        "seconds": round(seconds, 1),
        "processor seconds, all processes": round(worked, 1),
        "megabytes per second": round(size / 1e6 / seconds, 1),
        "reading alone, seconds": round(reading, 1),
        "peak megabytes, all processes": round(memory.peak / 1e6),
        "self-test": document.self_test.passed,
        "flagged": len(document.flagged),
        "verdicts other than made": wrong,
        "others": others,
    }


def literally(
    folder: Path, expected: dict[str, bool], say: Callable[[str], None]
) -> dict[str, dict[str, float]]:
    """ripgrep and grep, one core each, looking in all sources for all quotes, and what their word is worth.

    A quote is on one line of its own, its white space folded, as one would write it for them. An item is then
    sound if its quote stands so in a line of its window and of any source: more than the declared one, which
    nobody needs to know.
    """
    items = [json.loads(line) for line in (folder / "items.jsonl").read_text("utf-8").splitlines()]
    sought = {item["id"]: " ".join(item["evidence"][0]["quote"].split()) for item in items}
    patterns = folder / "quotes.txt"
    patterns.write_text("".join(one + "\n" for one in sought.values()), "utf-8")
    found: set[str] = set()
    spent: dict[str, dict[str, float]] = {}
    commands = {
        "ripgrep": ["rg", "-j1", "--no-filename", "-o", "-F", "-f", str(patterns), str(folder / "sources")],
        "grep": ["grep", "-rhaoF", "-f", str(patterns), str(folder / "sources")],
    }
    for name, command in commands.items():
        if shutil.which(command[0]) is None:
            say(f"{name}: not installed")
            continue
        before = _processor_seconds()
        lines = subprocess.run(command, check=False, capture_output=True).stdout.decode().splitlines()
        spent[name] = {"processor seconds": round(_processor_seconds() - before, 2)}
        found = set(lines)
        flags = {
            item["id"]: not (sought[item["id"]] in found and sought[item["id"]] in item["window"])
            for item in items
        }
        false = sum(flags[name] and not is_flagged for name, is_flagged in expected.items())
        missed = sum(is_flagged and not flags[name] for name, is_flagged in expected.items())
        spent[name] |= {"sound items flagged": false, "flagged items missed": missed}
    return spent


def make(folder: Path, items: int, documents: int, size: int, seed: int = 0) -> dict[str, bool]:
    """Write a benchmark; says for each item whether it is to be flagged."""
    random = Random(seed)
    sentences = _sentences()
    (folder / "sources").mkdir(parents=True)
    (folder / "benchmark.yaml").write_text('name: made-up\nversion: "1"\n', encoding="utf-8")
    expected: dict[str, bool] = {}
    texts: list[str] = []
    with (folder / "items.jsonl").open("w", encoding="utf-8") as out:
        for number in range(items):
            document = number % documents
            if number < documents:
                text = _text(random, sentences, size)
                name = _write(folder / "sources", document, text, random)
                # A second item of the same document needs a part of it only.
                texts.append(text if items == documents else text[: size // 2])
            else:
                text, name = texts[document], _name(document)
            item, flagged = _item(random, number, text, name, documents)
            expected[item["id"]] = flagged
            out.write(json.dumps(item, ensure_ascii=False) + "\n")
            if items == documents:
                texts.clear()
    return expected


def _sentences() -> list[str]:
    folder = files("leadline.bench").joinpath("data", "licences", "sources")
    text = " ".join(
        entry.read_text(encoding="utf-8", errors="replace")
        for entry in sorted(folder.iterdir(), key=lambda entry: entry.name)
        if entry.name.endswith(".txt")
    )
    found = re.split(r"(?<=[.;])\s+", " ".join(text.split()))
    return [sentence for sentence in found if 60 <= len(sentence) <= 600]


def _text(random: Random, sentences: list[str], size: int) -> str:
    parts: list[str] = []
    length = 0
    while length < size:
        number = f"{random.randrange(10_000_000):,}"
        sentence = random.choice(sentences)
        if random.random() < 0.5:
            sentence = (
                f"{sentence[:-1]}, of which ${number} and {random.randrange(100)}.{random.randrange(10)}%."
            )
        if random.random() < 0.2:
            sentence = f"“{sentence}” — the Company’s"
        parts.append(sentence + random.choice([" ", " ", "  ", "\n", "\n\n"]))
        length += len(parts[-1])
    return "".join(parts)


def _is_html(document: int) -> bool:
    return document % 4 == 0


def _name(document: int) -> str:
    return f"{document:06d}.{'htm' if _is_html(document) else 'txt'}"


def _write(folder: Path, document: int, text: str, random: Random) -> str:
    name = _name(document)
    if _is_html(document):
        paragraphs = "".join(
            f"<p>{html.escape(part).replace('’', '&rsquo;').replace('—', '&#151;')}</p>\n"
            for part in text.split("\n\n")
        )
        text = f"<html><head><title>Filing</title></head><body>{paragraphs}</body></html>"
    elif random.random() < 0.5:
        text = text.replace("’", "&#146;").replace("“", "&ldquo;").replace("”", "&rdquo;")
    else:  # lines broken within words
        text = re.sub(r"([a-z]{5})([a-z]{5})", r"\1-\n\2", text, count=200)
    (folder / name).write_text(text, encoding="utf-8")
    return name


def _item(random: Random, number: int, text: str, name: str, documents: int) -> tuple[dict[str, Any], bool]:
    """One item, and whether it is to be flagged: every twelfth has its evidence elsewhere, say."""
    kind = number % 12
    start = random.randrange(max(1, len(text) // 2 - 4000))
    start = text.find(" ", start) + 1
    window = text[start : text.rfind(" ", start, start + 3000)]
    at = window.find(" ", random.randrange(1000, 2000)) + 1
    quote = window[at : window.rfind(" ", at, at + 220)]
    answer, answer_type, flagged = "as it says", "text", False
    if kind == 1:  # evidence absent: from the other half of the document
        later = text.find(" ", start + 3500 + random.randrange(len(text) // 4)) + 1
        quote, flagged = text[later : text.rfind(" ", later, later + 220)], True
        flagged = " ".join(quote.split()) not in " ".join(window.split())
    elif kind == 2:  # another item's document is declared
        name = _name((number + 7) % documents)
    elif kind == 3:  # a calculation of the annotator's
        whole, part = random.randrange(10**6, 10**7), random.randrange(10**4, 10**5)
        window += f" There were {whole:,} shares outstanding, of which the holder has {part:,}."
        answer, answer_type, flagged = f"{100 * part / whole:.2f}", "number", True
        quote = f"{part:,} shares of {whole:,} shares in total = {answer}%"
    return {
        "id": f"item-{number:06d}",
        "question": "What does the passage say?",
        "answer": answer,
        "answer_type": answer_type,
        "window": window,
        "evidence": [{"quote": quote}],
        "source": name,
    }, flagged


def _processor_seconds() -> float:
    """Of this process and of those that it waited for: what other work on the machine does not change."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


class PeakMemory:
    """The largest resident memory of this process and its children together, looked at often. Linux."""

    def __init__(self) -> None:
        self.peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 if not _children() else 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> PeakMemory:
        self.peak = 0
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(0.05):
            self.peak = max(self.peak, sum(_resident(pid) for pid in ["self", *_children()]))


def _children() -> list[str]:
    tasks = Path("/proc/self/task")
    if not tasks.exists():
        return []
    return [pid for task in tasks.iterdir() for pid in (task / "children").read_text().split()]


def _resident(pid: str) -> int:
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    found = re.search(r"VmRSS:\s+(\d+) kB", text)
    return int(found.group(1)) * 1024 if found else 0


def main() -> None:
    """One measurement, printed."""
    parser = argparse.ArgumentParser(description="Measure the audit's speed and memory.")
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--documents", type=int, help="fewer than items: several items share one")
    parser.add_argument("--kilobytes", type=int, default=50)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    found = run(
        items=given.items,
        kilobytes=given.kilobytes,
        documents=given.documents or given.items,
        workers=given.workers,
        say=print,
    )
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
