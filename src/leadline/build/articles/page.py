"""What the readers of dumps, JSON lines and Parquet give: pages, and faults of the input."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Page:
    """A page as the input has it.

    `text` is wikitext where `wikitext` says so, and plain text otherwise. `namespaces` are the names of the
    wiki's namespaces in small letters.
    """

    id: str
    title: str
    text: str
    namespace: int = 0
    redirect: bool = False
    revision: str = ""
    timestamp: str = ""
    entity: str | None = None
    wikitext: bool = False
    namespaces: Mapping[str, int] | None = None


@dataclass(frozen=True)
class Fault:
    """Something that could not be read. `where` is file and line, or file and byte of a compressed file.

    A fault of one page (`page`) drops that page as broken; one of the file says how far it was read.
    """

    where: str
    what: str
    page: bool = True
