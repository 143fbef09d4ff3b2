"""Which items distant supervision has to know, found out before it begins: all that the articles link to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from leadline.bench.whole_file import whole_file
from leadline.build.disk import said_by_the_disk
from leadline.build.extract.chunks import Chunk
from leadline.build.extract.mentions import Titles, candidates
from leadline.build.extract.passages import pieces
from leadline.build.plan import Plan
from leadline.build.progress import Progress
from leadline.build.workspace import Workspace
from leadline.errors import LeadlineError
from leadline.workers.engine import Engine

if TYPE_CHECKING:
    from leadline.build.wikidata.store import EntityStore

_WANTED = "wanted.txt"
_FOLDER = "entities"


def prepare_distant(
    plan: Plan, work: Workspace, engine: Engine, progress: Progress, found: list[Chunk]
) -> int:
    """Write down the items that the articles are about and name, and get them; returns how many there are.

    The index of titles is built here too, before several workers ask for it. Both stay in the stage's folder:
    an interrupted run does not go through a dump of Wikidata again.
    """
    from leadline.build.link.open import open_titles
    from leadline.build.wikidata.open import open_entities

    path = _path(work)
    open_titles(plan, work, progress.note).close()
    if not path.exists():
        ids: set[str] = set()
        for _, more in engine.run(wanted_in, found, (plan, work), _titles):
            ids.update(more)
        with said_by_the_disk(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(path) as file:
                file.writelines(f"{one}\n".encode() for one in sorted(ids))
    wanted = _read(path)
    open_entities(plan, work, wanted, folder=path.parent / _FOLDER, engine=engine, progress=progress).close()
    return len(wanted)


def entities_ready(plan: Plan, work: Workspace) -> EntityStore:
    """The entities that `prepare_distant` got. Raises LeadlineError where it has not run."""
    from leadline.build.wikidata.open import open_entities

    path = _path(work)
    if not path.exists():
        raise LeadlineError(
            "nobody has looked yet which items the articles name",
            where=str(path.parent),
            fix="run the stage extract",
        )
    folder = path.parent / _FOLDER
    # What is there is opened as it is, whatever is asked for.
    there = any(folder.glob("*.sqlite"))
    return open_entities(plan, work, () if there else _read(path), folder=folder)


def wanted_in(titles: Titles, chunk: Chunk) -> list[str]:
    """The items of one chunk: its pages', and those of all that may name one."""
    ids: set[str] = set()
    for article in chunk.articles():
        page = article.entity or titles.entity(article.title)
        if page is not None:
            ids.add(page)
        for piece in pieces(article, "sentence", 0):
            ids.update(entity for _, _, entity in candidates(piece.passage, titles))
    return sorted(ids)


def _titles(shared: tuple[Plan, Workspace]) -> Titles:
    from leadline.build.link.open import open_titles

    return open_titles(*shared)


def _path(work: Workspace) -> Path:
    return work.stage("extract").path / _WANTED


def _read(path: Path) -> list[str]:
    return path.read_text("utf-8").split()
