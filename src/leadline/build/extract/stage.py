"""The stage `extract`: triplets off every article, and the sentences that each rests on."""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

from leadline.build.extract.account import told
from leadline.build.extract.chat_prompt import check_prompt, packaged_prompt, prompt_files
from leadline.build.extract.chunks import Chunk, chunks, files_of, to_do
from leadline.build.extract.extractor import Extracted, Extractor, make_extractor
from leadline.build.extract.facts import facts_of
from leadline.build.extract.model_reference import model_files, model_reference
from leadline.build.extract.passages import Piece, pieces, words_for
from leadline.build.parts import reading, writing
from leadline.build.plan import Plan
from leadline.build.records import Article, Drop, Fact
from leadline.build.stage import Job, Stage
from leadline.build.workspace import StageFolder, Workspace, write_json

# What of the plan's section decides what comes out. Batches and devices do not, and files are inputs.
_DECIDES = {
    "rebel": {"method", "model", "beams", "max_source", "max_target"},
    "chat": {"method", "model", "base_url", "max_source", "max_tokens", "structured"},
    "recorded": {"method"},
    "distant": {"method"},
}
# Articles whose passages are read together, for full batches of passages of about the same length.
_TOGETHER = 50
# Recorded lines of a file that are read before the build begins.
_LINES_TRIED = 100


class ExtractStage(Stage):
    """Articles in chunks through the engine, one worker a device; then the chunks' facts in one file.

    done.json's counts: `kept` and `dropped` are triplets, `malformed` pieces of output that gave none, by
    code (for `rebel` and `recorded` see `linearised.FaultCode`, for `chat` see `chat_answer.FaultCode`),
    `passages` what was read ("read") and what was not as it should be ("truncated", "unrecorded",
    "other-text", "failed"), `pronoun` how many facts rest on pronouns alone.
    """

    name: ClassVar[str] = "extract"
    version: ClassVar[int] = 2
    after: ClassVar[tuple[str, ...]] = ("articles",)

    def settings(self, plan: Plan) -> object:
        """What of the plan decides the triplets."""
        said: list[object] = [plan.extract.model_dump(include=_DECIDES[plan.extract.method])]
        if plan.extract.method == "chat" and not plan.extract.prompt:
            said.append(packaged_prompt())
        if plan.extract.method == "distant":
            link, entities = _read_first()
            said += [link.settings(plan), entities.settings(plan)]
        return said

    def inputs(self, plan: Plan) -> tuple[Path, ...]:
        """Recorded extractions; a model in a folder or a file; for distant supervision the files of `link`
        and `entities`, which it reads first."""
        if plan.extract.method == "recorded":
            from leadline.build.extract.recorded import recorded_files

            return recorded_files(plan)
        if plan.extract.method == "distant":
            link, entities = _read_first()
            return (*link.inputs(plan), *entities.inputs(plan))
        return (*model_files(plan), *prompt_files(plan))

    def check(self, plan: Plan) -> None:
        """A model or files are named; prompts and the first recorded lines can be read."""
        super().check(plan)
        if plan.extract.method == "recorded":
            from leadline.build.extract.recorded import read_recorded, recorded_files

            for path in recorded_files(plan):
                deque(islice(read_recorded(path), _LINES_TRIED), 0)
        elif plan.extract.method == "distant":
            for stage in _read_first():
                stage.check(plan)
        else:
            model_reference(plan)
            check_prompt(plan)

    def run(self, job: Job, here: StageFolder, before: StageFolder | None) -> Mapping[str, Any]:
        """Do the chunks that are lacking, then join all."""
        plan, work = job.plan, job.work
        found = chunks(plan, work)
        left = to_do(found, here)
        if plan.extract.method == "distant" and left:
            from leadline.build.extract.wanted import prepare_distant

            job.progress.begin(self.name, None, "items")
            items = prepare_distant(plan, work, job.engine, job.progress, found)
            job.progress.note(f"extract: {items:,} items are named or linked to")
        job.progress.begin(self.name, sum(chunk.last - chunk.first for chunk in left), "articles")
        for chunk, _ in job.engine.run(extract_chunk, left, (plan, work), _ready, devices=True):
            job.progress.advance(chunk.last - chunk.first)
        counts = _joined(found, here)
        for said in told(counts):
            job.progress.note(said)
        return counts


def _read_first() -> tuple[Stage, Stage]:
    """The stages whose inputs distant supervision needs before they have run."""
    from leadline.build.link.stage import LinkStage
    from leadline.build.wikidata.stage import EntitiesStage

    return LinkStage(), EntitiesStage()


class _Ready:
    """What a worker has loaded."""

    def __init__(self, plan: Plan, work: Workspace) -> None:
        self.extractor = make_extractor(plan, work)
        self.words = words_for(plan.extract.max_source)
        self.here = work.stage(ExtractStage.name)


def _ready(shared: tuple[Plan, Workspace]) -> _Ready:
    return _Ready(*shared)


def extract_chunk(ready: _Ready, chunk: Chunk) -> int:
    """Extract from a chunk's articles and write its files, the facts last; returns how many facts."""
    counts = _Counts()
    kept = 0
    facts_file, drops_file, counts_file = files_of(chunk, ready.here)
    with writing(facts_file) as keep:
        with writing(drops_file) as drop:
            for article, read in _read(ready.extractor, ready.words, chunk.articles()):
                counts.add(read)
                facts, drops = facts_of(article, read, ready.extractor.name)
                kept += len(facts)
                for fact in facts:
                    keep(fact)
                for dropped in drops:
                    drop(dropped)
        write_json(counts_file, counts.said())
    return kept


def _read(
    extractor: Extractor, words: int, articles: Iterator[Article]
) -> Iterator[tuple[Article, list[tuple[Piece, Extracted]]]]:
    """Each article with its pieces and what was read off them; many articles are shown at a time."""
    waiting: list[tuple[Article, list[Piece]]] = []

    def shown() -> Iterator[tuple[Article, list[tuple[Piece, Extracted]]]]:
        read = iter(extractor.read([piece.passage for _, cut in waiting for piece in cut]))
        for article, cut in waiting:
            yield article, [(piece, next(read)) for piece in cut]

    for article in articles:
        waiting.append((article, list(pieces(article, extractor.unit, words))))
        if len(waiting) == _TOGETHER:
            yield from shown()
            waiting = []
    yield from shown()


class _Counts:
    def __init__(self) -> None:
        self.malformed: Counter[str] = Counter()
        self.passages: Counter[str] = Counter()

    def add(self, read: list[tuple[Piece, Extracted]]) -> None:
        self.passages["read"] += len(read)
        for _, extracted in read:
            self.malformed.update(extracted.faults)
            if extracted.note:
                self.passages[extracted.note] += 1

    def said(self) -> dict[str, dict[str, int]]:
        return {
            "malformed": dict(sorted(self.malformed.items())),
            "passages": dict(sorted(self.passages.items())),
        }


def _joined(found: list[Chunk], here: StageFolder) -> dict[str, Any]:
    kept = pronoun = 0
    reasons: Counter[str] = Counter()
    sums: dict[str, Counter[str]] = {"malformed": Counter(), "passages": Counter()}
    with writing(here.kept) as keep, writing(here.dropped) as drop:
        for chunk in found:
            facts_file, drops_file, counts_file = files_of(chunk, here)
            for fact in reading(facts_file, Fact):
                keep(fact)
                kept += 1
                pronoun += all(support.pronoun for support in fact.support)
            for dropped in reading(drops_file, Drop):
                drop(dropped)
                reasons[dropped.reason] += 1
            said = json.loads(counts_file.read_bytes())
            for name, counter in sums.items():
                counter.update(said[name])
    return {
        "kept": kept,
        "dropped": dict(sorted(reasons.items())),
        **{name: dict(sorted(counter.items())) for name, counter in sums.items()},
        "pronoun": pronoun,
    }
