"""The titles that a plan names: SQL dumps, a wikimapper index, files of pairs, or several of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from leadline.build.checksums import Checksums
from leadline.build.link.index import TitleIndex, build_index, index_of_titles, open_index, read_titles
from leadline.build.plan import Plan
from leadline.build.plan_file import file_of, files_of, where_in
from leadline.build.workspace import Workspace, key_of
from leadline.errors import UsageError

# Raised when a change of the code makes another index of the same dumps.
_VERSION = 1


def open_titles(plan: Plan, work: Workspace, say: Callable[[str], None] | None = None) -> TitleIndex:
    """The index of titles that `plan.link` asks for; an empty one where it names nothing.

    Files of pairs are asked first (they are written by hand), then the SQL dumps, then wikimapper's index.
    The index of the dumps is built once, under `indexes/` of the build's folder, and again when a dump
    changes; other processes of the same build wait for it. Raises UsageError where a file is not there.
    """
    index = TitleIndex()
    pairs: dict[str, str] = {}
    for path in files_of(plan, "link", "titles"):
        pairs = read_titles(path) | pairs
    if pairs:
        index = index.joined(index_of_titles(pairs))
    if plan.link.page or plan.link.page_props or plan.link.redirect:
        index = index.joined(open_index(_built(plan, work, say)))
    made = file_of(plan, "link", "wikimapper")
    return index.joined(open_index(made)) if made else index


def title_files(plan: Plan) -> tuple[Path, ...]:
    """All files that `open_titles` reads."""
    made = file_of(plan, "link", "wikimapper")
    named = [
        path for key in ("page", "page_props", "redirect", "titles") for path in files_of(plan, "link", key)
    ]
    return (*named, *([made] if made else []))


def _built(plan: Plan, work: Workspace, say: Callable[[str], None] | None) -> Path:
    from filelock import FileLock

    dumps = {key: files_of(plan, "link", key) for key in ("page", "page_props", "redirect")}
    for key in ("page", "page_props"):
        if not dumps[key]:
            raise UsageError(
                f"link.{key} is missing: an index of titles needs page and page_props",
                where=where_in(plan, "link"),
                fix="and redirect, if other names should be known: the three dumps of one date",
            )
    sums = Checksums(work.folder / "checksums.json")
    folder = work.folder / "indexes"
    folder.mkdir(parents=True, exist_ok=True)
    key = key_of([_VERSION, {name: list(sums.of(paths).values()) for name, paths in dumps.items()}])
    path = folder / f"titles-{key[:16]}.sqlite"
    with FileLock(folder / "titles.lock"):
        if not path.exists():
            counts = build_index(dumps["page"], dumps["page_props"], dumps["redirect"], path, say=say)
            if say:
                say(
                    f"titles: {counts.articles:,} articles ({counts.without_item:,} without an item), "
                    f"{counts.resolved:,} of {counts.redirects:,} redirects lead to one"
                )
            for old in folder.glob("titles-*.sqlite"):
                if old != path:
                    old.unlink(missing_ok=True)  # of dumps that the plan no longer names
    return path
