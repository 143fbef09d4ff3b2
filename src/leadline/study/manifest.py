"""manifest.json: what a study's answers were made of, so that somebody else can make them again."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from leadline.bench import content_hash
from leadline.errors import LeadlineError
from leadline.models.model import ModelIdentity
from leadline.study.changes import code
from leadline.study.database import MANIFEST
from leadline.study.environment import environment
from leadline.study.members import RECORDED, members
from leadline.study.served_facts import asked_again, remarks, served_facts
from leadline.study.store import RunNote, Store
from leadline.study.study import Study

_ALSO = (RECORDED, "stopped", "code_served", "refilled", "workers", "recovered", "lost")


def _commit(folder: Path) -> str | None:
    """The git commit of the folder that the study lies in, if it lies in one."""
    git = shutil.which("git")
    if git is None:
        return None
    try:
        found = subprocess.run(
            [git, "-C", str(folder), "rev-parse", "HEAD"],
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return found.stdout.strip() if found.returncode == 0 else None


def write_manifest(study: Study, store: Store, identities: dict[str, ModelIdentity], run: int) -> Path:
    """Write manifest.json beside study.yaml, whole or not at all."""
    document = {
        "study": study.config.name,
        "study_sha256": hashlib.sha256(study.file.read_bytes()).hexdigest(),
        "commit": _commit(study.folder),
        **told_of(study, store, identities),
        "environment": environment(),
        "code": code(),
        "command": sys.argv[0].rsplit("/", 1)[-1],
        "last_run": run,
    }
    path = study.folder / MANIFEST
    temporary = path.with_suffix(".json.tmp")
    try:
        temporary.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        raise LeadlineError(f"cannot be written: {error.strerror}", where=str(path)) from error
    return path


@dataclass(frozen=True)
class Remembered:
    """What a study's manifest.json still knows when its database does not: the answers of each run, as far as
    noted, the models by label, and whether any answers were imported."""

    drawn: dict[int, int] = field(default_factory=dict)
    models: dict[str, ModelIdentity] = field(default_factory=dict)
    has_imported: bool = False


def remembered(folder: Path) -> Remembered:
    """What the manifest in `folder` knows; nothing where there is none or it is no manifest of a study."""
    try:
        told = json.loads((folder / MANIFEST).read_bytes())
        runs = [(one["run"], 0 if "recovered" in one else one["drawn"]) for one in told["runs"]]
        return Remembered(
            drawn={run: drawn for run, drawn in runs if isinstance(run, int) and isinstance(drawn, int)},
            models={label: ModelIdentity(**one) for label, one in told["models"].items()},
            has_imported=any(RECORDED in one for one in told["configurations"].values()),
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return Remembered()


def told_of(study: Study, store: Store, identities: dict[str, ModelIdentity]) -> dict[str, Any]:
    """What a study and its store decide of a manifest: benchmark, models, configurations, runs."""
    configurations: dict[str, Any] = {}
    for label, identity in identities.items():
        for configuration in study.configurations:
            configurations[f"{label}/{configuration.name}"] = {
                "id": study.configuration_id(configuration, identity),
                "role": configuration.role,
                "samples": configuration.samples,
                "vote": configuration.vote,
                "failures_only": configuration.failures_only,
                **study.described(configuration, identity),
            }
    found = members(study, store)
    for one in found:
        if one.kind == RECORDED:
            about = {"id": one.id, "role": one.role, "samples": one.samples, RECORDED: dict(one.about)}
            configurations[f"{one.model}/{one.name}"] = about
    facts, again = served_facts(study, store, found), asked_again(store, found)
    said = remarks(facts, again, found)
    return {
        "benchmark": {
            "name": study.whole.name,
            "version": study.whole.version,
            "content_hash": study.whole.content_hash,
            "asked": content_hash(study.benchmark.items),
            "items_asked": len(study.benchmark.items),
            "items_total": len(study.whole.items),
            "population": study.population.sentence,
            "audit": study.population.audit,
            "adjudications": study.population.adjudications,
        },
        "models": {label: vars(identity) for label, identity in identities.items()},
        "configurations": configurations,
        # Of models behind an API, and of answers that were asked again; where there are none, nothing.
        **{
            key: value
            for key, value in (("served", facts), ("asked_again", again), ("remarks", said))
            if value
        },
        "runs": [_run(one) for one in store.history()],
    }


def _run(note: RunNote) -> dict[str, Any]:
    """A run's part of the manifest. `drawn` is None where a sudden end kept it from being noted."""
    about = note.about
    return {
        "run": note.run,
        "started": _time(note.started),
        "finished": None if note.finished is None else _time(note.finished),
        "drawn": about.get("drawn"),
        "models": about.get("models", {}),
        "environment": about.get("environment", {}),
        "code": about.get("code"),
        "accepted": about.get("accepted", []),
        # Answers were imported, none drawn; a budget ended it; models behind an API; empty answers anew;
        # workers asked the local models; no run, but answers that were saved out of a damaged file; a run of
        # which that file told no more.
        **{key: about[key] for key in _ALSO if key in about},
    }


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).replace(microsecond=0).isoformat()
