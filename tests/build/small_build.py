"""A build of four small stages, in a process that is killed at a given point of what it does with files."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from leadline.build.parts import reading, writing
from leadline.build.plan import Plan
from leadline.build.progress import Quiet
from leadline.build.records import Article, Drop, Fact, Support, fact_id
from leadline.build.run import Outcome, run_build
from leadline.build.stage import FactStage, Job, Stage
from leadline.build.workspace import StageFolder, write_json
from leadline.workers.choose import chosen_engine

# What tells of files: renaming, making and removing them, and opening them to write.
_TOLD = frozenset(("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "shutil.rmtree"))


def part(folder: StageFolder, task: tuple[int, str]) -> int:
    """Articles of one input file, ten of each line; a part that stands is left as it is."""
    number, path = task
    out = folder.part(number)
    if out.exists():
        return sum(1 for _ in reading(out, Article))
    lines = Path(path).read_text("utf-8").splitlines()
    with writing(out) as keep:
        for row, line in enumerate(lines):
            for copy in range(10):
                keep(Article(id=f"{number}-{row}-{copy}", title=line.split()[0], text=f"{line} {copy}."))
    return len(lines) * 10


class Articles(Stage):
    name: ClassVar[str] = "articles"

    def settings(self, plan: Plan) -> object:
        return {"language": plan.articles.language}

    def inputs(self, plan: Plan) -> tuple[Path, ...]:
        return tuple(sorted(plan.folder.glob("input/*.txt")))

    def run(self, job: Job, here: StageFolder, before: StageFolder | None) -> Mapping[str, Any]:
        tasks = [(number, str(path)) for number, path in enumerate(self.inputs(job.plan))]
        kept = sum(count for _, count in job.engine.run(part, tasks, here))
        return {"kept": kept, "dropped": {}}


class Extract(Stage):
    name: ClassVar[str] = "extract"

    def settings(self, plan: Plan) -> object:
        return {}

    def run(self, job: Job, here: StageFolder, before: StageFolder | None) -> Mapping[str, Any]:
        count = 0
        with writing(here.kept) as keep, writing(here.dropped):
            for path in job.work.stage("articles").parts():
                for article in reading(path, Article):
                    words = article.text.split()
                    keep(
                        Fact(
                            id=fact_id(article.id, words[0], "is", words[1]),
                            article=article.id,
                            title=article.title,
                            subject=words[0],
                            relation="is",
                            object=words[1],
                            extractor="small",
                            support=(Support(sentence=article.text, start=0),),
                        )
                    )
                    count += 1
        return {"kept": count}


class Short(FactStage):
    name: ClassVar[str] = "short"

    def settings(self, plan: Plan) -> object:
        return {"least": plan.articles.min_words}

    def judge(self, job: Job, facts: Iterable[Fact]) -> Iterator[Fact | Drop]:
        for fact in facts:
            long = len(fact.object) >= job.plan.articles.min_words
            yield fact if long else self.drop(fact, "short", fact.object)


class Count(FactStage):
    name: ClassVar[str] = "count"

    def settings(self, plan: Plan) -> object:
        return {"seed": plan.seed}

    def judge(self, job: Job, facts: Iterable[Fact]) -> Iterator[Fact | Drop]:
        seen = list(facts)
        often = Counter(fact.subject for fact in seen)
        write_json(job.work.stage(self.name).path / "parts" / "often.json", dict(often))
        for fact in seen:
            yield fact.model_copy(update={"views": often[fact.subject]})


def build(folder: Path, workers: int = 1, **changes: Any) -> Outcome:
    """Run it on the text files of `folder`/input, into `folder`/out."""
    said = {
        "name": "small",
        "out": "out",
        "articles": {"jsonl": "none", "min_words": changes.get("least", 4)},
        "extract": {"method": "recorded"},
        "seed": changes.get("seed", 0),
    }
    plan = Plan.model_validate(said)
    plan._file = folder / "plan.yaml"
    line = (Articles(), Extract(), Short(), Count())
    with chosen_engine("process", workers) as engine:
        return run_build(plan, engine, Quiet(), chosen=line, until=changes.get("until"))


def killed_at(folder: Path, point: int) -> int:
    """Build in a child of this process, which kills itself at the point; how far it came, or 0 at the end."""
    child = os.fork()
    if child == 0:
        seen = 0

        def watch(event: str, given: tuple[Any, ...]) -> None:
            nonlocal seen
            touching = event in _TOLD or (
                event == "open" and isinstance(given[2], int) and given[2] & os.O_CREAT
            )
            if touching and str(folder) in str(given[0]):
                seen += 1
                if seen == point:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(watch)
        build(folder)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


def content(folder: Path) -> dict[str, bytes]:
    """Everything that a build left, but what it remembers of the times of its inputs."""
    out = folder / "out"
    return {
        path.relative_to(out).as_posix(): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file() and path.name not in (".lock", "checksums.json")
    }


def killed_everywhere(folder: Path, whole: Path) -> int:
    """Build in `folder` for each point: killed there, killed again soon after, then to the end.

    How many points there are; raises AssertionError where what comes out is not what `whole` has.
    """
    for point in range(1, 1000):
        here = folder / str(point)
        shutil.copytree(whole / "input", here / "input")
        if not killed_at(here, point):
            return point - 1
        killed_at(here, 1 + point % 7)
        build(here)
        assert content(here) == content(whole), f"killed at {point}"
    raise AssertionError("it has no end")


if __name__ == "__main__":
    if len(sys.argv) == 2:
        build(Path(sys.argv[1]), workers=2)
    else:
        print(killed_everywhere(Path(sys.argv[1]), Path(sys.argv[2])))
