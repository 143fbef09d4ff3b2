"""The articles of a build in chunks: what one worker extracts from at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from leadline.build.parts import count, reading
from leadline.build.plan import Plan
from leadline.build.records import Article
from leadline.build.workspace import StageFolder, Workspace, read_counts

# Articles. A chunk is what a crash costs, and what an idle worker can take over: a few minutes of a model's
# time. Batches never go over its ends, so that the outputs depend neither on workers nor on interruptions.
_SIZES = {"distant": 5_000, "recorded": 5_000, "rebel": 200, "chat": 20}

COUNTED = {"malformed": dict, "passages": dict}
"""What the counts of a chunk hold: codes and how often."""


@dataclass(frozen=True)
class Chunk:
    """Articles `first` to `last` (not included) of a part that the stage `articles` left."""

    number: int
    part: Path
    first: int
    last: int

    def articles(self) -> Iterator[Article]:
        """The articles, in order."""
        return reading(self.part, Article, self.first, self.last)


def chunks(plan: Plan, work: Workspace) -> list[Chunk]:
    """All chunks, in the order of the articles."""
    size = _SIZES[plan.extract.method]
    found: list[Chunk] = []
    for part in work.stage("articles").parts():
        articles = count(part)
        for first in range(0, articles, size):
            found.append(Chunk(len(found), part, first, min(first + size, articles)))
    return found


def to_do(found: list[Chunk], here: StageFolder) -> list[Chunk]:
    """The chunks that have not been done, or of which a file has gone or is not what it was."""

    def stands(chunk: Chunk) -> bool:
        facts, drops, counts = files_of(chunk, here)
        return facts.exists() and drops.exists() and read_counts(counts, COUNTED) is not None

    return [chunk for chunk in found if not stands(chunk)]


def files_of(chunk: Chunk, here: StageFolder) -> tuple[Path, Path, Path]:
    """Where a chunk's facts, drops and counts lie."""
    number = chunk.number
    return here.part(number), here.part(number, "dropped"), here.part(number, "counts", ".json")
