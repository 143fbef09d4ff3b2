"""manifest.json of a build: every input by checksum and date, versions, settings, what each stage made."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from leadline.build.checksums import Checksums
from leadline.build.funnel import Step, as_json
from leadline.build.plan import Plan
from leadline.build.presence.scan_stage import shards_of
from leadline.build.stages import stages
from leadline.build.standing import MANIFEST
from leadline.build.workspace import Workspace, write_json
from leadline.study.environment import environment, installed

_LIBRARIES = (
    "mwxml",
    "mwparserfromhell",
    "sentencex",
    "hyperscan",
    "ahocorasick-rs",
    "snowballstemmer",
    "zstandard",
    "ray",
)


def write_manifest(plan: Plan, work: Workspace, steps: tuple[Step, ...]) -> Path:
    """Write WORK/manifest.json, whole or not at all. It names no path but those in the plan.

    `steps` are its funnel.
    """
    sums = Checksums(work.folder / "checksums.json", plan.folder)
    inputs: dict[str, dict[str, str]] = {}
    for stage in stages():
        if stage.wanted(plan) and (files := stage.inputs(plan)):
            inputs[stage.name] = sums.of(files)
    document: dict[str, Any] = {
        "plan": plan.model_dump(mode="json"),
        "plan_sha256": hashlib.sha256(plan.source).hexdigest() if plan.source is not None else None,
        "dates": {"articles": plan.articles.date, "wikidata": plan.wikidata.date},
        "inputs": inputs,
        "corpus": _corpus(plan),
        "stages": {
            stage.name: {key: value for key, value in done.items() if key != "files"}
            for stage in stages()
            if stage.wanted(plan) and (done := work.stage(stage.name).done())
        },
        "funnel": as_json(steps),
        "environment": environment(),
        "libraries": {name: version for name in _LIBRARIES if (version := installed(name))},
    }
    write_json(work.folder / MANIFEST, document)
    return work.folder / MANIFEST


def _corpus(plan: Plan) -> dict[str, Any] | None:
    """The shards in short: a corpus may have a hundred thousand, which stages/scan/shards.json names."""
    if plan.presence is None or not plan.presence.corpus:
        return None
    shards = shards_of(plan)
    named = "".join(f"{name} {size}\n" for name, size in sorted(shards))
    return {
        "shards": len(shards),
        "bytes": sum(size for _, size in shards),
        "sha256_of_names_and_sizes": hashlib.sha256(named.encode("utf-8", "surrogateescape")).hexdigest(),
        "pinned_by": "sha256" if plan.presence.checksums else "name and size",
    }
