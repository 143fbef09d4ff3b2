"""How fast a corpus is scanned for sentences, beside ripgrep, grep, bare decompression and other matchers.

    python benchmarks/scanning.py [--megabytes 256] [--sentences 10000 100000]

The corpus is made of real text (Wikipedia's and Common Crawl's, from the folder of real inputs beside the
project), half of its paragraphs, drawn with repetition: Dolma-style JSON lines, every second one with what is
not ASCII escaped, as zstd shards. The sentences are of the other half, which does not occur, beyond their
number spliced of two halves of real ones; 20 of them are of the first half ("sparse": one document of forty
holds one), or 200 ("dense": one of four). The same shards lie there as .zst, as .gz and unpacked; each
program has one core and unpacks as its users do (`rg -z`, a pipe into grep). Rates are uncompressed megabytes
(2^20) a second of processor time, which other work on the machine slows less than a second by the clock; both
are kept.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import io
import json
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from goals import Goal

DATA = Path(__file__).parents[2] / "shared" / "data" / "build"
SHARDS = 8
SIZES = (10_000, 100_000)
# How corpora come: the shards' names, and what unpacks them.
KINDS = {
    "zst": ("shard-*.jsonl.zst", ("zstd", "-dc")),
    "gz": ("shard-*.jsonl.gz", ("gzip", "-dc")),
    "plain": ("shard-*.jsonl", ("cat",)),
}
OTHERS = ("ripgrep", "grep")
ENGINES = (("process", 1), ("process", 2), ("ray", 1), ("ray", 2))
REASON = "docs/performance.md, A corpus scanned for sentences"


def measure(*, repeats: int, quick: bool, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """One row for each number of sentences and way to look for them; the best of `repeats`."""
    if not DATA.exists():
        say(f"scanning: skipped, needs the real inputs in {DATA}")
        return []
    with tempfile.TemporaryDirectory() as folder:
        if quick:
            return compared(Path(folder), 8, (1_000,), 1, say, others_of_ours=False)
        return compared(Path(folder), 256, SIZES, repeats, say)


def compared(
    folder: Path,
    megabytes: int,
    sizes: tuple[int, ...],
    repeats: int,
    say: Callable[[str], None],
    *,
    others_of_ours: bool = True,
) -> list[dict[str, Any]]:
    """All rows; those of other matchers of ours and of several workers may be left out."""
    say(f"making {megabytes} MB of corpus")
    shards, known, absent = make(folder, megabytes << 20)
    rows = []
    for kind, (names, unpack) in KINDS.items():
        its = sorted(folder.glob(names))
        if shutil.which(unpack[0]):
            rows.append(_program(f"{' '.join(unpack)} alone", [*unpack, *map(str, its)], shards, repeats))
        rows.append(_own("decompression alone", folder, "none", "sparse", 0, repeats, kind))
    for number in sizes:
        for density, there in (("sparse", 20), ("dense", 200)):
            sentences = [*known[:there], *absent(number - there)]
            (folder / f"{number}-{density}.txt").write_text("".join(one + "\n" for one in sentences), "utf-8")
        say(f"{number:,} sentences")
        for kind in KINDS:
            rows.append(_own("leadline", folder, "grams", "sparse", number, repeats, kind))
            rows += _others(folder, number, kind, shards, say)
        if not others_of_ours:
            continue
        rows.append(_own("leadline, one document of four hits", folder, "grams", "dense", number, repeats))
        rows.append(_own("leadline, hyperscan", folder, "hyperscan", "sparse", number, 1))
        rows.append(_own("leadline, ahocorasick", folder, "ahocorasick", "sparse", number, 1))
    say("a naive search of 60 MB")
    rows.append(naive(shards, known[:100], absent(100), min(60, megabytes) << 20))
    for engine, workers in () if not others_of_ours else ENGINES:
        say(f"engine {engine}, {workers} workers")
        rows.append(_engine(folder, engine, workers, sizes[0]))
    return rows


def goals(found: list[dict[str, Any]]) -> list[Goal]:
    """The scan's rate beside ripgrep's and beside unpacking alone; no goal is set for either."""
    made = []
    bare = {row["kind"]: row for row in found if row["what"] == "decompression alone"}
    for row in (one for one in found if one["what"] == "leadline"):
        same = [one for one in found if all(one.get(key) == row[key] for key in ("kind", "sentences"))]
        others = [(one["what"], one) for one in same if one["what"] in OTHERS]
        for against, other in [*others, ("unpacking alone", bare[row["kind"]])]:
            ratio = row["per processor second"] / other["per processor second"]
            made.append(
                Goal(
                    number=f"5 scan .{row['kind']} {row['sentences']:,}",
                    what=f"{row['sentences']:,} sentences sought in .{row['kind']} shards, three tiers",
                    against=against if against in OTHERS else f"{against} (a bound)",
                    target=None,
                    ratio=ratio,
                    low=ratio,
                    high=ratio,
                    how="MB a processor second, one core; exact lines only for the others"
                    + ", who make their automaton in it" * other.get("making counted", False),
                    reason=REASON,
                )
            )
    return made


def _others(
    folder: Path, number: int, kind: str, shards: list[Path], say: Callable[[str], None]
) -> list[dict[str, Any]]:
    """ripgrep and grep, each the way in which their users unpack."""
    names, unpack = KINDS[kind]
    its = [str(path) for path in sorted(folder.glob(names))]
    sought = str(folder / f"{number}-sparse.txt")
    packed = kind != "plain"
    commands: dict[str, tuple[list[str] | None, list[str], list[str]]] = {
        "ripgrep": (None, ["rg", "-j1", "-F", "-c", *(["-z"] * packed), "-f", sought], its),
        "grep": ([*unpack, *its] if packed else None, ["grep", "-a", "-F", "-c", "-f", sought], its),
    }
    rows = []
    for name, (first, search, files) in commands.items():
        if shutil.which(search[0]) is None or shutil.which(unpack[0]) is None:
            say(f"{name}: not installed")
            continue
        made = min(_timed(["true"], search) for _ in range(2))  # with nothing to read but its sentences
        whole = _timed(first, search) if first else _timed(["true"], [*search, *files])
        # Where making takes most of the time, what is left is less than its scatter: it is counted in.
        counts = whole[0] - made[0] < made[0]
        row = _rates(_size(shards), whole[0] - (0 if counts else made[0]), whole[1])
        about = {"made in, s": round(made[0], 1), "making counted": counts}
        rows.append({"what": name, "kind": kind, "sentences": number, **row, **about})
    return rows


def make(folder: Path, size: int) -> tuple[list[Path], list[str], Callable[[int], list[str]]]:
    """Shards, sentences that stand in them, and a function that gives as many as asked that do not."""
    import zstandard

    rnd = random.Random(7)
    paragraphs = sorted(set(_paragraphs()))
    rnd.shuffle(paragraphs)
    used, other = paragraphs[: len(paragraphs) // 2], paragraphs[len(paragraphs) // 2 :]
    known, unknown = _sentences(used, rnd), _sentences(other, rnd)
    text = "\n".join(used)
    unknown = [one for one in unknown if one not in text]

    def absent(number: int) -> list[str]:
        found = dict.fromkeys(unknown[:number])
        while len(found) < number:
            one, two = rnd.choice(unknown).split(" "), rnd.choice(unknown).split(" ")
            found[" ".join(one[: len(one) // 2] + two[len(two) // 2 :])] = None
        return list(found)

    shards = []
    document = 0
    for shard in range(SHARDS):
        path = folder / f"shard-{shard}.jsonl.zst"
        shards.append(path)
        written = 0
        plain = path.with_suffix("")
        with (
            path.open("wb") as file,
            zstandard.ZstdCompressor(level=3).stream_writer(file) as packed,
            plain.open("wb") as unpacked,
            gzip.open(f"{plain}.gz", "wb", compresslevel=6) as zipped,
        ):
            while written < size // SHARDS:
                said = "\n".join(rnd.choices(used, k=rnd.randrange(1, 12)))
                about = {"url": f"https://example.org/{document}", "n": [1, 2]}
                whole = {"id": f"d{document}", "text": said, "source": "real text", "metadata": about}
                line = json.dumps(whole, ensure_ascii=bool(document % 2)).encode() + b"\n"
                for out in (packed, unpacked, zipped):
                    out.write(line)
                written += len(line)
                document += 1
    return shards, known, absent


def _paragraphs() -> Iterator[str]:
    import mwparserfromhell
    import mwxml

    with bz2.open(DATA / "wikipedia" / "enwiki-2016-p10-p30302-shortened.xml.bz2") as file:
        for page in mwxml.Dump.from_file(io.TextIOWrapper(file, "utf-8")):
            if page.redirect:
                continue
            for revision in page:
                text = re.sub(
                    r"\{\{[^{}]*\}\}|<ref[^>]*/>|<ref.*?</ref>", "", revision.text or "", flags=re.S
                )
                yield from mwparserfromhell.parse(text).strip_code().split("\n")
    with gzip.open(DATA / "qa" / "nq-open-oracle.jsonl.gz") as file:
        for line in file:
            for context in json.loads(line)["ctxs"]:
                yield from context["text"].split("\n")
    for name in ("000.json.gz", "cc_en_head-0091.jsonl.gz", "cc_en_head-0174.jsonl.gz"):
        with gzip.open(DATA / "dolma" / name) as file:
            for line in file:
                yield from json.loads(line)["text"].split("\n")
    with (DATA / "rebel" / "sample.jsonl").open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)["text"].replace("\n", " ")


def _sentences(paragraphs: list[str], rnd: random.Random) -> list[str]:
    cut = (part.strip() for one in paragraphs for part in re.split(r"(?<=[.!?])\s+", one))
    found = sorted({part for part in cut if 40 <= len(part) <= 400 and "\n" not in part})
    rnd.shuffle(found)
    return found


def _own(
    name: str, folder: Path, engine: str, density: str, number: int, repeats: int, kind: str = "zst"
) -> dict[str, Any]:
    """In a process of its own: what this one has imported would be counted as the scan's memory."""
    settings = (str(folder), engine, density, str(number), str(repeats), kind)
    command = [sys.executable, __file__, "--scan", *settings]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    row: dict[str, Any] = json.loads(printed.splitlines()[-1])
    return {"what": name, "kind": kind, "sentences": number, **row}


def scan(folder: Path, engine: str, density: str, number: int, repeats: int, kind: str) -> dict[str, Any]:
    """A row's figures: the best of some scans of all shards by one process."""
    from leadline.build.presence.scanner import Scanner
    from leadline.build.presence.unpacking import unpacked

    shards = sorted(folder.glob(KINDS[kind][0]))
    started = time.process_time()
    scanner: Any = None
    if engine != "none":
        sentences = (folder / f"{number}-{density}.txt").read_text("utf-8").splitlines()
        scanner = Scanner(sentences, engine=engine)  # type: ignore[arg-type]
        scanner.scan(shards[0])  # what is imported and computed once
    made = time.process_time() - started
    best = (float("inf"), float("inf"))
    size = hits = 0
    for _ in range(repeats):
        size = hits = 0
        start, clock = time.process_time(), time.perf_counter()
        for shard in shards:
            if scanner is None:
                size += sum(map(len, unpacked(shard)))
                continue
            found = scanner.scan(shard)
            size += found.content
            hits += sum(one["stripped"].documents for one in found.hits.values() if "stripped" in one)
        best = min(best, (time.process_time() - start, time.perf_counter() - clock))
    figures = {"made in, s": round(made, 1), "hits": hits, "peak megabytes": _peak() // 1024}
    return _rates(size, *best) | figures


def _peak() -> int:
    """Most kilobytes that this process held; what getrusage says includes the one that started it."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(next(line for line in status.read_text().splitlines() if line.startswith("VmHWM")).split()[1])


def _program(name: str, unpack: list[str], shards: list[Path], repeats: int) -> dict[str, Any]:
    """A program that unpacks, alone."""
    best = min(_timed(unpack, None) for _ in range(repeats))
    return {"what": name, "kind": "", "sentences": 0, **_rates(_size(shards), *best)}


def _size(shards: list[Path]) -> int:
    """Bytes of all shards, unpacked."""
    return sum(shard.with_suffix("").stat().st_size for shard in shards)


def _timed(first: list[str], then: list[str] | None) -> tuple[float, float]:
    """Processor time and time by the clock of a program, or of two in a pipe."""
    before, clock = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with subprocess.Popen(first, stdout=subprocess.PIPE if then else subprocess.DEVNULL) as one:
        if then:
            # Not to /dev/null: grep then stops at the first line that it finds.
            subprocess.run(then, stdin=one.stdout, stdout=subprocess.PIPE, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return cpu, time.perf_counter() - clock


def _rates(size: int, cpu: float, clock: float) -> dict[str, Any]:
    megabytes = size / (1 << 20)
    return {
        "megabytes": round(megabytes),
        "per processor second": round(megabytes / cpu, 1),
        "per second": round(megabytes / clock, 1),
    }


def naive(shards: list[Path], known: list[str], absent: list[str], size: int) -> dict[str, Any]:
    """Every document in every form searched for every sentence: raises unless a scan finds the same."""
    import zstandard

    from leadline.build.presence.normal_form import form, overlapping
    from leadline.build.presence.scanner import TIERS, Scanner

    # Worn copies, so that the looser tiers have hits of their own.
    sentences = [
        *known,
        *absent,
        *(one.replace(" ", "  ") for one in known[:20]),
        *(f"{one[:20]}[1]{one[20:]}" for one in known[20:40]),
    ]
    expected: dict[tuple[int, str], tuple[int, int]] = {}
    taken, read = [], 0
    for shard in shards:
        with shard.open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as unpacked:
            for line in io.BufferedReader(unpacked, 1 << 20):
                if read < size:
                    taken.append(line)
                    read += len(line)
    sample = shards[0].with_name("sample.jsonl")
    sample.write_bytes(b"".join(taken))
    for tier in TIERS:
        wanted = [form(one, tier).strip() for one in sentences]
        for line in taken:
            text = form(json.loads(line)["text"], tier)
            for number, one in enumerate(wanted):
                if one in text:
                    times, documents = expected.get((number, tier), (0, 0))
                    expected[number, tier] = (times + overlapping(text, one), documents + 1)
    found = {
        (number, tier): (hits.occurrences, hits.documents)
        for number, tiers in Scanner(sentences).scan(sample).hits.items()
        for tier, hits in tiers.items()
    }
    if found != expected:
        raise AssertionError("the scan does not find what a naive search finds")
    hits = sum(times for times, _ in found.values())
    return {"what": "as a naive search", "sentences": len(sentences), "megabytes": read >> 20, "hits": hits}


def _engine(folder: Path, name: str, workers: int, number: int) -> dict[str, Any]:
    """All shards through an engine: by the clock, without what the first shard of each worker waits for."""
    from leadline.build.presence.scan_stage import ScanWork, Shard, ready, scan_shard
    from leadline.build.workspace import StageFolder
    from leadline.errors import LeadlineError, UsageError
    from leadline.workers.choose import chosen_engine

    what = f"{name}, {workers} worker{'s' * (workers > 1)}"
    sentences = tuple((folder / f"{number}-sparse.txt").read_text("utf-8").splitlines())
    files = sorted(folder.glob("*.zst"))
    here = StageFolder("scan", folder / f"{name}-{workers}")
    # The first shards are warm-up: workers start and make their tables.
    shards = [Shard(n, files[n % len(files)], 0) for n in range(workers * 2 + 3 * len(files))]
    work = ScanWork(sentences, ("exact", "normalised", "stripped"), 5, "grams", here)
    try:
        with chosen_engine(name, workers, folder=folder) as engine:
            ended = []
            for _ in engine.run(scan_shard, shards, work, ready):
                ended.append(time.perf_counter())
    except (LeadlineError, UsageError) as error:
        return {"what": what, "sentences": number, "skipped": str(error)}
    counted = len(shards) - workers * 2
    size = sum(json.loads(here.part(n, suffix=".json").read_bytes())["content"] for n in range(len(files)))
    rate = counted / len(files) * size / (1 << 20) / (ended[-1] - ended[workers * 2 - 1])
    return {
        "what": what,
        "sentences": number,
        "megabytes": round(size / (1 << 20)),
        "per second": round(rate, 1),
    }


def main() -> None:
    """Measure and print as JSON."""
    parser = argparse.ArgumentParser(description="Measure how fast a corpus is scanned.")
    parser.add_argument("--megabytes", type=int, default=256)
    parser.add_argument("--sentences", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--scan", nargs=6, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.scan:
        folder, engine, density, number, repeats, kind = arguments.scan
        print(json.dumps(scan(Path(folder), engine, density, int(number), int(repeats), kind)))
        return
    with tempfile.TemporaryDirectory() as made:
        sizes = tuple(arguments.sentences)
        say = lambda line: print(line, file=sys.stderr, flush=True)  # noqa: E731
        for row in compared(Path(made), arguments.megabytes, sizes, arguments.repeats, say):
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
