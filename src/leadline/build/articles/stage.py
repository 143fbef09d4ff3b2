"""The first stage: inputs of any form to articles, in parts that are worked on side by side."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from leadline.build.articles import dump, json_lines, parquet
from leadline.build.articles.article import Rules, article_of
from leadline.build.articles.blocks import ROWS, Block, Form, blocks_of
from leadline.build.articles.page import Fault, Page
from leadline.build.articles.taking_apart import taken_apart
from leadline.build.parts import writing
from leadline.build.plan import Plan
from leadline.build.plan_file import files_of
from leadline.build.records import DroppedPage
from leadline.build.stage import Job, Stage
from leadline.build.workspace import StageFolder, read_counts, write_json
from leadline.errors import LeadlineError, UsageError

_FORMS: Mapping[Form, str] = {"xml": "dump", "jsonl": "jsonl", "parquet": "parquet"}
_PIECES = "pieces"
_COUNTED = {
    "kept": int,
    "dropped": dict,
    "sentences": int,
    "damaged": int,
    "damage": dict,
    "faults": int,
}
_SAID = 20  # faults of a part that are told; all are counted


@dataclass(frozen=True)
class Part:
    """A task: a block of the input, and the files that it becomes."""

    block: Block
    articles: Path
    dropped: Path
    counts: Path


class ArticlesStage(Stage):
    """Reads pages, makes them plain text, drops what is no article.

    It leaves parts/NNNNN.jsonl.zst of Article, dropped/NNNNN.jsonl.zst of DroppedPage and counts/NNNNN.json,
    one of each for each block of the input; counts/ is written last and says that a part is whole.
    """

    name: ClassVar[str] = "articles"
    version: ClassVar[int] = 2

    def settings(self, plan: Plan) -> object:
        """All of the section but the names of files, whose checksums are among the inputs."""
        return plan.articles.model_dump(mode="json", include={"language", "min_words", "limit"})

    def inputs(self, plan: Plan) -> tuple[Path, ...]:
        """The files, in the order in which their pages are numbered."""
        return tuple(path for _, path in _files(plan))

    def run(self, job: Job, here: StageFolder, before: StageFolder | None) -> Mapping[str, Any]:
        """See the class. Counts: kept, dropped by reason, sentences, damaged ones, faults of files."""
        blocks, faults = _blocks(job, here)
        tasks = [
            Part(block, here.part(number), here.part(number, "dropped"), here.part(number, "counts", ".json"))
            for number, block in enumerate(blocks)
        ]
        job.progress.begin(self.name, sum(_weight(task.block) for task in tasks), "bytes")
        lacking = [task for task in tasks if not _is_done(task)]
        job.progress.advance(
            sum(_weight(task.block) for task in tasks) - sum(_weight(t.block) for t in lacking)
        )
        section = job.plan.articles
        rules = Rules(section.language, section.min_words)
        for task, said in job.engine.run(work, lacking, rules):
            job.progress.advance(_weight(task.block))
            for line in said:
                job.progress.note(line)
        for fault in faults:
            job.progress.note(f"{fault.where}: {fault.what}")
        counts = _total(tasks, faults)
        shutil.rmtree(here.path / _PIECES, ignore_errors=True)
        _remove_others(tasks, here)
        if not counts["kept"]:
            raise LeadlineError("no page became an article", where=str(here.path), fix=_why(counts))
        return counts


def work(rules: Rules, task: Part) -> list[str]:
    """Make one part. Returns what the user should know of its input, a line each."""
    kept = sentences = damaged = pages = 0
    reasons: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    said: list[str] = []
    faults = unread = 0
    task.counts.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        keep = stack.enter_context(writing(task.articles))
        drop = stack.enter_context(writing(task.dropped))
        for page in _pages(task.block):
            if isinstance(page, Fault):
                faults += 1
                unread += not page.page
                if faults <= _SAID or not page.page:
                    said.append(f"{page.where}: {page.what}")
                if page.page:
                    reasons["broken"] += 1
                    drop(DroppedPage(id="", title="", reason="broken", detail=f"{_local(page)}: {page.what}"))
                continue
            pages += 1
            result = article_of(page, rules)
            if isinstance(result, DroppedPage):
                reasons[result.reason] += 1
                drop(result)
                continue
            kept += 1
            sentences += len(result.sentences)
            damaged += sum(bool(sentence.damage) for sentence in result.sentences)
            kinds.update(kind for sentence in result.sentences for kind in sentence.damage)
            keep(result)
    if faults > len(said):
        said.append(f"{task.block.name}: {faults - len(said):,} more pages that cannot be read")
    write_json(
        task.counts,
        {
            "kept": kept,
            "dropped": dict(sorted(reasons.items())),
            "sentences": sentences,
            "damaged": damaged,
            "damage": dict(sorted(kinds.items())),
            "faults": unread,
        },
    )
    return said


def _local(fault: Fault) -> str:
    """Where a fault is, without the folder of this machine. Names of files need not be UTF-8."""
    return fault.where.rpartition("/")[2].encode("utf-8", "backslashreplace").decode()


def _pages(block: Block) -> Iterator[Page | Fault]:
    readers = {"xml": dump.pages, "jsonl": json_lines.pages, "parquet": parquet.pages}
    try:
        yield from readers[block.form](block)
    except OSError as error:
        raise LeadlineError(f"cannot be read: {error.strerror}", where=str(block.path)) from None


def _files(plan: Plan) -> list[tuple[Form, Path]]:
    return [(form, path) for form, key in _FORMS.items() for path in files_of(plan, "articles", key)]


def _blocks(job: Job, here: StageFolder) -> tuple[list[Block], list[Fault]]:
    """The blocks of all inputs, up to the plan's limit of pages, and faults met on the way."""
    left = job.plan.articles.limit
    found: list[Block] = []
    faults: list[Fault] = []
    for number, (form, path) in enumerate(_files(job.plan)):
        if left is not None and left <= 0:
            break
        try:
            blocks = blocks_of(path, form)
            if blocks is None:
                job.progress.note(f"{path}: one stream, which is taken apart first")
                blocks, more = taken_apart(path, form, here.path / _PIECES / f"{number:05d}", left)
                faults += more
            if left is not None:
                blocks, left = _limited(blocks, left)
        except OSError as error:
            raise UsageError(f"cannot be read: {error.strerror}", where=str(path)) from None
        found += blocks
    return found, faults


def _limited(blocks: Sequence[Block], left: int) -> tuple[list[Block], int]:
    """As many blocks as hold the first `left` pages, the last of them cut; and how many are left after."""
    found: list[Block] = []
    for block in blocks:
        if left <= 0:
            break
        count = _count(replace(block, most=left))
        found.append(replace(block, most=left))
        left -= count
    return found, left


def _count(block: Block) -> int:
    if block.form == "parquet":
        return min(block.most or 0, (block.stop or block.start) - block.start)
    if block.form == "xml":
        return sum(isinstance(page, dump.RawPage) for page in dump.raw_pages(block))
    return sum(not isinstance(line, Fault) for _, line in json_lines.raw_lines(block))


def _weight(block: Block) -> int:
    """A block's share of the work, in bytes; a row of Parquet is some kilobytes."""
    return block.size if block.form != "parquet" else 3_000 * ROWS


def _is_done(task: Part) -> bool:
    whole = read_counts(task.counts, _COUNTED) is not None
    return whole and task.articles.exists() and task.dropped.exists()


def _remove_others(tasks: Sequence[Part], here: StageFolder) -> None:
    """Parts of no task are not of this input: later stages would read them as pages."""
    ours = {path for task in tasks for path in (task.articles, task.dropped, task.counts)}
    for kind, suffix in (("parts", ".jsonl.zst"), ("dropped", ".jsonl.zst"), ("counts", ".json")):
        for path in here.parts(kind, suffix):
            if path not in ours:
                path.unlink()


def _total(tasks: Sequence[Part], faults: Sequence[Fault]) -> dict[str, Any]:
    numbers: Counter[str] = Counter(faults=len(faults))
    dropped: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for task in tasks:
        said = json.loads(task.counts.read_bytes())
        numbers.update({name: said[name] for name in ("kept", "sentences", "damaged", "faults")})
        dropped.update(said["dropped"])
        kinds.update(said["damage"])
    return {
        "kept": numbers["kept"],
        "dropped": dict(sorted(dropped.items())),
        "sentences": numbers["sentences"],
        "damaged": numbers["damaged"],
        "damage": dict(sorted(kinds.items())),
        "faults": numbers["faults"],
    }


def _why(counts: Mapping[str, Any]) -> str:
    dropped = ", ".join(f"{reason} {count:,}" for reason, count in counts["dropped"].items())
    return f"dropped: {dropped}" if dropped else "no page was read: see articles in the plan"
