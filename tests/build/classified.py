"""Builds that consist of given facts and classifiers: python -m tests.build.classified FOLDER runs one."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import yaml

from leadline.build.filters.cardinality import CardinalityStage
from leadline.build.filters.relevance import RelevanceStage
from leadline.build.parts import reading, writing
from leadline.build.plan import Plan
from leadline.build.plan_file import read_plan
from leadline.build.progress import Quiet
from leadline.build.records import Fact
from leadline.build.run import run_build
from leadline.build.stage import Job, Stage
from leadline.build.workspace import StageFolder, Workspace
from leadline.workers.in_process import InProcess

TRIPLETS = (
    ("Canada", "capital", "Ottawa", "geography"),
    ("Rhine", "country", "Germany", "geography"),
    ("Emma", "author", "Jane Austen", "literature"),
    ("Ajax", "head coach", "Louis van Gaal", "sports"),
    ("Toni Morrison", "award received", "Nobel Prize in Literature", "literature"),
    ("Elbe", "mouth of the watercourse", "North Sea", None),
)


def facts(triplets: Sequence[tuple[str, str, str, str | None]] = TRIPLETS) -> list[Fact]:
    return [
        Fact(
            id=f"f-{number}",
            article=str(number),
            title=subject,
            subject=subject,
            relation=relation,
            object=object_,
            extractor="recorded",
            domain=domain,
        )
        for number, (subject, relation, object_, domain) in enumerate(triplets)
    ]


class Given(Stage):
    """Facts that lie beside the plan, in the place of all stages before."""

    name: ClassVar[str] = "given"

    def settings(self, plan: Plan) -> object:
        return None

    def inputs(self, plan: Plan) -> tuple[Path, ...]:
        return (plan.folder / "facts.jsonl.zst",)

    def run(self, job: Job, here: StageFolder, before: StageFolder | None) -> Mapping[str, Any]:
        listed = list(reading(job.plan.folder / "facts.jsonl.zst", Fact))
        with writing(here.kept) as keep:
            for fact in listed:
                keep(fact)
        return {"kept": len(listed), "dropped": {}}


def write_plan(folder: Path, given: Sequence[Fact] | None = None, **filters: Any) -> Path:
    """A plan and its facts."""
    folder.mkdir(parents=True, exist_ok=True)
    said = {
        "name": "small",
        "articles": {"jsonl": "articles.jsonl"},
        "extract": {"method": "distant"},
        "filter": filters,
    }
    with writing(folder / "facts.jsonl.zst") as keep:
        for fact in facts() if given is None else given:
            keep(fact)
    (folder / "plan.yaml").write_text(yaml.safe_dump(said), "utf-8")
    return folder / "plan.yaml"


def build(plan: Path) -> Workspace:
    """Run it; returns what it made."""
    read = read_plan(plan)
    stages = (Given(), RelevanceStage(), CardinalityStage())
    run_build(read, InProcess(), Quiet(), chosen=stages)
    return Workspace(read.work)


def outputs(work: Workspace, name: str) -> dict[str, bytes]:
    """The bytes that a stage left."""
    folder = work.stage(name).path
    return {
        file.name: file.read_bytes()
        for file in (folder / "kept.jsonl.zst", folder / "dropped.jsonl.zst", folder / "done.json")
    }


def answers(study: Path) -> list[tuple[str, str, int, str]]:
    """Configuration, item, sample and text of every stored answer."""
    database = study / "responses.sqlite"
    if not database.exists():
        return []
    with sqlite3.connect(database, timeout=30) as connection:
        try:
            found = connection.execute(
                "SELECT configuration, item, sample, text FROM responses ORDER BY 1, 2, 3"
            )
            rows: list[tuple[str, str, int, str]] = found.fetchall()
        except sqlite3.OperationalError:  # just being made
            rows = []
    connection.close()
    return rows


if __name__ == "__main__":
    build(Path(sys.argv[1]))
