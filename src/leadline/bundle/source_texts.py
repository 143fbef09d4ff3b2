"""The source documents of a benchmark: read for the accounting, copied where that is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from leadline.documents.document import UnreadableDocument
from leadline.documents.read import read_document
from leadline.documents.sources import Sources
from leadline.errors import UsageError
from leadline.study.study import Study


def _sources(study: Study) -> Sources | None:
    origin = study.whole.origin
    if origin is None or not origin.is_dir() or not Sources.of(origin).folder.is_dir():
        return None
    return Sources.of(origin)


def source_texts(study: Study) -> Iterator[str]:
    """The texts of all source documents that can be read."""
    sources = _sources(study)
    for name in sources.names() if sources else ():
        try:
            yield read_document(sources.path(name)).text  # type: ignore[union-attr]
        except UnreadableDocument:
            continue


def copy_sources(study: Study, folder: Path) -> None:
    """Copy the documents and what is known of their origin to `folder`/sources. Raises UsageError for
    none."""
    sources = _sources(study)
    if sources is None:
        raise UsageError(
            "the benchmark has no sources to release", where=study.whole.name, fix="leave --with-sources out"
        )
    sources.copy_to(folder / "sources")
