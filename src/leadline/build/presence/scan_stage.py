"""The stage `scan`: which supporting sentences stand in the corpus, shard by shard."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

from leadline.build.parts import writing
from leadline.build.plan import Plan
from leadline.build.plan_file import files_of, where_in
from leadline.build.presence.scanner import TIERS, Hits, Scanner, ShardHits
from leadline.build.records import Fact, Tier
from leadline.build.stage import Job, Stage
from leadline.build.workspace import StageFolder, read_counts, write_json
from leadline.errors import UsageError

FOUND = "found.json"
"""Sentence to tier to hits, of the whole corpus."""
INDEXED = "infini_gram.jsonl.zst"
"""What an infini-gram index knows of each sentence, where the plan names one."""
SHARDS = "shards.json"
"""Name and size of each file of the corpus, in the order of the plan."""

# Notes on faulty shards that are printed one by one; the rest is counted.
_NOTED = 20


@dataclass(frozen=True)
class ScanWork:
    """What every worker needs."""

    sentences: tuple[str, ...]
    tiers: tuple[Tier, ...]
    locations: int
    engine: Any
    here: StageFolder


@dataclass(frozen=True)
class Shard:
    """A file of the corpus: its place in the order of the plan, and how many bytes it has on disk."""

    number: int
    path: Path
    size: int


class ScanStage(Stage):
    """Scans each shard into parts/NNNNN.json, then adds them up into found.json. Facts pass by.

    Counts: `shards`, `bytes` (of content), `documents`, `sentences` (looked for), `found` (on each tier),
    `faults` (kinds of `shards.Fault`, over all shards), `faulty` (file: kind: how often, and the first line).
    """

    name: ClassVar[str] = "scan"

    def wanted(self, plan: Plan) -> bool:
        """Only where the plan names a corpus."""
        return plan.presence is not None

    def settings(self, plan: Plan) -> object:
        """Tiers, locations, and the corpus: names and sizes of its files, unless their bytes are pinned."""
        said = plan.presence
        assert said is not None
        files = [] if said.checksums else [list(shard) for shard in shards_of(plan)]
        return [said.model_dump(include={"tiers", "locations", "infini_gram", "api", "tokenizer"}), files]

    def inputs(self, plan: Plan) -> tuple[Path, ...]:
        """The shards, where the plan wants their checksums."""
        return _corpus(plan) if plan.presence is not None and plan.presence.checksums else ()

    def check(self, plan: Plan) -> None:
        """The corpus is named and there."""
        said = plan.presence
        assert said is not None
        if not said.corpus and said.infini_gram is None:
            what = "presence names no corpus"
            raise UsageError(what, where=where_in(plan, "presence"), fix="corpus: shards/*.jsonl.zst")
        _corpus(plan)
        from leadline.build.presence.infini_gram import index_paths

        index_paths(plan)

    def run(self, job: Job, here: StageFolder, before: StageFolder | None) -> Mapping[str, Any]:
        """Scan the shards that have not been scanned."""
        said = job.plan.presence
        if before is None or said is None:
            raise AssertionError("sentences are those of facts, and the plan names a corpus")
        sentences = supporting(before.facts())
        write_json(here.path / SHARDS, [list(shard) for shard in shards_of(job.plan)])
        files = _corpus(job.plan)
        shards = [Shard(number, path, path.stat().st_size) for number, path in enumerate(files)]
        left = [shard for shard in shards if not _stands(here, shard)] if sentences else []
        job.engine.check(files)
        job.progress.begin(self.name, sum(shard.size for shard in left), "bytes")
        work = ScanWork(tuple(sentences), said.tiers, said.locations, said.engine, here)
        notes = 0
        # Large shards first: the last one to end is then a small one.
        ordered = sorted(left, key=lambda shard: -shard.size)
        for shard, faults in job.engine.run(scan_shard, ordered, work, ready):
            job.progress.advance(shard.size)
            if faults:
                notes += 1
                if notes <= _NOTED:
                    job.progress.note(f"scan: {shard.path.name}: {_said(faults)}")
        if notes > _NOTED:
            job.progress.note(f"scan: and {notes - _NOTED:,} more shards with faults: done.json names them")
        counts = _merge(here, shards if sentences else [], sentences, said.tiers, said.locations)
        if said.infini_gram is not None and sentences:
            from leadline.build.presence.infini_gram import look_up

            job.progress.begin(self.name, len(sentences), "sentences")
            cache = job.work.folder / "cache"
            cache.mkdir(exist_ok=True)
            counts["infini_gram"] = dict.fromkeys(["found", "unasked", "approx"], 0)
            with writing(here.path / INDEXED) as write:
                for one in look_up(sentences, job.plan, cache, job.progress.advance):
                    write(one)
                    counts["infini_gram"]["found"] += one.tier is not None
                    counts["infini_gram"]["unasked"] += one.count is None
                    counts["infini_gram"]["approx"] += one.approx
        return counts


def supporting(facts: Iterable[Fact]) -> list[str]:
    """Every distinct supporting sentence of facts, in the order in which they first occur."""
    return list(dict.fromkeys(one.sentence for fact in facts for one in fact.support if one.sentence.strip()))


def ready(work: ScanWork) -> tuple[Scanner, ScanWork]:
    """What a worker makes once."""
    return Scanner(work.sentences, work.tiers, work.locations, work.engine), work


def scan_shard(prepared: tuple[Scanner, ScanWork], shard: Shard) -> dict[str, int]:
    """Scan a shard and write its part; returns its faults."""
    scanner, work = prepared
    hits = scanner.scan(shard.path)
    write_json(_part(work.here, shard), {"shard": shard.path.name, **_packed(hits)})
    return hits.faults.counts


def shards_of(plan: Plan) -> list[tuple[str, int]]:
    """Name and size in bytes of each file of the corpus, in the order of the plan."""
    return [(path.name, path.stat().st_size) for path in _corpus(plan)]


def _corpus(plan: Plan) -> tuple[Path, ...]:
    return files_of(plan, "presence", "corpus")


def _part(here: StageFolder, shard: Shard) -> Path:
    return here.part(shard.number, suffix=".json")


def _stands(here: StageFolder, shard: Shard) -> bool:
    """Whether the shard's part is there, as `_packed` wrote it."""
    said = read_counts(_part(here, shard), {"content": int, "documents": int, "faults": dict, "first": dict})
    if said is None or not isinstance(said.get("hits"), dict) or said["faults"].keys() - said["first"].keys():
        return False
    return all(
        isinstance(hits, dict) and {"occurrences", "documents", "sample"} <= hits.keys()
        for tiers in said["hits"].values()
        for hits in (tiers.values() if isinstance(tiers, dict) else [None])
    )


def _told(hits: Hits) -> dict[str, Any]:
    """A document's name may hold halves of surrogate pairs, which no text file can: they become escapes."""
    said = asdict(hits)
    return {**said, "sample": [_encodable(name) for name in said["sample"]]}


def _encodable(name: str) -> str:
    return name.encode("utf-8", "backslashreplace").decode()


def _packed(found: ShardHits) -> dict[str, Any]:
    return {
        "content": found.content,
        "documents": found.documents,
        "faults": found.faults.counts,
        "first": found.faults.first,
        "hits": {
            str(sentence): {tier: _told(hits) for tier, hits in tiers.items()}
            for sentence, tiers in found.hits.items()
        },
    }


def _said(faults: Mapping[str, int]) -> str:
    return ", ".join(f"{kind} {count:,}" for kind, count in sorted(faults.items()))


def _merge(
    here: StageFolder,
    shards: Sequence[Shard],
    sentences: Sequence[str],
    tiers: Sequence[Tier],
    locations: int,
) -> dict[str, Any]:
    """Add up the parts in the order of the shards: the same whoever scanned them, and how often."""
    found: dict[int, dict[str, Hits]] = {}
    faults: Counter[str] = Counter()
    faulty: dict[str, dict[str, list[int]]] = {}
    content = documents = 0
    for shard in shards:
        part = json.loads(_part(here, shard).read_bytes())
        content += part["content"]
        documents += part["documents"]
        faults.update(part["faults"])
        if part["faults"]:
            faulty[shard.path.name] = {
                kind: [count, part["first"][kind]] for kind, count in sorted(part["faults"].items())
            }
        for sentence, by_tier in part["hits"].items():
            for tier, hits in by_tier.items():
                sum_ = found.setdefault(int(sentence), {}).setdefault(tier, Hits())
                sum_.occurrences += hits["occurrences"]
                sum_.documents += hits["documents"]
                sum_.sample += hits["sample"][: locations - len(sum_.sample)]
    write_json(
        here.path / FOUND,
        {
            sentences[number]: {tier: asdict(hits) for tier, hits in by_tier.items()}
            for number, by_tier in sorted(found.items())
        },
    )
    return {
        "shards": len(shards),
        "bytes": content,
        "documents": documents,
        "sentences": len(sentences),
        "found": {
            tier: sum(tier in by_tier for by_tier in found.values()) for tier in TIERS if tier in tiers
        },
        "faults": dict(sorted(faults.items())),
        "faulty": faulty,
    }
