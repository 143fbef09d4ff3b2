"""Articles and plans for tests of extraction: the stage runs as a build runs it, on articles given here."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sentencex import get_sentence_boundaries

from leadline.build.extract.stage import ExtractStage
from leadline.build.parts import writing
from leadline.build.plan import Plan
from leadline.build.plan_file import read_plan
from leadline.build.progress import Quiet
from leadline.build.records import Article, Link, Sentence
from leadline.build.run import run_build
from leadline.build.stage import Job, Stage
from leadline.build.workspace import StageFolder, Workspace
from leadline.workers.engine import Engine
from leadline.workers.in_process import InProcess


def article(
    title: str, text: str, *, id_: str = "", links: Iterable[tuple[str, str]] = (), entity: str | None = None
) -> Article:
    """An article of plain text; `links` are (text, target), each found after the one before."""
    sentences = [
        Sentence(start=one["start_index"], end=one["end_index"])
        for one in get_sentence_boundaries("en", text)
        if one["text"].strip()
    ]
    placed, at = [], 0
    for said, target in links:
        at = text.index(said, at)
        placed.append(Link(start=at, end=at + len(said), target=target))
        at += len(said)
    return Article(
        id=id_ or title,
        title=title,
        text=text,
        sentences=tuple(sentences),
        links=tuple(placed),
        entity=entity,
    )


class Given(Stage):
    """In the place of the stage `articles`: two parts of articles that a test gives."""

    name = "articles"

    def __init__(self, articles: Iterable[Article]) -> None:
        self._articles = list(articles)

    def settings(self, plan: Plan) -> object:
        return [one.model_dump_json() for one in self._articles]

    def run(self, job: Job, here: StageFolder, before: StageFolder | None) -> dict[str, int]:
        middle = len(self._articles) // 2
        for number, part in enumerate((self._articles[:middle], self._articles[middle:])):
            with writing(here.part(number)) as write:
                for one in part:
                    write(one)
        return {"kept": len(self._articles)}


def plan_of(folder: Path, extract: str, more: str = "") -> Plan:
    """A plan with this section `extract`, in YAML's flow form."""
    path = folder / "plan.yaml"
    path.write_text(f"name: tried\narticles: {{jsonl: none.jsonl}}\nextract: {extract}\n{more}\n", "utf-8")
    return read_plan(path)


def extract(plan: Plan, articles: Iterable[Article], engine: Engine | None = None) -> StageFolder:
    """Run the stage on these articles; what is done is not done again."""
    run_build(plan, engine or InProcess(), Quiet(), chosen=[Given(articles), ExtractStage()])
    return Workspace(plan.work).stage("extract")
