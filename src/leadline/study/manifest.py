"""manifest.json: what a study's answers were made of, so that somebody else can make them again."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from leadline import __version__
from leadline.bench import content_hash
from leadline.errors import LeadlineError
from leadline.models.model import ModelIdentity
from leadline.study.study import Study

MANIFEST = "manifest.json"
_LIBRARIES = ("torch", "transformers", "tokenizers", "safetensors", "numpy", "scipy", "statsmodels", "polars")


def environment() -> dict[str, Any]:
    """Versions and machine: what may change floating-point results."""
    versions = {}
    for library in _LIBRARIES:
        try:
            versions[library] = metadata.version(library)
        except metadata.PackageNotFoundError:
            continue
    return {
        "leadline": __version__,
        "python": platform.python_version(),
        "libraries": versions,
        "platform": platform.platform(),
        "processor": platform.machine(),
        "cpus": os.cpu_count(),
    }


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


def write_manifest(study: Study, identities: dict[str, ModelIdentity], run: int) -> Path:
    """Write manifest.json beside study.yaml, whole or not at all."""
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
    document = {
        "study": study.config.name,
        "study_sha256": hashlib.sha256(study.file.read_bytes()).hexdigest(),
        "commit": _commit(study.folder),
        "benchmark": {
            "name": study.whole.name,
            "version": study.whole.version,
            "content_hash": study.whole.content_hash,
            "asked": content_hash(study.benchmark.items),
            "items_asked": len(study.benchmark.items),
            "items_total": len(study.whole.items),
            "population": study.population.sentence,
            "audit": study.population.audit,
        },
        "models": {label: vars(identity) for label, identity in identities.items()},
        "configurations": configurations,
        "environment": environment(),
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
