"""manifest.json and the database's own notes hold what somebody needs to make the answers again."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

from leadline import __version__
from leadline.study.configuration import configuration_id
from tests.study import stored
from tests.study.conftest import Leadline
from tests.study.small import PROMPTS, change, small_study


def manifest(folder: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((folder / "manifest.json").read_text("utf-8"))
    return document


def test_the_manifest_pins_benchmark_models_configurations_versions_and_commit(
    tmp_path: Path, model: Path, leadline: Leadline
) -> None:
    for arguments in (
        ["init", "-q"],
        ["-c", "user.name=a", "-c", "user.email=b", "commit", "-q", "--allow-empty", "-m", "x"],
    ):
        subprocess.run(["git", "-C", str(tmp_path), *arguments], check=True)
    head = subprocess.run(
        ["git", "-C", str(tmp_path), "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    )
    folder = small_study(tmp_path / "study", model, 6, items=4)
    assert leadline("run", folder, "--quiet").code == 0
    found, document = manifest(folder), stored.findings(folder)

    assert found["study"] == "small"
    assert found["study_sha256"] == hashlib.sha256((folder / "study.yaml").read_bytes()).hexdigest()
    assert found["commit"] == head.stdout.strip()
    assert found["last_run"] == 1

    benchmark = found["benchmark"]
    assert benchmark["content_hash"] == document["benchmark"]["content_hash"]
    assert benchmark["asked"] != benchmark["content_hash"]
    assert (benchmark["items_asked"], benchmark["items_total"]) == (4, 6)

    (identity,) = found["models"].values()
    assert identity["digest"] == document["models"][0]["digest"]
    assert (identity["dtype"], identity["kind"]) == ("float32", "folder") and identity["device"]

    environment = found["environment"]
    assert environment["leadline"] == __version__
    for library in ("torch", "transformers", "polars", "scipy"):
        assert environment["libraries"][library] == metadata.version(library)
    assert environment["python"] and environment["platform"] and environment["cpus"]

    described = found["configurations"]
    assert {one["id"] for one in described.values()} == {identity[0] for identity in stored.rows(folder)}
    recite = described["tiny/recite"]
    assert recite["settings"]["temperature"] == 0.7 and recite["settings"]["seed"] == 0
    assert recite["prompts"]["recite/recite"] == PROMPTS["recite/recite.txt"]
    assert recite["samples"] == recite["vote"] == 2 and not recite["failures_only"]
    assert described["tiny/tau-0.7-partition"]["failures_only"]


def test_a_configurations_id_can_be_computed_again_from_what_is_written(
    tmp_path: Path, model: Path, leadline: Leadline
) -> None:
    folder = small_study(tmp_path / "study", model)
    assert leadline("run", folder, "--quiet", "--no-report").code == 0
    parts = ("model", "technique", "settings", "style", "prompts")
    for one in manifest(folder)["configurations"].values():
        assert configuration_id({part: one[part] for part in parts}) == one["id"]
    with sqlite3.connect(folder / "responses.sqlite") as database:
        kept = dict(database.execute("SELECT id, description FROM configurations"))
    database.close()
    assert kept.keys() == {one["id"] for one in manifest(folder)["configurations"].values()}
    for identifier, description in kept.items():
        assert configuration_id(json.loads(description)) == identifier


def test_the_manifest_follows_the_study_and_the_database_remembers_every_run(
    tmp_path: Path, model: Path, leadline: Leadline
) -> None:
    folder = small_study(tmp_path / "study", model)
    assert leadline("run", folder, "--quiet", "--no-report").code == 0
    first = manifest(folder)
    change(folder, max_tokens=5)
    assert leadline("run", folder, "--quiet", "--no-report").code == 0
    second = manifest(folder)
    assert second["last_run"] == 2 and second["study_sha256"] != first["study_sha256"]
    assert second["configurations"]["tiny/greedy"]["id"] != first["configurations"]["tiny/greedy"]["id"]
    with sqlite3.connect(folder / "responses.sqlite") as database:
        about = [json.loads(text) for (text,) in database.execute("SELECT about FROM runs ORDER BY run")]
        finished = database.execute("SELECT count(*) FROM runs WHERE finished IS NOT NULL").fetchone()[0]
    database.close()
    assert [one["study"]["max_tokens"] for one in about] == [6, 5] and finished == 2
    assert about[0]["environment"]["leadline"] == __version__
    assert not list(folder.glob("*.tmp"))
